"""Rules in other programs' formats: what those programs wrote infers as they do, and what we write comes back."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.network.norms import DUAL
from fuzzymil.network.premises import HEDGES
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.formats import read_rules, what_is_lost, write_rules
from fuzzymil.rules.mamdani import MamdaniRules
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or

DATA = Path(__file__).parents[1] / "data" / "formats"
EXPECTED = json.loads((DATA / "expected.json").read_text())

READ = {"fll": RuleBase.from_fll, "fis": RuleBase.from_fis}
WRITE = {"fll": RuleBase.to_fll, "fis": RuleBase.to_fis}
BAGS = "one instance at a time"


# ---------------------------------------------------------------------- written by other programs


@pytest.mark.parametrize("name", EXPECTED)
def test_file_of_another_program_infers_as_that_program_does(name):
    rules, expected = read_rules(DATA / name), EXPECTED[name]
    tolerance = 1e-6
    if isinstance(rules, MamdaniRules):
        if name.endswith(".fis"):
            # The format does not tell: MATLAB takes 101 points, fuzzylite 100 cells.
            rules = dataclasses.replace(rules, resolution=100, sampling="cells")
        if rules.defuzzify == "bisector":  # which fuzzylite approaches in steps of whole cells
            tolerance = 5 * max(output.high - output.low for output in rules.outputs) / rules.resolution
    np.testing.assert_allclose(rules.infer(expected["points"]).output, expected["outputs"], atol=tolerance, rtol=0)


def test_there_are_files_of_both_programs_and_of_every_kind():
    assert {path.name for path in DATA.iterdir() if path.suffix in (".fll", ".fis")} == set(EXPECTED)
    assert len(EXPECTED) >= 20
    for kind in (".pyfuzzylite.fll", ".fuzzylite.fll", ".fuzzylite.fis"):
        found = [read_rules(DATA / name) for name in EXPECTED if name.endswith(kind)]
        assert {type(rules) for rules in found} == {RuleBase, MamdaniRules}
    sugeno = [rules for rules in map(read_rules, sorted(DATA.glob("*.fll"))) if isinstance(rules, RuleBase)]
    assert {rules.t_norm for rules in sugeno} == {"product", "min", "lukasiewicz", "hamacher", "einstein"}
    assert {True, False} == {rules.normalize for rules in sugeno} == {rules.limited for rules in sugeno}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_another_program_wrote_comes_back_equal_when_written_again(name):
    rules = read_rules(DATA / name)
    sampled = {"sampling": rules.sampling} if isinstance(rules, MamdaniRules) else {}
    assert dataclasses.replace(type(rules).from_fll(rules.to_fll()), **sampled) == rules
    if not name.startswith(("brackets", "locked", "two_outputs")):
        again = type(rules).from_fis(rules.to_fis())
        lost = {"resolution": rules.resolution} if isinstance(rules, MamdaniRules) else {}
        assert dataclasses.replace(again, **lost, **sampled) == rules


# ---------------------------------------------------------------------- round trips

HEALTHY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@st.composite
def gaussian_systems(draw, for_fis):
    """Sugeno systems of Gaussian sets, as much as the format can hold; their numbers need no shrinking."""
    number = np.random.default_rng(draw(st.integers(0, 2**32))).standard_cauchy
    inputs = []
    for name in draw(st.sampled_from([("hue",), ("x1", "_a"), ("Depth", "inf", "size_2")])):
        terms = draw(st.sampled_from([("low",), ("high", "low"), ("a", "B_2", "e1")]))
        sets = {term: Gaussian(number(), abs(number())) for term in terms}
        low = None if draw(st.booleans()) and not for_fis else number()
        inputs.append(Variable(name, sets, low, (low or 0.0) + 1 + abs(number())))
    outputs = draw(st.sampled_from([("y",), ("hue",), ("risk", "y")]))
    n_coefs = draw(st.sampled_from([1, 1 + len(inputs)]))
    premises = rows_of_conditions(inputs) if for_fis else trees(inputs)
    rules = [
        Rule(premise, number((len(outputs), n_coefs)), draw(st.sampled_from([1.0, 1.0, 0.0, 1 / 3])))
        for premise in draw(st.lists(premises, min_size=1, max_size=4))
    ]
    normalize = draw(st.booleans())
    return RuleBase(
        tuple(inputs),
        tuple(rules),
        outputs,
        t_norm=draw(st.sampled_from([name for name in DUAL if name != "dombi"])),  # no other program has it
        s_norm=draw(st.sampled_from([name for name in DUAL.values() if name != "dombi"])),
        aggregation="max",
        normalize=normalize,
        default=number(len(outputs)) if normalize else np.zeros(len(outputs)),  # sums have none
        limited=not for_fis and draw(st.booleans()),
    )


def conditions(inputs, hedges):
    every = [Is(v.name, term, words) for v in inputs for term in v.terms for words in hedges]
    return st.sampled_from(every)


def trees(inputs):
    hedges = [(), *((hedge,) for hedge in HEDGES), ("not", "very"), ("somewhat", "extremely", "seldom")]
    several = lambda parts: st.lists(parts, min_size=2, max_size=3).map(tuple)  # noqa: E731
    return st.recursive(
        conditions(inputs, hedges) | st.just(ANYTHING),
        lambda parts: several(parts).map(And) | several(parts).map(Or),
        max_leaves=5,
    )


def rows_of_conditions(inputs):
    parts = st.tuples(*(st.none() | conditions([variable], [(), ("not",)]) for variable in inputs))
    asked = parts.map(lambda row: tuple(part for part in row if part is not None))
    return st.tuples(asked, st.booleans()).map(lambda row: Or(row[0]) if row[1] and row[0] else And(row[0]))


@pytest.mark.slow
@settings(max_examples=500, **HEALTHY)
@given(gaussian_systems(for_fis=False))
def test_gaussian_sugeno_systems_come_back_equal_from_fll(rules):
    assert RuleBase.from_fll(rules.to_fll()) == rules  # and equal values infer equally


@pytest.mark.slow
@settings(max_examples=500, **HEALTHY)
@given(gaussian_systems(for_fis=True))
def test_gaussian_sugeno_systems_come_back_equal_from_fis(rules):
    assert RuleBase.from_fis(rules.to_fis()) == rules


def two_inputs():
    return (
        Variable("depth", {"low": Triangular(0, 0, 1), "some": Bell(1, 0.5, 2), "high": Sigmoid(1.5, 4)}, 0, 2),
        Variable(
            "size", {"box": Trapezoidal(0, 0, 1, 1), "roof": Trapezoidal(0, 1, 1, 3), "big": Gaussian(2, 1)}, 0, 3
        ),
    )


def base(*premises, inputs=None, coefs=None, **fields):
    rules = [Rule(premise, [[float(r + 1)]] if coefs is None else coefs[r]) for r, premise in enumerate(premises)]
    return RuleBase(inputs or two_inputs(), tuple(rules), **({"aggregation": "max"} | fields))


POINTS = np.random.default_rng(0).uniform([-0.2, -0.2], [2.2, 3.2], (60, 2))


@pytest.mark.slow
@pytest.mark.parametrize("t_norm", ["product", "lukasiewicz"])
def test_negated_brackets_are_written_by_de_morgans_laws(t_norm):
    negated = Not(And((Is("depth", "low"), Or((Is("size", "box", ("very",)), Not(Is("size", "big")))))))
    rules = base(negated, Not(ANYTHING), Is("depth", "high"), And((ANYTHING, Is("size", "big"))), t_norm=t_norm)
    text = rules.to_fll()
    assert "rule: if depth is not low or (size is not very box and size is big) then y is rule1" in text
    assert "rule: if depth is not any then y is rule2" in text
    assert "rule: if depth is any and size is big then y is rule4" in text
    found = RuleBase.from_fll(text).infer(POINTS)
    np.testing.assert_allclose(found.output, rules.infer(POINTS).output, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.firing, rules.infer(POINTS).firing, rtol=1e-9, atol=1e-12)


def test_negated_flat_premises_reach_fis_by_the_same_laws():
    rules = base(
        Not(Or((Is("depth", "low"), Is("size", "big")))),
        Not(Is("depth", "high", ("not",))),
        And((ANYTHING, And((Is("size", "roof"),)))),
    )
    text = rules.to_fis()
    assert text.splitlines()[-3:] == ["-1 -3, 1 (1) : 1", "3 0, 2 (1) : 1", "0 2, 3 (1) : 1"]
    np.testing.assert_allclose(
        RuleBase.from_fis(text).infer(POINTS).output, rules.infer(POINTS).output, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["fll", "fis"])
def test_every_family_and_a_first_order_conclusion_are_written_in_the_formats_order(kind):
    rules = base(
        And((Is("depth", "low"), Is("size", "big"))),
        And((Is("depth", "some"), Is("size", "box"))),
        And((Is("depth", "high"), Is("size", "roof"))),
        coefs=[[[0.5, 2.0, -1.0]], [[1.0, 0.0, 0.0]], [[0.0, 0.25, 3.0]]],
    )
    text = WRITE[kind](rules)
    wanted = {
        "fll": [
            *("low Triangle 0 0 1", "some Bell 1 0.5 2", "high Sigmoid 1.5 4", "box Trapezoid 0 0 1 1"),
            *("big Gaussian 2 1", "rule1 Linear 2 -1 0.5", "rule2 Linear 0 0 1"),
        ],
        "fis": [
            *("'low':'trimf',[0 0 1]", "'some':'gbellmf',[0.5 2 1]", "'high':'sigmf',[4 1.5]"),
            *("'box':'trapmf',[0 0 1 1]", "'big':'gaussmf',[1 2]", "'rule1':'linear',[2 -1 0.5]"),
        ],
    }
    for piece in wanted[kind]:
        assert piece in text
    assert READ[kind](text) == rules


@pytest.mark.parametrize("kind", ["fll", "fis"])
def test_mamdani_rules_come_back(kind):
    outputs = (
        Variable("risk", {"small": Triangular(0, 0, 0.6), "great": Gaussian(1, 0.2)}, 0, 1),
        Variable("cost", {"low": Trapezoidal(0, 0, 2, 5), "high": Sigmoid(6, 2)}, 0, 10),
    )
    premises = base(Is("depth", "low"), Or((Is("depth", "high"), Is("size", "big", ("not",)))), t_norm="min")
    said = ({"risk": "great", "cost": "low"}, {"cost": "high"})
    for accumulation in ("max", "algebraic", "bounded", "sum"):
        for defuzzify, implication in (("centroid", "min"), ("bisector", "product"), ("som", "min")):
            matlab = {"sampling": "points", "resolution": 101} if kind == "fis" else {}
            rules = MamdaniRules(premises, outputs, said, implication, accumulation, defuzzify, **matlab)
            text = {"fll": rules.to_fll, "fis": rules.to_fis}[kind]()
            assert {"fll": MamdaniRules.from_fll, "fis": MamdaniRules.from_fis}[kind](text) == rules
    with pytest.raises(RuleSyntaxError, match=r"Mamdani system.*MamdaniRules"):
        READ[kind](text)
    sugeno = WRITE[kind](premises)
    with pytest.raises(RuleSyntaxError, match=r"Sugeno system.*RuleBase"):
        {"fll": MamdaniRules.from_fll, "fis": MamdaniRules.from_fis}[kind](sugeno)


# ---------------------------------------------------------------------- what is read


def test_fll_that_tells_little_is_read_with_fuzzylites_meaning():
    rules = RuleBase.from_fll(
        "InputVariable: a\n  term: low Gaussian 0 1 # a comment\n  term: tall Triangle 0 1 2 1.000\r\n"
        "OutputVariable: y\n  defuzzifier: WeightedSum\n  default: nan\n  term: one Constant 1\n"
        "RuleBlock:\n  enabled: false\n  rule: if a is nothing of the kind\n"
        "RuleBlock:\n  rule: if a is not not any then y is one\n  rule: if (((a is low))) then y is one with 0.25\n"
    )
    assert [rule.premise for rule in rules.rules] == [ANYTHING, Is("a", "low")]
    assert (rules.normalize, rules.default, rules.aggregation, rules.rules[1].weight) == (False, (0.0,), "max", 0.25)
    assert rules.variables[0].terms["tall"] == Triangular(0, 1, 2)
    assert rules.infer([[0.0]]).output.tolist() == [[1.25]]


def test_and_binds_more_closely_than_or():
    rules = RuleBase.from_fll(
        "InputVariable: a\n  term: b Gaussian 0 1\n  term: c Gaussian 1 1\n"
        "OutputVariable: y\n  defuzzifier: WeightedAverage\n  term: one Constant 1\n"
        "RuleBlock:\n  conjunction: Minimum\n  disjunction: BoundedSum\n"
        "  rule: if a is b or a is c and a is not b then y is one\n"
    )
    b, c, not_b = Is("a", "b"), Is("a", "c"), Is("a", "b", ("not",))
    assert rules.rules[0].premise == Or((b, And((c, not_b))))
    assert (rules.t_norm, rules.s_norm) == ("min", "bounded")


def test_inputs_that_are_not_locked_stay_unbound_beside_one_that_is():
    text = (
        "InputVariable: a\n  range: 0 1\n  lock-range: true\n  term: up Gaussian 1 1\n"
        "InputVariable: b\n  range: 0 1\n  term: up Gaussian 2 1\n"
        "OutputVariable: y\n  defuzzifier: WeightedSum\n  term: one Constant 1\n"
        "RuleBlock:\n  conjunction: AlgebraicProduct\n  rule: if a is up and b is up then y is one\n"
    )
    rules = RuleBase.from_fll(text)
    assert rules.limited
    assert (rules.variables[1].low, rules.variables[1].high) == (None, None)
    assert rules.infer([[5.0, 2.0]]).output.tolist() == [[1.0]]
    assert RuleBase.from_fll(rules.to_fll()) == rules


def test_default_of_a_fis_output_is_the_middle_of_its_range():
    rules = base(Is("depth", "low"), default=(-0.3,))
    text = rules.to_fis()
    assert "Range=[-0.6 0]" in text
    assert RuleBase.from_fis(text).default == (-0.3,)
    assert RuleBase.from_fis(text.replace("Range=[-0.6 0]", "Range=[-inf inf]")).default == (0.0,)
    for extreme in (1.7e308, -5e-324):
        assert RuleBase.from_fis(base(Is("depth", "low"), default=(extreme,)).to_fis()).default == (extreme,)
    far_away = RuleBase.from_fis(text).infer([[5.0, 5.0]])
    assert far_away.uncovered.all()
    assert far_away.output.tolist() == [[-0.3]]


def test_fis_may_have_comments_other_orders_commas_and_fuzzylites_any():
    text = base(Is("depth", "low"), And((Is("depth", "low"), Is("size", "big")))).to_fis()
    rules = RuleBase.from_fis(text)
    head, tail = text.split("[Rules]\n")
    other = "# one\n" + head.replace("[0 0 1]", "[0, 0,1]").replace("Version=2.0\n", "") + "[Rules]\n% two\n" + tail
    assert RuleBase.from_fis(other.replace("1 0, 1 (1) : 1", "1.000 0.990 , 1.000 (1.000) : 1")) == rules
    first, second = head.index("[Input1]"), head.index("[Input2]")
    swapped = (
        head[:first] + head[second : head.index("[Output1]")] + head[first:second] + head[head.index("[Output1]") :]
    )
    assert RuleBase.from_fis(swapped + "[Rules]\n" + tail) == rules


# ---------------------------------------------------------------------- what is lost


def assert_told(sentences, facts):
    for sentence, expected in zip(sentences, facts, strict=True):
        for fact in expected.split("|"):
            assert fact in sentence


def test_losses_are_told_in_the_text_and_by_what_is_lost():
    inputs = (Variable("hue (mean)", {"very": Gaussian(0, 1), "größe": Gaussian(1, 1)}, unit="nm"), two_inputs()[1])
    rules = base(
        *(Is("hue (mean)", "very"), Is("hue (mean)", "größe")),
        inputs=inputs,
        coefs=[[[1.0, 0.5, 0.5]], [[0.0, 0.0, 1.0]]],
        aggregation="softmax",
        alpha=5.0,
        combine="max",
        outputs=("it's",),
    )
    common = [
        BAGS,
        "aggregation='softmax', alpha=5|aggregation='max'",
        "combine='max', consequent_alpha=1|combine='softmax', consequent_alpha=1",
        "Units|'hue (mean)' in 'nm'",
    ]
    names = "'hue (mean)' is written as 'hue_mean'|'very' is written as '_very', 'größe' is written as 'grosse'"
    told = what_is_lost(rules, "fll")
    assert_told(told, [*common, names])
    assert rules.to_fll().splitlines()[: len(told)] == [f"# {sentence}" for sentence in told]
    told = what_is_lost(rules, "fis")
    assert_told(told, [*common, "\"it's\" is written as 'it s'", "range|'hue (mean)'"])
    assert rules.to_fis().splitlines()[: len(told)] == [f"% {sentence}" for sentence in told]
    for kind in ("fll", "fis"):  # and single instances infer the same
        back = READ[kind](WRITE[kind](rules))
        np.testing.assert_array_equal(back.infer(POINTS).output, rules.infer(POINTS).output)
    assert what_is_lost(rules, "json") == what_is_lost(rules, "rules") == []
    for kind in ("markdown", "latex"):
        assert len(what_is_lost(rules, kind)) == 1
    with pytest.raises(ParameterError, match=r"format.*'fsi'.*Did you mean 'fis'"):
        what_is_lost(rules, "fsi")


def test_constants_lose_nothing_by_how_instances_are_combined():
    assert_told(what_is_lost(base(Is("depth", "low"), combine="max"), "fll"), [BAGS])
    every = base(Is("depth", "low"), Is("depth", "high"), aggregation="softmax", alpha=(1.0, 2.0))
    assert "alpha=one per rule" in what_is_lost(every, "fll")[1]


def test_what_only_fuzzylite_understands_of_a_fis_file_is_told():
    rules = RuleBase(two_inputs(), (Rule({}, [[1.0]], 2.0),), t_norm="hamacher", aggregation="max")
    told = [BAGS, "MATLAB|norms hamacher", "MATLAB|weights above 1", "without conditions|fuzzylite"]
    assert_told(what_is_lost(rules, "fis"), told)
    outputs = (Variable("risk", {"small": Triangular(0, 0, 0.6)}, 0, 1, "%"),)
    mamdani = MamdaniRules(base(Is("depth", "low")), outputs, ({"risk": "small"},), default=0.25)
    assert_told(
        what_is_lost(mamdani, "fis"), [BAGS, "Units|'risk' in '%'", "resolution", "default|middle of the range"]
    )
    assert_told(what_is_lost(mamdani, "fll"), [BAGS, "Units|'risk' in '%'"])


def test_ramps_have_matlabs_words_in_fis_files_and_fuzzylites_is_read_too():
    rules = RuleBase.parse(
        """VARIABLE x FROM 0 TO 10: falling = Ramp(7, 3), rising = Ramp(3, 7)
        IF x is falling THEN y = 0
        IF x is rising THEN y = 1"""
    )
    text = rules.to_fis()
    assert "MF1='falling':'linzmf',[3 7]" in text
    assert "MF2='rising':'linsmf',[3 7]" in text
    assert any("linsmf, linzmf" in sentence and "FLL" in sentence for sentence in what_is_lost(rules, "fis"))
    theirs = text.replace("'linzmf',[3 7]", "'rampmf',[7 3]").replace("linsmf", "rampmf")
    for written in (text, theirs):
        assert dict(RuleBase.from_fis(written).variables[0].terms) == dict(rules.variables[0].terms)


def test_range_of_a_single_value_is_widened_in_fis_and_told():
    rules = RuleBase.from_arrays([[2.0]], [[0.5]], [1.0], aggregation="max")
    assert "'x1'" in what_is_lost(rules, "fis")[1]
    back = RuleBase.from_fis(rules.to_fis())
    assert (back.variables[0].low, back.variables[0].high) == (0.5, 3.5)
    no_sets = base(Is("depth", "low"), inputs=(two_inputs()[0], Variable("empty")))
    assert RuleBase.from_fis(no_sets.to_fis()).variables[1] == Variable("empty", {}, -1, 1)


@pytest.mark.parametrize(
    "premise",
    [
        And((Is("depth", "low"), Or((Is("size", "big"), Is("size", "box"))))),
        Or((Is("size", "big"), Is("size", "box"))),
        And((Is("size", "big"), Is("size", "box", ("not",)))),
        Is("depth", "low", ("very", "seldom")),
        Or((Is("depth", "low"), ANYTHING)),
        Not(ANYTHING),
    ],
    ids=["mixed", "or_twice", "and_twice", "hedge", "or_anything", "never"],
)
def test_premises_that_fis_cannot_say_are_refused_by_the_rules_number(premise):
    rules = base(Is("depth", "high"), premise)
    with pytest.raises(ParameterError, match=r"Rule 2 cannot be written to a \.fis file.*split the rule"):
        rules.to_fis()
    with pytest.raises(ParameterError, match="Rule 2 cannot"):
        what_is_lost(rules, "fis")
    assert RuleBase.from_fll(rules.to_fll()) == rules


def test_other_things_that_cannot_be_said_are_refused():
    bracket = And((Is("depth", "low"), Is("size", "big")))
    negated = base(Or((Is("depth", "high"), Not(bracket))), t_norm="min", s_norm="algebraic")
    with pytest.raises(ParameterError, match=r"Rule 1 has NOT.*s_norm='max'"):
        negated.to_fll()
    with pytest.raises(ParameterError, match=r"Rule 1 cannot be written"):
        negated.to_fis()
    with pytest.raises(ParameterError, match=r"range of 'depth', 'size'.*limited=False"):
        base(Is("depth", "low"), limited=True).to_fis()


def test_line_ends_in_names_and_units_do_not_get_into_the_comments():
    odd = Variable("a\nb\r", {"c\rd": Gaussian(0, 1)}, unit="m\n[Rules]")
    rules = RuleBase((odd,), (Rule({"a\nb\r": "c\rd"}, [[1.0]]),), ("y\nz",))
    for kind in ("fll", "fis"):
        back = READ[kind](WRITE[kind](rules))
        assert [*back.feature_names, *back.variables[0].terms, *back.outputs] in (
            ["a_b", "c_d", "y_z"],
            ["a b", "c d", "y z"],
        )


def test_names_are_kept_apart_where_they_are_changed():
    terms = {name: Gaussian(k, 1) for k, name in enumerate(["a b", "a_b", "a-b", "12", "", "NOT", "a  b"])}
    odd = {"it's": Gaussian(0, 2), "it s": Gaussian(1, 2), " it s\n": Gaussian(2, 2), "[x]=%": Gaussian(3, 2)}
    inputs = (Variable("一", terms, 0, 1), Variable("二", odd, 0, 1))
    rules = base(*(Is("一", name) for name in terms), *(Is("二", name) for name in odd), inputs=inputs)
    fll, fis = RuleBase.from_fll(rules.to_fll()), RuleBase.from_fis(rules.to_fis())
    assert list(fll.variables[0].terms) == ["a_b2", "a_b", "a_b3", "_12", "_", "_NOT", "a_b4"]
    assert fll.feature_names == ("u4E00", "u4E8C")
    assert list(fis.variables[1].terms) == ["it s2", "it s", "it s3", "[x]=%"]
    for back in (fll, fis):
        np.testing.assert_array_equal(back.infer(POINTS).output, rules.infer(POINTS).output)


# ---------------------------------------------------------------------- files


def mamdani():
    outputs = (Variable("risk", {"small": Triangular(0, 0, 0.6)}, 0, 1),)
    return MamdaniRules(base(Is("depth", "low")), outputs, ({"risk": "small"},))


@pytest.mark.parametrize("ending", [".json", ".rules", ".txt", ".fll", ".fis", ".FLL"])
@pytest.mark.parametrize("rules", [base(Is("depth", "low")), mamdani()], ids=["sugeno", "mamdani"])
def test_files_come_back_as_what_was_written(tmp_path, ending, rules):
    path = tmp_path / f"rules{ending}"
    lost = write_rules(rules, path)
    again = read_rules(path)
    if ending == ".fis" and isinstance(rules, MamdaniRules):  # where MATLAB's sampling is meant
        assert (again.sampling, again.resolution) == ("points", 101)
        again = dataclasses.replace(again, sampling=rules.sampling, resolution=rules.resolution)
    assert again == rules
    assert read_rules(str(path)) == read_rules(path)
    assert any(BAGS in sentence for sentence in lost) == (ending.lower() in (".fll", ".fis"))


@pytest.mark.parametrize("ending", [".md", ".tex"])
def test_tables_are_written_but_not_read(tmp_path, ending):
    path = tmp_path / f"rules{ending}"
    write_rules(mamdani(), path)
    assert "Triangular" in path.read_text(encoding="utf-8")
    with pytest.raises(ParameterError, match=rf"rules\{ending} .*table"):
        read_rules(path)


def test_failure_to_write_leaves_the_older_file(tmp_path):
    path = tmp_path / "rules.fis"
    write_rules(base(Is("depth", "low")), path)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="limited"):
        write_rules(base(Is("depth", "low"), limited=True), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["rules.fis"]


@pytest.mark.parametrize(
    ("name", "content", "kind", "message"),
    [
        ("a.fll", b"Engine: x\nInputVariabel: y\n", RuleSyntaxError, r"a\.fll: Line 2, character 1: Unknown"),
        ("a.fis", b"[System]\n\nType='fuzzy'\n", RuleSyntaxError, r"a\.fis: Line 3, character 7: Unknown Type"),
        ("a.rules", b"IF x is low THEN y = 1", RuleSyntaxError, r"a\.rules: Line 1, character 4: Unknown variable"),
        ("a.txt", b"", RuleSyntaxError, r"a\.txt: The text"),
        ("a.rules", b"IF x\n\xff", RuleSyntaxError, r"a\.rules: Line 2 is not UTF-8"),
        ("a.json", b"{}", ModelFileError, r"a\.json.*fuzzymil\.rules"),
        ("a.json", b'{"format": "fuzzymil.rules", "version": 1}', ModelFileError, r"a\.json: The rules in this file"),
        ("a.fzz", b"", ParameterError, r"extension '\.fzz'.*\.fll"),
        ("a.fll", b"x" * 8_000_010, RuleSyntaxError, r"a\.fll: The text has [\d,]+ characters"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, name, content, kind, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(kind, match=message):
        read_rules(path)


def test_byte_order_mark_and_line_ends_of_other_systems_do_not_matter(tmp_path):
    rules, path = base(Is("depth", "low")), tmp_path / "rules.fll"
    path.write_bytes(b"\xef\xbb\xbf" + rules.to_fll().replace("\n", "\r\n").encode())
    assert read_rules(path) == rules
    path.write_bytes(rules.to_fll().replace("\n", "\r").encode())
    assert read_rules(path) == rules


def test_missing_files_and_other_values_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        read_rules(tmp_path / "nothing.fll")
    with pytest.raises(ParameterError, match="Expected a RuleBase or MamdaniRules, got 'IF"):
        write_rules("IF x is low THEN y = 1", tmp_path / "a.fll")


REFUSED = {
    "AND and OR": ("IF x is low AND (z is low OR z is high) THEN y = 1", {"fis", "fml"}),
    "a variable twice": ("IF x is low AND x is high THEN y = 1", {"fis"}),
    "NOT of a premise": ("IF NOT (x is low AND z is high) THEN y = 1", {"fml"}),
    "formulas": ("IF z is formula THEN y = 1", {"fml"}),
    "quantifiers": ("IF SOME x is low THEN y = 1", {"fll", "fis", "fcl", "fml"}),
    "hedges": ("IF x is very low THEN y = 1", set()),
}


@pytest.mark.parametrize("what", REFUSED)
def test_formats_refuse_what_the_page_on_rules_says(what):
    rule, refusing = REFUSED[what]
    sets = 'low = Gaussian(0, 3), high = Gaussian(10, 3), formula = Formula("x / 10")'
    rules = RuleBase.parse(f"VARIABLE x FROM 0 TO 10: {sets}\nVARIABLE z FROM 0 TO 10: {sets}\n{rule}")
    if what != "formulas":
        rules = rules.edit(drop_unused_terms=True)
    for format in ("fll", "fis", "fcl", "fml"):
        if format in refusing:
            with pytest.raises(ParameterError):
                getattr(rules, f"to_{format}")()
        else:
            assert getattr(rules, f"to_{format}")()

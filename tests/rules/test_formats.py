"""Rules in other programs' formats: what those programs wrote infers as they do, and what we write comes back."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from small_systems import POINTS, base, concluding

from fuzzymil import RuleBase
from fuzzymil.inference.membership import Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, parse_rules, read_rules
from fuzzymil.rules.files.fll import HEDGES
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or

DATA = Path(__file__).parents[1] / "data" / "formats"
EXPECTED = json.loads((DATA / "expected.json").read_text())


# ---------------------------------------------------------------------- written by other programs


@pytest.mark.parametrize("name", EXPECTED)
def test_file_of_another_program_infers_as_that_program_does(name):
    rules, expected = read_rules(DATA / name), EXPECTED[name]
    tolerance = 1e-6
    if rules.concludes_sets:
        if name.endswith(".fis"):
            # The format does not tell: MATLAB takes 101 points, fuzzylite 100 cells.
            rules = rules.with_settings(resolution=100, sampling="cells")
        if rules.defuzzification.defuzzify == "bisector":  # which fuzzylite approaches in steps of whole cells
            tolerance = 5 * max(output.high - output.low for output in rules.outputs) / rules.defuzzification.resolution
    np.testing.assert_allclose(rules.infer(expected["points"]).output, expected["outputs"], atol=tolerance, rtol=0)


def test_there_are_files_of_both_programs_and_of_every_kind():
    assert {path.name for path in DATA.iterdir() if path.suffix in (".fll", ".fis")} == set(EXPECTED)
    assert len(EXPECTED) >= 20
    for kind in (".pyfuzzylite.fll", ".fuzzylite.fll", ".fuzzylite.fis"):
        found = [read_rules(DATA / name) for name in EXPECTED if name.endswith(kind)]
        assert {type(rules) for rules in found} == {RuleBase, RuleBase}
    sugeno = [rules for rules in map(read_rules, sorted(DATA.glob("*.fll"))) if not rules.concludes_sets]
    assert {rules.t_norm for rules in sugeno} == {"product", "min", "lukasiewicz", "hamacher", "einstein"}
    assert {True, False} == {rules.normalize for rules in sugeno} == {rules.limited for rules in sugeno}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_another_program_wrote_comes_back_equal_when_written_again(name):
    rules = read_rules(DATA / name)
    sampled = {"sampling": rules.defuzzification.sampling} if rules.concludes_sets else {}
    assert parse_rules(export_rules(rules, "fll"), "fll").with_settings(**sampled) == rules
    if not name.startswith(("brackets", "locked", "two_outputs")):
        again = parse_rules(export_rules(rules, "fis"), "fis")
        lost = {"resolution": rules.defuzzification.resolution} if rules.concludes_sets else {}
        assert again.with_settings(**lost, **sampled) == rules


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
    assert parse_rules(export_rules(rules, "fll"), "fll") == rules  # and equal values infer equally


@pytest.mark.slow
@settings(max_examples=500, **HEALTHY)
@given(gaussian_systems(for_fis=True))
def test_gaussian_sugeno_systems_come_back_equal_from_fis(rules):
    assert parse_rules(export_rules(rules, "fis"), "fis") == rules


@pytest.mark.slow
@pytest.mark.parametrize("t_norm", ["product", "lukasiewicz"])
def test_negated_brackets_are_written_by_de_morgans_laws(t_norm):
    negated = Not(And((Is("depth", "low"), Or((Is("size", "box", ("very",)), Not(Is("size", "big")))))))
    rules = base(negated, Not(ANYTHING), Is("depth", "high"), And((ANYTHING, Is("size", "big"))), t_norm=t_norm)
    text = export_rules(rules, "fll")
    assert "rule: if depth is not low or (size is not very box and size is big) then y is rule1" in text
    assert "rule: if depth is not any then y is rule2" in text
    assert "rule: if depth is any and size is big then y is rule4" in text
    found = parse_rules(text, "fll").infer(POINTS)
    np.testing.assert_allclose(found.output, rules.infer(POINTS).output, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.firing, rules.infer(POINTS).firing, rtol=1e-9, atol=1e-12)


def test_negated_flat_premises_reach_fis_by_the_same_laws():
    rules = base(
        Not(Or((Is("depth", "low"), Is("size", "big")))),
        Not(Is("depth", "high", ("not",))),
        And((ANYTHING, And((Is("size", "roof"),)))),
    )
    text = export_rules(rules, "fis")
    assert text.splitlines()[-3:] == ["-1 -3, 1 (1) : 1", "3 0, 2 (1) : 1", "0 2, 3 (1) : 1"]
    np.testing.assert_allclose(
        parse_rules(text, "fis").infer(POINTS).output, rules.infer(POINTS).output, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kind", ["fll", "fis"])
def test_every_family_and_a_first_order_conclusion_are_written_in_the_formats_order(kind):
    rules = base(
        And((Is("depth", "low"), Is("size", "big"))),
        And((Is("depth", "some"), Is("size", "box"))),
        And((Is("depth", "high"), Is("size", "roof"))),
        coefs=[[[0.5, 2.0, -1.0]], [[1.0, 0.0, 0.0]], [[0.0, 0.25, 3.0]]],
    )
    text = export_rules(rules, kind)
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
    assert parse_rules(text, kind) == rules


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
            rules = concluding(
                premises,
                outputs,
                said,
                implication=implication,
                accumulation=accumulation,
                defuzzify=defuzzify,
                **matlab,
            )
            text = export_rules(rules, kind)
            assert parse_rules(text, kind) == rules


# ---------------------------------------------------------------------- what is read


def test_fll_that_tells_little_is_read_with_fuzzylites_meaning():
    rules = parse_rules(
        "InputVariable: a\n  term: low Gaussian 0 1 # a comment\n  term: tall Triangle 0 1 2 1.000\r\n"
        "OutputVariable: y\n  defuzzifier: WeightedSum\n  default: nan\n  term: one Constant 1\n"
        "RuleBlock:\n  enabled: false\n  rule: if a is nothing of the kind\n"
        "RuleBlock:\n  rule: if a is not not any then y is one\n  rule: if (((a is low))) then y is one with 0.25\n",
        "fll",
    )
    assert [rule.premise for rule in rules.rules] == [ANYTHING, Is("a", "low")]
    assert (rules.normalize, rules.default, rules.aggregation, rules.rules[1].weight) == (False, (0.0,), "max", 0.25)
    assert rules.variables[0].terms["tall"] == Triangular(0, 1, 2)
    assert rules.infer([[0.0]]).output.tolist() == [[1.25]]


def test_and_binds_more_closely_than_or():
    rules = parse_rules(
        "InputVariable: a\n  term: b Gaussian 0 1\n  term: c Gaussian 1 1\n"
        "OutputVariable: y\n  defuzzifier: WeightedAverage\n  term: one Constant 1\n"
        "RuleBlock:\n  conjunction: Minimum\n  disjunction: BoundedSum\n"
        "  rule: if a is b or a is c and a is not b then y is one\n",
        "fll",
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
    rules = parse_rules(text, "fll")
    assert rules.limited
    assert (rules.variables[1].low, rules.variables[1].high) == (None, None)
    assert rules.infer([[5.0, 2.0]]).output.tolist() == [[1.0]]
    assert parse_rules(export_rules(rules, "fll"), "fll") == rules


def test_default_of_a_fis_output_is_the_middle_of_its_range():
    rules = base(Is("depth", "low"), default=(-0.3,))
    text = export_rules(rules, "fis")
    assert "Range=[-0.6 0]" in text
    assert parse_rules(text, "fis").default == (-0.3,)
    assert parse_rules(text.replace("Range=[-0.6 0]", "Range=[-inf inf]"), "fis").default == (0.0,)
    for extreme in (1.7e308, -5e-324):
        assert parse_rules(export_rules(base(Is("depth", "low"), default=(extreme,)), "fis"), "fis").default == (
            extreme,
        )
    far_away = parse_rules(text, "fis").infer([[5.0, 5.0]])
    assert far_away.uncovered.all()
    assert far_away.output.tolist() == [[-0.3]]


def test_fis_may_have_comments_other_orders_commas_and_fuzzylites_any():
    text = export_rules(base(Is("depth", "low"), And((Is("depth", "low"), Is("size", "big")))), "fis")
    rules = parse_rules(text, "fis")
    head, tail = text.split("[Rules]\n")
    other = "# one\n" + head.replace("[0 0 1]", "[0, 0,1]").replace("Version=2.0\n", "") + "[Rules]\n% two\n" + tail
    assert parse_rules(other.replace("1 0, 1 (1) : 1", "1.000 0.990 , 1.000 (1.000) : 1"), "fis") == rules
    first, second = head.index("[Input1]"), head.index("[Input2]")
    swapped = (
        head[:first] + head[second : head.index("[Output1]")] + head[first:second] + head[head.index("[Output1]") :]
    )
    found = parse_rules(swapped + "[Rules]\n" + tail, "fis")  # variables count in the order of the text, as in MATLAB
    assert [variable.name for variable in found.variables] == [variable.name for variable in rules.variables[::-1]]

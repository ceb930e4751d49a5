"""What fuzzylite and MATLAB write beyond the basics: each feature in a file of our own, with numbers by hand."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_sets import EXAMPLES, SLOW, fuzzy_sets

from fuzzymil import ParameterError, RuleBase
from fuzzymil.membership import (
    FAMILIES,
    Binary,
    Discrete,
    Formula,
    Gaussian,
    Ramp,
    Singleton,
    Triangular,
)
from fuzzymil.network.norms import DUAL
from fuzzymil.rules import MamdaniRules, Rule, Variable
from fuzzymil.rules._formats import fll as fll_reader
from fuzzymil.rules.activation import activated
from fuzzymil.rules.formats import read_rules, what_is_lost
from fuzzymil.rules.premise import And, Is, Or

TIPPER = """[System]
Name='tipper'
Type='mamdani'
Version=2.0
NumInputs=2
NumOutputs=1
NumRules=3
AndMethod='min'
OrMethod='max'
ImpMethod='min'
AggMethod='max'
DefuzzMethod='centroid'

[Input1]
Name='service'
Range=[0 10]
NumMFs=3
MF1='poor':'gaussmf',[1.5 0]
MF2='good':'gaussmf',[1.5 5]
MF3='excellent':'gaussmf',[1.5 10]

[Input2]
Name='food'
Range=[0 10]
NumMFs=2
MF1='rancid':'trapmf',[0 0 1 3]
MF2='delicious':'trapmf',[7 9 10 10]

[Output1]
Name='tip'
Range=[0 30]
NumMFs=3
MF1='cheap':'trimf',[0 5 10]
MF2='average':'trimf',[10 15 20]
MF3='generous':'trimf',[20 25 30]

[Rules]
1 1, 1 (1) : 2
2 0, 2 (1) : 1
3 2, 3 (1) : 2
"""

FLL = """Engine: plain
InputVariable: a
  range: 0 1
  term: low Ramp 1 0
  term: high Ramp 0 1
{outputs}
RuleBlock: rules
  conjunction: Minimum
  disjunction: Maximum
  implication: {implication}
  activation: {activation}
{rules}
"""


def fll(outputs, rules, implication="Minimum", activation="General"):
    lines = "".join(f"  rule: {rule}\n" for rule in rules)
    return FLL.format(outputs=outputs, rules=lines, implication=implication, activation=activation)


def weighted(name, terms, *lines, method="WeightedAverage"):
    more = "".join(f"  {line}\n" for line in lines)
    return f"OutputVariable: {name}\n  defuzzifier: {method}\n{more}" + "".join(f"  term: {t}\n" for t in terms)


def answers(text, *inputs, kind=MamdaniRules):
    return kind.from_fll(text).infer(np.array(inputs)[:, None]).output


# ---------------------------------------------------------------------- MATLAB


def test_matlabs_tipper_gives_matlabs_figures():
    rules = MamdaniRules.from_fis(TIPPER)
    assert (rules.sampling, rules.resolution) == ("points", 101)
    found = rules.infer([[2, 1], [4, 5], [7, 8]]).output[:, 0]
    np.testing.assert_allclose(found, [7.0169, 14.4585, 20.3414], atol=5e-5)
    assert MamdaniRules.from_fis(rules.to_fis()) == rules


def test_padded_parameters_negative_widths_and_names_used_twice():
    text = TIPPER.replace("[1.5 5]", "[-1.5 5 0 0]").replace("'trimf',[0 5 10]", "'trimf',[0 5 10 0]")
    assert MamdaniRules.from_fis(text) == MamdaniRules.from_fis(TIPPER)
    twice = MamdaniRules.from_fis(TIPPER.replace("'excellent'", "'good'"))
    assert list(twice.premises.variables[0].terms) == ["poor", "good", "good_2"]
    np.testing.assert_array_equal(twice.infer([[7, 8]]).output, MamdaniRules.from_fis(TIPPER).infer([[7, 8]]).output)


def test_entries_that_only_some_programs_write_are_skipped_and_text_of_western_windows_is_read(tmp_path):
    text = TIPPER.replace("Version=2.0", "Version=2.0\nDisableStructuralChecks=false").replace("service", "qualité")
    path = tmp_path / "tipper.fis"
    path.write_bytes(text.encode("cp1252"))
    assert read_rules(path).feature_names == ("qualité", "food")
    path.write_bytes(text.encode("utf-16"))
    assert read_rules(path).feature_names == ("qualité", "food")


def test_numbers_may_be_arithmetic_and_counts_that_say_less_are_ignored():
    text = TIPPER.replace("Range=[0 30]", "Range=[-10*pi+10*pi 60/2]").replace("NumMFs=2", "NumMFs=1")
    assert MamdaniRules.from_fis(text) == MamdaniRules.from_fis(TIPPER)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'gaussmf',[1.5 5]", "'gauss2mf',[1 4 2 6]"),
        ("'gaussmf',[1.5 5]", "'dsigmf',[5 4 6 7]"),
        ("'gaussmf',[1.5 5]", "'psigmf',[5 4 -6 7]"),
        ("'gaussmf',[1.5 5]", "'pimf',[1 4 5 9]"),
        ("'gaussmf',[1.5 5]", "'smf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'zmf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'linsmf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'linzmf',[2 7]"),
        ("'trapmf',[0 0 1 3]", "'trapmf',[1 1 1 1]"),
        ("'trimf',[10 15 20]", "'trimf',[15 15 15]"),
    ],
)
def test_sets_of_matlab(old, new):
    rules = MamdaniRules.from_fis(TIPPER.replace(old, new))
    kind, numbers = new.split("'")[1], [float(v) for v in new[new.index("[") + 1 : -1].split()]
    by_hand = {
        "gauss2mf": lambda x, s1, c1, s2, c2: SLOW["two_sided_gaussian"](x, c1, s1, c2, s2),
        "dsigmf": lambda x, a1, c1, a2, c2: SLOW["sigmoid_difference"](x, c1, a1, a2, c2),
        "psigmf": lambda x, a1, c1, a2, c2: SLOW["sigmoid_product"](x, c1, a1, a2, c2),
        "pimf": SLOW["pi_shape"],
        "smf": SLOW["s_shape"],
        "zmf": SLOW["z_shape"],
        "linsmf": SLOW["ramp"],
        "linzmf": lambda x, a, b: SLOW["ramp"](x, b, a),
        "trapmf": SLOW["trapezoidal"],
        "trimf": SLOW["triangular"],
    }[kind]
    variables = (*rules.premises.variables, *rules.outputs)
    chosen = next(v.terms[t] for v in variables for t in ("good", "rancid", "average") if f"'{t}':{new}" in
                  TIPPER.replace(old, new) and t in v.terms)  # fmt: skip
    x = np.linspace(0, 30, 61)
    np.testing.assert_allclose(chosen(x), [by_hand(v, *numbers) for v in x.tolist()], rtol=1e-10, atol=1e-12)
    assert MamdaniRules.from_fis(rules.to_fis()) == rules


# ---------------------------------------------------------------------- outputs


def test_every_output_has_its_own_way_to_a_number():
    sets = (
        "OutputVariable: s\n  range: 0 1\n  aggregation: Maximum\n  defuzzifier: MeanOfMaximum 10\n"
        "  term: t Triangle 0 0.5 1\n"
    )
    text = fll(
        sets + weighted("w", ["one Constant 1", "two Constant 2"]),
        ["if a is low then s is t and w is one", "if a is high then w is two"],
    )
    rules = MamdaniRules.from_fll(text)
    assert rules.defuzzify == ("mom", "average")
    assert rules.outputs[1].terms == {"one": Singleton(1), "two": Singleton(2)}
    np.testing.assert_allclose(rules.infer([[0.25]]).output, [[0.5, 1.25]], atol=1e-12)
    assert MamdaniRules.from_fll(rules.to_fll()) == rules
    assert MamdaniRules.parse(rules.to_source()) == rules
    assert MamdaniRules.from_dict(rules.to_dict()) == rules
    with pytest.raises(ParameterError, match="cannot hold outputs of both kinds"):
        rules.to_fis()


def test_strengths_of_one_term_are_joined_by_its_aggregation():
    rules = ["if a is low then w is one", "if a is high then w is one", "if a is high then w is two"]
    terms = ["one Constant 1", "two Constant 2"]
    assert answers(fll(weighted("w", terms, "aggregation: none"), rules), 0.25, kind=RuleBase)[0, 0] == pytest.approx(
        1.2
    )
    assert answers(fll(weighted("w", terms, "aggregation: Maximum"), rules), 0.25)[0, 0] == pytest.approx(1.25)
    summed = fll(weighted("w", terms, "aggregation: Maximum", "default: 7", method="WeightedSum"), rules)
    assert answers(summed, 0.25)[0, 0] == pytest.approx(0.75 + 0.5)


def test_tsukamotos_method_finds_the_value_with_the_degree_of_the_rule():
    terms = [
        "down Ramp 3 1",
        "up SShape 0 2",
        "curve Concave 0.5 1",
        "steep Sigmoid 1 5",
        "arc Arc 0 1",
        "z ZShape 0 1",
    ]
    w = 0.75
    exact = {
        "down": 3 - 2 * w,
        "up": 2 - 2 * math.sqrt((1 - w) / 2),
        "curve": 1 - 0.5 * (1 / w - 1),
        "steep": 1 + math.log(w / (1 - w)) / 5,
        "arc": 1 - math.sqrt(1 - w * w),
        "z": math.sqrt((1 - w) / 2),
    }
    for term, expected in exact.items():
        text = fll(weighted("y", terms, method="WeightedAverage Tsukamoto"), [f"if a is low then y is {term}"])
        rules = MamdaniRules.from_fll(text)
        assert rules.infer([[0.25]]).output[0, 0] == pytest.approx(expected)
        assert rules.outputs[0].terms[term](expected) == pytest.approx(w)
        assert MamdaniRules.from_fll(rules.to_fll()) == rules
    full = answers(fll(weighted("y", terms, "range: 0 4"), ["if a is low then y is steep"]), 0.0)
    assert full[0, 0] == 4.0  # a sigmoid reaches 1 nowhere: the end of the range stands for it


def test_previous_and_clipped_values():
    terms = ["big Constant 5", "small Constant 1"]
    rules = ["if a is high then y is big", "if a is high then y is small with 0.5"]
    text = fll(weighted("y", terms, "range: 0 3", "lock-range: true", "lock-previous: true", "default: 2"), rules)
    read = MamdaniRules.from_fll(text)
    assert (read.clip, read.hold) == (True, True)
    assert read.infer([[0.0], [0.5], [0.0], [0.0]]).output[:, 0].tolist() == [2.0, 3.0, 3.0, 3.0]
    assert MamdaniRules.from_fll(read.to_fll()) == read
    lost = what_is_lost(read, "fis")
    assert any("LockPrevious" in sentence for sentence in lost)
    assert MamdaniRules.parse(read.to_source()) == read


def test_hedges_of_conclusions_modify_the_strength_also_for_the_conclusions_after_them():
    outputs = weighted("y", ["one Constant 1"], method="WeightedSum") + weighted(
        "z", ["one Constant 1"], method="WeightedSum"
    )
    text = fll(outputs, ["if a is low then y is very one and z is somewhat one"])
    rules = MamdaniRules.from_fll(text)
    assert rules.conclusions[0]["z"] == Is("z", "one", ("somewhat", "very"))
    np.testing.assert_allclose(rules.infer([[0.75]]).output, [[0.0625, 0.25]])
    again = MamdaniRules.from_fll(rules.to_fll())  # as two rules
    np.testing.assert_allclose(again.infer([[0.75]]).output, [[0.0625, 0.25]])
    assert MamdaniRules.parse(rules.to_source()) == rules
    assert MamdaniRules.from_dict(rules.to_dict()) == rules
    assert "y is very one, z is somewhat very one" in str(rules)
    assert MamdaniRules.from_fis(rules.to_fis()).infer([[0.75]]).output.tolist() == [[0.0625, 0.25]]


def test_conditions_about_outputs_ask_for_the_rules_before():
    text = fll(
        weighted("y", ["one Constant 1", "two Constant 2"], "aggregation: Maximum")
        + weighted("z", ["one Constant 1", "two Constant 2"]),
        [
            "if a is low then y is one",
            "if a is high then y is two",
            "if a is very high then y is two",
            "if y is one then z is two",
            "if y is two then z is one",
        ],
    )
    rules = MamdaniRules.from_fll(text)
    assert rules.premises.rules[3].premise == Is("a", "low")
    assert rules.premises.rules[4].premise == Or((Is("a", "high"), Is("a", "high", ("very",))))
    assert rules.infer([[0.25]]).output[0, 1] == pytest.approx(0.75 * 2 + 0.25 * 1)


def test_a_file_without_rules_opens():
    for text in (fll(weighted("y", ["one Constant 1"], "default: 0.25"), []), TIPPER[: TIPPER.index("1 1, 1")]):
        text = text.replace("NumRules=3", "NumRules=0")
        rules = (RuleBase.from_fll if text.startswith("Engine") else MamdaniRules.from_fis)(text)
        found = rules.infer(np.full((1, len(rules.feature_names)), 0.5))
        assert np.asarray(found.uncovered).all()
        assert found.output.tolist() == [[0.25]] if isinstance(rules, RuleBase) else [[15.0]]


# ---------------------------------------------------------------------- activation


@pytest.mark.parametrize(
    ("words", "strengths"),
    [
        ("General", [0.75, 0.25, 0.5]),
        ("First 1 0.3", [0.75, 0, 0]),
        ("First 2", None),
        ("Last 1 0.3", [0, 0, 0.5]),
        ("Last 2 0.0", [0, 0.25, 0.5]),
        ("Highest 2", [0.75, 0, 0.5]),
        ("Lowest", [0, 0.25, 0]),
        ("Proportional", [0.5, 1 / 6, 1 / 3]),
        ("Threshold >= 0.5", [0.75, 0, 0.5]),
        ("Threshold < 0.5", [0, 0.25, 0]),
        ("Threshold != 0.5", [0.75, 0.25, 0]),
    ],
)
def test_activation_methods(words, strengths):
    terms = ["one Constant 1", "ten Constant 10", "hundred Constant 100"]
    rules = ["if a is low then y is one", "if a is high then y is ten", "if a is somewhat high then y is hundred"]
    text = fll(weighted("y", terms, method="WeightedSum"), rules, activation=words)
    if strengths is None:
        with pytest.raises(ParameterError, match="activation must be"):
            MamdaniRules.from_fll(text)
        return
    read = (RuleBase if words == "General" else MamdaniRules).from_fll(text)
    assert read.infer([[0.25]]).output[0, 0] == pytest.approx(np.dot(strengths, [1, 10, 100]))
    assert type(read).from_fll(read.to_fll()).infer([[0.25]]).output[0, 0] == pytest.approx(
        np.dot(strengths, [1, 10, 100])
    )
    if words != "General":
        assert MamdaniRules.parse(read.to_source()) == read


def test_activation_keeps_strengths_below_the_smallest_number():
    found = activated(np.array([[-1e6, -1e6 - 1.0]]), "proportional")
    np.testing.assert_allclose(np.exp(found).sum(), 1.0)
    assert activated(np.array([[-np.inf, -np.inf]]), "proportional").tolist() == [[-np.inf, -np.inf]]


# ---------------------------------------------------------------------- norms of implication and aggregation


def slow_centroid(text_rules, cut, join, n):
    """Return the centroid for strengths 0.75 and 0.25 on two triangles, cell by cell."""
    total = moment = 0.0
    for k in range(n):
        y = (k + 0.5) / n
        parts = [cut(w, SLOW["triangular"](y, *corners)) for w, corners in text_rules]
        mu = join(*parts)
        total, moment = total + mu, moment + mu * y
    return moment / total


CUTS = {
    "EinsteinProduct": lambda a, b: a * b / (2 - (a + b - a * b)),
    "HamacherProduct": lambda a, b: 0.0 if a + b == 0 else a * b / (a + b - a * b),
    "BoundedDifference": lambda a, b: max(0.0, a + b - 1),
    "DrasticProduct": lambda a, b: min(a, b) if max(a, b) == 1 else 0.0,
    "NilpotentMinimum": lambda a, b: min(a, b) if a + b > 1 else 0.0,
}
JOINS = {
    "EinsteinSum": lambda a, b: (a + b) / (1 + a * b),
    "HamacherSum": lambda a, b: (a + b - 2 * a * b) / (1 - a * b),
    "NormalizedSum": lambda a, b: min(1.0, a + b),
    "NilpotentMaximum": lambda a, b: max(a, b) if a + b < 1 else 1.0,
    "UnboundedSum": lambda a, b: a + b,
}


@pytest.mark.parametrize(("implication", "aggregation"), list(zip(CUTS, JOINS, strict=True)))
def test_any_norm_limits_and_joins_conclusions(implication, aggregation):
    corners = {"left": (0.0, 0.25, 0.875), "right": (0.25, 0.625, 1.0)}
    terms = "".join(f"  term: {name} Triangle {' '.join(map(str, c))}\n" for name, c in corners.items())
    output = f"OutputVariable: y\n  range: 0 1\n  aggregation: {aggregation}\n  defuzzifier: Centroid 64\n{terms}"
    text = fll(output, ["if a is low then y is left", "if a is high then y is right"], implication)
    said = [(0.75, corners["left"]), (0.25, corners["right"])]
    x = 0.25
    if implication == "DrasticProduct":  # which leaves nothing of strengths below 1, but for the peak
        x, said = 0.0, [(1.0, corners["left"]), (0.0, corners["right"])]
    expected = slow_centroid(said, CUTS[implication], JOINS[aggregation], 64)
    rules = MamdaniRules.from_fll(text)
    assert rules.infer([[x]]).output[0, 0] == pytest.approx(expected, abs=1e-12)
    assert MamdaniRules.from_fll(rules.to_fll()) == rules
    assert MamdaniRules.parse(rules.to_source()) == rules


# ---------------------------------------------------------------------- sets


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Triangle 0 1 2 0.5", Discrete(0, 0, 1, 0.5, 2, 0)),
        ("Trapezoid 0 1 2 3 0.5", Discrete(0, 0, 1, 0.5, 2, 0.5, 3, 0)),
        ("Ramp 2 0 0.5", Discrete(0, 0.5, 2, 0)),
        ("Discrete 0 0 1 1 0.5", Discrete(0, 0, 1, 0.5)),
        ("Triangle -inf 1 2", Ramp(2, 1)),
        ("Triangle 0 1 inf", Ramp(0, 1)),
        ("Trapezoid -inf -inf 1 2", Ramp(2, 1)),
        ("Trapezoid 1 1 inf inf", Binary(1, 1)),
        ("Rectangle -inf inf", Formula("1")),
        ("Rectangle 2 0", None),
        ("Binary 1 inf", Binary(1, 1)),
        ("Binary 1 -inf", Binary(1, -1)),
        ("Triangle 1 1 1", Triangular(1, 1, 1)),
        ("Function 1 - abs(x)/2", Formula("1 - abs(x)/2")),
    ],
)
def test_sets_that_only_fuzzylite_writes(words, expected):
    text = fll(weighted("y", ["one Constant 1"]), ["if a is odd then y is one"])
    read = RuleBase.from_fll(text.replace("  term: low Ramp 1 0\n", f"  term: odd {words}\n"))
    if expected is not None:
        assert read.variables[0].terms["odd"] == expected
    assert RuleBase.from_fll(read.to_fll()) == read


@pytest.mark.parametrize("name", sorted(EXAMPLES))
@pytest.mark.parametrize("format", ["fll", "fis"])
def test_every_family_is_written_and_read(name, format):
    sets = {f"t{k}": FAMILIES[name](*parameters) for k, parameters in enumerate(EXAMPLES[name])}
    rules = RuleBase(
        (Variable("x", sets, -50, 50),), tuple(Rule(Is("x", term), [[1.0]]) for term in sets), aggregation="max"
    )
    text = rules.to_fll() if format == "fll" else rules.to_fis()
    assert (RuleBase.from_fll if format == "fll" else RuleBase.from_fis)(text) == rules


def test_a_moved_formula_and_a_single_number_are_told_and_mean_the_same():
    sets = {"moved": Formula("exp(-x^2)", 3, 2), "one": Singleton(4)}
    rules = RuleBase(
        (Variable("v", sets, 0, 9),), tuple(Rule(Is("v", term), [[1.0]]) for term in sets), aggregation="max"
    )
    assert any(
        "single numbers" in sentence.lower() and "'one' of 'v'" in sentence for sentence in what_is_lost(rules, "fll")
    )
    x = np.linspace(0, 9, 37)[:, None]
    np.testing.assert_allclose(RuleBase.from_fll(rules.to_fll()).infer(x).firing, rules.infer(x).firing, atol=1e-12)


# ---------------------------------------------------------------------- names


def test_no_two_names_are_merged_and_accents_are_spelled_out():
    inputs = (Variable("dV", {"élevé": Gaussian(0, 1), "eleve": Gaussian(1, 1)}, 0, 1),)
    outputs = (Variable("dV*", {"größer": Triangular(0, 1, 2), "grosser": Triangular(0, 0, 1)}, 0, 2),)
    premises = RuleBase(inputs, (Rule(Is("dV", "élevé"), [[0.0]]), Rule(Is("dV", "eleve"), [[0.0]])), aggregation="max")
    rules = MamdaniRules(premises, outputs, ({"dV*": "größer"}, {"dV*": "grosser"}))
    again = MamdaniRules.from_fll(rules.to_fll())
    assert (again.feature_names, again.outputs[0].name) == (("dV",), "dV2")
    assert list(again.premises.variables[0].terms) == ["eleve2", "eleve"]
    assert list(again.outputs[0].terms) == ["grosser2", "grosser"]
    told = " ".join(what_is_lost(rules, "fll"))
    assert "'dV*' is written as 'dV2'" in told
    assert "'élevé' is written as 'eleve2'" in told
    np.testing.assert_array_equal(again.infer([[0.3]]).output, rules.infer([[0.3]]).output)


# ---------------------------------------------------------------------- round trips of whole systems


@st.composite
def systems(draw, matlab):
    """Mamdani systems with every set, norm and setting that a format can hold."""
    tame = st.floats(-9, 9).map(lambda value: round(value, 2))
    families = [name for name in FAMILIES if name not in ("singleton", "formula", "missing")]
    t_norms = [name for name in DUAL if name != "dombi"]  # which no other program has
    s_norms = [name for name in DUAL.values() if name != "dombi"]
    inputs = tuple(
        Variable(name, {term: draw(fuzzy_sets(tame, families)) for term in ("low", "high")}, -9, 9)
        for name in ("a", "b")[: draw(st.integers(1, 2))]
    )
    n_outputs = draw(st.integers(1, 2))
    one_way = draw(st.booleans())
    kinds = [draw(st.booleans()) for _ in range(n_outputs)]
    kinds = [kinds[0]] * n_outputs if matlab else kinds
    monotone = ["ramp", "sigmoid", "s_shape", "z_shape", "concave", "arc"]
    outputs, fields = [], {name: [] for name in ("implication", "accumulation", "defuzzify", "resolution", "sampling")}
    for k, sampled in enumerate(kinds):
        term_families = families if sampled else monotone
        single = not sampled and (one_way or matlab)
        terms = {
            term: Singleton(draw(tame)) if single else draw(fuzzy_sets(tame, term_families)) for term in ("s", "t")
        }
        outputs.append(Variable(f"y{k}", terms, -9, 9))
        fields["defuzzify"].append(
            draw(st.sampled_from(["centroid", "bisector", "mom", "som", "lom"] if sampled else ["average", "sum"]))
        )
        fields["implication"].append(draw(st.sampled_from(t_norms)) if sampled else "min")
        fields["accumulation"].append(draw(st.sampled_from([*s_norms, "sum"])) if sampled or not matlab else "sum")
        fields["resolution"].append((101 if matlab else draw(st.integers(2, 500))) if sampled else 1000)
        fields["sampling"].append("points" if matlab and sampled else "cells")
    if matlab:
        fields = {name: [values[0]] * n_outputs for name, values in fields.items()}
    hedges = [(), ("not",), ("very",), ("not", "somewhat"), ("extremely",), ("seldom",)]
    rules, conclusions = [], []
    for _ in range(draw(st.integers(1, 4))):
        asked = tuple(Is(v.name, draw(st.sampled_from(["low", "high"])), draw(st.sampled_from(hedges))) for v in inputs)
        premise = asked[0] if len(asked) == 1 else draw(st.sampled_from([And, Or]))(asked)
        rules.append(Rule(premise, [[0.0]], draw(st.sampled_from([1.0, 0.5]))))
        conclusions.append({output.name: draw(st.sampled_from(["s", "t"])) for output in outputs})
    premises = RuleBase(
        inputs,
        tuple(rules),
        aggregation="max",
        t_norm=draw(st.sampled_from(t_norms)),
        s_norm=draw(st.sampled_from(s_norms)),
    )
    return MamdaniRules(
        premises,
        tuple(outputs),
        tuple(conclusions),
        **{name: tuple(values) for name, values in fields.items()},
        hold=tuple(draw(st.booleans()) for _ in kinds),
        default=tuple(0.0 for _ in kinds),
        activation="general"
        if matlab
        else draw(st.sampled_from(["general", "first 1 0.25", "highest 2", "threshold > 0.5"])),
    )


HEALTHY = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}


@settings(max_examples=60, **HEALTHY)
@given(systems(matlab=False))
def test_mamdani_systems_come_back_from_text_json_and_fll(rules):
    assert MamdaniRules.parse(rules.to_source()) == rules
    assert MamdaniRules.from_dict(rules.to_dict()) == rules
    kinds = rules.defuzzify if isinstance(rules.defuzzify, tuple) else (rules.defuzzify,) * len(rules.outputs)
    several = (
        len({rules.setting("implication", k) for k, kind in enumerate(kinds) if kind not in ("average", "sum")}) > 1
    )
    if several and rules.activation != "general":
        with pytest.raises(ParameterError, match="FLL cannot express activation"):
            rules.to_fll()
        return
    text = rules.to_fll()
    if several:  # implications need several blocks, and so more rules
        return
    if fll_reader.read(text).sugeno:
        with pytest.raises(ParameterError, match="Sugeno system"):
            MamdaniRules.from_fll(text)
        return
    assert MamdaniRules.from_fll(text) == rules


@settings(max_examples=40, **HEALTHY)
@given(systems(matlab=True))
def test_mamdani_systems_come_back_from_fis(rules):
    weighted_sum = rules.defuzzify in ("average", "sum")
    text = rules.to_fis()
    if weighted_sum and rules.hold is False:
        again = RuleBase.from_fis(text)
        x = np.linspace(-9, 9, 7)[:, None] * np.ones(len(rules.feature_names))
        np.testing.assert_allclose(again.infer(x).output, rules.infer(x).output, atol=1e-9)
        return
    again = MamdaniRules.from_fis(text)
    assert dataclasses.replace(again, default=rules.default, resolution=rules.resolution) == rules

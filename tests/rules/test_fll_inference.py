"""What fuzzylite's outputs, activations and norms mean, each in a file of our own with numbers by hand."""

import math

import numpy as np
import pytest
from file_texts import TIPPER, fll, weighted
from slow_sets import SLOW

from fuzzymil import ParameterError, RuleBase
from fuzzymil.inference.membership import Singleton
from fuzzymil.rules.conclusion import active_strengths
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost
from fuzzymil.rules.premise import Is, Or


def answers(text, *inputs, kind=RuleBase):
    return parse_rules(text, "fll").infer(np.array(inputs)[:, None]).output


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
    rules = parse_rules(text, "fll")
    assert rules.defuzzification.defuzzify == ("mom", "average")
    assert rules.outputs[1].terms == {"one": Singleton(1), "two": Singleton(2)}
    np.testing.assert_allclose(rules.infer([[0.25]]).output, [[0.5, 1.25]], atol=1e-12)
    assert parse_rules(export_rules(rules, "fll"), "fll") == rules
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    with pytest.raises(ParameterError, match="cannot hold outputs of both kinds"):
        export_rules(rules, "fis")


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
        rules = parse_rules(text, "fll")
        assert rules.infer([[0.25]]).output[0, 0] == pytest.approx(expected)
        assert rules.outputs[0].terms[term](expected) == pytest.approx(w)
        assert parse_rules(export_rules(rules, "fll"), "fll") == rules
    full = answers(fll(weighted("y", terms, "range: 0 4"), ["if a is low then y is steep"]), 0.0)
    assert full[0, 0] == 4.0  # a sigmoid reaches 1 nowhere: the end of the range stands for it


def test_previous_and_clipped_values():
    terms = ["big Constant 5", "small Constant 1"]
    rules = ["if a is high then y is big", "if a is high then y is small with 0.5"]
    text = fll(weighted("y", terms, "range: 0 3", "lock-range: true", "lock-previous: true", "default: 2"), rules)
    read = parse_rules(text, "fll")
    assert (read.defuzzification.clip, read.defuzzification.hold) == (True, True)
    assert read.infer([[0.0], [0.5], [0.0], [0.0]]).output[:, 0].tolist() == [2.0, 3.0, 3.0, 3.0]
    assert parse_rules(export_rules(read, "fll"), "fll") == read
    lost = what_is_lost(read, "fis")
    assert any("LockPrevious" in sentence for sentence in lost)
    assert RuleBase.parse(read.to_source()) == read


def test_hedges_of_conclusions_modify_the_strength_also_for_the_conclusions_after_them():
    outputs = weighted("y", ["one Constant 1"], method="WeightedSum") + weighted(
        "z", ["one Constant 1"], method="WeightedSum"
    )
    text = fll(outputs, ["if a is low then y is very one and z is somewhat one"])
    rules = parse_rules(text, "fll")
    assert rules.rules[0].terms["z"] == Is("z", "one", ("somewhat", "very"))
    np.testing.assert_allclose(rules.infer([[0.75]]).output, [[0.0625, 0.25]])
    again = parse_rules(export_rules(rules, "fll"), "fll")  # as two rules
    np.testing.assert_allclose(again.infer([[0.75]]).output, [[0.0625, 0.25]])
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    assert "y is very one, z is somewhat very one" in str(rules)
    assert parse_rules(export_rules(rules, "fis"), "fis").infer([[0.75]]).output.tolist() == [[0.0625, 0.25]]


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
    rules = parse_rules(text, "fll")
    assert rules.rules[3].premise == Is("a", "low")
    assert rules.rules[4].premise == Or((Is("a", "high"), Is("a", "high", ("very",))))
    assert rules.infer([[0.25]]).output[0, 1] == pytest.approx(0.75 * 2 + 0.25 * 1)


def test_a_file_without_rules_opens():
    for text in (fll(weighted("y", ["one Constant 1"], "default: 0.25"), []), TIPPER[: TIPPER.index("1 1, 1")]):
        text = text.replace("NumRules=3", "NumRules=0")
        rules = parse_rules(text, "fll" if text.startswith("Engine") else "fis")
        found = rules.infer(np.full((1, len(rules.feature_names)), 0.5))
        assert np.asarray(found.uncovered).all()
        assert found.output.tolist() == [[0.25]] if not rules.concludes_sets else [[15.0]]


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
            parse_rules(text, "fll")
        return
    read = parse_rules(text, "fll")
    assert read.infer([[0.25]]).output[0, 0] == pytest.approx(np.dot(strengths, [1, 10, 100]))
    assert parse_rules(export_rules(read, "fll"), "fll").infer([[0.25]]).output[0, 0] == pytest.approx(
        np.dot(strengths, [1, 10, 100])
    )
    if words != "General":
        assert RuleBase.parse(read.to_source()) == read


def test_activation_keeps_strengths_below_the_smallest_number():
    found = active_strengths(np.array([[-1e6, -1e6 - 1.0]]), "proportional")
    np.testing.assert_allclose(np.exp(found).sum(), 1.0)
    assert active_strengths(np.array([[-np.inf, -np.inf]]), "proportional").tolist() == [[-np.inf, -np.inf]]


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
    rules = parse_rules(text, "fll")
    assert rules.infer([[x]]).output[0, 0] == pytest.approx(expected, abs=1e-12)
    assert parse_rules(export_rules(rules, "fll"), "fll") == rules
    assert RuleBase.parse(rules.to_source()) == rules

"""Inference of Mamdani rules on bags: against loops, and at the edges."""

import math

import numpy as np
import pytest
from depth_and_risk import DEPTH, RISK, gaps, two_rules

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.inference import conclusions
from fuzzymil.inference.conclusions import ACCUMULATIONS, DEFUZZIFIERS, bisector, cells
from fuzzymil.inference.membership import Gaussian, Trapezoidal, Triangular
from fuzzymil.rules import RuleBase, Variable


def by_loops(bag, implication, accumulation, defuzzify, n=60):
    """Infer three rules over two features on one bag, cell by cell; shares no code with the package."""

    def bump(x, center, width):
        return math.exp(-((x - center) ** 2) / (2 * width**2))

    firing = [0.0, 0.0, 0.0]
    for x, y in bag:
        truths = (
            min(bump(x, 0, 0.5), bump(y, 0, 0.5)),
            0.7 * bump(x, 1, 0.4),
            max(bump(y, 1, 0.6), bump(x, 0, 0.5) ** 2),
        )
        firing = [max(w, truth) for w, truth in zip(firing, truths, strict=True)]

    def concluded(rule, u):
        return bump(u, 3, 1.5) if rule in (0, 2) else max(0.0, 1 - abs(u - 7) / 2)

    values, total = [], []
    for cell in range(n):
        u = 10 * (cell + 0.5) / n
        joined = 0.0
        for rule, w in enumerate(firing):
            m = concluded(rule, u)
            part = min(w, m) if implication == "min" else w * m
            if accumulation == "max":
                joined = max(joined, part)
            elif accumulation == "algebraic":
                joined = joined + part - joined * part
            else:
                joined = joined + part if accumulation == "sum" else min(1.0, joined + part)
        values.append(u)
        total.append(joined)
    if defuzzify == "centroid":
        return sum(u * m for u, m in zip(values, total, strict=True)) / sum(total)
    if defuzzify == "bisector":
        left = 0.0
        for u, m in zip(values, total, strict=True):
            if left + m >= sum(total) / 2:
                return u - 5 / n + (10 / n) * (sum(total) / 2 - left) / m
            left += m
    top = [u for u, m in zip(values, total, strict=True) if m == max(total)]
    return {"mom": sum(top) / len(top), "som": min(top), "lom": max(top)}[defuzzify]


LOOPED = """
VARIABLE x: zero = Gaussian(0, 0.5), one = Gaussian(1, 0.4)
VARIABLE y: zero = Gaussian(0, 0.5), one = Gaussian(1, 0.6)
OUTPUT u FROM 0 TO 10: low = Gaussian(3, 1.5), high = Triangular(5, 7, 9)
IF x is zero AND y is zero THEN u is low
IF x is one THEN u is high WITH 0.7
IF y is one OR x is very zero THEN u is low
"""


@pytest.mark.parametrize("defuzzify", DEFUZZIFIERS)
@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
@pytest.mark.parametrize("implication", ["min", "product"])
def test_inference_is_what_loops_over_cells_say(implication, accumulation, defuzzify):
    rules = RuleBase.parse(
        LOOPED, implication=implication, accumulation=accumulation, defuzzify=defuzzify, resolution=60
    )
    rng = np.random.default_rng(3)
    bags = [rng.uniform(-0.5, 1.5, (n, 2)) for n in (1, 1, 3, 6)]
    expected = [by_loops(bag, implication, accumulation, defuzzify) for bag in bags]
    np.testing.assert_allclose(rules.infer(bags).output[:, 0], expected, rtol=1e-10)


def test_a_case_to_do_in_the_head():
    # Rule 1 fires fully on the first instance and scales nothing: the mean of a half triangle falls a third from its
    # peak. Rule 2 fires by half: its half triangle is cut off at half its height.
    tents = {"low": Triangular(-1, 0, 1), "high": Triangular(0, 1, 2)}
    level = Variable("level", {"low": Triangular(-1, 0, 1), "high": Triangular(2, 3, 4)}, 0, 3)
    rules = ["IF x is high THEN level is high", "IF x is low THEN level is low"]
    found = RuleBase.parse(rules, [Variable("x", tents)], [level]).infer([[[1.0], [0.5]], [[1.0]], [[0.0]]])
    assert found.truth.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    assert found.firing.tolist() == [[1.0, 0.5], [1.0, 0.0], [0.0, 1.0]]
    areas, centers = np.array([1 / 2, 3 / 8]), np.array([3 - 1 / 3, (1 / 6 - 1 / 48) / (3 / 8)])
    expected = [areas @ centers / areas.sum(), 3 - 1 / 3, 1 / 3]
    np.testing.assert_allclose(found.output[:, 0], expected, atol=1e-5)
    assert found.strongest.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("defuzzify", ["centroid", "bisector"])
def test_the_error_falls_with_the_square_of_the_cells(defuzzify):
    flat = Variable("u", {"set": Trapezoidal(0.3, 1.1, 2.2, 4.7)}, 0, 5)
    fine = dict.fromkeys((100, 200, 400), 0.0)
    for resolution in (*fine, 100_000):
        rules = RuleBase.parse("IF anything THEN u is set", [Variable("x")], [flat])
        changed = rules.with_settings(defuzzify=defuzzify, resolution=resolution)
        fine[resolution] = changed.infer([[[0.0]]]).output[0, 0]
    errors = [abs(fine[n] - fine[100_000]) for n in (100, 200, 400)]
    cell = 5 / 100
    assert errors[0] < cell**2
    assert errors[1] < cell**2 / 4
    assert errors[2] < cell**2 / 16


def test_a_gap_that_halves_the_area_is_halved():
    assert bisector(np.array([[0.25, 0.5, 0.0, 0.0, 0.5, 0.25]]), cells(-3, 3, 6)).tolist() == [0.0]
    steps = np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    assert bisector(steps, cells(0, 6, 6)).tolist() == [1.5, 5.5]


def test_parts_of_the_work_make_the_whole(monkeypatch):
    rules = two_rules()
    rows = np.linspace(-1, 2, 300)[:, None]
    whole = rules.infer(rows).output
    monkeypatch.setattr(conclusions, "_CHUNK_VALUES", 7 * rules.defuzzification.resolution)
    np.testing.assert_array_equal(rules.infer(rows).output, whole)
    monkeypatch.setattr(conclusions, "_CHUNK_VALUES", 1)
    np.testing.assert_array_equal(rules.infer(rows[:5]).output, whole[:5])


def test_what_rules_conclude_can_be_looked_at():
    rules = two_rules(resolution=200, implication="product")
    found = rules.infer([[[0.1], [0.9]], [[0.4]]])
    degrees = found.term_degrees("risk")
    np.testing.assert_array_equal(degrees["great"], found.firing[:, 0])
    np.testing.assert_array_equal(degrees["small"], found.firing[:, 1])
    values, membership = found.joined_sets()
    assert values.tolist() == cells(0, 1, 200).tolist()
    small, great = (np.outer(found.firing[:, 1 - k], RISK.terms[t](values)) for k, t in enumerate(("small", "great")))
    np.testing.assert_allclose(membership, np.maximum(small, great), atol=1e-15)
    np.testing.assert_allclose(membership @ values / membership.sum(axis=1), found.output[:, 0])
    with pytest.raises(ParameterError, match=r"output.*'risc'.*Did you mean 'risk'"):
        found.joined_sets("risc")
    with pytest.raises(IndexError):
        found.term_degrees(1)


@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
@pytest.mark.parametrize("implication", ["min", "product"])
def test_strengths_that_merely_underflow_still_answer(implication, accumulation):
    sharp = Variable("x", {"here": Gaussian(0, 0.001), "there": Gaussian(1, 0.001)})
    rules = RuleBase.parse(
        ["IF x is here THEN risk is great", "IF x is there THEN risk is small"],
        [sharp],
        [RISK],
        implication=implication,
        accumulation=accumulation,
    )
    found = rules.infer([[[0.25]], [[0.75]], [[0.5]]])
    assert found.firing.max() == 0.0
    assert not found.uncovered.any()
    expected = [5 / 6, 1 / 6, 0.5] if implication == "product" else [0.75, 0.25, 0.5]  # cut sets: all of their base
    np.testing.assert_allclose(found.output[:, 0], expected, atol=2e-3)


def test_a_set_that_is_truly_empty_gives_the_default():
    found = gaps(default=0.3).infer([[[3.0], [9.0]], [[3.0], [1.0]]])
    assert found.uncovered_outputs.tolist() == [[True], [False]]
    assert found.output[0, 0] == 0.3
    assert found.strongest.tolist() == [0.0, 1.0]
    assert found.joined_sets()[1][0].max() == 0.0
    assert gaps().infer([[[3.0]]]).output.tolist() == [[0.5]]  # the middle of the range
    outside = Variable("u", {"off": Triangular(5, 6, 7)}, 0, 1)
    lost = RuleBase.parse("IF anything THEN u is off", [Variable("x")], [outside]).infer([[[0.0]]])
    assert lost.strongest.tolist() == [1.0]
    assert lost.uncovered_outputs.tolist() == [[True]]


def test_a_rule_may_leave_an_output_out():
    text = """
    VARIABLE x: near = Triangular(0, 1, 2), far = Triangular(4, 5, 6)
    OUTPUT a FROM 0 TO 1: yes = Triangular(0.5, 1, 1.5)
    OUTPUT b FROM 10 TO 20: yes = Triangular(15, 20, 25)
    OUTPUT c FROM 0 TO 2: yes = Triangular(0, 1, 2)
    IF x is near THEN a is yes
    IF x is far THEN a is yes, b is yes
    """
    for accumulation in ACCUMULATIONS:
        found = RuleBase.parse(text, default=(0.1, 0.2, 0.3), accumulation=accumulation).infer([[[1.0]], [[5.0]]])
        assert found.uncovered_outputs.tolist() == [[False, True, True], [False, False, True]]
        np.testing.assert_allclose(found.output, [[5 / 6, 0.2, 0.3], [5 / 6, 10 + 10 * 5 / 6, 0.3]], atol=1e-4)
        assert found.joined_sets("c")[1].max() == 0.0
        assert found.term_degrees("c")["yes"].tolist() == [0.0, 0.0]


def test_bags_join_their_instances_as_the_premises_say():
    bag = [[[0.0], [0.5], [1.0]]]
    strongest = two_rules().infer(bag).firing
    mean = two_rules(aggregation="softmax", alpha=0.0).infer(bag).firing
    np.testing.assert_allclose(strongest, [[1.0, 1.0]])
    np.testing.assert_allclose(mean[0, 0], np.mean(DEPTH.terms["shallow"]([0.0, 0.5, 1.0])))
    limited = two_rules(limited=True).infer([[[-7.0]]]).output
    np.testing.assert_array_equal(limited, two_rules().infer([[[0.0]]]).output)


def test_features_are_matched_by_name():
    named = Bags.from_list([[[5.0, 0.1]], [[7.0, 0.8]]], ["noise", "depth"])
    np.testing.assert_array_equal(two_rules().infer(named).output, two_rules().infer([[[0.1]], [[0.8]]]).output)
    with pytest.raises(InputError, match="no feature 'depth'"):
        two_rules().infer(Bags.from_list([[[1.0]]], ["width"]))

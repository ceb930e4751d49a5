"""Tuning without gradients: what moves, what stays, and any cost."""

import numpy as np
import pytest

from fuzzymil import RuleBase, tune_rules
from fuzzymil._utils.errors import InputError, ParameterError

NUMBERS = RuleBase.parse("""
    VARIABLE x FROM 0 TO 1: low = Trapezoidal(-1, 0, 0.2, 0.6), high = Gaussian(1, 0.2)
    IF x is low THEN y = 1
    IF x is high THEN y = 0
""")
SETS = RuleBase.parse("""
    VARIABLE x FROM 0 TO 1: low = Triangular(-1, 0, 0.5), middle = Triangular(0, 0.5, 1), high = Triangular(0.5, 1, 2)
    OUTPUT y FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    USING defuzzify = mom
    IF x is low THEN y is small
    IF x is high THEN y is great
""")
X, Y = np.array([[0.1], [0.2], [0.6], [0.9]]), np.array([0.2, 0.25, 0.7, 0.75])


def loss(rules):
    return np.mean(np.square(rules.infer(X).output[:, 0] - Y))


@pytest.mark.parametrize("method", ["differential_evolution", "direct"])
@pytest.mark.parametrize("rules", [NUMBERS, SETS], ids=["numbers", "sets"])
def test_tuned_rules_have_a_lower_cost_the_same_structure_and_a_difference(rules, method):
    better = tune_rules(rules, X, Y, method=method, max_evaluations=400, random_state=0)
    assert loss(better) < loss(rules) / 2
    assert [rule.premise for rule in better.rules] == [rule.premise for rule in rules.rules]
    assert [term for v in better.all_variables for term in v.terms] == [t for v in rules.all_variables for t in v.terms]
    assert better.variables[0].terms.get("middle") == rules.variables[0].terms.get("middle")  # no rule asks for it
    assert str(rules.diff(better))


def test_peaks_stay_in_order_and_within_bounds_and_frozen_parts_exactly_as_they_were():
    # A cost that pulls everything as far up as it goes.
    def pull(rules):
        return (
            -sum(float(t.peak(*t.parameters)) for v in rules.all_variables for t in v.terms.values())
            - rules.coefs.sum()
        )

    free = tune_rules(NUMBERS, cost=pull, max_evaluations=600, random_state=0).variables[0].terms
    low, high = (float(term.peak(*term.parameters)) for term in free.values())
    assert 0.45 < low <= 0.55  # half way between the peaks, 0.1 and 1
    assert high <= 1.0
    bounded = tune_rules(
        NUMBERS, cost=pull, bounds={"x.low": (0, 0.3), "y": (0, 2)}, max_evaluations=900, random_state=0
    )
    term = bounded.variables[0].terms["low"]
    assert 0.25 < term.peak(*term.parameters) <= 0.3
    assert 1.8 < bounded.coefs.max() <= 2.0
    kept = tune_rules(NUMBERS, cost=pull, frozen=["x.low", "rule 2"], max_evaluations=200, random_state=0)
    assert kept.variables == NUMBERS.variables
    assert kept.coefs[1] == NUMBERS.coefs[1]
    assert kept.coefs[0] > NUMBERS.coefs[0]


def test_output_terms_move_and_can_be_frozen():
    kept = tune_rules(SETS, X, Y, frozen=["y"], max_evaluations=200, random_state=0)
    assert kept.outputs == SETS.outputs


def test_classes_are_told_apart_and_rules_that_are_no_better_are_not_returned():
    labels = np.array(["no", "no", "yes", "yes"])
    rules = RuleBase.parse("""
        VARIABLE x FROM 0 TO 1: high = Sigmoid(0.95, 20)
        Default: yes = -2
        IF x is high THEN yes += 3
    """)
    better = tune_rules(rules, X, labels, max_evaluations=400, random_state=0)
    output = better.infer(X).output[:, 0]
    assert output[:2].max() < output[2:].min()
    assert tune_rules(better, cost=lambda found: 0.0, max_evaluations=50, random_state=0) is better


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({}, InputError, "bags to compare"),
        ({"cost": lambda rules: "much"}, ParameterError, "must return a number"),
        ({"cost": lambda rules: 0.0, "bounds": {"z": (0, 1)}}, ParameterError, "'z'"),
        ({"cost": lambda rules: 0.0, "bounds": {"x.low": (0.8, 0.9)}}, ParameterError, "between its neighbors"),
        ({"cost": lambda rules: 0.0, "frozen": ["x", "y"]}, ParameterError, "Everything is frozen"),
        ({"cost": lambda rules: 0.0, "method": "guess"}, ParameterError, "direct"),
    ],
)
def test_mistakes_are_told(settings, error, message):
    with pytest.raises(error, match=message):
        tune_rules(NUMBERS, **settings)

"""Facts about rules that figures show: what they restrict and conclude."""

import dataclasses

import numpy as np
import pytest
from drawn_rules import BAGS, CENTERS, OPEN, RULES

from fuzzymil import MISugeno, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.plots import MembershipDisplay, SpaceDisplay
from fuzzymil.plots._rules import border, conclusions, influences, restrictions, rules_of
from fuzzymil.rules import Rule, Variable

# ---------------------------------------------------------------------- what rules restrict and conclude


@pytest.mark.slow
def test_a_set_restricts_by_what_it_leaves_out():
    x = Variable("x", {"low": Triangular(0, 0, 1), "all": Gaussian(0, 1e6)}, 0, 1)
    rules = RuleBase((x, Variable("y")), (Rule({"x": "low"}, [[1.0]]), Rule({"x": "all"}, [[0.0]])))
    np.testing.assert_allclose(restrictions(rules), [[0.5, 0.0], [0.0, 0.0]], atol=1e-9)


def test_the_most_restricting_of_several_conditions_counts():
    found = restrictions(OPEN)
    very_red = 1 - np.mean(Gaussian(0.1, 0.1)(np.linspace(0, 1, 201)) ** 2)
    assert found[1, 0] == pytest.approx(very_red)
    assert found[2].tolist() == [0.0, 0.0]


def test_influence_is_the_distance_from_the_mean_conclusion():
    np.testing.assert_allclose(influences(OPEN), [(1 - 0.7 / 3) / 1.3, 0.5 * (0.3 + 0.7 / 3) / 1.3, 0.7 / 3 / 1.3])
    same = RuleBase.from_arrays(CENTERS, [[0.2, 5.0]] * 3, [1.0, 1.0, 1.0])
    assert influences(same).tolist() == [1.0, 1.0, 1.0]


def test_linear_conclusions_are_taken_at_the_center():
    x, y = Variable("x", {"low": Gaussian(2, 1)}, 0, 5), Variable("y", {}, 0, 10)
    rules = RuleBase((x, y), (Rule({"x": "low"}, [[1.0, 10.0, 100.0]]),))
    assert conclusions(rules).tolist() == [[1 + 20 + 500]]


def test_the_rules_of_a_model():
    assert rules_of(type("Model", (), {"rules_": RULES})()) is RULES
    with pytest.raises(ParameterError, match=r"RuleBase or a fitted model .*got"):
        rules_of("model.json")


def test_high_is_above_the_mean_or_where_a_classifier_parts_its_classes():
    assert border(RULES, np.array([0.0, 0.5, 2.5])) == 1.0
    judge = MISugeno(rules=RULES, threshold=0.95).fit(BAGS)
    assert border(judge, np.array([0.0, 0.5, 2.5])) == 0.95
    assert MembershipDisplay.from_rules(judge).high == [False, True, False]
    assert [rule.kind for rule in SpaceDisplay.from_model(judge, BAGS).rules] == [0, 1, 0]
    assert [rule.kind for rule in SpaceDisplay.from_model(RULES, BAGS, threshold=-1).rules] == [1, 1, 1]


def test_what_figures_of_rules_refuse():
    with pytest.raises(ParameterError, match="max_features must be at least 1, got 0"):
        MembershipDisplay.from_rules(RULES, max_features=0)
    with pytest.raises(ParameterError, match=r"initial .*expected 2, got 3"):
        MembershipDisplay.from_rules(dataclasses.replace(RULES, rules=RULES.rules[:2]), RULES)
    with pytest.raises(ParameterError, match="initial must be a rule base with the same variables"):
        MembershipDisplay.from_rules(RULES, OPEN)

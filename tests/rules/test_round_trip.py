"""From an expert's rules through training and back: names, shared terms, frozen parts, don't-care features."""

import dataclasses

import numpy as np
import pytest

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, RuleBase, Training, load_model
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import Gaussian, Sigmoid
from fuzzymil.rules.rule import Variable

WRITTEN = """
VARIABLE across [m] FROM 0 TO 2: left = Gaussian(0.6, 0.3), right = Gaussian(1.4, 0.3), far = Sigmoid(1.8, 10)
VARIABLE up [m] FROM 0 TO 2: low = Gaussian(0.6, 0.3), high = Gaussian(1.4, 0.3)
USING alpha = 5
IF across is left AND up is low THEN found = 1
IF across is right AND up is high THEN found = 1
IF across is left AND up is not low THEN found = 0
IF across is right AND NOT (up is high OR across is very far) THEN found = 0 WITH 0.8
"""


@pytest.fixture(scope="module")
def rules():
    return RuleBase.parse(WRITTEN)


@pytest.fixture(scope="module")
def bags():
    bags = make_two_concepts(random_state=1)
    return bags.map_instances(lambda x: x, ["across", "up"])


def classifier(rules, **settings):
    return MIANFISClassifier(**network_parameters(**{"init": rules, "max_epochs": 25, "random_state": 0} | settings))


def sets_of(rules):
    return {f"{v.name}.{term}": chosen for v in rules.variables for term, chosen in v.terms.items()}


def test_training_moves_the_experts_sets_and_keeps_everything_else(rules, bags):
    model = classifier(rules).fit(bags)
    learned = model.rules_
    assert model.initial_rules_ == dataclasses.replace(rules, variables=model.initial_rules_.variables)
    assert [rule.premise for rule in learned.rules] == [rule.premise for rule in rules.rules]
    assert [rule.weight for rule in learned.rules] == [1, 1, 1, 0.8]
    assert [v.unit for v in learned.variables] == ["m", "m"]
    assert learned.output_names == ("found",)
    before, after = sets_of(rules), sets_of(learned)
    assert before.keys() == after.keys()
    assert all(after[name] != before[name] for name in before)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    np.testing.assert_allclose(learned.infer(bags).output[:, 0] - 0.5, model.decision_function(bags), rtol=1e-12)


def test_a_term_that_several_rules_use_stays_one_term(rules, bags):
    params, _, _ = classifier(rules).fit(bags).rules_.compile()
    centers, widths = params.sets["gaussian"]
    column = {"left": (0, 2), "right": (1, 3)}
    for first, second in column.values():
        assert centers[first, 0] == centers[second, 0]
        assert widths[first, 0] == widths[second, 0]


@pytest.mark.slow
def test_steps_on_shared_terms_are_those_of_the_summed_gradient(bags):
    """One plain step on rules that share a set, by finite differences in that set's center."""
    text = """
    VARIABLE across: left = Gaussian(0.6, 0.3)
    VARIABLE up: low = Gaussian(0.5, 0.4), high = Gaussian(1.5, 0.4)
    IF across is left AND up is low THEN y = 1
    IF across is left AND up is high THEN y = 0.1
    IF up is high THEN y = 0.4
    """
    rules = RuleBase.parse(text)
    targets = np.asarray(bags.labels, float)

    def loss(center):
        moved = rules.edit(sets={"across.left": {"center": center}})
        return np.mean((moved.infer(bags).output[:, 0] - targets) ** 2)

    slope = (loss(0.6 + 1e-5) - loss(0.6 - 1e-5)) / 2e-5
    rate = 0.01
    model = classifier(
        rules, optimizer="sgd", learning_rate=rate, max_epochs=1,
        standardize=False, precision="double",
        rule_keep_prob=None,
    ).fit(bags)  # fmt: skip
    moved = sets_of(model.rules_)["across.left"].center - 0.6
    assert moved == pytest.approx(-rate * slope, rel=1e-5)


def test_what_is_frozen_does_not_move(rules, bags):
    start = sets_of(rules)
    model = classifier(rules, frozen=["rule 1", "up.high"]).fit(bags)
    after = sets_of(model.rules_)
    still = {name for name in start if after[name].parameters == pytest.approx(start[name].parameters, rel=1e-6)}
    assert still == {"across.left", "up.low", "up.high"}
    conclusions = model.rules_.coefs[:, 0, 0]
    assert conclusions[0] == pytest.approx(1.0, rel=1e-6)
    assert abs(conclusions[1] - 1.0) > 1e-3
    whole = classifier(rules, frozen=["across", "up", "found"]).fit(bags)
    np.testing.assert_allclose(whole.rules_.infer(bags).output, rules.infer(bags).output, rtol=1e-5)


def test_freezing_what_is_not_there_names_the_nearest(rules, bags):
    with pytest.raises(ParameterError, match=r"'across\.lft'.*Did you mean 'across\.left'"):
        classifier(rules, frozen=["across.lft"]).fit(bags)
    with pytest.raises(ParameterError, match="list of names"):
        classifier(rules, frozen=[1]).fit(bags)
    with pytest.raises(ParameterError, match="as init"):
        MIANFISClassifier(3, frozen=["rule 1"], random_state=0).fit(bags)


@pytest.mark.slow
def test_features_that_the_rules_leave_out_stay_out(rules, bags):
    rng = np.random.RandomState(0)
    wider = bags.map_instances(
        lambda x: np.column_stack([x[:, 1], rng.normal(size=len(x)), x[:, 0]]), ["up", "noise", "across"]
    )
    model = classifier(rules).fit(wider)
    assert model.rules_.feature_names == ("up", "noise", "across")
    assert all("noise" not in rule.antecedent for rule in model.rules_.rules)
    # The same numbers as without the feature, to what 32 bit and another order of sums leave.
    np.testing.assert_allclose(
        model.decision_function(wider), classifier(rules).fit(bags).decision_function(bags), rtol=1e-3, atol=1e-4
    )


@pytest.mark.slow
def test_rules_that_do_not_limit_values_are_not_limited_by_the_bags_seen():
    """An expert may know of values that ten bags have not shown."""
    rules = RuleBase.parse(
        "VARIABLE x: usual = Gaussian(0, 1), far = Gaussian(50, 5)\n"
        "IF x is usual THEN y = 0\nIF x is far THEN y = 1\nIF anything THEN y = 0.2"
    )
    bags = [[[0.1], [0.4]], [[-0.3]], [[1.2], [0.2]], [[0.9]]]
    model = MIANFISClassifier(init=rules, training=Training(max_epochs=3), random_state=0).fit(bags, [0, 0, 1, 1])
    assert not model.rules_.limited
    assert model.rules_.infer([[[50.0]]]).firing[0, 1] == pytest.approx(1.0)


def test_limits_of_given_rules_hold_in_training_and_after(bags):
    rules = RuleBase.parse(WRITTEN, limited=True, default=(0.25,))
    model = classifier(rules).fit(bags)
    assert model.rules_.limited
    assert [(v.low, v.high) for v in model.rules_.variables] == [(0, 2), (0, 2)]
    assert model.rules_.default == (0.25,)
    far, edge = (Bags.from_list([[[x, 0.5]]], feature_names=["across", "up"]) for x in (9.0, 2.0))
    np.testing.assert_array_equal(model.decision_function(far), model.decision_function(edge))


@pytest.mark.slow
def test_infinite_alphas_of_given_rules_stay_the_operators_they_stand_for(bags):
    model = classifier(RuleBase.parse(WRITTEN.replace("alpha = 5", "alpha = inf"))).fit(bags)
    assert model.rules_.aggregation == "max"
    found = model.rules_.infer(bags[:1])
    np.testing.assert_allclose(found.firing[0], found.truth.max(axis=0) * [1, 1, 1, 0.8])


def test_a_saved_model_goes_on_with_names_shared_terms_and_frozen_parts(rules, bags, tmp_path):
    model = classifier(rules, frozen=["up.high"], warm_start=True).fit(bags)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.rules_ == model.rules_
    assert loaded.frozen == ["up.high"]
    loaded.fit(bags)
    before, after = sets_of(model.rules_), sets_of(loaded.rules_)
    assert after["up.high"].parameters == pytest.approx(before["up.high"].parameters, rel=1e-6)
    assert after["across.left"] != before["across.left"]
    centers = loaded.rules_.compile()[0].sets["gaussian"][0]
    assert centers[0, 0] == centers[2, 0]


@pytest.mark.slow
def test_restarts_members_and_regression_take_given_rules(rules, bags):
    committee = classifier(rules, n_estimators=2, n_init=2, rule_keep_prob=0.7).fit(bags)
    assert [len(member.rules) for member in committee.members_] == [4, 4]
    assert committee.members_[0].feature_names == ("across", "up")
    numbers = MIANFISRegressor(init=rules, training=Training(max_epochs=20), random_state=0).fit(
        bags, np.asarray(bags.labels) * 100.0
    )
    np.testing.assert_allclose(numbers.initial_rules_.infer(bags).output, rules.infer(bags).output, rtol=1e-7)
    assert numbers.history_["loss"][-1] < numbers.history_["loss"][0]


def test_writing_numbers_back_is_the_inverse_of_compiling(rules):
    assert rules.with_numbers(rules.compile()[0]) == rules
    mixed = RuleBase.parse(
        "IF a is low AND a is not high THEN y = 1 + 2*a\nIF b is up THEN y = 0",
        [Variable("a", {"low": Gaussian(0, 1), "high": Sigmoid(2, 3)}), Variable("b", {"up": Sigmoid(0, 1)})],
    )
    assert mixed.with_numbers(mixed.compile()[0]) == mixed


def test_frozen_terms_are_the_very_same_sets(rules, bags):
    model = classifier(rules, frozen=["across"]).fit(bags)
    assert model.rules_.variables[0].terms == rules.variables[0].terms
    assert model.rules_.variables[1].terms != rules.variables[1].terms


def test_settings_that_given_rules_settle_are_refused(rules, bags):
    with pytest.raises(ParameterError, match=r"t_norm='min' cannot apply.*init"):
        classifier(rules, t_norm="min", max_epochs=1).fit(bags)
    classifier(rules, alpha=5.0, max_epochs=1).fit(bags)  # what the rules say themselves


@pytest.mark.slow
def test_rules_of_an_expert_are_not_dropped_unless_asked(rules, bags):
    few = bags[::20]
    assert classifier(rules, max_epochs=2).fit(few)._state.keep_prob is None
    assert classifier(rules, max_epochs=2, rule_keep_prob=0.6).fit(few)._state.keep_prob == 0.6

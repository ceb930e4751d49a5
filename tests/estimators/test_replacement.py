"""Fitted models that predict, and train on, with other rules than they learned."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from fuzzymil import ANFISRegressor, MIANFISClassifier, MISugeno, RuleBase, RuleClassifier, Training, load_model
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Rule, Variable


def output(rules, bags):
    return rules.infer(bags).output


@pytest.fixture(scope="module")
def bags():
    return make_two_concepts(20, 20, random_state=0)


@pytest.fixture(scope="module")
def model(bags):
    labels = np.where(bags.labels == 1, "yes", "no")
    return MIANFISClassifier(4, n_estimators=2, training=Training(max_epochs=20), random_state=0).fit(bags, labels)


@pytest.mark.slow
def test_a_model_predicts_with_edited_rules(model, bags, tmp_path):
    edited = model.rules_.edit(drop=1, rename={"x1": "width", "yes": "mine"}, weights={2: 0.5}, without={3: "x2"})
    before = model.predict_proba(bags)
    found = model.with_rules(edited)
    assert found.rules_ == edited
    assert found.members_ == [edited]
    assert found.predict(bags).tolist() == ["yes" if out > 0.5 else "no" for out in output(edited, bags)[:, 0]]
    np.testing.assert_array_equal(found.decision_function(bags), output(edited, bags)[:, 0] - 0.5)
    np.testing.assert_array_equal(model.predict_proba(bags), before)
    assert len(model.members_) == 2
    found.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded.rules_ == edited
    np.testing.assert_array_equal(loaded.decision_function(bags), found.decision_function(bags))


@pytest.mark.slow
@pytest.mark.parametrize("saved", [False, True])
def test_training_goes_on_from_edited_rules(model, bags, tmp_path, saved):
    labels = np.where(bags.labels == 1, "yes", "no")
    edited = model.rules_.edit(drop=1, rename={"x1": "width"}, without={2: "x2"})
    found = model.with_rules(edited)
    if saved:
        found.save(tmp_path / "model.json")
        found = load_model(tmp_path / "model.json")
    found.partial_fit(bags, labels)
    assert found.rules_ != edited
    assert [rule.premise for rule in found.rules_.rules] == [rule.premise for rule in edited.rules]
    assert np.abs(output(found.rules_, bags) - output(edited, bags)).max() < 0.2  # one epoch is one small step


def test_a_regressor_predicts_with_edited_rules():
    x = np.linspace(0, 1, 12)[:, None]
    model = ANFISRegressor(3, training=Training(max_epochs=5), random_state=0).fit(x, 100 * x[:, 0])
    edited = model.rules_.edit(conclusions={1: -7.0})
    np.testing.assert_array_equal(model.with_rules(edited).predict(x), output(edited, x)[:, 0])


def test_rules_must_suit_the_model(model, bags):
    with pytest.raises(ParameterError, match=r"rules must be a RuleBase.*got"):
        model.with_rules([model.rules_])
    with pytest.raises(InputError, match=r"3 variables.* MIANFISClassifier .*2 features"):
        model.with_rules(model.rules_.over(["x1", "x2", "x3"]))
    two = RuleBase([Variable("x1"), Variable("x2")], [Rule({}, [[1.0], [2.0]])], ["a", "b"])
    with pytest.raises(InputError, match=r"2 output.* MIANFISClassifier .*1"):
        model.with_rules(two)


def test_rules_are_matched_to_a_models_feature_names(bags):
    named = Bags(bags.instances, bags.offsets, labels=bags.labels, feature_names=["hue", "size"])
    model = MIANFISClassifier(3, training=Training(max_epochs=2), random_state=0).fit(named)
    turned = RuleBase.parse(
        "IF size is big THEN y = 1 IF anything THEN y = 0", [Variable("size", {"big": Gaussian(2, 1)})]
    )
    found = model.with_rules(turned)
    assert found.rules_.feature_names == ("hue", "size")
    np.testing.assert_array_equal(found.decision_function(named), output(turned, named)[:, 0] - 0.5)
    with pytest.raises(InputError, match=r"'sise'.*Did you mean 'size'"):
        model.with_rules(turned.edit(rename={"size": "sise"}))


@pytest.mark.slow
def test_nothing_is_frozen_in_other_rules(bags):
    rules = RuleBase.from_arrays([[0.5, 0.5], [1.5, 1.5]], 0.3 * np.ones((2, 2)), [1, 0.5])
    model = MIANFISClassifier(init=rules, frozen=["x1.low"], training=Training(max_epochs=2), random_state=0).fit(bags)
    found = model.with_rules(model.rules_.edit(rename={"x1.low": "little"}))
    assert found.frozen == ()
    assert model.frozen == ["x1.low"]
    assert found.partial_fit(bags).rules_.variables[0].terms["little"] != rules.variables[0].terms["low"]


# ---------------------------------------------------------------------- an expert's rules


def test_an_experts_rules_are_edited_in_place(tmp_path):
    hue = Variable("hue", {"blue": Gaussian(0.6, 0.1), "red": Gaussian(0.1, 0.1)})
    sky = Bags.from_list([[[5.0, 0.6]], [[7.0, 0.1], [1.0, 0.3]]], ["size", "hue"], labels=["yes", "no"])
    text = ["IF hue is blue THEN y = 1", "IF hue is red THEN y = 0"]
    model = MISugeno([hue], text, t_norm="product", aggregation="max").fit(sky)
    edited = model.rules_.edit(drop=2, conclusions={1: 0.8}, sets={"hue.blue": {"width": 0.3}})
    found = model.with_rules(edited)
    np.testing.assert_array_equal(found.decision_function(sky), output(edited, sky)[:, 0] - 0.5)
    assert found.predict(sky).tolist() == ["yes", "yes"]
    assert model.predict(sky).tolist() == ["yes", "no"]
    found.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").predict(sky).tolist() == ["yes", "yes"]
    refitted = found.fit(sky)
    assert refitted.rules_.aggregation == "max"
    assert refitted.predict(sky).tolist() == ["yes", "yes"]


def test_only_fitted_models_take_rules():
    rules = RuleBase([Variable("x")], [Rule({}, [[1.0]])])
    for model in (MISugeno(rules=rules), RuleClassifier()):
        with pytest.raises(NotFittedError):
            model.with_rules(rules)

"""Training from quantified and additive rules: every mode learns, the default moves, and limits hold."""

import dataclasses

import numpy as np
import pytest

from fuzzymil import MIANFISClassifier, MIANFISRegressor, Operators, Training, load_model
from fuzzymil.bags import Bags, BagStream
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.train.constraints import limits_of
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import Quantified, RuleBase

GUESS = """
VARIABLE a FROM 0 TO 10: high = Sigmoid(6, 2)
VARIABLE b FROM 0 TO 10: high = Sigmoid(4, 1), low = Gaussian(2, 3)
Default: y = 0
IF AT LEAST 3 a is high THEN y += 1
IF SOME (a is high AND b is low) AND NOT (MOST b is high) THEN y += 0.5
IF ON AVERAGE b is high THEN y -= 0.5
"""


def problem(n_bags=60, seed=0):
    """Bags of which a label says whether at least three instances have a > 6.5."""
    rng = np.random.default_rng(seed)
    bags = [rng.uniform(0, 10, size=(int(rng.integers(4, 9)), 2)) for _ in range(n_bags)]
    labels = np.array([int((bag[:, 0] > 6.5).sum() >= 3) for bag in bags])
    return Bags.from_list(bags, feature_names=["a", "b"]), labels


def guess(**changes):
    return dataclasses.replace(RuleBase.parse(GUESS), **changes)


@pytest.mark.parametrize("batch_size", [None, *(pytest.param(size, marks=pytest.mark.slow) for size in (8, 1))])
def test_every_mode_learns_from_a_quantified_scorecard(batch_size):
    bags, labels = problem()
    model = MIANFISClassifier(
        init=guess(),
        training=Training(loss="cross_entropy", batch_size=batch_size, learning_rate=0.05, max_epochs=40),
        random_state=0,
    ).fit(bags, labels)
    assert model.history_["loss"][-1] < 0.6 * model.history_["loss"][0]
    assert model.score(bags, labels) > 0.9
    assert not model.rules_.normalize
    assert model.rules_.default[0] != 0.0
    assert [rule.premise for rule in model.rules_.rules] == [rule.premise for rule in guess().rules]
    # The output is the logit, and explains itself: default plus what the rules add.
    found = model.rules_.infer(bags)
    added = found.firing * model.rules_.coefs[:, 0, 0]
    np.testing.assert_allclose(found.output[:, 0], model.rules_.default[0] + added.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(bags), found.output[:, 0], rtol=1e-9)


def test_a_stream_learns_the_same_rules_as_memory():
    bags, labels = problem()
    settings = {"init": guess(), "loss": "cross_entropy", "max_epochs": 5, "random_state": 0}
    whole = MIANFISClassifier(**network_parameters(**settings)).fit(bags, labels)
    parts = [(bags[np.arange(0, 30)], labels[:30]), (bags[np.arange(30, 60)], labels[30:])]
    streamed = MIANFISClassifier(**network_parameters(**settings)).fit(
        BagStream(
            lambda n: Bags(
                parts[n][0].instances, parts[n][0].offsets, labels=parts[n][1], feature_names=bags.feature_names
            ),
            2,
        )
    )
    np.testing.assert_allclose(streamed.rules_.coefs, whole.rules_.coefs, rtol=1e-3)
    np.testing.assert_allclose(streamed.rules_.default, whole.rules_.default, rtol=1e-3)


def test_a_warm_start_goes_on_and_a_saved_model_is_the_same(tmp_path):
    bags, labels = problem()
    settings = {"init": guess(), "loss": "cross_entropy", "random_state": 0, "learning_rate": 0.02}
    whole = MIANFISClassifier(**network_parameters(max_epochs=10, **settings)).fit(bags, labels)
    halves = MIANFISClassifier(**network_parameters(max_epochs=5, warm_start=True, **settings)).fit(bags, labels)
    halves.fit(bags, labels)
    np.testing.assert_allclose(halves.rules_.default, whole.rules_.default, rtol=1e-5)
    np.testing.assert_allclose(halves.rules_.coefs, whole.rules_.coefs, rtol=1e-5)
    halves.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.rules_ == halves.rules_
    np.testing.assert_array_equal(again.decision_function(bags), halves.decision_function(bags))
    again.partial_fit(bags, labels)
    assert again.rules_.default != halves.rules_.default


def test_regression_shifts_the_default_and_not_the_conclusions():
    bags, labels = problem()
    targets = 1000.0 + 50.0 * labels
    rules = guess(default=(1010.0,))
    still = MIANFISRegressor(init=rules, training=Training(max_epochs=0), random_state=0).fit(bags, targets)
    np.testing.assert_allclose(still.rules_.default, rules.default, rtol=1e-6)
    np.testing.assert_allclose(still.rules_.coefs, rules.coefs, rtol=1e-6)
    np.testing.assert_allclose(still.predict(bags), rules.infer(bags).output[:, 0], rtol=1e-6)
    model = MIANFISRegressor(init=rules, training=Training(max_epochs=60, learning_rate=0.05), random_state=0).fit(
        bags, targets
    )
    assert model.score(bags, targets) > 0.5


@pytest.mark.slow
def test_a_rule_without_a_quantifier_trains_beside_quantified_ones():
    bags, labels = problem()
    rules = guess().edit(add="IF a is high AND b is low THEN y += 1")
    model = MIANFISClassifier(init=rules, training=Training(loss="cross_entropy", max_epochs=20), random_state=0).fit(
        bags, labels
    )
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    assert model.rules_.rules[3].is_plain
    assert isinstance(model.rules_.rules[0].premise, Quantified)


@pytest.mark.slow
def test_missing_values_train_too():
    bags, labels = problem()
    holes = bags.map_instances(lambda x: np.where(np.random.default_rng(0).random(x.shape) < 0.1, np.nan, x))
    model = MIANFISClassifier(
        init=guess(), missing="ignore", training=Training(loss="cross_entropy", max_epochs=20), random_state=0
    )
    model.fit(holes, labels)
    assert model.history_["loss"][-1] < model.history_["loss"][0]


# ---------------------------------------------------------------------- what must not move


def test_frozen_rules_terms_and_outputs_stay():
    bags, labels = problem()
    rules = guess()

    def trained(*frozen):
        model = MIANFISClassifier(
            init=rules, frozen=frozen, training=Training(loss="cross_entropy", max_epochs=5), random_state=0
        )
        return model.fit(bags, labels).rules_

    one = trained("rule 1")
    assert one.rules[0] == rules.rules[0]
    assert one.variables[0].terms == rules.variables[0].terms
    assert one.rules[2] != rules.rules[2]
    assert one.default != rules.default
    whole = trained("y")
    assert whole.rules == rules.rules
    assert whole.default == rules.default
    assert whole.variables != rules.variables


def test_what_is_frozen_comes_back_to_its_last_digit():
    bags, labels = problem()
    rules = guess(default=(0.1,)).edit(conclusions={1: 0.3, 2: 0.7})
    settings = {"init": rules, "max_epochs": 2, "random_state": 0}
    found = MIANFISRegressor(**network_parameters(frozen=["y"], **settings)).fit(bags, 1000.0 + 3.0 * labels).rules_
    assert found.rules == rules.rules
    assert found.default == rules.default
    found = (
        MIANFISRegressor(**network_parameters(frozen=["rule 2"], **settings)).fit(bags, 1000.0 + 3.0 * labels).rules_
    )
    assert found.rules[1] == rules.rules[1]
    assert found.rules[0].coefs != rules.rules[0].coefs


def test_a_term_that_several_parts_use_stays_one():
    bags, labels = problem()
    model = MIANFISClassifier(init=guess(), training=Training(loss="cross_entropy", max_epochs=5), random_state=0).fit(
        bags, labels
    )
    # `a.high` stands in two parts; what training returns is the same set in both.
    params = model.rules_.compile()[0]
    places = [place for place, term in model.rules_.arrangement.terms.items() if term == ("a", "high")]
    assert len(places) == 2
    assert len({tuple(values[place] for values in params.sets["sigmoid"]) for place in places}) == 1
    assert model.rules_.variables[0].terms["high"] != Sigmoid(6, 2)


def test_the_default_of_normalized_rules_is_not_trained():
    bags, labels = problem()
    rules = RuleBase.parse(
        "Default: y = 0.123 IF SOME a is high THEN y = 1 IF ALL b is low THEN y = 0", guess().variables
    )
    model = MIANFISClassifier(init=rules, training=Training(max_epochs=5), random_state=0).fit(bags, labels)
    assert model.rules_.default == (0.123,)
    assert MIANFISRegressor(init=rules, training=Training(max_epochs=5), random_state=0).fit(
        bags, labels + 7.0
    ).rules_.default == (0.123,)


def test_limits_have_an_entry_for_each_default():
    assert limits_of(guess()).default.tolist() == [1.0]
    assert limits_of(guess(), ["y"]).default.tolist() == [0.0]
    assert limits_of(guess(), ["rule 2"]).default.tolist() == [1.0]


@pytest.mark.parametrize("normalize", [True, False])
def test_scaling_there_and_back_changes_no_output(normalize):
    bags, _ = problem(20)
    rules = guess(normalize=normalize, default=(3.0,))
    scaling = Scaling.fit(Measures.of(bags.instances), standardize=True, clip=None)
    scaling = scaling.with_targets(np.array([100.0]), np.array([20.0]))
    inside = scaling.to_standard_units(rules.compile()[0], additive=not normalize)
    scaled = rules.with_numbers(inside)
    outputs = scaled.infer(bags.map_instances(scaling.apply)).output
    np.testing.assert_allclose(outputs * 20 + 100, rules.infer(bags).output, rtol=1e-9)
    outside = scaling.to_original_units(inside, additive=not normalize)
    np.testing.assert_allclose(rules.with_numbers(outside).infer(bags).output, rules.infer(bags).output, rtol=1e-9)


def test_a_classic_sum_of_rules_learns_its_default():
    bags, labels = problem()
    model = MIANFISClassifier(
        init="fcm",
        n_rules=4,
        operators=Operators(normalize=False),
        training=Training(loss="cross_entropy", max_epochs=20),
        random_state=0,
    )
    model.fit(bags, labels)
    first, last = model.initial_rules_.default[0], model.rules_.default[0]
    assert first == pytest.approx(np.log(labels.mean() / (1 - labels.mean())), rel=1e-5)
    assert last != first
    assert model.history_["loss"][-1] < model.history_["loss"][0]

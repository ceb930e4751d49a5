"""Settings of training: weights, Rule Dropout, optimizers and batches, the paper's settings."""

import numpy as np
import optax
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from small_fits import BAGS, CENTERS, NUMBERS, WIDTHS, WORDS, Y, classifier, regressor

from fuzzymil import Bags, MIANFISClassifier, RuleBase, Training

# ---------------------------------------------------------------------- weights


@pytest.mark.slow
def test_class_weights():
    plain = classifier(max_epochs=40).fit(BAGS, Y)
    count = np.bincount(Y)
    named = classifier(max_epochs=40, class_weight={0: count.sum() / 2 / count[0], 1: count.sum() / 2 / count[1]})
    balanced = classifier(max_epochs=40, class_weight="balanced").fit(BAGS, Y)
    np.testing.assert_allclose(
        named.fit(BAGS, Y).decision_function(BAGS), balanced.decision_function(BAGS), rtol=1e-5, atol=1e-6
    )
    by_bag = classifier(max_epochs=40).fit(BAGS, Y, sample_weight=np.where(Y == 1, count[0] / count[1], 1.0))
    np.testing.assert_allclose(by_bag.decision_function(BAGS), balanced.decision_function(BAGS), rtol=1e-3, atol=1e-4)
    heavy = classifier(max_epochs=40, class_weight={0: 50.0}).fit(BAGS, Y)
    errors = [np.square(model.decision_function(BAGS)[Y == 0] + 0.5).mean() for model in (heavy, plain)]
    assert errors[0] < errors[1]
    words = classifier(class_weight={"concept1": 3.0}).fit(BAGS, WORDS)
    assert words.predict(BAGS).shape == (len(BAGS),)
    flags = classifier(class_weight={False: 2.0}).fit(BAGS, Y.astype(bool))
    assert flags.predict(BAGS).dtype == bool


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_a_bag_of_weight_zero_is_absent(loss):
    weights = np.ones(len(BAGS))
    weights[[2, 9, 20]] = 0
    there = weights > 0
    fit = {"loss": loss, "init": (CENTERS, WIDTHS), "standardize": False, "precision": "double", "max_epochs": 20}
    zero = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    absent = classifier(**fit).fit(BAGS[there], Y[there])
    np.testing.assert_allclose(zero.decision_function(BAGS), absent.decision_function(BAGS), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(zero.predict_proba(BAGS), absent.predict_proba(BAGS), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_what_is_in_a_bag_of_weight_zero_does_not_matter_on_line():
    weights = np.ones(len(BAGS))
    weights[[2, 9, 20]] = 0
    other = Bags.from_list([bag + (weights[b] == 0) for b, bag in enumerate(BAGS)])
    fit = {"init": (CENTERS, WIDTHS), "standardize": False, "precision": "double", "batch_size": 1}
    one = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    two = classifier(**fit).fit(other, np.where(weights == 0, 1 - Y, Y), sample_weight=weights)
    np.testing.assert_allclose(two.decision_function(BAGS), one.decision_function(BAGS), rtol=1e-9, atol=1e-10)


@pytest.mark.slow
def test_a_weight_of_two_counts_as_the_bag_twice():
    fit = {"init": (CENTERS, WIDTHS), "standardize": False, "precision": "double", "max_epochs": 20}
    weights = np.where(np.arange(len(BAGS)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(BAGS)), weights.astype(int))
    weighted = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    repeated = classifier(**fit).fit(BAGS[twice], Y[twice])
    np.testing.assert_allclose(weighted.decision_function(BAGS), repeated.decision_function(BAGS), rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------------- Rule Dropout


@pytest.mark.filterwarnings("ignore:The given rules do worse than chance")
@pytest.mark.parametrize("order", [0, 1])
def test_the_factor_of_rule_dropout_is_folded_into_the_rules(order):
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, np.arange(3.0 * (1 + 2 * order)).reshape(3, 1, -1), alpha=2.0)
    model = classifier(init=rules, order=order, rule_keep_prob=0.6, rule_dropout="paper", max_epochs=0).fit(BAGS, Y)
    output = model.initial_rules_.infer(BAGS).output
    np.testing.assert_allclose(output, rules.infer(BAGS).output, rtol=1e-5)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output, 0.6 * output, rtol=1e-5)
    np.testing.assert_allclose(model.decision_function(BAGS), 0.6 * output[:, 0] - 0.5, rtol=1e-4, atol=1e-6)
    shared = classifier(init=rules, order=order, rule_keep_prob=0.6, max_epochs=0)
    np.testing.assert_allclose(shared.fit(BAGS, Y).rules_.infer(BAGS).output, output, rtol=1e-5)
    numbers = regressor(init=rules, order=order, rule_keep_prob=0.6, rule_dropout="paper", max_epochs=0).fit(
        BAGS, NUMBERS
    )
    mean = NUMBERS.mean()
    np.testing.assert_allclose(numbers.predict(BAGS) - mean, 0.6 * (output[:, 0] - mean), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rule_dropout", ["paper", "renormalize"])
@pytest.mark.parametrize("batch_size", [None, 1])
def test_training_with_rule_dropout(rule_dropout, batch_size):
    model = classifier(
        rule_keep_prob=0.8,
        rule_dropout=rule_dropout,
        batch_size=batch_size,
        max_epochs=60,
        init="random",
        n_init=2,
    ).fit(BAGS, Y)
    assert model.score(BAGS, Y) >= 2 / 3
    again = clone(model).fit(BAGS, Y)
    np.testing.assert_array_equal(again.decision_function(BAGS), model.decision_function(BAGS))
    assert not np.allclose(
        clone(model).set_params(training__rule_keep_prob=None).fit(BAGS, Y).decision_function(BAGS),
        model.decision_function(BAGS),
    )


def test_keeping_every_rule_is_no_dropout():
    np.testing.assert_array_equal(
        classifier(rule_keep_prob=1.0).fit(BAGS, Y).decision_function(BAGS),
        classifier().fit(BAGS, Y).decision_function(BAGS),
    )


@pytest.mark.slow
def test_rule_dropout_comes_on_by_itself_where_numbers_outnumber_bags():
    few, many = BAGS[::3], BAGS[np.repeat(np.arange(24), 2)]
    for bags, expected in ((few, 0.7), (many, None)):  # 3 rules of 2 centers, 2 widths and a conclusion: 15 numbers
        auto = classifier(rule_keep_prob="auto").fit(bags)
        given = classifier(rule_keep_prob=expected).fit(bags)
        np.testing.assert_array_equal(auto.decision_function(BAGS), given.decision_function(BAGS))


# ---------------------------------------------------------------------- optimizers, batches, presets


@pytest.mark.slow
def test_an_optax_transformation_brings_its_own_rate():
    own = classifier(optimizer=optax.adam(0.03)).fit(BAGS, Y)
    np.testing.assert_allclose(
        own.decision_function(BAGS), classifier().fit(BAGS, Y).decision_function(BAGS), rtol=1e-4, atol=1e-5
    )
    schedule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.linear_schedule(0.1, 0.0, 5)))
    model = classifier(optimizer=schedule, n_init=2).fit(BAGS, Y)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    assert cross_val_score(clone(model), BAGS, Y, cv=2).shape == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_small_batches_learn_too(batch_size):
    model = classifier(batch_size=batch_size, max_epochs=15).fit(BAGS, Y)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    if batch_size == 100:  # more than there are: all at once
        np.testing.assert_allclose(
            model.decision_function(BAGS), classifier(max_epochs=15).fit(BAGS, Y).decision_function(BAGS), atol=1e-3
        )


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_on_line_learning_bears_bags_that_fire_a_rule_far_less_than_their_neighbors(precision):
    """Rows of the next bag stand beside a bag's own as padding; theirs must not reach its gradient."""
    bags = [np.array([[0.0], [0.1]]), np.array([[100.0], [99.9]])] * 4
    rules = RuleBase.from_arrays([[0.0], [100.0]], [[1.0], [1.0]], [0.4, 0.6])
    model = classifier(init=rules, batch_size=1, max_epochs=3, standardize=False, precision=precision)
    model.fit(bags, [0, 1] * 4)  # a warning (of divergence) is an error here
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.predict(bags), [0, 1] * 4)
    reference = clone(model).set_params(training__optimizer="sgd", training__batch_size=1).fit(bags, [0, 1] * 4)
    assert (np.diff(reference.history_["loss"]) < 0).all()


def test_plain_gradient_descent_takes_the_step_of_the_formula():
    """One step on constant conclusions only: d/db of the mean squared error is -2 w (y - O)."""
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5])
    model = classifier(
        init=rules, optimizer="sgd", learning_rate=0.1, max_epochs=1, precision="double", standardize=False
    ).fit(BAGS, Y)
    seen = rules.infer(BAGS)
    gradient = -2 * (seen.normalized * (Y - seen.output[:, 0])[:, None]).mean(axis=0)
    np.testing.assert_allclose(model.rules_.coefs[:, 0, 0], np.array([0.2, 0.8, 0.5]) - 0.1 * gradient, rtol=1e-10)


@pytest.mark.slow
def test_the_papers_settings_in_one_call():
    model = MIANFISClassifier.paper(3, 0.5, max_epochs=10, random_state=0)
    assert (model.n_rules, model.init, model.order, model.alpha, model.operators) == (3, "fcm", 0, 1.0, None)
    assert model.training == Training(
        update_rule="paper", width_scale="direct", init_outputs="ones", init_bags="positive", rule_dropout="paper",
        standardize=False, clip=None, optimizer="sgd", learning_rate=0.1, batch_size=1, loss="squared_error",
        rule_keep_prob=None, init_width=0.5, max_epochs=10,
    )  # fmt: skip
    model.fit(BAGS, Y)
    np.testing.assert_array_equal(model.initial_rules_.coefs, np.ones((3, 1, 1)))
    np.testing.assert_allclose(model.initial_rules_.widths, 0.5)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    assert MIANFISClassifier.paper(2, 1.0).training.max_epochs == 150
    with pytest.raises(TypeError, match="nonsense"):
        MIANFISClassifier.paper(2, 1.0, nonsense=1)

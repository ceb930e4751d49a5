"""Hybrid learning: conclusions by least squares, sets along the gradient, as in Jang's ANFIS."""

import numpy as np
import pytest

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    Operators,
    RuleBase,
    Training,
    train_rules,
)
from fuzzymil._utils.errors import ParameterError
from fuzzymil.learn.train import least_squares

RNG = np.random.default_rng(0)
X = RNG.uniform(-3, 3, size=(80, 2))
Y = np.sinc(X[:, 0]) * np.sinc(X[:, 1])
BAGS = Bags.from_list([RNG.uniform(size=(n, 2)) for n in RNG.integers(1, 5, 60)])
TOTALS = np.array([bag[:, 0].max() + bag[:, 1].mean() for bag in BAGS])


def hybrid(kind=ANFISRegressor, n_rules=4, *, operators=None, order=0, init="kmeans", **training):
    training = Training(**({"optimizer": "hybrid", "max_epochs": 3} | training))
    return kind(n_rules, order=order, init=init, operators=operators, training=training, random_state=0)


def ridge(monkeypatch, value):
    monkeypatch.setattr(least_squares, "_RIDGES", np.array([value]))


def columns(rules, bags, order):
    """What each coefficient is multiplied by, from the rules as they infer."""
    strengths = rules.infer(bags).normalized
    if order == 0:
        return strengths
    mean = np.array([[*bag.mean(axis=0)] for bag in bags])
    ones = np.concatenate([np.ones((len(mean), 1)), mean], axis=1)
    return (strengths[:, :, None] * ones[:, None, :]).reshape(len(mean), -1)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize(("kind", "bags", "y"), [(ANFISRegressor, X, Y), (MIANFISRegressor, BAGS, TOTALS)])
def test_conclusions_are_those_of_least_squares_for_the_trained_sets(kind, bags, y, order, monkeypatch):
    ridge(monkeypatch, 1e-12)
    means = Operators(conclusion_aggregation="mean") if order and kind is MIANFISRegressor else None
    model = hybrid(kind, order=order, operators=means, clip=None).fit(bags, y)
    design = columns(model.rules_, bags if isinstance(bags, Bags) else Bags.from_list(bags[:, None, :]), order)
    best = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(bags), design @ best, atol=1e-5)
    assert not np.array_equal(model.rules_.centers, model.initial_rules_.centers)


def test_missing_values_stand_in_linear_conclusions_for_what_inference_says(monkeypatch):
    ridge(monkeypatch, 1e-12)
    gaps = X.copy()
    gaps[::7, 0] = np.nan
    for missing in ("median", "ignore"):
        model = hybrid(order=1, clip=None).set_params(missing=missing).fit(gaps, Y)
        rest = Y - model.predict(gaps)
        # At the least squared error, no conclusion could take away any of the rest.
        strengths = model.rules_.infer(gaps).normalized
        np.testing.assert_allclose(strengths.T @ rest, 0.0, atol=1e-6)


def test_hybrid_learning_beats_the_gradient_alone_in_as_many_epochs():
    settings = {"n_rules": 9, "init": "grid", "order": 1, "max_epochs": 60}
    models = [hybrid(optimizer=optimizer, **settings).fit(X, Y) for optimizer in ("hybrid", "adam")]
    best, other = (np.sqrt(np.mean(np.square(model.predict(X) - Y))) for model in models)
    assert best < other / 2


def test_without_epochs_the_conclusions_are_least_squares_on_the_first_sets(monkeypatch):
    ridge(monkeypatch, 1e-12)
    model = hybrid(n_rules=9, init="grid", order=1, max_epochs=0, clip=None).fit(X, Y)
    design = columns(model.rules_, Bags.from_list(X[:, None, :]), 1)
    np.testing.assert_allclose(model.predict(X), design @ np.linalg.lstsq(design, Y, rcond=None)[0], atol=1e-6)


def test_noise_gets_a_stronger_ridge_and_so_smaller_conclusions():
    noise = np.sign(Y) * RNG.permutation(np.abs(Y))
    sizes = [np.abs(hybrid(n_rules=12, order=1, max_epochs=0).fit(X, y).rules_.coefs).max() for y in (Y, noise)]
    assert sizes[1] < sizes[0]


def test_given_rules_keep_what_is_frozen(monkeypatch):
    ridge(monkeypatch, 1e-9)
    rules = RuleBase.from_arrays([[-2.0, 0.0], [0.0, 0.0], [2.0, 0.0]], np.ones((3, 2)), [5.0, 0.0, 1.0])
    training = Training(optimizer="hybrid", max_epochs=5)
    better = train_rules(rules, X, Y, frozen=["rule 1"], task="regression", training=training)
    assert better.coefs[0, 0, 0] == 5.0
    assert not np.allclose(better.coefs[1:, 0, 0], rules.coefs[1:, 0, 0])
    design = better.infer(X).normalized
    rest = Y - better.infer(X).output[:, 0]
    np.testing.assert_allclose(design[:, 1:].T @ rest, 0.0, atol=1e-4)


def test_auto_is_hybrid_for_regressors_with_two_bags_per_parameter():
    assert hybrid(optimizer="auto").fit(X, Y)._state.hybrid  # 4 rules: 20 parameters
    assert not hybrid(n_rules=9, optimizer="auto").fit(X, Y)._state.hybrid
    assert hybrid(MIANFISRegressor, optimizer="auto", n_rules=3).fit(BAGS, TOTALS)._state.hybrid
    assert not hybrid(ANFISClassifier, optimizer="auto").fit(X, Y > 0)._state.hybrid
    assert MIANFISClassifier.paper(3, 1.0).training.optimizer == "sgd"


@pytest.mark.parametrize(
    ("kind", "settings", "why"),
    [
        (ANFISClassifier, {"loss": "cross_entropy"}, "no squared error"),
        (ANFISRegressor, {"batch_size": 8}, "all bags at once"),
        (ANFISRegressor, {"rule_keep_prob": 0.5}, "Dropout"),
        (ANFISRegressor, {"update_rule": "paper"}, "update rule"),
        (MIANFISRegressor, {"order": 1}, "conclusion_aggregation='mean'"),
    ],
)
def test_what_least_squares_cannot_do_is_refused_and_auto_goes_around_it(kind, settings, why):
    bags, y = (BAGS, TOTALS) if kind is MIANFISRegressor else (X, Y > 0 if kind is ANFISClassifier else Y)
    with pytest.raises(ParameterError, match=f"optimizer='hybrid' cannot apply: .*{why}"):
        hybrid(kind, **settings).fit(bags, y)
    assert not hybrid(kind, **settings | {"optimizer": "auto", "max_epochs": 1}).fit(bags, y)._state.hybrid


def test_parts_of_the_data_do_not_replace_the_conclusions_of_all():
    model = hybrid(optimizer="auto", max_epochs=5).fit(X, Y)
    before = model.rules_.coefs
    model.partial_fit(X[:5], Y[:5])
    assert np.abs(model.rules_.coefs - before).max() < 0.2
    with pytest.raises(ParameterError, match="partial_fit"):
        hybrid().fit(X, Y).partial_fit(X[:5], Y[:5])

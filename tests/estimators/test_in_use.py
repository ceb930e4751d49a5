"""What users ran into: labels carried by bags, outputs of unlike scale, interrupted and partial learning."""

import pickle
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from fuzzymil import (
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    PerInstance,
    RuleBase,
    RuleClassifier,
)
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import fit_together, network_parameters
from fuzzymil.learn.train import trainer

BAGS = make_two_concepts(20, 20, random_state=0)
QUICK = {"n_rules": 4, "max_epochs": 20, "random_state": 0}


@pytest.mark.slow
def test_outputs_of_unlike_scale_are_learned_as_if_alone():
    rng = np.random.RandomState(0)
    X = [rng.randn(size, 3) for size in rng.randint(1, 8, 60)]
    small = np.array([x[:, 0].max() for x in X])
    great = 1e4 * np.array([x[:, 1].max() for x in X])
    settings = {**QUICK, "order": 1, "rule_keep_prob": None, "conclusion_alpha": 3.0}
    unlike = MIANFISRegressor(**network_parameters(**settings)).fit(X, np.column_stack([small, great]))
    like = MIANFISRegressor(**network_parameters(**settings)).fit(X, np.column_stack([small, great / 1e4]))
    np.testing.assert_allclose(unlike.predict(X) / [1, 1e4], like.predict(X), rtol=1e-3, atol=1e-3)
    assert len(unlike.rules_.conclusion_alpha) == 2
    assert pickle.loads(pickle.dumps(unlike.rules_)) == unlike.rules_


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy"])
def test_a_bag_that_no_rule_covers_gets_the_share_of_the_classes(loss):
    rng = np.random.RandomState(1)
    X = [rng.randn(3, 2) * 0.1 + (5 if i % 5 == 0 else 0) for i in range(50)]
    y = [int(i % 5 == 0) for i in range(50)]
    settings = {
        "membership": "triangular",
        "clip": None,
        "init_width": 0.05,
        "max_epochs": 3,
        "random_state": 0,
    }
    model = MIANFISClassifier(2, **network_parameters(loss=loss, **settings)).fit(X, y)
    assert model.predict_proba([[[2.5, 2.5]]])[0, 1] == pytest.approx(0.2)
    assert model.predict([[[2.5, 2.5]]]).tolist() == [0]


@pytest.mark.slow
def test_partial_fits_keep_a_calibration_that_rises():
    shuffled = BAGS[np.random.RandomState(0).permutation(len(BAGS))]
    model = MIANFISClassifier(**network_parameters(loss="hinge", **QUICK))
    for start in range(0, len(shuffled), 10):
        model.partial_fit(shuffled[start : start + 10], classes=[0, 1])
    assert (model.calibration_[:, 0] > 0).all()
    by_margin = roc_auc_score(BAGS.labels, model.decision_function(BAGS))
    assert roc_auc_score(BAGS.labels, model.predict_proba(BAGS)[:, 1]) == pytest.approx(by_margin)
    fitted = MIANFISClassifier(**network_parameters(loss="hinge", **QUICK)).fit(BAGS)
    before = fitted.calibration_.copy()
    np.testing.assert_array_equal(fitted.partial_fit(BAGS[BAGS.labels == 1]).calibration_, before)


@pytest.mark.slow
def test_progress_tells_the_last_loss_of_fits_that_have_stopped():
    seen = []
    settings = {**QUICK, "max_epochs": 200, "n_iter_no_change": 2, "n_estimators": 3}
    MIANFISClassifier(**network_parameters(callbacks=[lambda now: seen.append((now.epoch, now.loss))], **settings)).fit(
        BAGS
    )
    assert all(np.isfinite(loss).all() for _, loss in seen)
    assert seen[-1][0] == len(seen)


@pytest.mark.slow
def test_a_warm_start_holds_out_the_same_bags(monkeypatch):
    held = []
    train_groups = trainer.train_groups

    def recorded(groups, *plan, **settings):
        held.append(groups[0].held_out)
        return train_groups(groups, *plan, **settings)

    monkeypatch.setattr(trainer, "train_groups", recorded)
    model = MIANFISClassifier(**network_parameters(n_iter_no_change=20, warm_start=True, **QUICK))
    model.fit(BAGS).fit(BAGS).fit(BAGS)
    assert (held[0] == held[1]).all()
    assert (held[0] == held[2]).all()


def test_ctrl_c_twice_stops_everything(monkeypatch):
    monkeypatch.setattr(trainer, "_last_interrupt", -np.inf)

    def press(_):
        raise KeyboardInterrupt

    model = MIANFISClassifier(**network_parameters(callbacks=[press], **QUICK))
    with pytest.warns(UserWarning, match="Press Ctrl-C twice"):
        model.fit(BAGS)
    # However long the next fit takes to start, the first press was just now.
    monkeypatch.setattr(trainer, "_last_interrupt", time.monotonic() + 3600)
    with pytest.raises(KeyboardInterrupt):
        model.fit(BAGS)
    monkeypatch.setattr(trainer, "_last_interrupt", time.monotonic() - 10)
    with pytest.warns(UserWarning, match="interrupted"):
        model.fit(BAGS)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([1, "a"] * 30, "mix text and numbers"),
        (["a", None] * 30, "Bag .* has no label"),
        (np.array(["2026-01-01", "2026-01-02"] * 30, "datetime64[D]"), "numbers, text or booleans"),
    ],
)
def test_labels_that_cannot_be_told_apart_are_refused(labels, words):
    with pytest.raises(InputError, match=words):
        MIANFISClassifier(**network_parameters(**QUICK)).fit(list(BAGS), labels)


def test_labels_named_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series(BAGS.labels, index=BAGS.ids)
    assert MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS, labels).score(BAGS, labels) > 0.5
    with pytest.raises(InputError, match=r"y\.loc\[bags\.ids\]"):
        MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS, labels.sort_index())


@pytest.mark.parametrize(
    "model",
    [
        MIANFISClassifier(**network_parameters(**QUICK)),
        MIANFISRegressor(**network_parameters(**QUICK)),
        NaiveMIL(LogisticRegression()),
    ],
    ids=str,
)
def test_score_takes_the_labels_the_bags_carry(model):
    assert model.fit(BAGS).score(BAGS) == model.score(BAGS, BAGS.labels)


@pytest.mark.slow
def test_a_transformer_that_needs_labels_takes_those_of_the_bags():
    assert make_pipeline(PerInstance(SelectKBest(k=1)), MIANFISClassifier(**network_parameters(**QUICK))).fit(
        BAGS
    ).predict(BAGS).shape == (60,)


def test_rules_are_immutable_and_can_be_hashed():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    with pytest.raises(TypeError, match="immutable"):
        rules.variables[0].terms["high"] = None
    with pytest.raises(TypeError, match="immutable"):
        rules.rules[0].antecedent.clear()
    assert hash(rules) == hash(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]))


def test_centers_far_from_zero_are_printed_apart():
    rules = RuleBase.from_arrays([[1e6], [1e6 + 1.5]], [[0.5], [0.5]], [0, 1])
    assert rules.describe_terms() == "x1: low = Gaussian(1000000, 0.5), high = Gaussian(1000001.5, 0.5)"


def test_long_conclusions_are_cut_too():
    rules = RuleBase.from_arrays(np.zeros((2, 20)), np.ones((2, 20)), np.arange(42.0).reshape(2, 1, 21))
    assert "+ ... (12 smaller)" in str(rules)
    assert "smaller" not in rules.to_text()


@pytest.mark.parametrize("name", ["normalize", "warm_start"])
def test_switches_must_be_true_or_false(name):
    with pytest.raises(ValueError, match=f"{name} must be True or False, got 'no'"):
        MIANFISClassifier(**network_parameters(**QUICK), **network_parameters(**{name: "no"})).fit(BAGS)


@pytest.mark.slow
def test_fitted_together_is_fitted_alone():
    halves = [BAGS[::2], BAGS[1::2], BAGS[::3]]
    for settings in ({}, {"n_estimators": 2, "n_init": 2}, {"batch_size": 1}, {"n_iter_no_change": 20}):
        settings |= {"precision": "double"}  # in single precision, hundreds of small steps add up their rounding
        models = [MIANFISClassifier(**network_parameters(**QUICK | settings | {"random_state": k})) for k in range(3)]
        alone = [clone(model).fit(half) for model, half in zip(models, halves, strict=True)]
        for one, other in zip(fit_together(models, halves), alone, strict=True):
            np.testing.assert_allclose(one.decision_function(BAGS), other.decision_function(BAGS), atol=2e-4)
            assert len(one.members_) == len(other.members_)


@pytest.mark.slow
def test_settings_of_equal_shapes_train_in_one_call(monkeypatch):
    calls = []
    train_groups = trainer.train_groups
    monkeypatch.setattr(
        trainer, "train_groups", lambda groups, *a, **k: calls.append(len(groups)) or train_groups(groups, *a, **k)
    )
    grid = [
        {"alpha": 0},
        {"alpha": 5},
        {"init_width": 2.0},
        {"clip": None},
        {"n_rules": 2},
        {"learning_rate": 0.1},
    ]
    together = fit_together(
        [MIANFISClassifier(**network_parameters(**QUICK | settings)) for settings in grid], [BAGS] * len(grid)
    )
    assert sorted(calls) == [1, 1, 4]
    for settings, model in zip(grid, together, strict=True):
        alone = MIANFISClassifier(**network_parameters(**QUICK | settings)).fit(BAGS)
        np.testing.assert_allclose(model.decision_function(BAGS), alone.decision_function(BAGS), atol=2e-4)


@pytest.mark.slow
def test_given_rules_and_precisions_are_trained_apart():
    rules = MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS).rules_
    grid = [{}, {"init": rules}, {"precision": "double"}]
    together = fit_together(
        [MIANFISClassifier(**network_parameters(**QUICK | settings)) for settings in grid], [BAGS] * 3
    )
    for settings, model in zip(grid, together, strict=True):
        alone = MIANFISClassifier(**network_parameters(**QUICK | settings)).fit(BAGS)
        np.testing.assert_allclose(model.decision_function(BAGS), alone.decision_function(BAGS), rtol=0, atol=1e-12)


@pytest.mark.slow
def test_fitting_together_takes_estimators_of_any_kind():
    half = BAGS[::2]
    with pytest.raises(ValueError, match="1 estimators, 2 sets of bags"):
        fit_together([RuleClassifier()], [half, half])
    assert fit_together([], []) == []
    single = Bags(half.instances[:20], np.arange(21), labels=np.arange(20) % 2)
    mixed = [
        MIANFISClassifier(**network_parameters(**QUICK)),
        MIANFISClassifier(**network_parameters(**QUICK)),
        NaiveMIL(LogisticRegression()),
    ]
    models = fit_together(mixed, [half, single, half])
    assert [len(model.predict(half)) for model in models] == [len(half)] * 3

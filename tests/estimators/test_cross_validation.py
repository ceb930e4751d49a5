"""Cross-validation in one call gives what scikit-learn's gives."""

import numpy as np
import pytest
from sklearn import model_selection
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    PerInstance,
    RuleClassifier,
)
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import cross_val_scores, cross_validate, network_parameters
from fuzzymil.learn.train import trainer

BAGS = make_two_concepts(18, 18, random_state=0)
QUICK = {"n_rules": 3, "max_epochs": 2, "random_state": 0}


@pytest.fixture
def calls(monkeypatch):
    """How many models were trained in each compiled call."""
    found = []
    real = trainer.train_groups

    def counted(groups, *plan, **settings):
        found.append(len(groups))
        return real(groups, *plan, **settings)

    monkeypatch.setattr(trainer, "train_groups", counted)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "labels", "options"),
    [
        (MIANFISClassifier(**network_parameters(**QUICK)), BAGS.labels, {}),
        (MIANFISClassifier(**network_parameters(**QUICK)), np.where(BAGS.labels == 1, "mine", "none"), {"cv": 3}),
        (
            MIANFISClassifier(**network_parameters(**QUICK)),
            BAGS.labels,
            {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=1), "scoring": "roc_auc"},
        ),
        (
            MIANFISClassifier(**network_parameters(**QUICK)),
            BAGS.labels,
            {"cv": GroupKFold(3), "groups": np.arange(54) % 6},
        ),
        (
            MIANFISClassifier(**network_parameters(**QUICK)),
            BAGS.labels,
            {"cv": 3, "scoring": ["accuracy", "neg_log_loss"], "return_train_score": True},
        ),
        (
            MIANFISRegressor(**network_parameters(**QUICK)),
            BAGS.sizes.astype(float),
            {"cv": KFold(3, shuffle=True, random_state=0), "scoring": lambda m, X, y: float(m.predict(X).sum())},
        ),
    ],
)
def test_scores_are_those_of_scikit_learn(model, labels, options, calls):
    expected = model_selection.cross_validate(model, BAGS, labels, return_indices=True, **options)
    found = cross_val_scores(model, BAGS, labels, return_indices=True, return_estimator=True, **options)
    times = {"fit_time", "score_time"}
    assert set(found) == {*expected, "estimator"} - times
    for name in set(expected) - times - {"indices"}:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-6)
    for side in ("train", "test"):
        for mine, theirs in zip(found["indices"][side], expected["indices"][side], strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert calls[-1] == len(found["estimator"])  # one call for all folds
    assert not hasattr(model, "rules_")


@pytest.mark.slow
def test_labels_are_those_of_the_bags():
    model = MIANFISClassifier(**network_parameters(**QUICK))
    found = cross_val_scores(model, BAGS, cv=2)["test_score"]
    np.testing.assert_array_equal(found, cross_val_scores(model, BAGS, BAGS.labels, cv=2)["test_score"])


@pytest.mark.slow
def test_plain_tables_of_one_instance_a_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] + 1
    model = ANFISRegressor(**network_parameters(**QUICK))
    expected = model_selection.cross_validate(model, X, y, cv=4)["test_score"]
    np.testing.assert_allclose(cross_val_scores(model, X, y, cv=4)["test_score"], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.slow
def test_settings_of_a_grid_are_scored_on_the_same_folds(calls):
    model = MIANFISClassifier(**network_parameters(**QUICK))
    grid = {"alpha": [0, 5], "n_rules": [2, 3]}
    search = GridSearchCV(model, grid, cv=2, refit=False).fit(BAGS, BAGS.labels).cv_results_
    found = cross_val_scores(model, BAGS, cv=2, param_grid=grid, return_estimator=True)
    assert found["params"] == search["params"]
    expected = np.transpose([search["split0_test_score"], search["split1_test_score"]])
    np.testing.assert_allclose(found["test_score"], expected, rtol=1e-4, atol=1e-6)
    assert calls[-2:] == [4, 4]  # after those of the search, one by one
    assert [[one.n_rules for one in row] for row in found["estimator"]] == [[2, 2], [3, 3], [2, 2], [3, 3]]


@pytest.mark.slow
def test_seeds_of_a_grid_train_with_the_folds(calls):
    found = cross_val_scores(
        MIANFISClassifier(**network_parameters(**QUICK)),
        BAGS,
        cv=2,
        scoring="neg_log_loss",
        param_grid=[{"random_state": [0, 1, 2]}, {"alpha": [0], "random_state": [0]}],
    )
    assert calls == [8]
    assert found["test_score"].shape == (4, 2)
    for seed in (0, 1, 2):
        alone = model_selection.cross_validate(
            MIANFISClassifier(**network_parameters(**{**QUICK, "random_state": seed})),
            BAGS,
            BAGS.labels,
            cv=2,
            scoring="neg_log_loss",
        )
        np.testing.assert_allclose(found["test_score"][seed], alone["test_score"], rtol=1e-4, atol=1e-6)


def test_labels_are_needed():
    with pytest.raises(InputError, match="labels"):
        cross_val_scores(RuleClassifier(), Bags.from_list([[[1.0]], [[2.0]]]))


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(PerInstance(StandardScaler()), MIANFISClassifier(**network_parameters(**QUICK))),
        pytest.param(NaiveMIL(ANFISClassifier(**network_parameters(**QUICK))), marks=pytest.mark.slow),
        make_pipeline(PerInstance(PCA(1, svd_solver="full")), NaiveMIL(ANFISClassifier(**network_parameters(**QUICK)))),
    ],
)
def test_networks_inside_other_estimators_train_together(model, calls):
    (folds,) = cross_validate([model], BAGS, cv=3)
    assert calls == [3]
    for fold in folds:
        alone = clone(model).fit(BAGS[fold.train], BAGS.labels[fold.train])
        np.testing.assert_allclose(fold.probabilities, alone.predict_proba(BAGS[fold.test]), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(fold.decisions, alone.decision_function(BAGS[fold.test]), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(fold.truth, BAGS.labels[fold.test])


@pytest.mark.slow
def test_methods_share_folds_and_report_progress():
    seen = []
    methods = [MIANFISClassifier(**network_parameters(**QUICK)), DummyClassifier()]
    results = cross_validate(methods, BAGS, cv=4, batch_size=2, callback=seen.append)
    assert [(fold.method, fold.split) for fold in seen] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)
    ]  # fmt: skip
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one.test, other.test)
        assert one.seconds > 0
    assert results[1][0].decisions is None


@pytest.mark.slow
def test_seeds_by_split():
    (folds,) = cross_validate(
        [make_pipeline(MIANFISClassifier(**network_parameters(**QUICK)))], BAGS, cv=2, seeds=[5, 6]
    )
    assert [fold.model[-1].random_state for fold in folds] == [5, 6]
    with pytest.raises(ParameterError, match="1 for 2 splits"):
        cross_validate([MIANFISClassifier(**network_parameters(**QUICK))], BAGS, cv=2, seeds=[5])


def test_half_trained_models_are_no_folds():
    def stop(progress):
        raise KeyboardInterrupt

    seen = []
    with pytest.raises(KeyboardInterrupt):
        cross_validate(
            [MIANFISClassifier(**network_parameters(callbacks=[stop], **QUICK))], BAGS, cv=2, callback=seen.append
        )
    assert not seen

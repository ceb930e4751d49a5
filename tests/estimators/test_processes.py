"""Folds that are fitted in several processes give the same results, warnings included."""

import os
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from fuzzymil import RuleClassifier
from fuzzymil._utils.errors import ParameterError
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import _cross_validation, cross_val_scores, cross_validate

BAGS = make_two_concepts(random_state=0)


class Where(ClassifierMixin, BaseEstimator):
    """Remembers the process in which it was fitted, and warns."""

    def __init__(self, verbose=False):
        self.verbose = verbose

    def fit(self, X, y):
        self.process_, self.verbose_, self.classes_ = os.getpid(), self.verbose, np.unique(y)
        warnings.warn("as expected", RuntimeWarning, stacklevel=1)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.slow
def test_results_are_those_of_one_process():
    methods = [RuleClassifier(random_state=0), EmbeddingForest(n_estimators=5, random_state=0)]
    alone, many = (cross_validate(methods, BAGS, cv=3, seeds=[4, 5, 6], n_jobs=n_jobs) for n_jobs in (None, 2))
    for ones, others in zip(alone, many, strict=True):
        assert [fold.split for fold in others] == [0, 1, 2]
        for one, other in zip(ones, others, strict=True):
            np.testing.assert_array_equal(one.test, other.test)
            # Matrix products differ in the last bits with the number of threads.
            said, again = (np.asarray(fold.probabilities, float) for fold in (one, other))  # NaN for None
            np.testing.assert_allclose(said, again, atol=1e-6)
    scores = [cross_val_scores(methods[1], BAGS, cv=3, n_jobs=n_jobs)["test_score"] for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*scores)


@pytest.mark.slow
def test_warnings_come_back_and_progress_bars_stay_away():
    seen = []
    with pytest.warns(RuntimeWarning, match="as expected"):
        cross_validate([Where(verbose=True)], BAGS, cv=3, n_jobs=2, callback=lambda fold: seen.append(fold.model))
    assert all(model.process_ != os.getpid() and model.verbose and not model.verbose_ for model in seen)


@pytest.mark.slow
@pytest.mark.parametrize(("worthwhile", "here"), [(1e9, [True] * 3), (0.0, [True, False, False])])
@pytest.mark.filterwarnings("ignore:as expected")
def test_processes_start_once_they_are_worthwhile(monkeypatch, worthwhile, here):
    monkeypatch.setattr(_cross_validation, "_WORTH_STARTING", worthwhile)
    monkeypatch.setattr(_cross_validation, "granted_cores", lambda: 2)
    (folds,) = cross_validate([Where()], BAGS, cv=3, n_jobs="auto")
    assert [fold.model.process_ == os.getpid() for fold in folds] == here


@pytest.mark.filterwarnings("ignore:as expected")
def test_one_core_is_one_process(monkeypatch):
    monkeypatch.setattr(_cross_validation, "_WORTH_STARTING", 0.0)
    monkeypatch.setattr(_cross_validation, "granted_cores", lambda: 1)
    (folds,) = cross_validate([Where()], BAGS, cv=3, n_jobs="auto")
    assert all(fold.model.process_ == os.getpid() for fold in folds)


@pytest.mark.parametrize("n_jobs", [0, "many", 1.5])
def test_bad_numbers_of_processes(n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be a number of processes"):
        cross_validate([Where()], BAGS, cv=3, n_jobs=n_jobs)

"""ANFIS on single instances, and bags judged by their instances."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC
from small_fits import BAGS, NUMBERS, QUICK, Y, classifier, regressor

from fuzzymil import ANFISClassifier, ANFISRegressor, NaiveMIL, PerInstance, RuleClassifier
from fuzzymil.datasets import make_planted
from fuzzymil.estimators import network_parameters


def test_plain_anfis_is_the_network_on_bags_of_one():
    rows, labels = BAGS.instances, BAGS.instances[:, 0] > 1
    np.testing.assert_array_equal(
        ANFISClassifier(**network_parameters(**QUICK)).fit(rows, labels).decision_function(rows),
        classifier().fit(rows, labels).decision_function(rows),
    )
    np.testing.assert_array_equal(
        ANFISRegressor(**network_parameters(**QUICK)).fit(rows, rows[:, 0]).predict(rows),
        regressor().fit(rows, rows[:, 0]).predict(rows),
    )


@pytest.mark.parametrize("pool", ["max", "mean", "min"])
def test_the_naive_way_pools_what_the_instances_say(pool):
    pooled = {"max": np.max, "mean": np.mean, "min": np.min}[pool]
    model = NaiveMIL(LogisticRegression(), pool=pool).fit(BAGS, Y)
    inner = LogisticRegression().fit(BAGS.instances, np.repeat(Y, BAGS.sizes))
    likely = np.array([pooled(inner.predict_proba(bag)[:, 1]) for bag in BAGS])
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], likely, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(BAGS), likely - 0.5, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(BAGS), (likely > 0.5).astype(int))
    numbers = NaiveMIL(LinearRegression(), pool=pool).fit(BAGS, NUMBERS)
    line = LinearRegression().fit(BAGS.instances, np.repeat(NUMBERS, BAGS.sizes))
    np.testing.assert_allclose(numbers.predict(BAGS), [pooled(line.predict(bag)) for bag in BAGS], rtol=1e-10)
    assert not hasattr(numbers, "predict_proba")
    assert not hasattr(numbers, "decision_function")
    assert not hasattr(NaiveMIL(LinearSVC()), "predict_proba")


def test_the_naive_way_hands_weights_on():
    weights = np.where(np.arange(len(BAGS)) % 2, 1.0, 3.0)
    model = NaiveMIL(LogisticRegression()).fit(BAGS, Y, sample_weight=weights)
    inner = LogisticRegression().fit(
        BAGS.instances, np.repeat(Y, BAGS.sizes), sample_weight=np.repeat(weights, BAGS.sizes)
    )
    np.testing.assert_array_equal(model.estimator_.coef_, inner.coef_)


def test_per_instance_learns_from_the_labels_of_the_bags():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    step = PerInstance(LinearDiscriminantAnalysis(n_components=1)).fit(BAGS, Y)
    inner = LinearDiscriminantAnalysis(n_components=1).fit(BAGS.instances, np.repeat(Y, BAGS.sizes))
    moved = step.transform(BAGS)
    np.testing.assert_allclose(moved.instances, inner.transform(BAGS.instances))
    np.testing.assert_array_equal(moved.labels, BAGS.labels)
    np.testing.assert_array_equal(moved.ids, BAGS.ids)
    assert isinstance(step.transform(BAGS.instances), np.ndarray)


def test_instances_are_scored_by_rules_that_count():
    """Alone, no instance is three of them: it is asked whether it would be one."""
    train, test = make_planted("count", 60, random_state=0), make_planted("count", 60, random_state=1)
    model = RuleClassifier(random_state=0).fit(train)
    assert "at least" in [part.quantifier for part in model.rules_.parts]
    positive = test[np.flatnonzero(test.labels)]  # only there are the instances marked
    assert roc_auc_score(positive.instance_labels > 0, model.instance_scores(positive)) > 0.95


def test_half_of_a_character_in_a_label_is_refused_by_fit():
    labels = ["x\ud800" if label else "a" for label in Y]
    for y in (labels, np.array(labels)):
        with pytest.raises(ValueError, match="labels has half of a character"):
            classifier().fit(list(BAGS), y)

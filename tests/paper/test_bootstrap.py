"""Resampled bags: areas and rates by hand, and intervals."""

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil.plots import true_positive_rates
from paper.landmine import FALSE_RATES
from paper.statistics import Run, areas, draw_weights, interval, rates_detected


def test_areas_and_rates_of_whole_weights_are_the_usual_ones():
    rng = np.random.RandomState(0)
    truth = np.arange(60) % 2 == 0
    scores = np.round(rng.normal(size=60) + truth, 1)  # with ties
    folds = np.repeat([0, 1, 2], 20)
    whole = np.ones((1, 60))
    by_fold = [folds == fold for fold in range(3)]
    expected = np.mean([roc_auc_score(truth[f], scores[f]) for f in by_fold])
    assert np.isclose(areas(truth, [Run(scores, folds)], whole)[0], expected)
    for rate in FALSE_RATES:
        expected = np.mean([true_positive_rates(truth[f], scores[f], [rate])[0] for f in by_fold])
        assert np.isclose(rates_detected(truth, [Run(scores, folds)], whole, rate)[0], expected)


def test_weights_are_repeated_bags():
    rng = np.random.RandomState(1)
    truth, scores = np.arange(12) % 3 == 0, np.round(rng.normal(size=12), 1)
    weights = rng.randint(0, 3, size=12).astype(float)
    weights[:3] = 1
    again = np.repeat(np.arange(12), weights.astype(int))
    run, repeated = Run(scores, np.zeros(12, int)), Run(scores[again], np.zeros(len(again), int))
    for measure in (areas, lambda *given: rates_detected(*given, 0.2)):
        expected = measure(truth[again], [repeated], np.ones((1, len(again))))
        assert np.isclose(measure(truth, [run], weights[None]), expected)


def test_a_fold_without_one_class_does_not_count():
    truth = np.array([True, False, True, False])
    run = Run(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1]))
    assert areas(truth, [run], np.array([[1.0, 1, 0, 1]]))[0] == 1


def test_replicates_keep_the_groups():
    groups = np.array(["a"] * 30 + ["b"] * 10)
    weights = draw_weights(groups, 50, np.random.RandomState(2))
    assert (weights[0] == 1).all()
    assert (weights[:, :30].sum(axis=1) == 30).all()
    assert weights[1:].std(axis=0).min() > 0


def test_an_interval_leaves_the_number_itself_out():
    found = interval(np.concatenate([[0.5], np.linspace(0, 1, 41)]))
    assert np.allclose([found.value, found.low, found.high], [0.5, 0.025, 0.975])


def test_a_centered_interval_lies_around_the_number():
    found = interval(np.concatenate([[0.4], np.linspace(0, 1, 41)]), centered=True)
    assert np.allclose([found.value, found.low, found.high], [0.4, -0.075, 0.875])

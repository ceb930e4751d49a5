"""Reliability of probabilities, checked against scikit-learn, and looked up in the drawing."""

import matplotlib
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import ReliabilityDisplay, brier_score

matplotlib.use("Agg")
RNG = np.random.default_rng(0)


def random_fold(n, rng=RNG):
    likely = rng.random(n)
    return rng.random(n) < likely**2, likely


@pytest.mark.parametrize("n_bins", [1, 4, 10])
def test_shares_are_those_of_scikit_learn(n_bins):
    truth, likely = random_fold(80)
    likely[:4] = [0.0, 1.0, 0.5, 0.3]  # edges of bins
    (curve,) = ReliabilityDisplay.from_probabilities({"a": [(truth, likely)]}, n_bins=n_bins).curves
    observed, predicted = calibration_curve(truth, likely, n_bins=n_bins)
    filled = curve.counts > 0
    np.testing.assert_allclose(curve.observed[filled], observed, rtol=1e-12)
    np.testing.assert_allclose(curve.predicted[filled], predicted, rtol=1e-12)
    assert np.isnan(curve.observed[~filled]).all()
    assert curve.counts.sum() == 80
    assert curve.scores.tolist() == [pytest.approx(brier_score_loss(truth, likely), rel=1e-12)]


def test_folds_are_binned_together_and_scored_apart():
    folds = [random_fold(30), random_fold(50)]
    (curve,) = ReliabilityDisplay.from_probabilities({"a": folds}).curves
    observed, _ = calibration_curve(*(np.concatenate(both) for both in zip(*folds, strict=True)), n_bins=10)
    np.testing.assert_allclose(curve.observed[curve.counts > 0], observed)
    scores = [brier_score_loss(*fold) for fold in folds]
    np.testing.assert_allclose(curve.scores, scores)
    assert curve.legend == f"a: Brier score {np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f} (n = 2)"


def test_brier_score_of_two_and_of_several_classes():
    truth, likely = random_fold(40)
    both = np.column_stack([1 - likely, likely])
    assert brier_score(truth, both, [False, True]) == pytest.approx(brier_score_loss(truth, likely), rel=1e-12)
    three = RNG.dirichlet([1, 1, 1], size=40)
    labels = np.array(["a", "b", "c"])[RNG.integers(3, size=40)]
    expected = brier_score_loss(labels, three, labels=["a", "b", "c"])
    assert brier_score(labels, three, ["a", "b", "c"]) == pytest.approx(expected, rel=1e-12)


def test_intervals_are_wilsons():
    truth, likely = random_fold(60)
    (curve,) = ReliabilityDisplay.from_probabilities({"a": [(truth, likely)]}, n_bins=5).curves
    for n, share, low, high in zip(curve.counts, curve.observed, *curve.interval, strict=True):
        expected = binomtest(round(n * share), n).proportion_ci(0.95, method="wilson")
        assert (low, high) == (pytest.approx(expected.low, abs=1e-4), pytest.approx(expected.high, abs=1e-4))


def test_what_is_drawn_is_what_was_computed():
    display = ReliabilityDisplay.from_probabilities({"rules": [random_fold(60)], "forest": [random_fold(60)]})
    figure = display.plot("Held out")
    upper, lower = figure.axes
    drawn = [line for line in upper.get_lines() if line.get_marker() != "None"]
    for line, curve in zip(drawn, display.curves, strict=True):
        filled = curve.counts > 0
        np.testing.assert_array_equal(line.get_xydata(), np.column_stack([curve.predicted, curve.observed])[filled])
    steps = [patch.get_data() for patch in lower.patches]
    assert [step.values.tolist() for step in steps] == [curve.counts.tolist() for curve in display.curves]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts == [curve.legend for curve in display.curves]
    assert figure.get_suptitle() == "Held out"
    assert "True" in lower.get_xlabel()


def test_what_cannot_be_drawn():
    truth, likely = random_fold(6)
    for given, facts in (
        ({}, "nothing to draw"),
        ({"a": [(truth, likely)]}, "n_bins"),
        ({"a": [([0, 1, 2], [0.1, 0.2, 0.3])]}, "0, 1, 2"),
    ):
        with pytest.raises(ParameterError, match=facts):
            ReliabilityDisplay.from_probabilities(given, n_bins=0 if facts == "n_bins" else 10)
    with pytest.raises(ParameterError, match="'maybe'"):
        ReliabilityDisplay.from_probabilities({"a": [(truth, likely)]}, pos_label="maybe")
    for pairs, facts in (
        ([], "no folds"),
        ([truth], "fold 1"),
        ([(truth, likely), (truth[:3], likely)], r"fold 2.*\(3,\) and \(6,\)"),
        ([(truth, 2 * likely + 1)], "0 to 1"),
        ([(truth, np.full(6, np.nan))], "0 to 1"),
    ):
        with pytest.raises(InputError, match=facts):
            ReliabilityDisplay.from_probabilities({"a": pairs})

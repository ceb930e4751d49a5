"""The figure of ROC curves: averages, bands and areas, looked up in the drawing itself."""

import numpy as np
import pytest
from drawn_rules import assert_nothing_is_cut_off
from sklearn.metrics import roc_auc_score

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import RocDisplay, true_positive_rates

EASY = ([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9])
MIXED = ([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])


def random_folds(shift, n_folds=5, n_bags=40, seed=0):
    rng = np.random.default_rng(seed)
    truth = np.arange(n_bags) % 2
    return [(truth, rng.normal(size=n_bags) + shift * truth) for _ in range(n_folds)]


def test_the_upper_end_of_a_vertical_step_counts():
    assert true_positive_rates([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.9], [0.0, 0.3, 1.0]).tolist() == [1.0, 1.0, 1.0]
    assert true_positive_rates(*MIXED, [0.0, 0.49, 0.5, 1.0]).tolist() == [0.5, 0.5, 1.0, 1.0]


def test_ties_are_a_slope():
    found = true_positive_rates([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], [0.0, 0.25, 1.0])
    np.testing.assert_allclose(found, [0.0, 0.25, 1.0])


def test_the_area_under_a_fold_is_the_area_under_its_curve():
    truth, scores = random_folds(1.0, n_folds=1, n_bags=300)[0]
    curve = RocDisplay.from_scores({"one": [(truth, scores)]})
    area = np.trapezoid(curve.curves[0].mean, curve.rates)
    assert area == pytest.approx(roc_auc_score(truth, scores), abs=2e-3)


def test_folds_are_averaged_vertically():
    display = RocDisplay.from_scores({"rules": [EASY, MIXED]})
    (curve,) = display.curves
    below = display.rates < 0.5
    np.testing.assert_allclose(curve.mean[below], 0.75)
    np.testing.assert_allclose(curve.mean[~below], 1.0)
    np.testing.assert_allclose(curve.deviation[below], np.std([1.0, 0.5], ddof=1))
    assert curve.areas.tolist() == [1.0, 0.75]
    assert curve.legend == "rules: AUC 0.875 ± 0.177 (n = 2)"


def test_a_single_fold_has_no_band():
    display = RocDisplay.from_scores({"once": [MIXED]})
    assert display.curves[0].deviation is None
    assert display.curves[0].legend == "once: AUC 0.750"
    figure = display.plot()
    (curve,) = (line for line in figure.axes[0].get_lines() if len(line.get_xdata()) > 2)
    assert curve.get_xydata()[:2].tolist() == [[0, 0], [0, 0.5]]  # what is detected without a false alarm
    assert not figure.axes[0].collections
    assert figure.legends[0].get_title().get_text() == ""


def test_what_is_drawn_is_what_was_computed():
    display = RocDisplay.from_scores({"a": random_folds(2.0), "b": random_folds(0.5, seed=1)})
    figure = display.plot("a title")
    (axis,) = figure.axes
    curves = [line for line in axis.get_lines() if len(line.get_xdata()) == len(display.rates) + 1]
    for line, curve in zip(curves, display.curves, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), [0, *curve.mean])
    assert curves[0].get_linestyle() != curves[1].get_linestyle()
    for band in axis.collections:
        corners = band.get_paths()[0].vertices
        assert 0 <= corners[:, 1].min() <= corners[:, 1].max() <= 1
    assert figure.get_suptitle() == "a title"
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[0].replace("\n", " ").startswith(display.curves[0].legend)
    assert figure.legends[0].get_title().get_text() == "bands: one standard deviation"
    assert not display.plot(bands=False).axes[0].collections


def test_the_positive_label_can_be_chosen():
    words = [(["mine", "clutter", "mine"], [0.9, 0.1, 0.8])]
    assert RocDisplay.from_scores({"a": words}).curves[0].areas.tolist() == [1.0]
    assert RocDisplay.from_scores({"a": words}, pos_label="clutter").curves[0].areas.tolist() == [0.0]


@pytest.mark.parametrize("n", [1, 7], ids=str)
@pytest.mark.parametrize("long", [False, True], ids=["short", "long"])
def test_nothing_is_cut_off(n, long):
    given = {f"$method {k} {'of a rather long name ' * 5 * long}": random_folds(1.0, seed=k) for k in range(n)}
    display = RocDisplay.from_scores(given, xlabel="false-alarm rate")
    figure = display.plot("of all of them")
    assert_nothing_is_cut_off(figure)
    assert figure.axes[0].get_xlabel() == "false-alarm rate"
    renderer = figure.canvas.get_renderer()
    legend = figure.legends[0].get_window_extent(renderer)
    assert legend.y1 <= figure.axes[0].get_tightbbox(renderer).y0 + 1  # pixels
    styles = {(line.get_color(), line.get_linestyle(), str(line._dash_pattern)) for line in figure.axes[0].get_lines()}
    assert len(styles) >= n


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "nothing to draw"),
        ({"a": []}, "'a' has no folds"),
        ({"a": [EASY, ([0, 1], [0.5])]}, r"'a', fold 2: .*shapes \(2,\) and \(1,\)"),
        ({"a": [([1, 1], [0.5, 0.1])]}, "'a', fold 1: all bags have the same label"),
        ({"a": [([0, 1], [0.5, np.nan])]}, "'a', fold 1: the score of bag 1 is not finite"),
        ({"a": [([0, 1], ["x", "y"])]}, "'a', fold 1: scores must be numbers"),
        ({"a": [EASY], "b": [([1, 2], [0.5, 0.1])]}, "two labels, got 0, 1, 2"),
        ({"a": [3]}, "expected a pair"),
    ],
    ids=["nothing", "no folds", "lengths", "one class", "nan", "words", "three classes", "no pair"],
)
def test_what_cannot_be_drawn(scores, message):
    with pytest.raises((InputError, ParameterError), match=message):
        RocDisplay.from_scores(scores)


def test_an_unknown_positive_label():
    with pytest.raises(ParameterError, match="pos_label must be one of the labels 0, 1, got 'yes'"):
        RocDisplay.from_scores({"a": [EASY]}, pos_label="yes")

"""Figures of the surface that rules make, and of training, looked up in the drawings."""

import numpy as np
import pytest
from drawn_rules import RULES, assert_nothing_is_cut_off, bags_of, many

from fuzzymil import RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import CurvesDisplay, SurfaceDisplay

# ---------------------------------------------------------------------- surface


def test_a_surface_is_what_the_rules_say_of_single_instances():
    rules = many(4, 3)
    data = bags_of(9, 3)
    display = SurfaceDisplay.from_rules(rules, "feature 2", 0, bags=data, n_points=5)
    held = np.median(data.instances[:, 1])
    assert display.held == {"feature 1": held}
    for (j, i), value in np.ndenumerate(display.z):
        bag = [[[display.y[j], held, display.x[i]]]]
        found = rules.infer(bag)
        assert value == pytest.approx(found.output[0, 0])
        assert display.strongest[j, i] == pytest.approx(found.strongest[0])
    figure = display.plot()
    assert figure.get_suptitle() == "y for bags with one instance"
    assert figure.axes[0].get_title() == f"feature 1 = {held:.3g} (1 other feature at the median)"
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == ("feature 2", "feature 0")
    assert figure.axes[1].get_ylabel() == "y"
    assert_nothing_is_cut_off(figure)


def test_where_other_features_stand():
    rules = many(3, 166, n_outputs=2)
    display = SurfaceDisplay.from_rules(rules, 0, 1, at={"feature 7": 1.5, 9: -1}, output="y2", n_points=3)
    assert display.held["feature 7"] == 1.5
    assert display.held["feature 9"] == -1
    assert display.held["feature 8"] == 0  # the middle of its range
    assert display.output == "y2"
    figure = display.plot("a title")
    assert figure.axes[0].get_title() == "2 other features at given values, 162 in the middle of the range"
    assert figure.get_suptitle() == "a title"
    assert_nothing_is_cut_off(figure)


def test_a_flat_surface():
    rules = RuleBase.from_arrays([[0.0, 0.0]], [[1.0, 1.0]], [3.0])
    display = SurfaceDisplay.from_rules(rules, 0, 1, n_points=5)
    np.testing.assert_allclose(display.z, 3.0)
    figure = display.plot()
    figure.canvas.draw()
    (hatched,) = figure.legends[0].get_texts()
    assert "below 0.05" in hatched.get_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"y": "width [$]"}, "x and y must be different features, got"),
        ({"y": "depht"}, "Unknown feature 'depht'.*Did you mean 'depth'"),
        ({"at": {"depth": 1}}, "at has a value for 'depth', which is an axis"),
        ({"output": 3}, "There is no output 3"),
        ({"n_points": 1}, "n_points must be at least 2"),
    ],
    ids=["twice", "unknown", "axis", "output", "points"],
)
def test_what_a_surface_refuses(settings, message):
    with pytest.raises(ParameterError, match=message):
        SurfaceDisplay.from_rules(RULES, **{"x": "width [$]", "y": "depth"} | settings)


def test_a_surface_needs_finite_values():
    with pytest.raises(ParameterError, match=r"feature 2.*finite number, got nan"):
        SurfaceDisplay.from_rules(many(2, 3), 0, 1, at={2: np.nan})


# ---------------------------------------------------------------------- curves


def test_the_history_of_a_model():
    display = CurvesDisplay.from_history({"loss": np.array([0.5, 0.2]), "rmse": np.array([0.7, 0.4])})
    assert list(display.curves) == ["training"]
    both = CurvesDisplay.from_history({"loss": [0.5, 0.2], "validation_loss": [0.6, 0.3]}).plot("a title")
    assert [line.get_ydata().tolist() for line in both.axes[0].get_lines()] == [[0.5, 0.2], [0.6, 0.3]]
    for nothing in ({}, {"loss": []}):
        with pytest.raises(InputError, match="There is no loss to draw"):
            CurvesDisplay.from_history(nothing)

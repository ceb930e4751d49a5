"""Rules and bags in the plane, looked up in the drawing itself."""

import re

import numpy as np
import pytest
from drawn_rules import BAGS, CENTERS, OPEN, RULES, assert_nothing_is_cut_off, bags_of, many
from matplotlib.colors import to_hex
from matplotlib.contour import ContourSet
from matplotlib.patches import Circle

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import HIGH, LOW, SpaceDisplay
from fuzzymil.plots._rules import leading_features
from paper.figures import add_concepts

# ---------------------------------------------------------------------- space


def test_rules_are_lines_one_width_around_their_centers():
    display = SpaceDisplay.from_model(RULES, BAGS, bag="c")
    assert display.axes == ("width [$]", "depth")
    assert {name: len(points) for name, points in display.groups.items()} == {
        "in a bag labeled no": 8, "in a bag labeled yes": 7,
    }  # fmt: skip
    np.testing.assert_array_equal(display.bag, BAGS[2])
    assert [rule.number for rule in display.rules] == [1, 2, 3]
    for rule, center, widths in zip(display.rules, CENTERS, RULES.widths, strict=True):
        across, up = (rule.x - center[0]) / widths[0], (rule.y - center[1]) / widths[1]
        np.testing.assert_allclose(rule.truth, np.exp(-(up[:, None] ** 2 + across**2) / 2), atol=1e-12)
    figure = display.plot("a title")
    lines = [drawn for drawn in figure.axes[0].collections if isinstance(drawn, ContourSet) and not drawn.filled]
    for drawn, (center, widths), output in zip(
        lines, zip(CENTERS, RULES.widths, strict=True), (0.0, 1.0, 0.9), strict=True
    ):
        points = np.concatenate([path.vertices for path in drawn.get_paths()])
        np.testing.assert_allclose(np.hypot(*((points - center) / widths).T), 1, atol=0.02)
        assert to_hex(drawn.get_edgecolor()[0]) == (HIGH if output else LOW).lower()
    assert figure.axes[0].get_xlabel() == r"width [\$]"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"bag c", "witness", "rule with conclusion > 0.633", "rule with conclusion ≤ 0.633"} <= set(labels)
    assert_nothing_is_cut_off(figure)


def test_the_witness_is_that_of_the_rule_that_contributes_most():
    near = Bags.from_list([[[0.1, 3.0], [0.98, 30.5], [0.2, 39.0]]], ["width [$]", "depth"])
    assert SpaceDisplay.from_model(RULES, near, position=0).witness == 1


def test_rules_about_one_feature_are_strips():
    bags = Bags.from_list([[[0.1, 0.2], [0.5, 1.9]]], ["hue", "texture"])
    display = SpaceDisplay.from_model(OPEN, bags)
    assert [rule.number for rule in display.rules] == [1, 2]
    strip = display.rules[0].truth
    np.testing.assert_array_equal(strip, np.tile(strip[0], (len(strip), 1)))
    assert re.search(r"not drawn .*: rule 3", display.note)
    display.plot().canvas.draw()


def test_of_more_features_two_are_chosen():
    rules, bags = many(4, 6), bags_of(20, 6)
    display = SpaceDisplay.from_model(rules, bags)
    assert display.axes == tuple(rules.variables[d].title for d in leading_features(rules))
    assert "with other conditions, too: rules 1, 2, 3" in display.note
    images = np.concatenate(list(display.groups.values()))
    assert len(images) == bags.n_instances
    assert_nothing_is_cut_off(display.plot())
    chosen = SpaceDisplay.from_model(rules, bags, features=("feature 5", 2))
    assert chosen.axes == ("feature 5", "feature 2")
    (first, *_) = chosen.rules
    across, up = (getattr(first, "xy"[n]) - rules.centers[0, d] for n, d in enumerate((5, 2)))
    expected = np.exp(-((up[:, None] / rules.widths[0, 2]) ** 2 + (across / rules.widths[0, 5]) ** 2) / 2)
    np.testing.assert_allclose(first.truth, expected, atol=1e-12)


def test_numbers_of_many_values_are_a_color_scale():
    labels = np.linspace(0, 1, 20)
    display = SpaceDisplay.from_model(many(3, 3), bags_of(20, 3), labels)
    np.testing.assert_array_equal(display.values, np.repeat(labels, 2))
    figure = display.plot()
    assert figure.axes[1].get_ylabel() == "label of the bag"
    assert_nothing_is_cut_off(figure)


def test_several_outputs_and_true_concepts():
    display = SpaceDisplay.from_model(many(4, 2, n_outputs=3), bags_of(10, 2))
    assert {rule.label for rule in display.rules} <= {f"rule for y{k}" for k in (1, 2, 3)}
    axis = add_concepts(display.plot(), [[0.0, 0.0]], 0.5).axes[0]
    (disc,) = [patch for patch in axis.patches if isinstance(patch, Circle)]
    assert disc.radius == 0.5
    assert axis.get_aspect() == 1


def test_bags_without_rules():
    display = SpaceDisplay.from_bags(BAGS, bag="e", order=["yes", "no"])
    assert list(display.groups) == ["in a bag labeled yes", "in a bag labeled no"]
    assert display.witness is None
    assert not display.plot().axes[0].patches


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": ["width"]}, "features must be two names or columns"),
        ({"features": ["width", "depth"]}, "Unknown feature 'width'"),
        ({"features": [0, 7]}, "no feature 7: expected 0 to 1"),
        ({"features": [1, 1]}, "different, got 'depth' twice"),
        ({"bag": "z"}, "bag 'z'"),
        ({"labels": [1, 2]}, "got 5 bags and labels of shape"),
        ({"order": ["yes"]}, "order must .* no, yes, got yes"),
    ],
    ids=["one", "unknown", "column", "twice", "bag", "labels", "order"],
)
def test_what_a_space_refuses(settings, message):
    with pytest.raises((InputError, ParameterError), match=message):
        SpaceDisplay.from_model(RULES, BAGS, **settings)


def test_what_cannot_be_a_plane():
    with pytest.raises(InputError, match="A plane needs two features"):
        SpaceDisplay.from_bags([[[1.0]], [[2.0]]])
    hidden = SpaceDisplay.from_bags([[[1.0, np.nan, 2.0], [1.0, 2.0, np.nan]]], features=(0, 1))
    assert len(hidden.groups["instance"]) == 1
    assert "1 of 2 instances not shown" in hidden.note
    with pytest.raises(InputError, match="7 different labels, but only 6"):
        SpaceDisplay.from_bags(bags_of(7, 2), list("abcdefg"))


# ---------------------------------------------------------------------- curves


def test_rules_about_two_features_are_drawn_over_these():
    rng = np.random.RandomState(0)
    names = ["a", "b", "c", "d"]
    bags = Bags.from_list([rng.normal(size=(3, 4)) for _ in range(6)], names)
    terms = "".join(f"VARIABLE {name}: low = Gaussian(0, 1)\n" for name in names)
    two = RuleBase.parse(f"{terms}IF d is low AND b is low THEN y = 1\nIF anything THEN y = 0")
    display = SpaceDisplay.from_model(two, bags)
    assert display.axes == ("b", "d")
    assert re.search(r"not drawn .*: rule 2", display.note)
    three = RuleBase.parse(f"{terms}IF d is low AND b is low AND a is low THEN y = 1\nIF anything THEN y = 0")
    assert "with other conditions, too: rule 1" in SpaceDisplay.from_model(three, bags).note

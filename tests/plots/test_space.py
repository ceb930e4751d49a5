"""Rules and bags in the plane, looked up in the drawing itself."""

import re

import numpy as np
import pytest
from drawn_rules import BAGS, CENTERS, OPEN, RULES, assert_nothing_is_cut_off, bags_of, many
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Ellipse

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.plots import HIGH, LOW, SpaceDisplay
from fuzzymil.plots._space import chosen_features, principal_components, project, project_ellipsoids

# ---------------------------------------------------------------------- space


def test_a_shadow_holds_the_whole_ellipsoid():
    rng = np.random.default_rng(0)
    data = rng.normal(size=(50, 5)) * [1, 10, 0.1, 3, 5]
    projection, shares = principal_components(data)
    center, widths = rng.normal(size=(1, 5)), rng.uniform(0.1, 3, size=(1, 5))
    directions = rng.normal(size=(4000, 5))
    surface = center + widths * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    ((place,), (matrix,)) = project_ellipsoids(projection, center, widths)
    away = project(projection, surface) - place
    reach = np.einsum("ni,ij,nj->n", away, np.linalg.inv(matrix), away)
    assert reach.max() <= 1 + 1e-9
    assert reach.max() > 0.98  # and no larger than need be
    assert 1 >= shares[0] >= shares[1] > 0


def test_principal_components_are_those_of_standardized_features():
    rng = np.random.default_rng(1)
    data = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) * [1, 100, 1e-3, 1] + 7
    projection, shares = principal_components(np.column_stack([data, np.full(200, 3.0)]))
    standard = (data - data.mean(axis=0)) / data.std(axis=0)
    images = project(projection, np.column_stack([data, np.full(200, 3.0)]))
    np.testing.assert_allclose(images.var(axis=0), 4 * shares, rtol=1e-9)
    singular = np.linalg.svd(standard, compute_uv=False) ** 2
    np.testing.assert_allclose(shares, singular[:2] / singular.sum(), rtol=1e-9)
    np.testing.assert_allclose(projection.directions[:, 4], 0, atol=1e-12)
    shuffled, _ = principal_components(np.column_stack([data, np.full(200, 3.0)])[rng.permutation(200)])
    np.testing.assert_allclose(shuffled.directions, projection.directions, atol=1e-9)


def test_missing_values_elsewhere_do_not_matter():
    points = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, 4.0]])
    np.testing.assert_array_equal(project(chosen_features(3, 0, 2), points), [[1.0, 3.0], [np.nan, np.nan]])


def test_rules_are_ellipses_around_their_centers():
    display = SpaceDisplay.from_model(RULES, BAGS, bag="c")
    assert display.axes == ("width [$]", "depth")
    assert {name: len(points) for name, points in display.groups.items()} == {
        "in a bag labeled no": 8, "in a bag labeled yes": 7,
    }  # fmt: skip
    np.testing.assert_array_equal(display.bag, BAGS[2])
    figure = display.plot("a title")
    found = {tuple(patch.center): patch for patch in figure.axes[0].patches if isinstance(patch, Ellipse)}
    assert set(found) == {tuple(center) for center in CENTERS}
    for patch, output in zip((found[tuple(center)] for center in CENTERS), (0.0, 1.0, 0.9), strict=True):
        assert sorted((patch.width, patch.height)) == pytest.approx([0.4, 10.0])
        assert abs(patch.angle) == pytest.approx(90)  # the long axis goes up
        assert to_hex(patch.get_edgecolor()) == (HIGH if output else LOW).lower()
    assert figure.axes[0].get_xlabel() == r"width [\$]"
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert {"bag c", "witness", "rule with conclusion > 0.633", "rule with conclusion ≤ 0.633"} <= set(labels)
    assert_nothing_is_cut_off(figure)


def test_the_witness_is_that_of_the_rule_that_contributes_most():
    near = Bags.from_list([[[0.1, 3.0], [0.98, 30.5], [0.2, 39.0]]], ["width [$]", "depth"])
    assert SpaceDisplay.from_model(RULES, near, bag=0).witness == 1


def test_open_rules_are_strips():
    bags = Bags.from_list([[[0.1, 0.2], [0.5, 1.9]]], ["hue", "texture"])
    display = SpaceDisplay.from_model(OPEN, bags)
    figure = display.plot()
    axis = figure.axes[0]
    assert [line.get_xdata()[0] for line in axis.get_lines()] == pytest.approx([0.5, 0.7])
    assert len([patch for patch in axis.patches if isinstance(patch, Ellipse)]) == 1
    assert re.search(r"not drawn .*: rule 3", display.note)
    assert "only the first condition on each feature" in display.note


def test_more_features_are_projected():
    rules, bags = many(4, 6), bags_of(20, 6)
    display = SpaceDisplay.from_model(rules, bags)
    projection, shares = principal_components(bags.instances)
    assert display.axes[0] == f"principal component 1 ({100 * shares[0]:.0f}% of the variance)"
    centers, matrices = project_ellipsoids(projection, rules.centers, rules.widths)
    for rule, center, matrix in zip(display.rules, centers, matrices, strict=True):
        np.testing.assert_allclose(rule.center, center)
        np.testing.assert_allclose(rule.matrix, matrix)
    truth = rules.infer(bags).truth
    images = np.concatenate(list(display.groups.values()))
    assert len(images) == len(truth)
    assert_nothing_is_cut_off(display.plot())
    chosen = SpaceDisplay.from_model(rules, bags, features=("feature 5", 2))
    assert chosen.axes == ("feature 5", "feature 2")
    np.testing.assert_allclose(chosen.rules[0].center, rules.centers[0, [5, 2]])


def test_numbers_of_many_values_are_a_color_scale():
    labels = np.linspace(0, 1, 20)
    display = SpaceDisplay.from_model(many(3, 3), bags_of(20, 3), labels)
    np.testing.assert_array_equal(display.values, np.repeat(labels, 2))
    figure = display.plot()
    assert figure.axes[1].get_ylabel() == "label of the bag"
    assert_nothing_is_cut_off(figure)


def test_several_outputs_and_true_concepts():
    display = SpaceDisplay.from_model(many(4, 2, n_outputs=3), bags_of(10, 2)).with_concepts([[0.0, 0.0]], 0.5)
    assert {rule.label for rule in display.rules} <= {f"rule for y{k}" for k in (1, 2, 3)}
    axis = display.plot().axes[0]
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
    with pytest.raises(InputError, match=r"is missing.*Choose two features"):
        SpaceDisplay.from_bags([[[1.0, np.nan, 2.0]]])
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
    projected = SpaceDisplay.from_model(three, bags)
    assert "principal" in projected.axes[0]
    assert "rule 2" in projected.note
    assert "features without a condition: mean" in projected.note

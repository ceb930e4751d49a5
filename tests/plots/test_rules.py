"""Figures of rules on bags (grid, space, firing, surface): what they show, looked up in the drawing itself."""

import dataclasses
import re

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, Ellipse

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.membership import Gaussian, Triangular
from fuzzymil.plots import HIGH, LOW, CurvesDisplay, FiringDisplay, RuleGridDisplay, SpaceDisplay, SurfaceDisplay
from fuzzymil.plots._projection import chosen_features, principal_components, project, project_ellipsoids
from fuzzymil.plots._rules import border, conclusions, influences, restrictions, rules_of
from fuzzymil.rules import Rule, Variable

matplotlib.use("Agg")

RNG = np.random.default_rng(5)
CENTERS = np.array([[0.0, 10.0], [1.0, 30.0], [0.5, 20.0]])
RULES = RuleBase.from_arrays(
    CENTERS,
    [[0.2, 5.0]] * 3,
    [0.0, 1.0, 0.9],
    feature_names=["width [$]", "depth"],
    ranges=[[0, 1], [0, 40]],
)
BAGS = Bags.from_list(
    [RNG.uniform([0, 0], [1, 40], size=(n, 2)) for n in (3, 1, 4, 2, 5)],
    ["width [$]", "depth"],
    labels=["yes", "no", "yes", "no", "no"],
    ids=["a", "b", "c", "d", "e"],
)
OPEN = RuleBase.parse("""
    VARIABLE hue FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
    VARIABLE texture FROM 0 TO 2: smooth = Triangular(0, 0, 1), rough = Trapezoidal(0.5, 1, 2, 2)
    IF hue is blue THEN sky = 1
    IF hue is very red OR hue is blue AND texture is not rough THEN sky = -0.3 WITH 0.5
    IF anything THEN sky = 0
""")


def many(n_rules, n_features, n_outputs=1, name="feature {}"):
    """Rules of random sets over many features."""
    rng = np.random.default_rng(n_rules)
    return RuleBase.from_arrays(
        rng.normal(size=(n_rules, n_features)),
        rng.uniform(0.5, 3, size=(n_rules, n_features)),
        rng.normal(size=(n_rules, n_outputs, 1)),
        feature_names=[name.format(d) for d in range(n_features)],
        ranges=np.tile([-3.0, 3.0], (n_features, 1)),
    )


def bags_of(n_bags, n_features):
    rng = np.random.default_rng(n_bags)
    return Bags.from_list([rng.normal(size=(2, n_features)) for _ in range(n_bags)], labels=np.arange(n_bags) % 2)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def assert_nothing_is_cut_off(figure):
    figure.canvas.draw()
    drawn = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -0.02
    assert drawn.x1 < width + 0.02
    assert drawn.y1 < height + 0.02


def texts(axis):
    return [text.get_text() for text in axis.texts]


# ---------------------------------------------------------------------- what rules restrict and conclude


@pytest.mark.slow
def test_a_set_restricts_by_what_it_leaves_out():
    x = Variable("x", {"low": Triangular(0, 0, 1), "all": Gaussian(0, 1e6)}, 0, 1)
    rules = RuleBase((x, Variable("y")), (Rule({"x": "low"}, [[1.0]]), Rule({"x": "all"}, [[0.0]])))
    np.testing.assert_allclose(restrictions(rules), [[0.5, 0.0], [0.0, 0.0]], atol=1e-9)
    data = Bags.from_list([[[0.0, 1.0], [0.25, 1.0]], [[np.nan, 1.0]]])
    np.testing.assert_allclose(restrictions(rules, data)[0], [1 - (1 + 0.75) / 2, 0.0])
    missing = Bags.from_list([[[np.nan, 1.0]]])
    assert restrictions(rules, missing).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_the_most_restricting_of_several_conditions_counts():
    found = restrictions(OPEN)
    very_red = 1 - np.mean(Gaussian(0.1, 0.1)(np.linspace(0, 1, 201)) ** 2)
    assert found[1, 0] == pytest.approx(very_red)
    assert found[2].tolist() == [0.0, 0.0]


def test_influence_is_the_distance_from_the_mean_conclusion():
    np.testing.assert_allclose(influences(OPEN), [(1 - 0.7 / 3) / 1.3, 0.5 * (0.3 + 0.7 / 3) / 1.3, 0.7 / 3 / 1.3])
    same = RuleBase.from_arrays(CENTERS, [[0.2, 5.0]] * 3, [1.0, 1.0, 1.0])
    assert influences(same).tolist() == [1.0, 1.0, 1.0]


def test_linear_conclusions_are_taken_at_the_center():
    x, y = Variable("x", {"low": Gaussian(2, 1)}, 0, 5), Variable("y", {}, 0, 10)
    rules = RuleBase((x, y), (Rule({"x": "low"}, [[1.0, 10.0, 100.0]]),))
    assert conclusions(rules).tolist() == [[1 + 20 + 500]]


def test_the_rules_of_a_model():
    assert rules_of(type("Model", (), {"rules_": RULES})()) is RULES
    with pytest.raises(ParameterError, match=r"RuleBase or a fitted model .*got"):
        rules_of("model.json")


def test_high_is_above_the_mean_or_where_a_classifier_parts_its_classes():
    assert border(RULES, np.array([0.0, 0.5, 2.5])) == 1.0
    judge = MISugeno(rules=RULES, threshold=0.95).fit(BAGS)
    assert border(judge, np.array([0.0, 0.5, 2.5])) == 0.95
    assert RuleGridDisplay.from_rules(judge).high.tolist() == [False, True, False]
    assert "conclusion > 0.95" in RuleGridDisplay.from_rules(judge).note
    assert [rule.kind for rule in SpaceDisplay.from_model(judge, BAGS).rules] == [0, 1, 0]
    assert [rule.kind for rule in SpaceDisplay.from_model(RULES, BAGS, threshold=-1).rules] == [1, 1, 1]


# ---------------------------------------------------------------------- grid


def test_a_grid_shows_every_set_and_conclusion():
    start = RuleBase.from_arrays(CENTERS + 0.1, [[0.3, 4.0]] * 3, [0.5, 0.5, 0.5], feature_names=["width [$]", "depth"])
    display = RuleGridDisplay.from_rules(RULES, start, bags=BAGS)
    assert display.features == ["width [$]", "depth"]
    assert display.rows == ["Rule 1", "Rule 2", "Rule 3"]
    for r, row in enumerate(display.cells):
        for d, cell in enumerate(row):
            x = display.points[d]
            np.testing.assert_allclose(cell.after, [Gaussian(CENTERS[r, d], RULES.widths[r, d])(x)], atol=1e-12)
            np.testing.assert_allclose(cell.before, [Gaussian(CENTERS[r, d] + 0.1, start.widths[r, d])(x)], atol=1e-12)
            mean = Gaussian(CENTERS[r, d], RULES.widths[r, d])(BAGS.instances[:, d]).mean()
            assert cell.restriction == pytest.approx(1 - mean)
    assert display.conclusions.tolist() == [[0.0], [1.0], [0.9]]
    assert display.high.tolist() == [False, True, True]
    assert [count.sum() for count in display.counts] == [15, 15]
    figure = display.plot("a title")
    assert_nothing_is_cut_off(figure)
    grid, right = figure.axes
    assert [text.get_text() for text in grid.get_yticklabels()] == display.rows
    assert [text.get_text() for text in grid.get_xticklabels()] == [r"width [\$]", "depth"]
    assert texts(right) == ["0.00", "1.00", "0.90"]
    bars = [(patch.get_width() > 0, to_hex(patch.get_facecolor())) for patch in right.patches]
    assert bars == [(False, LOW.lower()), (True, HIGH.lower()), (True, HIGH.lower())]
    assert "dashed: before training" in figure.get_supxlabel()


def test_of_many_features_the_most_relevant_come_first():
    ranges = np.tile([0.0, 1.0], (4, 1))
    widths = np.array([[9.0, 0.05, 9.0, 0.2], [0.01, 9.0, 9.0, 9.0], [9.0, 0.05, 9.0, 0.2]])
    # The second rule concludes the mean: that it restricts the first feature most does not count.
    rules = RuleBase.from_arrays(np.full((3, 4), 0.5), widths, [0.0, 0.5, 1.0], ranges=ranges)
    display = RuleGridDisplay.from_rules(rules, max_features=2)
    assert display.features == ["x2", "x4"]
    expected = -np.sort(-restrictions(rules)[:, [0, 2]], axis=1)
    np.testing.assert_array_equal(display.folded, expected)
    assert expected[1, 0] > 0.9
    assert RuleGridDisplay.from_rules(rules).features == ["x1", "x2", "x3", "x4"]
    assert RuleGridDisplay.from_rules(rules).folded.size == 0


def test_of_many_rules_those_that_move_the_answer_are_shown():
    rules = RuleBase.from_arrays(np.arange(5.0)[:, None], np.ones((5, 1)), [0.0, 0.5, 1.0, 0.4, 0.6])
    display = RuleGridDisplay.from_rules(rules, max_rules=2)
    assert display.rows == ["Rule 1", "Rule 3"]
    assert "3 rules with less influence are not shown" in display.note


def test_premises_of_all_kinds_are_shown_condition_by_condition():
    display = RuleGridDisplay.from_rules(OPEN)
    assert display.rows == ["Rule 1", "Rule 2* (x 0.5)", "Rule 3"]
    assert [[0 if cell is None else len(cell.after) for cell in row] for row in display.cells] == [
        [1, 0],
        [2, 1],
        [0, 0],
    ]
    x = display.points[0]
    np.testing.assert_allclose(display.cells[1][0].after[0], Gaussian(0.1, 0.1)(x) ** 2)
    figure = display.plot()
    assert texts(figure.axes[0]).count("any") == 3
    assert_nothing_is_cut_off(figure)


def test_outputs_of_a_grid():
    rules = many(3, 2, n_outputs=8)
    display = RuleGridDisplay.from_rules(rules)
    assert display.outputs == ["y1", "y2", "y3", "y4", "y5", "y6"]
    assert "6 of 8 outputs" in display.note
    assert not display.high.any()
    chosen = RuleGridDisplay.from_rules(rules, outputs=["y8", 0])
    np.testing.assert_array_equal(chosen.conclusions, rules.coefs[:, [7, 0], 0])
    assert_nothing_is_cut_off(display.plot())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_rules", "n_features", "name"),
    [(2, 1, "x{}"), (30, 2, "x{}"), (3, 25, "a rather long name of feature number {}"), (2, 166, "f{}")],
    ids=["smallest", "30 rules", "long names", "166 features"],
)
def test_no_grid_is_cut_off(n_rules, n_features, name):
    display = RuleGridDisplay.from_rules(many(n_rules, n_features, name=name), max_rules=30)
    assert display.folded.shape[1] == max(n_features - 12, 0)
    figure = display.plot("of some size")
    assert_nothing_is_cut_off(figure)
    if n_features > 12:
        assert figure.axes[0].get_xticklabels()[-1].get_text() == f"+{n_features - 12} more"


def test_what_a_grid_refuses():
    with pytest.raises(ParameterError, match="max_features must be at least 1, got 0"):
        RuleGridDisplay.from_rules(RULES, max_features=0)
    with pytest.raises(ParameterError, match=r"initial .*expected 2, got 3"):
        RuleGridDisplay.from_rules(dataclasses.replace(RULES, rules=RULES.rules[:2]), RULES)
    with pytest.raises(ParameterError, match="initial must be a rule base with the same variables"):
        RuleGridDisplay.from_rules(RULES, OPEN)
    with pytest.raises(ParameterError, match=r"Unknown output 'z'.*y"):
        RuleGridDisplay.from_rules(RULES, outputs=["z"])


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


# ---------------------------------------------------------------------- firing


def test_bags_are_ordered_by_label_and_score_and_rules_by_conclusion():
    display = FiringDisplay.from_rules(RULES, BAGS)
    found = RULES.infer(BAGS)
    assert display.groups == [("no", 3), ("yes", 2)]
    order = [int(np.flatnonzero(BAGS.ids == name)[0]) for name in display.bags]
    assert [BAGS.labels[b] for b in order] == ["no"] * 3 + ["yes"] * 2
    np.testing.assert_array_equal(display.scores, found.output[order, 0])
    assert (np.diff(display.scores[:3]) >= 0).all()
    assert (np.diff(display.scores[3:]) >= 0).all()
    assert display.rules == ["Rule 1: 0", "Rule 3: 0.9", "Rule 2: 1"]
    np.testing.assert_array_equal(display.strengths, found.normalized[np.ix_(order, [0, 2, 1])])
    figure = display.plot("a title")
    heat, right = figure.axes[:2]
    (mesh,) = [child for child in heat.get_children() if isinstance(child, QuadMesh)]
    np.testing.assert_array_equal(np.asarray(mesh.get_array()), display.strengths)
    assert [text.get_text() for text in heat.get_yticklabels()] == display.bags
    assert texts(right) == ["label no", "label yes"]
    assert_nothing_is_cut_off(figure)


@pytest.mark.parametrize(("n_bags", "n_rules"), [(1, 2), (45, 30), (500, 2), (500, 30)], ids=str)
def test_heatmaps_of_any_size(n_bags, n_rules):
    strengths = np.random.default_rng(0).dirichlet(np.ones(n_rules), size=n_bags)
    bags = [f"a bag of a rather long name, number {b}" for b in range(n_bags)]
    rules = [f"Rule {r + 1}: -0.0012" for r in range(n_rules)]
    groups = [("$no", n_bags // 2), ("yes", n_bags - n_bags // 2)]
    figure = FiringDisplay(strengths, np.linspace(-1, 1, n_bags), bags, rules, groups, "a decision").plot("a title")
    assert_nothing_is_cut_off(figure)
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert len(names) == (n_bags if n_bags <= 45 else 2)
    assert names[-1].startswith("a bag of a rather" if n_bags <= 45 else "label yes\n250 bags")


def test_numbers_as_labels_and_no_labels_give_one_group():
    bags = bags_of(50, 2)
    display = FiringDisplay.from_rules(many(3, 2, n_outputs=2), bags, np.linspace(0, 1, 50), output="y2")
    assert display.groups == []
    assert (np.diff(display.scores) >= 0).all()
    assert display.output == "y2"
    assert display.plot().axes[0].get_ylabel() == "50 bags, by score"
    with pytest.raises(InputError, match="50 bags and labels of shape"):
        FiringDisplay.from_rules(many(3, 2), bags, [1, 2])


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
    assert [line.label for line in display.panels[""]] == ["training"]
    both = CurvesDisplay.from_history({"loss": [0.5, 0.2], "validation_loss": [0.6, 0.3]}).plot("a title")
    assert [line.get_ydata().tolist() for line in both.axes[0].get_lines()] == [[0.5, 0.2], [0.6, 0.3]]
    for nothing in ({}, {"loss": []}):
        with pytest.raises(InputError, match="There is no loss to draw"):
            CurvesDisplay.from_history(nothing)


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

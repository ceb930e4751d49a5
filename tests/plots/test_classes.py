"""A class has one color everywhere, and categories have names on every axis."""

import re
from importlib import resources

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil._utils.colors import FAINT, HIGH, LOW, SEVERAL, WITNESS, WRONG, class_color, class_mark
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.plots import (
    DifferenceDisplay,
    EffectDisplay,
    MembershipDisplay,
    ReliabilityDisplay,
    RocDisplay,
    ShapesDisplay,
    SpaceDisplay,
    SurfaceDisplay,
)
from fuzzymil.report import Report

NAMES = ("email", "phone", "support")
COLUMNS = Columns([Column("pages"), Column("channel", "category", NAMES), Column("visit", "date")])
TEXT = """
    VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
    VARIABLE channel: ONE OF email, phone, support
    VARIABLE visit [days since 1970-01-01] FROM 20000 TO 20300: late = Sigmoid(20200, 0.1)
    Default: yes = -2
    IF SOME (pages is high AND channel is support) THEN yes += 3
    IF SOME visit is late THEN yes -= 1
"""


def some_bags(labels):
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.uniform(0, 20, 72), rng.integers(0, 3, 72), rng.uniform(20000, 20300, 72)])
    return Bags(values, np.arange(0, 73, 3), columns=COLUMNS, labels=np.array(labels)[np.arange(24) % len(labels)])


BAGS = some_bags(["no", "yes"])
MODEL = MISugeno(rules=TEXT, threshold=0.0).fit(BAGS)
THREE = some_bags(["cat", "dog", "fox"])
SEVERAL_RULES = RuleBase.from_arrays(
    [[3.0, 20050.0], [10.0, 20150.0], [17.0, 20250.0]],
    np.tile([4.0, 60.0], (3, 1)),
    np.eye(3)[:, :, None],
    feature_names=["pages", "visit"],
    output_names=["cat", "dog", "fox"],
)
SEVERAL_MODEL = MISugeno(rules=SEVERAL_RULES).fit(THREE)


def colors_of(figure):
    """Colors of all lines, points and bars of a figure."""
    found = set()
    for axis in figure.axes:
        found |= {to_hex(line.get_color()) for line in axis.lines}
        found |= {to_hex(color) for points in axis.collections for color in points.get_facecolor()}
        found |= {to_hex(patch.get_facecolor()) for patch in axis.patches}
    plt.close(figure)
    return found


def named(*colors):
    return {color.lower() for color in colors}


def test_colors_mean_one_thing():
    everything = [LOW, HIGH, FAINT, WITNESS, WRONG, *SEVERAL]
    assert len(set(everything)) == len(everything)
    assert [class_color(n, 3) for n in range(11)] == [*SEVERAL, SEVERAL[0]]
    assert [class_mark(n, 2) for n in range(2)] == ["k0", "k1"]


# What dichromats see, in linear RGB (Machado, Oliveira and Fernandes, 2009).
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def distances(colors, others, vision):
    """CIELAB distances; about 2 can just be told apart side by side, 20 at a glance."""
    found = []
    for given in (colors, others):
        rgb = np.array([to_rgb(color) for color in given])
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        xyz = np.clip(linear @ np.transpose(VISION[vision]), 0, 1) @ TO_XYZ.T / TO_XYZ.sum(axis=1)
        x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116).T
        found.append(np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)]))
    return np.linalg.norm(found[0][:, None] - found[1][None], axis=-1)


@pytest.mark.parametrize("vision", VISION)
def test_ten_classes_can_be_told_apart_by_their_colors(vision):
    apart = distances(SEVERAL, SEVERAL, vision)[~np.eye(len(SEVERAL), dtype=bool)]
    assert len(SEVERAL) == 10
    assert apart.min() > (30 if vision == "normal" else 20)
    first = distances(SEVERAL[:3], SEVERAL[:3], vision)[~np.eye(3, dtype=bool)]
    assert first.min() > 35
    if vision == "normal":
        assert distances(SEVERAL, [LOW, HIGH, FAINT, WITNESS, WRONG], vision).min() > 17


def test_two_classes_have_the_colors_of_directions():
    truth, scores = BAGS.labels, MODEL.decision_function(BAGS)
    likely = MODEL.predict_proba(BAGS)
    assert to_hex(RocDisplay.from_classes([(truth, scores)], ["no", "yes"]).curves[0].color) == HIGH.lower()
    assert ReliabilityDisplay.from_classes([(truth, likely)], ["no", "yes"], pos_label="no").curves[0].color == LOW
    assert SpaceDisplay.from_model(MODEL, BAGS, features=["pages", "visit"]).colors == (LOW, HIGH)
    assert named(HIGH) <= colors_of(EffectDisplay.from_model(MODEL, BAGS, ["pages"]).plot())
    assert named(LOW, HIGH) <= colors_of(MembershipDisplay.from_rules(MODEL).plot())
    assert named(LOW, HIGH) <= colors_of(ShapesDisplay.from_rules(MODEL).plot())


def test_the_class_that_rules_speak_for_is_the_high_one_even_if_it_sorts_first():
    turned = MISugeno(rules=TEXT.replace("yes", "no"), threshold=0.0).fit(BAGS)
    assert turned.pos_label_ == "no"
    assert SpaceDisplay.from_model(turned, BAGS, features=["pages", "visit"]).colors == (HIGH, LOW)  # no, yes
    effect = EffectDisplay.from_model(turned, BAGS, ["pages"])
    assert (effect.effects[0].curves[0].name, effect.effects[0].curves[0].place) == ("no", 1)
    assert re.search(r'<span class="k1"><span class="dot"></span>no', turned._repr_html_())


def test_several_classes_have_the_same_colors_everywhere():
    expected = named(*SEVERAL[:3])
    roc = RocDisplay.from_classes([(THREE.labels, SEVERAL_MODEL.decision_function(THREE))], SEVERAL_MODEL.classes_)
    assert named(*(curve.color for curve in roc.curves[:3])) == expected
    assert SpaceDisplay.from_model(SEVERAL_MODEL, THREE).colors == SEVERAL[:3]
    for display in (EffectDisplay.from_model(SEVERAL_MODEL, THREE), MembershipDisplay.from_rules(SEVERAL_MODEL)):
        assert expected <= colors_of(display.plot())
    for place, name in enumerate(("cat", "dog", "fox")):
        assert f'<span class="m{place}"><span class="dot"></span>{name}' in SEVERAL_MODEL._repr_html_()


@pytest.mark.slow
def test_reports_have_the_same_colors():
    page = Report.of(SEVERAL_MODEL, THREE, n_folds=2).to_html()
    for place, name in enumerate(("cat", "dog", "fox")):
        assert f'<i class="dot m{place}"></i>{name}</th>' in page
        assert f".m{place} {{ --own: {SEVERAL[place]}; }}" in page
    turned = MISugeno(rules=TEXT.replace("yes", "no"), threshold=0.0).fit(BAGS)
    page = Report.of(turned, BAGS, n_folds=2).to_html()
    assert '<i class="dot k1"></i>no</th>' in page
    assert '<i class="dot k0"></i>yes</th>' in page


def test_style_sheets_have_no_other_colors_for_directions():
    sheet = (resources.files("fuzzymil.report") / "templates" / "report.css").read_text(encoding="utf-8")
    known = dict(re.findall(r"--(high|low|alert): (#\w+)", sheet))
    assert known == {"high": HIGH, "low": LOW, "alert": WRONG}


def test_curves_of_several_classes_and_their_mean():
    truth = THREE.labels
    scores = SEVERAL_MODEL.decision_function(THREE)
    display = RocDisplay.from_classes([(truth, scores)], SEVERAL_MODEL.classes_)
    *each, mean = display.curves
    for k, name in enumerate(SEVERAL_MODEL.classes_):
        (alone,) = RocDisplay.from_scores({"": [(truth == name, scores[:, k])]}).curves
        np.testing.assert_allclose(each[k].detected, alone.detected)
    np.testing.assert_allclose(mean.areas, np.mean([curve.areas for curve in each], axis=0))
    (only,) = RocDisplay.from_classes([(truth, scores)], SEVERAL_MODEL.classes_, pos_label="dog").curves
    np.testing.assert_allclose(only.detected, each[1].detected)
    with pytest.raises(ParameterError, match="'cow'"):
        RocDisplay.from_classes([(truth, scores)], SEVERAL_MODEL.classes_, pos_label="cow")
    with pytest.raises(InputError, match="3 classes"):
        RocDisplay.from_classes([(truth, scores[:, 0])], SEVERAL_MODEL.classes_)
    likely = SEVERAL_MODEL.predict_proba(THREE)
    reliable = ReliabilityDisplay.from_classes([(truth, likely)], SEVERAL_MODEL.classes_)
    assert [curve.label for curve in reliable.curves] == ["cat", "dog", "fox"]
    with pytest.raises(ParameterError, match="'cow'"):
        ReliabilityDisplay.from_classes([(truth, likely)], SEVERAL_MODEL.classes_, pos_label="cow")
    plt.close(display.plot())
    plt.close(reliable.plot())


def written(figure):
    """Return everything that is written in a figure."""
    figure.canvas.draw()
    found = " ".join(text.get_text() for axis in figure.axes for text in axis.findobj(plt.Text))
    plt.close(figure)
    return found


@pytest.mark.parametrize(
    "display",
    [
        MembershipDisplay.from_rules(MODEL),
        ShapesDisplay.from_rules(MODEL, bags=BAGS),
        SpaceDisplay.from_model(MODEL, BAGS, features=["channel", "pages"], position=0),
        SpaceDisplay.from_bags(BAGS, features=["pages", "channel"]),
        SurfaceDisplay.from_rules(MODEL, "channel", "pages", bags=BAGS),
        EffectDisplay.from_model(MODEL, BAGS, ["channel"]),
    ],
    ids=lambda display: type(display).__name__,
)
def test_categories_have_names_on_axes(display):
    said = written(display.plot())
    assert "email" in said
    assert "support" in said


def test_dates_are_written_as_dates():
    assert re.search(r"202\d-\d\d-\d\d", written(MembershipDisplay.from_rules(MODEL).plot()))


def test_other_features_of_a_surface_are_categories_not_codes():
    display = SurfaceDisplay.from_rules(MODEL, "pages", "visit", bags=BAGS)
    figure = display.plot()
    assert re.search("channel = (email|phone|support)", figure.axes[0].get_title())
    plt.close(figure)


def test_a_moved_set_next_to_categories():
    other = MODEL.rules_.edit(sets={"pages.high": {"center": 12}})
    plt.close(DifferenceDisplay.from_rules(MODEL, other).plot())


def test_instances_of_a_category_lie_apart_and_rings_around_them():
    display = SpaceDisplay.from_model(MODEL, BAGS, features=["channel", "pages"], position=3)
    points = np.concatenate(list(display.groups.values()))
    assert np.abs(points[:, 0] - points[:, 0].round()).max() <= 0.3
    assert len(np.unique(points[:, 0])) > 50
    for place in display.bag:
        assert np.hypot(*(points - place).T).min() < 1e-9


def test_a_category_that_matters_is_among_the_features_shown():
    names = "abcdef"
    text = "VARIABLE channel: ONE OF email, phone\n"
    text += "".join(f"VARIABLE {name} FROM 0 TO 1: high = Sigmoid(0.5, 20)\n" for name in names)
    text += "IF SOME channel is phone THEN yes += 5\n"
    text += "".join(f"IF SOME {name} is high THEN yes += 0.1\n" for name in names)
    display = MembershipDisplay.from_rules(RuleBase.parse(text))
    assert display.features[0] == "channel"
    assert len(display.features) == 6
    assert "1 feature" in display.note


AGAINST = """
    VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1), far = Sigmoid(19.9, 9)
    VARIABLE visit [days since 1970-01-01] FROM 20000 TO 20300: late = Sigmoid(20200, 0.1)
    Default: cat = 0, "a dog with a name" = 0, fox = 0
    IF SOME pages is high THEN "a dog with a name" -= 1.5
    IF SOME (pages is far AND visit is late) THEN cat += 1, fox -= 0.5
    IF ALL pages is high THEN cat += 0
"""


def test_rules_are_colored_and_named_by_the_output_that_they_change_most():
    rules = RuleBase.parse(AGAINST)
    looks = MembershipDisplay.from_rules(rules).looks
    assert [color for color, _ in looks] == [SEVERAL[1], SEVERAL[0], FAINT]
    space = SpaceDisplay.from_model(rules, THREE)
    labels = {outline.number: (outline.kind, outline.label) for outline in space.rules}
    assert labels[1] == (1, "rule against a dog with a name")
    assert labels[2] == (0, "rule for cat")


def test_labels_of_rules_stay_inside_the_space():
    figure = SpaceDisplay.from_model(RuleBase.parse(AGAINST), THREE).plot()
    figure.canvas.draw()
    axis = figure.axes[0]
    for text in axis.texts:
        box = text.get_window_extent()
        assert axis.bbox.x0 <= box.x0
        assert box.x1 <= axis.bbox.x1
    plt.close(figure)


def test_reports_say_which_class_a_rule_speaks_against():
    labels = ["cat", "a dog with a name", "fox"]
    text = AGAINST.replace('cat = 0, "a dog with a name" = 0, fox = 0', '"a dog with a name" = 0, cat = 0, fox = 0')
    bags = some_bags(labels)
    cards = Report.of(MISugeno(rules=text).fit(bags), bags, n_folds=2).cards
    assert [(card.speaks_for, card.against) for card in cards[:2]] == [("a dog with a name", True), ("cat", False)]
    assert [name for name, _ in cards[0].changes] == ["a dog with a name"]
    assert [name for name, _ in cards[1].changes] == ["cat", "fox"]

"""Figures of importance and effect."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

from fuzzymil import Bags, MISugeno, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.plots import HIGH, EffectDisplay, ImportanceDisplay

TEXT = """
    VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
    VARIABLE channel: ONE OF email, phone, "the $upport desk"
    VARIABLE noise FROM 0 TO 1: loud = Sigmoid(0.5, 9)
    Default: yes = -2
    IF SOME pages is high THEN yes += 3
    IF SOME channel is "the $upport desk" THEN yes += 1
"""
COLUMNS = Columns(
    [Column("pages"), Column("channel", "category", ("email", "phone", "the $upport desk")), Column("noise")]
)


@pytest.fixture(scope="module")
def bags():
    rng = np.random.default_rng(0)
    instances = np.column_stack([rng.uniform(0, 20, 90), rng.integers(0, 3, 90), rng.uniform(0, 1, 90)])
    labels = np.where(np.maximum.reduceat(instances[:, 0], np.arange(0, 90, 3)) > 10, "yes", "no")
    return Bags(instances, np.arange(0, 91, 3), columns=COLUMNS, labels=labels)


@pytest.fixture(scope="module")
def model(bags):
    return MISugeno(rules=TEXT, threshold=0.0).fit(bags)


def test_bars_are_the_drops(model, bags):
    found = model.importance(bags, n_repeats=3)
    display = ImportanceDisplay.from_importance(found)
    figure = display.plot("What matters")
    features, rules = figure.axes
    widths = [patch.get_width() for patch in features.patches]
    assert widths == pytest.approx([each.drop for each in found.features if each.used])
    assert len(rules.patches) == 2
    assert [text.get_text() for text in features.get_yticklabels()] == ["pages", "channel"]
    assert "No rule uses 1 other feature" in figure.get_supxlabel().replace("\n", " ")
    assert rules.get_xlabel() == "drop in accuracy"
    plt.close(figure)


def test_few_rows_are_shown(model, bags):
    found = model.importance(bags, n_repeats=1)
    display = ImportanceDisplay.from_importance(found, max_features=1, max_rules=0)
    assert (len(display.features), display.rules) == (1, [])
    assert "1 more feature" in display.note
    figure = display.plot()
    assert len(figure.axes) == 1
    plt.close(figure)
    plt.close(ImportanceDisplay([], [], "accuracy").plot())
    with pytest.raises(ParameterError, match=r"max_rules.*-1"):
        ImportanceDisplay.from_importance(found, max_rules=-1)


def test_curves_are_the_effects(model, bags):
    display = EffectDisplay.from_model(model, bags, ["pages"], n_points=5)
    figure = display.plot()
    (axis,) = figure.axes
    solid = next(line for line in axis.lines if line.get_linewidth() == 1.8)
    np.testing.assert_allclose(solid.get_ydata(), display.effects[0].curves[0].all_instances)
    assert to_hex(solid.get_color()) == HIGH.lower()  # the class that the rules speak for
    assert figure.get_supylabel() == "probability of yes"
    plt.close(figure)


def test_categories_have_names(model, bags):
    figure = EffectDisplay.from_model(model, bags, ["channel"]).plot()
    names = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert names == ["email", "phone", r"the \$upport desk"]
    plt.close(figure)


def test_features_that_move_most_come_first(model, bags):
    display = EffectDisplay.from_model(model, bags)
    assert [effect.feature for effect in display.effects] == ["pages", "channel"]
    assert [effect.feature for effect in EffectDisplay.from_model(model, bags, max_features=1).effects] == ["pages"]
    figure = display.plot("title")
    assert figure.get_suptitle() == "title"
    plt.close(figure)


def test_numbers_and_several_outputs(bags):
    rules = RuleBase.from_arrays(
        [[5.0], [15.0]], [[4.0], [4.0]], [[[0.0], [1.0]], [[2.0], [0.0]]], feature_names=["pages"]
    )
    model = MISugeno(rules=rules, threshold=None).fit(Bags(bags.instances, bags.offsets, columns=COLUMNS))
    display = EffectDisplay.from_model(model, bags)
    figure = display.plot()
    assert figure.get_supylabel() == "predicted each output"
    assert len({to_hex(line.get_color()) for line in figure.axes[0].lines}) == 2
    plt.close(figure)


def test_mistakes(model, bags):
    with pytest.raises(ParameterError, match=r"\['pages'\]"):
        EffectDisplay.from_model(model, bags, "pages")
    with pytest.raises(ParameterError, match=r"max_features.*0"):
        EffectDisplay.from_model(model, bags, max_features=0)
    nothing = MISugeno(rules="VARIABLE pages: high = Sigmoid(10, 1) IF anything THEN yes = 1").fit(bags)
    with pytest.raises(ParameterError, match="use no feature"):
        EffectDisplay.from_model(nothing, bags)

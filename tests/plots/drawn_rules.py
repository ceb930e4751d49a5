"""Rules and bags that several figures draw, and what to look up in a drawing."""

import numpy as np

from fuzzymil import Bags, RuleBase

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


def assert_nothing_is_cut_off(figure):
    figure.canvas.draw()
    drawn = figure.get_tightbbox(figure.canvas.get_renderer())
    width, height = figure.get_size_inches()
    assert min(drawn.x0, drawn.y0) > -0.02
    assert drawn.x1 < width + 0.02
    assert drawn.y1 < height + 0.02


def texts(axis):
    return [text.get_text() for text in axis.texts]

"""A scorecard with quantifiers, and bags for it."""

import dataclasses

import numpy as np

from fuzzymil.bags import Bags
from fuzzymil.rules import RuleBase

DECLARED = """
VARIABLE hue FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
VARIABLE texture FROM -1 TO 1: smooth = Sigmoid(0, -5), rough = Sigmoid(0, 5)
"""
SCORECARD = (
    DECLARED
    + """
Default: sky = -2.9
IF SOME (hue is blue AND texture is smooth) AND MOST texture is rough THEN sky += 2.2
IF NOT (AT LEAST 3 hue is red) THEN sky -= 1.4
IF AT LEAST 8 instances OR ON AVERAGE hue is blue THEN sky += 0.5 WITH 0.5
"""
)

POINTS = (
    DECLARED
    + """
USING unit = 0.835
Default: sky = -1.9
IF SOME (hue is blue AND texture is smooth) THEN sky += 3 points
IF AT LEAST 3 hue is red THEN sky -= 2 points
IF ON AVERAGE hue is blue THEN sky += 1 point
"""
)


def scorecard(**changes):
    return dataclasses.replace(RuleBase.parse(SCORECARD), **changes)


def some_bags(seed=0):
    rng = np.random.default_rng(seed)
    return Bags.from_list([rng.uniform([0, -1], [1, 1], size=(size, 2)) for size in (3, 9, 1, 5, 12, 2)])

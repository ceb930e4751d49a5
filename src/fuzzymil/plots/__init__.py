"""Figures: compute once, draw separately, in the manner of scikit-learn's Display objects."""

from fuzzymil.plots.curves import CurvesDisplay, Line
from fuzzymil.plots.explanation import ExplanationDisplay
from fuzzymil.plots.membership import MembershipDisplay
from fuzzymil.plots.path import PathDisplay, PathPanel
from fuzzymil.plots.plane import PlaneDisplay
from fuzzymil.plots.ranks import RanksDisplay
from fuzzymil.plots.roc import RocCurve, RocDisplay
from fuzzymil.plots.scores import DistributionDisplay, ScoresDisplay
from fuzzymil.plots.style import FAINT, HIGH, LOW, save_figure

__all__ = [
    "FAINT",
    "HIGH",
    "LOW",
    "CurvesDisplay",
    "DistributionDisplay",
    "ExplanationDisplay",
    "Line",
    "MembershipDisplay",
    "PathDisplay",
    "PathPanel",
    "PlaneDisplay",
    "RanksDisplay",
    "RocCurve",
    "RocDisplay",
    "ScoresDisplay",
    "save_figure",
]

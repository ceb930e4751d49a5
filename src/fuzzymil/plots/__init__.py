"""Figures: compute once, draw separately, in the manner of scikit-learn's Display objects."""

from fuzzymil.plots._explanation import ExplanationDisplay
from fuzzymil.plots._firing import FiringDisplay
from fuzzymil.plots._grid import RuleGridDisplay
from fuzzymil.plots._history import CurvesDisplay, Line
from fuzzymil.plots._membership import MembershipDisplay
from fuzzymil.plots._path import PathDisplay, PathPanel
from fuzzymil.plots._radar import CubeDisplay
from fuzzymil.plots._ranks import RanksDisplay
from fuzzymil.plots._scores import DistributionDisplay, ScoresDisplay
from fuzzymil.plots._shadow import RuleShadow
from fuzzymil.plots._space import SpaceDisplay
from fuzzymil.plots._surface import SurfaceDisplay
from fuzzymil.plots.roc import RocCurve, RocDisplay
from fuzzymil.plots.style import FAINT, HIGH, LOW, save_figure

__all__ = [
    "FAINT",
    "HIGH",
    "LOW",
    "CubeDisplay",
    "CurvesDisplay",
    "DistributionDisplay",
    "ExplanationDisplay",
    "FiringDisplay",
    "Line",
    "MembershipDisplay",
    "PathDisplay",
    "PathPanel",
    "RanksDisplay",
    "RocCurve",
    "RocDisplay",
    "RuleGridDisplay",
    "RuleShadow",
    "ScoresDisplay",
    "SpaceDisplay",
    "SurfaceDisplay",
    "save_figure",
]

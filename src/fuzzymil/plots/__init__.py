"""Figures: compute once, draw separately, in the manner of scikit-learn's Display objects."""

from fuzzymil.plots.curves import CurvesDisplay, Line
from fuzzymil.plots.explanation import ExplanationDisplay
from fuzzymil.plots.firing import FiringDisplay
from fuzzymil.plots.grid import RuleGridDisplay
from fuzzymil.plots.membership import MembershipDisplay
from fuzzymil.plots.path import PathDisplay, PathPanel
from fuzzymil.plots.radar import CubeDisplay
from fuzzymil.plots.ranks import RanksDisplay
from fuzzymil.plots.roc import RocCurve, RocDisplay
from fuzzymil.plots.scores import DistributionDisplay, ScoresDisplay
from fuzzymil.plots.shadow import RuleShadow
from fuzzymil.plots.space import SpaceDisplay
from fuzzymil.plots.style import FAINT, HIGH, LOW, save_figure
from fuzzymil.plots.surface import SurfaceDisplay

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

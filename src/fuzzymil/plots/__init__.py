"""Figures, as display objects in the style of scikit-learn."""

from fuzzymil._utils.statistics import brier_score
from fuzzymil.plots._curves import CurvesDisplay, Line, PathDisplay, PathPanel
from fuzzymil.plots._data_diagnosis import DataDiagnosisDisplay
from fuzzymil.plots._difference import DifferenceDisplay, TermPanel
from fuzzymil.plots._effect import EffectDisplay
from fuzzymil.plots._ellipses import RuleEllipse
from fuzzymil.plots._explanation import ExplanationDisplay
from fuzzymil.plots._firing import FiringDisplay
from fuzzymil.plots._importance import ImportanceDisplay
from fuzzymil.plots._joined import JoinedSetDisplay
from fuzzymil.plots._membership import MembershipDisplay
from fuzzymil.plots._outlines import RuleOutline
from fuzzymil.plots._reliability import ReliabilityCurve, ReliabilityDisplay
from fuzzymil.plots._roc import RocCurve, RocDisplay, true_positive_rates
from fuzzymil.plots._rule_grid import RuleGridDisplay
from fuzzymil.plots._shapes import Shape, ShapePanel, ShapesDisplay
from fuzzymil.plots._space import SpaceDisplay
from fuzzymil.plots._surface import SurfaceDisplay
from fuzzymil.plots.style import FAINT, HIGH, LOW, save_figure

__all__ = [
    "FAINT",
    "HIGH",
    "LOW",
    "CurvesDisplay",
    "DataDiagnosisDisplay",
    "DifferenceDisplay",
    "EffectDisplay",
    "ExplanationDisplay",
    "FiringDisplay",
    "ImportanceDisplay",
    "JoinedSetDisplay",
    "Line",
    "MembershipDisplay",
    "PathDisplay",
    "PathPanel",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "RocCurve",
    "RocDisplay",
    "RuleEllipse",
    "RuleGridDisplay",
    "RuleOutline",
    "Shape",
    "ShapePanel",
    "ShapesDisplay",
    "SpaceDisplay",
    "SurfaceDisplay",
    "TermPanel",
    "brier_score",
    "save_figure",
    "true_positive_rates",
]

"""Figures, as display objects in the style of scikit-learn."""

from fuzzymil._utils.statistics import brier_score
from fuzzymil.plots._evaluation import (
    CurvesDisplay,
    DataDiagnosisDisplay,
    FrontierDisplay,
    ReliabilityCurve,
    ReliabilityDisplay,
    RocCurve,
    RocDisplay,
    true_positive_rates,
)
from fuzzymil.plots._explanation import ExplanationDisplay
from fuzzymil.plots._features import EffectDisplay, ImportanceDisplay, Shape, ShapePanel, ShapesDisplay
from fuzzymil.plots._sets import DifferenceDisplay, JoinedSetDisplay, MembershipDisplay, TermPanel
from fuzzymil.plots._space import RuleOutline, SpaceDisplay
from fuzzymil.plots._surface import SurfaceDisplay
from fuzzymil.plots._tree import TreeDisplay
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
    "FrontierDisplay",
    "ImportanceDisplay",
    "JoinedSetDisplay",
    "MembershipDisplay",
    "ReliabilityCurve",
    "ReliabilityDisplay",
    "RocCurve",
    "RocDisplay",
    "RuleOutline",
    "Shape",
    "ShapePanel",
    "ShapesDisplay",
    "SpaceDisplay",
    "SurfaceDisplay",
    "TermPanel",
    "TreeDisplay",
    "brier_score",
    "save_figure",
    "true_positive_rates",
]

"""Choosing rules: candidates, penalized fits, cross-validation, refinement."""

from fuzzymil.learn.choose._choice import Choice, choose_rules
from fuzzymil.learn.choose._diagnosis import DataDiagnosis, Measure, Method, Sizes, diagnose
from fuzzymil.learn.choose._screening import informative_features

__all__ = [
    "Choice",
    "DataDiagnosis",
    "Measure",
    "Method",
    "Sizes",
    "choose_rules",
    "diagnose",
    "informative_features",
]

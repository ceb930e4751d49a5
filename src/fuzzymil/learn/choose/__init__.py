"""Choosing rules: candidates, penalized fits, cross-validation, refinement; and what data are like."""

from fuzzymil.learn.choose.candidates import informative_features
from fuzzymil.learn.choose.choose import SearchResult, choose_rules
from fuzzymil.learn.choose.diagnosis import DataDiagnosis, Measure, Method, Sizes, diagnose

__all__ = [
    "DataDiagnosis",
    "Measure",
    "Method",
    "SearchResult",
    "Sizes",
    "choose_rules",
    "diagnose",
    "informative_features",
]

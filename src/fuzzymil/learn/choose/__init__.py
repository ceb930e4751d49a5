"""Choosing rules: candidates, the search for few of them, the frontier; and what data are like."""

from fuzzymil.learn.choose.candidates import informative_features
from fuzzymil.learn.choose.choose import Limits, SearchResult, choose_rules
from fuzzymil.learn.choose.diagnosis import DataDiagnosis, Method, Sizes, diagnose, leaks
from fuzzymil.learn.choose.frontier import Frontier, FrontierPoint, Measure

__all__ = [
    "DataDiagnosis",
    "Frontier",
    "FrontierPoint",
    "Limits",
    "Measure",
    "Method",
    "SearchResult",
    "Sizes",
    "choose_rules",
    "diagnose",
    "informative_features",
    "leaks",
]

"""Changes to rule bases: edit, simplify, compare and diagnose; these functions are the methods of rules."""

from fuzzymil.rules.editing._diagnosis import Diagnosis, Finding, diagnose
from fuzzymil.rules.editing._difference import (
    Changed,
    Difference,
    Flip,
    Match,
    RuleChange,
    SetChange,
    border_of,
    diff,
    shown,
)
from fuzzymil.rules.editing._edit import edit, over
from fuzzymil.rules.editing._simplify import Change, MergedTerms, Simplified, simplify

__all__ = [
    "Change",
    "Changed",
    "Diagnosis",
    "Difference",
    "Finding",
    "Flip",
    "Match",
    "MergedTerms",
    "RuleChange",
    "SetChange",
    "Simplified",
    "border_of",
    "diagnose",
    "diff",
    "edit",
    "over",
    "shown",
    "simplify",
]

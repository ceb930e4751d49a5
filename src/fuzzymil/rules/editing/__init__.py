"""Changes to rule bases: edit, simplify, compare and diagnose; these functions are the methods of rules."""

from fuzzymil.rules.editing._diagnosis import Diagnosis, Finding, diagnose
from fuzzymil.rules.editing._difference import Changed, Difference, Flip, Match, diff
from fuzzymil.rules.editing._edit import edit, over
from fuzzymil.rules.editing._mamdani import edit_mamdani, over_mamdani
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
    "Simplified",
    "diagnose",
    "diff",
    "edit",
    "edit_mamdani",
    "over",
    "over_mamdani",
    "simplify",
]

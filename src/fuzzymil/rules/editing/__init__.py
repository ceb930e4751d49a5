"""Changes to rule bases: edit by hand, simplify, and diagnose; these functions are the methods of `RuleBase`."""

from fuzzymil.rules.editing._diagnosis import Diagnosis, Finding, diagnose
from fuzzymil.rules.editing._edit import edit, over
from fuzzymil.rules.editing._simplify import Change, MergedTerms, Simplified, simplify

__all__ = ["Change", "Diagnosis", "Finding", "MergedTerms", "Simplified", "diagnose", "edit", "over", "simplify"]

"""Rule bases changed by hand, simplified, and looked over; `RuleBase.edit`, `simplify` and `diagnose` lead here."""

from fuzzymil.editing.changes import edit, over
from fuzzymil.editing.health import Diagnosis, Finding, diagnose
from fuzzymil.editing.simplification import Change, MergedTerms, Simplified, simplify

__all__ = ["Change", "Diagnosis", "Finding", "MergedTerms", "Simplified", "diagnose", "edit", "over", "simplify"]

"""Rule bases changed by hand, simplified, and looked over; `RuleBase.edit`, `simplify` and `diagnose` lead here."""

from fuzzymil.rules.editing.diagnosis import Diagnosis, Finding, diagnose
from fuzzymil.rules.editing.edit import edit, over
from fuzzymil.rules.editing.simplify import Change, MergedTerms, Simplified, simplify

__all__ = ["Change", "Diagnosis", "Finding", "MergedTerms", "Simplified", "diagnose", "edit", "over", "simplify"]

"""Mamdani rules on bags: rules whose conclusions are fuzzy sets."""

from fuzzymil.rules.mamdani._conversion import TERMS
from fuzzymil.rules.mamdani._rule_set import PREMISE_SETTINGS, MamdaniActivations
from fuzzymil.rules.mamdani._rules import MamdaniRules

__all__ = ["PREMISE_SETTINGS", "TERMS", "MamdaniActivations", "MamdaniRules"]

"""Mamdani rules on bags: rules whose conclusions are fuzzy sets."""

from fuzzymil.rules.mamdani._activations import MamdaniActivations
from fuzzymil.rules.mamdani._conversion import TERMS
from fuzzymil.rules.mamdani._numeric import numeric_view
from fuzzymil.rules.mamdani._rule_set import PER_OUTPUT, PREMISE_SETTINGS
from fuzzymil.rules.mamdani._rules import MamdaniRules
from fuzzymil.rules.mamdani._shares import joined_set, log_cuts, shares
from fuzzymil.rules.mamdani._weighted import WEIGHTED

__all__ = [
    "PER_OUTPUT",
    "PREMISE_SETTINGS",
    "TERMS",
    "WEIGHTED",
    "MamdaniActivations",
    "MamdaniRules",
    "joined_set",
    "log_cuts",
    "numeric_view",
    "shares",
]

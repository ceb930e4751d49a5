"""Mamdani rules on bags: conclusions that are fuzzy sets."""

from fuzzymil.rules.mamdani.rule_base import PREMISE_SETTINGS, MamdaniActivations, MamdaniRules

__all__ = ["PREMISE_SETTINGS", "MamdaniActivations", "MamdaniRules"]

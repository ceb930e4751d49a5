"""Mamdani rules on bags: conclusions that are fuzzy sets."""

from fuzzymil.mamdani.rules import PREMISE_SETTINGS, MamdaniActivations, MamdaniRules

__all__ = ["PREMISE_SETTINGS", "MamdaniActivations", "MamdaniRules"]

"""Choosing short rules that explain the bags, from a dictionary of candidates."""

from fuzzymil.selection._choice import Choice, choose_rules

__all__ = ["Choice", "choose_rules"]

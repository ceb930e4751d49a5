"""Rule bases: the value that is the model, its language, editing, files, and Mamdani rules."""

from fuzzymil.rules._rule_base import Activations, Rule, RuleBase, Variable

__all__ = ["Activations", "Rule", "RuleBase", "Variable"]

"""The rule base (the value that is the model), its language, editing, files, and Mamdani rules."""

from fuzzymil.inference.activations import Activations
from fuzzymil.rules import editing, files
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.mamdani import MamdaniActivations, MamdaniRules
from fuzzymil.rules.premise import And, Is, Not, Or, Part, Quantified
from fuzzymil.rules.rule import Rule, Variable

__all__ = [
    "Activations",
    "And",
    "Is",
    "MamdaniActivations",
    "MamdaniRules",
    "Not",
    "Or",
    "Part",
    "Quantified",
    "Rule",
    "RuleBase",
    "Variable",
    "editing",
    "files",
]

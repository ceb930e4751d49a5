"""The rule base (the value that is the model), its language, editing and files."""

from fuzzymil.inference.activations import Activations
from fuzzymil.rules import editing, files
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.activations import SetActivations
from fuzzymil.rules.conclusion import Defuzzification
from fuzzymil.rules.premise import And, Is, Not, Or, Part, Quantified
from fuzzymil.rules.rule import Rule, Variable
from fuzzymil.rules.tree import RuleTree, TreeActivations

__all__ = [
    "Activations",
    "And",
    "Defuzzification",
    "Is",
    "Not",
    "Or",
    "Part",
    "Quantified",
    "Rule",
    "RuleBase",
    "RuleTree",
    "SetActivations",
    "TreeActivations",
    "Variable",
    "editing",
    "files",
]

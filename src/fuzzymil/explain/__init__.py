"""Explanations: which rule, which witness instance, which conditions."""

from fuzzymil.explain._builder import NUMBERS, Reading, chosen_bag, explain, explain_many
from fuzzymil.explain.explanation import Explanation
from fuzzymil.explain.parts import ConditionExplanation, Counterfactual, RuleExplanation

__all__ = [
    "NUMBERS",
    "ConditionExplanation",
    "Counterfactual",
    "Explanation",
    "Reading",
    "RuleExplanation",
    "chosen_bag",
    "explain",
    "explain_many",
]

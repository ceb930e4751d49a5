"""Explanations: which rule, which witness instance, which conditions."""

from fuzzymil.explain._builder import NUMBERS, Reading, chosen_bag, explain, explain_many
from fuzzymil.explain.coverage import Coverage
from fuzzymil.explain.explanation import Explanation
from fuzzymil.explain.parts import ConditionExplanation, Counterfactual, RuleExplanation, Unusual

__all__ = [
    "NUMBERS",
    "ConditionExplanation",
    "Counterfactual",
    "Coverage",
    "Explanation",
    "Reading",
    "RuleExplanation",
    "Unusual",
    "chosen_bag",
    "explain",
    "explain_many",
]

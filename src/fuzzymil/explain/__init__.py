"""Explanations of predictions: rule, witness instance, conditions; ``model.explain`` returns one."""

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

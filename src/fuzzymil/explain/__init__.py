"""Why a bag was decided as it was: rule, witness instance, memberships; ``model.explain`` leads here."""

from fuzzymil.explain._explain import NUMBERS, Reading, chosen_bag, explain
from fuzzymil.explain.explanation import ConditionExplanation, Counterfactual, Explanation, RuleExplanation

__all__ = [
    "NUMBERS",
    "ConditionExplanation",
    "Counterfactual",
    "Explanation",
    "Reading",
    "RuleExplanation",
    "chosen_bag",
    "explain",
]

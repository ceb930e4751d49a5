"""Explanations: which rule, which witness instance, which conditions."""

from fuzzymil.explain._builder import NUMBERS, Reading, chosen_bag, explain, explain_many
from fuzzymil.explain.coverage import Coverage, Unusual
from fuzzymil.explain.explanation import Explanation
from fuzzymil.explain.joined import JoinedSet
from fuzzymil.explain.parts import (
    ConditionExplanation,
    Counterfactual,
    PartExplanation,
    RuleExplanation,
    Witness,
)

__all__ = [
    "NUMBERS",
    "ConditionExplanation",
    "Counterfactual",
    "Coverage",
    "Explanation",
    "JoinedSet",
    "PartExplanation",
    "Reading",
    "RuleExplanation",
    "Unusual",
    "Witness",
    "chosen_bag",
    "explain",
    "explain_many",
]

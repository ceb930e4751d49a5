"""Explanations: which rule, which witness instance, which conditions."""

from fuzzymil.explain._builder import NUMBERS, Reading, chosen_bag, explain, explain_many
from fuzzymil.explain._effect import Effect, EffectCurve, effect
from fuzzymil.explain._importance import FeatureImportance, Importance, RuleImportance
from fuzzymil.explain._permutation import importance
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
    "Effect",
    "EffectCurve",
    "Explanation",
    "FeatureImportance",
    "Importance",
    "JoinedSet",
    "PartExplanation",
    "Reading",
    "RuleExplanation",
    "RuleImportance",
    "Unusual",
    "Witness",
    "chosen_bag",
    "effect",
    "explain",
    "explain_many",
    "importance",
]

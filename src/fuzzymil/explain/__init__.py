"""Explanations: which rule, which witness instance, which conditions."""

from fuzzymil.explain._explain import NUMBERS, Reading, explain, explain_many, select_bag
from fuzzymil.explain._importance import FeatureImportance, Importance, RuleImportance, importance
from fuzzymil.explain.coverage import Coverage, Unusual
from fuzzymil.explain.effects import Effect, EffectCurve, effect
from fuzzymil.explain.explanation import (
    ConditionExplanation,
    Counterfactual,
    Explanation,
    JoinedSet,
    PartExplanation,
    RuleExplanation,
    Witness,
)
from fuzzymil.explain.tree import TreeExplanation, explain_tree

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
    "TreeExplanation",
    "Unusual",
    "Witness",
    "effect",
    "explain",
    "explain_many",
    "explain_tree",
    "importance",
    "select_bag",
]

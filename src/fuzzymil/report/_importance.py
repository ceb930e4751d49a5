"""What matters for the predictions: features, rules, and how predictions change with features."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.drawings import bar
from fuzzymil.estimators import Fold
from fuzzymil.explain import Effect, FeatureImportance, Importance, RuleImportance
from fuzzymil.explain.coverage import used_features
from fuzzymil.report import _figures
from fuzzymil.report._answers import Answers

_REPEATS, _REPEATS_OF_FOLD = 20, 5  # of few features; fewer of many
_SHUFFLES, _SHUFFLES_OF_FOLD = 400, 60
_EFFECTS = 6
_POINTS = 31
_SHOWN = 15  # features, and rules


@dataclasses.dataclass(frozen=True)
class Matters:
    """What matters for the predictions.

    Attributes
    ----------
    features : Importance or None
        Of features; of models trained on the other folds if there are folds. None without labels.
    rules : Importance or None
        Of the model's own rules on the bags.
    effects : tuple of Effect
        Of the features that matter most.
    """

    features: Importance | None
    rules: Importance | None
    effects: tuple[Effect, ...]


def what_matters(answers: Answers, folds: Sequence[Fold], pos_label: Any = None) -> Matters:
    """Measure what matters.

    Parameters
    ----------
    answers : Answers
    folds : sequence of Fold
        Of a cross-validation; none if there was none.
    pos_label : label, optional
        The class that curves are about.
    """
    model, bags, truth = answers.model, answers.bags, answers.truth
    used = used_features(answers.members)
    n_used = max(len(used), 1)
    repeats = max(min(_REPEATS, _SHUFFLES // n_used), 2)
    own = model.importance(bags, truth, n_repeats=repeats) if _can_tell(answers, truth) else None
    repeats = max(min(_REPEATS_OF_FOLD, _SHUFFLES_OF_FOLD // n_used), 1)
    parts = [
        fold.model.importance(fold.X, fold.truth, n_repeats=repeats) for fold in folds if _can_tell(answers, fold.truth)
    ]
    features = Importance.over_folds(parts) if own is not None and len(parts) > 1 else own
    if features is not None:
        order = {each.name: place for place, each in enumerate(features.features)}
        used.sort(key=lambda d: order[answers.rules.feature_names[d]])
    known = [d for d in used if not np.isnan(answers.read.instances[:, d]).all()]
    effects = [model.effect(bags, d, pos_label=pos_label, n_points=_POINTS) for d in known[:_EFFECTS]]
    return Matters(features, own, tuple(effects))


def _can_tell(answers: Answers, truth: Array | None) -> bool:
    """Return whether a score of these bags means anything."""
    if truth is None:
        return False
    return len(truth) > 1 and (answers.classes is None or len(np.unique(truth)) > 1)


def importance_facts(matters: Matters, n_classes: int) -> dict[str, Any]:
    """Return what the section shows."""
    features, own = matters.features, matters.rules
    return {
        "features": features,
        "rules": own,
        "feature_rows": [] if features is None else _rows([each for each in features.features if each.used][:_SHOWN]),
        "rule_rows": [] if own is None else _rows(own.rules[:_SHOWN]),
        "n_unused": 0 if features is None else sum(not each.used for each in features.features),
        "effects": _figures.effects(matters.effects, n_classes) if matters.effects else None,
        "about": matters.effects[0].curves[0].name if matters.effects and len(matters.effects[0].curves) == 1 else "",
        "classifies": n_classes > 0,
        "n_bags": matters.effects[0].n_bags if matters.effects else 0,
    }


def _rows(found: Sequence[FeatureImportance] | Sequence[RuleImportance]) -> list[dict[str, Any]]:
    ends = [0.0, *(each.drop for each in found)]
    return [
        {
            "name": each.name,
            "text": getattr(each, "text", ""),
            "bar": bar(each.drop, min(ends), max(ends)),
            "drop": each.drop,
            "std": each.std,
        }
        for each in found
    ]

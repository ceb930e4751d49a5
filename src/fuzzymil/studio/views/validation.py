"""How well the rules decide: confusion, ROC curve, and the class they speak for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.studio.case import Case, class_text

__all__ = ["validation"]


def validation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the answers compare with the labels; ``threshold`` tries another one."""
    del request
    if case.data.labels is None:
        raise InputError("The bags have no labels: open a data file with a label column.")
    labels = np.asarray(case.labels)
    if case.classes is None:
        return _errors(case, np.asarray(case.data.labels, float))
    names = [class_text(each) for each in case.classes]
    decided = np.asarray(case.decisions)
    confusion = [[int(((labels == truth) & (decided == said)).sum()) for said in names] for truth in names]
    found: dict[str, Any] = {
        "kind": "classes",
        "classes": names,
        "n": case.data.n_bags,
        "accuracy": float((labels == decided).mean()),
        "confusion": confusion,
        "unknown": sorted({str(each) for each in labels} - set(names)),
        "roc": None,
        "rules": _spoken_for(case, labels, names),
    }
    if len(names) == 2:
        found |= _ranking(case, labels, names)
    return found


def _errors(case: Case, labels: Any) -> dict[str, Any]:
    output = case.found.output[:, 0]
    errors = output - labels
    spread = float(((labels - labels.mean()) ** 2).mean())
    return {
        "kind": "numbers",
        "n": len(labels),
        "rmse": float(np.sqrt((errors**2).mean())),
        "mae": float(np.abs(errors).mean()),
        "r2": None if spread == 0 else 1.0 - float((errors**2).mean()) / spread,
        "predicted": output,
        "labels": labels,
    }


def _ranking(case: Case, labels: Any, names: list[str]) -> dict[str, Any]:
    """Return the ROC curve of a single output, or of two, about the class it speaks for."""
    from sklearn.metrics import roc_auc_score, roc_curve

    single = len(case.outputs) == 1
    place = case.positive if single else 1
    truth = labels == names[place]
    found: dict[str, Any] = {"positive": names[place], "threshold": case.threshold if single else 0.0}
    if truth.all() or not truth.any():
        return found
    scores = case.found.output[:, 0] if single else case.found.output[:, 1] - case.found.output[:, 0]
    false, true, thresholds = roc_curve(truth, scores)
    auc = float(roc_auc_score(truth, scores))
    return found | {
        "auc": auc,
        "roc": {"fpr": false, "tpr": true, "thresholds": thresholds},
        "against": auc < 0.5,
        "scores": scores,
        "truth": truth,
    }


def _spoken_for(case: Case, labels: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return for each rule the mean strength with which it fires on the bags of each class."""
    firing = case.found.firing
    return [
        {
            "rule": r + 1,
            "name": case.base.name_of(r),
            "firing": {
                name: float(firing[labels == name, r].mean()) if (labels == name).any() else None for name in names
            },
        }
        for r in range(case.base.n_rules)
    ]

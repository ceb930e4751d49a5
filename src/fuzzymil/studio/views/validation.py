"""How well the rules decide: confusion, ROC curve, and the class they speak for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.studio.case import Case, class_text

__all__ = ["numbers_of", "score", "validation"]


def validation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the answers compare with the labels; ``threshold`` tries another one."""
    del request
    if case.data.labels is None:
        raise InputError("The bags have no labels: open a data file with a label column.")
    labels = np.asarray(case.labels)
    if case.classes is None:
        return _errors(case, numbers_of(case))
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


def numbers_of(case: Case) -> Any:
    """Return labels that are numbers, as the output is."""
    labels = np.asarray(case.data.labels)
    if labels.dtype.kind not in "iufb":
        n_classes = len(np.unique(labels))
        raise InputError(
            f"The bags have {n_classes} classes, but the rules have one output: write one output per class, named "
            "after it, or open data with two classes."
        )
    return labels.astype(float)


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
    from sklearn.metrics import roc_curve

    single = len(case.outputs) == 1
    place = case.positive if single else 1
    truth = labels == names[place]
    found: dict[str, Any] = {"positive": names[place], "threshold": case.threshold if single else 0.0}
    if truth.all() or not truth.any():
        return found
    scores = case.found.output[:, 0] if single else case.found.output[:, 1] - case.found.output[:, 0]
    false, true, thresholds = roc_curve(truth, scores)
    auc = _auc(case)
    assert auc is not None
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
    groups = {name: labels == name for name in names}
    return [
        {
            "rule": r + 1,
            "name": case.base.name_of(r),
            "firing": {name: float(firing[own, r].mean()) if own.any() else None for name, own in groups.items()},
        }
        for r in range(case.base.n_rules)
    ]


def score(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the few numbers that are always on the screen; ``before`` is a case to compare with."""
    found: dict[str, Any] = dict.fromkeys(
        ("n", "right", "accuracy", "auc", "rmse", "uncovered", "changed", "committee")
    )
    if case.bags is None:
        return found
    before: Case | None = request.get("before")
    found["n"] = case.bags.n_bags
    found["uncovered"] = int(np.isneginf(case.found.log_firing).all(axis=1).sum())
    if case.reading is not None:
        found["changed"] = 0 if before is None else int((before.decisions != case.decisions).sum())
    if case.labels is None:
        return found
    if case.reading is None:
        if np.asarray(case.bags.labels).dtype.kind not in "iufb":
            return found
        labels = numbers_of(case)
        found["rmse"] = float(np.sqrt(((case.found.output[:, 0] - labels) ** 2).mean()))
        if case.committee is not None:
            found["committee"] = float(np.sqrt(((case.committee.output[:, 0] - labels) ** 2).mean()))
        return found
    right = case.decisions == case.labels
    found |= {"right": int(right.sum()), "accuracy": float(right.mean())}
    if case.committee is not None:
        found["committee"] = float((case.committee.decisions == case.labels).mean())
    if case.classes is not None and len(case.classes) == 2:
        found["auc"] = _auc(case)
    return found


def _auc(case: Case) -> float | None:
    """Return the area under the ROC curve: how often a positive bag outranks a negative one."""
    assert case.classes is not None
    single = len(case.outputs) == 1
    name = class_text(case.classes[case.positive if single else 1])
    truth = np.asarray(case.labels == name)
    n_positive, n_negative = int(truth.sum()), int((~truth).sum())
    if not n_positive or not n_negative:
        return None
    output = case.found.output
    scores = output[:, 0] if single else output[:, 1] - output[:, 0]
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]  # equal scores share their mean rank
    return float((ranks[truth].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))

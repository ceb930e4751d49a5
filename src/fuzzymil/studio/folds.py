"""Held-out folds: how well outputs do on each part of the bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.views.validation import numbers_of

__all__ = ["fold_scores"]


def fold_scores(case: Case, parts: list[list[int]], output: Any, *, chosen: bool = False) -> dict[str, Any]:
    """Return how well outputs do on each part; ``chosen``: with the threshold that is best on the others."""
    from sklearn.metrics import roc_auc_score, roc_curve

    labels = np.asarray(case.labels, object)
    rows: list[dict[str, Any]] = []
    if case.reading is None:
        numbers = numbers_of(case)
        for part in parts:
            errors = output[part, 0] - numbers[part]
            rows.append({"n": len(part), "rmse": float(np.sqrt((errors**2).mean()))})
        return {"folds": rows, "rmse": _mean_and_deviation([row["rmse"] for row in rows])}
    assert case.classes is not None
    single = len(case.outputs) == 1
    names = [class_text(each) for each in case.classes]
    positive = names[case.positive if single else 1]
    scores = output[:, 0] if single else output[:, 1] - output[:, 0]
    truth = labels == positive
    binary = len(names) == 2
    for part in parts:
        threshold = case.threshold
        if single and chosen:
            rest = np.setdiff1d(np.concatenate([np.array(each) for each in parts]), part)
            threshold = _best_threshold(scores[rest], truth[rest], case.threshold)
        if single:
            right = (scores[part] > threshold) == truth[part]
        else:
            right = np.array([class_text(each) for each in case.reading.labels(output[part])], object) == labels[part]
        both = binary and 0 < truth[part].sum() < len(part)
        rows.append(
            {
                "n": len(part),
                "accuracy": float(right.mean()),
                "auc": float(roc_auc_score(truth[part], scores[part])) if both else None,
                "threshold": threshold if single else None,
            }
        )
    seen = np.concatenate([np.array(each, int) for each in parts])
    roc = None
    if binary and 0 < truth[seen].sum() < len(seen):
        false, true, _ = roc_curve(truth[seen], scores[seen])
        roc = {"fpr": false, "tpr": true, "auc": float(roc_auc_score(truth[seen], scores[seen]))}
    aucs = [row["auc"] for row in rows if row["auc"] is not None]
    return {
        "folds": rows,
        "accuracy": _mean_and_deviation([row["accuracy"] for row in rows]),
        "auc": _mean_and_deviation(aucs),
        "roc": roc,
    }


def _best_threshold(scores: Any, truth: Any, usual: float) -> float:
    """Return the threshold with the most right answers, of equally good ones the one nearest to the usual one."""
    places = np.unique(scores)
    between = np.concatenate([[places[0] - 1.0], (places[1:] + places[:-1]) / 2, [places[-1] + 1.0], [usual]])
    right = np.array([((scores > each) == truth).mean() for each in between])
    best = between[right == right.max()]
    return float(best[np.abs(best - usual).argmin()])


def _mean_and_deviation(values: list[float]) -> list[float] | None:
    return [float(np.mean(values)), float(np.std(values))] if values else None

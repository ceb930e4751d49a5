"""Cross-validation whose folds, repeats, seeds and settings train together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing, indexable

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators._fit_together import fit_together
from fuzzymil.estimators._network import Network

__all__ = ["cross_val_scores"]


def cross_val_scores(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    scoring: Any = None,
    cv: Any = None,
    param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
) -> dict[str, Any]:
    """Score an estimator by cross-validation, as scikit-learn's ``cross_validate`` does, with all fits in one call.

    Folds, repeats (``cv=RepeatedStratifiedKFold(...)``), seeds (``param_grid={"random_state": range(10)}``) and
    settings that leave the shapes and the way of training as they are (``alpha``, ``init_width``, ``clip`` ...) train
    side by side in one compiled program; `fit_together` tells which do not. Every model, and so every score, is what a
    fit of its own would give, to rounding. All of them are in memory at once.

    Parameters
    ----------
    estimator : MIANFISClassifier, MIANFISRegressor, ANFISClassifier or ANFISRegressor
        Copied; not fitted itself.
    X : Bags, or anything that scikit-learn can take a subset of
    y : array of shape (n_bags,), optional
        Default: the labels that the bags carry.
    groups : array of shape (n_bags,), optional
        For splitters that keep groups together.
    scoring : str, callable, list or dict, optional
        As in ``cross_validate``. Default: the estimator's own score.
    cv : int, splitter or iterable of (train, test), optional
        As in ``cross_validate``. Default: five folds, stratified for classifiers.
    param_grid : dict or list of dict, optional
        Settings to try, as in ``GridSearchCV``. All are scored on the same folds.
    return_train_score, return_estimator, return_indices : bool
        What else to return.

    Returns
    -------
    dict
        ``test_score``, an array of shape (n_folds,), or (n_settings, n_folds) with a ``param_grid``, whose settings
        are then in ``params``; for several scorers ``test_<name>`` each. ``train_score`` in the same way;
        ``estimator``, the fitted models, a list of them for each setting of a grid; ``indices``, the ``train`` and
        ``test`` bags of each fold.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> model = MIANFISClassifier(4, max_epochs=20, random_state=0)
    >>> folds = StratifiedKFold(3, shuffle=True, random_state=0)
    >>> cross_val_scores(model, bags, cv=folds)["test_score"].shape
    (3,)
    >>> found = cross_val_scores(model, bags, cv=folds, param_grid={"alpha": [0, 5], "random_state": [0, 1]})
    >>> found["params"][2], found["test_score"].shape
    ({'alpha': 5, 'random_state': 0}, (4, 3))
    """
    if not isinstance(estimator, Network):
        raise ParameterError(
            f"cross_val_scores trains MI-ANFIS and ANFIS estimators together, not {type(estimator).__name__}: use "
            "sklearn.model_selection.cross_validate."
        )
    if y is None:
        y = X.labels if isinstance(X, Bags) else None
        if y is None:
            raise InputError("There are no labels: give y, or Bags with labels.")
    X, y, groups = indexable(X, y, groups)
    splits = [*check_cv(cv, y, classifier=is_classifier(estimator)).split(X, y, groups)]
    points = [{}] if param_grid is None else [*ParameterGrid(param_grid)]
    models = [[clone(estimator).set_params(**point) for _ in splits] for point in points]
    sides = {
        side: [(_safe_indexing(X, chosen), _safe_indexing(y, chosen)) for chosen in (split[place] for split in splits)]
        for place, side in enumerate(("train", "test"))
    }
    bags, labels = zip(*sides["train"] * len(points), strict=True)
    fit_together([model for row in models for model in row], bags, labels)
    scorer = check_scoring(estimator, scoring)
    found: dict[str, Any] = {}
    for side in ("test", "train") if return_train_score else ("test",):
        scored = [[_scores(scorer, *case) for case in zip(row, sides[side], strict=True)] for row in models]
        for name in scored[0][0]:
            values = np.array([[scores[name] for scores in row] for row in scored])
            found[f"{side}_{name}"] = values[0] if param_grid is None else values
    if param_grid is not None:
        found["params"] = points
    if return_estimator:
        found["estimator"] = models[0] if param_grid is None else models
    if return_indices:
        found["indices"] = {side: [split[place] for split in splits] for place, side in enumerate(("train", "test"))}
    return found


def _scores(scorer: Any, model: Any, part: tuple[Any, Any]) -> dict[str, float]:
    found = scorer(model, *part)
    return found if isinstance(found, dict) else {"score": found}

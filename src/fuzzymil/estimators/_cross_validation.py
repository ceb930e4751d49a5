"""Cross-validation of estimators on bags, as used by `evaluate`, the report and the experiments."""

from __future__ import annotations

import dataclasses
import functools
import numbers
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, ParameterGrid, StratifiedGroupKFold, check_cv
from sklearn.utils import _safe_indexing, indexable

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators._fit_together import fit_each, trains_together
from fuzzymil.estimators._processes import Jobs, check_jobs, fitted_models


@dataclasses.dataclass(frozen=True, kw_only=True)
class Fold:
    """A model fitted on the training bags of one split, and its predictions for the test bags.

    Attributes
    ----------
    method : int
        Position of the estimator among those that are cross-validated.
    split : int
        Number of the split, from 0.
    model : estimator
        Fitted on the training bags only.
    train, test : arrays of int
        Positions of the training and test bags.
    X : Bags, or a subset of what was passed
        The test bags.
    truth : array of shape (n_test,) or (n_test, n_outputs)
        Their labels.
    seconds : float
        Time of the fit. Of models that trained together, an equal share of the time of all.
    """

    method: int
    split: int
    model: Any
    train: Array
    test: Array
    X: Any
    truth: Array
    seconds: float

    @functools.cached_property
    def predictions(self) -> Array:
        """Predictions for the test bags, of the shape of ``truth``."""
        return np.asarray(self.model.predict(self.X))

    @functools.cached_property
    def decisions(self) -> Array | None:
        """Decision values, shape (n_test,) or (n_test, n_classes); None where the model has none."""
        return np.asarray(self.model.decision_function(self.X)) if hasattr(self.model, "decision_function") else None

    @functools.cached_property
    def probabilities(self) -> Array | None:
        """Class probabilities, shape (n_test, n_classes); None where the model has none."""
        return np.asarray(self.model.predict_proba(self.X)) if hasattr(self.model, "predict_proba") else None


def cross_validate(
    estimators: Sequence[Any],
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    seeds: Sequence[int] | None = None,
    batch_size: int | None = None,
    callback: Callable[[Fold], object] | None = None,
    n_jobs: Jobs = None,
) -> list[list[Fold]]:
    """Fit several estimators on the training bags of each split, and predict its test bags.

    All estimators see the same splits, and everything, including the steps of a pipeline, is fitted on the training
    bags alone. Networks of equal shape train in one compiled call, also as the last step of a pipeline or inside
    `NaiveMIL` (see `fit_together`); all other estimators, also those that choose rules, are fitted one by one, in
    several processes if ``n_jobs`` says so. The results are the same.

    Parameters
    ----------
    estimators : sequence of estimators
        Cloned for each split; not fitted themselves.
    X : Bags, or anything that scikit-learn can take a subset of
    y : array of shape (n_bags,) or (n_bags, n_outputs), optional
        Default: the labels of the bags.
    cv : int, splitter or iterable of (train, test), optional
        As in scikit-learn. Default: five folds, stratified for classifiers. A number, or None, keeps ``groups``
        together; other splitters must do so themselves.
    groups : array of shape (n_bags,), or str, optional
        Bags of one group are never divided into training and test bags: the visits of one person. A name means a column
        that was kept beside the features (``Bags.from_frame(..., keep=["person"])``).
    seeds : sequence of int, optional
        One ``random_state`` per split for the models of that split. Default: the estimators' own.
    batch_size : int, optional
        Number of splits to fit at a time. Default: all of them. Smaller batches report progress sooner.
    callback : callable, optional
        Called with each `Fold` when it is finished: to show progress, or to keep the finished folds on Ctrl-C.
    n_jobs : int or "auto", optional
        Number of processes for estimators that do not train in one compiled call; -1 means one for each core. "auto"
        starts them only if more work is left than their start takes. Default: fit in this process.

    Returns
    -------
    list of list of Fold
        One list per estimator, with one fold per split.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C, also during the training of networks: models that are not fully trained are not folds.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from fuzzymil import MIANFISClassifier, NaiveMIL
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> methods = [MIANFISClassifier(4, random_state=0), NaiveMIL(LogisticRegression())]
    >>> results = cross_validate(methods, bags, cv=3)
    >>> [len(folds) for folds in results]
    [3, 3]
    >>> fold = results[0][2]
    >>> fold.split, fold.predictions.shape == fold.truth.shape, fold.probabilities.shape[1]
    (2, True, 2)
    """
    if y is None:
        y = X.labels if isinstance(X, Bags) else None
        if y is None:
            raise InputError("There are no labels: pass y, or Bags with labels.")
    if isinstance(groups, str):
        groups = as_bags(X).per_bag(groups)
    check_jobs(n_jobs)
    X, y, groups = indexable(X, y, groups)
    splits = [*splitter(cv, y, groups, classifies=is_classifier(estimators[0])).split(X, y, groups)]
    if seeds is not None and len(seeds) != len(splits):
        raise ParameterError(f"seeds must have one number per split: got {len(seeds)} for {len(splits)} splits.")
    found: list[list[Fold]] = [[] for _ in estimators]

    def finish(method: int, split: int, model: Any, seconds: float) -> None:
        train, test = splits[split]
        fold = Fold(
            method=method,
            split=split,
            model=model,
            train=train,
            test=test,
            X=_safe_indexing(X, test),
            truth=np.asarray(_safe_indexing(y, test)),
            seconds=seconds,
        )
        found[method].append(fold)
        if callback is not None:
            callback(fold)

    def new_model(method: int, split: int) -> Any:
        model = clone(estimators[method])
        if seeds is not None:
            _set_seed(model, seeds[split])
        return model

    alone = [] if n_jobs in (None, 1) else [m for m, each in enumerate(estimators) if not trains_together(each)]
    cases = [(method, split) for method in alone for split in range(len(splits))]
    models = [new_model(method, split) for method, split in cases]
    fits = fitted_models(models, X, y, [splits[split][0] for _, split in cases], n_jobs)
    for place, model, seconds in fits:
        finish(*cases[place], model, seconds)
    together = [method for method in range(len(estimators)) if method not in alone]
    step = len(splits) if batch_size is None else batch_size
    for start in range(0, len(splits) if together else 0, step):
        batch = range(start, min(start + step, len(splits)))
        cases = [(method, split) for method in together for split in batch]
        models = [new_model(method, split) for method, split in cases]
        insides = [splits[split][0] for split in batch]
        bags = [_safe_indexing(X, inside) for inside in insides] * len(together)
        labels = [_safe_indexing(y, inside) for inside in insides] * len(together)
        began = time.perf_counter()
        if any(result.interrupted for result in fit_each(models, bags, labels)):
            raise KeyboardInterrupt
        seconds = (time.perf_counter() - began) / len(cases)
        for case, model in zip(cases, models, strict=True):
            finish(*case, model, seconds)
    return [sorted(folds, key=lambda fold: fold.split) for folds in found]


def splitter(cv: Any, y: Any, groups: Any, *, classifies: bool, random_state: Any = None) -> Any:
    """Return what divides bags into folds: scikit-learn's choice, or, given groups, folds that keep them together.

    Parameters
    ----------
    cv : int, splitter, iterable of (train, test), or None
    y : array of shape (n_bags,)
    groups : array of shape (n_bags,) or None
    classifies : bool
        Whether the folds should have the same share of each class.
    random_state : int or RandomState, optional
        Shuffles the bags or groups; only with groups.

    Examples
    --------
    >>> splitter(3, [0, 1, 0, 1], ["Ann", "Ann", "Bob", "Eve"], classifies=True)
    StratifiedGroupKFold(n_splits=3, random_state=None, shuffle=False)
    """
    if groups is None or not (cv is None or isinstance(cv, numbers.Integral)):
        return check_cv(cv, y, classifier=classifies)
    n_folds, n_groups = 5 if cv is None else int(cv), len(np.unique(np.asarray(groups)))
    if n_groups < n_folds:
        raise InputError(
            f"{n_folds} folds need as many groups, but there are {n_groups}: use fewer folds, or leave out the groups."
        )
    kind = StratifiedGroupKFold if classifies else GroupKFold
    return kind(n_folds, shuffle=random_state is not None, random_state=random_state)


def _set_seed(model: Any, seed: int) -> None:
    """Set every ``random_state`` of a model, also of the estimators inside it."""
    names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
    model.set_params(**dict.fromkeys(names, seed))


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
    n_jobs: Jobs = None,
) -> dict[str, Any]:
    """Score an estimator by cross-validation, like scikit-learn's ``cross_validate``, with all networks in one call.

    Folds, repeats (``cv=RepeatedStratifiedKFold(...)``), seeds (``param_grid={"random_state": range(10)}``) and
    parameters that change neither the shapes nor the way of training (``alpha``, ``init_width``, ...) train side by
    side in one compiled program; see `fit_together`. Each score equals that of a separate fit, up to rounding. All
    models are in memory at once.

    Parameters
    ----------
    estimator : estimator
        Cloned; not fitted itself.
    X : Bags, or anything that scikit-learn can take a subset of
    y : array of shape (n_bags,), optional
        Default: the labels of the bags.
    groups : array of shape (n_bags,), or str, optional
        Bags of one group stay together; see `cross_validate`.
    scoring : str, callable, list or dict, optional
        As in ``cross_validate``. Default: the estimator's own score.
    cv : int, splitter or iterable of (train, test), optional
        As in ``cross_validate``. Default: five folds, stratified for classifiers.
    param_grid : dict or list of dict, optional
        Parameters to try, as in ``GridSearchCV``. All are scored on the same folds.
    return_train_score, return_estimator, return_indices : bool, default False
        What else to return.
    n_jobs : int or "auto", optional
        Number of processes for what does not train in one call; see `cross_validate`.

    Returns
    -------
    dict
        ``test_score``, an array of shape (n_folds,), or (n_points, n_folds) with a ``param_grid``, whose points are
        in ``params``; with several scorers one ``test_<name>`` each. ``train_score`` as well; ``estimator``, the
        fitted models, one list per point of a grid; ``indices``, the ``train`` and ``test`` bags of each fold.

    Examples
    --------
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> model = MIANFISClassifier(4, random_state=0)
    >>> folds = StratifiedKFold(3, shuffle=True, random_state=0)
    >>> cross_val_scores(model, bags, cv=folds)["test_score"].shape
    (3,)
    >>> found = cross_val_scores(model, bags, cv=folds, param_grid={"alpha": [0, 5], "random_state": [0, 1]})
    >>> found["params"][2], found["test_score"].shape
    ({'alpha': 5, 'random_state': 0}, (4, 3))
    """
    points = [{}] if param_grid is None else [*ParameterGrid(param_grid)]
    y = X.labels if y is None and isinstance(X, Bags) else y
    candidates = [clone(estimator).set_params(**point) for point in points]
    results = cross_validate(candidates, X, y, cv=cv, groups=groups, n_jobs=n_jobs)
    scorer = check_scoring(estimator, scoring)
    found: dict[str, Any] = {}
    for side in ("test", "train") if return_train_score else ("test",):
        scored = [[_scores(scorer, fold, X, y, side) for fold in folds] for folds in results]
        for name in scored[0][0]:
            values = np.array([[scores[name] for scores in row] for row in scored])
            found[f"{side}_{name}"] = values[0] if param_grid is None else values
    if param_grid is not None:
        found["params"] = points
    if return_estimator:
        models = [[fold.model for fold in folds] for folds in results]
        found["estimator"] = models[0] if param_grid is None else models
    if return_indices:
        found["indices"] = {side: [getattr(fold, side) for fold in results[0]] for side in ("train", "test")}
    return found


def _scores(scorer: Any, fold: Fold, X: Any, y: Any, side: str) -> dict[str, float]:
    bags, labels = fold.X, fold.truth
    if side == "train":
        bags, labels = (_safe_indexing(values, fold.train) for values in indexable(X, y))
    found = scorer(fold.model, bags, labels)
    return found if isinstance(found, dict) else {"score": found}

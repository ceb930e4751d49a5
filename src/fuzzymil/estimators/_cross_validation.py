"""Cross-validation of estimators on bags, as used by `evaluate`, the report and the experiments."""

from __future__ import annotations

import dataclasses
import functools
import numbers
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GroupKFold, ParameterGrid, StratifiedGroupKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, indexable

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, warn_user
from fuzzymil._utils.processes import helpers, shared
from fuzzymil._utils.runtime import granted_cores
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators.mianfis import Job, Network, warn_interrupted
from fuzzymil.estimators.wrappers import NaiveMIL

if TYPE_CHECKING:
    from fuzzymil.learn.train import Result


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
    `NaiveMIL` (see `fit_together`). On Ctrl-C, `KeyboardInterrupt` is raised: models that are not fully trained are not
    folds.

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
        Called with each `Fold` when it is finished.
    n_jobs : int or "auto", optional
        Number of processes for estimators that do not train in one compiled call; -1 means one for each core. "auto"
        starts them only if more work is left than their start takes. Default: fit in this process.

    Returns
    -------
    list of list of Fold
        One list per estimator, with one fold per split.

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
        if seeds is not None:  # for every ``random_state`` of a model, also of the estimators inside it
            names = [name for name in model.get_params() if name.split("__")[-1] == "random_state"]
            model.set_params(**dict.fromkeys(names, seeds[split]))
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

    ``classifies``: whether the folds should have the same share of each class. ``random_state`` shuffles groups.

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
    side in one compiled program; see `fit_together`. All models are in memory at once.

    Parameters
    ----------
    estimator : estimator
        Cloned; not fitted itself.
    X, y, groups, cv, n_jobs
        See `cross_validate`.
    scoring : str, callable, list or dict, optional
        As in scikit-learn's ``cross_validate``. Default: the estimator's own score.
    param_grid : dict or list of dict, optional
        Parameters to try, as in ``GridSearchCV``. All are scored on the same folds.
    return_train_score, return_estimator, return_indices : bool, default False
        What else to return.

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


# Settings that control a whole call; everything else that matters is in the plan and in the shapes of the first rules.
_CALL_SETTINGS = ("learning_rate", "max_epochs", "n_iter_no_change", "tol", "precision", "checkpoint")


def fit_together(estimators: Sequence[Any], X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
    """Fit estimators, each on its own bags, as many as possible at once.

    Use it for the folds of a cross-validation, for repeats with other seeds and for the points of a parameter grid.
    Networks with the same shape and training (number of rules, restarts and members, operators, loss, optimizer,
    learning rate and stopping criteria) train in one compiled call, also as the last step of a pipeline or inside
    `NaiveMIL`. Every other estimator is fitted on its own. Each result equals that of a separate fit, up to rounding.
    Returns the estimators, which are fitted in place, each on its entry of ``X`` and ``y`` (or the labels of the bags).

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> halves = [bags[::2], bags[1::2]]
    >>> models = fit_together([MIANFISClassifier(4, random_state=0) for _ in halves], halves)
    >>> [model.rules_.n_rules for model in models]
    [4, 4]
    """
    warn_interrupted(fit_each(estimators, X, y))
    return list(estimators)


def fit_each(estimators: Sequence[Any], X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Result]:
    """Fit as `fit_together` does, without its warning; return how the training of each network went."""
    labels = [None] * len(X) if y is None else list(y)
    if not len(estimators) == len(X) == len(labels):
        raise ParameterError(
            f"fit_together needs bags and labels for each estimator: got {len(estimators)} estimators, "
            f"{len(X)} sets of bags and {len(labels)} sets of labels."
        )
    networks: list[tuple[Network, Job]] = []
    wrappers: list[tuple[NaiveMIL, Network, Bags]] = []
    for estimator, bags, target in zip(estimators, X, labels, strict=True):
        while isinstance(estimator, Pipeline):
            if len(estimator) > 1:
                bags = estimator[:-1].fit_transform(bags, target)
            estimator = estimator[-1]
        if isinstance(estimator, NaiveMIL) and isinstance(estimator.estimator, Network):
            network, instances, instance_labels, _ = estimator._prepare(bags, target)
            wrappers.append((estimator, network, as_bags(bags)))
            networks.append((network, _prepared(network, instances, instance_labels)))
        elif isinstance(estimator, Network):
            networks.append((estimator, _prepared(estimator, bags, target)))
        else:
            estimator.fit(bags, getattr(bags, "labels", None) if target is None else target)
    results = []
    for alike in _alike(networks):
        first = alike[0][0]
        trained = first._train_jobs([job for _, job in alike], first._training.max_epochs)
        for (network, _), (job, result) in zip(alike, trained, strict=True):
            network._finish(job, result)
            results.append(result)
    for wrapper, network, bags in wrappers:
        wrapper._finish(network, bags)
    return results


def trains_together(estimator: Any) -> bool:
    """Return whether `fit_together` trains this estimator in one compiled call with others of equal shape.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier, RuleClassifier
    >>> trains_together(RuleClassifier()), trains_together(MIANFISClassifier())
    (False, True)
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return isinstance(estimator.estimator if isinstance(estimator, NaiveMIL) else estimator, Network)


def _prepared(network: Network, bags: Any, labels: Any) -> Job:
    network._check_settings()
    return network._prepare(bags, labels, None, resume=network._training.warm_start)


def _alike(networks: Sequence[tuple[Network, Job]]) -> list[list[tuple[Network, Job]]]:
    """Group fits that one compiled program can train: of equal plan, shapes and stopping criteria."""
    kinds: dict[Any, list[tuple[Network, Job]]] = {}
    for network, job in networks:
        import jax

        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves((job.group.starts, job.group.masks)))
        training = network._training
        settings = tuple(getattr(training, name) for name in _CALL_SETTINGS)
        settings += (network.max_conditions, network.verbose, tuple(map(id, training.callbacks)))
        single = job.group.bags.bag_index is None
        afresh, free = job.group.optimizer_state is None, job.group.limits is None
        kind = (type(network), job.plan, shapes, settings, single, afresh, free)
        kinds.setdefault(kind, []).append((network, job))
    return list(kinds.values())


Jobs = int | Literal["auto"] | None
_WORTH_STARTING = 8.0  # seconds of work left: a process takes two or three to load what it needs


def check_jobs(n_jobs: Jobs) -> None:
    """Raise `ParameterError` unless this is a number of processes, "auto" or None."""
    if not (n_jobs is None or n_jobs == "auto" or (isinstance(n_jobs, int) and n_jobs != 0)):
        raise ParameterError(f"n_jobs must be a number of processes, -1 for all cores, or 'auto', got {n_jobs!r}.")


def fitted_models(
    models: Sequence[Any], X: Any, y: Any, insides: Sequence[Array], n_jobs: Jobs
) -> Iterator[tuple[int, Any, float]]:
    """Yield the place of each model, the model fitted on its part of the bags, and the seconds that its fit took.

    They come as they are finished, in any order.

    ``insides``: positions of the training bags of each model. ``n_jobs``: number of processes. "auto" fits here until
    enough work is left for other processes to be worth their start. Processes that run already, in the context of
    `helped`, are always used.
    """
    cases = [(model, X, y, inside) for model, inside in zip(models, insides, strict=True)]
    running = helpers()
    if running is not None and n_jobs != 1:
        for place, (model, seconds, warned) in shared(running, cases, lambda *case: (*_fitted(*case), []), _elsewhere):
            _warn(warned)
            yield place, model, seconds
        return
    spent, done = 0.0, 0
    if n_jobs == "auto" and granted_cores() == 1:
        n_jobs = 1
    for place, case in enumerate(cases):
        if n_jobs not in ("auto", 1) or (n_jobs == "auto" and spent * (len(models) - done) > _WORTH_STARTING * done):
            break
        model, seconds = _fitted(*case)
        spent, done = spent + seconds, done + 1
        yield place, model, seconds
    if done < len(models):
        pool = Parallel(n_jobs=-1 if n_jobs == "auto" else n_jobs, batch_size=1, return_as="generator")
        found = pool(delayed(_elsewhere)(*case) for case in cases[done:])
        for place, (model, seconds, warned) in enumerate(found, done):
            _warn(warned)
            yield place, model, seconds


def _warn(texts: list[tuple[str, type[Warning]]]) -> None:
    for text, category in texts:
        warn_user(text, category)


def _fitted(model: Any, X: Any, y: Any, inside: Array) -> tuple[Any, float]:
    began = time.perf_counter()
    model.fit(_safe_indexing(X, inside), _safe_indexing(y, inside))
    return model, time.perf_counter() - began


def _elsewhere(model: Any, X: Any, y: Any, inside: Array) -> tuple[Any, float, list[tuple[str, type[Warning]]]]:
    """Fit in a process of a pool; return the warnings as well, which would get lost there."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # one GPU cannot serve all processes
    verbose = {name: value for name, value in model.get_params().items() if name.split("__")[-1] == "verbose"}
    model.set_params(**dict.fromkeys(verbose, False))  # several progress bars would overwrite each other
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model, seconds = _fitted(model, X, y, inside)
    return model.set_params(**verbose), seconds, [(str(each.message), each.category) for each in caught]

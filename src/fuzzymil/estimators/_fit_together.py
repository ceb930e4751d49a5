"""Many fits at once: estimators of one kind, each on its own bags, in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators._initialize import Job
from fuzzymil.estimators._network import Network

__all__ = ["fit_together"]

# Settings that steer a whole call; what else matters is in the plan and in the shapes of the first rules.
_STEERING = (
    "learning_rate",
    "max_epochs",
    "tol",
    "n_iter_no_change",
    "max_terms",
    "precision",
    "verbose",
    "checkpoint",
)


def fit_together(estimators: Sequence[Any], X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
    """Fit estimators of one class, each on its own bags.

    What the folds of a cross-validation, repeats with other seeds and points of a grid of settings want: a compiled
    program trains all of those that are of one shape and trained alike (equal numbers of rules, restarts and members,
    operators, loss, optimizer, rate and ways of stopping). Every one comes out as if it had been fitted alone, to
    rounding.

    Parameters
    ----------
    estimators : sequence of MIANFISClassifier, MIANFISRegressor, ANFISClassifier or ANFISRegressor
    X : sequence of bags
        One for each estimator, with the same features.
    y : sequence of arrays, optional
        Default: the labels the bags carry.

    Returns
    -------
    list of estimators
        The given ones, fitted.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> halves = [bags[::2], bags[1::2]]
    >>> models = fit_together([MIANFISClassifier(4, max_epochs=5, random_state=0) for _ in halves], halves)
    >>> [model.rules_.n_rules for model in models]
    [4, 4]
    """
    labels = [None] * len(X) if y is None else list(y)
    if not len(estimators) == len(X) == len(labels):
        raise ParameterError(f"{len(estimators)} estimators need as many sets of bags and labels.")
    for estimator in estimators:
        if not isinstance(estimator, Network):
            raise ParameterError(f"fit_together trains MI-ANFIS and ANFIS estimators, not {type(estimator).__name__}.")
        if type(estimator) is not type(estimators[0]):
            raise ParameterError("Estimators fitted together must be of one class.")
        if estimator.distributed:
            raise ParameterError("fit_together trains in one process: set distributed=False, or fit one by one.")
    if not estimators:
        return []
    jobs = [
        estimator._prepare(bags, target, None, go_on=bool(estimator.warm_start))
        for estimator, bags, target in zip(estimators, X, labels, strict=True)
    ]
    for places in _alike(estimators, jobs):
        first = estimators[places[0]]
        trained = first._train_jobs([jobs[place] for place in places], first.max_epochs)
        for place, (job, result) in zip(places, trained, strict=True):
            estimators[place]._finish(job, result)
    return list(estimators)


def _alike(estimators: Sequence[Network], jobs: list[Job]) -> list[list[int]]:
    """Places of fits that one program can train: equal plans, shapes, and ways of stopping."""
    kinds: dict[Any, list[int]] = {}
    for place, (estimator, job) in enumerate(zip(estimators, jobs, strict=True)):
        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves((job.group.starts, job.group.masks)))
        steered = tuple(getattr(estimator, name) for name in _STEERING)
        callbacks = tuple(map(id, estimator.callbacks or ()))
        single = job.group.bags.bag_index is None
        afresh, free = job.group.optimizer_state is None, job.group.limits is None
        kinds.setdefault((job.plan, shapes, steered, callbacks, single, afresh, free), []).append(place)
    return list(kinds.values())

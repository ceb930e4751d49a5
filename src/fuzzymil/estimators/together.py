"""Many fits at once: estimators of one kind, each on its own bags, in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from fuzzymil.errors import ParameterError
from fuzzymil.estimators.base import Network
from fuzzymil.estimators.starting import Job

__all__ = ["fit_together", "same_settings"]


def fit_together(estimators: Sequence[Any], X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
    """Fit estimators of equal settings (but for their random state), each on its own bags.

    What the folds of a cross-validation, or repeats with other seeds, want: one compiled program trains
    all of them, and every one comes out as if it had been fitted alone (to rounding).

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
        _check_settings(estimators[0], estimator)
    if not estimators:
        return []
    jobs = [
        estimator._prepare(bags, target, None, go_on=bool(estimator.warm_start))
        for estimator, bags, target in zip(estimators, X, labels, strict=True)
    ]
    first = estimators[0]
    for places in _alike(jobs):
        trained = first._train_jobs([jobs[place] for place in places], first.max_epochs)
        for place, (job, result) in zip(places, trained, strict=True):
            estimators[place]._finish(job, result)
    return list(estimators)


def same_settings(one: Network, other: Network) -> bool:
    """Whether estimators of one class are set equally, but for their random state.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> same_settings(MIANFISClassifier(random_state=0), MIANFISClassifier(random_state=1))
    True
    """
    return _difference(one, other) is None


def _check_settings(one: Network, other: Network) -> None:
    if type(one) is not type(other):
        raise ParameterError("Estimators fitted together must be of one class.")
    name = _difference(one, other)
    if name is not None:
        raise ParameterError(f"Estimators fitted together need equal settings, but {name} differs.")


def _difference(one: Network, other: Network) -> str | None:
    """Return the first setting, beside the random state, in which estimators of one class differ."""
    mine, yours = one.get_params(), other.get_params()
    for name, value in mine.items():
        if name != "random_state" and not np.array_equal(np.asarray(value, object), np.asarray(yours[name], object)):
            return str(name)
    return None


def _alike(jobs: list[Job]) -> list[list[int]]:
    """Places of jobs that one program can train: equal plans, shapes, and both or neither of single instances."""
    kinds: dict[Any, list[int]] = {}
    for place, job in enumerate(jobs):
        shapes = tuple(np.shape(leaf) for leaf in jax.tree.leaves((job.group.starts, job.group.masks)))
        afresh = job.group.optimizer_state is None
        kinds.setdefault((job.plan, shapes, job.group.bags.bag_index is None, afresh), []).append(place)
    return list(kinds.values())

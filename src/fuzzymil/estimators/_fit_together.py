"""Fit many estimators, each on its own bags; networks of equal shape train in one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators._naive import NaiveMIL
from fuzzymil.estimators.mianfis import Job, Network, warn_interrupted

if TYPE_CHECKING:
    from fuzzymil.learn.train import Result

# Settings that control a whole call; everything else that matters is in the plan and in the shapes of the first rules.
_CALL_SETTINGS = ("learning_rate", "max_epochs", "n_iter_no_change", "tol", "precision", "checkpoint")


def fit_together(estimators: Sequence[Any], X: Sequence[Any], y: Sequence[Any] | None = None) -> list[Any]:
    """Fit estimators, each on its own bags, as many as possible at once.

    Use it for the folds of a cross-validation, for repeats with other seeds and for the points of a parameter grid.
    Networks with the same shape and training (number of rules, restarts and members, operators, loss, optimizer,
    learning rate and stopping criteria) train in one compiled call, also as the last step of a pipeline or inside
    `NaiveMIL`. Every other estimator is fitted on its own. Each result equals that of a separate fit, up to rounding.

    Parameters
    ----------
    estimators : sequence of estimators
        Fitted in place. Networks are `MIANFISClassifier`, `MIANFISRegressor`, `ANFISClassifier` and `ANFISRegressor`.
    X : sequence of bags
        One entry per estimator.
    y : sequence of arrays, optional
        Labels, one array per estimator. Default: the labels of the bags.

    Returns
    -------
    list of estimators
        The estimators passed in, fitted.

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

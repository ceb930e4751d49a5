"""Fits on bags that are not all in this process's memory: on streams, and with other processes."""

from __future__ import annotations

import functools
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators._initialize import Coding, Job, Overview
from fuzzymil.estimators.features import bag_labels
from fuzzymil.training import Result
from fuzzymil.training.distributed.census import Census, take_census
from fuzzymil.training.distributed.feed import Feed
from fuzzymil.training.distributed.processes import ProcessGroup, current
from fuzzymil.training.progress import counting_bar

if TYPE_CHECKING:
    from fuzzymil.estimators._network import Network

__all__ = ["train_spread"]


def train_spread(estimator: Network, X: Any, y: Any, sample_weight: Any) -> tuple[Job, Result]:
    """Train on a stream, or on this process's share of the bags; the rules start from a sample of all of them.

    Parameters
    ----------
    estimator : Network
    X : BagStream or bags
    y, sample_weight : arrays, optional
        Of bags; those of a stream carry their labels.

    Returns
    -------
    job : Job
        About the sample.
    result : Result
    """
    estimator._check_settings()
    processes = current() if estimator.distributed else ProcessGroup()
    going_on = bool(estimator.warm_start) and hasattr(estimator, "members_")
    rng = _agreed_generator(estimator.random_state, processes)
    stream, labels, own_weights = _as_stream(estimator, X, y, sample_weight)

    def check(part: Bags) -> Bags:
        return estimator._bags_to_fit(part, going_on=going_on)

    with counting_bar("Reading", enabled=bool(estimator.verbose)) as look:
        census = take_census(stream, processes, check, look, labels)
    return _trained(estimator, stream, processes, census, own_weights, going_on, rng)


def _agreed_generator(random_state: Any, processes: ProcessGroup) -> np.random.RandomState:
    """Return a generator from which every process draws the same: where no seed is given, the first one's."""
    drawn: np.random.RandomState = check_random_state(random_state)
    if processes.size == 1 or isinstance(random_state, numbers.Integral):
        return drawn
    seed = processes.gather({"seed": np.array(drawn.randint(2**31 - 1))})[0]["seed"]
    return np.random.RandomState(int(seed))


def _as_stream(estimator: Network, X: Any, y: Any, sample_weight: Any) -> tuple[BagStream, Array | None, Array | None]:
    """Return a stream, labels that its bags do not carry, and weights."""
    if isinstance(X, BagStream):
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None:
                raise InputError(f"The bags of a stream carry their labels and count alike: leave {name} out.")
        return X, None, None

    @functools.cache
    def whole(part: int) -> Bags:
        # Called by the census, which tells the other processes when these bags cannot be used.
        bags = as_bags(X)
        bag_labels(bags, y, type(estimator).__name__)
        if weights is not None and weights.shape != (bags.n_bags,):
            raise InputError(f"There are {bags.n_bags} bags here but weights of shape {weights.shape}: give one a bag.")
        return bags

    weights = None if sample_weight is None else np.asarray(sample_weight, float)
    return BagStream(whole, 1), None if y is None else np.asarray(y), weights


def _trained(
    estimator: Network,
    stream: BagStream,
    processes: ProcessGroup,
    census: Census,
    own_weights: Array | None,
    going_on: bool,
    rng: np.random.RandomState,
) -> tuple[Job, Result]:
    coding = _coding(estimator, census, processes, own_weights, going_on)
    sample = coding.only(census.places)
    overview = Overview(census.measures, coding.targets, coding.weights)
    if going_on:
        learned = estimator._continued(len(census.labels))
    else:
        learned = estimator._start(census.sample, sample, rng, overview)
    weights, held_out = estimator._counted(len(learned.params), coding, rng)
    held = None if held_out is None else held_out[:, census.places]
    group = estimator._group(learned, census.sample, sample, weights[:, census.places], held, rng)
    job = Job(census.sample, sample, learned, group, estimator._plan(learned), going_on)
    axes = learned.scaling
    feed = Feed(
        stream=stream,
        processes=processes,
        census=census,
        transform=axes.apply,
        fill=-axes.shift / axes.scale,
        targets=axes.apply_to_targets(coding.targets),
        weights=weights,
        held_out=held_out,
        dtype=estimator._dtype(),
    )
    return estimator._train_jobs([job], estimator.max_epochs, feed)[0]


def _coding(
    estimator: Network, census: Census, processes: ProcessGroup, own_weights: Array | None, going_on: bool
) -> Coding:
    """Return what the labels of all bags mean."""
    n_bags = len(census.labels)
    if n_bags < 2:
        raise InputError("There is one sample, that is one bag: learning needs at least two.")
    weights = np.ones(int(census.part_bags.sum())) if own_weights is None else own_weights
    everyone = np.concatenate([other["weights"] for other in processes.gather({"weights": weights})])
    # Labels are all that is looked at, so bags of a single zero stand in for the others.
    stand_in = Bags(np.zeros((n_bags, 1)), np.arange(n_bags + 1))
    return estimator._encode(stand_in, census.labels, everyone, going_on=going_on, classes=None)

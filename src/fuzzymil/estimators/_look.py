"""Reading a stream of bags, or a process's share of them, once before fitting."""

from __future__ import annotations

import functools
import numbers
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators._initialization import Coding, Overview
from fuzzymil.estimators.inputs import bag_labels
from fuzzymil.learn.train.distributed.census import Census
from fuzzymil.learn.train.distributed.processes import ProcessGroup


class Look(NamedTuple):
    """What one pass over a stream finds out."""

    stream: BagStream
    processes: ProcessGroup
    census: Census
    coding: Coding
    sample: Coding
    overview: Overview
    rng: np.random.RandomState


def common_generator(random_state: Any, processes: ProcessGroup) -> np.random.RandomState:
    """Return a generator that draws the same numbers in every process: without a seed, those of the first process."""
    drawn: np.random.RandomState = check_random_state(random_state)
    if processes.size == 1 or isinstance(random_state, numbers.Integral):
        return drawn
    seed = processes.gather({"seed": np.array(drawn.randint(2**31 - 1))})[0]["seed"]
    return np.random.RandomState(int(seed))


def as_stream(X: Any, y: Any, sample_weight: Any, kind: str) -> tuple[BagStream, Array | None, Array | None]:
    """Return a stream, labels that its bags do not carry, and weights."""
    if isinstance(X, BagStream):
        for name, given in (("y", y), ("sample_weight", sample_weight)):
            if given is not None:
                raise InputError(f"The bags of a stream carry their labels and have equal weights: leave {name} out.")
        return X, None, None

    @functools.cache
    def whole(part: int) -> Bags:
        # Called by the census, which informs the other processes if these bags cannot be used.
        bags = as_bags(X)
        bag_labels(bags, y, kind)
        if weights is not None and weights.shape != (bags.n_bags,):
            raise InputError(f"There are {bags.n_bags} bags but weights of shape {weights.shape}: pass one per bag.")
        return bags

    weights = None if sample_weight is None else np.asarray(sample_weight, float)
    return BagStream(whole, 1), None if y is None else np.asarray(y), weights


def require_all_classes(coding: Coding, sample: Coding) -> None:
    """Raise if a sample of a stream lacks a class: no rule could be found for it."""
    absent = np.setdiff1d(coding.groups, sample.groups)
    if coding.classes is not None and len(absent):
        raise InputError(
            f"Rules are chosen from a sample of {len(sample.groups):,} of the {len(coding.groups):,} bags, which has "
            f"none of the class {coding.classes[absent[0]]!r}: load the bags into memory, where every class gets its "
            "share of the sample, or train on all of them (init='kmeans')."
        )

"""Reading a stream of bags once before fitting."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.errors import InputError
from fuzzymil.bags import BagStream
from fuzzymil.estimators._initialization import Coding, Overview
from fuzzymil.learn.train.stream import StreamSummary


class Look(NamedTuple):
    """What one pass over a stream finds out."""

    stream: BagStream
    summary: StreamSummary
    coding: Coding
    sample: Coding
    overview: Overview
    rng: np.random.RandomState


def require_no_labels(y: Any, sample_weight: Any) -> None:
    """Raise if labels or weights are given for a stream, whose bags carry their labels."""
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            raise InputError(f"The bags of a stream carry their labels and have equal weights: leave {name} out.")


def require_all_classes(coding: Coding, sample: Coding) -> None:
    """Raise if a sample of a stream lacks a class: no rule could be found for it."""
    absent = np.setdiff1d(coding.groups, sample.groups)
    if coding.classes is not None and len(absent):
        raise InputError(
            f"Rules are chosen from a sample of {len(sample.groups):,} of the {len(coding.groups):,} bags, which has "
            f"none of the class {coding.classes[absent[0]]!r}: load the bags into memory, where every class gets its "
            "share of the sample, or train on all of them (init='kmeans')."
        )

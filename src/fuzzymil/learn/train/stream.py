"""One pass over a stream: its labels and ranges, and a sample to initialize rules on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, BagStream
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.scaling import Measures


class StreamSummary(NamedTuple):
    """What is known about all bags of a stream."""

    measures: Measures
    labels: Array  # (n_bags,) or (n_bags, n_outputs)
    any_missing: bool
    sample: Bags
    places: Array  # of the sample's bags among all bags
    part_bags: Array  # (n_parts,) bags in each part
    part_rows: Array  # (n_parts,) instances
    greatest_bag: int
    digest: str  # of all bags


def summarize(stream: BagStream, check: Callable[[Bags], Bags], report: Callable[[int, int], None]) -> StreamSummary:
    """Pass over all parts once.

    ``check``: receives each part and returns it, or raises. ``report``: called with the number of parts done and the
    number of parts.
    """
    measures, sizes, part_bags = [], [], []
    labels: list[Array] = []
    sample, digest = _Sample(), hashlib.blake2b(digest_size=16)
    features: tuple[Any, ...] = ()
    for number, part in enumerate(stream):
        bags = check(part)
        own = bags.labels
        if own is None:
            raise InputError(f"Part {number} of the stream has no labels: load must return Bags with labels.")
        if labels and _is_text(own) != _is_text(labels[0]):
            raise InputError(f"The labels of parts 0 and {number} of the stream mix text and numbers: use one of them.")
        now = bags.feature_names, bags.n_features
        if number and now != features:
            raise InputError(
                f"Part {number} of the stream has different features than part 0: {now[0] or now[1]} instead of "
                f"{features[0] or features[1]}."
            )
        features = now
        measures.append(Measures.of(bags.instances))
        labels.append(own)
        sizes.append(bags.sizes)
        part_bags.append(bags.n_bags)
        hashes = partition.bag_hashes(bags)
        sample.add(bags, sum(part_bags[:-1]), hashes)
        digest.update(hashes.tobytes() + bags.sizes.tobytes() + repr(own.tolist()).encode())
        report(number + 1, len(stream))
    whole = Measures.joined(measures)
    part_rows = np.array([int(each.sum()) for each in sizes])
    kept, places = sample.result()
    return StreamSummary(
        measures=whole,
        labels=np.concatenate(labels),
        any_missing=bool((whole.n_known < part_rows.sum()).any()),
        sample=kept,
        places=places,
        part_bags=np.array(part_bags),
        part_rows=part_rows,
        greatest_bag=max(int(each.max()) for each in sizes),
        digest=digest.hexdigest(),
    )


def _is_text(labels: Array) -> bool:
    return labels.dtype.kind in "US" or (labels.dtype == object and isinstance(labels.ravel()[0], str))


class _Sample:
    """The bags with the lowest hashes, as many as the sample holds."""

    def __init__(self) -> None:
        self._parts: list[tuple[Bags, Array, Array]] = []  # bags, their numbers and hashes

    def add(self, bags: Bags, first: int, hashes: Array) -> None:
        if bags.columns is not None and bags.columns.categorical.any():
            name = bags.columns.names[int(np.argmax(bags.columns.categorical))]
            raise InputError(
                f"Feature {name!r} has categories, which streams do not support yet: pass all bags at "
                "once, or bags.with_indicators()."
            )
        plain = Bags(bags.instances, bags.offsets, feature_names=bags.feature_names)
        self._parts.append((plain, first + np.arange(bags.n_bags), hashes))
        if sum(part.n_instances for part, _, _ in self._parts) > 2 * partition.SAMPLE_ROWS:
            self._thin()

    def _thin(self) -> None:
        bags = Bags.concatenate([part for part, _, _ in self._parts])
        numbers, hashes = (np.concatenate([part[place] for part in self._parts]) for place in (1, 2))
        chosen = partition.sample_places(hashes, bags.sizes)
        self._parts = [(bags[chosen], numbers[chosen], hashes[chosen])]

    def result(self) -> tuple[Bags, Array]:
        """Return the bags and their numbers."""
        if len(self._parts) > 1 or self._parts[0][0].n_instances > partition.SAMPLE_ROWS:
            self._thin()
        bags, numbers, _ = self._parts[0]
        return bags, numbers

"""One pass over all bags of all processes: their number, labels and ranges, and a sample to initialize rules on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, BagStream
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.distributed.processes import ProcessGroup
from fuzzymil.learn.train.scaling import Measures

__all__ = ["Census", "take_census"]


class Census(NamedTuple):
    """What is known about all bags of all processes."""

    measures: Measures
    labels: Array  # (n_bags,) or (n_bags, n_outputs), process after process
    any_missing: bool
    sample: Bags
    places: Array  # of the sample's bags among all bags
    first: int  # number of this process's first bag among all bags
    part_bags: Array  # (n_parts,) bags in each part of this process
    part_rows: Array  # (n_parts,) instances
    greatest_bag: int
    digest: str  # of all bags of all processes


def take_census(
    stream: BagStream,
    processes: ProcessGroup,
    check: Callable[[Bags], Bags],
    report: Callable[[int, int], None],
    labels: Array | None = None,
) -> Census:
    """Pass over all parts once; every process over its own.

    Parameters
    ----------
    stream : BagStream
        This process's parts.
    processes : ProcessGroup
    check : callable
        Receives each part and returns it, or raises.
    report : callable
        Called with the number of parts done and the number of parts.
    labels : array of shape (n_bags, ...), optional
        Labels for a stream of one part, instead of those in its bags.

    Raises
    ------
    InputError
        In all processes, if the bags of one are invalid.

    Examples
    --------
    >>> bags = Bags(np.arange(6.0)[:, None], [0, 2, 5, 6], labels=[0, 1, 0])
    >>> census = take_census(BagStream.from_bags(bags, 2), ProcessGroup(), lambda part: part, lambda *_: None)
    >>> census.labels.tolist(), census.part_rows.tolist(), census.greatest_bag
    ([0, 1, 0], [2, 4], 3)
    """
    found: dict[str, Array] = {}
    problem = None
    try:
        found = _local(stream, labels, check, report)
    except Exception as error:  # of any kind, because the other processes wait for an answer
        problem = error
    message = np.array("" if problem is None else str(problem) or type(problem).__name__)
    everyone = processes.gather(found | {"problem": message})
    for rank, other in enumerate(everyone):
        if str(other["problem"]):
            if problem is not None:
                raise problem
            raise InputError(f"Process {rank + 1} of {processes.size} has invalid bags: {other['problem']}")
    return _joined(everyone, found, processes.rank)


def _local(
    stream: BagStream, given: Array | None, check: Callable[[Bags], Bags], report: Callable[[int, int], None]
) -> dict[str, Array]:
    measures, sizes, part_bags = [], [], []
    labels: list[Array] = []
    sample, digest = _Sample(), hashlib.blake2b(digest_size=16)
    features: tuple[Any, ...] = ()
    for number, part in enumerate(stream):
        bags = check(part)
        own = bags.labels if given is None else given
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
    kept = sample.bags()
    return {
        **{f"measure_{name}": values for name, values in whole._asdict().items()},
        "labels": _plain(np.concatenate(labels)),
        "names": np.array(features[0] or (), dtype=str),
        "part_bags": np.array(part_bags),
        "part_rows": np.array([int(each.sum()) for each in sizes]),
        "greatest_bag": np.array(max(int(each.max()) for each in sizes)),
        "sample": kept.instances,
        "sample_offsets": kept.offsets,
        "sample_hashes": sample.hashes(),
        "sample_places": sample.places(),
        "digest": np.array(digest.hexdigest()),
    }


def _is_text(labels: Array) -> bool:
    return labels.dtype.kind in "US" or (labels.dtype == object and isinstance(labels.ravel()[0], str))


def _plain(labels: Array) -> Array:
    """Return labels as an array that can be sent to other processes: text as text, not as objects."""
    return np.array(labels.tolist()) if labels.dtype == object else labels


def _joined(everyone: list[dict[str, Array]], own: dict[str, Array], rank: int) -> Census:
    names = {tuple(other["names"].tolist()) for other in everyone}
    widths = {other["sample"].shape[1] for other in everyone}
    if len(names) > 1 or len(widths) > 1:
        raise InputError(f"The bags of the processes have different features: {' and '.join(map(str, names))}.")
    if len({_is_text(other["labels"]) for other in everyone}) > 1:
        raise InputError("The labels of the processes mix text and numbers: use one of them.")
    counts = np.array([int(other["part_bags"].sum()) for other in everyone])
    firsts = np.cumsum(counts) - counts
    instances = np.concatenate([other["sample"] for other in everyone])
    sizes = np.concatenate([np.diff(other["sample_offsets"]) for other in everyone])
    places = np.concatenate([other["sample_places"] + first for other, first in zip(everyone, firsts, strict=True)])
    labels = np.concatenate([other["labels"] for other in everyone])
    bags = Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), feature_names=names.pop() or None)
    chosen = partition.sample_places(np.concatenate([other["sample_hashes"] for other in everyone]), sizes)
    if len(chosen) < len(sizes):
        bags, places = bags[chosen], places[chosen]
    parts = [Measures(*(other[f"measure_{name}"] for name in Measures._fields)) for other in everyone]
    return Census(
        measures=Measures.joined(parts),
        labels=labels,
        any_missing=any(bool((other["measure_n_known"] < other["part_rows"].sum()).any()) for other in everyone),
        sample=bags,
        places=places,
        first=int(firsts[rank]),
        part_bags=own["part_bags"],
        part_rows=own["part_rows"],
        greatest_bag=max(int(other["greatest_bag"]) for other in everyone),
        digest="-".join(str(other["digest"]) for other in everyone),
    )


class _Sample:
    """The bags with the lowest hashes, as many as the sample holds."""

    def __init__(self) -> None:
        self._parts: list[tuple[Bags, Array, Array]] = []  # bags, their numbers and hashes

    def add(self, bags: Bags, first: int, hashes: Array) -> None:
        if bags.columns is not None and bags.columns.categorical.any():
            name = bags.columns.names[int(np.argmax(bags.columns.categorical))]
            raise InputError(
                f"Feature {name!r} has categories, which streams and several processes do not support yet: pass "
                "all bags at once, or bags.with_indicators()."
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

    def bags(self) -> Bags:
        if len(self._parts) > 1 or self._parts[0][0].n_instances > partition.SAMPLE_ROWS:
            self._thin()
        return self._parts[0][0]

    def places(self) -> Array:
        return self._parts[0][1]

    def hashes(self) -> Array:
        return self._parts[0][2]

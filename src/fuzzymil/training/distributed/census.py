"""One pass over bags that are not all at hand: what there is of them, and a sample to start the rules on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, BagStream
from fuzzymil.training.distributed.processes import Crew
from fuzzymil.training.scaling import Measures

__all__ = ["SAMPLE_ROWS", "Census", "sampled", "take_census"]

SAMPLE_ROWS = 50_000
"""Instances to start the rules on; where there are no more, they are all taken."""


_ROWS = 1 << 16  # looked at in one go


class Census(NamedTuple):
    """What is known of all bags of all processes."""

    measures: Measures
    labels: Array  # (n_bags,) or (n_bags, n_outputs), process after process
    any_missing: bool
    sample: Bags
    places: Array  # of the sample's bags among all
    first: int  # number of this process's first bag among all
    part_bags: Array  # (n_parts,) bags in each part of this process
    part_rows: Array  # (n_parts,) instances
    greatest_bag: int
    digest: str  # of all bags of all processes


def take_census(
    stream: BagStream,
    crew: Crew,
    check: Callable[[Bags], Bags],
    look: Callable[[int, int], None],
    labels: Array | None = None,
) -> Census:
    """Go through all parts once; every process through its own.

    Parameters
    ----------
    stream : BagStream
        This process's parts.
    crew : Crew
    check : callable
        Is given each part, and returns it or raises.
    look : callable
        Called with the number of parts seen and of all.
    labels : array of shape (n_bags, ...), optional
        Of a stream of one part, instead of those that its bags carry.

    Raises
    ------
    InputError
        In all processes, when the bags of one cannot be used.
    """
    found: dict[str, Array] = {}
    problem = None
    try:
        found = _local(stream, labels, check, look)
    except Exception as error:  # whatever it is: the others wait for an answer
        problem = error
    said = np.array("" if problem is None else str(problem) or type(problem).__name__)
    everyone = crew.gather(found | {"problem": said})
    for rank, other in enumerate(everyone):
        if str(other["problem"]):
            if problem is not None:
                raise problem
            raise InputError(f"Process {rank + 1} of {crew.size} cannot use its bags: {other['problem']}")
    return _joined(everyone, found, crew)


def _local(
    stream: BagStream, given: Array | None, check: Callable[[Bags], Bags], look: Callable[[int, int], None]
) -> dict[str, Array]:
    measures, sizes, part_bags = [], [], []
    labels: list[Array] = []
    sample, digest = _Sample(), hashlib.blake2b(digest_size=16)
    features: tuple[Any, ...] = ()
    for number, part in enumerate(stream):
        bags = check(part)
        own = bags.labels if given is None else given
        if own is None:
            raise InputError(f"Part {number} of the stream has no labels: load has to give Bags with labels.")
        if labels and _is_text(own) != _is_text(labels[0]):
            raise InputError(f"Part {number} of the stream and part 0 mix text and numbers as labels: use one kind.")
        now = bags.feature_names, bags.n_features
        if number and now != features:
            raise InputError(
                f"Part {number} of the stream has other features than part 0: {now[0] or now[1]} instead of "
                f"{features[0] or features[1]}."
            )
        features = now
        measures.append(Measures.of(bags.instances))
        labels.append(own)
        sizes.append(bags.sizes)
        part_bags.append(bags.n_bags)
        marks = _marks(bags)
        sample.add(bags, sum(part_bags[:-1]), marks)
        digest.update(marks.tobytes() + bags.sizes.tobytes() + repr(own.tolist()).encode())
        look(number + 1, len(stream))
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
        "sample_ranks": sample.ranks(),
        "sample_places": sample.places(),
        "digest": np.array(digest.hexdigest()),
    }


def _is_text(labels: Array) -> bool:
    return labels.dtype.kind in "US" or (labels.dtype == object and isinstance(labels.ravel()[0], str))


def _plain(labels: Array) -> Array:
    """Labels as an array that can be sent: text as text, not as objects."""
    return np.array(labels.tolist()) if labels.dtype == object else labels


def _joined(everyone: list[dict[str, Array]], own: dict[str, Array], crew: Crew) -> Census:
    names = {tuple(other["names"].tolist()) for other in everyone}
    widths = {other["sample"].shape[1] for other in everyone}
    if len(names) > 1 or len(widths) > 1:
        raise InputError(f"The processes' bags have different features: {' and '.join(map(str, names))}.")
    if len({_is_text(other["labels"]) for other in everyone}) > 1:
        raise InputError("The processes' labels mix text and numbers: make them all text, or all numbers.")
    counts = np.array([int(other["part_bags"].sum()) for other in everyone])
    firsts = np.cumsum(counts) - counts
    instances = np.concatenate([other["sample"] for other in everyone])
    sizes = np.concatenate([np.diff(other["sample_offsets"]) for other in everyone])
    places = np.concatenate([other["sample_places"] + first for other, first in zip(everyone, firsts, strict=True)])
    labels = np.concatenate([other["labels"] for other in everyone])
    bags = Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), feature_names=names.pop() or None)
    chosen = _first_rows(np.concatenate([other["sample_ranks"] for other in everyone]), sizes)
    if len(chosen) < len(sizes):
        bags, places = bags[chosen], places[chosen]
    return Census(
        Measures.joined([Measures(*(other[f"measure_{name}"] for name in Measures._fields)) for other in everyone]),
        labels,
        any(bool((other["measure_n_known"] < other["part_rows"].sum()).any()) for other in everyone),
        bags,
        places,
        int(firsts[crew.rank]),
        own["part_bags"],
        own["part_rows"],
        max(int(other["greatest_bag"]) for other in everyone),
        "-".join(str(other["digest"]) for other in everyone),
    )


def sampled(bags: Bags) -> tuple[Bags, Array]:
    """Return bags of about `SAMPLE_ROWS` instances, and their places among all; all of them, where they are no more.

    Examples
    --------
    >>> sampled(Bags.from_list([[[1.0]], [[2.0]]]))[1].tolist()
    [0, 1]
    """
    places = np.arange(bags.n_bags)
    if bags.n_instances <= SAMPLE_ROWS:
        return bags, places
    places = _first_rows(_marks(bags), bags.sizes)
    return bags[places], places


class _Sample:
    """Bags of the least marks, as many as the sample holds."""

    def __init__(self) -> None:
        self._parts: list[tuple[Bags, Array, Array]] = []  # bags, their numbers and ranks

    def add(self, bags: Bags, first: int, marks: Array) -> None:
        plain = Bags(bags.instances, bags.offsets, feature_names=bags.feature_names)
        self._parts.append((plain, first + np.arange(bags.n_bags), marks))
        if sum(part.n_instances for part, _, _ in self._parts) > 2 * SAMPLE_ROWS:
            self._thin()

    def _thin(self) -> None:
        bags = Bags.concatenate([part for part, _, _ in self._parts])
        numbers, ranks = (np.concatenate([part[place] for part in self._parts]) for place in (1, 2))
        chosen = _first_rows(ranks, bags.sizes)
        self._parts = [(bags[chosen], numbers[chosen], ranks[chosen])]

    def bags(self) -> Bags:
        if len(self._parts) > 1 or self._parts[0][0].n_instances > SAMPLE_ROWS:
            self._thin()
        return self._parts[0][0]

    def places(self) -> Array:
        return self._parts[0][1]

    def ranks(self) -> Array:
        return self._parts[0][2]


def _first_rows(ranks: Array, sizes: Array) -> Array:
    """Return places of the bags of least rank that `SAMPLE_ROWS` instances hold (at least one), in order."""
    order = np.argsort(ranks, kind="stable")
    within = np.cumsum(sizes[order]) <= SAMPLE_ROWS
    within[0] = True
    return np.sort(order[within])


def _marks(bags: Bags) -> Array:
    """Return a number of 64 bits for each bag that looks random and follows from its instances.

    Whoever holds a bag gives it the same mark, and so the same bags are sampled however they are divided.
    """
    factors = _mixed(np.arange(1, bags.n_features + 1, dtype=np.uint64)) | np.uint64(1)
    rows = np.empty(bags.n_instances, np.uint64)
    for first in range(0, bags.n_instances, _ROWS):
        values = np.ascontiguousarray(bags.instances[first : first + _ROWS], np.float64).view(np.uint64)
        rows[first : first + _ROWS] = (_mixed(values) * factors).sum(axis=1, dtype=np.uint64)
    return _mixed(np.add.reduceat(_mixed(rows), bags.offsets[:-1]))


def _mixed(numbers: Array) -> Array:
    """Mix the bits of 64-bit numbers, as the generator splitmix64 does."""
    with np.errstate(over="ignore"):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(numbers ^ (numbers >> np.uint64(31)))

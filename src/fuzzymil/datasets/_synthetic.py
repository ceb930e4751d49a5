"""The two-concept data of the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.bags import Bags

CONCEPTS = np.array([[0.5, 0.5], [1.5, 1.5]])
"""Centers of the two target concepts, shape (2, 2)."""


def make_two_concepts(
    n_per_concept: int = 50,
    n_negative: int = 50,
    *,
    sigma: float = 0.2,
    min_size: int = 2,
    max_size: int = 10,
    random_state: Any = None,
) -> Bags:
    """Draw bags of points in the square [0, 2] x [0, 2] with two target concepts.

    The concepts are discs of radius ``sigma`` around (0.5, 0.5) and (1.5, 1.5). A positive bag has at least one
    instance, and rarely more, in the disc of its concept, uniformly distributed; at most half of its instances are.
    All other instances, and those of negative bags, are uniformly distributed over the square, at least 1.5 ``sigma``
    from both centers.

    Parameters
    ----------
    n_per_concept : int
        Number of positive bags of each concept.
    n_negative : int
        Number of negative bags.
    sigma : float
        Radius of the discs.
    min_size, max_size : int
        Minimum and maximum number of instances per bag.
    random_state : int, RandomState or None

    Returns
    -------
    Bags
        Sorted by concept, so shuffle them before splitting. Labels are 0 and 1; ``instance_labels`` are 0 or the
        number of the concept that the instance was drawn from; ids name the concept.

    Examples
    --------
    >>> bags = make_two_concepts(random_state=0)
    >>> bags
    Bags(150 bags, 882 instances, 2 features, 2-10 instances per bag)
    >>> int(bags.labels.sum())
    100
    """
    rng = random_state
    if not isinstance(rng, np.random.RandomState):
        from sklearn.utils import check_random_state  # deferred: slow to import

        rng = check_random_state(random_state)
    bags, truths, labels, ids = [], [], [], []
    for concept, count in ((1, n_per_concept), (2, n_per_concept), (0, n_negative)):
        for number in range(count):
            size = rng.randint(min_size, max_size + 1)
            # Usually one positive instance per bag: the hard case, as in the paper.
            n_inside = min(1 + rng.binomial(size - 1, 0.1), max(size // 2, 1)) if concept else 0
            points = np.concatenate([_disc(rng, n_inside, concept, sigma), _elsewhere(rng, size - n_inside, sigma)])
            truth = np.repeat([concept, 0], [n_inside, size - n_inside])
            order = rng.permutation(size)
            bags.append(points[order])
            truths.append(truth[order])
            labels.append(int(concept > 0))
            ids.append(f"{('negative', 'concept1', 'concept2')[concept]}-{number + 1}")
    packed = Bags.from_list(bags, labels=labels, ids=ids)
    return Bags(packed.instances, packed.offsets, ids=ids, labels=labels, instance_labels=np.concatenate(truths))


def _disc(rng: np.random.RandomState, n: int, concept: int, sigma: float) -> Array:
    """Draw points uniformly from the disc of a concept."""
    radius, angle = sigma * np.sqrt(rng.uniform(size=n)), rng.uniform(0, 2 * np.pi, size=n)
    center = CONCEPTS[concept - 1]
    return np.asarray(center + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))


def _elsewhere(rng: np.random.RandomState, n: int, sigma: float) -> Array:
    """Draw points uniformly from the square, away from both concepts."""
    found = np.empty((0, 2))
    while len(found) < n:
        points = rng.uniform(0, 2, size=(2 * n, 2))
        distances = np.linalg.norm(points[:, None] - CONCEPTS, axis=2)
        found = np.concatenate([found, points[(distances >= 1.5 * sigma).all(axis=1)]])
    return found[:n]


# Bags whose labels follow a known rule, one generator for each kind of bag problem.


_SHIFT, _SHIFT_SPREAD = 1.0, 1.5
"""How far the bags of the shift problem move, and the standard deviation of their values."""

_POINT = np.array([3.0, 7.0, 5.0, 6.0, 4.0, 7.0, 3.0, 5.0])
_RADIUS = 2.0
"""The ball of the prototype problem. It lies well inside the range, so that no feature has extreme values in it."""

Drawn = tuple[Array, bool, Array]
"""The true features of a bag, shape (n_instances, n_columns), its label, and its witnesses, shape (n_instances,)."""


@dataclass(frozen=True)
class PlantedProblem:
    """A kind of bag problem with a known truth.

    Attributes
    ----------
    truth : str
        What makes a bag positive, in words.
    features : tuple of str
        The features that the truth speaks of; empty where only the number of instances counts.
    columns : tuple of str
        The features that `make_planted` draws before the noise; those that are not in ``features`` are noise as well.
    sizes : (int, int)
        Minimum and maximum number of instances per bag.
    draw : callable
        ``draw(rng, size)`` draws one bag.
    """

    truth: str
    features: tuple[str, ...]
    draw: Callable[[np.random.RandomState, int], Drawn]
    columns: tuple[str, ...] = ("A", "B")
    sizes: tuple[int, int] = (4, 10)


def make_planted(kind: str, n_bags: int = 400, n_noise: int = 20, random_state: Any = None) -> Bags:
    """Draw bags whose labels follow a known rule.

    Each of the twelve kinds asks something else of a bag: one extreme instance, several conditions in one instance,
    conditions in different instances, a number of instances, a condition on all of them. ``PLANTED`` states the truth
    of each kind and the features it speaks of.

    Parameters
    ----------
    kind : str
        A key of ``PLANTED``.
    n_bags : int
        Number of bags, half of them positive (one less if the number is odd).
    n_noise : int
        Number of features that have nothing to do with the label.
    random_state : int, RandomState or None

    Returns
    -------
    Bags
        In random order. Features are A and B, in some kinds up to H, then noise1, noise2, ...; their values are
        uniform between 0 and 10. Labels are 0 and 1. ``instance_labels`` are 1 for the instances that make a bag
        positive; where the truth concerns the bag as a whole ("shift", "size", "all"), no instance is marked.

    Examples
    --------
    >>> bags = make_planted("pair", n_bags=100, random_state=0)
    >>> bags.feature_names[:4]
    ('A', 'B', 'noise1', 'noise2')
    >>> int(bags.labels.sum())
    50
    >>> PLANTED["pair"].truth
    'one instance has A > 7 and 3 < B < 5'
    >>> bags.instances[bags.instance_labels == 1][0, :2].round(1)
    array([9. , 4.1])
    """
    from sklearn.utils import check_random_state  # deferred: slow to import

    known_name("kind of planted problem", kind, PLANTED)
    problem = PLANTED[kind]
    for name, value, least in (("n_bags", n_bags, 2), ("n_noise", n_noise, 0)):
        if value < least:
            raise ParameterError(f"{name} must be at least {least}, got {value}.")
    rng = check_random_state(random_state)
    missing = {False: n_bags - n_bags // 2, True: n_bags // 2}
    drawn: list[Drawn] = []
    while any(missing.values()):
        values, label, witnesses = problem.draw(rng, rng.randint(problem.sizes[0], problem.sizes[1] + 1))
        if missing[label]:
            missing[label] -= 1
            drawn.append((values, label, witnesses))
    # The class that is drawn more rarely comes last otherwise.
    drawn = [drawn[position] for position in rng.permutation(n_bags)]
    values = np.concatenate([values for values, _, _ in drawn])
    offsets = np.cumsum([0, *(len(values) for values, _, _ in drawn)])
    return Bags(
        np.column_stack([values, rng.uniform(0, 10, size=(len(values), n_noise))]),
        offsets,
        feature_names=[*problem.columns, *(f"noise{number + 1}" for number in range(n_noise))],
        labels=np.array([label for _, label, _ in drawn], dtype=int),
        instance_labels=np.concatenate([witnesses for _, _, witnesses in drawn]).astype(int),
    )


def _uniform(
    witnesses: Callable[..., Array], judge: Callable[..., Any] | None = None, n_columns: int = 2
) -> Callable[[np.random.RandomState, int], Drawn]:
    """Draw uniform values a, b, ...; the bag is positive if there are witnesses, or else if ``judge`` says so."""

    def draw(rng: np.random.RandomState, size: int) -> Drawn:
        values = rng.uniform(0, 10, size=(size, n_columns))
        found = witnesses(*values.T)
        positive = bool(found.any() if judge is None else judge(*values.T))
        return values, positive, (found if positive else np.zeros(size, bool))

    return draw


def _nothing(a: Array, b: Array) -> Array:
    return np.zeros(len(a), bool)


def _shift(rng: np.random.RandomState, size: int) -> Drawn:
    """Draw normal values around 5, in positive bags moved up in A and down in B.

    Uniform values would betray a shift by the first one outside the range, so that the problem would be one of
    single instances.
    """
    label = bool(rng.randint(2))
    means = 5 + label * np.array([_SHIFT, -_SHIFT])
    return rng.normal(means, _SHIFT_SPREAD, size=(size, 2)), label, np.zeros(size, dtype=bool)


def _prototype(rng: np.random.RandomState, size: int) -> Drawn:
    """Draw uniform values, in positive bags with one instance drawn from a ball around the point."""
    label = bool(rng.randint(2))
    values = rng.uniform(0, 10, size=(size, len(_POINT)))
    if label:
        direction = rng.normal(size=len(_POINT))
        radius = _RADIUS * rng.uniform() ** (1 / len(_POINT))  # uniform in the ball
        values[rng.randint(size)] = _POINT + radius * direction / np.linalg.norm(direction)
    inside = np.linalg.norm(values - _POINT, axis=1) <= _RADIUS
    return values, bool(inside.any()), inside


PLANTED: dict[str, PlantedProblem] = {
    "some": PlantedProblem("some instance has A > 9", ("A",), _uniform(lambda a, b: a > 9)),
    "pair": PlantedProblem(
        "one instance has A > 7 and 3 < B < 5", ("A", "B"), _uniform(lambda a, b: (a > 7) & (b > 3) & (b < 5))
    ),
    "either": PlantedProblem(
        "some instance has A > 9, or some instance has B > 9", ("A", "B"), _uniform(lambda a, b: (a > 9) | (b > 9))
    ),
    "both": PlantedProblem(
        "some instance has A > 8.5, and some instance, the same or another, has B > 8.5",
        ("A", "B"),
        _uniform(lambda a, b: (a > 8.5) | (b > 8.5), lambda a, b: a.max() > 8.5 and b.max() > 8.5),
    ),
    "count": PlantedProblem(
        "at least 3 instances have A > 6.5", ("A",), _uniform(lambda a, b: a > 6.5, lambda a, b: (a > 6.5).sum() >= 3)
    ),
    "most": PlantedProblem(
        "more than half of the instances have A > 5",
        ("A",),
        _uniform(lambda a, b: a > 5, lambda a, b: (a > 5).mean() > 0.5),
    ),
    "shift": PlantedProblem(
        "A is higher by 1 and B lower by 1 in all instances (normal values, standard deviation 1.5)", ("A", "B"), _shift
    ),
    "size": PlantedProblem(
        "there are at least 8 instances", (), _uniform(_nothing, lambda a, b: len(a) >= 8), sizes=(3, 12)
    ),
    "all": PlantedProblem("all instances have B < 8.5", ("B",), _uniform(_nothing, lambda a, b: b.max() < 8.5)),
    "unless": PlantedProblem(
        "some instance has A > 8, and none has B > 9",
        ("A", "B"),
        _uniform(lambda a, b: a > 8, lambda a, b: a.max() > 8 and b.max() <= 9),
    ),
    "triple": PlantedProblem(
        "one instance has A > 6, B < 4 and 3 < C < 8",
        ("A", "B", "C"),
        _uniform(lambda a, b, c: (a > 6) & (b < 4) & (c > 3) & (c < 8), n_columns=3),
        columns=("A", "B", "C"),
    ),
    "prototype": PlantedProblem(
        "one instance is within 2 of the point (3, 7, 5, 6, 4, 7, 3, 5) in A to H",
        tuple("ABCDEFGH"),
        _prototype,
        columns=tuple("ABCDEFGH"),
    ),
}
"""The kinds of problem that `make_planted` draws, by name."""

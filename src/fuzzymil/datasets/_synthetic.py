"""The two-concept data of the paper."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
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

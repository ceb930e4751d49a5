"""Prototypes: premises over all features at once, for problems in which every feature counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags

__all__ = ["Prototype", "Prototypes", "typical_instances"]

_STEP = 0.3  # a move of 1 shifts a center by this many standard deviations


class Prototype(NamedTuple):
    """Some instance of the bag, or its instances on average, are near a point; in standardized units."""

    quantifier: str
    center: Array  # (d,)
    width: Array  # (d,)


def typical_instances(instances: Array, count: int, rng: np.random.RandomState) -> Array:
    """Return at most ``count`` of the instances, chosen at random; missing values become 0, the mean."""
    if len(instances) > count:
        instances = instances[np.sort(rng.choice(len(instances), count, replace=False))]
    return np.where(np.isnan(instances), 0.0, instances)


class Prototypes:
    """Gaussian sets around points, joined over the instances by SOME or ON AVERAGE.

    Parameters
    ----------
    quantifiers : sequence of str
        "some" or "on average", one per prototype.
    centers, widths : arrays of shape (r, d)
    bags : Bags
        Standardized.
    stand_ins : array of shape (t, d), optional
        What a missing value stands for. None: it is near every point.
    """

    def __init__(
        self, quantifiers: list[str], centers: Array, widths: Array, bags: Bags, stand_ins: Array | None = None
    ) -> None:
        self.quantifiers, self.centers, self.widths, self.bags = quantifiers, centers, widths, bags
        self._average = np.array([name == "on average" for name in quantifiers], bool)
        known = ~np.isnan(bags.instances)
        self._known = None if known.all() else known.astype(float)
        self._stand_ins = None if known.all() else stand_ins
        self._x = np.where(known, bags.instances, 0.0)
        self._squares = np.square(self._x)
        self._owner = np.repeat(np.arange(bags.n_bags), bags.sizes)

    @property
    def n_moves(self) -> int:
        """Two per feature of each prototype: its center, and the logarithm of its width."""
        return 2 * self.centers.size

    def moved(self, moves: Array) -> tuple[Prototype, ...]:
        """Return the prototypes after a move."""
        centers, widths = self._sets(moves)
        return tuple(Prototype(*each) for each in zip(self.quantifiers, centers, widths, strict=True))

    def prototype(self, number: int) -> Prototype:
        """Return one of the prototypes."""
        return Prototype(self.quantifiers[number], self.centers[number], self.widths[number])

    def columns(self) -> Array:
        """Return the truth of the premises, (b, r)."""
        return self.evaluate(np.zeros(self.n_moves))[0]

    def evaluate(self, moves: Array) -> tuple[Array, Callable[[Array], Array]]:
        """Return the truth (b, r) of the premises, and a function from its derivatives to those of the moves."""
        centers, widths = self._sets(moves)
        precision = 0.5 / np.square(widths)
        x, starts, sizes = self._x, self.bags.offsets[:-1], self.bags.sizes
        constant: Array = np.square(centers) * precision
        constant = constant.sum(axis=1) if self._known is None else self._known @ constant.T
        # In place: these are by far the largest arrays, and to make another takes longer than to fill it.
        log_truth = x @ (2 * centers * precision).T
        log_truth -= self._squares @ precision.T
        log_truth -= constant
        np.minimum(log_truth, 0.0, out=log_truth)
        gone = None
        if self._stand_ins is not None and self._known is not None:
            gone = 1 - self._known
            away = self._stand_ins[:, None, :] - centers
            each = -np.square(away) * precision
            of_gap = np.logaddexp.reduce(each, axis=0)
            by_gap = np.exp(each - of_gap)  # how much each of the values counts
            log_truth += gone @ (of_gap - np.log(len(each))).T
        truth = np.empty((len(sizes), len(centers)))
        average = self._average
        weights = np.exp(log_truth[:, average])
        truth[:, average] = np.add.reduceat(weights, starts, axis=0) / sizes[:, None]
        some = log_truth[:, ~average] if average.any() else log_truth
        greatest = np.maximum.reduceat(some, starts, axis=0)
        truth[:, ~average] = np.exp(greatest)

        def pullback(slopes: Array) -> Array:
            # How much each instance counts for each prototype, as a sparse matrix (r, i).
            rows = np.where(some == greatest[self._owner], np.arange(len(x))[:, None], len(x))
            witnesses = np.minimum.reduceat(rows, starts, axis=0)
            shape = (len(centers), len(x))
            places = np.broadcast_to(np.flatnonzero(~average), witnesses.shape)
            values = (slopes * truth)[:, ~average]
            share = sparse.csr_matrix((values.ravel(), (places.ravel(), witnesses.ravel())), shape=shape)
            if average.any():
                mean = np.zeros(shape)
                mean[average] = ((slopes[:, average] / sizes[:, None])[self._owner] * weights).T
                share = sparse.csr_matrix(share + mean)
            total = np.asarray(share.sum(axis=1)) if self._known is None else share @ self._known
            near, nearer = share @ x, share @ self._squares
            by_center = 2 * precision * (near - total * centers)
            by_width = 2 * precision * (nearer - 2 * centers * near + total * np.square(centers))
            if gone is not None:
                often = 2 * precision * (share @ gone)
                by_center += often * (by_gap * away).sum(axis=0)
                by_width += often * (by_gap * np.square(away)).sum(axis=0)
            return np.concatenate([_STEP * by_center.ravel(), by_width.ravel()])

        return truth, pullback

    def _sets(self, moves: Array) -> tuple[Array, Array]:
        shift, wider = moves.reshape(2, *self.centers.shape)
        return self.centers + _STEP * shift, self.widths * np.exp(wider)

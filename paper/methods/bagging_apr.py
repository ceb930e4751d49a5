"""Bagging-APR: an ensemble of axis-parallel rectangles."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators import APR, comparator
from fuzzymil.comparators._base import BoolArray
from fuzzymil.estimators.parameters import checked, integer


@comparator("Bagging-APR", search_grid={"margin": [0.25, 0.5]}, fit_seconds=0.57)
@dataclass(eq=False, repr=False)
class BaggingAPR(APR):
    """Bagging-APR: an ensemble of axis-parallel rectangles, each learned from a bootstrap sample of the bags.

    A bag is positive if more than half of the rectangles contain one of its instances.

    Parameters
    ----------
    n_estimators : int
        Number of rectangles; an odd number avoids ties, which are negative.
    tau, epsilon, margin : float
        As in `APR`.
    random_state : int, RandomState or None
        Random seed of the samples.

    Attributes
    ----------
    rectangles_ : list of Rectangle

    Notes
    -----
    The decision value of a bag, and the score of an instance, is the share of rectangles that contain it, minus 0.5.

    Differences from the original: those of `APR`; samples without both classes are drawn again; the original has 5
    members.

    References
    ----------
    Z.-H. Zhou and M.-L. Zhang (2003), Ensembles of multi-instance learners, 14th European Conference on
    Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[0.2], [-4.0]], [[2.0]], [[-2.0], [7.0]]]
    >>> model = BaggingAPR(3, random_state=0).fit(bags, [1, 1, 1, 0, 0])
    >>> model.decision_function([[[0.3], [8.0]], [[2.2], [5.5]]]).round(3).tolist()  # two of three, none
    [0.167, -0.5]
    """

    n_estimators: int = checked(integer(1), 15)
    _: KW_ONLY
    random_state: Any = None

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        rng = check_random_state(self.random_state)
        samples = [_bootstrap(positive, rng) for _ in range(self.n_estimators)]
        self.rectangles_ = [self.rectangle_of(bags[sample], positive[sample]) for sample in samples]

    def _decide(self, bags: Bags) -> Array:
        held = self._held(bags)
        return np.asarray(np.logical_or.reduceat(held, bags.offsets[:-1], axis=1).mean(axis=0) - 0.5)

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self._held(bags).mean(axis=0) - 0.5)

    def _held(self, bags: Bags) -> BoolArray:
        """Return whether each rectangle contains each instance, shape (r, i)."""
        return np.stack([rectangle.depth(bags.instances) > 0 for rectangle in self.rectangles_])


def _bootstrap(positive: BoolArray, rng: np.random.RandomState) -> Array:
    """Draw a bootstrap sample of bags with both classes."""
    while True:
        sample = rng.randint(len(positive), size=len(positive))
        if positive[sample].any() and not positive[sample].all():
            return sample

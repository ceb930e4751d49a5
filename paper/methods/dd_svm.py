"""DD-SVM: a support vector machine on the distances of bags from many concepts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator
from fuzzymil.comparators.diverse_density import Concept, climb, starting_points
from fuzzymil.comparators.kernels import kernel_width, width
from fuzzymil.estimators.parameters import above_zero, checked, integer, real


def distinct_concepts(concepts: list[Concept], likeness: float) -> list[Concept]:
    """Return the dense and distinct concepts, by decreasing density.

    A concept is dense if its cost is at most the midpoint of the minimum and maximum cost. It is not distinct if its
    scaled point differs from that of a denser one by less than a share ``likeness`` of the latter's length.
    """
    kept: list[Concept] = []
    if not concepts:
        return kept
    costs = np.array([concept.cost for concept in concepts])
    middle = (costs.min() + costs.max()) / 2
    for c in np.argsort(costs, kind="stable"):
        point = _weighed(concepts[c])
        unlike = all(np.linalg.norm(point - _weighed(k)) >= likeness * np.linalg.norm(_weighed(k)) for k in kept)
        if costs[c] <= middle and unlike:
            kept.append(concepts[c])
    return kept


def _weighed(concept: Concept) -> Array:
    return concept.center * concept.scales


def nearness(bags: Bags, concepts: list[Concept]) -> Array:
    """Return the scaled distance (n_bags, n_concepts) of the nearest instance of each bag from each concept."""
    starts = bags.offsets[:-1]
    squares = [np.minimum.reduceat(concept.distances(bags.instances), starts) for concept in concepts]
    return np.asarray(np.sqrt(np.column_stack(squares)))


@comparator("DD-SVM", fit_seconds=0.52)
@dataclass(eq=False, repr=False)
class DDSVM(BagClassifier):
    """DD-SVM: a support vector machine on the distances of bags from concepts of both classes.

    Diverse density is maximized from instances of positive bags and, with the classes exchanged, from instances of
    negative bags. The dense and distinct maxima are the concepts. The features of a bag are the distances of its
    nearest instances from the concepts; a support vector machine with a Gaussian kernel classifies them.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    gamma : "scale" or float
        The kernel is ``exp(-gamma * |u - v|^2)`` for the distances u and v of two bags from the concepts; "scale" is
        one over the sum of the variances of the distances.
    max_starts, max_steps, init_scale
        As in `DiverseDensity`, for each class.
    likeness : float
        Share of a concept's length within which a less dense concept is a duplicate.

    Notes
    -----
    A class may have no concepts if all its instances also occur in bags of the other class.

    Differences from the original: the original starts from every instance, and its threshold on the density is the
    midpoint of the minimum and maximum density; here it is the midpoint of their logarithms.

    References
    ----------
    Y. Chen and J. Z. Wang (2004), Image categorization by learning and reasoning with regions, Journal of
    Machine Learning Research 5.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[-2.0], [7.0]]]
    >>> model = DDSVM().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 1.0)
    _: KW_ONLY
    gamma: float | str = checked(width, "scale")
    max_starts: int = checked(integer(1), 10)
    max_steps: int = checked(integer(1), 100)
    init_scale: float = checked(above_zero, 1.0)
    likeness: float = checked(real(low=0.0), 0.05)

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self.concepts_ = [
            concept
            for wanted in (positive, ~positive)
            for concept in distinct_concepts(self._concepts(bags, wanted), self.likeness)
        ]
        if not self.concepts_:
            raise InputError(
                "No point is near the bags of one class and far from those of the other: found no concept."
            )
        places = nearness(bags, self.concepts_)
        self.machine_ = SVC(C=self.C, gamma=kernel_width(self.gamma, places)).fit(places, positive)

    def _concepts(self, bags: Bags, positive: BoolArray) -> list[Concept]:
        scales = np.full(bags.n_features, float(self.init_scale))
        starts = starting_points(bags, positive, self.init_scale, self.max_starts)
        return [climb(bags, positive, start, scales, self.max_steps) for start in starts]

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.machine_.decision_function(nearness(bags, self.concepts_)))

"""DD-SVM: bags described by how near they come to many concepts, and a support vector machine on that."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, check_integer, check_real
from fuzzymil.comparators._density import Concept, climb, starting_points
from fuzzymil.comparators._instance_kernel import kernel_width

__all__ = ["DDSVM", "distinct_concepts", "nearness"]


def distinct_concepts(concepts: list[Concept], likeness: float) -> list[Concept]:
    """Return the concepts that are dense and unlike one another, densest first.

    A concept is dense if its cost is at most the middle of the least and the greatest cost. One is left
    out if, weighed by its scales, its point differs from that of a denser one by less than the share
    ``likeness`` of the latter's length.

    Examples
    --------
    >>> at = lambda x, cost: Concept(np.array([x]), np.ones(1), cost)
    >>> [concept.cost for concept in distinct_concepts([at(1.0, 2.0), at(1.01, 1.0), at(5.0, 2.5), at(7.0, 9.0)], 0.05)]
    [1.0, 2.5]
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
    """Return the scaled distance (n_bags, n_concepts) of each bag's nearest instance from each concept.

    Examples
    --------
    >>> bags = Bags.from_list([[[3.0], [5.0]], [[1.0]]])
    >>> nearness(bags, [Concept(np.array([1.0]), np.array([2.0]), 0.0)]).tolist()
    [[4.0], [0.0]]
    """
    starts = bags.offsets[:-1]
    squares = [np.minimum.reduceat(concept.distances(bags.instances), starts) for concept in concepts]
    return np.asarray(np.sqrt(np.column_stack(squares)))


class DDSVM(BagClassifier):
    """A support vector machine on bags' distances from concepts of either class.

    Diverse density is climbed from instances of positive bags, and with the classes exchanged from
    instances of negative bags. The dense and distinct concepts are the axes of a new space, in which a
    bag is the point of its nearest instances' distances; there a machine with a Gaussian kernel decides.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    gamma : "scale" or float
        The kernel is ``exp(-gamma * |u - v|^2)`` for bags' distances u and v from the concepts; "scale" is one
        over the sum of the variances of the distances.
    max_starts : int
        Greatest number of climbs for each class: from the densest instance of each bag, and of these the densest.
    max_steps : int
        Greatest number of steps of one climb.
    init_scale : float
        Scale of every feature at the start of a climb.
    likeness : float
        Share of a concept's length within which a less dense one counts as the same.

    Attributes
    ----------
    concepts_ : list of Concept
    machine_ : sklearn.svm.SVC
        Fitted on the distances (n_bags, n_concepts).
    classes_ : array of shape (2,)

    Notes
    -----
    A class all of whose instances occur in bags of the other class, too, may have no concepts of its own.

    Departures: the original climbs from every instance. Its threshold on densities is half way between the
    least and the greatest found; here half way in logarithms, in which they are computed.

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

    def __init__(
        self,
        C: float = 1.0,
        *,
        gamma: float | str = "scale",
        max_starts: int = 10,
        max_steps: int = 100,
        init_scale: float = 1.0,
        likeness: float = 0.05,
    ) -> None:
        self.C = C
        self.gamma = gamma
        self.max_starts = max_starts
        self.max_steps = max_steps
        self.init_scale = init_scale
        self.likeness = likeness

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_real("C", self.C, low=0.0, open_low=True)
        check_integer("max_starts", self.max_starts, 1)
        check_integer("max_steps", self.max_steps, 1)
        check_real("init_scale", self.init_scale, low=0.0, open_low=True)
        check_real("likeness", self.likeness, low=0.0)
        self.concepts_ = [
            concept
            for wanted in (positive, ~positive)
            for concept in distinct_concepts(self._concepts(bags, wanted), self.likeness)
        ]
        if not self.concepts_:
            raise InputError(
                "No point is near bags of one class and away from the other's: no concept tells them apart."
            )
        places = nearness(bags, self.concepts_)
        self.machine_ = SVC(C=self.C, gamma=kernel_width(self.gamma, places)).fit(places, positive)

    def _concepts(self, bags: Bags, positive: BoolArray) -> list[Concept]:
        scales = np.full(bags.n_features, float(self.init_scale))
        starts = starting_points(bags, positive, self.init_scale, self.max_starts)
        return [climb(bags, positive, start, scales, self.max_steps) for start in starts]

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(self.machine_.decision_function(nearness(bags, self.concepts_)))

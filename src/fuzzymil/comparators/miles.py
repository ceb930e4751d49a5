"""MILES: a sparse linear classifier on the likeness of bags to training instances."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, InstanceScores, comparator
from fuzzymil.comparators.kernels import kernel_width, width
from fuzzymil.estimators.parameters import above_zero, checked


def bag_likeness(bags: Bags, prototypes: Array, gamma: float) -> Array:
    """Return the likeness ``exp(-gamma * |x - y|^2)`` (n_bags, n_prototypes) to the nearest instance of each bag."""
    lengths = row_norms(prototypes, squared=True)[None]
    nearest = [euclidean_distances(bag, prototypes, Y_norm_squared=lengths, squared=True).min(axis=0) for bag in bags]
    return np.asarray(np.exp(-gamma * np.stack(nearest)))


def one_norm_machine(rows: Array, positive: BoolArray, C: float) -> tuple[Array, float]:
    """Return the weights (d,) and the intercept of the 1-norm support vector machine on rows (n, d).

    Minimizes ``sum(|w|) + C * sum(max(0, 1 - y * (rows @ w + b)))``, with y = 1 for positive rows and -1 for the
    others, as a linear program (HiGHS).
    """
    n, d = rows.shape
    signed = np.where(positive, 1.0, -1.0)[:, None] * np.column_stack([rows, -rows, np.ones(n)])
    # Unknowns: positive and negative parts of the weights, the intercept, and the error of each row.
    found = linprog(
        np.concatenate([np.ones(2 * d), [0.0], np.full(n, float(C))]),
        A_ub=-np.column_stack([signed, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n,
        method="highs",
    )
    return found.x[:d] - found.x[d : 2 * d], float(found.x[2 * d])


@comparator("MILES", search_grid={"C": [1.0, 10.0]}, fit_seconds=0.12)
@dataclass(eq=False, repr=False)
class MILES(InstanceScores):
    """MILES: a sparse linear classifier on the likeness of bags to training instances.

    Every training instance y is a feature of a bag: the likeness ``exp(-gamma * |x - y|^2)`` of the bag's nearest
    instance x. A 1-norm support vector machine, which sets most weights to 0, selects and weights the instances that
    separate the classes.

    Parameters
    ----------
    C : float
        Penalty on training errors, relative to the sum of absolute weights.
    gamma : "scale" or float
        How fast likeness falls with distance; "scale" is one over the sum of the variances of the features.

    Attributes
    ----------
    prototypes_ : array of shape (n_prototypes, n_features)
        The instances with nonzero weights.
    weights_ : array of shape (n_prototypes,)
    intercept_ : float
    gamma_ : float

    Notes
    -----
    The score of an instance is its contribution to the decision value of its bag: the sum of weight times likeness over
    the prototypes to which it is the nearest instance of the bag (equally near instances share). The decision value of
    a bag is the sum of its scores plus the intercept.

    Differences from the original: errors on both classes have the same penalty; its even trade-off is ``C=0.5``.

    Source: Y. Chen, J. Bi and J. Z. Wang (2006), MILES: multiple-instance learning via embedded instance selection,
    IEEE Transactions on Pattern Analysis and Machine Intelligence 28.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[-2.0], [7.0]]]
    >>> model = MILES().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    >>> bool(np.isclose(model.instance_scores(bags[:1]).sum() + model.intercept_, model.decision_function(bags)[0]))
    True
    """

    C: float = checked(above_zero, 10.0)
    _: KW_ONLY
    gamma: float | str = checked(width, "scale")

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)
        likeness = bag_likeness(bags, bags.instances, self.gamma_)
        weights, self.intercept_ = one_norm_machine(likeness, positive, self.C)
        self.prototypes_ = bags.instances[weights != 0]
        self.weights_ = weights[weights != 0]

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(np.add.reduceat(self._decide_instances(bags), bags.offsets[:-1]) + self.intercept_)

    def _decide_instances(self, bags: Bags) -> Array:
        distances = cdist(bags.instances, self.prototypes_, "sqeuclidean")  # exact, so that equally near instances tie
        starts, owner = bags.offsets[:-1], bags.bag_index
        nearest = distances == np.minimum.reduceat(distances, starts, axis=0)[owner]
        shares = nearest / np.add.reduceat(nearest, starts, axis=0, dtype=float)[owner]
        return np.asarray((shares * np.exp(-self.gamma_ * distances)) @ self.weights_)

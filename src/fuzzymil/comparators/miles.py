"""MILES: bags described by their likeness to every training instance, and a sparse linear machine on that."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, InstanceScores, check_real
from fuzzymil.comparators._instance_kernel import kernel_width

__all__ = ["MILES", "bag_likeness", "one_norm_machine"]


def bag_likeness(bags: Bags, prototypes: Array, gamma: float) -> Array:
    """Return the likeness of each bag's nearest instance to each prototype, ``exp(-gamma * |x - y|^2)``.

    Parameters
    ----------
    bags : Bags
    prototypes : array of shape (n_prototypes, n_features)
    gamma : float

    Returns
    -------
    array of shape (n_bags, n_prototypes)

    Examples
    --------
    >>> bag_likeness(Bags.from_list([[[0.0], [3.0]]]), np.array([[3.0], [1.0]]), gamma=np.log(2)).tolist()
    [[1.0, 0.5]]
    """
    lengths = row_norms(prototypes, squared=True)[None]
    nearest = [euclidean_distances(bag, prototypes, Y_norm_squared=lengths, squared=True).min(axis=0) for bag in bags]
    return np.asarray(np.exp(-gamma * np.stack(nearest)))


def one_norm_machine(rows: Array, positive: BoolArray, C: float) -> tuple[Array, float]:
    """Return weights and intercept of the linear machine with the least sum of absolute weights and errors.

    Minimizes ``sum(|w|) + C * sum(max(0, 1 - y * (rows @ w + b)))`` with y = 1 for positive rows and -1 for
    others, as a linear programme (HiGHS).

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    positive : array of bool of shape (n_rows,)
    C : float

    Returns
    -------
    weights : array of shape (n_columns,)
    intercept : float

    Examples
    --------
    >>> weights, intercept = one_norm_machine(np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([False, True]), C=10.0)
    >>> (weights.round(6) + 0.0).tolist(), round(intercept, 6)
    ([2.0, 0.0], -1.0)
    """
    n, d = rows.shape
    signed = np.where(positive, 1.0, -1.0)[:, None] * np.column_stack([rows, -rows, np.ones(n)])
    # Unknowns: positive and negative parts of the weights, the intercept, and each row's error.
    found = linprog(
        np.concatenate([np.ones(2 * d), [0.0], np.full(n, float(C))]),
        A_ub=-np.column_stack([signed, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n,
        method="highs",
    )
    return found.x[:d] - found.x[d : 2 * d], float(found.x[2 * d])


class MILES(InstanceScores):
    """A sparse linear machine on bags' likeness to instances.

    Every instance of the training bags is an axis; a bag lies on it at the likeness of its nearest instance,
    ``exp(-gamma * |x - y|^2)``. A support vector machine with the 1-norm, which leaves most weights at 0,
    chooses the instances that tell the classes apart and weighs them.

    Parameters
    ----------
    C : float
        Weight of errors against the sum of absolute weights.
    gamma : "scale" or float
        How fast likeness falls with distance; "scale" is one over the sum of the features' variances.

    Attributes
    ----------
    prototypes_ : array of shape (n_prototypes, n_features)
        The instances with weights other than 0.
    weights_ : array of shape (n_prototypes,)
    intercept_ : float
    gamma_ : float
    classes_ : array of shape (2,)

    Notes
    -----
    An instance's score is its part in the decision about its bag: the sum of weight times likeness over the
    prototypes to which no other instance of the bag is nearer (equally near ones share). A bag's scores and
    the intercept add up to its decision value.

    Departures: errors on both classes weigh the same; the original's two weights and its trade-off are the one
    setting ``C`` here (its even trade-off is ``C=0.5``).

    References
    ----------
    Y. Chen, J. Bi and J. Z. Wang (2006), MILES: multiple-instance learning via embedded instance selection, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 28.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[-2.0], [7.0]]]
    >>> model = MILES().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [5.5]]]).tolist()
    [1, 0]
    >>> bool(np.isclose(model.instance_scores(bags[:1]).sum() + model.intercept_, model.decision_function(bags)[0]))
    True
    """

    def __init__(self, C: float = 10.0, *, gamma: float | str = "scale") -> None:
        self.C = C
        self.gamma = gamma

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_real("C", self.C, low=0.0, open_low=True)
        self.gamma_ = kernel_width(self.gamma, bags.instances)
        likeness = bag_likeness(bags, bags.instances, self.gamma_)
        weights, self.intercept_ = one_norm_machine(likeness, positive, self.C)
        self.prototypes_ = bags.instances[weights != 0]
        self.weights_ = weights[weights != 0]

    def _decide(self, bags: Bags) -> Array:
        return np.asarray(np.add.reduceat(self._decide_instances(bags), bags.offsets[:-1]) + self.intercept_)

    def _decide_instances(self, bags: Bags) -> Array:
        distances = cdist(bags.instances, self.prototypes_, "sqeuclidean")  # exact: equally near ones must tie
        starts, owner = bags.offsets[:-1], bags.bag_index
        nearest = distances == np.minimum.reduceat(distances, starts, axis=0)[owner]
        shares = nearest / np.add.reduceat(nearest, starts, axis=0, dtype=float)[owner]
        return np.asarray((shares * np.exp(-self.gamma_ * distances)) @ self.weights_)

"""MI-kernel and miGraph: support vector machines whose kernels sum Gaussian kernels over pairs of instances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from sklearn.utils import gen_batches

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator, in_fixed_order, word_or_positive
from fuzzymil.estimators.parameters import Check, above_zero, checked, choice

SEARCH_GRID: dict[str, list[Any]] = {"C": [1.0, 10.0], "gamma": ["scale", 0.02]}
"""Parameters worth tuning in support vector machines with this kernel."""

width: Check = word_or_positive("scale")

CELLS = 1 << 22  # kernel values held at once: 32 MiB


class WeighedBags(NamedTuple):
    """Bags with a weight for each instance."""

    bags: Bags
    weights: Array  # (n_instances,)


def kernel_width(gamma: float | str, instances: Array) -> float:
    """Return the value of ``gamma`` on instances of shape (n_instances, n_features).

    "scale" is one over the sum of the variances of the features: with any units and any number of features, the mean
    exponent of two random instances is -2. It is 1 if all instances are equal, or there are none.
    """
    if gamma != "scale":
        return float(gamma)
    spread = float(np.var(instances, axis=0).sum()) if len(instances) else 0.0
    return 1 / spread if spread > 0 else 1.0


def set_kernel(first: WeighedBags, second: WeighedBags, gamma: float) -> Array:
    """Return the sums (b of first, b of second) of ``exp(-gamma * |x - y|^2)`` over all weighed pairs of instances."""
    rows, columns = first.bags, second.bags
    sums = np.empty((rows.n_instances, columns.n_bags))
    for part in gen_batches(rows.n_instances, max(1, CELLS // columns.n_instances)):
        values = rbf_kernel(rows.instances[part], columns.instances, gamma) * second.weights
        sums[part] = np.add.reduceat(values, columns.offsets[:-1], axis=1)
    return np.asarray(np.add.reduceat(sums * first.weights[:, None], rows.offsets[:-1], axis=0))


def self_kernel(weighed: WeighedBags, gamma: float) -> Array:
    """Return the diagonal (n_bags,) of `set_kernel`: the sums over pairs within each bag."""
    parts = np.split(weighed.weights, weighed.bags.offsets[1:-1])
    pairs = zip(weighed.bags, parts, strict=True)
    return np.array([weights @ rbf_kernel(instances, gamma=gamma) @ weights for instances, weights in pairs])


class BagKernelSVM(BagClassifier):
    """Base class of support vector machines with a kernel between bags."""

    C: float

    @abstractmethod
    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        """Fit the kernel: set the attributes that ``_describe`` and ``_compare`` use."""

    @abstractmethod
    def _describe(self, bags: Bags) -> Any:
        """Return what the kernel compares; the description of a bag does not depend on the others."""

    @abstractmethod
    def _compare(self, first: Any, second: Any) -> Array:
        """Return the kernel of two descriptions, shape (n_bags of first, n_bags of second)."""

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        self._adapt(bags, positive)
        described = self._describe(bags)
        machine = SVC(C=self.C, kernel="precomputed").fit(self._compare(described, described), positive)
        self.support_bags_ = self._describe(bags[machine.support_])
        self.dual_coef_ = machine.dual_coef_[0]
        self.intercept_ = float(machine.intercept_[0])

    def _decide(self, bags: Bags) -> Array:
        kernel = self._compare(self._describe(in_fixed_order(bags)), self.support_bags_)
        return np.asarray(kernel @ self.dual_coef_ + self.intercept_)


@comparator("MI-kernel", search_grid=SEARCH_GRID, fit_seconds=0.06)
@dataclass(eq=False, repr=False)
class MIKernel(BagKernelSVM):
    """MI-kernel: a support vector machine with the normalized set kernel.

    The kernel of two bags is the sum of ``exp(-gamma * |x - y|^2)`` over all pairs of their instances, divided by a
    norm of each bag.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    gamma : "scale" or float
        "scale" is one over the sum of the variances of the features.
    normalize : {"mean", "cosine"}
        The norm of a bag. "mean": the number of its instances, so that the kernel is a mean. "cosine": the square root
        of its kernel with itself, so that every bag has length 1.

    Notes
    -----
    Differences from the original: none known. Its power of the kernel is here equivalent to scaling gamma.

    Source: T. Gärtner, P. A. Flach, A. Kowalczyk and A. J. Smola (2002), Multi-instance kernels, 19th International
    Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = MIKernel().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 10.0)
    _: KW_ONLY
    gamma: float | str = checked(width, "scale")
    normalize: str = checked(choice(("mean", "cosine")), "mean")

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        plain = WeighedBags(bags, np.ones(bags.n_instances))
        norms = bags.sizes if self.normalize == "mean" else np.sqrt(self_kernel(plain, self.gamma_))
        return WeighedBags(bags, np.repeat(1 / norms, bags.sizes))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)


class Edges(NamedTuple):
    """Pairs of neighboring instances in a bag."""

    first: npt.NDArray[np.int64]  # (n_edges,), rows of the bag
    second: npt.NDArray[np.int64]  # (n_edges,)
    likeness: Array  # (n_edges,)


def edges(instances: Array, gamma: float) -> Edges:
    """Return the pairs of instances of a bag that are closer than the average pair.

    The distance of x and y is ``1 - exp(-gamma * |x - y|^2)``.
    """
    if len(instances) == 1:
        none = np.array([], dtype=np.int64)
        return Edges(none, none, np.array([]))
    exponents = -gamma * pdist(instances, "sqeuclidean")
    distances = -np.expm1(exponents)
    near = distances < distances.mean()
    first, second = np.triu_indices(len(instances), 1)
    return Edges(first[near], second[near], np.exp(exponents[near]))


def clique_weights(instances: Array, gamma: float) -> Array:
    """Return one over the size of each instance's neighborhood (itself included), scaled to sum to 1."""
    found = edges(instances, gamma)
    neighbors = np.bincount(np.concatenate([found.first, found.second]), minlength=len(instances))
    weights = 1 / (1 + neighbors)
    return np.asarray(weights / weights.sum())


@comparator("miGraph", search_grid=SEARCH_GRID, fit_seconds=0.07)
@dataclass(eq=False, repr=False)
class MiGraph(BagKernelSVM):
    """miGraph: a support vector machine with a set kernel in which neighbors within a bag share their weight.

    Instances of a bag that are closer than its average distance are neighbors. The weight of an instance is one over
    the size of its neighborhood, so a cluster of similar instances weighs as much as a single isolated one. The kernel
    of two bags is the weighted mean of ``exp(-gamma * |x - y|^2)`` over all pairs of their instances.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    gamma : "scale" or float
        "scale" is one over the sum of the variances of the features.

    Notes
    -----
    Differences from the original: distances within a bag are ``1 - exp(-gamma * |x - y|^2)`` with the kernel's own
    gamma. The kernel is divided by the sums of both bags' weights; the authors' program is reported to divide by the
    square roots of these sums.

    Source: Z.-H. Zhou, Y.-Y. Sun and Y.-F. Li (2009), Multi-instance learning by treating instances as non-i.i.d.
    samples, 26th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = MiGraph().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 10.0)
    _: KW_ONLY
    gamma: float | str = checked(width, "scale")

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        return WeighedBags(bags, np.concatenate([clique_weights(bag, self.gamma_) for bag in bags]))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)

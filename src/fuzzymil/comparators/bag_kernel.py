"""Support vector machines by a kernel between bags; the first is MI-kernel, the normalized set kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import known_name
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, check_real, in_fixed_order
from fuzzymil.comparators._instance_kernel import WeighedBags, kernel_width, self_kernel, set_kernel

__all__ = ["BagKernelSVM", "MIKernel"]


class BagKernelSVM(BagClassifier):
    """What methods share that are a support vector machine by a kernel between bags.

    A method is a subclass with three functions: `_adapt`, which checks the settings and learns what the kernel
    takes from the training bags; `_describe`, which turns bags into what is compared; and `_compare`.
    """

    C: float

    @abstractmethod
    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        """Set the fitted attributes that `_describe` and `_compare` read."""

    @abstractmethod
    def _describe(self, bags: Bags) -> Any:
        """Return what the kernel compares, each bag described without regard to the others."""

    @abstractmethod
    def _compare(self, first: Any, second: Any) -> Array:
        """Return the kernel of two descriptions, shape (n_bags of first, n_bags of second)."""

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_real("C", self.C, low=0.0, open_low=True)
        self._adapt(bags, positive)
        described = self._describe(bags)
        machine = SVC(C=self.C, kernel="precomputed").fit(self._compare(described, described), positive)
        self.support_bags_ = self._describe(bags[machine.support_])
        self.dual_coef_ = machine.dual_coef_[0]
        self.intercept_ = float(machine.intercept_[0])

    def _decide(self, bags: Bags) -> Array:
        kernel = self._compare(self._describe(in_fixed_order(bags)), self.support_bags_)
        return np.asarray(kernel @ self.dual_coef_ + self.intercept_)


class MIKernel(BagKernelSVM):
    """MI-kernel: a support vector machine by the normalized set kernel.

    Two bags are as alike as their instances are on the whole: the kernel is the sum of
    ``exp(-gamma * |x - y|^2)`` over all pairs of their instances, divided by a norm of each bag.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    gamma : "scale" or float
        "scale" is one over the sum of the features' variances.
    normalize : {"mean", "cosine"}
        A bag's norm: the number of its instances, so that the kernel is a mean; or the root of its kernel with
        itself, so that every bag has length one.

    Attributes
    ----------
    support_bags_ : WeighedBags
        The training bags that decide.
    dual_coef_ : array of shape (n_support_bags,)
    intercept_ : float
    gamma_ : float
    classes_ : array of shape (2,)

    Notes
    -----
    Departures: none known. The original raises the kernel of instances to a power, which for this kernel
    is a factor of gamma.

    References
    ----------
    T. Gärtner, P. A. Flach, A. Kowalczyk and A. J. Smola (2002), Multi-instance kernels, 19th International
    Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = MIKernel().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    def __init__(self, C: float = 10.0, *, gamma: float | str = "scale", normalize: str = "mean") -> None:
        self.C = C
        self.gamma = gamma
        self.normalize = normalize

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        known_name("normalize", self.normalize, ("mean", "cosine"))
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        plain = WeighedBags(bags, np.ones(bags.n_instances))
        norms = bags.sizes if self.normalize == "mean" else np.sqrt(self_kernel(plain, self.gamma_))
        return WeighedBags(bags, np.repeat(1 / norms, bags.sizes))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)

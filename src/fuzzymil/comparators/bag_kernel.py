"""Support vector machines with a kernel between bags; MI-kernel, the normalized set kernel."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import (
    BagClassifier,
    BoolArray,
    above_zero,
    checks,
    comparator,
    in_fixed_order,
    word_or_positive,
)
from fuzzymil.comparators._instance_kernel import SEARCH_GRID, WeighedBags, kernel_width, self_kernel, set_kernel
from fuzzymil.estimators.parameters import choice

__all__ = ["BagKernelSVM", "MIKernel"]


class BagKernelSVM(BagClassifier):
    """Base class of support vector machines with a kernel between bags.

    A subclass defines ``_adapt``, which fits the kernel to the training bags, ``_describe``, which turns bags into what
    the kernel compares, and ``_compare``, the kernel.
    """

    _checks = checks(C=above_zero)
    C: float

    @abstractmethod
    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        """Set the fitted attributes that ``_describe`` and ``_compare`` use."""

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

    Attributes
    ----------
    support_bags_ : WeighedBags
        The support vectors.
    dual_coef_ : array of shape (n_support_bags,)
    intercept_ : float
    gamma_ : float
    classes_ : array of shape (2,)

    Notes
    -----
    Differences from the original: none known. The original raises the kernel of instances to a power, which for this
    kernel is equivalent to scaling gamma.

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

    _checks = BagKernelSVM._checks | checks(gamma=word_or_positive("scale"), normalize=choice(("mean", "cosine")))

    def __init__(self, C: float = 10.0, *, gamma: float | str = "scale", normalize: str = "mean") -> None:
        self.C = C
        self.gamma = gamma
        self.normalize = normalize

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        self.gamma_ = kernel_width(self.gamma, bags.instances)

    def _describe(self, bags: Bags) -> WeighedBags:
        plain = WeighedBags(bags, np.ones(bags.n_instances))
        norms = bags.sizes if self.normalize == "mean" else np.sqrt(self_kernel(plain, self.gamma_))
        return WeighedBags(bags, np.repeat(1 / norms, bags.sizes))

    def _compare(self, first: WeighedBags, second: WeighedBags) -> Array:
        return set_kernel(first, second, self.gamma_)

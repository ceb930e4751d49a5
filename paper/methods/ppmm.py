"""PPMM kernel: a kernel on the frequencies of mixture components in bags, raised to a learned power."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, comparator, word_or_positive
from fuzzymil.comparators.kernels import BagKernelSVM
from fuzzymil.estimators.parameters import above_zero, checked, choice, integer

POWERS = np.geomspace(1 / 16, 4, 25)  # candidates for the best aligned one


def posterior_kernel(first: Array, second: Array, power: float) -> Array:
    """Return the kernel (b of first, b of second) of bags by their shares of components (n_mixtures, b, n_components).

    The kernel is the cosine of the angle between the shares raised to a power, averaged over mixtures. With small
    powers it depends only on which components occur in a bag, with large ones on the most frequent component.
    """
    first, second = _unit_powers(first, power), _unit_powers(second, power)
    return np.asarray(np.einsum("mbk,mck->bc", first, second, optimize=True) / len(first))


def _unit_powers(shares: Array, power: float) -> Array:
    powers = (shares / shares.max(axis=-1, keepdims=True)) ** power  # the largest is 1: they cannot all underflow
    return np.asarray(powers / np.linalg.norm(powers, axis=-1, keepdims=True))


def alignment(kernel: Array, positive: BoolArray) -> float:
    """Return the centered alignment of a kernel (b, b) with the ideal kernel of the classes: 1 perfect, 0 constant."""
    centered = kernel - kernel.mean(axis=0) - kernel.mean(axis=1, keepdims=True) + kernel.mean()
    target = positive - positive.mean()
    size = np.linalg.norm(centered)
    return float(target @ centered @ target / (size * (target @ target))) if size > 0 else 0.0


@comparator("PPMM-kernel", search_grid={"n_components": [30, 100]}, fit_seconds=0.3)
@dataclass(eq=False, repr=False)
class PPMMKernel(BagKernelSVM):
    """PPMM kernel: a support vector machine with an adaptive kernel on mixture posteriors.

    Gaussian mixtures are fitted to all instances. A bag is described by the mean posterior probability of each
    component over its instances, raised to a power p; the kernel is the cosine of two such descriptions. The power,
    which sets whether rare or frequent kinds of instances matter, is the one whose kernel is best aligned with the
    classes of the training bags.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    n_components : int
        Number of components per mixture, at most the number of distinct instances.
    n_mixtures : int
        Number of mixtures with different starts, whose kernels are averaged.
    covariance_type : {"spherical", "diag"}
        Whether a component has one width, or one width per feature.
    power : "align" or float
        The power p; "align" chooses the best aligned of 25 powers from 1/16 to 4.
    random_state : int, RandomState or None
        Random seed of the mixtures.

    Notes
    -----
    Differences from the original: several mixtures; the power is chosen on a grid; the alignment is that of centered
    kernels. Variances are at least a thousandth of the mean variance of the features.

    References
    ----------
    H.-Y. Wang, Q. Yang and H. Zha (2008), Adaptive p-posterior mixture-model kernels for multiple instance
    learning, 25th International Conference on Machine Learning.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [7.0]]]
    >>> model = PPMMKernel(n_components=3, random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [6.5]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 10.0)
    _: KW_ONLY
    n_components: int = checked(integer(1), 100)
    n_mixtures: int = checked(integer(1), 5)
    covariance_type: str = checked(choice(("spherical", "diag")), "spherical")
    power: float | str = checked(word_or_positive("align"), "align")
    random_state: Any = None

    def _adapt(self, bags: Bags, positive: BoolArray) -> None:
        rng = check_random_state(self.random_state)
        spread = float(np.var(bags.instances, axis=0).mean())
        self.mixtures_ = [
            GaussianMixture(
                min(self.n_components, len(np.unique(bags.instances, axis=0))),
                covariance_type=self.covariance_type,
                reg_covar=1e-3 * (spread if spread > 0 else 1.0),
                max_iter=1000,
                random_state=rng,
            ).fit(bags.instances)
            for _ in range(self.n_mixtures)
        ]
        self.power_ = self._aligned_power(bags, positive) if isinstance(self.power, str) else float(self.power)

    def _aligned_power(self, bags: Bags, positive: BoolArray) -> float:
        shares = self._describe(bags)
        aligned = [alignment(posterior_kernel(shares, shares, power), positive) for power in POWERS]
        return float(POWERS[np.argmax(aligned)])

    def _describe(self, bags: Bags) -> Array:
        posteriors = np.stack([mixture.predict_proba(bags.instances) for mixture in self.mixtures_])
        return np.asarray(np.add.reduceat(posteriors, bags.offsets[:-1], axis=1) / bags.sizes[:, None])

    def _compare(self, first: Array, second: Array) -> Array:
        return posterior_kernel(first, second, self.power_)

"""The Gaussian kernel between instances, and its sums over pairs of bags."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils import gen_batches

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags

SEARCH_GRID: dict[str, list[Any]] = {"C": [1.0, 10.0], "gamma": ["scale", 0.02]}
"""Parameters worth tuning in support vector machines with this kernel."""

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
    """Sum ``exp(-gamma * |x - y|^2)`` over all pairs of instances of two bags, for all pairs of bags.

    A pair of instances is weighted by the product of its weights; the result has shape (n_bags of first, n_bags of
    second).

    Examples
    --------
    >>> bags = WeighedBags(Bags.from_list([[[0.0], [0.0]], [[1.0]]]), np.ones(3))
    >>> set_kernel(bags, bags, gamma=np.log(2)).round(6).tolist()
    [[4.0, 1.0], [1.0, 1.0]]
    """
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

"""Which of very many sparse features are worth a candidate, found without a dense array."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags

__all__ = ["MOST_SPARSE_FEATURES", "informative_features"]

MOST_SPARSE_FEATURES = 200


def informative_features(bags: Bags, targets: Array, weights: Array, count: int = MOST_SPARSE_FEATURES) -> Array:
    """Return the positions of the features to choose rules from, in ascending order.

    These are the features that are clearly related to the targets, more than the best of as many random ones would be,
    and of the others those that most divide the bags into some that have them and some that have not. (Features that
    are merely somewhat related would mostly be so by chance, and bags held out from the choice of rules, which were
    not held out here, would not tell.) A feature is as related as the better of two statements about it: some instance
    has it, a value other than 0; and its mean over the instances.

    Parameters
    ----------
    bags : Bags
        Sparse.
    targets : array of shape (b, k)
    weights : array of shape (b,)
    count : int
        Most features to return.

    Examples
    --------
    >>> rows = sparse.csr_array([[0.0, 1.0], [0.0, 0.0], [3.0, 0.0], [3.0, 1.0]])
    >>> informative_features(Bags(rows, [0, 1, 2, 3, 4]), np.array([[0], [0], [1], [1]]), np.ones(4), 1).tolist()
    [0]
    """
    owner = sparse.csr_array(
        (np.ones(bags.n_instances), bags.bag_index, np.arange(bags.n_instances + 1)),
        shape=(bags.n_instances, bags.n_bags),
    ).T.tocsr()
    rows: Any = bags.sparse
    present = (owner @ (rows != 0).astype(float)).tocsr()
    present.data = np.ones_like(present.data)
    mean = sparse.diags_array(1.0 / bags.sizes) @ (owner @ rows)
    share = weights / weights.sum()
    merit = np.maximum(_merit(present, targets, share), _merit(mean.tocsr(), targets, share))
    often = present.T @ share
    clear = bags.n_bags * merit > 2 * np.log(bags.n_features)
    order = np.lexsort((-often * (1 - often), -np.where(clear, merit, 0.0)))
    return np.sort(order[:count])


def _merit(columns: Any, targets: Array, share: Array) -> Array:
    """Return the greatest squared correlation (d,) of each column (b, d) with a target (b, k)."""
    mean = columns.T @ share
    spread = columns.multiply(columns).T @ share - np.square(mean)
    away = targets - share @ targets
    product = columns.T @ (share[:, None] * away)
    size = np.maximum((share[:, None] * np.square(away)).sum(axis=0), 1e-300)
    return np.asarray((np.square(product) / size).max(axis=1) / np.maximum(spread, 1e-12))

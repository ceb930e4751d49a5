"""miFV: bags as Fisher vectors of a Gaussian mixture, and a linear classifier."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BagClassifier, BoolArray, comparator
from fuzzymil.estimators.parameters import above_zero, checked, integer, share


def fisher_vectors(bags: Bags, mixture: GaussianMixture) -> Array:
    """Return Fisher vectors of bags: the slopes of their log-likelihoods, in units of their standard deviation.

    With respect to the weight, the centers and the widths of component k, the slopes of the log-likelihood of a bag's
    instances x are sums over x, where w, m and s are the weight, center and width, and g(x) is the posterior
    probability of the component::

        sum (g(x) - w) / sqrt(w)
        sum g(x) (x - m) / s / sqrt(w)
        sum g(x) ((x - m)^2 / s^2 - 1) / sqrt(2 w)

    Of shape (n_bags, n_components * (1 + 2 * n_features)): all weights, then all centers, then all widths.
    """
    x, starts = bags.instances, bags.offsets[:-1]
    weights, centers, variances = mixture.weights_, mixture.means_, mixture.covariances_  # (K,), (K, d), (K, d)
    likely = mixture.predict_proba(x)  # (i, K)
    mass, first, second = [], [], []
    for k, w in enumerate(weights):
        away = (x - centers[k]) / np.sqrt(variances[k])
        share = likely[:, [k]]
        mass.append(np.add.reduceat(share - w, starts) / np.sqrt(w))
        first.append(np.add.reduceat(share * away, starts) / np.sqrt(w))
        second.append(np.add.reduceat(share * (away**2 - 1), starts) / np.sqrt(2 * w))
    return np.hstack([*mass, *first, *second])


def improve(vectors: Array) -> Array:
    """Return the signed square roots of the entries, with each row (n, d) scaled to length 1."""
    return np.asarray(normalize(np.sign(vectors) * np.sqrt(np.abs(vectors))))


@comparator("miFV", search_grid={"n_components": [1, 3], "C": [1.0, 10.0]}, fit_seconds=0.05)
@dataclass(eq=False, repr=False)
class MiFV(BagClassifier):
    """miFV: a linear support vector machine on the Fisher vectors of bags.

    The instances of all bags are reduced by principal components and modeled by a Gaussian mixture. The Fisher vector
    of a bag tells how the mixture would have to change to fit the bag's instances better: the slope of their
    log-likelihood by the weights, centers and widths. Signed square roots are taken, and the vectors are scaled to
    length 1.

    Parameters
    ----------
    n_components : int
        Number of components of the mixture.
    energy : float
        Fraction of the variance that the principal components keep; 1 keeps all of them.
    C : float
        Penalty on training errors.
    random_state : int, RandomState or None
        Random seed of the mixture.

    Notes
    -----
    Differences from the original: the mixture is scikit-learn's, started by k-means; the original chooses the number of
    components, the energy and C for each dataset.

    Source: X.-S. Wei, J. Wu and Z.-H. Zhou (2017), Scalable algorithms for multi-instance learning, IEEE Transactions
    on Neural Networks and Learning Systems 28.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [5.5]], [[2.0]], [[2.2], [3.0]]]
    >>> model = MiFV(random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [5.2]], [[2.1], [2.5]]]).tolist()
    [1, 0]
    """

    n_components: int = checked(integer(1), 3)
    _: KW_ONLY
    energy: float = checked(share, 0.9)
    C: float = checked(above_zero, 1.0)
    random_state: Any = None

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        n_distinct = len(np.unique(bags.instances, axis=0))
        if n_distinct < max(2, self.n_components):
            raise InputError(
                f"A mixture of {self.n_components} components needs at least {max(2, self.n_components)} different "
                f"instances, got {n_distinct}: pass more bags, or lower n_components."
            )
        # The exact decomposition: the randomized one needs a seed and gains nothing at the size of such data.
        reducer = PCA(None if self.energy == 1 else self.energy, svd_solver="full").fit(bags.instances)
        reduced = bags.map_instances(reducer.transform)
        mixture = GaussianMixture(
            self.n_components, covariance_type="diag", random_state=check_random_state(self.random_state)
        )
        self.reducer_, self.mixture_ = reducer, mixture.fit(reduced.instances)
        machine = SVC(C=self.C, kernel="linear")
        self.machine_ = machine.fit(improve(fisher_vectors(reduced, self.mixture_)), positive)

    def _decide(self, bags: Bags) -> Array:
        vectors = fisher_vectors(bags.map_instances(self.reducer_.transform), self.mixture_)
        return np.asarray(self.machine_.decision_function(improve(vectors)))

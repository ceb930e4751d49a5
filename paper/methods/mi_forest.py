"""MIForest: a forest of randomized trees on instances, whose labels are found by annealing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, InstanceScores, comparator
from fuzzymil.comparators.svm import witnesses
from fuzzymil.estimators.parameters import above_zero, checked, integer
from paper.methods.annealing import cooling


def tempered(probabilities: Array, temperature: float) -> Array:
    """Return probabilities with odds raised to the power 1 / temperature.

    They minimize the expected logarithmic loss minus the entropy times the temperature.
    """
    return np.asarray(expit(logit(probabilities) / temperature))


@comparator("MIForest", search_grid={"min_samples_leaf": [2, 5]}, fit_seconds=0.66)
@dataclass(eq=False, repr=False)
class MIForest(InstanceScores):
    """MIForest: randomized trees on instances, whose labels in positive bags are found by annealing.

    The first forest is trained on all instances with the labels of their bags. Then a new forest is trained at each of
    a sequence of falling temperatures. For each of its trees, the labels of instances in positive bags are drawn with
    the probabilities of the previous forest, hardened by the temperature; the most probable instance of each positive
    bag is always positive. A bag is positive if the majority of trees calls one of its instances positive.

    Parameters
    ----------
    n_estimators : int
        Number of trees per forest.
    min_samples_leaf : int
        Minimum number of instances in a leaf. With 1, the trees memorize every label and annealing has no effect.
    max_temperature, min_temperature : float
        First and last temperature: at 1, labels are drawn with the forest's own probabilities; near 0, the more
        probable label is chosen.
    n_temperatures : int
        Number of forests after the first.
    random_state : int, RandomState or None
        Random seed of the trees and labels.

    Notes
    -----
    The score of an instance is the forest's probability minus 1/2.

    Differences from the original: the loss is logarithmic; the temperatures are choices made here; all trees are
    trained on all instances, since drawn labels and random thresholds already make them differ.

    References
    ----------
    C. Leistner, A. Saffari and H. Bischof (2010), MIForests: multiple-instance learning with randomized trees,
    11th European Conference on Computer Vision.

    Examples
    --------
    >>> bags = [[[0.0], [5.0]], [[0.3], [9.0]], [[2.0]], [[2.5], [7.0]]]
    >>> model = MIForest(random_state=0).fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.1], [8.0]], [[2.2], [7.5]]]).tolist()
    [1, 0]
    """

    n_estimators: int = checked(integer(1), 50)
    _: KW_ONLY
    min_samples_leaf: int = checked(integer(1), 2)
    max_temperature: float = 1.0
    min_temperature: float = checked(above_zero, 0.1)
    n_temperatures: int = checked(integer(1), 4)
    random_state: Any = None

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        temperatures = cooling(self.max_temperature, self.min_temperature, self.n_temperatures)
        rng = check_random_state(self.random_state)
        ours = np.repeat(positive, bags.sizes)
        forest = self._unfitted(rng).fit(bags.instances, ours)
        for temperature in temperatures:
            likely = forest.predict_proba(bags.instances)[:, 1]
            hardened = tempered(likely, temperature)
            hardened[witnesses(likely, bags)] = 1.0
            hardened[~ours] = 0.0
            forest = self._grown(bags.instances, hardened, rng)
        self.forest_ = forest

    def _grown(self, instances: Array, likely: Array, rng: np.random.RandomState) -> Any:
        """Return a forest whose trees are each trained on labels drawn with these probabilities (i,)."""
        forest = self._unfitted(rng).set_params(warm_start=True)  # adds trees to those already there
        for n in range(1, self.n_estimators + 1):
            forest.set_params(n_estimators=n).fit(instances, rng.uniform(size=len(likely)) < likely)
        return forest

    def _unfitted(self, rng: np.random.RandomState) -> Any:
        return ExtraTreesClassifier(
            self.n_estimators, min_samples_leaf=self.min_samples_leaf, random_state=rng.randint(2**31)
        )

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self.forest_.predict_proba(bags.instances)[:, 1] - 0.5)

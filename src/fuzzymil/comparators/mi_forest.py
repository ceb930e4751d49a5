"""MIForest: a forest of randomized trees whose guesses at instances' labels harden as a temperature falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._annealing import cooling
from fuzzymil.comparators._base import BoolArray, InstanceScores, check_integer
from fuzzymil.comparators.svm import witnesses

__all__ = ["MIForest", "tempered"]


def tempered(probabilities: Array, temperature: float) -> Array:
    """Return probabilities drawn towards 1/2 by temperatures above 1, towards 0 and 1 by those below.

    They minimize the expected logarithmic loss less the entropy times the temperature: the odds are raised
    to the power 1 / temperature.

    Examples
    --------
    >>> tempered(np.array([0.0, 0.5, 0.8]), 0.5).round(3).tolist()
    [0.0, 0.5, 0.941]
    """
    return np.asarray(expit(logit(probabilities) / temperature))


class MIForest(InstanceScores):
    """MIForest: randomized trees on instances, whose labels in positive bags are guessed by annealing.

    A forest is grown on all instances with the labels of their bags. Then, at each of some falling temperatures, a
    new one is grown: for each of its trees the instances of positive bags draw labels by the probabilities the forest
    before gave them, hardened by the temperature, and each positive bag's most probable instance is positive.
    A bag is positive if the trees call one of its instances positive by majority.

    Parameters
    ----------
    n_estimators : int
        Trees of a forest.
    min_samples_leaf : int
        Least number of instances in a leaf. With 1 the trees know every label they are told by heart: the first
        forest confirms the labels of the bags and annealing has nothing to do.
    max_temperature, min_temperature : float
        Where cooling begins and ends: with 1 labels are drawn by the forest's own probabilities, near 0 the more
        probable label is taken.
    n_temperatures : int
        Number of forests after the first.
    random_state : int, RandomState or None
        Grows the trees and draws the labels.

    Attributes
    ----------
    forest_ : sklearn.ensemble.ExtraTreesClassifier
        The last forest, fitted on instances.
    classes_ : array of shape (2,)

    Notes
    -----
    An instance's score is the forest's probability less 1/2.

    Departures: the loss is logarithmic; the temperatures are our own; all trees see all instances, since drawn
    labels and random thresholds make them differ.

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

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        min_samples_leaf: int = 2,
        max_temperature: float = 1.0,
        min_temperature: float = 0.1,
        n_temperatures: int = 4,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
        self.max_temperature = max_temperature
        self.min_temperature = min_temperature
        self.n_temperatures = n_temperatures
        self.random_state = random_state

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("min_samples_leaf", self.min_samples_leaf, 1)
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
        """Return a forest each of whose trees learns from labels of its own, drawn with these probabilities (i,)."""
        forest = self._unfitted(rng).set_params(warm_start=True)  # further trees are added to those there are
        for n in range(1, self.n_estimators + 1):
            forest.set_params(n_estimators=n).fit(instances, rng.uniform(size=len(likely)) < likely)
        return forest

    def _unfitted(self, rng: np.random.RandomState) -> Any:
        return ExtraTreesClassifier(
            self.n_estimators, min_samples_leaf=self.min_samples_leaf, random_state=rng.randint(2**31)
        )

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self.forest_.predict_proba(bags.instances)[:, 1] - 0.5)

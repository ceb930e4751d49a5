"""ALP-SVM: instance labels by deterministic annealing, with a minimum share of positives in each positive bag."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.special import expit, logit

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, comparator
from fuzzymil.comparators.kernels import SEARCH_GRID, width
from fuzzymil.comparators.svm import InstanceSVM
from fuzzymil.estimators.parameters import above_zero, checked, choice, integer, real
from paper.methods.annealing import cooling

HALVINGS = 60  # enough for double precision


def hinge_evidence(scores: Array) -> Array:
    """Return the hinge loss of label -1 minus that of label +1, for each score."""
    return np.asarray(np.maximum(0.0, 1 + scores) - np.maximum(0.0, 1 - scores))


def label_probabilities(evidence: Array, bags: Bags, least: Array) -> Array:
    """Return the probabilities (n_instances,) of positive labels with minimum free energy.

    They minimize ``sum(-p * evidence - entropy(p))``, with evidence in units of the temperature, under the constraint
    that the probabilities of bag b sum to at least ``least[b]``, above 0 and at most its size. All evidence in a bag is
    raised by the same amount, which is 0 if the constraint already holds.
    """
    starts = bags.offsets[:-1]
    filled = least >= bags.sizes  # every label is positive: no finite amount is enough
    share = np.where(filled, 0.5, least / bags.sizes)
    low = np.zeros(bags.n_bags)
    high = np.maximum(0.0, logit(share) - np.minimum.reduceat(evidence, starts))  # no probability is below the share
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        short = np.add.reduceat(expit(evidence + np.repeat(middle, bags.sizes)), starts) < least
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    found = expit(evidence + np.repeat(high, bags.sizes))
    return np.where(np.repeat(filled, bags.sizes), 1.0, found)


@comparator("ALP-SVM", search_grid={"gamma": SEARCH_GRID["gamma"]}, fit_seconds=0.29)
@dataclass(eq=False, repr=False)
class ALPSVM(InstanceSVM):
    """ALP-SVM: mi-SVM with soft instance labels that harden as a temperature falls.

    Each instance of a positive bag is positive with some probability. The SVM and the probabilities are fitted in turn.
    The probabilities minimize the hinge loss minus their entropy times the temperature; in each positive bag they sum
    to at least 1 and to at least a share of its size.

    Parameters
    ----------
    C, kernel, gamma
        As in `MISVM`.
    share : float
        Minimum expected share of positive instances in a positive bag, from 0 to 1. 0 is AL-SVM.
    max_temperature, min_temperature : float
        First and last temperature, in units of hinge loss.
    n_temperatures : int
        Number of temperatures, which fall geometrically.
    max_iter : int
        Maximum number of fits per temperature; fewer if no probability changes by more than 0.05.

    Notes
    -----
    If instances start with a probability of one half or less, the negative bags dominate: few instances remain
    positive, and too many bags are predicted negative.

    Differences from the original: the share is a bound for every positive bag; the temperatures and when to go on to
    the next one are choices made here.

    References
    ----------
    P. V. Gehler and O. Chapelle (2007), Deterministic annealing for multiple-instance learning, 11th
    International Conference on Artificial Intelligence and Statistics.

    Examples
    --------
    >>> bags = [[[0.1], [2.0]], [[2.2], [0.3]], [[0.0]], [[0.2], [-0.1]]]
    >>> model = ALPSVM().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.0], [2.1]], [[0.1], [0.4]]]).tolist()
    [1, 0]
    """

    C: float = checked(above_zero, 1.0)
    _: KW_ONLY
    kernel: str = checked(choice(("rbf", "linear")), "rbf")
    gamma: float | str = checked(width, "scale")
    share: float = checked(real(low=0.0, high=1.0), 0.7)
    max_temperature: float = 4.0
    min_temperature: float = checked(above_zero, 0.25)
    n_temperatures: int = checked(integer(1), 5)
    max_iter: int = checked(integer(1), 2)

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        machine = self._unfitted(bags)
        temperatures = cooling(self.max_temperature, self.min_temperature, self.n_temperatures)
        unsure, certain = bags[positive], bags[~positive]
        # Instances of positive bags occur twice, once with each label.
        rows = np.concatenate([unsure.instances, unsure.instances, certain.instances])
        labels = np.arange(len(rows)) < unsure.n_instances
        least = np.maximum(1.0, self.share * unsure.sizes)
        likely = label_probabilities(np.zeros(unsure.n_instances), unsure, least)
        self.n_iter_ = 0
        for temperature in temperatures:
            for _ in range(self.max_iter):
                weights = np.concatenate([likely, 1 - likely, np.ones(certain.n_instances)])
                counted = weights > 0
                machine.fit(rows[counted], labels[counted], sample_weight=weights[counted])
                self.n_iter_ += 1
                before = likely
                evidence = hinge_evidence(machine.decision_function(unsure.instances)) / temperature
                likely = label_probabilities(evidence, unsure, least)
                if np.abs(likely - before).max() <= 0.05:
                    break
        self.machine_ = machine

"""MI-SVM and mi-SVM: support vector machines that alternate with the labels of instances in positive bags."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import warn_user
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import bag_means
from fuzzymil.comparators._base import BoolArray, InstanceScores, comparator
from fuzzymil.comparators.kernels import SEARCH_GRID, kernel_width, width
from fuzzymil.estimators.parameters import above_zero, checked, choice, flag, integer


def witnesses(scores: Array, bags: Bags) -> npt.NDArray[np.int64]:
    """Return the row of the highest-scoring instance of each bag (n_bags,), the last one if several are equal."""
    return np.asarray(np.lexsort((scores, bags.bag_index))[bags.offsets[1:] - 1])


class InstanceSVM(InstanceScores):
    """Base class of methods that end with one support vector machine on instances, ``machine_``."""

    C: float
    kernel: str
    gamma: float | str

    def _unfitted(self, bags: Bags, **settings: Any) -> Any:
        """Return the unfitted machine; the width of its kernel does not depend on the instances it is fitted on."""
        return SVC(C=self.C, kernel=self.kernel, gamma=kernel_width(self.gamma, bags.instances), **settings)

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self.machine_.decision_function(bags.instances))


@dataclass(eq=False, repr=False)
class AlternatingSVM(InstanceSVM):
    """Base class of MI-SVM and mi-SVM, which alternate between fits and labels until the labels repeat."""

    C: float = checked(above_zero, 1.0)
    _: KW_ONLY
    kernel: str = checked(choice(("rbf", "linear")), "rbf")
    gamma: float | str = checked(width, "scale")
    balanced: bool = checked(flag, False)
    max_iter: int = checked(integer(1), 100)

    def _unfitted(self, bags: Bags, **settings: Any) -> Any:
        return super()._unfitted(bags, class_weight="balanced" if self.balanced else None, **settings)

    def _warn_unsettled(self) -> None:
        message = f"{type(self).__name__} did not converge in max_iter={self.max_iter} fits: increase max_iter."
        warn_user(message, ConvergenceWarning)


@comparator("MI-SVM", search_grid=SEARCH_GRID, fit_seconds=0.08)
class MISVM(AlternatingSVM):
    """MI-SVM: maximum margin between bags, with one witness per positive bag.

    A support vector machine is fitted on one witness of each positive bag, initially the mean of its instances, and on
    all instances of negative bags. The highest-scoring instance of each positive bag is its next witness, until the
    witnesses no longer change.

    Parameters
    ----------
    C : float
        Penalty on training errors.
    kernel : {"rbf", "linear"}
    gamma : "scale" or float
        The rbf kernel is ``exp(-gamma * |x - y|^2)``; "scale" is one over the sum of the variances of the features.
    balanced : bool
        Whether to weight errors inversely to class frequencies; there are fewer witnesses than negative instances.
    max_iter : int
        Maximum number of fits; a warning is issued if the witnesses still change.

    Attributes
    ----------
    machine_ : sklearn.svm.SVC
        Fitted on instances.
    n_iter_ : int
        Number of fits.

    Notes
    -----
    Differences from the original: every instance of a negative bag has its own slack, where the original has one per
    bag. The alternation also ends if witnesses repeat, where the original would cycle forever.

    Source: S. Andrews, I. Tsochantaridis and T. Hofmann (2002), Support vector machines for multiple-instance
    learning, Advances in Neural Information Processing Systems 15.

    Examples
    --------
    >>> bags = [[[0.1], [2.0]], [[2.2], [0.3]], [[0.0]], [[0.2], [-0.1]]]
    >>> model = MISVM().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.0], [2.1]], [[0.1], [0.4]]]).tolist()
    [1, 0]
    """

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        machine = self._unfitted(bags)
        ours = np.repeat(positive, bags.sizes)
        taken = ~ours
        taken[bags.offsets[:-1][positive]] = True  # one row per positive bag, for its witness
        rows, labels = bags.instances[taken], ours[taken]
        rows[labels] = bag_means(bags)[positive]
        seen: set[bytes] = set()
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            machine.fit(rows, labels)
            chosen = witnesses(machine.decision_function(bags.instances), bags)[positive]
            if chosen.tobytes() in seen:
                break
            seen.add(chosen.tobytes())
            rows[labels] = bags.instances[chosen]
        else:
            self._warn_unsettled()
        self.machine_ = machine


@comparator("mi-SVM", search_grid={"gamma": SEARCH_GRID["gamma"]}, fit_seconds=0.16)
class MiSVM(AlternatingSVM):
    """mi-SVM: maximum margin between instances, with latent labels in positive bags.

    A support vector machine is fitted on all instances, initially with the labels of their bags. Instances of positive
    bags then get the labels that it predicts, except that the highest-scoring one is always positive, until the labels
    no longer change.

    Parameters
    ----------
    C, kernel, gamma, balanced, max_iter
        As in `MISVM`; a warning is issued if the labels still change.

    Notes
    -----
    Differences from the original: the alternation also ends if labels repeat, where the original would cycle forever.

    Source: S. Andrews, I. Tsochantaridis and T. Hofmann (2002), Support vector machines for multiple-instance
    learning, Advances in Neural Information Processing Systems 15.

    Examples
    --------
    >>> bags = [[[0.1], [2.0]], [[2.2], [0.3]], [[0.0]], [[0.2], [-0.1]]]
    >>> model = MiSVM().fit(bags, [1, 1, 0, 0])
    >>> model.predict([[[0.0], [2.1]], [[0.1], [0.4]]]).tolist()
    [1, 0]
    """

    def _learn(self, bags: Bags, positive: BoolArray) -> None:
        machine = self._unfitted(bags)
        ours = np.repeat(positive, bags.sizes)
        labels = ours
        seen = {labels.tobytes()}
        for n_iter in range(1, self.max_iter + 1):
            self.n_iter_ = n_iter
            machine.fit(bags.instances, labels)
            scores = machine.decision_function(bags.instances)
            labels = ours & (scores > 0)
            labels[witnesses(scores, bags)[positive]] = True
            if labels.tobytes() in seen:
                break
            seen.add(labels.tobytes())
        else:
            self._warn_unsettled()
        self.machine_ = machine

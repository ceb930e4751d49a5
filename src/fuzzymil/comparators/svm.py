"""MI-SVM and mi-SVM: support vector machines that guess which instances of a positive bag are positive."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name, warn_user
from fuzzymil.bags import Bags
from fuzzymil.comparators._base import BoolArray, InstanceScores, check_integer, check_real
from fuzzymil.comparators._instance_kernel import kernel_width

__all__ = ["AlternatingSVM", "InstanceSVM", "MISVM", "MiSVM", "bag_means", "witnesses"]


def witnesses(scores: Array, bags: Bags) -> npt.NDArray[np.int64]:
    """Return for each bag (n_bags,) the row of its instance with the greatest score, the last of equal ones.

    Examples
    --------
    >>> witnesses(np.array([0.5, 0.3, 0.1]), Bags.from_list([[[7.0], [8.0]], [[9.0]]])).tolist()
    [0, 2]
    """
    return np.asarray(np.lexsort((scores, bags.bag_index))[bags.offsets[1:] - 1])


def bag_means(bags: Bags) -> Array:
    """Return the mean instance of each bag, shape (n_bags, n_features).

    Examples
    --------
    >>> bag_means(Bags.from_list([[[7.0], [8.0]], [[9.0]]])).tolist()
    [[7.5], [9.0]]
    """
    return np.asarray(np.add.reduceat(bags.instances, bags.offsets[:-1]) / bags.sizes[:, None])


class InstanceSVM(InstanceScores):
    """What methods share whose answer is one support vector machine on instances, ``machine_``."""

    C: float
    kernel: str
    gamma: float | str

    def _unfitted(self, bags: Bags, **settings: Any) -> Any:
        """Return the machine to fit; its kernel keeps one width, whichever instances it is fitted on."""
        check_real("C", self.C, low=0.0, open_low=True)
        known_name("kernel", self.kernel, ("rbf", "linear"))
        return SVC(C=self.C, kernel=self.kernel, gamma=kernel_width(self.gamma, bags.instances), **settings)

    def _decide_instances(self, bags: Bags) -> Array:
        return np.asarray(self.machine_.decision_function(bags.instances))


class AlternatingSVM(InstanceSVM):
    """What MI-SVM and mi-SVM share: their settings, and fits in turn with guesses until these come back."""

    def __init__(
        self,
        C: float = 1.0,
        *,
        kernel: str = "rbf",
        gamma: float | str = "scale",
        balanced: bool = False,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.balanced = balanced
        self.max_iter = max_iter

    def _unfitted(self, bags: Bags, **settings: Any) -> Any:
        check_integer("max_iter", self.max_iter, 1)
        if not isinstance(self.balanced, bool | np.bool_):
            raise ParameterError(f"balanced must be True or False, got {self.balanced!r}.")
        return super()._unfitted(bags, class_weight="balanced" if self.balanced else None, **settings)

    def _warn_unsettled(self) -> None:
        message = f"{type(self).__name__} still changed its guesses after {self.max_iter} fits: raise max_iter."
        warn_user(message, ConvergenceWarning)


class MISVM(AlternatingSVM):
    """MI-SVM: the widest margin between bags, where a positive bag stands for its most positive instance.

    A machine is fitted on one witness of each positive bag, at first the mean of its instances, and on all
    instances of negative bags. Each positive bag's instance with the greatest score is its next witness, and
    so on until the witnesses stay.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    kernel : {"rbf", "linear"}
    gamma : "scale" or float
        The rbf kernel is ``exp(-gamma * |x - y|^2)``; "scale" is one over the sum of the features' variances.
    balanced : bool
        Whether errors weigh the more, the rarer their class; there are fewer witnesses than negative instances.
    max_iter : int
        Greatest number of fits; there is a warning if witnesses still change then.

    Attributes
    ----------
    machine_ : sklearn.svm.SVC
        Fitted on instances.
    n_iter_ : int
        Number of fits.
    classes_ : array of shape (2,)

    Notes
    -----
    Departures: every instance of a negative bag has a slack of its own, where the original has one for the
    bag. The search also ends with witnesses it has had before, where the original would go round for ever.

    References
    ----------
    S. Andrews, I. Tsochantaridis and T. Hofmann (2002), Support vector machines for multiple-instance
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
        taken[bags.offsets[:-1][positive]] = True  # a place for each positive bag, whoever its witness is
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


class MiSVM(AlternatingSVM):
    """mi-SVM: the widest margin between instances, whose labels in positive bags are guessed.

    A machine is fitted on all instances, at first with the labels of their bags. Instances of positive bags
    then take the labels it gives them, but the one with the greatest score is always positive; and so on
    until the labels stay.

    Parameters
    ----------
    C : float
        Weight of errors against a wide margin.
    kernel : {"rbf", "linear"}
    gamma : "scale" or float
        The rbf kernel is ``exp(-gamma * |x - y|^2)``; "scale" is one over the sum of the features' variances.
    balanced : bool
        Whether errors weigh the more, the rarer their class.
    max_iter : int
        Greatest number of fits; there is a warning if labels still change then.

    Attributes
    ----------
    machine_ : sklearn.svm.SVC
        Fitted on instances.
    n_iter_ : int
        Number of fits.
    classes_ : array of shape (2,)

    Notes
    -----
    Departures: the search also ends with labels it has had before, where the original would go round for ever.

    References
    ----------
    S. Andrews, I. Tsochantaridis and T. Hofmann (2002), Support vector machines for multiple-instance
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

"""Area under the ROC curve, the Brier score, and tests of the difference between two methods on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array


@dataclass(frozen=True)
class PairedTest:
    """The difference of two methods on the same data."""

    mean: float
    low: float  # 95% interval of the mean difference
    high: float
    p: float
    n: int


def corrected_t_test(differences: npt.ArrayLike, test_share: float) -> PairedTest:
    """Compare two methods over repeated cross-validation (Nadeau and Bengio's corrected resampled t-test).

    Folds share training bags, so their ``differences`` (n,) are not independent. The variance of the mean difference is
    therefore taken as ``1/n + test_share`` times the sample variance instead of ``1/n``; the share is the number of
    test bags divided by the number of training bags. If all differences are equal, p is 1 for a difference of zero and
    0 otherwise.
    """
    values = np.asarray(differences, float).ravel()
    n = len(values)
    error = float(np.sqrt((1 / n + test_share) * values.var(ddof=1)))
    return t_test(float(values.mean()), error, n)


def t_test(mean: float, error: float, n: int) -> PairedTest:
    """Return the t-test of the mean of n differences with this standard error, and its interval."""
    if error == 0:
        return PairedTest(mean, mean, mean, 1.0 if mean == 0 else 0.0, n)
    from scipy import stats  # deferred: slow to import

    reach = float(stats.t.ppf(0.975, n - 1)) * error
    p = 2 * float(stats.t.sf(abs(mean / error), n - 1))
    return PairedTest(mean, mean - reach, mean + reach, p, n)


def ranking_scores(decisions: Array | None, probabilities: Array | None) -> Array | None:
    """Return what ROC curves rank bags by: of two classes the decision values, of several the probabilities.

    Of several classes, the output of one says little by itself: whether it is high depends on those of the others.

    ``decisions`` (n_bags,) or (n_bags, n_classes): what a classifier's ``decision_function`` returns. ``probabilities``
    (n_bags, n_classes): what its ``predict_proba`` returns, with the same order of classes. Returned, (n_bags,): None
    if there is neither.
    """
    if probabilities is None or (decisions is not None and probabilities.shape[1] == 2):
        return decisions
    return np.asarray(probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities)


def area_under_roc(truth: npt.ArrayLike, scores: npt.ArrayLike, classes: Sequence[Any] | Array) -> float:
    """Return the area under the ROC curve; of more than two classes, the mean over each against the rest.

    ``truth`` (n_bags,): with bags of every class. ``scores`` (n_bags,) or (n_bags, n_classes): see `ranking_scores`.
    """
    from sklearn.metrics import roc_auc_score  # deferred: slow to import

    given, labels = np.asarray(scores), np.asarray(truth)
    if given.ndim == 1:
        return float(roc_auc_score(labels == classes[1], given))
    return float(np.mean([roc_auc_score(labels == name, given[:, k]) for k, name in enumerate(classes)]))


def brier_score(truth: npt.ArrayLike, probabilities: npt.ArrayLike, classes: Sequence[Any] | Array) -> float:
    """Return the Brier score, the mean squared error of the probabilities: 0 if they are certain and right.

    It is defined as in scikit-learn's ``brier_score_loss``. Of two classes, the error of one probability counts: the
    score is at most 1, and a coin's is 0.25. Of several, the errors of all classes are added: it is at most 2.

    Parameters
    ----------
    truth : array of shape (n_bags,)
    probabilities : array of shape (n_bags, n_classes)
    classes : sequence of labels

    Examples
    --------
    >>> round(brier_score(["no", "yes"], [[0.8, 0.2], [0.5, 0.5]], ["no", "yes"]), 3)
    0.145
    >>> round(brier_score(["a", "b", "c"], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], ["a", "b", "c"]), 3)
    0.667
    """
    hit = np.asarray(truth)[:, None] == np.asarray(classes)[None, :]
    errors = np.square(np.asarray(probabilities, float) - hit).sum(axis=1)
    return float(errors.mean()) / (2 if len(classes) == 2 else 1)

"""The scaling of features that MI-ANFIS applies by itself, for methods that do not scale."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted, validate_data

from fuzzymil._utils.arrays import Array
from fuzzymil.comparators._base import above_zero
from fuzzymil.estimators import PerInstance
from fuzzymil.estimators.parameters import check_parameters
from fuzzymil.learn.train.scaling import Measures, Scaling


class ClippedScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardize features, and clip values at some standard deviations from the mean and at the range seen.

    Missing values stay missing.

    Parameters
    ----------
    clip : float
        Number of standard deviations.

    Examples
    --------
    >>> rows = [[0.0], [0.0], [2.0], [2.0]]
    >>> ClippedScaler().fit(rows).transform([[1.0], [2.0], [9.0]]).tolist()
    [[0.0], [1.0], [1.0]]
    """

    def __init__(self, clip: float = 3.0) -> None:
        self.clip = clip

    def fit(self, X: Any, y: Any = None) -> Self:
        """Measure the features of rows (n_rows, n_features)."""
        check_parameters(self, {"clip": above_zero})
        rows = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        self.scaling_ = Scaling.fit(Measures.of(rows), standardize=True, clip=self.clip)
        return self

    def transform(self, X: Any) -> Array:
        """Return the scaled rows."""
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, reset=False, ensure_all_finite="allow-nan")
        return self.scaling_.apply(rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def standardized(estimator: Any) -> Pipeline:
    """Return a pipeline that scales features as MI-ANFIS does by default, and then fits the estimator.

    Features are standardized by the training bags. Values are clipped at three standard deviations from the mean, and
    at the smallest and largest value in the training bags.

    Parameters
    ----------
    estimator : estimator of bags

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps ``"scale"`` and ``"method"``.

    Examples
    --------
    >>> from fuzzymil.comparators import MISVM
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=3)
    >>> model = standardized(MISVM()).fit(bags[::2], bags[::2].labels)
    >>> print(f"{model.score(bags[1::2], bags[1::2].labels):.2f}")
    0.89
    """
    return Pipeline([("scale", PerInstance(ClippedScaler())), ("method", estimator)])

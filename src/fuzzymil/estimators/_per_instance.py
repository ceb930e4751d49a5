"""Apply scikit-learn transformers to bags."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators.inputs import compare_features, complete_bags, record_features


class PerInstance(MetaEstimatorMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Apply any scikit-learn transformer to the instances of bags, as a step of a pipeline.

    Parameters
    ----------
    transformer : transformer, default None
        ``StandardScaler()``, ``PCA(25)``, ``SimpleImputer()``, ...; required. If it uses labels, each instance gets
        the label of its bag. A ``ColumnTransformer``, also as the first step of a pipeline, gets a data frame with the
        names of the features, in which categories are text; this needs pandas.

    Attributes
    ----------
    transformer_ : transformer
        Fitted on instances.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> bags = [[[0.0], [2.0]], [[4.0]]]
    >>> PerInstance(StandardScaler()).fit_transform(bags)[1].round(3)
    array([[1.225]])
    """

    def __init__(self, transformer: Any = None) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer on the instances of all bags."""
        if not hasattr(self.transformer, "fit") or not hasattr(self.transformer, "transform"):
            raise ParameterError(
                f"PerInstance needs a transformer, such as PerInstance(StandardScaler()); got {self.transformer!r}."
            )
        bags = complete_bags(self, X, allow_missing=self._takes_missing())
        y = bags.labels if y is None else np.asarray(y)
        labels = None if y is None else np.repeat(y, bags.sizes, axis=0)
        self.transformer_ = clone(self.transformer).fit(self._rows(bags), labels)
        self._names_in = None if _by_name(self.transformer) else bags.with_indicators().feature_names
        record_features(self, bags)
        return self

    def transform(self, X: Any) -> Any:
        """Return the transformed bags; a 2-D array is returned as a 2-D array."""
        check_is_fitted(self)
        bags = complete_bags(self, X, allow_missing=self._takes_missing())
        bags = compare_features(self, bags)
        if isinstance(X, np.ndarray) and X.ndim == 2:
            return self.transformer_.transform(X)
        found = self.transformer_.transform(self._rows(bags))
        return bags.with_rows(found, self._names_out(bags))

    def _rows(self, bags: Bags) -> Any:
        """Return the instances as the transformer takes them."""
        if _by_name(self.transformer):
            return bags.instance_frame()
        return bags.with_indicators().instances if bags.sparse is None else bags.sparse

    def _names_out(self, bags: Bags) -> list[str] | None:
        if bags.feature_names is None or not hasattr(self.transformer_, "get_feature_names_out"):
            return None
        return [str(name) for name in self.get_feature_names_out()]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the transformed features."""
        check_is_fitted(self)
        input_features = self._names_in if input_features is None else input_features
        return np.asarray(self.transformer_.get_feature_names_out(input_features))

    def set_output(self, *, transform: Any = None) -> Self:
        """Choose what the transformer returns, such as ``"pandas"``; this returns bags all the same.

        The features of the bags get the names that the transformer gives them.
        """
        each: Any
        for each in (self.transformer, getattr(self, "transformer_", None)):
            if hasattr(each, "set_output"):
                each.set_output(transform=transform)
        return self

    def _takes_missing(self) -> bool:
        return bool(self.__sklearn_tags__().input_tags.allow_nan)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.transformer is not None:
            inner = get_tags(self.transformer).input_tags
            tags.input_tags.allow_nan = inner.allow_nan or _by_name(self.transformer)  # its parts decide
            tags.input_tags.sparse = inner.sparse
        return tags


def _by_name(transformer: Any) -> bool:
    """Return whether a transformer chooses columns by their names."""
    first = transformer.steps[0][1] if isinstance(transformer, Pipeline) else transformer
    return isinstance(first, ColumnTransformer)

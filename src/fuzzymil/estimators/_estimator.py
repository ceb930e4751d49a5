"""What scikit-learn and users expect of the estimators with fuzzy rules, beyond answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described
from fuzzymil.bags import BagStream, as_bags
from fuzzymil.estimators.inputs import bag_labels
from fuzzymil.estimators.persistence import save_model
from fuzzymil.estimators.rule_model import RuleModel


class RuleEstimator(RuleModel, BaseEstimator):
    """Base of the estimators that predict with fuzzy rules."""

    def save(self, path: Any) -> None:
        """Write the fitted model to a JSON file; read it with `load_model`."""
        save_model(self, path)

    def _truth_and_predictions(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return the labels, ``y`` or those of the bags, and the predictions."""
        if isinstance(X, BagStream) and y is None:  # one pass for both
            parts = [self._truth_and_predictions(part, None) for part in X]
            return np.concatenate([truth for truth, _ in parts]), np.concatenate([found for _, found in parts])
        found = self.predict(X)
        return (np.asarray(y) if isinstance(X, BagStream) else bag_labels(as_bags(X), y, type(self).__name__)), found

    def _suitable(self, rules: Any) -> Any:
        """Return rules over the model's features, or raise if they cannot replace its own.

        Features are matched by name where the model was fitted with names, otherwise by position; outputs are
        matched by position.
        """
        check_is_fitted(self)
        wanted = type(self.rules_)
        if not isinstance(rules, wanted):
            raise ParameterError(
                f"rules must be a {wanted.__name__}, such as model.rules_.edit(...); got {described(rules)}."
            )
        kind, n_outputs = type(self).__name__, len(self.rules_.outputs)
        if len(rules.outputs) != n_outputs:
            raise InputError(f"These rules have {len(rules.outputs)} output(s), but this {kind} has {n_outputs}.")
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            names = tuple(map(str, names))
            return rules if rules.feature_names == names else rules.over(names)
        n_features = self.n_features_in_
        if rules.n_features != n_features:
            raise InputError(
                f"These rules have {rules.n_features} variables, but this {kind} was fitted on {n_features} features."
            )
        return rules

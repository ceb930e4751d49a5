"""What scikit-learn and users expect of the estimators with fuzzy rules, beyond answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described
from fuzzymil.bags import BagStream, as_bags
from fuzzymil.estimators.inputs import bag_labels, class_labels, require_labels
from fuzzymil.estimators.persistence import save_model
from fuzzymil.estimators.rule_model import RuleModel
from fuzzymil.explain import Importance, importance
from fuzzymil.rules import RuleBase


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
        if isinstance(X, BagStream):
            return np.asarray(y), self.predict(X)
        bags = as_bags(X)
        found = self.predict(bags)
        require_labels(bags, y, "score")
        return bag_labels(bags, y, type(self).__name__), found

    def importance(
        self, X: Any, y: Any = None, *, scoring: Any = None, n_repeats: int = 20, random_state: int = 0
    ) -> Importance:
        """Measure how much each feature and each rule matters for the score on some bags.

        A feature matters as much as the score drops if its values are shuffled over the instances of all bags (over the
        bags, if all instances of a bag have the same value); a rule, as the score drops without it. Measure on bags
        that were held out: on training bags, a feature that was learned by heart looks important. The result says if
        these are training bags.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        y : array of shape (n_bags,), optional
            Default: the labels of the bags.
        scoring : str or scorer, optional
            What to measure, such as ``"roc_auc"`` or ``"neg_log_loss"``; a scorer of scikit-learn, of which greater is
            better. Default: accuracy, or R².
        n_repeats : int
            Number of shuffles, and of samples of the bags for the standard deviations.
        random_state : int

        Returns
        -------
        Importance
            Print it, call ``to_frame()`` or ``to_dict()``, or plot it with `fuzzymil.plots.ImportanceDisplay`.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_planted
        >>> bags = make_planted("some", n_bags=80, n_noise=2, random_state=0)
        >>> model = MIANFISClassifier(random_state=0).fit(bags[::2])
        >>> found = model.importance(bags[1::2], scoring="roc_auc")
        >>> found.features[0].drop > 0.2, found.n_training
        (True, 0)
        """
        check_is_fitted(self)
        if isinstance(X, BagStream):
            raise InputError("importance takes bags in memory: pass one part of the stream, or some joined.")
        given, kind = as_bags(X), type(self).__name__
        require_labels(given, y, "importance")
        reading = self._class_reading()
        labels = bag_labels(given, y, kind) if reading is None else class_labels(given, y, kind)
        if reading is None:
            labels = check_array(labels, ensure_2d=False, dtype=np.float64, input_name="y")
            n_labels, n_outputs = labels[0].size, self._n_outputs()
            if n_labels != n_outputs:
                raise InputError(
                    f"The model predicts {n_outputs} numbers per bag, but importance got {n_labels}: pass y of shape "
                    f"({given.n_bags}, {n_outputs})."
                )
        bags = self._bags_to_read(given)
        scorer = check_scoring(self, scoring or ("r2" if reading is None else "accuracy"))

        def score(output: Array, rows: Array) -> float:
            if scoring is None and reading is not None:  # many features take thousands of scores: no checks
                return float(np.mean(reading.labels(output[rows]) == labels[rows]))
            return float(scorer(_Answered(self, output), rows, labels[rows]))

        known = getattr(self, "coverage_", None)
        return importance(
            self.members_,
            bags,
            score,
            score_name=_name_of(scoring, classifies=reading is not None),
            groups=None if reading is None else np.unique(labels, return_inverse=True)[1],
            n_repeats=n_repeats,
            n_training=None if known is None else known.n_recognized(bags),
            rng=np.random.default_rng(random_state),
        )

    def _html_repr(self) -> str:
        """Return what a notebook shows: the rules of a fitted model, otherwise scikit-learn's diagram."""
        if not self.__sklearn_is_fitted__():
            return str(super()._html_repr())
        return str(self._rules_html(repr(self)))

    def _suitable(self, rules: Any) -> Any:
        """Return rules over the model's features, or raise if they cannot replace its own.

        Features are matched by name where the model was fitted with names, otherwise by position; outputs are
        matched by position.
        """
        check_is_fitted(self)
        if not isinstance(rules, RuleBase):
            raise ParameterError(f"rules must be a RuleBase, such as model.rules_.edit(...); got {described(rules)}.")
        if rules.concludes_sets != self.rules_.concludes_sets:
            kinds = "conclude numbers", "conclude sets"
            raise ParameterError(
                f"These rules {kinds[rules.concludes_sets]}, but those of the model {kinds[not rules.concludes_sets]}."
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


class _Answered(BaseEstimator):
    """A model whose output on some bags is known, as scorers ask it: about the bags at some positions."""

    def __init__(self, model: RuleEstimator, output: Array) -> None:
        self.model = model
        self.output = output
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, rows: Array) -> Array:
        return self.model._labels_of(self.output[rows])

    def decision_function(self, rows: Array) -> Array:
        return self.model._decision(self.output[rows])

    def predict_proba(self, rows: Array) -> Array:
        return self.model._probability(self.output[rows])

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()


def _name_of(scoring: Any, *, classifies: bool) -> str:
    if scoring is None:
        return "accuracy" if classifies else "R²"
    return scoring.replace("_", " ") if isinstance(scoring, str) else "score"

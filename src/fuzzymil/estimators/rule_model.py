"""What all estimators share whose predictions come from fuzzy rules, learned or written: predict, explain, save."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators.inputs import bag_labels
from fuzzymil.estimators.persistence import save_model
from fuzzymil.explain import Coverage, Explanation, Reading, explain, explain_many

__all__ = ["ExplainableModel", "Predictions", "RuleModel"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Predictions:
    """Predictions, scores and coverage of some bags, from one inference.

    Attributes
    ----------
    output : array of shape (n_bags, n_outputs)
        Output of the rules.
    labels : array of shape (n_bags,), or (n_bags, n_outputs) for a regressor with several outputs
        What `predict` returns.
    decisions : array of shape (n_bags,) or (n_bags, n_classes), or None
        What `decision_function` returns; None for a regressor.
    probabilities : array of shape (n_bags, n_classes), or None
        What `predict_proba` returns; None for a regressor.
    coverage : array of shape (n_bags,), or None
        How usual each bag is: the share of the training bags that are at least as unusual; see
        `fuzzymil.explain.coverage`. None for rules that were not learned.
    """

    output: Array
    labels: Array
    decisions: Array | None
    probabilities: Array | None
    coverage: Array | None


class RuleModel(ABC):
    """Base of the estimators that predict with fuzzy rules."""

    classes_: Array
    n_features_in_: int

    @abstractmethod
    def _infer(self, X: Any, *, by_instance: bool = False) -> tuple[Array, Array | None]:
        """Return output (b, k) and coverage (b,) of bags, if known; or the output of instances as bags of their own."""

    @abstractmethod
    def _classifies(self) -> bool:
        """Return whether this is a classifier."""

    @abstractmethod
    def _reading(self) -> Reading:
        """Return what the output means."""

    def _decision(self, output: Array) -> Array:
        """Return a classifier's decision values, (b,) or (b, n_classes)."""
        raise NotImplementedError

    def _probability(self, output: Array) -> Array:
        """Return a classifier's probabilities, (b, n_classes)."""
        raise NotImplementedError

    def _labels_of(self, output: Array) -> Array:
        """Return predictions: classes, or the output itself."""
        if not self._classifies():
            return output[:, 0] if output.shape[1] == 1 else output
        decision = self._decision(output)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def predictions(self, X: Any) -> Predictions:
        """Return labels, decision values, probabilities and coverage of bags, all from one inference.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = MIANFISClassifier(n_rules=2, max_epochs=5, random_state=0).fit(bags, [0, 1, 0, 1])
        >>> found = model.predictions(bags)
        >>> found.labels.tolist(), found.probabilities.shape, found.coverage.shape
        ([0, 1, 0, 1], (4, 2), (4,))
        """
        output, coverage = self._infer(X)
        reading = self._reading()
        return Predictions(
            output=output,
            labels=self._labels_of(output),
            decisions=self._decision(output) if self._classifies() else None,
            probabilities=None if reading.probability is None else self._probability(output),
            coverage=coverage,
        )

    def predict(self, X: Any) -> Array:
        """Return the predicted class of each bag, one of ``classes_``; for a regressor, the predicted number.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts

        Returns
        -------
        array of shape (n_bags,), or (n_bags, n_outputs) for a regressor with several outputs
        """
        return self._labels_of(self._infer(X)[0])

    def _truth_and_predictions(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return the labels, ``y`` or those of the bags, and the predictions."""
        if isinstance(X, BagStream) and y is None:  # one pass for both
            parts = [self._truth_and_predictions(part, None) for part in X]
            return np.concatenate([truth for truth, _ in parts]), np.concatenate([found for _, found in parts])
        found = self.predict(X)
        return (np.asarray(y) if isinstance(X, BagStream) else bag_labels(as_bags(X), y, type(self).__name__)), found

    def save(self, path: Any) -> None:
        """Write the fitted model to a JSON file; read it with `load_model`."""
        save_model(self, path)


class ExplainableModel(RuleModel):
    """Base of the estimators whose output is the mean of that of rule bases, ``members_``."""

    members_: list[Any]  # RuleBase, or MamdaniRules
    rules_: Any
    coverage_: Coverage | None = None

    @abstractmethod
    def _bags_to_read(self, X: Any) -> Bags:
        """Return ``X`` as bags that the members can infer, if the estimator is fitted and knows their features."""

    def explain(self, X: Any, bag: Any = None, *, output: str | None = None) -> Explanation:
        """Explain the prediction for a bag.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            A single bag, as in ``[instances]``, or several, of which ``bag`` selects one.
        bag : id or position, optional
            The bag to explain. An integer is an id if the ids are numbers, otherwise a position.
        output : str, optional
            The output to explain, one of ``rules_.outputs``. Default: that of the predicted class; for a regressor,
            the first.

        Returns
        -------
        Explanation
            The rules sorted by contribution, each with its witness instance and that instance's memberships, and the
            prediction without the witness. Print it, call ``to_dict()``, or plot it with
            `fuzzymil.plots.ExplanationDisplay`.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> bags = make_two_concepts(random_state=3)
        >>> model = MIANFISClassifier(4, alpha=5, random_state=0).fit(bags)
        >>> found = model.explain(bags, bag="concept1-7")
        >>> found.prediction
        1
        >>> bool(bags.instance_labels[bags.bag_index == 6][found.rules[0].witness])  # the instance of the concept
        True
        >>> found.without(found.rules[0].witness).firing < found.firing
        True
        """
        bags = self._bags_to_read(X)
        return explain(self.members_, bags, bag, output=output, reading=self._reading(), coverage=self.coverage_)

    def explain_many(self, X: Any, *, output: str | None = None) -> list[Explanation]:
        """Explain the prediction for every bag.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        output : str, optional
            See `explain`.

        Examples
        --------
        >>> from fuzzymil import ANFISRegressor
        >>> rows = [[0.0], [0.1], [1.0], [1.1]]
        >>> model = ANFISRegressor(2, random_state=0).fit(rows, [0.0, 0.1, 1.0, 1.1])
        >>> [explanation.bag for explanation in model.explain_many(rows)]
        [0, 1, 2, 3]
        """
        bags = self._bags_to_read(X)
        return explain_many(self.members_, bags, output=output, reading=self._reading(), coverage=self.coverage_)

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

"""What all models share whose predictions come from fuzzy rules, learned or written: predict and explain.

Nothing here needs scikit-learn, so that a saved model can answer without loading it.
"""

from __future__ import annotations

import copy
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array, data_frame, depth
from fuzzymil._utils.colors import class_mark
from fuzzymil._utils.errors import InputError, warn_user
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators.conformal import Conformity, PredictionSets, prediction_sets
from fuzzymil.estimators.inputs import bag_labels, compare_features, complete_bags, require_labels
from fuzzymil.explain import NUMBERS, Coverage, Effect, Explanation, Reading, Witness, effect, explain, explain_many
from fuzzymil.explain.coverage import used_features
from fuzzymil.inference.engines.numpy import sigmoid
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import asked_of_instances, infer_output
from fuzzymil.rules.cards import rules_html


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
    ids : array of shape (n_bags,)
        Ids of the bags.
    classes : array of shape (n_classes,), or None
        The classes of ``probabilities``; None for a regressor.
    pos_label : label or None
        Of two classes, the positive one.
    witnesses : tuple of Witness or None, or None
        For each bag the instance on which the most influential rule rests, if there is one; only if asked for.
    """

    output: Array
    labels: Array
    decisions: Array | None
    probabilities: Array | None
    coverage: Array | None
    ids: Array
    classes: Array | None = None
    pos_label: Any = None
    witnesses: tuple[Witness | None, ...] | None = None

    def decided(self, threshold: float) -> Self:
        """Return the same with the positive one of two classes where its probability is at least this.

        If it costs c times as much to miss it as to see it where it is not, the cheapest threshold is 1 / (1 + c).

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> found = RuleClassifier(random_state=0).fit(bags, [0, 1, 0, 1]).predictions(bags)
        >>> found.decided(0.0).labels.tolist()
        [1, 1, 1, 1]
        """
        if self.classes is None or self.probabilities is None or len(self.classes) != 2:
            raise InputError("A threshold is for two classes.")
        place = int(np.argmax(self.classes == self.pos_label))
        chosen = np.where(self.probabilities[:, place] >= threshold, place, 1 - place)
        return dataclasses.replace(self, labels=self.classes[chosen])

    def to_frame(self) -> Any:
        """Return a pandas data frame with one row per bag: id, prediction, probabilities, coverage, and the witness.

        The witness is the position of the instance in its bag.

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> RuleClassifier(random_state=0).fit(bags, [0, 1, 0, 1]).predictions(bags).to_frame().columns.tolist()
        ['bag', 'prediction', 'probability_0', 'probability_1', 'coverage']
        """
        return data_frame("pandas", self.to_dict())

    def to_dict(self) -> dict[str, Array]:
        """Return the columns of `to_frame`."""
        table: dict[str, Array] = {"bag": self.ids}
        if self.labels.ndim > 1:
            table |= {f"prediction_{k + 1}": column for k, column in enumerate(self.labels.T)}
        else:
            table["prediction"] = self.labels
        if self.probabilities is not None and self.classes is not None:
            of_classes = zip(self.classes.tolist(), self.probabilities.T, strict=True)
            table |= {f"probability_{name}": column for name, column in of_classes}
        if self.coverage is not None:
            table["coverage"] = self.coverage
        if self.witnesses is not None:
            table["witness"] = np.array([None if each is None else each.instance for each in self.witnesses], object)
        return table


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class ClassReading:
    """How a classifier reads the output of its rules: one output for two classes, or one output per class.

    Shapes: ``classes`` (n_classes,). ``likely``: maps outputs (n_bags, n_outputs) to the probability of each output's
    class, of the same shape. ``threshold``: subtracted from a single output to get the decision value. ``positive``:
    which of two classes a single output is about. ``scale``: see `fuzzymil.explain.Reading`.
    """

    classes: Array
    likely: Callable[[Array], Array]
    threshold: float = 0.0
    positive: int = 1
    scale: str = "decision value"

    @classmethod
    def of_network(cls, classes: Array, loss: str, calibration: Array | None = None, positive: int = 1) -> ClassReading:
        """Return how rules that were trained with a loss are read; `fuzzymil.learn.train.losses` has the table."""
        likely = LOSSES[loss].probability
        if likely is None:
            assert calibration is not None

            def likely(output: Array) -> Array:
                found = sigmoid(calibration[:, 0] * output + calibration[:, 1])
                return found / found.sum(axis=1, keepdims=True) if found.shape[1] > 1 else found

        threshold = LOSSES[loss].threshold if len(classes) == 2 else 0.0
        scale = "logit" if loss == "cross_entropy" else "decision value"
        return cls(classes=classes, likely=likely, threshold=threshold, positive=positive, scale=scale)

    def decision(self, output: Array) -> Array:
        """Return decision values: (n_bags,) for two classes, otherwise (n_bags, n_classes)."""
        if output.shape[1] == 1:
            decision = output[:, 0] - self.threshold
            return decision if self.positive else -decision
        return output[:, 1] - output[:, 0] if output.shape[1] == 2 else output

    def labels(self, output: Array) -> Array:
        """Return the class of each bag."""
        decision = self.decision(output)
        chosen = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        return np.asarray(self.classes[chosen])

    def probability(self, output: Array) -> Array:
        """Return the probabilities (n_bags, n_classes)."""
        likely = self.likely(output)
        if likely.shape[1] > 1:
            return likely
        return np.column_stack([1 - likely, likely] if self.positive else [likely, 1 - likely])

    def for_explanations(self, n_outputs: int) -> Reading:
        """Return the reading of an explanation, which is about the rules' own class."""
        if n_outputs > 1:
            return Reading(self.labels, self.probability, self.classes, 0.0, self.scale)
        order = [0, 1] if self.positive else [1, 0]
        return Reading(
            self.labels,
            lambda output: self.probability(output)[:, order],
            self.classes[order],
            self.threshold,
            self.scale,
        )


class RuleModel(ABC):
    """Base of the models whose output is the mean of that of rule bases, ``members_``."""

    classes_: Array
    n_features_in_: int
    _members: list[Any]  # rule bases, or functions that make them
    _coverage: Any = ()  # nothing, or a list with a Coverage or a function that makes it
    _conformity: tuple[Conformity, list[Any]] | None = None  # with the members that it is about

    @abstractmethod
    def _infer(self, X: Any, *, by_instance: bool = False, covered: bool = False) -> tuple[Array, Array | None]:
        """Return the output (b, k) of bags, or of instances as bags of their own.

        With ``covered``, also the coverage (b,) of the bags, if it is known.
        """

    @abstractmethod
    def _class_reading(self) -> ClassReading | None:
        """Return how a classifier reads the output of its rules; None for a regressor."""

    def _reading(self) -> Reading:
        """Return what the output means in an explanation."""
        reading = self._class_reading()
        return NUMBERS if reading is None else reading.for_explanations(self._n_outputs())

    def _decision(self, output: Array) -> Array:
        """Return a classifier's decision values, (b,) or (b, n_classes)."""
        reading = self._class_reading()
        assert reading is not None
        return reading.decision(output)

    def _probability(self, output: Array) -> Array:
        """Return a classifier's probabilities, (b, n_classes)."""
        reading = self._class_reading()
        assert reading is not None
        return reading.probability(output)

    def _labels_of(self, output: Array) -> Array:
        """Return predictions: classes, or the output itself."""
        reading = self._class_reading()
        if reading is not None:
            return reading.labels(output)
        return output[:, 0] if output.shape[1] == 1 else output

    def predictions(self, X: Any, *, witnesses: bool = False) -> Predictions:
        """Return labels, decision values, probabilities and coverage of bags, all from one inference.

        ``witnesses``: whether to explain each bag and add its witness, which takes longer.

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = RuleClassifier(random_state=0).fit(bags, [0, 1, 0, 1])
        >>> found = model.predictions(bags)
        >>> found.labels.tolist(), found.probabilities.shape, found.coverage.shape
        ([0, 1, 0, 1], (4, 2), (4,))
        """
        given: Any = X if isinstance(X, BagStream) else as_bags(X)
        output, coverage = self._infer(X, covered=True)
        reading = self._class_reading()
        return Predictions(
            output=output,
            labels=self._labels_of(output),
            decisions=None if reading is None else reading.decision(output),
            probabilities=None if reading is None else reading.probability(output),
            coverage=coverage,
            ids=np.concatenate([part.ids for part in given]) if isinstance(given, BagStream) else given.ids,
            classes=None if reading is None else reading.classes,
            pos_label=getattr(self, "pos_label_", None),
            witnesses=tuple(each.witness for each in self.explain_many(X)) if witnesses else None,
        )

    def predict(self, X: Any) -> Array:
        """Return the predicted class (n_bags,) of each bag; for a regressor, its number, or (n_bags, n_outputs).

        Of a stream of a Dask data frame (`BagStream.from_dask`), this is a Dask array, computed when it is needed.
        """
        if isinstance(X, BagStream):
            found: Array = X.each(self.predict)
            return found
        return self._labels_of(self._infer(X)[0])

    def calibrate(self, X: Any, y: Any = None) -> Self:
        """Return a copy that predicts sets of answers, calibrated by bags that the model was not fitted on.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            Bags that come about as those to predict will, and none of the fit.
        y : array of shape (n_bags,), optional
            Default: the labels of the bags.

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> bags = make_two_concepts(random_state=3)
        >>> model = RuleClassifier(random_state=0).fit(bags[::3]).calibrate(bags[1::3])
        >>> found = model.predict_set(bags[2::3], confidence=0.9)
        >>> found.included.shape, len(found.sets)
        ((50, 2), 50)
        """
        bags = as_bags(X)
        known = None if self.coverage_ is None else self.coverage_.n_recognized(bags)
        if known:
            raise InputError(
                f"{known} of the {bags.n_bags} bags {'was' if known == 1 else 'were'} used in the fit, where the model "
                "is more right than elsewhere: calibrate with others, as in fit(bags[::2]).calibrate(bags[1::2])."
            )
        require_labels(bags, y, "calibrate")
        reading, truth = self._class_reading(), bag_labels(bags, y, "calibrate")
        answers = self._answers(self._infer(bags)[0])
        model = copy.copy(self)
        classes = None if reading is None else reading.classes
        model._conformity = Conformity.of(answers, truth, classes), self.members_
        return model

    def _answers(self, output: Array) -> Array:
        """Return probabilities (n_bags, n_classes), or numbers (n_bags,)."""
        reading = self._class_reading()
        if reading is None and output.shape[1] > 1:
            raise InputError("Sets of answers are for a single number per bag, but this model predicts several.")
        return output[:, 0] if reading is None else reading.probability(output)

    def predict_set(self, X: Any, *, confidence: float = 0.9, by_class: bool = False) -> PredictionSets:
        """Return for each bag the answers that cannot be excluded: classes, or an interval of numbers.

        The true answer is in the set of at least the share ``confidence`` of new bags (``found.guarantee`` says on
        which condition). The model is calibrated first: see `calibrate`. Where a set has several classes or none, the
        model abstains (``found.labels`` is None).

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
        confidence : float, default 0.9
        by_class : bool, default False
            Whether the guarantee is to hold for the bags of every class. A class with too few calibration bags is then
            in every set, with a warning.

        Examples
        --------
        >>> from fuzzymil import RuleRegressor
        >>> rows = [[[float(n % 7)]] for n in range(60)]
        >>> model = RuleRegressor(random_state=0).fit(rows[:30], [n % 7 for n in range(30)])
        >>> model = model.calibrate([[[n + 0.5]] for n in range(6)] * 5, [n + 0.5 for n in range(6)] * 5)
        >>> found = model.predict_set(rows[:2], confidence=0.8)
        >>> bool(found.low[0] < 0 < found.high[0])
        True
        """
        known = self._conformity
        if known is None or [*map(id, known[1])] != [*map(id, self.members_)]:
            why = "is not calibrated" if known is None else "has other rules than when it was calibrated"
            raise InputError(
                f"The model {why}: call model.calibrate(bags) with labeled bags that the fit has not seen, and use the "
                "model that it returns."
            )
        bags, reading = as_bags(X), self._class_reading()
        answers = self._answers(self._infer(bags)[0])
        classes = None if reading is None else reading.classes
        return prediction_sets(known[0], answers, bags.ids, classes, confidence, by_class=by_class)

    def instance_scores(self, X: Any) -> Array:
        """Return the decision value (of a regressor, the prediction) of each instance, treated as a bag of its own.

        The result has shape (n_instances,) or (n_instances, n_outputs), in the order of ``as_bags(X).instances``. A
        rule that counts, such as ``AT LEAST 3 A is high``, asks an instance whether it is one of those.

        Notes
        -----
        The value of a larger bag is not the maximum of its instances' values and need not even lie between them:
        instances are aggregated rule by rule (Layer 3) before rules are weighed against each other (Layer 4), so a bag
        may fire a combination of rules that none of its instances fires. With two rules, ``order=0``, normalized
        strengths and ``aggregation="max"``, it does lie between them; with ``order=0`` and ``alpha=0``, it is the mean
        of its instances' values, each weighted by the sum of its truths over the rules (of additive rules, not
        weighted).

        Examples
        --------
        Positive instances stand out although only bags were labeled; a greater ``alpha`` helps:

        >>> from sklearn.metrics import roc_auc_score
        >>> from fuzzymil import MIANFISClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> train, test = make_two_concepts(random_state=0), make_two_concepts(random_state=1000)
        >>> model = MIANFISClassifier(alpha=5, random_state=0).fit(train)
        >>> roc_auc_score(test.instance_labels > 0, model.instance_scores(test)) > 0.99
        True
        """
        output, reading = self._infer(X, by_instance=True)[0], self._class_reading()
        return self._labels_of(output) if reading is None else reading.decision(output)

    @property
    def members_(self) -> list[Any]:
        """All members, whose outputs are averaged."""
        made = [each() if callable(each) else each for each in self._members]
        # Made on first use: naming the sets of many features takes longer than training them. Kept in the same list, as
        # predicting must not set attributes.
        self._members[:] = made
        return made

    @property
    def coverage_(self) -> Coverage | None:
        """What is remembered of the training bags, which tells how usual a bag is."""
        if not self._coverage:
            return None
        if callable(self._coverage[0]):  # made on first use, too, and kept in the same list
            self._coverage[0] = self._coverage[0]()
        found: Coverage = self._coverage[0]
        return found

    @coverage_.setter
    def coverage_(self, coverage: Coverage | None) -> None:
        self._coverage = [] if coverage is None else [coverage]

    @property
    def used_features_(self) -> tuple[str, ...]:
        """Names of the features that rules read in conditions or conclusions; predictions depend on no others."""
        read: dict[str, None] = {}
        for rules in self.members_:
            read |= dict.fromkeys(rules.feature_names[d] for d in used_features([rules]))
        return tuple(read)

    def _n_outputs(self) -> int:
        return len(self.members_[0].outputs)

    @abstractmethod
    def _bags_to_read(self, X: Any) -> Bags:
        """Return ``X`` as bags that the members can infer, if the estimator is fitted and knows their features."""

    def explain(
        self, X: Any, bag: Any = None, *, position: int | None = None, output: str | None = None
    ) -> Explanation:
        """Explain the prediction for a bag.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            A single bag, as in ``[instances]``, or several, of which ``bag`` or ``position`` selects one.
        bag : id, optional
            The bag to explain, by its id. The bags of a list are numbered from 0.
        position : int, optional
            The bag to explain, by its position.
        output : str, optional
            One of ``rules_.output_names``. Default: that of the predicted class; for a regressor, the first.

        Returns
        -------
        Explanation
            The rules sorted by contribution, each with its witness instance, and the prediction without the witness.
            Print it, call ``to_dict()``, or plot it with `fuzzymil.plots.ExplanationDisplay`.

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
        reading = self._reading()
        return explain(
            self.members_, bags, bag, position=position, output=output, reading=reading, coverage=self.coverage_
        )

    def explain_many(self, X: Any, *, output: str | None = None) -> list[Explanation]:
        """Explain the prediction for every bag, as `explain` does.

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

    def effect(
        self, X: Any, feature: str | int, *, pos_label: Any = None, n_points: int = 41, random_state: int = 0
    ) -> Effect:
        """Return how the prediction changes as a feature moves over its range.

        A bag has many instances, so there are two curves: what is predicted on average if *all instances* of a bag have
        the value, and if *one instance* has it, drawn at random. All other values stay as they are. Plot it with
        `fuzzymil.plots.EffectDisplay`.

        Parameters
        ----------
        X : Bags, or anything `as_bags` accepts
            The predictions are averaged over these bags; of very many, over 300 drawn at random.
        feature : str or int
            Name or column.
        pos_label : label, optional
            The class whose probability is shown. Default: of two classes, the positive one; of several, all.
        n_points : int
            Number of values to try. Of categories, all are tried.
        random_state : int

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> bags = make_two_concepts(random_state=3)
        >>> found = RuleClassifier(random_state=0).fit(bags).effect(bags, "x1", n_points=5)
        >>> found.curves[0].one_instance.shape
        (5,)
        """
        return effect(
            self.members_,
            self._bags_to_read(X),
            feature,
            reading=self._reading(),
            pos_label=pos_label,
            n_points=n_points,
            rng=np.random.default_rng(random_state),
        )

    def _rules_html(self, title: str) -> str:
        """Return what a notebook shows of a fitted model: its classes, and its rules as cards."""
        rules, reading = self.members_[0], self._reading()
        facts: list[Any] = [f"{rules.n_rules} rule{'' if rules.n_rules == 1 else 's'}, {rules.n_features} features"]
        if reading.classes is not None:
            facts.append("; classes: ")
            names = np.asarray(reading.classes).tolist()
            for place, name in enumerate(names):
                dot = html.element("span", kind="dot")
                facts.append(html.element("span", dot, f"{name} ", kind=class_mark(place, len(names))))
        parts = [html.element("p", title, kind="rule"), html.line(*facts)]
        if len(self.members_) > 1:
            parts.append(html.line(f"The mean of {len(self.members_)} members; these are the rules of the first."))
        limited = reading.classes is not None and not rules.concludes_sets and rules.normalize
        cards = rules_html(rules, limit=reading.threshold) if limited else rules_html(rules)
        return html.fragment(*parts, cards)


class Committee(RuleModel):
    """Base of the models whose members were learned from bags, which are averaged."""

    missing: str

    @property
    def rules_(self) -> RuleBase:
        """The rules of the first member."""
        found: RuleBase = self.members_[0]
        return found

    def _infer(self, X: Any, *, by_instance: bool = False, covered: bool = False) -> tuple[Array, Array | None]:
        if isinstance(X, BagStream):
            outputs, coverage = zip(
                *(self._infer(part, by_instance=by_instance, covered=covered) for part in X), strict=True
            )
            return np.concatenate(outputs), None if coverage[0] is None else np.concatenate(coverage)
        known = self.coverage_ if covered else None
        found, usual = [], []
        for bags in self._bags_to_read(X).dense_parts():
            found.append(self._output(bags, by_instance=by_instance))
            if known is not None:
                usual.append(known.measure(bags).coverage)
        return np.concatenate(found), None if known is None else np.concatenate(usual)

    def _output(self, bags: Bags, *, by_instance: bool = False) -> Array:
        """Return the members' mean output (b, k)."""
        plain = Bags(bags.instances, np.arange(bags.n_instances + 1) if by_instance else bags.offsets)
        members = map(asked_of_instances, self.members_) if by_instance else self.members_
        return np.asarray(np.mean([infer_output(rules, plain) for rules in members], axis=0))

    def _bags_to_read(self, X: Any) -> Bags:
        bags = compare_features(self, complete_bags(self, X, allow_missing=self.missing != "error"))
        if bags.n_bags > 1 and depth(X) == 2 and self.coverage_ is not None and self.coverage_.quantiles[0, -1] > 1:
            warn_user(
                f"Each of the {bags.n_bags} rows of X counts as a bag, but the training bags had up to "
                f"{self.coverage_.quantiles[0, -1]:g} instances. If these rows are one bag, pass [X]."
            )
        # Names are compared; rules of unnamed features must not look for "x1".
        columns = bags.columns if hasattr(self, "columns_") else None
        instances = bags.instances if bags.sparse is None else bags.sparse
        return Bags(instances, bags.offsets, ids=bags.ids, columns=columns, source=bags.source)

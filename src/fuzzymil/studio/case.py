"""Rules and bags together: one inference, and what its output means."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, Columns
from fuzzymil.bags.columns import Column
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.explain import NUMBERS, Reading
from fuzzymil.explain.coverage import used_features
from fuzzymil.inference.activations import Activations
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import matched
from fuzzymil.rules.editing import border_of
from fuzzymil.studio.document import Document


@dataclasses.dataclass(frozen=True, eq=False)
class Committee:
    """What the members of a committee say together: the mean of their outputs, and how it is read."""

    output: Array
    decisions: Array
    probabilities: Array | None


@dataclasses.dataclass(frozen=True, eq=False)
class Case:
    """The active rules of a document on bags; everything that views show is read from one inference.

    ``model``: how the model reads its output, if one was opened. ``others``: the other members of a committee.
    ``label``: the name of the column of the labels, if it is known.
    """

    document: Document
    bags: Bags | None
    model: ClassReading | None = None
    others: tuple[Document, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        n_classes = 0 if self.model is None else len(self.model.classes)
        if n_classes != (2 if len(self.outputs) == 1 else len(self.outputs)):  # other rules than those of the model
            object.__setattr__(self, "model", None)

    @property
    def rules(self) -> RuleBase:
        """The rules, with weight 0 where they are switched off."""
        return self.document.active

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.rules.output_names

    @property
    def given(self) -> Bags:
        """The bags as they were opened; without any, `InputError`."""
        if self.bags is None:
            raise InputError("There are no bags yet: open a data file.")
        return self.bags

    @functools.cached_property
    def data(self) -> Bags:
        """The bags, with missing values in place of features that the rules declare and never use."""
        return _complete(self.given, self.rules)

    @functools.cached_property
    def seen(self) -> Bags:
        """The bags with the features of the rules alone, coded as the rules code them."""
        return matched(self.rules, self.data)

    def values(self, name: str) -> Array | None:
        """Return the instances' values (n,) of an input; None if the bags have no such feature."""
        bags, inputs = self.bags, self.rules.feature_names
        if bags is None or name not in inputs:
            return None
        names = bags.feature_names or inputs[: bags.n_features]
        return bags.instances[:, names.index(name)] if name in names else None

    @functools.cached_property
    def found(self) -> Activations:
        """What the rules infer about all bags."""
        return self.rules.infer(self.data)

    @functools.cached_property
    def classes(self) -> Array | None:
        """The two classes that a single output decides between, or one per output; None if outputs are numbers."""
        return _classes_of(self.rules, self.bags, self.model)

    @functools.cached_property
    def names(self) -> list[str] | None:
        """The classes as text."""
        return None if self.classes is None else list(map(class_text, self.classes))

    @property
    def threshold(self) -> float:
        """An output above it means the positive class."""
        if self.document.threshold is not None:
            return self.document.threshold
        return border_of(self.rules) if self.model is None else self.model.threshold

    @property
    def positive(self) -> int:
        """Of two classes, the place of the one that a single output is about."""
        assert self.names is not None
        if self.document.positive in self.names:
            return self.names.index(self.document.positive)
        if self.model is not None:
            return self.model.positive
        return self.names.index(self.outputs[0]) if self.outputs[0] in self.names else 1

    @property
    def positive_name(self) -> str | None:
        """The class that a single output is about; None of numbers, and of several outputs."""
        return None if self.names is None or len(self.outputs) > 1 else self.names[self.positive]

    @functools.cached_property
    def reading(self) -> ClassReading | None:
        """How classes are read from the output; None if the output is a number."""
        if self.classes is None:
            return None
        single = len(self.outputs) == 1
        if self.model is not None:
            return dataclasses.replace(self.model, threshold=self.threshold, positive=self.positive)
        additive = not self.rules.normalize
        made = ClassReading.of_network(self.classes, "cross_entropy" if additive else "squared_error")
        return dataclasses.replace(
            made, threshold=self.threshold if single else 0.0, positive=self.positive if single else 1
        )

    @property
    def explained(self) -> Reading:
        """The same for explanations."""
        return NUMBERS if self.reading is None else self.reading.for_explanations(len(self.outputs))

    @functools.cached_property
    def decisions(self) -> Array:
        """The class of each bag as text; without classes, the number."""
        if self.reading is None:
            return self.predicted(self.found.output)
        return _texts(self.reading.labels(self.found.output))

    @property
    def scores(self) -> Array:
        """What bags are ranked by: the only output, of two classes the last, of more that of the one decided on."""
        output = np.asarray(self.found.output)
        if self.reading is None:
            return self.predicted(output)
        return output.max(axis=1) if output.shape[1] > 2 else output[:, -1]

    @functools.cached_property
    def labels(self) -> Array | None:
        """The labels of the bags: of classes as text, else as numbers."""
        labels = None if self.bags is None else self.bags.labels
        if labels is None:
            return None
        return np.array(labels, object) if self.classes is None else _texts(labels)

    @property
    def numbers(self) -> Array:
        """The labels as numbers, as the output is; of classes, `InputError`."""
        labels = np.asarray(self.given.labels)
        if labels.dtype.kind not in "iufb":
            raise InputError(
                f"The bags have {len(np.unique(labels))} classes, but the rules have one output: write one output per "
                "class, named after it, or open data with two classes."
            )
        return labels.astype(float)

    @property
    def compared(self) -> int:
        """The position of the output that labels are compared with, if they are numbers: its column is named so."""
        return self.outputs.index(self.label) if self.label in self.outputs else 0

    def predicted(self, output: Array) -> Array:
        """Return the output (b,) of outputs (b, k) that labels are compared with, if they are numbers."""
        return np.asarray(output)[:, self.compared]

    def ranking(self, output: Array) -> tuple[str, Array] | None:
        """Return which of two classes outputs (b, k) rank the bags by, and the scores (b,); None without two."""
        if self.names is None or len(self.names) != 2:
            return None
        if len(self.outputs) == 1:
            return self.names[self.positive], output[:, 0]
        return self.names[1], output[:, 1] - output[:, 0]

    @functools.cached_property
    def _from_others(self) -> Array:
        """The outputs (m, b, k) of the other members."""
        return np.array([each.active.infer(_complete(self.given, each.rules)).output for each in self.others])

    @functools.cached_property
    def outputs_of_members(self) -> Array:
        """The outputs (m, b, k) of all members of a committee, this one first."""
        return np.concatenate([self.found.output[None], self._from_others])

    @functools.cached_property
    def committee(self) -> Committee | None:
        """What all members say together; None if there is only one, or if an edit left them with different outputs."""
        if not self.others or any(Case(each, None).outputs != self.outputs for each in self.others):
            return None
        output = self.outputs_of_members.mean(axis=0)
        if self.reading is None:
            return Committee(output, self.predicted(output), None)
        return Committee(output, _texts(self.reading.labels(output)), self.reading.probability(output))

    def with_document(self, document: Document) -> Case:
        """Return the case of another document on the same bags."""
        made = Case(document, self.bags, self.model, self.others, self.label)
        if "_from_others" in vars(self):
            vars(made)["_from_others"] = self._from_others  # a drag moves one member only
        return made

    def of_bags(self, bags: Bags) -> Case:
        """Return the same rules on other bags, read in the same way."""
        made = Case(self.document, bags, self.model, self.others, self.label)
        vars(made)["classes"], vars(made)["reading"] = self.classes, self.reading
        return made


def _complete(bags: Bags, base: RuleBase) -> Bags:
    """Return bags with all variables of the rules, unknown where the bags lack one that no rule uses."""
    if bags.feature_names is None:
        return bags
    used = {base.feature_names[d] for d in used_features([base])}
    lacking = [name for name in base.feature_names if name not in used and name not in bags.feature_names]
    if not lacking:
        return bags
    instances = np.hstack([bags.instances, np.full((bags.n_instances, len(lacking)), np.nan)])
    if bags.columns is not None:
        return bags.with_features(instances, Columns([*bags.columns, *map(Column, lacking)]))
    return bags.with_rows(instances, (*bags.feature_names, *lacking))


def _texts(labels: Array) -> Array:
    """Return labels as text; there are many bags, but few classes."""
    every = labels.tolist()
    known = {label: class_text(label) for label in set(every)}
    return np.array([known[label] for label in every], object)


def class_text(label: Any) -> str:
    """Return a class as a person writes it: 1, not 1.0."""
    value = label.item() if isinstance(label, np.generic) else label
    return f"{value:g}" if isinstance(value, float) else str(value)


def _classes_of(rules: RuleBase, bags: Bags | None, model: ClassReading | None) -> Array | None:
    """Return the classes that outputs decide between; None if labels are quantities."""
    if model is not None:
        return model.classes
    labels, outputs = None if bags is None else bags.labels, rules.output_names
    if len(outputs) > 1:
        # Outputs of a controller are quantities of their own; those of a classifier are named after the classes.
        if labels is None:
            return None if rules.concludes_sets else np.array(outputs, object)
        is_number = np.asarray(labels).dtype.kind in "iuf" and not {*map(class_text, np.unique(labels))} & {*outputs}
        return None if is_number else np.array(outputs, object)
    if labels is None:
        return np.array(["low", "high"], object)
    found = np.unique(labels)
    whole = found.dtype.kind not in "fc" or (found == np.round(found)).all()
    return found if whole and len(found) == 2 else None

"""The model's answers on the bags, which every section of a report starts from."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils import check_array

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, listed
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators import RuleModel
from fuzzymil.estimators.inputs import bag_labels, class_labels
from fuzzymil.explain import Explanation, Reading, explain
from fuzzymil.inference.activations import Activations
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import clipped
from fuzzymil.rules.curves import Sketcher

Progress = Callable[[str, int, int], None]
"""Called with the name of a step, the number of items done, and their total."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Answers:
    """A model's answers on bags.

    The bags are there as given and as the model's rules ``read`` them; ``truth`` (n_bags,) or (n_bags, n_outputs) are
    their labels, if any; ``found`` has what the rules of each member inferred, and ``output`` (n_bags, n_outputs) is
    their mean.
    """

    model: Any
    bags: Bags
    read: Bags
    truth: Array | None
    reading: Reading
    found: tuple[Activations, ...]
    output: Array
    predictions: Array

    @functools.cached_property
    def members(self) -> list[RuleBase]:
        """The rule bases whose outputs are averaged."""
        return list(self.model.members_)

    @property
    def concludes_sets(self) -> bool:
        """Whether the rules conclude sets."""
        return self.rules.concludes_sets

    @property
    def rules(self) -> RuleBase:
        """The first of the members."""
        return self.members[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names of the bags or, if they have none, of the model."""
        fitted = getattr(self.model, "feature_names_in_", None)
        return self.bags.names if self.bags.feature_names is not None or fitted is None else tuple(map(str, fitted))

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The classes of a classifier."""
        return None if self.reading.classes is None else tuple(np.asarray(self.reading.classes).tolist())

    @functools.cached_property
    def sketchers(self) -> list[Sketcher]:
        """One per member. Sets are drawn over the values that the rules see: within their limits, if any."""
        return [Sketcher(base.variables, clipped(base, self.read).instances) for base in self.members]

    @functools.cached_property
    def coverage(self) -> Array | None:
        """How usual each bag is, shape (n_bags,); None for rules that were not learned."""
        known = self.model.coverage_
        return None if known is None else known.measure(self.read).coverage

    @property
    def certainty(self) -> Array:
        """See `certainty`, shape (n_bags,)."""
        log_firing = np.max([each.log_firing.max(axis=1) for each in self.found], axis=0)
        # The sum of additive rules means something even if it has no terms; a mean of nothing does not.
        silent = np.isneginf(log_firing) & all(base.normalize for base in self.members)
        return certainty(self.output, self.reading, log_firing if self.coverage is None else self.coverage, silent)

    @property
    def wrong(self) -> Array:
        """Which bags are misclassified, shape (n_bags,); all False for a regressor or without labels."""
        if self.classes is None or self.truth is None:
            return np.zeros(self.bags.n_bags, bool)
        return np.asarray(self.truth != self.predictions)

    def explained(self, places: Array) -> Iterator[Explanation]:
        """Explain the bags at these positions, one by one."""
        for place in places:
            bag = self.read[[int(place)]]
            yield explain(self.model.members_, bag, reading=self.reading, coverage=self.model.coverage_)


def answers_of(model: Any, bags: Any, y: Any = None) -> Answers:
    """Run a fitted model on bags; ``y`` has one label per bag (default: those of the bags, if any)."""
    if not isinstance(model, RuleModel):
        raise ParameterError(
            "A report needs a model whose rules can be explained (RuleClassifier, RuleRegressor, MIANFIS..., "
            f"ANFIS..., MISugeno or MIMamdani), got {type(model).__name__}. For a pipeline, "
            "pass its last step and the transformed bags."
        )
    given = as_bags(bags)
    read, reading = model._bags_to_read(given), model._reading()
    found = tuple(rules.infer(read) for rules in model.members_)
    output = np.mean([each.output for each in found], axis=0)
    labeled = y is not None or given.labels is not None
    truth = _truth(model, given, y, reading) if labeled else None
    return Answers(
        model=model,
        bags=given,
        read=read,
        truth=truth,
        reading=reading,
        found=found,
        output=output,
        predictions=reading.predict(output),
    )


def certainty(output: Array, reading: Reading, described: Array, silent: Array) -> Array:
    """Return how certain each answer is, shape (n_bags,), comparable within one model.

    For a classifier, the distance of the decision value from the threshold, or from the second best class. For numbers,
    how well the model knows such bags, ``described``. On ``silent`` bags no rule fires.
    """
    if reading.classes is None:
        found = described
    elif output.shape[1] == 1:
        found = np.abs(output[:, 0] - reading.threshold)
    else:
        ranked = np.sort(output, axis=1)
        found = ranked[:, -1] - ranked[:, -2]
    return np.where(silent, -np.inf, found)


def _truth(model: Any, bags: Bags, y: Any, reading: Reading) -> Array:
    """Return the labels, checked against the model's classes."""
    kind = type(model).__name__
    if reading.classes is None:
        labels = bag_labels(bags, y, kind)
        numbers: Array = check_array(labels, ensure_2d=False, dtype=np.float64, input_name="y")
        return numbers
    labels, known = class_labels(bags, y, kind), np.asarray(reading.classes).tolist()
    for place, label in enumerate(labels.tolist()):
        if label not in known:
            raise InputError(
                f"Bag {bags.ids[place]!s} has the label {label!r}, which is not one of the model's classes "
                f"({listed(known)}).{did_you_mean(label, map(str, known))}"
            )
    return labels

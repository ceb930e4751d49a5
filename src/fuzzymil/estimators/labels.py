"""Classes of bags: their labels in, and the names of the outputs that stand for them."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from fuzzymil._utils.arrays import Array, is_missing
from fuzzymil._utils.errors import InputError, did_you_mean, listed
from fuzzymil.bags import Bags
from fuzzymil.estimators.features import bag_labels

__all__ = ["class_labels", "classes_of_outputs", "names_of_class", "output_names"]


def class_labels(bags: Bags, y: Any, kind: str) -> Array:
    """Return the class of each bag: ``y``, or the labels the bags carry; checked to be classes."""
    labels: Array = column_or_1d(bag_labels(bags, y, kind), warn=True)
    _check_labels(labels, bags)
    check_classification_targets(labels)
    return labels


def _check_labels(labels: Array, bags: Bags) -> None:
    """Refuse labels that cannot be told apart, put in order, or saved."""
    if labels.dtype.kind not in "biufUSO":
        raise InputError(f"Labels must be numbers, text or booleans, got {labels.dtype}: turn them into text first.")
    if labels.dtype == object:
        values = labels.tolist()
        for bag, value in enumerate(values):
            if is_missing(value):
                raise InputError(f"Bag {bags.ids[bag]!s} has no label ({value!r}): give it one, or drop it.")
        if any(isinstance(value, str) for value in values) and not all(isinstance(value, str) for value in values):
            raise InputError("The labels mix text and numbers: make them all text, or all numbers.")


def output_names(classes: Array) -> tuple[str, ...]:
    """Name the outputs after the classes, as far as these make names."""
    numeric = [isinstance(label, numbers.Number | np.generic) and not isinstance(label, str) for label in classes]
    if len(classes) == 2:
        return ("y",) if numeric[1] else (str(classes[1]),)
    return tuple(f"class_{label}" if number else str(label) for label, number in zip(classes, numeric, strict=True))


def names_of_class(label: object) -> tuple[str, str]:
    """Return how an output may be called that stands for a class: as the class, or ``class_1``, say, for a number."""
    return str(label), f"class_{label}"


def classes_of_outputs(outputs: tuple[str, ...], labels: Array) -> tuple[Array, list[int]]:
    """Return the classes that several outputs stand for, in order, and the number of each one's output.

    An output is named after its class (a number's is ``class_1``, say). Text classes may be absent from the labels.

    Examples
    --------
    >>> classes, places = classes_of_outputs(("sky", "grass"), np.array(["grass", "grass"]))
    >>> classes.tolist(), places
    (['grass', 'sky'], [1, 0])
    """
    found = np.unique(labels)
    text = all(isinstance(label, str) for label in found.tolist())
    classes = np.unique(np.append(found, outputs)) if text else found
    places = []
    for label in classes:
        known = [outputs.index(name) for name in names_of_class(label) if name in outputs]
        if not known:
            raise InputError(
                f"No output is named after the class {label!s}; the rules conclude {listed(outputs)}."
                f"{did_you_mean(label, outputs)}"
            )
        places.append(known[0])
    for k, output in enumerate(outputs):
        if k not in places:
            raise InputError(f"The output {output!r} is named after no class; the classes are {listed(classes)}.")
    return classes, places

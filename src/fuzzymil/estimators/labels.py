"""Class labels of bags, and the names of the outputs that represent them."""

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
    """Return the class of each bag: ``y``, or the labels that the bags carry; raise if they are not classes."""
    labels: Array = column_or_1d(bag_labels(bags, y, kind), warn=True)
    _check_labels(labels, bags)
    check_classification_targets(labels)
    return labels


def _check_labels(labels: Array, bags: Bags) -> None:
    """Raise if labels cannot be compared, sorted or saved."""
    if labels.dtype.kind not in "biufUSO":
        raise InputError(f"Labels must be numbers, text or booleans, got {labels.dtype}: convert them to text first.")
    if labels.dtype == object:
        values = labels.tolist()
        for bag, value in enumerate(values):
            if is_missing(value):
                raise InputError(f"Bag {bags.ids[bag]!s} has no label ({value!r}): add one, or drop the bag.")
        if any(isinstance(value, str) for value in values) and not all(isinstance(value, str) for value in values):
            raise InputError("The labels mix text and numbers: convert them all to text, or all to numbers.")


def output_names(classes: Array) -> tuple[str, ...]:
    """Return names for the outputs, based on the class labels."""
    numeric = [isinstance(label, numbers.Number | np.generic) and not isinstance(label, str) for label in classes]
    if len(classes) == 2:
        return ("y",) if numeric[1] else (str(classes[1]),)
    return tuple(f"class_{label}" if number else str(label) for label, number in zip(classes, numeric, strict=True))


def names_of_class(label: object) -> tuple[str, str]:
    """Return the names an output of a class may have: the class itself, or ``class_1`` for the number 1."""
    return str(label), f"class_{label}"


def classes_of_outputs(outputs: tuple[str, ...], labels: Array) -> tuple[Array, list[int]]:
    """Return the sorted classes that several outputs represent, and the position of each one's output.

    An output is named after its class (``class_1`` for the number 1). Text classes may be absent from the labels.

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
                f"No output is named after the class {label!s}; the outputs are {listed(outputs)}."
                f"{did_you_mean(label, outputs)}"
            )
        places.append(known[0])
    for k, output in enumerate(outputs):
        if k not in places:
            raise InputError(f"The output {output!r} is not named after a class; the classes are {listed(classes)}.")
    return classes, places

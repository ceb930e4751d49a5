"""Input of the estimators: bags, features and labels, and the names of the outputs that represent classes."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, check_texts, is_missing, text_names
from fuzzymil._utils.errors import InputError, ParameterError, described, did_you_mean, listed, warn_user
from fuzzymil.bags import Bags, Column, Columns, as_bags

MOST = 1e100
"""The largest number to be predicted, and the largest weight: their squares can be added."""
_ADD_ONE = "add one, or leave such bags out (Bags.from_frame(..., unlabeled='drop'))"

MISSING = ("error", "ignore", "average", "median", "condition")
"""Ways to handle missing values."""


def complete_bags(estimator: Any, X: Any, *, allow_missing: bool, instead: str = "median") -> Bags:
    """Convert ``X`` to bags; raise if values are missing and that is not allowed; ``instead`` would allow it."""
    bags = as_bags(X)
    if not allow_missing:
        advice = "Impute missing values first (for example with PerInstance(SimpleImputer()))"
        if hasattr(estimator, "missing"):
            advice += f", or set missing={instead!r}"
        bags.require_complete(f"{advice}.")
    return bags


def record_features(estimator: Any, bags: Bags) -> None:
    """Set ``n_features_in_`` and ``feature_names_in_``, as scikit-learn expects, and ``columns_``: what they mean."""
    estimator.n_features_in_ = bags.n_features
    if bags.columns is not None:
        estimator.columns_ = bags.columns
    elif hasattr(estimator, "columns_"):
        del estimator.columns_
    if bags.feature_names is not None:
        estimator.feature_names_in_ = np.array(bags.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def trained_on(estimator: Any) -> Columns | None:
    """Return what the features of a fitted estimator mean; plain numbers if only their names are known."""
    names = getattr(estimator, "feature_names_in_", None)
    return getattr(estimator, "columns_", None if names is None else Columns(map(Column, names)))


def compare_features(estimator: Any, bags: Bags) -> Bags:
    """Return bags with the features that the estimator was fitted on; raise `InputError` if they have others.

    If it is known what the features mean, they are found by their names, and so are categories. Features that no rule
    reads may then be absent.
    """
    columns = trained_on(estimator)
    if columns is not None and bags.columns is not None:
        absent = {*columns.names} - {*bags.columns.names}
        if hasattr(estimator, "columns_") or absent:
            # The rules are only asked if something is absent: naming the sets of many features takes a while.
            unread = absent and absent - {*getattr(estimator, "used_features_", absent)}
            bags = bags.align(columns, optional=unread)
    kind = getattr(estimator, "kind", type(estimator).__name__)  # a saved model answers for another
    known = getattr(estimator, "feature_names_in_", None)
    names = bags.feature_names
    if known is None and names is not None:
        warn_user(f"X has feature names, but {kind} was fitted without feature names")
    elif known is not None and names is None:
        warn_user(f"X does not have valid feature names, but {kind} was fitted with feature names")
    elif known is not None and names is not None and tuple(known) != names:
        advice = "Read the table with Bags.from_frame(frame, bag=..., columns=model.columns_).\n"
        raise InputError(_difference(list(known), list(names)) + (advice if hasattr(estimator, "columns_") else ""))
    if bags.n_features != estimator.n_features_in_:
        which = "" if known is None else f" These are {listed(known)}."
        raise InputError(
            f"X has {bags.n_features} features, but {kind} is expecting {estimator.n_features_in_} features as input."
            f"{which}"
        )
    return bags


def _difference(known: list[str], names: list[str]) -> str:
    message = "The feature names should match those that were passed during fit.\n"
    for title, found in (
        ("Feature names unseen at fit time:", sorted({*names} - {*known})),
        ("Feature names seen at fit time, yet now missing:", sorted({*known} - {*names})),
    ):
        if found:
            shown = "".join(f"- {name}\n" for name in found[:5])
            message += f"{title}\n{shown}" + ("- ...\n" if len(found) > 5 else "")
    if {*known} == {*names}:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


def require_labels(bags: Bags, y: Any, method: str) -> None:
    """Raise if there are no labels to compare predictions with."""
    if y is None and bags.labels is None:
        raise InputError(
            f"{method} compares predictions with labels, but these bags have none: pass y, one label per bag, or bags "
            "with labels (Bags.from_frame(..., label=...))."
        )


def bag_labels(bags: Bags, y: Any, kind: str) -> Array:
    """Return one label per bag: ``y``, or the labels of the bags."""
    if y is None:
        if bags.labels is None:
            raise InputError(
                f"{kind} requires y to be passed, but the target y is None: call fit(X, y), or pass bags with labels."
            )
        return _check_finite(bags.labels, bags)
    mixed = isinstance(y, list | tuple) and len({isinstance(label, str) for label in y}) == 2
    labels = np.array(y, dtype=object) if mixed else np.asarray(y)  # NumPy would convert the numbers to text
    _check_alignment(bags, y)
    if labels.ndim == 0 or len(labels) != bags.n_bags:
        count = "one" if labels.ndim == 0 else str(len(labels))
        of_rows = labels.ndim > 0 and len(labels) == bags.n_instances
        advice = " (One label per row? Use Bags.from_long(X, bag_ids, labels=...).)" if of_rows else ""
        noun = "label" if count in ("1", "one") else "labels"
        raise InputError(f"There are {bags.n_bags} bags but {count} {noun}: pass one label per bag.{advice}")
    check_texts(labels, "labels", y)
    return _check_finite(np.asarray(labels), bags)


def _check_finite(labels: Array, bags: Bags) -> Array:
    """Return labels; raise if one is infinite or not a number."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        bag = int(np.argmin(np.isfinite(labels).reshape(bags.n_bags, -1).all(axis=1)))
        what = "NaN" if np.isnan(labels[bag]).any() else "infinity or a value too large for dtype('float64')"
        raise InputError(f"Input y contains {what}: bag {bags.ids[bag]!s} needs a label; {_ADD_ONE}.")
    return labels


def numbers_to_predict(bags: Bags, y: Any, kind: str) -> Array:
    """Return what a regressor is to predict for each bag, as floating-point numbers: ``y``, or the bags' labels."""
    labels = bag_labels(bags, y, kind)
    try:
        if labels.dtype.kind in "cSV":
            raise TypeError
        found = labels.astype(np.float64)
    except OverflowError:  # a whole number of hundreds of digits
        found = np.where([abs(each) > MOST for each in labels.flat], np.inf, 0.0).reshape(labels.shape)
    except (TypeError, ValueError):
        odd = next((each for each in labels.reshape(-1).tolist() if not isinstance(each, numbers.Real)), labels)
        raise InputError(
            f"{kind} predicts numbers, but y has {described(odd)}: pass numbers, or use a classifier."
        ) from None
    if labels.dtype == object and np.isnan(found).any():
        _check_finite(found, bags)  # None is no number either
    too_large = np.abs(found).reshape(bags.n_bags, -1).max(axis=1) > MOST
    if too_large.any():
        bag = int(np.argmax(too_large))
        shown = found if labels.dtype == object else labels  # Python refuses to print thousands of digits
        raise InputError(
            f"The label of bag {bags.ids[bag]!s} is {shown[bag]!s:.60}, but labels must be between -{MOST:g} and "
            f"{MOST:g}, so that their squares can be added: divide all of them by a constant."
        )
    return found


def target_names(bags: Bags, y: Any, n_outputs: int) -> tuple[str, ...]:
    """Return the names of numbers to predict: those of the columns that they come from, otherwise ``y``.

    ``y``: None: the labels of the bags.
    """
    found: list[Any]
    if y is None or y is bags.labels:
        found = [] if bags.source is None else [bags.source.label]
    else:
        found = text_names(y) or [getattr(y, "name", None)]
    named = all(isinstance(name, str) and name and name not in bags.names for name in found)
    if named and len(found) == n_outputs and len(set(found)) == n_outputs:
        return tuple(map(str, found))
    return tuple(f"y{k + 1}" for k in range(n_outputs)) if n_outputs > 1 else ("y",)


def _check_alignment(bags: Bags, y: Any) -> None:
    """Raise if a Series lists the bags in another order."""
    index = getattr(y, "index", None)
    if index is None or not hasattr(index, "tolist") or bags.ids.dtype.kind in "iu":  # numbers: most likely positions
        return
    names, ids = index.tolist(), bags.ids.tolist()
    if names != ids and len(names) == len(ids) and set(names) == set(ids):
        raise InputError("The index of the labels is in another order than the bags: pass y.loc[bags.ids].")


def class_labels(bags: Bags, y: Any, kind: str) -> Array:
    """Return the class of each bag: ``y``, or the labels of the bags; raise if they are not classes."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import column_or_1d

    labels: Array = bag_labels(bags, y, kind)
    if type(labels) is not np.ndarray or labels.ndim != 1:
        labels = column_or_1d(labels, warn=True)
    labels = _comparable(labels, bags)
    # Whole numbers and text are classes; scikit-learn warns if there are very many of them. It takes its time to tell.
    if labels.dtype.kind not in "biuUS" or 2 * len(np.unique(labels)) > len(labels):
        try:
            check_classification_targets(labels)
        except ValueError as problem:
            kind = "Unknown label type: continuous"
            if not str(problem).startswith(kind):
                raise
            advice = "use a regressor, such as RuleRegressor, or make classes of them"
            raise InputError(f"{kind}: the labels are numbers with fractions; {advice}.") from None
    return labels


def _comparable(labels: Array, bags: Bags) -> Array:
    """Return labels, numbers as such; raise if they cannot be compared, sorted or saved."""
    if labels.dtype.kind not in "biufUO":
        raise InputError(f"Labels must be numbers, text or booleans, got {labels.dtype}: convert them to text first.")
    if labels.dtype == object:
        values = labels.tolist()
        for bag, value in enumerate(values):
            if is_missing(value):
                raise InputError(f"Bag {bags.ids[bag]!s} has no label ({value!r}): {_ADD_ONE}.")
        if any(isinstance(value, bytes) for value in values):
            raise InputError("The labels are bytes: convert them to text first, with label.decode().")
        if len({isinstance(value, str) for value in values}) == 2:
            raise InputError("The labels mix text and numbers: convert them all to text, or all to numbers.")
        if not isinstance(values[0], str):
            odd = [value for value in values if not isinstance(value, int | float | np.number | np.bool_)]
            odd += [value for value in values if isinstance(value, int) and abs(value) >= 2**63]
            if odd:
                known = "numbers of at most 18 digits, text or booleans"
                raise InputError(f"Labels must be {known}, got {described(odd[0])}: convert them to text first.")
            return np.array(values)
    return labels


MOST_CLASSES = 20
"""Whole numbers with more distinct values than this are quantities."""


def holds_classes(labels: Array) -> bool:
    """Return whether labels look like classes: text, or whole numbers that recur."""
    if labels.ndim > 1:
        return False
    if labels.dtype.kind not in "iuf":
        return True
    values = np.unique(labels)
    whole = labels.dtype.kind != "f" or bool((values == np.round(values)).all())
    return whole and len(values) <= MOST_CLASSES and 2 * len(values) <= len(labels)


def output_names(classes: Array, positive: int = 1) -> tuple[str, ...]:
    """Return names for the outputs, based on the class labels; of two classes, the output is about one of them."""
    numeric = [isinstance(label, numbers.Number | np.generic) and not isinstance(label, str) for label in classes]
    if len(classes) == 2:
        name = ("y", f"class_{classes[0]}")[1 - positive] if numeric[positive] else str(classes[positive])
        return (name,)
    return tuple(f"class_{label}" if number else str(label) for label, number in zip(classes, numeric, strict=True))


def names_of_class(label: object) -> tuple[str, str]:
    """Return the names an output of a class may have: the class itself, or ``class_1`` for the number 1."""
    return str(label), f"class_{label}"


def positive_class(classes: Array, output: str, pos_label: Any) -> int:
    """Return the position of the one of two classes that a single output is about.

    It is the class that the parameter ``pos_label`` or the name of the output says, otherwise the second one.
    """
    named = next((k for k, label in enumerate(classes) if output in names_of_class(label)), None)
    if pos_label is None:
        return 1 if named is None else named
    known = classes.tolist()
    if pos_label not in known:
        raise ParameterError(f"pos_label must be one of the two classes ({listed(classes)}), got {pos_label!r}.")
    place = int(known.index(pos_label))
    if named is not None and named != place:
        raise ParameterError(
            f"pos_label={pos_label!r}, but the output of the rules is named after the class {classes[named]!s}: rename "
            "one of them, or leave pos_label out."
        )
    return place


def one_positive(classes: Array, pos_label: Any) -> None:
    """Raise `ParameterError` if ``pos_label`` is given for other than two classes."""
    if pos_label is not None and len(classes) != 2:
        raise ParameterError(f"pos_label={pos_label!r} is for two classes, but there are {len(classes)}: leave it out.")


def warn_if_worse_than_chance(output: Array, is_positive: Array, positive: object, other: object) -> None:
    """Warn if rules rank the bags of the other class clearly above those of the class they are about.

    Shapes: ``output`` (n_bags,), ``is_positive`` (n_bags,).
    """
    n_positive, n_other = int(is_positive.sum()), int((~is_positive).sum())
    if not n_positive or not n_other:
        return
    _, places, counts = np.unique(output, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]  # of equal values, the mean
    auc = (ranks[is_positive].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_other)
    spread = np.sqrt((n_positive + n_other + 1) / (12 * n_positive * n_other))
    if (0.5 - auc) / spread > 2.5:  # hardly by chance
        name, label = output_names(np.array([other, positive]), 0)[0], np.asarray(other).tolist()
        warn_user(
            f"The given rules do worse than chance: on these bags, their AUC for the class {positive!s} is {auc:.2f}. "
            f"If they are about {other!s}, name their output {name!r} or set pos_label={label!r}."
        )


def classes_of_outputs(outputs: tuple[str, ...], labels: Array) -> tuple[Array, list[int]]:
    """Return the sorted classes that several outputs represent, and the position of each one's output.

    An output is named after its class (``class_1`` for the number 1). Text classes may be absent from the labels.
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

"""`as_bags`: anything that can be read as bags."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil._utils import arrays
from fuzzymil._utils.errors import InputError, InputTypeError
from fuzzymil.bags import _conversion
from fuzzymil.bags._bags import Bags


def as_bags(X: Any) -> Bags:
    """Convert to `Bags`.

    Parameters
    ----------
    X : object
        - `Bags`: returned unchanged;
        - a list, tuple or 1-D object array with one 2-D array (or nested list, tensor) per bag, or one
          dictionary ``{"X": instances, "Y": label}`` per bag;
        - a pair ``(instances, bag_ids)``;
        - a 3-D array: bags of equal size (use `Bags.from_padded` for padded bags);
        - **a 2-D array, also a sparse one, a table without a bag column, or nested lists of depth 2: each row is a
          bag of one instance**, as scikit-learn's tools expect.

    Examples
    --------
    >>> as_bags([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
    Bags(2 bags, 3 instances, 2 features, 1-2 instances per bag)
    >>> as_bags(np.zeros((4, 3)))  # a plain array: four bags of one instance
    Bags(4 bags, 4 instances, 3 features, 1 instance per bag)
    >>> as_bags((np.zeros((4, 3)), [7, 7, 8, 8]))
    Bags(2 bags, 4 instances, 3 features, 2 instances per bag)
    """
    if isinstance(X, Bags):
        return X
    if type(X).__name__ == "BagStream":
        raise InputTypeError(
            "Expected bags, got a BagStream: only fit, predict and score of MI-ANFIS and ANFIS accept streams; "
            "elsewhere, pass its parts one at a time."
        )
    if isinstance(X, tuple) and len(X) == 2 and (arrays.depth(X[0]), arrays.depth(X[1])) == (2, 1):
        return Bags.from_long(X[0], X[1])
    if isinstance(X, list | tuple) and X and isinstance(X[0], Bags):
        raise InputTypeError("Expected bags, got a list of Bags: join them with Bags.concatenate.")
    if arrays.is_sparse(X):
        return Bags(X, np.arange(X.shape[0] + 1))
    found = _conversion.bags_or_rows(X)
    if isinstance(found, list):
        return Bags.from_list(found)
    try:
        rows = arrays.matrix(found)
    except InputTypeError as problem:
        if arrays.column_names(X) is None:
            raise
        what = str(problem).removesuffix(": features must be numeric; encode text first.").rstrip(".")
        raise InputTypeError(
            f"{what}. Read a table that has a column of bags, text or dates with Bags.from_frame(frame, bag=..., "
            "label=...); for a fitted model, with Bags.from_frame(frame, bag=..., columns=model.columns_)."
        ) from None
    if not len(rows):
        raise InputError("There are no bags: the table has no rows.")
    return Bags(rows, np.arange(len(rows) + 1), feature_names=arrays.text_names(X))

"""A model as its file describes it, which predicts and explains without loading scikit-learn; and parts of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.bags import Columns
from fuzzymil.estimators.inputs import MISSING
from fuzzymil.estimators.rule_model import ClassReading, Committee
from fuzzymil.explain import Coverage
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.rules import RuleBase

__all__ = ["SavedModel", "check", "decode_columns", "decode_features", "decode_labels", "decode_positive", "decoded"]

_CLASSIFIERS = ("RuleClassifier", "MIANFISClassifier", "ANFISClassifier")
_REGRESSORS = ("RuleRegressor", "MIANFISRegressor", "ANFISRegressor")
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
_LABEL_TYPE = re.compile(r"object|[<>|=]?(?:b1|[iu][1248]|f[248]|(?P<text>U\d{1,9}))", re.ASCII)

T = TypeVar("T")


class SavedModel(Committee):
    """Learned rules as their file describes them: they predict and explain, but cannot be trained.

    Parameters
    ----------
    document : mapping
        What `model_to_dict` returned.
    classifies : bool
        Whether it is a classifier.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.estimators import model_to_dict
    >>> model = MIANFISClassifier(2, random_state=0).fit([[[0.0]], [[1.0]]], [0, 1])
    >>> SavedModel.of(model_to_dict(model)).predict([[[0.9]]]).tolist()
    [1]
    """

    def __init__(self, document: Mapping[str, Any], *, classifies: bool) -> None:
        self.kind = str(document["estimator"])
        self.n_features_in_, names = decode_features(document)
        if names is not None:
            self.feature_names_in_ = names
        if "columns" in document:
            self.columns_ = decode_columns(document, names)
        self.missing = document["settings"].get("missing", "error")
        check(self.missing in MISSING, "the setting missing")
        members = [RuleBase.from_dict(content) for content in document["members"]]
        same = all(rules.n_features == self.n_features_in_ for rules in members)
        check(bool(members) and same, "the number of variables")
        self._members = [*members]
        self.loss = document["loss"]
        check(self.loss in LOSSES, "the loss")
        self.pos_label_: Any = None
        self.calibration_: Array | None = None
        if classifies:
            n_outputs = len(self.rules_.outputs)
            self.classes_ = decode_labels(document["classes"])
            check(len(self.classes_) == (2 if n_outputs == 1 else n_outputs), "the number of classes")
            self._positive = decode_positive(document) if n_outputs == 1 else 1
            self.pos_label_ = self.classes_.tolist()[self._positive] if n_outputs == 1 else None
            self.calibration_ = _decode_calibration(document["calibration"], self.loss, n_outputs)
        self.coverage_ = _decode_coverage(document["coverage"], self.n_features_in_)

    @classmethod
    def of(cls, document: Mapping[str, Any], *, name: str = "The model") -> SavedModel | None:
        """Return the model that `model_to_dict` described; None if it described something else.

        Parameters
        ----------
        document : mapping
        name : str
            What error messages call the document.

        Raises
        ------
        ModelFileError
            If something is missing or does not fit together.
        """
        kind = document.get("estimator")
        if kind not in (*_CLASSIFIERS, *_REGRESSORS):
            return None
        return decoded(lambda: cls(document, classifies=kind in _CLASSIFIERS), name)

    def _class_reading(self) -> ClassReading | None:
        if not hasattr(self, "classes_"):
            return None
        return ClassReading.of_network(self.classes_, self.loss, self.calibration_, self._positive)


def decoded(decode: Callable[[], T], name: str) -> T:
    """Return what ``decode`` makes of a document, or raise `ModelFileError` if something in it is wrong."""
    try:
        return decode()
    except ModelFileError:
        raise
    except MemoryError:
        raise ModelFileError(f"{name} does not fit in memory.") from None
    except _DAMAGE as problem:
        raise ModelFileError(storage.damaged(name, problem) + " Save the model again.") from None


def check(good: bool, what: str) -> None:
    """Raise `ModelFileError` if something does not match the rest of a document."""
    if not good:
        raise ModelFileError(f"The model file is damaged: {what} does not match the rest. Save the model again.")


def decode_features(document: Mapping[str, Any]) -> tuple[int, Array | None]:
    """Return the number of features, and their names if they have any."""
    n_features, names = int(document["features"]["n"]), document["features"]["names"]
    check(names is None or len(names) == n_features, "the number of feature names")
    return n_features, None if names is None else np.array([*map(str, names)], dtype=object)


def decode_columns(document: Mapping[str, Any], names: Array | None) -> Columns:
    """Return what the features mean."""
    found = Columns.from_dict(document["columns"])
    check(names is not None and list(found.names) == names.tolist(), "the columns")
    return found


def decode_positive(document: Mapping[str, Any]) -> int:
    """Return which of two classes a single output is about."""
    place = document.get("positive", 1)
    check(place in (0, 1), "the positive class")
    return int(place)


def _decode_calibration(content: Any, loss: str, n_outputs: int) -> Array | None:
    if LOSSES[loss].probability is not None:
        return None
    values = np.asarray(content, float)
    check(values.shape == (n_outputs, 2) and bool(np.isfinite(values).all()), "the calibration")
    return values


def _decode_coverage(content: Any, n_features: int) -> Coverage | None:
    if content is None:
        return None
    found = Coverage.from_dict(content)
    check(max(found.columns, default=0) < n_features, "the coverage")
    return found


def decode_labels(content: Mapping[str, Any]) -> Array:
    """Return class labels: numbers, text or booleans, all different and none missing."""
    kind, values = str(content["dtype"]), content["values"]
    if not isinstance(values, list) or not all(isinstance(value, str | int | float) for value in values):
        raise ModelFileError("The class labels must be a list of numbers or text: the file is damaged.")
    known = _LABEL_TYPE.fullmatch(kind)
    if known is None:
        raise ModelFileError(f"The class labels have an unknown type {kind!r:.40}: the file is damaged.")
    # The length of text is that of the labels; a file could state any.
    labels = np.array(values, dtype=object if kind == "object" else str if known["text"] else np.dtype(kind))
    missing = [value for value in values if isinstance(value, float) and not np.isfinite(value)]
    if missing or first_repeated(values) is not None:
        raise ModelFileError("The class labels are not all different, or one is missing: the file is damaged.")
    if labels.tolist() != values:
        raise ModelFileError(f"The class labels are not of their type {kind}: the file is damaged.")
    return labels

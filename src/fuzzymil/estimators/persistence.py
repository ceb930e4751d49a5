"""Fitted models as one JSON file each: no pickle, nothing executed on loading."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._version import __version__
from fuzzymil.membership import MembershipFunction
from fuzzymil.rules import RuleBase, json
from fuzzymil.rules.mamdani import MamdaniRules
from fuzzymil.rules.rule import Variable
from fuzzymil.training.losses import LOSSES
from fuzzymil.training.scaling import Scaling

__all__ = ["FORMAT", "FORMAT_VERSION", "load_model", "save_model"]

FORMAT, FORMAT_VERSION = "fuzzymil.model", 2
"""Version 2 added expert systems, and rules that need version 2 of the rules' format; other models are still 1."""

_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)

# Settings that are values of this library: kind, to plain values, and back.
_VALUES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "rule_base": (RuleBase, RuleBase.to_dict, RuleBase.from_dict),
    "mamdani_rules": (MamdaniRules, MamdaniRules.to_dict, MamdaniRules.from_dict),
    "variable": (Variable, json.encode_variable, json.decode_variable),
    "set": (MembershipFunction, json.encode_set, json.decode_set),
}
_NOT_SAVED = object()

_SCALING = ("shift", "scale", "ranges", "varies", "target_shift", "target_scale")


def save_model(model: Any, path: storage.Path_) -> None:
    """Write a fitted estimator; a failure leaves an older file whole."""
    names = getattr(model, "feature_names_in_", None)
    trained = hasattr(model, "_learned")
    settings = model.get_params(deep=False)
    for name in ("checkpoint", "distributed"):  # how it was trained is no business of the model
        settings.pop(name, None)
    content = {
        "library": __version__,
        "estimator": type(model).__name__,
        "settings": {name: _encode_setting(value) for name, value in settings.items()},
        "features": {"n": int(model.n_features_in_), "names": None if names is None else list(map(str, names))},
        "classes": _encode_labels(model.classes_) if hasattr(model, "classes_") else None,
        **(_encode_training(model) if trained else {"rules": model.rules_.to_dict()}),
    }
    storage.write_document(path, FORMAT, _version_needed(model) if trained else FORMAT_VERSION, content)


def _encode_training(model: Any) -> dict[str, Any]:
    return {
        "calibration": model.calibration_.tolist() if getattr(model, "calibration_", None) is not None else None,
        "members": [rules.to_dict() for rules in model.members_],
        "initial": model.initial_rules_.to_dict(),
        "scaling": {
            "limited": model._learned.scaling.limited,
            **{name: np.asarray(getattr(model._learned.scaling, name)).tolist() for name in _SCALING},
        },
        "history": {name: [storage.encode_number(v) for v in values] for name, values in model.history_.items()},
        "n_epochs": model._learned.n_epochs,
        "keep_prob": model._learned.keep_prob,
    }


def _version_needed(model: Any) -> int:
    """Return the oldest file version that can hold this network."""
    settings = model.get_params(deep=False).values()
    held = [*model.members_, model.initial_rules_, *(value for value in settings if isinstance(value, RuleBase))]
    return 1 if all(json.version_needed(rules) == 1 for rules in held) else FORMAT_VERSION


def load_model(path: storage.Path_) -> Any:
    """Read a fitted estimator that ``model.save(path)`` wrote.

    Settings that are no plain values (an optax transformation, callbacks) and ``checkpoint`` are not in the file; they
    come back at their defaults. Training can go on from a loaded model (``warm_start``,
    ``partial_fit``), with the optimizer starting afresh.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    estimator
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        When the file is truncated, of another kind, or from a newer version.

    Examples
    --------
    >>> import tempfile, os
    >>> from fuzzymil import MIANFISClassifier
    >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
    >>> model = MIANFISClassifier(n_rules=2, max_epochs=5, random_state=0).fit(bags, [0, 1, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(path)
    >>> (load_model(path).predict(bags) == model.predict(bags)).all()
    np.True_
    """
    document = storage.read_document(path, {FORMAT: FORMAT_VERSION})
    try:
        kind = _known_kind(document["estimator"], path)
        model = kind(**_decode_settings(document["settings"], kind))
        model._check_settings()
        n_features, names = int(document["features"]["n"]), document["features"]["names"]
        _check(names is None or len(names) == n_features, "the number of feature names")
        model.n_features_in_ = n_features
        if names is not None:
            model.feature_names_in_ = np.array([*map(str, names)], dtype=object)
        if "members" in document:
            _restore_network(model, document)
        else:
            _restore_expert(model, document)
    except ModelFileError:
        raise
    except _DAMAGE as problem:
        raise ModelFileError(storage.damaged(f"{path!s}", problem) + " Save the model again.") from None
    return model


def _known_kind(name: object, path: storage.Path_) -> Any:
    from fuzzymil.estimators import _mamdani, _mianfis, _sugeno  # here, since these modules import this one

    for module in (_mianfis, _sugeno, _mamdani):
        if name in module.__all__:
            return getattr(module, str(name))
    raise ModelFileError(f"{path!s} holds a {name!r}, which this version does not know.")


def _restore_network(model: Any, document: Mapping[str, Any]) -> None:
    """Set what training left; training can go on from it."""
    members = [RuleBase.from_dict(content) for content in document["members"]]
    n_features = model.n_features_in_
    _check(bool(members) and all(rules.n_features == n_features for rules in members), "the number of variables")
    n_outputs = len(members[0].outputs)
    if hasattr(model, "class_weight"):
        model.classes_ = _decode_labels(document["classes"])
        _check(len(model.classes_) == (2 if n_outputs == 1 else n_outputs), "the number of classes")
        model.calibration_ = _decode_calibration(document["calibration"], model.loss, n_outputs)
    history = {
        str(name): np.array([storage.decode_number(v) for v in values]) for name, values in document["history"].items()
    }
    scaling = _decode_scaling(document["scaling"], n_features, n_outputs)
    keep_prob = None if document["keep_prob"] is None else storage.decode_number(document["keep_prob"])
    initial = RuleBase.from_dict(document["initial"])
    model._restore(members, initial, history, scaling, int(document["n_epochs"]), keep_prob)


def _restore_expert(model: Any, document: Mapping[str, Any]) -> None:
    """Set the rules and classes of an expert system."""
    rules = model.kind_of_rules.from_dict(document["rules"])
    names = getattr(model, "feature_names_in_", None)
    known = len(rules.feature_names) == model.n_features_in_ if names is None else {*rules.feature_names} <= {*names}
    _check(known, "what the rules call their features")
    classes = None
    if model.threshold is not None:
        classes = _decode_labels(document["classes"])
        n_outputs = len(rules.outputs)
        _check(classes.shape == (2 if n_outputs == 1 else n_outputs,), "the number of classes")
    model._set_fitted(rules, classes)


def _check(good: bool, what: str) -> None:
    if not good:
        raise ModelFileError(f"This model file is damaged: {what} does not fit the rest. Save the model again.")


def _decode_calibration(content: Any, loss: str, n_outputs: int) -> Array | None:
    if LOSSES[loss].probability is not None:
        return None
    values = np.asarray(content, float)
    _check(values.shape == (n_outputs, 2) and bool(np.isfinite(values).all()), "the calibration")
    return values


def _decode_scaling(content: Mapping[str, Any], n_features: int, n_outputs: int) -> Scaling:
    values = {name: np.asarray(content[name], float) for name in _SCALING}
    shapes = {"ranges": (n_features, 2), "target_shift": (n_outputs,), "target_scale": (n_outputs,)}
    for name, array in values.items():
        shape = shapes.get(name, (n_features,))
        _check(array.shape in (shape, (1,)) if name.startswith("target") else array.shape == shape, name)
        _check(bool(np.isfinite(array).all()) and (not name.endswith("scale") or bool((array > 0).all())), name)
    values["varies"] = values["varies"] > 0
    return Scaling(**values, limited=bool(content["limited"]))


def _encode_setting(value: Any) -> Any:
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else {"number": storage.encode_number(float(value))}
    for name, (kind, encode, _) in _VALUES.items():
        if isinstance(value, kind):
            return {name: encode(value)}
    if isinstance(value, np.ndarray) or _is_matrix(value):
        return {"array": np.asarray(value).tolist()}
    if isinstance(value, tuple) and any(isinstance(part, np.ndarray) or _is_matrix(part) for part in value):
        return {"arrays": [np.asarray(part).tolist() for part in value]}
    if type(value) in (dict, list, tuple):
        inner = [_encode_setting(item) for item in (value.values() if isinstance(value, dict) else value)]
        if not any(isinstance(item, dict) and "not_saved" in item for item in inner):
            if isinstance(value, dict):
                inner = [[_plain(key), item] for key, item in zip(value, inner, strict=True)]
            return {type(value).__name__: inner}
    return {"not_saved": f"{value!r:.200}"}


def _is_matrix(value: Any) -> bool:
    """Tell rows of numbers from other lists."""
    rows = isinstance(value, list) and all(isinstance(row, list | tuple | np.ndarray) for row in value)
    return rows and np.ndim(value) == 2


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _decode_settings(settings: Mapping[str, Any], kind: type) -> dict[str, Any]:
    known = inspect.signature(kind).parameters
    decoded = {}
    for name, value in settings.items():
        if name not in known:
            raise ModelFileError(f"The file has a setting {name!r} that {kind.__name__} does not know.")
        found = _decode_setting(value)
        if found is not _NOT_SAVED:
            decoded[name] = found
    return decoded


def _decode_setting(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return storage.decode_number(value["number"])
    for name, (_, _, decode) in _VALUES.items():
        if name in value:
            return decode(value[name])
    if "array" in value:
        return np.asarray(value["array"], float)
    if "arrays" in value:
        return tuple(np.asarray(part, float) for part in value["arrays"])
    if "dict" in value:
        return {key: _decode_setting(item) for key, item in value["dict"]}
    for kind in (list, tuple):
        if kind.__name__ in value:
            return kind(_decode_setting(item) for item in value[kind.__name__])
    return _NOT_SAVED


def _encode_labels(labels: Array) -> dict[str, Any]:
    kind = "object" if labels.dtype == object else labels.dtype.str
    return {"dtype": kind, "values": [_plain(label) for label in labels.tolist()]}


def _decode_labels(content: Mapping[str, Any]) -> Array:
    kind = str(content["dtype"])
    if np.dtype(kind).kind not in "biufUO":
        raise ModelFileError(f"The class labels have an unknown type {kind!r}: the file is damaged.")
    return np.array(content["values"], dtype=np.dtype(kind))

"""Save and load fitted models as JSON: no pickle, and loading executes nothing."""

from __future__ import annotations

import inspect
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array, first_repeated
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._utils.registry import import_modules
from fuzzymil._version import __version__
from fuzzymil.bags import Columns
from fuzzymil.estimators.conformal import Conformity
from fuzzymil.estimators.inputs import MISSING
from fuzzymil.estimators.options import Operators, Training
from fuzzymil.estimators.rule_model import ClassReading, Committee
from fuzzymil.explain import Coverage
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.learn.train.constraints import ActiveBound, Constraints
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase, json
from fuzzymil.rules.rule import Variable

((FORMAT, FORMAT_VERSION),) = json.MODEL.items()

# Parameters whose values are objects of this library: type, to plain values, and back.
_VALUES: dict[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "rule_base": (RuleBase, RuleBase.to_dict, RuleBase.from_dict),
    "variable": (Variable, json.encode_variable, json.decode_variable),
    "set": (MembershipFunction, json.encode_set, json.decode_set),
    "constraints": (Constraints, Constraints.to_dict, Constraints.of),
}
_OPTIONS: dict[str, type[Operators | Training]] = {"operators": Operators, "training": Training}

_NOT_SAVED = object()
_NEVER_SAVED = ("checkpoint", "callbacks")  # where and with whom a fit runs is no property of the model
_LOADABLE: dict[str, Any] = {}

_Kind = TypeVar("_Kind", bound=type)

_SCALING = ("shift", "scale", "ranges", "varies", "target_shift", "target_scale")


def loadable(kind: _Kind) -> _Kind:
    """Register an estimator class, so that `load_model` finds it by its name; for use as a decorator."""
    _LOADABLE[kind.__name__] = kind
    return kind


def save_model(model: Any, path: storage.Path_, *, extra: Mapping[str, Any] | None = None) -> None:
    """Write a fitted estimator to a JSON file; if writing fails, an existing file stays as it was.

    ``extra``: see `model_to_dict`.
    """
    document = model_to_dict(model, extra=extra)
    storage.write_document(path, document.pop("format"), document.pop("version"), document)


def model_to_dict(model: Any, *, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a fitted estimator as plain values that JSON can hold.

    ``extra`` holds further facts to store, such as the columns of the training data. They do not affect the model.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> model = MIANFISClassifier(2, random_state=0).fit([[[0.0]], [[1.0]]], [0, 1])
    >>> document = model_to_dict(model, extra={"label": "converted"})
    >>> document["estimator"], document["extra"]
    ('MIANFISClassifier', {'label': 'converted'})
    >>> model_from_dict(document).predict([[[0.9]]]).tolist()
    [1]
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    names = getattr(model, "feature_names_in_", None)
    settings = model.get_params(deep=False)
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "library": __version__,
        "estimator": type(model).__name__,
        "settings": {name: _encode_setting(value) for name, value in settings.items()},
        "features": {"n": int(model.n_features_in_), "names": None if names is None else list(map(str, names))},
        **({"columns": model.columns_.to_dict()} if hasattr(model, "columns_") else {}),
        "classes": _encode_labels(model.classes_) if hasattr(model, "classes_") else None,
        **({} if getattr(model, "_positive_place", 1) else {"positive": 0}),
        **(_encode_expert(model) if hasattr(model, "concludes_sets") else _encode_learned(model)),
        **_encode_conformity(model),
        **({} if extra is None else {"extra": dict(extra)}),
    }


def _encode_conformity(model: Any) -> dict[str, Any]:
    known = getattr(model, "_conformity", None)
    if known is None:
        return {}
    return {"conformity": {"scores": known[0].scores.tolist(), "classes": known[0].classes.tolist()}}


def decode_conformity(model: Any, document: Mapping[str, Any]) -> None:
    """Give a model what it was calibrated by, if it was."""
    if "conformity" not in document:
        return
    scores, classes = (np.asarray(document["conformity"][name]) for name in ("scores", "classes"))
    n_classes = len(getattr(model, "classes_", [0]))
    good = (
        scores.ndim == 1 and scores.shape == classes.shape and classes.dtype.kind == "i" and scores.dtype.kind in "if"
    )
    check(bool(good and np.isfinite(scores).all() and len(scores)), "the calibration")
    check(bool(((classes >= 0) & (classes < n_classes)).all()), "the calibration")
    model._conformity = Conformity(scores.astype(float), classes), model.members_


def _encode_expert(model: Any) -> dict[str, Any]:
    """Return the rules of an expert system and, if they were trained, how."""
    found = {"rules": model.rules_.to_dict()}
    if hasattr(model, "history_"):
        found["initial"] = model.initial_rules_.to_dict()
        found["history"] = _encode_history(model.history_)
        found["active_bounds"] = [list(entry) for entry in model.active_bounds_]
    return found


def _encode_history(history: Mapping[str, Array]) -> dict[str, Any]:
    return {name: [storage.encode_number(value) for value in values] for name, values in history.items()}


def _decode_history(content: Mapping[str, Any]) -> dict[str, Array]:
    return {str(name): np.array([storage.decode_number(v) for v in values]) for name, values in content.items()}


def _encode_learned(model: Any) -> dict[str, Any]:
    """Return the rules that a model has learned, and what it needs to be trained further."""
    found = {
        "loss": getattr(model, "_loss", "squared_error"),
        "calibration": model.calibration_.tolist() if getattr(model, "calibration_", None) is not None else None,
        "coverage": None if model.coverage_ is None else model.coverage_.to_dict(),
        "members": [rules.to_dict() for rules in model.members_],
    }
    if not hasattr(model, "_state"):
        edited = {"edited": True} if model._edited else {}
        return found | {"frontier": encode_frontier(model.frontier_)} | edited
    found["initial"] = model.initial_rules_.to_dict()
    scaling = {name: np.asarray(getattr(model._state.scaling, name)).tolist() for name in _SCALING}
    return found | {
        "scaling": {"limited": model._state.scaling.limited, **scaling},
        "history": _encode_history(model.history_),
        "n_epochs": model._state.n_epochs,
        "keep_prob": model._state.keep_prob,
    }


def encode_frontier(frontier: Any) -> dict[str, Any]:
    """Return a frontier as plain values."""
    points = [
        {
            "size": point.size,
            "rules": point.rules.to_dict(),
            "measures": {
                name: [*map(storage.encode_number, each[:2]), each.n] for name, each in point.measures.items()
            },
            "support": storage.encode_number(point.support),
        }
        for point in frontier
    ]
    return {"chosen": frontier.chosen, "n_folds": frontier.n_folds, "points": points}


def decode_frontier(content: Mapping[str, Any]) -> Any:
    """Return the frontier that `encode_frontier` described."""
    from fuzzymil.learn.choose.frontier import MEASURES, Frontier, FrontierPoint, Measure  # loads scikit-learn

    points = []
    rules = RuleBase.from_dict(content["points"][0]["rules"])
    for each in content["points"]:
        found = RuleBase.from_dict(each["rules"])
        check(found.feature_names == rules.feature_names, "the features of the frontier")
        check(len(found.outputs) == len(rules.outputs), "the outputs of the frontier")
        measures = {
            str(name): Measure(storage.decode_number(mean), storage.decode_number(std), int(n))
            for name, (mean, std, n) in each["measures"].items()
        }
        check(MEASURES.keys() >= measures.keys(), "the measures of the frontier")
        points.append(FrontierPoint.of(int(each["size"]), found, measures, storage.decode_number(each["support"])))
    sizes, chosen, n_folds = [point.size for point in points], int(content["chosen"]), int(content["n_folds"])
    check(sizes == sorted(set(sizes)) and 0 <= chosen < len(points) and n_folds >= 0, "the frontier")
    return Frontier(tuple(points), chosen, n_folds)


def load_model(path: storage.Path_) -> Any:
    """Read a fitted estimator that ``model.save(path)`` wrote.

    Parameters whose values are not plain data (an optax transformation) are not in the file and get their defaults,
    and so do ``checkpoint`` and ``callbacks`` of `Training`. Training can resume from a loaded network
    (``warm_start``, `partial_fit`) with a new optimizer state.

    Raises
    ------
    ModelFileError
        If the file is damaged, not a model, or from a newer version.

    Examples
    --------
    >>> import tempfile, os
    >>> from fuzzymil import MIANFISClassifier
    >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
    >>> model = MIANFISClassifier(2, random_state=0).fit(bags, [0, 1, 0, 1])
    >>> path = os.path.join(tempfile.mkdtemp(), "model.json")
    >>> model.save(path)
    >>> (load_model(path).predict(bags) == model.predict(bags)).all()
    np.True_
    """
    return model_from_dict(storage.read_document(path, {FORMAT: FORMAT_VERSION}), name=f"{path!s}")


def model_from_dict(document: Mapping[str, Any], *, name: str = "The model") -> Any:
    """Return the estimator that `model_to_dict` described, or raise `ModelFileError`.

    ``name`` is what error messages call the document.
    """
    return decoded(lambda: _rebuilt(document, name), name)


def _rebuilt(document: Mapping[str, Any], name: str) -> Any:
    import_modules("fuzzymil.estimators", private=True)  # each registers its classes
    known = document["estimator"]
    kind = _LOADABLE.get(known) if isinstance(known, str) else None
    if kind is None:
        raise ModelFileError(f"{name} contains a {reprlib.repr(known)}, which this version does not support.")
    model = kind(**_decode_settings(document["settings"], kind))
    model._check_settings()
    model.n_features_in_, names = decode_features(document)
    if names is not None:
        model.feature_names_in_ = names
    if "columns" in document:
        model.columns_ = decode_columns(document, names)
    if hasattr(kind, "concludes_sets"):  # an expert system
        _restore_expert(model, document)
    else:
        _restore_learned(model, document)
    decode_conformity(model, document)
    return model


def _restore_learned(model: Any, document: Mapping[str, Any]) -> None:
    """Set the learned rules, and the state of a network, from which training can resume."""
    saved = SavedModel(document, classifies=hasattr(model, "class_weight"))
    members, n_features, n_outputs = saved.members_, saved.n_features_in_, len(saved.rules_.outputs)
    if hasattr(model, "class_weight"):
        model.classes_, model.pos_label_ = saved.classes_, saved.pos_label_
    model.coverage_ = saved.coverage_
    if not hasattr(model, "training"):
        model._set_rules(members, edited=document.get("edited") is True)
        model.frontier_ = decode_frontier(document["frontier"])
        return
    initial = RuleBase.from_dict(document["initial"])
    if hasattr(model, "class_weight"):
        model.calibration_ = saved.calibration_
    history = _decode_history(document["history"])
    scaling = _decode_scaling(document["scaling"], n_features, n_outputs)
    keep_prob = None if document["keep_prob"] is None else storage.decode_number(document["keep_prob"])
    check(keep_prob is None or 0 < keep_prob <= 1, "the probability of Rule Dropout")
    model._restore(members, initial, history, scaling, int(document["n_epochs"]), keep_prob, saved.loss)


def _restore_expert(model: Any, document: Mapping[str, Any]) -> None:
    """Set the rules and classes of an expert system."""
    rules = RuleBase.from_dict(document["rules"])
    check(rules.concludes_sets == model.concludes_sets, "the conclusions of the rules")
    names = getattr(model, "feature_names_in_", None)
    known = len(rules.feature_names) == model.n_features_in_ if names is None else {*rules.feature_names} <= {*names}
    check(known, "the feature names of the rules")
    classes = None
    if model.threshold is not None:
        classes = decode_labels(document["classes"])
        n_outputs = len(rules.outputs)
        check(classes.shape == (2 if n_outputs == 1 else n_outputs,), "the number of classes")
    model._set_fitted(rules, classes, decode_positive(document))
    if "history" in document:
        model.initial_rules_ = RuleBase.from_dict(document["initial"])
        check(model.initial_rules_.n_rules == rules.n_rules, "the number of rules before training")
        model.history_ = _decode_history(document["history"])
        model.active_bounds_ = [
            ActiveBound(str(where), str(what), storage.decode_number(value), str(bound))
            for where, what, value, bound in document["active_bounds"]
        ]


def _decode_scaling(content: Mapping[str, Any], n_features: int, n_outputs: int) -> Scaling:
    values = {name: np.asarray(content[name], float) for name in _SCALING}
    shapes = {"ranges": (n_features, 2), "target_shift": (n_outputs,), "target_scale": (n_outputs,)}
    for name, array in values.items():
        shape = shapes.get(name, (n_features,))
        check(array.shape in (shape, (1,)) if name.startswith("target") else array.shape == shape, name)
        check(bool(np.isfinite(array).all()) and (not name.endswith("scale") or bool((array > 0).all())), name)
    values["varies"] = values["varies"] > 0
    return Scaling(**values, limited=bool(content["limited"]))


def _encode_setting(value: Any) -> Any:
    value = _plain(value)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"number": storage.encode_number(value)}
    for name, kind in _OPTIONS.items():
        if isinstance(value, kind):
            fields = {key: _encode_setting(each) for key, each in value.changed().items() if key not in _NEVER_SAVED}
            return {name: {key: each for key, each in fields.items() if not _is_lost(each)}}
    for name, (known, encode, _) in _VALUES.items():
        if isinstance(value, known):
            return {name: encode(value)}
    if isinstance(value, np.ndarray) or _is_matrix(value):
        return {"array": np.asarray(value).tolist()}
    if isinstance(value, tuple) and any(isinstance(part, np.ndarray) or _is_matrix(part) for part in value):
        return {"arrays": [np.asarray(part).tolist() for part in value]}
    if type(value) in (dict, list, tuple):
        inner = [_encode_setting(item) for item in (value.values() if isinstance(value, dict) else value)]
        if not any(map(_is_lost, inner)):
            if isinstance(value, dict):
                inner = [[_plain(key), item] for key, item in zip(value, inner, strict=True)]
            return {type(value).__name__: inner}
    return {"not_saved": f"{value!r:.200}"}


def _is_lost(encoded: Any) -> bool:
    return isinstance(encoded, dict) and "not_saved" in encoded


def _is_matrix(value: Any) -> bool:
    """Return whether a list holds rows of numbers."""
    rows = isinstance(value, list) and all(isinstance(row, list | tuple | np.ndarray) for row in value)
    return rows and np.ndim(value) == 2


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _decode_settings(settings: Mapping[str, Any], kind: type) -> dict[str, Any]:
    known = inspect.signature(kind).parameters
    decoded = {}
    for name, value in settings.items():
        if name not in known:
            raise ModelFileError(f"The file has a parameter {name!r:.60} that {kind.__name__} does not have.")
        found = _decode_setting(value)
        if found is not _NOT_SAVED:
            decoded[name] = found
    return decoded


def _decode_setting(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "number" in value:
        return storage.decode_number(value["number"])
    for name, kind in _OPTIONS.items():
        if name in value:
            fields = {str(key): _decode_setting(each) for key, each in value[name].items()}
            for field in fields:  # a file must not say where a fit writes
                if field in _NEVER_SAVED or field not in kind.__dataclass_fields__:
                    raise ModelFileError(f"The file has a parameter {field!r:.60} that {kind.__name__} may not have.")
            return kind(**fields)
    for name, (_, _, decode) in _VALUES.items():
        if name in value:
            return decode(value[name])
    if "array" in value:
        return np.asarray(value["array"], float)
    if "arrays" in value:
        return tuple(np.asarray(part, float) for part in value["arrays"])
    if "dict" in value:
        return {key: _decode_setting(item) for key, item in value["dict"]}
    for sequence in (list, tuple):
        if sequence.__name__ in value:
            return sequence(_decode_setting(item) for item in value[sequence.__name__])
    return _NOT_SAVED


def _encode_labels(labels: Array) -> dict[str, Any]:
    kind = "object" if labels.dtype == object else labels.dtype.str
    return {"dtype": kind, "values": [_plain(label) for label in labels.tolist()]}


_CLASSIFIERS = ("RuleClassifier", "MIANFISClassifier", "ANFISClassifier")
_REGRESSORS = ("RuleRegressor", "MIANFISRegressor", "ANFISRegressor")
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)
_LABEL_TYPE = re.compile(r"object|[<>|=]?(?:b1|[iu][1248]|f[248]|(?P<text>U\d{1,9}))", re.ASCII)

T = TypeVar("T")


class SavedModel(Committee):
    """Learned rules as their file describes them: they predict and explain, but cannot be trained.

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
        decode_conformity(self, document)
        self.frontier: Mapping[str, Any] | None = document.get("frontier")  # see `decode_frontier`

    @classmethod
    def of(cls, document: Mapping[str, Any], *, name: str = "The model") -> SavedModel | None:
        """Return the model that `model_to_dict` described; None if it described something else."""
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

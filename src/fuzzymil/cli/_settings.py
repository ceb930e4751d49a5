"""Build estimators from command-line options."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError, known_name, listed
from fuzzymil.cli._console import fail, note
from fuzzymil.cli._models import read_all_rules

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

MOST_CLASSES = 20
"""Integer labels with more distinct values than this are treated as quantities."""

_WORDS = {"none": None, "null": None, "true": True, "false": False, "yes": True, "no": False}
# Not for --set: they have options of their own, fields that can be set, or none of it.
_NOT_SET = ("constraints", "init", "random_state", "run", "verbose", "warm_start")
_OPTIONS = {"init": "--init", "random_state": "--seed", "positive": "--positive"}


class Task(StrEnum):
    """What to predict."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


TaskOption = Annotated[
    Task, typer.Option(metavar="TASK", help="classification, regression, or auto: whichever suits the labels.")
]


def chosen_task(task: Task, bags: Bags, part: str = "") -> Task:
    """Return the task, inferred from the labels unless the user chose one, and report it.

    Integer labels are classes if they have at most `MOST_CLASSES` distinct values and, on average, two bags for each.

    Examples
    --------
    >>> from fuzzymil import Bags
    >>> chosen_task(Task.auto, Bags.from_list([[[1.0]], [[2.0]]], labels=[0.5, 1.25])).value
    'regression'
    """
    import numpy as np

    labels = bags.labels
    if labels is None:
        raise InputError("The data has no labels to learn from.")
    values, counts = np.unique(labels, return_counts=True)
    numeric, auto = labels.dtype.kind in "iuf", task is Task.auto
    if auto:
        many = len(values) > MOST_CLASSES or 2 * len(values) > len(labels)
        quantity = labels.dtype.kind == "f" or (numeric and many)
        task = Task.regression if quantity else Task.classification
    if task is Task.classification:
        shown = listed(f"{value} ({count} bags)" for value, count in zip(values, counts, strict=True))
        hint = " If the labels are quantities, use --task regression." if auto and numeric else ""
        note(f"Classification with {len(values)} classes{part}: {shown}.{hint}")
    elif numeric:
        hint = " If the labels are classes, use --task classification." if auto else ""
        note(f"Regression with labels from {values[0]:g} to {values[-1]:g}{part}.{hint}")
    else:
        raise InputError(f"--task regression needs numeric labels, but found {str(values[0])!r}.")
    return task


def given(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def positive_label(text: str | None, labels: Any, task: Task) -> Any:
    """Return the label that ``--positive`` names, or None.

    Examples
    --------
    >>> import numpy as np
    >>> positive_label("0", np.array([0, 1]), Task.classification)
    0
    """
    if text is None:
        return None
    if task is Task.regression:
        raise ParameterError("--positive names a class, but this is a regression: omit it.")
    known = {str(label): label for label in sorted(set(labels.tolist()))}
    known_name("class", text, known)
    return known[text]


def known_settings(task: Task = Task.classification) -> list[str]:
    """Return the names that ``--set`` accepts.

    Examples
    --------
    >>> "loss" in known_settings(), "loss" in known_settings(Task.regression)
    (True, False)
    """
    from fuzzymil.estimators import Variant
    from fuzzymil.training import Constraints

    fields = [field for kind in (_kind(task), Variant, Constraints) for field in dataclasses.fields(kind)]
    return [*(field.name for field in fields if field.name not in _NOT_SET), "precision"]


def _parsed(texts: Iterable[str], task: Task) -> dict[str, Any]:
    """Return settings written as ``name=value``, where a value is a number, true, false, none or text."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ParameterError(f"--set {text} has no value: write --set {text}=VALUE.")
        name = name.replace("-", "_")
        if name in _OPTIONS:
            raise ParameterError(f"{name} has an option of its own: use {_OPTIONS[name]} {value}.")
        known_name("setting", name, known_settings(task))
        found[name] = _read(name, value)
    return found


def _read(name: str, text: str) -> Any:
    """Return the value of a setting; some are lists, pairs or mappings."""
    parts = [part.strip() for part in text.split(",")]
    if name == "frozen":
        return parts
    if name == "conclusions" and len(parts) > 1:  # 0,1
        return tuple(map(_value, parts))
    if name == "signs" and ":" in text:  # depth:1,size:-1
        pairs = (part.rpartition(":") for part in parts)
        return {variable.strip(): _value(sign.strip()) for variable, _, sign in pairs}
    return _value(text)


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if not math.isnan(number):
            return number
    return text


def new_estimator(task: Task, options: dict[str, Any], texts: Iterable[str], init: str | None, seed: int) -> Any:
    """Return an unfitted estimator.

    Parameters
    ----------
    task : Task
    options : dict
        Parameters by name.
    texts : iterable of str
        More parameters, as ``name=value``.
    init : str, optional
        "select" to choose rules, the name of an initialization to train them from, or a file with rules or a model.
    seed : int

    Examples
    --------
    >>> model = new_estimator(Task.classification, {"n_rules": 4}, ["loss=hinge", "clip=none", "frozen=x,y"], None, 0)
    >>> model.n_rules, model.loss, model.variant, model.frozen
    (4, 'hinge', Variant(clip=None), ['x', 'y'])
    >>> new_estimator(Task.regression, {}, ["ordered=yes", "conclusions=0,1"], None, 0).constraints.conclusions
    (0.0, 1.0)
    """
    from fuzzymil.estimators import RunOptions, Variant
    from fuzzymil.training import Constraints

    found = options | _parsed(texts, task)
    limits = {field.name: found.pop(field.name) for field in dataclasses.fields(Constraints) if field.name in found}
    if limits:
        found["constraints"] = Constraints(**limits)
    details = {field.name: found.pop(field.name) for field in dataclasses.fields(Variant) if field.name in found}
    if details:
        found["variant"] = dataclasses.replace(Variant.of(found.get("variant", "standard")), **details)
    if "precision" in found:
        found["run"] = RunOptions(precision=found.pop("precision"))
    estimator = _kind(task)(**found, random_state=seed)
    if init is not None:
        estimator.set_params(init=_start(init))
    return estimator


def _kind(task: Task) -> Any:
    from fuzzymil.estimators import MIANFISClassifier, MIANFISRegressor

    return MIANFISRegressor if task is Task.regression else MIANFISClassifier


def _start(init: str) -> Any:
    from fuzzymil.rules import RuleBase

    path = Path(init)
    if not (path.suffix or path.exists()):
        return init
    rules = read_all_rules(path)[0]
    if not isinstance(rules, RuleBase):
        fail(  # not an error whose parameters would be written as options: this is Python
            f"{init} holds Mamdani rules; --init needs rules with numeric conclusions. "
            f"Train Mamdani rules in Python: MIMamdani(rules=read_rules({init!r}), max_epochs=100).fit(bags)."
        )
    return rules

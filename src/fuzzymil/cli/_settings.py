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
from fuzzymil.cli._console import note
from fuzzymil.cli._inputs import read_all_rules

if TYPE_CHECKING:
    from fuzzymil.bags import Bags
    from fuzzymil.rules import RuleBase

MOST_CLASSES = 20
"""Integer labels with more distinct values than this are treated as quantities."""

_WORDS = {"none": None, "null": None, "true": True, "false": False, "yes": True, "no": False}
# Not for --set: they have options of their own, fields that can be set, or none of it; or --init has them.
_NOT_SET = ("constraints", "init", "random_state", "run", "verbose", "warm_start")
_OF_FILE = ("inputs", "n_rules", "outputs", "rules")
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


def known_settings(task: Task = Task.classification, *, mamdani: bool = False) -> list[str]:
    """Return the names that ``--set`` accepts, for Mamdani rules or for all others.

    Examples
    --------
    >>> "loss" in known_settings(), "loss" in known_settings(Task.regression)
    (True, False)
    >>> "defuzzify" in known_settings(), "defuzzify" in known_settings(mamdani=True)
    (False, True)
    """
    from fuzzymil.estimators import MIMamdani, Variant
    from fuzzymil.learn.train import Constraints

    kinds = (MIMamdani, Constraints) if mamdani else (_kind(task), Variant, Constraints)
    names = [field.name for kind in kinds for field in dataclasses.fields(kind) if field.name not in _NOT_SET]
    return [name for name in names if name not in _OF_FILE] if mamdani else [*names, "precision"]


def _parsed(texts: Iterable[str], known: list[str], where: str = "") -> dict[str, Any]:
    """Return settings written as ``name=value``, where a value is a number, true, false, none or text."""
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ParameterError(f"--set {text} has no value: write --set {text}=VALUE.")
        name = name.replace("-", "_")
        if name in _OPTIONS:
            raise ParameterError(f"{name} has an option of its own: use {_OPTIONS[name]} {value}.")
        known_name("setting", name, known, where)
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
        If these conclude sets, the estimator trains them. Additive rules of a classifier are a scorecard,
        whose sum is a logit, unless a loss is given.
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
    from fuzzymil.rules import RuleBase

    start = None if init is None else _start(init)
    if isinstance(start, RuleBase) and start.concludes_sets:
        return _mamdani(task, options, texts, start, seed)
    found = _with_constraints(options | _parsed(texts, known_settings(task)))
    details = {field.name: found.pop(field.name) for field in dataclasses.fields(Variant) if field.name in found}
    if details:
        found["variant"] = dataclasses.replace(Variant.of(found.get("variant", "standard")), **details)
    if "precision" in found:
        found["run"] = RunOptions(precision=found.pop("precision"))
    if isinstance(start, RuleBase) and not start.normalize and task is Task.classification and "loss" not in found:
        note(
            "The rules add up, and their sum is read as a logit: training with cross-entropy. If 0.5 "
            "divides the classes, use --set loss=squared_error."
        )
        found["loss"] = "cross_entropy"
    estimator = _kind(task)(**found, random_state=seed)
    return estimator if start is None else estimator.set_params(init=start)


def _mamdani(task: Task, options: dict[str, Any], texts: Iterable[str], rules: RuleBase, seed: int) -> Any:
    """Return an unfitted estimator that trains the sets of Mamdani rules."""
    from fuzzymil.estimators import MIANFISClassifier, MIMamdani

    known = known_settings(task, mamdani=True)
    for name in options:
        if name not in known:
            raise ParameterError(
                f"--{name.replace('_', '-')} does not apply to Mamdani rules, whose sets are trained: omit it."
            )
    found = {"max_epochs": MIANFISClassifier.max_epochs, **options, **_parsed(texts, known, "of Mamdani rules")}
    if task is Task.regression:
        found["threshold"] = None
    elif "threshold" not in found:
        found["threshold"] = _middle(rules)
    return MIMamdani(rules=rules, **_with_constraints(found), random_state=seed)


def _middle(rules: RuleBase) -> float:
    """Return the middle of the first output's range, where two classes are told apart."""
    first = rules.outputs[0]
    if first.low is None or first.high is None:
        raise ParameterError(f"The output {first.name!r} has no range, and --set threshold=NUMBER is needed.")
    middle = float(first.low + first.high) / 2
    if len(rules.outputs) == 1:
        note(
            f"The threshold between the classes is {middle:g}, the middle of the range of {first.name}; --set "
            "threshold=NUMBER changes it."
        )
    return middle


def _with_constraints(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings with those that are fields of `Constraints` as one."""
    from fuzzymil.learn.train import Constraints

    found = dict(settings)
    limits = {field.name: found.pop(field.name) for field in dataclasses.fields(Constraints) if field.name in found}
    return found | {"constraints": Constraints(**limits)} if limits else found


def _kind(task: Task) -> Any:
    from fuzzymil.estimators import MIANFISClassifier, MIANFISRegressor

    return MIANFISRegressor if task is Task.regression else MIANFISClassifier


def _start(init: str) -> Any:
    path = Path(init)
    return read_all_rules(path)[0] if path.suffix or path.exists() else init

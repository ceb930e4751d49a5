"""From options to an estimator: its kind from the labels, its settings from names and values."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import InputError, ParameterError, known_name, listed
from fuzzymil.cli._console import note
from fuzzymil.cli._inputs import read_rules_or_model

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

__all__ = ["MOST_CLASSES", "Task", "chosen_task", "given", "known_settings", "new_estimator", "parsed_settings"]

MOST_CLASSES = 20
"""Whole numbers that take more values than this are taken for quantities, not for classes."""

_WORDS = {"none": None, "null": None, "true": True, "false": False, "yes": True, "no": False}
_OURS = ("init", "random_state", "run", "variant", "verbose", "warm_start")  # set by options of their own


class Task(StrEnum):
    """What is to be predicted."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def chosen_task(task: Task, bags: Bags, which: str = "") -> Task:
    """Return the task, guessed from the labels unless the user said it, and say what it means.

    Whole numbers are classes if there are few of them: at most `MOST_CLASSES`, and two bags for each. ``which`` bags
    these are is said where they are not all.

    Examples
    --------
    >>> from fuzzymil import Bags
    >>> chosen_task(Task.auto, Bags.from_list([[[1.0]], [[2.0]]], labels=[0.5, 1.25])).value
    'regression'
    """
    import numpy as np

    labels = bags.labels
    if labels is None:
        raise InputError("There are no labels to learn from.")
    values, counts = np.unique(labels, return_counts=True)
    many = len(values) > MOST_CLASSES or 2 * len(values) > len(labels)
    found = Task.regression if labels.dtype.kind == "f" or (labels.dtype.kind in "iu" and many) else Task.classification
    if task is not Task.auto:
        found = task
    other = Task.regression if found is Task.classification else Task.classification
    hint = f" (guessed: --task {other} can say otherwise)" if task is Task.auto and labels.dtype.kind in "iuf" else ""
    if found is Task.classification:
        shown = listed(f"{value} ({count} bags)" for value, count in zip(values, counts, strict=True))
        note(f"Labels{which}: {len(values)} classes, {shown}{hint}.")
    elif labels.dtype.kind in "iuf":
        note(f"Labels: numbers from {values[0]:g} to {values[-1]:g}{hint}.")
    else:
        raise InputError(f"The label {values[0]!s} is no number: only --task classification goes with such labels.")
    return found


def given(**options: Any) -> dict[str, Any]:
    """Return the options that the user gave."""
    return {name: value for name, value in options.items() if value is not None}


def known_settings(task: Task = Task.classification) -> list[str]:
    """Return the names that ``--set`` takes.

    Examples
    --------
    >>> "loss" in known_settings(), "loss" in known_settings(Task.regression)
    (True, False)
    """
    from fuzzymil.estimators import Variant

    fields = (*dataclasses.fields(_kind(task)), *dataclasses.fields(Variant))
    return [field.name for field in fields if field.name not in _OURS]


def parsed_settings(texts: Iterable[str], task: Task) -> dict[str, Any]:
    """Return settings written as ``name=value``; values are numbers, true, false, none, or words.

    Examples
    --------
    >>> parsed_settings(["loss=hinge", "clip=none", "batch_size=8", "frozen=rule 1,hue"], Task.classification)
    {'loss': 'hinge', 'clip': None, 'batch_size': 8, 'frozen': ['rule 1', 'hue']}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ParameterError(f"--set {text} has no value: write --set {text}=VALUE.")
        name = name.replace("-", "_")
        known_name("setting", name, known_settings(task))
        found[name] = [part.strip() for part in value.split(",")] if name == "frozen" else _value(value)
    return found


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
    """Return an estimator that is not fitted yet.

    Parameters
    ----------
    task : Task
    options : dict
        Settings by name.
    texts : iterable of str
        Further ones as ``name=value``.
    init : str, optional
        Name of a partition, or a file of rules (or of a model, whose rules are meant).
    seed : int
    """
    from fuzzymil.estimators import Variant

    found = {**options, **parsed_settings(texts, task)}
    details = {field.name: found.pop(field.name) for field in dataclasses.fields(Variant) if field.name in found}
    if details:
        found["variant"] = Variant(**details)
    estimator = _kind(task)(**found, random_state=seed)
    if init is not None:
        estimator.set_params(init=_start(init))
    estimator._check_settings()
    return estimator


def _kind(task: Task) -> Any:
    from fuzzymil.estimators import MIANFISClassifier, MIANFISRegressor

    return MIANFISRegressor if task is Task.regression else MIANFISClassifier


def _start(init: str) -> Any:
    from fuzzymil.rules import RuleBase

    path = Path(init)
    if not (path.suffix or path.exists()):
        return init
    found = read_rules_or_model(path)
    rules = getattr(found, "rules_", found)
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"{init} holds Mamdani rules, whose conclusions are sets: training needs numbers there.")
    return rules

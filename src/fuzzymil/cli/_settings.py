"""Build estimators from command-line options."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils.errors import InputError, ParameterError, known_name, listed
from fuzzymil._utils.text import quantity
from fuzzymil.cli._console import note
from fuzzymil.cli._inputs import read_all_rules
from fuzzymil.cli._options import option

if TYPE_CHECKING:
    from fuzzymil.bags import Bags
    from fuzzymil.rules import RuleBase

_WORDS = {"none": None, "null": None, "true": True, "false": False, "yes": True, "no": False}
# Not for --set: they have options of their own or fields that can be set; or they are of no use here.
_NOT_SET = {"callbacks", "checkpoint", "constraints", "inputs", "operators", "outputs", "rules", "training", "verbose"}
_NOT_SET |= {"warm_start"}
_OPTIONS = {"init": "--init", "random_state": "--seed", "pos_label": "--pos-label", "max_rules": "--n-rules"}


class Method(StrEnum):
    """How rules are learned."""

    rules = "rules"
    mi_anfis = "mi-anfis"
    anfis = "anfis"
    mamdani = "mamdani"


class Task(StrEnum):
    """What to predict."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


TaskOption = Annotated[Task, option("TASK", "classification, regression, or auto: whichever suits the labels.")]


def infer_task(task: Task, bags: Bags, part: str = "") -> Task:
    """Return the task, inferred from the labels unless the user chose one, and report it."""
    import numpy as np

    from fuzzymil.estimators.inputs import holds_classes

    labels = bags.labels
    if labels is None:
        raise InputError("The data has no labels to learn from.")
    values, counts = np.unique(labels, return_counts=True)
    numeric, auto = labels.dtype.kind in "iuf", task is Task.auto
    if auto:
        task = Task.classification if holds_classes(labels) else Task.regression
    if task is Task.classification:
        shown = listed(f"{value} ({quantity(count, 'bag')})" for value, count in zip(values, counts, strict=True))
        hint = " If the labels are quantities, use --task regression." if auto and numeric else ""
        if len(values) == 1:
            raise InputError(
                f"All {len(labels)} bags{part} belong to one class, {values[0]}: rules need bags of another class to "
                "compare with. Check --label, or add such bags."
            )
        note(f"Classification with {len(values)} classes{part}: {shown}.{hint}")
        _note_doubts(bags, np.zeros((bags.n_bags, 0)), np.searchsorted(values, labels))
    elif numeric:
        hint = " If the labels are classes, use --task classification." if auto else ""
        note(f"Regression with labels from {values[0]:g} to {values[-1]:g}{part}.{hint}")
        _note_doubts(bags, labels[:, None].astype(float))
    else:
        raise InputError(
            f"--task regression needs numeric labels, but found {str(values[0])!r}: use --task classification."
        )
    return task


def _note_doubts(bags: Bags, targets: Any, groups: Any = None) -> None:
    """Say which features give the label away, and which have a single value; ``groups``: the classes of bags."""
    import numpy as np

    from fuzzymil.learn.choose import leaks

    if bags.is_large_sparse:
        return
    for sentence in leaks(bags, targets, groups, classes=groups is not None):
        note(f"Warning: {sentence}")
    single = (bags.instances[:1] == bags.instances).all(axis=0) & (bags.n_instances > 1)
    if single.any():
        note(f"No rule can use {listed(np.array(bags.names)[single])}: the same value everywhere.")


def setting_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a setting."""
    known = dict.fromkeys(name for method in Method for name in known_settings(method))
    return (f"{name}=" for name in known if name.startswith(incomplete))


def _model(help: str, metavar: str = "NUMBER", panel: str = "Model", **settings: Any) -> Any:
    return option(metavar, help, panel=panel, show_default=False, **settings)


def _training(help: str, metavar: str = "NUMBER", **settings: Any) -> Any:
    return _model(help, metavar, "Training (--method mi-anfis, anfis or mamdani)", **settings)


@dataclasses.dataclass(frozen=True)
class Learner:
    """The options that choose a learner and its parameters."""

    method: Annotated[
        Method,
        _model(
            "rules (default) chooses short additive rules from many candidates; mi-anfis trains the network of the "
            "paper; anfis the same for bags of one instance; mamdani learns or trains rules that conclude fuzzy sets.",
            "METHOD",
        ),
    ] = Method.rules
    pos_label: Annotated[
        str | None,
        _model(
            "Of two classes, the positive one (default: the one that the output of --init rules is named after, "
            "otherwise the last in sorted order).",
            "CLASS",
        ),
    ] = None
    n_rules: Annotated[
        int | None,
        _model("Maximum number of rules to choose (default: 150), or number of rules to train (default: 10)."),
    ] = None
    max_conditions: Annotated[
        int | None, _model("Maximum number of conditions in a rule (chosen rules have at most 3).")
    ] = None
    n_estimators: Annotated[int | None, _model("Number of rule bases to average (default: 1).")] = None
    settings: Annotated[
        list[str] | None,
        option(
            "NAME=VALUE",
            "Any other parameter of the estimator, such as loss=cross_entropy (repeatable).",
            "--set",
            autocompletion=setting_names,
            panel="Model",
        ),
    ] = None
    alpha: Annotated[
        float | None,
        _training("Softmax sharpness over the instances of a bag: 0 is the mean, inf the maximum (default: 1)."),
    ] = None
    order: Annotated[
        int | None, _training("Conclusions: 0 for constants (default), 1 for linear functions of the features.")
    ] = None
    n_init: Annotated[int | None, _training("Number of initializations; the best is kept (default: 1).")] = None
    max_epochs: Annotated[int | None, _training("Maximum number of training epochs (default: 150).", min=1)] = None
    learning_rate: Annotated[float | None, _training("Learning rate (default: 0.03; Mamdani rules: 0.05).")] = None
    init: Annotated[
        str | None,
        _training(
            "Where the rules start: kmeans (default), fcm, random, grid or search; for mamdani clusters or select; or "
            "a file of rules to train (.rules, .txt, .json, .fll, .fis, .fcl, .fml).",
            "METHOD|FILE",
        ),
    ] = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that were given, by the names of their options."""
        apart = ("method", "pos_label", "settings", "init")
        found = {name: value for name, value in vars(self).items() if name not in apart}
        return {name: value for name, value in found.items() if value is not None}

    def estimator(self, task: Task, labels: Any, seed: int) -> Any:
        """Return an unfitted estimator for labels."""
        meant = positive_label(self.pos_label, labels, task)
        options = self.parameters | ({} if meant is None else {"pos_label": meant})
        return new_estimator(self.method, task, options, self.settings or (), self.init, seed)


def positive_label(text: str | None, labels: Any, task: Task) -> Any:
    """Return the label that ``--pos-label`` names, or None."""
    if text is None:
        return None
    if task is Task.regression:
        raise ParameterError("--pos-label names a class, but this is a regression: omit it.")
    known = {str(label): label for label in sorted(set(labels.tolist()))}
    known_name("class", text, known)
    return known[text]


def estimator_class(method: Method, task: Task) -> Any:
    """Return the class of estimators for a method and a task."""
    from fuzzymil import estimators

    if method is Method.mamdani:
        return estimators.MIMamdani
    family = {Method.rules: "Rule", Method.mi_anfis: "MIANFIS", Method.anfis: "ANFIS"}[method]
    return getattr(estimators, family + ("Regressor" if task is Task.regression else "Classifier"))


def known_settings(method: Method = Method.rules, task: Task = Task.classification) -> list[str]:
    """Return the names that ``--set`` accepts for a method."""
    kinds, more = [estimator_class(method, task)], []
    if method in (Method.mi_anfis, Method.anfis):
        from fuzzymil.estimators import Operators, Training

        kinds += [Operators, Training]
    if method is Method.mamdani:
        from fuzzymil.estimators.experts import OPERATORS

        more = [*OPERATORS]
    if method is not Method.rules:
        from fuzzymil.learn.train import Constraints

        kinds.append(Constraints)
    return [field.name for kind in kinds for field in dataclasses.fields(kind) if field.name not in _NOT_SET] + more


def _parse(texts: Iterable[str], known: list[str], where: str = "") -> dict[str, Any]:
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
        with contextlib.suppress(ValueError):
            number = kind(text)
            return text if number != number else number
    return text


def new_estimator(
    method: Method, task: Task, options: dict[str, Any], texts: Iterable[str], init: str | None, seed: int
) -> Any:
    """Return an unfitted estimator.

    ``options``: parameters by the names of options. ``texts``: more parameters, as ``name=value``. ``init``: the name
    of an initialization, or a file with rules or a model to train.
    """
    known = known_settings(method, task)
    found = dict(options)
    if method is Method.rules and "n_rules" in found:
        found["max_rules"] = found.pop("n_rules")
    for name in [*found, *(() if init is None else ("init",))]:
        if name not in known:
            other = " (--method mi-anfis has it)" if method is Method.rules else ""
            raise ParameterError(
                f"--{name.replace('_', '-')} does not belong to --method {method.value}{other}: omit it."
            )
    found |= _parse(texts, known, f"of --method {method.value}")
    if init is not None:
        found |= _start(method, init)
    if method is not Method.rules:
        found = _with_constraints(found)
    if method is Method.mamdani:
        found = _for_mamdani(task, found)
    elif method is not Method.rules:
        from fuzzymil.estimators import network_parameters

        found = network_parameters(**found)
    return estimator_class(method, task)(**found, random_state=seed)


def _start(method: Method, init: str) -> dict[str, Any]:
    """Return the parameter that says where rules start: the name of a way, or the rules in a file."""
    path = Path(init)
    if not (path.suffix or path.exists()):
        return {"init": init}
    rules = read_all_rules(path)[0]
    if rules.concludes_sets != (method is Method.mamdani):
        what, other = ("sets", Method.mamdani) if rules.concludes_sets else ("numbers", Method.mi_anfis)
        raise ParameterError(f"The rules in {init} conclude {what}: use --method {other.value}.")
    return {"rules" if method is Method.mamdani else "init": rules}


def _for_mamdani(task: Task, settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings of Mamdani rules, which are trained if they are given."""
    from fuzzymil.estimators import Training
    from fuzzymil.estimators.experts import OPERATORS

    operators = {name: settings.pop(name) for name in OPERATORS if name in settings}
    settings |= {"operators": operators} if operators else {}
    rules = settings.get("rules")
    if rules is not None and "n_rules" in settings:
        raise ParameterError("--n-rules cannot apply to rules that are given with --init: omit it.")
    found = settings if rules is None else {"max_epochs": Training.max_epochs} | settings
    if task is Task.regression:
        return found | {"threshold": None}
    return found if rules is None or "threshold" in found else found | {"threshold": _middle(rules)}


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

"""The constructor parameters of the network estimators, with `Variant` and `RunOptions`, which hold the rarer ones."""

from __future__ import annotations

import dataclasses
import functools
import numbers
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, known_name, listed
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import typical_values
from fuzzymil.estimators.inputs import MISSING
from fuzzymil.estimators.parameters import Check, check_parameters, choice, either, flag, instance, integer, names, real
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.membership import learnable_families
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.constraints import Constraints
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.optimizers import OPTIMIZERS
from fuzzymil.rules import RuleBase

__all__ = ["VARIANTS", "NetworkSettings", "RunOptions", "Variant"]


class _Options:
    """Shared by both: a short repr that shows only what differs from the defaults."""

    def __repr__(self) -> str:
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        changed = [(f.name, getattr(self, f.name)) for f in fields if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in changed)})"


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Variant(_Options):
    """Details of training in which this library and the paper differ.

    Pass one to an estimator as ``variant=``. The defaults are the library's, also known as ``variant="standard"``;
    `Variant.paper` returns those of Khalifa and Frigui, also known as ``variant="paper"``.

    Parameters
    ----------
    update_rule : {"exact", "paper"}, default "exact"
        "exact" follows the gradient of the loss. "paper" uses the premise gradients as printed, which ignore how a
        rule's strength lowers the normalized strengths of the other rules.
    width_scale : {"log", "direct"}, default "log"
        Whether the optimizer updates the logarithm of each width or the width itself (the paper).
    init_outputs : {"informed", "ones"}, default "informed"
        Initial conclusions: the average target of the bags that fire a rule, or 1 (the paper).
    init_bags : {"balanced", "positive", "all"}, default "balanced"
        Which instances are partitioned to initialize a classifier's rules: those of each class in turn, each with its
        share of the rules; those of the positive bags (the paper; with more than two classes the same as "balanced");
        or all.
    rule_dropout : {"renormalize", "paper"}, default "renormalize"
        "renormalize": the rules that are kept share the strength, at least one is kept, and nothing is rescaled.
        "paper": the output of a dropped rule is 0, and all outputs are scaled at test time.
    learn_alpha : bool, default False
        Whether to train ``alpha`` and ``conclusion_alpha`` too.
    standardize : bool, default True
        Whether to train on standardized features. Rules are always reported in the units of the data.
    clip : float or None, default 3.0
        Values more than this many standard deviations from a feature's mean, or outside the range seen in training,
        are replaced by the nearest end of that range, in training and in prediction. None: not clipped.
    tol : float, default 0.0
        Stop when no parameter changed by more than this during an epoch. 0: never.

    Examples
    --------
    >>> Variant(clip=None)
    Variant(clip=None)
    >>> Variant.paper(standardize=True).update_rule
    'paper'
    >>> from fuzzymil import MIANFISClassifier
    >>> model = MIANFISClassifier(variant=Variant(learn_alpha=True))
    """

    update_rule: str = "exact"
    width_scale: str = "log"
    init_outputs: str = "informed"
    init_bags: str = "balanced"
    rule_dropout: str = "renormalize"
    learn_alpha: bool = False
    standardize: bool = True
    clip: float | None = 3.0
    tol: float = 0.0

    checks: ClassVar[Mapping[str, Check]] = {
        "update_rule": choice(("exact", "paper")),
        "width_scale": choice(("log", "direct")),
        "init_outputs": choice(("informed", "ones")),
        "init_bags": choice(("positive", "balanced", "all")),
        "rule_dropout": choice(("paper", "renormalize")),
        "learn_alpha": flag,
        "standardize": flag,
        "clip": either(None, otherwise=real(low=0.0, open_low=True)),
        "tol": real(low=0.0),
    }

    def __post_init__(self) -> None:
        check_parameters(self, self.checks)

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the variant of Khalifa and Frigui, with some changes if you like.

        Examples
        --------
        >>> Variant.paper() == VARIANTS["paper"]
        True
        """
        literal: dict[str, Any] = {
            "update_rule": "paper",
            "width_scale": "direct",
            "init_outputs": "ones",
            "init_bags": "positive",
            "rule_dropout": "paper",
            "standardize": False,
            "clip": None,
        }
        return cls(**(literal | changes))

    @classmethod
    def of(cls, value: object) -> Variant:
        """Return the variant that a ``variant=`` parameter means: itself, or the one of this name.

        Examples
        --------
        >>> Variant.of("standard")
        Variant()
        """
        if isinstance(value, Variant):
            return value
        if not isinstance(value, str):
            raise ParameterError(f"variant must be one of {', '.join(VARIANTS)} or a Variant, got {value!r:.100}.")
        known_name("variant", value, VARIANTS)
        return VARIANTS[value]


VARIANTS: dict[str, Variant] = {"standard": Variant(), "paper": Variant.paper()}
"""The variants that have a name."""


def _callables(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(map(callable, value)):
        raise ParameterError(f"{name} must be a list of callables, got {value!r:.100}.")


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class RunOptions(_Options):
    """How a fit runs; not saved with a model.

    Pass one to an estimator as ``run=``.

    Parameters
    ----------
    checkpoint : str, path or None, default None
        Folder in which training is saved every few seconds and on Ctrl-C. The same fit, started again after it was
        stopped or killed, resumes from there and ends with the same numbers. A finished fit removes its files.
    callbacks : sequence of callables, default ()
        Called after each epoch with a `fuzzymil.learn.train.Progress`. Training stops when one returns True.
    precision : {"single", "double"}, default "single"
        Floating-point precision of training. Predictions always use double precision.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> losses = []
    >>> run = RunOptions(callbacks=[lambda progress: losses.append(progress.loss)])
    >>> model = MIANFISClassifier(2, max_epochs=5, run=run, random_state=0).fit([[[0.0]], [[1.0]]], [0, 1])
    >>> len(losses)
    5
    """

    checkpoint: str | os.PathLike[str] | None = None
    callbacks: Sequence[Callable[[Any], Any]] = ()
    precision: str = "single"

    checks: ClassVar[Mapping[str, Check]] = {
        "checkpoint": either(None, otherwise=instance((str, os.PathLike), "a folder or None")),
        "callbacks": _callables,
        "precision": choice(("single", "double")),
    }

    def __post_init__(self) -> None:
        check_parameters(self, self.checks)
        if self.checkpoint == "":
            raise ParameterError("checkpoint must be a folder or None, got ''.")


def _order(name: str, value: Any) -> None:
    if value not in (0, 1):
        raise ParameterError(f"{name} must be 0 (constant conclusions) or 1 (linear conclusions), got {value!r}.")


_TYPICAL_VALUES = 10  # over which a condition on a missing value is averaged

_RULES = re.compile(r"\bif\b.*\bthen\b", re.IGNORECASE | re.DOTALL)


@functools.lru_cache(maxsize=16)
def _parsed(text: str) -> RuleBase:
    return RuleBase.parse(text)


def _init(name: str, value: Any) -> None:
    if isinstance(value, str) and _RULES.search(value):
        _parsed(value)
    elif isinstance(value, str):  # arrays and rules are checked against the data
        choice(("auto", "select", *partition.PARTITIONS, "search"))(name, value)


def _optimizer(name: str, value: Any) -> None:
    if isinstance(value, str):
        choice(OPTIMIZERS)(name, value)
    else:
        from optax import GradientTransformation

        expected = f"{', '.join(OPTIMIZERS)} or an optax.GradientTransformation"
        instance(GradientTransformation, expected)(name, value)


def _constraints(name: str, value: Any) -> None:
    Constraints.of(value)


def _variant(name: str, value: Any) -> None:
    Variant.of(value)


# Parameters that also apply to chosen rules.
_OF_ALL = frozenset(
    [
        "n_rules",
        "max_conditions",
        "init",
        "class_weight",
        "positive",
        "n_estimators",
        "missing",
        "run",
        "warm_start",
        "verbose",
        "random_state",
    ]
)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkSettings:
    """Parameters that all network estimators share; stored as given, and checked when fitting."""

    n_rules: int | None = dataclasses.field(default=None, kw_only=False)
    order: int = 0
    membership: str = "gaussian"
    t_norm: str = "product"
    normalize: bool = True
    max_conditions: int | None = None
    init: Any = "auto"
    init_width: float | None = None
    frozen: Any = ()
    constraints: Any = None
    optimizer: Any = "adam"
    learning_rate: float = 0.03
    batch_size: int | None = None
    max_epochs: int = 150
    rule_keep_prob: float | str | None = "auto"
    validation_fraction: float = 0.2
    n_iter_no_change: int | None = None
    n_init: int = 1
    n_estimators: int = 1
    missing: str = "median"
    variant: str | Variant = "standard"
    run: RunOptions | None = None
    warm_start: bool = False
    verbose: bool = False
    random_state: Any = None

    # Parameters of some subclasses only; without a type they are no fields here.
    alpha = 1.0
    conclusion_alpha = 1.0
    aggregation = "softmax"
    conclusion_aggregation = "softmax"
    loss = "squared_error"

    checks: ClassVar[Mapping[str, Check]] = {
        "n_rules": either(None, otherwise=integer(1)),
        "order": _order,
        "membership": lambda name, value: known_name(name, value, learnable_families()),
        "alpha": real(allow_infinite=True),
        "conclusion_alpha": real(allow_infinite=True),
        "t_norm": choice(T_NORMS),
        "aggregation": choice(AGGREGATIONS),
        "conclusion_aggregation": choice(COMBINERS),
        "normalize": flag,
        "max_conditions": either(None, otherwise=integer(1)),
        "init": _init,
        "init_width": either(None, otherwise=real(low=0.0, open_low=True)),
        "frozen": either(None, otherwise=names("a list of names such as 'rule 1' or 'variable.term'")),
        "constraints": _constraints,
        "loss": choice(LOSSES),
        "optimizer": _optimizer,
        "learning_rate": real(low=0.0, open_low=True),
        "batch_size": either(None, otherwise=integer(1)),
        "max_epochs": integer(0),
        "rule_keep_prob": either(None, "auto", otherwise=real(low=0.0, high=1.0, open_low=True)),
        "validation_fraction": real(low=0.0, high=1.0, open_low=True, open_high=True),
        "n_iter_no_change": either(None, otherwise=integer(1)),
        "n_init": integer(1),
        "n_estimators": integer(1),
        "missing": choice(MISSING),
        "variant": _variant,
        "run": either(None, otherwise=instance(RunOptions, "None or RunOptions(...)")),
        "warm_start": flag,
        "verbose": either(True, False, otherwise=integer(0)),
        "random_state": either(
            None, otherwise=instance((numbers.Integral, np.random.RandomState), "an integer or None")
        ),
    }

    def _check_settings(self) -> None:
        check_parameters(self, self.checks)
        if isinstance(self.init, str) and self.init == "search" and self.max_conditions is None:
            raise ParameterError(
                "init='search' looks for short rules: set max_conditions, for example max_conditions=3."
            )
        if isinstance(self.init, str) and self.init == "select":
            if not self._can_select:
                raise ParameterError(
                    "init='select' chooses rules about bags: use MIANFISClassifier or MIANFISRegressor."
                )
            if self._changed():
                raise ParameterError(
                    f"init='select' does not use {listed(self._changed())}: leave that out, or train a network instead "
                    "(init='kmeans')."
                )
        if self.missing == "condition" and not self._selects:
            raise ParameterError(
                "missing='condition' is for rules that are chosen: to train a network, use 'average' or 'median'."
            )
        if self._run.checkpoint is not None and not isinstance(self.optimizer, str):
            raise ParameterError("A checkpoint needs a named optimizer: optax transformations cannot be compared.")

    _can_select: ClassVar[bool] = False  # whether rules can be chosen from candidates: on bags

    @property
    def _selects(self) -> bool:
        """Whether rules are chosen (`fuzzymil.learn.choose`) rather than trained from a first partition.

        By default they are, unless a parameter was changed that only training has.
        """
        if isinstance(self.init, str) and self.init == "select":
            return True
        return self._can_select and isinstance(self.init, str) and self.init == "auto" and not self._changed()

    def _stand_ins(self, bags: Bags) -> Array | None:
        """Return what missing values stand for, (t, d); None: nothing."""
        count = {"average": _TYPICAL_VALUES, "condition": 1, "median": 1}.get(self.missing)
        return None if count is None else typical_values(bags, count)

    def _changed(self) -> list[str]:
        """Return the parameters of the network and its training that differ from their defaults."""
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        # Other ways to write the same: no frozen parts, and the standard variant.
        now = {name: getattr(self, name) for name in fields} | {"frozen": tuple(self.frozen or ())}
        now["constraints"] = self._constraints
        if self._variant == VARIANTS["standard"]:
            now["variant"] = "standard"
        return [name for name, default in fields.items() if name not in _OF_ALL and now[name] != default]

    @property
    def _given_rules(self) -> RuleBase | None:
        """The rules given as ``init``, as a value or as text."""
        found = _parsed(self.init) if isinstance(self.init, str) and _RULES.search(self.init) else self.init
        if not isinstance(found, RuleBase):
            return None
        if found.concludes_sets:
            raise ParameterError("init has rules that conclude sets: train them with MIMamdani(rules=...).")
        return found

    @property
    def _constraints(self) -> Constraints | None:
        return Constraints.of(self.constraints)

    @property
    def _n_rules(self) -> int:
        """The number of rules that training starts from."""
        return 10 if self.n_rules is None else self.n_rules

    @property
    def _intended_loss(self) -> str:
        """The loss of the next fit: chosen rules add up to a logit."""
        return "cross_entropy" if self._selects and hasattr(self, "class_weight") else self.loss

    @property
    def _variant(self) -> Variant:
        return Variant.of(self.variant)

    @property
    def _run(self) -> RunOptions:
        return RunOptions() if self.run is None else self.run

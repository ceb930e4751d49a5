"""The settings of the network estimators, and their checks."""

from __future__ import annotations

import dataclasses
import numbers
import os
from typing import Any

import numpy as np
import optax
from sklearn.base import BaseEstimator

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.membership import FAMILIES
from fuzzymil.network.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.network.norms import T_NORMS
from fuzzymil.training import OPTIMIZERS, partition
from fuzzymil.training.losses import LOSSES

__all__ = ["Settings", "check_integer", "check_real"]


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Settings(BaseEstimator):
    """What can be set; stored as it is given and checked when fitting."""

    n_rules: int = dataclasses.field(default=10, kw_only=False)
    order: int = 0
    membership: str = "gaussian"
    t_norm: str = "product"
    normalize: bool = True
    max_terms: int | None = None
    init: Any = "auto"
    init_width: float | None = None
    init_outputs: str = "informed"
    frozen: Any = ()
    optimizer: Any = "adam"
    learning_rate: float = 0.03
    batch_size: int | None = None
    max_epochs: int = 150
    tol: float = 0.0
    update_rule: str = "exact"
    width_scale: str = "log"
    rule_keep_prob: float | str | None = "auto"
    rule_dropout: str = "renormalize"
    early_stopping: bool = False
    validation_fraction: float = 0.2
    n_iter_no_change: int = 20
    n_init: int = 1
    n_estimators: int = 1
    standardize: bool = True
    clip: float | None = 3.0
    missing: str = "error"
    precision: str = "single"
    warm_start: bool = False
    checkpoint: Any = None
    distributed: bool = False
    callbacks: Any = None
    verbose: bool = False
    random_state: Any = None

    # Settings of some subclasses only; without a type they are no fields here.
    alpha = 1.0
    consequent_alpha = 1.0
    learn_alpha = False
    aggregation = "softmax"
    combine = "softmax"
    init_bags = "all"
    loss = "squared_error"

    def _check_settings(self) -> None:
        known_name("t_norm", self.t_norm, T_NORMS)
        known_name("aggregation", self.aggregation, AGGREGATIONS)
        known_name("combine", self.combine, COMBINERS)
        known_name("membership", self.membership, FAMILIES)
        known_name("loss", self.loss, LOSSES)
        known_name("init_bags", self.init_bags, ("positive", "balanced", "all"))
        known_name("update_rule", self.update_rule, ("exact", "paper"))
        known_name("width_scale", self.width_scale, ("log", "direct"))
        known_name("init_outputs", self.init_outputs, ("informed", "ones"))
        known_name("rule_dropout", self.rule_dropout, ("paper", "renormalize"))
        known_name("missing", self.missing, ("error", "ignore"))
        known_name("precision", self.precision, ("single", "double"))
        if isinstance(self.init, str):
            known_name("init", self.init, ("auto", *partition.PARTITIONS, "search"))
            if self.init == "search" and self.max_terms is None:
                raise ParameterError("init='search' finds short rules: say how short with max_terms, 3 say.")
        if self.checkpoint is not None:
            if not isinstance(self.checkpoint, str | os.PathLike) or not str(self.checkpoint):
                raise ParameterError(f"checkpoint must be a folder or None, got {self.checkpoint!r:.100}.")
            if not isinstance(self.optimizer, str):
                raise ParameterError(
                    "checkpoint needs an optimizer by name: two optax transformations cannot be compared."
                )
        if isinstance(self.optimizer, str):
            known_name("optimizer", self.optimizer, OPTIMIZERS)
        elif not isinstance(self.optimizer, optax.GradientTransformation):
            raise ParameterError(
                f"optimizer must be {', '.join(OPTIMIZERS)} or an optax transformation, got {self.optimizer!r}."
            )
        for name in ("normalize", "learn_alpha", "early_stopping", "standardize", "warm_start", "distributed"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(f"{name} must be True or False, got {getattr(self, name)!r}.")
        if not all(isinstance(name, str) for name in _sequence(self.frozen)):
            raise ParameterError(
                f"frozen must be a list of names such as 'rule 1' or 'variable.term', got {self.frozen!r:.100}."
            )
        if not all(map(callable, _sequence(self.callbacks))):
            raise ParameterError(f"callbacks must be a list of callables, got {self.callbacks!r:.100}.")
        check_integer("n_rules", self.n_rules, 1)
        check_integer("max_epochs", self.max_epochs, 0)
        check_integer("n_init", self.n_init, 1)
        check_integer("n_estimators", self.n_estimators, 1)
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        if self.max_terms is not None:
            check_integer("max_terms", self.max_terms, 1)
        if self.batch_size is not None:
            check_integer("batch_size", self.batch_size, 1)
        if self.order not in (0, 1):
            raise ParameterError(f"order must be 0 (constant conclusions) or 1 (linear ones), got {self.order!r}.")
        check_real("learning_rate", self.learning_rate, low=0.0, open_low=True)
        check_real("tol", self.tol, low=0.0)
        check_real("validation_fraction", self.validation_fraction, low=0.0, high=1.0, open_low=True, open_high=True)
        for name in ("alpha", "consequent_alpha"):
            check_real(name, getattr(self, name), allow_infinite=True)
        if self.clip is not None:
            check_real("clip", self.clip, low=0.0, open_low=True)
        if self.rule_keep_prob not in (None, "auto"):
            check_real("rule_keep_prob", self.rule_keep_prob, low=0.0, high=1.0, open_low=True)
        if self.init_width is not None:
            check_real("init_width", self.init_width, low=0.0, open_low=True)


def _sequence(values: Any) -> tuple[Any, ...]:
    if values is None:
        return ()
    return tuple(values) if isinstance(values, list | tuple) else (None,)


def check_integer(name: str, value: object, low: int) -> None:
    """Raise unless a setting is a whole number of at least ``low``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < low:
        raise ParameterError(f"{name} must be a whole number of at least {low}, got {value!r}.")


def check_real(
    name: str,
    value: object,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    allow_infinite: bool = False,
) -> None:
    """Raise unless a setting is a number in a range; the ends belong to it unless open."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if good:
        number = float(value)  # type: ignore[arg-type]
        good = not np.isnan(number) and (allow_infinite or np.isfinite(number))
        good = (
            good and (number > low if open_low else number >= low) and (number < high if open_high else number <= high)
        )
    if not good:
        span = f" {'above' if open_low else 'of at least'} {low:g}" if np.isfinite(low) else ""
        span += f" and {'below' if open_high else 'at most'} {high:g}" if np.isfinite(high) else ""
        raise ParameterError(f"{name} must be a number{span}, got {value!r}.")

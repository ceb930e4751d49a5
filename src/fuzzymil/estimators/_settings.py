"""The constructor parameters of the network estimators, and their checks."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import optax
from sklearn.base import BaseEstimator

from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators.options import RunOptions, Variant
from fuzzymil.estimators.parameters import (
    Check,
    check_parameters,
    choice,
    either,
    flag,
    instance,
    integer,
    names,
    real,
)
from fuzzymil.membership import FAMILIES
from fuzzymil.network.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.network.norms import T_NORMS
from fuzzymil.training import partition
from fuzzymil.training.losses import LOSSES
from fuzzymil.training.step import OPTIMIZERS

__all__ = ["NetworkSettings"]


def _order(name: str, value: Any) -> None:
    if value not in (0, 1):
        raise ParameterError(f"{name} must be 0 (constant conclusions) or 1 (linear conclusions), got {value!r}.")


def _init(name: str, value: Any) -> None:
    if isinstance(value, str):  # arrays and rules are checked against the data
        choice(("auto", *partition.PARTITIONS, "search"))(name, value)


def _optimizer(name: str, value: Any) -> None:
    if isinstance(value, str):
        choice(OPTIMIZERS)(name, value)
    else:
        expected = f"{', '.join(OPTIMIZERS)} or an optax.GradientTransformation"
        instance(optax.GradientTransformation, expected)(name, value)


def _variant(name: str, value: Any) -> None:
    Variant.of(value)


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkSettings(BaseEstimator):
    """Parameters that all network estimators share; stored as given, and checked when fitting."""

    n_rules: int = dataclasses.field(default=10, kw_only=False)
    order: int = 0
    membership: str = "gaussian"
    t_norm: str = "product"
    normalize: bool = True
    max_terms: int | None = None
    init: Any = "auto"
    init_width: float | None = None
    frozen: Any = ()
    optimizer: Any = "adam"
    learning_rate: float = 0.03
    batch_size: int | None = None
    max_epochs: int = 150
    rule_keep_prob: float | str | None = "auto"
    validation_fraction: float = 0.2
    n_iter_no_change: int | None = None
    n_init: int = 1
    n_estimators: int = 1
    missing: str = "error"
    variant: str | Variant = "standard"
    run: RunOptions | None = None
    warm_start: bool = False
    verbose: bool = False
    random_state: Any = None

    # Parameters of some subclasses only; without a type they are no fields here.
    alpha = 1.0
    consequent_alpha = 1.0
    aggregation = "softmax"
    combine = "softmax"
    loss = "squared_error"

    constraints: ClassVar[Mapping[str, Check]] = {
        "n_rules": integer(1),
        "order": _order,
        "membership": choice(FAMILIES),
        "alpha": real(allow_infinite=True),
        "consequent_alpha": real(allow_infinite=True),
        "t_norm": choice(T_NORMS),
        "aggregation": choice(AGGREGATIONS),
        "combine": choice(COMBINERS),
        "normalize": flag,
        "max_terms": either(None, otherwise=integer(1)),
        "init": _init,
        "init_width": either(None, otherwise=real(low=0.0, open_low=True)),
        "frozen": either(None, otherwise=names("a list of names such as 'rule 1' or 'variable.term'")),
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
        "missing": choice(("error", "ignore")),
        "variant": _variant,
        "run": either(None, otherwise=instance(RunOptions, "None or RunOptions(...)")),
        "warm_start": flag,
    }

    def _check_settings(self) -> None:
        check_parameters(self, self.constraints)
        if isinstance(self.init, str) and self.init == "search" and self.max_terms is None:
            raise ParameterError("init='search' looks for short rules: set max_terms, for example max_terms=3.")
        if self._run.checkpoint is not None and not isinstance(self.optimizer, str):
            raise ParameterError("A checkpoint needs a named optimizer: optax transformations cannot be compared.")

    @property
    def _variant(self) -> Variant:
        return Variant.of(self.variant)

    @property
    def _run(self) -> RunOptions:
        return RunOptions() if self.run is None else self.run

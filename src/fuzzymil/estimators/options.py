"""`Operators` and `Training`: the parameters of a network that few need to change, in two values."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any, Self

from fuzzymil._utils.errors import ParameterError, known_name
from fuzzymil.estimators.parameters import (
    above_zero,
    check_parameters,
    checked,
    choice,
    either,
    flag,
    instance,
    integer,
    real,
    share,
)
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.membership import learnable_families
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.learn.train.losses import LOSSES

_OPTIMIZERS = ("auto", "hybrid", "adam", "sgd")


class _Options:
    """Values that never change, with the parameters that scikit-learn expects and a short repr."""

    def __post_init__(self) -> None:
        check_parameters(self)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters by name."""
        del deep
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]

    def changed(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        defaults = {field.name: field.default for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in self.get_params().items() if value != defaults[name]}

    def __sklearn_clone__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.changed().items())})"


def _family(name: str, value: Any) -> None:
    known_name(name, value, learnable_families())


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Operators(_Options):
    """How a network combines conditions, instances and rules; pass it as ``operators=``.

    Parameters
    ----------
    membership : {"gaussian", "bell", "sigmoid", "triangular", "trapezoidal"}, default "gaussian"
        Family of the fuzzy sets.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}, default "product"
        Combines the conditions of a rule.
    aggregation : str, default "softmax"
        Combines the instances of a bag (Layer 3): "softmax", "softmax_relative", "softmax_log", "max", "min",
        "algebraic", "bounded", "lse" or "power".
    conclusion_aggregation : {"softmax", "mean", "max", "min"}, default "softmax"
        Combines the instances' linear responses (Layer 5, ``order=1``).
    conclusion_alpha : float, default 1.0
        Sharpness of that softmax, like ``alpha``.
    normalize : bool, default True
        Whether to divide firing strengths by their sum (Layer 4).

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> model = MIANFISClassifier(operators=Operators(t_norm="min"))
    >>> model.set_params(operators__membership="bell").operators
    Operators(membership='bell', t_norm='min')
    """

    membership: str = checked(_family, "gaussian")
    t_norm: str = checked(choice(T_NORMS), "product")
    aggregation: str = checked(choice(AGGREGATIONS), "softmax")
    conclusion_aggregation: str = checked(choice(COMBINERS), "softmax")
    conclusion_alpha: float = checked(real(allow_infinite=True), 1.0)
    normalize: bool = checked(flag, True)


def _callables(name: str, value: Any) -> None:
    if not isinstance(value, list | tuple) or not all(map(callable, value)):
        raise ParameterError(f"{name} must be a list of callables, got {value!r:.100}.")


def _folder(name: str, value: Any) -> None:
    if not isinstance(value, str | os.PathLike) or value == "":
        raise ParameterError(f"{name} must be a folder or None, got {value!r:.100}.")


def _optimizer(name: str, value: Any) -> None:
    if isinstance(value, str):
        choice(_OPTIMIZERS)(name, value)
    else:
        from optax import GradientTransformation

        expected = f"{', '.join(_OPTIMIZERS)} or an optax.GradientTransformation"
        instance(GradientTransformation, expected)(name, value)


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class Training(_Options):
    """How a network is trained; pass it as ``training=``.

    Parameters
    ----------
    max_epochs : int, default 150
        Maximum number of passes over the bags.
    learning_rate : float, default 0.03
        Learning rate, on standardized features.
    batch_size : int or None, default None
        Number of bags per step: 1 is online learning, None uses all bags at once.
    optimizer : {"auto", "hybrid", "adam", "sgd"} or optax.GradientTransformation, default "auto"
        "adam" moves sets and conclusions along the gradient. "hybrid", the learning of Jang's ANFIS, moves the sets by
        "adam" and sets the conclusions by least squares after every step, in double precision: for squared errors, full
        batches, and conclusions that are constants or about single instances. "auto" is "hybrid" for regressors where
        that is possible and there are at least two bags per parameter (with fewer, it follows the noise), otherwise
        "adam". "sgd": the plain gradient descent of the paper. An optax transformation has its own learning rate.
    loss : {"squared_error", "cross_entropy", "hinge"} or None, default None
        Loss of a classifier; `fuzzymil.learn.train.losses` defines targets, decision values and probabilities of each.
        None: "cross_entropy" for additive rules given as ``init``, whose sum is a logit, otherwise "squared_error". A
        regressor minimizes the squared error.
    n_iter_no_change : int or None, default None
        Early stopping: hold out ``validation_fraction`` of the bags, stop when their loss has not improved for this
        many epochs, and keep the best epoch. None: no early stopping.
    validation_fraction : float, default 0.2
        Fraction of the training bags to hold out for early stopping.
    n_init : int, default 1
        Number of restarts, trained at once. The one with the lowest training (or validation) loss is kept.
    rule_keep_prob : float, "auto" or None, default "auto"
        Rule Dropout: probability that a rule takes part in a training step, drawn for each bag. "auto" uses 0.7 where
        there are more parameters than bags, except for rules given as ``init``. None or 1: no dropout.
    rule_dropout : {"renormalize", "paper"}, default "renormalize"
        "renormalize": the rules that are kept share the strength, at least one is kept, and nothing is rescaled.
        "paper": the output of a dropped rule is 0, and all outputs are scaled at test time.
    update_rule : {"exact", "paper"}, default "exact"
        "exact" follows the gradient of the loss. "paper" uses the premise gradients as printed, which ignore how a
        rule's strength lowers the normalized strengths of the other rules.
    width_scale : {"log", "direct"}, default "log"
        Whether the optimizer updates the logarithm of each width or the width itself (the paper).
    learn_alpha : bool, default False
        Whether to train ``alpha`` and ``conclusion_alpha`` too.
    init_width : float or None, default None
        Initial width of the fuzzy sets, in standard deviations of each feature (in the feature's units if not
        standardized). None: proportional to the square root of the number of features.
    init_outputs : {"informed", "ones"}, default "informed"
        Initial conclusions: the average target of the bags that fire a rule, or 1 (the paper).
    init_bags : {"balanced", "positive", "all"}, default "balanced"
        Which instances are partitioned to initialize a classifier's rules: those of each class in turn, each with its
        share of the rules; those of the positive bags (the paper; with more than two classes the same as "balanced");
        or all.
    standardize : bool, default True
        Whether to train on standardized features. Rules are always reported in the units of the data.
    clip : float or None, default 3.0
        Values more than this many standard deviations from a feature's mean, or outside the range seen in training,
        are replaced by the nearest end of that range, in training and in prediction. None: not clipped.
    tol : float, default 0.0
        Stop when no parameter changed by more than this during an epoch. 0: never.
    precision : {"single", "double"}, default "single"
        Floating-point precision of training. Predictions always use double precision.
    warm_start : bool, default False
        Whether `fit` trains the current rules further.
    checkpoint : str, path or None, default None
        Folder in which training is saved every few seconds and on Ctrl-C. The same fit, started again after it was
        stopped or killed, resumes from there and ends with the same numbers. A finished fit removes its files. Not
        saved with a model.
    callbacks : sequence of callables, default ()
        Called after each epoch with a `fuzzymil.learn.train.Progress`. Training stops when one returns True. Not saved
        with a model.

    Examples
    --------
    >>> from fuzzymil import MIANFISClassifier
    >>> losses = []
    >>> training = Training(max_epochs=5, callbacks=[lambda progress: losses.append(progress.loss)])
    >>> model = MIANFISClassifier(2, training=training, random_state=0).fit([[[0.0]], [[1.0]]], [0, 1])
    >>> len(losses)
    5
    >>> model.set_params(training__max_epochs=20).training.max_epochs
    20
    """

    max_epochs: int = checked(integer(0), 150)
    learning_rate: float = checked(above_zero, 0.03)
    batch_size: int | None = checked(either(None, otherwise=integer(1)), None)
    optimizer: Any = checked(_optimizer, "auto")
    loss: str | None = checked(either(None, otherwise=choice(LOSSES)), None)
    n_iter_no_change: int | None = checked(either(None, otherwise=integer(1)), None)
    validation_fraction: float = checked(real(low=0.0, high=1.0, open_low=True, open_high=True), 0.2)
    n_init: int = checked(integer(1), 1)
    rule_keep_prob: float | str | None = checked(either(None, "auto", otherwise=share), "auto")
    rule_dropout: str = checked(choice(("paper", "renormalize")), "renormalize")
    update_rule: str = checked(choice(("exact", "paper")), "exact")
    width_scale: str = checked(choice(("log", "direct")), "log")
    learn_alpha: bool = checked(flag, False)
    init_width: float | None = checked(either(None, otherwise=above_zero), None)
    init_outputs: str = checked(choice(("informed", "ones")), "informed")
    init_bags: str = checked(choice(("positive", "balanced", "all")), "balanced")
    standardize: bool = checked(flag, True)
    clip: float | None = checked(either(None, otherwise=above_zero), 3.0)
    tol: float = checked(real(low=0.0), 0.0)
    precision: str = checked(choice(("single", "double")), "single")
    warm_start: bool = checked(flag, False)
    checkpoint: str | os.PathLike[str] | None = checked(either(None, otherwise=_folder), None)
    callbacks: Sequence[Callable[[Any], Any]] = checked(_callables, ())

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None and not isinstance(self.optimizer, str):
            raise ParameterError("A checkpoint needs a named optimizer: optax transformations cannot be compared.")
        if self.n_iter_no_change is None and self.validation_fraction != 0.2:
            raise ParameterError(
                f"validation_fraction={self.validation_fraction!r} is for early stopping: set n_iter_no_change too."
            )

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the training of Khalifa and Frigui, with some changes if you like.

        Plain gradient descent, bag by bag, on raw features, from conclusions of 1 and instances of positive bags, with
        the update rule as printed.

        Examples
        --------
        >>> Training.paper(max_epochs=300).update_rule
        'paper'
        """
        literal: dict[str, Any] = {
            "learning_rate": 0.1,
            "batch_size": 1,
            "optimizer": "sgd",
            "loss": "squared_error",
            "rule_keep_prob": None,
            "rule_dropout": "paper",
            "update_rule": "paper",
            "width_scale": "direct",
            "init_outputs": "ones",
            "init_bags": "positive",
            "standardize": False,
            "clip": None,
        }
        return cls(**(literal | changes))


def network_parameters(**settings: Any) -> dict[str, Any]:
    """Return parameters of a network, with those of `Operators` and `Training` collected in such values.

    >>> network_parameters(n_rules=3, max_epochs=5, t_norm="min")
    {'n_rules': 3, 'operators': Operators(t_norm='min'), 'training': Training(max_epochs=5)}
    """
    found = dict(settings)
    for name, kind in (("operators", Operators), ("training", Training)):
        own = {key: found.pop(key) for key in settings if key in kind.__dataclass_fields__}
        if own:
            found[name] = dataclasses.replace(found.get(name) or kind(), **own)
    return found

"""From parameters and initial rules to a training job, and from its result back to rules."""

from __future__ import annotations

import dataclasses
import functools
import numbers
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from fuzzymil._utils.arrays import Array, is_sealed
from fuzzymil._utils.errors import InputError, InterruptedTrainingWarning, ParameterError, warn_user
from fuzzymil.bags import Bags
from fuzzymil.estimators._initialization import Coding, Learned
from fuzzymil.estimators.options import NetworkSettings
from fuzzymil.explain.coverage import Coverage, used_features
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train.limits import projected, unmoved
from fuzzymil.rules import RuleBase

if TYPE_CHECKING:
    from fuzzymil.learn.train import Group, Plan, Result

_FEW_VALUES = 1 << 20  # that a fitted network may keep until it is asked for its coverage: 8 MB


@dataclasses.dataclass(frozen=True)
class Job:
    """One fit, checked and ready to train."""

    bags: Bags
    coding: Coding
    learned: Learned
    group: Group
    plan: Plan
    resumes: bool
    partial: bool = False  # on part of the data


def plan_of(settings: NetworkSettings, learned: Learned) -> Plan:
    """Return the training plan that the parameters describe."""
    from fuzzymil.learn.train import Plan  # which loads JAX

    variant = settings._variant
    return Plan(
        dataclasses.replace(learned.operators, update_rule=variant.update_rule),
        loss=learned.loss,
        optimizer=settings.optimizer,
        batch_size=settings.batch_size,
        keep_prob=learned.keep_prob,
        renormalize=variant.rule_dropout == "renormalize",
        width_scale=variant.width_scale,
        learn_alpha=bool(variant.learn_alpha),
        validate=settings.n_iter_no_change is not None,
    )


def training_weights(settings: NetworkSettings, n_fits: int, coding: Coding, rng: Any) -> tuple[Array, Array | None]:
    """Return the weights of bags in training, and in validation if there is any; (n_fits, n_bags) each."""
    weights = np.tile(coding.weights, (n_fits, 1))
    if settings.n_iter_no_change is None:
        return weights, None
    # From its own generator: a warm start must hold out the same bags again.
    fixed = isinstance(settings.random_state, numbers.Integral)
    rng = check_random_state(settings.random_state) if fixed else rng
    held = np.zeros(len(coding.groups), bool)
    for group in np.unique(coding.groups):  # the same fraction of every class
        members = rng.permutation(np.flatnonzero(coding.groups == group))
        held[members[: round(settings.validation_fraction * len(members))]] = True
    held_out, weights = weights * held, weights * ~held
    if not (weights.any() and held_out.any()):
        raise ParameterError("n_iter_no_change leaves no bags to train or to validate on: use more bags.")
    return weights, held_out


def group_of(
    learned: Learned, bags: Bags, coding: Coding, weights: Array, held_out: Array | None, rng: Any, precision: str
) -> Group:
    """Return the data of a training job, on standardized axes."""
    from fuzzymil.learn.train import Group

    axes = learned.scaling
    dtype = np.float64 if precision == "double" else np.float32
    return Group(
        starts=learned.params,
        masks=learned.masks,
        bags=pack(bags.instances, bags.offsets, dtype, -axes.shift / axes.scale, axes.apply),
        targets=axes.apply_to_targets(coding.targets),
        weights=weights,
        seeds=[int(seed) for seed in rng.randint(2**31 - 1, size=len(learned.params))],
        held_out=held_out,
        first_epoch=learned.n_epochs,
        optimizer_state=learned.optimizer_state,
        limits=learned.limits,
    )


def best_of(learned: Learned, result: Result) -> tuple[Learned, list[int]]:
    """Keep the restart with the least loss of each member; members that did not diverge first, the best first."""
    import jax

    loss = result.loss if result.validation_loss is None else result.validation_loss
    loss = np.where(result.diverged | ~np.isfinite(loss), np.inf, loss)
    runs = learned.n_runs
    best = [m * runs + int(np.argmin(loss[m * runs : (m + 1) * runs])) for m in range(len(loss) // runs)]
    best.sort(key=lambda f: loss[f])
    kept = dataclasses.replace(
        learned,
        params=[result.params[f] for f in best],
        masks=[learned.masks[f] for f in best],
        n_runs=1,
        n_epochs=learned.n_epochs + int(result.n_epochs.max(initial=0)),
        optimizer_state=jax.tree.map(lambda values: np.asarray(values)[best], result.optimizer_state),
    )
    return kept, best


def dropout_factor(settings: NetworkSettings, keep_prob: float | None) -> float:
    """Return the scale of all rule outputs at test time in the paper's Rule Dropout."""
    return 1.0 if keep_prob is None or settings._variant.rule_dropout != "paper" else keep_prob


def rule_base(settings: NetworkSettings, learned: Learned, place: int, *, trained: bool) -> Callable[[], RuleBase]:
    """Return a function that makes the rules of one fit, in the units of the data, with the dropout factor applied."""
    params = learned.params[place]
    if trained:
        p = dropout_factor(settings, learned.keep_prob)
        params = params._replace(coefs=p * params.coefs, conclusion_alpha=params.conclusion_alpha / p)
    operators = learned.operators
    params = learned.scaling.outward(params, additive=not operators.normalize)
    if learned.box is not None:  # without the rounding errors of single precision
        params = projected(params, learned.box, snap=1e-6)
    default = learned.default if operators.normalize else tuple(params.default)
    alphas = {name: _number_or_tuple(getattr(params, name)) for name in ("alpha", "conclusion_alpha")}
    if learned.template is not None:
        from fuzzymil.learn.train.pruning import with_conditions

        start = with_conditions(learned.template, learned.masks[place])
        chosen: dict[str, Any] = {
            "aggregation": operators.aggregation,
            "conclusion_aggregation": operators.conclusion_aggregation,
        }
        moved = start.with_numbers(params, default=default, **chosen, **alphas)
        return functools.partial(unmoved, learned.template, moved, settings.frozen or ())
    return functools.partial(
        RuleBase.from_sets,
        params.sets,
        learned.masks[place],
        np.asarray(params.coefs),
        feature_names=learned.feature_names,
        output_names=learned.outputs,
        ranges=learned.scaling.ranges,
        t_norm=operators.t_norm,
        aggregation=operators.aggregation,
        conclusion_aggregation=operators.conclusion_aggregation,
        normalize=operators.normalize,
        default=default,
        limited=learned.scaling.limited,
        missing_values=params.missing_values,
        **alphas,
    )


def features_in(learned: Learned, members: Sequence[Callable[[], RuleBase]]) -> list[int]:
    """Return the features that the members use in their conditions or conclusions, in order.

    ``members`` are what `rule_base` returned; they are only made where the arrays do not tell.
    """
    if learned.template is not None:
        return used_features(make() for make in members)
    used = np.zeros(next(iter(learned.masks[0].values())).shape[1], bool)
    for params, masks in zip(learned.params, learned.masks, strict=True):
        used |= np.any([np.any(mask > 0, axis=0) for mask in masks.values()], axis=0)
        slopes = np.asarray(params.coefs)[:, :, 1:]
        if slopes.shape[2]:
            used |= (slopes != 0).any(axis=(0, 1))
    return np.flatnonzero(used).tolist()


def coverage_of(bags: Bags, columns: list[int]) -> Coverage | Callable[[], Coverage]:
    """Return the coverage of training bags; of few, a function that makes it from bags that nobody can change."""
    if bags.n_instances * bags.n_features > _FEW_VALUES:
        return Coverage.of(bags, columns)
    ours = bags.sparse is None and is_sealed(bags.instances)
    return functools.partial(Coverage.of, bags if ours else bags[:], columns)


def warn_interrupted(results: Iterable[Result]) -> None:
    """Warn if Ctrl-C ended training early."""
    epochs = [int(result.n_epochs.max()) for result in results if result.interrupted]
    if epochs:
        warn_stopped(max(epochs))


def warn_stopped(n_epochs: int) -> None:
    """Warn that Ctrl-C ended training after so many epochs."""
    warn_user(
        f"Training was interrupted (Ctrl-C) after {n_epochs} epoch(s): the model keeps what it has learned so far. "
        "Press Ctrl-C twice to stop the program.",
        InterruptedTrainingWarning,
    )


def _number_or_tuple(values: Any) -> float | tuple[float, ...]:
    return tuple(np.asarray(values, float)) if np.ndim(values) else float(values)


def checked_weights(sample_weight: Any, bags: Bags) -> Array:
    """Return one weight per bag, none negative and not all zero."""
    if sample_weight is None:
        return np.ones(bags.n_bags)
    weights = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)), ensure_non_negative=True)
    weights = np.asarray(weights, float)
    if not weights.any():
        raise InputError("All sample weights are zero: at least one bag must count.")
    return weights

"""Where rules are initialized: the first rules of every restart of every member, before training."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.estimators.base import EncodedLabels, Overview
from fuzzymil.estimators.inputs import warn_if_worse_than_chance
from fuzzymil.inference.activations import infer
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.inference.membership import FAMILIES
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.limits import Bounds, Limits, box_of, limits_of
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.learn.train.search import short_rules
from fuzzymil.rules import RuleBase
from fuzzymil.rules.compile import finite_operators, with_missing_values

if TYPE_CHECKING:
    from fuzzymil.estimators.mianfis import Network


@dataclasses.dataclass(kw_only=True)
class TrainingState:
    """The state from which training can resume: parameters on standardized axes, and the optimizer's memory."""

    params: list[Params]
    masks: list[Masks]  # the terms in use, parallel to `params`
    operators: Operators
    scaling: Scaling
    outputs: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    default: tuple[float, ...]
    loss: str
    keep_prob: float | None = None  # of Rule Dropout
    structure: dict[str, Any] = dataclasses.field(default_factory=dict)  # parameters that shaped these rules
    n_runs: int = 1  # restarts of each member, next to each other in `params`
    n_epochs: int = 0
    optimizer_state: Any = None
    remembers: Any = None  # the plan and precision that the optimizer's memory belongs to
    template: RuleBase | None = None  # rules given as init: their terms keep their names and stay shared
    limits: Limits | None = None
    box: Bounds | None = None  # of the limits, in the units of the data


def initial_state(
    model: Network, bags: Bags, labels: EncodedLabels, scaling: Scaling, rng: Any, overview: Overview
) -> TrainingState:
    """Return initial rules, one set for each restart of each member, based on the bags in memory."""
    if (given := model._given_rules) is not None:
        return _from_rules(model, given, bags, labels, scaling, len(overview.targets))
    for name, value in (("frozen", model.frozen), ("constraints", model._constraints)):
        if value:
            raise ParameterError(f"{name} refers to rules and terms of a rule base: pass one as init, or omit {name}.")
    if bags.columns is not None and bags.columns.categorical.any():
        name = bags.columns.names[int(np.argmax(bags.columns.categorical))]
        raise InputError(
            f"Feature {name!r} has categories, which a network cannot be trained on from scratch: choose rules "
            "(RuleClassifier, RuleRegressor), give rules as init, drop the column, or pass bags.with_indicators()."
        )
    _require_memory(model, bags, overview.targets.shape[1])
    mean = np.average(overview.targets, axis=0, weights=overview.weights)
    n_fits = model._training.n_init * model.n_estimators
    seeds = [np.random.RandomState(seed) for seed in rng.randint(2**31 - 1, size=n_fits)]
    targets = (labels.targets - scaling.target_shift) / scaling.target_scale
    operators, alpha, conclusion_alpha = finite_operators(
        model._operators.aggregation,
        float(model.alpha),
        model._operators.conclusion_aggregation,
        float(model._operators.conclusion_alpha),
    )
    operators = dataclasses.replace(
        operators, t_norm=model._operators.t_norm, normalize=bool(model._operators.normalize)
    )
    alphas = np.asarray(alpha), np.asarray(conclusion_alpha)
    scaled = bags.map_instances(scaling.apply)
    stand_ins = model._stand_ins(bags)
    gaps = None if stand_ins is None else scaling.apply(stand_ins)
    first = LOSSES[model._intended_loss].start((mean - scaling.target_shift) / scaling.target_scale)
    starts, all_masks = [], []
    for centers, widths, used in _first_rules(model, bags, scaled, scaling, labels, seeds):
        if len(centers) == 1 and model.order == 0 and model._operators.normalize:
            raise ParameterError(
                "A single rule with a constant conclusion gives every bag the same output: use n_rules=2 or more, "
                "or order=1."
            )
        sets = tuple(np.asarray(v, float) for v in FAMILIES[model._operators.membership].around(centers, widths))
        blank = Params(
            {model._operators.membership: sets}, np.zeros((len(centers), targets.shape[1], 1)), *alphas, first, gaps
        )
        masks = {model._operators.membership: used.astype(float)}
        coefs = _first_coefs(model, blank, masks, operators, scaled, targets, labels.weights)
        starts.append(blank._replace(coefs=coefs))
        all_masks.append(masks)
    return TrainingState(
        params=starts,
        masks=all_masks,
        operators=operators,
        scaling=scaling,
        outputs=labels.outputs,
        feature_names=bags.feature_names,
        default=tuple(LOSSES[model._intended_loss].start(mean)),
        loss=model._intended_loss,
        keep_prob=keep_prob(model, starts[0], all_masks[0], len(overview.targets)),
        structure=structure(model),
        n_runs=model._training.n_init,
    )


def _require_memory(model: Network, bags: Bags, n_outputs: int) -> None:
    """Raise if training would need more memory than there is, before it begins."""
    n_rules, n_fits = model.n_rules, model._training.n_init * model.n_estimators
    n_coefs = 1 + bags.n_features * model.order
    # Parameters, their gradients, two moments, the best so far, and copies in between, in 32 bit.
    parameters = 4 * 8 * n_fits * n_rules * (2 * bags.n_features + n_outputs * n_coefs)
    # Truths of instances, and responses of rules to bags (of first order, to instances), with their gradients.
    share = 1.0 if model._training.batch_size is None else min(1.0, model._training.batch_size / bags.n_bags)
    responses = (bags.n_instances if model.order else bags.n_bags) * n_rules * n_outputs
    activations = 4 * 3 * n_fits * share * (bags.n_instances * n_rules + responses)
    lack = memory.shortage(parameters + activations)
    if lack is not None:
        often = f", fitted {n_fits:,} times," if n_fits > 1 else ""
        raise ParameterError(
            f"{n_rules:,} rules on {bags.n_bags:,} bags with {bags.n_features:,} features and {n_outputs:,} "
            f"output{'' if n_outputs == 1 else 's'}{often} are too many to train: {lack}; use fewer rules (n_rules) or "
            "classes, or a smaller batch_size."
        )


def structure(model: Network) -> dict[str, Any]:
    """Return the parameters that cannot change when training resumes."""
    own = {name: getattr(model, name) for name in ("n_rules", "order", "alpha", "n_estimators")}
    return own | model._operators.get_params() | {"loss": model._intended_loss}


def keep_prob(model: Network, start: Params, masks: Masks, n_bags: int, *, given: bool = False) -> float | None:
    """Return the keep probability of Rule Dropout; "auto" uses it where parameters outnumber the bags.

    "auto" never drops given or chosen rules: these few complement each other.
    """
    if model._training.rule_keep_prob == "auto":
        n_numbers = np.size(start.coefs) + sum(len(start.sets[kind]) * used.sum() for kind, used in masks.items())
        return 0.7 if n_numbers > n_bags and not given else None
    return None if model._training.rule_keep_prob in (None, 1) else float(model._training.rule_keep_prob)


# ---------------------------------------------------------------------- fuzzy sets


def _first_rules(
    model: Network,
    bags: Bags,
    scaled: Bags,
    scaling: Scaling,
    labels: EncodedLabels,
    seeds: list[np.random.RandomState],
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield for each fit centers, widths and the terms in use, (r, d) each, in scaled units."""
    how = model.init if isinstance(model.init, str) else "given"
    if how != "search":
        for seed in seeds:
            groups = labels.groups if labels.positive else 1 - labels.groups  # the second group is the positive one
            centers, widths = _first_sets(model, bags, scaled, scaling, groups, seed)
            yield centers, widths, np.broadcast_to(scaling.varies, centers.shape)
        return
    n_rules = model.n_rules
    for place, seed in enumerate(seeds):
        # Fits that train together have as many rules as the first search found useful.
        found = short_rules(
            scaled.instances,
            bags.offsets,
            labels.targets,
            labels.weights,
            n_rules=n_rules,
            max_conditions=int(model.max_conditions or 1),
            rng=seed,
            exactly=place > 0,
        )
        n_rules = len(found.centers)
        yield found


def _first_sets(
    model: Network,
    bags: Bags,
    scaled: Bags,
    scaling: Scaling,
    groups: Array,
    rng: np.random.RandomState,
) -> tuple[Array, Array]:
    """Return centers and widths, (r, d) each, in scaled units."""
    n_used = max(int(scaling.varies.sum()), 1)
    width = partition.default_width(n_used) if model._training.init_width is None else float(model._training.init_width)
    init = model.init
    if isinstance(init, str):
        found = _partitioned(model, _filled(scaled.instances), np.repeat(groups, bags.sizes), rng)
        return found, np.full_like(found, width)
    given = init if isinstance(init, tuple) and len(init) == 2 else (init, None)
    centers = _matrix(given[0])
    if centers is None or centers.shape[1] != bags.n_features:
        raise ParameterError(
            f"init must be {', '.join(map(repr, partition.PARTITIONS))}, a RuleBase, an array of centers of shape "
            f"(n_rules, {bags.n_features}), or a pair (centers, widths); got {init!r:.100}."
        )
    if model.n_rules not in (10, len(centers)):
        raise ParameterError(f"n_rules={model.n_rules}, but init has {len(centers)} centers: leave n_rules out.")
    if given[1] is None:
        return scaling.apply(centers), np.full_like(centers, width)
    widths = _matrix(given[1], centers.shape)
    if widths is None or (widths <= 0).any():
        raise ParameterError(
            f"The widths in init must be a number or an array of shape {centers.shape}, finite and greater than 0; "
            f"got {given[1]!r:.100}."
        )
    return scaling.apply(centers), widths / scaling.scale


def _partitioned(model: Network, instances: Array, groups: Array, rng: np.random.RandomState) -> Array:
    """Return centers from the instances of the classes that ``init_bags`` selects.

    Group 1 is the positive class; with more classes (or a regression) every group counts.
    """
    method = model.init
    n_rules, which = model.n_rules, model._training.init_bags
    present = np.unique(groups)
    if which == "positive" and len(present) == 2:
        chosen = instances.take(np.flatnonzero(groups == present[1]), axis=0)  # faster than by a mask
        enough = partition.n_distinct(chosen, n_rules) >= n_rules
        return partition.centers_by(method, chosen if enough else instances, n_rules, rng)
    if which == "all" or len(present) == 1 or n_rules < len(present):
        return partition.centers_by(method, instances, n_rules, rng)
    shares = np.full(len(present), n_rules // len(present))
    shares[::-1][: n_rules % len(present)] += 1  # the later classes, so the positive one of two
    parts = []
    for group, share in zip(present, shares, strict=True):
        chosen = instances.take(np.flatnonzero(groups == group), axis=0)
        if partition.n_distinct(chosen, int(share)) < share:
            return partition.centers_by(method, instances, n_rules, rng)
        parts.append(partition.centers_by(method, chosen, int(share), rng))
    return np.concatenate(parts)


def _filled(instances: Array) -> Array:
    """Replace missing values by the feature's mean (0 where a feature is always missing)."""
    known = ~np.isnan(instances)
    if known.all():
        return instances
    mean = np.where(known, instances, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, instances, mean)


def _matrix(values: Any, shape: tuple[int, ...] | None = None) -> Array | None:
    """Return finite numbers in two dimensions (broadcast to a shape), or None if they are not."""
    try:
        array = np.asarray(values, float)
        array = array if shape is None else np.broadcast_to(array, shape)
    except (TypeError, ValueError):
        return None
    return array if array.ndim == 2 and len(array) and np.isfinite(array).all() else None


# ---------------------------------------------------------------------- conclusions


def _first_coefs(
    model: Network,
    start: Params,
    masks: Masks,
    operators: Operators,
    scaled: Bags,
    targets: Array,
    weights: Array,
) -> Array:
    """Return initial conclusions, (r, k, 1 or 1 + d): ones, as in the paper, or the average target of a rule's bags."""
    n_rules, n_outputs = start.coefs.shape[:2]
    constants = np.ones((n_rules, n_outputs))
    if model._training.init_outputs == "informed":
        strengths = infer(start, masks, operators, scaled).normalized * weights[:, None]
        total = strengths.sum(axis=0)[:, None]
        mean = np.average(targets, axis=0, weights=weights)
        # A rule that no bag fires starts at the overall mean.
        constants = np.where(total > 0, strengths.T @ targets / np.where(total > 0, total, 1.0), mean)
        constants = LOSSES[model._intended_loss].start(constants)
        if not operators.normalize:
            constants = constants - start.default
    slopes = np.zeros((n_rules, n_outputs, scaled.n_features if model.order == 1 else 0))
    return np.concatenate([constants[:, :, None], slopes], axis=2)


# ---------------------------------------------------------------------- given rules


def _from_rules(
    model: Network, given: RuleBase, bags: Bags, labels: EncodedLabels, scaling: Scaling, n_bags: int
) -> TrainingState:
    """Start every fit from given rules: an expert's, or those of another model.

    Their ranges are kept: a few bags need not cover what an expert knows about.
    """
    if bags.feature_names is not None:
        given = given.over(bags.feature_names)
    if given.n_features == bags.n_features:  # otherwise an error follows
        given = with_missing_values(given, model._stand_ins(bags))
    params, masks, operators = given.compile()
    longest = max(len(rule.conditions) for rule in given.rules)
    plain = operators.premises is None and operators.parts is None
    if not plain and model.max_conditions is not None and longest > model.max_conditions:
        raise ParameterError(
            f"max_conditions={model.max_conditions} can only shorten plain conjunctions, but a rule given as init has "
            f"OR, NOT, hedges or quantifiers and {longest} conditions: shorten it by hand, or omit max_conditions."
        )
    scaling = scaling.limited_as(given)
    expected = _expected_shape(model, params, masks, bags, labels.targets)
    start = scaling.inward(expected, additive=not given.normalize)
    if labels.classes is not None and len(labels.classes) == 2:
        positive, other = labels.classes[labels.positive], labels.classes[1 - labels.positive]
        warn_if_worse_than_chance(given.infer(bags).output[:, 0], labels.groups == labels.positive, positive, other)
    n_fits = model._training.n_init * model.n_estimators
    return TrainingState(
        params=[start] * n_fits,
        masks=[masks] * n_fits,
        operators=operators,
        scaling=scaling,
        outputs=given.output_names,
        feature_names=bags.feature_names,
        default=given.default,
        loss=model._intended_loss,
        keep_prob=keep_prob(model, start, masks, n_bags, given=True),
        structure=structure(model),
        n_runs=model._training.n_init,
        template=given,
        **limits_on(model, given, expected.coefs.shape[2], scaling),
    )


def limits_on(model: Network, rules: RuleBase, n_coefs: int, scaling: Scaling) -> dict[str, Any]:
    """Return what training must respect, on its axes and in the units of the data.

    Bounds refer to the rules given as ``init``, also when training resumes from others.
    """
    frozen, constraints, given = model.frozen or (), model._constraints, model._given_rules
    if constraints is None or given is None:
        return {"limits": limits_of(rules, frozen), "box": None}
    given = given.over(rules.feature_names)
    said = [rule.concluding(start.coefs) for rule, start in zip(rules.rules, given.rules, strict=True)]
    first = dataclasses.replace(rules, variables=given.variables, rules=tuple(said), default=given.default)
    start = first.compile()[0]
    more = np.zeros((*start.coefs.shape[:2], n_coefs - start.coefs.shape[2]))
    start = start._replace(coefs=np.concatenate([start.coefs, more], axis=2))
    return {
        "limits": limits_of(first, frozen, constraints, start, scaling),
        "box": box_of(first, frozen, constraints, start, scaling),
    }


def _expected_shape(model: Network, params: Params, masks: Masks, bags: Bags, targets: Array) -> Params:
    n_outputs, n_coefs = params.coefs.shape[1:]
    n_features = next(iter(masks.values())).shape[1]
    if n_features != bags.n_features or n_outputs != targets.shape[1]:
        raise ParameterError(
            f"The rules given as init have {n_features} variables and {n_outputs} output(s); "
            f"this data needs {bags.n_features} and {targets.shape[1]}."
        )
    if n_coefs == 1 and model.order == 1:
        extra = np.zeros((len(params.coefs), n_outputs, n_features))
        return params._replace(coefs=np.concatenate([params.coefs, extra], axis=2))
    return params

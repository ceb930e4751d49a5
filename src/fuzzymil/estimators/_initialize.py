"""Where learning starts: the first rules of every restart of every member."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, warn_user
from fuzzymil.bags import Bags
from fuzzymil.estimators.parameters import Settings
from fuzzymil.membership import FAMILIES
from fuzzymil.network.inference import infer
from fuzzymil.network.layers import Masks, Operators, Params
from fuzzymil.rules import RuleBase
from fuzzymil.rules.compile import finite_operators
from fuzzymil.training import Group, Limits, Plan, partition
from fuzzymil.training.limits import limits_of
from fuzzymil.training.losses import LOSSES
from fuzzymil.training.scaling import Measures, Scaling
from fuzzymil.training.search import short_rules

__all__ = ["Coding", "Job", "Learned", "Overview", "Starting"]


@dataclasses.dataclass
class Learned:
    """What training can go on from: standardized parameters and the optimizer's memory."""

    params: list[Params]
    masks: list[Masks]  # the terms in use, parallel to `params`
    operators: Operators
    scaling: Scaling
    outputs: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    default: tuple[float, ...]
    keep_prob: float | None = None  # of Rule Dropout
    structure: dict[str, Any] = dataclasses.field(default_factory=dict)  # settings that shaped these rules
    n_runs: int = 1  # restarts of each member, next to each other in `params`
    n_epochs: int = 0
    optimizer_state: Any = None
    remembers: Any = None  # the plan and precision that the optimizer's memory belongs to
    template: RuleBase | None = None  # rules that somebody wrote: their terms keep their names and stay shared
    limits: Limits | None = None


@dataclasses.dataclass(frozen=True)
class Coding:
    """What the bags' labels mean to the network."""

    targets: Array  # (b, k)
    groups: Array  # (b,), number of each bag's class; all 0 in a regression
    outputs: tuple[str, ...]
    weights: Array  # (b,)
    classes: Array | None = None

    def only(self, places: Array) -> Coding:
        """Return what some of the bags' labels mean."""
        taken = {name: getattr(self, name)[places] for name in ("targets", "groups", "weights")}
        return dataclasses.replace(self, **taken)


@dataclasses.dataclass(frozen=True)
class Overview:
    """What the first rules have to know of all bags, also of those that are not at hand."""

    measures: Measures
    targets: Array  # (b, k)
    weights: Array  # (b,)


@dataclasses.dataclass(frozen=True)
class Job:
    """One fit, checked and ready to train."""

    bags: Bags
    coding: Coding
    learned: Learned
    group: Group
    plan: Plan
    going_on: bool
    partial: bool = False  # on part of the data


class Starting(Settings):
    """Proposes rules."""

    def _start(self, bags: Bags, coding: Coding, rng: Any, overview: Overview) -> Learned:
        """Propose rules from bags at hand, one set of them for each restart of each member."""
        targets, weights = coding.targets, coding.weights
        scaling = self._scaling(overview.measures, overview.targets)
        if isinstance(self.init, RuleBase):
            return self._start_from_rules(self.init, bags, coding, scaling, len(overview.targets))
        if self.frozen:
            raise ParameterError("frozen names rules and terms of a rule base: give one as init, or leave frozen out.")
        mean = np.average(overview.targets, axis=0, weights=overview.weights)
        default = tuple(LOSSES[self.loss].start(mean))
        seeds = [np.random.RandomState(seed) for seed in rng.randint(2**31 - 1, size=self.n_init * self.n_estimators)]
        targets = (targets - scaling.target_shift) / scaling.target_scale
        operators, alpha, consequent_alpha = finite_operators(
            self.aggregation, float(self.alpha), self.combine, float(self.consequent_alpha)
        )
        operators = dataclasses.replace(operators, t_norm=self.t_norm, normalize=bool(self.normalize))

        alphas = np.asarray(alpha), np.asarray(consequent_alpha)
        scaled = bags.map_instances(scaling.apply)
        starts, all_masks = [], []
        for centers, widths, used in self._first_rules(bags, scaled, scaling, coding, seeds):
            if len(centers) == 1 and self.order == 0 and self.normalize:
                raise ParameterError(
                    "One rule with a constant conclusion always answers the same: use n_rules=2 or more, or order=1."
                )
            sets = tuple(np.asarray(v, float) for v in FAMILIES[self.membership].around(centers, widths))
            blank = Params({self.membership: sets}, np.zeros((len(centers), targets.shape[1], 1)), *alphas)
            masks = {self.membership: used.astype(float)}
            starts.append(self._with_outputs(blank, masks, operators, scaled, targets, weights))
            all_masks.append(masks)
        return Learned(
            params=starts,
            masks=all_masks,
            operators=operators,
            scaling=scaling,
            outputs=coding.outputs,
            feature_names=bags.feature_names,
            default=default,
            keep_prob=self._keep_prob(starts[0], all_masks[0], len(overview.targets)),
            structure=self._structure(),
            n_runs=self.n_init,
        )

    def _first_rules(
        self, bags: Bags, scaled: Bags, scaling: Scaling, coding: Coding, seeds: list[np.random.RandomState]
    ) -> Iterator[tuple[Array, Array, Array]]:
        """Give for each fit centers, widths and the terms in use, (r, d) each, in scaled units."""
        how = self.init if isinstance(self.init, str) else "given"
        if how != "search" and not (how == "auto" and self.max_terms is not None):
            for seed in seeds:
                centers, widths = self._first_sets(bags, scaled, scaling, coding.groups, seed)
                yield centers, widths, np.broadcast_to(scaling.varies, centers.shape)
            return
        n_rules = self.n_rules
        for place, seed in enumerate(seeds):
            # Fits that train together have as many rules as the first one found worth while.
            found = short_rules(
                scaled.instances,
                bags.offsets,
                coding.targets,
                coding.weights,
                n_rules=n_rules,
                max_terms=int(self.max_terms or 1),
                rng=seed,
                exactly=place > 0,
            )
            n_rules = len(found.centers)
            yield found

    def _start_from_rules(self, given: RuleBase, bags: Bags, coding: Coding, scaling: Scaling, n_bags: int) -> Learned:
        """Start every fit from the rules of an expert, or of another model.

        What they say of values outside the variables' ranges holds here too: 10 bags need not have seen what an
        expert knows of.
        """
        if bags.feature_names is not None:
            given = given.over(bags.feature_names)
        self._warn_of_unused(given)
        params, masks, operators = given.compile()
        lengths = [len(rule.conditions) for rule in given.rules]
        if operators.premises is not None and self.max_terms is not None and max(lengths) > self.max_terms:
            raise ParameterError(
                f"max_terms={self.max_terms} shortens plain conjunctions, but a rule given as init has OR, NOT or "
                f"hedges and {max(lengths)} conditions: shorten it by hand, or leave max_terms out."
            )
        scaling = scaling.limited_as(given)
        start = scaling.inward(self._expected_shape(params, bags, coding.targets))
        n_fits = self.n_init * self.n_estimators
        return Learned(
            params=[start] * n_fits,
            masks=[masks] * n_fits,
            operators=operators,
            scaling=scaling,
            outputs=given.outputs,
            feature_names=bags.feature_names,
            default=given.default,
            keep_prob=self._keep_prob(start, masks, n_bags),
            structure=self._structure(),
            n_runs=self.n_init,
            template=given,
            limits=limits_of(given, self.frozen),
        )

    def _warn_of_unused(self, given: RuleBase) -> None:
        """Say which settings the given rules overrule: operators are part of a rule base."""
        usual = {field.name: field.default for field in dataclasses.fields(self)}
        names = ["t_norm", "normalize"]
        for alpha, operator in (("alpha", "aggregation"), ("consequent_alpha", "combine")):
            # An infinite alpha stands for another operator, by which the rules may tell it.
            names += [alpha, operator] if np.isfinite(getattr(self, alpha)) else []
        for name in names:
            value = getattr(self, name)
            if name in usual and value not in (usual[name], getattr(given, name)):
                warn_user(
                    f"{name}={value!r} is not used: the rules given as init bring their own. Leave it out, or change "
                    "the rules (dataclasses.replace, edit)."
                )

    def _structure(self) -> dict[str, Any]:
        """Return the settings that cannot change while training goes on."""
        names = ("n_rules", "order", "membership", "alpha", "consequent_alpha", "t_norm", "aggregation", "combine")
        return {name: getattr(self, name) for name in (*names, "normalize", "n_estimators", "loss")}

    def _keep_prob(self, start: Params, masks: Masks, n_bags: int) -> float | None:
        """Rule Dropout as set; left to us, only where the numbers to learn outnumber the bags.

        Never on given rules: an expert's few rules each say something that the others do not.
        """
        if self.rule_keep_prob == "auto" and isinstance(self.init, RuleBase):
            return None
        if self.rule_keep_prob == "auto":
            n_numbers = np.size(start.coefs) + sum(len(start.sets[kind]) * used.sum() for kind, used in masks.items())
            return 0.7 if n_numbers > n_bags else None
        return None if self.rule_keep_prob in (None, 1) else float(self.rule_keep_prob)

    def _scaling(self, measures: Measures, targets: Array) -> Scaling:
        return Scaling.fit(measures, standardize=bool(self.standardize), clip=self.clip)

    def _expected_shape(self, params: Params, bags: Bags, targets: Array) -> Params:
        n_outputs, n_coefs = params.coefs.shape[1:]
        n_features = next(iter(params.sets.values()))[0].shape[1]
        if n_features != bags.n_features or n_outputs != targets.shape[1]:
            raise ParameterError(
                f"The rules given as init have {n_features} variables and {n_outputs} output(s); "
                f"this data needs {bags.n_features} and {targets.shape[1]}."
            )
        if n_coefs == 1 and self.order == 1:
            extra = np.zeros((len(params.coefs), n_outputs, n_features))
            return params._replace(coefs=np.concatenate([params.coefs, extra], axis=2))
        return params

    def _first_sets(
        self, bags: Bags, scaled: Bags, scaling: Scaling, groups: Array, rng: np.random.RandomState
    ) -> tuple[Array, Array]:
        """Centers and widths (r, d) in scaled units."""
        n_used = max(int(scaling.varies.sum()), 1)
        width = partition.default_width(n_used) if self.init_width is None else float(self.init_width)
        if isinstance(self.init, str):
            owners = np.repeat(groups, bags.sizes)
            found = self._partitioned(_filled(scaled.instances), owners, rng)
            return found, np.full_like(found, width)
        given = self.init if isinstance(self.init, tuple) and len(self.init) == 2 else (self.init, None)
        centers = _matrix(given[0])
        if centers is None or centers.shape[1] != bags.n_features:
            raise ParameterError(
                f"init must be {', '.join(map(repr, partition.PARTITIONS))}, a RuleBase, an array of centers of shape "
                f"(n_rules, {bags.n_features}), or a pair (centers, widths); got {self.init!r:.100}."
            )
        if given[1] is None:
            return scaling.apply(centers), np.full_like(centers, width)
        widths = _matrix(given[1], centers.shape)
        if widths is None or (widths <= 0).any():
            raise ParameterError(
                f"The widths given in init must be one number or of shape {centers.shape}, finite and greater than 0; "
                f"got {given[1]!r:.100}."
            )
        return scaling.apply(centers), widths / scaling.scale

    def _partitioned(self, instances: Array, groups: Array, rng: np.random.RandomState) -> Array:
        """Centers from the instances of the groups that ``init_bags`` asks for.

        Group 1 is the positive class; with more classes (or a regression) every group counts.
        """
        method = "kmeans" if self.init == "auto" else self.init
        present = np.unique(groups)
        if self.init_bags == "positive" and len(present) == 2:
            chosen = instances[groups == present[1]]
            enough = partition.n_distinct(chosen, self.n_rules) >= self.n_rules
            return partition.centers_by(method, chosen if enough else instances, self.n_rules, rng)
        if self.init_bags == "all" or len(present) == 1 or self.n_rules < len(present):
            return partition.centers_by(method, instances, self.n_rules, rng)
        shares = np.full(len(present), self.n_rules // len(present))
        shares[::-1][: self.n_rules % len(present)] += 1  # the later classes, so the positive one of two
        parts = []
        for group, share in zip(present, shares, strict=True):
            chosen = instances[groups == group]
            if partition.n_distinct(chosen, int(share)) < share:
                return partition.centers_by(method, instances, self.n_rules, rng)
            parts.append(partition.centers_by(method, chosen, int(share), rng))
        return np.concatenate(parts)

    def _with_outputs(
        self, start: Params, masks: Masks, operators: Operators, scaled: Bags, targets: Array, weights: Array
    ) -> Params:
        """First conclusions: ones, as the paper has it, or what the bags that fire a rule say on average."""
        n_rules, n_outputs = start.coefs.shape[:2]
        constants = np.ones((n_rules, n_outputs))
        if self.init_outputs == "informed":
            strengths = infer(start, masks, operators, scaled).normalized * weights[:, None]
            total = strengths.sum(axis=0)[:, None]
            mean = np.average(targets, axis=0, weights=weights)
            # A rule that no bag fires starts at the mean of all.
            constants = np.where(total > 0, strengths.T @ targets / np.where(total > 0, total, 1.0), mean)
            constants = LOSSES[self.loss].start(constants)
        slopes = np.zeros((n_rules, n_outputs, scaled.n_features if self.order == 1 else 0))
        return start._replace(coefs=np.concatenate([constants[:, :, None], slopes], axis=2))


def _filled(instances: Array) -> Array:
    """Put the feature's mean in place of missing values (0 where a feature is never known)."""
    known = ~np.isnan(instances)
    mean = np.where(known, instances, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, instances, mean)


def _matrix(values: Any, shape: tuple[int, ...] | None = None) -> Array | None:
    """Return finite numbers in two dimensions (of this shape, by repetition), or None if they are not."""
    try:
        array = np.asarray(values, float)
        array = array if shape is None else np.broadcast_to(array, shape)
    except (TypeError, ValueError):
        return None
    return array if array.ndim == 2 and len(array) and np.isfinite(array).all() else None

"""What MI-ANFIS classifiers and regressors share: starting rules, training them, reading them back."""

from __future__ import annotations

import dataclasses
import numbers
import warnings
from typing import Any

import jax
import numpy as np
import optax
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil import partition
from fuzzymil.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.epochs import OPTIMIZERS, Plan
from fuzzymil.errors import InputError, ParameterError
from fuzzymil.estimators.features import compare_features, complete_bags, record_features
from fuzzymil.estimators.persistence import save_model
from fuzzymil.estimators.progress import progress_bar
from fuzzymil.estimators.scaling import Scaling
from fuzzymil.grouping import pack
from fuzzymil.inference import infer
from fuzzymil.losses import LOSSES
from fuzzymil.membership import FAMILIES
from fuzzymil.network import Masks, Operators, Params
from fuzzymil.norms import COMBINERS, T_CONORMS, T_NORMS
from fuzzymil.rules import RuleBase, finite_operators, known_name
from fuzzymil.training import Result, train

__all__ = ["Learned", "Network", "checked_weights"]


@dataclasses.dataclass
class Learned:
    """What training can go on from: standardised parameters and the optimiser's memory."""

    params: list[Params]
    masks: Masks
    operators: Operators
    scaling: Scaling
    outputs: tuple[str, ...]
    feature_names: tuple[str, ...] | None
    default: tuple[float, ...]
    n_runs: int = 1  # restarts of each member, next to each other in `params`
    n_epochs: int = 0
    optimizer_state: Any = None


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Network(BaseEstimator):
    """Base of all estimators that train the network: settings as dataclass fields, stored as they are."""

    n_rules: int = dataclasses.field(default=6, kw_only=False)
    order: int = 0
    membership: str = "gaussian"
    t_norm: str = "product"
    normalise: bool = True
    init: Any = "fcm"
    init_width: float | None = None
    init_outputs: str = "informed"
    optimizer: Any = "adam"
    learning_rate: float = 0.03
    batch_size: int | None = None
    max_epochs: int = 200
    tol: float = 0.0
    update_rule: str = "exact"
    width_scale: str = "log"
    rule_keep_prob: float | None = None
    rule_dropout: str = "paper"
    early_stopping: bool = False
    validation_fraction: float = 0.2
    patience: int = 20
    n_restarts: int = 1
    n_members: int = 1
    standardize: bool = True
    missing: str = "error"
    precision: str = "single"
    warm_start: bool = False
    callbacks: Any = None
    verbose: bool = False
    random_state: Any = None

    # Settings of some subclasses only; without a type they are no fields here.
    alpha = 1.0
    consequent_alpha = 1.0
    learn_alpha = False
    t_conorm = "softmax"
    combine = "softmax"
    init_bags = "all"
    loss = "squared"

    # ------------------------------------------------------------------ settings

    def _check_settings(self) -> None:
        known_name("t_norm", self.t_norm, T_NORMS)
        known_name("t_conorm", self.t_conorm, T_CONORMS)
        known_name("combine", self.combine, COMBINERS)
        known_name("membership", self.membership, FAMILIES)
        known_name("loss", self.loss, LOSSES)
        known_name("init_bags", self.init_bags, ("positive", "balanced", "all"))
        known_name("update_rule", self.update_rule, ("exact", "paper"))
        known_name("width_scale", self.width_scale, ("log", "direct"))
        known_name("init_outputs", self.init_outputs, ("informed", "ones"))
        known_name("rule_dropout", self.rule_dropout, ("paper", "renormalise"))
        known_name("missing", self.missing, ("error", "ignore"))
        known_name("precision", self.precision, ("single", "double"))
        if isinstance(self.init, str):
            known_name("init", self.init, partition.PARTITIONS)
        if isinstance(self.optimizer, str):
            known_name("optimizer", self.optimizer, OPTIMIZERS)
        elif not isinstance(self.optimizer, optax.GradientTransformation):
            raise ParameterError(
                f"optimizer must be {', '.join(OPTIMIZERS)} or an optax transformation, got {self.optimizer!r}."
            )
        _integer("n_rules", self.n_rules, 1)
        _integer("max_epochs", self.max_epochs, 0)
        _integer("n_restarts", self.n_restarts, 1)
        _integer("n_members", self.n_members, 1)
        _integer("patience", self.patience, 1)
        if self.batch_size is not None:
            _integer("batch_size", self.batch_size, 1)
        if self.order not in (0, 1):
            raise ParameterError(f"order must be 0 (constant conclusions) or 1 (linear ones), got {self.order!r}.")
        _real("learning_rate", self.learning_rate, low=0.0, open_low=True)
        _real("tol", self.tol, low=0.0)
        _real("validation_fraction", self.validation_fraction, low=0.0, high=1.0, open_low=True, open_high=True)
        for name in ("alpha", "consequent_alpha"):
            _real(name, getattr(self, name), allow_infinite=True)
        if self.rule_keep_prob is not None:
            _real("rule_keep_prob", self.rule_keep_prob, low=0.0, high=1.0, open_low=True)
        if self.init_width is not None:
            _real("init_width", self.init_width, low=0.0, open_low=True)

    # ------------------------------------------------------------------ learning

    def _plan(self, operators: Operators) -> Plan:
        return Plan(
            dataclasses.replace(operators, update_rule=self.update_rule),
            loss=self.loss,
            optimizer=self.optimizer,
            batch_size=self.batch_size,
            keep_prob=None if self.rule_keep_prob in (None, 1) else float(self.rule_keep_prob),
            renormalise=self.rule_dropout == "renormalise",
            width_scale=self.width_scale,
            learn_alpha=bool(self.learn_alpha),
            validate=bool(self.early_stopping),
        )

    def _start(
        self, bags: Bags, targets: Array, groups: Array, outputs: tuple[str, ...], weights: Array, rng: Any
    ) -> Learned:
        """Propose rules, one set of them for each restart of each member."""
        scaling = self._scaling(bags, targets)
        default = tuple(np.average(targets, axis=0, weights=weights))
        seeds = [np.random.RandomState(seed) for seed in rng.randint(2**31 - 1, size=self.n_restarts * self.n_members)]
        targets = (targets - scaling.target_shift) / scaling.target_scale
        operators, alpha, consequent_alpha = finite_operators(
            self.t_conorm, float(self.alpha), self.combine, float(self.consequent_alpha)
        )
        operators = dataclasses.replace(operators, t_norm=self.t_norm, normalise=bool(self.normalise))
        if isinstance(self.init, RuleBase):
            params, masks, operators = self.init.compile()
            masks = {name: np.asarray(mask) for name, mask in masks.items()}
            start = scaling.inward(self._expected_shape(params, bags, targets))
            return Learned(
                [start] * len(seeds), masks, operators, scaling, outputs, bags.feature_names, default, self.n_restarts
            )
        alphas = np.asarray(alpha), np.asarray(consequent_alpha)
        n_rules = self.n_rules
        scaled = bags.map_instances(scaling.apply)
        starts = []
        for seed in seeds:
            centers, widths = self._first_sets(bags, scaled, scaling, groups, seed)
            n_rules = len(centers)
            sets = {
                self.membership: tuple(np.asarray(v, float) for v in FAMILIES[self.membership].around(centers, widths))
            }
            starts.append(Params(sets, np.zeros((n_rules, targets.shape[1], 1)), *alphas))
        if n_rules == 1 and self.order == 0 and self.normalise:
            raise ParameterError(
                "One rule with a constant conclusion always answers the same: use n_rules=2 or more, or order=1."
            )
        used = np.broadcast_to(scaling.varies, (n_rules, bags.n_features)).astype(float)
        masks = {self.membership: used}
        starts = [self._with_outputs(start, masks, operators, scaled, targets, weights) for start in starts]
        return Learned(starts, masks, operators, scaling, outputs, bags.feature_names, default, self.n_restarts)

    def _scaling(self, bags: Bags, targets: Array) -> Scaling:
        return Scaling.fit(bags.instances, standardize=self.standardize)

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
        """Centres and widths (r, d) in scaled units."""
        n_used = max(int(scaling.varies.sum()), 1)
        width = partition.default_width(n_used) if self.init_width is None else float(self.init_width)
        if isinstance(self.init, str):
            complete = np.nan_to_num(scaled.instances)  # a missing value starts at the feature's mean
            owners = np.repeat(groups, bags.sizes)
            centers = self._partitioned(complete, owners, rng)
            return centers, np.full_like(centers, width)
        given = self.init if isinstance(self.init, tuple) else (self.init, None)
        centers = np.asarray(given[0], float)
        if centers.ndim != 2 or centers.shape[1] != bags.n_features or not np.isfinite(centers).all():
            raise ParameterError(
                f"init must be {', '.join(map(repr, partition.PARTITIONS))}, a RuleBase, an array of centres of shape "
                f"(n_rules, {bags.n_features}), or a pair (centres, widths); got {self.init!r:.100}."
            )
        if given[1] is None:
            return scaling.apply(centers), np.full_like(centers, width)
        widths = np.broadcast_to(np.asarray(given[1], float), centers.shape)
        if not (np.isfinite(widths) & (widths > 0)).all():
            raise ParameterError(f"The widths given in init must be finite and greater than 0, got {widths.min()!r}.")
        return scaling.apply(centers), widths / scaling.scale

    def _partitioned(self, instances: Array, groups: Array, rng: np.random.RandomState) -> Array:
        """Centres from the instances of the groups that ``init_bags`` asks for.

        Group 1 is the positive class; with more classes (or a regression) every group counts.
        """
        present = np.unique(groups)
        if self.init_bags == "positive" and len(present) == 2:
            chosen = instances[groups == present[1]]
            enough = len(np.unique(chosen, axis=0)) >= self.n_rules
            return partition.centers_by(self.init, chosen if enough else instances, self.n_rules, rng)
        if self.init_bags == "all" or len(present) == 1 or self.n_rules < len(present):
            return partition.centers_by(self.init, instances, self.n_rules, rng)
        shares = np.full(len(present), self.n_rules // len(present))
        shares[::-1][: self.n_rules % len(present)] += 1  # the later classes, so the positive one of two
        parts = []
        for group, share in zip(present, shares, strict=True):
            chosen = instances[groups == group]
            if len(np.unique(chosen, axis=0)) < share:
                return partition.centers_by(self.init, instances, self.n_rules, rng)
            parts.append(partition.centers_by(self.init, chosen, int(share), rng))
        return np.concatenate(parts)

    def _with_outputs(
        self, start: Params, masks: Masks, operators: Operators, scaled: Bags, targets: Array, weights: Array
    ) -> Params:
        """First conclusions: ones, as the paper has it, or what the bags that fire a rule say on average."""
        n_rules, n_outputs = start.coefs.shape[:2]
        constants = np.ones((n_rules, n_outputs))
        if self.init_outputs == "informed":
            strengths = infer(start, masks, operators, scaled).normalised * weights[:, None]
            total = strengths.sum(axis=0)[:, None]
            mean = np.average(targets, axis=0, weights=weights)
            # A rule that no bag fires starts at the mean of all.
            constants = np.where(total > 0, strengths.T @ targets / np.where(total > 0, total, 1.0), mean)
            constants = LOSSES[self.loss].start(constants)
        slopes = np.zeros((n_rules, n_outputs, scaled.n_features if self.order == 1 else 0))
        return start._replace(coefs=np.concatenate([constants[:, :, None], slopes], axis=2))

    def _learn(
        self, learned: Learned, bags: Bags, targets: Array, groups: Array, weights: Array, max_epochs: int, rng: Any
    ) -> Result:
        """Train every start of ``learned`` on ``bags``."""
        plan = self._plan(learned.operators)
        n_fits = len(learned.params)
        data = pack(
            learned.scaling.apply(bags.instances),
            bags.offsets,
            np.float64 if self.precision == "double" else np.float32,
        )
        targets = (targets - learned.scaling.target_shift) / learned.scaling.target_scale
        fit_weights = np.tile(weights, (n_fits, 1))
        held_out = None
        if plan.validate:
            held = self._held_out(groups, rng)
            held_out, fit_weights = fit_weights * held, fit_weights * ~held
            if not (fit_weights.any() and held_out.any()):
                raise ParameterError("early_stopping leaves no bags to train or to validate on: use more bags.")
        with progress_bar(type(self).__name__, enabled=bool(self.verbose)) as report:
            result = train(
                learned.params,
                learned.masks,
                plan,
                data,
                targets,
                fit_weights,
                held_out,
                learning_rate=float(self.learning_rate),
                max_epochs=max_epochs,
                tol=float(self.tol),
                patience=self.patience,
                seeds=[int(seed) for seed in rng.randint(2**31 - 1, size=n_fits)],
                first_epoch=learned.n_epochs,
                optimizer_state=learned.optimizer_state,
                callbacks=tuple(self.callbacks or ()),
                report=report,
            )
        if result.interrupted:
            warnings.warn(
                f"Training was interrupted (Ctrl-C) after {int(result.n_epochs.max())} epoch(s): "
                "the model as trained so far is kept.",
                UserWarning,
                stacklevel=4,
            )
        if result.diverged.all():
            warnings.warn(
                f"Training diverged after {int(result.n_epochs.max())} epoch(s); the parameters before that are kept. "
                f"Use a smaller learning_rate (it was {self.learning_rate:g}), optimizer='adam' "
                "or wider sets (init_width).",
                ConvergenceWarning,
                stacklevel=4,
            )
        return result

    def _held_out(self, groups: Array, rng: Any) -> Array:
        """Mark validation bags, the same share of every group."""
        held = np.zeros(len(groups), bool)
        for group in np.unique(groups):
            members = rng.permutation(np.flatnonzero(groups == group))
            held[members[: round(self.validation_fraction * len(members))]] = True
        return held

    def _keep_best(self, learned: Learned, result: Result) -> tuple[Learned, list[int]]:
        """Of each member's restarts keep the one with the least loss; sound ones first, best member first."""
        loss = result.loss if result.validation_loss is None else result.validation_loss
        loss = np.where(result.diverged | ~np.isfinite(loss), np.inf, loss)
        runs = learned.n_runs
        best = [m * runs + int(np.argmin(loss[m * runs : (m + 1) * runs])) for m in range(len(loss) // runs)]
        best.sort(key=lambda f: loss[f])
        kept = dataclasses.replace(
            learned,
            params=[result.params[f] for f in best],
            n_runs=1,
            n_epochs=learned.n_epochs + int(result.n_epochs.max(initial=0)),
            optimizer_state=_take(result.optimizer_state, best),
        )
        return kept, best

    def _rule_base(self, learned: Learned, params: Params, *, trained: bool) -> RuleBase:
        """Parameters as rules in the user's own units, with the test-time factor of Rule Dropout folded in."""
        params = learned.scaling.outward(self._folded(params) if trained else params)
        operators = learned.operators
        alpha = np.asarray(params.alpha, float)
        return RuleBase.from_sets(
            params.sets,
            learned.masks,
            np.asarray(params.coefs),
            feature_names=learned.feature_names,
            output_names=learned.outputs,
            ranges=learned.scaling.ranges,
            t_norm=operators.t_norm,
            t_conorm=operators.t_conorm,
            alpha=tuple(alpha) if alpha.ndim else float(alpha),
            combine=operators.combine,
            consequent_alpha=float(params.consequent_alpha),
            normalise=operators.normalise,
            default=learned.default,
        )

    def _bags_to_fit(self, X: Any, *, going_on: bool) -> Bags:
        bags = complete_bags(self, X, allow_missing=self.missing == "ignore")
        if going_on:
            compare_features(self, bags)
        elif bags.n_bags < 2:
            raise InputError("There is one sample, that is one bag: learning needs at least two.")
        return bags

    def _fit(
        self,
        bags: Bags,
        targets: Array,
        groups: Array,
        outputs: tuple[str, ...],
        weights: Array,
        *,
        going_on: bool,
        max_epochs: int,
    ) -> None:
        """Start or continue, train, and only then set what a fitted estimator has."""
        rng = check_random_state(self.random_state)
        before: Learned | None = self._learned if going_on else None
        if before is not None and before.params[0].coefs.shape[1] != targets.shape[1]:
            raise InputError("These labels need another number of outputs than the fitted rules have: fit anew.")
        learned = before or self._start(bags, targets, groups, outputs, weights, rng)
        result = self._learn(learned, bags, targets, groups, weights, max_epochs, rng)
        kept, best = self._keep_best(learned, result)
        initial = self._rule_base(learned, learned.params[best[0]], trained=before is not None)
        members = [self._rule_base(kept, params, trained=True) for params in kept.params]
        if not going_on:
            record_features(self, bags)
        self._set_fitted(kept, members, initial, result.history[best[0]])

    def _set_fitted(
        self, learned: Learned, members: list[RuleBase], initial: RuleBase, history: dict[str, Array]
    ) -> None:
        self._learned = learned
        self.members_ = members
        self.rules_ = members[0]
        self.initial_rules_ = initial
        self.history_ = history
        self.n_iter_ = max(len(history["loss"]), 1)

    def _restore(
        self,
        members: list[RuleBase],
        initial: RuleBase,
        history: dict[str, Array],
        scaling: dict[str, Array],
        n_epochs: int,
    ) -> None:
        """Set the state of a saved model; training can go on from it."""
        axes = Scaling(**scaling)
        params = [self._unfolded(axes.inward(rules.compile()[0])) for rules in members]
        _, masks, operators = members[0].compile()
        learned = Learned(
            params,
            {name: np.asarray(mask) for name, mask in masks.items()},
            operators,
            axes,
            members[0].outputs,
            None if not hasattr(self, "feature_names_in_") else tuple(self.feature_names_in_),
            members[0].default,
            n_epochs=n_epochs,
        )
        self._set_fitted(learned, members, initial, history)

    def _dropout_factor(self) -> float:
        """Scale of all rule outputs at test time, as the paper's Rule Dropout has it."""
        return 1.0 if self.rule_keep_prob is None or self.rule_dropout != "paper" else float(self.rule_keep_prob)

    def _folded(self, params: Params) -> Params:
        p = self._dropout_factor()
        return params._replace(coefs=p * params.coefs, consequent_alpha=params.consequent_alpha / p)

    def _unfolded(self, params: Params) -> Params:
        p = self._dropout_factor()
        return params._replace(coefs=params.coefs / p, consequent_alpha=params.consequent_alpha * p)

    # ------------------------------------------------------------------ prediction

    def _output(self, X: Any, *, by_instance: bool = False) -> Array:
        """Mean output of the members, (b, k), or (i, k) with every instance a bag of its own."""
        check_is_fitted(self)
        bags = complete_bags(self, X, allow_missing=self.missing == "ignore")
        compare_features(self, bags)
        return self._infer(bags, by_instance=by_instance)

    def _infer(self, bags: Bags, *, by_instance: bool = False) -> Array:
        # Names were compared already; rules of unnamed features must not look for "x1".
        plain = Bags(bags.instances, np.arange(bags.n_instances + 1) if by_instance else bags.offsets)
        return np.asarray(np.mean([rules.infer(plain).output for rules in self.members_], axis=0))

    def save(self, path: Any) -> None:
        """Write the fitted model to one JSON file; read it with `load_model`."""
        check_is_fitted(self)
        save_model(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "members_")


def _take(tree: Any, fits: list[int]) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[fits], tree)


def checked_weights(sample_weight: Any, bags: Bags) -> Array:
    """Return one weight a bag, none negative, not all zero."""
    weights = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)), ensure_non_negative=True)
    weights = np.asarray(weights, float)
    if not weights.any():
        raise InputError("All sample weights are zero: at least one bag must count.")
    return weights


def _integer(name: str, value: object, low: int) -> None:
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < low:
        raise ParameterError(f"{name} must be a whole number of at least {low}, got {value!r}.")


def _real(
    name: str,
    value: object,
    *,
    low: float = -np.inf,
    high: float = np.inf,
    open_low: bool = False,
    open_high: bool = False,
    allow_infinite: bool = False,
) -> None:
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

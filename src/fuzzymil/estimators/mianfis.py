"""MI-ANFIS: a neuro-fuzzy network that learns if-then rules from bags of instances; and training of given rules."""

from __future__ import annotations

import copy
import dataclasses
import functools
import numbers
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array, is_sealed
from fuzzymil._utils.errors import InputError, ParameterError, known_name, warn_user
from fuzzymil._utils.runtime import require_jax
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators.base import (
    BagClassifier,
    BagRegressor,
    EncodedLabels,
    Learner,
    Overview,
    one_hot,
    require_bags,
    summarize_stream,
    warn_stopped,
)
from fuzzymil.estimators.inputs import bag_labels, holds_classes, record_features, warn_if_worse_than_chance
from fuzzymil.estimators.options import Operators, Training, network_parameters
from fuzzymil.estimators.parameters import (
    check_parameters,
    checked,
    choice,
    documented_like,
    either,
    frozen_names,
    instance,
    integer,
    real,
    seed,
)
from fuzzymil.estimators.persistence import loadable
from fuzzymil.explain.coverage import Coverage, used_features
from fuzzymil.inference import layers
from fuzzymil.inference.activations import infer
from fuzzymil.inference.layers import Masks, Params
from fuzzymil.inference.membership import FAMILIES
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.constraints import (
    ActiveBound,
    Bounds,
    Constraints,
    Limits,
    active_bounds,
    box_of,
    limits_of,
    project,
    restore_frozen,
)
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.partition import sampled, short_rules
from fuzzymil.learn.train.progress import counting_bar
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.compile import finite_operators, with_missing_values

if TYPE_CHECKING:
    from fuzzymil.learn.train import Checkpoints, Group, Plan, Result
    from fuzzymil.learn.train.windows import Feed

_FEW_VALUES = 1 << 20  # that a fitted network may keep until it is asked for its coverage: 8 MB
_TEXT_OF_RULES = re.compile(r"\bif\b.*\bthen\b", re.IGNORECASE | re.DOTALL)


# ---------------------------------------------------------------------- parameters


@functools.lru_cache(maxsize=16)
def _parse(text: str) -> RuleBase:
    return RuleBase.parse(text)


def _check_order(name: str, value: Any) -> None:
    if value not in (0, 1):
        raise ParameterError(f"{name} must be 0 (constant conclusions) or 1 (linear conclusions), got {value!r}.")


def _check_init(name: str, value: Any) -> None:
    if isinstance(value, str) and _TEXT_OF_RULES.search(value):
        _parse(value)
    elif isinstance(value, str):  # arrays and rules are checked against the data
        choice((*partition.PARTITIONS, "search"))(name, value)


def _check_constraints(name: str, value: Any) -> None:
    Constraints.of(value)


@dataclasses.dataclass(kw_only=True)
class TrainingState:
    """The state from which training can resume: parameters on standardized axes, and the optimizer's memory."""

    params: list[Params]
    masks: list[Masks]  # the terms in use, parallel to `params`
    operators: layers.Operators
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


@dataclasses.dataclass(frozen=True)
class Job:
    """One fit, checked and ready to train."""

    bags: Bags
    labels: EncodedLabels
    state: TrainingState
    group: Group
    plan: Plan
    resumes: bool
    partial: bool = False  # on part of the data


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class Network(Learner):
    """Base of all estimators that train the network."""

    alpha = 1.0  # a network for plain rows has no such parameter

    n_rules: int = dataclasses.field(default=10, kw_only=False, metadata={"check": integer(1)})
    order: int = checked(_check_order, 0)
    init: Any = checked(_check_init, "kmeans")
    frozen: Any = checked(frozen_names, ())
    constraints: Any = checked(_check_constraints, None)
    max_conditions: int | None = checked(either(None, otherwise=integer(1)), None)
    missing: str = checked(choice(("error", "ignore", "average", "median")), "median")
    n_estimators: int = checked(integer(1), 1)
    operators: Operators | None = checked(either(None, otherwise=instance(Operators, "None or Operators(...)")), None)
    training: Training | None = checked(either(None, otherwise=instance(Training, "None or Training(...)")), None)
    verbose: bool = checked(either(True, False, otherwise=integer(0)), False)
    random_state: Any = checked(seed, None)

    def _check_settings(self) -> None:
        check_parameters(self)
        if isinstance(self.init, str) and self.init == "search" and self.max_conditions is None:
            raise ParameterError(
                "init='search' looks for short rules: set max_conditions, for example max_conditions=3."
            )
        given = self._given_rules
        if given is not None:
            self._check_given(given)
        partitions = isinstance(self.init, str) and self.init in partition.PARTITIONS
        operators, training = self._operators, self._training
        for options, name, applies, why in (
            (operators, "conclusion_aggregation", self.order == 1 or given, "order=0 has constant conclusions"),
            (operators, "conclusion_alpha", self.order == 1 or given, "order=0 has constant conclusions"),
            (training, "update_rule", operators.normalize, "without normalize, rules do not share their strength"),
            (training, "learning_rate", isinstance(training.optimizer, str), "an optax transformation has its own"),
            (training, "init_bags", partitions, "init does not divide the instances"),
            (training, "init_outputs", not given, "the rules given as init have conclusions"),
            (training, "width_scale", operators.membership == "gaussian", "only Gaussian sets have such a width"),
        ):
            if not applies and name in options.changed():
                raise ParameterError(f"{name}={getattr(options, name)!r} cannot apply: {why}. Leave it out.")

    def _check_given(self, given: RuleBase) -> None:
        """Raise for parameters that given rules settle: their number and operators."""
        known = {field.name: field.default for field in dataclasses.fields(self)}
        asked: dict[str, Any] = {}
        if self.n_rules not in (known["n_rules"], given.n_rules):
            asked["n_rules"] = self.n_rules
        if self._training.init_width is not None:
            asked["init_width"] = self._training.init_width
        operators = self._operators
        for alpha, aggregation in (("alpha", "aggregation"), ("conclusion_alpha", "conclusion_aggregation")):
            sharpness = self.alpha if alpha == "alpha" else operators.conclusion_alpha
            # An infinite alpha stands for another operator, which may be the one in the rules.
            if np.isfinite(sharpness) and sharpness not in (1.0, getattr(given, alpha)):
                asked[alpha] = sharpness
            value = getattr(operators, aggregation)
            if np.isfinite(sharpness) and value not in (getattr(Operators, aggregation), getattr(given, aggregation)):
                asked[aggregation] = value
        if operators.membership != Operators.membership:
            asked["membership"] = operators.membership
        for name in ("t_norm", "normalize"):
            if getattr(operators, name) not in (getattr(Operators, name), getattr(given, name)):
                asked[name] = getattr(operators, name)
        for name, value in asked.items():
            raise ParameterError(
                f"{name}={value!r} cannot apply: the rules given as init have their own number, sets and operators. "
                "Leave it out, or change the rules (dataclasses.replace, edit)."
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; with ``deep``, also those of ``operators`` and ``training``."""
        found: dict[str, Any] = super().get_params(deep)
        if deep:
            for name, value in (("operators", self._operators), ("training", self._training)):
                if isinstance(value, Operators | Training):  # anything else is refused when fitting
                    found |= {f"{name}__{key}": each for key, each in value.get_params().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``training__max_epochs`` sets one of ``training``.

        Examples
        --------
        >>> MIANFISClassifier().set_params(training__max_epochs=5, operators__t_norm="min")
        MIANFISClassifier(operators=Operators(t_norm='min'),
                          training=Training(max_epochs=5))
        """
        plain = dict(params)
        for name, kind in (("operators", Operators), ("training", Training)):
            inner = {key: plain.pop(key) for key in params if key.startswith(f"{name}__")}
            if inner:
                before = plain.pop(name, getattr(self, name)) or kind()
                for key in inner:
                    known_name(f"parameter of {name}", key.removeprefix(f"{name}__"), kind.__dataclass_fields__)
                changes = {key.removeprefix(f"{name}__"): value for key, value in inner.items()}
                setattr(self, name, dataclasses.replace(before, **changes))
        super().set_params(**plain)
        return self

    @property
    def _operators(self) -> Operators:
        return Operators() if self.operators is None else self.operators

    @property
    def _training(self) -> Training:
        return Training() if self.training is None else self.training

    @property
    def _given_rules(self) -> RuleBase | None:
        """The rules given as ``init``, as a value or as text."""
        found = _parse(self.init) if isinstance(self.init, str) and _TEXT_OF_RULES.search(self.init) else self.init
        if not isinstance(found, RuleBase):
            return None
        if found.concludes_sets:
            raise ParameterError("init has rules that conclude sets: train them with MIMamdani or train_rules.")
        return found.with_answers()

    @property
    def _constraints(self) -> Constraints | None:
        return Constraints.of(self.constraints)

    @property
    def _intended_loss(self) -> str:
        """The loss of the next fit."""
        if self._training.loss is not None or not hasattr(self, "class_weight"):
            return self._training.loss or "squared_error"
        given = self._given_rules
        return "cross_entropy" if given is not None and not given.normalize else "squared_error"

    # ------------------------------------------------------------------ fitting

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train rules on bags; ``X`` may be a `BagStream`.

        ``y`` (n_bags,) or (n_bags, n_outputs) defaults to the labels of the bags, ``sample_weight`` (n_bags,) to equal
        weights.
        """
        self._check_settings()
        feed: Feed | None = None
        if isinstance(X, BagStream):
            job, feed = self._prepare_stream(X, y, sample_weight)
        else:
            job = self._prepare(X, y, sample_weight, resume=self._training.warm_start)
        job, result = self._train_jobs([job], self._training.max_epochs, feed)[0]
        warn_interrupted([result])
        return self._finish(job, result)

    def _fit_part(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        self._check_settings()
        if isinstance(X, BagStream):
            raise ParameterError(
                "partial_fit takes bags in memory: for a stream, use fit (Training(warm_start=True) resumes training)."
            )
        job = self._prepare(X, y, sample_weight, resume=True, classes=classes)
        job, result = self._train_jobs([job], 1)[0]
        warn_interrupted([result])
        return self._finish(dataclasses.replace(job, partial=True), result)

    @property
    def _loss(self) -> str:
        """The loss that the fitted rules were trained with."""
        return self._state.loss

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, resume: bool, classes: Any = None) -> Job:
        """Check the data and initialize (or resume) the rules; changes nothing on the estimator."""
        require_jax("Training a network")
        resumes = resume and hasattr(self, "_state")
        bags = self._bags_to_learn_from(X, resumes=resumes)
        if not resumes:
            require_bags(bags.n_bags)
        labels = self._encode(bags, y, sample_weight, resumes=resumes, classes=classes)
        rng = check_random_state(self.random_state)
        if resumes and self._state.params[0].coefs.shape[1] != labels.targets.shape[1]:
            raise InputError("These labels need another number of outputs than the fitted rules have: fit a new model.")
        overview = Overview(Measures.of_bags(bags), labels.targets, labels.weights)
        sample, places = (bags, np.arange(0)) if resumes else sampled(bags)
        state = self._start(sample, labels.only(places), rng, overview, resumes)
        weights = self._training_weights(len(state.params), labels, rng)
        return Job(bags, labels, state, self._group(state, bags, labels, *weights, rng), self._plan(state), resumes)

    def _start(self, bags: Bags, labels: EncodedLabels, rng: Any, overview: Overview, resumes: bool) -> TrainingState:
        if resumes:
            return self._resumed(len(overview.targets))
        training = self._training
        how: dict[str, Any] = {"standardize": bool(training.standardize), "clip": training.clip}
        scaling = self._scaling(overview.measures, overview.targets, **how)
        with counting_bar("Finding initial rules", enabled=bool(self.verbose)):
            return initial_state(self, bags, labels, scaling, rng, overview)

    def _resumed(self, n_bags: int) -> TrainingState:
        """Return the present rules to train further, if the parameters still describe them."""
        before = self._state
        now = structure(self)
        for name, then in before.structure.items():
            if now[name] != then:
                raise ParameterError(
                    f"The fitted rules were made with {name}={then!r}, but now {name}={now[name]!r}: restore it to "
                    "resume training, or fit a new model with warm_start=False."
                )
        p = keep_prob(self, before.params[0], before.masks[0], n_bags, given=before.template is not None)
        state = dataclasses.replace(before, keep_prob=p)
        if state.template is not None:
            n_coefs = state.params[0].coefs.shape[2]
            state = dataclasses.replace(state, **limits_on(self, state.template, n_coefs, state.scaling))
        if state.remembers == (self._plan(state), self._training.precision):
            return state
        return dataclasses.replace(state, optimizer_state=None)  # of another optimizer

    def _prepare_stream(self, stream: BagStream, y: Any, sample_weight: Any) -> tuple[Job, Feed]:
        """Prepare training on a stream.

        Rules are initialized from a sample of all bags, which the job is about; the feed brings all of them.
        """
        require_jax("Training a network")
        from fuzzymil.learn.train.windows import Feed

        resumes = self._training.warm_start and hasattr(self, "_state")
        read = summarize_stream(self, stream, y, sample_weight, resumes=resumes)
        rng = check_random_state(self.random_state)
        summary, labels = read.summary, read.labels
        bags, sample = read.sample
        state = self._start(bags, sample, rng, read.overview, resumes)
        weights, held_out = self._training_weights(len(state.params), labels, rng)
        held = None if held_out is None else held_out[:, summary.places]
        group = self._group(state, bags, sample, weights[:, summary.places], held, rng)
        dtype = group.bags.x.dtype
        feed = Feed(stream, summary, state.scaling, labels.targets, weights, held_out, dtype)
        return Job(bags, sample, state, group, self._plan(state), resumes), feed

    def _training_weights(self, n_fits: int, labels: EncodedLabels, rng: Any) -> tuple[Array, Array | None]:
        """Return the weights of bags in training, and in validation if there is any; (n_fits, n_bags) each."""
        weights = np.tile(labels.weights, (n_fits, 1))
        if self._training.n_iter_no_change is None:
            return weights, None
        # From its own generator: a warm start must hold out the same bags again.
        fixed = isinstance(self.random_state, numbers.Integral)
        rng = check_random_state(self.random_state) if fixed else rng
        held = np.zeros(len(labels.groups), bool)
        for group in np.unique(labels.groups):  # the same fraction of every class
            members = rng.permutation(np.flatnonzero(labels.groups == group))
            held[members[: round(self._training.validation_fraction * len(members))]] = True
        held_out, weights = weights * held, weights * ~held
        if not (weights.any() and held_out.any()):
            raise ParameterError("n_iter_no_change leaves no bags to train or to validate on: use more bags.")
        return weights, held_out

    def _group(
        self, state: TrainingState, bags: Bags, labels: EncodedLabels, weights: Array, held_out: Array | None, rng: Any
    ) -> Group:
        """Return the data of a training job, on standardized axes."""
        from fuzzymil.learn.train import Group

        axes = state.scaling
        dtype = np.float64 if self._training.precision == "double" else np.float32
        return Group(
            starts=state.params,
            masks=state.masks,
            bags=pack(bags.instances, bags.offsets, dtype, -axes.shift / axes.scale, axes.apply),
            targets=axes.apply_to_targets(labels.targets),
            weights=weights,
            seeds=[int(seed) for seed in rng.randint(2**31 - 1, size=len(state.params))],
            held_out=held_out,
            first_epoch=state.n_epochs,
            optimizer_state=state.optimizer_state,
            limits=state.limits,
        )

    def _plan(self, state: TrainingState) -> Plan:
        """Return the training plan that the parameters describe."""
        from fuzzymil.learn.train import Plan  # which loads JAX

        training = self._training
        return Plan(
            dataclasses.replace(state.operators, update_rule=training.update_rule),
            loss=state.loss,
            optimizer=training.optimizer,
            batch_size=training.batch_size,
            keep_prob=state.keep_prob,
            renormalize=training.rule_dropout == "renormalize",
            width_scale=training.width_scale,
            learn_alpha=bool(training.learn_alpha),
            validate=training.n_iter_no_change is not None,
        )

    def _train_jobs(self, jobs: list[Job], max_epochs: int, feed: Feed | None = None) -> list[tuple[Job, Result]]:
        """Train jobs of equal shape, and shorten their rules step by step where ``max_conditions`` asks for it.

        With a feed there is one job, which is trained on the bags of the feed.
        """
        from fuzzymil.learn.train import Checkpoints
        from fuzzymil.learn.train.trainer import longest, schedule, shorten

        checkpoints = None if self._training.checkpoint is None else Checkpoints(self._training.checkpoint)
        results = self._train([job.group for job in jobs], jobs[0].plan, max_epochs, checkpoints, feed)
        longest_rule = max(longest(job.group) for job in jobs)
        stops = () if self.max_conditions is None else schedule(longest_rule, self.max_conditions)
        for n_terms in stops:
            if results[0].interrupted:
                break
            jobs = [
                dataclasses.replace(job, group=shorten(job.group, result, job.plan, n_terms))
                for job, result in zip(jobs, results, strict=True)
            ]
            groups, title = [job.group for job in jobs], f"rules of at most {n_terms} conditions"
            again = self._train(groups, jobs[0].plan, (max_epochs + 1) // 2, checkpoints, feed, title)
            results = [before.followed_by(after) for before, after in zip(results, again, strict=True)]
        if checkpoints is not None and not results[0].interrupted:
            checkpoints.finished()
        return list(zip(jobs, results, strict=True))

    def _train(
        self,
        groups: list[Group],
        plan: Plan,
        max_epochs: int,
        checkpoints: Checkpoints | None = None,
        feed: Feed | None = None,
        title: str = "training",
    ) -> list[Result]:
        from fuzzymil.learn.train import train_groups

        results = train_groups(
            groups,
            plan,
            learning_rate=float(self._training.learning_rate),
            max_epochs=max_epochs,
            tol=float(self._training.tol),
            n_iter_no_change=self._training.n_iter_no_change or 1,  # not used without a validation set
            callbacks=tuple(self._training.callbacks),
            progress=f"{type(self).__name__}: {title}" if self.verbose else None,
            checkpoints=checkpoints,
            feed=feed,
        )
        for result in results:
            if result.diverged.any():
                runs = f"{result.diverged.sum()} of {len(result.diverged)} runs" if len(result.diverged) > 1 else "it"
                warn_user(
                    f"Training diverged: {runs} stopped after {int(result.n_epochs[result.diverged].max())} epoch(s) "
                    "with the last valid parameters. Use a smaller learning_rate "
                    f"(it was {self._training.learning_rate:g}), wider sets (init_width) or, if off, standardize=True.",
                    ConvergenceWarning,
                )
        return results

    def _finish(self, job: Job, result: Result) -> Self:
        """Set the fitted attributes: after training, so that a failure leaves the estimator as it was."""
        kept, best = _best_of(dataclasses.replace(job.state, masks=job.group.masks), result)
        kept.remembers = (self._plan(kept), self._training.precision)
        initial = self._rules_of(job.state, best[0], trained=job.resumes)
        members = [self._rules_of(kept, place, trained=True) for place in range(len(kept.params))]
        if not job.resumes:
            record_features(self, job.bags)
        self._record_labels(job.labels)
        if not job.partial or not self._coverage:  # part of the data is not what is usual
            self._coverage = [_coverage_of(job.bags, _features_in(kept, members))]
        self._set_fitted(kept, [*members], initial, result.history[best[0]])
        self._calibrate(job)
        return self

    def _calibrate(self, job: Job) -> None:
        """Learn what the loss does not tell about probabilities."""

    def _dropout_factor(self, keep_prob: float | None) -> float:
        """Return the scale of all rule outputs at test time in the paper's Rule Dropout."""
        return 1.0 if keep_prob is None or self._training.rule_dropout != "paper" else keep_prob

    def _rules_of(self, state: TrainingState, place: int, *, trained: bool) -> Callable[[], RuleBase]:
        """Return a function that makes the rules of one fit, in the units of the data, scaled by Rule Dropout."""
        params = state.params[place]
        if trained:
            p = self._dropout_factor(state.keep_prob)
            params = params._replace(coefs=p * params.coefs, conclusion_alpha=params.conclusion_alpha / p)
        operators = state.operators
        params = state.scaling.to_original_units(params, additive=not operators.normalize)
        if state.box is not None:  # without the rounding errors of single precision
            params = project(params, state.box, snap=1e-6)
        default = state.default if operators.normalize else tuple(params.default)
        alphas = {name: _number_or_tuple(getattr(params, name)) for name in ("alpha", "conclusion_alpha")}
        if state.template is not None:
            from fuzzymil.learn.train.trainer import with_conditions

            start = with_conditions(state.template, state.masks[place])
            chosen: dict[str, Any] = {"aggregation": operators.aggregation, "default": default}
            chosen["conclusion_aggregation"] = operators.conclusion_aggregation
            moved = start.with_numbers(params, **chosen, **alphas)
            return functools.partial(restore_frozen, state.template, moved, self.frozen or ())
        return functools.partial(
            RuleBase.from_sets,
            params.sets,
            state.masks[place],
            np.asarray(params.coefs),
            feature_names=state.feature_names,
            output_names=state.outputs,
            ranges=state.scaling.ranges,
            t_norm=operators.t_norm,
            aggregation=operators.aggregation,
            conclusion_aggregation=operators.conclusion_aggregation,
            normalize=operators.normalize,
            default=default,
            limited=state.scaling.limited,
            missing_values=params.missing_values,
            **alphas,
        )

    def _set_fitted(
        self, state: TrainingState, members: list[Any], initial: RuleBase | Callable[[], RuleBase], history: Any
    ) -> None:
        self._state, self._members, self._initial = state, members, initial
        self.history_ = history
        self.n_iter_ = max(len(history["loss"]), 1)

    @property
    def initial_rules_(self) -> RuleBase:
        """The rules before training."""
        if not isinstance(self._initial, RuleBase):  # made on first use: it takes a while, and few need it
            self._initial = self._initial()
        return self._initial

    def __getstate__(self) -> dict[str, Any]:
        self.coverage_ = self.coverage_  # copies and pickles do not carry the training bags
        return dict(super().__getstate__())

    @property
    def active_bounds_(self) -> list[ActiveBound]:
        """What training left at a bound of ``constraints``."""
        check_is_fitted(self)
        state, constraints = self._state, self._constraints
        if constraints is None or state.box is None or state.template is None:
            return []
        said = [rule.concluding(now.coefs) for rule, now in zip(state.template.rules, self.rules_.rules, strict=True)]
        now = dataclasses.replace(state.template, variables=self.rules_.variables, rules=tuple(said))
        return active_bounds(now, self.frozen or (), constraints, state.box)

    def _restore(
        self, rules: list[RuleBase], initial: Any, history: Any, axes: Scaling, n_epochs: int, keep: Any, loss: str
    ) -> None:
        """Set the state of a saved model, from which training can resume."""
        p = self._dropout_factor(keep)
        params = [axes.to_standard_units(each.compile()[0], additive=not each.normalize) for each in rules]
        params = [each._replace(coefs=each.coefs / p, conclusion_alpha=each.conclusion_alpha * p) for each in params]
        given = self._given_rules is not None
        state = TrainingState(
            params=params,
            masks=[each.compile()[1] for each in rules],
            operators=rules[0].compile()[2],
            scaling=axes,
            outputs=rules[0].output_names,
            feature_names=None if not hasattr(self, "feature_names_in_") else tuple(self.feature_names_in_),
            default=rules[0].default,
            loss=loss,
            keep_prob=keep,
            structure=structure(self),
            n_epochs=n_epochs,
            template=rules[0] if given else None,
            **(limits_on(self, rules[0], params[0].coefs.shape[2], axes) if given else {}),
        )
        self._set_fitted(state, [*rules], initial, history)

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy that predicts with other rules, for example edited or simplified ones.

        Classes, features and calibration stay those of this model. The copy has one member, and the rules become its
        ``init``: `partial_fit` and warm starts resume from them, and `fit` starts from them. Nothing is frozen
        or constrained in it. The rules must be over the model's features, with as many outputs as its own.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = MIANFISClassifier(2, random_state=0).fit(bags, [0, 1, 0, 1])
        >>> model.with_rules(model.rules_.edit(conclusions={1: 0, 2: 0})).predict(bags).tolist()
        [0, 0, 0, 0]
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        before = self._state
        model.set_params(
            n_rules=rules.n_rules, init=rules, frozen=(), constraints=None, max_conditions=None, operators=None
        )
        start = {name: getattr(Training, name) for name in ("init_width", "init_bags", "init_outputs", "warm_start")}
        training = dataclasses.replace(self._training, **start)
        if hasattr(self, "class_weight"):
            training = dataclasses.replace(training, loss=before.loss)
        model.set_params(training=training, **({"alpha": 1.0} if "alpha" in self.get_params() else {}))
        axes = before.scaling.limited_as(rules)
        initial, history = self.initial_rules_, self.history_
        model._restore([rules], initial, history, axes, before.n_epochs, before.keep_prob, before.loss)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")


# ---------------------------------------------------------------------- the first rules


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
    chosen = model._operators
    operators, alpha, conclusion_alpha = finite_operators(
        chosen.aggregation, float(model.alpha), chosen.conclusion_aggregation, float(chosen.conclusion_alpha)
    )
    operators = dataclasses.replace(operators, t_norm=chosen.t_norm, normalize=bool(chosen.normalize))
    alphas = np.asarray(alpha), np.asarray(conclusion_alpha)
    scaled = bags.map_instances(scaling.apply)
    values = model._missing_values(bags)
    missing_values = None if values is None else scaling.apply(values)
    first = LOSSES[model._intended_loss].start((mean - scaling.target_shift) / scaling.target_scale)
    starts, all_masks = [], []
    for centers, widths, used in _first_rules(model, bags, scaled, scaling, labels, seeds):
        if len(centers) == 1 and model.order == 0 and chosen.normalize:
            raise ParameterError(
                "A single rule with a constant conclusion gives every bag the same output: use n_rules=2 or more, "
                "or order=1."
            )
        sets = tuple(np.asarray(v, float) for v in FAMILIES[chosen.membership].around(centers, widths))
        coefs = np.zeros((len(centers), targets.shape[1], 1))
        blank = Params({chosen.membership: sets}, coefs, *alphas, first, missing_values)
        masks = {chosen.membership: used.astype(float)}
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
    model: Network, bags: Bags, scaled: Bags, scaling: Scaling, labels: EncodedLabels, seeds: list[Any]
) -> Iterator[tuple[Array, Array, Array]]:
    """Yield for each fit centers, widths and the terms in use, (r, d) each, in scaled units."""
    if not isinstance(model.init, str) or model.init != "search":
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
    model: Network, bags: Bags, scaled: Bags, scaling: Scaling, groups: Array, rng: np.random.RandomState
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
    parts = []
    for group, share in zip(present, partition.even_split(n_rules, len(present)), strict=True):
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
    model: Network, start: Params, masks: Masks, operators: Any, scaled: Bags, targets: Array, weights: Array
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
        given = with_missing_values(given, model._missing_values(bags))
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
    start = scaling.to_standard_units(expected, additive=not given.normalize)
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


# ---------------------------------------------------------------------- steps of a fit


def _best_of(state: TrainingState, result: Result) -> tuple[TrainingState, list[int]]:
    """Keep the restart with the least loss of each member; members that did not diverge first, the best first."""
    import jax

    loss = result.loss if result.validation_loss is None else result.validation_loss
    loss = np.where(result.diverged | ~np.isfinite(loss), np.inf, loss)
    runs = state.n_runs
    best = [m * runs + int(np.argmin(loss[m * runs : (m + 1) * runs])) for m in range(len(loss) // runs)]
    best.sort(key=lambda f: loss[f])
    kept = dataclasses.replace(
        state,
        params=[result.params[f] for f in best],
        masks=[state.masks[f] for f in best],
        n_runs=1,
        n_epochs=state.n_epochs + int(result.n_epochs.max(initial=0)),
        optimizer_state=jax.tree.map(lambda values: np.asarray(values)[best], result.optimizer_state),
    )
    return kept, best


def _features_in(state: TrainingState, members: Sequence[Callable[[], RuleBase]]) -> list[int]:
    """Return the features that the members use in their conditions or conclusions, in order.

    ``members`` are what `_rules_of` returned; they are only made where the arrays do not tell.
    """
    if state.template is not None:
        return used_features(make() for make in members)
    used = np.zeros(next(iter(state.masks[0].values())).shape[1], bool)
    for params, masks in zip(state.params, state.masks, strict=True):
        used |= np.any([np.any(mask > 0, axis=0) for mask in masks.values()], axis=0)
        slopes = np.asarray(params.coefs)[:, :, 1:]
        if slopes.shape[2]:
            used |= (slopes != 0).any(axis=(0, 1))
    return np.flatnonzero(used).tolist()


def _coverage_of(bags: Bags, columns: list[int]) -> Coverage | Callable[[], Coverage]:
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


def _number_or_tuple(values: Any) -> float | tuple[float, ...]:
    return tuple(np.asarray(values, float)) if np.ndim(values) else float(values)


# ---------------------------------------------------------------------- the estimators


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkClassifier(BagClassifier, Network):
    """Base of `MIANFISClassifier` and `ANFISClassifier`."""

    class_weight: Any = checked(BagClassifier.class_checks["class_weight"], None)
    pos_label: Any = checked(BagClassifier.class_checks["pos_label"], None)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these bags, starting from the current rules.

        The first call determines the scale of the features and initializes the rules: pass it typical bags, and all
        ``classes`` if some of them do not occur in it. ``y`` (n_bags,) defaults to the labels of the bags.
        """
        return self._fit_part(X, y, sample_weight, classes)

    def _calibrate(self, job: Job) -> None:
        before = getattr(self, "calibration_", None) if job.resumes else None
        self.calibration_: Any = None
        if LOSSES[self._loss].probability is None:
            members = one_hot(job.labels.groups, len(self.classes_), job.labels.positive)
            # Part of the data may be small or of one class: keep the calibration on more data.
            keep = job.partial and before is not None
            self.calibration_ = before if keep else _calibration(self._output(job.bags), members, job.labels.weights)


def _calibration(output: Array, member_of: Array, weights: Array) -> Array:
    """Return slope and intercept (k, 2) of a sigmoid that maps training outputs to probabilities."""
    found = np.tile([2.0, 0.0], (member_of.shape[1], 1))  # for a class that none or all of these bags have
    counts = weights > 0
    for k, member in enumerate(member_of.T > 0.5):
        if len(np.unique(member[counts])) == 2:
            sigmoid = LogisticRegression(C=1e6, max_iter=1000)
            sigmoid.fit(output[counts][:, [k]], member[counts], sample_weight=weights[counts])
            if sigmoid.coef_[0, 0] > 0:  # a greater margin must not lower the probability
                found[k] = sigmoid.coef_[0, 0], sigmoid.intercept_[0]
    return found


@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class NetworkRegressor(BagRegressor, Network):
    """Base of `MIANFISRegressor` and `ANFISRegressor`."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these bags, starting from the current rules.

        The first call determines the scale of features and targets and initializes the rules: pass it typical bags.
        ``y`` (n_bags,) or (n_bags, n_outputs) defaults to the labels of the bags.
        """
        return self._fit_part(X, y, sample_weight)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self._training.loss not in (None, "squared_error"):
            raise ParameterError(
                f"loss={self._training.loss!r} is for classes; a regressor minimizes the squared error: leave it out."
            )


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISClassifier(NetworkClassifier):
    """Fuzzy if-then rules that classify bags, trained as a network of six layers (MI-ANFIS).

    There is one output for two classes, and one output per class for more.

    Parameters
    ----------
    n_rules : int, default 10
        Number of rules; unneeded ones end up with low firing strengths or conclusions.
    order : {0, 1}, default 0
        Order of the conclusions: 0 for constants, 1 for linear functions of the features, aggregated over the bag.
    alpha : float, default 1.0
        Sharpness of the softmax over a bag's instances (Layer 3): 0 is the mean, ``inf`` the maximum.
    init : str, RuleBase, array or (array, array), default "kmeans"
        Where the rules start: from a partition of the instances ("kmeans", "fcm", "random", "grid"), from a search for
        short rules ("search", with ``max_conditions``), or from what is given: rules (also as text), centers, or
        centers and widths of shape (n_rules, n_features) in the units of the data. Given rules keep their operators,
        their default and the names of their terms; a term that several rules share moves for all of them, and features
        without a condition stay so.
    frozen : sequence of str, default ()
        Parts of the rules given as ``init`` that training does not change: ``"rule 2"`` (its conclusion and terms),
        ``"hue.dark"`` (a term), ``"hue"`` (all terms of a variable), ``"sky"`` (all conclusions about an output).
    constraints : Constraints, dict or None, default None
        What training must keep of the rules given as ``init``: bounds of conclusions, the order of terms, their
        overlap, signs of slopes, nearness to the start; see `Constraints`.
    max_conditions : int or None, default None
        Maximum number of conditions in a rule. Longer rules are trained and shortened step by step, least valuable
        conditions first. None: no limit.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes: given by label, inversely proportional to class frequencies, or equal (None).
    pos_label : label or None, default None
        Of two classes, the positive one, which the output of the rules is about. None: the class after which the output
        of rules given as ``init`` is named, otherwise the one that sorts last.
    missing : {"median", "average", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "ignore": it satisfies every
        condition. "error": raise an error.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged, trained at once. 1 keeps the model readable.
    operators : Operators or None, default None
        Family of the sets, and what combines conditions, instances and rules; see `Operators`.
    training : Training or None, default None
        Epochs, learning rate, optimizer, early stopping, checkpoints and the rest of training; see `Training`.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The learned rules, in the units of the data; with several members, those of the best.
    members_ : list of RuleBase
        All members, best first. Predictions average their outputs.
    initial_rules_ : RuleBase
        ``rules_`` before training.
    active_bounds_ : list of ActiveBound
        What training left at a bound of ``constraints``.
    history_ : dict of arrays
        ``loss``, ``rmse``, ``change`` (greatest change of a parameter) and, with early stopping,
        ``validation_loss``, one entry per epoch of the last call to `fit` or `partial_fit`.
    n_iter_ : int
        Number of epochs of the last call.
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    pos_label_ : label or None
        Of two classes, the positive one.

    See Also
    --------
    RuleClassifier : chooses short additive rules; usually what to try first.
    train_rules : trains rules that exist.

    Examples
    --------
    >>> from fuzzymil.datasets import make_two_concepts
    >>> bags = make_two_concepts(random_state=0)
    >>> model = MIANFISClassifier(6, init="random", training=Training(n_init=4), random_state=0).fit(bags)
    >>> model.score(bags, bags.labels) > 0.95
    True
    """

    alpha: float = checked(real(allow_infinite=True), 1.0)

    @classmethod
    def paper(cls, n_rules: int, init_width: float, **changes: Any) -> Self:
        """Return a classifier with the settings of Khalifa and Frigui, taken literally.

        Gaussian sets on raw features, fuzzy c-means on the instances of positive bags, conclusions initialized to 1,
        alpha 1, and plain gradient descent, bag by bag, with learning rate 0.1 and the update rule as printed. The
        paper states ``n_rules`` and ``init_width`` for each dataset. Such plain steps on raw features need a
        ``learning_rate`` that fits the scale of the data: with 0.1 training often stalls or oscillates, even on the
        paper's own synthetic data. ``init_width`` is in the units of the features; ``changes`` are other parameters of
        the constructor, of `Operators` and of `Training`.

        Examples
        --------
        >>> MIANFISClassifier.paper(6, 100.0, max_epochs=300).training.optimizer
        'sgd'
        """
        start: dict[str, Any] = {"init": "fcm", "training": Training.paper(init_width=init_width)}
        return cls(n_rules, **network_parameters(**(start | changes)))


@loadable
@documented_like(MIANFISClassifier)
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class MIANFISRegressor(NetworkRegressor):
    """Fuzzy if-then rules that predict numbers for bags, trained as a network of six layers (MI-ANFIS).

    Targets are standardized internally, also in ``history_``; the rules conclude in the units of the targets.

    The parameters and attributes are those of `MIANFISClassifier` that are not about classes.

    See Also
    --------
    RuleRegressor : chooses short additive rules; usually what to try first.
    train_rules : trains rules that exist.

    Examples
    --------
    >>> bags = [[[0.0], [1.0]], [[0.2], [3.0]], [[5.0]], [[2.0], [2.5]], [[4.0], [0.0]]]
    >>> model = MIANFISRegressor(2, random_state=0).fit(bags, [1.0, 3.0, 5.0, 2.5, 4.0])
    >>> model.predict(bags).shape
    (5,)
    """

    alpha: float = checked(real(allow_infinite=True), 1.0)


# ---------------------------------------------------------------------- training of rules


def train_rules(
    rules: RuleBase | str,
    bags: Any,
    y: Any = None,
    *,
    frozen: Sequence[str] = (),
    constraints: Any = None,
    task: str = "auto",
    class_weight: Any = None,
    pos_label: Any = None,
    sample_weight: Any = None,
    missing: str = "median",
    training: Training | None = None,
    verbose: bool = False,
    random_state: Any = None,
) -> RuleBase:
    """Train rules that exist, and return better ones; their premises, names and operators stay.

    The sets and conclusions move by gradient descent; a term that several rules share moves for all of them. To train
    the rules of a model: ``model.with_rules(train_rules(model.rules_, bags))``.

    Parameters
    ----------
    rules : RuleBase or str
        Additive rules are read as logits of classes, unless ``training`` has a ``loss``.
    bags : Bags, BagStream, or anything `as_bags` accepts
    y : array of shape (n_bags,) or (n_bags, n_outputs), optional
        Label of each bag. Default: the labels of the bags.
    task : {"auto", "classification", "regression"}, default "auto"
        What the labels are. "auto": classes if they are text, as many whole numbers as the outputs tell apart, or few
        whole numbers that recur; otherwise numbers.
    frozen, constraints, class_weight, pos_label, sample_weight, missing, verbose, random_state
        See `MIANFISClassifier` and its `fit`; what the rules state about missing values comes first.
    training : Training or None, default None
        Of rules that conclude sets, only ``max_epochs`` and ``learning_rate`` apply.

    Examples
    --------
    >>> bags = Bags.from_list([[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]], labels=[0, 1, 0, 1])
    >>> text = "VARIABLE x1: high = Gaussian(0.6, 0.2)  IF x1 is high THEN y = 0.8  IF x1 is not high THEN y = 0.3"
    >>> rules = RuleBase.parse(text)
    >>> better = train_rules(rules, bags, frozen=["x1.high"])
    >>> better.variables[0].terms == rules.variables[0].terms
    True
    >>> better.infer(bags).output.round(1).ravel().tolist()
    [0.1, 0.4, 0.4, 1.0]
    """
    given = RuleBase.parse(rules) if isinstance(rules, str) else rules
    shared = {"frozen": frozen, "constraints": constraints, "random_state": random_state}
    if not isinstance(given, RuleBase):
        raise ParameterError(f"rules must be a rule base or its text, got {rules!r:.100}.")
    if given.concludes_sets:
        return _train_sets(given, bags, y, sample_weight, task, training, pos_label=pos_label, **shared)
    shared |= {"init": given, "missing": missing, "training": training, "verbose": verbose}
    model: Any
    if _holds_classes(task, bags, y, len(given.output_names)):
        model = MIANFISClassifier(**shared, class_weight=class_weight, pos_label=pos_label)
    else:
        for name, value in (("class_weight", class_weight), ("pos_label", pos_label)):
            if value is not None:
                raise ParameterError(f"{name} is for classes, but these labels are numbers: leave it out.")
        model = MIANFISRegressor(**shared)
    found: RuleBase = model.fit(bags, y, sample_weight).rules_
    return found


def _train_sets(
    rules: RuleBase, bags: Any, y: Any, sample_weight: Any, task: str, training: Training | None, **settings: Any
) -> RuleBase:
    """Train the sets that rules conclude, and those of their conditions."""
    from fuzzymil.estimators.experts import MIMamdani

    changes = {} if training is None else training.changed()
    for name in changes:
        if name not in ("max_epochs", "learning_rate"):
            raise ParameterError(f"{name} does not apply to rules that conclude sets: leave it out.")
    threshold = 0.5 if _holds_classes(task, bags, y, len(rules.output_names)) else None
    changes = {"max_epochs": Training.max_epochs} | changes
    model = MIMamdani(rules=rules, threshold=threshold, **changes, **settings)
    found: RuleBase = model.fit(bags, y, sample_weight).rules_
    return found


def _holds_classes(task: str, bags: Any, y: Any, n_outputs: int) -> bool:
    """Return whether labels are classes."""
    choice(("auto", "classification", "regression"))("task", task)
    if task != "auto":
        return task == "classification"
    some = as_bags(next(iter(bags)) if isinstance(bags, BagStream) else bags)
    labels = bag_labels(some, y, "train_rules")
    values = np.unique(labels)
    if labels.dtype.kind in "iuf" and labels.ndim == 1 and len(values) == max(n_outputs, 2):
        return bool((values == np.round(values)).all())
    return holds_classes(labels)

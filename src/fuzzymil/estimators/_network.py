"""What MI-ANFIS classifiers and regressors share: training rules, reading them back, inference."""

from __future__ import annotations

import copy
import dataclasses
import functools
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Self

import jax
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, warn_user
from fuzzymil.bags import Bags, BagStream, as_bags
from fuzzymil.estimators._distributed import train_spread
from fuzzymil.estimators._explain import Explaining
from fuzzymil.estimators._initialize import Coding, Job, Learned, Overview, Starting
from fuzzymil.estimators._replacement import fitting_rules
from fuzzymil.estimators.features import bag_labels, compare_features, complete_bags, record_features
from fuzzymil.estimators.persistence import save_model
from fuzzymil.network.segments import pack
from fuzzymil.rules import RuleBase
from fuzzymil.training.checkpoints import Checkpoints
from fuzzymil.training.distributed.census import sampled
from fuzzymil.training.distributed.feed import Feed
from fuzzymil.training.distributed.trainer import train_widely
from fuzzymil.training.limits import limits_of, unmoved
from fuzzymil.training.progress import progress_bar
from fuzzymil.training.pruning import longest, schedule, shortened, with_conditions
from fuzzymil.training.scaling import Measures, Scaling
from fuzzymil.training.step import Plan
from fuzzymil.training.trainer import Group, Result, train_groups

__all__ = ["Network", "checked_weights", "warn_interrupted"]


ONE_BAG = "There is one sample, that is one bag: learning needs at least two."


class Network(Starting, Explaining, ABC):
    """Base of all estimators that train the network."""

    def _plan(self, learned: Learned) -> Plan:
        return Plan(
            dataclasses.replace(learned.operators, update_rule=self.update_rule),
            loss=self.loss,
            optimizer=self.optimizer,
            batch_size=self.batch_size,
            keep_prob=learned.keep_prob,
            renormalize=self.rule_dropout == "renormalize",
            width_scale=self.width_scale,
            learn_alpha=bool(self.learn_alpha),
            validate=bool(self.early_stopping),
        )

    def _counted(self, n_fits: int, coding: Coding, rng: Any) -> tuple[Array, Array | None]:
        """Weights of the bags in training, and in validation where that is asked for; (n_fits, n_bags) each."""
        weights = np.tile(coding.weights, (n_fits, 1))
        if not self.early_stopping:
            return weights, None
        # From its own generator: a warm start must hold out the same bags again.
        fixed = isinstance(self.random_state, numbers.Integral)
        held = self._held_out(coding.groups, check_random_state(self.random_state) if fixed else rng)
        held_out, weights = weights * held, weights * ~held
        if not (weights.any() and held_out.any()):
            raise ParameterError("early_stopping leaves no bags to train or to validate on: use more bags.")
        return weights, held_out

    def _group(
        self, learned: Learned, bags: Bags, coding: Coding, weights: Array, held_out: Array | None, rng: Any
    ) -> Group:
        """Everything that training needs to know of the data, on standardized axes."""
        axes = learned.scaling
        return Group(
            learned.params,
            learned.masks,
            pack(bags.instances, bags.offsets, self._dtype(), -axes.shift / axes.scale, axes.apply),
            axes.apply_to_targets(coding.targets),
            weights,
            [int(seed) for seed in rng.randint(2**31 - 1, size=len(learned.params))],
            held_out,
            learned.n_epochs,
            learned.optimizer_state,
            learned.limits,
        )

    def _dtype(self) -> Any:
        return np.float64 if self.precision == "double" else np.float32

    def _train(
        self,
        groups: list[Group],
        plan: Plan,
        max_epochs: int,
        checkpoints: Checkpoints | None = None,
        feed: Feed | None = None,
    ) -> list[Result]:
        with progress_bar(type(self).__name__, enabled=bool(self.verbose)) as report:
            settings: dict[str, Any] = {
                "learning_rate": float(self.learning_rate),
                "max_epochs": max_epochs,
                "tol": float(self.tol),
                "n_iter_no_change": self.n_iter_no_change,
                "callbacks": tuple(self.callbacks or ()),
                "report": report,
                "checkpoints": checkpoints,
            }
            if feed is None:
                results = train_groups(groups, plan, **settings)
            else:
                results = [train_widely(groups[0], plan, feed, **settings)]
        for result in results:
            if result.diverged.any():
                runs = f"{result.diverged.sum()} of {len(result.diverged)} runs" if len(result.diverged) > 1 else "it"
                warn_user(
                    f"Training diverged: {runs} stopped after {int(result.n_epochs[result.diverged].max())} epoch(s), "
                    "with the parameters before that. Use a smaller learning_rate "
                    f"(it was {self.learning_rate:g}), wider sets (init_width) or, if off, standardize=True.",
                    ConvergenceWarning,
                )
        return results

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
            masks=[learned.masks[f] for f in best],
            n_runs=1,
            n_epochs=learned.n_epochs + int(result.n_epochs.max(initial=0)),
            optimizer_state=_take(result.optimizer_state, best),
            remembers=(self._plan(learned), self.precision),
        )
        return kept, best

    def _rule_base(self, learned: Learned, place: int, *, trained: bool) -> Callable[[], RuleBase]:
        """Return what makes the rules of one fit, in the user's units, with the factor of Rule Dropout folded in."""
        params = learned.params[place]
        if trained:
            p = self._dropout_factor(learned.keep_prob)
            params = params._replace(coefs=p * params.coefs, consequent_alpha=params.consequent_alpha / p)
        params = learned.scaling.outward(params)
        operators = learned.operators
        alphas = {name: _number_or_tuple(getattr(params, name)) for name in ("alpha", "consequent_alpha")}
        if learned.template is not None:
            start = with_conditions(learned.template, learned.masks[place])
            moved = start.with_numbers(params, aggregation=operators.aggregation, combine=operators.combine, **alphas)
            return functools.partial(unmoved, learned.template, moved, self.frozen)
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
            combine=operators.combine,
            normalize=operators.normalize,
            default=learned.default,
            limited=learned.scaling.limited,
            **alphas,
        )

    def _bags_to_fit(self, X: Any, *, going_on: bool) -> Bags:
        bags = complete_bags(self, X, allow_missing=self.missing == "ignore")
        if going_on:
            compare_features(self, bags)
        return bags

    @abstractmethod
    def _encode(self, bags: Bags, y: Any, sample_weight: Any, *, going_on: bool, classes: Any) -> Coding:
        """Turn labels into what the network is to answer."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, go_on: bool, classes: Any = None) -> Job:
        """Check everything and start (or continue) the rules; changes nothing on the estimator."""
        self._check_settings()
        going_on = go_on and hasattr(self, "members_")
        bags = self._bags_to_fit(X, going_on=going_on)
        if bags.n_bags < 2 and not going_on:
            raise InputError(ONE_BAG)
        coding = self._encode(bags, y, sample_weight, going_on=going_on, classes=classes)
        rng = check_random_state(self.random_state)
        if going_on and self._learned.params[0].coefs.shape[1] != coding.targets.shape[1]:
            raise InputError("These labels need another number of outputs than the fitted rules have: fit anew.")
        overview = Overview(Measures.of(bags.instances), coding.targets, coding.weights)
        if going_on:
            learned = self._continued(bags.n_bags)
        else:
            sample, places = sampled(bags)
            learned = self._start(sample, coding.only(places), rng, overview)
        weights, held_out = self._counted(len(learned.params), coding, rng)
        group = self._group(learned, bags, coding, weights, held_out, rng)
        return Job(bags, coding, learned, group, self._plan(learned), going_on)

    def _continued(self, n_bags: int) -> Learned:
        """Return the present rules to go on from, if the settings still describe them."""
        for name, before in self._learned.structure.items():
            now = getattr(self, name)
            if now != before:
                raise ParameterError(
                    f"Training goes on from rules made with {name}={before!r}, but now {name}={now!r}: "
                    "set it back, or fit anew with warm_start=False."
                )
        before = self._learned
        learned = dataclasses.replace(before, keep_prob=self._keep_prob(before.params[0], before.masks[0], n_bags))
        if learned.remembers == (self._plan(learned), self.precision):
            return learned
        return dataclasses.replace(learned, optimizer_state=None)  # another optimizer starts afresh

    def _finish(self, job: Job, result: Result) -> Self:
        """Set what a fitted estimator has: after training, so that a failure leaves it as it was."""
        kept, best = self._keep_best(dataclasses.replace(job.learned, masks=job.group.masks), result)
        initial = self._rule_base(job.learned, best[0], trained=job.going_on)
        members = [self._rule_base(kept, place, trained=True)() for place in range(len(kept.params))]
        if not job.going_on:
            record_features(self, job.bags)
        self._set_fitted(kept, members, initial, result.history[best[0]])
        return self

    def _train_jobs(self, jobs: list[Job], max_epochs: int, feed: Feed | None = None) -> list[tuple[Job, Result]]:
        """Train jobs that are alike, and shorten their rules in steps where ``max_terms`` asks for it.

        With a feed there is one job, which is trained on the bags of the feed.
        """
        checkpoints = None if self.checkpoint is None else Checkpoints(self.checkpoint)
        results = self._train([job.group for job in jobs], jobs[0].plan, max_epochs, checkpoints, feed)
        for n_terms in schedule(max(longest(job.group) for job in jobs), self.max_terms):
            if results[0].interrupted:
                break
            jobs = [
                dataclasses.replace(job, group=shortened(job.group, result, job.plan, n_terms))
                for job, result in zip(jobs, results, strict=True)
            ]
            again = self._train([job.group for job in jobs], jobs[0].plan, (max_epochs + 1) // 2, checkpoints, feed)
            results = [before.followed_by(after) for before, after in zip(results, again, strict=True)]
        if checkpoints is not None and not results[0].interrupted:
            checkpoints.finished()
        return list(zip(jobs, results, strict=True))

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if isinstance(X, BagStream) or self.distributed:
            return self._conclude(*train_spread(self, X, y, sample_weight))
        job = self._prepare(X, y, sample_weight, go_on=bool(self.warm_start))
        return self._conclude(*self._train_jobs([job], self.max_epochs)[0])

    def _fit_part(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        if isinstance(X, BagStream) or self.distributed:
            raise ParameterError(
                "partial_fit takes bags in the memory of one process: for a stream, or with distributed=True, use fit "
                "(warm_start=True goes on)."
            )
        job = self._prepare(X, y, sample_weight, go_on=True, classes=classes)
        job, result = self._train_jobs([job], 1)[0]
        return self._conclude(dataclasses.replace(job, partial=True), result)

    def _conclude(self, job: Job, result: Result) -> Self:
        warn_interrupted([result])
        return self._finish(job, result)

    def _set_fitted(
        self,
        learned: Learned,
        members: list[RuleBase],
        initial: RuleBase | Callable[[], RuleBase],
        history: dict[str, Array],
    ) -> None:
        self._learned = learned
        self.members_ = members
        self.rules_ = members[0]
        self._initial = initial
        self.history_ = history
        self.n_iter_ = max(len(history["loss"]), 1)

    @property
    def initial_rules_(self) -> RuleBase:
        """The rules before training; made when they are asked for, which few do and takes a while."""
        if not isinstance(self._initial, RuleBase):
            self._initial = self._initial()
        return self._initial

    def _restore(
        self,
        members: list[RuleBase],
        initial: RuleBase,
        history: dict[str, Array],
        axes: Scaling,
        n_epochs: int,
        keep_prob: float | None,
    ) -> None:
        """Set the state of a saved model; training can go on from it."""
        p = self._dropout_factor(keep_prob)
        params = [axes.inward(rules.compile()[0]) for rules in members]
        params = [each._replace(coefs=each.coefs / p, consequent_alpha=each.consequent_alpha * p) for each in params]
        written = isinstance(self.init, RuleBase)
        learned = Learned(
            params,
            [rules.compile()[1] for rules in members],
            members[0].compile()[2],
            axes,
            members[0].outputs,
            None if not hasattr(self, "feature_names_in_") else tuple(self.feature_names_in_),
            members[0].default,
            keep_prob,
            self._structure(),
            n_epochs=n_epochs,
            template=members[0] if written else None,
            limits=limits_of(members[0], self.frozen) if written else None,
        )
        self._set_fitted(learned, members, initial, history)

    def _dropout_factor(self, keep_prob: float | None) -> float:
        """Scale of all rule outputs at test time, as the paper's Rule Dropout has it."""
        return 1.0 if keep_prob is None or self.rule_dropout != "paper" else keep_prob

    # ------------------------------------------------------------------ prediction

    def _output(self, X: Any, *, by_instance: bool = False) -> Array:
        """Mean output of the members, (b, k), or (i, k) with every instance a bag of its own."""
        if isinstance(X, BagStream):
            return np.concatenate([self._output(part, by_instance=by_instance) for part in X])
        return self._infer(self._bags_to_read(X), by_instance=by_instance)

    def _labels_and_answers(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return what bags are, by ``y`` or their own labels, and what is predicted."""
        if isinstance(X, BagStream) and y is None:  # one pass for both
            labels, answers = zip(*(self._labels_and_answers(part, None) for part in X), strict=True)
            return np.concatenate(labels), np.concatenate(answers)
        answers = self.predict(X)
        return (np.asarray(y) if isinstance(X, BagStream) else bag_labels(as_bags(X), y, type(self).__name__)), answers

    def _bags_to_read(self, X: Any) -> Bags:
        check_is_fitted(self)
        bags = complete_bags(self, X, allow_missing=self.missing == "ignore")
        compare_features(self, bags)
        # Names are compared; rules of unnamed features must not look for "x1".
        return Bags(bags.instances, bags.offsets, ids=bags.ids)

    def _infer(self, bags: Bags, *, by_instance: bool = False) -> Array:
        plain = Bags(bags.instances, np.arange(bags.n_instances + 1) if by_instance else bags.offsets)
        return np.asarray(np.mean([rules.infer(plain).output for rules in self.members_], axis=0))

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy that predicts with these rules: with edited or simplified ones, say.

        Classes, features and calibration are this model's. The copy has one member, and the rules are its
        ``init``: `partial_fit` and warm starts go on from them, and `fit` starts from them. Nothing is frozen in it.

        Parameters
        ----------
        rules : RuleBase
            Over the model's features, with as many outputs as its own rules have.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = MIANFISClassifier(n_rules=2, max_epochs=5, random_state=0).fit(bags, [0, 1, 0, 1])
        >>> model.with_rules(model.rules_.edit(conclusions={1: 0, 2: 0})).predict(bags).tolist()
        [0, 0, 0, 0]
        """
        check_is_fitted(self)
        rules = fitting_rules(self, rules)
        model = copy.copy(self)
        model.init, model.frozen = rules, ()
        before = self._learned
        axes = before.scaling.limited_as(rules)
        model._restore([rules], self.initial_rules_, self.history_, axes, before.n_epochs, before.keep_prob)
        return model

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


def warn_interrupted(results: Iterable[Result]) -> None:
    """Warn if Ctrl-C ended training early."""
    epochs = [int(result.n_epochs.max()) for result in results if result.interrupted]
    if epochs:
        warn_user(
            f"Training was interrupted (Ctrl-C) after {max(epochs)} epoch(s): the model keeps what it has learned so "
            "far. Press Ctrl-C twice to stop the program."
        )


def _number_or_tuple(values: Any) -> float | tuple[float, ...]:
    return tuple(np.asarray(values, float)) if np.ndim(values) else float(values)


def _take(tree: Any, fits: list[int]) -> Any:
    return jax.tree.map(lambda values: np.asarray(values)[fits], tree)


def checked_weights(sample_weight: Any, bags: Bags) -> Array:
    """Return one weight a bag, none negative, not all zero."""
    weights = _check_sample_weight(sample_weight, np.empty((bags.n_bags, 1)), ensure_non_negative=True)
    weights = np.asarray(weights, float)
    if not weights.any():
        raise InputError("All sample weights are zero: at least one bag must count.")
    return weights

"""What MI-ANFIS classifiers and regressors share: fitting rules, resuming training, inference."""

from __future__ import annotations

import copy
import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, warn_user
from fuzzymil._utils.runtime import require_jax
from fuzzymil.bags import Bags, BagStream
from fuzzymil.estimators._estimator import RuleEstimator
from fuzzymil.estimators._initialization import Coding, Learned, Overview, initialized, keep_prob, limits_on, structure
from fuzzymil.estimators._jobs import (
    Job,
    best_of,
    coverage_of,
    dropout_factor,
    features_in,
    group_of,
    plan_of,
    rule_base,
    training_weights,
    warn_interrupted,
)
from fuzzymil.estimators._look import Look, require_all_classes, require_no_labels
from fuzzymil.estimators._narrowing import Narrowed
from fuzzymil.estimators.inputs import compare_features, complete_bags, record_features
from fuzzymil.estimators.options import NetworkSettings
from fuzzymil.estimators.rule_model import Committee
from fuzzymil.learn.choose import choose_rules
from fuzzymil.learn.train.constraints import Touched
from fuzzymil.learn.train.limits import touched_by
from fuzzymil.learn.train.partition import sampled, sampled_by_class
from fuzzymil.learn.train.progress import counting_bar
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.learn.train.stream import summarize
from fuzzymil.rules import RuleBase

if TYPE_CHECKING:
    from fuzzymil.learn.train import Checkpoints, Group, Plan, Result
    from fuzzymil.learn.train.feed import Feed


class Network(NetworkSettings, Committee, RuleEstimator):
    """Base of all estimators that train the network."""

    # ------------------------------------------------------------------ fitting

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._check_settings()
        resumes = bool(self.warm_start) and hasattr(self, "_learned")
        if self._selects and not resumes:
            return self._choose(X, y, sample_weight)
        if isinstance(X, BagStream):
            job, feed = self._prepare_stream(X, y, sample_weight)
        else:
            job, feed = self._prepare(X, y, sample_weight, resume=bool(self.warm_start)), None
        job, result = self._train_jobs([job], self.max_epochs, feed)[0]
        warn_interrupted([result])
        return self._finish(job, result)

    def _fit_part(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        self._check_settings()
        if isinstance(X, BagStream):
            raise ParameterError(
                "partial_fit takes bags in memory: for a stream, use fit (warm_start=True resumes training)."
            )
        if self._selects and not hasattr(self, "_learned"):
            return self._choose(X, y, sample_weight, classes)
        job = self._prepare(X, y, sample_weight, resume=True, classes=classes)
        job, result = self._train_jobs([job], 1)[0]
        warn_interrupted([result])
        return self._finish(dataclasses.replace(job, partial=True), result)

    def _choose(self, X: Any, y: Any, sample_weight: Any, classes: Any = None) -> Self:
        """Choose rules from candidates; of a stream or very many bags, from a sample."""
        if isinstance(X, BagStream):
            seen = self._look(X, y, sample_weight, resumes=False)
            bags, coding, overview, rng = seen.summary.sample, seen.sample, seen.overview, seen.rng
            narrowed = Narrowed(bags, bags)
            require_all_classes(seen.coding, coding)
        else:
            everything = self._bags_to_fit(X, resumes=False)
            _require_bags(everything.n_bags, resumes=False)
            coding = self._encode(everything, y, sample_weight, resumes=False, classes=classes)
            narrowed = Narrowed.of(everything, coding)
            rng = check_random_state(self.random_state)
            overview = Overview(Measures.of_bags(narrowed.bags), coding.targets, coding.weights)
            bags, places, factors = sampled_by_class(narrowed.bags, coding.groups)
            coding = coding.only(places)
            coding = dataclasses.replace(coding, weights=coding.weights * factors)
        scaling = self._scaling(overview.measures, overview.targets)
        gaps = self._stand_ins(bags)
        with counting_bar("Choosing rules", enabled=bool(self.verbose)) as progress:
            choice = choose_rules(
                bags,
                coding.targets,
                coding.weights,
                coding.groups,
                scaling=scaling,
                classes=self._classifies(),
                outputs=coding.outputs,
                n_rules=self.n_rules,
                max_conditions=self.max_conditions,
                n_members=self.n_estimators,
                rng=rng,
                missing_values=gaps,
                may_ask_missing=self.missing == "condition",
                progress=progress,
            )
        record_features(self, narrowed.whole)
        self._set_classes(coding)
        self.coverage_ = narrowed.coverage(choice.members)
        members = [*map(narrowed.rules, choice.members)]
        scaling = narrowed.scaling(scaling).limited_as(members[0])
        initial = choice.initial if narrowed.places is None else narrowed.rules(choice.initial())
        self._restore(members, initial, {"loss": np.array([choice.cost])}, scaling, 0, None, self._intended_loss)
        self.choice_ = choice.held_out_costs
        self.n_bags_chosen_from_ = bags.n_bags
        return self

    def _set_classes(self, coding: Coding) -> None:
        """Set the attributes that depend on the kind of targets."""

    @property
    def _loss(self) -> str:
        """The loss that the fitted rules were trained with."""
        return self._learned.loss

    @abstractmethod
    def _classifies(self) -> bool:
        """Return whether this is a classifier."""

    @abstractmethod
    def _encode(self, bags: Bags, y: Any, sample_weight: Any, *, resumes: bool, classes: Any) -> Coding:
        """Turn labels into targets of the network."""

    def _scaling(self, measures: Measures, targets: Array) -> Scaling:
        return Scaling.fit(measures, standardize=bool(self._variant.standardize), clip=self._variant.clip)

    def _bags_to_fit(self, X: Any, *, resumes: bool) -> Bags:
        bags = complete_bags(self, X, allow_missing=self.missing != "error")
        return compare_features(self, bags) if resumes else bags

    def _prepare(self, X: Any, y: Any, sample_weight: Any, *, resume: bool, classes: Any = None) -> Job:
        """Check the data and initialize (or resume) the rules; changes nothing on the estimator."""
        require_jax("Training a network")
        resumes = resume and hasattr(self, "_learned")
        bags = self._bags_to_fit(X, resumes=resumes)
        _require_bags(bags.n_bags, resumes=resumes)
        coding = self._encode(bags, y, sample_weight, resumes=resumes, classes=classes)
        rng = check_random_state(self.random_state)
        if resumes and self._learned.params[0].coefs.shape[1] != coding.targets.shape[1]:
            raise InputError("These labels need another number of outputs than the fitted rules have: fit a new model.")
        overview = Overview(Measures.of_bags(bags), coding.targets, coding.weights)
        sample, places = (bags, np.arange(0)) if resumes else sampled(bags)
        learned = self._start(sample, coding.only(places), rng, overview, resumes=resumes)
        weights, held_out = training_weights(self, len(learned.params), coding, rng)
        group = group_of(learned, bags, coding, weights, held_out, rng, self._run.precision)
        return Job(bags, coding, learned, group, plan_of(self, learned), resumes)

    def _start(self, bags: Bags, coding: Coding, rng: Any, overview: Overview, *, resumes: bool) -> Learned:
        if resumes:
            return self._resumed(len(overview.targets))
        scaling = self._scaling(overview.measures, overview.targets)
        with counting_bar("Finding initial rules", enabled=bool(self.verbose)):
            return initialized(self, bags, coding, scaling, rng, overview)

    def _resumed(self, n_bags: int) -> Learned:
        """Return the present rules to train further, if the parameters still describe them."""
        before = self._learned
        if len(before.params) > 1 and before.template is not None and self._given_rules is None:
            raise ParameterError(
                "The members of a committee of chosen rules differ in shape and cannot be trained further: choose anew "
                "(warm_start=False), or train one of them (init=model.members_[0])."
            )
        for name, then in before.structure.items():
            now = getattr(self, name)
            if now != then:
                raise ParameterError(
                    f"The fitted rules were made with {name}={then!r}, but now {name}={now!r}: restore it to resume "
                    "training, or fit a new model with warm_start=False."
                )
        p = keep_prob(self, before.params[0], before.masks[0], n_bags, given=before.template is not None)
        learned = dataclasses.replace(before, keep_prob=p)
        if learned.template is not None:
            n_coefs = learned.params[0].coefs.shape[2]
            learned = dataclasses.replace(learned, **limits_on(self, learned.template, n_coefs, learned.scaling))
        if learned.remembers == (plan_of(self, learned), self._run.precision):
            return learned
        return dataclasses.replace(learned, optimizer_state=None)  # of another optimizer

    def _look(self, X: Any, y: Any, sample_weight: Any, *, resumes: bool) -> Look:
        """Read a stream once: a sample and what must be known of all bags."""
        require_no_labels(y, sample_weight)
        rng = check_random_state(self.random_state)
        with counting_bar("Reading", enabled=bool(self.verbose)) as look:
            summary = summarize(X, functools.partial(self._bags_to_fit, resumes=resumes), look)
        n_bags = len(summary.labels)
        _require_bags(n_bags, resumes=False)
        # Encoding looks at labels only, so bags with a single zero stand in for those that are not in memory.
        stand_in = Bags(np.zeros((n_bags, 1)), np.arange(n_bags + 1))
        coding = self._encode(stand_in, summary.labels, None, resumes=resumes, classes=None)
        summary.measures.require_moderate(summary.sample.names)
        overview = Overview(summary.measures, coding.targets, coding.weights)
        return Look(X, summary, coding, coding.only(summary.places), overview, rng)

    def _prepare_stream(self, X: Any, y: Any, sample_weight: Any) -> tuple[Job, Feed]:
        """Prepare training on a stream.

        Rules are initialized from a sample of all bags, which the job is about; the feed brings all of them.
        """
        require_jax("Training a network")
        from fuzzymil.learn.train.feed import Feed

        resumes = bool(self.warm_start) and hasattr(self, "_learned")
        stream, summary, coding, sample, overview, rng = self._look(X, y, sample_weight, resumes=resumes)
        learned = self._start(summary.sample, sample, rng, overview, resumes=resumes)
        weights, held_out = training_weights(self, len(learned.params), coding, rng)
        held = None if held_out is None else held_out[:, summary.places]
        precision = self._run.precision
        group = group_of(learned, summary.sample, sample, weights[:, summary.places], held, rng, precision)
        axes = learned.scaling
        feed = Feed(
            stream=stream,
            summary=summary,
            transform=axes.apply,
            fill=-axes.shift / axes.scale,
            targets=axes.apply_to_targets(coding.targets),
            weights=weights,
            held_out=held_out,
            dtype=group.bags.x.dtype,
        )
        return Job(summary.sample, sample, learned, group, plan_of(self, learned), resumes), feed

    def _train_jobs(self, jobs: list[Job], max_epochs: int, feed: Feed | None = None) -> list[tuple[Job, Result]]:
        """Train jobs of equal shape, and shorten their rules step by step where ``max_conditions`` asks for it.

        With a feed there is one job, which is trained on the bags of the feed.
        """
        from fuzzymil.learn.train import Checkpoints
        from fuzzymil.learn.train.pruning import longest, schedule, shortened

        checkpoints = None if self._run.checkpoint is None else Checkpoints(self._run.checkpoint)
        results = self._train([job.group for job in jobs], jobs[0].plan, max_epochs, checkpoints, feed)
        stops = (
            ()
            if self.max_conditions is None
            else schedule(max(longest(job.group) for job in jobs), self.max_conditions)
        )
        for n_terms in stops:
            if results[0].interrupted:
                break
            jobs = [
                dataclasses.replace(job, group=shortened(job.group, result, job.plan, n_terms))
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
            learning_rate=float(self.learning_rate),
            max_epochs=max_epochs,
            tol=float(self._variant.tol),
            n_iter_no_change=self.n_iter_no_change or 1,  # not used without a validation set
            callbacks=tuple(self._run.callbacks),
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
                    f"(it was {self.learning_rate:g}), wider sets (init_width) or, if off, standardize=True.",
                    ConvergenceWarning,
                )
        return results

    def _finish(self, job: Job, result: Result) -> Self:
        """Set the fitted attributes: after training, so that a failure leaves the estimator as it was."""
        kept, best = best_of(dataclasses.replace(job.learned, masks=job.group.masks), result)
        kept.remembers = (plan_of(self, kept), self._run.precision)
        initial = rule_base(self, job.learned, best[0], trained=job.resumes)
        members = [rule_base(self, kept, place, trained=True) for place in range(len(kept.params))]
        if not job.resumes:
            record_features(self, job.bags)
        if not job.partial or not self._coverage:  # part of the data is not what is usual
            self._coverage = [coverage_of(job.bags, features_in(kept, members))]
        self._set_fitted(kept, [*members], initial, result.history[best[0]])
        if not job.resumes:
            for name in ("choice_", "n_bags_chosen_from_"):  # of an earlier fit
                self.__dict__.pop(name, None)
        return self

    def _set_fitted(
        self,
        learned: Learned,
        members: list[RuleBase | Callable[[], RuleBase]],
        initial: RuleBase | Callable[[], RuleBase],
        history: dict[str, Array],
    ) -> None:
        self._learned = learned
        self._members = members
        self._initial = initial
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
    def touched_(self) -> list[Touched]:
        """What training left at a bound of ``constraints``."""
        check_is_fitted(self)
        learned, constraints = self._learned, self._constraints
        if constraints is None or learned.box is None or learned.template is None:
            return []
        said = [rule.concluding(now.coefs) for rule, now in zip(learned.template.rules, self.rules_.rules, strict=True)]
        now = dataclasses.replace(learned.template, variables=self.rules_.variables, rules=tuple(said))
        return touched_by(now, self.frozen or (), constraints, learned.box)

    def _restore(
        self,
        members: list[RuleBase],
        initial: RuleBase | Callable[[], RuleBase],
        history: dict[str, Array],
        axes: Scaling,
        n_epochs: int,
        keep_prob: float | None,
        loss: str,
    ) -> None:
        """Set the state of a saved model, from which training can resume."""
        p = dropout_factor(self, keep_prob)
        params = [axes.inward(rules.compile()[0], additive=not rules.normalize) for rules in members]
        params = [each._replace(coefs=each.coefs / p, conclusion_alpha=each.conclusion_alpha * p) for each in params]
        arrangement = members[0].arrangement
        given = self._given_rules is not None or (arrangement.premises, arrangement.parts) != (None, None)
        learned = Learned(
            params=params,
            masks=[rules.compile()[1] for rules in members],
            operators=members[0].compile()[2],
            scaling=axes,
            outputs=members[0].output_names,
            feature_names=None if not hasattr(self, "feature_names_in_") else tuple(self.feature_names_in_),
            default=members[0].default,
            loss=loss,
            keep_prob=keep_prob,
            structure=structure(self),
            n_epochs=n_epochs,
            template=members[0] if given else None,
            **(limits_on(self, members[0], params[0].coefs.shape[2], axes) if given else {}),
        )
        self._set_fitted(learned, [*members], initial, history)

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy that predicts with other rules, for example edited or simplified ones.

        Classes, features and calibration stay those of this model. The copy has one member, and the rules become its
        ``init``: `partial_fit` and warm starts resume from them, and `fit` starts from them. Nothing is frozen
        or constrained in it.

        Parameters
        ----------
        rules : RuleBase
            Rules over the model's features, with as many outputs as its own.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = MIANFISClassifier(n_rules=2, max_epochs=5, random_state=0).fit(bags, [0, 1, 0, 1])
        >>> model.with_rules(model.rules_.edit(conclusions={1: 0, 2: 0})).predict(bags).tolist()
        [0, 0, 0, 0]
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        model.init, model.frozen, model.constraints = rules, (), None
        before = self._learned
        axes = before.scaling.limited_as(rules)
        model._restore(
            [rules], self.initial_rules_, self.history_, axes, before.n_epochs, before.keep_prob, before.loss
        )
        return model

    # ------------------------------------------------------------------ for scikit-learn

    def _bags_to_read(self, X: Any) -> Bags:
        check_is_fitted(self)
        return super()._bags_to_read(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learned")


def _require_bags(n_bags: int, *, resumes: bool) -> None:
    if n_bags < 2 and not resumes:
        raise InputError("There is one sample, which means one bag: training needs at least two.")

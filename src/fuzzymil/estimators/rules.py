"""Short additive rules, chosen from many candidates: `RuleClassifier`, `RuleRegressor`; and diagnosis of data."""

from __future__ import annotations

import copy
import dataclasses
import functools
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import (
    EvidenceWarning,
    InputError,
    LeakWarning,
    ParameterError,
    described,
    known_name,
    warn_user,
)
from fuzzymil.bags import Bags, BagStream, as_bags, current_client
from fuzzymil.estimators.base import (
    BagClassifier,
    BagRegressor,
    EncodedLabels,
    LabeledStream,
    Learner,
    Overview,
    require_bags,
    summarize_stream,
)
from fuzzymil.estimators.inputs import MISSING, bag_labels, holds_classes, record_features
from fuzzymil.estimators.parameters import Check, check_parameters, choice, either, instance, integer
from fuzzymil.estimators.persistence import loadable
from fuzzymil.explain.coverage import Coverage, used_features
from fuzzymil.learn.choose import (
    DataDiagnosis,
    Limits,
    SearchResult,
    choose_rules,
    diagnose,
    informative_features,
    streams,
)
from fuzzymil.learn.choose.demands import Demands, demands_on
from fuzzymil.learn.choose.diagnosis import leaks
from fuzzymil.learn.choose.points import with_points
from fuzzymil.learn.train.constraints import Constraints
from fuzzymil.learn.train.progress import counting_bar
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.premise import ANYTHING


def _check_constraints(name: str, value: Any) -> None:
    Constraints.of(value, chooses=True)


def _check_rules(name: str, value: Any) -> None:
    if isinstance(value, str):
        RuleBase.parse(value)
    elif value is not None:
        instance(RuleBase, "a RuleBase, its text, or None")(name, value)


class _RuleLearner(Learner):
    """What both share: choosing rules."""

    max_rules: int | None
    max_conditions: int | None
    n_estimators: int

    cv: int
    n_jobs: int | None
    points: bool = False
    prototypes: Any
    constraints: Any
    rules: Any

    checks: ClassVar[Mapping[str, Check]] = {
        "max_rules": either(None, otherwise=integer(1)),
        "max_conditions": either(None, otherwise=integer(1)),
        "prototypes": either("auto", False, otherwise=instance(np.bool_, '"auto" or False')),
        "missing": choice(MISSING),
        "constraints": _check_constraints,
        "rules": _check_rules,
        "n_estimators": integer(1),
        "cv": integer(2),
        "n_jobs": either(None, otherwise=instance(numbers.Integral, "an integer or None")),
        "verbose": either(True, False, otherwise=integer(0)),
        "random_state": either(
            None, otherwise=instance((numbers.Integral, np.random.RandomState), "an integer or None")
        ),
    }

    def _check_settings(self) -> None:
        check_parameters(self, self.checks)

    @property
    def _given_rules(self) -> RuleBase | None:
        """The rules that must be in."""
        return RuleBase.parse(self.rules) if isinstance(self.rules, str) else self.rules

    def _demands(self, bags: Bags, labels: EncodedLabels) -> Demands:
        """Return what is demanded of rules on bags, which have the allowed features only."""
        return demands_on(
            bags,
            signs={name: sign for name, sign in _signs(self.constraints).items() if sign and name in bags.names},
            rules=self._given_rules,
            outputs=labels.outputs,
            classes=labels.classes is not None,
            missing_values=self._missing_values(bags),
            max_rules=self.max_rules,
        )

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None, client: Any = None) -> Self:
        """Choose rules that explain the labels of bags.

        Parameters
        ----------
        X : Bags, BagStream, or anything `as_bags` accepts
            Of a stream, candidates are compared and sets are moved on a sample of the bags, and all bags judge the
            rules and decide on their conclusions.
        y : array of shape (n_bags,), or (n_bags, n_outputs) for several numbers, optional
            Label of each bag. Default: the labels of the bags.
        sample_weight : array of shape (n_bags,), optional
            Weight of each bag. Default: equal weights.
        groups : array of shape (n_bags,), optional
            Bags of the same group, for example of one person, are held out together where sizes are compared.
        client : dask.distributed.Client, optional
            A Dask cluster whose workers read the parts of a stream. Default: the client in use, if there is one.
        """
        self._check_settings()
        whole: LabeledStream | None = None
        if isinstance(X, BagStream):
            if groups is not None:
                raise InputError("The bags of a stream have no groups yet: leave groups out.")
            client = current_client(client)
            whole = summarize_stream(self, X, y, sample_weight, quota=streams.quota, client=client)
            bags, labels = whole.sample
            labels = labels.standing_for(whole.labels)
            features = _Features.of(bags, labels, _allowed(self.constraints, bags))
            overview, n_bags = whole.overview, len(whole.labels.groups)
            if features.places is not None:
                measures = Measures(*(each[features.places] for each in overview.measures))
                overview = dataclasses.replace(overview, measures=measures)
            bags = features.bags
        else:
            everything = self._bags_to_learn_from(X)
            require_bags(everything.n_bags)
            labels = self._encode(everything, y, sample_weight)
            groups = None if groups is None else _numbered(groups, everything.n_bags)
            features = _Features.of(everything, labels, _allowed(self.constraints, everything), self._given_rules)
            overview = Overview(Measures.of_bags(features.bags), labels.targets, labels.weights)
            bags, n_bags = features.bags, everything.n_bags
        streams.require_room(bags)
        points = bool(self.points)
        if points and len(labels.outputs) != 1:
            raise ParameterError(f"points need two classes, but there are {len(labels.outputs)}.")
        scaling, demands = self._scaling(overview.measures, overview.targets), self._demands(bags, labels)
        with counting_bar("Choosing rules", enabled=bool(self.verbose)) as progress:
            found = choose_rules(
                bags,
                labels.targets,
                labels.weights,
                labels.groups,
                scaling=scaling,
                classes=labels.classes is not None,
                outputs=labels.outputs,
                limits=Limits(self.max_rules, self.max_conditions, self.prototypes is not False, self.cv, self.n_jobs),
                n_members=self.n_estimators,
                rng=check_random_state(self.random_state),
                groups=groups,
                missing_values=self._missing_values(bags),
                may_ask_missing=self.missing == "condition",
                demands=demands,
                progress=progress,
            )
        if whole is not None and bags.n_bags < n_bags:
            found = self._conclude_from_all(found, X, whole, features, scaling, client)
        record_features(self, features.everything)
        self._record_labels(labels)
        self.coverage_ = features.coverage(found.members)
        round_off = _same
        if points:
            round_off = functools.partial(with_points, bags=bags, weights=labels.weights, n_given=demands.n_given)
        self._set_rules([features.widen(round_off(rules)) for rules in found.members])
        self.frontier_ = found.frontier.with_rules(lambda rules: features.widen(round_off(rules)))
        if self.n_estimators == 1:
            self._members = [self.frontier_[self.frontier_.chosen].rules]
        self.n_bags_compared_ = len(found.compared), n_bags
        self.loss_ = found.cost
        for leak in leaks(bags, labels.targets, labels.groups, classes=labels.classes is not None):
            warn_user(leak, LeakWarning)
        doubt = self.frontier_.doubt
        if doubt:
            warn_user(doubt, EvidenceWarning)
        return self

    def _conclude_from_all(
        self,
        found: SearchResult,
        stream: BagStream,
        whole: LabeledStream,
        features: _Features,
        scaling: Scaling,
        client: Any,
    ) -> SearchResult:
        points = streams.affordable(found.frontier.points, len(whole.labels.groups))
        of_part = functools.partial(streams.truths, bases=[features.widen(point.rules) for point in points])
        return streams.conclude(
            found,
            points,
            stream.map(of_part, client),
            sampled=whole.summary.places,
            targets=whole.labels.targets,
            weights=whole.labels.weights,
            scaling=scaling,
            classes=whole.labels.classes is not None,
            n_folds=self.cv,
        )

    def at(self, n_rules: int) -> Self:
        """Return the same model with another number of rules, from the frontier: nothing is fitted.

        Parameters
        ----------
        n_rules : int
            Maximum number of rules. The largest stored size up to it is used; ``frontier_.chosen`` of the copy tells
            which one that is.

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> from fuzzymil.datasets import make_planted
        >>> bags = make_planted("either", n_bags=100, n_noise=2, random_state=0)
        >>> model = RuleClassifier(random_state=0).fit(bags)
        >>> model.rules_.n_rules, model.at(1).rules_.n_rules
        (2, 1)
        """
        check_is_fitted(self)
        if not isinstance(n_rules, numbers.Integral):
            raise ParameterError(f"n_rules must be an integer, got {described(n_rules)}.")
        frontier = self.frontier_
        given = self._given_rules
        least = 0 if given is None else sum(rule.premise != ANYTHING for rule in given.rules)
        if n_rules < least:
            raise ParameterError(f"n_rules={n_rules}, but {least} rules must be in (rules=): allow more.")
        model = copy.copy(self)
        model.frontier_ = dataclasses.replace(frontier, chosen=frontier.place(int(n_rules)))
        model._set_rules([model.frontier_[model.frontier_.chosen].rules])
        return model

    def _set_rules(self, members: Sequence[RuleBase], *, edited: bool = False) -> None:
        self._members = [*members]
        self._edited = edited  # not by `fit`: a report does not cross-validate such rules

    def with_rules(self, rules: RuleBase) -> Self:
        """Return a fitted copy that predicts with other rules, for example edited, simplified or trained ones.

        Classes and features stay those of this model; the copy has one member.

        Parameters
        ----------
        rules : RuleBase
            Rules over the model's features, with as many outputs as its own.

        Examples
        --------
        >>> from fuzzymil import RuleClassifier
        >>> bags = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
        >>> model = RuleClassifier(random_state=0).fit(bags, [0, 1, 0, 1])
        >>> none = model.rules_.edit(conclusions={1: 0}, default=-1)
        >>> model.with_rules(none).predict(bags).tolist()
        [0, 0, 0, 0]
        """
        rules = self._suitable(rules)
        model = copy.copy(self)
        model._set_rules([rules], edited=True)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return bool(getattr(self, "_members", ()))


def _same(rules: RuleBase) -> RuleBase:
    return rules


def _numbered(groups: Any, n_bags: int) -> Array:
    """Return the number of each bag's group."""
    found = np.asarray(groups, dtype=object)
    if found.shape != (n_bags,):
        raise InputError(f"groups must have one entry for each of the {n_bags} bags, got shape {found.shape}.")
    return np.unique(found.astype(str), return_inverse=True)[1]


class _Features(NamedTuple):
    """The bags to learn from, which may have only some of very many sparse features."""

    everything: Bags
    bags: Bags
    places: Array | None = None  # of their features; None: all

    @classmethod
    def of(
        cls, bags: Bags, labels: EncodedLabels, allowed: Array | None = None, rules: RuleBase | None = None
    ) -> _Features:
        """Return the bags with the allowed features; if they are sparse and large, with those that may matter, dense.

        ``rules``: whose features are kept.
        """
        places = allowed
        if bags.is_large_sparse:
            places = informative_features(bags, labels.targets, labels.weights)
            places = places if allowed is None else np.intersect1d(places, allowed)
            asked = {each.variable for rule in rules.rules for each in rule.conditions} if rules is not None else set()
            own = [d for d, name in enumerate(bags.names) if name in asked] if asked else []
            places = np.union1d(places, own if allowed is None else np.intersect1d(own, allowed)).astype(int)
        return cls(bags, bags) if places is None else cls(bags, bags.select_features(places), places)

    def widen(self, found: RuleBase) -> RuleBase:
        """Return rules over all features."""
        return found if self.places is None else found.over(self.everything.names)

    def coverage(self, members: Sequence[RuleBase]) -> Coverage:
        """Return what is remembered of the bags that rules were learned from."""
        found = Coverage.of(self.bags, used_features(members))
        if self.places is None:
            return found
        return dataclasses.replace(found, columns=tuple(self.places[list(found.columns)].tolist()))


def _signs(constraints: Any) -> Mapping[str, int]:
    """Return the signs of features that are constrained."""
    found = Constraints.of(constraints, chooses=True)
    return found.signs if found is not None and found.signs else {}


def _allowed(constraints: Any, bags: Bags) -> Array | None:
    """Return the positions of the features that rules may ask about; None: all."""
    found, signs = Constraints.of(constraints, chooses=True), _signs(constraints)
    for where, names in (("features", getattr(found, "features", None) or ()), ("signs", signs)):
        for name in names:
            known_name("feature", name, bags.names, f"in {where}")
    named = None if found is None else found.features
    barred = {name for name, sign in signs.items() if not sign}
    if named is None and not barred:
        return None
    kept = [d for d, name in enumerate(bags.names) if (named is None or name in named) and name not in barred]
    if not kept:
        raise ParameterError("constraints leave no feature that rules may ask about: allow one.")
    absent = [name for name, sign in signs.items() if sign and named is not None and name not in named]
    if absent:
        raise ParameterError(f"signs: {absent[0]!r} is not among the features that rules may ask about: leave it out.")
    return np.array(kept)


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RuleClassifier(BagClassifier, _RuleLearner):
    """Short fuzzy rules that classify bags, chosen from many candidates; their conclusions add up to a logit.

    Try this first. There is one output for two classes, and one output per class for more.

    Parameters
    ----------
    max_rules : int or None, default None
        Maximum number of rules; None: 150, of which mostly few are chosen.
    max_conditions : int or None, default None
        Maximum number of conditions in a rule: at most 3, which is also meant by None.
    points : bool, default False
        Whether rules conclude whole points, at most 10, as on an index card; only for two classes. See
        ``rules_.score_table()``.
    prototypes : {"auto", False}, default "auto"
        Whether rules may compare an instance with a typical one in all features. Nobody can read such rules; "auto":
        they are used, together with short ones, only where every short rule base is clearly worse on held-out bags, and
        never if ``max_conditions``, or fewer than 60 ``max_rules``, are given.
    constraints : Constraints, dict or None, default None
        What rules must keep: ``Constraints(signs={"pages": 1})`` if the output must never fall as pages grow in any
        instance (-1: never rise), ``Constraints(features=["pages", "time"])`` if rules may ask about nothing else.
    rules : RuleBase, str or None, default None
        Rules that must be in, as a rule base or its text. Their premises, with their terms and labels, stay as they
        are; a premise without a quantifier means SOME. Their conclusions are fitted together with those of the rules
        that are chosen beside them, in every fold, too; so is what a missing value stands for.
    missing : {"median", "average", "condition", "ignore", "error"}, default "median"
        What a missing value (NaN) means. "median": the median of the training instances takes its place. "average": it
        satisfies a condition to the degree that the training instances do on average. "condition": as "median", and
        rules may ask whether a value is missing. "ignore": it satisfies every condition. "error": raise an error.
    class_weight : dict, "balanced" or None, default None
        Weights of the classes: given by label, inversely proportional to class frequencies, or equal (None).
    pos_label : label or None, default None
        Of two classes, the positive one, whose logit the rules add up to. None: the one that sorts last.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged; all but the first are chosen with random weights of the bags. 1
        keeps the model readable.
    cv : int, default 5
        Number of parts of the bags that are held out in turn, to compare numbers of rules.
    n_jobs : int or None, default None
        Number of processes that share these; None: 1, -1: one for every core.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The chosen rules, in the units of the data; with several members, those of the first.
    members_ : list of RuleBase
        All members. Predictions average their outputs.
    frontier_ : Frontier
        The best rule base of each size, and what held-out bags say of it; ``at`` returns a model with another size.
    n_bags_compared_ : (int, int)
        Number of bags that candidates were compared on, and of all bags; not saved. Of more than 6,000 bags, the first
        is a sample in which every class has its share. Conclusions are fitted to all bags, and so are sets; of a
        stream, sets are fitted to a larger sample.
    loss_ : float
        Mean cross-entropy of the first member on the training bags; not saved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.
    classes_ : array of shape (n_classes,)
        Class labels, sorted.
    pos_label_ : label or None
        Of two classes, the positive one.

    See Also
    --------
    MIANFISClassifier : the network of Khalifa and Frigui.
    train_rules : trains rules; ``model.with_rules(train_rules(model.rules_, bags))``.

    Notes
    -----
    Candidates are conditions on single features with a quantifier over the instances (SOME, AT LEAST k, ON AVERAGE),
    the number of instances, and conjunctions of up to three conditions. A forward search adds one of them after the
    other, fits all conclusions together under a ridge, and so gives the best rule base of 1, 2, 3, 5, 8 ... rules that
    it finds. Cross-validation inside the bags given to `fit` tells how good each size is. The fewest rules are chosen
    that are about as good as the best: within a standard error of it, and a small part of what it explains.
    Without evidence that rules help, there are none. The sets of the rules are then moved together with their
    conclusions, by gradient. The outputs of the rules add up to the logit of the positive class, or to one logit per
    class (``rules_.normalize`` is False).

    Examples
    --------
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("count", 100, n_noise=3, random_state=0)
    >>> model = RuleClassifier(random_state=0).fit(bags)
    >>> print(model.rules_)
    Default: y = -3.9...
    Rule 1: IF AT LEAST 3 A is high THEN y += 7.7...
    """

    max_rules: int | None = dataclasses.field(default=None, kw_only=False)
    max_conditions: int | None = dataclasses.field(default=None, kw_only=False)
    points: bool = False
    prototypes: Any = "auto"
    constraints: Any = None
    rules: Any = None
    missing: str = "median"
    class_weight: Any = None
    pos_label: Any = None
    n_estimators: int = 1
    cv: int = 5
    n_jobs: int | None = None
    verbose: bool = False
    random_state: Any = None

    _loss = _intended_loss = "cross_entropy"
    checks: ClassVar[Mapping[str, Check]] = {
        **_RuleLearner.checks,
        **BagClassifier.class_checks,
        "points": either(True, False, otherwise=instance(np.bool_, "True or False")),
    }


@loadable
@dataclasses.dataclass(eq=False, repr=False, kw_only=True)
class RuleRegressor(BagRegressor, _RuleLearner):
    """Short fuzzy rules that predict numbers for bags, chosen from many candidates; their conclusions add up.

    Try this first. Targets are standardized internally; the rules conclude in the units of the targets.

    Parameters
    ----------
    max_rules, max_conditions : int or None, default None
        Maximum number of rules, and of conditions in a rule; see `RuleClassifier`.
    prototypes : {"auto", False}, default "auto"
        Whether rules may compare an instance with a typical one in all features; see `RuleClassifier`.
    constraints : Constraints, dict or None, default None
        Signs and allowed features; see `RuleClassifier`.
    rules : RuleBase, str or None, default None
        Rules that must be in; see `RuleClassifier`.
    missing : {"median", "average", "condition", "ignore", "error"}, default "median"
        What a missing value (NaN) means; see `RuleClassifier`.
    n_estimators : int, default 1
        Number of rule bases whose outputs are averaged; 1 keeps the model readable.
    cv : int, default 5
        Number of parts of the bags that are held out in turn; see `RuleClassifier`.
    n_jobs : int or None, default None
        Number of processes that share these.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default None
        Random seed. Pass an int for reproducible results.

    Attributes
    ----------
    rules_ : RuleBase
        The chosen rules, in the units of the data; with several members, those of the first.
    members_ : list of RuleBase
        All members. Predictions average their outputs.
    frontier_ : Frontier
        The best rule base of each size, and what held-out bags say of it; ``at`` returns a model with another size.
    n_bags_compared_ : (int, int)
        Number of bags that candidates were compared on, and of all bags; see `RuleClassifier`.
    loss_ : float
        Half the mean squared error of standardized targets on the training bags; not saved.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features; only if the bags have names.

    Examples
    --------
    >>> import numpy as np
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("some", 100, n_noise=2, random_state=0)
    >>> model = RuleRegressor(random_state=0).fit(bags, [bag[:, 0].max() for bag in bags])
    >>> model.score(bags, [bag[:, 0].max() for bag in bags]) > 0.9
    True
    """

    max_rules: int | None = dataclasses.field(default=None, kw_only=False)
    max_conditions: int | None = dataclasses.field(default=None, kw_only=False)
    prototypes: Any = "auto"
    constraints: Any = None
    rules: Any = None
    missing: str = "median"
    n_estimators: int = 1
    cv: int = 5
    n_jobs: int | None = None
    verbose: bool = False
    random_state: Any = None


def diagnose_data(
    bags: Any,
    y: Any = None,
    *,
    task: str = "auto",
    max_rules: int | None = None,
    max_conditions: int | None = None,
    verbose: bool = False,
    random_state: Any = 0,
) -> DataDiagnosis:
    """Find out which kind of bag problem some data pose.

    Each kind of rule (one condition on some instance, averages, several conditions together, counts, prototypes) is
    compared on held-out bags with simple baselines: the number of instances alone, a random forest and a linear model
    on the mean, minimum and maximum of each feature in a bag, and the majority class or mean.

    Parameters
    ----------
    bags : Bags, or anything `as_bags` accepts
    y : array of shape (n_bags,), optional
        Label of each bag. Default: the labels of the bags.
    task : {"auto", "classification", "regression"}, default "auto"
        What the labels are. "auto": numbers if one has a fractional part, or if there are more than 20 different ones
        or more than one for every two bags; otherwise classes.
    max_rules, max_conditions : int or None, default None
        See `RuleClassifier`.
    verbose : bool, default False
        Whether to show a progress bar.
    random_state : int, RandomState or None, default 0

    Returns
    -------
    DataDiagnosis
        ``print`` it.

    Notes
    -----
    The rules are those that `RuleClassifier` or `RuleRegressor` choose with the same seed, and so is what held-out bags
    say of them. All bags have equal weights, and missing values are allowed. The penalty of the rules and of the linear
    model is the best one on the same folds, so their results are a little too good: `cross_val_scores` or
    ``fuzzymil evaluate`` tell how good a model will be on new bags.

    Examples
    --------
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("pair", n_bags=100, n_noise=2, random_state=0)
    >>> found = diagnose_data(bags)
    >>> found.kind
    'conjunctions'
    >>> print(found.facts())
    100 bags, 713 instances (4-10 per bag), 4 features, 0 missing values
    0: 50 bags, 4-10 instances each (median 6.5)
    1: 50 bags, 4-10 instances each (median 7.5)
    """
    if isinstance(bags, BagStream):
        raise InputError("diagnose_data takes bags in memory: pass one part of the stream, or some joined.")
    choice(("auto", "classification", "regression"))("task", task)
    classes = holds_classes(bag_labels(as_bags(bags), y, "diagnose_data")) if task == "auto" else task != "regression"
    kind = RuleClassifier if classes else RuleRegressor
    model = kind(max_rules, max_conditions, missing="ignore", verbose=verbose, random_state=random_state)
    model._check_settings()
    everything = model._bags_to_learn_from(bags)
    labels = model._encode(everything, y, None)
    with counting_bar("Comparing methods", enabled=bool(verbose)) as progress:
        features = _Features.of(everything, labels)
        found = diagnose(
            features.bags,
            labels.targets,
            labels.groups,
            labels=None if labels.classes is None else labels.classes.tolist(),
            scaling=model._scaling(Measures.of_bags(features.bags), labels.targets),
            outputs=labels.outputs,
            n_rules=max_rules,
            max_conditions=max_conditions,
            rng=check_random_state(copy.deepcopy(random_state)),
            progress=progress,
        )
    return dataclasses.replace(found, n_features=everything.n_features, rules=features.widen(found.rules))

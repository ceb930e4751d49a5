"""Tuning of rules without gradients, by SciPy's optimizers: any operators, any cost."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import as_bags
from fuzzymil.estimators.inputs import bag_labels, classes_of_outputs, positive_class
from fuzzymil.estimators.mianfis import labels_are_classes
from fuzzymil.estimators.parameters import choice, frozen_names, integer
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.learn.train.constraints import frozen_parts, peak_intervals
from fuzzymil.learn.train.losses import LOSSES
from fuzzymil.learn.train.mamdani import frozen_names_of, joint_rules
from fuzzymil.rules import RuleBase
from fuzzymil.rules.rule import Variable

_WIDER = np.log(2.0)  # sets become at most twice, and at least half, as wide
_REACH = 0.5  # of the spread of all conclusions, by which one may move

Cost = Callable[[RuleBase], float]


def tune_rules(
    rules: RuleBase | str,
    bags: Any = None,
    y: Any = None,
    *,
    cost: Cost | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    frozen: Sequence[str] = (),
    method: str = "differential_evolution",
    max_evaluations: int = 2000,
    task: str = "auto",
    pos_label: Any = None,
    random_state: Any = None,
) -> RuleBase:
    """Move the sets and conclusions of rules to where a cost is least, without gradients, and return the better rules.

    This is for what `train_rules` cannot follow: the mean of maximum, a cost of your own such as the overshoot of a
    controller, or a landscape with many valleys. It needs many evaluations of all bags, so it suits few rules. Every
    set moves as a whole: its peak between those of its neighbors, and its width by a factor of up to 2. What changed
    is `RuleBase.diff`; rules that are no better than the given ones are not returned.

    Parameters
    ----------
    rules : RuleBase or str
    bags : Bags, or anything `as_bags` accepts, optional
    y : array of shape (n_bags,) or (n_bags, n_outputs), optional
        Label of each bag, classes or numbers. Default: the labels of the bags.
    cost : callable, optional
        ``cost(rules)`` returns the number to minimize; it needs no bags. Default: the mean loss on the bags, which is
        the cross-entropy of classes for additive rules, otherwise the squared error. The targets of classes are 0 and
        1; of rules that conclude sets, the ends of their outputs.
    bounds : mapping of str to (low, high), optional
        Where the peak of a term (``"hue.dark"``) or those of a variable (``"hue"``) stay, and what rules may conclude
        about an output that they conclude numbers about. Default: the range of the variable; half the spread of all
        conclusions around each.
    frozen : sequence of str
        What stays as it is; see `MIANFISClassifier`.
    method : {"differential_evolution", "direct"}
        SciPy's global optimizers: an evolving population, or a division of the space, which repeats without a seed.
    max_evaluations : int
        Number of evaluations of the cost, roughly.
    task : {"auto", "classification", "regression"}, default "auto"
        What the labels are; see `train_rules`.
    pos_label : label, optional
        Of two classes, the one that a single output is about.
    random_state : int, RandomState or None

    Examples
    --------
    The mean of maximum has no useful gradient:

    >>> rules = RuleBase.parse('''
    ... VARIABLE x FROM 0 TO 1: low = Triangular(-0.5, 0, 0.5), high = Triangular(0.5, 1, 1.5)
    ... OUTPUT y FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... USING defuzzify = mom
    ... IF x is low THEN y is small
    ... IF x is high THEN y is great
    ... ''')
    >>> X, y = [[0.1], [0.2], [0.5], [0.9]], [0.2, 0.2, 0.7, 0.7]
    >>> better = tune_rules(rules, X, y, max_evaluations=600, random_state=0)
    >>> bool(np.abs(better.infer(X).output[:, 0] - y).max() < 0.05)
    True
    """
    given = RuleBase.parse(rules) if isinstance(rules, str) else rules
    if not isinstance(given, RuleBase):
        raise ParameterError(f"rules must be a rule base or its text, got {rules!r:.100}.")
    choice(("differential_evolution", "direct"))("method", method)
    integer(1)("max_evaluations", max_evaluations)
    frozen_names("frozen", frozen)
    if cost is None:
        if bags is None:
            raise InputError("tune_rules needs bags to compare the rules with, or a cost of your own.")
        cost = _loss_on(given, bags, y, task, pos_label)
    space = _Space.of(given, tuple(frozen), dict(bounds or {}))
    if not len(space.low):
        raise ParameterError("Everything is frozen: nothing is left to tune.")
    start = _number(cost, given)

    def value(moves: Array) -> float:
        return _number(cost, space.rules(moves))

    best = _minimize(value, space, method, int(max_evaluations), random_state)
    return space.rules(best) if value(best) < start else given


def _number(cost: Cost, rules: RuleBase) -> float:
    found = cost(rules)
    if not isinstance(found, numbers.Real):
        raise ParameterError(f"cost must return a number, got {found!r:.100}.")
    return float(found) if np.isfinite(found) else np.inf


def _minimize(value: Callable[[Array], float], space: _Space, method: str, most: int, random_state: Any) -> Array:
    from scipy import optimize

    limits = optimize.Bounds(space.low, space.high)
    if method == "direct":
        return np.asarray(optimize.direct(value, limits, maxfun=most, maxiter=most, locally_biased=True).x)
    size = max(5, min(15, most // (10 * len(space.low))))  # ten generations at least, if that is possible
    rounds = max(most // (size * len(space.low)) - 1, 1)
    rng = check_random_state(random_state)
    settings: Any = {"popsize": size, "maxiter": rounds, "tol": 1e-6, "polish": False, "rng": rng.randint(2**31 - 1)}
    return np.asarray(optimize.differential_evolution(value, limits, x0=space.start, **settings).x)


# ---------------------------------------------------------------------- what may move


class _Space(NamedTuple):
    """The moves of rules: for each set its peak and the logarithm of its widening, for each conclusion its numbers."""

    given: RuleBase
    sets: list[tuple[str, str]]  # variable and term
    conclusions: list[tuple[int, int, int]]  # rule, output and coefficient
    start: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, rules: RuleBase, frozen: tuple[str, ...], bounds: dict[str, tuple[float, float]]) -> _Space:
        if rules.concludes_sets:
            stay, moves = frozen_parts(joint_rules(rules), frozen_names_of(rules, frozen))
        else:
            stay, moves = frozen_parts(rules, frozen)
        known = {variable.name for variable in rules.all_variables} | set(rules.output_names)
        known |= {f"{variable.name}.{term}" for variable in rules.all_variables for term in variable.terms}
        for name, pair in bounds.items():
            known_name("name", name, known, "in bounds")
            if len(pair) != 2 or not pair[0] <= pair[1]:
                raise ParameterError(f"bounds: expected two numbers (low, high) for {name!r}, got {pair!r:.100}.")
        asked = {(asked.variable, asked.term) for rule in rules.rules for asked in rule.conditions}
        asked |= {(output, said.term) for rule in rules.rules for output, said in rule.terms.items()}
        sets, places, ends = [], [], []
        for variable in rules.all_variables:
            found = _peaks_of(variable, bounds)
            for term, chosen in variable.terms.items():
                if (variable.name, term) in asked - stay and chosen.trainable and term in found:
                    sets.append((variable.name, term))
                    places += [_peak(chosen), 0.0]
                    ends += [found[term], (-_WIDER, _WIDER)]
        conclusions = []
        if not rules.concludes_sets:
            coefs = rules.coefs
            for k, output in enumerate(rules.output_names):
                own = coefs[:, k]
                reach = _REACH * np.where(np.ptp(own, axis=0) > 0, np.ptp(own, axis=0), np.abs(own).max(axis=0) + 1.0)
                for r, c in zip(*np.nonzero(np.broadcast_to(moves[:, k] > 0, own.shape)), strict=True):
                    conclusions.append((int(r), k, int(c)))
                    value = float(own[r, c])
                    places.append(value)
                    ends.append(bounds[output] if c == 0 and output in bounds else (value - reach[c], value + reach[c]))
        low, high = np.array(ends, float).reshape(-1, 2).T
        return cls(rules, sets, conclusions, np.clip(np.array(places), low, high), low, high)

    def rules(self, moves: Array) -> RuleBase:
        """Return the rules after moves."""
        terms = {variable.name: dict(variable.terms) for variable in self.given.all_variables}
        for n, (variable, term) in enumerate(self.sets):
            chosen = terms[variable][term]
            peak, factor = moves[2 * n], float(np.exp(moves[2 * n + 1]))
            values = chosen.moved(peak - factor * _peak(chosen), factor, *chosen.parameters)
            terms[variable][term] = chosen.with_parameters(*map(float, values))
        coefs = self.given.coefs
        for place, value in zip(self.conclusions, moves[2 * len(self.sets) :], strict=True):
            coefs[place] = value

        def changed(variables: Sequence[Variable]) -> tuple[Variable, ...]:
            named = (
                {term: terms[v.name][term] for term in v.declared_terms} if v.name in terms else v.terms
                for v in variables
            )
            return tuple(dataclasses.replace(v, terms=own) for v, own in zip(variables, named, strict=True))

        fields: dict[str, Any] = {"variables": changed(self.given.variables), "outputs": changed(self.given.outputs)}
        if not self.given.concludes_sets:
            both = zip(self.given.rules, coefs, strict=True)
            fields["rules"] = tuple(rule.concluding(rows.tolist()) for rule, rows in both)
        return dataclasses.replace(self.given, **fields)


def _peak(chosen: MembershipFunction) -> float:
    return float(chosen.peak(*chosen.parameters))


def _peaks_of(variable: Variable, bounds: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """Return where the peaks of a variable's terms may be: between those of their neighbors, and within bounds."""
    terms = {term: chosen for term, chosen in variable.declared_terms.items() if chosen.parameters}
    if not terms:
        return {}
    peaks = [_peak(chosen) for chosen in terms.values()]
    span = max(peaks) - min(peaks) or max(float(chosen.spread(*chosen.parameters)) for chosen in terms.values())
    low = min(peaks) - span / 2 if variable.low is None else variable.low
    high = max(peaks) + span / 2 if variable.high is None else variable.high
    low, high = bounds.get(variable.name, (low, high))
    found = {}
    for term, (least, most) in zip(terms, peak_intervals(list(terms.values()), low, high).tolist(), strict=True):
        ends = bounds.get(f"{variable.name}.{term}", bounds.get(variable.name, (least, most)))
        found[term] = (max(least, ends[0]), min(most, ends[1]))
        if found[term][0] > found[term][1]:
            raise ParameterError(
                f"bounds: the peak of {term!r} of {variable.name!r} is to stay between its neighbors, from {least:g} "
                f"to {most:g}, which excludes {ends[0]:g} to {ends[1]:g}."
            )
    return found


# ---------------------------------------------------------------------- the cost on bags


def _loss_on(rules: RuleBase, X: Any, y: Any, task: str, pos_label: Any) -> Cost:
    """Return the mean loss of rules on bags."""
    bags = as_bags(X)
    labels = bag_labels(bags, y, "tune_rules")
    name = "squared_error"
    if labels_are_classes(task, bags, y, len(rules.outputs)):
        classes = np.unique(labels)
        if len(rules.outputs) == 1:
            if len(classes) != 2:
                raise InputError(f"One output distinguishes two classes, but these bags have {len(classes)}.")
            own = classes[[positive_class(classes, rules.output_names[0], pos_label)]]
        else:
            own, order = classes_of_outputs(rules.output_names, labels)
            own = own[np.argsort(order)]
        ends = [(output.low, output.high) if rules.concludes_sets else (0.0, 1.0) for output in rules.outputs]
        low, high = np.array(ends, float).T
        targets = np.where(labels[:, None] == own, high, low)
        name = "squared_error" if rules.normalize else "cross_entropy"
    else:
        targets = np.asarray(labels, float).reshape(bags.n_bags, -1)
    if targets.shape[1] != len(rules.outputs):
        raise InputError(f"These rules have {len(rules.outputs)} output(s), but y has {targets.shape[1]} column(s).")
    per_bag: Any = LOSSES[name].per_bag
    return lambda found: float(np.mean(per_bag(np.asarray(found.infer(bags).output), targets)))

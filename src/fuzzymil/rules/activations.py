"""What rules infer about bags: the values of every layer and, of rules that conclude sets, these sets and their parts.

Each value of an output belongs to the rules whose cut sets reach the joined set there: with ``accumulation="max"`` to
those that attain the maximum, evenly; otherwise to all of them in proportion to their membership. The share of a rule
is its part of the area, or of the values at the maximum if the defuzzifier reads only these; its conclusion is the
center of that part. So the answer is the sum of shares times conclusions, up to the difference between a bisector and
a centroid.

Axes: b bags, r rules, c cells.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, did_you_mean
from fuzzymil.bags import Bags, Columns, as_bags
from fuzzymil.inference import activations
from fuzzymil.inference.activations import Activations
from fuzzymil.inference.conclusions import defuzzify, join_sets, limit_set
from fuzzymil.inference.membership import Formula, MembershipFunction
from fuzzymil.inference.norms import S_NORMS
from fuzzymil.inference.premises import HEDGES
from fuzzymil.rules.conclusion import WEIGHTED, active_strengths
from fuzzymil.rules.premise import ANYTHING, asked_of_one

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_CHUNK_VALUES = 1 << 22  # bags x rules x cells processed at once


def infer(base: RuleBase, bags: Any) -> Activations:
    """Run inference on bags and return the values of every layer, in 64 bit.

    A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by name, and categories
    by theirs; features without a variable of that name are ignored.

    Parameters
    ----------
    bags : Bags, or anything `as_bags` accepts

    Returns
    -------
    Activations
        Of rules that conclude sets, `SetActivations`.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> rules.infer([[[0.0]], [[0.0], [1.0]]]).output.round(2).tolist()
    [[0.0], [0.5]]
    """
    seen = seen_bags(base, bags)
    found = activations.infer(*base._compiled, seen)
    return _with_sets(base, found, seen) if base.concludes_sets else found


def infer_output(base: RuleBase, bags: Any) -> Array:
    """Return ``infer(base, bags).output``, shape (n_bags, n_outputs), with less memory."""
    if base.concludes_sets:
        return infer(base, bags).output
    return activations.infer_output(*base._compiled, seen_bags(base, bags))


def asked_of_instances(base: RuleBase) -> RuleBase:
    """Return the rules as they are asked of single instances; see `asked_of_one`."""
    rules = tuple(dataclasses.replace(rule, premise=asked_of_one(rule.premise)) for rule in base.rules)
    return base if rules == base.rules else dataclasses.replace(base, rules=rules)


def equal_instances(rules: RuleBase) -> int:
    """Return how many equal instances a bag needs so that no rule asks for more: the greatest count of *at least*."""
    counts = [part.count for part in rules.parts if part.count is not None and part.premise != ANYTHING]
    return max(counts, default=1)


def bags_of_equal(rules: RuleBase, rows: Array, n: int | None = None) -> Bags:
    """Return one bag per row (n, d), with ``n`` equal instances; default: as many as `equal_instances` says."""
    n = equal_instances(rules) if n is None else n
    repeated = np.repeat(rows, n, axis=0)
    return Bags(repeated, np.arange(len(rows) + 1) * n, feature_names=rules.feature_names)


# ---------------------------------------------------------------------- bags


def seen_bags(base: RuleBase, bags: Any) -> Bags:
    """Return bags as the rules see them: their features only, within their limits."""
    return clipped(base, matched(base, as_bags(bags)))


def matched(base: RuleBase, bags: Bags) -> Bags:
    """Return bags with the rules' features, in the rules' order."""
    if bags.feature_names is None:
        if bags.n_features != base.n_features:
            raise InputError(f"X has {bags.n_features} features, but these rules expect {base.n_features}.")
        return bags
    bags = _recode(base, bags)
    if bags.feature_names == base.feature_names:
        return bags
    place = {name: d for d, name in enumerate(bags.names)}
    for name in base.feature_names:
        if name not in place:
            raise InputError(f"The bags have no feature {name!r}, which the rules use.{did_you_mean(name, place)}")
    columns = [place[name] for name in base.feature_names]
    if bags.columns is not None:
        return bags.with_features(bags.instances[:, columns], Columns(bags.columns[d] for d in columns))
    return bags.map_instances(lambda x: x[:, columns], base.feature_names)


def _recode(base: RuleBase, bags: Bags) -> Bags:
    """Return bags in which categories have the codes of the rules' variables."""
    known = {variable.name: variable.categories for variable in base.variables if variable.categories}
    if bags.columns is None or not known:
        return bags
    columns = list(bags.columns)
    for d, column in enumerate(columns):
        if column.kind == "category" and column.name in known:
            columns[d] = dataclasses.replace(column, categories=known[column.name])
    return bags.align(Columns(columns))


def clipped(base: RuleBase, bags: Bags) -> Bags:
    """Return bags with values clipped to the variables' ranges if the rules are ``limited``."""
    if not base.limited:
        return bags
    low = [-np.inf if variable.low is None else variable.low for variable in base.variables]
    high = [np.inf if variable.high is None else variable.high for variable in base.variables]
    return bags.map_instances(lambda x: np.clip(x, low, high))


# ---------------------------------------------------------------------- conclusions that are sets


class SetActivations(Activations):
    """What rules that conclude sets computed; ``output`` is the prediction.

    As in other activations, ``normalized`` says how much each rule counts and ``rule_outputs`` what it concludes: the
    shares of the rules in the joined sets (with several outputs, the greatest), and the centers of these shares. They
    are computed when they are asked for.

    Attributes
    ----------
    rules : RuleBase
        The rules used.
    numbers : tuple of mappings
        For each output, the numbers (n_bags,) of those of its terms that are formulas.
    """

    rules: Any
    numbers: tuple[Mapping[str, Array], ...]
    _uncovered: Array

    def __init__(
        self,
        rules: RuleBase,
        found: Activations,
        output: Array,
        uncovered: Array,
        numbers: Sequence[Mapping[str, Array]],
    ) -> None:
        put = functools.partial(object.__setattr__, self)
        for name in ("log_truth", "log_degrees", "log_firing"):
            put(name, getattr(found, name))
        put("output", output)
        put("rules", rules)
        put("_uncovered", uncovered)
        put("numbers", tuple(numbers))

    @property
    def uncovered(self) -> Array:
        """Whether nothing is concluded about some output of a bag, so that it got the default, shape (n_bags,)."""
        return np.asarray(self._uncovered.any(axis=1))

    @property
    def uncovered_outputs(self) -> Array:
        """Where the joined set is empty, so that ``output`` is the default, shape (n_bags, n_outputs)."""
        return self._uncovered

    @functools.cached_property
    def normalized(self) -> Array:
        """Share of each rule in the joined set, the greatest of all outputs, shape (n_bags, n_rules)."""
        return np.asarray(np.max([each.shares for each in self._contributions], axis=0))

    @functools.cached_property
    def rule_outputs(self) -> Array:
        """Center of each rule's share, shape (n_bags, n_rules, n_outputs); the default if it has nothing to say."""
        said = np.stack([each.conclusions for each in self._contributions], axis=2)
        return np.where(np.isnan(said), np.array(self.rules.default), said)

    @functools.cached_property
    def _contributions(self) -> tuple[Shares, ...]:
        return tuple(shares(self.rules, self.log_firing, k, self.numbers[k]) for k in range(len(self.rules.outputs)))

    def term_degrees(self, output: int | str = 0) -> dict[str, Array]:
        """Return, for each term of an output, the highest strength with which a rule concludes it, shape (n_bags,)."""
        degrees, by_term = np.exp(strengths(self.rules, self.log_firing, output)), self.rules.rules_by_term(output)
        return {term: degrees[:, rules].max(axis=1, initial=0.0) for term, rules in by_term.items()}

    def joined_sets(self, output: int | str = 0) -> tuple[Array, Array]:
        """Return the joined set of all conclusions for each bag, before defuzzification.

        Parameters
        ----------
        output : int or str
            Index or name of an output.

        Returns
        -------
        values : array of shape (resolution,)
            Of the output.
        membership : array of shape (n_bags, resolution)
        """
        k = self.rules.place_of(output)
        membership, log_unit = joined_set(self.rules, self.log_firing, k)
        return self.rules.values_of(k), np.exp(log_unit) * membership

    def cut_sets(self, output: int | str = 0) -> Array:
        """Return the set that each rule concludes, cut off or scaled by its strength.

        Parameters
        ----------
        output : int or str
            Index or name of an output.

        Returns
        -------
        array of shape (n_bags, n_rules, resolution)
            Memberships of the values of `joined_sets`; zero for rules that say nothing about the output.
        """
        return np.asarray(np.exp(log_cuts(self.rules, self.log_firing, self.rules.place_of(output))))

    def shares(self, output: int | str = 0) -> Array:
        """Return the share of each rule in the joined set, shape (n_bags, n_rules); see `conclusions`.

        The shares of a bag sum to one, unless nothing is concluded or ``defuzzify="sum"``.
        """
        return self.contributions(output).shares

    def conclusions(self, output: int | str = 0) -> Array:
        """Return the center of each rule's share of the joined set, shape (n_bags, n_rules).

        The output is the sum of shares times conclusions (of a bisector, nearly). A rule without a share has the center
        of its set; one that says nothing about the output has NaN.

        Examples
        --------
        >>> from fuzzymil.rules import RuleBase
        >>> rules = RuleBase.parse('''
        ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
        ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
        ... IF depth is shallow THEN risk is great
        ... IF depth is deep THEN risk is small
        ... ''')
        >>> found = rules.infer([[[0.9], [0.0]]])
        >>> found.shares().round(3).tolist(), found.conclusions().round(3).tolist()
        ([[0.503, 0.497]], [[0.833, 0.169]])
        >>> found.output.round(3).tolist(), (found.shares() * found.conclusions()).sum(axis=1).round(3).tolist()
        ([[0.503]], [0.503])
        """
        return self.contributions(output).conclusions

    def contributions(self, output: int | str = 0) -> Shares:
        """Return `shares` and `conclusions` of the rules together."""
        place: int = self.rules.place_of(output)
        return self._contributions[place]


def _with_sets(base: RuleBase, found: Activations, seen: Bags) -> SetActivations:
    """Return the activations of rules, given those of their premises: the sets that they conclude become numbers."""
    known: dict[str, Array] = {}  # the outputs so far, which formulas may use
    concluded, formulas = [], []
    for k, (variable, default) in enumerate(zip(base.outputs, base.default, strict=True)):
        weights_numbers = base.setting("defuzzify", k) in WEIGHTED
        numbers = _formula_numbers(variable.terms, seen, base.feature_names, known) if weights_numbers else {}
        values = _answers(base, found.log_firing, k, numbers)
        concluded.append(values)
        formulas.append(numbers)
        silent = np.isnan(values)
        if base.setting("hold", k):  # the value of the bag before it, and at the start the default
            last = np.maximum.accumulate(np.where(silent, -1, np.arange(len(values))))
            known[variable.name] = np.where(last < 0, default, values[np.maximum(last, 0)])
        else:
            known[variable.name] = np.where(silent, default, values)
    uncovered = np.isnan(np.column_stack(concluded))
    return SetActivations(base, found, np.column_stack(list(known.values())), uncovered, formulas)


def _answers(base: RuleBase, log_firing: Array, output: int, numbers: Mapping[str, Array]) -> Array:
    """Return the answers (b,) on one output, given the numbers of its formulas; NaN if no rule concludes any."""
    method, accumulation = base.setting("defuzzify", output), base.setting("accumulation", output)
    if method not in WEIGHTED:
        settings = base.setting("implication", output), accumulation, method, base.setting("sampling", output)
        return defuzzify(*concluded_sets(base, log_firing, output), base.values_of(output), *settings)
    degrees, variable = strengths(base, log_firing, output), base.outputs[output]
    by_term = {term: degrees[:, rules] for term, rules in base.rules_by_term(output).items() if rules}
    if not by_term:
        return np.full(len(log_firing), np.nan)
    found = _weighted_answers(by_term, variable.terms, numbers, accumulation, method)
    outside = (np.isinf(found) | bool(base.setting("clip", output))) & ~np.isnan(found)
    low = -np.inf if variable.low is None else variable.low
    return np.where(outside, np.clip(found, low, np.inf if variable.high is None else variable.high), found)


def strengths(base: RuleBase, log_firing: Array, output: int | str = 0) -> Array:
    """Return the log-strength (b, r) with which each rule concludes its term of an output.

    This is its firing strength, if it takes part (``activation``), modified by the hedges of its conclusion.
    """
    assert base.defuzzification is not None
    name = base.outputs[base.place_of(output)].name
    found = active_strengths(log_firing, base.defuzzification.activation)
    for r, rule in enumerate(base.rules):
        if name in rule.terms and rule.terms[name].hedges:
            found = found.copy() if found is log_firing else found
            for hedge in reversed(rule.terms[name].hedges):
                found[:, r] = np.asarray(HEDGES[hedge](found[:, r]))  # type: ignore[arg-type]
    return found


def concluded_sets(base: RuleBase, log_firing: Array, output: int | str = 0) -> tuple[Array, Array]:
    """Return the conclusions on an output as parts (p) to be joined: log degrees (b, p), log memberships (p, c)."""
    terms = base.outputs[base.place_of(output)].terms
    by_term = {term: rules for term, rules in base.rules_by_term(output).items() if rules}
    values, degrees = base.values_of(output), strengths(base, log_firing, output)
    curves = {term: terms[term].log_membership(values) for term in by_term}
    if base.setting("accumulation", output) == "max":  # the strongest rule of a term covers the others
        parts = [(degrees[:, rules].max(axis=1), curves[term]) for term, rules in by_term.items()]
    else:
        parts = [(degrees[:, r], curves[term]) for term, rules in by_term.items() for r in rules]
    log_degrees = np.array([degree for degree, _ in parts]).reshape(len(parts), len(log_firing)).T
    return log_degrees, np.array([curve for _, curve in parts]).reshape(len(parts), len(values))


# ---------------------------------------------------------------------- averages and sums of numbers


def _formula_numbers(
    terms: Mapping[str, MembershipFunction], bags: Bags, names: Sequence[str], outputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the numbers (b,) of the terms that are formulas of features, named here, and of outputs (b,)."""
    formulas = {term: chosen for term, chosen in terms.items() if isinstance(chosen, Formula)}
    if not formulas:
        return {}
    sizes = np.diff(bags.offsets)
    known = {name: np.asarray(bags.instances[:, d], np.float64) for d, name in enumerate(names)}
    known |= {name: np.repeat(values, sizes) for name, values in outputs.items()}
    found = {}
    with np.errstate(all="ignore"):  # a formula may be undefined somewhere, and then concludes nothing
        for term, formula in formulas.items():
            values = np.broadcast_to(formula.number(known), len(bags.instances))
            found[term] = np.add.reduceat(values, bags.offsets[:-1]) / sizes
    return found


def _weighted_answers(
    parts: Mapping[str, Array],
    terms: Mapping[str, MembershipFunction],
    numbers: Mapping[str, Array],
    accumulation: str,
    method: str,
) -> Array:
    """Return the average or sum (b,) of the numbers that terms stand for; NaN if no rule fires.

    ``parts``: log-strengths (b, rules of the term) of the rules that conclude each term. ``numbers`` (b,): those of the
    terms that are formulas.
    """
    log_weights = np.column_stack([join_strengths(strengths, accumulation) for strengths in parts.values()])
    said = np.column_stack(
        [_number(terms[term], numbers.get(term), np.exp(log_weights[:, n])) for n, term in enumerate(parts)]
    )
    fires = log_weights > -np.inf
    top = np.max(log_weights, axis=1, keepdims=True)
    unit = np.where(np.isneginf(top), 0.0, top)
    weights = np.exp(log_weights - unit)  # relative to the greatest, so that tiny strengths count
    total = np.where(fires, weights * np.where(fires, said, 0.0), 0.0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        answer = total / weights.sum(axis=1) if method == "average" else total * np.exp(unit[:, 0])
    return np.where(fires.any(axis=1), answer, np.nan)


def join_strengths(log_strengths: Array, accumulation: str) -> Array:
    """Return the joined log-strength (b,) of several rules, (b, r)."""
    if log_strengths.shape[1] == 1:
        return log_strengths[:, 0]
    if accumulation == "sum":
        return np.asarray(np.logaddexp.reduce(log_strengths, axis=1))
    return np.asarray(S_NORMS[accumulation](log_strengths))  # type: ignore[arg-type]


def _number(chosen: MembershipFunction, computed: Array | None, degrees: Array) -> Array:
    """Return the number that a term stands for at some degrees; there is one: that is checked when rules are made."""
    return np.asarray(chosen.inverse(degrees) if computed is None else computed)


# ---------------------------------------------------------------------- shares


class Shares(NamedTuple):
    """Shares and conclusions of the rules, (b, r) each; a rule that says nothing about the output has the share 0."""

    shares: Array
    conclusions: Array


def log_cuts(rules: RuleBase, log_firing: Array, output: int) -> Array:
    """Return the log-memberships (b, r, c) of concluded sets, cut off or scaled by the strengths of their rules."""
    values, degrees = rules.values_of(output), strengths(rules, log_firing, output)
    found = np.full((*log_firing.shape, len(values)), -np.inf)
    terms = rules.outputs[output].terms
    for term, concluding in rules.rules_by_term(output).items():
        curve = terms[term].log_membership(values)
        for r in concluding:
            found[:, r] = limit_set(degrees[:, [r]], curve, rules.setting("implication", output))
    return found


def joined_set(rules: RuleBase, log_firing: Array, output: int) -> tuple[Array, Array]:
    """Return the joined sets (b, c), and the logarithm of their units (b, 1); see `join_sets`."""
    log_degrees, log_mu = concluded_sets(rules, log_firing, output)
    if not len(log_mu):  # no rule says anything about the output
        return np.zeros((len(log_firing), len(rules.values_of(output)))), np.full((len(log_firing), 1), -np.inf)
    settings = rules.setting("implication", output), rules.setting("accumulation", output)
    membership, log_unit = join_sets(log_degrees, log_mu, *settings)
    return np.asarray(membership), np.asarray(log_unit)


def shares(rules: RuleBase, log_firing: Array, output: int, numbers: Mapping[str, Array] | None = None) -> Shares:
    """Return the share and the conclusion of each rule for each bag; ``numbers`` are those of terms with formulas."""
    n_bags, n_rules = log_firing.shape
    if rules.setting("defuzzify", output) in WEIGHTED:
        return _of_numbers(rules, log_firing, output, numbers or {})
    size = max(_CHUNK_VALUES // (n_rules * len(rules.values_of(output))), 1)
    parts = [_of_sets(rules, log_firing[start : start + size], output) for start in range(0, n_bags, size)]
    return Shares(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def _of_sets(rules: RuleBase, log_firing: Array, output: int) -> Shares:
    values = rules.values_of(output)
    membership, log_unit = joined_set(rules, log_firing, output)
    unit = np.where(np.isneginf(log_unit), 0.0, log_unit)[:, :, None]
    cuts = np.exp(log_cuts(rules, log_firing, output) - unit)  # relative, so that tiny strengths count
    counted = _counted(rules.setting("defuzzify", output), membership)  # (b, c)
    own = cuts
    if rules.setting("accumulation", output) == "max":
        own = (cuts == cuts.max(axis=1, keepdims=True)) & (cuts > 0)
    total = own.sum(axis=1, keepdims=True)
    part = np.where(total > 0, own / np.where(total > 0, total, 1.0), 0.0) * counted[:, None, :]
    areas = part.sum(axis=2)
    whole = counted.sum(axis=1, keepdims=True)
    centers = _centers(part, values)
    # A rule that is covered by others, or does not fire, still says something.
    centers = np.where(areas > 0, centers, np.where(cuts.any(axis=2), _centers(cuts, values), _typical(rules, output)))
    return Shares(np.where(whole > 0, areas / np.where(whole > 0, whole, 1.0), 0.0), centers)


def _counted(method: str, membership: Array) -> Array:
    """Return how much each value counts in the answer, (b, c)."""
    if method in ("centroid", "bisector"):
        return membership
    highest = (membership == membership.max(axis=1, keepdims=True)) & (membership > 0)
    if method == "mom":
        return np.asarray(highest.astype(float))
    first = highest.argmax(axis=1) if method == "som" else highest.shape[1] - 1 - highest[:, ::-1].argmax(axis=1)
    return np.asarray(highest & (np.arange(highest.shape[1]) == first[:, None])).astype(float)


def _centers(membership: Array, values: Array) -> Array:
    """Return the centers of sets, (b, r); 0 for empty ones."""
    area = membership.sum(axis=2)
    return np.asarray((membership * values).sum(axis=2) / np.where(area > 0, area, 1.0))


def _typical(rules: RuleBase, output: int) -> Array:
    """Return the center of the term that each rule concludes, (r,); NaN if it says nothing about the output."""
    found = np.full(rules.n_rules, np.nan)
    for r, number in rules.typical_numbers(output).items():
        found[r] = number
    return found


def _of_numbers(rules: RuleBase, log_firing: Array, output: int, formulas: Mapping[str, Array]) -> Shares:
    """Return the shares in a weighted average or sum; rules of one term share its weight by their strengths."""
    degrees = strengths(rules, log_firing, output)
    terms, accumulation = rules.outputs[output].terms, rules.setting("accumulation", output)
    found, numbers = np.zeros(log_firing.shape), np.tile(_typical(rules, output), (len(log_firing), 1))
    for term, concluding in rules.rules_by_term(output).items():
        if concluding:
            weight = np.exp(join_strengths(degrees[:, concluding], accumulation))
            own = np.exp(degrees[:, concluding])
            total = own.sum(axis=1, keepdims=True)
            found[:, concluding] = weight[:, None] * own / np.where(total > 0, total, 1.0)
            number = _number(terms[term], formulas.get(term), weight)
            numbers[:, concluding] = np.where(weight > 0, number, numbers[0, concluding[0]])[:, None]
    if rules.setting("defuzzify", output) == "average":
        whole = found.sum(axis=1, keepdims=True)
        found = np.where(whole > 0, found / np.where(whole > 0, whole, 1.0), 0.0)
    return Shares(found, numbers)

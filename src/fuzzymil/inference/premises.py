"""Premises with AND, OR, NOT, hedges and quantified parts, inside the network.

`fuzzymil.rules` assigns every condition a place in the arrays of fuzzy sets. `log_truth_of_premises` computes the truth
of premises about one instance from the memberships at these places; rules whose premises have the same form are
computed together.

A premise about the bag, such as *some instance is blue and smooth, and most are rough*, has quantified parts. Layer 2
gives the truth of each part for each instance (`log_truth_of_parts`, (i, p)), Layer 3 joins the instances of a bag by
the part's quantifier (`log_degrees_of_parts`, (b, p)), and the parts of a rule are joined to its firing strength
(`log_firing_of_parts`, (b, r)). A rule without a quantifier is a single part, joined by the rule base's aggregation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.runtime import in_64_bit
from fuzzymil.inference._numerics import LogFunction, stop_gradient
from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.engines import engine_of
from fuzzymil.inference.membership import MembershipFunction, family
from fuzzymil.inference.norms import S_NORMS, T_NORMS, complement
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.inference.segments import Each, Grouping

if TYPE_CHECKING:
    import jax

# ---------------------------------------------------------------------- hedges
# Each maps log-memberships to those of the modified set.


def _extremely(log_mu: jax.Array) -> jax.Array:
    """Return ``2 mu**2`` up to one half and ``1 - 2 (1 - mu)**2`` above: more contrast."""
    xp = namespace(log_mu)
    low = log_mu <= math.log(0.5)
    above = xp.log1p(-2.0 * xp.square(xp.expm1(xp.where(low, 0.0, log_mu))))
    return xp.where(low, math.log(2.0) + 2.0 * log_mu, above)


def _seldom(log_mu: jax.Array) -> jax.Array:
    """Return ``sqrt(mu / 2)`` up to one half and ``1 - sqrt((1 - mu) / 2)`` above: the inverse of *extremely*."""
    xp = namespace(log_mu)
    low = log_mu <= math.log(0.5)
    full = log_mu == 0  # the root has no derivative there
    doubt = -xp.expm1(xp.where(low | full, -1.0, log_mu))
    above = xp.where(full, 0.0, xp.log1p(-xp.sqrt(0.5 * doubt)))
    return xp.where(low, 0.5 * (log_mu - math.log(2.0)), above)


HEDGES: dict[str, LogFunction] = {
    "not": complement,
    "very": lambda log_mu: 2.0 * log_mu,  # mu ** 2
    "somewhat": lambda log_mu: 0.5 * log_mu,  # sqrt(mu)
    "extremely": _extremely,
    "seldom": _seldom,
    "intensely": lambda log_mu: 3.0 * log_mu,  # mu ** 3
    "vaguely": lambda log_mu: log_mu / 3.0,  # its inverse
}
"""The words that may stand before a term, as in ``hue is very blue``."""


def hedged(chosen: MembershipFunction, hedges: Sequence[str], x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the degree of ``x`` in a set modified by hedges, an array of the same shape."""
    log_mu: Any = chosen.log_membership(x)
    with np.errstate(all="ignore"), in_64_bit():
        for hedge in reversed(hedges):
            log_mu = HEDGES[hedge](log_mu)
        return np.asarray(np.exp(log_mu))


# ---------------------------------------------------------------------- missing values
# A rule base may state values that a missing one stands for: the median of the training data, or several values between
# which it lies. Then a missing value satisfies a condition to the degree that these do on average. Where none are
# stated, it counts in favor of the rule. Whether a value *is missing* is always known.

_MISSING = "missing"  # the family of the set that missing values belong to


class MissingDegrees(NamedTuple):
    """To which degree a missing value belongs to each set (rows, d)."""

    log_mu: jax.Array  # log-membership of a missing value; 0 for don't-care and where nothing is known
    settled: jax.Array  # 1 where that is known, 0 where a missing value counts in favor of the rule

    def fill(self, log_mu: jax.Array, known: jax.Array, places: Any = ()) -> jax.Array:
        """Return log-memberships (i, ...) with those of missing values in them.

        Shapes: ``log_mu`` (i, ...). ``known``: 0 where a value is missing. ``places``: of the sets (...) among all
        (rows, d).
        """
        return namespace(log_mu).where(known > 0, log_mu, self.log_mu[places])

    def certain(self, known: jax.Array, places: Any = ()) -> jax.Array:
        """Return 1 where the membership is known, though the value may be missing; see `fill`."""
        return namespace(known).maximum(known, self.settled[places])


def missing_degrees(
    sets: Mapping[str, tuple[Any, ...]], masks: Mapping[str, Any], values: Any
) -> MissingDegrees | None:
    """Return to which degree missing values belong to sets; None if nothing is known about any.

    ``sets``, ``masks``: see `fuzzymil.inference.layers.Params`. ``values`` (t, d): what a missing value of each feature
    stands for; NaN fills columns with fewer values.
    """
    if values is None and _MISSING not in sets:
        return None
    first = next(iter(masks.values()))
    xp = namespace(next((each for parameters in sets.values() for each in parameters), first))
    log_mu, settled = xp.zeros_like(first), xp.zeros_like(first)
    if values is not None:
        there = ~xp.isnan(values)
        count = there.sum(axis=0)
        known_values = xp.where(there, values, 0.0)
        for kind, parameters in sets.items():
            if kind != _MISSING:
                each = family(kind).log_mu(known_values[:, None, :], *parameters)
                used = (masks[kind] > 0) & (count > 0)
                mean = _log_mean(xp.where(there[:, None, :], each, -xp.inf), xp.where(count > 0, count, 1))
                log_mu = xp.where(used, mean, log_mu)
                settled = xp.where(used, 1.0, settled)
    if _MISSING in sets:
        settled = xp.where(masks[_MISSING] > 0, 1.0, settled)
    return MissingDegrees(log_mu, settled)


def _log_mean(log_mu: Any, count: Any) -> Any:
    """Return the logarithm of the mean over the first axis; -inf, with derivative 0, where all are zero."""
    xp = namespace(log_mu)
    greatest = stop_gradient(functools.reduce(xp.maximum, [log_mu[n] for n in range(len(log_mu))]))
    never = xp.isneginf(greatest)
    level = xp.where(never, 0.0, greatest)
    total = xp.exp(log_mu - level).sum(axis=0)
    return xp.where(never, -xp.inf, level + xp.log(xp.where(never, 1.0, total) / count))


# ---------------------------------------------------------------------- premises in numbers

Form = tuple[Any, ...]
"""A premise with numbered conditions: ("row",), ("is", n, hedges, favorable), ("not", form), ("and", form, ...) or
("or", form, ...). In `fuzzymil.inference.premises` also ("row", favorable), and ("part", n)."""

Place = tuple[int, int]
"""Row and feature of a fuzzy set in the network's arrays."""


class Group(NamedTuple):
    """Rules, or parts of rules, whose premises have the same form."""

    form: Form
    rules: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]  # per rule the places of its conditions, numbered as in the form
    families: tuple[str, ...] = ()  # of the conditions' sets, where they belong to the form


Premises = tuple[Group, ...]


def log_truth_of_premises(
    premises: Premises,
    log_mu: jax.Array,
    known: jax.Array | None,
    t_norm: str,
    s_norm: str,
    missing: MissingDegrees | None = None,
) -> jax.Array:
    """Return the log-truths (i, r) of premises, given log-memberships (i, rows, d).

    An unknown value that ``missing`` says nothing about counts in favor of the rule: it satisfies a condition, and
    fails one that is negated.
    """

    def of_group(group: Group) -> jax.Array:
        def condition(form: Form) -> jax.Array:
            if form[0] == "row":
                return T_NORMS[t_norm](log_mu[:, np.asarray(group.rules), :])
            rows, columns = (np.asarray([where[form[1]][axis] for where in group.places]) for axis in (0, 1))
            seen = None if known is None else known[:, columns]
            if seen is not None and missing is not None:
                seen = missing.certain(seen, (rows, columns))
            return apply_hedges(log_mu[:, rows, columns], form, seen)

        always = namespace(log_mu).zeros_like(log_mu, shape=(len(log_mu), len(group.rules)))
        return join_form(group.form, condition, always, t_norm, s_norm)

    return in_order([of_group(group) for group in premises], [group.rules for group in premises])


def apply_hedges(log_mu: jax.Array, form: Form, known: jax.Array | None) -> jax.Array:
    """Return the log-degrees of a condition ("is", n, hedges, favorable), given its log-memberships."""
    xp = namespace(log_mu)
    _, _, hedges, favorable = form
    for hedge in reversed(hedges):
        log_mu = HEDGES[hedge](log_mu)
    return log_mu if known is None else xp.where(known > 0, log_mu, 0.0 if favorable else -xp.inf)


def join_form(
    form: Form, condition: Callable[[Form], jax.Array], always: jax.Array, t_norm: str, s_norm: str
) -> jax.Array:
    """Return the log-truths of a premise; ``condition`` computes that of a condition, ``always`` is that of none."""
    xp = namespace(always)
    kind = form[0]
    if kind == "not":
        return complement(join_form(form[1], condition, always, t_norm, s_norm))
    if kind not in ("and", "or"):
        return condition(form)
    if len(form) == 1:
        return always
    parts = xp.stack([join_form(part, condition, always, t_norm, s_norm) for part in form[1:]], axis=-1)
    return T_NORMS[t_norm](parts) if kind == "and" else S_NORMS[s_norm](parts)


def in_order(columns: Sequence[jax.Array], members: Sequence[Sequence[int]]) -> jax.Array:
    """Put the columns of groups next to each other, in the order of their members' numbers."""
    xp = namespace(columns[0])
    order = [member for group in members for member in group]
    place = {member: position for position, member in enumerate(order)}
    return xp.concatenate(columns, axis=1)[:, np.asarray([place[member] for member in range(len(order))])]


# ---------------------------------------------------------------------- premises about a bag
# A part usually asks for few of the features, and the others are not computed: parts of the same form gather the
# columns they need. Conjunctions of many Gaussian sets use the same kernel as the paper's rules.

Sets = dict[str, tuple[Any, ...]]  # as in `fuzzymil.inference.layers.Params`
Masks = dict[str, Any]

_MANY = 8  # Gaussian conditions in one part for which the kernel is faster than gathered columns


class Join(NamedTuple):
    """Rules whose parts are joined alike."""

    form: Form
    rules: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]  # per rule its parts, numbered as in the form


class Parts(NamedTuple):
    """The parts of all rules, without their numbers; hashable."""

    truths: tuple[Group, ...]  # parts whose premises have the same form and families; row p is part p's first one
    quantifiers: tuple[tuple[str, int] | None, ...]  # of each part, with its count; None: the aggregation
    firing: tuple[Join, ...]
    rules: tuple[int, ...]  # of each part

    @property
    def n_conditions(self) -> int:
        """Number of conditions of all parts."""
        return sum(len(group.rules) * len(group.families) for group in self.truths)

    def of_rules(self) -> list[list[int]]:
        """Return the numbers of each rule's parts."""
        found: list[list[int]] = [[] for _ in range(max(self.rules) + 1)]
        for part, rule in enumerate(self.rules):
            found[rule].append(part)
        return found


# ---------------------------------------------------------------------- premises about a bag: Layers 1 and 2


def log_truth_of_parts(
    parts: Parts,
    sets: Sets,
    masks: Masks,
    t_norm: str,
    s_norm: str,
    x: jax.Array,
    known: jax.Array | None,
    squares: jax.Array | None = None,
    missing: MissingDegrees | None = None,
) -> jax.Array:
    """Return the log-truths (i, p) of the parts for the instances ``x`` (i, d)."""
    fast = [group for group in parts.truths if _is_fast(group, t_norm)]
    slow = [group for group in parts.truths if group not in fast]
    members, columns = [group.rules for group in slow], []
    for group in slow:
        of_rows = functools.partial(_of_group, group, sets, masks, t_norm, s_norm, missing)
        columns.append(engine_of(x).in_chunks(of_rows, len(group.rules) * len(group.families), x, known))
    if fast:
        members.append(tuple(part for group in fast for part in group.rules))
        columns.append(_of_gaussians(fast, members[-1], sets, masks, x, known, squares, missing))
    return in_order(columns, members)


def _is_fast(group: Group, t_norm: str) -> bool:
    """Return whether the parts of a group are long conjunctions of Gaussian sets."""
    plain = group.form == ("row", True) and set(group.families) == {"gaussian"}
    return plain and t_norm == "product" and len(group.families) > _MANY


def _of_gaussians(
    groups: list[Group], rows: tuple[int, ...], sets: Sets, masks: Masks, x: Any, known: Any, squares: Any, missing: Any
) -> jax.Array:
    used = sorted({column for group in groups for where in group.places for _, column in where})
    take = np.ix_(rows, used)
    centers, widths = sets["gaussian"]
    if len(used) < x.shape[1]:
        some = np.array(used)
        x = x[:, some]
        known, squares = (None if values is None else values[:, some] for values in (known, squares))
    inverse = masks["gaussian"][take] / widths[take]
    found: jax.Array = engine_of(x).log_truth_of_gaussians(x, known, centers[take], inverse, squares)
    if missing is None or known is None:
        return found
    of_missing: jax.Array = engine_of(x).einsum("id,rd->ir", 1.0 - known, missing.log_mu[take])
    return found + of_missing


def _of_group(
    group: Group, sets: Sets, masks: Masks, t_norm: str, s_norm: str, missing: MissingDegrees | None, x: Any, known: Any
) -> jax.Array:
    xp = namespace(x)
    places = np.array(group.places, int).reshape(len(group.rules), len(group.families), 2)

    def log_degree(numbers: Any, form: Form) -> jax.Array:
        """Return log-degrees of one condition, (i, p), or several of the same family, (i, p, n)."""
        rows, columns = places[:, numbers, 0], places[:, numbers, 1]
        kind = group.families[numbers if isinstance(numbers, int) else numbers[0]]
        found = family(kind).log_mu(x[:, columns], *(values[rows, columns] for values in sets[kind]))
        found = xp.where(masks[kind][rows, columns] > 0, found, 0.0)
        seen = None if known is None else known[:, columns]
        if seen is not None and missing is not None:
            found, seen = missing.fill(found, seen, (rows, columns)), missing.certain(seen, (rows, columns))
        return apply_hedges(found, form, seen)

    def condition(form: Form) -> jax.Array:
        if form[0] == "is":
            return log_degree(form[1], form)
        kinds = dict.fromkeys(group.families)
        together = [[number for number, own in enumerate(group.families) if own == kind] for kind in kinds]
        found = [log_degree(numbers, ("is", 0, (), form[1])) for numbers in together]
        return T_NORMS[t_norm](xp.concatenate(found, axis=-1)) if found else always

    always = xp.zeros_like(x, shape=(len(x), len(group.rules)))
    return join_form(group.form, condition, always, t_norm, s_norm)


# ---------------------------------------------------------------------- premises about a bag: Layer 3


def log_degrees_of_parts(
    parts: Parts, log_truths: jax.Array, grouping: Grouping, aggregation: str, alpha: jax.Array
) -> jax.Array:
    """Return the log-degrees (b, p) to which the parts hold for the bags."""
    alike: dict[tuple[str, int] | None, list[int]] = {}
    for part, quantifier in enumerate(parts.quantifiers):
        alike.setdefault(quantifier, []).append(part)
    found = []
    for quantifier, members in alike.items():
        own = log_truths[:, np.array(members)]
        if quantifier is not None:
            name, count = quantifier
            found.append(QUANTIFIERS[name](own, grouping, count))
        elif isinstance(grouping, Each):
            found.append(own)
        else:
            sharpness = alpha[np.array([parts.rules[part] for part in members])] if alpha.ndim else alpha
            found.append(AGGREGATIONS[aggregation](own, grouping, sharpness))
    return in_order(found, list(alike.values()))


def log_firing_of_parts(parts: Parts, log_degrees: jax.Array, t_norm: str, s_norm: str) -> jax.Array:
    """Return the log firing strengths (b, r) of the rules, given the log-degrees (b, p) of their parts."""

    def of_rules(join: Join) -> jax.Array:
        def part(form: Form) -> jax.Array:
            return log_degrees[:, np.array([numbers[form[1]] for numbers in join.parts])]

        always = namespace(log_degrees).zeros_like(log_degrees, shape=(len(log_degrees), len(join.rules)))
        return join_form(join.form, part, always, t_norm, s_norm)

    return in_order([of_rules(join) for join in parts.firing], [join.rules for join in parts.firing])


def first_sets(parts: Parts, has_set: jax.Array, typical: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return, per rule and feature, whether a part has a set there, and the typical value of the first one.

    Both arguments are (rows, d), both results (r, d).
    """
    xp = namespace(has_set)
    found = []
    for own in parts.of_rules():
        has, value = has_set[own[-1]], typical[own[-1]]
        for part in own[-2::-1]:
            first = has_set[part] > 0
            has, value = xp.where(first, has_set[part], has), xp.where(first, typical[part], value)
        found.append((has, value))
    return xp.stack([has for has, _ in found]), xp.stack([value for _, value in found])

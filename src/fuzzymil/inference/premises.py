"""Premises with AND, OR, NOT and hedges, inside the network (Layer 2).

`fuzzymil.rules.premise` assigns every condition a place in the arrays of fuzzy sets; `log_truth` computes the truth of
all premises from the memberships at these places. Rules whose premises have the same form are computed together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.runtime import in_64_bit
from fuzzymil.inference._numerics import LogFunction, namespace
from fuzzymil.inference.gaps import Gaps
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.norms import S_NORMS, T_NORMS, complement

if TYPE_CHECKING:
    import jax

__all__ = [
    "HEDGES",
    "Form",
    "Group",
    "Place",
    "Premises",
    "hedged",
    "in_order",
    "joined",
    "log_truth",
    "modified",
]


# ---------------------------------------------------------------------- hedges
# Each maps log-memberships to those of the modified set.


def _very(log_mu: jax.Array) -> jax.Array:
    """Return ``mu ** 2``."""
    return 2.0 * log_mu


def _somewhat(log_mu: jax.Array) -> jax.Array:
    """Return ``sqrt(mu)``."""
    return 0.5 * log_mu


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
    "very": _very,
    "somewhat": _somewhat,
    "extremely": _extremely,
    "seldom": _seldom,
}
"""The words that may stand before a term, as in ``hue is very blue``."""


def hedged(chosen: MembershipFunction, hedges: Sequence[str], x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the degree of ``x`` in a set modified by hedges, an array of the same shape.

    Examples
    --------
    >>> from fuzzymil.inference.membership import Triangular
    >>> hedged(Triangular(0, 1, 2), ("not", "very"), [0.5, 1.0]).tolist()
    [0.75, 0.0]
    """
    log_mu: Any = chosen.log_membership(x)
    with np.errstate(all="ignore"), in_64_bit():
        for hedge in reversed(hedges):
            log_mu = HEDGES[hedge](log_mu)
        return np.asarray(np.exp(log_mu))


# ---------------------------------------------------------------------- premises in numbers

Form = tuple[Any, ...]
"""A premise with numbered conditions: ("row",), ("is", n, hedges, favorable), ("not", form), ("and", form, ...) or
("or", form, ...). In `fuzzymil.inference.parts` also ("row", favorable), and ("part", n) in premises about a bag."""

Place = tuple[int, int]
"""Row and feature of a fuzzy set in the network's arrays."""


class Group(NamedTuple):
    """Rules, or parts of rules, whose premises have the same form."""

    form: Form
    rules: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]  # per rule the places of its conditions, numbered as in the form
    families: tuple[str, ...] = ()  # of the conditions' sets, where they belong to the form


Premises = tuple[Group, ...]


def log_truth(
    premises: Premises,
    log_mu: jax.Array,
    known: jax.Array | None,
    t_norm: str,
    s_norm: str,
    gaps: Gaps | None = None,
) -> jax.Array:
    """Return the log-truths (i, r) of premises, given log-memberships (i, rows, d).

    An unknown value that ``gaps`` says nothing about counts in favor of the rule: it satisfies a condition, and fails
    one that is negated.
    """

    def of_group(group: Group) -> jax.Array:
        def condition(form: Form) -> jax.Array:
            if form[0] == "row":
                return T_NORMS[t_norm](log_mu[:, np.asarray(group.rules), :])
            rows, columns = (np.asarray([where[form[1]][axis] for where in group.places]) for axis in (0, 1))
            seen = None if known is None else known[:, columns]
            if seen is not None and gaps is not None:
                seen = gaps.certain(seen, (rows, columns))
            return modified(log_mu[:, rows, columns], form, seen)

        always = namespace(log_mu).zeros_like(log_mu, shape=(len(log_mu), len(group.rules)))
        return joined(group.form, condition, always, t_norm, s_norm)

    return in_order([of_group(group) for group in premises], [group.rules for group in premises])


def modified(log_mu: jax.Array, form: Form, known: jax.Array | None) -> jax.Array:
    """Return the log-degrees of a condition ("is", n, hedges, favorable), given its log-memberships."""
    xp = namespace(log_mu)
    _, _, hedges, favorable = form
    for hedge in reversed(hedges):
        log_mu = HEDGES[hedge](log_mu)
    return log_mu if known is None else xp.where(known > 0, log_mu, 0.0 if favorable else -xp.inf)


def joined(
    form: Form, condition: Callable[[Form], jax.Array], always: jax.Array, t_norm: str, s_norm: str
) -> jax.Array:
    """Return the log-truths of a premise, whose conditions ``condition`` computes; ``always`` is that of no condition.

    Examples
    --------
    >>> degrees = np.log([0.5, 0.25])
    >>> form = ("and", ("not", ("part", 0)), ("part", 1))
    >>> float(np.exp(joined(form, lambda leaf: degrees[leaf[1]], np.zeros(()), "min", "max")))
    0.25
    """
    xp = namespace(always)
    kind = form[0]
    if kind == "not":
        return complement(joined(form[1], condition, always, t_norm, s_norm))
    if kind not in ("and", "or"):
        return condition(form)
    if len(form) == 1:
        return always
    parts = xp.stack([joined(part, condition, always, t_norm, s_norm) for part in form[1:]], axis=-1)
    return T_NORMS[t_norm](parts) if kind == "and" else S_NORMS[s_norm](parts)


def in_order(columns: Sequence[jax.Array], members: Sequence[Sequence[int]]) -> jax.Array:
    """Put the columns of groups next to each other, in the order of their members' numbers.

    Examples
    --------
    >>> in_order([np.array([[2, 0]]), np.array([[1]])], [(2, 0), (1,)]).tolist()
    [[0, 1, 2]]
    """
    xp = namespace(columns[0])
    order = [member for group in members for member in group]
    place = {member: position for position, member in enumerate(order)}
    return xp.concatenate(columns, axis=1)[:, np.asarray([place[member] for member in range(len(order))])]

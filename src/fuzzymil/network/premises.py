"""Premises with AND, OR, NOT and hedges, inside the network (Layer 2).

`fuzzymil.rules.premise` assigns every condition a place in the arrays of fuzzy sets; `log_truth` computes the truth of
all premises from the memberships at these places. Rules whose premises have the same form are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from fuzzymil.membership import MembershipFunction
from fuzzymil.network._numerics import LogFunction
from fuzzymil.network.norms import S_NORMS, T_NORMS, complement

__all__ = ["HEDGES", "Form", "Group", "Place", "Premises", "hedged", "log_truth"]


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
    low = log_mu <= jnp.log(0.5)
    above = jnp.log1p(-2.0 * jnp.square(jnp.expm1(jnp.where(low, 0.0, log_mu))))
    return jnp.where(low, jnp.log(2.0).astype(log_mu.dtype) + 2.0 * log_mu, above)


def _seldom(log_mu: jax.Array) -> jax.Array:
    """Return ``sqrt(mu / 2)`` up to one half and ``1 - sqrt((1 - mu) / 2)`` above: the inverse of *extremely*."""
    low = log_mu <= jnp.log(0.5)
    full = log_mu == 0  # the root has no derivative there
    doubt = -jnp.expm1(jnp.where(low | full, -1.0, log_mu))
    above = jnp.where(full, 0.0, jnp.log1p(-jnp.sqrt(0.5 * doubt)))
    return jnp.where(low, 0.5 * (log_mu - jnp.log(2.0).astype(log_mu.dtype)), above)


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
    >>> from fuzzymil.membership import Triangular
    >>> hedged(Triangular(0, 1, 2), ("not", "very"), [0.5, 1.0]).tolist()
    [0.75, 0.0]
    """
    with jax.enable_x64():
        log_mu = chosen.log_mu(jnp.asarray(x, jnp.float64), *map(jnp.float64, chosen.parameters))
        for hedge in reversed(hedges):
            log_mu = HEDGES[hedge](log_mu)
        return np.asarray(np.exp(log_mu))


# ---------------------------------------------------------------------- premises in numbers

Form = tuple[Any, ...]
"""A premise with numbered conditions: ("row",), ("is", n, hedges, favorable), ("not", form), ("and", form, ...) or
("or", form, ...)."""

Place = tuple[int, int]
"""Row and feature of a fuzzy set in the network's arrays."""


class Group(NamedTuple):
    """Rules whose premises have the same form."""

    form: Form
    rules: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]  # per rule the places of its conditions, numbered as in the form


Premises = tuple[Group, ...]


def log_truth(premises: Premises, log_mu: jax.Array, known: jax.Array | None, t_norm: str, s_norm: str) -> jax.Array:
    """Return the log-truths (i, r) of premises, given log-memberships (i, rows, d).

    An unknown value counts in favor of the rule: it satisfies a condition, and fails one that is negated.
    """

    def value(form: Form, group: Group) -> jax.Array:
        kind = form[0]
        if kind == "row":
            return T_NORMS[t_norm](log_mu[:, jnp.asarray(group.rules), :])
        if kind == "is":
            _, number, hedges, favorable = form
            rows, columns = (jnp.asarray([where[number][axis] for where in group.places]) for axis in (0, 1))
            log_value = log_mu[:, rows, columns]
            for hedge in reversed(hedges):
                log_value = HEDGES[hedge](log_value)
            if known is None:
                return log_value
            return jnp.where(known[:, columns] > 0, log_value, 0.0 if favorable else -jnp.inf)
        if kind == "not":
            return complement(value(form[1], group))
        parts = [value(part, group) for part in form[1:]]
        if not parts:
            return jnp.zeros((len(log_mu), len(group.rules)), log_mu.dtype)
        joined = jnp.stack(parts, axis=-1)
        return T_NORMS[t_norm](joined) if kind == "and" else S_NORMS[s_norm](joined)

    found = jnp.concatenate([value(group.form, group) for group in premises], axis=1)
    order = [rule for group in premises for rule in group.rules]
    place = {rule: position for position, rule in enumerate(order)}
    return found[:, jnp.asarray([place[rule] for rule in range(len(order))])]

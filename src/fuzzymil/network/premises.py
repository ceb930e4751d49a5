"""Premises inside the network: conditions joined by AND, OR and NOT, as the truth of numbered memberships.

`fuzzymil.rules.premise` gives every condition a place in the arrays of fuzzy sets; `log_truth` computes the truth of
all premises from the memberships there. Rules of the same form are computed together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

from fuzzymil.membership import MembershipFunction
from fuzzymil.network.norms import S_NORMS, T_NORMS, complement

__all__ = ["HEDGES", "Form", "Group", "Place", "Premises", "hedged", "log_truth"]


# ---------------------------------------------------------------------- hedges
# Each takes log-memberships and returns those of the modified set.


def _very(log_mu: jax.Array) -> jax.Array:
    """``mu ** 2``."""
    return 2.0 * log_mu


def _somewhat(log_mu: jax.Array) -> jax.Array:
    """``sqrt(mu)``."""
    return 0.5 * log_mu


def _extremely(log_mu: jax.Array) -> jax.Array:
    """``2 mu**2`` up to one half, ``1 - 2 (1 - mu)**2`` above: contrast."""
    low = log_mu <= jnp.log(0.5)
    above = jnp.log1p(-2.0 * jnp.square(jnp.expm1(jnp.where(low, 0.0, log_mu))))
    return jnp.where(low, jnp.log(2.0).astype(log_mu.dtype) + 2.0 * log_mu, above)


def _seldom(log_mu: jax.Array) -> jax.Array:
    """``sqrt(mu / 2)`` up to one half, ``1 - sqrt((1 - mu) / 2)`` above: the inverse of *extremely*."""
    low = log_mu <= jnp.log(0.5)
    full = log_mu == 0  # the root has no derivative there
    doubt = -jnp.expm1(jnp.where(low | full, -1.0, log_mu))
    above = jnp.where(full, 0.0, jnp.log1p(-jnp.sqrt(0.5 * doubt)))
    return jnp.where(low, 0.5 * (log_mu - jnp.log(2.0).astype(log_mu.dtype)), above)


HEDGES: dict[str, Callable[[jax.Array], jax.Array]] = {
    "not": complement,
    "very": _very,
    "somewhat": _somewhat,
    "extremely": _extremely,
    "seldom": _seldom,
}


def hedged(chosen: MembershipFunction, hedges: Sequence[str], x: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the degree of ``x`` in a set that hedges modify, of its shape.

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
"""A premise with its conditions numbered: ("row",), ("is", n, hedges, favorable), ("not", form), ("and", ...)..."""

Place = tuple[int, int]
"""Row and feature of a fuzzy set in the network's arrays."""


class Group(NamedTuple):
    """Rules whose premises have the same form."""

    form: Form
    rules: tuple[int, ...]
    places: tuple[tuple[Place, ...], ...]  # of each rule its conditions' places, in the numbering of the form


Premises = tuple[Group, ...]


def log_truth(premises: Premises, log_mu: jax.Array, known: jax.Array | None, t_norm: str, s_norm: str) -> jax.Array:
    """Log-truth (i, r) of the premises from log-memberships (i, rows, d).

    An unknown value counts as the one that suits the rule best: it satisfies a condition, and fails one
    that is negated.
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

"""AND, OR and NOT within a rule, for one instance: T-norms, S-norms and the complement.

`T_NORMS` join the conditions of a rule (AND, Layer 2), `S_NORMS` its alternatives (OR), and `complement` negates.
`DUAL` names the S-norm that belongs to each T-norm. `register_t_norm` and `register_s_norm` add to them.

All degrees are given as logarithms. Every formula keeps its precision where degrees underflow: a logarithm of -1e6 is
an ordinary number here, and ``-inf`` means exactly zero.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.registry import register
from fuzzymil.inference._numerics import (
    LogFunction,
    finite,
    is_one,
    least,
    log1mexp,
    one_if_zero,
    or_itself,
    stop_gradient,
    total,
    zero_where,
)
from fuzzymil.inference.aggregation import Aggregation, add_up, algebraic_sum, bounded_sum, maximum
from fuzzymil.inference.engines import engine_of
from fuzzymil.inference.segments import Grouping, OneBag

if TYPE_CHECKING:
    import jax

T_NORMS: dict[str, LogFunction] = {}
"""AND by name: log-degrees (..., d) to log-truths (...). A degree of 1 (log 0) changes nothing."""

S_NORMS: dict[str, LogFunction] = {}
"""OR by name: log-degrees (..., p) to log-truths (...). A degree of 0 (log -inf) changes nothing."""

DUAL: dict[str, str] = {}
"""For each T-norm, the S-norm that belongs to it by De Morgan's law."""


def register_s_norm(name: str, function: LogFunction) -> None:
    """Add an S-norm, a function of log-degrees (..., p) to log-truths (...); ``s_norm=`` selects it by its name."""
    register(S_NORMS, "S-norm", name, function)


def register_t_norm(name: str, function: LogFunction, dual: str | None = None) -> None:
    """Add a T-norm, a function of log-degrees (..., d) to log-truths (...); ``t_norm=`` selects it by its name.

    ``dual`` names the S-norm that belongs to it. Default: one made from the T-norm by De Morgan's law,
    ``a OR b = NOT (NOT a AND NOT b)``, and registered under the same name.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> def severe(log_mu):
    ...     several = (log_mu < 0).sum(axis=-1) > 1
    ...     return jnp.where(several, -jnp.inf, log_mu.min(axis=-1))
    >>> register_t_norm("severe", severe)
    >>> DUAL["severe"], round(float(jnp.exp(S_NORMS["severe"](jnp.log(jnp.array([0.2, 0.0]))))), 3)
    ('severe', 0.2)
    >>> del T_NORMS["severe"], S_NORMS["severe"], DUAL["severe"]
    """
    if dual is not None and dual not in S_NORMS:
        raise ParameterError(f"T-norm {name!r}: the dual {dual!r} is not a registered S-norm ({', '.join(S_NORMS)}).")
    if dual is None:
        register_s_norm(name, lambda log_mu: complement(function(complement(log_mu))))
    register(T_NORMS, "T-norm", name, function)
    DUAL[name] = name if dual is None else dual


# ---------------------------------------------------------------------- NOT


def complement(log_mu: jax.Array) -> jax.Array:
    """Return ``1 - mu``."""
    xp = namespace(log_mu)
    full, zero = is_one(log_mu), xp.isneginf(log_mu)
    return xp.where(full, -xp.inf, xp.where(zero, 0.0, log1mexp(xp.where(full | zero, -1.0, log_mu))))


# ---------------------------------------------------------------------- AND


def product(log_mu: jax.Array) -> jax.Array:
    """Return ``prod(mu)``, equation (7) of the paper."""
    return total(log_mu)


def minimum(log_mu: jax.Array) -> jax.Array:
    """Return ``min(mu)``, as in the paper's example of MI-Sugeno."""
    return least(log_mu)


def lukasiewicz(log_mu: jax.Array) -> jax.Array:
    """Return ``max(0, sum(mu) - (d - 1))``: exactly zero once the doubts ``1 - mu`` add up to 1."""
    xp = namespace(log_mu)
    # The least membership minus the doubts of all others: exact where the others are 1.
    least = xp.argmin(log_mu, axis=-1, keepdims=True)
    log_least = xp.take_along_axis(log_mu, least, axis=-1)[..., 0]
    others = engine_of(log_mu).numbers(range(log_mu.shape[-1]), log_mu) != least
    doubt = xp.sum(xp.where(others, -xp.expm1(log_mu), 0.0), axis=-1)
    sure = doubt == 0
    log_share = xp.log(xp.where(sure, 1.0, doubt)) - xp.where(xp.isneginf(log_least), 0.0, log_least)
    dead = (~sure & (log_share >= 0)) | xp.isneginf(log_least)
    share = xp.where(sure | dead, 0.0, xp.exp(xp.where(sure | dead, -1.0, log_share)))
    return xp.where(dead, -xp.inf, xp.where(dead, 0.0, log_least) + xp.log1p(-share))


def hamacher(log_mu: jax.Array) -> jax.Array:
    """Return the Hamacher product, ``ab / (a + b - ab)``: the odds against, ``(1 - mu) / mu``, add up."""
    return _odds_against(log_mu, 1.0)


def dombi(log_mu: jax.Array) -> jax.Array:
    """Return Dombi's T-norm of order 2: the squares of the odds against, ``((1 - mu) / mu)**2``, add up."""
    return _odds_against(log_mu, 2.0)


def _odds_against(log_mu: jax.Array, order: float) -> jax.Array:
    xp = namespace(log_mu)
    full, zero = log_mu == 0, xp.isneginf(log_mu)  # odds of 0, and infinite odds
    safe = xp.where(full | zero, -1.0, log_mu)
    log_odds = order * xp.where(full | zero, -xp.inf, -safe + log1mexp(safe))
    top = finite(stop_gradient(xp.max(log_odds, axis=-1, keepdims=True)))
    total = xp.exp(log_odds - top).sum(axis=-1)
    against = (top[..., 0] + xp.log(one_if_zero(total))) / order
    return zero_where(zero.any(axis=-1), xp.where(total == 0, 0.0, -xp.logaddexp(against, 0.0)))


def drastic(log_mu: jax.Array) -> jax.Array:
    """Return the least degree if all others are 1, else 0."""
    xp = namespace(log_mu)
    doubtful = (log_mu < 0).sum(axis=-1)
    return zero_where(doubtful > 1, xp.min(log_mu, axis=-1))


def _rounding(log_mu: jax.Array) -> float:
    """Return the distance from 1 at which the sum of a degree and its complement may lie: nilpotent norms jump at 1."""
    return 8 * float(namespace(log_mu).finfo(log_mu.dtype).eps)


def nilpotent(log_mu: jax.Array) -> jax.Array:
    """Return the nilpotent minimum: the least degree if any two exceed 1 together, else 0."""
    xp = namespace(log_mu)
    if log_mu.shape[-1] < 2:
        return xp.min(log_mu, axis=-1)
    least_two = xp.sort(log_mu, axis=-1)[..., :2]
    enough = (least_two[..., 1] == 0) | (xp.exp(least_two[..., 0]) > _rounding(log_mu) - xp.expm1(least_two[..., 1]))
    return zero_where(~enough, xp.min(log_mu, axis=-1))


def einstein(log_mu: jax.Array) -> jax.Array:
    """Return the Einstein product, ``ab / (2 - (a + b - ab))``: ``log(2/mu - 1)`` adds up."""
    xp = namespace(log_mu)
    against = (xp.log1p(-xp.expm1(log_mu)) - log_mu).sum(axis=-1)
    near = against < 1  # near 0 the difference of two logarithms would round
    return xp.where(
        near, -xp.log1p(0.5 * xp.expm1(xp.where(near, against, 0.0))), math.log(2.0) - xp.logaddexp(against, 0.0)
    )


# ---------------------------------------------------------------------- OR


def _over_parts(join: Aggregation) -> LogFunction:
    """Turn an operator over the instances of a bag into one over the last axis."""

    def joined(log_mu: jax.Array) -> jax.Array:
        xp = namespace(log_mu)
        parts = xp.moveaxis(log_mu, -1, 0)
        return join(
            parts, OneBag(xp.ones_like(parts, dtype=bool, shape=(len(parts),))), xp.zeros_like(log_mu, shape=())
        )[0]

    return joined


def _odds_in_favor(order: float, log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return the degree whose odds, ``r / (1 - r)``, to a power are the sum of those of all degrees."""

    def back(log_t: jax.Array) -> jax.Array:
        return -namespace(log_t).logaddexp(-log_t / order, 0.0)

    return add_up(log_r, grouping, lambda v: order * (v - log1mexp(v)), back)


def drastic_sum(log_mu: jax.Array) -> jax.Array:
    """Return the greatest degree if all others are 0, else 1."""
    xp = namespace(log_mu)
    several = (log_mu > -xp.inf).sum(axis=-1) > 1
    top = xp.max(log_mu, axis=-1)
    return xp.where(several & ~xp.isnan(top), 0.0, top)


def nilpotent_sum(log_mu: jax.Array) -> jax.Array:
    """Return the nilpotent maximum: the greatest degree if any two stay below 1 together, else 1."""
    xp = namespace(log_mu)
    top = xp.max(log_mu, axis=-1)
    if log_mu.shape[-1] < 2:
        return top
    greatest_two = xp.sort(log_mu, axis=-1)[..., -2:]
    enough = xp.exp(greatest_two[..., 0]) >= -_rounding(log_mu) - xp.expm1(greatest_two[..., 1])
    return xp.where(enough & ~xp.isnan(top), 0.0, top)


def einstein_sum(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array:
    """Return the Einstein sum, ``(a + b) / (1 + ab)``: ``atanh(r)`` adds up."""
    xp = namespace(log_r)

    def log_tanh(v: jax.Array) -> jax.Array:
        t = xp.exp(v)
        return log1mexp(-2.0 * t) - xp.log1p(xp.exp(-2.0 * t))

    return add_up(
        log_r,
        grouping,
        lambda log_r: or_itself(lambda v: xp.log(0.5 * (xp.log1p(xp.exp(v)) - log1mexp(v))), log_r),
        lambda log_t: or_itself(log_tanh, log_t),
    )


_OF_INSTANCES = {"algebraic": algebraic_sum, "max": maximum, "bounded": bounded_sum}
_OF_INSTANCES |= {"hamacher": functools.partial(_odds_in_favor, 1.0), "dombi": functools.partial(_odds_in_favor, 2.0)}
_OF_INSTANCES |= {"einstein": einstein_sum}
S_NORMS |= {name: _over_parts(join) for name, join in _OF_INSTANCES.items()}
S_NORMS |= {"drastic": drastic_sum, "nilpotent": nilpotent_sum}

T_NORMS |= {"product": product, "min": minimum, "lukasiewicz": lukasiewicz, "hamacher": hamacher}
T_NORMS |= {"einstein": einstein, "dombi": dombi, "drastic": drastic, "nilpotent": nilpotent}
DUAL |= {name: name for name in T_NORMS} | {"product": "algebraic", "min": "max", "lukasiewicz": "bounded"}

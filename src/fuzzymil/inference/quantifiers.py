"""How many instances of a bag a condition is asked of: some, all, most, at least three, on average.

`QUANTIFIERS` join the truths of a bag's instances to the degree to which a quantified part of a premise holds for the
bag. Unlike the operators in `fuzzymil.inference.aggregation`, of which a rule base has one, every part of a premise has
its own quantifier. `register_quantifier` adds to them.

Truths are given as logarithms; ``-inf`` means exactly zero. Where a quantifier picks one instance, the gradient goes to
that instance, and instances with the same truth share it evenly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.registry import register
from fuzzymil.inference._numerics import one_if_zero, stop_gradient
from fuzzymil.inference.aggregation import maximum, minimum
from fuzzymil.inference.segments import Each, Grouping, greatest_in_order, log_sum_exp

if TYPE_CHECKING:
    import jax

Quantifier = Callable[["jax.Array", Grouping, int], "jax.Array"]
"""A function of log-truths (i, p), their grouping and a count (1 where none is given) to log-degrees (b, p)."""

QUANTIFIERS: dict[str, Quantifier] = {}
"""The quantifiers by the words that stand for them in rules; ``-inf`` for an empty bag."""

COUNTING: set[str] = set()
"""The quantifiers that need a count, as in ``AT LEAST 3``."""

_UNUSED: Any = 0.0  # the sharpness of operators that have none

MOST_FROM, MOST_TO = 0.3, 0.8
"""Shares of a bag between which ``most`` rises from 0 to 1 (Kacprzyk and Yager)."""


def register_quantifier(name: str, function: Quantifier, *, counts: bool = False) -> None:
    """Add a quantifier under the words that stand for it in rules, in lower case.

    It takes log-truths (i, p), a `Grouping` and a count, and returns log-degrees (b, p). ``counts``: whether it needs a
    count, a number between its name and the condition.

    Examples
    --------
    >>> register_quantifier("nearly all", lambda log_r, grouping, count: 2 * on_average(log_r, grouping, count))
    >>> import jax.numpy as jnp
    >>> from fuzzymil.inference.segments import OneBag
    >>> bag = OneBag(jnp.ones(2, bool))
    >>> jnp.exp(QUANTIFIERS["nearly all"](jnp.log(jnp.array([[0.2], [0.8]])), bag, 1)).round(3).item()
    0.25
    >>> del QUANTIFIERS["nearly all"]
    """
    register(QUANTIFIERS, "Quantifier", name, function)
    if counts:
        COUNTING.add(name)


def some(log_r: jax.Array, grouping: Grouping, count: int = 1) -> jax.Array:
    """Return ``max(r)``: one instance suffices."""
    return log_r if isinstance(grouping, Each) else maximum(log_r, grouping, _UNUSED)


def all_of(log_r: jax.Array, grouping: Grouping, count: int = 1) -> jax.Array:
    """Return ``min(r)``: every instance counts."""
    return log_r if isinstance(grouping, Each) else minimum(log_r, grouping, _UNUSED)


def on_average(log_r: jax.Array, grouping: Grouping, count: int = 1) -> jax.Array:
    """Return ``mean(r)``, the share of instances that satisfy the condition."""
    if isinstance(grouping, Each):
        return log_r
    xp = namespace(log_r)
    sizes = xp.asarray(xp.maximum(grouping.sizes(), 1.0), dtype=log_r.dtype)
    return log_sum_exp(log_r, grouping) - xp.log(sizes)[:, None]


def most(log_r: jax.Array, grouping: Grouping, count: int = 1) -> jax.Array:
    """Return the mean truth on the ramp of Kacprzyk and Yager: 0 up to 0.3, 1 from 0.8, linear in between."""
    xp = namespace(log_r)
    share = xp.exp(on_average(log_r, grouping, count))
    none, full = share <= MOST_FROM, share >= MOST_TO
    within = xp.where(none | full, MOST_TO, share)
    return xp.where(none, -xp.inf, xp.where(full, 0.0, xp.log((within - MOST_FROM) / (MOST_TO - MOST_FROM))))


def at_least(log_r: jax.Array, grouping: Grouping, count: int) -> jax.Array:
    """Return the truth of the instance that comes at place ``count`` when the truest come first.

    It is exactly zero for a bag of fewer instances.
    """
    xp = namespace(log_r)
    found = greatest_in_order(log_r, grouping, count)
    reaches = (log_r == grouping.spread(found)) & xp.isfinite(log_r)
    ties = grouping.sum(xp.asarray(reaches, dtype=log_r.dtype))
    share = grouping.sum(xp.where(reaches, log_r, 0.0)) / one_if_zero(ties)
    return found + share - stop_gradient(share)


QUANTIFIERS |= {"some": some, "all": all_of, "most": most, "on average": on_average, "at least": at_least}
COUNTING.add("at least")

"""Missing values: to which degree one satisfies a condition.

A rule base may state values that a missing one stands for: the median of the training data, or several values between
which it lies. Then a missing value satisfies a condition to the degree that these do on average. Where none are stated,
it counts in favor of the rule (see `fuzzymil.inference.premises`). Whether a value *is missing* is always known.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzymil._utils.arrays import namespace
from fuzzymil.inference._numerics import stop_gradient
from fuzzymil.inference.membership import family

if TYPE_CHECKING:
    import jax

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

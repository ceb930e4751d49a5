"""Conclusions that are fuzzy sets: which rules conclude which terms, and the numbers that come of it.

Axes: b bags, c cells.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzymil.inference._numerics import namespace
from fuzzymil.inference.defuzzification import DEFUZZIFIERS, SAMPLINGS, joined
from fuzzymil.inference.membership import family
from fuzzymil.inference.premises import HEDGES, Place

if TYPE_CHECKING:
    import jax

__all__ = ["ConcludedOutput", "ConcludedTerm", "Conclusions", "conclude"]


class ConcludedTerm(NamedTuple):
    """A term of an output: the family and place of its set, and the rules that conclude it, each with its hedges."""

    family: str
    place: Place
    rules: tuple[tuple[int, tuple[str, ...]], ...]


class ConcludedOutput(NamedTuple):
    """How the conclusions about one output become a number."""

    terms: tuple[ConcludedTerm, ...]
    low: float
    high: float
    resolution: int
    sampling: str
    implication: str
    accumulation: str
    defuzzify: str


class Conclusions(NamedTuple):
    """The outputs; and which of the sets are those of the premises. Hashable."""

    n_rows: int
    n_features: int
    families: tuple[str, ...]
    outputs: tuple[ConcludedOutput, ...]


def conclude(sets: dict[str, tuple[Any, ...]], concluded: ConcludedOutput, log_firing: Any, default: Any) -> jax.Array:
    """Return the number (b,) for one output, given log firing strengths (b, r); the default where nothing is concluded.

    Examples
    --------
    >>> import numpy as np
    >>> great = ConcludedTerm("triangular", (0, 0), ((0, ()),))
    >>> risk = ConcludedOutput((great,), 0.0, 1.0, 1000, "cells", "product", "max", "centroid")
    >>> sets = {"triangular": tuple(np.array([[value]]) for value in (0.0, 1.0, 2.0))}
    >>> conclude(sets, risk, np.array([[-1.0], [-np.inf]]), 0.5).round(3).tolist()
    [0.667, 0.5]
    """
    xp = namespace(log_firing)
    places = SAMPLINGS[concluded.sampling](concluded.low, concluded.high, concluded.resolution)
    y = xp.asarray(places, log_firing.dtype)
    parts = []
    for term in concluded.terms:
        log_mu = family(term.family).log_mu(y, *(values[term.place] for values in sets[term.family]))
        degrees = []
        for rule, hedges in term.rules:
            degree = log_firing[:, rule]
            for hedge in reversed(hedges):
                degree = HEDGES[hedge](degree)
            degrees.append(degree)
        if concluded.accumulation == "max":  # the strongest rule of a term covers the others
            degrees = [xp.stack(degrees, axis=1).max(axis=1)]
        parts += [(degree, log_mu) for degree in degrees]
    if not parts:
        return xp.broadcast_to(xp.asarray(default, log_firing.dtype), (len(log_firing),))
    log_degrees = xp.stack([degree for degree, _ in parts], axis=1)
    log_mu = xp.stack([curve for _, curve in parts])
    membership, log_unit = joined(log_degrees, log_mu, concluded.implication, concluded.accumulation)
    empty = xp.isneginf(log_unit)
    # Of an empty set, the number is not read; but its gradient must exist.
    return xp.where(empty[:, 0], default, DEFUZZIFIERS[concluded.defuzzify](xp.where(empty, 1.0, membership), y))

"""Rules that conclude fuzzy sets, in place of Layers 4 to 6: what training differentiates.

The sets of the outputs are further rows and columns of the arrays in `Params.sets`, behind those of the premises, so
that training treats all sets alike. `Conclusions` says where they are and how they are joined.

Axes: b bags, r rules, k outputs, c cells.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple

from fuzzymil.membership import family
from fuzzymil.network import layers
from fuzzymil.network._numerics import namespace
from fuzzymil.network.defuzzification import DEFUZZIFIERS, SAMPLINGS, joined
from fuzzymil.network.layers import Masks, Operators, Params
from fuzzymil.network.premises import HEDGES, Place
from fuzzymil.network.segments import Grouping

if TYPE_CHECKING:
    import jax

__all__ = ["ConcludedOutput", "ConcludedTerm", "Conclusions", "output"]


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


def output(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    grouping: Grouping,
    *,
    known: jax.Array | None = None,
    squares: jax.Array | None = None,
) -> jax.Array:
    """Return the output (b, k) of rules that conclude sets; see `fuzzymil.network.layers.forward`.

    Where no rule concludes anything, it is ``params.default``.
    """
    conclusions = operators.conclusions
    assert conclusions is not None
    own = slice(conclusions.n_rows), slice(conclusions.n_features)
    families = conclusions.families or tuple(params.sets)[:1]  # one must be there, even if no rule has a condition
    sets = {name: tuple(values[own] for values in params.sets[name]) for name in families}
    premises, kinds = params._replace(sets=sets), {name: masks[name][own] for name in families}
    plain = dataclasses.replace(operators, conclusions=None)
    log_truth = layers.layers_1_and_2(premises, kinds, plain, x, known, squares)
    _, log_firing = layers.strengths_of(premises, plain, log_truth, grouping)
    xp = namespace(log_firing)
    found = [
        _defuzzified(params.sets, concluded, log_firing, params.default[k])
        for k, concluded in enumerate(conclusions.outputs)
    ]
    return xp.stack(found, axis=1)


def _defuzzified(
    sets: dict[str, tuple[Any, ...]], concluded: ConcludedOutput, log_firing: Any, default: Any
) -> jax.Array:
    """Return the number (b,) for one output."""
    xp = namespace(log_firing)
    y = SAMPLINGS[concluded.sampling](concluded.low, concluded.high, concluded.resolution)
    y = xp.asarray(y, log_firing.dtype)
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

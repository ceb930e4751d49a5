"""Rules that conclude fuzzy sets, in place of Layers 4 to 6: what training differentiates.

The sets of the outputs are further rows and columns of the arrays in `Params.sets`, behind those of the premises, so
that training treats all sets alike. `fuzzymil.inference.conclusions` says where they are and how they are joined.

Axes: b bags, r rules, k outputs.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from fuzzymil.inference import layers
from fuzzymil.inference._numerics import namespace
from fuzzymil.inference.conclusions import conclude
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.inference.segments import Grouping

if TYPE_CHECKING:
    import jax

__all__ = ["output"]


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
    """Return the output (b, k) of rules that conclude sets; see `fuzzymil.inference.layers.forward`.

    Where no rule concludes anything, it is ``params.default``.
    """
    conclusions = operators.conclusions
    assert conclusions is not None
    own = slice(conclusions.n_rows), slice(conclusions.n_features)
    families = conclusions.families or tuple(params.sets)[:1]  # one must be there, even if no rule has a condition
    sets = {name: tuple(values[own] for values in params.sets[name]) for name in families}
    gaps = None if params.gaps is None else params.gaps[:, own[1]]
    premises, kinds = params._replace(sets=sets, gaps=gaps), {name: masks[name][own] for name in families}
    plain = dataclasses.replace(operators, conclusions=None)
    log_truth = layers.layers_1_and_2(premises, kinds, plain, x, known, squares)
    _, log_firing = layers.strengths_of(premises, plain, log_truth, grouping)
    xp = namespace(log_firing)
    found = [
        conclude(params.sets, concluded, log_firing, params.default[k])
        for k, concluded in enumerate(conclusions.outputs)
    ]
    return xp.stack(found, axis=1)

"""Inference in 64 bit by compiled programs, for large data."""

from __future__ import annotations

import functools

import jax
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.network.kernels.packed import grouping_of
from fuzzymil.network.layers import Layers, Masks, Operators, Params, forward, layers_1_and_2
from fuzzymil.network.packing import pack

__all__ = ["infer_part"]

# Two programs: in a single one, the compiler would recompute the truths wherever they are used.
_compiled_truth = functools.partial(jax.jit, static_argnames=("operators",))(layers_1_and_2)


@functools.partial(jax.jit, static_argnames=("operators", "n_bags"))
def _compiled_rest(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    known: jax.Array | None,
    log_truth: jax.Array,
    bag_index: jax.Array | None,
    n_bags: int,
) -> Layers:
    grouping = grouping_of(bag_index, len(x), n_bags)
    return forward(params, masks, operators, x, grouping, known=known, log_truth=log_truth)


def infer_part(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int
) -> tuple[Array, ...]:
    """Run the layers on the bags from ``first`` to ``last``, compiled."""
    start, stop = bags.offsets[first], bags.offsets[last]
    data = pack(bags.instances[start:stop], bags.offsets[first : last + 1] - start, np.float64)
    with jax.enable_x64():
        log_truth = _compiled_truth(params, masks, operators, data.x, data.known)
        layers = _compiled_rest(
            params, masks, operators, data.x, data.known, log_truth, data.bag_index, n_bags=len(data.offsets) - 1
        )
        log_truths, *per_bag = (np.asarray(values) for values in layers)
    return (log_truths[: data.n_instances], *(values[: data.n_bags] for values in per_bag))

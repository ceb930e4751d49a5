"""Inference in 64 bit by compiled programs, for large data."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.kernels.packed import grouping_of
from fuzzymil.inference.layers import Masks, Operators, Params, forward, layer1, layers_1_and_2
from fuzzymil.inference.packing import pack

__all__ = ["infer_part"]

_FEW_FEATURES = 32  # at most, for programs that spell out every feature


# Two programs: in a single one, the compiler would recompute the truths wherever they are used.
@functools.partial(jax.jit, static_argnames=("operators",))
def _compiled_truth(
    params: Params, masks: Masks, operators: Operators, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    if operators.t_norm == "min" and operators.premises is None and known is None and x.shape[1] <= _FEW_FEATURES:
        return _least_membership(params, masks, x)
    return layers_1_and_2(params, masks, operators, x, known)


def _least_membership(params: Params, masks: Masks, x: jax.Array) -> jax.Array:
    """Return the truths (i, r) under the minimum, taken feature by feature, so that rules are computed side by side."""

    def of_feature(d: int) -> jax.Array:
        sets = {name: tuple(values[:, d : d + 1] for values in numbers) for name, numbers in params.sets.items()}
        return layer1(sets, {name: mask[:, d : d + 1] for name, mask in masks.items()}, x[:, d : d + 1], None)[..., 0]

    return functools.reduce(jnp.minimum, map(of_feature, range(x.shape[1])))


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
) -> tuple[jax.Array | None, ...]:
    """Return the layers after the second; None for what is known outside, because the compiler would copy it."""
    grouping = grouping_of(bag_index, len(x), n_bags)
    layers = forward(params, masks, operators, x, grouping, known=known, log_truth=log_truth)
    constant = params.coefs.shape[-1] == 1
    return tuple(
        None if values is log_truth or (constant and values is layers.rule_outputs) else values for values in layers[1:]
    )


def infer_part(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int
) -> tuple[Array, ...]:
    """Run the layers on the bags from ``first`` to ``last``, compiled."""
    start, stop = bags.offsets[first], bags.offsets[last]
    data = pack(bags.instances[start:stop], bags.offsets[first : last + 1] - start, np.float64)
    with jax.enable_x64():
        log_truth = _compiled_truth(params, masks, operators, data.x, data.known)
        computed = _compiled_rest(
            params, masks, operators, data.x, data.known, log_truth, data.bag_index, n_bags=len(data.offsets) - 1
        )
        truths, constants = np.asarray(log_truth), np.asarray(params.coefs)[..., 0]
        # Of single instances, the degrees of bags are the truths; what is concluded may be constant.
        known = (truths, truths, None, np.broadcast_to(constants, (data.n_bags, *constants.shape)), None)
        per_bag = [np.asarray(own if values is None else values) for values, own in zip(computed, known, strict=True)]
    return (truths[: data.n_instances], *(values[: data.n_bags] for values in per_bag))

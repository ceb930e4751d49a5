"""Layers 1 and 2 at once on the tensor cores of NVIDIA GPUs, nearly as accurate as in 32 bit.

Tensor cores multiply 16-bit numbers and add in 32 bit. A 32-bit number is split into two 16-bit halves, ``a = high +
low``; of the four products of halves that make up a product, three matter. Scaling by powers of two keeps the halves in
their narrow range without losing digits.

Each kernel reads the instances once and squares them on the way.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

ROWS = 8192  # the number of rows must be a multiple of this
LEAST_ROWS = 1 << 16  # larger data are padded to such multiples
LEAST_FEATURES = 16  # the number of features must be a multiple of this
_ROWS, _ROWS_OF_MOMENTS = 128, 32  # per product
_FEATURES, _FEATURES_OF_MOMENTS = 32, 128  # at most, per product; tensor cores truncate long sums
_LEAST_RULES, _RULES = 16, 64  # at least and at most, per product
_WRITTEN_OUT = 8  # parts of a sum that are unrolled; more become a loop

# Where truths are accurate to 1e-4, an instance is at most 23 widths away and its square 500; 16 bit reach 65504.
_OF_X, _OF_LINEAR, _OF_SQUARE, _OF_GRADIENT = 2.0**3, 2.0**12, 2.0**18, 2.0**14


def _features_at_once(n_features: int, most: int) -> int:
    return min(n_features & -n_features, most)  # the greatest power of 2 that divides it


def _padded_rules(n_rules: int) -> tuple[int, int]:
    """Return the padded number of rules, and how many of them go into one product."""
    at_once = min(max(1 << (n_rules - 1).bit_length(), _LEAST_RULES), _RULES)
    return -(-n_rules // at_once) * at_once, at_once


def _unit(inverse: jax.Array) -> jax.Array:
    """Return the scale (d,) of each feature, about the reciprocal of its least width; 0 for an unused feature."""
    return _OF_X * jax.lax.reduce_precision(jnp.abs(inverse).max(axis=0), exponent_bits=8, mantissa_bits=0)


def _where_used(unit: jax.Array, values: jax.Array) -> jax.Array:
    return jnp.where(unit == 0, 0.0, values)


def _halves(values: jax.Array) -> tuple[jax.Array, jax.Array]:
    high = values.astype(jnp.float16)
    return high, (values - high.astype(values.dtype)).astype(jnp.float16)


def _product(a: tuple[jax.Array, jax.Array], b: tuple[jax.Array, jax.Array], axis: int) -> jax.Array:
    """Return the product over an axis of ``a`` and the first axis of ``b``, adding the small terms first."""
    dot = functools.partial(
        jax.lax.dot_general, dimension_numbers=(((axis,), (0,)), ((), ())), preferred_element_type=jnp.float32
    )
    return dot(a[1], b[0]) + dot(a[0], b[1]) + dot(a[0], b[0])


def _like(x: jax.Array, *shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, x.dtype)  # type: ignore[no-untyped-call]


def _compiled(kernel: Any, *, interpret: bool, **settings: Any) -> Any:
    parameters = triton.CompilerParams(num_warps=4, num_stages=3)
    return pl.pallas_call(kernel, compiler_params=parameters, interpret=interpret, **settings)


# ---------------------------------------------------------------------- the value


def truths_and_size(
    x: jax.Array, centers: jax.Array, inverse: jax.Array, *, interpret: bool = False
) -> tuple[jax.Array, jax.Array]:
    """Return the log-truths (i, r), and the greatest ``sum((x/s)**2 + (c/s)**2)`` over the features (inf if NaN).

    Shapes: ``centers``, ``inverse`` (r, d). ``x`` (i, d): with numbers of rows and features as required above.
    ``interpret``: run without a GPU, for tests.
    """
    n_rules, n_features = centers.shape
    padded, rules = _padded_rules(n_rules)
    features = _features_at_once(n_features, _FEATURES)
    unit, precision = _unit(inverse), jnp.square(inverse)
    weights = jnp.stack(
        [
            _OF_LINEAR * _where_used(unit, centers * precision / unit),
            _OF_SQUARE * _where_used(unit, precision / jnp.square(unit)),
        ]
    )
    constant = (jnp.square(centers) * precision).sum(axis=1)
    weights = jnp.pad(jnp.swapaxes(weights, 1, 2), ((0, 0), (0, 0), (0, padded - n_rules)))
    # Not `_halves`: outside of kernels, compilers remove a conversion to 16 bit and back.
    high = jax.lax.reduce_precision(weights, exponent_bits=5, mantissa_bits=10)
    halves = jnp.concatenate([high, weights - high]).astype(jnp.float16)  # (4, d, r)
    truths, sizes = _compiled(
        functools.partial(_truth_kernel, n_features // features, features),
        interpret=interpret,
        grid=(len(x) // _ROWS, padded // rules),
        in_specs=[
            pl.BlockSpec((_ROWS, n_features), lambda row, rule: (row, 0)),
            pl.BlockSpec((n_features,), lambda row, rule: (0,)),
            pl.BlockSpec((4, n_features, rules), lambda row, rule: (0, 0, rule)),
            pl.BlockSpec((rules,), lambda row, rule: (rule,)),
        ],
        out_specs=[
            pl.BlockSpec((_ROWS, rules), lambda row, rule: (row, rule)),
            pl.BlockSpec((None, rules), lambda row, rule: (row, rule)),
        ],
        out_shape=[_like(x, len(x), padded), _like(x, len(x) // _ROWS, padded)],
    )(x, unit, halves, jnp.pad(constant, (0, padded - n_rules)))
    return truths[:, :n_rules], sizes.max()


def _truth_kernel(
    n_parts: int,
    features: int,
    x_ref: Any,
    unit_ref: Any,
    halves_ref: Any,
    constant_ref: Any,
    truth_ref: Any,
    size_ref: Any,
) -> None:
    def part(number: Any, sums: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        own = pl.ds(number * features, features)
        x = x_ref[:, own] * unit_ref[own][None, :]
        linear, square, linear_low, square_low = (halves_ref[which, own, :] for which in range(4))
        return (
            sums[0] + _product(_halves(x), (linear, linear_low), 1),
            sums[1] + _product(_halves(x * x), (square, square_low), 1),
        )

    zeros = jnp.zeros(truth_ref.shape, truth_ref.dtype)
    if n_parts <= _WRITTEN_OUT:
        cross, square = functools.reduce(lambda sums, number: part(number, sums), range(n_parts), (zeros, zeros))
    else:
        cross, square = jax.lax.fori_loop(0, n_parts, part, (zeros, zeros))
    size = square * (1 / _OF_SQUARE) + constant_ref[...][None, :]
    truth_ref[...] = jnp.minimum(cross * (1 / _OF_LINEAR) - 0.5 * size, 0.0)  # rounding must not make a truth exceed 1
    size_ref[...] = jnp.max(jnp.where(size < jnp.inf, size, jnp.inf), axis=0)  # max may ignore NaN


# ---------------------------------------------------------------------- the gradient


def moments(
    x: jax.Array, g: jax.Array, inverse: jax.Array, *, interpret: bool = False
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the sums over the instances of ``g`` (r,), ``g x`` and ``g x**2`` (r, d), if the size above is small.

    The last two are 0 for features that no rule uses.

    Shapes: ``x`` (i, d), ``g`` (i, r), ``inverse`` (r, d). ``interpret``: run without a GPU, for tests.
    """
    n_rules, n_features = inverse.shape
    padded, rules = _padded_rules(n_rules)
    features = _features_at_once(n_features, _FEATURES_OF_MOMENTS)
    rows = min(1 << max(len(x) >> 10, _ROWS_OF_MOMENTS).bit_length() - 1, ROWS)  # about 1000 programs
    unit = _unit(inverse)
    out = pl.BlockSpec((None, features, rules), lambda row, feature, rule: (row, feature, rule))
    zeroth, *found = _compiled(
        functools.partial(_moments_kernel, rows // _ROWS_OF_MOMENTS),
        interpret=interpret,
        grid=(len(x) // rows, n_features // features, padded // rules),
        in_specs=[
            pl.BlockSpec((rows, features), lambda row, feature, rule: (row, feature)),
            pl.BlockSpec((rows, rules), lambda row, feature, rule: (row, rule)),
            pl.BlockSpec((features,), lambda row, feature, rule: (feature,)),
        ],
        out_specs=[pl.BlockSpec((None, None, rules), lambda row, feature, rule: (row, feature, rule)), out, out],
        out_shape=[
            _like(x, len(x) // rows, width, padded) for width in (n_features // features, n_features, n_features)
        ],
    )(x, jnp.pad(g, ((0, 0), (0, padded - n_rules))), unit)
    first, second = (part.sum(axis=0).T[:n_rules] / _OF_GRADIENT for part in found)
    return (
        zeroth[:, 0].sum(axis=0)[:n_rules],
        _where_used(unit, first / unit),
        _where_used(unit, second / jnp.square(unit)),
    )


def _moments_kernel(
    n_parts: int, x_ref: Any, g_ref: Any, unit_ref: Any, zeroth_ref: Any, first_ref: Any, second_ref: Any
) -> None:
    def part(number: Any, sums: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
        own = pl.ds(number * _ROWS_OF_MOMENTS, _ROWS_OF_MOMENTS)
        x, g = x_ref[own, :] * unit_ref[...][None, :], g_ref[own, :]
        # Per rule, the power of 2 that scales its greatest gradient to between 1 and 2: the reciprocal of the power
        # that its exponent bits encode.
        bits = jax.lax.bitcast_convert_type(jnp.max(jnp.abs(g), axis=0), jnp.int32)
        unit = jax.lax.bitcast_convert_type(0x7F000000 - (bits & 0x7F800000), g.dtype)
        halves = _halves(g * unit[None, :] * _OF_GRADIENT)
        return (
            sums[0] + g.sum(axis=0),
            sums[1] + _product(_halves(x), halves, 0) * (1 / unit)[None, :],
            sums[2] + _product(_halves(x * x), halves, 0) * (1 / unit)[None, :],
        )

    refs = (zeroth_ref, first_ref, second_ref)
    zeros = tuple(jnp.zeros(ref.shape, ref.dtype) for ref in refs)
    for ref, found in zip(refs, jax.lax.fori_loop(0, n_parts, part, zeros), strict=True):
        ref[...] = found

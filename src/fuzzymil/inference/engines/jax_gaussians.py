"""Layers 1 and 2 at once, equations (6) and (7): Gaussian sets joined by the product are a quadratic form.

On a CPU the value ``-1/2 sum_d ((x - c) / s)**2`` is computed from the differences: it is never above 0, and no digits
are lost at small widths. On a GPU, expanding the square into matrix products is several times faster, but loses digits
where ``|x| / s`` is large; a bound on the error decides between the two in every epoch. Large data use the GPU's tensor
cores (`tensor_cores`).

The gradient needs less precision and is computed by matrix products, several times faster than differentiating the
differences. A CPU takes longer to start them than the few rows of a single bag take: their gradient comes from the
differences.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.custom_batching import custom_vmap

from fuzzymil.inference._numerics import total

# Branches of compiled code that many fits take together.


@custom_vmap
def for_all(good: jax.Array) -> jax.Array:
    """Return whether this holds for all fits that are computed together, so that they take one branch and not both."""
    return good


@for_all.def_vmap
def _for_all_of_them(n_fits: int, batched: list[bool], good: jax.Array) -> tuple[jax.Array, bool]:
    del n_fits, batched
    return for_all(good.all()), False


Known = jax.Array | None
Gradients = tuple[jax.Array, jax.Array]  # by centers and inverse widths, (r, d) both


class Gaussians(NamedTuple):
    """The arguments of `log_truth_of_gaussians`."""

    x: jax.Array  # (i, d)
    known: Known  # (i, d), 1 or 0
    centers: jax.Array  # (r, d)
    inverse: jax.Array  # (r, d), 1 / width; 0 where a rule does not use a feature
    squares: jax.Array | None = None  # (i, d) of x, if already computed; see `squares_of`


_GREATEST_ERROR = 1000  # allowed in a log-truth by matrix products, in units of the precision: 1e-4 in 32 bit
_COPIED, _UNCOPIED = 1 << 20, 1 << 24  # size of a chunk of rows, and the size below which data are not split
_UNCOPIED_BY_CPU = 1 << 21  # the same for a CPU, whose caches hold such a chunk but not all data
_SLICES = 8  # features that a GPU adds up at once
_BLOCK, _MANY = 128, 256  # features that a CPU adds up at once, and the number above which it does so
_FEW_ROWS, _FEW_VALUES = 16, 1 << 14  # of a bag that a CPU computes faster than it starts large products
_WIDE = 64  # features from which on a product with ones adds up their squares faster than a sum


def log_truth_of_gaussians(
    x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array, squares: jax.Array | None = None
) -> jax.Array:
    """Return the log-truths (i, r) of rules with Gaussian sets; see `engines.numpy`."""
    return _log_truth(False, Gaussians(x, known, centers, inverse, squares))


def squares_of(x: jax.Array, known: Known) -> jax.Array | None:
    """Return the squares that `log_truth_of_gaussians` uses on a GPU, to compute them once and not in every epoch."""
    if jax.default_backend() == "cpu" or _suits_tensor_cores(x, known):
        return None
    return jnp.square(x if known is None else known * x)


def _suits_tensor_cores(x: jax.Array, known: Known) -> bool:
    """Return whether `fuzzymil.inference.engines.tensor_cores` can be used for these instances on this machine."""
    if jax.default_backend() != "gpu" or known is not None or x.dtype != jnp.float32:
        return False
    try:
        from fuzzymil.inference.engines.tensor_cores import LEAST_FEATURES, LEAST_ROWS, ROWS
    except ImportError:  # an experimental part of JAX
        return False
    n_rows, n_features = x.shape
    enough = n_rows >= LEAST_ROWS and n_rows % ROWS == 0 and n_features % LEAST_FEATURES == 0
    capability = getattr(jax.local_devices()[0], "compute_capability", "0")  # only NVIDIA GPUs have it
    return enough and float(capability) >= 8


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _log_truth(anywhere: bool, rules: Gaussians) -> jax.Array:
    """Compute `log_truth_of_gaussians`; choose between products and differences ``anywhere``, or only on GPUs."""
    return _value(anywhere, rules)[0]


def _value(anywhere: bool, rules: Gaussians) -> tuple[jax.Array, jax.Array]:
    """Return the log-truths (i, r), and whether matrix products were good enough."""

    def by_differences(rules: Gaussians) -> tuple[jax.Array, jax.Array]:
        return _by_differences(rules), jnp.zeros((), bool)

    found: tuple[jax.Array, jax.Array] = jax.lax.platform_dependent(
        rules, cuda=_guarded, rocm=_guarded, default=_guarded if anywhere else by_differences
    )
    return found


# ---------------------------------------------------------------------- the value


def _by_differences(rules: Gaussians) -> jax.Array:
    n_rows, n_features = rules.x.shape

    def squares(x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array) -> jax.Array:
        z = (x[:, None, :] - centers) * inverse
        return total(jnp.square(z if known is None else z * known[:, None, :]))

    if _are_few(rules) and n_features >= _WIDE:
        ones = jnp.ones_like(rules.inverse)  # (r, d): the gradient uses the squares in the same order: they are shared
        return -0.5 * _for_each_rule("rid,rd->ir", jnp.square(_scaled(rules)), ones)
    if n_features <= _MANY:
        return -0.5 * squares(*rules[:4])

    # The innermost loop is over features. Centers and widths of a block of them stay in a core's first cache; those of
    # all features would not, and every instance would fetch them again.
    def block(first: int | jax.Array, n: int) -> jax.Array:
        return squares(*_columns(rules, first, n))

    whole, rest = divmod(n_features, _BLOCK)
    start = block(whole * _BLOCK, rest) if rest else jnp.zeros((n_rows, len(rules.centers)), rules.x.dtype)
    found: jax.Array = jax.lax.fori_loop(0, whole, lambda k, before: before + block(k * _BLOCK, _BLOCK), start)
    return -0.5 * found


def _columns(rules: Gaussians, first: int | jax.Array, n: int) -> Any:
    """Return x, known, centers and inverse widths of ``n`` features."""
    return jax.tree.map(lambda values: jax.lax.dynamic_slice_in_dim(values, first, n, 1), rules[:4])


def _are_few(rules: Gaussians) -> bool:
    return len(rules.x) <= _FEW_ROWS and len(rules.x) * rules.centers.size <= _FEW_VALUES


def _scaled(rules: Gaussians) -> jax.Array:
    """Return the differences divided by the widths, (r, i, d); 0 where a value is unknown."""
    z = (rules.x - rules.centers[:, None, :]) * rules.inverse[:, None, :]
    return z if rules.known is None else z * rules.known


def _for_each_rule(subscripts: str, a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.einsum(subscripts, a, b, precision="highest")


def _by_slices(rules: Gaussians) -> jax.Array:
    """Add up the differences a few features at a time; a single reduction takes GPU compilers minutes."""

    def squares(first: int | jax.Array, n: int) -> jax.Array:
        x, known, c, v = _columns(rules, first, n)
        z = [(x[:, j, None] - c[:, j]) * v[:, j] for j in range(n)]
        if known is not None:
            z = [each * known[:, j, None] for j, each in enumerate(z)]
        return functools.reduce(jnp.add, map(jnp.square, z))

    whole, rest = divmod(rules.x.shape[1], _SLICES)
    found = jnp.zeros((len(rules.x), len(rules.centers)), rules.x.dtype)
    if whole:
        found = jax.lax.fori_loop(0, whole, lambda k, before: before + squares(k * _SLICES, _SLICES), found)
    return -0.5 * (found + squares(whole * _SLICES, rest) if rest else found)


def _guarded(rules: Gaussians) -> tuple[jax.Array, jax.Array]:
    """Use matrix products if the bound on their error allows it, otherwise the differences."""
    if _suits_tensor_cores(rules.x, rules.known):
        from fuzzymil.inference.engines.tensor_cores import truths_and_size

        value, size = truths_and_size(rules.x, rules.centers, rules.inverse)
    else:
        square, cross, constant = _expanded(rules)
        # Rounding must not make a truth exceed 1.
        value, size = jnp.minimum(cross - 0.5 * (square + constant), 0.0), jnp.max(square + constant)
    # Each term is off by a few eps of its size, and 2 |x c| <= x**2 + c**2. The comparison is false for NaN.
    good = for_all(2 * size < _GREATEST_ERROR)
    found: jax.Array = jax.lax.cond(good, lambda _: value, _by_slices, rules)
    return found, good


def _expanded(rules: Gaussians) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the sums over the features of (x/s)**2, x c / s**2 and (c/s)**2: (i, r); the last (r,) if all is known."""
    x, known, centers, inverse, squares = rules
    precision = jnp.square(inverse)
    constant = jnp.square(centers) * precision
    own = x if known is None else known * x
    return (
        _product(jnp.square(own) if squares is None else squares, precision.T),
        _product(own, (centers * precision).T),
        constant.sum(axis=1) if known is None else _product(known, constant.T),
    )


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.matmul(a, b, precision="highest")  # GPUs would round to 10 bits by default


# ---------------------------------------------------------------------- the gradient


def _forward(anywhere: bool, rules: Gaussians) -> tuple[jax.Array, tuple[Gaussians, jax.Array]]:
    value, good = _value(anywhere, rules)
    return value, (rules, good)


def _backward(anywhere: bool, saved: tuple[Gaussians, jax.Array], g: jax.Array) -> tuple[Gaussians]:
    rules, good = saved
    # Moments about the mean of the centers, so that an offset common to x and c costs no digits. (About the mean of
    # the data, bags with weight 0 would change the last bits.) Where the products were good enough there is no such
    # offset, and no copy of x is needed.
    middle = rules.centers.mean(axis=0)

    def about_the_middle(rules: Gaussians, g: jax.Array, uncopied: int = _UNCOPIED) -> Gradients:
        def of(x: jax.Array, known: Known, g: jax.Array) -> Gradients:
            return _moments(Gaussians(x - middle, known, rules.centers - middle, rules.inverse), g)

        return _summed_up(of, rules.x, rules.known, g, uncopied)

    def either(rules: Gaussians, g: jax.Array) -> Gradients:
        found: Gradients = jax.lax.cond(good, _moments_where_good, about_the_middle, rules, g)
        return found

    def on_a_cpu(rules: Gaussians, g: jax.Array) -> Gradients:
        return _of_few_rows(rules, g) if _are_few(rules) else about_the_middle(rules, g, _UNCOPIED_BY_CPU)

    d_centers, d_inverse = jax.lax.platform_dependent(
        rules, g, cuda=either, rocm=either, default=either if anywhere else on_a_cpu
    )
    precision, c, known = jnp.square(rules.inverse), rules.centers - middle, rules.known
    d_x = _product(g, precision * c) - (rules.x - middle) * _product(g, precision)
    no_squares: Any = None  # they follow from x
    if known is None:
        return (Gaussians(d_x, None, d_centers, d_inverse, no_squares),)
    return (Gaussians(known * d_x, jnp.zeros_like(known), d_centers, d_inverse, no_squares),)


def _summed_up(
    function: Callable[..., Gradients], x: jax.Array, known: Known, g: jax.Array, uncopied: int
) -> Gradients:
    """Return the sum of ``function`` over chunks of rows, if there are more than ``uncopied`` values.

    Of all data at once, it would copy too much.
    """
    n_rows = 1 << max((_COPIED // x.shape[1]).bit_length() - 1, 0)  # a power of 2: divides padded sizes
    whole = len(x) // n_rows * n_rows
    if x.size <= uncopied or whole <= n_rows:
        return function(x, known, g)
    rows = (x, known, g)
    parts = jax.tree.map(lambda values: values[:whole].reshape(-1, n_rows, values.shape[1]), rows)
    rest = function(*jax.tree.map(lambda values: values[whole:], rows))
    found: Gradients = jax.lax.scan(
        lambda before, part: (jax.tree.map(jnp.add, before, function(*part)), None), rest, parts
    )[0]
    return found


def _of_few_rows(rules: Gaussians, g: jax.Array) -> Gradients:
    """Return the gradients like `_moments`, from the differences."""
    z, inverse = _scaled(rules), rules.inverse
    first, second = (_for_each_rule("ir,rid->rd", g, values) for values in (z, jnp.square(z)))
    return inverse * first, -second / jnp.where(inverse == 0, 1.0, inverse)  # 0 where a rule does not use a feature


def _moments(rules: Gaussians, g: jax.Array) -> Gradients:
    """Return the gradients by centers and inverse widths, given the gradient ``g`` (i, r) by the log-truths."""
    x, known, centers, inverse, squares = rules
    if known is None:
        g0, g1 = g.sum(axis=0)[:, None], _product(g.T, x)
    else:
        g0, g1 = _product(g.T, known), _product(g.T, known * x)
    if squares is None:
        squares = jnp.square(x) if known is None else known * jnp.square(x)
    return _of_moments(centers, inverse, g0, g1, _product(g.T, squares))


def _moments_where_good(rules: Gaussians, g: jax.Array) -> Gradients:
    """Compute `_moments` where the matrix products of the value were good enough."""
    if not _suits_tensor_cores(rules.x, rules.known):
        return _moments(rules, g)
    from fuzzymil.inference.engines.tensor_cores import moments

    g0, g1, g2 = moments(rules.x, g, rules.inverse)
    return _of_moments(rules.centers, rules.inverse, g0[:, None], g1, g2)


def _of_moments(centers: jax.Array, inverse: jax.Array, g0: jax.Array, g1: jax.Array, g2: jax.Array) -> Gradients:
    """Return the gradients, given the sums over the instances of g, g x and g x**2."""
    d_centers = jnp.square(inverse) * (g1 - centers * g0)
    return d_centers, -inverse * (g2 - 2 * centers * g1 + jnp.square(centers) * g0)


_log_truth.defvjp(_forward, _backward)

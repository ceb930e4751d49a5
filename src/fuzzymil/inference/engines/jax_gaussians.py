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
_Saved = tuple[jax.Array, Known, jax.Array, jax.Array, jax.Array | None, jax.Array]

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
    """Return the log-truths (i, r) of rules with Gaussian sets.

    Parameters
    ----------
    x : array of shape (i, d)
    known : array of shape (i, d), optional
        1 or 0; an unknown value has membership 1 in every set.
    centers : array of shape (r, d)
    inverse : array of shape (r, d)
        1 / width; 0 where a rule does not use a feature.
    squares : array of shape (i, d), optional
        ``x**2``, if already computed; see `squares_of`.

    Examples
    --------
    >>> x, centers = jnp.array([[0.0, 1.0], [2.0, 0.0]]), jnp.array([[0.0, 0.0]])
    >>> log_truth_of_gaussians(x, None, centers, jnp.array([[1.0, 2.0]])).tolist()
    [[-2.0], [-2.0]]
    """
    return _log_truth(False, x, known, centers, inverse, squares)


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
def _log_truth(
    anywhere: bool,
    x: jax.Array,
    known: Known,
    centers: jax.Array,
    inverse: jax.Array,
    squares: jax.Array | None = None,
) -> jax.Array:
    """Compute `log_truth_of_gaussians`; choose between products and differences ``anywhere``, or only on GPUs."""
    return _value(anywhere, x, known, centers, inverse, squares)[0]


def _value(
    anywhere: bool,
    x: jax.Array,
    known: Known,
    centers: jax.Array,
    inverse: jax.Array,
    squares: jax.Array | None,
) -> tuple[jax.Array, jax.Array]:
    """Return the log-truths (i, r), and whether matrix products were good enough."""

    def by_differences(*arguments: jax.Array) -> tuple[jax.Array, jax.Array]:
        return _by_differences(*arguments[:4]), jnp.zeros((), bool)

    found: tuple[jax.Array, jax.Array] = jax.lax.platform_dependent(
        *(x, known, centers, inverse, squares),
        cuda=_guarded,
        rocm=_guarded,
        default=_guarded if anywhere else by_differences,
    )
    return found


# ---------------------------------------------------------------------- the value


def _by_differences(x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array) -> jax.Array:
    def squares(x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array) -> jax.Array:
        z = (x[:, None, :] - centers) * inverse
        return total(jnp.square(z if known is None else z * known[:, None, :]))

    n_features = x.shape[1]
    if _are_few(x, centers) and n_features >= _WIDE:
        ones = jnp.ones_like(inverse)  # (r, d): the gradient uses the squares in the same order, and they are shared
        return -0.5 * _for_each_rule("rid,rd->ir", jnp.square(_scaled(x, known, centers, inverse)), ones)
    if n_features <= _MANY:
        return -0.5 * squares(x, known, centers, inverse)

    # The innermost loop is over features. Centers and widths of a block of them stay in a core's first cache; those of
    # all features would not, and every instance would fetch them again.
    def block(first: int | jax.Array, n: int) -> jax.Array:
        def own(values: jax.Array) -> jax.Array:
            return jax.lax.dynamic_slice_in_dim(values, first, n, 1)

        return squares(own(x), None if known is None else own(known), own(centers), own(inverse))

    whole, rest = divmod(n_features, _BLOCK)
    start = block(whole * _BLOCK, rest) if rest else jnp.zeros((len(x), len(centers)), x.dtype)
    found: jax.Array = jax.lax.fori_loop(0, whole, lambda k, before: before + block(k * _BLOCK, _BLOCK), start)
    return -0.5 * found


def _are_few(x: jax.Array, centers: jax.Array) -> bool:
    return len(x) <= _FEW_ROWS and len(x) * centers.size <= _FEW_VALUES


def _scaled(x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array) -> jax.Array:
    """Return the differences divided by the widths, (r, i, d); 0 where a value is unknown."""
    z = (x - centers[:, None, :]) * inverse[:, None, :]
    return z if known is None else z * known


def _for_each_rule(subscripts: str, a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.einsum(subscripts, a, b, precision="highest")


def _by_slices(x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array) -> jax.Array:
    """Add up the differences a few features at a time; a single reduction takes GPU compilers minutes."""

    def squares(first: int | jax.Array, n: int) -> jax.Array:
        own, c, v = (jax.lax.dynamic_slice_in_dim(values, first, n, 1) for values in (x, centers, inverse))
        z = [(own[:, j, None] - c[:, j]) * v[:, j] for j in range(n)]
        if known is not None:
            told = jax.lax.dynamic_slice_in_dim(known, first, n, 1)
            z = [each * told[:, j, None] for j, each in enumerate(z)]
        return functools.reduce(jnp.add, map(jnp.square, z))

    whole, rest = divmod(x.shape[1], _SLICES)
    found = jnp.zeros((len(x), len(centers)), x.dtype)
    if whole:
        found = jax.lax.fori_loop(0, whole, lambda k, before: before + squares(k * _SLICES, _SLICES), found)
    return -0.5 * (found + squares(whole * _SLICES, rest) if rest else found)


def _guarded(
    x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array, squares: jax.Array | None = None
) -> tuple[jax.Array, jax.Array]:
    """Use matrix products if the bound on their error allows it, otherwise the differences."""
    if _suits_tensor_cores(x, known):
        from fuzzymil.inference.engines.tensor_cores import truths_and_size

        value, size = truths_and_size(x, centers, inverse)
    else:
        square, cross, constant = _expanded(x, known, centers, inverse, squares)
        # Rounding must not make a truth exceed 1.
        value, size = jnp.minimum(cross - 0.5 * (square + constant), 0.0), jnp.max(square + constant)
    # Each term is off by a few eps of its size, and 2 |x c| <= x**2 + c**2. The comparison is false for NaN.
    good = for_all(2 * size < _GREATEST_ERROR)
    found: jax.Array = jax.lax.cond(good, lambda *_: value, _by_slices, *(x, known, centers, inverse))
    return found, good


def _expanded(
    x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array, squares: jax.Array | None
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the sums over the features of (x/s)**2, x c / s**2 and (c/s)**2: (i, r); the last (r,) if all is known."""
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


def _forward(
    anywhere: bool,
    x: jax.Array,
    known: Known,
    centers: jax.Array,
    inverse: jax.Array,
    squares: jax.Array | None,
) -> tuple[jax.Array, _Saved]:
    value, good = _value(anywhere, x, known, centers, inverse, squares)
    return value, (x, known, centers, inverse, squares, good)


def _backward(
    anywhere: bool, saved: _Saved, g: jax.Array
) -> tuple[jax.Array, jax.Array | None, jax.Array, jax.Array, None]:
    x, known, centers, inverse, squares, good = saved
    # Moments about the mean of the centers, so that an offset common to x and c costs no digits. (About the mean of
    # the data, bags with weight 0 would change the last bits.) Where the products were good enough there is no such
    # offset, and no copy of x is needed.
    middle = centers.mean(axis=0)

    def about_the_middle(*arguments: jax.Array, uncopied: int = _UNCOPIED) -> tuple[jax.Array, jax.Array]:
        x, known, centers, inverse, g = arguments[:5]

        def of(x: jax.Array, known: Known, g: jax.Array) -> tuple[jax.Array, jax.Array]:
            return _moments(x - middle, known, centers - middle, inverse, g)

        return _summed_up(of, x, known, g, uncopied)

    def either(*arguments: jax.Array) -> tuple[jax.Array, jax.Array]:
        found: tuple[jax.Array, jax.Array] = jax.lax.cond(good, _moments_where_good, about_the_middle, *arguments)
        return found

    def on_a_cpu(*arguments: jax.Array) -> tuple[jax.Array, jax.Array]:
        if _are_few(x, centers):
            return _of_few_rows(*arguments[:5])
        return about_the_middle(*arguments, uncopied=_UNCOPIED_BY_CPU)

    d_centers, d_inverse = jax.lax.platform_dependent(
        *(x, known, centers, inverse, g, squares), cuda=either, rocm=either, default=either if anywhere else on_a_cpu
    )
    precision, c = jnp.square(inverse), centers - middle
    d_x = _product(g, precision * c) - (x - middle) * _product(g, precision)
    if known is None:
        return d_x, None, d_centers, d_inverse, None
    return known * d_x, jnp.zeros_like(known), d_centers, d_inverse, None


def _summed_up(
    function: Callable[..., tuple[jax.Array, jax.Array]],
    x: jax.Array,
    known: Known,
    g: jax.Array,
    uncopied: int,
) -> tuple[jax.Array, jax.Array]:
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
    found: tuple[jax.Array, jax.Array] = jax.lax.scan(
        lambda before, part: (jax.tree.map(jnp.add, before, function(*part)), None), rest, parts
    )[0]
    return found


def _of_few_rows(
    x: jax.Array, known: Known, centers: jax.Array, inverse: jax.Array, g: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the gradients like `_moments`, from the differences."""
    z = _scaled(x, known, centers, inverse)
    first, second = (_for_each_rule("ir,rid->rd", g, values) for values in (z, jnp.square(z)))
    return inverse * first, -second / jnp.where(inverse == 0, 1.0, inverse)  # 0 where a rule does not use a feature


def _moments(
    x: jax.Array,
    known: Known,
    centers: jax.Array,
    inverse: jax.Array,
    g: jax.Array,
    squares: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Return the gradients (r, d) by ``centers`` and ``inverse``, given the gradient ``g`` (i, r) by the log-truths."""
    if known is None:
        g0, g1 = g.sum(axis=0)[:, None], _product(g.T, x)
    else:
        g0, g1 = _product(g.T, known), _product(g.T, known * x)
    if squares is None:
        squares = jnp.square(x) if known is None else known * jnp.square(x)
    return _of_moments(centers, inverse, g0, g1, _product(g.T, squares))


def _moments_where_good(
    x: jax.Array,
    known: Known,
    centers: jax.Array,
    inverse: jax.Array,
    g: jax.Array,
    squares: jax.Array | None = None,
) -> tuple[jax.Array, jax.Array]:
    """Compute `_moments` where the matrix products of the value were good enough."""
    if not _suits_tensor_cores(x, known):
        return _moments(x, known, centers, inverse, g, squares)
    from fuzzymil.inference.engines.tensor_cores import moments

    g0, g1, g2 = moments(x, g, inverse)
    return _of_moments(centers, inverse, g0[:, None], g1, g2)


def _of_moments(
    centers: jax.Array, inverse: jax.Array, g0: jax.Array, g1: jax.Array, g2: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Return the gradients, given the sums over the instances of g, g x and g x**2."""
    d_centers = jnp.square(inverse) * (g1 - centers * g0)
    return d_centers, -inverse * (g2 - 2 * centers * g1 + jnp.square(centers) * g0)


_log_truth.defvjp(_forward, _backward)

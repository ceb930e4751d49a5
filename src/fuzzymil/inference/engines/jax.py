"""The engine for training, large data and GPUs: JAX, inside compiled code."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference._numerics import folded
from fuzzymil.inference.engines.jax_gaussians import for_all
from fuzzymil.inference.engines.jax_gaussians import log_truth_of_gaussians as log_truth_of_gaussians  # of an engine
from fuzzymil.inference.layers import Masks, Operators, Params, forward, layers_1_and_2
from fuzzymil.inference.segments import Each, Grouping, OneBag, pack

# ---------------------------------------------------------------------- packed bags

for _kind, _static in ((OneBag, []), (Each, ["n_bags"])):  # they pass into and out of compiled functions
    _names = [field.name for field in dataclasses.fields(_kind) if field.name not in _static]
    jax.tree_util.register_dataclass(_kind, data_fields=_names, meta_fields=_static)


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Packed:
    """Bags packed one after another; ``bag_index`` (instances,) is sorted.

    Padding rows belong to an extra bag, which is dropped from all results later. Bags may be empty.
    """

    bag_index: jax.Array
    n_bags: int = dataclasses.field(metadata={"static": True})
    offsets: jax.Array | None = None  # (bags + 1,); goes with ``longest``
    longest: int = dataclasses.field(default=0, metadata={"static": True})  # size of the largest bag; 0 if unknown

    def sum(self, values: jax.Array) -> jax.Array:
        if self.offsets is not None:
            return _sum_of_bags(self.longest, self.offsets, self.bag_index, values)
        return jax.ops.segment_sum(values, self.bag_index, self.n_bags, indices_are_sorted=True)

    def max(self, values: jax.Array) -> jax.Array:
        values = jax.lax.stop_gradient(values)
        if self.offsets is not None:
            return _by_bag(self.longest, self.offsets, values, -jnp.inf).max(axis=1)
        return jax.ops.segment_max(values, self.bag_index, self.n_bags, indices_are_sorted=True)

    def spread(self, values: jax.Array) -> jax.Array:
        return values[self.bag_index]

    def sizes(self) -> jax.Array:
        return self.sum(jnp.ones(self.bag_index.shape))

    def owners(self) -> jax.Array:
        return self.bag_index


def _by_bag(longest: int, offsets: jax.Array, values: jax.Array, instead: float) -> jax.Array:
    """Return the values (bags, longest, ...) of each bag's instances, padded with ``instead``."""
    place = offsets[:-1, None] + jnp.arange(longest, dtype=offsets.dtype)
    real = place < offsets[1:, None]
    found = values[jnp.minimum(place, len(values) - 1)]
    return jnp.where(real.reshape(real.shape + (1,) * (values.ndim - 1)), found, instead)


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _sum_of_bags(longest: int, offsets: jax.Array, bag_index: jax.Array, values: jax.Array) -> jax.Array:
    del bag_index
    return _by_bag(longest, offsets, values, 0.0).sum(axis=1)


def _sum_forward(
    longest: int, offsets: jax.Array, bag_index: jax.Array, values: jax.Array
) -> tuple[jax.Array, jax.Array]:
    return _sum_of_bags(longest, offsets, bag_index, values), bag_index


def _sum_backward(longest: int, bag_index: jax.Array, g: jax.Array) -> tuple[None, None, jax.Array]:
    del longest
    return None, None, g[bag_index]  # the gradient of a gather would be a scatter


_sum_of_bags.defvjp(_sum_forward, _sum_backward)


def grouping_of(
    bag_index: jax.Array | None, n_rows: int, n_bags: int, offsets: jax.Array | None = None, longest: int = 0
) -> Grouping:
    """Return the grouping of `PackedBags` inside compiled code; ``longest`` comes from `even_size`."""
    if bag_index is None:
        return Each(n_rows)
    return Packed(bag_index, n_bags, offsets, longest) if longest else Packed(bag_index, n_bags)


def stop_gradient(values: jax.Array) -> jax.Array:
    """Return values without a gradient."""
    return jax.lax.stop_gradient(values)


def numbers(values: Sequence[float], like: jax.Array) -> jax.Array:
    """Return numbers as an array of the same precision as another."""
    return jnp.asarray(np.asarray(values), like.dtype)


@jax.custom_jvp
def least(values: jax.Array) -> jax.Array:
    """Return the minimum over the last axis; the values that reach it share the gradient evenly."""
    few = folded(values, jnp.minimum)
    return values.min(axis=-1) if few is None else few


@least.defjvp
def _least_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    return jax.jvp(lambda values: values.min(axis=-1), primals, tangents)


def softmax(values: jax.Array) -> jax.Array:
    """Return exponentials that sum to one over the last axis."""
    return jax.nn.softmax(values, axis=-1)


@jax.custom_jvp
def shares(log_values: jax.Array) -> jax.Array:
    """Return `softmax`; all zero where every value is ``-inf``."""
    top = log_values.max(axis=-1, keepdims=True)
    found = jnp.exp(log_values - jnp.where(jnp.isneginf(top), 0.0, top))
    total = found.sum(axis=-1, keepdims=True)
    return found / jnp.where(total == 0, 1.0, total)


@shares.defjvp
def _shares_jvp(primals: tuple[jax.Array], tangents: tuple[jax.Array]) -> tuple[jax.Array, jax.Array]:
    found = shares(*primals)
    rise = found * tangents[0]
    return found, rise - found * rise.sum(axis=-1, keepdims=True)


def log_softmax(values: jax.Array) -> jax.Array:
    """Return the logarithm of `softmax`."""
    return jax.nn.log_softmax(values, axis=-1)


def sigmoid(values: jax.Array) -> jax.Array:
    """Return ``1 / (1 + exp(-values))``."""
    return jax.nn.sigmoid(values)


def fast_softmax(log_r: jax.Array, grouping: Grouping, alpha: jax.Array) -> jax.Array | None:
    """Return `aggregation.softmax` with a gradient of its own; None where the general formula is faster."""
    if isinstance(grouping, Packed) and pays(log_r, grouping):
        return softmax_of_bags(log_r, grouping, alpha)
    return None


def einsum(subscripts: str, a: jax.Array, b: jax.Array) -> jax.Array:
    """Return the sum of products, in full precision on every device."""
    return jnp.einsum(subscripts, a, b, precision="highest")


def sorted_within(owners: jax.Array, values: jax.Array) -> jax.Array:
    """Return values (i, n) in ascending order within each owner (i, n); the owners are in ascending order."""
    _, ordered = jax.lax.sort((owners, values), dimension=0, num_keys=2)
    return ordered


# Largest array (instances, sets of a rule, features) in one piece: 64 MB in 32 bit, and several are in use at once.
_GREATEST_ARRAY = 1 << 24


def in_chunks(
    function: Callable[[jax.Array, jax.Array | None], jax.Array], n_values: int, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    """Call ``function``, which computes ``n_values`` numbers for each row, on so many rows at once as memory allows.

    For the gradient, each chunk is computed again.
    """
    limit = _GREATEST_ARRAY // max(n_values, 1)
    n_rows = 1 << max(limit.bit_length() - 1, 0)  # a power of 2 divides the sizes that data are padded to
    whole = len(x) // n_rows * n_rows
    if whole <= n_rows:
        return function(x, known)
    forgetful = jax.checkpoint(function)
    parts = jax.tree.map(lambda values: values[:whole].reshape(-1, n_rows, values.shape[1]), (x, known))
    found: jax.Array = jax.lax.map(lambda part: forgetful(*part), parts).reshape(whole, -1)
    if whole == len(x):
        return found
    return jnp.concatenate([found, forgetful(*jax.tree.map(lambda values: values[whole:], (x, known)))])


# ---------------------------------------------------------------------- softmax of bags
# Equation (8) with a gradient of its own: the automatic one of `fuzzymil.inference.aggregation` keeps several arrays
# (instances, rules). This one needs only the truths and three numbers per bag and rule. For short bags of similar size
# on GPUs the reductions are unrolled, so that the compiler fuses them into one loop over the truths.

_Values = TypeVar("_Values", bound=tuple[jax.Array, ...])
_MOST_INSTANCES = 32  # per bag that is unrolled; each is compiled separately
_LARGE = 1 << 21  # values that are faster to compute again than to fetch from memory


def pays(log_r: jax.Array, bags: Packed) -> bool:
    """Return whether `softmax_of_bags` is faster than the general formula, with its gradient."""
    return _is_short(bags) or log_r.size > _LARGE


def _is_short(bags: Packed) -> bool:
    return bags.offsets is not None and bags.longest <= _MOST_INSTANCES


class _Pooled(NamedTuple):
    """Results of the softmax over bags, (b, r) each. Weights are ``exp(alpha * (r - reference))``."""

    log_mean: jax.Array  # of r under the weights; -inf where every r is 0 or the bag is empty
    reference: jax.Array
    log_sum: jax.Array  # of r times its weight
    slope: jax.Array  # of log_mean by alpha


@jax.custom_vjp
def softmax_of_bags(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> jax.Array:
    """Return the logarithm (b, r) of the mean of r weighted by ``exp(alpha * r)``, like `aggregation.softmax`.

    Shapes: ``log_r`` (i, r), ``alpha`` () or (r,).
    """
    return _pooled(log_r, bags, alpha).log_mean


def _pooled(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    return (_unrolled if _is_short(bags) else _by_reductions)(log_r, bags, alpha)


def _by_reductions(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    """Reduce one array (instances, rules) after another, each computed anew from the truths.

    So only one of them is in memory besides the truths.
    """

    def score(log_r: jax.Array, reference: jax.Array) -> jax.Array:
        return alpha * (jnp.exp(log_r) - bags.spread(reference))

    def where_weights_increase() -> tuple[jax.Array, jax.Array]:
        # The instance with the greatest truth has the greatest weight and the greatest term.
        greatest = bags.max(log_r)
        return jnp.exp(greatest), greatest

    def anywhere() -> tuple[jax.Array, jax.Array]:
        sign = jnp.where(alpha >= 0, 1.0, -1.0).astype(log_r.dtype)
        extreme = sign * bags.max(sign * log_r)
        reference = jnp.exp(jnp.where(jnp.isposinf(extreme), -jnp.inf, extreme))  # of an empty bag, 0
        return reference, bags.max(log_r + score(log_r, reference))

    reference, top = jax.lax.cond(for_all(jnp.all(alpha >= 0)), where_weights_increase, anywhere)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    all_weights = bags.sum(jnp.exp(score(log_r, reference)))
    again, reference, all_weights = _anew((log_r, reference, all_weights))
    share = bags.sum(jnp.exp(again + score(again, reference) - bags.spread(top)))
    log_sum, log_mean, share = _logs(share, top, all_weights)
    again, reference, top, share = _anew((log_r, reference, top, share))
    of_squares = bags.sum(jnp.exp(2 * again + score(again, reference) - bags.spread(top)))
    return _Pooled(log_mean, reference, log_sum, of_squares / share - jnp.exp(log_mean))


def _logs(share: jax.Array, top: jax.Array, all_weights: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Return the logarithms of the sum and of the mean, and the share, 1 where it was 0; lets NaN through."""
    nothing = share == 0
    share = jnp.where(nothing, 1.0, share)
    log_sum = jnp.where(nothing, -jnp.inf, top + jnp.log(share))
    return log_sum, log_sum - jnp.log(jnp.where(all_weights == 0, 1.0, all_weights)), share


def _anew(values: _Values) -> _Values:
    """Make the compiler wait for all values, and compute what follows from them without reusing earlier results."""
    found: _Values = jax.lax.optimization_barrier(values)  # type: ignore[no-untyped-call]
    return found


def _unrolled(log_r: jax.Array, bags: Packed, alpha: jax.Array) -> _Pooled:
    assert bags.offsets is not None
    starts, ends = bags.offsets[:-1], bags.offsets[1:]
    real = [(starts + number < ends)[:, None] for number in range(bags.longest)]
    truths = [log_r[jnp.minimum(starts + number, len(log_r) - 1)] for number in range(bags.longest)]
    greatest, smallest = (
        functools.reduce(join, [jnp.where(own, v, none) for own, v in zip(real, truths, strict=True)])
        for join, none in ((jnp.maximum, -jnp.inf), (jnp.minimum, jnp.inf))
    )
    # The truth of the instance with the greatest weight; 0 for an empty bag.
    reference = jnp.exp(jnp.where(starts[:, None] < ends[:, None], jnp.where(alpha >= 0, greatest, smallest), -jnp.inf))
    scores = [jnp.where(own, alpha * (jnp.exp(v) - reference), -jnp.inf) for own, v in zip(real, truths, strict=True)]
    terms = [jnp.where(own, v + score, -jnp.inf) for own, v, score in zip(real, truths, scores, strict=True)]
    top = functools.reduce(jnp.maximum, terms)
    top = jnp.where(jnp.isfinite(top), top, 0.0)
    all_weights = functools.reduce(jnp.add, map(jnp.exp, scores))
    shares = [jnp.exp(term - top) for term in terms]
    share = functools.reduce(jnp.add, shares)
    log_sum, log_mean, share = _logs(share, top, all_weights)
    of_squares = functools.reduce(
        jnp.add, [jnp.where(own, each * jnp.exp(v), 0.0) for own, each, v in zip(real, shares, truths, strict=True)]
    )
    pooled = _Pooled(log_mean, reference, log_sum, of_squares / share - jnp.exp(log_mean))
    # Otherwise the compiler would fuse this into the sums over rules that follow, which is several times slower.
    found: _Pooled = jax.lax.optimization_barrier(pooled)  # type: ignore[no-untyped-call]
    return found


def _forward(
    log_r: jax.Array, bags: Packed, alpha: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, Packed, jax.Array, _Pooled]]:
    pooled = _pooled(log_r, bags, alpha)
    return pooled.log_mean, (log_r, bags, alpha, pooled)


def _backward(saved: tuple[jax.Array, Packed, jax.Array, _Pooled], g: jax.Array) -> tuple[jax.Array, None, jax.Array]:
    log_r, bags, alpha, pooled = saved
    if not _is_short(bags):
        log_r, g = _anew((log_r, g))
    # With weights w that sum to 1 and mean m: dm/dr = w (1 + alpha (r - m)); in logarithms, r w / m times the same
    # bracket. A bag that is empty or whose truths are all 0 has no gradient.
    log_sum = jnp.where(jnp.isneginf(pooled.log_sum), jnp.inf, pooled.log_sum)
    g_own, reference, log_sum, log_mean = map(bags.spread, (g, pooled.reference, log_sum, pooled.log_mean))
    r = jnp.exp(log_r)
    share = jnp.exp(log_r + alpha * (r - reference) - log_sum)
    d_alpha = jnp.where(jnp.isneginf(pooled.log_sum), 0.0, g * pooled.slope).sum(axis=0)
    return (g_own * share * (1 + alpha * (r - jnp.exp(log_mean))), None, d_alpha if jnp.ndim(alpha) else d_alpha.sum())


softmax_of_bags.defvjp(_forward, _backward)


# ---------------------------------------------------------------------- inference
# In 64 bit, by compiled programs, for large data.


# Two programs: in a single one, the compiler would recompute the truths wherever they are used.
@functools.partial(jax.jit, static_argnames=("operators",))
def _compiled_truth(
    params: Params, masks: Masks, operators: Operators, x: jax.Array, known: jax.Array | None
) -> jax.Array:
    return layers_1_and_2(params, masks, operators, x, known)


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


def infer_part(params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int) -> list[Array]:
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
    return [truths[: data.n_instances], *(values[: data.n_bags] for values in per_bag)]

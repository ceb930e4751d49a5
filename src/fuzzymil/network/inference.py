"""Running a rule base on bags: the compiled network in 64 bit, in pieces that fit in memory."""

from __future__ import annotations

import dataclasses
import functools

import jax
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import make_room
from fuzzymil.bags import Bags
from fuzzymil.network.layers import Layers, Masks, Operators, Params, from_truth, log_truth
from fuzzymil.network.segments import grouping_of, pack

__all__ = ["Activations", "infer"]

# Values of the general path's largest array (instances x rules x features) held at once.
_CHUNK_VALUES = 1 << 23


@dataclasses.dataclass(frozen=True)
class Activations:
    """Everything one inference computed, as NumPy arrays; the prediction is its ``output``.

    Attributes
    ----------
    truth : array of shape (n_instances, n_rules)
        Degree to which each instance satisfies each rule's premise (Layer 2).
    firing : array of shape (n_bags, n_rules)
        Firing strength of each rule for each bag (Layer 3).
    normalized : array of shape (n_bags, n_rules)
        Strengths that sum to one (Layer 4), exact even where ``firing`` underflows.
    rule_outputs : array of shape (n_bags, n_rules, n_outputs)
        What each rule concludes (Layer 5, before weighting).
    output : array of shape (n_bags, n_outputs)
        The weighted conclusion (Layer 6).
    log_truth, log_firing : arrays
        Logarithms of ``truth`` and ``firing``; ``-inf`` means truly zero.
    """

    normalized: Array
    rule_outputs: Array
    output: Array
    log_truth: Array
    log_firing: Array

    @property
    def truth(self) -> Array:
        """Degrees of truth, shape (n_instances, n_rules)."""
        return np.asarray(np.exp(self.log_truth))

    @property
    def firing(self) -> Array:
        """Firing strengths before normalization, shape (n_bags, n_rules)."""
        return np.asarray(np.exp(self.log_firing))

    @property
    def coverage(self) -> Array:
        """Greatest firing strength of each bag, shape (n_bags,): near 0, no rule knows the bag."""
        return np.asarray(self.firing.max(axis=1))

    @property
    def uncovered(self) -> Array:
        """Bags, shape (n_bags,), on which every rule is truly zero and the default was given."""
        return np.asarray(np.isneginf(self.log_firing).all(axis=1))


def infer(
    params: Params, masks: Masks, operators: Operators, bags: Bags, default: tuple[float, ...] = (0.0,)
) -> Activations:
    """Run the six layers; bags on which every rule is truly zero get ``default``."""
    make_room()
    limit = max(_CHUNK_VALUES // next(iter(masks.values())).size, 1)
    parts = [_infer_part(params, masks, operators, bags, *bounds) for bounds in _chunks(bags.offsets, limit)]
    log_truth, log_firing, strengths, rule_outputs, output = (
        np.concatenate(arrays) if len(parts) > 1 else arrays[0] for arrays in zip(*parts, strict=True)
    )
    uncovered = np.isneginf(log_firing).all(axis=1, keepdims=True)
    return Activations(strengths, rule_outputs, np.where(uncovered, default, output), log_truth, log_firing)


# Two programs: in one, the compiler computes the truths anew wherever they are used.
_compiled_truth = functools.partial(jax.jit, static_argnames=("operators",))(log_truth)


@functools.partial(jax.jit, static_argnames=("operators", "n_bags"))
def _compiled_rest(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: jax.Array,
    known: jax.Array | None,
    truth: jax.Array,
    bag_index: jax.Array | None,
    n_bags: int,
) -> Layers:
    return from_truth(params, masks, operators, x, grouping_of(bag_index, len(x), n_bags), truth, known=known)


def _infer_part(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int
) -> tuple[Array, ...]:
    start, stop = bags.offsets[first], bags.offsets[last]
    data = pack(bags.instances[start:stop], bags.offsets[first : last + 1] - start, np.float64)
    with jax.enable_x64():
        truth = _compiled_truth(params, masks, operators, data.x, data.known)
        layers = _compiled_rest(
            params, masks, operators, data.x, data.known, truth, data.bag_index, n_bags=len(data.offsets) - 1
        )
        log_truths, *per_bag = (np.asarray(values) for values in layers)
    return (log_truths[: data.n_instances], *(values[: data.n_bags] for values in per_bag))


def _chunks(offsets: Array, limit: int) -> list[tuple[int, int]]:
    """Split bags into runs of at most ``limit`` instances (a greater bag makes a run of its own)."""
    bounds, first = [], 0
    while first < len(offsets) - 1:
        last = max(int(np.searchsorted(offsets, offsets[first] + limit, side="right")) - 1, first + 1)
        bounds.append((first, last))
        first = last
    return bounds

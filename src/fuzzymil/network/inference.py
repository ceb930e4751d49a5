"""Inference: the compiled network on bags, in 64 bit and in chunks that fit in memory."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.runtime import make_room
from fuzzymil.bags import Bags
from fuzzymil.network.layers import Layers, Masks, Operators, Params, forward, layers_1_and_2
from fuzzymil.network.segments import Rows, Runs, grouping_of, pack

__all__ = ["Activations", "Strengths", "infer"]

# Most values of the largest array (instances x rules x features) in one chunk.
_CHUNK_VALUES = 1 << 23


class Strengths:
    """Base class of activations, which keep degrees of truth and firing strengths as logarithms."""

    log_truth: Array
    log_degrees: Array
    log_firing: Array

    @property
    def truth(self) -> Array:
        """Degrees of truth, shape (n_instances, n_parts)."""
        return np.asarray(np.exp(self.log_truth))

    @property
    def firing(self) -> Array:
        """Firing strengths before normalization, shape (n_bags, n_rules)."""
        return np.asarray(np.exp(self.log_firing))

    @property
    def strongest(self) -> Array:
        """Greatest firing strength in each bag, shape (n_bags,); near 0 where hardly any rule applies."""
        return np.asarray(self.firing.max(axis=1))


@dataclasses.dataclass(frozen=True)
class Activations(Strengths):
    """Everything that one inference computed, as NumPy arrays; ``output`` is the prediction.

    Attributes
    ----------
    truth : array of shape (n_instances, n_parts)
        Degree to which each instance satisfies each part of a premise (Layer 2). A premise without quantifiers is a
        single part, so that there is one per rule; see `RuleBase.parts`.
    degrees : array of shape (n_bags, n_parts)
        Degree to which each part holds for each bag.
    firing : array of shape (n_bags, n_rules)
        Firing strength of each rule for each bag (Layer 3).
    normalized : array of shape (n_bags, n_rules)
        Strengths that sum to one (Layer 4), exact even where ``firing`` underflows; for additive rules, ``firing``.
    rule_outputs : array of shape (n_bags, n_rules, n_outputs)
        Conclusion of each rule (Layer 5, before weighting).
    output : array of shape (n_bags, n_outputs)
        The weighted conclusion (Layer 6); for additive rules, the default plus what the rules add.
    log_truth, log_degrees, log_firing : arrays
        Logarithms of ``truth``, ``degrees`` and ``firing``; ``-inf`` means exactly zero.
    """

    normalized: Array
    rule_outputs: Array
    output: Array
    log_truth: Array
    log_degrees: Array
    log_firing: Array

    @property
    def degrees(self) -> Array:
        """Degrees to which the parts of premises hold for each bag, shape (n_bags, n_parts)."""
        return np.asarray(np.exp(self.log_degrees))

    @property
    def uncovered(self) -> Array:
        """Whether every rule is exactly zero on a bag, so that it got the default, shape (n_bags,)."""
        return np.asarray(np.isneginf(self.log_firing).all(axis=1))


def infer(params: Params, masks: Masks, operators: Operators, bags: Bags) -> Activations:
    """Run the six layers on bags.

    Parameters
    ----------
    params, masks, operators
        The compiled rule base; see `fuzzymil.RuleBase.compile`.
    bags : Bags

    Examples
    --------
    >>> sets = {"gaussian": (np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))}
    >>> params = Params(sets, coefs=np.array([[[0.0]], [[1.0]]]), alpha=np.ones(()), consequent_alpha=np.ones(()))
    >>> bags = Bags.from_list([[[0.2], [0.9]], [[1.1]]])
    >>> infer(params, {"gaussian": np.ones((2, 1))}, Operators(), bags).output.round(2).tolist()
    [[0.52], [0.92]]
    """
    if operators.parts is None:
        make_room()
        n_values, infer_part = next(iter(masks.values())).size, _infer_part
    else:
        n_values, infer_part = max(operators.parts.n_conditions, 1), _infer_part_in_numpy
    limit = max(_CHUNK_VALUES // n_values, 1)
    parts = [infer_part(params, masks, operators, bags, *bounds) for bounds in _chunks(bags.offsets, limit)]
    log_truth, log_degrees, log_firing, strengths, rule_outputs, output = (
        np.concatenate(arrays) if len(parts) > 1 else arrays[0] for arrays in zip(*parts, strict=True)
    )
    uncovered = np.isneginf(log_firing).all(axis=1, keepdims=True)
    return Activations(
        normalized=strengths,
        rule_outputs=rule_outputs,
        output=np.where(uncovered, params.default, output),
        log_truth=log_truth,
        log_degrees=log_degrees,
        log_firing=log_firing,
    )


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


def _infer_part(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int
) -> tuple[Array, ...]:
    start, stop = bags.offsets[first], bags.offsets[last]
    data = pack(bags.instances[start:stop], bags.offsets[first : last + 1] - start, np.float64)
    with jax.enable_x64():
        log_truth = _compiled_truth(params, masks, operators, data.x, data.known)
        layers = _compiled_rest(
            params, masks, operators, data.x, data.known, log_truth, data.bag_index, n_bags=len(data.offsets) - 1
        )
        log_truths, *per_bag = (np.asarray(values) for values in layers)
    return (log_truths[: data.n_instances], *(values[: data.n_bags] for values in per_bag))


def _infer_part_in_numpy(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int
) -> tuple[Array, ...]:
    """Run the layers without compiling them: every quantified rule base would need a program of its own."""
    start, stop = bags.offsets[first], bags.offsets[last]
    offsets = bags.offsets[first : last + 1] - start
    x: Any = np.asarray(bags.instances[start:stop], np.float64)
    missing = np.isnan(x)
    known: Any = None
    if missing.any():
        x, known = np.where(missing, 0.0, x), 1.0 - missing
    grouping: Any = Rows(len(x)) if len(offsets) == len(x) + 1 else Runs(offsets)
    # In logarithms, -inf is an ordinary number. Operators that users add may be written for JAX alone.
    with np.errstate(all="ignore"), jax.enable_x64():
        return tuple(np.asarray(values) for values in forward(params, masks, operators, x, grouping, known=known))


def _chunks(offsets: Array, limit: int) -> list[tuple[int, int]]:
    """Split bags into runs of at most ``limit`` instances; a larger bag is a run of its own."""
    bounds, first = [], 0
    while first < len(offsets) - 1:
        last = max(int(np.searchsorted(offsets, offsets[first] + limit, side="right")) - 1, first + 1)
        bounds.append((first, last))
        first = last
    return bounds

"""Inference: the compiled network on bags, in 64 bit and in chunks that fit in memory."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import numpy as np

from fuzzymil._utils import memory
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, known_name
from fuzzymil._utils.runtime import has_jax, in_64_bit, make_room, require_jax
from fuzzymil.bags import Bags
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.engines.numpy_parts import log_degrees
from fuzzymil.inference.layers import Masks, Operators, Params, forward
from fuzzymil.inference.segments import Each

ENGINES = ("auto", "numpy", "jax")

# Most values of the largest array (instances x rules x features or outputs) in one chunk.
_CHUNK_VALUES = 1 << 23

# Most of these values for which NumPy, a few tens of nanoseconds each, is faster than compiling a program for JAX, and
# than importing it as well.
_VALUES_FOR_NUMPY, _VALUES_BEFORE_JAX = 1 << 24, 1 << 26

_engine: ContextVar[str] = ContextVar("engine", default="")  # chosen by `use_engine`; empty: by the environment


def use_engine(name: str) -> contextlib.AbstractContextManager[None]:
    """Choose what runs inference inside a ``with`` block, in the present thread.

    Parameters
    ----------
    name : {"auto", "numpy", "jax"}
        NumPy answers at once. JAX must be imported and compiles a program for each size of the data, which takes
        seconds, but then it is several times faster and uses GPUs. "auto", the default, uses NumPy unless the data are
        large: instances x rules x features above 17 million, or 67 million as long as nothing has imported JAX. The
        environment variable ``FUZZYMIL_ENGINE`` sets it for a whole process. Rules with quantifiers always use NumPy,
        and training always uses JAX.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> with use_engine("numpy"):
    ...     rules.infer([[[0.0]], [[0.0], [1.0]]]).output.round(2).tolist()
    [[0.0], [0.5]]
    """
    known_name("engine", name, ENGINES)
    return _using(name)


@contextlib.contextmanager
def _using(name: str) -> Iterator[None]:
    before = _engine.set(name)
    try:
        yield
    finally:
        _engine.reset(before)


def _in_numpy(operators: Operators, n_values: int) -> bool:
    """Return whether NumPy runs the layers."""
    chosen = _engine.get() or os.environ.get("FUZZYMIL_ENGINE", "").strip().lower() or "auto"
    known_name("engine", chosen, ENGINES, where="in FUZZYMIL_ENGINE")
    if operators.parts is not None or chosen == "numpy":  # every quantified rule base would need its own program
        return True
    if chosen == "jax":
        require_jax("The engine 'jax'")
        return False
    enough = _VALUES_FOR_NUMPY if "jax" in sys.modules else _VALUES_BEFORE_JAX
    return n_values <= enough or not has_jax()


@dataclasses.dataclass(frozen=True)
class Activations:
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

    @property
    def degrees(self) -> Array:
        """Degrees to which the parts of premises hold for each bag, shape (n_bags, n_parts)."""
        return np.asarray(np.exp(self.log_degrees))

    @property
    def uncovered(self) -> Array:
        """Whether every rule is exactly zero on a bag, so that it got the default, shape (n_bags,)."""
        return _uncovered(self.log_firing)

    @property
    def uncovered_outputs(self) -> Array:
        """Whether an output of a bag is its default, shape (n_bags, n_outputs)."""
        return np.broadcast_to(self.uncovered[:, None], self.output.shape)


def infer(params: Params, masks: Masks, operators: Operators, bags: Bags) -> Activations:
    """Run the six layers of a compiled rule base on bags; see `fuzzymil.RuleBase.compile`.

    Examples
    --------
    >>> sets = {"gaussian": (np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))}
    >>> params = Params(sets, coefs=np.array([[[0.0]], [[1.0]]]), alpha=np.ones(()), conclusion_alpha=np.ones(()))
    >>> bags = Bags.from_list([[[0.2], [0.9]], [[1.1]]])
    >>> infer(params, {"gaussian": np.ones((2, 1))}, Operators(), bags).output.round(2).tolist()
    [[0.52], [0.92]]
    """
    n_rules, n_outputs = params.coefs.shape[:2]
    n_parts = n_rules if operators.parts is None else len(operators.parts.rules)
    # What is returned, and the parts that it is joined from.
    n_bytes = 16 * (bags.n_instances * n_parts + bags.n_bags * (n_rules * (n_outputs + 3) + n_outputs))
    lack = memory.shortage(n_bytes)
    if lack is not None:
        raise InputError(
            f"The activations of {n_rules:,} rules with {n_outputs:,} outputs on {bags.n_bags:,} bags are too many: "
            f"{lack}; infer fewer bags at a time."
        )
    parts = list(_inferred(params, masks, operators, bags))
    log_truth, log_degrees, log_firing, strengths, rule_outputs, output = (
        np.concatenate(arrays) if len(parts) > 1 else arrays[0] for arrays in zip(*parts, strict=True)
    )
    return Activations(strengths, rule_outputs, output, log_truth, log_degrees, log_firing)


def infer_output(params: Params, masks: Masks, operators: Operators, bags: Bags) -> Array:
    """Return the output of the six layers alone, shape (n_bags, n_outputs), with little memory for many outputs."""
    found = [part[-1] for part in _inferred(params, masks, operators, bags, output_alone=True)]
    return found[0] if len(found) == 1 else np.concatenate(found)


def infer_strengths(params: Params, masks: Masks, operators: Operators, bags: Bags) -> Array:
    """Return how much each rule counts (Layer 4) alone, shape (n_bags, n_rules)."""
    return np.concatenate([part[3] for part in _inferred(params, masks, operators, bags, output_alone=True)])


def _inferred(
    params: Params, masks: Masks, operators: Operators, bags: Bags, *, output_alone: bool = False
) -> Iterator[tuple[Array, ...]]:
    """Yield the layers of some bags at a time, as many as fit in a chunk.

    ``output_alone``: truths and degrees may be left out, where that is faster.
    """
    parts_of = operators.parts
    n_values = next(iter(masks.values())).size if parts_of is None else max(parts_of.n_conditions, 1)
    quadratic = operators.t_norm == "product" and params.sets.keys() == {"gaussian"}
    if operators.premises is None and parts_of is None and not quadratic:
        cost = sum(int(np.count_nonzero(mask)) for mask in masks.values())  # NumPy evaluates the conditions alone
    else:
        cost = n_values
    infer_part: Callable[..., Sequence[Array]]
    if _in_numpy(operators, cost * bags.n_instances):
        infer_part = functools.partial(_infer_part, output_alone=True) if output_alone else _infer_part
    else:
        make_room()
        from fuzzymil.inference.engines import jax

        infer_part = jax.infer_part
    n_rules, n_outputs = params.coefs.shape[:2]  # a rule responds with every output
    limit = max(_CHUNK_VALUES // max(n_values, n_rules * n_outputs), 1)
    for bounds in _chunks(bags.offsets, limit):
        *layers, output = infer_part(params, masks, operators, bags, *bounds)
        uncovered = _uncovered(layers[2])
        yield (*layers, np.where(uncovered[:, None], params.default, output) if uncovered.any() else np.array(output))


def _uncovered(log_firing: Array) -> Array:
    zero = log_firing == -np.inf
    return np.asarray(zero.all(axis=1)) if zero.any() else np.zeros(len(zero), bool)  # most often there is none


def _infer_part(
    params: Params, masks: Masks, operators: Operators, bags: Bags, first: int, last: int, *, output_alone: bool = False
) -> list[Array]:
    """Run the layers in NumPy on some of the bags."""
    start, stop = bags.offsets[first], bags.offsets[last]
    offsets = bags.offsets[first : last + 1] - start
    x: Any = np.asarray(bags.instances[start:stop], np.float64)
    grouping: Any = Each(len(x)) if len(offsets) == len(x) + 1 else Runs(offsets)
    short: Any = {}
    # In logarithms, -inf is an ordinary number. Operators that users add may be written for JAX alone.
    with np.errstate(all="ignore"), in_64_bit():
        if output_alone and operators.parts is not None and not operators.normalize and params.coefs.shape[2] == 1:
            norms = operators.t_norm, operators.s_norm
            degrees = log_degrees(operators.parts, params.sets, masks, params.missing_values, norms, x, offsets)
            short = {} if degrees is None else {"log_truth": degrees, "log_degrees": degrees}
        missing = np.isnan(x)
        known: Any = None
        if not short and missing.any():
            x, known = np.where(missing, 0.0, x), 1.0 - missing
        return [np.asarray(values) for values in forward(params, masks, operators, x, grouping, known=known, **short)]


def _chunks(offsets: Array, limit: int) -> list[tuple[int, int]]:
    """Split bags into runs of at most ``limit`` instances; a larger bag is a run of its own."""
    bounds, first = [], 0
    while first < len(offsets) - 1:
        last = max(int(np.searchsorted(offsets, offsets[first] + limit, side="right")) - 1, first + 1)
        bounds.append((first, last))
        first = last
    return bounds

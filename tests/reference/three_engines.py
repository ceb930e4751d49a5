"""The layers by each engine, on the same rules and bags, as NumPy arrays."""

import dataclasses
import importlib.util

import numpy as np
import pytest

from fuzzymil.bags import as_bags
from fuzzymil.inference.activations import Activations, use_engine
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.layers import Layers, Params, forward
from fuzzymil.rules.activations import seen_bags

NO_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
TORCH = pytest.param("torch", marks=NO_TORCH)
ENGINES = ["numpy", pytest.param("jax", marks=pytest.mark.slow), TORCH]  # JAX compiles a program for each test


def infer_by(engine, rules, bags):
    """Return what `RuleBase.infer` returns, in 64 bit."""
    if engine != "torch":
        with use_engine(engine):
            return rules.infer(bags)
    layers = layers_by(engine, rules, seen_bags(rules, as_bags(bags)))
    uncovered = np.isneginf(layers.log_firing).all(axis=1, keepdims=True)
    output = np.where(uncovered, rules.default, layers.output)
    named = layers._asdict() | {"output": output, "normalized": layers.strengths}
    return Activations(**{field.name: named[field.name] for field in dataclasses.fields(Activations)})


def layers_by(engine, rules, bags, dtype=np.float64):
    """Return the layers of one engine and one precision."""
    return Layers(*evaluated(engine, rules, bags, dtype)[0])


def evaluated(engine, rules, bags, dtype=np.float64, weights=None):
    """Return the layers, and the gradients of the output times ``weights`` by the parameters and by the instances.

    The parameters are those of the sets in order, the coefficients, both alphas and the default.
    """
    params, masks, operators = rules.compile()
    x = np.asarray(bags.instances, dtype)
    missing = np.isnan(x)
    known = 1 - missing.astype(dtype) if missing.any() else None
    x = np.where(missing, dtype(0), x)
    kinds = list(params.sets)
    counts = [len(params.sets[kind]) for kind in kinds]
    numbers = [values for kind in kinds for values in params.sets[kind]]
    numbers = [
        np.asarray(v, dtype) for v in (*numbers, *params[1:4], np.broadcast_to(params.default, len(rules.outputs)))
    ]

    def run(array, grouping, x, *numbers):
        ends = np.cumsum(counts)
        sets = {kind: tuple(numbers[end - n : end]) for kind, n, end in zip(kinds, counts, ends, strict=True)}
        own = {kind: array(mask.astype(dtype)) for kind, mask in masks.items()}
        seen = None if known is None else array(known)
        return forward(Params(sets, *numbers[-4:]), own, operators, x, grouping, known=seen)

    index = np.repeat(np.arange(bags.n_bags), bags.sizes)
    if engine == "numpy":
        with np.errstate(all="ignore"):
            return run(np.asarray, Runs(bags.offsets), x, *numbers), None
    if engine == "jax":
        return _by_jax(run, index, bags.n_bags, x, numbers, weights)
    return _by_torch(run, index, bags.n_bags, x, numbers, weights)


def _by_jax(run, index, n_bags, x, numbers, weights):
    import jax
    import jax.numpy as jnp

    from fuzzymil.inference.engines.jax import Packed

    def total(*arguments):
        layers = run(jnp.asarray, Packed(jnp.asarray(index), n_bags), *arguments)
        return (0.0 if weights is None else (weights * layers.output).sum()), layers

    with jax.enable_x64(x.dtype == np.float64):
        places = tuple(range(len(numbers) + 1))
        arguments = [jnp.asarray(values) for values in (x, *numbers)]
        if weights is None:
            return [np.asarray(values) for values in jax.jit(total)(*arguments)[1]], None
        gradients, layers = jax.jit(jax.grad(total, places, has_aux=True))(*arguments)
        return [np.asarray(values) for values in layers], [np.asarray(values) for values in gradients]


def _by_torch(run, index, n_bags, x, numbers, weights):
    import torch

    from fuzzymil.inference.engines.torch import Packed

    arguments = [torch.tensor(values, requires_grad=weights is not None) for values in (x, *numbers)]
    layers = run(torch.as_tensor, Packed(torch.as_tensor(index), n_bags), *arguments)
    gradients = None
    if weights is not None:
        total = (torch.as_tensor(weights) * layers.output).sum()
        found = torch.autograd.grad(total, arguments, allow_unused=True)
        gradients = [np.zeros(a.shape) if g is None else g.numpy() for a, g in zip(arguments, found, strict=True)]
    return [values.detach().numpy() for values in layers], gradients

"""The same six layers by each engine, forward and with the gradients by the rules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import samples

from contestants.timing import seconds
from fuzzymil.inference.layers import Operators, Params, forward

N_FEATURES, N_RULES, BAG = 25, 6, 10
Tasks = dict[str, Callable[[], float]]


def problem(n_instances: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Instances (i, d), offsets (b + 1,), and the rules' centers, widths and coefficients."""
    x, offsets, _ = samples.bags(samples.even_sizes(n_instances // BAG, n_instances), N_FEATURES)
    rng = np.random.default_rng(1)
    shape = (N_RULES, N_FEATURES)
    rules = [rng.standard_normal(shape), rng.uniform(2.0, 4.0, shape), rng.standard_normal((N_RULES, 1, 1))]
    return x.astype(dtype), offsets, [values.astype(dtype) for values in rules]


def output(ones: Callable[..., Any], x: Any, grouping: Any, centers: Any, widths: Any, coefs: Any) -> Any:
    alpha = ones((), dtype=x.dtype)
    params = Params({"gaussian": (centers, widths)}, coefs, alpha, alpha)
    return forward(params, {"gaussian": ones(centers.shape, dtype=x.dtype)}, Operators(), x, grouping).output


def by_numpy(n_instances: int, dtype: Any) -> tuple[Callable[[], Any], None]:
    from fuzzymil.inference.engines.numpy import Runs

    x, offsets, rules = problem(n_instances, dtype)
    return lambda: output(np.ones, x, Runs(offsets), *rules), None


def by_jax(n_instances: int, dtype: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import jax
    import jax.numpy as jnp

    from fuzzymil.inference.engines.jax import Packed

    jax.config.update("jax_enable_x64", dtype == np.float64)
    x, offsets, rules = problem(n_instances, dtype)
    index = jnp.asarray(np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets)))
    x, rules = jnp.asarray(x), [jnp.asarray(values) for values in rules]
    run = jax.jit(lambda x, index, *rules: output(jnp.ones, x, Packed(index, len(offsets) - 1), *rules))
    error = jax.jit(jax.grad(lambda rules, x, index: jnp.square(run(x, index, *rules)).mean()))
    return (lambda: jax.block_until_ready(run(x, index, *rules))), lambda: jax.block_until_ready(error(rules, x, index))


def by_torch(n_instances: int, dtype: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import torch

    from fuzzymil.inference.engines.torch import Packed

    x, offsets, rules = problem(n_instances, dtype)
    index = torch.repeat_interleave(torch.arange(len(offsets) - 1), torch.as_tensor(np.diff(offsets)))
    x, rules = torch.as_tensor(x), [torch.tensor(values, requires_grad=True) for values in rules]
    grouping = Packed(index, len(offsets) - 1)

    def value() -> Any:
        with torch.no_grad():
            return output(torch.ones, x, grouping, *rules)

    def gradient() -> Any:
        return torch.autograd.grad(output(torch.ones, x, grouping, *rules).square().mean(), rules)

    return value, gradient


ENGINES = {"numpy": by_numpy, "jax": by_jax, "torch": by_torch}


def times(engine: str, sizes: list[int]) -> Tasks:
    """Seconds of a forward pass, and of one with its gradient, in 32 bit."""
    tasks: Tasks = {}
    for size in sizes:
        value, gradient = ENGINES[engine](size, np.float32)
        tasks[f"forward {size}"] = lambda value=value: _seconds(value)
        if gradient is not None:
            tasks[f"gradient {size}"] = lambda gradient=gradient: _seconds(gradient)
    return tasks


def _seconds(function: Callable[[], object]) -> float:
    """Return the least of a few calls, more of short ones."""
    first = seconds(function)
    return min([first, *(seconds(function) for _ in range(int(min(20, 0.5 / first))))])


def differences(size: int) -> Tasks:
    """Greatest difference of outputs and gradients to those of JAX in 64 bit, relative to the greatest, per engine."""
    expected = [_arrays(function()) for function in by_jax(size, np.float64)]
    tasks: Tasks = {}
    for engine, (bits, dtype) in itertools.product(ENGINES, ((64, np.float64), (32, np.float32))):
        try:
            functions = ENGINES[engine](size, dtype)
        except ImportError:
            continue  # its times say so
        for what, function, values in zip(("forward", "gradient"), functions, expected, strict=True):
            if function is not None:
                pairs = zip(_arrays(function()), values, strict=True)
                worst = max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
                tasks[f"{engine} {what} {bits}"] = lambda worst=worst: worst
    return tasks


def _arrays(values: Any) -> list[np.ndarray]:
    return [np.asarray(value, np.float64) for value in (values if isinstance(values, list | tuple) else [values])]

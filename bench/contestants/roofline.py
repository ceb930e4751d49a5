"""What an epoch in batch mode cannot do without, as bare compiled functions, each timed alone."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from contestants.timing import seconds


def parts(n_instances: int, n_features: int, n_rules: int) -> dict[str, Callable[[], float]]:
    """The value of the quadratic form, the two products of its gradient, and the exponentials of Layer 3."""
    keys = jax.random.split(jax.random.key(0), 3)
    x = jax.random.normal(keys[0], (n_instances, n_features))
    g = jax.random.normal(keys[1], (n_instances, n_rules))
    centers = jax.random.normal(keys[2], (n_rules, n_features))
    inverse, squares, log_truth = jnp.full_like(centers, 0.2), jnp.square(x), -jnp.abs(g)

    @jax.jit
    def quadratic(x: jax.Array, centers: jax.Array, inverse: jax.Array) -> jax.Array:
        return -0.5 * jnp.square((x[:, None, :] - centers) * inverse).sum(axis=2)

    @jax.jit
    def products(g: jax.Array, x: jax.Array, squares: jax.Array) -> tuple[jax.Array, jax.Array]:
        return tuple(jnp.matmul(g.T, values, precision="highest") for values in (x, squares))

    @jax.jit
    def exponentials(log_truth: jax.Array) -> tuple[jax.Array, ...]:
        truth = jnp.exp(log_truth)
        return truth, jnp.exp(truth), jnp.exp(log_truth + truth)

    def task(function: Callable[..., object], *arguments: jax.Array) -> Callable[[], float]:
        jax.block_until_ready(function(*arguments))
        return lambda: min(seconds(lambda: jax.block_until_ready(function(*arguments))) for _ in range(3))

    return {
        "quadratic form": task(quadratic, x, centers, inverse),
        "two products": task(products, g, x, squares),
        "exponentials": task(exponentials, log_truth),
    }

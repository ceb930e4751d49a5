"""Fits divided among cores come out as they do alone."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.layers import Operators, Params
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import trainer
from fuzzymil.learn.train._loop import Plan
from fuzzymil.learn.train.trainer import Group, train_groups

OFFSETS = np.arange(0, 41, 4)


def group(seed, dtype):
    rng = np.random.default_rng(seed)
    start = Params(
        {"gaussian": (rng.normal(size=(2, 3)), np.ones((2, 3)))}, rng.random((2, 1, 1)), np.array(2.0), np.array(1.0)
    )
    bags = pack(rng.normal(size=(40, 3)), OFFSETS, dtype)
    targets = rng.integers(0, 2, (10, 1)).astype(float)
    masks = [{"gaussian": np.ones((2, 3))}]
    return Group(starts=[start], masks=masks, bags=bags, targets=targets, weights=np.ones((1, 10)), seeds=[seed])


@pytest.mark.parametrize(
    ("n_groups", "n_cores", "expected"),
    [
        (1, 4, [(0, 1)]),
        (4, 1, [(0, 4)]),
        (4, 2, [(0, 2), (2, 4)]),
        (5, 2, [(0, 3), (2, 5)]),
        (5, 4, [(0, 2), (2, 4), (3, 5)]),
        (3, 8, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_shares_are_equal_and_leave_no_group_out(monkeypatch, n_groups, n_cores, expected):
    monkeypatch.setattr(trainer, "granted_cores", lambda: n_cores)
    places = trainer.shares(n_groups)
    assert [(share.start, share.stop) for share in places] == expected
    tree = {"a": jnp.arange(n_groups), "b": (jnp.arange(2.0 * n_groups).reshape(n_groups, 2),)}
    joined = trainer.join_shares([trainer.part(tree, share) for share in places], places)
    for one, other in zip(jax.tree.leaves(joined), jax.tree.leaves(tree), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [None, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_groups_trained_on_several_cores_are_those_trained_alone(monkeypatch, dtype, batch_size):
    rounding = 1e-4 if dtype is np.float32 else 1e-10
    groups = [group(seed, dtype) for seed in range(3)]
    plan = Plan(Operators(), batch_size=batch_size)
    alone = [train_groups([each], plan, learning_rate=0.05, max_epochs=12)[0] for each in groups]
    monkeypatch.setattr(trainer, "granted_cores", lambda: 2)
    for one, other in zip(train_groups(groups, plan, learning_rate=0.05, max_epochs=12), alone, strict=True):
        for mine, yours in zip(jax.tree.leaves(one.params), jax.tree.leaves(other.params), strict=True):
            np.testing.assert_allclose(mine, yours, rtol=rounding, atol=rounding)  # programs may add in another order
        np.testing.assert_allclose(one.history[0]["loss"], other.history[0]["loss"], rtol=rounding)


def test_a_mistake_in_a_thread_is_heard():
    def fails():
        raise ArithmeticError("no")

    with pytest.raises(ArithmeticError, match="no"):
        trainer.in_threads([lambda: 1, fails])

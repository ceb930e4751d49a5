"""Log-truths of Gaussian rules: matrix products where they are good enough, differences where they are not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from fuzzymil.inference.engines import jax_gaussians
from fuzzymil.inference.engines import numpy as numpy_engine
from fuzzymil.inference.engines.jax_gaussians import Gaussians

ROWS, RULES = 40, 3


def problem(width, features=11, offset=0.0, missing=False, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    x, centers = rng.normal(size=(ROWS, features)) + offset, rng.normal(size=(RULES, features)) + offset
    inverse = 1 / (width * rng.uniform(0.8, 1.25, (RULES, features)))
    inverse[1, 0] = 0  # a feature that a rule does not use
    known = (rng.random((ROWS, features)) < 0.8).astype(dtype) if missing else None
    return [None if values is None else jnp.asarray(values, dtype) for values in (x, known, centers, inverse)]


def by_hand(x, known, centers, inverse):
    x, centers, inverse = (np.asarray(values, np.float64) for values in (x, centers, inverse))
    z = (x[:, None, :] - centers) * inverse
    return -0.5 * ((z if known is None else z * np.asarray(known)[:, None, :]) ** 2).sum(axis=2)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("width", "good"), [(3.0, True), (0.01, False)])
def test_products_are_taken_where_their_error_is_small_and_differences_elsewhere(width, good, missing):
    arguments = problem(width, missing=missing, dtype=np.float32)
    value, taken = jax.jit(jax_gaussians._guarded)(Gaussians(*arguments))
    assert bool(taken) is good
    assert (value <= 0).all()
    np.testing.assert_allclose(value, by_hand(*arguments), rtol=2e-6, atol=2e-5 if good else 0)


def test_an_offset_that_would_cost_digits_turns_the_products_away():
    near, far = problem(1.0, dtype=np.float32), problem(1.0, offset=1000.0, dtype=np.float32)
    assert bool(jax_gaussians._guarded(Gaussians(*near))[1])
    value, taken = jax_gaussians._guarded(Gaussians(*far))
    assert not taken
    np.testing.assert_allclose(value, by_hand(*far), rtol=1e-5)


def test_numbers_that_are_not_finite_turn_the_products_away():
    x, known, centers, inverse = problem(3.0, dtype=np.float32)
    assert not jax_gaussians._guarded(Gaussians(x, known, centers, inverse.at[0, 0].set(jnp.nan)))[1]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("features", [1, 7, 8, 9, 20, 256, 257, 384])
def test_differences_added_up_in_parts_are_the_same(features, missing):
    with jax.enable_x64():
        arguments = problem(0.5, features, missing=missing)
        np.testing.assert_allclose(jax_gaussians._by_slices(Gaussians(*arguments)), by_hand(*arguments), rtol=1e-13)
        np.testing.assert_allclose(
            jax_gaussians._by_differences(Gaussians(*arguments)), by_hand(*arguments), rtol=1e-13
        )


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("width", [3.0, 0.01])
@pytest.mark.parametrize("anywhere", [False, True])
def test_gradients_equal_central_differences(anywhere, width, missing):
    with jax.enable_x64():
        x, known, *free = problem(width, missing=missing)
        weights = jnp.asarray(np.random.default_rng(1).normal(size=(ROWS, RULES)))

        def loss(x, centers, inverse):
            return jnp.sum(weights * jax_gaussians._log_truth(anywhere, Gaussians(x, known, centers, inverse)))

        found = jax.grad(loss, argnums=(0, 1, 2))(x, *free)
        places = [(3, 2), (1, 4), (2, 5)]
        for number, (place, gradient) in enumerate(zip(places, found, strict=True)):
            start, step = [x, *free], 1e-5 * width
            ends = []
            for sign in (1, -1):
                moved = list(start)
                moved[number] = start[number].at[place].add(sign * step)
                ends.append(float(loss(*moved)))
            scale = float(jnp.abs(gradient).max())
            assert abs(float(gradient[place]) - (ends[0] - ends[1]) / (2 * step)) < 1e-6 * scale


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("features", [3, 80])
@pytest.mark.parametrize("rows", [1, 4, 16])
def test_a_few_rows_have_the_value_and_gradient_of_many(monkeypatch, rows, features, missing):
    with jax.enable_x64():
        x, known, *free = problem(2.0, features, offset=5.0, missing=missing)
        x, known = x[:rows], None if known is None else known[:rows]

        def loss(x, centers, inverse):
            found = jax_gaussians._log_truth(False, Gaussians(x, known, centers, inverse))
            return jnp.sum(jnp.sin(found)), found

        def computed():
            return jax.value_and_grad(loss, argnums=(0, 1, 2), has_aux=True)(x, *free)

        few = computed()
        np.testing.assert_allclose(few[0][1], by_hand(x, known, *free), rtol=1e-13)
        monkeypatch.setattr(jax_gaussians, "_FEW_ROWS", 0)
        for one, other in zip(jax.tree.leaves(few), jax.tree.leaves(computed()), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)


@pytest.mark.slow
def test_fits_computed_together_take_one_way_and_not_both():
    x, known, centers, wide = problem(3.0, dtype=np.float32)
    narrow = 100 * wide

    def value(inverse):
        return jax_gaussians._guarded(Gaussians(x, known, centers, inverse))

    _, all_wide = jax.vmap(value)(jnp.stack([wide, wide]))
    mixed, one_narrow = jax.vmap(value)(jnp.stack([wide, narrow]))
    nested, in_groups = jax.vmap(jax.vmap(value))(jnp.stack([jnp.stack([wide, wide]), jnp.stack([wide, narrow])]))
    assert all_wide.all()
    assert not one_narrow.any()
    assert not in_groups.any()
    for inverse, found in ((wide, mixed[0]), (narrow, mixed[1]), (wide, nested[0, 1]), (narrow, nested[1, 1])):
        np.testing.assert_allclose(found, by_hand(x, known, centers, inverse), rtol=2e-6)
    program = str(jax.make_jaxpr(jax.vmap(value))(jnp.stack([wide, narrow])))
    assert "cond" in program  # a select would compute both


def test_training_by_products_is_training_by_differences():
    x, known, centers, inverse = problem(3.0, dtype=np.float32)
    weights = jnp.asarray(np.random.default_rng(1).normal(size=(ROWS, RULES)), np.float32)

    def gradients(anywhere):
        def loss(centers, inverse):
            return jnp.sum(weights * jax_gaussians._log_truth(anywhere, Gaussians(x, known, centers, inverse)))

        return jax.jit(jax.grad(loss, argnums=(0, 1)))(centers, inverse)

    for one, other in zip(gradients(False), gradients(True), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * float(jnp.abs(one).max()))


@pytest.mark.parametrize("missing", [False, True])
def test_squares_at_hand_change_nothing(missing):
    x, known, centers, inverse = problem(3.0, missing=missing, dtype=np.float32)
    squares = jnp.square(x if known is None else known * x)

    def loss(centers, inverse, squares):
        return jnp.sum(jnp.sin(jax_gaussians._log_truth(True, Gaussians(x, known, centers, inverse, squares))))

    found, expected = (jax.value_and_grad(loss, argnums=(0, 1))(centers, inverse, each) for each in (squares, None))
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [False, True])
def test_gradients_of_many_rows_are_summed_up_in_parts(monkeypatch, missing):
    with jax.enable_x64():
        x, known, *free = problem(1.0, missing=missing)

        def gradients():
            def loss(centers, inverse):
                return jnp.sum(jnp.sin(jax_gaussians._log_truth(False, Gaussians(x, known, centers, inverse))))

            return jax.grad(loss, argnums=(0, 1))(*free)

        monkeypatch.setattr(jax_gaussians, "_COPIED", 8 * x.shape[1])
        for rows in (40, 37):  # without and with a rest
            x, known = x[:rows], None if known is None else known[:rows]
            monkeypatch.setattr(jax_gaussians, "_UNCOPIED_BY_CPU", x.size)
            expected = gradients()
            monkeypatch.setattr(jax_gaussians, "_UNCOPIED_BY_CPU", 0)
            for one, other in zip(gradients(), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


def test_no_rows_have_no_truths():
    found = numpy_engine.log_truth_of_gaussians(np.zeros((0, 3)), None, np.zeros((2, 3)), np.ones((2, 3)))
    assert found.shape == (0, 2)

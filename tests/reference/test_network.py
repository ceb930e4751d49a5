"""The network, its gradients and its steps of learning against the loop-only oracle."""

import functools
import itertools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import oracle
import oracle_learning
import pytest
from oracle_cases import ALPHAS, Case
from three_engines import ENGINES, infer_by

from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.layers import Operators, Params, forward
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import Group, Plan, train_groups
from fuzzymil.rules import RuleBase

GROUPS = ("centers", "widths", "coefs")
SIZES = {1: (1, 2, 40), 2: (1, 3, 1044), 25: (1, 3, 40), 166: (1, 3, 12), 1000: (1, 3, 12)}
COVERING = [(1, 1), (2, 0), (2, 1), (25, 1), (166, 0), (1000, 1)]


def network_params(centers, widths, coefs, alpha, conclusion_alpha):
    return Params({"gaussian": (centers, widths)}, coefs[:, None, :], alpha, conclusion_alpha)


@functools.partial(jax.jit, static_argnames=("operators", "n_bags"))
def errors(free, alpha, conclusion_alpha, x, bag_index, targets, keep, operators, n_bags):
    """E_p of every bag (b,) and its gradients by centers, widths and coefficients, (b, ...) each."""

    def error(centers, widths, coefs):
        params = network_params(centers, widths, coefs, alpha, conclusion_alpha)
        masks = {"gaussian": jnp.ones_like(centers)}
        layers = forward(params, masks, operators, x, Packed(bag_index, n_bags), keep=keep)
        return jnp.square(targets - layers.output[:, 0])

    values, pull = jax.vjp(error, *free)
    return values, jax.vmap(pull)(jnp.eye(n_bags, dtype=x.dtype))


def network_errors(case, alpha, conclusion_alpha, keep, free=None, **operators):
    x, index = case.packed()
    free = (case.centers, case.widths, case.coefs) if free is None else free
    with jax.enable_x64():
        values, gradients = errors(
            tuple(map(jnp.asarray, free)), jnp.float64(alpha), jnp.float64(conclusion_alpha), jnp.asarray(x),
            jnp.asarray(index), jnp.asarray(case.targets), jnp.asarray(keep), Operators(**operators), len(case.bags),
        )  # fmt: skip
        return np.asarray(values), [np.asarray(gradient) for gradient in gradients]


def assert_near(found, expected, tolerance, message=""):
    """Compare within a tolerance relative to the greatest entry expected."""
    expected = np.asarray(expected, float)
    scale = np.abs(expected).max()
    worst = np.abs(np.asarray(found) - expected).max()
    assert worst <= tolerance * scale, f"{message}: off by {worst:.3g}, greatest {scale:.3g}"


# ---------------------------------------------------------------------- the forward pass


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("features", "order"), COVERING)
def test_inference_is_the_oracles_to_ten_digits(features, order, engine):
    case = Case(features + order, features, SIZES[features], order)
    for alpha, conclusion_alpha in zip(ALPHAS, (1.0, 50.0, 0.0, -50.0), strict=True):
        rules = case.rule_base(alpha=alpha, conclusion_alpha=conclusion_alpha)
        found = infer_by(engine, rules, case.bags)
        truth = np.split(found.truth, np.cumsum(SIZES[features])[:-1])
        for b, bag in enumerate(case.bags):
            expected = oracle.forward(bag.tolist(), *case.parameters, alpha, conclusion_alpha)
            np.testing.assert_allclose(truth[b].T, expected["truth"], rtol=0, atol=1e-10)
            np.testing.assert_allclose(found.firing[b], expected["firing"], rtol=1e-10)
            np.testing.assert_allclose(found.normalized[b], expected["normalized"], rtol=0, atol=1e-10)
            np.testing.assert_allclose(found.rule_outputs[b, :, 0], expected["rule_outputs"], rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(found.output[b, 0], expected["output"], rtol=0, atol=1e-10)


@functools.partial(jax.jit, static_argnames=("n_bags",))
def forward_32(params, masks, x, bag_index, n_bags):
    return forward(params, masks, Operators(), x, Packed(bag_index, n_bags))


@pytest.mark.parametrize(("features", "order"), [(2, 0), (25, 1), (1000, 1)])
def test_forward_in_32_bit_is_within_four_digits_of_the_oracle(features, order):
    case = Case(100 + features, features, SIZES[features], order)
    x, index = case.packed()
    single = [jnp.asarray(values, jnp.float32) for values in (case.centers, case.widths, case.coefs)]
    for alpha in ALPHAS:
        params = network_params(*single, jnp.float32(alpha), jnp.float32(1.0))
        masks = {"gaussian": jnp.ones_like(single[0])}
        layers = forward_32(params, masks, jnp.asarray(x, jnp.float32), jnp.asarray(index), len(case.bags))
        assert layers.output.dtype == jnp.float32
        for b, bag in enumerate(case.bags):
            expected = oracle.forward(bag.tolist(), *case.parameters, alpha)
            np.testing.assert_allclose(layers.strengths[b], expected["normalized"], rtol=0, atol=1e-4)
            np.testing.assert_allclose(layers.output[b, 0], expected["output"], rtol=0, atol=1e-4)


def test_strengths_are_not_divided_by_their_sum_without_normalization():
    case = Case(7, 2, (1, 3, 40), 1)
    found = case.rule_base(normalize=False).infer(case.bags)
    for b, bag in enumerate(case.bags):
        expected = oracle.forward(bag.tolist(), *case.parameters, normalize=False)
        np.testing.assert_allclose(found.normalized[b], expected["normalized"], rtol=1e-10)
        np.testing.assert_allclose(found.output[b, 0], expected["output"], rtol=1e-10)
    assert (np.abs(found.normalized.sum(axis=1) - 1) > 0.01).all()


@pytest.mark.parametrize("order", [0, 1])
def test_each_of_several_outputs_is_what_it_is_alone(order):
    case = Case(8, 25, (1, 3, 40), order)
    coefs = np.random.default_rng(9).normal(size=(3, 4, 1 + 25 * order))
    together = RuleBase.from_arrays(case.centers, case.widths, coefs).infer(case.bags)
    for k in range(4):
        alone = RuleBase.from_arrays(case.centers, case.widths, coefs[:, k : k + 1]).infer(case.bags)
        np.testing.assert_allclose(together.output[:, k], alone.output[:, 0], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(together.normalized, alone.normalized)
    assert together.output.shape == (3, 4)


# ---------------------------------------------------------------------- gradients


@pytest.mark.parametrize(("features", "order"), COVERING)
def test_gradients_are_exact(features, order):
    case = Case(200 + features + order, features, SIZES[features], order)
    settings = zip(ALPHAS, (1.0, 50.0, 0.0, -50.0), (True, False, True, False), strict=True)
    for alpha, conclusion_alpha, drops in settings:
        keep = case.keep if drops else np.ones_like(case.keep)
        values, gradients = network_errors(case, alpha, conclusion_alpha, keep)
        for b, bag in enumerate(case.bags):
            expected = oracle_learning.gradients_exact(
                bag.tolist(), float(case.targets[b]), *case.parameters, alpha, conclusion_alpha, keep[b].tolist()
            )
            assert values[b] == pytest.approx(expected["error"], rel=1e-10)
            for group, gradient in zip(GROUPS, gradients, strict=True):
                assert_near(gradient[b], expected[group], 1e-9, f"{group}, bag {b}, alpha {alpha}")


@pytest.mark.slow
def test_gradients_are_exact_for_a_bag_of_1044_instances_and_1000_features():
    case = Case(11, 1000, (1044,), 1, rules=2)
    _, gradients = network_errors(case, 1.0, 1.0, np.ones((1, 2)))
    expected = oracle_learning.gradients_exact(case.bags[0].tolist(), float(case.targets[0]), *case.parameters)
    for group, gradient in zip(GROUPS, gradients, strict=True):
        assert_near(gradient[0], expected[group], 1e-9, group)


@pytest.mark.parametrize(("features", "order"), [(2, 1), (25, 0), (1000, 0)])
def test_papers_update_rule_gives_the_printed_gradients_and_the_same_value(features, order):
    case = Case(300 + features, features, SIZES[features], order)
    settings = zip(ALPHAS, (1.0, 50.0, 0.0, -50.0), (False, True, False, True), strict=True)
    for alpha, conclusion_alpha, drops in settings:
        keep = case.keep if drops else np.ones_like(case.keep)
        values, gradients = network_errors(case, alpha, conclusion_alpha, keep, update_rule="paper")
        for b, bag in enumerate(case.bags):
            expected = oracle_learning.gradients_paper(
                bag.tolist(), float(case.targets[b]), *case.parameters, alpha, conclusion_alpha, keep[b].tolist()
            )
            assert values[b] == pytest.approx(expected["error"], rel=1e-10)
            for group, gradient in zip(GROUPS, gradients, strict=True):
                if not np.any(expected[group]):
                    assert not np.any(gradient[b])
                else:
                    assert_near(gradient[b], expected[group], 1e-9, f"{group}, bag {b}, alpha {alpha}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("features", "order", "settings"),
    [
        (2, 1, {}),
        (166, 0, {}),
        (2, 1, {"normalize": False}),
        (2, 1, {"aggregation": "softmax_relative"}),
        (2, 1, {"aggregation": "lse"}),
    ],
)
def test_gradients_equal_central_differences_of_the_networks_own_value(features, order, settings):
    case = Case(400 + features, features, SIZES[features], order)
    rng = np.random.default_rng(12)
    for alpha in ALPHAS:
        _, gradients = network_errors(case, alpha, 2.0, case.keep, **settings)
        for group, gradient in enumerate(gradients):
            step = 1e-5
            for _ in range(4):
                place = tuple(rng.integers(n) for n in gradient.shape[1:])
                ends = []
                for sign in (1, -1):
                    free = [case.centers.copy(), case.widths.copy(), case.coefs.copy()]
                    free[group][place] += sign * step
                    ends.append(network_errors(case, alpha, 2.0, case.keep, free, **settings)[0])
                found = gradient[(slice(None), *place)]
                scale = np.abs(gradient).reshape(3, -1).max(axis=1)
                assert (np.abs(found - (ends[0] - ends[1]) / (2 * step)) <= 1e-6 * scale + 1e-11).all()


# ---------------------------------------------------------------------- where doubles underflow


def far_case(distance, order):
    """A bag so far away from every rule, by one feature, that its degrees are below the smallest double."""
    case = Case(13, 25, (1, 4), order)
    case.centers[:, 0], case.widths[:, 0] = 0.5, 0.25
    for bag in case.bags:
        bag[:, 0] = distance + np.arange(len(bag)) * 1e-5
    return case


@pytest.mark.slow
@pytest.mark.parametrize(("distance", "order"), [(20.0, 1), (354.0, 1)])
def test_strengths_and_gradients_are_right_where_every_degree_underflows(distance, order):
    case = far_case(distance, order)
    found = case.rule_base(alpha=2.0).infer(case.bags)
    assert (found.firing == 0).all()
    values, gradients = network_errors(case, 2.0, 1.0, np.ones_like(case.keep))
    paper = network_errors(case, 2.0, 1.0, np.ones_like(case.keep), update_rule="paper")[1]
    with mpmath.workdps(50):
        numbers = [[[mpmath.mpf(v) for v in row] for row in rows] for rows in case.parameters]
        for b, bag in enumerate(case.bags):
            exact_bag = [[mpmath.mpf(v) for v in row] for row in bag.tolist()]
            two, one, target = mpmath.mpf(2), mpmath.mpf(1), mpmath.mpf(float(case.targets[b]))
            expected = oracle.forward(exact_bag, *numbers, two, one, exp=mpmath.exp)
            log_firing = [float(mpmath.log(w)) for w in expected["firing"]]
            np.testing.assert_allclose(found.log_firing[b], log_firing, rtol=1e-13)
            assert max(log_firing) < -2900
            # A logarithm of 1e6 leaves about 1e-10 of a strength.
            np.testing.assert_allclose(found.normalized[b], [float(w) for w in expected["normalized"]], atol=1e-8)
            assert found.output[b, 0] == pytest.approx(float(expected["output"]), abs=1e-8)
            exact = oracle_learning.gradients_exact(exact_bag, target, *numbers, two, one, exp=mpmath.exp)
            printed = oracle_learning.gradients_paper(exact_bag, target, *numbers, two, one, exp=mpmath.exp)
            for group, gradient, by_paper in zip(GROUPS, gradients, paper, strict=True):
                assert_near(gradient[b], exact[group], 1e-8, group)
                assert_near(by_paper[b], printed[group], 1e-8, group)
    assert np.isfinite(values).all()
    assert found.normalized.max() < 0.999  # the rules differ by so little that none takes all


# ---------------------------------------------------------------------- learning


def learn(case, seed=0, batch_size=None, update_rule="exact", weights=None, eta=0.05, max_epochs=1):
    offsets = np.cumsum([0, *map(len, case.bags)])
    plan = Plan(Operators(update_rule=update_rule), optimizer="sgd", batch_size=batch_size, width_scale="direct")
    start = Params({"gaussian": (case.centers, case.widths)}, case.coefs[:, None, :], np.array(1.5), np.array(0.5))
    group = Group(
        starts=[start],
        masks=[{"gaussian": np.ones_like(case.centers)}],
        bags=pack(np.concatenate(case.bags), offsets, np.float64),
        targets=case.targets[:, None],
        weights=np.ones((1, len(case.bags))) if weights is None else np.array([weights]),
        seeds=[seed],
    )
    (result,) = train_groups([group], plan, learning_rate=eta, max_epochs=max_epochs)
    (params,) = result.params
    return dict(zip(GROUPS, (*params.sets["gaussian"], params.coefs[:, 0]), strict=True))


def distance(params, expected):
    return max(np.abs(params[group] - np.array(expected[group])).max() for group in GROUPS)


def oracle_start(case):
    return dict(zip(GROUPS, case.parameters, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("update_rule", ["exact", "paper"])
def test_an_epoch_on_line_visits_every_bag_once_as_algorithm_1_says(update_rule):
    case = Case(14, 2, (2, 5, 3), 1)
    bags, targets = [bag.tolist() for bag in case.bags], case.targets.tolist()
    by_order = {
        order: oracle_learning.epoch_online(bags, targets, oracle_start(case), 0.05, order, update_rule, 1.5, 0.5)
        for order in itertools.permutations(range(3))
    }
    assert (
        min(distance({g: np.array(a[g]) for g in GROUPS}, b) for a, b in itertools.combinations(by_order.values(), 2))
        > 1e-6
    )
    visited = set()
    for seed in range(6):
        params = learn(case, seed, 1, update_rule)
        matches = [order for order, expected in by_order.items() if distance(params, expected) < 1e-12]
        assert len(matches) == 1
        visited.update(matches)
    assert len(visited) > 1  # the order is drawn anew


@pytest.mark.slow
def test_a_bag_without_weight_is_not_visited_on_line():
    case = Case(14, 2, (2, 5, 3), 1)
    bags, targets = [bag.tolist() for bag in case.bags], case.targets.tolist()
    for b in range(3):
        weights = np.eye(3)[b] * 0.3  # one bag alone: its weight is 1 after scaling
        expected = oracle_learning.epoch_online(bags, targets, oracle_start(case), 0.05, [b], "exact", 1.5, 0.5)
        assert distance(learn(case, 0, 1, weights=weights), expected) < 1e-12


def test_widths_that_pass_through_zero_are_taken_by_their_magnitude():
    case = Case(14, 2, (2, 5, 3), 1)
    case.widths *= 0.3
    case.targets[:] = 8.0
    bags, targets = [bag.tolist() for bag in case.bags], case.targets.tolist()
    params, expected = learn(case, 0, 1, weights=[0, 1, 0], eta=0.2, max_epochs=3), oracle_start(case)
    unfolded = []
    for _ in range(3):
        gradients = oracle_learning.gradients_exact(bags[1], targets[1], *expected.values(), 1.5, 0.5)
        unfolded.append(np.array(expected["widths"]) - 0.2 * np.array(gradients["widths"]))
        expected = oracle_learning.epoch_online(bags, targets, expected, 0.2, [1], "exact", 1.5, 0.5)
    assert np.min(unfolded) < 0  # the case is one where it matters
    assert distance(params, expected) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("update_rule", ["exact", "paper"])
def test_a_batch_step_follows_the_mean_error(update_rule):
    case = Case(15, 2, (2, 5, 3), 1)
    bags, targets = [bag.tolist() for bag in case.bags], case.targets.tolist()
    expected = oracle_learning.epoch_batch(bags, targets, oracle_start(case), 0.05, update_rule, 1.5, 0.5)
    assert distance(learn(case, update_rule=update_rule), expected) < 1e-12
    if update_rule == "exact":  # all bags in one mini-batch are the same step
        assert distance(learn(case, batch_size=3), expected) < 1e-12

"""What must hold of the network whatever the rules and the bags are."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzymil.inference.aggregation import AGGREGATIONS
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.layers import Operators, Params, forward
from fuzzymil.inference.segments import Each, OneBag, pack
from fuzzymil.rules import RuleBase

# Shapes are fixed, so that examples share compiled programs: hypothesis draws a seed and the settings.
FEATURES, RULES = 4, 3
SIZES = (1, 5, 2, 1, 4)
seeds = st.integers(0, 2**32 - 1)
alphas = st.sampled_from([-50.0, -1.0, 0.0, 0.3, 1.0, 20.0])
aggregations = st.sampled_from(["softmax", "softmax_log", "max"])
few = settings(max_examples=8, derandomize=True, deadline=None, database=None)


def random_rules(rng, order=1, **operators):
    coefs = rng.normal(size=(RULES, 2, 1 + order * FEATURES))
    widths = np.exp(rng.normal(size=(RULES, FEATURES))) * 1.2
    return RuleBase.from_arrays(rng.normal(size=(RULES, FEATURES)), widths, coefs, **operators)


def random_bags(rng, sizes=SIZES):
    return [rng.normal(size=(size, FEATURES)) for size in sizes]


def assert_same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


@few
@given(seeds, alphas, aggregations)
def test_order_of_the_instances_in_a_bag_does_not_matter(seed, alpha, aggregation):
    rng = np.random.default_rng(seed)
    rules, bags = random_rules(rng, alpha=alpha, aggregation=aggregation), random_bags(rng)
    found = rules.infer([bag[rng.permutation(len(bag))] for bag in bags])
    expected = rules.infer(bags)
    assert_same(found.output, expected.output)
    assert_same(found.log_firing, expected.log_firing)


@few
@given(seeds, alphas, aggregations)
def test_order_of_the_bags_does_not_matter(seed, alpha, aggregation):
    rng = np.random.default_rng(seed)
    rules, bags = random_rules(rng, alpha=alpha, aggregation=aggregation), random_bags(rng)
    order = rng.permutation(len(bags))
    assert_same(rules.infer([bags[b] for b in order]).output, rules.infer(bags).output[order])


@few
@given(seeds, st.integers(1, len(SIZES) - 1))
def test_inferring_in_parts_equals_the_whole(seed, cut):
    rng = np.random.default_rng(seed)
    rules, bags = random_rules(rng, alpha=3.0), random_bags(rng)
    whole, parts = rules.infer(bags), [rules.infer(bags[:cut]), rules.infer(bags[cut:])]
    for field in ("output", "normalized", "rule_outputs", "log_firing", "log_truth"):
        assert_same(np.concatenate([getattr(part, field) for part in parts]), getattr(whole, field))


def test_bags_too_many_for_one_piece_are_inferred_piece_by_piece(monkeypatch):
    rng = np.random.default_rng(3)
    rules, bags = random_rules(rng), random_bags(rng, (7, 5, 2, 1, 4, 3, 3))
    whole = rules.infer(bags)
    monkeypatch.setattr(
        "fuzzymil.inference.activations._CHUNK_VALUES", 6 * RULES * FEATURES
    )  # six instances; a bag has seven
    pieces = rules.infer(bags)
    assert_same(pieces.output, whole.output)
    assert_same(pieces.log_truth, whole.log_truth)


@few
@given(seeds)
def test_alpha_runs_from_the_least_over_the_mean_to_the_greatest_instance(seed):
    rng = np.random.default_rng(seed)
    bags = random_bags(rng)
    params = {"order": 0}
    state = rng.bit_generator.state

    def firing(alpha):
        rng.bit_generator.state = state  # the same rules each time
        found = random_rules(rng, alpha=alpha, **params).infer(bags)
        return found.firing, np.split(found.truth, np.cumsum(SIZES)[:-1])

    mean, truth = firing(0.0)
    assert_same(mean, [bag.mean(axis=0) for bag in truth])
    assert_same(firing(math.inf)[0], [bag.max(axis=0) for bag in truth])
    assert_same(firing(-math.inf)[0], [bag.min(axis=0) for bag in truth])
    np.testing.assert_allclose(firing(1e-7)[0], mean, rtol=1e-5)
    for alpha in (-50.0, 20.0):
        between = firing(alpha)[0]
        for b, bag in enumerate(truth):
            assert (between[b] <= bag.max(axis=0) * (1 + 1e-12)).all()
            assert (between[b] >= bag.min(axis=0) * (1 - 1e-12)).all()


@few
@given(seeds, alphas, st.sampled_from(sorted(set(AGGREGATIONS) - {"bounded"})[:3]))
def test_bags_of_one_instance_are_the_plain_anfis(seed, alpha, aggregation):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, alpha=alpha, aggregation=aggregation)
    x = rng.normal(size=(6, FEATURES))
    strength = np.exp(-0.5 * (((x[:, None] - rules.centers) / rules.widths) ** 2).sum(axis=2))
    responses = rules.coefs[:, :, 0] + np.einsum("id,rkd->irk", x, rules.coefs[:, :, 1:])
    expected = (strength[:, :, None] * responses).sum(axis=1) / strength.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rules.infer(x).output, expected, rtol=1e-9, atol=1e-11)
    with_another = rules.infer([*x[:, None, :], x[:2]])  # packed, because one bag has two instances
    np.testing.assert_allclose(with_another.output[:6], expected, rtol=1e-9, atol=1e-11)


@few
@given(seeds, alphas, aggregations, st.floats(1e-3, 1e6))
def test_strengths_sum_to_one_however_far_the_bag(seed, alpha, aggregation, scale):
    rng = np.random.default_rng(seed)
    found = random_rules(rng, alpha=alpha, aggregation=aggregation).infer([scale * bag for bag in random_bags(rng)])
    np.testing.assert_allclose(found.normalized.sum(axis=1), 1.0, rtol=1e-12)
    assert (found.normalized >= 0).all()
    assert np.isfinite(found.output).all()
    assert not found.uncovered.any()


# ---------------------------------------------------------------------- groupings and padding


@functools.partial(jax.jit, static_argnames=("operators",))
def loss_and_gradient(params, x, known, grouping, targets, weights, operators):
    """Weighted squared error and its gradients: by the parameters and by the instances."""

    def loss(params, x):
        masks = {"gaussian": jnp.ones_like(params.sets["gaussian"][0])}
        layers = forward(params, masks, operators, x, grouping, known=known)
        return jnp.sum(weights * jnp.square(targets - layers.output[:, 0])), layers.output

    (_, output), gradients = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(params, x)
    return output, gradients


def network(rng, features=FEATURES, order=1):
    return Params(
        {"gaussian": (rng.normal(size=(RULES, features)), np.exp(rng.normal(size=(RULES, features))) + 0.5)},
        rng.normal(size=(RULES, 1, 1 + order * features)),
        np.array(2.0),
        np.array(1.5),
    )


def compute(params, x, grouping, targets, weights, known=None, dtype=np.float64, **operators):
    with jax.enable_x64(dtype == np.float64):
        cast = functools.partial(jnp.asarray, dtype=dtype)
        params = jax.tree.map(cast, params)
        known = None if known is None else cast(known)
        out = loss_and_gradient(params, cast(x), known, grouping, cast(targets), cast(weights), Operators(**operators))
        return jax.tree.map(np.asarray, out)


def assert_same_learning(found, expected, n_bags, n_rows):
    """Outputs of the bags that count, gradients of the parameters, of the instances that count."""
    np.testing.assert_allclose(found[0][:n_bags], expected[0][:n_bags], rtol=1e-10, atol=1e-12)
    for one, other in zip(jax.tree.leaves(found[1][0]), jax.tree.leaves(expected[1][0]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found[1][1][:n_rows], expected[1][1][:n_rows], rtol=1e-9, atol=1e-12)
    assert (found[1][1][n_rows:] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("aggregation", ["softmax", "algebraic", "lse", "power"])
def test_padding_changes_no_value_and_no_gradient(aggregation):
    rng = np.random.default_rng(4)
    params, x = network(rng), rng.normal(size=(13, FEATURES))
    index = np.repeat(np.arange(5, dtype=np.int32), SIZES)
    targets, weights = rng.normal(size=5), rng.uniform(0.5, 2, 5)
    bare = compute(params, x, Packed(index, 5), targets, weights, aggregation=aggregation)
    # Seven rows of padding in a bag of their own, and three bags without any row.
    padded = compute(
        params,
        np.concatenate([x, np.zeros((7, FEATURES))]),
        Packed(np.concatenate([index, np.full(7, 5, np.int32)]), 9),
        np.pad(targets, (0, 4)),
        np.pad(weights, (0, 4)),
        aggregation=aggregation,
    )
    assert_same_learning(padded, bare, 5, 13)
    assert np.isfinite(padded[0]).all()
    assert max(np.abs(leaf).max() for leaf in jax.tree.leaves(bare[1][0])) > 1e-3


def test_pack_pads_without_changing_anything():
    rng = np.random.default_rng(5)
    params, bags = network(rng), random_bags(rng)
    data = pack(np.concatenate(bags), np.cumsum([0, *SIZES]), np.float64)
    assert len(data.x) > 13
    assert len(data.offsets) - 1 > 5
    n_bags = len(data.offsets) - 1
    targets, weights = rng.normal(size=n_bags), np.where(np.arange(n_bags) < 5, 1.0, 0.0)
    found = compute(params, data.x, Packed(data.bag_index, n_bags), targets, weights)
    bare = compute(
        params, np.concatenate(bags), Packed(np.repeat(np.arange(5, dtype=np.int32), SIZES), 5), targets[:5], np.ones(5)
    )
    assert_same_learning(found, bare, 5, 13)


@pytest.mark.parametrize("aggregation", ["softmax", "power"])
def test_one_bag_at_a_time_adds_up_to_all_bags(aggregation):
    rng = np.random.default_rng(6)
    params, x = network(rng), rng.normal(size=(13, FEATURES))
    index = np.repeat(np.arange(5, dtype=np.int32), SIZES)
    targets = rng.normal(size=5)
    together = compute(params, x, Packed(index, 5), targets, np.ones(5), aggregation=aggregation)
    # Rows of other bags stand in the slice and are masked, as in on-line learning.
    alone = [
        compute(params, x, OneBag(jnp.asarray(index == b)), targets[b : b + 1], np.ones(1), aggregation=aggregation)
        for b in range(5)
    ]
    summed = jax.tree.map(lambda *values: np.sum(values, axis=0), *(gradients for _, gradients in alone))
    assert_same_learning((np.concatenate([output for output, _ in alone]), summed), together, 5, 13)


def test_one_instance_bags_agree_in_every_grouping():
    rng = np.random.default_rng(7)
    params, x, targets = network(rng), rng.normal(size=(13, FEATURES)), rng.normal(size=13)
    each = compute(params, x, Each(13), targets, np.ones(13))
    packed = compute(params, x, Packed(np.arange(13, dtype=np.int32), 13), targets, np.ones(13))
    assert_same_learning(each, packed, 13, 13)


def test_unknown_values_pass_no_gradient_and_their_placeholder_does_not_matter():
    rng = np.random.default_rng(8)
    params, x, targets = network(rng), rng.normal(size=(13, FEATURES)), rng.normal(size=5)
    known = (rng.random((13, FEATURES)) < 0.7).astype(float)
    index = np.repeat(np.arange(5, dtype=np.int32), SIZES)
    found = compute(params, np.where(known, x, 0.0), Packed(index, 5), targets, np.ones(5), known)
    # pack() puts 0 where a value is unknown; with zero order no other number may matter either.
    zero_order = params._replace(coefs=params.coefs[..., :1])
    one, other = (
        compute(zero_order, np.where(known, x, fill), Packed(index, 5), targets, np.ones(5), known)
        for fill in (0.0, 3.0)
    )
    for a, b in zip(jax.tree.leaves(one[1][0]), jax.tree.leaves(other[1][0]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    assert_same(one[0], other[0])
    assert (one[1][1][known == 0] == 0).all()
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(found))


# ---------------------------------------------------------------------- extremes


@functools.partial(jax.jit, static_argnames=("operators",))
def strengths_and_gradient(params, x, bag_index, operators):
    def loss(params):
        masks = {"gaussian": jnp.ones_like(params.sets["gaussian"][0])}
        layers = forward(params, masks, operators, x, Packed(bag_index, 8))  # padding: bag 5 has rows, 6 and 7 none
        return jnp.square(layers.output[:5]).sum(), layers

    (_, layers), gradient = jax.value_and_grad(loss, has_aux=True)(params)
    return layers.strengths[:5], layers.output[:5], gradient


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("aggregation", AGGREGATIONS)
def test_at_1000_features_no_width_and_no_distance_breaks_the_numbers(aggregation, dtype):
    rng = np.random.default_rng(9)
    x = rng.normal(size=(16, 1000)).astype(dtype)
    x[1:6] += 1e3  # a bag far away
    x[13:] = 0
    index = np.repeat(np.arange(6, dtype=np.int32), (*SIZES, 3))
    centers, ones = rng.normal(size=(RULES, 1000)), np.ones((RULES, 1000))
    with jax.enable_x64(dtype == np.float64):
        for width in (1e-6, 1e-3, 1.0, 30.0, 1e6):
            for alpha in (-50.0, 0.0, 1.0, 50.0):
                params = Params({"gaussian": (centers, width * ones)}, rng.normal(size=(RULES, 1, 1)), alpha, 1.0)
                params = jax.tree.map(lambda value: jnp.asarray(value, dtype), params)
                strengths, output, gradient = jax.tree.map(
                    np.asarray, strengths_and_gradient(params, x, index, Operators(aggregation=aggregation))
                )
                case = f"width {width}, alpha {alpha}"
                np.testing.assert_allclose(strengths.sum(axis=1), 1.0, rtol=1e-5, err_msg=case)
                assert np.isfinite(output).all(), case
                assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient)), case
                if width < 1e3:  # wider than the data by far, every rule covers everything alike
                    assert np.ptp(output) > 1e-3, case

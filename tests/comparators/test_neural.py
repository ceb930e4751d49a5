"""The neural comparators: forward passes against loops over instances, gradients, padding, limits, and learning."""

import copy
import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, cross_val_score

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.comparators import GatedAttention, MINet, MiNet
from fuzzymil.comparators._programs import mean_loss, train
from fuzzymil.inference.engines.jax import grouping_of
from fuzzymil.inference.segments import pack
from paper.methods import BPMIP, MINN

SIZES = (3, 1, 4, 2, 5, 1)
OFFSETS = np.cumsum([0, *SIZES])
TARGETS = np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0])
LAYERS = (4, 3)
ALPHA = 2.5

MODELS = {
    "MI-NN": MINN(LAYERS, alpha=ALPHA),
    "BP-MIP": BPMIP(LAYERS),
    "mi-Net max": MiNet(LAYERS),
    "mi-Net mean": MiNet(LAYERS, pool="mean"),
    "MI-Net max": MINet(LAYERS),
    "MI-Net mean": MINet(LAYERS, pool="mean"),
    "MI-Net lse": MINet(LAYERS, pool="lse"),
    "attention": GatedAttention(LAYERS, n_attention=5),
}
models = pytest.mark.parametrize("name", MODELS)


def instances():
    return np.random.default_rng(0).normal(size=(OFFSETS[-1], 2))


def weights_of(name):
    """Weights and biases of every layer, none of them 0."""
    rng = np.random.default_rng(1)
    start = MODELS[name]._start(np.random.RandomState(0), 2)
    return jax.tree.map(lambda values: values + 0.3 * rng.normal(size=values.shape), start)


def easy_bags(n_bags=40, seed=0):
    """Positive if an instance has a first feature near 2; all others are near 0."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_bags)
    labels = np.arange(n_bags) % 2
    x = 0.4 * rng.normal(size=(sizes.sum(), 3))
    offsets = np.cumsum([0, *sizes])
    x[offsets[:-1][labels == 1], 0] += 2.0
    return Bags(x, offsets, labels=labels)


# ---------------------------------------------------------------------- a slow transcription


def sigmoid(t):
    return 1 / (1 + math.exp(-t))


def layer(pair, row, activation=lambda t: t):
    weights, biases = pair
    return [activation(sum(row[n] * weights[n][u] for n in range(len(row))) + biases[u]) for u in range(len(biases))]


def slow_network(name, weights, bag):
    """Output of one bag, instance after instance and unit after unit."""
    old = name in ("MI-NN", "BP-MIP")
    rows = [list(row) for row in bag]
    for pair in weights["hidden"]:
        rows = [layer(pair, row, sigmoid if old else lambda t: max(t, 0.0)) for row in rows]
    n = len(rows)
    if old or name.startswith("mi-Net"):
        p = [sigmoid(layer(weights["output"], row)[0]) for row in rows]
        if name == "MI-NN":
            return math.log(sum(math.exp(ALPHA * o) for o in p) / n) / ALPHA
        if name == "BP-MIP":
            return max(p)
        joined = max(p) if name.endswith("max") else sum(p) / n
        return math.log(joined / (1 - joined))
    columns = list(zip(*rows, strict=True))
    if name == "attention":
        scores = []
        for row in rows:
            content, gate = layer(weights["content"], row, math.tanh), layer(weights["gate"], row, sigmoid)
            scores.append(layer(weights["score"], [c * g for c, g in zip(content, gate, strict=True)])[0])
        total = sum(math.exp(score) for score in scores)
        bag = [sum(math.exp(s) / total * v for s, v in zip(scores, column, strict=True)) for column in columns]
    else:
        pool = {
            "max": max,
            "mean": lambda column: sum(column) / n,
            "lse": lambda column: math.log(sum(map(math.exp, column)) / n),
        }[name.split()[1]]
        bag = [pool(column) for column in columns]
    return layer(weights["output"], bag)[0]


def slow_loss(name, weights, x=None):
    """Mean squared error of the old networks, mean cross-entropy of the new ones."""
    x = instances() if x is None else x
    costs = []
    for target, start, end in zip(TARGETS, OFFSETS[:-1], OFFSETS[1:], strict=True):
        output = slow_network(name, weights, x[start:end])
        if name in ("MI-NN", "BP-MIP"):
            costs.append((target - output) ** 2)
        else:
            costs.append(-math.log(sigmoid(output if target else -output)))
    return sum(costs) / len(costs)


@functools.cache
def compiled(name, extra_rows=0, extra_bags=0):
    """Outputs, cost and gradient of weights, with more or less padding; called in 64 bit."""
    model = MODELS[name]
    data = pack(instances(), OFFSETS, np.float64)
    x = np.concatenate([data.x, np.zeros((extra_rows, 2))])
    index = np.concatenate([data.bag_index, np.full(extra_rows, data.n_bags)])
    n_bags = len(data.offsets) - 1 + extra_bags
    targets = np.zeros(n_bags)
    targets[: len(TARGETS)] = TARGETS

    @jax.jit
    def run(weights):
        def cost(weights):
            output = model._forward()(weights | model._constants(), x, grouping_of(index, len(x), n_bags)).bags
            return mean_loss(model._loss, output, targets, np.arange(n_bags) < data.n_bags), output[: data.n_bags]

        (value, output), gradient = jax.value_and_grad(cost, has_aux=True)(weights)
        return output, value, gradient

    return run


def output_cost_and_gradient(name, weights, **padding):
    with jax.enable_x64():
        return jax.tree.map(np.asarray, compiled(name, **padding)(weights))


# ---------------------------------------------------------------------- forward, gradients, padding


@pytest.mark.slow
@models
def test_forward_is_the_slow_transcription(name):
    weights = weights_of(name)
    output, cost, _ = output_cost_and_gradient(name, weights)
    expected = [slow_network(name, weights, instances()[start:end]) for start, end in itertools.pairwise(OFFSETS)]
    np.testing.assert_allclose(output, expected, rtol=1e-12)
    assert cost == pytest.approx(slow_loss(name, weights), rel=1e-12)


@models
def test_gradients_are_finite_differences_of_the_slow_loss(name):
    weights = weights_of(name)
    gradient = jax.tree.leaves(output_cost_and_gradient(name, weights)[2])
    leaves, structure = jax.tree.flatten(weights)
    step = 1e-6
    for place, values in enumerate(leaves):
        for entry in np.ndindex(values.shape):
            ends = []
            for sign in (1, -1):
                moved = [leaf.copy() for leaf in leaves]
                moved[place][entry] += sign * step
                ends.append(slow_loss(name, jax.tree.unflatten(structure, moved)))
            assert gradient[place][entry] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=1e-5, abs=1e-8)


@pytest.mark.slow
@models
def test_padding_changes_neither_output_nor_cost_nor_gradient(name):
    weights = weights_of(name)
    plain = output_cost_and_gradient(name, weights)
    padded = output_cost_and_gradient(name, weights, extra_rows=50, extra_bags=9)
    for one, other in zip(jax.tree.leaves(plain), jax.tree.leaves(padded), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-15)


def test_training_is_adam_with_decayed_weights_and_free_biases():
    name, rate, decay, n_epochs = "MI-Net mean", 0.05, 0.7, 4
    data = pack(instances(), OFFSETS, np.float64)
    targets = np.zeros(len(data.offsets) - 1)
    targets[: len(TARGETS)] = TARGETS
    start = weights_of(name)
    with jax.enable_x64():
        trained, losses = train(
            MODELS[name]._forward(), "cross_entropy", n_epochs, start, {}, data.x, data.bag_index, targets,
            np.arange(len(targets)) < len(TARGETS), rate, decay,
        )  # fmt: skip
    leaves, structure = jax.tree.flatten(start)
    first, second = ([np.zeros_like(leaf) for leaf in leaves] for _ in range(2))
    expected = []
    for t in range(1, n_epochs + 1):
        _, value, gradient = output_cost_and_gradient(name, jax.tree.unflatten(structure, leaves))
        expected.append(float(value))
        for n, g in enumerate(jax.tree.leaves(gradient)):
            first[n] = 0.9 * first[n] + 0.1 * g
            second[n] = 0.999 * second[n] + 0.001 * g**2
            move = first[n] / (1 - 0.9**t) / (np.sqrt(second[n] / (1 - 0.999**t)) + 1e-8)
            shrink = decay * leaves[n] if leaves[n].ndim == 2 else 0.0
            leaves[n] = leaves[n] - rate * (move + shrink)
    np.testing.assert_allclose(losses, expected, rtol=1e-10)
    for one, other in zip(jax.tree.leaves(trained), leaves, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10)


# ---------------------------------------------------------------------- what the methods promise


@functools.cache
def fitted(name, seed=0, turned=False):
    """A model of the easy bags, whose instances may be turned round; all of one shape, to share programs."""
    bags = easy_bags()
    if turned:
        bags = Bags.from_list([bag[::-1] for bag in bags], labels=bags.labels)
    return clone(MODELS[name]).set_params(random_state=seed, n_epochs=150, learning_rate=0.03).fit(bags)


def test_soft_maximum_lies_between_mean_and_maximum():
    bags = easy_bags()
    model = copy.deepcopy(fitted("MI-NN"))
    outputs = model.instance_scores(bags) + 0.5

    def decided(alpha):
        model.weights_["alpha"] = np.float64(alpha)
        return model.decision_function(bags) + 0.5

    mean = np.add.reduceat(outputs, bags.offsets[:-1]) / bags.sizes
    top = np.maximum.reduceat(outputs, bags.offsets[:-1])
    np.testing.assert_allclose(decided(0.0), mean, rtol=1e-12)
    np.testing.assert_allclose(decided(1e-7), mean, rtol=1e-6)
    np.testing.assert_allclose(decided(1e6), top, rtol=1e-5)
    rising = [mean, decided(0.0), decided(1.0), decided(10.0), decided(100.0), top]
    assert (np.diff(rising, axis=0) >= -1e-12).all()
    several = bags.sizes > 1
    assert (decided(10.0)[several] > mean[several]).all()


@pytest.mark.parametrize("name", ["BP-MIP", "mi-Net max"])
def test_a_bag_is_decided_by_its_greatest_instance(name):
    bags = easy_bags()
    greatest = np.maximum.reduceat(fitted(name).instance_scores(bags), bags.offsets[:-1])
    np.testing.assert_allclose(fitted(name).decision_function(bags), greatest, rtol=1e-12)


def test_mean_probability_of_the_instances_decides():
    bags = easy_bags()
    probabilities = 1 / (1 + np.exp(-fitted("mi-Net mean").instance_scores(bags)))
    mean = np.add.reduceat(probabilities, bags.offsets[:-1]) / bags.sizes
    np.testing.assert_allclose(1 / (1 + np.exp(-fitted("mi-Net mean").decision_function(bags))), mean, rtol=1e-10)


def test_attention_sums_to_one_in_every_bag():
    bags = easy_bags()
    attention = fitted("attention").predict_attention(bags)
    assert attention.shape == (bags.n_instances,)
    assert (attention > 0).all()
    np.testing.assert_allclose(np.add.reduceat(attention, bags.offsets[:-1]), 1.0, rtol=1e-12)
    assert (attention[bags.offsets[:-1][bags.sizes == 1]] == 1).all()


@pytest.mark.parametrize("name", ["MI-NN", "BP-MIP", "mi-Net max", "mi-Net mean", "attention"])
def test_the_instance_that_makes_the_bag_stands_out(name):
    bags = easy_bags(seed=1)
    model = fitted(name)
    scores = model.predict_attention(bags) if name == "attention" else model.instance_scores(bags)
    positive = np.flatnonzero((bags.labels == 1) & (bags.sizes > 1))
    found = [
        scores[bags.offsets[b] : bags.offsets[b + 1]].argmax() == 0 for b in positive
    ]  # it is the first of its bag
    assert np.mean(found) > 0.9


@pytest.mark.slow
@models
def test_every_instance_given_twice_changes_nothing(name):
    bags = easy_bags()[:20]
    twice = Bags.from_list([np.concatenate([bag, bag]) for bag in bags])
    np.testing.assert_allclose(
        fitted(name).decision_function(twice), fitted(name).decision_function(bags), rtol=1e-10, atol=1e-12
    )


@pytest.mark.slow
@models
def test_learns(name):
    fresh = easy_bags(seed=1)
    assert roc_auc_score(fresh.labels, fitted(name).decision_function(fresh)) > 0.95
    assert fitted(name).loss_curve_[-1] < 0.7 * fitted(name).loss_curve_[0]


@pytest.mark.parametrize("name", [name for name in MODELS if name not in ("MI-NN", "mi-Net mean")])
def test_decides_well(name):
    """The others average: one instance of five does not lift their output above the threshold."""
    assert fitted(name).score(easy_bags(seed=1)) > 0.85


@models
def test_the_seed_decides(name):
    bags = easy_bags()
    decided = fitted(name).decision_function(bags)
    np.testing.assert_array_equal(clone(fitted(name)).fit(bags).decision_function(bags), decided)
    assert (fitted(name, seed=1).decision_function(bags) != decided).all()


@pytest.mark.slow
@models
def test_order_of_instances_and_company_of_bags_do_not_matter(name):
    bags = easy_bags()
    decided = fitted(name).decision_function(bags)
    np.testing.assert_array_equal(fitted(name, turned=True).decision_function(bags), decided)
    backwards = Bags.from_list([bag[::-1] for bag in bags])
    np.testing.assert_allclose(fitted(name).decision_function(backwards), decided, rtol=1e-10, atol=1e-12)
    in_parts = np.concatenate([fitted(name).decision_function(part) for part in (bags[:20], bags[20:])])
    np.testing.assert_allclose(in_parts, decided, rtol=1e-10, atol=1e-12)


@pytest.mark.slow
@models
def test_bags_of_one_instance_take_the_short_way_to_the_same_result(name):
    rows = easy_bags().instances[:20]
    among_others = fitted(name).decision_function([*rows[:, None], rows])[:20]
    np.testing.assert_allclose(fitted(name).decision_function(rows), among_others, rtol=1e-10)


def test_learns_from_bags_of_one_instance():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    labels = rows[:, 0] > 0
    assert BPMIP((4,), learning_rate=0.05, random_state=0).fit(rows, labels).score(rows, labels) > 0.9


@pytest.mark.slow
def test_folds_share_one_program_and_a_second_fit_compiles_nothing():
    bags = easy_bags(92)
    model = MINet((7, 6), n_epochs=3, random_state=0)  # a shape of its own
    before = train._cache_size()
    cross_val_score(model, bags, bags.labels, cv=KFold(10))
    compiled = train._cache_size() - before
    assert 1 <= compiled <= 2
    cross_val_score(model.set_params(learning_rate=0.5, weight_decay=0.1), bags, bags.labels, cv=KFold(10))
    MINN((7, 6), n_epochs=3, random_state=0).fit(bags)
    after = train._cache_size()
    assert after - before == compiled + 1
    MINN((7, 6), alpha=9.0, n_epochs=3, random_state=1).fit(bags)  # alpha is no part of the program
    assert train._cache_size() == after
    assert jnp.ones(()).dtype == jnp.float32  # 64 bit stays inside


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MINN(5), r"hidden_layer_sizes .*tuple.*\(64, 32\).* got 5"),
        (BPMIP((5, 0)), "Every entry of hidden_layer_sizes .*at least 1, got 0"),
        (MINN(learning_rate=0.0), "learning_rate .*above 0, got 0.0"),
        (MINN(weight_decay=-1.0), "weight_decay .*least 0"),
        (MINN(n_epochs=0), "n_epochs .*at least 1"),
        (MINN(alpha=-1.0), "alpha .*least 0"),
        (MINN(alpha=np.inf), "alpha .*least 0"),
        (MiNet(pool="lse"), "pool.*'lse'.*max, mean"),
        (MINet(pool="meen"), r"pool.*'meen'.*max, mean, lse.*Did you mean 'mean'"),
        (GatedAttention(n_attention=0), "n_attention .*at least 1"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_bad_settings_are_named(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(easy_bags())


def test_numbers_beyond_32_bit_end_in_an_error_that_says_what_to_do():
    bags = easy_bags().map_instances(lambda x: x * 1e300)
    with pytest.raises(ParameterError, match=r"diverged.*learning_rate.*StandardScaler"):
        MINet((3,), n_epochs=2).fit(bags)


def test_no_hidden_layer_is_a_linear_score():
    bags = easy_bags()
    model = MiNet((), n_epochs=50, random_state=0).fit(bags)
    weights, biases = model.weights_["output"]
    np.testing.assert_allclose(model.instance_scores(bags), bags.instances @ weights[:, 0] + biases[0], rtol=1e-10)

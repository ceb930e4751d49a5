"""MI-kernel, miGraph, MIGraph and the PPMM kernel against slow transcriptions and closed forms."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from fuzzymil import Bags
from fuzzymil._utils.errors import ParameterError
from fuzzymil.comparators import MiGraph, MIKernel, kernels
from fuzzymil.comparators._base import in_fixed_order
from fuzzymil.comparators.kernels import WeighedBags, clique_weights, edges, kernel_width, self_kernel, set_kernel
from paper.methods import MIGraph, PPMMKernel
from paper.methods.graphs import edge_features
from paper.methods.ppmm import POWERS, alignment, posterior_kernel

GAMMA = 0.4


def some_bags(n_bags, seed, low=1, high=7):
    """Bags around one of two places each; sizes from low to below high, in the order that estimators give them."""
    rng = np.random.RandomState(seed)
    labels = np.arange(n_bags) % 2
    bags = [rng.normal(label, 1.0, size=(rng.randint(low, high), 3)) for label in labels]
    return in_fixed_order(Bags.from_list(bags, labels=labels))


TRAIN, TEST = some_bags(24, seed=1), some_bags(16, seed=2)
MODELS = {
    "MI-kernel, mean": MIKernel(gamma=GAMMA),
    "MI-kernel, cosine": MIKernel(gamma=GAMMA, normalize="cosine"),
    "miGraph": MiGraph(gamma=GAMMA),
    "MIGraph": MIGraph(gamma=GAMMA, edge_gamma=2.0),
    "MIGraph, edges drawn": MIGraph(gamma=GAMMA, max_edges=2, random_state=0),
    "PPMM": PPMMKernel(n_components=8, n_mixtures=2, random_state=0),
}
every = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


def rbf(x, y, gamma):
    return float(np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, y, strict=True))))


def gram(model, first, second):
    return model._compare(model._describe(first), model._describe(second))


# ---------------------------------------------------------------------- sums over pairs of instances


def test_the_set_kernel_is_a_sum_over_pairs():
    rng = np.random.RandomState(3)
    first = WeighedBags(TRAIN, rng.uniform(size=TRAIN.n_instances))
    second = WeighedBags(TEST, rng.uniform(size=TEST.n_instances))
    slow = np.zeros((TRAIN.n_bags, TEST.n_bags))
    for i, (b, v) in enumerate(zip(TRAIN.bag_index, first.weights, strict=True)):
        for j, (c, w) in enumerate(zip(TEST.bag_index, second.weights, strict=True)):
            slow[b, c] += v * w * rbf(TRAIN.instances[i], TEST.instances[j], GAMMA)
    np.testing.assert_allclose(set_kernel(first, second, GAMMA), slow, rtol=1e-12)
    np.testing.assert_allclose(self_kernel(first, GAMMA), np.diag(set_kernel(first, first, GAMMA)), rtol=1e-12)


@pytest.mark.parametrize("cells", [1, 100, 1 << 22], ids=["row by row", "few rows", "at once"])
def test_the_parts_it_is_computed_in_make_no_difference(cells, monkeypatch):
    weighed = WeighedBags(TRAIN, np.linspace(1, 2, TRAIN.n_instances))
    whole = set_kernel(weighed, weighed, GAMMA)
    monkeypatch.setattr(kernels, "CELLS", cells)
    np.testing.assert_allclose(set_kernel(weighed, weighed, GAMMA), whole, rtol=1e-12)


def test_bags_of_one_instance_have_the_kernel_of_their_instances():
    X = np.random.RandomState(4).normal(size=(9, 3))
    weighed = WeighedBags(Bags(X, np.arange(10)), np.ones(9))
    np.testing.assert_allclose(set_kernel(weighed, weighed, GAMMA), rbf_kernel(X, gamma=GAMMA), rtol=1e-12)


def test_the_scale_makes_the_mean_exponent_minus_two():
    X = np.random.RandomState(5).normal(size=(40, 3)) * [0.01, 1.0, 200.0] + [0.0, 7.0, -3.0]
    squares = ((X[:, None] - X) ** 2).sum(axis=2)
    assert -kernel_width("scale", X) * squares.mean() == pytest.approx(-2.0)
    assert kernel_width("scale", np.ones((5, 2))) == 1.0
    assert kernel_width("scale", np.zeros((0, 2))) == 1.0


# ---------------------------------------------------------------------- what all kernels of bags must be


@every
def test_kernels_are_symmetric_and_positive_semidefinite(model):
    model.fit(TRAIN)
    both = gram(model, TRAIN + TEST, TRAIN + TEST)
    np.testing.assert_allclose(both, both.T, atol=1e-14)
    assert np.linalg.eigvalsh(both).min() > -1e-12


@every
def test_decisions_are_those_of_a_machine_on_the_whole_kernel(model):
    model.fit(TRAIN)
    machine = SVC(C=model.C, kernel="precomputed").fit(gram(model, TRAIN, TRAIN), TRAIN.labels)
    expected = machine.decision_function(gram(model, TEST, TRAIN))
    np.testing.assert_allclose(model.decision_function(TEST), expected, atol=1e-9)


@every
def test_a_bag_is_described_without_regard_to_others(model):
    model.fit(TRAIN)
    alone = [gram(model, TEST[[b]], TRAIN)[0] for b in range(TEST.n_bags)]
    np.testing.assert_allclose(gram(model, TEST, TRAIN), alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("model", [MIKernel(2.0, gamma=0.3), MiGraph(2.0, gamma=0.3), MIGraph(2.0, gamma=0.3)])
def test_bags_of_one_instance_give_the_plain_machine(model):
    rng = np.random.RandomState(6)
    y = np.arange(40) % 2
    X, T = rng.normal(y[:, None], 1.0, size=(40, 3)), rng.normal(size=(30, 3))
    plain = SVC(C=2.0, gamma=0.3).fit(X, y)
    np.testing.assert_allclose(model.fit(X, y).decision_function(T), plain.decision_function(T), atol=1e-3)


# ---------------------------------------------------------------------- MI-kernel


def test_the_normalized_set_kernel_by_loops():
    sums = np.array([[sum(rbf(x, y, GAMMA) for x in a for y in b) for b in TRAIN] for a in TRAIN])
    mean = MODELS["MI-kernel, mean"].fit(TRAIN)
    np.testing.assert_allclose(gram(mean, TRAIN, TRAIN), sums / np.outer(TRAIN.sizes, TRAIN.sizes), rtol=1e-12)
    cosine = gram(MODELS["MI-kernel, cosine"].fit(TRAIN), TRAIN, TRAIN)
    lengths = np.sqrt(np.diag(sums))
    np.testing.assert_allclose(cosine, sums / np.outer(lengths, lengths), rtol=1e-12)
    np.testing.assert_allclose(np.diag(cosine), 1.0)


# ---------------------------------------------------------------------- graphs


def slow_graph(bag, gamma):
    """Neighbors of each instance of a bag, by loops over the printed definition."""
    n = len(bag)
    distances = [[1 - rbf(x, y, gamma) for y in bag] for x in bag]
    pairs = [distances[u][v] for u in range(n) for v in range(u)]
    return [[v for v in range(n) if v != u and distances[u][v] < np.mean(pairs)] for u in range(n)]


def slow_edges(bag, gamma):
    neighbors = slow_graph(bag, gamma)
    n_edges = sum(map(len, neighbors)) / 2
    weight = [sum(rbf(bag[u], bag[v], gamma) for v in near) for u, near in enumerate(neighbors)]
    found = []
    for u, near in enumerate(neighbors):
        for v in (v for v in near if v > u):
            ends = [[len(neighbors[end]) / n_edges, rbf(bag[u], bag[v], gamma) / weight[end]] for end in (u, v)]
            greater, less = sorted(ends, reverse=True)
            found.append(greater + less)
    return found


def test_the_clique_kernel_by_loops():
    weights = [[1 / (1 + len(near)) for near in slow_graph(bag, GAMMA)] for bag in TRAIN]

    def slow(a, b):
        pairs = [(i, j) for i in range(TRAIN.sizes[a]) for j in range(TRAIN.sizes[b])]
        total = sum(weights[a][i] * weights[b][j] * rbf(TRAIN[a][i], TRAIN[b][j], GAMMA) for i, j in pairs)
        return total / (sum(weights[a]) * sum(weights[b]))

    expected = [[slow(a, b) for b in range(TRAIN.n_bags)] for a in range(TRAIN.n_bags)]
    np.testing.assert_allclose(gram(MODELS["miGraph"].fit(TRAIN), TRAIN, TRAIN), expected, rtol=1e-10)


def test_the_graph_kernel_by_loops():
    described = [slow_edges(bag, GAMMA) for bag in TRAIN]
    assert any(described)
    assert not all(described)  # bags without an edge are among them

    def slow(a, b):
        nodes = sum(rbf(x, y, GAMMA) for x in TRAIN[a] for y in TRAIN[b])
        return nodes + sum(rbf(e, f, 2.0) for e in described[a] for f in described[b])

    sums = np.array([[slow(a, b) for b in range(TRAIN.n_bags)] for a in range(TRAIN.n_bags)])
    lengths = np.sqrt(np.diag(sums))
    found = gram(MODELS["MIGraph"].fit(TRAIN), TRAIN, TRAIN)
    np.testing.assert_allclose(found, sums / np.outer(lengths, lengths), rtol=1e-10)


def test_pairs_have_no_edges_so_that_cliques_change_nothing():
    pairs = some_bags(20, seed=7, low=2, high=3)
    plain, cliques = MIKernel(gamma=GAMMA).fit(pairs), MiGraph(gamma=GAMMA).fit(pairs)
    np.testing.assert_allclose(gram(cliques, pairs, pairs), gram(plain, pairs, pairs), rtol=1e-12)


def test_a_crowd_weighs_as_much_as_a_single_instance():
    crowd = np.concatenate([np.linspace(0.0, 0.01, 8), [9.0]])[:, None]
    np.testing.assert_allclose(clique_weights(crowd, 1.0), [1 / 16] * 8 + [1 / 2])
    np.testing.assert_array_equal(clique_weights(np.zeros((1, 2)), 1.0), [1.0])


def test_instances_that_are_equal_make_finite_edges():
    bag = np.array([[0.0], [0.0], [0.0], [4.0]])
    assert len(edges(bag, 1.0).first) == 3
    np.testing.assert_allclose(edge_features(bag, 1.0), np.tile([2 / 3, 0.5, 2 / 3, 0.5], (3, 1)))
    assert edge_features(np.zeros((5, 2)), 1.0).shape == (0, 4)  # none is nearer than the average


def test_edges_do_not_depend_on_the_order_of_instances():
    rng = np.random.RandomState(8)
    bag = rng.normal(size=(9, 3))
    here, there = (np.array(sorted(edge_features(rows, GAMMA).tolist())) for rows in (bag, bag[rng.permutation(9)]))
    np.testing.assert_allclose(here, there, rtol=1e-12)


def test_of_too_many_edges_some_are_drawn_and_stand_for_all():
    bags = some_bags(8, seed=9, low=20, high=30)
    every_edge = [len(edge_features(bag, GAMMA)) for bag in bags]
    assert min(every_edge) > 30
    drawn = MIGraph(gamma=GAMMA, max_edges=30, random_state=0).fit(bags)
    graphs = drawn._describe(bags)
    assert graphs.edges.bags.sizes.tolist() == [30] * 8
    node_weight = graphs.nodes.weights[bags.offsets[:-1]]  # the norm of each bag, 1 / length
    counts = np.add.reduceat(graphs.edges.weights, graphs.edges.bags.offsets[:-1]) / node_weight
    np.testing.assert_allclose(counts, every_edge)
    fixed = {"gamma": GAMMA, "edge_gamma": drawn.edge_gamma_, "random_state": 0}
    few, many, whole = (gram(MIGraph(max_edges=n, **fixed).fit(bags), bags, bags) for n in (5, 60, 10_000))
    assert np.abs(many - whole).max() < 0.05 < np.abs(few - whole).max()


def test_bags_without_any_edge_are_compared_by_their_instances():
    pairs = some_bags(20, seed=7, low=2, high=3)
    graphs, plain = MIGraph(gamma=GAMMA).fit(pairs), MIKernel(gamma=GAMMA, normalize="cosine").fit(pairs)
    np.testing.assert_allclose(graphs.decision_function(pairs), plain.decision_function(pairs), rtol=1e-9)


# ---------------------------------------------------------------------- PPMM


def test_the_kernel_of_posteriors_by_loops():
    rng = np.random.RandomState(10)
    first, second = rng.dirichlet(np.full(4, 0.5), size=(2, 5)), rng.dirichlet(np.full(4, 0.5), size=(2, 3))
    for power in (0.3, 1.0, 2.5):
        slow = np.zeros((5, 3))
        for m in range(2):
            for b in range(5):
                for c in range(3):
                    u, v = first[m, b] ** power, second[m, c] ** power
                    slow[b, c] += u @ v / np.sqrt((u @ u) * (v @ v)) / 2
        np.testing.assert_allclose(posterior_kernel(first, second, power), slow, rtol=1e-12)


def test_small_powers_ask_what_occurs_and_great_ones_what_prevails():
    shares = np.array([[[0.9, 0.1, 0.0], [0.1, 0.9, 0.0], [0.6, 0.1, 0.3]]])
    occur = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    occur /= np.linalg.norm(occur, axis=1, keepdims=True)
    np.testing.assert_allclose(posterior_kernel(shares, shares, 1e-6), occur @ occur.T, atol=1e-4)
    prevail = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]])
    np.testing.assert_allclose(posterior_kernel(shares, shares, 2000.0), prevail, atol=1e-12)


def test_alignment_is_a_correlation():
    positive = np.array([True, True, False, False, False])
    signs = np.where(positive, 1.0, -1.0)
    assert alignment(np.outer(signs, signs), positive) == pytest.approx(1.0)
    assert alignment(3 * np.outer(signs, signs) + 7, positive) == pytest.approx(1.0)
    assert alignment(np.ones((5, 5)), positive) == 0.0
    kernel = gram(MODELS["MI-kernel, mean"].fit(TRAIN), TRAIN, TRAIN)
    center = np.eye(TRAIN.n_bags) - 1 / TRAIN.n_bags
    target = center @ np.outer(TRAIN.labels, TRAIN.labels) @ center
    expected = np.corrcoef((center @ kernel @ center).ravel(), target.ravel())[0, 1]
    assert alignment(kernel, TRAIN.labels == 1) == pytest.approx(expected)


def test_bags_are_described_by_mean_posteriors():
    model = MODELS["PPMM"].fit(TRAIN)
    for m, mixture in enumerate(model.mixtures_):
        slow = [mixture.predict_proba(bag).mean(axis=0) for bag in TEST]
        np.testing.assert_allclose(model._describe(TEST)[m], slow, atol=1e-12)


def composed(shares, labels):
    """Bags of 20 instances in three places far apart, in the given shares."""
    rng = np.random.RandomState(11)
    places = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])
    counts = (20 * np.asarray(shares)).round().astype(int)
    return Bags.from_list(
        [np.repeat(places, count, axis=0) + rng.normal(size=(20, 2)) for count in counts], labels=labels
    )


def test_the_power_is_learned_from_how_instances_make_the_class():
    rng = np.random.RandomState(12)
    labels = np.arange(30) % 2
    mixed = rng.uniform(0.3, 0.6, size=30)
    rare = 0.05 * labels  # a single instance of the third kind makes a bag positive
    presence = composed(np.column_stack([mixed, 1 - mixed - rare, rare]), labels)
    more = np.where(labels, 0.65, 0.35)  # the kind that prevails makes the class; both kinds are in all bags
    majority = composed(np.column_stack([more, 0.95 - more, np.full(30, 0.05)]), labels)
    powers = [PPMMKernel(n_components=3, random_state=0).fit(bags).power_ for bags in (presence, majority)]
    assert powers[0] < 0.5 < 1 < powers[1]


def test_the_learned_power_is_the_best_aligned():
    model = MODELS["PPMM"].fit(TRAIN)
    shares = model._describe(TRAIN)
    best = alignment(posterior_kernel(shares, shares, model.power_), TRAIN.labels == 1)
    assert all(alignment(posterior_kernel(shares, shares, power), TRAIN.labels == 1) <= best for power in POWERS)


def test_a_given_power_is_kept_and_components_are_no_more_than_instances():
    model = PPMMKernel(n_components=500, n_mixtures=1, power=2.0, random_state=0).fit(TRAIN)
    assert model.power_ == 2.0
    assert model.mixtures_[0].n_components == TRAIN.n_instances
    alike = PPMMKernel(random_state=0).fit(np.zeros((6, 2)), [0, 1, 0, 1, 0, 1])
    assert alike.mixtures_[0].n_components == 1


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (MIKernel(C=-1.0), "C .*above 0"),
        (MIKernel(gamma=0.0), "gamma .*above 0"),
        (MIKernel(normalize="sum"), "normalize.*'sum'.*mean, cosine"),
        (MiGraph(gamma="auto"), "gamma .*'scale' .*above 0"),
        (MIGraph(max_edges=0), "max_edges .*at least 1"),
        (MIGraph(edge_gamma=-1.0), "edge_gamma .*above 0"),
        (PPMMKernel(n_components=0), "n_components .*at least 1"),
        (PPMMKernel(n_mixtures=0), "n_mixtures .*at least 1"),
        (PPMMKernel(covariance_type="full"), "covariance_type.*'full'.*spherical, diag"),
        (PPMMKernel(power=0.0), "power .*above 0"),
        (PPMMKernel(power="best"), "power .*'align' .*above 0"),
    ],
    ids=lambda part: "" if isinstance(part, str) else type(part).__name__,
)
def test_settings_that_cannot_be(model, message):
    with pytest.raises(ParameterError, match=message):
        model.fit(TRAIN)

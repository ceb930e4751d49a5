"""Rules short enough to read: the search before training, and shortening after it."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from fuzzymil import (
    ANFISRegressor,
    MIANFISClassifier,
    MIANFISRegressor,
    RuleBase,
    RuleClassifier,
    RuleRegressor,
    Training,
    load_model,
)
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import fit_together
from fuzzymil.inference.segments import pack
from fuzzymil.learn.train import Group, Plan
from fuzzymil.learn.train.partition import _conjunction, _pair_scores, _scores, short_rules
from fuzzymil.learn.train.trainer import cut, schedule, worth


def padded(seed, n_noise=50):
    """Two-concept bags whose first two features matter among others that do not."""
    bags = make_two_concepts(random_state=seed)
    rng = np.random.RandomState(seed)
    return bags.map_instances(lambda x: np.column_stack([x, rng.uniform(0, 2, size=(len(x), n_noise))]))


# ---------------------------------------------------------------------- the search


@pytest.mark.slow
def test_two_features_among_fifty_two_are_found_and_make_short_rules():
    bags, unseen = padded(0), padded(1000)
    model = MIANFISClassifier(max_conditions=2, alpha=5, init="search", random_state=0).fit(bags)
    positive = [rule for rule in model.rules_.rules if rule.coefs[0][0] > 0.5]
    assert {frozenset(rule.antecedent) for rule in positive} == {frozenset({"x1", "x2"})}
    assert model.rules_.n_rules <= 4
    assert accuracy_score(unseen.labels, model.predict(unseen)) > 0.9
    long = MIANFISClassifier(alpha=5, random_state=0).fit(bags)
    assert accuracy_score(unseen.labels, long.predict(unseen)) < 0.7


@pytest.mark.slow
def test_no_rule_is_longer_than_asked_and_the_last_has_no_condition():
    bags = padded(3, n_noise=4)
    for max_conditions in (1, 3):
        model = MIANFISClassifier(
            5, max_conditions=max_conditions, init="search", training=Training(max_epochs=10), random_state=0
        ).fit(bags)
        lengths = [len(rule.antecedent) for rule in model.rules_.rules]
        assert max(lengths) <= max_conditions
        assert lengths[-1] == 0
        assert min(lengths[:-1]) >= 1
        assert len(lengths) <= 5


def test_scores_of_pairs_are_those_of_their_products():
    rng = np.random.RandomState(0)
    mu, charge = rng.uniform(size=(40, 6)), rng.normal(size=(40, 2))
    pairs = _pair_scores(mu, charge)
    for p, q in itertools.product(range(6), repeat=2):
        truth = mu[:, p] if p == q else mu[:, p] * mu[:, q]
        gathered = [(charge[:, k] * truth).sum() for k in range(2)]
        noise = [(charge[:, k] ** 2 * truth**2).sum() for k in range(2)]
        assert pairs[p, q] == pytest.approx(np.sqrt(np.square(gathered).sum() / np.sum(noise)), rel=1e-9)
    np.testing.assert_allclose(np.diag(pairs), _scores(mu, charge))


def test_the_best_pair_wins_over_all_pairs_and_longer_rules_only_where_they_help():
    rng = np.random.RandomState(1)
    mu = rng.uniform(size=(300, 5))
    together = (mu[:, 1] > 0.6) & (mu[:, 4] > 0.6)
    charge = np.where(together, 1.0, -0.2)[:, None]
    found = _conjunction(mu, charge, 2, 1.0)
    assert sorted(found.features) == [1, 4]
    scores = _pair_scores(mu, charge)
    assert found.score == pytest.approx(scores.max())
    longer = _conjunction(mu, charge, 5, 1.0)
    assert longer.score >= found.score
    np.testing.assert_allclose(longer.truth, mu[:, longer.features].prod(axis=1))


@pytest.mark.slow
def test_pure_noise_gives_one_rule_and_the_one_for_all_bags():
    rng = np.random.RandomState(5)
    x, labels = rng.uniform(size=(300, 8)), rng.randint(2, size=(100, 1)).astype(float)
    counts = [
        len(
            short_rules(
                x, np.arange(0, 301, 3), rng.permutation(labels), np.ones(100), n_rules=8, max_conditions=2,
                rng=np.random.RandomState(seed),
            ).centers
        )
        for seed in range(6)
    ]  # fmt: skip
    assert np.median(counts) <= 3


def test_the_search_does_not_mind_units_missing_values_or_constant_features():
    rng = np.random.RandomState(2)
    x = rng.uniform(size=(300, 4))
    near = np.abs(x[:, :2] - 0.5).max(axis=1) < 0.25
    labels = near.reshape(-1, 3).any(axis=1)[:, None].astype(float)
    settings = {"n_rules": 3, "max_conditions": 2}
    offsets, weights = np.arange(0, 301, 3), np.ones(100)
    plain = short_rules(x, offsets, labels, weights, rng=np.random.RandomState(0), **settings)
    assert np.flatnonzero(plain.used[0]).tolist() == [0, 1]
    units = np.array([1e6, 1e-4, 1.0, 1.0])
    other = short_rules(x * units, offsets, labels, weights, rng=np.random.RandomState(0), **settings)
    np.testing.assert_array_equal(other.used, plain.used)
    np.testing.assert_allclose(other.centers, plain.centers * units, rtol=1e-5)
    np.testing.assert_allclose(other.widths, plain.widths * units, rtol=1e-5)
    gappy = np.column_stack(
        [np.where(rng.uniform(size=x.shape) < 0.05, np.nan, x), np.full(300, 7.0), np.full(300, np.nan)]
    )
    found = short_rules(gappy, offsets, labels, weights, rng=np.random.RandomState(0), **settings)
    assert np.flatnonzero(found.used[0]).tolist() == [0, 1]
    assert np.isfinite(found.centers).all()
    assert (found.widths > 0).all()


def test_great_bags_are_thinned_out_and_weights_count():
    rng = np.random.RandomState(3)
    x = rng.uniform(size=(9000, 3))
    sizes = np.array([4500] + [45] * 100)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    near = np.abs(x[:, :2] - 0.5).max(axis=1) < 0.02
    labels = np.add.reduceat(near, offsets[:-1])[:, None] > 0
    found = short_rules(x, offsets, labels.astype(float), np.ones(101), n_rules=2, max_conditions=2, rng=rng)
    assert found.used.shape == (2, 3)
    one_class = np.where(labels[:, 0], 1.0, 0.0)  # only positive bags count: nothing is left to explain
    alone = short_rules(x, offsets, labels.astype(float), one_class, n_rules=4, max_conditions=2, rng=rng)
    assert len(alone.centers) <= 4


@pytest.mark.slow
def test_short_rules_for_numbers_several_outputs_committees_and_plain_rows():
    bags = padded(4, n_noise=3)
    distance = np.array([np.abs(bag[:, :2] - 0.5).max(axis=1).min() for bag in bags])
    model = RuleRegressor(4, max_conditions=2, random_state=0).fit(bags, distance)
    assert model.score(bags, distance) > 0.2
    both = MIANFISRegressor(4, max_conditions=2, init="search", training=Training(max_epochs=20), random_state=0).fit(
        bags, np.column_stack([distance, -distance])
    )
    assert both.predict(bags).shape == (len(bags), 2)
    committee = MIANFISClassifier(
        5, max_conditions=2, n_estimators=3, init="search", training=Training(max_epochs=10), random_state=0
    ).fit(bags)
    assert len({member.n_rules for member in committee.members_}) == 1
    rows = np.random.RandomState(0).uniform(size=(200, 5))
    plain = ANFISRegressor(6, max_conditions=2, init="search", random_state=0).fit(rows, rows[:, 1] * rows[:, 3])
    assert plain.score(rows, rows[:, 1] * rows[:, 3]) > 0.5


def test_searching_needs_to_know_how_short():
    with pytest.raises(ParameterError, match="max_conditions"):
        MIANFISClassifier(init="search").fit(padded(0, 1))
    with pytest.raises(ParameterError, match="max_conditions must be a whole number of at least 1"):
        RuleClassifier(max_conditions=0).fit(padded(0, 1))


# ---------------------------------------------------------------------- shortening


@pytest.mark.slow
def test_what_a_condition_is_worth_is_the_rise_of_the_loss_without_it():
    bags = padded(6, n_noise=2)
    model = MIANFISClassifier(
        3, training=Training(max_epochs=20, standardize=False, clip=None, precision="double"), random_state=0
    ).fit(bags)
    rules = model.rules_
    params, masks, operators = rules.compile()
    packed = pack(bags.instances, bags.offsets, np.float64)
    targets = np.asarray(bags.labels, float)[:, None]
    weights = np.random.RandomState(0).uniform(0.5, 1.5, size=(1, len(bags)))
    group = Group(starts=[params], masks=[masks], bags=packed, targets=targets, weights=weights, seeds=[0])
    found = worth(group, 0, params, Plan(operators))

    def loss(rules):
        error = np.square(rules.infer(bags).output - targets)[:, 0]
        return (weights[0] * error).sum() / weights.sum()

    for r, d in itertools.product(range(3), range(4)):
        shorter = rules.edit(without={r + 1: [f"x{d + 1}"]})
        assert found[r, d] == pytest.approx(loss(shorter) - loss(rules), rel=1e-7, abs=1e-12)


def test_cuts_keep_the_conditions_that_are_worth_most():
    masks = {"gaussian": np.array([[1.0, 1, 1, 0]]), "bell": np.array([[0.0, 0, 0, 1]])}
    shorter = cut(masks, np.array([[0.1, 0.3, -0.2, 0.2]]), 2)
    assert shorter["gaussian"].tolist() == [[0, 1, 0, 0]]
    assert shorter["bell"].tolist() == [[0, 0, 0, 1]]
    already = cut({"gaussian": np.array([[1.0, 0, 0]])}, np.array([[0.0, 9.0, 9.0]]), 2)
    assert already["gaussian"].tolist() == [[1, 0, 0]]


@pytest.mark.parametrize(("n", "most", "stops"), [(166, 10, [83, 41, 20, 10]), (3, 3, []), (3, 2, [2]), (9, None, [])])
def test_rules_are_halved_step_by_step(n, most, stops):
    assert schedule(n, most) == stops


@pytest.mark.slow
def test_long_rules_are_trained_shortened_and_trained_again():
    bags = padded(7, n_noise=4)
    model = MIANFISClassifier(6, max_conditions=2, training=Training(max_epochs=40), random_state=0).fit(bags)
    assert {len(rule.antecedent) for rule in model.rules_.rules} == {2}
    assert len(model.history_["loss"]) == 40 + 2 * 20
    assert model.n_iter_ == 80
    (together,) = fit_together(
        [MIANFISClassifier(6, max_conditions=2, training=Training(max_epochs=40), random_state=0)], [bags]
    )
    np.testing.assert_allclose(together.decision_function(bags), model.decision_function(bags), rtol=1e-6)


@pytest.mark.slow
def test_given_rules_are_shortened_too_and_a_short_model_is_saved(tmp_path):
    bags = padded(8, n_noise=1)
    given = RuleBase.from_arrays(
        [[0.5, 0.5, 1.0], [1.5, 1.5, 1.0], [0.5, 1.5, 1.0]], np.full((3, 3), 0.4), [1, 1, 0],
        feature_names=["across", "up", "noise"],
    )  # fmt: skip
    model = MIANFISClassifier(init=given, max_conditions=2, training=Training(max_epochs=30), random_state=0).fit(bags)
    assert all(len(rule.antecedent) == 2 for rule in model.rules_.rules)
    model.save(tmp_path / "short.json")
    loaded = load_model(tmp_path / "short.json")
    np.testing.assert_array_equal(loaded.decision_function(bags), model.decision_function(bags))
    assert loaded.max_conditions == 2


@pytest.mark.slow
def test_rules_with_or_and_not_cannot_be_shortened():
    rules = RuleBase.parse(
        "VARIABLE x1: low = Gaussian(0.5, 0.3)\nVARIABLE x2: low = Gaussian(0.5, 0.3)\n"
        "IF x1 is low OR x2 is low THEN y = 1\nIF x1 is not low THEN y = 0"
    )
    bags = make_two_concepts(random_state=0)
    with pytest.raises(ParameterError, match="plain conjunctions"):
        MIANFISClassifier(init=rules, max_conditions=1, random_state=0).fit(bags)
    MIANFISClassifier(init=rules, max_conditions=2, training=Training(max_epochs=1), random_state=0).fit(bags)

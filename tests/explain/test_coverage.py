"""Coverage: checked against loops, calibrated on held-out bags, and explained in words."""

import copy
import functools
import json
import math
import pickle

import numpy as np
import pytest

from fuzzymil import Bags, BagStream, MIANFISClassifier, MIANFISRegressor, MISugeno, RuleBase, Training
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.estimators.persistence import model_from_dict, model_to_dict
from fuzzymil.explain import Coverage, explain
from fuzzymil.explain.coverage import _of_bags, used_features

TAIL = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
LEVELS = (*TAIL, 0.5, *(round(1 - level, 3) for level in reversed(TAIL)))


def random_bags(n, rng, *, d=3, missing=0.0):
    """Bags of one to five instances: a normal feature, a skewed one, and small whole numbers."""
    bags = []
    for _ in range(n):
        size = rng.integers(1, 6)
        columns = [rng.normal(size=size), rng.exponential(size=size), rng.poisson(0.3, size=size)]
        bag = np.column_stack(columns[:d]).astype(float)
        bag[rng.random(bag.shape) < missing] = np.nan
        bags.append(bag)
    return Bags.from_list(bags)


# ---------------------------------------------------------------------- by loops


def loop_quantile(values, level):
    known = sorted(value for value in values if not math.isnan(value))
    for place, value in enumerate(known, start=1):
        if place >= level * len(known) - 1e-9:
            return value
    return math.nan


def loop_share(quantiles, levels, value):
    """The share of numbers up to a value, between the quantiles in proportion."""
    share = 0.0
    for k, quantile in enumerate(quantiles):
        if value >= quantile:
            share = levels[k]
            if k + 1 < len(levels) and value < quantiles[k + 1] and math.isfinite(quantile):
                share += (levels[k + 1] - levels[k]) * (value - quantile) / (quantiles[k + 1] - quantile)
    return share


def loop_typicality(training, value):
    if math.isnan(value) or all(map(math.isnan, training)):
        return 1.0
    quantiles = [loop_quantile(training, level) for level in LEVELS]
    low, high = quantiles[0], quantiles[-1]
    if value < low or value > high:
        away = low - value if value < low else value - high
        return -away / (high - low) if high > low else -math.inf
    at_most = loop_share(quantiles, LEVELS, value)
    at_least = loop_share([-q for q in reversed(quantiles)], LEVELS, -value)
    return min(at_most, at_least)


def loop_bag(others, bag):
    found = [loop_typicality([float(len(other)) for other in others], float(len(bag)))]
    for instance in bag:
        for d, value in enumerate(instance):
            found.append(loop_typicality([row[d] for other in others for row in other], value))
    return min(found)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_coverage_is_what_loops_compute(missing):
    rng = np.random.default_rng(0)
    training, new = random_bags(37, rng, missing=missing), random_bags(15, rng, missing=missing)
    new = Bags.from_list([*map(np.array, new), np.array([[0.0, 0.0, 9.0]]), np.zeros((12, 3))])
    known = Coverage.of(training, range(3))
    lists = [bag.tolist() for bag in training]
    own = [loop_bag([other for n, other in enumerate(lists) if n % 10 != b % 10], bag) for b, bag in enumerate(lists)]
    percents = [k / 100 for k in range(101)]
    reference = [loop_quantile(own, level) for level in percents]
    np.testing.assert_allclose(known.typicality, reference, rtol=1e-12, atol=1e-12)
    expected = [loop_share(reference, percents, loop_bag(lists, bag.tolist())) for bag in new]
    np.testing.assert_allclose(known.measure(new).coverage, expected, atol=1e-12)


def test_each_of_many_bags_is_compared_with_the_other_folds():
    bags = random_bags(300, np.random.default_rng(6), missing=0.1)
    own = []
    for fold in range(10):
        inside = np.arange(300) % 10 == fold
        others, some = Coverage.of(bags[~inside], range(3)), bags[inside]
        own.extend(_of_bags(others.quantiles, some.instances, some.sizes)[0])
    expected = [loop_quantile(own, k / 100) for k in range(101)]
    np.testing.assert_array_equal(Coverage.of(bags, range(3)).typicality, expected)


def test_features_are_sorted_a_few_at_a_time(monkeypatch):
    bags = random_bags(37, np.random.default_rng(4), missing=0.2)
    expected = Coverage.of(bags, [2, 0, 1])
    monkeypatch.setattr("fuzzymil.explain.coverage._AT_ONCE", 2 * bags.n_instances)
    found = Coverage.of(bags, [2, 0, 1])
    np.testing.assert_array_equal(found.quantiles, expected.quantiles)
    np.testing.assert_array_equal(found.typicality, expected.typicality)


def test_a_fitted_network_does_not_keep_its_training_bags_in_copies():
    """It makes its coverage when it is asked for it, of the bags as they were, and before it is pickled or copied."""
    bags = random_bags(12, np.random.default_rng(5))
    values, labels = np.array(bags.instances), np.arange(12) % 2
    model = MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0)
    expected = Coverage.of(bags, range(3)).to_dict()
    model.fit(Bags(values, bags.offsets), labels)
    model.predict_proba(bags), model.predict(bags)  # nobody asks for it
    values[:] = 0.0
    assert callable(vars(model)["_coverage"][0])
    for other in (pickle.loads(pickle.dumps(model)), copy.copy(model), model):
        assert isinstance(vars(other)["_coverage"][0], Coverage)
        assert other.coverage_.to_dict() == expected


def test_of_many_values_a_network_makes_its_coverage_at_once(monkeypatch):
    monkeypatch.setattr("fuzzymil.estimators.mianfis._FEW_VALUES", 10)
    bags = random_bags(12, np.random.default_rng(5))
    model = MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0).fit(bags, np.arange(12) % 2)
    assert isinstance(vars(model)["_coverage"][0], Coverage)


def test_new_bags_of_the_same_kind_are_covered_evenly():
    rng = np.random.default_rng(1)
    found = np.concatenate(
        [Coverage.of(random_bags(150, rng), range(3)).measure(random_bags(150, rng)).coverage for _ in range(8)]
    )
    distance = np.abs(np.sort(found) - np.linspace(0, 1, len(found))).max()  # Kolmogorov and Smirnov
    assert distance < 0.1  # ties among whole numbers make steps
    assert 0.02 < (found < 0.05).mean() < 0.09


def test_many_features_leave_new_bags_covered():
    """With 200 features nearly every new bag is beyond the range of one; compared with itself no training bag is."""
    rng = np.random.default_rng(2)
    bags = Bags.from_list([rng.normal(size=(4, 200)) for _ in range(120)])
    found = Coverage.of(bags[:60], range(200)).measure(bags[60:])
    assert (found.share == 0).mean() > 0.5
    assert (found.coverage < 0.05).mean() < 0.15
    assert 0.3 < np.median(found.coverage) < 0.7


# ---------------------------------------------------------------------- what is unusual


RNG = np.random.default_rng(3)
KNOWN = random_bags(200, RNG)
USUAL = np.array([[0.0, 0.5, 0.0], [0.1, 0.7, 0.0]])


def unusual(bag):
    rules = RuleBase.from_arrays(
        [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0]], np.ones((2, 3)), [0, 1], feature_names=["height", "delay", "count"]
    )
    return explain(rules, [bag], coverage=Coverage.of(KNOWN, range(3)))


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [(1, 0, -30.0, "below"), (0, 1, 1e9, "above"), (1, 2, 40.0, "above")],
)
def test_a_value_beyond_the_training_range_is_named(row, column, value, words):
    bag = USUAL.copy()
    bag[row, column] = value
    found = unusual(bag)
    assert found.coverage == 0
    said = found.unusual
    name = ["height", "delay", "count"][column]
    assert (said.instance, said.feature, said.value, said.share) == (row, name, value, 0)
    assert said.limits == (KNOWN.instances[:, column].min(), KNOWN.instances[:, column].max())
    line = next(line for line in str(found).splitlines() if line.startswith("Coverage 0.00"))
    assert f"{name} = " in line
    assert f"instance {row}" in line
    assert words in line


def test_an_unusual_value_inside_the_range_is_compared_with_the_training_values():
    bag = USUAL.copy()
    bag[0, 0] = np.sort(KNOWN.instances[:, 0])[1]  # the second least of all values
    found = unusual(bag)
    assert found.coverage < 0.05
    assert found.unusual.high is False
    assert found.unusual.share == pytest.approx(2 / KNOWN.n_instances, abs=2e-3)
    assert "at least as low" in str(found)


def test_an_unusual_number_of_instances_is_named():
    found = unusual(np.repeat(USUAL, 50, axis=0))
    assert (found.coverage, found.unusual.instance, found.unusual.feature) == (0, None, None)
    assert "100 instances" in str(found)
    assert "1 to 5" in str(found)


def test_a_usual_bag_is_not_called_unlike_the_others():
    found = unusual(USUAL)
    assert found.coverage > 0.3
    assert f"Coverage {found.coverage:.2f}.\n" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["unusual"]["text"] == str(found.unusual)


def test_missing_values_and_unused_features_do_not_count():
    known = Coverage.of(KNOWN, [1])
    far = np.array([[1e9, 0.5, 1e9], [np.nan, np.nan, np.nan]])
    near = np.array([[0.0, 0.5, 0.0], [0.0, 0.5, 0.0]])
    assert known.measure(Bags.from_list([far])).coverage == known.measure(Bags.from_list([near])).coverage
    nothing = Coverage.of(KNOWN, []).measure(Bags.from_list([far]))
    assert (nothing.column.tolist(), nothing.value.tolist()) == ([-1], [2.0])


def test_the_order_of_instances_and_bags_does_not_matter():
    known, bags = Coverage.of(KNOWN, range(3)), random_bags(20, np.random.default_rng(4))
    whole = known.measure(bags).coverage
    turned = Bags.from_list([bag[::-1] for bag in bags])[::-1]
    np.testing.assert_array_equal(known.measure(turned).coverage, whole[::-1])


def test_bags_measured_in_parts_are_measured_alike(monkeypatch):
    known, bags = Coverage.of(KNOWN, range(3)), random_bags(20, np.random.default_rng(5))
    whole = known.measure(bags)
    monkeypatch.setattr("fuzzymil.explain.coverage._AT_ONCE", 5)
    for one, other in zip(known.measure(bags), whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_value_that_never_varied_is_far_from_any_other():
    known = Coverage.of(Bags.from_list([[[1.0]], [[1.0]], [[1.0]]]), [0])
    assert known.measure(Bags.from_list([[[1.0]], [[1.0 + 1e-9]], [[np.nan]]])).coverage.tolist() == [1.0, 0.0, 1.0]


# ---------------------------------------------------------------------- fitted models


CONCEPTS = make_two_concepts(n_per_concept=10, n_negative=10, random_state=3)
QUICK = {"n_rules": 2, "max_epochs": 2, "random_state": 0}


@functools.cache
def fitted(**settings):
    return MIANFISClassifier(**network_parameters(**QUICK | settings)).fit(CONCEPTS)


def test_predictions_and_explanations_agree():
    model = fitted()
    far = Bags.from_list([CONCEPTS[0], CONCEPTS[1] + 100])
    coverage = model.predictions(far).coverage
    assert coverage[0] > coverage[1] == 0
    assert [each.coverage for each in model.explain_many(far)] == coverage.tolist()
    assert model.explain(far, position=0).coverage == coverage[0]


def test_only_features_that_some_member_uses_count():
    model = fitted(max_conditions=1, init="kmeans", n_estimators=2)
    used = {name for base in model.members_ for rule in base.rules for name in rule.antecedent}
    assert [f"x{d + 1}" for d in model.coverage_.columns] == sorted(used)
    slope = RuleBase.parse(
        "VARIABLE a: low = Gaussian(0, 1) VARIABLE b: low = Gaussian(0, 1) IF a is low THEN y = 1 + 2 * b"
    )
    assert used_features([slope]) == [0, 1]


def test_coverage_is_saved_with_the_model():
    model = fitted()
    document = json.loads(json.dumps(model_to_dict(model)))
    far = Bags.from_list([CONCEPTS[0], CONCEPTS[1] + 100])
    assert model_from_dict(document).predictions(far).coverage.tolist() == model.predictions(far).coverage.tolist()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content.update(columns=[0, 7]),
        lambda content: content.update(columns=[-1, 0]),
        lambda content: content["quantiles"].pop(),
        lambda content: content["quantiles"][1].reverse(),
        lambda content: content["typicality"].pop(),
        lambda content: content["typicality"].reverse(),
        lambda content: content["typicality"].__setitem__(3, None),
    ],
)
def test_a_damaged_coverage_is_an_error(damage):
    document = json.loads(json.dumps(model_to_dict(fitted())))
    damage(document["coverage"])
    with pytest.raises(ModelFileError, match="damaged"):
        model_from_dict(document)


def test_infinities_and_unknown_features_survive_saving():
    never = Bags.from_list([[[1.0, np.nan]], [[1.0, np.nan]], [[2.0, np.nan]]])
    known = Coverage.of(never, [0, 1])
    assert np.isneginf(known.typicality).any()
    again = Coverage.from_dict(json.loads(json.dumps(known.to_dict())))
    new = Bags.from_list([[[1.0, 3.0]], [[2.5, 0.0]]])
    for one, other in zip(known.measure(new), again.measure(new), strict=True):
        np.testing.assert_array_equal(one, other)


def test_part_of_the_data_does_not_change_what_is_usual():
    model = copy.deepcopy(fitted())
    before = model.coverage_
    model.partial_fit(CONCEPTS[:3])
    assert model.coverage_ is before
    first = MIANFISClassifier(**network_parameters(**QUICK)).partial_fit(CONCEPTS)
    assert first.coverage_.typicality.tolist() == before.typicality.tolist()
    assert model.fit(CONCEPTS[::2]).coverage_ is not before


def test_other_rules_keep_the_coverage_of_the_model():
    model = fitted()
    edited = model.with_rules(model.rules_.edit(conclusions={1: 0.0}))
    assert edited.predictions(CONCEPTS).coverage.tolist() == model.predictions(CONCEPTS).coverage.tolist()


def test_a_stream_is_covered_like_its_bags():
    stream = BagStream(lambda part: CONCEPTS[part * 15 : (part + 1) * 15], 2)
    model = MIANFISClassifier(**network_parameters(**QUICK)).fit(stream)
    assert model.predictions(stream).coverage.tolist() == model.predictions(CONCEPTS).coverage.tolist()
    assert fitted().coverage_.typicality.tolist() == model.coverage_.typicality.tolist()


def test_rules_that_were_not_learned_have_no_coverage():
    rules = MISugeno(rules="VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1").fit([[[0.6]]])
    assert rules.predictions([[[0.6]]]).coverage is None
    found = rules.explain([[[0.6]]])
    assert (found.coverage, found.unusual) == (None, None)
    assert "Coverage" not in str(found)
    assert found.to_dict()["coverage"] is None


def test_a_regressor_and_single_instances_have_coverage():
    numbers = np.array([bag.max() for bag in CONCEPTS])
    model = MIANFISRegressor(**network_parameters(**QUICK)).fit(CONCEPTS, numbers)
    assert model.predictions(CONCEPTS).coverage.shape == (30,)
    assert model.instance_scores(CONCEPTS).shape == (CONCEPTS.n_instances,)

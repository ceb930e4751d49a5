"""Prototypes: what they ask, and when rules have them."""

import numpy as np
import pytest

from fuzzymil import Bags, RuleClassifier, RuleRegressor, load_model
from fuzzymil._utils.errors import ParameterError
from fuzzymil.learn.choose.candidates import MissingValues
from fuzzymil.learn.choose.choose import AdditiveRules, rule_base
from fuzzymil.learn.choose.prototypes import is_prototype, origin, prototype_truths, prototypes
from fuzzymil.learn.train.scaling import Measures, Scaling


def random_bags(n_bags=12, n_features=6, seed=0, missing=0.0):
    rng = np.random.RandomState(seed)
    bags = [rng.standard_t(2, size=(rng.randint(1, 6), n_features)) for _ in range(n_bags)]
    for bag in bags:
        bag[rng.rand(*bag.shape) < missing] = np.nan
    return Bags.from_list(bags)


def scaling_of(bags):
    return Scaling.fit(Measures.of(bags.instances), standardize=True, clip=3.0)


def shifted_bags(n_bags=120, n_features=12, seed=0):
    """Return bags; positive ones have an instance that is a little greater in every feature."""
    rng = np.random.RandomState(seed)
    bags, labels = [], np.arange(n_bags) % 2
    for label in labels:
        bag = rng.normal(size=(rng.randint(3, 6), n_features))
        bag[0] += 1.0 * label
        bags.append(bag)
    return Bags.from_list(bags, labels=labels)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_columns_are_what_the_premises_say_one_instance_at_a_time(missing):
    bags = random_bags(missing=missing)
    stands_for = np.vstack([np.nanmedian(bags.instances, axis=0), np.nanmean(bags.instances, axis=0)])
    means, scaling = MissingValues(stands_for if missing else None), scaling_of(bags)
    found = prototypes(bags, scaling, means)
    numbers = [0, 1, found.columns.shape[1] - 1]
    assert np.abs(np.nanmax(bags.instances, axis=0) - scaling.ranges[:, 1]).max() > 1  # outliers count less
    for number in numbers:
        ((quantifier, _, conditions),) = found.premise(number)
        truths = []
        for bag in bags:
            each = []
            for instance in bag:
                truth = 1.0
                for feature, (gaussian,), _ in conditions:
                    low, high = scaling.ranges[feature]
                    known = not np.isnan(instance[feature])
                    values = [instance[feature]] if known else stands_for[:, feature]
                    truth *= np.mean([gaussian(min(max(value, low), high)) for value in values])
                each.append(truth)
            truths.append(max(each) if quantifier == "some" else np.mean(each))
        np.testing.assert_allclose(found.columns[:, number], truths, rtol=2e-6)
    premises = [found.premise(number) for number in numbers]
    again = prototype_truths(premises, bags, scaling.ranges, means)
    np.testing.assert_allclose(again, found.columns[:, numbers], rtol=2e-6)


def test_the_rule_base_says_the_same_and_names_the_instance():
    bags = random_bags()
    scaling = scaling_of(bags)
    found = prototypes(bags, scaling)
    last = found.columns.shape[1] - 1
    premises = (found.premise(3), found.premise(last))
    sums = AdditiveRules(premises, np.array([[2.0], [3.0]]), np.array([0.5]))
    rules = rule_base(sums, scaling, bags.columns or _columns(bags), ["y"], bags=bags)
    expected = 0.5 + found.columns[:, [3, last]] @ [2.0, 3.0]
    np.testing.assert_allclose(rules.infer(bags).output[:, 0], expected, rtol=1e-5)
    assert rules.rules[1].conditions[0].term == "prototype2"
    bag, instance = origin(premises[1], bags, scaling.ranges)
    assert rules.rules[1].comment == f"like instance {instance} of bag {bags.ids[bag]}"
    assert is_prototype(premises[0])


def _columns(bags):
    from fuzzymil.bags import Column, Columns

    return Columns(map(Column, bags.names))


def test_few_features_have_no_prototypes():
    bags = random_bags(n_features=3)
    assert prototypes(bags, scaling_of(bags)) is None


def test_prototypes_are_used_where_short_rules_are_clearly_worse_and_only_if_they_may(tmp_path):
    bags, unseen = shifted_bags(), shifted_bags(seed=1)
    model = RuleClassifier(random_state=0).fit(bags)
    point = model.frontier_[model.frontier_.chosen]
    assert point.n_prototypes > 0
    assert "prototypes" in model.frontier_.evidence
    assert f"{point.n_rules} ({point.n_prototypes} prototypes)" in str(model.frontier_)
    short = model.at(50)
    assert not short.frontier_[short.frontier_.chosen].n_prototypes
    assert model.score(unseen, unseen.labels) > short.score(unseen, unseen.labels)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert [each.n_prototypes for each in again.frontier_] == [each.n_prototypes for each in model.frontier_]
    assert np.array_equal(again.decision_function(unseen), model.decision_function(unseen))
    for settings in ({"prototypes": False}, {"max_conditions": 3}, {"max_rules": 20}):
        fitted = RuleClassifier(random_state=0, **settings).fit(bags)
        assert not any(each.n_prototypes for each in fitted.frontier_)
    with pytest.raises(ParameterError, match="prototypes"):
        RuleClassifier(prototypes="always").fit(bags)


def test_numbers_are_explained_by_prototypes_too():
    bags = shifted_bags()
    targets = np.array([bag.mean(axis=1).max() for bag in bags])
    model = RuleRegressor(random_state=0).fit(bags, targets)
    assert model.frontier_[model.frontier_.chosen].n_prototypes
    assert model.score(bags, targets) > 0.8

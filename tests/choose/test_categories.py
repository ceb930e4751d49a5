"""Rules about categories: chosen, converted and inferred alike."""

import numpy as np
import pytest

from fuzzymil import Bags, InputError, MIANFISClassifier, NaiveMIL, RuleClassifier, Training
from fuzzymil.bags import Column, Columns
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose.candidates import (
    Condition,
    MissingValues,
    MovableConditions,
    Part,
    category_conditions,
    category_premises,
    premise_truths,
)
from fuzzymil.learn.choose.choose import AdditiveRules, rule_base
from fuzzymil.learn.train.scaling import Measures, Scaling
from fuzzymil.rules.rule import crisp_set

PHONE = crisp_set(2)
COLUMNS = Columns([Column("pages"), Column("channel", "category", ("email", "fax", "phone", "web"))])


def bags(seed=0, n_bags=60, missing=0.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_bags)
    instances = np.column_stack([rng.normal(5, 2, sizes.sum()), rng.integers(0, 4, sizes.sum())]).astype(float)
    instances[rng.random(instances.shape) < missing] = np.nan
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), columns=COLUMNS)


def test_premises_agree_with_the_rules_they_become():
    many = Condition(0, (Sigmoid(5.0, 1.5),))
    asked = [Condition(1, (PHONE,)), Condition(1, (crisp_set(0), crisp_set(3))), Condition(1, (crisp_set(1),), True)]
    premises = [(Part("some", None, (each,)),) for each in asked]
    premises += [(Part("some", None, (many, each)),) for each in asked]
    premises += [
        (Part("at least", 2, (asked[0],)),),
        (Part("on average", None, (asked[1],)),),
    ]
    for data in (bags(), bags(1, missing=0.2)):
        truth = premise_truths(premises, data)
        scaling = Scaling.fit(Measures.of(data.instances), standardize=True, clip=None)
        coefs = np.eye(len(premises))
        outputs = [f"y{n}" for n in range(len(premises))]
        rules = rule_base(AdditiveRules(tuple(premises), coefs, np.zeros(len(premises))), scaling, COLUMNS, outputs)
        np.testing.assert_allclose(rules.infer(data).output, truth, atol=1e-9)
        assert rules == type(rules).parse(rules.to_source())


@pytest.mark.parametrize("count", [1, 5])
def test_missing_categories_are_what_they_stand_for(count):
    data = bags(1, missing=0.3)
    values = np.random.default_rng(0).integers(0, 4, (count, 2)).astype(float)
    missing = MissingValues(values, True)
    columns, premises = category_premises(data, (1, 2), average=True, missing=missing)
    np.testing.assert_allclose(columns, premise_truths(premises, data, missing), atol=1e-12)
    scaling = Scaling.fit(Measures.of(data.instances), standardize=True, clip=None)
    found = AdditiveRules(tuple(premises), np.arange(len(premises), 0, -1.0)[:, None], np.zeros(1))
    rules = rule_base(found, scaling, COLUMNS, ["y"], values)
    np.testing.assert_allclose(rules.infer(data).firing, columns, atol=1e-9)


def test_sets_of_categories_do_not_move():
    premise = (Part("some", None, (Condition(0, (Sigmoid(5.0, 1.5),)), Condition(1, (PHONE,)))),)
    found = MovableConditions([premise], bags())
    truth, pullback = found.evaluate(np.zeros(found.n_moves))
    moved = found.moved(np.ones(found.n_moves))
    assert moved[0][0].conditions[1] == premise[0].conditions[1]
    assert moved[0][0].conditions[0] != premise[0].conditions[0]
    assert np.isfinite(pullback(np.ones_like(truth))).all()
    assert found.n_moves == 2  # center and slope of the other condition


def test_columns_of_candidates_are_the_truths_of_their_premises():
    data = bags(2, missing=0.1)
    columns, premises = category_premises(data, (1, 2), average=True)
    np.testing.assert_allclose(columns, premise_truths(premises, data))
    assert len(category_conditions(data)) == 4 + 4 + 6  # is, is not, one of two


def labeled(seed):
    data = bags(seed, 150)
    hit = (data.instances[:, 0] > 5) & (data.instances[:, 1] == 2)
    return data, np.where(np.add.reduceat(hit, data.offsets[:-1]) > 0, "yes", "no")


def test_a_planted_category_is_found():
    data, labels = labeled(3)
    model = RuleClassifier(random_state=0).fit(data, labels)
    assert "channel is phone" in str(model.rules_)
    assert model.score(*labeled(4)) > 0.95
    assert model.columns_ == COLUMNS
    assert model.rules_.variables[1].categories == COLUMNS[1].categories


def test_other_methods_see_indicators_and_training_says_so():
    data, labels = labeled(3)
    assert EmbeddingForest(random_state=0).fit(data, labels).score(data, labels) > 0.9
    from sklearn.linear_model import LogisticRegression

    naive = NaiveMIL(LogisticRegression()).fit(data, labels)
    assert naive.estimator_.n_features_in_ == 5
    with pytest.raises(InputError, match=r"'channel' has categories.*with_indicators"):
        MIANFISClassifier(training=Training(max_epochs=2)).fit(data, labels)
    indicators = data.with_indicators()
    assert MIANFISClassifier(n_rules=2, training=Training(max_epochs=2)).fit(indicators, labels).n_features_in_ == 5

"""Rules about categories: chosen, converted and inferred alike."""

import numpy as np
import pytest

from fuzzymil import Bags, InputError, MIANFISClassifier, NaiveMIL, RuleClassifier, Training
from fuzzymil.bags import Column, Columns
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose._categories import crisp_conditions, crisp_statements
from fuzzymil.learn.choose._conversion import rule_base
from fuzzymil.learn.choose._premises import Condition, OneOf, Part, Statements
from fuzzymil.learn.choose._selection import Chosen
from fuzzymil.learn.train.scaling import Measures, Scaling

COLUMNS = Columns([Column("pages"), Column("channel", "category", ("email", "fax", "phone", "web"))])


def bags(seed=0, n_bags=60, missing=0.0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 6, n_bags)
    instances = np.column_stack([rng.normal(5, 2, sizes.sum()), rng.integers(0, 4, sizes.sum())]).astype(float)
    instances[rng.random(instances.shape) < missing] = np.nan
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), columns=COLUMNS)


def test_statements_agree_with_the_rules_they_become():
    many = Condition(0, Sigmoid(5.0, 1.5))
    sets = [OneOf((2,)), OneOf((0, 3)), OneOf((1,), negated=True)]
    premises = [(Part("some", None, (Condition(1, chosen),)),) for chosen in sets]
    premises += [(Part("some", None, (many, Condition(1, chosen))),) for chosen in sets]
    premises += [
        (Part("at least", 2, (Condition(1, sets[0]),)),),
        (Part("on average", None, (Condition(1, sets[1]),)),),
    ]
    for data in (bags(), bags(1, missing=0.2)):
        truth = Statements(premises, data).columns()
        scaling = Scaling.fit(Measures.of(data.instances), standardize=True, clip=None)
        coefs = np.eye(len(premises))
        outputs = [f"y{n}" for n in range(len(premises))]
        rules = rule_base(
            Chosen(tuple(premises), coefs, np.zeros(len(premises))), scaling, COLUMNS, np.arange(1), outputs
        )
        np.testing.assert_allclose(rules.infer(data).output, truth, atol=1e-9)
        assert rules == type(rules).parse(rules.to_source())


def test_sets_of_categories_do_not_move():
    premise = (Part("some", None, (Condition(0, Sigmoid(5.0, 1.5)), Condition(1, OneOf((2,))))),)
    found = Statements([premise], bags())
    truth, pullback = found.evaluate(np.zeros(found.n_moves))
    moved = found.moved(np.ones(found.n_moves))
    assert moved[0][0].conditions[1] == premise[0].conditions[1]
    assert moved[0][0].conditions[0] != premise[0].conditions[0]
    assert np.isfinite(pullback(np.ones_like(truth))).all()
    assert pullback(np.ones_like(truth)).reshape(3, -1)[:, 1].tolist() == [0, 0, 0]


def test_columns_of_candidates_are_those_of_the_statements():
    data = bags(2, missing=0.1)
    columns, premises = crisp_statements(data, (1, 2), average=True)
    np.testing.assert_allclose(columns, Statements(premises, data).columns())
    sets = [condition.set for condition in crisp_conditions(data)]
    assert len(sets) == 4 + 4 + 6  # is, is not, one of two


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

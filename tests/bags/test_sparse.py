"""Sparse features: bags of sentences."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.pipeline import make_pipeline

from fuzzymil import Bags, PerInstance, RuleClassifier, as_bags
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import _bags
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.learn.choose import informative_features

ROWS = sparse.random(60, 8, density=0.3, format="csr", random_state=0)
OFFSETS = np.arange(0, 61, 3)
LABELS = np.arange(20) % 2


def test_sparse_and_dense_bags_are_the_same_bags():
    dense, found = Bags(ROWS.toarray(), OFFSETS, labels=LABELS), Bags(ROWS, OFFSETS, labels=LABELS)
    assert found.sparse is not None
    for one, two in (
        (found[3], dense[3]),
        (found[[4, 1]].instances, dense[[4, 1]].instances),
        (list(found)[2], dense[2]),
    ):
        np.testing.assert_array_equal(one, two)
    assert found[[4, 1]].sparse is not None
    assert (found + found).sparse.shape == (120, 8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(found)).instances, dense.instances)
    np.testing.assert_array_equal(found.select_features([5, 2]).instances, dense.instances[:, [5, 2]])


def test_every_door_takes_sparse_rows():
    owners = np.repeat(np.arange(20)[::-1], 3)
    long = Bags.from_long(ROWS, owners)
    np.testing.assert_array_equal(long[0], ROWS[:3].toarray())
    assert Bags.from_list([ROWS[:2], ROWS[2:5].tocoo()]).sizes.tolist() == [2, 3]
    assert as_bags(ROWS).n_bags == 60
    assert as_bags((ROWS, owners)).n_bags == 20


def test_bad_numbers_are_named_and_too_many_refused(monkeypatch):
    bad = ROWS.copy()
    bad.data[0] = np.inf
    row = int(np.searchsorted(bad.indptr, 0, side="right")) - 1
    with pytest.raises(InputError, match=rf"'x{bad.indices[0] + 1}' of bag {row // 3}, row {row % 3} .*infinite"):
        Bags(bad, OFFSETS)
    monkeypatch.setenv("FUZZYMIL_MEMORY", "1kB")
    with pytest.raises(InputError, match=r"dense.*TruncatedSVD"):
        _ = Bags(ROWS, OFFSETS).instances


def documents(n_bags=80, n_words=60):
    rng = np.random.default_rng(0)
    labels = np.arange(n_bags) % 2
    x = (rng.random((3 * n_bags, n_words)) < 0.08) * rng.random((3 * n_bags, n_words))
    x[:, 7] = 0
    x[np.flatnonzero(labels) * 3 + 1, 7] = 0.5
    return Bags(sparse.csr_array(x), np.arange(0, 3 * n_bags + 1, 3), labels=labels)


def test_rules_are_chosen_from_features_that_matter_without_a_dense_array(monkeypatch):
    bags = documents()
    monkeypatch.setattr(_bags, "_AT_ONCE", 500)
    monkeypatch.setattr(Bags, "instances", property(_only_small(Bags.instances.fget)))
    model = RuleClassifier(random_state=0).fit(bags)
    assert model.n_features_in_ == 60
    assert {condition.variable for rule in model.rules_.rules for condition in rule.conditions} == {"x8"}
    assert model.score(bags, bags.labels) == 1.0
    assert model.predictions(bags).coverage.shape == (80,)


def _only_small(instances):
    def found(bags):
        assert bags.sparse is None or bags.n_instances * bags.n_features <= 540
        return instances(bags)

    return found


def test_the_clearest_features_come_first_and_then_the_most_common():
    bags = documents()
    chosen = informative_features(bags, bags.labels[:, None], np.ones(80), 3)
    assert 7 in chosen
    often = np.add.reduceat(bags.instances != 0, bags.offsets[:-1]).astype(bool).mean(axis=0)
    spread = often * (1 - often)
    assert set(chosen) - {7} <= set(np.argsort(-spread)[:4])


def test_sparse_bags_in_pipelines_and_comparators():
    bags = documents()
    model = make_pipeline(PerInstance(TruncatedSVD(5, random_state=0)), EmbeddingForest(20, random_state=0))
    assert model.fit(bags, bags.labels).predict(bags).shape == (80,)
    assert EmbeddingForest(20, random_state=0).fit(bags).score(bags) > 0.8

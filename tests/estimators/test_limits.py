"""What is too much, too small or too large is a sentence before any work is done."""

import numpy as np
import pytest

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import BagStream
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.inference import activations
from fuzzymil.rules.activations import infer_output

BAGS = make_two_concepts(10, 10, random_state=0)
QUICK = {"n_rules": 3, "init": "kmeans", "max_epochs": 5, "random_state": 0}


@pytest.mark.parametrize("factor", [1e-308, 1e-200, 1e200, 1e305])
@pytest.mark.parametrize("settings", [{}, QUICK], ids=["chosen", "trained"])
def test_features_beyond_what_can_be_squared(factor, settings):
    scaled = BAGS.map_instances(lambda x: x * [1.0, factor])
    says = f"Feature 'x2' is too {'small' if factor < 1 else 'large'} to compute with.*another unit"
    with pytest.raises(InputError, match=says):
        MIANFISClassifier(**network_parameters(**settings)).fit(scaled)


def test_features_beyond_what_can_be_squared_in_a_stream():
    stream = BagStream(lambda part: BAGS.map_instances(lambda x: x * 1e-308), 1)
    with pytest.raises(InputError, match="too small to compute with"):
        MIANFISClassifier(**network_parameters(batch_size=5, **QUICK)).fit(stream)


@pytest.mark.parametrize("factor", [1e-140, 1e140])
def test_features_that_can_just_be_squared_give_the_same_probabilities(factor):
    scaled = BAGS.map_instances(lambda x: x * factor)
    expected = MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS).predict_proba(BAGS)
    np.testing.assert_allclose(
        MIANFISClassifier(**network_parameters(**QUICK)).fit(scaled).predict_proba(scaled), expected, atol=1e-3
    )


def test_a_constant_however_small_is_no_feature_to_complain_about():
    with_constant = BAGS.map_instances(lambda x: np.column_stack([x, np.full(len(x), 1e-308)]))
    assert np.isfinite(
        MIANFISClassifier(**network_parameters(**QUICK)).fit(with_constant).predict_proba(with_constant)
    ).all()


def test_too_many_rules_or_outputs_to_train(monkeypatch):
    monkeypatch.setenv("FUZZYMIL_MEMORY", "50MB")
    with pytest.raises(ParameterError, match=r"1,000,000 rules on 30 bags.*only 50 MB.*FUZZYMIL_MEMORY.*n_rules"):
        MIANFISClassifier(**network_parameters(**QUICK | {"n_rules": 10**6})).fit(BAGS)
    targets = np.zeros((30, 100_000))
    targets[:10] = 1
    with pytest.raises(ParameterError, match=r"3 rules on 30 bags with 2 features and 100,000 outputs"):
        MIANFISRegressor(**network_parameters(order=1, **QUICK)).fit(BAGS, targets)
    MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS)


def test_inference_counts_outputs_when_it_cuts_chunks(monkeypatch):
    """Five thousand classes are inferred a few bags at a time."""
    rng = np.random.default_rng(0)
    rules = RuleBase.from_arrays(rng.normal(size=(3, 2)), np.ones((3, 2)), rng.normal(size=(3, 5000, 1)))
    seen = []

    def counted(*arguments, **settings):
        seen.append(arguments[-1] - arguments[-2])
        return infer_part(*arguments, **settings)

    infer_part = activations._infer_part
    monkeypatch.setattr(activations, "_infer_part", counted)
    monkeypatch.setattr(activations, "_CHUNK_VALUES", 1 << 17)
    bags = Bags(rng.normal(size=(100, 2)), np.arange(101))
    found = rules.infer(bags)
    assert max(seen) * 3 * 5000 <= 1 << 17
    np.testing.assert_array_equal(infer_output(rules, bags), found.output)
    monkeypatch.setattr(activations, "_CHUNK_VALUES", 1 << 23)
    np.testing.assert_allclose(rules.infer(bags).output, found.output, rtol=1e-12)


def test_activations_that_do_not_fit(monkeypatch):
    rules = RuleBase.from_arrays(np.zeros((3, 2)), np.ones((3, 2)), np.zeros((3, 5000, 1)))
    bags = Bags(np.zeros((200, 2)), np.arange(201))
    monkeypatch.setenv("FUZZYMIL_MEMORY", "30MB")
    with pytest.raises(InputError, match=r"3 rules with 5,000 outputs on 200 bags.*only 30 MB.*fewer bags at a time"):
        rules.infer(bags)
    assert infer_output(rules, bags).shape == (200, 5000)

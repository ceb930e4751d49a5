"""Labels of every kind, and what decisions and probabilities mean under each loss."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from small_fits import BAGS, CENTERS, NUMBERS, QUICK, WIDTHS, WORDS, Y, classifier, regressor

from fuzzymil import ANFISClassifier, NaiveMIL, RuleBase
from fuzzymil.estimators import network_parameters

# ---------------------------------------------------------------------- labels

LABELS = {
    "0/1": Y,
    "-1/+1": 2 * Y - 1,
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "words": np.where(Y, "rock", "mine"),
    "objects": np.where(Y, "rock", "a longer word").astype(object),
    "three words": WORDS,
    "gaps": np.select([WORDS == "concept1", WORDS == "concept2"], [-7, 40], 3),
    "uint8": Y.astype(np.uint8),
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind_go_in_and_come_back(labels, loss):
    model = classifier(loss=loss).fit(BAGS, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == labels.dtype
    predicted = model.predict(BAGS)
    assert predicted.dtype == labels.dtype
    assert set(predicted.tolist()) <= set(labels.tolist())
    np.testing.assert_array_equal(classifier(loss=loss).fit(BAGS, labels.tolist()).predict(BAGS), predicted)
    assert model.score(BAGS, labels) == np.mean(predicted == labels)
    outputs = 1 if len(model.classes_) == 2 else 3
    assert len(model.rules_.outputs) == outputs
    assert model.rules_.coefs.shape == (3, outputs, 1)


def test_the_kind_of_label_does_not_change_what_is_learned():
    expected = classifier().fit(BAGS, Y).decision_function(BAGS)
    for labels in (LABELS["-1/+1"], LABELS["bool"], np.where(Y, "b", "a")):
        np.testing.assert_array_equal(classifier().fit(BAGS, labels).decision_function(BAGS), expected)


@pytest.mark.parametrize(
    "estimator", [NaiveMIL(LogisticRegression()), NaiveMIL(ANFISClassifier(**network_parameters(**QUICK)))]
)
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_the_naive_way_takes_labels_of_any_kind(estimator, labels):
    model = clone(estimator).fit(BAGS, labels)
    predicted = model.predict(BAGS)
    assert set(predicted.tolist()) <= set(labels.tolist())
    proba = model.predict_proba(BAGS)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    if len(model.classes_) > 2:
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], predicted)


def test_outputs_are_named_after_the_classes():
    assert classifier().fit(BAGS, Y).rules_.output_names == ("y",)
    assert classifier().fit(BAGS, LABELS["words"]).rules_.output_names == ("rock",)
    assert classifier().fit(BAGS, WORDS).rules_.output_names == ("concept1", "concept2", "negative")
    assert len(classifier().fit(BAGS, LABELS["gaps"]).rules_.outputs) == 3


def test_regression_of_several_outputs():
    both = np.column_stack([NUMBERS, 100 - 50 * NUMBERS])
    model = regressor(max_epochs=40).fit(BAGS, both)
    predicted = model.predict(BAGS)
    assert predicted.shape == both.shape
    assert model.instance_scores(BAGS).shape == (BAGS.n_instances, 2)
    assert len(model.rules_.outputs) == 2
    # The second output is a line of the first, so what is learned of it is, too.
    np.testing.assert_allclose(predicted[:, 1], 100 - 50 * predicted[:, 0], rtol=1e-2, atol=0.5)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output, predicted, rtol=1e-12)
    one = regressor().fit(BAGS, NUMBERS[:, None])
    np.testing.assert_array_equal(one.predict(BAGS).ravel(), regressor().fit(BAGS, NUMBERS).predict(BAGS))


def test_regression_of_whole_numbers_returns_fractions():
    assert regressor().fit(BAGS, Y).predict(BAGS).dtype == np.float64


# ---------------------------------------------------------------------- losses


@pytest.mark.slow
@pytest.mark.parametrize("labels", [Y, WORDS], ids=["two", "three"])
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_decision_probability_and_prediction_agree(loss, labels):
    model = classifier(loss=loss, max_epochs=40).fit(BAGS, labels)
    decision, proba, predicted = model.decision_function(BAGS), model.predict_proba(BAGS), model.predict(BAGS)
    assert proba.shape == (len(BAGS), len(model.classes_))
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-14)
    chosen = np.searchsorted(model.classes_, predicted)
    if len(model.classes_) == 2:
        assert decision.shape == (len(BAGS),)
        np.testing.assert_array_equal(chosen, decision > 0)
        assert (np.diff(proba[np.argsort(decision), 1]) >= 0).all()
        if loss != "hinge":  # a fitted sigmoid need not cross one half at 0
            np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    else:
        assert decision.shape == proba.shape
        np.testing.assert_array_equal(chosen, decision.argmax(axis=1))
        if loss != "hinge":
            np.testing.assert_array_equal(proba[np.arange(len(BAGS)), chosen], proba.max(axis=1))
    assert len(np.unique(predicted)) > 1
    assert model.history_["loss"][-1] < model.history_["loss"][0]


def test_each_loss_reads_the_output_as_its_table_says():
    output = classifier().fit(BAGS, Y).rules_.infer(BAGS).output[:, 0]
    model = classifier().fit(BAGS, Y)
    np.testing.assert_allclose(model.decision_function(BAGS), output - 0.5, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], np.clip(output, 0, 1), rtol=1e-12)
    model = classifier(loss="cross_entropy").fit(BAGS, Y)
    logit = model.rules_.infer(BAGS).output[:, 0]
    np.testing.assert_allclose(model.decision_function(BAGS), logit, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], 1 / (1 + np.exp(-logit)), rtol=1e-12)
    model = classifier(loss="cross_entropy").fit(BAGS, WORDS)
    logits = np.exp(model.decision_function(BAGS))
    np.testing.assert_allclose(model.predict_proba(BAGS), logits / logits.sum(axis=1, keepdims=True), rtol=1e-12)


def test_outputs_beyond_all_classes_still_make_probabilities():
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, np.full((3, 3, 1), -4.0))
    model = classifier(init=rules, max_epochs=0).fit(BAGS, WORDS)
    np.testing.assert_allclose(model.predict_proba(BAGS), 1 / 3)


@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
@pytest.mark.parametrize("labels", [Y, WORDS], ids=["two", "three"])
def test_the_first_loss_of_the_history_is_that_of_the_initial_rules(loss, labels):
    model = classifier(loss=loss, max_epochs=1).fit(BAGS, labels)
    output = model.initial_rules_.infer(BAGS).output
    one_hot = labels[:, None] == (model.classes_[1:] if len(model.classes_) == 2 else model.classes_)
    if loss == "squared_error":
        expected = np.square(output - one_hot).sum(axis=1)
    elif loss == "hinge" and len(model.classes_) == 2:
        expected = np.maximum(0, 1 - output[:, 0] * np.where(one_hot[:, 0], 1, -1))
    elif loss == "hinge":
        expected = np.maximum(0, 1 + np.where(one_hot, -np.inf, output).max(axis=1) - output[one_hot])
    elif len(model.classes_) == 2:
        expected = np.log1p(np.exp(np.where(one_hot, -output, output)))[:, 0]
    else:
        expected = np.log(np.exp(output).sum(axis=1)) - output[one_hot]
    np.testing.assert_allclose(model.history_["loss"], expected.mean(), rtol=1e-5)

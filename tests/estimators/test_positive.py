"""Which of two classes rules are about: the name of their output, or ``pos_label=``, wherever the labels sort."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score

from fuzzymil import (
    ANFISClassifier,
    Bags,
    MIANFISClassifier,
    MIMamdani,
    MISugeno,
    RuleBase,
    RuleClassifier,
    Training,
    load_model,
)
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import make_two_concepts

MADE = make_two_concepts(20, 20, random_state=0)
BAGS = Bags(MADE.instances, MADE.offsets)
SICK = np.where(MADE.labels == 1, "diseased", "healthy")  # the positive class sorts first
EXPERT = """
VARIABLE x1: left = Gaussian(0.5, 0.2), right = Gaussian(1.5, 0.2)
VARIABLE x2: low = Gaussian(0.5, 0.2), high = Gaussian(1.5, 0.2)
IF x1 is left AND x2 is low THEN diseased = 1
IF x1 is right AND x2 is high THEN diseased = 1
IF anything THEN diseased = 0 WITH 0.5
"""
MAMDANI = "OUTPUT diseased FROM 0 TO 1: unlikely = Triangular(-1, 0, 1), likely = Triangular(0, 1, 2)"
MAMDANI += EXPERT.replace("diseased = 1", "diseased is likely").replace("diseased = 0", "diseased is unlikely")


def unnamed(text):
    return text.replace("diseased", "risk")


MODELS = {
    "Sugeno, by name": MISugeno(rules=EXPERT),
    "Sugeno, by parameter": MISugeno(rules=unnamed(EXPERT), pos_label="diseased"),
    "Mamdani, by name": MIMamdani(rules=MAMDANI),
    "Mamdani, by parameter": MIMamdani(rules=unnamed(MAMDANI), pos_label="diseased"),
    "trained, by name": MIANFISClassifier(init=RuleBase.parse(EXPERT), training=Training(max_epochs=5)),
    "trained, by name in a text": MIANFISClassifier(init=EXPERT, training=Training(max_epochs=5)),
    "trained, by parameter": MIANFISClassifier(
        init=RuleBase.parse(unnamed(EXPERT)), pos_label="diseased", training=Training(max_epochs=5)
    ),
    "chosen": RuleClassifier(pos_label="diseased", random_state=0),
    "k-means": MIANFISClassifier(4, pos_label="diseased", training=Training(max_epochs=30), random_state=0),
    "hinge": MIANFISClassifier(4, pos_label="diseased", training=Training(loss="hinge"), random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_rules_are_about_the_class_that_is_named(model, tmp_path):
    model = clone(model).fit(BAGS, SICK)
    assert model.classes_.tolist() == ["diseased", "healthy"]
    assert model.pos_label_ == "diseased"
    assert model.score(BAGS, SICK) > 0.9
    output = np.mean([each.infer(BAGS).output[:, 0] for each in getattr(model, "members_", [model.rules_])], axis=0)
    assert roc_auc_score(SICK == "diseased", output) > 0.95
    # As scikit-learn expects it: the second of the sorted classes is above 0, and has the second column.
    decision, likely = model.decision_function(BAGS), model.predict_proba(BAGS)
    assert ((decision > 0) == (model.predict(BAGS) == "healthy")).all()
    np.testing.assert_allclose(np.argsort(decision), np.argsort(-output))
    assert ((likely[:, 1] > 0.5) == (decision > 0)).all()
    np.testing.assert_array_equal(model.predictions(BAGS).probabilities, likely)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.pos_label_ == "diseased"
    np.testing.assert_allclose(again.predict_proba(BAGS), likely, rtol=1e-12)


def test_without_a_name_they_are_about_the_class_that_sorts_last():
    model = RuleClassifier(random_state=0).fit(BAGS, SICK)
    assert (model.pos_label_, model.rules_.output_names) == ("healthy", ("healthy",))
    about = RuleClassifier(random_state=0, pos_label="diseased").fit(BAGS, SICK)
    assert about.rules_.output_names == ("diseased",)
    np.testing.assert_array_equal(about.predict(BAGS), SICK)
    assert "diseased" not in model.rules_.to_text()


def test_numbers_are_classes_too():
    flipped = 1 - MADE.labels
    model = RuleClassifier(pos_label=0, random_state=0).fit(BAGS, flipped)
    assert (model.pos_label_, model.rules_.output_names) == (0, ("class_0",))
    assert model.score(BAGS, flipped) > 0.9
    named = MISugeno(rules=EXPERT.replace("diseased", "class_0")).fit(BAGS, flipped)
    assert named.pos_label_ == 0
    assert named.score(BAGS, flipped) > 0.9
    rows = [[0.0], [0.1], [0.9], [1.0]]
    by_row = ANFISClassifier(2, pos_label=0, training=Training(max_epochs=20), random_state=0).fit(rows, [0, 0, 1, 1])
    assert (by_row.pos_label_, by_row.predict(rows).tolist()) == (0, [0, 0, 1, 1])


def test_explanations_are_about_the_class_of_the_rules():
    model = MISugeno(rules=EXPERT).fit(BAGS, SICK)
    found = model.explain(BAGS, position=0)
    assert found.prediction == "diseased"
    assert found.classes == ("healthy", "diseased")
    text = str(found)
    assert re.search(r"Decision value \+0\.\d+ \(diseased above 0\)", text)
    assert found.probability[1] == pytest.approx(model.predict_proba(BAGS)[0, 0])


@pytest.mark.parametrize("name", ["Sugeno, by name", "trained, by parameter"])
def test_scikit_learn_scores_it_right(name):
    assert cross_val_score(MODELS[name], BAGS, SICK, scoring="roc_auc", cv=2).min() > 0.9
    assert cross_val_score(MODELS[name], BAGS, SICK, scoring="neg_log_loss", cv=2).min() > -0.6


def test_training_goes_on_about_the_same_class():
    model = MIANFISClassifier(init=RuleBase.parse(EXPERT), training=Training(max_epochs=3, warm_start=True)).fit(
        BAGS, SICK
    )
    model.set_params(pos_label=None).fit(BAGS, SICK)
    model.partial_fit(BAGS, SICK)
    assert model.pos_label_ == "diseased"
    assert model.score(BAGS, SICK) > 0.9
    edited = model.with_rules(model.rules_.edit(rename={"diseased": "risk"}))
    np.testing.assert_array_equal(edited.predict(BAGS), model.predict(BAGS))


@pytest.mark.parametrize(
    ("model", "labels", "facts"),
    [
        (MISugeno(rules=EXPERT, pos_label="healthy"), SICK, ["pos_label='healthy'", "named after the class diseased"]),
        (RuleClassifier(pos_label="sick"), SICK, ["diseased, healthy", "'sick'"]),
        (MISugeno(rules=unnamed(EXPERT), pos_label=1), SICK, ["diseased, healthy", "got 1"]),
        (RuleClassifier(pos_label=1), np.arange(60) % 3, ["two classes", "there are 3"]),
    ],
    ids=["contradiction", "unknown", "number", "three classes"],
)
def test_a_class_that_cannot_be_meant_is_refused(model, labels, facts):
    bags = BAGS[: len(labels)]
    with pytest.raises(ParameterError) as caught:
        clone(model).fit(bags, labels)
    for fact in facts:
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    "model",
    [
        MISugeno(rules=unnamed(EXPERT)),
        MIANFISClassifier(init=RuleBase.parse(unnamed(EXPERT)), training=Training(max_epochs=0)),
    ],
    ids=["Sugeno", "trained"],
)
def test_rules_that_do_worse_than_chance_are_told(model):
    with pytest.warns(UserWarning, match=r"worse than chance.*class healthy is 0\.\d\d.*pos_label='diseased'"):
        clone(model).fit(BAGS, SICK)
    clone(model).set_params(pos_label="diseased").fit(BAGS, SICK)  # no warning: they are errors here
    clone(model).fit(BAGS[:4], ["healthy", "diseased"] * 2)  # too few bags to tell

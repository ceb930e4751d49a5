"""Sets of answers, thresholds, and predictions as a table."""

import json
import math

import numpy as np
import pytest

from fuzzymil import Bags, InputError, MIANFISClassifier, ParameterError, RuleClassifier, RuleRegressor, load_model
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.datasets import make_planted
from fuzzymil.estimators.conformal import Conformity, prediction_sets

BAGS = make_planted("some", n_bags=120, n_noise=1, random_state=0)


@pytest.fixture(scope="module")
def model():
    return RuleClassifier(max_rules=2, max_conditions=1, cv=2, random_state=0).fit(BAGS[:40])


@pytest.fixture(scope="module")
def calibrated(model):
    return model.calibrate(BAGS[40:80])


@pytest.mark.filterwarnings("ignore:.*in every set")
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95])
def test_sets_have_the_true_answer_as_often_as_promised(confidence, by_class):
    """Over many draws of exchangeable bags, whose probabilities are bad on purpose."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(400):
        truth = rng.choice(3, 61, p=[0.6, 0.3, 0.1])
        answers = rng.dirichlet([1, 1, 1], 61)
        known = Conformity.of(answers[:60], truth[:60], np.arange(3))
        found = prediction_sets(known, answers[60:], np.array([0]), np.arange(3), confidence, by_class=by_class)
        hits.append((truth[60], found.included[0, truth[60]]))
    of_class = [[hit for label, hit in hits if label == wanted] for wanted in (0, 1, 2)] if by_class else []
    for every in ([hit for _, hit in hits], *of_class):
        assert np.mean(every) > confidence - 3 * math.sqrt(confidence * (1 - confidence) / len(every))
    assert np.mean([hit for _, hit in hits]) < 0.99


def test_p_values_count_the_bags_that_conform_no_better():
    known = Conformity(np.array([0.1, 0.2, 0.4, 0.4]), np.array([0, 0, 0, 1]))
    found = known.p_values(np.array([[0.6, 0.4]]), by_class=False)
    assert found.tolist() == [[3 / 5, 1 / 5]]
    assert known.p_values(np.array([[0.6, 0.4]]), by_class=True).tolist() == [[2 / 4, 1 / 2]]


@pytest.mark.parametrize(("n", "infinite"), [(8, True), (9, False)])
def test_too_few_calibration_bags(n, infinite):
    scores = Conformity(np.arange(n) / (2 * n), np.zeros(n, int))
    assert math.isinf(scores.radius(0.9)) == infinite
    answers = np.array([[0.0, 1.0]])
    arguments = answers, np.array([0]), np.array(["no", "yes"]), 0.9
    if infinite:
        with pytest.warns(
            UserWarning, match="All classes are in every set: .*at least 9 calibration bags, but there are 8"
        ):
            assert prediction_sets(scores, *arguments, by_class=False).included.all()
    else:
        assert not prediction_sets(scores, *arguments, by_class=False).included.all()
    with pytest.warns(UserWarning, match="yes is in every set" if not infinite else "All classes"):
        assert prediction_sets(scores, *arguments, by_class=True).included[0, 1]


def test_a_model_predicts_sets_and_abstains(calibrated):
    found = calibrated.predict_set(BAGS[80:], confidence=0.9)
    assert found.included.shape == (40, 2)
    for answers, label in zip(found.sets, found.labels, strict=True):
        assert label == (answers[0] if len(answers) == 1 else None)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["bag", "set", "p_value_0", "p_value_1"]
    assert frame["bag"].tolist() == BAGS[80:].ids.tolist()
    assert "at least 0.9" in str(found).lower()
    assert "40 calibration bags" in found.guarantee
    assert calibrated.predict_set(BAGS[80:], confidence=0.95).included.sum() >= found.included.sum()


def test_the_fit_and_the_calibration_need_different_bags(model):
    with pytest.raises(InputError, match="40 of the 60 bags were used in the fit"):
        model.calibrate(BAGS[:60])
    with pytest.raises(InputError, match=r"not calibrated: call model\.calibrate"):
        model.predict_set(BAGS[80:])


def test_other_rules_need_another_calibration(calibrated):
    for other in (calibrated.at(0), calibrated.with_rules(calibrated.rules_.edit(default=1.0))):
        with pytest.raises(InputError, match="other rules than when it was calibrated"):
            other.predict_set(BAGS[80:])


@pytest.mark.parametrize("confidence", [0, 1, 90, "0.9", 1.5])
def test_confidence_is_a_share(calibrated, confidence):
    with pytest.raises(ParameterError, match="between 0 and 1"):
        calibrated.predict_set(BAGS[80:], confidence=confidence)


def test_a_saved_model_keeps_its_calibration(calibrated, tmp_path):
    calibrated.save(tmp_path / "model.json")
    wanted = calibrated.predict_set(BAGS[80:], by_class=True).p_values
    assert (
        load_model(tmp_path / "model.json").predict_set(BAGS[80:], by_class=True).p_values.tolist() == wanted.tolist()
    )
    document = json.loads((tmp_path / "model.json").read_text())
    for name, value in (("scores", [0.5]), ("classes", [2] * 40), ("scores", ["x"] * 40), ("scores", [])):
        damaged = document | {"conformity": document["conformity"] | {name: value}}
        (tmp_path / "damaged.json").write_text(json.dumps(damaged))
        with pytest.raises(ModelFileError):
            load_model(tmp_path / "damaged.json")


def test_intervals_of_numbers():
    rng = np.random.default_rng(0)
    bags = Bags.from_list([rng.normal(size=(3, 1)) for _ in range(90)])
    y = np.array([bag.max() for bag in bags]) + rng.normal(0, 0.1, 90)
    model = RuleRegressor(max_rules=3, max_conditions=1, cv=2, random_state=0).fit(bags[:30], y[:30])
    found = model.calibrate(bags[30:60], y[30:60]).predict_set(bags[60:], confidence=0.8)
    assert np.ptp(found.high - found.low) < 1e-9
    assert ((found.low <= y[60:]) & (y[60:] <= found.high)).mean() > 0.6
    assert found.to_frame().columns.tolist() == ["bag", "low", "high"]
    with pytest.raises(InputError, match="low and high"):
        found.labels  # noqa: B018
    with pytest.raises(ParameterError, match="by_class is for classes"):
        model.calibrate(bags[30:60], y[30:60]).predict_set(bags[60:], by_class=True)


def test_an_unknown_label_is_told(model):
    with pytest.raises(InputError, match="The label 7 is no class of the model: 0, 1"):
        model.calibrate(BAGS[40:44], [0, 1, 7, 0])


def test_predictions_are_a_table(model):
    found = model.predictions(BAGS[80:], witnesses=True)
    frame = found.to_frame()
    assert frame.columns.tolist() == ["bag", "prediction", "probability_0", "probability_1", "coverage", "witness"]
    assert frame["bag"].tolist() == BAGS[80:].ids.tolist()
    assert frame["prediction"].tolist() == model.predict(BAGS[80:]).tolist()
    first = model.explain(BAGS, bag=BAGS.ids[80]).witness
    assert frame["witness"][0] == (None if first is None else first.instance)


def test_a_threshold(model):
    found = model.predictions(BAGS[80:])
    careful = found.decided(1 / 6)
    assert (careful.labels == (found.probabilities[:, 1] >= 1 / 6)).all()
    other = RuleClassifier(max_rules=1, max_conditions=1, cv=2, pos_label=0, random_state=0).fit(BAGS[:40])
    found = other.predictions(BAGS[80:])
    assert ((found.decided(0.9).labels == 0) == (found.probabilities[:, 0] >= 0.9)).all()
    three = MIANFISClassifier(2, random_state=0).fit([[[0.0]], [[1.0]], [[2.0]]], [0, 1, 2])
    with pytest.raises(InputError, match="two classes"):
        three.predictions([[[0.0]]]).decided(0.5)

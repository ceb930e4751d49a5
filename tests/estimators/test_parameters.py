"""Constructor parameters: how many there are, that each is documented, and the values that hold the rarer ones."""

import dataclasses
import inspect
import pickle
import re

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import fuzzymil
from fuzzymil import (
    ANFISClassifier,
    MIANFISClassifier,
    MIANFISRegressor,
    MIMamdani,
    Operators,
    RuleBase,
    Training,
    cross_val_scores,
    load_model,
)
from fuzzymil._utils.errors import ParameterError
from fuzzymil.estimators import model_from_dict, model_to_dict, rule_model

MOST = {
    fuzzymil.RuleClassifier: 15,
    fuzzymil.RuleRegressor: 15,
    fuzzymil.MIANFISClassifier: 15,
    fuzzymil.MIANFISRegressor: 15,
    fuzzymil.ANFISClassifier: 15,
    fuzzymil.ANFISRegressor: 15,
    fuzzymil.MISugeno: 15,
    fuzzymil.MIMamdani: 15,
    fuzzymil.NaiveMIL: 2,
    fuzzymil.PerInstance: 1,
    Operators: 6,
    Training: 23,
}
BAGS = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
LABELS = [0, 1, 0, 1]
SETS = "VARIABLE x1: low = Gaussian(0, 1) OUTPUT y FROM 0 TO 1: much = Ramp(0, 1) IF x1 is low THEN y is much"
RULES = RuleBase.from_arrays([[0.0], [1.0]], [[0.5], [0.5]], [0.0, 1.0])


@pytest.mark.parametrize("kind", MOST, ids=lambda kind: kind.__name__)
def test_every_parameter_is_documented_with_its_default(kind):
    parameters = list(inspect.signature(kind).parameters.values())
    assert len(parameters) <= MOST[kind]
    section = inspect.getdoc(kind).split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented = {}
    for names, description in re.findall(r"^(\w[\w, ]*) : (.*)$", section, re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), description)
    assert set(documented) == {parameter.name for parameter in parameters}
    for parameter in parameters:
        (default,) = re.findall(r"default (.*)$", documented[parameter.name])
        assert default == repr(parameter.default).replace("'", '"'), parameter.name


def test_every_parameter_of_a_learner_is_checked():
    for kind in [*MOST][:6]:
        checked = {field.name for field in dataclasses.fields(kind) if "check" in field.metadata}
        assert set(inspect.signature(kind).parameters) <= set(getattr(kind, "checks", checked))


@pytest.mark.slow
def test_operators_and_training_survive_what_estimators_go_through(tmp_path):
    training = Training(clip=None, learn_alpha=True, max_epochs=1)
    assert repr(training) == "Training(max_epochs=1, learn_alpha=True, clip=None)"
    assert eval(repr(training)) == training
    assert pickle.loads(pickle.dumps(training)) == training
    assert training != Training()
    model = clone(MIANFISClassifier(2, operators=Operators(t_norm="min"), training=training, random_state=0))
    assert model.get_params(deep=False)["training"] == training
    assert "learn_alpha=True, clip=None" in " ".join(repr(model).split())
    model.fit(BAGS, LABELS).save(tmp_path / "model.json")
    for copy in (load_model(tmp_path / "model.json"), pickle.loads(pickle.dumps(model)), clone(model)):
        assert (copy.training, copy.operators) == (training, Operators(t_norm="min"))
    with pytest.raises(dataclasses.FrozenInstanceError):
        training.clip = 1.0


def test_nested_parameters_are_set_in_a_copy():
    training = Training(max_epochs=1)
    model = MIANFISClassifier(2, training=training)
    other = clone(model).set_params(training__max_epochs=3, operators__t_norm="min")
    assert (training.max_epochs, model.training.max_epochs, other.training.max_epochs) == (1, 1, 3)
    assert (model.operators, other.operators) == (None, Operators(t_norm="min"))
    assert other.get_params()["operators__t_norm"] == "min"
    assert model.get_params()["operators__t_norm"] == "product"
    with pytest.raises(ParameterError, match=r"max_epoch.*Did you mean 'max_epochs'"):
        model.set_params(training__max_epoch=3)
    found = GridSearchCV(model, {"training__learning_rate": [0.01, 0.1]}, cv=2).fit(BAGS, LABELS)
    assert found.best_estimator_.training.learning_rate in (0.01, 0.1)
    scores = cross_val_scores(model, BAGS, LABELS, cv=2, param_grid={"operators__t_norm": ["min", "product"]})
    assert scores["test_score"].shape == (2, 2)


@pytest.mark.parametrize(
    ("make", "facts"),
    [
        (lambda: MIANFISClassifier(init=RULES, alpha=3.0), "alpha=3.0 cannot apply"),
        (lambda: MIANFISClassifier(init=RULES, n_rules=4), "n_rules=4 cannot apply"),
        (lambda: MIANFISClassifier(init=RULES, operators=Operators(t_norm="min")), "t_norm='min' cannot apply"),
        (lambda: MIANFISClassifier(init=RULES, training=Training(init_width=1.0)), "init_width=1.0 cannot apply"),
        (
            lambda: MIANFISClassifier(init=RULES, operators=Operators(membership="bell")),
            "membership='bell' cannot apply",
        ),
        (lambda: MIANFISClassifier(init=RULES, training=Training(init_outputs="ones")), "init_outputs.*cannot apply"),
        (lambda: MIANFISClassifier(init=[[0.0], [1.0]], training=Training(init_bags="all")), "init_bags.*cannot apply"),
        (lambda: MIANFISClassifier(operators=Operators(conclusion_alpha=2.0)), "conclusion_alpha=2.0 cannot apply"),
        (lambda: MIMamdani(rules=SETS, n_rules=3), "n_rules=3 cannot apply"),
        (lambda: MIMamdani(rules=SETS, learning_rate=0.1), "learning_rate=0.1 cannot apply"),
        (lambda: MIANFISClassifier(init=[[0.0], [1.0]], n_rules=4), "n_rules=4.*2 centers"),
        (lambda: MIANFISClassifier(frozen=["rule 1"]), "frozen refers to rules"),
        (lambda: MIANFISClassifier(missing="condition"), "Unknown missing 'condition'"),
        (lambda: MIANFISRegressor(training=Training(loss="hinge")), "loss='hinge' is for classes"),
        (lambda: ANFISClassifier(operators=Operators(aggregation="max")), "aggregation combines instances"),
        (lambda: Training(validation_fraction=0.1), "validation_fraction=0.1 is for early stopping"),
    ],
)
def test_a_parameter_that_cannot_apply_is_an_error(make, facts):
    with pytest.raises(ParameterError, match=facts):
        make().fit(BAGS[2:] + BAGS[2:], LABELS)


@pytest.mark.slow
def test_facts_beside_a_model(tmp_path):
    model = MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0).fit(BAGS, LABELS)
    document = model_to_dict(model, extra={"columns": {"bag": "user"}})
    assert document["extra"] == {"columns": {"bag": "user"}}
    assert model_from_dict(document).predict(BAGS).tolist() == model.predict(BAGS).tolist()


def test_predictions_come_from_one_inference(monkeypatch):
    model = MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0).fit(BAGS, LABELS)
    expected = model.predict(BAGS), model.decision_function(BAGS), model.predict_proba(BAGS)
    calls = []
    infer = rule_model.infer_output
    monkeypatch.setattr(rule_model, "infer_output", lambda rules, bags: calls.append(1) or infer(rules, bags))
    found = model.predictions(BAGS)
    assert len(calls) == 1
    for one, other in zip((found.labels, found.decisions, found.probabilities), expected, strict=True):
        assert one.tolist() == other.tolist()
    assert found.coverage.tolist() == model.coverage_.measure(fuzzymil.as_bags(BAGS)).coverage.tolist()

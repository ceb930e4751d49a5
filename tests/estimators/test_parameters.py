"""Constructor parameters: how many there are, that each is documented, and the values that hold the rarer ones."""

import dataclasses
import inspect
import pickle
import re

import pytest
from sklearn.base import clone

import fuzzymil
from fuzzymil import MIANFISClassifier, RunOptions, Training, Variant, load_model
from fuzzymil.estimators import model_from_dict, model_to_dict, rule_model

ESTIMATORS = [
    fuzzymil.MIANFISClassifier,
    fuzzymil.MIANFISRegressor,
    fuzzymil.ANFISClassifier,
    fuzzymil.ANFISRegressor,
    fuzzymil.MISugeno,
    fuzzymil.MIMamdani,
    fuzzymil.NaiveMIL,
    fuzzymil.PerInstance,
    Variant,
    RunOptions,
]
BAGS = [[[0.0], [0.1]], [[1.0], [0.2]], [[0.2]], [[0.9]]]
LABELS = [0, 1, 0, 1]


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_documented_with_its_default(kind):
    parameters = list(inspect.signature(kind).parameters.values())
    assert len(parameters) <= 32
    section = inspect.getdoc(kind).split("Parameters\n----------\n")[1].split("\n\n")[0]
    documented = {}
    for names, description in re.findall(r"^(\w[\w, ]*) : (.*)$", section, re.MULTILINE):
        documented |= dict.fromkeys(names.split(", "), description)
    assert set(documented) == {parameter.name for parameter in parameters}
    for parameter in parameters:
        (default,) = re.findall(r"default (.*)$", documented[parameter.name])
        assert default == repr(parameter.default).replace("'", '"'), parameter.name


def test_every_parameter_of_a_network_is_checked():
    free = {"class_weight", "random_state", "verbose"}  # scikit-learn checks the first two
    for kind in ESTIMATORS[:4]:
        assert set(inspect.signature(kind).parameters) - free <= set(kind.checks)


@pytest.mark.slow
def test_a_variant_survives_what_estimators_go_through(tmp_path):
    variant = Variant(clip=None, learn_alpha=True)
    assert repr(variant) == "Variant(learn_alpha=True, clip=None)"
    assert eval(repr(variant)) == variant
    assert pickle.loads(pickle.dumps(variant)) == variant
    assert variant != Variant()
    model = clone(MIANFISClassifier(2, variant=variant, training=Training(max_epochs=1), random_state=0))
    assert model.get_params()["variant"] == variant
    assert "learn_alpha=True, clip=None" in " ".join(repr(model).split())
    model.fit(BAGS, LABELS).save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").variant == variant
    assert pickle.loads(pickle.dumps(model)).variant == variant
    assert clone(model).set_params(variant="paper").variant == "paper"
    with pytest.raises(dataclasses.FrozenInstanceError):
        variant.clip = 1.0


@pytest.mark.slow
def test_how_a_fit_runs_is_not_part_of_a_model(tmp_path):
    run = RunOptions(checkpoint=tmp_path / "kept", precision="double")
    model = clone(MIANFISClassifier(2, run=run, training=Training(max_epochs=1), random_state=0)).fit(BAGS, LABELS)
    assert model.run == run
    document = model_to_dict(model)
    assert "run" not in document["settings"]
    document["settings"]["run"] = {"checkpoint": "elsewhere"}
    assert model_from_dict(document).run is None


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

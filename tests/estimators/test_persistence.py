"""Saved models: the same bit for bit when loaded, and readable in later versions."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest
from saved_models import MODELS
from sklearn.base import is_classifier
from small_fits import BAGS, CENTERS, QUICK, WORDS, Y, score_of

from fuzzymil import Bags, MIANFISClassifier, RuleBase, RuleClassifier, Training, load_model
from fuzzymil._utils.errors import InputError, ModelFileError
from fuzzymil.estimators import SavedModel, model_to_dict, network_parameters

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_network_answers_as_its_estimator(fitted, name):
    model, bags, _ = fitted(name)
    saved = SavedModel.of(model_to_dict(model))
    expected, found = model.predictions(bags), saved.predictions(bags)
    for part in ("output", "labels", "decisions", "probabilities", "coverage"):
        one, other = getattr(expected, part), getattr(found, part)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()
    assert str(saved.explain(bags, bags.ids[0])) == str(model.explain(bags, bags.ids[0]))


def test_a_saved_network_names_its_estimator_and_refuses_damage():
    document = model_to_dict(MIANFISClassifier(**network_parameters(**QUICK)).fit(BAGS, Y))
    with pytest.raises(InputError, match="MIANFISClassifier is expecting 2 features"):
        SavedModel.of(document).predict([[[1.0]]])
    for part, damage in (("classes", None), ("members", []), ("loss", "guess"), ("coverage", {"columns": [9]})):
        with pytest.raises(ModelFileError):
            SavedModel.of(document | {part: damage})
    assert SavedModel.of({"estimator": "MISugeno"}) is None


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_comes_back_as_it_was(fitted, name, tmp_path):
    model, bags, _ = fitted(name)
    model.save(tmp_path / "model.json")
    back = load_model(str(tmp_path / "model.json"))
    assert type(back) is type(model)
    assert repr(back.get_params()) == repr(model.get_params())
    np.testing.assert_array_equal(score_of(back, bags), score_of(model, bags))
    np.testing.assert_array_equal(back.predict(bags), model.predict(bags))
    np.testing.assert_array_equal(back.instance_scores(bags), model.instance_scores(bags))
    assert back.predict(bags).dtype == model.predict(bags).dtype
    if is_classifier(model):
        np.testing.assert_array_equal(back.predict_proba(bags), model.predict_proba(bags))
        np.testing.assert_array_equal(back.classes_, model.classes_)
        assert back.classes_.dtype == model.classes_.dtype
        assert [type(label) for label in back.classes_] == [type(label) for label in model.classes_]
    assert back.members_ == model.members_
    assert back.initial_rules_ == model.initial_rules_
    assert back.rules_ == model.rules_
    assert back.n_features_in_ == 2
    assert not hasattr(back, "feature_names_in_")
    for key, values in model.history_.items():
        np.testing.assert_array_equal(back.history_[key], values)
    assert back.n_iter_ == model.n_iter_
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_training_goes_on_from_a_loaded_model(fitted, name, tmp_path):
    model, bags, y = fitted(name)
    model.save(tmp_path / "model.json")
    back, kept = load_model(tmp_path / "model.json"), copy.deepcopy(model)
    before = score_of(back, bags)
    back.partial_fit(bags, y)
    kept.partial_fit(bags, y)
    assert np.isfinite(score_of(back, bags)).all()
    assert not np.array_equal(score_of(back, bags), before)
    # Only the optimizer's memory differs, and it moves no parameter by more than about its rate.
    np.testing.assert_allclose(score_of(back, bags), score_of(kept, bags), atol=0.2)
    warm = load_model(tmp_path / "model.json").set_params(training__warm_start=True)
    assert len(warm.fit(bags, y).history_["loss"]) == 5
    np.testing.assert_array_equal(score_of(model, bags), before)


def test_names_of_features_are_kept_and_checked(tmp_path):
    named = BAGS.map_instances(lambda x: x, ["Breite", "größe"])
    MIANFISClassifier(**network_parameters(**QUICK)).fit(named).save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert back.feature_names_in_.tolist() == ["Breite", "größe"]
    assert back.feature_names_in_.dtype == object
    assert back.rules_.feature_names == ("Breite", "größe")
    assert back.predict(named).shape == (len(BAGS),)
    with pytest.raises(ValueError, match="same order"):
        back.predict(BAGS.map_instances(lambda x: x, ["größe", "Breite"]))


SETTINGS = [
    {"init": CENTERS},
    {"init": CENTERS.tolist()},
    {"init": (CENTERS, np.full((3, 2), 0.5))},
    {"init": (CENTERS.tolist(), 0.5)},
    {"init": RuleBase.from_arrays(CENTERS, np.full((3, 2), 0.4), [0.0, 1.0, 0.5], alpha=np.inf)},
    {"class_weight": {0: 1.0, 1: 2.5}},
    {"class_weight": "balanced"},
    {"alpha": -np.inf},
    {"alpha": np.float32(0.1)},
    {"n_rules": np.int64(3)},
    {"normalize": np.False_},
    {"n_iter_no_change": 2},
    {"training": Training.paper(), "learning_rate": 0.01},
    {"random_state": None},
    {"rule_keep_prob": "auto"},
    {"clip": None},
    {"clip": 1.5, "init_bags": "all", "rule_keep_prob": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: repr(settings)[:50])
def test_settings_come_back(settings, tmp_path):
    model = MIANFISClassifier(**network_parameters(**QUICK | settings)).fit(BAGS)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    for name, value in model.get_params().items():
        found = back.get_params()[name]
        if isinstance(value, np.ndarray | list):
            np.testing.assert_array_equal(found, value)
        elif name == "init" and isinstance(value, tuple):
            for one, other in zip(found, value, strict=True):
                np.testing.assert_array_equal(one, other)
        else:
            assert found == value, name
    np.testing.assert_array_equal(back.predict(BAGS), model.predict(BAGS))


def test_words_among_class_weights_come_back(tmp_path):
    weights = {"concept1": 1.0, "concept2": 2.0, "negative": 3}
    MIANFISClassifier(**network_parameters(class_weight=weights, **QUICK)).fit(BAGS, WORDS).save(
        tmp_path / "model.json"
    )
    assert load_model(tmp_path / "model.json").class_weight == weights


def test_what_json_cannot_hold_comes_back_at_its_default(tmp_path):
    import optax

    model = MIANFISClassifier(
        **network_parameters(optimizer=optax.adam(0.1), callbacks=[lambda now: None], **QUICK)
    ).fit(BAGS)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert back.training == Training(max_epochs=5, rule_keep_prob=None)
    np.testing.assert_array_equal(back.decision_function(BAGS), model.decision_function(BAGS))


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        RuleClassifier().save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- models of earlier versions


def golden_cases():
    return [
        pytest.param(folder, case, id=f"{folder.name}-{case['file']}")
        for folder in sorted(path.parent for path in GOLDEN.glob("*/expected.json"))
        for case in json.loads((folder / "expected.json").read_text(encoding="utf-8"))["cases"]
    ]


@pytest.mark.parametrize(("folder", "case"), golden_cases())
def test_models_of_every_released_version_still_load(folder, case):
    bags = Bags.from_list([np.array(bag) for bag in case["bags"]], case["feature_names"])
    path = folder / case["file"]
    if case["kind"] == "rules":
        results = {"output": RuleBase.load(path).infer(bags).output}
    else:
        model = load_model(path)
        assert type(model).__name__ == case["kind"]
        results = {name: getattr(model, name)(bags) for name in case["expected"]}
    assert results.keys() == case["expected"].keys()
    for name, expected in case["expected"].items():
        if isinstance(np.ravel(expected)[0], str):
            assert results[name].tolist() == expected
        else:
            np.testing.assert_allclose(results[name], expected, rtol=1e-12, atol=1e-12)


def test_there_are_golden_files_of_this_format():
    assert golden_cases()

"""Saved models: the same bit for bit when loaded, readable in later versions, and never trusted."""

import contextlib
import copy
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import is_classifier

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    RuleBase,
    RunOptions,
    Variant,
    load_model,
)
from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import SavedNetwork, model_to_dict

QUICK = {"n_rules": 3, "max_epochs": 5, "init": "fcm", "rule_keep_prob": None, "random_state": 0}
BAGS = make_two_concepts(8, 8, random_state=0)
ROWS = Bags.from_list([bag[:1] for bag in BAGS])
Y = BAGS.labels
WORDS = np.array([str(i).split("-")[0] for i in BAGS.ids])
NUMBERS = np.array([bag[:, 0].max() for bag in BAGS])
CENTERS = np.array([[0.5, 0.5], [1.5, 1.5], [0.5, 1.5]])
GOLDEN = Path(__file__).parent.parent / "golden"

MODELS = {
    "squared_error": (MIANFISClassifier(**QUICK), BAGS, Y),
    "cross-entropy": (MIANFISClassifier(loss="cross_entropy", **QUICK), BAGS, WORDS),
    "hinge": (MIANFISClassifier(loss="hinge", **QUICK), BAGS, Y.astype(bool)),
    "hinge, three": (MIANFISClassifier(loss="hinge", **QUICK), BAGS, WORDS),
    "objects": (MIANFISClassifier(**QUICK), BAGS, np.where(Y, "yes", "no way").astype(object)),
    "small numbers": (MIANFISClassifier(**QUICK), BAGS, Y.astype(np.int8)),
    "dropout": (
        MIANFISClassifier(**(QUICK | {"order": 1, "rule_keep_prob": 0.7, "variant": Variant(rule_dropout="paper")})),
        BAGS,
        Y,
    ),
    "alpha inf": (MIANFISClassifier(**(QUICK | {"alpha": np.inf, "n_estimators": 2, "init": "random"})), BAGS, Y),
    "regressor": (MIANFISRegressor(**(QUICK | {"n_estimators": 2, "init": "random"})), BAGS, NUMBERS),
    "two outputs": (MIANFISRegressor(order=1, **QUICK), BAGS, np.column_stack([NUMBERS, 9 - NUMBERS])),
    "plain classifier": (ANFISClassifier(membership="bell", **QUICK), ROWS, Y),
    "plain regressor": (ANFISRegressor(t_norm="min", **QUICK), ROWS, NUMBERS),
}


def score_of(model, bags):
    return model.decision_function(bags) if is_classifier(model) else model.predict(bags)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_network_answers_as_its_estimator(name):
    estimator, bags, labels = MODELS[name]
    model = copy.deepcopy(estimator).fit(bags, labels)
    saved = SavedNetwork.of(model_to_dict(model))
    expected, found = model.predictions(bags), saved.predictions(bags)
    for part in ("output", "labels", "decisions", "probabilities", "coverage"):
        one, other = getattr(expected, part), getattr(found, part)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()
    assert str(saved.explain(bags, bags.ids[0])) == str(model.explain(bags, bags.ids[0]))


def test_a_saved_network_names_its_estimator_and_refuses_damage():
    document = model_to_dict(MIANFISClassifier(**QUICK).fit(BAGS, Y))
    with pytest.raises(InputError, match="MIANFISClassifier is expecting 2 features"):
        SavedNetwork.of(document).predict([[[1.0]]])
    for part, damage in (("classes", None), ("members", []), ("loss", "guess"), ("coverage", {"columns": [9]})):
        with pytest.raises(ModelFileError):
            SavedNetwork.of(document | {part: damage})
    assert SavedNetwork.of({"estimator": "MISugeno"}) is None


@pytest.fixture(scope="module")
def fitted():
    """Each model, trained once."""
    trained = {}

    def get(name):
        if name not in trained:
            model, bags, y = MODELS[name]
            trained[name] = copy.deepcopy(model).fit(bags, y)
        return trained[name], *MODELS[name][1:]

    return get


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
    warm = load_model(tmp_path / "model.json").set_params(warm_start=True)
    assert len(warm.fit(bags, y).history_["loss"]) == 5
    np.testing.assert_array_equal(score_of(model, bags), before)


def test_names_of_features_are_kept_and_checked(tmp_path):
    named = BAGS.map_instances(lambda x: x, ["Breite", "größe"])
    MIANFISClassifier(**QUICK).fit(named).save(tmp_path / "model.json")
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
    {"variant": "paper", "learning_rate": 0.01},
    {"random_state": None},
    {"rule_keep_prob": "auto"},
    {"variant": Variant(clip=None)},
    {"variant": Variant(clip=1.5, init_bags="all"), "rule_keep_prob": 0.5},
]


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: repr(settings)[:50])
def test_settings_come_back(settings, tmp_path):
    model = MIANFISClassifier(**(QUICK | settings)).fit(BAGS)
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
    MIANFISClassifier(class_weight=weights, **QUICK).fit(BAGS, WORDS).save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").class_weight == weights


def test_what_json_cannot_hold_comes_back_at_its_default(tmp_path):
    import optax

    model = MIANFISClassifier(optimizer=optax.adam(0.1), run=RunOptions(callbacks=[lambda now: None]), **QUICK).fit(
        BAGS
    )
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert back.optimizer == "adam"
    assert back.run is None
    np.testing.assert_array_equal(back.decision_function(BAGS), model.decision_function(BAGS))


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        MIANFISClassifier().save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


# ---------------------------------------------------------------------- damaged, foreign and newer files


@pytest.fixture(scope="module")
def text(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.json"
    fitted("hinge")[0].save(path)
    return path.read_text(encoding="utf-8")


def test_a_file_says_what_wrote_it(text):
    head = json.loads(text)
    assert head["format"] == "fuzzymil.model"
    assert head["library"]
    assert head["version"] >= 1
    assert head["estimator"] == "MIANFISClassifier"


def test_a_truncated_file_is_refused_wherever_it_ends(text, tmp_path):
    path = tmp_path / "cut.json"
    for end in range(0, len(text.rstrip()), 10):
        path.write_text(text[:end], encoding="utf-8")
        with pytest.raises(ModelFileError, match=r"cut\.json.*(damaged|kind)"):
            load_model(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff\xfe\x80" * 20,
        b"[1, 2, 3]",
        b"null",
        b'{"format": "another.model", "version": 1}',
        b'{"format": "fuzzymil.rules", "version": 1}',
        b'{"format": ["fuzzymil.model"], "version": 1}',
        b'{"format": "fuzzymil.model"}',
        b'{"format": "fuzzymil.model", "version": "1"}',
        b'{"format": "fuzzymil.model", "version": 1}',
        b'{"version": 1}',
        b"[" * 100_000,
        b"import os\nos.abort()\n",
    ],
    ids=lambda content: repr(content[:25]),
)
def test_a_foreign_file_is_refused(content, tmp_path):
    path = tmp_path / "foreign.json"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"foreign\.json"):
        load_model(path)


def test_a_file_of_a_newer_version_asks_for_an_upgrade(text, tmp_path):
    path = tmp_path / "new.json"
    path.write_text(json.dumps(json.loads(text) | {"version": 99, "library": "7.1"}))
    with pytest.raises(ModelFileError, match=r"newer fuzzymil \(7\.1.*upgrade"):
        load_model(path)


def test_an_unknown_estimator_or_setting_is_named(text, tmp_path):
    path = tmp_path / "odd.json"
    for name in ("NaiveMIL", "Scaling", "__name__", "dataclasses", 5, None, ["MIANFISClassifier"]):
        path.write_text(json.dumps(json.loads(text) | {"estimator": name}))
        with pytest.raises(ModelFileError, match=r"does not (support|have)"):
            load_model(path)
    document = json.loads(text)
    document["settings"]["color"] = "red"
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="color"):
        load_model(path)


def places(node, path=()):
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(child, (*path, key))


WRONG = {
    "null": "null",
    "text": '"x"',
    "minus": "-1",
    "huge": "1e400",
    "list": "[]",
    "object": "{}",
    "nested": "[[[1]]]",
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", ["hinge", "regressor"])
def test_a_wrong_value_anywhere_is_refused_or_harmless(fitted, name, wrong, tmp_path):
    """Whatever stands anywhere in the file: `ModelFileError`, or a model that can be used."""
    model, bags, _ = fitted(name)
    path = tmp_path / "wrong.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    bags = bags[:2]
    bad = []
    for place in list(places(document))[1:]:
        if any(number not in (0, 1) for number in place if isinstance(number, int)):
            continue  # the first two of a list stand for all
        damaged = copy.deepcopy(document)
        node = damaged
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = "PLACE"
        path.write_text(json.dumps(damaged).replace('"PLACE"', wrong), encoding="utf-8")
        try:
            back = load_model(path)
        except ModelFileError:
            continue
        except Exception as problem:
            bad.append(f"load {place}: {problem!r}")
            continue
        try:
            back.predict(bags)
            if is_classifier(back):
                back.predict_proba(bags)
            repr(back)
        except Exception as problem:
            bad.append(f"use {place}: {problem!r}"[:200])
    assert not bad, "\n".join(bad)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hinge", "regressor"])
def test_a_missing_entry_is_refused_or_harmless(fitted, name, tmp_path):
    model, bags, _ = fitted(name)
    path = tmp_path / "wrong.json"
    model.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for place in list(places(document))[1:]:
        if any(isinstance(number, int) and number not in (0, 1) for number in place):
            continue
        damaged = copy.deepcopy(document)
        node = damaged
        for key in place[:-1]:
            node = node[key]
        del node[place[-1]]
        path.write_text(json.dumps(damaged), encoding="utf-8")
        try:
            back = load_model(path)
        except ModelFileError:
            continue
        assert np.isfinite(score_of(back, bags)).all(), place


def test_nothing_in_a_file_is_executed(tmp_path, text):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "trap.json"
    path.write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelFileError):
        load_model(path)
    document = json.loads(text)
    code = f"__import__('os').mkdir({str(tmp_path / 'executed')!r})"
    for name in document["settings"]:
        document["settings"][name] = code
    document["classes"] = {"dtype": "object", "values": [code, code + " "]}
    path.write_text(json.dumps(document))
    with contextlib.suppress(ValueError, KeyError):  # what happens is tested above; here only that nothing ran
        load_model(path).predict(BAGS)
    assert not (tmp_path / "executed").exists()


# ---------------------------------------------------------------------- failed saves


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_save_leaves_the_old_file_whole(fitted, step, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    fitted("squared_error")[0].save(path)
    old = path.read_bytes()

    def fail(*args, **kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(storage.os, step, fail)
        with pytest.raises(OSError, match="No space"):
            fitted("hinge")[0].save(path)
    assert path.read_bytes() == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def test_saving_what_cannot_be_written_down_leaves_the_old_file_whole(fitted, tmp_path):
    path = tmp_path / "model.json"
    model = copy.deepcopy(fitted("squared_error")[0])
    model.save(path)
    old = path.read_bytes()
    model.class_weight = {0: float("nan"), 1: 1.0}  # strict JSON has no NaN
    try:
        model.save(path)
    except ValueError:
        assert path.read_bytes() == old
    else:
        assert np.isnan(load_model(path).class_weight[0])
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.json"]


def test_saving_into_no_folder_says_so(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        fitted("squared_error")[0].save(tmp_path / "nowhere" / "model.json")


def test_other_estimators_have_no_save():
    assert not hasattr(NaiveMIL(), "save")


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


@pytest.mark.parametrize(
    ("kind", "values", "says"),
    [
        ("<i8", [1, 1], "all different"),
        ("<f8", [0.0, float("nan")], "one is missing"),
        ("object", ["a", None], "numbers or text"),
        ("object", [["a"], ["b"]], "numbers or text"),
        ("object", [1, 1.0], "all different"),
        ("<i8", [0.5, 1.5], "not of their type"),
        ("<U1", [1, 2], "not of their type"),
        ("<i8", "ab", "must be a list"),
        ("<U10000000000", ["a", "b"], "unknown type"),
        ("<M8[s]", ["2000-01-01", "2001-01-01"], "unknown type"),
    ],
)
def test_class_labels_are_checked(text, tmp_path, kind, values, says):
    document = json.loads(text)
    document["classes"] = {"dtype": kind, "values": values}
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=says):
        load_model(path)


def test_a_file_does_not_choose_how_much_memory_labels_take(text, tmp_path):
    document = json.loads(text)
    document["classes"] = {"dtype": "<U200000000", "values": ["no", "yes"]}  # 1.6 GB
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    assert load_model(path).classes_.dtype == "<U3"


def test_a_file_does_not_choose_how_a_fit_runs(text, tmp_path):
    path = tmp_path / "model.json"
    document = json.loads(text)
    document["settings"]["run"] = {"checkpoint": str(tmp_path / "elsewhere"), "distributed": True}
    path.write_text(json.dumps(document))
    assert load_model(path).run is None
    for name, value in (("checkpoint", str(tmp_path / "elsewhere")), ("distributed", True)):
        document = json.loads(text)
        document["settings"][name] = value
        path.write_text(json.dumps(document))
        with pytest.raises(ModelFileError, match=f"parameter '{name}'"):
            load_model(path)


def test_a_file_larger_than_the_budget_is_refused(text, tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text(text)
    load_model(path)
    monkeypatch.setenv("FUZZYMIL_MEMORY", "20kB")
    with pytest.raises(ModelFileError, match=r"too large.*only 20 kB.*FUZZYMIL_MEMORY"):
        load_model(path)

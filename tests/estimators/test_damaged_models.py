"""Files of models are never trusted, and a failed save leaves the old file whole."""

import contextlib
import copy
import json
import os
import pickle

import numpy as np
import pytest
from saved_models import places, with_value
from sklearn.base import is_classifier
from small_fits import BAGS, score_of

from fuzzymil import NaiveMIL, load_model
from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError

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


def test_a_network_without_rules_says_what_is_missing(text, tmp_path):
    path = tmp_path / "empty.json"
    document = json.loads(text)
    del document["members"]
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ModelFileError, match="'members' is missing"):
        load_model(path)


def test_a_truncated_file_is_refused_wherever_it_ends(text, tmp_path):
    path = tmp_path / "cut.json"
    for end in range(0, len(text.rstrip()), 10):
        path.write_text(text[:end], encoding="utf-8")
        with pytest.raises(ModelFileError, match=r"cut\.json.*(damaged|kind|empty)"):
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
        path.write_text(with_value(document, place, wrong), encoding="utf-8")
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
    for name, value in (("checkpoint", str(tmp_path / "elsewhere")), ("callbacks", []), ("nonsense", 1)):
        document = json.loads(text)
        document["settings"]["training"]["training"][name] = value
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

"""Trainings that are stopped and go on: the same numbers bit for bit, and never somebody else's."""

import hashlib
import io
import json
import os

import numpy as np
import optax
import pytest

from fuzzymil import MIANFISClassifier, Training, load_model
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import fit_together, network_parameters
from fuzzymil.learn.train.checkpoints import Checkpoints

BAGS = make_two_concepts(random_state=0)
SETTINGS = {"n_rules": 4, "max_epochs": 30, "random_state": 5}


class Killed(Exception):
    """A process that dies in the middle of training, as far as the fit can tell."""


def dies_after(epochs):
    def watch(now):
        if now.epoch >= epochs:
            raise Killed

    return watch


class Epochs:
    """Which epochs a training went through."""

    def __init__(self):
        self.seen = []

    def __call__(self, now):
        self.seen.append(now.epoch)


@pytest.fixture(autouse=True)
def kept_after_every_stretch(monkeypatch):
    monkeypatch.setattr("fuzzymil.learn.train.trainer._CHECKPOINT_SECONDS", -1.0)


def same(one, other):
    assert json.dumps(one.rules_.to_dict()) == json.dumps(other.rules_.to_dict())
    assert one.history_.keys() == other.history_.keys()
    for name, values in one.history_.items():
        np.testing.assert_array_equal(values, other.history_[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="batch"),
        pytest.param({"batch_size": 1, "optimizer": "sgd", "learning_rate": 0.01}, id="on-line"),
        pytest.param({"n_iter_no_change": 50, "rule_keep_prob": 0.7}, id="validation and dropout"),
        pytest.param({"n_init": 2, "n_estimators": 2}, id="many at once"),
        pytest.param({"max_conditions": 1, "init": "kmeans"}, id="cut in steps"),
        pytest.param({"precision": "double"}, id="double precision"),
    ],
)
def test_killed_fit_goes_on_to_the_same_numbers(tmp_path, settings):
    settings = SETTINGS | settings
    precision = settings.pop("precision", "single")
    whole = MIANFISClassifier(**network_parameters(precision=precision, **settings)).fit(BAGS)
    folder = tmp_path / "kept"
    run = {"checkpoint": folder, "callbacks": [dies_after(11)], "precision": precision}
    with pytest.raises(Killed):
        MIANFISClassifier(**network_parameters(**run, **settings)).fit(BAGS)
    assert len(list(folder.iterdir())) == 1
    epochs = Epochs()
    run = {"checkpoint": folder, "callbacks": [epochs], "precision": precision}
    resumed = MIANFISClassifier(**network_parameters(**run, **settings)).fit(BAGS)
    assert epochs.seen[0] == 12
    same(resumed, whole)
    assert not folder.exists()


def test_second_step_of_a_fit_is_resumed_too(tmp_path):
    settings = SETTINGS | {"max_conditions": 1, "init": "kmeans"}
    whole = MIANFISClassifier(**network_parameters(**settings)).fit(BAGS)
    calls = []

    def dies_later(now):
        calls.append(now.epoch)
        if len(calls) > 35:  # thirty epochs with two terms a rule, then with one
            raise Killed

    with pytest.raises(Killed):
        MIANFISClassifier(**network_parameters(checkpoint=tmp_path, callbacks=[dies_later], **settings)).fit(BAGS)
    epochs = Epochs()
    resumed = MIANFISClassifier(**network_parameters(checkpoint=tmp_path, callbacks=[epochs], **settings)).fit(BAGS)
    assert epochs.seen[0] == 7
    same(resumed, whole)


def test_interrupted_fit_keeps_model_and_training(tmp_path):
    def interrupt(now):
        if now.epoch == 9:
            raise KeyboardInterrupt

    folder = tmp_path / "kept"
    with pytest.warns(UserWarning, match="interrupted"):
        half = MIANFISClassifier(**network_parameters(checkpoint=folder, callbacks=[interrupt], **SETTINGS)).fit(BAGS)
    assert half.n_iter_ == 9
    resumed = MIANFISClassifier(**network_parameters(checkpoint=folder, **SETTINGS)).fit(BAGS)
    same(resumed, MIANFISClassifier(**network_parameters(**SETTINGS)).fit(BAGS))


def test_another_fit_is_not_continued(tmp_path):
    with pytest.raises(Killed):
        MIANFISClassifier(**network_parameters(checkpoint=tmp_path, callbacks=[dies_after(5)], **SETTINGS)).fit(BAGS)
    for changed, bags in ({"random_state": 6}, BAGS), ({"learning_rate": 0.02}, BAGS), ({}, BAGS[:-1]):
        epochs = Epochs()
        MIANFISClassifier(**network_parameters(checkpoint=tmp_path, callbacks=[epochs], **(SETTINGS | changed))).fit(
            bags
        )
        assert epochs.seen[0] == 1
    assert len(list(tmp_path.iterdir())) == 1  # the first one is still there


@pytest.mark.slow
def test_fits_trained_together_are_kept_together(tmp_path):
    halves = [BAGS[::2], BAGS[1::2]]

    def models(**settings):
        return [MIANFISClassifier(**network_parameters(**SETTINGS | settings)) for _ in halves]

    with pytest.raises(Killed):
        fit_together(models(checkpoint=tmp_path, callbacks=[dies_after(8)]), halves)
    resumed = fit_together(models(checkpoint=tmp_path), halves)
    for one, other in zip(resumed, fit_together(models(), halves), strict=True):
        same(one, other)


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: b"PK\x03\x04 not a whole archive",
        lambda content: b"{}",
        lambda content: content[:-40],
        lambda content: content[:400] + bytes([content[400] ^ 1]) + content[401:],  # a bit of a number
    ],
    ids=["empty", "other", "json", "truncated", "flipped"],
)
def test_damaged_file_means_from_the_start(tmp_path, damage):
    with pytest.raises(Killed):
        MIANFISClassifier(**network_parameters(checkpoint=tmp_path, callbacks=[dies_after(5)], **SETTINGS)).fit(BAGS)
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    with pytest.warns(UserWarning, match=f"{file.name} is damaged.*from the beginning"):
        resumed = MIANFISClassifier(**network_parameters(checkpoint=tmp_path, **SETTINGS)).fit(BAGS)
    same(resumed, MIANFISClassifier(**network_parameters(**SETTINGS)).fit(BAGS))


def _with_checksum(payload):
    return b"fuzzymil-checkpoint 2\n" + hashlib.blake2b(payload, digest_size=32).digest() + payload


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize(
    "content",
    [np.array([{}], object), np.zeros((3, 2, 1)), np.zeros(1, int)],
    ids=["pickled", "of another shape", "of another type"],
)
def test_forged_content_is_never_loaded(tmp_path, content, save):
    buffer = io.BytesIO()
    save(buffer, leaf0=content)
    checkpoint = Checkpoints(tmp_path).of("plan", [])
    checkpoint.path.write_bytes(_with_checksum(buffer.getvalue()))
    with pytest.warns(UserWarning, match="not written by fuzzymil"):
        assert checkpoint.find([np.zeros(1)]) is None


def test_a_compressed_checkpoint_is_never_unpacked(tmp_path):
    buffer = io.BytesIO()
    np.savez_compressed(buffer, leaf0=np.zeros(1))
    checkpoint = Checkpoints(tmp_path).of("plan", [])
    checkpoint.path.write_bytes(_with_checksum(buffer.getvalue()))
    with pytest.warns(UserWarning, match="not written by fuzzymil"):
        assert checkpoint.find([np.zeros(1)]) is None


def test_a_huge_checkpoint_is_not_read(tmp_path):
    checkpoint = Checkpoints(tmp_path).of("", [np.zeros(2)])
    with open(checkpoint.path, "wb") as file:
        file.truncate(10**13)  # takes no room on the disk
    with pytest.warns(UserWarning, match="may be used"):
        assert checkpoint.find(np.zeros(1)) is None


def test_a_link_in_the_folder_is_not_followed(tmp_path):
    other = tmp_path / "precious.txt"
    other.write_text("mine")
    checkpoint = Checkpoints(tmp_path / "kept").of("plan", [])
    checkpoint.path.parent.mkdir()
    checkpoint.path.symlink_to(other)
    with pytest.warns(UserWarning, match="is a link"):
        assert checkpoint.find([np.zeros(1)]) is None
    checkpoint.keep([np.ones(1)])
    assert other.read_text() == "mine"
    assert not checkpoint.path.is_symlink()
    assert checkpoint.find([np.zeros(1)])[0] == 1


def test_failed_write_leaves_what_was_kept(tmp_path, monkeypatch):
    checkpoint = Checkpoints(tmp_path).of("plan", [])
    checkpoint.keep([np.ones(2)])

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        checkpoint.keep([np.zeros(2)])
    np.testing.assert_array_equal(checkpoint.find([np.zeros(2)]), [np.ones(2)])
    assert len(list(tmp_path.iterdir())) == 1


def test_settings_are_checked_and_not_saved(tmp_path):
    with pytest.raises(ParameterError, match="checkpoint must be a folder"):
        Training(checkpoint=3)
    with pytest.raises(ParameterError, match="named optimizer"):
        MIANFISClassifier(training=Training(checkpoint="kept", optimizer=optax.adam(0.1))).fit(BAGS)
    MIANFISClassifier(**network_parameters(checkpoint=tmp_path / "kept", **SETTINGS)).fit(BAGS).save(
        tmp_path / "model.json"
    )
    assert str(tmp_path) not in (tmp_path / "model.json").read_text()
    assert load_model(tmp_path / "model.json").training.checkpoint is None


@pytest.mark.parametrize("plant", ["link", "hard link", "pipe"])
def test_what_stands_in_the_place_of_a_checkpoint_is_replaced(tmp_path, plant):
    victim, content = tmp_path / "victim", {"weights": np.ones(2)}
    victim.write_text("mine")
    checkpoint = Checkpoints(tmp_path / "kept").of("a plan", [np.zeros(3)])
    checkpoint.path.parent.mkdir()
    if plant == "pipe":
        os.mkfifo(checkpoint.path)
    else:
        (os.symlink if plant == "link" else os.link)(victim, checkpoint.path)
    with pytest.warns(UserWarning, match="it is ignored"):
        assert checkpoint.find(content) is None
    checkpoint.keep(content)
    np.testing.assert_array_equal(checkpoint.find(content)["weights"], np.ones(2))
    assert victim.read_text() == "mine"

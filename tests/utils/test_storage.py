"""Files are written whole or not at all, and read without trusting them."""

import json
import math
import os
import stat

import pytest

from fuzzymil._utils.errors import ModelFileError
from fuzzymil._utils.storage import decode_number, encode_number, read_document, write_atomically, write_document


@pytest.mark.parametrize("value", [0.1, -0.0, 5e-324, 1e308, 3, math.inf, -math.inf])
def test_numbers_go_through_json_unchanged(value):
    text = json.dumps(encode_number(value), allow_nan=False)
    back = decode_number(json.loads(text))
    assert back == value
    assert math.copysign(1, back) == math.copysign(1, value)
    assert type(back) is float


def test_nan_goes_through_json():
    assert math.isnan(decode_number(json.loads(json.dumps(encode_number(math.nan), allow_nan=False))))


@pytest.mark.parametrize(
    "value", ["1.0", "Infinity", "", None, True, False, [1.0], {}, pytest.param(10**400, id="huge")]
)
def test_what_is_no_number_is_damage(value):
    with pytest.raises(ModelFileError, match="Expected a number"):
        decode_number(value)


def test_a_document_comes_back_with_its_head(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 2, {"name": "größe", "values": [1, 0.1]})
    document = read_document(str(path), {"other": 1, "kind": 2})
    assert document == {"format": "kind", "version": 2, "name": "größe", "values": [1, 0.1]}
    assert "größe" in path.read_text(encoding="utf-8")  # readable, not escaped


def test_an_older_version_is_read_and_a_newer_one_is_not(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 2, {})
    assert read_document(path, {"kind": 3})["version"] == 2
    with pytest.raises(ModelFileError, match=r"file version 2,.*this.*reads up to 1.*pip install --upgrade"):
        read_document(path, {"kind": 1})


def test_a_document_of_another_kind_names_those_expected(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 1, {})
    with pytest.raises(ModelFileError, match=r"'format' is 'kind',.*'one' or 'two'"):
        read_document(path, {"one": 1, "two": 1})


def test_a_file_that_is_not_there_is_reported_as_such(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_document(tmp_path / "nowhere.json", {"kind": 1})
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "nowhere" / "a.txt", "text")


def test_an_integer_of_too_many_digits_is_damage(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"format": "kind", "version": ' + "1" * 5000 + "}", encoding="utf-8")
    with pytest.raises(ModelFileError, match=r"a\.json"):
        read_document(path, {"kind": 1})


def test_a_number_that_json_does_not_know_is_not_written_and_the_old_file_stays(tmp_path):
    path = tmp_path / "a.json"
    write_document(path, "kind", 1, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_document(path, "kind", 1, {"a": math.nan})
    assert read_document(path, {"kind": 1})["a"] == 1


@pytest.mark.parametrize("failing", ["replace", "fsync", "chmod"])
def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, failing):
    path = tmp_path / "a.txt"
    write_atomically(path, "old")

    def fail(*_):
        raise OSError("no space")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, "new")
    monkeypatch.undo()
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_new_file_can_be_read_by_those_the_umask_lets_and_an_old_one_keeps_its_mode(tmp_path):
    path = tmp_path / "a.txt"
    before = os.umask(0o027)
    try:
        write_atomically(path, "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    write_atomically(path, "more")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8") == "more"


def test_a_bare_file_name_is_written_into_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_atomically("a.txt", "text\nwith lines\n")
    assert (tmp_path / "a.txt").read_bytes() == b"text\nwith lines\n"

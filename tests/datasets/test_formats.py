"""A format registered in FORMATS works everywhere: reading, writing, recognition and error messages."""

import json

import pytest

from fuzzymil import Bags, BagStream, InputError, ParameterError
from fuzzymil.datasets import FORMATS, guess_format, read_bags, stream_bags, write_bags
from fuzzymil.datasets.formats import Format

BAGS = Bags.from_list([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]], ["width", "depth"], labels=[0, 1])


def read_json(file, bag=None, label=None):
    content = json.loads(file.text)
    return Bags.from_list(content["bags"], content["features"], labels=content["labels"])


def write_json(bags, path):
    content = {"bags": [bag.tolist() for bag in bags], "features": bags.names, "labels": bags.labels.tolist()}
    path.write_text(json.dumps(content))


@pytest.fixture
def registered(monkeypatch):
    known = Format(
        name="json", title="JSON", suffixes=(".json",), read=read_json, write=write_json, takes_columns=False
    )
    monkeypatch.setitem(FORMATS, known.name, known)


@pytest.mark.usefixtures("registered")
def test_a_registered_format_is_read_and_written(tmp_path):
    path = tmp_path / "bags.json"
    write_bags(BAGS, path)
    assert json.loads(path.read_text())["features"] == ["width", "depth"]
    found = read_bags(path)
    assert found.instances.tolist() == BAGS.instances.tolist()
    assert found.feature_names == BAGS.feature_names
    assert str(guess_format(path)) == "JSON"
    other = tmp_path / "bags.txt"
    write_bags(BAGS, other, "json")
    assert read_bags(other, format="json").n_bags == 2


@pytest.mark.usefixtures("registered")
def test_errors_list_a_registered_format(tmp_path):
    with pytest.raises(ParameterError, match=r"'jsn'.*svmlight, json.*Did you mean 'json'"):
        write_bags(BAGS, tmp_path / "a", "jsn")
    with pytest.raises(ParameterError, match=r"\.libsvm, \.json"):
        write_bags(BAGS, tmp_path / "a.foo")
    (tmp_path / "a.foo").write_text("hello\n")
    with pytest.raises(InputError, match=r"'json' \(JSON\)"):
        read_bags(tmp_path / "a.foo")
    write_bags(BAGS, tmp_path / "a.json")
    with pytest.raises(ParameterError, match=r"'json'.*omit bag="):
        read_bags(tmp_path / "a.json", bag="width")
    with pytest.raises(InputError, match=r"JSON.*convert it to Parquet"):
        stream_bags(tmp_path / "a.json")
    with pytest.raises(ParameterError, match=r"JSON.*write Parquet"):
        write_bags(BagStream.from_bags(BAGS), tmp_path / "b.json")

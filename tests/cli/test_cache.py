"""``fuzzymil cache``."""

import json

import pytest
from runner import good

from fuzzymil._utils import programs


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with one program of two million bytes."""
    monkeypatch.setenv(programs.VARIABLE, str(tmp_path))
    path = tmp_path / "compiled" / "machine" / "some-cache"
    path.parent.mkdir(parents=True)
    path.write_bytes(bytes(2_000_000))
    return path


def test_it_shows_where_programs_are_and_removes_them(kept):
    shown = good("cache").stdout
    assert str(kept.parents[1]) in shown
    assert "1 program (2.0 MB)" in shown
    assert "1 program" in good("cache", "--clear").stdout
    assert not kept.exists()
    assert "0 programs" in good("cache").stdout


def test_as_json_and_off(kept, monkeypatch):
    assert json.loads(good("cache", "--json").stdout)["n_bytes"] == 2_000_000
    monkeypatch.setenv(programs.VARIABLE, "off")
    assert "off" in good("cache").stdout
    assert json.loads(good("cache", "--clear", "--json").stdout)["folder"] is None
    assert kept.exists()

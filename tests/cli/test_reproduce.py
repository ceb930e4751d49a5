"""``fuzzymil reproduce``: its options reach the experiments."""

import pytest
from runner import bad, good


@pytest.fixture
def asked(monkeypatch):
    """The options that the experiments were asked to run with."""
    options = []
    monkeypatch.setattr("fuzzymil.experiments.reproduce", lambda names, output, given, console: options.append(given))
    return options


def test_sizes_are_a_list_of_numbers(asked, tmp_path):
    good("reproduce", "planted", "-o", tmp_path, "--sizes", "200, 60,200")
    good("reproduce", "planted", "-o", tmp_path, "--repeats", "3", "--jobs", "2")
    assert [options.sizes for options in asked] == [(60, 200), None]
    assert (asked[1].repeats, asked[1].jobs) == (3, 2)


@pytest.mark.parametrize("sizes", ["", "60,", "few", "60;200", "-60", "19", "6e1"])
def test_bad_sizes_are_shown(asked, tmp_path, sizes):
    message = bad("reproduce", "planted", "-o", tmp_path, "--sizes", sizes)
    assert "--sizes" in message
    assert repr(sizes) in message
    assert "20" in message
    assert asked == []

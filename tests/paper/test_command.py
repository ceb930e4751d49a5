"""``python -m paper``: its options reach the experiments, and mistakes are told in one sentence."""

import json

import pytest

import paper.__main__ as command
from paper import run
from paper.run import EXPERIMENTS


@pytest.fixture
def asked(monkeypatch):
    """What the experiments were asked to run: names and options."""
    calls = []

    def reproduce(names, output, options, console):
        calls.append((names, options))
        console.print("for people")
        return {"accuracy": {"unseen": 0.5}, "nothing": float("nan")}

    monkeypatch.setattr(command, "reproduce", reproduce)
    return calls


def main(*arguments):
    try:
        return command.main([str(argument) for argument in arguments])
    except SystemExit as end:
        return end.code


def one_sentence(capsys):
    said = capsys.readouterr().err
    assert "Traceback" not in said
    (line,) = [line for line in said.splitlines() if line.strip()]
    return line


def test_options_reach_the_experiments(asked, tmp_path):
    assert main("planted", "-o", tmp_path, "--sizes", "200, 60,200") == 0
    assert main("all", "-o", tmp_path, "--repeats", "3", "--jobs", "2", "--quick", "--seed", "0") == 0
    (names, options), (every, others) = asked
    assert (names, options.sizes, options.quick) == (["planted"], (60, 200), False)
    assert (every, others.sizes) == (list(EXPERIMENTS), None)
    assert (others.repeats, others.jobs, others.quick, others.seed) == (3, 2, True, 0)


def test_json_replaces_the_printed_results(asked, tmp_path, capsys):
    assert main("synthetic", "-o", tmp_path) == 0
    assert capsys.readouterr().out == "for people\n"
    assert main("synthetic", "-o", tmp_path, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"accuracy": {"unseen": 0.5}, "nothing": None}


@pytest.mark.parametrize("sizes", ["", "60,", "few", "60;200", "-60", "19", "6e1"])
def test_bad_sizes_are_shown(asked, tmp_path, sizes, capsys):
    assert main("planted", "-o", tmp_path, f"--sizes={sizes}") == 2
    message = capsys.readouterr().err
    assert "--sizes" in message
    assert repr(sizes) in message
    assert "20" in message
    assert asked == []


@pytest.mark.parametrize("arguments", [["nothing"], ["synthetic", "--repeats", "0"], ["all", "--seed", "-1"]])
def test_wrong_usage(arguments, asked):
    assert main(*arguments) == 2
    assert asked == []


def test_missing_or_damaged_data(tmp_path, capsys):
    out = tmp_path / "out"
    assert main("all", "-o", out, "--data", tmp_path / "nowhere") == 2
    assert "nowhere" in one_sentence(capsys)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "elephant.csv.gz").write_bytes(b"cut off")
    assert main("dropout", "-o", out, "--data", folder) == 2
    assert "elephant.csv.gz" in one_sentence(capsys)


def test_a_bad_output(tmp_path, capsys):
    taken = tmp_path / "taken"
    taken.write_text("mine")
    assert main("synthetic", "-o", taken) == 2
    assert "is a file" in one_sentence(capsys)
    assert main("synthetic", "-o", taken / "below") == 2
    assert "Cannot write" in one_sentence(capsys)
    assert taken.read_text() == "mine"


def test_interrupted(tmp_path, capsys, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "results_of", stop)
    assert main("synthetic", "--quick", "-o", tmp_path) == 130
    assert "same command again" in capsys.readouterr().err

"""The command line: the demonstration, its files, and what happens when it cannot write."""

import json
import subprocess
import sys

import jax
import matplotlib.pyplot as plt
import pytest
from typer.testing import CliRunner

from fuzzymil import __version__, load_model
from fuzzymil.cli import app, main
from fuzzymil.datasets import make_two_concepts

CACHE = (
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)


@pytest.fixture(autouse=True)
def _cache_as_before():
    """The command turns a compilation cache on for its process; other tests keep theirs."""
    before = {name: getattr(jax.config, name) for name in CACHE}
    yield
    for name, value in before.items():
        jax.config.update(name, value)


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_demonstration(tmp_path):
    folder = tmp_path / "new" / "demo"
    figures = plt.get_fignums()
    result = invoke("demo", "-o", folder)
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in folder.iterdir()) == [
        "membership.png", "membership.svg", "model.json", "report.html", "results.json",
    ]  # fmt: skip
    assert (folder / "membership.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "membership.svg").read_text(encoding="utf-8")[:1000]
    assert plt.get_fignums() == figures  # closed again
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert results["accuracy"]["unseen"] > 0.9
    assert results["bags"] == {"training": 150, "unseen": 500}
    assert results["concepts_found"] == [True, True]
    assert results["library"] == __version__
    model = load_model(folder / "model.json")
    unseen = make_two_concepts(167, 166, random_state=10_000)
    assert model.score(unseen, unseen.labels) == results["accuracy"]["unseen"]
    for words in ("Rule 1: IF x1 is", "THEN y =", "Gaussian(", "(0.50, 0.50)", "Why is bag", "Wrote"):
        assert words in result.output
    again = invoke("demo", "-o", folder, "--seed", "0")  # over an older demonstration
    assert again.exit_code == 0
    repeated = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert repeated["accuracy"] == results["accuracy"]


def one_sentence(result):
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if line.strip()]
    assert len(lines) == 1
    return lines[0]


def test_output_that_is_a_file(tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    message = one_sentence(invoke("demo", "--output", path))
    assert str(path) in message
    assert "is a file" in message
    assert path.read_text() == "mine"


def test_output_below_a_file(tmp_path):
    path = tmp_path / "taken"
    path.write_text("mine")
    message = one_sentence(invoke("demo", "--output", path / "below"))
    assert "Cannot write" in message
    assert "Not a directory" in message


def test_output_that_cannot_be_written(tmp_path, monkeypatch):
    import fuzzymil.demo

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(fuzzymil.cli._demo, "run_demo", refuse)
    message = one_sentence(invoke("demo", "--output", tmp_path / "locked"))
    assert "Cannot write" in message
    assert "Permission denied" in message


def test_results_for_programs(tmp_path, monkeypatch):
    import fuzzymil.demo

    import fuzzymil.experiments

    def results(*args):
        args[-1].print("for people")
        return {"accuracy": {"unseen": 0.5}, "nothing": float("nan")}

    monkeypatch.setattr(fuzzymil.cli._demo, "run_demo", results)
    monkeypatch.setattr(fuzzymil.experiments, "reproduce", results)
    for command in (["demo"], ["reproduce", "synthetic"]):
        assert invoke(*command, "-o", tmp_path).stdout == "for people\n"
        told = invoke(*command, "-o", tmp_path, "--json").stdout
        assert json.loads(told) == {"accuracy": {"unseen": 0.5}, "nothing": None}


@pytest.mark.parametrize("arguments", [["demo", "--seed", "-1"], ["demo", "--seed", "x"], ["dmo"], ["demo", "--color"]])
def test_wrong_usage(arguments):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_version_and_help():
    assert invoke("--version").output.strip() == f"fuzzymil {__version__}"
    result = invoke("-h")
    assert result.exit_code == 0
    assert "demo" in result.output
    assert "--output" in invoke("demo", "--help").output
    assert "Usage" in invoke().output


def test_the_command_is_installed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fuzzymil", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_help_waits_for_nothing_heavy():
    program = (
        "import sys\n"
        "from fuzzymil.cli import app\n"
        "app(['--help'], standalone_mode=False)\n"
        "app(['fit', '--help'], standalone_mode=False)\n"
        "heavy = {'jax', 'jaxlib', 'sklearn', 'scipy', 'numpy', 'matplotlib', 'optax', 'pandas'} & set(sys.modules)\n"
        "print('HEAVY', sorted(heavy))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout
    assert "demo" in done.stdout

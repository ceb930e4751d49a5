"""The application: help, registration, completion, errors and interrupts."""

import json
import re
import subprocess
import sys

import pytest
from runner import COLUMNS, good, run
from typer.testing import CliRunner

from fuzzymil import __version__
from fuzzymil.cli import _options, _settings, app, bench, data, evaluate, main, plot
from fuzzymil.cli._settings import Task
from fuzzymil.datasets import FORMATS
from fuzzymil.rules.files import FORMATS as RULE_FORMATS

LISTED = ["fit", "evaluate", "predict", "explain", "rules", "studio", "plot", "report", "demo"]
LISTED += ["bench", "cache"]
COMMANDS = [[name] for name in LISTED] + [["data", name] for name in ("list", "fetch", "describe", "convert")]


def test_a_registered_command_is_listed_and_runs():
    registered = list(app.registered_commands)
    try:

        @app.command()
        def shout(word: str) -> None:
            """Say it loud."""
            print(word.upper())

        assert "shout" in good("--help").stdout
        assert good("shout", "word").stdout == "WORD\n"
    finally:
        app.registered_commands[:] = registered
    assert "shout" not in good("--help").stdout


def test_commands_are_listed_in_the_order_of_use():
    lines = good("--help").stdout.splitlines()
    found = [line.strip("│ ").split()[0] for line in lines if line.startswith("│ ") and line[2] not in " -"]
    assert found == [*LISTED, "data"]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command):
    text = good(*command, "--help").stdout
    assert f"fuzzymil {' '.join(command)}" in text.split("Example")[1]
    assert "--json" in text


@pytest.mark.parametrize("command", [[], ["data"], *COMMANDS], ids=" ".join)
def test_help_shows_what_to_write_and_no_types_of_python(command):
    text = good(*command, "--help").stdout
    assert not re.search(r"<[a-z]", text)
    flags = [line for line in text.splitlines() if line.startswith(("│ --json", "│ --help"))]
    assert flags
    for line in flags:
        name, _, _, said = re.fullmatch(r"│ (--\w+)( +-h)?( +)(\S.*\S) +│", line).groups()
        assert said.startswith({"--json": "Print", "--help": "Show"}[name])


def test_every_choice_is_in_the_help():
    for command, choices in (
        ("plot", plot.Kind),
        ("rules", RULE_FORMATS),
        ("fit", Task),
    ):
        text = good(command, "--help").stdout
        assert [choice for choice in choices if not re.search(rf"\b{choice}\b", text)] == []


def test_every_data_format_is_in_the_help():
    text = good("fit", "--help").stdout
    assert all(name in text for name in FORMATS)


def test_one_meaning_per_option():
    text = {name: " ".join(good(name, "--help").stdout.split()) for name in LISTED}
    for name in ("fit", "evaluate", "predict", "explain", "plot", "report"):
        assert "--bag COLUMN" in text[name]
    for name in ("explain", "plot"):
        assert "--id ID" in text[name]


def test_help_imports_nothing_heavy():
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


def test_version(monkeypatch, capsys):
    assert good("--version").output == f"fuzzymil {__version__}\n"
    monkeypatch.setattr(sys, "argv", ["fuzzymil", "--version"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0
    assert __version__ in capsys.readouterr().out
    done = subprocess.run([sys.executable, "-m", "fuzzymil", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"fuzzymil {__version__}\n"
    assert "Usage" in run().output


@pytest.mark.parametrize("arguments", [["demo", "--seed", "-1"], ["demo", "--seed", "x"], ["dmo"], ["demo", "--color"]])
def test_wrong_usage(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_completion():
    assert list(_options.format_names("s")) == ["svmlight"]
    assert set(_options.format_names("")) == set(FORMATS)
    assert "loss=" in list(_settings.setting_names("lo"))
    assert list(evaluate.method_names("misv")) == ["MISVM", "MiSVM"]
    assert data.set_names("m") == ["musk1", "musk2"]
    asked = {"_FUZZYMIL_COMPLETE": "complete_bash", "COMP_WORDS": "fuzzymil pl", "COMP_CWORD": "1"}
    assert run(env=asked).stdout.split() == ["plot"]


@pytest.mark.slow
def test_ctrl_c(desk, monkeypatch):
    def press(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("fuzzymil.datasets.read_bags", press)
    result = run("data", "describe", desk / "boxes.csv", *COLUMNS)
    assert result.exit_code == 130
    assert "Traceback" not in result.output


@pytest.mark.slow
def test_bugs_are_not_hidden(desk, monkeypatch):
    def broken(*arguments, **settings):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("fuzzymil.datasets.read_bags", broken)
    result = CliRunner().invoke(app, ["data", "describe", str(desk / "boxes.csv"), *COLUMNS])
    assert isinstance(result.exception, ZeroDivisionError)


@pytest.mark.slow
def test_bench(monkeypatch):
    monkeypatch.setattr(bench, "SIZES", ((6, 2, 2),))
    monkeypatch.setattr(bench, "EPOCHS", 2)
    found = json.loads(good("bench", "--repeats", 1, "--json").stdout)
    assert found["sizes"][0]["n_bags"] == 6
    assert found["sizes"][0]["first_fit_s"] > 0
    assert "epoch (ms)" in good("bench", "--repeats", 1).stdout

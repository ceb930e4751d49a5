"""Standard streams that are closed, full or left by their readers, and what may reach a terminal."""

import os
import pty
import shutil
import subprocess
import sys

import pytest
from runner import COLUMNS, SMALL, run

from fuzzymil import RuleBase, load_model

FULL = "/dev/full"
ESCAPE = "\x1b]0;owned\x07\x1b[2J"


@pytest.fixture
def here(desk, tmp_path, monkeypatch):
    for name in ("boxes.csv", "model.json"):
        shutil.copy(desk / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def shell(command):
    """Run a command line and return its exit code and standard error; F is the program."""
    program = f'F() {{ "{sys.executable}" -m fuzzymil "$@"; }}\n'
    done = subprocess.run(["bash", "-c", program + command], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stderr


NEEDS_FULL = pytest.mark.skipif(not os.path.exists(FULL), reason=f"needs {FULL}")


CASES = {
    "F rules model.json >&-": "Standard output is closed",
    "F --help >&-": "Standard output is closed",
    f"F rules model.json > {FULL}": "standard output: No space left",
    f"F --help > {FULL}": "standard output: No space left",
    f"F data list > {FULL}": "standard output: No space left",
    f"F predict model.json boxes.csv --json > {FULL}": "standard output: No space left",
    "F predict model.json - <&-": "Standard input is closed",
    "F rules - <&-": "Standard input is closed",
}
QUICK = ("F --help >&-", f"F data list > {FULL}")


@NEEDS_FULL
@pytest.mark.parametrize(
    "command", [pytest.param(command, marks=() if command in QUICK else pytest.mark.slow) for command in CASES]
)
def test_a_sentence_and_a_failure(here, command):
    code, told = shell(command)
    assert code == 1, told
    (line,) = [line for line in told.splitlines() if line.startswith("Error: ")]
    assert CASES[command] in line
    assert "Traceback" not in told
    assert "Exception ignored" not in told


@pytest.mark.slow
@pytest.mark.parametrize("command", ["F rules model.json", "F --help"])
def test_a_reader_that_has_seen_enough(here, command):
    code, told = shell(f"{command} | true; exit ${{PIPESTATUS[0]}}")
    assert code == 1
    assert told == ""


@NEEDS_FULL
@pytest.mark.slow
def test_a_model_for_a_full_standard_output_is_rescued(here):
    code, told = shell(f"F fit boxes.csv {' '.join([*COLUMNS, *SMALL])} -o - > {FULL}")
    assert code == 1
    assert "rescued-model.json" in told
    assert load_model("rescued-model.json").rules_ == load_model("model.json").rules_


@NEEDS_FULL
@pytest.mark.slow
@pytest.mark.parametrize("errors", ["2>&-", f"2>{FULL}"])
def test_messages_that_nobody_can_read_do_not_cost_the_result(here, errors):
    code, told = shell(f"F predict model.json boxes.csv -o new.csv <&- {errors}")
    assert (code, told) == (0, "")
    assert (here / "new.csv").read_text().count("\n") == 13


# ---------------------------------------------------------------------- terminals


def hostile(path):
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=[f"x{ESCAPE}"])
    rules.save(path)


def on_terminal(*command):
    """Run the program with a terminal as its standard output, and return what reaches it."""
    terminal, side = pty.openpty()
    done = subprocess.Popen([sys.executable, "-m", "fuzzymil", *command], stdout=side, stderr=side)
    os.close(side)
    found = b""
    try:
        while block := os.read(terminal, 4096):
            found += block
    except OSError:
        pass  # how Linux reports that the other side is closed
    os.close(terminal)
    assert done.wait(60) == 0
    return found.decode()


@pytest.mark.slow
def test_escapes_in_names_do_not_reach_a_terminal(here):
    hostile("rules.json")
    for format in ("text", "json"):
        shown = on_terminal("rules", "rules.json", "--format", format)
        assert "\x1b]0" not in shown
        assert "\x07" not in shown
        assert "\\u001b" in shown


def test_escapes_in_messages_and_errors_are_shown_as_codes(here):
    name = f"a{ESCAPE}\x9b31m\u202e.csv"
    for result in (run("data", "describe", name), run("rules", name), run("predict", "model.json", name)):
        assert result.exit_code == 2
        assert not any(character in result.output for character in "\x1b\x07\x9b\u202e")
        assert "\\u001b]0;owned\\u0007" in result.stderr


def test_results_in_files_and_pipes_are_not_changed(here):
    (here / "odd.csv").write_text((here / "boxes.csv").read_text().replace("b7,", f"b7{ESCAPE},"))
    assert f"b7{ESCAPE}," in run("predict", "model.json", "odd.csv").stdout


@pytest.mark.slow
@pytest.mark.parametrize("limit", [400_000, 1_500_000])
def test_little_address_space_is_a_sentence(here, limit):
    options = " ".join([*COLUMNS, *SMALL])
    code, told = shell(f"ulimit -v {limit}; F fit boxes.csv {options} -o new.json")
    assert code in (1, 2), told
    assert "Traceback" not in told
    assert "address space" in told.splitlines()[-1] or "not enough memory" in told.splitlines()[-1]

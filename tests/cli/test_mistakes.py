"""User errors: one clear message, exit code 2, no traceback, nothing written."""

import json
import os
from pathlib import Path

import pytest
from runner import NETWORK, bad
from typer.testing import CliRunner

from fuzzymil import MISugeno
from fuzzymil.cli import app
from fuzzymil.datasets import read_bags

TABLE = "bag,label,weight,length\n" + "".join(f"b{b},{b % 2},{b}.5,{b * b}\nb{b},{b % 2},0.5,1\n" for b in range(8))
RULES = "VARIABLE weight: heavy = Gaussian(4, 1)\nIF weight is heavy THEN y = 1\nIF anything THEN y = 0 WITH 0.1\n"

# Each command, with placeholders for the data, the model and the file to write.
COMMANDS = {
    "fit": ("fit", "DATA", "-o", "TARGET.json"),
    "evaluate": ("evaluate", "DATA"),
    "predict": ("predict", "MODEL", "DATA", "-o", "TARGET.csv"),
    "explain": ("explain", "MODEL", "DATA", "--id", "b1", "-o", "TARGET.txt"),
    "explain figure": ("explain", "MODEL", "DATA", "--id", "b1", "--figure", "TARGET.png"),
    "rules": ("rules", "MODEL", "-o", "TARGET.json"),
    "plot": ("plot", "membership", "MODEL", "-o", "TARGET.png"),
    "plot with data": ("plot", "space", "MODEL", "DATA", "-o", "TARGET.png"),
    "report": ("report", "MODEL", "DATA", "-o", "TARGET.html"),
    "fit --continue": ("fit", "DATA", "--continue", "MODEL", "-o", "TARGET.json"),
    "fit --init": ("fit", "DATA", *NETWORK, "--init", "MODEL", "-o", "TARGET.json"),
    "data describe": ("data", "describe", "DATA"),
    "data convert": ("data", "convert", "DATA", "TARGET.csv"),
}
# --continue checks the model first, and the good one here was not trained.
WITH_DATA = [name for name, parts in COMMANDS.items() if "DATA" in parts and name != "fit --continue"]
WITH_MODEL = [name for name, parts in COMMANDS.items() if "MODEL" in parts]
WITH_TARGET = [name for name, parts in COMMANDS.items() if any(part.startswith("TARGET") for part in parts)]
BINARY = bytes(range(256))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with good data, a good model, and every kind of wrong file."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "good.csv").write_text(TABLE)
    bags = read_bags(folder / "good.csv")
    MISugeno(rules=RULES).fit(bags).save(folder / "good.json")
    (folder / "empty").touch()
    (folder / "blank").write_text("\n \n")
    (folder / "binary").write_bytes(BINARY)
    (folder / "folder").mkdir()
    (folder / "other.csv").write_text(TABLE.replace("weight", "mass"))
    (folder / "words.csv").write_text(TABLE.replace("0.5", "light", 1))
    (folder / "cut.csv").write_text(TABLE[:-4])
    (folder / "other.json").write_text(json.dumps({"format": "some.other", "version": 1}))
    (folder / "list.json").write_text("[1, 2]")
    newer = json.loads((folder / "good.json").read_text()) | {"version": 99}
    (folder / "newer.json").write_text(json.dumps(newer))
    cut = (folder / "good.json").read_text()
    (folder / "cut.json").write_text(cut[: len(cut) // 2])
    return folder


def sentence(desk, tmp_path, command, *extra, data="good.csv", model="good.json", target=None):
    """Run a command with a mistake in it and return the one message, without "Error: "."""
    places = {"DATA": desk / data, "MODEL": desk / model}
    arguments = []
    for part in COMMANDS[command]:
        if part.startswith("TARGET"):
            places[part] = tmp_path / f"new{Path(part).suffix}" if target is None else target
        arguments.append(str(places.get(part, part)))
    result = CliRunner().invoke(app, [*arguments, *map(str, extra)])
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    assert not result.stdout
    messages = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(messages) == 1
    assert result.stderr.splitlines()[-1] == messages[0]  # nothing after it, and it is one line
    assert messages[0].endswith((".", "?"))
    assert not list(tmp_path.iterdir())  # neither a result nor half of one
    return messages[0].removeprefix("Error: ")


@pytest.mark.slow
@pytest.mark.parametrize("command", WITH_DATA)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("absent.csv", ""),
        ("empty", "empty"),
        ("blank", "empty"),
        ("binary", "text"),
        ("folder", ".npy or .parquet"),
        ("words.csv", "expected a number, found 'light'"),
        ("cut.csv", "line 17"),
        ("good.json", "is a model, or rules"),
    ],
)
def test_wrong_data(desk, tmp_path, command, wrong, words):
    found = sentence(desk, tmp_path, command, data=wrong)
    assert str(desk / wrong) in found
    assert words in found


@pytest.mark.parametrize("command", WITH_MODEL)
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("absent.json", "not found"),
        ("empty", "empty"),
        ("blank", ""),
        ("binary", ""),
        ("folder", "folder"),
        ("other.json", "'some.other'"),
        ("list.json", "begins with '[1, 2]'"),
        ("newer.json", "99"),
        ("cut.json", "line"),
        ("good.csv", ""),
    ],
)
def test_wrong_model(desk, tmp_path, command, wrong, words):
    found = sentence(desk, tmp_path, command, model=wrong)
    assert str(desk / wrong) in found or "'.csv'" in found
    assert words in found


@pytest.mark.parametrize("command", WITH_DATA)
@pytest.mark.parametrize("role", ["bag", "label"])
def test_wrong_column(desk, tmp_path, command, role):
    found = sentence(desk, tmp_path, command, f"--{role}", "lable")
    assert "'lable'" in found
    assert f"--{role}" in found
    assert f"{role}=" not in found
    assert "Did you mean 'label'?" in found


@pytest.mark.parametrize("command", [name for name in WITH_DATA if "MODEL" in COMMANDS[name] and "fit" not in name])
def test_data_with_other_features(desk, tmp_path, command):
    found = sentence(desk, tmp_path, command, data="other.csv")
    assert "no column 'weight'" in found
    assert "mass" in found


@pytest.mark.parametrize("command", WITH_TARGET)
def test_targets_that_cannot_be_written(desk, tmp_path, command):
    suffix = next(Path(part).suffix for part in COMMANDS[command] if part.startswith("TARGET"))
    found = sentence(desk, tmp_path, command, target=tmp_path / "nowhere" / f"new{suffix}")
    assert f"not found: {tmp_path / 'nowhere'}" in found
    taken = desk / f"taken{suffix}"
    taken.mkdir(exist_ok=True)
    found = sentence(desk, tmp_path, command, target=taken)
    assert "is a folder" in found


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["--n-rules", "0"], "max_rules"),
        ([*NETWORK, "--n-rules", "1"], "--order 1"),
        (["--max-conditions", "0"], "max_conditions"),
        ([*NETWORK, "--learning-rate", "-1"], "learning_rate"),
        ([*NETWORK, "--set", "los=hinge"], "Did you mean 'loss'?"),
        ([*NETWORK, "--set", "loss"], "--set loss=VALUE"),
        ([*NETWORK, "--set", "loss=huge"], "'huge'"),
        (["--set", "random_state=3"], "--seed 3"),
        ([*NETWORK, "--set", "init=fcm"], "--init fcm"),
        ([*NETWORK, "--init", "kmean"], "Did you mean 'kmeans'?"),
        ([*NETWORK, "--init", "absent.rules"], "absent.rules"),
        (["--format", "cvs"], "Did you mean 'csv'?"),
        (["--label", "bag", "--bag", "bag"], "'bag'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_settings(desk, tmp_path, extra, words):
    assert words in sentence(desk, tmp_path, "fit", *extra)


def test_missing_values_and_what_to_do(desk, tmp_path):
    (desk / "missing.csv").write_text(TABLE.replace("0.5", "", 1))
    found = sentence(desk, tmp_path, "fit", "--set", "missing=error", data="missing.csv")
    assert "'weight'" in found
    assert "bag b0" in found
    assert "--set missing=median" in found


def test_no_labels(desk, tmp_path):
    (desk / "unlabeled.csv").write_text(TABLE.replace("label", "height"))
    found = sentence(desk, tmp_path, "fit", data="unlabeled.csv")
    assert "--label, one of height, weight, length" in found


def test_one_class_only(desk, tmp_path):
    (desk / "same.csv").write_text("bag,label,x\n" + "".join(f"b{b},1,{b}\n" for b in range(6)))
    assert "6 bags" in sentence(desk, tmp_path, "fit", data="same.csv")


@pytest.mark.parametrize("content", [b"", BINARY, b"bag,label\n"], ids=["empty", "binary", "no features"])
def test_wrong_standard_input(desk, content):
    result = CliRunner().invoke(app, ["data", "describe", "-"], input=content)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: standard input")
    model = CliRunner().invoke(app, ["rules", "-"], input=content)
    assert model.exit_code == 2
    assert model.stderr.startswith("Error: standard input")


def test_standard_input_cannot_be_both(desk):
    result = CliRunner().invoke(app, ["predict", "-", "-"], input=TABLE.encode())
    assert result.exit_code == 2
    assert "not both" in result.stderr


def test_model_and_data_swapped(desk, tmp_path):
    found = sentence(desk, tmp_path, "predict", model="good.csv", data="good.json")
    assert "the model comes first, then the data" in found


def test_data_in_place_of_a_model(tmp_path):
    path = tmp_path / "boxes.csv"
    path.write_text(TABLE)
    result = CliRunner().invoke(app, ["rules", str(path)])
    assert result.exit_code == 2
    assert f"{path} looks like data" in result.stderr
    assert f"fuzzymil fit {path}" in result.stderr
    assert "char 0" not in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs a file without end")
def test_a_link_to_a_device_is_not_read_forever(tmp_path):
    endless = tmp_path / "a.csv"
    endless.symlink_to("/dev/zero")
    for command in (["data", "describe"], ["fit"], ["rules"]):
        assert "is a device, which may have no end" in bad(*command, endless)

"""Outputs destroy nothing, and a result that cannot be written where it should is not lost."""

import contextlib
import json
import os
import shutil
import stat
import threading
from pathlib import Path

import pytest
from runner import COLUMNS, NETWORK, SMALL, bad, good, run

from fuzzymil import load_model
from fuzzymil.learn.train import trainer

DATA, MODEL, OTHER = "boxes.csv", "model.json", "other"
COMMANDS = {
    "predict": ("predict", MODEL, DATA, "-o", OTHER),
    "report": ("report", MODEL, DATA, "--no-cross-validate", "-o", OTHER),
    "explain": ("explain", MODEL, DATA, "--id", "b1", "-o", OTHER),
    "explain figure": ("explain", MODEL, DATA, "--id", "b1", "--figure", OTHER),
    "plot": ("plot", "space", MODEL, DATA, "-o", OTHER),
    "fit": ("fit", DATA, *COLUMNS, *SMALL, "-o", OTHER),
    "fit --init": ("fit", DATA, *COLUMNS, *NETWORK, "--init", MODEL, "--max-epochs", "2", "-o", OTHER),
    "rules": ("rules", MODEL, "--format", "json", "-o", OTHER),
    "data convert": ("data", "convert", DATA, OTHER, *COLUMNS, "--to", "csv"),
}


@pytest.fixture
def here(desk, tmp_path, monkeypatch):
    """The working directory, with the data and the model."""
    folder = tmp_path / "here"
    folder.mkdir()
    for name in (DATA, MODEL):
        shutil.copy(desk / name, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path))
    return folder


def command(name, target):
    return [target if part == OTHER else part for part in COMMANDS[name]]


EACH = [pytest.param(name, marks=pytest.mark.slow if name == "report" else ()) for name in COMMANDS]
FIGURES = ("explain figure", "plot")  # only links have their endings


@pytest.mark.parametrize(
    ("name", "way", "source"),
    [
        (name, way, source)
        for name, parts in COMMANDS.items()
        for way in ("name", "dots", "symbolic link", "hard link")
        for source in (DATA, MODEL)
        if source in parts and ("link" in way or name not in FIGURES)
    ],
)
def test_an_input_is_not_overwritten(here, name, way, source):
    target = Path(source)
    if way == "dots":
        Path("below").mkdir()
        target = Path("below") / ".." / source
    elif "link" in way:
        target = Path("another.png")
    if way == "symbolic link":
        target.symlink_to(source)
    elif way == "hard link":
        os.link(source, target)
    before = Path(source).read_bytes()
    told = bad(*command(name, target))
    assert f"{target} is also an input" in told
    assert Path(source).read_bytes() == before


def test_a_model_can_be_continued_in_place(here):
    good("fit", DATA, "--continue", MODEL, "--max-epochs", "2", "-o", MODEL)
    assert len(load_model(MODEL).history_["loss"]) == 2


def test_a_file_of_a_folder_of_arrays_is_not_overwritten(here):
    good("data", "convert", DATA, "arrays", *COLUMNS)
    assert "arrays/labels.csv is also an input" in bad("data", "convert", "arrays", "arrays/labels.csv")
    assert "is also an input" in bad("data", "convert", "arrays", "arrays/../arrays")
    good("data", "convert", "arrays", "table.csv")


STREAMS = {
    "predict model.json - -o boxes.csv < boxes.csv": "boxes.csv is also an input (as standard input)",
    "predict model.json boxes.csv >> boxes.csv": "Standard output is also an input (as boxes.csv)",
    "predict model.json boxes.csv 1<> boxes.csv": "Standard output is also an input (as boxes.csv)",
    "predict model.json - < boxes.csv >> boxes.csv": "Standard output is also an input (as standard input)",
    "predict model.json boxes.csv --json >> model.json": "Standard output is also an input (as model.json)",
    "predict model.json boxes.csv -o /dev/stdout >> boxes.csv": "is also an input (as boxes.csv)",
    "fit - --bag box --label color -o boxes.csv < boxes.csv": "boxes.csv is also an input (as standard input)",
    "fit boxes.csv --bag box --label color >> boxes.csv": "Standard output is also an input (as boxes.csv)",
    "data convert - boxes.csv --bag box --label color < boxes.csv": "boxes.csv is also an input (as standard input)",
    "data convert boxes.csv - --bag box --label color >> boxes.csv": "Standard output is also an input (as boxes.csv)",
    "data describe boxes.csv --bag box --label color >> boxes.csv": "Standard output is also an input (as boxes.csv)",
    "rules - -o model.json < model.json": "model.json is also an input (as standard input)",
    "rules model.json >> model.json": "Standard output is also an input (as model.json)",
    "rules model.json --diff boxes.rules -o boxes.rules": "boxes.rules is also an input",
    "rules boxes.rules >> boxes.rules": "Standard output is also an input (as boxes.rules)",
    "evaluate boxes.csv --bag box --label color >> boxes.csv": "Standard output is also an input (as boxes.csv)",
}


def led(command):
    """Run a command in this process, with its standard streams led as a shell would; return code and messages."""
    words, places = command.split(), {}
    with contextlib.ExitStack() as stack:
        for sign, mode, number in (("1<>", os.O_RDWR, 1), (">>", os.O_WRONLY | os.O_APPEND, 1), ("<", os.O_RDONLY, 0)):
            if sign in words:
                at = words.index(sign)
                places[number] = os.open(words[at + 1], mode)
                stack.callback(os.close, places[number])
                del words[at : at + 2]
        for number, handle in places.items():
            before = os.dup(number)
            stack.callback(os.close, before)
            stack.callback(os.dup2, before, number)
            os.dup2(handle, number)
        result = run(*words)
    return result.exit_code, result.stderr


@pytest.mark.parametrize("command", STREAMS)
def test_an_input_is_not_overwritten_through_a_stream(here, command):
    good("rules", MODEL, "-o", "boxes.rules")
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    code, told = led(command)
    assert STREAMS[command] in told
    assert code == 2
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@pytest.mark.parametrize("name", ["fit", pytest.param("report", marks=pytest.mark.slow), "plot", "demo"])
def test_an_output_that_nobody_named_follows_no_link(here, name):
    Path("victim").mkdir()
    default = {"fit": MODEL, "report": "report.html", "plot": "space.png", "demo": "fuzzymil-demo"}[name]
    Path("known.json").write_bytes(Path(MODEL).read_bytes())
    Path(default).unlink(missing_ok=True)
    Path(default).symlink_to("victim" if name == "demo" else "victim/file")
    if name == "demo":
        assert "fuzzymil-demo: is a link" in bad("demo")
    else:
        words = ["known.json" if word == MODEL else word for word in COMMANDS[name] if word not in ("-o", OTHER)]
        good(*words)
        assert not Path(default).is_symlink()
    assert os.listdir("victim") == []


def test_text_and_figure_need_two_files(here):
    told = bad("explain", MODEL, DATA, "--id", "b1", "-o", "a.png", "--figure", "../here/a.png")
    assert "--figure" in told
    assert not Path("a.png").exists()


@pytest.mark.parametrize("name", EACH)
def test_a_named_pipe_gets_the_result_and_stays(here, name):
    target = Path("pipe.png" if name in FIGURES else "pipe")
    os.mkfifo(target)
    found = []
    reader = threading.Thread(target=lambda: found.append(target.read_bytes()), daemon=True)
    reader.start()
    good(*command(name, target))
    reader.join(10)
    assert len(found[0]) > 30
    assert stat.S_ISFIFO(target.stat().st_mode)


# ---------------------------------------------------------------------- disks that are full


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_noticed_before_the_work(here, name, full_disks, monkeypatch):
    full_disks[here] = 100
    for reader in ("read_model", "read_data", "read_parts", "read_both", "read_rules_or_model"):
        for module in ("predict", "report", "explain", "plot", "fit", "rules", "data"):
            refuse = f"fuzzymil.cli.{module}.{reader}"
            monkeypatch.setattr(refuse, lambda *_, **__: pytest.fail("the work has begun"), raising=False)
    told = bad(*command(name, "new.png" if name in FIGURES else "new"))
    assert "new" in told
    assert "No space left" in told
    assert sorted(os.listdir()) == [DATA, MODEL]


@pytest.mark.parametrize("name", EACH)
def test_a_result_that_does_not_fit_is_rescued(here, name, full_disks, monkeypatch):
    monkeypatch.setattr("fuzzymil.cli._console.storage.check_writable", lambda path: None)
    monkeypatch.setattr("fuzzymil.report._report.storage.check_writable", lambda path: None)
    ending = ".png" if name in FIGURES else ".txt"
    good(*command(name, f"expected{ending}"))
    Path("full").mkdir()
    (Path("full") / f"new{ending}").write_text("old")
    full_disks[here / "full"] = 100
    result = run(*command(name, f"full/new{ending}"))
    assert result.exit_code == 1
    told = result.stderr.splitlines()[-1]
    assert told.startswith(f"Error: Could not write to full/new{ending}: No space left")
    assert f"rescued-new{ending}" in told
    assert os.listdir("full") == [f"new{ending}"]
    assert (Path("full") / f"new{ending}").read_text() == "old"
    rescued = Path(f"rescued-new{ending}").read_bytes()
    expected = Path(f"expected{ending}").read_bytes()
    if name == "report":  # which says when it was written
        assert abs(len(rescued) - len(expected)) < 20
    else:
        assert rescued == expected


def test_a_folder_that_disappears_during_a_fit_does_not_cost_the_model(here, monkeypatch):
    Path("out").mkdir()
    announce = trainer._Driver.announce
    monkeypatch.setattr(trainer._Driver, "announce", lambda *_: shutil.rmtree("out", True) or announce(*_))
    result = run("fit", DATA, *COLUMNS, *SMALL, "-o", "out/new.json")
    assert result.exit_code == 1
    assert "rescued-new.json" in result.stderr
    assert load_model("rescued-new.json").rules_.n_rules == 2


def test_checkpoints_stay_until_the_model_is_saved(here, full_disks, monkeypatch):
    """So that a fit whose model can be written nowhere does not start again."""
    monkeypatch.setattr("fuzzymil.cli._console.storage.check_writable", lambda path: None)
    monkeypatch.setattr("fuzzymil._utils.storage._refuges", list)
    Path("full").mkdir()
    full_disks[here / "full"] = 0
    fit = ["fit", DATA, *COLUMNS, *SMALL, "--checkpoint", "kept", "-o"]
    told = bad(*fit, "full/new.json")
    assert "No space left" in told
    assert len(os.listdir("kept")) == 1
    epochs = []
    announce = trainer._Driver.announce
    monkeypatch.setattr(trainer._Driver, "announce", lambda *_: epochs.append(1) or announce(*_))
    good(*fit, "new.json")
    assert not epochs
    assert not Path("kept").exists()
    assert json.loads(Path("new.json").read_text())["history"] == json.loads(Path(MODEL).read_text())["history"]


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_fit(here, full_disks, monkeypatch):
    monkeypatch.setattr("fuzzymil.cli._console.storage.check_writable", lambda path: None)
    monkeypatch.setattr(trainer, "_CHECKPOINT_SECONDS", -1.0)
    full_disks[here / "kept"] = 0
    result = good("fit", DATA, *COLUMNS, *SMALL, "--checkpoint", "kept", "-o", "new.json")
    assert "Warning: Cannot write the checkpoint" in result.stderr
    assert "No space left" in result.stderr
    assert load_model("new.json").rules_ == load_model(MODEL).rules_


def test_folders_that_cannot_be_written(here, full_disks):
    full_disks[here] = 0
    for option in (["fit", DATA, *COLUMNS, "-o", "../new.json", "--checkpoint"], ["demo", "-o"]):
        assert "Cannot write below/there: No space left" in bad(*option, "below/there")
    Path("below").touch()
    assert "below is a file: --checkpoint needs a folder" in bad(
        "fit", DATA, "-o", "../m.json", "--checkpoint", "below"
    )


# ---------------------------------------------------------------------- inputs that are pipes


def fed(path, content):
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(content,), daemon=True).start()
    return path


def test_pipes_as_inputs(here):
    model, data = Path(MODEL).read_bytes(), Path(DATA).read_bytes()
    good("predict", MODEL, DATA, "-o", "expected.csv")
    good("predict", fed(Path("m"), model), fed(Path("d"), data), "-o", "found.csv")
    assert Path("found.csv").read_bytes() == Path("expected.csv").read_bytes()
    good("fit", fed(Path("d2.csv"), data), *COLUMNS, *SMALL, "-o", "again.json")
    assert load_model("again.json").rules_ == load_model(MODEL).rules_
    expected = good("rules", MODEL, "--format", "rules").stdout
    assert good("rules", fed(Path("m2"), model), "--format", "rules").stdout == expected
    assert good("rules", fed(Path("r"), expected.encode()), "--format", "rules").stdout == expected
    assert good("rules", "-", "--format", "rules", input=expected).stdout == expected


def test_mistakes_in_pipes_name_them(here):
    assert "m.pipe" in bad("rules", fed(Path("m.pipe"), b'{"format": 1}'))
    assert "r is" not in (told := bad("rules", fed(Path("r"), b"IF x is")))
    assert told.startswith("Error: r: ")
    assert "Line 1" in told
    assert "d.csv cannot be streamed" in bad("fit", fed(Path("d.csv"), b""), "--stream")

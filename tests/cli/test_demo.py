"""The demonstration, its files, and what happens when they cannot be written."""

import json

import matplotlib.pyplot as plt
import pytest
from runner import bad, good, run

from fuzzymil import __version__, load_model
from fuzzymil.cli import demo
from fuzzymil.datasets import make_two_concepts


@pytest.mark.slow
def test_demo_shows_the_rules_and_writes_its_files(tmp_path):
    folder = tmp_path / "new" / "demo"
    figures = plt.get_fignums()
    output = good("demo", "-o", folder).output
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.json", "report.html", "rules.png", "rules.svg",
    ]  # fmt: skip
    assert (folder / "rules.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "rules.svg").read_text(encoding="utf-8")[:1000]
    assert plt.get_fignums() == figures  # closed again
    results = json.loads(good("demo", "-o", folder, "--json").stdout)  # over the older one
    assert results["accuracy"]["rules"] > max(0.95, results["accuracy"]["forest"])
    assert results["bags"] == {"training": 150, "held_out": 500}
    assert results["library"] == __version__
    model, unseen = load_model(folder / "model.json"), make_two_concepts(167, 166, random_state=10_000)
    assert model.score(unseen, unseen.labels) == results["accuracy"]["rules"]
    assert not model.rules_.diagnose(unseen).findings  # no contradictions, no dead rules
    printed = output.replace(str(folder), "demo").splitlines()
    assert max(map(len, printed)) <= 88
    assert model.rules_.to_text(digits=3) in output
    for words in ("Default: y = -", "IF SOME (x1 is", "THEN y +=", "(0.50, 0.50)", "logit -> prob", "report.html"):
        assert words in output


def test_output_that_cannot_be_written(tmp_path, monkeypatch):
    path = tmp_path / "taken"
    path.write_text("mine")
    assert "taken is a file" in bad("demo", "--output", path)
    assert "Not a directory" in bad("demo", "--output", path / "below")
    assert path.read_text() == "mine"

    def refuse(*args):
        raise PermissionError(13, "Permission denied", "locked")

    monkeypatch.setattr(demo, "run_demo", refuse)
    assert "Permission denied" in bad("demo", "--output", tmp_path / "locked")


def test_json_replaces_the_printed_results(tmp_path, monkeypatch):
    def results(*args):
        args[-1].print("for people")
        return {"accuracy": {"unseen": 0.5}, "nothing": float("nan")}

    monkeypatch.setattr(demo, "run_demo", results)
    assert run("demo", "-o", tmp_path).stdout == "for people\n"
    shown = run("demo", "-o", tmp_path, "--json").stdout
    assert json.loads(shown) == {"accuracy": {"unseen": 0.5}, "nothing": None}

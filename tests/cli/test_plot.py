"""``plot`` and ``report``."""

import json

import pytest
from runner import COLUMNS, bad, good

from fuzzymil import load_model
from fuzzymil.cli.plot import Kind
from fuzzymil.datasets import read_bags


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.shapes, Kind.joined)])
def test_every_kind_of_figure(desk, tmp_path, kind):
    target = tmp_path / "figure.svg"
    one = ["--id", "b1"] if kind is Kind.explanation else []
    good("plot", kind, desk / "model.json", desk / "boxes.csv", *one, "-o", target)
    assert "<svg" in target.read_text()[:1000]


def test_shapes_are_for_additive_rules(desk, tmp_path):
    model = tmp_path / "additive.json"
    load_model(desk / "model.json").set_params(normalize=False, init="kmeans").fit(
        read_bags(desk / "boxes.csv", bag="box", label="color")
    ).save(model)
    good("plot", "shapes", model, desk / "boxes.csv", "--bag", "box", "--label", "color", "-o", tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()[:1000]


def test_figures_without_data(desk, tmp_path):
    result = good("plot", "surface", desk / "model.json", "--json", "-o", tmp_path / "s.png")
    assert json.loads(result.stdout) == {"figure": str(tmp_path / "s.png"), "kind": "surface"}
    assert "weight (x) and length (y)" in result.stderr
    assert "MODEL DATA" in bad("plot", "firing", desk / "model.json", "-o", tmp_path / "f.png")
    assert "MODEL DATA --id" in bad("plot", "grid", desk / "model.json", "--id", "b1", "-o", tmp_path / "f.png")
    assert "'.doc'" in bad("plot", "grid", desk / "model.json", "-o", tmp_path / "f.doc")
    assert "-o" in bad("plot", "grid", desk / "model.json", "-o", "-")
    space = ["plot", "space", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "f.png"]
    assert "--x and --y" in bad(*space, "--x", "weight")


def test_report(desk, tmp_path):
    target = tmp_path / "page.html"
    arguments = ["report", desk / "model.json", desk / "boxes.csv", "-o", target, "--no-cross-validate"]
    result = good(*arguments, "--title", "Boxes", "--json")
    assert json.loads(result.stdout)["bytes"] == target.stat().st_size
    assert "Boxes" in target.read_text(encoding="utf-8")
    assert "name a file" in bad(*arguments[:3], "-o", "-")


def test_chosen_rules_have_no_curves(desk, tmp_path):
    good("fit", desk / "boxes.csv", *COLUMNS, "-o", tmp_path / "chosen.json")
    assert "chosen" in bad("plot", "curves", tmp_path / "chosen.json", "-o", tmp_path / "curves.png")
    assert not (tmp_path / "curves.png").exists()

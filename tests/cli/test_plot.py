"""``plot`` and ``report``."""

import json
import subprocess
import sys

import numpy as np
import pytest
from runner import COLUMNS, bad, good

from fuzzymil import MISugeno, RuleBase, load_model
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
    load_model(desk / "model.json").set_params(operators__normalize=False).fit(
        read_bags(desk / "boxes.csv", bag="box", label="color")
    ).save(model)
    good("plot", "shapes", model, desk / "boxes.csv", "--bag", "box", "--label", "color", "-o", tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()[:1000]


def test_figures_without_data(desk, tmp_path):
    result = good("plot", "surface", desk / "model.json", "--json", "-o", tmp_path / "s.png")
    assert json.loads(result.stdout) == {"figure": str(tmp_path / "s.png"), "kind": "surface"}
    assert "weight (x) and length (y)" in result.stderr
    assert "MODEL DATA" in bad("plot", "space", desk / "model.json", "-o", tmp_path / "f.png")
    assert "MODEL DATA --id" in bad("plot", "membership", desk / "model.json", "--id", "b1", "-o", tmp_path / "f.png")
    assert "'.doc'" in bad("plot", "membership", desk / "model.json", "-o", tmp_path / "f.doc")
    assert "-o" in bad("plot", "membership", desk / "model.json", "-o", "-")
    space = ["plot", "space", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "f.png"]
    assert "--x and --y" in bad(*space, "--x", "weight")


def test_report(desk, tmp_path):
    target = tmp_path / "page.html"
    arguments = ["report", desk / "model.json", desk / "boxes.csv", "-o", target, "--no-cross-validate"]
    result = good(*arguments, "--title", "Boxes", "--json")
    assert json.loads(result.stdout)["bytes"] == target.stat().st_size
    assert "Boxes" in target.read_text(encoding="utf-8")
    assert "name a file" in bad(*arguments[:3], "-o", "-")


def test_a_matplotlibrc_of_somebody_else_is_ignored(desk, tmp_path):
    """They could run LaTeX, or import a module."""
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\nbackend: module://harm\nfigure.facecolor: ff0000\n")
    command = ["plot", "membership", str(desk / "model.json"), "-o", "sets.svg"]
    said = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.argv[1:] = {command}; from fuzzymil.cli import main; main()"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stderr  # fmt: skip
    assert "matplotlibrc in the current folder is ignored" in said
    assert "#ff0000" not in (tmp_path / "sets.svg").read_text()


def test_chosen_rules_have_no_curves(desk, tmp_path):
    good("fit", desk / "boxes.csv", *COLUMNS, "-o", tmp_path / "chosen.json")
    assert "chosen" in bad("plot", "curves", tmp_path / "chosen.json", "-o", tmp_path / "curves.png")
    assert not (tmp_path / "curves.png").exists()


def test_importance_is_told_and_drawn(desk, tmp_path):
    target = tmp_path / "importance.svg"
    result = good("plot", "importance", desk / "model.json", desk / "boxes.csv", "-o", target)
    assert "training bags" in result.stdout
    assert "drop in accuracy" in result.stdout
    assert "weight" in result.stdout
    assert "<svg" in target.read_text()[:1000]
    arguments = ["plot", "importance", desk / "model.json", desk / "boxes.csv", "-o", target, "--scoring", "roc_auc"]
    (found,) = json.loads(good(*arguments, "--json").stdout)["importance"]
    assert found["score_name"] == "roc auc"
    assert "--scoring is for plot importance" in bad(
        "plot", "membership", desk / "model.json", "--scoring", "r2", "-o", target
    )


def test_effects_of_named_features(desk, tmp_path):
    target = tmp_path / "effect.svg"
    arguments = ["plot", "effect", desk / "model.json", desk / "boxes.csv", "-o", target, "--json"]
    found = json.loads(good(*arguments, "--feature", "weight").stdout)["effect"]
    assert [each["feature"] for each in found] == ["weight"]
    found = json.loads(good(*arguments, "--feature", "length,weight").stdout)["effect"]
    assert [each["feature"] for each in found] == ["length", "weight"]
    assert "'weihgt'" in bad(*arguments[:-1], "--feature", "weihgt")
    assert "--feature is for plot effect" in bad(
        "plot", "membership", desk / "model.json", "--feature", "weight", "-o", target
    )


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A folder with bags of three classes, and a model of them."""
    folder = tmp_path_factory.mktemp("several")
    kinds = ["a", "b", "c"]
    rows = [f"b{n},{kinds[n % 3]},{n % 3 + 0.1 * i},{n}" for n in range(12) for i in range(2)]
    (folder / "boxes.csv").write_text("\n".join(["box,kind,weight,length", *rows]))
    rules = RuleBase.from_arrays(
        [[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]],
        np.tile([0.5, 9.0], (3, 1)),
        np.eye(3)[:, :, None],
        feature_names=["weight", "length"],
        output_names=kinds,
    )
    MISugeno(rules=rules).fit(read_bags(folder / "boxes.csv", bag="box", label="kind")).save(folder / "model.json")
    return folder


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind not in (Kind.shapes, Kind.joined, Kind.curves)])
def test_any_of_several_classes_can_be_shown(several, tmp_path, kind):
    columns = ["--bag", "box", "--label", "kind", "-o", tmp_path / "figure.svg"]
    arguments = ["plot", kind, several / "model.json", several / "boxes.csv", *columns]
    arguments += ["--id", "b1"] if kind is Kind.explanation else []
    good(*arguments)
    if kind in (Kind.space, Kind.importance):
        assert "omit --class" in bad(*arguments, "--class", "b")
    else:
        good(*arguments, "--class", "b")
        assert "'beta'" in bad(*arguments, "--class", "beta")


def test_explain_any_class(several, desk):
    arguments = ["explain", several / "model.json", several / "boxes.csv", "--bag", "box", "--label", "kind"]
    found = json.loads(good(*arguments, "--id", "b0", "--class", "c", "--json").stdout)
    assert found["prediction"] == "a"
    assert found["target"] == 2
    assert "positive class" in bad("explain", desk / "model.json", desk / "boxes.csv", "--id", "b1", "--class", "blue")


def test_which_of_two_classes(desk, tmp_path):
    model, target = desk / "model.json", tmp_path / "figure.svg"
    classes = load_model(model).classes_.tolist()
    speaks_for, other = (
        load_model(model).pos_label_,
        next(name for name in classes if name != load_model(model).pos_label_),
    )
    for kind in ("roc", "reliability", "effect"):
        good("plot", kind, model, desk / "boxes.csv", "-o", target, "--class", str(other))
    good("plot", "surface", model, "-o", target, "--class", str(speaks_for))
    message = bad("plot", "surface", model, "-o", target, "--class", str(other))
    assert f"positive class of this model is {speaks_for}" in message
    assert "roc" in message


def test_joined_sets_are_those_of_mamdani_rules(desk, tmp_path):
    message = bad("plot", "joined", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "figure.png")
    assert "Mamdani" in message
    assert "--id" not in message

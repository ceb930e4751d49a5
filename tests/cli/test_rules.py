"""``rules`` and ``explain``: what a model knows, and why it decided."""

import json
import re

import pytest
from runner import COLUMNS, bad, good, run, write

from fuzzymil import MIMamdani, MISugeno, RuleBase
from fuzzymil.datasets import read_bags
from fuzzymil.rules.files import FORMATS


@pytest.mark.parametrize("format", [None, "text", "rules", "markdown", "latex", "json", "fll", "fis"])
def test_rules_in_every_format(desk, format):
    result = good("rules", desk / "model.json", *([] if format is None else ["--format", format]))
    start = {"rules": "VARIABLE weight", "markdown": "| rule | weight | length | red |", "latex": r"\begin{tabular}",
             "json": "{", "fll": "# ", "fis": "% "}  # fmt: skip
    assert result.stdout.startswith(start.get(format, "Rule 1: IF weight is"))
    assert ("Note: " in result.stderr) == (format in ("fll", "fis"))
    if format in (None, "text"):
        assert "weight: " in result.stdout.split("with\n")[1]
    if format == "json":
        assert good("rules", "-", input=result.stdout.encode()).stdout == good("rules", desk / "model.json").stdout


def test_every_format_of_rules_is_offered(desk):
    told = bad("rules", desk / "model.json", "--format", "latx")
    assert all(name in told for name in ("text", *FORMATS))
    assert "'latex'" in told


@pytest.mark.parametrize("ending", ["json", "rules", "txt", "fll", "fis", "md", "tex"])
def test_the_extension_sets_the_format(desk, tmp_path, ending):
    path = tmp_path / f"rules.{ending}"
    good("rules", desk / "model.json", "-o", path)
    if ending in ("md", "tex"):
        assert "cannot be read back" in bad("rules", path)
        return
    assert "IF weight is" in good("rules", path).stdout
    if ending in ("json", "rules"):
        assert RuleBase.load(path).rules if ending == "json" else RuleBase.parse(path.read_text()).rules
    assert "'.doc'" in bad("rules", desk / "model.json", "-o", tmp_path / "rules.doc")


def test_long_rules_are_shortened(desk):
    result = good("rules", desk / "model.json", "--max-conditions", 1)
    assert "--max-conditions 2" in result.stderr
    assert result.stdout.count("AND ... (1 less selective)") == 2
    assert "Gaussian" not in result.stdout
    assert not good("rules", desk / "model.json").stderr


def test_members_of_a_committee(desk, tmp_path):
    document = json.loads((desk / "model.json").read_text())
    document["settings"]["n_estimators"] = 2
    document["members"].append(document["initial"])
    target = write(tmp_path / "two.json", json.dumps(document))
    first, second = (good("rules", target, "--member", number) for number in (1, 2))
    assert first.stdout == good("rules", desk / "model.json").stdout
    assert first.stdout != second.stdout
    assert "2 of 2" in second.stderr
    assert "--member 3" in bad("rules", target, "--member", 3)


def test_explain_a_bag(desk, tmp_path):
    arguments = ["explain", desk / "model.json", desk / "boxes.csv", "--id", "b3"]
    result = good(*arguments, "--figure", tmp_path / "b3.svg")
    assert "b3" in result.stdout.splitlines()[0]
    assert "<svg" in (tmp_path / "b3.svg").read_text()[:1000]
    found = json.loads(good(*arguments, "--json").stdout)
    assert found["bag"] == "b3"
    assert len(found["rules"]) == 2
    assert "Did you mean" in bad(*arguments[:-1], "b33")
    assert "--id b0" in bad(*arguments[:-2])
    wrong = run(*arguments, "--figure", tmp_path / "a.xyz")  # checked before anything is printed
    assert wrong.exit_code == 2
    assert not wrong.stdout


def test_models_that_were_not_trained(desk, tmp_path):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    written = "VARIABLE weight: heavy = Gaussian(4, 1)\n"
    expert = MISugeno(rules=written + "IF weight is heavy THEN red = 1\nIF anything THEN red = 0 WITH 0.1").fit(bags)
    expert.save(tmp_path / "expert.json")
    assert "b3,red" in good("predict", tmp_path / "expert.json", desk / "boxes.csv", *COLUMNS).stdout
    assert "MISugeno" in bad("plot", "curves", tmp_path / "expert.json", "-o", tmp_path / "c.png")
    arguments = ["fit", desk / "boxes.csv", *COLUMNS, "--continue", tmp_path / "expert.json"]
    assert "MISugeno" in bad(*arguments, "-o", tmp_path / "x.json")
    MIMamdani(n_rules=2, random_state=0).fit(bags).save(tmp_path / "sets.json")
    shown = good("rules", tmp_path / "sets.json", "--digits", "2").stdout
    assert "\nweight: " in shown
    assert not re.search(r"\d{4}", shown)
    assert "than or equal to 17" in bad("rules", tmp_path / "sets.json", "--digits", 10**20)
    assert "VARIABLE weight" in good("rules", tmp_path / "sets.json", "--format", "rules").stdout


def test_mamdani_models_are_models_like_others(desk, tmp_path):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    sets = tmp_path / "sets.json"
    model = MIMamdani(n_rules=2, random_state=0).fit(bags)
    model.save(sets)
    arguments = [sets, desk / "boxes.csv", "--id", "b3", *COLUMNS]
    assert "share of the joined set" in good("explain", *arguments).stdout
    found = json.loads(good("explain", *arguments, "--json").stdout)
    assert found["joined"]["point"] == found["output"][0]
    for kind in ("membership", "joined"):
        good("plot", kind, *arguments, "-o", tmp_path / f"{kind}.png")
        assert (tmp_path / f"{kind}.png").stat().st_size
    assert "b3" in good("predict", sets, desk / "boxes.csv", *COLUMNS).stdout
    model.rules_.edit(weights={1: 0.25}).save(tmp_path / "other.json")
    assert "weight" in good("rules", sets, "--diff", tmp_path / "other.json").stdout
    assert "one kind" in bad("rules", sets, "--diff", desk / "model.json")
    good("report", sets, desk / "boxes.csv", *COLUMNS, "-o", tmp_path / "report.html")
    assert "joined set" in (tmp_path / "report.html").read_text("utf-8")


HEAVY = """
VARIABLE weight: light = Gaussian(1, 1), heavy = Gaussian(3, 1)
Full: IF weight is heavy THEN red = 0.8
IF weight is light THEN red = 0.2
"""


def test_constrained_training_and_what_it_changed(desk, tmp_path):
    old, new = write(tmp_path / "expert.rules", HEAVY), tmp_path / "new.json"
    limits = [part for setting in ("ordered=yes", "conclusions=0,0.9", "overlap=0.1") for part in ("--set", setting)]
    fitted = good(
        "fit",
        desk / "boxes.csv",
        *COLUMNS,
        "--method",
        "mi-anfis",
        "--init",
        old,
        *limits,
        "--learning-rate",
        "0.3",
        "-o",
        new,
    )
    assert "red = 0.9, at the upper bound of conclusions" in fitted.stdout
    changed = good("rules", old, "--diff", new).stdout
    assert "Full: red = 0.8 -> 0.9" in changed
    assert "weight.heavy: Gaussian(3, 1) ->" in changed
    found = json.loads(good("rules", old, "--diff", new, "--json").stdout)
    assert {"where": "Full", "what": "red", "old": 0.8, "new": 0.9} in found["changes"]
    assert "same" in good("rules", new, "--diff", new).stdout
    assert "text or json" in bad("rules", old, "--diff", new, "--format", "fll")

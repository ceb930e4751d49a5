"""``evaluate``: cross-validation, next to other methods."""

import json

import numpy as np
import pytest
from runner import COLUMNS, SMALL, bad, good, run

from fuzzymil._utils.errors import InputError
from fuzzymil.cli import evaluate
from fuzzymil.cli._settings import Task
from fuzzymil.datasets import read_bags


def test_the_brier_score_is_in_the_json(desk):
    arguments = ["evaluate", desk / "boxes.csv", *COLUMNS, *SMALL, "--folds", 2, "--compare", "majority", "--json"]
    own, majority = json.loads(good(*arguments).stdout)["methods"]
    assert own["measures"]["Brier"]["mean"] == np.mean([fold["Brier"] for fold in own["folds"]])
    assert majority["measures"]["Brier"]["mean"] == 0.5  # certain, and wrong about half of the boxes


@pytest.mark.slow
def test_evaluate_compares_methods(desk):
    arguments = ["evaluate", desk / "boxes.csv", *COLUMNS, *SMALL, "--folds", 3]
    arguments += ["--compare", "majority,naive", "--compare", "CitationKNN"]
    lines = good(*arguments).stdout.splitlines()
    assert lines[0].split() == ["method", "accuracy", "AUC", "folds", "s/fit"]
    assert [line.split("  ")[0] for line in lines[2:6]] == [
        "MIANFISClassifier", "majority class", "NaiveMIL(LogisticRegression)", "CitationKNN",
    ]  # fmt: skip
    assert "0.500 ± 0.000" in lines[3]
    assert "1 x 3-fold, 12 bags" in lines[-1]
    found = json.loads(good(*arguments, "--json").stdout)
    for method in found["methods"]:
        values = [fold["accuracy"] for fold in method["folds"]]
        assert method["measures"]["accuracy"] == {"mean": np.mean(values), "std": np.std(values, ddof=1), "n": 3}
    assert "Did you mean 'majority'" in bad(*arguments, "--compare", "majorty")


def test_folds_are_limited_by_the_smallest_class(desk, capsys):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    assert evaluate._possible(10, bags[:5], Task.classification) == 2  # two of them are red
    assert "2 folds instead of 10" in capsys.readouterr().err
    assert evaluate._possible(6, bags, Task.classification) == 6
    assert not capsys.readouterr().err
    with pytest.raises(InputError, match="few"):
        evaluate._possible(10, bags[:3], Task.classification)


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c(desk):
    arguments = [*COLUMNS, "--n-rules", 2, "--max-epochs", 1000, "--folds", 2]
    result = run("evaluate", desk / "boxes.csv", *arguments)
    assert result.exit_code == 130
    assert "no fold" in result.stderr
    assert not result.stdout

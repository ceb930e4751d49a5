"""``evaluate``: cross-validation, next to other methods."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from runner import COLUMNS, NETWORK, SMALL, bad, good, run
from scipy import stats
from sklearn.metrics import roc_auc_score

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.statistics import PairedTest
from fuzzymil.cli import evaluate
from fuzzymil.cli._baselines import baseline
from fuzzymil.cli._settings import Task
from fuzzymil.comparators import EmbeddingForest
from fuzzymil.datasets import read_bags


def test_the_brier_score_is_in_the_json(desk):
    arguments = ["evaluate", desk / "boxes.csv", *COLUMNS, *SMALL, "--folds", 2, "--compare", "majority", "--json"]
    own, majority = json.loads(good(*arguments).stdout)["methods"]
    assert own["measures"]["Brier"]["mean"] == np.mean([fold["Brier"] for fold in own["folds"]])
    assert majority["measures"]["Brier"]["mean"] == 0.5  # certain, and wrong about half of the boxes


def trial(title, *scores):
    names = ("accuracy", "AUC")
    return evaluate.Trial(title, None, {fold: dict(zip(names, pair, strict=True)) for fold, pair in enumerate(scores)})


def test_differences_are_tested_on_the_same_folds():
    own = trial("rules", (0.9, 0.9), (0.8, 0.7), (0.8, 0.9), (1.0, 0.8))
    other = trial("forest", (0.6, 0.8), (0.6, 0.9), (0.5, 0.8), (0.7, 0.8))
    found = evaluate._compare(own, other, n_folds=4)
    apart = np.array([0.3, 0.2, 0.3, 0.3])
    error = np.sqrt((1 / 4 + 1 / 3) * apart.var(ddof=1))
    reach = stats.t.ppf(0.975, 3) * error
    assert found.differences["accuracy"]["mean"] == pytest.approx(apart.mean())
    assert found.differences["accuracy"]["low"] == pytest.approx(apart.mean() - reach)
    assert found.differences["accuracy"]["n"] == 4
    assert found.verdict.startswith("rules is better than forest in accuracy:")
    assert "accuracy +0.275" in found.verdict
    back = evaluate._compare(other, own, n_folds=4)
    assert back.verdict.startswith("rules is better than forest in accuracy:")
    assert "accuracy -0.275" in back.verdict


def test_methods_that_cannot_be_told_apart():
    own = trial("rules", (0.9, 0.9), (0.6, 0.7))
    other = trial("forest", (0.6, 0.8), (0.9, 0.8), (1.0, 1.0))  # a fold more: the run was interrupted
    found = evaluate._compare(own, other, n_folds=3)
    assert "cannot be told apart" in found.verdict
    assert found.differences["accuracy"]["n"] == 2
    assert evaluate._compare(own, trial("forest", (0.6, 0.8)), n_folds=3) is None


def test_interrupted_folds_are_paired_by_their_numbers():
    own, other = (trial(name, (0.9, 0.9), (0.6, 0.7), (0.5, 0.5)) for name in ("rules", "forest"))
    del own.scores[0], other.scores[1]
    assert evaluate._compare(own, other, n_folds=3) is None  # only the last fold is finished in both
    other.scores[1] = own.scores[1] | {"accuracy": 0.1}
    assert evaluate._compare(own, other, n_folds=3).differences["accuracy"]["mean"] == pytest.approx(0.25)


VISITS = str(Path(__file__).parents[2] / "examples" / "visits.csv")
ON_VISITS = [sys.executable, "-m", "fuzzymil", "evaluate", VISITS, "--bag", "user", "--label", "converted"]


@pytest.mark.slow
def test_processes_give_the_same_scores():
    found = []
    for jobs in ("1", "3"):
        call = [*ON_VISITS, "--folds", "4", "--jobs", jobs, "--json"]
        done = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
        found.append([(method["method"], method["folds"]) for method in done["methods"]])
    assert found[0] == found[1]
    assert [len(folds) for _, folds in found[0]] == [4, 4]


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="there are forks on Linux only")
def test_ctrl_c_with_several_processes():
    call = [*ON_VISITS, "--repeats", "100", "--jobs", "2"]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and not children.read_text():
        time.sleep(0.1)
    time.sleep(3)
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    assert ("RuleClassifier" in output) == ("finished so far" in errors)


def test_the_verdict_knows_that_small_errors_are_good():
    def told(**differences):
        return evaluate._verdict(
            "rules", "forest", {k: PairedTest(v, v - 0.1, v + 0.1, 0, 9) for k, v in differences.items()}
        )

    assert told(MAE=-1.0).startswith("rules is better than forest in MAE")
    assert told(R2=0.5, MAE=-1.0).startswith("rules is better than forest in R2 and MAE")
    assert told(R2=-0.5, MAE=1.0).startswith("forest is better than rules in R2 and MAE")
    assert told(R2=0.5, MAE=1.0).startswith("rules is better than forest in R2, and worse in MAE")


def test_what_it_is_compared_with(desk):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")

    def titles(names, kind=Task.classification):
        return [each.title for each in evaluate._others(names, bags, 0, kind)]

    assert titles(None) == ["EmbeddingForest"]
    assert titles(["none"]) == []
    assert titles(["naive, majority", "naive"]) == ["NaiveMIL(LogisticRegression)", "majority class"]
    assert titles(None, Task.regression) == ["EmbeddingForest"]
    (looked_for,) = evaluate._others(["MISVM"], bags, 0, Task.classification, "blue")
    assert looked_for.estimator[-1].pos_label == "blue"
    with pytest.raises(InputError, match=r"none.*naive"):
        evaluate._others(["none,naive"], bags, 0, Task.classification)
    with pytest.raises(ParameterError, match=r"Did you mean 'none'"):
        evaluate._others(["nome"], bags, 0, Task.classification)


def test_every_baseline_takes_missing_values_and_more_classes():
    rng = np.random.RandomState(0)
    labels = np.arange(36) % 3
    bags = Bags.from_list([rng.normal([3.0 * label, 0.0], 1.0, size=(3, 2)) for label in labels], labels=labels)
    holed = bags.map_instances(lambda x: np.where(rng.uniform(size=x.shape) < 0.1, np.nan, x))
    for name in ("majority", "naive", "EmbeddingForest", "MISVM"):
        model = baseline(name, holed, 0, classes=True).fit(holed, labels)
        assert set(model.predict(holed)) <= {0, 1, 2}
        assert name == "majority" or model.score(holed, labels) > 0.6
    for name in ("mean", "naive", "EmbeddingForest"):
        model = baseline(name, holed, 0, classes=False).fit(holed, labels.astype(float))
        assert np.isfinite(model.predict(holed)).all()


def test_the_area_of_several_classes_is_the_mean_of_each_against_the_others():
    rng = np.random.RandomState(1)
    truth, raw = np.arange(60) % 3, rng.uniform(size=(60, 3)) + np.eye(3)[np.arange(60) % 3]
    shares = raw / raw.sum(axis=1, keepdims=True)
    fold = SimpleNamespace(
        model=SimpleNamespace(classes_=np.arange(3)), truth=truth, decisions=None, probabilities=shares
    )
    assert evaluate._area(fold) == pytest.approx(roc_auc_score(truth, shares, multi_class="ovr"))
    two = SimpleNamespace(
        model=SimpleNamespace(classes_=np.arange(2)), truth=truth > 0, decisions=raw[:, 1], probabilities=None
    )
    assert evaluate._area(two) == pytest.approx(roc_auc_score(truth > 0, raw[:, 1]))


@pytest.mark.slow
def test_evaluate_compares_with_the_forest_by_default(desk):
    arguments = ["evaluate", desk / "boxes.csv", *COLUMNS, *SMALL, "--folds", 3]
    lines = good(*arguments).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:4]] == ["MIANFISClassifier", "EmbeddingForest"]
    assert lines[5].startswith("Probabilities of MIANFISClassifier")
    assert "EmbeddingForest" in lines[6]
    assert "95%" in lines[6]
    found = json.loads(good(*arguments, "--json").stdout)
    (comparison,) = found["comparisons"]
    own, other = (np.array([fold["AUC"] for fold in method["folds"]]) for method in found["methods"])
    assert comparison["differences"]["AUC"]["mean"] == pytest.approx((own - other).mean())
    alone = json.loads(good(*arguments, "--json", "--compare", "none").stdout)
    assert [method["method"] for method in alone["methods"]] == ["MIANFISClassifier"]
    assert alone["methods"][0]["folds"] == found["methods"][0]["folds"]
    assert alone["comparisons"] == []


@pytest.mark.slow
def test_evaluate_compares_regressions(desk, tmp_path):
    text = (desk / "boxes.csv").read_text().replace("red", "1.5").replace("blue", "-1.5")
    (tmp_path / "numbers.csv").write_text(text)
    arguments = ["evaluate", tmp_path / "numbers.csv", *COLUMNS, *SMALL, "--folds", 3, "--task", "regression"]
    lines = good(*arguments).stdout.splitlines()
    assert lines[0].split()[:3] == ["method", "R2", "MAE"]
    assert [line.split()[0] for line in lines[2:4]] == ["MIANFISRegressor", "EmbeddingForest"]


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
    assert "1 x 3-fold, 12 bags" in lines[6]
    assert all(name in line for name, line in zip(("majority", "Naive", "CitationKNN"), lines[8:11], strict=True))
    found = json.loads(good(*arguments, "--json").stdout)
    for method in found["methods"]:
        values = [fold["accuracy"] for fold in method["folds"]]
        assert method["measures"]["accuracy"] == {"mean": np.mean(values), "std": np.std(values, ddof=1), "n": 3}
    assert "Did you mean 'majority'" in bad(*arguments, "--compare", "majorty")


def test_folds_are_limited_by_the_smallest_class(desk, capsys):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    assert evaluate._possible(10, bags[:5], Task.classification, None) == 2  # two of them are red
    assert "2 folds instead of 10" in capsys.readouterr().err
    assert evaluate._possible(6, bags, Task.classification, None) == 6
    assert not capsys.readouterr().err
    with pytest.raises(InputError, match="few"):
        evaluate._possible(10, bags[:3], Task.classification, None)


@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c(desk):
    arguments = [*COLUMNS, *NETWORK, "--n-rules", 2, "--max-epochs", 1000, "--folds", 2]
    result = run("evaluate", desk / "boxes.csv", *arguments)
    assert result.exit_code == 130
    assert "no fold" in result.stderr
    assert not result.stdout


def test_a_method_that_fails_is_marked_and_the_others_go_on(tmp_path, monkeypatch):
    data = _people(tmp_path)

    def broken(self, X, y=None):
        raise ValueError("it broke")

    monkeypatch.setattr(EmbeddingForest, "fit", broken)
    arguments = ["evaluate", data, "--bag", "visit", "--label", "bought", "--drop", "person", "--folds", "2"]
    found = good(*arguments, "--compare", "EmbeddingForest,majority")
    lines = {line.split()[0]: line for line in found.stdout.splitlines() if line}
    assert "failed" in lines["EmbeddingForest"]
    assert "failed" not in lines["majority"]
    assert "EmbeddingForest failed" in found.stderr
    assert "it broke" in found.stderr
    found = good(*arguments, "--json")
    own, other = json.loads(found.stdout)["methods"]
    assert own["measures"]["accuracy"]["n"] == 2
    assert "it broke" in other["failed"]
    assert other["folds"] == []


def test_a_model_that_fails_ends_badly_but_shows_the_rest(tmp_path):
    data = _people(tmp_path, gap=True)
    found = run("evaluate", data, "--bag", "visit", "--label", "bought", "--folds", "2", "--set", "missing=error")
    assert found.exit_code == 1
    assert "EmbeddingForest" in found.stdout
    assert "--set missing=median" in found.stderr


def test_bags_of_one_group_are_not_divided(tmp_path, monkeypatch):
    data = _people(tmp_path)
    seen = []
    monkeypatch.setattr(evaluate, "_cross_validate", lambda trial, bags, splits, *_, **__: seen.append((bags, splits)))
    run("evaluate", data, "--bag", "visit", "--label", "bought", "--group", "person", "--folds", "3", "--repeats", "2")
    bags, splits = seen[0]
    assert bags.feature_names == ("pages",)
    people = bags.per_bag("person")
    assert len(splits) == 6
    assert not any(set(people[train]) & set(people[test]) for train, test in splits)
    message = bad("evaluate", data, "--bag", "visit", "--label", "bought", "--group", "persons")
    assert "no column 'persons'" in message
    assert "Did you mean 'person'?" in message


def test_groups_are_reported(tmp_path):
    data = _people(tmp_path)
    arguments = ("evaluate", data, "--bag", "visit", "--label", "bought", "--folds", "2", "--compare", "majority")
    assert "same person stay in one fold (9 groups)" in good(*arguments, "--group", "person").stdout
    assert json.loads(good(*arguments, "--group", "person", "--json").stdout)["groups"] == {
        "column": "person",
        "n_groups": 9,
    }
    assert json.loads(good(*arguments, "--drop", "person", "--json").stdout)["groups"] is None


def test_a_report_keeps_groups_together(tmp_path):
    data, model, page = _people(tmp_path), tmp_path / "model.json", tmp_path / "page.html"
    good("fit", data, "--bag", "visit", "--label", "bought", "--drop", "person", "-o", model)
    found = good("report", model, data, "--group", "person", "--folds", "2", "-o", page, "--json")
    assert json.loads(found.stdout)["group"] == "person"
    assert "with the same <em>person</em> stay in one fold, 9 groups" in page.read_text()
    assert "Did you mean 'person'?" in bad("report", model, data, "--group", "persn", "-o", page)


def _people(folder, *, gap=False):
    lines = ["visit,person,pages,bought"]
    for person, visit in itertools.product(range(9), range(2)):
        pages = [3 * (person % 2) + n + visit / 10 for n in range(2)]
        lines += [f"v{person}-{visit},p{person},{each},{('no', 'yes')[person % 2]}" for each in pages]
    if gap:
        lines[1] = lines[1].replace(lines[1].split(",")[2], "")
    path = folder / "people.csv"
    path.write_text("\n".join(lines) + "\n")
    return path

"""The peers of RuleClassifier: what is measured of a fold, ranks and goals on numbers made by hand, and the page."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import log_loss

from fuzzymil.comparators import MILES, EmbeddingLogistic
from fuzzymil.datasets import make_planted
from paper import measure, peers
from paper.experiment import Options, Unit
from paper.page import Table
from paper.peers import (
    FOREST,
    METHODS,
    OWN,
    PEERS,
    SHORT,
    Calibrated,
    Method,
    average_ranks,
    bars,
    behind,
    measure_fold,
)
from paper.recipe import splits

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bags():
    return make_planted("some", 60, 3, random_state=1)


@pytest.fixture
def split(bags):
    return splits(np.asarray(bags.labels), 3, seed=1)[0]


# ---------------------------------------------------------------------- what is measured


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.package])
def test_every_method_is_measured(name, bags, split):
    found = measure_fold(name, bags, split, 0)
    assert "not_run" not in found
    assert 0.5 < found["auc"] <= 1
    assert found["log_loss"] < 1.5
    assert ("n_rules" in found) == (name in (OWN, SHORT))


def test_short_rules_are_short(bags, split):
    found = measure_fold(SHORT, bags, split, 0)
    assert found["n_rules"] <= 10
    assert found["n_conditions"] <= 30


def test_what_is_not_run_says_why(bags, split, monkeypatch):
    def fails(seed, n_columns):
        raise ValueError("no such thing")

    slow = type("Slow", (), {"fit": lambda self, X, y: time.sleep(5)})
    made_up = {
        "needs": Method(fails, "", package="no_such_package"),
        "wide": Method(fails, "", max_columns=5),
        "fails": Method(fails, ""),
        "slow": Method(lambda seed, n_columns: slow(), ""),
    }
    monkeypatch.setattr(peers, "METHODS", made_up)
    monkeypatch.setattr(peers, "MAX_SECONDS", 0.2)
    found = {name: measure_fold(name, bags, split, 0) for name in made_up}
    assert found["needs"] == {"not_run": "needs no_such_package", "again": True}
    assert found["wide"] == {"not_run": "more than 5 columns"}
    assert found["fails"] == {"not_run": "ValueError: no such thing", "again": True}
    assert "took more than" in found["slow"]["not_run"]


def test_calibration_never_sees_the_test_bags_and_helps(bags):
    train, test = bags[:40], bags[40:]
    model = Calibrated([EmbeddingLogistic(), MILES()], seed=0).fit(train, np.asarray(train.labels))
    probabilities = model.predict_proba(test)
    assert np.allclose(probabilities.sum(axis=1), 1)
    order = np.argsort(np.asarray(model.model_.decision_function(test)))
    assert np.all(np.diff(probabilities[order, 1]) >= 0)
    assert log_loss(test.labels, probabilities) < np.log(2)


# ---------------------------------------------------------------------- numbers made by hand


def made_up(n_bags=200, **areas):
    """Results in which methods have this mean AUC on each set, with folds that vary a little."""
    wave = 0.001 * np.array([[1, -1, 1, -1]])
    lists = {name: values if isinstance(values, list) else [values] for name, values in areas.items()}
    sets = {}
    for number in range(len(next(iter(lists.values())))):
        methods = {}
        for place, method in enumerate(METHODS):
            area = lists.get(method.replace(" ", "_"), [0.7] * 9)[number]
            if area is None:
                methods[method] = {"not_run": "needs luck"}
                continue
            values = (area + wave * (1 + place)).tolist()
            methods[method] = {"auc": values, "accuracy": values, "log_loss": (1 - np.array(values)).tolist(),
                               "seconds": [[1.0] * 4], "n_rules": [[3] * 4], "n_conditions": [[4] * 4]}  # fmt: skip
        sets[f"set{number}"] = {"reported": number == 0, "n_bags": n_bags, "n_positive": 10, "n_instances": 900,
                                "n_features": 4, "methods": methods}  # fmt: skip
    settings = {"n_folds": 4, "n_repeats": 1, "seeds": [1], "methods": {m: x.words for m, x in METHODS.items()}}
    results = {"settings": settings, "sets": sets}
    return results | {"ranks": {own: average_ranks(results, own) for own in peers.OWNS}, "bars": bars(results)}


def test_not_run_is_ranked_last_and_relatives_are_left_out():
    results = made_up(
        RuleClassifier=[0.9, 0.9], short_RuleClassifier=[0.95, 0.95], forest=[0.8, None], EBM=[None, 0.95]
    )
    ranks = average_ranks(results, OWN)["auc"]
    assert SHORT not in ranks
    n = len(PEERS) + 1
    assert ranks[OWN] == 1.5
    assert ranks["EBM"] == (n + 1) / 2
    assert ranks[FOREST] == (2 + n) / 2
    assert average_ranks(results, SHORT)["log_loss"][SHORT] == 1.25
    nowhere = average_ranks(made_up(EBM=[None, None]), OWN)["auc"]
    assert "EBM" not in nowhere
    assert max(nowhere.values()) <= n - 1


def test_paired_differences_with_the_best_of_the_others():
    found = behind(made_up(RuleClassifier=0.85, MILES=0.9), "set0", OWN)
    assert found.best == "MILES"
    apart = 100 * (0.001 * (1 - (1 + list(METHODS).index("MILES"))) * np.array([1, -1, 1, -1]) - 0.05)
    assert found.mean == pytest.approx(-5)
    assert found.error == pytest.approx(apart.std(ddof=1) / 2)
    assert not found.within
    assert behind(made_up(RuleClassifier=0.87, MILES=0.9), "set0", OWN).within
    assert behind(made_up(RuleClassifier=[None]), "set0", OWN) is None


def test_goals():
    def met(**given):
        return [bar["met"] for bar in made_up(**given)["bars"]]

    assert met(RuleClassifier=0.9, short_RuleClassifier=0.7) == [True, True, True, True]
    assert met(RuleClassifier=0.8, MILES=0.9, short_RuleClassifier=0.69) == [False, False, False, False]
    assert met(RuleClassifier=0.9, n_bags=100) == [True, True, True]
    assert met(RuleClassifier=[None])[2] is False


def test_page_of_made_up_results(tmp_path):
    results = made_up(RuleClassifier=[0.9, 0.8], EBM=[None, None], forest=[0.8, 0.9])
    tables = [block for block in peers.section(results).blocks if isinstance(block, Table)]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)
    (areas,) = [table for table in tables if table.title.startswith("AUC in percent, mean")]
    assert "Not run: EBM on set0 and set1 (needs luck)." in areas.note
    assert {row[0]: row[1] for row in areas.rows}["EBM"] == "not run"
    peers.draw(results, tmp_path)
    assert {path.name for path in tmp_path.iterdir()} >= {"auc.png", "ranks_auc.svg", "ranks_log_loss.png", "tables.md"}


# ---------------------------------------------------------------------- measuring alone


def test_measuring_needs_no_more_than_numpy_scipy_and_scikit_learn():
    code = (
        "import sys\n"
        "class Missing:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name in ('rich', 'jinja2', 'matplotlib', 'typer', 'jax', 'optax', 'pooch', 'pandas', 'torch'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "import paper.measure, paper.peers"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_measuring_saves_what_a_run_reads(tmp_path, monkeypatch, capsys):
    def units(options):
        works = {"ready": lambda: {"value": 1}, "missing": lambda: {"not_run": "needs luck", "again": True}}
        return [
            Unit(f"{name}, {method}", {"set": name, "method": method}, 1.0, work)
            for name in ("a", "b")
            for method, work in works.items()
        ]

    monkeypatch.setattr(peers, "PEER_METHODS", peers.Experiment("peers", units, None, None, None))

    def main(*arguments):
        try:
            return measure.main(["peers", "-o", str(tmp_path), "--jobs", "1", *arguments])
        except SystemExit as end:
            return end.code

    assert main("--sets", "a") == 0
    said = capsys.readouterr().out
    assert "2 of 2" in said
    assert "Not run: a, missing (needs luck)" in said
    assert len(list((tmp_path / "peers" / "parts").glob("*.json"))) == 1
    assert main("--methods=-missing") == 0
    assert len(list((tmp_path / "peers" / "parts").glob("*.json"))) == 2
    assert main("--methods", "nobody") == 2
    assert "ready, missing" in capsys.readouterr().err
    assert main("--minutes", "0.00001", "--methods", "missing") in (0, 130)


def test_units_are_named_by_all_that_they_depend_on():
    if not os.environ.get("FUZZYMIL_DATA"):
        pytest.skip("needs the benchmark sets: set FUZZYMIL_DATA")
    units = peers._units(Options(quick=True))
    assert len({str(unit.settings) for unit in units}) == len(units) == 2 * len(METHODS)
    assert all((unit.settings["source"] is not None) == (unit.settings["method"] in peers.OWNS) for unit in units)

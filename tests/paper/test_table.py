"""The comparison of all methods: folds, choices inside them, statistics, words and the diagram of ranks."""

import copy
import json
import os

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from sklearn.model_selection import ParameterGrid

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, RuleClassifier, Training
from fuzzymil.comparators import APR, CitationKNN, MIKernel
from fuzzymil.datasets import make_two_concepts
from paper import table
from paper.experiment import Options
from paper.figures import RanksDisplay
from paper.page import Table, Text
from paper.published import PRINTED, QUOTED
from paper.recipe import normalized_rules, splits
from paper.run import reproduce
from paper.statistics import holm, ranking
from paper.table import (
    MEMBERS,
    NORMALIZED,
    OWN,
    Contestant,
    against_own,
    contestants,
    mean_areas,
    ranks,
    section,
)

METHODS = {OWN: Contestant(APR()), "Citation-KNN": Contestant(CitationKNN(), {"n_references": [1, 2]})}
METHODS["MI-kernel"] = Contestant(MIKernel(), {"C": [1.0, 10.0]})


@pytest.fixture(scope="module")
def bags():
    return make_two_concepts(random_state=0)


def test_methods_of_the_paper_come_first_in_its_order():
    assert list(contestants())[: len(QUOTED) + 1] == [OWN, *QUOTED]
    assert QUOTED[NORMALIZED] == {name: printed.mi[0] for name, printed in PRINTED.items()}


def test_grids_hold_settings_of_their_estimators_and_are_of_like_size():
    # RuleClassifier chooses inside the training bags by itself; the settings of diverse density hardly matter.
    without = {OWN, MEMBERS, "DD", "EM-DD", "DD-SVM"}
    assert {name for name, contestant in contestants().items() if not contestant.grid} == without
    for contestant in contestants().values():
        assert set(contestant.grid) <= set(contestant.estimator.get_params())
        assert not contestant.grid or 2 <= len(ParameterGrid(dict(contestant.grid))) <= 4


def test_every_method_sees_features_scaled_alike(bags):
    split = splits(np.asarray(bags.labels), 5, seed=1)[0]
    train, test = (bags[side] for side in split)
    far = test.map_instances(lambda x: 100.0 * x)
    for contestant in contestants().values():
        method = contestant.estimator
        network = method.estimator if hasattr(method, "estimator") else method
        assert contestant.scales == isinstance(network, RuleClassifier | MIANFISClassifier | ANFISClassifier)
        if hasattr(network, "training"):
            training = network.training or Training()
            assert (training.standardize, training.clip) == (True, 3.0)
    scale = table._prepared(METHODS["MI-kernel"], 0)["scale"].fit(train)
    mean, deviation = train.instances.mean(axis=0), train.instances.std(axis=0)
    low, high = (end(train.instances, axis=0) for end in (np.min, np.max))
    low, high = np.maximum(low, mean - 3 * deviation), np.minimum(high, mean + 3 * deviation)
    slow = (np.clip(far.instances, low, high) - mean) / deviation
    np.testing.assert_allclose(scale.transform(far).instances, slow, rtol=1e-12)
    # A network does the same to what it sees: far outside the range, its answers no longer change.
    model = normalized_rules(2, max_epochs=2, random_state=0).fit(train)
    clipped = far.map_instances(lambda x: np.clip(x, low, high))
    np.testing.assert_allclose(model.decision_function(far), model.decision_function(clipped), rtol=1e-6)


def test_one_unit_per_method_dataset_repeat_and_fold(monkeypatch, tmp_path, bags):
    monkeypatch.setattr(table, "LOADERS", dict.fromkeys(table.LOADERS, lambda data: bags))
    monkeypatch.setattr(table, "contestants", lambda: METHODS)
    units = table.TABLE.units(Options())
    assert len(units) == len(METHODS) * 5 * 3 * 10
    assert all(unit.parallel for unit in units)
    assert len(table.TABLE.units(Options(quick=True))) == len(METHODS) * 2
    grids = {unit.label: unit.settings["grid"] for unit in units}
    assert grids["Fox, MI-kernel, repeat 3, fold 10"] == {"C": [1.0, 10.0]}
    assert grids["MUSK 1, RuleClassifier, repeat 1, fold 1"] == {}


def test_fold_is_scored_on_bags_that_no_step_has_seen(bags):
    split = splits(np.asarray(bags.labels), 5, seed=1)[0]
    contestant = METHODS["Citation-KNN"]
    found = table.measure_fold(contestant, contestant.grid, bags, split, 3, seed=2)
    assert found["chosen"]["n_references"] in (1, 2)
    # Other labels of the test bags change the scores of the fold, and nothing that was chosen or learned.
    turned = np.array(bags.labels)
    turned[split[1]] = 1 - turned[split[1]]
    changed = Bags(bags.instances, bags.offsets, labels=turned)
    other = table.measure_fold(contestant, contestant.grid, changed, split, 3, seed=2)
    assert other["chosen"] == found["chosen"]
    assert other["accuracy"] == pytest.approx(1 - found["accuracy"])
    assert other["auc"] == pytest.approx(1 - found["auc"])


def test_nothing_is_learned_from_the_test_bags(bags, monkeypatch):
    """Test bags that lie elsewhere move neither the scaling, nor what is chosen, nor what is learned."""
    split = splits(np.asarray(bags.labels), 5, seed=1)[0]
    fitted = []
    prepared = table._prepared
    monkeypatch.setattr(table, "_prepared", lambda *given: fitted.append(prepared(*given)) or fitted[-1])
    away = np.array(bags.instances)
    away[np.isin(bags.bag_index, split[1])] += 100.0
    contestant = METHODS["MI-kernel"]
    for instances in (bags.instances, away):
        moved = Bags(instances, bags.offsets, labels=bags.labels)
        table.measure_fold(contestant, contestant.grid, moved, split, 3, seed=2)
    one, other = fitted
    assert one.get_params()["method__C"] == other.get_params()["method__C"]
    inside = bags[split[0]]
    np.testing.assert_array_equal(one["scale"].transform(inside).instances, other["scale"].transform(inside).instances)
    np.testing.assert_array_equal(one.decision_function(inside), other.decision_function(inside))


def test_nested_seeds_are_set():
    model = table._prepared(contestants()["Naive-ANFIS, mean"], 17)
    assert model.get_params()["method__estimator__random_state"] == 17
    assert table._prepared(contestants()[OWN], 5)["method"].random_state == 5
    assert table._prepared(contestants()["MIForest"], 7)["method"].random_state == 7


# ---------------------------------------------------------------------- statistics


def test_critical_difference_of_the_literature():
    # Quantiles of Nemenyi's test at 5 % as printed in tables: 2.569 for four methods, 3.164 for ten.
    rng = np.random.RandomState(0)
    assert ranking(rng.rand(14, 4)).critical_difference == pytest.approx(2.569 * np.sqrt(20 / (6 * 14)), abs=1e-3)
    assert ranking(rng.rand(30, 10)).critical_difference == pytest.approx(3.164 * np.sqrt(110 / 180), abs=1e-3)


def test_ranks_and_friedman():
    found = ranking([[3.0, 2.0, 1.0]] * 6)
    assert found.ranks == (1.0, 2.0, 3.0)
    assert found.p == pytest.approx(np.exp(-6))  # chi-square 12 with two degrees of freedom
    assert np.isnan(ranking([[3.0, 2.0, 1.0]]).p)


def test_holm_by_hand():
    assert holm([0.02, 0.01, 0.5, 0.03]).tolist() == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_groups_of_the_diagram():
    assert RanksDisplay({"a": 1.0, "b": 2.0, "c": 3.0, "d": 5.5}, 1.2).groups() == [["a", "b"], ["b", "c"]]
    assert RanksDisplay({"a": 1.0, "b": 2.0}, 0.5).groups() == []
    assert RanksDisplay({"a": 1.0, "b": 2.0}, 9.0).groups() == [["a", "b"]]


def test_ruler_that_does_not_fit_is_told_in_words():
    def written(critical_difference):
        texts = RanksDisplay({"a": 1.0, "b": 2.0}, critical_difference).plot().axes[0].texts
        return [text.get_text() for text in texts if "critical" in text.get_text()]

    (narrow,), (wide,) = written(0.7), written(9.0)
    assert narrow.endswith("0.7")
    assert "9.0" in wide
    assert not wide.endswith("9.0")  # it says that the ruler would not fit
    assert written(None) == []


# ---------------------------------------------------------------------- words


def made_up(own, other, n_sets=2):
    """Results in which RuleClassifier and the others have these accuracies on ten folds."""
    wave = 0.01 * np.cos(np.arange(10))
    entry = {"auc": [[0.9] * 10], "seconds": [[0.1] * 10], "chosen": [[{}] * 10]}
    sets = {
        name: {
            OWN: {"accuracy": [list(own + wave)], **entry},
            "MILES": {"accuracy": [list(other - wave)], **entry},
            "mi-Net": {"accuracy": [list(other + 2 * wave)], **entry},
        }
        for name in ("musk1", "musk2")[:n_sets]
    }
    methods = {m: {"estimator": {"class": "X"}, "grid": {}} for m in sets["musk1"]}
    settings = {"n_folds": 10, "inner_folds": 3, "n_repeats": 1, "seeds": [7321], "methods": methods}
    return {"settings": settings, "sets": sets}


def words_of(results):
    return " ".join(block.words for block in section(results).blocks if isinstance(block, Text) and block.finding)


def test_sentences_follow_the_numbers():
    ahead, behind = words_of(made_up(0.9, 0.7)), words_of(made_up(0.7, 0.9))
    assert "place 1." in ahead
    assert "MUSK 1 better than MILES, mi-Net, worse than none" in ahead
    assert "MILES on MUSK 2 (-17.7)" in ahead
    assert "place 3." in behind
    assert "MUSK 1 better than none, worse than MILES, mi-Net" in behind
    assert "MUSK 1 better than none, worse than none" in words_of(made_up(0.8, 0.8, n_sets=1))


def test_tests_are_paired_and_corrected():
    results = made_up(0.72, 0.7)
    found = against_own(results, "musk1")
    own = np.asarray(results["sets"]["musk1"][OWN]["accuracy"][0])
    by_hand = {}
    for method in ("MILES", "mi-Net"):
        apart = 100 * (own - np.asarray(results["sets"]["musk1"][method]["accuracy"][0]))
        t = apart.mean() / np.sqrt((1 / 10 + 1 / 9) * apart.var(ddof=1))
        by_hand[method] = 2 * stats.t.sf(abs(t), 9)
        assert found[method][0].p == pytest.approx(by_hand[method])
    less, more = sorted(by_hand, key=by_hand.get)
    assert found[less][1] == pytest.approx(2 * by_hand[less])
    assert found[more][1] == pytest.approx(max(2 * by_hand[less], by_hand[more]))
    assert 0 < by_hand[less] < 0.5


def test_equal_accuracies_share_a_rank():
    results = made_up(0.8, 0.8)
    folds = list(np.array([7, 8, 9, 7, 8, 8, 7, 9, 6, 9]) / 9)
    for own in results["sets"].values():
        own[OWN]["accuracy"], own["MILES"]["accuracy"] = [folds], [sorted(folds)]
    assert ranks(results).ranks[:2] == (1.5, 1.5) or ranks(results).ranks[:2] == (2.5, 2.5)
    assert "shared" in words_of(results)


def test_twins_of_the_own_method_are_not_ranked():
    results = made_up(0.9, 0.7)
    for own in results["sets"].values():
        own[f"{OWN}, 10 members"] = own[OWN]
    assert len(ranks(results).ranks) == 3
    assert "among 3 methods" in words_of(results)


def test_leaders_are_named_by_rank_and_by_area():
    results = made_up(0.9, 0.7)
    for own in results["sets"].values():
        own["MILES"]["auc"] = [[0.95] * 10]
        own[NORMALIZED] = {**own[OWN], "auc": [[0.99] * 10]}
    words = words_of(results)
    assert "RuleClassifier (1.0)" in words
    assert "MILES (95.0); RuleClassifier is in place 2 of 3 (90.0)" in words
    assert list(mean_areas(results)) == [NORMALIZED, "MILES", OWN, "mi-Net"]


def test_areas_are_tested_too():
    results = made_up(0.8, 0.8)
    results["sets"]["musk1"]["MILES"]["auc"] = [list(0.8 + 0.01 * np.cos(np.arange(10)))]
    test, p = against_own(results, "musk1", "auc")["MILES"]
    assert test.mean == pytest.approx(10, abs=0.5)
    assert p < 0.001
    assert "in AUC (p < 0.05 after Holm's correction): MUSK 1 better than MILES, worse than none; MUSK 2 " in words_of(
        results
    )


def test_quoted_figures_stand_beside_measured_ones():
    first = next(block for block in section(made_up(0.9, 0.7)).blocks if isinstance(block, Table))
    assert first.columns == ["method", "MUSK 1", "quoted", "MUSK 2", "quoted", "mean"]
    by_method = {row[0]: row for row in first.rows}
    assert by_method["MILES"][2:5:2] == ["86.3", "87.7"]
    assert by_method["mi-Net"][2:5:2] == ["", ""]
    assert by_method["MILES"][5] == "70.0 ± 0.8"  # both sets are alike: 0.7 - cos(0..9) / 100


def test_the_grids_are_reported():
    results = made_up(0.9, 0.7)
    results["settings"]["methods"]["MILES"]["grid"] = {"C": [1.0, 10.0]}
    results["settings"]["methods"]["mi-Net"]["grid"] = {"of": [("a", "b"), ("c",)]}
    (grids,) = [b for b in section(results).blocks if isinstance(b, Table) and "grids" in b.title]
    rows = [list(row) for row in grids.rows]
    assert ["MILES", "X", "C: 1.0, 10.0"] in rows
    assert ["mi-Net", "X", "of: a + b, c"] in rows
    assert [OWN, "X", "defaults"] in rows


# ---------------------------------------------------------------------- a small run


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("FUZZYMIL_DATA"), reason="needs the benchmark sets: set FUZZYMIL_DATA")
def test_run_writes_goes_on_and_does_not_depend_on_jobs(tmp_path, monkeypatch):
    monkeypatch.setattr(table, "contestants", lambda: METHODS)
    found = reproduce(["table"], tmp_path / "one", Options(quick=True, jobs=1), Console(quiet=True))["table"]
    for name in ("ranks.png", "ranks.svg", "tables.md", "results.json"):
        assert (tmp_path / "one" / "table" / name).stat().st_size > 0
    tables = (tmp_path / "one" / "table" / "tables.md").read_text("utf-8")
    assert "| Citation-KNN | " in tables
    assert "*(92.4)*" in tables  # the number that the paper quotes
    assert json.loads((tmp_path / "one" / "table" / "results.json").read_text())["sets"] == found["sets"]
    with monkeypatch.context() as patch:  # everything is kept: nothing is measured again
        patch.setattr(table, "measure_fold", lambda *_: 1 / 0)
        again = reproduce(["table"], tmp_path / "one", Options(quick=True, jobs=1), Console(quiet=True))["table"]
    assert again["sets"] == found["sets"]
    two = reproduce(["table"], tmp_path / "two", Options(quick=True, jobs=2), Console(quiet=True))["table"]
    for results in (two, found):
        for method in results["sets"]["musk1"].values():
            del method["seconds"]
    assert two["sets"] == copy.deepcopy(found["sets"])

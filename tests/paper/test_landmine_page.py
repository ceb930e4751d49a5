"""The page of the landmine experiment: the way to it, and sentences for any outcome."""

import copy

import numpy as np
import pytest
from made_up_alarms import made_up

from fuzzymil import Bags
from paper.landmine import CAUSES, METHODS, PAPER, REFERENCE, START, VARIANTS, draw, section, shown_alarms, summarize
from paper.page import Figure, Table, Text
from paper.radar.alarms import AlarmSet


def findings(report):
    return [block.words for block in report.blocks if isinstance(block, Text) and block.finding]


@pytest.mark.slow
def test_the_whole_way(results, tmp_path, monkeypatch):
    from paper.radar.simulation import simulate_alarm

    monkeypatch.setattr(
        "paper.landmine.draw_alarm",
        lambda asked, difficulty, seed: simulate_alarm("void", difficulty, seed),
    )
    draw(results, tmp_path)
    report = section(results)
    for block in report.blocks:
        if isinstance(block, Figure):
            assert (tmp_path / f"{block.stem}.svg").exists()
        if isinstance(block, Table):
            assert all(len(row) == len(block.columns) for row in block.rows)
    words = " ".join(
        block.words if isinstance(block, Text) else block.title if isinstance(block, Table) else block.caption
        for block in report.blocks
    )
    assert words.count("imulated") > 15
    assert "a different seed from the reported one" in words


def test_only_networks_show_their_rules_before_training(results):
    """A choice of rules may end with fewer rules, or others, than it refined: there is nothing to draw them against."""
    of_methods = results["difficulties"]["medium"]["rules"]
    assert of_methods[REFERENCE]["initial"] is None
    assert len(of_methods[START]["initial"]["rules"]) == len(of_methods[START]["trained"]["rules"])


def test_shown_alarms_are_the_middle_mine_and_the_worst_false_alarm(results):
    own = results["difficulties"]["medium"]
    places = shown_alarms(own, REFERENCE)
    outside = np.array(own["rules"][REFERENCE]["outside"])
    asked, scores = np.array(own["alarms"]["asked"])[outside], np.array(own["curves"][REFERENCE])[outside]
    assert asked[places["cube_mine"]] == "low-metal mine"
    assert scores[places["cube_clutter"]] == scores[asked == "clutter"].max()


def with_difference(results, method, low, high, measure="auc"):
    """Return the results as they would be, had a method done so much better or worse than the reference."""
    changed = copy.deepcopy(results)
    own = changed["difficulties"]["medium"]["methods"]
    own[method][measure]["minus"] = {"value": (low + high) / 2, "low": low, "high": high}
    if own[method]["minus_network"]:
        own[method]["minus_network"][measure] = own[method][measure]["minus"]
    own[method][measure]["value"] = own[REFERENCE][measure]["value"] + (low + high) / 2
    return changed


@pytest.mark.parametrize(
    ("low", "high", "place", "claim"),
    [
        (0.1, 0.2, "Clearly better than “RuleClassifier”: “NaiveANFIS”", "reversed: +0.150 ("),
        (-0.2, -0.1, "Clearly worse: “NaiveANFIS”", "confirmed: -0.150 ("),
        (-0.1, 0.1, "Clearly worse: none", "not clear: +0.000 ("),
    ],
    ids=["ahead", "behind", "between"],
)
def test_sentences_follow_the_numbers(results, low, high, place, claim):
    changed = results
    for name in METHODS:
        if name != REFERENCE:
            changed = with_difference(changed, name, -0.01, 0.01)
    report = section(with_difference(changed, "NaiveANFIS", low, high))
    assert any(place in sentence for sentence in findings(report))
    (claims,) = [block for block in report.blocks if isinstance(block, Table) and "The paper's findings" in block.title]
    assert dict(row[:2] for row in claims.rows)["NaiveANFIS is worse than MI-ANFIS"].startswith(claim)


@pytest.mark.parametrize(
    ("gain", "words"), [(0.1, "on: medium; not on: none."), (0.05, "on: none; not on: medium.")], ids=["enough", "less"]
)
def test_the_setting_is_judged_by_the_strict_reading(results, gain, words):
    changed = copy.deepcopy(results)
    setting = changed["difficulties"]["medium"]["setting"]
    setting["own_difference"] = {"value": gain, "low": gain - 0.02, "high": gain + 0.02}
    setting["difference"]["value"] = 0.3  # the lenient one does not count
    (told,) = [sentence for sentence in findings(section(changed)) if "multiple-instance problem" in sentence]
    assert told.endswith(words)
    assert f"{gain:+.3f} (medium). Lenient" in told
    assert "+0.300 (medium), which does not count" in told


def test_the_strict_reading_judges_clutter_where_its_object_is():
    """Clutter that looks like a mine, but deeper: only a judge who knows the window of both is not told them apart."""
    alarms = made_up(8)
    n, windows = alarms.energies.shape
    mines = np.asarray(alarms.bags.labels) == 1
    ehddt, target = np.zeros((n, windows)), np.zeros((n, windows))
    for bag, place in enumerate(np.where(mines, 3, 9)):
        ehddt[bag, place], target[bag, place] = 0.9, 5.0
    bags = Bags(
        np.column_stack([ehddt.ravel(), np.zeros((n * windows, 3))]),
        alarms.bags.offsets,
        labels=alarms.bags.labels,
        instance_labels=(target > 0).astype(int).ravel() * np.repeat(mines, windows),
    )
    same = AlarmSet(bags, alarms.kinds, 1 + target, target, alarms.seeds, alarms.asked, alarms.facts)
    run = {"scores": np.zeros(n), "folds": np.zeros(n, int), "pointed": np.full(n, 3)}
    setting = summarize(same, {REFERENCE: [run]}, {}, seed=0)["setting"]
    assert (setting["right"]["value"], setting["own"]["value"]) == (1.0, 0.5)
    assert setting["own_difference"]["value"] == setting["own"]["value"] - setting["fixed"]["value"]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.02, "clearly worse than"),
        (-0.02, -0.01, "clearly better than"),
        (-0.01, 0.01, "not clearly different from"),
    ],
    ids=["behind", "ahead", "between"],
)
def test_the_default_is_held_against_the_papers_start(results, low, high, words):
    report = section(with_difference(results, START, low, high))
    assert any(f"RuleClassifier is {words} “{START}”" in sentence for sentence in findings(report))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.02, "clearly better than"),
        (-0.02, -0.01, "clearly worse than"),
        (-0.01, 0.01, "not clearly different from"),
    ],
    ids=["ahead", "behind", "between"],
)
def test_the_best_change_is_held_against_the_best_rival(results, low, high, words):
    changed = copy.deepcopy(results)
    minus = {"value": (low + high) / 2, "low": low, "high": high}
    changed["difficulties"]["medium"]["best_change"] |= {"rival": "NaiveANFIS", "rival_auc": 0.9, "minus": minus}
    changed["difficulties"]["medium"]["variants"]["MI-ANFIS, alpha 5"]["auc"]["minus"] = {
        "value": -0.2,
        "low": -0.3,
        "high": -0.1,
    }
    (told,) = [sentence for sentence in findings(section(changed)) if "effects by cause" in sentence]
    assert f"It is {words} the best other method of that run, “NaiveANFIS” (0.900): {minus['value']:+.3f} (" in told
    assert "aggregation over windows: worse with “MI-ANFIS, alpha 5” (-0.200)" in told


def test_changes_are_compared_on_the_one_run_they_had(alarms):
    """A rival that is ahead on average, but not on the first run, is not ahead of a change."""
    truth = np.asarray(alarms.bags.labels)

    def run(wrong):
        scores = truth.astype(float)
        scores[:wrong] = 1 - scores[:wrong]
        return {"scores": scores, "folds": np.zeros(24, int), "pointed": np.zeros(24, int)}

    methods = {REFERENCE: [run(9), run(9)], "good later": [run(6), run(0)], "good at first": [run(4), run(12)]}
    found = summarize(alarms, methods, {"small": [run(8)], "large": [run(2)]}, seed=0)
    best = found["best_change"]
    assert (best["change"], best["rival"]) == ("large", "good at first")
    assert best["rival_auc"] == found["methods"]["good at first"]["runs"][0] < best["auc"]
    assert best["minus"]["value"] == pytest.approx(best["auc"] - best["rival_auc"])
    minus = found["variants"]["large"]["auc"]["minus"]["value"]
    assert minus == pytest.approx(best["auc"] - found["methods"][REFERENCE]["runs"][0])
    for own in found["methods"].values():
        assert np.mean(own["runs"]) == pytest.approx(own["auc"]["value"])


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([0.70, 0.75, 0.80], "read with caution: “NaiveANFIS” (+0.090)"),
        ([0.75, 0.75, 0.75], "between runs: “NaiveANFIS”."),
    ],
    ids=["within the spread", "not in every run"],
)
def test_clear_differences_are_held_against_the_spread_of_the_runs(results, runs, words):
    changed = results
    for name in METHODS:
        if name != REFERENCE:
            changed = with_difference(changed, name, -0.01, 0.01)
    changed = with_difference(changed, "NaiveANFIS", 0.08, 0.1)
    methods = changed["difficulties"]["medium"]["methods"]
    for method in methods.values():
        method["runs"] = runs
    methods["NaiveANFIS"]["runs"] = [0.74, 0.90, 0.88]
    report = section(changed)
    (told,) = [sentence for sentence in findings(report) if "read with caution" in sentence]
    assert words in told
    (table,) = [block for block in report.blocks if isinstance(block, Table) and "of each run" in block.title]
    assert dict(row[:2] for row in table.rows)["NaiveANFIS"] == "0.740, 0.900, 0.880"


def test_rates_of_a_kind_leave_the_other_mines_out():
    alarms = made_up(40)
    high = alarms.asked == "high-metal mine"
    scores = np.where(high, 1.0, np.where(alarms.asked == "clutter", 0.5, 0.0))
    run = {"scores": scores, "folds": np.zeros(40, int), "pointed": np.zeros(40, int)}
    found = summarize(alarms, {REFERENCE: [run]}, {}, seed=0)["methods"][REFERENCE]
    assert found["detected at 0.1, high-metal mine"]["value"] == found["auc, high-metal mine"]["value"] == 1
    assert found["detected at 0.1, low-metal mine"]["value"] == found["auc, low-metal mine"]["value"] == 0
    assert found["detected at 0.1"]["value"] == 0.5


def test_every_change_belongs_to_one_cause():
    assert sorted(name for names in CAUSES.values() for name in names) == sorted(VARIANTS)


def test_the_page_tells_what_became_of_the_papers_settings(results):
    changed = copy.deepcopy(results)
    own = changed["difficulties"]["medium"]
    own["rmse"][PAPER] = [[0.4, 0.3, 0.6], [0.4, 0.5, 0.6], [0.9]]  # the last one broke off
    own["curves"][PAPER] = np.where(np.array(own["folds"]) == 0, 0.1, np.arange(24.0)).tolist()
    told = [sentence for sentence in findings(section(changed)) if "training error, averaged" in sentence]
    assert len(told) == 1
    assert "0.40 at its minimum (epoch 1) and 0.60 in the last epoch" in told[0]
    assert "1 of 2 folds" in told[0]

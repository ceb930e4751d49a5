"""Costs, thresholds and sets of answers; splits by time and a file to test on."""

import csv
import json

import numpy as np
import pytest
from runner import COLUMNS, bad, good, table, write

FAST = ["--n-rules", "2", "--max-conditions", "1", "--set", "cv=2"]
FIT = [*COLUMNS, *FAST]
EVALUATE = [*FIT, "--folds", "2", "--compare", "majority"]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """Many boxes, with the day on which they came; a calibrated model of them; boxes of the next year."""
    folder = tmp_path_factory.mktemp("desk")
    rng = np.random.default_rng(0)
    lines = ["box,color,day,weight"]
    for b in range(60):
        red = rng.uniform() < 0.4
        weights = rng.normal([1 + 1.5 * red, 1, 1], 0.5)
        lines += [f"b{b},{'red' if red else 'blue'},2026-01-{1 + b // 2:02d},{weight:.3f}" for weight in weights]
    write(folder / "boxes.csv", "\n".join(lines) + "\n")
    write(folder / "later.csv", table())
    good("fit", folder / "boxes.csv", *FIT, "--drop", "day", "--calibrate", "0.5", "-o", folder / "model.json")
    return folder


def predicted(desk, *options):
    result = good("predict", desk / "model.json", desk / "boxes.csv", *options)
    return list(csv.DictReader(result.stdout.splitlines())), result.stderr


def test_a_missed_red_box_costs_more(desk):
    plain, _ = predicted(desk)
    careful, said = predicted(desk, "--cost-miss", "9")
    assert "Predicting red from a probability of 0.1, as a missed red costs 9 times a false alarm" in said
    for before, after in zip(plain, careful, strict=True):
        assert after["prediction"] == ("red" if float(before["probability_red"]) >= 0.1 else "blue")
    assert {row["prediction"] for row in predicted(desk, "--threshold", "0")[0]} == {"red"}


def test_sets_of_answers(desk):
    rows, said = predicted(desk, "--confidence", "0.8", "--by-class")
    assert {row["set"] for row in rows} <= {"", "red", "blue", "blue or red"}
    assert "At least 0.8 of new bags of every class" in said
    assert "30 calibration bags" in said


def test_mistakes(desk):
    model, boxes = desk / "model.json", desk / "boxes.csv"
    assert "omit one of them" in bad("predict", model, boxes, "--cost-miss", "2", "--threshold", "0.1")
    assert "add --confidence" in bad("predict", model, boxes, "--by-class")
    assert "omit --stream and --continue" in bad("fit", boxes, *COLUMNS, "--calibrate", "0.5", "--continue", model)
    assert "use one of them" in bad("evaluate", boxes, *EVALUATE, "--time", "day", "--test", desk / "later.csv")
    said = bad("evaluate", boxes, "--bag", "box", "--label", "day", "--time", "color")
    assert "--time needs a column of dates or numbers" in said


def test_what_mistakes_cost(desk):
    found = json.loads(good("evaluate", desk / "boxes.csv", *EVALUATE, "--cost-miss", "5", "--json").stdout)
    own, majority = found["methods"]
    reds = (desk / "boxes.csv").read_text().count(",red,") / 180
    assert majority["measures"]["cost"]["mean"] == pytest.approx(5 * reds, abs=0.05)  # it misses all
    assert own["measures"]["cost"]["mean"] < majority["measures"]["cost"]["mean"]
    said = good("evaluate", desk / "boxes.csv", *EVALUATE, "--cost-miss", "5").stdout
    assert "Probabilities of RuleClassifier: 0." in said
    assert "for two classes" in bad("evaluate", desk / "boxes.csv", *FIT[:2], "--label", "day", "--cost-miss", "5")


def test_later_bags_are_predicted_from_earlier_ones(desk):
    said = good("evaluate", desk / "boxes.csv", *EVALUATE, "--time", "day", "--folds", "3").stdout
    assert "each later than its training bags" in said
    assert "RuleClassifier" in said


def test_another_file_is_tested_on(desk):
    result = good("evaluate", desk / "boxes.csv", *EVALUATE, "--drop", "day", "--test", desk / "later.csv")
    assert f"Learned from 60 bags of {desk / 'boxes.csv'}, tested on 12 bags of {desk / 'later.csv'}." in result.stdout

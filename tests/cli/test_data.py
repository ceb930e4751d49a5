"""``data``: benchmark datasets, and files of bags; and the data in ``examples``."""

import csv
import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from runner import COLUMNS, bad, good, table, write

from fuzzymil.datasets import make_planted, read_bags, write_bags


def test_benchmark_datasets(tmp_path, monkeypatch):
    monkeypatch.delenv("FUZZYMIL_DATA", raising=False)
    assert good("data", "list").stdout.splitlines()[2].split() == ["musk1", "MUSK", "1", "92", "47", "476", "166"]
    assert [each["name"] for each in json.loads(good("data", "list", "--json").stdout)][-1] == "elephant"
    assert "CC BY 4.0" in good("data", "describe", "musk1").stdout
    assert json.loads(good("data", "describe", "fox", "--json").stdout)["n_bags"] == 200
    assert "Did you mean 'musk1'" in bad("data", "fetch", "msk1", "-o", tmp_path)
    assert "--folder" in bad("data", "fetch", "musk1", "--folder", tmp_path / "nowhere", "-o", tmp_path)


def test_fetch_from_a_folder(tmp_path, monkeypatch, desk):
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    monkeypatch.setattr("fuzzymil.datasets.load_fox", lambda folder: bags)
    result = good("data", "fetch", "fox", "-o", tmp_path / "new", "--json")
    assert json.loads(result.stdout)[0]["n_bags"] == 12
    assert len(read_bags(tmp_path / "new" / "fox.csv")) == 12
    assert "is a file" in bad("data", "fetch", "fox", "-o", tmp_path / "new" / "fox.csv")
    (tmp_path / "new" / "fox.csv").unlink()
    (tmp_path / "new" / "fox.csv").symlink_to(desk / "boxes.csv")  # the name was not the user's choice
    before = (desk / "boxes.csv").read_text()
    good("data", "fetch", "fox", "-o", tmp_path / "new")
    assert (desk / "boxes.csv").read_text() == before
    assert len(read_bags(tmp_path / "new" / "fox.csv")) == 12


def test_describe_a_file(desk):
    arguments = ["data", "describe", desk / "boxes.csv", *COLUMNS, "--no-diagnose"]
    lines = good(*arguments).stdout.splitlines()
    assert lines[0] == "12 bags, 36 instances, 2 features, 3 instances per bag, 0 missing values"
    assert "'box'" in lines[1]
    assert "blue (6 bags of 3 instances), red (6 bags of 3 instances)" in lines[2]
    assert [line.split()[0] for line in lines[6:]] == ["weight", "length"]
    found = json.loads(good(*arguments, "--json").stdout)
    bags = read_bags(desk / "boxes.csv", bag="box", label="color")
    assert found["features"][0]["max"] == bags.instances[:, 0].max()
    assert found["instances_per_bag"]["by_label"]["red"] == {"min": 3, "median": 3.0, "max": 3}
    assert "diagnosis" not in found


def test_which_bag_problem(tmp_path):
    bags = make_planted("size", 40, 0, random_state=0)
    path = tmp_path / "planted.csv"
    write_bags(bags, path)
    plain = good("data", "describe", path)
    assert "Which bag problem" not in plain.stdout
    assert "--diagnose" in plain.stderr
    result = good("data", "describe", path, "--bag", "bag", "--label", "label")
    assert "number of instances alone" in result.stdout
    assert "Warning: The number of instances" in result.stdout
    assert "majority class" in result.stdout
    assert "AT LEAST 8 instances" in result.stdout
    found = json.loads(good("data", "describe", path, "--diagnose", "--json", "--seed", "1").stdout)
    assert found["diagnosis"]["kind"] == "size"
    assert found["n_bags"] == 40
    numbers = json.loads(good("data", "describe", path, "--diagnose", "--task", "regression", "--json").stdout)
    assert "R2" in numbers["diagnosis"]["methods"][0]["measures"]


def test_mistakes_about_the_bag_problem(tmp_path, desk):
    assert "Did you mean 'color'" in bad("data", "describe", desk / "boxes.csv", "--bag", "box", "--label", "colr")
    lines = (desk / "boxes.csv").read_text().splitlines()
    three = write(tmp_path / "three.csv", "\n".join(lines[:10]) + "\n")
    assert "Too few bags" in good("data", "describe", three, *COLUMNS).stdout
    alike = write(tmp_path / "alike.csv", "\n".join(lines).replace("blue", "red") + "\n")
    assert "one class, red" in bad("data", "describe", alike, *COLUMNS)
    assert "numeric labels" in bad("data", "describe", desk / "boxes.csv", *COLUMNS, "--task", "regression")
    bare = write(tmp_path / "bare.csv", "box,weight\nb1,2.5\nb2,3.5\n")
    assert "--label" in bad("data", "describe", bare, "--bag", "box", "--diagnose")


@pytest.mark.parametrize("ending", [".arff", ".svm", ".mat", ".txt", ".csv.gz", ""])
def test_convert_there_and_back(tmp_path, ending):
    path = tmp_path / f"boxes{ending}"
    source = write(tmp_path / "numbers.csv", table(labels=("1", "0")))
    result = good("data", "convert", source, path, *COLUMNS, "--json")
    assert json.loads(result.stdout)["n_bags"] == 12
    np.testing.assert_array_equal(read_bags(path).instances, read_bags(source, bag="box", label="color").instances)


def test_convert_in_a_pipe(desk):
    arguments = ["data", "convert", "-", "-", *COLUMNS]
    result = good(*arguments, input=(desk / "boxes.csv").read_bytes())
    assert result.stdout.splitlines()[0] == "bag,label,weight,length"
    assert len(result.stdout.splitlines()) == 37
    assert "--json" in bad(*arguments, "--json", input=b"")


def test_advice_on_the_format_to_write_can_be_followed(desk, tmp_path):
    common = ("data", "convert", desk / "boxes.csv", tmp_path / "out.foo", *COLUMNS)
    assert "--to" in bad(*common)
    good(*common, "--to", "csv")


def test_the_example_data_can_be_made_again():
    folder = Path(__file__).parents[2] / "examples"
    spec = importlib.util.spec_from_file_location("make_visits", folder / "make_visits.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    with open(folder / "visits.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert tuple(head) == made.COLUMNS
    assert rows == [[str(value) for value in row] for row in made.rows()]
    bags = read_bags(folder / "visits.csv", bag="user", label="converted")
    assert (bags.n_bags, (bags.labels == "yes").sum()) == (made.N_BUYERS + made.N_OTHERS, made.N_BUYERS)


def test_many_features_are_described_in_short(tmp_path):
    names = [f"x{number}" for number in range(1, 31)]
    rows = [f"b{bag},{','.join(str(bag + number) for number in range(30))}" for bag in range(3)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([f"bag,{','.join(names)}", *rows]))
    short = good("data", "describe", path).stdout
    assert [line.split()[0] for line in short.splitlines() if line.startswith("x")] == names[:20]
    assert "10 more features" in short
    assert "--all" in short
    long = good("data", "describe", path, "--all").stdout
    assert [line.split()[0] for line in long.splitlines() if line.startswith("x")] == names
    assert "more feature" not in long
    assert len(json.loads(good("data", "describe", path, "--json").stdout)["features"]) == 30

"""Labels in another file, several files, and columns that nobody named."""

import pandas as pd
import pytest
from runner import bad, good, table, write

from fuzzymil import load_model


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """Boxes without labels; the labels of all but two of them, and of one more, in another file."""
    monkeypatch.chdir(tmp_path)
    boxes = pd.read_csv(write(tmp_path / "labeled.csv", table()))
    colors = boxes.groupby("box")["color"].first().reset_index()
    colors.to_csv("colors.csv", index=False)
    more = pd.DataFrame({"box": ["b99"], "color": ["red"]})
    pd.concat([colors[:-2], more]).assign(size=1).to_csv("some.csv", index=False)
    boxes.drop(columns="color").to_csv("boxes.csv", index=False)
    return tmp_path


def test_labels_in_another_file(desk):
    said = good("fit", "boxes.csv", "--bag", "box", "--labels", "colors.csv", "--label", "color").stderr
    assert "bag column 'box', labels in colors.csv" in said
    assert load_model("model.json").classes_.tolist() == ["blue", "red"]
    assert "Accuracy" in good("predict", "model.json", "boxes.csv", "--labels", "colors.csv").stderr
    assert "Accuracy" not in good("predict", "model.json", "boxes.csv").stderr
    assert "Accuracy" in good("predict", "model.json", "labeled.csv").stderr


def test_bags_without_a_label(desk):
    fit = ["fit", "boxes.csv", "--bag", "box", "--labels", "some.csv", "--label", "color"]
    said = bad(*fit)
    assert "2 of the 12 bags have no label: b8, b9." in said
    assert "with --drop-unlabeled" in said
    said = good(*fit, "--drop-unlabeled").stderr
    assert "belongs to no bag: b99" in said
    assert "left out" in said
    assert "10 bags" in said
    assert "color, size" in bad(*fit[:-2])


def test_labels_are_for_bags_in_memory(desk):
    pd.read_csv("boxes.csv").to_parquet("boxes.parquet")
    assert "omit --stream" in bad("fit", "boxes.parquet", "--bag", "box", "--labels", "colors.csv", "--stream")


def test_columns_are_proposed(desk):
    assert "Try --bag box --label color." in bad("fit", "labeled.csv")
    assert "Try --label color." in bad("fit", "labeled.csv", "--bag", "box")


def test_several_files(desk):
    (desk / "labeled.csv").rename(desk / "part1.csv")
    text = (desk / "part1.csv").read_text().splitlines(keepends=True)
    (desk / "part1.csv").write_text("".join(text[:19]))
    (desk / "part2.csv").write_text("".join([text[0], *text[19:]]))
    assert "12 bags, 36 instances" in good("data", "describe", "part*.csv", "--bag", "box", "--label", "color").stdout

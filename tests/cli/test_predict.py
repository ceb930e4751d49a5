"""``predict``: a table of predictions, in parts where the data are large."""

import csv
import io
import json

import numpy as np
import pytest
from pyarrow import parquet
from runner import COLUMNS, SMALL, bad, good, run, table, write

from fuzzymil import Bags, load_model
from fuzzymil.datasets import read_bags, write_bags


def test_predict_writes_a_table(desk, tmp_path):
    result = good("predict", desk / "model.json", desk / "boxes.csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    model, bags = load_model(desk / "model.json"), read_bags(desk / "boxes.csv", bag="box", label="color")
    assert [row["bag"] for row in rows] == bags.ids.tolist()
    assert [row["prediction"] for row in rows] == model.predict(bags).tolist()
    likely = [[float(row[f"probability_{name}"]) for name in ("blue", "red")] for row in rows]
    np.testing.assert_allclose(likely, model.predict_proba(bags), atol=1e-4)
    coverage = [float(row["coverage"]) for row in rows]
    np.testing.assert_allclose(coverage, model.predictions(bags).coverage, atol=0.005)
    assert f"{(model.predict(bags) == bags.labels).sum()} of 12 bags" in result.stderr
    good("predict", desk / "model.json", desk / "boxes.csv", "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == result.stdout
    found = json.loads(good("predict", desk / "model.json", desk / "boxes.csv", "--json").stdout)
    assert [row["prediction"] for row in found["predictions"]] == model.predict(bags).tolist()


def test_the_model_remembers_its_columns(desk):
    unlabeled = "\n".join(",".join(np.array(line.split(","))[[3, 0, 2]]) for line in table().splitlines())
    result = good("predict", desk / "model.json", "-", input=unlabeled.encode())
    assert result.stdout == good("predict", desk / "model.json", desk / "boxes.csv").stdout
    assert "Accuracy" not in result.stderr


def test_unknown_columns_are_ignored_and_named(desk, tmp_path):
    more = "\n".join(f"{line},{'depth' if n == 0 else n}" for n, line in enumerate(table().splitlines()))
    result = good("predict", desk / "model.json", write(tmp_path / "more.csv", more))
    assert ": depth." in result.stderr
    assert result.stdout == good("predict", desk / "model.json", desk / "boxes.csv").stdout


def test_other_labels_are_not_compared(desk, tmp_path):
    other = write(tmp_path / "other.csv", table(labels=("rouge", "bleu")))
    assert "accuracy" in good("predict", desk / "model.json", other).stderr


def test_parquet_is_read_in_parts(desk, boxes, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.datasets.formats.parquet.PART", 1)
    whole = good("predict", desk / "model.json", desk / "boxes.csv")
    result = good("predict", desk / "model.json", boxes)
    assert result.stdout == whole.stdout
    assert "12 bags, 36 instances, 2 features, 9 parts" in result.stderr
    assert result.stderr.count(": remark.") == 1
    assert whole.stderr.splitlines()[-1] == result.stderr.splitlines()[-1]  # the accuracy
    good("predict", desk / "model.json", boxes, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == whole.stdout
    as_json = ("predict", desk / "model.json", "--json")
    assert good(*as_json, boxes).stdout == good(*as_json, desk / "boxes.csv").stdout
    assert good("predict", desk / "model.json", "-", input=boxes.read_bytes()).stdout == whole.stdout


def test_nothing_is_written_if_a_later_part_is_bad(desk, boxes, tmp_path, monkeypatch):
    monkeypatch.setattr("fuzzymil.datasets.formats.parquet.PART", 1)
    rows = parquet.read_table(boxes)
    colors = rows["color"].to_pylist()
    rows = rows.set_column(rows.schema.get_field_index("color"), "color", [[*colors[:-1], "green"]])
    parquet.write_table(rows, tmp_path / "odd.parquet", row_group_size=4)
    message = bad("predict", desk / "model.json", tmp_path / "odd.parquet", "-o", tmp_path / "out.csv")
    assert "row 35: bag b11" in message
    assert [path.name for path in tmp_path.iterdir()] == ["odd.parquet"]
    assert not run("predict", desk / "model.json", tmp_path / "odd.parquet").stdout


def test_scattered_parquet_is_read_whole(desk, boxes, tmp_path):
    order = [*range(0, 36, 3), *range(1, 36, 3), *range(2, 36, 3)]
    parquet.write_table(parquet.read_table(boxes).take(order), tmp_path / "odd.parquet")
    result = good("predict", desk / "model.json", tmp_path / "odd.parquet")
    assert "not contiguous" in result.stderr
    assert ": remark." in result.stderr
    assert result.stdout == good("predict", desk / "model.json", boxes).stdout


def test_a_missing_column_is_named(desk, boxes, tmp_path):
    parquet.write_table(parquet.read_table(boxes).drop_columns(["length"]), tmp_path / "odd.parquet")
    assert "no column 'length'" in bad("predict", desk / "model.json", tmp_path / "odd.parquet")


def test_parquet_is_described_converted_and_fitted(boxes, tmp_path):
    columns = (*COLUMNS, "--drop", "remark")
    assert "12 bags, 36 instances" in good("data", "describe", boxes, *columns).stdout
    good("data", "convert", boxes, tmp_path / "b.csv", *columns)
    good("data", "convert", tmp_path / "b.csv", tmp_path / "b.parquet")
    assert read_bags(tmp_path / "b.parquet").ids.tolist() == read_bags(tmp_path / "b.csv").ids.tolist()
    good("fit", boxes, *columns, *SMALL, "-o", tmp_path / "m.json")
    assert "remark" not in good("predict", tmp_path / "m.json", boxes).stderr  # the model remembers
    message = bad("fit", boxes, "--bag", "box", "--drop", "remark", "-o", tmp_path / "n.json")
    assert "--label, one of length, weight, color, remark" in message
    assert "not used: remark" in good("fit", boxes, *COLUMNS, "-o", tmp_path / "n.json").stderr


@pytest.mark.parametrize(
    "extra",
    [
        None,
        [],
        {"columns": None},
        {"columns": "box"},
        {"columns": {"bag": "box", "label": "color", "drop": None}},
        {"columns": {"bag": ["box"], "label": {}, "drop": [None, 1]}},
    ],
)
def test_odd_columns_in_a_model_file_are_ignored(desk, tmp_path, extra):
    document = json.loads((desk / "model.json").read_text()) | {"extra": extra}
    model = write(tmp_path / "model.json", json.dumps(document))
    expected = good("predict", desk / "model.json", desk / "boxes.csv").stdout
    assert good("predict", model, desk / "boxes.csv", *COLUMNS).stdout == expected


def test_a_lack_of_memory_is_a_sentence(desk, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr("fuzzymil.cli._inputs.Source.matched", fails)
    result = run("predict", desk / "model.json", desk / "boxes.csv")
    assert result.exit_code == 1
    assert "not enough memory" in result.stderr
    assert "Traceback" not in result.output


def test_rules_of_other_programs_predict_rows_and_bags(tmp_path):
    rules = tmp_path / "lamp.fll"
    write(
        rules,
        "InputVariable: ambient\n  term: dark Ramp 1 0\n  term: bright Ramp 0 1\n"
        "OutputVariable: power\n  defuzzifier: WeightedAverage\n  term: high Constant 1\n  term: low Constant 0\n"
        "RuleBlock:\n  rule: if ambient is dark then power is high\n  rule: if ambient is bright then power is low\n",
    )
    rows = tmp_path / "rows.csv"
    write(rows, "hour;ambient\n1;0\n2;0.5\n")
    assert good("predict", rules, rows).stdout == "row,power\n1,1.0\n2,0.5\n"
    write(rows, "bag,ambient\na,0.25\na,1\nb,0\n")
    found = json.loads(good("predict", rules, rows, "--json").stdout)["predictions"]
    assert [row["bag"] for row in found] == ["a", "b"]
    np.testing.assert_allclose([row["power"] for row in found], [0.75 / 1.75, 1.0])
    write(rows, "ambint\n0.25\n")
    message = bad("predict", rules, rows)
    assert "'ambient'" in message
    assert "Did you mean 'ambint'" in message
    write(rows, "ambient\n0.25\nmuch\n")
    assert "line 3, column 'ambient': expected a number" in bad("predict", rules, rows)


def test_rules_saved_as_json_predict_like_their_source(tmp_path):
    source, rows, saved = tmp_path / "heating.rules", tmp_path / "rows.csv", tmp_path / "heating.json"
    source.write_text("VARIABLE t FROM 0 TO 10: cold = Ramp(10, 0), hot = Ramp(0, 10)\nIF t is cold THEN power = 1\n")
    rows.write_text("t\n0\n5\n")
    good("rules", source, "-o", saved)
    assert good("predict", saved, rows).stdout == good("predict", source, rows).stdout == "row,power\n1,1.0\n2,1.0\n"
    for file in (source, saved):
        assert "power = 1" in good("explain", file, rows, "--id", "2").stdout
        message = bad("report", file, rows)
        assert f"{file.name} holds rules" in message.replace("\n", "")
        assert "--init" in message


SHOP = """
VARIABLE minutes: long = Sigmoid(30, 1)
VARIABLE channel: ONE OF web, support, phone
Default: leaves = -3
IF SOME (minutes is long AND channel is support) THEN leaves += 5
"""
WARD = """
VARIABLE map FROM 30 TO 130: low = Sigmoid(60, -0.4), normal = Gaussian(85, 12)
OUTPUT worse FROM 0 TO 100: unlikely = Triangular(-50, 0, 50), likely = Triangular(50, 100, 150)
IF map is low THEN worse is likely
IF map is normal THEN worse is unlikely
"""


def test_rules_alone_explain_bags_with_categories_and_say_where_they_come_from(tmp_path):
    rules, data = write(tmp_path / "shop.rules", SHOP), tmp_path / "contacts.csv"
    write(data, "customer,channel,minutes,note\na,Phone,50,one\na,SUPPORT,45,two\nb,support,10,three\nb,web,60,four\n")
    found = json.loads(good("predict", rules, data, "--bag", "customer", "--json").stdout)["predictions"]
    np.testing.assert_allclose([row["leaves"] for row in found], [2, -3], atol=1e-5)
    text = good("explain", rules, data, "--bag", "customer", "--id", "a").stdout
    assert "leaves = 2" in text
    assert "line 3" in text
    assert "note 'two'" in text
    assert "channel = support" in text
    assert "customer" in bad("explain", rules, data, "--bag", "costumer", "--id", "a")


def test_rules_alone_say_what_missing_values_mean(tmp_path):
    """Once, on standard error, unless the rules say it themselves."""
    rules, data = write(tmp_path / "shop.rules", SHOP), tmp_path / "contacts.csv"
    write(data, "bag,channel,minutes\na,phone,50\na,support,\nb,support,\nc,web,60\n")
    message = good("predict", rules, data).stderr
    assert message.count("minutes in 2 bags") == 1
    assert "channel in" not in message
    assert "MISSING AS" in message
    assert "minutes in 2 bags" in good("explain", rules, data, "--id", "a").stderr
    assert "minutes in 2 bags" in good("plot", "surface", rules, data, "-o", tmp_path / "surface.png").stderr
    ward = write(tmp_path / "ward.rules", WARD)
    assert "map in 1 row." in good("predict", ward, write(data, "map,n\n50,1\n,2\n")).stderr
    gaps = Bags.from_list([[[50.0], [np.nan]], [[40.0]], [[np.nan]]], ["map"])
    write_bags(gaps, tmp_path / "ward.parquet")
    assert good("predict", ward, tmp_path / "ward.parquet").stderr.count("map in 2 bags.") == 1
    write(data, "bag,channel,minutes\na,support,\nb,web,60\n")
    for stated in (
        SHOP.replace("VARIABLE minutes", "VARIABLE minutes MISSING AS 5"),
        SHOP + "IF ALL minutes is missing THEN leaves -= 1\n",
    ):
        assert stated != SHOP
        assert "minutes in" not in good("predict", write(rules, stated), data).stderr


@pytest.mark.parametrize(("text", "kinds"), [(SHOP, ["shapes", "explanation"]), (WARD, ["membership", "joined"])])
def test_rules_alone_are_plotted(text, kinds, tmp_path):
    rules, data = write(tmp_path / "mine.rules", text), tmp_path / "data.csv"
    write(data, "bag,channel,minutes,map\na,support,45,50\na,web,5,90\nb,web,10,80\n")
    for kind in kinds:
        target = tmp_path / f"{kind}.png"
        given = [data, "--id", "a"] if kind in ("explanation", "joined") else []
        good("plot", kind, rules, *given, "-o", target)
        assert target.stat().st_size > 1000


def test_numbers_of_bags_keep_their_zeros(tmp_path):
    data = write(tmp_path / "data.csv", "bag,map\n00001,50\n00012,60\n")
    assert "'00001'?" in bad("explain", write(tmp_path / "ward.rules", WARD), data, "--id", "1")

"""A table as people have it, from CSV to report in one command each."""

import csv
import importlib.util
import io
import json
from pathlib import Path

import pandas as pd
import pytest
from runner import bad, good

from fuzzymil import load_model

EXAMPLES = Path(__file__).parents[2] / "examples"
COLUMNS = ("--bag", "customer", "--label", "outcome")


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    """The messy table, a model of it, and what fitting it said."""
    folder = tmp_path_factory.mktemp("messy")
    (folder / "customers.csv").write_text((EXAMPLES / "customers.csv").read_text())
    said = good("fit", folder / "customers.csv", *COLUMNS, "-o", folder / "model.json")
    (folder / "stdout.txt").write_text(said.stdout)
    (folder / "stderr.txt").write_text(said.stderr)
    return folder


def made_by(name):
    """The module of a script that makes an example file."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_tables_are_those_that_their_scripts_make():
    customers, reviews, pumps = map(made_by, ("make_customers", "make_reviews", "make_pumps"))
    tables = {
        "customers.csv": [customers.COLUMNS, *customers.rows()],
        "customers_later.csv": [customers.LATER_COLUMNS, *customers.later_rows()],
        "reviews.csv": reviews.table(),
        "pumps.csv": pumps.table(),
    }
    for name, table in tables.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(table)
        assert text.getvalue() == (EXAMPLES / name).read_text(), name


def test_a_later_table_has_the_traps_of_later_tables(messy):
    """Another order of columns, a new one, one that is gone, no labels, and a category that is new."""
    lines = (EXAMPLES / "customers_later.csv").read_text().splitlines()
    before = (EXAMPLES / "customers.csv").read_text().splitlines()[0].split(",")
    columns = lines[0].split(",")
    assert {*columns} - {*before} == {"campaign"}
    assert {*before} - {*columns} == {"outcome", "remarks"}
    assert [name for name in before if name in columns] != [name for name in columns if name in before]
    said = good("predict", messy / "model.json", EXAMPLES / "customers_later.csv")
    with_fax = {line.split(",")[0] for line in lines if ",Fax," in line}
    unusual = {row["bag"] for row in csv.DictReader(io.StringIO(said.stdout)) if float(row["coverage"]) == 0}
    assert unusual == with_fax
    assert f"{len(with_fax)} of 20 bags" in said.stderr


def test_the_planted_rules_are_found_at_the_first_try(messy):
    rules = (messy / "stdout.txt").read_text()
    assert "minutes is high AND channel is support" in rules
    assert "contact_weekday is Saturday OR contact_weekday is Sunday" in rules
    said = (messy / "stderr.txt").read_text()
    assert said.count("Columns not used") == 1
    for fact in ("contact_id (an identifier", "--categorical agent", "always 'Norway'", "remarks (it is empty)"):
        assert fact in said
    shown = good("rules", messy / "model.json").stdout
    assert "channel: one of email, live chat, phone, support, web" in shown


def test_describe_names_categories_dates_and_what_is_not_used(messy):
    arguments = ("data", "describe", messy / "customers.csv", *COLUMNS, "--no-diagnose")
    found = good(*arguments)
    for fact in ("web (230)", "Saturday (113)", "missing (13)", "2024-01-03", "23:58"):
        assert fact in found.stdout
    assert "to use it: --categorical agent" in found.stderr
    facts = json.loads(good(*arguments, "--json").stdout)
    features = {feature["name"]: feature for feature in facts["features"]}
    assert features["channel"]["categories"]["live chat"] == 82
    assert features["pages"]["max"] == 23
    assert {column["name"] for column in facts["unused"]} == {"contact_id", "agent", "country", "remarks", "comment"}


def test_gaps_name_the_option_that_takes_them(messy):
    message = bad("fit", messy / "customers.csv", *COLUMNS, "--set", "missing=error", "-o", messy / "never.json")
    assert "line 445" in message
    assert "--set missing=median" in message


def test_predictions_point_to_lines(messy):
    rows = list(csv.DictReader(io.StringIO(good("predict", messy / "model.json", messy / "customers.csv").stdout)))
    assert len(rows) == 150
    found = good("predict", messy / "model.json", messy / "customers.csv", "--witness", "--json").stdout
    lines = (messy / "customers.csv").read_text().splitlines()
    leaving = [row for row in json.loads(found)["predictions"] if row["prediction"] == "leaves"]
    for row in leaving[:5]:
        witness = row["witness"]
        line = lines[witness["line"] - 1]
        assert row["bag"] in line
        assert "support" in line.lower()
        assert witness["contact"][:10] in line
        assert str(witness["contact_id"]) in line


def test_explanations_point_to_lines_and_show_categories(messy):
    text = good("explain", messy / "model.json", messy / "customers.csv", "--id", "K-0027").stdout
    lines = (messy / "customers.csv").read_text().splitlines()
    number = 1 + next(
        n for n, line in enumerate(lines) if "K-0027" in line and "upport" in line.lower() and ",53," in line
    )
    assert f"line {number}, contact 2026-04-30 10:42" in text
    assert "channel = support" in text
    facts = json.loads(
        good("explain", messy / "model.json", messy / "customers.csv", "--id", "K-0027", "--json").stdout
    )
    (witness,) = facts["rules"][0]["parts"][0]["witnesses"]
    assert witness["source"]["line"] == number
    assert "channel" in {c["variable"]: c.get("shown") for c in witness["conditions"]}


def test_new_data_may_have_other_columns_categories_and_orders(messy, tmp_path):
    rows = list(csv.DictReader(io.StringIO((messy / "customers.csv").read_text())))
    path = tmp_path / "new.csv"
    kept = [name for name in reversed(rows[0]) if name not in ("outcome", "remarks", "country")]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*kept, "score"], extrasaction="ignore")
        writer.writeheader()
        for n, row in enumerate(rows):
            writer.writerow({**row, "channel": "fax" if n < 3 else row["channel"].upper(), "score": n})
    result = good("predict", messy / "model.json", path)
    assert "score" in result.stderr
    assert "agent" not in result.stderr
    assert "coverage 0" in result.stderr
    before = good("predict", messy / "model.json", messy / "customers.csv").stdout.splitlines()
    assert (
        sum(a.split(",")[:2] == b.split(",")[:2] for a, b in zip(before, result.stdout.splitlines(), strict=True)) > 145
    )


def without(name, source, target):
    """Write a table without one of its columns."""
    with source.open(newline="") as file, target.open("w", newline="") as new:
        rows = list(csv.DictReader(file))
        writer = csv.DictWriter(new, [column for column in rows[0] if column != name], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return target


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_columns_that_no_rule_reads_need_not_be_there(messy, tmp_path, ending):
    full = EXAMPLES / "customers_later.csv"
    partial = without("customer_since", full, tmp_path / "partial.csv")
    if ending == "parquet":
        pd.read_csv(partial).to_parquet(tmp_path / "partial.parquet")
        partial = tmp_path / "partial.parquet"
    found = good("predict", messy / "model.json", partial)
    assert found.stdout == good("predict", messy / "model.json", full).stdout
    assert found.stderr.count("customer_since") == 1
    assert "no rule reads it" in found.stderr
    why = good("explain", messy / "model.json", partial, "--id", "K-1007").stdout
    assert "minutes is high AND channel is support" in why
    needed = without("channel", full, tmp_path / "needed.csv")
    for command in (("predict",), ("explain", "--id", "K-1007")):
        message = bad(command[0], messy / "model.json", needed, *command[1:])
        assert "no column 'channel'" in message
        assert "minutes" in message
        assert "customer_since, channel" not in message  # what is needed
    assert "no column 'customer_since'" in bad("report", messy / "model.json", partial, "-o", tmp_path / "page.html")


def test_parts_of_a_file_may_lack_what_no_rule_reads(tmp_path):
    table = pd.read_csv(EXAMPLES / "visits.csv").rename(columns={"user": "bag", "converted": "label"})
    table.to_parquet(tmp_path / "all.parquet")
    table.drop(columns="hour").to_parquet(tmp_path / "some.parquet")
    good("fit", tmp_path / "all.parquet", "-o", tmp_path / "model.json")
    found = good("predict", tmp_path / "model.json", tmp_path / "some.parquet")
    assert found.stdout == good("predict", tmp_path / "model.json", tmp_path / "all.parquet").stdout
    assert found.stderr.count("hour") == 1


def test_commands_that_need_labels_name_the_column(messy, tmp_path):
    message = bad(
        "plot", "importance", messy / "model.json", EXAMPLES / "customers_later.csv", "-o", tmp_path / "a.png"
    )
    assert "'outcome'" in message
    assert "one of" not in message  # none of the others has labels


def test_a_text_among_numbers_names_options(tmp_path):
    path = tmp_path / "typo.csv"
    path.write_text("bag,label,x\na,1,2\na,1,3x\nb,0,4\nb,0,5\n")
    message = bad("fit", path, "-o", tmp_path / "model.json")
    assert "--categorical" in message
    assert "--drop" in message
    assert "=..." not in message


def test_columns_can_be_said_otherwise(messy, tmp_path):
    model = tmp_path / "model.json"
    chosen = ("--only", "channel,minutes", "--categorical", "agent", "--date", "contact=date+hour")
    good("fit", messy / "customers.csv", *COLUMNS, *chosen, "--max-conditions", "1", "-o", model)
    names = load_model(model).columns_.names
    assert names == ("channel", "minutes", "agent", "contact", "contact_hour")
    message = bad("fit", messy / "customers.csv", *COLUMNS, "--drop", "agent,coment", "-o", model)
    assert "'coment'" in message


@pytest.mark.slow
def test_evaluation_and_report_take_the_same_table(messy):
    head, *lines = (messy / "customers.csv").read_text().splitlines(keepends=True)
    (messy / "some.csv").write_text(head + "".join(line for line in lines if ",K-00" in line and line[9] < "5"))
    printed = good("evaluate", messy / "some.csv", *COLUMNS, "--folds", "2").stdout
    assert "RuleClassifier" in printed
    assert "EmbeddingForest" in printed
    good("report", messy / "model.json", messy / "some.csv", "-o", messy / "report.html")
    page = (messy / "report.html").read_text()
    assert "channel is support" in page
    assert "line 1" in page


@pytest.fixture
def german(tmp_path):
    """A table as a spreadsheet on a German Windows saves it."""
    rows = [
        f"P{i // 3};{1 + i % 7},{i % 10}5;1.{100 + i};{('klein', 'groß')[i % 2]};{('gesund', 'krank')[i // 3 % 2]}"
        for i in range(60)
    ]
    path = tmp_path / "werte.csv"
    path.write_bytes(("Patient;CRP;Größe;Art;Diagnose\r\n" + "\r\n".join(rows) + "\r\n").encode("cp1252"))
    return path


def test_a_table_of_a_german_spreadsheet_is_read_without_an_editor(german, tmp_path):
    columns = ("--bag", "Patient", "--label", "Diagnose")
    told = bad("fit", german, *columns)
    assert "line 1" in told
    assert "--encoding cp1252" in told
    told = bad("fit", german, *columns, "--encoding", "cp1252")
    assert "'CRP'" in told
    assert "--decimal ','" in told
    marks = ("--decimal", ",", "--thousands", ".", "--encoding", "cp1252")
    model = tmp_path / "model.json"
    good("fit", german, *columns, *marks, "-o", model)
    facts = json.loads(good("data", "describe", german, *columns, *marks, "--no-diagnose", "--json").stdout)
    assert [each["name"] for each in facts["features"]] == ["CRP", "Größe", "Art"]
    assert facts["features"][1]["max"] == 1159
    # A model remembers how numbers are written, but not the encoding: a wrong one would not be noticed.
    expected = good("predict", model, german, *marks).stdout
    assert good("predict", model, german, "--encoding", "cp1252").stdout == expected
    assert "--encoding" in bad("predict", model, german)
    english = tmp_path / "values.csv"
    plain = german.read_bytes().decode("cp1252").replace(".", "").replace(",", ".")
    english.write_text(plain, encoding="utf-8")
    assert "--decimal '.', --thousands ''" in bad("predict", model, english)
    assert good("predict", model, english, "--decimal", ".", "--thousands", "").stdout == expected
    explained = good("explain", model, german, "--id", "P0", "--encoding", "cp1252").stdout
    assert "P0" in explained
    assert "cp1252" in bad("data", "describe", german, "--encoding", "klingon")

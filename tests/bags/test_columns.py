"""Columns of tables as features: numbers, categories, dates, and what is not used."""

import datetime
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fuzzymil import Bags, InputError
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Column, Columns, Source
from fuzzymil.bags.series import parse_dates, parse_hours
from fuzzymil.datasets import read_bags, write_bags


def visits(**columns):
    return pd.DataFrame({"user": ["a", "a", "b", "b"], "pages": [1.0, 2.0, 3.0, 4.0], **columns})


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2026-03-01"], "2026-03-01"),
        (["2026/3/1"], "2026-03-01"),
        (["01.03.2026"], "2026-03-01"),
        (["3/1/2026", "3/25/2026"], "2026-03-01"),
        (["1/3/2026", "25/3/2026"], "2026-03-01"),
        (["2026-03-01T14:30:00Z"], "2026-03-01T14:30"),
        (["2026-03-01 14:30:00.5+02:00"], "2026-03-01T14:30:00.5"),
        (["2026-03-01 2:30 PM"], "2026-03-01T14:30"),
    ],
)
def test_dates_are_read_as_people_write_them(texts, expected):
    assert parse_dates(texts)[0] == np.datetime64(expected)


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["1/3/2026"], "day and the month"),
        (["25/3/2026", "3/25/2026"], "begin with the day and some with the month"),
        (["2026-13-01"], "'2026-13-01' is not a date"),
        (["2026-03-01", "soon"], "'soon' is not a date"),
        (["2026-03-01 25:00"], "not a date"),
        (["01-02-03"], "day and the month|not a date"),
    ],
)
def test_what_is_not_a_date_has_a_reason(texts, reason):
    found = parse_dates(texts)
    assert isinstance(found, str)
    assert any(part in found for part in reason.split("|"))


def test_times_of_day_are_hours():
    np.testing.assert_allclose(parse_hours(["14:30", "0:15", "12:00 am"]), [14.5, 0.25, 0.0])
    assert parse_hours(["14:30", "24:30"]) is None
    bags = Bags.from_frame(visits(opened=["14:30", "9:00", "", "23:59"]), "user")
    assert bags.columns[1] == Column("opened", "hour")
    assert bags.columns[1].shown(bags.instances[0, 1]) == "14:30"


def test_categories_differ_neither_by_case_nor_by_blanks():
    bags = Bags.from_frame(visits(channel=["Live  chat", "live chat", " LIVE CHAT", "email"]), "user")
    assert bags.columns[1].categories == ("email", "Live chat")
    assert bags.instances[:, 1].tolist() == [1, 1, 1, 0]


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_every_dtype_of_text_is_understood(kind):
    bags = Bags.from_frame(visits(channel=pd.Series(["x", "y", None, "x"], dtype=kind)), "user")
    np.testing.assert_array_equal(bags.instances[:, 1], [0, 1, np.nan, 0])


def test_dates_become_weekday_hour_and_days_since_the_first():
    days = ["2026-03-02 06:00", "2026-02-28 18:00", "2026-03-01 00:00", None]
    for column in (days, pd.to_datetime(days), [day and datetime.datetime.fromisoformat(day) for day in days]):
        bags = Bags.from_frame(visits(day=column), "user")
        assert bags.feature_names == ("pages", "day_weekday", "day_hour", "day_elapsed")
        expected = [[0, 6, 1.5], [5, 18, 0], [6, 0, 0], [np.nan] * 3]
        np.testing.assert_allclose(bags.instances[:, 1:], expected)
    assert bags.columns[1].shown(5.0) == "Saturday"


def test_a_date_of_the_bag_is_kept_as_a_date():
    bags = Bags.from_frame(visits(since=["01.03.2026"] * 2 + ["31.12.2025"] * 2), "user")
    assert bags.feature_names == ("pages", "since", "since_weekday")
    assert bags.columns[1].shown(bags.instances[0, 1]) == "2026-03-01"


def test_parts_of_a_date_can_be_chosen():
    frame = visits(day=["2026-03-02", "2026-02-28", "2026-03-01", "2026-03-01"])
    assert Bags.from_frame(frame, "user", date={"day": ["date", "elapsed"]}).feature_names[1:] == ("day", "day_elapsed")
    with pytest.raises(ValueError, match=r"Unknown part 'wekday'.*Did you mean 'weekday'"):
        Bags.from_frame(frame, "user", date={"day": ["wekday"]})
    with pytest.raises(InputError, match=r"'pages' must have dates, but it has numbers up to 4"):
        Bags.from_frame(frame, "user", date=["pages"])
    stamped = visits(at=[1772323200, 1772326800, 1772323200, 1772323200])
    assert Bags.from_frame(stamped, "user", date={"at": ["hour"]}).instances[:, 1].tolist() == [0, 1, 0, 0]


def test_what_is_not_used_is_listed_once_with_what_to_say():
    frame = pd.DataFrame({"user": np.repeat(np.arange(20), 2), "pages": np.arange(40) ** 2, "visit_id": np.arange(40)})
    frame["comment"] = [f"remark {n}" for n in range(40)]
    frame["country"], frame["empty"], frame["day"] = "Norway", None, "01/02/2026"
    frame.loc[3, "day"] = "03/04/2026"
    with pytest.warns(UserWarning, match="Columns not used") as told:
        bags = Bags.from_frame(frame, "user")
    (message,) = (str(warning.message) for warning in told)
    for fact in ("visit_id (an identifier", "comment (40 different texts; to use it: categorical=['comment']", "empty"):
        assert fact in message
    assert "always 'Norway'" in message
    assert bags.feature_names[0] == "pages"
    assert {name for name, *_ in bags.source.unused} >= {"visit_id", "comment", "country", "empty"}
    chosen = Bags.from_frame(frame, "user", features=["visit_id"], categorical=["comment"])
    assert chosen.feature_names == ("visit_id", "comment")
    assert len(chosen.columns[1].categories) == 40
    quiet = Bags.from_frame(frame, "user", drop=["visit_id", "comment", "country", "empty", "day"])
    assert quiet.source.extra == {}
    assert Bags.from_frame(frame, "user", drop=["visit_id", "empty", "day"], exclude_text=True).n_features == 1


def test_numbers_that_are_codes_can_be_categories():
    bags = Bags.from_frame(visits(zip=[501, 10, 501, 7]), "user", categorical=["zip"])
    assert bags.columns[1].categories == ("7", "10", "501")


def test_columns_must_exist_and_not_contradict():
    with pytest.raises(InputError, match=r"no column 'chanel'.*Did you mean 'channel'"):
        Bags.from_frame(visits(channel=list("xyxy")), "user", categorical=["chanel"])
    with pytest.raises(InputError, match="both used and dropped"):
        Bags.from_frame(visits(channel=list("xyxy")), "user", categorical=["channel"], drop=["channel"])


def test_new_data_is_encoded_as_the_old_was():
    old = Bags.from_frame(visits(channel=["web", "fax", "web", "email"]), "user", categorical=["channel"])
    frame = pd.DataFrame({"channel": ["Email", "post", None], "user": [1, 1, 2], "pages": [5, 6, 7]})
    new = Bags.from_frame(frame, "user", columns=old.columns)
    np.testing.assert_array_equal(new.instances, [[5, 0], [6, 3], [7, np.nan]])
    assert new.columns[1].categories == ("email", "fax", "web", "post")
    alone = Bags.from_frame(frame, "user", categorical=["channel"])
    np.testing.assert_array_equal(alone.align(old.columns).instances, new.instances)
    with pytest.raises(InputError, match=r"no column 'pages'.*feature"):
        Bags.from_frame(frame[["user"]].assign(other=1.0), "user", columns=old.columns)
    with pytest.raises(InputError, match=r"'channel' was a category in training, but is a number here"):
        Bags.from_frame(frame.assign(channel=1.0), "user").align(old.columns)


def test_features_whose_column_is_absent_are_left_out_with_a_warning():
    old = Bags.from_frame(visits(channel=["web", "fax", "web", "email"]), "user", categorical=["channel"])
    with pytest.warns(UserWarning, match=r"channel \(it is not in this table\)"):
        new = Bags.from_frame(visits(), "user", columns=old.columns)
    assert new.feature_names == ("pages",)
    with pytest.raises(InputError, match=r"no feature 'channel'"):
        new.align(old.columns)
    np.testing.assert_array_equal(new.align(old.columns, optional=["channel"]).instances[:, 1], [np.nan] * 4)


def test_joined_bags_share_their_codes():
    one = Bags.from_frame(visits(channel=["web", "fax", "web", "fax"]), "user")
    two = Bags.from_frame(visits(channel=["email", "fax", "email", "fax"]), "user")
    both = one + two
    names = both.columns[1].categories
    assert [names[int(code)] for code in both.instances[:, 1]] == ["web", "fax"] * 2 + ["email", "fax"] * 2


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_frame_survives_the_round_trip(library):
    frame = visits(
        label=["yes", "yes", "no", "no"],
        channel=["x", "y", None, "x"],
        day=pd.to_datetime(["2026-03-02 06:00", "2026-02-28 18:00", "2026-03-01 00:00", "2026-03-01 00:00"]),
        remark=["one two", "three", "four", "five"],
    )
    given = frame if library == "pandas" else pa.table(dict(frame.items()))
    bags = Bags.from_frame(given, "user", "label", features=["pages", "channel", "day"])
    again = Bags.from_frame(bags.to_frame(), "bag", "label", features=["pages", "channel", "day"])
    assert again.columns == bags.columns
    np.testing.assert_array_equal(again.instances, bags.instances)
    assert again.labels.tolist() == bags.labels.tolist() == ["yes", "no"]
    assert again.source.extra["remark"].tolist() == frame["remark"].tolist()


def test_the_source_follows_its_instances():
    frame = visits(remark=["p", "q", "r", "s"])[::-1]
    with pytest.warns(UserWarning, match="remark"):
        bags = Bags.from_frame(frame.assign(remark=[f"{text} {n}" for n, text in enumerate(frame.remark)]), "user")
    chosen = bags[[1]]
    assert chosen.ids.tolist() == ["a"]
    assert chosen.source.rows.tolist() == [2, 3]
    assert chosen.source.text(1) == "row 3, remark 'p 3'"
    assert chosen.map_instances(lambda x: 2 * x).source is chosen.source
    assert (bags + bags).source.rows.tolist() == [0, 1, 2, 3] * 2
    with pytest.raises(InputError, match="4 instances, got 2 rows"):
        Bags(bags.instances, bags.offsets, source=Source([1, 2]))


def test_indicators_leave_other_categories_out():
    columns = Columns([Column("n"), Column("c", "category", ("x", "y"))])
    bags = Bags([[1.0, 0.0], [2.0, 2.0], [3.0, np.nan]], [0, 3], columns=columns).with_indicators()
    assert bags.feature_names == ("n", "c=x", "c=y")
    np.testing.assert_array_equal(bags.instances[:, 1:], [[1, 0], [0, 0], [np.nan, np.nan]])


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_keep_the_names_of_categories(tmp_path, ending):
    bags = Bags.from_frame(visits(channel=["live chat", "x, y", None, "live chat"]), "user")
    write_bags(bags, tmp_path / f"bags.{ending}")
    again = read_bags(tmp_path / f"bags.{ending}")
    assert again.columns[1] == bags.columns[1]
    np.testing.assert_array_equal(again.instances, bags.instances)


def test_none_is_a_category_among_words_and_a_gap_elsewhere(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("b,t,day,at,n\na,none,none,10:30,3\na,oil,2026-02-03,none,none\nc,oil,2026-02-04,11:00,5\n")
    bags = read_bags(path, bag="b")
    assert bags.columns[0].categories == ("none", "oil")
    assert np.isnan(bags.instances).sum(axis=0).tolist() == [0, 1, 1, 1, 1]


def test_polars_frames_mean_what_pandas_frames_mean():
    day = datetime.date(2026, 3, 1)
    columns = {
        "user": ["a", "a", "b", "b"],
        "pages": [1, None, 3, 4],
        "channel": ["web", "app", None, "web"],
        "day": [day, None, day + datetime.timedelta(1), day],
        "paid": [True, False, None, True],
    }
    polars = pl.DataFrame(columns).with_columns(pl.col("channel").cast(pl.Categorical))
    found, expected = Bags.from_frame(polars, "user"), Bags.from_frame(pd.DataFrame(columns), "user")
    assert found.columns == expected.columns
    np.testing.assert_array_equal(found.instances, expected.instances)
    written = found.to_frame("polars")
    assert written["pages"].null_count() == written["day"].null_count() == 1
    np.testing.assert_array_equal(Bags.from_frame(written, "bag").instances, found.instances)


def table_of(*texts, bag="b"):
    """A table with texts in a column beside one of numbers, three rows per bag."""
    n = len(texts)
    return pd.DataFrame({"user": [f"{bag}{i // 3}" for i in range(n)], "pages": np.arange(n) ** 2, "price": texts})


@pytest.mark.parametrize(
    ("text", "value", "options"),
    [
        ("7,5", 7.5, {"decimal": ","}),
        ("7,698.09", 7698.09, {"thousands": ","}),
        ("-7.698,09", -7698.09, {"decimal": ",", "thousands": "."}),
        ("1\u202f234,5", 1234.5, {"decimal": ",", "thousands": " "}),
        ("1\u2019234", 1234.0, {"thousands": "'"}),
        ("€1,250.50", 1250.5, {"thousands": ","}),
        ("12,50 €", 12.5, {"decimal": ","}),
        ("45%", 45.0, {}),
        ("-$3.50", -3.5, {}),
    ],
)
def test_numbers_are_read_as_people_write_them(tmp_path, text, value, options):
    table = table_of(*[text] * 3, None, *[text] * 2)
    bags = Bags.from_frame(table, "user", **options)
    assert bags.columns[1] == Column("price")
    np.testing.assert_array_equal(bags.instances[:, 1], [value] * 3 + [np.nan] + [value] * 2)
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    table.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        read = read_bags(tmp_path / name, bag="user", **options)
        np.testing.assert_array_equal(read.instances, bags.instances)
        again = read_bags(tmp_path / name, bag="user", columns=bags.columns, **options)
        np.testing.assert_array_equal(again.instances, bags.instances)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1{},5", ["1{},5' is 1{}.5 with decimal=','"]),
        ("7,{}8.09", ["with thousands=','"]),
        ("14,7{}", ["14.7{} with decimal=','", "147{} with thousands=','"]),
    ],
)
def test_numbers_in_another_notation_are_neither_dropped_nor_categories(tmp_path, text, told, many):
    kinds = [str(11 + i % (80 if many else 5)) for i in range(90)]
    table = table_of(*map(text.format, kinds))
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    for read in (partial(Bags.from_frame, table, "user"), partial(read_bags, tmp_path / "t.csv", bag="user")):
        with pytest.raises(InputError) as caught:
            read()
        message = str(caught.value)
        assert "price" in message
        for part in told:
            assert part.format(kinds[0], kinds[0]) in message
        with pytest.raises(InputError):
            read(features=["pages", "price"])
        assert read(categorical=["price"]).columns[1].kind == "category"
        assert read(drop=["price"]).feature_names == ("pages",)
    with pytest.raises(InputError, match="line 2, column 'price'"):
        read_bags(tmp_path / "t.csv", bag="user")


def test_a_notation_is_for_the_whole_table(tmp_path):
    """A point is no decimal point where it separates thousands, and dates and ids stay what they are."""
    rows = ["007;02.06.2024;1.234;1,5;1.000,5", "007;14.06.2024;999;none;1.000,50", "8;03.06.2024;12.345.678;2,25;2"]
    (tmp_path / "t.csv").write_text("\n".join(["user;day;weight;price;cost", *rows]) + "\n")
    bags = read_bags(tmp_path / "t.csv", bag="user", label="cost", decimal=",", thousands=".")
    assert [column.kind for column in bags.columns] == ["weekday", "elapsed", "number", "number"]
    assert bags.ids.tolist() == ["007", "8"]
    assert bags.labels.tolist() == [1000.5, 2.0]
    np.testing.assert_array_equal(bags.instances[:, 2:], [[1234, 1.5], [999, np.nan], [12345678, 2.25]])
    table = pd.read_csv(tmp_path / "t.csv", sep=";", dtype=str)
    assert Bags.from_frame(table, "user", "cost", ["price"], decimal=",", thousands=".").labels.tolist() == [1000.5, 2]
    with pytest.raises(InputError, match=r"'1.5' is 1.5 with decimal='.'"):
        Bags.from_frame(table_of("1.5", "2.5", "3.5"), "user", decimal=",")


def test_signs_have_to_be_the_same_in_all_rows(tmp_path):
    table = table_of("45%", "46%", "0.47")
    with pytest.raises(InputError, match=r"price.*some values have the sign '%'"):
        Bags.from_frame(table, "user")
    table.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(InputError, match=r"line 2, column 'price'.*some values have the sign '%'"):
        read_bags(tmp_path / "t.csv", bag="user")
    with pytest.raises(InputError, match="price"):
        Bags.from_frame(table_of("$5", "€6", "€7"), "user")


def test_new_data_in_another_notation_says_how_to_read_it(tmp_path):
    columns = Columns([Column("price")])
    table = table_of("1,5", "2,5", "3,5")
    with pytest.raises(InputError, match=r"Row 0, column 'price': .*'1,5' is 1.5 with decimal=','"):
        Bags.from_frame(table, "user", columns=columns)
    table.to_csv(tmp_path / "t.csv", index=False, sep=";")
    with pytest.raises(InputError, match=r"line 2, column 'price'.*'1,5' is 1.5 with decimal=','"):
        read_bags(tmp_path / "t.csv", bag="user", columns=columns)


@pytest.mark.parametrize(
    ("options", "told"),
    [({"decimal": ";"}, "decimal"), ({"thousands": "_"}, "thousands"), ({"thousands": "."}, "decimal=','")],
)
def test_marks_that_numbers_do_not_have(options, told):
    with pytest.raises(ParameterError, match=told):
        Bags.from_frame(table_of("1", "2", "3"), "user", **options)


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_that_count_the_rows_are_no_feature_whatever_their_name(tmp_path, first):
    n = 30
    table = pd.DataFrame({"user": np.arange(n) // 3, "pages": np.arange(n) ** 2, "row": np.arange(n) + first})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    paths = [tmp_path / "t.csv", tmp_path / "t.parquet"]
    for read in (partial(Bags.from_frame, table, "user"), *(partial(read_bags, path, bag="user") for path in paths)):
        with pytest.warns(UserWarning, match=r"row \(it numbers the rows; to use it: list it in features\)"):
            bags = read()
        assert bags.feature_names == ("pages",)
        assert bags.source.extra["row"].tolist() == table["row"].tolist()
        assert read(features=["pages", "row"]).feature_names == ("pages", "row")


@pytest.mark.parametrize(
    "numbers",
    [np.arange(9), np.arange(30)[::-1], np.arange(30) + 2, np.arange(30) * 2, np.r_[np.arange(29), np.nan]],
)
def test_other_numbers_in_order_are_measurements(numbers):
    table = pd.DataFrame({"user": np.arange(len(numbers)) // 3, "depth": numbers})
    assert Bags.from_frame(table, "user").feature_names == ("depth",)

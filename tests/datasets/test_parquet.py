"""Parquet: whole files, and parts of whole bags whatever the row groups."""

import itertools
import os
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, MissingExtraError, ParameterError
from fuzzymil.bags import BagStream
from fuzzymil.datasets import DataFileError, guess_format, make_two_concepts, read_bags, stream_bags, write_bags
from fuzzymil.datasets.formats import parquet
from fuzzymil.datasets.formats.parquet import ParquetBags

COLUMNS = {"bag": ["a", "a", "b", "c"], "label": [1, 1, 0, 1], "f1": [1.0, None, 3.0, 4.0], "f2": [5, 6, 7, 8]}


@pytest.fixture
def put(tmp_path):
    def write(columns, name="a.parquet", rows=None):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path, row_group_size=rows)
        return path

    return write


def assert_same(found, expected):
    np.testing.assert_array_equal(found.instances, expected.instances)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert found.feature_names == expected.feature_names
    for name in ("ids", "labels", "instance_labels"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()


def whole(table):
    return Bags.concatenate([table.part(place) for place in range(len(table))])


# ---------------------------------------------------------------- whole files


def test_types_of_columns(put):
    columns = {
        "bag": pa.array(["x", "x", "y"]).dictionary_encode(),
        "label": [True, True, False],
        "small": pa.array([1, 2, None], pa.int8()),
        "half": pa.array(np.array([0.5, 1, 2], np.float16)),
        "flag": [True, False, None],
        "money": [Decimal("1.0"), Decimal("2.0"), Decimal("3.5")],
        "kind": pa.array([7, 7, 9]).dictionary_encode(),
        "never": pa.nulls(3),
    }
    with pytest.warns(UserWarning, match=r"never \(it is empty\)"):
        bags = read_bags(put(columns))
    nan = np.nan
    expected = [[1, 0.5, 1, 1, 7], [2, 1, 0, 2, 7], [nan, 2, nan, 3.5, 9]]
    np.testing.assert_array_equal(bags.instances, expected)
    assert bags.instances.dtype == np.float64
    assert bags.ids.tolist() == ["x", "y"]
    assert bags.labels.tolist() == [1, 0]
    assert bags.labels.dtype == np.int64  # as other formats give true and false


def test_scattered_bags_are_put_together_in_memory(put):
    path = put({"bag": [2, 1, 2], "label": ["u", "v", "u"], "f": [1.0, 2.0, 3.0]})
    bags = read_bags(path)
    assert [part.ravel().tolist() for part in bags] == [[1, 3], [2]]
    assert bags.labels.tolist() == ["u", "v"]


def test_columns_are_named_dropped_or_guessed(put):
    path = put({"who": [1, 1], "when": ["monday", "friday"], "what": [0.5, 0.5], "f": [1, 2]})
    bags = read_bags(path, bag="who", label="what", drop=["when"])
    assert bags.feature_names == ("f",)
    assert bags.labels.tolist() == [0.5]
    assert str(guess_format(put(COLUMNS))) == "Parquet, bag column 'bag', label column 'label'"


def test_names_with_dots(put):
    """To Parquet, dots are paths into nested columns."""
    path = put({"a.text": ["u", "v", "w"], "a.b": [7, 8, 9], "a": ["x", "x", "y"], "a.label": [1, 1, 0]})
    options = {"bag": "a", "label": "a.label", "drop": ["a.text"]}
    for bags in (read_bags(path, **options), ParquetBags(path, **options).part(0)):
        assert bags.ids.tolist() == ["x", "y"]
        assert bags.labels.tolist() == [1, 0]
        assert bags.feature_names == ("a.b",)
        assert bags.instances.ravel().tolist() == [7, 8, 9]


def test_a_file_is_known_by_its_first_bytes(put):
    path = put(COLUMNS, "noname")
    assert guess_format(path).format == "parquet"
    with pytest.raises(DataFileError, match="looks like a Parquet file: read it with format='parquet'"):
        read_bags(path, format="csv")


def test_a_folder_is_read_in_the_order_of_names(put, tmp_path):
    first, second = pa.table(COLUMNS).slice(0, 1), pa.table(COLUMNS).slice(1)
    put(second, "folder/2.parquet")
    put(first, "folder/1.parquet")
    folder = tmp_path / "folder"
    assert guess_format(folder).format == "parquet"
    expected = read_bags(put(COLUMNS))
    assert_same(read_bags(folder), expected)
    assert_same(whole(ParquetBags(folder)), expected)  # bag a goes on in the second file


def test_a_folder_may_mix_types_of_the_same_values(put, tmp_path):
    put({"bag": pa.array(["a"]).dictionary_encode(), "label": pa.array([1], pa.int8()), "f": [1]}, "folder/1.parquet")
    put({"bag": pa.array(["a", "b"], pa.large_string()), "label": [1, 0], "f": [1.5, 2.5]}, "folder/2.parquet")
    (tmp_path / "folder" / "_metadata.parquet").write_bytes(b"of another program")
    for bags in (read_bags(tmp_path / "folder"), whole(ParquetBags(tmp_path / "folder"))):
        assert bags.ids.tolist() == ["a", "b"]
        assert bags.sizes.tolist() == [2, 1]
        assert bags.labels.tolist() == [1, 0]


def test_missing_values_are_nulls_to_others(tmp_path):
    write_bags(Bags.from_list([[[np.nan], [1.0]]], ["f"]), tmp_path / "a.pq")
    assert pq.read_table(tmp_path / "a.pq")["f"].to_pylist() == [None, 1.0]


def test_ids_of_mixed_kinds_become_text(tmp_path):
    bags = Bags.from_list([[[1.0]], [[2.0]]], ids=np.array([1, "b"], dtype=object))
    write_bags(bags, tmp_path / "a.parquet")
    assert read_bags(tmp_path / "a.parquet").ids.tolist() == ["1", "b"]


# ---------------------------------------------------------------- parts


@st.composite
def cut_tables(draw):
    """Bags, the rows of a row group, the rows to a part, and where the table is cut into files."""
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=8))
    n_rows = sum(sizes)
    ids = draw(st.permutations(range(len(sizes))))
    ids = [f"b{one}" for one in ids] if draw(st.booleans()) else list(ids)
    instances = np.arange(2.0 * n_rows).reshape(-1, 2)
    labels = draw(st.lists(st.sampled_from([0, 1]), min_size=len(sizes), max_size=len(sizes)))
    bags = Bags(
        instances,
        np.cumsum([0, *sizes]),
        ids=ids,
        labels=labels,
        feature_names=["u", "v"],
        instance_labels=np.arange(n_rows),
    )
    cut = draw(st.lists(st.integers(0, n_rows), max_size=2))
    return bags, draw(st.integers(1, 7)), draw(st.integers(1, 9)), sorted({0, *cut, n_rows})


@given(cut_tables())
@settings(max_examples=80, deadline=None)
def test_parts_hold_whole_bags_wherever_row_groups_end(tmp_path_factory, given):
    bags, group_rows, part_rows, cuts = given
    folder = tmp_path_factory.mktemp("parts")
    write_bags(bags, folder / "whole.parquet")
    rows = pq.read_table(folder / "whole.parquet")
    os.remove(folder / "whole.parquet")
    for number, (low, high) in enumerate(itertools.pairwise(cuts)):
        pq.write_table(rows.slice(low, high - low), folder / f"{number}.parquet", row_group_size=group_rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "PART", 2 * part_rows)
        patch.setattr(parquet, "BATCH", 3)
        table = ParquetBags(folder)
        assert f"({bags.n_bags:,} bag" in repr(table)
        assert f" {bags.n_instances:,} instance" in repr(table)
        parts = list(table)
    assert all(part.feature_names == ("u", "v") for part in parts)
    assert_same(Bags.concatenate(parts), bags)
    for part in parts[:-1]:  # a part ends with the bag that runs over its last row group
        assert part.n_instances < max(part_rows, group_rows) + bags.sizes.max()


def test_small_row_groups_are_joined(put):
    path = put({"bag": np.arange(100), "f": np.arange(100.0)}, rows=1)
    assert len(ParquetBags(path)) == 1
    assert repr(ParquetBags(path)) == "BagStream(100 bags, 100 instances, 1 feature, 1 part)"


def test_each_large_row_group_is_a_part(put, monkeypatch):
    monkeypatch.setattr(parquet, "PART", 10)
    table = ParquetBags(put({"bag": np.arange(60), "f": np.arange(60.0)}, rows=20))
    assert [bags.n_bags for bags in table] == [20, 20, 20]
    with pytest.raises(IndexError):
        table.part(3)


def test_large_row_groups_are_warned_of(put, monkeypatch):
    monkeypatch.setattr(parquet, "LARGE", 7)
    with pytest.warns(UserWarning, match=r"row group of 4 rows.*small row groups.*write_bags\(stream_bags"):
        ParquetBags(put(COLUMNS))


# ---------------------------------------------------------------- writing streams


def test_streams_are_written_and_read_a_part_at_a_time(tmp_path, monkeypatch):
    bags = make_two_concepts(20, 20, random_state=0)
    named = Bags(
        bags.instances, bags.offsets, ids=[f"n{b}" for b in bags.ids], labels=bags.labels, feature_names=bags.names
    )
    path = tmp_path / "a.parquet"
    write_bags(BagStream.from_bags(named, 4), path)
    assert pq.ParquetFile(path).num_row_groups == 4
    monkeypatch.setattr(parquet, "PART", 1)
    stream = stream_bags(path)
    assert len(stream) == 4
    assert_same(Bags.concatenate(list(stream)), named)


def test_large_parts_are_written_as_small_row_groups(tmp_path, monkeypatch):
    bags = make_two_concepts(20, 20, random_state=0)
    monkeypatch.setattr(parquet, "PART", 2 * int(bags.sizes.max()))
    write_bags(bags, tmp_path / "a.parquet")
    written = pq.ParquetFile(tmp_path / "a.parquet").metadata
    rows = [written.row_group(number).num_rows for number in range(written.num_row_groups)]
    assert len(rows) > 5
    assert set(np.cumsum(rows)) <= set(bags.offsets.tolist())
    assert read_bags(tmp_path / "a.parquet").labels.tolist() == bags.labels.tolist()


def test_bags_without_names_get_running_numbers(tmp_path):
    path = tmp_path / "a.parquet"
    write_bags(BagStream(lambda part: Bags.from_list([[[part]], [[part + 0.5]]]), 3), path)
    bags = read_bags(path)
    assert bags.ids.tolist() == [0, 1, 2, 3, 4, 5]
    assert bags.instances.ravel().tolist() == [0, 0.5, 1, 1.5, 2, 2.5]


@pytest.mark.parametrize(
    ("load", "match"),
    [
        (lambda part: Bags.from_list([[[1.0]]], ids=["a"]), "Parts 0 and 1.*same id"),
        (lambda part: Bags.from_list([[[1.0]]], ids=[part + 1], labels=[part / 2]), None),
        (lambda part: Bags.from_list([[[1.0]]], labels=[[1, "no"][part]]), r"Part 1 .*label \(string\).*label \(int64"),
        (lambda part: Bags.from_list([[[1.0]]], labels=[[1, 0.5][part]]), r"Part 1 .*label \(double\).*label \(int64"),
        (lambda part: Bags.from_list([[[1.0]]], labels=[["no", 1][part]]), r"Part 1 .*label \(int64\).*label \(string"),
        (lambda part: Bags.from_list([[[1.0]]], ["uv"[part]]), r"Part 1 has the columns bag \(int64\), v \(double\)"),
        (lambda part: Bags.from_list([[[1.0]]], ["bag"]), "'bag' would be read as the bag"),
        (lambda part: 1 / 0 if part else Bags.from_list([[[1.0]]]), "division"),
    ],
)
def test_streams_are_written_whole_or_not_at_all(tmp_path, load, match):
    path = tmp_path / "a.parquet"
    path.write_text("before")
    stream = BagStream(load, 2)
    if match is None:
        write_bags(stream, path)
        assert read_bags(path).labels.tolist() == [0, 0.5]
        return
    with pytest.raises((InputError, ZeroDivisionError), match=match):
        write_bags(stream, path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == [path.name]


# ---------------------------------------------------------------- mistakes

BOTH = (ParquetBags, read_bags)
LATE = (lambda path, **options: whole(ParquetBags(path, **options)), read_bags)  # seen when rows are read


@pytest.mark.parametrize(
    ("readers", "columns", "options", "match"),
    [
        (BOTH, {"bag": [1, None], "f": [1, 2]}, {}, "row 1: this row has no bag id"),
        (BOTH, {"bag": [1.0, np.nan], "f": [1, 2]}, {}, "row 1: this row has no bag id"),
        (BOTH, {"bag": ["", "a"], "f": [1, 2]}, {}, "row 0: this row has no bag id"),
        (LATE, {"bag": [1, 2], "label": [None, 1], "f": [1, 2]}, {}, "row 0: this row has no label"),
        (LATE, {"bag": [0, 1, 1], "label": [0, 0, 1], "f": [1, 2, 3]}, {}, "row 2: bag 1 has two labels, 0 in row 1"),
        (LATE, {"bag": [0], "f": [np.inf]}, {}, "bag 0, row 0.*infinite"),
        (BOTH[:1], {"bag": [1, 2, 2, 1], "f": [1, 2, 3, 4]}, {}, "row 3: bag 1.*sort the table by 'bag'"),
        (BOTH, {"u": [1], "f": [1]}, {}, "no column.*bag=.*'u', 'f'"),
        (BOTH, {"bag": [1], "bag_id": [1], "f": [1]}, {}, "several columns.*bag"),
        (BOTH, {"bag": [1], "f": [1]}, {"bag": "bug"}, "no column 'bug' for bag=.*Did you mean 'bag'"),
        (BOTH, {"bag": [1], "f": [1]}, {"label": "bag"}, "cannot be both"),
        (BOTH, {"bag": [1], "label": [1]}, {}, "no feature column"),
        (BOTH, {"bag": [1], "f": [1]}, {"drop": ["g"]}, "no column 'g'; choose from f"),
        (BOTH, {"bag": [1], "f": [1]}, {"drop": ["bag"]}, "cannot be dropped"),
        (
            BOTH[:1],
            {"bag": [1], "f": [1], "who": ["x"], "day": pa.array([1], pa.date32())},
            {},
            r"'who' \(string\), 'day' \(date32\[day\]\);.*them.*drop=\.\.\.",
        ),
        (BOTH, {"bag": [[1]], "f": [1]}, {}, "column 'bag'.*type list<.*ids and labels.*numbers or text"),
        (BOTH, {"bag": [1], "f": [1], "__index_level_0__": [0]}, {}, "index.*pandas.*frame.*index=False"),
        (BOTH, {"bag": pa.array([], pa.int64()), "f": pa.array([], pa.int64())}, {}, "no row"),
        (BOTH, pa.table([[1], [1], [2]], ["bag", "f", "f"]), {}, "duplicate column 'f'"),
    ],
)
def test_mistakes_are_named_with_their_place(put, readers, columns, options, match):
    path = put(columns)
    for read in readers:
        with pytest.raises(DataFileError, match=match) as caught:
            read(path, **options)
        assert str(path) in str(caught.value)


def test_rows_are_counted_in_their_file(put, tmp_path):
    put({"bag": [1, 2], "f": [1, 2]}, "folder/1.parquet")
    put({"bag": [3, 1], "f": [1, 2]}, "folder/2.parquet")
    with pytest.raises(DataFileError, match=r"2\.parquet, row 1: bag 1.*here"):
        ParquetBags(tmp_path / "folder")


@pytest.mark.parametrize(
    ("second", "match"),
    [
        ({"bag": [2], "g": [1]}, "differs.*column 'g'"),
        ({"f": [1], "bag": [2]}, "order of its columns"),
        ({"bag": ["b"], "f": [1]}, r"column 'bag'.*type string, but in 1\.parquet it.*type int64"),
        ({"bag": [2], "f": ["x"]}, "column 'f'.*type string"),
    ],
)
def test_files_of_a_folder_need_equal_columns(put, tmp_path, second, match):
    put({"bag": [1], "f": [1.5]}, "folder/1.parquet")
    put(second, "folder/2.parquet")
    with pytest.raises(DataFileError, match=match):
        ParquetBags(tmp_path / "folder")


def test_damaged_files_are_refused(put, tmp_path):
    path = put({"bag": np.arange(1000), "f": np.random.default_rng(0).normal(size=1000)})
    content = path.read_bytes()
    hurt = bytearray(content)
    hurt[4:200] = bytes(196)
    for name, damaged in (("cut", content[:-100]), ("text", b"bag,f\n1,2\n"), ("empty", b""), ("hurt", bytes(hurt))):
        bad = tmp_path / f"{name}.parquet"
        bad.write_bytes(damaged)
        with pytest.raises(DataFileError, match=f"{name}.parquet is not a Parquet file"):
            read_bags(bad)


def test_odd_arguments_are_refused(put, tmp_path):
    assert whole(ParquetBags(put(COLUMNS), drop="f1")).feature_names == ("f2",)
    with pytest.raises(DataFileError, match="File not found"):
        ParquetBags(tmp_path / "nowhere.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataFileError, match=r"contains no \.parquet files"):
        ParquetBags(tmp_path / "empty")
    with pytest.raises(InputError, match="nowhere does not exist"):
        write_bags(BagStream.from_bags(read_bags(put(COLUMNS))), tmp_path / "nowhere" / "a.parquet")
    with pytest.raises(ParameterError, match="'parquet' is not compressed"):
        write_bags(make_two_concepts(2, 2, random_state=0), tmp_path / "a.parquet.gz")


def test_without_pyarrow_the_extra_is_named(put, tmp_path, monkeypatch):
    path = put(COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    bags = make_two_concepts(2, 2, random_state=0)
    for attempt in (
        lambda: read_bags(path),
        lambda: ParquetBags(path),
        lambda: write_bags(bags, tmp_path / "b.parquet"),
        lambda: write_bags(BagStream.from_bags(bags), tmp_path / "b.parquet"),
    ):
        with pytest.raises(MissingExtraError, match=r'pip install "fuzzymil\[parquet\]"') as caught:
            attempt()
        assert isinstance(caught.value, ImportError)
    assert os.listdir(tmp_path) == [path.name]

"""Every form in which bags may come, with numbers, ids and labels of every kind."""

import decimal
from collections import deque

import numpy as np
import pandas as pd
import pytest
from three_bags import (
    ARRAYS,
    IDS,
    LABELS,
    SIZES,
    Frame,
    Tensor,
    assert_holds,
    assert_same,
    cube,
    long_columns,
    long_frame,
    objects,
)

from fuzzymil.bags import Bags, as_bags


class ArrowTable(Frame):
    """pyarrow's habit: `columns` are the data, `column_names` the names."""

    def __init__(self, data):
        super().__init__(data)
        self.column_names, self.columns = self.columns, [[values] for values in data.values()]


# --- what comes in: one item a bag ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        deque,
        objects,
        pd.Series,
        lambda arrays: pd.Series(arrays, index=[7, 7, 9]),
        lambda arrays: [array.tolist() for array in arrays],
        lambda arrays: tuple(tuple(map(tuple, array)) for array in arrays),
        lambda arrays: [list(array) for array in arrays],
        lambda arrays: [Tensor(array) for array in arrays],
        lambda arrays: [[Tensor(row) for row in array] for array in arrays],
        lambda arrays: [pd.DataFrame(array) for array in arrays],
        lambda arrays: [Frame({"u": array[:, 0], "v": array[:, 1]}) for array in arrays],
        lambda arrays: [array.astype(object) for array in arrays],
        lambda arrays: [{"X": array} for array in arrays],
        lambda arrays: objects([{"X": array} for array in arrays]),
        lambda arrays: [arrays[0], arrays[1].tolist(), Tensor(arrays[2])],
    ],
)
def test_one_item_a_bag(form):
    assert_holds(as_bags(form(ARRAYS)))
    assert_holds(Bags.from_list(form(ARRAYS)))


def test_from_list_takes_an_iterator_because_it_reads_it_once():
    assert_holds(Bags.from_list(array for array in ARRAYS))


def test_bags_are_handed_through_unchanged(bags):
    assert as_bags(bags) is bags


def test_dicts_bring_their_labels():
    assert as_bags([{"X": x, "Y": y} for x, y in zip(ARRAYS, LABELS, strict=True)]).labels.tolist() == LABELS
    tensors = [{"X": Tensor(x), "Y": Tensor([y])} for x, y in zip(ARRAYS, LABELS, strict=True)]
    assert as_bags(tensors).labels.tolist() == LABELS
    words = as_bags([{"X": x, "Y": y} for x, y in zip(ARRAYS, ["cat", "dog", "cat"], strict=True)])
    assert words.labels.tolist() == ["cat", "dog", "cat"]
    assert as_bags([{"X": x, "Y": None} for x in ARRAYS]).labels is None
    assert Bags.from_list([{"X": ARRAYS[0], "Y": 5}], labels=[6]).labels.tolist() == [6]


def test_names_of_tables_are_kept():
    tables = [pd.DataFrame(array, columns=["width", "depth"]) for array in ARRAYS]
    assert as_bags(tables).feature_names == ("width", "depth")
    assert Bags.from_list(tables, ["w", "d"]).feature_names == ("w", "d")
    assert as_bags(tables[0]).feature_names == ("width", "depth")
    assert as_bags((long_frame()[["width", "depth"]], long_frame()["bag"])).feature_names == ("width", "depth")
    assert as_bags(pd.DataFrame(np.eye(2))).feature_names is None
    assert as_bags(pd.DataFrame(np.eye(2))).names == ("x1", "x2")


def test_columns_may_be_called_like_the_methods_of_a_tensor():
    table = pd.DataFrame({"cpu": [1.0, 2.0], "detach": [3.0, 4.0], "toarray": [5.0, 6.0]})
    assert as_bags(table).instances.tolist() == [[1, 3, 5], [2, 4, 6]]
    assert as_bags([table]).names == ("cpu", "detach", "toarray")


# --- what comes in: one row an instance -----------------------------------------------------------------


def test_long_form_with_ids_in_any_order():
    columns = long_columns()
    rows = np.column_stack([columns["width"], columns["depth"]])
    found = Bags.from_long(rows, columns["bag"], labels=columns["label"], instance_labels=np.arange(6))
    assert found.ids.tolist() == ["a", "c", "b"]  # in the order of their first rows
    assert_holds(found, [ARRAYS[0], ARRAYS[2], ARRAYS[1]])
    assert found.labels.tolist() == [1, 1, 0]
    assert found.instance_labels.tolist() == [0, 4, 1, 3, 5, 2]


@pytest.mark.parametrize(
    "ids",
    [
        long_columns()["bag"],
        np.array(long_columns()["bag"]),
        pd.Series(long_columns()["bag"], index=range(10, 16)),
        pd.Categorical(long_columns()["bag"]),
        Tensor([5, 3, 4, 3, 5, 3]),
        range(6),
    ],
)
def test_a_pair_is_instances_and_bag_ids(ids):
    rows = np.concatenate(ARRAYS)
    assert_same(as_bags((rows, ids)), Bags.from_long(rows, ids))
    assert_same(as_bags((rows.tolist(), ids)), Bags.from_long(rows, ids))


@pytest.mark.parametrize("make", [pd.DataFrame, Frame, ArrowTable])
def test_long_frame(make):
    found = Bags.from_frame(make(long_columns()), bag="bag", label="label")
    assert_holds(found, [ARRAYS[0], ARRAYS[2], ARRAYS[1]])
    assert found.ids.tolist() == ["a", "c", "b"]
    assert found.labels.tolist() == [1, 1, 0]
    assert found.feature_names == ("width", "depth")


def test_long_frame_with_chosen_features():
    assert Bags.from_frame(long_frame(), "bag", "label", features=["depth"]).feature_names == ("depth",)
    assert Bags.from_frame(long_frame(), "bag", "label", features="depth").feature_names == ("depth",)
    assert Bags.from_frame(long_frame(), "bag").feature_names == ("label", "width", "depth")
    assert Bags.from_frame(pd.DataFrame({0: [1, 1], 1: [2.0, 3.0]}), bag=0).feature_names == ("1",)


@pytest.mark.parametrize(
    "rows", [np.concatenate(ARRAYS), np.concatenate(ARRAYS).tolist(), Tensor(np.concatenate(ARRAYS))]
)
def test_a_plain_table_is_one_instance_bags(rows):
    assert_holds(as_bags(rows), [row[None] for row in np.concatenate(ARRAYS)])


def test_a_frame_without_bags_is_one_instance_bags():
    found = as_bags(long_frame()[["width", "depth"]])
    assert found.sizes.tolist() == [1] * 6
    assert found.feature_names == ("width", "depth")


# --- what comes in: padded ------------------------------------------------------------------------------


@pytest.mark.parametrize("lengths", [SIZES, tuple(SIZES), np.uint64(SIZES), [2.0, 1.0, 3.0], Tensor(SIZES)])
def test_padded_with_lengths(lengths):
    assert_holds(Bags.from_padded(cube(), lengths=lengths))  # what the padding holds does not matter
    assert_holds(Bags.from_padded(Tensor(cube(np.nan)), lengths=lengths))


@pytest.mark.parametrize("kind", [bool, int, float])
def test_padded_with_a_mask(kind):
    mask = np.arange(3) < np.array(SIZES)[:, None]
    assert_holds(Bags.from_padded(cube(), mask=mask.astype(kind)))
    assert_holds(Bags.from_padded(cube(), mask=Tensor(mask)))
    assert_holds(Bags.from_padded(cube()[:, ::-1], mask=mask[:, ::-1].tolist()), [array[::-1] for array in ARRAYS])


def test_padded_carries_labels_and_names():
    found = Bags.from_padded(cube(), lengths=SIZES, labels=LABELS, feature_names=["u", "v"])
    assert found.labels.tolist() == LABELS
    assert found.names == ("u", "v")


def test_a_cube_without_padding():
    x = np.arange(12.0).reshape(2, 3, 2)
    assert_holds(as_bags(x), list(x))
    assert_holds(as_bags(Tensor(x)), list(x))
    assert_holds(as_bags(x.astype(object)), list(x))


# --- numbers of every kind ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "kept"),
    [
        ("float32", "float32"),
        (">f4", "float32"),
        ("float64", "float64"),
        (">f8", "float64"),
        ("float16", "float64"),
        ("longdouble", "float64"),
        ("int8", "float64"),
        (">i4", "float64"),
        ("uint64", "float64"),
        ("bool", "float64"),
        ("object", "float64"),
    ],
)
def test_number_types(kind, kept):
    x = np.array([[0, 1], [1, 1]]).astype(kind)
    for found in (as_bags(x), as_bags([x]), as_bags((x, [0, 1])), Bags.from_padded(x[None], lengths=[2])):
        assert found.instances.dtype == np.dtype(kept)
        assert found.instances.dtype.isnative
        assert found.instances.tolist() == [[0, 1], [1, 1]]


def test_memory_layouts(tmp_path):
    x = np.arange(6.0).reshape(3, 2)
    np.save(tmp_path / "x.npy", x)
    for variant in (
        np.asfortranarray(x),
        np.repeat(x, 2, axis=1)[:, ::2],
        np.load(tmp_path / "x.npy", mmap_mode="r"),
        memoryview(x),
    ):
        assert_holds(as_bags(variant), [row[None] for row in x])
        assert_holds(as_bags([variant]), [x])
        assert type(as_bags(variant)[0]) is np.ndarray


def test_what_is_missing_becomes_nan():
    expected = np.array([[1.0, np.nan]])
    for x in (
        [[1, None]],
        [[1.0, np.nan]],
        np.array([[1, pd.NA]], object),
        np.ma.masked_array([[1, 2]], [[False, True]]),
        np.ma.masked_array([[1.0, 2.0]], [[False, True]]),
        [np.ma.masked_array([1.0, 2.0], [False, True])],
        pd.DataFrame({"u": pd.array([1], "Int64"), "v": pd.array([None], "Float64")}),
        [[decimal.Decimal(1), None]],
    ):
        np.testing.assert_array_equal(as_bags(x).instances, expected)
        np.testing.assert_array_equal(as_bags([x]).instances, expected)


def test_nullable_columns_of_a_frame():
    frame = long_frame(width=pd.array([0, None, 1, 2, 3, 4], "Int64"), bag=pd.array([1, 1, 2, 2, 3, 3], "Int64"))
    found = Bags.from_frame(frame, "bag", features=["width"])
    assert found.ids.tolist() == [1, 2, 3]
    assert np.isnan(found[0][1, 0])


# --- ids and labels of every kind -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        [1, "1", 1],  # a number and a text that numpy would make equal
        [1, "a", 1],
        np.array([1, "a", 1], object),
        [True, False, True],
        [2**63 + 1, 2**63 + 2, 2**63 + 1],
        [2**63 + 1, -1, 2**63 + 1],  # float64 would round it
        [2**64 - 1, 2**64 - 2, 2**64 - 1],
        [10**30, 1, 10**30],
        [0.1, 0.2, 0.1],
        [np.inf, 1.0, np.inf],
        objects([(1, 2), (1, 3), (1, 2)]),
        pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"]),
        pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-01"], utc=True),
        ["", " ", ""],
    ],
)
def test_bag_ids_of_any_kind(ids):
    found = Bags.from_long([[0.0], [1.0], [2.0]], ids)
    assert_holds(found, [np.array([[0.0], [2.0]]), np.array([[1.0]])])
    assert found.ids.tolist() == np.asarray(ids, object)[:2].tolist() or found.ids.dtype.kind == "M"


def test_ids_given_to_a_list_of_bags():
    assert Bags.from_list(ARRAYS).ids.tolist() == [0, 1, 2]
    assert Bags.from_list(ARRAYS, ids=IDS).ids.tolist() == IDS
    assert Bags.from_list(ARRAYS, ids=["a", 1, 2.5]).ids.tolist() == ["a", 1, 2.5]
    assert Bags.from_list(ARRAYS, ids=["a", "a", "a"]).ids.tolist() == ["a", "a", "a"]  # as a resample has


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 0],
        [-1, 1, -1],
        [True, False, True],
        ["yes", "no", "yes"],
        [0.5, 1.25, 3.0],
        ["a", 1, None],
        [2**63 + 1, -1, 0],
        (1, 2, 3),
        pd.Series([1, 0, 1], index=[4, 4, 4]),
        pd.Categorical(["yes", "no", "yes"]),
        Tensor([1, 0, 1]),
        [Tensor(1), Tensor(0), Tensor(1)],
    ],
)
def test_labels_of_any_kind_come_back_as_they_were(labels):
    tensors = isinstance(labels, Tensor) or isinstance(next(iter(labels)), Tensor)
    expected = [1, 0, 1] if tensors else list(labels)
    found = Bags.from_list(ARRAYS, labels=labels).labels
    assert found.tolist() == expected
    assert [type(one) for one in found.tolist()] == [type(one) for one in np.asarray(expected, object).tolist()]


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_a_bag_may_lack_its_label(missing):
    labels = objects([missing, 1, missing])
    found = Bags.from_long([[0.0], [1.0], [2.0]], ["a", "b", "a"], labels=labels)
    assert found.labels[1] == 1
    assert found.labels[0] is missing

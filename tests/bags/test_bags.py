"""Every form in which bags may come, what is carried along with them, and every way to get them wrong."""

import copy
import decimal
import pickle
from collections import deque

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, train_test_split
from sklearn.utils import _safe_indexing

from fuzzymil._utils.errors import InputError, InputTypeError
from fuzzymil.bags import Bags, as_bags

# Three bags of 2, 1 and 3 instances with two features; every number says where it belongs.
ARRAYS = [
    np.array([[0.0, 0.5], [1.0, 1.5]]),
    np.array([[10.0, 10.5]]),
    np.array([[20.0, 20.5], [21.0, 21.5], [22.0, 22.5]]),
]
IDS = ["a", "b", "c"]
LABELS = [1, 0, 1]
SIZES = [2, 1, 3]
# The same, one row an instance, with the bags mixed up but each bag's rows in order and "a" first.
MIXED_ROWS = [(0, 0), (2, 0), (1, 0), (2, 1), (0, 1), (2, 2)]


class Tensor:
    """What a tensor of a deep-learning library can do, when it lives on a GPU and carries a gradient."""

    def __init__(self, values, attached=True, on_device=True):
        self.values, self.attached, self.on_device = np.asarray(values), attached, on_device

    @property
    def shape(self):
        return self.values.shape

    def __len__(self):
        return len(self.values)

    def detach(self):
        return Tensor(self.values, False, self.on_device)

    def cpu(self):
        return Tensor(self.values, self.attached, False)

    def __array__(self, dtype=None, copy=None):
        if self.attached or self.on_device:
            raise TypeError("call detach() and cpu() first")
        return np.asarray(self.values, dtype)


class Frame:
    """A data frame of another library: `columns`, `frame[name]`, and columns that become arrays."""

    def __init__(self, data):
        self.data = data
        self.columns = list(data)

    def __len__(self):
        return len(next(iter(self.data.values())))

    def __getitem__(self, name):
        return Frame.Column(self.data[name])

    class Column:
        def __init__(self, values):
            self.values = values

        def __array__(self, dtype=None, copy=None):
            return np.asarray(self.values, dtype)


class ArrowTable(Frame):
    """pyarrow's habit: `columns` are the data, `column_names` the names."""

    def __init__(self, data):
        super().__init__(data)
        self.column_names, self.columns = self.columns, [[values] for values in data.values()]


class DeviceArray:
    """An array that refuses to be copied from its device, as CuPy's do."""

    shape = (2, 2)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion is not allowed")


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def long_columns():
    rows = [ARRAYS[b][i] for b, i in MIXED_ROWS]
    return {
        "bag": [IDS[b] for b, _ in MIXED_ROWS],
        "label": [LABELS[b] for b, _ in MIXED_ROWS],
        "width": [row[0] for row in rows],
        "depth": [row[1] for row in rows],
    }


def long_frame(**changed):
    return pd.DataFrame({**long_columns(), **changed})


def cube(fill=np.inf):
    padded = np.full((3, 3, 2), fill)
    for b, array in enumerate(ARRAYS):
        padded[b, : len(array)] = array
    return padded


@pytest.fixture
def bags():
    """Bags that carry everything there is to carry."""
    return Bags(
        np.concatenate(ARRAYS),
        [0, 2, 3, 6],
        ids=IDS,
        feature_names=["width", "depth"],
        labels=LABELS,
        instance_labels=[0, 1, 0, 1, 1, 0],
    )


def assert_holds(found, arrays=ARRAYS):
    assert isinstance(found, Bags)
    assert len(found) == found.n_bags == len(arrays)
    assert found.shape == (len(arrays),)
    assert found.sizes.tolist() == [len(array) for array in arrays]
    for bag, array in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(bag, array)


def assert_same(found, expected):
    assert_holds(found, list(expected))
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.feature_names == expected.feature_names
    for name in ("labels", "instance_labels"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        assert one is None or one.tolist() == other.tolist()


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


# --- looking at bags ------------------------------------------------------------------------------------


def test_what_bags_tell(bags):
    assert (bags.n_bags, bags.n_instances, bags.n_features) == (3, 6, 2)
    assert bags.offsets.tolist() == [0, 2, 3, 6]
    assert bags.bag_index.tolist() == [0, 0, 1, 2, 2, 2]
    assert bags.names == ("width", "depth")
    assert Bags.from_list(ARRAYS).names == ("x1", "x2")


def test_repr(bags):
    assert repr(bags) == "Bags(3 bags, 6 instances, 2 features, 1-3 instances per bag)"
    assert repr(as_bags([[1.0]])) == "Bags(1 bag, 1 instance, 1 feature, 1 instance per bag)"
    assert repr(as_bags(np.zeros((2000, 3)))) == "Bags(2,000 bags, 2,000 instances, 3 features, 1 instance per bag)"


def test_iteration(bags):
    assert_holds(bags)
    assert [len(bag) for bag in reversed(list(bags))] == [3, 1, 2]


@pytest.mark.parametrize("position", [0, 2, -1, -3, np.int64(1), np.uint8(2), np.array(1)])
def test_one_bag(bags, position):
    np.testing.assert_array_equal(bags[position], ARRAYS[int(position)])
    np.testing.assert_array_equal(bags[position, ...], ARRAYS[int(position)])


@pytest.mark.parametrize(
    ("key", "chosen"),
    [
        (slice(1, None), [1, 2]),
        (slice(None, None, -1), [2, 1, 0]),
        (slice(-2, 100), [1, 2]),
        ([2, 0], [2, 0]),
        ([-1], [2]),
        ([1, 1, 1], [1, 1, 1]),
        (np.array([2, 0], np.uint8), [2, 0]),
        (range(2), [0, 1]),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (pd.Series([True, False, True]), [0, 2]),
        (..., [0, 1, 2]),
        (([2, 0], ...), [2, 0]),
        (((2, 0), ...), [2, 0]),
        ((slice(2), ...), [0, 1]),
        ((np.array([True, True, False]), ...), [0, 1]),
    ],
)
def test_some_bags_with_all_they_carry(bags, key, chosen):
    found = bags[key]
    assert_holds(found, [ARRAYS[b] for b in chosen])
    assert found.ids.tolist() == [IDS[b] for b in chosen]
    assert found.labels.tolist() == [LABELS[b] for b in chosen]
    assert found.feature_names == ("width", "depth")
    truth = [[0, 1], [0], [1, 1, 0]]
    assert found.instance_labels.tolist() == [one for b in chosen for one in truth[b]]


@pytest.mark.parametrize("indices", [[2, 0], np.array([2, 0]), slice(0, 2), [True, False, True], (2, 0)])
def test_scikit_learn_indexing(bags, indices):
    assert_same(_safe_indexing(bags, indices), bags[list(indices) if isinstance(indices, tuple) else indices])


@pytest.mark.parametrize(
    "key", ["a", 3, -4, 1.0, None, True, [3], [True], [[0, 1]], [[0], [0, 1]], (0, 1), {}, (None, ...), [0.5], 2**70]
)
def test_a_wrong_index_is_an_index_error(bags, key):
    with pytest.raises(IndexError, match=r"There are 3 bags|Bags have one axis"):
        bags[key]


@pytest.mark.parametrize("key", [[], slice(3, None), [False] * 3, np.array([], int)])
def test_a_selection_cannot_be_empty(bags, key):
    with pytest.raises(InputError, match="empty: select at least one of the 3"):
        bags[key]


# --- putting bags together ------------------------------------------------------------------------------


def test_slices_join_to_the_whole(bags):
    assert_same(bags[:1] + bags[1:], bags)
    assert_same(Bags.concatenate([bags[[b]] for b in range(3)]), bags)


def test_ids_that_would_repeat_are_numbered_anew(bags):
    assert (bags + bags).ids.tolist() == list(range(6))
    assert (bags + bags).labels.tolist() == LABELS * 2


def test_joining_keeps_only_what_all_parts_have(bags):
    plain = Bags.from_list(ARRAYS, ids=[1, 2, 3])
    both = bags + plain
    assert (both.labels, both.instance_labels, both.feature_names) == (None, None, None)
    assert both.ids.tolist() == ["a", "b", "c", 1, 2, 3]  # of different kinds, as they were
    assert_same(Bags.concatenate([plain]), plain)


def test_joined_labels_keep_their_kinds():
    def labeled(*labels):
        return Bags.from_list([[[0.0]]] * len(labels), labels=list(labels))

    assert (labeled("a") + labeled(1)).labels.tolist() == ["a", 1]
    assert (labeled(True) + labeled(2)).labels.tolist() == [True, 2]
    assert (labeled(1) + labeled(0.5)).labels.dtype == np.float64
    assert (labeled("a") + labeled("long")).labels.tolist() == ["a", "long"]


def test_bags_add_only_to_bags(bags):
    with pytest.raises(TypeError, match="unsupported operand"):
        bags + 3
    with pytest.raises(TypeError):
        bags + ARRAYS


# --- transforming ---------------------------------------------------------------------------------------


def test_map_instances_carries_everything(bags):
    doubled = bags.map_instances(lambda x: 2 * x)
    assert_same(doubled.map_instances(lambda x: x / 2), bags)
    np.testing.assert_array_equal(doubled[2], 2 * ARRAYS[2])


def test_map_instances_and_names(bags):
    assert bags.map_instances(lambda x: x[:, :1]).feature_names is None
    assert bags.map_instances(lambda x: x[:, :1], ["w"]).feature_names == ("w",)
    assert bags.map_instances(lambda x: pd.DataFrame(x, columns=["p", "q"])).feature_names == ("p", "q")
    assert_same(bags.map_instances(Tensor), bags)
    assert_same(bags.map_instances(np.ndarray.tolist), bags)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        (lambda x: x[:1], "1 rows for 6 instances"),
        (lambda x: x[:, 0], "2-D"),
        (lambda x: 1.0, "2-D"),
        (lambda x: None, "2-D"),
        (lambda x: x[:, :0], r"0 feature\(s\)"),
        (lambda x: np.where(x == 10.0, np.inf, x), "'width' of bag b, row 0 of the bag, is infinite"),
        (lambda x: x.astype(str), "is not a number"),
    ],
)
def test_map_instances_checks_what_it_gets(bags, transform, message):
    with pytest.raises(InputError, match=message):
        bags.map_instances(transform)


# --- bags do not change ---------------------------------------------------------------------------------


def test_nothing_can_be_written_to(bags):
    for found in (bags, bags[1:], bags + bags, copy.deepcopy(bags), pickle.loads(pickle.dumps(bags))):
        for array in (found.instances, found.offsets, found.ids, found.labels, found.instance_labels, found[0]):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = array[0]


def test_the_arrays_that_came_in_are_left_alone():
    x, offsets, labels = np.arange(4.0).reshape(2, 2), np.array([0, 2]), np.array([1])
    Bags(x, offsets, labels=labels)
    as_bags(x)
    as_bags([x])
    for array in (x, offsets, labels):
        array[0] = 7  # still writable
    bad = np.array([[1.0, np.nan]])
    as_bags([bad])
    assert np.isnan(bad[0, 1])


def test_pickling_keeps_everything(bags):
    assert_same(pickle.loads(pickle.dumps(bags)), bags)
    assert_same(copy.deepcopy(bags), bags)


# --- scikit-learn's splitters ---------------------------------------------------------------------------


def many_bags(n_bags=12):
    generator = np.random.default_rng(0)
    arrays = [np.full((size, 2), float(b)) for b, size in enumerate(generator.integers(1, 5, n_bags))]
    return arrays, np.arange(n_bags) % 2


@pytest.mark.parametrize("form", [list, objects, Bags.from_list])
def test_train_test_split(form):
    arrays, y = many_bags()
    train, test, y_train, y_test = train_test_split(form(arrays), y, test_size=4, stratify=y, random_state=0)
    assert isinstance(train, type(form(arrays)))
    for part, labels, n_bags in ((as_bags(train), y_train, 8), (as_bags(test), y_test, 4)):
        assert len(part) == n_bags
        assert [int(bag[0, 0]) % 2 for bag in part] == labels.tolist()


@pytest.mark.parametrize("splitter", [KFold(3), StratifiedKFold(3), GroupKFold(3)])
@pytest.mark.parametrize("form", [list, objects, Bags.from_list])
def test_cross_validation_splitters(splitter, form):
    arrays, y = many_bags()
    bags = form(arrays)
    seen = []
    groups = np.arange(12) // 2 if isinstance(splitter, GroupKFold) else None
    for train, test in splitter.split(bags, y, groups):
        assert len(as_bags(_safe_indexing(bags, train))) == 8
        held_out = as_bags(_safe_indexing(bags, test))
        seen += [int(bag[0, 0]) for bag in held_out]
    assert sorted(seen) == list(range(12))


# --- what cannot be bags --------------------------------------------------------------------------------

NESTED_IN_ITSELF: list = []
NESTED_IN_ITSELF.append(NESTED_IN_ITSELF)
DEEP: list = [1.0]
for _ in range(5000):
    DEEP = [DEEP]

TABLE = np.zeros((2, 2))


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "no bags: the list is empty"),
        ((), "no bags: the list is empty"),
        (np.array([], object), "no bags: the list is empty"),
        (np.zeros((0, 3)), "no bags: the table has no rows"),
        (np.zeros((0, 3, 2)), "no bags: the list is empty"),
        (pd.DataFrame(), "no bags: the table has no rows"),
        (long_frame()[:0][["width"]], "no bags: the table has no rows"),
        ([TABLE, []], "Bag 1 is empty: .* drop it"),
        ([TABLE, np.zeros((0, 2))], "Bag 1 is empty"),
        ([[], TABLE], "Bag 0 is empty"),
        ([[], []], "Bag 0 is empty"),
        (np.zeros((2, 0, 2)), "Bag 0 is empty"),
        ([TABLE, np.zeros((3, 0))], r"Bag 1 must be a 2-D array .* got shape \(3, 0\)"),
        ([TABLE, [[], []]], r"Bag 1 must be a 2-D array .* got shape \(2, 0\)"),
        (np.zeros((3, 0)), r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required"),
        ([np.zeros(0)], r"0 feature\(s\)"),
        ([TABLE, [[1, 2], [3]]], r"Bag 1:.*row 0 has 2 values, row 1 has 1\): all rows.*same"),
        ([TABLE, [[1, 2], [3, [4]]]], "Bag 1:.*differ"),
        ([[1, 2], [3]], "row 0 has 2 values, row 1 has 1"),
        ([TABLE, [[1.0]]], "Bag 1 has 1 features but bag 0 has 2: all instances need the same"),
        ([TABLE, [[3, np.inf]]], "'x2' of bag 1, row 0 of the bag, is infinite: replace it"),
        ([TABLE, [[3, 4], [-np.inf, 4]]], "'x1' of bag 1, row 1 of the bag, is infinite"),
        ([[1.0, np.inf]], "'x2' of bag 0, row 0 of the bag, is infinite"),
        ([np.array([["1e400"]], np.longdouble)], "is infinite"),
        ([[[10**400]]], "Bag 0: 1000.* in row 0 column 0 is not a number .*too large"),
        (
            [TABLE, [[1.0, "a"]]],
            "Bag 1: 'a' in row 0 column 1 is not a number .*text.*: features must be numeric; encode",
        ),
        ([[1.0, 2.0], [3.0, "4"]], "'4' in row 1 column 1 is not a number"),
        ([[["1", "2"]]], "Bag 0: '1' in row 0 column 0 is not a number"),
        (np.array([["1", "2"]]), "'1' in row 0 column 0"),
        (np.array([[1, "2"]], object), "'2' in row 0 column 1"),
        ([TABLE, [[b"1", b"2"]]], "Bag 1: b'1'"),
        (np.array([[{"foo": "bar"}, 1.0]], object), "argument must be .* string.* number"),
        ([TABLE, np.array([[object()]])], "Bag 1: <object"),
        ([["a", "b"]], "'a' in row 0"),
        ("text", "Expected bags .*got 'text'"),
        (b"text", "Expected bags .*got b'text'"),
        (["a", "b"], "'a' in row 0"),
        ([TABLE, [[1j]]], "Bag 1: Complex data not supported:.*real numbers"),
        (np.array([[1j]]), "Complex data not supported"),
        ([np.array([[1j]], object)], "Bag 0: 1j"),
        (scipy.sparse.eye_array(3, dtype=complex).tocsr(), "Sparse .*complex128"),
        (np.array([["2020-01-01"]], "M8[D]"), "got dates"),
        ([np.array([["2020-01-01"]], "M8[ns]")], "Bag 0: .*got dates"),
        ([np.array([[1]], "m8[ns]")], "Bag 0: .*got time spans"),
        (pd.DataFrame({"when": pd.to_datetime(["2020-01-01"])}), "Column 'when': .*got dates"),
        (pd.DataFrame({"who": ["me"]}), "Column 'who': 'me' in row 0 is not a number"),
        (pd.DataFrame({"code": ["7"]}), "Column 'code': '7' in row 0 is not a number"),
        ([pd.DataFrame({"x": [1.0], "who": ["me"]})], "Bag 0: Column 'who': 'me'"),
        (np.zeros(3, [("u", "f8")]), "got records"),
        (np.zeros(3), r"2-D .*got 1 dimension\(s\). Reshape your data"),
        ([1.0, 2.0], "got 1 dimension.*Reshape your data"),
        (pd.Series([1.0, 2.0]), "got 1 dimension"),
        (range(3), "got 1 dimension"),
        (np.zeros((1, 2, 3, 4)), "got an array with 4 dimensions"),
        ([[[[1.0]]]], r"Bag 0 must be a 2-D array .*shape \(1, 1, 1\)"),
        (np.float64(3.0), "Expected bags"),
        (np.array(3), "Expected bags"),
        (3, "Expected bags .*got 3"),
        (None, "Expected bags .*got None"),
        ([None], r"Bag 0 must be a 2-D array .*shape \(\)"),
        ([TABLE, None], "Bag 1 must be a 2-D array"),
        ((x for x in ARRAYS), "Expected bags .*generator.* Put bags in a list"),
        (map(np.asarray, ARRAYS), "Expected bags .*map"),
        ({1, 2}, "Expected bags .*set"),
        ({"X": TABLE}, "Expected bags .*dict"),
        ({"a": TABLE, "b": TABLE}, "Expected bags .*dict"),
        ({"a": TABLE}.values(), "Expected bags .*dict_values"),
        (object(), "Expected bags .*object"),
        ([object()], "Bag 0: <object"),
        ([{1, 2}], "Bag 0: {1, 2} is not a number"),
        ([TABLE, 5], "Bag 1 must be a 2-D array"),
        ([5, TABLE], "Bag 0 must be a 2-D array"),
        ([TABLE, "a"], "Bag 1: 'a' is not a number"),
        (["a", TABLE], "Bag 0: 'a' is not a number"),
        ([TABLE, [1.0, 2.0]], "Bag 1 .*Put a single instance in brackets"),
        ([[1.0, 2.0], TABLE], "Bag 0 .*Put a single instance in brackets"),
        (DeviceArray(), "DeviceArray.*Implicit conversion is not allowed"),
        ([TABLE, DeviceArray()], "Bag 1:.*DeviceArray"),
        ([Bags.from_list(ARRAYS)], r"list.*Bags: join them with Bags\.concatenate"),
        ((Bags.from_list(ARRAYS), LABELS), "list.*Bags"),
        (pd.DataFrame, "Expected bags .*type"),
        (NESTED_IN_ITSELF, "Bag 0"),
        ([TABLE, NESTED_IN_ITSELF], "Bag 1"),
        (DEEP, "Bag 0"),
        ((TABLE, [1, 1, 2]), r"Expected 2 bag ids, one for each of the rows, got shape \(3,\)"),
        ([{"x": TABLE}], r"Bag 0 must be a dict.*key 'X'.*\['x'\]"),
        ([{"X": TABLE, "Y": [1, 2]}], "label 'Y' of bag 0 has 2 values: a bag has one"),
        ([{"X": TABLE, "Y": []}], "label 'Y' of bag 0 has 0 values"),
        ([{"X": TABLE, "Y": 1}, {"X": TABLE}], "Bag 1 has no label 'Y'.*but"),
        ([{"X": TABLE}, {"X": TABLE, "Y": 1}], "Bag 0 has no label 'Y'.*but"),
        ([{"X": TABLE}, TABLE], "Bag 1 must be a dict"),
        ([TABLE, {"X": TABLE}], "Bag 0 must be a dict"),
        (long_frame(), r"column 'bag': call Bags.from_frame\(table, bag='bag'\)"),
        (long_frame().rename(columns={"bag": "Bag_ID"}), "column 'Bag_ID'"),
        (pd.DataFrame(TABLE, columns=["u", "u"]), "Duplicate.*'u'"),
        (
            [pd.DataFrame(TABLE, columns=["u", "v"]), pd.DataFrame(TABLE, columns=["v", "u"])],
            r"Bag 1 has the columns \['v', 'u'\] but bag 0 has \['u', 'v'\]",
        ),
    ],
)
def test_as_bags_refuses(X, message):
    with pytest.raises(InputError, match=message):
        as_bags(X)


@pytest.mark.parametrize("X", [None, {1, 2}, "text", [[["a"]]], [[[1j]]], np.array([["2020"]], "M8[D]")])
def test_the_wrong_kind_of_data_is_a_type_error_too(X):
    with pytest.raises(InputTypeError) as caught:
        as_bags(X)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("position", [0, 1])
def test_a_missing_value_is_named(position):
    x = np.ones((2, 2))
    x[position, 1] = np.nan
    bags = Bags.from_list([TABLE, x], ["width", "depth"], ids=["first", "second"])
    with pytest.raises(
        InputError, match=rf"'depth' of bag second, row {position} of the bag, is missing \(NaN\). Fill it."
    ):
        bags.require_complete("Fill it.")
    bags[[0]].require_complete("Fill it.")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bags": 5}, "Expected a list of bags, .*got 5"),
        ({"bags": None}, "Expected a list of bags, .*got None"),
        ({"bags": "abc"}, "Expected a list of bags, .*got 'abc'"),
        ({"bags": {"a": TABLE}}, "Expected a list of bags, .*dict"),
        ({"bags": long_frame()}, "got a table: use Bags.from_frame"),
        ({"bags": TABLE}, "Bag 0 .*Put a single instance in brackets"),
        ({"bags": np.float64(1)}, "Expected a list of bags"),
        ({"ids": [1]}, r"Expected 3 bag ids, one for each of the bags, got shape \(1,\)"),
        ({"ids": []}, "Expected 3 bag ids"),
        ({"ids": [1, 2, 3, 4]}, "Expected 3 bag ids"),
        ({"ids": "abc"}, "Expected 3 bag ids, .*got 'abc'"),
        ({"ids": 5}, "Expected 3 bag ids, .*got 5"),
        ({"ids": {1, 2, 3}}, "Expected 3 bag ids, .*set"),
        ({"ids": [["a"], ["b"], ["c"]]}, r"Expected 3 bag ids, .*\(3, 1\)"),
        ({"ids": [[1], [1, 2], [1]]}, "Expected 3 bag ids"),
        ({"ids": ["a", None, "c"]}, "Bag 1 has no bag id, got None"),
        ({"ids": [1.0, np.nan, 2.0]}, "Bag 1 has no bag id, got nan"),
        ({"ids": objects([{}, {}, {}])}, "{} cannot be a bag id"),
        ({"labels": [1]}, r"Expected 3 labels, one for each of the bags, got shape \(1,\)"),
        ({"labels": [[1], [0], [1]]}, "Expected 3 labels"),
        ({"labels": [[1], [0, 1], [1]]}, "Expected 3 labels"),
        ({"labels": {1, 2, 3}}, "Expected 3 labels, .*set"),
        ({"labels": {0: 1, 1: 0, 2: 1}}, "Expected 3 labels, .*dict"),
        ({"labels": 1}, "Expected 3 labels, .*got 1"),
        ({"labels": (y for y in LABELS)}, "Expected 3 labels, .*generator"),
        ({"labels": scipy.sparse.eye_array(3).tocsr()}, "Expected 3 labels.* Sparse"),
        ({"feature_names": ["u"]}, "2 features but 1 feature names"),
        ({"feature_names": ["u", "v", "w"]}, "2 features but 3 feature names"),
        ({"feature_names": ["u", "u"]}, "Duplicate feature name 'u'"),
        ({"feature_names": "uv"}, "Expected a list of feature names, got 'uv'"),
        ({"feature_names": 5}, "Expected a list of feature names, got 5"),
        ({"feature_names": {"u", "v"}}, "Expected a list of feature names, .*set"),
    ],
)
def test_from_list_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Bags.from_list(**{"bags": ARRAYS, **arguments})


def test_messages_use_the_ids_that_were_given():
    with pytest.raises(InputError, match="Bag north is empty"):
        Bags.from_list([TABLE, []], ids=["south", "north"])
    with pytest.raises(InputError, match="Bag north has 1 features but bag south has 2"):
        Bags.from_list([TABLE, [[1.0]]], ids=["south", "north"])
    with pytest.raises(InputError, match="'x1' of bag north, row 0 of the bag"):
        Bags.from_long([[0.0], [np.inf]], ["south", "north"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": np.zeros((0, 1)), "bag_ids": []}, "no bags: the table has no rows"),
        ({"X": np.zeros(3)}, "2-D"),
        ({"X": np.zeros((3, 1, 1))}, "2-D"),
        ({"X": np.zeros((3, 0))}, r"0 feature\(s\)"),
        ({"X": None}, "2-D"),
        ({"X": [["a"], ["b"], ["c"]]}, "'a' in row 0 column 0 is not a number"),
        ({"bag_ids": [1, 2]}, r"Expected 3 bag ids, one for each of the rows, got shape \(2,\)"),
        ({"bag_ids": [[1], [1], [2]]}, r"Expected 3 bag ids, .*\(3, 1\)"),
        ({"bag_ids": [[1], [1, 2], [2]]}, "Expected 3 bag ids"),
        ({"bag_ids": None}, "Expected 3 bag ids, .*got None"),
        ({"bag_ids": 7}, "Expected 3 bag ids, .*got 7"),
        ({"bag_ids": "abc"}, "Expected 3 bag ids, .*got 'abc'"),
        ({"bag_ids": {1, 2, 3}}, "Expected 3 bag ids, .*set"),
        ({"bag_ids": iter([1, 2, 3])}, "Expected 3 bag ids, .*list_iterator"),
        ({"bag_ids": [1, None, 2]}, "Row 1 has no bag id, got None:.*every row.*one"),
        ({"bag_ids": [1, np.nan, 2]}, "Row 1 has no bag id, got nan"),
        ({"bag_ids": ["a", np.float32("nan"), None]}, "Row 1 has no bag id"),
        ({"bag_ids": pd.array([1, None, 2], "Int64")}, "Row 1 has no bag id"),
        ({"bag_ids": pd.Series(["a", None, "b"])}, "Row 1 has no bag id"),
        ({"bag_ids": pd.to_datetime(["2020-01-01", None, None])}, "Row 1 has no bag id, got NaT"),
        ({"bag_ids": np.ma.masked_array([1, 1, 2], [False, True, False])}, "Row 1 has no bag id"),
        ({"bag_ids": np.ma.masked_array(["a", "a", "b"], [False, True, False])}, "Row 1 has no bag id"),
        ({"bag_ids": objects([{}, {}, {}])}, "{} cannot be a bag id"),
        ({"bag_ids": objects([[1], [1], [2]])}, r"\[1\] cannot be a bag id"),
        ({"labels": [0, 1, 1]}, "Bag 1 has two labels, 0 and 1: a bag has one label. .*instance_labels"),
        ({"labels": ["0", 0, 1]}, "Bag 1 has two labels, 0 and 0"),
        ({"labels": [1.0, np.nan, 1.0]}, "Bag 1 has two labels, 1.0 and nan"),
        ({"labels": [1]}, r"Expected 3 labels, one for each of the rows, got shape \(1,\)"),
        ({"labels": objects([{}, {}, {}])}, "{} cannot be a bag id or a label"),
        ({"instance_labels": [1]}, "Expected 3 instance labels, one for each of the rows"),
        ({"feature_names": ["u", "v"]}, "1 features but 2 feature names"),
    ],
)
def test_from_long_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Bags.from_long(**{"X": np.zeros((3, 1)), "bag_ids": [1, 1, 2], **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bag": "bga"}, "no column 'bga'; the columns are bag, label, width, depth. Did you mean 'bag'?"),
        ({"label": "lable"}, "no column 'lable'; .*Did you mean 'label'?"),
        ({"features": ["widht"]}, "no column 'widht'; .*Did you mean 'width'?"),
        ({"features": "widht"}, "no column 'widht'"),
        ({"features": 5}, "Expected a list of feature columns, got 5"),
        ({"features": []}, "no feature columns"),
        ({"features": ["width", "width"]}, "Duplicate column 'width'"),
        ({"features": ["bag", "width"]}, "Column 'bag' must.*once"),
        ({"features": ["label", "width"]}, "Column 'label' must.*once"),
        ({"bag": ["bag"]}, r"no column \['bag'\]"),
        ({"bag": None}, "no column None"),
        ({"frame": long_frame()[["bag", "label"]]}, "feature columns"),
        ({"frame": long_frame()[:0]}, "no bags: the table has no rows"),
        ({"frame": None}, "Expected a data frame, got None"),
        ({"frame": TABLE}, "Expected a data frame,.*ndarray:.*Bags.from_long"),
        ({"frame": long_columns()}, "Expected a data frame, .*dict: .*pandas.DataFrame"),
        ({"frame": long_frame(width=[1, 2, None, 4, 5, "x"])}, "Column 'width': 'x' in row 5"),
        ({"frame": long_frame(width=[1j] * 6)}, "Column 'width': Complex"),
        ({"frame": long_frame(width=objects([[1], [2], [3], [4], [5], [6]]))}, r"Column 'width': \[1\] in row 0"),
        ({"frame": long_frame(label=range(6))}, "Bag a has two labels, 0 and 4"),
        ({"frame": long_frame(label=[1, 1, 0, 1, None, 1])}, "Bag a has two labels, 1.0 and nan"),
        ({"frame": long_frame(bag=["a", "a", None, "b", "b", "b"])}, "Row 2 has no bag id"),
        (
            {"frame": long_frame(width=[1, np.inf, 1, 1, 1, 1])},
            "'width' of bag c, row 0 of the bag .row 1., is infinite",
        ),
        (
            {"frame": pd.DataFrame(np.ones((2, 4)), columns=["bag", "label", "u", "u"])},
            "Duplicate column 'u'.*rename",
        ),
        ({"frame": pd.DataFrame(np.ones((2, 4)), columns=["bag", "bag", "label", "u"])}, "'bag' must.*once"),
        ({"frame": Frame({f"f{n}": [1.0] for n in range(30)})}, r"no column 'bag'; .*f19, \.\.\.\."),
    ],
)
def test_from_frame_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Bags.from_frame(**{"frame": long_frame(), "bag": "bag", "label": "label", **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either lengths= or mask="),
        ({"lengths": SIZES, "mask": np.ones((3, 3))}, "either lengths= or mask="),
        ({"X": TABLE, "lengths": [1, 1]}, "3 dimensions .*got 2"),
        ({"X": ARRAYS, "lengths": SIZES}, "differ in length"),
        ({"X": np.zeros((0, 3, 2)), "lengths": []}, "no bags"),
        ({"X": np.full((1, 1, 1), "a"), "lengths": [1]}, "'a' in row 0 column 0 is not a number"),
        ({"lengths": [2, 1, 4]}, "Bag 2 has length 4: lengths must.*between 1 and 3"),
        ({"lengths": [2, 0, 3]}, "Bag 1 has length 0"),
        ({"lengths": [2, -1, 3]}, "Bag 1 has length -1"),
        ({"lengths": [2, 1.5, 3]}, r"lengths, got 1\.5 at position 1"),
        ({"lengths": [2, np.nan, 3]}, "lengths, got nan"),
        ({"lengths": [2, np.inf, 3]}, "lengths, got inf"),
        ({"lengths": ["2", "1", "3"]}, "lengths, got '2'"),
        ({"lengths": [2, None, 3]}, "lengths, got None"),
        ({"lengths": [2, 10**30, 3]}, "lengths, got 1000"),
        ({"lengths": np.array([2, 2**64 - 1, 3], np.uint64)}, "lengths, got 18446744073709551615"),
        ({"lengths": [True, True, True]}, "lengths, got True"),
        ({"lengths": np.array([1, 1, 1], "m8[ns]")}, "lengths"),
        ({"lengths": [2, 1]}, r"Expected 3 lengths, .*got shape \(2,\)"),
        ({"lengths": 3}, "Expected 3 lengths, .*got 3"),
        ({"lengths": [[2], [1, 2], [3]]}, "Expected 3 lengths"),
        ({"mask": np.ones((3, 2))}, r"mask must have shape \(3, 3\), got \(3, 2\)"),
        ({"mask": np.ones((3, 3, 2))}, "mask must have shape"),
        ({"mask": [1, 1, 1]}, "mask must have shape"),
        ({"mask": [[1], [1, 1], [1]]}, "differ in length"),
        ({"mask": np.full((3, 3), 0.5)}, "mask must.*only True and False"),
        ({"mask": np.full((3, 3), np.nan)}, "mask must.*only True and False"),
        ({"mask": np.full((3, 3), -np.inf)}, "mask must.*only True and False"),
        ({"mask": np.full((3, 3), "True")}, "mask must.*only True and False"),
        ({"mask": [[1, 1, 1], [0, 0, 0], [1, 1, 1]]}, "Bag 1 is empty"),
        ({"mask": np.ones((3, 3))}, "'x1' of bag 0, row 2 of the bag, is infinite"),
        ({"lengths": SIZES, "labels": [1]}, "Expected 3 labels"),
    ],
)
def test_from_padded_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Bags.from_padded(**{"X": cube(), **arguments})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"instances": np.zeros(3)}, "2-D"),
        ({"instances": None}, "2-D"),
        ({"offsets": [0, 2, 1, 3]}, "Offsets must increase, but bag 1 would go from row 2 to row 1"),
        ({"offsets": [0, 2, 2, 3]}, "Bag 1 is empty"),
        ({"offsets": [0, 2, 2, 3], "ids": IDS}, "Bag b is empty"),
        ({"offsets": [1, 3]}, "Offsets must run from 0 to the number of rows, 3, got 1 to 3"),
        ({"offsets": [0, 2]}, "got 0 to 2"),
        ({"offsets": [0, 4]}, "got 0 to 4"),
        ({"offsets": [0, 1.5, 3]}, r"offsets, got 1\.5 at position 1"),
        ({"offsets": [0, np.nan, 3]}, "offsets, got nan"),
        ({"offsets": ["a", "b"]}, "offsets, got 'a'"),
        ({"offsets": [0, 10**30, 3]}, "offsets, got 1000"),
        ({"offsets": np.array([0, 2**64 - 1, 3], np.uint64)}, "offsets"),
        ({"offsets": [0, 2**63 - 1, -(2**63), 3]}, "Offsets must increase"),
        ({"offsets": [0, 3j]}, "offsets"),
        ({"offsets": None}, "list of offsets, got None"),
        ({"offsets": 3}, "list of offsets, got 3"),
        ({"offsets": {0, 3}}, "list of offsets, .*set"),
        ({"offsets": [[0, 3]]}, r"list of offsets, got shape \(1, 2\)"),
        ({"offsets": [[0], [1, 3]]}, "differ in length"),
        ({"offsets": [0]}, "no bags"),
        ({"offsets": []}, "no bags"),
        ({"ids": [1, 2]}, "Expected 1 bag ids"),
        ({"labels": [1, 2]}, "Expected 1 labels"),
        ({"instance_labels": [1]}, "Expected 3 instance labels, one for each of the instances"),
    ],
)
def test_the_constructor_refuses(arguments, message):
    with pytest.raises(InputError, match=message):
        Bags(**{"instances": np.zeros((3, 1)), "offsets": [0, 3], **arguments})


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "no bags"),
        (5, "Expected a list of Bags, got 5"),
        (ARRAYS, "Only Bags can be.*ndarray: call as_bags"),
        (Bags.from_list(ARRAYS), "Only Bags"),
        ([as_bags([[1.0]]), as_bags([[1.0, 2.0]])], "different features cannot be.*1 and 2"),
        (
            [Bags.from_list([[[1.0]]], ["u"]), Bags.from_list([[[1.0]]], ["v"])],
            r"different features cannot be.*\('u',\) and \('v',\)",
        ),
    ],
)
def test_concatenate_refuses(parts, message):
    with pytest.raises(InputError, match=message):
        Bags.concatenate(parts)


# --- speed ----------------------------------------------------------------------------------------------

MANY = 1_000_000


@pytest.fixture(scope="module")
def many_rows():
    return np.random.default_rng(0).normal(size=(MANY, 2))


@pytest.mark.parametrize(
    "work",
    [
        as_bags,
        lambda x: Bags.from_long(x, np.arange(MANY)[::-1]),
        lambda x: as_bags(x)[np.arange(MANY)[::-1]],
        lambda x: as_bags(x)[: MANY // 2] + as_bags(x)[MANY // 2 :],
        lambda x: list(as_bags(x)),  # was once quadratic
        lambda x: repr(as_bags(x)),
    ],
    ids=["as_bags", "from_long", "take", "join", "iterate", "repr"],
)
def test_a_million_bags_are_no_trouble(many_rows, work):
    assert work(many_rows) is not None  # anything quadratic would not come back

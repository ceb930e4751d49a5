"""Every way to get bags wrong, and what the error says."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from three_bags import ARRAYS, IDS, LABELS, SIZES, Frame, cube, long_columns, long_frame, objects

from fuzzymil._utils.errors import InputError, InputTypeError
from fuzzymil.bags import Bags, Column, as_bags


class DeviceArray:
    """An array that refuses to be copied from its device, as CuPy's do."""

    shape = (2, 2)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion is not allowed")


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
        ({"ids": ["a", None, "c"]}, "Bag 1: this bag has no bag id, got None"),
        ({"ids": [1.0, np.nan, 2.0]}, "Bag 1: this bag has no bag id, got nan"),
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
        ({"bag_ids": [1, None, 2]}, "Row 1: this row has no bag id, got None:.*every row.*one"),
        ({"bag_ids": [1, np.nan, 2]}, "Row 1: this row has no bag id, got nan"),
        ({"bag_ids": ["a", np.float32("nan"), None]}, "Row 1: this row has no bag id"),
        ({"bag_ids": pd.array([1, None, 2], "Int64")}, "Row 1: this row has no bag id"),
        ({"bag_ids": pd.Series(["a", None, "b"])}, "Row 1: this row has no bag id"),
        ({"bag_ids": pd.to_datetime(["2020-01-01", None, None])}, "Row 1: this row has no bag id, got NaT"),
        ({"bag_ids": np.ma.masked_array([1, 1, 2], [False, True, False])}, "Row 1: this row has no bag id"),
        ({"bag_ids": np.ma.masked_array(["a", "a", "b"], [False, True, False])}, "Row 1: this row has no bag id"),
        ({"bag_ids": objects([{}, {}, {}])}, "{} cannot be a bag id"),
        ({"bag_ids": objects([[1], [1], [2]])}, r"\[1\] cannot be a bag id"),
        ({"labels": [0, 1, 1]}, "Row 1: bag 1 has two labels, 0 in row 0 and 1 here: .*instance_labels"),
        ({"labels": ["0", 0, 1]}, "bag 1 has two labels, 0 in row 0 and 0 here"),
        ({"labels": [1.0, np.nan, 1.0]}, "bag 1 has two labels, 1.0 in row 0 and nan here"),
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
        ({"frame": long_frame(label=range(6))}, "Row 3: bag c has two labels, 1 in row 1 and 3 here"),
        ({"frame": long_frame(label=[1, 1, 0, 1, None, 1])}, "bag a has two labels, 1.0 in row 0 and nan here"),
        ({"frame": long_frame(bag=["a", "a", None, "b", "b", "b"])}, "Row 2: this row has no bag id"),
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


@pytest.mark.parametrize("wide", [False, True], ids=["objects", "NumPy text"])
@pytest.mark.parametrize("field", ["labels", "ids", "feature_names"])
def test_half_of_a_character_is_refused_by_name(field, wide):
    given = np.array(["a", "x\ud800"], dtype=str if wide else object)
    with pytest.raises(InputError, match="half of a character"):
        Bags.from_list([[[0.0, 1.0]], [[1.0, 2.0]]], **{field: given})


def test_half_of_a_character_is_refused_in_categories():
    with pytest.raises(InputError, match="'channel' has half of a character"):
        Column("channel", "category", ("email", "x\ud800"))


@pytest.mark.parametrize("more", [{"feature_names": ["a", "b"]}, {}])
def test_labels_in_the_place_of_feature_names_are_told_apart(more):
    with pytest.raises(InputError, match="write labels=y"):
        Bags.from_list([[[1.0, 2.0]], [[3.0, 4.0]]], [0, 1], **more)

"""Labels in a table of their own, and bags without one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from fuzzymil import Bags, InputError

BAGS = Bags.from_list([[[0.0]], [[1.0], [2.0]], [[3.0]]], ids=["a", "b", "c"])
TABLE = pd.DataFrame({"age": [40, 41, 42], "slide": ["c", "a", "b"], "tumour": ["no", "yes", "no"]})


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, dict])
def test_labels_are_found_by_id_in_any_order(kind):
    table = kind({name: TABLE[name].tolist() for name in TABLE})
    found = BAGS.with_labels(table, label="tumour")
    assert found.labels.tolist() == ["yes", "no", "no"]
    assert found.instances.tolist() == BAGS.instances.tolist()


def test_every_door_takes_a_table():
    table = TABLE[["slide", "tumour"]]
    rows = pd.DataFrame({"bag": ["a", "b", "b", "c"], "width": [0.0, 1.0, 2.0, 3.0]})
    assert Bags.from_list(list(BAGS), ids=BAGS.ids, labels=table).labels.tolist() == ["yes", "no", "no"]
    assert Bags.from_long(rows[["width"]], rows["bag"], labels=table).labels.tolist() == ["yes", "no", "no"]
    assert Bags.from_frame(rows, "bag", labels=table).labels.tolist() == ["yes", "no", "no"]
    assert Bags.from_frame(rows, "bag", "age", labels=TABLE).labels.tolist() == [41, 42, 40]
    assert BAGS.with_labels(pd.Series([1, 0, 1], ["c", "b", "a"])).labels.tolist() == [1, 0, 1]


def test_numbers_and_endings_of_files_are_the_same_ids():
    numbered = Bags.from_list([[[0.0]], [[1.0]]], ids=[7, 8])
    assert numbered.with_labels({"8": "x", "7": "y"}).labels.tolist() == ["y", "x"]
    assert numbered.with_labels(pd.DataFrame({"n": [8.0, 7.0], "z": [1, 0]})).labels.tolist() == [0, 1]
    slides = BAGS.with_labels({"a.svs": 1, "b.svs": 0, "c.svs": 1})
    assert slides.labels.tolist() == [1, 0, 1]


def test_bags_without_a_label():
    some = {"a": 1.0, "b": np.nan}
    with pytest.raises(InputError, match=r"2 of the 3 bags have no label: b, c\. .*unlabeled='drop'"):
        BAGS.with_labels(some)
    with pytest.warns(UserWarning, match="2 of the 3 bags have no label and are left out: b, c"):
        found = BAGS.with_labels(some, unlabeled="drop")
    assert (found.ids.tolist(), found.labels.tolist(), found.labels.dtype.kind) == (["a"], [1], "i")
    assert np.isnan(BAGS.with_labels(some, unlabeled="keep").labels).tolist() == [False, True, True]
    assert BAGS.with_labels({"a": "x", "b": ""}, unlabeled="keep").labels.tolist() == ["x", None, None]


def test_labels_without_a_bag_are_told():
    with pytest.warns(UserWarning, match="1 label of the table belongs to no bag: d"):
        assert BAGS.with_labels({"a": 1, "b": 1, "c": 0, "d": 0}).n_bags == 3


@pytest.mark.parametrize(
    ("labels", "settings", "words"),
    [
        (TABLE, {}, "Several columns.*age, tumour.*label='age'"),
        (TABLE, {"label": "tumor"}, "no column 'tumor'.*Did you mean 'tumour'"),
        (TABLE[["slide"]], {}, "single column"),
        ({"x": 1, "y": 0}, {}, "bags are called a, b, c; column 'id' has x, y"),
        (pd.DataFrame({"id": ["a", "a", "b", "c"], "label": [1, 0, 1, 1]}), {}, "two labels of a, 1 and 0"),
        ({"a": None, "b": None, "c": None}, {}, "3 of the 3 bags have no label"),
        ([1, 0, 1], {}, "Expected a table of labels"),
        ({"a": 1, "b": 1, "c": 0}, {"unlabeled": "skip"}, "'skip'; choose from error, drop, keep"),
    ],
)
def test_mistakes(labels, settings, words):
    with pytest.raises((InputError, ValueError), match=words):
        BAGS.with_labels(labels, **settings)


def test_rows_without_a_label():
    frame = pd.DataFrame({"bag": ["a", "a", "b", "c"], "y": [1, 1, None, 0], "width": [0.0, 1.0, 2.0, 3.0]})
    with pytest.warns(UserWarning, match="1 of the 3 bags has no label and is left out: b"):
        found = Bags.from_frame(frame, "bag", "y", unlabeled="drop")
    assert (found.ids.tolist(), found.labels.tolist()) == (["a", "c"], [1, 0])
    with pytest.raises(InputError, match="1 of the 3 bags has no label: b"):
        Bags.from_frame(frame, "bag", "y", unlabeled="error")
    frame.loc[1, "y"] = None
    with pytest.raises(InputError, match=r"[Rr]ow 1.*no label, but another row of its bag has"):
        Bags.from_frame(frame, "bag", "y", unlabeled="drop")

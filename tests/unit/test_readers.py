"""Files of bags: every format round trips, every kind of damage is named with its place."""

import bz2
import gzip
import lzma
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat

from fuzzymil import Bags
from fuzzymil.datasets import FORMATS, DataFileError, guess_format, make_two_concepts, read_bags, write_bags
from fuzzymil.datasets.formats import table
from fuzzymil.errors import InputError, ParameterError

WRITABLE = [name for name, known in FORMATS.items() if known.write is not None]
KEEPS_NAMES = {"csv", "arff", "mat", "npy"}
KEEPS_TRUTH = {"csv", "mat"}
NEEDS_LABELS = {"headerless", "svmlight", "arff"}
FILE_NAMES = {
    "csv": "a.csv",
    "headerless": "a.txt",
    "svmlight": "a.data",
    "arff": "a.arff",
    "mat": "a.mat",
    "npy": "folder",
}

HEADER = "bag,label,f1,f2\nb1,0,1,2\nb1,0,3,4\nb2,1,5,6\n"
MUSK = "MUSK-1,1_1+1,1,2,1.\nMUSK-1,1_1+2,3,4,1.\nNON-MUSK-2,2_1+1,5,6,0.\n"
SPARSE = "3 2\n0:7:1 1:1 2:2\n1:7:1 1:3 2:4 # a remark\n2:8:-1 2:6 1:5\n"
ARFF = """% a comment
@RELATION two
@attribute id {b1,b2}
@ATTRIBUTE bag relational
  @attribute f1 numeric
  @attribute 'f 2' real
@end bag
@attribute class {0,1}
@data
b1,"1,2\\n3,4",0
b2,'5,6\\n',1
"""


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def assert_same(found, expected, *, names=True, truth=True):
    np.testing.assert_array_equal(found.instances, expected.instances)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert table.texts(found.ids) == table.texts(expected.ids)
    assert (found.labels is None) == (expected.labels is None)
    if expected.labels is not None:
        assert table.texts(found.labels) == table.texts(expected.labels)
    if names:
        assert found.feature_names == expected.feature_names
    if truth and expected.instance_labels is not None:
        np.testing.assert_array_equal(found.instance_labels, expected.instance_labels)


def holds_two_bags(bags):
    np.testing.assert_array_equal(bags.instances, [[1, 2], [3, 4], [5, 6]])
    assert bags.offsets.tolist() == [0, 2, 3]


# ---------------------------------------------------------------- what is understood


@pytest.mark.parametrize(
    ("name", "content", "kind", "labels", "ids"),
    [
        ("a.csv", HEADER, "csv", [0, 1], ["b1", "b2"]),
        ("a.csv", "\ufeff" + HEADER.replace("\n", "\r\n"), "csv", [0, 1], ["b1", "b2"]),
        ("a.tsv", HEADER.replace(",", "\t"), "csv", [0, 1], ["b1", "b2"]),
        ("a.csv", HEADER.replace(",", ";"), "csv", [0, 1], ["b1", "b2"]),
        ("a.csv", "f1,Class,f2,Molecule_Name\n1,0,2,x\n\n3,0,4,x\n5,1,6,y", "csv", [0, 1], ["x", "y"]),
        ("a.csv", 'bag,y,f1,f2\n"a, b",no,1,2\n"a, b",no,3,4\nc,yes,5,6\n', "csv", ["no", "yes"], ["a, b", "c"]),
        ("a.csv", "bag,f1,f2\n1,1,2\n1,3,4\n2,5,6\n", "csv", None, [1, 2]),
        ("a.txt", "1,1,1,2\n1,1,3,4\n0,2,5,6\n", "headerless", [1, 0], [1, 2]),
        ("a.csv", "1.0e0,1.0e0,1,2\n1.0e0,1.0e0,3,4\n0.0e0,2.0e0,5,6\n", "headerless", [1, 0], [1, 2]),
        ("a.txt", "1 b1 1 2\n1 b1  3 4\n-1 b2 5 6\n", "headerless", [1, -1], ["b1", "b2"]),
        ("clean.data", MUSK, "uci", [1, 0], ["MUSK-1", "NON-MUSK-2"]),
        ("fox.data", SPARSE, "svmlight", [1, -1], [7, 8]),
        ("fox.data", SPARSE.partition("\n")[2], "svmlight", [1, -1], [7, 8]),
        ("a.arff", ARFF, "arff", [0, 1], ["b1", "b2"]),
        ("a.txt", ARFF, "arff", [0, 1], ["b1", "b2"]),
    ],
)
@pytest.mark.parametrize("pack", [lambda text: text, gzip.compress, bz2.compress, lzma.compress])
def test_text_formats_are_told_apart_and_read(put, name, content, kind, labels, ids, pack):
    path = put(name, pack(content.encode()))
    guess = guess_format(path)
    assert guess.format == kind
    bags = read_bags(path)
    holds_two_bags(bags)
    assert bags.ids.tolist() == ids
    assert (None if bags.labels is None else bags.labels.tolist()) == labels
    assert FORMATS[kind].title in str(guess)


def test_the_guess_tells_the_columns(put):
    assert str(guess_format(put("a.csv", "x,y,Bag_ID\n1,2,3\n"))) == (
        "CSV with a header, bag column 'Bag_ID', no labels"  # x and y are coordinates
    )
    assert guess_format(put("b.csv", "u,y,Bag_ID\n1,2,3\n")).label == "y"
    assert guess_format(put("c.csv", "u,y,v\n1,2,3\n"), bag="v").bag == "v"
    assert str(guess_format(put("d.txt", "1,2,3\n"))).endswith("bag at position 1, label at position 0")
    assert guess_format(put("e.arff", ARFF)).bag == "id"
    assert str(guess_format(put("f.data", SPARSE))) == FORMATS["svmlight"].title


def test_columns_can_be_named(put):
    path = put("a.csv", "who,f1,what,f2\nb1,1,u,2\nb1,3,u,4\nb2,5,v,6\n")
    bags = read_bags(path, bag="who", label="what")
    holds_two_bags(bags)
    assert bags.labels.tolist() == ["u", "v"]
    assert bags.feature_names == ("f1", "f2")
    holds_two_bags(read_bags(put("b.txt", "b1,0,1,2\nb1,0,3,4\nb2,1,5,6\n"), bag=0, label=1))
    swapped = put("c.arff", ARFF.replace("@attribute id {b1,b2}\n", "@attribute extra {b1,b2}\n"))
    assert read_bags(swapped, bag="extra", label="class").ids.tolist() == ["b1", "b2"]


def test_zero_padded_names_stay_different_bags(put):
    assert read_bags(put("a.csv", "bag,f\n007,1\n7,2\n")).ids.tolist() == ["007", "7"]


@pytest.mark.parametrize("mark", ["", "?", "NA", "nan", "null"])
def test_missing_values_are_nan(put, mark):
    bags = read_bags(put("a.csv", f"bag,label,f1,f2\n1,none,{mark},2\n"))
    np.testing.assert_array_equal(bags.instances, [[np.nan, 2]])
    assert bags.labels.tolist() == ["none"]  # a class may be called so


def test_bags_whose_rows_are_scattered_are_put_together(put):
    bags = read_bags(put("a.csv", "bag,label,f\na,1,1\nb,0,2\na,1,3\n"))
    assert [part.ravel().tolist() for part in bags] == [[1, 3], [2]]


def _cell(*items):
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found


ONE, TWO = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6]])
MATS = {
    "rows": {"x": np.vstack([ONE, TWO]), "bagid": [[1], [1], [2]], "label": [[1], [1], [0]]},
    "a label a bag": {"Data": np.vstack([ONE, TWO]), "bags": [1, 1, 2], "labels": [1, 0]},
    "one struct": {"D": {"X": np.vstack([ONE, TWO]), "Y": [1, 1, 0], "XtB": [1, 1, 2], "YB": [1, 0]}},
    "nested struct": {"x": {"data": np.vstack([ONE, TWO]), "nlab": [1, 1, 0], "ident": {"milbag": [1, 1, 2]}}},
    "cells": {"bags": _cell(ONE, TWO), "labels": [1, 0]},
    "cells of columns": {"D": _cell(ONE.T, TWO.T), "y": [1, 0]},
    "pairs": {"data": np.array([[_cell(ONE)[0], 1], [_cell(TWO)[0], 0]], dtype=object)},
    "struct array": {
        "bags": np.array([(ONE, 1, "b1"), (TWO, 0, "b2")], dtype=[("instance", "O"), ("label", "O"), ("name", "O")])
    },
}


@pytest.mark.parametrize("layout", MATS)
def test_layouts_of_matlab_files(tmp_path, layout):
    path = tmp_path / "a.mat"
    savemat(path, MATS[layout])
    bags = read_bags(path)
    holds_two_bags(bags)
    assert bags.labels.tolist() == [1, 0]
    assert guess_format(path).format == "mat"
    if layout == "struct array":
        assert bags.ids.tolist() == ["b1", "b2"]


def test_sparse_matlab_matrices_and_odd_names(tmp_path):
    from scipy.sparse import csc_array

    savemat(tmp_path / "a.mat", {"x": csc_array(np.vstack([ONE, TWO])), "who": [1, 1, 2], "what": [1, 1, 0]})
    bags = read_bags(tmp_path / "a.mat", bag="who", label="what")
    holds_two_bags(bags)
    assert bags.labels.tolist() == [1, 0]


def test_a_folder_of_arrays(tmp_path):
    np.save(tmp_path / "b.npy", ONE)
    np.save(tmp_path / "a.npy", TWO.astype(int))
    plain = read_bags(tmp_path)
    assert plain.ids.tolist() == ["a", "b"]
    assert plain.labels is None
    (tmp_path / "labels.csv").write_text("file,label\nb.npy,1\na.npy,0\n")
    bags = read_bags(tmp_path)
    holds_two_bags(bags)
    assert bags.ids.tolist() == ["b", "a"]
    assert bags.labels.tolist() == [1, 0]


# ---------------------------------------------------------------- round trips

words = st.text(st.characters(categories=["L", "N", "P", "S"], include_characters=" "), min_size=1, max_size=8).filter(
    lambda text: text == text.strip() and text.lower() not in table.ABSENT and not _numeric(text)
)
plain_words = words.filter(lambda text: not set(text) & set(" :#,"))


def _numeric(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@st.composite
def bag_sets(draw, names):
    n_features = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=5))
    n_bags = len(sizes)
    value = st.floats(allow_infinity=False, width=64)
    rows = draw(st.lists(value, min_size=sum(sizes) * n_features, max_size=sum(sizes) * n_features))
    ids = st.integers(-(10**15), 10**15) | names
    kind = draw(st.sampled_from(["int", "text"]))
    ids = draw(
        st.lists(
            st.integers(-(10**15), 10**15) if kind == "int" else names, min_size=n_bags, max_size=n_bags, unique=True
        )
    )
    labels = draw(
        st.sampled_from([st.integers(-1, 1), st.floats(-5, 5), names]).flatmap(
            lambda one: st.lists(one, min_size=n_bags, max_size=n_bags)
        )
    )
    features = draw(st.lists(names, min_size=n_features, max_size=n_features, unique_by=str.lower))
    return Bags(
        np.array(rows).reshape(-1, n_features),
        np.cumsum([0, *sizes]),
        ids=ids,
        labels=labels,
        feature_names=[f"f_{name}" for name in features],
    )


@pytest.mark.parametrize("kind", WRITABLE)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_bags_come_back_as_they_were_written(tmp_path_factory, kind, data):
    bags = data.draw(bag_sets(plain_words if kind == "svmlight" else words))
    path = tmp_path_factory.mktemp("round") / FILE_NAMES[kind]
    write_bags(bags, path, kind)
    assert_same(read_bags(path, format=kind), bags, names=kind in KEEPS_NAMES)


@pytest.mark.parametrize("kind", WRITABLE)
def test_the_name_tells_the_format_and_the_written_file_is_recognised(tmp_path, kind):
    bags = make_two_concepts(5, 5, random_state=0)
    path = tmp_path / FILE_NAMES[kind]
    write_bags(bags, path)
    assert guess_format(path).format == kind
    expected = Bags(
        bags.instances,
        bags.offsets,
        ids=bags.ids,
        labels=bags.labels,
        feature_names=bags.names if kind in ("csv", "arff") else None,
        instance_labels=bags.instance_labels,
    )
    assert_same(read_bags(path), expected, truth=kind in KEEPS_TRUTH)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", [name for name in WRITABLE if name not in ("mat", "npy")])
@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_text_is_packed_when_the_name_says_so(tmp_path, kind, suffix):
    bags = make_two_concepts(2, 2, random_state=0)
    paths = [tmp_path / (prefix + FILE_NAMES[kind] + suffix) for prefix in "ab"]
    for path in paths:
        write_bags(bags, path)
    assert_same(read_bags(paths[0]), bags, names=False, truth=False)
    assert b"," not in paths[0].read_bytes()[:2]
    if kind != "arff":  # which holds its own name
        assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize("kind", WRITABLE)
def test_bags_without_labels_are_written_or_refused(tmp_path, kind):
    bags = Bags.from_list([[[1.0]], [[2.0]]], ["f"])
    if kind in NEEDS_LABELS:
        with pytest.raises(InputError, match="no labels"):
            write_bags(bags, tmp_path / "a", kind)
        assert not os.listdir(tmp_path)
    else:
        write_bags(bags, tmp_path / "a", kind)
        assert_same(read_bags(tmp_path / "a", format=kind), bags)


@pytest.mark.parametrize("kind", WRITABLE)
def test_two_bags_of_one_name_are_refused(tmp_path, kind):
    bags = make_two_concepts(2, 2, random_state=0)[[0, 0, 1]]
    with pytest.raises(InputError, match="stands twice"):
        write_bags(bags, tmp_path / "a", kind)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("kind", WRITABLE)
@pytest.mark.parametrize("failing", ["replace", "fsync"])
def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch, kind, failing):
    if kind == "npy":
        pytest.skip("a folder is never replaced")
    bags = make_two_concepts(2, 2, random_state=0)
    path = tmp_path / FILE_NAMES[kind]
    write_bags(bags, path)
    before = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(OSError, match=f"No space left.*{path.name}"):
        write_bags(bags[[0]], path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_a_failing_folder_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(np, "save", lambda *_, **__: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match=r"No space left.*target"):
        write_bags(make_two_concepts(2, 2, random_state=0), tmp_path / "target")
    assert not os.listdir(tmp_path)


def test_a_file_keeps_its_mode(tmp_path):
    path = tmp_path / "a.csv"
    bags = make_two_concepts(2, 2, random_state=0)
    write_bags(bags, path)
    path.chmod(0o640)
    write_bags(bags, path)
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("bags", "name", "kind", "match"),
    [
        ([[1.0]], "a.csv", None, "Only Bags"),
        (None, "a.foo", None, "does not tell the format"),
        (None, "a.csv", "foo", "no format 'foo'"),
        (None, "a.csv", "cvs", "Did you mean 'csv'"),
        (None, "a.data", "uci", "only read"),
        (None, "a.mat.gz", None, "not packed"),
        (None, "nowhere/a.csv", None, "not there: make it first"),
        (None, "", "csv", "is a folder"),
        (Bags.from_list([[[1.0]]], ["label"], labels=[1]), "a.csv", None, "'label' would be read as"),
        (Bags.from_list([[[1.0]]], ["y"]), "a.csv", None, "'y' would be read as"),
        (Bags.from_list([[[1.0]]], [" a"]), "a.csv", None, "no text for a header"),
        (Bags.from_list([[[1.0]]], ["a\nb"]), "a", None, "does not fit on a line"),
        (Bags.from_list([[[1.0]]], ids=[" a"]), "a.csv", None, "bag id ' a'"),
        (Bags.from_list([[[1.0]]], labels=["?"]), "a.csv", None, r"label '\?' of bag 0"),
        (Bags.from_list([[[1.0]]], ids=["a b"], labels=[1]), "a.svm", None, "'a b' holds a blank"),
        (Bags.from_list([[[1.0]]], ids=["a\x01"], labels=[1]), "a.arff", None, "control character"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, bags, name, kind, match):
    bags = make_two_concepts(2, 2, random_state=0) if bags is None else bags
    with pytest.raises((InputError, ParameterError), match=match):
        write_bags(bags, tmp_path / name, kind)
    assert not os.listdir(tmp_path)


def test_a_folder_that_is_there_is_not_overwritten(tmp_path):
    (tmp_path / "mine").mkdir()
    bags = make_two_concepts(2, 2, random_state=0)
    write_bags(bags, tmp_path / "mine", "npy")  # empty: fine
    with pytest.raises(InputError, match="not an empty folder"):
        write_bags(bags, tmp_path / "mine", "npy")


# ---------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", " \n\n", "is empty"),
        ("a.csv", gzip.compress(HEADER.encode())[:-12], "damaged or cut off"),
        ("a.csv", bz2.compress(HEADER.encode())[:-5], "damaged or cut off"),
        ("a.csv", lzma.compress(HEADER.encode())[:-5], "damaged or cut off"),
        ("a.csv", gzip.compress(b""), "is empty"),
        ("a.csv", b"PK\x03\x04abc", "zip archive or a spreadsheet"),
        ("a.csv", b"\x89HDF\r\n", "HDF5"),
        ("a.npy", b"\x93NUMPY", "folder"),
        ("a.pkl", b"\x80\x04\x95", "could run a program"),
        ("a.csv", b"bag,\x00\x01", "byte 4 is zero"),
        ("a.csv", "bag,größe\n1,2\n".encode("latin-1"), r"line 1: byte 6 \(0xf6\) is no UTF-8"),
        ("a.txt", "hello\n", "line 1: begins with 'hello', which tells no format"),
        ("a.txt", "b1,0,1,2\n", "tells no format"),
        ("a.csv", HEADER + "b2,1,5\n", r"line 5: 3 values, but line 1 has 4; all rows"),
        ("a.csv", HEADER + "b2,1,5", r"line 5: 3 values.*cut off here"),
        ("a.csv", HEADER + "b2,1,x,6\n", r"line 5, column 'f1': expected a number, found 'x'"),
        ("a.csv", HEADER + "b2,1,1_0,6\n", r"line 5, column 'f1': expected a number, found '1_0'"),
        ("a.csv", HEADER.replace(",", ";") + "b2;1;5;0,5\n", "line 5, column 'f2'.*decimal point"),
        ("a.csv", HEADER + "b2,1,5,-inf\n", "line 5, column 'f2': '-inf' is infinite"),
        ("a.csv", HEADER + "b1,1,5,6\n", "line 5: bag b1 has two labels, 0 on line 2 and 1 here"),
        ("a.csv", HEADER + ",1,5,6\n", "line 5: this row has no bag id"),
        ("a.csv", HEADER + "b2,,5,6\n", "line 5: this row has no label"),
        ("a.csv", "bag,label,f1\n", "line 1: there is a header but no row"),
        ("a.csv", "bag,label\n1,2\n", "no feature column"),
        ("a.csv", ",bag,label,f1\n0,1,2,3\n", "column 1 has no name.*index=False"),
        ("a.csv", "bag,f1,f1\n1,2,3\n", "column 'f1' stands twice"),
        ("a.csv", "who,what,f1\n1,2,x\n", "no column looks like the name of the bag.*bag=.*'who', 'what', 'f1'"),
        ("a.csv", "bag,label,class,f1\n1,2,3,4\n", "several columns may be the label: 'label', 'class'"),
        ("a.csv", "bag,bag_id,f1\n1,2,3\n", "several columns may be the bag"),
        ("a.csv", 'bag,f1\n"1,2\n3,4\n', "line 2: .*never closed"),
        ("a.txt", "1,1,1\n0,1,2\n", "line 2: bag 1 has two labels, 1 on line 1 and 0 here.*bag=0, label=1"),
        ("a.txt", "1,1,1\n0,2,x\n", "line 2, column '3': expected a number, found 'x'"),
        ("clean.data", MUSK[:-3], "line 3: 4 values.*cut off|line 3: the class lacks its full stop"),
        ("clean.data", MUSK[:-2], "line 3: the class lacks its full stop.*cut off"),
        ("clean.data", MUSK.replace("3,4,", "3,z,"), "line 2, column 'f2': expected a number, found 'z'"),
        ("clean.data", MUSK.replace("3,4,1.", "3,4,0."), "line 2: bag MUSK-1 has two labels, 1 on line 1 and 0"),
        ("a.svm", SPARSE.rsplit("2:8", 1)[0], "holds 2 instances, but its first line promises 3"),
        ("a.svm", SPARSE[:-3], "line 4: expected number:value, found '1'"),
        ("a.svm", SPARSE.replace("2:6", "2;6"), "line 4: expected number:value, found '2;6'; write pairs"),
        ("a.svm", SPARSE.replace("2:6", "2:z"), "line 4, column 2: expected a number, found 'z'"),
        ("a.svm", SPARSE.replace("2:6", "3:6"), "line 4: there is no feature 3: .* from 1 to 2"),
        ("a.svm", SPARSE.replace("2:6", "0:6"), "line 4: there is no feature 0.*add 1"),
        ("a.svm", SPARSE.replace("2:6", "1:6"), "line 4: feature 1 stands twice"),
        ("a.svm", SPARSE.replace("2:8:-1", "28-1"), "line 4: expected instance:bag:label, found '28-1'"),
        ("a.svm", SPARSE.replace("1:7:1", "1:7:0"), "line 3: bag 7 has two labels, 1 on line 2 and 0 here"),
        ("a.svm", "0:1:1\n", "names no feature"),
        ("a.svm", "0:1:1 1000000000000:1\n", "too many to hold"),
        ("a.arff", ARFF[:60], "line 4: expected @attribute.*cut off here"),
        ("a.arff", ARFF.partition("@data")[0], "no @data line.*cut off"),
        ("a.arff", ARFF[:-8], r"line 11: character 4: a quotation mark is never closed"),
        ("a.arff", ARFF.replace("3,4", "3"), "line 10: instance 2 of bag b1 has 1 values, but there are 2"),
        ("a.arff", ARFF.replace("3,4", "3,q"), "line 10, column 'f 2': expected a number, found 'q'"),
        ("a.arff", ARFF.replace("1,2\\n3,4", ""), "line 10: bag b1 has no instances"),
        ("a.arff", ARFF.replace("1,2\\n3,4", "{0 1}"), "written sparsely"),
        ("a.arff", ARFF.replace("b2,'", "b1,'"), "line 11: bag b1 stood on line 10 already"),
        ("a.arff", ARFF.replace(",1\n", "\n"), "line 11: 2 values, but there are 3 attributes"),
        ("a.arff", ARFF.replace("f1 numeric", "f1 {a,b}"), "line 5: the feature 'f1' is of type"),
        ("a.arff", ARFF.replace("@end bag\n", ""), "type '{0,1}'|not closed"),
        ("a.arff", ARFF.replace("relational", "numeric"), "no attribute is relational"),
        ("a.arff", ARFF.replace("@attribute id", "@atribute id"), "line 3: expected @attribute name type"),
        ("a.arff", ARFF.partition('b1,"')[0], "line 9: there is no bag below @data"),
        ("a.mat", b"MATLAB 7.3 MAT-file" + bytes(200), "version 7.3.*-v7"),
        ("a.mat", b"MATLAB 5.0 MAT-file" + bytes(200), "no MATLAB file, or a damaged one"),
        ("a.mat", b"nonsense", "no MATLAB file, or a damaged one"),
    ],
)
def test_damage_is_named_with_its_place(put, name, content, match):
    path = put(name, content)
    with pytest.raises(DataFileError, match=match) as caught:
        read_bags(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("variables", "match"),
    [
        ({"foo": ONE}, r"has the variables \['foo'\]: expected instances in one of"),
        ({"x": np.vstack([ONE, TWO]), "bagid": [1, 1]}, "3 instances but 2 bag ids"),
        ({"x": np.vstack([ONE, TWO]), "bagid": [1, 1, 2], "label": [1, 0, 0]}, "two labels"),
        ({"x": np.vstack([ONE, TWO]), "bagid": [2, 2, 1], "label": [1, 0]}, "unclear whose"),
        ({"x": np.vstack([ONE, TWO]), "bagid": [1, 1, 2], "label": [1, 0, 0, 0]}, "labels"),
        ({"x": "text", "bagid": [1]}, "no 2-D array of numbers"),
        ({"bags": _cell(ONE, np.ones((3, 5))), "labels": [1, 0]}, "no usable bags"),
        ({"x": ONE, "bagid": _cell(np.ones(2), np.ones(2))}, "not one value each|no usable"),
        ({"x": ONE * np.inf, "bagid": [1, 2]}, "infinite"),
    ],
)
def test_matlab_variables_that_do_not_fit(tmp_path, variables, match):
    path = tmp_path / "a.mat"
    savemat(path, variables)
    with pytest.raises(DataFileError, match=match) as caught:
        read_bags(path)
    assert str(path) in str(caught.value)


def test_a_truncated_matlab_file(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, MATS["rows"], do_compression=True)
    content = path.read_bytes()
    for cut in range(130, len(content), 7):
        path.write_bytes(content[:cut])
        with pytest.raises(DataFileError):
            read_bags(path)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,1\n"),
            "'a.npy', which labels.csv does not",
        ),
        (
            lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,1\na.npy,1\nc.npy,0\n"),
            "no file 'c.npy'",
        ),
        (lambda folder: (folder / "labels.csv").write_text("file,label\n../b.npy,1\na.npy,1\n"), "line 2: .*outside"),
        (lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,\na.npy,1\n"), "line 2: .*no label"),
        (lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,1\nb.npy,1\n"), "line 3: .*twice"),
        (lambda folder: (folder / "labels.csv").write_text("name,label\nb.npy,1\n"), "expected the columns file"),
        (
            lambda folder: (folder / "labels.csv").write_text("file,bag\nb.npy,1\na.npy,1\n"),
            "line 3: bag 1 stands twice",
        ),
        (lambda folder: np.save(folder / "a.npy", np.ones(3)), r"a\.npy holds shape \(3,\)"),
        (lambda folder: np.save(folder / "a.npy", np.array([["x"]])), r"a\.npy holds .*U1"),
        (lambda folder: np.save(folder / "a.npy", np.ones((1, 5))), "no usable bags"),
        (lambda folder: np.save(folder / "a.npy", np.array([[{}]]), allow_pickle=True), "cannot be read as an array"),
        (lambda folder: (folder / "a.npy").write_bytes(b""), "cannot be read as an array"),
        (lambda folder: [path.unlink() for path in folder.glob("*.npy")], "without .npy|holds no .npy"),
    ],
)
def test_a_folder_that_does_not_fit(tmp_path, change, match):
    np.save(tmp_path / "b.npy", ONE)
    np.save(tmp_path / "a.npy", TWO)
    change(tmp_path)
    with pytest.raises(DataFileError, match=match) as caught:
        read_bags(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_missing_files_and_folders(tmp_path, put):
    with pytest.raises(FileNotFoundError, match=r"nothing.csv is not there.*holds no such file") as caught:
        read_bags(tmp_path / "nothing.csv")
    assert isinstance(caught.value, DataFileError)
    with pytest.raises(ValueError, match="nor is its folder"):
        guess_format(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataFileError, match=r"is a folder without .npy files"):
        read_bags(tmp_path)
    with pytest.raises(DataFileError, match="is a folder, not a file"):
        read_bags(tmp_path, format="csv")
    with pytest.raises(DataFileError, match="is a file, but format='npy'"):
        read_bags(put("a.csv", HEADER), format="npy")


def test_a_file_without_the_right_to_read(put, monkeypatch):
    path = put("a.csv", HEADER)

    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DataFileError, match=r"a\.csv cannot be read \(Permission denied\)"):
        read_bags(path)


@pytest.mark.parametrize(
    ("name", "content", "options", "match"),
    [
        ("a.csv", HEADER, {"format": "foo"}, "no format 'foo'"),
        ("a.csv", HEADER, {"bag": "bagg"}, "no column 'bagg' for bag=.*Did you mean 'bag'"),
        ("a.csv", HEADER, {"label": "f9"}, "no column 'f9' for label="),
        ("a.csv", HEADER, {"bag": "label"}, "line 2, column 'bag': expected a number"),
        ("a.csv", HEADER, {"bag": "bag", "label": "bag"}, "cannot be both"),
        ("a.txt", "1,1,1\n", {"format": "headerless", "bag": "bag"}, "position from 0 to 2"),
        ("a.txt", "1,1,1\n", {"bag": 5}, "position from 0 to 2"),
        ("a.txt", "1,1,1\n", {"bag": 0}, "both at position 0"),
        ("a.txt", "1,1\n", {"format": "headerless"}, "expected label, bag and features"),
        ("a.data", "1,1\n", {"format": "uci"}, "expected molecule, conformation"),
        ("a.data", SPARSE, {"bag": "x"}, "no choice of columns|no column"),
        ("a.data", MUSK, {"format": "uci", "label": "x"}, "no choice of columns"),
        ("a.arff", ARFF, {"label": "klass"}, "no attribute 'klass' for label=.*Did you mean 'class'"),
    ],
)
def test_options_that_do_not_fit(put, name, content, options, match):
    with pytest.raises((DataFileError, ParameterError), match=match):
        read_bags(put(name, content), **options)


@given(content=st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_bags_or_a_readable_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("any") / "a"
    path.write_bytes(content)
    for kind in [None, *FORMATS]:
        try:
            bags = read_bags(path, format=kind)
        except DataFileError as problem:
            assert str(path) in str(problem)  # noqa: PT017
        else:
            assert len(bags) > 0


@given(cut=st.integers(0, 400), kind=st.sampled_from(["csv", "uci", "svmlight", "arff"]), byte=st.integers(0, 255))
@settings(max_examples=300, deadline=None)
def test_a_cut_or_damaged_file_is_bags_or_a_readable_error(tmp_path_factory, cut, kind, byte):
    content = {"csv": HEADER, "uci": MUSK, "svmlight": SPARSE, "arff": ARFF}[kind].encode()
    path = tmp_path_factory.mktemp("cut") / "a"
    for damaged in (content[:cut], content[:cut] + bytes([byte]) + content[cut + 1 :]):
        path.write_bytes(damaged)
        try:
            read_bags(path, format=kind)
        except DataFileError as problem:
            assert str(path) in str(problem)  # noqa: PT017


def test_a_large_file_is_read_in_no_time(tmp_path):
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(6600, 166)), np.arange(0, 6601, 66), labels=np.arange(100) % 2)
    for kind, name in FILE_NAMES.items():
        write_bags(bags, tmp_path / name, kind)
        with warnings.catch_warnings():
            begin = time.perf_counter()
            assert read_bags(tmp_path / name).shape == (100,)
            assert time.perf_counter() - begin < 5  # about one second on a busy core

"""Files of bags: every format is recognized, read and written back."""

import bz2
import gzip
import lzma
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat
from small_files import ARFF, HEADER, MUSK, SPARSE

from fuzzymil import Bags
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.datasets import FORMATS, DataFileError, guess_format, make_two_concepts, read_bags, write_bags
from fuzzymil.datasets.formats import _format

WRITABLE = [name for name, known in FORMATS.items() if known.write is not None]
KEEPS_NAMES = {"csv", "arff", "mat", "npy", "parquet"}
KEEPS_TRUTH = {"csv", "mat", "parquet"}
NEEDS_LABELS = {"headerless", "svmlight", "arff"}
FILE_NAMES = {
    "csv": "a.csv",
    "headerless": "a.txt",
    "svmlight": "a.data",
    "arff": "a.arff",
    "mat": "a.mat",
    "parquet": "a.parquet",
    "npy": "folder",
}


def assert_same(found, expected, *, names=True, truth=True):
    np.testing.assert_array_equal(found.instances, expected.instances)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert _format.values_as_text(found.ids) == _format.values_as_text(expected.ids)
    assert (found.labels is None) == (expected.labels is None)
    if expected.labels is not None:
        assert _format.values_as_text(found.labels) == _format.values_as_text(expected.labels)
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
    bags = read_bags(put("a.csv", f"bag,label,f1,f2\n1,none,{mark},2\n1,none,5,2\n"))
    np.testing.assert_array_equal(bags.instances, [[np.nan, 2], [5, 2]])
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
    with pytest.raises(DataFileError, match=r"no variable 'whom' for bag=.*Did you mean 'who'"):
        read_bags(tmp_path / "a.mat", bag="whom")


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
    lambda text: text == text.strip() and text.lower() not in _format._NO_ID and not _numeric(text)
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
    instances = np.array(rows).reshape(-1, n_features)
    instances[0, np.isnan(instances).all(axis=0)] = 1.0  # columns that are empty are not read
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
        instances,
        np.cumsum([0, *sizes]),
        ids=ids,
        labels=labels,
        feature_names=[f"f_{name}" for name in features],
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", WRITABLE)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_bags_come_back_as_they_were_written(tmp_path_factory, kind, data):
    bags = data.draw(bag_sets(plain_words if kind == "svmlight" else words))
    path = tmp_path_factory.mktemp("round") / FILE_NAMES[kind]
    write_bags(bags, path, kind)
    assert_same(read_bags(path, format=kind), bags, names=kind in KEEPS_NAMES)


def test_characters_beyond_utf_16_in_matlab_files(tmp_path):
    bags = Bags(np.ones((2, 1)), [0, 1, 2], ids=["a\U0001f600b", "x"], labels=[0, 1])
    write_bags(bags, tmp_path / "bags.mat")
    assert read_bags(tmp_path / "bags.mat").ids.tolist() == ["a\U0001f600b", "x"]


@pytest.mark.parametrize("kind", WRITABLE)
def test_the_name_tells_the_format_and_the_written_file_is_recognized(tmp_path, kind):
    bags = make_two_concepts(5, 5, random_state=0)
    path = tmp_path / FILE_NAMES[kind]
    write_bags(bags, path)
    assert guess_format(path).format == kind
    expected = Bags(
        bags.instances,
        bags.offsets,
        ids=bags.ids,
        labels=bags.labels,
        feature_names=bags.names if kind in ("csv", "arff", "parquet") else None,
        instance_labels=bags.instance_labels,
    )
    assert_same(read_bags(path), expected, truth=kind in KEEPS_TRUTH)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("kind", [name for name in WRITABLE if name not in ("mat", "npy", "parquet")])
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
    with pytest.raises(InputError, match="Duplicate bag id"):
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
        (None, "a.foo", None, r"a\.foo.*\.csv.*format="),
        (None, "a.csv", "foo", "'foo'.*csv, headerless"),
        (None, "a.csv", "cvs", "Did you mean 'csv'"),
        (None, "a.data", "uci", "'uci' is read-only"),
        (None, "a.mat.gz", None, "not compressed"),
        (None, "nowhere/a.csv", None, "nowhere does not exist"),
        (None, "", "csv", "is a folder"),
        (Bags.from_list([[[1.0]]], ["label"], labels=[1]), "a.csv", None, "'label' would be read as"),
        (Bags.from_list([[[1.0]]], ["y"]), "a.csv", None, "'y' would be read as"),
        (Bags.from_list([[[1.0]]], [" a"]), "a.csv", None, "not valid in a header"),
        (Bags.from_list([[[1.0]]], ["a\nb"]), "a", None, "one line: rename"),
        (Bags.from_list([[[1.0]]], ids=[" a"]), "a.csv", None, "bag id ' a'"),
        (Bags.from_list([[[1.0]]], labels=["?"]), "a.csv", None, r"label '\?' of bag 0"),
        (Bags.from_list([[[1.0]]], ids=["a b"], labels=[1]), "a.svm", None, "'a b' contains a space"),
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


@pytest.mark.slow
def test_a_large_file_is_read_whole(tmp_path):
    rng = np.random.default_rng(0)
    bags = Bags(rng.normal(size=(6600, 166)), np.arange(0, 6601, 66), labels=np.arange(100) % 2)
    for kind, name in FILE_NAMES.items():
        write_bags(bags, tmp_path / name, kind)
        found = read_bags(tmp_path / name)
        assert (found.shape, found.instances.shape) == ((100,), (6600, 166))


def test_columns_that_are_no_features_are_left_out(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("bag,label,url,width,date\nb1,0,/a,2.5,2026-01-01\nb2,1,/b,1,2026-01-02\n")
    bags = read_bags(path, drop=["url", "date"])
    assert bags.feature_names == ("width",)
    assert bags.instances.tolist() == [[2.5], [1.0]]
    assert read_bags(path).feature_names == ("url", "width", "date", "date_weekday")
    with pytest.raises(DataFileError, match=r"no column 'uri'; choose from url, width, date.*Did you mean 'url'"):
        read_bags(path, drop=["uri"])
    with pytest.raises(DataFileError, match="'label' is the bag or the label and cannot be dropped"):
        read_bags(path, drop=["label"])
    assert read_bags(path, drop="url").feature_names == ("width", "date", "date_weekday")
    (tmp_path / "plain.txt").write_text("0,b1,2.5\n1,b2,1\n")
    with pytest.raises(ParameterError, match=r"drop=.*CSV with a header, Excel, Parquet"):
        read_bags(tmp_path / "plain.txt", drop=["width"])

"""Files of bags with something wrong: every kind of damage is named with its file and place."""

import bz2
import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import savemat
from small_files import ARFF, HEADER, MUSK, SPARSE

from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import FORMATS, DataFileError, guess_format, read_bags


def _cell(*items):
    found = np.empty(len(items), dtype=object)
    found[:] = items
    return found


ONE, TWO = np.array([[1.0, 2], [3, 4]]), np.array([[5.0, 6]])


@pytest.mark.parametrize(
    ("name", "content", "match"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", " \n\n", "is empty"),
        ("a.csv", gzip.compress(HEADER.encode(), mtime=0)[:-12], "damaged or truncated"),
        ("a.csv", bz2.compress(HEADER.encode())[:-5], "damaged or truncated"),
        ("a.csv", lzma.compress(HEADER.encode())[:-5], "damaged or truncated"),
        ("a.csv", gzip.compress(b"", mtime=0), "is empty"),
        ("a.csv", b"PK\x03\x04abc", "zip archive.*spreadsheet"),
        ("a.csv", b"\x89HDF\r\n", "HDF5"),
        ("a.npy", b"\x93NUMPY", "folder"),
        ("a.pkl", b"\x80\x04\x95", "pickle.*arbitrary code"),
        ("a.csv", b"bag,\x00\x01", "byte 4 is zero"),
        ("a.csv", "bag,größe\n1,2\n".encode("latin-1"), r"line 1: byte 6 \(0xf6\) is no.*UTF-8"),
        ("a.txt", "hello\n", "line 1: begins with 'hello', which.*format"),
        ("a.txt", "b1,0,1,2\n", "matches no format"),
        ("a.csv", HEADER + "b2,1,5\n", r"line 5: 3 values, but line 1 has 4; all rows"),
        ("a.csv", HEADER + "b2,1,5", "line 5: 3 values.*truncated"),
        ("a.csv", HEADER + "b2,1,x,6\n", r"line 5, column 'f1': expected a number, found 'x'"),
        ("a.csv", HEADER + "b2,1,1_0,6\n", r"line 5, column 'f1': expected a number, found '1_0'"),
        ("a.csv", HEADER.replace(",", ";") + "b2;1;5;0,5\n", "line 5, column 'f2'.*decimal=','"),
        ("a.csv", HEADER + "b2,1,5,-inf\n", "'f2' of bag b2, row 1 of the bag .line 5., is infinite"),
        ("a.csv", HEADER + "b1,1,5,6\n", r"line 5: bag b1 has two labels, 0 on line 2 and 1 here.*groupby\(bag\)"),
        ("a.csv", HEADER + "b2,1,<5,6\n", r"line 5, column 'f1': expected a number, found '<5'; .*limit"),
        ("a.json", '[{"bag":1,"age":33,"label":0},{"bag":1,"age":33,"label":0}]', "is JSON.*CSV or Parquet"),
        ("a.json", '{\n "bag": [1, 2]\n}', "is JSON.*CSV or Parquet"),
        ("a.csv", HEADER + ",1,5,6\n", "line 5: this row has no bag id"),
        ("a.csv", HEADER + "b2,,5,6\n", "line 5: this row has no label"),
        ("a.csv", "bag,label,f1\n", "line 1:.*no rows below the header"),
        ("a.csv", "bag,label\n1,2\n", "no feature column"),
        ("a.csv", ",bag,label,f1\n0,1,2,3\n", "column 1 has no name.*index=False"),
        ("a.csv", "bag,f1,f1\n1,2,3\n", "duplicate column 'f1'"),
        ("a.csv", "who,what,f1\n1,2,x\n", "no column.*bag=.*'who', 'what', 'f1'"),
        ("a.csv", "bag,label,class,f1\n1,2,3,4\n", "several columns.*label: 'label', 'class'"),
        ("a.csv", "bag,bag_id,f1\n1,2,3\n", "several columns.*bag"),
        ("a.csv", 'bag,f1\n"1,2\n3,4\n', "line 2:.*quotation mark"),
        ("a.txt", "1,1,1\n0,1,2\n", "line 2: bag 1 has two labels, 1 on line 1 and 0 here.*bag=0, label=1"),
        ("a.txt", "1,1,1\n0,2,x\n", "line 2, column '3': expected a number, found 'x'"),
        ("clean.data", MUSK[:-3], "line 3: 4 values.*cut off|line 3: the class lacks its full stop.*truncated"),
        ("clean.data", MUSK[:-2], "line 3: the class lacks its full stop.*truncated"),
        ("clean.data", MUSK.replace("3,4,", "3,z,"), "line 2, column 'f2': expected a number, found 'z'"),
        ("clean.data", MUSK.replace("3,4,1.", "3,4,0."), "line 2: bag MUSK-1 has two labels, 1 on line 1 and 0"),
        ("a.svm", SPARSE.rsplit("2:8", 1)[0], "2 instances, but its first line.*3"),
        ("a.svm", SPARSE[:-3], "line 4: expected number:value, found '1'"),
        ("a.svm", SPARSE.replace("2:6", "2;6"), "line 4: expected number:value, found '2;6'; write pairs"),
        ("a.svm", SPARSE.replace("2:6", "2:z"), "line 4, column 2: expected a number, found 'z'"),
        ("a.svm", SPARSE.replace("2:6", "3:6"), "line 4: there is no feature 3: .* from 1 to 2"),
        ("a.svm", SPARSE.replace("2:6", "0:6"), "line 4: there is no feature 0.*add 1"),
        ("a.svm", SPARSE.replace("2:6", "1:6"), "line 4: duplicate feature 1"),
        ("a.svm", SPARSE.replace("2:8:-1", "28-1"), "line 4: expected instance:bag:label, found '28-1'"),
        ("a.svm", SPARSE.replace("1:7:1", "1:7:0"), "line 3: bag 7 has two labels, 1 on line 2 and 0 here"),
        ("a.svm", "0:1:1\n", "no features.*number:value"),
        ("a.svm", "0:1:1 1000000000000:1\n", "too many"),
        ("a.arff", ARFF[:60], "line 4: expected @attribute.*truncated"),
        ("a.arff", ARFF.partition("@data")[0], "no @data line.*truncated"),
        ("a.arff", ARFF[:-8], "line 11: character 4: a quotation mark is.*closed"),
        ("a.arff", ARFF.replace("3,4", "3"), "line 10: instance 2 of bag b1 has 1 values, but there are 2"),
        ("a.arff", ARFF.replace("3,4", "3,q"), "line 10, column 'f 2': expected a number, found 'q'"),
        ("a.arff", ARFF.replace("1,2\\n3,4", ""), "line 10: bag b1 is empty"),
        ("a.arff", ARFF.replace("1,2\\n3,4", "{0 1}"), "SparseToNonSparse"),
        ("a.arff", ARFF.replace("b2,'", "b1,'"), "line 11:.*bag b1.*line 10"),
        ("a.arff", ARFF.replace(",1\n", "\n"), "line 11: 2 values, but there are 3 attributes"),
        ("a.arff", ARFF.replace("f1 numeric", "f1 {a,b}"), "line 5: the feature 'f1'.*type"),
        ("a.arff", ARFF.replace("@end bag\n", ""), "type '{0,1}'|not closed"),
        ("a.arff", ARFF.replace("relational", "numeric"), "no attribute is relational"),
        ("a.arff", ARFF.replace("@attribute id", "@atribute id"), "line 3: expected @attribute name type"),
        ("a.arff", ARFF.partition('b1,"')[0], "line 9: there.*below @data"),
        ("a.mat", b"MATLAB 7.3 MAT-file" + bytes(200), r"7\.3.*-v7"),
        ("a.mat", b"MATLAB 5.0 MAT-file" + bytes(200), "MATLAB file, or.*damaged"),
        ("a.mat", b"nonsense", "MATLAB file, or.*damaged"),
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
        ({"x": np.vstack([ONE, TWO]), "bagid": [2, 2, 1], "label": [1, 0]}, "not sorted.*one label per row"),
        ({"x": np.vstack([ONE, TWO]), "bagid": [1, 1, 2], "label": [1, 0, 0, 0]}, "labels"),
        ({"x": "text", "bagid": [1]}, "no 2-D numeric array"),
        ({"bags": _cell(ONE, np.ones((3, 5))), "labels": [1, 0]}, "a.mat.*Bag 1 has 5 features but bag 0 has 2"),
        ({"x": ONE, "bagid": _cell(np.ones(2), np.ones(2))}, "bag ids with several values"),
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
    savemat(path, {"x": ONE, "bagid": [1, 2], "label": [1, 0]}, do_compression=True)
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
        (
            lambda folder: (folder / "labels.csv").write_text("file,label\n../b.npy,1\na.npy,1\n"),
            "line 2: .*no file '../b.npy'",
        ),
        (lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,\na.npy,1\n"), "line 2: .*no label"),
        (lambda folder: (folder / "labels.csv").write_text("file,label\nb.npy,1\nb.npy,1\n"), "line 3:.*duplicate"),
        (lambda folder: (folder / "labels.csv").write_text("name,label\nb.npy,1\n"), "expected the columns file"),
        (
            lambda folder: (folder / "labels.csv").write_text("file,bag\nb.npy,1\na.npy,1\n"),
            "line 3: duplicate bag 1",
        ),
        (lambda folder: np.save(folder / "a.npy", np.ones(3)), r"a\.npy.*shape \(3,\)"),
        (lambda folder: np.save(folder / "a.npy", np.array([["x"]])), r"a\.npy.*U1"),
        (lambda folder: np.save(folder / "a.npy", np.ones((1, 5))), "Bag b has 2 features but bag a has 5"),
        (lambda folder: np.save(folder / "a.npy", np.array([[{}]]), allow_pickle=True), r"of type '\|O'"),
        (lambda folder: (folder / "a.npy").write_bytes(b""), "cannot be read as.*array"),
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
    with pytest.raises(FileNotFoundError, match=r"nothing\.csv.*such file") as caught:
        read_bags(tmp_path / "nothing.csv")
    assert isinstance(caught.value, DataFileError)
    with pytest.raises(ValueError, match=r"File not found.*no folder"):
        guess_format(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(DataFileError, match=r"is a folder without .npy or .parquet files"):
        read_bags(tmp_path)
    with pytest.raises(DataFileError, match="is a folder, not a file"):
        read_bags(tmp_path, format="csv")
    with pytest.raises(DataFileError, match="is a file, but format='npy'"):
        read_bags(put("a.csv", HEADER), format="npy")


def test_a_file_without_the_right_to_read(put, monkeypatch):
    path = put("a.csv", HEADER)

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match=r"a\.csv cannot be read \(Permission denied\)"):
        read_bags(path)


@pytest.mark.parametrize(
    ("name", "content", "options", "match"),
    [
        ("a.csv", HEADER, {"format": "foo"}, "'foo'.*csv, headerless"),
        ("a.csv", HEADER, {"bag": "bagg"}, "no column 'bagg' for bag=.*Did you mean 'bag'"),
        ("a.csv", HEADER, {"label": "f9"}, "no column 'f9' for label="),
        ("a.csv", HEADER, {"bag": "bag", "label": "bag"}, "cannot be both"),
        ("a.txt", "1,1,1\n", {"format": "headerless", "bag": "bag"}, "position from 0 to 2"),
        ("a.txt", "1,1,1\n", {"bag": 5}, "position from 0 to 2"),
        ("a.txt", "1,1,1\n", {"bag": 0}, "both at position 0"),
        ("a.txt", "1,1\n", {"format": "headerless"}, "expected label, bag and features"),
        ("a.data", "1,1\n", {"format": "uci"}, "expected molecule, conformation"),
        ("a.data", SPARSE, {"bag": "x"}, "omit bag= and label=|no column"),
        ("a.data", MUSK, {"format": "uci", "label": "x"}, "omit bag= and label="),
        ("a.arff", ARFF, {"label": "klass"}, "no attribute 'klass' for label=.*Did you mean 'class'"),
        ("a.csv", HEADER, {"encoding": "utf-16"}, "a.csv is not valid utf-16 .*try another encoding"),
        *(
            ("a.csv", HEADER, {"encoding": name}, "Unknown encoding")
            for name in ("zlib", "rot13", "a\0b", "undefined", 5)
        ),
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
@pytest.mark.filterwarnings("ignore:Columns not used")
def test_a_cut_or_damaged_file_is_bags_or_a_readable_error(tmp_path_factory, cut, kind, byte):
    content = {"csv": HEADER, "uci": MUSK, "svmlight": SPARSE, "arff": ARFF}[kind].encode()
    path = tmp_path_factory.mktemp("cut") / "a"
    for damaged in (content[:cut], content[:cut] + bytes([byte]) + content[cut + 1 :]):
        path.write_bytes(damaged)
        try:
            read_bags(path, format=kind)
        except DataFileError as problem:
            assert str(path) in str(problem)  # noqa: PT017

"""Files made to harm, or damaged so that they would: refused by a sentence, before they take memory or time."""

import bz2
import gzip
import io
import lzma
import struct
import time
import zlib

import numpy as np
import pytest
from scipy.io import loadmat, matlab, savemat

from fuzzymil import Bags
from fuzzymil.datasets import DataFileError, read_bags, write_bags
from fuzzymil.datasets.formats import csv
from fuzzymil.datasets.formats.mat import read_variables

HEADER = "bag,label,f1,f2\nb1,0,1,2\nb1,0,3,4\nb2,1,5,6\n"


@pytest.fixture
def small_budget(monkeypatch):
    monkeypatch.setenv("FUZZYMIL_MEMORY", "2MB")


def put(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# ---------------------------------------------------------------- memory


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_small_file_that_unpacks_to_a_large_one(tmp_path, small_budget, pack):
    packed = pack(HEADER.encode() + b"b2,1,5,6\n" * 500_000)  # 4.5 MB
    assert len(packed) < 100_000
    with pytest.raises(DataFileError, match=r"a\.csv has more than.*rows.*only 2 MB.*FUZZYMIL_MEMORY"):
        read_bags(put(tmp_path / "a.csv", packed))


def test_a_table_with_more_values_than_fit(tmp_path, small_budget):
    rows = HEADER + "b2,1,5,6\n" * 30_000  # 0.3 MB of text, 2.9 MB of numbers
    with pytest.raises(DataFileError, match=r"rows of 4 columns.*needs about.*only 2 MB"):
        read_bags(put(tmp_path / "a.csv", rows))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("0:1:1 999999999:1\n", "too many for a dense array.*FUZZYMIL_MEMORY"),
        ("0:1:1 99999999999999999999:1\n", "no feature 99999999999999999999"),
        ("0:1:1 1:1\n1 99999999999999999999\n", "line 2"),
        ("99999999999999999999 2\n0:1:1 1:1\n", "line 1"),
        ("1 999999999\n0:1:1 1:1\n", "too many for a dense array"),
    ],
)
def test_sparse_text_with_huge_numbers(tmp_path, content, says):
    began = time.perf_counter()
    with pytest.raises(DataFileError, match=says):
        read_bags(put(tmp_path / "a.svm", content), format="svmlight")
    assert time.perf_counter() - began < 2


def npy(text, values=b"", version=1):
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode("latin-1") + values


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000), }\n"), "its header states"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n", bytes(24)), "24 bytes.*states 32"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }\n", bytes(40)), "40 bytes.*states 32"),
        (npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 1), }\n", bytes(8)), "2-D numeric"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (" + "(" * 2000 + ")\n"), "cannot be read"),
        (npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n"[:-5], bytes(13)), "cannot be read"),
        (npy("\x00{'descr'\n"), "cannot be read"),
        (
            b"\x93NUMPY\x01\x00\xff\xff{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }\n" + bytes(8),
            "cannot",
        ),
    ],
)
def test_headers_of_arrays_are_not_believed(tmp_path, content, says):
    put(tmp_path / "a.npy", content)
    with pytest.raises(DataFileError, match=says):
        read_bags(tmp_path)


@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.parametrize("array", [np.eye(3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.eye(2, dtype=">i2")])
def test_every_numeric_array_is_read(tmp_path, version, array):
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=(version, 0))
    np.testing.assert_array_equal(read_bags(tmp_path)[0], array)


def test_a_tiny_parquet_file_with_very_many_rows(tmp_path, small_budget):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    column = pyarrow.array(np.zeros(200_000))
    table = pyarrow.table({"bag": column, "label": column, "f1": column})
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 100_000
    with pytest.raises(DataFileError, match=r"200,000 rows.*only 2 MB"):
        read_bags(tmp_path / "a.parquet")


def test_text_in_parquet_that_is_not_utf_8(tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet

    names = pyarrow.array([b"\xff\xfe", b"b"], pyarrow.binary()).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"bag": names, "f1": [1.0, 2.0]}), tmp_path / "a.parquet")
    with pytest.raises(DataFileError, match=r"a\.parquet.*damaged.*UTF8|a\.parquet.*damaged.*utf-8"):
        read_bags(tmp_path / "a.parquet")


def test_a_lack_of_memory_is_a_sentence(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Bags, "from_long", fails)
    with pytest.raises(DataFileError, match=r"a\.csv does not fit in memory"):
        read_bags(put(tmp_path / "a.csv", HEADER))


@pytest.mark.parametrize("value", ["much", "-1", "0", "1e400", "1 XB"])
def test_a_budget_that_is_no_size(tmp_path, monkeypatch, value):
    monkeypatch.setenv("FUZZYMIL_MEMORY", value)
    with pytest.raises(ValueError, match="FUZZYMIL_MEMORY must be a size such as 4GB"):
        read_bags(put(tmp_path / "a.csv", HEADER))


# ---------------------------------------------------------------- MATLAB


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def matrix(kind, shape, *parts, name=b"x"):
    head = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack(f"<{len(shape)}i", *shape))
    return element(14, head + element(1, name) + b"".join(parts))


def mat(*variables):
    return b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + b"".join(variables)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (mat(matrix(6, (2**31 - 1, 2**31 - 1), element(9, bytes(8)))), "has 1 values"),
        (mat(matrix(6, (-1, 1), element(9, bytes(8)))), "shape"),
        (mat(matrix(1, (2**31 - 1, 2**31 - 1))), "does not fit"),
        (mat(matrix(5, (2, 2), element(5, struct.pack("<2i", 7, 7)), element(5, struct.pack("<3i", 0, 1, 2)),
                    element(9, bytes(16)))), "value outside"),
        (mat(matrix(5, (2, 2), element(5, bytes(8)), element(5, struct.pack("<3i", 0, 9, 2)), element(9, bytes(16)))),
         "do not fit"),
        (mat(matrix(4, (1, 2), element(4, bytes(2)))), "1 characters"),
        (mat(matrix(2, (1, 1), element(5, bytes(4)))), "names of fields"),
        (mat(matrix(99, (1, 1))), "unknown class 99"),
        (mat(element(15, zlib.compress(matrix(6, (1, 1), element(9, bytes(8))))[:-3])), "truncated"),
        (mat(element(15, b"nonsense")), "header"),
        (mat(element(9, bytes(8))), "not a variable"),
        (mat(struct.pack("<II", 14, 2**32 - 1)), "claims"),
        (mat(b"\x01\x00\xff\x00" + bytes(8)), "small element"),
        (struct.pack("<5i", 0, 1, 1, 0, 2) + b"x\0" + bytes(8), "level 4.*-v7"),
    ],
)  # fmt: skip
def test_sizes_in_matlab_files_are_not_believed(tmp_path, content, says):
    with pytest.raises(DataFileError, match=f"damaged.*{says}|{says}.*damaged"):
        read_bags(put(tmp_path / "a.mat", content))


def test_deep_cells_do_not_exhaust_the_stack(tmp_path):
    inner = matrix(6, (1, 1), element(9, bytes(8)))
    for _ in range(500):
        inner = matrix(1, (1, 1), inner)
    with pytest.raises(DataFileError, match="levels deep"):
        read_bags(put(tmp_path / "a.mat", mat(inner)))


def test_a_matlab_variable_that_unpacks_to_gigabytes(tmp_path, small_budget):
    bomb = zlib.compress(matrix(6, (1, 600_000), element(9, bytes(4_800_000))))
    with pytest.raises(DataFileError, match=r"large variables.*only 2 MB"):
        read_bags(put(tmp_path / "a.mat", mat(element(15, bomb))))


def test_a_sparse_matlab_variable_of_any_shape(tmp_path, small_budget):
    parts = (element(5, bytes(4)), element(5, bytes(4) + struct.pack("<i", 1)), element(9, bytes(8)))
    with pytest.raises(DataFileError, match=r"large variables.*only 2 MB"):
        read_bags(put(tmp_path / "a.mat", mat(matrix(5, (2**31 - 1, 1), *parts))))


@pytest.mark.parametrize("start", [b"MATLAB 7.3 MAT-file, Platform: GLNXA64", b"\x89HDF\r\n\x1a\n"])
def test_matlab_7_3_gets_a_clear_answer(tmp_path, start):
    with pytest.raises(DataFileError, match=r"a\.mat is a MATLAB 7\.3 file \(HDF5\).*-v7"):
        read_bags(put(tmp_path / "a.mat", start + bytes(600)))


def same(found, expected):
    if hasattr(expected, "toarray"):
        expected = expected.toarray()
    if expected.dtype.names:
        return found.dtype.names == expected.dtype.names and all(
            same(one[name], other[name])
            for one, other in zip(found.reshape(-1), expected.reshape(-1), strict=True)
            for name in found.dtype.names
        )
    if expected.dtype == object:
        return found.shape == expected.shape and all(
            same(one, other) for one, other in zip(found.reshape(-1), expected.reshape(-1), strict=True)
        )
    return found.shape == expected.shape and (found == expected).all()


@pytest.mark.parametrize("packed", [True, False])
def test_matlab_files_are_read_as_scipy_reads_them(packed):
    from scipy.sparse import csc_array

    cells = np.empty((2, 2), dtype=object)
    cells[:] = [[np.eye(2), "text"], [np.arange(3), np.array([["ab"], ["cd"]])]]
    content = {"a": np.arange(12.0).reshape(3, 4), "b": np.arange(6, dtype=np.uint8).reshape(2, 3), "c": "größe"}
    content["d"] = csc_array(np.diag([1.0, 0, 3]))
    content |= {"e": cells, "f": {"one": 1, "two": {"three": "x"}}, "g": np.ones((2, 3, 4)), "h": np.array([True])}
    content |= {"i": np.array([2**62 + 1]), "k": np.zeros((0, 3)), "l": np.array([1.5], np.float32)}
    file = io.BytesIO()
    savemat(file, content, do_compression=packed)
    found = read_variables(file.getvalue())
    expected = {name: value for name, value in loadmat(file).items() if not name.startswith("__")}
    assert found.keys() == expected.keys()
    assert [name for name in expected if not same(found[name], expected[name])] == []


@pytest.mark.filterwarnings("ignore")
def test_files_of_many_versions_of_matlab_are_read_as_scipy_reads_them():
    from pathlib import Path

    folder = Path(matlab.__file__).parent / "tests" / "data"
    tried = 0
    for path in sorted(folder.glob("test*_[5-7].*.mat")):
        if any(word in path.name for word in ("complex", "func", "hdf5")):  # left out, or not supported
            continue
        found = read_variables(path.read_bytes())
        expected = {name: value for name, value in loadmat(path).items() if not name.startswith("__")}
        assert found.keys() == expected.keys(), path.name
        assert [name for name in expected if not same(found[name], expected[name])] == [], path.name
        tried += 1
    if not tried:
        pytest.skip("SciPy was installed without the files of its tests")


# ---------------------------------------------------------------- read right, or not at all


def test_large_integers_stay_different(tmp_path):
    rows = "bag,label,f1\n9007199254740992,9007199254740992,1\n9007199254740993,9007199254740993,2\n"
    bags = read_bags(put(tmp_path / "a.csv", rows))
    assert bags.ids.tolist() == bags.labels.tolist() == [2**53, 2**53 + 1]
    huge = rows.replace("9007199254740992", "1" + "0" * 25).replace("9007199254740993", "1" + "0" * 24 + "1")
    assert len({*read_bags(put(tmp_path / "b.csv", huge)).labels.tolist()}) == 2
    mixed = rows.replace(",1\n", ",1\n5,0.5,1\n", 1)
    assert len({*read_bags(put(tmp_path / "c.csv", mixed)).labels.tolist()}) == 3
    write_bags(bags, tmp_path / "d.csv")
    assert read_bags(tmp_path / "d.csv").labels.tolist() == [2**53, 2**53 + 1]


def test_large_integers_of_matlab_stay_different(tmp_path):
    for kind, first in ((np.int64, 2**53), (np.uint64, 2**63 + 2**53)):
        ids = np.array([first, first + 1], dtype=kind)
        savemat(tmp_path / "a.mat", {"x": np.eye(2), "bagid": ids, "label": ids})
        bags = read_bags(tmp_path / "a.mat")
        assert bags.ids.tolist() == bags.labels.tolist() == [first, first + 1]


def test_large_ids_stay_different_when_bags_are_joined():
    whole = Bags.from_list([[[1.0]], [[2.0]]], ids=np.array([2**53, 2**53 + 1]))
    assert len({*(whole + Bags.from_list([[[1.0]]], ids=np.array([0.5]))).ids.tolist()}) == 3


@pytest.mark.parametrize(
    ("header", "options", "says"),
    [
        ("bag,Label,label,f1", {}, "several columns could be the label: 'Label', 'label'"),
        ("bag,Bag,label,f1", {}, "several columns could be the bag: 'bag', 'Bag'"),
        ("bag,Label,label,f1", {"label": "label"}, "'Label' would be a feature.*'label' only in case.*drop="),
        ("bag,y,Y,f1", {}, "several columns could be the label: 'y', 'Y'"),
    ],
)
def test_a_second_label_column_is_not_a_feature(tmp_path, header, options, says):
    with pytest.raises(DataFileError, match=says):
        read_bags(put(tmp_path / "a.csv", f"{header}\n1,0,0,5\n2,1,1,6\n"), **options)


def test_a_second_label_column_can_be_dropped(tmp_path):
    path = put(tmp_path / "a.csv", "bag,Label,label,Instance_Label,f1\n1,0,0,1,5\n2,1,1,0,6\n")
    bags = read_bags(path, label="label", drop=["Label"])
    assert bags.feature_names == ("f1",)
    assert bags.instance_labels.tolist() == [1, 0]


@pytest.mark.parametrize("where", ["@attribute class", "  @attribute f1"])
def test_an_attribute_twice(tmp_path, where):
    text = (
        "@relation r\n@attribute id string\n@attribute bag relational\n  @attribute f1 numeric\n"
        "  @attribute f2 numeric\n@end bag\n@attribute label {0,1}\n@data\na,'1,2',0\n"
    )
    twice = text.replace("@attribute label", "@attribute id") if "class" in where else text.replace("f2", "f1")
    with pytest.raises(DataFileError, match=r"line (5|7): duplicate attribute '(f1|id)'"):
        read_bags(put(tmp_path / "a.arff", twice))


# ---------------------------------------------------------------- scale


@pytest.fixture(params=["arrow", "blocks"])
def reader(request, monkeypatch):
    """Both ways to read a table."""
    if request.param == "arrow":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(csv, "_LEAST_FOR_ARROW", 0)
    else:
        monkeypatch.setattr(csv, "_read_by_arrow", lambda *_: None)
    monkeypatch.setattr(csv, "_BLOCK_FIELDS", 35)
    return request.param


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\n\n" + text,
        lambda text: text.replace(",", " , "),
        lambda text: text.replace(",", ";"),
        lambda text: text.replace("\n", "\n\n", 5),
        lambda text: text.replace("k1,", '"k1",'),
        lambda text: text.rstrip("\n"),
        lambda text: (
            text.replace(",0.5,", ",NaN,").replace(",1.5,", ",,").replace(",2.5,", ",N/A ,").replace(",3.5,", ",None,")
        ),
        lambda text: text.replace("k1,", " k1 ,").replace(",0.5,", ",+0.5,").replace(",1.5,", ",15e-1,"),
    ],
)
def test_every_reader_of_tables_reads_the_same(tmp_path, reader, change):
    rows = [f"k{n // 3},{n // 3 % 2},{n + 0.5},{n * 0.1!r},{-n}\n" for n in range(60)]
    text = "bag,label,f1,f2,f3\n" + "".join(rows)
    bags = read_bags(put(tmp_path / "a.csv", change(text)))
    assert bags.ids.tolist() == [f"k{b}" for b in range(20)]
    assert bags.labels.tolist() == [0, 1] * 10
    expected = np.array([[n + 0.5, n * 0.1, -n] for n in range(60)])
    known = ~np.isnan(bags.instances)
    np.testing.assert_array_equal(bags.instances[known], expected[known])
    assert (~known).sum() in (0, 8)  # four marks, in two columns


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("k9,1,x,1,1", r"line 62, column 'f1': expected a number, found 'x'"),
        ("k9,1,1_0,1,1", "line 62, column 'f1'"),
        ("k9,1,1,inf,1", "'f2' of bag k9, row 3 of the bag .line 62., is infinite"),
        ("k9,1,1,1e999,1", "'f2' of bag k9, row 3 of the bag .line 62., is infinite"),
        ("k9,1,nan(7),1,1", "line 62, column 'f1'"),
        ("k9,1,0x10,1,1", "line 62, column 'f1'"),
        ("k9,1,1,1", "line 62: 4 values, but line 1 has 5"),
        (",1,1,1,1", "line 62: this row has no bag id"),
        ("k9,0,1,1,1", "line 62: bag k9 has two labels, 1 on line 29 and 0 here"),
    ],
)
def test_every_reader_of_tables_names_the_same_place(tmp_path, reader, row, says):
    rows = [f"k{n // 3},{n // 3 % 2},{n + 0.5},{n * 0.1!r},{-n}\n" for n in range(60)]
    text = "bag,label,f1,f2,f3\n" + "".join(rows) + row + "\nk9,1,1,1,1\n"
    with pytest.raises(DataFileError, match=says):
        read_bags(put(tmp_path / "a.csv", text))


def test_many_columns_take_time_in_proportion(tmp_path, reader, monkeypatch):
    monkeypatch.undo()  # blocks of the usual size

    def seconds(n_columns):
        header = ",".join(f"f{n}" for n in range(n_columns))
        row = ",".join(["0.5"] * n_columns)
        path = put(tmp_path / f"{n_columns}.csv", f"bag,label,{header}\n1,0,{row}\n2,1,{row}\n")
        began = time.process_time()
        assert read_bags(path).n_features == n_columns
        return time.process_time() - began

    few = min(seconds(2_000) for _ in range(3))
    assert seconds(20_000) < 40 * few + 0.3  # ten times as many; it was about a hundred times

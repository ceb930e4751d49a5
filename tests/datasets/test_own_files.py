"""What people have on their disks: a file per bag, several tables, workbooks, labels in another file."""

import datetime

import h5py
import numpy as np
import openpyxl
import pandas as pd
import pytest

from fuzzymil import InputError
from fuzzymil.datasets import DataFileError, guess_format, read_bags

TABLE = "user,bought,pages\nu1,yes,3\nu1,yes,4\nu2,no,5\nu3,,1\n"
ROWS = np.arange(6.0).reshape(3, 2)


@pytest.fixture
def slides(tmp_path):
    """Two slides as HDF5, as pathology tools write them, and a list of their labels."""
    folder = tmp_path / "slides"
    folder.mkdir()
    for n in range(2):
        with h5py.File(folder / f"s{n}.h5", "w") as file:
            file["features"] = (ROWS + n)[None]  # a batch of one
            file["coords"] = [[0, 256], [256, 256], [512, 0]]
    (tmp_path / "slides.csv").write_text("slide,tumour\ns1.svs,1\ns0.svs,0\n")
    return folder


def test_slides_in_hdf5(slides, tmp_path):
    bags = read_bags(slides, label="tumour", labels=tmp_path / "slides.csv")
    assert (bags.ids.tolist(), bags.labels.tolist()) == (["s0", "s1"], [0, 1])
    assert bags[1].tolist() == (ROWS + 1).tolist()
    assert bags.source.text(2) == "row 2, x 512, y 0"
    assert read_bags(f"{slides}/*1.h5").ids.tolist() == ["s1"]
    assert read_bags(slides / "s0.h5").n_bags == 1


def test_several_bags_in_an_hdf5_file(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["left/features"], file["right/features"] = ROWS, ROWS[:1]
    assert read_bags(tmp_path / "a.h5").ids.tolist() == ["left", "right"]
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["left"], file["right"] = ROWS, ROWS[:1]
    assert read_bags(tmp_path / "b.h5").sizes.tolist() == [3, 1]


def test_hdf5_reads_no_other_file(slides, tmp_path):
    for number, link in enumerate((h5py.ExternalLink(str(slides / "s0.h5"), "features"), h5py.SoftLink("/x"))):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["features"] = link
        with pytest.raises(DataFileError, match="'features' in another place or file"):
            read_bags(tmp_path / f"{number}.h5")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        layout = h5py.VirtualLayout((3, 2), "i8")
        layout[...] = h5py.VirtualSource(slides / "s0.h5", "coords", (3, 2))
        file.create_virtual_dataset("features", layout)
    with pytest.raises(DataFileError, match="another place or file"):
        read_bags(tmp_path / "v.h5")


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"left": ROWS, "names": np.array(["a"])}, None),
        ({"features": ROWS, "other": ROWS}, None),
        ({"left": ROWS, "right": ROWS}, "no array called 'features', but left, right"),
        ({"features": ROWS[0]}, r"shape \(2,\)"),
        ({"features": np.array([["a"]])}, "2-D numeric"),
        ({"features": np.array([[{}]], object)}, "2-D numeric"),
    ],
)
def test_npz(tmp_path, arrays, words):
    np.savez_compressed(tmp_path / "a.npz", **arrays)
    if words is None:
        assert read_bags(tmp_path)[0].tolist() == ROWS.tolist()
    else:
        with pytest.raises(DataFileError, match=words):
            read_bags(tmp_path)


@pytest.mark.parametrize("name", ["a.npz", "a.h5"])
def test_what_is_promised_has_to_fit(tmp_path, monkeypatch, name):
    if name == "a.npz":
        np.savez_compressed(tmp_path / name, features=np.zeros((10**6, 10)))
    else:
        with h5py.File(tmp_path / name, "w") as file:
            file.create_dataset("features", (10**7, 10**3), "f4", chunks=True)  # no value is stored
    monkeypatch.setenv("FUZZYMIL_MEMORY", "100MB")
    with pytest.raises(DataFileError, match="FUZZYMIL_MEMORY"):
        read_bags(tmp_path)


def test_several_tables(tmp_path):
    (tmp_path / "a.csv").write_text("bag,kind,width\nb1,new,1\nb1,old,2\n")
    (tmp_path / "b.csv").write_text("bag,kind,width\nb2,old,3\n")
    pattern = f"{tmp_path}/*.csv"
    found = read_bags(pattern)
    assert (found.ids.tolist(), found.n_instances, found.columns[0].categories) == (["b1", "b2"], 3, ("new", "old"))
    assert guess_format(pattern).bag == "bag"
    (tmp_path / "c.csv").write_text("bag,kind,width\nb2,old,3\n")
    with pytest.raises(InputError, match=r"Bag b2 is in two files, .*b\.csv and .*c\.csv"):
        read_bags(pattern)
    with pytest.raises(InputError, match=r"not found.*x\*"):
        read_bags(f"{tmp_path}/x*")
    for n in range(2):
        pd.DataFrame({"bag": [n, n], "width": [1.0, 2.0]}).to_parquet(tmp_path / f"{n}.parquet")
    assert read_bags(f"{tmp_path}/?.parquet").n_bags == 2


def test_excel(tmp_path):
    book = openpyxl.Workbook()
    day = datetime.datetime(2026, 3, 1)
    rows = [
        ["user", "bought", "pages", "when"],
        ["u1", "yes", 3, day],
        ["u1", "yes", 4.5, day],
        [],
        ["u2", "no", None, day],
    ]
    for row in rows:
        book.active.append(row)
    book.create_sheet("notes")
    book.save(tmp_path / "a.xlsx")
    with pytest.warns(UserWarning, match="the first sheet, Sheet, is read; not notes"):
        bags = read_bags(tmp_path / "a.xlsx", bag="user", label="bought")
    assert bags.feature_names == ("pages", "when", "when_weekday")
    assert bags.instances[:, 0].tolist()[:2] == [3, 4.5]
    assert bags.source.where(2) == "line 5"
    book.active["A2"] = book.active["A3"] = book.active["A5"] = "u3"
    book.save(tmp_path / "aa.xlsx")
    with pytest.warns(UserWarning, match="not notes"), pytest.raises(InputError, match="two labels"):
        read_bags(f"{tmp_path}/*.xlsx", bag="user", label="bought")
    (tmp_path / "b.xlsx").write_bytes((tmp_path / "a.xlsx").read_bytes()[:-50])
    with pytest.raises(DataFileError, match="Excel workbook, or it is damaged"):
        read_bags(tmp_path / "b.xlsx", bag="user")


def test_labels_in_another_file(tmp_path):
    (tmp_path / "a.csv").write_text("user,pages\nu1,3\nu1,4\nu2,5\nu3,1\n")
    labels = pd.DataFrame({"user": ["u3", "u2", "u1"], "bought": ["yes", "no", "yes"], "n": [1, 2, 3]})
    for name, write in (("l.csv", labels.to_csv), ("l.xlsx", labels.to_excel), ("l.parquet", labels.to_parquet)):
        write(tmp_path / name, index=False)
        found = read_bags(tmp_path / "a.csv", bag="user", label="bought", labels=tmp_path / name)
        assert found.labels.tolist() == ["yes", "no", "yes"]
        assert read_bags(tmp_path / "a.csv", bag="user", label="n", labels=tmp_path / name).labels.tolist() == [3, 2, 1]
    (tmp_path / "l.csv").write_text("id,y\nu1,1\nu2,?\n")
    with pytest.raises(DataFileError, match=r"l\.csv: 2 of the 3 bags have no label: u2, u3"):
        read_bags(tmp_path / "a.csv", bag="user", labels=tmp_path / "l.csv")
    kept = read_bags(tmp_path / "a.csv", bag="user", labels=tmp_path / "l.csv", unlabeled="keep")
    assert kept.labels.tolist()[0] == 1


def test_a_row_without_a_label(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    with pytest.raises(DataFileError, match=r"line 5: this row has no label.*unlabeled='drop'"):
        read_bags(tmp_path / "a.csv", bag="user", label="bought")
    pd.read_csv(tmp_path / "a.csv").to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv", "a.parquet"):
        with pytest.warns(UserWarning, match="left out: u3"):
            found = read_bags(tmp_path / name, bag="user", label="bought", unlabeled="drop")
        assert found.labels.tolist() == ["yes", "no"]
        kept = read_bags(tmp_path / name, bag="user", label="bought", unlabeled="keep")
        assert kept.labels.tolist() == ["yes", "no", None]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({}, "'user' may be the bag: it has 3 values in 6 rows.*'bought'.*bag='user' label='bought'"),
        ({"label": "when"}, "no column looks like a bag id"),
    ],
)
def test_columns_are_proposed(tmp_path, settings, words):
    rows = [f"u{n // 2},{n // 2 % 2},{n}.5,{n % 2}" for n in range(6)]
    (tmp_path / "a.csv").write_text("\n".join(["user,bought,pages,when", *rows]))
    with pytest.raises(DataFileError, match=words):
        read_bags(tmp_path / "a.csv", **settings)

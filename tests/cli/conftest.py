"""Data and a model that the commands share."""

import csv
import io
import signal

import pyarrow
import pytest
from pyarrow import parquet
from runner import COLUMNS, SMALL, good, table

from fuzzymil.learn.train import trainer


@pytest.fixture(scope="session")
def desk(tmp_path_factory):
    """A folder with data, a model that the command line fitted on them, and what it printed."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "boxes.csv").write_text(table())
    result = good("fit", folder / "boxes.csv", *COLUMNS, *SMALL, "-o", folder / "model.json")
    (folder / "stdout.txt").write_text(result.stdout)
    (folder / "stderr.txt").write_text(result.stderr)
    return folder


@pytest.fixture(scope="session")
def boxes(desk, tmp_path_factory):
    """The boxes as Parquet: other column order, a column of text, and row groups of four rows."""
    rows = list(csv.DictReader(io.StringIO((desk / "boxes.csv").read_text())))
    columns = {
        **{name: [float(row[name]) for row in rows] for name in ("length", "weight")},
        **{name: [row[name] for row in rows] for name in ("box", "color")},
        "remark": ["-"] * len(rows),
    }
    path = tmp_path_factory.mktemp("parquet") / "boxes.parquet"
    parquet.write_table(pyarrow.table(columns), path, row_group_size=4)
    return path


@pytest.fixture
def ctrl_c(monkeypatch):
    """Press Ctrl-C during the first training, after some of its epochs."""
    announce, pressed = trainer._Driver.announce, []

    def press(*arguments):
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return announce(*arguments)

    monkeypatch.setattr(trainer._Driver, "announce", press)

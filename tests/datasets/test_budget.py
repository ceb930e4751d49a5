"""A file of any size, however small it is when packed, takes no more memory than the budget: measured in children."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest

from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import read_bags

BUDGET = 400_000_000  # bytes
MOST = 1.3  # times the budget, beyond what importing the libraries takes

READ = """
import os, resource, sys
import pandas, pyarrow.csv, pyarrow.parquet, scipy.io
import fuzzymil.studio.files
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import read_bags
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    read_bags(sys.argv[1])
    found = "read"
except InputError as problem:
    found = "refused " + str(problem)
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before), found)
"""


def packed(*parts):
    return lambda path: path.write_bytes(b"".join(map(gzip.compress, parts)))  # members of one file


def numbered(form, n):
    return "".join(form % k for k in range(n)).encode()


def plain(content):
    return lambda path: path.write_bytes(content())


def parquet(n_rows, text):
    def write(path):
        import pyarrow as arrow
        import pyarrow.parquet

        table = {"bag": [text] * n_rows, "x": np.zeros(n_rows), "y": np.zeros(n_rows)}
        arrow.parquet.write_table(arrow.table(table), path, compression="zstd")

    return write


def matlab(n_rows):
    def write(path):
        from scipy.io import savemat

        savemat(path, {"x": np.zeros((n_rows, 2)), "bagid": np.zeros(n_rows)}, do_compression=True)

    return write


ARFF = b"""@relation r
@attribute b string
@attribute r relational
@attribute x numeric
@end r
@attribute c {0}
@data
"""
FILES = {
    "field.csv.gz": packed(b"bag,x\na,", *[b"1" * 10**7] * 40, b"\n"),  # one field of 400 MB
    "header.csv.gz": packed(b"bag,", *[b"z" * 10**7] * 40, b"\n1,2\n"),
    "wide.csv.gz": packed(b"bag,x", *[b",y" * 10**7] * 10, b"\n1,2\n"),
    "lines.csv.gz": packed(b"bag,x\n", *[b"\n" * 10**7] * 40),
    "rows.csv.gz": packed(b"bag,x,y\n", *[b"a,1,0\n" * 10**6] * 20),
    "quoted.csv.gz": packed(b"bag,x,y\n", *[b'"a",1,0\n' * 10**6] * 20),
    "rows.txt.gz": packed(*[b"1,a,1,0\n" * 10**6] * 20),
    "rows.svm.gz": packed(*[b"1:a:1 1:1 2:0\n" * 10**6] * 10),
    "bare.svm.gz": packed(b"1:a:1 1:1\n", *[b"1:a:1\n" * 10**6] * 20),
    "wide.svm.gz": packed(b"1:a:1 1:1 20000000:1\n2:b:0 1:1\n"),
    "bags.csv": plain(lambda: b"bag,x,y\n" + numbered("bag%d,1.5,0.25\n", 900_000)),
    "text.csv": plain(lambda: b"bag,x,y\n" + numbered("a,t%d,0.25\n", 900_000)),
    "bags.arff.gz": packed(
        ARFF,
        numbered("b%d,'1',0\n", 1_500_000),
    ),
    "rows.parquet": parquet(10_000_000, "a"),
    "ids.parquet": parquet(400, "a" * 10**6),
    "bags.mat": matlab(6_000_000),
    "large.mat": matlab(12_000_000),
}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does")
@pytest.mark.parametrize("name", FILES)
def test_no_file_takes_more_memory_than_the_budget(tmp_path, name):
    FILES[name](tmp_path / name)
    environment = os.environ | {"FUZZYMIL_MEMORY": str(BUDGET), "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", READ, tmp_path / name], capture_output=True, text=True, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr[-1000:]
    grown, found = done.stdout.split(" ", 1)
    print(f"{name}: {int(grown) / BUDGET:.2f} times the budget, {found:.100}")
    assert int(grown) < MOST * BUDGET, found
    assert found.startswith(("read", "refused"))


SMALL = {
    "bags.csv": ("20MB", plain(lambda: b"bag,x,y\n" + numbered("bag%d,1.5,0.25\n", 80_000))),
    "pairs.svm": ("3MB", plain(lambda: (b"1:a:1" + numbered(" %d:1", 101)[4:] + b"\n") * 2_000)),
    "bags.arff": ("3MB", plain(lambda: ARFF + numbered("b%d,'1',0\n", 8_000))),
    "ids.parquet": ("3MB", parquet(400, "a" * 10**4)),
    "bags.mat": ("3MB", matlab(50_000)),
    "lines.csv.gz": ("3MB", packed(b"bag,x\na,1\n", b"\n" * 3 * 10**6)),
}


@pytest.mark.parametrize("name", SMALL)
def test_what_does_not_fit_is_refused(tmp_path, monkeypatch, name):
    allowed, write = SMALL[name]
    write(tmp_path / name)
    monkeypatch.setenv("FUZZYMIL_MEMORY", allowed)
    with pytest.raises(InputError, match=r"may be used|blanks in a row"):
        read_bags(tmp_path / name)

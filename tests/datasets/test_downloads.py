"""Benchmark sets from a server of our own: kept, tried again, refused, and unpacked."""

import gc
import os
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_benchmarks import assert_same, compress, names_the_three_ways, small_set, sparse_text, uci_text, zipped

from fuzzymil.datasets import BENCHMARKS, DataFileError, DataNotFound, _benchmarks, write_bags

pytestmark = pytest.mark.usefixtures("cache")


# ---------------------------------------------------------------- downloads


@pytest.mark.parametrize("member", ["clean1_data", "clean1_data_Z"])
def test_musk_is_downloaded_once_and_kept(small, server, cache, member):
    text = uci_text(small["musk1"])
    body = zipped(**{member: compress(text) if member.endswith("Z") else text, "clean1_names": b"about"})
    server.serve("musk+version+1.zip", body)
    assert_same(_benchmarks.load_musk1(), small["musk1"])
    assert_same(_benchmarks.load_musk1(), small["musk1"])
    assert server.asked == ["/data/musk+version+1.zip"]
    assert os.listdir(cache) == ["musk1.csv.gz"]


def test_the_animals_are_downloaded_and_renumbered(small, server, cache):
    server.serve("fox.data", sparse_text(small["fox"]))
    assert_same(_benchmarks.load_fox(), small["fox"])
    assert_same(_benchmarks.load_fox(download=False), small["fox"])
    assert os.listdir(cache) == ["fox.csv.gz"]


def test_without_a_mirror_the_public_home_is_asked(monkeypatch):
    home = BENCHMARKS["fox"].home
    assert _benchmarks.address(home) == home
    monkeypatch.setenv("FUZZYMIL_MIRROR", "http://127.0.0.1:1/x/")
    assert _benchmarks.address(home) == "http://127.0.0.1:1/x/fox.data"


def broken_downloads(bags):
    text = sparse_text(bags)
    other = bags.map_instances(lambda values: values + 1)
    return {
        "not found": ((b"gone", 404, None), "HTTP 404", 3),
        "server error": ((b"oops", 500, None), "HTTP 500", 3),
        "broken off": ((text[:100], 200, len(text)), "Could not download", 3),
        "cut off": ((text[:100], 200, None), "file that cannot be read", 1),
        "empty": ((b"", 200, None), "file that cannot be read", 1),
        "a page": ((b"<html>log in</html>", 200, None), "file that cannot be read", 1),
        "other numbers": ((sparse_text(other), 200, None), "expected.*content.*SHA-256", 1),
        "fewer bags": ((sparse_text(bags[[0, 1]]), 200, None), "expected 3 bags, 6 instances", 1),
        "labels in words": ((text.replace(b":-1 ", b":no ").replace(b":1 ", b":yes "), 200, None), "without labels", 1),
    }


# A connection that breaks off is closed by the garbage collector only, which Python remarks on.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("case", broken_downloads(small_set("fox")))
def test_a_download_that_fails_leaves_nothing(small, server, cache, case):
    (body, status, length), match, tries = broken_downloads(small["fox"])[case]
    server.serve("fox.data", body, status, length)
    with pytest.raises(DataNotFound, match=match) as caught:
        _benchmarks.load_fox()
    names_the_three_ways(caught.value, "fox")
    assert f"{server.address}/fox.data" in str(caught.value)
    assert len(server.asked) == tries
    assert os.listdir(cache) == []
    server.serve("fox.data", sparse_text(small["fox"]))
    assert_same(_benchmarks.load_fox(), small["fox"])  # nothing stands in the way later
    del caught
    gc.collect()  # here and not in the next test


@pytest.mark.parametrize(
    ("body", "match"),
    [
        (b"no archive", "archive is damaged"),
        (zipped(readme_txt=b"nothing here"), "expected a table called clean1.data"),
        (zipped(clean1_data_Z=b"not packed"), "1f 9d"),
        (zipped(clean1_data_Z=b"\x1f\x9d\x90\xff\xff"), "damaged"),
        (zipped(clean1_data=b"MUSK-a,a_1,x,2,1.\n"), "expected a number, found 'x'"),
    ],
    ids=["no archive", "no table", "not packed", "packed badly", "no number"],  # archives hold the time of day
)
def test_an_archive_with_something_else(small, server, body, match):
    server.serve("musk+version+1.zip", body)
    with pytest.raises(DataNotFound, match=match) as caught:
        _benchmarks.load_musk1()
    names_the_three_ways(caught.value, "musk1")


def test_no_connection(small, server, cache):
    server.close()
    server.close = lambda: None  # once is enough
    with pytest.raises(DataNotFound, match="Could not download") as caught:
        _benchmarks.load_fox()
    names_the_three_ways(caught.value, "fox")
    assert os.listdir(cache) == []


def test_a_download_is_tried_again(small, server, monkeypatch):
    body = sparse_text(small["fox"])
    server.serve("fox.data", b"busy", 503)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: server.serve("fox.data", body))
    assert_same(_benchmarks.load_fox(), small["fox"])
    assert len(server.asked) == 2


def test_a_damaged_copy_is_downloaded_again(small, server, cache):
    cache.mkdir()
    (cache / "fox.csv.gz").write_bytes(b"\x1f\x8bnonsense")
    with pytest.raises(DataFileError, match=r"cached file.*damaged"):
        _benchmarks.load_fox(download=False)
    server.serve("fox.data", sparse_text(small["fox"]))
    assert_same(_benchmarks.load_fox(), small["fox"])
    write_bags(small["fox"].map_instances(lambda values: 2 * values), cache / "fox.csv.gz")
    with pytest.raises(DataFileError, match=r"expected.*content.*SHA-256"):
        _benchmarks.load_fox(download=False)
    assert_same(_benchmarks.load_fox(), small["fox"])


def test_a_cache_that_cannot_be_written(small, server, cache, monkeypatch):
    server.serve("fox.data", sparse_text(small["fox"]))
    cache.write_text("a file where the folder should be")
    with pytest.raises(DataNotFound, match="Could not store"):
        _benchmarks.load_fox()
    cache.unlink()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("fuzzymil._utils.storage.os.fsync", fail)
    with pytest.raises(DataNotFound, match=r"cannot be cached in .*No space left"):
        _benchmarks.load_fox()
    assert os.listdir(cache) == []


# ---------------------------------------------------------------- facts, checksums, packed files


@given(
    content=st.binary(max_size=3000) | st.text("ab,1\n", max_size=3000).map(str.encode),
    widest=st.sampled_from([10, 12, 16]),
    clear_after=st.none() | st.integers(1, 400),
)
def test_files_of_compress_are_unpacked(content, widest, clear_after):
    assert _benchmarks.decompress(compress(content, widest, clear_after)) == content


@pytest.mark.skipif(shutil.which("gzip") is None, reason="gzip, which also unpacks .Z files, is not installed")
def test_our_packing_is_that_of_the_real_program():
    content = np.random.default_rng(0).choice(list(b"0123456789,-\n"), 100_000).astype(np.uint8).tobytes()
    packed = compress(content, 14, 9000)
    assert _benchmarks.decompress(packed) == content
    assert subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True).stdout == content


@pytest.mark.parametrize(
    "packed", [b"", b"\x1f\x9d", b"\x1f\x8b\x90abc", b"\x1f\x9d\x91abc", b"\x1f\x9d\x90\xff\xff\xff"]
)
def test_what_compress_never_wrote(packed):
    with pytest.raises(ValueError, match=r"not a .Z file|bits|damaged"):
        _benchmarks.decompress(packed)

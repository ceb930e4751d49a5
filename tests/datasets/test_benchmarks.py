"""The benchmark sets: found, checked, downloaded from a server of our own, or a message that helps."""

import gc
import gzip
import hashlib
import io
import os
import shutil
import subprocess
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pooch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzymil import Bags
from fuzzymil import datasets as datasets_module
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets import (
    BENCHMARKS,
    DataFileError,
    DataNotFound,
    _benchmarks,
    _download,
    _lzw,
    describe,
    write_bags,
)
from fuzzymil.datasets._download import content_checksum

LOADERS = {name: getattr(_benchmarks, f"load_{name}") for name in BENCHMARKS}
SHARED = os.environ.get("FUZZYMIL_DATA")
needs_data = pytest.mark.skipif(SHARED is None, reason="FUZZYMIL_DATA names no folder with the benchmark data")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """No test sees the user's settings or touches the user's cache."""
    monkeypatch.delenv("FUZZYMIL_DATA", raising=False)
    monkeypatch.delenv("FUZZYMIL_MIRROR", raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setattr(pooch, "os_cache", lambda _: folder)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    return folder


# ---------------------------------------------------------------- small stand-ins for the real sets


def small_set(kind):
    """Bags in the order of our files: positives first, then by id."""
    rng = np.random.default_rng(0)
    ids = ["MUSK-a", "MUSK-b", "NON-MUSK-a"] if kind == "musk1" else [1, 2, 3]
    sizes = [2, 1, 3]
    values = rng.integers(-99, 99, size=(6, 4)) if kind == "musk1" else rng.normal(size=(6, 4)).round(4)
    return Bags(
        values.astype(float), np.cumsum([0, *sizes]), ids=ids, labels=[1, 1, 0], feature_names=["f1", "f2", "f3", "f4"]
    )


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Put small sets in the place of musk1 and fox; return them."""
    found = {}
    for name in ("musk1", "fox"):
        bags = small_set(name)
        write_bags(bags, tmp_path / f"{name}.csv.gz")
        facts = replace(
            BENCHMARKS[name],
            n_bags=3,
            n_positive=2,
            n_instances=6,
            n_features=4,
            file_checksum=hashlib.sha256((tmp_path / f"{name}.csv.gz").read_bytes()).hexdigest(),
            content_checksum=content_checksum(bags),
        )
        monkeypatch.setitem(BENCHMARKS, name, facts)
        found[name] = bags
    return found


def uci_text(bags):
    """Bags as a UCI file, last bag first."""
    lines = []
    for b in reversed(range(len(bags))):
        for i, row in enumerate(bags[b]):
            values = ",".join(f"{value:.0f}" for value in row)
            lines.append(f"{bags.ids[b]},{b}_1+{i + 1},{values},{bags.labels[b]}.\n")
    return "".join(lines).encode()


def sparse_text(bags):
    """Bags as the public file has them: counted from 0, labels -1 and 1, blanks at the end."""
    lines = [f"{bags.n_instances} {bags.n_features}\n"]
    for i, (b, row) in enumerate(zip(bags.bag_index, bags.instances, strict=True)):
        pairs = " ".join(f"{d + 1}:{value!r}" for d, value in enumerate(row.tolist()))
        lines.append(f"{i}:{bags.ids[b] - 1}:{2 * bags.labels[b] - 1} {pairs} \n")
    return "".join(lines).encode()


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


def compress(content, widest=16, clear_after=None):
    """Pack as the Unix program compress does."""
    out, buffer, filled, written = bytearray(b"\x1f\x9d" + bytes([0x80 | widest])), 0, 0, 0
    width, free, table = 9, 257, {bytes([value]): value for value in range(256)}

    def put(code):
        nonlocal buffer, filled, written
        buffer |= code << filled
        filled += width
        written += width
        drain()

    def drain():
        nonlocal buffer, filled
        while filled >= 8:
            out.append(buffer & 255)
            buffer >>= 8
            filled -= 8

    def fill_group():
        nonlocal filled, written
        filled += -written % (8 * width)
        written = 0
        drain()

    def made_one():
        nonlocal free, width
        if free < 1 << widest:
            free += 1
            if free > 1 << width and width < widest:
                fill_group()
                width += 1

    word, codes = b"", 0
    for value in content:
        longer = word + bytes([value])
        if longer in table:
            word = longer
            continue
        put(table[word])
        codes += 1
        if free < 1 << widest:
            table[longer] = free
        made_one()
        word = longer[-1:]
        if clear_after and codes % clear_after == 0:
            put(table[word])
            made_one()
            put(256)
            fill_group()
            width, free, table, word = 9, 257, {bytes([value]): value for value in range(256)}, b""
    if word:
        put(table[word])
    if filled:
        out.append(buffer & 255)
    return bytes(out)


# ---------------------------------------------------------------- a server of our own


class Server:
    def __init__(self):
        self.files = {}  # path -> (status, body, length to announce)
        self.asked = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append(self.path)
                status, body, length = outer.files.get(self.path, (404, b"no such file", None))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.http.server_port}/data"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,))
        self.thread.start()

    def serve(self, name, body, status=200, length=None):
        self.files[f"/data/{name}"] = (status, body, length)

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def server(monkeypatch):
    found = Server()
    monkeypatch.setenv("FUZZYMIL_MIRROR", found.address + "/")
    yield found
    found.close()


def assert_same(found, expected):
    np.testing.assert_array_equal(found.instances, expected.instances)
    np.testing.assert_array_equal(found.offsets, expected.offsets)
    assert found.ids.tolist() == expected.ids.tolist()
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.feature_names == expected.feature_names


def names_the_three_ways(problem, name):
    text = str(problem)
    assert "folder=" in text
    assert "FUZZYMIL_DATA" in text
    assert BENCHMARKS[name].home in text
    assert f"{name}.csv.gz" in text


# ---------------------------------------------------------------- the real data


@needs_data
@pytest.mark.parametrize("name", LOADERS)
def test_the_real_sets_are_what_the_facts_say(name):
    bags = LOADERS[name](SHARED, download=False)
    facts = describe(name)
    assert (bags.n_bags, bags.n_instances, bags.n_features) == (facts.n_bags, facts.n_instances, facts.n_features)
    assert bags.labels.dtype.kind == "i"
    assert np.bincount(bags.labels).tolist() == [facts.n_negative, facts.n_positive]
    assert bags.feature_names == tuple(f"f{d + 1}" for d in range(facts.n_features))
    assert content_checksum(bags) == facts.content_checksum
    assert len(set(bags.ids.tolist())) == facts.n_bags


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", LOADERS)
def test_the_real_sets_survive_the_way_over_their_public_format(name, server):
    bags = LOADERS[name](SHARED, download=False)
    if name.startswith("musk"):
        table = compress(uci_text(bags)) if name == "musk1" else uci_text(bags)
        member = "clean1_data_Z" if name == "musk1" else "clean2_data"
        server.serve(f"musk+version+{name[-1]}.zip", zipped(**{member: table, "clean_names": b"about"}))
    else:
        server.serve(f"{name}.data", sparse_text(bags))
    assert_same(LOADERS[name](), bags)
    server.files.clear()
    assert_same(LOADERS[name](download=False), bags)  # from the cache


# ---------------------------------------------------------------- folders


def test_a_named_folder_and_the_environment(small, tmp_path, monkeypatch):
    assert_same(_benchmarks.load_musk1(tmp_path), small["musk1"])
    assert_same(_benchmarks.load_fox(str(tmp_path)), small["fox"])
    with pytest.raises(DataNotFound):
        _benchmarks.load_fox(download=False)
    monkeypatch.setenv("FUZZYMIL_DATA", str(tmp_path))
    assert_same(_benchmarks.load_fox(download=False), small["fox"])
    (tmp_path / "other").mkdir()
    assert_same(_benchmarks.load_fox(tmp_path / "other", download=False), small["fox"])  # then the environment's


def test_a_wrong_checksum_and_a_cut_file(small, tmp_path):
    path = tmp_path / "fox.csv.gz"
    whole = path.read_bytes()
    for content in (whole[:-20], gzip.compress(b"bag,label,f1\n1,1,2\n", mtime=0), b""):
        path.write_bytes(content)
        with pytest.raises(DataFileError, match=r"fox\.csv\.gz is not the.*file.*again") as caught:
            _benchmarks.load_fox(tmp_path)
        assert BENCHMARKS["fox"].file_checksum in str(caught.value)
        assert hashlib.sha256(content).hexdigest() in str(caught.value)
        names_the_three_ways(caught.value, "fox")


def test_an_own_table_is_checked_for_its_counts_only(small, tmp_path):
    (tmp_path / "fox.csv.gz").unlink()
    changed = small["fox"].map_instances(lambda values: values + 1)
    write_bags(changed, tmp_path / "fox.csv")
    assert_same(_benchmarks.load_fox(tmp_path), changed)
    write_bags(changed[[0, 1]], tmp_path / "fox.csv")
    with pytest.raises(DataFileError, match="expected 3 bags, 6 instances, 4 features, found 2 bags, 3 instances, 4"):
        _benchmarks.load_fox(tmp_path)


@pytest.mark.parametrize("name", LOADERS)
def test_the_error_tells_the_three_ways(name, tmp_path):
    with pytest.raises(DataNotFound, match="download=False") as caught:
        LOADERS[name](tmp_path, download=False)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, FileNotFoundError)
    assert str(tmp_path) in str(caught.value)
    names_the_three_ways(caught.value, name)


def test_a_folder_that_is_not_there_never_ends_in_a_download(tmp_path, monkeypatch, server):
    with pytest.raises(DataNotFound, match=r"data folder.*nowhere \(folder=\) does not exist"):
        _benchmarks.load_fox(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    monkeypatch.setenv("FUZZYMIL_DATA", str(tmp_path / "file"))
    with pytest.raises(DataNotFound, match=r"file \(FUZZYMIL_DATA\) is a file"):
        _benchmarks.load_fox()
    assert not server.asked


def test_a_file_without_the_right_to_read(small, tmp_path, monkeypatch):
    def refuse(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(DataFileError, match="Permission denied"):
        _benchmarks.load_fox(tmp_path)


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
    assert _download.address(home) == home
    monkeypatch.setenv("FUZZYMIL_MIRROR", "http://127.0.0.1:1/x/")
    assert _download.address(home) == "http://127.0.0.1:1/x/fox.data"


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


def test_progress_is_shown_on_a_terminal(small, server, monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    server.serve("fox.data", sparse_text(small["fox"]))
    _benchmarks.load_fox()
    shown = capsys.readouterr()
    assert "Downloading" in shown.err
    assert "Fox" in shown.err
    assert not shown.out


# ---------------------------------------------------------------- facts, checksums, packed files


def test_facts():
    assert list(BENCHMARKS) == ["musk1", "musk2", "fox", "tiger", "elephant"]
    for name, facts in BENCHMARKS.items():
        assert facts.name == name
        assert facts.n_positive + facts.n_negative == facts.n_bags
        assert f"{facts.n_bags} bags" in str(facts)
        assert facts.license in str(facts)
        assert len(facts.file_checksum) == len(facts.content_checksum) == 64
    with pytest.raises(ParameterError, match=r"benchmark dataset 'musk3'.*Did you mean 'musk"):
        describe("musk3")


def test_everything_public_is_exported():
    for name in datasets_module.__all__:
        assert hasattr(datasets_module, name)


def test_the_checksum_sees_content_and_not_order():
    bags = small_set("fox")
    same = content_checksum(bags)
    assert content_checksum(bags[[2, 0, 1]]) == same
    turned = Bags.from_list([part[::-1] for part in bags], labels=bags.labels, ids=bags.ids)
    assert content_checksum(turned) == same
    for changed in (
        bags[[0, 1]],
        bags.map_instances(lambda values: values + 1e-12),
        Bags(bags.instances, bags.offsets, ids=bags.ids, labels=[1, 0, 0]),
        Bags(bags.instances, bags.offsets, ids=[1, 2, 4], labels=bags.labels),
        Bags(bags.instances, [0, 1, 3, 6], ids=bags.ids, labels=bags.labels),
        Bags(bags.instances, bags.offsets, ids=bags.ids),
    ):
        assert content_checksum(changed) != same


@given(
    content=st.binary(max_size=3000) | st.text("ab,1\n", max_size=3000).map(str.encode),
    widest=st.sampled_from([10, 12, 16]),
    clear_after=st.none() | st.integers(1, 400),
)
def test_files_of_compress_are_unpacked(content, widest, clear_after):
    assert _lzw.decompress(compress(content, widest, clear_after)) == content


@pytest.mark.skipif(shutil.which("gzip") is None, reason="gzip, which also unpacks .Z files, is not installed")
def test_our_packing_is_that_of_the_real_program():
    content = np.random.default_rng(0).choice(list(b"0123456789,-\n"), 100_000).astype(np.uint8).tobytes()
    packed = compress(content, 14, 9000)
    assert _lzw.decompress(packed) == content
    assert subprocess.run(["gzip", "-dc"], input=packed, capture_output=True, check=True).stdout == content


@pytest.mark.parametrize(
    "packed", [b"", b"\x1f\x9d", b"\x1f\x8b\x90abc", b"\x1f\x9d\x91abc", b"\x1f\x9d\x90\xff\xff\xff"]
)
def test_what_compress_never_wrote(packed):
    with pytest.raises(ValueError, match=r"not a .Z file|bits|damaged"):
        _lzw.decompress(packed)

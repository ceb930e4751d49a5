"""Small sets in place of the benchmarks, in the formats of their public homes, and a server of them."""

import io
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from fuzzymil import Bags
from fuzzymil.datasets import BENCHMARKS


def small_set(kind):
    """Bags in the order of our files: positives first, then by id."""
    rng = np.random.default_rng(0)
    ids = ["MUSK-a", "MUSK-b", "NON-MUSK-a"] if kind == "musk1" else [1, 2, 3]
    sizes = [2, 1, 3]
    values = rng.integers(-99, 99, size=(6, 4)) if kind == "musk1" else rng.normal(size=(6, 4)).round(4)
    return Bags(
        values.astype(float), np.cumsum([0, *sizes]), ids=ids, labels=[1, 1, 0], feature_names=["f1", "f2", "f3", "f4"]
    )


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

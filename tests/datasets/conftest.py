"""What tests of files and of benchmark sets share."""

from dataclasses import replace

import pooch
import pytest
from small_benchmarks import Server, small_set

from fuzzymil.datasets import BENCHMARKS, write_bags
from fuzzymil.datasets._benchmarks import content_checksum


@pytest.fixture
def put(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """No test sees the user's settings or touches the user's cache."""
    monkeypatch.delenv("FUZZYMIL_DATA", raising=False)
    monkeypatch.delenv("FUZZYMIL_MIRROR", raising=False)
    folder = tmp_path / "cache"
    monkeypatch.setattr(pooch, "os_cache", lambda _: folder)
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
    return folder


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
            content_checksum=content_checksum(bags),
        )
        monkeypatch.setitem(BENCHMARKS, name, facts)
        found[name] = bags
    return found


@pytest.fixture
def server(monkeypatch):
    found = Server()
    monkeypatch.setenv("FUZZYMIL_MIRROR", found.address + "/")
    yield found
    found.close()

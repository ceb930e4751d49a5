"""Compiled programs on disk: where they are, who may use them, and how many there are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzzymil._utils import programs

COMPILES = """
import sys
from fuzzymil._utils.runtime import make_room
make_room()
import jax
events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name.rsplit("/", 1)[-1]))
print(jax.jit(lambda x: x * 3 + 1)(2.0), events.count("cache_hits"), events.count("cache_misses"))
"""


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR", raising=False)
    monkeypatch.setenv(programs.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


def start(**environment):
    return subprocess.Popen(
        [sys.executable, "-c", COMPILES],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "Warning" not in errors
    result, hits, misses = output.split()
    return float(result), int(hits), int(misses)


def entry(base, name, n_bytes, used):
    """Write an entry of this size that was used at this time."""
    path = base / "compiled" / "machine" / f"{name}-cache"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(n_bytes))
    os.utime(path, (used, used))
    return path


def test_the_next_process_compiles_nothing(base):
    result, hits, misses = outcome(start())
    assert (result, hits) == (7.0, 0)
    assert misses > 0
    assert programs.usage().n_programs == misses
    assert outcome(start()) == (7.0, misses, 0)


@pytest.mark.slow
def test_processes_share_a_folder_and_survive_damaged_entries(base):
    assert {outcome(process)[0] for process in [start() for _ in range(3)]} == {7.0}
    for path in base.glob("compiled/*/*-cache"):
        path.write_bytes(path.read_bytes()[:20])
    assert outcome(start())[0] == 7.0


@pytest.mark.slow
def test_entries_that_a_full_disk_left_empty_are_made_again(base):
    _, _, misses = outcome(start())
    for path in base.glob("compiled/*/*-cache"):
        path.write_bytes(b"")
    assert outcome(start()) == (7.0, 0, misses)
    assert outcome(start()) == (7.0, misses, 0)


@pytest.mark.slow
def test_nothing_is_kept_where_others_could_write_or_where_it_is_off(base):
    place = base / "compiled" / programs._machine()
    place.mkdir(parents=True)
    place.chmod(0o777)
    outcome(start())
    outcome(start(FUZZYMIL_CACHE="off"))
    assert programs.usage() == (0, 0)
    assert "others can write" in programs.obstacle()


def test_what_is_in_the_way_of_keeping_programs(base, tmp_path, monkeypatch):
    assert programs.obstacle() is None
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", "elsewhere")
    assert "elsewhere" in programs.obstacle()
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(programs.VARIABLE, str(tmp_path / "file"))
    assert "not a folder" in programs.obstacle()
    monkeypatch.setenv(programs.VARIABLE, "False")
    assert programs.obstacle() == "FUZZYMIL_CACHE=False"


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in (programs.VARIABLE, "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(programs.Path, "home", homeless)
    assert programs.folder() is None
    assert "home" in programs.obstacle()
    programs.keep()


def test_the_folder_follows_the_environment(base, tmp_path, monkeypatch):
    assert programs.folder() == base / "compiled"
    monkeypatch.setenv(programs.VARIABLE, "~/kept")
    assert programs.folder() == Path.home() / "kept" / "compiled"
    monkeypatch.setenv(programs.VARIABLE, "OFF")
    assert programs.folder() is None
    assert programs.usage() == programs.clear() == (0, 0)
    monkeypatch.delenv(programs.VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert programs.folder() == tmp_path / "fuzzymil" / "compiled"


def test_what_was_not_used_for_longest_is_removed(base):
    old, new, newest = (entry(base, name, 400, used) for name, used in (("a", 1), ("b", 2), ("c", 3)))
    programs._trim(base / "compiled", 1200)
    assert old.exists()
    programs._trim(base / "compiled", 1100)  # leaves three quarters of it
    assert [path.exists() for path in (old, new, newest)] == [False, True, True]


def test_clearing_removes_programs_and_nothing_else(base):
    entry(base, "a", 10, 1)
    mine = base / "compiled" / "machine" / "notes.txt"
    mine.write_text("mine")
    assert programs.clear() == (1, 10)
    assert programs.usage() == (0, 0)
    assert mine.read_text() == "mine"
    assert mine.parent.exists()  # running processes go on writing there


@pytest.mark.skipif(os.name != "posix", reason="needs links")
def test_a_folder_of_programs_that_is_a_link_is_not_used(base, tmp_path):
    (tmp_path / "victim").mkdir(mode=0o700)
    (tmp_path / "victim" / "my-cache").write_text("mine")
    (tmp_path / "victim" / "xla_mine").mkdir()
    (base / "compiled").mkdir(parents=True)
    (base / "compiled" / programs._machine()).symlink_to(tmp_path / "victim")
    assert "is a link" in programs.obstacle()
    programs.clear()
    assert sorted(os.listdir(tmp_path / "victim")) == ["my-cache", "xla_mine"]

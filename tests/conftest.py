"""Compiled programs are kept between test runs (and shared by parallel workers): compiling is most of the time."""

import errno
import io
import os
import signal
import tempfile
import types
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), "fuzzymil-test-programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")
settings.register_profile(
    "busy", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("busy")  # the same examples every time; a busy machine is no failure
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore Ctrl-C, which tests press


@pytest.fixture(autouse=True)
def no_earlier_ctrl_c(monkeypatch):
    """Forget interrupts of earlier tests: two in short order stop everything."""
    from fuzzymil.learn.train import trainer

    monkeypatch.setattr(trainer, "_last_interrupt", float("-inf"))


@pytest.fixture
def full_disks(monkeypatch):
    """Folders whose disks are full, each with the bytes that a new file there still takes."""
    from fuzzymil._utils import storage

    folders = {}

    class File(io.FileIO):
        def write(self, data):
            path = Path(os.readlink(f"/proc/self/fd/{self.fileno()}"))
            room = min(
                [folders[folder] for folder in folders if path.is_relative_to(folder)], default=len(data) + 2**40
            )
            if self.tell() >= room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().write(data[: room - self.tell()])

    if not os.path.exists("/proc/self/fd"):
        pytest.skip("needs /proc")
    monkeypatch.setattr(storage, "io", types.SimpleNamespace(**{**vars(io), "FileIO": File}))
    return folders


SLOW = (
    "docs/coming-from.md",
    "docs/decisions.md",
    "docs/embeddings.md",
    "docs/groups.md",
    "docs/landmine.md",
    "docs/mamdani.md",
    "docs/rules.md",
    "docs/scaling.md",
    "docs/settings.md",
    "docs/speed.md",
    "docs/understanding.md",
    "docs/tutorials",
    "docs/which-problem.md",
    "paper/methods",
    "paper/radar/alarms.py",
    "src/fuzzymil/bags/_stream.py",
    "src/fuzzymil/comparators/networks.py",
    "src/fuzzymil/estimators/_cross_validation.py",
    "src/fuzzymil/estimators/mianfis.py",
    "src/fuzzymil/report/_report.py",
    "tests/comparators/test_sklearn_checks.py",
    "tests/estimators/test_clusters.py",
    "tests/estimators/test_sklearn_checks.py",
    "tests/paper",
    "tests/report/test_browser.py",
    "tests/train/test_jang.py",
)
"""Files and folders that only `make test-slow` runs; single tests have a mark of their own."""


def pytest_ignore_collect(collection_path, config):
    """Do not even import what only `make test-slow` runs."""
    slow = (config.rootpath / path for path in SLOW)
    return True if config.option.markexpr == "not slow" and any(map(collection_path.is_relative_to, slow)) else None


def pytest_collection_modifyitems(config, items):
    """Mark the tests and doctests of `SLOW`."""
    slow = tuple(str(config.rootpath / path) for path in SLOW)
    for item in items:
        if str(item.path).startswith(slow):
            item.add_marker(pytest.mark.slow)

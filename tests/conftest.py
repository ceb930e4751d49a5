"""Compiled programs are kept between test runs (and shared by parallel workers): compiling is most of the time."""

import os
import tempfile

import pytest

os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", os.path.join(tempfile.gettempdir(), "fuzzymil-test-programs"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.1")


@pytest.fixture(autouse=True)
def no_earlier_ctrl_c(monkeypatch):
    """Forget interrupts of earlier tests: two in short order stop everything."""
    from fuzzymil.training import trainer

    monkeypatch.setattr(trainer, "_last_interrupt", float("-inf"))

"""Threads and kept programs, each in a process of its own: both are settled before the first computation."""

import os
import subprocess
import sys

import pytest


def in_new_process(code, **environment):
    clean = {name: value for name, value in os.environ.items() if name not in ("NPROC", "OMP_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean | environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_the_thread_limit_of_a_joblib_worker_is_heeded():
    code = "import os, fuzzymil; print(os.environ.get('NPROC'))"
    assert in_new_process(code, OMP_NUM_THREADS="1") == "1"
    assert in_new_process(code, OMP_NUM_THREADS="2", NPROC="3") == "3"
    assert in_new_process(code) == "None"
    assert in_new_process(code, OMP_NUM_THREADS="many") == "None"


@pytest.mark.slow
def test_compiled_programs_are_kept(tmp_path):
    code = (
        "import sys; from fuzzymil._utils.runtime import enable_compilation_cache\n"
        f"print(enable_compilation_cache({str(tmp_path)!r}))\n"
        "import jax; jax.jit(lambda x: x + 1)(1.0)"
    )
    assert in_new_process(code) == str(tmp_path)
    assert any(tmp_path.iterdir())


@pytest.mark.slow
def test_the_cache_folder_follows_the_environment(tmp_path):
    code = "from fuzzymil._utils.runtime import enable_compilation_cache; print(enable_compilation_cache())"
    assert in_new_process(code, JAX_COMPILATION_CACHE_DIR=str(tmp_path / "a")) == str(tmp_path / "a")
    home = {"XDG_CACHE_HOME": str(tmp_path / "b"), "JAX_COMPILATION_CACHE_DIR": ""}
    if sys.platform == "linux":
        assert in_new_process(code, **home) == str(tmp_path / "b" / "fuzzymil" / "compiled")

"""Threads and forks, each in a process of its own: they are settled before the first computation."""

import os
import subprocess
import sys

import pytest

from fuzzymil._utils import runtime
from fuzzymil._utils.errors import InputError


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


FORK = """
import os, sys, warnings
import numpy as np
from fuzzymil import MIANFISClassifier, RuleBase, Training
warnings.simplefilter("ignore")  # JAX has one of its own
rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
bags = [[[0.0]], [[1.0]], [[0.2]], [[0.9]]]
model = MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0)
uses = {
    "infer": lambda: rules.infer([np.zeros((34_000_000, 1))]),
    "infer little": lambda: rules.infer(bags),
    "fit": lambda: model.fit(bags, [0, 1, 0, 1]),
}
first, then = sys.argv[1:]
if first != "nothing":
    uses[first]()
if os.fork() == 0:
    try:
        uses[then]()
    except RuntimeError as problem:
        print(problem)
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("first", "then", "words"),
    [
        ("fit", "fit", "'spawn'"),
        pytest.param("infer", "fit", "'spawn'", marks=pytest.mark.slow),
        pytest.param("fit", "infer", "'spawn'", marks=pytest.mark.slow),
        pytest.param("nothing", "infer", "", marks=pytest.mark.slow),
        pytest.param("fit", "infer little", "", marks=pytest.mark.slow),
    ],
)
def test_a_fork_of_a_process_that_has_computed_is_told_to_spawn(first, then, words):
    done = subprocess.run(
        [sys.executable, "-c", FORK, first, then], capture_output=True, text=True, timeout=300, check=True
    )
    assert words in done.stdout
    assert bool(words) == bool(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_jax_is_refused_where_it_would_abort(monkeypatch):
    import resource

    monkeypatch.delitem(sys.modules, "jax", raising=False)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**6, 10**6))
    with pytest.raises(InputError, match=r"Training needs 1\.8 GB of address space, but 0 bytes are left.*ulimit"):
        runtime.require_jax("Training")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    runtime.require_jax("Training")

"""Real launchers of clusters start the processes of `fuzzymil fit --distributed`, here all on one machine."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fuzzymil import load_model

VISITS = Path(__file__).parents[2] / "examples" / "visits.csv"
FIT = ["fit", str(VISITS), "--bag", "user", "--label", "converted", "--init", "kmeans", "--n-rules", "2"]


def mpirun(n):
    """Open MPI: needs nothing but its package."""
    if shutil.which("mpirun") is None:
        pytest.skip("needs Open MPI: mpirun is not installed")
    return ["mpirun", "--oversubscribe", "-n", str(n)]


def srun(n):
    """SLURM: needs a cluster that is running, which may be this one machine."""
    if shutil.which("srun") is None:
        pytest.skip("needs SLURM: srun is not installed")
    state = subprocess.run(["sinfo", "--noheader", "--format", "%T"], capture_output=True, text=True, timeout=60)
    if "idle" not in state.stdout:
        pytest.skip(f"needs SLURM with an idle node: sinfo says {(state.stdout or state.stderr).strip()!r}")
    return ["srun", "--ntasks", str(n), "--kill-on-bad-exit=1"]


def fitted(launcher, folder, *options):
    path = folder / f"model-{len(launcher)}.json"
    command = [*launcher, sys.executable, "-m", "fuzzymil", *FIT, *options, "-o", str(path)]
    # Open MPI refuses to run as root, as in a container, unless told twice.
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = os.environ | root | {"JAX_PLATFORMS": "cpu", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return load_model(path), done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("launcher", [mpirun, srun], ids=lambda launcher: launcher.__name__)
def test_four_processes_learn_what_one_learns(launcher, tmp_path):
    together, said = fitted(launcher(4), tmp_path, "--distributed")
    assert said.count("Learned 2 rules") == 1, said  # one of them speaks
    alone, _ = fitted([], tmp_path)
    np.testing.assert_allclose(together.rules_.centers, alone.rules_.centers, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(together.rules_.coefs, alone.rules_.coefs, atol=1e-3)

"""Try an installed package as a user would: ``python tests/smoke.py``, in an environment with nothing else in it.

It imports every module, learns rules from Python and on the command line, and fails if the package that it finds is not
an installed one. ``nox`` runs it on every Python there is.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from fuzzymil import RuleClassifier

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
EXTRAS = ("jax", "optax", "torch", "starlette", "uvicorn", "websockets", "anywidget")  # that modules may import at once
COMMANDS = ("fit", "evaluate", "predict", "explain", "rules", "studio", "plot", "report", "demo", "cache")
COMMANDS += ("data", "data list", "data fetch", "data describe", "data convert")


def check_installed() -> None:
    """Check that Python finds the installed package, with its marker for type checkers, and not the source."""
    import fuzzymil

    exec("from fuzzymil import *", names := {})
    assert {*fuzzymil.__all__} <= {*names}
    found = Path(fuzzymil.__file__).resolve().parent
    assert found.is_relative_to(Path(sysconfig.get_path("purelib")).resolve()), f"not installed: {found}"
    assert (found / "py.typed").is_file()
    print(f"fuzzymil {fuzzymil.__version__} on Python {sys.version.split()[0]}: {found}")


def check_modules() -> None:
    """Import every module, except for those of extras that are not installed."""
    import fuzzymil

    names = [module.name for module in pkgutil.walk_packages(fuzzymil.__path__, "fuzzymil.", onerror=lambda name: None)]
    absent = []
    for name in names:
        try:
            if name != "fuzzymil.__main__":
                importlib.import_module(name)
        except ImportError as problem:
            if not any(extra in str(problem) and find_spec(extra) is None for extra in EXTRAS):
                raise
            absent.append(name)
    print(f"imported {len(names) - len(absent)} modules, not {len(absent)} that need extras")


def check_python() -> None:
    """Choose rules, and train a network; without JAX, read what to install."""
    from fuzzymil import MIANFISClassifier, MissingExtraError
    from fuzzymil.datasets import make_two_concepts

    bags = make_two_concepts(random_state=3)
    for model in (RuleClassifier(random_state=0), MIANFISClassifier(n_rules=4, random_state=0)):
        try:
            accuracy = model.fit(bags[::2]).score(bags[1::2])
        except MissingExtraError as problem:
            if model.init != "kmeans" or find_spec("jax") is not None:
                raise
            print(problem)
            continue
        assert accuracy > 0.8, (model, accuracy)
        print(f"{model.rules_.n_rules} rules, accuracy {accuracy:.3f}")


def check_commands() -> None:
    """Run the commands that a table goes through, from data to report."""
    program = Path(sysconfig.get_path("scripts")) / "fuzzymil"
    with tempfile.TemporaryDirectory() as folder:
        for arguments in (
            ["--version"],
            *([*command.split(), "--help"] for command in COMMANDS),
            ["demo"],
            ["fit", EXAMPLES / "visits.csv", "--bag", "user", "--label", "converted"],
            ["rules", "model.json"],
            ["predict", "model.json", EXAMPLES / "visits.csv"],
            ["explain", "model.json", EXAMPLES / "visits.csv", "--id", "u007"],
            ["report", "model.json", EXAMPLES / "visits.csv", "--folds", "2"],
        ):
            began = time.perf_counter()
            done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            print(f"fuzzymil {' '.join(map(str, arguments[:2]))}: {time.perf_counter() - began:.1f} s")
        assert (Path(folder) / "report.html").stat().st_size > 100_000


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.split("\n")[0]).parse_args()
    check_installed()
    check_modules()
    check_python()
    check_commands()

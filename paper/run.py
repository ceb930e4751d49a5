"""Run experiments: check everything first, save each finished unit, then write numbers, figures and the page."""

from __future__ import annotations

import contextlib
import platform
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import matplotlib as mpl
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError
from fuzzymil._utils.own_files import make_own_folder
from fuzzymil._version import __version__
from paper.benchmarks import BENCHMARK
from paper.convergence import CONVERGENCE
from paper.dropout import DROPOUT
from paper.experiment import Experiment, Options, Parts, Results, Unit, results_of
from paper.landmine import LANDMINE
from paper.page import render, show
from paper.peers import PEER_METHODS
from paper.planted import PLANTED_PROBLEMS
from paper.rules import RULES
from paper.synthetic import SYNTHETIC
from paper.table import TABLE

EXPERIMENTS = {
    each.name: each
    for each in (
        SYNTHETIC,
        BENCHMARK,
        DROPOUT,
        CONVERGENCE,
        RULES,
        PLANTED_PROBLEMS,
        TABLE,
        PEER_METHODS,
        LANDMINE,
    )
}
KIND, VERSION = "fuzzymil-results", 1
LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy")  # whose versions are recorded
DISK_SPACE = 50 * 2**20  # bytes; all files of a full run stay well below


class Stopped(Exception):
    """The user pressed Ctrl-C; finished units are saved.

    Parameters
    ----------
    done, total : int
        Number of finished units, and of all units.
    """

    def __init__(self, done: int, total: int) -> None:
        super().__init__(f"{done} of {total} units finished and saved")
        self.done, self.total = done, total


def reproduce(names: Sequence[str], output: Path, options: Options, console: Console) -> dict[str, Results]:
    """Run experiments and write their numbers, figures and the page.

    Parameters
    ----------
    names : sequence of str
        Keys of `EXPERIMENTS`.
    output : Path
        Output folder. Results of an earlier run with the same settings are reused.
    options : Options
    console : Console

    Returns
    -------
    dict
        The contents of each experiment's ``results.json``, by name.

    Raises
    ------
    InputError
        If data are missing or damaged, or the output folder cannot be written to. Raised before any work.
    Stopped
        On Ctrl-C.
    """
    mpl.use("Agg")  # files only: needs no display
    chosen = [EXPERIMENTS[name] for name in names]
    _check_output(output)
    for experiment in chosen:
        if experiment.check is not None:
            experiment.check(options)
    plans = {e.name: (Parts(output / e.name / "parts"), e.units(options)) for e in chosen}
    _introduce(plans, output, options, console)
    found: dict[str, Results] = {}
    with _bar(console) as bar, _ctrl_c() as pressed:
        task = bar.add_task("", total=sum(unit.cost for _, units in plans.values() for unit in units))
        done = 0
        for experiment in chosen:
            parts, units = plans[experiment.name]

            def announce(unit: Unit, finished: bool, name: str = experiment.name) -> None:
                nonlocal done
                done += finished
                bar.update(task, description=f"{name}: {unit.label}", advance=unit.cost if finished else None)

            try:
                results = results_of(units, parts, options.jobs, pressed, announce)
            except KeyboardInterrupt:
                raise Stopped(done, sum(len(units) for _, units in plans.values())) from None
            found[experiment.name] = _finish(experiment, output / experiment.name, options, results)
            show(experiment.section(found[experiment.name]), bar.console)
    with storage.own_names():
        storage.write_atomically(output / "index.html", _page(output))
    console.print(f"Wrote {output}/index.html, and results.json and figures (PNG, SVG) for each experiment.")
    return found


def _check_output(output: Path) -> None:
    """Raise an error before any work if the results could not be written."""
    try:
        output.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output) as probe:
            probe.write(b"writable")
        free = shutil.disk_usage(output).free
    except FileExistsError:
        raise InputError(f"{output} is a file: the output must be a folder.") from None
    except OSError as problem:
        raise InputError(f"Cannot write to {output}: {problem.strerror}.") from None
    if free < DISK_SPACE:
        raise InputError(
            f"Cannot write to {output}: {free // 2**20} MB of disk space free, {DISK_SPACE // 2**20} MB needed."
        )


def _introduce(plans: dict[str, tuple[Parts, list[Unit]]], output: Path, options: Options, console: Console) -> None:
    console.print(
        f"[bold]fuzzymil {__version__}[/bold]: the paper's experiments, {'quick' if options.quick else 'full'} run"
    )
    console.print(f"Seed {options.seed}, output folder {output}")
    for name, (parts, units) in plans.items():
        saved = sum(parts.path(unit).exists() for unit in units)
        reused = f", {saved} already finished" if saved else ""
        console.print(f"  {name}: {len(units)} units{reused}", highlight=False)


def _bar(console: Console) -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
    )
    return Progress(*columns, TimeRemainingColumn(elapsed_when_finished=False), console=console)


@contextlib.contextmanager
def _ctrl_c() -> Iterator[threading.Event]:
    """Record Ctrl-C: training then returns a half-trained model, which must not become a result."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return

    def interrupt(*_: Any) -> None:
        event.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, before)


def _finish(experiment: Experiment, folder: Path, options: Options, parts: list[Results]) -> Results:
    results = {
        "seed": options.seed,
        "quick": options.quick,
        "versions": {
            "fuzzymil": __version__,
            "python": platform.python_version(),
            **{n: version(n) for n in LIBRARIES},
        },
        **experiment.collect(options, parts),
    }
    make_own_folder(folder)
    with storage.own_names():
        experiment.draw(results, folder)
        storage.write_document(folder / "results.json", KIND, VERSION, {"experiment": experiment.name, **results})
    return results


def _page(output: Path) -> str:
    """Render all experiments with results in the folder, including those of earlier commands."""
    sections = []
    for experiment in EXPERIMENTS.values():
        folder = output / experiment.name
        try:
            results = storage.read_document(folder / "results.json", {KIND: VERSION})
            section = experiment.section(results)
        except (FileNotFoundError, ModelFileError, KeyError):
            continue  # not run yet, or by another version
        facts = {
            "Run": "quick (fewer datasets, repeats and starts than the paper)" if results["quick"] else "full",
            "Seed": str(results["seed"]),
            "Versions": ", ".join(f"{name} {number}" for name, number in results["versions"].items()),
            "Numbers": f"{experiment.name}/results.json",
        }
        sections.append((section, folder, facts))
    command = "python -m paper all --output FOLDER (add --quick for a few minutes, --seed N for another random seed)"
    return render(sections, {"Command": command})

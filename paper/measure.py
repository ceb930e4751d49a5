"""``python -m paper.measure peers --output DIR``: measure, without figures, page and what they need.

A machine with many cores may have NumPy, SciPy and scikit-learn only. What it measures is saved as by ``python -m
paper``, which draws and writes where there is more: there, the same command goes on with the same output folder.
"""

from __future__ import annotations

import _thread
import argparse
import importlib
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from paper.experiment import REPORTED_SEED, Options, Parts, Unit, results_of

EXPERIMENTS = {"peers": "paper.peers:PEER_METHODS"}
"""Where the experiments are that need no more."""


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(","))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m paper.measure", description=__doc__.split(":", 1)[1])
    add = parser.add_argument
    add("experiment", choices=EXPERIMENTS)
    add("-o", "--output", type=Path, default=Path("fuzzymil-results"), metavar="FOLDER")
    add("--data", type=Path, metavar="FOLDER")
    add("--seed", type=int, default=REPORTED_SEED, metavar="NUMBER")
    add("--repeats", type=int, metavar="NUMBER")
    add("--jobs", type=int, metavar="NUMBER", help="number of processes (default: one per core)")
    add("--quick", action="store_true")
    add("--methods", type=_names, metavar="NAME,NAME,...", help="only these; a minus before all: all but these")
    add("--sets", type=_names, metavar="NAME,NAME,...", help="only these")
    add("--minutes", type=float, metavar="NUMBER", help="stop after so long; the same command goes on")
    given = parser.parse_args(arguments)
    module, name = EXPERIMENTS[given.experiment].split(":")
    options = Options(given.seed, given.quick, given.repeats, given.data, given.jobs)
    units = getattr(importlib.import_module(module), name).units(options)
    for key, wanted in (("method", given.methods), ("set", given.sets)):
        _check_names(parser, key, wanted, units)
        units = [unit for unit in units if _is_wanted(str(unit.settings[key]), wanted)]
    print(f"{given.experiment}: {len(units)} units, seed {options.seed}, output folder {given.output}", flush=True)
    return _measure(units, Parts(given.output / given.experiment / "parts"), given.jobs, given.minutes)


def _check_names(
    parser: argparse.ArgumentParser, key: str, wanted: tuple[str, ...] | None, units: Sequence[Unit]
) -> None:
    known = list(dict.fromkeys(str(unit.settings[key]) for unit in units))
    for name in wanted or ():
        if name.removeprefix("-") not in known:
            parser.error(f"--{key}s: expected some of {', '.join(known)}; got {name}")


def _is_wanted(name: str, wanted: tuple[str, ...] | None) -> bool:
    if not wanted:
        return True
    return f"-{name}" not in wanted if wanted[0].startswith("-") else name in wanted


def _measure(units: Sequence[Unit], parts: Parts, jobs: int | None, minutes: float | None) -> int:
    begin, done = time.monotonic(), 0
    told = begin

    def announce(unit: Unit, finished: bool) -> None:
        nonlocal done, told
        done += finished
        if finished and (time.monotonic() > told + 5 or done == len(units)):
            told = time.monotonic()
            print(f"{done} of {len(units)}, {told - begin:.0f} s: {unit.label}", flush=True)

    alarm = threading.Timer(60 * minutes, _thread.interrupt_main) if minutes else None  # as if by Ctrl-C
    if alarm is not None:
        alarm.daemon = True
        alarm.start()
    try:
        results = results_of(units, parts, jobs, threading.Event(), announce)
    except KeyboardInterrupt:
        print(f"Stopped: {done} of {len(units)} units finished and saved. The same command goes on.", flush=True)
        return 130
    finally:
        if alarm is not None:
            alarm.cancel()
    missing = [
        (unit.label, result["not_run"]) for unit, result in zip(units, results, strict=True) if "again" in result
    ]
    for label, why in missing:
        print(f"Not run: {label} ({why})")
    return 0


if __name__ == "__main__":
    sys.exit(main())

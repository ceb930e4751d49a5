"""``python -m paper landmine --quick --output DIR``: the command line of the experiments."""

from __future__ import annotations

import argparse
import json
import math
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from fuzzymil import InputError
from paper.experiment import REPORTED_SEED, Options
from paper.run import EXPERIMENTS, Stopped, reproduce

LEAST_BAGS = 20  # with fewer, some methods could not hold out bags of both classes


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected an integer of at least 1, got {text!r}")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected an integer of at least 0, got {text!r}")
    return int(text)


def _training_bags(text: str) -> tuple[int, ...]:
    """Return the numbers of training bags in a list such as ``60,200``, in increasing order."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) >= LEAST_BAGS for word in words):
        raise argparse.ArgumentTypeError(
            f"expected numbers of training bags, at least {LEAST_BAGS} each, with commas between them (60,200); "
            f"got {text!r}"
        )
    return tuple(sorted({int(word) for word in words}))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m paper",
        description="Run the paper's experiments and show their results next to the published ones. Finished results "
        "are kept: after Ctrl-C, the same command resumes where it stopped.",
        epilog="Example: python -m paper all --quick --output results --data my-data",
    )
    add = parser.add_argument
    add("experiment", choices=[*EXPERIMENTS, "all"], help="experiment to run")
    add("-o", "--output", type=Path, default=Path("fuzzymil-results"), metavar="FOLDER",
        help="folder for numbers, figures and the page (default: %(default)s)")  # fmt: skip
    add("--quick", action="store_true", help="finish within minutes: fewer datasets, folds, repeats and epochs")
    add("--seed", type=_seed, default=REPORTED_SEED, metavar="NUMBER", help="random seed (default: %(default)s)")
    add("--data", type=Path, metavar="FOLDER",
        help="folder with the benchmark files (default: $FUZZYMIL_DATA, or download)")  # fmt: skip
    add("--repeats", type=_count, metavar="NUMBER",
        help="repeats of each cross-validation (default: 5; table and landmine: 3; with --quick: 1), "
        "or datasets of each kind (planted: 10; with --quick: 2)")  # fmt: skip
    add("--jobs", type=_count, metavar="NUMBER",
        help="processes for benchmarks, planted, table and landmine (default: one per core)")  # fmt: skip
    add("--sizes", type=_training_bags, metavar="N,N,...",
        help="numbers of training bags for planted (default: 60,120,200,400; with --quick: 120)")  # fmt: skip
    add("--json", action="store_true", help="print the results as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    given = _parser().parse_args(arguments)
    options = Options(given.seed, given.quick, given.repeats, given.data, given.jobs, given.sizes)
    names = list(EXPERIMENTS) if given.experiment == "all" else [given.experiment]
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_: print(f"Warning: {message}", file=sys.stderr)
        try:
            results = reproduce(names, given.output, options, Console(quiet=given.json))
        except Stopped as stopped:
            print(f"Stopped: {stopped}. Run the same command again to resume.", file=sys.stderr)
            return 130
        except InputError as problem:
            print(f"Error: {problem}", file=sys.stderr)
            return 2
        except OSError as problem:
            print(f"Error: Cannot write results: {problem}", file=sys.stderr)
            return 1
    if given.json:
        print(json.dumps(_without_nan(results), indent=1, ensure_ascii=False, allow_nan=False))
    return 0


def _without_nan(value: Any) -> Any:
    """Replace what JSON does not have, NaN and infinities, by None."""
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


if __name__ == "__main__":
    sys.exit(main())

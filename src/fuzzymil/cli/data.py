"""The commands about data: ``data list``, ``fetch``, ``describe`` and ``convert``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import STANDARD, check_target, emit, emit_json, emit_table, note
from fuzzymil.cli._inputs import Columns, read_data

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

__all__ = ["convert", "describe", "fetch", "list_sets"]

data = typer.Typer(
    help="Benchmark sets, and files of bags: list, fetch, describe, convert.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data, name="data")


def set_names(incomplete: str) -> list[str]:
    """Complete the name of a benchmark set."""
    from fuzzymil.datasets import BENCHMARKS

    return [name for name in BENCHMARKS if name.startswith(incomplete)]


@data.command("list", epilog=examples("fuzzymil data list"))
def list_sets(as_json: _options.AsJson = False) -> None:
    """List the benchmark sets that fetch knows."""
    import dataclasses

    from fuzzymil.datasets import BENCHMARKS

    if as_json:
        emit_json([dataclasses.asdict(known) for known in BENCHMARKS.values()])
        return
    emit_table(
        ["name", "title", "bags", "positive", "instances", "features"],
        [
            [
                known.name,
                known.title,
                *(str(n) for n in (known.n_bags, known.n_positive, known.n_instances, known.n_features)),
            ]
            for known in BENCHMARKS.values()
        ],
        left=2,
    )
    note("fuzzymil data describe NAME tells license and reference; fuzzymil data fetch NAME gets one.")


@data.command(epilog=examples("fuzzymil data fetch musk1 musk2 -o data"))
def fetch(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="musk1, musk2, fox, tiger, elephant.", autocompletion=set_names),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to write NAME.csv.")] = Path(
        "."
    ),
    folder: Annotated[
        Path | None, typer.Option(help="Folder that has them already (default: FUZZYMIL_DATA, else a download).")
    ] = None,
    as_json: _options.AsJson = False,
) -> None:
    """Get benchmark sets, from a folder or by download, checked, and write them as CSV."""
    from fuzzymil import datasets

    if output.exists() and not output.is_dir():
        raise InputError(f"{output} is a file: --output needs a folder.")
    for name in names:
        datasets.describe(name)  # all names are known before the first is fetched
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        bags = getattr(datasets, f"load_{name}")(folder)
        path = output / f"{name}.csv"
        datasets.write_bags(bags, path, "csv")
        note(f"Wrote {path}: {_in_words(bags)}.")
        written.append({"name": name, "file": path, "n_bags": bags.n_bags, "n_instances": bags.n_instances})
    if as_json:
        emit_json(written)


@data.command(
    epilog=examples("fuzzymil data describe visits.csv --bag user --label converted", "fuzzymil data describe musk1")
)
def describe(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="File of bags (- reads standard input), or the name of a benchmark set.",
            autocompletion=set_names,
            show_default=False,
        ),
    ],
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    drop: _options.Drop = None,
    format: _options.DataFormat = None,
    as_json: _options.AsJson = False,
) -> None:
    """Tell what is in a file of bags, or what is known of a benchmark set."""
    import dataclasses

    from fuzzymil.datasets import BENCHMARKS

    if source in BENCHMARKS and not Path(source).exists():
        known = BENCHMARKS[source]
        if as_json:
            emit_json(dataclasses.asdict(known))
        else:
            emit(str(known).replace(". ", ".\n"))
        return
    bags = read_data(Path(source), Columns.from_options(bag, label, drop), format).bags
    found = _described(bags)
    if as_json:
        emit_json(found)
        return
    emit(f"{_in_words(bags)}; {found['n_missing']} missing values")
    if found["labels"]:
        emit("labels: " + ", ".join(f"{name} ({count} bags)" for name, count in found["labels"].items()))
    emit("")
    emit_table(
        ["feature", "least", "mean", "greatest", "missing"],
        [
            [each["name"], *(_number(each[key]) for key in ("least", "mean", "greatest")), str(each["missing"])]
            for each in found["features"]
        ],
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _in_words(bags: Bags) -> str:
    return str(bags).removeprefix("Bags(").removesuffix(")")


def _described(bags: Bags) -> dict[str, Any]:
    """Return counts, labels and the range of every feature."""
    import numpy as np

    labels: dict[Any, int] = {}
    if bags.labels is not None:
        values, counts = np.unique(bags.labels, return_counts=True)
        few = bags.labels.dtype.kind != "f" and len(values) <= 20
        labels = dict(zip(map(str, values), counts.tolist(), strict=True)) if few else {}
    known = ~np.isnan(bags.instances)
    columns = [bags.instances[rows, d] for d, rows in enumerate(known.T)]
    return {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "n_features": bags.n_features,
        "instances_a_bag": {"least": int(bags.sizes.min()), "greatest": int(bags.sizes.max())},
        "n_missing": int((~known).sum()),
        "labels": labels,
        "features": [
            {
                "name": name,
                "least": float(values.min()) if len(values) else None,
                "mean": float(values.mean()) if len(values) else None,
                "greatest": float(values.max()) if len(values) else None,
                "missing": int(bags.n_instances - len(values)),
            }
            for name, values in zip(bags.names, columns, strict=True)
        ],
    }


@data.command(
    epilog=examples(
        "fuzzymil data convert visits.csv visits.arff --bag user --label converted",
        "fuzzymil data convert clean1.data - > musk1.csv",
    )
)
def convert(
    source: _options.Data,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="Its ending tells the format: .csv, .txt, .svm, .arff, .mat, .parquet, none for a folder of .npy; - "
            "is CSV on standard output.",
            show_default=False,
        ),
    ],
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    drop: _options.Drop = None,
    format: _options.DataFormat = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", autocompletion=_options.format_names, help="Format to write, if not by the ending."
        ),
    ] = None,
    as_json: _options.AsJson = False,
) -> None:
    """Convert between the formats of bags."""
    from fuzzymil.datasets import write_bags

    if target != STANDARD and to is None and target.suffix:
        check_target(target)
    if as_json and target == STANDARD:
        raise ParameterError("--json and the data would both go to standard output: name a file to write.")
    bags = read_data(source, Columns.from_options(bag, label, drop), format).bags
    if target == STANDARD:
        with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
            path = Path(folder) / "bags.csv"
            write_bags(bags, path, to or "csv")
            emit(path.read_text(encoding="utf-8").removesuffix("\n"))
        return
    try:
        write_bags(bags, target, to)
    except ParameterError as problem:  # of this command's two formats, the one that is written
        raise ParameterError(str(problem).replace("format=", "--to")) from None
    note(f"Wrote {target}.")
    if as_json:
        emit_json({"file": target, "n_bags": bags.n_bags, "n_instances": bags.n_instances})

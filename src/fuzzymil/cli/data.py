"""``fuzzymil data``: list and fetch benchmark datasets, describe and convert files."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil._utils.storage import own_names
from fuzzymil._utils.text import quantity
from fuzzymil.cli import _console
from fuzzymil.cli._app import DATA, Application, Group, app
from fuzzymil.cli._console import STANDARD, emit, emit_json, emit_table, is_terminal, note
from fuzzymil.cli._inputs import Columns, read_data, summary
from fuzzymil.cli._options import AsJson, Data, Seed, TrainingData, argument, format_names, option
from fuzzymil.cli._settings import Task, TaskOption, infer_task

if TYPE_CHECKING:
    from fuzzymil._utils.arrays import Array
    from fuzzymil.bags import Bags
    from fuzzymil.learn.choose import DataDiagnosis

_MOST_FEATURES = 20  # to print

data = Application(
    cls=Group,
    help="List and fetch benchmark datasets; describe and convert files.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(data, name="data", rich_help_panel=DATA)


def set_names(incomplete: str) -> list[str]:
    """Complete the name of a benchmark dataset."""
    from fuzzymil.datasets import BENCHMARKS

    return [name for name in BENCHMARKS if name.startswith(incomplete)]


@data.command("list")
def list_sets(as_json: AsJson = False) -> None:
    """List the benchmark datasets.

    Examples
    --------
    fuzzymil data list
    """
    from fuzzymil.datasets import BENCHMARKS

    sets = [dataclasses.asdict(known) for known in BENCHMARKS.values()]
    if as_json:
        emit_json(sets)
        return
    shown = ("name", "title", "n_bags", "n_positive", "n_instances", "n_features")
    rows = [[str(known[name]) for name in shown] for known in sets]
    emit_table([name.removeprefix("n_") for name in shown], rows, left=2)
    note("License and reference: fuzzymil data describe NAME. Download: fuzzymil data fetch NAME.")


@data.command()
def fetch(
    names: Annotated[
        list[str], argument("NAME", "Datasets: musk1, musk2, fox, tiger, elephant.", autocompletion=set_names)
    ],
    output: Annotated[Path, option("FOLDER", "Folder for the CSV files.", "--output", "-o")] = Path("."),
    folder: Annotated[
        Path | None, option("FOLDER", "Folder with the benchmark files (default: $FUZZYMIL_DATA, or download).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Download benchmark datasets, verify them and write them as CSV.

    Examples
    --------
    fuzzymil data fetch musk1 musk2 -o data
    """
    from fuzzymil import datasets

    _console.check_folder(output)
    for name in names:
        datasets.describe(name)  # check all names before fetching the first
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        bags = getattr(datasets, f"load_{name}")(folder)
        path = output / f"{name}.csv"
        with own_names():
            datasets.write_bags(bags, path, "csv")
        note(f"Wrote {path}: {summary(bags)}.")
        written.append({"name": name, "file": path, "n_bags": bags.n_bags, "n_instances": bags.n_instances})
    if as_json:
        emit_json(written)


@data.command()
def describe(
    source: Annotated[
        str,
        argument(
            "DATA",
            "File with bags (- reads standard input), or the name of a benchmark dataset.",
            autocompletion=set_names,
        ),
    ],
    *,
    reading: TrainingData,
    diagnosis: Annotated[
        bool | None,
        option(
            None,
            "Whether to find out which bag problem the data pose (default: with --label).",
            "--diagnose/--no-diagnose",
        ),
    ] = None,
    every: Annotated[bool, option(None, f"Show all features, not only the first {_MOST_FEATURES}.", "--all")] = False,
    task: TaskOption = Task.auto,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Summarize a file with bags, or a benchmark dataset.

    With --label, it also compares kinds of rules with simple methods on held-out bags: which bag problem do you have?

    Examples
    --------
    fuzzymil data describe visits.csv --bag user --label converted
    fuzzymil data describe bags.svm --diagnose
    fuzzymil data describe musk1
    """
    from fuzzymil import datasets
    from fuzzymil.datasets import BENCHMARKS

    if source in BENCHMARKS and not Path(source).exists():
        known = BENCHMARKS[source]
        bags = getattr(datasets, f"load_{source}")() if diagnosis else None
        if as_json:
            emit_json(dataclasses.asdict(known) | _diagnosis_in_json(bags, task, seed))
            return
        counts = f"{known.n_bags} bags ({known.n_positive} positive), {known.n_instances} instances"
        emit(f"{known.title}: {counts}, {known.n_features} features")
        emit(f"License: {known.license}\nReference: {known.reference}\nHome: {known.home}")
        if bags is not None:
            emit(f"\n{_diagnosis(bags, task, seed).findings()}")
        return
    wanted = reading.label is not None if diagnosis is None else diagnosis
    read = read_data(Path(source), Columns.of(reading), labels=wanted, brief=True)
    found = _facts(read.bags)
    if as_json:
        emit_json(found | _diagnosis_in_json(read.bags if wanted else None, task, seed))
        return
    emit(f"{summary(read.bags)}, {quantity(found['n_missing'], 'missing value')}\nFormat: {read.guess}")
    if found["labels"]:
        sizes = found["instances_per_bag"]["by_label"]
        counts = found["labels"].items()
        classes = (f"{name} ({quantity(count, 'bag')} of {_range(sizes[name])})" for name, count in counts)
        emit("Labels: " + ", ".join(classes))
    emit("")
    shown = found["features"] if every else found["features"][:_MOST_FEATURES]
    numbers = [each for each in shown if "categories" not in each]
    if numbers:
        ends = ("min", "mean", "max")
        rows = [[each["name"], *(_text(each, key) for key in ends), str(each["missing"])] for each in numbers]
        emit_table(["feature", *ends, "missing"], rows)
    categories = [each for each in shown if "categories" in each]
    if categories:
        emit("\nCategories, and their numbers of instances")
    for each in categories:
        names = listed(f"{name} ({n:,})" for name, n in each["categories"].items())
        emit(f"{each['name']}: {names}" + (f"; missing ({each['missing']:,})" if each["missing"] else ""))
    if not every and (more := read.bags.n_features - _MOST_FEATURES) > 0:
        emit(f"... and {quantity(more, 'more feature')}: add --all to see them")
    if wanted:
        emit(f"\n{_diagnosis(read.bags, task, seed).findings()}")
    elif diagnosis is None and read.bags.labels is not None:
        note("To find out which bag problem these labels pose, add --diagnose.")


def _diagnosis(bags: Bags, task: Task, seed: int) -> DataDiagnosis:
    kind = infer_task(task, bags)
    from fuzzymil.estimators import diagnose_data

    return diagnose_data(bags, task=kind.value, verbose=is_terminal(), random_state=seed)


def _diagnosis_in_json(bags: Bags | None, task: Task, seed: int) -> dict[str, Any]:
    return {} if bags is None else {"diagnosis": _diagnosis(bags, task, seed).to_dict()}


def _range(sizes: dict[str, Any]) -> str:
    low, high = sizes["min"], sizes["max"]
    return quantity(low, "instance") if low == high else f"{low}-{high} instances, median {sizes['median']:g}"


def _text(feature: dict[str, Any], key: str) -> str:
    """Return the least, mean or greatest value of a feature as a person writes it."""
    from fuzzymil.bags.columns import value_text

    value = feature[key]
    if key == "mean" and feature["kind"] == "date" and value is not None and feature["min"] == round(feature["min"]):
        value = round(value)  # a day, as the others are
    return "-" if value is None else value_text(value, feature["unit"]) or f"{value:.4g}"


def _feature(column: Any, values: Array, n_instances: int) -> dict[str, Any]:
    """Return the range of a feature, or how many instances are in each category."""
    facts = {"name": column.name, "kind": column.kind, "missing": n_instances - len(values)}
    if column.categories:
        counts = [int((values == code).sum()) for code in range(len(column.categories))]
        return facts | {"categories": dict(zip(column.categories, counts, strict=True))}
    ends = (values.min(), values.mean(), values.max()) if len(values) else (None, None, None)
    low, mean, high = (None if end is None else float(end) for end in ends)
    return facts | {"unit": column.unit, "min": low, "mean": mean, "max": high}


def _facts(bags: Bags) -> dict[str, Any]:
    """Return counts, labels, what is known of each feature, and the columns that are not used."""
    import numpy as np

    from fuzzymil.bags import Column

    def range_of(sizes: Any) -> dict[str, Any]:
        return {"min": int(sizes.min()), "median": float(np.median(sizes)), "max": int(sizes.max())}

    labels: dict[str, int] = {}
    if bags.labels is not None:
        values, counts = np.unique(bags.labels, return_counts=True)
        few = bags.labels.dtype.kind != "f" and len(values) <= 20
        labels = dict(zip(map(str, values), counts.tolist(), strict=True)) if few else {}
    by_label = {name: range_of(bags.sizes[np.asarray(bags.labels).astype(str) == name]) for name in labels}
    known = ~np.isnan(bags.instances)
    columns = [bags.instances[rows, d] for d, rows in enumerate(known.T)]
    return {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "n_features": bags.n_features,
        "instances_per_bag": range_of(bags.sizes) | {"by_label": by_label},
        "n_missing": int((~known).sum()),
        "labels": labels,
        "features": [
            _feature(column, values, bags.n_instances)
            for column, values in zip(bags.columns or map(Column, bags.names), columns, strict=True)
        ],
        "unused": [{"name": name, "why": why} for name, why, _ in (bags.source.unused if bags.source else ())],
    }


@data.command()
def convert(
    source: Data,
    target: Annotated[
        Path,
        argument(
            "TARGET",
            "File to write; its extension sets the format: .csv, .txt, .svm, .arff, .mat, .parquet, or none for a "
            "folder of .npy files. - writes CSV to standard output.",
        ),
    ],
    *,
    reading: TrainingData,
    to: Annotated[
        str | None, option("FORMAT", "Output format (default: by the extension).", autocompletion=format_names)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert bags to another file format.

    Examples
    --------
    fuzzymil data convert visits.csv visits.arff --bag user --label converted
    fuzzymil data convert clean1.data - > musk1.csv
    """
    from fuzzymil.datasets import write_bags

    if target.suffix if to is None else to != "npy":
        _console.check_target(target, source)
    else:
        _console.check_not_input(target, source)
    if as_json and target == STANDARD:
        raise ParameterError("Cannot write both --json and the data to standard output: name a file for the data.")
    bags = read_data(source, Columns.of(reading)).bags
    if target == STANDARD:
        with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
            path = Path(folder) / "bags.csv"
            write_bags(bags, path, to or "csv")
            emit(path.read_text(encoding="utf-8").removesuffix("\n"))
        return
    try:
        write_bags(bags, target, to)
    except ParameterError as problem:  # here --format is the format to read, --to the one to write
        raise ParameterError(str(problem).replace("format=", "--to")) from None
    note(f"Wrote {target}.")
    if as_json:
        emit_json({"file": target, "n_bags": bags.n_bags, "n_instances": bags.n_instances})

"""Bags, models and rules from the files that the user names; what is guessed about them is said aloud."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError, did_you_mean, listed
from fuzzymil.cli._console import STANDARD, check_target, emit, note

if TYPE_CHECKING:
    from fuzzymil.bags import Bags, BagStream
    from fuzzymil.datasets import Guess
    from fuzzymil.datasets.formats.parquet import ParquetBags

__all__ = [
    "Columns",
    "Source",
    "at_hand",
    "read_data",
    "read_model",
    "read_parts",
    "read_rules_or_model",
    "read_stream",
    "save",
]

_INPUT = "standard input"
_LEFT_OUT = "Left out, since the model does not know them: {}."
_UNLABELLED = "{} has no column that looks like the label of a bag: name it with --label{}."
_COUNTED = ("bag", "instance", "feature", "part")


@dataclasses.dataclass(frozen=True)
class Columns:
    """Which columns of a table name the bag and give its label, where that is known, and which are no features."""

    bag: str | int | None = None
    label: str | int | None = None
    drop: tuple[str, ...] = ()

    @classmethod
    def from_options(cls, bag: str | None, label: str | None, drop: Sequence[str] | None = None) -> Columns:
        """Return what the user named; a number is a position.

        Examples
        --------
        >>> Columns.from_options("molecule", "3", ["date", "url"])
        Columns(bag='molecule', label=3, drop=('date', 'url'))
        """
        found = [int(text) if text is not None and text.isdecimal() else text for text in (bag, label)]
        return cls(found[0], found[1], tuple(drop or ()))


@dataclasses.dataclass(frozen=True)
class Source:
    """Bags, and where they came from."""

    name: str
    bags: Bags
    guess: Guess
    columns: Columns

    def fitting(self, model: Any) -> Bags:
        """Return the bags with the model's features, by name and in its order; others are left out and named."""
        known = getattr(model, "feature_names_in_", None)
        names = self.bags.feature_names
        if known is None or names is None or tuple(known) == names:
            return self.bags  # what is wrong with them the model itself will say
        absent = [name for name in known if name not in names]
        if absent:
            raise InputError(
                f"{self.name} has no column {absent[0]!r}, which the model was fitted on (it needs {listed(known)}; "
                f"there are {listed(names)}).{did_you_mean(absent[0], names)}"
            )
        spare = [name for name in names if name not in known]
        if spare:
            note(_LEFT_OUT.format(listed(spare)))
        places = [names.index(name) for name in known]
        return self.bags.map_instances(lambda instances: instances[:, places], [*map(str, known)])

    def usable(self, model: Any) -> Bags:
        """Return the bags `fitting` the model, without missing values if it cannot do with any."""
        bags = self.fitting(model)
        if getattr(model, "missing", "ignore") == "error":
            bags.require_complete("Fill it in, or fit the model with missing='ignore': then it fits every rule.")
        return bags


@contextlib.contextmanager
def at_hand(path: Path, suffix: str = "") -> Iterator[Path]:
    """Give a file that can be read twice: the one named, or a copy of standard input."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
        copy = Path(folder) / f"input{suffix}"
        copy.write_bytes(sys.stdin.buffer.read())
        try:
            yield copy
        except (InputError, ModelFileError) as problem:
            raise InputError(str(problem).replace(str(copy), _INPUT)) from None


def read_data(
    path: Path,
    columns: Columns,
    format: str | None = None,
    *,
    remembered: Columns | None = None,
    labels: bool = False,
) -> Source:
    """Read bags and say how they were read.

    Parameters
    ----------
    path : Path
        ``-`` for standard input.
    columns : Columns
        As the user said; what is missing is what the model remembers, if the file has it, else guessed.
    format : str, optional
    remembered : Columns, optional
        The columns that a model was fitted with.
    labels : bool
        Whether the command cannot do without labels.
    """
    from fuzzymil.datasets import FORMATS

    with at_hand(path) as file:
        name = _shown(path)
        used, guess = _understood(file, columns, format, remembered)
        if labels and FORMATS[guess.format].columns is not None and guess.label is None:
            raise InputError(_UNLABELLED.format(name, _likely(file, guess)))
        bags, found = _read(file, used, guess)
    if labels and bags.labels is None:
        raise InputError(f"{name} has no labels, which this command needs.")
    _note_how(name, guess, used, found)
    return Source(name, bags, guess, Columns(guess.bag, guess.label, used.drop))


def _shown(path: Path) -> str:
    return _INPUT if path == STANDARD else str(path)


def _understood(file: Path, columns: Columns, format: str | None, remembered: Columns | None) -> tuple[Columns, Guess]:
    """Return the columns that are known, and how the file is going to be read."""
    from fuzzymil.datasets import guess_format

    used = columns if remembered is None else _as_before(file, columns, remembered, format)
    return used, guess_format(file, format=format, bag=used.bag, label=used.label)


def _read(file: Path, used: Columns, guess: Guess) -> tuple[Bags, str]:
    """Return all bags of a file, and what they are in words."""
    from fuzzymil.datasets import read_bags

    bags = read_bags(file, format=guess.format, bag=used.bag, label=used.label, drop=used.drop)
    return bags, str(bags).removeprefix("Bags(").removesuffix(")")


def _note_how(name: str, guess: Guess, used: Columns, found: str) -> None:
    """Say how data were read, and what was found."""
    guessed = [
        f"--{role}" for role in ("bag", "label") if getattr(guess, role) is not None and getattr(used, role) is None
    ]
    how = f"{guess} (guessed: {' and '.join(guessed)} can say otherwise)" if guessed else str(guess)
    note(f"{name}: {how}; {found}.")


def read_parts(path: Path, columns: Columns, format: str | None, *, remembered: Columns, model: Any) -> Iterator[Bags]:
    """Give the bags for a model to predict: those of a Parquet file a part at a time, any others all at once.

    Parameters are those of `read_data`, and the fitted model.
    """
    from fuzzymil._utils.prefetch import prefetch
    from fuzzymil.datasets.formats.parquet import ParquetBags, ScatteredBagsError

    with at_hand(path) as file:
        used, guess = _understood(file, columns, format, remembered)
        table = None
        spare: list[str] = []
        if guess.format == "parquet":
            spare = _spare(file, guess, used, model)
            used = dataclasses.replace(used, drop=(*used.drop, *spare))
            try:
                table = ParquetBags(file, bag=used.bag, label=used.label, drop=used.drop)
            except ScatteredBagsError:
                note(f"The rows of a bag do not stand together: {_shown(path)} is read whole.")
        parts: Iterable[Bags]
        if table is None:
            bags, found = _read(file, used, guess)
            parts = [bags]
        else:
            found = _counted(table)
            parts = prefetch(table.part, range(table.n_parts))
        _note_how(_shown(path), guess, used, found)
        if spare:
            note(_LEFT_OUT.format(listed(spare)))
        for bags in parts:
            yield Source(_shown(path), bags, guess, used).usable(model)


def _spare(file: Path, guess: Guess, used: Columns, model: Any) -> list[str]:
    """Return the columns of a table that a model does not know, which need not even be read."""
    from fuzzymil.datasets.formats import INSTANCE_LABEL

    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return []
    apart = {guess.bag, guess.label, INSTANCE_LABEL, *used.drop, *known}
    names = _header(file, guess)
    return [name for name in names if name not in apart]


def read_stream(
    path: Path, columns: Columns, format: str | None = None, *, remembered: Columns | None = None
) -> tuple[BagStream, Source]:
    """Return labeled bags that are read part by part, and a source that holds the first part."""
    from fuzzymil.bags import BagStream
    from fuzzymil.datasets.formats.parquet import ParquetBags

    if path == STANDARD:
        raise InputError("Standard input cannot be streamed, since it is read once: name a Parquet file.")
    used, guess = _understood(path, columns, format, remembered)
    if guess.format != "parquet":
        raise InputError(f"{path} cannot be streamed: fuzzymil data convert {path} data.parquet makes a file that can.")
    if guess.label is None:
        raise InputError(_UNLABELLED.format(path, _likely(path, guess)))
    table = ParquetBags(path, bag=used.bag, label=used.label, drop=used.drop)
    _note_how(str(path), guess, used, _counted(table))
    stream = BagStream(table.part, table.n_parts)
    return stream, Source(str(path), stream.part(0), guess, Columns(guess.bag, guess.label, used.drop))


def _counted(table: ParquetBags) -> str:
    counts = (table.n_bags, table.n_instances, len(table.feature_names), table.n_parts)
    told = [f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in zip(counts, _COUNTED, strict=True)]
    return f"{', '.join(told[:3])} in {told[3]}"


def _likely(file: Path, guess: Guess) -> str:
    """List the columns of a table that could be meant."""
    names = _header(file, guess)
    return f", one of {listed(name for name in names if name != guess.bag)}" if names else ""


def _header(file: Path, guess: Guess) -> list[str]:
    """Return the names of a table's columns, none where the format has no names."""
    from fuzzymil.datasets.formats import FORMATS, DataFile

    names = FORMATS[guess.format].column_names
    return [] if names is None else names(DataFile(file))


def _as_before(file: Path, columns: Columns, remembered: Columns, format: str | None) -> Columns:
    """Return the columns of the model's own data for those not named, as far as the file has them."""
    from fuzzymil.datasets import guess_format

    bag = remembered.bag if columns.bag is None else columns.bag
    label = remembered.label if columns.label is None else columns.label
    for attempt in (Columns(bag, label), Columns(bag, columns.label)):
        with contextlib.suppress(ValueError):
            guess = guess_format(file, format=format, bag=attempt.bag, label=attempt.label)
            spare = _header(file, guess)
            return dataclasses.replace(attempt, drop=tuple(name for name in remembered.drop if name in spare))
    return columns


# ---------------------------------------------------------------------- models


def read_model(path: Path) -> tuple[Any, Columns]:
    """Return a fitted model, and the columns of the data it was fitted on where its file tells."""
    from fuzzymil.estimators import load_model

    _check_there(path, "model")
    with at_hand(path) as file:
        try:
            model = load_model(file)
        except ModelFileError as problem:
            raise ModelFileError(_about_a_model(str(problem), file)) from None
        columns = json.loads(file.read_text(encoding="utf-8")).get("columns")
    if not isinstance(columns, dict):
        return model, Columns()
    return model, Columns(columns.get("bag"), columns.get("label"), tuple(columns.get("drop", ())))


def _about_a_model(problem: str, file: Path) -> str:
    problem = problem.replace("Save the model again with model.save(path).", "fuzzymil fit writes such files.")
    if file.suffix.lower() in (".csv", ".tsv", ".data", ".arff", ".mat", ".parquet", ".txt", ".gz"):
        problem += " The model comes first, then the data."
    return problem


def read_rules_or_model(path: Path) -> Any:
    """Return a fitted model, or the rules of a file that holds no more than these."""
    from fuzzymil.estimators import persistence
    from fuzzymil.rules import json
    from fuzzymil.rules.formats import ENDINGS, read_rules

    _check_there(path, "model or rules")
    if ENDINGS.get(path.suffix.lower(), "json") != "json":
        return read_rules(path)
    with at_hand(path, ".json") as file:
        kinds = {persistence.FORMAT: persistence.FORMAT_VERSION, **json.VERSIONS}
        try:
            kind = storage.read_document(file, kinds)["format"]
        except ModelFileError as problem:
            raise ModelFileError(_about_a_model(str(problem), file)) from None
        return read_model(file)[0] if kind == persistence.FORMAT else read_rules(file)


def _check_there(path: Path, what: str) -> None:
    if path == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: name the file of the {what}.")
    if not path.exists():
        raise InputError(f"{path} is not there: name the file of the {what} (fuzzymil fit writes models).")
    if not path.stat().st_size:
        raise InputError(f"{path} is empty: name the file of the {what} (fuzzymil fit writes models).")


def save(model: Any, path: Path, columns: Columns) -> None:
    """Write a model with the columns of its data, so that other commands need not be told again."""
    check_target(path)
    with tempfile.TemporaryDirectory(prefix="fuzzymil-") as folder:
        file = Path(folder) / "model.json"
        model.save(file)
        document = json.loads(file.read_text(encoding="utf-8"))
    document["columns"] = dataclasses.asdict(columns)
    text = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False)
    if path == STANDARD:
        emit(text)
    else:
        storage.write_atomically(path, f"{text}\n")

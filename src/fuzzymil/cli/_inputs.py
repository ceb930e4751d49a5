"""Bags from the files that the user names; how they were read is reported."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import warnings
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import InputError, UnusedColumnsWarning, did_you_mean, listed
from fuzzymil.cli._console import STANDARD, STANDARD_INPUT, is_pipe, local_copy, note, working
from fuzzymil.cli._models import Columns, read_model

if TYPE_CHECKING:
    from fuzzymil.bags import Bags, BagStream
    from fuzzymil.bags import Columns as Features
    from fuzzymil.datasets import Guess

_IGNORED = "Ignoring columns that the model was not trained on: {}."
_LARGE = 20_000_000  # bytes that take more than a moment to read
_UNLABELED = "{} has no column that looks like a label: choose one with --label{}."


@dataclasses.dataclass(frozen=True)
class Source:
    """Bags, and where they came from."""

    name: str
    bags: Bags
    guess: Guess
    columns: Columns

    def matched(self, model: Any) -> Bags:
        """Return the bags with the model's features, in its order; other columns are ignored."""
        known = getattr(model, "feature_names_in_", None)
        names = self.bags.feature_names
        if hasattr(model, "columns_") and self.bags.columns is not None:
            self._report_spare(model.columns_)
            self._check_absent(model.columns_, model.columns_.names, "the model was trained on")
            return self.bags.align(model.columns_)
        if known is None or names is None or tuple(known) == names:
            return self.bags  # the model itself reports what is wrong with them
        absent = [name for name in known if name not in names]
        if absent:
            raise InputError(
                f"{self.name} has no column {absent[0]!r}, which the model was trained on. The model needs "
                f"{listed(known)}; the file has {listed(names)}.{did_you_mean(absent[0], names)}"
            )
        spare = [name for name in names if name not in known]
        if spare:
            note(_IGNORED.format(listed(spare)))
        places = [names.index(name) for name in known]
        return self.bags.map_instances(lambda instances: instances[:, places], [*map(str, known)])

    def readable(self, model: Any, *, quiet: bool = False) -> Bags:
        """Return the bags for a model to answer; unlike `matched`, they may lack features that no rule reads.

        What they lack is reported unless this is ``quiet``.
        """
        from fuzzymil.estimators.inputs import trained_on

        known = trained_on(model)
        if known is None or self.bags.columns is None or not hasattr(model, "used_features_"):
            return self.matched(model)
        absent = dict.fromkeys(each.source for each in known if each.name not in self.bags.names)
        if not absent:
            return self.matched(model)
        self._check_absent(known, model.used_features_, "rules read")
        if not quiet:
            self._report_spare(known)
            noun, them = ("column", "it") if len(absent) == 1 else ("columns", "them")
            note(f"{self.name} has no {noun} {listed(absent)}; no rule reads {them}.")
        return self.bags

    def _report_spare(self, known: Features) -> None:
        there = [*(self.bags.columns or known).sources, *(() if self.bags.source is None else self.bags.source.extra)]
        expected = {*known.sources, *self.columns.seen, *self.columns.keep}
        spare = [name for name in dict.fromkeys(there) if name not in expected]
        if spare:
            note(_IGNORED.format(listed(spare)))

    def _check_absent(self, columns: Features, needed: Collection[str], why: str) -> None:
        """Raise if the file has no column for a feature that is needed."""
        names = self.bags.names
        for column in columns:
            if column.name in needed and column.name not in names:
                every = dict.fromkeys(each.source for each in columns if each.name in needed)
                extra = () if self.bags.source is None else self.bags.source.extra
                has = list(dict.fromkeys([*(each.source for each in self.bags.columns or ()), *extra]))
                raise InputError(
                    f"{self.name} has no column {column.source!r}, which {why}. The model needs {listed(every)}; the "
                    f"file has {listed(has)}.{did_you_mean(column.source, has)}"
                )


def complete(bags: Bags, model: Any) -> Bags:
    """Return bags; raise on missing values if the model does not accept any."""
    if getattr(model, "missing", "ignore") == "error":
        bags.require_complete("Fill it in, or fit the model with --set missing=median.")
    return bags


def summary(bags: Any) -> str:
    """Return the size of bags, or of a Parquet file with bags.

    Examples
    --------
    >>> from fuzzymil import Bags
    >>> summary(Bags.from_list([[[1.0], [2.0]], [[3.0]]]))
    '2 bags, 3 instances (1-2 per bag), 1 feature'
    """

    def counted(n: int, what: str) -> str:
        return f"{n:,} {what}{'' if n == 1 else 's'}"

    sizes = getattr(bags, "sizes", None)  # unknown until a Parquet file is read
    per_bag = ""
    if sizes is not None and len(sizes):
        low, high = int(sizes.min()), int(sizes.max())
        per_bag = f" ({low if low == high else f'{low}-{high}'} per bag)"
    n_features = bags.n_features if sizes is not None else len(bags.feature_names)
    parts = f", in {counted(bags.n_parts, 'part')}" if sizes is None else ""
    instances = counted(bags.n_instances, "instance")
    return f"{counted(bags.n_bags, 'bag')}, {instances}{per_bag}, {counted(n_features, 'feature')}{parts}"


def read_data(
    path: Path,
    columns: Columns,
    format: str | None = None,
    *,
    remembered: Columns | None = None,
    model: Any = None,
    labels: bool = False,
    brief: bool = False,
) -> Source:
    """Read bags and report how they were read.

    Parameters
    ----------
    path : Path
        ``-`` for standard input.
    columns : Columns
        Given by the user. Those not given are taken from ``remembered`` if the file has them, else guessed.
    format : str, optional
    remembered : Columns, optional
        The columns of a model's training data.
    model : estimator, optional
        The fitted model, which knows what its features mean.
    labels : bool
        Whether labels are required.
    brief : bool
        Whether to report only guesses, and columns that are not used.
    """
    from fuzzymil.datasets import FORMATS

    with local_copy(path) as file:
        name = _shown(path)
        used, guess = _understood(file, columns, format, remembered)
        if labels and FORMATS[guess.format].columns is not None and guess.label is None:
            raise InputError(_unlabeled(name, file, guess, remembered))
        names = _header(file, guess)
        for wanted in used.keep:
            if names and wanted not in names:
                raise InputError(
                    f"{name} has no column {wanted!r}; it has {listed(names)}.{did_you_mean(wanted, names)}"
                )
        bags = _read(file, used, guess, model)
        seen = used.seen or tuple(names)
    if labels and bags.labels is None:
        raise InputError(f"{name} has no labels, which this command needs.")
    _report(name, guess, used, bags, model, brief=brief)
    return Source(name, bags, guess, dataclasses.replace(used, bag=guess.bag, label=guess.label, seen=seen))


def read_both(
    model: Path,
    data: Path,
    columns: Columns,
    format: str | None = None,
    *,
    labels: bool = False,
    to_answer: bool = False,
) -> tuple[Any, Source, Bags]:
    """Return a model, the data given with it, and the bags with the model's features; see `read_model`."""
    check_apart(model, data)
    fitted, remembered = read_model(model, to_answer=to_answer)
    source = read_data(data, columns, format, remembered=remembered, model=fitted, labels=labels)
    return fitted, source, complete(source.readable(fitted) if to_answer else source.matched(fitted), fitted)


def check_apart(model: Path, data: Path) -> None:
    """Raise if both the model and the data are standard input."""
    if model == STANDARD and data == STANDARD:
        raise InputError("Standard input can be the model or the data, not both: name a file for one of them.")


def bag_with_id(bags: Bags, name: str | None, where: str) -> Bags:
    """Return the bag with this ID, written as in the file.

    Examples
    --------
    >>> from fuzzymil import Bags
    >>> bag_with_id(Bags.from_list([[[1.0]], [[2.0]]], ids=[7, 8]), "8", "a.csv").ids
    array([8])
    """
    names = [str(known) for known in bags.ids]
    if name is None:
        if bags.n_bags == 1:
            return bags
        raise InputError(f"{where} has {bags.n_bags} bags: choose one with --id, for example --id {names[0]}.")
    if name not in names:
        padded = [known for known in names if known.lstrip("0") == name.lstrip("0")]  # 00001 is no number
        hint = f" Did you mean {padded[0]!r}?" if padded else did_you_mean(name, names)
        raise InputError(f"{where} has no bag {name!r}; its bags are {listed(names)}.{hint}")
    return bags[[names.index(name)]]


def read_parts(path: Path, columns: Columns, format: str | None, *, remembered: Columns, model: Any) -> Iterator[Bags]:
    """Yield the bags for a model to predict: a Parquet file in parts, any other file at once.

    Parameters are those of `read_data`, and the fitted model.
    """
    from fuzzymil._utils.runtime import prefetch
    from fuzzymil.bags import Column
    from fuzzymil.bags import Columns as Features
    from fuzzymil.datasets.formats.parquet import ParquetBags, ScatteredBagsError

    with local_copy(path) as file:
        used, guess = _understood(file, columns, format, remembered)
        table = None
        spare: list[str] = []
        if guess.format == "parquet" and not _has_categories_or_dates(model):
            spare = _spare(file, guess, used, model)
            used = dataclasses.replace(used, drop=(*used.drop, *spare))
            try:
                table = ParquetBags(file, bag=used.bag, label=used.label, drop=used.drop)
            except ScatteredBagsError:
                note(f"The rows of a bag are not contiguous: reading all of {_shown(path)} at once.")
        parts: Iterable[Bags] = (
            [_read(file, used, guess, model)] if table is None else prefetch(table.part, range(table.n_parts))
        )
        _report(_shown(path), guess, used, parts[0] if isinstance(parts, list) else table, model)
        if spare:
            note(_IGNORED.format(listed(spare)))
        for number, bags in enumerate(parts):
            numbers = bags if table is None else bags.with_features(bags.instances, Features(map(Column, bags.names)))
            found = Source(_shown(path), numbers, guess, used).readable(model, quiet=number > 0)
            yield complete(found, model)


def read_stream(
    path: Path, columns: Columns, format: str | None = None, *, remembered: Columns | None = None
) -> tuple[BagStream, Source]:
    """Return labeled bags that are read part by part, and a source with the first part."""
    from fuzzymil.bags import BagStream
    from fuzzymil.datasets.formats.parquet import ParquetBags

    if is_pipe(path):
        name = "Standard input" if path == STANDARD else str(path)
        raise InputError(f"{name} cannot be streamed, because it can be read only once: name a Parquet file.")
    used, guess = _understood(path, columns, format, remembered)
    if guess.format != "parquet":
        raise InputError(f"{path} cannot be streamed: convert it with fuzzymil data convert {path} data.parquet.")
    if guess.label is None:
        raise InputError(_UNLABELED.format(path, _candidates(path, guess)))
    table = ParquetBags(path, bag=used.bag, label=used.label, drop=used.drop)
    _report(str(path), guess, used, table)
    stream = BagStream(table.part, table.n_parts)
    return stream, Source(str(path), stream.part(0), guess, Columns(guess.bag, guess.label, used.drop))


def _shown(path: Path) -> str:
    return STANDARD_INPUT if path == STANDARD else str(path)


def _understood(file: Path, columns: Columns, format: str | None, remembered: Columns | None) -> tuple[Columns, Guess]:
    """Return the columns that are known, and how to read the file."""
    from fuzzymil.datasets import guess_format

    used = columns if remembered is None else _as_in_training(file, columns, remembered, format)
    return used, guess_format(file, format=format, bag=used.bag, label=used.label, encoding=used.encoding)


def _as_in_training(file: Path, columns: Columns, remembered: Columns, format: str | None) -> Columns:
    """Complete the given columns with those of the training data, as far as the file has them."""
    from fuzzymil.datasets import guess_format

    bag = remembered.bag if columns.bag is None else columns.bag
    label = remembered.label if columns.label is None else columns.label
    for attempt in (Columns(bag, label), Columns(bag, columns.label)):
        with contextlib.suppress(ValueError):
            guess = guess_format(file, format=format, bag=attempt.bag, label=attempt.label, encoding=columns.encoding)
            names = _header(file, guess)
            drop = tuple(
                name for name in (*remembered.drop, *columns.drop) if name in names and name not in columns.keep
            )
            told = {name: mark for name in ("decimal", "thousands") if (mark := getattr(columns, name)) is not None}
            written = (remembered.notation() if guess.format == "csv" else {}) | told
            return dataclasses.replace(
                columns, bag=attempt.bag, label=attempt.label, drop=drop, seen=remembered.seen, **written
            )
    return columns


def _has_categories_or_dates(model: Any) -> bool:
    return any(column.kind != "number" for column in getattr(model, "columns_", ()))


def _read(file: Path, used: Columns, guess: Guess, model: Any = None) -> Bags:
    from fuzzymil.datasets import FORMATS, read_bags

    wishes = used.wishes()
    if FORMATS[guess.format].takes_options and hasattr(model, "columns_"):
        wishes = {"drop": used.drop, "keep": used.keep, "columns": model.columns_, **used.notation()}
    slow = file.is_file() and file.stat().st_size >= _LARGE
    with working(f"Reading {file.name}", quick=not slow), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedColumnsWarning)  # `_report` says it
        return read_bags(file, format=guess.format, bag=used.bag, label=used.label, encoding=guess.encoding, **wishes)


def _report(name: str, guess: Guess, used: Columns, bags: Any, model: Any = None, *, brief: bool = False) -> None:
    if not brief:
        note(f"{name}: {summary(bags)} ({guess}).")
    roles = [role for role in ("bag", "label") if getattr(guess, role) is not None and getattr(used, role) is None]
    if roles:
        options = " and ".join(f"--{role}" for role in roles)
        note(f"Guessed the {' and '.join(roles)} column{'s' if len(roles) > 1 else ''}; override with {options}.")
    unused = getattr(getattr(bags, "source", None), "unused", ())
    if unused and not used.exclude_text and model is None:  # `Source` says what a model lacks
        from fuzzymil.bags.table import unused_in_words

        note(unused_in_words(unused, _said))


def _said(option: str, name: str) -> str:
    """Return what to say on the command line to use a column."""
    return "list it in --only" if option == "features" else f"--{option} {shlex.quote(name)}"


def _spare(file: Path, guess: Guess, used: Columns, model: Any) -> list[str]:
    """Return the columns that a model was not trained on, which need not be read."""
    from fuzzymil.datasets.formats import INSTANCE_LABEL

    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return []
    apart = {guess.bag, guess.label, INSTANCE_LABEL, *used.drop, *known}
    return [name for name in _header(file, guess) if name not in apart]


def _unlabeled(name: str, file: Path, guess: Guess, remembered: Columns | None) -> str:
    """Return that a file has no labels, which are needed, and where they could be."""
    if remembered is not None and remembered.label is not None:
        return (
            f"{name} has no column {remembered.label!r}, which had the labels in training, and this command needs "
            "labels: use labeled data, or choose another column with --label."
        )
    return _UNLABELED.format(name, _candidates(file, guess))


def _candidates(file: Path, guess: Guess) -> str:
    names = _header(file, guess)
    return f", one of {listed(name for name in names if name != guess.bag)}" if names else ""


def _header(file: Path, guess: Guess) -> list[str]:
    """Return the column names of a table; an empty list for formats without names."""
    from fuzzymil.datasets.formats import FORMATS, DataFile

    names = FORMATS[guess.format].column_names
    return [] if names is None else names(DataFile(file, guess.encoding))

"""The files that a user names: models, rules, and bags with their columns; how bags were read is reported."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import re
import shlex
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import (
    InputError,
    ModelFileError,
    ParameterError,
    UnusedColumnsWarning,
    did_you_mean,
    known_name,
    listed,
)
from fuzzymil.cli._console import STANDARD, STANDARD_INPUT, check_not_input, emit, is_pipe, local_copy, note, working
from fuzzymil.cli._options import NewData, TrainingData, listed_names

if TYPE_CHECKING:
    from fuzzymil.bags import Bags, BagStream
    from fuzzymil.bags import Columns as Features
    from fuzzymil.datasets import Guess
    from fuzzymil.rules import RuleBase

# ---------------------------------------------------------------------- columns


_ENDINGS_OF_DATA = (".csv", ".tsv", ".data", ".arff", ".mat", ".parquet", ".gz", ".bz2", ".xz")
_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"([^"]*)"')  # how the JSON files of this library begin


@dataclasses.dataclass(frozen=True)
class Columns:
    """What the user, or a model file, says about the columns of a table; None where unknown."""

    bag: str | int | None = None
    label: str | int | None = None
    drop: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    date: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    exclude_text: bool = False
    seen: tuple[str, ...] = ()  # all columns of the training data, used or not
    keep: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None  # "": none, whatever it was in the training data
    encoding: str | None = None
    format: str | None = None
    each_row: bool = False

    @classmethod
    def of(cls, said: NewData) -> Columns:
        """Return the columns that options name; a number is a position, and commas separate columns.

        Examples
        --------
        >>> from fuzzymil.cli._options import TrainingData
        >>> said = Columns.of(TrainingData("user", "3", drop=["date,url"], date=["signup=date+weekday,visit"]))
        >>> said.bag, said.label, said.drop, said.date
        ('user', 3, ('date', 'url'), {'signup': ('date', 'weekday'), 'visit': ()})
        """
        bag, label = (int(text) if text is not None and text.isdecimal() else text for text in (said.bag, said.label))
        names = ("decimal", "thousands", "encoding", "format")
        plain = cls(bag, label, **{name: getattr(said, name) for name in names})
        if not isinstance(said, TrainingData):
            return plain
        dates = {}
        for text in listed_names(said.date):
            name, equals, parts = text.rpartition("=")
            dates[name if equals else text] = tuple(parts.split("+")) if equals else ()
        return dataclasses.replace(
            plain,
            drop=listed_names(said.drop),
            only=None if said.only is None else listed_names(said.only),
            categorical=listed_names(said.categorical),
            date=dates,
            exclude_text=said.exclude_text,
        )

    def wishes(self) -> dict[str, Any]:
        """Return the arguments of `read_bags` that choose features."""
        return {
            "drop": self.drop,
            "features": self.only,
            "categorical": self.categorical,
            "date": self.date,
            "exclude_text": self.exclude_text,
            "keep": self.keep,
            "each_row": self.each_row,
            **self.notation(),
        }

    def notation(self) -> dict[str, str]:
        """Return the arguments of `read_bags` that say how numbers are written, if they are written unusually."""
        return {name: mark for name in ("decimal", "thousands") if (mark := getattr(self, name))}


# ---------------------------------------------------------------------- model files, and files of rules


def read_model(path: Path, *, to_answer: bool = False) -> tuple[Any, Columns]:
    """Return a fitted model, and the columns of its training data as far as the file has them.

    ``to_answer``: whether the model is only to predict and explain: a network then does not load scikit-learn.
    """
    from fuzzymil.rules import json

    _check_file(path, "model")
    if holds_rules(path):
        raise InputError(
            f"{path} holds rules, but a fitted model is expected here. Create one with fuzzymil fit data.csv --method "
            f"mi-anfis --init {path} -o model.json. predict, explain and plot use rules as they are: fuzzymil predict "
            f"{path} data.csv."
        )
    with local_copy(path) as file:
        document = _document(file, json.MODEL)
        model = _load_for_answers(document, str(file)) if to_answer else None
        if model is None:
            from fuzzymil.estimators import model_from_dict

            model = model_from_dict(document, name=str(file))
    return model, _columns_of(document.get("extra"))


def output_names(model: Any) -> tuple[str, ...]:
    """Return the names of the outputs of a model's rules."""
    return tuple(model.members_[0].output_names)


def class_and_output(model: Any, wanted: str) -> tuple[Any, int | None]:
    """Return a class of a model, given as text, and the position of the output that is about it, if there is one.

    Of two classes, a single output is about the positive one.
    """
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise ParameterError("--class is for models of classes; this one predicts numbers.")
    names = classes.tolist()
    known_name("class", wanted, list(map(str, names)))
    place = list(map(str, names)).index(wanted)
    if len(output_names(model)) > 1:
        return names[place], place
    return names[place], 0 if names[place] == model.pos_label_ else None


def _load_for_answers(document: dict[str, Any], name: str) -> Any:
    from fuzzymil.estimators import SavedModel

    return SavedModel.of(document, name=name)


def _columns_of(extra: Any) -> Columns:
    """Return the columns that a model file names; whatever else it has in their place is ignored."""
    found = extra.get("columns") if isinstance(extra, dict) else None
    columns = found if isinstance(found, dict) else {}
    bag, label = (
        name if isinstance(name, str | int) and not isinstance(name, bool) else None
        for name in (columns.get("bag"), columns.get("label"))
    )
    drop, seen = (
        tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()
        for names in (columns.get("drop"), columns.get("seen"))
    )
    decimal, thousands = (
        mark if isinstance(mark, str) else None for mark in (columns.get("decimal"), columns.get("thousands"))
    )
    return Columns(bag, label, drop, seen=seen, decimal=decimal, thousands=thousands)


def holds_rules(path: Path) -> bool:
    """Return whether a file holds rules alone: rules in words, a fuzzy system of another program, or rules as JSON."""
    from fuzzymil.rules import json

    if _is_named_as_rules(path):
        return True
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = _FORMAT.match(file.read(200))
    return head is not None and head[1].decode("utf-8", "replace") in json.VERSIONS


def _is_named_as_rules(path: Path) -> bool:
    from fuzzymil.rules.files import ENDINGS

    return ENDINGS.get(path.suffix.lower(), "json") != "json"


def read_all_rules(path: Path) -> list[Any]:
    """Return the rule bases of a model, best first, or the rules in a file that holds only rules."""
    from fuzzymil.rules import json
    from fuzzymil.rules.files import read_rules, rules_of_model

    _check_file(path, "model or rules")
    if _is_named_as_rules(path):
        check_not_input(None, path)
        return [read_rules(path)]
    with local_copy(path, ".json") as file:
        if is_pipe(path) and not path.suffix and not file.read_bytes().lstrip().startswith(b"{"):
            return [read_rules(file.rename(file.with_suffix(".rules")))]  # a pipe has no name that says what it holds
        document = _document(file, {**json.MODEL, **json.VERSIONS})
        return rules_of_model(document, str(file)) if document["format"] in json.MODEL else [read_rules(file)]


def _document(file: Path, kinds: dict[str, int]) -> dict[str, Any]:
    try:
        return storage.read_document(file, kinds)
    except ModelFileError as problem:
        if file.suffix.lower() in _ENDINGS_OF_DATA:
            raise ModelFileError(
                f"{file} looks like data, but a model file is expected here. Create one with fuzzymil fit {file} -o "
                "model.json. Where a command takes both, the model comes first, then the data."
            ) from None
        message = str(problem).replace("Save the model again with model.save(path).", "Create one with fuzzymil fit.")
        raise ModelFileError(message) from None


def _check_file(path: Path, what: str) -> None:
    if path == STANDARD:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder: pass the {what} file.")
    if not path.exists():
        advice = " Create a model with fuzzymil fit." if what == "model" else ""
        raise InputError(f"File not found: {path}.{advice}")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path} is empty: pass a {what} file written by fuzzymil fit.")


def save(model: Any, path: Path, columns: Columns) -> None:
    """Write a model with the columns of its training data, which other commands then use by default."""
    from fuzzymil.estimators import model_to_dict, save_model

    known = {"bag": columns.bag, "label": columns.label, "drop": list(columns.drop), "seen": list(columns.seen)}
    extra = {"columns": known | columns.notation()}
    if path == STANDARD:
        text = json.dumps(model_to_dict(model, extra=extra), indent=1, allow_nan=False, ensure_ascii=False)
        try:
            emit(text)
        except OSError as problem:
            raise storage.rescued("model.json", text, problem) from None
    else:
        save_model(model, path, extra=extra)


# ---------------------------------------------------------------------- bags

_IGNORED = "Ignoring columns that the model was not trained on: {}."
_LARGE = 20_000_000  # bytes that take more than a moment to read


@dataclasses.dataclass(frozen=True)
class Source:
    """Bags, and where they came from."""

    name: str
    bags: Bags
    guess: Guess
    columns: Columns

    def matched(self, model: Any) -> Bags:
        """Return the bags with the model's features, in its order; other columns are ignored."""
        if isinstance(model, RuleFile):
            return model.matched(self)
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
    """Return the size of bags, or of a Parquet file with bags."""

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
    *,
    remembered: Columns | None = None,
    model: Any = None,
    labels: bool = False,
    brief: bool = False,
) -> Source:
    """Read bags and report how they were read.

    ``path``: ``-`` for standard input. ``columns``: given by the user. Those not given are taken from ``remembered`` if
    the file has them, else guessed. ``remembered``: the columns of a model's training data. ``model``: a fitted model,
    which knows what its features mean. ``labels``: whether labels are required. ``brief``: whether to report only
    guesses, and columns that are not used.
    """
    from fuzzymil.datasets import FORMATS

    with local_copy(path) as file:
        name = _file_name(path)
        used, guess = _guess(file, columns, remembered, model)
        if labels and FORMATS[guess.format].has_columns and guess.label is None:
            raise InputError(_unlabeled(name, guess, remembered))
        for wanted in used.keep:
            if guess.names and wanted not in guess.names:
                raise InputError(
                    f"{name} has no column {wanted!r}; it has {listed(guess.names)}.{did_you_mean(wanted, guess.names)}"
                )
        bags = _read(file, used, guess, model)
        seen = used.seen or guess.names
    if labels and bags.labels is None:
        raise InputError(f"{name} has no labels, which this command needs.")
    _report(name, guess, used, bags, model, brief=brief)
    return Source(name, bags, guess, dataclasses.replace(used, bag=guess.bag, label=guess.label, seen=seen))


def read_both(
    model: Path, data: Path, columns: Columns, *, labels: bool = False, to_answer: bool = False
) -> tuple[Any, Source, Bags]:
    """Return a model, the data given with it, and the bags with the model's features; see `read_model`."""
    check_apart(model, data)
    fitted, remembered = read_model(model, to_answer=to_answer)
    source = read_data(data, columns, remembered=remembered, model=fitted, labels=labels)
    return fitted, source, complete(source.readable(fitted) if to_answer else source.matched(fitted), fitted)


def check_apart(model: Path, data: Path) -> None:
    """Raise if both the model and the data are standard input."""
    if model == STANDARD and data == STANDARD:
        raise InputError("Standard input can be the model or the data, not both: name a file for one of them.")


def bag_with_id(bags: Bags, name: str | None, where: str) -> Bags:
    """Return the bag with this ID, written as in the file."""
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


def read_parts(path: Path, columns: Columns, *, remembered: Columns | None, model: Any) -> Iterator[Bags]:
    """Yield the bags for a model to predict: a Parquet file in parts, any other file at once.

    Parameters are those of `read_data`, and the fitted model.
    """
    from fuzzymil._utils.runtime import prefetch
    from fuzzymil.bags import Column
    from fuzzymil.bags import Columns as Features
    from fuzzymil.datasets.formats.parquet import ParquetBags, ScatteredBagsError

    with local_copy(path) as file:
        used, guess = _guess(file, columns, remembered, model)
        table = None
        spare: list[str] = []
        if guess.format == "parquet" and not used.each_row and not _has_categories_or_dates(model):
            spare = _spare(guess, used, model)
            used = dataclasses.replace(used, drop=(*used.drop, *spare))
            try:
                table = ParquetBags(file, bag=used.bag, label=used.label, drop=used.drop)
            except ScatteredBagsError:
                note(f"The rows of a bag are not contiguous: reading all of {_file_name(path)} at once.")
        parts: Iterable[Bags] = (
            [_read(file, used, guess, model)] if table is None else prefetch(table.part, range(table.n_parts))
        )
        _report(_file_name(path), guess, used, parts[0] if isinstance(parts, list) else table, model)
        if spare:
            note(_IGNORED.format(listed(spare)))
        for number, bags in enumerate(parts):
            numbers = bags if table is None else bags.with_features(bags.instances, Features(map(Column, bags.names)))
            source = Source(_file_name(path), numbers, guess, used)
            yield complete(source.readable(model, quiet=number > 0), model)


def read_stream(path: Path, columns: Columns, *, remembered: Columns | None = None) -> tuple[BagStream, Source]:
    """Return labeled bags that are read part by part, and a source with the first part."""
    from fuzzymil.bags import BagStream
    from fuzzymil.datasets.formats.parquet import ParquetBags

    if is_pipe(path):
        name = "Standard input" if path == STANDARD else str(path)
        raise InputError(f"{name} cannot be streamed, because it can be read only once: name a Parquet file.")
    check_not_input(None, path)
    used, guess = _guess(path, columns, remembered)
    if guess.format != "parquet":
        raise InputError(f"{path} cannot be streamed: convert it with fuzzymil data convert {path} data.parquet.")
    if guess.label is None:
        raise InputError(_unlabeled(str(path), guess, None))
    table = ParquetBags(path, bag=used.bag, label=used.label, drop=used.drop)
    _report(str(path), guess, used, table)
    stream = BagStream(table.part, table.n_parts)
    return stream, Source(str(path), stream.part(0), guess, Columns(guess.bag, guess.label, used.drop))


def _file_name(path: Path) -> str:
    return STANDARD_INPUT if path == STANDARD else str(path)


def _guess(file: Path, columns: Columns, remembered: Columns | None = None, model: Any = None) -> tuple[Columns, Guess]:
    """Return the columns that are known, and how to read the file.

    The given columns are completed with those of the training data, as far as the file has them.
    """
    if isinstance(model, RuleFile):
        columns = model.columns(file, columns)
    if remembered is not None:
        bag = remembered.bag if columns.bag is None else columns.bag
        label = remembered.label if columns.label is None else columns.label
        for attempt in (label, columns.label):
            used = dataclasses.replace(columns, bag=bag, label=attempt, seen=remembered.seen)
            with contextlib.suppress(ValueError):
                guess = _guessed(file, used)
                names = guess.names
                drop = [name for name in (*remembered.drop, *used.drop) if name in names and name not in used.keep]
                used = dataclasses.replace(used, drop=tuple(drop))
                if guess.format == "csv":
                    decimal = remembered.decimal if used.decimal is None else used.decimal
                    thousands = remembered.thousands if used.thousands is None else used.thousands
                    used = dataclasses.replace(used, decimal=decimal, thousands=thousands)
                return used, guess
    return columns, _guessed(file, columns)


def _guessed(file: Path, columns: Columns) -> Guess:
    from fuzzymil.datasets import guess_format

    names = ("format", "bag", "label", "encoding", "each_row")
    return guess_format(file, features=columns.only, **{name: getattr(columns, name) for name in names})


def _has_categories_or_dates(model: Any) -> bool:
    return any(column.kind != "number" for column in getattr(model, "columns_", ()))


def _read(file: Path, used: Columns, guess: Guess, model: Any = None) -> Bags:
    from fuzzymil.datasets import FORMATS, read_bags

    wishes = used.wishes()
    if FORMATS[guess.format].takes_options and hasattr(model, "columns_"):
        wishes = {name: wishes[name] for name in ("drop", "keep", "each_row", *used.notation())}
        wishes["columns"] = model.columns_
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

        note(unused_in_words(unused, _option))


def _option(option: str, name: str) -> str:
    """Return what to say on the command line to use a column."""
    return "list it in --only" if option == "features" else f"--{option} {shlex.quote(name)}"


def _spare(guess: Guess, used: Columns, model: Any) -> list[str]:
    """Return the columns that a model was not trained on, which need not be read."""
    from fuzzymil.datasets.formats import INSTANCE_LABEL

    known = getattr(model, "feature_names_in_", None)
    if known is None:
        return []
    apart = {guess.bag, guess.label, INSTANCE_LABEL, *used.drop, *known}
    return [name for name in guess.names if name not in apart]


def _unlabeled(name: str, guess: Guess, remembered: Columns | None) -> str:
    """Return that a file has no labels, which are needed, and where they could be."""
    if remembered is not None and remembered.label is not None:
        return (
            f"{name} has no column {remembered.label!r}, which had the labels in training, and this command needs "
            "labels: use labeled data, or choose another column with --label."
        )
    others = [name for name in guess.names if name != guess.bag]
    return (
        f"{name} has no column that looks like a label: choose one with --label"
        f"{f', one of {listed(others)}' if others else ''}."
    )


# ---------------------------------------------------------------------- rules as models
# Rules in a file, such as a fuzzy system of another program, were not fitted to any data.

_TABLES = (".csv", ".tsv", ".txt", ".data")


def read_model_or_rules(
    model: Path, data: Path | None, columns: Columns, *, labels: bool = False, to_answer: bool = False
) -> tuple[Any, str, Bags | None]:
    """Return a model, and the name of the data and its bags, if there is any.

    A file of rules becomes a model that answers with their outputs. Other parameters are those of `read_both`.
    """
    if not holds_rules(model):
        if data is None:
            return read_model(model)[0], "", None
        fitted, source, bags = read_both(model, data, columns, labels=labels, to_answer=to_answer)
        return fitted, source.name, bags
    rules = read_all_rules(model)[0]
    if data is None:
        return _expert(rules), "", None
    check_apart(model, data)
    return _expert(rules), str(data), RuleFile(rules).read(data, columns)


def _expert(rules: RuleBase) -> Any:
    """Return rules as a fitted model that predicts their outputs."""
    import numpy as np

    from fuzzymil.bags import Bags
    from fuzzymil.estimators import MIMamdani, MISugeno

    kind = MIMamdani if rules.concludes_sets else MISugeno
    names = list(rules.feature_names)
    return kind(rules=rules, threshold=None, missing="ignore").fit(
        Bags.from_long(np.zeros((1, len(names))), [0], feature_names=names)
    )


class RuleFile:
    """Rules as a model: the features that they need."""

    def __init__(self, rules: RuleBase) -> None:
        self.rules = rules
        self.feature_names_in_ = rules.feature_names
        self.about = "bag"  # or "row": what the answers are about

    def columns(self, file: Path, columns: Columns) -> Columns:
        """Return how a table is read for the rules: without a column of bags, each of its rows is a bag."""
        from fuzzymil.bags.columns import DATE, HOUR, Column
        from fuzzymil.bags.columns import Columns as Features
        from fuzzymil.datasets.formats import BAG_NAMES, FORMATS, DataFile

        names_of, needed = FORMATS["csv"].column_names, self.feature_names_in_
        if columns.format is not None or file.suffix.lower() not in _TABLES or names_of is None:
            return columns
        names = names_of(DataFile(file, columns.encoding))
        found = columns.bag is not None or any(name.lower() in BAG_NAMES and name not in needed for name in names)
        self.about = "bag" if found else "row"
        columns = dataclasses.replace(columns, format="csv", each_row=not found)
        if not {*needed} <= {*names}:
            return columns  # features that the table does not have may be made of its dates
        if not any(variable.unit in (DATE, HOUR) for variable in self.rules.variables):
            self.columns_ = Features(
                Column(each.name, "category" if each.categories else "number", tuple(each.categories))
                for each in self.rules.variables
            )
        return dataclasses.replace(columns, only=tuple(needed))

    def matched(self, source: Source) -> Bags:
        """Return bags with the features of the rules."""
        from fuzzymil.rules.activations import matched

        names = source.bags.feature_names
        absent = [] if names is None else [name for name in self.feature_names_in_ if name not in names]
        if absent:
            raise InputError(
                f"{source.name} has no column {absent[0]!r}, which the rules need. They need "
                f"{listed(self.feature_names_in_)}; the file has {listed(names or ())}."
                f"{did_you_mean(absent[0], names or ())}"
            )
        return matched(self.rules, source.bags)

    def read(self, data: Path, columns: Columns) -> Bags:
        """Return the bags in a file with the features of the rules."""
        bags = read_data(data, columns, model=self).matched(self)
        self._note_missing_values(self._missing_values(bags))
        return bags

    def tables(self, data: Path, columns: Columns) -> Iterator[dict[str, list[Any]]]:
        """Yield tables: a column of bags, or of rows if each is a bag, and one per output."""
        found: collections.Counter[str] = collections.Counter()
        for bags in read_parts(data, columns, remembered=None, model=self):
            found.update(self._missing_values(bags))
            yield self._table(bags)
        self._note_missing_values(found)

    def _missing_values(self, bags: Bags) -> dict[str, int]:
        """Return in how many bags a feature of conditions is missing, where the rules do not say what that means."""
        import numpy as np

        from fuzzymil.inference.membership import Missing

        found = {}
        asked = {condition.variable for rule in self.rules.rules for condition in rule.conditions}
        for place, variable in enumerate(self.rules.variables):
            stated = variable.missing_values or any(isinstance(term, Missing) for term in variable.terms.values())
            if variable.name in asked and not stated:
                values = bags.select_features([place]).instances[:, 0]
                found[variable.name] = int(np.logical_or.reduceat(np.isnan(values), bags.offsets[:-1]).sum())
        return {name: count for name, count in found.items() if count}

    def _table(self, bags: Bags) -> dict[str, list[Any]]:
        import numpy as np

        found = self.rules.infer(bags)
        names = list(self.rules.output_names)
        uncovered = np.asarray(found.uncovered).reshape(len(found.output), -1).any(axis=1)
        if uncovered.any():
            note(f"{int(uncovered.sum())} of {bags.n_bags} have an output that no rule concludes: its default.")
        return {self.about: bags.ids.tolist(), **{name: found.output[:, k].tolist() for k, name in enumerate(names)}}

    def _note_missing_values(self, found: Mapping[str, int]) -> None:
        """Say that missing values count as true, and what to do about it."""
        if not found:
            return
        from fuzzymil.rules.language.printer import quoted

        counted = listed(f"{name} in {n:,} {self.about}{'' if n == 1 else 's'}" for name, n in found.items())
        note(
            f"Values are missing: {counted}. A missing value satisfies every condition on it. To change that, say in "
            f"the rules what replaces it (VARIABLE {quoted(next(iter(found)))} MISSING AS 5: ...), or fill it in."
        )

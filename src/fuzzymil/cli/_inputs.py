"""The files that a user names: models, rules, and bags with their columns; how bags were read is reported."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import re
import shlex
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
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
from fuzzymil.cli._console import (
    STANDARD,
    STANDARD_INPUT,
    check_not_input,
    emit,
    in_options,
    is_pipe,
    local_copy,
    note,
    working,
)
from fuzzymil.cli._options import NewData, split_names

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
    """The arguments of `read_bags` that the user, or a model file, gives; None where unknown."""

    bag: str | int | None = None
    label: str | int | None = None
    labels: Path | None = None
    unlabeled: str = "keep"
    drop: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    categorical: tuple[str, ...] = ()
    date: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    exclude_text: bool = False
    keep: tuple[str, ...] = ()
    decimal: str | None = None
    thousands: str | None = None  # "": none, whatever it was in the training data
    encoding: str | None = None
    format: str | None = None
    each_row: bool = False
    seen: tuple[str, ...] = ()  # all columns of the training data, used or not

    @classmethod
    def of(cls, said: NewData, group: str | None = None) -> Columns:
        """Return the columns that options name; a number is a position, and commas separate columns."""
        found = dict(vars(said))
        for role in ("bag", "label"):
            if found[role] is not None and found[role].isdecimal():
                found[role] = int(found[role])
        if "only" in found:
            drop, only, categorical, dates = (found.pop(name) for name in ("drop", "only", "categorical", "date"))
            found |= {"drop": split_names(drop), "categorical": split_names(categorical), "date": {}}
            found["unlabeled"] = "drop" if found.pop("drop_unlabeled") else "error"
            found["features"] = None if only is None else split_names(only)
            for text in split_names(dates):
                name, equals, parts = text.rpartition("=")
                found["date"] |= {name: tuple(parts.split("+"))} if equals else {text: ()}
        return cls(**found, keep=() if group is None else (group,))

    def arguments(self, *names: str) -> dict[str, Any]:
        """Return some arguments of `read_bags`, as far as they are known."""
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}


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
    from fuzzymil import estimators

    with local_copy(path) as file:
        document = _document(file, json.MODEL)
        model = estimators.SavedModel.of(document, name=str(file)) if to_answer else None
        if model is None:
            model = estimators.model_from_dict(document, name=str(file))
    return model, _columns_of(document.get("extra"))


def output_names(model: Any) -> tuple[str, ...]:
    """Return the names of the outputs of a model's rules."""
    return tuple(model.members_[0].output_names)


def class_and_output(model: Any, wanted: str) -> tuple[Any, int | None]:
    """Return a class of a model, given as text, and the position of the output that is about it, if there is one.

    Of two classes, a single output is about the positive one.
    """
    if not hasattr(model, "classes_"):
        raise ParameterError("--class is for models of classes; this one predicts numbers.")
    names = {str(name): name for name in model.classes_.tolist()}
    known_name("class", wanted, names)
    if len(output_names(model)) > 1:
        return names[wanted], list(names).index(wanted)
    return names[wanted], 0 if names[wanted] == model.pos_label_ else None


def _columns_of(extra: Any) -> Columns:
    """Return the columns that a model file names; whatever else it has in their place is ignored."""
    found = extra.get("columns") if isinstance(extra, dict) else None
    kinds: dict[str, Any] = {"bag": str | int, "label": str | int, "drop": list, "seen": list}
    kinds |= {"decimal": str, "thousands": str}
    known: dict[str, Any] = {
        name: tuple(filter(lambda each: isinstance(each, str), value)) if kind is list else value
        for name, kind in kinds.items()
        if isinstance(found, dict) and isinstance(value := found.get(name), kind)
    }
    return Columns(**known)


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
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        advice = did_you_mean(path.name, names) or (" Create a model with fuzzymil fit." if what == "model" else "")
        raise InputError(f"File not found: {path}.{advice}")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path} is empty: pass a {what} file written by fuzzymil fit.")


def save(model: Any, path: Path, columns: Columns) -> None:
    """Write a model with the columns of its training data, which other commands then use by default."""
    from fuzzymil.estimators import model_to_dict, save_model

    known = {name: getattr(columns, name) for name in ("bag", "label", "drop", "seen")}
    extra = {"columns": known | columns.arguments("decimal", "thousands")}
    if path == STANDARD:
        text = json.dumps(model_to_dict(model, extra=extra), indent=1, allow_nan=False, ensure_ascii=False)
        try:
            emit(text)
        except OSError as problem:
            raise storage.rescued("model.json", text, problem) from None
    else:
        save_model(model, path, extra=extra)


# ---------------------------------------------------------------------- bags

_LARGE = 20_000_000  # bytes that take more than a moment to read


@dataclasses.dataclass(frozen=True)
class Source:
    """Bags, and where they came from."""

    name: str
    bags: Bags
    guess: Guess
    columns: Columns

    def matched(self, model: Any, *, to_answer: bool = False, quiet: bool = False) -> Bags:
        """Return the bags with the model's features, in its order; other columns are ignored.

        ``to_answer``: features that no rule reads may be missing from the file, which is reported unless ``quiet``.
        """
        from fuzzymil.estimators.inputs import trained_on
        from fuzzymil.rules import activations

        known, bags = trained_on(model), _with_columns(self.bags)
        own = bags.columns
        if isinstance(model, RuleFile):
            if known is not None and own is not None:
                self.check_absent(known, known.names, "the rules need")
            return activations.matched(model.rules, bags)
        if known is None or own is None:
            return bags  # the model itself reports what is wrong with them
        absent = dict.fromkeys(each.source for each in known if each.name not in own.names)
        unread = to_answer and absent and hasattr(model, "used_features_")
        needed = model.used_features_ if unread else known.names
        self.check_absent(known, needed, "rules read" if unread else "the model was trained on")
        if not quiet:
            from fuzzymil.datasets.formats import INSTANCE_LABEL

            expected: set[object] = {*known.sources, *self.columns.seen, *self.columns.keep, *self.columns.drop}
            expected |= {self.guess.bag, self.guess.label, INSTANCE_LABEL}
            spare = [name for name in self.guess.names or own.sources if name not in expected]
            if spare:
                note(f"Ignoring columns that the model was not trained on: {listed(spare)}.")
            if absent:
                noun, them = ("column", "it") if len(absent) == 1 else ("columns", "them")
                note(f"{self.name} has no {noun} {listed(absent)}; no rule reads {them}.")
        return bags if absent else bags.align(known)

    def check_absent(self, known: Features, needed: Collection[str], why: str) -> None:
        """Raise if the file has no column for a feature that is needed."""
        absent = next((each for each in known if each.name in needed and each.name not in self.bags.names), None)
        if absent is not None:
            every = dict.fromkeys(each.source for each in known if each.name in needed)
            has = self.guess.names or self.bags.names
            raise InputError(
                f"{self.name} has no column {absent.source!r}, which {why}. The columns needed are {listed(every)}; "
                f"the file has {listed(has)}.{did_you_mean(absent.source, has)}"
            )


def summary(bags: Any) -> str:
    """Return the size of bags, or of a Parquet file with bags."""
    return repr(bags).partition("(")[2].removesuffix(")")


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
        if labels and FORMATS[guess.format].has_columns and guess.label is None and columns.labels is None:
            raise InputError(_unlabeled(name, guess, remembered, file))
        bags = _read(file, used, guess, model)
    if labels and bags.labels is None:
        raise InputError(
            f"{name} has no labels, which this command needs: name a file with them, as in --labels labels.csv."
        )
    _report(name, guess, used, bags, model, brief=brief)
    label = guess.label if used.labels is None or bags.source is None else bags.source.label or None
    known = dataclasses.replace(used, bag=guess.bag, label=label, seen=used.seen or guess.names)
    return Source(name, bags, guess, known)


def read_both(
    model: Path, data: Path, columns: Columns, *, labels: bool = False, to_answer: bool = False
) -> tuple[Any, Source, Bags]:
    """Return a model, the data given with it, and the bags with the model's features; see `read_model`."""
    check_apart(model, data)
    fitted, remembered = read_model(model, to_answer=to_answer)
    source = read_data(data, columns, remembered=remembered, model=fitted, labels=labels)
    return fitted, source, source.matched(fitted, to_answer=to_answer)


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
    from fuzzymil.datasets import stream_bags
    from fuzzymil.datasets.formats.parquet import ScatteredBagsError

    with local_copy(path) as file:
        used, guess = _guess(file, columns, remembered, model)
        table = None
        if (
            guess.format == "parquet"
            and used.labels is None
            and not used.each_row
            and not _has_categories_or_dates(model)
        ):
            needed = {guess.bag, guess.label, *getattr(model, "feature_names_in_", guess.names)}
            drop = [name for name in guess.names if name not in needed or name in used.drop]
            try:
                table = stream_bags(file, **used.arguments("bag", "label"), drop=drop)
            except ScatteredBagsError:
                note(f"The rows of a bag are not contiguous: reading all of {_file_name(path)} at once.")
        parts: Iterable[Bags] = [_read(file, used, guess, model)] if table is None else table
        _report(_file_name(path), guess, used, table or next(iter(parts)), model)
        for number, bags in enumerate(parts):
            yield Source(_file_name(path), bags, guess, used).matched(model, to_answer=True, quiet=number > 0)


def read_stream(
    path: Path, columns: Columns, *, more: Sequence[Path] = (), remembered: Columns | None = None
) -> tuple[BagStream, Source]:
    """Return labeled bags that are read part by part, and a source with the first part.

    ``more``: further files of the same table.
    """
    if columns.labels is not None:
        raise ParameterError(
            "--labels needs the bags in memory: omit --stream, or write the labels into the Parquet file."
        )
    from fuzzymil.datasets import matching_files, stream_bags

    name = str(path) if not more else f"{path} and {len(more)} more"
    if not is_pipe(path):
        paths = matching_files([path, *more])
        path = paths[0]
    if is_pipe(path):
        name = "Standard input" if path == STANDARD else str(path)
        raise InputError(f"{name} cannot be streamed, because it can be read only once: name a Parquet file.")
    check_not_input(None, path)
    used, guess = _guess(path, columns, remembered)
    if guess.format != "parquet":
        raise InputError(f"{path} cannot be streamed: convert it with fuzzymil data convert {path} data.parquet.")
    if guess.label is None:
        raise InputError(_unlabeled(str(path), guess, None, path))
    stream = stream_bags(paths, **used.arguments("bag", "label", "drop"))
    _report(name, guess, used, stream)
    return stream, Source(str(path), stream.part(0), guess, Columns(guess.bag, guess.label, drop=used.drop))


def _file_name(path: Path) -> str:
    return STANDARD_INPUT if path == STANDARD else str(path)


def _guess(file: Path, columns: Columns, remembered: Columns | None = None, model: Any = None) -> tuple[Columns, Guess]:
    """Return the columns that are known, and how to read the file.

    The given columns are completed with those of the training data, as far as the file has them.
    """
    if isinstance(model, RuleFile):
        columns = model.columns(file, columns)
    if remembered is None:
        return columns, _guess_format(file, columns)
    bag = remembered.bag if columns.bag is None else columns.bag
    for label in (remembered.label, None) if columns.label is None else (columns.label,):
        used = dataclasses.replace(columns, bag=bag, label=label, seen=remembered.seen)
        with contextlib.suppress(ValueError):
            guess = _guess_format(file, used)
            drop = [name for name in (*remembered.drop, *used.drop) if name in guess.names and name not in used.keep]
            marks = ("decimal", "thousands") if guess.format == "csv" else ()
            changes = {name: getattr(remembered, name) for name in marks if getattr(used, name) is None}
            return dataclasses.replace(used, drop=tuple(drop), **changes), guess
    return columns, _guess_format(file, columns)


def _guess_format(file: Path, columns: Columns) -> Guess:
    from fuzzymil.datasets import guess_format

    names = ["format", "bag", "encoding", "each_row", "features", *(["label"] if columns.labels is None else [])]
    return guess_format(file, **columns.arguments(*names))


def _has_categories_or_dates(model: Any) -> bool:
    return any(column.kind != "number" for column in getattr(model, "columns_", ()))


def _read(file: Path, used: Columns, guess: Guess, model: Any = None) -> Bags:
    from fuzzymil.datasets import FORMATS, read_bags

    known = getattr(model, "columns_", None) if FORMATS[guess.format].takes_options else None
    names = ["bag", "label", "labels", "unlabeled", "encoding", "drop", "keep", "each_row", "decimal", "thousands"]
    names += ["features", "categorical", "date", "exclude_text"] if known is None else []
    slow = file.is_file() and file.stat().st_size >= _LARGE
    with working(f"Reading {file.name}", quick=not slow), warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedColumnsWarning)  # `_report` says it
        return read_bags(file, format=guess.format, columns=known, **used.arguments(*names))


def _with_columns(bags: Bags) -> Bags:
    """Return bags whose features have a meaning if they have names: they are numbers, unless it is known better."""
    from fuzzymil.bags import Column
    from fuzzymil.bags import Columns as Features

    if bags.columns is not None or bags.feature_names is None:
        return bags
    return bags.with_features(bags.instances, Features(map(Column, bags.names)))


def _report(name: str, guess: Guess, used: Columns, bags: Any, model: Any = None, *, brief: bool = False) -> None:
    if not brief:
        elsewhere = "" if used.labels is None else f", labels in {used.labels}"
        how = str(guess).removesuffix(", no labels" if elsewhere else "") + elsewhere
        note(f"{name}: {summary(bags)} ({how}).")
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


def _unlabeled(name: str, guess: Guess, remembered: Columns | None, file: Path) -> str:
    """Return that a file has no labels, which are needed, and where they could be."""
    if remembered is not None and remembered.label is not None:
        return (
            f"{name} has no column {remembered.label!r}, which had the labels in training, and this command needs "
            "labels: use labeled data, or choose another column with --label."
        )
    from fuzzymil.datasets.formats import DataFile
    from fuzzymil.datasets.proposals import proposal

    others = [name for name in guess.names if name != guess.bag]
    return (
        f"{name} has no column that looks like a label: choose one with --label"
        f"{f', one of {listed(others)}' if others else ''}; or name a file with the labels with --labels."
        f"{in_options(proposal(DataFile(file), guess.bag))}"
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
        return dataclasses.replace(columns, features=tuple(needed))

    def read(self, data: Path, columns: Columns) -> Bags:
        """Return the bags in a file with the features of the rules."""
        bags = read_data(data, columns, model=self).matched(self)
        self._note_missing_values(self._missing_values(bags))
        return bags

    def tables(self, data: Path, columns: Columns) -> Iterator[dict[str, list[Any]]]:
        """Yield tables: a column of bags, or of rows if each is a bag, and one per output."""
        import numpy as np

        missing: collections.Counter[str] = collections.Counter()
        for bags in read_parts(data, columns, remembered=None, model=self):
            missing.update(self._missing_values(bags))
            found = self.rules.infer(bags)
            uncovered = np.asarray(found.uncovered).reshape(len(found.output), -1).any(axis=1)
            if uncovered.any():
                note(f"{int(uncovered.sum())} of {bags.n_bags} have an output that no rule concludes: its default.")
            outputs = zip(self.rules.output_names, found.output.T.tolist(), strict=True)
            yield {self.about: bags.ids.tolist(), **dict(outputs)}
        self._note_missing_values(missing)

    def _missing_values(self, bags: Bags) -> dict[str, int]:
        """Return in how many bags a feature of conditions is missing, where the rules do not say what that means."""
        import numpy as np

        from fuzzymil.inference.membership import Missing

        asked = {condition.variable for rule in self.rules.rules for condition in rule.conditions}
        counts = np.logical_or.reduceat(np.isnan(bags.instances), bags.offsets[:-1]).sum(axis=0).tolist()
        return {
            variable.name: count
            for variable, count in zip(self.rules.variables, counts, strict=True)
            if count and variable.name in asked and not variable.missing_values
            if not any(isinstance(term, Missing) for term in variable.terms.values())
        }

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

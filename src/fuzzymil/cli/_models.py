"""Model files, and files of rules."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, known_name
from fuzzymil.cli._console import STANDARD, emit, is_pipe, local_copy

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

    @classmethod
    def from_options(
        cls,
        bag: str | None,
        label: str | None,
        drop: list[str] | None = None,
        only: list[str] | None = None,
        categorical: list[str] | None = None,
        date: list[str] | None = None,
        exclude_text: bool = False,
        decimal: str | None = None,
        thousands: str | None = None,
        encoding: str | None = None,
    ) -> Columns:
        """Return the columns given by the user; a number is a position, and commas separate columns.

        Examples
        --------
        >>> said = Columns.from_options("molecule", "3", ["date,url"])
        >>> said.bag, said.label, said.drop
        ('molecule', 3, ('date', 'url'))
        >>> Columns.from_options("user", None, date=["signup=date+weekday,visit"]).date
        {'signup': ('date', 'weekday'), 'visit': ()}
        """
        found = [int(text) if text is not None and text.isdecimal() else text for text in (bag, label)]
        dates = {}
        for text in listed_names(date):
            name, said, parts = text.rpartition("=")
            dates[name if said else text] = tuple(parts.split("+")) if said else ()
        return cls(
            found[0],
            found[1],
            listed_names(drop),
            None if only is None else listed_names(only),
            listed_names(categorical),
            dates,
            exclude_text,
            decimal=decimal,
            thousands=thousands,
            encoding=encoding,
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
            **self.notation(),
        }

    def notation(self) -> dict[str, str]:
        """Return the arguments of `read_bags` that say how numbers are written, if they are written unusually."""
        return {name: mark for name in ("decimal", "thousands") if (mark := getattr(self, name))}


def listed_names(texts: list[str] | None) -> tuple[str, ...]:
    """Return the names in texts that separate them by commas; quotation marks keep a comma in a name."""
    rows = csv.reader(texts or (), skipinitialspace=True)
    return tuple(name.strip() for row in rows for name in row if name.strip())


def read_model(path: Path, *, to_answer: bool = False) -> tuple[Any, Columns]:
    """Return a fitted model, and the columns of its training data as far as the file has them.

    Parameters
    ----------
    path : Path
    to_answer : bool
        Whether the model is only to predict and explain: a network then does not load scikit-learn.
    """
    from fuzzymil.rules import json

    _check_file(path, "model")
    if holds_rules(path):
        raise InputError(
            f"{path} holds rules, but a fitted model is expected here. Create one with fuzzymil fit data.csv --init "
            f"{path} -o model.json. predict, explain and plot use rules as they are: fuzzymil predict {path} data.csv."
        )
    with local_copy(path) as file:
        document = _document(file, json.MODEL)
        model = _answering(document, str(file)) if to_answer else None
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


def _answering(document: dict[str, Any], name: str) -> Any:
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
    """Return whether a file holds rules alone: rules in words, a fuzzy system of another program, or rules as JSON.

    Examples
    --------
    >>> holds_rules(Path("tipper.fis")), holds_rules(Path("model.json")), holds_rules(Path("-"))
    (True, False, False)
    """
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

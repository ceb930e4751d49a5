"""Rules from and to files, the format chosen by the ending of the file's name."""

from __future__ import annotations

import os
from pathlib import Path

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError, described, known_name
from fuzzymil.rules import json
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.formats import export, fis, fll, tables
from fuzzymil.rules.formats.system import to_rules
from fuzzymil.rules.language import parser
from fuzzymil.rules.mamdani import MamdaniRules
from fuzzymil.rules.mamdani import json as mamdani_file

__all__ = ["ENDINGS", "read_rules", "write_rules"]

ENDINGS = {
    ".json": "json",
    ".rules": "rules",
    ".txt": "rules",
    ".fll": "fll",
    ".fis": "fis",
    ".md": "markdown",
    ".tex": "latex",
}


def read_rules(path: storage.Path_) -> RuleBase | MamdaniRules:
    """Read the rules in a file, of whichever kind they are.

    Parameters
    ----------
    path : path
        A file that ends in ``.json`` (`RuleBase.save`), ``.rules`` or ``.txt`` (the rule language), ``.fll``
        (fuzzylite) or ``.fis`` (MATLAB). Text is UTF-8.

    Returns
    -------
    rules : RuleBase or MamdaniRules

    Raises
    ------
    RuleSyntaxError, ModelFileError
        Name the file, and the line of a text.

    Examples
    --------
    >>> import tempfile
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lost = write_rules(rules, f"{folder}/sky.fll")
    ...     read_rules(f"{folder}/sky.fll") == rules
    True
    """
    kind = _format_of(path)
    if kind in ("markdown", "latex"):
        raise ParameterError(f"{os.fspath(path)} holds a table, which cannot be read back: keep the rules as .json.")
    if kind == "json":
        return _from_json(path)
    try:
        return _from_text(_text(path), kind)
    except RuleSyntaxError as problem:
        raise RuleSyntaxError(f"{os.fspath(path)}: {problem}") from None


def write_rules(rules: RuleBase | MamdaniRules, path: storage.Path_) -> list[str]:
    """Write rules to a file; a failure leaves an older file whole.

    Parameters
    ----------
    rules : RuleBase or MamdaniRules
    path : path
        Its ending chooses the format: ``.json``, ``.rules`` or ``.txt`` (the rule language), ``.fll``, ``.fis``,
        ``.md`` or ``.tex`` (tables).

    Returns
    -------
    lost : list of str
        What the format does not keep, in plain sentences; see `what_is_lost`.

    Raises
    ------
    ParameterError
        For rules that cannot be written in this format.

    Examples
    --------
    >>> import tempfile
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rules(rules, f"{folder}/sky.json")
    []
    """
    if not isinstance(rules, RuleBase | MamdaniRules):
        raise ParameterError(f"Expected a RuleBase or MamdaniRules, got {described(rules)}.")
    kind = _format_of(path)
    lost = export.what_is_lost(rules, kind)
    if kind == "json":
        rules.save(path)
    else:
        storage.write_atomically(path, _WRITE[kind](rules))
    return lost


_WRITE = {
    "rules": lambda rules: rules.to_source(),
    "fll": export.to_fll,
    "fis": export.to_fis,
    "markdown": tables.to_markdown,
    "latex": tables.to_latex,
}


def _format_of(path: storage.Path_) -> str:
    ending = Path(path).suffix.lower()
    known_name("ending of a file of rules", ending, ENDINGS)
    return ENDINGS[ending]


def _from_json(path: storage.Path_) -> RuleBase | MamdaniRules:
    kinds = {
        json.FORMAT: json.FORMAT_VERSION,
        mamdani_file.FORMAT: mamdani_file.FORMAT_VERSION,
    }
    document = storage.read_document(path, kinds)
    try:
        return (RuleBase if document["format"] == json.FORMAT else MamdaniRules).from_dict(document)
    except ModelFileError as problem:
        raise ModelFileError(f"{os.fspath(path)}: {problem}") from None


def _text(path: storage.Path_) -> str:
    with open(path, "rb") as file:
        content = file.read(4 * parser.MAX_TEXT + 1)  # no character takes more bytes: longer texts are refused anyway
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        raise RuleSyntaxError(f"Line {line} is not UTF-8 text: save the file in that encoding.") from None


def _from_text(text: str, kind: str) -> RuleBase | MamdaniRules:
    if kind == "fll":
        return to_rules(fll.read(text))
    if kind == "fis":
        return to_rules(fis.read(text))
    said = [said for rule in parser.read(text).rules for said in rule.conclusions.values()]
    return MamdaniRules.parse(text) if said and isinstance(said[0], str) else RuleBase.parse(text)

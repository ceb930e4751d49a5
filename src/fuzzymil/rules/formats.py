"""Rules in files: JSON and rule text keep everything; the other formats are for other programs, or for readers.

>>> from fuzzymil.rules import RuleBase
>>> what_is_lost(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max"), "fll")
['The format has no bags: other programs infer one instance at a time.']
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError, described, known_name
from fuzzymil.rules import json
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files import fcl, fis, fll, fml
from fuzzymil.rules.files.export import FORMATS
from fuzzymil.rules.files.system import System
from fuzzymil.rules.files.words import ENDINGS
from fuzzymil.rules.language import parser

__all__ = ["ENDINGS", "FORMATS", "read_rules", "rules_of_model", "what_is_lost", "write_rules"]

READERS: dict[str, Callable[[str], System]] = {"fll": fll.read, "fis": fis.read, "fcl": fcl.read, "fml": fml.read}
"""Readers of other programs' formats."""

_OTHERS = (".fll", ".fis", ".fcl", ".fml", ".xml")
"""Endings of files that other programs write."""


def read_rules(path: storage.Path_, block: str | None = None) -> RuleBase:
    """Read the rules in a file, Sugeno or Mamdani.

    Parameters
    ----------
    path : path
        A file that ends in ``.json`` (`RuleBase.save`), ``.rules`` or ``.txt`` (the rule language), ``.fll``
        (fuzzylite), ``.fis`` (MATLAB), ``.fcl`` (IEC 61131-7) or ``.fml`` (IEEE 1855, also ``.xml``). Text is UTF-8;
        other programs' files may be UTF-16 or Windows-1252.
    block : str, optional
        Name of a function block, for FCL files with several of them.

    Returns
    -------
    rules : RuleBase

    Raises
    ------
    RuleSyntaxError, ModelFileError
        The message names the file, and in text the line.

    Examples
    --------
    >>> import tempfile
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], aggregation="max")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lost = write_rules(rules, f"{folder}/sky.fll")
    ...     read_rules(f"{folder}/sky.fll") == rules
    True
    """
    format = _format_of(path)
    if block is not None and format != "fcl":
        raise ParameterError(
            f"Only FCL files have function blocks: read {os.fspath(path)} without block={block!r:.60}."
        )
    if format in ("markdown", "latex", "python", "c"):
        kind = "a table" if format in ("markdown", "latex") else "code"
        raise ParameterError(f"{os.fspath(path)} is {kind}, which cannot be read back: save the rules as .json.")
    if format == "json":
        return _from_json(path)
    try:
        return _from_text(_text(path), format, block)
    except RuleSyntaxError as problem:
        raise RuleSyntaxError(f"{os.fspath(path)}: {problem}") from None


def write_rules(rules: RuleBase, path: storage.Path_) -> list[str]:
    """Write rules to a file; if that fails, an existing file stays intact.

    Parameters
    ----------
    rules : RuleBase
    path : path
        The ending selects the format: ``.json``, ``.rules`` or ``.txt`` (the rule language), ``.fll``, ``.fis``,
        ``.fcl``, ``.fml``, ``.md`` or ``.tex`` (tables), ``.py`` or ``.c`` (code).

    Returns
    -------
    lost : list of str
        Sentences about what the format does not keep; see `what_is_lost`.

    Raises
    ------
    ParameterError
        If the format cannot hold these rules.

    Examples
    --------
    >>> import tempfile
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rules(rules, f"{folder}/sky.json")
    []
    """
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"Expected a RuleBase, got {described(rules)}.")
    format = _format_of(path)
    lost = what_is_lost(rules, format)
    if format == "json":
        rules.save(path)
    else:
        to_text = rules.to_source if format == "rules" else getattr(rules, f"to_{format}")
        storage.write_atomically(path, to_text())
    return lost


def what_is_lost(rules: RuleBase, format: str) -> list[str]:
    """Return what a format does not keep of these rules, as sentences.

    Outputs for single instances (bags of one) stay the same unless stated otherwise; rules that other
    programs would misinterpret raise an error. Exported files begin with these sentences.

    Parameters
    ----------
    rules : RuleBase
    format : {"json", "rules", "fll", "fis", "fcl", "fml", "markdown", "latex", "python", "c"}
        "rules" is the text of ``to_source``. It and "json" keep everything.

    Raises
    ------
    ParameterError
        If the format cannot hold these rules.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], alpha=5.0)
    >>> for sentence in what_is_lost(rules, "fll"):
    ...     print(sentence)
    The format has no bags: other programs infer one instance at a time.
    The aggregation over instances (aggregation='softmax', alpha=5) is not kept: it is read back as aggregation='max'.
    >>> what_is_lost(rules, "json")
    []
    """
    known_name("format", format, FORMATS)
    return rules._losses(format)


def rules_of_model(document: Mapping[str, Any], name: str = "The model") -> list[RuleBase]:
    """Return the rules in the content of a model file, best first: one rule base, or the members of a committee.

    Unlike `fuzzymil.load_model`, this does not build the model, and so it does not load scikit-learn.

    Parameters
    ----------
    document : mapping
    name : str
        What error messages call the document.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> rules_of_model({"estimator": "MIANFISClassifier", "members": [rules.to_dict()]}) == [rules]
    True
    """
    try:
        if "members" in document:
            return [RuleBase.from_dict(content) for content in document["members"]]
        return [RuleBase.from_dict(document["rules"])]
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError) as problem:
        raise ModelFileError(storage.damaged(name, problem) + " Save the model again.") from None


def _format_of(path: storage.Path_) -> str:
    ending = Path(path).suffix.lower()
    known_name("file extension", ending, ENDINGS, "for rules")
    return ENDINGS[ending]


def _from_json(path: storage.Path_) -> RuleBase:
    try:
        return RuleBase.from_dict(storage.read_document(path, json.VERSIONS))
    except ModelFileError as problem:
        raise ModelFileError(f"{os.fspath(path)}: {problem}") from None


def _text(path: storage.Path_) -> str:
    with open(path, "rb") as file:
        content = file.read(4 * parser.MAX_TEXT + 1)  # a character has at most 4 bytes, and longer texts are rejected
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        if Path(path).suffix.lower() not in _OTHERS:
            raise RuleSyntaxError(f"Line {line} is not UTF-8 text: save the file in that encoding.") from None
    return content.decode("cp1252", errors="replace")  # other programs write the encoding of Western Windows


def _from_text(text: str, format: str, block: str | None) -> RuleBase:
    if format in READERS:
        system = READERS[format](text) if block is None else fcl.read(text, block)
        return RuleBase._from_system(system)
    return RuleBase.parse(text)

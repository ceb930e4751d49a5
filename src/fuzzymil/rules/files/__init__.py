"""Rules in files: JSON and rule text keep everything; the other formats are for other programs, or for readers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError, described, known_name
from fuzzymil._utils.registry import import_modules
from fuzzymil._version import __version__
from fuzzymil.rules import json
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files._format import ENDINGS, FORMATS, Format, format_of, register_format
from fuzzymil.rules.language import parser

__all__ = [
    "ENDINGS",
    "FORMATS",
    "Format",
    "export_rules",
    "format_of",
    "parse_rules",
    "read_rules",
    "register_format",
    "rules_of_model",
    "what_is_lost",
    "write_rules",
]

# ---------------------------------------------------------------------- files


def read_rules(path: storage.Path_, *, block: str | None = None) -> RuleBase:
    """Read the rules in a file, Sugeno or Mamdani.

    Parameters
    ----------
    path : path
        A file that ends in ``.json`` (`RuleBase.save`), ``.rules`` or ``.txt`` (the rule language), ``.fll``
        (fuzzylite), ``.fis`` (MATLAB), ``.fcl`` (IEC 61131-7) or ``.fml`` (IEEE 1855, also ``.xml``). Text is UTF-8;
        other programs' files may be UTF-16 or Windows-1252.
    block : str, optional
        Name of a function block, for FCL files with several of them.

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
    format, name = format_of(path), os.fspath(path)
    if format.read is None:
        raise ParameterError(f"{name} is {format.title}, which cannot be read back: save the rules as .json.")
    try:
        if format.name == "json":
            return RuleBase.from_dict(storage.read_document(path, json.VERSIONS))
        return parse_rules(_file_text(path, format), format.name, block=block)
    except RuleSyntaxError as problem:
        raise RuleSyntaxError(f"{name}: {problem}") from None
    except ModelFileError as problem:
        message = str(problem)
        raise ModelFileError(message if message.startswith(name) else f"{name}: {message}") from None


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
    text, lost = _export(rules, format_of(path).name)
    storage.write_atomically(path, text)
    return lost


# ---------------------------------------------------------------------- text


def parse_rules(text: str, format: str = "rules", *, block: str | None = None) -> RuleBase:
    """Parse rules, Sugeno or Mamdani, in the rule language or another program's.

    In other programs' formats, the instances of a bag are joined by their maximum (``aggregation="max"``).

    Parameters
    ----------
    text : str
    format : {"rules", "json", "fll", "fis", "fcl", "fml"}, or a registered one
        "rules" is the rule language.
    block : str, optional
        Name of a function block, for FCL with several of them.

    Raises
    ------
    RuleSyntaxError
        With every mistake and its place; in another program's text, with the first.

    Examples
    --------
    >>> parse_rules("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1").infer([[0.0]]).output.tolist()
    [[1.0]]
    """
    known_name("format", format, [name for name, known in FORMATS.items() if known.read is not None])
    read = FORMATS[format].read
    assert read is not None
    if block is None:
        return read(text)
    if format != "fcl":
        raise ParameterError(f"Only FCL has function blocks, not {FORMATS[format].title}: omit block={block!r:.60}.")
    return read(text, block)


def export_rules(rules: RuleBase, format: str, **options: Any) -> str:
    """Return rules as text in a format; comments at the top list what other programs' formats do not keep.

    Parameters
    ----------
    rules : RuleBase
    format : {"json", "rules", "fll", "fis", "fcl", "fml", "markdown", "latex", "python", "c"}, or a registered one
        "rules" is the rule language. Tables in Markdown and LaTeX have one row per rule. Code in Python and C99 has
        functions ``infer`` and ``infer_bag`` that need nothing else.
    **options
        For tables: ``max_conditions``, the number of conditions to show per rule, most selective first (default: all);
        and ``digits``, the significant digits of numbers (default 4; None writes them exactly).

    Raises
    ------
    ParameterError
        If the format cannot hold these rules.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"], aggregation="max")
    >>> print(export_rules(rules, "markdown"))
    | rule | hue | y |
    | --- | --- | --- |
    | 1 | low: Gaussian(0, 0.3) | 0 |
    | 2 | high: Gaussian(1, 0.3) | 1 |
    >>> module = {}
    >>> exec(export_rules(rules, "python"), module)
    >>> module["infer"]([0.5]), module["infer_bag"]([[0.5], [1.0]])
    ([0.5], [0.8004...])
    """
    return _export(rules, format, **options)[0]


def what_is_lost(rules: RuleBase, format: str) -> list[str]:
    """Return what a format does not keep of these rules, as sentences.

    Outputs for single instances (bags of one) stay the same unless stated otherwise; rules that other
    programs would misinterpret raise an error. Exported files begin with these sentences.

    Parameters
    ----------
    rules : RuleBase
    format : str
        As in `export_rules`. "rules" and "json" keep everything.

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
    """
    return _export(rules, format)[1]


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


def _export(rules: RuleBase, format: str, **options: Any) -> tuple[str, list[str]]:
    known_name("format", format, FORMATS)
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"Expected a RuleBase, got {described(rules)}.")
    return FORMATS[format].write(rules, **options)


def _file_text(path: storage.Path_, format: Format) -> str:
    with open(path, "rb") as file:
        content = file.read(4 * parser.MAX_TEXT + 1)  # a character has at most 4 bytes, and longer texts are rejected
    try:
        return content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content.count(b"\n", 0, problem.start) + 1
        if format.name == "rules":
            raise RuleSyntaxError(f"Line {line} is not UTF-8 text: save the file in that encoding.") from None
    return content.decode("cp1252", errors="replace")  # other programs write the encoding of Western Windows


# ---------------------------------------------------------------------- our own formats, which keep everything


def _write_json(rules: RuleBase) -> tuple[str, list[str]]:
    content = {"library": __version__, **rules.to_dict()}
    return storage.document_text(json.FORMAT, json.VERSIONS[json.FORMAT], content), []


def _read_json(text: str) -> RuleBase:
    return RuleBase.from_dict(storage.parse_document(text, json.VERSIONS, "The text"))


def _write_source(rules: RuleBase) -> tuple[str, list[str]]:
    return rules.to_source(), []


register_format(Format("json", "JSON", (".json",), _write_json, _read_json))
register_format(Format("rules", "the rule language", (".rules", ".txt"), _write_source, RuleBase.parse))
import_modules(__name__)

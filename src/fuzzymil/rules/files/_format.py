"""File formats for rules, and the registry of them all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from fuzzymil._utils import registry, storage
from fuzzymil._utils.errors import known_name
from fuzzymil.rules._rule_base import RuleBase


@dataclass(frozen=True)
class Format:
    """A file format for rules.

    Attributes
    ----------
    name : str
        Value of ``format=``.
    title : str
        What messages call a text in this format.
    endings : tuple of str
        File name extensions that select the format.
    write : callable
        ``write(rules, **options)`` returns the text, and a list of sentences about what it does not keep. Raises
        `ParameterError` if the format cannot hold the rules.
    read : callable, optional
        ``read(text)`` returns the rules, or raises `RuleSyntaxError`; FCL has ``read(text, block)``. None if texts
        cannot be read back.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    write: Callable[..., tuple[str, list[str]]] = field(repr=False)
    read: Callable[..., RuleBase] | None = field(default=None, repr=False)


FORMATS: dict[str, Format] = {}
"""The known formats by name."""
ENDINGS: dict[str, str] = {}
"""File name extensions, and the name of the format that each selects."""


def register_format(format: Format) -> None:
    """Add a file format for rules.

    Examples
    --------
    >>> def count(rules):
    ...     return f"{rules.n_rules} rules", ["Everything but the number of rules is lost."]
    >>> register_format(Format(name="count", title="a count", endings=(".count",), write=count))
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.rules.files import export_rules
    >>> export_rules(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]), "count")
    '2 rules'
    >>> del FORMATS["count"], ENDINGS[".count"]
    """
    registry.register(FORMATS, "Format", format.name, format)
    ENDINGS.update(dict.fromkeys(format.endings, format.name))


def format_of(path: storage.Path_) -> Format:
    """Return the format that the ending of a path selects.

    Examples
    --------
    >>> format_of("lamp.FLL").name
    'fll'
    >>> format_of("lamp.flll")
    Traceback (most recent call last):
    ...
    fuzzymil.ParameterError: Unknown file extension '.flll' for rules; choose from ... Did you mean '.fll'?
    """
    ending = Path(path).suffix.lower()
    known_name("file extension", ending, ENDINGS, "for rules")
    return FORMATS[ENDINGS[ending]]

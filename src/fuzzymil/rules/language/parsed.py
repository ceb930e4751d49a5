"""What the parser found in a text, before rules are built from it."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from fuzzymil.rules.language.lexer import Place
from fuzzymil.rules.language.mistakes import Mistakes
from fuzzymil.rules.premise import Expression, Is
from fuzzymil.rules.rule import Variable

__all__ = ["Linear", "Parsed", "ParsedRule"]


class Linear(NamedTuple):
    """A conclusion ``constant + slopes``."""

    constant: float
    slopes: dict[str, float]


class ParsedRule(NamedTuple):
    """One rule; a conclusion is a linear function, or a term of the output; None after a mistake."""

    premise: Expression
    conclusions: dict[str, Linear | Is | None]
    weight: float
    place: Place
    adds: Place | None  # of the first ``+=`` or ``-=``
    sets: Place | None  # of the first ``=``
    label: str = ""
    comment: str = ""


@dataclasses.dataclass
class Parsed:
    """The content of a text, and its mistakes."""

    variables: dict[str, Variable] = dataclasses.field(default_factory=dict)
    outputs: dict[str, Variable] = dataclasses.field(default_factory=dict)  # those with terms
    settings: dict[str, object] = dataclasses.field(default_factory=dict)
    places: dict[str, Place] = dataclasses.field(default_factory=dict)  # of the settings
    defaults: dict[str, tuple[float, Place]] = dataclasses.field(default_factory=dict)  # of the outputs
    rules: list[ParsedRule] = dataclasses.field(default_factory=list)
    comment: str = ""  # on the text as a whole
    mistakes: Mistakes = dataclasses.field(default_factory=Mistakes)
    damaged: set[str] = dataclasses.field(default_factory=set)  # variables and outputs whose terms are not all known
    is_complete: bool = True  # whether no statement had to be given up, so that what rules conclude can be compared

"""Premises of rules: conditions on an instance, joined by AND, OR and NOT.

A premise is a small tree of immutable values, such as ``And((Is("hue", "blue"), Not(Or(...))))``. `arrange`
assigns each condition a place in the network's arrays of fuzzy sets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError, described, known_name
from fuzzymil.network.premises import HEDGES, Form, Group, Place, Premises

__all__ = [
    "ANYTHING",
    "MAX_CONDITIONS",
    "MAX_DEPTH",
    "TOO_DEEP",
    "And",
    "Arrangement",
    "Expression",
    "Is",
    "Not",
    "Or",
    "arrange",
    "check_premise",
    "conditions",
    "conjunction",
    "depth",
    "negations",
    "plain_conditions",
    "simplified",
]

MAX_DEPTH = 100  # levels of parentheses, NOTs and hedges; far more than anybody can read
MAX_CONDITIONS = 1000  # of a premise that is not a plain conjunction: these are compiled one by one
TOO_DEEP = f"A premise can have at most {MAX_DEPTH} levels of parentheses, NOTs and hedges."


# ---------------------------------------------------------------------- the tree


@dataclasses.dataclass(frozen=True)
class Is:
    """A condition: ``variable is [hedges] term``. The hedge next to the term is applied first.

    Examples
    --------
    >>> Is("depth", "low", ("not", "very"))  # depth is not very low
    Is(variable='depth', term='low', hedges=('not', 'very'))
    """

    variable: str
    term: str
    hedges: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "hedges", tuple(self.hedges))
        for hedge in self.hedges:
            known_name("hedge", hedge, HEDGES)


@dataclasses.dataclass(frozen=True)
class Not:
    """The complement of a premise.

    Examples
    --------
    >>> Not(Is("depth", "low"))
    Not(part=Is(variable='depth', term='low', hedges=()))
    """

    part: Expression

    def __post_init__(self) -> None:
        _check_parts((self.part,))


@dataclasses.dataclass(frozen=True)
class And:
    """All of the parts, joined by the T-norm of the rule base; without parts it is always true.

    Examples
    --------
    >>> len(And((Is("depth", "low"), Is("size", "big"))).parts)
    2
    """

    parts: tuple[Expression, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        _check_parts(self.parts)


@dataclasses.dataclass(frozen=True)
class Or:
    """Any of the parts, joined by the S-norm of the rule base.

    Examples
    --------
    >>> len(Or((Is("depth", "low"), Is("depth", "high"))).parts)
    2
    """

    parts: tuple[Expression, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        _check_parts(self.parts)
        if not self.parts:
            raise ParameterError("OR needs at least one part.")


Expression = Is | Not | And | Or


def _check_parts(parts: tuple[object, ...]) -> None:
    """Raise `ParameterError` unless all parts are premises."""
    for part in parts:
        if not isinstance(part, Expression):
            raise ParameterError(f"A premise must consist of Is, And, Or and Not, got {described(part)}.")


ANYTHING = And()


def conjunction(antecedent: Mapping[str, str]) -> Expression:
    """Return ``variable is term AND ...`` for a mapping of variables to terms.

    Examples
    --------
    >>> conjunction({"hue": "blue"})
    And(parts=(Is(variable='hue', term='blue', hedges=()),))
    """
    return And(tuple(Is(str(variable), str(term)) for variable, term in antecedent.items()))


def conditions(premise: Expression) -> Iterator[Is]:
    """Iterate over the conditions of a premise, from left to right."""
    if isinstance(premise, Is):
        yield premise
    else:
        for part in (premise.part,) if isinstance(premise, Not) else premise.parts:
            yield from conditions(part)


def negations(premise: Expression, inside: bool = False) -> Iterator[bool]:
    """Iterate over whether each condition, from left to right, is inside an odd number of NOTs.

    Examples
    --------
    >>> list(negations(Not(Or((Is("hue", "blue"), Not(Is("hue", "green")))))))
    [True, False]
    """
    if isinstance(premise, Is):
        yield inside
    else:
        for part in (premise.part,) if isinstance(premise, Not) else premise.parts:
            yield from negations(part, inside != isinstance(premise, Not))


def depth(premise: Expression) -> int:
    """Count the levels of a premise, one per hedge; without recursion, since it guards against too many levels.

    Examples
    --------
    >>> depth(Is("hue", "blue")), depth(Not(Is("hue", "blue", ("very",))))
    (1, 3)
    """
    greatest, open_parts = 0, [(premise, 1)]
    while open_parts:
        node, level = open_parts.pop()
        if isinstance(node, Is):
            greatest = max(greatest, level + len(node.hedges))
            continue
        greatest = max(greatest, level)
        inner = (node.part,) if isinstance(node, Not) else node.parts
        open_parts.extend((part, level + 1) for part in inner)
    return greatest


def check_premise(premise: Expression) -> None:
    """Raise `ParameterError` unless this is a premise that can be computed in reasonable time."""
    _check_parts((premise,))
    if depth(premise) > MAX_DEPTH:
        raise ParameterError(TOO_DEEP)
    if plain_conditions(premise) is None and len(list(conditions(premise))) > MAX_CONDITIONS:
        raise ParameterError(
            f"A premise with OR, NOT, hedges or repeated variables can have at most {MAX_CONDITIONS:,} conditions."
        )


def simplified(premise: Expression) -> Expression:
    """Return the premise without ANDs and ORs of a single part, which text cannot express.

    Examples
    --------
    >>> simplified(Or((And((Is("hue", "blue"),)),)))
    Is(variable='hue', term='blue', hedges=())
    """
    if isinstance(premise, Is):
        return premise
    if isinstance(premise, Not):
        return Not(simplified(premise.part))
    parts = tuple(map(simplified, premise.parts))
    return parts[0] if len(parts) == 1 else type(premise)(parts)


def plain_conditions(premise: Expression) -> dict[str, str] | None:
    """Return a dict of variable to term if the premise is a plain conjunction, else None.

    A plain conjunction has no OR, NOT or hedge, and each variable at most once.

    Examples
    --------
    >>> plain_conditions(And((Is("hue", "blue"), Is("size", "big"))))
    {'hue': 'blue', 'size': 'big'}
    >>> plain_conditions(Not(Is("hue", "blue"))) is None
    True
    """
    parts = (premise,) if isinstance(premise, Is) else premise.parts if isinstance(premise, And) else (None,)
    if not all(isinstance(part, Is) and not part.hedges for part in parts):
        return None
    found = {part.variable: part.term for part in parts if isinstance(part, Is)}
    return found if len(found) == len(parts) else None


# ---------------------------------------------------------------------- places in the network's arrays


class Arrangement(NamedTuple):
    """The place of each condition's fuzzy set, in rows of sets: one row per rule first, then additional ones."""

    n_rows: int
    terms: dict[Place, tuple[str, str]]  # place to variable and term
    premises: Premises | None  # None: every premise is the plain conjunction of its rule's row


def arrange(premises: Sequence[Expression], column: Mapping[str, int]) -> Arrangement:
    """Assign every condition a place; a second condition of a rule on a variable gets an additional row.

    Parameters
    ----------
    premises : sequence of Expression
    column : mapping
        Column of each variable.
    """
    terms: dict[Place, tuple[str, str]] = {}
    n_rows = len(premises)
    groups: dict[Form, tuple[list[int], list[tuple[Place, ...]]]] = {}
    for rule, premise in enumerate(premises):
        rows = [rule]
        places: list[Place] = []

        def settle(condition: Is, rows: list[int] = rows, places: list[Place] = places) -> int:
            nonlocal n_rows
            wanted = (condition.variable, condition.term)
            d = column[condition.variable]
            free = next((row for row in rows if terms.get((row, d), wanted) == wanted), None)
            if free is None:
                free = n_rows
                n_rows += 1
                rows.append(free)
            terms[free, d] = wanted
            places.append((free, d))
            return len(places) - 1

        if plain_conditions(premise) is not None:
            for condition in conditions(premise):
                settle(condition)
            form: Form = ("row",)
            places.clear()
        else:
            form = _form(premise, settle, favorable=True)
        members, all_places = groups.setdefault(form, ([], []))
        members.append(rule)
        all_places.append(tuple(places))
    if groups.keys() == {("row",)}:
        return Arrangement(n_rows, terms, None)
    found = tuple(Group(form, tuple(members), tuple(where)) for form, (members, where) in groups.items())
    return Arrangement(n_rows, terms, found)


def _form(premise: Expression, settle: Callable[[Is], int], *, favorable: bool) -> Form:
    if isinstance(premise, Is):
        return ("is", settle(premise), premise.hedges, favorable)
    if isinstance(premise, Not):
        return ("not", _form(premise.part, settle, favorable=not favorable))
    kind = "and" if isinstance(premise, And) else "or"
    return (kind, *(_form(part, settle, favorable=favorable) for part in premise.parts))

"""Places for the conditions of rules in the network's arrays of fuzzy sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fuzzymil.inference.premises import Form, Group, Join, Parts, Place, Premises
from fuzzymil.rules.premise import (
    And,
    Expression,
    Is,
    Not,
    Part,
    Quantified,
    conditions,
    inside,
    is_quantified,
    parts_of,
    plain_conditions,
)

__all__ = ["Arrangement", "arrange"]


class Arrangement(NamedTuple):
    """The place of each condition's fuzzy set, in rows of sets: one row per part first, then additional ones."""

    n_rows: int
    terms: dict[Place, tuple[str, str]]  # place to variable and term
    places: tuple[tuple[Place, ...], ...]  # of the conditions of each part, from left to right
    premises: Premises | None  # None: every premise is the plain conjunction of its rule's row, or see ``parts``
    parts: Parts | None  # None: no premise is quantified


def arrange(
    premises: Sequence[Expression], column: Mapping[str, int], family: Callable[[Is], str] = lambda condition: ""
) -> Arrangement:
    """Assign every condition a place; a second condition of a part on a variable gets an additional row.

    Parameters
    ----------
    premises : sequence of Expression
    column : mapping
        Column of each variable.
    family : callable
        Returns the name of the family of a condition's set.
    """
    all_parts = [part for rule, premise in enumerate(premises) for part in parts_of(rule, premise)]
    quantified = any(part.quantifier is not None for part in all_parts)
    terms: dict[Place, tuple[str, str]] = {}
    n_rows = len(all_parts)
    in_text: list[tuple[Place, ...]] = []
    groups: dict[tuple[Form, tuple[str, ...]], tuple[list[int], list[tuple[Place, ...]]]] = {}
    for number, part in enumerate(all_parts):
        rows = [number]
        places: list[Place] = []
        families: list[str] = []

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

        plain = plain_conditions(part.premise) is not None
        asked = list(conditions(part.premise))
        if plain:
            for condition in asked:
                settle(condition)
            form: Form = ("row", not part.negated) if quantified else ("row",)
        else:
            form = _form(part.premise, settle, favorable=not part.negated)
        in_text.append(tuple(places))
        if quantified:
            families = [family(condition) for condition in asked]
        if plain:
            # The order of a conjunction is free, so that more parts have the same form.
            order = sorted(range(len(families)), key=families.__getitem__)
            families, places = [families[n] for n in order], [places[n] for n in order]
        members, all_places = groups.setdefault((form, tuple(families)), ([], []))
        members.append(number)
        all_places.append(tuple(places))
    found = tuple(
        Group(form, tuple(members), tuple(where), kinds) for (form, kinds), (members, where) in groups.items()
    )
    arranged = Arrangement(n_rows, terms, tuple(in_text), None, None)
    if quantified:
        return arranged._replace(parts=_parts(found, all_parts, premises))
    return arranged if groups.keys() == {(("row",), ())} else arranged._replace(premises=found)


def _form(premise: Expression, settle: Callable[[Is], int], *, favorable: bool) -> Form:
    if isinstance(premise, Is):
        return ("is", settle(premise), premise.hedges, favorable)
    if isinstance(premise, Not):
        return ("not", _form(premise.part, settle, favorable=not favorable))
    kind = "and" if isinstance(premise, And) else "or"
    return (kind, *(_form(part, settle, favorable=favorable) for part in inside(premise)))


def _parts(truths: tuple[Group, ...], all_parts: Sequence[Part], premises: Sequence[Expression]) -> Parts:
    """Describe the parts to the network, and how those of each rule are joined."""
    groups: dict[Form, tuple[list[int], list[tuple[int, ...]]]] = {}
    for rule, premise in enumerate(premises):
        own = tuple(number for number, part in enumerate(all_parts) if part.rule == rule)
        form = _bag_form(premise, iter(range(len(own)))) if is_quantified(premise) else ("part", 0)
        members, all_numbers = groups.setdefault(form, ([], []))
        members.append(rule)
        all_numbers.append(own)
    return Parts(
        truths=truths,
        quantifiers=tuple(
            None if part.quantifier is None else (part.quantifier, part.count or 1) for part in all_parts
        ),
        firing=tuple(Join(form, tuple(members), tuple(numbers)) for form, (members, numbers) in groups.items()),
        rules=tuple(part.rule for part in all_parts),
    )


def _bag_form(premise: Expression, numbers: Iterator[int]) -> Form:
    if isinstance(premise, Quantified):
        return ("part", next(numbers))
    if isinstance(premise, Not):
        return ("not", _bag_form(premise.part, numbers))
    kind = "and" if isinstance(premise, And) else "or"
    return (kind, *(_bag_form(part, numbers) for part in inside(premise)))

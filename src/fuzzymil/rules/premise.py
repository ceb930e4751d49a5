"""Premises of rules: conditions on an instance, joined by AND, OR and NOT, and quantifiers over the instances of a bag.

A premise is a small tree of immutable values, such as ``And((Is("hue", "blue"), Not(Or(...))))``. It is either about
one instance, or about the bag: AND, OR and NOT of quantified parts, such as ``Quantified("some", Is("hue", "blue"))``.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError, described, known_name
from fuzzymil.inference.premises import HEDGES, Form, Group, Join, Parts, Place, Premises
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS

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


@dataclasses.dataclass(frozen=True)
class Quantified:
    """A part of a premise that is about the bag: how many of its instances satisfy a premise.

    Parameters
    ----------
    quantifier : {"some", "all", "most", "on average", "at least"}
        *some* is the greatest truth over the instances, *all* the least, *on average* the mean, *most* the mean on a
        ramp from 0.3 to 0.8, *at least* the truth that ``count`` instances reach.
    part : Expression
        A premise about one instance; `ANYTHING` counts the instances themselves.
    count : int, optional
        For *at least*.

    Examples
    --------
    >>> Quantified("at least", Is("hue", "blue"), 3)
    Quantified(quantifier='at least', part=Is(variable='hue', term='blue', hedges=()), count=3)
    """

    quantifier: str
    part: Expression
    count: int | None = None

    def __post_init__(self) -> None:
        known_name("quantifier", self.quantifier, QUANTIFIERS)
        _check_parts((self.part,))
        count = self.count
        if self.quantifier not in COUNTING:
            if count is not None:
                raise ParameterError(f"The quantifier {self.quantifier!r} takes no count, got {count!r}.")
        elif not isinstance(count, numbers.Integral) or isinstance(count, bool) or count < 1:
            raise ParameterError(f"The quantifier {self.quantifier!r} needs a count of at least 1, got {count!r}.")
        else:
            object.__setattr__(self, "count", int(count))


Expression = Is | Not | And | Or | Quantified


def _check_parts(parts: tuple[object, ...]) -> None:
    """Raise `ParameterError` unless all parts are premises."""
    for part in parts:
        if not isinstance(part, Expression):
            raise ParameterError(f"A premise must consist of Is, And, Or, Not and Quantified, got {described(part)}.")


def inside(premise: Expression) -> tuple[Expression, ...]:
    """Return the premises directly inside another."""
    if isinstance(premise, Is):
        return ()
    return (premise.part,) if isinstance(premise, Not | Quantified) else premise.parts


def with_parts(premise: Expression, parts: Iterable[Expression]) -> Expression:
    """Return a premise with other premises directly inside it."""
    if isinstance(premise, Is):
        return premise
    if isinstance(premise, Not | Quantified):
        return dataclasses.replace(premise, part=next(iter(parts)))
    return type(premise)(tuple(parts))


ANYTHING = And()


def conjunction(antecedent: Mapping[str, str]) -> Expression:
    """Return ``variable is term AND ...`` for a mapping of variables to terms."""
    return And(tuple(Is(str(variable), str(term)) for variable, term in antecedent.items()))


def conditions(premise: Expression) -> Iterator[Is]:
    """Iterate over the conditions of a premise, from left to right."""
    if isinstance(premise, Is):
        yield premise
    for part in inside(premise):
        yield from conditions(part)


def negations(premise: Expression, negated: bool = False) -> Iterator[bool]:
    """Iterate over whether each condition, from left to right, is inside an odd number of NOTs."""
    if isinstance(premise, Is):
        yield negated
    for part in inside(premise):
        yield from negations(part, negated != isinstance(premise, Not))


def depth(premise: Expression) -> int:
    """Count the levels of a premise, one per hedge; without recursion, since it guards against too many levels."""
    greatest, open_parts = 0, [(premise, 1)]
    while open_parts:
        node, level = open_parts.pop()
        if isinstance(node, Is):
            greatest = max(greatest, level + len(node.hedges))
            continue
        greatest = max(greatest, level)
        open_parts.extend((part, level + 1) for part in inside(node))
    return greatest


def check_premise(premise: Expression) -> None:
    """Raise `ParameterError` unless this is a premise that can be computed in reasonable time."""
    _check_parts((premise,))
    if depth(premise) > MAX_DEPTH:
        raise ParameterError(TOO_DEEP)
    if is_quantified(premise):
        _check_quantified(premise)
    curved = [part.premise for part in parts_of(0, premise) if plain_conditions(part.premise) is None]
    if sum(len(list(conditions(part))) for part in curved) > MAX_CONDITIONS:
        raise ParameterError(f"A premise with OR, NOT or hedges can have at most {MAX_CONDITIONS:,} conditions.")


def _check_quantified(premise: Expression) -> None:
    if isinstance(premise, Is):
        which = f"{premise.variable!r} is {' '.join((*premise.hedges, repr(premise.term)))}"
        advice = "quantify it as well (SOME, ALL, MOST, ...), because the premise is about the whole bag"
        raise ParameterError(f"The condition {which} stands beside a quantified one: {advice}.")
    if isinstance(premise, Quantified):
        if is_quantified(premise.part):
            advice = "join quantified conditions by AND, OR and NOT"
            raise ParameterError(f"A quantifier cannot stand inside another one ({premise.quantifier!r}): {advice}.")
        return
    for part in inside(premise):
        _check_quantified(part)


def is_quantified(premise: Expression) -> bool:
    """Return whether a premise is about the bag: whether there is a quantifier in it."""
    return isinstance(premise, Quantified) or any(map(is_quantified, inside(premise)))


def asked_of_one(premise: Expression) -> Expression:
    """Return the premise as it is asked of one instance: ``AT LEAST 3`` asks whether the instance is among the three.

    A count of the instances themselves remains a question about the bag.
    """
    if isinstance(premise, Quantified):
        counts = premise.quantifier in COUNTING and any(True for _ in conditions(premise.part))
        return dataclasses.replace(premise, count=1) if counts else premise
    return with_parts(premise, map(asked_of_one, inside(premise)))


def simplified(premise: Expression) -> Expression:
    """Return the premise without ANDs and ORs of a single part, which text cannot express."""
    parts = tuple(map(simplified, inside(premise)))
    return parts[0] if isinstance(premise, And | Or) and len(parts) == 1 else with_parts(premise, parts)


def premise_key(premise: Expression) -> Hashable:
    """Return a key that premises share if they differ only in the order of what AND and OR join."""
    if isinstance(premise, Is):
        return premise
    if isinstance(premise, Not):
        return "not", premise_key(premise.part)
    if isinstance(premise, Quantified):
        return premise.quantifier, premise.count, premise_key(premise.part)
    counts = Counter(map(premise_key, premise.parts))
    return "and" if isinstance(premise, And) else "or", frozenset(counts.items())


def plain_conditions(premise: Expression) -> dict[str, str] | None:
    """Return a dict of variable to term if the premise is a plain conjunction, else None.

    A plain conjunction has no OR, NOT, hedge or quantifier, and each variable at most once.
    """
    parts = (premise,) if isinstance(premise, Is) else premise.parts if isinstance(premise, And) else (None,)
    if not all(isinstance(part, Is) and not part.hedges for part in parts):
        return None
    found = {part.variable: part.term for part in parts if isinstance(part, Is)}
    return found if len(found) == len(parts) else None


# ---------------------------------------------------------------------- parts


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a rule's premise that is joined over the instances of a bag: a quantified one, or all of it.

    Parameters
    ----------
    rule : int
        Position of the rule, from 0.
    premise : Expression
        About one instance.
    quantifier : str or None
        None: the rule has no quantifier, and the rule base's ``aggregation`` joins the instances.
    count : int or None
        For *at least*.
    negated : bool
        Whether it is inside an odd number of NOTs.
    """

    rule: int
    premise: Expression
    quantifier: str | None = None
    count: int | None = None
    negated: bool = False

    @property
    def expression(self) -> Expression:
        """The part as it stands in the premise: its quantifier, if it has one, and what it asks of an instance."""
        return self.premise if self.quantifier is None else Quantified(self.quantifier, self.premise, self.count)


def parts_of(rule: int, premise: Expression) -> list[Part]:
    """Return the parts of a rule's premise, from left to right."""
    if not is_quantified(premise):
        return [Part(rule, premise)]

    def found(premise: Expression, negated: bool) -> Iterator[Part]:
        if isinstance(premise, Quantified):
            yield Part(rule, premise.part, premise.quantifier, premise.count, negated)
        else:
            for part in inside(premise):
                yield from found(part, negated != isinstance(premise, Not))

    return list(found(premise, False))


# ---------------------------------------------------------------------- places in the network's arrays of fuzzy sets


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

    ``column``: column of each variable. ``family``: returns the name of the family of a condition's set.
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

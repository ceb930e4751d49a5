"""Rules as cards, for reports and notebooks: each rule in words, its fuzzy sets drawn."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil._utils.colors import class_mark, class_of_rule
from fuzzymil._utils.drawings import bar
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.conclusion import WEIGHTED
from fuzzymil.rules.curves import Sketch, Sketcher
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import Is, Part, negations
from fuzzymil.rules.premise import conditions as conditions_of
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["SHOWN", "Condition", "card", "conditions", "how_many", "in_numbers", "limited", "rule_cards"]

SHOWN = 8
"""Conditions of a rule that are drawn."""

_RULES = 30  # cards in a notebook
_OPEN = 6  # of them, those that are open


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition of a rule: its text, its fuzzy set in numbers, and a drawing, unless it is folded.

    ``heading`` says how many instances a quantified part is about; it is empty for all but its first condition.
    """

    text: str
    set: str
    sketch: Sketch | None
    heading: str = ""


def conditions(base: RuleSet, r: int, sketcher: Sketcher, *, with_data: bool = False) -> tuple[Condition, ...]:
    """Return the conditions of a rule; in a plain conjunction the most selective come first.

    Parameters
    ----------
    base : RuleBase
    r : int
        Position of the rule.
    sketcher : Sketcher
        Of the rules' variables.
    with_data : bool
        Whether to draw histograms of the data behind the sets.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0]], [[0.3]], [1], feature_names=["hue"])
    >>> [(each.text, each.set) for each in conditions(rules, 0, Sketcher(rules.variables, np.zeros((0, 1))))]
    [('hue is medium', 'Gaussian(0, 0.3)')]
    """
    found: list[Condition] = []
    for part in base.parts:
        if part.rule != r:
            continue
        heading = how_many(part)
        for condition, negated in _ordered(base, base.rules[r], part):
            variable = base.variables[base.feature_names.index(condition.variable)]
            hedges = ("not", *condition.hedges) if negated else condition.hedges
            drawn = None
            if len(found) < SHOWN:
                drawn = sketcher.draw(variable.name, condition.term, hedges, with_data=with_data)
            text = ("NOT " if negated else "") + printer.premise_text(condition)
            found.append(Condition(text, in_numbers(variable, condition.term), drawn, heading))
            heading = ""
    return tuple(found)


def in_numbers(variable: Variable, term: str) -> str:
    """Return a set in numbers; the name of a category, a date or a time of day says it all."""
    if variable.shown(0.0) is not None:
        return ""
    unit = f" {variable.unit}" if variable.unit else ""
    return printer.format_set(variable.terms[term], 3).replace("-", "\N{MINUS SIGN}") + unit


def how_many(part: Part) -> str:
    """Return how many instances a part is about: ``in some instance``; empty without a quantifier.

    Examples
    --------
    >>> from fuzzymil.rules.premise import ANYTHING
    >>> how_many(Part(0, ANYTHING, "at least", 3)), how_many(Part(0, ANYTHING, "some", None, True))
    ('in at least 3 instances', 'not in any instance')
    """
    if part.quantifier is None:
        return ""
    words = {"some": "in some instance", "all": "in all instances", "most": "in most instances"}
    words |= {"on average": "on average over the instances", "at least": f"in at least {part.count} instances"}
    word = words.get(part.quantifier, f"in {part.quantifier} instances")
    return f"not {word}".replace("in some", "in any") if part.negated else word


def _ordered(base: RuleSet, rule: Rule, part: Part) -> list[tuple[Is, bool]]:
    """Return the conditions of a part and whether they are negated; in a plain rule, the most selective first."""
    asked = list(zip(conditions_of(part.premise), negations(part.premise), strict=True))
    if not rule.is_plain:
        return asked
    selectivity = base.selectivity(rule)
    return sorted(asked, key=lambda pair: -selectivity[pair[0].variable])


# ---------------------------------------------------------------------- notebooks


def rule_cards(base: RuleSet, *, limit: float | None = None) -> Markup:
    """Return the rules as cards for a notebook.

    Parameters
    ----------
    base : RuleBase
    limit : float, optional
        Above which the conclusion for a single output counts as high. Default: 0 for additive rules, otherwise the
        mean of the conclusions.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["<hue>"])
    >>> "&lt;hue&gt;" in rule_cards(rules), "<hue>" in rule_cards(rules)
    (True, False)
    """
    texts, sketcher = source.statements(base, SHOWN), Sketcher(base.variables, np.zeros((0, base.n_features)))
    heads = []
    if not base.normalize:
        heads.append(html.line(html.element("b", "Default: "), source.default_text(base, 4).partition(": ")[2]))
    concluded = _concluded_sets(base) if base.concludes_sets else _concluded_numbers(base, limit)

    def made(r: int) -> Markup:
        said, sets, mark = concluded(r)
        return card(base.name_of(r), said, texts[r], (*conditions(base, r, sketcher), *sets), mark, r)

    return html.joined([*heads, *limited(made, base.n_rules)])


_Concluded = Callable[[int], tuple[Sequence[Any], Sequence[Condition], str]]
"""Returns, for the position of a rule, what it concludes, the sets that it concludes, and the mark of its class."""


def _concluded_numbers(base: RuleSet, limit: float | None) -> _Concluded:
    said = base.coefs[:, :, 0]
    ends = (min(0.0, float(said.min())), max(0.0, float(said.max())))
    border = (0.0 if not base.normalize else float(said.mean())) if limit is None else limit
    several, linear = len(base.outputs) > 1, base.coefs.shape[2] > 1

    def concluded(r: int) -> tuple[Sequence[Any], Sequence[Condition], str]:
        kind = class_of_rule(said[r], additive=not base.normalize) if several else int(said[r, 0] > border)
        mark = class_mark(kind, len(base.outputs) if several else 2)
        value = "" if linear or several else bar(float(said[r, 0]), *ends, signed=not base.normalize).svg
        return [source.concluded_text(base, r, max_conditions=SHOWN), " ", value], (), mark

    return concluded


def _concluded_sets(base: RuleSet) -> _Concluded:
    known = {output.name: output for output in base.outputs}
    sets = [output for k, output in enumerate(base.outputs) if base.setting("defuzzify", k) not in WEIGHTED]
    sketcher = Sketcher(sets, np.zeros((0, len(sets))))  # others conclude numbers or formulas

    def concluded(r: int) -> tuple[Sequence[Any], Sequence[Condition], str]:
        found: list[Condition] = []
        for name, said in base.rules[r].terms.items():
            shown = sketcher.draw(name, said.term, said.hedges) if known[name] in sets else None
            heading = "" if found else "then"
            found.append(Condition(printer.premise_text(said), in_numbers(known[name], said.term), shown, heading))
        return [source.concluded_text(base, r)], found, ""

    return concluded


def limited(made: Callable[[int], Markup], n_rules: int) -> Iterator[Markup]:
    """Yield the cards of the first rules, and how many there are more."""
    yield from (made(r) for r in range(min(n_rules, _RULES)))
    if n_rules > _RULES:
        yield html.line(f"{n_rules - _RULES} more rules; print(rules) shows all of them.", soft=True)


def card(name: str, said: Sequence[Any], text: str, asked: Sequence[Condition], mark: str, place: int) -> Markup:
    """Return a card: the name, what the rule concludes, its text, and its conditions.

    Parameters
    ----------
    name, text : str
    said : sequence
        The conclusion, text or HTML.
    asked : sequence of Condition
    mark : str
        See `fuzzymil._utils.colors.class_mark`: the class that the rule speaks for; empty if it has none.
    place : int
        Position of the rule: the first ones are open.
    """
    summary = html.element("summary", html.element("b", name), html.element("span", *said, kind="said"))
    items = []
    for each in asked:
        if each.heading:
            items.append(html.element("li", f"{each.heading}:", kind="part"))
        drawn = "" if each.sketch is None else each.sketch.svg
        items.append(
            html.element("li", drawn, html.element("b", each.text), html.element("span", each.set, kind="soft"))
        )
    content = [
        summary,
        html.element("p", text, kind="rule"),
        *([html.element("ul", *items, kind="sets")] if items else []),
    ]
    look = f"card {mark}".strip()
    return html.element("details", *content, kind=look, **({"open": ""} if place < _OPEN else {}))

"""Rules as cards, for reports and notebooks: each rule in words, its fuzzy sets drawn."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil._utils.colors import class_mark, class_of_rule
from fuzzymil._utils.drawings import bar
from fuzzymil.rules.conclusion import WEIGHTED
from fuzzymil.rules.curves import Sketch, Sketcher
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.language.ranges import range_text
from fuzzymil.rules.points import score_table
from fuzzymil.rules.premise import Is, Part, negations
from fuzzymil.rules.premise import conditions as conditions_of
from fuzzymil.rules.rule import Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

SHOWN = 8
"""Conditions of a rule that are drawn."""

_RULES = 30  # cards in a notebook
_OPEN = 6  # of them, those that are open


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition of a rule: its text, its fuzzy set in numbers, and a drawing, unless it is folded.

    ``range`` says which values satisfy it, ``above 76``; it is empty where no range does. ``heading`` says how many
    instances a quantified part is about; it is empty for all but its first condition.
    """

    text: str
    set: str
    sketch: Sketch | None
    heading: str = ""
    range: str = ""


def conditions(base: RuleBase, r: int, sketcher: Sketcher, *, with_data: bool = False) -> tuple[Condition, ...]:
    """Return the conditions of a rule; in a plain conjunction the most selective come first.

    ``r``: position of the rule. ``sketcher``: of the rules' variables. ``with_data``: whether to draw histograms of the
    data behind the sets.
    """
    found: list[Condition] = []
    for part in base.parts:
        if part.rule != r:
            continue
        heading = how_many(part)
        asked = list(zip(conditions_of(part.premise), negations(part.premise), strict=True))
        if base.rules[r].is_plain:  # the most selective first
            selectivity = base.selectivity(base.rules[r])
            asked.sort(key=lambda pair: -selectivity[pair[0].variable])
        for condition, negated in asked:
            variable = base.variables[base.feature_names.index(condition.variable)]
            hedges = ("not", *condition.hedges) if negated else condition.hedges
            drawn = None
            if len(found) < SHOWN:
                drawn = sketcher.draw(variable.name, condition.term, hedges, with_data=with_data)
            text = ("NOT " if negated else "") + printer.premise_text(condition)
            values = range_text(variable, condition.term, hedges)
            found.append(Condition(text, in_numbers(variable, condition.term), drawn, heading, values))
            heading = ""
    return tuple(found)


def in_numbers(variable: Variable, term: str) -> str:
    """Return a set in numbers; the name of a category, a date or a time of day says it all."""
    if variable.shown(0.0) is not None:
        return ""
    unit = f" {variable.unit}" if variable.unit else ""
    return printer.format_set(variable.terms[term], 3).replace("-", "\N{MINUS SIGN}") + unit


def how_many(part: Part) -> str:
    """Return how many instances a part is about: ``in some instance``; empty without a quantifier."""
    if part.quantifier is None:
        return ""
    words = {"some": "in some instance", "all": "in all instances", "most": "in most instances"}
    words |= {"on average": "on average over the instances", "at least": f"in at least {part.count} instances"}
    word = words.get(part.quantifier, f"in {part.quantifier} instances")
    return f"not {word}".replace("in some", "in any") if part.negated else word


# ---------------------------------------------------------------------- cards


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleCard:
    """A rule as notebooks and reports show it.

    ``index``: its position, from 0. ``name``, ``text``: its name, and the rule in words with its most selective
    conditions. ``concluded``: what it concludes, in words. ``amount``: the number that it concludes, if there is a
    single one. ``mark``: see `fuzzymil._utils.colors.class_mark`: the class that the rule favors; empty if it has none.
    ``conditions``: in a plain conjunction the most selective come first. ``sets``: the sets that it concludes, if
    any. ``points``: what it concludes in points, if the rules have a ``unit``.
    """

    index: int
    name: str
    text: str
    concluded: str
    amount: float | None
    mark: str
    conditions: tuple[Condition, ...]
    sets: tuple[Condition, ...] = ()
    points: int | None = None

    @property
    def drawn(self) -> tuple[Condition, ...]:
        """The conditions that are drawn, and the sets that the rule concludes."""
        return (*self.conditions[:SHOWN], *self.sets)

    @property
    def folded(self) -> tuple[Condition, ...]:
        """The conditions that are not drawn."""
        return self.conditions[SHOWN:]

    @property
    def drawings(self) -> Markup:
        """The drawn sets as a list in HTML; empty if the rule has none."""
        items = []
        for each in self.drawn:
            if each.heading:
                items.append(html.element("li", f"{each.heading}:", kind="part"))
            sketch = "" if each.sketch is None else each.sketch.svg
            numbers = html.element("span", "; ".join(filter(None, (each.range, each.set))), kind="soft")
            items.append(html.element("li", sketch, html.element("b", each.text), numbers))
        return html.element("ul", *items, kind="sets") if items else Markup("")

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON."""

        def plain(each: Condition) -> dict[str, str]:
            return {"text": each.text, "set": each.set, "heading": each.heading, "range": each.range}

        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(RuleCard)}
        return own | {name: list(map(plain, own[name])) for name in ("conditions", "sets")}


def rule_cards(
    base: RuleBase, sketcher: Sketcher | None = None, *, limit: float | None = None, with_data: bool = False
) -> list[RuleCard]:
    """Return the cards of rules.

    ``sketcher``: of the rules' variables. Default: without data. ``limit``: above which the conclusion for a single
    output counts as high. Default: 0 for additive rules, otherwise the mean of the conclusions. ``with_data``: whether
    to draw histograms of the data behind the sets.
    """
    sketcher = Sketcher(base.variables, np.zeros((0, base.n_features))) if sketcher is None else sketcher
    single = base.coefs.shape[1:] == (1, 1) and not base.concludes_sets
    sets, marks = _concluded_sets(base), [""] * base.n_rules if base.concludes_sets else _marks(base, limit)
    return [
        RuleCard(
            index=r,
            name=base.name_of(r),
            text=text,
            concluded=source.concluded_text(base, r, max_conditions=SHOWN),
            amount=float(base.coefs[r, 0, 0]) if single else None,
            mark=marks[r],
            conditions=conditions(base, r, sketcher, with_data=with_data),
            sets=sets[r],
            points=None if base.points is None else base.points[r],
        )
        for r, text in enumerate(source.statements(base, SHOWN))
    ]


def _marks(base: RuleBase, limit: float | None) -> list[str]:
    """Return the marks of the classes that rules which conclude numbers speak for."""
    said, several = base.coefs[:, :, 0], len(base.outputs) > 1
    border = (0.0 if not base.normalize else float(said.mean())) if limit is None else limit
    kinds = [class_of_rule(row, additive=not base.normalize) if several else int(row[0] > border) for row in said]
    return [class_mark(kind, len(base.outputs) if several else 2) for kind in kinds]


def _concluded_sets(base: RuleBase) -> list[tuple[Condition, ...]]:
    """Return the sets that each rule concludes; others conclude numbers or formulas."""
    if not base.concludes_sets:
        return [()] * base.n_rules
    drawable = [output for k, output in enumerate(base.outputs) if base.setting("defuzzify", k) not in WEIGHTED]
    sketcher = Sketcher(drawable, np.zeros((0, len(drawable))))

    def concluded(said: Is, heading: str) -> Condition:
        output = base.outputs[base.place_of(said.variable)]
        sketch = sketcher.draw(output.name, said.term, said.hedges) if output in drawable else None
        return Condition(printer.premise_text(said), in_numbers(output, said.term), sketch, heading)

    return [
        tuple(concluded(said, "" if n else "then") for n, said in enumerate(rule.terms.values())) for rule in base.rules
    ]


def rules_html(base: RuleBase, *, limit: float | None = None) -> Markup:
    """Return rules for a notebook: their default, a card for each of the first ones, and what a score means.

    ``limit``: see `rule_cards`.
    """
    found = []
    if not base.normalize:
        found.append(html.line(html.element("b", "Default: "), source.default_text(base, 4).partition(": ")[2]))
    cards = rule_cards(base, limit=limit)
    known = [card.amount for card in cards if card.amount is not None]
    ends = min(0.0, *known, 0.0), max(0.0, *known, 0.0)
    for card in cards[:_RULES]:
        drawn = "" if card.amount is None else bar(card.amount, *ends, signed=not base.normalize).svg
        said = html.element("span", card.concluded, " ", drawn, kind="said")
        folded = "; ".join(f"{each.text}: {each.set}" if each.set else each.text for each in card.folded)
        content = [
            html.element("summary", html.element("b", card.name), said),
            html.element("p", card.text, kind="rule"),
            card.drawings,
            *([html.element("p", folded, kind="soft")] if folded else []),
        ]
        attributes = {"open": ""} if card.index < _OPEN else {}
        found.append(html.element("details", *content, kind=f"card {card.mark}".strip(), **attributes))
    if base.n_rules > _RULES:
        found.append(html.line(f"{base.n_rules - _RULES} more rules; print(rules) shows all of them.", soft=True))
    if base.unit is not None:
        found.append(score_table(base).html)
    return html.joined(found)

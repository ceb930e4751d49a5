"""The section on the rules: each in words, with its sets drawn and the say it has."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil.report import _markup
from fuzzymil.report._predictions import Answers
from fuzzymil.report._sketches import Sketcher, bar
from fuzzymil.report.html import Markup, element
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Is, negations

__all__ = ["RuleCard", "rule_cards", "rules_section"]

_SHOWN = 8  # conditions of a rule that are drawn


@dataclasses.dataclass(frozen=True)
class RuleCard:
    """A rule, and the say it has on bags.

    Attributes
    ----------
    member, index : int
        Positions, counted from 0.
    name, text : str
        As explanations name it, and as it is printed: with its most selective conditions.
    conditions : tuple of (Is, bool)
        Each with whether it stands inside a NOT; of a plain conjunction the most selective first.
    conclusion : tuple of float
        What it concludes on the bags, the mean, one number an output.
    speaks_for : object
        Of a classifier: the class that its conclusion speaks for.
    mean_share, greatest_share : float
        Of the (normalized) strength on the bags.
    n_leading : int
        Bags on which no other rule of its member is stronger.
    """

    member: int
    index: int
    name: str
    text: str
    conditions: tuple[tuple[Is, bool], ...]
    conclusion: tuple[float, ...]
    speaks_for: Any
    mean_share: float
    greatest_share: float
    n_leading: int


def rule_cards(answers: Answers) -> list[RuleCard]:
    """Look at the rules of all members on the bags.

    Examples
    --------
    >>> from fuzzymil import MISugeno
    >>> from fuzzymil.report._predictions import answers_of
    >>> rules = "VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1 IF hue is not blue THEN sky = 0"
    >>> cards = rule_cards(answers_of(MISugeno(rules=rules).fit([[[0.6]]]), [[[0.6], [0.1]], [[0.6]]]))
    >>> [(card.name, card.speaks_for, card.n_leading, round(card.mean_share, 2)) for card in cards]
    [('Rule 1', 1, 2, 0.75), ('Rule 2', 0, 0, 0.25)]
    """
    return [card for m in range(len(answers.members)) for card in _cards_of(answers, m)]


def _cards_of(answers: Answers, m: int) -> Iterator[RuleCard]:
    base, found = answers.members[m], answers.found[m]
    texts = base.to_text(max_terms=_SHOWN).split("\n")
    leading = np.bincount(found.normalized[~found.uncovered].argmax(axis=1), minlength=base.n_rules)
    for r in range(base.n_rules):
        name = f"Rule {r + 1}"
        concluded = found.rule_outputs[:, r].mean(axis=0)
        yield RuleCard(
            member=m,
            index=r,
            name=name if len(answers.members) == 1 else f"{name} of member {m + 1}",
            text=texts[r].removeprefix(f"{name}: "),
            conditions=_ordered(base, r),
            conclusion=tuple(concluded.tolist()),
            speaks_for=_class_of(answers, concluded),
            mean_share=float(found.normalized[:, r].mean()),
            greatest_share=float(found.normalized[:, r].max()),
            n_leading=int(leading[r]),
        )


def _ordered(base: RuleBase, r: int) -> tuple[tuple[Is, bool], ...]:
    rule = base.rules[r]
    conditions = tuple(zip(rule.conditions, negations(rule.premise), strict=True))
    if not rule.is_plain:
        return conditions
    selectivity = base.selectivity(rule)
    return tuple(sorted(conditions, key=lambda pair: -selectivity[pair[0].variable]))


def _class_of(answers: Answers, concluded: Any) -> Any:
    if answers.classes is None:
        return None
    if len(concluded) == 1:
        return answers.classes[int(concluded[0] > answers.reading.threshold)]
    return answers.classes[int(np.argmax(concluded))]


# ---------------------------------------------------------------------- the page


def rules_section(answers: Answers, cards: list[RuleCard], sketchers: list[Sketcher]) -> Markup:
    """Show all rules, those of the first member unfolded."""
    items = [_card(answers, card, sketchers[card.member]) for card in cards]
    only = {f"for-{k}": f"speaking for {_markup.told(label)}" for k, label in enumerate(answers.classes or ())}
    sort_by = {"place": "number", "share": "share of the say", "leading": "bags it leads", "conclusion": "conclusion"}
    listing = element("div", items, data_list=True)
    found = _markup.collection("rulebook", "rules", listing, len(items), sort_by=sort_by, only=only)
    return _markup.section("rules", "Rules", _introduction(answers, cards), found)


def _introduction(answers: Answers, cards: list[RuleCard]) -> list[Markup]:
    base = answers.rules
    said = [
        "Each rule asks for fuzzy sets of the features and concludes a number. It fires on a bag as far as the bag's "
        "instances satisfy it; the answer is the mean of the conclusions, weighted by each rule's share of the "
        "strength." + ("" if base.normalize else " (Here the strengths are not divided by their sum.)")
    ]
    if any(len(card.conditions) > _SHOWN for card in cards):
        said.append(
            f"Of long rules the {_SHOWN} most selective conditions are drawn, the narrowest for their feature's range "
            "first; the others are folded."
        )
    said.append("In the drawings the line is the set, from membership 0 to 1, and the columns are the data.")
    if len(answers.members) > 1:
        said.append(
            f"This is a committee: the answer is the mean of {len(answers.members)} members, each with rules of its "
            "own. Those of the first member are unfolded."
        )
    return [element("p", " ".join(said))]


def _card(answers: Answers, card: RuleCard, sketcher: Sketcher) -> Markup:
    base = answers.members[card.member]
    concluded = ", ".join(
        f"{name} = {_markup.number(value)}" for name, value in zip(base.outputs, card.conclusion, strict=True)
    )
    if base.coefs.shape[2] > 1:
        concluded = f"on average {concluded}"
    kind = None if answers.classes is None else answers.classes.index(card.speaks_for)
    # Two classes have a color each; of more, or of numbers, colors would not tell anything.
    tone = None if answers.classes is None or kind is None or len(answers.classes) > 2 else ("low", "high")[kind]
    speaks = None if kind is None else element("span", f"for {_markup.told(card.speaks_for)}", class_="tag")
    leads = f"leads on {_markup.counted(card.n_leading, 'bag')} of {answers.bags.n_bags:,}"
    return element(
        "details",
        element(
            "summary",
            element("h3", card.name),
            element("span", concluded, class_="concluded"),
            speaks,
            element("span", bar(card.mean_share, 0.0, 1.0), f" {_markup.percent(card.mean_share)} of the say"),
        ),
        element("p", card.text, class_="rule"),
        element(
            "p",
            f"Share of the strength on these bags: {_markup.percent(card.mean_share)} on average, "
            f"{_markup.percent(card.greatest_share)} at most; {leads}.",
            class_="soft",
        ),
        _conditions(base, card, sketcher),
        class_="card" if tone is None else f"card {tone}",
        open=card.member == 0,
        data_item=True,
        data_place=card.member * 10**6 + card.index,
        data_share=f"{card.mean_share:.6g}",
        data_leading=card.n_leading,
        data_conclusion=f"{card.conclusion[0]:.6g}",
        data_kinds=None if kind is None else f"for-{kind}",
    )


def _conditions(base: RuleBase, card: RuleCard, sketcher: Sketcher) -> list[Markup]:
    if not card.conditions:
        return [element("p", "This rule asks for nothing: it fires on every bag.")]
    shown, folded = card.conditions[:_SHOWN], card.conditions[_SHOWN:]
    found = [element("ul", [_drawn(base, *each, sketcher) for each in shown], class_="sets")]
    if folded:
        lines = [element("li", f"{_asked(*each)}: ", _set(base, each[0])) for each in folded]
        summary = element("summary", _markup.counted(len(folded), "further condition"))
        found.append(element("details", summary, element("ul", lines, class_="folded")))
    return found


def _drawn(base: RuleBase, condition: Is, negated: bool, sketcher: Sketcher) -> Markup:
    hedges = ("not", *condition.hedges) if negated else condition.hedges
    return element(
        "li",
        sketcher.draw(condition.variable, condition.term, hedges, spread=True),
        element("b", _asked(condition, negated)),
        element("span", _set(base, condition), class_="soft"),
    )


def _asked(condition: Is, negated: bool) -> str:
    return ("NOT " if negated else "") + printer.premise_text(condition)


def _set(base: RuleBase, condition: Is) -> str:
    variable = base.variables[base.feature_names.index(condition.variable)]
    unit = f" {variable.unit}" if variable.unit else ""
    return _markup.typeset(printer.format_set(variable.terms[condition.term], 3)) + unit

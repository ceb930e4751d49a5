"""The list of rules for ``templates/rules.html``: each rule in words, its sets drawn, its share of the decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil.report._answers import Answers
from fuzzymil.report._drawings import Bar, Sketch, bar
from fuzzymil.report._format import label, typeset
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Is, negations

_SHOWN = 8  # conditions of a rule that are drawn


@dataclasses.dataclass(frozen=True)
class Condition:
    """A condition of a rule: its text, its fuzzy set in numbers, and a drawing, unless it is folded."""

    text: str
    set: str
    sketch: Sketch | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleCard:
    """A rule, and how much it decides on the bags.

    Attributes
    ----------
    member, index : int
        Positions, from 0.
    name, text : str
        Name as in explanations, and the rule in words with its most selective conditions.
    conclusions : tuple of (str, float)
        Each output with the rule's mean conclusion on the bags.
    linear : bool
        Whether the conclusions depend on the features.
    speaks_for : object
        The class that a classifier's rule votes for.
    tone : str
        ``"low"`` or ``"high"`` with two classes, which have a color each; else empty.
    kind : str
        Key by which the list can be filtered.
    mean_share, max_share : float
        Share of the (normalized) strength on the bags.
    bar : Bar
        Of the mean share.
    n_leading : int
        Number of bags on which no other rule of its member is stronger.
    conditions, folded : tuples of Condition
        Those that are drawn, and the others. In a plain conjunction the most selective come first.
    """

    member: int
    index: int
    name: str
    text: str
    conclusions: tuple[tuple[str, float], ...]
    linear: bool
    speaks_for: Any
    tone: str
    kind: str
    mean_share: float
    max_share: float
    bar: Bar
    n_leading: int
    conditions: tuple[Condition, ...]
    folded: tuple[Condition, ...]


def rules_facts(answers: Answers, cards: list[RuleCard]) -> dict[str, Any]:
    """Return what the section shows besides the cards."""
    return {
        "cards": cards,
        "n_shown": _SHOWN,
        "normalized": answers.rules.normalize,
        "filters": {f"for-{k}": f"for {label(name)}" for k, name in enumerate(answers.classes or ())},
    }


def rule_cards(answers: Answers) -> list[RuleCard]:
    """Describe the rules of all members.

    Examples
    --------
    >>> from fuzzymil.estimators import MISugeno
    >>> from fuzzymil.report._answers import answers_of
    >>> rules = "VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1 IF hue is not blue THEN sky = 0"
    >>> cards = rule_cards(answers_of(MISugeno(rules=rules).fit([[[0.6]]]), [[[0.6], [0.1]], [[0.6]]]))
    >>> [(card.name, card.speaks_for, card.n_leading, round(card.mean_share, 2)) for card in cards]
    [('Rule 1', 1, 2, 0.75), ('Rule 2', 0, 0, 0.25)]
    """
    return [card for member in range(len(answers.members)) for card in _cards(answers, member)]


def _cards(answers: Answers, member: int) -> Iterator[RuleCard]:
    base, found = answers.members[member], answers.found[member]
    texts = base.to_text(max_terms=_SHOWN).split("\n")
    leading = np.bincount(found.normalized[~found.uncovered].argmax(axis=1), minlength=base.n_rules)
    for r in range(base.n_rules):
        name = f"Rule {r + 1}"
        concluded = found.rule_outputs[:, r].mean(axis=0)
        k = _class(answers, concluded)
        conditions = _conditions(answers, member, r)
        mean_share = float(found.normalized[:, r].mean())
        yield RuleCard(
            member=member,
            index=r,
            name=name if len(answers.members) == 1 else f"{name} of member {member + 1}",
            text=texts[r].removeprefix(f"{name}: "),
            conclusions=tuple(zip(base.outputs, concluded.tolist(), strict=True)),
            linear=base.coefs.shape[2] > 1,
            speaks_for=None if k is None or answers.classes is None else answers.classes[k],
            tone=("low", "high")[k] if k is not None and len(answers.classes or ()) == 2 else "",
            kind="" if k is None else f"for-{k}",
            mean_share=mean_share,
            max_share=float(found.normalized[:, r].max()),
            bar=bar(mean_share, 0.0, 1.0),
            n_leading=int(leading[r]),
            conditions=conditions[:_SHOWN],
            folded=conditions[_SHOWN:],
        )


def _class(answers: Answers, concluded: Any) -> int | None:
    if answers.classes is None:
        return None
    return int(np.argmax(concluded)) if len(concluded) > 1 else int(concluded[0] > answers.reading.threshold)


def _conditions(answers: Answers, member: int, r: int) -> tuple[Condition, ...]:
    base, sketcher = answers.members[member], answers.sketchers[member]
    found = []
    for place, (condition, negated) in enumerate(_ordered(base, r)):
        variable = base.variables[base.feature_names.index(condition.variable)]
        hedges = ("not", *condition.hedges) if negated else condition.hedges
        drawn = sketcher.draw(variable.name, condition.term, hedges, with_data=True) if place < _SHOWN else None
        text = ("NOT " if negated else "") + printer.premise_text(condition)
        unit = f" {variable.unit}" if variable.unit else ""
        found.append(Condition(text, typeset(printer.format_set(variable.terms[condition.term], 3)) + unit, drawn))
    return tuple(found)


def _ordered(base: RuleBase, r: int) -> list[tuple[Is, bool]]:
    rule = base.rules[r]
    conditions = list(zip(rule.conditions, negations(rule.premise), strict=True))
    if not rule.is_plain:
        return conditions
    selectivity = base.selectivity(rule)
    return sorted(conditions, key=lambda pair: -selectivity[pair[0].variable])

"""The list of rules for ``templates/rules.html``: each rule in words, its sets drawn, its share of the decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.colors import class_mark, class_of_rule
from fuzzymil._utils.drawings import Bar, bar
from fuzzymil.explain import Importance
from fuzzymil.explain.text import evenly
from fuzzymil.explain.words import in_short
from fuzzymil.report._answers import Answers
from fuzzymil.report._format import label, typeset
from fuzzymil.rules.cards import SHOWN, Condition, conditions

_LONGEST = 240  # characters of a premise in the scorecard


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
    sign : str
        What stands between them: ``"="``, or ``"+="`` for additive rules.
    linear : bool
        Whether the conclusions depend on the features.
    speaks_for : object
        The class that a classifier's rule votes for or against.
    against : bool
        Whether it takes away from that class, which only additive rules for several classes do.
    mark : str
        Of the color of the class, see `fuzzymil._utils.colors.class_mark`; of numbers, of the direction. Empty if the
        rule has none.
    kind : str
        Key by which the list can be filtered.
    mean_share, max_share : float
        Share of the (normalized) strength on the bags; of an additive rule, its firing strength.
    bar : Bar
        Of the mean share; of an additive rule, of its conclusion.
    n_leading : int
        Number of bags on which no other rule of its member is stronger (or adds more).
    mean_added : float
        What an additive rule adds on average to the output of its class, or to the first one.
    dropped : (float, float) or None
        How much the score falls without the rule, and the standard deviation; None without labels.
    conditions, folded : tuples of Condition
        Those that are drawn, and the others. In a plain conjunction the most selective come first.
    """

    member: int
    index: int
    name: str
    text: str
    conclusions: tuple[tuple[str, float], ...]
    sign: str
    linear: bool
    speaks_for: Any
    against: bool
    mark: str
    kind: str
    mean_share: float
    max_share: float
    bar: Bar
    n_leading: int
    mean_added: float
    dropped: tuple[float, float] | None
    conditions: tuple[Condition, ...]
    folded: tuple[Condition, ...]

    @property
    def changes(self) -> tuple[tuple[str, float], ...]:
        """The conclusions that are worth reading: all, but not the outputs to which the rule adds nothing."""
        return tuple(each for each in self.conclusions if each[1] or self.sign == "=") or self.conclusions


def rules_facts(answers: Answers, cards: list[RuleCard]) -> dict[str, Any]:
    """Return what the section shows besides the cards."""
    base = answers.rules
    return {
        "cards": cards,
        "scorecard": _scorecard(answers, cards) if not base.normalize and len(answers.members) == 1 else [],
        "defaults": [
            list(zip(base.output_names, member.default, strict=True))
            for member in answers.members
            if not member.normalize
        ],
        "logit": answers.reading.scale == "logit",
        "several": len(base.outputs) > 1,
        "outputs": [f"{name} +=" for name in base.output_names],
        "n_shown": SHOWN,
        "normalized": answers.rules.normalize,
        "joined": answers.concludes_sets,
        "filters": {
            f"{side}-{k}": f"{side} {label(name)}"
            for k, name in enumerate(answers.classes or ())
            for side in ("for", "against")
            if side == "for" or any(card.kind == f"against-{k}" for card in cards)
        },
    }


def rule_cards(answers: Answers, own: Importance | None = None) -> list[RuleCard]:
    """Describe the rules of all members.

    Parameters
    ----------
    answers : Answers
    own : Importance, optional
        How much the rules matter.

    Examples
    --------
    >>> from fuzzymil.estimators import MISugeno
    >>> from fuzzymil.report._answers import answers_of
    >>> rules = "VARIABLE hue: blue = Gaussian(0.6, 0.1) IF hue is blue THEN sky = 1 IF hue is not blue THEN sky = 0"
    >>> cards = rule_cards(answers_of(MISugeno(rules=rules).fit([[[0.6]]]), [[[0.6], [0.1]], [[0.6]]]))
    >>> [(card.name, card.speaks_for, card.n_leading, round(card.mean_share, 2)) for card in cards]
    [('Rule 1', 1, 2, 0.75), ('Rule 2', 0, 0, 0.25)]
    """
    return [card for member in range(len(answers.members)) for card in _cards(answers, member, own)]


def _scorecard(answers: Answers, cards: list[RuleCard]) -> list[dict[str, Any]]:
    """Return the default and what each rule adds, for the first output or, with several, for all of them."""
    outputs, base = range(len(answers.rules.outputs)), answers.rules
    rows = [("default", list(base.default)), *((card.name, [value for _, value in card.conclusions]) for card in cards)]
    ends = [(min(0.0, *(row[k] for _, row in rows)), max(0.0, *(row[k] for _, row in rows))) for k in outputs]
    texts = [[typeset(text.strip()) for text in evenly([row[k] for _, row in rows])] for k in outputs]
    premises = ["", *(in_short(rule.premise) for rule in base.rules)]
    return [
        {
            "name": name,
            "premise": _shortened(premises[n]),
            "cells": [(texts[k][n], bar(row[k], *ends[k], signed=True)) for k in outputs],
        }
        for n, (name, row) in enumerate(rows)
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _cards(answers: Answers, member: int, own: Importance | None) -> Iterator[RuleCard]:
    base, found = answers.members[member], answers.found[member]
    texts = answers.texts(member, SHOWN)
    added = found.normalized[:, :, None] * found.rule_outputs
    counts = found.normalized if base.normalize else np.abs(added).max(axis=2)
    leading = np.bincount(counts[counts.any(axis=1)].argmax(axis=1), minlength=base.n_rules)
    means = found.rule_outputs.mean(axis=0)
    ends = (min(0.0, float(means.min())), max(0.0, float(means.max())))
    dropped = {(each.member, each.rule): (each.drop, each.std) for each in (() if own is None else own.rules)}
    for r in range(base.n_rules):
        name = base.name_of(r)
        concluded = means[r]
        k = _class(answers, concluded, additive=not base.normalize)
        output = k if k is not None and len(concluded) > 1 else 0
        against = not base.normalize and len(concluded) > 1 and k is not None and bool(concluded[k] < 0)
        asked = conditions(base, r, answers.sketchers[member], with_data=True)
        mean_share = float(found.normalized[:, r].mean())
        yield RuleCard(
            member=member,
            index=r,
            name=name if len(answers.members) == 1 else f"{name} of member {member + 1}",
            text=texts[r],
            conclusions=tuple(zip(base.output_names, concluded.tolist(), strict=True)),
            sign="=" if base.normalize else "+=",
            linear=base.coefs.shape[2] > 1,
            speaks_for=None if k is None or answers.classes is None else answers.classes[k],
            against=against,
            mark=_mark(answers, k, concluded, additive=not base.normalize),
            kind="" if k is None else f"{'against' if against else 'for'}-{k}",
            mean_share=mean_share,
            max_share=float(found.normalized[:, r].max()),
            bar=bar(mean_share, 0.0, 1.0) if base.normalize else bar(float(concluded[output]), *ends, signed=True),
            n_leading=int(leading[r]),
            mean_added=float(added[:, r, output].mean()),
            dropped=dropped.get((member, r)),
            conditions=asked[:SHOWN],
            folded=asked[SHOWN:],
        )


def _mark(answers: Answers, k: int | None, concluded: Any, *, additive: bool) -> str:
    if k is not None:
        return class_mark(k, len(answers.classes or ()))
    return class_mark(int(concluded[0] > 0), 2) if additive and len(concluded) == 1 else ""


def _class(answers: Answers, concluded: Any, *, additive: bool) -> int | None:
    """Return the class that a rule votes for or, of several, for or against."""
    if answers.classes is None:
        return None
    border = 0.0 if additive else answers.reading.threshold
    return class_of_rule(concluded, additive=additive) if len(concluded) > 1 else int(concluded[0] > border)

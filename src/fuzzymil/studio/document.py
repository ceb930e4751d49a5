"""What the studio edits: the text of the rules, and what the text does not hold."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable
from typing import Any

from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import parser
from fuzzymil.studio.layout import edited_text

__all__ = ["Document", "Rules", "Term"]

Rules = RuleBase
Term = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Document:
    """One immutable state of the studio; every edit makes another.

    Parameters
    ----------
    text : str
        The rules in the rule language, as the user wrote them or as `to_source` writes them: labels, comments and all.
    off : frozenset of int
        Numbers of the rules that are switched off. The text keeps them and their weights.
    frozen : frozenset of (variable, term)
        Terms that training must not move.
    threshold : float, optional
        An output above it means the positive class. None: as the rules say.
    positive : str, optional
        Of two classes, the one that a single output is about, as text. None: as the names say.

    Examples
    --------
    >>> document = Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1  # so far", off=frozenset({1}))
    >>> document.rules.rules[0].weight, document.active.rules[0].weight
    (1.0, 0.0)
    >>> document.with_rules(document.rules.edit(weights={1: 0.5})).rules.rules[0].comment
    'so far'
    """

    text: str
    off: frozenset[int] = frozenset()
    frozen: frozenset[Term] = frozenset()
    threshold: float | None = None
    positive: str | None = None

    @classmethod
    def of(cls, rules: Rules, **fields: Any) -> Document:
        """Return a document with these rules, whose text is their source."""
        made = cls(rules.to_source(), **fields)
        vars(made)["rules"] = rules  # what the text would be parsed to
        return made

    @functools.cached_property
    def rules(self) -> Rules:
        """The rules that the text describes."""
        return RuleBase.parse(self.text)

    @functools.cached_property
    def active(self) -> Rules:
        """The rules with weight 0 where they are switched off."""
        return self.rules.edit(weights=dict.fromkeys(sorted(self.off), 0.0)) if self.off else self.rules

    @functools.cached_property
    def lines(self) -> tuple[int, ...]:
        """The line of the text, counted from 1, on which each rule begins."""
        return tuple(rule.place.line for rule in parser.read(self.text).rules)

    @property
    def base(self) -> RuleBase:
        """The rules, as the text has them."""
        return self.rules

    def with_rules(self, rules: Rules, rename: Callable[[Term], Term] = lambda term: term) -> Document:
        """Return the document with edited rules; what is switched off or frozen stays so, under its new name."""
        old, new = self.rules.to_source(), rules.to_source()
        text = self.text if old == new else edited_text(self.text, old, new)
        found = Document(text, threshold=self.threshold, positive=self.positive)
        vars(found)["rules"] = rules
        return found._keeping(self, map(rename, self.frozen))

    def with_text(self, text: str) -> Document:
        """Return the document with another text; a text with mistakes raises `RuleSyntaxError`."""
        found = Document(text, threshold=self.threshold, positive=self.positive)
        return found._keeping(self, self.frozen)

    def _keeping(self, before: Document, frozen: Iterable[Term]) -> Document:
        known = {(variable.name, term) for variable in self.rules.all_variables for term in variable.terms}
        off = frozenset[int]()
        if before.off and self.rules.concludes_sets == before.rules.concludes_sets:
            matches = before.rules.diff(self.rules).matches
            off = frozenset(match.new for match in matches if match.new is not None and match.old in before.off)
        made = dataclasses.replace(self, off=off, frozen=frozenset(frozen) & known)
        vars(made)["rules"] = self.rules
        return made

    def replaced(self, **fields: Any) -> Document:
        """Return the document with other fields, without parsing the text again."""
        made = dataclasses.replace(self, **fields)
        if "text" not in fields:
            vars(made)["rules"] = self.rules
        return made

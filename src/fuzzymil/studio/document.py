"""What the studio edits: the text of rules, what the text does not hold, and the data and model next to it."""

from __future__ import annotations

import dataclasses
import difflib
import functools
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil._utils.own_files import OwnFolder
from fuzzymil._utils.text import whole_characters
from fuzzymil.bags import Bags
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.rules import RuleBase
from fuzzymil.rules.files import parse_rules
from fuzzymil.rules.language import parser
from fuzzymil.rules.language.lexer import Token, tokens
from fuzzymil.studio.messages import LIMITS

if TYPE_CHECKING:
    from fuzzymil.learn.choose.frontier import Frontier

Term = tuple[str, str]

FOLDER = ".fuzzymil-studio"
"""The folder of journals and of files that are kept, inside the one in which the studio was started."""

_LONGEST = 40_000  # characters: aligning longer texts takes too long


@dataclasses.dataclass(frozen=True)
class Document:
    """One immutable state of the studio; every edit makes another.

    The ``text`` has the rules as the user wrote them or as `to_source` writes them: labels, comments and all. It keeps
    rules that are switched ``off`` (their numbers), and their weights. Training must not move ``frozen`` terms. An
    output above the ``threshold`` means the positive class (None: as the rules say); of two classes, ``positive`` is
    the one that a single output is about (None: as the names say).

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
    def of(cls, rules: RuleBase, **fields: Any) -> Document:
        """Return a document with these rules, whose text is their source."""
        made = cls(rules.to_source(), **fields)
        vars(made)["rules"] = rules  # what the text would be parsed to
        return made

    @functools.cached_property
    def rules(self) -> RuleBase:
        """The rules that the text describes."""
        return parse_rules(self.text)

    @functools.cached_property
    def active(self) -> RuleBase:
        """The rules with weight 0 where they are switched off."""
        return self.rules.edit(weights=dict.fromkeys(sorted(self.off), 0.0)) if self.off else self.rules

    @functools.cached_property
    def lines(self) -> tuple[int, ...]:
        """The line of the text, counted from 1, on which each rule begins."""
        return tuple(rule.place.line for rule in parser.read(self.text).rules)

    def with_rules(self, rules: RuleBase, rename: Callable[[Term], Term] = lambda term: term) -> Document:
        """Return the document with edited rules; what is switched off or frozen stays so, under its new name."""
        old, new = self.rules.to_source(), rules.to_source()
        text = self.text if old == new else transfer_changes(self.text, old, new)
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

    def replace(self, **fields: Any) -> Document:
        """Return the document with other fields, without parsing the text again."""
        made = dataclasses.replace(self, **fields)
        if "text" not in fields:
            vars(made)["rules"] = self.rules
        return made


def terms_of_rule(rules: RuleBase, place: int) -> list[Term]:
    """Return the terms that a rule, counted from 0, asks for or concludes."""
    rule = rules.rules[place]
    return list(dict.fromkeys((each.variable, each.term) for each in (*rule.conditions, *rule.terms.values())))


def check_text(text: object) -> str:
    """Return a text that is not too long, with line ends of one character."""
    if not isinstance(text, str):
        raise ParameterError("Expected text.")
    if len(text) > LIMITS["text"]:
        raise ParameterError(f"The text has {len(text):,} characters; the limit is {LIMITS['text']:,}.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_document(document: Document) -> Document:
    """Return a document whose text can be parsed and whose size is within the limits."""
    check_text(document.text)
    variables = document.rules.all_variables
    counts = {
        "rules": document.rules.n_rules,
        "variables": len(variables),
        "terms": sum(len(variable.terms) for variable in variables),
    }
    for what, count in counts.items():
        if count > LIMITS[what]:
            raise ParameterError(f"These are {count:,} {what}; the studio takes at most {LIMITS[what]:,}.")
    _ = document.active  # raises if a rule that is not there is switched off
    return document


# ---------------------------------------------------------------------- the data and the model next to it


class Data:
    """Bags and where they came from; those of an earlier session are read again when they are first needed.

    ``bags``: None: in the file at ``path``. ``name``: what the data are called. ``columns``: the arguments of
    `fuzzymil.datasets.read_bags` that the file was read with: ``bag``, ``label``, ``format``. ``path``: where the file
    is. None: the bags came from no file.
    """

    def __init__(
        self,
        bags: Bags | None,
        name: str = "",
        columns: Mapping[str, Any] | None = None,
        path: Path | None = None,
    ) -> None:
        self.name, self.columns, self.path = whole_characters(name), dict(columns or {}), path
        self._given = bags

    @functools.cached_property
    def _read(self) -> tuple[Bags | None, str | None]:
        if self._given is not None:
            return self._given, None
        if self.path is None:
            return None, f"{self.name or 'The data'} of an earlier session came from no file: open a data file."
        from fuzzymil.datasets import read_bags

        earlier = f"{self.name} was open in an earlier session, but"
        try:
            if self.path.parent.name == FOLDER:
                with OwnFolder(self.path.parent) as folder:
                    os.close(folder.open(self.path.name))
            elif not (self.path.is_file() or self.path.is_dir()):
                raise FileNotFoundError
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # said when it was opened
                return read_bags(self.path, **self.columns), None
        except FileNotFoundError:
            return None, f"{earlier} is no longer there ({whole_characters(str(self.path))}): open it again."
        except (ValueError, TypeError, OSError, ImportError) as problem:
            why = getattr(problem, "strerror", None) or problem
            return None, whole_characters(f"{earlier} cannot be read: {why}")

    @property
    def bags(self) -> Bags | None:
        """The bags; None if they are gone."""
        return self._read[0]

    @property
    def problem(self) -> str | None:
        """Why the bags are gone."""
        return self._read[1]

    def is_same_file(self, other: Data | None) -> bool:
        """Return whether two data came from the same place, read in the same way, whatever was there at the time."""
        return other is not None and (self.name, self.path, self.columns) == (other.name, other.path, other.columns)


@dataclasses.dataclass(frozen=True, eq=False)
class Context:
    """Where a document stands: opening a file changes it, editing rules does not.

    ``name``: what the rules are called. ``model``: how the model reads its output, if one was opened. ``model_file``:
    where that model is kept. None: it came with the start of the session. ``members``: the rule bases of a committee,
    whose outputs are averaged; the current document takes the place of one. Empty if there is only one rule base.
    ``member``: the place of that one. ``frontier``: rule bases of other sizes that were chosen, too, as model files
    have them.
    """

    name: str = "untitled"
    data: Data | None = None
    model: ClassReading | None = None
    model_file: Path | None = None
    members: tuple[Document, ...] = ()
    member: int = 0
    frontier: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if len(self.members) == 1:
            object.__setattr__(self, "members", ())
        if not isinstance(self.name, str) or not isinstance(self.member, int):
            raise ParameterError("A name is text, and the member of a committee a number.")
        if not 0 <= self.member < max(1, len(self.members)):
            raise ParameterError(f"There is no member {self.member!r:.60} of {len(self.members)}.")

    @property
    def bags(self) -> Bags | None:
        """The bags, if any are open and their file is still there."""
        return None if self.data is None else self.data.bags

    @functools.cached_property
    def sizes(self) -> Frontier | None:
        """The frontier."""
        from fuzzymil.estimators.persistence import decode_frontier, decoded

        content = self.frontier
        return None if content is None else decoded(lambda: decode_frontier(content), "The frontier")

    def replace(self, **fields: Any) -> Context:
        """Return the context with other fields."""
        return dataclasses.replace(self, **fields)

    @functools.cached_property
    def others(self) -> tuple[Document, ...]:
        """The members of the committee that are not shown."""
        return tuple(each for place, each in enumerate(self.members) if place != self.member)

    def show(self, member: object, document: Document) -> tuple[Context, Document]:
        """Return the context in which another member is shown, and that member; ``document`` was shown so far.

        The threshold, and the class that an output is about, belong to the committee and come along.
        """
        if not self.members:
            raise ParameterError("The rules are no committee: there is only one rule base.")
        last = len(self.members) - 1
        if not isinstance(member, int) or isinstance(member, bool) or not 0 <= member <= last:
            raise ParameterError(f"There is no member {member!r:.60}; they are numbered from 0 to {last}.")
        kept = tuple(document if place == self.member else each for place, each in enumerate(self.members))
        shown = kept[member].replace(threshold=document.threshold, positive=document.positive)
        return self.replace(members=kept, member=member), shown


# ---------------------------------------------------------------------- the layout of a text


def transfer_changes(text: str, old: str, new: str) -> str:
    """Return a text, laid out by a person, with what changed from one source of its rules to another.

    Where the changes cannot be found in the text, it is the new source. Sources are what `to_source` writes.
    """
    if text == old or max(len(text), len(new)) > _LONGEST:
        return new
    found = _changed(text, old, new)
    return found if found is not None and _means(found, new) else new


def _means(text: str, source: str) -> bool:
    """Return whether a text is that of the rules with a source: comments, labels and all."""
    try:
        return parse_rules(text).to_source() == source
    except (RuleSyntaxError, ValueError):
        return False


def _changed(text: str, old: str, new: str) -> str | None:
    own, before, after = (tokens(each, lambda *_: None)[:-1] for each in (text, old, new))
    place = _places(before, own)
    result, end = list[str](), 0
    compared = difflib.SequenceMatcher(None, _words(before), _words(after), autojunk=False)
    for change, a, b, c, d in compared.get_opcodes():
        if change == "equal":
            continue
        if change == "insert":
            anchor = place.get(a - 1)
            if anchor is None:
                return None
            put = new[after[c - 1].end : after[d - 1].end]
            start = stop = _end_of_line(text, own[anchor].end) if put.startswith("\n") else own[anchor].end
        else:
            known = [place[n] for n in range(a, b) if n in place]
            if len(known) < b - a or known != list(range(known[0], known[0] + len(known))):
                return None
            start, stop = own[known[0]].start, own[known[-1]].end
            put = new[after[c].start : after[d - 1].end] if d > c else ""
        if start < end:
            return None
        result += [text[end:start], put]
        end = stop
    return "".join([*result, text[end:]])


def _end_of_line(text: str, place: int) -> int:
    """Return the end of a line if only a comment follows a place: it belongs to what comes before."""
    end = text.find("\n", place)
    end = len(text) if end < 0 else end
    rest = text[place:end].strip()
    return end if not rest or rest.startswith("#") else place


def _words(found: list[Token]) -> list[tuple[str, str | float]]:
    """Return tokens as they are compared: numbers by value, keywords in any case."""
    return [
        (token.kind, float(token.text) if token.kind == "number" else token.text if token.kind == "name" else "")
        for token in found
    ]


def _places(before: list[Token], own: list[Token]) -> dict[int, int]:
    """Return for each token of a source the one of the text that it corresponds to, where there is one."""
    matcher = difflib.SequenceMatcher(None, _words(before), _words(own), autojunk=False)
    return {block.a + n: block.b + n for block in matcher.get_matching_blocks() for n in range(block.size)}


def merge_texts(base: str, mine: str, theirs: str) -> str | None:
    """Return a text with the changes that two others made to a common one; None if they concern the same lines."""
    lines = base.splitlines(keepends=True)
    changes = sorted({*_line_changes(lines, mine), *_line_changes(lines, theirs)})
    result, end = list[str](), 0
    last: tuple[int, int, tuple[str, ...]] | None = None
    for start, stop, put in changes:
        if last is not None and (start < last[1] or start == last[0]):
            return None
        result += [*lines[end:start], *put]
        end, last = stop, (start, stop, put)
    return "".join([*result, *lines[end:]])


def _line_changes(lines: list[str], text: str) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the lines that a text replaces: from, to, and what it has instead."""
    other = text.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, lines, other, autojunk=False)
    return [(a, b, tuple(other[c:d])) for change, a, b, c, d in matcher.get_opcodes() if change != "equal"]

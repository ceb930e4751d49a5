"""Keeps what a person wrote when rules are edited elsewhere: the layout of a text, and changes made meanwhile."""

from __future__ import annotations

import difflib

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language.lexer import Token, tokens

__all__ = ["edited_text", "merged_text"]

_LONGEST = 40_000  # characters: aligning longer texts takes too long


def edited_text(text: str, old: str, new: str) -> str:
    r"""Return a text in which what changed from one source to another is changed too.

    Parameters
    ----------
    text : str
        As a person laid it out.
    old, new : str
        Sources, as `to_source` writes them: of the same rules, and of the edited ones.

    Returns
    -------
    str
        The text with the same changes; the new source itself where they cannot be found in the text.

    Examples
    --------
    >>> text = "VARIABLE x: low = Gaussian(0, 1)  # so far\n\nIF x is low\n    THEN y = 1.50\n"
    >>> rules = RuleBase.parse(text)
    >>> print(edited_text(text, rules.to_source(), rules.edit(sets={"x.low": {"center": 3}}).to_source()))
    VARIABLE x: low = Gaussian(3, 1)  # so far
    <BLANKLINE>
    IF x is low
        THEN y = 1.50
    <BLANKLINE>
    """
    if text == old or max(len(text), len(new)) > _LONGEST:
        return new
    found = _changed(text, old, new)
    return found if found is not None and _means(found, new) else new


def _means(text: str, source: str) -> bool:
    """Return whether a text is that of the rules with a source: comments, labels and all."""
    try:
        return RuleBase.parse(text).to_source() == source
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


def merged_text(base: str, mine: str, theirs: str) -> str | None:
    r"""Return a text with the changes that two others made to a common one, line by line.

    Parameters
    ----------
    base : str
        What both began with.
    mine, theirs : str

    Returns
    -------
    str or None
        None if both changed the same lines in different ways.

    Examples
    --------
    >>> merged_text("one\ntwo\nthree\n", "one\n2\nthree\n", "one\ntwo\nthree\nfour\n")
    'one\n2\nthree\nfour\n'
    >>> merged_text("one\n", "1\n", "uno\n") is None
    True
    """
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

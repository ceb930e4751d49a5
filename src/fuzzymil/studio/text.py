"""The text of the rules: every mistake with its place and a fix, and words to complete it."""

from __future__ import annotations

import re
from typing import Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import FAMILIES
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.rules.files import parse_rules
from fuzzymil.rules.language import parser
from fuzzymil.rules.language.printer import quoted, quoted_term
from fuzzymil.studio.document import Document, check_text

_WORD = re.compile(r'"(?:[^"\\\n]|\\.)*"?|[^\W\d][\w.]*|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|[-+=<>!&|:]+|\S')


def check(text: object) -> dict[str, Any]:
    r"""Return every mistake of a text: line, character, length, reason, and a fix where there is an obvious one."""
    source = check_text(text)
    try:
        rules = parse_rules(source)
    except ParameterError as problem:
        return {"mistakes": mistakes_of(problem, source)}
    return {"mistakes": [], "n_rules": rules.n_rules}


def mistakes_of(problem: ParameterError, text: object) -> list[dict[str, Any]]:
    """Return the mistakes that an error tells of a text; one without a place is at its beginning."""
    source = text if isinstance(text, str) else ""
    places = problem.mistakes if isinstance(problem, RuleSyntaxError) else ()
    return [_mistake(source, *place) for place in sorted(places)] or [_mistake(source, 1, 1, str(problem))]


def _mistake(text: str, line: int, character: int, message: str) -> dict[str, Any]:
    lines = text.split("\n")
    row = lines[min(line, len(lines)) - 1]
    word = _WORD.match(row, character - 1)
    length = len(word.group()) if word else 1
    start = sum(len(each) + 1 for each in lines[: line - 1]) + character - 1
    return {
        "line": line,
        "character": character,
        "offset": start,
        "length": max(length, 1),
        "message": message,
        "fix": _fix(message, text, start, word.group() if word else ""),
    }


_NAMED = re.compile(r"Did you mean (?:the quantifier ([A-Z ]+)|'([^']+)')\?")
_WRITE = re.compile(r"[Ww]rite '?([^' ]+?)'?,?(?: before [^']*)? instead of '([^']+)'")
_WEIGHT = re.compile(r"Write '(WITH [^']+)' for a weight")
_WEIGHTED = re.compile(r"\w+\s*[=:]?\s*[0-9.]+(?:[eE][-+]?[0-9]+)?")
_CURLY = "\\u2018-\\u201f\\u00ab\\u00bb"
_QUOTES = re.compile(rf"'([^'\n]*)'|`([^`\n]*)`|[{_CURLY}]([^{_CURLY}\n]*)[{_CURLY}]")
_COMMENT = re.compile(r"Comments begin with '#', not with '([^']+)'")
_FAMILY = re.compile(r"with \[([^\]]+)\] is (\w+)\(([^)]*)\) here")
_MISSING = re.compile(r"has no conclusion for ((?:'[^']+'(?:, )?)+);")
_INSERTED = {
    "'is' is missing": "is ",
    "THEN is missing": "THEN ",
    "A colon is missing": ": ",
    "to close the '('": ") ",
}
"""What to put in front of a place, by a part of the reason."""


def _fix(message: str, text: str, start: int, word: str) -> dict[str, Any] | None:
    """Return what the reason itself proposes, as a replacement in the text."""
    if named := _NAMED.search(message):
        meant = named[1] or quoted_term(named[2])
        return _replacement(start, len(word), meant, f"Change to {meant}")
    if (weight := _WEIGHT.search(message)) and (written := _WEIGHTED.match(text, start)):
        return _replacement(start, len(written.group()), weight[1], f"Write {weight[1]}")
    if instead := _WRITE.search(message):
        return _replacement(start, len(instead[2]), instead[1], f"Write {instead[1]}")
    if comment := _COMMENT.search(message):
        return _replacement(start, len(comment[1]), "#", "Write #")
    if "plain double quotes" in message and (inner := _QUOTES.match(text, start)):
        name = next(part for part in inner.groups() if part is not None)
        return _replacement(start, len(inner.group()), f'"{name}"', "Use plain double quotes")
    if (family := _FAMILY.search(message)) and family[1].split() == family[3].split(", "):
        return _replacement(start, len(word), family[2], f"Change to {family[2]}")
    if missing := _MISSING.search(message):
        sign = "+=" if text[start : start + 1] in "+-" else "="
        put = "".join(f", {quoted(name)} {sign} 0" for name in re.findall("'([^']+)'", missing[1]))
        return _replacement(_end_of_conclusion(text, start), 0, put, f"Add{put[1:]}")
    for reason, put in _INSERTED.items():
        if reason in message:
            return _replacement(start, 0, put, f"Insert {put.strip()}")
    if "remove it" in message and word:
        return _replacement(start, len(word), "", f"Remove {word}")
    return None


def _end_of_conclusion(text: str, start: int) -> int:
    """Return where further conclusions of a rule go: before its weight, a comment, or the end of the line."""
    line = text[start:].partition("\n")[0]
    kept = re.split(r"(?i)\s+WITH\b|\s*#", line)[0]
    return start + len(kept.rstrip())


def _replacement(start: int, length: int, text: str, label: str) -> dict[str, Any]:
    return {"from": start, "to": start + length, "text": text, "label": label}


# ---------------------------------------------------------------------- completion


def complete(text: object, offset: object, document: Document) -> dict[str, Any]:
    r"""Return words that may stand at a place of a text, and which part of it they would replace."""
    source = check_text(text)
    end = offset if isinstance(offset, int) and 0 <= offset <= len(source) else len(source)
    line = source[:end].rpartition("\n")[2]
    if "#" in line:
        return {"from": end, "to": end, "items": []}
    typed = re.search(r'(?:"[^"\n]*|[^\W\d][\w.]*)$', line)
    start = end - (len(typed.group()) if typed else 0)
    word = source[start:end].lstrip('"').casefold()
    items = [
        item
        for item in _words(source[:start], source, document)
        if item["text"].lstrip('"').casefold().startswith(word)
    ]
    seen = dict[str, dict[str, Any]]()
    for item in items:
        seen.setdefault(item["text"], item)
    return {"from": start, "to": end, "items": list(seen.values())[:50]}


def _words(before: str, text: str, document: Document) -> list[dict[str, Any]]:
    """Return what may follow a beginning of a text, most likely first."""
    try:
        parsed = parser.read(text)
        inputs, outputs = list(parsed.variables.values()), list(parsed.outputs.values())
    except RuleSyntaxError:
        inputs, outputs = [], []
    if not inputs:
        inputs = list(document.rules.variables)
        outputs = [each for each in document.rules.all_variables if each not in inputs]
    statement = re.split(r"(?i)\b(?=IF\b|VARIABLE\b|OUTPUT\b|USING\b)", before)[-1]
    line = statement.rstrip()
    hedges = "|".join(HEDGES)
    if re.match(r"(?i)(VARIABLE|OUTPUT)\b", line):
        if line.endswith("="):
            return [_item(kind.__name__, "family", ", ".join(kind.fields())) for kind in FAMILIES.values()]
        return [_item("FROM", "keyword"), _item("TO", "keyword")]
    named = re.search(rf'(?i)("(?:[^"\\]|\\.)*"|[^\W\d][\w.]*)\s+is(?:\s+(?:{hedges}))*$', line)
    if named:
        name = named[1].strip('"')
        terms = [term for each in (*inputs, *outputs) if each.name == name for term in each.terms]
        return [_item(quoted_term(term), "term", name) for term in terms] + [_item(hedge, "hedge") for hedge in HEDGES]
    if re.search(r'(?i)("(?:[^"\\]|\\.)*"|[^\W\d][\w.]*)$', line) and any(
        re.search(rf'(?i)(?<![\w"]){re.escape(quoted(each.name))}$', line) for each in (*inputs, *outputs)
    ):
        return [_item("is", "keyword")]
    variables = [_item(quoted(each.name), "variable", each.unit) for each in inputs]
    if re.search(r"(?i)\bTHEN\b[^#]*$", line):
        names = [each.name for each in outputs] or list(document.rules.output_names)
        return [_item(quoted(name), "output") for name in names] + [_item("WITH", "keyword")] + variables
    if re.search(r"(?i)(\bIF|\bAND|\bOR|\bNOT|\()$", line):
        asked = [_item(name.upper(), "quantifier") for name in QUANTIFIERS]
        return variables + asked + [_item("NOT", "keyword"), _item("anything", "keyword")]
    if re.match(r"(?i)IF\b", line):
        return [_item(word, "keyword") for word in ("AND", "OR", "THEN")] + variables
    return [_item(word, "keyword") for word in ("IF", "VARIABLE", "OUTPUT", "USING", "Default:")]


def _item(text: str, kind: str, detail: str = "") -> dict[str, Any]:
    return {"text": text, "kind": kind, "detail": detail}

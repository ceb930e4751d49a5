"""The blocks of an FCL file, and the statements in them."""

from __future__ import annotations

import re
from typing import NamedTuple

from fuzzymil._utils.errors import listed
from fuzzymil.rules.files._syntax import Piece, unused, whole

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/|\(\*.*?\*\)", re.DOTALL)
_TOKEN = re.compile(
    r":=|\.\.|[+-]?(?:inf\b|nan\b)|[+-]?(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[^\W\d][\w]*|\S"
)
BLOCKS = {
    "VAR_INPUT": "END_VAR",
    "VAR_OUTPUT": "END_VAR",
    "FUZZIFY": "END_FUZZIFY",
    "DEFUZZIFY": "END_DEFUZZIFY",
    "RULEBLOCK": "END_RULEBLOCK",
    "OPTION": "END_OPTION",
}
_STARTS = {"TERM", "RANGE", "METHOD", "DEFAULT", "ACCU", "LOCK", "ENABLED"}
_END = "END_FUNCTION_BLOCK"


class Block(NamedTuple):
    """A block: its keyword, its name (or the keyword again), and what follows up to its end."""

    kind: str
    head: Piece
    tokens: list[Piece]


def blocks_of(text: Piece, name: str | None = None) -> list[Block]:
    """Return the blocks inside the function block with this name, or inside the only one."""
    blank = whole(_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text.text))
    tokens = _function_block(blank.words(_TOKEN), text, name)
    found: list[Block] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        word = token.text.upper()
        if word in BLOCKS:
            end = next((n for n in range(place, len(tokens)) if tokens[n].text.upper() == BLOCKS[word]), None)
            if end is None:
                raise token.error(f"{word} has no {BLOCKS[word]}.")
            content = tokens[place + 1 : end]
            named = word in ("FUZZIFY", "DEFUZZIFY")
            if named and not content:
                raise token.error(f"{word} needs the name of a variable.")
            found.append(Block(word, content[0] if named else token, content[1:] if named else content))
            place = end + 1
        else:
            raise token.unknown("block", BLOCKS)
    return found


def _function_block(tokens: list[Piece], text: Piece, name: str | None) -> list[Piece]:
    """Return what is inside a function block."""
    words = [token.text.upper() for token in tokens]
    starts = [n for n, word in enumerate(words) if word == "FUNCTION_BLOCK"]
    if words and words[0] != "FUNCTION_BLOCK":
        raise tokens[0].unknown("block", ("FUNCTION_BLOCK",))
    if not starts:
        raise text.error("The text has no FUNCTION_BLOCK.")
    found: dict[str, list[Piece]] = {}
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        named = tokens[start + 1].text if start + 1 < end and words[start + 1] not in (*BLOCKS, _END) else ""
        first = next((n for n in range(start, end) if words[n] in (*BLOCKS, _END)), end)
        found[unused(named, found)] = [token for token in tokens[first:end] if token.text.upper() != _END]
    if name is None and len(found) > 1:
        raise tokens[starts[1]].error(
            f"The file has several function blocks: choose one of {listed(found)}, as in "
            f"read_rules(path, block={next(iter(found))!r:.60})."
        )
    if name is not None and name not in found:
        raise text.error(f"There is no function block {name!r:.60}; choose from {listed(found)}.")
    return next(iter(found.values())) if name is None else found[name]


def declared(blocks: list[Block], section: str, kind: str) -> list[Block]:
    """Return the blocks that describe the declared variables, in the order of their declaration."""
    described = {block.head.text: block for block in blocks if block.kind == kind}
    names: dict[str, Piece] = {}
    for block in blocks:
        if block.kind == section:
            for n, token in enumerate(block.tokens[1:], start=1):
                if token.text == ":":
                    names[block.tokens[n - 1].text] = block.tokens[n - 1]
    for name, block in described.items():
        if name not in names:
            raise block.head.error(f"{kind} describes {name!r:.60}, which {section} does not declare.")
    if not names:
        first = blocks[0].head if blocks else None
        where = first or Piece("", 0, 0)
        raise where.error(f"The text declares no variable in {section}.")
    return [described.get(name, Block(kind, token, [])) for name, token in names.items()]


def statements(block: Block) -> list[list[Piece]]:
    """Return the statements of a block that describes a variable."""
    found: list[list[Piece]] = []
    for before, token in zip([None, *block.tokens], block.tokens, strict=False):
        named = before is not None and before.text.upper() in ("TERM", ":", "|")  # TERM range, LOCK : RANGE
        if token.text.upper() in _STARTS and not named:
            found.append([token])
        elif token.text != ";":
            if not found:
                raise token.unknown("statement", sorted(_STARTS))
            found[-1].append(token)
    return found


def said_in(block: Block, key: str) -> list[Piece] | None:
    """Return what follows the colon of a statement."""
    for statement in statements(block):
        if statement[0].text.upper() == key:
            rest = statement[1:]
            while rest and rest[0].text in (":", ":=", "="):
                rest = rest[1:]
            return rest
    return None

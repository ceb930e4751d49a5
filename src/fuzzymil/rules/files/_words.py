"""Words of other formats: their words for ours, and names in formats that do not support every name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Singleton
from fuzzymil.rules.files._system import Output, System
from fuzzymil.rules.rule import Variable

_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}
)
"""Letters that Unicode does not take apart."""


def word_for(what: str, ours: str, words: Mapping[str, str], format: str) -> str:
    """Return the word of ``format`` for ``ours``; ``words`` maps its words to our names, ``what`` says what they name.

    Examples
    --------
    >>> word_for("T-norm", "min", {"Minimum": "min"}, "FLL")
    'Minimum'
    >>> word_for("T-norm", "yager", {"Minimum": "min"}, "FLL")
    Traceback (most recent call last):
    ...
    fuzzymil.ParameterError: FLL has no word for the T-norm 'yager'. Use one of min, or save ...
    """
    for word, meaning in words.items():
        if meaning == ours:
            return word
    raise ParameterError(
        f"{format} has no word for the {what} {ours!r}. Use one of {listed(dict.fromkeys(words.values()))}, "
        "or save the rules as .json or .rules, which support all of them."
    )


def distinct(names: Iterable[str], writable: Callable[[str], str]) -> dict[str, str]:
    """Return how each name is written: unchanged if possible, otherwise changed, and numbered where needed.

    Examples
    --------
    >>> distinct(["a b", "ab", "a  b"], lambda name: name.replace(" ", ""))
    {'a b': 'ab2', 'ab': 'ab', 'a  b': 'ab3'}
    """
    words = {name: writable(name) for name in names}
    taken = {name for name, word in words.items() if name == word}
    counts: dict[str, int] = {}
    for name, base in words.items():
        word = base
        while word in taken and word != name:
            counts[base] = counts.get(base, 1) + 1
            word = f"{base}{counts[base]}"
        taken.add(word)
        words[name] = word
    return words


def variable_names(system: System, writable: Callable[[str], str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return how the names of inputs and of outputs are written; different names stay different."""
    inputs, outputs = [v.name for v in system.inputs], [o.name for o in system.outputs]
    words = distinct([*inputs, *outputs], writable)
    return {name: words[name] for name in inputs}, {name: words[name] for name in outputs}


def plain_word(name: str) -> str:
    """Return a name as a word of ASCII letters, digits and underscores; accents are dropped.

    Examples
    --------
    >>> plain_word("élevé (max)"), plain_word("dV*"), plain_word("größer"), plain_word("高"), plain_word("2nd")
    ('eleve_max', 'dV', 'grosser', 'u9AD8', '_2nd')
    """
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        return name
    apart = unicodedata.normalize("NFKD", name.translate(_LETTERS))
    kept = "".join(character for character in apart if not unicodedata.combining(character))
    spelled = "".join(f"u{ord(c):04X}" if not c.isascii() and c.isalnum() else c for c in kept)
    word = re.sub(r"[^A-Za-z0-9_]+", "_", spelled).strip("_")
    return f"_{word}" if not word or word[0].isdigit() else word


def single_numbers(system: System) -> list[str]:
    """Return a sentence about sets of a single number, which other programs know only as triangles."""
    owners: list[Variable | Output] = [*system.inputs, *(output for output in system.outputs if not output.weighted)]
    found = [
        f"{name!r:.60} of {owner.name!r:.60}"
        for owner in owners
        for name, term in owner.terms.items()
        if isinstance(term, Singleton)
    ]
    return [f"Single numbers are written as triangles without width: {listed(found)}."] if found else []


def changed(written: Iterable[dict[str, str]]) -> list[str]:
    """Return a sentence about the names that are written differently, if there are any."""
    found = {name: word for names in written for name, word in names.items() if name != word}
    pairs = listed(f"{name!r:.60} is written as {word!r:.60}" for name, word in found.items())
    return [f"Some names have to change: {pairs}."] if found else []

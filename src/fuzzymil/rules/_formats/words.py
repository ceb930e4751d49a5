"""Words of other formats: their words for ours, and names in formats that do not support every name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from fuzzymil._utils.errors import ParameterError, listed


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


def changed(written: Iterable[dict[str, str]]) -> list[str]:
    """Return a sentence about the names that are written differently, if there are any."""
    found = {name: word for names in written for name, word in names.items() if name != word}
    pairs = listed(f"{name!r:.60} is written as {word!r:.60}" for name, word in found.items())
    return [f"Some names have to change: {pairs}."] if found else []

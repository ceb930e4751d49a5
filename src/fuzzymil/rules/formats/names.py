"""Names in files that cannot hold every name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from fuzzymil._utils.errors import listed

__all__ = ["changed", "distinct"]


def distinct(names: Iterable[str], writable: Callable[[str], str]) -> dict[str, str]:
    """Return how each name is written: as it is where that is writable, otherwise changed and numbered if need be.

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
    """Tell which names are written differently, in one sentence if there is any.

    Examples
    --------
    >>> changed([{"a b": "ab", "c": "c"}])
    ["Some names cannot be kept: 'a b' is written as 'ab'."]
    """
    found = {name: word for names in written for name, word in names.items() if name != word}
    pairs = listed(f"{name!r:.60} is written as {word!r:.60}" for name, word in found.items())
    return [f"Some names cannot be kept: {pairs}."] if found else []

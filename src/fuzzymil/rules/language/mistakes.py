"""Collects the mistakes of a text, and reports all of them in one error."""

from __future__ import annotations

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.rules.language.lexer import Place

__all__ = ["Abandoned", "Mistakes"]

_MOST_SHOWN = 20  # different mistakes in a message: whoever has mended these parses again
_MOST_PLACES = 200  # for programs that mark them in an editor


class Abandoned(Exception):
    """What is being parsed cannot be understood any further; the next statement may be."""


class Mistakes:
    """Collects the mistakes of a text; the same one in several places is one mistake.

    Examples
    --------
    >>> mistakes = Mistakes()
    >>> for start in (3, 13):
    ...     mistakes.add(Place("IF a THEN  IF a THEN", "", start), "Expected 'is'.")
    >>> mistakes.add(Place("IF a THEN  IF a THEN", "", 20), "Expected a conclusion.")
    >>> print(mistakes.error())
    2 mistakes:
    Line 1, character 4: Expected 'is'. (Also at line 1, character 14.)
      IF a THEN  IF a THEN
         ^
    Line 1, character 21: Expected a conclusion.
      IF a THEN  IF a THEN
                          ^
    """

    def __init__(self) -> None:
        self.found: dict[str, list[Place]] = {}

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def n_places(self) -> int:
        """The number of mistakes, the same one in several places counted several times."""
        return sum(map(len, self.found.values()))

    def add(self, place: Place, message: str) -> None:
        """Record a mistake; raise the error if there are so many that reading on is of no use."""
        places = self.found.setdefault(message, [])
        if place not in places:
            places.append(place)
        if self.n_places >= _MOST_PLACES:
            raise self.error()

    def check(self) -> None:
        """Raise the error if there is a mistake."""
        if self.found:
            raise self.error()

    def error(self) -> RuleSyntaxError:
        """Return the error that shows the mistakes in the order of the text, and lists all of them for programs."""
        order = sorted(self.found.items(), key=lambda item: min((place.entry, place.start) for place in item[1]))
        shown: list[str] = []
        facts: list[tuple[int, int, str]] = []
        for message, places in order:
            places = sorted(places, key=lambda place: (place.entry, place.start))
            facts += [(place.line, place.character, message) for place in places]
            if len(shown) < _MOST_SHOWN:
                shown.append(places[0].shown(message + _elsewhere(places[1:])))
        if len(order) == 1:
            return RuleSyntaxError(shown[0], facts)
        first = "The first " if len(shown) < len(order) else ""
        return RuleSyntaxError("\n".join([f"{first}{len(shown)} mistakes:", *shown]), facts)


def _elsewhere(places: list[Place]) -> str:
    if not places:
        return ""
    named = [f"{place.label}line {place.line}, character {place.character}" for place in places[:3]]
    more = f" and {len(places) - 3} more" if len(places) > 3 else ""
    return f" (Also at {'; '.join(named)}{more}.)"

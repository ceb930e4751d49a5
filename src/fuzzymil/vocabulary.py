"""What rules are made of: variables with their named fuzzy sets, and single rules; immutable values."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from fuzzymil.errors import ParameterError
from fuzzymil.membership import MembershipFunction

__all__ = ["Rule", "Variable"]


class _Names(dict[str, Any]):
    """A mapping that stays as it was made, and so can be hashed."""

    def __setitem__(self, *_: Any) -> None:
        raise TypeError("Rules are immutable: make new ones, with dataclasses.replace say.")

    __delitem__ = update = pop = popitem = clear = setdefault = __ior__ = __setitem__  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_Names, (dict(self),))


@dataclasses.dataclass(frozen=True)
class Variable:
    """A feature with its fuzzy sets: ``Variable("depth", {"low": Gaussian(0, 1)}, unit="m")``.

    ``low`` and ``high`` tell the range of the data, from which words such as *low* take their meaning.
    """

    name: str
    terms: Mapping[str, MembershipFunction] = dataclasses.field(default_factory=dict)
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", _Names(self.terms))
        for term, chosen in self.terms.items():
            if not isinstance(chosen, MembershipFunction):
                raise ParameterError(f"The term {term!r} of {self.name!r} must be a fuzzy set, got {chosen!r}.")
        for end in ("low", "high"):
            value = getattr(self, end)
            object.__setattr__(self, end, None if value is None else float(value))


@dataclasses.dataclass(frozen=True)
class Rule:
    """IF variable is term AND ... THEN output = coefs; variables left out are don't-care.

    ``coefs`` holds for each output its constant, or its constant and one factor a variable.
    """

    antecedent: Mapping[str, str]
    coefs: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "antecedent", _Names(self.antecedent))
        object.__setattr__(self, "coefs", tuple(tuple(map(float, row)) for row in self.coefs))

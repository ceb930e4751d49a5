"""The sets that Mamdani rules concluded about a bag."""

from __future__ import annotations

import dataclasses
from typing import Any

__all__ = ["JoinedSet"]


@dataclasses.dataclass(frozen=True)
class JoinedSet:
    """What Mamdani rules concluded about a bag: their sets, joined into one, and the number that stands for it.

    Attributes
    ----------
    output, unit : str
        Name and unit of the output.
    values : tuple of float
        The values of the output at which sets are evaluated.
    membership : tuple of float
        Of these values in the joined set.
    sets : dict of int to tuple of float
        For each rule that says something about the output, by position from 0: the membership of these values in the
        term that it concludes.
    cuts : dict of int to tuple of float
        The same, cut off or scaled by the strength of the rule.
    point : float
        The defuzzified value: the output.

    Examples
    --------
    >>> from fuzzymil.explain import explain
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.parse('''
    ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> found = explain(rules, [[[0.9], [0.3]]]).joined
    >>> round(found.point, 3), [round(max(cut), 3) for cut in found.cuts.values()]
    (0.389, [0.325, 0.882])
    """

    output: str
    unit: str
    values: tuple[float, ...]
    membership: tuple[float, ...]
    sets: dict[int, tuple[float, ...]]
    cuts: dict[int, tuple[float, ...]]
    point: float

    def to_dict(self, most: int = 101) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON, with about ``most`` of the values."""
        every = slice(None, None, max((len(self.values) - 1) // max(most - 1, 1), 1))
        return {
            "output": self.output,
            "unit": self.unit,
            "point": self.point,
            "values": list(self.values[every]),
            "membership": list(self.membership[every]),
            "cuts": {str(rule): list(cut[every]) for rule, cut in self.cuts.items()},
        }

"""Mamdani rules in the form of rules that conclude numbers, for whatever shows rules."""

from __future__ import annotations

import dataclasses
from typing import Any

from fuzzymil.inference.activations import Activations
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.mamdani._rules import MamdaniRules


@dataclasses.dataclass(frozen=True, repr=False)
class NumericView(RuleBase):
    """The rule base of `MamdaniRules.to_sugeno`, whose inference is that of the Mamdani rules themselves."""

    mamdani: MamdaniRules | None = None

    def infer(self, bags: Any) -> Activations:
        """Run the inference of the Mamdani rules; conclusions are the centers of the rules' shares."""
        assert self.mamdani is not None
        return self.mamdani.infer(bags).numeric()


def numeric_view(rules: RuleBase | MamdaniRules) -> RuleBase:
    """Return a rule base as it is, and Mamdani rules in the form of one.

    Examples
    --------
    >>> rules = MamdaniRules.parse('''
    ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(0, 0.2, 0.4), great = Triangular(0.6, 0.8, 1)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small
    ... ''')
    >>> bags = [[[0.2], [0.7]]]
    >>> numeric_view(rules).infer(bags).output == rules.infer(bags).output
    array([[ True]])
    """
    if isinstance(rules, RuleBase):
        return rules
    found = rules.to_sugeno()
    fields = {field.name: getattr(found, field.name) for field in dataclasses.fields(RuleBase)}
    return NumericView(**fields, mamdani=rules)

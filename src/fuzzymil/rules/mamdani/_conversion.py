"""Mamdani rules from rules that add up numbers, with the same decisions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Triangular
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.premise import ANYTHING, Expression, Quantified, is_quantified
from fuzzymil.rules.rule import Rule, Variable

TERMS = {"negative": Triangular(-0.5, 0.0, 0.5), "positive": Triangular(0.5, 1.0, 1.5)}
"""The terms of an output from 0 to 1 that says whether a bag belongs to a class."""

_TERM_OF = {False: "negative", True: "positive"}
_NEGLIGIBLE = 0.01  # of the greatest conclusion


def from_additive(rules: RuleBase) -> dict[str, Any]:
    """Return the fields of Mamdani rules; see `MamdaniRules.from_additive`."""
    if rules.normalize or rules.coefs.shape[2] > 1:
        kind = "with slopes" if not rules.normalize else "whose conclusions are averaged"
        raise ParameterError(
            f"from_additive needs rules that add numbers to a default (THEN y += 2), got rules {kind}."
        )
    free = rules.aggregation == "max" or all(is_quantified(rule.premise) for rule in rules.rules)
    amounts = rules.coefs[:, :, 0] * np.array([rule.weight for rule in rules.rules])[:, None]
    # The default speaks for every bag: a rule without a condition.
    amounts = np.concatenate([amounts, np.array(rules.default)[None]])
    asked = [*rules.rules, Rule(ANYTHING, [[0.0]])]
    alphas = (*rules.alpha, 1.0) if isinstance(rules.alpha, tuple) else None
    greatest = float(np.abs(amounts).max()) or 1.0
    made, conclusions, places = [], [], []
    for place, (rule, row) in enumerate(zip(asked, amounts / greatest, strict=True)):
        sizes = np.abs(row)
        for weight in dict.fromkeys(sizes[sizes >= _NEGLIGIBLE].tolist()):  # outputs with equal weights share a rule
            made.append(Rule(_plain(rule.premise) if free else rule.premise, [[0.0]], weight, rule.label, rule.comment))
            said = zip(rules.outputs, row, strict=True)
            conclusions.append({name: _TERM_OF[value > 0] for name, value in said if abs(value) == weight})
            places.append(place)
    settings: dict[str, Any] = {name: getattr(rules, name) for name in ("t_norm", "s_norm", "aggregation", "limited")}
    settings["aggregation"] = "max" if free else rules.aggregation
    settings["alpha"] = rules.alpha if alphas is None else tuple(alphas[place] for place in places)
    return {
        "premises": RuleBase(variables=rules.variables, rules=tuple(made), comment=rules.comment, **settings),
        "outputs": tuple(Variable(name, TERMS, 0.0, 1.0) for name in rules.outputs),
        "conclusions": tuple(conclusions),
    }


def _plain(premise: Expression) -> Expression:
    """Leave out a SOME about the whole premise: the maximum over instances means it, and other programs have none."""
    if isinstance(premise, Quantified) and premise.quantifier == "some":
        return premise.part
    return premise

"""Rules that conclude numbers from rules that conclude sets, and the other way round."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.rules.conclusion import TERMS, Defuzzification
from fuzzymil.rules.premise import ANYTHING, Quantified, is_quantified
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_TERM_OF = {False: "negative", True: "positive"}
_NEGLIGIBLE = 0.01  # of the greatest conclusion


def to_sugeno(base: RuleBase) -> RuleBase:
    """Return rules with the same premises that conclude numbers: the centers of the sets that these rules conclude.

    Their output is the mean of these centers, weighted by the strengths of the rules. A rule that says nothing
    about an output concludes its default. Rules that conclude numbers already stay as they are.
    """
    if not base.concludes_sets:
        return base
    rules = tuple(rule.concluding(rows) for rule, rows in zip(base.rules, base.coefs.tolist(), strict=True))
    outputs = tuple(dataclasses.replace(output, terms={}) for output in base.outputs)
    return dataclasses.replace(base, rules=rules, outputs=outputs, defuzzification=None)


def to_mamdani(base: RuleBase, **settings: Any) -> RuleBase:
    """Return rules that conclude sets and decide as these additive rules do.

    A rule that raises an output concludes *positive*, one that lowers it *negative*, with a weight in proportion to
    what it adds; the default becomes a rule about every bag. Sets are scaled (``implication="product"``) and added
    (``accumulation="sum"``), so that the output is above one half exactly where the sum is above 0.

    ``**settings``: as in `Defuzzification`.
    """
    if base.normalize or base.coefs.shape[2] > 1:
        kind = "with slopes" if not base.normalize else "whose conclusions are averaged"
        raise ParameterError(f"to_mamdani needs rules that add numbers to a default (THEN y += 2), got rules {kind}.")
    free = base.aggregation == "max" or all(is_quantified(rule.premise) for rule in base.rules)
    amounts = base.coefs[:, :, 0] * np.array([rule.weight for rule in base.rules])[:, None]
    # The default speaks for every bag: a rule without a condition.
    amounts = np.concatenate([amounts, np.array(base.default)[None]])
    asked = [*base.rules, Rule(ANYTHING, [[0.0]])]
    alphas = (*base.alpha, 1.0) if isinstance(base.alpha, tuple) else None
    greatest = float(np.abs(amounts).max()) or 1.0
    made, places = [], []
    for place, (rule, row) in enumerate(zip(asked, amounts / greatest, strict=True)):
        sizes = np.abs(row)
        for weight in dict.fromkeys(sizes[sizes >= _NEGLIGIBLE].tolist()):  # outputs with equal weights share a rule
            premise = rule.premise
            if free and isinstance(premise, Quantified) and premise.quantifier == "some":
                premise = premise.part  # the maximum over instances means it, and other programs have no SOME
            said = zip(base.output_names, row, strict=True)
            terms = {name: _TERM_OF[value > 0] for name, value in said if abs(value) == weight}
            made.append(Rule(premise, terms, weight, rule.label, rule.comment))
            places.append(place)
    return dataclasses.replace(
        base,
        rules=tuple(made),
        outputs=tuple(Variable(name, TERMS, 0.0, 1.0) for name in base.output_names),
        aggregation="max" if free else base.aggregation,
        alpha=base.alpha if alphas is None else tuple(alphas[place] for place in places),
        conclusion_aggregation="softmax",
        conclusion_alpha=1.0,
        normalize=True,
        default=(),
        defuzzification=Defuzzification(**({"implication": "product", "accumulation": "sum"} | settings)),
    )

"""The state of the studio as one JSON value: variables, terms, rules, operators, history."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.rules import Variable
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import conditions, negations
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.document import Rules
from fuzzymil.studio.sets import axis_of, described_set

__all__ = ["condition_columns", "data_of", "rules_of", "state_of", "variables_of", "words"]


def state_of(case: Case) -> dict[str, Any]:
    """Return everything about the document that does not depend on a view.

    Examples
    --------
    >>> from fuzzymil.studio.document import Document
    >>> case = Case(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1"), None)
    >>> state_of(case)["rules"][0]["text"]
    'IF x is low THEN y = 1'
    """
    document = case.document
    classes = case.classes
    return {
        "kind": "mamdani" if document.rules.concludes_sets else "sugeno",
        "additive": not document.rules.normalize,
        "text": document.text,
        "comment": document.base.comment,
        "variables": variables_of(case),
        "rules": rules_of(case),
        "outputs": list(case.outputs),
        "operators": _operators(document.rules),
        "default": dict(zip(case.outputs, document.rules.default, strict=True)),
        "classes": None if classes is None else [class_text(each) for each in classes],
        "positive": _positive(case),
        "threshold": None if classes is None or len(case.outputs) > 1 else case.threshold,
        "data": data_of(case),
    }


def _positive(case: Case) -> str | None:
    if case.classes is None or len(case.outputs) > 1:
        return None
    return class_text(case.classes[case.positive])


def values_of(bags: Bags | None, name: str, place: int) -> Array | None:
    """Return the instances' values of a variable; None if the bags have no such feature."""
    if bags is None:
        return None
    if bags.feature_names is None:
        return bags.instances[:, place] if place < bags.n_features else None
    return bags.instances[:, bags.feature_names.index(name)] if name in bags.feature_names else None


def variables_of(case: Case, only: str | None = None) -> list[dict[str, Any]]:
    """Return the variables with their terms, or only one of them; outputs of Mamdani rules come last."""
    n_inputs = len(case.rules.variables)
    asked = [
        {(each.variable, each.term) for each in (*rule.conditions, *rule.terms.values())} for rule in case.rules.rules
    ]
    found = []
    for place, variable in enumerate(case.rules.all_variables):
        if only not in (None, variable.name):
            continue
        is_input = place < n_inputs
        axis = axis_of(variable, values_of(case.bags, variable.name, place) if is_input else None)
        found.append(
            {
                "name": variable.name,
                "title": variable.title,
                "unit": variable.unit,
                "comment": variable.comment,
                "input": is_input,
                "low": variable.low,
                "high": variable.high,
                "axis": list(axis),
                "categories": list(variable.categories),
                "used_by": [r for r, each in enumerate(asked, 1) if any(name == variable.name for name, _ in each)],
                "terms": _terms(case, variable, axis, asked),
            }
        )
    return found


def _terms(
    case: Case, variable: Variable, axis: tuple[float, float], asked: list[set[tuple[str, str]]]
) -> list[dict[str, Any]]:
    return [
        {
            "name": term,
            **described_set(chosen, axis),
            "frozen": (variable.name, term) in case.document.frozen,
            "category": term in variable.categories,
            "used_by": [r for r, each in enumerate(asked, 1) if (variable.name, term) in each],
        }
        for term, chosen in variable.terms.items()
    ]


def rules_of(case: Case) -> list[dict[str, Any]]:
    """Return the rules as text and in parts."""
    rules, base, lines = case.document.rules, case.document.base, case.document.lines
    texts = rules.statements()
    exact = rules.statements(None, None)
    found = []
    for r, rule in enumerate(base.rules):
        negated = list(negations(rule.premise))
        found.append(
            {
                "number": r + 1,
                "name": base.name_of(r),
                "label": rule.label,
                "comment": rule.comment,
                "text": texts[r],
                "source": exact[r],
                "premise": printer.premise_text(rule.premise),
                "conclusion": rules.concluded_text(r),
                "conclusions": _conclusions(rules, r),
                "weight": rule.weight,
                "on": r + 1 not in case.document.off,
                "line": lines[r] if r < len(lines) else None,
                "plain": rule.is_plain,
                "quantified": any(part.quantifier for part in base.parts if part.rule == r),
                "conditions": [
                    {
                        "variable": each.variable,
                        "term": each.term,
                        "hedges": list(each.hedges),
                        "negated": inside,
                    }
                    for each, inside in zip(conditions(rule.premise), negated, strict=True)
                ],
            }
        )
    return found


def _conclusions(rules: Rules, r: int) -> dict[str, Any]:
    """Return what a rule concludes: a constant and slopes, or a term with hedges."""
    if not rules.concludes_sets:
        return {
            output: {
                "constant": row[0],
                "slopes": {name: slope for name, slope in zip(rules.feature_names, row[1:], strict=False) if slope},
            }
            for output, row in zip(rules.output_names, rules.rules[r].coefs, strict=True)
        }
    return {name: {"term": said.term, "hedges": list(said.hedges)} for name, said in rules.rules[r].terms.items()}


_PREMISES = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
_SUGENO = (*_PREMISES, "conclusion_aggregation", "conclusion_alpha", "normalize")
_MAMDANI = ("implication", "accumulation", "defuzzify", "resolution", "activation")


def _operators(rules: Rules) -> dict[str, Any]:
    if rules.defuzzification is None:
        return {name: getattr(rules, name) for name in _SUGENO}
    found = {name: getattr(rules, name) for name in _PREMISES}
    return found | {name: getattr(rules.defuzzification, name) for name in _MAMDANI}


def condition_columns(case: Case) -> list[str]:
    """Return the input variables that some rule has a condition on, in their order."""
    used = {condition.variable for rule in case.base.rules for condition in rule.conditions}
    return [variable.name for variable in case.base.variables if variable.name in used]


def data_of(case: Case) -> dict[str, Any] | None:
    """Return the size of the data and its labels, and what keeps the rules from reading it, if anything does."""
    bags = case.bags
    if bags is None:
        return None
    from fuzzymil.rules.activations import matched

    problem = None
    try:
        matched(case.base, case.data)
    except ValueError as error:
        problem = str(error)
    counts = {}
    if bags.labels is not None:
        names, numbers = np.unique(np.array(list(map(class_text, bags.labels)), object).astype(str), return_counts=True)
        if len(names) <= 50:
            counts = dict(zip(names.tolist(), numbers.tolist(), strict=True))
    return {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "n_features": bags.n_features,
        "features": list(bags.names),
        "labeled": bags.labels is not None,
        "labels": counts,
        "problem": problem,
    }


def words() -> dict[str, Any]:
    """Return the words of the rule language, for completion and highlighting.

    Examples
    --------
    >>> "very" in words()["hedges"]
    True
    """
    return {
        "hedges": list(HEDGES),
        "quantifiers": [name.upper() for name in QUANTIFIERS],
        "keywords": ["IF", "THEN", "AND", "OR", "NOT", "is", "WITH", "anything", "instances", "Default"],
        "statements": ["VARIABLE", "OUTPUT", "USING"],
    }

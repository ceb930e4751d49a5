"""The state of the studio as one JSON value: variables, terms, rules, operators, history."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.explain import Explanation, explain
from fuzzymil.inference.premises import HEDGES, hedged
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.editing import Finding, all_variables
from fuzzymil.rules.inference import clipped, matched
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import conditions, negations
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.document import Rules
from fuzzymil.studio.sets import axis_of, set_facts

__all__ = [
    "condition_columns",
    "data_of",
    "rules_of",
    "state_of",
    "variables_of",
    "words",
    "bags",
    "committee_on",
    "explanation",
    "place_of",
    "histograms",
    "variable",
    "slices",
    "surface",
    "numbers_of",
    "score",
    "validation",
    "viewer",
    "findings",
]


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
        "kind": "sugeno" if isinstance(document.rules, RuleBase) else "mamdani",
        "additive": isinstance(document.rules, RuleBase) and not document.rules.normalize,
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
    asked = [{(each.variable, each.term) for each in rule.conditions} for rule in case.base.rules]
    if not isinstance(case.rules, RuleBase):
        for rule, said in enumerate(case.rules.conclusions):
            asked[rule] |= {(name, each if isinstance(each, str) else each.term) for name, each in said.items()}
    found = []
    for place, variable in enumerate(all_variables(case.rules)):
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
            **set_facts(chosen, axis),
            "frozen": (variable.name, term) in case.document.frozen,
            "category": term in variable.categories,
            "used_by": [r for r, each in enumerate(asked, 1) if (variable.name, term) in each],
        }
        for term, chosen in variable.terms.items()
    ]


def rules_of(case: Case) -> list[dict[str, Any]]:
    """Return the rules as text and in parts."""
    rules, base, lines = case.document.rules, case.document.base, case.document.lines
    texts = source.statements(rules) if isinstance(rules, RuleBase) else rules.statements()
    exact = source.statements(rules, None, None) if isinstance(rules, RuleBase) else rules.statements(None, None)
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
                "conclusion": _concluded(rules, r),
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


def _concluded(rules: Rules, r: int) -> str:
    if not isinstance(rules, RuleBase):
        return rules.concluded_text(r)
    return printer.conclusions(
        rules.outputs, rules.rules[r].coefs, rules.feature_names, 4, None, adds=not rules.normalize
    )


def _conclusions(rules: Rules, r: int) -> dict[str, Any]:
    """Return what a rule concludes: a constant and slopes, or a term with hedges."""
    if isinstance(rules, RuleBase):
        return {
            output: {
                "constant": row[0],
                "slopes": {name: slope for name, slope in zip(rules.feature_names, row[1:], strict=False) if slope},
            }
            for output, row in zip(rules.outputs, rules.rules[r].coefs, strict=True)
        }
    return {
        name: {"term": said, "hedges": []}
        if isinstance(said, str)
        else {"term": said.term, "hedges": list(said.hedges)}
        for name, said in rules.conclusions[r].items()
    }


_PREMISES = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
_SUGENO = (*_PREMISES, "conclusion_aggregation", "conclusion_alpha", "normalize")
_MAMDANI = ("implication", "accumulation", "defuzzify", "resolution", "activation")


def _operators(rules: Rules) -> dict[str, Any]:
    if isinstance(rules, RuleBase):
        return {name: getattr(rules, name) for name in _SUGENO}
    found = {name: getattr(rules.premises, name) for name in _PREMISES}
    return found | {name: getattr(rules, name) for name in _MAMDANI}


def condition_columns(case: Case) -> list[str]:
    """Return the input variables that some rule has a condition on, in their order."""
    used = {condition.variable for rule in case.base.rules for condition in rule.conditions}
    return [variable.name for variable in case.base.variables if variable.name in used]


def data_of(case: Case) -> dict[str, Any] | None:
    """Return the size of the data and its labels, and what keeps the rules from reading it, if anything does."""
    bags = case.bags
    if bags is None:
        return None
    from fuzzymil.rules.inference import matched

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


# The table of bags, and the explanation of one.


def bags(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the table of bags; ``before`` is a case to compare with."""
    data, reading = case.data, case.reading
    before: Case | None = request.get("before")
    uncovered = getattr(case.found, "uncovered", None)
    found: dict[str, Any] = {
        "ids": list(map(str, data.ids.tolist())),
        "n_instances": data.sizes,
        "labels": case.labels,
        "scores": case.scores,
        "outputs": case.found.output if len(case.outputs) > 1 else None,
        "probabilities": None,
        "decisions": case.decisions,
        "right": None,
        "uncovered": np.zeros(data.n_bags, bool) if uncovered is None else uncovered,
        "strongest": case.found.strongest,
        "n_changed": 0,
        "before": None,
        "committee": None,
    }
    if case.committee is not None:
        found["committee"] = {"decisions": case.committee.decisions, "outputs": case.committee.output}
    if reading is not None:
        chances = reading.probability(case.found.output)
        found["probabilities"] = chances[:, reading.positive] if chances.shape[1] == 2 else chances.max(axis=1)
        if case.labels is not None:
            found["right"] = case.decisions == case.labels
    if before is not None:
        changed = before.decisions != case.decisions
        found["n_changed"] = int(changed.sum()) if reading is not None else 0
        found["before"] = {"scores": before.scores, "decisions": before.decisions}
    return found


def place_of(data: Bags, bag: Any) -> int:
    """Return the place of a bag, given by its place or by its id as text.

    Examples
    --------
    >>> place_of(Bags.from_list([[[0.0]], [[1.0]]], ids=["a", "b"]), "b")
    1
    """
    if isinstance(bag, int) and not isinstance(bag, bool) and 0 <= bag < data.n_bags:
        return bag
    ids = list(map(str, data.ids.tolist()))
    if isinstance(bag, str) and bag in ids:
        return ids.index(bag)
    raise ParameterError(f"There is no bag {bag!r:.60}: expected a place from 0 to {data.n_bags - 1}, or an ID.")


def committee_on(case: Case, place: int = 0) -> dict[str, Any] | None:
    """Return what a committee says about a bag: together, and each of its members, the shown one first."""
    together = case.committee
    if together is None:
        return None
    single = [output[place : place + 1] for output in case.outputs_of_members]
    return {
        "output": together.output[place],
        "decision": together.decisions[place],
        "probability": None
        if together.probabilities is None or case.classes is None
        else dict(zip(map(class_text, case.classes), together.probabilities[place], strict=True)),
        "members": [
            {
                "output": output[0],
                "decision": output[0, 0] if case.reading is None else class_text(case.reading.labels(output)[0]),
            }
            for output in single
        ],
    }


def explanation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a bag got its answer, and the answer without each of its instances."""
    place = place_of(case.data, request.get("bag"))
    one = case.data[[place]]
    found = explain(case.rules, one, reading=case.explained)
    return {
        "bag": place,
        "bag_id": str(case.data.ids[place]),
        "explanation": found.to_dict(),
        "text": found.to_text(),
        "committee": committee_on(case, place),
        "without": _without_each(case, one),
    }


_MOST_WITHOUT = 2_000  # instances of a bag: each leaves out one, so that this grows with their square


def _without_each(case: Case, one: Bags) -> list[dict[str, Any]]:
    """Return the output without each instance in turn; none for a bag of one."""
    n = one.n_instances
    if not 1 < n <= _MOST_WITHOUT:
        return []
    if n <= 200:
        kept = [np.delete(one.instances, k, axis=0) for k in range(n)]
        rest = case.of_bags(Bags.from_list(kept, feature_names=one.feature_names))
        outputs, decisions = rest.found.output, rest.decisions
    else:  # in turn: together they would not fit in memory
        each = [
            case.of_bags(Bags.from_list([np.delete(one.instances, k, axis=0)], feature_names=one.feature_names))
            for k in range(n)
        ]
        outputs = np.concatenate([part.found.output for part in each])
        decisions = np.concatenate([part.decisions for part in each])
    return [
        {"instance": k, "output": output.tolist(), "decision": decision}
        for k, (output, decision) in enumerate(zip(outputs, decisions, strict=True))
    ]


# Variables and the histogram of their values.


_BINS = 48


def variable(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one variable with its terms, as in the state."""
    known_name("variable", request.get("variable"), [each.name for each in all_variables(case.rules)])
    return variables_of(case, str(request["variable"]))[0]


def histograms(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each input the number of instances in each interval, by the label of their bag."""
    del request
    seen = matched(case.base, case.data)
    labels = None if case.labels is None or case.classes is None else case.labels
    groups = {"all": np.ones(seen.n_instances, bool)}
    if labels is not None:
        of_instances = np.repeat(np.asarray(labels, object), seen.sizes)
        groups = {class_text(name): of_instances == name for name in dict.fromkeys(labels)}
    found = []
    for d, each in enumerate(case.base.variables):
        values = seen.instances[:, d]
        edges = np.linspace(*axis_of(each, values), _BINS + 1)
        counts = {name: np.histogram(values[own & ~np.isnan(values)], edges)[0] for name, own in groups.items()}
        found.append({"variable": each.name, "edges": edges, "counts": counts})
    return {"histograms": found}


# The output over two inputs or along one, with the region where no rule applies.


_MOST_POINTS = 121
_MOST_SHOWN = 10_000  # instances on top
UNKNOWN = 0.05
"""Firing strength below which no rule is said to apply, as in `fuzzymil.plots.SurfaceDisplay`."""


def _count(request: Mapping[str, Any], usual: int) -> int:
    n = request.get("n", usual)
    if not isinstance(n, int) or isinstance(n, bool) or not 2 <= n <= _MOST_POINTS:
        raise ParameterError(f"n must be a whole number from 2 to {_MOST_POINTS}, got {n!r:.60}.")
    return n


def _held(case: Case, request: Mapping[str, Any], shown: tuple[str, ...]) -> dict[str | int, float]:
    given = request.get("others") or {}
    for name in given:
        known_name("variable", name, case.base.feature_names, "in others")
    return {name: float(value) for name, value in given.items() if name not in shown and value is not None}


def surface(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output over two variables, ``x`` and ``y``; the others are held."""
    from fuzzymil.plots import SurfaceDisplay

    x, y = request.get("x"), request.get("y")
    for name in (x, y):
        known_name("variable", name, case.base.feature_names)
    output = request.get("output", case.outputs[0])
    made = SurfaceDisplay.from_rules(
        case.rules,
        str(x),
        str(y),
        at=_held(case, request, (str(x), str(y))),
        output=output,
        bags=None if case.bags is None else matched(case.base, case.data),
        n_points=_count(request, 41),
    )
    return {
        "x": made.x,
        "y": made.y,
        "z": made.z,
        "uncovered": None if made.strongest is None else made.strongest < UNKNOWN,
        "low": float(made.z.min()),
        "high": float(made.z.max()),
        "names": [str(x), str(y)],
        "titles": [made.xlabel, made.ylabel],
        "output": made.output,
        "others": made.held,
        "instances": _instances(case, (str(x), str(y))),
    }


def _instances(case: Case, names: tuple[str, ...]) -> dict[str, Any] | None:
    if case.bags is None:
        return None
    seen = matched(case.base, case.data)
    every = slice(None, None, seen.n_instances // _MOST_SHOWN + 1)
    columns = [seen.instances[every, case.base.feature_names.index(name)] for name in names]
    labels = None if case.labels is None else np.asarray(case.labels, object)[seen.bag_index[every]]
    return {"values": columns, "labels": labels, "bags": seen.bag_index[every]}


def slices(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return all outputs along one variable; the others are held."""
    from fuzzymil.rules.editing.comparison import span

    name = str(request.get("variable"))
    names = case.base.feature_names
    known_name("variable", name, names)
    seen = None if case.bags is None else matched(case.base, case.data).instances
    place = np.array([sum(span(each)) / 2 for each in case.base.variables])
    if seen is not None:
        known = ~np.isnan(seen).all(axis=0)
        place[known] = np.nanmedian(seen[:, known], axis=0)
    for other, value in _held(case, request, (name,)).items():
        place[names.index(str(other))] = value
    d = names.index(name)
    low, high = span(case.base.variables[d], None if seen is None else seen[:, d])
    x = np.linspace(low, high if high > low else low + 1.0, _count(request, 101))
    rows = np.tile(place, (len(x), 1))
    rows[:, d] = x
    found = case.rules.infer(rows)
    normalized = getattr(case.rules, "normalize", True)
    return {
        "variable": name,
        "x": x,
        "y": {output: found.output[:, k] for k, output in enumerate(case.outputs)},
        "firing": found.firing.T,
        "uncovered": found.strongest < UNKNOWN if normalized else None,
        "others": {each: float(place[k]) for k, each in enumerate(names) if k != d},
    }


# How well the rules decide: confusion, ROC curve, and the class they speak for.


def validation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the answers compare with the labels; ``threshold`` tries another one."""
    del request
    if case.data.labels is None:
        raise InputError("The bags have no labels: open a data file with a label column.")
    labels = np.asarray(case.labels)
    if case.classes is None:
        return _errors(case, numbers_of(case))
    names = [class_text(each) for each in case.classes]
    decided = np.asarray(case.decisions)
    confusion = [[int(((labels == truth) & (decided == said)).sum()) for said in names] for truth in names]
    found: dict[str, Any] = {
        "kind": "classes",
        "classes": names,
        "n": case.data.n_bags,
        "accuracy": float((labels == decided).mean()),
        "confusion": confusion,
        "unknown": sorted({str(each) for each in labels} - set(names)),
        "roc": None,
        "rules": _spoken_for(case, labels, names),
    }
    if len(names) == 2:
        found |= _ranking(case, labels, names)
    return found


def numbers_of(case: Case) -> Any:
    """Return labels that are numbers, as the output is."""
    labels = np.asarray(case.data.labels)
    if labels.dtype.kind not in "iufb":
        n_classes = len(np.unique(labels))
        raise InputError(
            f"The bags have {n_classes} classes, but the rules have one output: write one output per class, named "
            "after it, or open data with two classes."
        )
    return labels.astype(float)


def _errors(case: Case, labels: Any) -> dict[str, Any]:
    output = case.found.output[:, 0]
    errors = output - labels
    spread = float(((labels - labels.mean()) ** 2).mean())
    return {
        "kind": "numbers",
        "n": len(labels),
        "rmse": float(np.sqrt((errors**2).mean())),
        "mae": float(np.abs(errors).mean()),
        "r2": None if spread == 0 else 1.0 - float((errors**2).mean()) / spread,
        "predicted": output,
        "labels": labels,
    }


def _ranking(case: Case, labels: Any, names: list[str]) -> dict[str, Any]:
    """Return the ROC curve of a single output, or of two, about the class it speaks for."""
    from sklearn.metrics import roc_curve

    single = len(case.outputs) == 1
    place = case.positive if single else 1
    truth = labels == names[place]
    found: dict[str, Any] = {"positive": names[place], "threshold": case.threshold if single else 0.0}
    if truth.all() or not truth.any():
        return found
    scores = case.found.output[:, 0] if single else case.found.output[:, 1] - case.found.output[:, 0]
    false, true, thresholds = roc_curve(truth, scores)
    auc = _auc(case)
    assert auc is not None
    return found | {
        "auc": auc,
        "roc": {"fpr": false, "tpr": true, "thresholds": thresholds},
        "against": auc < 0.5,
        "scores": scores,
        "truth": truth,
    }


def _spoken_for(case: Case, labels: Any, names: list[str]) -> list[dict[str, Any]]:
    """Return for each rule the mean strength with which it fires on the bags of each class."""
    firing = case.found.firing
    groups = {name: labels == name for name in names}
    return [
        {
            "rule": r + 1,
            "name": case.base.name_of(r),
            "firing": {name: float(firing[own, r].mean()) if own.any() else None for name, own in groups.items()},
        }
        for r in range(case.base.n_rules)
    ]


def score(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the few numbers that are always on the screen; ``before`` is a case to compare with."""
    found: dict[str, Any] = dict.fromkeys(
        ("n", "right", "accuracy", "auc", "rmse", "uncovered", "changed", "committee")
    )
    if case.bags is None:
        return found
    before: Case | None = request.get("before")
    found["n"] = case.bags.n_bags
    found["uncovered"] = int(np.isneginf(case.found.log_firing).all(axis=1).sum())
    if case.reading is not None:
        found["changed"] = 0 if before is None else int((before.decisions != case.decisions).sum())
    if case.labels is None:
        return found
    if case.reading is None:
        if np.asarray(case.bags.labels).dtype.kind not in "iufb":
            return found
        labels = numbers_of(case)
        found["rmse"] = float(np.sqrt(((case.found.output[:, 0] - labels) ** 2).mean()))
        if case.committee is not None:
            found["committee"] = float(np.sqrt(((case.committee.output[:, 0] - labels) ** 2).mean()))
        return found
    right = case.decisions == case.labels
    found |= {"right": int(right.sum()), "accuracy": float(right.mean())}
    if case.committee is not None:
        found["committee"] = float((case.committee.decisions == case.labels).mean())
    if case.classes is not None and len(case.classes) == 2:
        found["auc"] = _auc(case)
    return found


def _auc(case: Case) -> float | None:
    """Return the area under the ROC curve: how often a positive bag outranks a negative one."""
    assert case.classes is not None
    single = len(case.outputs) == 1
    name = class_text(case.classes[case.positive if single else 1])
    truth = np.asarray(case.labels == name)
    n_positive, n_negative = int(truth.sum()), int((~truth).sum())
    if not n_positive or not n_negative:
        return None
    output = case.found.output
    scores = output[:, 0] if single else output[:, 1] - output[:, 0]
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]  # equal scores share their mean rank
    return float((ranks[truth].sum() - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative))


# The rule viewer: rules and variables, the instances of one bag on every set, and the steps to the output.


_POINTS = 81
_MOST_EXTRA = 200


def viewer(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the walk from a bag's instances to its output.

    ``extra`` are instances to add, as rows in the order of the rules' variables; ``without`` are places of instances to
    leave out; ``change`` maps places of instances to other values of some variables.
    """
    bag, kept = _bag(case, request)
    own = case.of_bags(bag)
    found = explain(own.rules, bag, reading=own.explained)
    seen = clipped(own.base, bag).instances
    columns = condition_columns(case)
    return {
        "bag": request.get("bag"),
        "bag_id": str(bag.ids[0]),
        "label": None if bag.labels is None else class_text(bag.labels[0]),
        "variables": [variable.name for variable in case.base.variables],
        "columns": columns,
        "axes": {name: axis_of(*_variable(case, name)) for name in columns},
        "instances": bag.instances,
        "places": kept,
        "rows": _rows(own, found, seen, {name: axis_of(*_variable(case, name)) for name in columns}),
        "outputs": list(own.outputs),
        "output": own.found.output[0],
        "default": own.rules.default,
        "threshold": own.threshold if own.reading is not None and len(own.outputs) == 1 else None,
        "decision": own.decisions[0],
        "score": found.score,
        "probability": None
        if found.probability is None
        else dict(zip(map(class_text, found.classes or ()), found.probability, strict=False)),
        "uncovered": bool(np.isneginf(own.found.log_firing[0]).all()),
        "joined": None if found.joined is None else found.joined.to_dict(),
        "committee": committee_on(own),
    }


def _variable(case: Case, name: str) -> tuple[Any, Array | None]:
    place = case.base.feature_names.index(name)
    return case.base.variables[place], values_of(case.bags, name, place)


def _bag(case: Case, request: Mapping[str, Any]) -> tuple[Bags, list[int | None]]:
    """Return the bag to show, with instances added, changed or left out, and the place of each in the data."""
    names = case.base.feature_names
    rows, places = np.zeros((0, len(names))), list[int | None]()
    label = ids = None
    if request.get("bag") is not None:
        one = matched(case.base, case.data[[place_of(case.data, request["bag"])]])
        rows, places = np.array(one.instances, float), list(range(one.n_instances))
        ids, label = one.ids, one.labels
    for place, values in (request.get("change") or {}).items():
        k = int(place)
        if not 0 <= k < len(rows):
            raise ParameterError(f"change: the bag has no instance {k}; it has {len(rows)}.")
        for name, value in values.items():
            if name not in names:
                raise ParameterError(f"change: there is no variable {name!r:.60}.")
            rows[k, names.index(name)] = float(value)
    gone = {int(k) for k in request.get("without") or ()}
    kept = [k for k in range(len(rows)) if k not in gone]
    rows, places = rows[kept], [places[k] for k in kept]
    extra = request.get("extra") or []
    if len(extra) > _MOST_EXTRA or any(len(row) != len(names) for row in extra):
        raise ParameterError(f"extra: expected at most {_MOST_EXTRA} rows of {len(names)} values, one per variable.")
    if extra:
        added = np.array([[np.nan if value is None else float(value) for value in row] for row in extra])
        rows, places = np.concatenate([rows, added]), places + [None] * len(added)
    if not len(rows):
        raise ParameterError("The bag has no instances: choose a bag, or add one.")
    return Bags(rows, [0, len(rows)], ids=ids, labels=label, feature_names=names), places


def _rows(case: Case, found: Explanation, seen: Array, axes: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    by_place = {rule.index: rule for rule in found.rules}
    rows = []
    for r in range(case.base.n_rules):
        explained = by_place[r]
        rows.append(
            {
                "rule": r + 1,
                "name": explained.name,
                "text": explained.text,
                "weight": case.document.base.rules[r].weight,
                "on": r + 1 not in case.document.off,
                "cells": _cells(case, r, seen, axes),
                "parts": [
                    {
                        "text": part.text,
                        "quantifier": part.quantifier,
                        "count": part.count,
                        "negated": part.negated,
                        "deciding": part.deciding,
                        "degree": part.degree,
                        "truth": list(part.truth),
                        "shares": list(part.shares),
                        "witnesses": [witness.instance for witness in part.witnesses],
                    }
                    for part in explained.parts
                ],
                "witness": explained.witness,
                "firing": explained.firing,
                "share": explained.strength,
                "conclusion": list(explained.outputs),
                "concluded": explained.concluded,
                "contribution": list(explained.contributions),
            }
        )
    return rows


def _cells(case: Case, r: int, seen: Array, axes: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return the conditions of a rule, each with the curve of its set and the degree of every instance in it."""
    base: RuleBase = case.base
    found = []
    premise = base.rules[r].premise
    for condition, negated in zip(conditions(premise), negations(premise), strict=True):
        d = base.feature_names.index(condition.variable)
        chosen = base.variables[d].terms[condition.term]
        x = np.linspace(*axes[condition.variable], _POINTS)
        # As in the network, an unknown value counts in favor of the rule.
        unknown = np.isnan(seen[:, d])
        degrees = hedged(chosen, condition.hedges, np.where(unknown, 0.0, seen[:, d]))
        found.append(
            {
                "variable": condition.variable,
                "term": condition.term,
                "hedges": list(condition.hedges),
                "negated": negated,
                "curve": np.round(hedged(chosen, condition.hedges, x), 5),
                "degrees": np.where(unknown, 0.0 if negated else 1.0, degrees),
            }
        )
    return found


# What deserves attention in the rules, each finding with the edit that it advises.


_CALL = re.compile(r"edit\((?:[^()]|\([^()]*\))*\)")
_LABELS = {
    "duplicate": "Merge them",
    "contradiction": "Merge them",
    "never fires": "Drop it",
    "never matters": "Drop it",
    "never true": "Drop the rule",
    "always true": "Remove the conditions",
    "always fires": "Lower its weight",
    "unused terms": "Remove unused terms",
}


def findings(case: Case) -> list[dict[str, Any]]:
    """Return the findings of `diagnose`, each with a request that applies its advice, where it has one.

    Examples
    --------
    >>> from fuzzymil.bags import Bags
    >>> from fuzzymil.studio.document import Document
    >>> text = "VARIABLE x: low = Gaussian(0, 1)" + "  IF x is low THEN y = 1" * 2 + "  IF anything THEN y = 0"
    >>> found = findings(Case(Document(text), Bags.from_list([[[0.0]], [[3.0]]])))
    >>> [(each["kind"], each["fix"]["edit"]["arguments"]) for each in found]
    [('duplicate', {'merge': [(1, 2)]})]
    """
    rules = case.rules
    found: tuple[Finding, ...] = tuple(rules.diagnose(case.data))
    return [
        {
            "kind": each.kind,
            "rules": list(each.rules),
            "bags": list(map(str, each.bags)),
            "message": each.message,
            "advice": each.advice,
            "fix": _fix(each, rules.n_rules),
        }
        for each in found
        # What a person switched off is meant not to fire.
        if not (each.kind in ("never fires", "never matters") and set(each.rules) <= case.document.off)
    ]


def _fix(found: Finding, n_rules: int) -> dict[str, Any] | None:
    call = _CALL.search(found.advice)
    arguments = _arguments(call.group()) if call else None
    if found.kind == "never true" and n_rules > 1:
        arguments = {"drop": found.rules[0]}
    if not arguments:
        return None
    label = "Drop one" if found.kind == "contradiction" and "drop" in arguments else _LABELS.get(found.kind, "Apply")
    return {"label": label, "edit": {"type": "edit", "arguments": arguments, "label": f"{label}: {found.kind}"}}


def _arguments(call: str) -> dict[str, Any] | None:
    """Return the arguments of an advised call of `edit`; None if a person has to fill something in."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    if any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node)):
        return None
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}


VIEWS: dict[str, Callable[[Case, Mapping[str, Any]], dict[str, Any]]] = {
    "bags": bags,
    "explain": explanation,
    "histograms": histograms,
    "score": score,
    "slice": slices,
    "surface": surface,
    "validation": validation,
    "variable": variable,
    "viewer": viewer,
}
"""The views by name. They only read: a drag asks for them with rules that are not kept."""


def view(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one view."""
    known_name("view", request.get("type"), VIEWS)
    return {"type": request["type"], **VIEWS[str(request["type"])](case, request)}

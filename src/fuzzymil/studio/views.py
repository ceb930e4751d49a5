"""What the page shows of a case: its state, one function per view from a request to a JSON value, and findings."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.explain import RuleExplanation, explain
from fuzzymil.inference.activations import Activations
from fuzzymil.inference.premises import HEDGES, hedged
from fuzzymil.inference.quantifiers import QUANTIFIERS
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.activations import bags_of_equal, clipped, equal_instances, matched
from fuzzymil.rules.curves import typical_values
from fuzzymil.rules.editing import Finding
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import conditions, negations
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.document import terms_of_rule
from fuzzymil.studio.sets import axis_of, set_facts

_BINS = 48
_CELL_POINTS = 81  # of a curve in the viewer
_MOST_COSTS = 100  # rules that are left out in turn
_MOST_EQUAL = 50  # instances of a bag of a picture
_MOST_EXTRA = 200  # instances that are added to a bag
_MOST_POINTS = 121  # of an axis of a surface
_MOST_SHOWN = 10_000  # instances on top of a surface
_MOST_WITHOUT = 2_000  # instances of a bag: each leaves out one, so that this grows with their square
_TOGETHER = 200  # of these at a time
_UNKNOWN = 0.05
"""Firing strength below which no rule is said to apply, as in `fuzzymil.plots.SurfaceDisplay`."""


# ---------------------------------------------------------------------- the state


def state_of(case: Case) -> dict[str, Any]:
    """Return everything about the document that does not depend on a view."""
    document, rules = case.document, case.document.rules
    return {
        "kind": "mamdani" if rules.concludes_sets else "sugeno",
        "additive": not rules.normalize,
        "text": document.text,
        "comment": document.rules.comment,
        "variables": _variables(case),
        "rules": _rules(case),
        "outputs": list(case.outputs),
        "default": dict(zip(case.outputs, rules.default, strict=True)),
        "unit": rules.unit,
        "classes": case.names,
        "compared": case.outputs[case.compared] if case.names is None else None,
        "positive": case.positive_name,
        "threshold": None if case.positive_name is None else case.threshold,
        "data": _data(case),
    }


def _variables(case: Case, only: str | None = None) -> list[dict[str, Any]]:
    """Return the variables with their terms, or only one of them; outputs of Mamdani rules come last."""
    asked = [set(terms_of_rule(case.rules, r)) for r in range(case.rules.n_rules)]
    return [_variable(case, each, asked) for each in case.rules.all_variables if only in (None, each.name)]


def _variable(case: Case, variable: Variable, asked: list[set[tuple[str, str]]]) -> dict[str, Any]:
    axis = axis_of(variable, case.values(variable.name))  # none of an output
    terms = [
        {
            "name": term,
            **set_facts(chosen, axis),
            "frozen": (variable.name, term) in case.document.frozen,
            "category": term in variable.categories,
            "used_by": [r for r, each in enumerate(asked, 1) if (variable.name, term) in each],
        }
        for term, chosen in variable.terms.items()
    ]
    return {
        **{name: getattr(variable, name) for name in ("name", "title", "unit", "comment", "low", "high", "categories")},
        "input": variable.name in case.rules.feature_names,
        "axis": axis,
        "used_by": [r for r, each in enumerate(asked, 1) if any(name == variable.name for name, _ in each)],
        "terms": terms,
    }


def _rules(case: Case) -> list[dict[str, Any]]:
    """Return the rules as text and in parts."""
    base, lines = case.document.rules, case.document.lines
    texts = base.statements()
    return [
        {
            "number": r + 1,
            "name": base.name_of(r),
            "label": rule.label,
            "comment": rule.comment,
            "text": texts[r],
            "premise": printer.premise_text(rule.premise),
            "conclusion": base.concluded_text(r),
            "conclusions": _conclusions(base, r),
            "points": None if base.points is None else base.points[r],
            "weight": rule.weight,
            "on": r + 1 not in case.document.off,
            "line": lines[r] if r < len(lines) else None,
            "plain": rule.is_plain,
            "conditions": [
                {"variable": each.variable, "term": each.term, "hedges": each.hedges, "negated": negated}
                for each, negated in zip(conditions(rule.premise), negations(rule.premise), strict=True)
            ],
        }
        for r, rule in enumerate(base.rules)
    ]


def _conclusions(rules: RuleBase, r: int) -> dict[str, Any]:
    """Return what a rule concludes: a constant and slopes, or a term with hedges."""
    if not rules.concludes_sets:
        return {
            output: {
                "constant": row[0],
                "slopes": {name: slope for name, slope in zip(rules.feature_names, row[1:], strict=False) if slope},
            }
            for output, row in zip(rules.output_names, rules.rules[r].coefs, strict=True)
        }
    return {name: {"term": said.term, "hedges": said.hedges} for name, said in rules.rules[r].terms.items()}


def _data(case: Case) -> dict[str, Any] | None:
    """Return the size of the data and its labels, and what keeps the rules from reading it, if anything does."""
    bags = case.bags
    if bags is None:
        return None
    problem, counts = None, {}
    try:
        _ = case.seen
    except ValueError as error:
        problem = str(error)
    if bags.labels is not None:
        names, numbers = np.unique(np.array(list(map(class_text, bags.labels)), str), return_counts=True)
        counts = dict(zip(names.tolist(), numbers.tolist(), strict=True)) if len(names) <= 50 else {}
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
    """Return the words of the rule language, for completion and highlighting."""
    return {
        "hedges": list(HEDGES),
        "quantifiers": [name.upper() for name in QUANTIFIERS],
        "keywords": ["IF", "THEN", "AND", "OR", "NOT", "is", "WITH", "anything", "instances", "Default"],
        "statements": ["VARIABLE", "OUTPUT", "USING"],
    }


# ---------------------------------------------------------------------- bags


def _bags(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the table of bags; ``before`` is a case to compare with."""
    data, reading, committee = case.data, case.reading, case.committee
    before: Case | None = request.get("before")
    chances = right = None
    if reading is not None:
        likely = reading.probability(case.found.output)
        chances = likely[:, reading.positive] if likely.shape[1] == 2 else likely.max(axis=1)
        right = None if case.labels is None else case.decisions == case.labels
    uncovered = getattr(case.found, "uncovered", None)
    return {
        "ids": list(map(str, data.ids.tolist())),
        "n_instances": data.sizes,
        "labels": case.labels,
        "scores": case.scores,
        "outputs": case.found.output if len(case.outputs) > 1 else None,
        "probabilities": chances,
        "decisions": case.decisions,
        "right": right,
        "uncovered": np.zeros(data.n_bags, bool) if uncovered is None else uncovered,
        "n_changed": _n_changed(case, before),
        "before": None if before is None else {"scores": before.scores, "decisions": before.decisions},
        "committee": None if committee is None else {"decisions": committee.decisions, "outputs": committee.output},
    }


def _n_changed(case: Case, before: Case | None) -> int:
    return 0 if before is None or case.reading is None else int((before.decisions != case.decisions).sum())


def place_of(data: Bags, bag: Any) -> int:
    """Return the place of a bag, given by its place or by its id as text."""
    if isinstance(bag, int) and not isinstance(bag, bool) and 0 <= bag < data.n_bags:
        return bag
    ids = list(map(str, data.ids.tolist()))
    if isinstance(bag, str) and bag in ids:
        return ids.index(bag)
    raise ParameterError(f"There is no bag {bag!r:.60}: expected a place from 0 to {data.n_bags - 1}, or an ID.")


def _committee_on(case: Case, place: int = 0) -> dict[str, Any] | None:
    """Return what a committee says about a bag: together, and each of its members, the shown one first."""
    together = case.committee
    if together is None:
        return None
    single = [output[place : place + 1] for output in case.outputs_of_members]
    chances = None if together.probabilities is None else together.probabilities[place]
    decisions = [each[0, 0] if case.reading is None else class_text(case.reading.labels(each)[0]) for each in single]
    return {
        "output": together.output[place],
        "decision": together.decisions[place],
        "probability": _by_class(case.names, chances),
        "members": [
            {"output": output[0], "decision": decision} for output, decision in zip(single, decisions, strict=True)
        ],
    }


def _by_class(names: Any, chances: Any) -> dict[str, float] | None:
    return None if chances is None or names is None else dict(zip(map(class_text, names), chances, strict=True))


def _explanation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a bag got its answer, and the answer without each of its instances."""
    place = place_of(case.data, request.get("bag"))
    one = case.data[[place]]
    found = explain(case.rules, one, reading=case.explained)
    return {
        "bag": place,
        "bag_id": str(case.data.ids[place]),
        "explanation": found.to_dict(),
        "text": found.to_text(),
        "committee": _committee_on(case, place),
        "without": _without_each(case, one),
    }


def _without_each(case: Case, one: Bags) -> list[dict[str, Any]]:
    """Return the output without each instance in turn; none for a bag of one."""
    n = one.n_instances
    if not 1 < n <= _MOST_WITHOUT:
        return []
    step = _TOGETHER if n <= _TOGETHER else 1  # the bags of a large one would not fit in memory together
    found = []
    for start in range(0, n, step):
        places = range(start, min(start + step, n))
        kept = [np.delete(one.instances, k, axis=0) for k in places]
        rest = case.of_bags(Bags.from_list(kept, feature_names=one.feature_names))
        found += [
            {"instance": k, "output": output.tolist(), "decision": decision}
            for k, output, decision in zip(places, rest.found.output, rest.decisions, strict=True)
        ]
    return found


# ---------------------------------------------------------------------- variables


def _one_variable(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one variable with its terms, as in the state."""
    known_name("variable", request.get("variable"), [each.name for each in case.rules.all_variables])
    return _variables(case, str(request["variable"]))[0]


def _histograms(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each input the number of instances in each interval, by the label of their bag."""
    del request
    groups = {"all": np.ones(case.seen.n_instances, bool)}
    if case.labels is not None and case.classes is not None:
        of_instances = np.repeat(case.labels, case.seen.sizes)
        groups = {class_text(name): of_instances == name for name in dict.fromkeys(case.labels)}
    found = []
    for values, each in zip(case.seen.instances.T, case.rules.variables, strict=True):
        edges = np.linspace(*axis_of(each, values), _BINS + 1)
        counts = {name: np.histogram(values[own & ~np.isnan(values)], edges)[0] for name, own in groups.items()}
        found.append({"variable": each.name, "edges": edges, "counts": counts})
    return {"histograms": found}


# ---------------------------------------------------------------------- the output over its inputs


def _n_points(request: Mapping[str, Any], usual: int) -> int:
    n = request.get("n", usual)
    if not isinstance(n, int) or isinstance(n, bool) or not 2 <= n <= _MOST_POINTS:
        raise ParameterError(f"n must be a whole number from 2 to {_MOST_POINTS}, got {n!r:.60}.")
    return n


def _other_values(case: Case, request: Mapping[str, Any], *shown: str) -> dict[str | int, float]:
    given = request.get("others") or {}
    for name in given:
        known_name("variable", name, case.rules.feature_names, "in others")
    return {name: float(value) for name, value in given.items() if name not in shown and value is not None}


def _n_equal(case: Case, request: Mapping[str, Any]) -> int:
    """Return how many equal instances the bags of a picture have: as many as asked for, or as the rules need."""
    n = request.get("n_equal")
    if n is None:
        return equal_instances(case.rules)
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= _MOST_EQUAL:
        raise ParameterError(f"n_equal must be a whole number from 1 to {_MOST_EQUAL}, got {n!r:.60}.")
    return n


def _along(case: Case, name: str, n: int) -> Array:
    """Return the values of an input at which the output is drawn: points of its axis, or its categories."""
    known_name("variable", name, case.rules.feature_names)
    variable = case.rules.variables[case.rules.feature_names.index(name)]
    if variable.categories:
        return np.arange(len(variable.categories), dtype=float)
    return np.linspace(*axis_of(variable, case.values(name)), n)


def _swept(
    case: Case, request: Mapping[str, Any], moved: Mapping[str, Array]
) -> tuple[Activations, dict[str, Any], Array | None]:
    """Return what the rules infer as some inputs take values (n,), what the bags are, and where no rule applies.

    All instances of a bag are equal; the other inputs stay as they are asked for, or at a typical value.
    """
    rules, names = case.rules, case.rules.feature_names
    place = typical_values(rules.variables, None if case.bags is None else case.seen.instances)
    for name, value in _other_values(case, request, *moved).items():
        place[names.index(str(name))] = value
    rows = np.tile(place, (len(next(iter(moved.values()))), 1))
    for name, values in moved.items():
        rows[:, names.index(name)] = values
    n_equal = _n_equal(case, request)
    found = rules.infer(bags_of_equal(rules, rows, n_equal))
    output = str(request.get("output", case.outputs[0]))
    known_name("output", output, case.outputs)
    about = [r for r, rule in enumerate(rules.rules) if not rules.concludes_sets or output in rule.terms]
    strongest = found.firing[:, about].max(axis=1, initial=0.0)  # of the rules that say something about the output
    shown = {
        "n_equal": n_equal,
        "usual": equal_instances(rules),
        "others": {name: float(place[d]) for d, name in enumerate(names) if name not in moved},
    }
    return found, shown, strongest < _UNKNOWN if rules.normalize else None


def _surface(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the output over two variables, ``x`` and ``y``; the others stay as they are."""
    names = [str(request.get("x")), str(request.get("y"))]
    x, y = (_along(case, name, _n_points(request, 41)) for name in names)
    if names[0] == names[1]:
        raise ParameterError(f"x and y must be different variables, got {names[0]!r:.60} twice.")
    output = str(request.get("output", case.outputs[0]))
    moved = {names[0]: np.tile(x, len(y)), names[1]: np.repeat(y, len(x))}
    found, shown, uncovered = _swept(case, request, moved)
    z = found.output[:, case.outputs.index(output)].reshape(len(y), len(x))
    instances = None
    if case.bags is not None:
        every = slice(None, None, case.seen.n_instances // _MOST_SHOWN + 1)
        of = case.seen.bag_index[every]
        instances = {
            "values": [case.seen.instances[every, case.rules.feature_names.index(name)] for name in names],
            "labels": None if case.labels is None else case.labels[of],
            "bags": of,
        }
    return {
        "x": x,
        "y": y,
        "z": z,
        "uncovered": None if uncovered is None else uncovered.reshape(z.shape),
        "low": float(z.min()),
        "high": float(z.max()),
        "names": names,
        "categories": [case.rules.variables[case.rules.feature_names.index(name)].categories for name in names],
        "titles": [case.rules.variables[case.rules.feature_names.index(name)].title for name in names],
        "output": output,
        "instances": instances,
        **shown,
    }


def _slice(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return all outputs along one variable, and ``at`` one of its values; the other variables stay as they are."""
    name = str(request.get("variable"))
    x = _along(case, name, _n_points(request, 101))
    at = x[0] if request.get("at") is None else float(request["at"])
    found, shown, uncovered = _swept(case, request, {name: np.append(x, at)})
    return {
        "variable": name,
        "categories": case.rules.variables[case.rules.feature_names.index(name)].categories,
        "x": x,
        "y": {output: found.output[:-1, k] for k, output in enumerate(case.outputs)},
        "at": at,
        "here": dict(zip(case.outputs, found.output[-1], strict=True)),
        "firing": found.firing[:-1].T,
        "uncovered": None if uncovered is None else uncovered[:-1],
        **shown,
    }


# ---------------------------------------------------------------------- how well the rules decide


def _score(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the few numbers that are always on the screen; ``before`` is a case to compare with."""
    found: dict[str, Any] = dict.fromkeys(
        ("n", "right", "accuracy", "auc", "rmse", "uncovered", "changed", "committee")
    )
    if case.bags is None:
        return found
    found["n"] = case.bags.n_bags
    found["uncovered"] = int(np.isneginf(case.found.log_firing).all(axis=1).sum())
    if case.reading is None:
        if case.labels is not None and np.asarray(case.bags.labels).dtype.kind in "iufb":
            found["rmse"] = rmse(case.decisions, case.numbers)
            if case.committee is not None:
                found["committee"] = rmse(case.committee.decisions, case.numbers)
        return found
    found["changed"] = _n_changed(case, request.get("before"))
    if case.labels is not None:
        right = case.decisions == case.labels
        found |= {"right": int(right.sum()), "accuracy": float(right.mean()), "auc": _auc(case, case.found.output)}
        if case.committee is not None:
            found["committee"] = float((case.committee.decisions == case.labels).mean())
    return found


def _costs(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each rule is worth on the bags: how accuracy, AUC or error change without it.

    Of very many rules, which would take long, nothing is returned.
    """
    del request
    whole, found = _score(case, {}), []
    for number in range(1, case.rules.n_rules + 1 if case.rules.n_rules <= _MOST_COSTS else 1):
        less = _score(case.with_document(case.document.replace(off=case.document.off | {number})), {})
        known = [name for name in ("accuracy", "auc", "rmse") if None not in (whole[name], less[name])]
        found.append({name: less[name] - whole[name] for name in known})
    return {"rules": found}


def rmse(output: Array, labels: Array) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(((output - labels) ** 2).mean()))


def _auc(case: Case, output: Array, places: Any = slice(None)) -> float | None:
    """Return the area under the ROC curve of outputs (b, k) on some bags: how often one of the class outranks another.

    There is none without two classes. (scikit-learn would take long to load.)
    """
    ranking = case.ranking(output)
    if ranking is None:
        return None
    truth, scores = np.asarray(case.labels == ranking[0])[places], ranking[1][places]
    n, m = int(truth.sum()), int((~truth).sum())
    if not n or not m:
        return None
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[place]  # equal scores share their mean rank
    return float((ranks[truth].sum() - n * (n + 1) / 2) / (n * m))


def _roc_curve(truth: Array, scores: Array) -> tuple[Array, Array, Array]:
    """Return the rates of false and true positives at thresholds (n,) from high to low, the corners of the curve alone.

    An output that is at least the threshold counts as positive. (scikit-learn would take long to load.)
    """
    values, place = np.unique(-scores, return_inverse=True)
    counts = [np.cumsum(np.bincount(place[own], minlength=len(values))) for own in (~truth, truth)]
    false, true = (np.concatenate([[0], each]) for each in counts)
    corner = np.diff(false, 2).astype(bool) | np.diff(true, 2).astype(bool)
    kept = np.concatenate([[True], corner, [True]])
    return false[kept] / false[-1], true[kept] / true[-1], np.concatenate([[np.inf], -values])[kept]


def labels_of(case: Case) -> Array:
    """Return the labels; without any, `InputError`."""
    if case.given.labels is None or case.labels is None:
        raise InputError("The bags have no labels: open a data file with a label column.")
    return case.labels


def _validation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return how the answers compare with the labels."""
    del request
    labels = labels_of(case)
    if case.names is None:
        return _errors(case)
    names, decided, firing = case.names, case.decisions, case.found.firing
    found: dict[str, Any] = {
        "kind": "classes",
        "classes": names,
        "n": case.data.n_bags,
        "accuracy": float((labels == decided).mean()),
        "confusion": [[int(((labels == truth) & (decided == said)).sum()) for said in names] for truth in names],
        "unknown": sorted({str(each) for each in labels} - set(names)),
        "roc": None,
        "rules": [  # how strongly each fires, on average, on the bags of each class
            {
                "rule": r + 1,
                "name": case.rules.name_of(r),
                "firing": {
                    name: float(firing[labels == name, r].mean()) if (labels == name).any() else None for name in names
                },
            }
            for r in range(case.rules.n_rules)
        ],
    }
    ranking = case.ranking(case.found.output)
    if ranking is None:
        return found
    found |= {"positive": ranking[0], "threshold": case.threshold if len(case.outputs) == 1 else 0.0}
    auc = _auc(case, case.found.output)
    if auc is None:
        return found
    truth = labels == ranking[0]
    false, true, thresholds = _roc_curve(truth, ranking[1])
    roc = {"fpr": false, "tpr": true, "thresholds": thresholds}
    return found | {"auc": auc, "roc": roc, "against": auc < 0.5, "scores": ranking[1], "truth": truth}


def _errors(case: Case) -> dict[str, Any]:
    output, labels = case.decisions, case.numbers
    errors, spread = output - labels, float(labels.var())
    return {
        "kind": "numbers",
        "output": case.outputs[case.compared],
        "n": len(labels),
        "rmse": rmse(output, labels),
        "mae": float(np.abs(errors).mean()),
        "r2": None if spread == 0 else 1.0 - float((errors**2).mean()) / spread,
        "predicted": output,
        "labels": labels,
    }


def fold_scores(case: Case, parts: list[list[int]], output: Array, *, best: bool = False) -> dict[str, Any]:
    """Return how well outputs (b, k) do on each part of the bags.

    ``best``: of a single output, with the threshold that is best on the other parts instead of the usual one.
    """
    if case.reading is None:
        errors = [rmse(case.predicted(output[part]), case.numbers[part]) for part in parts]
        rows = [{"n": len(part), "rmse": error} for part, error in zip(parts, errors, strict=True)]
        return {"folds": rows, "rmse": _mean_and_deviation(errors)}
    ranking, every = case.ranking(output), np.concatenate([np.array(each, int) for each in parts])
    labels = np.asarray(case.labels, object)
    folds: list[dict[str, Any]] = []
    for part in parts:
        threshold = case.threshold if len(case.outputs) == 1 and ranking is not None else None
        if threshold is not None and ranking is not None:
            truth, scores = labels == ranking[0], ranking[1]
            if best:
                rest = np.setdiff1d(every, part)
                threshold = _best_threshold(scores[rest], truth[rest], threshold)
            right = (scores[part] > threshold) == truth[part]
        else:
            right = np.array(list(map(class_text, case.reading.labels(output[part]))), object) == labels[part]
        auc = _auc(case, output, part)
        folds.append({"n": len(part), "accuracy": float(right.mean()), "auc": auc, "threshold": threshold})
    roc, area = None, _auc(case, output, every)
    if ranking is not None and area is not None:
        false, true, _ = _roc_curve(labels[every] == ranking[0], ranking[1][every])
        roc = {"fpr": false, "tpr": true, "auc": area}
    return {
        "folds": folds,
        "accuracy": _mean_and_deviation([row["accuracy"] for row in folds]),
        "auc": _mean_and_deviation([row["auc"] for row in folds if row["auc"] is not None]),
        "roc": roc,
    }


def _best_threshold(scores: Array, truth: Array, usual: float) -> float:
    """Return the threshold with the most right answers, of equally good ones the one nearest to the usual one."""
    places = np.unique(scores)
    between = np.concatenate([[places[0] - 1.0], (places[1:] + places[:-1]) / 2, [places[-1] + 1.0], [usual]])
    right = np.array([((scores > each) == truth).mean() for each in between])
    best = between[right == right.max()]
    return float(best[np.abs(best - usual).argmin()])


def _mean_and_deviation(values: list[float]) -> list[float] | None:
    return [float(np.mean(values)), float(np.std(values))] if values else None


# ---------------------------------------------------------------------- the rule viewer


def _viewer(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the walk from a bag's instances to its output.

    ``extra`` are instances to add, as rows in the order of the rules' variables; ``without`` are places of instances to
    leave out; ``change`` maps places of instances to other values of some variables. Of several outputs, the shares and
    the joined set are about ``output``.
    """
    bag, kept = _changed_bag(case, request)
    own = case.of_bags(bag)
    output = request.get("output")
    if output is not None:
        known_name("output", output, own.outputs)
    found = explain(own.rules, bag, output=output, reading=own.explained)
    seen = clipped(own.rules, bag).instances
    used = {condition.variable for rule in case.rules.rules for condition in rule.conditions}
    axes = {each.name: axis_of(each, case.values(each.name)) for each in case.rules.variables if each.name in used}
    by_place = {rule.index: rule for rule in found.rules}
    return {
        "bag": request.get("bag"),
        "bag_id": str(bag.ids[0]),
        "label": None if bag.labels is None else class_text(bag.labels[0]),
        "variables": [variable.name for variable in case.rules.variables],
        "columns": list(axes),
        "axes": axes,
        "instances": bag.instances,
        "places": kept,
        "rows": [_row(own, r, by_place[r], seen, axes) for r in range(own.rules.n_rules)],
        "outputs": list(own.outputs),
        "target": found.target,
        "output": own.found.output[0],
        "default": own.rules.default,
        "threshold": own.threshold if own.reading is not None and len(own.outputs) == 1 else None,
        "decision": own.decisions[0],
        "score": found.score,
        "probability": _by_class(found.classes, found.probability),
        "uncovered": bool(np.isneginf(own.found.log_firing[0]).all()),
        "joined": None if found.joined is None else found.joined.to_dict(),
        "committee": _committee_on(own),
    }


def _changed_bag(case: Case, request: Mapping[str, Any]) -> tuple[Bags, list[int | None]]:
    """Return the bag to show, with instances added, changed or left out, and the place of each in the data."""
    names = case.rules.feature_names
    rows, places = np.zeros((0, len(names))), list[int | None]()
    label = ids = None
    if request.get("bag") is not None:
        one = matched(case.rules, case.data[[place_of(case.data, request["bag"])]])
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


def _row(
    case: Case, r: int, explained: RuleExplanation, seen: Array, axes: Mapping[str, tuple[float, float]]
) -> dict[str, Any]:
    return {
        "rule": r + 1,
        "name": explained.name,
        "text": explained.text,
        "weight": case.document.rules.rules[r].weight,
        "on": r + 1 not in case.document.off,
        "cells": _cells(case, r, seen, axes),
        "parts": [
            {**part.to_dict(), "witnesses": [witness.instance for witness in part.witnesses]}
            for part in explained.parts
        ],
        "witness": explained.witness,
        "firing": explained.firing,
        "share": explained.strength,
        "conclusion": explained.outputs,
        "concluded": explained.concluded,
        "contribution": explained.contributions,
    }


def _cells(case: Case, r: int, seen: Array, axes: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Return the conditions of a rule, each with a curve, and how far every instance satisfies it.

    Inside a NOT that is asked of an instance, this is the complement of the set.
    """
    base, found = case.rules, []
    asked = [part.premise for part in base.parts if part.rule == r]
    for condition, negated in (each for one in asked for each in zip(conditions(one), negations(one), strict=True)):
        d = base.feature_names.index(condition.variable)
        chosen = base.variables[d].terms[condition.term]
        # As in the network, an unknown value counts in favor of the rule.
        unknown = np.isnan(seen[:, d])
        degrees = hedged(chosen, condition.hedges, np.where(unknown, 0.0, seen[:, d]))
        curve = hedged(chosen, condition.hedges, np.linspace(*axes[condition.variable], _CELL_POINTS))
        found.append(
            {
                "variable": condition.variable,
                "term": condition.term,
                "hedges": condition.hedges,
                "negated": negated,
                "curve": np.round(1.0 - curve if negated else curve, 5),
                "degrees": np.where(unknown, 1.0, 1.0 - degrees if negated else degrees),
            }
        )
    return found


VIEWS: dict[str, Callable[[Case, Mapping[str, Any]], dict[str, Any]]] = {
    "bags": _bags,
    "costs": _costs,
    "explain": _explanation,
    "histograms": _histograms,
    "score": _score,
    "slice": _slice,
    "surface": _surface,
    "validation": _validation,
    "variable": _one_variable,
    "viewer": _viewer,
}
"""The views by name. They only read: a drag asks for them with rules that are not kept."""


def view(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one view."""
    known_name("view", request.get("type"), VIEWS)
    return {"type": request["type"], **VIEWS[str(request["type"])](case, request)}


# ---------------------------------------------------------------------- what deserves attention

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
    """Return the findings of `diagnose`, each with a request that applies its advice, where it has one."""
    found: tuple[Finding, ...] = tuple(case.rules.diagnose(case.data))
    return [
        {
            "kind": each.kind,
            "rules": each.rules,
            "bags": list(map(str, each.bags)),
            "message": each.message,
            "advice": each.advice,
            "fix": _fix(each, case.rules.n_rules),
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

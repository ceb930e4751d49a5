"""What each section of a report shows: the facts that its template, ``templates/SECTION.html``, writes down."""

from __future__ import annotations

import dataclasses
import inspect
import math
import platform
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_mark, class_of_rule
from fuzzymil._utils.drawings import Bar, bar, histogram
from fuzzymil._utils.errors import described
from fuzzymil._utils.runtime import has_jax
from fuzzymil._utils.text import typeset
from fuzzymil._version import __version__
from fuzzymil.estimators import Fold
from fuzzymil.explain import Effect, Explanation, FeatureImportance, Importance, RuleImportance
from fuzzymil.explain.coverage import UNUSUAL, used_features
from fuzzymil.explain.html import reasons
from fuzzymil.explain.words import default_lines, in_short, number_column
from fuzzymil.plots import EffectDisplay
from fuzzymil.report._answers import Answers
from fuzzymil.report._performance import figure_svg
from fuzzymil.report.html import counted, label, number
from fuzzymil.rules import RuleBase
from fuzzymil.rules.cards import SHOWN, RuleCard, rule_cards
from fuzzymil.rules.editing import Diagnosis
from fuzzymil.rules.points import score_table
from fuzzymil.rules.rule import Variable

_LONGEST = 240  # characters of a premise in the scorecard
_REPEATS, _REPEATS_OF_FOLD = 20, 5  # of few features; fewer of many
_SHUFFLES, _SHUFFLES_OF_FOLD = 400, 60
_EFFECTS = 6
_POINTS = 31
_SHOWN = 15  # features, and rules
_OF_NORMALIZED = ("contradiction", "uncovered bags")
_FEATURED = 3  # of the most certain bags, and as many of the least certain
_LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy")
_LONGEST_VALUE = 160


# ---------------------------------------------------------------------- data


def data_facts(answers: Answers) -> dict[str, Any]:
    """Summarize the bags."""
    bags, truth, classes = answers.bags, answers.truth, answers.classes
    counts = Counter(truth.tolist()) if truth is not None and classes is not None else {}
    targets = list(truth.reshape(len(truth), -1).T) if truth is not None and classes is None else []
    return {
        "n_bags": bags.n_bags,
        "n_instances": bags.n_instances,
        "n_features": bags.n_features,
        "sizes": {"min": int(bags.sizes.min()), "max": int(bags.sizes.max()), "median": float(np.median(bags.sizes))},
        "n_missing": int(np.isnan(bags.instances).sum()),
        "n_values": bags.instances.size,
        "labeled": truth is not None,
        "classes": [(name, counts[name], counts[name] / bags.n_bags) for name in classes or () if counts],
        "targets": [
            (name, _summary(values)) for name, values in zip(answers.rules.output_names, targets, strict=False)
        ],
        "features": list(_features(answers)),
    }


def _features(answers: Answers) -> Iterator[dict[str, Any]]:
    variables = _variables(answers)
    uses = Counter(
        name for base in answers.members for rule in base.rules for name in {each.variable for each in rule.conditions}
    )
    for d, name in enumerate(answers.names):
        variable = variables.get(name)
        yield {
            "name": name,
            "unit": "" if variable is None or variable.shown(0.0) else variable.unit,
            "n_rules": 0 if variable is None else uses[variable.name],
            **_described(answers, d, variable),
        }


def _described(answers: Answers, d: int, variable: Variable | None) -> dict[str, Any]:
    """Return the values of a feature in short, categories and dates as a person writes them."""
    found = _summary(answers.bags.instances[:, d])
    categories = () if variable is None else variable.categories
    if categories and found["known"]:
        values = answers.bags.instances[:, d]
        found["histogram"] = histogram(values, -0.5, len(categories) - 0.5, len(categories))
    numbers = [found[key] for key in ("min", "median", "max")] if found["known"] else []
    written = _in_step(numbers)
    shown = [
        (None if variable is None else variable.shown(n)) or text for n, text in zip(numbers, written, strict=True)
    ]
    return found | {"categories": list(categories), "shown": shown or ["\N{EN DASH}"] * 3}


def _in_step(values: Sequence[float]) -> list[str]:
    """Return numbers with four digits of the greatest: next to 14.67, 7.258e-05 is 0."""
    size = max(map(abs, values), default=0.0)
    if not 0 < size < math.inf:
        return [number(value, 4) for value in values]
    decimals = 3 - math.floor(math.log10(size))
    return [number(round(value, decimals) + 0.0, 4) for value in values]


def _variables(answers: Answers) -> dict[str, Variable]:
    """Return the rules' variable for each feature, by name or, for unnamed features, by position."""
    variables, names = answers.rules.variables, answers.names
    if {variable.name for variable in variables} <= set(names):
        return {variable.name: variable for variable in variables}
    return dict(zip(names, variables, strict=True))


def _summary(values: Array) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    missing = len(values) - len(known)
    found = {"n_missing": missing, "missing": missing / len(values), "known": len(known) > 0}
    if not len(known):
        return found
    low, high = float(known.min()), float(known.max())
    facts = {"min": low, "median": float(np.median(known)), "max": high, "mean": float(known.mean())}
    return found | facts | {"written": _in_step(list(facts.values())), "histogram": histogram(values, low, high)}


# ---------------------------------------------------------------------- rules


@dataclasses.dataclass(frozen=True, kw_only=True)
class RuleUse(RuleCard):
    """A rule, and how much it decides on the bags."""

    member: int  # position of its rule base
    conclusions: tuple[tuple[str, float], ...]  # each output with the rule's mean conclusion on the bags
    sign: str
    linear: bool  # whether conclusions depend on the features
    speaks_for: Any  # the class that a classifier's rule votes for or, if it is against it, takes away from
    against: bool
    kind: str  # key by which the list can be filtered
    mean_share: float  # of the (normalized) strength on the bags; of an additive rule, its firing strength
    max_share: float
    bar: Bar
    n_leading: int  # bags on which no other rule of its member is stronger (or adds more)
    mean_added: float  # by an additive rule, to the output of its class, or to the first one
    dropped: tuple[float, float] | None  # how much the score falls without it, and the standard deviation

    @property
    def changes(self) -> tuple[tuple[str, float], ...]:
        """The conclusions that are worth reading: all, but not the outputs to which the rule adds nothing."""
        return tuple(each for each in self.conclusions if each[1] or self.sign == "=") or self.conclusions


def rules_facts(answers: Answers, cards: list[RuleUse]) -> dict[str, Any]:
    """Return what the section shows besides the cards."""
    base = answers.rules
    return {
        "cards": cards,
        "scorecard": _scorecard(answers, cards) if not base.normalize and len(answers.members) == 1 else [],
        "defaults": [
            list(zip(base.output_names, member.default, strict=True))
            for member in answers.members
            if not member.normalize
        ],
        "logit": answers.reading.scale == "logit",
        "several": len(base.outputs) > 1,
        "outputs": ["points"] if base.points else [f"{name} +=" for name in base.output_names],
        "scores": score_table(base)
        if base.points and answers.reading.scale == "logit" and len(answers.members) == 1
        else None,
        "scored": (answers.classes or ("", ""))[1],
        "n_shown": SHOWN,
        "normalized": answers.rules.normalize,
        "joined": answers.concludes_sets,
        "filters": {
            f"{side}-{k}": f"{side} {label(name)}"
            for k, name in enumerate(answers.classes or ())
            for side in ("for", "against")
            if side == "for" or any(card.kind == f"against-{k}" for card in cards)
        },
    }


def rule_uses(answers: Answers, own: Importance | None = None) -> list[RuleUse]:
    """Describe the rules of all members; ``own`` says how much they matter."""
    return [card for member in range(len(answers.members)) for card in _uses(answers, member, own)]


def _scorecard(answers: Answers, cards: list[RuleUse]) -> list[dict[str, Any]]:
    """Return the default and what each rule adds, for the first output or, with several, for all of them.

    Of rules that conclude points, these: the default is in the table of scores.
    """
    outputs, base = range(len(answers.rules.outputs)), answers.rules
    rows = [("default", list(base.default)), *((card.name, [value for _, value in card.conclusions]) for card in cards)]
    premises = ["", *(in_short(rule.premise) for rule in base.rules)]
    if base.points is not None:
        rows, premises = rows[1:], premises[1:]
    ends = [(min(0.0, *(row[k] for _, row in rows)), max(0.0, *(row[k] for _, row in rows))) for k in outputs]
    texts = [_typeset([row[k] for _, row in rows]) for k in outputs]
    if base.points is not None:
        texts = [[typeset(f"{points:+d}") for points in base.points]]
    return [
        {
            "name": name,
            "premise": _shortened(premises[n]),
            "cells": [(texts[k][n], bar(row[k], *ends[k], signed=True)) for k in outputs],
        }
        for n, (name, row) in enumerate(rows)
    ]


def _typeset(values: npt.ArrayLike, *, signed: bool = True) -> list[str]:
    """Return numbers with the same number of decimals."""
    return [typeset(text.strip()) for text in number_column(np.asarray(values).tolist(), signed=signed)]


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


def _uses(answers: Answers, member: int, own: Importance | None) -> Iterator[RuleUse]:
    base, found = answers.members[member], answers.found[member]
    added = found.normalized[:, :, None] * found.rule_outputs
    counts = found.normalized if base.normalize else np.abs(added).max(axis=2)
    leading = np.bincount(counts[counts.any(axis=1)].argmax(axis=1), minlength=base.n_rules)
    means = found.rule_outputs.mean(axis=0)
    ends = (min(0.0, float(means.min())), max(0.0, float(means.max())))
    dropped = {(each.member, each.rule): (each.drop, each.std) for each in (() if own is None else own.rules)}
    for r, card in enumerate(rule_cards(base, answers.sketchers[member], with_data=True)):
        concluded = means[r]
        k = _class(answers, concluded, additive=not base.normalize)
        output = k if k is not None and len(concluded) > 1 else 0
        against = not base.normalize and len(concluded) > 1 and k is not None and bool(concluded[k] < 0)
        mean_share = float(found.normalized[:, r].mean())
        mark = class_mark(int(concluded[0] > 0), 2) if not base.normalize and len(concluded) == 1 else ""
        changed = {
            "name": f"{card.name} of member {member + 1}" if len(answers.members) > 1 else card.name,
            "mark": mark if k is None else class_mark(k, len(answers.classes or ())),
        }
        yield RuleUse(
            **{field.name: getattr(card, field.name) for field in dataclasses.fields(card)} | changed,
            member=member,
            conclusions=tuple(zip(base.output_names, concluded.tolist(), strict=True)),
            sign="=" if base.normalize else "+=",
            linear=base.coefs.shape[2] > 1,
            speaks_for=None if k is None or answers.classes is None else answers.classes[k],
            against=against,
            kind="" if k is None else f"{'against' if against else 'for'}-{k}",
            mean_share=mean_share,
            max_share=float(found.normalized[:, r].max()),
            bar=bar(mean_share, 0.0, 1.0) if base.normalize else bar(float(concluded[output]), *ends, signed=True),
            n_leading=int(leading[r]),
            mean_added=float(added[:, r, output].mean()),
            dropped=dropped.get((member, r)),
        )


def _class(answers: Answers, concluded: Any, *, additive: bool) -> int | None:
    """Return the class that a rule votes for or, of several, for or against."""
    if answers.classes is None:
        return None
    border = 0.0 if additive else answers.reading.threshold
    return class_of_rule(concluded, additive=additive) if len(concluded) > 1 else int(concluded[0] > border)


# ---------------------------------------------------------------------- what matters


@dataclasses.dataclass(frozen=True)
class Matters:
    """What matters for the predictions: features (of models trained on the other folds, if any), rules, and effects."""

    features: Importance | None
    rules: Importance | None
    effects: tuple[Effect, ...]
    n_classes: int

    @property
    def feature_rows(self) -> list[dict[str, Any]]:
        """The features that are shown, as rows of a table."""
        return [] if self.features is None else _rows([each for each in self.features.features if each.used])

    @property
    def rule_rows(self) -> list[dict[str, Any]]:
        """The rules that are shown, as rows of a table."""
        return [] if self.rules is None else _rows(self.rules.rules)

    def drawing(self) -> bytes:
        """Draw the effects, if there are any."""
        return figure_svg(EffectDisplay(list(self.effects), self.n_classes).plot)


def what_matters(answers: Answers, folds: Sequence[Fold], pos_label: Any = None) -> Matters:
    """Measure what matters, on the folds of a cross-validation, if there was one, and on the bags."""
    model, bags, truth = answers.model, answers.bags, answers.truth
    used = used_features(answers.members)
    n_used = max(len(used), 1)
    repeats = max(min(_REPEATS, _SHUFFLES // n_used), 2)
    own = model.importance(bags, truth, n_repeats=repeats) if _can_tell(answers, truth) else None
    repeats = max(min(_REPEATS_OF_FOLD, _SHUFFLES_OF_FOLD // n_used), 1)
    parts = [
        fold.model.importance(fold.X, fold.truth, n_repeats=repeats) for fold in folds if _can_tell(answers, fold.truth)
    ]
    features = Importance.over_folds(parts) if own is not None and len(parts) > 1 else own
    if features is not None:
        order = {each.name: place for place, each in enumerate(features.features)}
        used.sort(key=lambda d: order[answers.rules.feature_names[d]])
    known = [d for d in used if not np.isnan(answers.read.instances[:, d]).all()]
    effects = [model.effect(bags, d, pos_label=pos_label, n_points=_POINTS) for d in known[:_EFFECTS]]
    return Matters(features, own, tuple(effects), len(answers.classes or ()))


def _can_tell(answers: Answers, truth: Array | None) -> bool:
    """Return whether a score of these bags means anything."""
    if truth is None:
        return False
    return len(truth) > 1 and (answers.classes is None or len(np.unique(truth)) > 1)


def _rows(found: Sequence[FeatureImportance] | Sequence[RuleImportance]) -> list[dict[str, Any]]:
    found = found[:_SHOWN]
    ends = [0.0, *(each.drop for each in found)]
    low, high = min(ends), max(ends)
    return [dataclasses.asdict(each) | {"bar": bar(each.drop, low, high)} for each in found]


# ---------------------------------------------------------------------- rule health


# Kinds of findings about whole rules, which are reported even if there are none.
_QUESTIONS = {
    "never fires": "Dead rules (no effect on any bag)",
    "always fires": "Dominating rules (the others hardly matter)",
    "duplicate": "Duplicate rules",
    "contradiction": "Contradicting rules",
    "uncovered bags": "Bags that hardly any rule covers",
}


def health_facts(diagnoses: Sequence[Diagnosis], *, additive: bool) -> dict[str, Any]:
    """Sort the findings about each member into those about whole rules and the rest.

    Additive rules cannot contradict each other, and a bag needs none of them.
    """
    asked = {kind: text for kind, text in _QUESTIONS.items() if not additive or kind not in _OF_NORMALIZED}
    found = [(member, finding) for member, diagnosis in enumerate(diagnoses, start=1) for finding in diagnosis]
    counts = Counter(finding.kind for _, finding in found)
    return {
        "n_findings": len(found),
        "questions": {question: counts[kind] for kind, question in asked.items()},
        "about_rules": [each for each in found if each[1].kind in _QUESTIONS],
        "about_parts": [each for each in found if each[1].kind not in _QUESTIONS],
        "several": len(diagnoses) > 1,
    }


# ---------------------------------------------------------------------- bags


def select_bags(certainty: Array, most: int) -> Array:
    """Return the positions of the bags to explain: all, or the least and the most certain if there are many."""
    order = np.argsort(certainty, kind="stable")
    if len(order) <= most:
        return np.arange(len(order))
    half = most // 2
    return np.sort(np.concatenate([order[: most - half], order[len(order) - half :]]))


def bags_facts(answers: Answers, explanations: Mapping[int, Explanation]) -> dict[str, Any]:
    """Return what the section shows; explanations are by position of the bag."""
    cards = _bag_cards(answers, explanations)
    order = sorted(cards, key=lambda card: answers.certainty[card["place"]])
    n_least = min(_FEATURED, len(order))
    sort_by = {"place": "order", "name": "name", "certainty": "certainty", "size": "instances"}
    sort_by |= {} if answers.coverage is None else {"coverage": "coverage"}
    filters: dict[str, str] = {}
    if answers.classes is None:
        sort_by |= {"prediction": "prediction"} | ({} if answers.truth is None else {"error": "error"})
    else:
        filters |= {} if answers.truth is None else {"wrong": "misclassified", "correct": "correctly classified"}
        filters |= {f"as-{k}": f"predicted {label(name)}" for k, name in enumerate(answers.classes)}
    return {
        "cards": cards,
        "n_bags": answers.bags.n_bags,
        "featured": {"Least certain": order[:n_least], "Most certain": order[n_least:][::-1][:_FEATURED]},
        "certainty": _certainty(answers),
        "scale": answers.reading.scale,
        "about": answers.classes[-1] if answers.classes else None,
        "labeled": answers.truth is not None,
        "has_coverage": answers.coverage is not None,
        "sort_by": sort_by,
        "filters": filters,
    }


def _certainty(answers: Answers) -> str:
    """Return what certainty is, as the template knows it."""
    if answers.classes is None:
        return "firing" if answers.coverage is None else "coverage"
    return "threshold" if answers.output.shape[1] == 1 else "margin"


def _bag_cards(answers: Answers, explanations: Mapping[int, Explanation]) -> list[dict[str, Any]]:
    """Return each bag with its prediction, the numbers to sort by, the keys to filter by, and the reasons."""
    bags, truth, signed = answers.bags, answers.truth, _certainty(answers) == "threshold"
    certainty, coverage, wrong = answers.certainty, answers.coverage, answers.wrong
    several = answers.classes is not None and not signed
    # Of several classes, a bag on which no rule fires is not certain at all.
    scores = np.maximum(certainty, 0.0) if several else answers.output[:, 0] - answers.reading.threshold
    # The true number can be drawn beside a predicted one.
    true = truth.reshape(len(truth), -1)[:, 0] if truth is not None and answers.classes is None else None
    widest = float(np.abs(scores).max()) or 1.0
    ends = (-widest, widest) if signed else (0.0, widest) if several else (float(scores.min()), float(scores.max()))
    texts = _typeset(scores, signed=signed)
    cards = []
    for b, explanation in explanations.items():
        kinds, mark = [], ""
        if answers.classes is not None:
            place = answers.classes.index(np.asarray(answers.predictions[b]).tolist())
            kinds, mark = [f"as-{place}"], class_mark(place, len(answers.classes))
            kinds += [] if truth is None else ["wrong" if wrong[b] else "correct"]
        sort_keys = {"certainty": certainty[b], "prediction": scores[b]}
        sort_keys |= {} if coverage is None else {"coverage": coverage[b]}
        sort_keys |= {} if true is None else {"error": abs(scores[b] - true[b])}
        unlike = explanation.coverage is not None and explanation.coverage < UNUSUAL and explanation.unusual is not None
        cards.append(
            {
                "place": b,
                "name": str(bags.ids[b]),
                "n_instances": explanation.n_instances,
                "predicted": answers.predictions[b],
                "true": None if truth is None else truth[b],
                "wrong": bool(wrong[b]),
                "score": texts[b],
                "bar": bar(float(scores[b]), *ends, signed=signed, mark=None if true is None else float(true[b])),
                "sort_keys": sort_keys,
                "kinds": kinds,
                "mark": mark,
                "probabilities": list(zip(answers.classes or (), explanation.probability or (), strict=False)),
                "outputs": list(zip(answers.classes or (), _typeset(answers.output[b]), strict=True))
                if several
                else [],
                "coverage": explanation.coverage,
                "unusual": typeset(str(explanation.unusual)) if unlike else "",
                "defaults": default_lines(explanation),
                "why": reasons(explanation, answers.sketchers),
            }
        )
    return cards


# ---------------------------------------------------------------------- settings and versions


def settings_facts(answers: Answers) -> dict[str, Any]:
    """Collect the model's parameters, the operators of its rules, and the versions of the libraries."""
    model, rules = answers.model, answers.rules
    defaults = {name: given.default for name, given in inspect.signature(type(model).__init__).parameters.items()}
    changed: dict[str, str] = {}
    unchanged: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        default = defaults.get(name)
        same = type(value) is type(default) and not isinstance(value, np.ndarray) and value == default
        (unchanged if same else changed)[name] = _text(value)
    return {
        "estimator": type(model).__name__,
        "changed": changed,
        "unchanged": unchanged,
        "operators": {
            "T-norm (AND)": rules.t_norm,
            "S-norm (OR)": rules.s_norm,
            "Aggregation over instances": f"{rules.aggregation}, alpha = {_text(rules.alpha)}",
            "Conclusions are": "averaged by strength" if rules.normalize else "added to the default",
            "Conclusions": "linear in the features" if rules.coefs.shape[2] > 1 else "constant",
            "Combination of conclusions": rules.conclusion_aggregation,
            "Values outside a feature's range": "clipped to the range" if rules.limited else "used unchanged",
        },
        "versions": {
            "fuzzymil": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES if has_jax() or name not in ("jax", "optax")},
        },
    }


def _text(value: Any) -> str:
    """Return a parameter as text; other objects by their type, since a memory address is meaningless."""
    if isinstance(value, RuleBase):
        return f"rule base with {counted(value.n_rules, 'rule')}"
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if value is None or isinstance(value, str | bool | int | float):
        return str(value)
    if isinstance(value, tuple | list) and all(isinstance(part, str | int | float) for part in value):
        text = ", ".join(map(str, value))
        return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST]} …"
    if isinstance(value, dict) and all(isinstance(part, str | int | float) for part in value.values()):
        return ", ".join(f"{key}: {part}" for key, part in value.items())[:_LONGEST_VALUE]
    return described(value)

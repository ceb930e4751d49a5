"""Which bag problem is it? Facts about the data, and how well each kind of rule and simple baselines do on it."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.metrics import roc_auc_score

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import listed
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import THREE, bag_means, bag_statistics, typical_values
from fuzzymil.inference.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.learn.choose.choose import HeldOut, Limits, choose_rules
from fuzzymil.learn.choose.frontier import Measure
from fuzzymil.learn.choose.pool import KIND_WORDS
from fuzzymil.learn.choose.search import costs
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase
from fuzzymil.rules.premise import Is, Part, conditions

ALL = "all"
SIZE, FOREST, LINEAR, NOTHING = "size", "forest", "linear", "nothing"

_TITLES = {
    **KIND_WORDS,
    ALL: "all kinds together",
    SIZE: "number of instances",
    FOREST: "forest on bag statistics",
    LINEAR: "{line} on bag statistics",
    NOTHING: "{nothing}",
}
_HEADINGS = {"explained": "deviance explained", "R2": "R²"}
_SHOWN_RULES = 5
_SHOWN_TERMS = 4  # conditions of a rule
_WIDTH = 110


class Sizes(NamedTuple):
    """The bags of a class: how many, and how many instances they have.

    Examples
    --------
    >>> Sizes("yes", n_bags=12, smallest=2, median=4.0, largest=6).largest
    6
    """

    label: str
    n_bags: int
    smallest: int
    median: float
    largest: int


@dataclasses.dataclass(frozen=True)
class Method:
    """How well a kind of rules, or a baseline, answers for held-out bags.

    Attributes
    ----------
    name : str
    is_baseline : bool
    measures : dict of str to Measure
        "accuracy", "AUC" and "explained" for classes, "R2" and, for one output, "RMSE" for numbers. "explained" is the
        share of the deviance (twice the cross-entropy) that the majority class leaves and this method explains; R2 is
        the same with squared errors, and the mean in place of the majority class. Both are negative for a method that
        is worse than that.

    Examples
    --------
    >>> Method("majority class", True, {"accuracy": Measure(0.5, 0.0, 5)}).measures["accuracy"].n
    5
    """

    name: str
    is_baseline: bool
    measures: dict[str, Measure]


@dataclasses.dataclass(frozen=True)
class DataDiagnosis:
    """Facts about bags, and which bag problem they pose; ``str`` returns all of it as text.

    Attributes
    ----------
    n_bags, n_instances, n_features, n_missing, n_constant : int
        ``n_missing`` counts values, ``n_constant`` features with a single value.
    n_used : int
        Number of bags that the rest is about: of very many bags, a sample.
    sizes : tuple of Sizes
        One per class; one in all for numbers.
    kind : str
        The simplest kind of rules that explains the labels as well as the best: "some", "averages", "conjunctions",
        "counts", or "all" of them together. "size": the number of instances tells as much;
        "unexplained": only baselines do better than chance; "none": no method certainly does; "few": too few bags to
        hold some out.
    verdict : tuple of str
        One or two sentences about it.
    warnings : tuple of str
        Sizes or features that give the label away.
    methods : tuple of Method
        Held-out results of each kind of rules and of the baselines, all on the same folds.
    rules : RuleBase
        Chosen from all bags, as `RuleClassifier` or `RuleRegressor` do.
    evidence : str
        What held-out bags say of these rules, as when they are fitted; empty if there were too few.

    Examples
    --------
    >>> from fuzzymil import diagnose_data
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("count", n_bags=80, n_noise=0, random_state=0)
    >>> found = diagnose_data(bags)
    >>> found.kind
    'counts'
    >>> [method.name for method in found.methods if method.is_baseline][-1]
    'majority class'
    """

    n_bags: int
    n_instances: int
    n_features: int
    n_missing: int
    n_constant: int
    n_used: int
    sizes: tuple[Sizes, ...]
    kind: str
    verdict: tuple[str, ...]
    warnings: tuple[str, ...]
    methods: tuple[Method, ...]
    rules: RuleBase
    evidence: str = ""
    _shown: tuple[str, ...] = dataclasses.field(default=(), repr=False)

    def __str__(self) -> str:
        return f"{self.facts()}\n\n{self.findings()}"

    def facts(self) -> str:
        """Return the facts about the bags as text."""
        low, high = min(each.smallest for each in self.sizes), max(each.largest for each in self.sizes)
        lines = [
            f"{_counted(self.n_bags, 'bag')}, {_counted(self.n_instances, 'instance')} ({_range(low, high)} per bag), "
            f"{_counted(self.n_features, 'feature')}, {_counted(self.n_missing, 'missing value')}"
        ]
        if len(self.sizes) > 1:
            lines += [
                f"{each.label}: {_counted(each.n_bags, 'bag')}, {_range(each.smallest, each.largest)} "
                f"{'instance' if each.largest == 1 else 'instances'} each (median {each.median:g})"
                for each in self.sizes
            ]
        if self.n_constant:
            lines.append(f"{_counted(self.n_constant, 'feature')} with a single value")
        return "\n".join(lines)

    def findings(self) -> str:
        """Return which bag problem it is, and the held-out results, as text."""
        lines = ["Which bag problem do I have?", *_wrapped(" ".join(self.verdict))]
        if self.n_used < self.n_bags:
            rare = ", with more of rare classes" if len(self.sizes) > 1 else ""
            lines.append(f"(Found out from a sample of {self.n_used:,} of the {self.n_bags:,} bags{rare}.)")
        for warning in self.warnings:
            lines += _wrapped(f"Warning: {warning}")
        if self.methods:
            n_folds = next(iter(self.methods[0].measures.values())).n
            lines += ["", f"Held-out results, mean ± standard deviation over {n_folds} folds", *self._table()]
        return "\n".join([*lines, "", *self._shown, *_wrapped(self.evidence)])

    def _table(self) -> list[str]:
        columns = list(self.methods[0].measures)
        rows = [["rules", *(_HEADINGS.get(name, name) for name in columns)]]
        for baseline in (False, True):
            if baseline:
                rows.append(["baselines", *("" for _ in columns)])
            for method in self.methods:
                if method.is_baseline == baseline:
                    rows.append([f"  {method.name}", *(_cell(name, method.measures[name]) for name in columns)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return [
            "  ".join(
                cell.ljust(width) if not n else cell.rjust(width) for n, (cell, width) in enumerate(pairs)
            ).rstrip()
            for pairs in (list(zip(row, widths, strict=True)) for row in rows)
        ]

    def _repr_html_(self) -> str:
        columns = list(self.methods[0].measures) if self.methods else []
        rows = [[each.name, *(_cell(name, each.measures[name]) for name in columns)] for each in self.methods]
        heads = ["rules and baselines", *(_HEADINGS.get(name, name) for name in columns)]
        return html.fragment(
            *map(html.line, self.facts().split("\n")),
            html.line(html.element("b", " ".join(self.verdict))),
            *(html.line(f"Warning: {each}") for each in self.warnings),
            *([html.table("Held-out results", heads, rows)] if rows else []),
            html.element("pre", "\n".join(self._shown)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values; rules as text."""
        numbers = ("n_bags", "n_instances", "n_features", "n_missing", "n_constant", "n_used")
        return {
            **{name: getattr(self, name) for name in numbers},
            "sizes": [each._asdict() for each in self.sizes],
            "kind": self.kind,
            "verdict": list(self.verdict),
            "warnings": list(self.warnings),
            "methods": [
                {
                    "name": each.name,
                    "is_baseline": each.is_baseline,
                    "measures": {name: value._asdict() for name, value in each.measures.items()},
                }
                for each in self.methods
            ],
            "rules": self.rules.to_text().split("\n"),
            "evidence": self.evidence,
        }


def diagnose(
    bags: Bags,
    targets: Array,
    groups: Array,
    *,
    labels: Sequence[Any] | None,
    scaling: Scaling,
    outputs: Sequence[str],
    n_rules: int | None,
    max_conditions: int | None,
    rng: np.random.RandomState,
    progress: Callable[[int, int, str], None] = lambda done, total, stage: None,
) -> DataDiagnosis:
    """Find out which bag problem some bags pose.

    Parameters
    ----------
    bags : Bags
        All of them.
    targets : array of shape (b, k)
        0 or 1 for classes, one column for two of them; numbers in the units of the data otherwise.
    groups : array of int, shape (b,)
        Class of each bag; not used for numbers.
    labels : sequence or None
        Names of the classes; None for numbers.
    scaling : Scaling
        Of features and targets.
    outputs : sequence of str
        Names of the outputs.
    n_rules, max_conditions : int or None
        Limits of the rules, as in `choose_rules`.
    rng : RandomState
    progress : callable
        Receives the number of steps that are done, and their total.
    """
    classes = labels is not None
    limits = Limits(n_rules, max_conditions)
    done, extra = 0, n_fits(bags, limits.n_folds)

    def show(now: int, total: int, stage: str) -> None:
        nonlocal done
        done = now
        progress(done, total + extra, stage)

    result = choose_rules(
        bags,
        targets,
        np.ones(len(targets)),
        groups,
        scaling=scaling,
        classes=classes,
        outputs=outputs,
        limits=limits,
        n_members=1,
        rng=rng,
        missing_values=typical_values(bags, 1),
        compare_kinds=True,
        progress=show,
    )
    places = result.compared  # of very many, with enough of each class
    sample, wanted, classes_of = bags[places], targets[places], groups[places]
    rules, frontier = result.members[0], result.frontier
    chosen, doubt = frontier[frontier.chosen], frontier.doubt
    found = Verdict("few", (_too_few(sample, classes),))
    methods: tuple[Method, ...] = ()
    if result.held_out is not None:
        start = done

        def tick() -> None:
            nonlocal done
            done += 1
            progress(done, start + extra, "simple methods")

        answers = _Answers(scaling.apply_to_targets(wanted), result.held_out.folds.parts[0], classes)
        by_rules = {kind: _best(each) for kind, each in result.kinds.items()}
        by_rules[ALL] = result.held_out.outputs[chosen.size][0] if chosen.n_rules else _best(result.held_out)
        others = baselines(
            sample.with_indicators(),
            answers.targets,
            answers.folds,
            classes=classes,
            seed=int(rng.randint(2**31 - 1)),
            tick=tick,
        )
        unit = scaling.target_scale if len(outputs) == 1 else None
        everyone = by_rules | others
        measured = {name: answers.measures(output, others[NOTHING], unit) for name, output in everyone.items()}
        methods = tuple(Method(_title(name, classes), name in others, each) for name, each in measured.items())
        evidence = Evidence(
            costs={name: answers.costs(output) for name, output in everyone.items()},
            explained={name: each["explained" if classes else "R2"].mean for name, each in measured.items()},
            accuracy={name: each["accuracy"].mean for name, each in measured.items()} if classes else {},
        )
        found = verdict(evidence, rules, sample, list(by_rules), doubt=doubt)
    return DataDiagnosis(
        n_bags=bags.n_bags,
        n_instances=bags.n_instances,
        n_features=bags.n_features,
        n_missing=int(np.isnan(bags.instances).sum()),
        n_constant=int((~scaling.varies).sum()),
        n_used=len(places),
        sizes=_sizes(bags, groups, labels),
        kind=found.kind,
        verdict=found.sentences,
        warnings=leaks(sample, wanted, classes_of, classes=classes),
        methods=methods,
        rules=rules,
        evidence="" if result.held_out is None else doubt or frontier.evidence,
        _shown=_shown(rules, sample, by_chance=bool(doubt)),
    )


def _best(found: HeldOut) -> Array:
    """Return the outputs (b, k) of the rules that cost least."""
    size = min(found.costs, key=lambda size: (float(found.costs[size].mean()), size))
    return np.asarray(found.outputs[size][0])


def _too_few(bags: Bags, classes: bool) -> str:
    needed = "10 bags, and two of each class," if classes else "10 bags, with labels that differ,"
    return f"Too few bags to hold some out: at least {needed} are needed to compare methods. There are {bags.n_bags}."


def _sizes(bags: Bags, groups: Array, labels: Sequence[Any] | None) -> tuple[Sizes, ...]:
    def of(label: str, sizes: Array) -> Sizes:
        return Sizes(label, len(sizes), int(sizes.min()), float(np.median(sizes)), int(sizes.max()))

    if labels is None:
        return (of("", bags.sizes),)
    return tuple(
        of(str(label), bags.sizes[groups == group]) for group, label in enumerate(labels) if np.any(groups == group)
    )


def _title(name: str, classes: bool) -> str:
    line, nothing = ("logistic regression", "majority class") if classes else ("linear regression", "mean")
    return _TITLES[name].format(line=line, nothing=nothing)


@dataclasses.dataclass(frozen=True)
class _Answers:
    """Judges the outputs (b, k) of methods for held-out bags."""

    targets: Array  # (b, k)
    folds: Array  # (b,)
    classes: bool

    def costs(self, output: Array) -> Array:
        """Return the cost of each bag, (b,)."""
        return np.asarray(costs(output, self.targets, logistic=self.classes).sum(axis=1))

    def measures(self, output: Array, nothing: Array, unit: Array | None) -> dict[str, Measure]:
        """Return the measures of a method, given the outputs without any; ``unit`` is that of a single number."""
        cost, most = self.costs(output), self.costs(nothing)
        found: dict[str, list[float]] = {}
        for fold in range(int(self.folds.max()) + 1):
            held = self.folds == fold
            explained = 1 - float(cost[held].sum() / most[held].sum())
            if self.classes:
                found.setdefault("accuracy", []).append(float(self._right(output)[held].mean()))
                found.setdefault("AUC", []).append(_mean_auc(self.targets[held], output[held]))
                found.setdefault("explained", []).append(explained)
            else:
                found.setdefault("R2", []).append(explained)
                if unit is not None:
                    errors = unit * (output[held] - self.targets[held])
                    found.setdefault("RMSE", []).append(float(np.sqrt(np.square(errors).mean())))
        return {
            name: Measure(float(np.mean(each)), float(np.std(each, ddof=1)), len(each)) for name, each in found.items()
        }

    def _right(self, output: Array) -> Array:
        """Return whether the class of each bag is right, (b,)."""
        if self.targets.shape[1] == 1:
            return np.asarray((output[:, 0] > 0) == (self.targets[:, 0] > 0.5))
        return np.asarray(output.argmax(axis=1) == self.targets.argmax(axis=1))


def _mean_auc(targets: Array, output: Array) -> float:
    """Return the mean AUC over classes that some of the bags have and others have not."""
    areas = [roc_auc_score(target, column) for target, column in zip(targets.T, output.T, strict=True) if target.any()]
    return float(np.mean(areas))


# ---------------------------------------------------------------------- text


def _shown(rules: RuleBase, bags: Bags, *, by_chance: bool = False) -> tuple[str, ...]:
    """Return the strongest rules as text, and what their terms mean."""
    order, _ = strongest_first(rules, bags)
    if not len(order):
        return ("No rule was chosen.",)
    first, *lines = rules.to_text(max_conditions=_SHOWN_TERMS).split("\n")
    kept = np.sort(order[:_SHOWN_RULES])
    few = f"The {len(kept)} strongest of {len(order)} rules" if len(kept) < len(order) else "The rules"
    doubt = ", which may be due to chance" if by_chance else ""
    text = [f"{few} chosen from all bags{doubt}", first, *(lines[r] for r in kept)]
    terms = meanings(rules, kept)
    if terms:
        text += _wrapped(f"where {'; '.join(terms)}")
    return tuple(textwrap.shorten(line, 2 * _WIDTH) if "IF" in line else line for line in text)


def _cell(name: str, measure: Measure) -> str:
    if name == "explained":
        return f"{round(100 * measure.mean)}% ± {round(100 * measure.std)}%"  # rounded to integers, of which none is -0
    if name == "RMSE":
        return f"{measure.mean:.4g} ± {measure.std:.2g}"
    return f"{measure.mean:.3f} ± {measure.std:.3f}"


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


# ---------------------------------------------------------------------- which bag problem it is

_BETTER_THAN_NOTHING = 3.0  # standard errors: the luckiest of several methods and penalties gets above 2 on noise
_LEAST = 0.01  # of the deviance: a constant may be a little better than another, and that for certain
_CLEARLY = 2.0  # standard errors by which one method is better than another
_RELEVANT = 0.05  # of the deviance; smaller differences are not mentioned
_NEARLY_ALL = 0.8  # of what the best method explains
_LITTLE = 0.2  # of the deviance
_STRONG = 0.25  # of what the strongest rule does
_BY_CHANCE = 0.01  # expected number of features that separate the classes by chance, up to which one is reported
_FEW_WRONG = 0.02  # of each class, where a feature nearly separates them
_SAME = 0.9999  # correlation at which a feature is the target


class Verdict(NamedTuple):
    """Which bag problem it is, and sentences about it."""

    kind: str
    sentences: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Held-out results that the verdict rests on.

    ``costs`` (b,): cost of each held-out bag, by method: kinds of rules, and baselines. ``explained``: share of the
    deviance that a method explains, the mean over folds. ``accuracy``: mean accuracy by method; empty for numbers.
    """

    costs: Mapping[str, Array]
    explained: Mapping[str, float]
    accuracy: Mapping[str, float]

    def better(self, name: str, other: str) -> float:
        """Return by how many standard errors a method is better than another."""
        gain = self.costs[other] - self.costs[name]
        error = float(gain.std()) / math.sqrt(len(gain))
        mean = float(gain.mean())
        return mean / error if error > 0 else math.copysign(math.inf, mean) if mean else 0.0

    def best(self, names: list[str]) -> str:
        """Return the method with the least cost."""
        return min(names, key=lambda name: float(self.costs[name].mean()))

    def said(self, name: str) -> str:
        """Return ``97% of the deviance (accuracy 0.995)``."""
        share = f"{max(self.explained[name], 0.0):.0%} of the {'deviance' if self.accuracy else 'variance'}"
        return f"{share} (accuracy {self.accuracy[name]:.3f})" if self.accuracy else share


def verdict(evidence: Evidence, rules: RuleBase, bags: Bags, kinds: list[str], *, doubt: str | None = None) -> Verdict:
    """Say which bag problem it is.

    ``rules``: chosen from all bags. ``kinds``: the names of the kinds of rules in the evidence, the simplest first.
    ``doubt``: why the chosen rules should not be believed; empty if nothing speaks against them, None if unknown.
    """
    methods = [name for name in evidence.costs if name != NOTHING]
    classes = bool(evidence.accuracy)
    best = evidence.best(methods)
    if doubt != "" and (evidence.better(best, NOTHING) < _BETTER_THAN_NOTHING or evidence.explained[best] < _LEAST):
        return Verdict("none", (_about_nothing(evidence, best, bags),))
    own = evidence.best(kinds)
    kind = next(name for name in kinds if not _worse(evidence, name, own))
    sentences = []
    if bags.sizes.max() == 1:
        sentences.append("Every bag has one instance: this is an ordinary table, which needs no bags.")
    if SIZE in evidence.costs and evidence.explained[SIZE] >= _NEARLY_ALL * evidence.explained[best]:
        kind = "size"
        sentences.append(
            f"The number of instances alone predicts the {'class' if classes else 'label'}: it explains "
            f"{evidence.said(SIZE)}. Check whether that is meant, or due to how the bags were made."
        )
    elif evidence.better(own, NOTHING) < _CLEARLY:
        kind = "unexplained"
    elif doubt and len(strongest_first(rules, bags)[0]):
        kind = "unexplained" if evidence.better(best, own) > 0 else "none"
        sentences.append(f"Some rules explain {evidence.said(own)} on held-out bags, but those chosen are not certain.")
    elif not len(strongest_first(rules, bags)[0]):
        sentences.append(
            f"Rules explain {evidence.said(own)} on held-out bags, but none was chosen from all bags: what they found "
            "is weak, and differs from fold to fold."
        )
    else:
        sentences.append(_about(kind, evidence, kinds, rules, bags))
    rival = evidence.best([FOREST, LINEAR])
    if evidence.better(rival, own) >= _CLEARLY and _matters(evidence, rival, own):
        name = "The forest" if rival == FOREST else "Logistic regression" if classes else "Linear regression"
        sentences.append(
            f"{name} on bag statistics is clearly better than every kind of rule: it explains {evidence.said(rival)}, "
            f"the best rules {_share(evidence, own)}. The rules miss something."
        )
    if evidence.explained[best] < _LITTLE:
        sentences.append("That is little: the labels are noisy, or the features do not tell what decides.")
    return Verdict(kind, tuple(sentences))


def _worse(evidence: Evidence, name: str, other: str) -> bool:
    """Return whether a method explains less than another, by more than chance and enough to matter."""
    return evidence.better(other, name) >= 1 and _matters(evidence, other, name)


def _matters(evidence: Evidence, name: str, other: str) -> bool:
    return evidence.explained[name] - evidence.explained[other] >= _RELEVANT


def _share(evidence: Evidence, name: str) -> str:
    return f"{max(evidence.explained[name], 0.0):.0%}"


def _about_nothing(evidence: Evidence, best: str, bags: Bags) -> str:
    """Return a sentence about data on which no method is better than a constant by more than chance explains."""
    constant = "the majority class" if evidence.accuracy else "the mean"
    if evidence.explained[best] < _RELEVANT:
        return (
            f"No method does better than {constant}: the labels look unrelated to the features, or there are too few "
            f"bags ({bags.n_bags}) to see how they are related."
        )
    return (
        f"No method is certain to do better than {constant}: the best one explains {evidence.said(best)} on held-out "
        f"bags, but {bags.n_bags} bags are too few to rule out chance."
    )


def _about(kind: str, evidence: Evidence, kinds: list[str], rules: RuleBase, bags: Bags) -> str:
    """Return a sentence about the kind of rules that is needed, and how much simpler ones explain."""
    said = evidence.said(kind)
    if kind == "some":
        return _about_some(f"rules with one condition on some instance explain {said}.", evidence, rules, bags)
    simpler = kinds[: kinds.index(kind)]
    explain = f"explain {said}, simpler rules {_share(evidence, evidence.best(simpler))}."
    if kind == "conjunctions":
        strongest = strongest_first(rules, bags)[0][:1]
        apart = len(strongest) and len(_parts(rules, strongest[0])) > 1
        return f"{_TOGETHER if apart else 'Several conditions in the same instance decide'}: such rules {explain}"
    if kind == "averages":
        return f"The bag as a whole decides: rules about averages over its instances {explain}"
    if kind == "counts":
        return f"More than one instance decides: rules that count instances or average over them {explain}"
    return f"Several kinds of rules are needed: together, they {explain}"


_TOGETHER = "Several conditions are needed together, each in some instance, the same or another"


def _about_some(said: str, evidence: Evidence, rules: RuleBase, bags: Bags) -> str:
    order, moved = strongest_first(rules, bags)
    strong = [int(r) for r in order if moved[r] >= _STRONG * moved.max()]
    if any(len(_parts(rules, r)) > 1 for r in strong):
        return f"{_TOGETHER}: {said}"
    if len(strong) < 2:
        return f"One instance is enough: {said}"
    coefs, start = rules.coefs[:, 0, 0], rules.default[0]
    adding = [r for r in strong if coefs[r] > 0]
    if evidence.accuracy and len(rules.outputs) == 1 and len(adding) > 1:
        alone = [start + coefs[r] > 0 for r in adding]
        if all(alone):
            return f"One instance that meets any of {len(adding)} conditions is enough: {said}"
        if not any(alone) and start + coefs[adding].sum() > 0:
            return f"{_TOGETHER}: {said}"
    return f"One instance is enough for each of {len(strong)} conditions: {said}"


# ---------------------------------------------------------------------- rules


def strongest_first(rules: RuleBase, bags: Bags) -> tuple[Array, Array]:
    """Return the positions of the rules that matter, the strongest first, and how much each rule (r,) moves outputs."""
    firing = rules.infer(Bags(bags.instances, bags.offsets)).firing
    moved = firing.std(axis=0) * np.abs(rules.coefs[:, :, 0]).sum(axis=1)
    order = np.argsort(-moved, kind="stable")
    return order[moved[order] > 0], moved


def _parts(rules: RuleBase, number: int) -> list[Part]:
    return [part for part in rules.parts if part.rule == number]


def _set_of(rules: RuleBase, condition: Is) -> MembershipFunction:
    return next(each for each in rules.variables if each.name == condition.variable).terms[condition.term]


def meanings(rules: RuleBase, numbers: Array) -> list[str]:
    """Return what the terms in some rules mean, such as ``A is high: above 9.02``; prototypes are left out."""
    asked = {
        (condition.variable, condition.term): _set_of(rules, condition)
        for part in rules.parts
        if part.rule in numbers
        for condition in conditions(part.premise)
    }
    found = []
    for (variable, term), chosen in asked.items():
        if isinstance(chosen, Sigmoid):
            found.append(f"{variable} is {term}: {'above' if chosen.slope > 0 else 'below'} {chosen.center:.4g}")
        elif isinstance(chosen, Bell):
            low, high = chosen.center - chosen.width, chosen.center + chosen.width
            found.append(f"{variable} is {term}: {low:.4g} to {high:.4g}")
    return found


# ---------------------------------------------------------------------- leaks


def leaks(bags: Bags, targets: Array, groups: Array, *, classes: bool) -> tuple[str, ...]:
    """Return warnings about the size of a bag, or the mean of a feature in it, that gives the label away.

    Shapes: ``targets`` (b, k). ``groups`` (b,): class of each bag; not used for numbers.
    """
    columns = np.column_stack([bags.sizes.astype(float), bag_means(bags)])
    complete = np.flatnonzero(~np.isnan(columns).any(axis=0))
    found: dict[str, list[int]] = {}
    for column in complete.tolist():
        if classes:
            wrong = _n_wrong(columns[:, column], groups)
            if wrong is not None and _separations_by_chance(groups, wrong) * len(complete) <= _BY_CHANCE:
                found.setdefault(f"separates the classes {'nearly ' if wrong else ''}perfectly", []).append(column)
        elif _is_target(columns[:, column], targets):
            found.setdefault("is the label, up to its scale", []).append(column)
    warnings = []
    for does, places in found.items():
        if 0 in places:
            warnings.append(f"The number of instances {does}. Check that it is known before the label is.")
        features = [bags.names[column - 1] for column in places if column]
        if features:
            names = listed(map(repr, features))
            named = f"feature {names}" if len(features) == 1 else f"each of the features {names}"
            warnings.append(f"The mean of {named} in a bag {does}. Check that it was not made from the label.")
    return tuple(warnings)


def _separations_by_chance(groups: Array, n_wrong: int = 0) -> float:
    """Return (without wrong bags, exactly) how probable it is that a column without ties separates classes by chance.

    ``n_wrong``: number of bags that may be on the wrong side.
    """
    counts, n = np.unique(groups, return_counts=True)[1], len(groups)
    orders = math.lgamma(len(counts) + 1) + sum(math.lgamma(size + 1) for size in counts)
    which = math.lgamma(n + 1) - math.lgamma(n_wrong + 1) - math.lgamma(n - n_wrong + 1)
    return math.exp(orders - math.lgamma(n + 1) + 2 * which)


def _n_wrong(values: Array, groups: Array) -> int | None:
    """Return how many bags the best threshold leaves on the wrong side; None if these are more than a few.

    More than two classes are separated perfectly, or not at all.
    """
    if _separates(values, groups):
        return 0
    kinds, counts = np.unique(groups, return_counts=True)
    order = np.argsort(values, kind="stable")
    if len(kinds) != 2 or values[order[0]] == values[order[-1]]:
        return None
    cuts = np.flatnonzero(np.diff(values[order]) > 0)
    below = np.cumsum(groups[order][:, None] == kinds, axis=0)[cuts]  # bags of each class up to each threshold
    first, second = below / counts, 1 - below / counts
    share = np.stack([np.maximum(second[:, 0], first[:, 1]), np.maximum(first[:, 0], second[:, 1])])
    if share.min() > _FEW_WRONG:
        return None
    side, cut = np.unravel_index(int(np.argmin(share)), share.shape)
    wrong = counts[0] - below[cut, 0] + below[cut, 1]
    return int(counts.sum() - wrong if side else wrong)


def _separates(values: Array, groups: Array) -> bool:
    """Return whether the values of the classes lie in intervals that do not touch."""
    ends = sorted((values[groups == group].min(), values[groups == group].max()) for group in np.unique(groups))
    return all(high < low for (_, high), (low, _) in itertools.pairwise(ends))


def _is_target(values: Array, targets: Array) -> bool:
    if len(values) < 3 or values.std() == 0:
        return False
    spreads = targets.std(axis=0)
    return any(
        abs(np.corrcoef(values, target)[0, 1]) > _SAME
        for target, spread in zip(targets.T, spreads, strict=True)
        if spread > 0
    )


# ---------------------------------------------------------------------- baselines
# On the folds that rules were compared on: what can be predicted without any rule.

_N_TREES = 100
_N_TREES_ON_SIZES, _BAGS_PER_LEAF = 50, 5  # a single column is soon learned by heart
_PENALTIES = (0.01, 0.1, 1.0)  # inverse ones; the best on the folds counts, as for rules


class _Baseline(NamedTuple):
    """A method with a few settings to choose from; each fits a table (b, columns) and returns a function to outputs."""

    name: str
    statistics: tuple[str, ...]
    settings: Sequence[Callable[[Array, Array], Callable[[Array], Array]]]


def baselines(
    bags: Bags, targets: Array, folds: Array, *, classes: bool, seed: int, tick: Callable[[], None] = lambda: None
) -> dict[str, Array]:
    """Return what each baseline answers for held-out bags: outputs (b, k), logits of classes or numbers.

    ``bags``: missing values of a statistic are replaced by its median. ``targets`` (b, k): 0 or 1 for classes, one
    column for two of them; standardized numbers otherwise. ``folds`` (b,): the part in which a bag is held out.
    ``tick``: called after each fit, `n_fits` times in all.
    """
    from sklearn.impute import SimpleImputer

    found = {}
    for baseline in _known(bags, classes, seed):
        table = bag_statistics(bags, baseline.statistics)
        options = []
        for fit in baseline.settings:
            output = np.empty(targets.shape)
            for fold in range(int(folds.max()) + 1):
                inside, held = folds != fold, folds == fold
                fill = SimpleImputer(strategy="median", keep_empty_features=True).fit(table[inside])
                output[held] = fit(fill.transform(table[inside]), targets[inside])(fill.transform(table[held]))
                tick()
            options.append(output)
        found[baseline.name] = min(options, key=lambda output: float(costs(output, targets, logistic=classes).mean()))
    return found


def n_fits(bags: Bags, n_folds: int) -> int:
    """Return how many fits `baselines` makes."""
    return n_folds * sum(len(each.settings) for each in _known(bags, classes=True, seed=0))


def _known(bags: Bags, classes: bool, seed: int) -> Iterator[_Baseline]:
    if bags.sizes.min() < bags.sizes.max():
        yield _Baseline(SIZE, ("size",), [_forest(classes, seed, _N_TREES_ON_SIZES, min_samples_leaf=_BAGS_PER_LEAF)])
    yield _Baseline(FOREST, THREE, [_forest(classes, seed)])
    yield _Baseline(LINEAR, THREE, [_linear(classes, penalty) for penalty in _PENALTIES])
    yield _Baseline(NOTHING, ("size",), [_constant(classes)])


def _constant(classes: bool) -> Callable[[Array, Array], Callable[[Array], Array]]:
    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        level = np.array([_usual(target) for target in targets.T]) if classes else targets.mean(axis=0)
        return lambda rows: np.tile(level, (len(rows), 1))

    return fit


def _usual(target: Array) -> float:
    """Return the logit of the share of a class; half a bag more on both sides (Jeffreys) keeps it finite."""
    return float(logit((target.sum() + 0.5) / (len(target) + 1)))


def _forest(
    classes: bool, seed: int, n_trees: int = _N_TREES, **settings: Any
) -> Callable[[Array, Array], Callable[[Array], Array]]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression

    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        if not classes:
            numbers = RandomForestRegressor(n_trees, max_features=1 / 3, random_state=seed, **settings)
            numbers.fit(table, targets[:, 0] if targets.shape[1] == 1 else targets)
            return lambda rows: np.asarray(numbers.predict(rows)).reshape(len(rows), -1)
        forest = RandomForestClassifier(n_trees, oob_score=True, random_state=seed, **settings)
        forest.fit(table, targets[:, 0] > 0.5 if targets.shape[1] == 1 else targets.argmax(axis=1))
        places = forest.classes_.astype(int) - (targets.shape[1] == 1)  # of the columns; the first of two has none

        def votes(shares: Array) -> Array:
            # One vote more for every class (Laplace): trees that all agree are sure, but not infinitely.
            found = np.zeros((len(shares), targets.shape[1]))
            found[:, places[places >= 0]] = shares[:, places >= 0]
            return np.asarray(logit((n_trees * found + 1) / (n_trees + max(2, targets.shape[1]))))

        # Forests are less sure than they could be, so their votes for bags that a tree has not seen set the scale.
        unseen = votes(forest.oob_decision_function_)
        scales = _by_column(lambda: LogisticRegression(), lambda k: unseen[:, [k]], targets)

        def logits(rows: Array) -> Array:
            found = votes(forest.predict_proba(rows))
            return np.column_stack([scale(found[:, [k]]) for k, scale in enumerate(scales)])

        return logits

    return fit


def _linear(classes: bool, penalty: float) -> Callable[[Array, Array], Callable[[Array], Array]]:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        if not classes:
            numbers = make_pipeline(StandardScaler(), Ridge(alpha=1 / penalty)).fit(table, targets)
            return lambda rows: np.asarray(numbers.predict(rows)).reshape(len(rows), -1)
        scaler = StandardScaler().fit(table)
        scaled = scaler.transform(table)
        lines = _by_column(lambda: LogisticRegression(C=penalty, max_iter=1000), lambda k: scaled, targets)
        return lambda rows: np.column_stack([line(scaler.transform(rows)) for line in lines])

    return fit


def _by_column(
    unfitted: Callable[[], Any], table: Callable[[int], Array], targets: Array
) -> list[Callable[[Array], Array]]:
    """Return a function from rows to logits (b,) for each column of 0 and 1, fitted to a table.

    With three classes or more, the only bag of a class may be held out: its column is then constant.
    """
    found: list[Callable[[Array], Array]] = []
    for k, target in enumerate(targets.T):
        if target.min() < target.max():
            found.append(unfitted().fit(table(k), target).decision_function)
        else:
            found.append(functools.partial(_always, _usual(target)))
    return found


def _always(level: float, rows: Array) -> Array:
    return np.full(len(rows), level)

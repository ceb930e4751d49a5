"""Which bag problem is it? Facts about the data, and how well each kind of rule and sober baselines do on it."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import typical_values
from fuzzymil.learn.choose._baselines import FOREST, LINEAR, NOTHING, SIZE, baselines, n_fits
from fuzzymil.learn.choose._choice import MOST_BAGS, choose_rules
from fuzzymil.learn.choose._families import KIND_WORDS
from fuzzymil.learn.choose._path import costs
from fuzzymil.learn.choose._selection import N_FOLDS
from fuzzymil.learn.choose._verdict import Evidence, Verdict, leaks, meanings, strongest_first, verdict
from fuzzymil.learn.train.scaling import Scaling
from fuzzymil.rules import RuleBase

__all__ = ["DataDiagnosis", "Measure", "Method", "Sizes", "diagnose"]

_TITLES = {
    **KIND_WORDS,
    "both": "short rules and prototypes",
    SIZE: "number of instances",
    FOREST: "forest on bag statistics",
    LINEAR: "{line} on bag statistics",
    NOTHING: "{nothing}",
}
_HEADINGS = {"explained": "deviance explained", "R2": "R²"}
_SHOWN_RULES = 5
_SHOWN_TERMS = 4  # conditions of a rule
_WIDTH = 110


class Measure(NamedTuple):
    """Mean and standard deviation of a measure over n folds.

    Examples
    --------
    >>> Measure(0.9, 0.05, 5).mean
    0.9
    """

    mean: float
    std: float
    n: int


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
        "counts", "prototypes", or "both" of short rules and prototypes. "size": the number of instances tells as much;
        "unexplained": only baselines do better than chance; "none": no method certainly does; "few": too few bags to
        hold some out.
    verdict : tuple of str
        One or two sentences about it.
    warnings : tuple of str
        Sizes or features that give the label away.
    methods : tuple of Method
        Held-out results of each kind of rules and of the baselines, all on the same folds.
    rules : RuleBase
        Chosen from all bags.

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
        return "\n".join([*lines, "", *self._shown])

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
        }


def diagnose(
    bags: Bags,
    targets: Array,
    groups: Array,
    *,
    places: Array,
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
    places : array of int
        The bags to use; the facts are about all.
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
    seed = int(rng.randint(2**31 - 1))
    if len(places) > MOST_BAGS:  # the methods are compared on the bags that rules are chosen from
        places = np.sort(rng.choice(places, MOST_BAGS, replace=False))
    sample, wanted, classes_of = bags[places], targets[places], groups[places]
    done, extra = 0, n_fits(sample, N_FOLDS)

    def show(now: int, total: int, stage: str) -> None:
        nonlocal done
        done = now
        progress(done, total + extra, stage)

    choice = choose_rules(
        sample,
        wanted,
        np.ones(len(wanted)),
        classes_of,
        scaling=scaling,
        classes=classes,
        outputs=outputs,
        n_rules=n_rules,
        max_conditions=max_conditions,
        n_members=1,
        rng=rng,
        gaps=typical_values(sample, 1),
        progress=show,
    )
    rules = choice.members[0]
    found = Verdict("few", (_too_few(sample, classes),))
    methods: tuple[Method, ...] = ()
    if choice.held_out is not None:
        start = done

        def tick() -> None:
            nonlocal done
            done += 1
            progress(done, start + extra, "simple methods")

        answers = _Answers(scaling.apply_to_targets(wanted), choice.held_out.folds, classes)
        families = answers.of_rules(choice.held_out.outputs, choice.families)
        others = baselines(
            sample.with_indicators(), answers.targets, answers.folds, classes=classes, seed=seed, tick=tick
        )
        unit = scaling.target_scale if len(outputs) == 1 else None
        everyone = families | others
        measured = {name: answers.measures(output, others[NOTHING], unit) for name, output in everyone.items()}
        methods = tuple(Method(_title(name, classes), name in others, each) for name, each in measured.items())
        evidence = Evidence(
            costs={name: answers.costs(output) for name, output in everyone.items()},
            explained={name: each["explained" if classes else "R2"].mean for name, each in measured.items()},
            accuracy={name: each["accuracy"].mean for name, each in measured.items()} if classes else {},
        )
        found = verdict(evidence, rules, sample, list(families))
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
        _shown=_shown(rules, sample, by_chance=found.kind == "none"),
    )


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

    def of_rules(self, outputs: dict[str, Array], families: Sequence[str]) -> dict[str, Array]:
        """Return the outputs of each kind of rules: of prototypes, the best width; of mixtures, only a chosen one."""
        widths = {name: output for name, output in outputs.items() if name.startswith("prototypes")}
        found = {name: output for name, output in outputs.items() if name != "both" and name not in widths}
        if widths:
            found["prototypes"] = min(widths.values(), key=lambda output: float(self.costs(output).mean()))
        if len(families) > 1:
            found["both"] = outputs["both"]
        return found

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

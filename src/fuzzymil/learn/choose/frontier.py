"""The frontier: the best rule base of each size, and what bags that it has not seen say of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_softmax
from scipy.stats import rankdata

from fuzzymil._utils import html
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.rules import RuleBase
from fuzzymil.rules.premise import ANYTHING

MEASURES = {
    "AUC": "AUC",
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "R2": "R²",
    "RMSE": "RMSE",
}
"""Measures of held-out bags, and what they are called."""


PROTOTYPE = "prototype"  # how the sets of prototypes are called, with a number
_CERTAIN = 2.0  # standard errors


class Measure(NamedTuple):
    """Mean and standard deviation of a measure over n parts of the bags that were held out.

    Examples
    --------
    >>> print(Measure(0.9, 0.04, 4))
    0.900 ± 0.020
    """

    mean: float
    std: float
    n: int

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.std / float(np.sqrt(self.n))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.error:.3f}"


class Folds(NamedTuple):
    """Repeated divisions of bags into parts that are held out in turn: ``parts`` (repeats, b)."""

    parts: Array

    def __iter__(self) -> Iterator[tuple[Array, Array]]:  # type: ignore[override]
        """Yield which bags are used and which are held out, as positions."""
        for parts in self.parts:
            for part in range(int(parts.max()) + 1):
                yield np.flatnonzero(parts != part), np.flatnonzero(parts == part)

    @property
    def n_parts(self) -> int:
        """Number of parts of each division."""
        return int(self.parts[0].max()) + 1


def measure(outputs: Array, targets: Array, folds: Folds, *, classes: bool, unit: float | None) -> dict[str, Measure]:
    """Return measures of held-out outputs, and their standard errors over the parts.

    Shapes: ``outputs`` (repeats, b, k), ``targets`` (b, k). ``unit``: of a single number, for the RMSE.
    """
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for parts, output in zip(folds.parts, outputs, strict=True):
        for part in range(folds.n_parts):
            held = parts == part
            said, true = output[held], targets[held]
            if not classes:
                spread = np.square(true - targets[~held].mean(axis=0)).sum()
                note("R2", 1.0 - float(np.square(said - true).sum() / spread) if spread > 0 else 0.0)
                if unit is not None:
                    note("RMSE", unit * float(np.sqrt(np.square(said - true).mean())))
                continue
            areas = [
                _area(wanted > 0.5, values)
                for wanted, values in zip(true.T, said.T, strict=True)
                if wanted.min() < wanted.max()
            ]
            if areas:
                note("AUC", float(np.mean(areas)))
            if true.shape[1] == 1:
                note("accuracy", float(np.mean((said > 0) == (true > 0.5))))
                note("log_loss", float(np.mean(np.logaddexp(0.0, said) - true * said)))
            else:
                note("accuracy", float(np.mean(said.argmax(axis=1) == true.argmax(axis=1))))
                note("log_loss", float(-np.mean((true * log_softmax(said, axis=1)).sum(axis=1))))
    # Repeats divide the same bags again: they steady the mean, but are no further evidence.
    return {
        name: Measure(float(np.mean(each)), float(np.std(each, ddof=1)), folds.n_parts) for name, each in found.items()
    }


def _area(positive: Array, values: Array) -> float:
    """Return the area under the ROC curve: how often a positive bag has the greater value; half if they are equal."""
    ranks = rankdata(values)[positive]
    n = len(ranks)
    return float((ranks.sum() - n * (n + 1) / 2) / (n * (len(values) - n)))


@dataclasses.dataclass(frozen=True)
class FrontierPoint:
    """The best rule base of a size.

    Attributes
    ----------
    size : int
        Maximum number of rules that the search was given.
    n_rules, n_conditions : int
        Numbers of rules, of all classes together, and of conditions. A rule that asks nothing does not count.
    rules : RuleBase
    measures : dict of str to Measure
        What held-out bags say: "AUC", "accuracy" and "log_loss" of classes, "R2" and "RMSE" of numbers. Empty with too
        few bags to hold some out.
    support : float
        Standard errors by which the rules cost less than none on held-out bags; NaN if nothing was held out.
    n_prototypes : int
        Number of rules that compare instances with a typical one in all features.
    recurrence : tuple of float
        In which share of the searches on parts of the bags each rule came back: a rule about the same features, with
        the same quantifiers and directions. One number per rule of ``rules``; empty if nothing was held out.
    """

    size: int
    n_rules: int
    n_conditions: int
    rules: RuleBase
    measures: dict[str, Measure]
    support: float
    n_prototypes: int = 0
    recurrence: tuple[float, ...] = ()

    @classmethod
    def of(
        cls,
        size: int,
        rules: RuleBase,
        measures: dict[str, Measure],
        support: float,
        recurrence: tuple[float, ...] = (),
    ) -> FrontierPoint:
        """Count the rules and conditions of a rule base."""
        counts = [max(len(rule.conditions), 1) for rule in rules.rules if rule.premise != ANYTHING]
        n_prototypes = sum(any(each.term.startswith(PROTOTYPE) for each in rule.conditions) for rule in rules.rules)
        return cls(size, len(counts), sum(counts), rules, measures, support, n_prototypes, recurrence)

    def with_rules(self, rules: RuleBase) -> FrontierPoint:
        """Return the same with some of its rules, whose conclusions may be others."""
        known = dict(zip((rule.premise for rule in self.rules.rules), self.recurrence, strict=False))
        recurrence = tuple(known[rule.premise] for rule in rules.rules if rule.premise in known)
        return FrontierPoint.of(self.size, rules, self.measures, self.support, recurrence)


@dataclasses.dataclass(frozen=True)
class Frontier:
    """The best rule base of each size, from none to many rules.

    Attributes
    ----------
    points : tuple of FrontierPoint
        By size, ascending; the first has no rules.
    chosen : int
        Position of the point that is the model.
    n_folds : int
        Number of parts of the training bags that were held out in turn; 0 if there were too few bags.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_planted
    >>> model = RuleClassifier(max_rules=3, random_state=0).fit(make_planted("count", 100, n_noise=2, random_state=0))
    >>> [point.size for point in model.frontier_]
    [0, 1, 2, 3]
    >>> model.frontier_[model.frontier_.chosen].n_rules
    1
    """

    points: tuple[FrontierPoint, ...]
    chosen: int
    n_folds: int

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, position: int) -> FrontierPoint:
        return self.points[position]

    def __iter__(self) -> Iterator[FrontierPoint]:
        return iter(self.points)

    def place(self, n_rules: int) -> int:
        """Return the position of the largest point with at most so many rules; of short ones, if there are such."""
        if n_rules < 0:
            raise ParameterError(f"n_rules must be at least 0, got {n_rules}.")
        found = [
            place
            for place, point in enumerate(self.points)
            if (point.size if point.n_prototypes else point.n_rules) <= n_rules
        ]
        if not found:
            raise ParameterError(f"The smallest rule base that is stored has {self.points[0].n_rules} rules.")
        return found[-1]

    def with_rules(self, change: Callable[[RuleBase], RuleBase]) -> Frontier:
        """Return the same with every rule base changed."""
        return dataclasses.replace(self, points=tuple(point.with_rules(change(point.rules)) for point in self))

    @property
    def evidence(self) -> str:
        """What held-out bags say of the chosen rules, in a sentence."""
        if not self.n_folds:
            return "Too few bags to hold some out: nothing is known about bags that the rules have not seen."
        measures, nothing = self[self.chosen].measures, self[0].measures
        name = "AUC" if "AUC" in measures else "accuracy" if "accuracy" in measures else "R2"
        chosen = self[self.chosen]
        if not chosen.n_rules:
            return "No rules are certainly better than none on held-out bags."
        said = (
            f"Held-out {MEASURES[name]} {measures[name].mean:.2f} ± {measures[name].error:.2f} ({self.n_folds} folds); "
            f"without rules {nothing[name].mean:.2f}."
        )
        if not chosen.n_prototypes:
            return said
        return (
            f"{said} Short rules alone are clearly worse here: {chosen.n_prototypes} of the {chosen.n_rules} rules are "
            "prototypes, which compare an instance with a typical one in all features."
        )

    @property
    def stability(self) -> str:
        """How often the chosen rules came back in the searches on parts of the bags, in a sentence; empty if unknown.

        See ``recurrence`` of `FrontierPoint`.
        """
        found = self[self.chosen].recurrence
        if not found:
            return ""
        often = listed(f"rule {number} {share:.0%}" for number, share in enumerate(found, start=1))
        return f"Found again in the searches on parts of the bags: {often}."

    @property
    def doubt(self) -> str:
        """Why the chosen rules should not be believed; empty if nothing speaks against them."""
        chosen = self[self.chosen]
        if not self.n_folds:
            return ""
        if not chosen.n_rules:
            return (
                "On held-out bags, no rules are certainly better than none: the model always predicts the same. "
                "diagnose_data(bags) compares other methods."
            )
        if chosen.support < _CERTAIN:
            return (
                "These rules may be due to chance: on held-out bags, they are better than none by only "
                f"{max(chosen.support, 0.0):.1f} standard errors."
            )
        return ""

    def table(self) -> list[dict[str, Any]]:
        """Return one row of plain values for each point."""
        return [
            {
                "n_rules": point.n_rules,
                "n_prototypes": point.n_prototypes,
                "n_conditions": point.n_conditions,
                **{key: value for name, each in point.measures.items() for key, value in _cells(name, each)},
                "recurrence": float(np.mean(point.recurrence)) if point.recurrence else None,
                "chosen": number == self.chosen,
            }
            for number, point in enumerate(self)
        ]

    def __str__(self) -> str:
        return self._text(range(len(self)))

    def shortened(self, most: int) -> str:
        """Return the table with at most so many points: those with few rules, and the chosen one."""
        kept = list(range(1, len(self)))[:most]
        if self.chosen not in kept:
            kept = [self.chosen, *kept[: most - 1]] if not self.chosen else [*kept[: most - 1], self.chosen]
        return self._text(kept)

    def _text(self, places: Iterable[int]) -> str:
        rows = self._rows(places)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
        )

    def _rows(self, places: Iterable[int]) -> list[list[str]]:
        names = list(self[0].measures)
        head = ["rules", "conditions", *(MEASURES[name] for name in names), ""]
        return [head] + [
            [
                _counted(self[place]),
                str(self[place].n_conditions),
                *(str(self[place].measures[name]) for name in names),
                "<- chosen" if place == self.chosen else "",
            ]
            for place in places
        ]

    def _repr_html_(self) -> str:
        head, *rows = self._rows(range(len(self)))
        cells = [html.element("tr", *(html.element("th", cell) for cell in head))]
        cells += [html.element("tr", *(html.element("td", cell) for cell in row)) for row in rows]
        return html.fragment(html.element("table", *cells), html.line(self.evidence))


def _counted(point: FrontierPoint) -> str:
    return f"{point.n_rules} ({point.n_prototypes} prototypes)" if point.n_prototypes else str(point.n_rules)


def _cells(name: str, found: Measure) -> list[tuple[str, float]]:
    return [(name, found.mean), (f"{name}_se", found.error)]

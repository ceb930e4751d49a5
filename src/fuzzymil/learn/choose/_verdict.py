"""What held-out results say about the data, in words: which bag problem it is, and what looks like a leak."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import listed
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import bag_means
from fuzzymil.inference.membership import Bell, MembershipFunction, Sigmoid
from fuzzymil.learn.choose._baselines import FOREST, LINEAR, NOTHING, SIZE
from fuzzymil.rules import RuleBase
from fuzzymil.rules.premise import Is, Part, conditions

__all__ = ["Evidence", "Verdict", "leaks", "meanings", "strongest_first", "verdict"]

_BETTER_THAN_NOTHING = 3.0  # standard errors: the luckiest of several methods and penalties gets above 2 on noise
_CLEARLY = 2.0  # standard errors by which one method is better than another
_RELEVANT = 0.05  # of the deviance; smaller differences are not mentioned
_NEARLY_ALL = 0.8  # of what the best method explains
_LITTLE = 0.2  # of the deviance
_STRONG = 0.25  # of what the strongest rule does
_BY_CHANCE = 0.01  # expected number of features that separate the classes by chance, up to which one is reported
_SAME = 0.9999  # correlation at which a feature is the target


class Verdict(NamedTuple):
    """Which bag problem it is, and sentences about it."""

    kind: str
    sentences: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Held-out results that the verdict rests on.

    Attributes
    ----------
    costs : dict of str to array of shape (b,)
        Cost of each held-out bag, by method: families of rules and baselines.
    explained : dict of str to float
        Share of the deviance that a method explains, the mean over folds.
    accuracy : dict of str to float
        Mean accuracy by method; empty for numbers.
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


def verdict(evidence: Evidence, rules: RuleBase, bags: Bags, families: list[str]) -> Verdict:
    """Say which bag problem it is.

    Parameters
    ----------
    evidence : Evidence
    rules : RuleBase
        Chosen from all bags.
    bags : Bags
    families : list of str
        The names of the kinds of rules in the evidence, the simplest first.
    """
    methods = [name for name in evidence.costs if name != NOTHING]
    classes = bool(evidence.accuracy)
    best = evidence.best(methods)
    if evidence.better(best, NOTHING) < _BETTER_THAN_NOTHING:
        return Verdict("none", (_about_nothing(evidence, best, bags),))
    own = evidence.best(families)
    kind = next(name for name in families if not _worse(evidence, name, own))
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
    elif not len(strongest_first(rules, bags)[0]):
        sentences.append(
            f"Rules explain {evidence.said(own)} on held-out bags, but none was chosen from all bags: what they found "
            "is weak, and differs from fold to fold."
        )
    else:
        sentences.append(_about(kind, evidence, families, rules, bags))
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


def _about(kind: str, evidence: Evidence, families: list[str], rules: RuleBase, bags: Bags) -> str:
    """Return a sentence about the kind of rules that is needed, and how much simpler ones explain."""
    said = evidence.said(kind)
    if kind == "some":
        return _about_some(f"rules with one condition on some instance explain {said}.", evidence, rules, bags)
    simpler = [name for name in families[: families.index(kind)] if name != "prototypes"]
    explain = f"explain {said}, simpler rules {_share(evidence, evidence.best(simpler))}."
    if kind == "conjunctions":
        strongest = strongest_first(rules, bags)[0][:1]
        apart = len(strongest) and len(_parts(rules, strongest[0])) > 1
        return f"{_TOGETHER if apart else 'Several conditions in the same instance decide'}: such rules {explain}"
    if kind == "averages":
        return f"The bag as a whole decides: rules about averages over its instances {explain}"
    if kind == "counts":
        return f"More than one instance decides: rules that count instances or average over them {explain}"
    both = ", together with short rules," if kind == "both" else ""
    return f"Everything counts: prototypes over all features{both} {explain}"


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

    Parameters
    ----------
    bags : Bags
    targets : array of shape (b, k)
    groups : array of int, shape (b,)
        Class of each bag; not used for numbers.
    classes : bool
    """
    columns = np.column_stack([bags.sizes.astype(float), bag_means(bags)])
    complete = np.flatnonzero(~np.isnan(columns).any(axis=0))
    if classes:
        if _separations_by_chance(groups) * len(complete) > _BY_CHANCE:
            return ()
        found = [column for column in complete if _separates(columns[:, column], groups)]
        does = "separates the classes perfectly"
    else:
        found = [column for column in complete if _is_target(columns[:, column], targets)]
        does = "is the label, up to its scale"
    warnings = []
    if 0 in found:
        warnings.append(f"The number of instances {does}. Check that it is known before the label is.")
    features = [bags.names[column - 1] for column in found if column]
    if features:
        names = listed(map(repr, features))
        named = f"feature {names}" if len(features) == 1 else f"each of the features {names}"
        warnings.append(f"The mean of {named} in a bag {does}. Check that it was not made from the label.")
    return tuple(warnings)


def _separations_by_chance(groups: Array) -> float:
    """Return the probability that a column without ties separates the classes by chance."""
    counts = np.unique(groups, return_counts=True)[1]
    orders = math.lgamma(len(counts) + 1) + sum(math.lgamma(n + 1) for n in counts)
    return math.exp(orders - math.lgamma(len(groups) + 1))


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

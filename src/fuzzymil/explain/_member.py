"""One rule base and what it inferred: contributions, parts and witnesses for the explanations of all bags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.explain._conditions import Sight, conditions_at, decides
from fuzzymil.explain._shares import instance_shares, quantifier_shares
from fuzzymil.explain.parts import PartExplanation, Witness
from fuzzymil.network.inference import Activations
from fuzzymil.network.quantifiers import COUNTING
from fuzzymil.rules import RuleBase
from fuzzymil.rules.inference import clipped, matched
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import Part, Quantified, conditions


class Member:
    """A rule base, what it inferred about all bags, and what the explanations of all bags need of it."""

    def __init__(self, base: RuleBase, found: Activations, *, bags: Bags) -> None:
        self.base, self.found, self.offsets = base, found, bags.offsets
        self.params, self.masks, self.operators = base.compile()
        self.texts = source.statements(base)
        self.part_texts = list(map(_text, base.parts))
        self.places: list[list[int]] = [[] for _ in base.rules]  # of the parts of each rule
        for p, part in enumerate(base.parts):
            self.places[part.rule].append(p)
        given = matched(base, bags)
        self.given, self.seen = given.instances, clipped(base, given).instances
        self.columns, self.source = given.columns, bags.source

    def rows(self, b: int) -> slice:
        return slice(self.offsets[b], self.offsets[b + 1])

    def uncovered(self, b: int) -> bool:
        """Return whether the output is that of no rule: the sum of additive rules is meant even without terms."""
        return self.base.normalize and bool(np.isneginf(self.found.log_firing[b]).all())

    def contributions(self, b: int, threshold: float) -> Array:
        """Return the contribution of each rule to each score, (r, k); `baseline` is the rest of the score."""
        outputs = self.found.rule_outputs[b] - (threshold if self.base.normalize else 0.0)
        return np.asarray(self.found.normalized[b][:, None] * outputs)

    def baseline(self, b: int, target: int, threshold: float) -> float:
        """Return the part of the score that no rule contributed."""
        if self.base.normalize and not self.uncovered(b):
            return 0.0
        return self.base.default[target] - threshold

    def parts(self, b: int) -> Iterator[tuple[PartExplanation, ...]]:
        """Explain the parts of each rule."""
        log_truth, log_degrees = self.found.log_truth[self.rows(b)], self.found.log_degrees[b]
        shares = [self._shares(p, log_truth[:, p]) for p in range(len(self.base.parts))]
        witnesses = self._witnesses(b, log_truth, shares)
        for r, rule in enumerate(self.base.rules):
            own = self.places[r]
            deciding = 0 if len(own) == 1 else decides(self.base, rule.premise, log_degrees[own].tolist())
            yield tuple(
                PartExplanation(
                    text=self.part_texts[p],
                    premise=part.premise,
                    quantifier=part.quantifier,
                    count=part.count,
                    negated=part.negated,
                    deciding=n == deciding,
                    log_degree=float(log_degrees[p]),
                    log_truth=tuple(log_truth[:, p].tolist()),
                    shares=tuple(shares[p].tolist()),
                    witnesses=witnesses[p],
                )
                for n, (p, part) in enumerate((p, self.base.parts[p]) for p in own)
            )

    def _shares(self, p: int, log_truth: Array) -> Array:
        part, alpha = self.base.parts[p], self.params.alpha
        if part.quantifier is not None:
            return quantifier_shares(part.quantifier, part.count, log_truth)
        own = alpha[part.rule] if np.ndim(alpha) else alpha
        return instance_shares(self.operators.aggregation, log_truth[:, None], own)[:, 0]

    def _witnesses(self, b: int, log_truth: Array, shares: list[Array]) -> list[tuple[Witness, ...]]:
        """Return the witnesses of each part."""
        given, seen = self.given[self.rows(b)], self.seen[self.rows(b)]
        chosen = [_chosen_witnesses(part, log_truth[:, p], shares[p]) for p, part in enumerate(self.base.parts)]
        sights = [Sight(p, given[i], seen[i]) for p, instances in enumerate(chosen) for i in instances]
        conditions = iter(conditions_at(self.base, self.params, self.masks, sights, self.columns))
        return [
            tuple(
                Witness(i, float(shares[p][i]), float(log_truth[i, p]), next(conditions), *self._origin(b, i))
                for i in instances
            )
            for p, instances in enumerate(chosen)
        ]

    def _origin(self, b: int, instance: int) -> tuple[dict[str, Any] | None, str]:
        """Return where an instance of a bag comes from, as facts and in words."""
        if self.source is None:
            return None, ""
        place = int(self.offsets[b]) + instance
        return self.source.facts(place), self.source.text(place)


def _chosen_witnesses(part: Part, log_truth: Array, shares: Array) -> list[int]:
    """Return the positions of the instances that a part rests on."""
    if not any(True for _ in conditions(part.premise)):
        return []  # every instance satisfies it, so none of them tells anything
    if part.quantifier != "all" and np.isneginf(log_truth).all():
        return []
    if part.quantifier in COUNTING and part.count is not None:
        truest = np.argsort(-log_truth, kind="stable")[: part.count]
        return truest.tolist() if len(truest) == part.count and np.isfinite(log_truth[truest[-1]]) else []
    # Among equal shares the instance that satisfies the part best, then the first.
    return [int(np.lexsort((-log_truth, -shares))[0])]


def _text(part: Part) -> str:
    """Return a part as it is written in its rule."""
    whole = part.premise if part.quantifier is None else Quantified(part.quantifier, part.premise, part.count)
    return printer.premise_text(whole)

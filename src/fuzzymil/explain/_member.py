"""Rules and what they inferred: contributions, parts and witnesses for the explanations of all bags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.explain._conditions import Sight, conditions_at, decides
from fuzzymil.explain._shares import instance_shares, quantifier_shares
from fuzzymil.explain.joined import JoinedSet
from fuzzymil.explain.parts import PartExplanation, Witness
from fuzzymil.inference.quantifiers import COUNTING
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import SetActivations, clipped, joined_set, log_cuts, matched
from fuzzymil.rules.conclusion import WEIGHTED
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Part, Quantified, conditions


class Member:
    """A rule base, what it inferred about all bags, and what the explanations of all bags need of it."""

    def __init__(self, base: RuleBase, found: Any, *, bags: Bags) -> None:
        self.base, self.found, self.offsets = base, found, bags.offsets
        self.params, self.masks, self.operators = base.compile()
        self.texts = base.statements()
        self.part_texts = list(map(_text, base.parts))
        self.places: list[list[int]] = [[] for _ in base.rules]  # of the parts of each rule
        for p, part in enumerate(base.parts):
            self.places[part.rule].append(p)
        given = matched(base, bags)
        self.given, self.seen = given.instances, clipped(base, given).instances
        self.columns, self.source = given.columns, bags.source

    def rows(self, b: int) -> slice:
        return slice(self.offsets[b], self.offsets[b + 1])

    def infer(self, bags: Bags) -> Any:
        """Infer other bags with the same rules."""
        return self.base.infer(bags)

    @property
    def outputs(self) -> tuple[str, ...]:
        return self.base.output_names

    @property
    def default(self) -> tuple[float, ...]:
        return self.base.default

    @property
    def additive(self) -> bool:
        """Whether rules add to a default."""
        return not self.base.normalize

    def shares_sum_to_one(self, target: int) -> bool:
        """Return whether the output is a mean of conclusions, from each of which a threshold can be subtracted."""
        del target
        return self.base.normalize

    def uncovered(self, b: int, target: int) -> bool:
        """Return whether the output is that of no rule: the sum of additive rules is meant even without terms."""
        del target
        return self.base.normalize and bool(np.isneginf(self.found.log_firing[b]).all())

    def strengths(self, b: int, target: int) -> Array:
        """Return how much each rule counts, (r,)."""
        del target
        return np.asarray(self.found.normalized[b])

    def conclusions(self, b: int) -> Array:
        """Return what each rule concludes about each output, (r, k)."""
        return np.asarray(self.found.rule_outputs[b])

    def contributions(self, b: int, threshold: float) -> Array:
        """Return the contribution of each rule to each score, (r, k); `baseline` is the rest of the score."""
        means = [self.shares_sum_to_one(k) for k in range(len(self.outputs))]
        strengths = np.column_stack([self.strengths(b, k) for k in range(len(self.outputs))])
        said = self.conclusions(b) - threshold * np.array(means)
        return np.where(strengths == 0, 0.0, strengths * said)  # a rule may say nothing about an output

    def baseline(self, b: int, target: int, threshold: float) -> float:
        """Return the part of the score that no rule contributed."""
        if self.base.normalize and not self.uncovered(b, target):
            return 0.0
        return self.base.default[target] - threshold

    def concluded(self, r: int) -> str:
        """Return the conclusion of a rule as text, if it is not a number."""
        del r
        return ""

    def joined(self, b: int, target: int) -> JoinedSet | None:
        """Return the set that rules concluded, if they conclude sets."""
        del b, target
        return None

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


class SetMember(Member):
    """Rules that conclude sets: what they contribute are shares of the joined set."""

    found: SetActivations

    def __init__(self, base: RuleBase, found: SetActivations, *, bags: Bags) -> None:
        super().__init__(base, found, bags=bags)
        self.shares = [found.contributions(k) for k in range(len(base.outputs))]

    def shares_sum_to_one(self, target: int) -> bool:
        return bool(self.base.setting("defuzzify", target) != "sum")

    def uncovered(self, b: int, target: int) -> bool:
        return bool(self.found.uncovered_outputs[b, target])

    def strengths(self, b: int, target: int) -> Array:
        return np.asarray(self.shares[target].shares[b])

    def conclusions(self, b: int) -> Array:
        return np.column_stack([each.conclusions[b] for each in self.shares])

    def baseline(self, b: int, target: int, threshold: float) -> float:
        """Return the default where nothing is concluded; else what a bisector or a limit adds to the shares."""
        score = float(self.found.output[b, target]) - threshold
        if self.uncovered(b, target):
            return score
        rest = score - float(self.contributions(b, threshold)[:, target].sum())
        return rest if abs(rest) > _ROUNDING * (abs(score) + abs(threshold)) else 0.0

    def concluded(self, r: int) -> str:
        return self.base.concluded_text(r)

    def joined(self, b: int, target: int) -> JoinedSet | None:
        if self.base.setting("defuzzify", target) in WEIGHTED:
            return None
        firing = self.found.log_firing[[b]]
        membership, log_unit = joined_set(self.base, firing, target)
        cuts = np.exp(log_cuts(self.base, firing, target)[0])
        output, values = self.base.outputs[target], self.base.values_of(target)
        curves = {term: tuple(chosen(values).tolist()) for term, chosen in output.terms.items()}
        terms = dict(sorted((r, term) for term, rules in self.base.rules_by_term(target).items() for r in rules))
        return JoinedSet(
            output=output.name,
            unit=output.unit,
            values=tuple(values.tolist()),
            membership=tuple((np.exp(log_unit) * membership)[0].tolist()),
            sets={r: curves[term] for r, term in terms.items()},
            cuts={r: tuple(cuts[r].tolist()) for r in terms},
            point=float(self.found.output[b, target]),
        )


_ROUNDING = 1e-9  # of the score


def member_of(rules: RuleBase, found: Any, bags: Bags) -> Member:
    """Return what explanations need of rules, and of what they inferred about bags."""
    if isinstance(found, SetActivations):
        return SetMember(rules, found, bags=bags)
    return Member(rules, found, bags=bags)


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

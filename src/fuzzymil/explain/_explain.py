"""Explaining: from a bag and the rules that decided it to an `Explanation`.

Everything is read from the `Activations` that the prediction itself is computed from, so an explanation cannot disagree
with the prediction.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, known_name, listed
from fuzzymil._utils.runtime import in_64_bit
from fuzzymil.bags import Bags, Column, as_bags
from fuzzymil.explain._shares import instance_shares, quantifier_shares
from fuzzymil.explain.coverage import Coverage, Measured, Unusual
from fuzzymil.explain.explanation import (
    ConditionExplanation,
    Counterfactual,
    Explanation,
    JoinedSet,
    PartExplanation,
    RuleExplanation,
    Witness,
)
from fuzzymil.inference.activations import Activations
from fuzzymil.inference.membership import family
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES, missing_degrees
from fuzzymil.inference.quantifiers import COUNTING
from fuzzymil.rules import RuleBase
from fuzzymil.rules.activations import SetActivations, clipped, joined_set, log_cuts, matched
from fuzzymil.rules.conclusion import WEIGHTED
from fuzzymil.rules.premise import (
    And,
    Expression,
    Is,
    Not,
    Part,
    Quantified,
    conditions,
    negations,
    plain_conditions,
)
from fuzzymil.rules.rule import Variable

_ROUNDING = 1e-9  # of the score


def _flat(output: Array) -> Array:
    return output[:, 0] if output.shape[1] == 1 else output


@dataclasses.dataclass(frozen=True)
class Reading:
    """How a model reads the output of its rules.

    Parameters
    ----------
    predict, probability : callable
        Map outputs (n_bags, n_outputs) to predictions, one per bag, and to probabilities (n_bags, n_classes), if any.
    classes : sequence, optional
        The classes of a classifier: two for a single output, otherwise one per output.
    threshold : float
        Subtracted from an output to make the score.
    scale : str
        What the score of a classifier is: ``"decision value"`` or ``"logit"``.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> sure = Reading(lambda output: np.where(output[:, 0] > 0.5, "yes", "no"), classes=("no", "yes"), threshold=0.5)
    >>> explain(rules, [[[0.1], [0.8]]], reading=sure).prediction
    'no'
    """

    predict: Callable[[Array], Array] = _flat
    probability: Callable[[Array], Array] | None = None
    classes: Sequence[Any] | Array | None = None
    threshold: float = 0.0
    scale: str = "decision value"


NUMBERS = Reading()
"""The output itself is the prediction."""


def explain(
    rules: RuleBase | Sequence[RuleBase],
    bags: Any,
    bag: Any = None,
    *,
    position: int | None = None,
    output: str | None = None,
    reading: Reading = NUMBERS,
    coverage: Coverage | None = None,
) -> Explanation:
    """Explain the prediction for one bag.

    Parameters
    ----------
    rules : RuleBase, or sequence of these
        If there are several, their outputs are averaged.
    bags : Bags, or anything `as_bags` accepts
        A single bag, for example ``[instances]``, or several, of which ``bag`` or ``position`` selects one.
    bag : id, optional
        Which of several bags, by its id. The bags of a list are numbered from 0.
    position : int, optional
        Which of several bags, by its position.
    output : str, optional
        The output to explain. Default: the output of the predicted class, or the first output of a regressor.
    reading : Reading
        What the output means. Default: it is the prediction itself.
    coverage : Coverage, optional
        The training bags to compare with; its columns are those of the bags.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ... VARIABLE hue: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
    ... VARIABLE texture: smooth = Gaussian(0, 0.3)
    ... IF hue is blue AND texture is smooth THEN sky = 1
    ... IF hue is red THEN sky = 0
    ... ''', t_norm="min", aggregation="max")
    >>> found = explain(rules, [[[0.65, 0.1], [0.2, 0.9]]])
    >>> [(rule.name, rule.witness, round(rule.contribution, 3)) for rule in found.rules]
    [('Rule 1', 0, 0.593), ('Rule 2', 1, 0.0)]
    >>> print(found)
    Bag 0 (2 instances, numbered from 0): sky = 0.593.
    <BLANKLINE>
    Contributions to sky (strength x conclusion):
      +0.593 = 0.593 x 1  Rule 1, fires at 0.882, witness 0 (100%)
       0.000 = 0.407 x 0  Rule 2, fires at 0.607, witness 1 (100%)
      ------
      +0.593              sky
    <BLANKLINE>
    Rule 1: IF hue is blue AND texture is smooth THEN sky = 1
      Instance 0 satisfies it to 0.882:
        hue = 0.65     is blue    0.882  decisive
        texture = 0.1  is smooth  0.946
    <BLANKLINE>
    Rule 2: IF hue is red THEN sky = 0
      Instance 1 satisfies it to 0.607:
        hue = 0.2  is red  0.607  decisive
    <BLANKLINE>
    Without instance 0, sky would be 0.000553 (-0.592).
    Without instance 1, sky would be 1 (+0.407).
    """
    one = select_bag(as_bags(bags), bag, position)
    return explain_many(rules, one, output=output, reading=reading, coverage=coverage)[0]


def explain_many(
    rules: RuleBase | Sequence[RuleBase],
    bags: Any,
    positions: Iterable[int] | None = None,
    *,
    output: str | None = None,
    reading: Reading = NUMBERS,
    coverage: Coverage | None = None,
    activations: Sequence[Activations] | None = None,
) -> list[Explanation]:
    """Explain the predictions for many bags, with one inference for all of them.

    Parameters
    ----------
    rules, output, reading, coverage
        See `explain`.
    bags : Bags, or anything `as_bags` accepts
    positions : iterable of int, optional
        Positions of the bags to explain. Default: all.
    activations : sequence of Activations, optional
        What ``infer(bags)`` of each rule base returned, if that has been computed already.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> [found.bag for found in explain_many(rules, Bags.from_list([[[0.1], [0.8]], [[0.9]]], ids=["a", "b"]))]
    ['a', 'b']
    """
    bases = _check_members(rules)
    bags = as_bags(bags)
    inferred = [base.infer(bags) for base in bases] if activations is None else activations
    members = [
        SetMember(base, found, bags) if isinstance(found, SetActivations) else Member(base, found, bags)
        for base, found in zip(bases, inferred, strict=True)
    ]
    wanted = range(bags.n_bags) if positions is None else map(int, positions)
    compared = None if coverage is None else (coverage, coverage.measure(bags))
    return [_explanation(members, bags, b, output, reading, compared) for b in wanted]


def _explanation(
    members: Sequence[Member],
    bags: Bags,
    b: int,
    output: str | None,
    reading: Reading,
    compared: tuple[Coverage, Measured] | None,
) -> Explanation:
    """Explain the bag at position ``b``."""
    first, threshold = members[0], reading.threshold
    answer = np.mean([member.found.output[[b]] for member in members], axis=0)
    prediction = reading.predict(answer)[0]
    target = _target(first.base.output_names, output, prediction, reading)
    rules = [rule for m, member in enumerate(members) for rule in _rules_of(member, m, b, target, threshold, members)]
    rules.sort(key=lambda rule: (-abs(rule.contribution), -rule.strength, -_size(rule.outputs[target]), rule.member))
    uncovered = tuple(m for m, member in enumerate(members) if member.uncovered(b, target))
    # What additive rules start from, on average; or the output of normalized rules that do not fire.
    default = members[uncovered[0]].base.default if uncovered else None
    if not first.base.normalize:
        default = tuple(np.mean([member.base.default for member in members], axis=0).tolist())
    score = float(answer[0, target]) - threshold
    names = bags.feature_names or first.base.feature_names
    return Explanation(
        bag=_scalar(bags.ids[b]),
        n_instances=int(bags.sizes[b]),
        feature_names=first.base.feature_names,
        outputs=first.base.output_names,
        output=tuple(answer[0].tolist()),
        prediction=_scalar(prediction),
        classes=None if reading.classes is None else tuple(map(_scalar, reading.classes)),
        probability=None if reading.probability is None else tuple(reading.probability(answer)[0].tolist()),
        target=target,
        threshold=threshold,
        score=score,
        baseline=sum(member.baseline(b, target, threshold) for member in members) / len(members),
        log_firing=float(max(member.found.log_firing[b].max() for member in members)),
        coverage=None if compared is None else float(compared[1].coverage[b]),
        unusual=None if compared is None else _unusual(*compared, b, bags, names),
        uncovered=uncovered,
        default=default,
        additive=not first.base.normalize,
        scale=reading.scale,
        n_estimators=len(members),
        centered=threshold != 0 and first.is_mean(target),
        rules=tuple(rules),
        counterfactuals=_counterfactuals(members, bags[[b]], rules, target, score, reading),
        joined=first.joined(b, target) if len(members) == 1 else None,
    )


def _size(value: float) -> float:
    return 0.0 if np.isnan(value) else abs(value)  # a rule may say nothing about an output


def _unusual(known: Coverage, measured: Measured, b: int, bags: Bags, names: Sequence[str]) -> Unusual | None:
    """Return the most unusual value of a bag; None if all of its values are missing."""
    _, column, instance, value, high, share = (each[b].item() for each in measured)
    if np.isnan(value):
        return None
    limits = known.limits(column)
    meaning = None if column < 0 or bags.columns is None else bags.columns[column]
    ends = None if meaning is None or meaning.categories else tuple(meaning.shown(end) for end in limits)
    return Unusual(
        instance=None if column < 0 else instance,
        feature=None if column < 0 else names[column],
        value=value,
        high=high,
        share=share,
        limits=limits,
        shown=None if meaning is None else meaning.shown(value),
        shown_limits=None if ends is None or None in ends else (str(ends[0]), str(ends[1])),
    )


def _rules_of(
    member: Member, m: int, b: int, target: int, threshold: float, members: Sequence[Member]
) -> Iterator[RuleExplanation]:
    base, found = member.base, member.found
    contributions = member.contributions(b, threshold) / len(members)
    strengths, conclusions = member.strengths(b, target), member.conclusions(b)
    for r, (rule, parts) in enumerate(zip(base.rules, member.parts(b), strict=True)):
        yield RuleExplanation(
            member=m,
            index=r,
            name=f"{base.name_of(r)} of member {m + 1}" if len(members) > 1 else base.name_of(r),
            rule=rule,
            text=member.texts[r],
            log_firing=float(found.log_firing[b, r]),
            strength=float(strengths[r]),
            outputs=tuple(conclusions[r].tolist()),
            contributions=tuple(contributions[r].tolist()),
            contribution=float(contributions[r, target]),
            parts=tuple(parts),
            concluded=base.concluded_text(r) if base.concludes_sets else "",
            points=None if base.points is None else base.points[r],
        )


def _counterfactuals(
    members: Sequence[Member],
    bag: Bags,
    rules: list[RuleExplanation],
    target: int,
    score: float,
    reading: Reading,
) -> tuple[Counterfactual, ...]:
    """Infer the bag without each of its witnesses, all at once."""
    witnesses = list(dict.fromkeys(witness for rule in rules for witness in rule.witnesses))
    if bag.n_instances == 1 or not witnesses:
        return ()
    shorter = Bags(
        np.concatenate([np.delete(bag.instances, witness, axis=0) for witness in witnesses]),
        np.arange(len(witnesses) + 1) * (bag.n_instances - 1),
        feature_names=bag.feature_names,
    )
    found = [member.base.infer(shorter) for member in members]
    outputs = np.mean([each.output for each in found], axis=0)
    scores = outputs[:, target] - reading.threshold
    log_firing = np.max([each.log_firing.max(axis=1) for each in found], axis=0)
    predictions = reading.predict(outputs)
    return tuple(
        Counterfactual(
            instance=witness,
            score=float(scores[n]),
            change=float(scores[n]) - score,
            prediction=_scalar(predictions[n]),
            log_firing=float(log_firing[n]),
        )
        for n, witness in enumerate(witnesses)
    )


# ---------------------------------------------------------------------- which bag, which output


def select_bag(bags: Bags, bag: Any = None, position: int | None = None) -> Bags:
    """Return one of several bags, given by its id or by its position, as `Bags` of length 1.

    Neither is needed if there is only one bag.

    Examples
    --------
    >>> bags = Bags.from_list([[[1.0]], [[2.0], [3.0]]], ids=["a", "b"])
    >>> select_bag(bags, "b").n_instances, select_bag(bags, position=0).n_instances
    (2, 1)
    """
    ids = bags.ids.tolist()
    if bag is not None and position is not None:
        raise ParameterError("bag is an id and position a position: pass one of them.")
    if position is not None:
        if not isinstance(position, numbers.Integral) or not -len(ids) <= int(position) < len(ids):
            raise InputError(f"There is no position {position!r:.60}: positions range from 0 to {len(ids) - 1}.")
        return bags[[int(position)]]
    if bag is None:
        if len(ids) > 1:
            hint = " (Pass a single bag with several instances as [array].)" if len(ids) == bags.n_instances else ""
            raise InputError(
                f"X has {len(ids)} bags: select one by its id, for example bag={_scalar(bags.ids[0])!r}, or by its "
                f"position, position=0, or use explain_many.{hint}"
            )
        return bags
    if bag not in ids:
        hint = did_you_mean(bag, map(str, ids))
        if isinstance(bag, numbers.Integral) and -len(ids) <= int(bag) < len(ids):
            hint = f" For the bag at this position, pass position={bag}."
        raise InputError(f"No bag {bag!r:.60}; the bags are {listed(ids)}.{hint}")
    return bags[[ids.index(bag)]]


def _check_members(rules: RuleBase | Sequence[RuleBase]) -> list[RuleBase]:
    members = [rules] if isinstance(rules, RuleBase) else list(rules)
    if not members or any(not isinstance(base, RuleBase) for base in members):
        raise ParameterError("explain needs a rule base, or a sequence of rule bases.")
    if len({(base.feature_names, base.output_names) for base in members}) > 1:
        raise ParameterError("Rule bases that are explained together must have the same features and outputs.")
    if len({base.normalize for base in members}) > 1:
        raise ParameterError("Rule bases that are explained together must all be normalized, or all additive.")
    return members


def _target(outputs: tuple[str, ...], wanted: str | None, prediction: Any, reading: Reading) -> int:
    if wanted is not None:
        known_name("output", wanted, outputs)
        return outputs.index(wanted)
    if reading.classes is None or len(outputs) == 1:
        return 0
    return [_scalar(label) for label in reading.classes].index(_scalar(prediction))


def _scalar(value: Any) -> Any:
    """Return a NumPy scalar as a Python object, and an array as a tuple."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


# ---------------------------------------------------------------------- the rules, and what they inferred


class Member:
    """A rule base, what it inferred about all bags, and what the explanations of all bags need of it."""

    def __init__(self, base: RuleBase, found: Any, bags: Bags) -> None:
        self.base, self.found, self.bags = base, found, bags
        self.params, self.masks, self.operators = base.compile()
        self.texts, self.part_texts = base.texts
        self.asked = [list(_asked(part)) for part in base.parts]
        self.missing = missing_degrees(self.params.sets, self.masks, self.params.missing_values)
        given = matched(base, bags)
        self.given, self.seen = given.instances, clipped(base, given).instances
        self.meanings: Sequence[Column | Variable] = given.columns or base.variables

    def is_mean(self, target: int) -> bool:
        """Return whether the output is a mean of conclusions, from each of which a threshold can be subtracted."""
        return self.base.normalize

    def uncovered(self, b: int, target: int) -> bool:
        """Return whether the output is that of no rule: the sum of additive rules is meant even without terms."""
        return self.base.normalize and bool(np.isneginf(self.found.log_firing[b]).all())

    def strengths(self, b: int, target: int) -> Array:
        """Return how much each rule counts, (r,)."""
        return np.asarray(self.found.normalized[b])

    def conclusions(self, b: int) -> Array:
        """Return what each rule concludes about each output, (r, k)."""
        return np.asarray(self.found.rule_outputs[b])

    def contributions(self, b: int, threshold: float) -> Array:
        """Return the contribution of each rule to each score, (r, k); `baseline` is the rest of the score."""
        outputs = range(len(self.base.output_names))
        strengths = np.column_stack([self.strengths(b, k) for k in outputs])
        said = self.conclusions(b) - threshold * np.array([self.is_mean(k) for k in outputs])
        return np.where(strengths == 0, 0.0, strengths * said)  # a rule may say nothing about an output

    def baseline(self, b: int, target: int, threshold: float) -> float:
        """Return the part of the score that no rule contributed."""
        if self.base.normalize and not self.uncovered(b, target):
            return 0.0
        return self.base.default[target] - threshold

    def joined(self, b: int, target: int) -> JoinedSet | None:
        """Return the set that rules concluded, if they conclude sets."""
        return None

    def parts(self, b: int) -> list[list[PartExplanation]]:
        """Explain the parts of each rule."""
        base, start = self.base, int(self.bags.offsets[b])
        log_truth, log_degrees = self.found.log_truth[start : self.bags.offsets[b + 1]], self.found.log_degrees[b]
        shares = [self._shares(p, log_truth[:, p]) for p in range(len(base.parts))]
        chosen = [_select_witnesses(part, log_truth[:, p], shares[p]) for p, part in enumerate(base.parts)]
        sights = [(p, start + i, i == instances[-1]) for p, instances in enumerate(chosen) for i in instances]
        met = iter(self._conditions(sights))
        degrees: list[list[float]] = [[] for _ in base.rules]
        for part, degree in zip(base.parts, log_degrees.tolist(), strict=True):
            degrees[part.rule].append(degree)
        deciding = [
            0 if len(own) == 1 else _decides(base, rule.premise, own)
            for rule, own in zip(base.rules, degrees, strict=True)
        ]
        source = self.bags.source
        found: list[list[PartExplanation]] = [[] for _ in base.rules]
        for p, part in enumerate(base.parts):
            witnesses = [
                Witness(
                    instance=i,
                    share=float(shares[p][i]),
                    log_truth=float(log_truth[i, p]),
                    conditions=next(met),
                    source=None if source is None else source.facts(start + i),
                    where="" if source is None else source.text(start + i),
                )
                for i in chosen[p]
            ]
            found[part.rule].append(
                PartExplanation(
                    text=self.part_texts[p],
                    premise=part.premise,
                    quantifier=part.quantifier,
                    count=part.count,
                    negated=part.negated,
                    deciding=len(found[part.rule]) == deciding[part.rule],
                    log_degree=float(log_degrees[p]),
                    log_truth=tuple(log_truth[:, p].tolist()),
                    shares=tuple(shares[p].tolist()),
                    witnesses=tuple(witnesses),
                )
            )
        return found

    def _shares(self, p: int, log_truth: Array) -> Array:
        part, alpha = self.base.parts[p], self.params.alpha
        if part.quantifier is not None:
            return quantifier_shares(part.quantifier, part.count, log_truth)
        own = alpha[part.rule] if np.ndim(alpha) else alpha
        return instance_shares(self.operators.aggregation, log_truth[:, None], own)[:, 0]

    def _conditions(self, sights: Sequence[tuple[int, int, bool]]) -> Iterator[tuple[ConditionExplanation, ...]]:
        """Yield the conditions of parts at instances, both given by their positions; some instances decide the part."""
        places = self.base.arrangement.places
        rows = [(*place, i) for p, i, _ in sights for place in places[p]]  # row and column of a set, and the instance
        log_mu = self._log_memberships(*np.array(rows, int).reshape(-1, 3).T)
        certain = [not np.isnan(self.seen[i, d]) for _, d, i in rows]
        for n, (row, d, _) in enumerate(rows):
            # Where a value is missing, its membership may be known nevertheless.
            if not certain[n] and self.missing is not None and self.missing.settled[row, d]:
                log_mu[n], certain[n] = self.missing.log_mu[row, d], True
        first = 0
        for p, i, decides in sights:
            own = slice(first, first + len(places[p]))
            first = own.stop
            found = self._conditions_of(p, i, [d for _, d in places[p]], log_mu[own].tolist(), certain[own])
            yield found if decides else tuple(dataclasses.replace(each, limiting=False) for each in found)

    def _log_memberships(self, rows: Array, columns: Array, instances: Array) -> Array:
        """Return the log-membership (n,) of instances in the sets at these places."""
        x, found = self.seen[instances, columns], np.zeros(len(rows))
        with np.errstate(all="ignore"), in_64_bit():
            for kind, sets in self.params.sets.items():
                own = np.asarray(self.masks[kind])[rows, columns] > 0
                parameters: Any = (np.asarray(values)[rows[own], columns[own]] for values in sets)
                given: Any = x[own]
                found[own] = np.asarray(family(kind).log_mu(given, *parameters))
        return found

    def _conditions_of(
        self, p: int, i: int, columns: Sequence[int], log_mu: Sequence[float], certain: Sequence[bool]
    ) -> tuple[ConditionExplanation, ...]:
        """Return the conditions of one part at one instance, given its log-memberships, if these are certain."""
        asked, part = self.asked[p], self.base.parts[p]
        degrees = [
            # As in the network, an unknown membership counts in favor of the rule.
            _hedged(value, condition.hedges) if sure else -np.inf if negated else 0.0
            for (condition, negated), sure, value in zip(asked, certain, log_mu, strict=True)
        ]
        if plain_conditions(part.premise) is not None:
            limiting = int(np.argmin(degrees)) if degrees else None
        else:
            limiting = _decides(self.base, part.premise, degrees)
        found = []
        for n, ((condition, negated), d) in enumerate(zip(asked, columns, strict=True)):
            support = _hedged(degrees[n], ("not",)) if negated else degrees[n]
            given, seen = float(self.given[i, d]), float(self.seen[i, d])
            known = not np.isnan(seen)
            found.append(
                ConditionExplanation(
                    variable=condition.variable,
                    term=condition.term,
                    hedges=condition.hedges,
                    unit=self.base.variables[d].unit,
                    value=given if known else None,
                    counted_as=seen if known else None,
                    log_membership=degrees[n],
                    negated=negated,
                    log_support=support,
                    limiting=n == limiting and support < 0,
                    shown=self.meanings[d].shown(given) if known else None,
                )
            )
        return tuple(found)


class SetMember(Member):
    """Rules that conclude sets: what they contribute are shares of the joined set."""

    found: SetActivations

    def __init__(self, base: RuleBase, found: SetActivations, bags: Bags) -> None:
        super().__init__(base, found, bags)
        self.shares = [found.contributions(k) for k in range(len(base.outputs))]

    def is_mean(self, target: int) -> bool:
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


def _select_witnesses(part: Part, log_truth: Array, shares: Array) -> list[int]:
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


def _asked(part: Part) -> Iterator[tuple[Is, bool]]:
    """Yield the conditions of a part, and whether each is inside an odd number of NOTs."""
    for condition, inside in zip(conditions(part.premise), negations(part.premise), strict=True):
        yield condition, inside != part.negated


def _decides(base: RuleBase, asked: Expression, degrees: Sequence[float]) -> int | None:
    """Return the number of the condition, or of the quantified part, that decides a premise, given log-degrees.

    This is the least true part of an AND and the truest part of an OR, also inside a NOT (De Morgan's laws).
    """
    return _limiting(asked, enumerate(degrees), base)[1]


def _limiting(asked: Expression, degrees: Iterator[tuple[int, float]], base: RuleBase) -> tuple[float, int | None]:
    """Return the log-truth of a premise and the number of the condition that decides it."""
    if isinstance(asked, Is | Quantified):
        number, degree = next(degrees)
        return degree, number
    if isinstance(asked, Not):
        degree, number = _limiting(asked.part, degrees, base)  # type: ignore[assignment]
        return _hedged(degree, ("not",)), number
    parts = [_limiting(part, degrees, base) for part in asked.parts]
    if not parts:
        return 0.0, None
    join, pick = (T_NORMS[base.t_norm], min) if isinstance(asked, And) else (S_NORMS[base.s_norm], max)
    degrees_of_parts: Any = np.array([degree for degree, _ in parts])
    with np.errstate(all="ignore"), in_64_bit():
        joined = float(join(degrees_of_parts))
    return joined, pick(parts, key=lambda part: part[0])[1]


def _hedged(log_mu: float, hedges: tuple[str, ...]) -> float:
    if not hedges:
        return log_mu
    value: Any = np.float64(log_mu)
    with np.errstate(all="ignore"), in_64_bit():
        for hedge in reversed(hedges):
            value = HEDGES[hedge](value)
        return float(value)

"""From a bag and the rules that decided it to an `Explanation`: rule, witness instance, memberships.

Everything is read from the `Activations` that the prediction itself is computed from, so that an explanation cannot
disagree with it.
"""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, did_you_mean, known_name, listed
from fuzzymil.bags import Bags, as_bags
from fuzzymil.explain._shares import instance_shares
from fuzzymil.explain._witness import conditions_at
from fuzzymil.explain.explanation import ConditionExplanation, Counterfactual, Explanation, RuleExplanation
from fuzzymil.network.inference import Activations
from fuzzymil.rules import RuleBase

__all__ = [
    "NUMBERS",
    "ConditionExplanation",
    "Counterfactual",
    "Explanation",
    "Reading",
    "RuleExplanation",
    "chosen_bag",
    "explain",
]


def _flat(output: Array) -> Array:
    return output[:, 0] if output.shape[1] == 1 else output


@dataclasses.dataclass(frozen=True)
class Reading:
    """What a model makes of its rules' output.

    Parameters
    ----------
    predict : callable
        From outputs (n_bags, n_outputs) to predictions, one a bag.
    probability : callable, optional
        From outputs to probabilities (n_bags, n_classes).
    classes : sequence, optional
        Of a classifier: two for a single output, else one an output.
    threshold : float
        What is taken off an output to make the decision value.

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


NUMBERS = Reading()
"""The output is the answer."""


def explain(
    rules: RuleBase | Sequence[RuleBase],
    bags: Any,
    bag: Any = None,
    *,
    output: str | None = None,
    reading: Reading = NUMBERS,
) -> Explanation:
    """Tell why a bag was decided as it was.

    Parameters
    ----------
    rules : RuleBase, or several whose outputs are averaged
    bags : Bags, or anything `as_bags` takes
        One bag, ``[instances]`` say; or several, one of which ``bag`` names.
    bag : id or position, optional
        Which of several bags. A whole number is an id where the ids are numbers, else a position.
    output : str, optional
        The output to explain. Default: that of the predicted class; of a regressor, the first.
    reading : Reading
        What the output means. Default: the answer itself.

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
    Bag 0 (2 instances, numbered from 0): the rules say sky = 0.593.
    The greatest firing strength is 0.882.
    <BLANKLINE>
    Contributions to sky, strength x conclusion:
      +0.593 = 0.593 x 1  Rule 1, fires at 0.882, witness 0 (100%)
       0.000 = 0.407 x 0  Rule 2, fires at 0.607, witness 1 (100%)
      ------
      +0.593              sky
    <BLANKLINE>
    Rule 1: IF hue is blue AND texture is smooth THEN sky = 1
      at instance 0, which satisfies it to 0.882:
        hue = 0.65     is blue    0.882  decisive
        texture = 0.1  is smooth  0.946
    <BLANKLINE>
    Rule 2: IF hue is red THEN sky = 0
      at instance 1, which satisfies it to 0.607:
        hue = 0.2  is red  0.607  decisive
    <BLANKLINE>
    Without instance 0 sky would be 0.000553 (-0.592), the greatest firing strength 0.607.
    Without instance 1 sky would be 1 (+0.407), the greatest firing strength 0.882.
    """
    members = _checked_members(rules)
    chosen = chosen_bag(as_bags(bags), bag)
    found = [rules.infer(chosen) for rules in members]
    answer = np.mean([each.output for each in found], axis=0)
    prediction = reading.predict(answer)[0]
    target = _target(members[0].outputs, output, prediction, reading)
    told = [
        rule
        for m, (base, activations) in enumerate(zip(members, found, strict=True))
        for rule in _rules_of(m, base, activations, chosen, target, len(members), reading.threshold)
    ]
    told.sort(key=lambda rule: (-abs(rule.contribution), -rule.strength, rule.member, rule.index))
    uncovered = tuple(m for m, each in enumerate(found) if each.uncovered[0])
    score = float(answer[0, target]) - reading.threshold
    return Explanation(
        bag=_scalar(chosen.ids[0]),
        n_instances=chosen.n_instances,
        feature_names=members[0].feature_names,
        outputs=members[0].outputs,
        output=tuple(answer[0].tolist()),
        prediction=_scalar(prediction),
        classes=None if reading.classes is None else tuple(map(_scalar, reading.classes)),
        probability=None if reading.probability is None else tuple(reading.probability(answer)[0].tolist()),
        target=target,
        threshold=reading.threshold,
        score=score,
        baseline=sum(_baseline(*each, target, reading.threshold) for each in zip(members, found, strict=True))
        / len(members),
        log_coverage=float(max(each.log_firing.max() for each in found)),
        uncovered=uncovered,
        default=members[uncovered[0]].default if uncovered else None,
        n_estimators=len(members),
        centered=reading.threshold != 0 and all(base.normalize for base in members),
        rules=tuple(told),
        counterfactuals=_counterfactuals(members, chosen, told, target, score, reading),
    )


# ---------------------------------------------------------------------- which bag, which output


def chosen_bag(bags: Bags, bag: Any = None) -> Bags:
    """Return the one bag that is meant, as `Bags` of length 1; see `explain`.

    Examples
    --------
    >>> chosen_bag(Bags.from_list([[[1.0]], [[2.0], [3.0]]], ids=["a", "b"]), "b")
    Bags(1 bag, 2 instances, 1 feature, 2 instances per bag)
    """
    if bag is None:
        if bags.n_bags > 1:
            hint = " (One bag of several instances is given as [array].)" if bags.n_bags == bags.n_instances else ""
            raise InputError(
                f"There are {bags.n_bags} bags: say which one to explain, bag={_scalar(bags.ids[0])!r} say "
                f"(an id, or a position), or use explain_many for all of them.{hint}"
            )
        return bags
    ids = bags.ids.tolist()
    numbered = all(isinstance(known, numbers.Number) for known in ids)
    if isinstance(bag, numbers.Integral) and not numbered:
        if not -len(ids) <= int(bag) < len(ids):
            raise InputError(f"There is no bag at position {bag}: there are {len(ids)}, 0 to {len(ids) - 1}.")
        return bags[[int(bag)]]
    if bag not in ids:
        raise InputError(f"There is no bag {bag!r}; the bags are {listed(ids)}.{did_you_mean(bag, map(str, ids))}")
    return bags[[ids.index(bag)]]


def _checked_members(rules: RuleBase | Sequence[RuleBase]) -> list[RuleBase]:
    members = [rules] if isinstance(rules, RuleBase) else list(rules)
    if not members or any(not isinstance(base, RuleBase) for base in members):
        raise ParameterError("explain needs a rule base, or a list of them.")
    if len({(base.feature_names, base.outputs) for base in members}) > 1:
        raise ParameterError("Rule bases can be explained together if they have the same features and outputs.")
    return members


def _target(outputs: tuple[str, ...], wanted: str | None, prediction: Any, reading: Reading) -> int:
    if wanted is not None:
        known_name("output", wanted, outputs)
        return outputs.index(wanted)
    if reading.classes is None or len(outputs) == 1:
        return 0
    return [_scalar(label) for label in reading.classes].index(_scalar(prediction))


def _scalar(value: Any) -> Any:
    """Return a NumPy value as Python's own; several as a tuple."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    return value.item() if isinstance(value, np.generic) else value


# ---------------------------------------------------------------------- the score, taken apart


def _contributions(base: RuleBase, found: Activations, threshold: float) -> Array:
    """Return what each rule adds to each score, (r, k); `_baseline` is the rest of the score."""
    outputs = found.rule_outputs[0] - (threshold if base.normalize else 0.0)
    return np.asarray(found.normalized[0][:, None] * outputs)


def _baseline(base: RuleBase, found: Activations, target: int, threshold: float) -> float:
    """Return what no rule added: the default where none fires; the threshold where strengths do not sum to one."""
    if found.uncovered[0]:
        return base.default[target] - threshold
    return 0.0 if base.normalize else -threshold


def _counterfactuals(
    members: list[RuleBase], bag: Bags, told: list[RuleExplanation], target: int, score: float, reading: Reading
) -> tuple[Counterfactual, ...]:
    """Infer the bag without each of its witnesses, all at once."""
    witnesses = list(dict.fromkeys(rule.witness for rule in told if rule.witness is not None))
    if bag.n_instances == 1 or not witnesses:
        return ()
    shorter = Bags(
        np.concatenate([np.delete(bag.instances, witness, axis=0) for witness in witnesses]),
        np.arange(len(witnesses) + 1) * (bag.n_instances - 1),
        feature_names=bag.feature_names,
    )
    found = [base.infer(shorter) for base in members]
    outputs = np.mean([each.output for each in found], axis=0)
    scores = outputs[:, target] - reading.threshold
    log_coverage = np.max([each.log_firing.max(axis=1) for each in found], axis=0)
    return tuple(
        Counterfactual(witness, float(new), float(new) - score, _scalar(predicted), float(left))
        for witness, new, predicted, left in zip(witnesses, scores, reading.predict(outputs), log_coverage, strict=True)
    )


# ---------------------------------------------------------------------- rules


def _rules_of(
    member: int, base: RuleBase, found: Activations, bag: Bags, target: int, n_estimators: int, threshold: float
) -> Iterator[RuleExplanation]:
    params, _, operators = base.compile()
    shares = instance_shares(operators.aggregation, found.log_truth, params.alpha)
    contributions = _contributions(base, found, threshold) / n_estimators
    # Of equal shares the instance that satisfies the rule best, then the first.
    witnesses = np.lexsort((-found.log_truth, -shares), axis=0)[0]
    given = base._matched(bag)
    conditions = conditions_at(base, given.instances[witnesses], base._within_limits(given).instances[witnesses])
    texts = base.to_text().split("\n")
    for r, rule in enumerate(base.rules):
        satisfied = bool(np.isfinite(found.log_truth[:, r]).any())
        name = f"Rule {r + 1}"
        yield RuleExplanation(
            member=member,
            index=r,
            name=name if n_estimators == 1 else f"{name} of member {member + 1}",
            rule=rule,
            text=texts[r].removeprefix(f"{name}: "),
            log_firing=float(found.log_firing[0, r]),
            strength=float(found.normalized[0, r]),
            outputs=tuple(found.rule_outputs[0, r].tolist()),
            contributions=tuple(contributions[r].tolist()),
            contribution=float(contributions[r, target]),
            witness=int(witnesses[r]) if satisfied else None,
            shares=tuple(shares[:, r].tolist()),
            log_truth=tuple(found.log_truth[:, r].tolist()),
            conditions=conditions[r] if satisfied else (),
        )

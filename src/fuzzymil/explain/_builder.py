"""From a bag and the rules that decided it to an `Explanation`: rules, witness instances, memberships.

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
from fuzzymil.bags import Bags, as_bags
from fuzzymil.explain._member import Member, member_of
from fuzzymil.explain.coverage import Coverage, Measured, Unusual
from fuzzymil.explain.explanation import Explanation
from fuzzymil.explain.parts import Counterfactual, RuleExplanation
from fuzzymil.inference.activations import Activations
from fuzzymil.rules import RuleBase


def _flat(output: Array) -> Array:
    return output[:, 0] if output.shape[1] == 1 else output


@dataclasses.dataclass(frozen=True)
class Reading:
    """How a model reads the output of its rules.

    Parameters
    ----------
    predict : callable
        Maps outputs (n_bags, n_outputs) to predictions, one per bag.
    probability : callable, optional
        Maps outputs to probabilities (n_bags, n_classes).
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
        A single bag, for example ``[instances]``, or several bags of which ``bag`` selects one.
    bag : id or position, optional
        Which of several bags. An integer is an id if the ids are numbers, otherwise a position.
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
    one = chosen_bag(as_bags(bags), bag)
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
    bases = _checked_members(rules)
    bags = as_bags(bags)
    inferred = [base.infer(bags) for base in bases] if activations is None else activations
    members = [member_of(*pair, bags) for pair in zip(bases, inferred, strict=True)]
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
    target = _target(first.outputs, output, prediction, reading)
    rules = [rule for m, member in enumerate(members) for rule in _rules_of(members, m, b, target, threshold)]
    rules.sort(
        key=lambda rule: (
            -abs(rule.contribution),
            -rule.strength,
            -_size(rule.outputs[target]),
            rule.member,
            rule.index,
        )
    )
    uncovered = tuple(m for m, member in enumerate(members) if member.uncovered(b, target))
    score = float(answer[0, target]) - threshold
    return Explanation(
        bag=_scalar(bags.ids[b]),
        n_instances=int(bags.sizes[b]),
        feature_names=first.base.feature_names,
        outputs=first.outputs,
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
        unusual=None
        if compared is None
        else _unusual(*compared, b, bags, bags.feature_names or first.base.feature_names),
        uncovered=uncovered,
        default=_default(members, uncovered),
        additive=first.additive,
        scale=reading.scale,
        n_estimators=len(members),
        centered=threshold != 0 and first.shares_sum_to_one(target),
        rules=tuple(rules),
        counterfactuals=_counterfactuals(members, bags[[b]], rules, target, score, reading),
        joined=first.joined(b, target) if len(members) == 1 else None,
    )


def _default(members: Sequence[Member], uncovered: Sequence[int]) -> tuple[float, ...] | None:
    """Return what additive rules start from, on average; or the output of normalized rules that do not fire."""
    if members[0].additive:
        return tuple(np.mean([member.default for member in members], axis=0).tolist())
    return members[uncovered[0]].default if uncovered else None


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


def _rules_of(members: Sequence[Member], m: int, b: int, target: int, threshold: float) -> Iterator[RuleExplanation]:
    member, several = members[m], len(members) > 1
    base, found = member.base, member.found
    contributions = member.contributions(b, threshold) / len(members)
    strengths, conclusions = member.strengths(b, target), member.conclusions(b)
    for r, (rule, parts) in enumerate(zip(base.rules, member.parts(b), strict=True)):
        yield RuleExplanation(
            member=m,
            index=r,
            name=f"{member.base.name_of(r)} of member {m + 1}" if several else member.base.name_of(r),
            rule=rule,
            text=member.texts[r],
            log_firing=float(found.log_firing[b, r]),
            strength=float(strengths[r]),
            outputs=tuple(conclusions[r].tolist()),
            contributions=tuple(contributions[r].tolist()),
            contribution=float(contributions[r, target]),
            parts=parts,
            concluded=member.concluded(r),
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
    found = [member.infer(shorter) for member in members]
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


def chosen_bag(bags: Bags, bag: Any = None) -> Bags:
    """Return one of several bags, as `Bags` of length 1.

    Parameters
    ----------
    bags : Bags
    bag : id or position, optional
        An integer is an id if the ids are numbers, otherwise a position. Not needed if there is only one bag.

    Examples
    --------
    >>> chosen_bag(Bags.from_list([[[1.0]], [[2.0], [3.0]]], ids=["a", "b"]), "b").n_instances
    2
    """
    if bag is None:
        if bags.n_bags > 1:
            hint = " (Pass a single bag with several instances as [array].)" if bags.n_bags == bags.n_instances else ""
            raise InputError(
                f"X has {bags.n_bags} bags: select one by its id or position, for example "
                f"bag={_scalar(bags.ids[0])!r}, or use explain_many.{hint}"
            )
        return bags
    ids = bags.ids.tolist()
    numbered = all(isinstance(known, numbers.Number) for known in ids)
    if isinstance(bag, numbers.Integral) and not numbered:
        if not -len(ids) <= int(bag) < len(ids):
            raise InputError(f"No bag at position {bag}: positions range from 0 to {len(ids) - 1}.")
        return bags[[int(bag)]]
    if bag not in ids:
        raise InputError(f"No bag {bag!r}; the bags are {listed(ids)}.{did_you_mean(bag, map(str, ids))}")
    return bags[[ids.index(bag)]]


def _checked_members(
    rules: RuleBase | Sequence[RuleBase],
) -> list[RuleBase]:
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

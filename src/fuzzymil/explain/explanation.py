"""Why a bag got its prediction, as an immutable value with a text form; `fuzzymil.explain.explain` makes it."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from fuzzymil._utils import html
from fuzzymil.explain._facts import Facts
from fuzzymil.explain._notebook import contributions_table
from fuzzymil.explain.coverage import UNUSUAL
from fuzzymil.explain.parts import Counterfactual, RuleExplanation, finite, plain
from fuzzymil.explain.text import (
    chance,
    condition_table,
    degree,
    evenly,
    folded,
    named,
    number,
    percent,
    rest_in_words,
    signed,
)
from fuzzymil.explain.words import rests_on, rule_in_words, score_name, scorecard, the_score

_MOST_RULES, _MOST_LINES, _MOST_WITHOUT = 5, 12, 6
_NEGLIGIBLE = 0.01  # of the greatest change
_HARDLY = 0.1  # of the greatest firing strength: without the instance, hardly any rule applies

__all__ = ["Explanation"]


@dataclasses.dataclass(frozen=True, repr=False)
class Explanation(Facts):
    """Why a bag got its prediction: print it, plot it with `plots.ExplanationDisplay`, or convert it with `to_dict`.

    Attributes
    ----------
    bag : object
        Id of the bag.
    n_instances : int
    feature_names, outputs : tuples of str
        Names of the features and outputs.
    output : tuple of float
        Output of the rules, one number per output.
    prediction : object
        The predicted class or number, or a tuple of numbers.
    classes : tuple or None
        The classes of a classifier.
    probability : tuple of float or None
        Probability of each class, for a classifier that has probabilities.
    target : int
        Position of the explained output.
    threshold : float
        Subtracted from an output to make its score.
    score : float
        The explained output minus the threshold: for a classifier the decision value (with several outputs, that of
        the explained class), for a regressor the prediction. It is ``baseline`` plus the rules' contributions.
    scale : str
        What the score of a classifier is: ``"decision value"`` or ``"logit"``.
    baseline : float
        The part that does not come from a rule. For additive rules, their default minus the threshold; for normalized
        rules, the default of members in which no rule fires.
    log_firing : float
        Logarithm of the greatest firing strength of any rule.
    coverage : float or None
        How usual the bag is: the share of the training bags that are at least as unusual, so 0 if it is more unusual
        than all of them. See `fuzzymil.explain.coverage`. None if the training bags are not known.
    unusual : Unusual or None
        What is most unusual about the bag.
    additive : bool
        Whether the output is the default plus what the rules add, rather than a mean of the rules' conclusions.
    uncovered : tuple of int
        Members with normalized rules of which none fires; their output is ``default``.
    default : tuple of float or None
        Output of those members, if there are any; for additive rules, what the sum starts from.
    n_estimators : int
        Number of members.
    centered : bool
        Whether contributions are ``strength * (conclusion - threshold)`` rather than ``strength * conclusion``.
    rules : tuple of RuleExplanation
        The rules of all members, largest contribution (in absolute value) first.
    counterfactuals : tuple of Counterfactual
        One per witness, in the order of the rules; none for a bag with a single instance.
    joined : JoinedSet or None
        Of Mamdani rules: their cut sets, the joined set, and its defuzzified point.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> from fuzzymil.explain import explain
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
    >>> found = explain(rules, [[[0.1], [0.9]]])
    >>> found
    Explanation(bag=0, score=0.5, 2 rules, 2 instances)
    >>> round(found.baseline + sum(rule.contribution for rule in found.rules), 2)
    0.5
    """

    def __repr__(self) -> str:
        predicted = "" if self.classes is None else f"prediction={self.prediction!r}, "
        return (
            f"Explanation(bag={self.bag!r}, {predicted}score={self.score:.4g}, "
            f"{len(self.rules)} rules, {self.n_instances} instances)"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, max_rules: int | None = None, max_conditions: int = 6) -> str:
        """Return the explanation as text.

        Parameters
        ----------
        max_rules : int, optional
            Number of rules to show, by contribution; the others are summed up in one line. Default: 5, or 12 lines of
            a scorecard.
        max_conditions : int
            Number of conditions to show per rule, by support, least first; the others are counted.
        """
        heading = [*_heading(self), *_compared(self), *_defaults(self)]
        if self.is_uncovered:
            return "\n".join(heading)
        if self.additive:
            most = _MOST_LINES if max_rules is None else max_rules
            shown, rest = list(self.rules[:most]), list(self.rules[most:])
            blocks = [heading, scorecard(self, shown, rest, max_conditions)]
        else:
            shown, rest = folded(self.rules, _MOST_RULES if max_rules is None else max_rules)
            blocks = [
                heading,
                _contributions(self, shown, rest),
                *(_rule(self, rule, max_conditions) for rule in shown),
            ]
        return "\n\n".join("\n".join(lines) for lines in (*blocks, _without(self, shown)) if lines)

    def _repr_html_(self) -> str:
        heading = [*_heading(self), *_compared(self), *_defaults(self)]
        if self.is_uncovered:
            return html.fragment(*map(html.line, heading))
        most = _MOST_LINES if self.additive else _MOST_RULES
        shown, rest = (list(self.rules[:most]), list(self.rules[most:])) if self.additive else folded(self.rules, most)
        return html.fragment(
            html.element("p", html.element("b", heading[0])),
            *map(html.line, heading[1:]),
            contributions_table(self, shown, rest),
            *(html.line(line, soft=True) for line in _without(self, shown)),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary that can be written as JSON; the logarithm of zero is None."""
        fields = {
            field.name: plain(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if field.name not in ("unusual", "rules", "counterfactuals", "joined")
        }
        return fields | {
            "log_firing": finite(self.log_firing),
            "firing": self.firing,
            "unusual": None if self.unusual is None else self.unusual.to_dict(),
            "is_uncovered": self.is_uncovered,
            "rules": [rule.to_dict() for rule in self.rules],
            "counterfactuals": [found.to_dict() for found in self.counterfactuals],
            **({} if self.joined is None else {"joined": self.joined.to_dict()}),
        }


# ---------------------------------------------------------------------- the text, block by block


def _heading(explanation: Explanation) -> list[str]:
    count = "1 instance" if explanation.n_instances == 1 else f"{explanation.n_instances:,} instances, numbered from 0"
    start = f"Bag {explanation.bag} ({count})"
    if explanation.classes is None:
        several = f" (explained: {score_name(explanation)})" if len(explanation.output) > 1 else ""
        return [f"{start}: {named(explanation.outputs, explanation.output)}{several}."]
    lines = [f"{start}: predicted {explanation.prediction}"]
    if explanation.probability is not None:
        place = explanation.classes.index(explanation.prediction)
        lines[0] += f", probability {chance(explanation.probability[place])}"
    scale = explanation.scale.capitalize()
    if len(explanation.outputs) == 1:
        if not explanation.additive:  # the scorecard ends with it
            lines.append(f"{scale} {signed(explanation.score)}")
            if len(explanation.classes) == 2:
                lines[1] += f" ({explanation.classes[1]} above 0)"
    else:
        others = ", ".join(
            f"{label} {number(answer)}"
            for k, (label, answer) in enumerate(zip(explanation.classes, explanation.output, strict=True))
            if k != explanation.target
        )
        label = explanation.classes[explanation.target]
        lines.append(f"{scale} of {label}: {number(explanation.score)} ({others})")
    return [f"{line}." for line in lines]


def _compared(explanation: Explanation) -> list[str]:
    """Return how usual the bag is and, if it is not, why."""
    if explanation.coverage is None:
        return []
    text = f"Coverage {explanation.coverage:.2f}"
    if explanation.coverage >= UNUSUAL or explanation.unusual is None:
        return [f"{text}."]
    return [f"{text}, unlike the training bags: {explanation.unusual}."]


def _defaults(explanation: Explanation) -> list[str]:
    if explanation.default is None or explanation.additive:
        return []
    default = named(explanation.outputs, explanation.default)
    if explanation.is_uncovered:
        return [f"No rule fires on this bag, so the answer is the default, {default}."]
    members = ", ".join(str(member + 1) for member in explanation.uncovered)
    return [f"In member {members} no rule fires on this bag; the default, {default}, is used there."]


def _contributions(explanation: Explanation, shown: list[RuleExplanation], rest: list[RuleExplanation]) -> list[str]:
    """Return the contributions in columns, then what is left over and the sum."""
    amounts = [rule.contribution for rule in shown]
    conclusions = [number(rule.outputs[explanation.target]) for rule in shown]
    less = f" - {number(explanation.threshold)}" if explanation.centered else ""
    by_members = f" / {explanation.n_estimators}" if explanation.n_estimators > 1 else ""
    factors = [
        f"{strength} x ({said}{less}){by_members}" if less else f"{strength} x {said}{by_members}"
        for strength, said in zip(evenly([r.strength for r in shown], signed=False), conclusions, strict=True)
    ]
    labels = [f"{rule.name}, fires at {degree(rule.log_firing)}{_witness(rule)}" for rule in shown]
    if rest:
        amounts.append(sum(rule.contribution for rule in rest))
        labels.append(rest_in_words(rest))
    if explanation.baseline:
        amounts.append(explanation.baseline)
        labels.append("baseline" if explanation.joined is None else "from the centroid to the bisector")
    amounts.append(explanation.score)
    labels.append(score_name(explanation))
    width = max(map(len, factors), default=0)
    words = ("strength", "conclusion")
    if any(rule.concluded for rule in explanation.rules):
        words = ("share", "number") if explanation.joined is None else ("share of the joined set", "its center")
    formula = f"{words[0]} x ({words[1]}{less})" if less else f"{words[0]} x {words[1]}"
    lines = [f"Contributions to {the_score(explanation)} ({formula}{' / members' if by_members else ''}):"]
    for place, (amount, label) in enumerate(zip(evenly(amounts), labels, strict=True)):
        factor = f"= {factors[place]}" if place < len(shown) else ""
        lines.append(f"  {amount} {factor:{width + 2}}  {label}")
    lines.insert(-1, f"  {'-' * len(evenly(amounts)[0])}")
    return lines


def _witness(rule: RuleExplanation) -> str:
    return "" if rule.witness is None else f", witness {rule.witness} ({percent(rule.share or 0.0)})"


def _rule(explanation: Explanation, rule: RuleExplanation, max_conditions: int) -> list[str]:
    """Return a rule as text, and what it rests on: for quantified parts in a line each, else in columns."""
    premise, conclusion = rule_in_words(explanation, rule, max_conditions)
    lines = [f"{rule.name}: IF {premise} THEN {conclusion}"]
    if any(part.quantifier is not None for part in rule.parts):
        return lines + [f"  {part.text} {rests_on(rule, part, max_conditions)}" for part in rule.parts]
    kept, left = rule.decisive[:max_conditions], rule.decisive[max_conditions:]
    for witness in rule.parts[0].witnesses:
        where = f" ({witness.where})" if witness.where else ""
        lines.append(f"  Instance {witness.instance}{where} satisfies it to {degree(witness.log_truth)}:")
    lines += [f"    {line}" for line in condition_table(kept)]
    if left:
        lines.append(f"    {len(left)} more, each at least {degree(left[0].log_support)}")
    return lines


def _without(explanation: Explanation, shown: list[RuleExplanation]) -> list[str]:
    if explanation.n_instances == 1:
        return ["The bag has a single instance, so none can be left out."]
    witnesses = {witness for rule in shown for witness in rule.witnesses}
    found = [each for each in explanation.counterfactuals if each.instance in witnesses]
    least = _NEGLIGIBLE * max((abs(each.change) for each in found), default=0.0)
    return [_would_be(explanation, each) for each in found if abs(each.change) >= least][:_MOST_WITHOUT]


def _would_be(explanation: Explanation, found: Counterfactual) -> str:
    text = f"Without instance {found.instance}, {the_score(explanation)} would "
    if number(found.score) == number(explanation.score):
        return f"{text}hardly change."
    text += f"be {number(found.score)} ({signed(found.change)})"
    if found.uncovered:
        text += ", the default, because no rule would fire"
    if explanation.classes is not None:
        text += f", {'still ' if found.prediction == explanation.prediction else ''}predicting {found.prediction}"
    hardly = found.log_firing < explanation.log_firing + math.log(_HARDLY)
    if hardly and not (found.uncovered or explanation.additive):  # additive rules need not fire: the default decides
        text += f"; but then no rule would fire at more than {degree(found.log_firing)}"
    return f"{text}."

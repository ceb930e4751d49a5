"""Explanations in words: plain sentences, and numbers in columns."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fuzzymil.explain.explanation import ConditionExplanation, Counterfactual, Explanation, RuleExplanation
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import And, Is

__all__ = ["degree", "evenly", "folded", "rest_in_words", "rule_in_words", "score_name", "the_score", "told"]

_NEGLIGIBLE = 1e-3  # of the strongest rule, and of the greatest contribution: nothing that three digits show


def told(explanation: Explanation, *, max_rules: int, max_terms: int) -> str:
    """Return an explanation as text; see `Explanation.to_text`."""
    if explanation.is_uncovered:
        return "\n".join([_opening(explanation), *_defaults(explanation)])
    shown, rest = folded(explanation.rules, max_rules)
    parts = [
        "\n".join([_opening(explanation), *_defaults(explanation), _coverage(explanation)]),
        "\n".join(_block(explanation, shown, rest)),
        *("\n".join(_witnessed(explanation, rule, max_terms)) for rule in shown),
        "\n".join(_without(explanation, shown)),
    ]
    return "\n\n".join(parts)


# ---------------------------------------------------------------------- shared with the figure


def folded(rules: Sequence[RuleExplanation], max_rules: int) -> tuple[list[RuleExplanation], list[RuleExplanation]]:
    """Split rules into those to show, the first of those that matter, and the rest."""
    strongest = max((rule.strength for rule in rules), default=0.0)
    most = max((abs(rule.contribution) for rule in rules), default=0.0)
    shown: list[RuleExplanation] = []
    rest: list[RuleExplanation] = []
    for rule in rules:
        matters = rule.strength >= _NEGLIGIBLE * strongest or abs(rule.contribution) >= _NEGLIGIBLE * most
        fires = math.isfinite(rule.log_firing)
        (shown if fires and matters and len(shown) < max_rules else rest).append(rule)
    return shown, rest


def rest_in_words(rest: Sequence[RuleExplanation]) -> str:
    """Name the rules that are not shown."""
    count = f"{len(rest)} further rule{'s' if len(rest) > 1 else ''}"
    if any(math.isfinite(rule.log_firing) for rule in rest):
        return count
    return f"{count} that do{'' if len(rest) > 1 else 'es'} not fire"


def score_name(explanation: Explanation) -> str:
    """Name what is explained: ``sky``, ``decision value``, ``decision value of fox``."""
    if explanation.classes is None:
        return printer.quoted(explanation.outputs[explanation.target])
    if len(explanation.outputs) == 1:
        return "decision value"
    return f"decision value of {explanation.classes[explanation.target]}"


def the_score(explanation: Explanation) -> str:
    """Return `score_name` as it stands in a sentence."""
    return ("" if explanation.classes is None else "the ") + score_name(explanation)


def rule_in_words(explanation: Explanation, rule: RuleExplanation, max_terms: int) -> tuple[str, str]:
    """Return premise and conclusion; a long conjunction by the conditions with the least support.

    Conditions in OR and NOT cannot be left out one by one: such a premise is given in full.
    """
    premise = printer.premise_text(rule.rule.premise)
    if rule.rule.is_plain and len(rule.conditions) > max_terms:
        kept = rule.decisive[:max_terms]
        premise = printer.premise_text(And(tuple(Is(c.variable, c.term, c.hedges) for c in kept)))
        premise += f" AND ... ({len(rule.conditions) - max_terms} more)"
    conclusion = ", ".join(
        printer.conclusion(output, row, explanation.feature_names, 4, max_terms)
        for output, row in zip(explanation.outputs, rule.rule.coefs, strict=True)
    )
    return premise, conclusion + printer.with_weight(rule.rule.weight, 4)


def degree(log_value: float, digits: int = 3) -> str:
    """Return a degree of truth, also where it is below the smallest number.

    Examples
    --------
    >>> degree(math.log(0.25)), degree(-1e4), degree(-math.inf)
    ('0.25', '1.14e-4343', '0')
    """
    value = math.exp(log_value)
    if value > 1e-300 or log_value == -math.inf:
        return printer.format_number(value, digits)
    exponent, rest = divmod(log_value / math.log(10), 1)
    mantissa = printer.format_number(10**rest, digits)
    return f"1e{int(exponent) + 1}" if mantissa == "10" else f"{mantissa}e{int(exponent)}"


def evenly(values: Sequence[float], *, signed: bool = True) -> list[str]:
    """Return numbers with the same decimals, as many as the greatest asks for, under one another.

    Examples
    --------
    >>> evenly([0.4021, -0.0213, 0.0])
    ['+0.402', '-0.021', ' 0.000']
    """
    size = max(map(abs, values), default=0.0)
    exponent = math.floor(math.log10(size)) if size > 0 else 0
    style = f"{'+' if signed else ''}.{max(2 - exponent, 0)}f" if -4 <= exponent <= 6 else f"{'+' if signed else ''}.2e"
    texts = [f"{value:{style}}" for value in values]
    if signed:  # what is shown as zero has no sign
        texts = [f" {text[1:]}" if not any(digit in text for digit in "123456789") else text for text in texts]
    return [text.rjust(max(map(len, texts))) for text in texts]


# ---------------------------------------------------------------------- sentences


def _opening(explanation: Explanation) -> str:
    count = f"{explanation.n_instances:,} instances, numbered from 0" if explanation.n_instances > 1 else "1 instance"
    start = f"Bag {explanation.bag} ({count})"
    answers = [_number(value) for value in explanation.output]
    if explanation.classes is None:
        said = ", ".join(f"{printer.quoted(n)} = {a}" for n, a in zip(explanation.outputs, answers, strict=True))
        more = f"; explained is {score_name(explanation)}" if len(answers) > 1 else ""
        return f"{start}: the rules say {said}{more}."
    place = explanation.classes.index(explanation.prediction)
    likely = "" if explanation.probability is None else f", with probability {_number(explanation.probability[place])}"
    text = f"{start}: {explanation.prediction} is predicted{likely}.\nThe {score_name(explanation)} is "
    if len(explanation.outputs) == 1:
        border = "" if len(explanation.classes) != 2 else ": above 0 it speaks for {1}, else for {0}"
        return f"{text}{explanation.score:+.3g}{border.format(*explanation.classes)}."
    others = ", ".join(
        f"{label} {answer}"
        for k, (label, answer) in enumerate(zip(explanation.classes, answers, strict=True))
        if k != explanation.target
    )
    return f"{text}{_number(explanation.score)} ({others})."


def _defaults(explanation: Explanation) -> list[str]:
    if explanation.default is None:
        return []
    given = ", ".join(
        f"{printer.quoted(name)} = {_number(value)}"
        for name, value in zip(explanation.outputs, explanation.default, strict=True)
    )
    if explanation.is_uncovered:
        return [f"No rule fires on this bag: this is the default, {given}."]
    silent = ", ".join(str(member + 1) for member in explanation.uncovered)
    return [f"No rule of member {silent} fires on this bag: the default, {given}, counts there."]


def _coverage(explanation: Explanation) -> str:
    return f"The greatest firing strength is {degree(explanation.log_coverage)}."


def _block(explanation: Explanation, shown: list[RuleExplanation], rest: list[RuleExplanation]) -> list[str]:
    """Return the contributions in columns, with what is left over and the sum."""
    amounts = [rule.contribution for rule in shown]
    conclusions = [_number(rule.outputs[explanation.target]) for rule in shown]
    less = f" - {_number(explanation.threshold)}" if explanation.centered else ""
    by_members = f" / {explanation.n_estimators}" if explanation.n_estimators > 1 else ""
    factors = [
        f"{strength} x ({said}{less}){by_members}" if less else f"{strength} x {said}{by_members}"
        for strength, said in zip(evenly([r.strength for r in shown], signed=False), conclusions, strict=True)
    ]
    labels = [_fires(rule) for rule in shown]
    if rest:
        amounts.append(sum(rule.contribution for rule in rest))
        labels.append(rest_in_words(rest))
    if explanation.baseline:
        amounts.append(explanation.baseline)
        labels.append("from no rule")
    amounts.append(explanation.score)
    labels.append(score_name(explanation))
    width = max(map(len, factors), default=0)
    formula = f"strength x (conclusion{less})" if less else "strength x conclusion"
    lines = [f"Contributions to {the_score(explanation)}, {formula}{' / members' if by_members else ''}:"]
    for place, (amount, label) in enumerate(zip(evenly(amounts), labels, strict=True)):
        factor = f"= {factors[place]}" if place < len(shown) else ""
        lines.append(f"  {amount} {factor:{width + 2}}  {label}")
    lines.insert(-1, f"  {'-' * len(evenly(amounts)[0])}")
    return lines


def _fires(rule: RuleExplanation) -> str:
    return f"{rule.name}, fires at {degree(rule.log_firing)}, witness {rule.witness} ({_percent(rule.share)})"


def _witnessed(explanation: Explanation, rule: RuleExplanation, max_terms: int) -> list[str]:
    """Return a rule in words, and its most decisive conditions at the witness in columns."""
    premise, conclusion = rule_in_words(explanation, rule, max_terms)
    lines = [f"{rule.name}: IF {premise} THEN {conclusion}"]
    kept, left = rule.decisive[:max_terms], rule.decisive[max_terms:]
    if kept and rule.witness is not None:
        lines.append(f"  at instance {rule.witness}, which satisfies it to {degree(rule.log_truth[rule.witness])}:")
    columns = [
        (_value(c), c.text.removeprefix(printer.quoted(c.variable)).strip(), degree(c.log_membership)) for c in kept
    ]
    widths = [max(map(len, column)) for column in zip(*columns, strict=True)]
    for condition, row in zip(kept, columns, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"    {cells}  {_remarks(condition)}".rstrip())
    if left:
        lines.append(f"    {len(left)} more, with {degree(left[0].log_support)} or more each")
    return lines


def _value(condition: ConditionExplanation) -> str:
    name = printer.quoted(condition.variable)
    if condition.value is None:
        return f"{name} missing"
    unit = f" {condition.unit}" if condition.unit else ""
    moved = condition.counted_as is not None and condition.counted_as != condition.value
    counted = f" (counts as {_number(condition.counted_as)})" if moved and condition.counted_as is not None else ""
    return f"{name} = {_number(condition.value)}{unit}{counted}"


def _remarks(condition: ConditionExplanation) -> str:
    return ", ".join(
        word for word, holds in (("in a NOT", condition.negated), ("decisive", condition.limiting)) if holds
    )


def _without(explanation: Explanation, shown: list[RuleExplanation]) -> list[str]:
    if explanation.n_instances == 1:
        return ["The bag has one instance: there is none to leave out."]
    witnesses = dict.fromkeys(rule.witness for rule in shown)
    return [_would_be(explanation, found) for found in explanation.counterfactuals if found.instance in witnesses]


def _would_be(explanation: Explanation, found: Counterfactual) -> str:
    new, change = _number(found.score), f"{found.change:+.3g}"
    text = f"Without instance {found.instance} {the_score(explanation)} would be {new} ({change})"
    if found.uncovered:
        text += ", the default, as no rule would fire"
    else:
        text += f", the greatest firing strength {degree(found.log_coverage)}"
    if explanation.classes is not None:
        still = "still " if found.prediction == explanation.prediction else ""
        text += f"; {found.prediction} would {still}be predicted"
    return f"{text}."


def _number(value: float) -> str:
    return printer.format_number(value, 3)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.{0 if share >= 0.1 else 1}f}%"

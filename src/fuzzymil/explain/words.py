"""Explanations in words, which text, figures and reports share: scores, rules, and what each part rests on."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from fuzzymil.explain._facts import Facts
from fuzzymil.explain.parts import ConditionExplanation, PartExplanation, RuleExplanation, Witness
from fuzzymil.explain.text import chance, degree, evenly, number, percent, rest_in_words, value_of
from fuzzymil.inference.quantifiers import COUNTING
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import And, Expression, Is, Quantified, conditions, parts_of, plain_conditions

__all__ = [
    "outcome",
    "in_short",
    "part_in_words",
    "pieces",
    "rests_on",
    "rule_in_words",
    "score_name",
    "scorecard",
    "start_in_words",
    "the_score",
]

_WIDTH = 80
_LISTED = 8  # instances
_ALIKE = 8  # conditions with the same term that are counted; fewer are named


# ---------------------------------------------------------------------- the score


def score_name(explanation: Facts) -> str:
    """Return the name of the explained score: ``sky``, ``decision value``, ``logit``, ``logit of fox``."""
    if explanation.classes is None:
        return printer.quoted(explanation.outputs[explanation.target])
    if len(explanation.outputs) == 1:
        return explanation.scale
    return f"{explanation.scale} of {explanation.classes[explanation.target]}"


def the_score(explanation: Facts) -> str:
    """Return `score_name` with its article, for use in a sentence: ``sky``, ``the decision value``."""
    return ("" if explanation.classes is None else "the ") + score_name(explanation)


def outcome(explanation: Facts) -> str:
    """Return what the score means: ``probability of yes: 0.67``; empty for numbers."""
    if explanation.classes is None or explanation.probability is None:
        return ""
    place = explanation.target if len(explanation.outputs) > 1 else len(explanation.classes) - 1
    return f"probability of {explanation.classes[place]}: {chance(explanation.probability[place])}"


# ---------------------------------------------------------------------- rules and their parts


def rule_in_words(explanation: Facts, rule: RuleExplanation, max_conditions: int) -> tuple[str, str]:
    """Return the premise and the conclusion of a rule as text.

    A long conjunction is shortened to the ``max_conditions`` conditions with the least support. A premise with OR or NOT is
    shown in full, because omitting a condition would change its meaning.
    """
    premise = printer.premise_text(rule.rule.premise)
    for part in rule.parts:
        premise = premise.replace(part.text, part_in_words(part, max_conditions), 1)
    conclusion = rule.concluded or printer.conclusions(
        explanation.outputs, rule.rule.coefs, explanation.feature_names, 4, max_conditions, adds=explanation.additive
    )
    return premise, conclusion + printer.with_weight(rule.rule.weight, 4)


def part_in_words(part: PartExplanation, max_conditions: int) -> str:
    """Return a part of a premise as text, a long conjunction shortened as in `rule_in_words`.

    Many conditions with the same term, as those of a prototype have it, are counted instead.
    """
    asked, short = plain_conditions(part.premise), _same_terms(part.premise)
    if short is not None:
        return part.text.replace(printer.premise_text(part.premise), short)
    if asked is None or len(asked) <= max_conditions or not part.witnesses:
        return part.text
    kept = And(tuple(Is(each.variable, each.term, each.hedges) for each in part.witnesses[0].decisive[:max_conditions]))
    more = f" AND ... ({len(asked) - max_conditions} more)"
    if part.quantifier is None:
        return printer.premise_text(kept) + more
    return printer.premise_text(Quantified(part.quantifier, kept, part.count)).removesuffix(")") + f"{more})"


def in_short(premise: Expression) -> str:
    """Return a premise as text, many conditions with the same term counted, as those of a prototype.

    Examples
    --------
    >>> in_short(And(tuple(Is(name, "prototype1") for name in "abcdefgh")))
    '8 features are prototype1'
    >>> in_short(And(tuple(Is(name, "high") for name in "abc")))
    'a is high AND b is high AND c is high'
    """
    text = printer.premise_text(premise)
    for part in parts_of(0, premise):
        short = _same_terms(part.premise)
        text = text if short is None else text.replace(printer.premise_text(part.premise), short, 1)
    return text


def _same_terms(premise: Expression) -> str | None:
    asked = plain_conditions(premise) or {}
    if len(asked) < _ALIKE or len(set(asked.values())) > 1:
        return None
    return f"{len(asked)} features are {printer.quoted(next(iter(asked.values())))}"


def rests_on(rule: RuleExplanation, part: PartExplanation, max_conditions: int) -> str:
    """Return which instances a part rests on, and their values.

    If the rule has several parts, the degree to which this one holds comes first.
    """
    found = _instances(part, max_conditions)
    return f"{degree(part.log_degree)}: {found}" if len(rule.parts) > 1 else found


def pieces(explanation: Facts, rule: RuleExplanation, max_conditions: int) -> list[tuple[str, list[str]]]:
    """Return the premise of a rule in pieces, each with what it rests on.

    Parts that are joined by AND are pieces of their own. Other premises are a single piece, with all of their parts.
    """
    if rule.rule.premise == And(tuple(part for part in _joined(rule))) and len(rule.parts) > 1:
        starts = ["", *["AND "] * (len(rule.parts) - 1)]
        return [
            (start + part_in_words(part, max_conditions), [rests_on(rule, part, max_conditions)])
            for start, part in zip(starts, rule.parts, strict=True)
        ]
    premise, _ = rule_in_words(explanation, rule, max_conditions)
    if len(rule.parts) == 1:
        return [
            (premise, [rests_on(rule, rule.parts[0], max_conditions)] if rule.rule.conditions or _counts(rule) else [])
        ]
    return [
        (
            premise,
            [f"{part_in_words(part, max_conditions)} {rests_on(rule, part, max_conditions)}" for part in rule.parts],
        )
    ]


def _joined(rule: RuleExplanation) -> Iterator[Quantified]:
    return (Quantified(part.quantifier, part.premise, part.count) for part in rule.parts if part.quantifier is not None)


def _counts(rule: RuleExplanation) -> bool:
    return any(part.quantifier is not None for part in rule.parts)


def _instances(part: PartExplanation, max_conditions: int) -> str:
    n_instances = len(part.log_truth)
    count = "1 instance" if n_instances == 1 else f"{n_instances:,} instances"
    if not part.witnesses:
        if part.quantifier in COUNTING and (part.count or 1) > n_instances:
            return f"the bag has only {count}"
        asks = next(conditions(part.premise), None) is not None
        return "no instance satisfies it at all" if asks else f"the bag has {count}"
    first = part.witnesses[0]
    if part.quantifier == "most":
        mean = sum(part.truth) / n_instances
        return f"{number(mean)} on average, most in instance {_at(first, max_conditions)}"
    if part.quantifier == "on average":
        return f"most in instance {_at(first, max_conditions)}"
    if part.quantifier == "all":
        return f"least in instance {_at(first, max_conditions)}"
    if len(part.witnesses) == 1:
        return f"instance {_at(first, max_conditions)}"
    places = _listed([f"{each.instance} ({each.row})" if each.row else str(each.instance) for each in part.witnesses])
    if len(first.conditions) == 1:
        (asked,) = first.conditions
        met = [each.conditions[0] for each in part.witnesses]
        known = [each.shown or ("missing" if each.value is None else number(each.value)) for each in met]
        unit = f" {asked.unit}" if asked.unit and asked.shown is None else ""
        return f"instances {places}: {printer.quoted(asked.variable)} = {_listed(known)}{unit}"
    last = part.witnesses[-1]
    return f"instances {places}, least in instance {last.instance}: {_values(last.decisive, max_conditions)}"


def _at(witness: Witness, max_conditions: int) -> str:
    share = "" if witness.share > 0.995 else percent(witness.share)
    said = "; ".join(filter(None, (share, witness.where)))
    return f"{witness.instance}{f' ({said})' if said else ''}: {_values(witness.decisive, max_conditions)}"


def _values(met: tuple[ConditionExplanation, ...], max_conditions: int) -> str:
    """Return the values of conditions, each with its degree of support if there are several."""
    degrees = [f" ({degree(each.log_support, 2)})" if len(met) > 1 else "" for each in met]
    values = [value_of(each) + support for each, support in zip(met, degrees, strict=True)][:max_conditions]
    more = len(met) - len(values)
    return ", ".join(values) + (f" and {more} more" if more else "")


def _listed(words: list[str]) -> str:
    shown = words if len(words) <= _LISTED else [*words[: _LISTED - 1], f"{len(words) - _LISTED + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


# ---------------------------------------------------------------------- the scorecard


def scorecard(
    explanation: Facts, shown: list[RuleExplanation], rest: list[RuleExplanation], max_conditions: int
) -> list[str]:
    """Return the sum of an additive explanation: the default, what each rule adds and why, and the score."""
    firing = evenly([rule.strength for rule in shown], signed=False)
    by_members = f" / {explanation.n_estimators}" if explanation.n_estimators > 1 else ""
    amounts, factors = [explanation.baseline], [""]
    notes: list[list[tuple[str, list[str]]]] = [[(start_in_words(explanation), [])]]
    for rule, fires in zip(shown, firing, strict=True):
        amounts.append(rule.contribution)
        factors.append(f"= {fires} x {number(rule.outputs[explanation.target])}{by_members}")
        (first, why), *others = pieces(explanation, rule, max_conditions)
        notes.append([(f"{rule.name}: {first}{printer.with_weight(rule.rule.weight, 4)}", why), *others])
    if rest:
        amounts.append(sum(rule.contribution for rule in rest))
        notes.append([(rest_in_words(rest), [])])
    meaning = outcome(explanation)
    amounts.append(explanation.score)
    notes.append([(score_name(explanation) + (f" -> {meaning}" if meaning else ""), [])])
    texts, wide = evenly(amounts), max(map(len, factors))
    lines = []
    for place, (amount, note) in enumerate(zip(texts, notes, strict=True)):
        if not any(digit in amount for digit in "123456789"):  # a long rule that adds nothing needs no details
            note = [(label, [line for line in why if len(line) < _WIDTH]) for label, why in note]
        start = f"  {amount} {factors[place] if place < len(factors) else '':{wide}}  "
        if place == len(texts) - 1:
            lines.append(f"  {'-' * len(amount)}")
        for label, why in note:
            lines += _hanging(start, label)
            start = " " * len(start)
            for line in why:
                lines += _hanging(f"{start}  ", line)
    return lines


def start_in_words(explanation: Facts) -> str:
    """Return what an additive explanation starts from."""
    mean = f" (mean of {explanation.n_estimators} members)" if explanation.n_estimators > 1 else ""
    less = f" - {number(explanation.threshold)}" if explanation.threshold else ""
    return f"default{mean}{less}"


def _hanging(start: str, text: str) -> list[str]:
    """Return text in lines of at most 80 characters, without a break between a name and its value."""
    lines = textwrap.wrap(
        text.replace(" = ", "\xa0=\xa0"),
        max(_WIDTH, len(start) + 30),
        initial_indent=start,
        subsequent_indent=" " * (len(start) + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ") for line in lines]

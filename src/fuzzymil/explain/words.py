"""Explanations as text; figures, notebooks, reports and the studio take their words and numbers from here, too.

`sum_lines` says what a score is made up of, `pieces` what a rule rests on, and `counterfactual_lines` what would change
without a witness: every view shows these.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from fuzzymil.explain.coverage import UNUSUAL
from fuzzymil.inference.quantifiers import COUNTING
from fuzzymil.rules.language import printer
from fuzzymil.rules.points import in_points
from fuzzymil.rules.premise import And, Expression, Is, Quantified, conditions, parts_of, plain_conditions

if TYPE_CHECKING:
    from fuzzymil.explain.explanation import (
        ConditionExplanation,
        Counterfactual,
        Explanation,
        PartExplanation,
        RuleExplanation,
        Witness,
    )

_WIDTH = 80
_LISTED = 8  # instances
_ALIKE = 8  # conditions with the same term that are counted; fewer are named
_MOST_RULES, _MOST_LINES, _MOST_WITHOUT = 5, 12, 6
_INVISIBLE = 1e-3  # relative to the strongest rule and the greatest contribution: not seen in three digits
_NEGLIGIBLE = 0.01  # of the greatest change
_ALIKE_CHANGE = 0.05  # of the greatest change: said in one line
_HARDLY = 0.1  # of the greatest firing strength: without the instance, hardly any rule applies


# ---------------------------------------------------------------------- numbers


def degree(log_value: float, digits: int = 3) -> str:
    """Return a degree of truth given its logarithm, even if it is below the smallest floating-point number."""
    value = math.exp(log_value)
    if value > 1e-300 or log_value == -math.inf:
        return printer.format_number(value, digits)
    exponent, rest = divmod(log_value / math.log(10), 1)
    mantissa = printer.format_number(10**rest, digits)
    return f"1e{int(exponent) + 1}" if mantissa == "10" else f"{mantissa}e{int(exponent)}"


def number_column(values: Sequence[float], *, signed: bool = True) -> list[str]:
    """Return numbers as a right-aligned column with the same number of decimals, three digits of the greatest."""
    size = max(map(abs, values), default=0.0)
    exponent = math.floor(math.log10(size)) if size > 0 else 0
    style = f"{'+' if signed else ''}.{max(2 - exponent, 0)}f" if -4 <= exponent <= 6 else f"{'+' if signed else ''}.2e"
    texts = [f"{value:{style}}" for value in values]
    if signed:  # no sign on what is shown as zero
        texts = [f" {text[1:]}" if not any(digit in text for digit in "123456789") else text for text in texts]
    return [text.rjust(max(map(len, texts))) for text in texts]


def number(value: float) -> str:
    """Return a number with three digits."""
    return printer.format_number(value, 3)


def signed_number(value: float) -> str:
    """Return a number with three digits and its sign."""
    return f"{'' if value < 0 else '+'}{number(value)}"


def chance(probability: float) -> str:
    """Return a probability with three digits; nothing that is merely rounded is called certain or impossible."""
    if probability in (0.0, 1.0):
        return number(probability)
    return "below 0.001" if probability < 0.001 else "above 0.999" if probability > 0.999 else number(probability)


def name_values(names: Sequence[str], values: Sequence[float]) -> str:
    """Return names with their values: ``sky = 0.5, sea = 1``."""
    return ", ".join(f"{printer.quoted(name)} = {number(value)}" for name, value in zip(names, values, strict=True))


def percent(share: float) -> str:
    """Return a share in percent: ``87%``, ``5.1%``."""
    return f"{100 * share:.{0 if share >= 0.1 else 1}f}%"


# ---------------------------------------------------------------------- the score


def score_name(explanation: Explanation) -> str:
    """Return the name of the explained score: ``sky``, ``decision value``, ``logit``, ``logit of fox``."""
    if explanation.classes is None:
        return printer.quoted(explanation.outputs[explanation.target])
    if len(explanation.outputs) == 1:
        return explanation.scale
    return f"{explanation.scale} of {explanation.classes[explanation.target]}"


def the_score(explanation: Explanation) -> str:
    """Return `score_name` with its article, for use in a sentence: ``sky``, ``the decision value``."""
    return ("" if explanation.classes is None else "the ") + score_name(explanation)


def outcome(explanation: Explanation) -> str:
    """Return what the score means: ``probability of yes: 0.67``; empty for numbers."""
    if explanation.classes is None or explanation.probability is None:
        return ""
    place = explanation.target if len(explanation.outputs) > 1 else len(explanation.classes) - 1
    return f"probability of {explanation.classes[place]}: {chance(explanation.probability[place])}"


def start_in_words(explanation: Explanation) -> str:
    """Return what an additive explanation starts from."""
    mean = f" (mean of {explanation.n_estimators} members)" if explanation.n_estimators > 1 else ""
    less = f" - {number(explanation.threshold)}" if explanation.threshold else ""
    return f"default{mean}{less}"


class Line(NamedTuple):
    """A line of the sum that makes up a score: the amount, and the rule that adds it or, in words, what else does."""

    amount: float
    rule: RuleExplanation | None
    text: str


def sum_lines(explanation: Explanation, max_rules: int | None = None) -> list[Line]:
    """Return what the score of an explanation is made up of; the last line is the score.

    The default of additive rules comes first, then the ``max_rules`` rules that matter most (default: 12 additive ones,
    otherwise 5), the other rules in one line, and what comes from no rule.
    """
    shown, rest = _split(explanation, max_rules)
    lines = [Line(rule.contribution, rule, rule.name) for rule in shown]
    if rest:
        lines.append(Line(sum(rule.contribution for rule in rest), None, rest_in_words(rest)))
    if explanation.additive:
        lines.insert(0, Line(explanation.baseline, None, start_in_words(explanation)))
    elif explanation.baseline:
        lines.append(Line(explanation.baseline, None, _baseline(explanation)))
    points = [rule.strength * rule.points for rule in explanation.rules if rule.points is not None]
    name = score_name(explanation)
    name += f" (score {number(sum(points))})" if points and explanation.n_estimators == 1 else ""
    meaning = outcome(explanation) if explanation.additive else ""
    return [*lines, Line(explanation.score, None, name + (f" -> {meaning}" if meaning else ""))]


def _baseline(explanation: Explanation) -> str:
    if explanation.is_uncovered:
        return "default: no rule fires"
    if explanation.n_estimators > 1:
        return "from members in which no rule fires"
    return "from no rule" if explanation.joined is None else "from the centroid to the bisector"


def _split(explanation: Explanation, max_rules: int | None) -> tuple[list[RuleExplanation], list[RuleExplanation]]:
    """Split rules into those to show, of normalized ones those that matter, and the rest."""
    rules = explanation.rules
    most = (_MOST_LINES if explanation.additive else _MOST_RULES) if max_rules is None else max_rules
    if explanation.additive or explanation.is_uncovered:
        return list(rules[:most]), list(rules[most:])
    strength = _INVISIBLE * max((rule.strength for rule in rules), default=0.0)
    amount = _INVISIBLE * max((abs(rule.contribution) for rule in rules), default=0.0)
    shown: list[RuleExplanation] = []
    rest: list[RuleExplanation] = []
    for rule in rules:
        matters = math.isfinite(rule.log_firing) and (rule.strength >= strength or abs(rule.contribution) >= amount)
        (shown if matters and len(shown) < most else rest).append(rule)
    return shown, rest


def rest_in_words(rest: Sequence[RuleExplanation]) -> str:
    """Describe the rules that are not shown."""
    count = f"{len(rest)} other rule{'s' if len(rest) > 1 else ''}"
    if any(math.isfinite(rule.log_firing) for rule in rest):
        return count
    return f"{count} that do{'' if len(rest) > 1 else 'es'} not fire"


# ---------------------------------------------------------------------- rules and their parts


def rule_in_words(explanation: Explanation, rule: RuleExplanation, max_conditions: int) -> tuple[str, str]:
    """Return the premise and the conclusion of a rule as text.

    A long conjunction is shortened to the ``max_conditions`` conditions with the least support. A premise with OR or
    NOT is shown in full, because omitting a condition would change its meaning.
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
    """Return a premise as text, many conditions with the same term counted, as those of a prototype."""
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


class Piece(NamedTuple):
    """A piece of a rule's premise as text, what it rests on, line by line, and the parts that it is made of."""

    text: str
    why: list[str]
    parts: tuple[PartExplanation, ...]


def pieces(explanation: Explanation, rule: RuleExplanation, max_conditions: int) -> list[Piece]:
    """Return the premise of a rule in pieces, each with what it rests on.

    Parts that are joined by AND are pieces of their own. Other premises are a single piece, with all of their parts.
    """
    parts = rule.parts
    asked = [Quantified(part.quantifier, part.premise, part.count) for part in parts if part.quantifier is not None]
    if len(parts) > 1 and rule.rule.premise == And(tuple(asked)):
        return [
            Piece(
                "AND " * (n > 0) + part_in_words(part, max_conditions), [rests_on(rule, part, max_conditions)], (part,)
            )
            for n, part in enumerate(parts)
        ]
    premise, _ = rule_in_words(explanation, rule, max_conditions)
    if len(parts) == 1:
        why = [rests_on(rule, parts[0], max_conditions)] if rule.rule.conditions or asked else []
    else:
        why = [f"{part_in_words(part, max_conditions)} {rests_on(rule, part, max_conditions)}" for part in parts]
    return [Piece(premise, why, parts)]


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
    places = _enumerate(
        [f"{each.instance} ({each.row})" if each.row else str(each.instance) for each in part.witnesses]
    )
    if len(first.conditions) == 1:
        (asked,) = first.conditions
        met = [each.conditions[0] for each in part.witnesses]
        known = [each.shown or ("missing" if each.value is None else number(each.value)) for each in met]
        unit = f" {asked.unit}" if asked.unit and asked.shown is None else ""
        return f"instances {places}: {printer.quoted(asked.variable)} = {_enumerate(known)}{unit}"
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


def _enumerate(words: list[str]) -> str:
    shown = words if len(words) <= _LISTED else [*words[: _LISTED - 1], f"{len(words) - _LISTED + 1} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def value_of(condition: ConditionExplanation) -> str:
    """Return the value of a condition's variable at the witness: ``pages = 14``."""
    name = printer.quoted(condition.variable)
    if condition.value is None:
        return f"{name} missing"
    if condition.shown is not None:
        return f"{name} = {condition.shown}"
    unit = f" {condition.unit}" if condition.unit else ""
    moved = condition.counted_as is not None and condition.counted_as != condition.value
    counted = f" (clipped to {number(condition.counted_as)})" if moved and condition.counted_as is not None else ""
    return f"{name} = {number(condition.value)}{unit}{counted}"


# ---------------------------------------------------------------------- the text, block by block


def explanation_text(explanation: Explanation, max_rules: int | None, max_conditions: int) -> str:
    """Return an explanation as text; see `Explanation.to_text`."""
    if explanation.is_uncovered:
        return "\n".join(headline(explanation))
    lines = sum_lines(explanation, max_rules)
    blocks = [headline(explanation), _sum(explanation, lines, max_conditions)]
    if not explanation.additive:
        blocks += [_rule(explanation, line.rule, max_conditions) for line in lines if line.rule is not None]
    blocks.append(counterfactual_lines(explanation, lines))
    return "\n\n".join("\n".join(block) for block in blocks if block)


def headline(explanation: Explanation) -> list[str]:
    """Return what was predicted, how usual the bag is, and where a default was used instead of rules."""
    return [*_prediction(explanation), *_usual(explanation), *default_lines(explanation)]


def _prediction(explanation: Explanation) -> list[str]:
    count = "1 instance" if explanation.n_instances == 1 else f"{explanation.n_instances:,} instances, numbered from 0"
    start = f"Bag {explanation.bag} ({count})"
    if explanation.classes is None:
        several = f" (explained: {score_name(explanation)})" if len(explanation.output) > 1 else ""
        return [f"{start}: {name_values(explanation.outputs, explanation.output)}{several}."]
    lines = [f"{start}: predicted {explanation.prediction}"]
    if explanation.probability is not None:
        place = explanation.classes.index(explanation.prediction)
        lines[0] += f", probability {chance(explanation.probability[place])}"
    scale = explanation.scale.capitalize()
    if len(explanation.outputs) == 1:
        if not explanation.additive:  # the scorecard ends with it
            lines.append(f"{scale} {signed_number(explanation.score)}")
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


def _usual(explanation: Explanation) -> list[str]:
    """Return how usual the bag is and, if it is not, why."""
    if explanation.coverage is None:
        return []
    text = f"Coverage {explanation.coverage:.2f}"
    if explanation.coverage >= UNUSUAL or explanation.unusual is None:
        return [f"{text}."]
    return [f"{text}, unlike the training bags: {explanation.unusual}."]


def default_lines(explanation: Explanation) -> list[str]:
    """Return where the default was used because no rule fires, if anywhere."""
    if explanation.default is None or explanation.additive:
        return []
    default = name_values(explanation.outputs, explanation.default)
    if explanation.is_uncovered and all(map(math.isnan, explanation.default)):
        return ["No rule fires on this bag, and the rules have no default, so there is no answer."]
    if explanation.is_uncovered:
        return [f"No rule fires on this bag, so the answer is the default, {default}."]
    members = ", ".join(str(member + 1) for member in explanation.uncovered)
    return [f"In member {members} no rule fires on this bag; the default, {default}, is used there."]


def _sum(explanation: Explanation, lines: Sequence[Line], max_conditions: int) -> list[str]:
    """Return what adds up to the score, in columns; of additive rules, with what each rests on."""
    products = factors(explanation, lines)
    wide = max(map(len, products))
    found = [] if explanation.additive else [_formula(explanation)]
    for amount, factor, line in zip(number_column([line.amount for line in lines]), products, lines, strict=True):
        if line is lines[-1]:
            found.append(f"  {'-' * len(amount)}")
        if explanation.additive:
            found += _explained(explanation, line, f"  {amount} {factor:{wide}}  ", max_conditions)
        else:
            found.append(f"  {amount} {factor:{wide}}  {line.text}{fires(line.rule)}")
    return found


def factors(explanation: Explanation, lines: Sequence[Line]) -> list[str]:
    """Return how the amount of each line comes about, ``= 0.593 x 1``; empty if it is not from one rule."""
    less = f" - {number(explanation.threshold)}" if explanation.centered and not explanation.additive else ""
    by_members = f" / {explanation.n_estimators}" if explanation.n_estimators > 1 else ""
    strengths = iter(number_column([line.rule.strength for line in lines if line.rule is not None], signed=False))
    found = []
    for line in lines:
        said = "" if line.rule is None else number(line.rule.outputs[explanation.target])
        said = f"x ({said}{less})" if less else f"x {said}"
        if line.rule is not None and line.rule.points is not None:
            said = f"of {in_points(line.rule.points)}"
        found.append(f"= {next(strengths)} {said}{by_members}" if line.rule is not None else "")
    return found


def _formula(explanation: Explanation) -> str:
    words = ("strength", "conclusion")
    if any(rule.concluded for rule in explanation.rules):
        words = ("share", "number") if explanation.joined is None else ("share of the joined set", "its center")
    said = f"({words[1]} - {number(explanation.threshold)})" if explanation.centered else words[1]
    by_members = " / members" if explanation.n_estimators > 1 else ""
    return f"Contributions to {the_score(explanation)} ({words[0]} x {said}{by_members}):"


def fires(rule: RuleExplanation | None) -> str:
    """Return how strongly a rule fires, and on which witness: ``, fires at 0.607, witness 0 (100%)``."""
    if rule is None:
        return ""
    witness = "" if rule.witness is None else f", witness {rule.witness} ({percent(rule.share or 0.0)})"
    return f", fires at {degree(rule.log_firing)}{witness}"


def _explained(explanation: Explanation, line: Line, start: str, max_conditions: int) -> list[str]:
    """Return a line of an additive sum, and below it what its rule rests on."""
    if line.rule is None:
        return _hanging(start, line.text)
    nothing = not any(digit in start.split()[0] for digit in "123456789")
    found = []
    for n, (text, why, _) in enumerate(pieces(explanation, line.rule, max_conditions)):
        label = f"{line.text}: {text}{printer.with_weight(line.rule.rule.weight, 4)}" if n == 0 else text
        found += _hanging(start, label)
        start = " " * len(start)
        for reason in why:
            if not nothing or len(reason) < _WIDTH:  # a long rule that adds nothing needs no details
                found += _hanging(f"{start}  ", reason)
    return found


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
    lines += [f"    {line}" for line in _condition_table(kept)]
    if left:
        lines.append(f"    {len(left)} more, each at least {degree(left[0].log_support)}")
    return lines


def _condition_table(conditions: Sequence[ConditionExplanation]) -> list[str]:
    """Return one line per condition: value, condition, degree and remarks, in columns."""
    rows = [
        (
            value_of(c),
            c.text.removeprefix(printer.quoted(c.variable)).strip(),
            degree(c.log_membership),
            ", ".join(filter(None, ("negated" * c.negated, "decisive" * c.limiting))),
        )
        for c in conditions
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def counterfactual_lines(explanation: Explanation, lines: Sequence[Line]) -> list[str]:
    """Return what the prediction would be without each witness of the rules in these lines, if it would change."""
    if explanation.n_instances == 1:
        return ["The bag has a single instance, so none can be left out."]
    witnesses = {witness for line in lines if line.rule is not None for witness in line.rule.witnesses}
    found = [each for each in explanation.counterfactuals if each.instance in witnesses]
    greatest = max((abs(each.change) for each in found), default=0.0)
    groups: list[list[Counterfactual]] = []
    for each in found:
        if abs(each.change) >= _NEGLIGIBLE * greatest:
            alike = (group for group in groups if _is_alike(explanation, group[0], each, _ALIKE_CHANGE * greatest))
            group = next(alike, None)
            if group is None:
                groups.append([each])
            else:
                group.append(each)
    return [_would_be(explanation, group) for group in groups][:_MOST_WITHOUT]


def _is_alike(explanation: Explanation, one: Counterfactual, other: Counterfactual, most: float) -> bool:
    """Return whether two instances matter in the same way, and about as much."""
    same = one.uncovered == other.uncovered and (explanation.classes is None or one.prediction == other.prediction)
    return same and abs(one.change - other.change) <= most


def _would_be(explanation: Explanation, group: Sequence[Counterfactual]) -> str:
    found = group[0]
    who = f"instance {found.instance}"
    if len(group) > 1:
        who = f"one of the instances {_enumerate([str(each.instance) for each in group])}"
    text = f"Without {who}, {the_score(explanation)} would "
    if all(number(each.score) == number(explanation.score) for each in group):
        return f"{text}hardly change."
    about = "" if len({number(each.score) for each in group}) == 1 else "about "
    text += f"be {about}{number(found.score)} ({signed_number(found.change)})"
    if found.uncovered:
        text += ", the default, because no rule would fire"
    if explanation.classes is not None:
        text += f", {'still ' if found.prediction == explanation.prediction else ''}predicting {found.prediction}"
    hardly = found.log_firing < explanation.log_firing + math.log(_HARDLY)
    if hardly and not (found.uncovered or explanation.additive):  # additive rules need not fire: the default decides
        text += f"; but then no rule would fire at more than {degree(found.log_firing)}"
    return f"{text}."

"""One explanation as HTML: the rules by contribution, each with its witness and the conditions there."""

from __future__ import annotations

from fuzzymil.explain import ConditionExplanation, Counterfactual, Explanation, RuleExplanation
from fuzzymil.explain.explanation import score_name, the_score
from fuzzymil.explain.text import degree, evenly, folded, rest_in_words
from fuzzymil.report import _markup
from fuzzymil.report._sketches import Sketcher, bar
from fuzzymil.report.html import Markup, element

__all__ = ["degree_told", "explained"]

_MAX_RULES, _MAX_CONDITIONS = 4, 6


def degree_told(log_value: float) -> str:
    """Return a degree of truth for print.

    Examples
    --------
    >>> degree_told(0.0), degree_told(-50.0)
    ('1', '1.93e−22')
    """
    return _markup.typeset(degree(log_value))


def explained(explanation: Explanation, sketchers: list[Sketcher]) -> list[Markup]:
    """Tell why a bag was decided as it was.

    Parameters
    ----------
    explanation : Explanation
    sketchers : list of Sketcher
        One a member.
    """
    if explanation.is_uncovered:
        return [element("p", f"No rule fires on this bag: the answer is the default, {_default(explanation)}.")]
    shown, rest = folded(explanation.rules, _MAX_RULES)
    found = [element("p", f"Contributions to {the_score(explanation)}:", class_="contributions")]
    if explanation.uncovered:
        which = ", ".join(str(member + 1) for member in explanation.uncovered)
        words = f"No rule of member {which} fires here: its default, {_default(explanation)}, counts."
        found.insert(0, element("p", words))
    found.append(element("ul", _sums(explanation, shown, rest, sketchers), class_="sums"))
    return found + _counterfactuals(explanation, shown)


def _sums(
    explanation: Explanation, shown: list[RuleExplanation], rest: list[RuleExplanation], sketchers: list[Sketcher]
) -> list[Markup]:
    """Return a line for each contribution, those of the rules that are shown with their conditions, and the sum."""
    others = [(sum(rule.contribution for rule in rest), rest_in_words(rest))] if rest else []
    others += [(explanation.baseline, "from no rule")] if explanation.baseline else []
    others.append((explanation.score, score_name(explanation)))
    amounts = [rule.contribution for rule in shown] + [amount for amount, _ in others]
    texts = [_markup.typeset(text.strip()) for text in evenly(amounts)]
    widest = max(map(abs, amounts)) or 1.0
    ends = (-widest if min(amounts) < 0 else 0.0, widest if max(amounts) > 0 else 0.0)
    signed = explanation.classes is not None or min(amounts) < 0
    lines = [
        [element("span", text, class_="amount"), bar(amount, *ends, signed=signed)]
        for text, amount in zip(texts, amounts, strict=True)
    ]
    told = [_rule(explanation, rule, sketchers[rule.member]) for rule in shown]
    told += [[element("span", words)] for _, words in others]
    last = len(lines) - 1
    return [
        element("li", line, words, class_="sum" if place == last else None)
        for place, (line, words) in enumerate(zip(lines, told, strict=True))
    ]


def _default(explanation: Explanation) -> str:
    values = zip(explanation.outputs, explanation.default or (), strict=True)
    return ", ".join(f"{name} = {_markup.number(value)}" for name, value in values)


def _rule(explanation: Explanation, rule: RuleExplanation, sketcher: Sketcher) -> list[Markup]:
    concluded = _markup.number(rule.outputs[explanation.target])
    if explanation.centered:
        concluded = f"({concluded} {_markup.MINUS} {_markup.number(explanation.threshold)})"
    by_members = f" / {explanation.n_estimators} members" if explanation.n_estimators > 1 else ""
    product = f"{_markup.number(rule.strength)} \N{MULTIPLICATION SIGN} {concluded}{by_members}"
    words = f" = {product}; fires at {degree_told(rule.log_firing)}"
    if rule.witness is not None and explanation.n_instances > 1:
        words += f", witness instance {rule.witness} ({_markup.percent(rule.share or 0.0)} of it)"
    kept, left = rule.decisive[:_MAX_CONDITIONS], rule.decisive[_MAX_CONDITIONS:]
    found = [element("span", element("b", rule.name), words)]
    if kept:
        found.append(element("ul", [_condition(each, sketcher) for each in kept], class_="sets at"))
    if left:
        more = (
            f"{_markup.counted(len(left), 'further condition')}, each satisfied by {degree_told(left[0].log_support)}"
        )
        found.append(element("p", f"{more} or more", class_="soft"))
    return found


def _condition(condition: ConditionExplanation, sketcher: Sketcher) -> Markup:
    hedges = ("not", *condition.hedges) if condition.negated else condition.hedges
    asked = ("NOT " if condition.negated else "") + condition.text
    if condition.value is None:
        value = "missing: fits every set"
    else:
        unit = f" {condition.unit}" if condition.unit else ""
        moved = condition.counted_as is not None and condition.counted_as != condition.value
        counted = f" (counts as {_markup.number(condition.counted_as or 0.0)})" if moved else ""
        value = f"at {_markup.number(condition.value)}{unit}{counted}: {degree_told(condition.log_support)}"
    return element(
        "li",
        sketcher.draw(condition.variable, condition.term, hedges, value=condition.counted_as),
        element("b", asked),
        element("span", value, ", decisive" if condition.limiting else None),
    )


def _counterfactuals(explanation: Explanation, shown: list[RuleExplanation]) -> list[Markup]:
    """Tell what the answer would be without each witness of the rules that are shown."""
    witnesses = {rule.witness for rule in shown}
    lines = [
        element("li", _without(explanation, found))
        for found in explanation.counterfactuals
        if found.instance in witnesses
    ]
    return [element("ul", lines, class_="without")] if lines else []


def _without(explanation: Explanation, found: Counterfactual) -> str:
    change = _markup.number(found.change)
    words = (
        f"Without instance {found.instance} {the_score(explanation)} would be {_markup.number(found.score)} "
        f"({'+' if found.change > 0 else ''}{change})"
    )
    if found.uncovered:
        words += ", the default, as no rule would fire"
    if explanation.classes is not None and found.prediction != explanation.prediction:
        words += f", and {_markup.told(found.prediction)} would be predicted"
    return f"{words}."

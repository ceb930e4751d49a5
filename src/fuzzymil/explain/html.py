"""Explanations as HTML: what adds up to the score, and why, for notebooks and for reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil._utils.drawings import Bar, waterfall
from fuzzymil._utils.text import typeset
from fuzzymil.explain import words
from fuzzymil.rules.curves import Sketcher

if TYPE_CHECKING:
    from fuzzymil.explain.explanation import ConditionExplanation, Explanation, PartExplanation, RuleExplanation

_CONDITIONS = 6
_TOLD = 0.01  # of the greatest contribution: of a rule that adds less, the words suffice


def reasons(explanation: Explanation, sketchers: Sequence[Sketcher] = ()) -> Markup:
    """Return what adds up to the score, what each rule rests on, and what would change without the witnesses.

    ``sketchers``: one per member, to draw the sets of conditions with the values of witnesses; none for words alone.
    """
    if explanation.is_uncovered:
        return Markup("")
    lines = words.sum_lines(explanation)
    amounts = [line.amount for line in lines]
    signed = explanation.classes is not None or min(amounts) < 0
    bars = waterfall(amounts, joined=explanation.additive, signed=signed)
    items = [
        _item(explanation, *each, sketchers, last=each[0] is lines[-1])
        for each in zip(lines, words.number_column(amounts), words.factors(explanation, lines), bars, strict=True)
    ]
    what = "What adds up to" if explanation.additive else "Contributions to"
    without = [html.element("li", typeset(text)) for text in words.counterfactual_lines(explanation, lines)]
    return html.joined(
        [
            html.element("p", f"{what} {words.the_score(explanation)}:", kind="contributions"),
            html.element("ul", *items, kind="sums"),
            *([html.element("ul", *without, kind="without")] if without else []),
        ]
    )


def _item(
    explanation: Explanation,
    line: words.Line,
    amount: str,
    factor: str,
    bar: Bar,
    sketchers: Sequence[Sketcher],
    *,
    last: bool,
) -> Markup:
    start = html.element("span", typeset(amount.strip()), kind="amount"), bar.svg
    if line.rule is None:
        text = line.text.replace("->", "\N{RIGHTWARDS ARROW}")
        return html.element("li", *start, html.element("span", typeset(text)), kind="sum" if last else "")
    sketcher = sketchers[line.rule.member] if sketchers else None
    largest = max(map(abs, (explanation.baseline, *(each.contribution for each in explanation.rules))))
    if explanation.additive and abs(line.rule.contribution) <= _TOLD * largest:
        sketcher = None
    said = factor.replace(" x ", " \N{MULTIPLICATION SIGN} ").replace(" - ", " \N{MINUS SIGN} ")
    said += "" if explanation.additive else words.fires(line.rule)
    heading = html.element("span", html.element("b", line.rule.name), " ", typeset(said))
    return html.element("li", *start, heading, *_pieces(explanation, line.rule, sketcher))


def _pieces(explanation: Explanation, rule: RuleExplanation, sketcher: Sketcher | None) -> list[Markup]:
    """Return the premise of a rule piece by piece: what each rests on in words, and the sets of its conditions."""
    found = []
    for text, why, parts in words.pieces(explanation, rule, _CONDITIONS):
        drawn = [] if sketcher is None else [part for part in parts if part.witnesses]
        # Where the sets of a premise without quantifiers are drawn, their captions say what is in the words.
        told = [] if drawn and all(part.quantifier is None for part in drawn) else why
        reasons = [html.element("span", typeset(each), kind="soft why") for each in told]
        found.append(html.element("p", html.element("b", text), *reasons, kind="part"))
        for part in drawn:
            assert sketcher is not None
            found += _sets(part, sketcher)
    return found


def _sets(part: PartExplanation, sketcher: Sketcher) -> list[Markup]:
    decisive = part.decider.decisive
    items = [_condition(each, sketcher) for each in decisive[:_CONDITIONS]]
    if len(part.witnesses) > 1 and items:
        items.insert(0, html.element("li", f"at instance {part.decider.instance}, the least of these:", kind="part"))
    found = [html.element("ul", *items, kind="sets at")] if items else []
    if left := decisive[_CONDITIONS:]:
        count = f"{len(left)} more condition{'s' if len(left) > 1 else ''}"
        least = words.degree(left[0].log_support)
        found.append(html.line(typeset(f"{count}, each satisfied to {least} or more"), soft=True))
    return found


def _condition(condition: ConditionExplanation, sketcher: Sketcher) -> Markup:
    hedges = ("not", *condition.hedges) if condition.negated else condition.hedges
    sketch = sketcher.draw(condition.variable, condition.term, hedges, value=condition.counted_as)
    if condition.missing:
        text = "missing: matches any set"
    else:
        value = words.value_of(condition).partition(" = ")[2]
        text = f"{value}: satisfied to {words.degree(condition.log_support)}"
    text += ", decisive" if condition.limiting else ""
    asked = ("NOT " if condition.negated else "") + condition.text
    return html.element("li", sketch.svg, html.element("b", asked), html.element("span", typeset(text)))

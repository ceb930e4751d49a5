"""Explanations as HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from fuzzymil._utils import html
from fuzzymil._utils.drawings import waterfall
from fuzzymil.explain._facts import Facts
from fuzzymil.explain.parts import RuleExplanation
from fuzzymil.explain.text import evenly, number, rest_in_words
from fuzzymil.explain.words import outcome, pieces, score_name, start_in_words, the_score

_TERMS = 6


def contributions_table(
    explanation: Facts, shown: Sequence[RuleExplanation], rest: Sequence[RuleExplanation]
) -> Markup:
    """Return what the rules contribute, and the instances that they rest on, as a table with bars."""
    lines: list[tuple[float, list[Any]]] = [(rule.contribution, _rule(explanation, rule)) for rule in shown]
    if rest:
        lines.append((sum(rule.contribution for rule in rest), [rest_in_words(rest)]))
    if explanation.additive:
        lines.insert(0, (explanation.baseline, [start_in_words(explanation)]))
    elif explanation.baseline:
        lines.append((explanation.baseline, ["from no rule"]))
    meaning = outcome(explanation)
    total = score_name(explanation) + (f" \N{RIGHTWARDS ARROW} {meaning}" if meaning else "")
    lines.append((explanation.score, [html.element("b", total)]))
    amounts = [amount for amount, _ in lines]
    signed = explanation.classes is not None or min(amounts) < 0
    bars = waterfall(amounts, joined=explanation.additive, signed=signed)
    texts = [text.strip().replace("-", "\N{MINUS SIGN}") for text in evenly(amounts)]
    rows = [
        [Markup("").join(map(html.safe, words)), drawn.svg, html.element("b", text)]
        for (_, words), drawn, text in zip(lines, bars, texts, strict=True)
    ]
    return html.table(f"What makes up {the_score(explanation)}", ["", "", "adds"], rows)


def _rule(explanation: Facts, rule: RuleExplanation) -> list[Any]:
    """Return a rule in words, how true it is, and what it rests on."""
    said = rule.outputs[explanation.target]
    found: list[Any] = [
        html.element("b", rule.name),
        f" ({number(rule.strength)} \N{MULTIPLICATION SIGN} {number(said)}) ",
    ]
    for text, why in pieces(explanation, rule, _TERMS):
        found += [text, *(html.element("span", each, kind="soft why") for each in why)]
    return found

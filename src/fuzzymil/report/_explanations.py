"""Facts about one explanation for ``templates/explanation.html``: contributions, witnesses and their conditions."""

from __future__ import annotations

from typing import Any

from fuzzymil._utils.drawings import waterfall
from fuzzymil.explain import ConditionExplanation, Counterfactual, Explanation, PartExplanation, RuleExplanation
from fuzzymil.explain.text import evenly, folded, rest_in_words
from fuzzymil.explain.words import outcome, part_in_words, rests_on, score_name, start_in_words, the_score
from fuzzymil.report._format import typeset
from fuzzymil.rules.drawings import Sketcher

_MAX_RULES, _MAX_LINES, _MAX_CONDITIONS = 4, 12, 6
_NEGLIGIBLE = 0.01  # of the greatest change, or of the greatest contribution


def explanation_facts(explanation: Explanation, sketchers: list[Sketcher]) -> dict[str, Any]:
    """Return what is shown of an explanation.

    Parameters
    ----------
    explanation : Explanation
    sketchers : list of Sketcher
        One per member.
    """
    if explanation.additive:
        shown, rest = list(explanation.rules[:_MAX_LINES]), list(explanation.rules[_MAX_LINES:])
    else:
        shown, rest = folded(explanation.rules, _MAX_RULES)
    witnesses = {witness for rule in shown for witness in rule.witnesses}
    return {
        "additive": explanation.additive,
        "is_uncovered": explanation.is_uncovered,
        "uncovered": [member + 1 for member in explanation.uncovered],
        "default": list(zip(explanation.outputs, explanation.default or (), strict=False)),
        "score": the_score(explanation),
        "threshold": explanation.threshold if explanation.centered else None,
        "n_estimators": explanation.n_estimators,
        "n_instances": explanation.n_instances,
        "contributions": [] if explanation.is_uncovered else _contributions(explanation, shown, rest, sketchers),
        "counterfactuals": [
            {
                "instance": found.instance,
                "score": found.score,
                "change": found.change,
                "uncovered": found.uncovered,
                "prediction": found.prediction if found.prediction != explanation.prediction else None,
                "is_class": explanation.classes is not None,
            }
            for found in _telling(explanation, witnesses)
        ],
    }


def _telling(explanation: Explanation, witnesses: set[int]) -> list[Counterfactual]:
    """Return the counterfactuals of these witnesses that change anything."""
    found = [each for each in explanation.counterfactuals if each.instance in witnesses]
    least = _NEGLIGIBLE * max((abs(each.change) for each in found), default=0.0)
    return [each for each in found if abs(each.change) >= least]


def _contributions(
    explanation: Explanation, shown: list[RuleExplanation], rest: list[RuleExplanation], sketchers: list[Sketcher]
) -> list[dict[str, Any]]:
    """Return the contributions of the rules, of everything else, and last their sum; bars of a sum join up."""
    lines: list[tuple[float, dict[str, Any]]] = [
        (rule.contribution, {"rule": _rule(explanation, rule, sketchers[rule.member])}) for rule in shown
    ]
    if rest:
        lines.append((sum(rule.contribution for rule in rest), {"text": rest_in_words(rest)}))
    if explanation.additive:
        lines.insert(0, (explanation.baseline, {"text": start_in_words(explanation)}))
    elif explanation.baseline:
        lines.append((explanation.baseline, {"text": "from no rule"}))
    meaning = outcome(explanation) if explanation.additive else ""
    lines.append((explanation.score, {"text": score_name(explanation) + (f" → {meaning}" if meaning else "")}))
    amounts = [amount for amount, _ in lines]
    signed = explanation.classes is not None or min(amounts) < 0
    bars = waterfall(amounts, joined=explanation.additive, signed=signed)
    return [
        {"amount": typeset(text.strip()), "bar": drawn, "rule": None} | line
        for text, drawn, (_, line) in zip(evenly(amounts), bars, lines, strict=True)
    ]


def _rule(explanation: Explanation, rule: RuleExplanation, sketcher: Sketcher) -> dict[str, Any]:
    # Of an additive rule that hardly adds anything, the words suffice.
    largest = max(map(abs, (explanation.baseline, *(each.contribution for each in explanation.rules))))
    detailed = not explanation.additive or abs(rule.contribution) > _NEGLIGIBLE * largest
    return {
        "name": rule.name,
        "strength": rule.strength,
        "conclusion": rule.outputs[explanation.target],
        "log_firing": rule.log_firing,
        "witness": rule.witness,
        "share": rule.share,
        "parts": [_part(rule, part, sketcher, detailed) for part in rule.parts],
    }


def _part(rule: RuleExplanation, part: PartExplanation, sketcher: Sketcher, detailed: bool) -> dict[str, Any]:
    decisive = part.witnesses[0].decisive if part.witnesses and detailed else ()
    said = part_in_words(part, _MAX_CONDITIONS)
    left = decisive[_MAX_CONDITIONS:]
    return {
        "text": ("NOT " if part.negated else "") + said if part.quantifier is not None else "",
        "rests_on": typeset(rests_on(rule, part, _MAX_CONDITIONS)),
        "conditions": [_condition(each, sketcher) for each in decisive[:_MAX_CONDITIONS]],
        "n_more": len(left),
        "log_least": left[0].log_support if left else None,
    }


def _condition(condition: ConditionExplanation, sketcher: Sketcher) -> dict[str, Any]:
    hedges = ("not", *condition.hedges) if condition.negated else condition.hedges
    return {
        "sketch": sketcher.draw(condition.variable, condition.term, hedges, value=condition.counted_as),
        "text": ("NOT " if condition.negated else "") + condition.text,
        "value": condition.value if condition.shown is None else condition.shown,
        "unit": condition.unit if condition.shown is None else "",
        "clipped_to": condition.counted_as if condition.counted_as != condition.value else None,
        "log_support": condition.log_support,
        "limiting": condition.limiting,
    }

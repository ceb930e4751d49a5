"""Facts about one explanation for ``templates/explanation.html``: contributions, witnesses and their conditions."""

from __future__ import annotations

from typing import Any

from fuzzymil.explain import ConditionExplanation, Explanation, RuleExplanation
from fuzzymil.explain.text import evenly, folded, rest_in_words
from fuzzymil.explain.words import score_name, the_score
from fuzzymil.report._drawings import Sketcher, bar
from fuzzymil.report._format import typeset

_MAX_RULES, _MAX_CONDITIONS = 4, 6


def explanation_facts(explanation: Explanation, sketchers: list[Sketcher]) -> dict[str, Any]:
    """Return what is shown of an explanation.

    Parameters
    ----------
    explanation : Explanation
    sketchers : list of Sketcher
        One per member.
    """
    shown, rest = folded(explanation.rules, _MAX_RULES)
    witnesses = {rule.witness for rule in shown}
    return {
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
            for found in explanation.counterfactuals
            if found.instance in witnesses
        ],
    }


def _contributions(
    explanation: Explanation, shown: list[RuleExplanation], rest: list[RuleExplanation], sketchers: list[Sketcher]
) -> list[dict[str, Any]]:
    """Return the contributions of the rules, of everything else, and last their sum."""
    lines: list[tuple[float, dict[str, Any]]] = [
        (rule.contribution, {"rule": _rule(explanation, rule, sketchers[rule.member])}) for rule in shown
    ]
    if rest:
        lines.append((sum(rule.contribution for rule in rest), {"text": rest_in_words(rest)}))
    if explanation.baseline:
        lines.append((explanation.baseline, {"text": "from no rule"}))
    lines.append((explanation.score, {"text": score_name(explanation)}))
    amounts = [amount for amount, _ in lines]
    widest = max(map(abs, amounts)) or 1.0
    ends = (-widest if min(amounts) < 0 else 0.0, widest if max(amounts) > 0 else 0.0)
    signed = explanation.classes is not None or min(amounts) < 0
    return [
        {"amount": typeset(text.strip()), "bar": bar(amount, *ends, signed=signed), "rule": None} | line
        for text, (amount, line) in zip(evenly(amounts), lines, strict=True)
    ]


def _rule(explanation: Explanation, rule: RuleExplanation, sketcher: Sketcher) -> dict[str, Any]:
    left = rule.decisive[_MAX_CONDITIONS:]
    return {
        "name": rule.name,
        "strength": rule.strength,
        "conclusion": rule.outputs[explanation.target],
        "log_firing": rule.log_firing,
        "witness": rule.witness,
        "share": rule.share,
        "conditions": [_condition(each, sketcher) for each in rule.decisive[:_MAX_CONDITIONS]],
        "n_more": len(left),
        "log_least": left[0].log_support if left else None,
    }


def _condition(condition: ConditionExplanation, sketcher: Sketcher) -> dict[str, Any]:
    hedges = ("not", *condition.hedges) if condition.negated else condition.hedges
    return {
        "sketch": sketcher.draw(condition.variable, condition.term, hedges, value=condition.counted_as),
        "text": ("NOT " if condition.negated else "") + condition.text,
        "value": condition.value,
        "unit": condition.unit,
        "clipped_to": condition.counted_as if condition.counted_as != condition.value else None,
        "log_support": condition.log_support,
        "limiting": condition.limiting,
    }

"""Writes fuzzy systems as FLL."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError
from fuzzymil.membership import MembershipFunction
from fuzzymil.network.norms import DUAL
from fuzzymil.rules._formats import fll
from fuzzymil.rules._formats.fll_rules import RESERVED, written_rule
from fuzzymil.rules._formats.system import Method, Statement, System, Term, negations_inside
from fuzzymil.rules._formats.words import changed, distinct, word_for
from fuzzymil.rules.language.printer import format_number


def write(system: System, comments: Iterable[str] = ()) -> str:
    """Return a system as FLL, comments first; raises `ParameterError` for what FLL cannot express."""
    names, method = _names(system), system.method
    text = [f"# {comment}" for comment in comments]
    text.append("Engine: rules")
    for variable in system.inputs:
        locked = system.limited and (variable.low is not None or variable.high is not None)
        text += [
            f"InputVariable: {names.inputs[variable.name]}",
            "  enabled: true",
            f"  range: {_range(variable.low, variable.high)}",
            f"  lock-range: {'true' if locked else 'false'}",
            *_terms(variable.terms, names.input_terms[variable.name]),
        ]
    for output in system.outputs:
        accumulation = "none" if method.sugeno else _word("accumulation", fll.ACCUMULATIONS, method.accumulation)
        text += [
            f"OutputVariable: {names.outputs[output.name]}",
            "  enabled: true",
            f"  range: {_range(output.low, output.high)}",
            "  lock-range: false",
            f"  aggregation: {accumulation}",
            f"  defuzzifier: {_defuzzifier(method)}",
            f"  default: {format_number(output.default, None)}",
            "  lock-previous: false",
            *_terms(output.terms, names.output_terms[output.name]),
        ]
    text += [
        "RuleBlock: rules",
        "  enabled: true",
        f"  conjunction: {_word('T-norm', fll.T_NORMS, system.t_norm)}",
        f"  disjunction: {_word('S-norm', fll.S_NORMS, system.s_norm)}",
        f"  implication: {'none' if method.sugeno else _word('implication', fll.IMPLICATIONS, method.implication)}",
        "  activation: General",
        *(f"  rule: {_rule(position, rule, system, names)}" for position, rule in enumerate(system.rules, start=1)),
    ]
    return "\n".join(text) + "\n"


def changes(system: System) -> list[str]:
    """Return sentences about what is written differently."""
    names = _names(system)
    return changed((names.inputs, names.outputs, *names.input_terms.values(), *names.output_terms.values()))


# ---------------------------------------------------------------------- names


class _Names(NamedTuple):
    """How names are written."""

    inputs: dict[str, str]
    outputs: dict[str, str]
    input_terms: dict[str, dict[str, str]]
    output_terms: dict[str, dict[str, str]]


def _names(system: System) -> _Names:
    return _Names(
        _identifiers(variable.name for variable in system.inputs),
        _identifiers(output.name for output in system.outputs),
        {variable.name: _identifiers(variable.terms) for variable in system.inputs},
        {output.name: _identifiers(output.terms) for output in system.outputs},
    )


def _identifiers(names: Iterable[str]) -> dict[str, str]:
    return distinct(names, _identifier)


def _identifier(name: str) -> str:
    """Return the name as a plain word that is not a keyword."""
    word = re.sub(r"[^A-Za-z0-9_]+", "_", name)
    word = word if word == name else word.strip("_")
    return f"_{word}" if not word or word[0].isdigit() or word.lower() in RESERVED else word


# ---------------------------------------------------------------------- parts


def _rule(position: int, rule: Statement, system: System, names: _Names) -> str:
    dual = DUAL.get(system.t_norm)
    premise = negations_inside(rule.premise, dual=system.s_norm == dual)
    if premise is None:
        raise ParameterError(
            f"Rule {position} has NOT before parentheses, which FLL cannot express for t_norm={system.t_norm!r} with "
            f"s_norm={system.s_norm!r}: negate single conditions, or use s_norm={dual!r}."
        )
    said = {names.outputs[name]: names.output_terms[name][term] for name, term in rule.conclusions.items()}
    return written_rule(Statement(premise, said, rule.weight), names.inputs, names.input_terms)


def _word(what: str, words: Mapping[str, str], ours: str) -> str:
    return word_for(what, ours, words, "FLL")


def _range(low: float | None, high: float | None) -> str:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return " ".join(format_number(end, None) for end in ends)


def _terms(terms: Mapping[str, Term], names: Mapping[str, str]) -> list[str]:
    return [f"  term: {names[name]} {_term(term)}" for name, term in terms.items()]


def _term(term: Term) -> str:
    if isinstance(term, MembershipFunction):
        kind = _word("membership family", {word: family.name for word, family in fll.SETS.items()}, term.name)
        values = term.parameters
    else:
        kind, values = ("Constant", term) if len(term) == 1 else ("Linear", (*term[1:], term[0]))
    return " ".join((kind, *(format_number(value, None) for value in values)))


def _defuzzifier(method: Method) -> str:
    if method.sugeno:
        return f"{'WeightedAverage' if method.normalize else 'WeightedSum'} TakagiSugeno"
    return f"{_word('defuzzifier', fll.DEFUZZIFIERS, method.defuzzify)} {method.resolution}"

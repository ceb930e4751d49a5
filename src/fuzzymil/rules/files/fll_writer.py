"""Writes fuzzy systems as FLL."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files import fll
from fuzzymil.rules.files._system import Output, Statement, System, Term, negations_inside
from fuzzymil.rules.files._words import changed, distinct, plain_word, single_numbers, variable_names, word_for
from fuzzymil.rules.files.fll_rules import RESERVED, written_rule
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Variable


def write(system: System, comments: Iterable[str] = ()) -> str:
    """Return a system as FLL, comments first; raises `ParameterError` for what FLL cannot express."""
    names = _names(system)
    text = [f"# {comment}" for comment in comments]
    text.append("Engine: rules")
    for variable in system.inputs:
        locked = system.limited and (variable.low is not None or variable.high is not None)
        text += [
            f"InputVariable: {names.inputs[variable.name]}",
            "  enabled: true",
            f"  range: {_range(variable.low, variable.high)}",
            f"  lock-range: {_yes(locked)}",
            *_terms(variable.terms, names.input_terms[variable.name]),
        ]
    for output in system.outputs:
        text += [
            f"OutputVariable: {names.outputs[output.name]}",
            "  enabled: true",
            f"  range: {_range(output.low, output.high)}",
            f"  lock-range: {_yes(output.clip)}",
            f"  aggregation: {_accumulation(output)}",
            f"  defuzzifier: {_defuzzifier(output)}",
            f"  default: {format_number(output.default, None)}",
            f"  lock-previous: {_yes(output.hold)}",
            *_terms(output.terms, names.output_terms[output.name], names.variables if output.weighted else None),
        ]
    implications = {output.implication for output in system.outputs if not output.weighted}
    for number, implication in enumerate(sorted(implications) or [""]):
        said = _word("implication", fll.T_NORMS, implication) if implication else "none"
        own = [(position, _concluding(rule, implication, system)) for position, rule in enumerate(system.rules, 1)]
        text += [
            f"RuleBlock: {'rules' if number == 0 else f'rules{number + 1}'}",
            "  enabled: true",
            f"  conjunction: {_word('T-norm', fll.T_NORMS, system.t_norm)}",
            f"  disjunction: {_word('S-norm', fll.S_NORMS, system.s_norm)}",
            f"  implication: {said}",
            f"  activation: {_activation(system, len(implications))}",
            *(
                f"  rule: {_rule(position, part, system, names)}"
                for position, rule in own
                if rule.conclusions
                for part in _apart(rule, system)
            ),
        ]
    return "\n".join(text) + "\n"


def changes(system: System) -> list[str]:
    """Return sentences about what is written differently."""
    names = _names(system)
    found = changed((names.variables, *names.input_terms.values(), *names.output_terms.values()))
    if any(output.sampling == "points" and not output.weighted for output in system.outputs):
        found.append(
            "Sets are evaluated at points that include both ends of the range (sampling='points'); FLL evaluates them "
            "in the middle of cells, so that outputs differ a little."
        )
    return found + single_numbers(system)


# ---------------------------------------------------------------------- names


class _Names(NamedTuple):
    """How names are written."""

    variables: dict[str, str]  # inputs and outputs, which no word may mean both
    inputs: dict[str, str]
    outputs: dict[str, str]
    input_terms: dict[str, dict[str, str]]
    output_terms: dict[str, dict[str, str]]


def _names(system: System) -> _Names:
    owners: list[Variable | Output] = [*system.inputs, *system.outputs]
    formulas = any(isinstance(term, Formula) for owner in owners for term in owner.terms.values())
    reserved = {"x"} if formulas else set()  # fuzzylite's own name in formulas
    inputs, outputs = variable_names(system, lambda name: f"_{name}" if name in reserved else identifier(name))
    return _Names(
        inputs | outputs,
        inputs,
        outputs,
        {variable.name: distinct(variable.terms, identifier) for variable in system.inputs},
        {output.name: distinct(output.terms, identifier) for output in system.outputs},
    )


def identifier(name: str) -> str:
    """Return the name as a plain word that is not a keyword."""
    word = plain_word(name)
    return f"_{word}" if word.lower() in RESERVED else word


# ---------------------------------------------------------------------- parts


def _rule(position: int, rule: Statement, system: System, names: _Names) -> str:
    dual = DUAL.get(system.t_norm)
    premise = negations_inside(rule.premise, dual=system.s_norm == dual)
    if premise is None:
        raise ParameterError(
            f"Rule {position} has NOT before parentheses, which FLL cannot express for t_norm={system.t_norm!r} with "
            f"s_norm={system.s_norm!r}: negate single conditions, or use s_norm={dual!r}."
        )
    said: dict[str, str | Is] = {}
    for name, concluded in rule.conclusions.items():
        word, terms = names.outputs[name], names.output_terms[name]
        said[word] = (
            Is(word, terms[concluded.term], concluded.hedges) if isinstance(concluded, Is) else terms[concluded]
        )
    return written_rule(Statement(premise, said, rule.weight), names.inputs, names.input_terms)


def _apart(rule: Statement, system: System) -> list[Statement]:
    """Return a rule as several if its conclusions have hedges, which FLL would apply to the conclusions that follow."""
    hedged = {name: said for name, said in rule.conclusions.items() if isinstance(said, Is)}
    if not hedged or len(rule.conclusions) == 1:
        return [rule]
    if system.activation != "general":
        raise ParameterError(
            f"FLL cannot express hedges in one of several conclusions of a rule with activation={system.activation!r}: "
            "write one rule for each conclusion."
        )
    plain = {name: said for name, said in rule.conclusions.items() if name not in hedged}
    parts = [plain] * bool(plain) + [{name: said} for name, said in hedged.items()]
    return [rule._replace(conclusions=part) for part in parts]


def _word(what: str, words: Mapping[str, str], ours: str) -> str:
    return word_for(what, ours, words, "FLL")


def _range(low: float | None, high: float | None) -> str:
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return " ".join(format_number(end, None) for end in ends)


def _yes(value: bool) -> str:
    return "true" if value else "false"


def _terms(
    terms: Mapping[str, Term], names: Mapping[str, str], variables: Mapping[str, str] | None = None
) -> list[str]:
    """Return the terms of a variable; formulas are numbers, computed from ``variables``, if these are given."""
    return [f"  term: {names[name]} {_term(term, variables)}" for name, term in terms.items()]


def _term(term: Term, variables: Mapping[str, str] | None) -> str:
    if variables is not None and isinstance(term, Singleton):
        term = term.parameters
    if isinstance(term, MembershipFunction):
        kind, values = sets.written(term, sets.FLL, "FLL", variables)
        return " ".join((kind, *values))
    kind, numbers = ("Constant", term) if len(term) == 1 else ("Linear", (*term[1:], term[0]))
    return " ".join((kind, *(format_number(value, None) for value in numbers)))


def _accumulation(output: Output) -> str:
    if output.weighted and output.accumulation == "sum":
        return "none"
    return _word("accumulation", fll.ACCUMULATIONS, output.accumulation)


def _defuzzifier(output: Output) -> str:
    if not output.weighted:
        return f"{_word('defuzzifier', fll.DEFUZZIFIERS, output.defuzzify)} {output.resolution}"
    numbers = [isinstance(term, tuple | Singleton | Formula) for term in output.terms.values()]
    if any(isinstance(term, Formula) for term in output.terms.values()) and not all(numbers):
        raise ParameterError(
            f"FLL cannot average formulas and fuzzy sets together: see the output {output.name!r:.60}."
        )
    return f"{_word('defuzzifier', fll.WEIGHTED, output.defuzzify)} {'TakagiSugeno' if all(numbers) else 'Tsukamoto'}"


def _concluding(rule: Statement, implication: str, system: System) -> Statement:
    """Return a rule with those of its conclusions that belong to the block of an implication."""
    block = {o.name for o in system.outputs if not o.weighted and o.implication == implication}
    if implication == next(iter(sorted({o.implication for o in system.outputs if not o.weighted})), ""):
        block |= {o.name for o in system.outputs if o.weighted}
    return rule._replace(conclusions={name: said for name, said in rule.conclusions.items() if name in block})


def _activation(system: System, n_blocks: int) -> str:
    if system.activation != "general" and n_blocks > 1:
        raise ParameterError(
            f"FLL cannot express activation={system.activation!r} for outputs with different implications: use one "
            "implication, or save the rules as .json or .rules."
        )
    kind, *numbers = system.activation.split()
    return " ".join((kind.capitalize(), *numbers))

"""Writes fuzzy systems as MATLAB ``.fis`` files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.membership import MembershipFunction
from fuzzymil.network.norms import DUAL
from fuzzymil.rules._formats import fis
from fuzzymil.rules._formats.system import Output, Statement, System, Term, negations_inside
from fuzzymil.rules._formats.words import changed, distinct, word_for
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import And, Expression, Is, Or, conditions
from fuzzymil.rules.rule import Variable

_UNQUOTABLE = re.compile(r"^\s|\s$|['\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def write(system: System, comments: Iterable[str] = ()) -> str:
    """Return a system as a ``.fis`` file, comments first; raises `ParameterError` for what it cannot express."""
    limited = [f"{v.name!r:.60}" for v in system.inputs if system.limited and (v.low is not None or v.high is not None)]
    if limited:
        raise ParameterError(
            f"A .fis file cannot clip values to the range of {listed(limited)} (limited=True): write "
            "dataclasses.replace(rules, limited=False), or use another format."
        )
    method = system.method
    text = [f"% {comment}" for comment in comments]
    text += [
        "[System]",
        "Name='rules'",
        f"Type='{'sugeno' if method.sugeno else 'mamdani'}'",
        "Version=2.0",
        f"NumInputs={len(system.inputs)}",
        f"NumOutputs={len(system.outputs)}",
        f"NumRules={len(system.rules)}",
        f"AndMethod='{_word('T-norm', fis.T_NORMS, system.t_norm)}'",
        f"OrMethod='{_word('S-norm', fis.S_NORMS, system.s_norm)}'",
    ]
    if method.sugeno:
        text += ["ImpMethod='prod'", "AggMethod='sum'", f"DefuzzMethod='{'wtaver' if method.normalize else 'wtsum'}'"]
    else:
        text += [
            f"ImpMethod='{_word('implication', fis.IMPLICATIONS, method.implication)}'",
            f"AggMethod='{_word('accumulation', fis.ACCUMULATIONS, method.accumulation)}'",
            f"DefuzzMethod='{_word('defuzzifier', fis.DEFUZZIFIERS, method.defuzzify)}'",
        ]
    names = _quotable(variable.name for variable in system.inputs)
    for position, variable in enumerate(system.inputs, start=1):
        text += _section("Input", position, names[variable.name], _input_range(variable), variable.terms)
    names = _quotable(output.name for output in system.outputs)
    for position, output in enumerate(system.outputs, start=1):
        text += _section("Output", position, names[output.name], _output_range(output), output.terms)
    text += ["", "[Rules]"]
    terms = {variable.name: list(variable.terms) for variable in system.inputs}
    said = {output.name: list(output.terms) for output in system.outputs}
    dual = system.s_norm == DUAL.get(system.t_norm)
    text += [_rule(position, rule, terms, said, dual) for position, rule in enumerate(system.rules, start=1)]
    return "\n".join(text) + "\n"


def changes(system: System) -> list[str]:
    """Return sentences about what is lost or written differently."""
    found = changed(
        (
            _quotable(variable.name for variable in system.inputs),
            _quotable(output.name for output in system.outputs),
            *(_quotable(variable.terms) for variable in system.inputs),
            *(_quotable(output.terms) for output in system.outputs),
        )
    )
    unknown = [f"{v.name!r:.60}" for v in system.inputs if _input_range(v) != (v.low, v.high)]
    if unknown:
        found.append(
            f"A .fis file needs a range for every input: {listed(unknown)} had none and gets one that fits its sets."
        )
    beyond = {system.t_norm} - {"product", "min"} | {system.s_norm} - {"algebraic", "max"}
    if system.method.accumulation == "bounded":
        beyond.add("bounded")
    if beyond:
        found.append(f"MATLAB does not support the norms {listed(sorted(beyond))}; fuzzylite does.")
    if any(rule.weight > 1 for rule in system.rules):
        found.append("MATLAB does not support rule weights above 1; fuzzylite does.")
    if any(not list(conditions(rule.premise)) for rule in system.rules):
        found.append("MATLAB supports rules without conditions; fuzzylite's reader of .fis files does not.")
    if not system.method.sugeno:
        found.append("The resolution of outputs is not kept.")
        if any(output.default != fis.middle(output.low, output.high) for output in system.outputs):
            found.append("The default of outputs is not kept: it is read back as the middle of the range.")
    return found


# ---------------------------------------------------------------------- parts


def _quotable(names: Iterable[str]) -> dict[str, str]:
    def quotable(name: str) -> str:
        return " ".join(_UNQUOTABLE.sub(" ", name).split()) if _UNQUOTABLE.search(name) else name

    return distinct(names, quotable)


def _word(what: str, words: Mapping[str, str], ours: str) -> str:
    return word_for(what, ours, words, "A .fis file")


def _numbers(values: Iterable[float]) -> str:
    return f"[{' '.join(format_number(value, None) for value in values)}]"


def _section(kind: str, position: int, name: str, ends: tuple[float, float], terms: Mapping[str, Term]) -> list[str]:
    words = _quotable(terms)
    return [
        "",
        f"[{kind}{position}]",
        f"Name='{name}'",
        f"Range={_numbers(ends)}",
        f"NumMFs={len(terms)}",
        *(f"MF{n}='{words[term]}':{_term(value)}" for n, (term, value) in enumerate(terms.items(), start=1)),
    ]


def _term(term: Term) -> str:
    if not isinstance(term, MembershipFunction):
        return f"'constant',{_numbers(term)}" if len(term) == 1 else f"'linear',{_numbers((*term[1:], term[0]))}"
    kind = _word("membership family", {word: family.name for word, (family, _) in fis.SETS.items()}, term.name)
    return f"'{kind}',{_numbers(term.parameters[place] for place in fis.SETS[kind][1])}"


def _input_range(variable: Variable) -> tuple[float, float]:
    """Return the range of an input; if it is unknown or empty, one that covers the sets."""
    sets = variable.terms.values()
    peaks = [float(chosen.peak(*chosen.parameters)) for chosen in sets] or [0.0]
    reach = max((3 * float(chosen.spread(*chosen.parameters)) for chosen in sets), default=1.0)
    low = min(peaks) - reach if variable.low is None else variable.low
    high = max(peaks) + reach if variable.high is None else variable.high
    return (low, high) if low < high else (min(low, high) - reach, max(low, high) + reach)


def _output_range(output: Output) -> tuple[float, float]:
    """Return the range of an output; in a Sugeno system, one whose middle is exactly the default."""
    if output.low is not None and output.high is not None:
        return output.low, output.high
    if output.default:
        far = 2 * output.default
        return (min(0.0, far), max(0.0, far)) if math.isfinite(far) else (output.default, output.default)
    greatest = max((abs(row[0]) for row in output.terms.values() if isinstance(row, tuple)), default=0.0) or 1.0
    return -greatest, greatest


# ---------------------------------------------------------------------- rules


def _rule(
    position: int, rule: Statement, terms: Mapping[str, list[str]], said: Mapping[str, list[str]], dual: bool
) -> str:
    premise = negations_inside(rule.premise, dual=dual)
    flat = None if premise is None else _flat(premise)
    if flat is None:
        raise ParameterError(
            f"Rule {position} cannot be written to a .fis file, where conditions are joined all by AND or all by OR, "
            "each variable appears once, and the only hedge is 'not': split the rule, or use another format."
        )
    asked = {
        condition.variable: (-1) ** len(condition.hedges) * (1 + terms[condition.variable].index(condition.term))
        for condition in flat
    }
    chosen = [asked.get(name, 0) for name in terms]
    concluded = [
        1 + names.index(rule.conclusions[name]) if name in rule.conclusions else 0 for name, names in said.items()
    ]
    joined = 2 if isinstance(premise, Or) and len(flat) > 1 else 1
    weight = format_number(rule.weight, None)
    return f"{' '.join(map(str, chosen))}, {' '.join(map(str, concluded))} ({weight}) : {joined}"


def _flat(premise: Expression) -> list[Is] | None:
    """Return the conditions of a premise that a row of numbers can express, else None."""
    kind = Or if isinstance(premise, Or) else And

    def parts(node: Expression) -> Iterator[Expression]:
        if isinstance(node, kind):  # AND within AND, and OR within OR, need no parentheses
            for part in node.parts:
                yield from parts(part)
        else:
            yield node

    found = list(parts(premise))
    sayable = [part for part in found if isinstance(part, Is) and set(part.hedges) <= {"not"}]
    variables = {condition.variable for condition in sayable}
    return sayable if len(found) == len(sayable) == len(variables) else None

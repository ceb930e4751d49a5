"""Writes fuzzy systems as MATLAB ``.fis`` files."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files import fis
from fuzzymil.rules.files._linear import linear_coefficients
from fuzzymil.rules.files._system import Output, Statement, System, Term, negations_inside
from fuzzymil.rules.files._words import changed, distinct, single_numbers, variable_names, word_for
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
    sugeno = all(output.weighted for output in system.outputs)
    if not sugeno and any(output.weighted for output in system.outputs):
        raise ParameterError("A .fis file is a Mamdani or a Sugeno system: it cannot hold outputs of both kinds.")
    if system.activation != "general":
        raise ParameterError(f"A .fis file cannot express activation={system.activation!r}: all rules take part.")
    text = [f"% {comment}" for comment in comments]
    text += [
        "[System]",
        "Name='rules'",
        f"Type='{_type(system) if sugeno else 'mamdani'}'",
        "Version=2.0",
        f"NumInputs={len(system.inputs)}",
        f"NumOutputs={len(system.outputs)}",
        f"NumRules={len(system.rules)}",
        f"AndMethod='{_word('T-norm', fis.T_NORMS, system.t_norm)}'",
        f"OrMethod='{_word('S-norm', fis.S_NORMS, system.s_norm)}'",
    ]
    method = _shared(system, "defuzzify")
    if sugeno:
        _check_strengths(system)
        text += ["ImpMethod='prod'", "AggMethod='sum'", f"DefuzzMethod='{_word('defuzzifier', fis.WEIGHTED, method)}'"]
    else:
        text += [
            f"ImpMethod='{_word('implication', fis.T_NORMS, _shared(system, 'implication'))}'",
            f"AggMethod='{_word('accumulation', fis.ACCUMULATIONS, _shared(system, 'accumulation'))}'",
            f"DefuzzMethod='{_word('defuzzifier', fis.DEFUZZIFIERS, method)}'",
        ]
    inputs, outputs = variable_names(system, _quotable_name)
    names = {name: Arithmetic.name(word) for name, word in (inputs | outputs).items()}
    for position, variable in enumerate(system.inputs, start=1):
        text += _section("Input", position, inputs[variable.name], _input_range(variable), variable.terms)
    for position, output in enumerate(system.outputs, start=1):
        terms = {name: _number_of(term, system) if output.weighted else term for name, term in output.terms.items()}
        ends = _output_range(output)
        text += _section("Output", position, outputs[output.name], ends, terms, names if output.weighted else None)
        text += [f"{key}=1" for key, chosen in (("LockRange", output.clip), ("LockPrevious", output.hold)) if chosen]
        otherwise = 0.0 if output.defuzzify == "sum" else fis.middle(*ends)
        if output.weighted and output.default != otherwise:
            text.append(f"Default={format_number(output.default, None)}")
    text += ["", "[Rules]"]
    asked = {variable.name: list(variable.terms) for variable in system.inputs}
    said = {output.name: list(output.terms) for output in system.outputs}
    dual = system.s_norm == DUAL.get(system.t_norm)
    text += [_rule(position, rule, asked, said, dual) for position, rule in enumerate(system.rules, start=1)]
    return "\n".join(text) + "\n"


def changes(system: System) -> list[str]:
    """Return sentences about what is lost or written differently."""
    inputs, outputs = variable_names(system, _quotable_name)
    found = changed(
        (
            inputs | outputs,
            *(_quotable(variable.terms) for variable in system.inputs),
            *(_quotable(output.terms) for output in system.outputs),
        )
    )
    unknown = [f"{v.name!r:.60}" for v in system.inputs if _input_range(v) != (v.low, v.high)]
    if unknown:
        found.append(
            f"A .fis file needs a range for every input: {listed(unknown)} without one "
            "get the range that their sets cover."
        )
    beyond = {system.t_norm} - {"product", "min"} | {system.s_norm} - {"algebraic", "max"}
    sampled = [output for output in system.outputs if not output.weighted]
    beyond |= {output.implication for output in sampled} - {"product", "min"}
    beyond |= {output.accumulation for output in sampled} - {"algebraic", "max", "sum"}
    if beyond:
        found.append(f"MATLAB does not support the norms {listed(sorted(beyond))}; fuzzylite does.")
    concluded = [
        _number_of(term, system) if output.weighted else term
        for output in system.outputs
        for term in output.terms.values()
    ]
    words = {
        sets.written(term, sets.FIS, "A .fis file", {})[0]
        for term in (*(term for variable in system.inputs for term in variable.terms.values()), *concluded)
        if isinstance(term, MembershipFunction) and not isinstance(term, Singleton)
    }
    if words - sets.MATLAB:
        found.append(f"MATLAB does not support the sets {listed(sorted(words - sets.MATLAB))}; fuzzylite does.")
    if ramps := words & {"linsmf", "linzmf"}:
        found.append(f"fuzzylite does not read MATLAB's words for ramps ({listed(sorted(ramps))}); for it, write FLL.")
    if any(output.clip or output.hold for output in system.outputs):
        found.append("MATLAB does not support clipped or previous outputs (LockRange, LockPrevious); fuzzylite does.")
    if any(rule.weight > 1 for rule in system.rules):
        found.append("MATLAB does not support rule weights above 1; fuzzylite does.")
    if any(not list(conditions(rule.premise)) for rule in system.rules):
        found.append("MATLAB supports rules without conditions; fuzzylite's reader of .fis files does not.")
    if any((output.sampling, output.resolution) != ("points", fis.N_POINTS) for output in sampled):
        found.append(
            "The resolution of outputs is not kept: MATLAB evaluates sets at 101 points that include both ends."
        )
    if any(output.default != fis.middle(output.low, output.high) for output in sampled):
        found.append("The default of outputs is not kept: it is read back as the middle of the range.")
    return found + single_numbers(system)


# ---------------------------------------------------------------------- parts


def _quotable_name(name: str) -> str:
    return " ".join(_UNQUOTABLE.sub(" ", name).split()) if _UNQUOTABLE.search(name) else name


def _quotable(names: Iterable[str]) -> dict[str, str]:
    return distinct(names, _quotable_name)


def _type(system: System) -> str:
    terms = [_number_of(term, system) for output in system.outputs for term in output.terms.values()]
    return "sugeno" if all(isinstance(term, tuple | Formula) for term in terms) else "tsukamoto"


def _number_of(term: Term, system: System) -> Term:
    """Return a single number and a linear formula as the constant and linear function that a Sugeno system has."""
    if isinstance(term, Formula):
        return linear_coefficients(Arithmetic(term.text), [variable.name for variable in system.inputs]) or term
    return term.parameters if isinstance(term, Singleton) else term


def _check_strengths(system: System) -> None:
    """Raise `ParameterError` if rules that conclude the same term do not count one by one, as they do in MATLAB."""
    for output in system.outputs:
        said = [term for rule in system.rules if (term := rule.term(output.name)) is not None]
        repeated = [term for term in dict.fromkeys(said) if said.count(term) > 1]
        if output.accumulation != "sum" and repeated:
            raise ParameterError(
                f"A .fis file adds up the strengths of the rules that conclude {repeated[0]!r:.60} of "
                f"{output.name!r:.60}, these are joined by {output.accumulation!r}: write "
                "dataclasses.replace(rules, accumulation='sum'), or use another format."
            )


def _shared(system: System, name: str) -> str:
    """Return the setting that all outputs share."""
    values = {getattr(output, name) for output in system.outputs}
    if len(values) > 1:
        raise ParameterError(
            f"A .fis file has one {name} for all outputs, these have {listed(sorted(values))}: split the system, or "
            "save it as .json, .rules or .fll."
        )
    return str(values.pop())


def _word(what: str, words: Mapping[str, str], ours: str) -> str:
    return word_for(what, ours, words, "A .fis file")


def _numbers(values: Iterable[float]) -> str:
    return f"[{' '.join(format_number(value, None) for value in values)}]"


def _section(
    kind: str,
    position: int,
    name: str,
    ends: tuple[float, float],
    terms: Mapping[str, Term],
    names: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the section of a variable; with ``names``, formulas in its terms are computed from those variables."""
    words = _quotable(terms)
    return [
        "",
        f"[{kind}{position}]",
        f"Name='{name}'",
        f"Range={_numbers(ends)}",
        f"NumMFs={len(terms)}",
        *(f"MF{n}='{words[term]}':{_term(value, names)}" for n, (term, value) in enumerate(terms.items(), start=1)),
    ]


def _term(term: Term, names: Mapping[str, str] | None) -> str:
    if not isinstance(term, MembershipFunction):
        return f"'constant',{_numbers(term)}" if len(term) == 1 else f"'linear',{_numbers((*term[1:], term[0]))}"
    kind, values = sets.written(term, sets.FIS, "A .fis file", names)
    return f"'{kind}',[{' '.join(values)}]"


def _input_range(variable: Variable) -> tuple[float, float]:
    """Return the range of an input; if it is unknown or empty, one that covers the sets."""
    chosen_sets = variable.terms.values()
    peaks = [float(chosen.peak(*chosen.parameters)) for chosen in chosen_sets] or [0.0]
    reach = max((3 * float(chosen.spread(*chosen.parameters)) for chosen in chosen_sets), default=1.0) or 1.0
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
            "each variable appears once, and has at most 'not' and one other hedge: split the rule, or use another "
            "format."
        )
    asked = {condition.variable: _number(condition, terms[condition.variable]) for condition in flat}
    chosen = [asked.get(name, "0") for name in terms]
    concluded = []
    modified: tuple[str, ...] = ()  # a hedge also holds for the conclusions that follow
    for name, names in said.items():
        conclusion = rule.conclusions.get(name)
        if conclusion is None:
            concluded.append("0")
            continue
        hedges, term = (conclusion.hedges, conclusion.term) if isinstance(conclusion, Is) else ((), conclusion)
        own = hedges[: len(hedges) - len(modified)]
        if (*own, *modified) != hedges or "not" in own or _fraction(own) is None:
            raise ParameterError(
                f"Rule {position} cannot be written to a .fis file: the hedges of its conclusion on {name!r:.60} have "
                "no number there. Use another format."
            )
        modified = hedges
        concluded.append(_number(Is(name, term, own), names))
    joined = 2 if isinstance(premise, Or) and len(flat) > 1 else 1
    weight = format_number(rule.weight, None)
    return f"{' '.join(map(str, chosen))}, {' '.join(map(str, concluded))} ({weight}) : {joined}"


def _fraction(hedges: tuple[str, ...]) -> float | None:
    """Return the fraction that means hedges (*not* is a sign), or None if none does."""
    rest = hedges[1:] if hedges[:1] == ("not",) else hedges
    return 0.0 if not rest else next((number for number, words in fis.HEDGES.items() if words == rest), None)


def _number(condition: Is, terms: list[str]) -> str:
    """Return how a condition is written, ``-2.3`` for *not extremely* the second term."""
    fraction = _fraction(condition.hedges)
    assert fraction is not None  # checked before
    number = 1 + terms.index(condition.term) + fraction
    return f"{'-' if condition.hedges[:1] == ('not',) else ''}{number:g}"


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
    parts_of_rule = [_without_pairs(part) if isinstance(part, Is) else part for part in found]
    sayable = [part for part in parts_of_rule if isinstance(part, Is) and _fraction(part.hedges) is not None]
    variables = {condition.variable for condition in sayable}
    return sayable if len(found) == len(sayable) == len(variables) else None


def _without_pairs(condition: Is) -> Is:
    """Return a condition without *not not*."""
    hedges = condition.hedges
    while hedges[:2] == ("not", "not"):
        hedges = hedges[2:]
    return Is(condition.variable, condition.term, hedges)

"""Writes fuzzy systems as FCL: sets of straight lines as points, as the standard has them, others in words.

Words for other sets are jFuzzyLogic's where it has them, else fuzzylite's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import (
    Discrete,
    Formula,
    MembershipFunction,
    Ramp,
    Rectangle,
    Singleton,
    Trapezoidal,
    Triangular,
)
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files import fcl
from fuzzymil.rules.files._formulas import spelled
from fuzzymil.rules.files._system import Output, Statement, System, Term, negations_inside
from fuzzymil.rules.files._words import changed, distinct, plain_word, variable_names, word_for
from fuzzymil.rules.files.fcl_blocks import BLOCKS
from fuzzymil.rules.files.fll_rules import RESERVED, written_rule
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import Is, conditions

_KEYWORDS = frozenset(word.lower() for pair in BLOCKS.items() for word in pair) | {
    *("function_block", "end_function_block", "term", "range", "method", "default", "accu", "lock", "enabled"),
    *("rule", "act", "real"),
}


def write(system: System, comments: Iterable[str] = ()) -> str:
    """Return a system as FCL, comments first; raises `ParameterError` for what FCL cannot express."""
    if system.limited or system.activation != "general":
        what = "clip inputs to their ranges (limited=True)" if system.limited else f"have {system.activation!r} rules"
        raise ParameterError(f"FCL cannot {what}: change that, or save the rules as .json, .rules or .fll.")
    inputs, outputs = variable_names(system, identifier)
    names = inputs | outputs
    lines = [f"// {comment}" for comment in comments]
    lines += ["FUNCTION_BLOCK rules", "", "VAR_INPUT", *(f"  {name} : REAL;" for name in inputs.values()), "END_VAR"]
    lines += ["", "VAR_OUTPUT", *(f"  {name} : REAL;" for name in outputs.values()), "END_VAR"]
    for variable in system.inputs:
        lines += ["", f"FUZZIFY {inputs[variable.name]}", *_range(variable.low, variable.high)]
        lines += [*_terms(variable.terms), "END_FUZZIFY"]
    for output in system.outputs:
        if output.terms and not output.weighted and all(isinstance(t, Singleton) for t in output.terms.values()):
            raise ParameterError(
                f"The terms of {output.name!r:.60} are single numbers, which FCL averages: use defuzzify='average'."
            )
        lines += ["", f"DEFUZZIFY {outputs[output.name]}", *_range(output.low, output.high)]
        lines += [*_terms(output.terms, names if output.weighted else None), *_method(output), "END_DEFUZZIFY"]
    lines += ["", "RULEBLOCK rules"]
    lines.append(f"  AND : {word_for('T-norm', system.t_norm, _swapped(fcl.T_NORMS), 'FCL')};")
    lines.append(f"  OR : {word_for('S-norm', system.s_norm, _swapped(fcl.S_NORMS), 'FCL')};")
    lines += [f"  {key} : {value};" for key, value in _shared(system).items()]
    written = {v.name: distinct(v.terms, identifier) for v in (*system.inputs,)}
    said = {o.name: distinct(o.terms, identifier) for o in system.outputs}
    for position, rule in enumerate(system.rules, start=1):
        lines.append(f"  RULE {position} : {_rule(position, rule, system, (inputs, outputs), (written, said))};")
    return "\n".join([*lines, "END_RULEBLOCK", "", "END_FUNCTION_BLOCK", ""])


def changes(system: System) -> list[str]:
    """Return sentences about what is lost or written differently."""
    inputs, outputs = variable_names(system, identifier)
    owned: list[Mapping[str, Term]] = [*(v.terms for v in system.inputs), *(o.terms for o in system.outputs)]
    terms = [distinct(own, identifier) for own in owned]
    found = changed((inputs | outputs, *terms))
    weighted = [output.terms for output in system.outputs if output.weighted]
    words = {
        _set(term)[0]
        for own in owned
        for term in own.values()
        if own not in weighted or not isinstance(term, Formula)  # every reader knows formulas of inputs
    }
    beyond = sorted(words - set(fcl.SETS) - {"", "points"})
    if beyond:
        found.append(f"The sets {listed(beyond)} are words of fuzzylite, which other readers of FCL may not know.")
    if any(not list(conditions(rule.premise)) for rule in system.rules):
        found.append("Rules without conditions ask whether an input 'is any', which only fuzzylite reads.")
    if any(not output.weighted for output in system.outputs):
        found.append("The resolution of outputs is not kept.")
    return found


def identifier(name: str) -> str:
    """Return the name as a plain word that is not a keyword, in any case."""
    word = plain_word(name)
    return f"_{word}" if word.lower() in RESERVED | _KEYWORDS else word


# ---------------------------------------------------------------------- parts


def _swapped(words: Mapping[str, str]) -> Mapping[str, str]:
    """Return words for ours, the first of several."""
    first: dict[str, str] = {}
    for word, ours in words.items():
        first.setdefault(ours, word)
    return {word: ours for ours, word in first.items()}


def _number(value: float) -> str:
    return format_number(value, None)


def _range(low: float | None, high: float | None) -> list[str]:
    return [] if low is None or high is None else [f"  RANGE := ({_number(low)} .. {_number(high)});"]


def _terms(terms: Mapping[str, Term], variables: Mapping[str, str] | None = None) -> list[str]:
    """Return the terms of a variable; those of an output that is a number are computed from ``variables``."""
    words = distinct(terms, identifier)
    return [f"  TERM {words[name]} := {_term(term, variables)};" for name, term in terms.items()]


def _term(term: Term, variables: Mapping[str, str] | None) -> str:
    if isinstance(term, Singleton):
        return _number(term.value)
    if isinstance(term, Formula) and variables is not None:
        return f"FUNCTION {spelled(term.text, variables)}"
    if isinstance(term, MembershipFunction):
        return _set(term)[1]
    if len(term) == 1:
        return _number(term[0])
    assert variables is not None
    parts = [f"{_number(slope)}*{name}" for slope, name in zip(term[1:], variables.values(), strict=False)]
    return f"FUNCTION {' + '.join([_number(term[0]), *parts])}".replace("+ -", "- ")


def _set(term: Term) -> tuple[str, str]:
    """Return the word for a set ("points" where it has none), and the whole text."""
    if not isinstance(term, MembershipFunction) or isinstance(term, Singleton):
        return "", ""
    points: list[tuple[float, float]] = []
    if isinstance(term, Discrete):
        points = list(term.points)
    elif isinstance(term, Triangular | Trapezoidal):
        corners = term.parameters
        points = [(x, float(0 < place < len(corners) - 1)) for place, x in enumerate(corners)]
    elif isinstance(term, Ramp):
        points = sorted(zip(term.parameters, (0.0, 1.0), strict=True))
    elif isinstance(term, Rectangle):
        points = [(term.left, 0.0), (term.left, 1.0), (term.right, 1.0), (term.right, 0.0)]
    if points:
        return "points", " ".join(f"({_number(x)}, {_number(mu)})" for x, mu in points)
    own = next((word for word, entry in fcl.SETS.items() if isinstance(term, entry.family)), None)
    if own is not None:
        values = [_number(term.parameters[place]) for place in fcl.SETS[own].places]
        return own, " ".join((own, *values))
    word, values = sets.written(term, sets.FLL, "FCL")
    return word, " ".join((word, *values))


def _method(output: Output) -> list[str]:
    known = {word: ours for word, ours in {**fcl.DEFUZZIFIERS, **fcl.WEIGHTED}.items() if word not in ("COGF", "MOM")}
    word = word_for("defuzzifier", output.defuzzify, known, "FCL")
    if word == "COGS" and any(isinstance(term, tuple) and len(term) > 1 for term in output.terms.values()):
        word = "COGF"
    lines = [f"  METHOD : {word};"]
    if output.weighted and output.accumulation != "sum":
        lines.append(f"  ACCU : {word_for('accumulation', output.accumulation, _swapped(fcl.ACCUMULATIONS), 'FCL')};")
    hold = " | NC" if output.hold else ""
    lines.append(f"  DEFAULT := {_number(output.default)}{hold};")
    return [*lines, *(["  LOCK : RANGE;"] if output.clip else [])]


def _shared(system: System) -> dict[str, str]:
    """Return the implication and accumulation of the outputs that are sets."""
    found: dict[str, str] = {}
    for key, name, words in (
        ("ACT", "implication", fcl.T_NORMS),
        ("ACCU", "accumulation", fcl.ACCUMULATIONS),
    ):
        values = {getattr(output, name) for output in system.outputs if not output.weighted}
        if len(values) > 1:
            raise ParameterError(f"FCL has one {name} for all outputs, these have {listed(sorted(values))}.")
        for value in values:
            found[key] = word_for(name, value, _swapped(words), "FCL")
    return found


def _rule(
    position: int,
    rule: Statement,
    system: System,
    names: tuple[dict[str, str], dict[str, str]],
    terms: tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]],
) -> str:
    if any(isinstance(said, Is) for said in rule.conclusions.values()):
        raise ParameterError(f"Rule {position} cannot be written to FCL: its conclusion has hedges.")
    premise = negations_inside(rule.premise, dual=system.s_norm == DUAL.get(system.t_norm))
    if premise is None:
        raise ParameterError(f"Rule {position} has NOT before parentheses, and norms that are not dual.")
    said = {names[1][name]: terms[1][name][str(term)] for name, term in rule.conclusions.items()}
    text = written_rule(Statement(premise, said, rule.weight), names[0], terms[0])
    head, _, tail = text.partition(" then ")
    return f"{head} THEN {tail.replace(' and ', ', ')}"

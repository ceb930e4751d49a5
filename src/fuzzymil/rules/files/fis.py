"""Reads fuzzy systems from MATLAB ``.fis`` files.

::

    [System]
    Name='lamp'
    Type='sugeno'
    AndMethod='min'
    OrMethod='max'
    DefuzzMethod='wtaver'

    [Input1]
    Name='ambient'
    Range=[0 1]
    MF1='dark':'trimf',[0 0 0.5]
    MF2='bright':'gaussmf',[0.3 1]

    [Output1]
    Name='power'
    Range=[0 1]
    MF1='high':'constant',[1]
    MF2='rising':'linear',[-0.5 0.8]

    [Rules]
    1, 1 (1) : 1
    -1, 2 (0.5) : 1

A rule lists, for each input, the number of a term (0 if the input does not matter, negative for *not*); then
the terms it concludes, its weight, and 1 if conditions are joined by AND or 2 for OR. An output that no rule
concludes takes the middle of its range, which is therefore read and written as the default, except for weighted sums
(``wtsum``), where our default is added to every output. Norms, sets and entries that MATLAB does not have use the
names that fuzzylite gives them in such files; its fractions mean hedges (1.2: *very* the first term).

Sets of outputs are evaluated as in MATLAB, at 101 points that include both ends of the range. Files of MATLAB's first
version pad parameters with zeros, which are ignored, and name several terms alike, which are numbered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._formulas import formula_of
from fuzzymil.rules.files._syntax import Piece, coefficients, interval, lines, unused, whole
from fuzzymil.rules.files._system import Output, Statement, System, Term, without_rules
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or, simplified
from fuzzymil.rules.rule import Variable

T_NORMS = {
    "prod": "product",
    "min": "min",
    "bounded_difference": "lukasiewicz",
    "hamacher_product": "hamacher",
    "einstein_product": "einstein",
    "drastic_product": "drastic",
    "nilpotent_minimum": "nilpotent",
}
S_NORMS = {
    "probor": "algebraic",
    "max": "max",
    "bounded_sum": "bounded",
    "normalized_sum": "bounded",
    "hamacher_sum": "hamacher",
    "einstein_sum": "einstein",
    "drastic_sum": "drastic",
    "nilpotent_maximum": "nilpotent",
}
ACCUMULATIONS = {**S_NORMS, "sum": "sum"}
DEFUZZIFIERS = {"centroid": "centroid", "bisector": "bisector", "mom": "mom", "som": "som", "lom": "lom"}
WEIGHTED = {"wtaver": "average", "wtsum": "sum"}
TYPES = ("sugeno", "mamdani", "tsukamoto", "hybrid")  # the last two by fuzzylite
HEDGES = {0.01: ("seldom",), 0.05: ("somewhat",), 0.2: ("very",), 0.3: ("extremely",), 0.4: ("very", "very")}
"""What the fraction of a term's number means."""

N_POINTS = 101
"""Values of an output at which MATLAB evaluates sets."""

_HEAD = re.compile(r"\[(System|Rules|(Input|Output)([0-9]{1,9}))\]")
_MF = re.compile(r"'([^']*)'\s*:\s*'([^']*)'\s*,\s*(?:\[([^\]]*)\]|([^\s\[\];]+));?")
_RULE = re.compile(r"([^,()]*),([^,()]*)\(([^()]*)\)\s*:([^,():]*)")
_NUMBERS = re.compile(r"[^\s,;]+")
_ANY = 0.99  # how fuzzylite writes 'is any' in such files

T = TypeVar("T")


class _Section(NamedTuple):
    head: Piece
    entries: dict[str, Piece]

    def get(self, key: str) -> Piece:
        if key not in self.entries:
            raise self.head.error(f"This section has no {key}.")
        return self.entries[key]

    def text(self, key: str) -> Piece:
        """Return the quoted value of a key."""
        said = self.get(key)
        if len(said.text) < 2 or said.text[0] != "'" or said.text[-1] != "'":
            raise said.error(f"Expected {key}='...'.")
        return said.part(1, len(said.text) - 1)

    def chosen(self, key: str, known: Mapping[str, T], default: T | None = None) -> T:
        word = self.text(key)
        if not word.text and default is not None:
            return default
        if word.text not in known:
            raise word.unknown(key, known)
        return known[word.text]

    def flag(self, key: str) -> bool:
        """Return whether an entry that only fuzzylite writes is set."""
        said = self.entries.get(key)
        return said is not None and said.text.strip("'").lower() in ("1", "1.0", "1.000", "true")

    def check_count(self, key: str, count: int) -> None:
        said = self.entries.get(key)
        if said is not None and said.number("a whole number") > count:  # less was read than was written
            raise said.error(f"{key} is {said.text:.60}, but there are {count}.")

    def terms(self) -> list[Piece]:
        """Return the definitions of the terms, in order."""
        found = {key for key in self.entries if key.startswith("MF")}
        wanted = [f"MF{n + 1}" for n in range(len(found))]
        for key in found - set(wanted):
            raise self.entries[key].error(f"Terms must be numbered from MF1 to {wanted[-1]}, found {key}.")
        self.check_count("NumMFs", len(wanted))
        return [self.entries[key] for key in wanted]


def read(text: str) -> System:
    """Parse the text of a ``.fis`` file; raises `RuleSyntaxError`."""
    everything = whole(text)
    sections, rules = _sections(everything)
    if "System" not in sections:
        raise everything.error("The text has no [System] section.")
    about = sections["System"]
    of_type = about.chosen("Type", {name: name for name in TYPES})
    inputs = [
        Variable(section.text("Name").text, _terms(section, _set), *_range(section))
        for section in _numbered("Input", sections)
    ]
    outputs: list[Output] = []
    for section in _numbered("Output", sections):
        known = [*(variable.name for variable in inputs), *(output.name for output in outputs)]
        outputs.append(_output(section, about, of_type, 1 + len(inputs), known))
    for what, found in (("NumInputs", inputs), ("NumOutputs", outputs), ("NumRules", rules)):
        about.check_count(what, len(found))
        if not found and what != "NumRules":
            raise about.head.error(f"The text has no {what.removeprefix('Num').lower()}.")
    names, asked = [variable.name for variable in inputs], [list(variable.terms) for variable in inputs]
    said = {output.name: list(output.terms) for output in outputs}
    statements = [_rule(line, asked, names, said) for line in rules]
    t_norm, s_norm = about.chosen("AndMethod", T_NORMS, "min"), about.chosen("OrMethod", S_NORMS, "")
    return System(
        inputs=tuple(inputs),
        outputs=tuple(_with_complements(output, statements) for output in outputs),
        rules=tuple(statements) or (without_rules(outputs, about.head),),
        t_norm=t_norm,
        s_norm=s_norm or DUAL[t_norm],
        limited=False,
    )


# ---------------------------------------------------------------------- sections


def _sections(text: Piece) -> tuple[dict[str, _Section], list[Piece]]:
    """Return the sections by name, and the lines of the rules."""
    found: dict[str, _Section] = {}
    rules: list[Piece] = []
    name = ""
    for line in lines(text):
        if line.text[0] in "%#":
            continue
        if line.text[0] == "[":
            head = _HEAD.fullmatch(line.text)
            if head is None:
                raise line.error("Expected [System], [Input1] ..., [Output1] ... or [Rules].")
            name = head[1]
            if name in found:
                raise line.error(f"The section [{name}] appears twice.")
            found[name] = _Section(line, {})
        elif name == "Rules":
            rules.append(line)
        else:
            key, value = line.split("=")
            if not name or value is None:
                raise line.error("Expected 'Key=value'." if name else "Expected [System].")
            word = key.text
            if word in found[name].entries:
                if not re.fullmatch(r"MF[0-9]{1,9}", word):
                    raise key.error(f"{word} appears twice.")
                word = unused_number(found[name].entries)  # numbered wrongly, as in one of MATLAB's own files
            found[name].entries[word] = value  # unknown entries are ignored
    return found, rules


def unused_number(entries: Mapping[str, Piece]) -> str:
    """Return the key of the next term."""
    return f"MF{1 + sum(key.startswith('MF') for key in entries)}"


def _numbered(kind: str, sections: Mapping[str, _Section]) -> list[_Section]:
    """Return the sections of inputs or outputs, in order."""
    found = {name: section for name, section in sections.items() if name.startswith(kind)}
    wanted = [f"{kind}{n + 1}" for n in range(len(found))]
    for stray in found.keys() - set(wanted):
        raise found[stray].head.error(f"Sections must be numbered from [{kind}1] to [{wanted[-1]}].")
    known: set[str] = set()
    for number in wanted:
        name = found[number].text("Name")
        if name.text in known:
            raise name.error(f"Two {kind.lower()}s are named {name.text!r:.60}.")
        known.add(name.text)
    return [found[name] for name in wanted]


def _range(section: _Section) -> tuple[float | None, float | None]:
    said = section.get("Range")
    words = said.part(1, len(said.text) - 1).words(_NUMBERS)
    if said.text[:1] != "[" or said.text[-1:] != "]" or len(words) != 2:
        raise said.error("Expected Range=[low high].")
    return interval(said, [_number(word, "a number") for word in words])


def _terms(section: _Section, value_of: Callable[[Piece, Piece], T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for line in section.terms():
        match = _MF.fullmatch(line.text)
        if match is None:
            raise line.error("Expected 'name':'kind',[numbers].")
        name, kind, numbers = (line.part(*match.span(group)) for group in (1, 2, 3 if match[4] is None else 4))
        found[unused(name.text, found)] = value_of(kind, numbers)
    return found


def _set(kind: Piece, numbers: Piece) -> MembershipFunction:
    if kind.text not in sets.FIS:
        raise kind.unknown("membership function", sets.FIS)
    if kind.text == "function":
        return sets.read_formula(numbers)
    values = _values(kind, numbers)
    count = len(sets.FIS[kind.text].places)
    if count and len(values) > count:
        if any(values[count:]):
            raise kind.error(f"{kind} takes {count} parameters, got {len(values)}.")
        del values[count:]  # zeros that pad the table of an early version
    return sets.read(kind, kind.text, values, sets.FIS)


def _values(kind: Piece, numbers: Piece) -> list[float]:
    return [_number(word, f"a parameter of {kind}") for word in numbers.words(_NUMBERS)]


def _number(word: Piece, what: str) -> float:
    """Return a number, also one that is written as arithmetic (``-pi/4``)."""
    try:
        formula = Arithmetic(word.text)
    except ParameterError:
        formula = None
    if formula is None or formula.names:
        return word.number(what, finite=False)
    return float(formula.value({}))


def _output(section: _Section, about: _Section, of_type: str, n_coefs: int, known: list[str]) -> Output:
    """Read an output; formulas in it may use the ``known`` names."""
    said = about.chosen("DefuzzMethod", {**WEIGHTED, **DEFUZZIFIERS})

    def term(kind: Piece, numbers: Piece) -> Term:
        if kind.text == "function" and said in WEIGHTED.values():
            return sets.read_formula(numbers, known)
        if of_type == "mamdani" or kind.text not in ("constant", "linear"):
            return _set(kind, numbers)
        values = _values(kind, numbers)
        count = 1 if kind.text == "constant" else n_coefs
        if len(values) > count and not any(values[count:]):
            del values[count:]  # zeros that pad the table of an early version
        return coefficients(kind, values, {"constant": 1, "linear": n_coefs})

    low, high = _range(section)
    terms = _terms(section, term)
    numbers = bool(terms) and all(isinstance(term, tuple) for term in terms.values())
    method = ("average" if said not in WEIGHTED.values() else said) if numbers or of_type == "tsukamoto" else said
    methods = WEIGHTED if numbers or of_type in ("sugeno", "tsukamoto") else DEFUZZIFIERS
    if of_type != "hybrid" and said not in methods.values():
        raise about.text("DefuzzMethod").unknown("DefuzzMethod", methods)
    weighted = method in WEIGHTED.values()
    if not weighted and (low is None or high is None or low == high):
        raise section.get("Range").error("The output of a Mamdani system needs a finite range.")
    default = section.entries.get("Default")
    value = math.nan if default is None else default.number("a number", finite=False)
    if math.isnan(value):
        value = 0.0 if method == "sum" else middle(low, high)
    return Output(
        section.text("Name").text,
        terms,
        low,
        high,
        value,
        implication="min" if weighted else about.chosen("ImpMethod", T_NORMS),
        accumulation="sum" if weighted else about.chosen("AggMethod", ACCUMULATIONS),
        defuzzify=method,
        resolution=None if weighted else N_POINTS,
        sampling="cells" if weighted else "points",
        clip=weighted and section.flag("LockRange"),
        hold=section.flag("LockPrevious"),
    )


def middle(low: float | None, high: float | None) -> float:
    """Return the middle of a range, the value of an output that no rule concludes; NaN without a range."""
    return math.nan if low is None or high is None else low / 2 + high / 2


# ---------------------------------------------------------------------- rules


def _rule(line: Piece, inputs: list[list[str]], names: list[str], outputs: Mapping[str, list[str]]) -> Statement:
    """Parse a rule, given the names of the terms of each input and output."""
    match = _RULE.fullmatch(line.text)
    if match is None:
        raise line.error("Expected a rule: '1 0 -2, 1 (1) : 1' (inputs, outputs, weight, 1 for AND or 2 for OR).")
    asked, said, weight, joined = (line.part(*match.span(group)) for group in (1, 2, 3, 4))
    conditions = tuple(
        Is(name, terms[abs(number) - 1], hedges)
        for name, terms, (number, hedges) in zip(names, inputs, _choices(asked, inputs), strict=True)
        if number
    )
    conclusions: dict[str, str | Is] = {}
    modified: tuple[str, ...] = ()  # as in fuzzylite, a hedge also holds for the conclusions that follow
    for (name, terms), (number, hedges) in zip(outputs.items(), _choices(said, list(outputs.values())), strict=True):
        if number:
            term = terms[abs(number) - 1]
            modified = (*(hedges if number > 0 else hedges[1:]), *modified)
            term = _complement_of(term, terms) if number < 0 else term
            conclusions[name] = Is(name, term, modified) if modified else term
    strength = weight.number("the weight of the rule")
    if strength < 0:
        raise weight.error("The weight of a rule must be at least 0.")
    if joined.text not in ("1", "2"):
        raise joined.error("Expected 1 (conditions joined by AND) or 2 (by OR).")
    premise = And(conditions) if joined.text == "1" else Or(conditions) if conditions else Not(ANYTHING)
    return Statement(simplified(premise), conclusions, strength, line)


def _complement_of(term: str, terms: Iterable[str]) -> str:
    """Return the name of the complement of a term, which a negative number concludes."""
    return unused(f"not {term}", set(terms))


def _with_complements(output: Output, rules: Iterable[Statement]) -> Output:
    """Return an output with those complements of its terms that rules conclude."""
    found = dict(output.terms)
    for term, chosen in output.terms.items():
        name = _complement_of(term, output.terms)
        concluding = [rule for rule in rules if rule.term(output.name) == name]
        if concluding:
            if output.weighted or not isinstance(chosen, MembershipFunction):
                raise concluding[0].error(f"'not' (a negative number) is concluded for {output.name!r:.60}, a number.")
            try:
                found[name] = Formula(f"1 - ({formula_of(chosen)})")
            except ParameterError as problem:
                raise concluding[0].error(str(problem)) from None
    return output._replace(terms=found)


def _choices(said: Piece, terms: list[list[str]]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the numbers of the chosen terms, negative for *not*, and their hedges."""
    words = said.words(_NUMBERS)
    if len(words) != len(terms):
        raise said.error(f"Expected {len(terms)} number(s) here, found {len(words)}.")
    found = []
    for word, known in zip(words, terms, strict=True):
        number = word.number("the number of a term")
        number = 0.0 if number == _ANY else number
        whole_part, fraction = int(number), round(abs(number - int(number)), 6)
        if fraction and fraction not in HEDGES:
            raise word.error(f"The fraction of a number means a hedge: {', '.join(map(str, HEDGES))}.")
        if abs(whole_part) > len(known) or (fraction and not whole_part):
            raise word.error(f"There is no term {abs(whole_part)}: the variable has {len(known)}.")
        found.append((whole_part, (*(("not",) if number < 0 else ()), *HEDGES.get(fraction, ()))))
    return found

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
(``wtsum``), where our default is added to every output. Norms that MATLAB does not have use the names that fuzzylite
gives them in such files.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from fuzzymil.membership import Bell, Gaussian, MembershipFunction, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules._formats.syntax import Piece, coefficients, fuzzy_set, interval, lines, whole
from fuzzymil.rules._formats.system import Method, Output, Statement, System, Term
from fuzzymil.rules.premise import And, Is, Or, simplified
from fuzzymil.rules.rule import Variable

T_NORMS = {
    "prod": "product",
    "min": "min",
    "bounded_difference": "lukasiewicz",
    "hamacher_product": "hamacher",
    "einstein_product": "einstein",
}
S_NORMS = {
    "probor": "algebraic",
    "max": "max",
    "bounded_sum": "bounded",
    "hamacher_sum": "hamacher",
    "einstein_sum": "einstein",
}
IMPLICATIONS = {"min": "min", "prod": "product"}
ACCUMULATIONS = {"max": "max", "probor": "algebraic", "bounded_sum": "bounded", "sum": "sum"}
DEFUZZIFIERS = {"centroid": "centroid", "bisector": "bisector", "mom": "mom", "som": "som", "lom": "lom"}
WEIGHTED = {"wtaver": True, "wtsum": False}
"""Whether strengths are divided by their sum."""

SETS: dict[str, tuple[type[MembershipFunction], tuple[int, ...]]] = {
    "gaussmf": (Gaussian, (1, 0)),
    "gbellmf": (Bell, (1, 2, 0)),
    "sigmf": (Sigmoid, (1, 0)),
    "trimf": (Triangular, (0, 1, 2)),
    "trapmf": (Trapezoidal, (0, 1, 2, 3)),
}
"""Families, and for each of their parameters the position of ours."""

_KEYS = {
    "System": (
        *("Name", "Type", "Version", "NumInputs", "NumOutputs", "NumRules"),
        *("AndMethod", "OrMethod", "ImpMethod", "AggMethod", "DefuzzMethod"),
    ),
    "Input": ("Name", "Range", "NumMFs"),
    "Output": ("Name", "Range", "NumMFs"),
}
_HEAD = re.compile(r"\[(System|Rules|(Input|Output)([0-9]{1,9}))\]")
_MF = re.compile(r"'([^']*)'\s*:\s*'([^']*)'\s*,\s*\[([^\]]*)\]")
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

    def chosen(self, key: str, known: Mapping[str, T]) -> T:
        word = self.text(key)
        if word.text not in known:
            raise word.unknown(key, known)
        return known[word.text]

    def check_count(self, key: str, count: int) -> None:
        said = self.entries.get(key)
        if said is not None and said.number("a whole number") != count:
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
    sections, rules = _sections(whole(text))
    if "System" not in sections:
        raise whole(text).error("The text has no [System] section.")
    about = sections["System"]
    method = _method(about)
    inputs = [
        Variable(section.text("Name").text, _terms(section, _set), *_range(section))
        for section in _numbered("Input", sections)
    ]
    outputs = [_output(section, method, 1 + len(inputs)) for section in _numbered("Output", sections)]
    for what, found in (("NumInputs", inputs), ("NumOutputs", outputs), ("NumRules", rules)):
        about.check_count(what, len(found))
        if not found:
            raise about.head.error(f"The text has no {what.removeprefix('Num').lower()}.")
    names, asked = [variable.name for variable in inputs], [list(variable.terms) for variable in inputs]
    said = {output.name: list(output.terms) for output in outputs}
    return System(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        rules=tuple(_rule(line, asked, names, said) for line in rules),
        t_norm=about.chosen("AndMethod", T_NORMS),
        s_norm=about.chosen("OrMethod", S_NORMS),
        limited=False,
        method=method,
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
            known = _KEYS[name.rstrip("0123456789")]
            if key.text not in known and (name == "System" or not re.fullmatch(r"MF[0-9]{1,9}", key.text)):
                raise key.unknown(f"[{name}] entry", known if name == "System" else (*known, "MF1", "MF2"))
            if key.text in found[name].entries:
                raise key.error(f"{key.text} appears twice.")
            found[name].entries[key.text] = value
    return found, rules


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


def _method(about: _Section) -> Method:
    if about.chosen("Type", {"sugeno": True, "mamdani": False}):
        return Method(sugeno=True, normalize=about.chosen("DefuzzMethod", WEIGHTED))
    return Method(
        sugeno=False,
        implication=about.chosen("ImpMethod", IMPLICATIONS),
        accumulation=about.chosen("AggMethod", ACCUMULATIONS),
        defuzzify=about.chosen("DefuzzMethod", DEFUZZIFIERS),
    )


def _range(section: _Section) -> tuple[float | None, float | None]:
    said = section.get("Range")
    words = said.part(1, len(said.text) - 1).words(_NUMBERS)
    if said.text[:1] != "[" or said.text[-1:] != "]" or len(words) != 2:
        raise said.error("Expected Range=[low high].")
    return interval(said, words)


def _terms(section: _Section, value_of: Callable[[Piece, list[float]], T]) -> dict[str, T]:
    found: dict[str, T] = {}
    for line in section.terms():
        match = _MF.fullmatch(line.text)
        if match is None:
            raise line.error("Expected 'name':'kind',[numbers].")
        name, kind, numbers = (line.part(*match.span(group)) for group in (1, 2, 3))
        if name.text in found:
            raise name.error(f"The term {name.text!r:.60} is defined twice.")
        values = [word.number(f"a parameter of {kind}") for word in numbers.words(_NUMBERS)]
        found[name.text] = value_of(kind, values)
    return found


def _set(kind: Piece, values: list[float]) -> MembershipFunction:
    if kind.text not in SETS:
        raise kind.unknown("membership function", SETS)
    family, places = SETS[kind.text]
    if len(values) != len(places):
        raise kind.error(f"{kind} takes {len(places)} parameters, got {len(values)}.")
    theirs = dict(zip(places, values, strict=True))
    return fuzzy_set(kind, family, [theirs[place] for place in range(len(places))])


def _output(section: _Section, method: Method, n_coefs: int) -> Output:
    def term(kind: Piece, values: list[float]) -> Term:
        if not method.sugeno:
            return _set(kind, values)
        return coefficients(kind, values, {"constant": 1, "linear": n_coefs})

    low, high = _range(section)
    if not method.sugeno and (low is None or high is None or low == high):
        raise section.get("Range").error("The output of a Mamdani system needs a finite range.")
    adds = method.sugeno and not method.normalize  # a default would be added to every output
    return Output(section.text("Name").text, _terms(section, term), low, high, 0.0 if adds else middle(low, high))


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
        Is(name, terms[abs(number) - 1], ("not",) if number < 0 else ())
        for name, terms, number in zip(names, inputs, _choices(asked, inputs), strict=True)
        if number
    )
    conclusions = {}
    for (name, terms), number in zip(outputs.items(), _choices(said, list(outputs.values())), strict=True):
        if number < 0:
            raise said.error("A conclusion with 'not' (a negative number) is not supported.")
        if number:
            conclusions[name] = terms[number - 1]
    strength = weight.number("the weight of the rule")
    if strength < 0:
        raise weight.error("The weight of a rule must be at least 0.")
    if joined.text not in ("1", "2") or (joined.text == "2" and not conditions):
        raise joined.error("Expected 1 (conditions joined by AND) or 2 (by OR, with at least one condition).")
    premise = And(conditions) if joined.text == "1" else Or(conditions)
    return Statement(simplified(premise), conclusions, strength, line)


def _choices(said: Piece, terms: list[list[str]]) -> list[int]:
    """Return the numbers of the chosen terms."""
    words = said.words(_NUMBERS)
    if len(words) != len(terms):
        raise said.error(f"Expected {len(terms)} number(s) here, found {len(words)}.")
    found = []
    for word, known in zip(words, terms, strict=True):
        number = word.number("the number of a term")
        number = 0.0 if number == _ANY else number
        if number != int(number):
            raise word.error("Hedges (numbers with a fraction) are not supported in .fis files.")
        if abs(number) > len(known):
            raise word.error(f"There is no term {abs(int(number))}: the variable has {len(known)}.")
        found.append(int(number))
    return found

"""Reads fuzzy systems from FLL, the language of fuzzylite (version 6 and later).

::

    Engine: lamp
    InputVariable: ambient
      range: 0 1
      term: dark Triangle 0 0 0.5
      term: bright Gaussian 1 0.3
    OutputVariable: power
      defuzzifier: WeightedAverage TakagiSugeno
      default: nan
      term: high Constant 1
      term: rising Linear -0.5 0.8
    RuleBlock: rules
      conjunction: Minimum
      rule: if ambient is very dark then power is high
      rule: if ambient is not dark then power is rising with 0.5

Everything that is read has the meaning it has in fuzzylite; the rest is an error that points at its line:

- ``default: nan`` becomes 0, or the middle of the range in a Mamdani system, since our rules always return a
  number; ``uncovered`` of the activations marks those bags. A weighted sum cannot have another default than 0;
- ``lock-range: true`` becomes ``limited``; other inputs then lose their range, which would limit them too;
- disabled rule blocks are ignored; disabled variables are not supported, nor are outputs that keep their
  previous value (``lock-previous``) or are clipped (``lock-range``);
- if several rules conclude one term of a Sugeno output, its ``aggregation`` must be ``none``, since versions of
  fuzzylite differ in the meaning of any other.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, TypeVar

from fuzzymil.membership import Bell, Gaussian, MembershipFunction, Sigmoid, Trapezoidal, Triangular
from fuzzymil.network.norms import DUAL
from fuzzymil.rules._formats.fll_rules import read_rule
from fuzzymil.rules._formats.syntax import Piece, coefficients, fuzzy_set, interval, lines, whole
from fuzzymil.rules._formats.system import Method, Output, Statement, System, Term
from fuzzymil.rules.premise import And, Expression, Or
from fuzzymil.rules.rule import Variable

# fuzzylite's words, and ours.
T_NORMS = {
    "AlgebraicProduct": "product",
    "Minimum": "min",
    "BoundedDifference": "lukasiewicz",
    "HamacherProduct": "hamacher",
    "EinsteinProduct": "einstein",
}
S_NORMS = {
    "AlgebraicSum": "algebraic",
    "Maximum": "max",
    "BoundedSum": "bounded",
    "HamacherSum": "hamacher",
    "EinsteinSum": "einstein",
}
IMPLICATIONS = {"Minimum": "min", "AlgebraicProduct": "product"}
ACCUMULATIONS = {"Maximum": "max", "AlgebraicSum": "algebraic", "BoundedSum": "bounded", "UnboundedSum": "sum"}
DEFUZZIFIERS = {
    "Centroid": "centroid",
    "Bisector": "bisector",
    "MeanOfMaximum": "mom",
    "SmallestOfMaximum": "som",
    "LargestOfMaximum": "lom",
}
WEIGHTED = {"WeightedAverage": True, "WeightedSum": False}
"""Whether strengths are divided by their sum."""

SETS: dict[str, type[MembershipFunction]] = {
    "Gaussian": Gaussian,
    "Bell": Bell,
    "Sigmoid": Sigmoid,
    "Triangle": Triangular,
    "Trapezoid": Trapezoidal,
}
"""The order of the parameters is the same as here."""

_KEYS: dict[str, tuple[str, ...]] = {
    "Engine": ("description",),
    "InputVariable": ("description", "enabled", "range", "lock-range", "term"),
    "OutputVariable": (
        *("description", "enabled", "range", "lock-range", "aggregation"),
        *("defuzzifier", "default", "lock-previous", "term"),
    ),
    "RuleBlock": ("description", "enabled", "conjunction", "disjunction", "implication", "activation", "rule"),
}
_MANY = ("term", "rule")

T = TypeVar("T")


class _Section(NamedTuple):
    kind: str
    name: Piece
    entries: dict[str, list[Piece]]

    def one(self, key: str) -> Piece | None:
        """Return the value of a key, if it has one."""
        found = self.entries.get(key)
        return found[0] if found and found[0].text not in ("", "none") else None

    def chosen(self, key: str, known: Mapping[str, T]) -> T | None:
        """Return the meaning of the word under a key."""
        word = self.one(key)
        if word is None:
            return None
        if word.text not in known:
            raise word.unknown(key, known)
        return known[word.text]

    def is_set(self, key: str, default: bool) -> bool:
        found = self.chosen(key, {"true": True, "false": False})
        return default if found is None else found


def read(text: str) -> System:
    """Parse FLL text; raises `RuleSyntaxError`."""
    everything = whole(text)
    sections = _sections(everything)
    end = everything.part(everything.end, everything.end)
    inputs, limited = _inputs(sections["InputVariable"])
    outputs, method = _outputs(sections["OutputVariable"], 1 + len(inputs), end)
    blocks = [section for section in sections["RuleBlock"] if section.is_set("enabled", True)]
    known = ({variable.name: variable.terms for variable in inputs}, {output.name: output.terms for output in outputs})
    rules = []
    for block in blocks:
        activation = block.one("activation")
        if activation is not None and activation.text != "General":
            raise activation.error(f"The activation {activation.text!r:.60} is not supported; only General is.")
        for line in block.entries.get("rule", []):
            rule = read_rule(line, *known)
            _needs_norms(rule.premise, block, line)
            rules.append(rule)
    if not rules:
        raise end.error("The text has no rule. Add 'rule: if ... then ...' to a RuleBlock.")
    t_norm = _shared(blocks, "conjunction", T_NORMS)
    s_norm = _shared(blocks, "disjunction", S_NORMS)
    if t_norm is None:  # no rule needs it
        t_norm = next((name for name, dual in DUAL.items() if dual == s_norm), "min")
    if method.sugeno:
        _check_shared_terms(sections["OutputVariable"], rules)
    else:
        implication = _shared(blocks, "implication", IMPLICATIONS)
        if implication is None:
            raise blocks[0].name.error("A Mamdani system needs an implication ('implication: Minimum').")
        method = method._replace(implication=implication)
    return System(
        inputs=inputs,
        outputs=outputs,
        rules=tuple(rules),
        t_norm=t_norm,
        s_norm=s_norm or DUAL[t_norm],
        limited=limited,
        method=method,
    )


# ---------------------------------------------------------------------- sections


def _sections(text: Piece) -> dict[str, list[_Section]]:
    found: dict[str, list[_Section]] = {kind: [] for kind in _KEYS}
    named: set[tuple[str, str]] = set()
    section: _Section | None = None
    for line in lines(text):
        content, _ = line.split("#")
        if not content.text:
            continue
        key, value = content.split(":")
        if value is None:
            raise content.error("Expected 'key: value'.")
        if key.text in _KEYS:
            section = _Section(key.text, value, {})
            found[key.text].append(section)
            if (key.text, value.text) in named and key.text != "RuleBlock":
                raise value.error(f"{key.text} {value.text!r:.60} is declared twice.")
            named.add((key.text, value.text))
            continue
        if section is None:
            raise key.unknown("section", _KEYS)
        if key.text not in _KEYS[section.kind]:
            raise key.unknown(f"{section.kind} entry", (*_KEYS[section.kind], *_KEYS))
        entries = section.entries.setdefault(key.text, [])
        if entries and key.text not in _MANY:
            raise key.error(f"{key.text!r} appears twice.")
        entries.append(value)
    return found


def _name(section: _Section) -> str:
    if not section.is_set("enabled", True):
        raise section.name.error("This variable is disabled: enable it, or remove it and its rules.")
    if len(section.name.words()) != 1 or set("()") & set(section.name.text):
        raise section.name.error(f"{section.kind} needs a name of one word, without parentheses.")
    return section.name.text


def _range(section: _Section) -> tuple[float | None, float | None]:
    said = section.one("range")
    if said is None:
        return None, None
    words = said.words()
    if len(words) != 2:
        raise said.error("Expected two numbers, the lowest and the highest value.")
    return interval(said, words)


def _inputs(sections: list[_Section]) -> tuple[tuple[Variable, ...], bool]:
    """Return the variables, and whether values are clipped to their ranges."""
    ranges = [_range(section) for section in sections]
    locked = [
        section.is_set("lock-range", False) and ends != (None, None)
        for section, ends in zip(sections, ranges, strict=True)
    ]
    limited = any(locked)
    found = []
    for section, ends, lock in zip(sections, ranges, locked, strict=True):
        low, high = ends if lock or not limited else (None, None)
        found.append(Variable(_name(section), _terms(section, _set), low, high))
    return tuple(found), limited


def _terms(section: _Section, value_of: Callable[[Piece, list[Piece]], T | None]) -> dict[str, T]:
    found: dict[str, T] = {}
    for line in section.entries.get("term", []):
        words = line.words()
        if len(words) < 2:
            raise line.error("Expected a term: its name, kind and parameters ('dark Triangle 0 0 0.5').")
        name, kind, *numbers = words
        if name.text in found:
            raise name.error(f"The term {name.text!r:.60} is defined twice.")
        value = value_of(kind, numbers)
        if value is None:
            raise kind.unknown("kind of term", (*SETS, "Rectangle"))
        found[name.text] = value
    return found


def _set(kind: Piece, words: list[Piece]) -> MembershipFunction | None:
    values = [word.number(f"a parameter of {kind}") for word in words]
    if kind.text == "Rectangle" and len(values) == 2:  # a rectangle is a trapezoid with vertical edges
        return fuzzy_set(kind, lambda left, right: Trapezoidal(left, left, right, right), sorted(values))
    family = SETS.get(kind.text)
    if family is None:
        return None
    count = len(family.fields())
    if len(values) == count + 1 and values[-1] != 1:
        raise words[-1].error("The height of a term must be 1; other heights are not supported.")
    if len(values) not in (count, count + 1):
        raise kind.error(f"{kind} takes {count} parameters, got {len(values)}.")
    return fuzzy_set(kind, family, values[:count])


# ---------------------------------------------------------------------- outputs


def _outputs(sections: list[_Section], n_coefs: int, end: Piece) -> tuple[tuple[Output, ...], Method]:
    if not sections:
        raise end.error("The text has no OutputVariable.")
    method = _method(sections[0])
    for section in sections:
        if _method(section) != method:
            where = section.one("defuzzifier") or section.name
            raise where.error("All outputs must have the same defuzzifier and aggregation.")

    def term(kind: Piece, words: list[Piece]) -> Term | None:
        if not method.sugeno:
            return _set(kind, words)
        if kind.text in SETS:
            raise kind.error("Tsukamoto systems (fuzzy sets as conclusions) are not supported: use Constant or Linear.")
        values = [word.number(f"a coefficient of {kind}") for word in words]
        return coefficients(kind, values, {"Constant": 1, "Linear": n_coefs})

    found = []
    for section in sections:
        low, high = _range(section)
        default = section.one("default")
        value = math.nan if default is None else default.number("a number", finite=False)
        if default is not None and math.isinf(value):
            raise default.error("The default must be a number or nan.")
        if default is not None and method.sugeno and not method.normalize and value and not math.isnan(value):
            raise default.error(
                "The default of a weighted sum must be 0 or nan: in FLL it replaces the sum where no rule fires, while "
                "additive rules add their default to every output."
            )
        if section.is_set("lock-previous", False):
            raise section.name.error("An output that keeps its previous value (lock-previous) is not supported.")
        if section.is_set("lock-range", False) and method.sugeno and (low is not None or high is not None):
            raise section.name.error("An output that is clipped to its range (lock-range) is not supported.")
        if not method.sugeno and (low is None or high is None or low == high):
            raise section.name.error("The output of a Mamdani system needs a finite range ('range: 0 1').")
        found.append(Output(_name(section), _terms(section, term), low, high, value))
    return tuple(found), method


def _method(section: _Section) -> Method:
    said = section.one("defuzzifier")
    if said is None:
        raise section.name.error("The output needs a defuzzifier ('defuzzifier: WeightedAverage TakagiSugeno').")
    kind, *words = said.words()
    if kind.text in WEIGHTED:
        if [word.text for word in words] not in ([], ["Automatic"], ["TakagiSugeno"]):
            raise words[0].error("Only Takagi-Sugeno inference ('TakagiSugeno') is supported here.")
        return Method(sugeno=True, normalize=WEIGHTED[kind.text])
    if kind.text not in DEFUZZIFIERS:
        raise kind.unknown("defuzzifier", (*WEIGHTED, *DEFUZZIFIERS))
    aggregation = section.chosen("aggregation", ACCUMULATIONS)
    if aggregation is None:
        raise section.name.error("The output of a Mamdani system needs an aggregation ('aggregation: Maximum').")
    resolution = None
    if words:
        count = words[0].number("the number of cells")
        if len(words) > 1 or count != int(count) or count < 2:
            raise words[0].error("Expected one integer of at least 2.")
        resolution = int(count)
    return Method(sugeno=False, accumulation=aggregation, defuzzify=DEFUZZIFIERS[kind.text], resolution=resolution)


# ---------------------------------------------------------------------- blocks of rules


def _shared(blocks: Iterable[_Section], key: str, known: Mapping[str, str]) -> str | None:
    """Return the operator that the blocks share; blocks without one are ignored."""
    found = None
    for block in blocks:
        chosen = block.chosen(key, known)
        where = block.one(key)
        if chosen is not None and where is not None and found not in (None, chosen):
            raise where.error(f"All rule blocks must have the same {key}.")
        found = chosen or found
    return found


def _needs_norms(premise: Expression, block: _Section, line: Piece) -> None:
    open_parts = [premise]
    while open_parts:
        node = open_parts.pop()
        if isinstance(node, And | Or):
            open_parts.extend(node.parts)
            key = "conjunction" if isinstance(node, And) else "disjunction"
            if len(node.parts) > 1 and block.one(key) is None:
                word = "and" if isinstance(node, And) else "or"
                raise line.error(f"The rule joins conditions by {word!r}, but its block has no {key}.")


def _check_shared_terms(sections: list[_Section], rules: list[Statement]) -> None:
    """Raise an error for what versions of fuzzylite interpret differently."""
    counts = Counter(said for rule in rules for said in rule.conclusions.items())
    shared = {output for (output, _), count in counts.items() if count > 1}
    for section in sections:
        said = section.one("aggregation")
        if said is not None and said.text != "UnboundedSum" and section.name.text in shared:
            raise said.error(
                "Several rules conclude the same term of this output. Depending on its version, fuzzylite adds their "
                "strengths or joins them by this aggregation. Write 'aggregation: none' to add them."
            )

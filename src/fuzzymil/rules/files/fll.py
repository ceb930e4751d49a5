"""Reads fuzzy systems from FLL, the language of fuzzylite (version 5 and later).

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
  number; ``uncovered`` of the activations marks those bags;
- ``lock-range: true`` of inputs becomes ``limited``; other inputs then lose their range, which would limit them too;
- disabled rule blocks are ignored; disabled variables are not supported;
- a condition about an output (``if power is high then ...``) is replaced by the conditions of the rules before it
  that conclude this term;
- hedges of a conclusion modify the strength of the rule for it, and for the conclusions after it;
- a file without rules gets one disabled rule (weight 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeVar

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import MembershipFunction
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.activation import check_activation
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._syntax import Piece, coefficients, interval, lines, unused, whole
from fuzzymil.rules.files._system import Output, Statement, System, Term, without_rules
from fuzzymil.rules.files.fll_rules import RuleReader
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import And, Expression, Or
from fuzzymil.rules.rule import Variable

# fuzzylite's words, and ours.
T_NORMS = {
    "AlgebraicProduct": "product",
    "Minimum": "min",
    "BoundedDifference": "lukasiewicz",
    "HamacherProduct": "hamacher",
    "EinsteinProduct": "einstein",
    "DrasticProduct": "drastic",
    "NilpotentMinimum": "nilpotent",
}
S_NORMS = {
    "AlgebraicSum": "algebraic",
    "Maximum": "max",
    "BoundedSum": "bounded",
    "NormalizedSum": "bounded",
    "HamacherSum": "hamacher",
    "EinsteinSum": "einstein",
    "DrasticSum": "drastic",
    "NilpotentMaximum": "nilpotent",
}
ACCUMULATIONS = {**S_NORMS, "UnboundedSum": "sum"}
DEFUZZIFIERS = {
    "Centroid": "centroid",
    "Bisector": "bisector",
    "MeanOfMaximum": "mom",
    "SmallestOfMaximum": "som",
    "LargestOfMaximum": "lom",
}
WEIGHTED = {"WeightedAverage": "average", "WeightedSum": "sum"}
ACTIVATIONS = ("General", "First", "Last", "Highest", "Lowest", "Proportional", "Threshold")

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
_EARLY_KEYS = {"accumulation": "aggregation", "lock-valid": "lock-previous"}  # of version 5

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
    outputs = _outputs(sections["OutputVariable"], [variable.name for variable in inputs], end)
    blocks = [section for section in sections["RuleBlock"] if section.is_set("enabled", True)]
    rules, s_norms = _rules(blocks, inputs, outputs)
    t_norm = _shared(blocks, "conjunction", T_NORMS)
    s_norm = _shared(blocks, "disjunction", S_NORMS)
    for joined, line in s_norms.items():
        if s_norm not in (None, joined):
            raise line.error(
                "The aggregation of this output must be the disjunction of the rules, which join its terms."
            )
        s_norm = joined
    if t_norm is None:  # no rule needs it
        t_norm = next((name for name, dual in DUAL.items() if dual == s_norm), "min")
    return System(
        inputs=inputs,
        outputs=_with_implications(outputs, blocks, rules, sections["OutputVariable"]),
        rules=tuple(rule for block in rules for rule in block) or (without_rules(outputs, end),),
        t_norm=t_norm,
        s_norm=s_norm or DUAL[t_norm],
        limited=limited,
        activation=_activation(blocks),
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
        word = _EARLY_KEYS.get(key.text, key.text)
        if word == "activation" and value.text in T_NORMS:  # in early versions, an implication
            word = "implication"
        if word not in _KEYS[section.kind]:
            raise key.unknown(f"{section.kind} entry", (*_KEYS[section.kind], *_KEYS))
        entries = section.entries.setdefault(word, [])
        if entries and word not in _MANY:
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
    return interval(said, [word.number("a number", finite=False) for word in words])


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


def _terms(section: _Section, value_of: Callable[[Piece, Piece], T]) -> dict[str, T]:
    """Return the terms of a variable; of two with the same name, rules mean the last."""
    found: dict[str, T] = {}
    for line in section.entries.get("term", []):
        words = line.words()
        if len(words) < 2:
            raise line.error("Expected a term: its name, kind and parameters ('dark Triangle 0 0 0.5').")
        name, kind = words[:2]
        rest = line.part(kind.end - line.start, len(line.text))
        if name.text in found:
            found[unused(name.text, found)] = found[name.text]
        found[name.text] = value_of(kind, rest)
    return found


def _set(kind: Piece, rest: Piece) -> MembershipFunction:
    if kind.text not in sets.FLL:
        raise kind.unknown("kind of term", sets.FLL)
    if kind.text == "Function":
        return sets.read_formula(rest)
    values = [word.number(f"a parameter of {kind}", finite=False) for word in rest.words()]
    return sets.read(kind, kind.text, values, sets.FLL)


# ---------------------------------------------------------------------- outputs


def _outputs(sections: list[_Section], inputs: list[str], end: Piece) -> list[Output]:
    if not sections:
        raise end.error("The text has no OutputVariable.")
    names = [section.name.text for section in sections]
    return [_output(section, len(inputs) + 1, [*inputs, *names[:k]]) for k, section in enumerate(sections)]


def _output(section: _Section, n_coefs: int, known: list[str]) -> Output:
    """Read an output; formulas in it may use the ``known`` names."""
    low, high = _range(section)
    default = section.one("default")
    value = math.nan if default is None else default.number("a number", finite=False)
    if default is not None and math.isinf(value):
        raise default.error("The default must be a number or nan.")
    method = _method(section)
    weighted = method["defuzzify"] in WEIGHTED.values()
    if not weighted and (low is None or high is None or low == high):
        raise section.name.error("The output of a Mamdani system needs a finite range ('range: 0 1').")

    def term(kind: Piece, rest: Piece) -> Term:
        if weighted and kind.text == "Function":
            return sets.read_formula(rest, known)
        if not weighted or kind.text in sets.FLL:
            return _set(kind, rest)
        if kind.text not in ("Constant", "Linear"):
            raise kind.unknown("kind of term", ("Constant", "Linear", *sets.FLL))
        values = [word.number(f"a coefficient of {kind}") for word in rest.words()]
        if kind.text == "Linear" and len(values) == n_coefs + 1 and values[-1] == 1:  # a height
            values.pop()
        return coefficients(kind, values, {"Constant": 1, "Linear": n_coefs})

    return Output(
        _name(section),
        _terms(section, term),
        low,
        high,
        value,
        **method,
        clip=section.is_set("lock-range", False) and weighted,
        hold=section.is_set("lock-previous", False),
    )


def _method(section: _Section) -> dict[str, Any]:
    """Return how an output becomes a number, as fields of `Output`."""
    said = section.one("defuzzifier")
    if said is None:
        raise section.name.error("The output needs a defuzzifier ('defuzzifier: WeightedAverage TakagiSugeno').")
    kind, *words = said.words()
    aggregation = section.chosen("aggregation", ACCUMULATIONS)
    if kind.text in WEIGHTED:
        if [word.text for word in words] not in ([], ["Automatic"], ["TakagiSugeno"], ["Tsukamoto"]):
            raise words[0].unknown("kind of inference", ("Automatic", "TakagiSugeno", "Tsukamoto"))
        return {"defuzzify": WEIGHTED[kind.text], "accumulation": aggregation or "sum"}
    if kind.text not in DEFUZZIFIERS:
        raise kind.unknown("defuzzifier", (*WEIGHTED, *DEFUZZIFIERS))
    if aggregation is None:
        raise section.name.error("The output of a Mamdani system needs an aggregation ('aggregation: Maximum').")
    resolution = None
    if words:
        count = words[0].number("the number of cells")
        if len(words) > 1 or count != int(count) or count < 2:
            raise words[0].error("Expected one integer of at least 2.")
        resolution = int(count)
    return {"defuzzify": DEFUZZIFIERS[kind.text], "accumulation": aggregation, "resolution": resolution}


# ---------------------------------------------------------------------- blocks of rules


def _rules(
    blocks: list[_Section], inputs: Iterable[Variable], outputs: list[Output]
) -> tuple[list[list[Statement]], dict[str, Piece]]:
    """Return the rules of each block, and the S-norms that conditions about outputs need."""
    known = ({variable.name: variable.terms for variable in inputs}, {output.name: output.terms for output in outputs})
    joined = {output.name: output.accumulation for output in outputs}
    found: list[list[Statement]] = []
    s_norms: dict[str, Piece] = {}
    before: list[Statement] = []
    for block in blocks:
        own = []
        for line in block.entries.get("rule", []):
            reader = RuleReader(line, *known, before)
            read = reader.rules()
            s_norms |= {joined[name]: line for name in reader.chained}
            _needs_norms(read[0].premise, block, line, chained=bool(reader.chained))
            if len(read) > 1 and _activation([block]) != "general":
                raise line.error("The rule concludes an output twice, which only the activation General supports.")
            own += read
            before += read
        found.append(own)
    return found, s_norms


def _with_implications(
    outputs: list[Output], blocks: list[_Section], rules: list[list[Statement]], sections: list[_Section]
) -> tuple[Output, ...]:
    """Return the outputs with the implications of the blocks that conclude them."""
    found = []
    for output, section in zip(outputs, sections, strict=True):
        concluding = [
            block
            for block, own in zip(blocks, rules, strict=True)
            if any(output.name in rule.conclusions for rule in own)
        ]
        chosen = _shared(concluding, "implication", T_NORMS)
        if chosen is None and concluding and not output.weighted:
            raise section.name.error("A Mamdani system needs an implication ('implication: Minimum' in the RuleBlock).")
        found.append(output._replace(implication="min" if chosen is None or output.weighted else chosen))
    return tuple(found)


def _activation(blocks: list[_Section]) -> str:
    """Return how rules are activated, in our words."""
    found = []
    for block in blocks:
        said = block.one("activation")
        if said is not None:
            kind, *words = said.words()
            if kind.text not in ACTIVATIONS:
                raise kind.unknown("activation", ACTIVATIONS)
            defaults = {"First": ["1", "0"], "Last": ["1", "0"], "Highest": ["1"], "Lowest": ["1"]}.get(kind.text, [])
            numbers = [word.text for word in words] or defaults
            text = " ".join([kind.text.lower(), *(_short(number) for number in numbers)])
            try:
                found.append((check_activation(text), said))
            except ParameterError as problem:
                raise said.error(str(problem)) from None
    ways = {text for text, _ in found}
    if ways - {"general"} and len(blocks) > 1:
        raise found[-1][1].error("With several rule blocks, only the activation General is supported.")
    return next(iter(ways), "general")


def _short(number: str) -> str:
    try:
        return format_number(float(number), None)
    except ValueError:
        return number


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


def _needs_norms(premise: Expression, block: _Section, line: Piece, *, chained: bool) -> None:
    open_parts = [premise]
    while open_parts:
        node = open_parts.pop()
        if isinstance(node, And | Or):
            open_parts.extend(node.parts)
            key = "conjunction" if isinstance(node, And) else "disjunction"
            if len(node.parts) > 1 and block.one(key) is None and not chained:
                word = "and" if isinstance(node, And) else "or"
                raise line.error(f"The rule joins conditions by {word!r}, but its block has no {key}.")

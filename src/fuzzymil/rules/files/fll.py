"""FLL, the language of fuzzylite (version 5 and later).

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

- ``default: nan`` stays NaN: where no rule concludes anything, there is no answer; but a weighted sum of numbers of
  every rule, which is read as rules that are added up, is 0 there;
- of several terms of a variable with the same name, rules mean the last, as in pyfuzzylite; a warning names them;
- ``lock-range: true`` of inputs becomes ``limited``; other inputs then lose their range, which would limit them too;
- disabled rule blocks are ignored, and so is what rules conclude about disabled outputs; a condition about a disabled
  variable is never true; a warning names these variables;
- a condition about an output (``if power is high then ...``) is replaced by the conditions of the rules before it
  that conclude this term;
- hedges of a conclusion modify the strength of the rule for it, and for the conclusions after it;
- a file without rules gets one disabled rule (weight 0).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from fuzzymil._utils.errors import ParameterError, listed, warn_user
from fuzzymil.inference.membership import Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.conclusion import check_activation
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._exchange import Words, Writer, number, register_exchange_format
from fuzzymil.rules.files._system import Output, System, SystemRule, Term, without_rules
from fuzzymil.rules.files._text import Piece, by_name, coefficients, interval, lines, plain_word, whole, word_for
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import ANYTHING, MAX_DEPTH, And, Expression, Is, Not, Or, Quantified, depth, inside
from fuzzymil.rules.rule import Variable

WORDS = Words("FLL", s_norms={"NormalizedSum": "bounded"})
ACTIVATIONS = {"First": "1 0", "Last": "1 0", "Highest": "1", "Lowest": "1"}
ACTIVATIONS |= dict.fromkeys(("General", "Proportional", "Threshold"), "")
"""The ways of activation, and what their numbers are if there are none."""

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

    def meaning(self, key: str, known: Mapping[str, T], default: T | None = None) -> T | None:
        """Return the meaning of the word under a key."""
        word = self.one(key)
        if word is not None and word.text not in known:
            raise word.unknown(key, known)
        return default if word is None else known[word.text]

    def is_set(self, key: str, default: bool = False) -> bool:
        return bool(self.meaning(key, {"true": True, "false": False}, default))


def read(text: str) -> System:
    """Parse FLL text; raises `RuleSyntaxError`."""
    everything = whole(text)
    sections = _sections(everything)
    end = everything.part(everything.end, everything.end)
    inputs, limited = _inputs(sections["InputVariable"])
    outputs = _outputs(sections["OutputVariable"], [variable.name for variable in inputs], end)
    blocks = [section for section in sections["RuleBlock"] if section.is_set("enabled", default=True)]
    disabled = _disabled(sections)
    rules, s_norms = _rules(blocks, inputs, outputs, disabled)
    outputs = [output for output in outputs if output.name not in disabled]
    if not outputs:
        raise sections["OutputVariable"][0].name.error("Every output is disabled: enable one.")
    t_norm = _shared_operator(_joining(And, blocks, rules), "conjunction", WORDS.t_norms)
    s_norm = _shared_operator(_joining(Or, blocks, rules), "disjunction", WORDS.s_norms)
    for joined, line in s_norms.items():
        if s_norm not in (None, joined):
            raise line.error("The aggregation of this output must be the disjunction of the rules.")
        s_norm = joined
    if t_norm is None:  # no rule needs it
        t_norm = next((name for name, dual in DUAL.items() if dual == s_norm), "min")
    about = [section for section in sections["OutputVariable"] if section.name.text not in disabled]
    said = _with_implications(outputs, blocks, rules, about)
    every = tuple(rule for block in rules for rule in block) or (without_rules(outputs, end),)
    name = sections["Engine"][0].name.text if sections["Engine"] else ""
    return System(inputs, said, every, t_norm, s_norm or DUAL[t_norm], limited, _activation(blocks), name)


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
        if word == "activation" and value.text in WORDS.t_norms:  # in early versions, an implication
            word = "implication"
        if word not in _KEYS[section.kind]:
            raise key.unknown(f"{section.kind} entry", (*_KEYS[section.kind], *_KEYS))
        entries = section.entries.setdefault(word, [])
        if entries and word not in _MANY:
            raise key.error(f"{key.text!r} appears twice.")
        entries.append(value)
    return found


def _disabled(sections: Mapping[str, list[_Section]]) -> frozenset[str]:
    """Return the names of the disabled variables."""
    variables = [*sections["InputVariable"], *sections["OutputVariable"]]
    found = frozenset(each.name.text for each in variables if not each.is_set("enabled", default=True))
    if found:
        warn_user(
            f"Disabled in the file: {listed(f'{name!r:.60}' for name in sorted(found))}. Conditions about them are "
            "never true, and conclusions about them are left out."
        )
    return found


def _name(section: _Section) -> str:
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
    locked = [section.is_set("lock-range") and _range(section) != (None, None) for section in sections]
    ranges = [
        _range(section) if lock or not any(locked) else (None, None)
        for section, lock in zip(sections, locked, strict=True)
    ]
    both = zip(sections, ranges, strict=True)
    return tuple(Variable(_name(section), _terms(section, _set), *ends) for section, ends in both), any(locked)


def _terms(section: _Section, value_of: Callable[[Piece, Piece], T]) -> dict[str, T]:
    """Return the terms of a variable."""

    def read() -> Iterator[tuple[str, T]]:
        for line in section.entries.get("term", []):
            words = line.words()
            if len(words) < 2:
                raise line.error("Expected a term: its name, kind and parameters ('dark Triangle 0 0 0.5').")
            name, kind = words[:2]
            yield name.text, value_of(kind, line.part(kind.end - line.start, len(line.text)))

    return by_name(section.name.text, read())


def _set(kind: Piece, rest: Piece) -> MembershipFunction:
    if kind.text not in sets.FLL:
        raise kind.unknown("kind of term", sets.FLL)
    if kind.text == "Function":
        return sets.read_formula(rest)
    values = [word.number(f"a parameter of {kind}", finite=False) for word in rest.words()]
    return sets.read_set(kind, kind.text, values, sets.FLL)


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
    weighted = method["defuzzify"] in WORDS.weighted.values()
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
        if kind.text == "Linear" and len(values) == n_coefs - 1:
            values.append(0.0)  # without a constant
        return coefficients(kind, values, {"Constant": 1, "Linear": n_coefs})

    method |= {"clip": section.is_set("lock-range") and weighted, "hold": section.is_set("lock-previous")}
    return Output(_name(section), _terms(section, term), low, high, value, **method)


def _method(section: _Section) -> dict[str, Any]:
    """Return how an output becomes a number, as fields of `Output`."""
    said = section.one("defuzzifier")
    if said is None:
        raise section.name.error("The output needs a defuzzifier ('defuzzifier: WeightedAverage TakagiSugeno').")
    kind, *words = said.words()
    aggregation = section.meaning("aggregation", WORDS.accumulations)
    if kind.text in WORDS.weighted:
        if [word.text for word in words] not in ([], ["Automatic"], ["TakagiSugeno"], ["Tsukamoto"]):
            raise words[0].unknown("kind of inference", ("Automatic", "TakagiSugeno", "Tsukamoto"))
        return {"defuzzify": WORDS.weighted[kind.text], "accumulation": aggregation or "sum"}
    if kind.text not in WORDS.defuzzifiers:
        raise kind.unknown("defuzzifier", (*WORDS.weighted, *WORDS.defuzzifiers))
    if aggregation is None:
        raise section.name.error("The output of a Mamdani system needs an aggregation ('aggregation: Maximum').")
    count = words[0].number("the number of cells") if words else None
    if count is not None and (len(words) > 1 or count != int(count) or count < 2):
        raise words[0].error("Expected one integer of at least 2.")
    resolution = None if count is None else int(count)
    return {"defuzzify": WORDS.defuzzifiers[kind.text], "accumulation": aggregation, "resolution": resolution}


# ---------------------------------------------------------------------- blocks of rules


def _rules(
    blocks: list[_Section], inputs: Iterable[Variable], outputs: list[Output], disabled: frozenset[str]
) -> tuple[list[list[SystemRule]], dict[str, Piece]]:
    """Return the rules of each block, and the S-norms that conditions about outputs need."""
    known = ({variable.name: variable.terms for variable in inputs}, {output.name: output.terms for output in outputs})
    joined = {output.name: output.accumulation for output in outputs}
    found: list[list[SystemRule]] = []
    s_norms: dict[str, Piece] = {}
    before: list[SystemRule] = []
    for block in blocks:
        own = []
        for line in block.entries.get("rule", []):
            reader = RuleReader(line, *known, before, disabled)
            read = reader.rules()
            s_norms |= {joined[name]: line for name in reader.chained}
            _needs_norms(read[0].premise, block, line, chained=bool(reader.chained))
            if len(read) > 1 and _activation([block]) != "general":
                raise line.error("The rule concludes an output twice, which only the activation General supports.")
            concluding = [rule for rule in read if rule.conclusions]
            if not concluding and _activation([block]) != "general":
                raise line.error("The rule concludes only disabled outputs: remove it, or use the activation General.")
            own += concluding
            before += concluding
        found.append(own)
    return found, s_norms


def _with_implications(
    outputs: list[Output], blocks: list[_Section], rules: list[list[SystemRule]], sections: list[_Section]
) -> tuple[Output, ...]:
    """Return the outputs with the implications of the blocks that conclude them."""
    found = []
    for output, section in zip(outputs, sections, strict=True):
        both = zip(blocks, rules, strict=True)
        concluding = [block for block, own in both if any(output.name in rule.conclusions for rule in own)]
        chosen = _shared_operator(concluding, "implication", WORDS.t_norms)
        if chosen is None and concluding and not output.weighted:
            raise section.name.error("A Mamdani system needs an implication ('implication: Minimum' in the RuleBlock).")
        found.append(output._replace(implication="min" if chosen is None or output.weighted else chosen))
    return tuple(found)


def _activation(blocks: list[_Section]) -> str:
    """Return how rules are activated, in our words."""
    found = "general"
    for said in filter(None, (block.one("activation") for block in blocks)):
        kind, *words = said.words()
        if kind.text not in ACTIVATIONS:
            raise kind.unknown("activation", ACTIVATIONS)
        numbers = [word.text for word in words] or ACTIVATIONS[kind.text].split()
        try:
            found = check_activation(" ".join([kind.text.lower(), *map(_short, numbers)]))
        except ParameterError as problem:
            raise said.error(str(problem)) from None
        if found != "general" and len(blocks) > 1:
            raise said.error("With several rule blocks, only the activation General is supported.")
    return found


def _short(number: str) -> str:
    try:
        return format_number(float(number), None)
    except ValueError:
        return number


def _joining(
    kind: type[And] | type[Or], blocks: Sequence[_Section], rules: Sequence[Sequence[SystemRule]]
) -> Sequence[_Section]:
    """Return the blocks with rules that join conditions by AND, or by OR; all of them if none has."""

    def joins(premise: Expression) -> bool:
        parts = inside(premise)
        return (isinstance(premise, kind) and len(parts) > 1) or any(map(joins, parts))

    found = [block for block, own in zip(blocks, rules, strict=True) if any(joins(rule.premise) for rule in own)]
    return found or blocks[:1]


def _shared_operator(blocks: Iterable[_Section], key: str, known: Mapping[str, str]) -> str | None:
    """Return the operator that the blocks share; blocks without one are ignored."""
    found = None
    for block in blocks:
        chosen, where = block.meaning(key, known), block.one(key)
        if where is not None and found not in (None, chosen):
            raise where.error(f"All rule blocks must have the same {key}.")
        found = chosen or found
    return found


def _needs_norms(premise: Expression, block: _Section, line: Piece, *, chained: bool) -> None:
    open_parts = [premise]
    while open_parts:
        node = open_parts.pop()
        open_parts.extend(inside(node))
        for kind, word, key in ((And, "and", "conjunction"), (Or, "or", "disjunction")):
            if isinstance(node, kind) and len(inside(node)) > 1 and block.one(key) is None and not chained:
                raise line.error(f"The rule joins conditions by {word!r}, but its block has no {key}.")


# ---------------------------------------------------------------------- rules

HEDGES = ("not", "very", "somewhat", "extremely", "seldom")
"""The hedges of fuzzylite."""

RESERVED = frozenset({"if", "then", "is", "and", "or", "with", "any", *HEDGES})
_TOKEN = re.compile(r"[()]|[^\s()]+")

Terms = Mapping[str, Mapping[str, object]]
"""Names of variables, each with its terms."""


class RuleReader:
    """Recursive-descent parser for one rule; each method parses what it is named after.

    ``inputs``, ``outputs``: names of variables, each with its terms. ``before``: the rules before this one, which
    decide conditions about outputs. ``disabled``: variables that no condition is true of, and no rule concludes.

    ``chained``: the outputs whose terms several rules before this one conclude, and this one asks for.
    """

    def __init__(
        self,
        text: Piece,
        inputs: Terms,
        outputs: Terms,
        before: Sequence[SystemRule] = (),
        disabled: Collection[str] = (),
    ) -> None:
        self.text, self.inputs, self.outputs, self.before, self.disabled = text, inputs, outputs, before, disabled
        self.chained: set[str] = set()
        self.tokens = [*text.words(_TOKEN), Piece(text.source, text.end, text.end)]
        self.place = self.level = 0

    @property
    def token(self) -> Piece:
        return self.tokens[self.place]

    def skip(self, word: str) -> bool:
        if self.token.text != word:
            return False
        self.place += 1
        return True

    def take(self, word: str, *others: str) -> None:
        """Parse a word; ``others`` would also be valid here, and are listed in the message."""
        if not self.skip(word):
            found = f"{self.token.text!r:.60}" if self.token.text else "the end of the rule"
            raise self.token.error(f"Expected {' or '.join(map(repr, (*others, word)))}, found {found}.")

    def word(self) -> str:
        """Return the token as it is compared with hedges."""
        return self.token.text

    def name(self, what: str, known: Mapping[str, object], where: str = "") -> str:
        token = self.token
        if not token.text:
            raise token.error(f"Expected {what}{where}, found the end of the rule.")
        if token.text not in known:
            raise token.unknown(what, known, where)
        self.place += 1
        return token.text

    def rules(self) -> list[SystemRule]:
        """Parse the rule; a conclusion on an output that has one already is returned as a rule of its own."""
        self.take("if")
        premise = self.premise()
        if depth(premise) > MAX_DEPTH:
            raise self.text.error(f"The rule has more than {MAX_DEPTH} levels of parentheses.")
        self.take("then", "and", "or")
        found: list[dict[str, str | Is]] = [{}]
        modified: tuple[str, ...] = ()
        while True:
            output = self.name("output", self.outputs)
            if output in found[-1]:
                found.append({})
            self.take("is")
            hedges = self.hedges(self.outputs[output])
            term = self.name("term", self.outputs[output], f" of {output!r:.60}")
            if output not in self.disabled:
                modified = (*hedges, *modified)  # the strength stays modified for the conclusions that follow
                found[-1][output] = Is(output, term, modified) if modified else term
            if not self.skip("and"):
                break
        weight = 1.0
        if self.skip("with"):
            weight = self.token.number("the weight of the rule")
            if weight < 0:
                raise self.token.error("The weight of a rule must be at least 0.")
            self.place += 1
        if self.token.text:
            raise self.token.error(f"Expected 'and', 'with' or the end of the rule, found {self.token.text!r:.60}.")
        return [SystemRule(premise, conclusions, weight, self.text) for conclusions in found]

    def premise(self) -> Expression:
        alternatives = list[Expression]()
        while not alternatives or self.skip("or"):
            parts = [self.part()]
            while self.skip("and"):
                parts.append(self.part())
            alternatives.append(parts[0] if len(parts) == 1 else And(tuple(parts)))
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))

    def part(self) -> Expression:
        opening = self.token
        if not self.skip("("):
            return self.condition()
        self.level += 1
        if self.level > MAX_DEPTH:
            raise opening.error(f"Parentheses are nested more than {MAX_DEPTH} levels deep.")
        found = self.premise()
        self.take(")", "and", "or")
        self.level -= 1
        return found

    def hedges(self, terms: Mapping[str, object]) -> list[str]:
        """Parse the hedges before one of these terms, which may be called like a hedge itself."""
        start, found = self.token, []
        while self.word() in HEDGES:
            after = self.tokens[self.place + 1].text
            if self.token.text in terms and after not in terms and after.lower() not in ("any", *HEDGES):
                break
            found.append(self.word())
            self.place += 1
        if len(found) > MAX_DEPTH:
            raise start.error(f"A condition can have at most {MAX_DEPTH} hedges.")
        if self.token.text and self.token.text not in terms and self.tokens[self.place + 1].text in terms:
            raise self.token.unknown("hedge", HEDGES)
        return found

    def condition(self) -> Expression:
        start = self.token
        known = self.outputs if start.text in self.outputs and start.text not in self.inputs else self.inputs
        variable = self.name("variable", known)
        self.take("is")
        hedges = self.hedges(known[variable])
        if variable in self.disabled:
            self.skip("any") or self.name("term", known[variable], f" of {variable!r:.60}")
            return Not(ANYTHING)
        if self.skip("any"):  # fully true; other hedges do not change what is fully true or false
            return Not(ANYTHING) if hedges.count("not") % 2 else ANYTHING
        term = self.name("term", known[variable], f" of {variable!r:.60}")
        if known is self.inputs:
            return Is(variable, term, tuple(hedges))
        return self.condition_on_output(start, term, hedges)

    def condition_on_output(self, where: Piece, term: str, hedges: list[str]) -> Expression:
        """Return the condition that the rules before this one conclude a term of an output."""
        rules = [rule for rule in self.before if rule.conclusions.get(where.text) == term]
        hedged = any(isinstance(rule.conclusions.get(where.text), Is) for rule in self.before)
        if hedges not in ([], ["not"]) or hedged or any(rule.weight != 1 for rule in rules):
            raise where.error("A condition about an output is supported only without hedges and weights.")
        if len(rules) > 1:
            self.chained.add(where.text)
        parts = tuple(rule.premise for rule in rules)
        found = parts[0] if len(parts) == 1 else Or(parts) if parts else Not(ANYTHING)
        return Not(found) if hedges else found


# ---------------------------------------------------------------------- writing


class _Writer(Writer):
    title, words, sets = "FLL", WORDS, sets.FLL

    def term_name(self, name: str) -> str:
        """Return the name as a plain word that is not a keyword."""
        word = plain_word(name)
        return f"_{word}" if word.lower() in RESERVED else word

    def variable_name(self, name: str) -> str:
        owners: list[Variable | Output] = [*self.system.inputs, *self.system.outputs]
        formulas = any(isinstance(term, Formula) for owner in owners for term in owner.terms.values())
        return "_x" if name == "x" and formulas else self.term_name(name)  # fuzzylite's own name in formulas

    def text(self, comments: Iterable[str] = ()) -> str:
        system = self.system
        text = [f"# {comment}" for comment in comments]
        text.append(f"Engine: {self.system_name()}")
        for variable in system.inputs:
            locked = system.limited and (variable.low is not None or variable.high is not None)
            text += [
                f"InputVariable: {self.inputs[variable.name]}",
                "  enabled: true",
                f"  range: {_range_text(variable.low, variable.high)}",
                f"  lock-range: {_yes(locked)}",
                *self.term_lines(variable),
            ]
        for output in system.outputs:
            added = output.weighted and output.accumulation == "sum"
            text += [
                f"OutputVariable: {self.outputs[output.name]}",
                "  enabled: true",
                f"  range: {_range_text(output.low, output.high)}",
                f"  lock-range: {_yes(output.clip)}",
                f"  aggregation: {'none' if added else self.operator('accumulation', output.accumulation)}",
                f"  defuzzifier: {self._defuzzifier(output)}",
                f"  default: {number(output.default)}",
                f"  lock-previous: {_yes(output.hold)}",
                *self.term_lines(output, self.variables if output.weighted else None),
            ]
        implications = sorted({output.implication for output in system.outputs if not output.weighted})
        for n, implication in enumerate(implications or [None]):
            # Numbers belong to the first block.
            own = {o.name for o in system.outputs if (n == 0 if o.weighted else o.implication == implication)}
            text += [
                f"RuleBlock: {'rules' if n == 0 else f'rules{n + 1}'}",
                "  enabled: true",
                f"  conjunction: {self.operator('T-norm', system.t_norm)}",
                f"  disjunction: {self.operator('S-norm', system.s_norm)}",
                f"  implication: {'none' if implication is None else self.operator('implication', implication)}",
                f"  activation: {self._activation(len(implications))}",
            ]
            for position, rule in enumerate(system.rules, start=1):
                said = {name: term for name, term in rule.conclusions.items() if name in own}
                apart = (rule._replace(conclusions=conclusions) for conclusions in self._apart(said))
                text += [f"  rule: {self._rule(position, each)}" for each in apart]
        return "\n".join(text) + "\n"

    def changes(self) -> list[str]:
        sampled = [
            "Sets are evaluated at points that include both ends of the range (sampling='points'); FLL evaluates them "
            "in the middle of cells, so that outputs differ a little."
        ]
        points = any(output.sampling == "points" and not output.weighted for output in self.system.outputs)
        return [*self.name_changes(), *(sampled if points else []), *self.number_changes()]

    def term_lines(self, owner: Variable | Output, names: Mapping[str, str] | None = None) -> list[str]:
        return [f"  term: {name} {self._term(term, names)}" for name, term in self.terms(owner)]

    def _term(self, term: Term, names: Mapping[str, str] | None) -> str:
        """Return the text of a term; a formula is a number, computed from variables, if ``names`` are given."""
        if names is not None and isinstance(term, Singleton):
            term = term.parameters
        if isinstance(term, MembershipFunction):
            kind, values = self.set(term, names)
            return " ".join((kind, *values))
        kind, numbers = ("Constant", term) if len(term) == 1 else ("Linear", (*term[1:], term[0]))
        return " ".join((kind, *map(number, numbers)))

    def _defuzzifier(self, output: Output) -> str:
        word = self.operator("defuzzifier", output.defuzzify)
        if not output.weighted:
            return f"{word} {output.resolution}"
        numbers = [isinstance(term, tuple | Singleton | Formula) for term in output.terms.values()]
        if any(isinstance(term, Formula) for term in output.terms.values()) and not all(numbers):
            raise ParameterError(f"FLL cannot average formulas and fuzzy sets together, as {output.name!r:.60} does.")
        return f"{word} {'TakagiSugeno' if all(numbers) else 'Tsukamoto'}"

    def _activation(self, n_blocks: int) -> str:
        activation = self.system.activation
        if activation != "general" and n_blocks > 1:
            raise ParameterError(f"FLL cannot express activation={activation!r} with several implications: use one.")
        kind, *numbers = activation.split()
        return " ".join((kind.capitalize(), *numbers))

    def _apart(self, conclusions: dict[str, str | Is]) -> list[dict[str, str | Is]]:
        """Return conclusions one by one if they have hedges, which FLL would apply to the conclusions that follow."""
        hedged: list[dict[str, str | Is]] = [{name: said} for name, said in conclusions.items() if isinstance(said, Is)]
        if not hedged or len(conclusions) == 1:
            return [conclusions] if conclusions else []
        if self.system.activation != "general":
            which = f"hedges in one of several conclusions with activation={self.system.activation!r}"
            raise ParameterError(f"FLL cannot express {which}.")
        plain: dict[str, str | Is] = {name: term for name, term in conclusions.items() if isinstance(term, str)}
        return [plain, *hedged] if plain else hedged

    def _rule(self, position: int, rule: SystemRule) -> str:
        t_norm, s_norm = self.system.t_norm, self.system.s_norm
        premise = self.premise(rule)
        if premise is None:
            advice = f"negate single conditions, or use s_norm={DUAL.get(t_norm)!r}"
            raise ParameterError(f"Rule {position} has NOT before parentheses, and {s_norm!r} is not dual: {advice}.")
        return rule_text(rule._replace(premise=premise), self)


def rule_text(rule: SystemRule, names: Writer) -> str:
    """Return a rule as text, with names as a writer writes them; its negations must be next to its conditions."""
    first = next(iter(names.inputs.values()))

    def said(condition: Is, owners: Mapping[str, str], terms: Mapping[str, Mapping[str, str]]) -> str:
        for hedge in condition.hedges:
            word_for("hedge", hedge, {known: known for known in HEDGES}, names.title)
        term = terms[condition.variable][condition.term]
        return " ".join((owners[condition.variable], "is", *condition.hedges, term))

    def words(premise: Expression) -> str:
        if isinstance(premise, Is):
            return said(premise, names.inputs, names.input_terms)
        if isinstance(premise, Not):
            return f"{first} is not any"
        assert not isinstance(premise, Quantified)  # refused before
        if not premise.parts:
            return f"{first} is any"
        join = " and " if isinstance(premise, And) else " or "
        return join.join(
            f"({words(part)})" if isinstance(part, And | Or) and part.parts else words(part) for part in premise.parts
        )

    concluded = (Is(name, rule.term(name) or "", rule.hedges(name)) for name in rule.conclusions)
    conclusions = [said(conclusion, names.outputs, names.output_terms) for conclusion in concluded]
    weight = "" if rule.weight == 1 else f" with {number(rule.weight)}"
    return f"if {words(rule.premise)} then {' and '.join(conclusions)}{weight}"


def _range_text(low: float | None, high: float | None) -> str:
    return f"{number(-math.inf if low is None else low)} {number(math.inf if high is None else high)}"


def _yes(value: bool) -> str:
    return "true" if value else "false"


register_exchange_format("fll", (".fll",), read, _Writer)

"""FCL, the Fuzzy Control Language of IEC 61131-7, also as jFuzzyLogic and fuzzylite write it.

::

    FUNCTION_BLOCK tipper
    VAR_INPUT
      service : REAL;
    END_VAR
    VAR_OUTPUT
      tip : REAL;
    END_VAR
    FUZZIFY service
      TERM poor := (0, 1) (4, 0);
      TERM good := GAUSS 5 1.5;
    END_FUZZIFY
    DEFUZZIFY tip
      TERM cheap := (0, 0) (5, 1) (10, 0);
      TERM fair := (10, 0) (15, 1) (20, 0);
      METHOD : COG;
      DEFAULT := 0;
    END_DEFUZZIFY
    RULEBLOCK rules
      AND : MIN;
      ACT : MIN;
      ACCU : MAX;
      RULE 1 : IF service IS poor THEN tip IS cheap;
      RULE 2 : IF NOT (service IS poor) THEN tip IS fair WITH 0.5;
    END_RULEBLOCK
    END_FUNCTION_BLOCK

Keywords are not case-sensitive. Points that form a triangle, a trapezoid or a ramp become one. Of several terms of a
variable with the same name, rules mean the last, as in jFuzzyLogic; a warning names them. An output without a RANGE
spans its terms. ``DEFAULT := NC`` keeps the previous value; without a DEFAULT, there is no answer where no rule fires.

Sets of straight lines are written as points, as the standard has them, others in words: jFuzzyLogic's where it has
them, else fuzzylite's.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference import membership as mf
from fuzzymil.inference.membership import Arithmetic, Discrete, Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._exchange import Words, Writer, number, register_exchange_format
from fuzzymil.rules.files._system import Output, System, SystemRule, Term, without_rules
from fuzzymil.rules.files._text import Piece, by_name, coefficients, fuzzy_set, interval, plain_word, unused, whole
from fuzzymil.rules.files.fll import RESERVED, RuleReader, Terms, rule_text
from fuzzymil.rules.premise import Expression, Is, Not, conditions
from fuzzymil.rules.rule import Variable

WORDS = Words(
    "FCL",
    t_norms={"HAMACHER": "hamacher", "DMIN": "drastic", "NIPMIN": "nilpotent"},
    s_norms={"PROBOR": "algebraic", "EINSTEIN": "einstein", "DMAX": "drastic", "NIPMAX": "nilpotent"},
    accumulations={"NSUM": "sum"},  # a sum divided by a number has the same center
    defuzzifiers={"MOM": "mom"},
    weighted={"COGF": "average"},
)

_OWN_SETS = {
    "GAUSS": sets.FLL["Gaussian"],
    "GAUSS2": sets.FLL["GaussianProduct"],
    "GBELL": sets.FIS["gbellmf"],
    "SIGM": sets.FIS["sigmf"],
    "DSIGM": sets.FIS["dsigmf"],
    "TRIAN": sets.FLL["Triangle"],
    "TRAPE": sets.FLL["Trapezoid"],
    "RECT": sets.FLL["Rectangle"],
    "TRIANGULAR": sets.FLL["Triangle"],
    "TRAPEZOIDAL": sets.FLL["Trapezoid"],
}
"""jFuzzyLogic's words, then what people write; fuzzylite's are those of FLL."""

_SETS = {name.upper(): entry for name, entry in sets.FLL.items()} | _OWN_SETS

_CALL = re.compile(r"\b[A-Z][A-Z0-9]*\b(?=\s*\()")  # functions in capitals, as jFuzzyLogic has them
_SETTINGS = {"AND", "OR", "ACT", "ACCU", "ENABLED", "METHOD", "DEFAULT"}


def read(text: str, block: str | None = None) -> System:
    """Parse the text of an FCL file, or one of its function blocks; raises `RuleSyntaxError`."""
    given = whole(text)
    title, blocks = _blocks_of(given, block)
    inputs = _variable_blocks(blocks, "VAR_INPUT", "FUZZIFY")
    names = [block.head.text for block in inputs]
    variables = [Variable(block.head.text, _sets(block, names), *_range(block)) for block in inputs]
    shared = _settings([block for block in blocks if block.kind == "RULEBLOCK"])
    outputs: list[Output] = []
    for described in _variable_blocks(blocks, "VAR_OUTPUT", "DEFUZZIFY"):
        outputs.append(_output(described, names, [output.name for output in outputs], shared))
    rules = _rules(blocks, variables, outputs)
    end = Piece(given.source, given.end, given.end)
    t_norm = _word(shared, "AND", WORDS.t_norms) or "min"
    s_norm = _word(shared, "OR", WORDS.s_norms) or DUAL[t_norm]
    every = tuple(rules) or (without_rules(outputs, end),)
    return System(tuple(variables), tuple(outputs), every, t_norm, s_norm, limited=False, name=title)


# ---------------------------------------------------------------------- blocks and their statements

_COMMENT = re.compile(r"//[^\n]*|#[^\n]*|/\*.*?\*/|\(\*.*?\*\)", re.DOTALL)
_TOKEN = re.compile(
    r":=|\.\.|[+-]?(?:inf\b|nan\b)|[+-]?(?:[0-9]+(?:\.(?!\.)[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[^\W\d][\w]*|\S"
)
_BLOCKS = {"VAR_INPUT": "END_VAR", "VAR_OUTPUT": "END_VAR"}
_BLOCKS |= {name: f"END_{name}" for name in ("FUZZIFY", "DEFUZZIFY", "RULEBLOCK", "OPTION")}
_STARTS = {"TERM", "RANGE", "METHOD", "DEFAULT", "ACCU", "LOCK", "ENABLED"}
_END = "END_FUNCTION_BLOCK"


class Block(NamedTuple):
    """A block: its keyword, its name (or the keyword again), and what follows up to its end."""

    kind: str
    head: Piece
    tokens: list[Piece]


def _blocks_of(text: Piece, name: str | None = None) -> tuple[str, list[Block]]:
    """Return the name of the function block with this name, or of the only one, and the blocks inside it."""
    blank = whole(_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text.text))
    title, tokens = _function_block(blank.words(_TOKEN), text, name)
    found: list[Block] = []
    place = 0
    while place < len(tokens):
        token = tokens[place]
        word = token.text.upper()
        if word in _BLOCKS:
            end = next((n for n in range(place, len(tokens)) if tokens[n].text.upper() == _BLOCKS[word]), None)
            if end is None:
                raise token.error(f"{word} has no {_BLOCKS[word]}.")
            content = tokens[place + 1 : end]
            named = word in ("FUZZIFY", "DEFUZZIFY")
            if named and not content:
                raise token.error(f"{word} needs the name of a variable.")
            found.append(Block(word, content[0] if named else token, content[1:] if named else content))
            place = end + 1
        else:
            raise token.unknown("block", _BLOCKS)
    return title, found


def _function_block(tokens: list[Piece], text: Piece, name: str | None) -> tuple[str, list[Piece]]:
    """Return the name of a function block and what is inside it."""
    words = [token.text.upper() for token in tokens]
    starts = [n for n, word in enumerate(words) if word == "FUNCTION_BLOCK"]
    if words and words[0] != "FUNCTION_BLOCK":
        raise tokens[0].unknown("block", ("FUNCTION_BLOCK",))
    if not starts:
        raise text.error("The text has no FUNCTION_BLOCK.")
    found: dict[str, list[Piece]] = {}
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        named = tokens[start + 1].text if start + 1 < end and words[start + 1] not in (*_BLOCKS, _END) else ""
        first = next((n for n in range(start, end) if words[n] in (*_BLOCKS, _END)), end)
        found[unused(named, found)] = [token for token in tokens[first:end] if token.text.upper() != _END]
    if name is None and len(found) > 1:
        example = f"read_rules(path, block={next(iter(found))!r:.60})"
        raise tokens[starts[1]].error(f"Choose one of several function blocks, {listed(found)}, as in {example}.")
    if name is not None and name not in found:
        raise text.error(f"There is no function block {name!r:.60}; choose from {listed(found)}.")
    return next(iter(found.items())) if name is None else (name, found[name])


def _variable_blocks(blocks: list[Block], section: str, kind: str) -> list[Block]:
    """Return the blocks that describe the declared variables, in the order of their declaration."""
    described = {block.head.text: block for block in blocks if block.kind == kind}
    names: dict[str, Piece] = {}
    for block in (block for block in blocks if block.kind == section):
        names |= {name.text: name for name, sign in itertools.pairwise(block.tokens) if sign.text == ":"}
    for name, block in described.items():
        if name not in names:
            raise block.head.error(f"{kind} describes {name!r:.60}, which {section} does not declare.")
    if not names:
        where = blocks[0].head if blocks else Piece("", 0, 0)
        raise where.error(f"The text declares no variable in {section}.")
    return [described.get(name, Block(kind, token, [])) for name, token in names.items()]


def _statements(block: Block) -> list[list[Piece]]:
    """Return the statements of a block that describes a variable."""
    found: list[list[Piece]] = []
    for before, token in zip([None, *block.tokens], block.tokens, strict=False):
        named = before is not None and before.text.upper() in ("TERM", ":", "|")  # TERM range, LOCK : RANGE
        if token.text.upper() in _STARTS and not named:
            found.append([token])
        elif token.text != ";":
            if not found:
                raise token.unknown("statement", sorted(_STARTS))
            found[-1].append(token)
    return found


def _value_of(block: Block, key: str) -> list[Piece] | None:
    """Return what follows the colon of a statement."""
    for statement in _statements(block):
        if statement[0].text.upper() == key:
            rest = statement[1:]
            while rest and rest[0].text in (":", ":=", "="):
                rest = rest[1:]
            return rest
    return None


# ---------------------------------------------------------------------- variables


def _range(block: Block) -> tuple[float | None, float | None]:
    said = _value_of(block, "RANGE")
    if said is None:
        return None, None
    numbers = [token.number("a number", finite=False) for token in said if token.text not in ("(", ")", "..", ",")]
    if len(numbers) != 2:
        raise block.head.error("Expected RANGE := (low .. high).")
    return interval(said[0], numbers)


def _terms(block: Block, inputs: list[str], before: list[str] | None) -> dict[str, Term]:
    """Return the terms of a variable; those of a number may be computed from inputs, and from outputs ``before`` it."""

    def read() -> Iterator[tuple[str, Term]]:
        for statement in _statements(block):
            if statement[0].text.upper() == "TERM":
                if len(statement) < 4 or statement[2].text != ":=":
                    raise statement[0].error("Expected a term: 'TERM low := (0, 1) (5, 0);'.")
                yield statement[1].text, _term(statement[3:], inputs, before)

    return by_name(block.head.text, read())


def _sets(block: Block, inputs: list[str]) -> dict[str, MembershipFunction]:
    """Return the terms of an input."""
    terms = _terms(block, inputs, None).items()
    return {name: term for name, term in terms if isinstance(term, MembershipFunction)}


def _term(tokens: list[Piece], inputs: list[str], before: list[str] | None) -> Term:
    first, weighted = tokens[0], before is not None
    word = first.text.upper()
    numbers = [token for token in tokens[1:] if token.text not in ("(", ")", ",")]
    if weighted and word in ("LINEAR", "CONSTANT"):
        values = [token.number(f"a coefficient of {first}") for token in numbers]
        values = values[:-1] if len(values) == len(inputs) + 2 else values
        return coefficients(first, values, {first.text: len(inputs) + 1 if word == "LINEAR" else 1})
    if word == "FUNCTION" or (weighted and word != "(" and word not in _SETS):
        start = tokens[1] if word == "FUNCTION" and len(tokens) > 1 else first
        return _formula(Piece(first.source, start.start, tokens[-1].end), inputs, before)
    if first.text == "(" or word == "SINGLETONS":
        return _points(tokens if first.text == "(" else tokens[1:])
    if len(tokens) == 1:
        return fuzzy_set(first, Singleton, [first.number("a number or a fuzzy set")])
    if word not in _SETS:
        raise first.unknown("fuzzy set", (*_OWN_SETS, *sets.FLL))
    values = [token.number(f"a parameter of {first}", finite=False) for token in numbers]
    return sets.read_set(first, word, values, _SETS)


def _formula(where: Piece, inputs: list[str], before: list[str] | None) -> Term:
    """Return the set that a formula means; after outputs ``before`` this one, the number."""
    where = whole(_CALL.sub(lambda match: match[0].lower(), where.source))._replace(start=where.start, end=where.end)
    try:
        formula = Arithmetic(where.text)
    except ParameterError as problem:
        raise where.error(str(problem)) from None
    found = None if before is None else sets.linear_coefficients(formula, inputs)
    if found is not None:
        return found if any(found[1:]) else found[:1]
    return sets.read_formula(where, None if before is None else [*inputs, *before])


def _points(tokens: list[Piece]) -> MembershipFunction:
    """Return the set through points; a triangle, trapezoid or ramp where they form one."""
    where = tokens[0]
    numbers = [token.number("a number") for token in tokens if token.text not in ("(", ")", ",")]
    found = fuzzy_set(where, Discrete, numbers)
    match numbers:
        case [a, 0.0, b, 1.0] | [b, 1.0, a, 0.0] if a != b:
            return mf.Ramp(a, b)
        case [a, 0.0, b, 1.0, c, 0.0]:
            return mf.Triangular(a, b, c)
        case [a, 0.0, b, 1.0, c, 1.0, d, 0.0]:
            return mf.Trapezoidal(a, b, c, d)
    return found


def _output(block: Block, inputs: list[str], before: list[str], shared: Mapping[str, Piece]) -> Output:
    methods, named = {**WORDS.defuzzifiers, **WORDS.weighted}, _value_of(block, "METHOD")
    word = named[0].text.upper() if named else "COG"
    if named and word not in methods:
        raise named[0].unknown("METHOD", methods)
    method = methods[word]
    terms = _terms(block, inputs, before if word in WORDS.weighted else None)
    weighted = word in WORDS.weighted or (bool(terms) and all(isinstance(term, Singleton) for term in terms.values()))
    method = "average" if weighted and word not in WORDS.weighted else method  # the center of numbers
    low, high = _range(block)
    if not weighted and (low is None or high is None):
        low, high = _span(terms, low, high)
    own = _value_of(block, "ACCU")
    accumulation = _word({"ACCU": own[0]} if own else shared, "ACCU", WORDS.accumulations)
    said = [token for token in _value_of(block, "DEFAULT") or () if token.text != "|"]
    defaults = [token.number("a number", finite=False) for token in said if token.text.upper() != "NC"]
    lock = [token.text.upper() for token in _value_of(block, "LOCK") or ()]
    hold = len(defaults) < len(said) or "PREVIOUS" in lock
    found = Output(block.head.text, terms, low, high, (defaults or [math.nan])[-1], defuzzify=method, hold=hold)
    if not weighted:
        implication = _word(shared, "ACT", WORDS.t_norms) or "min"
        return found._replace(implication=implication, accumulation=accumulation or "max")
    numbers = {name: term.parameters if isinstance(term, Singleton) else term for name, term in terms.items()}
    joins = "sum" if own is None else accumulation or "sum"
    return found._replace(terms=numbers, accumulation=joins, clip="RANGE" in lock)


def _span(terms: Mapping[str, Term], low: float | None, high: float | None) -> tuple[float | None, float | None]:
    """Return the range of an output that has none: that of its terms."""
    ends: list[float] = []
    for term in terms.values():
        if isinstance(term, Discrete):
            ends += term.parameters[::2]
        elif isinstance(term, mf.Triangular | mf.Trapezoidal | mf.Ramp):
            ends += term.parameters
        elif isinstance(term, MembershipFunction):
            peak, spread = float(term.peak(*term.parameters)), float(term.spread(*term.parameters))
            ends += [peak - 4 * spread, peak + 4 * spread]
    low, high = (min(ends, default=0.0) if low is None else low), (max(ends, default=1.0) if high is None else high)
    return (low, high) if low < high else (low - 0.5, low + 0.5)


# ---------------------------------------------------------------------- rules


def _settings(blocks: list[Block]) -> dict[str, Piece]:
    """Return the settings that all blocks of rules share."""
    found: dict[str, Piece] = {}
    for block in blocks:
        for n, token in enumerate(block.tokens[:-2]):
            key = token.text.upper()
            named = n and block.tokens[n - 1].text.upper() == "RULE"  # RULE and : IF ...
            if key in _SETTINGS and block.tokens[n + 1].text == ":" and not named:
                value = block.tokens[n + 2]
                if key in found and found[key].text.upper() != value.text.upper() and key != "ENABLED":
                    raise value.error(f"All rule blocks must have the same {key}.")
                found[key] = value
    return found


def _word(settings: Mapping[str, Piece], key: str, known: Mapping[str, str]) -> str | None:
    said = settings.get(key)
    if said is None or said.text.upper() == "NONE":
        return None
    if said.text.upper() not in known:
        raise said.unknown(key, known)
    return known[said.text.upper()]


def _rules(blocks: list[Block], inputs: list[Variable], outputs: list[Output]) -> list[SystemRule]:
    found: list[SystemRule] = []
    known = ({v.name: v.terms for v in inputs}, {o.name: o.terms for o in outputs})
    for block in (block for block in blocks if block.kind == "RULEBLOCK"):
        starts = [n for n, token in enumerate(block.tokens) if token.text.upper() == "RULE"]
        for start, end in itertools.pairwise([*starts, len(block.tokens)]):
            tokens = block.tokens[start:end]
            first = next((n for n, token in enumerate(tokens) if token.text.upper() == "IF"), None)
            if first is None:
                raise tokens[0].error("Expected a rule: 'RULE 1 : IF a IS low THEN y IS high;'.")
            body = [token for token in tokens[first:] if token.text != ";"]
            found += _FclRule(body, *known, found).rules()
    return found


class _FclRule(RuleReader):
    """A rule of FCL: keywords in any case, NOT before parentheses, conclusions joined by commas too."""

    def __init__(self, tokens: list[Piece], inputs: Terms, outputs: Terms, before: list[SystemRule]) -> None:
        text = Piece(tokens[0].source, tokens[0].start, tokens[-1].end)
        super().__init__(text, inputs, outputs, before)
        self.tokens = [*tokens, Piece(text.source, text.end, text.end)]

    def skip(self, word: str) -> bool:
        said = self.token.text.lower()
        if said != word and not (word == "and" and said == ","):
            return False
        self.place += 1
        return True

    def part(self) -> Expression:
        if self.token.text.lower() == "not" and self.token.text not in self.inputs:
            self.place += 1
            return Not(self.part())
        return super().part()

    def word(self) -> str:
        return self.token.text.lower()


# ---------------------------------------------------------------------- writing

_KEYWORDS = RESERVED | {word.lower() for pair in _BLOCKS.items() for word in pair}
_KEYWORDS |= {"function_block", "end_function_block", "term", "range", "method", "default", "accu", "lock", "enabled"}
_KEYWORDS |= {"rule", "act", "real"}


class _Writer(Writer):
    title, words, sets = "FCL", WORDS, sets.FLL

    def term_name(self, name: str) -> str:
        """Return the name as a plain word that is not a keyword, in any case."""
        word = plain_word(name)
        return f"_{word}" if word.lower() in _KEYWORDS else word

    def text(self, comments: Iterable[str] = ()) -> str:
        system = self.system
        if system.limited or system.activation != "general":
            clips = "clip inputs to their ranges (limited=True)"
            what = clips if system.limited else f"have {system.activation!r} rules"
            raise ParameterError(f"FCL cannot {what}: change that, or save the rules as .json, .rules or .fll.")
        self.check_singletons()
        text = [f"// {comment}" for comment in comments]
        text += [
            f"FUNCTION_BLOCK {self.system_name()}",
            "",
            "VAR_INPUT",
            *(f"  {name} : REAL;" for name in self.inputs.values()),
        ]
        text += ["END_VAR", "", "VAR_OUTPUT", *(f"  {name} : REAL;" for name in self.outputs.values()), "END_VAR"]
        for variable in system.inputs:
            text += ["", f"FUZZIFY {self.inputs[variable.name]}", *_range_text(variable)]
            text += [*self._terms(variable), "END_FUZZIFY"]
        for output in system.outputs:
            text += ["", f"DEFUZZIFY {self.outputs[output.name]}", *_range_text(output)]
            text += [*self._terms(output, self.variables if output.weighted else None), *self._method(output)]
            text.append("END_DEFUZZIFY")
        text += ["", "RULEBLOCK rules", f"  AND : {self.operator('T-norm', system.t_norm)};"]
        text.append(f"  OR : {self.operator('S-norm', system.s_norm)};")
        sets = [output for output in system.outputs if not output.weighted]
        for key, name in (("ACT", "implication"), ("ACCU", "accumulation")):
            ours = self.shared_setting(name, sets)
            if ours is not None:
                text.append(f"  {key} : {self.operator(name, ours)};")
        text += [f"  RULE {position} : {self._rule(position, rule)};" for position, rule in enumerate(system.rules, 1)]
        return "\n".join([*text, "END_RULEBLOCK", "", "END_FUNCTION_BLOCK", ""])

    def changes(self) -> list[str]:
        system = self.system
        changes = self.name_changes()
        terms = [term for variable in system.inputs for term in variable.terms.values()]
        for output in system.outputs:  # every reader knows formulas of inputs
            own = output.terms.values()
            terms += [
                term
                for term in own
                if isinstance(term, MembershipFunction) and not (output.weighted and isinstance(term, Formula))
            ]
        words = {self._set(term)[0] for term in terms}
        beyond = sorted(words - set(_OWN_SETS) - {"", "points"})
        if beyond:
            changes.append(
                f"The sets {listed(beyond)} are words of fuzzylite, which other readers of FCL may not know."
            )
        if any(not list(conditions(rule.premise)) for rule in system.rules):
            changes.append("Rules without conditions ask whether an input 'is any', which only fuzzylite reads.")
        if any(not output.weighted for output in system.outputs):
            changes.append("The resolution of outputs is not kept.")
        return changes

    def _terms(self, owner: Variable | Output, names: Mapping[str, str] | None = None) -> list[str]:
        """Return the terms of a variable; those of an output that is a number are computed from ``names``."""
        return [f"  TERM {name} := {self._term(term, names)};" for name, term in self.terms(owner)]

    def _term(self, term: Term, names: Mapping[str, str] | None) -> str:
        if isinstance(term, Singleton):
            return number(term.value)
        if isinstance(term, Formula) and names is not None:
            return f"FUNCTION {sets.formula_text(term.text, names)}"
        if isinstance(term, MembershipFunction):
            return self._set(term)[1]
        if len(term) == 1:
            return number(term[0])
        parts = [f"{number(slope)}*{name}" for slope, name in zip(term[1:], self.inputs.values(), strict=True)]
        return f"FUNCTION {' + '.join([number(term[0]), *parts])}".replace("+ -", "- ")

    def _set(self, term: MembershipFunction) -> tuple[str, str]:
        """Return the word for a set ("points" where it has none), and the whole text."""
        if isinstance(term, Singleton):
            return "", ""
        points: list[tuple[float, float]] = []
        if isinstance(term, Discrete):
            points = list(term.points)
        elif isinstance(term, mf.Triangular | mf.Trapezoidal):
            corners = term.parameters
            points = [(x, float(0 < place < len(corners) - 1)) for place, x in enumerate(corners)]
        elif isinstance(term, mf.Ramp):
            points = sorted(zip(term.parameters, (0.0, 1.0), strict=True))
        elif isinstance(term, mf.Rectangle):
            points = [(term.left, 0.0), (term.left, 1.0), (term.right, 1.0), (term.right, 0.0)]
        if points:
            return "points", " ".join(f"({number(x)}, {number(mu)})" for x, mu in points)
        own = next((word for word, entry in _OWN_SETS.items() if isinstance(term, entry.family)), None)
        if own is not None:
            return own, " ".join((own, *(number(term.parameters[place]) for place in _OWN_SETS[own].places)))
        word, values = self.set(term)
        return word, " ".join((word, *values))

    def _method(self, output: Output) -> list[str]:
        word = self.operator("defuzzifier", output.defuzzify)
        if word == "COGS" and any(isinstance(term, tuple) and len(term) > 1 for term in output.terms.values()):
            word = "COGF"
        lines = [f"  METHOD : {word};"]
        if output.weighted and output.accumulation != "sum":
            lines.append(f"  ACCU : {self.operator('accumulation', output.accumulation)};")
        lines.append(f"  DEFAULT := {number(output.default)}{' | NC' if output.hold else ''};")
        return [*lines, *(["  LOCK : RANGE;"] if output.clip else [])]

    def _rule(self, position: int, rule: SystemRule) -> str:
        if any(isinstance(conclusion, Is) for conclusion in rule.conclusions.values()):
            raise self.error(position, ": its conclusion has hedges.")
        premise = self.premise(rule)
        if premise is None:
            raise self.error(position, ": it has NOT before parentheses, and the norms are not dual.")
        condition, _, conclusion = rule_text(rule._replace(premise=premise), self).partition(" then ")
        return f"{condition} THEN {conclusion.replace(' and ', ', ')}"


def _range_text(variable: Variable | Output) -> list[str]:
    low, high = variable.low, variable.high
    return [] if low is None or high is None else [f"  RANGE := ({number(low)} .. {number(high)});"]


register_exchange_format("fcl", (".fcl",), read, _Writer)

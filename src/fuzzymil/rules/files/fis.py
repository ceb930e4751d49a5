"""MATLAB's ``.fis`` files.

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
names that fuzzylite gives them in such files.

Fractions mean hedges (1.2: *very* the first term). In a file of fuzzylite, which says so in a comment or by a version
from 3 on, these are fuzzylite's, and in a conclusion they modify the strength of the rule. Elsewhere they are those of
Octave's toolkit: 0.3 is the cube of a membership; a concluded set is raised to that power, and of a concluded number,
the strength is raised to its inverse. MATLAB has none.

Terms and variables count in the order of their lines, whatever numbers they have. Sets of outputs are evaluated as in
MATLAB, at 101 points that include both ends of the range. Files of MATLAB's first
version pad parameters with zeros, which are ignored, and name several terms alike, which are numbered.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeVar

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Arithmetic, Formula, MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._exchange import Words, Writer, number, register_exchange_format
from fuzzymil.rules.files._system import Output, System, SystemRule, Term, without_rules
from fuzzymil.rules.files._text import Piece, coefficients, interval, lines, unused, whole
from fuzzymil.rules.premise import ANYTHING, And, Expression, Is, Not, Or, conditions, simplified
from fuzzymil.rules.rule import Variable

WORDS = Words("a .fis file", s_norms={"normalized_sum": "bounded"})
_TYPES = ("sugeno", "mamdani", "tsukamoto", "hybrid")  # the last two by fuzzylite
Hedges = Mapping[float, tuple[str, ...]]
HEDGES: Hedges = {0.01: ("seldom",), 0.05: ("somewhat",), 0.2: ("very",), 0.3: ("extremely",), 0.4: ("very", "very")}
"""What the fraction of a term's number means to fuzzylite."""
OCTAVE: Hedges = {0.05: ("somewhat",), 0.2: ("very",), 0.3: ("intensely",), 0.4: ("very", "very")}
"""What it means to Octave: the membership to the power of ten times the fraction."""
_INVERSE: Hedges = {0.05: ("very",), 0.2: ("somewhat",), 0.3: ("vaguely",), 0.4: ("somewhat", "somewhat")}
"""What it means to Octave in the conclusion of a number: the strength to the inverse of that power."""

_OMITTED = {"AndMethod": "min", "OrMethod": "max", "ImpMethod": "min", "AggMethod": "max", "DefuzzMethod": "centroid"}
"""What MATLAB assumes if a file does not say it."""

_N_POINTS = 101
"""Values of an output at which MATLAB evaluates sets."""

_MAX_ROWS = 1000
"""Rows into which one rule may be split."""

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

    def meaning(self, key: str, known: Mapping[str, T], default: T | None = None) -> T:
        if key not in self.entries and key in _OMITTED:
            return known[_OMITTED[key]]
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
        found = {key: line for key, line in self.entries.items() if key.startswith("MF")}
        wanted = [f"MF{n + 1}" for n in range(len(found))]
        for key in found.keys() - set(wanted):
            raise self.entries[key].error(f"Terms must be numbered from MF1 to {wanted[-1]}, found {key}.")
        self.check_count("NumMFs", len(wanted))
        return [*found.values()]  # in the order of the lines, whatever their numbers, as every program reads them


def read(text: str) -> System:
    """Parse the text of a ``.fis`` file; raises `RuleSyntaxError`."""
    everything = whole(text)
    sections, rules = _sections(everything)
    if "System" not in sections:
        raise everything.error("The text has no [System] section.")
    about = sections["System"]
    if "type2" in about.text("Type").text.lower():
        advice = "only type-1 systems can be read. In MATLAB, convertToType1(fis) makes one"
        raise about.text("Type").error(f"The sets of an interval type-2 system are only known within bounds: {advice}.")
    of_type = about.meaning("Type", {name: name for name in _TYPES})
    known = _sections_of("Input", sections)
    inputs = [Variable(each.text("Name").text, _terms(each, _set), *_range(each)) for each in known]
    outputs: list[Output] = []
    for section in _sections_of("Output", sections):
        names = [*(variable.name for variable in inputs), *(output.name for output in outputs)]
        outputs.append(_output(section, about, of_type, 1 + len(inputs), names))
    for what, found in (("NumInputs", inputs), ("NumOutputs", outputs), ("NumRules", rules)):
        about.check_count(what, len(found))
        if not found and what != "NumRules":
            raise about.head.error(f"The text has no {what.removeprefix('Num').lower()}.")
    names, asked = [variable.name for variable in inputs], [list(variable.terms) for variable in inputs]
    said = {output.name: list(output.terms) for output in outputs}
    numbers = about.meaning("DefuzzMethod", {**WORDS.weighted, **WORDS.defuzzifiers}) in WORDS.weighted.values()
    author = "fuzzylite" if _is_fuzzylites(everything, about) else "Octave, numbers" if numbers else "Octave, sets"
    statements = [_rule(line, asked, names, said, author) for line in rules]
    t_norm, s_norm = about.meaning("AndMethod", WORDS.t_norms, "min"), about.meaning("OrMethod", WORDS.s_norms, "")
    every = tuple(statements) or (without_rules(outputs, about.head),)
    said_outputs = tuple(_with_changed_terms(output, statements) for output in outputs)
    s_norm, title = s_norm or DUAL[t_norm], "" if "Name" not in about.entries else about.text("Name").text
    return System(tuple(inputs), said_outputs, every, t_norm, s_norm, limited=False, name=title)


def _is_fuzzylites(text: Piece, about: _Section) -> bool:
    """Return whether fuzzylite, or this library for it, wrote a file."""
    head, version = text.text[: about.head.start], about.entries.get("Version")
    return "generated with fuzzylite" in head or (
        version is not None and re.match(r"[3-9]|[1-9][0-9]", version.text) is not None
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
                word = f"MF{1 + sum(each.startswith('MF') for each in found[name].entries)}"  # as in a file of MATLAB's
            found[name].entries[word] = value  # unknown entries are ignored
    return found, rules


def _sections_of(kind: str, sections: Mapping[str, _Section]) -> list[_Section]:
    """Return the sections of inputs or outputs, in order."""
    found = {name: section for name, section in sections.items() if name.startswith(kind)}
    wanted = [f"{kind}{n + 1}" for n in range(len(found))]
    for stray in found.keys() - set(wanted):
        raise found[stray].head.error(f"Sections must be numbered from [{kind}1] to [{wanted[-1]}].")
    names = [section.text("Name") for section in found.values()]
    for n, name in enumerate(names):
        if any(name.text == before.text for before in names[:n]):
            raise name.error(f"Two {kind.lower()}s are named {name.text!r:.60}.")
    return [*found.values()]  # in the order of the text


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
    count = len(sets.FIS[kind.text].places)
    values = _values(kind, numbers, count or None)
    if count and len(values) > count:
        raise kind.error(f"{kind} takes {count} parameters, got {len(values)}.")
    return sets.read_set(kind, kind.text, values, sets.FIS)


def _values(kind: Piece, numbers: Piece, count: int | None) -> list[float]:
    """Return this many numbers, without zeros that pad the table of an early version."""
    values = [_number(word, f"a parameter of {kind}") for word in numbers.words(_NUMBERS)]
    return values if count is None or any(values[count:]) else values[:count]


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
    said = about.meaning("DefuzzMethod", {**WORDS.weighted, **WORDS.defuzzifiers})

    def term(kind: Piece, numbers: Piece) -> Term:
        if kind.text == "function" and said in WORDS.weighted.values():
            return sets.read_formula(numbers, known)
        if of_type == "mamdani" or kind.text not in ("constant", "linear"):
            return _set(kind, numbers)
        expected = {"constant": 1, "linear": n_coefs}
        return coefficients(kind, _values(kind, numbers, expected[kind.text]), expected)

    low, high = _range(section)
    terms = _terms(section, term)
    numbers = bool(terms) and all(isinstance(term, tuple) for term in terms.values())
    weighted = said in WORDS.weighted.values()
    methods = WORDS.weighted if numbers or of_type in ("sugeno", "tsukamoto") else WORDS.defuzzifiers
    if of_type != "hybrid" and said not in methods.values():
        raise about.text("DefuzzMethod").unknown("DefuzzMethod", methods)
    method = said if weighted or not (numbers or of_type == "tsukamoto") else "average"
    weighted = method in WORDS.weighted.values()
    if not weighted and (low is None or high is None or low == high):
        raise section.get("Range").error("The output of a Mamdani system needs a finite range.")
    default = section.entries.get("Default")
    otherwise = 0.0 if method == "sum" or low is None or high is None else _middle(low, high)
    value = otherwise if default is None else default.number("a number", finite=False)
    found = Output(section.text("Name").text, terms, low, high, value, "min", "sum", method)
    if weighted:
        return found._replace(clip=section.flag("LockRange"), hold=section.flag("LockPrevious"))
    return found._replace(
        implication=about.meaning("ImpMethod", WORDS.t_norms),
        accumulation=about.meaning("AggMethod", WORDS.accumulations),
        resolution=_N_POINTS,
        sampling="points",
        hold=section.flag("LockPrevious"),
    )


def _middle(low: float | None, high: float | None) -> float:
    """Return the middle of a range, the value of an output that no rule concludes; NaN without a range."""
    return math.nan if low is None or high is None else low / 2 + high / 2


# ---------------------------------------------------------------------- rules


def _rule(
    line: Piece, inputs: list[list[str]], names: list[str], outputs: Mapping[str, list[str]], author: str
) -> SystemRule:
    """Parse a rule, given the names of the terms of each input and output."""
    match = _RULE.fullmatch(line.text)
    if match is None:
        raise line.error("Expected a rule: '1 0 -2, 1 (1) : 1' (inputs, outputs, weight, 1 for AND or 2 for OR).")
    asked, said, weight, joined = (line.part(*match.span(group)) for group in (1, 2, 3, 4))
    conditions = tuple(
        Is(name, terms[abs(position) - 1], hedges)
        for name, terms, (position, hedges) in zip(
            names, inputs, _choices(asked, inputs, HEDGES if author == "fuzzylite" else OCTAVE), strict=True
        )
        if position
    )
    conclusions: dict[str, str | Is] = {}
    modified: tuple[str, ...] = ()  # as in fuzzylite, a hedge also holds for the conclusions that follow
    known = {"fuzzylite": HEDGES, "Octave, numbers": _INVERSE, "Octave, sets": OCTAVE}[author]
    choices = _choices(said, list(outputs.values()), known)
    for (name, terms), (position, hedges) in zip(outputs.items(), choices, strict=True):
        if position:
            term = terms[abs(position) - 1]
            own = hedges if position > 0 else hedges[1:]
            if author == "Octave, sets":
                conclusions[name] = _changed_term(hedges, term, terms) if hedges else term
                continue
            modified = own if author == "Octave, numbers" else (*own, *modified)
            term = _changed_term(("not",), term, terms) if position < 0 else term
            conclusions[name] = Is(name, term, modified) if modified else term
    strength = weight.number("the weight of the rule")
    if strength < 0:
        raise weight.error("The weight of a rule must be at least 0.")
    if joined.text not in ("1", "2"):
        raise joined.error("Expected 1 (conditions joined by AND) or 2 (by OR).")
    premise = And(conditions) if joined.text == "1" else Or(conditions) if conditions else Not(ANYTHING)
    return SystemRule(simplified(premise), conclusions, strength, line)


def _changed_term(hedges: tuple[str, ...], term: str, terms: Iterable[str]) -> str:
    """Return the name of a concluded term that hedges change: *not*, a negative number, or powers of Octave's."""
    return unused(" ".join((*hedges, term)), set(terms))


_POWERS = {(): 1.0} | {hedges: 10 * fraction for fraction, hedges in OCTAVE.items()}


def _with_changed_terms(output: Output, rules: Iterable[SystemRule]) -> Output:
    """Return an output with those complements and powers of its terms that rules conclude."""
    found = dict(output.terms)
    for term, chosen in output.terms.items():
        for hedges in ((*no, *powers) for no in ((), ("not",)) for powers in _POWERS if no or powers):
            name = _changed_term(hedges, term, output.terms)
            concluding = [rule for rule in rules if rule.term(output.name) == name]
            if not concluding:
                continue
            if output.weighted or not isinstance(chosen, MembershipFunction):
                raise concluding[0].error(f"'not' (a negative number) is concluded for {output.name!r:.60}, a number.")
            power = _POWERS[hedges[1:] if hedges[0] == "not" else hedges]
            try:
                own = sets.formula_of(chosen) if power == 1 else f"({sets.formula_of(chosen)})^{power:g}"
                found[name] = Formula(f"1 - ({own})" if hedges[0] == "not" else own)
            except ParameterError as problem:
                raise concluding[0].error(str(problem)) from None
    return output._replace(terms=found)


def _choices(said: Piece, terms: list[list[str]], hedges: Hedges) -> list[tuple[int, tuple[str, ...]]]:
    """Return the numbers of the chosen terms, negative for *not*, and their hedges."""
    words = said.words(_NUMBERS)
    if len(words) != len(terms):
        raise said.error(f"Expected {len(terms)} number(s) here, found {len(words)}.")
    found = []
    for word, known in zip(words, terms, strict=True):
        value = word.number("the number of a term")
        value = 0.0 if value == _ANY else value
        whole_part, fraction = int(value), round(abs(value - int(value)), 6)
        if fraction and fraction not in hedges:
            raise word.error(f"The fraction of a number means a hedge: {', '.join(map(str, hedges))}.")
        if abs(whole_part) > len(known) or (fraction and not whole_part):
            raise word.error(f"There is no term {abs(whole_part)}: the variable has {len(known)}.")
        found.append((whole_part, (*(("not",) if value < 0 else ()), *hedges.get(fraction, ()))))
    return found


# ---------------------------------------------------------------------- writing

_UNQUOTABLE = re.compile(r"^\s|\s$|['\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class _Writer(Writer):
    title, words, sets = "a .fis file", WORDS, sets.FIS

    def term_name(self, name: str) -> str:
        """Return the name as it can stand between quotes."""
        return " ".join(_UNQUOTABLE.sub(" ", name).split()) if _UNQUOTABLE.search(name) else name

    def text(self, comments: Iterable[str] = ()) -> str:
        system = self.system
        weighted = self._check()
        rules = [row for position, rule in enumerate(system.rules, start=1) for row in self._rule(position, rule)]
        terms = [term for output in system.outputs for term in self._terms(output).values()]
        numbers = "sugeno" if all(isinstance(term, tuple | Formula) for term in terms) else "tsukamoto"
        text = [f"% {comment}" for comment in comments]
        text += [
            "[System]",
            f"Name='{self.system_name()}'",
            f"Type='{numbers if weighted else 'mamdani'}'",
            f"Version={'2.0' if self._hedges is OCTAVE or not self._asks_fuzzylite else '6.0'}",
            f"NumInputs={len(system.inputs)}",
            f"NumOutputs={len(system.outputs)}",
            f"NumRules={len(rules)}",
            f"AndMethod='{self.operator('T-norm', system.t_norm)}'",
            f"OrMethod='{self.operator('S-norm', system.s_norm)}'",
        ]
        for key, name, what, of_numbers in (
            ("ImpMethod", "implication", "implication", "prod"),
            ("AggMethod", "accumulation", "accumulation", "sum"),
            ("DefuzzMethod", "defuzzify", "defuzzifier", ""),
        ):
            shared = of_numbers and weighted
            word = of_numbers if shared else self.operator(what, str(self.shared_setting(name, system.outputs)))
            text.append(f"{key}='{word}'")
        for position, variable in enumerate(system.inputs, start=1):
            text += self._section("Input", position, variable, _input_range(variable))
        for position, output in enumerate(system.outputs, start=1):
            ends = _output_range(output)
            text += self._section("Output", position, output, ends)
            text += ["LockRange=1"] * output.clip + ["LockPrevious=1"] * output.hold
            otherwise = 0.0 if output.defuzzify == "sum" else _middle(*ends)
            if output.default != otherwise:
                text.append(f"Default={number(output.default)}")
        text += ["", "[Rules]", *rules]
        return "\n".join(text) + "\n"

    def changes(self) -> list[str]:
        system = self.system
        changes = self.name_changes()
        if unknown := [f"{v.name!r:.60}" for v in system.inputs if _input_range(v) != (v.low, v.high)]:
            changes.append(f"{listed(unknown)} without a range get the range that their sets cover.")
        sampled = [output for output in system.outputs if not output.weighted]
        beyond = {system.t_norm, *(output.implication for output in sampled)} - {"product", "min"}
        beyond |= {system.s_norm} - {"algebraic", "max"}
        beyond |= {output.accumulation for output in sampled} - {"algebraic", "max", "sum"}
        if beyond:
            changes.append(f"MATLAB does not support the norms {listed(sorted(beyond))}; fuzzylite does.")
        owners: list[Variable | Output] = [*system.inputs, *system.outputs]
        terms = [term for owner in owners for term in self._terms(owner).values() if not isinstance(term, Singleton)]
        words = {self.set(term, {})[0] for term in terms if isinstance(term, MembershipFunction)}
        if unknown := sorted(words - set(sets.MATLAB)):
            changes.append(f"MATLAB does not support the sets {listed(unknown)}; fuzzylite does.")
        if ramps := words & {"linsmf", "linzmf"}:
            changes.append(
                f"fuzzylite does not read MATLAB's words for ramps ({listed(sorted(ramps))}); for it, write FLL."
            )
        if any(output.clip or output.hold for output in system.outputs):
            changes.append(
                "MATLAB does not support clipped or previous outputs (LockRange, LockPrevious); fuzzylite does."
            )
        if any(rule.weight > 1 for rule in system.rules):
            changes.append("MATLAB does not support rule weights above 1; fuzzylite does.")
        if any(not list(conditions(rule.premise)) for rule in system.rules):
            changes.append("MATLAB supports rules without conditions; fuzzylite's reader of .fis files does not.")
        if any((output.sampling, output.resolution) != ("points", _N_POINTS) for output in sampled):
            changes.append(
                "The resolution of outputs is not kept: MATLAB evaluates sets at 101 points that include both ends."
            )
        if any(output.default != _middle(output.low, output.high) for output in sampled):
            changes.append("MATLAB does not support defaults other than the middle of the range; fuzzylite does.")
        if self._hedges is OCTAVE or self._asks_fuzzylite:
            author = "Octave's toolkit" if self._hedges is OCTAVE else "fuzzylite"
            changes.append(f"MATLAB does not support hedges (fractions in rules); {author} does.")
        return changes + self.number_changes()

    # ------------------------------------------------------------------ the system and its variables

    @property
    def _hedges(self) -> Hedges:
        """What fractions mean: Octave's hedges if rules have one that only Octave has, otherwise fuzzylite's."""
        said = {hedge for rule in self.system.rules for each in conditions(rule.premise) for hedge in each.hedges}
        return OCTAVE if "intensely" in said else HEDGES

    @property
    def _asks_fuzzylite(self) -> bool:
        """Whether rules have hedges that fuzzylite and Octave do not share."""
        asked = (each.hedges for rule in self.system.rules for each in conditions(rule.premise))
        concluded = any(rule.hedges(name) for rule in self.system.rules for name in rule.conclusions)
        return concluded or any({"extremely", "seldom"} & set(hedges) for hedges in asked)

    def _check(self) -> bool:
        """Return whether outputs are averages or sums; raise `ParameterError` for what the format cannot express."""
        system = self.system
        ranges = [f"{v.name!r:.60}" for v in system.inputs if (v.low, v.high) != (None, None)]
        if system.limited and ranges:
            advice = "write dataclasses.replace(rules, limited=False), or use another format"
            raise ParameterError(f"A .fis file cannot clip to the range of {listed(ranges)} (limited=True): {advice}.")
        kinds = {output.weighted for output in system.outputs}
        if len(kinds) > 1:
            raise ParameterError("A .fis file is a Mamdani or a Sugeno system: it cannot hold outputs of both kinds.")
        if system.activation != "general":
            raise ParameterError(f"A .fis file cannot express activation={system.activation!r}: all rules take part.")
        for output in system.outputs:
            concluded = [term for rule in system.rules if (term := rule.term(output.name)) is not None]
            repeated = [term for term in concluded if concluded.count(term) > 1]
            if output.weighted and output.accumulation != "sum" and repeated:
                which = f"the strengths of the rules that conclude {repeated[0]!r:.60} of {output.name!r:.60}"
                advice = "use with_settings(accumulation='sum'), or another format"
                raise ParameterError(f"A .fis file adds up {which}, not {output.accumulation!r}: {advice}.")
        return kinds == {True}

    def _terms(self, variable: Variable | Output) -> dict[str, Term]:
        """Return the terms of a variable; those of a number are constants and linear functions where they can be."""
        if isinstance(variable, Variable) or not variable.weighted:
            return dict(variable.terms)
        inputs = [v.name for v in self.system.inputs]
        found: dict[str, Term] = {}
        for name, term in variable.terms.items():
            found[name] = term
            if isinstance(term, Formula):
                found[name] = sets.linear_coefficients(Arithmetic(term.text), inputs) or term
            elif isinstance(term, Singleton):
                found[name] = term.parameters
        return found

    def _section(self, kind: str, position: int, variable: Variable | Output, ends: tuple[float, float]) -> list[str]:
        names = None
        if isinstance(variable, Output) and variable.weighted:  # formulas are computed from variables
            names = {name: Arithmetic.name(word) for name, word in self.variables.items()}
        words = (self.input_terms if kind == "Input" else self.output_terms)[variable.name]
        terms = self._terms(variable)
        return [
            "",
            f"[{kind}{position}]",
            f"Name='{self.variables[variable.name]}'",
            f"Range={_numbers(ends)}",
            f"NumMFs={len(terms)}",
            *(f"MF{n}='{words[name]}':{self._term(term, names)}" for n, (name, term) in enumerate(terms.items(), 1)),
        ]

    def _term(self, term: Term, names: Mapping[str, str] | None) -> str:
        if not isinstance(term, MembershipFunction):
            return f"'constant',{_numbers(term)}" if len(term) == 1 else f"'linear',{_numbers((*term[1:], term[0]))}"
        kind, values = self.set(term, names)
        return f"'{kind}',[{' '.join(values)}]"

    # ------------------------------------------------------------------ rules

    def _rule(self, position: int, rule: SystemRule) -> list[str]:
        """Return the row of a rule, or several rows where AND and OR mix and the greatest of all counts."""
        premise = self.premise(rule)
        if premise is not None and _flat(premise, self._hedges) is None and self._takes_greatest:
            rows = [self._row(position, rule, part) for part in itertools.islice(_alternatives(premise), _MAX_ROWS + 1)]
            if len(rows) > _MAX_ROWS:
                raise self.error(position, f" in less than {_MAX_ROWS} rows without mixing AND and OR.")
            return rows
        return [self._row(position, rule, premise)]

    @property
    def _takes_greatest(self) -> bool:
        joins = {output.accumulation for output in self.system.outputs if not output.weighted}
        return self.system.s_norm == "max" and joins == {"max"}

    def _row(self, position: int, rule: SystemRule, premise: Expression | None) -> str:
        system = self.system
        flat = None if premise is None else _flat(premise, self._hedges)
        if flat is None:
            allowed = (
                "conditions joined all by AND or all by OR, one per variable, with 'not' and another hedge at most"
            )
            advice = "" if self._takes_greatest else " (with s_norm and accumulation 'max', rules are split)"
            raise self.error(position, f", which has {allowed}{advice}: use another format.")
        conditions_of = {condition.variable: condition for condition in flat}
        left = [
            _number_of(conditions_of[v.name], list(v.terms), self._hedges) if v.name in conditions_of else "0"
            for v in system.inputs
        ]
        right = []
        modified: tuple[str, ...] = ()  # a hedge also holds for the conclusions that follow
        for output in system.outputs:
            term, hedges = rule.term(output.name), rule.hedges(output.name)
            if term is None:
                right.append("0")
                continue
            known = _INVERSE if self._hedges is OCTAVE and output.weighted else self._hedges
            own = hedges[: len(hedges) - len(modified)]
            if (*own, *modified) != hedges or "not" in own or _fraction(own, known) is None:
                raise self.error(position, f": it has no number for the hedges of {output.name!r:.60}.")
            modified = hedges if known is HEDGES else ()
            right.append(_number_of(Is(output.name, term, own), list(output.terms), known))
        join = 2 if isinstance(premise, Or) and len(flat) > 1 else 1
        return f"{' '.join(left)}, {' '.join(right)} ({number(rule.weight)}) : {join}"


def _numbers(values: Iterable[float]) -> str:
    return f"[{' '.join(map(number, values))}]"


def _input_range(variable: Variable) -> tuple[float, float]:
    """Return the range of an input; if it is unknown or empty, one that covers the sets."""
    sets = variable.terms.values()
    peaks = [float(each.peak(*each.parameters)) for each in sets] or [0.0]
    reach = max((3 * float(each.spread(*each.parameters)) for each in sets), default=1.0) or 1.0
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


def _fraction(hedges: tuple[str, ...], known: Hedges) -> float | None:
    """Return the fraction that means hedges (*not* is a sign), or None if none does."""
    rest = hedges[1:] if hedges[:1] == ("not",) else hedges
    return 0.0 if not rest else next((number for number, words in known.items() if words == rest), None)


def _number_of(condition: Is, terms: list[str], known: Hedges) -> str:
    """Return how a condition is written, ``-2.3`` for *not extremely* the second term."""
    fraction = _fraction(condition.hedges, known)
    assert fraction is not None  # checked before
    return f"{'-' if condition.hedges[:1] == ('not',) else ''}{1 + terms.index(condition.term) + fraction:g}"


def _alternatives(premise: Expression) -> Iterator[Expression]:
    """Yield the conjunctions one of which must hold, which is all the same to the maximum of the greatest."""
    if isinstance(premise, Or):
        for part in premise.parts:
            yield from _alternatives(part)
    elif isinstance(premise, And) and premise.parts:
        for choice in itertools.product(
            *(list(itertools.islice(_alternatives(part), _MAX_ROWS + 1)) for part in premise.parts)
        ):
            yield simplified(And(tuple(choice)))
    else:
        yield premise


def _flat(premise: Expression, known: Hedges) -> list[Is] | None:
    """Return the conditions of a premise that a row of numbers can express, else None."""
    kind = Or if isinstance(premise, Or) else And

    def parts(node: Expression) -> Iterator[Expression]:
        if isinstance(node, kind):  # AND within AND, and OR within OR, need no parentheses
            for part in node.parts:
                yield from parts(part)
        else:
            yield node

    found, sayable = list(parts(premise)), []
    for part in found:
        if isinstance(part, Is):
            hedges = part.hedges
            while hedges[:2] == ("not", "not"):
                hedges = hedges[2:]
            if _fraction(hedges, known) is not None:
                sayable.append(Is(part.variable, part.term, hedges))
    return sayable if len(found) == len(sayable) == len({part.variable for part in sayable}) else None


register_exchange_format("fis", (".fis",), read, _Writer)

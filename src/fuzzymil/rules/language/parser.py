"""Parses the rule language into statements, with errors that point at the character.

::

    # a comment belongs to the statement that it precedes or ends the line of
    VARIABLE depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1), deep = Sigmoid(1, 5)
    OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    USING t_norm = min, aggregation = max
    Trap: IF depth is very shallow AND NOT (size is small OR size is medium) THEN mine = 1.15 WITH 0.5
    IF depth is not shallow THEN mine = 0.3 + 2*depth - size
    IF depth is deep THEN risk is small
    IF SOME (depth is deep AND size is small) AND NOT (AT LEAST 3 instances) THEN mine += 2.2
    Default: mine = -2.9

Keywords are not case-sensitive; names are, and need double quotes unless they are plain words. Line breaks
have no meaning. Nothing is ever executed.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, described, did_you_mean, listed
from fuzzymil._utils.text import half_character
from fuzzymil.inference.membership import FAMILIES, Gaussian, MembershipFunction
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.rules.language import suggestions
from fuzzymil.rules.language.lexer import HALF, UNREADABLE, Abandoned, Mistakes, Place, Reader, Token, comments
from fuzzymil.rules.language.printer import is_quantifier_word, quoted
from fuzzymil.rules.premise import (
    ANYTHING,
    MAX_DEPTH,
    TOO_DEEP,
    And,
    Expression,
    Is,
    Not,
    Or,
    Quantified,
    check_premise,
)
from fuzzymil.rules.rule import MISSING, Variable

MAX_TEXT = 2_000_000  # characters: enough for a hundred rules over hundreds of features, parsed in seconds

_WORDS = {"yes": True, "true": True, "no": False, "false": False, "nan": math.nan}
_STATEMENTS = ("IF", "VARIABLE", "OUTPUT", "USING")
_SUM = "a conclusion is a sum of numbers times variables, for example '0.3 + 2*depth'"
_LIKE = ", for example 'low = Gaussian(0, 1)'"
_PARTS = ("from", "to", "missing")
_COMMON = ("gaussian", "triangular", "trapezoidal", "sigmoid", "bell")
_NO_SET = Gaussian(0.0, 1.0)  # stands for a set with a mistake, so that its term is known


class Linear(NamedTuple):
    """A conclusion ``constant + slopes``; without slopes, perhaps in points."""

    constant: float
    slopes: dict[str, float]
    points: bool = False


class ParsedRule(NamedTuple):
    """One rule; a conclusion is a linear function, or a term of the output; None after a mistake."""

    premise: Expression
    conclusions: dict[str, Linear | Is | None]
    weight: float
    place: Place
    adds: Place | None  # of the first ``+=`` or ``-=``
    sets: Place | None  # of the first ``=``
    label: str = ""
    comment: str = ""


@dataclasses.dataclass
class Parsed:
    """The content of a text, and its mistakes."""

    variables: dict[str, Variable] = dataclasses.field(default_factory=dict)
    outputs: dict[str, Variable] = dataclasses.field(default_factory=dict)  # those with terms
    settings: dict[str, object] = dataclasses.field(default_factory=dict)
    places: dict[str, Place] = dataclasses.field(default_factory=dict)  # of the settings
    defaults: dict[str, tuple[float, Place]] = dataclasses.field(default_factory=dict)  # of the outputs
    rules: list[ParsedRule] = dataclasses.field(default_factory=list)
    comment: str = ""  # on the text as a whole
    mistakes: Mistakes = dataclasses.field(default_factory=Mistakes)
    damaged: set[str] = dataclasses.field(default_factory=set)  # variables and outputs whose terms are not all known
    is_complete: bool = True  # whether no statement had to be given up, so that what rules conclude can be compared

    @property
    def named_by_defaults(self) -> bool:
        """Whether the line with the defaults names the outputs."""
        return bool(self.defaults) and any(rule.adds for rule in self.rules)


def read(text: str | Iterable[str], variables: Iterable[Variable] = (), outputs: Iterable[Variable] = ()) -> Parsed:
    """Parse statements.

    ``text``: each entry of a sequence holds complete statements. ``variables``, ``outputs``: declared beforehand; the
    text may declare more. Returned: with the mistakes that were found; what they affect is left out. Raises
    `RuleSyntaxError` if this is no text, or has so many mistakes that reading on is of no use.
    """
    parsed = Parsed()
    for known, given in ((parsed.variables, variables), (parsed.outputs, outputs)):
        for variable in given:
            if not isinstance(variable, Variable):
                raise ParameterError(f"Expected a Variable, got {described(variable)}.")
            if variable.name in known:
                raise ParameterError(f"Two variables are named {variable.name!r:.60}.")
            known[variable.name] = variable
    entries = _entries(text)
    for number, entry in enumerate(entries, start=1):
        # Files from other systems: drop the byte order mark, and unify line ends, where comments end.
        lines = entry.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        where = "" if isinstance(text, str) else f"rule {number}, "
        half = half_character(lines)
        if half is not None:
            raise Place(lines, where, half).error(HALF.format(ascii(lines[half])))
        _Parser(lines, where, number - 1, parsed).statements()
    return parsed


def _entries(text: Any) -> list[str]:
    single = isinstance(text, str | bytes) or not isinstance(text, Iterable)
    entries: list[Any] = [text] if single else list(text)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, str):
            raise RuleSyntaxError(f"Rule {number} must be text, got {described(entry)}.")
    length = sum(map(len, entries))
    if length > MAX_TEXT:
        raise RuleSyntaxError(f"The text has {length:,} characters; the limit is {MAX_TEXT:,}.")
    return entries


class _Parser(Reader):
    """Parser for the statements of one text."""

    comments: list[Token]  # those that belong to no statement yet

    def __init__(self, text: str, label: str, entry: int, parsed: Parsed) -> None:
        super().__init__(text, label, entry, parsed.mistakes)
        self.parsed, self.variables = parsed, parsed.variables
        self.level = 0  # of parentheses and NOTs
        self.quantifier: Token | None = None  # around the condition being read
        self.quantified = False  # whether the premise has a quantifier
        self.bare: list[Token] = []  # its conditions without one
        self.asked: Variable | None = None  # of the condition read last

    # ------------------------------------------------------------------ statements

    def statements(self) -> None:
        self.comments = comments(self.text)
        self.note(self.header())
        while self.token.kind != "end":
            start, n_rules = self.position, len(self.parsed.rules)
            try:
                self.statement()
                while self.skip(";"):
                    pass
                self.annotate(start, is_rule=len(self.parsed.rules) > n_rules)
            except Abandoned:
                self.parsed.is_complete = False
                self.position = max(self.position, start + 1)
                self.find_statement()
        self.note("\n".join(comment.text for comment in self.comments))

    def find_statement(self) -> None:
        """Skip tokens up to the next statement, and report those whose cure does not depend on what they are in."""
        while self.token.kind != "end" and not self.begins_statement():
            if self.token.kind == UNREADABLE:
                self.position += 1
            else:
                self.advance()

    def statement(self) -> None:
        following = self.kinds(3)[1:]
        if following == [":", "if"]:  # a label
            self.rule()
        elif self.skip_word("variable"):
            self.declaration(self.parsed.variables)
        elif self.skip_word("output"):
            self.declaration(self.parsed.outputs)
        elif self.skip_word("using"):
            self.using()
        elif following[:1] == [":"] and self.skip_word("default"):
            self.advance()
            self.defaults()
        elif following == ["name", "="] and self.skip_word("default"):
            self.report(self.token, "A colon is missing: write 'Default: y = 0.5'.")
            self.defaults()
        else:
            self.rule()

    def defaults(self) -> None:
        """``mine = -2.9, other = 1``."""
        for _ in self.each("outputs"):
            output = self.take("name", "the name of an output (Default: y = 0.5)")
            if output.text in self.parsed.defaults:
                self.report(output, f"The default of {output.text!r:.60} appears twice: remove one of them.")
            self.take("=", "'=' and a number")
            value = self.number(f"the default of {output.text!r:.60}, a number")
            self.parsed.defaults[output.text] = value, self.place_of(output)

    def using(self) -> None:
        for _ in self.each("settings"):
            name = self.take("name", "the name of a setting")
            if name.text in self.parsed.settings:
                self.report(name, f"The setting {name.text!r:.60} appears twice: remove one of them.")
            if self.token.kind in ("name", "number", ":", "is", "=="):
                self.report(self.token, f"Expected '=' and a value, found {self.token.text!r:.60}.")
                self.skip(":", "is", "==")
            else:
                self.take("=", "'=' and a value")
            self.parsed.settings[name.text] = self.setting()
            self.parsed.places[name.text] = self.place_of(name)

    def setting(self) -> object:
        if not self.skip("("):
            return self.value()
        values: list[object] = []
        while not values or self.skip(","):
            values.append(self.value())
        self.take(")", "',' or ')'")
        return tuple(values)

    def value(self) -> object:
        quoted = self.text[self.token.start : self.token.start + 1] == '"'
        if self.token.kind == "name" and (quoted or self.token.text.lower() != "inf"):
            word = self.take("name", "a name").text
            return word if quoted else _WORDS.get(word.lower(), word)
        if self.token.kind == "average":  # a defuzzifier, and elsewhere the last word of ON AVERAGE
            return self.advance().text.lower()
        return self.number("a name, a number or numbers in parentheses", infinite=True)

    # ------------------------------------------------------------------ declarations
    # Such as ``depth [m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1)``.

    def declaration(self, into: dict[str, Variable]) -> None:
        name = self.name_of_variable()
        try:
            self.declared(name, into)
        except Abandoned:
            self.parsed.damaged.add(name.text)
            into.setdefault(name.text, Variable(name.text))
            raise

    def name_of_variable(self) -> Token:
        """Parse a name; several words without quotes are reported and joined."""
        name, first = self.take("name", "the name of a variable"), True
        while self.token.kind == "name" and self.kinds(2)[1:] != ["="] and self.token.text.lower() not in _PARTS:
            if self.begins_statement() or "\n" in self.text[name.end : self.token.start]:
                break
            more = self.advance()
            name, first = name._replace(text=f"{name.text} {more.text}", end=more.end), False
        if not first:
            self.report(name, f'Put names of several words in double quotes: "{name.text:.60}".')
        return name

    def declared(self, name: Token, into: dict[str, Variable]) -> None:
        """Parse the rest of a declaration, ``[m] FROM 0 TO 2: shallow = Gaussian(0.2, 0.1)``."""
        if name.text in into:
            self.report(name, f"The variable {name.text!r:.60} is declared twice: remove or rename one of them.")
        unit = ""
        if self.token.kind == "unit":
            if suggestions.is_range(self.text, self.token.start):
                self.report(self.token, "Square brackets hold a unit. Write a range as 'FROM 0 TO 2'.")
            unit = self.advance().text
        ends: list[float | None] = []
        for word, what in (("from", "the lowest value"), ("to", "the highest value")):
            ends.append(self.number(what) if self.skip_word(word) else None)
            self.skip_decimal_comma()
        low, high = ends
        if low is not None and high is not None and low > high:
            problem = f"The range of {name.text!r:.60} goes from {low:g} to {high:g}: write the lower value first."
            self.report(name, problem)
            low = high = None
        missing = self.missing_values() if self.skip_word("missing") else []
        terms: dict[str, MembershipFunction] = {}
        categories: list[str] = []
        more = self.skip(":")
        if more and self.comes("name", "name") and self.skip_word("one") and self.skip_word("of"):
            more = self.categories(name, categories)
        if self.comes("name", "=") and not more:
            advice = f"write 'VARIABLE {quoted(name.text)}: {self.token.text} = ...'."
            self.report(self.token, f"A colon is missing: {advice}")
            more = True
        for _ in self.each("terms") if more else ():
            self.named_set(name, terms)
        codes = {category: float(code) for code, category in enumerate(categories)}
        for each in missing:
            if isinstance(each, Token) and each.text not in codes:
                self.report(each, f"{each.text!r:.60} is no category of {name.text!r:.60}.")
        numbers = tuple(codes.get(each.text, 0.0) if isinstance(each, Token) else each for each in missing)
        try:
            into[name.text] = Variable(name.text, terms, low, high, unit, "", tuple(categories), numbers)
            if into is self.parsed.variables:  # terms of outputs may be numbers instead
                into[name.text].check_sets()
        except ParameterError as problem:
            self.fail(name, str(problem))

    def named_set(self, variable: Token, terms: dict[str, MembershipFunction]) -> None:
        """Parse ``shallow = Gaussian(0.2, 0.1)``."""
        term = self.take_term(f"the name of {'another term after the comma' if terms else 'a term'}{_LIKE}")
        if term.text in terms:
            which = f"{term.text!r:.60} of {variable.text!r:.60}"
            self.report(term, f"The term {which} is defined twice: remove or rename one of them.")
        if self.token.kind == ":" or self.comes("name", "("):
            self.report(self.token, f"Expected '=' and a fuzzy set, found {self.token.text!r:.60}.")
            self.skip(":")
        else:
            self.take("=", f"'=' and a fuzzy set{_LIKE}")
        terms[term.text] = self.fuzzy_set()

    def categories(self, variable: Token, into: list[str]) -> bool:
        """Parse ``email, phone, "live chat"``; return whether terms with sets follow."""
        more = True
        while more and self.kinds(2)[1:] != ["="]:
            category = self.take_term("the name of a category")
            if category.text in into:
                self.report(category, f"The category {category.text!r:.60} of {variable.text!r:.60} is named twice.")
            else:
                into.append(category.text)
            more = self.another("categories")
        return more

    def missing_values(self) -> list[float | Token]:
        """Parse ``AS 0.2, 0.4``, the values that a missing one stands for; categories by name."""
        if not self.skip_word("as"):
            self.expect("AS and the values that a missing one stands for, for example 'MISSING AS 0.5'")
        found: list[float | Token] = []
        while not found or self.skip(","):
            found.append(self.advance() if self.token.kind == "name" else self.number("a value"))
        return found

    def fuzzy_set(self) -> MembershipFunction:
        """Parse a fuzzy set; any one after a mistake."""
        known = {name: FAMILIES[name] for name in _COMMON} | FAMILIES  # the most frequent ones first
        families = {family.__name__: family for family in known.values()}
        kind = self.take("name", f"a fuzzy set ({listed(families)})")
        if kind.text not in families:
            elsewhere = suggestions.FAMILIES_ELSEWHERE.get(kind.text.lower())
            if elsewhere is None:
                self.unknown("membership family", kind, families)
            else:
                self.report(kind, f"Unknown membership family {kind.text!r:.60}. {elsewhere}")
            self.skip_group()
            return _NO_SET
        family = families[kind.text]
        fields = listed(family.fields())
        if self.token.kind == "unit":
            self.report(self.token, f"Use parentheses around the parameters of {kind.text}: '(' and ')'.")
            self.advance()
            return _NO_SET
        self.take("(", f"'(' and the parameters of {kind.text} ({fields})")
        if self.comes("name", "="):
            problem = f"Write the parameters of {kind.text} without names, in this order: {fields}."
            self.report(self.token, problem)
            self.position -= 1
            self.skip_group()
            return _NO_SET
        if family.takes(0) and self.skip(")"):
            return family()
        start = self.token.start
        values: list[Any] = []
        if family.fields()[:1] == ("text",):
            values.append(self.take("name", "a formula in double quotes").text)
        if not values or self.skip(","):
            values += self.numbers(f"a number, a parameter of {kind.text} ({fields or 'pairs'})")
        else:
            self.take(")", "',' or ')'")
        try:
            if family.takes(len(values)):
                return family(*values)
            commas = [place for place in range(start, self.before.start) if self.text[place] == ","]
            hints = (suggestions.decimal_comma(self.text, place) for place in commas)
            expected = f"{len(family.fields())} parameters ({fields})" if fields else "pairs of a value and its degree"
            hint = next(filter(None, hints), "")
            self.report(kind, f"{kind.text} takes {expected}, got {len(values)}.{hint}")
        except ParameterError as problem:
            self.report(kind, str(problem))
        return _NO_SET

    def skip_group(self) -> None:
        """Skip what stands in parentheses or brackets here."""
        if self.skip("unit") or self.token.kind != "(":
            return
        level = 0
        while self.token.kind != "end" and not self.begins_statement():
            level += {"(": 1, ")": -1}.get(self.token.kind, 0)
            self.position += 1
            if level == 0:
                return

    # ------------------------------------------------------------------ rules

    def rule(self) -> None:
        label, start = self.start_of_rule()
        premise = self.whole_premise(start)
        self.take_then()
        conclusions: dict[str, Linear | Is | None] = {}
        signs: dict[str, Place] = {}
        bracket = False
        while not conclusions or self.another_conclusion(bracket):
            bracket = self.skip("(")
            output = self.take("name", "a conclusion (for example 'y = 1')")
            if output.text in conclusions:
                self.report(output, f"The rule concludes {output.text!r:.60} twice: remove one of them.")
            signs.setdefault(self.token.kind, self.place_of(self.token))
            conclusions[output.text] = self.conclusion(output)
            if bracket:
                self.take(")", "')'")
        weight = self.weight()
        adds = signs.get("+=", signs.get("-="))
        self.parsed.rules.append(
            ParsedRule(premise, conclusions, weight, self.place_of(start), adds, signs.get("="), label)
        )

    def start_of_rule(self) -> tuple[str, Token]:
        """Parse a label (``Shock:``, ``Rule 3:``, MATLAB's ``3.``) and ``IF``; return the label and ``IF``.

        A mere number is no label, because rules are numbered anyway.
        """
        first, label = self.token, ""
        for length in (1, 2):
            kinds = self.kinds(length + 2)
            if not set(kinds[:length]) <= {"name", "number"} or kinds[length] not in (":", "if"):
                continue
            words = " ".join(token.text for token in self.tokens[self.position :][:length])
            self.position += length
            if self.token.kind == ":":
                self.position += 1
                numbered = kinds[length - 1] == "number" and (length == 1 or first.text.lower() == "rule")
                label = "" if numbered else words
            elif first.kind == "name":
                self.report(first, f"A colon is missing after the label: write '{words:.60}: IF ...'.")
            break
        token = self.token
        if token.kind == "if":
            return label, self.advance()
        if token.kind == "then":
            self.fail(token, "THEN has no IF before it: write 'IF ... THEN ...'.")
        if token.kind == ")":
            self.fail(token, suggestions.CLOSES_NOTHING)
        if token.kind == "number":
            self.fail(token, f"Expected the next rule, found {token.text!r:.60}. (A weight is written 'WITH 0.5'.)")
        premise = self.comes("name", "is") or token.kind in ("(", "not") or is_quantifier_word(token.kind)
        if first.kind == "name" and (first != token or not premise):
            self.unknown_statement(first)
        if premise:
            self.report(token, "IF is missing before this premise.")
            return label, token
        return label, self.take("if", "a rule (IF ... THEN ...), VARIABLE, OUTPUT or USING")

    def unknown_statement(self, token: Token) -> None:
        """Fail with advice, if there is some, at a word with which no statement begins."""
        word = token.text.lower()
        if word in ("else", "otherwise"):
            other, every = "'IF NOT (...) THEN ...'", "'IF anything THEN ... WITH 0.1'"
            instead = f"write a rule for the other case ({other}), or one for every case ({every})."
            self.fail(token, f"{token.text} is not supported: {instead}")
        if word in suggestions.WEIGHT_WORDS:
            self.fail(token, f"A weight stands at the end of a rule: write 'WITH 0.5' instead of {token.text!r}.")
        meant = suggestions.STATEMENTS_ELSEWHERE.get(word)
        hint = f" Did you mean {meant!r}?" if meant else did_you_mean(token.text, _STATEMENTS) or self.advice_on_names()
        if hint:
            self.fail(token, f"Unknown statement {token.text!r:.60}.{hint}")

    # ------------------------------------------------------------------ premises

    def whole_premise(self, start: Token) -> Expression:
        self.bare, self.quantified, self.quantifier, self.asked, self.level = [], False, None, None, 0
        premise = self.premise()
        if self.quantified and self.bare:
            problem = (
                f"The condition on {self.bare[0].text!r:.60} has no quantifier, but another one of this rule has: "
            )
            why = "the premise is about the whole bag. Write SOME, ALL, MOST, ON AVERAGE or AT LEAST 3 before it, "
            self.report(self.bare[0], f"{problem}{why}or put it into the parentheses of a quantifier.")
            return premise
        try:
            check_premise(premise)
        except ParameterError as problem:
            self.report(start, str(problem))
        return premise

    def premise(self) -> Expression:
        """Parse alternatives joined by OR, each with parts joined by AND, which binds more tightly."""
        alternatives = list[Expression]()
        while not alternatives or self.skip("or"):
            parts = [self.part()]
            while self.skip("and") or self.and_is_missing():
                parts.append(self.part())
            alternatives.append(parts[0] if len(parts) == 1 else And(tuple(parts)))
        return alternatives[0] if len(alternatives) == 1 else Or(tuple(alternatives))

    def and_is_missing(self) -> bool:
        """Report that a comma or nothing stands between two conditions; return whether it is so."""
        comma = self.token.kind == ","
        name, *following = [*self.tokens[self.position + comma :][:2], self.token]
        if (name.kind, following[0].kind) != ("name", "is") or name.text not in self.variables:
            return False
        if comma:
            self.report(self.token, "Write AND (or OR) between conditions instead of a comma.")
            self.advance()
        else:
            self.report(self.token, f"AND or OR is missing before the condition on {self.token.text!r:.60}.")
        return True

    def part(self) -> Expression:
        start = self.token
        self.level += 1
        if self.level > MAX_DEPTH + 1:  # the parenthesis of NOT (x is low) is not a level of the premise
            self.fail(start, TOO_DEEP)
        found: Expression
        if self.skip("not"):
            found = Not(self.part())
        elif self.skip("("):
            found = self.premise()
            self.take(")", f"AND, OR or ')' to close the '(' at character {self.place_of(start).character}")
        elif self.skip("anything") or (self.quantifier is not None and self.skip("instances")):
            found = ANYTHING
        elif start.kind != "name" and is_quantifier_word(start.kind):
            found = self.quantified_part()
        else:
            if self.token.kind == "instances":
                self.fail(start, "'instances' stands after a quantifier: 'AT LEAST 8 instances'.")
            found = self.condition()
        self.level -= 1
        return found

    def quantified_part(self) -> Quantified:
        """Parse ``SOME depth is deep`` or ``AT LEAST 3 (depth is deep AND size is small)``."""
        start, outer = self.token, self.quantifier
        name = self.quantifier_name()
        words = name.upper()
        if outer is not None:
            advice = "a quantifier asks about single instances. Join quantified conditions by AND, OR and NOT."
            self.fail(start, f"{words} stands inside another quantifier ({outer.text.upper()} ...): {advice}")
        count = self.count(words) if name in COUNTING else None
        if count is None and self.token.kind == "number":
            self.fail(self.token, f"{words} takes no count: write 'AT LEAST {self.token.text:.20}' to count instances.")
        asked = ("name", "not", "(", "anything", "instances")
        if self.token.kind not in asked and not is_quantifier_word(self.token.kind):
            expected = f"what {words} asks of the instances, a condition ('variable is term'), '(' or 'instances'"
            self.fail(self.token, f"Expected {expected}, found {self.found}.")
        self.quantifier, self.quantified = start, True
        found = self.part()
        self.quantifier = None
        return Quantified(name, found, count)

    def quantifier_name(self) -> str:
        """Parse the words of a quantifier; of several that match, the longest."""
        rest = self.kinds(max(len(name.split()) for name in QUANTIFIERS))
        found = [name for name in QUANTIFIERS if rest[: len(name.split())] == name.split()]
        if not found and rest[:2] == ["at", "most"]:
            number = self.tokens[self.position + 2].text
            more = int(number) + 1 if number.isdecimal() else 3
            self.fail(self.token, f"'AT MOST' is not a quantifier: write 'NOT AT LEAST {more}' with what follows.")
        if not found:
            meant = listed(name.upper() for name in QUANTIFIERS if self.token.kind in name.split())
            advice = "Write it in full, or put a name of this kind in double quotes."
            self.fail(self.token, f"{self.token.text!r} belongs to a quantifier ({meant}). {advice}")
        name = max(found, key=len)
        self.position += len(name.split())
        return name

    def count(self, words: str) -> int:
        token = self.token
        share = bool(token.problem) or token.text.lower() in ("half", "most", "many", "all")
        if token.kind != "number" or share:
            hint = " For a share of the bag, write MOST or ON AVERAGE." if share else ""
            expected = f"Expected a count after {words} (for example '{words} 3'), found {self.found}.{hint}"
            self.position += bool(token.problem)  # which has another cure elsewhere
            self.fail(token, expected)
        value = self.plain_number("a count")
        if value < 1 or not value.is_integer():
            self.fail(token, f"The count of {words} must be a whole number of at least 1, got {token.text:.40}.")
        return int(value)

    def condition(self) -> Is:
        hedges = self.misplaced_hedges()
        name = self.take("name", "a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...)")
        if self.comes("name", "is") and name.text.lower() not in suggestions.QUANTIFIERS_ELSEWHERE:
            name = self.joined(name)
        variable = self.variables.get(name.text)
        if variable is None and name.text not in self.parsed.damaged:
            self.unknown_variable(name)
        self.asked = variable
        if self.quantifier is None:
            self.bare.append(name)
        self.take_is(name, variable)
        while self.token.kind in HEDGES:
            hedges.append(self.advance().kind)
        term = self.term(name.text, variable, hedged=True)
        return Is(name.text, term, tuple(hedges))

    def misplaced_hedges(self) -> list[str]:
        """Parse hedges before a variable, and report them."""
        start, found = self.token, list[str]()
        while self.token.kind in HEDGES:
            found.append(self.advance().kind)
        if found:
            name = quoted(self.token.text) if self.token.kind == "name" else "variable"
            self.report(start, f"A hedge stands before the term: write '{name} is {' '.join(found)} ...'.")
        return found

    def joined(self, name: Token) -> Token:
        """Parse the second word of a name without quotes, and report it."""
        more = self.advance()
        whole = name._replace(text=f"{name.text} {more.text}", end=more.end)
        if whole.text in self.variables or name.text in self.variables:
            self.report(name, f'Put names of several words in double quotes: "{whole.text:.100}".')
        return name if name.text in self.variables else whole

    def unknown_variable(self, name: Token) -> None:
        meant = suggestions.QUANTIFIERS_ELSEWHERE.get(name.text.lower())
        if meant is not None and self.token.kind in ("name", "(", "number"):
            self.fail(name, f"Unknown variable {name.text!r:.60}. Did you mean the quantifier {meant}?")
        if self.asked is not None and name.text in self.asked.terms and self.token.kind != "is":
            asked, join, _ = self.tokens[self.position - 3 : self.position]  # 'low OR' in 'depth is low OR high'
            first = f"{quoted(self.asked.name)} is"
            whole = f"{first} {asked.text:.60} {join.text.upper()} {first} {quoted(name.text)}"
            self.fail(name, f"Repeat the variable in every condition: '{whole}'.")
        several = " " in name.text and self.text[name.start] != '"'
        self.unknown("variable", name, self.variables, hint=" (Put names of several words in double quotes.)" * several)

    def take_is(self, name: Token, variable: Variable | None) -> None:
        """Parse ``is``, or what people write for it."""
        if self.skip("is"):
            return
        token, following = self.token, self.tokens[min(self.position + 1, len(self.tokens) - 1)]
        terms = () if variable is None else variable.terms
        if token.kind in ("=", "==") or token.text.lower() in ("in", "are", "was", "equals"):
            if following.kind != "number":  # which is a mistake of its own
                term = quoted(following.text) if following.text in terms else "term"
                self.report(token, f"Write 'is' instead of {token.text!r}: '{quoted(name.text)} is {term}'.")
            self.advance()
        elif token.kind in HEDGES or (token.kind == "name" and token.text in terms):
            more = " ..." if token.kind in HEDGES else ""
            self.report(token, f"'is' is missing: write '{quoted(name.text)} is {token.text:.60}{more}'.")
        else:
            self.expect(f"'is' and a term of {name.text!r:.60}")

    def take_term(self, expected: str) -> Token:
        """Take the name of a term, which may be a word that means a quantifier elsewhere (``size is average``)."""
        word = self.token
        if is_quantifier_word(word.kind) or word.kind == "instances":
            self.position += 1
            return word
        return self.take("name", expected)

    def term(self, name: str, variable: Variable | None, *, hedged: bool = False) -> str:
        """Parse a term of a variable; ``hedged`` says whether hedges could stand before it."""
        if variable is None or name in self.parsed.damaged:
            return self.take_term(f"a term of {name!r:.60}").text
        if self.token.kind == "name" and (self.token.text in variable.terms or self.token.text == MISSING):
            return self.advance().text
        if self.token.kind == "number":
            example = f"{quoted(name)} is {quoted(next(iter(variable.terms), 'term'))}"
            other = f"or declare a term for values around {self.token.text:.40}."
            self.fail(self.token, f"A condition names a term, not a number: write '{example}', {other}")
        if self.kinds(3)[0] == "(" and self.kinds(3)[2:] == [")"]:
            self.report(self.token, "Write the term without parentheses.")
            self.advance()
            found = self.term(name, variable)
            self.advance()
            return found
        terms = f" ({listed(map(quoted, variable.terms))})" if variable.terms else ", but none is declared"
        term = self.take_term(f"a term of {name!r:.60}{terms}")
        if term.text in variable.terms:
            return term.text
        following = self.token
        if hedged and (following.kind in HEDGES or (following.kind == "name" and following.text in variable.terms)):
            hint = did_you_mean(term.text, HEDGES)
            self.report(term, f"Unknown hedge {term.text!r:.60}; choose from {listed(HEDGES)}.{hint}")
            while self.token.kind in HEDGES:
                self.advance()
            return self.term(name, variable)
        self.unknown("term", term, variable.terms, f" of {name!r:.60}")
        if following.kind == "name" and self.advice_on_names():
            self.advance()
        return term.text

    # ------------------------------------------------------------------ conclusions, weights

    def take_then(self) -> None:
        """Parse ``THEN``; report that it is missing if a conclusion follows."""
        if self.skip("then"):
            return
        token, following = self.token, self.kinds(2)[1:]
        named = following == ["is"] and token.text in self.parsed.outputs
        if token.kind in (":", ",") and self.kinds(3)[1:2] == ["name"]:
            self.report(token, f"Write THEN before the conclusion instead of {token.text!r}.")
            self.advance()
        elif token.text.lower() in suggestions.THEN_ELSEWHERE and following == ["name"]:
            self.report(token, f"Write THEN instead of {token.text!r}.")
            self.advance()
        elif token.text.lower() == "xor":
            instead = "(a is low AND b is not low) OR (b is low AND a is not low)"
            self.fail(token, f"XOR is not supported: write '{instead}'.")
        elif token.kind == "name" and (named or following in (["="], ["+="], ["-="])):
            self.report(token, f"THEN is missing before the conclusion on {token.text!r:.60}.")
        elif token.kind in HEDGES and self.before.kind == "name":
            instead = f"is {token.text.lower()} {quoted(self.before.text)}"
            self.fail(token, f"A hedge stands before its term: write '{instead}'.")
        elif token.kind == ")":
            self.fail(token, suggestions.CLOSES_NOTHING)
        else:
            ended = token.kind == "end" or self.at_next_statement()
            advice = " Every rule needs a conclusion, for example 'THEN y = 1'." if ended else self.advice_on_names()
            self.expect("AND, OR or THEN", advice)

    def another_conclusion(self, bracket: bool) -> bool:
        """Parse what stands between two conclusions; in MATLAB's notation, ``(a is low)(b is high)``, nothing does."""
        if bracket and self.comes("(", "name"):
            return True
        if self.token.kind == "or":
            self.fail(self.token, "A rule concludes all of its outputs: separate them by commas, not by OR.")
        following = self.kinds(2)[1:]
        named = self.token.kind == "name" and self.token.text in self.parsed.outputs and following == ["is"]
        if named or (self.token.kind == "name" and following in (["+="], ["-="])):
            self.report(self.token, f"Separate conclusions by commas: one is missing before {self.token.text!r:.60}.")
            return True
        return self.another("conclusions") or self.skip("and")

    def weight(self) -> float:
        """Parse ``WITH 0.5``, or MATLAB's ``(0.5)``, if it is there."""
        what = "the weight of the rule (for example 0.5)"
        if self.comes("(", "number", ")"):
            self.advance()
            value = self.plain_number(what)
            self.advance()
            return value
        start = self.token
        given = self.skip("with")
        if (given or self.kinds(2)[1:] != [":"]) and self.skip_word(*suggestions.WEIGHT_WORDS):
            self.report(start, f"Write 'WITH 0.5' for a weight: WITH and the number, without {self.before.text!r}.")
            self.skip("=", ":", "==")
            given = True
        if not given:
            return 1.0
        if self.token.kind == "-":
            said = f"-{self.tokens[self.position + 1].text}"
            self.fail(self.token, f"The weight of a rule must be at least 0 (for example 0.5), found {said!r:.60}.")
        value = self.plain_number(what)
        self.skip_decimal_comma()
        return value

    def conclusion(self, output: Token) -> Linear | Is | None:
        """Parse what is concluded about an output; None after a mistake."""
        start = self.token
        number = self.kinds(3)[1:2] == ["number"] or self.kinds(3)[1:] == ["-", "number"]
        if start.kind == "is" and not (number and output.text not in self.parsed.outputs):
            return self.concluded_term(output)
        if start.kind in ("is", ":", "==") and number:
            self.advance()
            said = self.token.text if self.token.kind == "number" else f"-{self.tokens[self.position + 1].text}"
            instead = f"'{quoted(output.text)} = {said}'"
            self.report(start, f"Write '=' before a number instead of {start.text!r}: {instead}.")
        elif not self.skip("+=", "-="):
            self.take("=", "'=' and a number ('+=' to add it, 'is' and a term)")
        found = self.linear(output)
        if not all(map(math.isfinite, (found.constant, *found.slopes.values()))):
            self.report(start, "The numbers of this sum are too large: they add up to more than 1.8e308.")
        if start.kind != "-=":
            return found
        return found._replace(constant=-found.constant, slopes={name: -slope for name, slope in found.slopes.items()})

    def concluded_term(self, output: Token) -> Is | None:
        """Parse ``is great`` or ``is very great``."""
        self.advance()
        hedges = []
        while self.token.kind in HEDGES:
            hedges.append(self.advance().kind)
        if output.text in self.parsed.outputs:
            variable = self.parsed.outputs[output.text]
            term = self.term(output.text, variable)
            return Is(output.text, term, tuple(hedges)) if term in variable.terms else None
        if self.parsed.outputs:
            self.unknown("output", output, self.parsed.outputs)
        else:
            advice = "Declare them for a Mamdani rule (OUTPUT ...: term = set), or conclude a number ('= 1')."
            self.report(output, f"The output {output.text!r:.60} has no terms. {advice}")
        self.take_term(f"a term of {output.text!r:.60}")
        return None

    def linear(self, output: Token) -> Linear:
        """``0.3 + 2*depth - size``."""
        constant, slopes = 0.0, dict[str, float]()
        sign = self.sign() or 1.0
        while sign:
            value, name = self.product(output)
            if name is None:
                constant += sign * value
            else:
                slopes[name] = slopes.get(name, 0.0) + sign * value
            sign = self.sign()
        in_points = not slopes and self.kinds(2)[1:] != [":"] and self.skip_word("points", "point")
        return Linear(constant, slopes, bool(in_points))

    def sign(self) -> float:
        """Parse a plus or minus; return 0 if there is none."""
        return 1.0 if self.skip("+") else -1.0 if self.skip("-") else 0.0

    def product(self, output: Token) -> tuple[float, str | None]:
        if self.token.kind == "number":
            value = self.plain_number("a number")
            return value, (self.factor(f"a variable ({_SUM})", output) if self.skip("*") else None)
        name = self.factor(f"a number or a variable ({_SUM})", output)
        if self.comes("*", "*"):
            self.fail(self.token, f"'**' is not supported: {_SUM}.")
        return (self.plain_number(f"a number ({_SUM})") if self.skip("*") else 1.0), name

    def factor(self, expected: str, output: Token) -> str:
        name = self.take("name", expected)
        if self.token.kind == "(":
            self.fail(name, f"Function calls are not supported: {_SUM}.")
        if name.text.lower() in ("inf", "infinity", "nan") and name.text not in self.variables:
            self.fail(name, f"A conclusion must be finite, found {name.text!r}.")
        terms = self.parsed.outputs[output.text].terms if output.text in self.parsed.outputs else {}
        if name.text not in self.variables and name.text in terms:
            self.fail(name, f"{name.text!r:.60} is a term: write '{quoted(output.text)} is {quoted(name.text)}'.")
        if name.text not in self.variables and name.text not in self.parsed.damaged:
            self.unknown("variable", name, self.parsed.variables)
        return name.text

    # ------------------------------------------------------------------ comments: of which statement

    def header(self) -> str:
        """Take the comments at the top of the text, down to the last blank line before the first statement."""
        top = [comment for comment in self.comments if comment.start < self.token.start]
        starts = itertools.pairwise([*(comment.start for comment in top), self.token.start])
        n_taken = max((n for n, ends in enumerate(starts, start=1) if self.text.count("\n", *ends) > 1), default=0)
        del self.comments[:n_taken]
        return "\n".join(comment.text for comment in top[:n_taken])

    def note(self, comment: str) -> None:
        """Add a comment on the text as a whole."""
        self.parsed.comment = "\n".join(filter(None, (self.parsed.comment, comment)))

    def annotate(self, first: int, *, is_rule: bool) -> None:
        """Give the statement that started at a token the comments before and in it, and at the end of its last line."""
        line = self.text.find("\n", self.before.start)
        own = [comment for comment in self.comments if line < 0 or comment.start < line]
        if self.token.kind != "end" and (line < 0 or self.token.start < line):  # another statement on this line
            own = [comment for comment in own if comment.start < self.token.start]
        del self.comments[: len(own)]
        comment = "\n".join(comment.text for comment in own)
        word, name = (token.text for token in [*self.tokens[first:], self.token][:2])
        declared = {"variable": self.parsed.variables, "output": self.parsed.outputs}.get(word.lower(), {})
        if is_rule:
            self.parsed.rules[-1] = self.parsed.rules[-1]._replace(comment=comment)
        elif name in declared and comment:
            declared[name] = dataclasses.replace(declared[name], comment=comment)
        else:
            self.note(comment)

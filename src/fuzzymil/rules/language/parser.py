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

from collections.abc import Iterable
from typing import Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError, described, did_you_mean
from fuzzymil._utils.text import half_character
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.comments import CommentReader
from fuzzymil.rules.language.conclusions import ConclusionReader
from fuzzymil.rules.language.declarations import DeclarationReader
from fuzzymil.rules.language.lexer import HALF, UNREADABLE, Place, Token, comments
from fuzzymil.rules.language.mistakes import Abandoned
from fuzzymil.rules.language.parsed import Linear, Parsed, ParsedRule
from fuzzymil.rules.language.printer import is_quantifier_word
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Variable

__all__ = ["MAX_TEXT", "read"]

MAX_TEXT = 2_000_000  # characters: enough for a hundred rules over hundreds of features, parsed in seconds

_WORDS = {"yes": True, "true": True, "no": False, "false": False}
_STATEMENTS = ("IF", "VARIABLE", "OUTPUT", "USING")


def read(text: str | Iterable[str], variables: Iterable[Variable] = (), outputs: Iterable[Variable] = ()) -> Parsed:
    """Parse statements.

    Parameters
    ----------
    text : str, or sequence of str
        Each entry of a sequence holds complete statements.
    variables, outputs : sequences of Variable
        Declared beforehand; the text may declare more.

    Returns
    -------
    Parsed
        With the mistakes that were found; what they affect is left out.

    Raises
    ------
    RuleSyntaxError
        If this is no text, or has so many mistakes that reading on is of no use.

    Examples
    --------
    >>> parsed = read("VARIABLE hue: blue = Gaussian(0.6, 0.1)  IF hue is blue THEN sky = 1")
    >>> parsed.rules[0].conclusions
    {'sky': Linear(constant=1.0, slopes={})}
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
        _Reader(lines, where, number - 1, parsed).statements()
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


class _Reader(DeclarationReader, ConclusionReader, CommentReader):
    """Parser for the statements of one text."""

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
        more = True
        while more:
            output = self.take("name", "the name of an output (Default: y = 0.5)")
            if output.text in self.parsed.defaults:
                self.report(output, f"The default of {output.text!r:.60} appears twice: remove one of them.")
            self.take("=", "'=' and a number")
            value = self.number(f"the default of {output.text!r:.60}, a number")
            self.parsed.defaults[output.text] = value, self.place_of(output)
            more = self.another("outputs")

    def using(self) -> None:
        more = True
        while more:
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
            more = self.another("settings")

    def setting(self) -> object:
        if self.skip("("):
            values = [self.value()]
            while self.skip(","):
                values.append(self.value())
            self.take(")", "',' or ')'")
            return tuple(values)
        return self.value()

    def value(self) -> object:
        if self.token.kind == "name" and self.token.text.lower() != "inf":
            word = self.take("name", "a name").text
            return _WORDS.get(word.lower(), word)
        if self.token.kind == "average":  # a defuzzifier, and elsewhere the last word of ON AVERAGE
            return self.advance().text.lower()
        return self.number("a name, a number or numbers in parentheses", infinite=True)

    # ------------------------------------------------------------------ rules

    def rule(self) -> None:
        label, start = self.start_of_rule()
        premise = self.whole_premise(start)
        self.take_then()
        conclusions: dict[str, Linear | Is | None] = {}
        signs: dict[str, Place] = {}
        more = True
        while more:
            bracket = self.skip("(")
            output = self.take("name", "a conclusion (for example 'y = 1')")
            if output.text in conclusions:
                self.report(output, f"The rule concludes {output.text!r:.60} twice: remove one of them.")
            signs.setdefault(self.token.kind, self.place_of(self.token))
            conclusions[output.text] = self.conclusion(output)
            if bracket:
                self.take(")", "')'")
            more = self.another_conclusion(bracket)
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
            if set(kinds[:length]) <= {"name", "number"}:
                words = " ".join(token.text for token in self.tokens[self.position :][:length])
                numbered = kinds[length - 1] == "number" and (length == 1 or first.text.lower() == "rule")
                if kinds[length] == ":":
                    label = "" if numbered else words
                    self.position += length + 1
                    break
                if kinds[length] == "if":
                    if first.kind == "name":
                        self.report(first, f"A colon is missing after the label: write '{words:.60}: IF ...'.")
                    self.position += length
                    break
        token = self.token
        if token.kind == "if":
            return label, self.advance()
        if token.kind == "then":
            self.fail(token, "THEN has no IF before it: write 'IF ... THEN ...'.")
        if token.kind == ")":
            self.fail(token, cures.CLOSES_NOTHING)
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
            self.fail(
                token,
                f"{token.text} is not supported: write a rule for the other case ('IF NOT (...) THEN ...'), or one for "
                "every case ('IF anything THEN ... WITH 0.1').",
            )
        if word in cures.WEIGHT_WORDS:
            self.fail(token, f"A weight stands at the end of a rule: write 'WITH 0.5' instead of {token.text!r}.")
        meant = cures.STATEMENTS_ELSEWHERE.get(word)
        hint = f" Did you mean {meant!r}?" if meant else did_you_mean(token.text, _STATEMENTS) or self.advice_on_names()
        if hint:
            self.fail(token, f"Unknown statement {token.text!r:.60}.{hint}")

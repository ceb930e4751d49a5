"""Parses conclusions and weights: ``THEN y = 0.3 + 2*depth WITH 0.5``."""

from __future__ import annotations

import math

from fuzzymil.inference.premises import HEDGES
from fuzzymil.rules.language import cures
from fuzzymil.rules.language.lexer import Token
from fuzzymil.rules.language.parsed import Linear
from fuzzymil.rules.language.premises import PremiseReader
from fuzzymil.rules.language.printer import quoted
from fuzzymil.rules.premise import Is

__all__ = ["ConclusionReader"]

_SUM = "a conclusion is a sum of numbers times variables, for example '0.3 + 2*depth'"


class ConclusionReader(PremiseReader):
    """Parser for what comes after the premise of a rule."""

    def take_then(self) -> None:
        """Parse ``THEN``; report that it is missing if a conclusion follows."""
        if self.skip("then"):
            return
        token, following = self.token, self.kinds(2)[1:]
        is_conclusion = following in (["="], ["+="], ["-="]) or (
            following == ["is"] and token.text in self.parsed.outputs
        )
        if token.kind in (":", ",") and self.kinds(3)[1:2] == ["name"]:
            self.report(token, f"Write THEN before the conclusion instead of {token.text!r}.")
            self.advance()
        elif token.text.lower() in cures.THEN_ELSEWHERE and following == ["name"]:
            self.report(token, f"Write THEN instead of {token.text!r}.")
            self.advance()
        elif token.text.lower() == "xor":
            self.fail(
                token, "XOR is not supported: write '(a is low AND b is not low) OR (b is low AND a is not low)'."
            )
        elif token.kind == "name" and is_conclusion:
            self.report(token, f"THEN is missing before the conclusion on {token.text!r:.60}.")
        elif token.kind in HEDGES and self.before.kind == "name":
            self.fail(
                token, f"A hedge stands before its term: write 'is {token.text.lower()} {quoted(self.before.text)}'."
            )
        elif token.kind == ")":
            self.fail(token, cures.CLOSES_NOTHING)
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
        if (given or self.kinds(2)[1:] != [":"]) and self.skip_word(*cures.WEIGHT_WORDS):
            self.report(start, f"Write 'WITH 0.5' for a weight: WITH and the number, without {self.before.text!r}.")
            self.skip("=", ":", "==")
            given = True
        if not given:
            return 1.0
        if self.token.kind == "-":
            said = "".join(token.text for token in self.tokens[self.position : self.position + 2])
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
            written = f"{quoted(output.text)} = {said}"
            self.report(start, f"Write '=' before a number instead of {start.text!r}: '{written}'.")
        elif not self.skip("+=", "-="):
            self.take("=", "'=' and a number ('+=' to add it, 'is' and a term)")
        found = self.linear(output)
        if not all(map(math.isfinite, (found.constant, *found.slopes.values()))):
            self.report(start, "The numbers of this sum are too large: they add up to more than 1.8e308.")
        if start.kind == "-=":
            return Linear(-found.constant, {name: -slope for name, slope in found.slopes.items()})
        return found

    def concluded_term(self, output: Token) -> Is | None:
        """Parse ``is great`` or ``is very great``."""
        self.advance()
        hedges = []
        while self.token.kind in HEDGES:
            hedges.append(self.advance().kind)
        if output.text in self.parsed.outputs:
            variable = self.parsed.outputs[output.text]
            term = self.term(output.text, variable)
            if term not in variable.terms:
                return None
            return Is(output.text, term, tuple(hedges))
        if self.parsed.outputs:
            self.unknown("output", output, self.parsed.outputs)
        else:
            self.report(
                output,
                f"The output {output.text!r:.60} has no terms. Declare them for a Mamdani rule "
                "(OUTPUT ...: term = set), or conclude a number ('= 1').",
            )
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
        return Linear(constant, slopes)

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

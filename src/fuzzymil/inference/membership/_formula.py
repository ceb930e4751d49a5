"""Sets given by a formula."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fuzzymil._utils.arrays import namespace
from fuzzymil._utils.errors import ParameterError, did_you_mean
from fuzzymil.inference.membership._base import Location, MembershipFunction, Text, Width

# Arithmetic written as text, ``1 / (1 + exp(-20 * (x - 0.75)))``: read by a parser of its own, never executed as code.
#
# =====================  ======================================================================
# signs                  ``+ - * / % ^ **``, parentheses; ``and``, ``or``, ``!`` on truth values
# one argument           abs acos acosh asin asinh atan atanh ceil cos cosh exp fabs floor log
#                        log10 log1p round sin sinh sqrt tan tanh
# two arguments          atan2 fmod max min pow; eq ge gt le lt neq (1 if true, else 0)
# constants              pi e
# =====================  ======================================================================
#
# Any other word is the name of a variable. A name of several words has single quotes, ``'patch position'``. A variable
# called ``e`` or ``pi`` takes the place of the constant. ``^`` and ``**`` are the same and group from the right, as in
# mathematics.


_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[^\W\d][\w.]*)"
    r"|'(?P<quoted>[^']+)'|(?P<sign>\*\*|[-+*/%^(),!~])|(?P<other>\S))"
)
_ANGLES = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
_ONE = {name: name for name in ("exp", "log", "log10", "log1p", "sqrt", "floor", "ceil", "round", "abs", *_ANGLES)}
_ONE |= {f"a{name}": f"arc{name}" for name in _ANGLES} | {"fabs": "abs", "ln": "log"}
_COMPARISONS = {"gt": "greater", "ge": "greater_equal", "eq": "equal", "neq": "not_equal"}
_COMPARISONS |= {"le": "less_equal", "lt": "less"}
_TWO = {"min": "minimum", "max": "maximum", "pow": "power", "atan2": "arctan2", "fmod": "fmod"} | _COMPARISONS
_SIGNS = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide", "%": "fmod", "^": "power", "**": "power"}
_LEVELS = (("or",), ("and",), ("+", "-"), ("*", "/", "%"))
_MAX_DEPTH = 50
_MAX_LENGTH = 10_000  # characters

Tree = tuple[Any, ...]
"""("number", value), ("name", text) or (function, part, ...)."""


@dataclasses.dataclass(frozen=True)
class Arithmetic:
    """A formula over named variables; `ParameterError` if the text is not one.

    Examples
    --------
    >>> formula = Arithmetic("max(0, 1 - abs(x - center)^2)")
    >>> formula.names
    ('x', 'center')
    >>> float(formula.value({"x": 1.5, "center": 1.0}))
    0.75
    >>> Arithmetic("1 + * 2")
    Traceback (most recent call last):
    ...
    fuzzymil.ParameterError: The formula '1 + * 2' is not complete at character 5: expected a number, a name or '('...
    """

    text: str

    CONSTANTS: ClassVar[Mapping[str, float]] = {"pi": math.pi, "e": math.e}

    def __post_init__(self) -> None:
        self.tree  # noqa: B018  reads the formula, and raises an error if it cannot

    @functools.cached_property
    def tree(self) -> Tree:
        """The formula as nested tuples."""
        return _Reader(self.text).whole()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables, in the order of their first appearance, without constants."""
        found = dict.fromkeys(part[1] for part in _parts(self.tree) if part[0] == "name")
        return tuple(name for name in found if name not in Arithmetic.CONSTANTS)

    @staticmethod
    def name(text: str) -> str:
        """Return the name of a variable as a formula has it, in quotes if it is not a single word."""
        return text if re.fullmatch(r"[^\W\d][\w.]*", text) and text not in ("and", "or") else f"'{text}'"

    def renamed(self, names: Mapping[str, str]) -> Arithmetic:
        """Return the formula with other names for some variables.

        Examples
        --------
        >>> Arithmetic("2 * a + max(a, b)").renamed({"a": "water level"}).text
        "2 * 'water level' + max('water level', b)"
        """

        def change(match: re.Match[str]) -> str:
            word = match["name"] or match["quoted"]
            if word not in names or self.text[match.end() :].lstrip().startswith("("):
                return match[0]
            return match[0].replace(match[0].lstrip(), self.name(names[word]))

        return Arithmetic(_TOKEN.sub(change, self.text))

    def value(self, variables: Mapping[str, Any]) -> Any:
        """Return the value for given values of the variables, arrays or numbers."""
        return _value(self.tree, variables, namespace(next(iter(variables.values()), 0.0)))

    def log_value(self, variables: Mapping[str, Any]) -> Any:
        """Return the logarithm of the value, ``-inf`` where it is not above 0.

        Factors, powers and exponentials are computed in logarithms, so that they do not underflow.
        """
        xp = namespace(next(iter(variables.values()), 0.0))
        log_size, sign = _log_value(self.tree, variables, xp)
        return xp.where(sign > 0, log_size, xp.where(xp.isnan(sign), sign, -xp.inf))


# ---------------------------------------------------------------------- values


def _parts(tree: Tree) -> Iterator[Tree]:
    yield tree
    if tree[0] not in ("number", "name"):
        for part in tree[1:]:
            yield from _parts(part)


def _value(tree: Tree, variables: Mapping[str, Any], xp: Any) -> Any:
    kind = tree[0]
    if kind == "number":
        return tree[1]
    if kind == "name":
        return variables[tree[1]] if tree[1] in variables else Arithmetic.CONSTANTS[tree[1]]
    if kind == "power" and tree[2][0] == "number":  # a whole power has a derivative at 0 that the general one lacks
        exponent = tree[2][1]
        base = _value(tree[1], variables, xp)
        return base ** int(exponent) if exponent == int(exponent) else base**exponent
    found = getattr(xp, kind)(*(_value(part, variables, xp) for part in tree[1:]))
    if kind not in _COMPARISONS.values() and not kind.startswith("logical"):
        return found
    # PyTorch would make 32-bit numbers of 1 and 0 alone.
    return xp.where(xp.asarray(found) != 0, xp.ones_like(next(iter(variables.values()), 0.0)), 0.0)


def _in_logs(tree: Tree) -> bool:
    """Return whether part of the value may underflow or overflow where the whole does not."""
    return any(part[0] in ("exp", "power") for part in _parts(tree))


def _log_value(tree: Tree, variables: Mapping[str, Any], xp: Any) -> tuple[Any, Any]:
    """Return the logarithm of the size, and the sign."""
    kind = tree[0]
    if kind == "exp":
        return _value(tree[1], variables, xp), 1.0
    if kind in ("multiply", "divide"):
        (one, sign), (two, other) = (_log_value(part, variables, xp) for part in tree[1:])
        return (one + two if kind == "multiply" else one - two), sign * other
    if kind == "power" and tree[2][0] == "number":
        size, sign = _log_value(tree[1], variables, xp)
        exponent = tree[2][1]
        return exponent * size, (sign * sign if exponent % 2 == 0 else sign if exponent % 2 == 1 else xp.sqrt(sign))
    if kind in ("add", "subtract") and _in_logs(tree):
        (one, sign), (two, other) = (_log_value(part, variables, xp) for part in tree[1:])
        top = xp.maximum(one, two)
        unit = xp.where(xp.isneginf(top), 0.0, top)
        total = sign * xp.exp(one - unit) + (other if kind == "add" else -other) * xp.exp(two - unit)
        size, sign = _log_size(total, xp)
        return unit + size, sign
    return _log_size(_value(tree, variables, xp), xp)


def _log_size(value: Any, xp: Any) -> tuple[Any, Any]:
    value = xp.asarray(value)
    nothing = value == 0
    return xp.where(nothing, -xp.inf, xp.log(abs(xp.where(nothing, 1.0, value)))), xp.sign(value)


# ---------------------------------------------------------------------- text


class _Reader:
    """Recursive-descent parser."""

    def __init__(self, text: object) -> None:
        if not isinstance(text, str) or len(text) > _MAX_LENGTH:
            raise ParameterError(f"A formula must be text of at most {_MAX_LENGTH:,} characters, got {text!r:.60}.")
        self.text = text
        self.tokens: list[tuple[str, str, int]] = []
        place = 0
        while match := _TOKEN.match(text, place):
            kind = str(match.lastgroup)
            self.tokens.append((match[kind] if kind == "sign" else kind, match[kind], match.start(kind)))
            place = match.end()
        self.tokens.append(("end", "", len(text.rstrip())))
        self.place = self.depth = 0

    def fail(self, expected: str) -> ParameterError:
        kind, word, start = self.tokens[self.place]
        found = "the end" if kind == "end" else f"{word!r:.60}"
        return ParameterError(
            f"The formula {self.text!r:.100} is not complete at character {start + 1}: expected {expected}, "
            f"found {found}."
        )

    def skip(self, *kinds: str) -> str:
        kind, word, _ = self.tokens[self.place]
        if kind in kinds or (kind == "name" and word in kinds):
            self.place += 1
            return word
        return ""

    def whole(self) -> Tree:
        found = self.nested()
        if self.tokens[self.place][0] != "end":
            raise self.fail("a sign between numbers, or the end")
        return found

    def nested(self) -> Tree:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ParameterError(f"The formula {self.text!r:.100} is nested more than {_MAX_DEPTH} levels deep.")
        found = self.chain(0)
        self.depth -= 1
        return found

    def chain(self, level: int) -> Tree:
        """Read parts joined by the signs of a level, which bind less than those of the next."""
        if level == len(_LEVELS):
            return self.signed()
        found = self.chain(level + 1)
        while sign := self.skip(*_LEVELS[level]):
            found = (_SIGNS.get(sign, f"logical_{sign}"), found, self.chain(level + 1))
        return found

    def signed(self) -> Tree:
        sign = 1
        while found := self.skip("-", "~", "+", "!"):
            if found == "!":
                return ("logical_not", self.signed())
            sign = -sign if found in "-~" else sign
        power = self.power()
        if sign > 0:
            return power
        return ("number", -power[1]) if power[0] == "number" else ("negative", power)

    def power(self) -> Tree:
        base = self.atom()
        return ("power", base, self.signed()) if self.skip("^", "**") else base

    def atom(self) -> Tree:
        kind, word, _ = self.tokens[self.place]
        if kind == "number":
            self.place += 1
            return ("number", float(word))
        if self.skip("("):
            found = self.nested()
            if not self.skip(")"):
                raise self.fail("')'")
            return found
        if kind == "quoted":
            self.place += 1
            return ("name", word)
        if kind != "name" or word in ("and", "or"):
            raise self.fail("a number, a name or '('")
        if self.tokens[self.place + 1][0] == "(":
            return self.call(word)
        self.place += 1
        return ("name", word)

    def call(self, word: str) -> Tree:
        known = _ONE | _TWO
        if word not in known:
            raise ParameterError(
                f"The formula {self.text!r:.100} calls the unknown function {word!r:.60}; choose from "
                f"{', '.join(sorted(known))}.{did_you_mean(word, known)}"
            )
        self.place += 2
        parts = [self.nested()]
        while self.skip(","):
            parts.append(self.nested())
        if not self.skip(")"):
            raise self.fail("')'")
        count = 1 if word in _ONE else 2
        if len(parts) != count:
            raise ParameterError(f"The formula {self.text!r:.100}: {word} takes {count} argument(s), got {len(parts)}.")
        return (known[word], *parts)


@dataclass(frozen=True)
class Formula(MembershipFunction, name="formula"):
    """A set given by arithmetic over ``x``; `Arithmetic` lists what a formula may contain.

    Where the formula is below 0 the membership is 0, and where it is above 1 it is 1. Training shifts and stretches
    the set: ``shift`` and ``scale`` mean that ``x`` in the formula is ``(x - shift) / scale``.

    As a term of an output that is an average or a sum, a formula is a number instead, computed from the features
    and outputs that it names: ``Formula("2 * depth + sin(angle)")``; see `fuzzymil.rules.RuleBase`.

    Examples
    --------
    >>> Formula("1 - abs(x)")([-2, 0, 0.25]).tolist()
    [0.0, 1.0, 0.75]
    >>> Formula("1 - abs(x)", shift=10, scale=4)([9, 10]).tolist()
    [0.75, 1.0]
    """

    text: Text
    shift: Location = 0.0
    scale: Width = 1.0

    def _check(self) -> None:
        super()._check()
        Arithmetic(self.text)  # raises an error if it is not a formula

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in the formula, only ``x`` in that of a set."""
        return Arithmetic(self.text).names

    def check_set(self) -> None:
        """Raise `ParameterError` if the formula has variables other than ``x``."""
        others = [name for name in self.names if name != "x"]
        if others:
            raise ParameterError(f"Formula: the variable of a set is called x, found {others[0]!r} in {self.text!r}.")

    def number(self, variables: Mapping[str, Any]) -> Any:
        """Return the number that the formula means for these values of its variables, arrays or numbers."""
        return Arithmetic(self.text).value(variables)

    @classmethod
    def takes(cls, count: int) -> bool:
        return count in (1, 3)  # the text alone, or with shift and scale

    @property
    def kind(self) -> str:
        """The name with the text."""
        return f"{self.name}:{self.text}"

    @classmethod
    @functools.cache
    def of_kind(cls, detail: str) -> type[MembershipFunction]:
        """Return the class of the sets with this text."""
        formula = Arithmetic(detail)

        class Written(Formula):
            @staticmethod
            def log_mu(x: Any, shift: Any, scale: Any) -> Any:
                return _log_mu(formula, x, shift, scale)

        return Written

    @property
    def arguments(self) -> tuple[float | str, ...]:
        """The text, and shift and scale if the set is moved."""
        moved = self.shift != 0 or self.scale != 1
        return (self.text, self.shift, self.scale) if moved else (self.text,)

    def with_parameters(self, *parameters: float) -> MembershipFunction:
        """Return the same formula, shifted and stretched."""
        return Formula(self.text, *parameters)

    def log_mu(self, x: Any, shift: Any, scale: Any) -> Any:  # type: ignore[override]  # the text is the instance's
        """Return the logarithm of the membership; ``-inf`` where it is exactly zero."""
        self.check_set()
        return _log_mu(Arithmetic(self.text), x, shift, scale)

    @classmethod
    def peak(cls, shift: Any, scale: Any) -> Any:
        """Return where x is 0 in the formula: a formula does not say where it peaks."""
        return shift


def _log_mu(formula: Arithmetic, x: Any, shift: Any, scale: Any) -> Any:
    xp = namespace(x)
    z = (x - shift) / scale
    log_mu = formula.log_value({"x": z}) + 0.0 * z  # of the full shape, even if the formula is a number
    return xp.minimum(log_mu, 0.0)

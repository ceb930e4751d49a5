"""Rules as functions in Python and C99 that need nothing else: for one instance, and for a bag of instances.

``infer(x)`` takes the inputs of one instance, in order, and returns the outputs; ``infer_bag`` takes several instances.
Degrees are plain numbers in this code, not logarithms: strengths below the smallest number count as 0. An unknown
input (NaN) satisfies its conditions; a linear conclusion of it is NaN. A rule with quantifiers is about a bag:
``infer`` takes its instance for a bag of one.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Arithmetic, Discrete, Formula, MembershipFunction, Missing, Singleton
from fuzzymil.inference.quantifiers import MOST_FROM, MOST_TO
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files._exchange import codes_of_categories
from fuzzymil.rules.files._format import Format, register_format
from fuzzymil.rules.files._system import Output, System, Term, system_of
from fuzzymil.rules.premise import And, Expression, Is, Not, Quantified, parts_of
from fuzzymil.rules.rule import Variable

JOINS = {"max": "greatest", "min": "least", "mean": "mean", "softmax": "soft"}
JOINS |= {"algebraic": "any_of", "bounded": "sum_of"}
"""How code joins the instances of a bag, and the name of the function."""

QUANTIFIERS = {"some": "greatest", "all": "least", "on average": "mean", "most": "most", "at least": "at_least"}
"""The quantifiers that code can express, and the name of the function."""


class Language(NamedTuple):
    """A language: the functions it may need, and how the parts of a program are put together."""

    functions: Mapping[str, str]  # name to definition
    choice: str  # with places for a condition, and for what holds then and else
    infinity: str
    nan: str
    text: Callable[[Program, Sequence[str]], str]


class Program:
    """The expressions of a system in one language."""

    def __init__(self, system: System, base: RuleBase, language: Language) -> None:
        _check(system, base)
        self.system, self.base, self.language = system, base, language
        self.places = {variable.name: d for d, variable in enumerate(system.inputs)}
        self.parts = [part for r, rule in enumerate(system.rules) for part in parts_of(r, rule.premise)]
        """What is asked of the instances, rule by rule: one part per quantifier, or the whole premise."""
        self.linear = {
            (output.name, r): term
            for output in system.outputs
            for r, term, _ in self.conclusions(output)
            if isinstance(term, tuple) and len(term) > 1
        }
        """The conclusions that depend on the inputs, by output and rule."""

    def choice(self, condition: str, then: str, otherwise: str) -> str:
        """Return the expression for one of two values."""
        return self.language.choice.format(condition, then, otherwise)

    def functions(self, text: str) -> list[str]:
        """Return the definitions that a text needs, each after those that it needs itself."""
        found: dict[str, str] = {}

        def add(words: Iterable[str]) -> None:
            for word in words:
                if word in self.language.functions and word not in found:
                    definition = self.language.functions[word]
                    add(other for other in re.findall(r"\w+", definition) if other != word)
                    found[word] = definition

        add(re.findall(r"\w+", text))
        return list(found.values())

    # ------------------------------------------------------------------ premises

    def inputs(self) -> list[str]:
        """Return the value of each input, clipped to its range where rules are limited."""
        found = []
        for d, variable in enumerate(self.system.inputs):
            value = f"x[{d}]"
            if self.system.limited:
                for end, sign in ((variable.low, "<"), (variable.high, ">")):
                    if end is not None:
                        value = self.choice(f"{value} {sign} {number(end)}", number(end), value)
            found.append(value)
        return found

    def truths(self) -> list[str]:
        """Return the truth of each part for one instance, given its inputs as ``v0``, ``v1``, ..."""
        return [self._truth(part.premise, self._condition, not part.negated) for part in self.parts]

    def joins(self) -> list[tuple[str, str]]:
        """Return how the truths of each part are joined over the instances: a function, and its last argument."""
        found = []
        for part in self.parts:
            if part.quantifier is None:
                alpha = self.base.alpha
                found.append(_join(self.base.aggregation, alpha[part.rule] if isinstance(alpha, tuple) else alpha))
            elif part.quantifier in QUANTIFIERS:
                found.append((QUANTIFIERS[part.quantifier], number(part.count or 1)))
            else:
                raise ParameterError(f"Code cannot express the quantifier {part.quantifier!r:.60}.")
        return found

    def firing(self) -> list[str]:
        """Return the firing strength of each rule, given the degrees of the parts as ``p0``, ``p1``, ..."""
        places = itertools.count()

        def degree(asked: Expression, favorable: bool) -> str:
            return f"p{next(places)}"

        return [
            self._truth(rule.premise, degree, True)
            if any(part.quantifier for part in self.parts if part.rule == r)
            else f"p{next(places)}"
            for r, rule in enumerate(self.system.rules)
        ]

    def _truth(self, premise: Expression, leaf: Callable[[Expression, bool], str], favorable: bool) -> str:
        """Return the truth of a premise whose conditions, or quantified parts, ``leaf`` writes."""
        if isinstance(premise, Is | Quantified):
            return leaf(premise, favorable)
        if isinstance(premise, Not):
            return f"hedge_not({self._truth(premise.part, leaf, not favorable)})"
        if not premise.parts:
            return "1.0"
        kind, norm = ("t", self.system.t_norm) if isinstance(premise, And) else ("s", self.system.s_norm)
        return joined(f"{kind}_{norm}", [self._truth(part, leaf, favorable) for part in premise.parts])

    def _condition(self, asked: Expression, favorable: bool) -> str:
        assert isinstance(asked, Is)
        d = self.places[asked.variable]
        chosen, stand_for = self.system.inputs[d].terms[asked.term], self.base.variables[d].missing_values
        missing = f"v{d} != v{d}"
        if isinstance(chosen, Missing):
            found = self.choice(missing, "1.0", "0.0")
        else:
            found = self.membership(chosen, f"v{d}")
            if isinstance(chosen, MembershipFunction) and stand_for:
                found = self.choice(missing, number(float(chosen(stand_for).mean())), found)
        for hedge in reversed(asked.hedges):
            found = f"hedge_{hedge}({found})"
        settled = isinstance(chosen, Missing) or bool(stand_for)
        return found if settled else self.choice(missing, "1.0" if favorable else "0.0", found)

    def responses(self) -> list[str]:
        """Return the conclusions that depend on the inputs, for one instance."""
        values = []  # of the inputs, or the mean of what a missing one stands for
        for d, variable in enumerate(self.base.variables):
            known = variable.missing_values
            mean = number(sum(known) / len(known)) if known else ""
            values.append(self.choice(f"v{d} != v{d}", mean, f"v{d}") if known else f"v{d}")
        return [
            " + ".join([number(row[0]), *(f"{number(each)} * {values[d]}" for d, each in enumerate(row[1:]) if each)])
            for row in self.linear.values()
        ]

    def conclusion_joins(self) -> list[tuple[str, str]]:
        """Return how each of these conclusions is joined over the instances: a function, and its last argument."""
        alpha, names = self.base.conclusion_alpha, [output.name for output in self.system.outputs]
        return [
            _join(self.base.conclusion_aggregation, alpha[names.index(name)] if isinstance(alpha, tuple) else alpha)
            for name, _ in self.linear
        ]

    # ------------------------------------------------------------------ conclusions

    def conclusions(self, output: Output) -> list[tuple[int, Term, tuple[str, ...]]]:
        """Return the rules that conclude an output: number, term, hedges."""
        found = []
        for r, rule in enumerate(self.system.rules):
            term = rule.term(output.name)
            if term is not None:
                found.append((r, output.terms[term], rule.hedges(output.name)))
        return found

    def strength(self, rule: int, hedges: Sequence[str]) -> str:
        """Return the strength with which a rule concludes: its firing, weighted and modified."""
        weight = self.system.rules[rule].weight
        found = f"w[{rule}]" if weight == 1 else f"{number(weight)} * w[{rule}]"
        for hedge in reversed(hedges):
            found = f"hedge_{hedge}({found})"
        return found

    def weighted_terms(self, output: Output) -> list[tuple[str, str]]:
        """Return strengths and numbers, given the strength as ``s``, whose average or sum is an output."""
        groups: dict[str, tuple[str, list[str]]] = {}
        for r, term, hedges in self.conclusions(output):
            name = self.system.rules[r].term(output.name) or ""
            if isinstance(term, Singleton):
                value = number(term.value)
            elif isinstance(term, Formula):
                value = f"q{list(output.terms).index(name)}"
            elif isinstance(term, MembershipFunction):
                value = f"inverse_{term.name}({', '.join(['s', *map(number, term.parameters)])})"
            else:
                value = number(term[0]) if len(term) == 1 else f"c[{list(self.linear).index((output.name, r))}]"
            groups.setdefault(name, (value, []))[1].append(self.strength(r, hedges))
        join = "" if output.accumulation == "sum" else f"s_{output.accumulation}"
        return [(joined(join, strengths), value) for value, strengths in groups.values()]

    def computed_terms(self, output: Output) -> list[tuple[str, str]]:
        """Return the numbers that are formulas: the name of each, and its value for one instance, ``u``.

        It is computed from the inputs and from the outputs before this one.
        """
        names = {name: f"u[{d}]" for name, d in self.places.items()}
        names |= {other.name: f"out[{k}]" for k, other in enumerate(self.system.outputs)}
        said = {rule.term(output.name) for rule in self.system.rules}
        return [
            (f"q{n}", self.formula(Arithmetic(term.text), names))
            for n, (name, term) in enumerate(output.terms.items())
            if isinstance(term, Formula) and name in said
        ]

    def formula(self, formula: Arithmetic, names: Mapping[str, str]) -> str:
        """Return a formula, given what stands for its variables."""

        def written(tree: tuple[Any, ...]) -> str:
            if tree[0] == "number":
                return number(tree[1])
            if tree[0] == "name":
                return names[tree[1]] if tree[1] in names else number(Arithmetic.CONSTANTS[tree[1]])
            return f"f_{tree[0]}({', '.join(map(written, tree[1:]))})"

        return written(formula.tree)

    def limits(self, output: Output, parts: Iterable[tuple[str, str]]) -> tuple[str, str] | None:
        """Return the ends to which an average or sum of these parts is clipped, None if it is not."""
        if not output.clip and not any(value.startswith(("inverse_sigmoid", "q")) for _, value in parts):
            return None
        infinity = self.language.infinity
        low = f"-{infinity}" if output.low is None else number(output.low)
        return low, infinity if output.high is None else number(output.high)

    def sampled_values(self, output: Output) -> tuple[int, str]:
        """Return at how many values the sets of an output are evaluated, and each of these, given its number ``k``."""
        n, low, high = output.resolution or 1000, output.low or 0.0, output.high or 0.0
        part = f"k / {n - 1}.0" if output.sampling == "points" else f"(k + 0.5) / {n}.0"
        return n, f"{number(low)} + {number(high - low)} * ({part})"

    def joint_membership(self, output: Output) -> str:
        """Return the membership of ``y`` in the joined set of an output."""
        parts = [
            f"t_{output.implication}({self.strength(r, hedges)}, {self.membership(term, 'y')})"
            for r, term, hedges in self.conclusions(output)
        ]
        return joined("" if output.accumulation == "sum" else f"s_{output.accumulation}", parts) if parts else "0.0"

    def default(self, output: Output) -> str:
        """Return the value of an output that no rule concludes."""
        return self.language.nan if math.isnan(output.default) else number(output.default)

    def membership(self, chosen: Term, x: str) -> str:
        """Return the membership of ``x`` in a set."""
        if isinstance(chosen, Formula):
            moved = f"(({x} - {number(chosen.shift)}) / {number(chosen.scale)})"
            return f"unit({self.formula(Arithmetic(chosen.text), {'x': moved})})"
        if isinstance(chosen, Discrete):
            found = number(chosen.points[0][1])
            for (low, before), (high, after) in itertools.pairwise(chosen.points):
                share = "1.0" if low == high else f"t_min(({x} - {number(low)}) / {number(high - low)}, 1.0)"
                line = f"{number(before)} + {number(after - before)} * {share}"
                found = self.choice(f"{x} >= {number(low)}", line, found)
            last, degree = chosen.points[-1]
            return self.choice(f"{x} >= {number(last)}", number(degree), found)
        assert isinstance(chosen, MembershipFunction)
        return f"mu_{chosen.name}({', '.join([x, *map(number, chosen.parameters)])})"


def number(value: float) -> str:
    """Return a number as both languages write it."""
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def joined(function: str, parts: Sequence[str]) -> str:
    """Return the expression that joins parts by a function of two, or adds them, with few levels of parentheses."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    one, two = joined(function, parts[:half]), joined(function, parts[half:])
    return f"{function}({one}, {two})" if function else f"({one} + {two})"


def _join(name: str, alpha: float) -> tuple[str, str]:
    """Return the function that joins instances by this operator, and its argument."""
    if name == "softmax" and math.isinf(alpha):
        name = "max" if alpha > 0 else "min"
    return JOINS[name], number(alpha if name == "softmax" else 1.0)


def _check(system: System, base: RuleBase) -> None:
    for field, name in (("aggregation", base.aggregation), ("conclusion_aggregation", base.conclusion_aggregation)):
        if name not in JOINS:
            raise ParameterError(
                f"Code joins the instances of a bag by {listed(JOINS)}, not by {field}={name!r}. Change it with "
                "dataclasses.replace."
            )
    if system.activation != "general":
        raise ParameterError(f"Code cannot express activation={system.activation!r}: all rules take part.")
    if any(output.hold for output in system.outputs):
        raise ParameterError("Code cannot keep previous values (hold=True): it has no memory.")


# ---------------------------------------------------------------------- functions in both languages

_SIGNS = {"greater": ">", "greater_equal": ">=", "equal": "==", "less": "<", "less_equal": "<=", "not_equal": "!="}
_EXPRESSIONS = {
    # sets
    "mu_gaussian(x, c, s)": "math.exp(-0.5 * ((x - c) / s) ** 2)",
    "mu_bell(x, c, s, b)": "1 / (1 + abs((x - c) / s) ** (2 * b)) if abs((x - c) / s) < 1 else "
    "abs((x - c) / s) ** (-2 * b) / (1 + abs((x - c) / s) ** (-2 * b))",
    "mu_sigmoid(x, c, k)": "1 / (1 + math.exp(-k * (x - c))) if k * (x - c) > -700 else 0.0",
    "mu_triangular(x, a, b, c)": "mu_trapezoidal(x, a, b, b, c)",
    "mu_trapezoidal(x, a, b, c, d)": "0.0 if x < a or x > d else 1.0 if b <= x <= c else "
    "(x - a) / (b - a) if x < b else (d - x) / (d - c)",
    "mu_rectangle(x, a, b)": "1.0 if a <= x <= b else 0.0",
    "mu_singleton(x, a)": "1.0 if x == a else 0.0",
    "mu_binary(x, a, k)": "1.0 if (x >= a if k > 0 else x <= a) else 0.0",
    "risen(t)": "0.0 if t <= 0 else 1.0 if t >= 1 else 2 * t * t if t <= 0.5 else 1 - 2 * (1 - t) ** 2",
    "mu_s_shape(x, a, b)": "risen((x - a) / (b - a)) if a < b else 1.0 if x >= b else 0.0",
    "mu_z_shape(x, a, b)": "risen((b - x) / (b - a)) if a < b else 1.0 if x <= a else 0.0",
    "mu_pi_shape(x, a, b, c, d)": "mu_s_shape(x, a, b) * mu_z_shape(x, c, d)",
    "mu_two_sided_gaussian(x, a, r, b, s)": "math.exp(-0.5 * (min(x - a, 0.0) / r) ** 2 - 0.5 * "
    "(max(x - b, 0.0) / s) ** 2)",
    "mu_sigmoid_difference(x, a, r, f, b)": "abs(mu_sigmoid(x, a, r) - mu_sigmoid(x, b, f))",
    "mu_sigmoid_product(x, a, r, f, b)": "mu_sigmoid(x, a, r) * mu_sigmoid(x, b, f)",
    "mu_ramp(x, a, b)": "min(max((x - a) / (b - a), 0.0), 1.0)",
    "mu_concave(x, a, b)": "1 / (1 + max((b - x) / (b - a), 0.0))",
    "mu_arc(x, a, b)": "math.sqrt(mu_ramp(x, a, b) * (2 - mu_ramp(x, a, b)))",
    "mu_cosine(x, c, s)": "0.5 * (1 + math.cos(2 * math.pi * (x - c) / s)) if abs(x - c) < s / 2 else 0.0",
    "mu_spike(x, c, s)": "math.exp(-10 * abs(x - c) / s)",
    "mu_semi_ellipse(x, a, b)": "2 * math.sqrt((x - a) * (b - x)) / (b - a) if a < x < b else 0.0",
    # values with a degree
    "inverse_ramp(w, a, b)": "a + (b - a) * w",
    "inverse_concave(w, a, b)": "b - (b - a) * (1 / w - 1)",
    "inverse_arc(w, a, b)": "b - (b - a) * math.sqrt(max(1 - w * w, 0.0))",
    "way(w)": "math.sqrt(w / 2) if w <= 0.5 else 1 - math.sqrt(max(1 - w, 0.0) / 2)",
    "inverse_s_shape(w, a, b)": "a + (b - a) * way(w)",
    "inverse_z_shape(w, a, b)": "b - (b - a) * way(w)",
    "inverse_sigmoid(w, c, k)": "c + math.log(w / (1 - w)) / k if w < 1 else math.copysign(math.inf, k)",
    # hedges
    "hedge_not(a)": "1 - a",
    "hedge_very(a)": "a * a",
    "hedge_somewhat(a)": "math.sqrt(a)",
    "hedge_intensely(a)": "a * a * a",
    "hedge_vaguely(a)": "a ** (1 / 3)",
    "hedge_extremely(a)": "2 * a * a if a <= 0.5 else 1 - 2 * (1 - a) ** 2",
    "hedge_seldom(a)": "math.sqrt(a / 2) if a <= 0.5 else 1 - math.sqrt((1 - a) / 2)",
    # norms
    "t_min(a, b)": "min(a, b)",
    "t_product(a, b)": "a * b",
    "t_lukasiewicz(a, b)": "max(a + b - 1, 0.0)",
    "t_hamacher(a, b)": "a * b / (a + b - a * b) if a and b else 0.0",
    "t_einstein(a, b)": "a * b / (2 - (a + b - a * b))",
    "t_drastic(a, b)": "min(a, b) if max(a, b) == 1 else 0.0",
    "t_nilpotent(a, b)": "min(a, b) if a + b > 1 else 0.0",
    "t_dombi(a, b)": "1 / (1 + math.hypot((1 - a) / a, (1 - b) / b)) if a and b else 0.0",
    "s_max(a, b)": "max(a, b)",
    "s_algebraic(a, b)": "a + b - a * b",
    "s_bounded(a, b)": "min(a + b, 1.0)",
    "s_hamacher(a, b)": "(a + b - 2 * a * b) / (1 - a * b) if a * b != 1 else 1.0",
    "s_einstein(a, b)": "(a + b) / (1 + a * b)",
    "s_drastic(a, b)": "max(a, b) if min(a, b) == 0 else 1.0",
    "s_nilpotent(a, b)": "max(a, b) if a + b < 1 else 1.0",
    "s_dombi(a, b)": "1 - t_dombi(1 - a, 1 - b)",
    # formulas
    "unit(a)": "0.0 if a < 0 else 1.0 if a > 1 else a",
    **{f"f_{name}(a, b)": f"a {sign} b" for name, sign in {"add": "+", "subtract": "-", "multiply": "*"}.items()},
    "f_negative(a)": "-a",
    "f_abs(a)": "abs(a)",
    "f_arctan2(a, b)": "math.atan2(a, b)",
    "f_minimum(a, b)": "a if a != a or a < b else b",
    "f_maximum(a, b)": "a if a != a or a > b else b",
    **{f"f_{name}(a, b)": f"1.0 if a {sign} b else 0.0" for name, sign in _SIGNS.items()},
    "f_logical_and(a, b)": "1.0 if a != 0 and b != 0 else 0.0",
    "f_logical_or(a, b)": "1.0 if a != 0 or b != 0 else 0.0",
    "f_logical_not(a)": "1.0 if a == 0 else 0.0",
}
_C_SIGNS: dict[type[ast.AST], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_C_SIGNS |= {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
_C_SIGNS |= {ast.And: "&&", ast.Or: "||"}
_C_NAMES = {"abs": "fabs", "min": "fmin", "max": "fmax", "inf": "HUGE_VAL", "pi": repr(math.pi)}


def c_expression(expression: str | ast.expr) -> str:
    """Return an expression of Python in C."""
    node = ast.parse(expression, mode="eval").body if isinstance(expression, str) else expression

    def part(node: ast.expr) -> str:
        joined = isinstance(node, ast.BinOp | ast.UnaryOp) and not isinstance(getattr(node, "op", None), ast.Pow)
        return f"({c_expression(node)})" if joined else c_expression(node)

    match node:
        case ast.Constant():
            return repr(float(node.value))  # type: ignore[arg-type]
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return _C_NAMES.get(name, name)
        case ast.Call():
            return f"{c_expression(node.func)}({', '.join(map(c_expression, node.args))})"
        case ast.UnaryOp(op=ast.USub()):
            return f"-{part(node.operand)}"
        case ast.BinOp(op=ast.Pow()):
            return f"pow({c_expression(node.left)}, {c_expression(node.right)})"
        case ast.BinOp():
            return f"{part(node.left)} {_C_SIGNS[type(node.op)]} {part(node.right)}"
        case ast.Compare():
            pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
            tests = [f"{part(a)} {_C_SIGNS[type(op)]} {part(b)}" for a, op, b in pairs]
            return tests[0] if len(tests) == 1 else f"({' && '.join(tests)})"
        case ast.BoolOp():
            return f"({f' {_C_SIGNS[type(node.op)]} '.join(map(c_expression, node.values))})"
        case ast.IfExp():
            test, then, otherwise = map(c_expression, (node.test, node.body, node.orelse))
            return f"({test} ? {then} : {otherwise})"
    raise AssertionError(f"C has no {ast.dump(node)}")


# ---------------------------------------------------------------------- Python

# Where a formula is undefined, its value is NaN, and what is too great is infinite.
_PY_FORMULAS = {
    "f_divide(a, b)": "a / b if b else math.nan if a == 0 or a != a else math.copysign(math.inf, a) * "
    "math.copysign(1.0, b)",
    "f_power(a, b)": "guarded(math.pow, a, b, least=-math.inf if a < 0 and b % 2 == 1 else math.inf) "
    "if a or b >= 0 else math.copysign(math.inf, a if b % 2 == 1 else 1.0)",
    "f_fmod(a, b)": "guarded(math.fmod, a, b)",
    "f_log(a)": "guarded(math.log, a) if a else -math.inf",
    "f_log10(a)": "guarded(math.log10, a) if a else -math.inf",
    "f_log1p(a)": "guarded(math.log1p, a) if a != -1 else -math.inf",
    "f_sinh(a)": "guarded(math.sinh, a, least=math.copysign(math.inf, a))",
    "f_arctanh(a)": "guarded(math.atanh, a) if abs(a) != 1 else math.copysign(math.inf, a)",
    **{f"f_{name}(a)": f"guarded(math.{name}, a)" for name in ("exp", "sqrt", "sin", "cos", "tan", "cosh", "tanh")},
    **{f"f_arc{name}(a)": f"guarded(math.a{name}, a)" for name in ("sin", "cos", "tan", "sinh", "cosh")},
    **{
        f"f_{name}(a)": f"float({function}(a)) if math.isfinite(a) else a"
        for name, function in {"floor": "math.floor", "ceil": "math.ceil", "round": "round"}.items()
    },
    "centroid(y, mu, points)": "sum(v * m for v, m in zip(y, mu)) / sum(mu)",
    "som(y, mu, points)": "y[mu.index(max(mu))]",
    "lom(y, mu, points)": "y[len(mu) - 1 - mu[::-1].index(max(mu))]",
    # instances of a bag
    "greatest(values, alpha)": "max(values)",
    "least(values, alpha)": "min(values)",
    "mean(values, alpha)": "sum(values) / len(values)",
    "any_of(values, alpha)": "1 - math.prod(1 - value for value in values)",
    "sum_of(values, alpha)": "min(sum(values), 1.0)",
    "most(values, alpha)": f"min(max((mean(values, alpha) - {MOST_FROM}) / ({MOST_TO} - {MOST_FROM}), 0.0), 1.0)",
    "at_least(values, count)": "sorted(values)[-int(count)] if len(values) >= count else 0.0",
}
_PY_BLOCKS = {
    "guarded": """def guarded(function, *values, least=math.inf):
    try:
        return function(*values)
    except ValueError:
        return math.nan
    except OverflowError:
        return least""",
    "soft": """def soft(values, alpha):
    top = max(alpha * value for value in values)
    weights = [math.exp(alpha * value - top) for value in values]
    return sum(weight * value for weight, value in zip(weights, values)) / sum(weights)""",
    "average": """def average(parts, default, adds):
    total, weight = 0.0, 0.0
    for s, value in parts:
        if s > 0:
            total += s * value
            weight += s
    return default if weight == 0 else total if adds else total / weight""",
    "bisector": """def bisector(y, mu, points):
    total, left = sum(mu), 0.0
    for k, m in enumerate(mu):
        if points and left + m >= total / 2:
            return y[k]
        if not points and left + m > total / 2:
            return y[k] + (y[1] - y[0]) * ((total / 2 - left) / m - 0.5)
        if not points and left + m == total / 2:
            after = next(j for j in range(k + 1, len(mu)) if mu[j] > 0)
            return (y[k] + y[after]) / 2
        left += m
    return y[-1]""",
    "mom": """def mom(y, mu, points):
    top = max(mu)
    found = [v for v, m in zip(y, mu) if m == top]
    return sum(found) / len(found)""",
}


def _lines(indent: int, lines: Iterable[str]) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def _python_text(program: Program, comments: Sequence[str]) -> str:
    """Return the whole module."""
    outputs = program.system.outputs
    joins = (f"p{m} = {join}(truths[{m}], {argument})" for m, (join, argument) in enumerate(program.joins()))
    concluded = (line for output in outputs for line in _python_output(program, output))
    means = (f"{join}(responses[{k}], {argument})," for k, (join, argument) in enumerate(program.conclusion_joins()))
    responses = ["responses = list(zip(*map(_responses, instances)))"] if program.linear else []
    text = f'''{_python_function("_truths", program, program.truths())}\
{_python_function("_responses", program, program.responses()) if program.linear else ""}\
def _fired(truths):
{_lines(4, joins)}    return [
{_lines(8, (f"{strength}," for strength in program.firing()))}    ]


def _concluded(w, c, instances):
    out = []
{_lines(4, concluded)}    return out


def infer(x):
    """Return the outputs ({_docstring_text(outputs)}) for one instance ({_docstring_text(program.system.inputs)})."""
    return infer_bag([x])


def infer_bag(instances):
    """Return the outputs for a bag: a list of instances."""
    w = _fired(list(zip(*map(_truths, instances))))
{_lines(4, responses)}    c = [
{_lines(8, means)}    ]
    return _concluded(w, c, instances)'''
    head = "\n".join([*(f"# {comment}" for comment in comments), "import math"])
    return "\n\n\n".join([head, *program.functions(text), text]) + "\n"


def _docstring_text(variables: Iterable[Variable | Output]) -> str:
    text = ", ".join(variable.name for variable in variables)
    return "".join(character if character.isprintable() and character not in '"\\' else " " for character in text)


def _python_function(name: str, program: Program, values: Sequence[str]) -> str:
    inputs = _lines(4, (f"v{d} = {value}" for d, value in enumerate(program.inputs())))
    return f"def {name}(x):\n{inputs}    return [\n{_lines(8, (f'{value},' for value in values))}    ]\n\n\n"


def _python_output(program: Program, output: Output) -> list[str]:
    default = program.default(output)
    if not output.weighted:
        n, y = program.sampled_values(output)
        return [
            f"ys = [{y} for k in range({n})]",
            f"mu = [{program.joint_membership(output)} for y in ys]",
            f"out.append({output.defuzzify}(ys, mu, {output.sampling == 'points'}) if max(mu) > 0 else {default})",
        ]
    parts, computed = program.weighted_terms(output), program.computed_terms(output)
    lines = [f"{name} = sum({value} for u in instances) / len(instances)" for name, value in computed]
    lines.append("parts = []")
    for strength, value in parts:
        lines += [f"s = {strength}", f"parts.append((s, {value} if s > 0 else 0.0))"]
    lines.append(f"value = average(parts, {default}, {output.defuzzify == 'sum'})")
    if ends := program.limits(output, parts):
        condition = "True" if output.clip else "math.isinf(value)"
        lines.append(f"value = min(max(value, {ends[0]}), {ends[1]}) if {condition} else value")
    if computed:  # may be undefined, and then concludes nothing
        lines.append(f"value = {default} if math.isnan(value) else value")
    return [*lines, "out.append(value)"]


PYTHON = Language(
    {
        head.partition("(")[0]: f"def {head}:\n    return {body}"
        for head, body in {**_EXPRESSIONS, **_PY_FORMULAS}.items()
    }
    | _PY_BLOCKS,
    choice="({1} if {0} else {2})",
    infinity="math.inf",
    nan="math.nan",
    text=_python_text,
)


# ---------------------------------------------------------------------- C99

_ONE_TO_ONE = ("exp", "log", "log10", "log1p", "sqrt", "floor", "ceil", "sin", "cos", "tan", "sinh", "cosh", "tanh")
_C_FORMULAS = {
    "f_divide(a, b)": "a / b",
    "f_power(a, b)": "pow(a, b)",
    "f_fmod(a, b)": "fmod(a, b)",
    "f_round(a)": "rint(a)",
    **{f"f_{name}(a)": f"{name}(a)" for name in _ONE_TO_ONE},
    **{f"f_arc{name}(a)": f"a{name}(a)" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}
_C_FILE = (resources.files("fuzzymil.rules.files") / "functions.c").read_text(encoding="utf-8")
_C_BLOCKS = {
    found[1]: found[0] for found in re.finditer(r"^static double (\w+)\(.*?^}", _C_FILE, re.MULTILINE | re.DOTALL)
}
_C_BLOCKS["most"] = f"""static double most(const double *v, size_t n, size_t step, double alpha) {{
    return fmin(fmax((mean(v, n, step, alpha) - {MOST_FROM}) / ({MOST_TO} - {MOST_FROM}), 0.0), 1.0);
}}"""


def _definition(head: str, body: str) -> str:
    name, _, parameters = head.rstrip(")").partition("(")
    typed = ", ".join(f"double {parameter}" for parameter in parameters.split(", "))
    return f"static double {name}({typed}) {{ return {body}; }}"


def _c_text(program: Program, comments: Sequence[str]) -> str:
    """Return the whole file."""
    system = program.system
    n_inputs, n_rules = len(system.inputs), len(system.rules)
    n_parts, n_linear = len(program.parts), len(program.linear)
    joins = [
        f"const double p{m} = {join}(t + {m}, n, {n_parts}, {argument});"
        for m, (join, argument) in enumerate(program.joins())
    ]
    means = [
        f"c[{k}] = {join}(all + n * {n_parts} + {k}, n, {n_linear}, {argument});"
        for k, (join, argument) in enumerate(program.conclusion_joins())
    ]
    concluded = (_c_output(program, output, k) for k, output in enumerate(system.outputs))
    text = f"""{_c_function("truths", "t", program, program.truths())}\
{_c_function("responses", "c", program, program.responses()) if n_linear else ""}\
static void fired(const double *t, size_t n, double *w) {{
{_lines(4, joins)}{_lines(4, (f"w[{r}] = {strength};" for r, strength in enumerate(program.firing())))}}}

static void concluded(const double *w, const double *c, const double *x, size_t n, double *out) {{
    (void)c, (void)x, (void)n;
{_lines(4, concluded)}}}

/* One instance: x has {n_inputs} inputs, out gets {len(system.outputs)} outputs. */
void infer(const double *x, double *out) {{
    double t[{n_parts}], w[{n_rules}], c[{n_linear or 1}];
    truths(x, t);
    {"responses(x, c);" if n_linear else "c[0] = 0.0;"}
    fired(t, 1, w);
    concluded(w, c, x, 1, out);
}}

/* A bag: n instances, one after the other. */
/* Returns 0, or 1 if there is no instance or no memory. */
int infer_bag(const double *x, size_t n, double *out) {{
    double w[{n_rules}], c[{n_linear or 1}];
    double *all = n ? malloc(n * {n_parts + n_linear} * sizeof(double)) : NULL;
    if (!all) return 1;
    for (size_t i = 0; i < n; i++) {{
        truths(x + i * {n_inputs}, all + i * {n_parts});
{_lines(8, [f"responses(x + i * {n_inputs}, all + n * {n_parts} + i * {n_linear});"] if n_linear else [])}    }}
    fired(all, n, w);
{_lines(4, means or ["c[0] = 0.0;"])}    free(all);
    concluded(w, c, x, n, out);
    return 0;
}}"""
    names, said = (", ".join(variable.name for variable in each) for each in (system.inputs, system.outputs))
    notes = [f"/* {_safe(comment)} */" for comment in (*comments, f"Inputs: {names}. Outputs: {said}.")]
    head = "\n".join([*notes, "#include <math.h>", "#include <stddef.h>", "#include <stdlib.h>"])
    return "\n\n".join([head, *program.functions(text), text]) + "\n"


def _safe(text: str) -> str:
    """Return text that cannot end a comment."""
    return "".join(c if c.isprintable() else " " for c in re.sub(r"[*/]", "-", text).replace("\\", " "))


def _c_function(name: str, into: str, program: Program, values: Sequence[str]) -> str:
    used = set(re.findall(r"\bv[0-9]+\b", "\n".join(values)))
    inputs = [f"const double v{d} = {value};" for d, value in enumerate(program.inputs()) if f"v{d}" in used]
    lines = [*(inputs or ["(void)x;"]), *(f"{into}[{n}] = {value};" for n, value in enumerate(values))]
    return f"static void {name}(const double *x, double *{into}) {{\n{_lines(4, lines)}}}\n\n"


def _c_output(program: Program, output: Output, k: int) -> str:
    default = program.default(output)
    if not output.weighted:
        n, y = program.sampled_values(output)
        points = int(output.sampling == "points")
        return f"""{{
        double ys[{n}], mu[{n}], top = 0.0;
        for (int k = 0; k < {n}; k++) {{
            const double y = {y};
            ys[k] = y;
            mu[k] = {program.joint_membership(output)};
            top = fmax(top, mu[k]);
        }}
        out[{k}] = top > 0 ? {output.defuzzify}(ys, mu, {n}, {points}) : {default};
    }}"""
    parts, computed = program.weighted_terms(output), program.computed_terms(output)
    lines = [
        f"""double {name} = 0.0;
        for (size_t i = 0; i < n; i++) {{
            const double *u = x + i * {len(program.system.inputs)};
            (void)u;
            {name} += {value};
        }}
        {name} /= (double)n;"""
        for name, value in computed
    ]
    lines += [
        f"{{\n            const double s = {strength};\n            "
        f"if (s > 0) {{ total += s * ({value}); weight += s; }}\n        }}"
        for strength, value in parts
    ]
    whole = "total" if output.defuzzify == "sum" else "total / weight"
    lines.append(f"out[{k}] = weight == 0 ? {default} : {whole};")
    if ends := program.limits(output, parts):
        condition = "" if output.clip else f"if (isinf(out[{k}])) "
        lines.append(f"{condition}out[{k}] = fmin(fmax(out[{k}], {ends[0]}), {ends[1]});")
    if computed:  # may be undefined, and then concludes nothing
        lines.append(f"if (out[{k}] != out[{k}]) out[{k}] = {default};")
    return f"{{\n        double total = 0.0, weight = 0.0;\n{_lines(8, lines)}    }}"


C = Language(
    {
        head.partition("(")[0]: _definition(head, c_expression(body))
        for head, body in (_EXPRESSIONS | _C_FORMULAS).items()
    }
    | _C_BLOCKS,
    choice="({0} ? {1} : {2})",
    infinity="HUGE_VAL",
    nan="NAN",
    text=_c_text,
)


def _export(language: Language, rules: RuleBase) -> tuple[str, list[str]]:
    lost = ["Code cannot be loaded again.", "Degrees are plain numbers: strengths below 1e-308 count as 0."]
    lost += codes_of_categories(rules.variables)
    return language.text(Program(system_of(rules), rules, language), lost), lost


register_format(Format("python", "code", (".py",), lambda rules: _export(PYTHON, rules)))
register_format(Format("c", "code", (".c",), lambda rules: _export(C, rules)))

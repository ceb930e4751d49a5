"""Rules as functions in Python and C99 that need nothing else: for one instance, and for a bag of instances.

``infer(x)`` takes the inputs of one instance, in order, and returns the outputs; ``infer_bag`` takes several instances.
Degrees are plain numbers in this code, not logarithms: strengths below the smallest number count as 0. An unknown
input (NaN) satisfies its conditions; a linear conclusion of it is NaN. A rule with quantifiers is about a bag:
``infer`` takes its instance for a bag of one.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import Arithmetic, Discrete, Formula, MembershipFunction, Missing, Singleton
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.files._system import Output, System, Term
from fuzzymil.rules.premise import And, Expression, Is, Not, Quantified, parts_of

JOINS = {
    "max": "greatest",
    "min": "least",
    "mean": "mean",
    "softmax": "soft",
    "algebraic": "any_of",
    "bounded": "sum_of",
}
"""How code joins the instances of a bag, and the name of the function."""

QUANTIFIERS = {"some": "greatest", "all": "least", "on average": "mean", "most": "most", "at least": "at_least"}
"""The quantifiers that code can express, and the name of the function."""


class Language(NamedTuple):
    """A language: the functions it may need, and how the parts of a program are put together."""

    functions: Mapping[str, str]  # name to definition
    choice: Callable[[str, str, str], str]  # condition, then, else
    text: Callable[[Program, Sequence[str]], str]


class Program:
    """The expressions of a system in one language."""

    def __init__(self, system: System, base: RuleSet, language: Language) -> None:
        _check(system, base)
        self.system, self.base, self.language = system, base, language
        self.places = {variable.name: d for d, variable in enumerate(system.inputs)}
        self.parts = [part for r, rule in enumerate(system.rules) for part in parts_of(r, rule.premise)]
        """What is asked of the instances, rule by rule: one part per quantifier, or the whole premise."""
        self.linear = [
            term
            for output in system.outputs
            for _, term, _ in self.concluding(output)
            if isinstance(term, tuple) and len(term) > 1
        ]
        """The conclusions that depend on the inputs, output by output and rule by rule."""

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
                        value = self.language.choice(f"{value} {sign} {number(end)}", number(end), value)
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
        found = self._truth(premise.parts[0], leaf, favorable)
        for part in premise.parts[1:]:
            found = f"{kind}_{norm}({found}, {self._truth(part, leaf, favorable)})"
        return found

    def _condition(self, asked: Expression, favorable: bool) -> str:
        assert isinstance(asked, Is)
        d = self.places[asked.variable]
        chosen, gaps = self.system.inputs[d].terms[asked.term], self.base.variables[d].gaps
        missing = f"v{d} != v{d}"
        if isinstance(chosen, Missing):
            found = self.language.choice(missing, "1.0", "0.0")
        else:
            found = self.membership(chosen, f"v{d}")
            if isinstance(chosen, MembershipFunction) and gaps:
                found = self.language.choice(missing, number(float(chosen(gaps).mean())), found)
        for hedge in reversed(asked.hedges):
            found = f"hedge_{hedge}({found})"
        settled = isinstance(chosen, Missing) or bool(gaps)
        return found if settled else self.language.choice(missing, "1.0" if favorable else "0.0", found)

    def responses(self) -> list[str]:
        """Return the conclusions that depend on the inputs, for one instance."""
        return [
            " + ".join(
                [number(row[0]), *(f"{number(slope)} * {self._value(d)}" for d, slope in enumerate(row[1:]) if slope)]
            )
            for row in self.linear
        ]

    def _value(self, d: int) -> str:
        """Return an input, or the mean of what a missing one stands for."""
        gaps = self.base.variables[d].gaps
        return self.language.choice(f"v{d} != v{d}", number(sum(gaps) / len(gaps)), f"v{d}") if gaps else f"v{d}"

    def combination(self) -> list[tuple[str, str]]:
        """Return how each of these conclusions is joined over the instances: a function, and its last argument."""
        alpha = self.base.conclusion_alpha
        return [
            _join(self.base.conclusion_aggregation, alpha[k] if isinstance(alpha, tuple) else alpha)
            for k, output in enumerate(self.system.outputs)
            for _, term, _ in self.concluding(output)
            if isinstance(term, tuple) and len(term) > 1
        ]

    # ------------------------------------------------------------------ conclusions

    def concluding(self, output: Output) -> list[tuple[int, Term, tuple[str, ...]]]:
        """Return the rules that conclude an output: number, term, hedges."""
        found = []
        for r, rule in enumerate(self.system.rules):
            said = rule.conclusions.get(output.name)
            if said is not None:
                term, hedges = (said.term, said.hedges) if isinstance(said, Is) else (said, ())
                found.append((r, output.terms[term], hedges))
        return found

    def strength(self, rule: int, hedges: Sequence[str]) -> str:
        """Return the strength with which a rule concludes: its firing, weighted and modified."""
        weight = self.system.rules[rule].weight
        found = f"w[{rule}]" if weight == 1 else f"{number(weight)} * w[{rule}]"
        for hedge in reversed(hedges):
            found = f"hedge_{hedge}({found})"
        return found

    def weighted(self, output: Output) -> list[tuple[str, str]]:
        """Return strengths and numbers, given the strength as ``s``, whose average or sum is an output."""
        start = sum(
            isinstance(term, tuple) and len(term) > 1
            for other in itertools.takewhile(lambda other: other is not output, self.system.outputs)
            for _, term, _ in self.concluding(other)
        )
        groups: dict[str, tuple[str, list[str]]] = {}
        for r, term, hedges in self.concluding(output):
            said = self.system.rules[r].conclusions[output.name]
            name = said.term if isinstance(said, Is) else said
            value = self._number_of(term, f"c[{start}]", f"q{list(output.terms).index(name)}")
            start += isinstance(term, tuple) and len(term) > 1
            groups.setdefault(name, (value, []))[1].append(self.strength(r, hedges))
        found = []
        for value, strengths in groups.values():
            joined = strengths[0]
            for more in strengths[1:]:
                added = output.accumulation == "sum"
                joined = f"{joined} + {more}" if added else f"s_{output.accumulation}({joined}, {more})"
            found.append((joined, value))
        return found

    def computed(self, output: Output) -> list[tuple[str, str]]:
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

    def _number_of(self, term: Term, response: str, computed: str) -> str:
        if isinstance(term, Singleton):
            return number(term.value)
        if isinstance(term, Formula):
            return computed
        if isinstance(term, MembershipFunction):
            return f"inverse_{term.name}({', '.join(['s', *map(number, term.parameters)])})"
        return number(term[0]) if len(term) == 1 else response

    def joined_set(self, output: Output) -> str:
        """Return the membership of ``y`` in the joined set of an output."""
        found = "0.0"
        for r, term, hedges in self.concluding(output):
            part = f"t_{output.implication}({self.strength(r, hedges)}, {self.membership(term, 'y')})"
            added = output.accumulation == "sum"
            joined = f"{found} + {part}" if added else f"s_{output.accumulation}({found}, {part})"
            found = part if found == "0.0" else joined
        return found

    def default(self, output: Output) -> str:
        """Return the value of an output that no rule concludes."""
        return number(0.0 if math.isnan(output.default) else output.default)

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
                found = self.language.choice(f"{x} >= {number(low)}", line, found)
            last, degree = chosen.points[-1]
            return self.language.choice(f"{x} >= {number(last)}", number(degree), found)
        assert isinstance(chosen, MembershipFunction)
        return f"mu_{chosen.name}({', '.join([x, *map(number, chosen.parameters)])})"


def number(value: float) -> str:
    """Return a number as both languages write it.

    Examples
    --------
    >>> number(2.0), number(-1e-9)
    ('2.0', '(-1e-09)')
    """
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


def _join(name: str, alpha: float) -> tuple[str, str]:
    """Return the function that joins instances by this operator, and its argument."""
    if name == "softmax" and math.isinf(alpha):
        name = "max" if alpha > 0 else "min"
    return JOINS[name], number(alpha if name == "softmax" else 1.0)


def _check(system: System, base: RuleSet) -> None:
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

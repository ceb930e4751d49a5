"""Rules as functions in Python and C99 that need nothing else: for one instance, and for a bag of instances.

``infer(x)`` takes the inputs of one instance, in order, and returns the outputs; ``infer_bag`` takes several instances.
Degrees are plain numbers in this code, not logarithms: strengths below the smallest number count as 0. An unknown
input (NaN) satisfies its conditions; a linear conclusion of it is NaN.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from fuzzymil._utils.errors import ParameterError
from fuzzymil.membership import Discrete, Formula, MembershipFunction, Missing, Singleton
from fuzzymil.rules._formats.system import Output, System, Term
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.premise import And, Expression, Is, Not, Or

JOINS = {"max": "greatest", "min": "least", "softmax": "soft"}
"""How code joins the instances of a bag, and the name of the function."""


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
        """Return the truth of each rule's premise, given the inputs as ``v0``, ``v1``, ..."""
        return [self._truth(rule.premise, favorable=True) for rule in self.system.rules]

    def _truth(self, premise: Expression, *, favorable: bool) -> str:
        if isinstance(premise, Is):
            d = self.places[premise.variable]
            chosen, gaps = self.system.inputs[d].terms[premise.term], self.base.variables[d].gaps
            missing = f"v{d} != v{d}"
            settled = isinstance(chosen, Missing) or bool(gaps)
            if isinstance(chosen, Missing):
                found = self.language.choice(missing, "1.0", "0.0")
            else:
                found = self.membership(chosen, f"v{d}")
                if isinstance(chosen, MembershipFunction) and gaps:
                    found = self.language.choice(missing, number(float(chosen(gaps).mean())), found)
            for hedge in reversed(premise.hedges):
                found = f"hedge_{hedge}({found})"
            return found if settled else self.language.choice(missing, "1.0" if favorable else "0.0", found)
        if isinstance(premise, Not):
            return f"hedge_not({self._truth(premise.part, favorable=not favorable)})"
        if not isinstance(premise, And | Or):
            raise ParameterError("Code cannot express quantifiers over the instances of a bag.")
        if not premise.parts:
            return "1.0"
        kind, norm = ("t", self.system.t_norm) if isinstance(premise, And) else ("s", self.system.s_norm)
        found = self._truth(premise.parts[0], favorable=favorable)
        for part in premise.parts[1:]:
            found = f"{kind}_{norm}({found}, {self._truth(part, favorable=favorable)})"
        return found

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
            value = self._number_of(term, f"c[{start}]")
            start += isinstance(term, tuple) and len(term) > 1
            name = said.term if isinstance(said, Is) else said
            groups.setdefault(name, (value, []))[1].append(self.strength(r, hedges))
        found = []
        for value, strengths in groups.values():
            joined = strengths[0]
            for more in strengths[1:]:
                added = output.accumulation == "sum"
                joined = f"{joined} + {more}" if added else f"s_{output.accumulation}({joined}, {more})"
            found.append((joined, value))
        return found

    def _number_of(self, term: Term, response: str) -> str:
        if isinstance(term, Singleton):
            return number(term.value)
        if isinstance(term, Formula):
            raise ParameterError(f"Code cannot express the number Formula({term.text!r:.60}).")
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
            raise ParameterError(f"Code cannot express the set Formula({chosen.text!r:.60}): use Discrete instead.")
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


def _check(system: System, base: RuleSet) -> None:
    if base.aggregation not in JOINS or isinstance(base.alpha, tuple) or math.isinf(base.alpha):
        raise ParameterError(
            f"Code joins the instances of a bag by {', '.join(JOINS)} with one finite alpha, not by "
            f"aggregation={base.aggregation!r}, alpha={base.alpha!r}. Change it with dataclasses.replace."
        )
    if base.combine not in JOINS or isinstance(base.consequent_alpha, tuple) or math.isinf(base.consequent_alpha):
        raise ParameterError(f"Code cannot express combine={base.combine!r} with alpha={base.consequent_alpha!r}.")
    if system.activation != "general":
        raise ParameterError(f"Code cannot express activation={system.activation!r}: all rules take part.")
    if any(output.hold for output in system.outputs):
        raise ParameterError("Code cannot keep previous values (hold=True): it has no memory.")

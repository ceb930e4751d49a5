"""The content of Mamdani rules: premises as in a rule base, fuzzy sets as conclusions; and their inference.

The firing strength of a rule for a bag is computed as in MI-Sugeno (the T-norm joins conditions, the aggregation
joins instances). It cuts or scales the set that the rule concludes; the sets of all rules are joined into one, which
is then turned into a number. On one-instance bags this is plain Mamdani inference. An output may instead be the
weighted average or sum of numbers (see `fuzzymil.rules.mamdani._weighted`), so that one system can mix the two.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described, known_name
from fuzzymil.inference.conclusions import (
    ACCUMULATIONS,
    DEFUZZIFIERS,
    SAMPLINGS,
    defuzzify,
)
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.activation import activated, check_activation
from fuzzymil.rules.inference import seen_bags
from fuzzymil.rules.language import printer
from fuzzymil.rules.mamdani._activations import MamdaniActivations
from fuzzymil.rules.mamdani._shares import typical_numbers
from fuzzymil.rules.mamdani._weighted import WEIGHTED, check_terms, common, computed, held, weighted, within
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Names, Rule, Variable

PREMISE_SETTINGS = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
"""The settings of a rule base that Mamdani rules use."""

MAX_RESOLUTION = 10**6
"""A finer one needs much memory and changes no digit that matters."""

PER_OUTPUT = ("implication", "accumulation", "defuzzify", "resolution", "sampling", "clip", "hold")
"""The settings that may differ between outputs: one value for all of them, or a tuple with one per output."""


@dataclasses.dataclass(frozen=True, repr=False)
class MamdaniRuleSet:
    """Premises, outputs and conclusions, with their inference; see `MamdaniRules`, which adds text and files."""

    premises: RuleBase
    outputs: tuple[Variable, ...]
    conclusions: tuple[Mapping[str, str | Is], ...]
    implication: str | tuple[str, ...] = "min"
    accumulation: str | tuple[str, ...] = "max"
    defuzzify: str | tuple[str, ...] = "centroid"
    resolution: int | tuple[int, ...] = 1000
    default: tuple[float, ...] = ()
    sampling: str | tuple[str, ...] = "cells"
    clip: bool | tuple[bool, ...] = False
    hold: bool | tuple[bool, ...] = False
    activation: str = "general"

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("premises", _without_conclusions(self.premises))
        put("outputs", tuple(self.outputs))
        put("conclusions", tuple(_plain(concluded) for concluded in self.conclusions))
        put("activation", check_activation(self.activation))
        for name in PER_OUTPUT:
            put(name, self._checked_setting(name))
        self._check()
        put("default", self._checked_default())

    def _checked_setting(self, name: str) -> Any:
        given = getattr(self, name)
        several = isinstance(given, tuple | list)
        if several and len(given) != len(self.outputs):
            raise ParameterError(
                f"{name} must have one value for all outputs, or {len(self.outputs)} values, got {len(given)}."
            )
        return common([_checked(name, value) for value in (given if several else [given])])

    def setting(self, name: str, output: int | str) -> Any:
        """Return a setting of one output: implication, accumulation, defuzzify, resolution, sampling, clip or hold."""
        value = getattr(self, name)
        return value[self.place_of(output)] if isinstance(value, tuple) else value

    def _check(self) -> None:
        if not self.outputs:
            raise ParameterError(
                "Mamdani rules need an output. Declare one: OUTPUT risk FROM 0 TO 1: small = ..., great = ..."
            )
        if len({output.name for output in self.outputs}) < len(self.outputs):
            raise ParameterError("Two outputs have the same name.")
        if len(self.conclusions) != self.premises.n_rules:
            raise ParameterError(
                f"{self.premises.n_rules} rules need as many conclusions, got {len(self.conclusions)}."
            )
        terms = {output.name: output.terms for output in self.outputs}
        for position, (rule, concluded) in enumerate(zip(self.premises.rules, self.conclusions, strict=True), start=1):
            if not concluded:
                raise ParameterError(f"Rule {position} has no conclusion.")
            for name, said in concluded.items():
                known_name("output", name, terms, f"in rule {position}")
                known_name("term", term_of(said), terms[name], f"of {name!r} in rule {position}")
            if rule.weight > 1:
                raise ParameterError(f"The weight of Mamdani rule {position} must be at most 1, got {rule.weight:g}.")
        for k, output in enumerate(self.outputs):
            if self._is_weighted(k):
                check_terms(output, [*self.feature_names, *(before.name for before in self.outputs[:k])])
            else:
                output.check_sets()
                _range_of(output)

    def _checked_default(self) -> tuple[float, ...]:
        n_outputs = len(self.outputs)
        given: Any = self.default
        given = (given,) * n_outputs if isinstance(given, numbers.Real) else tuple(given)
        given = given or tuple(((output.low or 0.0) + (output.high or 0.0)) / 2 for output in self.outputs)
        if len(given) != n_outputs or not all(isinstance(v, numbers.Real) and math.isfinite(v) for v in given):
            raise ParameterError(f"default must be a finite number, or {n_outputs} of them, got {self.default!r}.")
        return tuple(map(float, given))

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.premises.n_rules

    @property
    def n_features(self) -> int:
        """Number of variables."""
        return self.premises.n_features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.premises.feature_names

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The input variables."""
        return self.premises.variables

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The premises of the rules, with their weights, labels and comments; see ``conclusions`` for the rest."""
        return self.premises.rules

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(output.name for output in self.outputs)

    def name_of(self, place: int) -> str:
        """Return the label of a rule, counted from 0, or its number: ``"Rule 3"``."""
        return self.premises.name_of(place)

    def to_sugeno(self) -> RuleBase:
        """Return rules with the same premises that conclude numbers: the centers of the concluded terms.

        Their output is the mean of these centers, weighted by the strengths of the rules. A rule that says nothing
        about an output concludes its default.

        Examples
        --------
        >>> from fuzzymil.rules import MamdaniRules
        >>> rules = MamdaniRules.parse('''
        ... VARIABLE depth: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
        ... OUTPUT risk FROM 0 TO 1: small = Triangular(0, 0.2, 0.4), great = Triangular(0.6, 0.8, 1)
        ... IF depth is shallow THEN risk is great
        ... IF depth is deep THEN risk is small
        ... ''')
        >>> print(rules.to_sugeno())
        Rule 1: IF depth is shallow THEN risk = 0.8
        Rule 2: IF depth is deep THEN risk = 0.2
        """
        numbers = [typical_numbers(self, k) for k in range(len(self.outputs))]
        coefs = [
            [[own.get(r, default)] for own, default in zip(numbers, self.default, strict=True)]
            for r in range(self.n_rules)
        ]
        made = tuple(rule.concluding(rows) for rule, rows in zip(self.rules, coefs, strict=True))
        return dataclasses.replace(self.premises, rules=made, outputs=self.output_names, default=self.default)

    # ------------------------------------------------------------------ inference

    def infer(self, bags: Any) -> MamdaniActivations:
        """Run inference on bags, in 64 bit.

        A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by name;
        features without a variable of that name are ignored.
        """
        seen = seen_bags(self.premises, bags)
        found = self.premises.infer(seen)
        known: dict[str, Array] = {}  # the outputs so far, which formulas may use
        concluded, formulas = [], []
        for k, (variable, default) in enumerate(zip(self.outputs, self.default, strict=True)):
            numbers = computed(variable.terms, seen, self.feature_names, known) if self._is_weighted(k) else {}
            values = self._answers(found.log_firing, k, numbers)
            concluded.append(values)
            formulas.append(numbers)
            known[variable.name] = (
                held(values, default) if self.setting("hold", k) else np.where(np.isnan(values), default, values)
            )
        output, uncovered = np.column_stack(list(known.values())), np.isnan(np.column_stack(concluded))
        logs = found.log_truth, found.log_degrees, found.log_firing
        return MamdaniActivations(output, uncovered, *logs, self, tuple(formulas))

    def _is_weighted(self, output: int) -> bool:
        return self.setting("defuzzify", output) in WEIGHTED

    def _answers(self, log_firing: Array, output: int, numbers: Mapping[str, Array]) -> Array:
        """Return the answers (b,) on one output, given the numbers of its formulas; NaN if no rule concludes any."""
        method = self.setting("defuzzify", output)
        implication, accumulation = self.setting("implication", output), self.setting("accumulation", output)
        variable = self.outputs[output]
        if method not in WEIGHTED:
            parts = self.concluded_sets(log_firing, output)
            sampling = self.setting("sampling", output)
            return defuzzify(*parts, self.values(output), implication, accumulation, method, sampling)
        strengths = self.strengths(log_firing, output)
        by_term = {term: strengths[:, rules] for term, rules in self.rules_by_term(output).items() if rules}
        if not by_term:
            return np.full(len(log_firing), np.nan)
        found = weighted(by_term, variable.terms, numbers, accumulation, method)
        outside = np.isinf(found) | np.full(len(found), bool(self.setting("clip", output)))
        return np.where(outside & ~np.isnan(found), within(found, variable), found)

    def strengths(self, log_firing: Array, output: int | str = 0) -> Array:
        """Return the log-strength (b, r) with which each rule concludes its term of an output.

        This is its firing strength, if it takes part (``activation``), modified by the hedges of its conclusion.
        """
        name = self.outputs[self.place_of(output)].name
        found = activated(log_firing, self.activation)
        for r, concluded in enumerate(self.conclusions):
            said = concluded.get(name)
            if isinstance(said, Is):
                found = found.copy() if found is log_firing else found
                for hedge in reversed(said.hedges):
                    found[:, r] = np.asarray(HEDGES[hedge](found[:, r]))  # type: ignore[arg-type]
        return found

    def place_of(self, output: int | str) -> int:
        """Return the index of an output, given by name or index."""
        names = [variable.name for variable in self.outputs]
        if isinstance(output, str):
            known_name("output", output, names)
            return names.index(output)
        return range(len(names))[output]

    def values(self, output: int | str = 0) -> Array:
        """Return the values of an output at which sets are evaluated, shape (resolution,)."""
        sample = SAMPLINGS[self.setting("sampling", output)]
        return sample(*_range_of(self.outputs[self.place_of(output)]), self.setting("resolution", output))

    def rules_by_term(self, output: int | str = 0) -> dict[str, list[int]]:
        """Return, for each term of an output, the indices of the rules that conclude it."""
        variable = self.outputs[self.place_of(output)]
        return {
            term: [
                r
                for r, concluded in enumerate(self.conclusions)
                if variable.name in concluded and term_of(concluded[variable.name]) == term
            ]
            for term in variable.terms
        }

    def concluded_sets(self, log_firing: Array, output: int | str = 0) -> tuple[Array, Array]:
        """Return the conclusions on an output as parts (p) to be joined: log degrees (b, p), log memberships (p, c)."""
        terms = self.outputs[self.place_of(output)].terms
        by_term = {term: rules for term, rules in self.rules_by_term(output).items() if rules}
        values, strengths = self.values(output), self.strengths(log_firing, output)
        curves = {term: terms[term].log_membership(values) for term in by_term}
        if self.setting("accumulation", output) == "max":  # the strongest rule of a term covers the others
            parts = [(strengths[:, rules].max(axis=1), curves[term]) for term, rules in by_term.items()]
        else:
            parts = [(strengths[:, r], curves[term]) for term, rules in by_term.items() for r in rules]
        log_degrees = np.array([degree for degree, _ in parts]).reshape(len(parts), len(log_firing)).T
        return log_degrees, np.array([curve for _, curve in parts]).reshape(len(parts), len(values))


def term_of(said: str | Is) -> str:
    """Return the term that a conclusion names.

    Examples
    --------
    >>> term_of("great"), term_of(Is("risk", "great", ("very",)))
    ('great', 'great')
    """
    return said.term if isinstance(said, Is) else said


def _plain(concluded: Mapping[str, str | Is]) -> Names:
    """Return conclusions with plain names for those without hedges."""
    return Names(
        {name: said.term if isinstance(said, Is) and not said.hedges else said for name, said in concluded.items()}
    )


def _checked(name: str, value: Any) -> Any:
    """Return a setting of an output if it is one."""
    if name == "resolution":
        return _whole(name, value, least=2, most=MAX_RESOLUTION)
    if name in ("clip", "hold"):
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {value!r}.")
        return bool(value)
    known: Any = {
        "implication": T_NORMS,
        "accumulation": {**ACCUMULATIONS, **S_NORMS},
        "defuzzify": (*DEFUZZIFIERS, *WEIGHTED),
        "sampling": SAMPLINGS,
    }[name]
    known_name(name, value, known)
    return value


def _whole(name: str, value: object, least: int, most: int) -> int:
    try:
        number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not number.is_integer() or not least <= number <= most:
        raise ParameterError(f"{name} must be an integer from {least} to {most:,}, got {value!r:.40}.")
    return int(number)


def _without_conclusions(rules: RuleBase) -> RuleBase:
    """Return rules with all unused settings at their defaults, so that equal systems compare equal."""
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"premises must be a RuleBase, got {described(rules)}.")
    bare = tuple(rule.concluding([[0.0]]) for rule in rules.rules)
    used = {name: getattr(rules, name) for name in PREMISE_SETTINGS}
    return RuleBase(variables=rules.variables, rules=bare, comment=rules.comment, **used)


def _range_of(output: Variable) -> tuple[float, float]:
    low, high = output.low, output.high
    if low is None or high is None or not (np.isfinite([low, high]).all() and low < high):
        raise ParameterError(
            f"The output {output.name!r} needs a finite range with low < high "
            f"(OUTPUT {printer.quoted(output.name)} FROM 0 TO 1: ...), got {low} to {high}."
        )
    return low, high

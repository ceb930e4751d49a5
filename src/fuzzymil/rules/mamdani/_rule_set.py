"""The content of Mamdani rules: premises as in a rule base, fuzzy sets as conclusions; and their inference.

The firing strength of a rule for a bag is computed as in MI-Sugeno (the T-norm joins conditions, the aggregation
joins instances). It cuts or scales the set that the rule concludes; the sets of all rules are joined into one, which
is then turned into a number. On one-instance bags this is plain Mamdani inference.
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
from fuzzymil.network.inference import Strengths
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.language import printer
from fuzzymil.rules.mamdani._defuzzification import (
    ACCUMULATIONS,
    DEFUZZIFIERS,
    IMPLICATIONS,
    cells,
    defuzzified,
    joined,
)
from fuzzymil.rules.rule import Names, Rule, Variable

PREMISE_SETTINGS = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
"""The settings of a rule base that Mamdani rules use."""

MAX_RESOLUTION = 10**6
"""A finer one needs much memory and changes no digit that matters."""


@dataclasses.dataclass(frozen=True)
class MamdaniActivations(Strengths):
    """The values computed by one inference, as NumPy arrays; ``output`` is the prediction.

    Attributes
    ----------
    truth : array of shape (n_instances, n_rules)
        Degree to which each instance satisfies each rule's premise.
    firing : array of shape (n_bags, n_rules)
        Firing strength of each rule for each bag.
    output : array of shape (n_bags, n_outputs)
    uncovered : array of shape (n_bags, n_outputs)
        Where the joined set is empty, so that ``output`` is the default.
    log_truth, log_firing : arrays
        Logarithms of ``truth`` and ``firing``; ``-inf`` means exactly zero.
    rules : MamdaniRules
        The rules used.
    """

    output: Array
    uncovered: Array
    log_truth: Array
    log_degrees: Array
    log_firing: Array
    rules: MamdaniRuleSet = dataclasses.field(repr=False)

    def degrees(self, output: int | str = 0) -> dict[str, Array]:
        """Return, for each term of an output, the highest strength with which a rule concludes it, shape (n_bags,)."""
        return {
            term: self.firing[:, rules].max(axis=1, initial=0.0)
            for term, rules in self.rules.rules_by_term(output).items()
        }

    def joined_sets(self, output: int | str = 0) -> tuple[Array, Array]:
        """Return the joined set of all conclusions for each bag, before defuzzification.

        Parameters
        ----------
        output : int or str
            Index or name of an output.

        Returns
        -------
        values : array of shape (resolution,)
            Of the output.
        membership : array of shape (n_bags, resolution)
        """
        k = self.rules.place_of(output)
        log_degrees, log_mu = self.rules.concluded_sets(self.log_firing, k)
        if not len(log_mu):
            return self.rules.values(k), np.zeros((len(log_degrees), self.rules.resolution))
        membership, log_unit = joined(log_degrees, log_mu, self.rules.implication, self.rules.accumulation)
        return self.rules.values(k), np.exp(log_unit) * membership


@dataclasses.dataclass(frozen=True)
class MamdaniRuleSet:
    """Premises, outputs and conclusions, with their inference; see `MamdaniRules`, which adds text and files."""

    premises: RuleBase
    outputs: tuple[Variable, ...]
    conclusions: tuple[Mapping[str, str], ...]
    implication: str = "min"
    accumulation: str = "max"
    defuzzify: str = "centroid"
    resolution: int = 1000
    default: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        put("premises", _without_conclusions(self.premises))
        put("outputs", tuple(self.outputs))
        put("conclusions", tuple(Names(concluded) for concluded in self.conclusions))
        known_name("implication", self.implication, IMPLICATIONS)
        known_name("accumulation", self.accumulation, ACCUMULATIONS)
        known_name("defuzzify", self.defuzzify, DEFUZZIFIERS)
        put("resolution", _whole("resolution", self.resolution, least=2, most=MAX_RESOLUTION))
        self._check()
        put("default", self._checked_default())

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
            for name, term in concluded.items():
                known_name("output", name, terms, f"in rule {position}")
                known_name("term", term, terms[name], f"of {name!r} in rule {position}")
            if rule.weight > 1:
                raise ParameterError(f"The weight of Mamdani rule {position} must be at most 1, got {rule.weight:g}.")

    def _checked_default(self) -> tuple[float, ...]:
        n_outputs = len(self.outputs)
        given: Any = self.default
        given = (given,) * n_outputs if isinstance(given, numbers.Real) else tuple(given)
        given = given or tuple(sum(_range_of(output)) / 2 for output in self.outputs)
        if len(given) != n_outputs or not all(isinstance(v, numbers.Real) and math.isfinite(v) for v in given):
            raise ParameterError(f"default must be a finite number, or {n_outputs} of them, got {self.default!r}.")
        return tuple(map(float, given))

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return self.premises.n_rules

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.premises.feature_names

    # ------------------------------------------------------------------ inference

    def infer(self, bags: Any) -> MamdaniActivations:
        """Run inference on bags, in 64 bit.

        A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by name;
        features without a variable of that name are ignored.
        """
        found = self.premises.infer(bags)
        columns = []
        for k in range(len(self.outputs)):
            parts = self.concluded_sets(found.log_firing, k)
            columns.append(defuzzified(*parts, self.values(k), self.implication, self.accumulation, self.defuzzify))
        concluded = np.column_stack(columns)
        uncovered = np.isnan(concluded)
        output = np.where(uncovered, self.default, concluded)
        return MamdaniActivations(output, uncovered, found.log_truth, found.log_degrees, found.log_firing, self)

    def place_of(self, output: int | str) -> int:
        """Return the index of an output, given by name or index."""
        names = [variable.name for variable in self.outputs]
        if isinstance(output, str):
            known_name("output", output, names)
            return names.index(output)
        return range(len(names))[output]

    def values(self, output: int | str = 0) -> Array:
        """Return the values of an output at which sets are evaluated, shape (resolution,)."""
        return cells(*_range_of(self.outputs[self.place_of(output)]), self.resolution)

    def rules_by_term(self, output: int | str = 0) -> dict[str, list[int]]:
        """Return, for each term of an output, the indices of the rules that conclude it."""
        variable = self.outputs[self.place_of(output)]
        return {
            term: [r for r, concluded in enumerate(self.conclusions) if concluded.get(variable.name) == term]
            for term in variable.terms
        }

    def concluded_sets(self, log_firing: Array, output: int | str = 0) -> tuple[Array, Array]:
        """Return the conclusions on an output as parts (p) to be joined: log degrees (b, p), log memberships (p, c)."""
        terms = self.outputs[self.place_of(output)].terms
        by_term = {term: rules for term, rules in self.rules_by_term(output).items() if rules}
        curves = {term: terms[term].log_membership(self.values(output)) for term in by_term}
        if self.accumulation == "max":  # the strongest rule of a term covers the others
            parts = [(log_firing[:, rules].max(axis=1), curves[term]) for term, rules in by_term.items()]
        else:
            parts = [(log_firing[:, r], curves[term]) for term, rules in by_term.items() for r in rules]
        log_degrees = np.array([degree for degree, _ in parts]).reshape(len(parts), len(log_firing)).T
        return log_degrees, np.array([curve for _, curve in parts]).reshape(len(parts), self.resolution)


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
    bare = tuple(Rule(rule.premise, [[0.0]], rule.weight) for rule in rules.rules)
    used = {name: getattr(rules, name) for name in PREMISE_SETTINGS}
    return RuleBase(variables=rules.variables, rules=bare, **used)


def _range_of(output: Variable) -> tuple[float, float]:
    low, high = output.low, output.high
    if low is None or high is None or not (np.isfinite([low, high]).all() and low < high):
        raise ParameterError(
            f"The output {output.name!r} needs a finite range with low < high "
            f"(OUTPUT {printer.quoted(output.name)} FROM 0 TO 1: ...), got {low} to {high}."
        )
    return low, high

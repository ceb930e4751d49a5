"""Mamdani rules: premises over bags as in a rule base, conclusions that are fuzzy sets of the outputs.

A rule's strength for a bag comes about as in MI-Sugeno (conditions joined by the T-norm, instances by the
T-conorm). It cuts or scales the set that the rule concludes; the sets of all rules are joined into one, and
that set is made a number. On one-instance bags this is plain Mamdani inference.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described, known_name
from fuzzymil._utils.storage import Path_
from fuzzymil.rules._file_methods import Interchange
from fuzzymil.rules._rule_base import Rule, RuleBase
from fuzzymil.rules.language import printer
from fuzzymil.rules.mamdani.defuzzification import (
    ACCUMULATIONS,
    DEFUZZIFIERS,
    IMPLICATIONS,
    cells,
    defuzzified,
    joined,
    log_membership,
)
from fuzzymil.rules.rule import Names, Variable

__all__ = ["PREMISE_SETTINGS", "MamdaniActivations", "MamdaniRules"]

PREMISE_SETTINGS = ("t_norm", "s_norm", "aggregation", "alpha", "limited")
"""What of a rule base's settings Mamdani rules use."""


@dataclasses.dataclass(frozen=True)
class MamdaniActivations:
    """Everything one inference computed, as NumPy arrays; the prediction is its ``output``.

    Attributes
    ----------
    truth : array of shape (n_instances, n_rules)
        Degree to which each instance satisfies each rule's premise.
    firing : array of shape (n_bags, n_rules)
        Firing strength of each rule for each bag.
    output : array of shape (n_bags, n_outputs)
    uncovered : array of shape (n_bags, n_outputs)
        Where the joined set is truly empty and the default was given.
    log_truth, log_firing : arrays
        Logarithms of ``truth`` and ``firing``; ``-inf`` means truly zero.
    rules : MamdaniRules
        The rules that were inferred with.
    """

    output: Array
    uncovered: Array
    log_truth: Array
    log_firing: Array
    rules: MamdaniRules = dataclasses.field(repr=False)

    @property
    def truth(self) -> Array:
        """Degrees of truth, shape (n_instances, n_rules)."""
        return np.asarray(np.exp(self.log_truth))

    @property
    def firing(self) -> Array:
        """Firing strengths, shape (n_bags, n_rules)."""
        return np.asarray(np.exp(self.log_firing))

    @property
    def coverage(self) -> Array:
        """Greatest firing strength of each bag, shape (n_bags,): near 0, no rule knows the bag."""
        return np.asarray(self.firing.max(axis=1))

    def degrees(self, output: int | str = 0) -> dict[str, Array]:
        """Return for each term of an output the greatest strength, shape (n_bags,), with which a rule concludes it."""
        return {
            term: self.firing[:, rules].max(axis=1, initial=0.0)
            for term, rules in self.rules.rules_by_term(output).items()
        }

    def joined_sets(self, output: int | str = 0) -> tuple[Array, Array]:
        """Return the set that the rules conclude together for each bag, before it is made a number.

        Parameters
        ----------
        output : int or str
            Number or name of an output.

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
class MamdaniRules(Interchange):
    """Fuzzy if-then rules over bags of instances that conclude fuzzy sets: ``IF ... THEN risk is great``.

    Parameters
    ----------
    premises : RuleBase
        The rules' premises and weights, the variables they speak about, and the operators that join conditions
        (``t_norm``, ``s_norm``) and instances (``aggregation``, ``alpha``). Its numeric conclusions are not used.
    outputs : sequence of Variable
        What is concluded: each with terms and a range, ``low`` to ``high``.
    conclusions : sequence of mappings
        For each rule the term that it concludes of each output; it may leave outputs out.
    implication : {"min", "product"}
        Whether a rule's strength cuts its conclusion off or scales it.
    accumulation : {"max", "algebraic", "bounded", "sum"}
        Joins the sets that the rules conclude. ("sum" has no bound: memberships may exceed 1.)
    defuzzify : {"centroid", "bisector", "mom", "som", "lom"}
        Makes the joined set a number: center of area, halving of area; mean, smallest and largest of the
        values whose membership is greatest.
    resolution : int
        Cells into which an output's range is divided; sets are taken at the middle of each. The error of
        "centroid" and "bisector" falls with the square of a cell's width, others are right to half a cell.
    default : sequence of float
        The output for a bag whose joined set is truly empty; a single number counts for all outputs. Default: the
        middle of each range.

    Examples
    --------
    >>> rules = MamdaniRules.parse('''
    ... VARIABLE depth [m]: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
    ... OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    ... IF depth is shallow THEN risk is great
    ... IF depth is deep THEN risk is small WITH 0.5
    ... ''')
    >>> found = rules.infer([[[0.9], [0.0]], [[0.8], [1.0]]])
    >>> found.output.round(3).tolist()
    [[0.575], [0.195]]
    >>> print(rules)
    Rule 1: IF depth is shallow THEN risk is great
    Rule 2: IF depth is deep THEN risk is small WITH 0.5
    """

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
        put("resolution", _whole("resolution", self.resolution, least=2))
        self._check()
        put("default", self._checked_default())

    def _check(self) -> None:
        if not self.outputs:
            raise ParameterError("Mamdani rules need an output: OUTPUT risk FROM 0 TO 1: small = ..., great = ...")
        if len({output.name for output in self.outputs}) < len(self.outputs):
            raise ParameterError("Two outputs have the same name.")
        if len(self.conclusions) != self.premises.n_rules:
            raise ParameterError(
                f"Each of {self.premises.n_rules} rules needs a conclusion, got {len(self.conclusions)}."
            )
        terms = {output.name: output.terms for output in self.outputs}
        for position, (rule, concluded) in enumerate(zip(self.premises.rules, self.conclusions, strict=True), start=1):
            if not concluded:
                raise ParameterError(f"Rule {position} concludes nothing.")
            for name, term in concluded.items():
                known_name(f"output of rule {position}", name, terms)
                known_name(f"term of {name!r} in rule {position}", term, terms[name])
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
        """Infer bags, in 64 bit.

        A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by
        name; columns that no variable names are left out.
        """
        found = self.premises.infer(bags)
        columns = []
        for k in range(len(self.outputs)):
            parts = self.concluded_sets(found.log_firing, k)
            columns.append(defuzzified(*parts, self.values(k), self.implication, self.accumulation, self.defuzzify))
        concluded = np.column_stack(columns)
        uncovered = np.isnan(concluded)
        output = np.where(uncovered, self.default, concluded)
        return MamdaniActivations(output, uncovered, found.log_truth, found.log_firing, self)

    def place_of(self, output: int | str) -> int:
        """Return the number of an output that is given by its name or number."""
        names = [variable.name for variable in self.outputs]
        if isinstance(output, str):
            known_name("output", output, names)
            return names.index(output)
        return range(len(names))[output]

    def values(self, output: int | str = 0) -> Array:
        """Return the values of an output at which sets are taken, shape (resolution,)."""
        return cells(*_range_of(self.outputs[self.place_of(output)]), self.resolution)

    def rules_by_term(self, output: int | str = 0) -> dict[str, list[int]]:
        """Return for each term of an output the rules (from 0) that conclude it."""
        variable = self.outputs[self.place_of(output)]
        return {
            term: [r for r, concluded in enumerate(self.conclusions) if concluded.get(variable.name) == term]
            for term in variable.terms
        }

    def concluded_sets(self, log_firing: Array, output: int | str = 0) -> tuple[Array, Array]:
        """Return what the rules conclude of an output: parts to be joined.

        Parameters
        ----------
        log_firing : array of shape (n_bags, n_rules)
        output : int or str

        Returns
        -------
        log_degrees : array of shape (n_bags, n_parts)
        log_mu : array of shape (n_parts, resolution)
        """
        terms = self.outputs[self.place_of(output)].terms
        by_term = {term: rules for term, rules in self.rules_by_term(output).items() if rules}
        curves = {term: log_membership(terms[term], self.values(output)) for term in by_term}
        if self.accumulation == "max":  # the strongest rule of a term covers the others
            parts = [(log_firing[:, rules].max(axis=1), curves[term]) for term, rules in by_term.items()]
        else:
            parts = [(log_firing[:, r], curves[term]) for term, rules in by_term.items() for r in rules]
        log_degrees = np.array([degree for degree, _ in parts]).reshape(len(parts), len(log_firing)).T
        return log_degrees, np.array([curve for _, curve in parts]).reshape(len(parts), self.resolution)

    # ------------------------------------------------------------------ text and files

    def __str__(self) -> str:
        return self.to_text(max_terms=None if self.premises.n_features <= 12 else 8)

    def to_text(self, max_terms: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text.

        Parameters
        ----------
        max_terms : int, optional
            Show only a rule's most selective conditions (narrowest for their variable's range first).
        digits : int or None
            Significant digits of weights; None writes them exactly.
        """
        return "\n".join(
            f"Rule {r + 1}: IF {self.premises._premise_text(rule, max_terms)} THEN "
            + ", ".join(f"{printer.quoted(name)} is {printer.quoted(term)}" for name, term in concluded.items())
            + printer.with_weight(rule.weight, digits)
            for r, (rule, concluded) in enumerate(zip(self.premises.rules, self.conclusions, strict=True))
        )

    def to_source(self) -> str:
        """Return everything as text that `parse` reads back exactly: terms, operators and rules.

        Examples
        --------
        >>> from fuzzymil.membership import Triangular
        >>> speed = Variable("speed", {"any": Triangular(0, 1, 2)}, 0, 2)
        >>> rules = MamdaniRules.parse("IF anything THEN speed is any", [Variable("hue")], [speed])
        >>> MamdaniRules.parse(rules.to_source()) == rules
        True
        """
        from fuzzymil.rules.mamdani import source  # which builds on this module

        return source.to_source(self)

    @classmethod
    def parse(
        cls,
        text: str | Iterable[str],
        inputs: Iterable[Variable] | None = None,
        outputs: Iterable[Variable] | None = None,
        **operators: Any,
    ) -> MamdaniRules:
        """Read rules that a person wrote, or `to_source` did.

        Parameters
        ----------
        text : str, or sequence of str
            Rules; and declarations of variables, outputs and operators, unless they are given here.
        inputs, outputs : sequences of Variable, optional
            What the rules speak about and what they conclude.
        **operators
            ``t_norm`` (default "min"), ``s_norm``, ``aggregation`` (default "max"), ``alpha``, ``limited``,
            ``implication``, ``accumulation``, ``defuzzify``, ``resolution``, ``default``.

        Raises
        ------
        RuleSyntaxError
            Shows the line, a caret under the character, and what was expected there.
        """
        from fuzzymil.rules.mamdani import source

        return source.parse(text, inputs, outputs, **operators)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values that JSON can hold exactly."""
        from fuzzymil.rules.mamdani import json  # which builds on this module

        return json.to_dict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> MamdaniRules:
        """Rebuild rules from `to_dict`; damaged content raises `ModelFileError`."""
        from fuzzymil.rules.mamdani import json

        return json.from_dict(content)

    def save(self, path: Path_) -> None:
        """Write the rules as JSON; a failure leaves an older file whole."""
        from fuzzymil.rules.mamdani import json

        json.save(self, path)

    @classmethod
    def load(cls, path: Path_) -> MamdaniRules:
        """Read rules that `save` wrote; nothing in the file is executed."""
        from fuzzymil.rules.mamdani import json

        return json.load(path)


def _whole(name: str, value: object, least: int) -> int:
    number = float(value) if isinstance(value, numbers.Real) and not isinstance(value, bool) else math.nan
    if not number.is_integer() or number < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")
    return int(number)


def _without_conclusions(rules: RuleBase) -> RuleBase:
    """Return rules with all that is not used at its default, so that equal systems are equal."""
    if not isinstance(rules, RuleBase):
        raise ParameterError(f"premises must be a RuleBase, got {described(rules)}.")
    bare = tuple(Rule(rule.premise, [[0.0]], rule.weight) for rule in rules.rules)
    used = {name: getattr(rules, name) for name in PREMISE_SETTINGS}
    return RuleBase(rules.variables, bare, **used)


def _range_of(output: Variable) -> tuple[float, float]:
    low, high = output.low, output.high
    if low is None or high is None or not (np.isfinite([low, high]).all() and low < high):
        raise ParameterError(
            f"The output {output.name!r} needs a range, low less than high and both finite "
            f"(OUTPUT {printer.quoted(output.name)} FROM 0 TO 1: ...), got {low} to {high}."
        )
    return low, high

"""The content of a rule base: variables, rules and operators, as one validated, immutable value."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Self, TypeVar

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described, known_name, listed
from fuzzymil._utils.text import check_characters
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS
from fuzzymil.rules.arrangement import Arrangement, arrange
from fuzzymil.rules.premise import Is, Part, conditions, parts_of
from fuzzymil.rules.rule import MISSING, Rule, Variable, tidy


@dataclasses.dataclass(frozen=True, repr=False)
class RuleSet:
    """Variables, rules and operators; see `RuleBase`, which adds inference, text, editing and files.

    The modules of this package work on this class and return the class they were given.
    """

    variables: tuple[Variable, ...]
    rules: tuple[Rule, ...]
    outputs: tuple[str, ...] = ("y",)
    t_norm: str = "product"
    aggregation: str = "softmax"
    alpha: float | tuple[float, ...] = 1.0
    conclusion_aggregation: str = "softmax"
    conclusion_alpha: float | tuple[float, ...] = 1.0
    normalize: bool = True
    default: tuple[float, ...] = ()
    limited: bool = False
    s_norm: str = ""
    comment: str = dataclasses.field(default="", compare=False)  # for readers only

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        for field in ("variables", "rules", "outputs"):
            put(field, tuple(getattr(self, field)))
        for field in ("alpha", "conclusion_alpha"):
            value = _numbers(field, getattr(self, field))
            put(field, value if np.ndim(getattr(self, field)) else value[0])
        put("default", _numbers("default", self.default) or (0.0,) * len(self.outputs))
        for field in ("normalize", "limited"):
            put(field, _boolean(field, getattr(self, field)))
        known_name("t_norm", self.t_norm, T_NORMS)
        put("s_norm", self.s_norm or dual_of(self.t_norm))
        put("comment", tidy(self.comment))
        check_characters("The name of an output, or the comment", *self.outputs, self.comment, error=ParameterError)
        asked = {each.variable for rule in self.rules for each in rule.conditions if each.term == MISSING}
        put("variables", tuple(variable.asked_if_missing(variable.name in asked) for variable in self.variables))
        self._check()

    def _check(self) -> None:
        known_name("s_norm", self.s_norm, S_NORMS)
        known_name("aggregation", self.aggregation, AGGREGATIONS)
        known_name("conclusion_aggregation", self.conclusion_aggregation, COMBINERS)
        for name, value, count, each in (
            ("alpha", self.alpha, len(self.rules), "rule"),
            ("conclusion_alpha", self.conclusion_alpha, len(self.outputs), "output"),
        ):
            if np.isnan(value).any():
                raise ParameterError(f"{name} must be a number (0 is the mean, inf the maximum), got NaN.")
            if isinstance(value, tuple) and (len(value) != count or np.isinf(value).any()):
                raise ParameterError(
                    f"{name} must be one number, or a finite one per {each} ({count}), got {value!r:.100}."
                )
        if not self.variables or not self.rules or not self.outputs:
            raise ParameterError("A rule base needs at least one variable, one rule and one output.")
        if len(self.default) != len(self.outputs):
            raise ParameterError(f"default must have {len(self.outputs)} value(s), got {len(self.default)}.")
        if len(set(self.outputs)) < len(self.outputs):
            raise ParameterError(f"Two outputs have the same name, got {listed(self.outputs)}.")
        for variable in self.variables:
            variable.check_sets()
        terms = {variable.name: variable.terms for variable in self.variables}
        if len(terms) < len(self.variables):
            raise ParameterError(f"Two variables have the same name, got {listed(self.feature_names)}.")
        if not np.isfinite(self.default).all():
            raise ParameterError(f"default must be finite, got {', '.join(map(str, self.default))}.")
        n_coefs = len(self.rules[0].coefs[0]) if self.rules[0].coefs else 0
        for position, rule in enumerate(self.rules, start=1):
            for condition in conditions(rule.premise):
                name = condition.variable
                known_name("variable", name, terms, f"in rule {position}")
                known_name("term", condition.term, terms[name], f"of {name!r} in rule {position}")
            shape = (len(rule.coefs), {len(row) for row in rule.coefs})
            if shape != (len(self.outputs), {n_coefs}) or n_coefs not in (1, 1 + len(self.variables)):
                raise ParameterError(
                    f"Rule {position} must have 1 or {1 + len(self.variables)} coefficients for each of "
                    f"{len(self.outputs)} output(s), as many as the other rules."
                )
            if not np.isfinite(rule.coefs).all():
                raise ParameterError(f"Rule {position} has a coefficient that is not finite.")

    @functools.cached_property
    def arrangement(self) -> Arrangement:
        """Places of the rules' conditions in the arrays of `compile`."""
        column = {variable.name: d for d, variable in enumerate(self.variables)}

        def family(condition: Is) -> str:
            return self.variables[column[condition.variable]].terms[condition.term].kind

        return arrange([rule.premise for rule in self.rules], column, family)

    @functools.cached_property
    def parts(self) -> tuple[Part, ...]:
        """The parts of the rules' premises, rule by rule: one per quantifier; one in a rule without quantifiers."""
        return tuple(part for r, rule in enumerate(self.rules) for part in parts_of(r, rule.premise))

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.rules)

    @property
    def n_features(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @property
    def coefs(self) -> Array:
        """Consequent coefficients, shape (n_rules, n_outputs, 1 or 1 + n_features), constant first."""
        return np.array([rule.coefs for rule in self.rules])

    def ignoring_gaps(self) -> Self:
        """Return the rules without what missing values stand for: one then satisfies every condition."""
        if not any(variable.gaps for variable in self.variables):
            return self
        variables = [
            dataclasses.replace(variable, terms=variable.declared_terms, gaps=()) for variable in self.variables
        ]
        return dataclasses.replace(self, variables=tuple(variables))

    def name_of(self, place: int) -> str:
        """Return the label of a rule, counted from 0, or its number: ``"Rule 3"``."""
        return self.rules[place].label or f"Rule {place + 1}"

    def selectivity(self, asked: Rule | Mapping[str, str]) -> dict[str, float]:
        """Return how narrow the sets of a rule, or of variables and terms, are: the variable's range over the width."""
        antecedent = asked.antecedent if isinstance(asked, Rule) else asked
        spans = {v.name: (v.high or 0.0) - (v.low or 0.0) for v in self.variables}
        terms = {v.name: v.terms for v in self.variables}
        widths = {name: float(terms[name][t].spread(*terms[name][t].parameters)) for name, t in antecedent.items()}
        return {name: spans[name] / width if width else math.inf for name, width in widths.items()}


R = TypeVar("R", bound=RuleSet)


def dual_of(t_norm: str) -> str:
    """Return the name of the S-norm that belongs to a T-norm."""
    if t_norm not in DUAL:
        raise ParameterError(
            f"The T-norm {t_norm!r} was registered without its dual S-norm: set s_norm to one of {listed(S_NORMS)}."
        )
    return DUAL[t_norm]


def _numbers(name: str, value: object) -> tuple[float, ...]:
    with contextlib.suppress(ValueError):  # rows of different lengths
        found = np.atleast_1d(np.asarray(value))
        if found.ndim == 1 and found.dtype.kind in "iuf":
            return tuple(map(float, found))
    raise ParameterError(f"{name} must be a number or a sequence of numbers, got {described(value)}.")


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")
    return bool(value)

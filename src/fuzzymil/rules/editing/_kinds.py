"""Rules of both kinds: those that conclude numbers, and Mamdani rules, whose premises are a rule base of their own."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from fuzzymil._utils.arrays import Array
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.rule import Variable

K = TypeVar("K")
"""Rules of either kind: a `RuleBase`, or `MamdaniRules`."""


def concludes_sets(rules: object) -> bool:
    """Return whether these are Mamdani rules."""
    return not isinstance(rules, RuleSet)


def premises_of(rules: Any) -> Any:
    """Return the rule base with the premises: the rules themselves, or the premises of Mamdani rules."""
    return rules.premises if concludes_sets(rules) else rules


def with_premises(rules: K, premises: RuleSet) -> K:
    """Return the same conclusions with other premises."""
    changed: Any = dataclasses.replace(rules, premises=premises) if concludes_sets(rules) else premises  # type: ignore[type-var]
    found: K = changed
    return found


def outputs_of(rules: Any) -> tuple[str, ...]:
    """Return the names of the outputs."""
    found: tuple[str, ...] = rules.output_names if concludes_sets(rules) else rules.outputs
    return found


def all_variables(rules: Any) -> tuple[Variable, ...]:
    """Return the input variables, and the output variables of Mamdani rules."""
    found: tuple[Variable, ...] = (*rules.variables, *rules.outputs) if concludes_sets(rules) else rules.variables
    return found


def output_on(rules: Any, bags: Any) -> Array:
    """Return the output for bags, shape (n_bags, n_outputs)."""
    found: Array = rules.infer(bags).output
    return found

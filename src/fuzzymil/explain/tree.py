"""Explanations through the levels of a tree of systems."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import known_name
from fuzzymil.bags import Bags, as_bags
from fuzzymil.explain._explain import explain, select_bag
from fuzzymil.explain.explanation import Explanation
from fuzzymil.rules.tree import RuleTree


@dataclasses.dataclass(frozen=True)
class TreeExplanation:
    """Why a tree of systems answered as it did.

    Parameters
    ----------
    system : str
        The system that gave the answer.
    answer : Explanation
        Of its output, by its rules.
    instance : int or None
        The instance that is explained, counted from 0, if the system speaks of instances.
    below : mapping of str to TreeExplanation
        For each input of these rules that is an output of another system: why it has its value, for the witness of the
        rule that contributes most.
    """

    system: str
    answer: Explanation
    instance: int | None
    below: Mapping[str, TreeExplanation]

    def __str__(self) -> str:
        where = "" if self.instance is None else f", instance {self.instance}"
        text = f"{self.system}{where}\n{self.answer}"
        for each in self.below.values():
            text += "\n\n" + textwrap.indent(f"because of {each}", "  ")
        return text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain values."""
        below = {name: each.to_dict() for name, each in self.below.items()}
        return {"system": self.system, "instance": self.instance, "answer": self.answer.to_dict(), "below": below}


def explain_tree(
    tree: RuleTree, bags: Any, bag: Any = None, *, position: int | None = None, output: str | None = None
) -> TreeExplanation:
    """Explain the answer of a tree for one bag; see `RuleTree.explain`.

    Examples
    --------
    >>> tree = RuleTree.parse('''
    ... SYSTEM inner
    ... VARIABLE a: low = Ramp(1, 0)  IF a is low THEN b = 1  IF a is not low THEN b = 0
    ... SYSTEM outer
    ... VARIABLE b: high = Ramp(0, 1)  IF b is high THEN c = 10  IF b is not high THEN c = 0''')
    >>> found = tree.explain([[[0.9], [0.2]]])
    >>> found.system, found.answer.rules[0].witness, found.below["b"].instance, found.below["b"].answer.output
    ('outer', 1, 1, (0.8,))
    """
    one = select_bag(as_bags(bags), bag, position)
    names = tree.output_names
    if output is not None:
        known_name("output", output, names, "of the tree")
    return _explained(tree, tree.infer(one).bags, output or names[0], 0)


def _explained(tree: RuleTree, seen: Bags, output: str, instance: int) -> TreeExplanation:
    """Return why an output has its value for the bag, or for one of its instances."""
    owners = tree.owners
    system = owners[output]
    rules, about_bags = tree.systems[system], tree.is_about_bags(system)
    values = seen.instances if about_bags else seen.instances[[instance]]
    asked = Bags(values, np.array([0, len(values)]), ids=seen.ids, feature_names=seen.feature_names)
    answer = explain(rules, asked, output=output)
    first = answer.rules[0]
    witness = (first.witness or 0) if about_bags else instance
    below = {}
    for variable in dict.fromkeys(condition.variable for rule in answer.rules for condition in rule.rule.conditions):
        if variable in owners:
            below[variable] = _explained(tree, seen, variable, witness)
    return TreeExplanation(system, answer, None if about_bags else instance, below)

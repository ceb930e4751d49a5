"""Trees of rule bases: a system whose inputs are outputs of others, as one immutable value."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, cast

import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError, known_name, listed
from fuzzymil._utils.registry import package_above
from fuzzymil._version import __version__
from fuzzymil.bags import Bags, as_bags
from fuzzymil.inference.activations import Activations
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.activations import matched
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import is_quantified
from fuzzymil.rules.rule import Names, Variable

VERSIONS = {"fuzzymil.tree": 1}
"""The format of files of trees, and its latest version."""

_HEAD = re.compile(r'^[ \t]*SYSTEM[ \t]+(?:"((?:[^"\\\n]|\\.)*)"|([^\W\d]\w*))[ \t]*$', re.MULTILINE)


class TreeActivations(NamedTuple):
    """What the systems of a tree computed.

    Attributes
    ----------
    output : array of shape (n_bags, n_outputs)
        Of the tree.
    uncovered : array of shape (n_bags,)
        Whether a system had nothing to say about a bag, or about one of its instances, and its default counts.
    systems : dict of str to Activations
        What each system computed, from the first level on; of a system about instances, one row per instance.
    bags : Bags
        With the outputs of all systems as features.
    """

    output: Array
    uncovered: Array
    systems: dict[str, Activations]
    bags: Bags


@dataclasses.dataclass(frozen=True)
class RuleTree:
    """Rule bases of which some ask for outputs of others.

    A variable of a system that has the name of another system's output gets its value; all other variables are inputs
    of the tree. A system below another one speaks of each instance of a bag, or, if its rules have quantifiers, of the
    whole bag: then all instances have its output. The systems that no other one asks speak of the bag.

    Parameters
    ----------
    systems : mapping of str to RuleBase, or sequence of RuleBase
        In any order. In a sequence, each has its own ``name``, or gets a number.
    outputs : sequence of str, optional
        Outputs of the tree. Default: those that no system asks for.
    name : str

    Examples
    --------
    >>> comfort = RuleBase.parse('''
    ... VARIABLE warmth FROM 10 TO 30: cold = Ramp(22, 16), warm = Ramp(16, 22)
    ... IF warmth is warm THEN comfort = 1
    ... IF warmth is cold THEN comfort = 0''')
    >>> price = RuleBase.parse('''
    ... VARIABLE comfort FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)
    ... VARIABLE area FROM 0 TO 100: small = Ramp(80, 20), large = Ramp(20, 80)
    ... IF comfort is high AND area is large THEN price = 900
    ... IF comfort is low OR area is small THEN price = 300''')
    >>> tree = RuleTree({"comfort": comfort, "price": price})
    >>> tree.feature_names, tree.output_names, tree.levels
    (('warmth', 'area'), ('price',), (('comfort',), ('price',)))
    >>> tree.infer([[22.0, 80.0], [19.0, 50.0]]).output.round(2).tolist()
    [[900.0], [450.0]]
    """

    systems: Mapping[str, RuleBase]
    outputs: tuple[str, ...] = ()
    name: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        given = self.systems if isinstance(self.systems, Mapping) else _named(self.systems)
        for name, rules in given.items():
            if not isinstance(rules, RuleBase):
                raise ParameterError(f"The system {name!r:.60} must be a RuleBase, got {rules!r:.60}.")
        owners: dict[str, str] = {}
        for name, rules in given.items():
            for output in rules.output_names:
                if output in owners:
                    raise ParameterError(f"Two systems conclude {output!r:.60}: {owners[output]!r} and {name!r}.")
                owners[output] = name
        put(self, "systems", Names(_in_order(given, owners)))
        asked = {variable for rules in given.values() for variable in rules.feature_names}
        free = tuple(output for rules in self.systems.values() for output in rules.output_names if output not in asked)
        for output in self.outputs:
            known_name("output", output, owners, "of the tree")
        put(self, "outputs", tuple(self.outputs) or free)

    # ------------------------------------------------------------------ facts

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The inputs of the tree, each as the first system has it that asks for it."""
        found: dict[str, Variable] = {}
        owners = self.owners
        for rules in self.systems.values():
            for variable in rules.variables:
                if variable.name not in owners:
                    found.setdefault(variable.name, variable)
        return tuple(found.values())

    @property
    def n_features(self) -> int:
        """Number of inputs."""
        return len(self.variables)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the inputs."""
        return tuple(variable.name for variable in self.variables)

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return self.outputs

    @property
    def owners(self) -> Mapping[str, str]:
        """The system that concludes each output."""
        return {output: name for name, rules in self.systems.items() for output in rules.output_names}

    @property
    def levels(self) -> tuple[tuple[str, ...], ...]:
        """The names of the systems, level by level: each asks only for inputs and for outputs of lower levels."""
        owners, height = self.owners, dict[str, int]()
        for name, rules in self.systems.items():
            height[name] = 1 + max((height[owners[v]] for v in rules.feature_names if v in owners), default=-1)
        return tuple(tuple(n for n in height if height[n] == level) for level in range(max(height.values()) + 1))

    def is_about_bags(self, system: str) -> bool:
        """Return whether a system speaks of bags: because no other one asks for it, or because of its quantifiers."""
        rules = self.systems[system]
        asked = {variable for other in self.systems.values() for variable in other.feature_names}
        return not asked & set(rules.output_names) or any(is_quantified(rule.premise) for rule in rules.rules)

    # ------------------------------------------------------------------ inference

    def infer(self, bags: Any) -> TreeActivations:
        """Run inference on bags, level by level.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts
            With the inputs of the tree, by name or in their order.
        """
        seen = matched(cast(RuleBase, self), as_bags(bags))  # which has variables, too
        seen = Bags(seen.instances, seen.offsets, ids=seen.ids, feature_names=self.feature_names)
        uncovered, found = np.zeros(seen.n_bags, bool), dict[str, Activations]()
        for name, rules in self.systems.items():
            own = matched(rules, seen)
            about_bags = self.is_about_bags(name)
            found[name] = rules.infer(own if about_bags else _each_instance(own))
            each, output = np.asarray(found[name].uncovered), np.asarray(found[name].output)
            uncovered |= each if about_bags else np.logical_or.reduceat(each, seen.offsets[:-1])
            new = np.repeat(output, seen.sizes, axis=0) if about_bags else output
            wider = np.column_stack([seen.instances, new])
            seen = Bags(wider, seen.offsets, ids=seen.ids, feature_names=(*seen.names, *rules.output_names))
        places = [seen.names.index(output) for output in self.outputs]
        return TreeActivations(seen.instances[seen.offsets[:-1]][:, places], uncovered, found, seen)

    def explain(self, bags: Any, bag: Any = None, *, position: int | None = None, output: str | None = None) -> Any:
        """Explain the answer for one bag through the levels.

        Parameters
        ----------
        bags, bag, position
            As in `fuzzymil.explain.explain`.
        output : str, optional
            The output to explain. Default: the first one.

        Returns
        -------
        TreeExplanation
        """
        return package_above("fuzzymil.explain.tree").explain_tree(self, bags, bag, position=position, output=output)

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return "\n\n".join(
            f"{name} ({', '.join(rules.feature_names)} -> {', '.join(rules.output_names)})\n{rules}"
            for name, rules in self.systems.items()
        )

    def to_source(self) -> str:
        """Return the whole tree as text that `parse` reads back exactly: its systems, each below ``SYSTEM name``."""
        parts = (f"SYSTEM {printer.quoted(name)}\n{rules.to_source()}" for name, rules in self.systems.items())
        return "\n".join(parts)

    @classmethod
    def parse(cls, text: str, outputs: Iterable[str] = (), name: str = "") -> RuleTree:
        """Parse a tree written by hand or by `to_source`.

        Examples
        --------
        >>> tree = RuleTree.parse('''
        ... SYSTEM inner
        ... VARIABLE a: low = Ramp(1, 0)  IF a is low THEN b = 1  IF anything THEN b = 0
        ... SYSTEM outer
        ... VARIABLE b: high = Ramp(0, 1)  IF b is high THEN c = 10  IF anything THEN c = 0''')
        >>> RuleTree.parse(tree.to_source()) == tree
        True
        """
        heads = list(_HEAD.finditer(text))
        if not heads or text[: heads[0].start()].strip():
            raise RuleSyntaxError("A tree begins with 'SYSTEM name', followed by the rules of that system.")
        systems: dict[str, RuleBase] = {}
        for head, end in zip(heads, [*(each.start() for each in heads[1:]), len(text)], strict=True):
            system = head[2] or re.sub(r"\\(.)", r"\1", head[1])
            if system in systems:
                raise RuleSyntaxError(f"Two systems are called {system!r:.60}.")
            lines = text.count("\n", 0, head.end())  # so that mistakes have the lines of the whole text
            systems[system] = RuleBase.parse("\n" * lines + text[head.end() : end])
        return cls(systems, tuple(outputs), name)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as plain values that JSON stores exactly."""
        systems = {name: rules.to_dict() for name, rules in self.systems.items()}
        return {"name": self.name, "outputs": list(self.outputs), "systems": systems}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RuleTree:
        """Rebuild a tree from `to_dict`; damaged content raises `ModelFileError`."""
        try:
            systems = {str(name): RuleBase.from_dict(rules) for name, rules in content["systems"].items()}
            return cls(systems, tuple(map(str, content["outputs"])), str(content["name"]))
        except ModelFileError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError) as problem:
            raise ModelFileError(storage.damaged("The tree in this file", problem)) from None

    def save(self, path: storage.Path_) -> None:
        """Write the tree as JSON; if that fails, an existing file stays intact."""
        storage.write_document(path, "fuzzymil.tree", 1, {"library": __version__, **self.to_dict()})

    @classmethod
    def load(cls, path: storage.Path_) -> RuleTree:
        """Read a tree written by `save`; nothing in the file is executed."""
        return cls.from_dict(storage.read_document(path, VERSIONS))


def _named(systems: Iterable[RuleBase]) -> dict[str, RuleBase]:
    found: dict[str, RuleBase] = {}
    for number, rules in enumerate(systems, start=1):
        name = getattr(rules, "name", "") or f"System {number}"
        if name in found:
            raise ParameterError(f"Two systems are called {name!r:.60}: pass a mapping of names to systems.")
        found[name] = rules
    return found


def _in_order(systems: Mapping[str, RuleBase], owners: Mapping[str, str]) -> Mapping[str, RuleBase]:
    """Return the systems so that each comes after those it asks."""
    if not systems:
        raise ParameterError("A tree needs at least one system.")
    rest, found = dict(systems), dict[str, RuleBase]()
    while rest:
        ready = [n for n, rules in rest.items() if not {owners.get(v) for v in rules.feature_names} & rest.keys()]
        if not ready:
            raise ParameterError(f"These systems ask for each other's outputs in a circle: {listed(rest)}.")
        found |= {name: rest.pop(name) for name in ready}
    return found


def _each_instance(bags: Bags) -> Bags:
    """Return the instances as bags of one."""
    offsets = np.arange(bags.n_instances + 1)
    return Bags(bags.instances, offsets, feature_names=bags.feature_names, columns=bags.columns)

"""What the formats of other programs have in common: their words for operators, and what they do not keep of rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.inference.membership import MembershipFunction, Singleton
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.files._format import Format, register_format
from fuzzymil.rules.files._sets import Word, write_set
from fuzzymil.rules.files._system import Output, System, SystemRule, Term, negations_inside, rules_of, system_of
from fuzzymil.rules.files._text import distinct, word_for
from fuzzymil.rules.language import printer
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.premise import Expression, is_quantified
from fuzzymil.rules.rule import Variable

# ---------------------------------------------------------------------- words for operators

_COLUMNS = ("FLL", "a .fis file", "FCL", "FML")
_T_NORMS = {
    "product": ("AlgebraicProduct", "prod", "PROD", "PROD"),
    "min": ("Minimum", "min", "MIN", "MIN"),
    "lukasiewicz": ("BoundedDifference", "bounded_difference", "BDIF", "BDIF"),
    "hamacher": ("HamacherProduct", "hamacher_product", "HPROD", "HPROD"),
    "einstein": ("EinsteinProduct", "einstein_product", "EPROD", "EPROD"),
    "drastic": ("DrasticProduct", "drastic_product", "DPROD", "DRP"),
    "nilpotent": ("NilpotentMinimum", "nilpotent_minimum", "NMIN", "NILMIN"),
}
_S_NORMS = {
    "algebraic": ("AlgebraicSum", "probor", "ASUM", "PROBOR"),
    "max": ("Maximum", "max", "MAX", "MAX"),
    "bounded": ("BoundedSum", "bounded_sum", "BSUM", "BSUM"),
    "hamacher": ("HamacherSum", "hamacher_sum", "HSUM", "HSUM"),
    "einstein": ("EinsteinSum", "einstein_sum", "ESUM", "ESUM"),
    "drastic": ("DrasticSum", "drastic_sum", "DSUM", "DRS"),
    "nilpotent": ("NilpotentMaximum", "nilpotent_maximum", "NMAX", "NILMAX"),
}
_SUM = {"sum": ("UnboundedSum", "sum", "SUM", "SUM")}
_DEFUZZIFIERS = {
    "centroid": ("Centroid", "centroid", "COG", "COG"),
    "bisector": ("Bisector", "bisector", "COA", "COA"),
    "mom": ("MeanOfMaximum", "mom", "MM", "MOM"),
    "som": ("SmallestOfMaximum", "som", "LM", "LM"),
    "lom": ("LargestOfMaximum", "lom", "RM", "RM"),
}
_WEIGHTED = {"average": ("WeightedAverage", "wtaver", "COGS", "WA"), "sum": ("WeightedSum", "wtsum", "COGSS", "")}
"""Our names of operators, and the words of each format for them."""


class Words:
    """The words of a format for operators, each a mapping to our names.

    ``format``: a title of one of the formats. ``t_norms``, ``s_norms``, ``defuzzifiers``, ``weighted``: further words,
    which are read but not written.
    """

    def __init__(self, format: str, **others: Mapping[str, str]) -> None:
        column = _COLUMNS.index(format)

        def words(name: str, table: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
            return {row[column]: ours for ours, row in table.items() if row[column]} | dict(others.get(name, {}))

        self.t_norms, self.s_norms = words("t_norms", _T_NORMS), words("s_norms", _S_NORMS)
        self.accumulations = {**self.s_norms, **words("accumulations", _SUM)}
        self.defuzzifiers, self.weighted = words("defuzzifiers", _DEFUZZIFIERS), words("weighted", _WEIGHTED)


# ---------------------------------------------------------------------- writing


class Writer(ABC):
    """Writes a system in a format; subclasses say how.

    ``inputs``, ``outputs``: the names of the inputs and of the outputs as they are written; different names stay
    different. ``input_terms``, ``output_terms``: the names of their terms as they are written.
    """

    title: ClassVar[str]
    words: ClassVar[Words]
    sets: ClassVar[Mapping[str, Word]]

    def __init__(self, system: System) -> None:
        self.system = system
        inputs, outputs = [v.name for v in system.inputs], [o.name for o in system.outputs]
        names = distinct([*inputs, *outputs], self.variable_name)
        self.inputs, self.outputs = {name: names[name] for name in inputs}, {name: names[name] for name in outputs}
        self.input_terms = {v.name: distinct(v.terms, self.term_name) for v in system.inputs}
        self.output_terms = {o.name: distinct(o.terms, self.term_name) for o in system.outputs}

    @abstractmethod
    def text(self, comments: Iterable[str] = ()) -> str:
        """Return the text, comments first; raises `ParameterError` for what the format cannot express."""

    @abstractmethod
    def changes(self) -> list[str]:
        """Return sentences about what is lost or written differently."""

    @abstractmethod
    def term_name(self, name: str) -> str:
        """Return a name as the format can write it."""

    def variable_name(self, name: str) -> str:
        """Return the name of a variable as the format can write it."""
        return self.term_name(name)

    def system_name(self) -> str:
        """Return the name of the system as the format can write it."""
        return self.term_name(self.system.name) if self.system.name else "rules"

    @property
    def variables(self) -> dict[str, str]:
        """The names of inputs and outputs as they are written."""
        return self.inputs | self.outputs

    def terms(self, owner: Variable | Output) -> list[tuple[str, Term]]:
        """Return the terms of a variable with their names as they are written."""
        words = (self.input_terms if isinstance(owner, Variable) else self.output_terms)[owner.name]
        return [(words[name], term) for name, term in owner.terms.items()]

    def premise(self, rule: SystemRule) -> Expression | None:
        """Return the premise of a rule with negations of conditions only; None if there is none."""
        return negations_inside(rule.premise, dual=self.system.s_norm == DUAL.get(self.system.t_norm))

    def operator(self, what: str, ours: str) -> str:
        """Return the word for a T-norm, an S-norm, an implication, an accumulation or a defuzzifier."""
        known = self.words
        words = {"T-norm": known.t_norms, "S-norm": known.s_norms, "implication": known.t_norms}
        words |= {"accumulation": known.accumulations, "defuzzifier": {**known.weighted, **known.defuzzifiers}}
        return word_for(what, ours, words[what], _sentence(self.title))

    def set(self, term: MembershipFunction, names: Mapping[str, str] | None = None) -> tuple[str, list[str]]:
        """Return the word for a set, and its parameters as text; a formula that is a number is computed from names."""
        return write_set(term, self.sets, _sentence(self.title), names)

    def shared_setting(self, name: str, outputs: Iterable[Output]) -> str | None:
        """Return the setting that outputs share; None without outputs."""
        values = {str(getattr(output, name)) for output in outputs}
        if len(values) > 1:
            raise ParameterError(
                f"{_sentence(self.title)} has one {name} for all outputs, these have {listed(sorted(values))}: split "
                "the rules, or save them as .json, .rules or .fll."
            )
        return values.pop() if values else None

    def check_singletons(self) -> None:
        """Raise `ParameterError` if an output has only single numbers, which the format would average."""
        for output in self.system.outputs:
            if output.terms and not output.weighted and all(isinstance(t, Singleton) for t in output.terms.values()):
                raise ParameterError(
                    f"The terms of {output.name!r:.60} are single numbers, which {self.title} averages: use "
                    "defuzzify='average'."
                )

    def error(self, position: int, problem: str) -> ParameterError:
        """Return an error about a rule that cannot be written."""
        return ParameterError(f"Rule {position} cannot be written to {self.title}{problem}")

    # ------------------------------------------------------------------ changes that several formats tell

    def name_changes(self) -> list[str]:
        """Return a sentence about the names that are written differently, if there are any."""
        written = (self.variables, *self.input_terms.values(), *self.output_terms.values())
        changed = {name: word for names in written for name, word in names.items() if name != word}
        pairs = listed(f"{name!r:.60} is written as {word!r:.60}" for name, word in changed.items())
        return [f"Some names have to change: {pairs}."] if changed else []

    def number_changes(self) -> list[str]:
        """Return a sentence about sets of a single number, which other programs know only as triangles."""
        owners: list[Variable | Output] = [*self.system.inputs, *(o for o in self.system.outputs if not o.weighted)]
        names = [
            f"{name!r:.60} of {owner.name!r:.60}"
            for owner in owners
            for name, term in owner.terms.items()
            if isinstance(term, Singleton)
        ]
        return [f"Single numbers are written as triangles without width: {listed(names)}."] if names else []


def number(value: float) -> str:
    """Return a number as text that is read back exactly."""
    return format_number(value, None)


def _sentence(title: str) -> str:
    return title[0].upper() + title[1:]


def register_exchange_format(
    name: str, endings: tuple[str, ...], read: Callable[..., System], writer: type[Writer]
) -> None:
    """Register a format of other programs, which hold systems for single instances."""

    def write(rules: RuleBase) -> tuple[str, list[str]]:
        for position, rule in enumerate(rules.rules, start=1):
            if is_quantified(rule.premise):
                raise ParameterError(
                    f"Rule {position} cannot be written to {writer.title}, which has no quantifiers: it knows single "
                    f"instances, not bags (IF {printer.premise_text(rule.premise):.100}). Save the rules as .json or "
                    ".rules."
                )
        made = writer(system_of(rules))
        made.text()  # raises if the rules cannot be written
        lost = [*_lost_with_bags(rules), *made.changes()]
        return made.text(lost), lost

    register_format(Format(name, writer.title, endings, write, lambda text, *block: rules_of(read(text, *block))))


# ---------------------------------------------------------------------- what is lost


def _lost_with_bags(base: RuleBase) -> list[str]:

    def shown(alpha: float | tuple[float, ...]) -> str:
        return f"{alpha:g}" if isinstance(alpha, float) else "one per rule or output"

    variables = base.all_variables
    lost = ["The format has no bags: other programs infer one instance at a time."]
    if base.aggregation != "max":
        lost.append(
            f"The aggregation over instances (aggregation={base.aggregation!r}, alpha={shown(base.alpha)}) is not "
            "kept: it is read back as aggregation='max'."
        )
    first_order = base.coefs.shape[2] > 1  # constants are the same for all instances
    if first_order and (base.conclusion_aggregation, base.conclusion_alpha) != ("softmax", 1.0):
        own = f"conclusion_aggregation={base.conclusion_aggregation!r}, conclusion_alpha={shown(base.conclusion_alpha)}"
        lost.append(
            f"The aggregation of the instances' linear conclusions ({own}) is not kept: it is read back as "
            "conclusion_aggregation='softmax', conclusion_alpha=1."
        )
    if not base.normalize and any(base.default):
        lost.append("The default, which is added to every output, is written as a rule without conditions.")
    if labels := [f"{rule.label!r:.60}" for rule in base.rules if rule.label]:
        lost.append(f"Labels of rules are not kept: {listed(labels)}.")
    if base.unit is not None:
        lost.append(f"Points are written as what they add: a point is worth {base.unit:g}.")
    if base.comment or any(rule.comment for rule in base.rules) or any(variable.comment for variable in variables):
        lost.append("Comments are not kept.")
    if unsure := [f"{variable.name!r:.60}" for variable in variables if variable.missing_values]:
        lost.append(f"What replaces missing values is not kept: {listed(unsure)}.")
    if units := [f"{variable.name!r:.60} in {variable.unit!r:.60}" for variable in variables if variable.unit]:
        lost.append(f"Units are not kept: {listed(units)}.")
    return [*lost, *codes_of_categories(variables)]


def codes_of_categories(variables: Iterable[Variable]) -> list[str]:
    """Return what the codes of categories mean, which only the names of terms say otherwise."""
    return [
        f"The values of {variable.name!r:.60} are codes of categories: "
        + ", ".join(f"{code} = {name:.60}" for code, name in enumerate(variable.categories))
        + "."
        for variable in variables
        if variable.categories
    ]

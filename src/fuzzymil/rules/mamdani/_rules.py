"""Mamdani rules with the methods that users call: text, JSON, other programs' formats and tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Self, cast

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.membership import Triangular
from fuzzymil.rules import json
from fuzzymil.rules._formats import system, tables
from fuzzymil.rules._formats.system import Method, Output, System
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules._serialization import Serializable
from fuzzymil.rules.language import parser, printer, source
from fuzzymil.rules.language.parsed import Parsed, ParsedRule
from fuzzymil.rules.mamdani._rule_set import PREMISE_SETTINGS, MamdaniRuleSet
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Rule, Variable

_SETTINGS = (*PREMISE_SETTINGS, "implication", "accumulation", "defuzzify", "resolution", "default")


class MamdaniRules(MamdaniRuleSet, Serializable):
    """Fuzzy if-then rules over bags of instances whose conclusions are fuzzy sets: ``IF ... THEN risk is great``.

    Parameters
    ----------
    premises : RuleBase
        Premises and weights of the rules, their variables, and the operators that join conditions (``t_norm``,
        ``s_norm``) and instances (``aggregation``, ``alpha``). Its numeric conclusions are not used.
    outputs : sequence of Variable
        The outputs, each with terms and a range from ``low`` to ``high``.
    conclusions : sequence of mappings
        One mapping of output to term per rule; a rule may omit outputs.
    implication : {"min", "product"}
        Whether the strength of a rule cuts off or scales its conclusion.
    accumulation : {"max", "algebraic", "bounded", "sum"}
        Joins the sets that the rules conclude. ("sum" is unbounded: memberships can exceed 1.)
    defuzzify : {"centroid", "bisector", "mom", "som", "lom"}
        Turns the joined set into a number: centroid or bisector of the area; mean, smallest or largest of the
        values with the highest membership.
    resolution : int
        Number of cells into which the range of an output is divided; sets are evaluated at their midpoints. The error
        of "centroid" and "bisector" decreases with the square of the cell width; the others are exact to half a cell.
    default : sequence of float
        Output for bags whose joined set is empty; a single number applies to all outputs. Default: the middle of
        each range.

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

    _format, _sugeno = "fuzzymil.mamdani", False

    # ------------------------------------------------------------------ text

    def to_text(self, max_terms: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text.

        Parameters
        ----------
        max_terms : int, optional
            Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
        digits : int or None
            Significant digits of weights; None writes them exactly.
        """
        return "\n".join(
            f"Rule {r + 1}: IF {source.premise_text(self.premises, rule, max_terms)} THEN "
            + ", ".join(f"{printer.quoted(name)} is {printer.quoted_term(term)}" for name, term in concluded.items())
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
        declared = [source.declaration("VARIABLE", variable) for variable in self.premises.variables]
        declared += [source.declaration("OUTPUT", output) for output in self.outputs]
        settings = {name: getattr(self.premises if name in PREMISE_SETTINGS else self, name) for name in _SETTINGS}
        return "\n".join([*declared, source.using(settings), self.to_text(digits=None)]) + "\n"

    @classmethod
    def parse(
        cls,
        text: str | Iterable[str],
        inputs: Iterable[Variable] | None = None,
        outputs: Iterable[Variable] | None = None,
        **operators: Any,
    ) -> Self:
        """Parse rules written by hand or by `to_source`.

        Parameters
        ----------
        text : str, or sequence of str
            Rules, and declarations of variables, outputs and operators unless these are passed as arguments.
        inputs, outputs : sequences of Variable, optional
            The variables of the conditions and of the conclusions.
        **operators
            ``t_norm`` (default "min"), ``s_norm``, ``aggregation`` (default "max"), ``alpha``, ``limited``,
            ``implication``, ``accumulation``, ``defuzzify``, ``resolution``, ``default``.

        Raises
        ------
        RuleSyntaxError
            Shows the line, a caret under the character, and what was expected there.
        """
        parsed = parser.read(text, inputs or (), outputs or ())
        source.check_settings(parsed, _SETTINGS, operators, functools.partial(_made, cls, *_EXAMPLE))
        source.check_content(parsed, "output is term")
        conclusions = [_terms(parsed, rule) for rule in parsed.rules]
        parsed.mistakes.check()
        rules = [Rule(rule.premise, [[0.0]], rule.weight) for rule in parsed.rules]
        content = parsed.variables.values(), rules, parsed.outputs.values(), conclusions
        return cast(Self, source.build(functools.partial(_made, cls, *content), parsed, operators))

    # ------------------------------------------------------------------ files and tables

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values that JSON stores exactly."""
        return {
            "premises": self.premises.to_dict(),
            "outputs": [json.encode_variable(output) for output in self.outputs],
            "conclusions": [dict(concluded) for concluded in self.conclusions],
            **{name: getattr(self, name) for name in _SETTINGS if name not in PREMISE_SETTINGS},
            "default": list(self.default),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild rules from `to_dict`; damaged content raises `ModelFileError`."""
        try:
            return cls(
                premises=RuleBase.from_dict(content["premises"]),
                outputs=tuple(json.decode_variable(item) for item in content["outputs"]),
                conclusions=tuple({str(k): str(v) for k, v in item.items()} for item in content["conclusions"]),
                implication=content["implication"],
                accumulation=content["accumulation"],
                defuzzify=content["defuzzify"],
                resolution=content["resolution"],
                default=tuple(map(storage.decode_number, content["default"])),
            )
        except ModelFileError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
            raise ModelFileError(storage.damaged("The rules in this file", problem)) from None

    def _parts(self) -> tuple[RuleSet, tuple[Variable, ...]]:
        return self.premises, self.outputs

    def _system(self) -> System:
        outputs = [
            Output(output.name, output.terms, output.low, output.high, value)
            for output, value in zip(self.outputs, self.default, strict=True)
        ]
        method = Method(
            sugeno=False,
            implication=self.implication,
            accumulation=self.accumulation,
            defuzzify=self.defuzzify,
            resolution=self.resolution,
        )
        return system.from_rules(self.premises, outputs, self.conclusions, method)

    @classmethod
    def _from_fields(cls, content: System) -> Self:
        premises, fields = system.to_mamdani(content)
        return cls(premises=RuleBase(**premises), **fields)

    def _conclusion_columns(self, max_terms: int | None, digits: int | None) -> tables.Conclusions:
        def cell(output: Variable, term: str | None) -> str:
            return tables.condition(None if term is None else Is(output.name, term), output, digits)

        rows = [[cell(output, said.get(output.name)) for output in self.outputs] for said in self.conclusions]
        return tables.Conclusions([output.title for output in self.outputs], rows)


# A smallest rule base, to try out settings.
_EXAMPLE = [Variable("x")], [Rule({}, [[0.0]])], [Variable("y", {"any": Triangular(0, 1, 2)}, 0, 2)], [{"y": "any"}]


def _made(
    cls: type[MamdaniRules],
    variables: Iterable[Variable],
    rules: Iterable[Rule],
    outputs: Iterable[Variable],
    conclusions: Iterable[Mapping[str, str]],
    **settings: Any,
) -> MamdaniRules:
    settings = {"t_norm": "min", "aggregation": "max"} | settings
    of_premises = {name: settings.pop(name) for name in PREMISE_SETTINGS if name in settings}
    premises = RuleBase(variables=tuple(variables), rules=tuple(rules), **of_premises)
    return cls(premises=premises, outputs=tuple(outputs), conclusions=tuple(conclusions), **settings)


def _terms(parsed: Parsed, rule: ParsedRule) -> dict[str, str]:
    """Return the term that a rule concludes for each output."""
    found = {}
    for name, said in rule.conclusions.items():
        if isinstance(said, str):
            found[name] = said
        elif said is not None:
            parsed.mistakes.add(
                rule.place,
                f"{name!r:.60} is set to a number, which makes this a Sugeno rule (use MISugeno). A Mamdani rule "
                f"concludes a term, for example '{printer.quoted(name)} is likely'.",
            )
    return found

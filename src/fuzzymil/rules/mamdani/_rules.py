"""Mamdani rules with the methods that users call: text, JSON, other programs' formats and tables."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Self, cast

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.inference.membership import Ramp
from fuzzymil.rules import editing, json
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules._serialization import Serializable
from fuzzymil.rules.cards import SHOWN
from fuzzymil.rules.language import parser, printer, source
from fuzzymil.rules.language.parsed import Parsed, ParsedRule
from fuzzymil.rules.mamdani._cards import mamdani_cards
from fuzzymil.rules.mamdani._conversion import from_additive
from fuzzymil.rules.mamdani._rule_set import PER_OUTPUT, PREMISE_SETTINGS, MamdaniRuleSet
from fuzzymil.rules.premise import Is
from fuzzymil.rules.rule import Rule, Variable

_SETTINGS = (*PREMISE_SETTINGS, *PER_OUTPUT, "default", "activation")


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
        One mapping of output to term per rule; a rule may omit outputs. ``Is("risk", "great", ("very",))`` instead of
        a term modifies the strength with which the rule concludes it by hedges (``risk is very great``).
    implication : str
        How the strength of a rule limits its conclusion: "min" cuts it off, "product" scales it down; any other
        T-norm is possible.
    accumulation : str
        Joins the sets that the rules conclude: "max", another S-norm, or "sum", which is unbounded.
    defuzzify : {"centroid", "bisector", "mom", "som", "lom", "average", "sum"}
        Turns the joined set into a number: centroid or bisector of the area; mean, smallest or largest of the
        values with the highest membership. "average" and "sum" instead weight one number per term, a `Singleton`, or
        Tsukamoto's value of a set that only rises or falls, with the strengths of its rules, which ``accumulation``
        joins.
    resolution : int
        Number of cells into which the range of an output is divided; sets are evaluated at their midpoints. The error
        of "centroid" and "bisector" decreases with the square of the cell width; the others are exact to half a cell.
    default : sequence of float
        Output for bags whose joined set is empty; a single number applies to all outputs. Default: the middle of
        each range.
    sampling : {"cells", "points"}
        Whether sets are evaluated in the middle of cells, or at ``resolution`` points that include both ends (MATLAB).
    clip : bool
        Whether averages and sums are limited to the range of the output.
    hold : bool
        Whether a bag that no rule concludes anything about takes the value of the bag before it. The order of the bags
        then matters.
    activation : str
        Which rules take part: "general" (all), "first 1 0", "last 1 0", "highest 1", "lowest 1", "proportional" or
        "threshold >= 0.5", with numbers of your choice; see `fuzzymil.rules.activation`.

    Notes
    -----
    ``implication``, ``accumulation``, ``defuzzify``, ``resolution``, ``sampling``, ``clip`` and ``hold`` may have one
    value per output: ``defuzzify=("centroid", "average")``.

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

    _format = "fuzzymil.mamdani"

    edit = editing.edit_mamdani
    over = editing.over_mamdani
    simplify = editing.simplify
    diagnose = editing.diagnose
    diff = editing.diff

    # ------------------------------------------------------------------ text

    def to_text(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text.

        Parameters
        ----------
        max_conditions : int, optional
            Show only this many conditions per rule, the most selective ones (narrow relative to the variable's range).
        digits : int or None
            Significant digits of weights; None writes them exactly.
        """
        titles = (source.title(rule, r) for r, rule in enumerate(self.rules))
        statements = self.statements(max_conditions, digits)
        return "\n".join(f"{title}: {said}" for title, said in zip(titles, statements, strict=True))

    def statements(self, max_conditions: int | None = None, digits: int | None = 4) -> list[str]:
        """Return each rule as text, without its number or label; the parameters are those of `to_text`."""
        return [
            f"IF {source.premise_text(self.premises, rule, max_conditions)} THEN {self.concluded_text(r)}"
            + printer.with_weight(rule.weight, digits)
            for r, rule in enumerate(self.rules)
        ]

    def describe_terms(self, digits: int = 4) -> str:
        """Return the definition of every term, one line per variable, the outputs last.

        Examples
        --------
        >>> rules = MamdaniRules.parse('''
        ... VARIABLE depth: shallow = Gaussian(0, 0.25)
        ... OUTPUT risk FROM 0 TO 1: great = Triangular(0.5, 1, 1.5)
        ... IF depth is shallow THEN risk is great
        ... ''')
        >>> print(rules.describe_terms())
        depth: shallow = Gaussian(0, 0.25)
        risk: great = Triangular(0.5, 1, 1.5)
        """
        return printer.described([*self.premises.variables, *self.outputs], digits)

    def concluded_text(self, rule: int) -> str:
        """Return the conclusion of a rule, counted from 0, as text: ``risk is great``."""
        return ", ".join(_concluded(name, said) for name, said in self.conclusions[rule].items())

    def _cards(self) -> str:
        concluded = [self.concluded_text(r) for r in range(self.n_rules)]
        return mamdani_cards(self, self.statements(SHOWN), concluded)

    def to_source(self) -> str:
        """Return everything as text that `parse` reads back exactly: terms, operators and rules.

        Examples
        --------
        >>> from fuzzymil.inference.membership import Triangular
        >>> speed = Variable("speed", {"any": Triangular(0, 1, 2)}, 0, 2)
        >>> rules = MamdaniRules.parse("IF anything THEN speed is any", [Variable("hue")], [speed])
        >>> MamdaniRules.parse(rules.to_source()) == rules
        True
        """
        declared = [source.declaration("VARIABLE", variable) for variable in self.premises.variables]
        declared += [source.declaration("OUTPUT", output) for output in self.outputs]
        settings = {name: getattr(self.premises if name in PREMISE_SETTINGS else self, name) for name in _SETTINGS}
        lines = self.to_text(digits=None).split("\n")
        return source.written(self.premises.comment, [*declared, source.using(settings)], self.premises.rules, lines)

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
            and the settings of `MamdaniRules`.

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
        rules = [Rule(rule.premise, [[0.0]], rule.weight, rule.label, rule.comment) for rule in parsed.rules]
        content = parsed.variables.values(), rules, parsed.outputs.values(), conclusions
        make = functools.partial(_made, cls, *content, comment=parsed.comment)
        return cast(Self, source.build(make, parsed, operators))

    @classmethod
    def from_additive(cls, rules: RuleBase, **settings: Any) -> Self:
        """Return Mamdani rules that decide as additive rules do.

        A rule that raises an output concludes *positive*, one that lowers it *negative*, with a weight in proportion to
        what it adds; the default becomes a rule about every bag. Sets are scaled (``implication="product"``) and added
        (``accumulation="sum"``), so that the output is above one half exactly where the sum is above 0.

        Parameters
        ----------
        rules : RuleBase
            Additive rules (``normalize=False``) without slopes, such as those that `MIANFISClassifier` chooses.
        **settings
            As in `MamdaniRules`.

        Examples
        --------
        >>> score = RuleBase.parse('''
        ... VARIABLE hue: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
        ... Default: sky = -1
        ... IF SOME hue is blue THEN sky += 4
        ... IF SOME hue is red THEN sky -= 2
        ... ''')
        >>> rules = MamdaniRules.from_additive(score)
        >>> print(rules)
        Rule 1: IF hue is blue THEN sky is positive
        Rule 2: IF hue is red THEN sky is negative WITH 0.5
        Rule 3: IF anything THEN sky is negative WITH 0.25
        >>> bags = [[[0.6]], [[0.1]], [[0.6], [0.1]], [[0.9]]]
        >>> (rules.infer(bags).output > 0.5).ravel().tolist(), (score.infer(bags).output > 0).ravel().tolist()
        ([True, False, True, False], [True, False, True, False])
        """
        return cls(**({"implication": "product", "accumulation": "sum"} | settings | from_additive(rules)))

    # ------------------------------------------------------------------ JSON

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values that JSON stores exactly."""
        return {
            "premises": self.premises.to_dict(),
            "outputs": [json.encode_variable(output) for output in self.outputs],
            "conclusions": [
                {name: [said.term, *said.hedges] if isinstance(said, Is) else said for name, said in concluded.items()}
                for concluded in self.conclusions
            ],
            **{name: _listed(getattr(self, name)) for name in _SETTINGS if name not in PREMISE_SETTINGS},
            "default": list(self.default),
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild rules from `to_dict`; damaged content raises `ModelFileError`."""
        try:
            settings: dict[str, Any] = {
                name: tuple(content[name]) if isinstance(content[name], list) else content[name]
                for name in (*PER_OUTPUT, "activation")
                if name in _SINCE_THE_FIRST or name in content
            }
            return cls(
                premises=RuleBase.from_dict(content["premises"]),
                outputs=tuple(json.decode_variable(item) for item in content["outputs"]),
                conclusions=tuple(
                    {str(name): _decoded(str(name), said) for name, said in item.items()}
                    for item in content["conclusions"]
                ),
                default=tuple(map(storage.decode_number, content["default"])),
                **settings,
            )
        except ModelFileError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
            raise ModelFileError(storage.damaged("The rules in this file", problem)) from None

    def _parts(self) -> tuple[RuleSet, tuple[Variable, ...]]:
        return self.premises, self.outputs


# A smallest rule base, to try out settings.
_EXAMPLE = [Variable("x")], [Rule({}, [[0.0]])], [Variable("y", {"any": Ramp(0, 2)}, 0, 2)], [{"y": "any"}]


def _made(
    cls: type[MamdaniRules],
    variables: Iterable[Variable],
    rules: Iterable[Rule],
    outputs: Iterable[Variable],
    conclusions: Iterable[Mapping[str, str | Is]],
    comment: str = "",
    **settings: Any,
) -> MamdaniRules:
    settings = {"t_norm": "min", "aggregation": "max"} | settings
    of_premises = {name: settings.pop(name) for name in PREMISE_SETTINGS if name in settings}
    premises = RuleBase(variables=tuple(variables), rules=tuple(rules), comment=comment, **of_premises)
    return cls(premises=premises, outputs=tuple(outputs), conclusions=tuple(conclusions), **settings)


_SINCE_THE_FIRST = ("implication", "accumulation", "defuzzify", "resolution")
"""Settings that files of every version have."""


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _decoded(name: str, said: object) -> str | Is:
    """Return a conclusion as `MamdaniRules.to_dict` writes it: a term, or a list of it and its hedges."""
    if not isinstance(said, list):
        return str(said)
    term, *hedges = map(str, said)
    return Is(name, term, tuple(hedges))


def _concluded(name: str, said: str | Is) -> str:
    hedges, term = (said.hedges, said.term) if isinstance(said, Is) else ((), said)
    return " ".join((printer.quoted(name), "is", *hedges, printer.quoted_term(term)))


def _terms(parsed: Parsed, rule: ParsedRule) -> dict[str, str | Is]:
    """Return the term that a rule concludes for each output."""
    found: dict[str, str | Is] = {}
    for name, said in rule.conclusions.items():
        if isinstance(said, str | Is):
            found[name] = said
        elif said is not None:
            parsed.mistakes.add(
                rule.place,
                f"{name!r:.60} is set to a number, which makes this a Sugeno rule (use MISugeno). A Mamdani rule "
                f"concludes a term, for example '{printer.quoted(name)} is likely'.",
            )
    return found

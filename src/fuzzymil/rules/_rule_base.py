"""The rule base: one immutable, readable value that is the model.

It has variables with named terms (fuzzy sets), rules over them, and the operators that join them. An expert can
write one, clustering proposes one, and training improves one; the same value is used for inference, printed,
edited, saved and plotted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import numbers
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils import html, storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, described, known_name, listed
from fuzzymil._utils.registry import package_above
from fuzzymil._utils.text import check_characters, quantity
from fuzzymil._version import __version__
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.conclusions import SAMPLINGS
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.inference.membership import Formula, Singleton
from fuzzymil.inference.norms import DUAL, S_NORMS, T_NORMS
from fuzzymil.rules import activations, conversion, editing, json
from fuzzymil.rules import compile as arrays
from fuzzymil.rules import points as scoring
from fuzzymil.rules.cards import rules_html
from fuzzymil.rules.conclusion import SETTINGS, WEIGHTED, Defuzzification, check_output, number_of_term, range_of
from fuzzymil.rules.language import printer, source
from fuzzymil.rules.premise import Arrangement, Is, Part, arrange, conditions, parts_of
from fuzzymil.rules.rule import MISSING, Rule, Variable, tidy

_LINES = 40  # of rules, when they are shown without being printed


@dataclasses.dataclass(frozen=True, repr=False)
class RuleBase:
    """Fuzzy if-then rules over bags of instances.

    Create one with `parse` from text, with `from_arrays`, by training, or with `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of Variable, or of str
        The outputs, by name; those of which rules conclude sets with terms and a range from ``low`` to ``high``.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule by AND (Layer 2).
    aggregation : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag (Layer 3) in premises without quantifiers; see `Quantified`.
    alpha : float, or one per rule
        Sharpness of a soft ``aggregation``: 0 is the mean, +inf the maximum over instances.
    conclusion_aggregation : {"softmax", "mean", "max", "min"}
        Joins the linear responses of the instances (Layer 5, first order).
    conclusion_alpha : float, or one per output
        Sharpness of ``conclusion_aggregation="softmax"``.
    normalize : bool
        Whether strengths are divided by their sum (Layer 4), so that the output is a weighted mean of the conclusions.
        If not, the rules are *additive*: the output is the default plus the sum of strength times conclusion.
    default : sequence of float
        Of additive rules, what their conclusions are added to; of others, the output for bags on which every rule is
        exactly zero, or NaN: then there is no answer. A single number applies to all outputs. Default: zeros; of rules
        that conclude sets, the middle of each range.
    limited : bool
        Whether values are clipped to the range of their variable (``low`` to ``high``).
    s_norm : {"algebraic", "max", "bounded", "hamacher", "einstein"}, optional
        Joins conditions by OR. Default: the dual of ``t_norm``.
    defuzzification : Defuzzification, optional
        How the sets that rules conclude become numbers; None if they conclude numbers.
    unit : float, optional
        What a point is worth, if additive rules for one output conclude whole points, as on an index card; see
        `score_table`. Rules that do not, or no longer, have none.
    name : str
        What the author calls the rules as a whole, as other programs' files do.
    comment : str
        What the author noted about the rules as a whole. Rules and variables have comments of their own, and rules
        labels; all of them survive training and editing, and are kept in text and JSON.

    Examples
    --------
    >>> rules = RuleBase.from_arrays(
    ...     centers=[[0.0, 0.0], [1.0, 1.0]], widths=[[0.3, 0.3], [0.3, 0.3]], coefs=[0.0, 1.0],
    ...     feature_names=["hue", "texture"], output_names=["sky"])
    >>> print(rules)
    Rule 1: IF hue is low AND texture is low THEN sky = 0
    Rule 2: IF hue is high AND texture is high THEN sky = 1
    >>> rules.infer([[[0.0, 0.1]], [[0.2, 0.0], [1.0, 0.9]]]).output.round(2).tolist()
    [[0.0], [0.55]]
    """

    variables: tuple[Variable, ...]
    rules: tuple[Rule, ...]
    outputs: tuple[Variable, ...] = (Variable("y"),)
    t_norm: str = "product"
    aggregation: str = "softmax"
    alpha: float | tuple[float, ...] = 1.0
    conclusion_aggregation: str = "softmax"
    conclusion_alpha: float | tuple[float, ...] = 1.0
    normalize: bool = True
    default: tuple[float, ...] = ()
    limited: bool = False
    s_norm: str = ""
    defuzzification: Defuzzification | None = None
    unit: float | None = None
    name: str = dataclasses.field(default="", compare=False)  # for readers only, as is the comment
    comment: str = dataclasses.field(default="", compare=False)

    # ------------------------------------------------------------------ constructors

    @classmethod
    def parse(
        cls,
        text: str | Iterable[str],
        variables: Iterable[Variable] | None = None,
        outputs: Iterable[Variable] | None = None,
        **operators: Any,
    ) -> RuleBase:
        """Parse rules written by hand or by `to_source`.

        Parameters
        ----------
        text : str, or sequence of str
            Rules, and declarations of variables, outputs and operators unless these are passed as arguments.
        variables : sequence of Variable, optional
            The variables that the rules refer to.
        outputs : sequence of Variable, optional
            Outputs with terms that the rules conclude: ``THEN risk is great``.
        **operators
            ``t_norm``, ``s_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``,
            ``normalize``, ``default``, ``limited``, unless the text states them (``USING t_norm = min``). Default: as
            in `RuleBase`, but ``aggregation="max"`` if no ``alpha`` is stated, because an expert's rule about an
            instance is meant to hold if some instance satisfies it. `to_source` states all operators.

            Of rules that conclude sets, also the settings of `Defuzzification`; ``t_norm`` is then "min" by default.

        Raises
        ------
        RuleSyntaxError
            Shows the line, a caret under the character, and what was expected there.

        Examples
        --------
        >>> rules = RuleBase.parse('''
        ... VARIABLE hue FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
        ... VARIABLE texture: smooth = Gaussian(0, 0.3)
        ... IF hue is blue AND texture is smooth THEN sky = 1    # the sky is blue and smooth
        ... IF hue is not blue THEN sky = 0
        ... ''')
        >>> rules.infer([[[0.6, 0.1], [0.1, 0.9]]]).output.round(2).tolist()
        [[0.49]]
        """
        return source.parse(cls, text, variables, outputs, **operators)

    @classmethod
    def from_arrays(
        cls,
        centers: npt.ArrayLike,
        widths: npt.ArrayLike,
        coefs: npt.ArrayLike,
        *,
        feature_names: Iterable[str] | None = None,
        output_names: Iterable[str] | None = None,
        ranges: npt.ArrayLike | None = None,
        **operators: Any,
    ) -> RuleBase:
        """Create conjunctions of Gaussian sets from arrays, in the user's units.

        Parameters
        ----------
        centers, widths : arrays of shape (n_rules, n_features)
        coefs : array of shape (n_rules,), (n_rules, n_outputs, 1) or (n_rules, n_outputs, 1 + n_features)
            Constant first.
        feature_names, output_names : sequences of str, optional
        ranges : array of shape (n_features, 2), optional
            Range of the data, to which *low*, *medium* and *high* refer. Default: the range of the centers.
        **operators
            ``t_norm``, ``aggregation``, ``alpha``, ``conclusion_aggregation``, ``conclusion_alpha``,
            ``normalize``, ``default``.

        Examples
        --------
        >>> print(RuleBase.from_arrays(centers=[[0.0], [1.0]], widths=[[0.3], [0.3]], coefs=[0, 1]))
        Rule 1: IF x1 is low THEN y = 0
        Rule 2: IF x1 is high THEN y = 1
        """
        names: dict[str, Any] = {"feature_names": feature_names, "output_names": output_names, "ranges": ranges}
        return arrays.from_arrays(cls, centers, widths, coefs, **names, **operators)

    @classmethod
    def from_sets(
        cls, sets: Mapping[str, tuple[Array, ...]], masks: Mapping[str, Array], coefs: Array, **settings: Any
    ) -> RuleBase:
        """Create a rule base from the network's arrays; the inverse of `compile`.

        ``sets``: by family, one array (n_rules, n_features) for each of its parameters. ``masks`` (n_rules,
        n_features): by family, 1 where a rule has a set of it. ``coefs`` (n_rules, n_outputs, 1 or 1 + n_features).
        ``**settings``: as in `from_arrays`.
        """
        return arrays.from_sets(cls, sets, masks, coefs, **settings)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RuleBase:
        """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`.

        Examples
        --------
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> RuleBase.from_dict(rules.to_dict()) == rules
        True
        """
        return json.from_dict(cls, content)

    # ------------------------------------------------------------------ checks

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        for field in ("variables", "rules"):
            put(field, tuple(getattr(self, field)))
        put("outputs", tuple(each if isinstance(each, Variable) else Variable(str(each)) for each in self.outputs))
        for field in ("alpha", "conclusion_alpha"):
            value = _numbers(field, getattr(self, field))
            put(field, value if np.ndim(getattr(self, field)) else value[0])
        for field in ("normalize", "limited"):
            put(field, _boolean(field, getattr(self, field)))
        known_name("t_norm", self.t_norm, T_NORMS)
        put("s_norm", self.s_norm or dual_of(self.t_norm))
        put("comment", tidy(self.comment))
        names = *self.output_names, self.name, self.comment
        check_characters("The name of an output or of the rules, or the comment", *names, error=ParameterError)
        asked = {each.variable for rule in self.rules for each in rule.conditions if each.term == MISSING}
        put("variables", tuple(variable.asked_if_missing(variable.name in asked) for variable in self.variables))
        if self.concludes_sets:
            put("defuzzification", (self.defuzzification or Defuzzification()).of_outputs(len(self.outputs)))
        put("default", self._checked_default())
        self._check()
        self._check_sets() if self.concludes_sets else self._check_numbers()
        if self.unit is None:
            return
        if not isinstance(self.unit, numbers.Real) or isinstance(self.unit, bool) or not 0 < self.unit < math.inf:
            raise ParameterError(f"unit must be a number above 0, the worth of a point, got {self.unit!r:.100}.")
        unit, whole = float(self.unit), scoring.whole_points(self, float(self.unit))
        put("unit", None if whole is None else unit)
        if whole is not None:  # sums of conclusions may be rounded
            put("rules", tuple(rule.concluding([[unit * n]]) for rule, n in zip(self.rules, whole, strict=True)))

    def _checked_default(self) -> tuple[float, ...]:
        found = _numbers("default", self.default)
        if not found and self.concludes_sets:
            found = self._middles
        if not found or np.ndim(self.default) == 0:
            found = (found or (0.0,)) * len(self.outputs)
        if len(found) != len(self.outputs):
            raise ParameterError(f"default must have {len(self.outputs)} value(s), got {len(found)}.")
        if np.isinf(found).any() or (np.isnan(found).any() and not self.normalize):
            need = "finite, or NaN for no answer" if self.normalize else "finite"
            raise ParameterError(f"default must be {need}, got {', '.join(map(str, found))}.")
        return tuple(math.nan if math.isnan(value) else value for value in found)  # one NaN, which equals itself

    def _check(self) -> None:
        known_name("s_norm", self.s_norm, S_NORMS)
        known_name("aggregation", self.aggregation, AGGREGATIONS)
        known_name("conclusion_aggregation", self.conclusion_aggregation, COMBINERS)
        for name, count, each in (("alpha", self.n_rules, "rule"), ("conclusion_alpha", len(self.outputs), "output")):
            value = getattr(self, name)
            if np.isnan(value).any():
                raise ParameterError(f"{name} must be a number (0 is the mean, inf the maximum), got NaN.")
            if isinstance(value, tuple) and (len(value) != count or np.isinf(value).any()):
                expected = f"one number, or a finite one per {each} ({count})"
                raise ParameterError(f"{name} must be {expected}, got {value!r:.100}.")
        if not self.variables or not self.rules or not self.outputs:
            raise ParameterError("A rule base needs at least one variable, one rule and one output.")
        if len(set(self.output_names)) < len(self.outputs):
            raise ParameterError(f"Two outputs have the same name, got {listed(self.output_names)}.")
        for variable in self.variables:
            variable.check_sets()
        terms = {variable.name: variable.terms for variable in self.variables}
        if len(terms) < len(self.variables):
            raise ParameterError(f"Two variables have the same name, got {listed(self.feature_names)}.")
        for position, rule in enumerate(self.rules, start=1):
            for condition in conditions(rule.premise):
                name = condition.variable
                known_name("variable", name, terms, f"in rule {position}")
                known_name("term", condition.term, terms[name], f"of {name!r} in rule {position}")

    def _check_numbers(self) -> None:
        """Check conclusions that are numbers or linear functions."""
        if self.defuzzification is not None:
            raise ParameterError("These rules conclude numbers, which are not defuzzified: omit defuzzification.")
        if any(output.terms for output in self.outputs):
            raise ParameterError("These rules conclude numbers, but an output has terms: conclude terms, or omit them.")
        first, n_outputs, most = self.rules[0].coefs, len(self.outputs), 1 + self.n_features
        n_coefs = len(first[0]) if first else 0
        for position, rule in enumerate(self.rules, start=1):
            if rule.terms:
                raise ParameterError(f"Rule {position} concludes a term of an output, but rule 1 concludes a number.")
            if [len(row) for row in rule.coefs] != [n_coefs] * n_outputs or n_coefs not in (1, most):
                each = f"for each of {n_outputs} output(s), as many as the other rules"
                raise ParameterError(f"Rule {position} must have 1 or {most} coefficients {each}.")
            if not np.isfinite(rule.coefs).all():
                raise ParameterError(f"Rule {position} has a coefficient that is not finite.")

    def _check_sets(self) -> None:
        """Check conclusions that are terms of outputs."""
        for name, value in (("conclusion_aggregation", "softmax"), ("conclusion_alpha", 1.0), ("normalize", True)):
            if getattr(self, name) != value:
                raise ParameterError(f"{name} is about rules that conclude numbers, but these conclude sets: omit it.")
        terms = {output.name: output.terms for output in self.outputs}
        for position, rule in enumerate(self.rules, start=1):
            if rule.coefs:
                raise ParameterError(f"Rule {position} concludes a number, but rule 1 concludes a term of an output.")
            if not rule.terms:
                raise ParameterError(f"Rule {position} has no conclusion.")
            for name, said in rule.terms.items():
                known_name("output", name, terms, f"in rule {position}")
                known_name("term", said.term, terms[name], f"of {name!r} in rule {position}")
            if rule.weight > 1 and not all(self._takes_above_one(said) for said in rule.terms.values()):
                which = f"rule {position}, which concludes a set,"
                advice = "unless sets are cut or scaled (min, product) and joined by max or sum, without hedges"
                raise ParameterError(f"The weight of {which} must be at most 1, got {rule.weight:g}, {advice}.")
        for k, output in enumerate(self.outputs):
            check_output(output, self.setting("defuzzify", k), [*self.feature_names, *self.output_names[:k]])

    def _takes_above_one(self, said: Is) -> bool:
        """Return whether a conclusion has a meaning with a strength above 1."""
        k = self.place_of(said.variable)
        plain = not said.hedges and self.setting("accumulation", k) in ("max", "sum")
        if self.setting("defuzzify", k) in WEIGHTED:
            return plain and isinstance(self.outputs[k].terms[said.term], Singleton | Formula)
        return plain and self.setting("implication", k) in ("min", "product")

    # ------------------------------------------------------------------ facts

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

    @functools.cached_property
    def texts(self) -> tuple[list[str], list[str]]:
        """The text of each rule and of each part; every explanation of a bag quotes them."""
        return source.statements(self), [printer.premise_text(part.expression) for part in self.parts]

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.rules)

    @property
    def n_features(self) -> int:
        """Number of variables."""
        return len(self.variables)

    @functools.cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @functools.cached_property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(output.name for output in self.outputs)

    @property
    def all_variables(self) -> tuple[Variable, ...]:
        """The variables, and the outputs if rules conclude sets of them."""
        return (*self.variables, *self.outputs) if self.concludes_sets else self.variables

    @property
    def coefs(self) -> Array:
        """Conclusions as coefficients, shape (n_rules, n_outputs, 1 or 1 + n_features), constant first.

        Of rules that conclude sets: the center of the concluded set within the range of its output (of a weighted
        average, the number of the term at full strength), or the default of an output that a rule says nothing about.
        """
        if not self.concludes_sets:
            return np.array([rule.coefs for rule in self.rules])
        numbers, default = [self.typical_numbers(k) for k in range(len(self.outputs))], self.with_answers().default
        return np.array(
            [[[own.get(r, d)] for own, d in zip(numbers, default, strict=True)] for r in range(self.n_rules)]
        )

    @property
    def _middles(self) -> tuple[float, ...]:
        return tuple(((output.low or 0.0) + (output.high or 0.0)) / 2 for output in self.outputs)

    @property
    def points(self) -> tuple[int, ...] | None:
        """What each rule concludes in points, if the rules have a ``unit``."""
        return None if self.unit is None else scoring.whole_points(self, self.unit)

    # ------------------------------------------------------------------ conclusions that are sets

    @property
    def concludes_sets(self) -> bool:
        """Whether rules conclude fuzzy sets, terms of the outputs; otherwise they conclude numbers."""
        return bool(self.rules) and isinstance(self.rules[0].conclusions, Mapping)

    def setting(self, name: str, output: int | str) -> Any:
        """Return a setting of one output: implication, accumulation, defuzzify, resolution, sampling, clip or hold."""
        value = getattr(self.defuzzification, name)
        return value[self.place_of(output)] if isinstance(value, tuple) else value

    def place_of(self, output: int | str) -> int:
        """Return the index of an output, given by name or index."""
        if isinstance(output, str):
            known_name("output", output, self.output_names)
            return self.output_names.index(output)
        return range(len(self.outputs))[output]

    def values_of(self, output: int | str = 0) -> Array:
        """Return the values of an output at which its sets are evaluated, shape (resolution,)."""
        sample = SAMPLINGS[self.setting("sampling", output)]
        return sample(*range_of(self.outputs[self.place_of(output)]), self.setting("resolution", output))

    def rules_by_term(self, output: int | str = 0) -> dict[str, list[int]]:
        """Return, for each term of an output, the indices of the rules that conclude it."""
        variable = self.outputs[self.place_of(output)]
        found: dict[str, list[int]] = {term: [] for term in variable.terms}
        for r, rule in enumerate(self.rules):
            if variable.name in rule.terms:
                found[rule.terms[variable.name].term].append(r)
        return found

    def typical_numbers(self, output: int | str = 0) -> dict[int, float]:
        """Return the number that stands for the conclusion of each rule about an output; see `coefs`."""
        k, method = self.place_of(output), self.setting("defuzzify", output)
        values = None if method in WEIGHTED else self.values_of(k)
        found: dict[int, float] = {}
        default = self.with_answers().default[k]
        for term, concluding in self.rules_by_term(k).items():
            if concluding:
                number = number_of_term(self.outputs[k], term, method, values, default)
                found |= dict.fromkeys(concluding, number)
        return found

    # ------------------------------------------------------------------ changed copies

    def with_settings(self, **settings: Any) -> RuleBase:
        """Return the rules with other operators: those of the rule base, and of its `Defuzzification`, by name.

        The S-norm follows the T-norm if it is its dual.

        Examples
        --------
        >>> from fuzzymil.rules import RuleBase
        >>> RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).with_settings(t_norm="min").t_norm
        'min'
        """
        if own := {name: settings.pop(name) for name in SETTINGS if name in settings}:
            if self.defuzzification is None:
                raise ParameterError(f"These rules conclude numbers, for which there is no {next(iter(own))}.")
            settings["defuzzification"] = dataclasses.replace(self.defuzzification, **own)
        if "t_norm" in settings and self.s_norm == DUAL[self.t_norm]:
            settings.setdefault("s_norm", "")
        return dataclasses.replace(self, **settings) if settings else self

    def with_answers(self) -> RuleBase:
        """Return the rules with a number as default wherever it is NaN: the middle of the output's range, or 0."""
        if not np.isnan(self.default).any():
            return self
        both = zip(self.default, self._middles, strict=True)
        return dataclasses.replace(self, default=tuple(mid if math.isnan(own) else own for own, mid in both))

    def ignoring_missing_values(self) -> RuleBase:
        """Return the rules without what missing values stand for: one then satisfies every condition."""
        if not any(variable.missing_values for variable in self.variables):
            return self
        variables = (dataclasses.replace(v, terms=v.declared_terms, missing_values=()) for v in self.variables)
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

    @functools.cached_property
    def _compiled(self) -> tuple[Params, Masks, Operators]:
        return arrays.compiled(self)

    # ------------------------------------------------------------------ methods
    # The functions of this package that work on rules are the methods themselves, documented where they are defined.

    infer = activations.infer
    compile = arrays.compiled
    with_numbers = arrays.with_numbers
    edit = editing.edit
    over = editing.over
    to_sugeno = conversion.to_sugeno
    to_mamdani = conversion.to_mamdani
    simplify = editing.simplify
    diagnose = editing.diagnose
    diff = editing.diff
    score_table = scoring.score_table
    to_text = source.to_text
    to_source = source.to_source
    statements = source.statements
    concluded_text = source.concluded_text
    describe_terms = source.describe_terms
    to_dict = json.to_dict

    @property
    def centers(self) -> Array:
        """Most typical value of each set, shape (n_rules, n_features); NaN for don't-care."""
        return arrays.summary(self, "peak")

    @property
    def widths(self) -> Array:
        """Spread of each set, shape (n_rules, n_features), a Gaussian's standard deviation; NaN for don't-care."""
        return arrays.summary(self, "spread")

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return self.to_text(max_conditions=None if self.n_features <= 12 else 8)

    def __repr__(self) -> str:
        lines = str(self).splitlines()
        more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
        facts = f"{quantity(self.n_rules, 'rule')}, {quantity(self.n_features, 'feature')}"
        return "\n".join([f"{type(self).__name__}({facts})", *lines[:_LINES], *more])

    def _repr_html_(self) -> str:
        return html.fragment(rules_html(self))

    def save(self, path: storage.Path_) -> None:
        """Write the rules as JSON; if that fails, an existing file stays intact.

        Examples
        --------
        >>> import tempfile
        >>> from fuzzymil.rules import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     RuleBase.load(f"{folder}/rules.json") == rules
        True
        """
        _check_ending(path, "save writes JSON", "write_rules(rules, path)")
        content = {"library": __version__, **self.to_dict()}
        storage.write_document(path, json.FORMAT, json.VERSIONS[json.FORMAT], content)

    @classmethod
    def load(cls, path: storage.Path_) -> RuleBase:
        """Read rules written by `save`; nothing in the file is executed."""
        _check_ending(path, "load reads JSON", "read_rules(path)")
        return cls.from_dict(storage.read_document(path, json.VERSIONS))

    def studio(self, bags: Any = None) -> Any:
        """Open the rule studio in a notebook: see, drag, write and train these rules.

        Outside notebooks, use ``fuzzymil studio`` on the command line.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts, optional

        Returns
        -------
        StudioWidget
            Shows the studio where it is displayed; its ``rules`` are the rules as they are now. Requires anywidget:
            ``pip install "fuzzymil[notebook]"``.
        """
        return package_above("fuzzymil.studio.widget").show(self, bags)


def dual_of(t_norm: str) -> str:
    """Return the name of the S-norm that belongs to a T-norm."""
    if t_norm not in DUAL:
        raise ParameterError(f"The T-norm {t_norm!r} has no dual S-norm: set s_norm to one of {listed(S_NORMS)}.")
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


def _check_ending(path: storage.Path_, does: str, instead: str) -> None:
    """Raise `ParameterError` if the name of a file says that it holds another format."""
    ending = Path(path).suffix.lower()
    if ending not in ("", ".json"):
        raise ParameterError(f"{does}, and {ending} means another format: use fuzzymil.rules.files.{instead}.")

"""The rule base: one immutable, readable value that is the model.

Variables with named terms (fuzzy sets), rules over them, and the operators that join them. An
expert can write one, clustering proposes one, training takes one and returns a better one; the
same value is inferred with, printed, saved and drawn.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError, ParameterError, described, did_you_mean, known_name, listed
from fuzzymil._utils.storage import Path_
from fuzzymil.bags import Bags, as_bags
from fuzzymil.membership import FAMILIES
from fuzzymil.network.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.network.inference import Activations, infer
from fuzzymil.network.layers import Masks, Operators, Params
from fuzzymil.network.norms import DUAL, S_NORMS, T_NORMS
from fuzzymil.rules._edit_methods import Changing
from fuzzymil.rules._file_methods import Interchange
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import Arrangement, arrange, conditions
from fuzzymil.rules.rule import Rule, Variable

__all__ = ["Activations", "Rule", "RuleBase", "Variable"]


@dataclasses.dataclass(frozen=True)
class RuleBase(Interchange, Changing):
    """Fuzzy if-then rules over bags of instances.

    Made by `parse` from an expert's text, by `from_arrays`, by training, or by `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of str
        Names of what the rules conclude.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule by AND (Layer 2).
    s_norm : {"algebraic", "max", "bounded", "hamacher", "einstein"}, optional
        Joins conditions by OR. Default: the dual of ``t_norm``.
    aggregation : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag (Layer 3).
    alpha : float, or one a rule
        Sharpness of a soft ``aggregation``: 0 is the mean, +inf the greatest instance.
    combine : {"softmax", "mean", "max", "min"}
        Joins the instances' linear responses (Layer 5, first order).
    consequent_alpha : float, or one an output
        Sharpness of ``combine="softmax"``.
    normalize : bool
        Whether strengths are divided by their sum (Layer 4).
    default : sequence of float
        The output for a bag on which every rule is truly zero. Default: zeros.
    limited : bool
        Whether a value outside its variable's range (``low`` to ``high``) counts as the nearest end of it.

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
    outputs: tuple[str, ...] = ("y",)
    t_norm: str = "product"
    aggregation: str = "softmax"
    alpha: float | tuple[float, ...] = 1.0
    combine: str = "softmax"
    consequent_alpha: float | tuple[float, ...] = 1.0
    normalize: bool = True
    default: tuple[float, ...] = ()
    limited: bool = False
    s_norm: str = ""

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        for field in ("variables", "rules", "outputs"):
            put(field, tuple(getattr(self, field)))
        for field in ("alpha", "consequent_alpha"):
            value = _numbers(field, getattr(self, field))
            put(field, value if np.ndim(getattr(self, field)) else value[0])
        put("default", _numbers("default", self.default) or (0.0,) * len(self.outputs))
        for field in ("normalize", "limited"):
            put(field, _truth(field, getattr(self, field)))
        known_name("t_norm", self.t_norm, T_NORMS)
        put("s_norm", self.s_norm or DUAL[self.t_norm])
        self._check()

    def _check(self) -> None:
        known_name("s_norm", self.s_norm, S_NORMS)
        known_name("aggregation", self.aggregation, AGGREGATIONS)
        known_name("combine", self.combine, COMBINERS)
        for name, value, count in (
            ("alpha", self.alpha, len(self.rules)),
            ("consequent_alpha", self.consequent_alpha, len(self.outputs)),
        ):
            if np.isnan(value).any():
                raise ParameterError(f"{name} must be a number (0 is the mean, inf the greatest instance), got NaN.")
            if isinstance(value, tuple) and (len(value) != count or np.isinf(value).any()):
                raise ParameterError(f"{name} must be one number or {count} finite ones, got {value!r:.100}.")
        if not self.variables or not self.rules or not self.outputs:
            raise ParameterError("A rule base needs at least one variable, one rule and one output.")
        if len(self.default) != len(self.outputs):
            raise ParameterError(f"default needs {len(self.outputs)} value(s), got {len(self.default)}.")
        if len(set(self.outputs)) < len(self.outputs):
            raise ParameterError(f"Two outputs have the same name, got {listed(self.outputs)}.")
        terms = {variable.name: variable.terms for variable in self.variables}
        if len(terms) < len(self.variables):
            raise ParameterError("Two variables have the same name.")
        if not np.isfinite(self.default).all():
            raise ParameterError(f"default must be finite, got {self.default}.")
        n_coefs = len(self.rules[0].coefs[0]) if self.rules[0].coefs else 0
        for position, rule in enumerate(self.rules, start=1):
            for condition in conditions(rule.premise):
                name = condition.variable
                known_name(f"variable of rule {position}", name, terms)
                known_name(f"term of {name!r} in rule {position}", condition.term, terms[name])
            shape = (len(rule.coefs), {len(row) for row in rule.coefs})
            if shape != (len(self.outputs), {n_coefs}) or n_coefs not in (1, 1 + len(self.variables)):
                raise ParameterError(
                    f"Rule {position} must give each of {len(self.outputs)} output(s) 1 or {1 + len(self.variables)} "
                    "coefficients (as the other rules do)."
                )
            if not np.isfinite(rule.coefs).all():
                raise ParameterError(f"Rule {position} has a coefficient that is not finite.")

    # ------------------------------------------------------------------ from and to numbers

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
        """Make conjunctions of Gaussian sets from arrays, in the user's units.

        Parameters
        ----------
        centers, widths : arrays of shape (n_rules, n_features)
        coefs : array of shape (n_rules,), (n_rules, n_outputs, 1) or (n_rules, n_outputs, 1 + n_features)
            Constant first.
        feature_names, output_names : sequences of str, optional
        ranges : array of shape (n_features, 2), optional
            Range of the data, which gives *low*, *medium* and *high* their meaning. Default: of the centers.
        **operators
            ``t_norm``, ``aggregation``, ``alpha``, ``combine``, ``consequent_alpha``, ``normalize``, ``default``.
        """
        from fuzzymil.rules import compile  # which builds on this module

        return compile.from_arrays(
            centers,
            widths,
            coefs,
            feature_names=feature_names,
            output_names=output_names,
            ranges=ranges,
            **operators,
        )

    @classmethod
    def from_sets(
        cls,
        sets: Mapping[str, tuple[Array, ...]],
        masks: Mapping[str, Array],
        coefs: Array,
        *,
        feature_names: Iterable[str] | None = None,
        output_names: Iterable[str] | None = None,
        ranges: npt.ArrayLike | None = None,
        **operators: Any,
    ) -> RuleBase:
        """Make a rule base from the network's own form (see `network.Params`); the inverse of `compile`."""
        from fuzzymil.rules import compile

        return compile.from_sets(
            sets,
            masks,
            coefs,
            feature_names=feature_names,
            output_names=output_names,
            ranges=ranges,
            **operators,
        )

    @functools.cached_property
    def arrangement(self) -> Arrangement:
        """Places of the rules' conditions in the arrays of `compile`."""
        column = {variable.name: d for d, variable in enumerate(self.variables)}
        return arrange([rule.premise for rule in self.rules], column)

    def compile(self) -> tuple[Params, Masks, Operators]:
        """Return the rule base as arrays for the network, in 64 bit NumPy."""
        from fuzzymil.rules import compile

        return compile.compiled(self)

    def with_numbers(self, params: Params, **changes: Any) -> RuleBase:
        """Return the same rules over the same terms with the numbers of ``params``; the inverse of `compile`.

        Parameters
        ----------
        params : Params
            As `compile` gives them. Of a term that several conditions use, the first place counts.
        **changes
            Other fields to replace.
        """
        from fuzzymil.rules import compile

        return compile.with_numbers(self, params, **changes)

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

    @property
    def centers(self) -> Array:
        """Most typical value of each set, shape (n_rules, n_features); NaN for don't-care."""
        return self._summary("peak")

    @property
    def widths(self) -> Array:
        """Spread of each set, shape (n_rules, n_features), a Gaussian's standard deviation; NaN for don't-care."""
        return self._summary("spread")

    def _summary(self, what: str) -> Array:
        params, masks, _ = self.compile()
        out = np.full((self.n_rules, self.n_features), np.nan)
        own = slice(self.n_rules)  # further rows hold further conditions on the same variables
        for kind, parameters in params.sets.items():
            out = np.where(masks[kind][own] > 0, getattr(FAMILIES[kind], what)(*parameters)[own], out)
        return out

    # ------------------------------------------------------------------ inference

    def infer(self, bags: Any) -> Activations:
        """Infer bags and return what every layer computed, in 64 bit.

        A missing value (NaN) has membership 1 in every set. Bags with feature names are matched by
        name; columns that no variable names are left out.
        """
        params, masks, operators = self.compile()
        return infer(params, masks, operators, self._within_limits(self._matched(as_bags(bags))), self.default)

    def _within_limits(self, bags: Bags) -> Bags:
        if not self.limited:
            return bags
        low = [-np.inf if variable.low is None else variable.low for variable in self.variables]
        high = [np.inf if variable.high is None else variable.high for variable in self.variables]
        return bags.map_instances(lambda x: np.clip(x, low, high))

    def _matched(self, bags: Bags) -> Bags:
        if bags.feature_names is None:
            if bags.n_features != self.n_features:
                raise InputError(f"X has {bags.n_features} features, but these rules expect {self.n_features}.")
            return bags
        if bags.feature_names == self.feature_names:
            return bags
        place = {name: d for d, name in enumerate(bags.feature_names)}
        for name in self.feature_names:
            if name not in place:
                raise InputError(f"The bags have no feature {name!r}, which the rules use.{did_you_mean(name, place)}")
        columns = [place[name] for name in self.feature_names]
        return bags.map_instances(lambda x: x[:, columns], self.feature_names)

    # ------------------------------------------------------------------ text and files

    def __str__(self) -> str:
        return self.to_text(max_terms=None if self.n_features <= 12 else 8)

    def to_text(self, max_terms: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text.

        Parameters
        ----------
        max_terms : int, optional
            Show only a rule's most selective conditions (narrowest for their variable's range first).
        digits : int or None
            Significant digits of numbers; None writes them exactly.

        Notes
        -----
        *low*, *medium* and *high* name the third of the variable's range in which the set is centered;
        where several sets of a variable share a word they are numbered from low to high.
        """
        return "\n".join(
            f"Rule {r + 1}: IF {self._premise_text(rule, max_terms)} THEN "
            + ", ".join(
                printer.conclusion(output, row, self.feature_names, digits, max_terms)
                for output, row in zip(self.outputs, rule.coefs, strict=True)
            )
            + printer.with_weight(rule.weight, digits)
            for r, rule in enumerate(self.rules)
        )

    def _premise_text(self, rule: Rule, max_terms: int | None) -> str:
        if not rule.is_plain or max_terms is None:
            return printer.premise_text(rule.premise)
        return printer.conditions(rule.antecedent, self._selectivity(rule), max_terms)

    def describe_terms(self, digits: int = 4) -> str:
        """Return the definition of every term, one line a variable.

        Examples
        --------
        >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).describe_terms())
        x1: low = Gaussian(0, 0.3), high = Gaussian(1, 0.3)
        """
        return "\n".join(
            f"{variable.name}{f' [{variable.unit}]' if variable.unit else ''}: "
            + ", ".join(f"{term} = {printer.format_set(chosen, digits)}" for term, chosen in variable.terms.items())
            for variable in self.variables
            if variable.terms
        )

    def _selectivity(self, rule: Rule) -> dict[str, float]:
        """How much of its variable's range each condition leaves out: range over width."""
        spans = {v.name: (v.high or 0.0) - (v.low or 0.0) for v in self.variables}
        terms = {v.name: v.terms for v in self.variables}
        return {
            name: spans[name] / float(terms[name][term].spread(*terms[name][term].parameters))
            for name, term in rule.antecedent.items()
        }

    def to_source(self) -> str:
        """Return the whole rule base as text that `parse` reads back exactly: terms, operators and rules.

        Examples
        --------
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> RuleBase.parse(rules.to_source()) == rules
        True
        """
        from fuzzymil.rules.language import source  # which builds on this module

        return source.to_source(self)

    @classmethod
    def parse(
        cls, text: str | Iterable[str], variables: Iterable[Variable] | None = None, **operators: Any
    ) -> RuleBase:
        """Read rules that a person wrote, or `to_source` did.

        Parameters
        ----------
        text : str, or sequence of str
            Rules; and declarations of variables and operators, unless they are given here.
        variables : sequence of Variable, optional
            The linguistic variables that the rules speak about.
        **operators
            ``t_norm``, ``s_norm``, ``aggregation``, ``alpha``, ``combine``, ``consequent_alpha``, ``normalize``,
            ``default``, ``limited``.

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
        [[0.48]]
        """
        from fuzzymil.rules.language import source

        return source.parse(text, variables, **operators)

    def to_dict(self) -> dict[str, Any]:
        """Return the rule base as plain values that JSON can hold exactly."""
        from fuzzymil.rules import json  # which builds on this module

        return json.to_dict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RuleBase:
        """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`."""
        from fuzzymil.rules import json  # which builds on this module

        return json.from_dict(content)

    def save(self, path: Path_) -> None:
        """Write the rule base as JSON; a failure leaves an older file whole."""
        from fuzzymil.rules import json

        json.save(self, path)

    @classmethod
    def load(cls, path: Path_) -> RuleBase:
        """Read a rule base that `save` wrote; nothing in the file is executed."""
        from fuzzymil.rules import json

        return json.load(path)


# ---------------------------------------------------------------------- helpers


def _numbers(name: str, value: object) -> tuple[float, ...]:
    with contextlib.suppress(ValueError):  # of rows that differ in length
        found = np.atleast_1d(np.asarray(value))
        if found.ndim == 1 and found.dtype.kind in "iuf":
            return tuple(map(float, found))
    raise ParameterError(f"{name} must be a number or a sequence of numbers, got {described(value)}.")


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")
    return bool(value)

"""The rule base: one immutable, readable value that is the model.

Variables with named terms (fuzzy sets), rules over them, and the operators that join them. An
expert can write one, clustering proposes one, training takes one and returns a better one; the
same value is inferred with, printed, saved and drawn.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from fuzzymil import wording
from fuzzymil.arrays import Array
from fuzzymil.bags import Bags, as_bags
from fuzzymil.errors import InputError, ParameterError, did_you_mean, known_name
from fuzzymil.inference import Activations, infer
from fuzzymil.membership import FAMILIES
from fuzzymil.network import Masks, Operators, Params
from fuzzymil.norms import COMBINERS, SOFT_T_CONORMS, T_CONORMS, T_NORMS
from fuzzymil.storage import Path_
from fuzzymil.vocabulary import Rule, Variable

__all__ = ["Activations", "Rule", "RuleBase", "Variable"]

_PRACTICALLY_INFINITE = 1e30  # an alpha that tells degrees 1e-30 apart, and near the end of 32 bit


@dataclasses.dataclass(frozen=True)
class RuleBase:
    """Fuzzy if-then rules over bags of instances.

    Most are made by `from_arrays`, by training, or by `load`.

    Parameters
    ----------
    variables : sequence of Variable
        The features, in the order of the data's columns.
    rules : sequence of Rule
    outputs : sequence of str
        Names of what the rules conclude.
    t_norm : {"product", "min", "lukasiewicz", "hamacher", "einstein"}
        Joins the conditions of a rule (Layer 2).
    t_conorm : {"softmax", "softmax_relative", "softmax_log", "max", "min", "algebraic", "bounded", "lse", "power"}
        Joins the instances of a bag (Layer 3).
    alpha : float, or one a rule
        Sharpness of a soft ``t_conorm``: 0 is the mean, +inf the greatest instance.
    combine : {"softmax", "mean", "max", "min"}
        Joins the instances' linear responses (Layer 5, first order).
    consequent_alpha : float, or one an output
        Sharpness of ``combine="softmax"``.
    normalise : bool
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
    t_conorm: str = "softmax"
    alpha: float | tuple[float, ...] = 1.0
    combine: str = "softmax"
    consequent_alpha: float | tuple[float, ...] = 1.0
    normalise: bool = True
    default: tuple[float, ...] = ()
    limited: bool = False

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        for field in ("variables", "rules", "outputs"):
            put(field, tuple(getattr(self, field)))
        for field in ("alpha", "consequent_alpha"):
            value: Any = getattr(self, field)
            put(field, tuple(map(float, value)) if np.ndim(value) else float(value))
        put("default", tuple(map(float, self.default)) or (0.0,) * len(self.outputs))
        for field in ("normalise", "limited"):
            put(field, _truth(field, getattr(self, field)))
        self._check()

    def _check(self) -> None:
        known_name("t_norm", self.t_norm, T_NORMS)
        known_name("t_conorm", self.t_conorm, T_CONORMS)
        known_name("combine", self.combine, COMBINERS)
        for name, value, count in (
            ("alpha", self.alpha, len(self.rules)),
            ("consequent_alpha", self.consequent_alpha, len(self.outputs)),
        ):
            if np.isnan(value).any():
                raise ParameterError(f"{name} must be a number (0 is the mean, inf the greatest instance), got NaN.")
            if isinstance(value, tuple) and (len(value) != count or np.isinf(value).any()):
                raise ParameterError(f"{name} must be one number or {count} finite ones, got {value}.")
        if not self.variables or not self.rules or not self.outputs:
            raise ParameterError("A rule base needs at least one variable, one rule and one output.")
        if len(self.default) != len(self.outputs):
            raise ParameterError(f"default needs {len(self.outputs)} value(s), got {len(self.default)}.")
        terms = {variable.name: variable.terms for variable in self.variables}
        if len(terms) < len(self.variables):
            raise ParameterError("Two variables have the same name.")
        if not np.isfinite(self.default).all():
            raise ParameterError(f"default must be finite, got {self.default}.")
        n_coefs = len(self.rules[0].coefs[0]) if self.rules[0].coefs else 0
        for position, rule in enumerate(self.rules, start=1):
            for name, term in rule.antecedent.items():
                known_name(f"variable of rule {position}", name, terms)
                known_name(f"term of {name!r} in rule {position}", term, terms[name])
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
            Range of the data, which gives *low*, *medium* and *high* their meaning. Default: of the centres.
        **operators
            ``t_norm``, ``t_conorm``, ``alpha``, ``combine``, ``consequent_alpha``, ``normalise``, ``default``.
        """
        c, s = np.atleast_2d(np.asarray(centers, float)), np.atleast_2d(np.asarray(widths, float))
        if c.ndim != 2 or c.shape != s.shape:
            raise ParameterError(
                f"centers and widths must have one shape (n_rules, n_features), got {c.shape}, {s.shape}."
            )
        _check_sets(c, s)
        b = np.asarray(coefs, float)
        if b.ndim == 1:
            b = b[:, None, None]
        if b.ndim != 3 or len(b) != len(c) or b.shape[2] not in (1, 1 + c.shape[1]):
            raise ParameterError(
                f"coefs must have shape ({len(c)},), ({len(c)}, k, 1) or ({len(c)}, k, {1 + c.shape[1]}), "
                f"got {b.shape}."
            )
        return cls.from_sets(
            {"gaussian": (c, s)},
            {"gaussian": np.ones_like(c)},
            b,
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
        n_rules, n_features = next(iter(masks.values())).shape
        n_outputs = coefs.shape[1]
        names = _names("feature_names", feature_names, [f"x{d + 1}" for d in range(n_features)])
        outputs = _names(
            "output_names", output_names, ["y"] if n_outputs == 1 else [f"y{k + 1}" for k in range(n_outputs)]
        )
        spans = None if ranges is None else np.asarray(ranges, float)
        if spans is not None and spans.shape != (n_features, 2):
            raise ParameterError(f"ranges must have shape ({n_features}, 2), low and high of each, got {spans.shape}.")
        variables: list[Variable] = []
        antecedents: list[dict[str, str]] = [{} for _ in range(n_rules)]
        for d, name in enumerate(names):
            by_rule = {
                r: FAMILIES[kind](*(float(values[r, d]) for values in parameters))
                for kind, parameters in sets.items()
                for r in range(n_rules)
                if masks[kind][r, d] > 0
            }
            low, high = wording.span_of(by_rule.values()) if spans is None else map(float, spans[d])
            terms, labels = wording.named_terms(by_rule, low, high)
            variables.append(Variable(name, terms, low, high))
            for r, label in labels.items():
                antecedents[r][name] = label
        rules = [Rule(antecedent, rows) for antecedent, rows in zip(antecedents, coefs, strict=True)]
        return cls(tuple(variables), tuple(rules), outputs, **operators)

    def compile(self) -> tuple[Params, Masks, Operators]:
        """Return the rule base as arrays for the network, in 64 bit NumPy."""
        shape = (self.n_rules, self.n_features)
        terms = {variable.name: variable.terms for variable in self.variables}
        column = {variable.name: d for d, variable in enumerate(self.variables)}
        sets: dict[str, tuple[Array, ...]] = {}
        masks: dict[str, Array] = {}
        for r, rule in enumerate(self.rules):
            for name, term in rule.antecedent.items():
                chosen = terms[name][term]
                kind = chosen.name
                if kind not in sets:
                    blank = FAMILIES[kind].around(np.zeros(shape), np.ones(shape))
                    sets[kind] = tuple(np.array(values) for values in blank)
                    masks[kind] = np.zeros(shape)
                masks[kind][r, column[name]] = 1.0
                for values, value in zip(sets[kind], chosen.parameters, strict=True):
                    values[r, column[name]] = value
        if not sets:  # no rule has a condition: each fires fully everywhere
            sets, masks = {"gaussian": (np.zeros(shape), np.ones(shape))}, {"gaussian": np.zeros(shape)}
        coefs = np.array([rule.coefs for rule in self.rules])
        operators, alpha, consequent_alpha = finite_operators(
            self.t_conorm, self.alpha, self.combine, self.consequent_alpha
        )
        return (
            Params(sets, coefs, np.asarray(alpha), np.asarray(consequent_alpha)),
            masks,
            dataclasses.replace(operators, t_norm=self.t_norm, normalise=self.normalise),
        )

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
        for kind, parameters in params.sets.items():
            out = np.where(masks[kind] > 0, getattr(FAMILIES[kind], what)(*parameters), out)
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

    def to_text(self, max_terms: int | None = None, digits: int = 4) -> str:
        """Return the rules as if-then text.

        Parameters
        ----------
        max_terms : int, optional
            Show only a rule's most selective conditions (narrowest for their variable's range first).
        digits : int
            Significant digits of numbers.

        Notes
        -----
        *low*, *medium* and *high* name the third of the variable's range in which the set is centred;
        where several sets of a variable share a word they are numbered from low to high.
        """
        selectivity = self._selectivity()
        return "\n".join(
            f"Rule {r + 1}: IF {wording.conditions(rule.antecedent, selectivity[r], max_terms)} THEN "
            + ", ".join(
                wording.conclusion(output, row, self.feature_names, digits, max_terms)
                for output, row in zip(self.outputs, rule.coefs, strict=True)
            )
            for r, rule in enumerate(self.rules)
        )

    def describe_terms(self, digits: int = 4) -> str:
        """Return the definition of every term, one line a variable.

        Examples
        --------
        >>> print(RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).describe_terms())
        x1: low = Gaussian(0, 0.3), high = Gaussian(1, 0.3)
        """
        return "\n".join(
            f"{variable.name}{f' [{variable.unit}]' if variable.unit else ''}: "
            + ", ".join(f"{term} = {wording.format_set(chosen, digits)}" for term, chosen in variable.terms.items())
            for variable in self.variables
            if variable.terms
        )

    def _selectivity(self) -> list[dict[str, float]]:
        """How much of its variable's range each condition leaves out, for each rule: range over width."""
        spans = {v.name: (v.high or 0.0) - (v.low or 0.0) for v in self.variables}
        terms = {v.name: v.terms for v in self.variables}
        return [
            {
                name: spans[name] / float(terms[name][term].spread(*terms[name][term].parameters))
                for name, term in rule.antecedent.items()
            }
            for rule in self.rules
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule base as plain values that JSON can hold exactly."""
        from fuzzymil import rulefile  # which builds on this module

        return rulefile.to_dict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> RuleBase:
        """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`."""
        from fuzzymil import rulefile  # which builds on this module

        return rulefile.from_dict(content)

    def over(self, feature_names: Iterable[str]) -> RuleBase:
        """Return the same rules over these features: in their order, further ones don't-care.

        Examples
        --------
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], feature_names=["hue"])
        >>> rules.over(["size", "hue"]).feature_names
        ('size', 'hue')
        """
        names = tuple(feature_names)
        for name in self.feature_names:
            if name not in names:
                raise InputError(f"There is no feature {name!r}, which the rules use.{did_you_mean(name, names)}")
        known = {variable.name: variable for variable in self.variables}
        place = {name: d for d, name in enumerate(self.feature_names)}
        rules = []
        for rule in self.rules:
            rows = [
                row if len(row) == 1 else (row[0], *(row[1 + place[n]] if n in place else 0.0 for n in names))
                for row in rule.coefs
            ]
            rules.append(Rule(rule.antecedent, tuple(rows)))
        variables = tuple(known.get(name, Variable(name)) for name in names)
        return dataclasses.replace(self, variables=variables, rules=tuple(rules))

    def save(self, path: Path_) -> None:
        """Write the rule base as JSON; a failure leaves an older file whole."""
        from fuzzymil import rulefile

        rulefile.save(self, path)

    @classmethod
    def load(cls, path: Path_) -> RuleBase:
        """Read a rule base that `save` wrote; nothing in the file is executed."""
        from fuzzymil import rulefile

        return rulefile.load(path)


# ---------------------------------------------------------------------- helpers


def _truth(name: str, value: object) -> bool:
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def _names(what: str, given: Iterable[str] | None, default: list[str]) -> tuple[str, ...]:
    names = tuple(default if given is None else map(str, given))
    if len(names) != len(default):
        raise ParameterError(f"{what} must be {len(default)} name(s), got {len(names)}.")
    return names


def finite_operators(
    t_conorm: str, alpha: float | tuple[float, ...], combine: str, consequent_alpha: float | tuple[float, ...]
) -> tuple[Operators, float | tuple[float, ...], float | tuple[float, ...]]:
    """Turn infinite alphas into the operators they stand for: they are no limits of the formula."""
    if not isinstance(alpha, tuple) and abs(alpha) > _PRACTICALLY_INFINITE:
        if t_conorm in SOFT_T_CONORMS:
            t_conorm = "max" if alpha > 0 else "min"
        alpha = 0.0
    if not isinstance(consequent_alpha, tuple) and abs(consequent_alpha) > _PRACTICALLY_INFINITE:
        if combine == "softmax":
            combine = "max" if consequent_alpha > 0 else "min"
        consequent_alpha = 0.0
    return Operators(t_conorm=t_conorm, combine=combine), alpha, consequent_alpha


def _check_sets(centers: Array, widths: Array) -> None:
    for what, values, good in (
        ("centre", centers, np.isfinite(centers)),
        ("width", widths, np.isfinite(widths) & (widths > 0)),
    ):
        if not good.all():
            r, d = np.argwhere(~good)[0]
            need = "finite" if what == "centre" else "greater than 0 and finite"
            raise ParameterError(f"The {what} of rule {r + 1}, feature {d + 1} must be {need}, got {values[r, d]}.")

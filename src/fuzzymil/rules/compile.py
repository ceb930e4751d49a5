"""Rule bases from arrays, with names for their fuzzy sets, and arrays from rule bases."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.aggregation import SOFT_AGGREGATIONS
from fuzzymil.inference.layers import Masks, Operators, Params
from fuzzymil.inference.membership import FAMILIES, family
from fuzzymil.rules.language import naming
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

_PRACTICALLY_INFINITE = 1e30  # separates degrees that differ by 1e-30, and is near the limit of 32 bit


def from_arrays(
    make: Callable[..., RuleBase], centers: npt.ArrayLike, widths: npt.ArrayLike, coefs: npt.ArrayLike, **settings: Any
) -> RuleBase:
    """Make conjunctions of Gaussian sets; see `RuleBase.from_arrays`."""
    c, s = np.atleast_2d(np.asarray(centers, float)), np.atleast_2d(np.asarray(widths, float))
    if c.ndim != 2 or c.shape != s.shape:
        raise ParameterError(f"centers and widths must have shape (n_rules, n_features), got {c.shape} and {s.shape}.")
    for what, need, values, least in (("center", "finite", c, -np.inf), ("width", "greater than 0 and finite", s, 0.0)):
        for r, d in np.argwhere(~(np.isfinite(values) & (values > least))):
            raise ParameterError(f"The {what} of rule {r + 1}, feature {d + 1} must be {need}, got {values[r, d]}.")
    b = np.asarray(coefs, float)
    if b.ndim == 1:
        b = b[:, None, None]
    if b.ndim != 3 or len(b) != len(c) or b.shape[2] not in (1, 1 + c.shape[1]):
        raise ParameterError(
            f"coefs must have shape ({len(c)},), ({len(c)}, k, 1) or ({len(c)}, k, {1 + c.shape[1]}), got {b.shape}."
        )
    return from_sets(make, {"gaussian": (c, s)}, {"gaussian": np.ones_like(c)}, b, **settings)


def from_sets(
    make: Callable[..., RuleBase],
    sets: Mapping[str, tuple[Array, ...]],
    masks: Mapping[str, Array],
    coefs: Array,
    *,
    feature_names: Iterable[str] | None = None,
    output_names: Iterable[str] | None = None,
    ranges: npt.ArrayLike | None = None,
    missing_values: Array | None = None,
    **operators: Any,
) -> RuleBase:
    """Make a rule base from the network's own form; see `RuleBase.from_sets`."""
    n_rules, n_features = next(iter(masks.values())).shape
    n_outputs = coefs.shape[1]
    names = _names("feature_names", feature_names, [f"x{d + 1}" for d in range(n_features)])
    outputs = _names("output_names", output_names, ["y"] if n_outputs == 1 else [f"y{k + 1}" for k in range(n_outputs)])
    spans = None if ranges is None else np.asarray(ranges, float)
    if spans is not None and spans.shape != (n_features, 2):
        raise ParameterError(f"ranges must have shape ({n_features}, 2), low and high per feature, got {spans.shape}.")
    variables: list[Variable] = []
    antecedents: list[dict[str, str]] = [{} for _ in range(n_rules)]
    for d, name in enumerate(names):
        by_rule = {
            r: FAMILIES[kind](*(float(values[r, d]) for values in parameters))
            for kind, parameters in sets.items()
            for r in range(n_rules)
            if masks[kind][r, d] > 0
        }
        peaks = [float(chosen.peak(*chosen.parameters)) for chosen in by_rule.values()] or [0.0]
        low, high = (min(peaks), max(peaks)) if spans is None else map(float, spans[d])
        labels = naming.named_sets(by_rule.values(), low, high)
        variables.append(Variable(name, {label: chosen for chosen, label in labels.items()}, low, high))
        for r, chosen in by_rule.items():
            antecedents[r][name] = labels[chosen]
    rules = [Rule(antecedent, rows) for antecedent, rows in zip(antecedents, coefs, strict=True)]
    made = make(variables=tuple(variables), rules=tuple(rules), outputs=outputs, **operators)
    return with_missing_values(made, missing_values)


def with_missing_values(base: RuleBase, missing_values: Array | None) -> RuleBase:
    """Return rules in which a missing value of a variable that says nothing about it stands for these, (t, d)."""
    if missing_values is None:
        return base
    variables = list(base.variables)
    for d, values in enumerate(np.asarray(missing_values, float).T.tolist()):
        if not variables[d].missing_values:
            own = variables[d].declared_terms
            variables[d] = dataclasses.replace(variables[d], terms=own, missing_values=tuple(values))
    return dataclasses.replace(base, variables=tuple(variables))


def compiled(base: RuleBase) -> tuple[Params, Masks, Operators]:
    """Return the rule base as arrays for the network, in 64-bit NumPy.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> params, masks, operators = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).compile()
    >>> params.coefs.shape, operators.t_norm
    ((2, 1, 1), 'product')
    """
    shape = (base.arrangement.n_rows, base.n_features)
    known = {variable.name: variable.terms for variable in base.variables}
    sets: dict[str, tuple[Array, ...]] = {}
    masks: dict[str, Array] = {}
    for place, (name, term) in base.arrangement.terms.items():
        chosen = known[name][term]
        kind = chosen.kind
        if kind not in sets:
            sets[kind] = tuple(np.full(shape, value) for value in chosen.parameters)
            masks[kind] = np.zeros(shape)
        masks[kind][place] = 1.0
        for values, value in zip(sets[kind], chosen.parameters, strict=True):
            values[place] = value
    if not sets:  # no rule has a condition: all fire fully everywhere
        sets, masks = {"gaussian": (np.zeros(shape), np.ones(shape))}, {"gaussian": np.zeros(shape)}
    alphas = base.aggregation, base.alpha, base.conclusion_aggregation, base.conclusion_alpha
    operators, alpha, conclusion_alpha = finite_operators(*alphas)
    weights = tuple(rule.weight for rule in base.rules)
    numbers = base.coefs, np.asarray(alpha), np.asarray(conclusion_alpha), np.array(base.default)
    operators = dataclasses.replace(
        operators,
        t_norm=base.t_norm,
        s_norm=base.s_norm,
        normalize=base.normalize,
        premises=base.arrangement.premises,
        parts=base.arrangement.parts,
        weights=None if set(weights) == {1.0} else weights,
    )
    return Params(sets, *numbers, missing_values=_missing_values(base)), masks, operators


def _missing_values(base: RuleBase) -> Array | None:
    """Return what missing values stand for, (t, d); NaN fills the columns of variables with fewer values."""
    count = max(len(variable.missing_values) for variable in base.variables)
    if not count:
        return None
    found = np.full((count, base.n_features), np.nan)
    for d, variable in enumerate(base.variables):
        found[: len(variable.missing_values), d] = variable.missing_values
        if base.limited:  # as values that are there
            found[:, d] = np.clip(found[:, d], variable.low, variable.high)
    return found


def with_numbers(base: RuleBase, params: Params, **changes: Any) -> RuleBase:
    """Return the same rules over the same terms with the numbers of ``params``; the inverse of `compile`.

    Parameters
    ----------
    params : Params
        As returned by `compile`. Where several conditions use one term, the first one counts.
    **changes
        Other fields to replace.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> params, _, _ = rules.compile()
    >>> print(rules.with_numbers(params._replace(coefs=2 * params.coefs)))
    Rule 1: IF x1 is low THEN y = 0
    Rule 2: IF x1 is high THEN y = 2
    """
    known = {variable.name: variable.declared_terms for variable in base.variables}
    terms = {name: dict(own) for name, own in known.items()}
    for place, (name, term) in reversed(base.arrangement.terms.items()):
        if term in known[name]:
            numbers = (float(values[place]) for values in params.sets[known[name][term].kind])
            terms[name][term] = known[name][term].with_parameters(*numbers)
    fields: dict[str, Any] = {"variables": [dataclasses.replace(v, terms=terms[v.name]) for v in base.variables]}
    if not base.concludes_sets:
        both = zip(base.rules, np.asarray(params.coefs), strict=True)
        fields["rules"] = [rule.concluding(rows) for rule, rows in both]
        fields["default"] = tuple(np.broadcast_to(np.asarray(params.default, float), len(base.outputs)))
    return dataclasses.replace(base, **fields | changes)


def summary(base: RuleBase, what: str) -> Array:
    """Return the "peak" or "spread" of each set, shape (n_rules, n_features); NaN for don't-care."""
    params, masks, _ = compiled(base)
    by_part = np.full((len(base.parts), base.n_features), np.nan)
    own = slice(len(base.parts))  # further rows hold further conditions on the same variables
    for kind, parameters in params.sets.items():
        if parameters:  # missing values have no place among numbers
            by_part = np.where(masks[kind][own] > 0, getattr(family(kind), what)(*parameters)[own], by_part)
    out = np.full((base.n_rules, base.n_features), np.nan)
    for part, values in zip(base.parts, by_part, strict=True):
        out[part.rule] = np.where(np.isnan(out[part.rule]), values, out[part.rule])
    return out


def finite_operators(
    aggregation: str,
    alpha: float | tuple[float, ...],
    conclusion_aggregation: str,
    conclusion_alpha: float | tuple[float, ...],
) -> tuple[Operators, float | tuple[float, ...], float | tuple[float, ...]]:
    """Replace infinite alphas by the operators they mean (max or min), since the formulas need finite ones."""
    if not isinstance(alpha, tuple) and abs(alpha) > _PRACTICALLY_INFINITE:
        if aggregation in SOFT_AGGREGATIONS:
            aggregation = "max" if alpha > 0 else "min"
        alpha = 0.0
    if not isinstance(conclusion_alpha, tuple) and abs(conclusion_alpha) > _PRACTICALLY_INFINITE:
        if conclusion_aggregation == "softmax":
            conclusion_aggregation = "max" if conclusion_alpha > 0 else "min"
        conclusion_alpha = 0.0
    return Operators(aggregation=aggregation, conclusion_aggregation=conclusion_aggregation), alpha, conclusion_alpha


def _names(what: str, given: Iterable[str] | None, default: list[str]) -> tuple[str, ...]:
    names = tuple(default if given is None else map(str, given))
    if len(names) != len(default):
        raise ParameterError(f"{what} must have {len(default)} name(s), got {len(names)}.")
    return names

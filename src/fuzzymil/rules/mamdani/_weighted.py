"""Answers as weighted averages or sums: every concluded term stands for one number.

A `Singleton` stands for its value (a Sugeno system of order 0). A set that only rises, or only falls, stands for the
value at which its membership equals the strength of its rules (Tsukamoto's method). A `Formula` stands for the number
that it means for the features of an instance and the outputs before this one; in a bag, for the mean of these numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, did_you_mean, listed
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Formula, MembershipFunction
from fuzzymil.inference.norms import S_NORMS
from fuzzymil.rules.rule import Variable

WEIGHTED = ("average", "sum")
"""The defuzzifiers of this module."""


def check_terms(output: Variable, known: Collection[str]) -> None:
    """Raise `ParameterError` if a term of an output stands for no number; formulas use the ``known`` names."""
    for term, chosen in output.terms.items():
        if isinstance(chosen, Formula):
            _check_formula(f"The term {term!r} of {output.name!r}", chosen, known)
        elif chosen.inverse(0.5) is None:
            raise ParameterError(
                f"The term {term!r} of {output.name!r} is a {type(chosen).__name__}, which stands for no single "
                "number. With defuzzify='average' or 'sum', use Singleton, a set that only rises or falls (Ramp, "
                "Sigmoid, SShape, ZShape, Concave or Arc), or a Formula of the features."
            )


def _check_formula(which: str, formula: Formula, known: Collection[str]) -> None:
    if formula.parameters != (0.0, 1.0):
        raise ParameterError(f"{which} is a number, which cannot have a shift or scale: Formula({formula.text!r:.60}).")
    for name in formula.names:
        if name not in known:
            raise ParameterError(
                f"{which} uses {name!r:.60} in its formula, which is neither a feature nor an output before this one "
                f"({listed(known)}).{did_you_mean(name, known)}"
            )


def computed(
    terms: Mapping[str, MembershipFunction], bags: Bags, names: Sequence[str], outputs: Mapping[str, Array]
) -> dict[str, Array]:
    """Return the numbers (b,) of the terms that are formulas of features, named here, and of outputs (b,)."""
    formulas = {term: chosen for term, chosen in terms.items() if isinstance(chosen, Formula)}
    if not formulas:
        return {}
    sizes = np.diff(bags.offsets)
    known = {name: np.asarray(bags.instances[:, d], np.float64) for d, name in enumerate(names)}
    known |= {name: np.repeat(values, sizes) for name, values in outputs.items()}
    found = {}
    with np.errstate(all="ignore"):  # a formula may be undefined somewhere, and then concludes nothing
        for term, formula in formulas.items():
            values = np.broadcast_to(formula.number(known), len(bags.instances))
            found[term] = np.add.reduceat(values, bags.offsets[:-1]) / sizes
    return found


def weighted(
    parts: Mapping[str, Array],
    terms: Mapping[str, MembershipFunction],
    numbers: Mapping[str, Array],
    accumulation: str,
    method: str,
) -> Array:
    """Return the average or sum (b,) of the numbers that terms stand for; NaN if no rule fires.

    Parameters
    ----------
    parts : mapping of str to array of shape (n_bags, n_rules_of_the_term)
        Log-strengths of the rules that conclude each term.
    terms : mapping of str to MembershipFunction
    numbers : mapping of str to array of shape (n_bags,)
        The numbers of the terms that are formulas; see `computed`.
    accumulation : str
        Joins the strengths of one term's rules.
    method : {"average", "sum"}
    """
    log_weights = np.column_stack([together(strengths, accumulation) for strengths in parts.values()])
    said = np.column_stack(
        [
            numbers[term] if term in numbers else _numbers(terms[term], np.exp(log_weights[:, n]))
            for n, term in enumerate(parts)
        ]
    )
    fires = log_weights > -np.inf
    top = np.max(log_weights, axis=1, keepdims=True)
    unit = np.where(np.isneginf(top), 0.0, top)
    weights = np.exp(log_weights - unit)  # relative to the greatest, so that tiny strengths count
    total = np.where(fires, weights * np.where(fires, said, 0.0), 0.0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        answer = total / weights.sum(axis=1) if method == "average" else total * np.exp(unit[:, 0])
    return np.where(fires.any(axis=1), answer, np.nan)


def together(log_strengths: Array, accumulation: str) -> Array:
    """Return the joined log-strength (b,) of several rules, (b, r)."""
    if log_strengths.shape[1] == 1:
        return log_strengths[:, 0]
    if accumulation == "sum":
        return np.asarray(np.logaddexp.reduce(log_strengths, axis=1))
    return np.asarray(S_NORMS[accumulation](log_strengths))  # type: ignore[arg-type]


def _numbers(chosen: MembershipFunction, degrees: Array) -> Array:
    found = chosen.inverse(degrees)
    assert found is not None  # checked when the rules were made
    return found


def within(values: Array, variable: Variable) -> Array:
    """Return values clipped to the range of a variable."""
    low = -np.inf if variable.low is None else variable.low
    high = np.inf if variable.high is None else variable.high
    return np.clip(values, low, high)


def held(values: Array, first: float) -> Array:
    """Return values (b,) in which each NaN is replaced by the value before it, and at the start by ``first``.

    Examples
    --------
    >>> held(np.array([np.nan, 2.0, np.nan, np.nan, 3.0]), 0.5).tolist()
    [0.5, 2.0, 2.0, 2.0, 3.0]
    """
    last = np.maximum.accumulate(np.where(np.isnan(values), -1, np.arange(len(values))))
    return np.where(last < 0, first, values[np.maximum(last, 0)])


def common(values: Sequence[object]) -> object:
    """Return the value that all entries share, else the entries as a tuple."""
    return values[0] if len({repr(value) for value in values}) == 1 else tuple(values)

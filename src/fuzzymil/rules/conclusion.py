"""Conclusions that are sets: how they become numbers, and which rules take part in an answer.

The firing strength of a rule cuts or scales the set that the rule concludes; the sets of all rules are joined into
one, which is then turned into a number. An output may instead be the weighted average or sum of numbers, one per term:
a `Singleton` stands for its value (a Sugeno system of order 0). A set that only rises, or only falls, stands for the
value at which its membership equals the strength of its rules (Tsukamoto's method). A `Formula` stands for the number
that it means for the features of an instance and the outputs before this one; in a bag, for the mean of these numbers.

Which rules take part (``activation``):

========================  ==========================================================
``general``               all rules
``first N DEGREE``        the first N rules that fire with at least DEGREE
``last N DEGREE``         the last N rules that fire with at least DEGREE
``highest N``             the N strongest rules that fire
``lowest N``              the N weakest rules that fire
``proportional``          all rules, with strengths divided by their sum
``threshold >= DEGREE``   the rules with at least DEGREE (also ``> <= < == !=``)
========================  ==========================================================
"""

from __future__ import annotations

import dataclasses
import functools
import numbers
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, did_you_mean, known_name, listed
from fuzzymil.inference.conclusions import ACCUMULATIONS, DEFUZZIFIERS, SAMPLINGS
from fuzzymil.inference.membership import Formula, Triangular
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.rules.language import printer
from fuzzymil.rules.rule import Variable

WEIGHTED = ("average", "sum")
"""The defuzzifiers that weight one number per term."""

PER_OUTPUT = ("implication", "accumulation", "defuzzify", "resolution", "sampling", "clip", "hold")
"""The settings that may differ between outputs: one value for all of them, or a tuple with one per output."""

SETTINGS = (*PER_OUTPUT, "activation")

MAX_RESOLUTION = 10**6
"""A finer one needs much memory and changes no digit that matters."""

TERMS = {"negative": Triangular(-0.5, 0.0, 0.5), "positive": Triangular(0.5, 1.0, 1.5)}
"""The terms of an output from 0 to 1 that says whether a bag belongs to a class."""


@dataclasses.dataclass(frozen=True)
class Defuzzification:
    """How the sets that rules conclude become numbers; all but ``activation`` may have one value per output.

    Parameters
    ----------
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
    sampling : {"cells", "points"}
        Whether sets are evaluated in the middle of cells, or at ``resolution`` points that include both ends (MATLAB).
    clip : bool
        Whether averages and sums are limited to the range of the output.
    hold : bool
        Whether a bag that no rule concludes anything about takes the value of the bag before it. The order of the bags
        then matters.
    activation : str
        Which rules take part: "general" (all), "first 1 0", "last 1 0", "highest 1", "lowest 1", "proportional" or
        "threshold >= 0.5", with numbers of your choice.

    Examples
    --------
    >>> Defuzzification(defuzzify=("centroid", "average")).implication
    'min'
    """

    implication: str | tuple[str, ...] = "min"
    accumulation: str | tuple[str, ...] = "max"
    defuzzify: str | tuple[str, ...] = "centroid"
    resolution: int | tuple[int, ...] = 1000
    sampling: str | tuple[str, ...] = "cells"
    clip: bool | tuple[bool, ...] = False
    hold: bool | tuple[bool, ...] = False
    activation: str = "general"

    def __post_init__(self) -> None:
        put = functools.partial(object.__setattr__, self)
        check_activation(self.activation)
        for name in PER_OUTPUT:
            given = getattr(self, name)
            several = isinstance(given, tuple | list)
            put(name, tuple(_setting(name, value) for value in given) if several else _setting(name, given))

    def of_outputs(self, n_outputs: int) -> Defuzzification:
        """Return the same settings for this many outputs, those that all outputs share as single values."""
        for name, given in self._several.items():
            if len(given) != n_outputs:
                raise ParameterError(f"{name} must have one value, or {n_outputs} values, got {len(given)}.")
        changes: dict[str, Any] = {name: own[0] for name, own in self._several.items() if len(set(own)) == 1}
        return dataclasses.replace(self, **changes) if changes else self

    def reordered(self, order: Sequence[int]) -> Defuzzification:
        """Return the settings of some of the outputs, in this order."""
        changes: dict[str, Any] = {name: tuple(own[k] for k in order) for name, own in self._several.items()}
        return dataclasses.replace(self, **changes)

    @property
    def _several(self) -> dict[str, tuple[Any, ...]]:
        return {name: own for name in PER_OUTPUT if isinstance(own := getattr(self, name), tuple)}


def _setting(name: str, value: Any) -> Any:
    """Return a setting of an output if it is one."""
    if name == "resolution":
        whole = isinstance(value, numbers.Real) and not isinstance(value, bool) and value == value // 1
        if not whole or not 2 <= value <= MAX_RESOLUTION:
            raise ParameterError(f"resolution must be an integer from 2 to {MAX_RESOLUTION:,}, got {value!r:.40}.")
        return int(value)
    if name in ("clip", "hold"):
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name} must be True or False, got {value!r}.")
        return bool(value)
    known: Any = {
        "implication": T_NORMS,
        "accumulation": {**ACCUMULATIONS, **S_NORMS},
        "defuzzify": (*DEFUZZIFIERS, *WEIGHTED),
        "sampling": SAMPLINGS,
    }[name]
    known_name(name, value, known)
    return value


# ---------------------------------------------------------------------- outputs


def check_output(output: Variable, method: str, known: Collection[str]) -> None:
    """Raise `ParameterError` if an output cannot be defuzzified; formulas use the ``known`` names."""
    if method not in WEIGHTED:
        output.check_sets()
        range_of(output)
        return
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


def range_of(output: Variable) -> tuple[float, float]:
    """Return the range of an output; it must be finite and not empty."""
    low, high = output.low, output.high
    if low is None or high is None or not (np.isfinite([low, high]).all() and low < high):
        raise ParameterError(
            f"The output {output.name!r} needs a finite range with low < high "
            f"(OUTPUT {printer.quoted(output.name)} FROM 0 TO 1: ...), got {low} to {high}."
        )
    return low, high


def number_of_term(output: Variable, term: str, method: str, values: Array | None, default: float) -> float:
    """Return the number that stands for a term: its center, or the number that an average counts at full strength."""
    chosen = output.terms[term]
    if method in WEIGHTED:
        inverse = chosen.inverse(1.0)
        return default if inverse is None else float(inverse)  # a formula has no number of its own
    assert values is not None
    mu = chosen(values)
    return float((mu * values).sum() / mu.sum()) if mu.any() else float(chosen.peak(*chosen.parameters))


# ---------------------------------------------------------------------- activation

_NUMBER = r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)"
_FORMS = {"general": "", "proportional": "", "threshold": rf" (>=|>|<=|<|==|!=) {_NUMBER}"}
_FORMS |= dict.fromkeys(("first", "last"), rf" ([0-9]{{1,9}}) {_NUMBER}")
_FORMS |= dict.fromkeys(("highest", "lowest"), " ([0-9]{1,9})")
_COMPARISONS: dict[str, Any] = {">=": np.greater_equal, ">": np.greater, "<=": np.less_equal, "<": np.less}
_COMPARISONS |= {"==": np.equal, "!=": np.not_equal}


def check_activation(text: object) -> str:
    """Return the way of activation if it is one."""
    _read_activation(text)
    return str(text)


def active_strengths(log_firing: Array, activation: str) -> Array:
    """Return log-strengths (b, r) of the rules that take part; ``-inf`` for the others."""
    kind, values = _read_activation(activation)
    if kind == "general":
        return log_firing
    fires = log_firing > -np.inf
    if kind == "proportional":
        top = np.max(log_firing, axis=1, keepdims=True, initial=-np.inf)
        unit = np.where(np.isneginf(top), 0.0, top)
        total = np.exp(log_firing - unit).sum(axis=1, keepdims=True)
        return np.asarray(log_firing - unit - np.log(np.where(total == 0, 1.0, total)))
    if kind == "threshold":
        kept = _COMPARISONS[values[0]](np.exp(log_firing), float(values[1]))
    elif kind in ("first", "last"):
        able = fires & (np.exp(log_firing) >= float(values[1]))
        ordered = able if kind == "first" else able[:, ::-1]
        chosen = ordered & (np.cumsum(ordered, axis=1) <= int(values[0]))
        kept = chosen if kind == "first" else chosen[:, ::-1]
    else:
        rank = np.where(fires, -log_firing if kind == "highest" else log_firing, np.inf)
        place = np.argsort(np.argsort(rank, axis=1, kind="stable"), axis=1, kind="stable")
        kept = fires & (place < int(values[0]))
    return np.where(kept, log_firing, -np.inf)


def _read_activation(text: object) -> tuple[str, tuple[str, ...]]:
    words = text.split(" ", 1) if isinstance(text, str) else [""]
    form = _FORMS.get(words[0])
    match = None if form is None else re.fullmatch(words[0] + form, str(text))
    if match is None:
        raise ParameterError(
            "activation must be 'general', 'first 1 0', 'last 1 0', 'highest 1', 'lowest 1', 'proportional' or "
            f"'threshold >= 0.5' (with numbers of your choice), got {text!r:.60}."
        )
    return words[0], match.groups()

"""Which rules take part in an answer: all of them, or only the first, the strongest, those above a threshold, ...

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

import operator
import re
from collections.abc import Callable

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError

_NUMBER = r"([0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)"
_FORMS = {
    "general": "",
    "first": rf" ([0-9]{{1,9}}) {_NUMBER}",
    "last": rf" ([0-9]{{1,9}}) {_NUMBER}",
    "highest": " ([0-9]{1,9})",
    "lowest": " ([0-9]{1,9})",
    "proportional": "",
    "threshold": rf" (>=|>|<=|<|==|!=) {_NUMBER}",
}
_COMPARISONS: dict[str, Callable[[Array, float], Array]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
    "!=": operator.ne,
}


def check_activation(text: object) -> str:
    """Return the way of activation if it is one.

    Examples
    --------
    >>> check_activation("first 2 0.5")
    'first 2 0.5'
    """
    _read(text)
    return str(text)


def activated(log_firing: Array, activation: str) -> Array:
    """Return log-strengths (b, r) of the rules that take part; ``-inf`` for the others.

    Examples
    --------
    >>> np.exp(activated(np.log([[0.2, 0.8, 0.5]]), "highest 2")).round(3).tolist()
    [[0.0, 0.8, 0.5]]
    """
    kind, values = _read(activation)
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


def _read(text: object) -> tuple[str, tuple[str, ...]]:
    words = text.split(" ", 1) if isinstance(text, str) else [""]
    form = _FORMS.get(words[0])
    match = None if form is None else re.fullmatch(words[0] + form, str(text))
    if match is None:
        raise ParameterError(
            "activation must be 'general', 'first 1 0', 'last 1 0', 'highest 1', 'lowest 1', 'proportional' or "
            f"'threshold >= 0.5' (with numbers of your choice), got {text!r:.60}."
        )
    return words[0], match.groups()

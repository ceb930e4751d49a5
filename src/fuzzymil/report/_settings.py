"""Settings and versions for ``templates/settings.html``: everything needed to train the model again."""

from __future__ import annotations

import inspect
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from fuzzymil._utils.errors import described
from fuzzymil._utils.runtime import has_jax
from fuzzymil._version import __version__
from fuzzymil.report._answers import Answers
from fuzzymil.report._format import counted
from fuzzymil.rules import RuleBase

_LIBRARIES = ("jax", "numpy", "optax", "scikit-learn", "scipy")
_LONGEST = 160


def settings_facts(answers: Answers) -> dict[str, Any]:
    """Collect the model's parameters, the operators of its rules, and the versions of the libraries."""
    model, rules = answers.model, answers.rules
    defaults = {name: given.default for name, given in inspect.signature(type(model).__init__).parameters.items()}
    changed: dict[str, str] = {}
    unchanged: dict[str, str] = {}
    for name, value in model.get_params(deep=False).items():
        (unchanged if _same(value, defaults.get(name)) else changed)[name] = _text(value)
    return {
        "estimator": type(model).__name__,
        "changed": changed,
        "unchanged": unchanged,
        "operators": {
            "T-norm (AND)": rules.t_norm,
            "S-norm (OR)": rules.s_norm,
            "Aggregation over instances": f"{rules.aggregation}, alpha = {_text(rules.alpha)}",
            "Conclusions are": "averaged by strength" if rules.normalize else "added to the default",
            "Conclusions": "linear in the features" if rules.coefs.shape[2] > 1 else "constant",
            "Combination of conclusions": rules.conclusion_aggregation,
            "Values outside a feature's range": "clipped to the range" if rules.limited else "used unchanged",
        },
        "versions": {
            "fuzzymil": __version__,
            "Python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES if has_jax() or name not in ("jax", "optax")},
        },
    }


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def _text(value: Any) -> str:
    """Return a parameter as text; other objects by their type, since a memory address is meaningless."""
    if isinstance(value, RuleBase):
        return f"rule base with {counted(value.n_rules, 'rule')}"
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if value is None or isinstance(value, str | bool | int | float):
        return str(value)
    if isinstance(value, tuple | list) and all(isinstance(part, str | int | float) for part in value):
        text = ", ".join(map(str, value))
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    if isinstance(value, dict) and all(isinstance(part, str | int | float) for part in value.values()):
        return ", ".join(f"{key}: {part}" for key, part in value.items())[:_LONGEST]
    return described(value)

"""The section on settings and versions: what it takes to make the model again."""

from __future__ import annotations

import inspect
import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from fuzzymil._utils.errors import described
from fuzzymil._version import __version__
from fuzzymil.report import _markup
from fuzzymil.report._predictions import Answers
from fuzzymil.report.html import Markup, element
from fuzzymil.rules import RuleBase

__all__ = ["settings_section", "versions"]

_LONGEST = 160


def settings_section(answers: Answers) -> Markup:
    """Tell the model's settings, those that are not the default first, its operators, and the versions."""
    model = answers.model
    defaults = {name: given.default for name, given in inspect.signature(type(model).__init__).parameters.items()}
    chosen: dict[str, Any] = {}
    usual: dict[str, Any] = {}
    for name, value in model.get_params(deep=False).items():
        (usual if _same(value, defaults.get(name)) else chosen)[name] = _written(value)
    rules = answers.rules
    operators = {
        "T-norm (AND)": rules.t_norm,
        "S-norm (OR)": rules.s_norm,
        "T-conorm (instances)": f"{rules.aggregation}, alpha = {_written(rules.alpha)}",
        "Conclusions": f"{'linear in the features' if rules.coefs.shape[2] > 1 else 'constants'}, joined by "
        f"{rules.combine}",
        "Values outside a feature's range": "count as the nearest end of it" if rules.limited else "count as they are",
    }
    return _markup.section(
        "settings",
        "Settings and versions",
        element("h3", f"{type(model).__name__}: settings that are not the default"),
        _markup.facts(chosen) if chosen else element("p", "None: every setting is at its default."),
        element("details", element("summary", f"{len(usual)} settings at their defaults"), _markup.facts(usual))
        if usual
        else None,
        element("h3", "Operators of the rules"),
        _markup.facts(operators),
        element("h3", "Versions"),
        _markup.facts(versions()),
    )


def versions() -> dict[str, str]:
    """Return the versions of this library and of those whose numbers go in."""
    libraries = ("jax", "numpy", "optax", "scikit-learn", "scipy")
    return {"fuzzymil": __version__, "Python": platform.python_version(), **{name: version(name) for name in libraries}}


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def _written(value: Any) -> str:
    """Return a setting for people; objects by their kind, since their addresses tell nothing."""
    if isinstance(value, RuleBase):
        return f"a rule base of {_markup.counted(value.n_rules, 'rule')}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if value is None or isinstance(value, str | bool | int | float):
        return str(value)
    if isinstance(value, tuple | list) and all(isinstance(part, str | int | float) for part in value):
        text = ", ".join(map(str, value))
        return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"
    if isinstance(value, dict) and all(isinstance(part, str | int | float) for part in value.values()):
        return ", ".join(f"{key}: {part}" for key, part in value.items())[:_LONGEST]
    return described(value)

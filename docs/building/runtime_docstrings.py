"""What the reference shows where reading the source is not enough.

The estimators fill parts of their docstrings, and get their constructors, when they are imported: the reference
takes both from the classes themselves.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import griffe

from fuzzymil import estimators

CHOICES = re.compile(r"^( *[\w, ]+ : )\{(.+?)\}", re.MULTILINE)


class RuntimeDocstrings(griffe.Extension):
    """Docstrings and constructors of the estimators as Python has them; choices with all that belongs to them."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Replace what the estimators' classes got at import time."""
        for name in estimators.__all__:
            known = getattr(estimators, name)
            if inspect.isclass(known):
                read = pkg.modules_collection[f"{known.__module__}.{name}"]
                read.docstring.value = _without_braces(inspect.getdoc(known))
                read.set_member("__init__", _constructor(known, read))

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Write choices so that they are read whole."""
        if obj.docstring is not None:
            obj.docstring.value = _without_braces(obj.docstring.value)


def _without_braces(text: str) -> str:
    """Turn ``init : {"fcm", "grid"} or RuleBase`` into ``init : "fcm" | "grid" or RuleBase``.

    Of braces, the reader drops what follows them and takes the first choice for the default.
    """
    return CHOICES.sub(lambda found: found[1] + found[2].replace(", ", " | "), text)


def _constructor(known: type, parent: griffe.Class) -> griffe.Function:
    """Return the constructor with the kinds, order and defaults of its parameters."""
    parameters = [
        griffe.Parameter(
            parameter.name,
            kind=griffe.ParameterKind(parameter.kind.description),
            default=None if parameter.default is parameter.empty else repr(parameter.default),
        )
        for parameter in inspect.signature(known.__init__).parameters.values()
    ]
    return griffe.Function("__init__", parameters=griffe.Parameters(*parameters), parent=parent, returns="None")

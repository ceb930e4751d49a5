"""Registries: dictionaries of named choices that users may add to, and packages in which a new file is found."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType
from typing import Any

from fuzzymil._utils.errors import ParameterError


def register(registry: dict[str, Any], kind: str, name: str, entry: Any) -> None:
    """Add an entry, unless something else is registered under its name.

    Defining the same thing again, as running a notebook's cell twice does, replaces it.

    Examples
    --------
    >>> norms = {"min": min}
    >>> register(norms, "T-norm", "min", max)
    Traceback (most recent call last):
    fuzzymil.ParameterError: T-norm 'min' is already registered (min); choose another name.
    """
    known = registry.get(name)
    if known is not None:
        if _identity(known) != _identity(entry):
            raise ParameterError(f"{kind} {name!r} is already registered ({_identity(known)[1]}); choose another name.")
        if "jax" in sys.modules:
            sys.modules["jax"].clear_caches()  # compiled programs hold the old definition
    registry[name] = entry


def _identity(entry: Any) -> tuple[str, str]:
    return getattr(entry, "__module__", ""), getattr(entry, "__qualname__", repr(entry))


def import_modules(package: str, *, private: bool = False) -> None:
    """Import the modules of a package, so that each can register what it defines."""
    for module in pkgutil.iter_modules(sys.modules[package].__path__):
        if private or not module.name.startswith("_"):
            importlib.import_module(f"{package}.{module.name}")


def package_above(name: str) -> ModuleType:
    """Return a package that is built on the caller's: methods that open something may need one that shows it."""
    return importlib.import_module(name)

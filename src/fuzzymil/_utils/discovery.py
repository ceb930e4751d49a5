"""Packages in which a new file is found by itself, and the one door to packages above."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType


def import_modules(package: str, *, private: bool = False) -> None:
    """Import the modules of a package, so that each can register what it defines."""
    for module in pkgutil.iter_modules(sys.modules[package].__path__):
        if private or not module.name.startswith("_"):
            importlib.import_module(f"{package}.{module.name}")


def package_above(name: str) -> ModuleType:
    """Return a package that is built on the caller's: methods that open something may need one that shows it.

    Examples
    --------
    >>> package_above("fuzzymil.bags").__name__
    'fuzzymil.bags'
    """
    return importlib.import_module(name)

"""Packages in which a new file is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
import sys


def import_modules(package: str, *, private: bool = False) -> None:
    """Import the modules of a package, so that each can register what it defines."""
    for module in pkgutil.iter_modules(sys.modules[package].__path__):
        if private or not module.name.startswith("_"):
            importlib.import_module(f"{package}.{module.name}")

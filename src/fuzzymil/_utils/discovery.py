"""Packages in which a new file is found by itself."""

from __future__ import annotations

import importlib
import pkgutil
import sys


def import_modules(package: str) -> None:
    """Import every module of a package, so that each can register what it defines."""
    for module in pkgutil.iter_modules(sys.modules[package].__path__):
        importlib.import_module(f"{package}.{module.name}")

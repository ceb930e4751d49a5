"""Mamdani rules as plain values and as versioned JSON files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil._version import __version__
from fuzzymil.rules import json
from fuzzymil.rules.mamdani.rule_base import MamdaniRules

__all__ = ["FORMAT", "FORMAT_VERSION", "from_dict", "load", "save", "to_dict"]

FORMAT, FORMAT_VERSION = "fuzzymil.mamdani", 1


def to_dict(rules: MamdaniRules) -> dict[str, Any]:
    """Return rules as plain values that JSON can hold exactly."""
    return {
        "premises": rules.premises.to_dict(),
        "outputs": [json.encode_variable(output) for output in rules.outputs],
        "conclusions": [dict(concluded) for concluded in rules.conclusions],
        "implication": rules.implication,
        "accumulation": rules.accumulation,
        "defuzzify": rules.defuzzify,
        "resolution": rules.resolution,
        "default": list(rules.default),
    }


def from_dict(content: Mapping[str, Any]) -> MamdaniRules:
    """Rebuild rules from `to_dict`; damaged content raises `ModelFileError`."""
    try:
        return MamdaniRules(
            json.from_dict(content["premises"]),
            tuple(json.decode_variable(item) for item in content["outputs"]),
            tuple({str(name): str(term) for name, term in item.items()} for item in content["conclusions"]),
            implication=content["implication"],
            accumulation=content["accumulation"],
            defuzzify=content["defuzzify"],
            resolution=content["resolution"],
            default=tuple(map(storage.decode_number, content["default"])),
        )
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise ModelFileError(storage.damaged("The rules in this file", problem)) from None


def save(rules: MamdaniRules, path: storage.Path_) -> None:
    """Write rules as JSON; a failure leaves an older file whole."""
    storage.write_document(path, FORMAT, FORMAT_VERSION, {"library": __version__, **to_dict(rules)})


def load(path: storage.Path_) -> MamdaniRules:
    """Read rules that `save` wrote; nothing in the file is executed."""
    return from_dict(storage.read_document(path, {FORMAT: FORMAT_VERSION}))

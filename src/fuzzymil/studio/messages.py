"""What travels between page and program: JSON without NaN, and limits, so that one message cannot take the machine."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from fuzzymil._utils.text import half_character

LIMITS = {
    "message": 48_000_000,  # bytes of one message: a file of 32 MB as base64
    "file": 32_000_000,  # bytes
    "text": 500_000,  # characters
    "rules": 500,
    "variables": 2_000,
    "terms": 10_000,
    "instances": 1_000_000,
    "windows": 16,
    "epochs": 10_000,
    "training_seconds": 3_600,
}
"""What the studio accepts at most, by name; the page shows it."""


def json_value(value: Any) -> Any:
    """Return a value that JSON holds; NaN and infinities become None, arrays lists, anything unknown its text."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        found = value.tolist()
        if value.dtype.kind in "biuU" or (value.dtype.kind == "f" and np.isfinite(value).all()):
            return found  # the usual case, at once
        return found if all(type(each) is str for each in found) else [json_value(each) for each in found]
    if isinstance(value, np.generic):
        return json_value(value.item())
    if isinstance(value, dict):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, list) and all(type(each) is str for each in value):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(each) for each in value]
    return str(value)


def to_json(message: Any) -> str:
    """Return a message as JSON text."""
    return json.dumps(json_value(message), allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str | bytes) -> Any:
    """Return the content of JSON text; numbers beyond its standard (NaN, Infinity) raise ValueError."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is not a JSON number.")

    return json.loads(text, parse_constant=refuse)


def id_of(message: Any) -> int | float | str | None:
    """Return the id of a message, to be repeated in the answer; None for what is no number or short text."""
    found = message.get("id") if isinstance(message, dict) else None
    if isinstance(found, str):
        return found if len(found) <= 100 and half_character(found) is None else None
    return found if isinstance(found, int | float) and abs(found) < 2**63 else None


def texts(value: Any, name: str = "message") -> Iterator[tuple[str, str]]:
    """Yield all text in the content of JSON, with the name of the field that it is in."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield name, key
            yield from texts(each, str(key))
    elif isinstance(value, list):
        for each in value:
            yield from texts(each, name)

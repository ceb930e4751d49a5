"""Rule bases as plain values and as versioned JSON files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzymil import storage
from fuzzymil._version import __version__
from fuzzymil.errors import ModelFileError
from fuzzymil.membership import family
from fuzzymil.rules import Rule, RuleBase, Variable

__all__ = ["FORMAT", "FORMAT_VERSION", "from_dict", "load", "save", "to_dict"]

FORMAT, FORMAT_VERSION = "fuzzymil.rules", 1


def to_dict(rules: RuleBase) -> dict[str, Any]:
    """Return a rule base as plain values that JSON can hold exactly."""
    return {
        "variables": [
            {
                "name": variable.name,
                "unit": variable.unit,
                "low": variable.low,
                "high": variable.high,
                "terms": {
                    term: {"family": chosen.name, "parameters": list(chosen.parameters)}
                    for term, chosen in variable.terms.items()
                },
            }
            for variable in rules.variables
        ],
        "rules": [{"if": dict(rule.antecedent), "then": [list(row) for row in rule.coefs]} for rule in rules.rules],
        "outputs": list(rules.outputs),
        "t_norm": rules.t_norm,
        "t_conorm": rules.t_conorm,
        "alpha": _encode_alpha(rules.alpha),
        "combine": rules.combine,
        "consequent_alpha": _encode_alpha(rules.consequent_alpha),
        "normalise": rules.normalise,
        "default": list(rules.default),
        "limited": rules.limited,
    }


def from_dict(content: Mapping[str, Any]) -> RuleBase:
    """Rebuild a rule base from `to_dict`; damaged content raises `ModelFileError`."""
    number = storage.decode_number
    try:
        variables = [
            Variable(
                str(item["name"]),
                {
                    str(term): family(chosen["family"])(*map(number, chosen["parameters"]))
                    for term, chosen in item["terms"].items()
                },
                None if item["low"] is None else number(item["low"]),
                None if item["high"] is None else number(item["high"]),
                str(item["unit"]),
            )
            for item in content["variables"]
        ]
        rules = [
            Rule(
                {str(name): str(term) for name, term in item["if"].items()},
                tuple(tuple(map(number, row)) for row in item["then"]),
            )
            for item in content["rules"]
        ]
        return RuleBase(
            tuple(variables),
            tuple(rules),
            tuple(map(str, content["outputs"])),
            t_norm=content["t_norm"],
            t_conorm=content["t_conorm"],
            alpha=_decode_alpha(content["alpha"]),
            combine=content["combine"],
            consequent_alpha=_decode_alpha(content["consequent_alpha"]),
            normalise=content["normalise"],
            default=tuple(map(number, content["default"])),
            limited=content["limited"],
        )
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as problem:
        raise ModelFileError(f"The rules in this file are damaged: {problem!s} is missing or wrong.") from None


def save(rules: RuleBase, path: storage.Path_) -> None:
    """Write a rule base as JSON; a failure leaves an older file whole."""
    storage.write_document(path, FORMAT, FORMAT_VERSION, {"library": __version__, **to_dict(rules)})


def load(path: storage.Path_) -> RuleBase:
    """Read a rule base that `save` wrote; nothing in the file is executed."""
    return from_dict(storage.read_document(path, {FORMAT: FORMAT_VERSION}))


def _encode_alpha(alpha: float | tuple[float, ...]) -> Any:
    return [*map(storage.encode_number, alpha)] if isinstance(alpha, tuple) else storage.encode_number(alpha)


def _decode_alpha(content: Any) -> float | tuple[float, ...]:
    return tuple(map(storage.decode_number, content)) if isinstance(content, list) else storage.decode_number(content)

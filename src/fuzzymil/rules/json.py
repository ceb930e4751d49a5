"""Rule bases as plain values, for versioned JSON files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.inference.membership import Formula, MembershipFunction, family
from fuzzymil.inference.norms import DUAL
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.rules.conclusion import SETTINGS, Defuzzification
from fuzzymil.rules.premise import MAX_DEPTH, And, Expression, Is, Not, Or, Quantified, conjunction
from fuzzymil.rules.rule import Rule, Variable

if TYPE_CHECKING:
    from fuzzymil.rules._rule_base import RuleBase

FORMAT = "fuzzymil.rules"

VERSIONS = {FORMAT: 1}
"""The format of rule files, and its latest version."""

MODEL = {"fuzzymil.model": 1}
"""The format of model files, which contain rules, and its latest version."""


def to_dict(rules: RuleBase) -> dict[str, Any]:
    """Return the rule base as plain values that JSON stores exactly.

    Examples
    --------
    >>> from fuzzymil.rules import RuleBase
    >>> content = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1]).to_dict()
    >>> content["rules"][1]
    {'if': {'x1': 'high'}, 'then': [[1.0]]}
    """
    return {
        "variables": [encode_variable(variable) for variable in rules.variables],
        "rules": [_encode_rule(rule) for rule in rules.rules],
        "outputs": [
            output.name if output == Variable(output.name) and not output.comment else encode_variable(output)
            for output in rules.outputs
        ],
        "t_norm": rules.t_norm,
        "aggregation": rules.aggregation,
        "alpha": _encode_alpha(rules.alpha),
        **_settings(rules),
        "default": [*map(storage.encode_number, rules.default)],
        "limited": rules.limited,
        **({} if rules.s_norm == DUAL.get(rules.t_norm) else {"s_norm": rules.s_norm}),
        **({} if rules.unit is None else {"unit": rules.unit}),
        **_said(name=rules.name, comment=rules.comment),
    }


def _settings(rules: RuleBase) -> dict[str, Any]:
    """Return the settings of rules that conclude sets, or of those that conclude numbers."""
    if rules.defuzzification is None:
        own = {"conclusion_alpha": _encode_alpha(rules.conclusion_alpha), "normalize": rules.normalize}
        return {"conclusion_aggregation": rules.conclusion_aggregation, **own}
    found = {name: getattr(rules.defuzzification, name) for name in SETTINGS}
    return {"defuzzification": {name: [*v] if isinstance(v, tuple) else v for name, v in found.items()}}


def from_dict(make: Callable[..., RuleBase], content: Mapping[str, Any]) -> RuleBase:
    """Rebuild a rule base from `to_dict`; see `RuleBase.from_dict`."""
    number = storage.decode_number
    try:
        if "defuzzification" in content:
            settings: dict[str, Any] = {"defuzzification": Defuzzification(**content["defuzzification"])}
        else:
            settings = {name: content[name] for name in ("conclusion_aggregation", "normalize")}
            settings["conclusion_alpha"] = _decode_alpha(content["conclusion_alpha"])
        return make(
            variables=tuple(decode_variable(item) for item in content["variables"]),
            rules=tuple(map(_decode_rule, content["rules"])),
            outputs=tuple(item if isinstance(item, str) else decode_variable(item) for item in content["outputs"]),
            t_norm=content["t_norm"],
            aggregation=content["aggregation"],
            alpha=_decode_alpha(content["alpha"]),
            default=tuple(map(number, content["default"])),
            limited=content["limited"],
            s_norm=content.get("s_norm", ""),
            unit=number(content["unit"]) if "unit" in content else None,
            name=str(content.get("name", "")),
            comment=str(content.get("comment", "")),
            **settings,
        )
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as problem:
        raise ModelFileError(storage.damaged("The rules in this file", problem)) from None


def encode_set(chosen: MembershipFunction) -> dict[str, Any]:
    """Return a fuzzy set as plain values."""
    return {"family": chosen.name, "parameters": list(chosen.arguments)}


def decode_set(content: Mapping[str, Any]) -> MembershipFunction:
    """Rebuild a fuzzy set from `encode_set`."""
    kind, values = family(content["family"]), list(content["parameters"])
    text = values[:1] if kind is Formula else []
    return kind(*text, *map(storage.decode_number, values[len(text) :]))


def encode_variable(variable: Variable) -> dict[str, Any]:
    """Return a variable as plain values."""
    return {
        "name": variable.name,
        "unit": variable.unit,
        "low": variable.low,
        "high": variable.high,
        "terms": {term: encode_set(chosen) for term, chosen in variable.declared_terms.items()},
        **({"categories": list(variable.categories)} if variable.categories else {}),
        **({"missing_values": list(variable.missing_values)} if variable.missing_values else {}),
        **_said(comment=variable.comment),
    }


def decode_variable(content: Mapping[str, Any]) -> Variable:
    """Rebuild a variable from `encode_variable`."""
    low, high = (None if content[end] is None else storage.decode_number(content[end]) for end in ("low", "high"))
    terms = {str(term): decode_set(chosen) for term, chosen in content["terms"].items()}
    comment, categories = str(content.get("comment", "")), tuple(map(str, content.get("categories", ())))
    missing_values = tuple(map(storage.decode_number, content.get("missing_values", ())))
    return Variable(str(content["name"]), terms, low, high, str(content["unit"]), comment, categories, missing_values)


def _encode_rule(rule: Rule) -> dict[str, Any]:
    terms = {name: [said.term, *said.hedges] if said.hedges else said.term for name, said in rule.terms.items()}
    return {
        **({"if": dict(rule.antecedent)} if rule.is_plain else {"premise": _encode_premise(rule.premise)}),
        "then": terms or [list(row) for row in rule.coefs],
        **({} if rule.weight == 1 else {"weight": rule.weight}),
        **_said(label=rule.label, comment=rule.comment),
    }


def _decode_rule(content: Mapping[str, Any]) -> Rule:
    said = content["then"]
    if isinstance(said, Mapping):
        terms = {str(name): [*map(str, each)] if isinstance(each, list) else [str(each)] for name, each in said.items()}
        conclusions: Any = {name: Is(name, term, tuple(hedges)) for name, (term, *hedges) in terms.items()}
    else:
        conclusions = [[*map(storage.decode_number, row)] for row in said]
    return Rule(
        conjunction(content["if"]) if "if" in content else _decode_premise(content["premise"]),
        conclusions,
        storage.decode_number(content.get("weight", 1.0)),
        str(content.get("label", "")),
        str(content.get("comment", "")),
    )


def _said(**texts: str) -> dict[str, str]:
    """Return the texts that are not empty."""
    return {name: text for name, text in texts.items() if text}


def _encode_premise(premise: Expression) -> dict[str, Any]:
    if isinstance(premise, Is):
        return {"is": [premise.variable, premise.term, *premise.hedges]}
    if isinstance(premise, Not):
        return {"not": _encode_premise(premise.part)}
    if isinstance(premise, Quantified):
        inner = _encode_premise(premise.part)
        return {premise.quantifier: inner if premise.count is None else [premise.count, inner]}
    kind = "and" if isinstance(premise, And) else "or"
    return {kind: [_encode_premise(part) for part in premise.parts]}


def _decode_premise(content: Mapping[str, Any], level: int = 1) -> Expression:
    if level > MAX_DEPTH:
        raise ModelFileError(f"The file is damaged: a premise has more than {MAX_DEPTH} levels.")
    ((kind, inner),) = content.items()
    if kind == "is":
        variable, term, *hedges = map(str, inner)
        return Is(variable, term, tuple(hedges))
    if kind == "not":
        return Not(_decode_premise(inner, level + 1))
    if kind in QUANTIFIERS:
        count, part = inner if kind in COUNTING else (None, inner)
        return Quantified(kind, _decode_premise(part, level + 1), count)
    parts = tuple(_decode_premise(part, level + 1) for part in inner)
    return And(parts) if kind == "and" else {"or": Or}[kind](parts)


def _encode_alpha(alpha: float | tuple[float, ...]) -> Any:
    return [*map(storage.encode_number, alpha)] if isinstance(alpha, tuple) else storage.encode_number(alpha)


def _decode_alpha(content: Any) -> float | tuple[float, ...]:
    return tuple(map(storage.decode_number, content)) if isinstance(content, list) else storage.decode_number(content)

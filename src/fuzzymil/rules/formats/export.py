"""What other programs' files cannot hold, said plainly."""

from __future__ import annotations

from fuzzymil._utils.errors import known_name, listed
from fuzzymil.rules._rule_base import RuleBase
from fuzzymil.rules.formats import fis_writer, fll_writer
from fuzzymil.rules.formats.system import of_rules
from fuzzymil.rules.mamdani import MamdaniRules

__all__ = ["FORMATS", "to_fis", "to_fll", "what_is_lost"]

FORMATS = ("json", "rules", "fll", "fis", "markdown", "latex")
_WRITERS = {"fll": fll_writer, "fis": fis_writer}


def what_is_lost(rules: RuleBase | MamdaniRules, format: str) -> list[str]:
    """Return, in plain sentences, what a format does not keep of these rules.

    Whatever is lost, single instances (bags of one) are inferred as before, but for what the sentences say; rules
    that would be understood otherwise are not written at all. Files for other programs open with the sentences.

    Parameters
    ----------
    rules : RuleBase or MamdaniRules
    format : {"json", "rules", "fll", "fis", "markdown", "latex"}
        "rules" is the text of ``to_source``; it and "json" keep everything.

    Raises
    ------
    ParameterError
        For rules that cannot be written in this format.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], alpha=5.0)
    >>> for sentence in what_is_lost(rules, "fll"):
    ...     print(sentence)
    Bags are not part of the format: other programs infer one instance at a time.
    How instances are joined (aggregation='softmax', alpha=5) is not kept: it is read back as aggregation='max'.
    >>> what_is_lost(rules, "json")
    []
    """
    known_name("format", format, FORMATS)
    if format in ("markdown", "latex"):
        return ["A table is made for reading: it cannot be read back."]
    if format not in _WRITERS:
        return []
    system = of_rules(rules)
    _WRITERS[format].write(system)  # raises where nothing can be written
    return [*_of_bags(rules), *_WRITERS[format].changes(system)]


def _of_bags(rules: RuleBase | MamdaniRules) -> list[str]:
    base = rules.premises if isinstance(rules, MamdaniRules) else rules
    told = ["Bags are not part of the format: other programs infer one instance at a time."]
    if base.aggregation != "max":
        told.append(
            f"How instances are joined (aggregation={base.aggregation!r}, alpha={_shown(base.alpha)}) is not kept: "
            "it is read back as aggregation='max'."
        )
    first_order = len(base.rules[0].coefs[0]) > 1  # a constant is the same for all instances
    if first_order and (base.combine, base.consequent_alpha) != ("softmax", 1.0):
        told.append(
            f"How instances' linear conclusions are joined (combine={base.combine!r}, "
            f"consequent_alpha={_shown(base.consequent_alpha)}) is not kept: it is read back as combine='softmax', "
            "consequent_alpha=1."
        )
    named = (*base.variables, *(rules.outputs if isinstance(rules, MamdaniRules) else ()))
    units = [f"{variable.name!r:.60} in {variable.unit!r:.60}" for variable in named if variable.unit]
    if units:
        told.append(f"Units are not part of the format: {listed(units)}.")
    return told


def _shown(alpha: float | tuple[float, ...]) -> str:
    return f"{alpha:g}" if isinstance(alpha, float) else "one a rule or output"


def to_fll(rules: RuleBase | MamdaniRules) -> str:
    """Write rules as FLL; see `RuleBase.to_fll`."""
    return fll_writer.write(of_rules(rules), what_is_lost(rules, "fll"))


def to_fis(rules: RuleBase | MamdaniRules) -> str:
    """Write rules as the text of a ``.fis`` file; see `RuleBase.to_fis`."""
    return fis_writer.write(of_rules(rules), what_is_lost(rules, "fis"))

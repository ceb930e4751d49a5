"""Export of rules to other programs' formats, and what these formats cannot express."""

from __future__ import annotations

from collections.abc import Iterable

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.files import fcl_writer, fis_writer, fll_writer, fml_writer
from fuzzymil.rules.files.c_code import C
from fuzzymil.rules.files.code import Program
from fuzzymil.rules.files.python_code import PYTHON
from fuzzymil.rules.files.system import System
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import is_quantified
from fuzzymil.rules.rule import Variable

_WRITERS = {"fll": fll_writer, "fis": fis_writer, "fcl": fcl_writer, "fml": fml_writer}
_LANGUAGES = {"python": PYTHON, "c": C}
FORMATS = ("json", "rules", *_WRITERS, "markdown", "latex", *_LANGUAGES)


def write(format: str, system: System, base: RuleSet) -> str:
    """Return the system of rules as text in another program's format, headed by comments that list what is lost."""
    if format in _LANGUAGES:
        language = _LANGUAGES[format]
        return language.text(Program(system, base, language), losses(format, system, base))
    return str(_WRITERS[format].write(system, losses(format, system, base)))


def _refuse_quantifiers(format: str, base: RuleSet) -> None:
    name = {"fis": "a .fis file"}.get(format, format.upper())
    for position, rule in enumerate(base.rules, start=1):
        if is_quantified(rule.premise):
            raise ParameterError(
                f"Rule {position} cannot be written to {name}, which has no quantifiers: it knows single instances, "
                f"not bags (IF {printer.premise_text(rule.premise):.100}). Save them as JSON or as text "
                "(to_source)."
            )


def losses(format: str, system: System, base: RuleSet) -> list[str]:
    """Return sentences about what a format does not keep; raises `ParameterError` if it cannot hold the rules."""
    if format in ("markdown", "latex"):
        return ["Tables are for reading: they cannot be loaded again."]
    if format in _LANGUAGES:
        _LANGUAGES[format].text(Program(system, base, _LANGUAGES[format]), [])  # raises if it cannot be written
        lost = ["Code cannot be loaded again.", "Degrees are plain numbers: strengths below 1e-308 count as 0."]
        return [*lost, *_codes(base.variables)]
    if format not in _WRITERS:
        return []
    _refuse_quantifiers(format, base)
    _WRITERS[format].write(system)  # raises if the rules cannot be written
    return [*_lost_with_bags(base), *_WRITERS[format].changes(system)]


def _lost_with_bags(base: RuleSet) -> list[str]:
    variables = base.all_variables
    found = ["The format has no bags: other programs infer one instance at a time."]
    if base.aggregation != "max":
        found.append(
            f"The aggregation over instances (aggregation={base.aggregation!r}, alpha={_shown(base.alpha)}) is not "
            "kept: it is read back as aggregation='max'."
        )
    first_order = base.coefs.shape[2] > 1  # constants are the same for all instances
    if first_order and (base.conclusion_aggregation, base.conclusion_alpha) != ("softmax", 1.0):
        found.append(
            "The aggregation of the instances' linear conclusions "
            f"(conclusion_aggregation={base.conclusion_aggregation!r}, conclusion_alpha={_shown(base.conclusion_alpha)}) "
            "is not kept: it is read back as conclusion_aggregation='softmax', conclusion_alpha=1."
        )
    if not base.normalize and any(base.default):
        found.append("The default, which is added to every output, is written as a rule without conditions.")
    labels = [f"{rule.label!r:.60}" for rule in base.rules if rule.label]
    if labels:
        found.append(f"Labels of rules are not kept: {listed(labels)}.")
    comments = [base.comment, *(rule.comment for rule in base.rules), *(variable.comment for variable in variables)]
    if any(comments):
        found.append("Comments are not kept.")
    found += _gaps(variables)
    units = [f"{variable.name!r:.60} in {variable.unit!r:.60}" for variable in variables if variable.unit]
    if units:
        found.append(f"Units are not kept: {listed(units)}.")
    return [*found, *_codes(variables)]


def _gaps(variables: Iterable[Variable]) -> list[str]:
    names = [f"{variable.name!r:.60}" for variable in variables if variable.gaps]
    return [f"What a missing value stands for is not kept: {listed(names)}."] if names else []


def _codes(variables: Iterable[Variable]) -> list[str]:
    """Return what the codes of categories mean, which only the names of terms say otherwise."""
    return [
        f"The values of {variable.name!r:.60} are codes of categories: "
        + ", ".join(f"{code} = {name:.60}" for code, name in enumerate(variable.categories))
        + "."
        for variable in variables
        if variable.categories
    ]


def _shown(alpha: float | tuple[float, ...]) -> str:
    return f"{alpha:g}" if isinstance(alpha, float) else "one per rule or output"

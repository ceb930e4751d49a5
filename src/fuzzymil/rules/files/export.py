"""Export of rules to other programs' formats, and what these formats cannot express."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fuzzymil._utils.errors import ParameterError, listed
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.files import fcl, fcl_writer, fis, fis_writer, fll, fll_writer, fml, fml_writer
from fuzzymil.rules.files._format import Format, Rules, register_format
from fuzzymil.rules.files._system import parts, rules_of, system_of
from fuzzymil.rules.files.c_code import C
from fuzzymil.rules.files.code import Language, Program
from fuzzymil.rules.files.python_code import PYTHON
from fuzzymil.rules.language import printer
from fuzzymil.rules.premise import is_quantified
from fuzzymil.rules.rule import Variable


def _refuse_quantifiers(format: str, base: RuleSet) -> None:
    name = {"fis": "a .fis file"}.get(format, format.upper())
    for position, rule in enumerate(base.rules, start=1):
        if is_quantified(rule.premise):
            raise ParameterError(
                f"Rule {position} cannot be written to {name}, which has no quantifiers: it knows single instances, "
                f"not bags (IF {printer.premise_text(rule.premise):.100}). Save them as JSON or as text "
                "(to_source)."
            )


def _exporter(format: str) -> Callable[[Rules], tuple[str, list[str]]]:
    writer = _WRITERS[format]

    def export(rules: Rules) -> tuple[str, list[str]]:
        base, outputs = parts(rules)
        _refuse_quantifiers(format, base)
        system = system_of(rules)
        writer.write(system)  # raises if the rules cannot be written
        lost = [*_lost_with_bags(base, [*base.variables, *outputs]), *writer.changes(system)]
        return writer.write(system, lost), lost

    return export


def _code_exporter(language: Language) -> Callable[[Rules], tuple[str, list[str]]]:
    def export(rules: Rules) -> tuple[str, list[str]]:
        base, _ = parts(rules)
        lost = ["Code cannot be loaded again.", "Degrees are plain numbers: strengths below 1e-308 count as 0."]
        lost += _codes(base.variables)
        return language.text(Program(system_of(rules), base, language), lost), lost

    return export


def _lost_with_bags(base: RuleSet, variables: Iterable[Variable]) -> list[str]:
    found = ["The format has no bags: other programs infer one instance at a time."]
    if base.aggregation != "max":
        found.append(
            f"The aggregation over instances (aggregation={base.aggregation!r}, alpha={_shown(base.alpha)}) is not "
            "kept: it is read back as aggregation='max'."
        )
    first_order = len(base.rules[0].coefs[0]) > 1  # constants are the same for all instances
    if first_order and (base.conclusion_aggregation, base.conclusion_alpha) != ("softmax", 1.0):
        found.append(
            "How the instances' linear conclusions are joined "
            f"(conclusion_aggregation={base.conclusion_aggregation!r}, "
            f"conclusion_alpha={_shown(base.conclusion_alpha)}) is not kept: it is read back as "
            "conclusion_aggregation='softmax', conclusion_alpha=1."
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


_READERS = {"fll": fll.read, "fis": fis.read, "fcl": fcl.read, "fml": fml.read}
_WRITERS: dict[str, Any] = {"fll": fll_writer, "fis": fis_writer, "fcl": fcl_writer, "fml": fml_writer}
for _name, _title, _endings in (
    ("fll", "FLL", (".fll",)),
    ("fis", "a .fis file", (".fis",)),
    ("fcl", "FCL", (".fcl",)),
    ("fml", "FML", (".fml", ".xml")),
):
    register_format(
        Format(
            name=_name,
            title=_title,
            endings=_endings,
            write=_exporter(_name),
            read=lambda text, *block, _read=_READERS[_name]: rules_of(_read(text, *block)),
        )
    )
register_format(Format(name="python", title="code", endings=(".py",), write=_code_exporter(PYTHON)))
register_format(Format(name="c", title="code", endings=(".c",), write=_code_exporter(C)))

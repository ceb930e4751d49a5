"""What deserves attention in the rules, each finding with the edit that it advises."""

from __future__ import annotations

import ast
import re
from typing import Any

from fuzzymil.rules.editing import Finding
from fuzzymil.studio.case import Case

__all__ = ["findings"]

_CALL = re.compile(r"edit\((?:[^()]|\([^()]*\))*\)")
_LABELS = {
    "duplicate": "Merge them",
    "contradiction": "Merge them",
    "never fires": "Drop it",
    "never matters": "Drop it",
    "never true": "Drop the rule",
    "always true": "Remove the conditions",
    "always fires": "Lower its weight",
    "unused terms": "Remove unused terms",
}


def findings(case: Case) -> list[dict[str, Any]]:
    """Return the findings of `diagnose`, each with a request that applies its advice, where it has one.

    Examples
    --------
    >>> from fuzzymil.bags import Bags
    >>> from fuzzymil.studio.document import Document
    >>> text = "VARIABLE x: low = Gaussian(0, 1)" + "  IF x is low THEN y = 1" * 2 + "  IF anything THEN y = 0"
    >>> found = findings(Case(Document(text), Bags.from_list([[[0.0]], [[3.0]]])))
    >>> [(each["kind"], each["fix"]["edit"]["arguments"]) for each in found]
    [('duplicate', {'merge': [(1, 2)]})]
    """
    rules = case.rules
    found: tuple[Finding, ...] = tuple(rules.diagnose(case.data))
    return [
        {
            "kind": each.kind,
            "rules": list(each.rules),
            "bags": list(map(str, each.bags)),
            "message": each.message,
            "advice": each.advice,
            "fix": _fix(each, rules.n_rules),
        }
        for each in found
        # What a person switched off is meant not to fire.
        if not (each.kind in ("never fires", "never matters") and set(each.rules) <= case.document.off)
    ]


def _fix(found: Finding, n_rules: int) -> dict[str, Any] | None:
    call = _CALL.search(found.advice)
    arguments = _arguments(call.group()) if call else None
    if found.kind == "never true" and n_rules > 1:
        arguments = {"drop": found.rules[0]}
    if not arguments:
        return None
    label = "Drop one" if found.kind == "contradiction" and "drop" in arguments else _LABELS.get(found.kind, "Apply")
    return {"label": label, "edit": {"type": "edit", "arguments": arguments, "label": f"{label}: {found.kind}"}}


def _arguments(call: str) -> dict[str, Any] | None:
    """Return the arguments of an advised call of `edit`; None if a person has to fill something in."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    if any(isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node)):
        return None
    return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.keywords}

"""Facts about the health of the rules for ``templates/health.html``: dead, duplicate and dominating rules, and more."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fuzzymil.rules.editing import Diagnosis

# Kinds of findings about whole rules, which are reported even if there are none.
_QUESTIONS = {
    "never fires": "Dead rules (no effect on any bag)",
    "always fires": "Dominating rules (the others hardly matter)",
    "duplicate": "Duplicate rules",
    "contradiction": "Contradicting rules",
    "uncovered bags": "Bags that hardly any rule covers",
}
_OF_NORMALIZED = ("contradiction", "uncovered bags")


def health_facts(diagnoses: Sequence[Diagnosis], *, additive: bool) -> dict[str, Any]:
    """Sort the findings about each member into those about whole rules and the rest.

    Parameters
    ----------
    diagnoses : sequence of Diagnosis
        One per member.
    additive : bool
        Whether the rules add up: then none contradicts another, and a bag needs no rule.
    """
    asked = {kind: text for kind, text in _QUESTIONS.items() if not additive or kind not in _OF_NORMALIZED}
    found = [(member, finding) for member, diagnosis in enumerate(diagnoses, start=1) for finding in diagnosis]
    counts = Counter(finding.kind for _, finding in found)
    return {
        "n_findings": len(found),
        "questions": {question: counts[kind] for kind, question in asked.items()},
        "about_rules": [each for each in found if each[1].kind in _QUESTIONS],
        "about_parts": [each for each in found if each[1].kind not in _QUESTIONS],
        "several": len(diagnoses) > 1,
    }

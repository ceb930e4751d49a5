"""The section on the health of the rules: dead, duplicate, dominating, and whatever else should be looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fuzzymil.report import _markup
from fuzzymil.report.html import Markup, element
from fuzzymil.rules.editing import Diagnosis, Finding

__all__ = ["health_section"]

# What everybody asks first, whether anything was found or not.
_QUESTIONS = {
    "never fires": "Dead rules, which never have a say",
    "always fires": "Dominating rules, which leave the others none",
    "duplicate": "Duplicate rules, which ask and conclude the same",
    "contradiction": "Contradicting rules, which ask the same and conclude otherwise",
    "uncovered bags": "Bags on which hardly any rule fires",
}

_FEW = 5  # so many further findings stand unfolded


def health_section(diagnoses: Sequence[Diagnosis]) -> Markup:
    """Tell what was found about the rules of each member; what concerns whole rules first, the rest folded."""
    found = [(m, finding) for m, diagnosis in enumerate(diagnoses) for finding in diagnosis]
    counts = Counter(finding.kind for _, finding in found)
    answers = {
        question: _markup.counted(counts[kind], "finding") if counts[kind] else "none"
        for kind, question in _QUESTIONS.items()
    }
    content = [_markup.facts(answers)]
    asked = [each for each in found if each[1].kind in _QUESTIONS]
    others = [each for each in found if each[1].kind not in _QUESTIONS]
    if asked:
        content.append(_table("What to look at", asked, several=len(diagnoses) > 1))
    if others:
        title = f"{_markup.counted(len(others), 'finding')} about conditions, terms and conclusions"
        table = _table("What could be made simpler", others, several=len(diagnoses) > 1)
        content.append(element("details", element("summary", title), table, open=len(others) <= _FEW))
    if not found:
        content.append(element("p", "Nothing else was found that should be looked at.", class_="finding"))
    return _markup.section("health", "Rule health", content)


def _table(title: str, found: Sequence[tuple[int, Finding]], *, several: bool) -> Markup:
    rows = [[finding.kind, *([str(m + 1)] if several else []), finding.message, finding.advice] for m, finding in found]
    heads = ["finding", *(["member"] if several else []), "what it is", "what to do"]
    return _markup.table(title, heads, rows, kind="words")

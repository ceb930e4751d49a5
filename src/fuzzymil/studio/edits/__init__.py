"""The edits of a document: each takes the case and a message, and returns another document and what was done.

All of them go through the library's own `edit`, `parse` and `over`, so that the studio can do nothing that a program
could not.
"""

from fuzzymil._utils.errors import ParameterError
from fuzzymil.studio.document import Document
from fuzzymil.studio.edits import rules, sets
from fuzzymil.studio.edits._registry import EDITS, ConflictError
from fuzzymil.studio.edits.sets import dragged
from fuzzymil.studio.limits import LIMITS
from fuzzymil.studio.text import checked_text

__all__ = ["EDITS", "ConflictError", "checked_document", "dragged", "rules", "sets"]


def checked_document(document: Document) -> Document:
    """Return a document whose text can be parsed and whose size is within the limits."""
    checked_text(document.text)
    variables = document.rules.all_variables
    counts = {
        "rules": document.rules.n_rules,
        "variables": len(variables),
        "terms": sum(len(variable.terms) for variable in variables),
    }
    for what, count in counts.items():
        if count > LIMITS[what]:
            raise ParameterError(f"These are {count:,} {what}; the studio takes at most {LIMITS[what]:,}.")
    return document

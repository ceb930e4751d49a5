"""What the page shows of a case: one function per view, from a request to a JSON value."""

from collections.abc import Callable, Mapping
from typing import Any

from fuzzymil._utils.errors import known_name
from fuzzymil.studio.case import Case
from fuzzymil.studio.views.bags import bags, explanation
from fuzzymil.studio.views.sets import histograms, variable
from fuzzymil.studio.views.surface import slices, surface
from fuzzymil.studio.views.validation import score, validation
from fuzzymil.studio.views.viewer import viewer

__all__ = ["VIEWS", "view"]

VIEWS: dict[str, Callable[[Case, Mapping[str, Any]], dict[str, Any]]] = {
    "bags": bags,
    "explain": explanation,
    "histograms": histograms,
    "score": score,
    "slice": slices,
    "surface": surface,
    "validation": validation,
    "variable": variable,
    "viewer": viewer,
}
"""The views by name. They only read: a drag asks for them with rules that are not kept."""


def view(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one view.

    Examples
    --------
    >>> from fuzzymil.studio.document import Document
    >>> case = Case(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1"), None)
    >>> view(case, {"type": "variable", "variable": "x"})["terms"][0]["name"]
    'low'
    """
    known_name("view", request.get("type"), VIEWS)
    return {"type": request["type"], **VIEWS[str(request["type"])](case, request)}

"""Variables and the histogram of their values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import known_name
from fuzzymil.rules.activations import matched
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.describe import variables_of
from fuzzymil.studio.sets import axis_of

__all__ = ["histograms", "variable"]

_BINS = 48


def variable(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return one variable with its terms, as in the state."""
    known_name("variable", request.get("variable"), [each.name for each in case.rules.all_variables])
    return variables_of(case, str(request["variable"]))[0]


def histograms(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return for each input the number of instances in each interval, by the label of their bag."""
    del request
    seen = matched(case.base, case.data)
    labels = None if case.labels is None or case.classes is None else case.labels
    groups = {"all": np.ones(seen.n_instances, bool)}
    if labels is not None:
        of_instances = np.repeat(np.asarray(labels, object), seen.sizes)
        groups = {class_text(name): of_instances == name for name in dict.fromkeys(labels)}
    found = []
    for d, each in enumerate(case.base.variables):
        values = seen.instances[:, d]
        edges = np.linspace(*axis_of(each, values), _BINS + 1)
        counts = {name: np.histogram(values[own & ~np.isnan(values)], edges)[0] for name, own in groups.items()}
        found.append({"variable": each.name, "edges": edges, "counts": counts})
    return {"histograms": found}

"""The table of bags, and the explanation of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.explain import explain
from fuzzymil.studio.case import Case, class_text

__all__ = ["bags", "committee_on", "explanation", "place_of"]


def bags(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the table of bags; ``before`` is a case to compare with."""
    data, reading = case.data, case.reading
    before: Case | None = request.get("before")
    uncovered = getattr(case.found, "uncovered", None)
    found: dict[str, Any] = {
        "ids": list(map(str, data.ids.tolist())),
        "n_instances": data.sizes,
        "labels": case.labels,
        "scores": case.scores,
        "outputs": case.found.output if len(case.outputs) > 1 else None,
        "probabilities": None,
        "decisions": case.decisions,
        "right": None,
        "uncovered": np.zeros(data.n_bags, bool) if uncovered is None else uncovered,
        "strongest": case.found.strongest,
        "n_changed": 0,
        "before": None,
        "committee": None,
    }
    if case.committee is not None:
        found["committee"] = {"decisions": case.committee.decisions, "outputs": case.committee.output}
    if reading is not None:
        chances = reading.probability(case.found.output)
        found["probabilities"] = chances[:, reading.positive] if chances.shape[1] == 2 else chances.max(axis=1)
        if case.labels is not None:
            found["right"] = case.decisions == case.labels
    if before is not None:
        changed = before.decisions != case.decisions
        found["n_changed"] = int(changed.sum()) if reading is not None else 0
        found["before"] = {"scores": before.scores, "decisions": before.decisions}
    return found


def place_of(data: Bags, bag: Any) -> int:
    """Return the place of a bag, given by its place or by its id as text.

    Examples
    --------
    >>> place_of(Bags.from_list([[[0.0]], [[1.0]]], ids=["a", "b"]), "b")
    1
    """
    if isinstance(bag, int) and not isinstance(bag, bool) and 0 <= bag < data.n_bags:
        return bag
    ids = list(map(str, data.ids.tolist()))
    if isinstance(bag, str) and bag in ids:
        return ids.index(bag)
    raise ParameterError(f"There is no bag {bag!r:.60}: expected a place from 0 to {data.n_bags - 1}, or an ID.")


def committee_on(case: Case, place: int = 0) -> dict[str, Any] | None:
    """Return what a committee says about a bag: together, and each of its members, the shown one first."""
    together = case.committee
    if together is None:
        return None
    single = [output[place : place + 1] for output in case.outputs_of_members]
    return {
        "output": together.output[place],
        "decision": together.decisions[place],
        "probability": None
        if together.probabilities is None or case.classes is None
        else dict(zip(map(class_text, case.classes), together.probabilities[place], strict=True)),
        "members": [
            {
                "output": output[0],
                "decision": output[0, 0] if case.reading is None else class_text(case.reading.labels(output)[0]),
            }
            for output in single
        ],
    }


def explanation(case: Case, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return why a bag got its answer, and the answer without each of its instances."""
    place = place_of(case.data, request.get("bag"))
    one = case.data[[place]]
    found = explain(case.rules, one, reading=case.explained)
    return {
        "bag": place,
        "bag_id": str(case.data.ids[place]),
        "explanation": found.to_dict(),
        "text": found.to_text(),
        "committee": committee_on(case, place),
        "without": _without_each(case, one),
    }


_MOST_WITHOUT = 2_000  # instances of a bag: each leaves out one, so that this grows with their square


def _without_each(case: Case, one: Bags) -> list[dict[str, Any]]:
    """Return the output without each instance in turn; none for a bag of one."""
    n = one.n_instances
    if not 1 < n <= _MOST_WITHOUT:
        return []
    if n <= 200:
        kept = [np.delete(one.instances, k, axis=0) for k in range(n)]
        rest = case.of_bags(Bags.from_list(kept, feature_names=one.feature_names))
        outputs, decisions = rest.found.output, rest.decisions
    else:  # in turn: together they would not fit in memory
        each = [
            case.of_bags(Bags.from_list([np.delete(one.instances, k, axis=0)], feature_names=one.feature_names))
            for k in range(n)
        ]
        outputs = np.concatenate([part.found.output for part in each])
        decisions = np.concatenate([part.decisions for part in each])
    return [
        {"instance": k, "output": output.tolist(), "decision": decision}
        for k, (output, decision) in enumerate(zip(outputs, decisions, strict=True))
    ]

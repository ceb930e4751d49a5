"""(6) An epoch on a million instances, compared with the bare operations it requires."""

from __future__ import annotations

from racing import Contestant, race
from tables import Row

from questions.common import Effort, present

TITLE = "Roofline: an epoch of 1,000,000 instances in bags of ten, 25 features, 10 rules (least times)"
SIZE = {"n_instances": 1_000_000, "n_features": 25, "n_rules": 10}
NOTES = {
    "quadratic form": "its value by differences, (i, r)",
    "two products": "g' x and g' x^2 of its gradient",
    "exponentials": "three of (i, r): the truths, their weights, the weighted truths",
}


def measure(effort: Effort) -> list[Row]:
    ours = Contestant("fuzzymil", "ours:epochs_at", {"points": [SIZE]})
    bare = Contestant("bare operations", "roofline:parts", SIZE)
    times = race([ours, bare], rounds=effort.pick(1, 9), budget=60.0, say=effort.say)
    parts = {name: present(times, bare, name).least for name in NOTES}
    rows = [Row(name, seconds, note=NOTES[name], series="roofline") for name, seconds in parts.items()]
    roof, epoch = sum(parts.values()), present(times, ours, "0").least
    rows.append(Row("their sum", roof))
    rows.append(
        Row(
            "an epoch of 1,000,000 instances",
            epoch,
            "s",
            epoch / roof,
            "<= 2",
            "MIANFISClassifier, 32 bit",
            series="roofline",
        )
    )
    return rows

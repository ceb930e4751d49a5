"""(5) How the time of an epoch grows with instances, features and rules, and the cost of very unequal bag sizes."""

from __future__ import annotations

import os

from racing import Contestant, Times, race
from tables import Row, exponent

from questions.common import Effort, present

TITLE = "Growth: an epoch in batch mode on bags of ten"
BAR = "<= 1.15"
ROOM = 6  # times the input that a fit may need, generously


def _series(effort: Effort) -> dict[str, list[dict[str, int]]]:
    """Return the points of each curve: one number grows, the others are fixed."""
    instances = effort.pick([10**3, 10**5], [10**3, 10**4, 10**5, 10**6, 10**7])
    features = effort.pick([10, 1000], [2, 5, 10, 30, 100, 300, 1000])
    rules = effort.pick([4, 256], [2, 4, 8, 16, 32, 64, 128, 256])
    few = effort.pick(2_000, 10_000)
    return {
        "instances": [{"n_instances": n, "n_features": 25, "n_rules": 10} for n in instances],
        "features": [{"n_instances": few, "n_features": n, "n_rules": 6} for n in features],
        "rules": [{"n_instances": few, "n_features": 25, "n_rules": n} for n in rules],
    }


def measure(effort: Effort) -> list[Row]:
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    series, left_out = {}, []
    for name, points in _series(effort).items():
        series[name] = [point for point in points if ROOM * 8 * point["n_instances"] * point["n_features"] < memory]
        left_out += [
            Row(f"{point[f'n_{name}']:,} {name}", note="left out: too little memory")
            for point in points
            if point not in series[name]
        ]
    everything = [point for points in series.values() for point in points]
    ours = Contestant("growth", "ours:epochs_at", {"points": everything})
    skew = Contestant("skew", "ours:skew", {"n_rules": 6})
    rounds, budget = effort.pick(1, 7), effort.pick(4.0, 60.0)
    times = race([ours, skew], rounds=rounds, budget=budget, say=effort.say)
    measured = (present(times, ours, str(place)).least for place in range(len(everything)))
    rows = []
    for name, points in series.items():
        sizes = [point[f"n_{name}"] for point in points]
        least = [next(measured) for _ in points]
        fixed = ", ".join(f"{value:,} {key[2:]}" for key, value in points[0].items() if key != f"n_{name}")
        for size, seconds in zip(sizes, least, strict=True):
            rows.append(Row(f"{size:,} {name}", seconds, note=fixed, series=name, at=size))
        note = "slope over the upper two decades, least times"
        rows.append(Row(f"exponent in {name}", figure=exponent(sizes, least), bar=BAR, note=note))
    return rows + left_out + _skew_rows(times, skew)


def _skew_rows(times: dict[tuple[str, str], Times], skew: Contestant) -> list[Row]:
    rows = []
    for mode, bar in (("batch", "<= 1.3"), ("on-line", "<= 2")):
        even, skewed = (present(times, skew, f"{mode}, {kind}").least for kind in ("even", "MUSK2-like"))
        note = "102 bags, 6,598 instances, 166 features, 6 rules"
        rows.append(Row(f"{mode}, even bags", even, note=note))
        rows.append(Row(f"{mode}, bags of 1 to 1,044", skewed, "s", skewed / even, bar, note))
    return rows

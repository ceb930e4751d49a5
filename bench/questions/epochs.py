"""(1) An epoch on plain rows, compared with packaged fuzzy systems and bare PyTorch; one thread and all cores."""

from __future__ import annotations

import dataclasses
import functools

from racing import N_CORES, Contestant, race
from tables import Row

from questions.common import Effort, beside

TITLE = "An epoch of plain rows, 25 features, 6 rules, full batch"
FEW, MANY = 500, 20_000
SAME = {"sizes": [FEW, MANY], "n_features": 25, "n_rules": 6}
BARE = "bare PyTorch loop"
OURS = Contestant("fuzzymil", "ours:rows", SAME, "ANFISRegressor, zero order, Adam")
LINEAR = Contestant("fuzzymil, first order", "ours:rows", SAME | {"order": 1}, "for those whose conclusions are linear")
OTHERS = [
    Contestant(BARE, "rows:bare_torch", SAME, "two matrix products in log space, fused Adam"),
    Contestant("scikit-pytsk", "rows:pytsk", SAME, "TSK(order=0), AntecedentGMF, Wrapper.fit, Adam"),
    Contestant("scikit-pytsk, batch ready", "rows:pytsk", SAME | {"ready": True}, "the same, Wrapper.fit_loader"),
    Contestant("highFIS", "rows:highfis", SAME, "TSKRegressor(batch_size=None, patience=None), first order"),
    Contestant(
        "anfis-toolbox",
        "rows:anfis_toolbox",
        SAME,
        "ANFISRegressor(training=Training(optimizer='adam')), 6 rules, first order",
    ),
    Contestant("xanfis", "rows:xanfis", SAME, "GdAnfisRegressor(batch_size=N), first order", environment="xanfis"),
]
QUICK_ENOUGH = (BARE, "scikit-pytsk, batch ready")  # the others need about half a second for an epoch of many rows


def _bar(n_rows: int, name: str) -> str:
    if name == LINEAR.name:
        return ""
    if name == BARE:
        return ">= 5" if n_rows == FEW else ">= 1.2"
    return ">= 20"


def measure(effort: Effort) -> list[Row]:
    rows, others = [], effort.pick([_sooner(other) for other in OTHERS], [LINEAR, *OTHERS])
    for threads in effort.pick((N_CORES,), tuple(dict.fromkeys((N_CORES, 1)))):
        rounds, budget = effort.pick(2, 7), effort.pick(2.0, 40.0)
        times = race([OURS, *others], rounds=rounds, threads=threads, budget=budget, say=effort.say)
        for size in (FEW, MANY):
            named = f"{size:,} rows, {threads} thread{'s' * (threads > 1)}: {{}}"
            measured = [other for other in others if size in other.settings["sizes"]]
            rows += beside(times, OURS, measured, f"{size:,} rows", functools.partial(_bar, size), named)
    return rows


def _sooner(other: Contestant) -> Contestant:
    """Return a contestant for a quick run, which measures slow ones on few rows only."""
    if other.name in QUICK_ENOUGH:
        return other
    return dataclasses.replace(other, settings=other.settings | {"sizes": [FEW]})

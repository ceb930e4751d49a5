"""(4) Repeated ten-fold cross-validation of MUSK1 in one compiled call, compared with a loop of compiled fits."""

from __future__ import annotations

import samples
from racing import Contestant, race
from tables import Row

from questions.common import Effort, present

TITLE = "Ten-fold cross-validations of MUSK1: 166 features, 6 rules, 150 epochs"
LOOP = "MIANFISClassifier(6).fit, compiled before"


def measure(effort: Effort) -> list[Row]:
    n_repeats = effort.pick(2, 10)
    ours = Contestant("fuzzymil", "ours:folds", {"n_repeats": n_repeats, "n_rules": 6, "epochs": 150})
    times = race([ours], rounds=effort.pick(2, 5), warm_up=False, say=effort.say)
    together, loop = (present(times, ours, task) for task in ("one call", "a loop"))
    what = f"{n_repeats} x 10 folds, {10 * n_repeats} fits"
    note = f"{samples.musk1()[3]}; fit_together"
    return [
        Row(f"{what}: a loop of fits", loop.median, note=LOOP, samples=loop.values),
        Row(
            f"{what}: one call",
            together.median,
            "s",
            loop.median / together.median,
            ">= 1.5",
            note,
            samples=together.values,
        ),
    ]

"""Two concepts: how often training finds both, over many seeds."""

from __future__ import annotations

import numpy as np
from tables import Row

from fuzzymil import MIANFISClassifier
from fuzzymil.datasets import CONCEPTS, make_two_concepts
from fuzzymil.estimators import network_parameters
from questions.common import Effort

TITLE = "Two concepts: accuracy on 500 test bags, and how often both concepts are found"


def measure(effort: Effort) -> list[Row]:
    return [row for alpha in (1.0, 5.0) for n in (1, 4) for row in _learned(effort, n, alpha)]


def _learned(effort: Effort, n_init: int, alpha: float) -> list[Row]:
    n_seeds = effort.pick(3, 20)
    accuracy, found, irrelevant = [], 0, []
    for seed in range(n_seeds):
        effort.say(f"alpha {alpha:g}, {n_init} start(s), seed {seed + 1} of {n_seeds}")
        train, test = make_two_concepts(random_state=seed), make_two_concepts(167, 166, random_state=1000 + seed)
        settings = {"init": "random", "init_bags": "all", "n_init": n_init, "alpha": alpha}
        model = MIANFISClassifier(6, **network_parameters(random_state=seed, **settings)).fit(train)
        accuracy.append(model.score(test, test.labels))
        outputs = model.rules_.coefs[:, 0, 0]
        near = np.linalg.norm(model.rules_.centers[:, None] - CONCEPTS, axis=2) <= 0.2
        found += bool((near & (outputs >= 0.5)[:, None]).any(axis=0).all())
        irrelevant += outputs[~near.any(axis=1)].tolist()
    what, note = f"alpha {alpha:g}, {n_init} start(s)", f"{n_seeds} seeds"
    return [
        Row(f"{what}: median accuracy", float(np.median(accuracy)), "", note=note),
        Row(f"{what}: least accuracy", float(np.min(accuracy)), ""),
        Row(f"{what}: both concepts found", found, f"of {n_seeds}"),
        Row(f"{what}: median output of rules off the concepts", float(np.median(irrelevant)), ""),
    ]

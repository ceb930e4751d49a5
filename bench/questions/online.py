"""(2) On-line training with one step per bag, compared with a PyTorch module that does the same."""

from __future__ import annotations

import samples
from racing import Contestant, race
from tables import Row

from questions.common import Effort, beside

TITLE = "An on-line epoch: 92 bags, 476 instances, 166 features, 6 rules, a step of gradient descent for each bag"
OURS = Contestant(
    "fuzzymil", "ours:on_line", {"n_rules": 6}, "MIANFISClassifier(training=Training(batch_size=1, optimizer='sgd'))"
)
TORCH = Contestant(
    "PyTorch, one step per bag", "bags:torch_on_line", {"n_rules": 6}, "forward, error, backward and step for each bag"
)


def measure(effort: Effort) -> list[Row]:
    times = race([OURS, TORCH], rounds=effort.pick(3, 15), say=effort.say)
    rows = beside(times, OURS, [TORCH], "epoch", lambda name: ">= 50")
    data = samples.musk1()
    a_bag = Row("fuzzymil, a bag", (rows[0].value or 0.0) / len(data[2]), note=data[3])
    return [*rows, a_bag]

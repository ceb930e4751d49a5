"""(3) A complete fit of small bags, compared with the attention networks of two packages."""

from __future__ import annotations

from racing import Contestant, race
from tables import Row

from questions.common import Effort, beside

TITLE = "A fit of 100 bags of 2-10 instances, 25 features, 50 epochs"
SAME = {"n_bags": 100, "n_features": 25, "epochs": 50}
NOTE = "MIANFISClassifier(6), clustering included"
OURS = Contestant("fuzzymil", "ours:whole_fit", SAME | {"n_rules": 6}, NOTE)
OTHERS = [
    Contestant("torchmil", "bags:torchmil", SAME, "ABMIL(in_shape=(25,), att_dim=64), Trainer, one batch"),
    Contestant("milearn", "bags:milearn", SAME, "AdditiveAttentionNetworkClassifier, one batch"),
]


def measure(effort: Effort) -> list[Row]:
    times = race([OURS, *OTHERS], rounds=effort.pick(3, 9), warm_up=False, say=effort.say)
    return beside(times, OURS, OTHERS, "fit", lambda name: "")

"""Alarms without radar, and methods with few epochs."""

import numpy as np

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, MIMamdani, RuleClassifier, Training
from paper import landmine
from paper.landmine import (
    METHODS,
    NORMALIZED,
    PAPER,
    REFERENCE,
    START,
    Embedding,
    OnBags,
    OnLoudest,
    OnWindows,
    Single,
)
from paper.radar.alarms import AlarmSet

EPOCHS = 3


def made_up(n=24, seed=0):
    """Alarms without radar: mines have one window with high confidences."""
    rng = np.random.RandomState(seed)
    asked = np.array(["high-metal mine", "low-metal mine", "clutter", "clutter"] * (n // 4))
    is_mine = asked != "clutter"
    features = rng.uniform(0, 0.5, size=(n, 15, 4))
    held = np.zeros((n, 15), int)
    places = rng.randint(2, 13, size=n)
    for b in np.flatnonzero(is_mine):
        held[b, places[b]] = 1
        features[b, places[b]] += 0.5
    energies = rng.uniform(1, 2, size=(n, 15)) + 3 * held
    bags = Bags(
        features.reshape(-1, 4),
        15 * np.arange(n + 1),
        feature_names=landmine.FEATURES,
        labels=is_mine.astype(int),
        instance_labels=held.ravel(),
    )
    kinds = np.where(asked == "clutter", "void", asked)
    return AlarmSet(bags, kinds, energies, 3.0 * held, np.arange(n) + 1000, asked, [{}] * n)


SMALL = {
    REFERENCE: OnBags(RuleClassifier(3)),
    NORMALIZED: OnBags(MIANFISClassifier(3, training=Training(max_epochs=EPOCHS))),
    START: OnBags(MIANFISClassifier(3, training=Training(max_epochs=EPOCHS, init_bags="positive"))),
    PAPER: OnBags(MIANFISClassifier(3, training=Training(max_epochs=EPOCHS, init_bags="all"))),
    **{name: OnWindows(ANFISClassifier(3, training=Training(max_epochs=EPOCHS)), method.labels, method.pool)
       for name, method in METHODS.items()
       if isinstance(method, OnWindows) and isinstance(method.estimator, ANFISClassifier)},
    **{name: OnWindows(MIMamdani(n_rules=4), method.labels)
       for name, method in METHODS.items()
       if isinstance(method, OnWindows) and isinstance(method.estimator, MIMamdani)},
    **{name: method for name, method in METHODS.items() if isinstance(method, Single | Embedding)},
    "ANFIS on the loudest window": OnLoudest(ANFISClassifier(3, training=Training(max_epochs=EPOCHS))),
}  # fmt: skip

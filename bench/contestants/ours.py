"""fuzzymil itself, through its estimators."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import samples

from contestants.timing import epoch_timer, seconds
from fuzzymil import ANFISRegressor, Bags, MIANFISClassifier, Training
from fuzzymil.estimators import fit_together, network_parameters

Task = Callable[[], float]
# The cost of an epoch must not depend on chance, nor on what the others do not do (Rule Dropout).
PLAIN: dict[str, Any] = {"init": "random", "rule_keep_prob": None, "random_state": 0}
SLOW = 0.05  # seconds per epoch from which a callback after each epoch costs nothing noticeable


def _fit(kind: type, n_rules: int, epochs: int, x: Any, y: Any, **settings: Any) -> Any:
    model = kind(n_rules, **network_parameters(max_epochs=epochs, **PLAIN | settings)).fit(x, y)
    if model.n_iter_ != epochs:
        raise RuntimeError(f"stopped after {model.n_iter_} of {epochs} epochs")
    return model


def rows(sizes: list[int], n_features: int, n_rules: int, order: int = 0) -> dict[str, Task]:
    """Epochs on plain rows."""

    def task(n_rows: int) -> Task:
        x, y = samples.rows(n_rows, n_features)
        return epoch_timer(lambda epochs: _fit(ANFISRegressor, n_rules, epochs, x, y, order=order))

    return {f"{n:,} rows": task(n) for n in sizes}


def on_line(n_rules: int) -> dict[str, Task]:
    """Epochs of gradient descent with one step per bag."""
    x, offsets, labels, _ = samples.musk1()
    bags = Bags(x, offsets)
    settings = {"batch_size": 1, "optimizer": "sgd", "learning_rate": 0.01}
    return {"epoch": epoch_timer(lambda n: _fit(MIANFISClassifier, n_rules, n, bags, labels, **settings))}


def whole_fit(n_bags: int, n_features: int, n_rules: int, epochs: int) -> dict[str, Task]:
    """Complete fits of small bags, from clusters to a trained network."""
    sizes = np.random.default_rng(1).integers(2, 11, n_bags)
    x, offsets, labels = samples.bags(sizes, n_features)
    bags = Bags(x, offsets)

    def fit() -> object:
        return MIANFISClassifier(n_rules, training=Training(max_epochs=epochs), random_state=0).fit(bags, labels)

    fit()
    return {"fit": lambda: seconds(fit)}


def folds(n_repeats: int, n_rules: int, epochs: int) -> dict[str, Task]:
    """Ten-fold cross-validations, in one call and one fit after another; both compiled before."""
    from sklearn.model_selection import RepeatedStratifiedKFold

    x, offsets, labels, _ = samples.musk1()
    bags = Bags(x, offsets)
    splits = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0).split(labels, labels)
    parts = [train for train, _ in splits]
    ready, targets = [bags[part] for part in parts], [labels[part] for part in parts]

    def models(epochs: int) -> list[MIANFISClassifier]:
        settings: dict[str, Any] = {"init": "kmeans", "max_epochs": epochs}
        return [
            MIANFISClassifier(n_rules, **network_parameters(random_state=seed, **settings))
            for seed in range(len(parts))
        ]

    def together(epochs: int) -> None:
        fit_together(models(epochs), ready, targets)

    def in_turn(epochs: int) -> None:
        for model, own, target in zip(models(epochs), ready, targets, strict=True):
            model.fit(own, target)

    together(1)
    in_turn(1)  # folds differ in their padded size: all of them, so that nothing is compiled later
    return {"one call": lambda: seconds(together, epochs), "a loop": lambda: seconds(in_turn, epochs)}


def epochs_at(points: list[dict[str, int]]) -> dict[str, Task]:
    """Epochs in batch mode on bags of ten, at each of some sizes; the task's name is its place in the list."""

    def task(n_instances: int, n_features: int, n_rules: int) -> Task:
        sizes = samples.even_sizes(-(-n_instances // 10), n_instances)
        return _large(*samples.bags(sizes, n_features), n_rules)

    return {str(number): task(**point) for number, point in enumerate(points)}


def skew(n_rules: int) -> dict[str, Task]:
    """Epochs on MUSK2-like bags and on even ones of the same total, in batch mode and bag by bag."""
    total = {name: samples.MUSK2[name] for name in ("n_bags", "n_instances")}
    kinds = {"even": samples.even_sizes(**total), "MUSK2-like": samples.skewed_sizes(**samples.MUSK2)}
    modes: dict[str, dict[str, Any]] = {"batch": {}, "on-line": {"batch_size": 1}}
    return {
        f"{mode}, {kind}": _large(*samples.bags(sizes, samples.N_MUSK_FEATURES), n_rules, **settings)
        for mode, settings in modes.items()
        for kind, sizes in kinds.items()
    }


def _large(x: np.ndarray, offsets: np.ndarray, labels: np.ndarray, n_rules: int, **settings: Any) -> Task:
    """Time an epoch by its ends, where it is long, for a start of some seconds would drown it."""
    bags = Bags(x, offsets)

    def epoch() -> float:
        ends: list[float] = []
        watched = {"callbacks": [lambda progress: ends.append(time.perf_counter())]}
        _fit(MIANFISClassifier, n_rules, 4, bags, labels, **settings, **watched)
        return float(np.diff(ends).min())

    fit = functools.partial(_fit, MIANFISClassifier, n_rules, x=bags, y=labels, **settings)
    by_difference = epoch_timer(lambda epochs: fit(epochs=epochs))
    turn: Task | None = None

    def first_or_later() -> float:
        nonlocal turn
        if turn is None:
            probe = epoch()
            turn = epoch if probe > SLOW else by_difference
            if turn is epoch:
                return probe
        return turn()

    return first_or_later

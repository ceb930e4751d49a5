"""Synthetic data of the measured sizes, the same for every contestant. Needs only NumPy, since peers use it too."""

from __future__ import annotations

import os

import numpy as np

MUSK1 = {"n_bags": 92, "n_instances": 476, "least": 2, "greatest": 40}
MUSK2 = {"n_bags": 102, "n_instances": 6598, "least": 1, "greatest": 1044}
N_MUSK_FEATURES = 166


def rows(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Plain rows (n_rows, n_features) and a smooth target (n_rows,)."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, n_features))
    return x, np.sin(x[:, 0]) + x[:, 1] * x[:, 2] + 0.1 * rng.standard_normal(n_rows)


def bags(sizes: np.ndarray, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Instances (i, d), offsets (b + 1,) and labels (b,): every second bag holds one shifted instance."""
    rng = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    x = rng.standard_normal((offsets[-1], n_features))
    labels = np.arange(len(sizes)) % 2
    x[offsets[:-1][labels == 1], : min(3, n_features)] += 2.0
    return x, offsets, labels


def even_sizes(n_bags: int, n_instances: int) -> np.ndarray:
    """Sizes (n_bags,) that differ by one at most."""
    return np.diff(np.arange(n_bags + 1) * n_instances // n_bags)


def skewed_sizes(n_bags: int, n_instances: int, least: int, greatest: int) -> np.ndarray:
    """Sizes (n_bags,) from ``least`` to about ``greatest``, most of them small: ``least * (greatest / least) ** t**p``.

    The power is the one that gives the total.
    """
    t = np.linspace(0.0, 1.0, n_bags)

    def profile(power: float) -> np.ndarray:
        return least * (greatest / least) ** t**power

    low, high = 1e-3, 1e3
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if profile(middle).sum() > n_instances else (low, middle)
    ends = np.floor(np.cumsum(profile(high)) + 0.5)
    ends[-1] = n_instances
    return np.diff(np.concatenate([[0], ends])).astype(int)


def musk1() -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    """Return MUSK1 from the folder ``FUZZYMIL_DATA``, or else synthetic bags of its shape, and which of the two."""
    if os.environ.get("FUZZYMIL_DATA"):
        from fuzzymil.datasets import load_musk1

        found = load_musk1()
        return found.instances, found.offsets, np.asarray(found.labels).astype(int), "MUSK1"
    return *bags(skewed_sizes(**MUSK1), N_MUSK_FEATURES), "synthetic bags of MUSK1's shape"

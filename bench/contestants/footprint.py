"""Memory of a fit, as Linux counts it: the high-water mark of resident pages in a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import samples

import fuzzymil
from fuzzymil import Bags, MIANFISClassifier, Training
from fuzzymil._utils.memory import give_back
from fuzzymil.estimators import network_parameters

SETTINGS = {"init": "random", "rule_keep_prob": None, "random_state": 0}


def _status(name: str) -> int:
    """Bytes that ``/proc`` reports for this process: "VmRSS" now, "VmHWM" at most."""
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status does not report {name}")


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def _warm_up() -> None:
    """Load whatever a first fit loads: that is no part of this fit."""
    x, offsets, labels = samples.bags(samples.even_sizes(20, 100), 3)
    MIANFISClassifier(2, **network_parameters(max_epochs=2, **SETTINGS)).fit(Bags(x, offsets), labels)


def fit(n_instances: int, n_features: int, n_rules: int, epochs: int = 3) -> dict[str, Callable[[], float]]:
    """The most a fit adds to what is resident with the data in memory; compiling its program is part of it."""
    _warm_up()
    x, offsets, labels = samples.bags(samples.even_sizes(n_instances // 10, n_instances), n_features)
    bags = Bags(x, offsets)
    del x

    def peak() -> float:
        give_back()  # what making the data left behind would hide as much of the fit
        _forget_peak()
        before = _status("VmRSS")
        MIANFISClassifier(n_rules, **network_parameters(max_epochs=epochs, **SETTINGS)).fit(bags, labels)
        return _status("VmHWM") - before

    return {"peak": peak}


def stream(gigabytes: float, n_features: int, n_rules: int) -> dict[str, Callable[[], float]]:
    """The most that is resident, everything included, while bags are generated, trained on and forgotten."""
    if not hasattr(fuzzymil, "BagStream"):
        raise RuntimeError("this version of fuzzymil has no BagStream")
    n_instances = 100_000
    n_parts = max(2, round(gigabytes * 1e9 / (n_instances * n_features * 8)))
    sizes = samples.even_sizes(n_instances // 10, n_instances)
    offsets = np.concatenate([[0], np.cumsum(sizes)])

    def load(part: int) -> Bags:
        rng = np.random.default_rng(part)
        x = rng.standard_normal((n_instances, n_features))
        labels = np.arange(len(sizes)) % 2
        x[offsets[:-1][labels == 1], :3] += 2.0
        return Bags(x, offsets, labels=labels)

    def peak() -> float:
        _forget_peak()
        model = MIANFISClassifier(n_rules, training=Training(batch_size=100, max_epochs=1), random_state=0)
        model.fit(fuzzymil.BagStream(load, n_parts))
        return _status("VmHWM")

    return {"peak": peak}

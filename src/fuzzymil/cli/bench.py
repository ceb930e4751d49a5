"""``fuzzymil bench``: training and prediction times on this machine."""

from __future__ import annotations

import os
import platform
import time
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil.cli._app import MORE, app
from fuzzymil.cli._console import emit, emit_json, emit_table, note, progress
from fuzzymil.cli._options import AsJson, option

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

SIZES = ((30, 5, 5), (100, 30, 10), (100, 166, 10))
"""Bags (of 7 instances on average), features and rules."""

EPOCHS = 200


@app.command(rich_help_panel=MORE)
def bench(
    repeats: Annotated[int, option("NUMBER", "Runs per measurement; the median is shown.", min=1)] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure training and prediction times on this machine, at a few data sizes.

    The first fit includes compilation and is shown separately; epochs and predictions are timed after it.

    Examples
    --------
    fuzzymil bench
    """
    with progress() as show:
        rows: list[dict[str, Any]] = []
        for n_bags, n_features, n_rules in SIZES:
            show("Measuring", len(rows), len(SIZES))
            rows.append(_measure(n_bags, n_features, n_rules, repeats))
    machine = _machine()
    if machine["load"] is not None and machine["load"] > machine["cores"]:
        note(f"Other programs are using this machine (load {machine['load']:.1f}): times are inflated.")
    if as_json:
        emit_json({"machine": machine, "repeats": repeats, "epochs": EPOCHS, "sizes": rows})
        return
    emit(f"{machine['device']}, {machine['cores']} cores, Python {machine['python']}, JAX {machine['jax']}")
    emit("")
    counts = ("n_bags", "n_instances", "n_features", "n_rules")
    times = {"first_fit_s": ".2f", "epoch_ms": ".3f", "predict_bag_us": ".1f"}
    emit_table(
        ["bags", "instances", "features", "rules", "first fit (s)", "epoch (ms)", "predict per bag (us)"],
        [
            [*(str(row[name]) for name in counts), *(f"{row[name]:{digits}}" for name, digits in times.items())]
            for row in rows
        ],
        left=0,
    )
    emit(f"Medians of {repeats} runs with {EPOCHS} full-batch epochs. The first fit includes compilation.")


def _measure(n_bags: int, n_features: int, n_rules: int, repeats: int) -> dict[str, Any]:
    import numpy as np

    from fuzzymil.estimators import MIANFISClassifier, Training

    bags = _random_bags(n_bags, n_features)

    def fit(n_epochs: int) -> Any:
        training = Training(max_epochs=n_epochs)
        return MIANFISClassifier(n_rules, training=training, random_state=0).fit(bags)

    first = _seconds(fit, EPOCHS)
    # A fit with no epochs takes the time of the initialization, which is not part of an epoch.
    start = [_seconds(fit, 0) for _ in range(repeats + 1)][1:]
    whole = [_seconds(fit, EPOCHS) for _ in range(repeats)]
    model = fit(1)
    model.predict(bags)
    answers = [_seconds(model.predict, bags) for _ in range(10 * repeats)]
    return {
        "n_bags": n_bags,
        "n_instances": bags.n_instances,
        "n_features": n_features,
        "n_rules": n_rules,
        "first_fit_s": first,
        "epoch_ms": 1e3 * float(np.median(whole) - np.median(start)) / EPOCHS,
        "predict_bag_us": 1e6 * float(np.median(answers)) / n_bags,
    }


def _seconds(work: Any, given: Any) -> float:
    began = time.perf_counter()
    work(given)
    return time.perf_counter() - began


def _random_bags(n_bags: int, n_features: int) -> Bags:
    import numpy as np

    from fuzzymil.bags import Bags

    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 13, size=n_bags)
    labels = np.arange(n_bags) % 2
    instances = rng.normal(size=(sizes.sum(), n_features)) + np.repeat(labels, sizes)[:, None]
    return Bags(instances, np.concatenate([[0], np.cumsum(sizes)]), labels=labels)


def _machine() -> dict[str, Any]:
    from importlib.metadata import version

    import jax

    return {
        "device": str(jax.devices()[0].device_kind),
        "cores": os.cpu_count() or 1,
        "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "jax": version("jax"),
    }

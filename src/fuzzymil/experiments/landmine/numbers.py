"""Areas under the ROC curve, detection rates and localization of all methods, with bootstrap intervals."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.datasets.gpr.alarms import AlarmSet
from fuzzymil.experiments._bootstrap import Run, areas, draw_weights, interval, rates_detected
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments.landmine.methods import REFERENCE

__all__ = ["FALSE_RATES", "right_windows", "summarize"]

FALSE_RATES = (0.05, 0.1, 0.2)
N_REPLICATES = 1000
MINES = ("high-metal mine", "low-metal mine")


def right_windows(alarms: AlarmSet) -> Array:
    """Return the window (n_bags,) in which each object's echo is strongest, for mines and clutter alike.

    If the echo exceeds half the background energy in no window, this is the loudest window.
    """
    seen = alarms.target_energies.max(axis=1) > 0.5
    return np.asarray(np.where(seen, alarms.target_energies.argmax(axis=1), alarms.energies.argmax(axis=1)))


def summarize(
    alarms: AlarmSet, methods: Mapping[str, Sequence[Results]], variants: Mapping[str, Sequence[Results]], seed: int
) -> Results:
    """Compute the numbers of one difficulty from cross-validations by name, all on the same folds.

    In a form that JSON can hold: areas and rates of every method and variant, and their differences from the reference,
    with bootstrap intervals; facts about the alarms; localization; and the data of the figures.

    Examples
    --------
    >>> from fuzzymil.bags import Bags
    >>> ehddt = np.array([[0.9, 0.1], [0.2, 0.8], [0.3, 0.3]])  # two mines and a stone, two windows each
    >>> held = (ehddt > 0.5).astype(int)
    >>> bags = Bags(ehddt.reshape(-1, 1), [0, 2, 4, 6], labels=[1, 1, 0], instance_labels=held.ravel())
    >>> asked = np.array([*MINES, "clutter"])
    >>> alarms = AlarmSet(bags, asked, 1.0 + held, 1.0 * held, np.arange(3), asked, [{}] * 3)
    >>> run = {"scores": [0.9, 0.2, 0.3], "folds": [0, 0, 0], "pointed": [0, 0, 0]}
    >>> found = summarize(alarms, {REFERENCE: [run]}, {}, seed=0)
    >>> found["methods"][REFERENCE]["auc"]["value"], found["windows"]["located"][REFERENCE]["value"]
    (0.5, 0.5)
    """
    truth = np.asarray(alarms.bags.labels) == 1
    weights = draw_weights(alarms.asked, N_REPLICATES, np.random.RandomState(seed))
    measures = _measures(truth, alarms.asked)
    found = {
        name: {m: measure(_runs(own), weights) for m, measure in measures.items()} for name, own in methods.items()
    }
    # Variants ran once, so they are compared with the first run of the methods.
    once = {name: measures["auc"](_runs(own[:1]), weights) for name, own in methods.items()}
    tried = {name: measures["auc"](_runs(own), weights) for name, own in variants.items()}
    first = {name: own[0] for name, own in methods.items()}
    return {
        "facts": _facts(alarms),
        "setting": _setting(alarms, truth, weights),
        "methods": {
            name: {
                **{m: _compared(own[m], found[REFERENCE][m] if name != REFERENCE else None, m) for m in measures},
                "runs": [float(areas(truth, [run], weights[:1])[0]) for run in _runs(methods[name])],
                "stopped": sum(run.get("stopped", 0) for run in methods[name]),
            }
            for name, own in found.items()
        },
        "variants": {name: {"auc": _compared(own, once[REFERENCE])} for name, own in tried.items()},
        "best_change": _best_change(tried, once),
        "windows": _windows(alarms, methods, weights),
        "curves": {name: own["scores"] for name, own in first.items()},
        "folds": first[REFERENCE]["folds"],
        "truth": truth.astype(int).tolist(),
        "rmse": {name: own["rmse"] for name, own in first.items() if "rmse" in own},
        "rules": {name: own["rules"] for name, own in first.items() if "rules" in own},
        "alarms": {
            "kinds": alarms.kinds.tolist(),
            "asked": alarms.asked.tolist(),
            "seeds": alarms.seeds.tolist(),
            "held": np.asarray(alarms.bags.instance_labels).reshape(len(truth), -1).tolist(),
        },
    }


def _runs(results: Sequence[Results]) -> list[Run]:
    return [Run(np.array(own["scores"]), np.array(own["folds"])) for own in results]


def _measures(truth: Array, asked: Array) -> dict[str, Any]:
    """Return functions of runs and weights, by name."""

    def among(kind: str) -> Any:
        wanted = (asked == kind) | ~truth
        return lambda runs, weights: areas(truth, runs, weights * wanted)

    def at(rate: float, kind: str | None = None) -> Any:
        wanted = (asked == kind) | ~truth | (kind is None)
        return lambda runs, weights: rates_detected(truth, runs, weights * wanted, rate)

    return {
        "auc": lambda runs, weights: areas(truth, runs, weights),
        **{f"auc, {kind}": among(kind) for kind in MINES},
        **{f"detected at {rate:g}": at(rate) for rate in FALSE_RATES},
        **{f"detected at {rate:g}, {kind}": at(rate, kind) for rate in FALSE_RATES for kind in MINES},
    }


def _compared(own: Array, reference: Array | None, measure: str = "") -> Results:
    """Return a number with its interval, and the difference from the reference with its interval."""
    centered = measure.startswith("detected")
    minus = None if reference is None else dataclasses.asdict(interval(own - reference, centered=centered))
    return {**dataclasses.asdict(interval(own, centered=centered)), "minus": minus}


def _best_change(changes: Mapping[str, Array], methods: Mapping[str, Array]) -> Results | None:
    """Compare the best variant of the reference with the best other method, both on the first run."""
    rivals = {name: own for name, own in methods.items() if name != REFERENCE}
    if not changes or not rivals:
        return None
    change, rival = (max(group, key=lambda name: group[name][0]) for group in (changes, rivals))
    return {
        "change": change,
        "rival": rival,
        "auc": float(changes[change][0]),
        "rival_auc": float(rivals[rival][0]),
        "minus": dataclasses.asdict(interval(changes[change] - rivals[rival])),
    }


def _facts(alarms: AlarmSet) -> Results:
    mines = np.asarray(alarms.bags.labels) == 1
    held = np.asarray(alarms.bags.instance_labels).reshape(len(mines), -1)[mines]
    kinds, counts = np.unique(alarms.kinds, return_counts=True)
    return {
        "kinds": {str(kind): int(n) for kind, n in zip(kinds, counts, strict=True)},
        "windows_held": float(held.sum(axis=1).mean()),
        "not_held": int((held.sum(axis=1) == 0).sum()),
        "first_window": (held[held.any(axis=1)].argmax(axis=1) + 1).tolist(),
    }


def _setting(alarms: AlarmSet, truth: Array, weights: Array) -> Results:
    """Compare EHDDT in the window of the mine with EHDDT in the best fixed window.

    For ``right``, clutter is scored in the window of the mine it is compared with, where it often has no echo. ``own``
    is stricter: clutter is scored in the window of its own object.
    """
    ehddt = alarms.bags.instances[:, 0].reshape(alarms.energies.shape)
    right = right_windows(alarms)
    up, down = weights[:, truth], weights[:, ~truth]

    def area(high: Array, low: Array) -> Array:
        """Return the area of mines (n_mines, 1) against clutter (n_mines or 1, n_clutter)."""
        wins = (high > low) + 0.5 * (high == low)
        return np.asarray(((up @ wins) * down).sum(axis=1) / (up.sum(axis=1) * down.sum(axis=1)))

    at_mine = ehddt[truth, right[truth]][:, None]
    at_object = ehddt[~truth, right[~truth]]
    fixed = np.array([area(column[truth][:, None], column[~truth][None]) for column in ehddt.T])
    best = int(fixed[:, 0].argmax())
    known, own = area(at_mine, ehddt[~truth][:, right[truth]].T), area(at_mine, at_object[None])
    return {
        "right": dataclasses.asdict(interval(known)),
        "fixed": dataclasses.asdict(interval(fixed[best])),
        "best_window": best + 1,
        "difference": dataclasses.asdict(interval(known - fixed[best])),
        "own": dataclasses.asdict(interval(own)),
        "own_difference": dataclasses.asdict(interval(own - fixed[best])),
    }


def _windows(alarms: AlarmSet, methods: Mapping[str, Sequence[Results]], weights: Array) -> Results:
    """Return how often methods point to a window that holds the mine, and how well they rank single windows."""
    held = np.asarray(alarms.bags.instance_labels).reshape(alarms.energies.shape)
    known = held.any(axis=1)  # mines that at least one window holds

    def share(hits: Array) -> Array:
        return np.asarray((weights[:, known] * hits[known]).sum(axis=1) / weights[:, known].sum(axis=1))

    hits = {
        name: np.mean([held[np.arange(len(held)), np.array(own["pointed"])] for own in runs], axis=0)
        for name, runs in methods.items()
        if "pointed" in runs[0]
    }
    shares = {name: share(own) for name, own in hits.items()}
    return {
        "n": int(known.sum()),
        "chance": float(held[known].mean()),
        "located": {
            name: _compared(own, None if name == REFERENCE else shares[REFERENCE]) for name, own in shares.items()
        },
        "instance_auc": {
            name: float(np.mean([own["instance_auc"] for own in runs]))
            for name, runs in methods.items()
            if "instance_auc" in runs[0]
        },
    }

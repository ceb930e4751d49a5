"""Landmine detection by fusing radar detectors (the paper's application), on simulated alarms.

The paper's radar data were never published. Alarms are simulated, from the raw cube to the four features of each depth
window (`fuzzymil.datasets.gpr`), and everything the report shows is labeled as simulated.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets.gpr import alarms as gpr
from fuzzymil.datasets.gpr import edges, prescreener
from fuzzymil.datasets.gpr.conditions import DIFFICULTIES
from fuzzymil.datasets.gpr.features import FEATURES
from fuzzymil.datasets.gpr.neighbors import Prototypes
from fuzzymil.estimators import MIANFISClassifier
from fuzzymil.experiments._experiment import Experiment, Options, Results, Unit, rounded, seeds_of
from fuzzymil.experiments._recipe import splits
from fuzzymil.experiments.landmine.figures import draw
from fuzzymil.experiments.landmine.methods import (
    METHODS,
    PAPER,
    REFERENCE,
    START,
    VARIANTS,
    Answers,
    Method,
    fired_windows,
)
from fuzzymil.experiments.landmine.numbers import summarize
from fuzzymil.experiments.landmine.report import section
from fuzzymil.learn.train.partition import even_split

__all__ = ["LANDMINE"]

COUNTS = {"high-metal mine": 319, "low-metal mine": 422, "clutter": 741}
QUICK_COUNTS = {"high-metal mine": 80, "low-metal mine": 100, "clutter": 180}
QUICK_CALIBRATION = {"high-metal mine": 30, "low-metal mine": 30, "clutter": 60}
ORDER = ("medium", "easy", "hard")  # the main one first
N_CHUNKS = 6  # the alarms of a difficulty are simulated and saved in this many parts
ALARM_COST = 0.08  # seconds per alarm on two idle cores, for the estimate of the remaining time


def _difficulties(options: Options) -> tuple[str, ...]:
    return ORDER[:1] if options.quick else ORDER


def _n_repeats(options: Options) -> int:
    return options.repeats or (1 if options.quick else 3)


def _variants(options: Options) -> dict[str, Method]:
    kept = ("5 rules", "normalized rules, alpha 5")
    return {name: VARIANTS[name] for name in kept} if options.quick else VARIANTS


# ---------------------------------------------------------------------- units


def _units(options: Options) -> list[Unit]:
    units: list[Unit] = []
    for difficulty in _difficulties(options):
        start = len(units)
        chain = _chain(options, difficulty)
        units.append(_calibration_unit(options, difficulty, chain))
        n_chunks = 1 if options.quick else N_CHUNKS
        chunks = tuple(range(start + 1, start + 1 + n_chunks))
        units += [_chunk_unit(options, difficulty, chain, start, n, n_chunks) for n in range(n_chunks)]
        for kind, methods, repeats in (
            ("method", METHODS, _n_repeats(options)),
            ("variant", _variants(options), 1),
        ):
            for name, method in methods.items():
                for repeat in range(repeats):
                    seeds = seeds_of(options.n_folds + 1, options.seed, "landmine", difficulty, "folds", repeat)
                    settings = {**chain, kind: name, "recipe": method.settings(), "seeds": seeds}
                    label = f"{difficulty}, {name}, repeat {repeat + 1}"

                    def work(*chunks: Results, method: Method = method, seeds: list[int] = seeds) -> Results:
                        return _answers(method, alarms_of(chunks), seeds)

                    units.append(Unit(label, settings, _cost(method, options), work, chunks, parallel=True))
    return units


def _cost(method: Method, options: Options) -> float:
    learns = hasattr(method, "estimator")
    return (4.0 if learns else 0.1) * (0.3 if options.quick else 1.0)


def _chain(options: Options, difficulty: str) -> Results:
    """Return everything the alarms and their features depend on, apart from the library version."""
    return {
        "experiment": "landmine",
        "difficulty": difficulty,
        "conditions": dataclasses.asdict(DIFFICULTIES[difficulty]),
        "least_energy": prescreener.LEAST_ENERGY,
        "edge_threshold": edges.THRESHOLD,
        "calibration": QUICK_CALIBRATION if options.quick else gpr.CALIBRATION,
        "counts": QUICK_COUNTS if options.quick else COUNTS,
        "seed": options.seed,
    }


def _calibration_unit(options: Options, difficulty: str, chain: Results) -> Unit:
    seed = seeds_of(1, options.seed, "landmine", difficulty, "calibration")[0]
    counts = chain["calibration"]

    def work() -> Results:
        detectors = gpr.calibrate(difficulty, seed, options.jobs or -1, counts=counts)
        prototypes = {
            name: {"points": rounded(own.points, 9), "labels": rounded(own.labels, 9), "reach": own.reach}
            for name, own in (("down_track", detectors.down_track), ("cross_track", detectors.cross_track))
        }
        return {**prototypes, "seeds": list(detectors.seeds)}

    settings = {**chain, "part": "calibration", "seeds": [seed]}
    return Unit(f"{difficulty}, calibration", settings, ALARM_COST * sum(counts.values()), work)


def _chunk_unit(options: Options, difficulty: str, chain: Results, needs: int, number: int, n_chunks: int) -> Unit:
    seed = seeds_of(n_chunks, options.seed, "landmine", difficulty, "alarms")[number]
    counts = [int(even_split(n, n_chunks)[number]) for n in chain["counts"].values()]
    high, low, clutter = counts

    def work(calibration: Results) -> Results:
        down, cross = (
            Prototypes(np.array(own["points"]), np.array(own["labels"]), own["reach"])
            for own in (calibration["down_track"], calibration["cross_track"])
        )
        detectors = gpr.Detectors(down, cross, tuple(calibration.get("seeds", ())))  # older results lack them
        drawn = gpr.draw_alarms(high, low, clutter, difficulty, seed, options.jobs or -1, detectors=detectors)
        return _as_numbers(drawn)

    settings = {**chain, "part": f"alarms {number + 1} of {n_chunks}", "seeds": [seed]}
    label = f"{difficulty}, simulating alarms, {number + 1} of {n_chunks}"
    return Unit(label, settings, ALARM_COST * sum(counts), work, (needs,))


def _as_numbers(alarms: gpr.AlarmSet) -> Results:
    shape = (*alarms.energies.shape, len(FEATURES))
    return {
        "features": np.round(alarms.bags.instances.reshape(shape), 6).tolist(),
        "truth": np.asarray(alarms.bags.instance_labels).reshape(shape[:2]).tolist(),
        "energies": np.round(alarms.energies, 4).tolist(),
        "target_energies": np.round(alarms.target_energies, 4).tolist(),
        "kinds": alarms.kinds.tolist(),
        "asked": alarms.asked.tolist(),
        "seeds": alarms.seeds.tolist(),
        "depths": [one.get("depth") for one in alarms.facts],
    }


def alarms_of(chunks: Sequence[Results]) -> gpr.AlarmSet:
    """Return the alarms simulated by several units as one set."""
    every = {name: [value for chunk in chunks for value in chunk[name]] for name in chunks[0]}
    features = np.array(every["features"])
    asked = np.array(every["asked"])
    n_bags, n_windows, n_features = features.shape
    bags = Bags(
        features.reshape(-1, n_features),
        n_windows * np.arange(n_bags + 1),
        feature_names=FEATURES,
        labels=(asked != "clutter").astype(int),
        instance_labels=np.array(every["truth"]).ravel(),
    )
    return gpr.AlarmSet(
        bags=bags,
        kinds=np.array(every["kinds"]),
        energies=np.array(every["energies"]),
        target_energies=np.array(every["target_energies"]),
        seeds=np.array(every["seeds"]),
        asked=asked,
        facts=[{} if depth is None else {"depth": depth} for depth in every["depths"]],
    )


def _answers(method: Method, alarms: gpr.AlarmSet, seeds: Sequence[int]) -> Results:
    """Cross-validate a method on folds that are stratified by kind of mine."""
    parts = splits(alarms.asked, len(seeds) - 1, seeds[0])
    answers = method(alarms, parts, seeds[1:])
    folds = np.empty(len(alarms.asked), int)
    for number, (_, outside) in enumerate(parts):
        folds[outside] = number
    found: Results = {"scores": rounded(answers.scores), "folds": folds.tolist()}
    if answers.pointed is not None:
        found["pointed"] = answers.pointed.tolist()
    if answers.windows is not None:
        truth = np.asarray(alarms.bags.instance_labels).reshape(answers.windows.shape)
        found["instance_auc"] = [
            float(roc_auc_score(truth[outside].ravel(), answers.windows[outside].ravel())) for _, outside in parts
        ]
    if answers.models:
        found |= _trained(answers, alarms, parts[0][1])
    return found


def _trained(answers: Answers, alarms: gpr.AlarmSet, outside: Array) -> Results:
    """Return the training error of each fold, where there is one, and how the first fold's rules fire on its alarms."""
    first = answers.models[0]
    found: Results = {}
    if "rmse" in getattr(first, "history_", {}):  # rules that are selected have no such curve
        curves = [model.history_["rmse"] for model in answers.models]
        n_epochs = max(map(len, curves))
        found["rmse"] = [rounded(curve) for curve in curves]
        found["stopped"] = sum(len(curve) < n_epochs for curve in curves)  # diverged
    if isinstance(first, MIANFISClassifier) and first.n_features_in_ == alarms.bags.n_features:
        fired = fired_windows(first.rules_, alarms.bags[outside])
        found["rules"] = {
            "initial": first.initial_rules_.to_dict(),
            "trained": first.rules_.to_dict(),
            "outside": outside.tolist(),
            "windows": fired.windows.tolist(),
            "contributions": rounded(fired.contributions, 4),
        }
    return found


# ---------------------------------------------------------------------- numbers


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    found: Results = {}
    n_chunks = 1 if options.quick else N_CHUNKS
    for difficulty in _difficulties(options):
        next(rest)  # the calibration
        alarms = alarms_of([next(rest) for _ in range(n_chunks)])
        methods = {name: [next(rest) for _ in range(_n_repeats(options))] for name in METHODS}
        variants = {name: [next(rest)] for name in _variants(options)}
        seed = seeds_of(1, options.seed, "landmine", difficulty, "bootstrap")[0]
        found[difficulty] = summarize(alarms, methods, variants, seed)
    settings: dict[str, Any] = {
        "n_folds": options.n_folds,
        "n_repeats": _n_repeats(options),
        "counts": QUICK_COUNTS if options.quick else COUNTS,
        "calibration": QUICK_CALIBRATION if options.quick else gpr.CALIBRATION,
        "reference": REFERENCE,
        "start": START,
        "paper": PAPER,
    }
    return {"settings": settings, "difficulties": found}


LANDMINE = Experiment("landmine", _units, _collect, draw, section)

"""Cross-validation of MI-ANFIS and Naive-ANFIS on the benchmark datasets (table resultstableANIFSes)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS, load_elephant, load_fox, load_musk1, load_musk2, load_tiger
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier
from fuzzymil.experiments._experiment import Experiment, Options, Results, Unit, described, seeds_of
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._recipe import Recipe, evaluate_folds, joined, normalized_rules, splits
from fuzzymil.experiments.benchmarks.report import draw, section

__all__ = ["BENCHMARK", "LOADERS", "recipes"]

LOADERS: dict[str, Callable[..., Bags]] = {
    "musk1": load_musk1,
    "musk2": load_musk2,
    "fox": load_fox,
    "tiger": load_tiger,
    "elephant": load_elephant,
}
GRID: tuple[dict[str, Any], ...] = (
    {"n_rules": 4, "rule_keep_prob": None},
    {"n_rules": 10, "rule_keep_prob": None},
    {"n_rules": 10, "rule_keep_prob": 0.7},
)
MEMBERS, QUICK_MEMBERS = 10, 3
SHORT = 2  # conditions per short rule
# Processor seconds of a fit, relative to MUSK 1, and on MUSK 1: the longest start first.
COST = {"musk1": 1.0, "musk2": 2.6, "fox": 1.2, "tiger": 1.2, "elephant": 1.2}
FIT_SECONDS = {"default": 1.7, "committee": 18.0, "short": 7.0}


def recipes(name: str, *, quick: bool = False) -> dict[tuple[str, str], Recipe]:
    """Return the recipes for a benchmark dataset, by column and method."""
    printed = PRINTED[name]
    literal = MIANFISClassifier.paper(printed.n_rules, printed.width)
    members = QUICK_MEMBERS if quick else MEMBERS
    # MUSK 2 has five to ten times the instances of the others: the whole grid would take minutes more.
    grid = (GRID[0], GRID[-1]) if quick or name == "musk2" else GRID
    naive = ANFISClassifier(init="kmeans")
    return {
        ("default", "mi"): Recipe(MIANFISClassifier()),
        ("committee", "mi"): Recipe(MIANFISClassifier(n_estimators=members)),
        ("normalized", "mi"): Recipe(normalized_rules()),
        ("normalized", "naive"): Recipe(naive, naive=True),
        ("short", "mi"): Recipe(normalized_rules(init="search", max_conditions=SHORT)),
        ("tuned", "mi"): Recipe(normalized_rules(), grid=grid),
        ("tuned", "naive"): Recipe(naive, naive=True, grid=grid),
        ("paper", "mi"): Recipe(literal, n_components=printed.n_components),
        ("paper", "naive"): Recipe(_single(literal), naive=True, n_components=printed.n_components),
    }


def _single(estimator: MIANFISClassifier) -> ANFISClassifier:
    """Return the traditional ANFIS with the parameters that the two have in common."""
    known = ANFISClassifier().get_params()
    return ANFISClassifier(**{name: value for name, value in estimator.get_params().items() if name in known})


def _sets(options: Options) -> list[str]:
    return ["musk1", "elephant"] if options.quick else list(LOADERS)


def _n_repeats(options: Options) -> int:
    return options.repeats or (1 if options.quick else 5)


def _check(options: Options) -> None:
    for name in _sets(options):
        LOADERS[name](options.data)


def _units(options: Options) -> list[Unit]:
    """Return one unit per fold."""
    units = []
    n_folds = options.n_folds
    for name in _sets(options):
        bags = LOADERS[name](options.data)
        for (column, method), recipe in recipes(name, quick=options.quick).items():
            for repeat in range(_n_repeats(options)):
                seeds = seeds_of(n_folds + 1, options.seed + repeat, name)
                parts = splits(np.asarray(bags.labels), n_folds, seeds[0])
                for fold, (part, seed) in enumerate(zip(parts, seeds[1:], strict=True)):
                    settings = {
                        "experiment": "benchmarks",
                        "data": BENCHMARKS[name].content_checksum,
                        "recipe": recipe.settings(),
                        "n_folds": n_folds,
                        "shuffle": seeds[0],
                        "fold": fold,
                        "seed": seed,
                    }
                    cost = COST[name] * (FIT_SECONDS.get(column, 0.5) + 1.0 * len(recipe.grid))
                    label = f"{PRINTED[name].title}, {column}, {method}, repeat {repeat + 1}, fold {fold + 1}"
                    work = partial(_fold, recipe, bags, part, seed)
                    units.append(Unit(label, settings, cost, work, parallel=True))
    return units


def _fold(recipe: Recipe, bags: Bags, part: tuple[Array, Array], seed: int) -> Results:
    return evaluate_folds(recipe, bags, np.asarray(bags.labels), [part], [seed])[0]


def _collect(options: Options, parts: list[Results]) -> Results:
    n_repeats = _n_repeats(options)
    sets: Results = {}
    rest = iter(parts)
    for name in _sets(options):
        own: Results = {}
        for column, method in recipes(name, quick=options.quick):
            runs = [joined([next(rest) for _ in range(options.n_folds)]) for _ in range(n_repeats)]
            entry: Results = {
                measure: [run[measure] for run in runs]
                for measure in ("accuracy", "auc", "accuracy_mean_pool", "auc_mean_pool")
                if measure in runs[0]
            }
            entry["stopped"] = sum(run["stopped"] for run in runs)
            entry["sizes"] = _mean_sizes([size for run in runs for size in run["sizes"]])
            if runs[0]["rmse"] is not None:
                entry["rmse"] = [run["rmse"] for run in runs]
            if runs[0]["chosen"] is not None:
                entry["chosen"] = _counted([choice for run in runs for choice in run["chosen"]])
            own.setdefault(column, {})[method] = entry
        sets[name] = own
    first = recipes("musk1", quick=options.quick)
    settings = {
        "n_folds": options.n_folds,
        "n_repeats": n_repeats,
        "seeds": [options.seed + repeat for repeat in range(n_repeats)],
        "members": first["committee", "mi"].estimator.n_estimators,
        "short": SHORT,
        "grid": list(first["tuned", "mi"].grid),
        "grid_sizes": {name: len(recipes(name, quick=options.quick)["tuned", "mi"].grid) for name in _sets(options)},
        "default": described(first["default", "mi"].estimator),
        "normalized": described(first["normalized", "mi"].estimator),
    }
    return {"settings": settings, "sets": sets}


def _mean_sizes(sizes: list[Results]) -> Results:
    return {name: round(float(np.mean([size[name] for size in sizes])), 3) for name in ("n_rules", "n_conditions")}


def _counted(choices: list[dict[str, Any]]) -> list[Results]:
    """Return how often each choice was made, most frequent first."""
    distinct = list({str(choice): choice for choice in choices}.values())
    counts = [{"settings": choice, "folds": choices.count(choice)} for choice in distinct]
    return sorted(counts, key=lambda entry: (-int(entry["folds"]), str(entry["settings"])))


BENCHMARK = Experiment("benchmarks", _units, _collect, draw, section, _check)

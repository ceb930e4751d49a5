"""All methods of the paper's table resultstable, measured on the same folds instead of quoted."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators import standardized
from fuzzymil.datasets import BENCHMARKS
from fuzzymil.experiments._experiment import Experiment, Options, Results, Unit, described, seeds_of
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._recipe import INNER_FOLDS, best_candidates, measure, splits
from fuzzymil.experiments.benchmarks.experiment import LOADERS
from fuzzymil.experiments.table.methods import Contestant, Grid, contestants
from fuzzymil.experiments.table.report import draw, section

__all__ = ["TABLE", "measure_fold"]

N_FOLDS = 10
# Processor seconds per fit relative to MUSK 1, for the estimate of the remaining time.
COST = {"musk1": 1.0, "musk2": 12.0, "fox": 3.0, "tiger": 3.0, "elephant": 3.0}


def measure_fold(
    contestant: Contestant, grid: Grid, bags: Bags, split: tuple[Array, Array], n_inner: int, seed: int
) -> Results:
    """Tune and fit on the training bags of a fold, and score its test bags.

    Returns
    -------
    dict
        ``accuracy``, ``auc``, ``seconds`` (processor time of the final fit) and the ``chosen`` parameters.
    """
    inside, outside = split
    training, test = bags[inside], bags[outside]
    truth = np.asarray(training.labels)
    model = _prepared(contestant, seed)
    chosen = _chosen(model, grid, training, truth, n_inner, seed)
    model.set_params(**chosen)
    before = time.process_time()
    model.fit(training, truth)
    seconds = time.process_time() - before
    scores = np.asarray(model.decision_function(test))
    accuracy, auc = measure(np.asarray(test.labels), scores)
    return {
        "accuracy": accuracy,
        "auc": auc,
        "seconds": round(seconds, 3),
        "chosen": {name.removeprefix("method__"): value for name, value in chosen.items()},
    }


def _prepared(contestant: Contestant, seed: int) -> Pipeline:
    method = clone(contestant.estimator)
    method.set_params(**{name: seed for name in method.get_params() if name.split("__")[-1] == "random_state"})
    return Pipeline([("method", method)]) if contestant.scales else standardized(method)


def _chosen(model: Pipeline, grid: Grid, bags: Bags, truth: Array, n_inner: int, seed: int) -> dict[str, Any]:
    """Return the best parameters by cross-validation on these bags."""
    if not grid:
        return {}
    points = list(ParameterGrid({f"method__{name}": values for name, values in grid.items()}))
    models = [clone(model).set_params(**point) for point in points]
    everything = [np.arange(len(bags))]
    (best,) = best_candidates(models, bags, truth, everything, [seed], lambda fold: fold.decisions, n_inner)
    return dict(points[best])


def _sets(options: Options) -> list[str]:
    return ["musk1"] if options.quick else list(LOADERS)


def _n_repeats(options: Options) -> int:
    return options.repeats or (1 if options.quick else 3)


def _grid(contestant: Contestant, options: Options) -> Grid:
    """Return the parameters to choose from; a quick run uses each method's defaults."""
    return {} if options.quick else contestant.grid


def _check(options: Options) -> None:
    for name in _sets(options):
        LOADERS[name](options.data)


def _units(options: Options) -> list[Unit]:
    """Return one unit per fold: fine enough to keep many cores busy to the end."""
    units = []
    for name in _sets(options):
        bags = LOADERS[name](options.data)
        for method, contestant in contestants().items():
            grid = _grid(contestant, options)
            for repeat in range(_n_repeats(options)):
                # The same folds as in the benchmark experiment.
                seeds = seeds_of(N_FOLDS + 1, options.seed + repeat, name)
                parts = splits(np.asarray(bags.labels), N_FOLDS, seeds[0])
                for fold, (part, seed) in enumerate(zip(parts, seeds[1:], strict=True)):
                    settings = {
                        "experiment": "table",
                        "data": BENCHMARKS[name].content_checksum,
                        "estimator": described(contestant.estimator),
                        "scales": contestant.scales,
                        "grid": dict(grid),
                        "inner_folds": INNER_FOLDS if grid else None,
                        "n_folds": N_FOLDS,
                        "shuffle": seeds[0],
                        "fold": fold,
                        "seed": seed,
                    }
                    cost = contestant.cost * COST[name] * (1 + 2 * _n_points(grid))
                    label = f"{PRINTED[name].title}, {method}, repeat {repeat + 1}, fold {fold + 1}"
                    work = partial(measure_fold, contestant, grid, bags, part, INNER_FOLDS, seed)
                    units.append(Unit(label, settings, cost, work, parallel=True))
    return units


def _n_points(grid: Grid) -> int:
    return len(ParameterGrid(dict(grid))) if grid else 0


def _collect(options: Options, parts: list[Results]) -> Results:
    rest, methods = iter(parts), contestants()
    sets: Results = {}
    for name in _sets(options):
        sets[name] = {}
        for method in methods:
            runs = [[next(rest) for _ in range(N_FOLDS)] for _ in range(_n_repeats(options))]
            sets[name][method] = {key: [[fold[key] for fold in run] for run in runs] for key in runs[0][0]}
    settings = {
        "n_folds": N_FOLDS,
        "inner_folds": INNER_FOLDS,
        "n_repeats": _n_repeats(options),
        "seeds": [options.seed + repeat for repeat in range(_n_repeats(options))],
        "methods": {
            method: {
                "estimator": described(contestant.estimator),
                "grid": dict(_grid(contestant, options)),
            }
            for method, contestant in methods.items()
        },
    }
    return {"settings": settings, "sets": sets}


TABLE = Experiment("table", _units, _collect, draw, section, _check)

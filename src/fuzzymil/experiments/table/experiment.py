"""All methods of the paper's table resultstable, measured on the same folds instead of quoted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS
from fuzzymil.estimators import PerInstance
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
    model = _prepared(contestant.estimator, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last epoch counts
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


def _prepared(estimator: Any, seed: int) -> Pipeline:
    method = clone(estimator)
    seeded = {name: seed for name in method.get_params() if name.split("__")[-1] == "random_state"}
    return Pipeline([("scale", PerInstance(StandardScaler())), ("method", method.set_params(**seeded))])


def _chosen(model: Pipeline, grid: Grid, bags: Bags, truth: Array, n_inner: int, seed: int) -> dict[str, Any]:
    """Return the best parameters by cross-validation on these bags."""
    if not grid:
        return {}
    points = list(ParameterGrid({f"method__{name}": values for name, values in grid.items()}))
    models = [clone(model).set_params(**point) for point in points]
    everything = [np.arange(len(bags))]
    (best,) = best_candidates(models, bags, truth, everything, [seed], lambda fold: fold.decisions, n_inner)
    return dict(points[best])


def _cross_validated(
    contestant: Contestant, grid: Grid, bags: Bags, n_folds: int, seeds: Sequence[int], jobs: int | None
) -> Results:
    labels = np.asarray(bags.labels)
    # One thread per process: most methods hold the interpreter's lock, and the times of fits should be comparable.
    with parallel_config(backend="loky", inner_max_num_threads=1):
        folds = Parallel(n_jobs=jobs or -1)(
            delayed(measure_fold)(contestant, grid, bags, split, INNER_FOLDS, seed)
            for split, seed in zip(splits(labels, n_folds, seeds[0]), seeds[1:], strict=True)
        )
    return {key: [fold[key] for fold in folds] for key in ("accuracy", "auc", "seconds", "chosen")}


def _sets(options: Options) -> list[str]:
    return ["musk1"] if options.quick else list(LOADERS)


def _n_repeats(options: Options) -> int:
    return options.repeats or 1


def _grid(contestant: Contestant, name: str, options: Options) -> Grid:
    """Return the parameters to choose from; a quick run uses each method's defaults."""
    return {} if options.quick else contestant.grids.get(name, contestant.grid)


def _check(options: Options) -> None:
    for name in _sets(options):
        LOADERS[name](options.data)


def _units(options: Options) -> list[Unit]:
    units = []
    for name in _sets(options):
        bags = LOADERS[name](options.data)
        for method, contestant in contestants().items():
            grid = _grid(contestant, name, options)
            for repeat in range(_n_repeats(options)):
                # The same folds as in the benchmark experiment.
                seeds = seeds_of(N_FOLDS + 1, options.seed + repeat, name)

                def work(
                    contestant: Contestant = contestant,
                    grid: Grid = grid,
                    bags: Bags = bags,
                    seeds: Sequence[int] = seeds,
                ) -> Results:
                    return _cross_validated(contestant, grid, bags, N_FOLDS, seeds, options.jobs)

                settings = {
                    "experiment": "table",
                    "data": BENCHMARKS[name].content_checksum,
                    "estimator": described(contestant.estimator),
                    "grid": dict(grid),
                    "inner_folds": INNER_FOLDS if grid else None,
                    "n_folds": N_FOLDS,
                    "seeds": seeds,
                }
                n_points = int(np.prod([len(values) for values in grid.values()])) if grid else 0
                fits = N_FOLDS * (1 + 2 * n_points)
                label = f"{PRINTED[name].title}, {method}, repeat {repeat + 1}"
                units.append(Unit(label, settings, contestant.cost * COST[name] * fits, work))
    return units


def _collect(options: Options, parts: list[Results]) -> Results:
    rest, methods = iter(parts), contestants()
    sets: Results = {}
    for name in _sets(options):
        sets[name] = {}
        for method in methods:
            runs = [next(rest) for _ in range(_n_repeats(options))]
            sets[name][method] = {key: [run[key] for run in runs] for key in runs[0]}
    settings = {
        "n_folds": N_FOLDS,
        "inner_folds": INNER_FOLDS,
        "n_repeats": _n_repeats(options),
        "seeds": [options.seed + repeat for repeat in range(_n_repeats(options))],
        "methods": {
            method: {
                "estimator": described(contestant.estimator),
                "grids": {name: dict(_grid(contestant, name, options)) for name in sets},
            }
            for method, contestant in methods.items()
        },
    }
    return {"settings": settings, "sets": sets}


TABLE = Experiment("table", _units, _collect, draw, section, _check)

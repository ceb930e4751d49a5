"""Every method of the paper's result table on the same folds, measured and not quoted (table resultstable)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS
from fuzzymil.estimators import PerInstance
from fuzzymil.experiments._folds import INNER_FOLDS, splits
from fuzzymil.experiments._methods import CONTESTANTS, Contestant, Grid
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._study import Experiment, Options, Results, Unit, seeds_of
from fuzzymil.experiments._table_report import draw, section
from fuzzymil.experiments.benchmarks import LOADERS

__all__ = ["TABLE", "measure_fold"]

N_FOLDS = 10
# Processor seconds of a fit, as a multiple of those on MUSK 1, for the time left.
COST = {"musk1": 1.0, "musk2": 12.0, "fox": 3.0, "tiger": 3.0, "elephant": 3.0}


def measure_fold(
    contestant: Contestant, grid: Grid, bags: Bags, split: tuple[Array, Array], n_inner: int, seed: int
) -> Results:
    """Choose settings and fit on the training bags of a fold, and score its test bags.

    Returns
    -------
    dict
        ``accuracy``, ``auc``, ``seconds`` (processor time of the last fit) and the settings ``chosen``.
    """
    inside, outside = split
    training, test = bags[inside], bags[outside]
    truth = np.asarray(training.labels)
    model = _prepared(contestant.estimator, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # last epoch, whatever it is
        chosen = _chosen(model, grid, training, truth, n_inner, seed)
        model.set_params(**chosen)
        before = time.process_time()
        model.fit(training, truth)
        seconds = time.process_time() - before
        scores = np.asarray(model.decision_function(test))
    return {
        "accuracy": float(accuracy_score(test.labels, (scores > 0).astype(int))),
        "auc": float(roc_auc_score(test.labels, scores)),
        "seconds": round(seconds, 3),
        "chosen": {name.removeprefix("method__"): value for name, value in chosen.items()},
    }


def _prepared(estimator: Any, seed: int) -> Pipeline:
    method = clone(estimator)
    seeded = {name: seed for name in method.get_params() if name.split("__")[-1] == "random_state"}
    return Pipeline([("scale", PerInstance(StandardScaler())), ("method", method.set_params(**seeded))])


def _chosen(model: Pipeline, grid: Grid, bags: Bags, truth: Array, n_inner: int, seed: int) -> dict[str, Any]:
    """Choose by accuracy, then AUC, then place in the grid."""
    if not grid:
        return {}
    inner = StratifiedKFold(n_inner, shuffle=True, random_state=seed)
    search = GridSearchCV(
        model,
        {f"method__{name}": values for name, values in grid.items()},
        scoring=["accuracy", "roc_auc"],
        cv=inner,
        refit=False,
        error_score="raise",
    ).fit(bags, truth)
    found = search.cv_results_
    # Rounded, because sums of equal accuracies in another order differ in the last digit.
    merit = np.round(np.column_stack([found["mean_test_accuracy"], found["mean_test_roc_auc"]]), 9)
    return dict(found["params"][max(range(len(merit)), key=lambda g: tuple(merit[g]))])


def _cross_validated(
    contestant: Contestant, grid: Grid, bags: Bags, n_folds: int, seeds: Sequence[int], jobs: int | None
) -> Results:
    labels = np.asarray(bags.labels)
    # Processes, one thread each: most methods hold the interpreter's lock, and times a fit should compare.
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
    """Return the settings to choose from; a quick run takes every method as it comes."""
    return {} if options.quick else contestant.grid_for(name)


def _check(options: Options) -> None:
    for name in _sets(options):
        LOADERS[name](options.data)


def _units(options: Options) -> list[Unit]:
    units = []
    for name in _sets(options):
        bags = LOADERS[name](options.data)
        for method, contestant in CONTESTANTS.items():
            grid = _grid(contestant, name, options)
            for repeat in range(_n_repeats(options)):
                # The folds of the benchmark experiment.
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
                    "estimator": _described(contestant.estimator),
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


def _described(estimator: Any) -> Results:
    """Return class and settings as a file can hold them."""
    values = {
        name: _described(value) if hasattr(value, "get_params") else value
        for name, value in estimator.get_params(deep=False).items()
    }
    return {"class": type(estimator).__name__, **values}


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    sets: Results = {}
    for name in _sets(options):
        sets[name] = {}
        for method in CONTESTANTS:
            runs = [next(rest) for _ in range(_n_repeats(options))]
            sets[name][method] = {key: [run[key] for run in runs] for key in runs[0]}
    settings = {
        "n_folds": N_FOLDS,
        "inner_folds": INNER_FOLDS,
        "n_repeats": _n_repeats(options),
        "seeds": [options.seed + repeat for repeat in range(_n_repeats(options))],
        "methods": {
            method: {
                "estimator": _described(contestant.estimator),
                "grids": {name: dict(_grid(contestant, name, options)) for name in sets},
            }
            for method, contestant in CONTESTANTS.items()
        },
    }
    return {"settings": settings, "sets": sets}


TABLE = Experiment("table", "MI-ANFIS among other methods", _check, _units, _collect, draw, section)

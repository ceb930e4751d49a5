"""Fits in several processes, for estimators that do not train together in one compiled call."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from joblib import Parallel, delayed
from sklearn.utils import _safe_indexing

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError, warn_user
from fuzzymil._utils.processes import helpers, shared
from fuzzymil._utils.runtime import granted_cores

__all__ = ["Jobs", "check_jobs", "fitted_models"]

Jobs = int | Literal["auto"] | None
_WORTH_STARTING = 8.0  # seconds of work left: a process takes two or three to load what it needs


def check_jobs(n_jobs: Jobs) -> None:
    """Raise `ParameterError` unless this is a number of processes, "auto" or None."""
    if not (n_jobs is None or n_jobs == "auto" or (isinstance(n_jobs, int) and n_jobs != 0)):
        raise ParameterError(f"n_jobs must be a number of processes, -1 for all cores, or 'auto', got {n_jobs!r}.")


def fitted_models(
    models: Sequence[Any], X: Any, y: Any, insides: Sequence[Array], n_jobs: Jobs
) -> Iterator[tuple[int, Any, float]]:
    """Yield the place of each model, the model fitted on its part of the bags, and the seconds that its fit took.

    They come as they are finished, in any order.

    Parameters
    ----------
    models : sequence of estimators
    X, y : bags and labels
    insides : sequence of int arrays
        Positions of the training bags of each model.
    n_jobs : int, "auto" or None
        Number of processes. "auto" fits here until enough work is left for other processes to be worth their start.
        Processes that run already, in the context of `helped`, are always used.
    """
    cases = [(model, X, y, inside) for model, inside in zip(models, insides, strict=True)]
    running = helpers()
    if running is not None and n_jobs != 1:
        for place, (model, seconds, warned) in shared(running, cases, _here, _elsewhere):
            _warn(warned)
            yield place, model, seconds
        return
    spent, done = 0.0, 0
    if n_jobs == "auto" and granted_cores() == 1:
        n_jobs = 1
    for place, case in enumerate(cases):
        if n_jobs not in ("auto", 1) or (n_jobs == "auto" and spent * (len(models) - done) > _WORTH_STARTING * done):
            break
        model, seconds = _fitted(*case)
        spent, done = spent + seconds, done + 1
        yield place, model, seconds
    if done < len(models):
        pool = Parallel(n_jobs=-1 if n_jobs == "auto" else n_jobs, batch_size=1, return_as="generator")
        found = pool(delayed(_elsewhere)(*case) for case in cases[done:])
        for place, (model, seconds, warned) in enumerate(found, done):
            _warn(warned)
            yield place, model, seconds


def _warn(texts: list[tuple[str, type[Warning]]]) -> None:
    for text, category in texts:
        warn_user(text, category)


def _fitted(model: Any, X: Any, y: Any, inside: Array) -> tuple[Any, float]:
    began = time.perf_counter()
    model.fit(_safe_indexing(X, inside), _safe_indexing(y, inside))
    return model, time.perf_counter() - began


def _here(model: Any, X: Any, y: Any, inside: Array) -> tuple[Any, float, list[tuple[str, type[Warning]]]]:
    return *_fitted(model, X, y, inside), []


def _elsewhere(model: Any, X: Any, y: Any, inside: Array) -> tuple[Any, float, list[tuple[str, type[Warning]]]]:
    """Fit in a process of a pool; return the warnings as well, which would get lost there."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # one GPU cannot serve all processes
    verbose = {name: value for name, value in model.get_params().items() if name.split("__")[-1] == "verbose"}
    model.set_params(**dict.fromkeys(verbose, False))  # several progress bars would overwrite each other
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        model, seconds = _fitted(model, X, y, inside)
    return model.set_params(**verbose), seconds, [(str(each.message), each.category) for each in caught]

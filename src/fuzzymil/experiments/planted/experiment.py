"""Twelve kinds of bag problems whose truth is known: accuracy, the features and instances found, and the rules.

The paper has no such study. Each kind asks something else of a bag, so that no single way to summarize its instances
suffices for all.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from joblib import Parallel, delayed, parallel_config

from fuzzymil.datasets import PLANTED
from fuzzymil.experiments._experiment import Experiment, Options, Results, Unit, described, seeds_of
from fuzzymil.experiments.planted.measures import measure_fit
from fuzzymil.experiments.planted.methods import OWN, Method, methods_at
from fuzzymil.experiments.planted.numbers import correct, verdict
from fuzzymil.experiments.planted.report import draw, section
from fuzzymil.experiments.planted.tradeoff import point, recipes

__all__ = ["PLANTED_PROBLEMS"]

SIZES, QUICK_SIZES = (60, 120, 200, 400), (120,)  # training bags
N_SETS, QUICK_SETS = 10, 2
N_TEST = 600
N_NOISE = 20
PATH_SIZE = 200  # training bags on the path of accuracy against conditions
QUICK_PATH_KINDS = ("some", "pair", "count")
# A unit of work has enough fits to keep a large machine busy, and few enough that Ctrl-C loses little.
KINDS_PER_UNIT = 4


def _sizes(options: Options) -> tuple[int, ...]:
    return options.sizes or (QUICK_SIZES if options.quick else SIZES)


def _n_sets(options: Options) -> int:
    return options.repeats or (QUICK_SETS if options.quick else N_SETS)


def _groups(kinds: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(kinds[start : start + KINDS_PER_UNIT]) for start in range(0, len(kinds), KINDS_PER_UNIT)]


# ---------------------------------------------------------------------- the path


def _path_size(options: Options) -> int:
    """Return the number of training bags on the path: one that is measured anyway."""
    sizes = _sizes(options)
    return PATH_SIZE if PATH_SIZE in sizes else max(sizes)


def _path_kinds(options: Options) -> tuple[str, ...]:
    return QUICK_PATH_KINDS if options.quick else tuple(PLANTED)


# ---------------------------------------------------------------------- work


def _measured(
    method: Method, kinds: Sequence[str], size: int, n_sets: int, seed: int, jobs: int | None
) -> dict[str, list[Results]]:
    """Measure a method on several datasets of each kind, in parallel; only the first keeps its rules."""
    tasks = [(kind, number) for kind in kinds for number in range(n_sets)]
    # One thread per process: the times of fits should be comparable.
    with warnings.catch_warnings(), parallel_config(backend="loky", inner_max_num_threads=1):
        # joblib takes compiled programs for a memory leak, and then goes on with a new process.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        found = Parallel(n_jobs=jobs or -1)(
            delayed(measure_fit)(
                method, kind, (size, N_TEST), N_NOISE, seeds_of(3, seed, "planted", kind, size, number)
            )
            for kind, number in tasks
        )
    by_kind: dict[str, list[Results]] = {kind: [] for kind in kinds}
    for (kind, number), result in zip(tasks, found, strict=True):
        if number:
            result.pop("rules", None)
        by_kind[kind].append(result)
    return by_kind


def _unit(label: str, method: Method, kinds: Sequence[str], size: int, options: Options) -> Unit:
    n_sets = _n_sets(options)

    def work() -> Results:
        return _measured(method, kinds, size, n_sets, options.seed, options.jobs)

    settings = {
        "experiment": "planted",
        "estimator": described(method.estimator),
        "truths": {kind: PLANTED[kind].truth for kind in kinds},
        "n_bags": [size, N_TEST],
        "n_noise": N_NOISE,
        "n_sets": n_sets,
        "seed": options.seed,
    }
    return Unit(f"{label}, {', '.join(kinds)}", settings, method.cost * size / 200 * n_sets * len(kinds), work)


def _units(options: Options) -> list[Unit]:
    units = [
        _unit(f"{size} bags, {name}", method, kinds, size, options)
        for size in _sizes(options)
        for name, method in methods_at(size, options).items()
        for kinds in _groups(tuple(PLANTED))
    ]
    size = _path_size(options)
    for (way, bound), recipe in recipes(quick=options.quick).items():
        method = Method(recipe.estimator, rules=True)
        units += [
            _unit(f"{size} bags, {way}, at most {bound}", method, kinds, size, options)
            for kinds in _groups(_path_kinds(options))
        ]
    return units


# ---------------------------------------------------------------------- numbers


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    sizes = _sizes(options)
    measured: Results = {}
    shown: Results = {}
    for size in sizes:
        by_kind: dict[str, Results] = {kind: {} for kind in PLANTED}
        for name in methods_at(size, options):
            for kinds in _groups(tuple(PLANTED)):
                part = next(rest)
                for kind in kinds:
                    first, *_ = part[kind]
                    if name == OWN:
                        shown.setdefault(str(size), {})[kind] = first["rules"]
                    measures = [measure for measure in first if measure != "rules"]
                    by_kind[kind][name] = {measure: [one[measure] for one in part[kind]] for measure in measures}
        measured[str(size)] = by_kind
    verdicts = {
        size: {
            kind: verdict({name: own["accuracy"] for name, own in methods.items()}) for kind, methods in found.items()
        }
        for size, found in measured.items()
    }
    correct(verdicts)
    paths: Results = {kind: {} for kind in _path_kinds(options)}
    for way, bound in recipes(quick=options.quick):
        for kinds in _groups(_path_kinds(options)):
            part = next(rest)
            for kind in kinds:
                accuracy = [[one["accuracy"]] for one in part[kind]]
                paths[kind].setdefault(way, []).append(point(bound, accuracy, part[kind]))
    settings = {
        "sizes": list(sizes),
        "n_sets": _n_sets(options),
        "n_test": N_TEST,
        "n_noise": N_NOISE,
        "path_size": _path_size(options),
        "methods": {
            name: described(method.estimator) for size in sizes for name, method in methods_at(size, options).items()
        },
    }
    return {"settings": settings, "measured": measured, "verdicts": verdicts, "rules": shown, "paths": paths}


PLANTED_PROBLEMS = Experiment("planted", _units, _collect, draw, section)

"""How well rules do on bags they have not seen: ``evaluate``."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import emit, emit_json, emit_table, note, progress
from fuzzymil.cli._inputs import Columns, read_data
from fuzzymil.cli._settings import Task, chosen_task, given, new_estimator
from fuzzymil.cli.fit import trained

if TYPE_CHECKING:
    from fuzzymil.bags import Bags

__all__ = ["evaluate"]


def method_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a method to compare with."""
    from fuzzymil.cli._validation import baseline_names

    return (name for name in baseline_names(classes=True) if name.lower().startswith(incomplete.lower()))


@dataclasses.dataclass
class Trial:
    """One method, and its measures on the folds that are finished."""

    title: str
    estimator: Any
    together: bool = False  # whether the folds can be trained in one compiled call
    results: list[dict[str, float]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0


@app.command(
    epilog=examples(
        "fuzzymil evaluate visits.csv --bag user --label converted --max-terms 2",
        "fuzzymil evaluate visits.csv --bag user --label converted --compare majority --compare naive --repeats 5",
    )
)
def evaluate(
    data: _options.Data,
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    drop: _options.Drop = None,
    format: _options.DataFormat = None,
    task: Annotated[Task, typer.Option(help="What is predicted (auto: what the labels look like).")] = Task.auto,
    folds: Annotated[int, typer.Option(min=2, help="Parts of which each is predicted by rules from the others.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Cross-validations, each on other folds.")] = 1,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            autocompletion=method_names,
            help="Also: majority (of numbers: mean), naive, or a class of fuzzymil.comparators, MISVM say; may be "
            "given several times.",
        ),
    ] = None,
    n_rules: _options.NRules = None,
    max_terms: _options.MaxTerms = None,
    alpha: _options.Alpha = None,
    order: _options.Order = None,
    n_estimators: _options.NMembers = None,
    n_init: _options.NRestarts = None,
    max_epochs: _options.MaxEpochs = None,
    learning_rate: _options.LearningRate = None,
    init: _options.Init = None,
    settings: _options.Settings = None,
    seed: _options.Seed = 0,
    as_json: _options.AsJson = False,
) -> None:
    """Cross-validate: how well rules learned from some of the bags do on the others.

    Everything is fitted on the training folds alone. To see how a model you have does on further labeled bags, use
    predict.
    """
    source = read_data(data, Columns.from_options(bag, label, drop), format, labels=True)
    kind = chosen_task(task, source.bags)
    chosen = given(
        n_rules=n_rules,
        max_terms=max_terms,
        alpha=alpha,
        order=order,
        n_estimators=n_estimators,
        n_init=n_init,
        max_epochs=max_epochs,
        learning_rate=learning_rate,
    )
    model = new_estimator(kind, chosen, settings or (), init, seed)
    trials = [Trial(type(model).__name__, model, together=True), *_others(compare or [], seed, kind)]
    n_folds = _possible(folds, source.bags, kind)
    finished = _run(trials, source.bags, n_folds, repeats, seed, kind, shows=not as_json)
    if any(trial.results for trial in trials):
        _show(trials, source.bags, n_folds, repeats, as_json=as_json)
    if not finished:
        some = any(trial.results for trial in trials)
        note(f"Stopped (Ctrl-C): {'the table holds the folds that were' if some else 'no fold was'} finished.")
        raise typer.Exit(130)


def _others(names: list[str], seed: int, kind: Task) -> list[Trial]:
    from fuzzymil.cli._validation import baseline, baseline_names

    classes = kind is Task.classification
    wanted = dict.fromkeys(part.strip() for name in names for part in name.split(",") if part.strip())
    found = [(name, baseline(name, seed, classes=classes)) for name in wanted]
    return [Trial(baseline_names(classes=classes)[name], estimator) for name, estimator in found]


def _possible(wanted: int, bags: Bags, kind: Task) -> int:
    """Return the number of folds, fewer than wanted where there are too few bags, and say so."""
    from fuzzymil.cli._validation import most_folds

    most = most_folds(bags.labels, classes=kind is Task.classification)  # type: ignore[arg-type]
    if most < 2:
        what = "a class of a single bag" if kind is Task.classification else f"{bags.n_bags} bags"
        raise InputError(f"There is {what}: too few to learn from some and test on others.")
    if wanted > most:
        why = "the rarest class has" if kind is Task.classification else "two bags a fold make"
        note(f"{most} folds instead of {wanted}: {why} no more.")
    return min(wanted, most)


def _run(trials: list[Trial], bags: Bags, n_folds: int, n_repeats: int, seed: int, kind: Task, *, shows: bool) -> bool:
    """Fill in the trials; False if Ctrl-C came in between."""
    from sklearn.base import clone

    from fuzzymil.cli._validation import folds, measured

    classes = kind is Task.classification
    splits = list(folds(bags.labels, n_folds, n_repeats, seed, classes=classes))  # type: ignore[arg-type]
    for trial in trials:
        # The folds of a repeat train together, under a bar of their own; other methods take fold after fold.
        step = n_folds if trial.together else 1
        with nullcontext() if trial.together else progress(trial.title, len(splits)) as advance:
            for start in range(0, len(splits), step):
                chosen = splits[start : start + step]
                models = [clone(trial.estimator) for _ in chosen]
                began = time.perf_counter()
                try:
                    if trained(models, [bags[inside] for inside, _ in chosen], shows=shows):
                        return False
                except KeyboardInterrupt:
                    return False
                trial.seconds += time.perf_counter() - began
                for model, (_, outside) in zip(models, chosen, strict=True):
                    trial.results.append(measured(model, bags[outside], classes=classes))
                if advance is not None:
                    advance()
    return True


def _show(trials: list[Trial], bags: Bags, n_folds: int, n_repeats: int, *, as_json: bool) -> None:
    from fuzzymil.cli._validation import summary

    found = [(trial, summary(trial.results)) for trial in trials]
    if as_json:
        emit_json(
            {
                "n_bags": bags.n_bags,
                "n_folds": n_folds,
                "n_repeats": n_repeats,
                "methods": [
                    {"method": trial.title, "seconds": trial.seconds, "measures": measures, "folds": trial.results}
                    for trial, measures in found
                ],
            }
        )
        return
    names = list(found[0][1])
    rows = [
        [
            trial.title,
            *(f"{measures[name]['mean']:.3f} ± {measures[name]['std']:.3f}" for name in names if measures),
            str(len(trial.results)),
            f"{trial.seconds / max(len(trial.results), 1):.2f}",
        ]
        for trial, measures in found
        if trial.results
    ]
    emit_table(["method", *names, "n", "s/fit"], rows)
    how = f"{n_repeats} x {n_folds}-fold cross-validation of {bags.n_bags} bags"
    emit(f"Mean ± standard deviation over n test folds ({how}).")

"""``fuzzymil evaluate``: cross-validation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError
from fuzzymil.cli import _options
from fuzzymil.cli._app import LEARN, app, examples
from fuzzymil.cli._console import emit, emit_json, emit_table, is_terminal, note, progress
from fuzzymil.cli._inputs import read_data
from fuzzymil.cli._models import Columns
from fuzzymil.cli._settings import Task, TaskOption, chosen_task, given, new_estimator

if TYPE_CHECKING:
    from fuzzymil.bags import Bags
    from fuzzymil.estimators import Fold

__all__ = ["evaluate"]


def method_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a method to compare with."""
    from fuzzymil.cli._baselines import baseline_names

    return (name for name in baseline_names(classes=True) if name.lower().startswith(incomplete.lower()))


@dataclasses.dataclass
class Trial:
    """A method, and its scores on the folds finished so far."""

    title: str
    estimator: Any
    results: list[dict[str, float]] = dataclasses.field(default_factory=list)
    seconds: float = 0.0


@app.command(
    rich_help_panel=LEARN,
    epilog=examples(
        "fuzzymil evaluate visits.csv --bag user --label converted --max-terms 2",
        "fuzzymil evaluate visits.csv --bag user --label converted --compare majority --compare naive --repeats 5",
    ),
)
def evaluate(
    data: _options.Data,
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    drop: _options.Drop = None,
    format: _options.DataFormat = None,
    task: TaskOption = Task.auto,
    folds: Annotated[int, typer.Option(min=2, help="Number of cross-validation folds.")] = 10,
    repeats: Annotated[int, typer.Option(min=1, help="Number of repetitions, each with different folds.")] = 1,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METHOD",
            autocompletion=method_names,
            help="Method to compare with: majority (regression: mean), naive, or a class in fuzzymil.comparators, such "
            "as MISVM (repeatable).",
        ),
    ] = None,
    n_rules: _options.NRules = None,
    max_terms: _options.MaxTerms = None,
    alpha: _options.Alpha = None,
    order: _options.Order = None,
    n_estimators: _options.NEstimators = None,
    n_init: _options.NInit = None,
    max_epochs: _options.MaxEpochs = None,
    learning_rate: _options.LearningRate = None,
    init: _options.Init = None,
    settings: _options.Settings = None,
    seed: _options.Seed = 0,
    as_json: _options.AsJson = False,
) -> None:
    """Estimate held-out accuracy by cross-validation.

    Everything is fitted on the training folds only. To score an existing model on new labeled bags, use predict.
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
    model = new_estimator(kind, chosen, settings or (), init, seed).set_params(verbose=not as_json and is_terminal())
    trials = [Trial(type(model).__name__, model), *_others(compare or [], seed, kind)]
    n_folds = _possible(folds, source.bags, kind)
    finished = _run(trials, source.bags, n_folds, repeats, seed, kind)
    some = any(trial.results for trial in trials)
    if some:
        _show(trials, source.bags, n_folds, repeats, as_json=as_json)
    if not finished:
        note(f"Interrupted: {'the table shows the folds finished so far' if some else 'no fold was finished'}.")
        raise typer.Exit(130)


def _others(names: list[str], seed: int, kind: Task) -> list[Trial]:
    from fuzzymil.cli._baselines import baseline, baseline_names

    classes = kind is Task.classification
    wanted = dict.fromkeys(part.strip() for name in names for part in name.split(",") if part.strip())
    found = [(name, baseline(name, seed, classes=classes)) for name in wanted]
    return [Trial(baseline_names(classes=classes)[name], estimator) for name, estimator in found]


def _possible(wanted: int, bags: Bags, kind: Task) -> int:
    """Return the number of folds, reduced so that each fold tests every class (regression: two bags)."""
    import numpy as np

    classes, labels = kind is Task.classification, np.asarray(bags.labels)
    most = int(np.unique(labels, return_counts=True)[1].min()) if classes else bags.n_bags // 2
    if most < 2:
        what = "one class has a single bag" if classes else f"the data has {bags.n_bags} bags"
        raise InputError(f"Too few bags for cross-validation: {what}.")
    if wanted > most:
        why = f"the smallest class has {most} bags" if classes else "each fold needs two bags"
        note(f"Using {most} folds instead of {wanted}: {why}.")
    return min(wanted, most)


def _run(trials: list[Trial], bags: Bags, n_folds: int, n_repeats: int, seed: int, kind: Task) -> bool:
    """Cross-validate all methods on the same folds; return False after Ctrl-C."""
    import numpy as np
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    from fuzzymil._utils.runtime import enable_compilation_cache

    enable_compilation_cache()
    splitter = RepeatedStratifiedKFold if kind is Task.classification else RepeatedKFold
    repeated = splitter(n_splits=n_folds, n_repeats=n_repeats, random_state=seed)
    splits = [*repeated.split(np.zeros(bags.n_bags), bags.labels)]
    try:
        for trial in trials:
            _cross_validate(trial, bags, splits, kind, n_folds if trial is trials[0] else 1)
    except KeyboardInterrupt:
        return False
    return True


def _cross_validate(trial: Trial, bags: Bags, splits: list[Any], kind: Task, batch_size: int) -> None:
    """Fill in the scores of a method; networks train in batches and show their own progress."""
    from fuzzymil.estimators import cross_validate

    with progress() as show:

        def finish(fold: Fold) -> None:
            trial.results.append(_scores(fold, kind))
            trial.seconds += fold.seconds
            if batch_size == 1:
                show(trial.title, len(trial.results), len(splits))

        cross_validate([trial.estimator], bags, cv=splits, batch_size=batch_size, callback=finish)


def _scores(fold: Fold, kind: Task) -> dict[str, float]:
    """Return accuracy, AUC and, for probabilities, the Brier score on the test bags; or R² and mean absolute error."""
    from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score, roc_auc_score

    from fuzzymil.plots import brier_score

    truth, found = fold.truth, fold.predictions
    if kind is Task.regression:
        return {"R2": float(r2_score(truth, found)), "MAE": float(mean_absolute_error(truth, found))}
    classes = fold.model.classes_
    if len(classes) > 2:
        auc = roc_auc_score(truth, fold.probabilities, multi_class="ovr", labels=classes)
    else:
        sure = fold.probabilities[:, 1] if fold.decisions is None else fold.decisions  # type: ignore[index]
        auc = roc_auc_score(truth == classes[1], sure)
    scores = {"accuracy": float(accuracy_score(truth, found)), "AUC": float(auc)}
    if fold.probabilities is not None:
        scores["Brier"] = brier_score(truth, fold.probabilities, classes)
    return scores


def _summary(results: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the mean, standard deviation and number of each score."""
    import numpy as np

    found = {}
    for name in results[0] if results else ():
        values = [result[name] for result in results]
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
        found[name] = {"mean": float(np.mean(values)), "std": spread, "n": len(values)}
    return found


def _show(trials: list[Trial], bags: Bags, n_folds: int, n_repeats: int, *, as_json: bool) -> None:
    found = [(trial, _summary(trial.results)) for trial in trials]
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
    names = [name for name in found[0][1] if name != "Brier"]  # which not every method has, nor the table room for
    rows = [
        [
            trial.title,
            *(f"{measures[name]['mean']:.3f} ± {measures[name]['std']:.3f}" for name in names),
            str(len(trial.results)),
            f"{trial.seconds / len(trial.results):.2f}",
        ]
        for trial, measures in found
        if trial.results
    ]
    emit_table(["method", *names, "folds", "s/fit"], rows)
    emit(f"Mean ± standard deviation over the test folds ({n_repeats} x {n_folds}-fold, {bags.n_bags} bags).")

"""``fuzzymil evaluate``: cross-validation."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil._utils.text import quantity
from fuzzymil.cli._app import LEARN, app
from fuzzymil.cli._console import emit, emit_json, emit_table, in_options, is_terminal, note, progress
from fuzzymil.cli._inputs import Columns, Source, read_data
from fuzzymil.cli._options import AsJson, CostMiss, Data, Folds, Group, Seed, TrainingData, option, split_names
from fuzzymil.cli._processes import helped_fits
from fuzzymil.cli._settings import Learner, Task, TaskOption, infer_task, positive_label

if TYPE_CHECKING:
    from fuzzymil._utils.arrays import Array
    from fuzzymil._utils.statistics import PairedTest
    from fuzzymil.bags import Bags
    from fuzzymil.estimators import Fold


def method_names(incomplete: str) -> Iterator[str]:
    """Complete the name of a method to compare with."""
    from fuzzymil.cli._baselines import NONE, baseline_names

    names = [*baseline_names(classes=True), NONE]
    return (name for name in names if name.lower().startswith(incomplete.lower()))


@dataclasses.dataclass
class Trial:
    """A method, and its scores on the folds finished so far."""

    title: str
    estimator: Any
    scores: dict[int, dict[str, float]] = dataclasses.field(default_factory=dict)  # by the number of the fold
    pairs: list[tuple[Any, Any]] = dataclasses.field(default_factory=list)  # probabilities and whether they came true
    seconds: float = 0.0
    failure: str | None = None  # why the other folds are not there

    @property
    def results(self) -> list[dict[str, float]]:
        """The scores in the order of the folds."""
        return [self.scores[fold] for fold in sorted(self.scores)]


@app.command(rich_help_panel=LEARN)
def evaluate(
    data: Data,
    *,
    reading: TrainingData,
    group: Group = None,
    time: Annotated[
        str | None,
        option(
            "COLUMN",
            "Column of dates or numbers: learn from earlier bags, test on later ones. It is not used as a feature.",
            panel="Data",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        Path | None,
        option("FILE", "Learn from all of DATA, and test on the bags in this file.", panel="Data", show_default=False),
    ] = None,
    task: TaskOption = Task.auto,
    folds: Folds = 10,
    repeats: Annotated[int, option("NUMBER", "Number of repetitions, each with different folds.", min=1)] = 1,
    compare: Annotated[
        list[str] | None,
        option(
            "METHOD",
            "Method to compare with: majority (regression: mean), naive, or a class in fuzzymil.comparators, such as "
            "MISVM (repeatable; default: EmbeddingForest, a random forest on bag statistics; none: no comparison).",
            autocompletion=method_names,
        ),
    ] = None,
    learner: Learner,
    cost_miss: CostMiss = None,
    seed: Seed = 0,
    jobs: Annotated[
        int | None,
        option("NUMBER", "Number of processes (default: one per core, if there is enough work to be worth it).", min=1),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Estimate held-out accuracy by cross-validation, and compare with other methods.

    Everything is fitted on the training folds only. The differences from each other method are tested on the same
    folds. A method that fails is marked, and the others go on. To score an existing model on new labeled bags, use
    predict.

    Examples
    --------
    fuzzymil evaluate visits.csv --bag user --label converted --repeats 5
    fuzzymil evaluate visits.csv --bag user --label converted --compare majority,MILES,EmbeddingForest
    fuzzymil evaluate visits.csv --bag visit --label converted --group user
    fuzzymil evaluate visits.csv --bag visit --label converted --test later.csv --cost-miss 5
    """
    apart = [name for name, given in (("--group", group), ("--time", time), ("--test", test)) if given is not None]
    if len(apart) > 1 or (len(apart) == 1 and apart != ["--group"] and repeats > 1):
        raise ParameterError(f"{' and '.join(apart)} divide the bags in their own way: use one of them, once.")
    source = read_data(data, Columns.of(reading, group or time), labels=True)
    groups = None if group is None else source.bags.per_bag(group)
    kind = infer_task(task, source.bags)
    model = learner.estimator(kind, source.bags.labels, seed)
    meant = positive_label(learner.pos_label, source.bags.labels, kind)
    trials = [Trial(type(model).__name__, model), *_others(compare, source.bags, seed, kind, meant)]
    bags, n_folds = source.bags, 1
    if test is not None:
        bags, splits, how = _tested_on(source, test, reading)
    elif time is not None:
        splits, how = _later(bags, time, folds, kind)
        n_folds = len(splits) + 1
    else:
        n_folds = _possible(folds, bags, kind, groups)
        splits = _splits(bags, n_folds, repeats, seed, kind, groups)
        how = f"Mean ± standard deviation over the test folds ({repeats} x {n_folds}-fold, {bags.n_bags} bags)."
    assert bags.labels is not None
    if cost_miss is not None and (kind is Task.regression or len(set(bags.labels.tolist())) != 2):
        raise ParameterError("--cost-miss is for two classes: omit it.")
    score = partial(_scores, kind=kind, cost_miss=cost_miss, positive=meant)
    with helped_fits(len(splits), bags, jobs):
        finished = _run(trials, lambda trial: _cross_validate(trial, bags, splits, n_folds, score, jobs, quiet=as_json))
    some = any(trial.results for trial in trials)
    if some or as_json:
        kept = None if groups is None else {"column": group, "n_groups": len(set(groups.tolist()))}
        _show(trials, how, bags, n_folds, repeats, kept, as_json=as_json)
    if finished:
        for trial in trials:
            if trial.failure is not None:
                note(in_options(f"{trial.title} failed: {trial.failure}"))
        if trials[0].failure is not None:
            raise typer.Exit(1)
    else:
        note(f"Interrupted: {'the table shows the folds finished so far' if some else 'no fold was finished'}.")
        raise typer.Exit(130)


def _others(names: list[str] | None, bags: Bags, seed: int, kind: Task, pos_label: Any = None) -> list[Trial]:
    """Return the methods to compare with, by default the embedding forest."""
    from fuzzymil.cli._baselines import FOREST, NONE, baseline, baseline_names

    classes = kind is Task.classification
    wanted = list(dict.fromkeys(split_names([FOREST] if names is None else names)))
    if wanted == [NONE]:
        return []
    if NONE in wanted:
        others = ", ".join(name for name in wanted if name != NONE)
        raise InputError(f"--compare {NONE} means no other method, but {others} is also given: omit one of them.")
    found = [(name, baseline(name, bags, seed, classes=classes, pos_label=pos_label)) for name in wanted]
    return [Trial(baseline_names(classes=classes)[name], estimator) for name, estimator in found]


def _possible(wanted: int, bags: Bags, kind: Task, groups: Array | None) -> int:
    """Return the number of folds, reduced so that each fold tests every class (regression: two bags)."""
    import numpy as np

    units, what = (np.arange(bags.n_bags), "bag") if groups is None else (groups, "group")
    if kind is Task.classification:
        labels = np.asarray(bags.labels)
        most = min(len(np.unique(units[labels == label])) for label in np.unique(labels))
        short, why = f"one class has a single {what}", f"the smallest class has {most} {what}s"
    else:
        n_units = len(np.unique(units))
        most = n_units // 2 if groups is None else n_units
        short, why = f"the data has {n_units} {what}s", f"each fold needs {'two bags' if groups is None else 'a group'}"
    if most < 2:
        raise InputError(f"Too few {what}s for cross-validation: {short}.")
    if wanted > most:
        note(f"Using {most} folds instead of {wanted}: {why}.")
    return min(wanted, most)


def _splits(bags: Bags, n_folds: int, n_repeats: int, seed: int, kind: Task, groups: Array | None) -> list[Any]:
    """Return the positions of training and test bags; bags of one group stay together."""
    import numpy as np
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold

    from fuzzymil.estimators import splitter

    classes, nothing = kind is Task.classification, np.zeros(bags.n_bags)
    if groups is None:
        repeated = (RepeatedStratifiedKFold if classes else RepeatedKFold)(
            n_splits=n_folds, n_repeats=n_repeats, random_state=seed
        )
        return [*repeated.split(nothing, bags.labels)]
    divided = [
        splitter(n_folds, bags.labels, groups, classifies=classes, random_state=seed + n) for n in range(n_repeats)
    ]
    return [split for each in divided for split in each.split(nothing, bags.labels, groups)]


def _later(bags: Bags, column: str, n_folds: int, kind: Task) -> tuple[list[Any], str]:
    """Return splits that learn from earlier bags and test on later ones, and what they are in words."""
    import numpy as np
    from sklearn.model_selection import TimeSeriesSplit

    from fuzzymil.bags.series import NumberSeries, TextSeries, as_series

    assert bags.source is not None
    assert bags.labels is not None
    series = as_series(bags.source.extra[column], column)
    if isinstance(series, TextSeries) and np.isfinite(numbers := series.as_numbers()).all():
        series = NumberSeries(np.append(numbers, np.nan)[series.codes])
    moments = series.numbers if isinstance(series, NumberSeries) else series.as_dates()
    if isinstance(moments, str):
        raise InputError(f"--time needs a column of dates or numbers, but of {column!r}, {moments}.")
    if (moments != moments).any():  # NaN and NaT
        where = bags.source.where(int(np.argmax(moments != moments)))
        raise InputError(f"--time needs a moment for every row, but {column!r} has none in {where}: fill it in.")
    order = np.argsort(np.maximum.reduceat(moments, bags.offsets[:-1]), kind="stable")  # by the last row of each bag
    n_classes = len(np.unique(bags.labels)) if kind is Task.classification else 0
    wanted = min(n_folds, max(bags.n_bags // 2 - 1, 2))
    splits = [(order[inside], order[held]) for inside, held in TimeSeriesSplit(wanted).split(order)]
    splits = [split for split in splits if len(np.unique(bags.labels[split[0]])) >= n_classes]
    if not splits:
        raise InputError(f"The earlier bags by {column!r} never have all classes: test on other bags with --test.")
    words = f"Mean ± standard deviation over {quantity(len(splits), 'test fold')}, each later than its training bags."
    if len(splits) < wanted:
        words += f" Left out: {quantity(wanted - len(splits), 'early fold')} whose training bags lack a class."
    return splits, words


def _tested_on(source: Source, path: Path, reading: TrainingData) -> tuple[Bags, list[Any], str]:
    """Return the bags of two files, one split between them, and what it is in words."""
    import numpy as np

    known = SimpleNamespace(columns_=source.bags.columns)
    new = read_data(path, Columns.of(reading), remembered=source.columns, model=known, labels=True).bags
    n_bags = source.bags.n_bags
    bags = source.bags + (new if source.bags.columns is None else new.align(source.bags.columns))
    split = np.arange(n_bags), np.arange(n_bags, bags.n_bags)
    how = f"Learned from {quantity(n_bags, 'bag')} of {source.name}, tested on {quantity(new.n_bags, 'bag')} of {path}."
    return bags, [split], how


def _run(trials: list[Trial], cross_validate: Callable[[Trial], None]) -> bool:
    """Cross-validate all methods on the same folds; return False after Ctrl-C.

    What goes wrong with one method is noted, and the others go on: they may have taken hours.
    """
    try:
        for trial in trials:
            try:
                cross_validate(trial)
            except Exception as problem:
                if len(trials) == 1 and not trial.results:
                    raise
                own = isinstance(problem, InputError | ParameterError)
                trial.failure = str(problem) if own else f"{type(problem).__name__}: {problem}"
    except KeyboardInterrupt:
        return False
    return True


def _cross_validate(
    trial: Trial,
    bags: Bags,
    splits: list[Any],
    n_folds: int,
    score: Callable[[Fold], dict[str, float]],
    jobs: int | None,
    *,
    quiet: bool,
) -> None:
    """Fill in the scores of a method."""
    from fuzzymil.estimators import cross_validate, trains_together

    # Networks train in one call for all folds of a repeat, and show its progress; all others finish fold by fold.
    together = trains_together(trial.estimator)
    if together and "verbose" in trial.estimator.get_params():
        trial.estimator.set_params(verbose=not quiet and is_terminal())
    with contextlib.nullcontext() if together or quiet else progress() as show:

        def finish(fold: Fold) -> None:
            trial.scores[fold.split] = score(fold)
            if "Brier" in trial.scores[fold.split] and fold.probabilities is not None:
                classes = fold.model.classes_[1 if len(fold.model.classes_) == 2 else 0 :]
                columns = fold.probabilities[:, -len(classes) :]
                trial.pairs.append((columns.ravel(), (fold.truth[:, None] == classes).ravel()))
            trial.seconds += fold.seconds
            if show is not None:
                show(trial.title, len(trial.results), len(splits))

        if show is not None:
            show(trial.title, 0, len(splits))
        cross_validate(
            [trial.estimator],
            bags,
            cv=splits,
            batch_size=n_folds if together else 1,
            callback=finish,
            n_jobs="auto" if jobs is None else jobs,
        )


def _scores(fold: Fold, kind: Task, cost_miss: float | None = None, positive: Any = None) -> dict[str, float]:
    """Return accuracy, AUC and, for probabilities, the Brier score on the test bags; or R² and mean absolute error.

    ``cost_miss`` adds what mistakes cost per bag, in false alarms, if the ``positive`` class is predicted where that is
    cheapest by its probability.
    """
    from sklearn.metrics import accuracy_score, mean_absolute_error, r2_score

    from fuzzymil._utils.statistics import brier_score

    truth, found = fold.truth, fold.predictions
    if kind is Task.regression:
        return {"R2": float(r2_score(truth, found)), "MAE": float(mean_absolute_error(truth, found))}
    scores = {"accuracy": float(accuracy_score(truth, found)), "AUC": _area(fold)}
    if fold.probabilities is not None:
        scores["Brier"] = brier_score(truth, fold.probabilities, fold.model.classes_)
    if cost_miss is not None:
        classes = list(fold.model.classes_)
        place = len(classes) - 1 if positive is None else classes.index(positive)
        said = found == classes[place]
        if fold.probabilities is not None:
            said = fold.probabilities[:, place] >= 1 / (1 + cost_miss)
        misses, alarms = ~said & (truth == classes[place]), said & (truth != classes[place])
        scores["cost"] = float((cost_miss * misses + alarms).mean())
    return scores


def _area(fold: Fold) -> float:
    """Return the area under the ROC curve; of more than two classes, the mean over each against the others."""
    import numpy as np

    from fuzzymil._utils.statistics import area_under_roc, ranking_scores

    classes, scores = fold.model.classes_, ranking_scores(fold.decisions, fold.probabilities)
    complete = len(np.unique(fold.truth)) == len(classes)  # unless groups that stay together leave a class out
    return float("nan") if scores is None or not complete else area_under_roc(fold.truth, scores, classes)


def _summary(results: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the mean, standard deviation and number of each score."""
    import numpy as np

    found = {}
    for name in results[0] if results else ():
        if values := [result[name] for result in results if not np.isnan(result[name])]:
            spread = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
            found[name] = {"mean": float(np.mean(values)), "std": spread, "n": len(values)}
    return found


def _measures(measures: Iterable[str]) -> list[str]:
    """Return the measures to show: all but the Brier score, which not every method has, nor the table room for."""
    return [name for name in measures if name != "Brier"]


def _show(
    trials: list[Trial],
    how: str,
    bags: Bags,
    n_folds: int,
    n_repeats: int,
    groups: dict[str, Any] | None,
    *,
    as_json: bool,
) -> None:
    found = [(trial, _summary(trial.results)) for trial in trials]
    comparisons = [_compare(trials[0], other, n_folds) for other in trials[1:]]
    if as_json:
        methods = [
            {"method": trial.title, "seconds": trial.seconds, "measures": measures, "folds": trial.results}
            | ({} if trial.failure is None else {"failed": trial.failure})
            for trial, measures in found
        ]
        facts = {"n_bags": bags.n_bags, "n_folds": n_folds, "n_repeats": n_repeats, "groups": groups}
        tested = [dataclasses.asdict(each) for each in comparisons if each is not None]
        emit_json(facts | {"methods": methods, "comparisons": tested})
        return
    names = _measures(next(measures for _, measures in found if measures))
    rows = []
    for trial, measures in found:
        if n := len(trial.results):
            rows.append([trial.title, *(_spread(measures, name) for name in names), str(n), f"{trial.seconds / n:.2f}"])
        elif trial.failure is not None:
            rows.append([trial.title, *("failed" for _ in names), "0", "-"])
    emit_table(["method", *names, "folds", "s/fit"], rows)
    emit(how)
    if trials[0].pairs:
        emit(_calibration(trials[0]))
    if "cost" in names:
        emit("Cost: of a bag, in false alarms, where the positive class is predicted from the cheapest probability.")
    if groups is not None:
        emit(f"Bags with the same {groups['column']} stay in one fold ({groups['n_groups']:,} groups).")
    verdicts = [comparison.verdict for comparison in comparisons if comparison is not None]
    for words in verdicts:
        emit(words)
    if verdicts:
        emit(f"Differences: {trials[0].title} minus the other method, fold by fold (corrected resampled t-test).")


def _calibration(trial: Trial) -> str:
    """Say how far probabilities are from the shares of held-out bags for which they came true."""
    import numpy as np

    likely, came_true = (np.concatenate(each) for each in zip(*trial.pairs, strict=True))
    groups = np.array_split(np.argsort(likely, kind="stable"), min(10, len(likely)))

    def gap(outcomes: Any) -> float:
        return float(sum(abs((likely[each] - outcomes[each]).sum()) for each in groups) / len(likely))

    rng = np.random.default_rng(0)
    by_chance = float(np.quantile([gap(rng.uniform(size=len(likely)) < likely) for _ in range(200)], 0.95))
    found = gap(came_true)
    verdict = "calibrated, as far as these bags tell" if found <= by_chance else "not calibrated: use them to rank bags"
    return (
        f"Probabilities of {trial.title}: {found:.3f} away from what happened, on average over ten groups of held-out "
        f"bags; correct ones would be up to {by_chance:.3f} away by chance: {verdict}."
    )


def _spread(measures: Mapping[str, Mapping[str, float]], name: str) -> str:
    if name not in measures:
        return "-"
    mean, std = measures[name]["mean"], measures[name]["std"]
    return f"{mean:.3f}" if math.isnan(std) else f"{mean:.3f} ± {std:.3f}"


# ---------------------------------------------------------------------- comparisons

_LESS_IS_BETTER = ("MAE", "cost")


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The differences of the evaluated model from another method on the same folds."""

    method: str
    differences: dict[str, Any]  # by measure: mean, 95% interval, p-value and number of folds
    verdict: str


def _compare(own: Trial, other: Trial, n_folds: int) -> Comparison | None:
    """Test the differences on the folds that both have finished; None if there are fewer than two."""
    from fuzzymil._utils.statistics import corrected_t_test

    pairs = [(own.scores[fold], other.scores[fold]) for fold in sorted(own.scores.keys() & other.scores.keys())]
    if len(pairs) < 2:
        return None
    differences = {
        name: [each for one, two in pairs if not math.isnan(each := one[name] - two[name])]
        for name in _measures(pairs[0][0])
    }
    tests = {name: corrected_t_test(each, 1 / (n_folds - 1)) for name, each in differences.items() if len(each) > 1}
    found = {name: dataclasses.asdict(test) for name, test in tests.items()}
    return Comparison(other.title, found, _verdict(own.title, other.title, tests))


def _verdict(own: str, other: str, tests: Mapping[str, PairedTest]) -> str:
    """Say in words which of two methods is better, and by how much."""
    wins = {
        name: (test.mean > 0) != (name in _LESS_IS_BETTER)
        for name, test in tests.items()
        if test.low > 0 or test.high < 0
    }
    better, worse = ([name for name, wins_here in wins.items() if wins_here is kind] for kind in (True, False))
    if better and worse:
        words = f"{own} is better than {other} in {' and '.join(better)}, and worse in {' and '.join(worse)}"
    elif better or worse:
        first, second = (own, other) if better else (other, own)
        words = f"{first} is better than {second} in {' and '.join(better or worse)}"
    else:
        words = f"{own} and {other} cannot be told apart on these folds"
    numbers = [f"{name} {test.mean:+.3f} (95%: {test.low:+.3f} to {test.high:+.3f})" for name, test in tests.items()]
    return f"{words}: {', '.join(numbers)}."

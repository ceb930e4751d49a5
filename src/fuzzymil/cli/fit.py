"""``fuzzymil fit``: learn rules."""

from __future__ import annotations

import contextlib
import dataclasses
import shlex
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from fuzzymil._utils.errors import (
    EvidenceWarning,
    InputError,
    InterruptedTrainingWarning,
    MissingExtraError,
    ParameterError,
)
from fuzzymil._utils.storage import kept_until_saved
from fuzzymil._utils.text import quantity
from fuzzymil.cli._app import LEARN, app
from fuzzymil.cli._console import STANDARD, check_folder, check_target, emit, emit_json, is_terminal, note
from fuzzymil.cli._inputs import Columns, Source, read_data, read_model, read_stream, save
from fuzzymil.cli._options import AsJson, Data, Seed, TrainingData, argument, option
from fuzzymil.cli._settings import Learner, Method, Task, TaskOption, infer_task

_MOST_RULES, _MOST_CONDITIONS, _MOST_POINTS = 12, 3, 9  # to print
_PATIENCE = 10  # seconds, with a Dask scheduler


@app.command(rich_help_panel=LEARN)
def fit(
    data: Data,
    more: Annotated[
        list[Path] | None, argument("[DATA...]", "With --stream or --dask: further Parquet files of the same table.")
    ] = None,
    *,
    output: Annotated[Path, option("FILE", "Model file to write; - is standard output.", "--output", "-o")] = Path(
        "model.json"
    ),
    reading: TrainingData,
    task: TaskOption = Task.auto,
    learner: Learner,
    rules: Annotated[
        int | None,
        option(
            "NUMBER",
            "Use at most this many of the chosen rules; default: as many as held-out bags support.",
            "--rules",
            min=0,
            panel="Model",
        ),
    ] = None,
    resumed: Annotated[
        Path | None, option("MODEL", "Continue training this model with its own settings.", "--continue")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        option(
            "FOLDER",
            "Save the training state here every few seconds. To resume after an interruption, run the same command "
            "again; the result is the same as without the interruption.",
        ),
    ] = None,
    stream: Annotated[
        bool, option(None, "Read a Parquet file in parts, for data larger than memory.", "--stream", panel="Data")
    ] = False,
    dask: Annotated[
        str | None,
        option(
            "ADDRESS",
            "As --stream, but the workers of the Dask cluster at this address read the parts. They must see the files.",
            panel="Data",
        ),
    ] = None,
    calibrate: Annotated[
        float | None,
        option(
            "SHARE",
            "Do not learn from this share of the bags, such as 0.25, but calibrate the model by them, so that predict "
            "--confidence can say which answers cannot be excluded.",
            min=0.01,
            max=0.99,
            panel="Decisions",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn rules from labeled bags and save the model.

    By default, few rules that add up are chosen from many candidates. --method mi-anfis trains the paper's network
    instead, or the rules in a file (--init); Ctrl-C then stops training and saves the rules learned so far.

    Examples
    --------
    fuzzymil fit visits.csv --bag user --label converted -o model.json
    fuzzymil fit visits.csv --bag user --label converted --rules 3 --max-conditions 2
    fuzzymil fit visits.csv --bag user --label converted --sign pages:+ --with-rules expert.rules
    fuzzymil fit visits.csv --bag user --label converted --method mi-anfis --alpha 5
    fuzzymil fit visits.csv --bag user --label converted --method mi-anfis --init expert.rules --set "frozen=rule 1"
    fuzzymil fit visits.csv --continue model.json --max-epochs 50 -o model.json
    fuzzymil fit --dask tcp://scheduler:8786 data/*.parquet
    """
    chosen, init = learner.parameters, learner.init
    check_target(
        output, data, reading.labels, None if init is None else Path(init)
    )  # --continue may write over its own model
    if checkpoint is not None:
        check_folder(checkpoint, "--checkpoint")
    if resumed is not None and (learner.pos_label is not None or learner.method is not Method.rules):
        name = "--method" if learner.pos_label is None else "--pos-label"
        raise ParameterError(f"--continue keeps the model's method and positive class: omit {name}.")
    model, remembered = (None, None) if resumed is None else _to_resume(resumed, learner)
    columns = Columns.of(reading)
    bags: Any
    stream = stream or dask is not None
    if more and not stream:
        several = " ".join(map(str, (data, *more)))
        raise ParameterError(
            f"Several files ({several:.80}) are one table only if they are read in parts: add --stream or --dask, or "
            "put a pattern such as 'data/*.csv' in quotes."
        )
    if dask is not None and (learner.method is not Method.rules or resumed is not None):
        raise ParameterError("--dask belongs to --method rules: omit it.")
    if stream:
        bags, source = read_stream(data, columns, more=more or (), remembered=remembered)
    else:
        source = read_data(data, columns, remembered=remembered, model=model, labels=True)
        bags = source.bags if model is None else source.matched(model)
    if model is None:
        kind = infer_task(task, source.bags, " in the first part" if stream else "")
        model = learner.estimator(kind, source.bags.labels, seed)
    if checkpoint is not None and resumed is None and learner.method is Method.rules:
        raise ParameterError("--checkpoint does not belong to --method rules, which is quick: omit it.")
    if (stream or checkpoint is not None) and hasattr(model, "threshold"):
        raise ParameterError("Mamdani rules are trained in memory and without checkpoints: omit the option.")
    if rules is not None and (resumed is not None or learner.method is not Method.rules):
        raise ParameterError("--rules belongs to --method rules, which compares numbers of rules: omit it.")
    held = None
    if calibrate is not None:
        if stream or resumed is not None:
            raise ParameterError("--calibrate holds out bags of a new fit in memory: omit --stream and --continue.")
        bags, held = _halves(bags, calibrate, kind, seed)
        note(f"Learning from {quantity(bags.n_bags, 'bag')}, calibrating by {held.n_bags} others.")
    began = time.perf_counter()
    with kept_until_saved(), contextlib.nullcontext() if dask is None else _cluster(dask):
        model, interrupted = _train(
            model, bags, chosen if resumed is not None else None, checkpoint, verbose=not as_json and is_terminal()
        )
        seconds = time.perf_counter() - began
        model = model if rules is None else model.at(rules)
        model = model if held is None else model.calibrate(held)
        save(model, output, source.columns)
    if as_json and output != STANDARD:
        emit_json(_facts(model, bags, output, seconds, interrupted))
    else:
        _report(model, bags, output, seconds)
    if interrupted:
        _advise(model, source, output, checkpoint)
        raise typer.Exit(130)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator[None]:
    """Use a Dask cluster inside a ``with`` block."""
    try:
        import distributed
    except ImportError:
        raise MissingExtraError('--dask needs Dask, which is not installed: pip install "fuzzymil[dask]".') from None
    connect: Any = distributed.Client
    try:
        client = connect(address, timeout=_PATIENCE)
    except (OSError, ValueError) as problem:
        raise InputError(
            f"No Dask scheduler answers at {address}: start one with dask scheduler. ({problem})"
        ) from None
    with client:
        yield


def _halves(bags: Any, share: float, kind: Task, seed: int) -> tuple[Any, Any]:
    """Return bags to learn from and to calibrate by; of every class, the same share."""
    import numpy as np
    from sklearn.model_selection import train_test_split

    of_classes = bags.labels if kind is Task.classification else None
    try:
        inside, held = train_test_split(np.arange(bags.n_bags), test_size=share, random_state=seed, stratify=of_classes)
    except ValueError as problem:
        raise ParameterError(f"--calibrate {share:g} cannot divide these bags: {problem}") from None
    return bags[np.sort(inside)], bags[np.sort(held)]


def _to_resume(path: Path, learner: Learner) -> tuple[Any, Columns]:
    """Return the model to continue, with the settings that may change."""
    chosen = learner.parameters
    if learner.settings or learner.init is not None or set(chosen) - {"max_epochs", "learning_rate"}:
        raise ParameterError("--continue keeps the model's settings: only --max-epochs and --learning-rate can change.")
    from fuzzymil.estimators import MIMamdani, Training

    model, columns = read_model(path)
    if isinstance(model, MIMamdani):  # starts from the rules it has now
        changes = {"max_epochs": model.max_epochs or Training.max_epochs} | chosen
        return model.set_params(inputs=None, outputs=None, rules=model.rules_, **changes), columns
    if not hasattr(model, "members_") or hasattr(model, "threshold"):
        raise ParameterError(f"{path} holds a {type(model).__name__}, which cannot be trained.")
    if len(model.members_) > 1 and not hasattr(model, "training"):
        raise ParameterError(f"{path} holds {len(model.members_)} chosen rule bases: only a single one can be trained.")
    return model, columns


def _train(
    model: Any, bags: Any, changes: dict[str, Any] | None, checkpoint: Path | None, *, verbose: bool
) -> tuple[Any, bool]:
    """Return the fitted model, and whether Ctrl-C interrupted it; given changes, a model is trained further."""
    resumes = changes is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if hasattr(model, "training"):
            from fuzzymil.estimators import Training

            before = model.training or Training()
            now = dataclasses.replace(before, checkpoint=checkpoint, warm_start=resumes, **changes or {})
            model.set_params(training=now, verbose=verbose).fit(bags)
            model.set_params(training=dataclasses.replace(now, checkpoint=None, warm_start=False), verbose=False)
        elif resumes and not hasattr(model, "threshold"):
            from fuzzymil.estimators import Training, train_rules

            rules = train_rules(
                model.rules_,
                bags,
                task="classification" if hasattr(model, "classes_") else "regression",
                class_weight=getattr(model, "class_weight", None),
                pos_label=getattr(model, "pos_label_", None),
                missing="median" if model.missing == "condition" else model.missing,
                training=Training(checkpoint=checkpoint, **changes or {}),
                verbose=verbose,
                random_state=model.random_state,
            )
            model = model.with_rules(rules)
        elif "verbose" in model.get_params():
            model.set_params(verbose=verbose).fit(bags)
            model.set_params(verbose=False)
        else:
            model.fit(bags)
    for warning in caught:
        if warning.category not in (InterruptedTrainingWarning, EvidenceWarning):  # both are told otherwise
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return model, any(warning.category is InterruptedTrainingWarning for warning in caught)


def _n_epochs(model: Any) -> int:
    """Return the number of epochs of training; 0 for chosen rules."""
    return int(getattr(model, "n_iter_", len(getattr(model, "history_", {}).get("loss", ()))))


def _facts(model: Any, bags: Any, output: Path, seconds: float, interrupted: bool) -> dict[str, Any]:
    from fuzzymil.bags import BagStream

    streamed = isinstance(bags, BagStream)
    return {
        "model": output,
        "estimator": type(model).__name__,
        "n_bags": None if streamed else bags.n_bags,
        "n_features": model.n_features_in_,
        "n_rules": model.rules_.n_rules,
        "n_estimators": len(model.members_),
        "n_epochs": _n_epochs(model),
        "seconds": round(seconds, 3),
        "score_on_training_bags": None if streamed else model.score(bags),
        "at_a_bound": list(map(str, getattr(model, "active_bounds_", ()))),
        "interrupted": interrupted,
    } | _evidence(model)


def _evidence(model: Any) -> dict[str, Any]:
    if not hasattr(model, "frontier_"):
        return {}
    frontier = model.frontier_
    recurrence = list(frontier[frontier.chosen].recurrence)
    return {"frontier": frontier.table(), "evidence": frontier.evidence, "recurrence": recurrence}


def _report(model: Any, bags: Any, output: Path, seconds: float) -> None:
    from fuzzymil.bags import BagStream

    say = note if output == STANDARD else emit
    chosen = hasattr(model, "n_bags_compared_")  # just now
    rules = f"{model.rules_.n_rules} rule{'' if model.rules_.n_rules == 1 else 's'}"
    if len(model.members_) > 1:
        each = "" if chosen else f" with {rules} each"
        rules = f"{len(model.members_)} rule bases{each}"
    if chosen:
        some, n_bags = model.n_bags_compared_
        where = f" (candidates were compared on a sample of {some:,} of the {n_bags:,} bags)" if some < n_bags else ""
        say(f"Chose {rules} in {seconds:.1f} s{where}{'; the first' if len(model.members_) > 1 else ''}:\n")
        say(f"{_scorecard(model.rules_)}\n")
        if model.frontier_.n_folds:
            say(f"{model.frontier_.shortened(_MOST_POINTS)}\n")
        say(model.frontier_.doubt or model.frontier_.evidence)
        if model.frontier_.stability:
            say(model.frontier_.stability)
    else:
        epochs = f" ({_n_epochs(model)} epochs)" if hasattr(model, "history_") else ""
        say(f"Learned {rules} in {seconds:.1f} s{epochs}.")
    active = getattr(model, "active_bounds_", [])
    for entry in active[:_MOST_RULES]:
        say(f"  {entry}")
    if len(active) > _MOST_RULES:
        say(f"  ... and {len(active) - _MOST_RULES} more at a bound")
    if not isinstance(bags, BagStream):
        score, digits = ("accuracy", ".1%") if hasattr(model, "classes_") else ("R2", ".3f")
        known = chosen and model.frontier_.n_folds
        advice = "" if known else f"; run `fuzzymil evaluate` for held-out {score}"
        say(f"Training {score} {model.score(bags):{digits}}{advice}.")
    elif len(rmse := getattr(model, "history_", {}).get("rmse", ())):  # scoring could take as long as training
        say(f"Training RMSE {rmse[-1]:.3f} in the last epoch.")
    if output != STANDARD:
        what = "rules with their fuzzy sets" if chosen else "rules"
        say(f"Wrote {output}. To see the {what}: fuzzymil rules {output}")


def _scorecard(rules: Any) -> str:
    """Return the text of additive rules: the default, and those that come first."""
    lines = str(rules.to_text(max_conditions=_MOST_CONDITIONS)).split("\n")
    left = rules.n_rules - _MOST_RULES
    more = [f"... and {left} more", *lines[1 + rules.n_rules :]]  # and what a score means, if there are points
    return "\n".join(lines if left <= 0 else [*lines[: 1 + _MOST_RULES], *more])


def _wanted_epochs(model: Any) -> int:
    from fuzzymil.estimators import Training

    training = getattr(model, "training", None) or Training()
    return int(getattr(model, "max_epochs", training.max_epochs))


def _advise(model: Any, source: Source, output: Path, checkpoint: Path | None) -> None:
    """Explain how to resume an interrupted training."""
    n_epochs, done = _wanted_epochs(model), _n_epochs(model)
    place = "on standard output" if output == STANDARD else f"in {output}"
    if checkpoint is None:
        data = "DATA" if source.name == "standard input" else shlex.quote(source.name)
        file = "MODEL" if output == STANDARD else shlex.quote(str(output))
        left = max(n_epochs - done, 1)
        how = f"To resume:\n  fuzzymil fit {data} --continue {file} --max-epochs {left} -o {file}"
    else:
        how = f"Run the same command again to resume from {checkpoint}."
    note(f"Interrupted after {done} of {n_epochs} epochs. The model so far is {place}. {how}")

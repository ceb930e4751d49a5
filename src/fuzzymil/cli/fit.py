"""The commands that learn: ``fit``."""

from __future__ import annotations

import os
import shlex
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.cli import _options
from fuzzymil.cli._app import app, examples
from fuzzymil.cli._console import STANDARD, check_target, emit, emit_json, fall_silent, is_terminal, note
from fuzzymil.cli._inputs import Columns, Source, read_data, read_model, read_stream, save
from fuzzymil.cli._settings import Task, chosen_task, given, new_estimator
from fuzzymil.training.distributed.launcher import RANK

if TYPE_CHECKING:
    from fuzzymil.training.distributed.processes import ProcessGroup

__all__ = ["fit", "trained"]

_INTERRUPTED = "Training was interrupted"
_ELSEWHERE = "what to expect of other bags, fuzzymil evaluate tells."


@app.command(
    epilog=examples(
        "fuzzymil fit visits.csv --bag user --label converted -o model.json",
        "fuzzymil fit visits.csv --bag user --label converted --n-rules 4 --max-terms 2",
        'fuzzymil fit visits.csv --bag user --label converted --init expert.rules --set "frozen=rule 1"',
        "fuzzymil fit visits.csv --continue model.json --max-epochs 50 -o model.json",
    )
)
def fit(
    data: _options.Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model; - is standard output.")
    ] = Path("model.json"),
    bag: _options.BagColumn = None,
    label: _options.LabelColumn = None,
    drop: _options.Drop = None,
    format: _options.DataFormat = None,
    task: Annotated[Task, typer.Option(help="What is predicted (auto: what the labels look like).")] = Task.auto,
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
    go_on: Annotated[
        Path | None,
        typer.Option("--continue", metavar="MODEL", help="Go on training this model, with its own settings."),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep training there every few seconds: the same command, begun again after it was stopped or killed, "
            "goes on and ends with the same numbers.",
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read a Parquet file part by part, each time it is needed: for data that does not fit in memory.",
            rich_help_panel="Data",
        ),
    ] = False,
    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed",
            help="Train with the other processes that fuzzymil launch, srun or mpirun have started, each on its share.",
        ),
    ] = False,
    seed: _options.Seed = 0,
    as_json: _options.AsJson = False,
) -> None:
    """Learn rules from bags and write them to a model file.

    Ctrl-C keeps the rules as trained so far.
    """
    from fuzzymil.estimators import RunOptions

    distributed = distributed or RANK in os.environ
    if distributed and data == STANDARD:
        raise InputError("Several processes cannot share standard input: name a file.")
    processes = _process_group() if distributed else None
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
    check_target(output)
    before, remembered = (None, None) if go_on is None else _to_go_on(go_on, chosen, settings, init)
    columns = Columns.from_options(bag, label, drop)
    bags: Any
    if stream:
        bags, source = read_stream(data, columns, format, remembered=remembered)
    else:
        source = read_data(data, columns, format, remembered=remembered, labels=True)
        bags = source.bags if before is None else source.fitting(before)
    model = before
    if model is None:
        model = new_estimator(
            chosen_task(task, source.bags, " in the first part" if stream else ""), chosen, settings or (), init, seed
        )
    folder = None if checkpoint is None else str(checkpoint)
    model.set_params(run=RunOptions(checkpoint=folder, distributed=processes is not None))
    began = time.perf_counter()
    interrupted = trained([model], [bags if processes is None else processes.share(bags)], shows=not as_json)
    seconds = time.perf_counter() - began
    if processes is not None and processes.rank > 0:  # all have the same model, and one writes it
        raise typer.Exit(130 if interrupted else 0)
    save(model, output, source.columns)
    if as_json and output != STANDARD:
        emit_json(_facts(model, bags, output, seconds, interrupted))
    else:
        _tell(model, bags, output, seconds)
    if interrupted:
        _tell_how_to_go_on(model, source, output, checkpoint)
        raise typer.Exit(130)


def _process_group() -> ProcessGroup:
    """Meet the other processes, of which the first speaks for all."""
    from fuzzymil.training.distributed.processes import join

    processes = join()
    if processes.rank > 0:
        fall_silent()
    return processes


def _to_go_on(path: Path, chosen: dict[str, Any], settings: list[str] | None, init: str | None) -> tuple[Any, Columns]:
    """Return the model that training goes on from, with the settings that may still change."""
    changes = {name: chosen[name] for name in ("max_epochs", "learning_rate") if name in chosen}
    if settings or init is not None or len(chosen) > len(changes):
        raise ParameterError(
            "--continue keeps the model's settings: besides --max-epochs and --learning-rate, leave them out."
        )
    model, columns = read_model(path)
    if not hasattr(model, "warm_start"):
        raise ParameterError(f"{path} holds a {type(model).__name__}, which is not trained: nothing can be continued.")
    return model.set_params(**changes, warm_start=True), columns


def trained(models: Sequence[Any], parts: Sequence[Any], *, shows: bool = True) -> bool:
    """Fit each model on its own bags, networks all at once; return whether Ctrl-C cut that short.

    Parameters
    ----------
    models : sequence of estimators
        Of one kind and with equal settings.
    parts : sequence of Bags or BagStream
        With labels.
    shows : bool
        Whether to show a progress bar with the time left, where somebody is looking.
    """
    from fuzzymil._utils.runtime import enable_compilation_cache
    from fuzzymil.estimators import Network, fit_together

    enable_compilation_cache()
    networks = isinstance(models[0], Network)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        if networks:
            for model in models:
                model.set_params(verbose=shows and is_terminal())
        if networks and len(models) > 1:
            fit_together(models, parts)
        else:
            for model, bags in zip(models, parts, strict=True):
                model.fit(bags, getattr(bags, "labels", None))  # a stream's labels come with its parts
    if networks:  # how they were trained is no part of what was learned
        for model in models:
            model.set_params(verbose=False, warm_start=False, run=None)
    interrupted = [warning for warning in caught if str(warning.message).startswith(_INTERRUPTED)]
    for warning in caught:
        if warning not in interrupted:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return bool(interrupted)


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
        "n_epochs": model.n_iter_,
        "seconds": round(seconds, 3),
        "score_on_training_bags": None if streamed else model.score(bags),
        "interrupted": interrupted,
    }


def _tell(model: Any, bags: Any, output: Path, seconds: float) -> None:
    from fuzzymil.bags import BagStream

    say = note if output == STANDARD else emit
    members = f"{len(model.members_)} members of " if len(model.members_) > 1 else ""
    how = f"{type(model).__name__}, {model.n_iter_} epochs, {seconds:.1f} s"
    say(f"Learned {members}{model.rules_.n_rules} rules ({how}).")
    rmse = model.history_["rmse"]
    if isinstance(bags, BagStream):  # another pass over all of it could take long
        if len(rmse):
            say(f"Error of the last epoch (root of the mean square): {rmse[-1]:.3f}.")
    elif hasattr(model, "classes_"):
        say(f"{model.score(bags):.1%} of the training bags are predicted right; {_ELSEWHERE}")
    else:
        say(f"{model.score(bags):.3f} is the R2 on the training bags; {_ELSEWHERE}")
    if output != STANDARD:
        say(f"Wrote {output}. See the rules: fuzzymil rules {output}")


def _tell_how_to_go_on(model: Any, source: Source, output: Path, checkpoint: Path | None) -> None:
    done = len(model.history_["loss"])
    place = "on standard output" if output == STANDARD else f"in {output}"
    if checkpoint is None:
        data = "DATA" if source.name == "standard input" else shlex.quote(source.name)
        file = "MODEL" if output == STANDARD else shlex.quote(str(output))
        left = max(model.max_epochs - done, 1)
        how = f"go on with\n  fuzzymil fit {data} --continue {file} --max-epochs {left} -o {file}"
    else:
        how = f"run the same command again to go on from {checkpoint}."
    note(f"Stopped (Ctrl-C) after {done} of {model.max_epochs} epochs. The model so far is {place}; {how}")

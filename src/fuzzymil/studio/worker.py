"""The process that trains: it reads jobs from its standard input and writes what happens to its standard output.

It is started as ``python -m fuzzymil.studio.worker``, so that a fit neither blocks the page nor outlives a kill. Jobs
and answers are lines of JSON; bags come in a file of plain arrays.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil._utils.arrays import unpacked
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags, Columns
from fuzzymil.rules.files import parse_rules
from fuzzymil.studio.case import class_text
from fuzzymil.studio.messages import from_json, to_json

_EVERY = 0.1  # seconds between reports


def save_bags(bags: Bags, path: str) -> None:
    """Write bags as plain arrays for the worker."""
    labels = np.zeros(0) if bags.labels is None else bags.labels
    np.savez(
        path,
        instances=bags.instances,
        offsets=bags.offsets,
        labels=labels.astype(str) if labels.dtype == object else labels,
        names=np.array(bags.names, str),
        columns=np.array("" if bags.columns is None else to_json(bags.columns.to_dict())),
    )


def load_bags(path: str) -> Bags:
    """Read bags that `save_bags` wrote."""
    content = unpacked(Path(path).read_bytes())
    try:
        columns = str(content["columns"])
        return Bags(
            content["instances"],
            content["offsets"],
            labels=content["labels"] if len(content["labels"]) else None,
            feature_names=list(map(str, content["names"])),
            columns=Columns.from_dict(from_json(columns)) if columns else None,
        )
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as problem:
        raise InputError(f"These are not the bags that were saved ({type(problem).__name__}).") from None


# ---------------------------------------------------------------------- jobs

Report = Callable[[int, int, float], bool]
"""Takes an epoch, their number and the loss, and returns whether to stop."""


def _train(rules: Any, bags: Bags, job: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """Return the text of rules trained as a job says, what ended at a bound, the losses and the warnings.

    ``bags`` have the variables of the rules as features. ``job`` has ``frozen``, ``constraints``, ``epochs``,
    ``learning_rate``, ``positive`` (a label as text) and ``classifies``.
    """
    losses: list[float] = []

    def note(progress: Any) -> bool:
        losses.append(float(np.nanmin(progress.loss)))
        return report(progress.epoch, progress.max_epochs, losses[-1])

    settings = {
        "frozen": tuple(job["frozen"]),
        "constraints": job["constraints"],
        "learning_rate": float(job["learning_rate"]),
        "max_epochs": int(job["epochs"]),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        found, touched = (_mamdani if rules.concludes_sets else _sugeno)(rules, bags, job, settings, note)
    said = [str(each.message) for each in caught if "nterrupted" not in type(each.message).__name__]
    return {"text": found.to_source(), "touched": list(map(str, touched)), "loss": losses, "warnings": said}


def _sugeno(rules: Any, bags: Bags, job: Mapping[str, Any], settings: dict[str, Any], note: Any) -> tuple[Any, Any]:
    from fuzzymil.estimators import MIANFISClassifier, MIANFISRegressor, network_parameters

    shared = {"init": rules, "callbacks": [note], "random_state": 0, **settings}
    if job["classifies"]:
        positive = None if len(rules.outputs) > 1 else _label(bags, job["positive"])
        loss = "squared_error" if rules.normalize else "cross_entropy"
        model: Any = MIANFISClassifier(**network_parameters(pos_label=positive, loss=loss, **shared))
    else:
        model = MIANFISRegressor(**network_parameters(**shared))
    model.fit(bags)
    return model.rules_, model.active_bounds_


def _mamdani(rules: Any, bags: Bags, job: Mapping[str, Any], settings: dict[str, Any], note: Any) -> tuple[Any, Any]:
    from fuzzymil.learn.train.constraints import Constraints
    from fuzzymil.learn.train.mamdani import train

    ends = np.array([[output.low, output.high] for output in rules.outputs], float)
    assert bags.labels is not None
    if job["classifies"]:
        own = [_label(bags, job["positive"])] if len(ends) == 1 else list(rules.output_names)
        targets = np.where(np.asarray(bags.labels)[:, None] == np.array(own), ends[:, 1], ends[:, 0])
    else:
        targets = np.asarray(bags.labels, float).reshape(bags.n_bags, -1)
    settings["constraints"] = Constraints.of(settings["constraints"])
    found = train(rules, bags, targets, callbacks=(note,), **settings)
    return found.rules, found.active_bounds


def _label(bags: Bags, text: str) -> Any:
    """Return the label that is written like this."""
    assert bags.labels is not None
    return next(label for label in np.unique(bags.labels) if class_text(label) == text)


def _choose(bags: Bags, job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of rules chosen from bags alone."""
    from fuzzymil.estimators import RuleClassifier, RuleRegressor
    from fuzzymil.estimators.persistence import encode_frontier

    model: Any = RuleRegressor(random_state=0)
    if job["classifies"]:
        about = None if job["positive"] is None else _label(bags, job["positive"])
        model = RuleClassifier(pos_label=about, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        model.fit(bags)
    said = [str(each.message) for each in caught]
    frontier = encode_frontier(model.frontier_)
    return {"text": model.rules_.to_source(), "touched": [], "loss": [], "warnings": said, "frontier": frontier}


def _outputs_of_folds(
    rules: Any, bags: Bags, job: Mapping[str, Any], tell: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """Train or choose rules on all folds but one, in turn, and return the output for the bags of that one.

    Rules that were chosen anew come along as ``text``: it says what the output means.
    """
    outputs, told = np.zeros((bags.n_bags, 0)), dict[str, Any]()
    for number, fold in enumerate(job["parts"], start=1):
        rest = bags[np.setdiff1d(np.arange(bags.n_bags), fold)]
        chosen = job["refit"] == "learn"
        text = _choose(rest, job)["text"] if chosen else _train(rules, rest, job, lambda *_: False)["text"]
        found = parse_rules(text).infer(bags[np.array(fold)]).output
        if number == 1:
            outputs = np.full((bags.n_bags, found.shape[1]), np.nan)
        outputs[fold] = found
        told = {"output": outputs.tolist(), **({"text": text} if chosen else {})}
        tell({"done": number, **told})
    return told


# ---------------------------------------------------------------------- the process


class _Line:
    """The connection to the server: answers go out, and a request to stop may come in at any time."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # what libraries print is no answer
        self.stopped = threading.Event()
        self.jobs: list[dict[str, Any]] = []
        self._arrived = threading.Condition()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            message = from_json(line)
            if "stop" in message:
                self.stopped.set()
                continue
            with self._arrived:
                self.jobs.append(message)
                self._arrived.notify()
        os._exit(0)  # the server is gone

    def next(self) -> dict[str, Any]:
        with self._arrived:
            self._arrived.wait_for(lambda: bool(self.jobs))
            self.stopped.clear()
            return self.jobs.pop(0)

    def tell(self, message: dict[str, Any]) -> None:
        self._out.write(to_json(message) + "\n")
        self._out.flush()


def main() -> None:
    """Work until the server closes the connection."""
    line = _Line()
    while True:
        job = line.next()
        try:
            line.tell({"job": job["job"], **_answer(job, line)})
        except Exception as problem:  # whatever it is, the page must hear of it
            line.tell({"job": job["job"], "failed": str(problem) or type(problem).__name__})


def _answer(job: dict[str, Any], line: _Line) -> dict[str, Any]:
    """Do a job and return what to say at its end."""
    if job["do"] == "warm":
        import jax  # noqa: F401

        import fuzzymil.estimators.options  # noqa: F401

        with contextlib.suppress(Exception):  # the training itself will say what is wrong
            _train(parse_rules(job["text"]), load_bags(job["data"]), job, lambda *_: False)
        return {"warm": True}
    last = 0.0

    def tell(message: dict[str, Any]) -> bool:
        if message:
            line.tell({"job": job["job"], **message})
        return line.stopped.is_set()

    def report(epoch: int, epochs: int, loss: float) -> bool:
        nonlocal last
        due = time.monotonic() - last > _EVERY
        last = time.monotonic() if due else last
        return tell({"epoch": epoch, "epochs": epochs, "losses": [loss]} if due else {})

    bags = load_bags(job["data"])
    if job["do"] == "learn":
        return {"result": _choose(bags, job)}
    rules = parse_rules(job["text"])
    if job["do"] == "folds":
        return {"result": _outputs_of_folds(rules, bags, job, tell)}
    return {"result": _train(rules, bags, job, report)}


if __name__ == "__main__":
    main()

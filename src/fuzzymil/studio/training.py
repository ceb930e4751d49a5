"""Training in a process of its own: jobs, progress, and the proposal that comes of it."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, ParameterError, known_name
from fuzzymil.bags import Bags
from fuzzymil.rules import RuleBase
from fuzzymil.rules.inference import matched
from fuzzymil.studio.case import Case, class_text
from fuzzymil.studio.difference import accept_rules, answers, difference
from fuzzymil.studio.document import Document, check_document
from fuzzymil.studio.messages import LIMITS, from_json, to_json
from fuzzymil.studio.session import Refused, Session, action
from fuzzymil.studio.views import numbers_of
from fuzzymil.studio.worker import save_bags

__all__ = [
    "Worker",
    "elapsed",
    "job_of",
    "parts_of",
    "thin_curve",
    "fold_scores",
    "Trainer",
]

_MOST_POINTS = 500  # of the loss that is pushed


class Worker:
    """The process that trains, started when it is first needed and kept for the next job.

    Parameters
    ----------
    tell : callable
        Called, in a thread, with every message about the current job.
    """

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell
        self._process: subprocess.Popen[str] | None = None
        self._job = 0
        self._lock = threading.Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._timer: threading.Timer | None = None

    def start(self, job: Mapping[str, Any], bags: Bags | None = None) -> None:
        """Begin a job; its bags are handed over in a file."""
        with self._lock:
            self._job += 1
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="fuzzymil-studio-")
            path = os.path.join(self._folder.name, f"bags-{self._job}.npz")
            if bags is not None:
                save_bags(bags, path)
            if self._process is None or self._process.poll() is not None:
                self._launch()
            self._send({**job, "job": self._job, "data": path})
            if job["do"] != "warm":
                self._timer = threading.Timer(LIMITS["training_seconds"], self.stop)
                self._timer.daemon = True
                self._timer.start()

    def _launch(self) -> None:
        command = [sys.executable, "-m", "fuzzymil.studio.worker"]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        threading.Thread(target=self._listen, args=(self._process,), daemon=True).start()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(to_json(message) + "\n")
        self._process.stdin.flush()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            message = from_json(line)
            if process is self._process and message.get("job") == self._job:
                self._finish("result" in message or "failed" in message)
                self._tell(message)
        process.wait()
        if process is self._process:  # it was not killed by `cancel`
            self._finish(True)
            self._tell({"job": self._job, "failed": "The training process ended unexpectedly.", "died": True})

    def _finish(self, done: bool) -> None:
        if done and self._timer is not None:
            self._timer.cancel()

    def stop(self) -> None:
        """Ask the job to end with what it has reached."""
        with contextlib.suppress(OSError, AssertionError):
            self._send({"stop": self._job})

    def cancel(self) -> None:
        """End the process."""
        with self._lock:
            process, self._process = self._process, None
            self._finish(True)
            if process is not None:
                process.kill()
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    with contextlib.suppress(OSError):
                        assert pipe is not None
                        pipe.close()

    def close(self) -> None:
        """End the process and remove its files."""
        self.cancel()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


# ---------------------------------------------------------------------- jobs


def job_of(case: Case, message: Mapping[str, Any]) -> tuple[dict[str, Any], Bags]:
    """Return the job that a message asks for, and the bags to train on."""
    if case.data.labels is None:
        raise InputError("Training needs labels: open a data file with a label column.")
    kind = str(message["type"])
    move = message.get("move") or {}
    for name in move:
        known_name("part", name, ("sets", "conclusions"), "in move")
    epochs, rate = message.get("epochs", 200), message.get("learning_rate", 0.03)
    if not isinstance(epochs, int) or isinstance(epochs, bool) or not 1 <= epochs <= LIMITS["epochs"]:
        raise ParameterError(f"epochs must be a whole number from 1 to {LIMITS['epochs']:,}, got {epochs!r:.60}.")
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 < rate <= 10:
        raise ParameterError(f"learning_rate must be above 0 and at most 10, got {rate!r:.60}.")
    classifies = case.classes is not None
    if not classifies:
        numbers_of(case)  # raises unless labels are numbers
    job = {
        "do": kind,
        "classifies": classifies,
        "epochs": epochs,
        "learning_rate": float(rate),
        "positive": _positive(case),
        "constraints": _constraints(message.get("constraints")),
        "frozen": sorted(_frozen(case, move)),
        "text": case.document.active.to_source(),
    }
    bags = case.given if kind == "learn" else _named(case)
    return job, bags


def _named(case: Case) -> Bags:
    """Return the bags with the features of the rules alone, coded as the rules code them."""
    seen = matched(case.base, case.data)
    return Bags(seen.instances, seen.offsets, labels=seen.labels, feature_names=case.base.feature_names)


def _positive(case: Case) -> str | None:
    return class_text(case.classes[case.positive]) if case.classes is not None and len(case.outputs) == 1 else None


def _constraints(given: Any) -> dict[str, Any] | None:
    from fuzzymil.learn.train.constraints import Constraints

    if not given:
        return None
    asked = {name: value for name, value in given.items() if value not in (None, False, 0, "")}
    Constraints.of(asked)  # raises if it makes no sense
    return asked


def _frozen(case: Case, move: Mapping[str, Any]) -> set[str]:
    frozen = {f"{variable}.{term}" for variable, term in case.document.frozen}
    if not move.get("sets", True):
        frozen |= set(case.base.feature_names)
    if not move.get("conclusions", True):
        frozen |= set(case.outputs)
    return frozen


def parts_of(case: Case, k: Any) -> list[list[int]]:
    """Return ``k`` parts of the bags, with the classes spread evenly."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n = case.data.n_bags
    if not isinstance(k, int) or isinstance(k, bool) or not 2 <= k <= min(20, n):
        raise ParameterError(f"k must be a whole number from 2 to {min(20, n)}, got {k!r:.60}.")
    labels = None if case.classes is None else np.asarray(case.labels, object).astype(str)
    if labels is not None and min(np.unique(labels, return_counts=True)[1]) < k:
        raise InputError(f"Each class needs at least {k} bags for {k} folds: choose fewer folds.")
    splitter: Any = (KFold if labels is None else StratifiedKFold)(k, shuffle=True, random_state=0)
    return [held.tolist() for _, held in splitter.split(np.zeros(n), labels)]


def thin_curve(loss: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most about 500 points of a curve, the last one among them.

    Examples
    --------
    >>> len(thin_curve([(epoch, 0.0) for epoch in range(2000)])) <= 501
    True
    """
    step = len(loss) // _MOST_POINTS + 1
    return [*loss[:-1:step], *loss[-1:]]


def elapsed(began: float) -> float:
    """Return the seconds since a time, to a tenth."""
    return round(time.monotonic() - began, 1)


# Held-out folds: how well outputs do on each part of the bags.


def fold_scores(case: Case, parts: list[list[int]], output: Any, *, chosen: bool = False) -> dict[str, Any]:
    """Return how well outputs do on each part; ``chosen``: with the threshold that is best on the others."""
    from sklearn.metrics import roc_auc_score, roc_curve

    labels = np.asarray(case.labels, object)
    rows: list[dict[str, Any]] = []
    if case.reading is None:
        numbers = numbers_of(case)
        for part in parts:
            errors = output[part, 0] - numbers[part]
            rows.append({"n": len(part), "rmse": float(np.sqrt((errors**2).mean()))})
        return {"folds": rows, "rmse": _mean_and_deviation([row["rmse"] for row in rows])}
    assert case.classes is not None
    single = len(case.outputs) == 1
    names = [class_text(each) for each in case.classes]
    positive = names[case.positive if single else 1]
    scores = output[:, 0] if single else output[:, 1] - output[:, 0]
    truth = labels == positive
    binary = len(names) == 2
    for part in parts:
        threshold = case.threshold
        if single and chosen:
            rest = np.setdiff1d(np.concatenate([np.array(each) for each in parts]), part)
            threshold = _best_threshold(scores[rest], truth[rest], case.threshold)
        if single:
            right = (scores[part] > threshold) == truth[part]
        else:
            right = np.array([class_text(each) for each in case.reading.labels(output[part])], object) == labels[part]
        both = binary and 0 < truth[part].sum() < len(part)
        rows.append(
            {
                "n": len(part),
                "accuracy": float(right.mean()),
                "auc": float(roc_auc_score(truth[part], scores[part])) if both else None,
                "threshold": threshold if single else None,
            }
        )
    seen = np.concatenate([np.array(each, int) for each in parts])
    roc = None
    if binary and 0 < truth[seen].sum() < len(seen):
        false, true, _ = roc_curve(truth[seen], scores[seen])
        roc = {"fpr": false, "tpr": true, "auc": float(roc_auc_score(truth[seen], scores[seen]))}
    aucs = [row["auc"] for row in rows if row["auc"] is not None]
    return {
        "folds": rows,
        "accuracy": _mean_and_deviation([row["accuracy"] for row in rows]),
        "auc": _mean_and_deviation(aucs),
        "roc": roc,
    }


def _best_threshold(scores: Any, truth: Any, usual: float) -> float:
    """Return the threshold with the most right answers, of equally good ones the one nearest to the usual one."""
    places = np.unique(scores)
    between = np.concatenate([[places[0] - 1.0], (places[1:] + places[:-1]) / 2, [places[-1] + 1.0], [usual]])
    right = np.array([((scores > each) == truth).mean() for each in between])
    best = between[right == right.max()]
    return float(best[np.abs(best - usual).argmin()])


def _mean_and_deviation(values: list[float]) -> list[float] | None:
    return [float(np.mean(values)), float(np.std(values))] if values else None


# Messages about training, its proposals, and held-out folds.


class Trainer:
    """The training of a session: at most one job at a time, in a process of its own."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = Worker(self._heard)
        self._began = 0.0
        self._loss: list[tuple[int, float]] = []
        self._case: Case | None = None
        self._member = 0
        self._folds: list[list[int]] | None = None
        session.closers.append(self.worker.close)

    @classmethod
    def of(cls, session: Session) -> Trainer:
        """Return the trainer of a session, made when it is first needed."""
        with session.lock:
            found: Trainer = session.kept.get("trainer") or cls(session)
            session.kept["trainer"] = found
            return found

    def start(self, message: Mapping[str, Any]) -> None:
        """Begin a job."""
        session = self.session
        with session.lock:
            if session.training is not None and session.training["running"]:
                raise Refused("busy", "Training is under way: stop it first.")
            self._case, self._member = session.case, session.context.member
            self._folds = parts_of(self._case, message.get("k", 5)) if message["type"] == "folds" else None
            job, bags = job_of(self._case, message)
            self._loss, self._began = [], time.monotonic()
            session.proposal = None
            session.training = {"kind": message["type"], "running": True, "epoch": 0, "epochs": job["epochs"]}
            session.training |= {"loss": [], "seconds": 0.0, "message": "Starting"}
        self.worker.start({**job, "parts": self._folds}, bags)
        self._push()

    def _push(self) -> None:
        self.session.push({"type": "training", **(self.session.training or {})})

    def _heard(self, message: dict[str, Any]) -> None:
        """Take note of what the process says."""
        now = self.session.training
        if "warm" in message or now is None or not now["running"]:
            return
        if "epoch" in message:
            self._loss += [(message["epoch"], loss) for loss in message["losses"]]
            now |= {"epoch": message["epoch"], "epochs": message["epochs"], "message": ""}
        now |= {"loss": thin_curve(self._loss), "seconds": elapsed(self._began)}
        if "failed" in message:
            now |= {"running": False, "message": message["failed"]}
            self._push()
        elif "result" in message:
            try:
                self._finished(message["result"])
            except ValueError as problem:  # such as rules beyond the limits
                now |= {"running": False, "message": str(problem)}
                self._push()
        else:
            if "done" in message:
                self._tell_folds(message["done"], message["output"], running=True)
            self._push()

    def _finished(self, result: dict[str, Any]) -> None:
        session, now = self.session, self.session.training
        assert now is not None
        assert self._case is not None
        if self._folds is not None:
            output = np.array(result["output"], float)
            done = sum(bool(np.isfinite(output[part]).all()) for part in self._folds)  # fewer if it was stopped
            now |= {"running": False, "message": "" if done else "Stopped before a fold was done."}
            self._tell_folds(done, output, running=False)
            self._push()
            return
        loss = list(enumerate(result["loss"], start=1)) or self._loss
        kept = self._case.document
        rules = Document(result["text"]).rules
        if now["kind"] == "learn":  # other rules, whose output has its own threshold
            document = Document.of(rules, positive=kept.positive)
        else:
            document = kept.with_rules(_as_before(rules, kept))
        now |= {"running": False, "loss": thin_curve(loss), "message": " ".join(result["warnings"])}
        now |= {"epoch": len(loss)} if loss else {}
        if self._member != session.context.member:
            now |= {"message": f"This was about member {self._member + 1}, which is no longer shown."}
            self._push()
            return
        session.proposal = {
            "document": check_document(document),
            "member": self._member,
            "loss": [loss[0][1], loss[-1][1]] if loss else None,
            "touched": result["touched"],
        }
        self._push()
        session.push({"type": "proposal", **_proposal(session)})

    def _tell_folds(self, done: int, output: Any, *, running: bool) -> None:
        assert self._case is not None
        assert self._folds is not None
        found = fold_scores(self._case, self._folds[:done], np.array(output, float)) if done else {"folds": []}
        self.session.push({"type": "folds", "running": running, "done": done, "k": len(self._folds), **found})

    def cancel(self) -> None:
        """End a job without a result."""
        with self.session.lock:
            self.worker.cancel()
            if self.session.training is not None:
                self.session.training |= {"running": False, "message": "Canceled"}
        self._push()


def _as_before(rules: Any, document: Document) -> Any:
    """Return trained rules with the weights of those that were switched off, and without the rounding of alphas."""
    old = document.base
    if rules.n_rules != old.n_rules:
        return rules
    rules = rules.edit(weights={number: old.rules[number - 1].weight for number in sorted(document.off)})
    if isinstance(rules, RuleBase):
        same = {name: getattr(old, name) for name in ("alpha", "conclusion_alpha") if _close(rules, old, name)}
        rules = dataclasses.replace(rules, **same)
    return rules


def _close(new: RuleBase, old: RuleBase, name: str) -> bool:
    """Return whether two settings differ only by the precision of training."""
    both = np.asarray(getattr(new, name)), np.asarray(getattr(old, name))
    return both[0].shape == both[1].shape and bool(np.isclose(*both, rtol=1e-6).all())


def _proposal(session: Session) -> dict[str, Any]:
    found = session.proposal
    assert found is not None
    case = session.case
    return {
        **difference(case, case.with_document(found["document"])),
        "old": {"version": session.history.current.number, "label": "Now"},
        "new": {"version": None, "label": "Proposal"},
        "loss": found["loss"],
        "touched": found["touched"],
    }


@action("train")
def _train(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    session.check_revision(message)
    Trainer.of(session).start(message)
    return {}


@action("learn")
def _learn(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    session.check_revision(message)
    Trainer.of(session).start(message)
    return {}


@action("stop")
def _stop(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    Trainer.of(session).worker.stop()
    return {}


@action("cancel")
def _cancel(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    Trainer.of(session).cancel()
    return {}


@action("warm")
def _warm(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Start the process before it is needed: the page sends this when the training view is opened."""
    del message
    if session.training is None:
        Trainer.of(session).worker.start({"do": "warm"})
    return {}


@action("proposal")
def _proposed(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show what waits for an answer and, if some rules are named, what accepting these alone would do."""
    if session.proposal is None:
        return {"proposal": None}
    found = _proposal(session)
    if message.get("rules") is not None:
        case = session.case
        found["chosen"] = answers(case, case.with_document(_accepted(session, message)[0]))
    return {"proposal": found}


def _accepted(session: Session, message: Mapping[str, Any]) -> tuple[Document, str, list[str]]:
    """Return the document with the accepted part of the proposal, what to call that, and the terms that are split."""
    if session.proposal is None:
        raise ParameterError("There is no proposal to accept.")
    document, new = session.document, session.proposal["document"]
    asked, removed = message.get("rules"), message.get("removed") or []
    if asked is None:
        made = document.with_rules(new.rules).replaced(off=new.off, threshold=new.threshold)
        return made, "Accepted the proposal", []
    default = bool(message.get("default", asked))
    rules, split = accept_rules(document.rules, new.rules, list(asked), list(removed), default=default)
    made = document.with_rules(rules)
    was_off = {document.base.rules[number - 1] for number in document.off}
    made = made.replaced(off=frozenset(n for n in made.off if n in new.off or made.base.rules[n - 1] in was_off))
    what = f"{len(asked)} of {new.rules.n_rules} rules" if asked or not default else "the proposed default"
    return made, f"Accepted {what}", split


@action("accept")
def _accept(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        made, label, split = _accepted(session, message)
        session.proposal = None
        return {**session.commit(check_document(made), label), "split": split}


@action("reject")
def _reject(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    with session.lock:
        session.proposal = None
        session.push({"type": "proposal", "rules": None})
        return {}


@action("folds")
def _folds(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Validate on held-out folds: with training in each, in the background; otherwise at once."""
    if message.get("train"):
        Trainer.of(session).start(message)
        return {"running": True}
    case = session.case
    if case.data.labels is None:
        raise InputError("The bags have no labels: open a data file with a label column.")
    parts = parts_of(case, message.get("k", 5))
    found = fold_scores(case, parts, case.found.output, chosen=True)
    return {"running": False, "done": len(parts), "k": len(parts), **found}

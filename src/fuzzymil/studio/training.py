"""Training in a process of its own: jobs, progress, held-out folds, and the proposal that comes of it."""

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
from fuzzymil.studio.case import Case
from fuzzymil.studio.difference import accept_rules, answer_changes, difference
from fuzzymil.studio.document import Document, check_document
from fuzzymil.studio.messages import LIMITS, from_json, to_json
from fuzzymil.studio.session import ACTIONS, Refused, Session, action
from fuzzymil.studio.views import fold_scores, labels_of
from fuzzymil.studio.worker import save_bags

_MOST_POINTS = 500  # of the loss that is pushed
_SETTINGS = ("move", "constraints", "epochs", "learning_rate")


class Worker:
    """The process that trains, started when it is first needed and kept for the next job.

    ``tell`` is called, in a thread, with every message about the current job.
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
            path = os.path.join(self._folder.name, f"bags-{self._job % 2}.npz")
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
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "fuzzymil.studio.worker"],  # -P: imports nothing from the current folder
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


def _job(case: Case, message: Mapping[str, Any]) -> tuple[dict[str, Any], Bags]:
    """Return the job that a message asks for, and the bags to train on."""
    if case.given.labels is None:
        raise InputError("Training needs labels: open a data file with a label column.")
    move = message.get("move") or {}
    for name in move:
        known_name("part", name, ("sets", "conclusions"), "in move")
    epochs, rate = message.get("epochs", 200), message.get("learning_rate", 0.03)
    if not isinstance(epochs, int) or isinstance(epochs, bool) or not 1 <= epochs <= LIMITS["epochs"]:
        raise ParameterError(f"epochs must be a whole number from 1 to {LIMITS['epochs']:,}, got {epochs!r:.60}.")
    if not isinstance(rate, int | float) or isinstance(rate, bool) or not 0 < rate <= 10:
        raise ParameterError(f"learning_rate must be above 0 and at most 10, got {rate!r:.60}.")
    learns = "learn" in (message["type"], message.get("refit"))
    classifies = case.classes is not None or (learns and case.given.labels.dtype.kind not in "iuf")
    if not classifies:
        _ = case.numbers  # raises unless labels are numbers
    frozen = {f"{variable}.{term}" for variable, term in case.document.frozen}
    frozen |= set() if move.get("sets", True) else set(case.rules.feature_names)
    frozen |= set() if move.get("conclusions", True) else set(case.outputs)
    job = {
        "do": str(message["type"]),
        "refit": message.get("refit"),
        "classifies": classifies,
        "epochs": epochs,
        "learning_rate": float(rate),
        "positive": case.positive_name,
        "constraints": _constraints(message.get("constraints")),
        "frozen": sorted(frozen),
        "text": case.document.active.to_source(),
    }
    if learns:
        return job, case.given
    seen = case.seen
    return job, Bags(seen.instances, seen.offsets, labels=seen.labels, feature_names=case.rules.feature_names)


def _constraints(given: Any) -> dict[str, Any] | None:
    from fuzzymil.learn.train.constraints import Constraints

    if not given:
        return None
    asked = {name: value for name, value in given.items() if value not in (None, False, 0, "")}
    Constraints.of(asked)  # raises if it makes no sense
    return asked


def _refitted(session: Session, message: Mapping[str, Any]) -> tuple[Case, dict[str, Any]]:
    """Return the rules that each fold starts from, so that they know nothing of the bags that are held out.

    Rules that were trained start as they were before, with the settings of that training.
    """
    known_name("way", message.get("refit"), ("train", "learn"), "of refitting")
    kind, start = session.history.learned()
    case = session.case
    if message["refit"] == "learn" or kind != "train":
        return case, {**message}
    trainer = session.kept["trainer"]
    return case.with_document(start.document), {**trainer.settings, **message}


def _parts(case: Case, k: Any) -> list[list[int]]:
    """Return ``k`` parts of the bags, with the classes spread evenly."""
    from sklearn.model_selection import KFold, StratifiedKFold

    n = case.data.n_bags
    if not isinstance(k, int) or isinstance(k, bool) or not 2 <= k <= min(20, n):
        raise ParameterError(f"k must be a whole number from 2 to {min(20, n)}, got {k!r:.60}.")
    labels = None if case.classes is None else np.asarray(case.labels, object).astype(str)
    if labels is not None and min(np.unique(labels, return_counts=True)[1]) < k:
        raise InputError(f"Each class needs at least {k} bags for {k} folds: choose fewer folds.")
    splitter: Any = (KFold if labels is None else StratifiedKFold)(k, shuffle=True, random_state=0)
    return [part.tolist() for _, part in splitter.split(np.zeros(n), labels)]


class Trainer:
    """The training of a session: at most one job at a time, in a process of its own."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = Worker(self._hear)
        self._began = 0.0
        self._loss: list[tuple[int, float]] = []
        self._case: Case | None = None
        self._member = 0
        self._folds: list[list[int]] | None = None
        self._reached: tuple[int, Any] | None = None  # folds that are done, and the output on their bags
        self._stopping = False
        self.settings: dict[str, Any] = {}  # of the latest training
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
            case, self._member = session.case, session.context.member
            self._folds, self._reached, self._stopping = None, None, False
            if message["type"] == "folds":
                case, message = _refitted(session, message)
                self._folds = _parts(case, message.get("k", 5))
            elif message["type"] == "train":
                self.settings = {name: message[name] for name in _SETTINGS if name in message}
            self._case = case
            job, bags = _job(case, message)
            self._loss, self._began = [], time.monotonic()
            session.proposal = None
            session.training = {"kind": message["type"], "running": True, "epoch": 0, "epochs": job["epochs"]}
            session.training |= {"loss": [], "seconds": 0.0, "message": "Starting"}
        self.worker.start({**job, "parts": self._folds}, bags)
        self._push()

    def _push(self, **facts: Any) -> None:
        """Tell all windows about the job, with what changed."""
        if self.session.training is not None:
            self.session.training |= facts
        self.session.push({"type": "training", **(self.session.training or {})})

    def _hear(self, message: dict[str, Any]) -> None:
        """Take note of what the process says."""
        now = self.session.training
        if "warm" in message or now is None or not now["running"]:
            return
        if "epoch" in message:
            self._loss += [(message["epoch"], loss) for loss in message["losses"]]
            now |= {"epoch": message["epoch"], "epochs": message["epochs"]}
            now |= {"message": "Stopping" if self._stopping else ""}
        now |= {"loss": _thin(self._loss), "seconds": round(time.monotonic() - self._began, 1)}
        if "failed" in message:
            self._push(running=False, message=message["failed"])
        elif "result" in message:
            try:
                self._finish(message["result"])
            except ValueError as problem:  # such as rules beyond the limits
                self._push(running=False, message=str(problem))
        else:
            if "done" in message:
                self._reached = message["done"], message
                self._push_folds(message["done"], message, running=True)
            self._push()

    def _finish(self, result: dict[str, Any]) -> None:
        session, now = self.session, self.session.training
        assert now is not None
        assert self._case is not None
        if self._folds is not None:
            self._push_folds(len(self._folds), result, running=False)
            self._push(running=False, message="")
            return
        loss = list(enumerate(result["loss"], start=1)) or self._loss
        kept = self._case.document
        rules = Document(result["text"]).rules
        if now["kind"] == "learn":  # other rules, whose output has its own threshold
            document = Document.of(rules, positive=kept.positive)
        else:
            document = kept.with_rules(_as_before(rules, kept))
        now |= {"running": False, "loss": _thin(loss), "message": " ".join(result["warnings"])}
        now |= {"epoch": len(loss)} if loss else {}
        if self._member != session.context.member:
            self._push(message=f"This was about member {self._member + 1}, which is no longer shown.")
            return
        session.proposal = {
            "document": check_document(document),
            "member": self._member,
            "loss": [loss[0][1], loss[-1][1]] if loss else None,
            "touched": result["touched"],
            "kind": now["kind"],
            "frontier": result.get("frontier"),
        }
        self._push()
        session.push({"type": "proposal", **_proposal(session)})

    def _push_folds(self, done: int, found: Mapping[str, Any], *, running: bool) -> None:
        assert self._case is not None
        assert self._folds is not None
        case, message = self._case, {"type": "folds", "running": running, "done": done, "k": len(self._folds)}
        if "text" in found:  # other rules, whose output has its own threshold
            case = case.with_document(Document(found["text"], positive=case.positive_name))
        scores = fold_scores(case, self._folds[:done], np.array(found["output"], float))
        self.session.push({**message, "held_out": True, **scores})

    def stop(self) -> None:
        """End a job at once with what it has reached; what has reached nothing leaves the rules as they are."""
        with self.session.lock:
            now = self.session.training
            if now is None or not now["running"]:
                return
            if now["kind"] == "train" and self._loss:
                self._stopping = True
                self._push(message="Stopping")
                self.worker.stop()  # the epoch that is under way ends first
                return
            self.worker.cancel()
        if self._reached is not None:
            self._push_folds(*self._reached, running=False)
        before = {"train": "the first step", "learn": "rules were chosen", "folds": "a fold was done"}[now["kind"]]
        self._push(running=False, message="" if self._reached else f"Stopped before {before}: nothing has changed.")

    def cancel(self) -> None:
        """End a job without a result."""
        with self.session.lock:
            self.worker.cancel()
        self._push(running=False, message="Canceled")


def _thin(loss: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Return at most about 500 points of a curve, the last one among them."""
    return [*loss[: -1 : len(loss) // _MOST_POINTS + 1], *loss[-1:]]


def _as_before(rules: Any, document: Document) -> Any:
    """Return trained rules with the weights of those that were switched off, and without the rounding of alphas."""
    old = document.rules
    if rules.n_rules != old.n_rules:
        return rules
    rules = rules.edit(weights={number: old.rules[number - 1].weight for number in sorted(document.off)})
    if rules.concludes_sets:
        return rules
    same = {name: getattr(old, name) for name in ("alpha", "conclusion_alpha") if _is_close(rules, old, name)}
    return dataclasses.replace(rules, **same)


def _is_close(new: RuleBase, old: RuleBase, name: str) -> bool:
    """Return whether two settings differ only by the precision of training."""
    both = np.asarray(getattr(new, name)), np.asarray(getattr(old, name))
    return both[0].shape == both[1].shape and bool(np.isclose(*both, rtol=1e-6).all())


# ---------------------------------------------------------------------- messages


@action("train", changes=True)
@action("learn", changes=True)
def _train(session: Session, message: Mapping[str, Any]) -> None:
    Trainer.of(session).start(message)


@action("warm")
def _warm(session: Session, message: Mapping[str, Any]) -> None:
    """Compile the training before it is needed: the page sends this when the training view is opened."""
    if session.training is None:
        job, bags = _job(session.case, {**message, "type": "train", "epochs": 1})
        Trainer.of(session).worker.start({**job, "do": "warm"}, bags)


ACTIONS["stop"] = lambda session, _: Trainer.of(session).stop()
ACTIONS["cancel"] = lambda session, _: Trainer.of(session).cancel()


@action("folds")
def _folds(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Validate on parts of the bags: with rules that the others shaped, in the background; or at once, as they are."""
    if message.get("refit"):
        Trainer.of(session).start(message)
        return {"running": True}
    case = session.case
    labels_of(case)
    parts = _parts(case, message.get("k", 5))
    found = fold_scores(case, parts, case.found.output, best=True)
    return {"running": False, "done": len(parts), "k": len(parts), "held_out": False, **found}


def _proposal(session: Session) -> dict[str, Any]:
    found, case = session.proposal, session.case
    assert found is not None
    return {
        **difference(case, case.with_document(found["document"])),
        "old": {"version": session.history.current.number, "label": "Now"},
        "new": {"version": None, "label": "Proposal"},
        "loss": found["loss"],
        "touched": found["touched"],
    }


@action("proposal")
def _show_proposal(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show what waits for an answer and, if some rules are named, what accepting these alone would do."""
    if session.proposal is None:
        return {"proposal": None}
    found = _proposal(session)
    if message.get("rules") is not None:
        case = session.case
        found["chosen"] = answer_changes(case, case.with_document(_accepted_part(session, message)[0]))
    return {"proposal": found}


def _accepted_part(session: Session, message: Mapping[str, Any]) -> tuple[Document, str, list[str]]:
    """Return the document with the accepted part of the proposal, what to call that, and the terms that are split."""
    if session.proposal is None:
        raise ParameterError("There is no proposal to accept.")
    document, new = session.document, session.proposal["document"]
    asked, removed = message.get("rules"), message.get("removed") or []
    if asked is None:
        made = document.with_rules(new.rules).replace(off=new.off, threshold=new.threshold)
        return made, "Accepted the proposal", []
    default = bool(message.get("default", asked))
    rules, split = accept_rules(document.rules, new.rules, list(asked), list(removed), default=default)
    made = document.with_rules(rules)
    was_off = {document.rules.rules[number - 1] for number in document.off}
    made = made.replace(off=frozenset(n for n in made.off if n in new.off or made.rules.rules[n - 1] in was_off))
    what = f"{len(asked)} of {new.rules.n_rules} rules" if asked or not default else "the proposed default"
    return made, f"Accepted {what}", split


@action("accept", changes=True)
def _accept(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    made, label, split = _accepted_part(session, message)
    made, found = check_document(made), session.proposal or {}
    whole = message.get("rules") is None
    frontier = found.get("frontier") if whole else None
    context = session.context if frontier is None else session.context.replace(frontier=frontier)
    session.proposal = None
    return {**session.commit(made, label, context, learned=found.get("kind", "")), "split": split}


@action("reject")
def _reject(session: Session, _: Mapping[str, Any]) -> None:
    with session.lock:
        session.proposal = None
        session.push({"type": "proposal", "rules": None})

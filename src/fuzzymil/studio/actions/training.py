"""Messages about training, its proposals, and held-out folds."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.rules import RuleBase
from fuzzymil.studio import training
from fuzzymil.studio.case import Case
from fuzzymil.studio.difference import answers, difference
from fuzzymil.studio.document import Document
from fuzzymil.studio.edits import checked_document
from fuzzymil.studio.folds import fold_scores
from fuzzymil.studio.proposal import merged
from fuzzymil.studio.session import Refused, Session, action

__all__ = ["Trainer"]


class Trainer:
    """The training of a session: at most one job at a time, in a process of its own."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = training.Worker(self._heard)
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
            self._folds = training.parts_of(self._case, message.get("k", 5)) if message["type"] == "folds" else None
            job, bags = training.job_of(self._case, message)
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
        now |= {"loss": training.thinned(self._loss), "seconds": training.elapsed(self._began)}
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
        now |= {"running": False, "loss": training.thinned(loss), "message": " ".join(result["warnings"])}
        now |= {"epoch": len(loss)} if loss else {}
        if self._member != session.context.member:
            now |= {"message": f"This was about member {self._member + 1}, which is no longer shown."}
            self._push()
            return
        session.proposal = {
            "document": checked_document(document),
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
    if not rules.concludes_sets:
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
    rules, split = merged(document.rules, new.rules, list(asked), list(removed), default=default)
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
        return {**session.commit(checked_document(made), label), "split": split}


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
    parts = training.parts_of(case, message.get("k", 5))
    found = fold_scores(case, parts, case.found.output, chosen=True)
    return {"running": False, "done": len(parts), "k": len(parts), **found}

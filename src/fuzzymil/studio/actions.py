"""The messages about training, versions and files; importing this module registers them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import Bags
from fuzzymil.studio import diagnosis, files, training
from fuzzymil.studio.case import Case
from fuzzymil.studio.difference import difference
from fuzzymil.studio.document import Document
from fuzzymil.studio.edits import checked_document
from fuzzymil.studio.files import Upload
from fuzzymil.studio.proposal import merged
from fuzzymil.studio.session import Refused, Session, action
from fuzzymil.studio.views.validation import numbers_of

__all__ = ["Trainer"]


# ---------------------------------------------------------------------- findings and versions


@action("diagnose")
def _diagnose(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    return {"findings": diagnosis.findings(session.case)}


@action("name_version")
def _name_version(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        number = message.get("version", session.history.current.number)
        named = session.history.name(number, message.get("name"))
        session.note({"name": [named.number, named.name]})
        session.changed(f"Named version {named.number}")
        return {"version": named.number}


@action("goto")
def _goto(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        found = session.history.version(message.get("version"))
        return session.commit(found.document, f"Went back to {found.name or found.label}")


@action("compare")
def _compare(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    old, new = (session.history.version(message.get(side)) for side in ("old", "new"))
    cases = [session.case.with_document(each.document) for each in (old, new)]
    sides = {
        side: {"version": each.number, "label": each.name or each.label} for side, each in (("old", old), ("new", new))
    }
    return {**difference(*cases), **sides}


# ---------------------------------------------------------------------- training


class Trainer:
    """The training of a session: at most one job at a time, in a process of its own."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.worker = training.Worker(self._heard)
        self._began = 0.0
        self._loss: list[tuple[int, float]] = []
        self._case: Case | None = None
        self._folds: list[list[int]] | None = None
        session.closers.append(self.worker.close)

    @classmethod
    def of(cls, session: Session) -> Trainer:
        """Return the trainer of a session, made when it is first needed."""
        with session.lock:
            found: Trainer | None = vars(session).get("_trainer")
            if found is None:
                found = vars(session)["_trainer"] = cls(session)
            return found

    def start(self, message: Mapping[str, Any]) -> None:
        """Begin a job."""
        session = self.session
        with session.lock:
            if session.training is not None and session.training["running"]:
                raise Refused("busy", "Training is under way: stop it first.")
            self._case = session.case
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
            now |= {"running": False}
            self._tell_folds(len(self._folds), result["output"], running=False)
            self._push()
            return
        loss = list(enumerate(result["loss"], start=1)) or self._loss
        kept = self._case.document
        rules = Document(result["text"]).rules
        if now["kind"] == "learn":  # other rules, whose output has its own threshold
            document = Document.of(rules, positive=kept.positive)
        else:
            document = kept.with_rules(_with_weights(rules, kept))
        now |= {"running": False, "loss": training.thinned(loss), "message": " ".join(result["warnings"])}
        now |= {"epoch": len(loss)} if loss else {}
        session.proposal = {
            "document": checked_document(document),
            "loss": [loss[0][1], loss[-1][1]] if loss else None,
            "touched": result["touched"],
        }
        self._push()
        session.push({"type": "proposal", **_proposal(session)})

    def _tell_folds(self, done: int, output: list[list[float]], *, running: bool) -> None:
        assert self._case is not None
        assert self._folds is not None
        found = _fold_scores(self._case, self._folds[:done], np.array(output, float))
        self.session.push({"type": "folds", "running": running, "done": done, "k": len(self._folds), **found})

    def cancel(self) -> None:
        """End a job without a result."""
        with self.session.lock:
            self.worker.cancel()
            if self.session.training is not None:
                self.session.training |= {"running": False, "message": "Canceled"}
        self._push()


def _with_weights(rules: Any, document: Document) -> Any:
    """Return trained rules with the weights of those that were switched off."""
    if rules.n_rules != document.rules.n_rules:
        return rules
    return rules.edit(weights={number: document.base.rules[number - 1].weight for number in sorted(document.off)})


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
    del message
    return {"proposal": None if session.proposal is None else _proposal(session)}


@action("accept")
def _accept(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        if session.proposal is None:
            raise ParameterError("There is no proposal to accept.")
        document, new = session.document, session.proposal["document"]
        asked, removed, split = message.get("rules"), message.get("removed") or [], list[str]()
        if asked is None:
            made = document.with_rules(new.rules).replaced(off=new.off, threshold=new.threshold)
            label = "Accepted the proposal"
        else:
            rules, split = merged(document.rules, new.rules, list(asked), list(removed))
            made, label = document.with_rules(rules), f"Accepted {len(asked)} of {new.rules.n_rules} rules"
            was_off = {document.base.rules[number - 1] for number in document.off}
            made = made.replaced(
                off=frozenset(n for n in made.off if n in new.off or made.base.rules[n - 1] in was_off)
            )
        session.proposal = None
        return {**session.commit(checked_document(made), label), "split": split}


@action("reject")
def _reject(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    with session.lock:
        session.proposal = None
        session.push({"type": "proposal", "rules": None})
        return {}


# ---------------------------------------------------------------------- folds


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
    found = _fold_scores(case, parts, case.found.output, chosen=True)
    return {"running": False, "done": len(parts), "k": len(parts), **found}


def _fold_scores(case: Case, parts: list[list[int]], output: Any, *, chosen: bool = False) -> dict[str, Any]:
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
    names = [str(each) for each in map(_text, case.classes)]
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
            right = np.array([_text(each) for each in case.reading.labels(output[part])], object) == labels[part]
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


def _text(label: Any) -> str:
    from fuzzymil.studio.case import class_text

    return class_text(label)


def _best_threshold(scores: Any, truth: Any, usual: float) -> float:
    """Return the threshold with the most right answers, of equally good ones the one nearest to the usual one."""
    places = np.unique(scores)
    between = np.concatenate([[places[0] - 1.0], (places[1:] + places[:-1]) / 2, [places[-1] + 1.0], [usual]])
    right = np.array([((scores > each) == truth).mean() for each in between])
    best = between[right == right.max()]
    return float(best[np.abs(best - usual).argmin()])


def _mean_and_deviation(values: list[float]) -> list[float] | None:
    return [float(np.mean(values)), float(np.std(values))] if values else None


# ---------------------------------------------------------------------- files


def _uploads(session: Session) -> dict[str, Upload]:
    found: dict[str, Upload] = vars(session).setdefault("_files", {})
    return found


@action("preview")
def _preview(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    upload = files.content_of(message)
    found = files.previewed(upload)
    with session.lock:
        kept = _uploads(session)
        number = f"upload-{session.revision}-{len(kept)}-{time.monotonic_ns()}"
        kept.clear()  # one at a time: they may be large
        kept[number] = upload
    return {"upload": number, "name": upload.name, **found}


@action("open")
def _open(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        upload = _uploads(session).get(str(message.get("upload")))
        if upload is None:
            raise ParameterError("This file is no longer at hand: drop it again.")
        if upload.kind == "data":
            bags, losses = files.read_data(upload, message)
            session.keep_data(upload, {name: message[name] for name in ("bag", "label") if message.get(name)})
            return _opened_data(session, bags, upload.name, losses, message)
        assert upload.rules is not None
        made = checked_document(Document.of(upload.rules))
        session.model, session.name = upload.model, upload.name.rsplit(".", 1)[0]
        found = session.commit(made, f"Opened {upload.name}")
        if not found["changed"]:  # the same rules, but maybe with classes and a threshold of their own
            session.changed(f"Opened {upload.name}")
        return found


def _opened_data(
    session: Session, bags: Bags, name: str, losses: list[str], message: Mapping[str, Any]
) -> dict[str, Any]:
    """Show other bags; unless the rules fit them, or if that is asked for, rules to start with come from them."""
    from fuzzymil.rules.inference import matched
    from fuzzymil.studio.start import starter

    session.bags, session.data_name = bags, name
    fits = True
    try:
        matched(session.document.base, bags)
    except ValueError:
        fits = False
    if message.get("start"):
        session.model = None
        return {**session.commit(checked_document(starter(bags)), f"Started from {name}"), "losses": losses}
    session.changed(f"Opened {name}")
    return {"changed": True, "fits": fits, "losses": losses}


@action("losses")
def _losses(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    return {"losses": files.lost(session.case, message.get("format"))}


@action("export")
def _export(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    return files.exported(session.case, session.name, session.data_name, message)


@action("save")
def _save(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Write an export into the folder in which the studio was started."""
    if session.folder is None:
        raise ParameterError("There is no folder to save into: export the file instead.")
    version = session.history.current.number
    made = files.exported(session.case, session.name, session.data_name, message)
    name = files.plain_name(message.get("name") or made["name"])
    path = session.folder / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ParameterError(f"{name} is not a plain file: choose another name.")
    if path.exists() and message.get("overwrite") is not True:
        raise Refused("exists", f"{name} exists already. Overwrite it?")
    import base64

    storage.write_atomically(path, base64.b64decode(made["content"]))
    with session.lock:
        session.saved = {"file": name, "version": version}
        session.push({"type": "saved", **session.saved})
    return {"name": name, "losses": made["losses"]}

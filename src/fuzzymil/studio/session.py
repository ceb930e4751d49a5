"""One studio session: takes messages, edits the document, answers views, and tells all windows about changes.

A session knows nothing of sockets. The server hands it the messages of its WebSockets, a notebook those of its widget.
`docs/reference/studio.md` describes every message.
"""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil._utils.text import check_characters, whole_characters
from fuzzymil._version import __version__
from fuzzymil.bags import Bags
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.studio.case import Case
from fuzzymil.studio.difference import difference
from fuzzymil.studio.document import Context, Data, Document, check_document, check_text
from fuzzymil.studio.edits import EDITS, ConflictError, drag_term
from fuzzymil.studio.files import (
    Upload,
    export,
    exports,
    losses_of,
    openable,
    plain_name,
    preview,
    read_data,
    upload_from,
)
from fuzzymil.studio.history import History, Journal, Version
from fuzzymil.studio.messages import LIMITS, id_of, texts, to_json
from fuzzymil.studio.sets import families
from fuzzymil.studio.start import starting_rules
from fuzzymil.studio.text import check, complete, mistakes_of
from fuzzymil.studio.views import VIEWS, findings, state_of, view, words

_log = logging.getLogger(__name__)

Window = Callable[[dict[str, Any]], None]
"""What pushes a message to one window of the page."""


class Refused(ValueError):
    """A message that cannot be answered; ``code`` tells the page why."""

    def __init__(self, code: str, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.code, self.facts = code, facts


Action = Callable[["Session", Mapping[str, Any]], dict[str, Any] | None]

ACTIONS: dict[str, Action] = {}
"""The messages that are neither edits nor views, by type."""


def action(name: str, *, changes: bool = False) -> Callable[[Action], Action]:
    """Register what answers a type of message; if it changes the rules, the page must have seen the latest ones."""

    def register(function: Action) -> Action:
        def checked(session: Session, message: Mapping[str, Any]) -> dict[str, Any] | None:
            with session.lock:
                session.check_revision(message)
                return function(session, message)

        ACTIONS[name] = checked if changes else function
        return function

    return register


class Session:
    """The state behind all windows of one studio.

    Parameters
    ----------
    document : Document
    data : Bags or Data, optional
    name : str
        What the rules are called: the name of their file without its ending.
    model : ClassReading, optional
        How the model reads its output, if one was opened.
    model_file : Path, optional
        Where that model is, for a later session.
    frontier : dict, optional
        The rule bases of other sizes that were chosen with these rules, as the file of the model has them.
    members : sequence of Document
        All rule bases of a committee, of which ``document`` is the first.
    folder : Path, optional
        Where files are saved. None: nowhere.
    demo : bool
        Whether the page offers its guided start.
    draft : str, optional
        A text with mistakes to go on with.
    provisional : bool
        Whether the document was only made up, from the data or of nothing: then rules of an earlier session come first.

    Examples
    --------
    >>> session = Session(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1"))
    >>> session.answer({"type": "set_rule", "number": 1, "weight": 0.5, "revision": 0})["revision"]
    1
    >>> session.answer({"type": "undo", "revision": 0})["error"]["code"]
    'stale'
    """

    def __init__(
        self,
        document: Document,
        data: Bags | Data | None = None,
        *,
        name: str = "untitled",
        model: ClassReading | None = None,
        model_file: Path | None = None,
        frontier: Mapping[str, Any] | None = None,
        members: Sequence[Document] = (),
        folder: Path | None = None,
        demo: bool = False,
        draft: str | None = None,
        provisional: bool = False,
    ) -> None:
        name = whole_characters(name)
        self.folder, self.demo = folder, demo
        self.revision = 0
        self.lock = threading.RLock()
        self.windows: list[Window] = []
        self.closers: list[Callable[[], None]] = []
        self.kept: dict[str, Any] = {}  # what kinds of messages need to remember
        self.uploads: dict[str, Upload] = {}
        self.recovered: dict[str, Any] | None = None
        self.autosave: str | None = None  # why edits cannot be kept on disk
        self.notice: str | None = None  # what happened to a journal that could not be read
        self.saved: dict[str, Any] | None = None
        self.training: dict[str, Any] | None = None
        self.proposal: dict[str, Any] | None = None
        self.draft: str | None = None  # a text with mistakes that somebody is writing
        self._journal: Journal | None = None
        self._reference: Case | None = None
        self._case: Case | None = None
        self._shown: tuple[Any, ...] = ()  # what the case was made from
        given = Data(data) if isinstance(data, Bags) else data
        context = Context(name, given, model, model_file, tuple(map(check_document, members)), frontier=frontier)
        self.history = History(Version(check_document(document), f"Opened {name}", context))
        if folder is not None:
            self._recover(folder, provisional)
        if draft is not None and self.draft is None and self.recovered is None:
            self.draft = to_json({"text": draft, "base": self.document.text})  # as the page keeps it

    def _recover(self, folder: Path, provisional: bool) -> None:
        """Go on where an earlier session of this name ended; if its files changed since, that is one more version."""
        opened = self.history.current
        try:
            self._journal = Journal(folder, opened.context.name)
            found = self._restored(self._journal, opened.context)
            self.notice = self._journal.notice
            if found is None:
                self.write(lambda journal: journal.keep(opened, given="rules"))
            else:
                self._go_on(*found, opened, provisional)
        except OSError as problem:
            self.autosave = f"Edits cannot be kept in {problem.filename or folder}: {problem.strerror or problem}."
            self._let_go()
        except ValueError as problem:  # such as the name of a column that no file can hold
            self.autosave = f"Edits cannot be kept: {problem}"
            self._let_go()

    def _restored(self, journal: Journal, given: Context) -> tuple[History, Document, Context] | None:
        try:
            found = journal.restore(given)
            if found is not None:
                _check_version(found[0].current)
            return found
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError):
            journal.set_aside()
            return None

    def _go_on(self, history: History, before: Document, around: Context, opened: Version, provisional: bool) -> None:
        """Take over the history of an earlier session, which was last started with ``before`` and ``around``."""
        assert self._journal is not None
        self.history, self.draft = history, self._journal.draft
        n_edits = len(self.history.versions) - 1
        last, data = self.history.current, opened.context.data
        is_same = data is None or data.is_same_file(around.data)
        made_up = provisional and is_same and (n_edits or data is None)
        if before.text != opened.document.text and not made_up:
            context = opened.context.replace(data=data or last.context.data)
            self._add(Version(opened.document, f"Opened {context.name} again", context), given="rules")
        elif data is not None and not is_same:
            self._add(Version(last.document, f"Opened {data.name}", last.context.replace(data=data)), given="data")
        elif n_edits:
            self.recovered = {"edits": n_edits, "when": last.when}

    def _add(self, version: Version, given: str = "") -> None:
        self.write(lambda journal: journal.keep(version, given=given))  # first: it may refuse
        self.history.add(version)

    def keep_file(self, name: str, content: bytes) -> Path | None:
        """Keep a file that was opened for the next session; None if that is not possible."""
        if self._journal is None:
            return None
        try:
            return self._journal.keep_file(name, content)
        except OSError as problem:
            self.autosave = f"{name} could not be kept on disk for the next session: {problem.strerror or problem}."
            return None

    def write(self, write: Callable[[Journal], None]) -> None:
        """Write to the journal; what the disk does not take waits for the next time, and the page says so."""
        if self._journal is None:
            return
        try:
            write(self._journal)
            self.autosave = None
        except OSError as problem:
            self.autosave = f"The last edits could not be kept on disk: {problem.strerror or problem}."

    def _let_go(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    # ------------------------------------------------------------------ state

    @property
    def document(self) -> Document:
        """The current document."""
        return self.history.current.document

    @property
    def context(self) -> Context:
        """The data and the model next to it."""
        return self.history.current.context

    @property
    def bags(self) -> Bags | None:
        """The current bags."""
        return self.context.bags

    @property
    def case(self) -> Case:
        """The current document on the bags; its inference is shared by all views."""
        with self.lock:
            shown = (self.document, self.context)
            if self._case is None or any(old is not new for old, new in zip(self._shown, shown, strict=True)):
                self._case, self._shown = self.case_of(self.history.current), shown
            return self._case

    def case_of(self, version: Version) -> Case:
        """Return a version on the current bags."""
        context = version.context
        return Case(version.document, self.bags, context.model, context.others, self._label)

    @property
    def _label(self) -> str:
        """The name of the column of the labels, if it is known."""
        return "" if self.context.data is None else str(self.context.data.columns.get("label", ""))

    def state(self) -> dict[str, Any]:
        """Return the state that every window shows."""
        with self.lock:
            history, context = self.history, self.context
            data = context.data
            return {
                **state_of(self.case),
                "revision": self.revision,
                "version": history.current.number,
                "name": context.name,
                "data_name": "" if data is None else data.name,
                "data_gone": None if data is None else data.problem,
                "committee": {"n": len(context.members), "member": context.member} if context.members else None,
                "learned": history.learned()[0],
                "frontier": self.context.frontier is not None,
                "undo": history.undo_label,
                "redo": history.redo_label,
                "reference": {
                    "version": history.reference.number,
                    "name": history.reference.name or history.reference.label,
                },
                "saved": self.saved,
                "training": self.training,
                "proposal": self.proposal is not None,
                "autosave": self.autosave,
            }

    # ------------------------------------------------------------------ messages

    def answer(self, message: Any) -> dict[str, Any]:
        """Answer a message; what goes wrong is an answer too."""
        number = id_of(message)
        try:
            if not isinstance(message, Mapping) or not isinstance(message.get("type"), str):
                raise Refused("unknown", 'Expected a JSON object with a "type".')
            for name, text in texts(message):
                check_characters(f'"{name}" of the message', text)
            found = self._dispatch(message["type"], message)
            return {**found, "id": number, "ok": True, "revision": self.revision}
        except Refused as problem:
            error = {"code": problem.code, "message": str(problem), **problem.facts}
        except RuleSyntaxError as problem:
            marked = mistakes_of(problem, message.get("text"))
            error = {"code": "mistakes", "message": str(problem), "mistakes": marked}
        except ConflictError as problem:
            error = {"code": "conflict", "message": str(problem), "state": self.state()}
        except (ValueError, ModelFileError, ImportError) as problem:
            error = {"code": "refused", "message": str(problem)}
        except OSError as problem:
            error = {"code": "file", "message": f"{problem.strerror or problem}"}
        except (TypeError, KeyError, AttributeError, OverflowError, RecursionError, MemoryError) as problem:
            _log.debug("A message that made no sense", exc_info=True)
            error = {"code": "malformed", "message": f"The message could not be understood ({type(problem).__name__})."}
        return {"id": number, "ok": False, "revision": self.revision, "error": error}

    def _dispatch(self, kind: str, message: Mapping[str, Any]) -> dict[str, Any]:
        if kind in EDITS:
            return self._apply(kind, message)
        if kind in VIEWS:
            return view(self.case, self.with_reference(message))
        if kind in ACTIONS:
            return ACTIONS[kind](self, message) or {}
        raise Refused("unknown", f"There is no message of type {kind!r:.60}.")

    def with_reference(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return a view's request with the case that changes are counted from."""
        if request.get("type") not in ("bags", "score"):
            return dict(request)
        return {**request, "before": self.reference_case()}

    def reference_case(self) -> Case | None:
        """Return the last named version, or the first one, on the bags; None if that is the current one.

        Of a committee, it is the member that is shown now, as it was then.
        """
        reference, place = self.history.reference, self.context.member
        document, context = reference.document, reference.context
        if place != context.member and place < len(context.members):
            document = context.members[place]
        if document == self.document or self.bags is None:
            return None
        known = self._reference
        if known is None or known.document is not document or known.bags is not self.bags:
            known = self._reference = Case(document, self.bags, context.model, label=self._label)
        try:
            _ = known.found
        except ValueError:  # other variables than those of the data
            return None
        return known

    def check_revision(self, message: Mapping[str, Any]) -> None:
        """Refuse a change that was made while looking at an older state."""
        seen = message.get("revision")
        if seen != self.revision:
            raise Refused(
                "stale",
                "The rules were changed in another window: look at them as they are now, and try again.",
                state=self.state(),
            )

    def _apply(self, kind: str, message: Mapping[str, Any]) -> dict[str, Any]:
        with self.lock:
            if kind != "write_text" or not isinstance(message.get("base"), str):  # a text joins what it did not see
                self.check_revision(message)
            document, label = EDITS[kind](self.case, message)
            return self.commit(check_document(document), label)

    def commit(
        self, document: Document, label: str, context: Context | None = None, learned: str = ""
    ) -> dict[str, Any]:
        """Make a document the current one, with other data or another model if there are, and tell all windows."""
        with self.lock:
            around = context or self.context
            if document == self.document and around is self.context:
                return {"changed": False}
            self._add(Version(document, label, around, learned=learned))
            self.draft = None
            self.count_change(label)
            return {"changed": True, "version": self.history.current.number}

    def count_change(self, label: str) -> None:
        """Count a change and push the new state to all windows."""
        with self.lock:
            self.revision += 1
            if self.proposal is not None and self.proposal["member"] != self.context.member:
                self.proposal = None  # it is about other rules
            self.push({"type": "changed", "what": label, **self.state()})

    def close(self) -> None:
        """End what runs in the background, and let go of the journal."""
        for close in self.closers:
            close()
        self.closers.clear()
        self._let_go()

    def push(self, message: dict[str, Any]) -> None:
        """Send a message to all windows."""
        for window in tuple(self.windows):
            window(message)


# ---------------------------------------------------------------------- messages that are neither edits nor views


ACTIONS |= {
    "state": lambda session, _: {"state": session.state()},
    "check": lambda _, message: check(message.get("text")),
    "complete": lambda session, message: complete(message.get("text"), message.get("offset"), session.document),
    "diagnose": lambda session, _: {"findings": findings(session.case)},
    "history": lambda session, _: {"versions": list(session.history.entries())},
    "losses": lambda session, message: {"losses": losses_of(session.case, session.context, message.get("format"))},
    "export": lambda session, message: export(session.case, session.context, message),
}


@action("hello")
def _hello(session: Session, _: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "library": __version__,
        "demo": session.demo,
        "folder": None if session.folder is None else session.folder.name,
        "families": families(),
        "words": words(),
        "exports": exports(),
        "opens": openable(),
        "recovered": session.recovered,
        "notice": session.notice,
        "draft": session.draft,
        "limits": LIMITS,
        "state": session.state(),
    }


@action("drag")
def _drag(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show views with a term moved, without keeping it."""
    moved = session.case.with_document(drag_term(session.document, message))
    found = view(moved, {"type": "variable", "variable": message["variable"]})
    term = next(each for each in found["terms"] if each["name"] == message["term"])
    views = [view(moved, session.with_reference(request)) for request in message.get("views") or ()]
    return {"term": term, "axis": found["axis"], "views": views}


@action("draft")
def _draft(session: Session, message: Mapping[str, Any]) -> None:
    """Keep a text that cannot be read yet, so that it survives the browser and the process."""
    text = None if message.get("text") is None else check_text(message["text"])
    with session.lock:
        if text != session.draft:
            session.write(lambda journal: journal.keep_draft(text))
            session.draft = text


# ---------------------------------------------------------------------- versions


@action("undo", changes=True)
@action("redo", changes=True)
def _undo_or_redo(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    history, step = session.history, message["type"]
    _check_version(history.after(step))
    what = f"Undid: {history.undo_label}" if step == "undo" else f"Redid: {history.redo_label}"
    session.write(lambda journal: journal.append({step: True}))
    history.go(step)
    session.count_change(what)
    return {"version": history.current.number}


def _check_version(version: Version) -> Version:
    """Return a version whose rules can be read; one from a journal that was tampered with may hold anything."""
    try:
        for each in (version.document, *version.context.members):
            check_document(each)
    except RuleSyntaxError as problem:
        raise ParameterError(f"The rules of this version cannot be read: {problem}") from None
    return version


@action("name_version")
def _name_version(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        named = session.history.with_name(message.get("version", session.history.current.number), message.get("name"))
        session.write(lambda journal: journal.append({"name": [named.number, named.name]}))
        session.history.versions[named.number] = named
        session.count_change(f"Named version {named.number}")
        return {"version": named.number}


@action("goto", changes=True)
def _goto(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    found = _check_version(session.history.version(message.get("version")))
    return session.commit(found.document, f"Went back to {found.name or found.label}", found.context)


@action("compare")
def _compare(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    sides = {side: session.history.version(message.get(side)) for side in ("old", "new")}
    facts = {side: {"version": each.number, "label": each.name or each.label} for side, each in sides.items()}
    return {**difference(*map(session.case_of, sides.values())), **facts}


@action("frontier")
def _frontier(session: Session, _: Mapping[str, Any]) -> dict[str, Any]:
    """Return the held-out score of each size, and which size is shown, if one is as it was chosen."""
    frontier, document = session.context.sizes, session.document
    if frontier is None or not frontier.n_folds:
        return {"points": []}
    name = next(each for each in ("AUC", "R2", "accuracy") if each in frontier[0].measures)
    sources = [point.rules.to_source() for point in frontier]
    return {
        "measure": name,
        "chosen": frontier.chosen,
        "shown": sources.index(document.text) if document.text in sources else None,
        "points": [
            {"n_rules": each.n_rules, "mean": each.measures[name].mean, "error": each.measures[name].error}
            for each in frontier
        ],
    }


@action("use_point", changes=True)
def _use_point(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show the rules of another size; however far one goes along the curve, it is one step of undo."""
    frontier, place = session.context.sizes, message.get("point")
    if frontier is None or not isinstance(place, int) or not 0 <= place < len(frontier):
        raise ParameterError(f"There is no size {place!r:.60} on the frontier of these rules.")
    again = session.history.current.learned == "size"
    if again:
        session.write(lambda journal: journal.append({"undo": True}))
        session.history.go("undo")
    document = Document.of(frontier[place].rules, positive=session.document.positive)
    label = f"Used the frontier's {frontier[place].n_rules} rules"
    done = session.commit(check_document(document), label, learned="size")
    if again and not done["changed"]:
        session.count_change(label)
    return done


@action("show_member", changes=True)
def _show_member(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show another rule base of the committee; what was changed in this one stays in its place."""
    if session.training is not None and session.training["running"]:
        raise Refused("busy", "Training is under way: stop it first.")
    if message.get("member") == session.context.member:
        return {"changed": False}
    context, document = session.context.show(message.get("member"), session.document)
    return session.commit(document, f"Showed member {context.member + 1} of {len(context.members)}", context)


# ---------------------------------------------------------------------- files


@action("preview")
def _preview(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    upload = upload_from(message)
    found = preview(upload)
    with session.lock:
        number = f"upload-{session.revision}-{time.monotonic_ns()}"
        session.uploads = {number: upload}  # one at a time: they may be large
    return {"upload": number, "name": upload.name, **found}


@action("open", changes=True)
def _open(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    upload = session.uploads.get(str(message.get("upload")))
    if upload is None:
        raise ParameterError("This file is no longer at hand: drop it again.")
    if upload.kind == "text":
        raise ParameterError("The text has mistakes: mend them in the editor.")
    path = session.keep_file(upload.name, upload.content) if upload.kind != "rules" else None
    if upload.kind == "data":
        bags, losses = read_data(upload, message)
        columns = {name: message[name] for name in ("bag", "label") if message.get(name)}
        return {**_open_data(session, Data(bags, upload.name, columns, path), message), "losses": losses}
    documents = tuple(map(check_document, upload.documents))
    name = upload.name.rsplit(".", 1)[0]
    context = Context(name, session.context.data, upload.model, path, documents, frontier=upload.frontier)
    return session.commit(documents[0], f"Opened {upload.name}", context)


def _open_data(session: Session, data: Data, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show other bags; if that is asked for, rules to start with come from them."""
    context = session.context.replace(data=data)
    if message.get("start"):
        return _start_from(session, context, f"Started from {data.name}")
    found = session.commit(session.document, f"Opened {data.name}", context)
    try:
        return {**found, "fits": session.case.seen is not None}
    except ValueError:
        return {**found, "fits": False}


def _start_from(session: Session, context: Context, label: str) -> dict[str, Any]:
    """Begin anew with the variables of the data and one rule about every bag."""
    if context.bags is None:
        raise InputError("There are no bags yet: open a data file.")
    found = check_document(starting_rules(context.bags))
    return session.commit(found, label, Context(context.name, context.data))


@action("close_data", changes=True)
def _close_data(session: Session, _: Mapping[str, Any]) -> dict[str, Any]:
    if session.context.data is None:
        return {"changed": False}
    label = f"Closed {session.context.data.name or 'the data'}"
    return session.commit(session.document, label, session.context.replace(data=None))


@action("start", changes=True)
def _start(session: Session, _: Mapping[str, Any]) -> dict[str, Any]:
    return _start_from(session, session.context, "Started from the data")


@action("save")
def _save(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Write an export into the folder in which the studio was started."""
    if session.folder is None:
        raise ParameterError("There is no folder to save into: export the file instead.")
    version = session.history.current.number
    made = export(session.case, session.context, message)
    name = plain_name(message.get("name") or made["name"])
    path = session.folder / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ParameterError(f"{name} is not a plain file: choose another name.")
    if path.exists() and message.get("overwrite") is not True:
        raise Refused("exists", f"{name} exists already. Overwrite it?")
    with storage.own_names():  # a link that appeared meanwhile is not followed
        storage.write_atomically(path, base64.b64decode(made["content"]))
    with session.lock:
        session.saved = {"file": name, "version": version}
        session.push({"type": "saved", **session.saved})
    return {"name": name, "losses": made["losses"]}

"""Messages about findings and versions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fuzzymil.studio import diagnosis
from fuzzymil.studio.difference import difference
from fuzzymil.studio.session import Session, action


@action("diagnose")
def _diagnose(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    return {"findings": diagnosis.findings(session.case)}


@action("undo")
def _undo(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        label = session.history.undo_label
        if label is not None:
            session.note({"undo": True})
        session.history.undo()
        session.changed(f"Undid: {label}")
        return {"version": session.history.current.number}


@action("redo")
def _redo(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        if session.history.redo_label is not None:
            session.note({"redo": True})
        session.history.redo()
        session.changed(f"Redid: {session.history.current.label}")
        return {"version": session.history.current.number}


@action("history")
def _history(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    del message
    return {"versions": list(session.history.listed())}


@action("name_version")
def _name_version(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        number = message.get("version", session.history.current.number)
        named = session.history.named(number, message.get("name"))
        session.note({"name": [named.number, named.name]})
        session.history.name(named.number, named.name)
        session.changed(f"Named version {named.number}")
        return {"version": named.number}


@action("goto")
def _goto(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        found = session.history.version(message.get("version"))
        return session.commit(found.document, f"Went back to {found.name or found.label}", found.context)


@action("compare")
def _compare(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    old, new = (session.history.version(message.get(side)) for side in ("old", "new"))
    cases = [session.case_of(each) for each in (old, new)]
    sides = {
        side: {"version": each.number, "label": each.name or each.label} for side, each in (("old", old), ("new", new))
    }
    return {**difference(*cases), **sides}

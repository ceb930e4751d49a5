"""Messages about files."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.rules.activations import matched
from fuzzymil.studio import files
from fuzzymil.studio.context import Context, Data
from fuzzymil.studio.edits import checked_document
from fuzzymil.studio.files import Upload
from fuzzymil.studio.session import Refused, Session, action
from fuzzymil.studio.start import starter


def _uploads(session: Session) -> dict[str, Upload]:
    found: dict[str, Upload] = session.kept.setdefault("uploads", {})
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
        if upload.kind == "text":
            raise ParameterError("The text has mistakes: mend them in the editor.")
        path = session.keep_file(upload.name, upload.content) if upload.kind != "rules" else None
        if upload.kind == "data":
            bags, losses = files.read_data(upload, message)
            columns = {name: message[name] for name in ("bag", "label") if message.get(name)}
            return {**_opened_data(session, Data(bags, upload.name, columns, path), message), "losses": losses}
        documents = list(map(checked_document, upload.documents))
        context = Context(
            upload.name.rsplit(".", 1)[0], session.context.data, upload.model, path, members=tuple(documents)
        )
        return session.commit(documents[0], f"Opened {upload.name}", context)


def _opened_data(session: Session, data: Data, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show other bags; if that is asked for, rules to start with come from them."""
    context = session.context.replaced(data=data)
    if message.get("start"):
        return _started(session, context, f"Started from {data.name}")
    found = session.commit(session.document, f"Opened {data.name}", context)
    try:
        matched(session.case.base, session.case.data)
    except ValueError:
        return {**found, "fits": False}
    return {**found, "fits": True}


def _started(session: Session, context: Context, label: str) -> dict[str, Any]:
    """Begin anew with the variables of the data and one rule about every bag."""
    if context.bags is None:
        raise InputError("There are no bags yet: open a data file.")
    found = checked_document(starter(context.bags))
    return session.commit(found, label, Context(context.name, context.data))


@action("start")
def _start(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    with session.lock:
        session.check_revision(message)
        return _started(session, session.context, "Started from the data")


@action("show_member")
def _show_member(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Show another rule base of the committee; what was changed in this one stays in its place."""
    with session.lock:
        session.check_revision(message)
        if session.training is not None and session.training["running"]:
            raise Refused("busy", "Training is under way: stop it first.")
        member = message.get("member")
        if member == session.context.member:
            return {"changed": False}
        context, document = session.context.showing(member, session.document)
        n_members = len(context.members)
        return session.commit(document, f"Showed member {context.member + 1} of {n_members}", context)


@action("losses")
def _losses(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    return {"losses": files.lost(session.case, session.context, message.get("format"))}


@action("export")
def _export(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    return files.exported(session.case, session.context, message)


@action("save")
def _save(session: Session, message: Mapping[str, Any]) -> dict[str, Any]:
    """Write an export into the folder in which the studio was started."""
    if session.folder is None:
        raise ParameterError("There is no folder to save into: export the file instead.")
    version = session.history.current.number
    made = files.exported(session.case, session.context, message)
    name = files.plain_name(message.get("name") or made["name"])
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

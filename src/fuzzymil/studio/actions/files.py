"""Messages about files."""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from typing import Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.rules.inference import matched
from fuzzymil.studio import files
from fuzzymil.studio.document import Document
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
    session.bags, session.data_name = bags, name
    fits = True
    try:
        matched(session.case.base, session.case.data)
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
    storage.write_atomically(path, base64.b64decode(made["content"]))
    with session.lock:
        session.saved = {"file": name, "version": version}
        session.push({"type": "saved", **session.saved})
    return {"name": name, "losses": made["losses"]}

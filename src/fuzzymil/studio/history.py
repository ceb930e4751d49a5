"""Every state of a document: undo and redo without limit, named versions, and the journal that keeps them."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterator
from typing import Any

from fuzzymil._utils.errors import ParameterError
from fuzzymil.studio.context import Context
from fuzzymil.studio.document import Document

__all__ = ["History", "Version", "now"]

_PARSED = 64  # latest versions whose rules are kept parsed; older ones are parsed again when they are needed


@dataclasses.dataclass(frozen=True)
class Version:
    """One state: its number, what led to it, when, the data and model next to it, and its name if it was given one."""

    number: int
    label: str
    when: str
    document: Document
    context: Context
    name: str = ""


class History:
    """All versions of a document, and the path that undo and redo walk.

    Parameters
    ----------
    document : Document
        The first version.
    label : str
        Where it came from.
    when : str, optional
        Default: now.
    context : Context, optional
        The data and model that were opened with it.

    Examples
    --------
    >>> rule = "VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = {}"
    >>> history = History(Document(rule.format(1)), "Opened")
    >>> history.add(Document(rule.format(2)), "Changed rule 1").number
    1
    >>> history.undo().document.text == rule.format(1), history.redo_label
    (True, 'Changed rule 1')
    """

    def __init__(
        self, document: Document, label: str = "Opened", when: str | None = None, context: Context | None = None
    ) -> None:
        self.versions = [Version(0, label, when or now(), document, context or Context())]
        self._done, self._undone = [0], list[int]()

    @property
    def current(self) -> Version:
        """The version that is shown."""
        return self.versions[self._done[-1]]

    @property
    def undo_label(self) -> str | None:
        """What undo would take back; None if there is nothing."""
        return self.current.label if len(self._done) > 1 else None

    @property
    def redo_label(self) -> str | None:
        """What redo would do again; None if there is nothing."""
        return self.versions[self._undone[-1]].label if self._undone else None

    def add(self, document: Document, label: str, when: str | None = None, context: Context | None = None) -> Version:
        """Add a version after the current one; what was undone leaves the path, but stays a version."""
        made = Version(len(self.versions), label, when or now(), document, context or self.current.context)
        self.versions.append(made)
        self._done.append(made.number)
        self._undone.clear()
        if len(self.versions) > _PARSED:
            old = self.versions[-_PARSED - 1].document
            for name in ("rules", "active", "lines"):
                vars(old).pop(name, None)
        return made

    def undo(self) -> Version:
        """Go one version back on the path."""
        if len(self._done) < 2:
            raise ParameterError("There is nothing to undo.")
        self._undone.append(self._done.pop())
        return self.current

    def redo(self) -> Version:
        """Go one version forward on the path."""
        if not self._undone:
            raise ParameterError("There is nothing to redo.")
        self._done.append(self._undone.pop())
        return self.current

    def version(self, number: object) -> Version:
        """Return a version by its number."""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(self.versions):
            last = len(self.versions) - 1
            raise ParameterError(f"There is no version {number!r:.60}; they are numbered from 0 to {last}.")
        return self.versions[number]

    def named(self, number: object, name: object) -> Version:
        """Return a version with another name, which it does not have yet."""
        found = self.version(number)
        if not isinstance(name, str) or len(name) > 200:
            raise ParameterError("The name of a version must be text of at most 200 characters.")
        return dataclasses.replace(found, name=name.strip())

    def name(self, number: object, name: object) -> None:
        """Give a version a name; an empty one takes it away."""
        named = self.named(number, name)
        self.versions[named.number] = named

    @property
    def reference(self) -> Version:
        """The version that changes are counted from: the last named one on the path, or the first one."""
        named = [self.versions[n] for n in self._done if self.versions[n].name]
        return named[-1] if named else self.versions[self._done[0]]

    def listed(self) -> Iterator[dict[str, Any]]:
        """Yield the versions on the path, and all named ones, oldest first."""
        ahead = set(self._undone)
        path = {*self._done, *ahead}
        for each in self.versions:
            if each.number in path or each.name:
                yield {
                    "version": each.number,
                    "label": each.label,
                    "when": each.when,
                    "name": each.name or None,
                    "current": each.number == self.current.number,
                    "undone": each.number in ahead,
                    "off_path": each.number not in path,
                }


def now() -> str:
    """Return the time as text."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

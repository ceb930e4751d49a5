"""What belongs to a document besides its text: the data, how a model reads its output, and its committee."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fuzzymil._utils.errors import ParameterError
from fuzzymil._utils.text import whole_characters
from fuzzymil.bags import Bags
from fuzzymil.estimators.rule_model import ClassReading
from fuzzymil.studio.document import Document

__all__ = ["Context", "Data"]


class Data:
    """Bags and where they came from; those of an earlier session are read again when they are first needed.

    Parameters
    ----------
    bags : Bags, optional
        None: in the file at ``path``.
    name : str
        What the data are called.
    columns : mapping, optional
        The arguments of `fuzzymil.datasets.read_bags` that the file was read with: ``bag``, ``label``, ``format``.
    path : Path, optional
        Where the file is. None: the bags came from no file.

    Examples
    --------
    >>> Data(Bags.from_list([[[0.0]]]), "sky").bags.n_bags
    1
    >>> Data(None, "sky.csv", path=Path("absent/sky.csv")).problem
    'sky.csv was open in an earlier session, but is no longer there (absent/sky.csv): open it again.'
    """

    def __init__(
        self,
        bags: Bags | None,
        name: str = "",
        columns: Mapping[str, Any] | None = None,
        path: Path | None = None,
    ) -> None:
        self.name, self.columns, self.path = whole_characters(name), dict(columns or {}), path
        self._given = bags

    @functools.cached_property
    def _read(self) -> tuple[Bags | None, str | None]:
        if self._given is not None:
            return self._given, None
        if self.path is None:
            return None, f"{self.name or 'The data'} of an earlier session came from no file: open a data file."
        if not (self.path.is_file() or self.path.is_dir()):
            gone = f"is no longer there ({whole_characters(str(self.path))}): open it again."
            return None, f"{self.name} was open in an earlier session, but {gone}"
        from fuzzymil.datasets import read_bags

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # said when it was opened
                return read_bags(self.path, **self.columns), None
        except (ValueError, TypeError, OSError, ImportError) as problem:
            return None, f"{self.name}, which was open in an earlier session, cannot be read: {problem}"

    @property
    def bags(self) -> Bags | None:
        """The bags; None if they are gone."""
        return self._read[0]

    @property
    def problem(self) -> str | None:
        """Why the bags are gone."""
        return self._read[1]

    def is_same_file(self, other: Data | None) -> bool:
        """Return whether two data came from the same place, read in the same way, whatever was there at the time."""
        return other is not None and (self.name, self.path, self.columns) == (other.name, other.path, other.columns)


@dataclasses.dataclass(frozen=True, eq=False)
class Context:
    """Where a document stands: opening a file changes it, editing rules does not.

    Parameters
    ----------
    name : str
        What the rules are called.
    data : Data, optional
    model : ClassReading, optional
        How the model reads its output, if one was opened.
    model_file : Path, optional
        Where that model is kept. None: it came with the start of the session.
    members : tuple of Document
        The rule bases of a committee, whose outputs are averaged; the current document takes the place of one. Empty
        if there is only one rule base.
    member : int
        The place of that one.

    Examples
    --------
    >>> one, two = (Document(f"VARIABLE x: low = Gaussian({n}, 1)  IF x is low THEN y = 1") for n in (1, 2))
    >>> context, shown = Context(members=(one, two)).showing(1, one)
    >>> context.member, shown == two, context.others == (one,)
    (1, True, True)
    """

    name: str = "untitled"
    data: Data | None = None
    model: ClassReading | None = None
    model_file: Path | None = None
    members: tuple[Document, ...] = ()
    member: int = 0

    def __post_init__(self) -> None:
        if len(self.members) == 1:
            object.__setattr__(self, "members", ())
        if not 0 <= self.member < max(1, len(self.members)):
            raise ParameterError(f"There is no member {self.member!r:.60} of {len(self.members)}.")

    @property
    def bags(self) -> Bags | None:
        """The bags, if any are open and their file is still there."""
        return None if self.data is None else self.data.bags

    def replaced(self, **fields: Any) -> Context:
        """Return the context with other fields."""
        return dataclasses.replace(self, **fields)

    @functools.cached_property
    def others(self) -> tuple[Document, ...]:
        """The members of the committee that are not shown."""
        return tuple(each for place, each in enumerate(self.members) if place != self.member)

    def showing(self, member: object, document: Document) -> tuple[Context, Document]:
        """Return the context in which another member is shown, and that member.

        ``document``, which was shown so far, stays in its place with its edits. The threshold, and the class that an
        output is about, belong to the committee and come along.
        """
        if not self.members:
            raise ParameterError("The rules are no committee: there is only one rule base.")
        last = len(self.members) - 1
        if not isinstance(member, int) or isinstance(member, bool) or not 0 <= member <= last:
            raise ParameterError(f"There is no member {member!r:.60}; they are numbered from 0 to {last}.")
        kept = tuple(document if place == self.member else each for place, each in enumerate(self.members))
        shown = kept[member].replaced(threshold=document.threshold, positive=document.positive)
        return self.replaced(members=kept, member=member), shown

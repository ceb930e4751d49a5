"""Methods that `RuleBase` and `MamdaniRules` share: how they are shown, and JSON files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from fuzzymil._utils import html, storage
from fuzzymil._utils.discovery import package_above
from fuzzymil._utils.errors import ParameterError
from fuzzymil._version import __version__
from fuzzymil.rules import json
from fuzzymil.rules._rule_set import RuleSet
from fuzzymil.rules.rule import Variable

_LINES = 40  # of rules, when they are shown without being printed


class Serializable(ABC):
    """Rules that can be shown and saved; see `fuzzymil.rules.files` for other formats than JSON."""

    _format: ClassVar[str]

    # ------------------------------------------------------------------ supplied by subclasses

    @abstractmethod
    def to_text(self, max_conditions: int | None = None, digits: int | None = 4) -> str:
        """Return the rules as if-then text."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the rules as plain values that JSON stores exactly."""

    @classmethod
    @abstractmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Rebuild rules from `to_dict`."""

    @abstractmethod
    def _parts(self) -> tuple[RuleSet, tuple[Variable, ...]]:
        """Return the rules (of Mamdani rules the premises), and the outputs of Mamdani rules."""

    @abstractmethod
    def _cards(self) -> str:
        """Return the rules as cards, in HTML."""

    # ------------------------------------------------------------------ text and JSON

    def __str__(self) -> str:
        return self.to_text(max_conditions=None if self._parts()[0].n_features <= 12 else 8)

    def __repr__(self) -> str:
        base = self._parts()[0]
        counts = [(base.n_rules, "rule"), (base.n_features, "feature")]
        facts = ", ".join(f"{n:,} {noun}{'' if n == 1 else 's'}" for n, noun in counts)
        lines = str(self).splitlines()
        more = [f"... ({len(lines) - _LINES} more lines)"] if len(lines) > _LINES else []
        return "\n".join([f"{type(self).__name__}({facts})", *lines[:_LINES], *more])

    def _repr_html_(self) -> str:
        return html.fragment(self._cards())

    def save(self, path: storage.Path_) -> None:
        """Write the rules as JSON; if that fails, an existing file stays intact.

        Examples
        --------
        >>> import tempfile
        >>> from fuzzymil.rules import RuleBase
        >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     rules.save(f"{folder}/rules.json")
        ...     RuleBase.load(f"{folder}/rules.json") == rules
        True
        """
        _check_ending(path, "save writes JSON", "write_rules(rules, path)")
        content = {"library": __version__, **self.to_dict()}
        storage.write_document(path, self._format, json.VERSIONS[self._format], content)

    @classmethod
    def load(cls, path: storage.Path_) -> Self:
        """Read rules written by `save`; nothing in the file is executed."""
        _check_ending(path, "load reads JSON", "read_rules(path)")
        return cls.from_dict(storage.read_document(path, {cls._format: json.VERSIONS[cls._format]}))

    def studio(self, bags: Any = None) -> Any:
        """Open the rule studio in a notebook: see, drag, write and train these rules.

        Outside notebooks, use ``fuzzymil studio`` on the command line.

        Parameters
        ----------
        bags : Bags, or anything `as_bags` accepts, optional

        Returns
        -------
        StudioWidget
            Shows the studio where it is displayed; its ``rules`` are the rules as they are now. Requires anywidget:
            ``pip install "fuzzymil[notebook]"``.
        """
        return package_above("fuzzymil.studio.widget").show(self, bags)


def _check_ending(path: storage.Path_, does: str, instead: str) -> None:
    """Raise `ParameterError` if the name of a file says that it holds another format."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in ("", ".json"):
        raise ParameterError(f"{does}, and {ending} means another format: use fuzzymil.rules.files.{instead}.")

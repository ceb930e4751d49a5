"""The studio in a notebook: the same page and the same messages, through a widget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fuzzymil._utils.errors import MissingExtraError
from fuzzymil.bags import as_bags
from fuzzymil.rules import RuleBase
from fuzzymil.studio import training  # noqa: F401
from fuzzymil.studio.document import Document
from fuzzymil.studio.messages import json_value
from fuzzymil.studio.session import Session

try:
    import anywidget
    import traitlets
except ImportError as problem:
    raise MissingExtraError(
        f"The studio in a notebook needs {problem.name}, which is not installed: pip install 'fuzzymil[notebook]'."
    ) from None

_PAGE = Path(__file__).parent / "page"


def _sources(ending: str) -> dict[str, str]:
    """Return the files of the page with an ending, by their path inside it."""
    files = sorted(_PAGE.rglob(f"*{ending}"))
    return {file.relative_to(_PAGE).as_posix(): file.read_text(encoding="utf-8") for file in files}


class StudioWidget(anywidget.AnyWidget):
    """The studio as a widget of Jupyter, VS Code or marimo.

    ``rules``: the rules as they are now.
    """

    _esm = _PAGE / "widget.js"
    _modules = traitlets.Dict().tag(sync=True)
    _style = traitlets.Unicode().tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(_modules=_sources(".js"), _style="\n".join(_sources(".css").values()))
        self.session = session
        session.windows.append(self._push)
        self.on_msg(self._answer)

    def _push(self, message: dict[str, Any]) -> None:
        self.send(json_value(message))

    def _answer(self, widget: Any, content: Any, buffers: Any) -> None:
        del widget, buffers
        self.send(json_value(self.session.answer(content)))

    @property
    def rules(self) -> RuleBase:
        """The rules as they are now, with weight 0 where they are switched off."""
        return self.session.document.active

    def close(self) -> None:
        """Close the widget, and end what runs in the background."""
        self.session.close()
        super().close()


def show(rules: RuleBase, bags: Any = None, *, name: str = "rules") -> StudioWidget:
    """Return the studio for rules, and bags if there are any, as a widget to show in a notebook.

    Parameters
    ----------
    rules : RuleBase
    bags : Bags, or anything `as_bags` accepts, optional
    name : str
        What exported files are called.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1")
    >>> studio = show(rules, [[[0.0]], [[2.0]]])
    >>> studio.rules == rules
    True
    """
    seen = None if bags is None else as_bags(bags)
    return StudioWidget(Session(Document.of(rules), seen, name=name))

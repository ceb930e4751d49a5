"""``fuzzymil studio``: see, drag, write and train rules in the browser."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fuzzymil._utils.errors import ParameterError, RuleSyntaxError
from fuzzymil.cli._app import USE, app
from fuzzymil.cli._console import emit, emit_json, is_pipe, note
from fuzzymil.cli._inputs import Columns, holds_rules, read_all_rules, read_data, read_model
from fuzzymil.cli._options import NewData, argument, option

if TYPE_CHECKING:
    from fuzzymil.studio import Document, Session
    from fuzzymil.studio.document import Data


@app.command(rich_help_panel=USE)
def studio(
    rules: Annotated[
        Path | None,
        argument(
            "MODEL|RULES", "Model file written by fit, or a file of rules (.rules, .json, .fll, .fis, .fcl, .fml)."
        ),
    ] = None,
    data: Annotated[Path | None, argument("DATA", "File with the bags.")] = None,
    *,
    demo: Annotated[bool, option(None, "Open the two-concept demonstration.", "--demo")] = False,
    browser: Annotated[
        bool, option(None, "Open the page; otherwise print its address.", "--browser/--no-browser")
    ] = True,
    port: Annotated[
        int, option("NUMBER", "Port to listen to on this machine; 0 chooses a free one.", min=0, max=65535)
    ] = 0,
    reading: NewData,
    as_json: Annotated[bool, option(None, "Print the address as JSON instead of opening the page.", "--json")] = False,
) -> None:
    """Open the rule studio: see, drag, write and train rules in the browser.

    The page is served to this machine alone. Every edit is kept in the folder .fuzzymil-studio, so that nothing is lost
    if the browser or this program dies. Press Ctrl+C to end.

    Without files, it goes on with the latest session of this folder or, if there is none, opens the demonstration.

    Examples
    --------
    fuzzymil studio --demo
    fuzzymil studio model.json visits.csv
    fuzzymil studio expert.rules visits.csv --bag user --label converted
    fuzzymil studio visits.csv --bag user --label converted
    """
    if demo and rules is not None:
        raise ParameterError("--demo opens its own rules and data: leave out the files, or --demo.")
    from fuzzymil.studio.server import Studio

    made = Studio(_session(rules, data, demo, Columns.of(reading)), port)

    def ready() -> None:
        import webbrowser

        if as_json:
            emit_json({"address": made.address, "port": made.port})
        elif not browser:
            emit(made.address)
        else:
            if made.session.notice is not None:
                note(made.session.notice)
            note(f"The studio is at {made.address} (works once). Press Ctrl+C to end.")
            webbrowser.open(made.address)

    with contextlib.suppress(KeyboardInterrupt):  # the usual way to end it
        made.run(ready)


def _session(rules: Path | None, data: Path | None, demo: bool, columns: Columns) -> Session:
    from fuzzymil.rules import Rule, RuleBase, Variable
    from fuzzymil.studio import Document, Session
    from fuzzymil.studio.document import Data
    from fuzzymil.studio.history import last_session
    from fuzzymil.studio.start import demo_bags, demo_document, readable_part, starting_rules

    folder = Path.cwd()
    last = None if demo or rules is not None or data is not None else last_session(folder)
    if last not in (None, "demo"):
        nothing = Document.of(RuleBase((Variable("x"),), (Rule({}, [[0.0]]),)))
        return Session(nothing, name=str(last), folder=folder, provisional=True)
    if demo or (rules is None and data is None):
        return Session(demo_document(), Data(demo_bags(), "two concepts"), name="demo", folder=folder, demo=True)
    if rules is not None and data is None and _holds_data(rules):
        rules, data = None, rules
    documents, reading, remembered, frontier = ([], None, None, None) if rules is None else _read(rules)
    opened = None if data is None else _data(data, columns, remembered)
    bags = None if opened is None else opened.bags
    draft = None
    if documents is None:  # a text with mistakes
        assert rules is not None
        draft = rules.read_text(encoding="utf-8-sig")
        documents = [readable_part(draft)]
        note(f"{rules} has mistakes: they are marked in the Rules view, where you can correct them.")
    elif not documents:
        assert bags is not None
        documents = [starting_rules(bags)]
    return Session(
        documents[0],
        opened,
        name=(rules or data or Path("untitled")).stem,
        model=reading,
        frontier=frontier if len(documents) == 1 else None,
        model_file=None if reading is None or rules is None else rules.absolute(),
        members=documents,
        folder=folder,
        draft=draft,
        provisional=rules is None,
    )


def _holds_data(path: Path) -> bool:
    return not holds_rules(path) and path.suffix.lower() != ".json"


def _read(path: Path) -> tuple[list[Document] | None, Any, Columns | None, Any]:
    """Return the rules of a file, how a model reads them, the columns of its training data, and its frontier.

    None instead of the rules if they are a text with mistakes.
    """
    from fuzzymil.rules.files import ENDINGS
    from fuzzymil.studio import Document

    if holds_rules(path):
        is_text = ENDINGS.get(path.suffix.lower()) == "rules"
        try:
            found = read_all_rules(path)[0]
        except RuleSyntaxError:
            if not is_text:
                raise
            return None, None, None, None
        # A text stays as it was written, with its comments and blank lines.
        return [Document(path.read_text(encoding="utf-8-sig")) if is_text else Document.of(found)], None, None, None
    model, columns = read_model(path, to_answer=True)
    return (
        list(map(Document.of, read_all_rules(path))),
        model._class_reading(),
        columns,
        getattr(model, "frontier", None),
    )


def _data(path: Path, columns: Columns, remembered: Columns | None) -> Data:
    from fuzzymil.studio.document import Data

    found = read_data(path, columns, remembered=remembered)
    told = found.columns.arguments("bag", "label", "decimal", "thousands", "encoding") | columns.arguments("format")
    is_stored = path.exists() and not is_pipe(path) and columns.labels is None  # so that it can be read again
    return Data(found.bags, path.name, told, path.absolute() if is_stored else None)

"""Files: what is opened comes as content, never as a path; what is saved goes into one folder, by a plain name."""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzzymil._utils import storage
from fuzzymil._utils.errors import InputError, ParameterError, RuleSyntaxError, known_name
from fuzzymil.bags import Bags
from fuzzymil.rules import json as rules_json
from fuzzymil.rules.files import ENDINGS, export_rules, read_rules, rules_of_model, what_is_lost
from fuzzymil.rules.files import FORMATS as RULE_FORMATS
from fuzzymil.studio.case import Case
from fuzzymil.studio.document import Context, Document, check_text
from fuzzymil.studio.messages import LIMITS

if TYPE_CHECKING:
    from fuzzymil.datasets.formats import Format

_TITLES = {
    "rules": "Rules as text",
    "json": "Rules as JSON",
    "fll": "fuzzylite (FLL)",
    "fis": "MATLAB (.fis)",
    "fcl": "IEC 61131-7 (FCL)",
    "fml": "IEEE 1855 (FML)",
    "markdown": "Markdown table",
    "latex": "LaTeX table",
    "python": "Rules as Python code",
    "c": "Rules as C code",
}
"""Of formats of rules; others have the title that they were registered with."""

_MORE = [
    ("model", "Fitted model", ".model.json"),
    ("snippet", "Python script that does the same", ".py"),
    ("svg", "Figure (SVG)", ".svg"),
    ("png", "Figure (PNG)", ".png"),
    ("report", "Report (HTML)", ".html"),
]
"""What can be exported besides: format, title, ending."""

_MIME = {".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".html": "text/html"}


def exports() -> list[dict[str, str]]:
    """Return what can be exported: every registered format of rules, and more."""
    known = [*_TITLES, *(name for name in RULE_FORMATS if name not in _TITLES)]
    found = [(name, _TITLES.get(name, RULE_FORMATS[name].title), RULE_FORMATS[name].endings[0]) for name in known]
    return [{"format": name, "title": title, "ending": ending} for name, title, ending in [*found, *_MORE]]


def openable() -> dict[str, list[str]]:
    """Return the endings of the files that can be opened."""
    from fuzzymil.datasets.formats import FORMATS

    return {
        "rules": [ending for ending, name in ENDINGS.items() if RULE_FORMATS[name].read is not None],
        "data": [ending for known in FORMATS.values() for ending in known.suffixes if ending and ending not in ENDINGS],
    }


class Upload:
    """A file that the page sent: its name and content, and what it turned out to be."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name, self.content = name, content
        self.kind = ""
        self.documents: list[Document] = []  # one, or the members of a committee
        self.model: Any = None
        self.frontier: Any = None

    @contextlib.contextmanager
    def as_file(self) -> Iterator[Path]:
        """Yield the content as a file of its own, which is removed afterwards."""
        with tempfile.TemporaryDirectory(prefix="fuzzymil-studio-") as folder:
            path = Path(folder) / self.name
            path.write_bytes(self.content)
            yield path


def plain_name(name: object) -> str:
    """Return the name of a file without a folder; anything else is refused."""
    if not isinstance(name, str) or not re.fullmatch(r"[^\x00-\x1f/\\:*?\"<>|]{1,200}", name) or name.strip(". ") == "":
        raise ParameterError(f"Expected the name of a file, without a folder, got {name!r:.100}.")
    if name.startswith((".", "~", "-")):
        raise ParameterError(f"The name of a file must begin with a letter or digit, got {name!r:.100}.")
    return name


def upload_from(message: Mapping[str, Any]) -> Upload:
    """Return the file that a message carries."""
    text = message.get("content")
    if not isinstance(text, str) or len(text) > LIMITS["file"] * 4 / 3 + 4:
        raise ParameterError(f"Expected a file of at most {LIMITS['file'] // 1_000_000} MB.")
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ParameterError("The content of the file must be base64.") from None
    if not content:
        raise InputError("The file is empty.")
    return Upload(plain_name(Path(str(message.get("name"))).name), content)


# ---------------------------------------------------------------------- opening


def preview(upload: Upload) -> dict[str, Any]:
    """Find out what a file holds, and return what would be opened and what would not."""
    ending = Path(upload.name).suffix.lower()
    with upload.as_file() as path, _unnamed(path):
        if ENDINGS.get(ending) == "json":
            return _from_json(upload, path)
        if ENDINGS.get(ending) == "rules":
            return _from_text(upload)
        if ending in ENDINGS:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                upload.kind, upload.documents = "rules", [Document.of(read_rules(path))]
            return {**_summary(upload), "losses": [str(each.message) for each in caught]}
        return _table(upload, path)


def _from_text(upload: Upload) -> dict[str, Any]:
    """Return what a text of rules says; one with mistakes can still be mended in the editor."""
    try:
        text = check_text(upload.content.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise InputError(f"{upload.name} is not UTF-8 text (byte {problem.start}): save it as UTF-8.") from None
    document = Document(text)
    try:
        _ = document.rules
    except RuleSyntaxError as problem:
        upload.kind = "text"
        n = max(1, len(problem.mistakes))
        what = "1 mistake, which is" if n == 1 else f"{n} mistakes, which are"
        said = f"{what} marked in the text, where you can mend {'it' if n == 1 else 'them'}."
        return {"kind": "text", "summary": said, "text": text, "losses": []}
    upload.kind, upload.documents = "rules", [document]
    return {**_summary(upload), "losses": []}


@contextlib.contextmanager
def _unnamed(path: Path) -> Iterator[None]:
    """Take the place of a file on this machine, which is nobody's business, out of error messages."""
    try:
        yield
    except (ValueError, OSError) as problem:
        message = str(problem).replace(str(path), path.name).replace(str(path.parent), "")
        raise InputError(message) from None


def _from_json(upload: Upload, path: Path) -> dict[str, Any]:
    document = storage.read_document(path, {**rules_json.MODEL, **rules_json.VERSIONS})
    if document["format"] in rules_json.VERSIONS:
        upload.kind, upload.documents = "rules", [Document.of(read_rules(path))]
        return {**_summary(upload), "losses": []}
    members = rules_of_model(document, upload.name)
    from fuzzymil.estimators import SavedModel, model_from_dict

    model = SavedModel.of(document, name=upload.name) or model_from_dict(document, name=upload.name)
    reading = getattr(model, "_class_reading", None)
    upload.kind, upload.documents = "model", list(map(Document.of, members))
    upload.model = None if reading is None else reading()
    upload.frontier = document.get("frontier") if len(members) == 1 else None
    return {**_summary(upload), "losses": []}


def _summary(upload: Upload) -> dict[str, Any]:
    first, n_members = upload.documents[0], len(upload.documents)
    n_rules, n_variables = first.rules.n_rules, len(first.rules.variables)
    size = f"{n_rules} rule{'s' * (n_rules != 1)} over {n_variables} variable{'s' * (n_variables != 1)}"
    return {
        "kind": upload.kind,
        "summary": size if n_members == 1 else f"a committee of {n_members} rule bases; the first has {size}",
        "text": first.text,
    }


def _table(upload: Upload, path: Path) -> dict[str, Any]:
    """Return what a file of bags holds; where its columns are not clear, the page asks for them."""
    from fuzzymil.datasets import guess_format

    upload.kind = "data"
    found: dict[str, Any] = {"kind": "data", "columns": _column_names(path), "bag": None, "label": None}
    if _format_of(path) is None:
        first = upload.content[:200].decode("utf-8", "replace").partition("\n")[0].strip()[:60]
        raise InputError(
            f"{upload.name} is no table of bags: it begins with {first!r}. Expected a header line with two columns or "
            "more: one names the bag of each row, the others are its features."
        )
    try:
        guess = guess_format(path)
        found |= {"bag": guess.bag, "label": guess.label}
        bags, said = read_data(upload, {})
    except ValueError as problem:
        return {**found, "summary": str(problem).replace(f"{path.parent}/", ""), "losses": [], "complete": False}
    size = repr(bags).removeprefix("Bags(").removesuffix(")")
    return {**found, "summary": f"{guess}: {size}", "losses": said, "complete": True}


def _format_of(path: Path) -> Format | None:
    """Return the format of a file of bags; None if it is none that is known."""
    from fuzzymil.datasets.formats import FORMATS, DataFile

    file = DataFile(path)
    by_rank = sorted(FORMATS.values(), key=lambda known: -known.rank)
    return next((known for known in by_rank if known.matches(file)), None)


def _column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table; none for other files."""
    from fuzzymil.datasets.formats import DataFile

    known = _format_of(path)
    with contextlib.suppress(ValueError):
        return [] if known is None or known.column_names is None else known.column_names(DataFile(path))
    return []


def _check_n_rows(path: Path) -> None:
    """Refuse a file of too many rows before it is read: a small one may unpack to any size."""
    from fuzzymil.datasets.formats import DataFile

    file, n_rows = DataFile(path), 0
    if file.start.startswith(b"PAR1"):
        from fuzzymil.datasets.formats.parquet import n_rows_of

        n_rows = n_rows_of(file)
    else:
        for block in file.blocks():
            n_rows += block.count(b"\n")
            if n_rows > LIMITS["instances"]:
                break
    if n_rows > LIMITS["instances"]:
        raise InputError(f"The file has more than {LIMITS['instances']:,} rows, which is what the studio takes.")


def read_data(upload: Upload, message: Mapping[str, Any]) -> tuple[Bags, list[str]]:
    """Return the bags in a file, and what was left out of it."""
    from fuzzymil.datasets import read_bags

    columns = {name: message[name] for name in ("bag", "label") if message.get(name) not in (None, "")}
    for name, value in columns.items():
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise ParameterError(f"{name} must be a column, got {value!r:.60}.")
    with upload.as_file() as path, _unnamed(path), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        _check_n_rows(path)
        bags = read_bags(path, **columns)
    if bags.n_instances > LIMITS["instances"]:
        raise InputError(f"The file has {bags.n_instances:,} instances; the studio takes {LIMITS['instances']:,}.")
    return bags, [str(each.message).replace(str(path), upload.name) for each in caught]


# ---------------------------------------------------------------------- exporting


def _ending(format: object) -> str:
    endings = {each["format"]: each["ending"] for each in exports()}
    known_name("format", format, endings)
    return endings[str(format)]


def losses_of(case: Case, context: Context, format: object) -> list[str]:
    """Return what a format does not keep; a format that cannot hold the rules raises."""
    _ending(format)
    found = []
    if context.members and format != "snippet":
        found = [f"Only the member that is shown, {context.member + 1} of {len(context.members)}, is written."]
    if format in ("model", "report"):
        if case.bags is None or case.bags.labels is None:
            what = "fitted model" if format == "model" else "report"
            raise InputError(f"A {what} needs labels: open a data file with a label column, or export the rules.")
        return found if format == "report" else [*found, "The history of training is not part of it."]
    if format in ("svg", "png", "snippet"):
        return found
    found += what_is_lost(case.rules, str(format))
    if case.document.off:
        found += ["Rules that are switched off have the weight 0."]
    return found


def export(case: Case, context: Context, message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file: its name, type and content, and what it does not keep."""
    format = message.get("format")
    ending = _ending(format)
    losses = losses_of(case, context, format)
    content = _content(case, context, str(format), message)
    raw = content.encode("utf-8") if isinstance(content, str) else content
    return {
        "name": plain_name(re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", context.name).lstrip(".~-") or "rules") + ending,
        "mime": _MIME.get(Path(ending).suffix, "text/plain"),
        "content": base64.b64encode(raw).decode("ascii"),
        "losses": losses,
    }


def _content(case: Case, context: Context, format: str, message: Mapping[str, Any]) -> str | bytes:
    rules = case.rules
    if format == "rules":
        return case.document.text if not case.document.off else rules.to_source()
    if format == "model":
        from fuzzymil.estimators import model_to_dict

        return json.dumps(model_to_dict(_model(case)), indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    if format == "snippet":
        return _snippet(case, context)
    if format in ("svg", "png"):
        return _figure(case, format, message)
    if format == "report":
        from fuzzymil.report import Report

        return Report.of(_model(case), case.data, title=context.name, max_bags=60).to_html()
    return export_rules(rules, format)


def _model(case: Case) -> Any:
    """Return an expert system with the rules, fitted to the labels of the bags."""
    from fuzzymil.estimators import MIMamdani, MISugeno

    threshold = None if case.classes is None else case.threshold
    positive = None if case.classes is None or case.positive_name is None else case.classes[case.positive]
    make: Any = MIMamdani if case.rules.concludes_sets else MISugeno
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # worse than chance: the page shows how well it does
        return make(rules=case.rules, threshold=threshold, pos_label=positive, missing="ignore").fit(case.data)


def _figure(case: Case, format: str, message: Mapping[str, Any]) -> bytes:
    from matplotlib import pyplot

    from fuzzymil.explain import explain
    from fuzzymil.plots import ExplanationDisplay, MembershipDisplay
    from fuzzymil.studio.views import place_of

    if message.get("bag") is not None:
        one = case.data[[place_of(case.data, message["bag"])]]
        display: Any = ExplanationDisplay.from_explanation(explain(case.rules, one, reading=case.explained))
    else:
        display = MembershipDisplay.from_rules(case.rules)
    figure = display.plot()
    try:
        made = io.BytesIO()
        figure.savefig(made, format=format, dpi=150)
        return made.getvalue()
    finally:
        pyplot.close(figure)


def _snippet(case: Case, context: Context) -> str:
    """Return a Python script that gets the same answers."""
    every = [case.rules, *(each.active for each in case.others)]
    lines = [f"# The rules {context.name!r:.80}, as in the studio.".replace("\n", " "), ""]
    lines += ["import numpy as np"] if len(every) > 1 or len(case.outputs) > 1 else []
    lines += ["from fuzzymil.datasets import read_bags", "from fuzzymil.rules.files import parse_rules", ""]
    for number, rules in enumerate(every, start=1):
        source = rules.to_source()
        text = source.replace("\\", "\\\\").replace('"""', r"\"\"\"")
        name = "rules" if len(every) == 1 else f"rules_{number}"
        lines += [f'{name} = parse_rules("""', text.rstrip("\n"), '""")', ""]
    data = context.data
    arguments = [repr(data.name if data is not None and data.name else "data.csv")]
    arguments += [f"{name}={value!r}" for name, value in ({} if data is None else data.columns).items()]
    lines += [f"bags = read_bags({', '.join(arguments)})"]
    if len(every) == 1:
        lines += ["outputs = rules.infer(bags).output", ""]
    else:
        names = ", ".join(f"rules_{number}" for number in range(1, len(every) + 1))
        lines += [f"outputs = np.mean([rules.infer(bags).output for rules in ({names})], axis=0)", ""]
    return "\n".join([*lines, *_loop(case)]) + "\n"


def _loop(case: Case) -> list[str]:
    """Return the end of the script: it prints each bag with its output and, if there are classes, the decision."""
    loop = "for bag, output in zip(bags.ids, outputs):"
    if case.names is None:
        return [loop, "    print(bag, *output)"]
    if len(case.outputs) > 1:
        return [f"classes = {case.names!r}", loop, "    print(bag, *output, classes[np.argmax(output)])"]
    positive, other = case.names[case.positive], case.names[1 - case.positive]
    return [loop, f"    print(bag, output[0], {positive!r} if output[0] > {case.threshold!r} else {other!r})"]

"""How large the library is, and how much of it a call enters: ``python tools/size.py``.

The first table counts, per package, lines, lines of code (without blank lines, comments and docstrings), files, and
modules that only one other module imports. The second counts the files and functions of the library that a call
enters, and the edges: pairs of files of which one calls the other. Imports are not counted.
"""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import tempfile
import threading
import tokenize
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "fuzzymil"


def code_lines(text: str) -> int:
    """Return the number of lines with code."""
    lines: set[int] = set()
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                lines.difference_update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(lines)


def importers(folder: Path) -> dict[str, set[str]]:
    """Return the modules that import each module of the library; a package does not count for its own modules."""
    paths = {_name(path): path for path in folder.rglob("*.py")}
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in paths.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            targets: list[str] = []
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module:
                targets = [f"{node.module}.{alias.name}" for alias in node.names] + [node.module]
            for target in targets:
                if target in paths and target != name:
                    found[target].add(name)
    return found


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sizes() -> list[tuple[str, int, int, int, int]]:
    """Return a row per package: its name, lines, lines of code, files, and modules with a single importer."""
    found = importers(SOURCE)
    rows = []
    for part in sorted(path for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()):
        paths = [part] if part.is_file() else sorted(part.rglob("*.py"))
        texts = [path.read_text("utf-8") for path in paths]
        single = sum(path.stem != "__init__" and len(found[_name(path)]) == 1 for path in paths)
        lines = sum(text.count("\n") for text in texts)
        rows.append((part.stem, lines, sum(map(code_lines, texts)), len(paths), single))
    return rows


def entered(call: Callable[[], Any]) -> tuple[int, int, int]:
    """Return the number of files and functions of the library that a call enters, and of edges between the files."""
    files, functions, edges = set(), set(), set()
    prefix = str(SOURCE)

    def watch(frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(prefix) or code.co_name == "<module>":
            return
        files.add(code.co_filename)
        if not code.co_name.startswith("<"):
            functions.add((code.co_filename, code.co_qualname))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(prefix):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != code.co_filename:
            edges.add((caller.f_code.co_filename, code.co_filename))

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(files), len(functions), len(edges)


def calls(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return the calls to watch, in the order in which they are made."""
    from typer.testing import CliRunner

    from fuzzymil import RuleClassifier
    from fuzzymil.cli import app
    from fuzzymil.datasets import make_two_concepts

    bags = make_two_concepts(random_state=3)
    model = RuleClassifier(random_state=0)
    table = ROOT / "examples" / "visits.csv"
    command = ["fit", str(table), "--bag", "user", "--label", "converted", "-o", str(folder / "model.json")]

    def fit_file() -> None:
        result = CliRunner().invoke(app, command)
        if result.exit_code:
            raise RuntimeError(result.output)

    return {
        "RuleClassifier().fit(bags)": lambda: model.fit(bags),
        ".predict(bags)": lambda: model.predict(bags),
        ".explain(bags, position=0)": lambda: model.explain(bags, position=0),
        "fuzzymil fit visits.csv": fit_file,
    }


def main() -> None:
    """Print both tables."""
    rows = sizes()
    print(f"{'package':<14}{'lines':>8}{'code':>8}{'files':>7}{'single importer':>17}")
    for name, *numbers in [*rows, ("all", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True)))]:
        print(f"{name:<14}{numbers[0]:>8,}{numbers[1]:>8,}{numbers[2]:>7}{numbers[3]:>17}")
    print(f"\n{'call':<30}{'files':>7}{'functions':>11}{'edges':>7}")
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        for name, call in calls(Path(folder)).items():
            files, functions, edges = entered(call)
            print(f"{name:<30}{files:>7}{functions:>11}{edges:>7}")


if __name__ == "__main__":
    main()

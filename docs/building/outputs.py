"""Write into pages what their examples print now: ``python docs/building/outputs.py docs/quickstart.md ...``.

Tracebacks, and outputs that leave out a part by dots, are for a person to change. Outputs that still match, dots
included, stay as they are. Read the difference, and the sentences around it, before you commit: a sentence that names
a number or a rule is not changed.
"""

from __future__ import annotations

import contextlib
import doctest
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[2] / "examples"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Recorder(doctest.DocTestRunner):
    """Keep what examples print if it is not what the page shows."""

    def __init__(self) -> None:
        super().__init__(verbose=False, optionflags=FLAGS)
        self.printed: list[tuple[doctest.Example, str]] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.printed.append((example, got))

    def report_unexpected_exception(self, out: Any, test: doctest.DocTest, example: doctest.Example, exc: Any) -> None:
        print(f"line {example.lineno + 1} fails: {exc[0].__name__}: {exc[1]}")


def update(page: Path) -> int:
    """Run the examples of a page next to the example files, write what they print, and return how many changed."""
    text, recorder = page.read_text("utf-8"), Recorder()
    test = doctest.DocTestParser().get_doctest(text, {"__name__": "__main__"}, page.name, str(page), 0)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for example in EXAMPLES.glob("*.csv"):
            shutil.copy(example, folder)
        recorder.run(test)
    lines = text.splitlines(keepends=True)
    by_hand = [example for example, _ in recorder.printed if "..." in example.want]
    for example in by_hand:
        print(f"{page}, line {example.lineno + 1}: to be changed by hand")
    for example, got in reversed(recorder.printed):
        if example in by_hand:
            continue
        start = example.lineno + example.source.count("\n")
        shown = [line if line.strip() else "<BLANKLINE>\n" for line in got.splitlines(keepends=True)]
        lines[start : start + example.want.count("\n")] = [" " * example.indent + line for line in shown]
    page.write_text("".join(lines), "utf-8")
    return len(recorder.printed)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        print(f"{name}: {update(Path(name))} outputs changed", flush=True)

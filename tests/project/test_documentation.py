"""The documentation: its commands do what it shows, its names exist, and nothing on it goes unchecked.

Python examples on the pages are doctests, which pytest collects from ``docs`` by itself.
"""

import ast
import doctest
import importlib
import inspect
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import fuzzymil
from fuzzymil import MIANFISClassifier, RuleClassifier
from fuzzymil.cli import app
from paper.run import EXPERIMENTS

ROOT = Path(__file__).parents[2]
PAGES = {str(path.relative_to(ROOT / "docs")): path.read_text("utf-8") for path in sorted(ROOT.glob("docs/**/*.md"))}
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
NOT_RUN = "<!-- not run: "
SHOWN_ONLY = {"text"}  # languages of blocks that nobody would try to run


class Block(NamedTuple):
    language: str
    text: str
    runs: bool


def blocks(page):
    """Fenced blocks; one with a comment ``not run: reason`` on the line above it does not run."""
    text = PAGES[page]
    return [
        Block(found[2], found[3], not text[: found.start()].rstrip().rpartition("\n")[2].lstrip().startswith(NOT_RUN))
        for found in FENCE.finditer(text)
    ]


# ---------------------------------------------------------------------- commands

WITH_COMMANDS = [page for page in PAGES if any(block.language == "console" and block.runs for block in blocks(page))]


def commands(page):
    """Pairs of command and shown output ('' where none is)."""
    for block in blocks(page):
        if block.language == "console" and block.runs:
            for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield command, output


def run(command):
    """Exit code and output. Ours runs in this process, which has everything imported and compiled."""
    if command.startswith("fuzzymil ") and not re.search(r"[|<>]", command):
        result = CliRunner().invoke(app, shlex.split(command, comments=True)[1:])
        return result.exit_code, result.output
    result = subprocess.run(command, shell=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.returncode, result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_do_what_the_page_shows(page, tmp_path, monkeypatch):
    for example in (ROOT / "examples").glob("*.csv"):
        shutil.copy(example, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    checker = doctest.OutputChecker()
    for command, shown in commands(page):
        code, output = run(command)
        expected = re.search(r"# exits with (\d+)", command)
        assert code == (int(expected[1]) if expected else 0), f"$ {command}\n{output}"
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        assert not shown.strip() or checker.check_output(shown, output, flags), f"$ {command}\n{output}"


def test_the_pages_show_commands():
    assert "commands.md" in WITH_COMMANDS


@pytest.mark.parametrize("page", PAGES)
def test_every_block_runs_or_says_why_not(page):
    for block in blocks(page):
        tried = block.language == "console" or (block.language == "pycon" and block.text.lstrip().startswith(">>>"))
        assert tried or not block.runs or block.language in SHOWN_ONLY, block.text


# ---------------------------------------------------------------------- names


def resolve(name):
    """What a dotted name stands for."""
    if name.startswith("fuzzymil.torch") and find_spec("torch") is None:
        return None  # the tests with PyTorch import it
    module, rest = fuzzymil, name.split(".")[1:]
    found = module
    for place, part in enumerate(rest):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(".".join(["fuzzymil", *rest[: place + 1]]))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_names_on_the_page_exist(page):
    for name in set(re.findall(r"(?<=[\[`])fuzzymil(?:\.\w+)+(?=[\]`])", PAGES[page])):
        resolve(name)


@pytest.mark.parametrize("page", PAGES)
def test_commands_on_the_page_exist(page):
    known = get_command(app).commands
    for command in re.findall(r"(?:`|^\$ )fuzzymil ([a-z]+[^`\n]*)", PAGES[page], re.MULTILINE):
        words = command.split()
        assert words[0] in known, command
        inner = {"data": known["data"].commands}.get(words[0])
        assert inner is None or set(words[1:2]) <= set(inner), command
    assert set(re.findall(r"python -m paper (\w+)", PAGES[page])) <= {*EXPERIMENTS, "all"}


def test_the_paper_map_is_complete():
    page = PAGES["paper-map.md"]
    equations = {int(number) for number in re.findall(r"\((\d+)\)", page)}
    assert equations >= set(range(1, 52))
    tables, figures = (page.partition(f"## {name}\n")[2].partition("\n## ")[0] for name in ("Tables", "Figures"))
    assert re.findall(r"^\| ([IV]+) ", tables, re.MULTILINE) == ["I", "II", "III", "IV", "V"]
    assert {int(number) for number in re.findall(r"[|,] (\d+) `", figures)} == set(range(1, 15))


def test_the_reference_has_every_public_name():
    """A name is on a page itself, or its package is, which brings all names in its ``__all__``."""
    reference = "\n".join(text for page, text in PAGES.items() if page.startswith("reference/"))
    listed = set(re.findall(r"^::: (\S+)$", reference, re.MULTILINE))
    brought = {
        f"fuzzymil.{name}"
        for package in listed
        if inspect.ismodule(found := resolve(package))
        for name in getattr(found, "__all__", ())
    }
    public = {f"fuzzymil.{name}" for name in fuzzymil.__all__ if name != "__version__"}
    packages = {name for name in public if inspect.ismodule(resolve(name))}
    assert not public - packages - listed - brought
    assert not {name for name in packages if f"{name}`" not in PAGES["reference/index.md"]} - {
        "fuzzymil.bags",  # whose names are all exported by fuzzymil itself, or listed one by one
        "fuzzymil.estimators",
        "fuzzymil.rules",
    }


def documented(kind):
    """Names of the methods and properties of a class that this library documents."""
    for name in dir(kind):
        found = inspect.getattr_static(kind, name)
        found = getattr(found, "fget", None) or getattr(found, "__func__", found)
        if not name.startswith("_") and found.__doc__ and getattr(found, "__module__", "").startswith("fuzzymil"):
            yield name


def test_members_in_an_order_of_our_own_are_complete():
    page = PAGES["reference/estimators.md"]
    listed = re.findall(r"^::: (\S+)\n    options:\n      members: \[([^]]+)\]", page, re.MULTILINE)
    assert len(listed) >= 4
    for name, members in listed:
        assert {*re.split(r",\s+", members)} | {"score"} == {*documented(resolve(name))} | {"score"}, name


@pytest.mark.parametrize("page", PAGES)
def test_no_private_module_is_on_the_page(page):
    assert not re.findall(r"fuzzymil(?:\.\w+)*\._\w+", PAGES[page])


# ---------------------------------------------------------------------- facts that are told twice


def test_defaults_on_the_settings_page_are_the_estimators():
    told = re.findall(r"^(`[^\n]+`)$\n:   ", PAGES["settings.md"], re.MULTILINE)
    pairs = [pair for line in told for pair in re.findall(r"(\w+)=(\"\w+\"|[\w.]+)", line)]
    assert len(pairs) > 15
    network = MIANFISClassifier().get_params()
    defaults = {name.split("__")[-1]: value for name, value in (network | RuleClassifier().get_params()).items()}
    assert {name: defaults[name] for name, _ in pairs} == {name: ast.literal_eval(value) for name, value in pairs}


def test_benchmark_figures_in_the_readme_are_those_of_the_page():
    results = (ROOT / "README.md").read_text("utf-8").partition("\n## Results\n")[2].partition("\n## ")[0]
    told = re.findall(r"\d\d\.\d(?=%)", results)
    assert len(told) >= 4
    assert set(told) <= set(re.findall(r"\d\d\.\d", PAGES["benchmarks.md"]))


def test_accuracies_in_the_gallery_are_those_of_its_pages():
    gallery = PAGES["tutorials/index.md"]
    rows = re.findall(r"^\| \[[^]]+\]\((\w+\.md)\) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", gallery, re.MULTILINE)
    assert len(rows) >= 7
    for page, *told in rows:
        shown = dict(re.findall(r"^(rules|forest|attention): ([\d.]+)$", PAGES[f"tutorials/{page}"], re.MULTILINE))
        for method, value in zip(("rules", "forest", "attention"), told, strict=True):
            assert value.startswith(shown[method].removesuffix("...")), (page, method)


def test_pictures_in_the_gallery_are_on_the_first_screen_of_their_pages():
    cards = re.findall(r"\(\.\./(figures/[\w.-]+)\)\]\((\w+\.md)\)", PAGES["tutorials/index.md"])
    assert len(cards) >= 12
    for picture, page in cards:
        assert picture in PAGES[f"tutorials/{page}"].partition("\n## ")[0], page


@pytest.mark.parametrize("page", PAGES)
def test_pictures_on_the_page_are_small(page):
    for picture in set(re.findall(r"\]\((?:\.\./)?(figures/[\w./-]+\.(?:svg|png))", PAGES[page])):
        assert (ROOT / "docs" / picture).stat().st_size < 150_000

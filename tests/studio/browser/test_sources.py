"""The files of the page: our own, small, typed, and without doors for what comes from files."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import fuzzymil.studio

PAGE = Path(fuzzymil.studio.__file__).parent / "page"
SOURCES = sorted(path for path in PAGE.rglob("*") if path.suffix in (".js", ".css", ".html"))
TEXTS = {path.relative_to(PAGE).as_posix(): path.read_text(encoding="utf-8") for path in SOURCES}
MODULES = [name for name in TEXTS if name.endswith(".js")]
MARKUP = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser"
CODE = r"\beval\(|new Function|setTimeout\(\s*[\"'`]|javascript:|setAttribute\(\s*\"(?:style|on)"
KNOWN = {"http://www.w3.org/2000/svg", "https://modules/"}  # names, not addresses: nothing is loaded from them


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_is_interpreted_or_loaded_from_elsewhere(name):
    text = TEXTS[name]
    assert not re.search(MARKUP, text)
    assert not re.search(CODE, text)
    assert set(re.findall(r"https?://[\w./]*", text)) <= KNOWN
    assert not re.search(r"<[^>]+\s(?:style|on\w+)=", text)
    assert text.count("\n") <= 450


@pytest.mark.parametrize("name", MODULES)
def test_imports_exist_and_are_relative(name):
    for target in re.findall(r"^(?:import|export)\b[^;]*?\bfrom \"([^\"]+)\"", TEXTS[name], flags=re.MULTILINE):
        assert target.startswith((".", ".."))
        assert (PAGE / name).parent.joinpath(target).resolve().is_file(), target


def test_the_page_loads_what_there_is():
    index = TEXTS["index.html"]
    styles = re.findall(r'href="page/(style/\w+\.css)"', index)
    assert sorted(styles) == sorted(name for name in TEXTS if name.endswith(".css"))
    assert 'src="page/main.js"' in index


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tsc") is None, reason="the TypeScript compiler is not on the path")
def test_types():
    found = subprocess.run(
        ["tsc", "-p", str(Path(__file__).parents[1] / "tsconfig.json")], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout

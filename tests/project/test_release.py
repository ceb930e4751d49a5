"""What a release consists of: metadata that agrees in all places, and packages with everything in them."""

import json
import re
import shutil
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest

import fuzzymil
from tools.site import write_front

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONDA_NAMES = {"matplotlib": "matplotlib-base"}  # without a graphical interface


def text(name):
    return (ROOT / name).read_text("utf-8")


def entry(name, key):
    """The value of a key in a YAML file, wherever it is."""
    return re.search(rf"^\s*{key}: *\"?(.*?)\"?$", text(name), re.MULTILINE)[1]


def test_versions_agree():
    assert entry("CITATION.cff", "version") == fuzzymil.__version__
    assert entry("recipe/recipe.yaml", "version") == fuzzymil.__version__
    assert f"## {fuzzymil.__version__}" in text("CHANGELOG.md")


def test_licenses_and_addresses_agree():
    assert {entry(name, "license") for name in ("CITATION.cff", "recipe/recipe.yaml")} == {
        PROJECT["project"]["license"]
    }
    urls = PROJECT["project"].get("urls", {})
    assert ("Homepage" in urls) == ("\nurl:" in text("CITATION.cff")) == ("\n  homepage:" in text("recipe/recipe.yaml"))


def test_the_conda_recipe_has_the_same_dependencies():
    listed = text("recipe/recipe.yaml").split("  run:")[1].partition("\n")[2].split("\n\n")[0]
    wanted = PROJECT["project"]["dependencies"] + PROJECT["project"]["optional-dependencies"]["train"]
    found = {line.strip("- ") for line in listed.splitlines()} - {""}
    expected = {re.sub(r"(?=>=)", " ", dependency) for dependency in wanted}
    expected = {" ".join([CONDA_NAMES.get(name, name), least]) for name, least in map(str.split, expected)}
    assert found == {*expected, f"python {PROJECT['project']['requires-python']}"}


def test_every_python_with_a_classifier_is_tried():
    classified = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["project"]["classifiers"]))
    assert re.search(r"PYTHONS = \((.*?)\)", text("noxfile.py"))[1] == ", ".join(
        f'"{version}"' for version in classified
    )
    assert PROJECT["project"]["requires-python"] == f">={classified[0]}"
    image = re.search(r"FROM python:(3\.\d+)-slim", text("Dockerfile"))[1]
    assert image in classified


def test_the_container_copies_all_that_the_build_needs():
    copied = re.findall(r"^COPY (.*) /source", text("Dockerfile"), re.MULTILINE)
    needed = {PROJECT["project"]["readme"], *PROJECT["project"]["license-files"], "pyproject.toml", "src"}
    assert {name for line in copied for name in line.split()} == needed
    kept = {line.removeprefix("!") for line in text(".dockerignore").splitlines() if line.startswith("!")}
    assert kept == needed


def test_source_distributions_have_what_the_tests_read():
    included = {name.removeprefix("/") for name in PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    assert [name for name in included if not (ROOT / name).exists()] == []
    read = {
        name
        for path in (ROOT / "tests").rglob("*.py")
        for name in re.findall(r'ROOT / "([\w.]+)"', path.read_text("utf-8"))
    }
    assert read - {"pyproject.toml"} <= included


def test_type_checkers_find_the_marker():
    assert (Path(fuzzymil.__file__).parent / "py.typed").is_file()
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]


def test_pages_can_be_searched_from_a_folder():
    settings = text("mkdocs.yml")
    assert re.search(r"^use_directory_urls: false", settings, re.MULTILINE)
    assert re.search(r"^  - offline", settings, re.MULTILINE)
    (script,) = re.findall(r"^ +- (\S*iframe-worker\S*)", settings, re.MULTILINE)  # none is loaded from elsewhere
    assert (ROOT / "docs" / script).is_file()


def test_the_site_leads_to_the_newest_version(tmp_path):
    for name in ("0.9.0", "0.10.0", "assets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("")
    write_front(tmp_path)
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text()
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [(each["version"], each["aliases"]) for each in listed] == [("0.10.0", ["latest"]), ("0.9.0", [])]


@pytest.mark.skipif(find_spec("yaml") is None, reason="needs PyYAML")
def test_the_citation_is_complete():
    import yaml

    citation = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["references"][0]["title"] in text("README.md").replace("\n", " ")


@pytest.mark.slow
def test_workers_run_on_pages_that_are_opened_from_a_folder(tmp_path):
    """The search of the site runs in a worker, which browsers do not start there."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        pytest.skip("there is no Chromium on the path")
    (tmp_path / "worker.js").write_text("addEventListener('message', (event) => postMessage(event.data + 1));")
    (tmp_path / "shim.js").write_text(text("docs/scripts/iframe-worker.js"))
    (tmp_path / "page.html").write_text('<!doctype html><script src="shim.js"></script><body></body>')
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        answer = page.evaluate(
            """() => new Promise((resolve) => {
              const worker = new Worker("worker.js");
              worker.addEventListener("message", (event) => resolve(event.data));
              worker.postMessage(41);
            })"""
        )
        browser.close()
    assert answer == 42

"""``fuzzymil studio``: what it opens, without serving it."""

import json
from pathlib import Path

import pytest
from runner import bad, good  # type: ignore[import-not-found]

pytest.importorskip("starlette", reason="needs starlette, uvicorn and websockets")

from fuzzymil import Bags, load_model
from fuzzymil.studio import server

RULES = "VARIABLE pages: many = Sigmoid(9, 2)  IF SOME pages is many THEN yes = 1  IF anything THEN yes = 0 WITH 0.2"
TABLE_BAGS = Bags.from_list([[[3], [12]], [[1]], [[2]], [[18]]], feature_names=["pages"])
TABLE = "user,bought,pages\na,yes,3\na,yes,12\nb,no,1\nc,no,2\nd,yes,18\n"


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Return the sessions that were opened, none of which is served."""
    (tmp_path / "shop.rules").write_text(RULES)
    (tmp_path / "visits.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    found = []

    def run(self, ready=lambda: None):
        found.append(self)
        ready()
        self._socket.close()
        self.session.close()

    monkeypatch.setattr(server.Studio, "run", run)
    return found


def test_the_demonstration_prints_its_address(opened):
    printed = good("studio", "--demo", "--no-browser").stdout.strip()
    assert printed == opened[0].address
    assert printed.startswith("http://127.0.0.1:")
    assert opened[0].session.demo


def test_rules_and_data(opened):
    good("studio", "shop.rules", "visits.csv", "--bag", "user", "--label", "bought", "--no-browser")
    session = opened[0].session
    assert (session.context.name, session.context.data.name, session.bags.n_bags) == ("shop", "visits.csv", 4)
    assert session.case.decisions.tolist() == ["yes", "no", "no", "yes"]


def test_data_alone_start_rules(opened):
    good("studio", "visits.csv", "--bag", "user", "--label", "bought", "--no-browser")
    assert str(opened[0].session.document.rules) == "Rule 1: IF anything THEN yes = 0.5"


def test_a_model_brings_its_columns_and_threshold(opened):
    good(
        "fit",
        "visits.csv",
        "--bag",
        "user",
        "--label",
        "bought",
        "-o",
        "model.json",
        "--method",
        "mi-anfis",
        "--init",
        "shop.rules",
    )
    good("studio", "model.json", "visits.csv", "--no-browser")
    session = opened[0].session
    assert session.bags.n_bags == 4
    assert session.case.classes.tolist() == ["no", "yes"]


def test_a_committee_is_opened_as_a_whole(opened):
    fit = ["fit", "visits.csv", "--bag", "user", "--label", "bought", "-o", "model.json", "--n-rules", "1"]
    good(*fit, "--n-estimators", "2")
    good("studio", "model.json", "visits.csv", "--no-browser")
    assert len(opened[0].session.context.members) == 2
    assert opened[0].session.case.committee.decisions.tolist() == load_model("model.json").predict(TABLE_BAGS).tolist()


def test_a_text_is_shown_as_it_was_written(opened):
    Path("mine.rules").write_text(f"# mine\n\n{RULES}   # so far\n")
    good("studio", "mine.rules", "--no-browser")
    assert opened[0].session.document.text == Path("mine.rules").read_text()


def test_a_text_with_mistakes_can_be_mended_on_the_page(opened):
    broken = RULES.replace("many THEN", "mny THEN")
    Path("broken.rules").write_text(broken)
    assert "broken.rules" in good("studio", "broken.rules", "visits.csv", "--bag", "user", "--no-browser").stderr
    hello = opened[0].session.answer({"type": "hello"})
    assert json.loads(hello["draft"])["text"] == broken
    assert [each["name"] for each in hello["state"]["variables"]] == ["pages"]
    assert hello["state"]["outputs"] == ["yes"]
    assert hello["state"]["data"]["n_bags"] == 4


def test_the_data_are_found_again(opened):
    """The second start does not name them."""
    good("studio", "shop.rules", "visits.csv", "--bag", "user", "--label", "bought", "--no-browser")
    good("studio", "shop.rules", "--no-browser")
    assert opened[1].session.bags.labels.tolist() == ["yes", "no", "no", "yes"]


def test_without_files_the_latest_session_of_the_folder_goes_on(opened):
    good("studio", "--no-browser")
    assert opened[0].session.demo
    good("studio", "shop.rules", "visits.csv", "--bag", "user", "--label", "bought", "--no-browser")
    for _ in range(2):
        good("studio", "--no-browser")
        session = opened[-1].session
        assert not session.demo
        assert (session.context.name, session.document.text, session.bags.n_bags) == ("shop", RULES, 4)
    assert len(session.history.versions) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent.rules"], "absent.rules"),
        (["shop.rules", "absent.csv"], "absent.csv"),
        (["--demo", "shop.rules"], "--demo"),
        (["visits.csv"], "user"),
        (["--port", "70000"], "65535"),
    ],
)
def test_mistakes_are_explained(opened, arguments, said):
    assert said in bad("studio", *arguments, "--no-browser")
    assert opened == []

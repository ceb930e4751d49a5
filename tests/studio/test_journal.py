"""Nothing is lost: edits, names, undo and data survive kill -9, damage and a second studio."""

import base64
import json
import os
import re
import signal
import subprocess
import sys
import time

import httpx
import pytest
from studio_page import Page

from fuzzymil import Bags, MISugeno
from fuzzymil.datasets import read_bags
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.history import FOLDER, Journal
from fuzzymil.studio.start import demo_bags, demo_document, starting_rules

PLAIN = "VARIABLE x1: low = Gaussian(0, 1)\nVARIABLE x2\nIF x1 is low THEN y = 0\nIF x1 is not low THEN y = 1\n"


def opened(folder, document=None, **settings):
    return Page(Session(document or demo_document(), name="demo", folder=folder, **settings))


def test_everything_is_there_after_a_restart(tmp_path):
    page = opened(tmp_path, data=demo_bags())
    page.get("set_term", variable="x1", term="left", handle="move", x=1 / 3)
    page.get("set_rule", number=1, on=False)
    page.get("name_version", name="Before the ward round")
    page.get("freeze", variable="x1", term="left", frozen=True)
    page.get("set_threshold", threshold=0.25)
    page.get("write_text", text=page.state["text"] + "# \u00e9\u2192\n")
    page.get("undo")
    page.get("undo")
    state, history = page.state, page.get("history")
    page.session.close()
    again = opened(tmp_path, data=demo_bags())
    assert again.session.recovered["edits"] == 5
    assert again.get("history") == {**history, "revision": 0}
    for name in ("text", "rules", "variables", "threshold", "version", "undo", "redo", "reference"):
        assert again.state[name] == state[name], name
    again.get("redo")
    again.get("redo")
    assert again.state["text"].endswith("# \u00e9\u2192\n")
    again.session.close()


def test_a_file_that_changed_meanwhile_is_one_more_version(tmp_path):
    page = opened(tmp_path)
    page.get("set_rule", number=1, weight=0.5)
    page.session.close()
    changed = Document(demo_document().text.replace("+= 5", "+= 6"))
    again = opened(tmp_path, changed)
    assert again.session.recovered is None
    assert again.state["rules"][0]["conclusions"]["positive"]["constant"] == 6
    again.get("undo")
    assert again.state["rules"][0]["weight"] == 0.5
    again.session.close()


def test_a_line_that_was_cut_off_costs_nothing_else(tmp_path):
    page = opened(tmp_path)
    page.get("set_rule", number=1, weight=0.5)
    page.get("set_rule", number=1, weight=0.25)
    page.session.close()
    file = tmp_path / FOLDER / "demo.journal"
    file.write_bytes(file.read_bytes()[:-10])
    again = opened(tmp_path)
    assert again.state["rules"][0]["weight"] == 0.5
    again.get("set_rule", number=1, weight=0.125)
    again.session.close()
    assert opened(tmp_path).state["rules"][0]["weight"] == 0.125


@pytest.mark.skipif(sys.platform == "win32", reason="needs file locks")
def test_a_second_studio_has_a_journal_of_its_own(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path)
    first.get("set_rule", number=1, weight=0.5)
    second.get("set_rule", number=1, weight=0.25)
    first.session.close()
    second.session.close()
    assert opened(tmp_path).state["rules"][0]["weight"] == 0.5


def test_small_edits_of_long_texts_take_little_room(tmp_path):
    page = opened(tmp_path)
    page.get("write_text", text="# " + "long " * 10_000 + "\n\n" + page.state["text"])
    file = tmp_path / FOLDER / "demo.journal"
    before = file.stat().st_size
    for step in range(50):
        page.get("set_term", variable="x1", term="left", handle="center", x=0.5 + step / 128)
    assert file.stat().st_size - before < 50 * 1000
    page.session.close()


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / FOLDER).write_text("a file in its place")
    page = opened(tmp_path)
    assert FOLDER in page.state["autosave"]
    page.get("set_rule", number=1, weight=0.5)


TWO = b"bag,label,x1,x2\na,positive,0.5,0.5\nb,negative,1,0\n"
THREE = b"who,said,x1,x2\na,positive,0.5,0.5\nb,negative,1,0\nc,negative,1.5,0\n"


def open_file(page, name, content, **columns):
    upload = page.get("preview", name=name, content=base64.b64encode(content).decode())["upload"]
    return page.get("open", upload=upload, **columns)


def n_bags(page):
    return None if page.state["data"] is None else page.state["data"]["n_bags"]


def test_opening_data_is_a_step_of_undo(tmp_path):
    page = opened(tmp_path, data=Data(demo_bags(), "two concepts"))
    page.get("set_rule", number=1, weight=0.5)
    assert open_file(page, "two.csv", TWO)["fits"]
    open_file(page, "three.csv", THREE, bag="who", label="said")
    page.get("set_rule", number=1, weight=0.25)
    assert [each["label"] for each in page.get("history")["versions"]][2:4] == ["Opened two.csv", "Opened three.csv"]
    page.get("undo")
    assert (n_bags(page), page.state["undo"]) == (3, "Opened three.csv")
    page.get("undo")
    assert (n_bags(page), page.state["data_name"]) == (2, "two.csv")
    page.get("undo")
    assert (n_bags(page), page.state["data_name"]) == (150, "two concepts")
    assert page.state["rules"][0]["weight"] == 0.5  # rules are another step
    page.get("redo")
    assert n_bags(page) == 2
    page.get("goto", version=4)
    assert (n_bags(page), page.state["rules"][0]["weight"]) == (3, 0.25)
    page.session.close()


def test_data_that_were_dropped_on_the_page_are_there_after_a_restart(tmp_path):
    page = opened(tmp_path, data=demo_bags())
    open_file(page, "two.csv", TWO)
    open_file(page, "three.csv", THREE, bag="who", label="said")
    page.session.close()
    again = opened(tmp_path, data=demo_bags())
    assert again.session.recovered["edits"] == 2
    assert (n_bags(again), again.state["data_name"]) == (3, "three.csv")
    again.get("undo")
    assert (n_bags(again), again.state["data_name"]) == (2, "two.csv")
    again.get("undo")
    assert n_bags(again) == 150
    again.session.close()


def test_a_data_file_that_is_gone_is_named(tmp_path):
    file = tmp_path / "elsewhere.csv"
    file.write_bytes(THREE)
    columns = {"bag": "who", "label": "said"}
    page = opened(tmp_path, data=Data(read_bags(file, **columns), file.name, columns, file))
    page.get("set_rule", number=1, weight=0.5)
    page.session.close()
    again = opened(tmp_path)  # without naming the file again
    assert (n_bags(again), again.state["data_gone"]) == (3, None)
    again.session.close()
    file.unlink()
    last = opened(tmp_path)
    assert (n_bags(last), last.state["data_name"]) == (None, "elsewhere.csv")
    assert str(file) in last.state["data_gone"]
    open_file(last, "two.csv", TWO)
    assert (n_bags(last), last.state["data_gone"]) == (2, None)
    last.session.close()


def test_data_of_the_command_line_come_before_those_of_the_last_session(tmp_path):
    page = opened(tmp_path)
    page.get("set_rule", number=1, weight=0.5)
    open_file(page, "two.csv", TWO)
    page.session.close()
    for _ in range(2):  # the same command twice
        again = opened(tmp_path, data=Data(demo_bags(), "two concepts"))
        assert (n_bags(again), again.state["data_name"]) == (150, "two concepts")
        assert again.state["rules"][0]["weight"] == 0.5
        assert again.state["undo"] == "Opened two concepts"
        again.session.close()


def test_rules_that_began_with_data_survive_new_rows(tmp_path):
    file = tmp_path / "ward.csv"
    for n, content in ((2, TWO), (3, TWO + b"c,positive,0,0\n")):
        file.write_bytes(content)
        bags = read_bags(file)
        page = opened(tmp_path, starting_rules(bags), data=Data(bags, "ward.csv", path=file), provisional=True)
        assert n_bags(page) == n
        if n == 2:
            page.get("write_text", text=PLAIN)
        assert page.state["text"] == PLAIN
        page.session.close()


def test_another_label_column_starts_anew(tmp_path):
    file = tmp_path / "ward.csv"
    file.write_bytes(b"bag,cured,left,x1\na,yes,no,1\nb,no,yes,2\n")
    for label in ("cured", "left"):
        columns = {"bag": "bag", "label": label}
        bags = read_bags(file, **columns)
        page = opened(tmp_path, starting_rules(bags), data=Data(bags, "ward.csv", columns, file), provisional=True)
        assert page.session.document.text == starting_rules(bags).text
        assert page.session.bags.labels.tolist() == bags.labels.tolist()
        page.get("set_rule", number=1, weight=0.5)
        page.session.close()


def test_a_model_is_read_in_the_same_way_after_undo_and_after_a_restart(tmp_path):
    labels = [0, 1, 0, 1, 1, 0]
    bags = Bags.from_list(
        [[[x, 0.5]] for x in (0.1, 0.9, 0.2, 1.5, 1.2, 0.3)], labels=labels, feature_names=["x1", "x2"]
    )
    model = MISugeno(rules=PLAIN, threshold=0.75).fit(bags)
    model.save(tmp_path / "model.json")
    page = opened(tmp_path, data=bags)
    before = page.get("bags")["decisions"]
    upload = page.get(
        "preview", name="m.json", content=base64.b64encode((tmp_path / "model.json").read_bytes()).decode()
    )
    page.get("open", upload=upload["upload"])
    expected = list(map(str, model.predict(bags)))
    assert (page.state["threshold"], page.state["name"]) == (0.75, "m")
    assert page.get("bags")["decisions"] == expected
    page.get("undo")
    assert (page.state["threshold"], page.state["name"], page.get("bags")["decisions"]) == (0, "demo", before)
    page.get("redo")
    page.session.close()
    again = opened(tmp_path, data=bags)
    assert (again.state["threshold"], again.state["name"]) == (0.75, "m")
    assert again.get("bags")["decisions"] == expected
    again.session.close()


def test_names_of_journals_stay_in_their_folder(tmp_path):
    with Journal(tmp_path, "../../etc/passwd\n") as journal:
        assert journal.path.parent == tmp_path / FOLDER


class Server:
    """A studio as a user starts it."""

    def __init__(self, folder):
        command = [sys.executable, "-m", "fuzzymil", "studio", "--demo", "--no-browser"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.root = re.match(r"http://127\.0\.0\.1:[0-9]+", self.address).group()
        with httpx.Client(trust_env=False) as client:
            self.cookie = client.get(self.address, timeout=30).headers["set-cookie"].split(";")[0]

    def talk(self):
        from websockets.sync.client import connect

        return connect(
            self.root.replace("http", "ws") + "/socket",
            origin=self.root,
            additional_headers={"cookie": self.cookie},
            proxy=None,
            max_size=None,
        )

    def kill(self):
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdout.close()


def ask(socket, **message):
    socket.send(json.dumps({"id": 1, **message}))
    while (answer := json.loads(socket.recv(timeout=30))).get("id") != 1:
        pass
    assert answer["ok"], answer
    return answer


@pytest.mark.slow
def test_kill_and_restart_lose_no_edit(tmp_path):
    server = Server(tmp_path)
    with server.talk() as socket:
        for step in range(20):
            revision = ask(socket, type="state")["revision"]
            ask(
                socket,
                type="set_term",
                variable="x1",
                term="left",
                handle="center",
                x=0.5 + step / 64,
                revision=revision,
            )
        expected = ask(socket, type="state")["state"]
        server.kill()
    server = Server(tmp_path)
    try:
        with server.talk() as socket:
            hello = ask(socket, type="hello")
            assert hello["recovered"]["edits"] == 20
            assert hello["state"]["text"] == expected["text"]
            assert hello["state"]["undo"] == expected["undo"]
    finally:
        server.kill()


@pytest.mark.slow
def test_the_page_is_there_within_seconds(tmp_path):
    began = time.perf_counter()
    server = Server(tmp_path)
    try:
        with server.talk() as socket:
            ask(socket, type="hello")
            ask(socket, type="bags")
        seconds = time.perf_counter() - began
    finally:
        server.kill()
    assert seconds < 10  # three on an idle machine; see bench/studio.py


def test_what_a_full_disk_took_is_made_up_for(tmp_path, monkeypatch):
    page = opened(tmp_path)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    monkeypatch.setattr(os, "write", full)
    page.get("set_rule", number=1, weight=0.5)
    assert "space" in page.state["autosave"]
    monkeypatch.undo()
    page.get("set_rule", number=1, weight=0.25)
    page.get("undo")
    assert page.state["autosave"] is None
    page.session.close()
    again = opened(tmp_path)
    assert again.state["rules"][0]["weight"] == 0.5
    again.get("redo")
    assert again.state["rules"][0]["weight"] == 0.25
    again.session.close()

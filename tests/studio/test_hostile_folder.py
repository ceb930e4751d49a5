"""A folder that came from somebody else, and text that no file can hold: nothing is lost, and nobody else's file is."""

import base64
import json
import os
import threading

import pytest
from studio_page import Page

from fuzzymil import Bags
from fuzzymil.studio import Document, Session
from fuzzymil.studio.document import Data
from fuzzymil.studio.history import FOLDER, Journal
from fuzzymil.studio.start import demo_bags, demo_document
from fuzzymil.studio.training import Worker

HALF = "x\ud800"
posix = pytest.mark.skipif(os.name != "posix", reason="needs links and named pipes")


def opened(folder, **settings):
    return Page(Session(demo_document(), name="visits", folder=folder, **settings))


@pytest.fixture
def victim(tmp_path):
    """A file of the user outside the folder, and the folder."""
    file, folder = tmp_path / "bashrc", tmp_path / "cloned"
    file.write_text("mine")
    (folder / FOLDER).mkdir(parents=True)
    return file, folder


def keeps_edits(folder):
    """Return whether an edit is there after a restart."""
    page = opened(folder)
    page.get("set_rule", number=1, weight=0.5)
    assert page.state["autosave"] is None
    page.session.close()
    again = opened(folder)
    kept = again.state["rules"][0]["weight"] == 0.5
    again.session.close()
    return kept


@posix
@pytest.mark.parametrize("content", [b"no journal at all\n", b'{"journal":1}\n{"done":7,"text":[0,0,""]}\n'])
def test_damaged_content_is_not_written_through_a_link(victim, content):
    file, folder = victim
    (folder / FOLDER / "visits.damaged").symlink_to(file)
    (folder / FOLDER / "visits.journal").write_bytes(content)
    assert keeps_edits(folder)
    assert file.read_text() == "mine"
    assert (folder / FOLDER / "visits-2.damaged").read_bytes() == content


@posix
@pytest.mark.parametrize("link", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_journal_that_is_a_link_is_set_aside_and_told(victim, link):
    file, folder = victim
    link(file, folder / FOLDER / "visits.journal")
    page = opened(folder)
    assert "visits.damaged" in page.get("hello")["notice"]
    page.session.close()
    assert keeps_edits(folder)
    assert file.read_text() == "mine"
    assert (folder / FOLDER / "visits.damaged").read_text() == "mine"  # the link itself


@posix
def test_a_folder_that_is_a_link_is_not_written_to(victim):
    file, folder = victim
    (folder / FOLDER).rmdir()
    elsewhere = file.parent / "elsewhere"
    elsewhere.mkdir()
    (folder / FOLDER).symlink_to(elsewhere)
    page = opened(folder)
    page.get("set_rule", number=1, weight=0.5)
    assert "is a link" in page.state["autosave"]
    assert os.listdir(elsewhere) == []


@posix
def test_a_named_pipe_does_not_stop_the_start(victim):
    folder = victim[1]
    os.mkfifo(folder / FOLDER / "visits.journal")
    found = []
    thread = threading.Thread(target=lambda: found.append(keeps_edits(folder)), daemon=True)
    thread.start()
    thread.join(30)
    assert found == [True]


def test_a_journal_of_nested_brackets_is_set_aside_and_told(victim):
    folder = victim[1]
    deep = b'{"journal":1}\n' + b"[" * 100_000 + b"]" * 100_000 + b"\n"
    (folder / FOLDER / "visits.journal").write_bytes(deep)
    page = opened(folder)
    assert "visits.damaged" in page.get("hello")["notice"]
    page.session.close()
    assert (folder / FOLDER / "visits.damaged").stat().st_size == 200_001
    assert keeps_edits(folder)


def test_a_huge_journal_is_set_aside_unread(victim, monkeypatch):
    folder = victim[1]
    monkeypatch.setenv("FUZZYMIL_MEMORY", "100MB")
    with open(folder / FOLDER / "visits.journal", "wb") as file:
        file.truncate(10**10)  # takes no room on the disk
    assert keeps_edits(folder)


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs the right to give files away")
def test_a_journal_of_another_user_is_set_aside(victim):
    folder = victim[1]
    journal = folder / FOLDER / "visits.journal"
    journal.write_text("")
    os.chown(journal, 12345, -1)
    page = opened(folder)
    assert "another user" in page.get("hello")["notice"]
    page.session.close()
    assert keeps_edits(folder)


@posix
def test_a_file_that_is_kept_replaces_a_link(victim):
    file, folder = victim
    with Journal(folder, "visits") as journal:
        kept = journal.keep_file("a.csv", b"content")
        kept.unlink()
        kept.symlink_to(file)
        assert journal.keep_file("a.csv", b"content") == kept
    assert not kept.is_symlink()
    assert (kept.read_bytes(), file.read_text()) == (b"content", "mine")


# ---------------------------------------------------------------------- a journal that somebody else wrote

TEXT = demo_document().text
MARKS = {"off": [], "frozen": [], "threshold": None, "positive": None}
FIRST = {"done": "Opened visits", "when": "2026-01-01T00:00:00+00:00", "text": [0, 0, TEXT], "given": "rules", **MARKS}
NEXT = {"done": "Changed", "when": "2026-01-01T00:00:00+00:00", "text": [len(TEXT), 0, "\n"], **MARKS}


def journal_of(*records):
    return b"".join(json.dumps(record).encode() + b"\n" for record in ({"journal": 1}, *records))


def with_file(name, **columns):
    return {**NEXT, "context": {"data": {"name": "d.csv", "columns": columns, "file": name}}}


@pytest.mark.parametrize(
    "content",
    [
        journal_of(FIRST, {**NEXT, "done": HALF}),
        journal_of({**FIRST, "context": {"name": HALF}}),
        journal_of(FIRST, {"name": [0, HALF]}),
        journal_of(FIRST, {"draft": [0, 0, HALF]}),
        journal_of(FIRST, {**NEXT, "done": "raw"}).replace(b"raw", b"\xed\xa0\x80"),
        journal_of(FIRST, {**NEXT, "done": "deep"}).replace(b'"deep"', b"[" * 900 + b"]" * 900),
        journal_of(FIRST, {**NEXT, "done": {"a": 1}}),
        journal_of(FIRST, {**NEXT, "when": [1]}),
        *(journal_of(FIRST, {**NEXT, "threshold": value}) for value in ("x", [1], 10**400)),
        *(journal_of(FIRST, {**NEXT, "off": value}) for value in ([99], ["a", None], [1.5])),
        journal_of(FIRST, {**NEXT, "frozen": [["a", "b"], [1, 2]]}),
        *(journal_of(FIRST, {**NEXT, "positive": value}) for value in ([1], {"a": 1})),
        *(journal_of({**FIRST, "context": {name: value}}) for name, value in (("name", 7), ("member", 0.5))),
        journal_of(FIRST, {**NEXT, "context": {"members": [2, {key: {"text": "rubbish", **MARKS} for key in "01"}]}}),
        *(journal_of(FIRST, with_file(name)) for name in ("../../passwd", "a/b.csv", "..", 7)),
        *(journal_of(FIRST, {**NEXT, "context": {"model": name}}) for name in ("../model.json", {"a": 1})),
        *(journal_of(FIRST, with_file(name)) for name in ("/dev/zero", "/" + "x" * 5000, "/a\0b", "/proc/self/mem")),
        *(journal_of(FIRST, with_file("kept.csv", **columns)) for columns in ({"columns": {}}, {"bag": [1]}, {"x": 1})),
    ],
    ids=lambda content: repr(content[-80:]),
)
def test_no_journal_stops_the_studio(tmp_path, content):
    """Whatever it says, every view answers, and what is edited then is kept."""
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "visits.journal").write_bytes(content)
    (tmp_path / FOLDER / "kept.csv").write_text("bag,x1,x2\na,0,1\nb,1,1\n")
    page = opened(tmp_path)
    for kind in ("hello", "state", "history", "score", "diagnose"):
        json.dumps(page.ask(kind), ensure_ascii=False).encode("utf-8")
    page.get("hello")
    page.get("set_rule", number=1, weight=0.25)
    page.get("undo")
    page.session.close()
    assert keeps_edits(tmp_path)


@pytest.mark.parametrize(
    "record",
    [
        with_file("kept.csv", **{"bag='x')\nimport os\nos.abort()#": 1}),
        *(with_file(name) for name in ("//evil/share/a.csv", r"\\evil\share\a.csv", r"\/evil\a.csv")),
        *({**NEXT, "context": {"model": name}} for name in ("//evil/share/a.json", r"\\evil\share\a.json")),
    ],
    ids=str,
)
def test_a_journal_puts_nothing_into_scripts_and_leads_to_no_other_machine(tmp_path, record):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "visits.journal").write_bytes(journal_of(FIRST, record))
    page = opened(tmp_path)
    assert "visits.damaged" in page.get("hello")["notice"]
    assert b"abort" not in base64.b64decode(page.get("export", format="snippet")["content"])
    page.session.close()


@posix
def test_a_huge_model_next_to_a_journal_is_not_read(tmp_path):
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "visits.journal").write_bytes(journal_of(FIRST, {**NEXT, "context": {"model": "a.json"}}))
    with open(tmp_path / FOLDER / "a.json", "wb") as file:
        file.truncate(10**13)  # takes no room on the disk
    assert keeps_edits(tmp_path)


def test_a_version_that_cannot_be_read_is_not_shown(tmp_path):
    (tmp_path / FOLDER).mkdir()
    broken = {**NEXT, "text": [0, 0, "VARIABLE rubbish("]}
    (tmp_path / FOLDER / "visits.journal").write_bytes(journal_of(FIRST, broken, {**FIRST, "given": ""}))
    page = opened(tmp_path)
    before = page.state
    for message in ({"type": "undo"}, {"type": "goto", "version": 1}):
        assert "cannot be read" in page.refused(code="refused", **message)["message"]
        assert page.state == before
    page.session.close()
    assert keeps_edits(tmp_path)


def test_a_small_journal_of_many_long_texts_takes_little_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("FUZZYMIL_MEMORY", "100MB")
    long = f"# {'x' * 400_000}\n{TEXT}"
    changes = [{**NEXT, "text": [2, len(long) - 3, "ab"[n % 2]]} for n in range(1000)]
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "visits.journal").write_bytes(journal_of({**FIRST, "text": [0, 0, long]}, *changes))
    assert keeps_edits(tmp_path)
    assert (tmp_path / FOLDER / "visits.damaged").stat().st_size < 2_000_000


@posix
@pytest.mark.parametrize("make", [os.symlink, os.link, lambda _, path: os.mkfifo(path)], ids=["link", "name", "pipe"])
def test_a_kept_file_is_read_only_if_it_is_plain(victim, make):
    file, folder = victim
    file.write_text("bag,x1\na,0\n")
    make(file, folder / FOLDER / "visits.0.csv")
    (folder / FOLDER / "visits.journal").write_bytes(journal_of(FIRST, with_file("visits.0.csv")))
    page = opened(folder)
    assert "cannot be read" in page.state["data_gone"]
    page.session.close()


@posix
def test_what_killed_processes_left_next_to_a_journal_is_removed(tmp_path):
    (tmp_path / FOLDER).mkdir()
    left = tmp_path / FOLDER / ".a.csv.0a1b2c3d.fuzzymil-999999999.part"
    left.write_text("half")
    opened(tmp_path).session.close()
    assert not left.exists()


def test_training_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    for name in ("numpy", "jax", "fuzzymil", "json"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'harm')!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    heard, done = [], threading.Event()
    worker = Worker(lambda message: (heard.append(message), done.set()))
    worker.start({"do": "nothing at all", "text": TEXT}, demo_bags())
    assert done.wait(60)
    worker.close()
    assert not (tmp_path / "harm").exists()


# ---------------------------------------------------------------------- half of a character


@pytest.mark.parametrize(
    "message",
    [
        {"type": "set_rule", "number": 1, "label": HALF},
        {"type": "set_rule", "number": 1, "comment": HALF},
        {"type": "rename", "variable": "x1", "name": HALF},
        {"type": "write_text", "text": f"VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN y = 1  # {HALF}"},
        {"type": "write_text", "text": 'VARIABLE "\\ud800": a = Gaussian(0, 1)\nIF "\\ud800" is a THEN y = 1'},
        {"type": "name_version", "name": HALF},
        {"type": "draft", "text": HALF},
        {"type": "save", "format": "rules", "name": HALF},
        {"type": "preview", "name": f"{HALF}.csv", "content": "YQ=="},
        {"type": "set_variable", "variable": "x1", "unit": HALF},
        {"type": "check", "more": [{"deep": [HALF]}]},
        {"type": "check", HALF: 1},
    ],
    ids=str,
)
def test_half_a_character_is_refused_and_changes_nothing(tmp_path, message):
    page = opened(tmp_path, data=demo_bags())
    before = page.state
    answer = page.ask(**message)
    assert not answer["ok"]
    assert "half of a character" in answer["error"]["message"]
    assert page.state == before
    page.session.close()
    assert keeps_edits(tmp_path)


def test_a_record_that_cannot_be_written_blocks_no_other(tmp_path):
    with Journal(tmp_path, "visits") as journal:
        with pytest.raises(ValueError, match="half of a character"):
            journal.append({"name": [0, HALF]})
        with pytest.raises(ValueError, match="half of a character"):
            journal.keep_draft(HALF)
        journal.append({"undo": True})
    with Journal(tmp_path, "visits") as journal:
        assert journal.records == [{"undo": True}]


def test_an_edit_that_cannot_be_kept_is_not_made(tmp_path, monkeypatch):
    page = opened(tmp_path)

    def refuse(*_):
        raise ValueError("cannot be kept")

    monkeypatch.setattr("fuzzymil.studio.history.to_json", refuse)
    before = page.state
    for message in ({"type": "set_rule", "number": 1, "weight": 0.5}, {"type": "name_version", "name": "one"}):
        assert page.refused(code="refused", **message)["message"] == "cannot be kept"
        assert page.state == before
    monkeypatch.undo()
    page.session.close()
    assert keeps_edits(tmp_path)


def test_names_of_files_that_are_no_text_are_shown_with_question_marks(tmp_path):
    data = Data(demo_bags(), "\udcff.csv", path=tmp_path / "\udcff.csv")
    page = Page(Session(demo_document(), data, name="visits\udcff", folder=tmp_path))
    json.dumps(page.state, ensure_ascii=False).encode("utf-8")
    assert (page.state["name"], page.state["data_name"]) == ("visits?", "?.csv")
    page.get("set_rule", number=1, weight=0.5)
    assert page.state["autosave"] is None
    page.session.close()


def test_columns_that_no_file_can_hold_cost_only_the_journal(tmp_path):
    data = Data(demo_bags(), "a.csv", {"bag": HALF}, tmp_path / "a.csv")
    page = opened(tmp_path, data=data)
    assert "half of a character" in page.state["autosave"]
    page.get("set_rule", number=1, weight=0.5)


@pytest.mark.parametrize("number", ["\ud800", [[7]], {"a": 1}, True, 1e308, "x" * 1000], ids=str)
def test_an_answer_repeats_only_plain_numbers_and_short_text(number):
    session = Session(Document("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y = 1"))
    answer = session.answer({"id": number, "type": "state"})
    assert answer["id"] is None or answer["id"] is True
    session.close()


def test_labels_of_a_notebook_are_refused_before_the_studio():
    with pytest.raises(ValueError, match="labels has half of a character"):
        Bags.from_list([[[0.0]], [[1.0]]], labels=["a", HALF])

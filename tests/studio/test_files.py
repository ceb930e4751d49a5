"""Files are uploaded and exported, never named by path, and nothing is overwritten unasked."""

import ast
import base64
import gzip

import numpy as np
import pytest
from studio_page import Page

from fuzzymil import load_model
from fuzzymil.datasets import write_bags
from fuzzymil.rules.files import parse_rules, read_rules
from fuzzymil.studio import Document, Session
from fuzzymil.studio.files import exports
from fuzzymil.studio.start import demo_bags, demo_document

PLAIN = "VARIABLE x1: low = Gaussian(0, 1)\nVARIABLE x2\nIF x1 is low THEN y = 1\nIF x1 is not low THEN y = 0\n"
TABLE = b"user,bought,pages,channel\na,yes,3,mail\na,yes,9,phone\nb,no,1,mail\nc,no,2,mail\nd,yes,8,phone\n"


def upload(page, name, content):
    raw = content.encode() if isinstance(content, str) else content
    return page.get("preview", name=name, content=base64.b64encode(raw).decode())


@pytest.fixture
def home(tmp_path):
    session = Session(Document(PLAIN), demo_bags(), name="plain", folder=tmp_path)
    yield Page(session)
    session.close()


@pytest.mark.parametrize("format", [each["format"] for each in exports()])
def test_every_export_has_content_and_says_what_it_loses(home, format):
    found = home.get("export", format=format)
    assert len(base64.b64decode(found["content"])) > 20
    assert found["losses"] == home.get("losses", format=format)["losses"]
    assert found["name"].startswith("plain.")


@pytest.mark.parametrize("format", ["rules", "json", "fll", "fis", "fcl", "fml"])
def test_what_is_exported_can_be_opened(home, format):
    home.session.commit(
        Document(PLAIN.replace("VARIABLE x1:", "VARIABLE x1 FROM 0 TO 2:").replace("x2", "x2 FROM 0 TO 2")), ""
    )
    before = home.session.document.rules
    content = base64.b64decode(home.get("export", format=format)["content"])
    found = upload(home, f"again.{format}", content)
    assert found["kind"] == "rules"
    home.get("write_text", text="VARIABLE z: low = Gaussian(0, 1)  IF z is low THEN y = 1")
    home.get("open", upload=found["upload"])
    assert home.session.document.rules.rules == before.rules
    assert home.state["undo"] == f"Opened again.{format}"
    home.get("undo")
    assert home.state["variables"][0]["name"] == "z"


def test_a_format_that_cannot_hold_the_rules_says_why(page):
    assert "quantifiers" in page.refused("losses", "refused", format="fll")["message"]


def test_a_model_is_exported_and_opened(home):
    home.get("set_threshold", threshold=0.4)
    content = base64.b64decode(home.get("export", format="model")["content"])
    found = upload(home, "model.json", content)
    assert found["kind"] == "model"
    decisions = home.get("bags")["decisions"]
    home.get("set_threshold", threshold=None)
    home.get("open", upload=found["upload"])
    assert home.state["threshold"] == 0.4
    assert home.get("bags")["decisions"] == decisions


def test_a_table_asks_for_its_columns_and_can_start_rules(home):
    found = upload(home, "visits.csv", TABLE)
    assert (found["kind"], found["complete"]) == ("data", False)
    assert found["columns"] == ["user", "bought", "pages", "channel"]
    home.refused("open", "refused", upload=found["upload"])
    home.get("open", upload=found["upload"], bag="user", label="bought", start=True)
    state = home.state
    assert [variable["name"] for variable in state["variables"]] == ["pages", "channel"]
    assert state["variables"][1]["categories"] == ["mail", "phone"]
    assert state["outputs"] == ["yes"]
    assert home.get("bags")["labels"] == ["yes", "no", "no", "yes"]
    home.get("add_rule", text="IF SOME (pages is high AND channel is phone) THEN yes = 1")


def test_damaged_files_are_explained_without_a_path(home):
    for name, content in (("a.json", "{"), ("a.fll", "x"), ("a.rules", "IF"), ("a.csv", ""), ("a.fml", "<a>")):
        raw = base64.b64encode(content.encode() or b" ").decode()
        message = str(home.ask("preview", name=name, content=raw))
        assert "/tmp" not in message
        assert "Traceback" not in message


@pytest.mark.parametrize(
    "name", ["../up.rules", "/etc/passwd", "a/b.rules", "a\\b.rules", "", ".hidden", "nul\0", "x" * 300]
)
def test_only_plain_names_are_saved(home, name, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    error = home.ask("save", format="rules", name=name)
    assert error["ok"] is False or name == ""  # without a name, the file is called like the rules
    assert [path for path in sorted(tmp_path.rglob("*")) if path not in before and path.name != "plain.rules"] == []
    assert not (tmp_path.parent / "up.rules").exists()


def test_saving_asks_before_it_overwrites(home, tmp_path):
    home.get("save", format="rules", name="mine.rules")
    assert read_rules(tmp_path / "mine.rules") == home.session.document.rules
    (tmp_path / "mine.rules").write_text("other")
    home.refused("save", "exists", format="rules", name="mine.rules")
    assert (tmp_path / "mine.rules").read_text() == "other"
    home.get("save", format="rules", name="mine.rules", overwrite=True)
    assert parse_rules((tmp_path / "mine.rules").read_text()) == home.session.document.rules
    assert home.state["saved"] == {"file": "mine.rules", "version": 0}
    (tmp_path / "link.rules").symlink_to(tmp_path / "mine.rules")
    home.refused("save", "refused", format="rules", name="link.rules", overwrite=True)


def test_without_a_folder_nothing_is_saved():
    page = Page(Session(demo_document()))
    page.refused("save", "refused", format="rules", name="a.rules")


def test_the_snippet_gets_the_same_answers(home, tmp_path, monkeypatch, capsys):
    rows = ["points,kind,x1,x2"]
    bags = home.session.bags
    for bag, label, instances in zip(bags.ids, bags.labels, bags, strict=True):
        rows += [f"set {bag},{label},{x1!r},{x2!r}" for x1, x2 in instances.tolist()]
    (tmp_path / "points.csv").write_text("\n".join(rows))
    found = upload(home, "points.csv", "\n".join(rows))
    assert home.get("open", upload=found["upload"], bag="points", label="kind")["fits"]
    assert printed_decisions(home, tmp_path, monkeypatch, capsys) == home.get("bags")["decisions"]


def printed_decisions(page, folder, monkeypatch, capsys):
    """Run the exported script next to the data, and return the last word of each line that it prints."""
    script = base64.b64decode(page.get("export", format="snippet")["content"]).decode()
    ast.parse(script)
    monkeypatch.chdir(folder)
    exec(compile(script, "snippet.py", "exec"), {})
    return [line.split()[-1] for line in capsys.readouterr().out.splitlines()]


THREE = """VARIABLE x: low = Gaussian(0, 1), middle = Gaussian(2, 1), high = Gaussian(4, 1)
IF x is low THEN cat = 1, dog = 0, owl = 0
IF x is middle THEN cat = 0, dog = 1, owl = 0
IF x is high THEN cat = 0, dog = 0, owl = 1
"""


def test_the_snippet_tells_three_classes_apart(tmp_path, monkeypatch, capsys):
    table = "bag,label,x\na,cat,0\nb,dog,2.1\nc,owl,3.9\nd,dog,0.3\n"
    (tmp_path / "animals.csv").write_text(table)
    page = Page(Session(Document(THREE), name="animals"))
    page.get("open", upload=upload(page, "animals.csv", table)["upload"])
    said = printed_decisions(page, tmp_path, monkeypatch, capsys)
    assert said == page.get("bags")["decisions"] == ["cat", "dog", "owl", "cat"]


@pytest.mark.parametrize("quotes", ["\"\"\" ''''", '\'\'\' """"', '"""""', '\\"""'])
def test_text_of_rules_stays_text_in_the_snippet(quotes, tmp_path, monkeypatch, capsys):
    table = "bag,label,x\na,cat,0\nb,dog,2.1\nc,owl,3.9\n"
    (tmp_path / "animals.csv").write_text(table)
    lines = THREE.replace("owl = 0\n", f"owl = 0  # {quotes} + print(9) + {quotes}\n", 1)
    page = Page(Session(Document(lines), name="animals"))
    page.get("open", upload=upload(page, "animals.csv", table)["upload"])
    assert printed_decisions(page, tmp_path, monkeypatch, capsys) == ["cat", "dog", "owl"]


@pytest.mark.parametrize("format", ["model", "report"])
def test_what_needs_labels_says_so_beforehand(format):
    page = Page(Session(demo_document()))
    assert "label" in page.refused("losses", "refused", format=format)["message"]


def test_a_text_with_mistakes_is_for_the_editor(home):
    text = "VARIABLE x: low = Gausian(0, 1)\nIF x is lwo THEN y = 1\n"
    found = upload(home, "broken.rules", text)
    assert (found["kind"], found["text"]) == ("text", text)
    assert "2 mistakes" in found["summary"]
    home.refused("open", "refused", upload=found["upload"])


def test_a_text_stays_as_it_was_written(home):
    text = "# why\n\nVARIABLE x1 :  low=Gaussian(0,1)   # cold\n\nIF x1 is low THEN y = 1\n"
    home.get("open", upload=upload(home, "mine.rules", text)["upload"])
    assert home.state["text"] == text


def test_a_saved_model_predicts_as_the_studio_does(home, tmp_path):
    home.get("save", format="model", name="model.json")
    model = load_model(tmp_path / "model.json")
    assert model.predict(home.session.bags).tolist() == home.get("bags")["decisions"]


def test_large_files_are_refused(home):
    assert "MB" in home.refused("preview", "refused", name="a.csv", content="A" * 60_000_000)["message"]
    home.refused("preview", "refused", name="a.csv", content="not base64!")


def test_a_table_of_one_column_says_what_to_do(home):
    content = base64.b64encode(b"minutes\n1\n2\n").decode()
    message = home.refused("preview", "refused", name="v.csv", content=content)["message"]
    assert "'minutes'" in message
    assert "two columns" in message
    assert "format=" not in message


def test_the_endings_that_are_named_can_be_opened(home):
    opens = home.get("hello")["opens"]
    assert {".rules", ".fis", ".xml"} <= set(opens["rules"])
    assert {".csv", ".arff", ".parquet"} <= set(opens["data"])
    assert not {".npz", ".py"} & {*opens["rules"], *opens["data"]}


@pytest.mark.parametrize("name", ["two.parquet", "two.mat", "two.arff", "two.svm", "two.csv.gz"])
def test_every_format_of_bags_opens(home, tmp_path, name):
    write_bags(demo_bags(), tmp_path / name)
    content = base64.b64encode((tmp_path / name).read_bytes()).decode()
    found = home.get("preview", name=name, content=content)
    assert found["complete"], found["summary"]
    home.get("open", upload=found["upload"])
    assert home.session.bags.n_bags == demo_bags().n_bags


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.parquet"])
def test_too_many_rows_are_refused_before_they_are_read(home, tmp_path, monkeypatch, name):
    monkeypatch.setattr("fuzzymil.datasets.read_bags", lambda *_, **__: pytest.fail("the file is read"))
    if name.endswith(".gz"):
        content = gzip.compress(b"bag,x\n" + b"a,1\n" * 1_000_001)
    else:
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(arrow.table({"bag": np.zeros(1_000_001), "x": np.zeros(1_000_001)}), tmp_path / name)
        content = (tmp_path / name).read_bytes()
    found = home.get("preview", name=name, content=base64.b64encode(content).decode())
    assert "more than 1,000,000 rows" in found["summary"]
    message = home.refused("open", "refused", upload=found["upload"], bag="bag")["message"]
    assert "more than 1,000,000 rows" in message

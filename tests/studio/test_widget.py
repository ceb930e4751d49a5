"""The studio in a notebook: the same messages, through a widget."""

import pytest

pytest.importorskip("anywidget", reason="needs anywidget")

from fuzzymil.studio.server import PAGE
from fuzzymil.studio.start import demo_bags, demo_document
from fuzzymil.studio.widget import StudioWidget


@pytest.fixture
def widget(monkeypatch):
    made = demo_document().rules.studio(demo_bags())
    sent = []
    monkeypatch.setattr(made, "send", sent.append)
    yield made, sent
    made.close()


def test_rules_open_in_a_notebook(widget):
    made, sent = widget
    assert isinstance(made, StudioWidget)
    made._handle_custom_msg({"id": 1, "type": "hello"}, [])
    assert sent[-1]["state"]["data"]["n_bags"] == 150
    made._handle_custom_msg({"id": 2, "type": "set_rule", "number": 1, "weight": 0.5, "revision": 0}, [])
    assert [message.get("type") for message in sent[1:]] == ["changed", None]
    assert made.rules.rules[0].weight == 0.5


def test_all_modules_of_the_page_travel(widget):
    made, _ = widget
    assert set(made._modules) == {file.relative_to(PAGE).as_posix() for file in PAGE.rglob("*.js")}
    assert made._style

"""Progress bars on terminals and in notebooks."""

import sys
import types

import pytest

from fuzzymil import RuleClassifier
from fuzzymil.learn.train import progress
from fuzzymil.learn.train.progress import in_notebook, progress_bar


@pytest.fixture
def notebook(monkeypatch):
    """The kernel of a notebook; returns what it shows."""
    shown = []

    class Place:
        def update(self, content):
            shown.append(content)

    def display(content, display_id):
        assert display_id
        shown.append(content)
        return Place()

    tools = types.ModuleType("IPython.display")
    tools.display, tools.HTML = display, str
    kernel = types.ModuleType("IPython")
    kernel.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    kernel.display = tools
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    monkeypatch.setitem(sys.modules, "IPython.display", tools)
    return shown


def test_a_terminal_of_ipython_is_no_notebook(monkeypatch):
    assert not in_notebook()
    kernel = types.ModuleType("IPython")
    kernel.get_ipython = lambda: types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    assert not in_notebook()


def test_a_bar_in_a_notebook(notebook, monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    with progress_bar("Choosing <rules>", stage="starting") as update:
        update(1, 4, "candidates")
        update(2, 4, "refining")
        update(4, 4)
    assert notebook[0].startswith("<div><b>Choosing &lt;rules&gt;</b> <progress></progress> starting")
    assert '<progress value="1" max="4">' in notebook[1]
    assert "2 of 4" in notebook[2]
    assert "refining" in notebook[2]
    assert notebook[-1].startswith("<div><b>Choosing &lt;rules&gt;</b> done in 0.")


def test_a_bar_says_that_it_was_stopped(notebook):
    def interrupted():
        with progress_bar("Training") as update:
            update(1, 4)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "stopped after" in notebook[-1]


def test_a_bar_on_a_terminal(capsys):
    with progress_bar("Choosing rules", transient=True) as update:
        update(1, 2, "[bold]candidates")
        update(2, 2)
    out, _ = capsys.readouterr()
    assert out == ""


def test_training_in_a_notebook_shows_all_stages(notebook, monkeypatch):
    from fuzzymil.datasets import make_two_concepts

    monkeypatch.setattr(progress, "_PAUSE", 0.0)
    RuleClassifier(random_state=0, verbose=True).fit(make_two_concepts(random_state=3)[::3])
    for stage in ("candidates", "cross-validation", "fitting"):
        assert any(stage in text for text in notebook)
    assert "done in" in notebook[-1]
    before = len(notebook)
    RuleClassifier(random_state=0).fit(make_two_concepts(random_state=3)[::3])
    assert len(notebook) == before

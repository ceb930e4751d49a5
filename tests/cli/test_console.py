"""Messages and JSON."""

import json
from pathlib import Path

import pytest

from fuzzymil.cli._console import emit_json, in_options


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("name it with bag=..., say", "name it with --bag, say"),
        ("leave out bag= and label=.", "leave out --bag and --label."),
        ("read it with format='mat'", "read it with --format mat"),
        ("or set missing='ignore' to let", "or --set missing=ignore to let"),
        ("n_rules=2 or more, or order=1.", "--n-rules 2 or more, or --order 1."),
        ("as categories: categorical=['kind']; or", "as categories: --categorical kind; or"),
        ("leave them out with unlabeled='drop'.", "leave them out with --drop-unlabeled."),
        ("alphabet=3, rebag=2", "alphabet=3, rebag=2"),
    ],
)
def test_parameters_become_options(message, shown):
    assert in_options(message) == shown


def test_json_has_no_infinities(capsys):
    emit_json({"a": [float("nan"), float("inf"), 1.5], "b": Path("x"), 3: None})
    assert json.loads(capsys.readouterr().out) == {"a": [None, None, 1.5], "b": "x", "3": None}

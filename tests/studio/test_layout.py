"""Edits elsewhere leave the layout of a text alone."""

import pytest

from fuzzymil.rules import RuleBase
from fuzzymil.studio import Document

TEXT = """\
# Written on the ward.

VARIABLE lactate [mmol/l]   FROM 0 TO 10:
    normal = Gaussian(1.0, 1),
    high   = Gaussian(4, 1.50)     # seldom

VARIABLE age: old = Sigmoid(70, 0.2)

# The first sign.
Shock:
    if lactate is high
    then dies = 0.90
IF lactate is normal AND NOT (age is old) THEN dies = 0.1   # most of them
"""

KEPT = {
    "a set": ({"sets": {"lactate.high": {"center": 4.5}}}, [("Gaussian(4, 1.50)", "Gaussian(4.5, 1.50)")]),
    "two numbers": (
        {"sets": {"lactate.normal": {"width": 2}, "age.old": {"slope": 0.5}}},
        [("Gaussian(1.0, 1)", "Gaussian(1.0, 2)"), ("0.2)", "0.5)")],
    ),
    "a conclusion": ({"conclusions": {1: 0.8}}, [("0.90", "0.8")]),
    "a new weight": ({"weights": {1: 0.5}}, [("0.90", "0.90 WITH 0.5")]),
    "a term's name": ({"rename": {"lactate.high": "raised"}}, [("high   =", "raised   ="), ("is high", "is raised")]),
    "a new term": (
        {"new_terms": {"age.young": RuleBase.parse(TEXT).variables[1].terms["old"]}},
        [("Sigmoid(70, 0.2)", "Sigmoid(70, 0.2), young = Sigmoid(70, 0.2)")],
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_only_what_changed_is_replaced(name):
    arguments, replacements = KEPT[name]
    document = Document(TEXT)
    expected = TEXT
    for old, new in replacements:
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert document.with_rules(document.rules.edit(**arguments)).text == expected


def test_a_new_rule_comes_after_the_others():
    document = Document(TEXT)
    found = document.with_rules(document.rules.edit(add="IF age is old THEN dies = 0.4")).text
    assert found.startswith(TEXT.splitlines()[0])
    assert "    high   = Gaussian(4, 1.50)     # seldom" in found
    assert RuleBase.parse(found).rules[2].conditions[0].term == "old"


@pytest.mark.parametrize("arguments", [{"drop": 1}, {"keep": [2, 1]}, {"rename": {"lactate": "two words"}}])
def test_the_meaning_always_comes_first(arguments):
    document = Document(TEXT)
    rules = document.rules.edit(**arguments)
    assert RuleBase.parse(document.with_rules(rules).text).to_source() == rules.to_source()

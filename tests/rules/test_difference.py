"""`RuleBase.diff`: what changed between two rule bases, as text and as values; and `edit(replace=...)`."""

from __future__ import annotations

import dataclasses
import json

import pytest

from fuzzymil import ParameterError, RuleBase
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules.editing import Changed, Match

RULES = RuleBase.parse("""
VARIABLE depth FROM 0 TO 10: low = Gaussian(1, 1.5), high = Gaussian(8, 2)
VARIABLE size: large = Sigmoid(1, 2)
Near: IF depth is low THEN mine = 0.8  # seen often
IF depth is high AND size is large THEN mine = 0.2
IF size is large THEN mine = 0.5
""")


def test_the_same_rules_have_no_difference():
    found = RULES.diff(RULES)
    assert not found
    assert "same" in str(found)
    assert found.to_dict()["changes"] == []
    assert found.matches == (Match(1, 1), Match(2, 2), Match(3, 3))


def test_every_kind_of_change_is_named():
    new = RULES.edit(
        sets={"depth.low": {"center": 1.25}},
        new_terms={"size.small": Gaussian(0, 1)},
        conclusions={1: 0.9},
        weights={3: 0.5},
        drop=2,
        add="IF size is small THEN mine = 0",
        default=0.1,
    )
    found = RULES.diff(dataclasses.replace(new, aggregation="softmax"))
    assert str(found).splitlines() == [
        "Near: mine = 0.8 -> 0.9",
        "Rule 2: weight: 1 -> 0.5",
        "+ Rule 3: IF size is small THEN mine = 0",
        "- Rule 2: IF depth is high AND size is large THEN mine = 0.2",
        "depth.low: Gaussian(1, 1.5) -> Gaussian(1.25, 1.5)",
        "+ size.small: Gaussian(0, 1)",
        "default: mine = 0 -> 0.1",
        "operators: aggregation: max -> softmax",
    ]
    assert found.matches == (Match(1, 1), Match(3, 2), Match(None, 3), Match(2, None))
    assert Changed("Near", "mine", 0.8, 0.9) in found.changes
    assert json.loads(json.dumps(found.to_dict()))["changes"][0] == {
        "where": "Near", "what": "mine", "old": 0.8, "new": 0.9,
    }  # fmt: skip


def test_a_change_too_small_to_print_shows_more_digits():
    found = RULES.diff(RULES.edit(conclusions={1: 0.80000001}))
    assert str(found) == "Near: mine = 0.8 -> 0.80000001"


def test_rules_correspond_by_label_then_premise_then_number():
    turned = RULES.edit(keep=[3, 1, 2])
    assert RULES.diff(turned).matches == (Match(3, 1), Match(1, 2), Match(2, 3))
    assert not RULES.diff(turned).changes  # order has no meaning
    changed = RULES.edit(replace={1: "IF depth is high THEN mine = 0.8", 3: "IF depth is high THEN mine = 0.5"})
    found = RULES.diff(changed)
    assert found.matches == (Match(1, 1), Match(2, 2), Match(3, 3))
    assert Changed("Near", "premise", "depth is low", "depth is high") in found.changes
    assert "Rule 3: premise: size is large -> depth is high" in str(found)


def test_slopes_and_outputs_are_compared_by_name():
    new = RULES.edit(conclusions={2: "0.2 + 0.5*size"}).over(["size", "more", "depth"])
    assert str(RULES.diff(new)).splitlines()[0] == "Rule 2: slope of size in mine = 0 -> 0.5"
    renamed = RULES.edit(rename={"mine": "target"})
    assert "- Near: mine = 0.8" in str(RULES.diff(renamed))
    assert "+ Near: target = 0.8" in str(RULES.diff(renamed))


def test_bags_that_are_decided_differently():
    new = RULES.edit(conclusions={1: 0.1})
    bags = [[[1.0, 0.0]], [[8.0, 3.0]]]
    (flip,) = RULES.diff(new).flips(bags)
    assert (flip.bag, flip.old, flip.new) == (0, "high", "low")
    assert flip.old_output[0] > 0.5 > flip.new_output[0]
    assert RULES.diff(new).flips(bags, threshold=2.0) == ()


def test_only_rules_can_be_compared():
    with pytest.raises(ParameterError, match="RuleBase"):
        RULES.diff("rules")


# ---------------------------------------------------------------------- replacing rules


def test_a_rule_is_replaced_in_its_place():
    new = RULES.edit(
        replace={"Near": "IF depth is low AND size is large THEN mine = 0.95", 3: "IF anything THEN mine = 0"}
    )
    assert str(new).splitlines() == [
        "Near: IF depth is low AND size is large THEN mine = 0.95",
        "Rule 2: IF depth is high AND size is large THEN mine = 0.2",
        "Rule 3: IF anything THEN mine = 0",
    ]
    assert new.rules[0].comment == "seen often"
    assert RULES.edit(replace={1: "Close: IF depth is low THEN mine = 1 # new"}).rules[0].label == "Close"
    linear = RULES.edit(replace={2: "IF depth is high THEN mine = 0.1*depth"})
    assert linear.coefs.shape == (3, 1, 3)


@pytest.mark.parametrize(
    ("replace", "facts"),
    [
        ({4: "IF anything THEN mine = 0"}, ["replace", "4", "3"]),
        ({"Far": "IF anything THEN mine = 0"}, ["replace", "label", "'Far'"]),
        ({1: "IF anything THEN mime = 0"}, ["replace", "'mime'", "mine"]),
        ({1: "IF depth is lo THEN mine = 0"}, ["'lo'", "low", "character 13"]),
        ({1: "IF anything THEN mine = 0 IF anything THEN mine = 1"}, ["replace", "2"]),
    ],
)
def test_what_cannot_replace_a_rule_is_an_error(replace, facts):
    with pytest.raises(ParameterError) as caught:
        RULES.edit(replace=replace)
    assert all(fact in str(caught.value) for fact in facts), caught.value

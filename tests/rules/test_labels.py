"""Labels of rules and comments belong to the rules: text, JSON and editing keep them."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from fuzzymil import MIANFISClassifier, RuleBase, Training
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import what_is_lost

TEXT = """
# Shock, by the ward

# invasive
VARIABLE map [mmHg] FROM 30 TO 120: low = Gaussian(50, 8), normal = Gaussian(80, 10)  # mean pressure
VARIABLE lactate: high = Sigmoid(3, 2)
# as on paper
USING aggregation = max
# seen in every second case
Shock: IF map is low
    AND lactate is high  # both at once
    THEN death = 0.9
"Rule of thumb": IF map is normal THEN death = 0.1  # usual
Rule 7: IF lactate is high THEN death = 0.5
# to do: urine
"""


def labels(rules):
    return [(rule.label, rule.comment) for rule in rules.rules]


def test_a_text_keeps_its_labels_and_comments():
    rules = RuleBase.parse(TEXT)
    assert rules.comment == "Shock, by the ward\nas on paper\nto do: urine"
    assert [variable.comment for variable in rules.variables] == ["invasive\nmean pressure", ""]
    assert labels(rules) == [("Shock", "seen in every second case\nboth at once"), ("Rule of thumb", "usual"), ("", "")]
    assert [line.split(":")[0] for line in str(rules).splitlines()] == ["Shock", '"Rule of thumb"', "Rule 3"]


@pytest.mark.parametrize(
    "again", [lambda rules: RuleBase.parse(rules.to_source()), lambda rules: RuleBase.from_dict(rules.to_dict())]
)
def test_text_and_json_return_them(again):
    rules = RuleBase.parse(TEXT)
    found = again(rules)
    assert found == rules
    assert found.to_source() == rules.to_source()


def test_they_are_no_part_of_what_rules_mean():
    bare = RuleBase.parse("\n".join(line.split("#")[0] for line in TEXT.splitlines()).replace("Shock:", ""))
    assert bare == RuleBase.parse(TEXT)
    assert bare.rules[0].label == bare.comment == ""


def test_edits_keep_them():
    rules = RuleBase.parse(TEXT)
    edited = rules.edit(
        rename={"map": "pressure", "death": "dies"},
        conclusions={1: 0.8},
        weights={2: 0.5},
        without={1: "lactate"},
        drop=3,
        add="Late: IF lactate is high THEN dies = 0.6  # after hours",
    ).over(["age", "lactate", "pressure"])
    assert labels(edited) == [*labels(rules)[:2], ("Late", "after hours")]
    assert edited.variables[2].comment == "invasive\nmean pressure"
    assert edited.comment == rules.comment
    assert labels(rules.simplify().rules)[0] == labels(rules)[0]


def test_merged_rules_keep_the_labels_and_comments_of_both():
    rules = RuleBase.parse(
        "VARIABLE x: low = Gaussian(0, 1)  A: IF x is low THEN y = 1  # first\nB: IF x is low THEN y = 0  # second"
    )
    assert labels(rules.edit(merge=[(1, 2)])) == [("A and B", "first\nsecond")]


def test_training_keeps_them():
    rules = RuleBase.parse(TEXT)
    bags = [[[50.0, 4.0]], [[80.0, 1.0]], [[52.0, 5.0], [70.0, 2.0]], [[90.0, 0.5]]]
    model = MIANFISClassifier(init=rules, frozen=("rule 2",), training=Training(max_epochs=3)).fit(bags, [1, 0, 1, 0])
    assert model.rules_ != rules
    assert labels(model.rules_) == labels(rules)
    assert (model.rules_.comment, model.rules_.variables[0].comment) == (rules.comment, rules.variables[0].comment)


@pytest.mark.parametrize("format", ["fll", "fis", "fcl", "fml"])
def test_other_formats_tell_that_they_lose_them(format):
    rules = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)\nSafe: IF x is low THEN y = 1  # always", t_norm="min")
    told = " ".join(what_is_lost(rules, format))
    assert "Labels of rules are not kept: 'Safe'" in told
    assert "Comments are not kept" in told
    assert what_is_lost(rules, "json") == []


def test_mamdani_rules_keep_them():
    text = """
    # risk

    VARIABLE x: low = Gaussian(0, 1)
    OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5)  # a guess
    Safe: IF x is low THEN risk is small  # always
    """
    rules = RuleBase.parse(text)
    assert (rules.comment, rules.outputs[0].comment) == ("risk", "a guess")
    assert labels(rules) == [("Safe", "always")]
    for again in (RuleBase.parse(rules.to_source()), RuleBase.from_dict(rules.to_dict())):
        assert again.to_source() == rules.to_source()


@given(label=st.text(max_size=12), comment=st.text(max_size=40), whole=st.text(max_size=40))
def test_any_label_and_comment_can_be_written_and_read(label, comment, whole):
    rule = Rule({"x": "low"}, [[1.0]], label=label, comment=comment)
    rules = RuleBase((Variable("x", {"low": Gaussian(0, 1)}, comment=comment),), (rule,), comment=whole)
    again = RuleBase.parse(rules.to_source())
    assert labels(again) == labels(rules)
    assert (again.comment, again.variables[0].comment) == (rules.comment, rules.variables[0].comment)

"""Files of rules: the version they need, and damage to premises."""

import json

import pytest

from fuzzymil._utils.errors import ModelFileError, ParameterError
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.json import VERSIONS
from fuzzymil.rules.premise import And, Is, Not, Or

X, Y = (Variable(name, {"low": Gaussian(0, 1), "high": Gaussian(1, 1)}, 0, 1, "m") for name in "xy")
LOW, HIGH = Is("x", "low"), Is("y", "high")


def rule_base(premise, weight=1.0, **operators):
    return RuleBase([X, Y], [Rule(premise, [[1.0]], weight)], **operators)


@pytest.mark.parametrize(
    "rules",
    [
        rule_base({"x": "low", "y": "high"}),
        rule_base({}),
        rule_base(LOW, t_norm="min", s_norm="max"),
        rule_base(LOW, s_norm="max"),
        rule_base(LOW, weight=0.5),
        rule_base(Not(LOW)),
        rule_base(Is("x", "low", ("very",))),
        rule_base(And((LOW, Is("x", "high")))),
        rule_base(Or((LOW, And((HIGH, Not(And())))))),
    ],
)
def test_a_file_has_a_version_and_comes_back_equal(rules, tmp_path):
    rules.save(tmp_path / "rules.json")
    assert json.loads((tmp_path / "rules.json").read_text())["version"] == VERSIONS["fuzzymil.rules"]
    assert RuleBase.load(tmp_path / "rules.json") == rules


def nested(levels):
    premise = {"is": ["x", "low"]}
    for _ in range(levels):
        premise = {"not": premise}
    return premise


@pytest.mark.parametrize(
    "premise",
    [
        None,
        3,
        "x is low",
        {},
        [],
        {"is": ["x", "low"], "not": {"is": ["x", "low"]}},
        {"xor": [{"is": ["x", "low"]}]},
        {"is": ["x"]},
        {"is": None},
        {"is": ["x", "lo"]},
        {"is": ["z", "low"]},
        {"is": ["x", "low", "vry"]},
        {"is": ["x", "low", *["very"] * 100]},
        {"not": None},
        {"not": [{"is": ["x", "low"]}]},
        {"and": {"is": ["x", "low"]}},
        {"or": []},
        nested(100),
        nested(100_000),
    ],
    ids=lambda premise: f"{premise!s:.40}" if not isinstance(premise, dict) or "not" not in premise else None,
)
def test_a_damaged_premise_is_reported(premise):
    content = rule_base(Not(LOW)).to_dict()
    content["rules"][0]["premise"] = premise
    with pytest.raises(ModelFileError):
        RuleBase.from_dict(content)


@pytest.mark.parametrize(("field", "value"), [("weight", -1.0), ("weight", "inf"), ("weight", None), ("then", [["a"]])])
def test_a_damaged_rule_is_reported(field, value):
    content = rule_base(LOW, weight=0.5).to_dict()
    content["rules"][0][field] = value
    with pytest.raises(ModelFileError):
        RuleBase.from_dict(content)


def test_a_rule_without_a_premise_is_reported():
    content = rule_base(LOW).to_dict()
    del content["rules"][0]["if"]
    with pytest.raises(ModelFileError, match="'premise' is missing"):
        RuleBase.from_dict(content)


def test_brackets_around_one_part_are_no_difference():
    content = rule_base(Not(LOW)).to_dict()
    content["rules"][0]["premise"] = {"or": [{"and": [content["rules"][0]["premise"]]}]}
    assert RuleBase.from_dict(content) == rule_base(Not(LOW))


@pytest.mark.parametrize("ending", [".fis", ".fll", ".rules", ".c"])
def test_json_is_not_written_under_the_name_of_another_format(ending, tmp_path):
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    path = tmp_path / f"rules{ending}"
    with pytest.raises(ParameterError, match=rf"JSON.*{ending}.*write_rules"):
        rules.save(path)
    assert not path.exists()
    path.write_text(rules.to_source())
    with pytest.raises(ParameterError, match=rf"JSON.*{ending}.*read_rules"):
        RuleBase.load(path)

"""Names with characters that end lines, or that terminals obey, stay names in every text format."""

import dataclasses

import numpy as np
import pytest

from fuzzymil import ParameterError, RuleBase
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import read_rules, write_rules

CONTROLS = ["\n", "\r", "\x0b", "\x0c", "\x1b[31m", "\x1c", "\x7f", "\x85", "\x9b31m", "\u2028", "\u2029", "\u202e"]
BAGS = [[[0.2, 1.1]], [[0.9, 1.4], [0.0, 2.0]]]


def named(name):
    """Rules with this name for a variable, a unit and an output."""
    rules = RuleBase.from_arrays(
        [[0.0, 1.0], [1.0, 2.0]],
        [[0.3, 1.0], [0.3, 1.0]],
        [0, 1],
        feature_names=[name, "plain"],
        output_names=[f"y {name}"],
        aggregation="max",
    )
    variable = dataclasses.replace(rules.variables[0], unit=f"per {name}")
    return dataclasses.replace(rules, variables=(variable, *rules.variables[1:]))


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
@pytest.mark.parametrize("ending", [".json", ".rules", ".fll", ".fis", ".md", ".tex"])
def test_names_stay_on_their_lines(tmp_path, control, ending):
    rules, plain = named(f"a{control}b"), named("a b")
    path = tmp_path / f"rules{ending}"
    write_rules(rules, path)
    text = path.read_text(encoding="utf-8")
    if ending != ".json":  # which has one line per value
        assert len(text.splitlines()) == len(text.rstrip("\n").split("\n"))
        assert all(character == "\n" or character.isprintable() for character in text)
    if ending in (".md", ".tex"):
        write_rules(plain, path)
        assert text.count("\n") == path.read_text(encoding="utf-8").count("\n")
        return
    back = read_rules(path)
    np.testing.assert_array_equal(back.infer(BAGS).output, rules.infer(BAGS).output)
    if ending in (".json", ".rules"):
        assert back == rules


@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
def test_printed_rules_and_sets_have_one_line_each(control):
    rules = named(f"a{control}b")
    assert len(str(rules).splitlines()) == len(str(named("a b")).splitlines())
    assert len(rules.describe_terms().splitlines()) == 2


def test_codes_of_characters_can_be_written_in_rules():
    rules = RuleBase.parse(r"""VARIABLE "a\u2028\x\\u0041": low = Gaussian(0, 1)
IF "a\u2028\x\\u0041" is low THEN y = 1""")
    assert rules.feature_names == ("a\u2028x\\u0041",)


HALF = "x\ud800"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Variable(HALF),
        lambda: Variable("x", {HALF: Gaussian(0, 1)}),
        lambda: Variable("x", unit=HALF),
        lambda: Variable("x", comment=HALF),
        lambda: Variable("x", categories=[HALF]),
        lambda: Rule({"x": "low"}, [[1.0]], label=HALF),
        lambda: Rule({"x": "low"}, [[1.0]], comment=HALF),
        lambda: RuleBase((Variable("x"),), (Rule({}, [[1.0]]),), (HALF,)),
        lambda: RuleBase.parse(f"VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN y = 1  # {HALF}"),
        lambda: RuleBase.parse('VARIABLE "\\ud800": low = Gaussian(0, 1)\nIF "\\ud800" is low THEN y = 1'),
        lambda: RuleBase.from_arrays([[0.0]], [[1.0]], [1]).edit(rename={"x1": HALF}),
    ],
)
def test_half_of_a_character_is_refused_at_every_door(make):
    with pytest.raises(ParameterError, match="half of a character"):
        make()

"""FML: what IEEE 1855 has, in and out."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_sets import fuzzy_sets
from small_systems import concluding

from fuzzymil import ParameterError, RuleBase
from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.inference.membership import Gaussian, Ramp
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, parse_rules, read_rules, what_is_lost, write_rules
from fuzzymil.rules.files.fml import SHAPES, complement
from fuzzymil.rules.premise import And, Is, Or

TIPPER = """<?xml version="1.0" encoding="UTF-8"?>
<fuzzySystem xmlns="http://www.ieee1855.org" name="tipper">
  <knowledgeBase>
    <fuzzyVariable name="food" scale="points" domainleft="0" domainright="10" type="input">
      <fuzzyTerm name="rancid" complement="false"><leftLinearShape param1="1" param2="3"/></fuzzyTerm>
      <fuzzyTerm name="good"><pointSetShape><point x="2" y="0"/><point x="5" y="0.5"/></pointSetShape></fuzzyTerm>
    </fuzzyVariable>
    <fuzzyVariable name="service" domainleft="0" domainright="10" type="input">
      <fuzzyTerm name="poor"><leftGaussianShape param1="2" param2="1"/></fuzzyTerm>
      <fuzzyTerm name="fine"><rightGaussianShape param1="8" param2="2"/></fuzzyTerm>
    </fuzzyVariable>
    <fuzzyVariable name="tip" domainleft="0" domainright="20" type="output" accumulation="MAX" defuzzifier="COG"
                   defaultValue="3">
      <fuzzyTerm name="cheap"><triangularShape param1="0" param2="5" param3="10"/></fuzzyTerm>
      <fuzzyTerm name="generous"><trapezoidShape param1="10" param2="14" param3="16" param4="20"/></fuzzyTerm>
    </fuzzyVariable>
  </knowledgeBase>
  <mamdaniRuleBase name="all" activationMethod="MIN" andMethod="MIN" orMethod="MAX">
    <rule name="one" connector="or" weight="1.0">
      <antecedent>
        <clause><variable>food</variable><term>rancid</term></clause>
        <clause modifier="very"><variable>service</variable><term>poor</term></clause>
      </antecedent>
      <consequent><then><clause><variable>tip</variable><term>cheap</term></clause></then></consequent>
    </rule>
    <rule name="two" connector="and" weight="0.5">
      <antecedent><clause><variable>service</variable><term>fine</term></clause></antecedent>
      <consequent><then><clause><variable>tip</variable><term>generous</term></clause></then></consequent>
    </rule>
  </mamdaniRuleBase>
</fuzzySystem>
"""


def test_a_mamdani_system():
    rules = parse_rules(TIPPER, "fml")
    food, service = rules.variables
    assert (food.unit, food.low, food.high) == ("points", 0, 10)
    assert food.terms["rancid"] == Ramp(3, 1)
    np.testing.assert_allclose(service.terms["poor"]([0, 2, 3]), [1, 1, np.exp(-0.5)])
    np.testing.assert_allclose(service.terms["fine"]([6, 8, 9]), [np.exp(-0.5), 1, 1])
    assert rules.rules[0].premise == Or((Is("food", "rancid"), Is("service", "poor", ("very",))))
    assert (rules.rules[1].weight, rules.default) == (0.5, (3.0,))
    np.testing.assert_allclose(rules.infer([[0, 0], [9, 9]]).output[:, 0], [5, 15], atol=0.1)
    assert parse_rules(export_rules(rules, "fml"), "fml") == rules


def test_systems_of_numbers_and_of_tsukamoto():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 1: low = Gaussian(0, 1), high = Gaussian(1, 1)"
        "  VARIABLE z FROM 0 TO 1: low = ZShape(0, 1)"
        "  USING t_norm = product, aggregation = max, default = (0.5)"
        "  IF x is low AND z is not low THEN y = 1 + 2*x - z  IF x is somewhat high THEN y = 3"
    )
    assert parse_rules(export_rules(rules, "fml"), "fml") == rules
    premises = RuleBase(rules.variables, (Rule(Is("x", "low"), [[0.0]]),), t_norm="min", aggregation="max")
    output = Variable("y", {"up": Ramp(0, 2)}, 0, 2)
    chosen = concluding(premises, (output,), ({"y": "up"},), defuzzify="average", accumulation="sum")
    assert "tsukamotoRuleBase" in export_rules(chosen, "fml")
    assert parse_rules(export_rules(chosen, "fml"), "fml") == chosen


def s_shape_from_2_to_6(x):
    share = np.clip((x - 2) / 4, 0, 1)
    return np.where(share < 0.5, 2 * share**2, 1 - 2 * (1 - share) ** 2)


EXCLUDED = [("trapezoidShape", [2, 2, 4, 4]), ("rectangularShape", [2, 4]), ("singletonShape", [4])]
"""Sets that end with a step, at which they are still 1: no shape is their complement."""


@pytest.mark.parametrize(
    ("shape", "numbers", "expected"),
    [
        ("leftLinearShape", [2, 6], lambda x: np.clip((6 - x) / 4, 0, 1)),
        ("rightLinearShape", [2, 6], lambda x: np.clip((x - 2) / 4, 0, 1)),
        ("gaussianShape", [4, 1.5], lambda x: np.exp(-(((x - 4) / 1.5) ** 2) / 2)),
        ("leftGaussianShape", [4, 1.5], lambda x: np.where(x <= 4, 1, np.exp(-(((x - 4) / 1.5) ** 2) / 2))),
        ("rightGaussianShape", [4, 1.5], lambda x: np.where(x >= 4, 1, np.exp(-(((x - 4) / 1.5) ** 2) / 2))),
        ("triangularShape", [1, 4, 6], lambda x: np.interp(x, [1, 4, 6], [0, 1, 0])),
        ("trapezoidShape", [1, 2, 4, 6], lambda x: np.interp(x, [1, 2, 4, 6], [0, 1, 1, 0])),
        ("trapezoidShape", [2, 2, 4, 4], lambda x: (x >= 2) & (x <= 4)),
        ("rectangularShape", [2, 4], lambda x: (x >= 2) & (x <= 4)),
        ("singletonShape", [4], lambda x: x == 4),
        ("sShape", [2, 6], s_shape_from_2_to_6),
        ("zShape", [2, 6], lambda x: 1 - s_shape_from_2_to_6(x)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("turned", [False, True])
def test_shapes_and_their_complements(shape, numbers, expected, turned):
    about = " ".join(f'param{n}="{value}"' for n, value in enumerate(numbers, start=1))
    told = f'<fuzzyTerm name="rancid" complement="{str(turned).lower()}"><{shape} {about}/></fuzzyTerm>'
    old = '<fuzzyTerm name="rancid" complement="false"><leftLinearShape param1="1" param2="3"/></fuzzyTerm>'
    rules = parse_rules(TIPPER.replace(old, told), "fml")
    x = np.array([-3, 1, 1.5, 2, 2.5, 3, 4, 4.25, 5, 6, 7, 50.0])
    degrees = np.asarray(expected(x), float)
    found = rules.variables[0].terms["rancid"]
    np.testing.assert_allclose(found(x), 1 - degrees if turned else degrees, atol=1e-12)
    if turned and (shape, numbers) in EXCLUDED:
        with pytest.raises(ParameterError, match="formula"):
            export_rules(rules, "fml")
    else:
        assert parse_rules(export_rules(rules, "fml"), "fml") == rules


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</fuzzySystem>", "", "Line .*not well formed"),
        ("<knowledgeBase>", "<!DOCTYPE a><knowledgeBase>", "entities"),
        ("fuzzySystem", "system", "<fuzzySystem>"),
        ("triangularShape", "triangleShape", "'cheap' of 'tip': unknown shape 'triangleShape'"),
        ('param1="0" param2="5"', 'param1="O" param2="5"', "param1: expected a number, found 'O'"),
        ('param1="0" param2="5"', 'param1="6" param2="5"', "'cheap' of 'tip'.*left <= peak_at"),
        ("<term>cheap", "<term>cheep", "Rule 1: unknown term 'cheep' of 'tip'.*Did you mean 'cheap'"),
        ("<variable>service", "<variable>servce", "Rule 1: unknown variable 'servce'.*Did you mean 'service'"),
        ('modifier="very"', 'modifier="plus"', "Rule 1: unknown modifier 'plus'"),
        ('andMethod="MIN"', 'andMethod="MEAN"', "Unknown andMethod 'MEAN'"),
        ('connector="or"', 'connector="xor"', "Rule 1 .*'xor'"),
        ('type="output"', 'type="input"', "found 3 inputs, 0 outputs"),
        ('name="food"', "", "has no name"),
    ],
)
def test_what_is_wrong_is_named(old, new, message):
    text = TIPPER.replace(old, new) if old == "fuzzySystem" else TIPPER.replace(old, new, 1)
    with pytest.raises(RuleSyntaxError, match=message):
        parse_rules(text, "fml")


def test_files_and_what_fml_cannot_hold(tmp_path):
    rules = parse_rules(TIPPER, "fml")
    assert any("resolution" in sentence for sentence in write_rules(rules, tmp_path / "tipper.fml"))
    assert read_rules(tmp_path / "tipper.fml") == rules
    odd = Variable("<&'>", {"é": Gaussian(0, 1)}, 0, 1)
    named = RuleBase((odd,), (Rule(Is(odd.name, "é"), [[1.0]]),), t_norm="min", aggregation="max")
    assert parse_rules(export_rules(named, "fml"), "fml") == named
    for text, word in (
        ("VARIABLE x: low = Bell(0, 1, 2)  IF x is low THEN y = 1", "bell"),
        ("VARIABLE x: low = Gaussian(0, 1)  IF x is seldom low THEN y = 1", "seldom"),
        ("VARIABLE x: low = Gaussian(0, 1)  IF x is low AND (x is low OR x is not low) THEN y = 1", "Rule 1"),
        ("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y += 1", "sums"),
        ("VARIABLE x: low = Gaussian(0, 1)  USING t_norm = dombi  IF x is low THEN y = 1", "dombi"),
    ):
        with pytest.raises(ParameterError, match=word):
            export_rules(RuleBase.parse(text), "fml")
    assert what_is_lost(rules, "fml")


SETS = ["triangular", "trapezoidal", "rectangle", "gaussian", "s_shape", "z_shape", "ramp", "discrete"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_systems_come_back(data):
    draw = data.draw
    tame = st.floats(-9, 9).map(lambda value: round(value, 2))
    halves = [SHAPES[shape][1] for shape in ("leftGaussianShape", "rightGaussianShape")]
    half = st.builds(lambda make, *numbers: make(*numbers), st.sampled_from(halves), tame, st.integers(1, 9))
    turned = st.builds(complement, half | fuzzy_sets(tame, ["gaussian"]))
    sets = fuzzy_sets(tame, SETS) | half | turned
    inputs = tuple(Variable(name, {term: draw(sets) for term in ("low", "high")}, -9, 9) for name in ("a", "b"))
    norms = [name for name in DUAL if name != "dombi"]
    hedges = st.sampled_from([(), ("not",), ("very",), ("somewhat",), ("extremely",)])
    asked = tuple(Is(v.name, draw(st.sampled_from(["low", "high"])), draw(hedges)) for v in inputs)
    operators = {"t_norm": draw(st.sampled_from(norms)), "s_norm": DUAL[draw(st.sampled_from(norms))]}
    first = draw(st.sampled_from([And, Or]))(asked)
    if draw(st.booleans()):
        coefs = [[draw(tame) for _ in range(3)]]
        both = (Rule(first, coefs, 0.5), Rule(asked[0], [[1.0, 0.0, 0.5]]))
        rules = RuleBase(inputs, both, default=(draw(tame),), aggregation="max", **operators)
        assert parse_rules(export_rules(rules, "fml"), "fml") == rules
        return
    premises = RuleBase(inputs, (Rule(first, [[0.0]], 0.5), Rule(asked[1], [[0.0]])), aggregation="max", **operators)
    rules = concluding(
        premises,
        (Variable("y", {term: draw(sets) for term in ("s", "t")}, -9, 9),),
        ({"y": "s"}, {"y": "t"}),
        implication=draw(st.sampled_from(norms)),
        accumulation=draw(st.sampled_from([*map(DUAL.get, norms), "sum"])),
        defuzzify=draw(st.sampled_from(["centroid", "bisector", "mom", "som", "lom"])),
        default=(draw(tame),),
    )
    assert parse_rules(export_rules(rules, "fml"), "fml") == rules

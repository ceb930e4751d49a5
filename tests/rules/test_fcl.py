"""FCL: the language of the standard, and the dialects of jFuzzyLogic and fuzzylite."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_sets import EXAMPLES, fuzzy_sets
from small_systems import concluding

from fuzzymil import ParameterError, RuleBase
from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.inference.membership import FAMILIES, Discrete, Formula, Ramp, Sigmoid, Singleton, Trapezoidal, Triangular
from fuzzymil.inference.norms import DUAL
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, parse_rules, read_rules, what_is_lost, write_rules
from fuzzymil.rules.premise import And, Is, Not, Or

TIPPER = """
/* a comment
   of two lines */
FUNCTION_BLOCK tipper // another
VAR_INPUT
  service : REAL; (* and another *)
  food : REAL;
END_VAR
VAR_OUTPUT
  tip : REAL;
END_VAR
FUZZIFY service
  TERM poor := (0, 1) (4, 0);
  TERM good := (1, 0) (4,1) (6,1) (9,0);
  TERM excellent := (6, 0) (9, 1);
END_FUZZIFY
FUZZIFY food
  RANGE := (0 .. 10);
  TERM rancid := (0, 1) (1, 1) (3,0);
  TERM delicious := SIGM 4 8;
END_FUZZIFY
DEFUZZIFY tip
  TERM cheap := (0,0) (5,1) (10,0);
  TERM average := TRIAN 10 15 20;
  TERM generous := TRAPE 20 24 26 30;
  METHOD : COG;
  DEFAULT := 3;
END_DEFUZZIFY
RULEBLOCK No1
  AND : MIN;
  ACT : MIN;
  ACCU : MAX;
  RULE 1 : IF service IS poor OR food IS rancid THEN tip IS cheap;
  rule 2 : if NOT (service is poor OR service is excellent) then tip is average WITH 0.5;
  RULE 3 : IF service IS excellent AND food IS NOT rancid THEN tip IS generous;
END_RULEBLOCK
END_FUNCTION_BLOCK
"""

NUMBERS = """
FUNCTION_BLOCK numbers
VAR_INPUT a : REAL; b : REAL; END_VAR
VAR_OUTPUT y : REAL; z : REAL; END_VAR
FUZZIFY a TERM low := Ramp 1 0; TERM high := Ramp (0, 1); END_FUZZIFY
FUZZIFY b TERM low := GAUSS 0 1; END_FUZZIFY
DEFUZZIFY y
  TERM one := 1;
  TERM line := FUNCTION 2*a - b + 1/2;
  METHOD : COGS;
  DEFAULT := 0.25 | NC;
END_DEFUZZIFY
DEFUZZIFY z TERM one := 1; TERM line := Linear 0 1 2; METHOD : COGF; END_DEFUZZIFY
RULEBLOCK rules
  AND : PROD;
  RULE 1 : IF a IS low THEN y IS one, z IS one;
  RULE 2 : IF a IS high AND b IS very low THEN y IS line AND z IS line;
END_RULEBLOCK
END_FUNCTION_BLOCK
"""


def test_the_standard_and_jfuzzylogics_words():
    rules = parse_rules(TIPPER, "fcl")
    service, food = rules.variables
    assert dict(service.terms) == {"poor": Ramp(4, 0), "good": Trapezoidal(1, 4, 6, 9), "excellent": Ramp(6, 9)}
    assert dict(food.terms) == {"rancid": Discrete(0, 1, 1, 1, 3, 0), "delicious": Sigmoid(8, 4)}
    assert (food.low, food.high) == (0, 10)
    assert dict(rules.outputs[0].terms)["average"] == Triangular(10, 15, 20)
    assert (rules.outputs[0].low, rules.outputs[0].high) == (0, 30)  # of its terms
    assert (rules.t_norm, rules.s_norm, rules.default) == ("min", "max", (3.0,))
    poor, excellent = Is("service", "poor"), Is("service", "excellent")
    assert rules.rules[1].premise == Not(Or((poor, excellent)))
    assert rules.rules[1].weight == 0.5
    assert rules.rules[2].premise == And((excellent, Is("food", "rancid", ("not",))))
    found = rules.infer([[0.0, 2.0], [5.0, 5.0], [9.0, 9.0]]).output[:, 0]
    np.testing.assert_allclose(found, [5.0, 15.0, 25.0], atol=1e-4)
    again = parse_rules(export_rules(rules, "fcl"), "fcl")
    x = np.random.default_rng(0).uniform(0, 10, (50, 2))
    np.testing.assert_allclose(again.infer(x).output, rules.infer(x).output, atol=1e-9)


def test_numbers_and_linear_functions_of_the_inputs():
    text = NUMBERS.replace(" | NC", "")
    rules = parse_rules(text, "fcl")
    assert [rule.coefs for rule in rules.rules] == [
        ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
        ((0.5, 2.0, -1.0), (2.0, 0.0, 1.0)),
    ]
    np.testing.assert_array_equal(rules.default, (0.25, np.nan))
    assert (rules.t_norm, rules.s_norm) == ("product", "algebraic")
    assert parse_rules(export_rules(rules, "fcl"), "fcl") == rules
    line = parse_rules(NUMBERS, "fcl").outputs[0].terms["line"]  # with previous values, not a rule base
    assert line == Formula("0.5 + 2 * a - 1 * b")
    plain = NUMBERS.replace("FUNCTION 2*a - b + 1/2", "2").replace("Linear 0 1 2", "3")
    held = parse_rules(plain, "fcl")
    assert held.defuzzification.hold == (True, False)
    assert held.outputs[0].terms == {"one": Singleton(1), "line": Singleton(2)}
    assert parse_rules(export_rules(held, "fcl"), "fcl") == held


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("FUNCTION_BLOCK tipper", "tipper", "Unknown block 'tipper'"),
        ("END_FUNCTION_BLOCK", "END_FUNCTION_BLOCK FUNCTION_BLOCK b END_FUNCTION_BLOCK", "several function blocks"),
        ("END_RULEBLOCK", "", "RULEBLOCK has no END_RULEBLOCK"),
        ("FUZZIFY food", "FUZZIFY fod", "'fod', which VAR_INPUT does not declare"),
        ("TERM poor :=", "TERM poor", "Line 13, .*Expected a term"),
        ("TRIAN 10 15 20", "TRIAN 10 15", "TRIAN takes 3 parameters, got 2"),
        ("TRIAN 10 15 20", "TRIANG 10 15 20", "Unknown fuzzy set 'TRIANG'.*Did you mean 'TRIAN'"),
        ("(0, 1) (4, 0)", "(0, 1) (4, x)", "Expected a number, found 'x'"),
        ("(0, 1) (4, 0)", "(4, 1) (0, 0)", "ascending"),
        ("METHOD : COG;", "METHOD : COGX;", "Unknown METHOD 'COGX'"),
        ("AND : MIN;", "AND : MEAN;", "Unknown AND 'MEAN'"),
        ("ACCU : MAX;", "ACCU : MIN;", "Unknown ACCU 'MIN'"),
        ("tip IS cheap", "tip IS cheep", "Line 33, .*Unknown term 'cheep'.*Did you mean 'cheap'"),
        ("IF service IS poor OR food", "service IS poor OR food", "Expected a rule"),
        ("RANGE := (0 .. 10)", "RANGE := (0)", "Expected RANGE"),
    ],
)
def test_what_is_wrong_is_shown_where_it_is(old, new, message):
    with pytest.raises(RuleSyntaxError, match=message):
        parse_rules(TIPPER.replace(old, new, 1), "fcl")


def test_what_fcl_cannot_hold_is_told(tmp_path):
    rules = RuleBase.parse("VARIABLE é: low = Spike(0, 1)  IF é is low THEN y = 1", aggregation="max")
    told = " ".join(what_is_lost(rules, "fcl"))
    assert "'é' is written as 'e'" in told
    assert "Spike" in told
    assert write_rules(rules, tmp_path / "a.fcl") == what_is_lost(rules, "fcl")
    always = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  IF anything THEN y = 1", aggregation="max")
    assert "'is any'" in " ".join(what_is_lost(always, "fcl"))
    assert parse_rules(export_rules(always, "fcl"), "fcl") == always
    assert read_rules(tmp_path / "a.fcl").variables[0].name == "e"
    for wrong, word in (
        ("VARIABLE x: low = Gaussian(0, 1)  IF SOME x is low THEN y = 1", "quantifiers"),
        ("VARIABLE x FROM 0 TO 1: low = Gaussian(0, 1)  USING limited = yes  IF x is low THEN y = 1", "limited"),
    ):
        with pytest.raises(ParameterError, match=word):
            export_rules(RuleBase.parse(wrong), "fcl")


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_every_family_means_the_same(name):
    sets = {f"t{k}": FAMILIES[name](*parameters) for k, parameters in enumerate(EXAMPLES[name])}
    rules = RuleBase(
        (Variable("x", sets, -50, 50),), tuple(Rule(Is("x", term), [[1.0]]) for term in sets), aggregation="max"
    )
    again = parse_rules(export_rules(rules, "fcl"), "fcl")
    x = np.linspace(-50, 50, 401)[:, None]
    np.testing.assert_allclose(again.infer(x).firing, rules.infer(x).firing, atol=1e-12)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_sugeno_and_mamdani_systems_come_back(data):
    draw = data.draw
    tame = st.floats(-9, 9).map(lambda value: round(value, 2))
    kept = [name for name in FAMILIES if name not in ("rectangle", "singleton", "formula", "discrete", "missing")]
    inputs = tuple(
        Variable(name, {term: draw(fuzzy_sets(tame, kept)) for term in ("low", "high")}, -9, 9) for name in ("a", "b")
    )
    norms = [name for name in DUAL if name != "dombi"]
    asked = [
        Is(v.name, draw(st.sampled_from(["low", "high"])), draw(st.sampled_from([(), ("not",), ("very",)])))
        for v in inputs
    ]
    premise = draw(st.sampled_from([And, Or]))(tuple(asked))
    operators = {
        "t_norm": draw(st.sampled_from(norms)),
        "s_norm": DUAL[draw(st.sampled_from(norms))],
        "aggregation": "max",
    }
    if draw(st.booleans()):
        coefs = [[draw(tame) for _ in range(3)]]
        rules = RuleBase(
            inputs, (Rule(premise, coefs), Rule(asked[0], [[1.0, 0.0, 0.0]])), default=(draw(tame),), **operators
        )
        if any(coefs[0][1:]):
            assert parse_rules(export_rules(rules, "fcl"), "fcl") == rules
        return
    terms = {term: draw(fuzzy_sets(tame, kept)) for term in ("s", "t")}
    premises = RuleBase(inputs, (Rule(premise, [[0.0]], 0.5), Rule(asked[1], [[0.0]])), **operators)
    rules = concluding(
        premises,
        (Variable("y", terms, -9, 9),),
        ({"y": "s"}, {"y": "t"}),
        implication=draw(st.sampled_from(norms)),
        accumulation=draw(st.sampled_from([*map(DUAL.get, norms), "sum"])),
        defuzzify=draw(st.sampled_from(["centroid", "bisector", "mom", "som", "lom"])),
        default=(draw(tame),),
        hold=draw(st.booleans()),
    )
    assert parse_rules(export_rules(rules, "fcl"), "fcl") == rules

"""What is wrong or not supported in FLL and .fis texts: one class of error, the line, what was expected; no hangs."""

import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil.errors import RuleSyntaxError
from fuzzymil.formats import fis, fll
from fuzzymil.formats.system import to_rules
from fuzzymil.language import MAX_TEXT

FLL = """Engine: lamp
InputVariable: ambient
  enabled: true
  range: 0.000 1.000
  lock-range: false
  term: dark Triangle 0.000 0.000 0.500
  term: bright Gaussian 1.000 0.300
InputVariable: hour
  range: 0 24
  term: late Sigmoid 20 2
OutputVariable: power
  range: 0.000 1.000
  aggregation: none
  defuzzifier: WeightedAverage TakagiSugeno
  default: nan
  term: high Constant 1.000
  term: rising Linear -0.500 0.1 0.800
RuleBlock: rules
  conjunction: Minimum
  disjunction: Maximum
  activation: General
  rule: if ambient is very dark and (hour is late or hour is any) then power is high
  rule: if ambient is not dark then power is rising with 0.5
"""

FIS = """[System]
Name='lamp'
Type='sugeno'
NumInputs=2
NumOutputs=1
NumRules=2
AndMethod='min'
OrMethod='max'
DefuzzMethod='wtaver'

[Input1]
Name='ambient'
Range=[0 1]
NumMFs=2
MF1='dark':'trimf',[0 0 0.5]
MF2='bright':'gaussmf',[0.3 1]

[Input2]
Name='hour'
Range=[0 24]
MF1='late':'sigmf',[2 20]

[Output1]
Name='power'
Range=[0 1]
MF1='high':'constant',[1]
MF2='rising':'linear',[-0.5 0.1 0.8]

[Rules]
1 -1, 1 (1) : 1
-1 0, 2 (0.5) : 2
"""

MAMDANI_FLL = """InputVariable: ambient
  term: dark Gaussian 0 0.3
OutputVariable: power
  range: 0 1
  aggregation: Maximum
  defuzzifier: Centroid 100
  term: high Triangle 0 1 1
RuleBlock: rules
  implication: Minimum
  rule: if ambient is dark then power is high
"""

MAMDANI_FIS = """[System]
Type='mamdani'
AndMethod='min'
OrMethod='max'
ImpMethod='min'
AggMethod='max'
DefuzzMethod='centroid'
[Input1]
Name='ambient'
Range=[0 1]
MF1='dark':'gaussmf',[0.3 0]
[Output1]
Name='power'
Range=[0 1]
MF1='high':'trimf',[0 1 1]
[Rules]
1, 1 (1) : 1
"""


def changed(text, old, new):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def refused(read, text):
    with pytest.raises(RuleSyntaxError) as caught:
        to_rules(read(text))
    return str(caught.value)


def test_the_texts_themselves_are_sound():
    for text in (FLL, MAMDANI_FLL):
        to_rules(fll.read(text))
    for text in (FIS, MAMDANI_FIS):
        to_rules(fis.read(text))


def test_an_error_shows_the_line_and_points_at_the_word():
    text = changed(FLL, "ambient is not dark", "ambient is not drak")
    assert refused(fll.read, text) == (
        "Line 23, character 28: Unknown term of 'ambient': 'drak'; known are dark, bright. Did you mean 'dark'?\n"
        "    rule: if ambient is not drak then power is rising with 0.5\n"
        "                            ^"
    )
    text = changed(FIS, "'trimf',[0 0 0.5]", "'trimf',[0 O 0.5]")
    assert refused(fis.read, text) == (
        "Line 15, character 23: Expected a parameter of trimf, found 'O'.\n"
        "  MF1='dark':'trimf',[0 O 0.5]\n"
        "                        ^"
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Engine: lamp", "Motor: lamp", "Line 1, .*Unknown section: 'Motor'"),
        ("Engine: lamp", "Engine: lamp\nEngine: lamp", "Engine 'lamp' is declared twice"),
        ("enabled: true", "enabled true", "Line 3, character 3: Expected 'key: value'"),
        ("enabled: true", "enabled: yes", "Line 3, .*Unknown enabled: 'yes'; known are true, false"),
        ("enabled: true", "enabled: false", "Line 2, .*not enabled"),
        ("enabled: true", "enabld: true", "Unknown entry of InputVariable: 'enabld'.*Did you mean 'enabled'"),
        ("range: 0.000 1.000", "range: 0", "Line 4, .*Expected two numbers"),
        ("range: 0.000 1.000", "range: 1 0", "ends before it begins"),
        ("range: 0.000 1.000", "range: 0 1\n  range: 0 1", "'range' is given twice"),
        ("range: 0.000 1.000", "range: 0 1_0", "Expected a number, found '1_0'"),
        ("InputVariable: ambient", "InputVariable:", "needs a name of one word"),
        ("InputVariable: ambient", "InputVariable: ambient light", "needs a name of one word"),
        ("InputVariable: hour", "InputVariable: ambient", "Line 8, .*'ambient' is declared twice"),
        ("term: bright", "term: dark", "Line 7, .*'dark' is defined twice"),
        ("term: bright Gaussian 1.000 0.300", "term: bright", "Expected a term"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000", "Gaussian has 2 parameters, got 1"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 0.300 0.5", "height of a term must be 1"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 0", "Line 7, character 16: Gaussian: width must be greater than 0"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 inf", "Expected a parameter of Gaussian, found 'inf'"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 1e999", "found '1e999'"),
        ("Gaussian 1.000 0.300", "Ramp 1 0", "Unknown kind of term here: 'Ramp'; known are Gaussian, Bell"),
        ("Gaussian 1.000 0.300", "Rectangle 1", "Unknown kind of term here: 'Rectangle'"),
        ("Gaussian 1.000 0.300", "Constant 1", "Unknown kind of term here: 'Constant'"),
        ("Triangle 0.000 0.000 0.500", "Triangle 1 0 2", "left <= peak_at <= right"),
        ("Constant 1.000", "Function ambient*2", "Expected a coefficient|Unknown kind of conclusion"),
        ("Constant 1.000", "Function 1", "Unknown kind of conclusion: 'Function'; known are Constant, Linear"),
        ("Constant 1.000", "Sigmoid 1 2", "Tsukamoto"),
        ("Constant 1.000", "Constant 1 2", "Constant needs 1 number"),
        ("Linear -0.500 0.1 0.800", "Linear -0.500 0.800", "Linear needs 3 number"),
        ("WeightedAverage TakagiSugeno", "WeightedAverage Tsukamoto", "Only Takagi-Sugeno"),
        ("WeightedAverage TakagiSugeno", "WeightedAvg", "Unknown defuzzifier.*Did you mean 'WeightedAverage'"),
        ("WeightedAverage TakagiSugeno", "none", "Line 11, .*needs a defuzzifier"),
        ("default: nan", "default: inf", "must be a number or nan"),
        ("default: nan", "lock-previous: true", "lock-previous"),
        ("default: nan", "lock-range: true", "cut off at its range"),
        ("conjunction: Minimum", "conjunction: none", "Line 22, .*'and', but its block has no conjunction"),
        ("disjunction: Maximum", "disjunction: none", "'or', but its block has no disjunction"),
        ("conjunction: Minimum", "conjunction: DrasticProduct", "Unknown conjunction: 'DrasticProduct'; known are Alg"),
        ("activation: General", "activation: Highest 1", "'Highest 1' is not supported: General"),
        ("if ambient is very", "ambient is very", "Expected 'if', found 'ambient'"),
        ("if ambient is very", "if ambent is very", "Unknown variable: 'ambent'.*Did you mean 'ambient'"),
        ("if ambient is very", "if ambient very", "Expected 'is', found 'very'"),
        ("very dark", "extreme dark", "Unknown term of 'ambient': 'extreme'"),
        ("hour is any)", "hour is any", "Expected 'and' or 'or' or '\\)', found 'then'"),
        ("hour is any)", "hour is any))", "Expected 'and' or 'or' or 'then', found '\\)'"),
        ("then power is high", "", "Expected 'and' or 'or' or 'then', found the end of the rule"),
        ("then power is high", "then", "Expected a output; the rule ends here|Expected an output"),
        ("power is high", "power is hihg", "Unknown term of 'power': 'hihg'.*Did you mean 'high'"),
        ("power is high", "power is very high", "Hedges in a conclusion"),
        ("power is high", "light is high", "Unknown output: 'light'; known are power"),
        ("power is high", "power is high and power is high", "concludes 'power' twice"),
        ("with 0.5", "with", "Expected the weight of the rule, found ''"),
        ("with 0.5", "with -1", "must not be negative"),
        ("with 0.5", "with 0.5 0.5", "Expected 'and', 'with' or the end of the rule"),
        (FLL[FLL.index("RuleBlock") :], "", "holds no rule"),
        (FLL[FLL.index("OutputVariable") :], "", "no OutputVariable"),
    ],
)
def test_fll_that_is_wrong_or_not_supported(old, new, message):
    found = refused(fll.read, changed(FLL, old, new))
    assert pytest.raises(AssertionError, lambda: None) if False else __import__("re").search(message, found), found

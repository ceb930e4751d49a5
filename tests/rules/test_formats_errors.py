"""What is wrong or not supported in FLL and .fis texts: one class of error, the line, what was expected; no hangs."""

import functools

import numpy as np
import pytest

from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.rules.files import fis, fll, parse_rules
from fuzzymil.rules.files._system import rules_of
from fuzzymil.rules.language.parser import MAX_TEXT

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
        rules_of(read(text))
    return str(caught.value)


def test_the_texts_themselves_are_sound():
    for text in (FLL, MAMDANI_FLL):
        rules_of(fll.read(text))
    for text in (FIS, MAMDANI_FIS):
        rules_of(fis.read(text))


def test_an_error_shows_the_line_and_points_at_the_word():
    text = changed(FLL, "ambient is not dark", "ambient is not drak")
    message = refused(fll.read, text)
    assert message.startswith("Line 23, character 27: ")
    assert message.endswith(
        " Did you mean 'dark'?\n"
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
        ("Engine: lamp", "Motor: lamp", "Line 1, .*Unknown section.*'Motor'"),
        ("Engine: lamp", "Engine: lamp\nEngine: lamp", "Engine 'lamp' is declared twice"),
        ("enabled: true", "enabled true", "Line 3, character 3: Expected 'key: value'"),
        ("enabled: true", "enabled: yes", "Line 3, .*Unknown enabled.*'yes'.*true, false"),
        ("enabled: true", "enabld: true", "Unknown InputVariable entry.*'enabld'.*Did you mean 'enabled'"),
        ("range: 0.000 1.000", "range: 0", "Line 4, .*Expected two numbers"),
        ("range: 0.000 1.000", "range: 1 0", "low <= high"),
        ("range: 0.000 1.000", "range: 0 1\n  range: 0 1", "'range'.* twice"),
        ("range: 0.000 1.000", "range: 0 1_0", "Expected a number, found '1_0'"),
        ("InputVariable: ambient", "InputVariable:", "needs a name of one word"),
        ("InputVariable: ambient", "InputVariable: ambient light", "needs a name of one word"),
        ("InputVariable: hour", "InputVariable: ambient", "Line 8, .*'ambient' is declared twice"),
        ("term: bright Gaussian 1.000 0.300", "term: bright", "Expected a term"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000", "Gaussian .*2 parameters, got 1"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 0.300 0.5", "height of Gaussian must be 1"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 0", "Line 7, character 16: Gaussian: width must be greater than 0"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 inf", "Gaussian has a parameter that is not a finite number"),
        ("Gaussian 1.000 0.300", "Gaussian 1.000 1e999", "found '1e999'"),
        ("Gaussian 1.000 0.300", "Slope 1 0", "Unknown kind of term.*'Slope'.*Gaussian, Bell"),
        ("Gaussian 1.000 0.300", "Rectangle 1", "Rectangle takes 2 parameters, got 1"),
        ("Gaussian 1.000 0.300", "Triangle nan 1 2", "Triangle has a parameter that is not a finite number"),
        ("Gaussian 1.000 0.300", "Discrete 1 0 0 1", "Discrete: .*ascending"),
        ("Gaussian 1.000 0.300", "Function 1 +", "character 4.*found the end"),
        ("Gaussian 1.000 0.300", "Function 1 - hour", "called x, found 'hour'"),
        ("Gaussian 1.000 0.300", "Constant 1", "Unknown kind of term.*'Constant'"),
        ("Triangle 0.000 0.000 0.500", "Triangle 1 0 2", "left <= peak_at <= right"),
        ("Constant 1.000", "Function ambent*2", "uses 'ambent'.* neither an input .*Did you mean 'ambient'"),
        ("Constant 1.000", "Function x*2", "uses 'x'.* neither an input"),
        ("Linear -0.500 0.1 0.800", "Triangle 0 1 2", "'rising' of 'power' is a Triangular.*Singleton"),
        ("Constant 1.000", "Constant 1 2", "Constant .*1 number"),
        ("Linear -0.500 0.1 0.800", "Linear 0.800", "Linear .*3 number"),
        ("WeightedAverage TakagiSugeno", "WeightedAverage Sugeno", "Unknown kind of inference.*TakagiSugeno"),
        ("WeightedAverage TakagiSugeno", "WeightedAvg", "Unknown defuzzifier.*Did you mean 'WeightedAverage'"),
        ("WeightedAverage TakagiSugeno", "none", "Line 11, .*needs a defuzzifier"),
        ("default: nan", "default: inf", "must be a number or nan"),
        ("conjunction: Minimum", "conjunction: none", "Line 22, .*'and', but its block has no conjunction"),
        ("disjunction: Maximum", "disjunction: none", "'or', but its block has no disjunction"),
        ("conjunction: Minimum", "conjunction: Product", "Unknown conjunction.*'Product'.*Alg"),
        ("activation: General", "activation: Some 1", "Unknown activation.*'Some'.*General"),
        ("activation: General", "activation: First 1 x", "activation must be 'general', 'first 1 0'"),
        ("activation: General", "activation: Threshold", "activation must be .*'threshold >= 0.5'"),
        ("if ambient is not dark", "if power is very high", "condition about an output .*without hedges"),
        ("if ambient is very", "ambient is very", "Expected 'if', found 'ambient'"),
        ("if ambient is very", "if ambent is very", "Unknown variable.*'ambent'.*Did you mean 'ambient'"),
        ("if ambient is very", "if ambient very", "Expected 'is', found 'very'"),
        ("very dark", "extreme dark", "Unknown hedge 'extreme'; choose from not, very.*Did you mean 'extremely'"),
        ("hour is any)", "hour is any", "Expected 'and' or 'or' or '\\)', found 'then'"),
        ("hour is any)", "hour is any))", "Expected 'and' or 'or' or 'then', found '\\)'"),
        ("then power is high", "", "Expected 'and' or 'or' or 'then', found the end of the rule"),
        ("then power is high", "then", "Expected output, found the end"),
        ("power is high", "power is hihg", "Unknown term 'hihg' of 'power'.*Did you mean 'high'"),
        ("power is high", "light is high", "Unknown output.*'light'.*power"),
        ("with 0.5", "with", "Expected the weight of the rule, found ''"),
        ("with 0.5", "with -1", "weight .*at least 0"),
        ("with 0.5", "with 0.5 0.5", "Expected 'and', 'with' or the end of the rule"),
        (FLL[FLL.index("OutputVariable") :], "", "no OutputVariable"),
    ],
)
def test_fll_that_is_wrong_or_not_supported(old, new, message):
    with pytest.raises(RuleSyntaxError, match=message):
        rules_of(fll.read(changed(FLL, old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("range: 0 1", "range: 0 inf", "needs a finite range"),
        ("range: 0 1", "range: 1 1", "needs a finite range"),
        ("aggregation: Maximum", "aggregation: none", "needs an aggregation"),
        ("implication: Minimum", "implication: none", "implication"),
        ("Centroid 100", "Centroid 1", "at least 2"),
        ("Centroid 100", "Centroid 10.5", "at least 2"),
        ("Centroid 100", "Centroid 100 100", "at least 2"),
        ("Triangle 0 1 1", "Constant 1", "Unknown kind of term.*'Constant'"),
        ("is high", "is very high with 2", "weight of rule 1, which concludes a set, must be at most 1"),
    ],
)
def test_mamdani_fll_that_is_wrong_or_not_supported(old, new, message):
    with pytest.raises(RuleSyntaxError, match=message):
        rules_of(fll.read(changed(MAMDANI_FLL, old, new)))


def test_what_blocks_must_share():
    block = (
        "RuleBlock: more\n  conjunction: EinsteinProduct\n  rule: if hour is late and hour is late then power is high\n"
    )
    with pytest.raises(RuleSyntaxError, match=r"Line 25, .*same conjunction"):
        fll.read(FLL + block)
    without = block.replace("EinsteinProduct", "none").replace("hour is late and ", "")
    assert len(fll.read(FLL + without).rules) == 3


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[System]", "[Sytem]", r"Line 1, .*Expected \[System\]"),
        ("[System]", "", r"Line 2, .*Expected \[System\]"),
        (FIS[: FIS.index("[Input1]")], "", r"no \[System\]"),
        ("Name='lamp'", "Name='lamp'\nName='lamp'", "Line 3, .*Name .*twice"),
        ("Type='sugeno'", "Type=sugeno", "Expected Type='...'"),
        ("Type='sugeno'", "Type='anfis'", "Unknown Type.*'anfis'.*sugeno, mamdani"),
        ("Type='sugeno'", "", r"Line 1, .*Type"),
        ("NumInputs=2", "NumInputs=3", "Line 4, .*NumInputs is 3, but there are 2"),
        ("NumRules=2", "NumRules=two", "Expected a whole number, found 'two'"),
        ("AndMethod='min'", "AndMethod='product'", "Unknown AndMethod.*'product'.*prod, min"),
        ("DefuzzMethod='wtaver'", "DefuzzMethod='centroid'", "Unknown DefuzzMethod.*'centroid'.*wtaver"),
        ("[Input2]", "[Input3]", r"Line 18, .*numbered from \[Input1\] to \[Input2\]"),
        ("[Input2]", "[Input1]", r"\[Input1\].* twice"),
        ("Name='hour'", "Name='ambient'", "Two inputs .*'ambient'"),
        ("Name='hour'", "", r"Line 18, .*Name"),
        ("Range=[0 24]", "Range=0 24", r"Expected Range=\[low high\]"),
        ("Range=[0 24]", "Range=[24 0]", "low <= high"),
        ("MF2='bright'", "MF3='bright'", "numbered from MF1 to MF2, found MF3"),
        ("MF2='bright'", "MF2=bright", "Expected 'name':'kind'"),
        ("'gaussmf',[0.3 1]", "'gauss3mf',[0.3 1 2 2]", "Unknown membership function.*'gauss3mf'.*gaussmf"),
        ("'gaussmf',[0.3 1]", "'gaussmf',[0.3 1 2]", "gaussmf .*2 parameters, got 3"),
        ("'gaussmf',[0.3 1]", "'gaussmf',[0.3 pie]", "Expected a parameter of gaussmf, found 'pie'"),
        ("'gaussmf',[0.3 1]", "'gaussmf',[0.3]", "gaussmf .*2 parameters, got 1"),
        ("'gaussmf',[0.3 1]", "'gaussmf',[0 1]", "Line 16, .*Gaussian: width must be greater than 0"),
        ("'constant',[1]", "'constant',[1 2]", "constant .*1 number"),
        ("'constant',[1]", "'trimf',[0 1 2]", "'high' of 'power' is a Triangular"),
        ("'linear',[-0.5 0.1 0.8]", "'linear',[-0.5 0.8]", "linear .*3 number"),
        ("1 -1, 1 (1) : 1", "1 -1 1 (1) : 1", "Line 30, .*Expected a rule: '1 0 -2, 1"),
        ("1 -1, 1 (1) : 1", "1, 1 (1) : 1", r"Expected 2 number\(s\) here, found 1"),
        ("1 -1, 1 (1) : 1", "1 -2, 1 (1) : 1", "There is no term 2: the variable has 1"),
        ("1 -1, 1 (1) : 1", "1.7 -1, 1 (1) : 1", "fraction.*hedge: 0.05, 0.2"),
        ("1 -1, 1 (1) : 1", "1 -1, -1 (1) : 1", "Line 30, .*'not' .*'power', a number"),
        ("1 -1, 1 (1) : 1", "1 -1, 1 (-1) : 1", "weight .*at least 0"),
        ("1 -1, 1 (1) : 1", "1 -1, 1 () : 1", "Expected the weight of the rule"),
        ("1 -1, 1 (1) : 1", "1 -1, 1 (1) : 3", "Expected 1 .*or 2"),
        (FIS[FIS.index("1 -1,") :], "", "NumRules is 2, but there are 0"),
    ],
)
def test_fis_that_is_wrong_or_not_supported(old, new, message):
    with pytest.raises(RuleSyntaxError, match=message):
        rules_of(fis.read(changed(FIS, old, new)))


def test_mamdani_fis_needs_a_finite_range_and_fuzzy_conclusions():
    with pytest.raises(RuleSyntaxError, match=r"Line 14, .*needs a finite range"):
        fis.read(MAMDANI_FIS.replace("Range=[0 1]\nMF1='high'", "Range=[0 0]\nMF1='high'"))
    with pytest.raises(RuleSyntaxError, match=r"Unknown membership function.*'constant'"):
        fis.read(changed(MAMDANI_FIS, "'trimf',[0 1 1]", "'constant',[1]"))
    with pytest.raises(RuleSyntaxError, match="Unknown AggMethod"):
        fis.read(changed(MAMDANI_FIS, "AggMethod='max'", "AggMethod='mean'"))


# ---------------------------------------------------------------------- great, deep and random texts


@pytest.mark.parametrize(
    "read", [functools.partial(parse_rules, format=format) for format in ("fll", "fis")], ids=["fll", "fis"]
)
def test_no_text_and_too_much_text(read):
    for wrong in (None, 3, b"Engine: x", ["Engine: x"]):
        with pytest.raises(RuleSyntaxError, match="text, got"):
            read(wrong)
    for empty in ("", "\n \n", "# nothing", "\0"):
        with pytest.raises(RuleSyntaxError):
            read(empty)
    with pytest.raises(RuleSyntaxError, match="10,000,000 characters"):
        read("x" * 10_000_000)
    for sign in "([':,\n\0\u00e4":
        with pytest.raises(RuleSyntaxError):
            read(sign * (MAX_TEXT // 10))


@pytest.mark.parametrize("inner", ["hour is late", ""])
@pytest.mark.parametrize("closed", [True, False])
def test_brackets_ten_thousand_deep(inner, closed):
    deep = "(" * 10_000 + inner + ")" * (10_000 * closed)
    with pytest.raises(RuleSyntaxError, match="more than 100 levels"):
        fll.read(changed(FLL, "(hour is late or hour is any)", deep))


def test_levels_without_brackets_are_limited_too():
    with pytest.raises(RuleSyntaxError, match="at most 100 hedges"):
        fll.read(changed(FLL, "very dark", "very " * 10_000 + "dark"))
    alternating = "(hour is late or hour is any and " * 60 + "hour is late" + ")" * 60
    with pytest.raises(RuleSyntaxError, match="more than 100 levels"):
        fll.read(changed(FLL, "(hour is late or hour is any)", alternating))


def test_short_text_for_more_coefficients_than_memory_holds():
    inputs = "".join(f"InputVariable: x{d}\n" for d in range(4000))
    output = "OutputVariable: y\n  defuzzifier: WeightedAverage\n  term: t Linear" + " 1" * 4001
    rules = "\nRuleBlock:\n" + "  rule: if x1 is any then y is t\n" * 4000
    with pytest.raises(RuleSyntaxError, match=r"16,004,000 coefficients.* 10,000,000"):
        rules_of(fll.read(inputs + output + rules))


WORDS = {
    "fll": "is and or ( ) not any with then : # nan -1 1e9 none true false inf rule: term:",
    "fis": "' [ ] , : ( ) = 0 -1 2 % nan 1e9 MF3 Range [Rules] [Input3] [System] inf",
}


def damaged(text, words, n, seed):
    """Go through texts with one or two accidents each: a piece lost, doubled, moved or turned, something put in."""
    words = words.split()
    letters = [chr(code) for code in (*range(32, 127), 0, 9, 10, 13, 0xE4, 0x2028, 0x1F600)]
    for twice, *numbers in np.random.default_rng(seed).integers(0, 1 << 30, (n, 11)).tolist():
        found = text
        for kind, start, length, letter, other in (numbers[:5], numbers[5:])[: 1 + twice % 2]:
            start, length, other = start % (len(found) + 1), length % 9, other % (len(found) + 1)
            piece, rest = found[start : start + length], found[start + length :]
            put = [
                "",
                2 * piece,
                piece[::-1],
                found[other : other + length],
                piece + letters[letter % len(letters)],
                f"{piece} {words[letter % len(words)]} ",
                piece + "\n",
            ]
            found = found[:start] + put[kind % len(put)] + rest
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("read", "words", "texts"),
    [(fll.read, WORDS["fll"], (FLL, MAMDANI_FLL)), (fis.read, WORDS["fis"], (FIS, MAMDANI_FIS))],
    ids=["fll", "fis"],
)
def test_twenty_thousand_damaged_texts_raise_one_kind_of_error_or_are_read(read, words, texts):
    counts = {"read": 0, "refused": 0}
    for seed, text in enumerate(texts):
        for attempt in damaged(text, words, 10_000, seed):
            try:
                rules_of(read(attempt))
            except RuleSyntaxError:
                counts["refused"] += 1
            else:
                counts["read"] += 1
    assert sum(counts.values()) == 20_000
    assert min(counts.values()) > 1_000, counts

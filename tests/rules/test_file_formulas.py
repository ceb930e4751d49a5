"""What files of other programs compute by formulas: numbers from inputs, complements, and terms joined from others."""

from pathlib import Path

import numpy as np
import pytest
from slow_sets import EXAMPLES

from fuzzymil import ParameterError
from fuzzymil._utils.errors import RuleSyntaxError
from fuzzymil.inference.membership import FAMILIES, Discrete, Formula, Gaussian, Singleton, Triangular
from fuzzymil.rules import RuleBase, Variable
from fuzzymil.rules.files import export_rules, parse_rules, read_rules, what_is_lost
from fuzzymil.rules.files._sets import formula_of, formula_text
from fuzzymil.rules.premise import And, Is, Not, Or

SYSTEMS = Path(__file__).parents[1] / "data" / "systems"
FLL = (SYSTEMS / "computed.fll").read_text(encoding="utf-8")
A = np.array([0.5, 2.0, 7.0])


def expected(a):
    guessed = (1 - a / 10) + a / 10 * (0.5 * a - 1)
    return np.column_stack([guessed, np.sin(a) / a, np.abs(guessed - np.sin(a) / a)])


def test_an_output_is_computed_from_inputs_and_from_outputs_before_it():
    rules = parse_rules(FLL, "fll")
    np.testing.assert_allclose(rules.infer(A[:, None]).output, expected(A), rtol=1e-12)
    assert rules.outputs[0].terms == {"one": Singleton(1), "line": Formula("-1 + 0.5 * a")}
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules


@pytest.mark.parametrize("format", ["fll", "fis", "fcl"])
def test_formulas_of_inputs_keep_their_meaning_in_files(format):
    rules = parse_rules(FLL, "fll")
    again = parse_rules(export_rules(rules, format), format)
    np.testing.assert_allclose(again.infer(A[:, None]).output, expected(A), rtol=1e-12)


def test_a_bag_has_the_mean_of_its_instances_numbers():
    rules = parse_rules(FLL, "fll")
    found = rules.infer([A[:, None]]).output[0]
    assert found[1] == pytest.approx(np.mean(np.sin(A) / A))
    assert found[2] == pytest.approx(np.mean(np.abs(found[0] - np.sin(A) / A)), abs=1.0)  # of the bag's own outputs
    assert np.isnan(rules.with_answers().infer([[np.nan]]).output).sum() == 0  # an unknown number concludes nothing


def test_formulas_that_no_format_can_hold_are_refused():
    rules = parse_rules(FLL, "fll")
    with pytest.raises(ParameterError, match=r"formula|Formula"):
        what_is_lost(rules, "fml")
    mixed = parse_rules(FLL.replace("Constant 1", "Ramp 0 1"), "fll")
    with pytest.raises(ParameterError, match="'guessed'"):
        export_rules(mixed, "fll")


def test_what_is_wrong_with_a_formula_is_named():
    with pytest.raises(RuleSyntaxError, match=r"Line 18, .*'guesed'.*Did you mean 'guessed'"):
        parse_rules(FLL.replace("(guessed-", "(guesed-"), "fll")
    with pytest.raises(RuleSyntaxError, match=r"Line 14, .*'error', which is neither an input nor an output before"):
        parse_rules(FLL.replace("sin(a)/a", "sin(error)/a"), "fll")
    text = 'VARIABLE a: low = Formula("1 - b")\nOUTPUT y: n = Formula("a", 1, 2)\nIF a is low THEN y is n'
    with pytest.raises(RuleSyntaxError, match=r"Line 1, .*'low' of 'a' .*called x, found 'b'"):
        RuleBase.parse(text)
    with pytest.raises(ParameterError, match=r"'n' of 'y' is a number.*shift or scale"):
        RuleBase.parse(text.replace("- b", "- x"), defuzzify="average")
    with pytest.raises(ParameterError, match="'low' of 'a' is no set"):
        RuleBase.parse("IF a is low THEN y = 1", [Variable("a", {"low": Formula("1 - b")})])


FIS = (SYSTEMS / "complement.fis").read_text(encoding="utf-8")


def test_a_negative_conclusion_is_the_complement_of_its_set():
    rules = parse_rules(FIS, "fis")
    y = np.linspace(0, 10, 101)
    fast = np.clip((y - 5) / 5, 0, 1)
    for degree in (0.0, 0.3, 1.0):
        joined = np.maximum(np.minimum(degree, 1 - fast), np.minimum(1 - degree, fast))
        assert rules.infer([[degree]]).output[0, 0] == pytest.approx((y * joined).sum() / joined.sum(), rel=1e-12)
    assert rules.rules[0].terms == {"speed": Is("speed", "not fast")}
    assert list(rules.outputs[0].terms) == ["slow", "fast", "not fast"]


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("formula", "missing")])
def test_every_set_is_a_formula(name):
    x = np.linspace(-50, 60, 2001)
    for parameters in EXAMPLES.get(name, [(0.5,) if name == "singleton" else (0.0, 1.0)]):
        chosen = FAMILIES[name](*parameters)
        near = np.concatenate([x, parameters, np.linspace(-1, 2, 301)])
        for text in (formula_of(chosen), formula_text(formula_of(chosen), {})):
            np.testing.assert_allclose(Formula(text)(near), chosen(near), atol=1e-14)


def test_a_set_of_points_and_a_moved_formula_are_formulas():
    x = np.linspace(-2, 3, 501)
    for chosen in (Discrete(-1, 0.2, 0, 1, 1, 0.3, 1, 0.8, 2, 0), Formula("exp(-x^2)", 1, 2), Triangular(0, 0, 1)):
        np.testing.assert_allclose(Formula(formula_of(chosen))(x), chosen(x), atol=1e-14)
    assert formula_text("2*x - a", {"a": "depth"}) == "(2 * x) - depth"
    assert "-" not in formula_text("exp(-x)", {}).replace("0 - ", "")


FML = (SYSTEMS / "joined.fml").read_text(encoding="utf-8")


def test_fml_joins_terms_and_variables():
    rules = parse_rules(FML, "fml")
    food = rules.variables[0].terms
    x = np.linspace(0, 10, 101)
    bad, good = np.clip((3 - x) / 2, 0, 1), np.clip((x - 4) / 4, 0, 1)
    np.testing.assert_allclose(food["not good"](x), 1 - good, atol=1e-14)
    np.testing.assert_allclose(food["clear"](x), np.minimum(1, bad + good**2), atol=1e-14)
    parts = Is("food", "good"), Is("service", "poor", ("not",))
    very = And((Is("food", "good", ("very",)), Is("service", "poor", ("very", "not"))))
    assert rules.rules[1].premise == Or((very, Not(And(parts))))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('t-conorm="BSUM"', 't-conorm="ESUM"', "'clear' of 'food'.*'ESUM'"),
        ("<termName>bad", "<termName>bda", "refers to 'bda'.*bad, good"),
        ("<circularDefinition>", "<circularDefinition><xor/>", "found <xor>"),
        ('<and t-norm="MIN">', '<and t-norm="PROD">', "'nice' of 'meal' has t-norm 'PROD'.*min"),
        ('orMethod="MAX"><ant', 'orMethod="BSUM"><ant', "Rule 2 has orMethod 'BSUM'.*max"),
    ],
)
def test_what_is_wrong_with_joined_terms_is_named(old, new, message):
    assert FML.count(old) == 1
    with pytest.raises(RuleSyntaxError, match=message):
        parse_rules(FML.replace(old, new), "fml")
    with pytest.raises(RuleSyntaxError, match="Rule 2: only 'not' can modify 'meal'"):
        parse_rules(FML.replace('"MIN"', '"PROD"'), "fml")


SECOND = """FUNCTION_BLOCK second
VAR_INPUT b : REAL; END_VAR
VAR_OUTPUT z : REAL; END_VAR
FUZZIFY b TERM low := (0, 1) (10, 0); END_FUZZIFY
DEFUZZIFY z TERM one := 1; METHOD : COGS; END_DEFUZZIFY
RULEBLOCK r RULE 1 : IF b IS low THEN z IS one; END_RULEBLOCK
END_FUNCTION_BLOCK
"""
FCL = (SYSTEMS / "formulas.fcl").read_text(encoding="utf-8") + SECOND


def test_fcl_with_several_blocks_and_conclusions(tmp_path):
    rules = parse_rules(FCL, "fcl", block="first")
    assert [rule.terms["y"].term for rule in rules.rules] == ["very", "none", "very"]
    low, high = 0.7, 0.3**2
    number = 5 * np.sin(3.0) + 3.0
    assert rules.infer([[3.0]]).output[0, 0] == pytest.approx((low + high) * number / (low + high + low))
    path = tmp_path / "two.fcl"
    path.write_text(FCL)
    assert read_rules(path, block="second").feature_names == ("b",)
    with pytest.raises(RuleSyntaxError, match=r"several function blocks.*first, second.*block='first'"):
        read_rules(path)
    with pytest.raises(RuleSyntaxError, match=r"no function block 'third'.*first, second"):
        read_rules(path, block="third")
    with pytest.raises(ParameterError, match="Only FCL has"):
        parse_rules("", "fll", block="first")


def test_a_set_of_a_formula_is_no_number():
    with pytest.raises(ParameterError, match=r"'peak' of 'y'.* is no set"):
        RuleBase.parse(
            "IF a is low THEN y is peak",
            [Variable("a", {"low": Gaussian(0, 1)})],
            [Variable("y", {"peak": Formula("a")}, 0, 1)],
        )


# ---------------------------------------------------------------------- names in formulas

CONTROL = """
Engine: control
InputVariable: e
  range: -1 1
  term: n Ramp 1 -1
  term: p Ramp -1 1
OutputVariable: u
  range: -1 1
  aggregation: none
  defuzzifier: WeightedAverage TakagiSugeno
  default: nan
  term: line Function 2*e + 1
  term: square Function e*e
RuleBlock:
  conjunction: Minimum
  rule: if e is n then u is line
  rule: if e is p then u is square
"""
TWO_OUTPUTS = """
[System]
Name='two'
Type='sugeno'
NumInputs=3
NumOutputs=2
NumRules=2
AndMethod='prod'
OrMethod='probor'
DefuzzMethod='wtaver'
[Input1]
Name='a-b'
Range=[0 1]
MF1='low':'trimf',[-1 0 1]
MF2='high':'trimf',[0 1 2]
[Input2]
Name='a'
Range=[0 1]
[Input3]
Name='b'
Range=[0 1]
[Output1]
Name='u'
Range=[0 1]
MF1='line':'linear',[1 0 2 0]
[Output2]
Name='v'
Range=[0 1]
MF1='number':'constant',[0.3]
[Rules]
1 0 0, 1 1 (1) : 1
2 0 0, 1 0 (1) : 1
"""


@pytest.mark.parametrize("format", ["fll", "fis", "fcl", "rules"])
def test_an_input_called_e_is_no_constant(format):
    rules = parse_rules(CONTROL, "fll")
    expected = 0.25 * (2 * 0.5 + 1) + 0.75 * 0.5**2
    assert rules.infer([[0.5]]).output[0, 0] == pytest.approx(expected)
    assert parse_rules(export_rules(rules, format), format).infer([[0.5]]).output[0, 0] == pytest.approx(expected)
    assert Formula("e * x")(0.1) == pytest.approx(0.1 * np.e)  # the constant where nothing has its name


@pytest.mark.parametrize("format", ["fll", "fis", "fcl", "rules"])
def test_names_that_look_like_arithmetic_are_names(format):
    rules = parse_rules(TWO_OUTPUTS, "fis")
    x, expected = [[0.5, 0.2, 0.1]], [0.5 + 2 * 0.1, 0.3]
    np.testing.assert_allclose(rules.infer(x).output[0], expected)
    np.testing.assert_allclose(parse_rules(export_rules(rules, format), format).infer(x).output[0], expected)


def test_linear_conclusions_stay_linear_in_fis_files():
    written = export_rules(parse_rules(TWO_OUTPUTS, "fis"), "fis")
    assert "'line':'linear',[1 0 2 0]" in written
    assert "function" not in written


def test_fis_files_do_not_change_how_strengths_are_joined():
    rules = RuleBase.parse("""
    VARIABLE a FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)
    OUTPUT u FROM 0 TO 1: small = Singleton(0), big = Singleton(1)
    USING defuzzify = average, accumulation = max
    IF a is low THEN u is small
    IF a is very low THEN u is small
    IF a is high THEN u is big
    """)
    with pytest.raises(ParameterError, match=r"'small' of 'u'.*'max'.*accumulation='sum'"):
        export_rules(rules, "fis")
    once = rules.edit(drop=[2])
    x = [[0.3], [0.8]]
    np.testing.assert_allclose(parse_rules(export_rules(once, "fis"), "fis").infer(x).output, once.infer(x).output)


def test_editing_renames_the_variables_of_formulas():
    rules = parse_rules(TWO_OUTPUTS, "fis").edit(add='IF "a-b" is high THEN v is number')
    x = [[0.5, 0.2, 0.1]]
    renamed = rules.edit(rename={"a-b": "gap", "b": "water level", "u.line": "sum"}, sets={"gap.low": {"right": 0.9}})
    assert renamed.outputs[0].terms == {"sum": Formula("0 + 1 * gap + 0 * a + 2 * 'water level'")}
    np.testing.assert_allclose(renamed.infer(x).output, rules.infer(x).output)
    assert rules.edit(sets={"u.line": Singleton(4)}).outputs[0].terms == {"line": Singleton(4)}
    assert RuleBase.parse(renamed.to_source()) == renamed


def test_a_single_number_needs_no_brackets_in_fis_files():
    bare = parse_rules(TWO_OUTPUTS.replace("[0.3]", "0.3"), "fis")
    assert bare == parse_rules(TWO_OUTPUTS, "fis")
    with pytest.raises(RuleSyntaxError, match=r"'name':'kind',\[numbers\]"):
        parse_rules(TWO_OUTPUTS.replace("[0.3]", "[0.3"), "fis")

"""What other programs' files say that is easily lost or misread: defaults, names, repeated and disabled parts."""

import numpy as np
import pytest
from file_texts import TIPPER, fll, weighted
from test_code import LANGUAGES, functions

from fuzzymil import RuleBase, RuleSyntaxError
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost

TENT = """OutputVariable: y
  range: 0 2
  aggregation: Maximum
  defuzzifier: Centroid 500
  default: nan
  term: small Triangle 0 0.2 1
  term: great Triangle 0.5 1 2"""


def test_of_terms_with_one_name_rules_mean_the_last_in_every_format_and_it_is_told():
    number = weighted("y", ["out Constant 1", "out Constant 5"])
    with pytest.warns(UserWarning, match="Several terms of 'y' have the same name, 'out': rules mean the last"):
        one = parse_rules(fll(number, ["if a is low then y is out"]), "fll")
    blocks = "FUNCTION_BLOCK f VAR_INPUT a : REAL; END_VAR VAR_OUTPUT y : REAL; END_VAR "
    blocks += "FUZZIFY a TERM low := (0,1) (1,0); "
    blocks += "END_FUZZIFY DEFUZZIFY y TERM out := 1; TERM out := 5; METHOD : COGS; END_DEFUZZIFY RULEBLOCK r "
    with pytest.warns(UserWarning, match="the last of them"):
        two = parse_rules(f"{blocks} RULE 1 : IF a IS low THEN y IS out; END_RULEBLOCK END_FUNCTION_BLOCK", "fcl")
    assert one.infer([[0.5]]).output.tolist() == two.infer([[0.5]]).output.tolist() == [[5.0]]


@pytest.mark.parametrize("output", [TENT, weighted("y", ["small Constant 1"], "default: nan")])
def test_no_default_stays_no_default_in_numbers_files_and_code(output):
    rules = parse_rules(fll(output, ["if a is high then y is small"]), "fll")
    assert (rules.name, np.isnan(rules.infer([[0.0]]).output).all()) == ("plain", True)
    for format in ("fll", "fis", "fcl", "fml", "rules", "json"):
        again = parse_rules(export_rules(rules, format), format)
        assert (again.name, np.isnan(again.default).all()) == ("plain", True), format


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_of_an_output_that_no_rule_concludes_is_without_warnings(language, tmp_path):
    silent = weighted("z", ["out Constant 1"], "default: 3")
    rules = parse_rules(fll(f"{TENT}\n{silent}", ["if a is high then y is small"]), "fll")
    assert functions(language, rules, tmp_path)[0]([0.5])[1] == 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_code_without_a_default_has_no_answer(language, tmp_path):
    infer, _ = functions(language, parse_rules(fll(TENT, ["if a is high then y is small"]), "fll"), tmp_path)
    assert np.isnan(infer([0.0])).all()
    assert np.isfinite(infer([0.5])).all()


def test_defaults_of_sets_survive_a_fis_file():
    rules = parse_rules(TIPPER, "fis").with_settings(default=3.0)
    text = export_rules(rules, "fis")
    assert parse_rules(text, "fis") == rules
    assert any("defaults other than the middle" in sentence for sentence in what_is_lost(rules, "fis"))


def test_rules_that_mix_and_and_or_are_split_where_the_greatest_counts():
    sets = "low = Triangular(0, 2, 5), high = Triangular(4, 8, 10)"
    declared = "".join(f"VARIABLE {name} FROM 0 TO 10: {sets}\n" for name in "abc")
    declared += "OUTPUT y FROM 0 TO 1: small = Triangular(-1, 0, 1), great = Triangular(0, 1, 2)\n"
    text = "USING t_norm = {0}, s_norm = {1}, sampling = points, resolution = 101\n"
    text += "IF (a is low OR b is high) AND (c is not low OR c is very high) THEN y is great WITH 0.5\n"
    text += "IF a is low OR a is high THEN y is small"
    rules = RuleBase.parse(declared + text.format("min", "max"))
    again = parse_rules(export_rules(rules, "fis"), "fis")
    assert again.n_rules == 6
    x = np.random.default_rng(0).uniform(0, 10, (200, 3))
    np.testing.assert_allclose(again.infer(x).output, rules.infer(x).output, rtol=1e-12)
    with pytest.raises(ValueError, match=r"Rule 1 cannot be written.*with s_norm and accumulation 'max'.* are split"):
        export_rules(RuleBase.parse(declared + text.format("product", "algebraic")), "fis")


DISABLED = """InputVariable: b
  enabled: false
  range: 0 1
  term: low Ramp 1 0
OutputVariable: z
  enabled: false
  range: 0 1
  aggregation: Maximum
  defuzzifier: Centroid 100
  term: low Ramp 1 0
"""


def test_disabled_variables_take_no_part():
    rules = [
        "if a is low and b is not low then y is small",  # never
        "if a is high or b is any then z is very low and y is great",
        "if b is low then z is low",
    ]
    with pytest.warns(UserWarning, match="Disabled in the file: 'b', 'z'"):
        read = parse_rules(fll(DISABLED + TENT, rules), "fll")
    plain = parse_rules(fll(TENT, ["if a is high then y is great"]), "fll")
    x = np.linspace(0, 1, 9)[:, None]
    assert read.output_names == ("y",)
    np.testing.assert_array_equal(read.infer(np.hstack([x, x])).output, plain.infer(x).output)
    first = fll(DISABLED + TENT, rules, activation="First 1 0")
    with pytest.warns(UserWarning, match="Disabled"), pytest.raises(RuleSyntaxError, match="only disabled outputs"):
        parse_rules(first, "fll")


def test_blocks_may_have_norms_of_their_own_if_only_one_of_them_needs_it():
    text = fll(TENT, ["if a is low and a is high then y is small"])
    other = "RuleBlock: more\n  conjunction: AlgebraicProduct\n  implication: Minimum\n  rule: if {} then y is great\n"
    rules = parse_rules(text + other.format("a is high"), "fll")
    assert (rules.t_norm, rules.n_rules) == ("min", 2)
    with pytest.raises(RuleSyntaxError, match="All rule blocks must have the same conjunction"):
        parse_rules(text + other.format("a is high and a is very low"), "fll")


def test_weights_above_one_and_linear_numbers_without_a_constant_mean_what_they_mean_to_fuzzylite():
    strong = parse_rules(fll(TENT, ["if a is high then y is great with 1.5", "if a is low then y is small"]), "fll")
    y = (np.arange(500) + 0.5) / 500 * 2
    small = np.clip(np.minimum(y / 0.2, (1 - y) / 0.8), 0, 1)
    great = np.clip(np.minimum((y - 0.5) / 0.5, 2 - y), 0, 1)
    joined = np.maximum(np.minimum(1.5 * 0.8, great), np.minimum(0.2, small))
    assert strong.infer([[0.8]]).output[0, 0] == pytest.approx((joined * y).sum() / joined.sum(), rel=1e-12)
    line = parse_rules(fll(weighted("y", ["line Linear 3"]), ["if a is high then y is line"]), "fll")
    assert line.infer([[0.5]]).output.tolist() == [[1.5]]


@pytest.mark.parametrize("accumulation", ["max", "sum", "algebraic"])
@pytest.mark.parametrize("defuzzify", ["centroid", "average"])
def test_code_of_many_rules_and_conditions_compiles(accumulation, defuzzify):
    n = 400
    terms = ", ".join(f"t{i} = Triangular({i - 1}, {i}, {i + 1})" for i in range(n))
    text = f"VARIABLE x FROM 0 TO {n}: {terms}\nOUTPUT y FROM 0 TO 1: low = Ramp(1, 0), high = Ramp(0, 1)\n"
    text += "\n".join(f"IF x is t{i} THEN y is {'low' if i % 2 else 'high'}" for i in range(n))
    text += f"\nIF {' AND '.join(f'x is not t{i}' for i in range(250))} THEN y is low"
    rules = RuleBase.parse(text).with_settings(accumulation=accumulation, defuzzify=defuzzify, resolution=20)
    module = {}
    exec(export_rules(rules, "python"), module)
    np.testing.assert_allclose(module["infer"]([3.3]), rules.infer([[3.3]]).output[0], rtol=1e-9)

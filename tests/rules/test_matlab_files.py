"""What MATLAB writes beyond the basics, with its own figures or numbers by hand."""

import numpy as np
import pytest
from file_texts import TIPPER
from slow_sets import SLOW

from fuzzymil import RuleSyntaxError
from fuzzymil.rules.files import export_rules, parse_rules, read_rules


def test_matlabs_tipper_gives_matlabs_figures():
    rules = parse_rules(TIPPER, "fis")
    assert (rules.defuzzification.sampling, rules.defuzzification.resolution) == ("points", 101)
    found = rules.infer([[2, 1], [4, 5], [7, 8]]).output[:, 0]
    np.testing.assert_allclose(found, [7.0169, 14.4585, 20.3414], atol=5e-5)
    assert parse_rules(export_rules(rules, "fis"), "fis") == rules


def test_padded_parameters_negative_widths_and_names_used_twice():
    text = TIPPER.replace("[1.5 5]", "[-1.5 5 0 0]").replace("'trimf',[0 5 10]", "'trimf',[0 5 10 0]")
    assert parse_rules(text, "fis") == parse_rules(TIPPER, "fis")
    twice = parse_rules(TIPPER.replace("'excellent'", "'good'"), "fis")
    assert list(twice.variables[0].terms) == ["poor", "good", "good_2"]
    np.testing.assert_array_equal(twice.infer([[7, 8]]).output, parse_rules(TIPPER, "fis").infer([[7, 8]]).output)


def test_terms_count_in_the_order_of_their_lines_and_matlabs_methods_may_be_left_out():
    lines = TIPPER.splitlines()
    first, third = (lines.index(line) for line in lines if line.startswith(("MF1='poor'", "MF3='excellent'")))
    swapped = [*lines]
    swapped[first], swapped[third] = lines[third], lines[first]
    rules = parse_rules("\n".join(swapped), "fis")
    assert list(rules.variables[0].terms) == ["excellent", "good", "poor"]
    assert rules.rules[0].conditions[0].term == "excellent"  # the first term
    short = "\n".join(line for line in lines if "Method=" not in line)
    assert parse_rules(short, "fis") == parse_rules(TIPPER, "fis")


def test_type_2_systems_are_refused_as_such():
    with pytest.raises(RuleSyntaxError, match=r"Line 3, .*interval type-2 .*convertToType1"):
        parse_rules(TIPPER.replace("'mamdani'", "'mamdanitype2'"), "fis")


def test_entries_that_only_some_programs_write_are_skipped_and_text_of_western_windows_is_read(tmp_path):
    text = TIPPER.replace("Version=2.0", "Version=2.0\nDisableStructuralChecks=false").replace("service", "qualité")
    path = tmp_path / "tipper.fis"
    path.write_bytes(text.encode("cp1252"))
    assert read_rules(path).feature_names == ("qualité", "food")
    path.write_bytes(text.encode("utf-16"))
    assert read_rules(path).feature_names == ("qualité", "food")


def test_numbers_may_be_arithmetic_and_counts_that_say_less_are_ignored():
    text = TIPPER.replace("Range=[0 30]", "Range=[-10*pi+10*pi 60/2]").replace("NumMFs=2", "NumMFs=1")
    assert parse_rules(text, "fis") == parse_rules(TIPPER, "fis")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'gaussmf',[1.5 5]", "'gauss2mf',[1 4 2 6]"),
        ("'gaussmf',[1.5 5]", "'dsigmf',[5 4 6 7]"),
        ("'gaussmf',[1.5 5]", "'psigmf',[5 4 -6 7]"),
        ("'gaussmf',[1.5 5]", "'pimf',[1 4 5 9]"),
        ("'gaussmf',[1.5 5]", "'smf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'zmf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'linsmf',[2 7]"),
        ("'gaussmf',[1.5 5]", "'linzmf',[2 7]"),
        ("'trapmf',[0 0 1 3]", "'trapmf',[1 1 1 1]"),
        ("'trimf',[10 15 20]", "'trimf',[15 15 15]"),
    ],
)
def test_sets_of_matlab(old, new):
    rules = parse_rules(TIPPER.replace(old, new), "fis")
    kind, numbers = new.split("'")[1], [float(v) for v in new[new.index("[") + 1 : -1].split()]
    by_hand = {
        "gauss2mf": lambda x, s1, c1, s2, c2: SLOW["two_sided_gaussian"](x, c1, s1, c2, s2),
        "dsigmf": lambda x, a1, c1, a2, c2: SLOW["sigmoid_difference"](x, c1, a1, a2, c2),
        "psigmf": lambda x, a1, c1, a2, c2: SLOW["sigmoid_product"](x, c1, a1, a2, c2),
        "pimf": SLOW["pi_shape"],
        "smf": SLOW["s_shape"],
        "zmf": SLOW["z_shape"],
        "linsmf": SLOW["ramp"],
        "linzmf": lambda x, a, b: SLOW["ramp"](x, b, a),
        "trapmf": SLOW["trapezoidal"],
        "trimf": SLOW["triangular"],
    }[kind]
    variables = (*rules.variables, *rules.outputs)
    chosen = next(v.terms[t] for v in variables for t in ("good", "rancid", "average") if f"'{t}':{new}" in
                  TIPPER.replace(old, new) and t in v.terms)  # fmt: skip
    x = np.linspace(0, 30, 61)
    np.testing.assert_allclose(chosen(x), [by_hand(v, *numbers) for v in x.tolist()], rtol=1e-10, atol=1e-12)
    assert parse_rules(export_rules(rules, "fis"), "fis") == rules

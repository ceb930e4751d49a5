"""Rules as Markdown and LaTeX tables: what stands where, and that no name breaks the table."""

import re

import pytest

from fuzzymil import RuleBase
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules

NASTY = "a|b *c* _d_ `e` [f] <g> & 100% $h$ #i {j} ~k^l \\m \"n\" 'o'\nnew--line"


def cells(table):
    """Take a Markdown table apart, at bars that are not escaped."""
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table.splitlines()]


def rules_of_two(**fields):
    return RuleBase.parse(
        """
        VARIABLE hue [nm] FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1234567)
        VARIABLE unused: low = Gaussian(0, 1)
        VARIABLE size FROM 0 TO 10: big = Sigmoid(5, 2)
        IF hue is blue AND size is not very big THEN sky = 1, sea = -0.5
        IF hue is red THEN sky = 0.000012345, sea = 0 WITH 0.5
        """,
        **fields,
    )


def test_one_row_a_rule_one_column_a_feature_that_is_used():
    assert cells(export_rules(rules_of_two(), "markdown", digits=3)) == [
        ["rule", r"hue \[nm\]", "size", "sky", "sea", "weight"],
        ["---"] * 6,
        ["1", "blue: Gaussian(0.6, 0.123)", "not very big: Sigmoid(5, 2)", "1", "-0.5", "1"],
        ["2", "red: Gaussian(0.1, 0.1)", "", "1.23e-05", "0", "0.5"],
    ]
    assert "Gaussian(0.6, 0.1234567)" in export_rules(rules_of_two(), "markdown", digits=None)


def test_linear_conclusions_are_sums():
    rules = RuleBase.from_arrays([[0.0, 1.0]], [[1.0, 1.0]], [[[0.3, 2.0, -1.5]]], feature_names=["x", "a b"])
    assert cells(export_rules(rules, "markdown"))[2][-1] == r'0.3 + 2\*x - 1.5\*"a b"'
    assert cells(export_rules(rules, "markdown", max_conditions=1))[2][-1] == r"0.3 + 2\*x + ... (1 smaller)"
    assert (
        export_rules(rules, "latex")
        .splitlines()[4]
        .endswith(r"& $0.3$ + $2${*}x $-$ $1.5${*}\symbol{34}a b\symbol{34} \\")
    )


def test_max_terms_keeps_the_most_selective_conditions_and_counts_the_rest():
    rules = RuleBase.from_arrays(
        [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], [[0.5, 0.1, 0.9], [0.5, 0.2, 0.1]], [0, 1], ranges=[[0, 1]] * 3
    )
    assert cells(export_rules(rules, "markdown", max_conditions=1)) == [
        ["rule", "x2", "x3", "further conditions", "y"],
        ["---"] * 5,
        ["1", "low: Gaussian(0, 0.1)", "", "2 less selective", "0"],
        ["2", "", "high: Gaussian(1, 0.1)", "2 less selective", "1"],
    ]
    assert cells(export_rules(rules, "markdown", max_conditions=3)) == cells(export_rules(rules, "markdown"))
    short = RuleBase.parse(
        "VARIABLE x: a = Gaussian(0, 1)  VARIABLE y: a = Gaussian(0, 1)  IF x is a THEN z = 1  "
        "IF x is a AND y is a THEN z = 2"
    )
    assert [row[-2] for row in cells(export_rules(short, "markdown", max_conditions=1))[2:]] == ["", "1 less selective"]


def test_premises_that_fit_no_grid_stand_in_a_column_and_their_terms_in_a_table():
    rules = RuleBase.parse(
        """
        VARIABLE hue [nm]: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
        VARIABLE size: big = Sigmoid(5, 2)
        IF hue is blue OR size is big THEN sky = 1
        IF anything THEN sky = 0
        """
    )
    first, second = export_rules(rules, "markdown").split("\n\n")
    assert cells(first)[0] == ["rule", "if", "sky"]
    assert cells(first)[2:] == [["1", "hue is blue OR size is big", "1"], ["2", "anything", "0"]]
    assert cells(second) == [
        ["variable", "term", "set"],
        ["---"] * 3,
        [r"hue \[nm\]", "red", "Gaussian(0.1, 0.1)"],
        [r"hue \[nm\]", "blue", "Gaussian(0.6, 0.1)"],
        ["size", "big", "Sigmoid(5, 2)"],
    ]
    assert (
        export_rules(rules, "latex").count(r"\begin{tabular}")
        == export_rules(rules, "latex").count(r"\end{tabular}")
        == 2
    )
    assert r"\begin{tabular}{lll}" in export_rules(rules, "latex")


def test_rules_without_conditions_leave_their_cells_empty():
    rules = RuleBase((Variable("x", {"a": Gaussian(0, 1)}),), (Rule({}, [[1.0]]), Rule({"x": "a"}, [[2.0]])))
    assert cells(export_rules(rules, "markdown"))[2:] == [["1", "", "1"], ["2", "a: Gaussian(0, 1)", "2"]]


def test_mamdani_conclusions_are_sets_and_may_be_left_out():
    rules = RuleBase.parse(
        """
        VARIABLE x: a = Gaussian(0, 1)
        OUTPUT risk [%] FROM 0 TO 1: small = Triangular(0, 0, 1)
        OUTPUT cost FROM 0 TO 1: great = Triangular(0, 1, 1)
        IF x is a THEN risk is small, cost is great
        IF x is not a THEN risk is small
        """
    )
    assert cells(export_rules(rules, "markdown")) == [
        ["rule", "x", r"risk \[%\]", "cost"],
        ["---"] * 4,
        ["1", "a: Gaussian(0, 1)", "small: Triangular(0, 0, 1)", "great: Triangular(0, 1, 1)"],
        ["2", "not a: Gaussian(0, 1)", "small: Triangular(0, 0, 1)", ""],
    ]
    assert r"risk {[}\%{]}" in export_rules(rules, "latex")


def nasty_rules(plain):
    variable = Variable(NASTY, {NASTY: Triangular(0, 1, 2), "x": Gaussian(0, 1)}, unit="m|s")
    rules = RuleBase((variable,), (Rule({NASTY: NASTY}, [[1.0, 2.0]]),), (NASTY,))
    text = "IF hue is x OR hue is x THEN y = 1"
    return rules if plain else RuleBase.parse(text, [Variable("hue", {"x": Gaussian(0, 1), NASTY: Gaussian(1, 1)})])


def test_nasty_names_stay_in_their_markdown_cells():
    table = export_rules(nasty_rules(plain=True), "markdown")
    assert {len(row) for row in cells(table)} == {3}
    assert len(table.splitlines()) == 3
    for sign in "*_`[]<>|~":
        assert not re.search(rf"(?<!\\){re.escape(sign)}", table.splitlines()[0].replace(" | ", " ")[2:-2]), sign
    assert "&amp;" in table


@pytest.mark.parametrize("plain", [True, False])
def test_nasty_names_are_written_out_in_latex(plain):
    text = export_rules(nasty_rules(plain), "latex")
    for command in ("textbackslash", "textasciitilde", "textasciicircum", "textbar", "textless", "symbol{34}"):
        assert f"\\{command}" in text
    assert "new-{}-line" in text
    bare = re.sub(r"\\(begin|end)\{tabular\}(\{[lr]+\})?|\\\\$|\\hline| & ", "", text, flags=re.MULTILINE)
    bare = re.sub(r"\\[a-z]+\{(34)?\}|\\[&%$#_{}]|\{[][*]\}|-\{\}|\$-?[0-9.]+\$|\$-\$", "", bare)
    assert not re.search(r"[\\&%$#_{}~^<>|\"\[\]*]", bare), bare


def test_numbers_are_mathematics_in_latex_but_digits_of_names_are_not():
    rules = RuleBase.parse("VARIABLE x1 FROM 0 TO 1: t2 = Gaussian(-0.5, 1e-7)  IF x1 is t2 THEN y = -2.5e10")
    row = export_rules(rules, "latex").splitlines()[4]
    assert row == r"$1$ & t2: Gaussian($-0.5$, $1\cdot10^{-7}$) & $-2.5\cdot10^{10}$ \\"

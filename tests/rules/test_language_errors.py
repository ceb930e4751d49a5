"""What the errors of the rule language say, and the character they point at."""

import re

import numpy as np
import pytest
from language_mistakes import ERRORS, MAMDANI

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules.files import _sets as sets
from fuzzymil.rules.files._text import whole
from fuzzymil.rules.language import suggestions
from fuzzymil.rules.language.parser import MAX_TEXT
from fuzzymil.rules.rule import Variable

TERMS = {"low": Gaussian(0, 1), "medium": Gaussian(1, 1), "high": Gaussian(2, 1)}
VARIABLES = (Variable("depth", TERMS), Variable("size", TERMS), Variable("hue", TERMS))


def error_of(text, variables=VARIABLES, **operators):
    with pytest.raises(RuleSyntaxError) as caught:
        RuleBase.parse(text, variables, **operators)
    return str(caught.value)


def pointed_at(message):
    """What stands above and right of the caret."""
    _, shown, caret = message.rsplit("\n", 2)
    assert caret.strip() == "^"
    return shown[caret.index("^") :]


CASES = [(RuleBase, *case) for case in ERRORS.values()] + [(RuleBase, *case) for case in MAMDANI.values()]


@pytest.mark.parametrize(("kind", "text", "facts", "at"), CASES, ids=[*ERRORS, *MAMDANI])
def test_a_mistake_is_named_once_with_its_place_and_a_cure(kind, text, facts, at):
    with pytest.raises(RuleSyntaxError) as caught:
        kind.parse(text, VARIABLES)
    ((line, character, reason),) = caught.value.mistakes  # one mistake, one message
    for fact in facts.split("|"):
        assert fact in reason
    message = str(caught.value)
    assert message.startswith(f"Line {line}, character {character}: {reason}\n")
    shown = pointed_at(message)
    assert shown.startswith(at) if at else not shown


def test_all_mistakes_are_reported_together_and_in_order():
    text = """
VARIABLE depth FROM 0 TO 2: shallow = Gausian(0, 2), deep = Sigmoid(1, 5)  // meters
VARIABLE size low = Gaussian(0, 1) high = Gaussian(2 1)
USING t_norm = mn, agregation = max
IF depth is quite shallow && size is low THEN mine = 1 WEIGHT 0,5
IF dept is deep mine = 0
IF depth is deep, size is hihg THEN mine = \u22121
IF size is low THEN
Rule 5: IF dept is shallow THEN mine = 50%
ELSE mine = 0
"""
    with pytest.raises(RuleSyntaxError) as caught:
        RuleBase.parse(text)
    found = {(line, text.split("\n")[line - 1][character - 1 :][:4]) for line, character, _ in caught.value.mistakes}
    assert found == {
        (2, "Gaus"),
        (2, "// m"),
        (3, "low "),
        (3, "high"),
        (3, "1)"),
        (4, "t_no"),
        (4, "agre"),
        (5, "quit"),
        (5, "&& s"),
        (5, "WEIG"),
        (5, "0,5"),
        (6, "dept"),
        (6, "mine"),
        (7, ", si"),
        (7, "hihg"),
        (7, "\u22121"),
        (8, ""),
        (9, "dept"),
        (9, "50%"),
        (10, "ELSE"),
    }
    message = str(caught.value)
    assert message.startswith("19 mistakes:\nLine 2, character 39: Unknown membership family 'Gausian'")
    assert "'dept'; choose from depth, size. Did you mean 'depth'? (Also at line 9, character 12.)\n" in message
    assert message.count("^") == 19
    lines = [int(line.split()[1].rstrip(",")) for line in message.split("\n") if line.startswith("Line ")]
    assert lines == sorted(lines)


def test_mistakes_in_several_texts_are_told_apart():
    message = error_of(["IF depth is wow THEN y = 1", "USING alpa = 1", "IF dpth is low THEN y = 1"])
    assert [line[:7] for line in message.split("\n") if line[:1] == "R"] == ["Rule 1,", "Rule 2,", "Rule 3,"]


def test_a_declaration_with_a_mistake_still_declares():
    message = error_of("VARIABLE x: low = Gaussian(0, 1, 2)\nVARIABLE z: {\nIF x is low AND z is low THEN y = 1", ())
    assert message.count("^") == 2
    assert "Unknown" not in message


def test_conclusions_are_not_compared_if_a_rule_was_given_up():
    message = error_of(
        "IF depth is low AND THEN a = 1, b = 1\nIF size is low THEN a = 1\nIF hue is low THEN a = 1, b = 1"
    )
    assert message.startswith("Line 1, character 21: Expected a condition")


def test_many_mistakes_are_not_all_reported():
    message = error_of("\n".join(f"IF x{n} is low THEN y = 1" for n in range(1000)))
    assert message.startswith("The first 20 mistakes:\nLine 1, ")
    assert message.count("^") == 20
    same = error_of("IF x is low THEN y = 1\n" * 50_000)
    assert "and 196 more" in same
    assert len(same) < 500


@pytest.mark.parametrize(
    ("text", "shown", "caret"),
    [
        ("IF depth is wow THEN y = 1", "IF depth is wow THEN y = 1", 12),
        ("\tIF depth\tis\twow", " IF depth is wow", 13),
        ("IF depth is wow\r\nTHEN y = 1", "IF depth is wow", 12),
        ('IF "été" is wow', 'IF "été" is wow', 12),
        ('IF "e\u0301te\u0301" is wow', 'IF "e\u0301te\u0301" is wow', 12),
        ('IF "深さ" is wow', 'IF "深さ" is wow', 13),
        ("IF depth\u2028is\x85wow", "IF depth is wow", 12),
        ("# first\n\nIF depth is wow", "IF depth is wow", 12),
        ("IF depth is " + 50 * "very " + "wow" + 50 * " ", "..." + 12 * "very " + "wow" + 37 * " " + "...", 63),
    ],
)
def test_the_caret_stands_under_the_character(text, shown, caret):
    odd = [Variable(name, TERMS) for name in ("depth", "été", "e\u0301te\u0301", "深さ")]
    _, line, mark = error_of(text if "THEN" in text else f"{text}\nTHEN y = 1", odd).split("\n")
    assert line == "  " + shown
    assert mark == "  " + caret * " " + "^"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("IF depth is wow THEN y = 1", "Line 1, character 13: "),
        ("\n\n  IF depth\nis wow THEN y = 1", "Line 4, character 4: "),
        ("# a\r\n# b\r\nIF depth is wow THEN y = 1", "Line 3, character 13: "),
        ("# a\r# b\rIF depth is wow THEN y = 1", "Line 3, character 13: "),
        ("\tIF depth is wow THEN y = 1", "Line 1, character 14: "),
        (
            ["IF depth is low THEN y = 1", "IF size is low THEN y = 1", "IF depth\nis wow THEN y = 1"],
            "Rule 3, line 2, character 4: ",
        ),
        (["IF depth is low THEN y = 1", "IF size is low THEN z = 1"], "Rule 2, line 1, character 1: "),
        (["IF depth is low THEN y = 1", "USING alpa = 1"], "Rule 2, line 1, character 7: "),
    ],
)
def test_the_message_begins_with_the_place(text, where):
    assert error_of(text).startswith(where)


def test_many_long_names_make_no_long_message():
    many = [Variable("x" * 500 + str(d), TERMS) for d in range(1000)]
    message = error_of("IF " + "y" * 100_000 + " is low THEN z = 1", many)
    assert "and 988 more" in message
    assert len(message) < 2000
    assert len(error_of("USING alpha = (" + ", ".join(["1"] * 10_000) + ") IF depth is low THEN y = 1")) < 2000


def test_known_names_are_listed_as_they_are_written():
    message = error_of('IF "x" is low THEN y = 1', [Variable("patch position", TERMS), Variable("a\nb", TERMS)])
    assert '"patch position", "a\\nb"' in message


@pytest.mark.parametrize("variables", [VARIABLES, ()], ids=["variables", "none"])
@pytest.mark.parametrize("text", ["", "   \n", "# nothing", "USING alpha = 1", []])
def test_a_text_without_rules_is_refused(text, variables):
    assert "no rule" in (message := error_of(text, variables)) or "declares no variable" in message


def test_rules_without_variables_are_refused():
    message = error_of("IF anything THEN y = 1", None)
    assert "no variable" in message
    assert "'VARIABLE depth: low = Gaussian(0, 1)'" in message


@pytest.mark.parametrize("text", [None, 3, b"IF depth is low THEN y = 1", [None], ["IF depth is low THEN y = 1", 3]])
def test_what_is_no_text_is_refused(text):
    assert "must be text, got" in error_of(text)


@pytest.mark.parametrize(
    ("variables", "said"), [(["depth"], "Expected a Variable, got 'depth'"), (2 * VARIABLES, "Two")]
)
def test_bad_variables_are_refused(variables, said):
    with pytest.raises(ParameterError, match=said):
        RuleBase.parse("IF depth is low THEN y = 1", variables)


def test_a_setting_comes_from_the_text_or_the_call():
    message = error_of("USING t_norm = min IF depth is low THEN y = 1", t_norm="min")
    assert "t_norm" in message
    assert "argument" in message
    assert pointed_at(message).startswith("t_norm = min")
    with pytest.raises(ParameterError, match=r"t_norm.*'mni'") as caught:  # of the call: nothing to point at
        RuleBase.parse("USING alpha = 1 IF depth is low THEN y = 1", VARIABLES, t_norm="mni")
    assert not isinstance(caught.value, RuleSyntaxError)


def test_data_without_a_variable_of_the_rules_are_refused():
    rules = RuleBase.parse("IF depth is low THEN y = 1", VARIABLES)
    with pytest.raises(InputError, match=r"no feature 'depth', which the rules use. Did you mean 'dephts'"):
        rules.infer(Bags.from_list([[[1.0, 2.0, 3.0]]], feature_names=["dephts", "size", "hue"]))
    with pytest.raises(InputError, match="X has 2 features, but these rules expect 3"):
        rules.infer([[[1.0, 2.0]]])


def test_too_much_text_is_refused():
    line = "IF depth is low THEN y = 1\n"
    message = error_of((line * 400_000)[:10_000_017])
    assert "10,000,017 characters" in message
    assert f"{MAX_TEXT:,}" in message
    assert f"{MAX_TEXT:,}" in error_of([line] * (MAX_TEXT // len(line) + 1))


def test_too_many_coefficients_are_refused():
    names = "\n".join(f"VARIABLE x{d}" for d in range(10_001))
    message = error_of(names + "\nIF anything THEN y = x1" * 1000, ())
    assert "1,000 rules with 1 linear output(s) of 10,001 variables have more than 10,000,000 coefficients" in message
    assert RuleBase.parse(names + "\nIF anything THEN y = 1" * 1000).n_rules == 1000


@pytest.mark.parametrize(
    "premise",
    [
        "(" * 10_000 + "depth is low" + ")" * 10_000,
        "(" * 10_000,
        "NOT " * 10_000 + "depth is low",
        "NOT (" * 10_000 + "depth is low" + ")" * 10_000,
        "(depth is low OR size is low AND " * 60 + "hue is low" + ")" * 60,
        "depth is " + "very " * 10_000 + "low",
    ],
    ids=["brackets", "open", "nots", "both", "precedence", "hedges"],
)
def test_deep_nesting_is_refused(premise):
    assert "at most 100 levels" in error_of(f"IF {premise} THEN y = 1")


def test_a_shortened_print_says_how_to_get_all_of_it():
    rules = RuleBase.from_arrays(np.zeros((2, 20)), np.ones((2, 20)), [0.0, 1.0])
    assert "to_source()" in error_of(str(rules), rules.variables)
    again = RuleBase.parse(rules.to_text(max_conditions=None, digits=None), rules.variables, aggregation="softmax")
    assert again == rules


@pytest.mark.parametrize("name", [name for name in suggestions.FAMILIES_ELSEWHERE if name.endswith("mf")])
def test_the_advice_on_a_family_of_matlab_is_what_its_files_mean(name):
    """Numbers for MATLAB's parameters, and for ours as the advice orders them."""
    given, ours = re.search(r"\[(.*)\] is (\w+\(.*\)) here", suggestions.FAMILIES_ELSEWHERE[name]).groups()
    values = dict(zip(given.split(), (1.0, 2.0, 3.0, 4.0), strict=False))
    numbers = [values[word] for word in given.split()]
    written = re.sub(r"\b(\w+)\b(?=[,)])", lambda match: str(values[match[1]]), ours)
    meant = RuleBase.parse(f"VARIABLE x: low = {written}\nIF x is low THEN y = 1").variables[0].terms["low"]
    assert meant == sets.read_set(whole(name), name, numbers, sets.FIS)

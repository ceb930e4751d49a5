"""What the errors of the rule language say, and the character they point at."""

import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import InputError, ParameterError, RuleSyntaxError
from fuzzymil.membership import Gaussian
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


# Each case: the text, facts in the message (separated by |), and the text at the caret.

ERRORS = {
    "unknown variable": (
        "IF dept is low THEN y = 1",
        "variable|'dept'|depth, size, hue|Did you mean 'depth'?",
        "dept is",
    ),
    "unknown term": (
        "IF depth is medum THEN y = 1",
        "term|of 'depth'|'medum'|low, medium, high|Did you mean 'medium'?",
        "medum THEN",
    ),
    "unknown term after a hedge": ("IF depth is not very hihg THEN y = 1", "Did you mean 'high'?", "hihg"),
    "unknown variable in a conclusion": (
        "IF depth is low THEN y = 2*Depth",
        "variable|'Depth'|depth, size, hue|Did you mean 'depth'?",
        "Depth",
    ),
    "unknown output": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low THEN rsk is low",
        "output|'rsk'|Did you mean 'risk'?",
        "rsk is",
    ),
    "no output": ("IF depth is low THEN risk is low", "'risk'|OUTPUT", "risk is"),
    "unknown term of an output": (
        "OUTPUT risk: low = Gaussian(0, 1) IF depth is low THEN risk is lo",
        "term|of 'risk'|'lo'|Did you mean 'low'?",
        "lo",
    ),
    "unknown family": (
        "VARIABLE x: low = gaussian(0, 1)",
        "family|'gaussian'|Bell, Gaussian|Trapezoidal|Did you mean 'Gaussian'?",
        "gaussian(",
    ),
    "unknown statement": ("VARIABEL x: low = Gaussian(0, 1)", "'VARIABEL'|Did you mean 'VARIABLE'?", "VARIABEL x"),
    "unknown setting": (
        "USING tnorm = min IF depth is low THEN y = 1",
        "setting|'tnorm'|t_norm, aggregation, alpha|Did you mean 't_norm'?",
        "tnorm =",
    ),
    "term twice": ("VARIABLE x: low = Gaussian(0, 1), low = Gaussian(1, 1)", "'low' of 'x'|twice", "low = Gaussian(1"),
    "variable twice": ("VARIABLE x VARIABLE x", "'x'|twice", "x"),
    "variable given and declared": ("VARIABLE depth: low = Gaussian(0, 1)", "'depth'|twice", "depth:"),
    "setting twice": ("USING alpha = 1 USING alpha = 2", "'alpha'|twice", "alpha = 2"),
    "concluded twice": ("IF depth is low THEN y = 1, y = 2", "'y'|twice", "y = 2"),
    "no conclusion": ("IF depth is low", "Expected AND, OR or THEN, found the end of the text.", ""),
    "no conclusion after THEN": ("IF depth is low THEN", "Expected a conclusion|'y = 1'|found the end", ""),
    "no conclusion before the next rule": (
        "IF depth is low THEN IF hue is low THEN y = 1",
        "Expected a conclusion|found 'IF'",
        "IF hue",
    ),
    "no value": (
        "IF depth is low THEN y",
        "Expected '=' and a number ('+=' to add it, 'is' and a term), found the end of the text.",
        "",
    ),
    "no value after =": ("IF depth is low THEN y =", "Expected a number or a variable, found the end of the text.", ""),
    "the end comes before a comment": ("IF depth is low # THEN y = 1", "Expected AND, OR or THEN", " # THEN"),
    "division": ("IF depth is low THEN y = depth / 2", "'/'|sum of numbers times variables", "/ 2"),
    "whole division": ("IF depth is low THEN y = 3 // 2", "'/'", "// 2"),
    "power": ("IF depth is low THEN y = depth^2", "'^'", "^2"),
    "power by stars": ("IF depth is low THEN y = depth**2", "Expected a number, found '*'.", "*2"),
    "function": ("IF depth is low THEN y = 1 + sin(depth)", "Function|sum of numbers times variables", "sin("),
    "function times": ("IF depth is low THEN y = 2*exp(depth)", "Function", "exp("),
    "variable times variable": ("IF depth is low THEN y = depth*size", "Expected a number, found 'size'.", "size"),
    "number times number": ("IF depth is low THEN y = 2*3", "Expected a variable, found '3'.", "3"),
    "bracket in a conclusion": ("IF depth is low THEN y = 2*(depth + 1)", "Expected a variable, found '('.", "(depth"),
    "two signs": ("IF depth is low THEN y = 1 - -2", "Expected a number or a variable, found '-'.", "-2"),
    "other two signs": ("IF depth is low THEN y = -+2", "Expected a number or a variable, found '+'.", "+2"),
    "product without a star": ("IF depth is low THEN y = 2depth", "letter|'2*depth'", "2depth"),
    "underscore in a number": ("IF depth is low THEN y = 1_000", "'10000' or '1e4'", "1_000"),
    "hexadecimal": ("IF depth is low THEN y = 0x10", "letter", "0x10"),
    "exponent without digits": ("IF depth is low THEN y = .5e", "letter", ".5e"),
    "decimal comma": ("VARIABLE x: low = Gaussian(0,5, 1)", "center, width|got 3", "Gaussian(0,5"),
    "too great a number": ("IF depth is low THEN y = 1e999", "1e999|too large", "1e999"),
    "too great a sum": ("IF depth is low THEN y = 1e308 + 1e308", "too large", "= 1e308"),
    "too great a slope": ("IF depth is low THEN y = 1e308*depth + 1e308*depth", "too large", "= 1e308"),
    "infinite conclusion": ("IF depth is low THEN y = inf", "variable|'inf'", "inf"),
    "open bracket": (
        "IF (depth is low AND (size is low) THEN y = 1",
        "Expected AND, OR or ')', found 'THEN'.",
        "THEN y",
    ),
    "closing bracket": ("IF depth is low) THEN y = 1", "Expected AND, OR or THEN, found ')'.", ") THEN"),
    "empty brackets": (
        "IF () THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found ')'.",
        ") THEN",
    ),
    "closing bracket after a conclusion": ("IF depth is low THEN y = 1)", "found ')'.", ")"),
    "empty premise": (
        "IF THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found 'THEN'.",
        "THEN",
    ),
    "nothing after AND": ("IF depth is low AND THEN y = 1", "Expected a condition", "THEN"),
    "AND and OR": (
        "IF depth is low AND OR size is low THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found 'OR'.",
        "OR size",
    ),
    "no term": ("IF depth is THEN y = 1", "Expected a term of 'depth', found 'THEN'.", "THEN"),
    "no is": ("IF depth low THEN y = 1", "Expected 'is', found 'low'.", "low"),
    "equals in a premise": ("IF depth = low THEN y = 1", "Expected 'is', found '='.", "= low"),
    "comparison": ("IF depth < 3 THEN y = 1", "'<'|'depth is low'", "< 3"),
    "hedge before the variable": (
        "IF very depth is low THEN y = 1",
        "Expected a condition ('variable is term'), NOT, '(' or a quantifier (SOME, ALL, ...), found 'very'.",
        "very",
    ),
    "unknown hedge": ("IF depth is quite low THEN y = 1", "double quotes", "quite"),
    "keyword as a term": ("IF depth is with THEN y = 1", "'with'|keyword|double quotes", "with"),
    "keyword as a variable": (
        "VARIABLE is: low = Gaussian(0, 1)",
        "name of a variable|found 'is'|double quotes",
        "is:",
    ),
    "keyword as a new term": (
        "VARIABLE x: very = Gaussian(0, 1)",
        "Expected the name of a term, found 'very'. ('very' is",
        "very",
    ),
    "name of two words": ("IF hue value is low THEN y = 1", "Expected 'is', found 'value'|double quotes", "value"),
    "unknown name of two words": (
        "IF patch position is low THEN y = 1",
        "'patch'|depth, size, hue|Did you mean 'depth'?|double quotes",
        "patch",
    ),
    "declared name of two words": (
        "VARIABLE patch position: up = Gaussian(0, 1)",
        "'position'|double quotes",
        "position",
    ),
    "else": ("IF depth is low THEN y = 1 ELSE y = 0", "VARIABLE, OUTPUT or USING|found 'ELSE'", "ELSE"),
    "more than one number": ("IF depth is low THEN y = 1 2", "VARIABLE, OUTPUT or USING|found '2'", "2"),
    "no rule after a label": ("Rule 1: depth is low THEN y = 1", "IF|found 'depth'", "depth"),
    "two semicolons": ("IF depth is low THEN y = 1;;", "found ';'.", ";"),
    "negative weight": ("IF depth is low THEN y = 1 WITH -1", "weight|found '-'", "-1"),
    "no weight": ("IF depth is low THEN y = 1 WITH", "weight|found the end", ""),
    "infinite weight": ("IF depth is low THEN y = 1 WITH 1e400", "1e400|too large", "1e400"),
    "no parameters": (
        "VARIABLE x: low = Gaussian",
        "Expected '(' and the parameters of Gaussian, found the end of the text.",
        "",
    ),
    "empty parameters": ("VARIABLE x: low = Gaussian()", "Expected a parameter of Gaussian, found ')'.", ")"),
    "named parameters": (
        "VARIABLE x: low = Gaussian(center=0, width=1)",
        "Expected a parameter of Gaussian, found 'center'.",
        "center",
    ),
    "too few parameters": ("VARIABLE x: low = Bell(0, 1)", "Bell|center, width, slope|got 2", "Bell"),
    "bad parameters": ("VARIABLE x: low = Gaussian(0, -1)", "Gaussian|width|-1.0", "Gaussian"),
    "open parameters": ("VARIABLE x: low = Gaussian(0, 1", "Expected ',' or ')', found the end of the text.", ""),
    "infinite parameter": (
        "VARIABLE x: low = Gaussian(inf, 1)",
        "Expected a parameter of Gaussian, found 'inf'.",
        "inf",
    ),
    "no set": (
        "VARIABLE x: low = 3",
        "Expected a fuzzy set|Bell, Gaussian|found '3'",
        "3",
    ),
    "term without a set": ("VARIABLE x: low, high", "Expected '=' and a fuzzy set, found ','.", ", high"),
    "no terms": ("VARIABLE x:", "Expected the name of a term, found the end of the text.", ""),
    "no name": ("VARIABLE", "Expected the name of a variable, found the end of the text.", ""),
    "number as a name": ("VARIABLE 3", "Expected the name of a variable, found '3'.", "3"),
    "range that goes down": ("VARIABLE x FROM 2 TO 1", "range of 'x'|2.0 to 1.0", "x FROM"),
    "no range": ("VARIABLE x FROM TO 1", "lowest value|found 'TO'", "TO"),
    "open quotation": ('IF "depth is low THEN y = 1', "never closed", '"depth'),
    "quotation over a line end": ('IF "dep\nth" is low THEN y = 1', "never closed", '"dep'),
    "open unit": ("VARIABLE x [m: low = Gaussian(0, 1)", "square bracket|never closed", "[m"),
    "single quotes": ("IF 'depth' is low THEN y = 1", "double quotes", "'depth"),
    "curly quotes": ("IF “depth” is low THEN y = 1", "double quotes", "“depth”"),
    "other character": ("IF depth is low & size is low THEN y = 1", "'&'|double quotes", "& size"),
    "full stop": ("IF depth is low THEN y = 1.\nIF depth is low.", "'.'", "."),
    "control character": ("IF depth is low\x00 THEN y = 1", "'\\x00'", "  THEN"),
    "no setting": ("USING", "Expected the name of a setting, found the end of the text.", ""),
    "setting without a value": ("USING t_norm =", "a name, a number or numbers|found the end", ""),
    "setting without an equals": ("USING t_norm min", "Expected '=' and a value, found 'min'.", "min"),
    "open numbers": ("USING alpha = (1, 2", "Expected ',' or ')', found the end of the text.", ""),
    "empty numbers": ("USING alpha = ()", "Expected a number, found ')'.", ")"),
    "bad setting": (
        "USING alpha = 1, t_norm = mni IF depth is low THEN y = 1",
        "t_norm|'mni'|product, min, lukasiewicz|Did you mean 'min'?",
        "t_norm = mni",
    ),
    "bad number of alphas": ("USING alpha = (1, 2) IF depth is low THEN y = 1", "alpha|(1.0, 2.0)", "alpha"),
    "word for a number": ("USING alpha = high IF depth is low THEN y = 1", "alpha|'high'", "alpha"),
    "truth for a number": ("USING alpha = yes IF depth is low THEN y = 1", "alpha|True", "alpha"),
    "number for a truth": ("USING limited = 1 IF depth is low THEN y = 1", "limited|1.0", "limited"),
    "bad default": ("USING default = (1, 2) IF depth is low THEN y = 1", "default|1 value|got 2", "default"),
    "infinite default": ("USING default = inf IF depth is low THEN y = 1", "default|finite", "default"),
    "shortened premise": (
        "IF depth is low AND ... (3 less selective) THEN y = 1",
        "shortened|to_source()|to_text(max_terms=None)",
        "...",
    ),
    "shortened conclusion": ("IF depth is low THEN y = 0.3 + 2*depth + ... (1 smaller)", "shortened", "..."),
    "output that the first rule lacks": (
        "IF depth is low THEN sky = 1 IF hue is low THEN sky = 1, see = 2",
        "'see'|first rule|(sky)",
        "IF hue",
    ),
    "misspelt output": ("IF depth is low THEN sky = 1 IF hue is low THEN skyy = 1", "Did you mean 'sky'?", "IF hue"),
    "output left out": ("IF depth is low THEN a = 1, b = 1 IF hue is low THEN a = 1", "'b'|every rule", "IF hue"),
    "a term where numbers are concluded": (
        "OUTPUT y: big = Gaussian(1, 1) IF depth is low THEN y is big",
        "'y'|'big'|MIMamdani",
        "IF depth",
    ),
}


@pytest.mark.parametrize(("text", "facts", "at"), ERRORS.values(), ids=ERRORS)
def test_an_error_says_what_is_wrong_and_points_at_it(text, facts, at):
    message = error_of(text)
    for fact in facts.split("|"):
        assert fact in message
    shown = pointed_at(message)
    assert shown.startswith(at) if at else not shown


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
    _, line, mark = error_of(text, odd).split("\n")
    assert line == "  " + shown
    assert mark == "  " + caret * " " + "^"


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("IF depth is wow", "Line 1, character 13: "),
        ("\n\n  IF depth\nis wow", "Line 4, character 4: "),
        ("# a\r\n# b\r\nIF depth is wow", "Line 3, character 13: "),
        ("# a\r# b\rIF depth is wow", "Line 3, character 13: "),
        ("\tIF depth is wow", "Line 1, character 14: "),
        (
            ["IF depth is low THEN y = 1", "IF size is low THEN y = 1", "IF depth\nis wow"],
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
    assert RuleBase.parse(rules.to_text(max_terms=None, digits=None), rules.variables) == rules

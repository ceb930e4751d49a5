"""The rule language: every construct, what its errors say and point at, and the paper's own sentences."""

import math

import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.rules import Rule
from fuzzymil.rules.language.lexer import Place
from fuzzymil.rules.language.parser import Linear, read
from fuzzymil.rules.language.printer import keywords
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or
from fuzzymil.rules.rule import Variable

TERMS = {"low": Gaussian(0, 1), "medium": Gaussian(1, 1), "high": Gaussian(2, 1)}
VARIABLES = (Variable("depth", TERMS), Variable("size", TERMS), Variable("hue", TERMS))
LOW, MEDIUM, HIGH = Is("depth", "low"), Is("size", "medium"), Is("hue", "high")


def rule_of(text):
    (rule,) = read(text, VARIABLES).rules
    return rule


def premise_of(text):
    return rule_of(f"IF {text} THEN y = 1").premise


def conclusion_of(text):
    return rule_of(f"IF depth is low THEN y = {text}").conclusions["y"]


def setting_of(text):
    return read(f"USING alpha = {text}").settings["alpha"]


# ---------------------------------------------------------------------- the paper's sentences

MINES = """
VARIABLE EHDDT FROM 0 TO 1: Low = Gaussian(0, 0.2), Medium = Gaussian(0.5, 0.2), High = Gaussian(1, 0.2)
VARIABLE EHDCT FROM 0 TO 1: Low = Gaussian(0, 0.2), Medium = Gaussian(0.5, 0.2), High = Gaussian(1, 0.2)
VARIABLE WidthDT FROM 0 TO 1: Low = Gaussian(0, 0.25), High = Gaussian(1, 0.25)
VARIABLE WidthCT FROM 0 TO 1: Low = Gaussian(0, 0.25), High = Gaussian(1, 0.25)
USING t_norm = min, aggregation = max, normalize = no   # both rules speak for a mine: how loudly is the answer
R1: If EHDDT is Medium and EHDCT is Medium and WidthDT is High and WidthCT is High then mine = 1.15
R2: If EHDDT is Medium and EHDCT is Low and WidthDT is High and WidthCT is High then mine = 0.94
"""

SKY = """
VARIABLE patch FROM 0 TO 1: red = Gaussian(0, 0.08), green = Gaussian(0.35, 0.08), blue = Gaussian(0.6, 0.08)
VARIABLE texture FROM 0 TO 1: smooth = Gaussian(0, 0.2), rough = Gaussian(1, 0.3)
VARIABLE "patch position" FROM 0 TO 1: "lower half" = Sigmoid(0.5, -20), "upper half" = Sigmoid(0.5, 20)
USING t_norm = min, aggregation = max
If patch is blue and texture is smooth then sky = 1
If patch is blue and "patch position" is "upper half" then sky = 1
If anything then sky = 0 with 0.1   # what is concluded if no patch speaks up
"""


def test_the_landmine_rules_run_and_print_back():
    rules = RuleBase.parse(MINES)
    assert str(rules) == (
        "Default: mine = 0\n"
        "R1: IF EHDDT is Medium AND EHDCT is Medium AND WidthDT is High AND WidthCT is High THEN mine += 1.15\n"
        "R2: IF EHDDT is Medium AND EHDCT is Low AND WidthDT is High AND WidthCT is High THEN mine += 0.94"
    )
    clutter = [0.1, 0.1, 0.2, 0.1]
    found = rules.infer([[[0.5, 0.5, 1.0, 1.0], clutter], [clutter, [0.5, 0.0, 1.0, 0.75]], [clutter, clutter]])
    # One patch that is a mine decides its bag, by the rule it satisfies: R1 fully, R2 as far as WidthCT is High.
    np.testing.assert_allclose(found.firing[0], [1.0, math.exp(-3.125)])
    np.testing.assert_allclose(found.firing[1], [math.exp(-3.125), math.exp(-0.5)])
    np.testing.assert_allclose(found.output[:, 0], found.firing @ [1.15, 0.94])
    assert found.output[2, 0] < 0.01 < 0.5 < found.output[:2].min()
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.parse(str(rules), rules.variables, t_norm="min", aggregation="max") == rules


def test_the_sky_rules_run_and_print_back():
    rules = RuleBase.parse(SKY)
    assert str(rules) == (
        "Rule 1: IF patch is blue AND texture is smooth THEN sky = 1\n"
        'Rule 2: IF patch is blue AND "patch position" is "upper half" THEN sky = 1\n'
        "Rule 3: IF anything THEN sky = 0 WITH 0.1"
    )
    grass, brick = [0.35, 0.8, 0.2], [0.05, 0.9, 0.6]
    found = rules.infer([[[0.6, 0.1, 0.9], grass, brick], [grass, brick]])
    np.testing.assert_allclose(found.firing[:, 2], 0.1)
    # The blue patch is smooth to exp(-1/8) and in the upper half to 1 / (1 + exp(-8)): the lesser degrees join.
    smooth, upper = math.exp(-0.125), 1 / (1 + math.exp(-8))
    np.testing.assert_allclose(found.output[0], (smooth + upper) / (smooth + upper + 0.1))
    assert found.output[1, 0] < 0.05
    assert RuleBase.parse(rules.to_source()) == rules


# ---------------------------------------------------------------------- premises


@pytest.mark.parametrize(
    ("text", "premise"),
    [
        ("depth is low", LOW),
        ("(((depth is low)))", LOW),
        ("anything", ANYTHING),
        ("depth is low AND size is medium AND hue is high", And((LOW, MEDIUM, HIGH))),
        ("(depth is low AND size is medium) AND hue is high", And((And((LOW, MEDIUM)), HIGH))),
        ("depth is low OR size is medium OR hue is high", Or((LOW, MEDIUM, HIGH))),
        ("depth is low OR size is medium AND hue is high", Or((LOW, And((MEDIUM, HIGH))))),
        ("(depth is low OR size is medium) AND hue is high", And((Or((LOW, MEDIUM)), HIGH))),
        ("NOT depth is low AND size is medium", And((Not(LOW), MEDIUM))),
        ("NOT (depth is low AND size is medium)", Not(And((LOW, MEDIUM)))),
        ("NOT NOT depth is low", Not(Not(LOW))),
        ("NOT anything", Not(ANYTHING)),
        ("depth is not low", Is("depth", "low", ("not",))),
        ("depth is not very low", Is("depth", "low", ("not", "very"))),
        ("depth is somewhat extremely seldom low", Is("depth", "low", ("somewhat", "extremely", "seldom"))),
        ("depth is low AND depth is not low", And((LOW, Is("depth", "low", ("not",))))),
    ],
)
def test_a_premise_reads_as_the_tree_it_means(text, premise):
    assert premise_of(text) == premise


@pytest.mark.parametrize("write", [str.lower, str.upper, str.title])
def test_words_of_the_language_are_read_in_any_case(write):
    text = "if x is not very low and not (x is low or anything) then y = 1 with 0.5"
    text = " ".join(write(word) if word.strip("(") in keywords() else word for word in text.split())
    declared = write("variable") + " x " + write("from") + " 0 " + write("to") + " 1: low = Gaussian(0, 1) "
    rules = RuleBase.parse(declared + write("using") + f" alpha = {write('inf')}, normalize = {write('no')} " + text)
    assert rules.rules[0].premise == And((Is("x", "low", ("not", "very")), Not(Or((Is("x", "low"), ANYTHING)))))
    assert (rules.alpha, rules.normalize, rules.rules[0].weight) == (math.inf, False, 0.5)


def test_names_are_told_apart_by_case():
    rules = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1), Low = Gaussian(1, 1) VARIABLE X IF x is Low THEN y = X")
    assert rules.feature_names == ("x", "X")
    assert rules.rules == (Rule({"x": "Low"}, [[0.0, 0.0, 1.0]]),)


ODD_NAMES = [
    "two words",
    'a "quoted" word',
    "back\\slash",
    "a\\n",
    "two\nlines",
    "carriage\rreturn",
    "a\r\nb",
    "tab\there",
    "",
    " ",
    "#1",
    "a-b",
    "1st",
    "3",
    "a.",
    "a..b",
    "été",
    "深さ",
    "x²",
    "\u2028",
    "\x00",
    "[m]",
    "'",
    "...",
    "Gaussian",
    "inf",
    "variable",
    "from",
    *sorted(keywords()),
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_any_name_is_written_so_that_it_reads_back(name):
    variable = Variable(name, {name: Gaussian(0.5, 1), "low": Gaussian(0, 1)}, unit=name)
    rules = RuleBase(
        [variable], [Rule(And((Is(name, name), Not(Is(name, "low", ("very",))))), [[1.0, 2.0]], 0.5)], [name]
    )
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules


def test_plain_words_need_no_quotes_and_may_have_them():
    assert premise_of('"depth" is "low"') == LOW
    assert premise_of('depth is very "low"') == Is("depth", "low", ("very",))
    rules = RuleBase.parse(
        "VARIABLE petal.length_2: très_long = Gaussian(0, 1) IF petal.length_2 is très_long THEN y = 1"
    )
    assert str(rules) == "Rule 1: IF petal.length_2 is très_long THEN y = 1"


def test_a_quoted_word_of_the_language_is_a_name():
    rules = RuleBase.parse('VARIABLE "is": "very" = Gaussian(0, 1) IF "is" is very "very" THEN "then" = 1')
    assert str(rules) == 'Rule 1: IF "is" is very "very" THEN "then" = 1'


# ---------------------------------------------------------------------- conclusions, weights, labels, comments


@pytest.mark.parametrize(
    ("text", "constant", "slopes"),
    [
        ("1.15", 1.15, {}),
        ("-1", -1.0, {}),
        ("+1", 1.0, {}),
        ("depth", 0.0, {"depth": 1.0}),
        ("-depth", 0.0, {"depth": -1.0}),
        ("0.3 + 2*depth - size", 0.3, {"depth": 2.0, "size": -1.0}),
        ("depth*2 - 3 + size*0.5 + 1", -2.0, {"depth": 2.0, "size": 0.5}),
        ("depth + depth - 3*depth", 0.0, {"depth": -1.0}),
        (".5", 0.5, {}),
        ("5.", 5.0, {}),
        ("1e3", 1000.0, {}),
        ("1.5E-3", 0.0015, {}),
        ("2.e+1*depth", 0.0, {"depth": 20.0}),
        ("1e-999", 0.0, {}),
        ("007", 7.0, {}),
    ],
)
def test_a_conclusion_is_a_sum_of_numbers_times_variables(text, constant, slopes):
    assert conclusion_of(text) == Linear(constant, slopes)


@pytest.mark.parametrize("between", [",", "AND", " and "])
def test_a_rule_may_conclude_several_outputs_in_any_order(between):
    rules = RuleBase.parse(
        f"IF depth is low THEN a = 1 {between} b = depth IF depth is high THEN b = 3 {between} a = 4 WITH 2", VARIABLES
    )
    assert rules.output_names == ("a", "b")
    np.testing.assert_array_equal(rules.coefs[:, :, :2], [[[1, 0], [0, 1]], [[4, 0], [3, 0]]])
    assert [rule.weight for rule in rules.rules] == [1.0, 2.0]


def test_a_conclusion_may_be_a_term_of_an_output():
    parsed = read("OUTPUT risk [%] FROM 0 TO 1: great = Gaussian(1, 1) IF depth is low THEN risk is great", VARIABLES)
    assert parsed.outputs == {"risk": Variable("risk", {"great": Gaussian(1, 1)}, 0, 1, "%")}
    assert parsed.rules[0].conclusions == {"risk": Is("risk", "great")}
    assert read("IF depth is low THEN risk is great", VARIABLES, parsed.outputs.values()).rules == [
        parsed.rules[0]._replace(place=Place("IF depth is low THEN risk is great", "", 0))
    ]


@pytest.mark.parametrize("label", ["Rule 1:", "R1:", "1:", "rule:", '"my rule":', "variable:", "output:", "Rule 1 :\n"])
def test_labels_are_for_readers_only(label):
    text = f"{label} IF depth is low THEN y = 1 {label} IF depth is high THEN y = 2"
    plain = "IF depth is low THEN y = 1 IF depth is high THEN y = 2"
    assert RuleBase.parse(text, VARIABLES) == RuleBase.parse(plain, VARIABLES)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "; ", " ", "\t", "\u00a0", "\f"])
def test_any_space_ends_a_line(end):
    text = end.join(["VARIABLE x: low = Gaussian(0, 1)", "IF x", "is low", "THEN y =", "1", "IF x is low THEN y = 2"])
    text = text.replace("x; is", "x is").replace("; THEN", " THEN").replace("=; 1", "= 1")
    assert RuleBase.parse(text).coefs.ravel().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_comment_ends_with_its_line(end):
    text = end.join(
        ["# IF nothing", "IF depth is low # (is it?)", "THEN y = 1# one", "#", "IF size is low THEN y = 2 #"]
    )
    assert RuleBase.parse(text, VARIABLES).n_rules == 2


def test_no_comment_begins_inside_a_name():
    rules = RuleBase.parse('VARIABLE "#1" [#]: low = Gaussian(0, 1) IF "#1" is low THEN y = 1')
    assert rules.variables == (Variable("#1", {"low": Gaussian(0, 1)}, unit="#"),)


def test_a_byte_order_mark_is_no_text():
    assert read("\ufeffIF depth is low THEN y = 1", VARIABLES).rules[0].premise == LOW


def test_rules_may_come_as_a_sequence():
    entries = ["IF depth is low THEN y = 1", "IF size is low THEN y = 2; IF hue is low THEN y = 3", "# none"]
    assert RuleBase.parse(iter(entries), VARIABLES) == RuleBase.parse("\n".join(entries), VARIABLES)


# ---------------------------------------------------------------------- declarations and settings


def test_a_declaration_tells_unit_range_and_terms():
    text = "VARIABLE x [m/s] FROM -1 TO 2e1: a = Gaussian(0, 1), b = Bell(0, 1, 2), c = Sigmoid(0, -3), "
    text += "d = Triangular(-1, 0, 1), e = Trapezoidal(-1, 0, 1, 2)"
    sets = Gaussian(0, 1), Bell(0, 1, 2), Sigmoid(0, -3), Triangular(-1, 0, 1), Trapezoidal(-1, 0, 1, 2)
    assert read(text).variables == {"x": Variable("x", dict(zip("abcde", sets, strict=True)), -1, 20, "m/s")}


@pytest.mark.parametrize(
    ("text", "variable"),
    [
        ("VARIABLE x", Variable("x")),
        ("VARIABLE x TO 3", Variable("x", high=3)),
        ("VARIABLE x FROM 3", Variable("x", low=3)),
        ("VARIABLE from FROM 3 TO 3", Variable("from", low=3, high=3)),
        ("VARIABLE x []", Variable("x")),
        ("VARIABLE x [ °C ]", Variable("x", unit=" °C ")),
        (r"VARIABLE x [a\]b\\c]", Variable("x", unit=r"a]b\c")),
    ],
)
def test_every_part_of_a_declaration_may_be_left_out(text, variable):
    assert read(text).variables == {variable.name: variable}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("min", "min"),
        ('"two words"', "two words"),
        ("1", 1.0),
        ("-2.5", -2.5),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("(1)", (1.0,)),
        ("(1, -2, inf)", (1.0, -2.0, math.inf)),
        ("yes", True),
        ("True", True),
        ("NO", False),
        ("false", False),
    ],
)
def test_a_setting_is_a_word_a_number_or_numbers(text, value):
    found = setting_of(text)
    assert found == value
    assert type(found) is type(value)


def test_settings_of_the_text_become_those_of_the_rule_base():
    rules = RuleBase.parse(
        "USING t_norm = lukasiewicz, s_norm = max, aggregation = lse, alpha = (1, 2)\n"
        "USING conclusion_aggregation = mean, conclusion_alpha = -inf, normalize = no, default = -3, limited = yes\n"
        "IF depth is low THEN y = 1\nIF depth is high THEN y = 2",
        VARIABLES,
    )
    assert (rules.t_norm, rules.s_norm, rules.aggregation, rules.alpha) == ("lukasiewicz", "max", "lse", (1.0, 2.0))
    assert (rules.conclusion_aggregation, rules.conclusion_alpha, rules.normalize) == ("mean", -math.inf, False)
    assert (rules.default, rules.limited) == ((-3.0,), True)


def test_the_s_norm_follows_the_t_norm_unless_it_is_given():
    for t_norm, s_norm in (("min", "max"), ("product", "algebraic"), ("lukasiewicz", "bounded")):
        text = f"USING t_norm = {t_norm} IF depth is low THEN y = 1"
        assert RuleBase.parse(text, VARIABLES).s_norm == s_norm
        assert RuleBase.parse("IF depth is low THEN y = 1", VARIABLES, t_norm=t_norm).s_norm == s_norm


# ---------------------------------------------------------------------- what is printed reads back


def test_deep_premises_print_and_read_back_up_to_the_limit():
    inner = Is("depth", "low")
    for level in range(98):
        inner = (Not(inner), And((inner, MEDIUM)), Or((inner, HIGH)))[level % 3]
    for premise in (inner, Not(inner), Is("depth", "low", ("very", "not") * 49)):
        rules = RuleBase(VARIABLES, [Rule(premise, [[1.0]])])
        assert RuleBase.parse(rules.to_source()) == rules
        assert RuleBase.from_dict(rules.to_dict()) == rules
    nots = Is("depth", "low")
    for _ in range(99):
        nots = Not(nots)
    rules = RuleBase(VARIABLES, [Rule(nots, [[1.0]])])
    assert RuleBase.parse(rules.to_source()) == rules
    with pytest.raises(ParameterError, match="at most 100 levels"):
        Rule(Not(nots), [[1.0]])


def test_numbers_are_written_exactly():
    values = [0.1, 1 / 3, 1e-5, 5e-324, 1.7976931348623157e308, 123456789012345680.0, -2.5e-7, -0.0]
    x = Variable("x", {f"t{n}": Gaussian(value, abs(value) or 1.0) for n, value in enumerate(values)}, -1 / 3, 1e300)
    rules = RuleBase([x], [Rule({"x": f"t{n}"}, [[v, -v]], abs(v)) for n, v in enumerate(values)], alpha=values)
    assert RuleBase.parse(rules.to_source()) == rules


def test_infinite_alphas_read_back():
    for alpha in (math.inf, -math.inf):
        rules = RuleBase.parse("IF depth is low THEN y = depth", VARIABLES, alpha=alpha, conclusion_alpha=alpha)
        assert RuleBase.parse(rules.to_source()) == rules


def test_an_output_has_a_name_of_its_own():
    with pytest.raises(ParameterError, match="Two outputs have the same name, got y, y"):
        RuleBase(VARIABLES, [Rule({}, [[1.0], [2.0]])], ["y", "y"])


@pytest.mark.parametrize(("low", "high"), [(2.0, 1.0), (math.nan, 1.0), (0.0, math.inf)])
def test_a_range_is_finite_and_goes_up(low, high):
    with pytest.raises(ParameterError, match="range of 'x' must be finite"):
        Variable("x", TERMS, low, high)


@pytest.mark.parametrize(
    "written",
    [
        "1. If (x is low) and (z is high) then (y is big) (0.5)",  # MATLAB
        "If (x is low) and (z is high) then (y is big)(0.5)",
        "IF (x IS low) AND (z IS high) THEN (y IS big) WITH 0.5",  # simpful
        "IF ((x IS low) AND (z IS high)) THEN y IS big WITH 0.5;;",
        "Rule 7: IF x is low AND z is high THEN y is big WITH 0.5",
    ],
)
def test_brackets_are_read_as_matlab_and_simpful_write_them(written):
    declared = "VARIABLE x: low = Gaussian(0, 1) VARIABLE z: high = Gaussian(2, 1) "
    output = "OUTPUT y FROM 0 TO 1: big = Triangular(0, 1, 2) "
    plain = "IF x is low AND z is high THEN y is big WITH 0.5"
    assert RuleBase.parse(declared + output + written) == RuleBase.parse(declared + output + plain)
    sugeno = written.replace("IS big", "= 2").replace("is big", "= 2")
    assert RuleBase.parse(declared + sugeno) == RuleBase.parse(declared + plain.replace("is big", "= 2"))


def test_matlab_puts_nothing_between_conclusions():
    declared = "VARIABLE x: low = Gaussian(0, 1) OUTPUT a FROM 0 TO 1: big = Triangular(0, 1, 2) "
    declared += "OUTPUT b FROM 0 TO 1: big = Triangular(0, 1, 2) "
    found = RuleBase.parse(declared + "1. If (x is not low) then (a is big)(b is big) (1)")
    assert found == RuleBase.parse(declared + "IF x is not low THEN a is big, b is big")


@pytest.mark.parametrize("unit", ["0, 2", " 0 : 2", "-1 to 1", "m/s", "0"])
def test_a_unit_that_looks_like_a_range_reads_back(unit):
    rules = RuleBase([Variable("x", TERMS, unit=unit)], [Rule({"x": "low"}, [[1.0]])])
    assert RuleBase.parse(rules.to_source()) == rules

"""Rules with quantifiers and rules that are added up: as values, text, tables and files."""

import json

import numpy as np
import pytest
from scorecards import DECLARED, scorecard, some_bags

from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import Gaussian
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS, on_average, register_quantifier
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost, write_rules
from fuzzymil.rules.premise import (
    ANYTHING,
    MAX_CONDITIONS,
    And,
    Is,
    Not,
    Or,
    Quantified,
    conditions,
    depth,
    is_quantified,
    negations,
    parts_of,
    premise_key,
)

BLUE, RED, SMOOTH, ROUGH = Is("hue", "blue"), Is("hue", "red"), Is("texture", "smooth"), Is("texture", "rough")


# ---------------------------------------------------------------------- values


def test_the_parts_of_a_rule_base():
    rules = scorecard()
    assert [(part.rule, part.quantifier, part.count, part.negated) for part in rules.parts] == [
        (0, "some", None, False),
        (0, "most", None, False),
        (1, "at least", 3, True),
        (2, "at least", 8, False),
        (2, "on average", None, False),
    ]
    assert [part.premise for part in rules.parts] == [And((BLUE, SMOOTH)), ROUGH, RED, ANYTHING, BLUE]
    plain = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    assert [(part.rule, part.quantifier) for part in plain.parts] == [(0, None), (1, None)]
    assert plain.arrangement.parts is None
    assert plain.compile()[2].parts is None


def test_a_quantified_premise_is_read_like_any_other():
    premise = And((Quantified("some", And((BLUE, Not(ROUGH)))), Not(Quantified("all", RED))))
    assert list(conditions(premise)) == [BLUE, ROUGH, RED]
    assert list(negations(premise)) == [False, True, True]
    assert depth(premise) == 5
    assert is_quantified(premise)
    assert not Rule(premise, [[1.0]]).is_plain
    assert not Rule(Quantified("some", BLUE), [[1.0]]).is_plain
    assert Rule(premise, [[1.0]]).antecedent == {"hue": "blue", "texture": "rough"}
    assert [part.negated for part in parts_of(0, premise)] == [False, True]


def test_ands_of_one_part_are_dropped_also_under_quantifiers():
    rule = Rule(And((Quantified("some", And((Or((BLUE,)),))),)), [[1.0]])
    assert rule.premise == Quantified("some", BLUE)


def test_premises_with_the_same_parts_in_another_order_share_a_key():
    one = And((Quantified("some", And((BLUE, SMOOTH))), Quantified("all", RED)))
    other = And((Quantified("all", RED), Quantified("some", And((SMOOTH, BLUE)))))
    assert premise_key(one) == premise_key(other)
    assert premise_key(one) != premise_key(Or(one.parts))
    assert premise_key(Quantified("at least", RED, 2)) != premise_key(Quantified("at least", RED, 3))
    assert premise_key(And((RED, RED))) != premise_key(And((RED,)))


@pytest.mark.parametrize("count", [None, 0, -1, 2.5, True, "3", np.nan])
def test_a_count_is_a_whole_number_of_at_least_one(count):
    with pytest.raises(ParameterError, match="count"):
        Quantified("at least", RED, count)


def test_only_at_least_takes_a_count():
    assert {"at least"} == COUNTING
    assert Quantified("at least", RED, np.int64(2)).count == 2
    assert type(Quantified("at least", RED, np.int64(2)).count) is int
    with pytest.raises(ParameterError, match=r"'some'.* 3"):
        Quantified("some", RED, 3)


def test_an_unknown_quantifier_is_refused_with_a_suggestion():
    with pytest.raises(ParameterError, match=r"mots.*most"):
        Quantified("mots", RED)
    with pytest.raises(ParameterError, match="got 'x is low'"):
        Quantified("some", "x is low")


def test_a_quantifier_inside_another_is_refused():
    with pytest.raises(ParameterError, match="inside another"):
        Rule(Quantified("some", Not(Quantified("all", RED))), [[1.0]])


@pytest.mark.parametrize(
    "beside", [lambda p: And((p, SMOOTH)), lambda p: Or((Not(SMOOTH), p)), lambda p: And((p, And((SMOOTH,))))]
)
def test_a_bare_condition_beside_a_quantified_one_is_named(beside):
    with pytest.raises(ParameterError, match=r"'texture' is 'smooth'.*quantif"):
        Rule(beside(Quantified("some", RED)), [[1.0]])


def test_long_conjunctions_may_be_quantified_but_long_alternatives_may_not():
    many = tuple(Is(f"x{n}", "low") for n in range(MAX_CONDITIONS + 1))
    assert len(Rule(Quantified("some", And(many)), [[1.0]]).conditions) == MAX_CONDITIONS + 1
    with pytest.raises(ParameterError, match="1,000"):
        Rule(Quantified("some", Or(many)), [[1.0]])


def test_rows_belong_to_parts_and_a_second_condition_gets_a_further_one():
    premise = And((Quantified("some", And((BLUE, SMOOTH))), Quantified("all", Or((BLUE, RED)))))
    rules = RuleBase(scorecard().variables, [Rule(premise, [[1.0]]), Rule(Quantified("some", RED), [[2.0]])])
    found = rules.arrangement
    assert found.n_rows == 4
    assert found.places == (((0, 0), (0, 1)), ((1, 0), (3, 0)), ((2, 0),))
    assert found.terms[3, 0] == ("hue", "red")
    assert found.premises is None
    assert found.parts.quantifiers == (("some", 1), ("all", 1), ("some", 1))
    assert found.parts.rules == (0, 0, 1)
    assert rules.centers.tolist() == [[0.6, -0.4], [0.1, pytest.approx(np.nan, nan_ok=True)]]


# ---------------------------------------------------------------------- JSON


def test_json_keeps_everything():
    rules = scorecard()
    told = json.loads(json.dumps(rules.to_dict()))
    assert RuleBase.from_dict(told) == rules
    assert told["rules"][1] == {
        "premise": {"not": {"at least": [3, {"is": ["hue", "red"]}]}},
        "then": [[-1.4]],
    }
    assert told["rules"][2]["premise"]["or"][0] == {"at least": [8, {"and": []}]}
    assert told["rules"][0]["premise"]["and"][1] == {"most": {"is": ["texture", "rough"]}}


@pytest.mark.parametrize(
    "premise",
    [
        {"at least": {"is": ["hue", "red"]}},
        {"at least": [0, {"is": ["hue", "red"]}]},
        {"at least": [2.5, {"is": ["hue", "red"]}]},
        {"some": [3, {"is": ["hue", "red"]}]},
        {"few": {"is": ["hue", "red"]}},
        {"some": {"all": {"is": ["hue", "red"]}}},
        {"and": [{"some": {"is": ["hue", "red"]}}, {"is": ["hue", "red"]}]},
    ],
)
def test_damaged_premises_are_refused(premise):
    content = scorecard().to_dict()
    content["rules"][0]["premise"] = premise
    with pytest.raises(ModelFileError):
        RuleBase.from_dict(content)


# ---------------------------------------------------------------------- text


def test_a_scorecard_prints_and_reads_back():
    rules = scorecard()
    assert str(rules).splitlines() == [
        "Default: sky = -2.9",
        "Rule 1: IF SOME (hue is blue AND texture is smooth) AND MOST texture is rough THEN sky += 2.2",
        "Rule 2: IF NOT (AT LEAST 3 hue is red) THEN sky -= 1.4",
        "Rule 3: IF AT LEAST 8 instances OR ON AVERAGE hue is blue THEN sky += 0.5 WITH 0.5",
    ]
    assert not rules.normalize
    assert rules.default == (-2.9,)
    assert [rule.coefs[0][0] for rule in rules.rules] == [2.2, -1.4, 0.5]
    assert RuleBase.parse(rules.to_source()) == rules
    assert "normalize" not in rules.to_source()
    assert RuleBase.parse(str(rules), rules.variables) == rules


def test_keywords_may_be_written_in_any_case_and_anything_stands_for_instances():
    text = DECLARED + "if at least 8 anything and Some not (hue is red) then y -= 1 + 2*hue - texture"
    (rule,) = RuleBase.parse(text).rules
    assert rule.premise == And((Quantified("at least", ANYTHING, 8), Quantified("some", Not(RED))))
    assert rule.coefs == ((-1.0, -2.0, 1.0),)


def test_normalized_rules_may_be_quantified_and_have_no_default_line():
    rules = RuleBase.parse(DECLARED + "IF SOME hue is red THEN y = 1  IF ALL hue is blue THEN y = 0")
    assert rules.normalize
    assert str(rules).startswith("Rule 1: IF SOME hue is red THEN y = 1\n")
    again = RuleBase.parse(DECLARED + "Default: y = 0.25  IF SOME hue is red THEN y = 1")
    assert again.default == (0.25,)
    assert again.normalize


def test_sums_may_also_be_chosen_by_a_setting():
    by_setting = RuleBase.parse(DECLARED + "USING normalize = no, default = 2  IF SOME hue is red THEN y = 1")
    by_sign = RuleBase.parse(DECLARED + "Default: y = 2  IF SOME hue is red THEN y += 1")
    assert by_setting == by_sign
    assert RuleBase.parse(DECLARED + "IF hue is red THEN y += 1", normalize=False, default=2.0).default == (2.0,)


def test_several_outputs_have_several_defaults():
    rules = RuleBase.parse(DECLARED + "Default: b = 1, a = -2  IF SOME hue is red THEN a += 1, b -= 0.5")
    assert rules.output_names == ("b", "a")
    assert rules.default == (1.0, -2.0)
    assert str(rules).splitlines()[0] == "Default: b = 1, a = -2"
    assert RuleBase.parse(rules.to_source()) == rules


@pytest.mark.parametrize(
    ("coefs", "concluded"),
    [
        ([[0.0], [2.0], [-1.0]], "b += 2, c -= 1"),
        ([[0.0], [0.0], [0.0]], "a += 0"),  # a rule needs a conclusion
        ([[0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1e-30, 0.0, 0.0]], "a += 0 + 3*texture, c += 1e-30"),
    ],
)
def test_outputs_to_which_a_rule_adds_nothing_are_left_out(coefs, concluded):
    rules = RuleBase(scorecard().variables[:2], [Rule(RED, coefs)], ("a", "b", "c"), normalize=False, default=(1, 0, 2))
    assert rules.to_text() == f"Default: a = 1, b = 0, c = 2\nRule 1: IF hue is red THEN {concluded}"
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules


def test_names_that_are_words_of_quantifiers_are_quoted_except_as_terms():
    names = ("some", "Most", "average", "instances", "least")
    variables = [Variable(name, {"all": Gaussian(0, 1), "average": Gaussian(1, 1)}) for name in names]
    rules = RuleBase(variables, [Rule(dict.fromkeys(names, "average"), [[1.0]], 1.0)])
    text = str(rules)
    assert '"some" is average AND "Most" is average' in text
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.parse('IF "least" is all THEN y = 1', variables).rules[0].premise == Is("least", "all")


def test_long_parts_are_shortened_by_selectivity():
    terms = {"wide": Gaussian(0, 1), "narrow": Gaussian(0, 0.1)}
    variables = [Variable(f"x{d}", terms, -1, 1) for d in range(20)]
    asked = tuple(Is(f"x{d}", "narrow" if d in (3, 7) else "wide") for d in range(20))
    premise = And((Quantified("some", And(asked)), Quantified("all", Is("x1", "wide"))))
    rules = RuleBase(variables, [Rule(premise, [[1.0]])], normalize=False)
    assert rules.to_text(max_conditions=2).splitlines()[1] == (
        "Rule 1: IF SOME (x3 is narrow AND x7 is narrow AND ... (18 less selective)) AND ALL x1 is wide THEN y += 1"
    )
    assert "(12 less selective)" in str(rules)  # as for all rules over many features
    assert rules.to_text().count(" is ") == 21


@pytest.mark.parametrize(
    ("text", "at", "facts"),
    [
        ("IF AT LEAST hue is red THEN y += 1", "hue", ["count", "AT LEAST 3", "'hue'"]),
        ("IF AT LEAST THEN y += 1", "THEN", ["count", "'THEN'"]),
        ("IF AT LEAST 0 hue is red THEN y += 1", "0", ["at least 1", "got 0"]),
        ("IF AT LEAST 2.5 hue is red THEN y += 1", "2.5", ["whole number", "2.5"]),
        ("IF AT LEAST half hue is red THEN y += 1", "half", ["count", "MOST", "ON AVERAGE"]),
        ("IF AT LEAST -1 hue is red THEN y += 1", "-1", ["count", "'-'"]),
        ("IF SOME 3 hue is red THEN y += 1", "3", ["SOME", "AT LEAST 3"]),
        ("IF SOME (MOST hue is red) THEN y += 1", "MOST", ["MOST", "SOME", "inside"]),
        ("IF ALL NOT SOME hue is red THEN y += 1", "SOME", ["SOME", "ALL", "inside"]),
        ("IF SOME hue is red AND texture is smooth THEN y += 1", "texture", ["'texture'", "no quantifier", "SOME"]),
        ("IF NOT (texture is smooth) OR ALL hue is red THEN y += 1", "texture", ["'texture'", "no quantifier"]),
        ("IF MOST THEN y += 1", "THEN", ["MOST", "condition", "instances"]),
        ("IF MOST", None, ["MOST", "end of the text"]),
        ("IF AT LEAST 3 THEN y += 1", "THEN", ["AT LEAST", "condition"]),
        ("IF AT hue is red THEN y += 1", "AT", ["AT LEAST", "quotes"]),
        ("IF ON hue is red THEN y += 1", "ON", ["ON AVERAGE"]),
        ("IF instances THEN y += 1", "instances", ["AT LEAST 8 instances"]),
        ("IF EVERY hue is red THEN y += 1", "EVERY", ["'EVERY'", "ALL"]),
        ("IF any (hue is red) THEN y += 1", "any", ["'any'", "SOME"]),
        ("IF none (hue is red) THEN y += 1", "none", ["NOT (SOME ...)"]),
        ("IF hue is red THEN y += 1 IF hue is blue THEN y = 0", "= 0", ["'+='"]),
        ("IF hue is red THEN y = 1, z -= 1", "= 1", ["'+='"]),
        ("IF hue is red THEN y += 1 USING normalize = yes", "+=", ["normalize=True"]),
        ("IF hue is red THEN y +=", None, ["number"]),
        ("IF hue is red THEN y + 1", "+ 1", ["'+='", "'+'"]),
        ("Default: z = 1 IF hue is red THEN y += 1", "z", ["'z'", "y"]),
        ("Default: y = 1 Default: y = 2 IF hue is red THEN y += 1", "y = 2", ["twice"]),
        ("Default: y = 1 USING default = 2 IF hue is red THEN y += 1", "y = 1", ["USING"]),
        ("Default: y = 1 IF hue is red THEN y += 1, z += 1", "y = 1", ["'z'"]),
        ("Default: y = 1, z = 1 IF hue is red THEN y += 1, zz += 1", "z = 1", ["'z'", "'zz'?"]),
        ("IF hue is red THEN y += 1, z += 1 IF hue is blue THEN y += 2", "+= 2", ["'z'", "Default: "]),
        ("Default: y = hue IF hue is red THEN y += 1", "hue", ["number", "'hue'"]),
    ],
)
def test_a_mistake_is_named_and_pointed_at(text, at, facts):
    with pytest.raises(RuleSyntaxError) as caught:
        RuleBase.parse(text, scorecard().variables)
    message, _, caret = str(caught.value).rpartition("\n")
    for fact in facts:
        assert fact in message
    place = len(text) if at is None else text.index(at)
    assert caret == "  " + " " * place + "^"


def test_arguments_that_contradict_the_text_are_refused():
    variables = scorecard().variables
    with pytest.raises(RuleSyntaxError, match="normalize=True"):
        RuleBase.parse("IF SOME hue is red THEN y += 1", variables, normalize=True)
    with pytest.raises(RuleSyntaxError, match="default is set twice"):
        RuleBase.parse("Default: y = 1 IF SOME hue is red THEN y += 1", variables, default=2.0)


def test_a_registered_quantifier_has_its_words_in_the_language():
    register_quantifier("nearly all", lambda log_r, grouping, count: 2 * on_average(log_r, grouping, count))
    register_quantifier(
        "at most", lambda log_r, grouping, count: -0.1 * count + 0 * on_average(log_r, grouping, 1), counts=True
    )
    try:
        text = (
            "IF NEARLY ALL hue is red AND AT MOST 4 instances AND ALL hue is red AND AT LEAST 2 hue is red THEN y += 1"
        )
        rules = RuleBase.parse(text, scorecard().variables)
        assert str(rules).splitlines()[1] == f"Rule 1: {text}"
        assert RuleBase.from_dict(rules.to_dict()) == rules
        assert rules.infer(some_bags()).output.shape == (6, 1)
    finally:
        for name in ("nearly all", "at most"):
            del QUANTIFIERS[name]
        COUNTING.discard("at most")


# ---------------------------------------------------------------------- tables and other programs


def test_tables_show_the_default_and_what_rules_add():
    table = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in export_rules(scorecard(), "markdown").splitlines()
    ]
    assert table[0] == ["rule", "if", "sky", "weight"]
    assert table[2] == ["default", "", "-2.9", ""]
    assert [row[2:] for row in table[3:6]] == [["+2.2", "1"], ["-1.4", "1"], ["+0.5", "0.5"]]
    assert table[4][1] == "NOT (AT LEAST 3 hue is red)"
    latex = export_rules(scorecard(), "latex").splitlines()
    assert latex[4] == r"default &  & $-2.9$ &  \\"
    assert latex[5].endswith(r"& +$2.2$ & $1$ \\")


def test_a_grid_of_additive_rules_has_the_default_in_its_first_row():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [2.0, -1.0], normalize=False, default=[0.5])
    assert export_rules(rules, "markdown").splitlines()[2:] == [
        "| default |  | 0.5 |",
        "| 1 | low: Gaussian(0, 0.3) | +2 |",
        "| 2 | high: Gaussian(1, 0.3) | -1 |",
    ]


@pytest.mark.parametrize(("format", "word"), [("fll", "FLL"), ("fis", ".fis")])
def test_formats_without_bags_name_the_rule(format, word, tmp_path):
    rules = scorecard().edit(add="IF hue is red THEN sky += 1", keep=[2]).edit(keep=[2, 1])
    for write in (
        lambda: export_rules(rules, format),
        lambda: what_is_lost(rules, format),
        lambda: write_rules(rules, tmp_path / f"rules.{format}"),
    ):
        with pytest.raises(ParameterError, match=r"Rule 2 .*quantifier.*AT LEAST 3 hue is red.*\.json") as caught:
            write()
        assert word in str(caught.value)


@pytest.mark.parametrize("format", ["fll", "fis"])
def test_the_default_of_a_sum_becomes_a_rule_elsewhere(format):
    rules = RuleBase.from_arrays(
        [[0.0], [1.0]], [[0.3], [0.3]], [2.0, -1.0], normalize=False, default=[0.5], aggregation="max"
    )
    text = export_rules(rules, format)
    assert "rule without conditions" in text
    again = parse_rules(text, format)
    assert again.default == (0.0,)
    assert again.n_rules == 3
    bags = [[[0.1], [0.7]], [[50.0]]]
    np.testing.assert_allclose(again.infer(bags).output, rules.infer(bags).output, rtol=1e-12)


def test_a_default_that_replaces_a_sum_is_not_added_to_it():
    text = export_rules(RuleBase.from_arrays([[0.0]], [[0.3]], [2.0], normalize=False), "fll")
    replaced = text.replace("default: 0", "default: 0.5").replace("Gaussian 0 0.3", "Triangle -1 0 1")
    assert isinstance(parse_rules(replaced, "fll"), RuleBase)
    assert parse_rules(replaced, "fll").infer([[0.0], [3.0]]).output.tolist() == [[2.0], [0.5]]
    assert parse_rules(text.replace("default: 0", "default: nan"), "fll").default == (0.0,)


def test_mamdani_rules_may_be_quantified():
    risk = Variable("risk", {"small": Gaussian(0, 0.2), "great": Gaussian(1, 0.2)}, 0, 1)
    text = "IF AT LEAST 2 hue is red THEN risk is great\nIF NOT (SOME hue is red) THEN risk is small"
    rules = RuleBase.parse(text, scorecard().variables, [risk])
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    found = rules.infer([[[0.1, 0.0], [0.1, 0.0]], [[0.9, 0.0]]])
    assert found.output[0, 0] > 0.8
    assert found.output[1, 0] < 0.2
    assert found.log_degrees.shape == (2, 2)

"""What a format cannot hold is told, or refused by name."""

import numpy as np
import pytest
from small_systems import BAGS, POINTS, base, concluding, two_inputs

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.files import export_rules, parse_rules, what_is_lost
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or


def assert_told(sentences, facts):
    for sentence, expected in zip(sentences, facts, strict=True):
        for fact in expected.split("|"):
            assert fact in sentence


def test_losses_are_told_in_the_text_and_by_what_is_lost():
    inputs = (Variable("hue (mean)", {"very": Gaussian(0, 1), "größe": Gaussian(1, 1)}, unit="nm"), two_inputs()[1])
    rules = base(
        *(Is("hue (mean)", "very"), Is("hue (mean)", "größe")),
        inputs=inputs,
        coefs=[[[1.0, 0.5, 0.5]], [[0.0, 0.0, 1.0]]],
        aggregation="softmax",
        alpha=5.0,
        conclusion_aggregation="max",
        outputs=("it's",),
    )
    common = [
        BAGS,
        "aggregation='softmax', alpha=5|aggregation='max'",
        "conclusion_aggregation='max', conclusion_alpha=1|conclusion_aggregation='softmax', conclusion_alpha=1",
        "Units|'hue (mean)' in 'nm'",
    ]
    names = "'hue (mean)' is written as 'hue_mean'|'very' is written as '_very', 'größe' is written as 'grosse'"
    told = what_is_lost(rules, "fll")
    assert_told(told, [*common, names])
    assert export_rules(rules, "fll").splitlines()[: len(told)] == [f"# {sentence}" for sentence in told]
    told = what_is_lost(rules, "fis")
    assert_told(told, [*common, "\"it's\" is written as 'it s'", "range|'hue (mean)'"])
    assert export_rules(rules, "fis").splitlines()[: len(told)] == [f"% {sentence}" for sentence in told]
    for kind in ("fll", "fis"):  # and single instances infer the same
        back = parse_rules(export_rules(rules, kind), kind)
        np.testing.assert_array_equal(back.infer(POINTS).output, rules.infer(POINTS).output)
    assert what_is_lost(rules, "json") == what_is_lost(rules, "rules") == []
    for kind in ("markdown", "latex"):
        assert len(what_is_lost(rules, kind)) == 1
    with pytest.raises(ParameterError, match=r"format.*'fsi'.*Did you mean 'fis'"):
        what_is_lost(rules, "fsi")


def test_constants_lose_nothing_by_how_instances_are_combined():
    assert_told(what_is_lost(base(Is("depth", "low"), conclusion_aggregation="max"), "fll"), [BAGS])
    every = base(Is("depth", "low"), Is("depth", "high"), aggregation="softmax", alpha=(1.0, 2.0))
    assert "alpha=one per rule" in what_is_lost(every, "fll")[1]


def test_what_only_fuzzylite_understands_of_a_fis_file_is_told():
    rules = RuleBase(two_inputs(), (Rule({}, [[1.0]], 2.0),), t_norm="hamacher", aggregation="max")
    told = [BAGS, "MATLAB|norms hamacher", "MATLAB|weights above 1", "without conditions|fuzzylite"]
    assert_told(what_is_lost(rules, "fis"), told)
    outputs = (Variable("risk", {"small": Triangular(0, 0, 0.6)}, 0, 1, "%"),)
    mamdani = concluding(base(Is("depth", "low")), outputs, ({"risk": "small"},), default=0.25)
    assert_told(
        what_is_lost(mamdani, "fis"), [BAGS, "Units|'risk' in '%'", "resolution", "default|middle of the range"]
    )
    assert_told(what_is_lost(mamdani, "fll"), [BAGS, "Units|'risk' in '%'"])


def test_ramps_have_matlabs_words_in_fis_files_and_fuzzylites_is_read_too():
    rules = RuleBase.parse(
        """VARIABLE x FROM 0 TO 10: falling = Ramp(7, 3), rising = Ramp(3, 7)
        IF x is falling THEN y = 0
        IF x is rising THEN y = 1"""
    )
    text = export_rules(rules, "fis")
    assert "MF1='falling':'linzmf',[3 7]" in text
    assert "MF2='rising':'linsmf',[3 7]" in text
    assert any("linsmf, linzmf" in sentence and "FLL" in sentence for sentence in what_is_lost(rules, "fis"))
    theirs = text.replace("'linzmf',[3 7]", "'rampmf',[7 3]").replace("linsmf", "rampmf")
    for written in (text, theirs):
        assert dict(parse_rules(written, "fis").variables[0].terms) == dict(rules.variables[0].terms)


def test_range_of_a_single_value_is_widened_in_fis_and_told():
    rules = RuleBase.from_arrays([[2.0]], [[0.5]], [1.0], aggregation="max")
    assert "'x1'" in what_is_lost(rules, "fis")[1]
    back = parse_rules(export_rules(rules, "fis"), "fis")
    assert (back.variables[0].low, back.variables[0].high) == (0.5, 3.5)
    no_sets = base(Is("depth", "low"), inputs=(two_inputs()[0], Variable("empty")))
    assert parse_rules(export_rules(no_sets, "fis"), "fis").variables[1] == Variable("empty", {}, -1, 1)


@pytest.mark.parametrize(
    "premise",
    [
        And((Is("depth", "low"), Or((Is("size", "big"), Is("size", "box"))))),
        Or((Is("size", "big"), Is("size", "box"))),
        And((Is("size", "big"), Is("size", "box", ("not",)))),
        Is("depth", "low", ("very", "seldom")),
        Or((Is("depth", "low"), ANYTHING)),
        Not(ANYTHING),
    ],
    ids=["mixed", "or_twice", "and_twice", "hedge", "or_anything", "never"],
)
def test_premises_that_fis_cannot_say_are_refused_by_the_rules_number(premise):
    rules = base(Is("depth", "high"), premise)
    with pytest.raises(ParameterError, match=r"Rule 2 cannot be written to a \.fis file.*use another format"):
        export_rules(rules, "fis")
    with pytest.raises(ParameterError, match="Rule 2 cannot"):
        what_is_lost(rules, "fis")
    assert parse_rules(export_rules(rules, "fll"), "fll") == rules


def test_other_things_that_cannot_be_said_are_refused():
    bracket = And((Is("depth", "low"), Is("size", "big")))
    negated = base(Or((Is("depth", "high"), Not(bracket))), t_norm="min", s_norm="algebraic")
    with pytest.raises(ParameterError, match=r"Rule 1 has NOT.*s_norm='max'"):
        export_rules(negated, "fll")
    with pytest.raises(ParameterError, match=r"Rule 1 cannot be written"):
        export_rules(negated, "fis")
    with pytest.raises(ParameterError, match=r"range of 'depth', 'size'.*limited=False"):
        export_rules(base(Is("depth", "low"), limited=True), "fis")


def test_line_ends_in_names_and_units_do_not_get_into_the_comments():
    odd = Variable("a\nb\r", {"c\rd": Gaussian(0, 1)}, unit="m\n[Rules]")
    rules = RuleBase((odd,), (Rule({"a\nb\r": "c\rd"}, [[1.0]]),), ("y\nz",))
    for kind in ("fll", "fis"):
        back = parse_rules(export_rules(rules, kind), kind)
        assert [*back.feature_names, *back.variables[0].terms, *back.output_names] in (
            ["a_b", "c_d", "y_z"],
            ["a b", "c d", "y z"],
        )


def test_names_are_kept_apart_where_they_are_changed():
    terms = {name: Gaussian(k, 1) for k, name in enumerate(["a b", "a_b", "a-b", "12", "", "NOT", "a  b"])}
    odd = {"it's": Gaussian(0, 2), "it s": Gaussian(1, 2), " it s\n": Gaussian(2, 2), "[x]=%": Gaussian(3, 2)}
    inputs = (Variable("一", terms, 0, 1), Variable("二", odd, 0, 1))
    rules = base(*(Is("一", name) for name in terms), *(Is("二", name) for name in odd), inputs=inputs)
    fll, fis = parse_rules(export_rules(rules, "fll"), "fll"), parse_rules(export_rules(rules, "fis"), "fis")
    assert list(fll.variables[0].terms) == ["a_b2", "a_b", "a_b3", "_12", "_", "_NOT", "a_b4"]
    assert fll.feature_names == ("u4E00", "u4E8C")
    assert list(fis.variables[1].terms) == ["it s2", "it s", "it s3", "[x]=%"]
    for back in (fll, fis):
        np.testing.assert_array_equal(back.infer(POINTS).output, rules.infer(POINTS).output)

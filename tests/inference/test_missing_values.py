"""Missing values: what they stand for, and whether they are there."""

import functools
import math

import jax
import numpy as np
import pytest

from fuzzymil import Bags, RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.explain import explain
from fuzzymil.inference.activations import use_engine
from fuzzymil.inference.layers import forward
from fuzzymil.inference.membership import Missing
from fuzzymil.inference.segments import Each
from fuzzymil.rules.files import export_rules, what_is_lost

NAN = math.nan
STAND_INS = (2.0, 5.0, 9.0, 14.0)
TEXT = """
VARIABLE pages FROM 0 TO 20 MISSING AS 2, 5, 9, 14: high = Sigmoid(9.3, 1.8), low = Gaussian(0, 3)
VARIABLE z: low = Gaussian(0, 1), other = Triangular(-1, 1, 2)
"""
BAGS = Bags.from_list([[[NAN, 0.5], [7.0, -0.2]], [[10.0, NAN], [NAN, NAN]], [[10.0, 0.0]]])


def spelled_out(rules, bags, rule):
    """The truth of a rule for each instance, by hand: the mean degree of the values that a gap stands for."""
    pages, z = rules.variables

    def degree(variable, value, term, unknown=math.nan):
        if term == "missing":
            return float(np.isnan(value))
        if not np.isnan(value):
            return float(variable.terms[term](value))
        return (
            float(variable.terms[term](np.array(variable.missing_values)).mean())
            if variable.missing_values
            else unknown
        )

    return [
        rule(functools.partial(degree, pages, x), lambda term, unknown=1.0, y=y: degree(z, y, term, unknown))
        for x, y in bags.instances
    ]


RULES = {
    "pages is high AND z is low": lambda pages, z: pages("high") * z("low"),
    "pages is not high": lambda pages, z: 1 - pages("high"),
    "pages is very low OR z is other": lambda pages, z: 1 - (1 - pages("low") ** 2) * (1 - z("other")),
    "pages is missing": lambda pages, z: pages("missing"),
    "pages is not missing AND z is low": lambda pages, z: (1 - pages("missing")) * z("low"),
    "NOT (pages is missing OR z is low)": lambda pages, z: (1 - pages("missing")) * (1 - z("low", 0.0)),
    "NOT (z is missing)": lambda pages, z: 1 - z("missing"),
}


@pytest.mark.parametrize("engine", ["numpy", "jax"])
@pytest.mark.parametrize("premise", RULES)
def test_a_gap_counts_as_the_mean_of_what_it_stands_for(premise, engine):
    rules = RuleBase.parse(f"{TEXT}\nIF {premise} THEN y = 1\nIF anything THEN y = 0")
    with use_engine(engine):
        found = rules.infer(BAGS).truth[:, 0]
    np.testing.assert_allclose(found, spelled_out(rules, BAGS, RULES[premise]), atol=1e-12)


@pytest.mark.parametrize("premise", RULES)
def test_quantified_premises_see_the_same(premise):
    rules = RuleBase.parse(f"{TEXT}\nIF SOME ({premise}) THEN y += 1")
    np.testing.assert_allclose(rules.infer(BAGS).truth[:, 0], spelled_out(rules, BAGS, RULES[premise]), atol=1e-12)


@pytest.mark.parametrize("quantifier", ["", "SOME "])
def test_long_conjunctions_of_gaussians_take_the_fast_way_to_the_same_truth(quantifier):
    rng = np.random.default_rng(0)
    names = [f"x{d}" for d in range(12)]
    lines = [
        f"VARIABLE {name} MISSING AS -1, 0.5, 2: near = Gaussian({c:.3f}, 1.5)"
        for name, c in zip(names, rng.normal(size=12), strict=True)
    ]
    premise = " AND ".join(f"{name} is near" for name in names)
    rules = RuleBase.parse("\n".join([*lines, f"IF {quantifier}({premise}) THEN y += 1"]))
    x = np.where(rng.random((9, 12)) < 0.3, NAN, rng.normal(size=(9, 12)))
    expected = [
        np.prod(
            [
                v.terms["near"](np.array(v.missing_values if np.isnan(value) else [value])).mean()
                for v, value in zip(rules.variables, row, strict=True)
            ]
        )
        for row in x
    ]
    for engine in ("numpy", "jax"):
        with use_engine(engine):
            np.testing.assert_allclose(rules.infer(Bags(x, [0, 4, 9])).truth[:, 0], expected, rtol=1e-9)


def test_one_value_is_imputation():
    rules = RuleBase.parse(
        "VARIABLE x MISSING AS 3: low = Gaussian(1, 2)\nIF x is not very low THEN y = 1\nIF x is low THEN y = 0"
    )
    found = rules.infer([[[NAN], [0.4]]]).output
    np.testing.assert_allclose(found, rules.infer([[[3.0], [0.4]]]).output)


def test_linear_conclusions_take_the_mean_of_what_a_gap_stands_for():
    rules = RuleBase.parse("VARIABLE x MISSING AS 1, 3, 8: low = Gaussian(1, 2)\nIF x is low THEN y = 1 + 2*x")
    assert rules.infer([[[NAN]]]).output.item() == pytest.approx(1 + 2 * 4)


def test_gradients_pass_through_what_a_gap_stands_for():
    rules = RuleBase.parse(f"{TEXT}\nIF pages is high AND z is low THEN y = 1\nIF pages is low THEN y = 0")
    params, masks, operators = rules.compile()
    x = np.where(np.isnan(BAGS.instances), 0.0, BAGS.instances)
    known = 1.0 - np.isnan(BAGS.instances)
    with jax.enable_x64():

        def total(center):
            sets = {**params.sets, "sigmoid": (center, params.sets["sigmoid"][1])}
            at = jax.numpy.asarray(x)
            return forward(params._replace(sets=sets), masks, operators, at, Each(len(x)), known=known).output.sum()

        center = jax.numpy.asarray(params.sets["sigmoid"][0])
        slope = np.asarray(jax.grad(total)(center))
        step = 1e-6 * np.asarray(masks["sigmoid"])
        apart = (float(total(center + step)) - float(total(center - step))) / 2e-6
    assert np.isfinite(slope).all()
    assert apart == pytest.approx(slope.sum(), rel=1e-6)


def test_text_and_json_keep_gaps_and_ask_for_them():
    rules = RuleBase.parse(
        'VARIABLE channel MISSING AS "live chat", email: ONE OF email, "live chat"\n'
        "VARIABLE pages FROM 0 TO 9 MISSING AS -1.5, 4: high = Sigmoid(5, 1)\n"
        "IF SOME (channel is missing AND pages is not missing) THEN y += 1"
    )
    assert rules.variables[0].missing_values == (1.0, 0.0)
    assert rules.variables[0].terms["missing"] == Missing()
    assert 'MISSING AS "live chat", email: ONE OF' in rules.to_source()
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    assert "Missing" not in rules.describe_terms()


def test_a_term_of_ones_own_called_missing_stays():
    rules = RuleBase.parse(
        "VARIABLE tooth: missing = Gaussian(0, 1)\nIF tooth is missing THEN y = 1\nIF anything THEN y = 0"
    )
    assert rules.variables[0].terms["missing"] != Missing()
    assert RuleBase.parse(rules.to_source()) == rules


def test_rules_that_ignore_gaps_let_them_satisfy_everything():
    rules = RuleBase.parse(f"{TEXT}\nIF SOME pages is high THEN y += 1").ignoring_missing_values()
    assert rules.infer([[[NAN, 0.0]]]).truth.item() == 1.0
    assert rules.ignoring_missing_values() is rules


def test_an_explanation_states_the_degree_of_a_gap():
    rules = RuleBase.parse(f"{TEXT}\nIF SOME (pages is high AND z is missing) THEN y += 2")
    found = explain([rules], Bags.from_list([[[NAN, NAN]]]), 0)
    high, missing = found.rules[0].conditions
    assert high.missing
    assert high.membership == pytest.approx(float(rules.variables[0].terms["high"](np.array(STAND_INS)).mean()))
    assert missing.membership == 1.0


@pytest.mark.parametrize("format", ["fll", "fis", "fcl", "fml"])
def test_other_formats_refuse_the_question_and_list_gaps_as_lost(format):
    gaps = RuleBase.parse("VARIABLE x FROM 0 TO 4 MISSING AS 1: low = Triangular(0, 1, 2)\nIF x is low THEN y = 1")
    assert any("'x'" in sentence and "missing" in sentence for sentence in what_is_lost(gaps, format))
    asking = RuleBase.parse(
        "VARIABLE x FROM 0 TO 4: low = Triangular(0, 1, 2)\nIF x is missing THEN y = 1\nIF x is low THEN y = 0"
    )
    with pytest.raises(ParameterError, match="'missing'"):
        what_is_lost(asking, format)


def test_exported_code_answers_for_gaps_as_the_rules_do():
    rules = RuleBase.parse(
        "VARIABLE x MISSING AS 1, 4: low = Gaussian(1, 2)\nVARIABLE z: low = Gaussian(0, 1)\n"
        "IF x is not low AND z is low THEN y = 1\nIF x is missing THEN y = 3\nIF z is not missing THEN y = 0"
    )
    code: dict = {}
    exec(export_rules(rules, "python"), code)
    for instance in ([NAN, 0.3], [0.7, NAN], [NAN, NAN], [1.0, 1.0]):
        assert code["infer"](instance) == pytest.approx(rules.infer([[instance]]).output[0].tolist())


def test_at_least_counts_gaps_by_their_degree():
    rules = RuleBase.parse(f"{TEXT}\nIF AT LEAST 2 pages is high THEN y += 1")
    found = rules.infer(Bags.from_list([[[NAN, 0.0], [NAN, 0.0], [20.0, 0.0]]]))
    one = float(rules.variables[0].terms["high"](np.array(STAND_INS)).mean())
    assert found.degrees.item() == pytest.approx(one)

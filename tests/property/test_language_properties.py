"""Whatever a rule base says, its text and its file say the same."""

import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from slow_sets import fuzzy_sets

from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.language.printer import keywords
from fuzzymil.rules.premise import And, Is, Not, Or, Quantified

words = st.sampled_from(
    ["x", "depth", "low", "variable", "inf", "été", "two words", 'a"b', "\\", "\n", "1", *sorted(keywords())]
)
names = st.one_of(words, st.text(max_size=6))
numbers = st.floats(-1e300, 1e300)  # a printed number is rounded, and must not be rounded up to infinity
tame = st.floats(-3, 3).map(lambda value: round(value, 3))


def distinct(values, low, high):
    return st.lists(values, min_size=low, max_size=high, unique=True)


@st.composite
def variables(draw, number=numbers, count=(1, 3)):
    found = []
    for name in draw(distinct(names, *count)):
        terms = {term: draw(fuzzy_sets(number)) for term in draw(distinct(names, 0, 3))}
        ends = sorted(draw(st.lists(number, min_size=2, max_size=2)))
        low, high = (end if draw(st.booleans()) else None for end in ends)
        found.append(Variable(name, terms, low, high, draw(st.one_of(st.just(""), names))))
    return found


def premises(known):
    """Premises over the variables that have terms."""
    leaves = [Is(variable.name, term) for variable in known for term in variable.terms]
    if not leaves:
        return st.just(And())
    hedges = st.lists(st.sampled_from(sorted(HEDGES)), max_size=3)
    condition = st.builds(lambda leaf, h: Is(leaf.variable, leaf.term, h), st.sampled_from(leaves), hedges)
    some = st.one_of(st.sampled_from(leaves), condition, st.just(And()))
    return st.recursive(
        some,
        lambda part: st.one_of(
            st.builds(Not, part), *(st.builds(kind, st.lists(part, min_size=1, max_size=3)) for kind in (And, Or))
        ),
        max_leaves=6,
    )


def bag_premises(known):
    """Premises about a bag: quantified parts, joined."""

    def quantified(name, part, count):
        return Quantified(name, part, count if name in COUNTING else None)

    part = st.builds(quantified, st.sampled_from(sorted(QUANTIFIERS)), premises(known), st.integers(1, 12))
    return st.recursive(
        part,
        lambda inner: st.one_of(
            st.builds(Not, inner), *(st.builds(kind, st.lists(inner, min_size=1, max_size=3)) for kind in (And, Or))
        ),
        max_leaves=4,
    )


@st.composite
def rule_bases(draw, number=numbers, n_variables=(1, 3)):
    known = draw(variables(number, n_variables))
    outputs = draw(distinct(names, 1, 2))
    order = draw(st.sampled_from([0, 1]))
    row = st.lists(number, min_size=1 + order * len(known), max_size=1 + order * len(known))
    premise = st.one_of(premises(known), bag_premises(known))
    weight = st.one_of(st.just(1.0), number.map(abs))
    rules = [Rule(draw(premise), [draw(row) for _ in outputs], draw(weight)) for _ in range(draw(st.integers(1, 3)))]
    alpha = st.one_of(
        st.sampled_from([math.inf, -math.inf, 0.0]), number, st.lists(number, min_size=len(rules), max_size=len(rules))
    )
    conclusion_alpha = st.one_of(
        st.sampled_from([math.inf, -math.inf]), number, st.lists(number, min_size=len(outputs), max_size=len(outputs))
    )
    return RuleBase(
        known,
        rules,
        outputs,
        t_norm=draw(st.sampled_from(sorted(T_NORMS))),
        s_norm=draw(st.sampled_from(["", *sorted(S_NORMS)])),
        aggregation=draw(st.sampled_from(sorted(AGGREGATIONS))),
        alpha=draw(alpha),
        conclusion_aggregation=draw(st.sampled_from(sorted(COMBINERS))),
        conclusion_alpha=draw(conclusion_alpha),
        normalize=draw(st.booleans()),
        default=[draw(number) for _ in outputs],
        limited=draw(st.booleans()),
    )


def operators_of(rules):
    told = (
        "t_norm",
        "s_norm",
        "aggregation",
        "alpha",
        "conclusion_aggregation",
        "conclusion_alpha",
        "limited",
        *(("normalize", "default") if rules.normalize else ()),  # the text of additive rules says it
    )
    return {name: getattr(rules, name) for name in told}


def slopes_of(rules):
    """Coefficients as if of first order: a sum without variables reads back without them."""
    wanted = 1 + rules.n_features
    return np.concatenate([rules.coefs, np.zeros((*rules.coefs.shape[:2], wanted - rules.coefs.shape[2]))], axis=2)


def assert_same(found, rules, rtol):
    """Equal, but for coefficients within ``rtol`` and slopes that are all zero."""
    np.testing.assert_allclose(slopes_of(found), slopes_of(rules), rtol=rtol, atol=0)
    weights = [[rule.weight for rule in base.rules] for base in (found, rules)]
    np.testing.assert_allclose(*weights, rtol=rtol, atol=0)
    assert found.variables == rules.variables
    assert found.outputs == rules.outputs
    assert [rule.premise for rule in found.rules] == [rule.premise for rule in rules.rules]
    assert operators_of(found) == operators_of(rules)
    assert found.normalize == rules.normalize
    np.testing.assert_allclose(found.default, rules.default, rtol=rtol, atol=0)


many = settings(
    max_examples=1000,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
@many
@given(rule_bases())
def test_what_is_written_reads_back_as_the_same_rules(rules):
    found = RuleBase.parse(rules.to_source())
    assert_same(found, rules, rtol=0)
    if found.coefs.shape == rules.coefs.shape:
        assert found == rules
        assert hash(found) == hash(rules)
    assert found.to_source() == rules.to_source()
    assert RuleBase.from_dict(json.loads(json.dumps(rules.to_dict(), allow_nan=False))) == rules
    printed = RuleBase.parse(str(rules), rules.variables, **operators_of(rules))
    assert_same(printed, rules, rtol=5.001e-4)


# Shapes are few here, so that examples share compiled programs; what is compared above in full is inferred with.


@settings(max_examples=12, derandomize=True, deadline=None, database=None)
@given(rule_bases(tame, (2, 2)), st.integers(0, 2**32 - 1))
def test_what_is_written_infers_the_same(rules, seed):
    rng = np.random.default_rng(seed)
    bags = [rng.normal(size=(size, 2)) for size in (2, 1, 3)]
    expected = rules.infer(bags)
    for found in (RuleBase.parse(rules.to_source()), RuleBase.from_dict(rules.to_dict())):
        inferred = found.infer(bags)
        np.testing.assert_array_equal(inferred.log_truth, expected.log_truth)
        np.testing.assert_allclose(inferred.output, expected.output, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("conclusion_aggregation", ["mean", "max"])
def test_what_is_printed_infers_the_same_to_its_digits(conclusion_aggregation):
    rng = np.random.default_rng(0)
    rules = RuleBase.from_arrays(
        rng.normal(size=(4, 3)),
        rng.uniform(0.5, 2, (4, 3)),
        rng.normal(size=(4, 2, 4)),
        conclusion_aggregation=conclusion_aggregation,
    )
    bags = [rng.normal(size=(size, 3)) for size in (2, 1, 3)]
    printed = RuleBase.parse(
        str(rules), rules.variables, conclusion_aggregation=conclusion_aggregation, aggregation="softmax"
    )
    assert printed != rules
    # Every product of a sum is off by half a unit of the fourth digit at most.
    reach = max(np.abs(rules.coefs).sum(axis=2).max() * max(1.0, max(np.abs(bag).max() for bag in bags)), 1.0)
    difference = np.abs(printed.infer(bags).output - rules.infer(bags).output)
    assert 0 < difference.max() <= 5e-4 * reach

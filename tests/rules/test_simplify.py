"""Simpler rules: what is merged and dropped, what is left alone, and how the change is told."""

import json

import numpy as np
import pytest

from fuzzymil import RuleBase
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.inference.membership import Gaussian, Sigmoid, Triangular
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.editing._simplify import N_POINTS
from fuzzymil.rules.editing.comparison import rule_similarities, similarities, span


def bags_of(seed=0, n_bags=30, n_features=2):
    rng = np.random.RandomState(seed)
    return Bags.from_list([rng.uniform(0, 2, (rng.randint(1, 5), n_features)) for _ in range(n_bags)])


def one_variable(sets, premises, coefs=None, **settings):
    """Rules over x in [0, 2]."""
    values = range(len(premises)) if coefs is None else coefs
    variable = Variable("x", sets, 0.0, 2.0)
    return RuleBase(
        [variable], [Rule({"x": p}, [[float(v)]]) for p, v in zip(premises, values, strict=True)], **settings
    )


def random_rules(seed, n_rules=6, **settings):
    """Rules of which some are nearly the same."""
    rng = np.random.RandomState(seed)
    centers = rng.uniform(0, 2, (3, 2))[rng.randint(0, 3, n_rules)] + rng.normal(0, 0.05, (n_rules, 2))
    widths = rng.uniform(0.3, 0.5, (n_rules, 2))
    return RuleBase.from_arrays(centers, widths, rng.normal(size=n_rules), ranges=[[0, 2]] * 2, **settings)


def outputs(rules, bags):
    return rules.infer(bags).output


# ---------------------------------------------------------------------- similarity


def test_similarity_is_intersection_over_union():
    left, right = Triangular(0, 1, 2), Triangular(1, 2, 3)  # each of area 1, crossing at 1.5 with height 0.5
    found = similarities([left, right], 0.0, 3.0)
    np.testing.assert_allclose(found, [[1, 0.25 / 1.75], [0.25 / 1.75, 1]], atol=1e-3)


def test_similarity_finds_sets_much_narrower_than_the_range():
    found = similarities([Gaussian(0.5, 1e-7), Gaussian(0.5 + 2e-8, 1e-7)], 0.0, 1.0)[0, 1]
    assert found == pytest.approx(similarities([Gaussian(0, 1), Gaussian(0.2, 1)], -5.0, 5.0)[0, 1], abs=0.01)


def test_similarity_is_over_the_range_only():
    sets = [Sigmoid(0, 5), Sigmoid(1, 5)]
    assert similarities(sets, 3.0, 4.0)[0, 1] > 0.99 > 0.9 > similarities(sets, -1.0, 2.0)[0, 1]


@pytest.mark.parametrize(
    "sets",
    [
        [Gaussian(0, 1), Triangular(-2.4, 0, 2.4)],
        [Sigmoid(0, 1e-3), Sigmoid(0, -1e-3)],
        [Triangular(5, 6, 7), Triangular(5, 6, 8)],  # both truly zero on the range
    ],
    ids=["families", "sides", "outside"],
)
def test_sets_that_no_one_set_can_stand_for_are_not_similar(sets):
    assert similarities(sets, -3.0, 3.0).tolist() == [[1, 0], [0, 1]]


def test_equal_sets_are_similar_wherever_they_are():
    assert similarities([Triangular(5, 6, 7)] * 2, -3.0, 3.0)[0, 1] == 1


@pytest.mark.parametrize(
    ("variable", "values", "expected"),
    [
        (Variable("x", {}, 0, 1), None, (0.0, 1.0)),
        (Variable("x", {}, 0, 1), [2.0, np.nan], (0.0, 2.0)),
        (Variable("x", {}), [2.0, np.nan, -1.0], (-1.0, 2.0)),
        (Variable("x", {"a": Gaussian(1, 2)}), None, (-5.0, 7.0)),
        (Variable("x", {"a": Gaussian(1, 2)}, 3, 3), None, (-5.0, 7.0)),
        (Variable("x", {}), None, (0.0, 0.0)),
    ],
)
def test_range_over_which_sets_are_compared(variable, values, expected):
    assert span(variable, None if values is None else np.array(values)) == expected


def test_rules_are_as_similar_as_their_least_similar_sets():
    rules = RuleBase.from_arrays([[0, 0], [0, 0.2], [0, 5]], np.ones((3, 2)), [0, 1, 2], ranges=[[-3, 9]] * 2)
    rules = rules.edit(add=["IF x1 is low THEN y = 0", "IF x1 is not low THEN y = 0", "IF x1 is not low THEN y = 3"])
    found = rule_similarities(rules)
    assert found[0, 1] == pytest.approx(0.85, abs=0.02)
    assert found[0, 2] < 0.05
    assert found[0, 3] == 0  # another variable less
    assert found[3, 4] == 0  # no plain conjunction
    assert found[4, 5] == 1
    np.testing.assert_array_equal(found, found.T)


# ---------------------------------------------------------------------- exact steps


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [{}, {"t_norm": "min", "aggregation": "max"}, {"normalize": False}, {"aggregation": "algebraic"}],
    ids=str,
)
def test_duplicates_become_one_without_any_change(settings):
    bags = bags_of()
    rules = random_rules(0, 3, **settings)
    rules = rules.edit(weights={2: 0.3})
    lines = [line.partition(": ")[2] for line in str(rules).splitlines() if line.startswith("Rule")]
    twice = rules.edit(add=lines, conclusions={1: 5.0})
    found = twice.simplify(bags, tolerance=0.0, similarity=1.0, always=1.0)
    assert found.merged == ((1, 4), (2, 5), (3, 6))
    # The weights of normalized rules add up; what additive rules add is added up in the conclusion.
    assert [rule.weight for rule in found.rules.rules] == ([2.0, 0.6, 2.0] if rules.normalize else [1.0, 1.0, 1.0])
    np.testing.assert_allclose(outputs(found.rules, bags), outputs(twice, bags), rtol=1e-12)
    assert found.change.greatest < 1e-12
    assert found.change.flips == 0


def test_equal_sets_of_other_names_become_one_without_any_change():
    rules = one_variable({"a": Gaussian(1, 0.5), "b": Gaussian(1, 0.5), "c": Gaussian(0, 0.5)}, "abc")
    found = rules.simplify(bags_of(n_features=1), tolerance=0.0)
    assert found.terms == (("x", ("a", "b"), "a"),)
    assert found.merged == ((1, 2),)
    assert found.rules.variables[0].terms == {"a": Gaussian(1, 0.5), "c": Gaussian(0, 0.5)}
    assert found.change.greatest < 1e-12


def test_rules_with_other_alphas_stay_apart():
    rules = one_variable({"a": Gaussian(1, 0.5), "b": Gaussian(0, 0.5)}, "aab", alpha=[1.0, 2.0, 1.0])
    assert rules.simplify(bags_of(n_features=1)).merged == ()
    rules = one_variable({"a": Gaussian(1, 0.5), "b": Gaussian(0, 0.5)}, "aab", alpha=[2.0, 2.0, 1.0])
    found = rules.simplify(bags_of(n_features=1))
    assert found.merged == ((1, 2),)
    assert found.rules.alpha == (2.0, 1.0)


def test_linear_conclusions_merge_only_as_far_as_outputs_allow():
    variable = Variable("x", {"a": Gaussian(1, 0.5), "b": Gaussian(0, 0.5)}, 0.0, 2.0)
    slopes = [[[0.0, 1.0]], [[0.0, -1.0]], [[0.0, 0.0]]]
    premises = [{"x": "a"}, {"x": "a"}, {"x": "b"}]
    rules = RuleBase(
        [variable], [Rule(p, rows) for p, rows in zip(premises, slopes, strict=True)], conclusion_alpha=5.0
    )
    bags = bags_of(n_features=1)
    assert rules.simplify(bags, tolerance=0.01).merged == ()
    assert rules.simplify(bags, tolerance=np.inf).merged == ((1, 2),)


# ---------------------------------------------------------------------- terms


def test_similar_terms_become_one_between_them():
    sets = {"a": Gaussian(1.0, 0.5), "b": Gaussian(1.1, 0.5), "c": Gaussian(0, 0.5)}
    rules = one_variable(sets, "abcb")
    bags = bags_of(n_features=1)
    assert rules.simplify(bags, similarity=0.9).terms == ()
    found = rules.simplify(bags, similarity=0.8, tolerance=np.inf)
    assert found.terms == (("x", ("a", "b"), "a"),)
    merged = found.rules.variables[0].terms["a"]
    assert merged.center == pytest.approx((1.0 + 2 * 1.1) / 3)  # two rules speak of b
    assert merged.width > 0.5
    assert found.merged == ((1, 2, 4),)


def test_a_chain_of_similar_terms_does_not_become_one():
    sets = {name: Gaussian(center, 0.3) for name, center in zip("abcd", (0.7, 0.75, 0.8, 0.85), strict=True)}
    alike = similarities(list(sets.values()), 0.0, 2.0)
    assert (np.diag(alike, 1) > 0.8).all()
    assert alike[0, 3] < 0.8
    found = one_variable(sets, "abcd").simplify(bags_of(n_features=1), tolerance=np.inf)
    for _, terms, _ in found.terms:
        places = ["abcd".index(term) for term in terms]
        assert (alike[np.ix_(places, places)] >= 0.8).all()
    assert len(found.rules.variables[0].terms) == 2


# ---------------------------------------------------------------------- dead rules, empty conditions


def test_rules_that_decide_nothing_are_dropped():
    sets = {"near": Gaussian(0.5, 0.4), "mid": Gaussian(1.5, 0.4), "far": Gaussian(9.0, 0.4)}
    rules = one_variable(sets, ["far", "near", "mid"], [50.0, 0.0, 1.0])
    found = rules.simplify(bags_of(n_features=1))
    assert found.dropped == (1,)
    assert list(found.rules.variables[0].terms) == ["near", "mid"]
    assert rules.simplify().dropped == ()  # without bags nobody can tell


def test_numbers_told_are_those_of_the_old_rules():
    sets = {"near": Gaussian(0.5, 0.4), "mid": Gaussian(1.5, 0.4), "far": Gaussian(9.0, 0.4), "all": Gaussian(1, 90)}
    variables = [Variable("x", sets, 0.0, 2.0), Variable("z", sets, 0.0, 2.0)]
    premises = [{"x": "far"}, {"x": "near"}, {"x": "mid"}, {"x": "mid", "z": "all"}]
    rules = RuleBase(variables, [Rule(premise, [[float(n)]]) for n, premise in enumerate(premises)])
    found = rules.simplify(bags_of())
    assert found.dropped == (1,)
    assert found.conditions == ((4, "z is all"),)
    assert found.merged == ((3, 4),)


def test_not_all_rules_are_dropped():
    rules = one_variable({"a": Triangular(5, 6, 7), "b": Triangular(5, 6, 8)}, "ab", default=[3.0])
    found = rules.simplify([[[0.0]], [[1.0]]])
    assert found.rules.n_rules == 1
    assert outputs(found.rules, [[[0.0]]]).tolist() == [[3.0]]


def test_conditions_that_always_hold_become_dont_care():
    text = """
    VARIABLE x FROM 0 TO 2: low = Gaussian(0, 0.7), high = Gaussian(2, 0.7), none = Gaussian(50, 1)
    VARIABLE z FROM 0 TO 2: any = Gaussian(1, 30), high = Gaussian(2, 0.7)
    IF x is low AND z is any THEN y = 0
    IF x is high AND z is any AND z is high THEN y = 1
    IF x is not none AND z is high THEN y = 2
    IF x is low OR z is any THEN y = 3
    IF z is any THEN y = 4
    """
    found = RuleBase.parse(text).simplify(bags_of())
    assert found.conditions == ((1, "z is any"), (3, "x is not none"), (5, "z is any"))
    assert [line.partition(": ")[2] for line in str(found.rules).splitlines()] == [
        "IF x is low THEN y = 0",
        "IF x is high AND z is any AND z is high THEN y = 1",
        "IF z is high THEN y = 2",
        "IF x is low OR z is any THEN y = 3",
        "IF anything THEN y = 4",
    ]


def test_a_condition_may_hold_on_the_data_but_not_all_over_the_range():
    rules = one_variable({"a": Gaussian(0.5, 0.6), "b": Gaussian(1.0, 0.3)}, "ab")
    near = Bags.from_list([[[0.5]], [[0.6], [0.4]], [[0.55]]])
    assert rules.simplify(near, tolerance=np.inf).conditions == ((1, "x is a"),)
    assert rules.simplify(tolerance=np.inf).conditions == ()


def test_values_that_are_missing_do_not_count():
    rules = RuleBase.from_arrays([[0.0, 1.0], [1.0, 1.0]], [[0.5, 0.5]] * 2, [0, 1], ranges=[[0, 1]] * 2)
    found = rules.simplify([[[0.1, np.nan]], [[0.9, np.nan], [np.nan, np.nan]]])
    assert found.conditions == ((1, "x2 is high"), (2, "x2 is high"))
    assert found.change.greatest < 1e-12


# ---------------------------------------------------------------------- how much changes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tolerance", [0.0, 0.02, 0.2])
def test_no_output_leaves_the_tolerance(seed, tolerance):
    bags, rules = bags_of(seed), random_rules(seed)
    found = rules.simplify(bags, tolerance=tolerance, similarity=0.5, always=0.3, min_share=0.3)
    before, after = outputs(rules, bags), outputs(found.rules, bags)
    moved = np.abs(after - before)
    assert moved.max() <= (tolerance + 1e-9) * np.ptp(before)
    assert found.change.greatest == moved.max()
    assert found.change.mean == pytest.approx(moved.mean())
    assert found.change.n_bags == len(bags)


def test_more_tolerance_makes_simpler_rules():
    bags, rules = bags_of(), random_rules(3, 8)
    terms = [
        sum(len(v.terms) for v in rules.simplify(bags, tolerance=t, similarity=0.3).rules.variables)
        for t in (0.0, 0.05, np.inf)
    ]
    assert terms[0] > terms[1] > terms[2]


def test_decisions_that_change_are_counted():
    rules = one_variable({"a": Gaussian(0.5, 0.5), "b": Gaussian(1.5, 0.5)}, "ab", [0.0, 1.0])
    bags = Bags.from_list([[[v]] for v in np.linspace(0, 2, 21)])
    found = rules.simplify(bags, similarity=0.0, tolerance=np.inf)
    assert found.rules.n_rules == 1  # which always answers 0.5
    before = outputs(rules, bags)[:, 0]
    assert found.change.flips == (before > 0.5).sum() == 10
    assert rules.simplify(bags, similarity=0.0, tolerance=np.inf, threshold=0.2).change.flips == (before <= 0.2).sum()


def test_of_several_outputs_the_greatest_decides():
    sets = {"a": Gaussian(0.5, 0.5), "b": Gaussian(1.5, 0.5)}
    coefs = [[[1.0], [0.0]], [[0.0], [0.9]]]
    rules = RuleBase(
        [Variable("x", sets, 0.0, 2.0)],
        [Rule({"x": term}, rows) for term, rows in zip("ab", coefs, strict=True)],
        ["y", "z"],
    )
    bags = Bags.from_list([[[v]] for v in np.linspace(0, 2, 21)])
    found = rules.simplify(bags, similarity=0.0, tolerance=np.inf)
    assert found.change.flips == (outputs(rules, bags).argmax(axis=1) == 1).sum()
    assert found.change.threshold is None
    assert "at 0.5" not in str(found.change)


def test_without_bags_rules_are_compared_over_the_ranges():
    rules = random_rules(1)
    found = rules.simplify()
    assert found.change.sampled
    assert found.change.n_bags == N_POINTS + rules.n_rules
    assert f"Outputs on {N_POINTS + rules.n_rules} points of the variables' ranges change by" in str(found)
    assert found.rules == rules.simplify().rules


# ---------------------------------------------------------------------- in words, and in general


def test_what_was_done_is_told():
    sets = {"near": Gaussian(0.5, 0.4), "mid": Gaussian(1.5, 0.4), "mid2": Gaussian(1.5, 0.41), "far": Gaussian(9, 0.4)}
    variables = [Variable("x", sets, 0.0, 2.0), Variable("odd z", {"all": Gaussian(1, 90)}, 0.0, 2.0)]
    premises = [{"x": "far"}, {"x": "near"}, {"x": "mid"}, {"x": "mid2", "odd z": "all"}]
    rules = RuleBase(variables, [Rule(premise, [[float(n)]]) for n, premise in enumerate(premises)])
    found = rules.simplify(bags_of())
    lines = str(found).splitlines()
    facts = [
        "4 rules, 5 conditions, 5 terms became 2 rules, 2 conditions, 2 terms.",
        "rule 1.",
        '"odd z" is all.',
        "of x: mid, mid2; kept as mid.",
        "rules 3, 4.",
        "",
    ]
    assert all(line.endswith(fact) for line, fact in zip(lines, facts, strict=True))
    assert "30 bags" in lines[-1]
    told = json.loads(json.dumps(found.to_dict()))
    assert told["dropped"] == [1]
    assert told["merged"] == [[3, 4]]
    assert told["terms"] == [{"variable": "x", "terms": ["mid", "mid2"], "kept": "mid"}]
    assert RuleBase.from_dict(told["rules"]) == found.rules
    assert found.before == rules


def test_rules_that_are_simple_stay_as_they_are():
    rules = one_variable({"a": Gaussian(0.5, 0.4), "b": Gaussian(1.5, 0.4)}, "ab")
    found = rules.simplify(bags_of(n_features=1))
    assert found.rules == rules
    assert str(found).startswith("2 rules, 2 conditions, 2 terms became 2 rules, 2 conditions, 2 terms.\nOutputs on")
    assert found.change[:3] == (0.0, 0.0, 0)


def test_order_of_bags_and_instances_does_not_matter():
    bags, rules = bags_of(), random_rules(2)
    turned = Bags.from_list([bag[::-1] for bag in bags][::-1])
    assert rules.simplify(turned).rules == rules.simplify(bags).rules


def test_features_go_by_name():
    bags, rules = bags_of(), random_rules(2).edit(rename={"x1": "hue", "x2": "size"})
    turned = bags.map_instances(lambda x: x[:, ::-1], ["size", "hue"])
    assert rules.simplify(turned).rules == rules.simplify(bags).rules


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"tolerance": -1}, "tolerance must be a number from 0 to inf, got -1"),
        ({"tolerance": np.nan}, "tolerance must be a number from 0 to inf, got nan"),
        ({"similarity": 1.5}, "similarity must be a number from 0 to 1, got 1.5"),
        ({"always": -0.1}, "always must be"),
        ({"min_share": 2}, "min_share must be"),
    ],
)
def test_bad_settings_are_refused(settings, named):
    with pytest.raises(ParameterError, match=named):
        random_rules(0).simplify(bags_of(), **settings)

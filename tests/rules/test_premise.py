"""Premises: their places in the arrays, and their truth against a slow evaluator that shares no code with them."""

import functools
import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from fuzzymil._utils.errors import ParameterError
from fuzzymil.inference import layers
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
from fuzzymil.inference.norms import S_NORMS, T_NORMS
from fuzzymil.inference.premises import HEDGES, log_truth_of_premises
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.premise import (
    ANYTHING,
    MAX_CONDITIONS,
    MAX_DEPTH,
    And,
    Is,
    Not,
    Or,
    arrange,
    conditions,
    depth,
    plain_conditions,
    simplified,
)

VARIABLES = (
    Variable("x", {"low": Triangular(-2, -1, 0.5), "high": Trapezoidal(0, 1, 2, 3), "wide": Gaussian(0, 2)}),
    Variable("y", {"low": Sigmoid(0, -3), "high": Bell(1, 1, 2)}),
    Variable("z", {"low": Gaussian(-1, 0.7), "high": Gaussian(1, 0.7)}),
)
X_LOW, X_HIGH, X_WIDE = Is("x", "low"), Is("x", "high"), Is("x", "wide")
Y_LOW, Y_HIGH, Z_LOW, Z_HIGH = Is("y", "low"), Is("y", "high"), Is("z", "low"), Is("z", "high")

PREMISES = {
    "one": X_LOW,
    "plain": And((X_HIGH, Y_LOW, Z_HIGH)),
    "anything": ANYTHING,
    "nothing": Not(ANYTHING),
    "or": Or((X_LOW, Y_LOW, Z_LOW)),
    "not": Not(X_HIGH),
    "twice": And((X_LOW, X_WIDE)),
    "contradiction": And((X_LOW, Is("x", "low", ("not",)))),
    "excluded middle": Or((Y_HIGH, Not(Y_HIGH))),
    "nested": And((Z_HIGH, Not(Or((And((X_LOW, Y_HIGH)), Not(Z_LOW)))))),
    "deep": Not(Not(And((Or((X_LOW, Not(And((Y_LOW, Z_LOW))))), Or((X_HIGH, X_WIDE, Y_HIGH)))))),
    "with anything": And((ANYTHING, Or((Y_LOW, Not(ANYTHING))))),
    "hedges": And((Is("x", "low", ("very",)), Is("y", "low", ("somewhat",)), Is("z", "low", ("not", "very")))),
    "more hedges": Or((Is("x", "high", ("extremely",)), Is("y", "high", ("seldom",)), Is("z", "low", ("very", "not")))),
    "hedged and negated": Not(Or((Is("y", "high", ("not", "somewhat")), Is("z", "high", ("seldom", "extremely"))))),
}


# ---------------------------------------------------------------------- the slow evaluator
# Textbook formulas on plain degrees, with digits enough that no difference of them rounds.

DIGITS = mpmath.MPContext()
DIGITS.dps = 60
INTERSECTIONS = {
    "product": lambda a, b: a * b,
    "min": min,
    "lukasiewicz": lambda a, b: max(0, a + b - 1),
    "hamacher": lambda a, b: 0 if a == b == 0 else a * b / (a + b - a * b),
    "einstein": lambda a, b: a * b / (2 - (a + b - a * b)),
    "dombi": lambda a, b: 0 if a * b == 0 else 1 / (1 + DIGITS.sqrt(((1 - a) / a) ** 2 + ((1 - b) / b) ** 2)),
    "drastic": lambda a, b: min(a, b) if max(a, b) == 1 else 0,
    "nilpotent": lambda a, b: min(a, b) if a + b > 1 else 0,
}
UNIONS = {
    "algebraic": lambda a, b: a + b - a * b,
    "max": max,
    "bounded": lambda a, b: min(1, a + b),
    "hamacher": lambda a, b: 1 if 1 - max(a, b) < 1e-50 else (a + b - 2 * a * b) / (1 - a * b),
    "einstein": lambda a, b: (a + b) / (1 + a * b),
    "dombi": lambda a, b: 1 - INTERSECTIONS["dombi"](1 - a, 1 - b),
    "drastic": lambda a, b: max(a, b) if min(a, b) == 0 else 1,
    "nilpotent": lambda a, b: max(a, b) if a + b < 1 else 1,
}
HEDGED = {
    "not": lambda a: 1 - a,
    "very": lambda a: a * a,
    "somewhat": DIGITS.sqrt,
    "intensely": lambda a: a * a * a,
    "vaguely": DIGITS.cbrt,
    "extremely": lambda a: 2 * a * a if a <= 0.5 else 1 - 2 * (1 - a) ** 2,
    "seldom": lambda a: DIGITS.sqrt(a / 2) if a <= 0.5 else 1 - DIGITS.sqrt((1 - a) / 2),
}


@functools.cache
def membership(chosen, value):
    kind, p, value = type(chosen).__name__, [*map(DIGITS.mpf, chosen.parameters)], DIGITS.mpf(value)
    if kind == "Gaussian":
        return DIGITS.exp(-((value - p[0]) ** 2) / (2 * p[1] ** 2))
    if kind == "Bell":
        return 1 / (1 + abs((value - p[0]) / p[1]) ** (2 * p[2]))
    if kind == "Sigmoid":
        return 1 / (1 + DIGITS.exp(-p[1] * (value - p[0])))
    rise, fall = (value - p[0]) / (p[1] - p[0]), (p[-1] - value) / (p[-1] - p[-2])
    return max(DIGITS.zero, min(DIGITS.one, rise, fall))


def truth_of(premise, values, t_norm, s_norm, helps=True):
    """Degree of truth; an unknown value (None) counts as what suits the whole premise best."""
    if isinstance(premise, Is):
        value = values[premise.variable]
        if value is None:
            return DIGITS.one if helps else DIGITS.zero
        terms = next(variable.terms for variable in VARIABLES if variable.name == premise.variable)
        degree = membership(terms[premise.term], value)
        for hedge in reversed(premise.hedges):
            degree = HEDGED[hedge](degree)
        return degree
    if isinstance(premise, Not):
        return 1 - truth_of(premise.part, values, t_norm, s_norm, not helps)
    join, neutral = (INTERSECTIONS[t_norm], 1) if isinstance(premise, And) else (UNIONS[s_norm], 0)
    parts = [truth_of(part, values, t_norm, s_norm, helps) for part in premise.parts]
    return functools.reduce(join, parts, DIGITS.mpf(neutral))


def test_the_evaluator_knows_all_operators():
    assert INTERSECTIONS.keys() == T_NORMS.keys()
    assert UNIONS.keys() == S_NORMS.keys()
    assert HEDGED.keys() == HEDGES.keys()


# Ordinary values, and those at which memberships are exactly 0, 1 and one half.
VALUES = np.vstack(
    [
        np.random.default_rng(0).normal(scale=1.5, size=(24, 3)),
        [[-1, 1, -1], [1, 1, 1], [1.5, 0, 1], [-5, 0, 1], [-1.5, 2, -1], [0.5, 1, 0], [0, 0, -1], [3, 1, 1]],
    ]
)


def rule_base(t_norm="product", s_norm="", premises=()):
    rules = [Rule(premise, [[1.0]]) for premise in premises or PREMISES.values()]
    return RuleBase(VARIABLES, rules, t_norm=t_norm, s_norm=s_norm)


def truth_at(rules, rows):
    """Truth (i, r), operation by operation: to compile a program for each pair of norms would take minutes."""
    params, masks, operators = rules.compile()
    known = ~np.isnan(rows)
    with jax.enable_x64():
        x, known = jnp.asarray(np.where(known, rows, 0.0)), jnp.asarray(known, float) if not known.all() else None
        return np.exp(layers.layers_1_and_2(params, masks, operators, x, known))


def assert_true_as_expected(found, rows, premises, t_norm, s_norm):
    for row, degrees in zip(rows, found, strict=True):
        values = {name: None if math.isnan(value) else float(value) for name, value in zip("xyz", row, strict=True)}
        expected = [float(truth_of(premise, values, t_norm, s_norm)) for premise in premises]
        np.testing.assert_allclose(degrees, expected, rtol=1e-9, atol=1e-13)


# The drastic product jumps at 1, which the oracle, unlike logarithms, reaches by rounding.
NORMS = [(t_norm, s_norm) for t_norm in T_NORMS for s_norm in S_NORMS if (t_norm, s_norm) != ("drastic", "algebraic")]


@pytest.mark.slow
@pytest.mark.parametrize(("t_norm", "s_norm"), NORMS)
def test_the_truth_of_premises(t_norm, s_norm):
    found = truth_at(rule_base(t_norm, s_norm), VALUES)
    assert_true_as_expected(found, VALUES, PREMISES.values(), t_norm, s_norm)


@pytest.mark.slow
def test_the_compiled_network_gives_the_same():
    rows = VALUES.copy()
    rows[::5, 1] = np.nan
    rules = rule_base("product", "max")
    np.testing.assert_allclose(rules.infer(rows).truth, truth_at(rules, rows), rtol=1e-12, atol=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("t_norm", ["product", "lukasiewicz"])
def test_a_missing_value_counts_as_the_one_that_suits_the_rule_best(t_norm):
    rows = VALUES.copy()
    rng = np.random.default_rng(1)
    rows[rng.uniform(size=rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    rules = rule_base(t_norm)
    found = truth_at(rules, rows)
    assert_true_as_expected(found, rows, PREMISES.values(), t_norm, rules.s_norm)
    never = list(PREMISES).index("nothing")
    np.testing.assert_array_equal(np.delete(found[0], never), 1.0)
    assert found[0, never] == 0


def test_a_missing_value_is_never_worse_than_a_known_one():
    rules = rule_base("min")
    known = truth_at(rules, VALUES)
    for d in range(3):
        rows = VALUES.copy()
        rows[:, d] = np.nan
        assert (truth_at(rules, rows) >= known - 1e-15).all()


@pytest.mark.slow
def test_rules_of_one_form_are_computed_together_and_keep_their_order():
    premises = [Not(X_LOW), And((X_LOW, Y_LOW)), Or((X_LOW, Y_LOW)), Not(Y_HIGH), And((Z_LOW,)), Or((Y_LOW, Z_LOW))]
    rules = rule_base(premises=premises)
    groups = rules.arrangement.premises
    assert [group.rules for group in groups] == [(0, 3), (1, 4), (2, 5)]
    assert_true_as_expected(truth_at(rules, VALUES), VALUES, premises, "product", "algebraic")


def test_weights_scale_the_firing_and_zero_switches_off():
    bags = [VALUES[:5], VALUES[5:6], VALUES[6:]]
    premises, weights = [Not(X_LOW), Y_LOW, Or((X_HIGH, Z_LOW))], [0.5, 0.0, 3.0]
    rules = [Rule(p, [[float(r)]], w) for r, (p, w) in enumerate(zip(premises, weights, strict=True))]
    found = RuleBase(VARIABLES, rules, aggregation="max").infer(bags)
    assert_true_as_expected(found.truth, VALUES, premises, "product", "algebraic")
    expected = np.array([found.truth[part].max(axis=0) for part in np.split(np.arange(len(VALUES)), [5, 6])]) * weights
    np.testing.assert_allclose(found.firing, expected, rtol=1e-14)
    np.testing.assert_allclose(found.output[:, 0], expected @ [0, 1, 2] / expected.sum(axis=1), rtol=1e-12)


def test_a_rule_base_of_weight_zero_gives_the_default():
    rules = RuleBase(VARIABLES, [Rule(ANYTHING, [[7.0]], 0.0)], default=[-1.0])
    found = rules.infer(VALUES[:2])
    np.testing.assert_array_equal(found.output, -1.0)
    assert found.uncovered.all()


# ---------------------------------------------------------------------- gradients


CURVED = [PREMISES[name] for name in ("excluded middle", "nested", "hedges", "hedged and negated")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("t_norm", "s_norm"),
    [("product", "algebraic"), ("min", "max"), ("lukasiewicz", "bounded"), ("hamacher",) * 2, ("einstein",) * 2],
)
def test_gradients_are_those_of_finite_differences(t_norm, s_norm):
    arranged = arrange(CURVED, {"x": 0, "y": 1, "z": 2})
    n_rows, premises = arranged.n_rows, arranged.premises
    rng = np.random.default_rng(3)
    mu, direction = rng.uniform(0.05, 0.95, (6, n_rows, 3)), rng.normal(size=(6, n_rows, 3))

    @jax.jit
    def truth_and_slope(log_mu, tangent):
        def truth(log_mu):
            return jnp.exp(log_truth_of_premises(premises, log_mu, None, t_norm, s_norm))

        return jax.jvp(truth, (log_mu,), (tangent,))

    def at(degrees):
        with jax.enable_x64(), np.errstate(divide="ignore", invalid="ignore"):
            tangent = np.where(degrees > 0, direction / degrees, direction)
            return tuple(map(np.asarray, truth_and_slope(jnp.log(jnp.asarray(degrees)), jnp.asarray(tangent))))

    difference = (at(mu + 1e-6 * direction)[0] - at(mu - 1e-6 * direction)[0]) / 2e-6
    np.testing.assert_allclose(at(mu)[1], difference, rtol=1e-5, atol=1e-7)
    ends = rng.choice([0.0, 0.5, 1.0], mu.shape)
    assert np.isfinite(at(ends)[1]).all()


@pytest.mark.slow
def test_the_sets_of_a_rule_base_have_finite_gradients_everywhere():
    """Where sets end and where they are full, as in training: through the sets' own parameters."""
    params, masks, operators = rule_base("lukasiewicz", premises=CURVED).compile()
    grouping = Packed(jnp.arange(len(VALUES)) // 4, len(VALUES) // 4)

    @jax.jit
    def gradients(sets):
        def loss(sets):
            found = layers.forward(params._replace(sets=sets), masks, operators, jnp.asarray(VALUES), grouping)
            return jnp.sum(found.output**2) + jnp.sum(found.strengths[:, ::2])

        return jax.grad(loss)(sets)

    with jax.enable_x64():
        found = list(map(np.asarray, jax.tree.leaves(gradients(params.sets))))
    assert all(np.isfinite(values).all() for values in found)
    assert any((values != 0).any() for values in found)


@pytest.mark.parametrize("hedge", HEDGES)
def test_hedges_keep_their_precision_far_below_the_smallest_number(hedge):
    logs = np.array([-1e6, -800.0, -30.0])
    with jax.enable_x64():
        found = np.asarray(HEDGES[hedge](jnp.asarray(logs)))
    expected = {
        "not": [0.0, 0.0, math.log1p(-math.exp(-30))],
        "very": 2 * logs,
        "somewhat": logs / 2,
        "intensely": 3 * logs,
        "vaguely": logs / 3,
        "extremely": math.log(2) + 2 * logs,
        "seldom": (logs - math.log(2)) / 2,
    }
    np.testing.assert_allclose(found, expected[hedge], rtol=1e-14)


def test_seldom_undoes_extremely():
    logs = np.log(np.random.default_rng(0).uniform(0.001, 0.999, 100))
    with jax.enable_x64():
        back = HEDGES["seldom"](HEDGES["extremely"](jnp.asarray(logs)))
    np.testing.assert_allclose(back, logs, rtol=1e-9)


# ---------------------------------------------------------------------- places


def test_plain_premises_stand_in_rows_of_their_own():
    found = arrange([And((X_LOW, Z_HIGH)), ANYTHING, Y_LOW], {"x": 0, "y": 1, "z": 2})
    assert found.n_rows == 3
    assert found.terms == {(0, 0): ("x", "low"), (0, 2): ("z", "high"), (2, 1): ("y", "low")}
    assert found.places == (((0, 0), (0, 2)), (), ((2, 1),))
    assert found.premises is None
    assert found.parts is None


def test_a_variable_asked_about_twice_gets_a_further_row():
    column = {"x": 0, "y": 1, "z": 2}
    premises = [Y_LOW, And((X_LOW, Or((X_HIGH, X_WIDE, X_LOW)), Y_LOW, Is("y", "low", ("not",))))]
    found = arrange(premises, column)
    assert found.n_rows == 4
    assert found.terms == {
        (0, 1): ("y", "low"),
        (1, 0): ("x", "low"),
        (1, 1): ("y", "low"),
        (2, 0): ("x", "high"),
        (3, 0): ("x", "wide"),
    }
    plain, curved = found.premises
    assert (plain.form, plain.rules) == (("row",), (0,))
    # Conditions in the order of the text; a term that is asked for twice has one place.
    assert curved.places == (((1, 0), (2, 0), (3, 0), (1, 0), (1, 1), (1, 1)),)
    assert found.places == (((0, 1),), *curved.places)


def test_a_form_tells_what_an_unknown_value_does():
    (group,) = arrange([Not(And((X_LOW, Not(Is("y", "low", ("very",))))))], {"x": 0, "y": 1}).premises
    assert group.form == ("not", ("and", ("is", 0, (), False), ("not", ("is", 1, ("very",), True))))


def test_rows_of_rules_do_not_mix():
    premises = [And((X_LOW, X_HIGH)), And((X_HIGH, X_LOW)), And((X_LOW, X_WIDE))]
    found = arrange(premises, {"x": 0})
    (group,) = found.premises
    assert found.n_rows == 6
    assert group.rules == (0, 1, 2)
    rows = [{row for row, _ in places} for places in group.places]
    assert rows == [{0, 3}, {1, 4}, {2, 5}]
    assert found.terms[4, 0] == ("x", "low")


def test_numbers_of_a_term_that_has_two_places_come_back_once():
    rules = rule_base()
    params, _, _ = rules.compile()
    assert rules.with_numbers(params) == rules
    moved = params._replace(sets={kind: tuple(v + 0.125 for v in values) for kind, values in params.sets.items()})
    back = rules.with_numbers(moved)
    assert back.variables[2].terms["low"] == Gaussian(-0.875, 0.825)
    assert back.variables[0].terms["high"] == Trapezoidal(0.125, 1.125, 2.125, 3.125)
    assert [rule.premise for rule in back.rules] == [rule.premise for rule in rules.rules]


# ---------------------------------------------------------------------- the tree


def test_conditions_come_from_left_to_right():
    assert list(conditions(PREMISES["nested"])) == [Z_HIGH, X_LOW, Y_HIGH, Z_LOW]
    assert list(conditions(ANYTHING)) == []


@pytest.mark.parametrize(
    ("premise", "plain"),
    [
        (X_LOW, {"x": "low"}),
        (And((X_LOW, Z_HIGH)), {"x": "low", "z": "high"}),
        (ANYTHING, {}),
        (And((X_LOW, X_HIGH)), None),
        (And((X_LOW, X_LOW)), None),
        (Is("x", "low", ("very",)), None),
        (Not(X_LOW), None),
        (Or((X_LOW,)), None),
        (And((And((X_LOW,)),)), None),
    ],
)
def test_plain_conjunctions(premise, plain):
    assert plain_conditions(premise) == plain


@pytest.mark.parametrize(
    ("premise", "simple"),
    [
        (And((X_LOW,)), X_LOW),
        (Or((X_LOW,)), X_LOW),
        (And((Or((And((X_LOW, Y_LOW)),)),)), And((X_LOW, Y_LOW))),
        (Not(And((Not(Or((X_LOW,))),))), Not(Not(X_LOW))),
        (And((X_LOW, And((Y_LOW,)))), And((X_LOW, Y_LOW))),
        (ANYTHING, ANYTHING),
        (Or((ANYTHING,)), ANYTHING),
        (PREMISES["deep"], PREMISES["deep"]),
    ],
)
def test_rules_keep_premises_as_text_says_them(premise, simple):
    assert simplified(premise) == simple
    rule = Rule(premise, [[1.0]])
    assert rule.premise == simple
    assert Rule(rule.premise, rule.coefs, rule.weight) == rule


def test_levels_are_counted_however_many():
    premise = X_LOW
    for _ in range(100_000):
        premise = Not(premise)
    assert depth(premise) == 100_001
    with pytest.raises(ParameterError, match=f"at most {MAX_DEPTH} levels"):
        Rule(premise, [[1.0]])
    with pytest.raises(ParameterError, match=f"at most {MAX_DEPTH} levels"):
        Rule(Is("x", "low", ("very",) * MAX_DEPTH), [[1.0]])
    while isinstance(premise, Not):  # taken apart by hand: Python's own way down is by recursion
        premise = premise.part


def test_only_plain_conjunctions_may_have_any_number_of_conditions():
    names = [f"x{d}" for d in range(MAX_CONDITIONS + 1)]
    assert len(Rule(dict.fromkeys(names, "low"), [[1.0]]).antecedent) == MAX_CONDITIONS + 1
    for premise in (Or(tuple(Is(name, "low") for name in names)), And((X_LOW,) * (MAX_CONDITIONS + 1))):
        with pytest.raises(ParameterError, match="at most 1,000 conditions"):
            Rule(premise, [[1.0]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Not("x is low"),
        lambda: And((X_LOW, None)),
        lambda: Or([X_LOW, {"x": "low"}]),
        lambda: And("ab"),
        lambda: Rule("x is low", [[1.0]]),
        lambda: Rule(None, [[1.0]]),
    ],
)
def test_what_is_no_premise_is_refused(make):
    with pytest.raises(ParameterError, match="Is, And, Or, Not and Quantified, got"):
        make()


def test_an_empty_or_and_unknown_hedges_are_refused():
    with pytest.raises(ParameterError, match="OR needs at least one part"):
        Or(())
    with pytest.raises(ParameterError, match=r"hedge.*'vry'.*Did you mean 'very'"):
        Is("x", "low", ("vry",))


@pytest.mark.parametrize("weight", [-1.0, math.inf, math.nan])
def test_a_weight_is_finite_and_not_negative(weight):
    with pytest.raises(ParameterError, match="weight of a rule"):
        Rule(X_LOW, [[1.0]], weight)

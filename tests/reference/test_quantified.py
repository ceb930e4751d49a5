"""Quantified premises and additive rules against the loop-only oracle: values, gradients, extremes."""

import functools

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import oracle
import oracle_rules
import pytest

from fuzzymil.bags import Bags
from fuzzymil.inference import activations
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.layers import forward
from fuzzymil.inference.membership import Gaussian, Sigmoid, Triangular
from fuzzymil.inference.quantifiers import COUNTING, QUANTIFIERS
from fuzzymil.inference.segments import OneBag, pack
from fuzzymil.rules import Rule, RuleBase, Variable
from fuzzymil.rules.premise import ANYTHING, And, Is, Not, Or, Quantified

FEATURES = ("a", "b", "c")
SIZES = (1, 4, 2, 1, 7, 3)
T_NORMS = ("product", "min", "lukasiewicz", "hamacher", "einstein")


# ---------------------------------------------------------------------- random rules, and the oracle's form of them


def random_variables(rng):
    def sets():
        return {
            "near": Gaussian(rng.normal(), rng.uniform(0.5, 2)),
            "above": Sigmoid(rng.normal(), rng.uniform(1, 3)),
            "below": Sigmoid(rng.normal(), -rng.uniform(1, 3)),
            "peak": Triangular(*(np.sort(rng.normal(size=3)) + np.array([-4.0, 0.0, 4.0]))),
        }

    return [Variable(name, sets()) for name in FEATURES]


def random_instance_premise(rng, depth=2):
    kind = rng.choice(["is", "is", "and", "or", "not", "anything"]) if depth else "is"
    if kind == "is":
        hedges = rng.choice(["", "very", "not", "not very"])
        return Is(str(rng.choice(FEATURES)), str(rng.choice(["near", "above", "below", "peak"])), hedges.split())
    if kind == "anything":
        return ANYTHING
    if kind == "not":
        return Not(random_instance_premise(rng, depth - 1))
    parts = tuple(random_instance_premise(rng, depth - 1) for _ in range(rng.integers(1, 4)))
    return And(parts) if kind == "and" else Or(parts)


def random_quantified(rng):
    quantifier = str(rng.choice(list(QUANTIFIERS)))
    count = int(rng.integers(1, 5)) if quantifier in COUNTING else None
    return Quantified(quantifier, random_instance_premise(rng), count)


def random_bag_premise(rng, depth=2):
    kind = rng.choice(["part", "part", "and", "or", "not"]) if depth else "part"
    if kind == "part":
        return random_quantified(rng)
    if kind == "not":
        return Not(random_bag_premise(rng, depth - 1))
    parts = tuple(random_bag_premise(rng, depth - 1) for _ in range(rng.integers(1, 4)))
    return And(parts) if kind == "and" else Or(parts)


def for_oracle(premise, rules, exp=None):
    """Return a premise as the oracle takes it; degrees are the oracle's own."""
    if isinstance(premise, Is):
        variable = rules.variables[FEATURES.index(premise.variable)]
        chosen = variable.terms[premise.term]
        degree = getattr(oracle, chosen.name)
        keywords = {"exp": exp} if exp is not None and chosen.name in ("gaussian", "sigmoid") else {}
        place = rules.feature_names.index(premise.variable)
        return ("is", place, lambda x: degree(x, *chosen.parameters, **keywords), premise.hedges)
    if isinstance(premise, Not):
        return ("not", for_oracle(premise.part, rules, exp))
    if isinstance(premise, Quantified):
        count = () if premise.count is None else (premise.count,)
        return (premise.quantifier, *count, for_oracle(premise.part, rules, exp))
    return ("and" if isinstance(premise, And) else "or", *(for_oracle(part, rules, exp) for part in premise.parts))


def random_rules(seed, t_norm="product", n_rules=6):
    rng = np.random.default_rng(seed)
    variables = random_variables(rng)
    rules = [
        Rule(random_bag_premise(rng), [[rng.normal()]], float(rng.choice([1.0, 1.0, 0.5, 2.0]))) for _ in range(n_rules)
    ]
    return RuleBase(variables, rules, t_norm=t_norm, normalize=False, default=[rng.normal()])


def random_bags(seed, missing=0.0):
    rng = np.random.default_rng(seed)
    bags = [rng.normal(size=(size, len(FEATURES))) for size in SIZES]
    for bag in bags:
        bag[rng.random(bag.shape) < missing] = np.nan
    return bags


def known(bag):
    return [[None if np.isnan(value) else float(value) for value in instance] for instance in bag]


def expected_outputs(rules, bags):
    premises = [for_oracle(rule.premise, rules) for rule in rules.rules]
    conclusions = [rule.coefs[0][0] for rule in rules.rules]
    weights = [rule.weight for rule in rules.rules]
    return [
        oracle_rules.additive_output(premises, conclusions, weights, rules.default[0], known(bag), rules.t_norm)
        for bag in bags
    ]


# ---------------------------------------------------------------------- the oracle itself


def test_every_quantifier_by_hand():
    truths = [0.2, 0.9, 0.4, 0.7]
    assert oracle_rules.quantified(truths, "some") == 0.9
    assert oracle_rules.quantified(truths, "all") == 0.2
    assert oracle_rules.quantified(truths, "on average") == pytest.approx(0.55)
    assert oracle_rules.quantified(truths, "most") == pytest.approx(0.5)
    assert [oracle_rules.quantified(truths, "at least", k) for k in range(1, 6)] == [0.9, 0.7, 0.4, 0.2, 0]
    assert [oracle_rules.quantified([p], "most") for p in (0.2, 0.3, 0.8, 1.0)] == [0, 0, 1, 1]


def test_an_additive_sum_by_hand():
    high = ("is", 0, lambda x: x, ())
    premises = [("some", high), ("not", ("all", high))]
    assert oracle_rules.additive_output(premises, [2, -1], [1, 0.5], -3, [[0.25], [0.75]]) == -3 + 2 * 0.75 - 0.5 * 0.75


def test_every_quantifier_has_a_slow_twin():
    for name in QUANTIFIERS:
        assert oracle_rules.quantified([0.5, 0.25], name, 1) is not None


# ---------------------------------------------------------------------- values


@pytest.mark.parametrize("t_norm", T_NORMS)
@pytest.mark.parametrize("missing", [0.0, 0.3], ids=["complete", "missing"])
def test_inference_is_the_oracles(t_norm, missing):
    for seed in range(12):
        rules, bags = random_rules(seed, t_norm), random_bags(seed, missing)
        found = rules.infer(bags)
        np.testing.assert_allclose(
            found.output[:, 0], expected_outputs(rules, bags), rtol=1e-9, atol=1e-11, err_msg=str(rules)
        )
        for r, rule in enumerate(rules.rules):
            firing = [
                rule.weight * oracle_rules.bag_truth(for_oracle(rule.premise, rules), known(bag), t_norm)
                for bag in bags
            ]
            np.testing.assert_allclose(found.firing[:, r], firing, rtol=1e-9, atol=1e-11, err_msg=str(rules))


def test_truths_and_degrees_of_the_parts_are_the_oracles():
    rules, bags = random_rules(5), random_bags(5)
    found = rules.infer(bags)
    assert found.log_truth.shape == (sum(SIZES), len(rules.parts))
    assert found.log_degrees.shape == (len(SIZES), len(rules.parts))
    for p, part in enumerate(rules.parts):
        asked = for_oracle(part.premise, rules)
        truths = [
            [oracle_rules.instance_truth(asked, instance, favorable=not part.negated) for instance in bag]
            for bag in bags
        ]
        np.testing.assert_allclose(found.truth[:, p], np.concatenate(truths), rtol=1e-9, atol=1e-12)
        degrees = [oracle_rules.quantified(each, part.quantifier, part.count) for each in truths]
        np.testing.assert_allclose(found.degrees[:, p], degrees, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("normalize", [True, False])
def test_rules_without_a_quantifier_stand_beside_quantified_ones(normalize):
    rng = np.random.default_rng(1)
    variables = random_variables(rng)
    plain = Rule({"a": "near", "b": "above"}, [[1.0]])
    curved = Rule(Or((Is("a", "below"), Is("b", "peak", ("very",)))), [[2.0]], 0.5)
    quantified = Rule(Quantified("most", Is("c", "near")), [[3.0]])
    settings = {"normalize": normalize, "alpha": (2.0, 0.5, 7.0), "aggregation": "softmax"}
    rules, bags = RuleBase(variables, [plain, quantified, curved], **settings), random_bags(1, missing=0.2)
    settings["alpha"] = (2.0, 7.0)
    classic = RuleBase(variables, [plain, curved], **settings).infer(bags)
    found = rules.infer(bags)
    np.testing.assert_allclose(found.firing[:, [0, 2]], classic.firing, rtol=1e-12)
    assert [part.quantifier for part in rules.parts] == [None, "most", None]
    strengths = found.firing / found.firing.sum(axis=1, keepdims=True) if normalize else found.firing
    np.testing.assert_allclose(found.output[:, 0], strengths @ [1.0, 3.0, 2.0], rtol=1e-12)


def test_a_first_order_additive_conclusion_is_the_oracles():
    rng = np.random.default_rng(2)
    coefs = rng.normal(size=(2, 1, 4))
    premises = [Quantified("some", Is("a", "above")), Quantified("on average", Is("b", "near"))]
    rules = RuleBase(
        random_variables(rng),
        [Rule(premise, rows) for premise, rows in zip(premises, coefs, strict=True)],
        normalize=False,
        default=[0.7],
        conclusion_alpha=2.0,
    )
    bags = random_bags(2)
    for bag, output in zip(bags, rules.infer(bags).output[:, 0], strict=True):
        expected = 0.7
        for premise, row in zip(premises, coefs[:, 0], strict=True):
            responses = oracle.linear_responses(bag.tolist(), row.tolist())
            response = oracle.softmax_alpha(responses, 2.0)
            expected += oracle_rules.bag_truth(for_oracle(premise, rules), known(bag)) * response
        assert output == pytest.approx(expected, rel=1e-10)


def test_an_unknown_feature_of_a_conclusion_is_the_typical_value_of_the_first_part_that_has_a_set():
    low, high = Gaussian(2.0, 1.0), Gaussian(5.0, 1.0)
    variables = [Variable("a", {"low": low, "high": high}), Variable("b", {"low": low})]
    premise = And(
        (Quantified("some", Is("b", "low")), Quantified("some", Is("a", "high")), Quantified("all", Is("a", "low")))
    )
    rules = RuleBase(variables, [Rule(premise, [[1.0, 10.0, 100.0]])], normalize=False)
    found = rules.infer([[[np.nan, 3.0]], [[np.nan, np.nan]]])
    np.testing.assert_allclose(found.rule_outputs[:, 0, 0], [1 + 50 + 300, 1 + 50 + 200])


# ---------------------------------------------------------------------- the compiled network


@functools.partial(jax.jit, static_argnames=("operators",))
def compiled(params, masks, operators, x, known, grouping):
    return forward(params, masks, operators, x, grouping, known=known)


@pytest.mark.parametrize(
    ("seed", "missing"),
    [
        (6, 0.3),
        *(pytest.param(seed, missing, marks=pytest.mark.slow) for seed, missing in ((0, 0.0), (0, 0.3), (1, 0.3))),
    ],
)
def test_the_compiled_network_is_inference_in_numpy(seed, missing):
    rules, bags = random_rules(seed, n_rules=2 if seed == 6 else 6), Bags.from_list(random_bags(seed, missing))
    data = pack(bags.instances, bags.offsets, np.float64)
    expected = rules.infer(bags)
    n_bags = len(data.offsets) - 1
    with jax.enable_x64():
        params, masks, operators = rules.compile()
        grouping = Packed(jnp.asarray(data.bag_index), n_bags)
        found = compiled(params, masks, operators, data.x, data.known, grouping)
        by_places = Packed(jnp.asarray(data.bag_index), n_bags, jnp.asarray(data.offsets), longest=max(SIZES))
        again = compiled(params, masks, operators, data.x, data.known, by_places)
        for b in range(2, 4):
            rows = slice(data.offsets[b], data.offsets[b + 1])
            n, more = int(bags.sizes[b]), 5 - int(bags.sizes[b])
            padded = np.concatenate([data.x[rows], data.x[rows][-1:].repeat(more, axis=0)])
            seen = None if data.known is None else np.concatenate([data.known[rows], np.ones((more, 3))])
            alone = compiled(params, masks, operators, padded, seen, OneBag(jnp.arange(5) < n))
            np.testing.assert_allclose(alone.output[0], expected.output[b], rtol=1e-10)
    for layers in (found, again):
        np.testing.assert_allclose(layers.output[: len(bags)], expected.output, rtol=1e-10)
        np.testing.assert_allclose(layers.log_degrees[: len(bags)], expected.log_degrees, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layers.log_truth[: bags.n_instances], expected.log_truth, rtol=1e-9, atol=1e-12)


def test_single_instances_are_bags_of_one():
    rules = random_rules(3)
    x = np.random.default_rng(3).normal(size=(9, 3))
    alone = rules.infer(x)
    together = rules.infer([*x[:, None, :], x[:2]])
    np.testing.assert_allclose(alone.output, together.output[:9], rtol=1e-12)
    np.testing.assert_allclose(alone.output[:, 0], expected_outputs(rules, x[:, None, :]), rtol=1e-9)


def prototypes(n_features, n_rules=3):
    """Long conjunctions of Gaussian sets, which have a kernel of their own, beside single conditions."""
    rng = np.random.default_rng(0)
    names = [f"x{d}" for d in range(n_features)]
    terms = {f"near{r}": Gaussian(rng.normal(), rng.uniform(3, 9)) for r in range(n_rules)}
    variables = [Variable(name, {**terms, "high": Sigmoid(0.5, 2.0)}) for name in names]
    rules = [
        Rule(Quantified("some", And(tuple(Is(name, f"near{r}") for name in names[r:]))), [[rng.normal()]])
        for r in range(n_rules)
    ]
    single = Rule(Quantified("at least", Is(names[1], "high"), 2), [[1.5]])
    negated = Rule(Not(Quantified("some", And(tuple(Is(name, "near0") for name in names)))), [[0.5]])
    return RuleBase(variables, [*rules, single, negated], normalize=False, default=[-1.0])


@pytest.mark.parametrize("missing", [0.0, 0.1], ids=["complete", "missing"])
def test_long_conjunctions_of_gaussian_sets_are_the_oracles(missing):
    rules = prototypes(20)
    rng = np.random.default_rng(4)
    bags = [rng.normal(size=(size, 20)) for size in SIZES]
    for bag in bags:
        bag[rng.random(bag.shape) < missing] = np.nan
    found = rules.infer(bags)
    for b, bag in enumerate(bags):
        for r in range(3):
            truths = []
            for instance in bag:
                truth = 1.0
                for d in range(r, 20):
                    chosen = rules.variables[d].terms[f"near{r}"]
                    truth *= 1.0 if np.isnan(instance[d]) else oracle.gaussian(instance[d], *chosen.parameters)
                truths.append(truth)
            assert found.firing[b, r] == pytest.approx(max(truths), rel=1e-9)
    data = pack(*(lambda packed: (packed.instances, packed.offsets))(Bags.from_list(bags)), np.float64)
    with jax.enable_x64():
        layers = compiled(
            *rules.compile(), data.x, data.known, Packed(jnp.asarray(data.bag_index), len(data.offsets) - 1)
        )
    np.testing.assert_allclose(layers.output[: len(bags)], found.output, rtol=1e-9)


def test_many_instances_are_inferred_piece_by_piece(monkeypatch):
    rules, bags = random_rules(7), random_bags(7)
    whole = rules.infer(bags)
    monkeypatch.setattr(activations, "_CHUNK_VALUES", 5)
    pieces = rules.infer(bags)
    np.testing.assert_allclose(pieces.output, whole.output, rtol=1e-13)
    np.testing.assert_allclose(pieces.log_degrees, whole.log_degrees, rtol=1e-13)


# ---------------------------------------------------------------------- gradients


@functools.partial(jax.jit, static_argnames=("operators", "n_bags"))
def value_and_gradient(free, fixed, masks, operators, x, bag_index, weights, n_bags):
    def value(free):
        params = fixed._replace(sets=free["sets"], coefs=free["coefs"], default=free["default"])
        return jnp.sum(weights * forward(params, masks, operators, x, Packed(bag_index, n_bags)).output[:, 0])

    return jax.value_and_grad(value)(free)


@pytest.mark.parametrize(
    ("t_norm", "seeds"),
    [("product", [0]), *(pytest.param(name, range(1, 4), marks=pytest.mark.slow) for name in T_NORMS)],
)
def test_gradients_are_those_of_finite_differences(t_norm, seeds):
    for seed in seeds:
        rules, bags = random_rules(seed, t_norm, n_rules=4), Bags.from_list(random_bags(seed))
        params, masks, operators = rules.compile()
        rng = np.random.default_rng(seed)
        index = np.repeat(np.arange(len(bags)), bags.sizes)
        check_slopes(rng, params, masks, operators, bags.instances, index, rng.normal(size=len(bags)), str(rules))


def check_slopes(rng, params, masks, operators, x, index, weights, message, step=1e-6):
    """Compare the gradient with central differences along random directions."""
    free = {"sets": params.sets, "coefs": params.coefs, "default": params.default}

    def moved(direction, by):
        return jax.tree.map(lambda value, change: value + by * change, free, direction)

    with jax.enable_x64():
        run = functools.partial(
            value_and_gradient,
            fixed=params,
            masks=masks,
            operators=operators,
            x=jnp.asarray(x),
            bag_index=jnp.asarray(index),
            weights=jnp.asarray(weights),
            n_bags=len(weights),
        )
        gradient = run(free)[1]
        for _ in range(4):
            direction = jax.tree.map(lambda values: rng.normal(size=np.shape(values)), free)
            slope = float(run(moved(direction, step))[0] - run(moved(direction, -step))[0]) / (2 * step)
            along = jax.tree.map(lambda g, d: float((np.asarray(g) * d).sum()), gradient, direction)
            assert sum(jax.tree.leaves(along)) == pytest.approx(slope, rel=2e-5, abs=1e-7), message


def test_the_gradient_of_some_all_and_at_least_goes_to_the_witness():
    log_r = jnp.log(jnp.array([[0.2], [0.9], [0.4], [0.4], [0.7]]))
    bags = Packed(jnp.array([0, 0, 0, 0, 0]), 1)
    expected = {("some", 1): [0, 1, 0, 0, 0], ("all", 1): [1, 0, 0, 0, 0], ("at least", 2): [0, 0, 0, 0, 1]}
    expected |= {("at least", 3): [0, 0, 0.5, 0.5, 0], ("at least", 5): [1, 0, 0, 0, 0], ("at least", 6): [0] * 5}
    for (name, count), slopes in expected.items():
        found = jax.grad(lambda v, name=name, count=count: jnp.exp(QUANTIFIERS[name](v, bags, count)).sum())(log_r)
        np.testing.assert_allclose(found[:, 0] / jnp.exp(log_r[:, 0]), slopes, rtol=1e-6)


def test_padding_has_no_gradient_and_changes_nothing():
    parts = [Quantified(name, Is("a", "near"), 2 if name in COUNTING else None) for name in QUANTIFIERS]
    rules = RuleBase(
        random_variables(np.random.default_rng(0)), [Rule(part, [[1.0]]) for part in parts], normalize=False
    )
    params, masks, operators = rules.compile()
    bags = Bags.from_list(random_bags(0))
    with jax.enable_x64():
        index = np.repeat(np.arange(len(bags)), bags.sizes)
        free = {"sets": params.sets, "coefs": params.coefs, "default": params.default}
        weights = np.ones(len(bags))
        value, gradient = value_and_gradient(
            free, params, masks, operators, bags.instances, jnp.asarray(index), weights, len(bags)
        )
        # Two bags without instances, and one of padding rows.
        x = np.concatenate([bags.instances, np.zeros((5, 3))])
        index = np.concatenate([index, np.full(5, len(bags) + 2)])
        weights = np.concatenate([weights, [0.0, 0.0, 0.0]])
        again, same = value_and_gradient(free, params, masks, operators, x, jnp.asarray(index), weights, len(bags) + 3)
    assert float(again) == pytest.approx(float(value), rel=1e-12)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), gradient, same)


# ---------------------------------------------------------------------- far from every rule


@pytest.mark.parametrize("quantifier", [("some", None), ("all", None), ("on average", None), ("at least", 2)])
def test_degrees_stay_exact_where_truths_underflow(quantifier):
    name, count = quantifier
    variables = [Variable("a", {"near": Gaussian(0.0, 0.01), "above": Sigmoid(0.0, 300.0)})]
    near, above = Quantified(name, Is("a", "near"), count), Quantified(name, Is("a", "above"), count)
    rules = RuleBase(variables, [Rule(near, [[1.0]]), Rule(above, [[1.0]])], normalize=False)
    bag = [[-3.0], [-5.0], [-4.0]]
    found = rules.infer([bag])
    assert np.isfinite(found.log_degrees).all()
    with mpmath.workdps(60):
        for p, part in enumerate((near, above)):
            asked = for_oracle(part, rules, exp=mpmath.exp)
            exact = oracle_rules.bag_truth(asked, [[mpmath.mpf(value[0])] for value in bag])
            assert float(exact) == 0.0  # nothing that a double could hold
            assert found.log_degrees[0, p] == pytest.approx(float(mpmath.log(exact)), rel=1e-12)


def test_normalized_rules_decide_between_quantified_premises_that_all_underflow():
    variables = [Variable("a", {"one": Gaussian(0.0, 0.01), "other": Gaussian(1.0, 0.01)})]
    rules = [Rule(Quantified("some", Is("a", term)), [[value]]) for term, value in (("one", 0.0), ("other", 1.0))]
    found = RuleBase(variables, rules).infer([[[30.0], [40.0]], [[-30.0], [-40.0]]])
    assert (found.firing == 0).all()
    assert found.output[:, 0].tolist() == [1.0, 0.0]


def test_most_is_exactly_zero_and_one_at_the_ends_of_its_ramp():
    variables = [Variable("a", {"yes": Triangular(0.5, 1.0, 1.5)})]
    rules = RuleBase(variables, [Rule(Quantified("most", Is("a", "yes")), [[1.0]])], normalize=False)
    bags = [[[1.0]] * yes + [[0.0]] * (10 - yes) for yes in (0, 2, 4, 5, 9, 10)]
    np.testing.assert_allclose(rules.infer(bags).output[:, 0], [0, 0, 0.2, 0.4, 1, 1], rtol=1e-12)
    assert np.isneginf(rules.infer(bags[:1]).log_degrees[0, 0])

"""`FuzzyBagHead`: the same numbers as the rules it holds and the training it stands for, as a PyTorch module."""

import copy
import io

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from fuzzymil import Bags, InputError, MISugeno, ParameterError, RuleBase  # noqa: E402
from fuzzymil.inference.engines.jax import Packed  # noqa: E402
from fuzzymil.inference.layers import forward  # noqa: E402
from fuzzymil.learn.train._loop import Plan, from_free, to_free  # noqa: E402
from fuzzymil.torch import FuzzyBagHead  # noqa: E402

SIZES = [1, 3, 1, 7, 1, 17, 10]
RULES = {
    "paper": RuleBase.from_arrays(
        np.random.default_rng(0).normal(size=(3, 2)),
        np.full((3, 2), 0.8),
        np.random.default_rng(1).normal(size=(3, 2, 3)),
    ),
    "shared terms": RuleBase.parse("""
    VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3), points = Discrete(-1, 0, 1, 1)
    VARIABLE b: low = Triangular(-2, 0, 2), edge = Rectangle(-1, 5)
    USING alpha = 2, conclusion_alpha = 0.5
    IF a is low AND b is very low THEN y = 1 + 2*a - b
    IF a is high OR NOT (b is edge) THEN y = -1 + a WITH 0.4
    IF a is low AND NOT (a is points) THEN y = 0.5
    """),
    "quantified": RuleBase.parse("""
    VARIABLE a: low = Gaussian(0, 1), high = Sigmoid(1, 3)
    VARIABLE b: low = Triangular(-2, 0, 2)
    Default: y = 0.5
    IF SOME (a is low AND b is low) AND MOST a is high THEN y += 1
    IF AT LEAST 3 a is high OR NOT (ALL b is low) THEN y -= 2
    """),
    "limited, with gaps": RuleBase.parse("""
    VARIABLE a FROM 0 TO 2: rare = Triangular(1.9, 2, 2.1), low = Triangular(-1, 0, 1)
    VARIABLE b FROM -1 TO 1: low = Triangular(-1.1, -1, -0.5)
    USING limited = true
    Default: y = 7
    IF a is rare AND b is low THEN y = 1
    IF a is low AND b is low THEN y = 2
    """),
    "no conditions": RuleBase.parse(
        "VARIABLE a: any = Gaussian(0, 1)  VARIABLE b: any = Gaussian(0, 1)  IF anything THEN y = 3"
    ),
}


def some_bags(missing=False):
    rng = np.random.default_rng(2)
    values = rng.normal(0, 1.5, size=(sum(SIZES), 2))
    if missing:
        values[rng.uniform(size=values.shape) < 0.1] = np.nan
    return Bags(values, np.cumsum([0, *SIZES]))


def padded(bags, fill=torch.nan):
    places = torch.arange(int(max(bags.sizes)))
    mask = places < torch.tensor(bags.sizes)[:, None]
    x = torch.full((*mask.shape, bags.n_features), fill, dtype=torch.float64)
    x[mask] = torch.tensor(bags.instances)
    return x, mask


def double(rules, **settings):
    return FuzzyBagHead(rules, dtype=torch.float64, **settings)


def near(found, expected, tolerance=1e-12):
    found = found.detach().numpy() if isinstance(found, torch.Tensor) else found
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


# ---------------------------------------------------------------------- inference


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_it_computes_what_the_rules_infer(name, missing):
    rules, bags = RULES[name], some_bags(missing)
    head, expected = double(rules, missing_values=missing), rules.infer(bags)
    x, index = torch.tensor(bags.instances), torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    wide, mask = padded(bags)
    found = {
        "offsets": head.infer(x, offsets=bags.offsets),
        "index": head.infer(x, index=index),
        "shuffled": head.infer(x[order], index=index[order], n_bags=len(SIZES)),
        "padded": head.infer(wide, mask=mask),
    }
    for way, layers in found.items():
        near(layers.output, expected.output)
        near(layers.strengths, expected.normalized)
        near(layers.log_firing, expected.log_firing)
        near(layers.rule_outputs, expected.rule_outputs)
        truth = {"shuffled": expected.log_truth[order], "padded": None}.get(way, expected.log_truth)
        near(
            layers.log_truth[mask] if truth is None else layers.log_truth,
            expected.log_truth if truth is None else truth,
        )
    assert found["padded"].log_truth[~mask].isneginf().all()
    near(head(x, offsets=bags.offsets), expected.output)
    single = FuzzyBagHead(rules, missing_values=missing)(x, offsets=torch.tensor(bags.offsets))
    assert single.dtype == torch.float32
    near(single, expected.output, 1e-5)


def test_bags_of_equal_size_need_no_mask():
    x = torch.randn(4, 3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    near(double(RULES["paper"])(x), RULES["paper"].infer(x.numpy()).output)


def test_nan_propagates_to_its_own_bag_unless_it_means_a_missing_value():
    bags = some_bags()
    x = torch.tensor(bags.instances)
    x[5, 1] = torch.nan
    broken = double(RULES["paper"])(x, offsets=bags.offsets).isnan().all(dim=1)
    assert broken.tolist() == [False, False, False, True, False, False, False]


@pytest.mark.parametrize("name", ["paper", "quantified", "limited, with gaps"])
def test_an_empty_bag_gets_the_default_and_no_gradient_is_nan(name):
    rules, bags = RULES[name], some_bags()
    head = double(rules)
    x = torch.tensor(bags.instances, requires_grad=True)
    index = torch.repeat_interleave(torch.arange(len(SIZES)), torch.tensor(SIZES))
    wide, mask = padded(bags)
    packed = head.infer(x, index=2 * index, n_bags=2 * len(SIZES))
    wider = head.infer(
        torch.cat([wide, torch.full_like(wide, torch.inf)]), mask=torch.cat([mask, torch.zeros_like(mask)])
    )
    for layers, empty in ((packed, slice(1, None, 2)), (wider, slice(len(SIZES), None))):
        near(layers.output[empty], np.broadcast_to(rules.default, layers.output[empty].shape))
        assert layers.log_firing[empty].isneginf().all()
        head.zero_grad()
        layers.output.sum().backward()
        assert all(p.grad.isfinite().all() for p in head.parameters() if p.grad is not None)
    near(packed.output[::2], rules.infer(bags).output)
    assert x.grad.isfinite().all()


def test_mixed_precision_outside_does_not_reach_the_rules():
    bags = some_bags()
    head, x = FuzzyBagHead(RULES["paper"]), torch.tensor(bags.instances, dtype=torch.float32)
    expected = head(x, offsets=bags.offsets)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = head(x, offsets=bags.offsets)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)


# ---------------------------------------------------------------------- gradients


def gradients_by_jax(rules, bags, targets):
    """Gradients of the squared error by the free parameters at each place, and by the instances."""
    params, masks, operators = rules.compile()
    plan = Plan(operators, learn_alpha=True)

    def loss(free, x):
        index = jnp.repeat(jnp.arange(bags.n_bags), jnp.asarray(bags.sizes), total_repeat_length=len(x))
        layers = forward(from_free(free, params, plan), masks, operators, x, Packed(index, bags.n_bags))
        return jnp.square(layers.output - targets).sum()

    with jax.enable_x64():
        free = jax.tree.map(jnp.asarray, to_free(params, plan))
        return jax.tree.map(np.asarray, jax.jit(jax.grad(loss, (0, 1)))(free, jnp.asarray(bags.instances)))


@pytest.mark.parametrize("name", ["paper", pytest.param("shared terms", marks=pytest.mark.slow), "quantified"])
def test_gradients_are_those_of_training_with_jax(name):
    rules, bags = RULES[name], some_bags()
    targets = np.random.default_rng(3).normal(size=(len(SIZES), len(rules.outputs)))
    expected, by_instances = gradients_by_jax(rules, bags, targets)
    head = double(rules, learn_alpha=True)
    for way in ("packed", "padded"):
        head.zero_grad()
        wide, mask = padded(bags)
        x = (torch.tensor(bags.instances) if way == "packed" else wide).requires_grad_()
        output = head(x, offsets=bags.offsets) if way == "packed" else head(x, mask=mask)
        (output - torch.tensor(targets)).square().sum().backward()
        near(head.conclusions.value.grad, expected["coefs"], 1e-11)
        near(x.grad if way == "packed" else x.grad[mask], by_instances, 1e-11)
        if rules.normalize:
            near(head.alpha.value.grad, expected["alpha"], 1e-11)
            near(head.conclusion_alpha.value.grad, expected["conclusion_alpha"], 1e-11)
        else:
            near(head.default.value.grad, expected["default"], 1e-11)
        for terms in head.premises:
            own = terms.mask.numpy() > 0
            for numbers, at_places in zip(terms.numbers, expected["sets"][terms.kind], strict=True):
                total = np.zeros(len(numbers.value))
                np.add.at(total, terms.places.numpy()[own], at_places[own])  # one set, however many conditions use it
                total[numbers.fixed.numpy()] = 0.0
                found = numbers.value.grad
                near(torch.zeros_like(numbers.value) if found is None else found, total, 1e-11)


def test_second_derivatives_exist():
    bags = some_bags()
    head = double(RULES["paper"])
    x = torch.tensor(bags.instances[:5], requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: head(x, offsets=[0, 2, 5]), (x,))


@pytest.mark.parametrize("missing", [False, True])
def test_derivatives_chunk_by_chunk(monkeypatch, missing):
    from fuzzymil.inference.engines import torch as engine

    monkeypatch.setattr(engine, "_CACHED", 12)  # two rows of three rules and two features
    rng = np.random.default_rng(5)
    x, centers = (torch.tensor(rng.normal(size=(n, 2)), requires_grad=True) for n in (5, 3))
    inverse = torch.tensor(rng.uniform(0.5, 2, (3, 2)), requires_grad=True)
    known = torch.tensor(rng.integers(2, size=(5, 2)), dtype=torch.float64) if missing else None
    arguments = (x, known, centers, inverse)
    assert torch.autograd.gradcheck(engine.log_truth_of_gaussians, arguments)
    assert torch.autograd.gradgradcheck(engine.log_truth_of_gaussians, arguments)


def gradients(head, x, **bags):
    x = x.clone().requires_grad_()
    head.zero_grad()
    head(x, **bags).square().sum().backward()
    return [x.grad.double(), *(parameter.grad.double() for parameter in head.parameters())]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("centers", "width"), [([0, 1000], 1.0), ([0, 3000], 20.0), ([0, 30, 1000], 0.5)])
def test_gradients_keep_their_digits_where_centers_are_far_apart(centers, width, missing):
    rules = RuleBase.from_arrays(np.array(centers)[:, None], [[width]] * len(centers), np.arange(len(centers)))
    rng = np.random.default_rng(0)
    x = torch.tensor(rng.choice(centers, (40, 1)) + width * rng.normal(size=(40, 1)), dtype=torch.float32)
    found, expected = (
        gradients(FuzzyBagHead(rules, dtype=dtype, missing_values=missing), x.to(dtype), offsets=range(0, 41, 4))
        for dtype in (torch.float32, torch.float64)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5 * other.abs().max().item())


OUTLIERS = [
    (torch.float32, 3e19),
    (torch.float32, 1e38),
    (torch.float32, torch.inf),
    (torch.float64, -torch.inf),
    (torch.float16, 300.0),
]


@pytest.mark.parametrize(("dtype", "value"), OUTLIERS)
def test_an_instance_too_far_away_to_matter_has_no_part_in_gradients(dtype, value):
    head = FuzzyBagHead(RuleBase.from_arrays(np.eye(2), np.full((2, 2), 0.3), [0, 1]), dtype=dtype)
    x = torch.tensor([[0.5, 0.5], [50.0, 0.2], [0.2, 0.1], [0.9, 0.9]], dtype=dtype)
    expected = gradients(head, x, offsets=[0, 2, 4])
    x[1, 0] = value
    for one, other in zip(gradients(head, x, offsets=[0, 2, 4]), expected, strict=True):
        assert torch.equal(one, other)
    assert expected[0][1].tolist() == [0, 0]


def test_no_instances_at_all_have_gradients():
    found = gradients(double(RULES["paper"]), torch.zeros(0, 2, dtype=torch.float64), offsets=[0, 0])
    assert [values.abs().sum().item() for values in found] == [0] * len(found)


# ---------------------------------------------------------------------- rules in, rules out


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_untouched_rules_come_back_as_they_were(name, dtype):
    rules = RULES[name]
    assert FuzzyBagHead(rules, dtype=dtype, learn_alpha=True).rules() == rules


def trained(head, bags, steps=5, optimizer=torch.optim.AdamW, **settings):
    x, mask = padded(bags, 0.0)
    targets = torch.linspace(-1, 1, len(SIZES), dtype=x.dtype)[:, None]
    optimizer = optimizer(head.parameters(), lr=0.05, **settings)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (head(x, mask=mask) - targets).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", RULES)
def test_trained_rules_infer_what_the_head_computes(name):
    bags, rules = some_bags(), RULES[name]
    head = double(rules, learn_alpha=True)
    losses = trained(head, bags)
    assert losses[-1] < losses[0] or name == "limited, with gaps"
    found = head.rules()
    assert [str(rule.premise) for rule in found.rules] == [str(rule.premise) for rule in rules.rules]
    assert found != rules
    near(head(torch.tensor(bags.instances), offsets=bags.offsets), found.infer(bags).output)
    again = double(found, learn_alpha=True)
    near(again(*[padded(bags)[0]], mask=padded(bags)[1]), found.infer(bags).output)


def test_what_is_frozen_stays_whatever_the_optimizer_does():
    rules, bags = RULES["shared terms"], some_bags()
    head = FuzzyBagHead(rules, frozen=["a.low", "rule 2"])
    trained(head, bags, weight_decay=0.5)
    found = head.rules()
    terms = {variable.name: variable.terms for variable in found.variables}
    before = {variable.name: variable.terms for variable in rules.variables}
    assert terms["a"]["low"] == before["a"]["low"]
    assert terms["a"]["high"] == before["a"]["high"]  # of rule 2
    assert terms["b"]["edge"] == before["b"]["edge"]
    assert terms["b"]["low"] != before["b"]["low"]
    assert found.rules[1].coefs == rules.rules[1].coefs
    assert found.rules[0].coefs != rules.rules[0].coefs
    head.freeze("a", "b", "y")
    held = head.rules()
    trained(head, bags, weight_decay=0.5)
    assert head.rules() == held == found
    head.freeze()
    trained(head, bags)
    assert head.rules().variables[0].terms["low"] != held.variables[0].terms["low"]


def test_vertical_edges_never_move():
    rules = RULES["shared terms"]
    head = FuzzyBagHead(rules)
    trained(head, some_bags(), weight_decay=0.5)
    assert head.rules().variables[1].terms["edge"] == rules.variables[1].terms["edge"]


def test_its_state_is_saved_and_copied_with_what_is_frozen():
    bags = some_bags()
    head = FuzzyBagHead(RULES["paper"], frozen=["rule 1"])
    trained(head, bags, weight_decay=0.5)
    buffer = io.BytesIO()
    torch.save(head.state_dict(), buffer)
    buffer.seek(0)
    other = FuzzyBagHead(RULES["paper"])
    other.load_state_dict(torch.load(buffer, weights_only=True))
    assert other.rules() == head.rules() == copy.deepcopy(head).rules()
    trained(other, bags)
    assert other.rules().rules[0].coefs == RULES["paper"].rules[0].coefs


def test_all_parameters_can_be_frozen_as_in_other_modules():
    head = FuzzyBagHead(RULES["paper"]).requires_grad_(False)
    assert not head(torch.zeros(1, 2), offsets=[0, 1]).requires_grad


def test_premises_and_conclusions_can_learn_at_different_rates():
    head = FuzzyBagHead(RULES["paper"], learn_alpha=True)
    names = [name.partition(".")[0] for name, _ in head.named_parameters()]
    assert set(names) == {"premises", "conclusions", "alpha", "conclusion_alpha"}
    assert "default" in dict(FuzzyBagHead(RULES["quantified"]).named_children())
    assert [n for n, _ in FuzzyBagHead(RULES["quantified"]).named_parameters() if n.startswith("default")]


# ---------------------------------------------------------------------- without rules to start from


def test_rules_start_at_clusters_and_are_named_after_training():
    rng = np.random.default_rng(4)
    instances = np.concatenate([rng.normal(-3, 0.1, (50, 2)), rng.normal(3, 0.1, (50, 2))])
    instances[:, 1] = 0.0  # a feature that tells nothing: sets that start the same are still different sets
    head = FuzzyBagHead.from_instances(
        torch.tensor(instances), 2, random_state=0, n_outputs=2, feature_names=["a", "b"]
    )
    centers = sorted(head.rules().centers[:, 0])
    near(np.array(centers), [-3, 3], 0.1)
    assert len(head.premises[0].numbers[0].value) == 4
    before = [rule.conditions[0].term for rule in head.rules().rules]
    with torch.no_grad():
        head.premises[0].numbers[0].value.neg_()  # the centers
    found = head.rules()
    assert [rule.conditions[0].term for rule in found.rules] == before[::-1]
    assert sorted(before) == ["high", "low"]
    assert found.rules[0].coefs == ((0.0,), (0.0,))
    again = FuzzyBagHead.from_instances(instances, 2, random_state=0, n_outputs=2, feature_names=["a", "b"])
    near(np.array(sorted(again.rules().centers[:, 0])), centers)


# ---------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("arguments", "settings", "facts"),
    [
        ((torch.zeros(5, 3),), {"offsets": [0, 5]}, ["2 features", "(5, 3)"]),
        ((torch.zeros(5),), {}, ["(5,)"]),
        ((torch.zeros(5, 2),), {}, ["offsets=", "index="]),
        ((torch.zeros(5, 2),), {"offsets": [0, 5], "index": torch.zeros(5).long()}, ["either"]),
        ((torch.zeros(5, 2),), {"offsets": [0, 4]}, ["5", "4"]),
        ((torch.zeros(5, 2),), {"offsets": [0, 4, 3, 5]}, ["ascend", "offsets[2] = 3", "offsets[1] = 4"]),
        ((torch.zeros(5, 2),), {"offsets": torch.tensor([0, 4, 3, 5])}, ["offsets[2] = 3", "offsets[1] = 4"]),
        ((torch.zeros(5, 2),), {"offsets": "05"}, ["offsets", "sequence"]),
        ((torch.zeros(5, 2),), {"offsets": [0, 5], "n_bags": 7}, ["n_bags", "index="]),
        ((torch.zeros(5, 4, 2),), {"n_bags": 7}, ["n_bags", "index="]),
        ((torch.zeros(3, 2),), {"index": [0, -1, 1]}, ["from -1", "to 1"]),
        ((torch.zeros(3, 2),), {"index": torch.tensor([0, 2, 1]), "n_bags": 2}, ["n_bags - 1 = 1", "to 2"]),
        ((torch.zeros(3, 2),), {"index": [0, 0, 1], "n_bags": 2.0}, ["n_bags", "2.0"]),
        ((torch.zeros(3, 2),), {"index": [0, 0, 1], "n_bags": -1}, ["n_bags", "-1"]),
        ((torch.zeros(3, 2),), {"index": torch.zeros(3, dtype=torch.complex64)}, ["whole number", "complex64"]),
        ((torch.zeros(1, 2, 2),), {"mask": torch.tensor([[0, -torch.inf]])}, ["float32", "mask.bool()", "mask == 0"]),
        ((np.zeros((5, 2)),), {"offsets": [0, 5]}, ["tensor", "ndarray", "as_tensor"]),
        ((torch.zeros(5, 2, dtype=torch.complex64),), {"offsets": [0, 5]}, ["real", "complex64"]),
        ((torch.zeros(5, 2).to_sparse(),), {"offsets": [0, 5]}, ["dense"]),
        ((torch.zeros(5, 2),), {"offsets": [0.0, 5.0]}, ["whole numbers", "float32"]),
        ((torch.zeros(5, 2),), {"index": torch.zeros(4).long()}, ["5", "(4,)"]),
        ((torch.zeros(5, 2),), {"index": torch.zeros(5)}, ["whole number", "float32"]),
        ((torch.zeros(5, 4, 2),), {"mask": torch.ones(4, 5)}, ["(5, 4)", "(4, 5)"]),
        ((torch.zeros(5, 4, 2),), {"offsets": [0, 5]}, ["mask="]),
    ],
)
def test_bags_of_the_wrong_shape(arguments, settings, facts):
    with pytest.raises(InputError) as problem:
        FuzzyBagHead(RULES["paper"])(*arguments, **settings)
    assert all(fact in str(problem.value) for fact in facts)


def test_lists_and_arrays_name_the_bags_as_tensors_do():
    head, x = double(RULES["paper"]), torch.tensor(some_bags().instances[:4])
    expected = head(x, index=torch.tensor([1, 0, 0, 1])).tolist()
    assert head(x, index=[1, 0, 0, 1]).tolist() == head(x, index=np.array([1, 0, 0, 1]), n_bags=2).tolist() == expected
    wide, mask = x.reshape(2, 2, 2), [[True, False], [True, True]]
    expected = head(wide, mask=torch.tensor(mask)).tolist()
    assert head(wide, mask=mask).tolist() == head(wide, mask=np.array(mask, np.uint8)).tolist() == expected
    expected = head(x, offsets=torch.tensor([0, 1, 4])).tolist()
    assert head(x, offsets=np.array([0, 1, 4], np.uint64)).tolist() == head(x, offsets=(0, 1, 4)).tolist() == expected


@pytest.mark.parametrize("name", ["paper", "limited, with gaps"])
def test_bags_without_any_instance(name):
    rules = RULES[name]
    head, nothing = double(rules), torch.zeros(0, 2, dtype=torch.float64)
    for found in (
        head(nothing.reshape(3, 0, 2)),
        head(nothing.reshape(3, 0, 2), mask=torch.zeros(3, 0, dtype=torch.bool)),
        head(nothing, index=torch.zeros(0).long(), n_bags=3),
        head(nothing, offsets=[0, 0, 0, 0]),
    ):
        near(found, np.broadcast_to(rules.default, (3, len(rules.outputs))))
    assert head(nothing, index=torch.zeros(0).long()).shape == (0, len(rules.outputs))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_short_precision_can_be_made_frozen_and_exported(dtype):
    rules = RULES["shared terms"]
    made, moved = FuzzyBagHead(rules, dtype=dtype, frozen=["rule 1"]), FuzzyBagHead(rules).to(dtype).freeze("rule 1")
    assert made.conclusions.fixed.tolist() == moved.conclusions.fixed.tolist()
    assert [n.fixed.tolist() for n in made.premises[0].numbers] == [n.fixed.tolist() for n in moved.premises[0].numbers]
    assert made.premises[0].numbers[0].fixed.any()
    assert made.rules() == rules
    sample = torch.tensor(some_bags().instances, dtype=dtype)
    assert FuzzyBagHead.from_instances(sample, 2, random_state=0, dtype=dtype)(sample, offsets=[0, 40]).dtype == dtype


def test_a_head_without_memory():
    assert FuzzyBagHead(RULES["paper"], device="meta", frozen=["rule 1"]).conclusions.value.device.type == "meta"


def test_instances_with_missing_values_do_not_start_rules():
    sample = torch.tensor([[torch.nan, 1.0], [0.0, 1.0], [1.0, 0.0]])
    head = FuzzyBagHead.from_instances(sample, 2, random_state=0, missing_values=True)
    near(np.sort(head.rules().centers, axis=0), [[0, 0], [1, 1]])


def test_rules_from_instances_can_be_frozen():
    head = FuzzyBagHead.from_instances(np.eye(3), 2, random_state=0, frozen="rule 1")
    assert head.conclusions.fixed.flatten().tolist() == [True, False]


@pytest.mark.parametrize(
    ("instances", "n_rules", "settings", "facts"),
    [
        (np.eye(3), 0, {}, ["n_rules", "0"]),
        (np.eye(3), 2.5, {}, ["n_rules", "2.5"]),
        (np.eye(3), 2, {"n_outputs": 0}, ["n_outputs", "0"]),
        (np.eye(3), 2, {"agregation": "max"}, ["'agregation'", "'aggregation'"]),
        ([[np.nan, 1.0], [0.0, 1.0]], 1, {}, ["row 0", "column 0", "nan", "missing_values=True"]),
        ([[np.inf, 1.0], [0.0, 1.0]], 1, {"missing_values": True}, ["row 0", "inf"]),
        ([[np.nan, 1.0]], 1, {"missing_values": True}, ["no instances"]),
    ],
)
def test_samples_and_settings_that_start_no_rules(instances, n_rules, settings, facts):
    with pytest.raises((InputError, ParameterError)) as problem:
        FuzzyBagHead.from_instances(instances, n_rules, **settings)
    assert all(fact in str(problem.value) for fact in facts)


def test_names_to_freeze():
    rules = RULES["shared terms"]
    assert FuzzyBagHead(rules, frozen="y").conclusions.fixed.all()
    with pytest.raises(ParameterError, match=r"list.*\*names"):
        FuzzyBagHead(rules).freeze(["a"])


def test_rules_of_another_kind():
    with pytest.raises(ParameterError, match=r"MISugeno.*RuleBase\.parse"):
        FuzzyBagHead(MISugeno(inputs={}, rules=[]))
    with pytest.raises(ParameterError, match=r"unknown name 'c'.*a\.low"):
        FuzzyBagHead(RULES["quantified"], frozen=["c"])
    with pytest.raises(ParameterError, match="kmeans"):
        FuzzyBagHead.from_instances(np.eye(3), 2, init="kmean")
    with pytest.raises(ParameterError, match="order"):
        FuzzyBagHead.from_instances(np.eye(3), 2, order=2)

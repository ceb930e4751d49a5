"""Training of Mamdani rules: values against loops, gradients against differences, constraints, and what is refused."""

import itertools
import json
import math

import jax
import jax.numpy as jnp
import numpy as np
import oracle
import oracle_rules
import pytest
from sklearn.metrics import roc_auc_score

from fuzzymil import Bags, Constraints, MIMamdani, RuleClassifier, load_model
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.datasets import make_planted, make_two_concepts
from fuzzymil.inference.engines.jax import Packed
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.layers import forward_to_sets
from fuzzymil.learn.train import mamdani as training
from fuzzymil.learn.train.mamdani import train
from fuzzymil.rules import RuleBase

TEXT = """
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0.1, 0.3), deep = Gaussian(0.8, 0.3)
VARIABLE metal FROM 0 TO 10: little = Bell(2, 3, 2), much = Gaussian(8, 2.5)
OUTPUT risk FROM 0 TO 100: small = Triangular(-40, 5, 45), medium = Gaussian(48, 15), great = Triangular(52, 97, 140)
IF depth is shallow AND metal is much THEN risk is great
IF depth is deep OR metal is little THEN risk is small WITH 0.8
IF depth is deep AND metal is much THEN risk is medium
"""
QUANTIFIED = TEXT.replace(
    "IF depth is shallow AND metal is much", "IF SOME depth is shallow AND ON AVERAGE metal is much"
)


def draw(n_bags=40, seed=0):
    rng = np.random.default_rng(seed)
    bags = [np.column_stack([rng.uniform(0, 1, n), rng.uniform(0, 10, n)]) for n in rng.integers(1, 6, size=n_bags)]
    labels = np.array([int(((bag[:, 0] < 0.5) & (bag[:, 1] > 6)).any()) for bag in bags])
    return Bags.from_list(bags, ["depth", "metal"], labels=labels)


def gaussian(x, center, width):
    return math.exp(-((x - center) ** 2) / (2 * width**2))


def by_loops(bag, n_cells, implication, accumulation, defuzzify):
    truths = []
    for depth, metal in bag:
        shallow, deep = gaussian(depth, 0.1, 0.3), gaussian(depth, 0.8, 0.3)
        little, much = oracle.bell(metal, 2, 3, 2), gaussian(metal, 8, 2.5)
        truths.append((min(shallow, much), 0.8 * max(deep, little), min(deep, much)))
    firing = [max(column) for column in zip(*truths, strict=True)]
    sets = (
        lambda v: oracle.triangular(v, 52, 97, 140),
        lambda v: oracle.triangular(v, -40, 5, 45),
        lambda v: gaussian(v, 48, 15),
    )
    return oracle_rules.mamdani_output(firing, sets, 0, 100, n_cells, implication, accumulation, defuzzify)


OPERATORS = list(itertools.product(("min", "product"), ("max", "sum", "algebraic", "bounded", "hamacher")))


@pytest.mark.parametrize("defuzzify", ["centroid", "bisector"])
@pytest.mark.parametrize(("implication", "accumulation"), OPERATORS)
def test_inference_and_the_trained_network_equal_loops(implication, accumulation, defuzzify):
    how = {"implication": implication, "accumulation": accumulation, "defuzzify": defuzzify}
    rules, bags = RuleBase.parse(TEXT, resolution=70, **how), draw(6)
    expected = [by_loops(bags[b], 70, **how) for b in range(bags.n_bags)]
    np.testing.assert_allclose(rules.infer(bags).output[:, 0], expected, rtol=1e-12)
    params, masks, operators = training.compiled(rules, training.joint_rules(rules))
    found = forward_to_sets(params, masks, operators, bags.instances, Runs(bags.offsets))
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "implication", "accumulation", "defuzzify"),
    [
        (TEXT, "min", "max", "centroid"),
        (TEXT, "product", "algebraic", "bisector"),
        pytest.param(QUANTIFIED, "lukasiewicz", "sum", "centroid", marks=pytest.mark.slow),
        pytest.param(QUANTIFIED, "product", "hamacher", "centroid", marks=pytest.mark.slow),
    ],
    ids=["customary", "bisector", "quantified", "other-norms"],
)
def test_gradients_equal_central_differences(text, implication, accumulation, defuzzify):
    """Of the mean squared output, by every parameter of every set of inputs and outputs."""
    how = {"implication": implication, "accumulation": accumulation, "defuzzify": defuzzify}
    rules, bags = RuleBase.parse(text, resolution=60, **how), draw(5, seed=3)
    params, masks, operators = training.compiled(rules, training.joint_rules(rules))

    def cost(sets, x, grouping):
        found = forward_to_sets(params._replace(sets=sets), masks, operators, x, grouping)
        return (found**2).mean() / 1e3

    with jax.enable_x64():
        owner = jnp.asarray(np.repeat(np.arange(bags.n_bags), bags.sizes))
        sets = jax.tree.map(jnp.asarray, params.sets)
        grouping = Packed(owner, bags.n_bags)
        slopes = jax.jit(jax.grad(lambda sets: cost(sets, jnp.asarray(bags.instances), grouping)))(sets)
        slopes = jax.tree.map(np.asarray, slopes)
    seen = 0
    for name, values in params.sets.items():
        for p, value in enumerate(values):
            for place in map(tuple, np.argwhere(masks[name] > 0)):
                step = 1e-6 * max(1.0, abs(value[place]))
                ends = []
                for sign in (1, -1):
                    moved = [each.copy() for each in values]
                    moved[p][place] += sign * step
                    changed = {**params.sets, name: tuple(moved)}
                    ends.append(cost(changed, bags.instances, Runs(bags.offsets)))
                by_difference = (ends[0] - ends[1]) / (2 * step)
                assert slopes[name][p][place] == pytest.approx(by_difference, rel=2e-4, abs=2e-6)
                seen += by_difference != 0
    assert seen >= 12  # sets of inputs and of outputs


@pytest.mark.slow
def test_empty_sets_and_missing_values_have_finite_gradients():
    rules = RuleBase.parse("""
    VARIABLE x FROM 0 TO 9: low = Triangular(0, 1, 2), high = Triangular(3, 4, 5)
    OUTPUT y FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
    IF x is low THEN y is small
    IF x is high THEN y is great
    """)
    bags = Bags.from_list([[[0.6], [np.nan]], [[8.0]], [[3.5]]])
    found = train(rules, bags, np.array([[0.3], [0.2], [0.9]]), max_epochs=20)
    assert not found.diverged
    assert np.isfinite(found.history["loss"]).all()
    assert found.history["loss"].min() < found.history["loss"][0]
    assert found.rules.infer(bags).uncovered_outputs[1, 0]  # no gradient leads there


# ---------------------------------------------------------------------- constraints


def peaks(variable):
    return {term: float(chosen.peak(*chosen.parameters)) for term, chosen in variable.terms.items()}


def crossing(a, b):
    x = np.linspace(*(float(s.peak(*s.parameters)) for s in (a, b)), 20001)
    return float(np.minimum(a(x), b(x)).max())


@pytest.mark.slow
def test_training_respects_the_expert():
    rules, bags = RuleBase.parse(TEXT), draw()
    targets = 100.0 * bags.labels[:, None]
    limits = Constraints(ordered=True, overlap=0.15, conclusions=(2, 98), stay=1e-3)
    found = train(
        rules, bags, targets, frozen=["metal.much", "risk.medium"], constraints=limits, max_epochs=60, learning_rate=0.2
    )
    assert found.history["loss"].min() < 0.95 * found.history["loss"][0]
    for now, then in zip(
        (*found.rules.variables, *found.rules.outputs), (*rules.variables, *rules.outputs), strict=True
    ):
        order = sorted(then.terms, key=peaks(then).get)
        assert np.diff([peaks(now)[term] for term in order]).min() >= 0
        for a, b in itertools.pairwise(order):
            assert crossing(now.terms[a], now.terms[b]) >= 0.15 - 1e-3
        assert all(now.low <= peak <= now.high for peak in peaks(now).values())
    assert found.rules.variables[1].terms["much"] == rules.variables[1].terms["much"]
    assert found.rules.outputs[0].terms["medium"] == rules.outputs[0].terms["medium"]
    assert found.rules.outputs[0].terms["great"] != rules.outputs[0].terms["great"]
    assert all(2 - 1e-9 <= peak <= 98 + 1e-9 for peak in peaks(found.rules.outputs[0]).values())
    told = {(entry.where, entry.what, entry.bound) for entry in found.active_bounds}
    ends = peaks(found.rules.outputs[0])
    if ends["great"] == pytest.approx(98):
        assert ("risk.great", "peak", "upper bound of conclusions") in told
    assert told
    near = train(rules, bags, targets, constraints=Constraints(stay=100.0), max_epochs=60)
    now, then = peaks(near.rules.outputs[0]), peaks(rules.outputs[0])
    assert max(abs(now[term] - then[term]) for term in then) < 2  # of 100: the pull keeps them


def test_outputs_stay_in_their_range_and_the_best_epoch_is_kept():
    rules, bags = RuleBase.parse(TEXT), draw()
    found = train(rules, bags, 100.0 * bags.labels[:, None], max_epochs=40, learning_rate=1.0)
    assert all(0 <= peak <= 100 for peak in peaks(found.rules.outputs[0]).values())
    error = np.square(found.rules.infer(bags).output / 100 - bags.labels[:, None]).mean()
    before = np.square(rules.infer(bags).output / 100 - bags.labels[:, None]).mean()
    assert error <= min(before, found.history["loss"].min() + 1e-4)


def test_a_frozen_rule_keeps_what_it_asks_and_concludes():
    rules, bags = RuleBase.parse(TEXT), draw()
    found = train(rules, bags, 100.0 * bags.labels[:, None], frozen=["rule 1"], max_epochs=5).rules
    kept = [(0, "shallow"), (1, "much")]
    assert all(found.variables[d].terms[term] == rules.variables[d].terms[term] for d, term in kept)
    assert found.outputs[0].terms["great"] == rules.outputs[0].terms["great"]
    assert found.variables[0].terms["deep"] != rules.variables[0].terms["deep"]
    assert found.outputs[0].terms["small"] != rules.outputs[0].terms["small"]
    assert found.rules == rules.rules


@pytest.mark.parametrize(
    ("changes", "settings", "facts"),
    [
        ({"defuzzify": "mom"}, {}, ["centroid", "'mom'", "'risk'"]),
        ({"defuzzify": "bisector", "sampling": "points"}, {}, ["'risk'", "cells"]),
        ({"hold": True}, {}, ["hold=False", "'risk'"]),
        ({"activation": "highest 1"}, {}, ["general", "highest 1"]),
        ({}, {"frozen": ["risk.grate"]}, ["'risk.grate'", "risk.great"]),
        ({}, {"constraints": {"signs": True}}, ["signs"]),
        ({}, {"constraints": {"conclusions": (10, 90)}}, ["'small'", "5", "10 to 90"]),
        ({}, {"constraints": {"conclusions": {"rik": (0, 1)}}}, ["'rik'", "risk"]),
        ({}, {"constraints": {"overlap": 0.5}}, ["overlap", "crossing", "below 0.5"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_trained_is_refused(changes, settings, facts):
    rules = RuleBase.parse(TEXT).with_settings(**changes)
    with pytest.raises(ParameterError) as caught:
        MIMamdani(rules=rules, threshold=50.0, max_epochs=3, **settings).fit(draw(10))
    assert all(fact in str(caught.value) for fact in facts)


# ---------------------------------------------------------------------- the estimator


def test_training_in_the_estimator_survives_a_file(tmp_path):
    bags = draw()
    model = MIMamdani(
        rules=TEXT, threshold=50.0, max_epochs=30, frozen=["metal"], constraints={"ordered": True}, learning_rate=0.1
    ).fit(bags)
    untrained = MIMamdani(rules=TEXT, threshold=50.0).fit(bags)
    assert not hasattr(untrained, "history_")
    assert untrained.rules_ == model.initial_rules_
    assert model.rules_ != model.initial_rules_
    assert model.rules_.variables[1] == model.initial_rules_.variables[1]
    assert roc_auc_score(bags.labels, model.decision_function(bags)) > 0.9
    assert model.score(bags) >= untrained.score(bags)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert (again.rules_, again.initial_rules_, again.active_bounds_) == (
        model.rules_,
        model.initial_rules_,
        model.active_bounds_,
    )
    np.testing.assert_array_equal(again.history_["loss"], model.history_["loss"])
    np.testing.assert_array_equal(again.predict(bags), model.predict(bags))
    np.testing.assert_array_equal(again.predict_proba(bags), model.predict_proba(bags))
    document = json.loads((tmp_path / "model.json").read_text())
    document["initial"]["rules"].pop()
    (tmp_path / "damaged.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="damaged"):
        load_model(tmp_path / "damaged.json")


def test_numbers_are_learned_too():
    bags = draw()
    level = np.array([20 + 6 * bags[b][:, 1].mean() for b in range(bags.n_bags)])
    model = MIMamdani(rules=TEXT, threshold=None, max_epochs=40, learning_rate=0.1).fit(bags, level)
    assert model.score(bags, level) > MIMamdani(rules=TEXT, threshold=None).fit(bags, level).score(bags, level) + 0.2
    with pytest.raises(InputError, match=r"1 output.*2 column"):
        MIMamdani(rules=TEXT, threshold=None, max_epochs=2).fit(bags, np.column_stack([level, level]))
    with pytest.raises(InputError, match="label"):
        MIMamdani(rules=TEXT, threshold=None, max_epochs=2).fit(
            Bags(bags.instances, bags.offsets, feature_names=bags.feature_names)
        )


def test_probabilities_follow_the_range_of_the_output():
    model = MIMamdani(rules=TEXT, threshold=30.0).fit(draw(20))
    found = model._probability(np.array([[0.0], [15.0], [30.0], [65.0], [100.0]]))
    np.testing.assert_allclose(found[:, 1], [0, 0.25, 0.5, 0.75, 1])
    bags = draw(20)
    np.testing.assert_array_equal(model.predict_proba(bags)[:, 1] > 0.5, model.decision_function(bags) > 0)


def test_settings_without_rules_to_refer_to():
    with pytest.raises(ParameterError, match="pass rules"):
        MIMamdani(frozen=["x"]).fit(draw(10))
    with pytest.raises(ParameterError, match="init"):
        MIMamdani(init="kmeans").fit(draw(10))
    with pytest.raises(ParameterError, match="max_epochs"):
        MIMamdani(max_epochs=-1).fit(draw(10))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "pair", "either", "both", "prototype"])
def test_learned_rules_are_as_useful_as_those_of_anfis(kind):
    if kind == "two":
        train_bags, test_bags = (make_two_concepts(random_state=seed) for seed in (1, 2))
    else:
        train_bags, test_bags = (make_planted(kind, n_bags=200, n_noise=3, random_state=seed) for seed in (0, 1))
    anfis = RuleClassifier(10, random_state=0).fit(train_bags)
    learned = MIMamdani(random_state=0).fit(train_bags)
    scores = [roc_auc_score(test_bags.labels, model.decision_function(test_bags)) for model in (anfis, learned)]
    assert scores[0] > 0.95
    assert scores[1] > scores[0] - 0.02
    assert learned.score(test_bags) > 0.9


def test_three_classes_are_learned_from_bags():
    rng = np.random.default_rng(0)
    labels = np.repeat(["none", "red", "blue"], 25)
    place = {"none": None, "red": 8.0, "blue": -8.0}
    bags = []
    for label in labels:
        bag = rng.normal(0, 1.5, size=(4, 2))
        if place[label] is not None:
            bag[0, 0] = place[label] + rng.normal(0, 0.5)
        bags.append(bag)
    model = MIMamdani(random_state=0).fit(bags, labels)
    assert [output.name for output in model.rules_.outputs] == model.classes_.tolist()
    assert model.score(bags, labels) > 0.9


@pytest.mark.slow
def test_training_learned_rules_does_not_spoil_them():
    bags = make_planted("pair", n_bags=120, n_noise=2, random_state=0)
    model = MIMamdani(random_state=0, max_epochs=20).fit(bags)
    assert model.history_["loss"].min() < model.history_["loss"][0]
    assert roc_auc_score(bags.labels, model.decision_function(bags)) > 0.97

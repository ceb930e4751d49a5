"""Constraints: whatever training does, nothing leaves its bounds, and without them nothing changes."""

from __future__ import annotations

import itertools

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from fuzzymil import Bags, MIANFISClassifier, MIANFISRegressor, ParameterError, RuleBase, Training, load_model
from fuzzymil.bags import BagStream
from fuzzymil.estimators import network_parameters
from fuzzymil.inference.membership import FAMILIES, Gaussian, learnable_families
from fuzzymil.learn.train import ActiveBound, Constraints
from fuzzymil.learn.train.constraints import box_of, project
from fuzzymil.learn.train.scaling import Scaling

TEXT = """
VARIABLE depth [m] FROM 0 TO 10: low = Gaussian(1, 1.5), medium = Triangular(0, 4, 8), high = Sigmoid(6, 1)
VARIABLE size: small = Gaussian(-1, 1), spare = Gaussian(0, 1), large = Bell(1, 1, 2)
IF depth is low AND size is small THEN y = 0.2
IF depth is medium OR size is large THEN y = 0.5
IF depth is high AND size is not small THEN y = 0.8
"""
LINEAR = TEXT.replace("0.2", "0.2 + 0.02*depth").replace("0.8", "0.8 - 0.03*depth")
RULES = RuleBase.parse("""
VARIABLE depth [m] FROM 0 TO 10: low = Gaussian(1, 1.5), medium = Gaussian(4, 2), high = Gaussian(8, 1)
VARIABLE size: small = Gaussian(-1, 1), spare = Gaussian(0, 1), large = Gaussian(1, 1)
IF depth is low AND size is small THEN y = 0.2
IF depth is medium AND size is large THEN y = 0.5
IF depth is high AND size is large THEN y = 0.8
""")
ALL = Constraints(conclusions=(0.1, 0.9), ordered=True, overlap=0.2, signs=True)


def data(seed=0, n=24):
    rng = np.random.default_rng(seed)
    bags = [np.column_stack([rng.uniform(0, 10, 3), rng.normal(size=3)]) for _ in range(n)]
    labels = np.array([int(bag[:, 0].max() > 7) for bag in bags])
    return Bags.from_list(bags, ["depth", "size"], labels=labels)


def peaks(variable):
    return {term: float(s.peak(*s.parameters)) for term, s in variable.terms.items()}


def crossing(a, b):
    low, high = (float(s.peak(*s.parameters)) for s in (a, b))
    x = np.linspace(low, high, 20001)
    return float(np.minimum(a(x), b(x)).max()), float(np.maximum(a(x), b(x)).min())


def assert_kept(rules, start, constraints):
    low, high = constraints.conclusions
    ends = np.array([[0, v.low, v.high][1:] if v.low is not None else (-3.0, 3.0) for v in rules.variables])
    corners = np.array(list(itertools.product(*ends)))
    said = rules.coefs[:, :, 0, None] + rules.coefs[:, :, 1:] @ corners.T if rules.coefs.shape[2] > 1 else rules.coefs
    assert said.min() >= low - 1e-9
    assert said.max() <= high + 1e-9
    if rules.coefs.shape[2] > 1:
        slopes = start.coefs[:, :, 1:]
        assert (rules.coefs[:, :, 1:] * slopes >= 0)[slopes != 0].all()
    for now, then in zip(rules.variables, start.variables, strict=True):
        order = sorted(then.terms, key=peaks(then).get)
        assert np.diff([peaks(now)[term] for term in order]).min() >= -1e-9
        for a, b in itertools.pairwise(order):
            highest_crossing, least_coverage = crossing(now.terms[a], now.terms[b])
            assert highest_crossing >= constraints.overlap - 1e-3
            assert least_coverage >= constraints.overlap - 1e-3


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (TEXT, {"optimizer": "adam", "learning_rate": 0.5}),
        (LINEAR, {"loss": "cross_entropy", "optimizer": "sgd", "learning_rate": 3.0, "batch_size": 1}),
        (LINEAR, {"loss": "hinge", "batch_size": 5, "learning_rate": 0.3, "update_rule": "paper"}),
    ],
)
@pytest.mark.filterwarnings("ignore:Training diverged")
def test_nothing_leaves_its_bounds(text, changes):
    rules = RuleBase.parse(text.replace("VARIABLE size:", "VARIABLE size FROM -3 TO 3:"))
    bags = data()
    model = MIANFISClassifier(
        **network_parameters(init=rules, constraints=ALL, random_state=0, max_epochs=10, **changes)
    )
    model.fit(bags, 1 - bags.labels)
    assert model.rules_ != rules
    assert_kept(model.rules_, rules, ALL)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([TEXT, LINEAR]), st.floats(0.1, 5.0))
def test_any_numbers_are_projected_into_their_bounds(seed, text, far):
    """The step itself, in double precision: random parameters, far from the start."""
    rules = RuleBase.parse(text.replace("VARIABLE size:", "VARIABLE size FROM -3 TO 3:"))
    start, _, _ = rules.compile()
    axes = Scaling(np.zeros(2), np.ones(2), np.array([[0.0, 10.0], [-3.0, 3.0]]), np.ones(2, bool))
    box = box_of(rules, (), ALL, start, axes)
    rng = np.random.default_rng(seed)
    sets = {}
    for name, values in start.sets.items():
        moved = [value + rng.normal(0, far, np.shape(value)) for value in FAMILIES[name].to_free(*values)]
        sets[name] = tuple(np.asarray(value, float) for value in FAMILIES[name].from_free(*moved))
    coefs = start.coefs + rng.normal(0, far, start.coefs.shape)
    # A term moves as one: all conditions that use it have its first numbers.
    wild = rules.with_numbers(start._replace(sets=sets, coefs=coefs)).compile()[0]
    assert_kept(rules.with_numbers(project(wild, box)), rules, ALL)


def test_without_constraints_nothing_changes():
    bags = data()
    plain = MIANFISClassifier(init=RULES, training=Training(max_epochs=5), random_state=0).fit(bags)
    for none in (Constraints(), {}, {"stay": 0.0}):
        assert Constraints.of(none) is None
    # Bounds that are out of reach change nothing either (but rounding: it is another compiled program).
    wide = Constraints(conclusions=(-1e6, 1e6))
    bounded = MIANFISClassifier(init=RULES, constraints=wide, training=Training(max_epochs=5), random_state=0).fit(bags)
    np.testing.assert_allclose(bounded.predict_proba(bags), plain.predict_proba(bags), rtol=1e-5)
    assert plain.active_bounds_ == []


@pytest.mark.slow
def test_restarts_streams_and_partial_fits_are_bounded_too():
    bags = data()
    how = {"init": RULES, "constraints": ALL, "learning_rate": 0.5, "max_epochs": 8, "random_state": 0}
    several = MIANFISClassifier(**network_parameters(n_estimators=2, n_init=2, batch_size=4, **how)).fit(bags)
    for rules in several.members_:
        assert_kept(rules, RULES, ALL)
    stream = BagStream(lambda part: bags[:10] if part == 0 else bags[10:], 2)
    assert_kept(MIANFISClassifier(**network_parameters(**how)).fit(stream).rules_, RULES, ALL)
    part = MIANFISClassifier(**network_parameters(**how))
    for _ in range(8):
        part.partial_fit(bags, bags.labels)
    assert_kept(part.rules_, RULES, ALL)


def test_a_regressor_is_bounded_in_the_units_of_its_targets():
    bags = data()
    target = 100 + 20 * np.array([bag[:, 0].max() for bag in bags])
    rules = RULES.edit(conclusions={1: 150, 2: 200, 3: 250})
    limits = Constraints(conclusions={"y": (140, 260)}, ordered=True)
    model = MIANFISRegressor(init=rules, constraints=limits, training=Training(learning_rate=0.3, max_epochs=60)).fit(
        bags, target
    )
    assert model.rules_.coefs.max() == 260
    assert model.rules_.coefs.min() >= 140
    assert ActiveBound("rule 3", "y", 260.0, "upper bound of conclusions") in model.active_bounds_


@pytest.mark.slow
def test_additive_rules_bound_what_they_add():
    rules = RuleBase.parse("VARIABLE depth: high = Sigmoid(6, 1)  Default: y = -1  IF SOME depth is high THEN y += 2")
    bags = Bags.from_list([bag[:, :1] for bag in data()], ["depth"])
    how = {"init": rules, "loss": "cross_entropy", "learning_rate": 0.3, "max_epochs": 40}
    free = MIANFISClassifier(**network_parameters(**how)).fit(bags, data().labels)
    bound = MIANFISClassifier(**network_parameters(constraints={"conclusions": (0, 3)}, **how)).fit(bags, data().labels)
    assert free.rules_.coefs.max() > 3
    assert bound.rules_.coefs.max() == 3
    assert [entry.where for entry in bound.active_bounds_] == ["rule 1"]


def test_staying_pulls_to_the_start():
    bags = data()
    moves = []
    for stay in (0.0, 0.1, 10.0):
        how = {"constraints": {"stay": stay}, "learning_rate": 0.05, "max_epochs": 60}
        model = MIANFISClassifier(**network_parameters(init=RULES, **how)).fit(bags)
        moves.append(np.abs(model.rules_.coefs - RULES.coefs).max())
    assert moves[0] > moves[1] > 4 * moves[2] > 0
    # At the minimum, the pull balances the gradient of the loss: a step of plain descent goes nowhere.
    how = {"optimizer": "sgd", "constraints": {"stay": 1.0}, "rule_keep_prob": None}
    settled = MIANFISClassifier(**network_parameters(init=RULES, learning_rate=0.1, max_epochs=400, **how)).fit(bags)
    assert settled.history_["change"][-1] < 1e-4


@pytest.mark.slow
def test_frozen_terms_leave_the_overlap_to_their_neighbors():
    bags = data()
    limits = Constraints(overlap=0.3)
    model = MIANFISClassifier(
        init=RULES, frozen=("depth.medium",), constraints=limits, training=Training(learning_rate=0.5, max_epochs=20)
    ).fit(bags, 1 - bags.labels)
    depth = model.rules_.variables[0].terms
    assert depth["medium"] == Gaussian(4, 2)
    assert crossing(depth["low"], depth["medium"])[0] >= 0.3 - 1e-3
    assert crossing(depth["medium"], depth["high"])[0] >= 0.3 - 1e-3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The given rules do worse than chance")
def test_a_sigmoid_never_turns_around():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 1: low = Sigmoid(0.5, -2), high = Sigmoid(0.5, 2)"
        "  IF x is low THEN y = 0  IF x is high THEN y = 1"
    )
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(30, 1))
    labels = (x[:, 0] < 0.5).astype(int)  # the opposite of what the rules say
    how = {"init": rules, "frozen": ("y",), "learning_rate": 0.5, "max_epochs": 60, "optimizer": "sgd"}
    free = MIANFISClassifier(**network_parameters(**how)).fit(x, labels).rules_.variables[0].terms
    kept = (
        MIANFISClassifier(**network_parameters(constraints={"ordered": True}, **how))
        .fit(x, labels)
        .rules_.variables[0]
        .terms
    )
    assert free["high"].slope < 0 < free["low"].slope
    assert kept["low"].slope < 0 < kept["high"].slope


@pytest.mark.parametrize(
    ("limits", "facts"),
    [
        ({"conclusions": (0.3, 1)}, ["rule 1", "y = 0.2", "0.3"]),
        ({"conclusions": {"z": (0, 1)}}, ["'z'", "y"]),
        ({"overlap": 0.5}, ["'medium'", "'high'", "'depth'", "0.5"]),
        ({"signs": {"dept": 1}}, ["'dept'", "depth"]),
        ({"conclusions": (1, 0)}, ["(1, 0)"]),
        ({"conclusions": 1}, ["(low, high)", "1"]),
        ({"overlap": 0.9}, ["0.5", "0.9"]),
        ({"signs": {"depth": 2}}, ["'depth'", "2"]),
        ({"order": True}, ["'order'", "ordered"]),
        ({"stay": -1}, ["stay", "-1"]),
        ("tight", ["Constraints", "'tight'"]),
    ],
)
def test_what_cannot_be_kept_is_an_error(limits, facts):
    with pytest.raises(ParameterError) as caught:
        MIANFISClassifier(init=RULES, constraints=limits).fit(data())
    assert all(fact in str(caught.value) for fact in facts), caught.value


def test_linear_conclusions_are_checked_over_the_ranges():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 10: low = Gaussian(0, 5)  IF x is low THEN y = 0.2 + 0.1*x IF anything THEN y = 0"
    )
    with pytest.raises(ParameterError, match=r"rule 1 .*1\.2"):
        MIANFISClassifier(init=rules, constraints={"conclusions": (0, 1)}).fit([[[1.0]], [[2.0]]], [0, 1])
    with pytest.raises(ParameterError, match=r"rule 1 .* 0\.1"):
        MIANFISClassifier(init=rules, constraints={"signs": {"x": -1}}).fit([[[1.0]], [[2.0]]], [0, 1])


def test_constraints_need_rules_to_start_from():
    with pytest.raises(ParameterError, match=r"constraints .* init"):
        MIANFISClassifier(constraints={"ordered": True}).fit(data())


def test_a_saved_model_remembers_its_constraints(tmp_path):
    bags = data()
    model = MIANFISClassifier(
        init=RULES.to_source(), constraints=ALL, training=Training(learning_rate=0.5, max_epochs=5)
    ).fit(bags)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.constraints == ALL
    assert again.active_bounds_ == model.active_bounds_
    assert_kept(again.set_params(training__warm_start=True, training__max_epochs=20).fit(bags).rules_, RULES, ALL)
    assert model.with_rules(RULES).active_bounds_ == []


def test_rules_can_be_given_as_text():
    bags = data()
    models = [
        MIANFISClassifier(init=given, training=Training(max_epochs=3), random_state=0).fit(bags)
        for given in (RULES.to_source(), RULES)
    ]
    assert models[0].rules_ == models[1].rules_
    with pytest.raises(ParameterError, match="kmeans"):
        MIANFISClassifier(init="kmean").fit(bags)
    with pytest.raises(ParameterError, match="character"):
        MIANFISClassifier(init="IF depth is THEN y = 1").fit(bags)


@pytest.mark.parametrize("name", learnable_families())
def test_every_family_is_projected(name):
    family = FAMILIES[name]
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 10: a = Gaussian(1, 1), b = Gaussian(4, 1), c = Gaussian(7, 1) "
        "IF x is a THEN y = 0 IF x is b THEN y = 0.5 IF x is c THEN y = 1"
    ).edit(
        sets={
            f"x.{term}": family(*map(float, family.around(np.array(center), np.array(3.0))))
            for term, center in (("a", 1.0), ("b", 4.0), ("c", 7.0))
        }
    )
    start, _, _ = rules.compile()
    axes = Scaling(np.zeros(1), np.ones(1), np.array([[0.0, 10.0]]), np.ones(1, bool))
    limits = Constraints(overlap=0.3, conclusions=(0, 1))
    box = box_of(rules, (), limits, start, axes)
    same = project(start, box)
    np.testing.assert_array_equal(same.sets[name], start.sets[name])
    rng = np.random.default_rng(0)
    for _ in range(20):
        free = family.to_free(*start.sets[name])
        far = family.from_free(*(values + rng.normal(0, 2, (3, 1)) for values in free))
        wild = start._replace(sets={name: tuple(np.asarray(value, float) for value in far)}, coefs=start.coefs + 2)
        found = rules.with_numbers(project(wild, box))
        terms = found.variables[0].terms
        assert np.diff([peaks(found.variables[0])[term] for term in "abc"]).min() >= -1e-9
        for a, b in ("ab", "bc"):
            assert crossing(terms[a], terms[b])[0] >= 0.3 - 1e-3
        assert found.coefs.max() == 1

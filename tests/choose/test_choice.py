"""Choosing rules: planted truths are found, odd data does no harm."""

import warnings

import numpy as np
import pytest

from fuzzymil import Bags, RuleClassifier, RuleRegressor
from fuzzymil._utils.errors import EvidenceWarning, InputError, ParameterError
from fuzzymil.datasets import PLANTED, make_planted
from fuzzymil.inference.membership import Sigmoid
from fuzzymil.learn.choose import pool
from fuzzymil.learn.choose.candidates import Condition, Part, premise_truths


def used_features(model):
    return {condition.variable for rule in model.rules_.rules for condition in rule.conditions}


def threshold_bags(n_bags=40, n_features=3, seed=0, sizes=(2, 6)):
    """Return bags and labels: whether some instance has x1 above 8."""
    rng = np.random.RandomState(seed)
    bags = [rng.uniform(0, 10, size=(rng.randint(*sizes), n_features)) for _ in range(n_bags)]
    return bags, np.array([int(bag[:, 0].max() > 8) for bag in bags])


def chosen(bags, labels, **settings):
    return RuleClassifier(random_state=0, **settings).fit(bags, labels)


# ---------------------------------------------------------------------- planted truths


KINDS = ["some", "pair", "either", "both", "count", "most", "size", "all", "triple"]


@pytest.mark.parametrize("kind", KINDS)
def test_planted_truths_are_found(kind):
    bags, unseen = make_planted(kind, 200, random_state=0), make_planted(kind, 400, random_state=1000)
    model = RuleClassifier(random_state=0).fit(bags)
    assert model.score(unseen) >= 0.95
    true = set(PLANTED[kind].features)
    needed = 2 if kind in ("either", "both") else 1
    strongest, others = model.rules_.rules[:needed], model.rules_.rules[needed:]  # they are sorted
    assert {condition.variable for rule in strongest for condition in rule.conditions} == true
    # Noise may add a weak rule in some samples, see below.
    assert len(others) <= 1
    assert all(abs(rule.coefs[0][0]) < 0.25 * abs(strongest[0].coefs[0][0]) for rule in others)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_mostly_nothing_but_the_true_features_is_used(kind):
    samples = [make_planted(kind, 200, random_state=seed) for seed in range(5)]
    found = [used_features(RuleClassifier(random_state=0).fit(bags)) for bags in samples]
    assert all(features >= set(PLANTED[kind].features) for features in found)
    assert sum(features == set(PLANTED[kind].features) for features in found) >= 4


def test_the_rules_say_the_truth():
    text = {kind: str(chosen(make_planted(kind, 200, random_state=0), None).rules_) for kind in ("count", "size")}
    assert "AT LEAST 3 A is high THEN y +=" in text["count"]
    assert "AT LEAST 8 instances THEN y +=" in text["size"]
    pair = chosen(make_planted("pair", 200, random_state=0), None).rules_
    assert "SOME (A is high AND B is medium) THEN y +=" in str(pair)
    high, medium = pair.variables[0].terms["high"], pair.variables[1].terms["medium"]
    assert high.center == pytest.approx(7, abs=0.5)
    assert medium.center - medium.width == pytest.approx(3, abs=0.5)
    assert medium.center + medium.width == pytest.approx(5, abs=0.5)


def test_the_threshold_of_a_share_is_found_between_the_quantiles():
    bags = make_planted("most", 400, random_state=5)
    assert abs(np.median(bags.instances[:, 0]) - 5) > 0.1
    rules = chosen(bags, None).rules_
    assert rules.n_rules == 1
    assert "IF ON AVERAGE A is high THEN y +=" in str(rules)
    assert rules.variables[0].terms["high"].center == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize(("n_features", "max_conditions", "n_rules"), [(1, None, 3), (5, None, 1), (5, 1, 1)])
def test_an_interval_of_one_feature_is_one_condition(n_features, max_conditions, n_rules):
    def bags_of(n_bags, seed):
        rng = np.random.RandomState(seed)
        bags = [rng.uniform(0, 10, size=(rng.randint(2, 9), n_features)) for _ in range(n_bags)]
        return bags, np.array([int(((bag[:, 0] > 4.5) & (bag[:, 0] < 5.5)).any()) for bag in bags])

    model = chosen(*bags_of(300, 1), max_conditions=max_conditions)
    assert {len(rule.conditions) for rule in model.rules_.rules} == {1}
    assert model.rules_.n_rules <= n_rules
    assert model.score(*bags_of(500, 99)) > 0.98


def test_both_needed_and_either_suffices_read_differently():
    both, either = (chosen(make_planted(kind, 200, random_state=0), None).rules_ for kind in ("both", "either"))
    assert "IF SOME A is high AND SOME B is high THEN y +=" in str(both)
    assert both.n_rules == 1
    assert either.n_rules == 2
    assert either.default[0] < 0 < either.default[0] + min(rule.coefs[0][0] for rule in either.rules)


def test_no_rule_is_idle():
    bags = make_planted("shift", 60, random_state=7)
    model = chosen(bags, None, max_rules=8)
    assert not model.rules_.diagnose(bags).of("never matters")
    assert not model.rules_.diagnose(bags).of("always fires")


def test_no_rule_says_the_same_twice():
    bags, labels = threshold_bags(60, seed=0)
    bags = [np.column_stack([bag, bag[:, :1], bag[:, :1]]) for bag in bags]  # copies tempt to use x1 twice
    for rule in chosen(bags, labels).rules_.rules:
        asked = [(condition.variable, condition.term) for condition in rule.conditions]
        assert len(asked) == len(set(asked))


@pytest.mark.parametrize("seed", range(3))
def test_noise_gives_few_rules(seed):
    bags = make_planted("some", 100, random_state=seed)
    labels = np.random.RandomState(seed).permutation(bags.labels)
    with pytest.warns(EvidenceWarning):
        model = chosen(bags, labels)
    assert model.frontier_[model.frontier_.chosen].support < 2
    assert model.frontier_.doubt


def test_without_anything_to_explain_there_is_one_rule_that_says_nothing():
    bags = [np.full((2, 3), 1.5) for _ in range(12)]
    with pytest.warns(EvidenceWarning, match="no rules are certainly better than none"):
        model = chosen(bags, np.arange(12) % 3 == 0)
    assert [len(rule.conditions) for rule in model.rules_.rules] == [0]
    np.testing.assert_allclose(model.predict_proba(bags)[:, 1], 1 / 3, atol=1e-3)


def test_the_same_seed_gives_the_same_rules():
    bags = make_planted("most", 80, n_noise=3, random_state=0)
    models = [RuleClassifier(random_state=seed).fit(bags) for seed in (3, 3)]
    assert models[0].rules_ == models[1].rules_
    assert models[0].frontier_ == models[1].frontier_


def test_an_order_of_bags_and_instances_does_not_change_what_is_found():
    bags = make_planted("pair", 150, n_noise=5, random_state=2)
    order = np.random.RandomState(0).permutation(150)
    turned = [bags[b][::-1] for b in order]
    one, other = chosen(bags, bags.labels), chosen(turned, bags.labels[order])
    # Not the same rules: the folds differ.
    assert np.mean(one.predict(bags)[order] == other.predict(turned)) > 0.98


def test_short_rules_describe_a_region_in_many_features():
    bags, unseen = (make_planted("prototype", 200, n_noise=0, random_state=seed) for seed in (0, 1000))
    model = chosen(bags, None)
    assert max(len(rule.conditions) for rule in model.rules_.rules) <= 3
    assert model.score(unseen) > 0.95


# ---------------------------------------------------------------------- the frontier


def test_the_frontier_has_every_size_and_what_held_out_bags_say():
    bags = make_planted("either", 150, n_noise=3, random_state=0)
    frontier = chosen(bags, None).frontier_
    numbers = [point.n_rules for point in frontier]
    assert numbers == sorted(set(numbers))
    assert numbers[:4] == [0, 1, 2, 3]
    assert frontier[frontier.chosen].n_rules == 2
    assert frontier[0].measures["AUC"].mean == 0.5
    assert frontier[2].measures["AUC"].mean > frontier[1].measures["AUC"].mean > 0.6
    assert "2 " in str(frontier)
    assert str(frontier).count("<- chosen") == 1
    assert len(frontier.shortened(4).split("\n")) == 5
    assert frontier.table()[2]["chosen"]
    assert frontier.evidence.startswith("Held-out AUC ")
    assert not frontier.doubt


def test_another_size_is_one_call_away():
    bags = make_planted("either", 150, n_noise=3, random_state=0)
    model = chosen(bags, None)
    one = model.at(1)
    assert one.rules_.n_rules == 1
    assert one.frontier_[one.frontier_.chosen].n_rules == 1
    assert one.score(bags) < model.score(bags)
    assert model.rules_.n_rules == 2  # as it was
    assert one.at(2).rules_ == model.rules_
    assert model.at(4).rules_.n_rules == 3  # the largest stored one
    assert model.at(0).rules_.n_rules == 1  # which says nothing
    for wrong in (-1, 2.5, "2"):
        with pytest.raises(ParameterError, match="n_rules"):
            model.at(wrong)


def test_points_of_the_frontier_are_points():
    bags = make_planted("either", 150, n_noise=3, random_state=0)
    model = chosen(bags, None, points=True)
    assert "points" in str(model.rules_) or "1 point" in str(model.rules_)
    assert model.at(1).rules_.unit is not None
    assert model.score(bags) > 0.95
    with pytest.raises(ParameterError, match="two classes"):
        chosen(bags, np.arange(150) % 3, points=True)


def test_groups_are_held_out_together():
    """A feature that only tells groups apart predicts nothing for a new group."""
    rng = np.random.RandomState(0)
    person = np.arange(120) // 6
    labels = rng.permutation(np.arange(20) % 2)[person]
    bags = [np.column_stack([rng.normal(size=5), np.full(5, p + rng.normal(scale=0.01))]) for p in person]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        apart, together = (
            RuleClassifier(random_state=0).fit(bags, labels, groups=groups).frontier_ for groups in (None, person)
        )
    assert max(point.support for point in apart) > 1 + max(point.support for point in together)
    with pytest.raises(InputError, match="groups must have one entry for each of the 120 bags"):
        RuleClassifier().fit(bags, labels, groups=person[:-1])


def test_processes_share_the_folds():
    bags = make_planted("pair", 80, n_noise=1, random_state=0)
    alone, shared = (chosen(bags, None, max_rules=2, n_jobs=n_jobs) for n_jobs in (None, 2))
    assert alone.frontier_ == shared.frontier_


# ---------------------------------------------------------------------- bounds


@pytest.mark.parametrize("n_rules", [1, 2, 4])
def test_n_rules_is_a_bound(n_rules):
    bags = make_planted("shift", 120, n_noise=3, random_state=0)
    assert chosen(bags, None).rules_.n_rules > 1
    assert chosen(bags, None, max_rules=n_rules).rules_.n_rules <= n_rules


def test_a_single_rule_is_one_that_says_something():
    bags = make_planted("prototype", 150, n_noise=0, random_state=0)
    (rule,) = chosen(bags, None, max_rules=1).rules_.rules
    assert rule.conditions


@pytest.mark.parametrize("max_conditions", [1, 2, 3])
def test_max_terms_is_a_bound(max_conditions):
    bags = make_planted("triple", 200, n_noise=3, random_state=0)
    model = chosen(bags, None, max_conditions=max_conditions)
    assert max(len(rule.conditions) for rule in model.rules_.rules) <= max_conditions
    assert not model.rules_.normalize


# ---------------------------------------------------------------------- odd data


@pytest.mark.parametrize(
    "change",
    [
        lambda x: np.column_stack([x, np.full(len(x), 0.1)]),
        lambda x: np.column_stack([x, x]),
        lambda x: x * 1e-9,
        lambda x: x * 1e9,
        lambda x: x * 1e100,
        lambda x: x + 1e6,
        lambda x: x * np.array([1, 1e-9, 1e9]),
        lambda x: x[:, :1],
    ],
    ids=["constant", "twice", "1e-9", "1e9", "1e100", "far away", "scales", "one feature"],
)
def test_features_of_any_kind(change):
    bags, labels = threshold_bags(60)
    model = chosen([change(bag) for bag in bags], labels)
    assert model.score([change(bag) for bag in bags], labels) == 1
    assert used_features(model) <= {"x1", "x4"}  # x4 may be the same as x1
    unseen, truth = threshold_bags(200, seed=1)
    assert model.score([change(bag) for bag in unseen], truth) > 0.95


def test_binary_features():
    rng = np.random.RandomState(0)
    bags = [rng.randint(2, size=(rng.randint(1, 5), 4)).astype(float) for _ in range(120)]
    labels = np.array([int(np.any((bag[:, 0] == 1) & (bag[:, 2] == 0))) for bag in bags])
    model = chosen(bags, labels)
    assert model.score(bags, labels) == 1
    assert used_features(model) == {"x1", "x3"}


def test_bags_of_one_instance():
    bags, labels = threshold_bags(100, sizes=(1, 2))
    assert chosen(bags, labels).score(bags, labels) > 0.97


def test_very_many_bags_of_which_few_are_positive():
    """Candidates are compared on a sample that keeps rare classes; probabilities are those of all bags."""
    rng = np.random.RandomState(0)
    values = rng.uniform(0, 10, size=(12_000, 3))
    labels = (values[:, 1] > 9.95).astype(int)
    assert 30 < labels.sum() < 90
    bags = Bags(values, np.arange(12_001), labels=labels)
    model = RuleClassifier(random_state=0).fit(bags)
    assert used_features(model) == {"x2"}
    assert model.score(bags) > 0.998
    assert model.predict_proba(bags)[:, 1].mean() == pytest.approx(labels.mean(), rel=0.1)


@pytest.mark.parametrize("share", [0.01, 0.03, 0.05, 0.1])
def test_a_rare_class_is_found_by_what_makes_it(share):
    def bags_of(n_bags, seed):
        rng = np.random.RandomState(seed)
        bags = [rng.uniform(0, 10, size=(rng.randint(2, 8), 4)) * [0.8, 1, 1, 1] for _ in range(n_bags)]
        labels = (rng.uniform(size=n_bags) < share).astype(int)
        for bag in np.flatnonzero(labels):
            bags[bag][0, 0] = rng.uniform(8.3, 10)
        return bags, labels

    model = chosen(*bags_of(1000, 1))
    assert used_features(model) == {"x1"}
    assert model.rules_.n_rules == 1
    assert model.rules_.parts[0].quantifier == "some"
    assert np.abs(model.rules_.coefs).max() < 20  # not as certain as a fit that diverges
    assert model.score(*bags_of(2000, 2)) > 0.995


@pytest.mark.parametrize("n_bags", [2, 3, 4, 9, 10, 11])
def test_few_bags(n_bags):
    bags, _ = threshold_bags(n_bags)
    labels = np.arange(n_bags) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        model = chosen(bags, labels)
    assert np.isfinite(model.predict_proba(bags)).all()
    assert bool(model.frontier_.n_folds) == (n_bags >= 10)  # fewer cannot be held out


def test_a_class_of_one_bag():
    bags, labels = threshold_bags(60)
    alone = np.zeros(60, int)
    alone[7] = 1
    assert np.isfinite(chosen(bags, alone).decision_function(bags)).all()
    three = np.where(np.arange(60) == 7, 2, labels)
    model = chosen(bags, three)
    assert model.frontier_.n_folds  # the other classes can be held out
    assert model.score(bags, three) > 0.9


def test_three_classes():
    bags, labels = threshold_bags(150)
    three = np.where([bag[:, 1].max() > 8 for bag in bags], 2, labels)
    model = chosen(bags, three)
    assert model.classes_.tolist() == [0, 1, 2]
    assert used_features(model) == {"x1", "x2"}
    np.testing.assert_allclose(model.predict_proba(bags).sum(axis=1), 1)
    assert model.score(bags, three) > 0.95


def test_missing_values():
    bags, labels = threshold_bags(200)
    rng = np.random.RandomState(0)
    holes = [np.where(rng.uniform(size=bag.shape) < 0.1, np.nan, bag) for bag in bags]
    holes = [np.column_stack([bag, np.full(len(bag), np.nan)]) for bag in holes]
    model = chosen(holes, labels, missing="ignore")
    assert model.score(holes, labels) > 0.8  # a missing value could be above 8
    assert used_features(model) <= {"x1", "x2", "x3"}
    whole = [np.column_stack([bag, np.zeros(len(bag))]) for bag in bags]
    assert model.score(whole, labels) > 0.85


# ---------------------------------------------------------------------- weights


def test_bags_of_weight_zero_do_not_count():
    bags, labels = threshold_bags(80)
    weights = np.repeat([1.0, 0.0], 40)
    wrong = np.where(weights > 0, labels, 1 - labels)
    model = RuleClassifier(random_state=0).fit(bags, wrong, sample_weight=weights)
    assert model.score(bags, labels) > 0.9
    alone = RuleClassifier(random_state=0).fit(bags[:40], labels[:40])
    np.testing.assert_allclose(model.predict_proba(bags), alone.predict_proba(bags), atol=1e-6)


def test_a_class_without_weight():
    bags, labels = threshold_bags(30)
    with pytest.warns(EvidenceWarning):
        model = RuleClassifier(random_state=0).fit(bags, labels, sample_weight=1.0 - labels)
    assert not model.predict(bags).any()


def test_weights_are_about_repetitions():
    bags, labels = threshold_bags(100)
    weights = np.random.RandomState(0).randint(1, 4, size=100)
    again = np.repeat(np.arange(100), weights)
    by_weight = RuleClassifier(random_state=0).fit(bags, labels, sample_weight=weights)
    repeated = RuleClassifier(random_state=0).fit([bags[n] for n in again], labels[again])
    unseen, _ = threshold_bags(300, seed=5)
    # Not the same rules: the folds differ, and a bag can be in several of them.
    one, other = (model.predict_proba(unseen)[:, 1] for model in (by_weight, repeated))
    assert np.mean((one > 0.5) == (other > 0.5)) > 0.97
    np.testing.assert_allclose(one.mean(), other.mean(), atol=0.03)


def test_class_weights_move_the_default():
    bags, labels = threshold_bags(100)
    noisy = np.where(np.random.RandomState(0).uniform(size=100) < 0.2, 1 - labels, labels)
    heavy = chosen(bags, noisy, class_weight={0: 1, 1: 5})
    assert heavy.predict_proba(bags)[:, 1].mean() > chosen(bags, noisy).predict_proba(bags)[:, 1].mean() + 0.1


# ---------------------------------------------------------------------- numbers


def test_numbers():
    bags, _ = threshold_bags(120)
    target = np.array([1000 + 50 * (bag[:, 0].max() > 7) for bag in bags], float)
    model = RuleRegressor(random_state=0).fit(bags, target)
    assert model.score(bags, target) > 0.9
    assert used_features(model) == {"x1"}
    assert model.rules_.default[0] == pytest.approx(1000, abs=5)


@pytest.mark.parametrize("number", [np.max, np.mean, np.min])
def test_numbers_are_not_drawn_to_their_mean(number):
    bags, _ = threshold_bags(150)
    unseen, _ = threshold_bags(300, seed=1)
    model = RuleRegressor(random_state=0).fit(bags, [number(bag[:, 0]) for bag in bags])
    wanted = np.array([number(bag[:, 0]) for bag in unseen])
    assert model.score(unseen, wanted) > 0.95
    assert np.polyfit(model.predict(unseen), wanted, 1)[0] == pytest.approx(1, abs=0.07)


def test_two_numbers():
    bags, _ = threshold_bags(120)
    target = np.array([[bag[:, 0].max(), 1e6 * bag[:, 1].mean()] for bag in bags])
    model = RuleRegressor(random_state=0).fit(bags, target)
    assert model.predict(bags).shape == (120, 2)
    assert model.score(bags, target) > 0.85
    assert used_features(model) == {"x1", "x2"}


def test_numbers_that_are_mostly_equal():
    bags, _ = threshold_bags(60)
    target = np.zeros(60)
    with pytest.warns(EvidenceWarning):
        assert RuleRegressor(random_state=0).fit(bags, target + 7).predict(bags) == pytest.approx(np.full(60, 7.0))
    target[:6] = [-1, 1, 2, 3, 4, 5]
    with pytest.warns(EvidenceWarning):
        model = RuleRegressor(random_state=0).fit(bags, target)
    assert model.frontier_.n_folds  # was compared on held-out bags
    assert model.rules_.n_rules <= 3


# ---------------------------------------------------------------------- names and units


def test_feature_names_and_units():
    bags = make_planted("some", 100, n_noise=2, random_state=0)
    renamed = Bags(bags.instances, bags.offsets, feature_names=["page views", "größe", "c", "d"])
    model = chosen(renamed, bags.labels)
    assert used_features(model) == {"page views"}
    (variable,) = [variable for variable in model.rules_.variables if variable.name == "page views"]
    assert list(variable.terms) == ["high"]
    assert variable.terms["high"].center == pytest.approx(9, abs=0.3)
    assert 0 <= variable.low < variable.high <= 10


# ---------------------------------------------------------------------- large bags


def test_every_instance_counts_and_no_bag_is_left_out(monkeypatch):
    rng = np.random.RandomState(0)
    bags = [rng.uniform(0, 10, size=(300, 4)) for _ in range(60)]
    labels = np.arange(60) % 2
    for bag, label in zip(bags, labels, strict=True):
        bag[:, 0] = np.minimum(bag[:, 0], 9.5)
        bag[rng.randint(300), 0] += 2 * label  # a single instance of 300 may decide
        bag[:, 0] = np.where(bag[:, 0] > 9.5, 10 + label, bag[:, 0])
    packed = Bags.from_list(bags)
    monkeypatch.setattr(pool, "MOST_SEARCHED", 2_000)
    thin = pool.thinned(packed)
    assert thin.n_bags == 60
    assert thin.n_instances < 3_000
    np.testing.assert_array_equal([bag.max(axis=0) for bag in thin], [bag.max(axis=0) for bag in packed])
    np.testing.assert_array_equal([bag.min(axis=0) for bag in thin], [bag.min(axis=0) for bag in packed])
    monkeypatch.setattr(pool, "_AT_ONCE", 1_000)  # evaluated in parts, with the same result
    problem = pool.Problem(packed, labels[:, None], labels[:, None], np.ones(60), True)
    premises = [(Part("some", None, (Condition(0, (Sigmoid(9.8, 5.0),)), Condition(1, (Sigmoid(3.0, -5.0),)))),)]
    np.testing.assert_allclose(problem.truths(premises), premise_truths(premises, packed))

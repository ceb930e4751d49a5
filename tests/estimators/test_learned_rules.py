"""The rules of a fitted network: in the user's units, and where training started."""

import numpy as np
import pytest
from small_fits import (
    BAGS,
    CENTERS,
    NUMBERS,
    WIDTHS,
    Y,
    classifier,
    mean_squared_error,
    mixed_rules,
    regressor,
)

from fuzzymil import RuleBase

# ---------------------------------------------------------------------- rules in the user's units


@pytest.mark.slow
def test_units_of_features_change_the_rules_and_nothing_else():
    scale, shift = np.array([1000.0, 0.001]), np.array([1e6, -5.0])
    moved = BAGS.map_instances(lambda x: x * scale + shift)
    for order in (0, 1):
        settings = {"order": order, "precision": "double", "max_epochs": 20}
        here, there = classifier(**settings).fit(BAGS, Y), classifier(**settings).fit(moved, Y)
        np.testing.assert_allclose(there.decision_function(moved), here.decision_function(BAGS), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(there.rules_.centers, here.rules_.centers * scale + shift, rtol=1e-7)
        np.testing.assert_allclose(there.rules_.widths, here.rules_.widths * scale, rtol=1e-6)
        if order == 1:
            slopes, moved_slopes = (model.rules_.coefs[:, 0, 1:] for model in (here, there))
            np.testing.assert_allclose(moved_slopes, slopes / scale, rtol=1e-5, atol=1e-12)


@pytest.mark.slow
def test_units_of_the_target_change_the_conclusions_and_nothing_else():
    for order in (0, 1):
        settings = {"order": order, "precision": "double", "max_epochs": 20}
        here = regressor(**settings).fit(BAGS, NUMBERS)
        there = regressor(**settings).fit(BAGS, 1e6 + 1000 * NUMBERS)
        np.testing.assert_allclose(there.predict(BAGS), 1e6 + 1000 * here.predict(BAGS), rtol=1e-9)
        np.testing.assert_allclose(there.rules_.centers, here.rules_.centers, rtol=1e-6)
        np.testing.assert_allclose(
            there.rules_.coefs[:, 0, 0], 1e6 + 1000 * here.rules_.coefs[:, 0, 0], rtol=1e-7, atol=1e-3
        )


@pytest.mark.parametrize("standardize", [True, False])
def test_the_rules_say_what_the_model_says(standardize):
    model = classifier(standardize=standardize).fit(BAGS, Y)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-12)
    low, high = BAGS.instances.min(axis=0), BAGS.instances.max(axis=0)
    assert (model.rules_.centers > low - 1).all()
    assert (model.rules_.centers < high + 1).all()
    assert [v.low for v in model.rules_.variables] == low.tolist()
    assert str(model.rules_).count("THEN y =") == 3


def test_values_outside_the_range_of_training_count_as_its_end():
    model = classifier(clip=1.0).fit(BAGS, Y)
    mean, deviation = BAGS.instances.mean(axis=0), BAGS.instances.std(axis=0)
    limited = BAGS.map_instances(lambda x: np.clip(x, mean - deviation, mean + deviation))
    np.testing.assert_allclose(model.decision_function(limited), model.decision_function(BAGS), rtol=1e-12)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-12)
    np.testing.assert_allclose(model.history_["loss"][0], mean_squared_error(model.initial_rules_, BAGS, Y), rtol=1e-4)
    far = [np.array([[1e9, -1e9]]), np.array([[mean[0] + deviation[0], mean[1] - deviation[1]]])]
    np.testing.assert_allclose(*model.decision_function(far), rtol=1e-12)
    free = classifier(clip=None).fit(BAGS, Y)
    assert not np.allclose(free.decision_function(limited), free.decision_function(BAGS))
    wide = classifier(clip=100.0).fit(BAGS, Y)  # even then nothing beyond what was seen
    np.testing.assert_allclose(*wide.decision_function([[[1e9, 1.0]], [[BAGS.instances[:, 0].max(), 1.0]]]), rtol=1e-12)


@pytest.mark.slow
def test_members_are_averaged_best_first():
    model = classifier(n_estimators=3, init="random").fit(BAGS, Y)
    assert len(model.members_) == 3
    assert model.rules_ is model.members_[0]
    outputs = np.array([rules.infer(BAGS).output[:, 0] for rules in model.members_])
    np.testing.assert_allclose(model.decision_function(BAGS), outputs.mean(axis=0) - 0.5, rtol=1e-12)
    losses = [mean_squared_error(rules, BAGS, Y) for rules in model.members_]
    assert losses == sorted(losses)
    assert len(set(losses)) == 3
    both = classifier(n_estimators=2, n_init=2, init="random").fit(BAGS, Y)
    assert len(both.members_) == 2
    assert not np.allclose(both.members_[0].centers, both.members_[1].centers)


@pytest.mark.slow
def test_of_several_restarts_the_least_loss_is_kept():
    losses = []
    for n_init in range(1, 5):  # the first starts of more restarts are those of fewer
        model = classifier(n_init=n_init, init="random").fit(BAGS, Y)
        losses.append(mean_squared_error(model.rules_, BAGS, Y))
        assert len(model.members_) == 1
    assert (np.diff(losses) <= 1e-7).all()
    assert losses[-1] < losses[0]
    seen = []  # a callback sees the loss before an epoch's step, so the sixth row is what five epochs end with
    again = classifier(n_init=4, init="random", max_epochs=6, callbacks=[lambda now: seen.append(now.loss)])
    again.fit(BAGS, Y)
    columns = np.array(seen)
    assert columns.shape == (6, 4)
    matching = np.flatnonzero((columns[:5] == model.history_["loss"][:, None]).all(axis=0))
    assert matching.tolist() == [columns[5].argmin()]


def test_shapes_of_initial_rules_and_history():
    model = classifier(max_epochs=7, n_init=2).fit(BAGS, Y)
    assert model.initial_rules_.n_rules == model.rules_.n_rules == 3
    assert model.initial_rules_.coefs.shape == model.rules_.coefs.shape
    assert set(model.history_) == {"loss", "rmse", "change"}
    assert all(len(values) == 7 and np.isfinite(values).all() for values in model.history_.values())
    assert model.n_iter_ == 7
    np.testing.assert_allclose(model.history_["rmse"] ** 2, model.history_["loss"], rtol=1e-5)
    untrained = classifier(max_epochs=0).fit(BAGS, Y)
    assert len(untrained.history_["loss"]) == 0
    np.testing.assert_allclose(untrained.rules_.centers, untrained.initial_rules_.centers, rtol=1e-6)
    np.testing.assert_allclose(untrained.initial_rules_.centers, model.initial_rules_.centers, rtol=0.5)
    outputs = classifier(max_epochs=0, init_outputs="ones").fit(BAGS, Y).initial_rules_.coefs
    np.testing.assert_array_equal(outputs, np.ones((3, 1, 1)))
    assert not np.allclose(model.initial_rules_.coefs, 1)


# ---------------------------------------------------------------------- where rules start


@pytest.mark.parametrize("init", ["fcm", "kmeans", "random", "grid"])
@pytest.mark.parametrize("init_bags", ["positive", "balanced", "all"])
def test_partitions_start_inside_the_data(init, init_bags):
    model = classifier(init=init, init_bags=init_bags, max_epochs=1).fit(BAGS, Y)
    centers = model.initial_rules_.centers
    assert centers.shape == (3, 2)
    assert (centers >= BAGS.instances.min(axis=0)).all()
    assert (centers <= BAGS.instances.max(axis=0)).all()
    assert len(np.unique(centers.round(6), axis=0)) == 3
    if init != "grid":  # whose widths follow from the distances of its lines
        expected = np.broadcast_to(0.6 * 2**0.5 * BAGS.instances.std(0), (3, 2))
        np.testing.assert_allclose(model.initial_rules_.widths, expected)
    wide = classifier(init=init, init_bags=init_bags, init_width=2.0, max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(wide.initial_rules_.widths, np.broadcast_to(2 * BAGS.instances.std(0), (3, 2)))


def test_given_centers_and_widths_are_in_the_users_units():
    model = classifier(init=CENTERS, max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.centers, CENTERS, rtol=1e-12)
    model = classifier(init=(CENTERS, WIDTHS), max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.centers, CENTERS, rtol=1e-12)
    np.testing.assert_allclose(model.initial_rules_.widths, WIDTHS, rtol=1e-12)
    model = classifier(init=(CENTERS.tolist(), 0.25), max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.widths, 0.25, rtol=1e-12)
    assert classifier(n_rules=9, init=CENTERS).fit(BAGS, Y).rules_.n_rules == 3  # as many as were given


@pytest.mark.parametrize("standardize", [True, False])
def test_given_rules_are_refined(standardize):
    rules = mixed_rules()
    model = classifier(init=rules, standardize=standardize, max_epochs=30).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-9)
    assert [set(rule.antecedent) for rule in model.rules_.rules] == [set(rule.antecedent) for rule in rules.rules]
    assert model.rules_.coefs.shape == (4, 1, 3)
    assert model.rules_.alpha == 3.0
    np.testing.assert_allclose(model.rules_.conclusion_alpha, 2.0)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    np.testing.assert_allclose(
        model.history_["loss"][0], mean_squared_error(RuleBase.from_dict(rules.to_dict()), BAGS, Y), rtol=1e-4
    )
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-9)
    numbers = regressor(init=rules, standardize=standardize).fit(BAGS, NUMBERS)
    np.testing.assert_allclose(numbers.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-7)


def test_given_rules_of_constant_conclusions_can_become_linear():
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5])
    model = classifier(init=rules, order=1, max_epochs=20).fit(BAGS, Y)
    assert model.rules_.coefs.shape == (3, 1, 3)
    assert np.abs(model.rules_.coefs[:, :, 1:]).max() > 0
    np.testing.assert_allclose(model.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-9)


def test_a_fitted_models_rules_start_another():
    first = classifier(max_epochs=20).fit(BAGS, Y)
    second = classifier(init=first.rules_, max_epochs=0).fit(BAGS, Y)
    np.testing.assert_allclose(second.decision_function(BAGS), first.decision_function(BAGS), rtol=1e-4, atol=1e-5)


def test_given_rules_are_matched_with_the_features_by_name():
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5], feature_names=["depth", "width"])
    try:
        model = classifier(init=rules, max_epochs=0).fit(named, Y)
    except ValueError:  # refusing rules over features in another order is as good
        return
    np.testing.assert_allclose(model.rules_.infer(named).output, rules.infer(named).output, rtol=1e-5)


def test_given_rules_over_features_the_bags_do_not_have_are_refused():
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5], feature_names=["weight", "depth"])
    with pytest.raises(ValueError, match="weight"):
        classifier(init=rules, max_epochs=0).fit(named, Y)

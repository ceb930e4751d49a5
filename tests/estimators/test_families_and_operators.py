"""Every family and operator learns, missing values and double precision too."""

import numpy as np
import pytest
from small_fits import BAGS, CENTERS, WIDTHS, Y, arrays_of, classifier, mean_squared_error, mixed_rules

from fuzzymil import RuleBase
from fuzzymil.inference.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.inference.membership import learnable_families
from fuzzymil.inference.norms import T_NORMS
from fuzzymil.rules import Rule


def variants():
    for family in learnable_families():
        yield pytest.param({"membership": family}, id=family)
    for name in sorted(T_NORMS.keys() - {"drastic", "nilpotent"}):  # zero almost everywhere: no gradient to learn by
        yield pytest.param({"t_norm": name}, id=f"t-norm {name}")
    for name in AGGREGATIONS:
        yield pytest.param({"aggregation": name, "alpha": 2.0}, id=f"aggregation {name}")
    for name in COMBINERS:
        yield pytest.param(
            {"conclusion_aggregation": name, "order": 1, "conclusion_alpha": 2.0}, id=f"conclusion_aggregation {name}"
        )
    for alpha in (0.0, np.inf, -np.inf, -3.0):
        yield pytest.param({"alpha": alpha}, id=f"alpha {alpha}")
    yield pytest.param({"normalize": False}, id="not normalized")
    yield pytest.param({"order": 1, "conclusion_alpha": np.inf}, id="greatest response")
    yield pytest.param({"order": 1, "learn_alpha": True}, id="alphas learned")
    yield pytest.param({"width_scale": "direct"}, id="direct widths")
    yield pytest.param({"update_rule": "paper"}, id="printed gradients")
    yield pytest.param({"precision": "double", "order": 1}, id="double")


@pytest.mark.slow
@pytest.mark.parametrize("settings", list(variants()))
def test_every_family_and_operator_learns_and_says_what_it_was_trained_on(settings):
    model = classifier(init=(CENTERS, 2 * WIDTHS), max_epochs=25, **settings).fit(BAGS, Y)
    loss = model.history_["loss"]
    assert np.isfinite(loss).all()
    assert loss.min() < loss[0]
    # Training in standardized 32 bit and inference in the user's units see one and the same network.
    np.testing.assert_allclose(loss[0], mean_squared_error(model.initial_rules_, BAGS, Y), rtol=1e-4)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-12)
    # Given rules have sets of their own; those that are not normalized are taken for a scorecard.
    kept = {name: value for name, value in settings.items() if name != "membership"} | {"loss": "squared_error"}
    after = classifier(init=model.rules_, max_epochs=1, **kept).fit(BAGS, Y)
    np.testing.assert_allclose(after.history_["loss"][0], mean_squared_error(model.rules_, BAGS, Y), rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{}, {"order": 1}, {"membership": "bell", "t_norm": "min"}], ids=str)
def test_missing_values_fit_every_set_on_request(settings):
    gappy = BAGS.map_instances(lambda x: np.where(np.arange(x.size).reshape(x.shape) % 7 == 3, np.nan, x))
    model = classifier(missing="ignore", max_epochs=10, **settings).fit(gappy, Y)
    assert np.isfinite(model.decision_function(gappy)).all()
    np.testing.assert_allclose(model.history_["loss"][0], mean_squared_error(model.initial_rules_, gappy, Y), rtol=1e-4)
    np.testing.assert_array_equal(model.predict(BAGS), model.predict(arrays_of(BAGS)))
    if "order" in settings:
        return
    # A feature that is missing everywhere is one that no rule asks for.
    blind = BAGS.map_instances(lambda x: np.column_stack([x[:, 0], np.full(len(x), np.nan)]))
    rules = model.rules_
    without = RuleBase(
        rules.variables,
        tuple(Rule({"x1": rule.antecedent["x1"]}, rule.coefs) for rule in rules.rules),
        t_norm=rules.t_norm,
        alpha=rules.alpha,
    )
    np.testing.assert_allclose(model.decision_function(blind), without.infer(BAGS).output[:, 0] - 0.5, rtol=1e-12)


@pytest.mark.slow
def test_missing_values_in_given_linear_rules_with_conditions_left_out():
    gappy = BAGS.map_instances(lambda x: np.where(np.arange(x.size).reshape(x.shape) % 7 == 3, np.nan, x))
    model = classifier(missing="ignore", init=mixed_rules(), max_epochs=1).fit(gappy, Y)
    np.testing.assert_allclose(model.initial_rules_.infer(gappy).output, mixed_rules().infer(gappy).output, rtol=1e-9)
    np.testing.assert_allclose(model.history_["loss"][0], mean_squared_error(mixed_rules(), gappy, Y), rtol=1e-4)


@pytest.mark.slow
def test_a_feature_that_is_always_missing_or_constant_is_left_out_of_the_rules():
    wider = BAGS.map_instances(lambda x: np.column_stack([x, np.full(len(x), np.nan), np.full(len(x), 7.0)]))
    model = classifier(missing="ignore").fit(wider, Y)
    assert all(set(rule.antecedent) == {"x1", "x2"} for rule in model.rules_.rules)
    np.testing.assert_allclose(
        model.decision_function(wider), classifier().fit(BAGS, Y).decision_function(BAGS), rtol=1e-4, atol=1e-5
    )


def test_double_precision_is_more_precise_and_close_to_single():
    single = classifier(max_epochs=30).fit(BAGS, Y)
    double = classifier(max_epochs=30, precision="double").fit(BAGS, Y)
    np.testing.assert_allclose(double.decision_function(BAGS), single.decision_function(BAGS), atol=2e-3)
    assert not np.array_equal(double.rules_.centers.astype(np.float32), double.rules_.centers)
    first = classifier(precision="double", max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(first.history_["loss"][0], mean_squared_error(first.initial_rules_, BAGS, Y), rtol=1e-12)

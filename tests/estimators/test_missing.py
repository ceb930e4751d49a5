"""Missing values in fits: every treatment, in training, prediction and files."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from fuzzymil import ANFISRegressor, Bags, MIANFISClassifier, NaiveMIL, RuleBase, RuleClassifier, Training, load_model
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags.statistics import fill_missing, typical_values
from fuzzymil.comparators import CitationKNN, standardized
from fuzzymil.datasets import make_planted
from fuzzymil.inference.membership import Bell, Missing, Sigmoid
from fuzzymil.learn.choose.candidates import Condition, MissingValues, MovableConditions, Part


def punched(bags, share, seed=0):
    rng = np.random.default_rng(seed)
    return bags.map_instances(lambda x: np.where(rng.random(x.shape) < share, np.nan, x))


BAGS = make_planted("pair", n_bags=60, n_noise=1, random_state=0)
HOLES = punched(BAGS, 0.2)


@pytest.mark.parametrize("missing", ["ignore", "average", "median", "condition"])
def test_chosen_rules_answer_for_gaps_and_remember_how(missing, tmp_path):
    model = RuleClassifier(missing=missing, random_state=0).fit(HOLES)
    assert model.score(HOLES) > 0.7
    count = {"ignore": 0, "average": 10}.get(missing, 1)
    assert {len(variable.missing_values) for variable in model.rules_.variables} == {count}
    model.save(tmp_path / "model.json")
    for again in (load_model(tmp_path / "model.json"), model.with_rules(RuleBase.parse(model.rules_.to_source()))):
        np.testing.assert_allclose(again.predict_proba(HOLES), model.predict_proba(HOLES))
    # What the choice of rules computed is what the rules compute.
    assert model.loss_ == pytest.approx(
        -np.mean(np.log(model.predict_proba(HOLES)[np.arange(60), HOLES.labels])), rel=1e-6
    )


@pytest.mark.parametrize("missing", ["average", "median"])
def test_networks_train_on_what_gaps_stand_for(missing):
    model = MIANFISClassifier(3, order=1, missing=missing, training=Training(max_epochs=3), random_state=0).fit(HOLES)
    found = typical_values(HOLES, 10 if missing == "average" else 1)
    np.testing.assert_allclose([v.missing_values for v in model.rules_.variables], found.T, rtol=1e-5)
    # Training in standardized 32 bit and inference in the user's units see one and the same network.
    output = model.initial_rules_.infer(HOLES).output[:, 0]
    assert model.history_["loss"][0] == pytest.approx(np.mean(np.square(output - HOLES.labels)), rel=1e-4)
    if missing == "median":  # the same as filling them in beforehand
        plain = MIANFISClassifier(3, order=1, missing="ignore", training=Training(max_epochs=3), random_state=0)
        complete = fill_missing(HOLES, found[0])
        np.testing.assert_allclose(model.predict_proba(HOLES), model.predict_proba(complete), rtol=1e-6)
        assert plain.fit(complete).rules_.variables[0].missing_values == ()


def test_given_rules_keep_what_they_say_about_gaps():
    rules = RuleBase.parse(
        "VARIABLE A MISSING AS 7: high = Sigmoid(7, 2)\nVARIABLE B: low = Sigmoid(4, -2)\n"
        "VARIABLE noise1: any = Bell(5, 9, 2)\n"
        "IF A is high AND B is low THEN y = 1\nIF noise1 is any THEN y = 0"
    )
    model = MIANFISClassifier(init=rules, missing="median", training=Training(max_epochs=2), random_state=0).fit(HOLES)
    assert model.rules_.variables[0].missing_values == (7.0,)
    assert model.rules_.variables[1].missing_values == pytest.approx((np.nanmedian(HOLES.instances[:, 1]),))


def test_rules_find_out_that_a_value_is_missing():
    rng = np.random.default_rng(1)
    labels = np.arange(80) % 2
    x = rng.normal(size=(240, 2))
    x[np.arange(240) % 3 == 0, 1] = np.where(labels, np.nan, x[np.arange(240) % 3 == 0, 1])
    bags = Bags(x, np.arange(0, 241, 3), labels=labels, feature_names=["pulse", "lactate"])
    model = RuleClassifier(missing="condition", random_state=0).fit(bags)
    assert "lactate is missing" in str(model.rules_) or "lactate is not missing" in str(model.rules_)
    assert model.score(bags) == 1.0
    assert "is missing" not in str(RuleClassifier(missing="average", random_state=0).fit(bags).rules_)


def test_treatments_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"of bag .*missing='median'"):
        RuleClassifier(missing="error").fit(HOLES)
    with pytest.raises(ParameterError, match=r"'condition'.*average"):
        MIANFISClassifier(missing="condition", alpha=2.0).fit(HOLES)
    with pytest.raises(ParameterError, match="missing"):
        RuleClassifier(missing="mean").fit(HOLES)


def test_plain_rows_with_gaps_are_fitted_too():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    target = rows[:, 0].copy()
    rows[::5, 1] = np.nan
    model = ANFISRegressor(3, missing="median", training=Training(max_epochs=50), random_state=0).fit(rows, target)
    assert np.isfinite(model.predict([[0.3, np.nan]])).all()


@pytest.mark.parametrize("make", [CitationKNN, lambda: NaiveMIL(LogisticRegression())])
def test_others_fill_gaps_with_the_medians_of_the_training_bags(make):
    train, test = HOLES[:40], HOLES[40:]
    medians = typical_values(train, 1)[0]
    found = make().fit(train, train.labels).decision_function(test)
    expected = make().fit(fill_missing(train, medians), train.labels).decision_function(fill_missing(test, medians))
    np.testing.assert_allclose(found, expected)
    assert standardized(make()).fit(train, train.labels).predict(test).shape == (20,)


# ---------------------------------------------------------------------- candidates

PREMISES = [
    (Part("some", None, (Condition(0, (Sigmoid(5.0, 1.0),)),)),),
    (Part("at least", 2, (Condition(1, (Sigmoid(4.0, -2.0),)),)),),
    (Part("on average", None, (Condition(2, (Sigmoid(5.0, 0.7),)),)),),
    (Part("some", None, (Condition(0, (Bell(5.0, 2.0, 2.0),)), Condition(1, (Missing(),)))),),
    (Part("some", None, (Condition(0, (Missing(),), negated=True), Condition(2, (Sigmoid(3.0, 1.0),)))),),
]


@pytest.mark.parametrize("count", [1, 10])
def test_candidates_and_their_slopes_see_gaps_as_the_rules_will(count):
    missing = MissingValues(typical_values(HOLES, count), True)
    movable = MovableConditions(PREMISES, HOLES, missing)
    rng = np.random.RandomState(0)
    moves = 0.2 * rng.normal(size=movable.n_moves)
    truth, pullback = movable.evaluate(moves)
    weights = rng.normal(size=truth.shape)
    slopes = pullback(weights)
    for place in range(movable.n_moves):
        step = np.zeros_like(moves)
        step[place] = 1e-6
        apart = (movable.evaluate(moves + step)[0] - movable.evaluate(moves - step)[0]) / 2e-6
        assert slopes[place] == pytest.approx(float((weights * apart).sum()), abs=1e-5)

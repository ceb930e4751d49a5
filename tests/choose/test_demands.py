"""What people demand of chosen rules: signs, allowed features, rules that must be in; and how often rules come back."""

import numpy as np
import pytest

from fuzzymil import Bags, Constraints, ParameterError, RuleBase, RuleClassifier, RuleRegressor, load_model
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.datasets import make_planted

MINE = """
VARIABLE A [m]: high = Sigmoid(8, 3)
VARIABLE noise1: medium = Gaussian(5, 1)
Mine: IF A is high THEN y += 1                                      # as everybody knows
IF NOT SOME noise1 is very medium OR MOST A is not high THEN y += 1
"""


def planted(kind="both", n_bags=80, seed=0):
    return make_planted(kind, n_bags=n_bags, n_noise=2, random_state=seed)


def fitted(bags, *args, **settings):
    return RuleClassifier(**{"max_rules": 4, "cv": 3, "random_state": 0} | settings).fit(bags, *args)


def raised(bags, feature, by):
    """The bags with greater values of a feature in some of the instances."""
    instances = bags.instances.copy()
    instances[::2, feature] += by
    return Bags(instances, bags.offsets, feature_names=bags.feature_names)


# ---------------------------------------------------------------------- signs


@pytest.mark.parametrize("learner", [RuleClassifier, RuleRegressor])
def test_the_output_keeps_the_signs(learner):
    """The truth is a hill in x, falls in y and has two needs in z."""
    rng = np.random.RandomState(0)
    bags = Bags.from_list([rng.normal(size=(rng.randint(1, 6), 3)) for _ in range(90)], feature_names=["x", "y", "z"])
    score = np.array([(-2 * np.abs(bag[:, 0]) - bag[:, 1]).max() + abs(bag[:, 2].mean()) for bag in bags])
    labels = (score > np.median(score)).astype(int) if learner is RuleClassifier else score
    free = learner(8, cv=2, random_state=0).fit(bags, labels).at(8)
    signs = {"x": 1, "y": -1, "z": 0}
    bound = learner(8, cv=2, random_state=0, constraints={"signs": signs}).fit(bags, labels)
    for size in (2, 3, 8):
        model = bound.at(size)
        output = model.rules_.infer(bags).output
        assert np.ptp(output) > 0.5
        assert "z" not in model.used_features_
        for feature, sign in ((0, 1), (1, -1)):
            for by in (0.1, 0.7, 3.0):
                change = sign * (model.rules_.infer(raised(bags, feature, by)).output - output)
                assert change.min() >= -1e-9
    assert (free.rules_.infer(raised(bags, 0, 3.0)).output - free.rules_.infer(bags).output).min() < 0


# ---------------------------------------------------------------------- rules that must be in


def test_given_rules_are_in_every_rule_base_as_they_were_written():
    bags, given = planted(), RuleBase.parse(MINE)
    model = fitted(bags, rules=MINE)
    assert [point.size for point in model.frontier_] == [0, 2, 3, 4]
    for point in model.frontier_.points[1:]:
        first, second = point.rules.rules[:2]
        assert (first.label, first.comment) == ("Mine", "as everybody knows")
        assert second.premise == given.rules[1].premise
        assert point.rules.variables[0].terms["high"] == given.variables[0].terms["high"]
        assert point.rules.variables[0].unit == "m"
        assert point.recurrence[:2] == (1.0, 1.0)
    chosen = model.rules_
    assert chosen.n_rules > 2
    assert model.score(bags) > 0.95
    # Conclusions are fitted: a rule base that keeps those of the person is worse.
    assert RuleBase.parse(chosen.to_source()).infer(bags).output == pytest.approx(chosen.infer(bags).output)


def test_a_rule_without_quantifier_means_some():
    bags = planted("some")
    plain = fitted(bags, rules="VARIABLE A: high = Sigmoid(8, 3)\nIF A is high THEN y += 1", max_rules=1)
    some = fitted(bags, rules="VARIABLE A: high = Sigmoid(8, 3)\nIF SOME A is high THEN y += 1", max_rules=1)
    assert plain.rules_ == some.rules_
    assert plain.rules_.coefs[0, 0, 0] > 1.5


def test_rules_of_a_model_start_another_one():
    bags = planted()
    before = fitted(bags[:40])
    after = fitted(bags[40:], rules=before.rules_)
    assert {rule.premise for rule in before.rules_.rules} <= {rule.premise for rule in after.rules_.rules}


def test_a_rule_that_never_fires_stays_and_concludes_nothing():
    bags = planted("some")
    text = "VARIABLE A: never = Sigmoid(1000, 3)\nIF A is never THEN y += 1"
    model = fitted(bags, rules=text)
    assert model.rules_.coefs[0, 0, 0] == pytest.approx(0.0, abs=1e-6)
    assert model.rules_.rules[0].conditions[0].term == "never"
    points = fitted(bags, rules=text, points=True).rules_
    assert points.rules[0].conditions[0].term == "never"
    assert points.coefs[0, 0, 0] == 0


def test_fewer_rules_than_must_be_in_are_refused():
    model = fitted(planted(), rules=MINE)
    with pytest.raises(ParameterError, match="2 rules must be in"):
        model.at(1)


def test_several_classes_and_numbers():
    bags = planted("either")
    both = (bags.labels + (bags.instances[bags.offsets[:-1], 2] > 5)).astype(int)
    text = "VARIABLE A: high = Sigmoid(8, 3)\nIF A is high THEN class_0 = 0, class_1 = 0, class_2 = 0"
    assert fitted(bags, both, rules=text).rules_.coefs[0].any()
    number = RuleRegressor(3, cv=2, random_state=0, rules="VARIABLE A: high = Sigmoid(8, 3)\nIF A is high THEN y += 1")
    found = number.fit(bags, [100 + 50 * bag[:, 0].max() for bag in bags]).rules_
    assert found.coefs[0, 0, 0] > 20


# ---------------------------------------------------------------------- features, missing values, files


def shops():
    rng = np.random.RandomState(0)
    values = np.column_stack([rng.randint(0, 3, 300), rng.normal(size=300), rng.normal(size=300)]).astype(float)
    columns = Columns([Column("kind", "category", ("a", "b", "c")), Column("x"), Column("y")])
    bags = Bags(values, range(0, 301, 3), columns=columns)
    labels = np.array([int((bag[:, 0] == 1).any() and bag[:, 1].max() > 0.3) for bag in bags])
    values[::11, 1] = np.nan
    return Bags(values, range(0, 301, 3), columns=columns), labels


def test_only_allowed_features_are_asked(tmp_path):
    bags, labels = shops()
    model = fitted(bags, labels, constraints=Constraints(features=["x"]))
    assert model.used_features_ == ("x",)
    assert model.n_features_in_ == 3
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.constraints == model.constraints
    assert again.frontier_.table() == model.frontier_.table()
    assert (again.predict(bags) == model.predict(bags)).all()


def test_given_rules_about_categories_and_missing_values(tmp_path):
    bags, labels = shops()
    text = "VARIABLE kind: ONE OF a, b, c\nVARIABLE x: high = Sigmoid(0.3, 9)\nIF kind is b AND x is high THEN y += 1"
    model = fitted(bags, labels, rules=text)
    assert model.rules_.rules[0].conditions[0].term == "b"
    assert model.score(bags, labels) > 0.8
    model.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").rules == text


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"constraints": {"signs": {"Z": 1}}}, "'Z'"),
        ({"constraints": {"features": ["Z"]}}, "'Z'"),
        ({"constraints": {"features": "A"}}, "a list of names"),
        ({"constraints": {"features": ["A"], "signs": {"B": 1}}}, "'B'"),
        ({"constraints": {"signs": {"A": 0, "B": 0, "noise1": 0, "noise2": 0}}}, "no feature"),
        ({"constraints": {"signs": True}}, "by feature"),
        ({"constraints": {"ordered": True}}, "ordered"),
        ({"constraints": {"signs": {"noise1": 1}}, "rules": MINE}, "rule 2"),
        ({"constraints": {"features": ["A"]}, "rules": MINE}, "'noise1' in rule 2"),
        ({"rules": MINE, "max_rules": 1}, "max_rules=1"),
        ({"rules": MINE.replace("noise1", "loudness")}, "'loudness' in rule 2"),
        ({"rules": MINE + "USING t_norm = min"}, "min"),
        ({"rules": "VARIABLE A: high = Sigmoid(8, 3)\nIF A is high THEN y = 1, z = 2"}, r"2 output\(s\) \(y, z\)"),
        ({"rules": "VARIABLE A: high = Sigmoid(8, 3)\nIF A is high THEN y = 1 + 2 * A"}, "linear"),
        ({"rules": 5}, "RuleBase"),
        ({"rules": "IF A is high"}, "Line 1"),
    ],
)
def test_demands_that_cannot_apply_are_refused_by_name(settings, word):
    with pytest.raises(ParameterError, match=word):
        fitted(planted(n_bags=20), **settings)


def test_signs_need_an_order_and_one_score():
    bags, labels = shops()
    with pytest.raises(ParameterError, match="'kind' has categories"):
        fitted(bags, labels, constraints={"signs": {"kind": 1}})
    with pytest.raises(ParameterError, match="3 classes"):
        fitted(bags, np.arange(100) % 3, constraints={"signs": {"x": 1}})


# ---------------------------------------------------------------------- how often rules come back


def test_a_true_rule_comes_back_in_every_search_and_one_by_chance_does_not():
    bags = planted("both", n_bags=100)
    assert fitted(bags).frontier_.points[1].recurrence == (1.0,)
    noise = Bags(np.random.RandomState(0).normal(size=(300, 6)), range(0, 301, 3))
    with pytest.warns(UserWarning, match="held-out"):
        model = fitted(noise, np.arange(100) % 2, max_rules=5)
    last = model.frontier_.points[-1]
    assert len(last.recurrence) == last.rules.n_rules
    assert np.mean(last.recurrence) < 0.7
    assert model.frontier_.table()[-1]["recurrence"] == pytest.approx(np.mean(last.recurrence))

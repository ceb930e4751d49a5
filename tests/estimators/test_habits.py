"""What people do with scikit-learn's tools and bags."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fuzzymil import Bags, LabeledInstances, PerInstance, RuleClassifier, cross_val_scores
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import make_planted
from fuzzymil.estimators import cross_validate

BAGS = make_planted("some", n_bags=40, n_noise=0, random_state=0)
TABLE = pd.DataFrame(
    {
        "visit": np.repeat(np.arange(24), 2),
        "bought": np.repeat(np.arange(24) // 2 % 2, 2),
        "person": np.repeat([f"p{n}" for n in np.arange(24) // 2], 2),
        "pages": np.arange(48.0) % 7,
        "seconds": np.arange(48.0) % 5,
        "channel": np.tile(["email", "phone", "email"], 16),
    }
)


@pytest.fixture(scope="module")
def fitted():
    return RuleClassifier(random_state=0).fit(BAGS)


@pytest.mark.parametrize(
    "use",
    [
        lambda model: make_pipeline(StandardScaler(), model).fit(BAGS, BAGS.labels),
        lambda model: BaggingClassifier(model).fit(BAGS, BAGS.labels),
        lambda model: permutation_importance(model, BAGS, BAGS.labels),
        lambda model: partial_dependence(model, BAGS, [0]),
    ],
)
def test_what_needs_a_table_says_so_in_one_sentence(use, fitted):
    with pytest.raises((TypeError, IndexError), match=r"bags .*PerInstance.*NaiveMIL.*n_estimators"):
        use(fitted)


def test_bags_of_one_instance_are_a_table():
    single = Bags.from_list([bag[:1] for bag in BAGS])
    assert np.asarray(single).shape == (40, BAGS.n_features)


def test_thresholds_can_be_tuned():
    tuned = TunedThresholdClassifierCV(RuleClassifier(random_state=0), cv=2).fit(BAGS, BAGS.labels)
    assert 0 < tuned.best_threshold_ < 1
    assert tuned.predict(BAGS).shape == (40,)


def test_weights_of_classes_move_the_decision():
    rng = np.random.RandomState(0)
    noisy = np.where(rng.random_sample(40) < 0.25, 1 - BAGS.labels, BAGS.labels)
    counts = [
        RuleClassifier(class_weight={0: 1, 1: weight}, random_state=0).fit(BAGS, noisy).predict(BAGS).sum()
        for weight in (0.1, 1, 10)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_columns_are_transformed_by_name():
    bags = Bags.from_frame(TABLE, "visit", "bought", drop=["person"])
    chosen = ColumnTransformer([("scaled", StandardScaler(), ["pages"]), ("kind", OneHotEncoder(), ["channel"])])
    step = PerInstance(chosen)
    found = step.fit_transform(bags)
    assert found.feature_names == ("scaled__pages", "kind__channel_email", "kind__channel_phone")
    assert step.get_feature_names_out().tolist() == list(found.feature_names)
    np.testing.assert_allclose(found.instances[:, 0].mean(), 0, atol=1e-12)
    assert make_pipeline(step, RuleClassifier(random_state=0)).fit(bags, bags.labels).predict(bags).shape == (24,)


def test_frames_as_output_of_the_transformer_leave_bags_bags():
    step = PerInstance(StandardScaler()).set_output(transform="pandas")
    found = step.fit_transform(Bags.from_frame(TABLE, "visit", "bought", features=["pages", "seconds"]))
    assert isinstance(found, Bags)
    assert found.feature_names == ("pages", "seconds")
    assert step.get_feature_names_out().tolist() == ["pages", "seconds"]


def test_bags_of_one_group_stay_together():
    bags = Bags.from_frame(TABLE, "visit", "bought", keep=["person"])
    assert "person" not in bags.feature_names
    assert bags[[3]].per_bag("person").tolist() == ["p1"]
    for folds in cross_validate([RuleClassifier(random_state=0)], bags, cv=3, groups="person"):
        for fold in folds:
            people = bags.per_bag("person")
            assert not set(people[fold.train]) & set(people[fold.test])
    scores = cross_val_scores(RuleClassifier(random_state=0), bags, cv=3, groups=np.arange(24) // 2)
    assert scores["test_score"].shape == (3,)


def test_groups_that_are_no_groups_are_refused():
    bags = Bags.from_frame(TABLE, "visit", "bought", keep=["person"])
    with pytest.raises(InputError, match=r"'persons'.*Did you mean 'person'"):
        bags.per_bag("persons")
    with pytest.raises(InputError, match=r"20 folds .*12"):
        cross_val_scores(RuleClassifier(), bags, cv=20, groups="person")
    with pytest.raises(InputError, match=r"bag 0 .*'channel'"):
        Bags.from_frame(TABLE, "visit", "bought", keep=["channel", "person"]).per_bag("channel")
    with pytest.raises(InputError, match=r"'person'.*kept apart"):
        Bags.from_frame(TABLE, "visit", "bought", keep=["person"], categorical=["person"])


# ---------------------------------------------------------------------- labels of instances, features of bags


def test_labeled_instances_tell_what_bags_alone_do_not():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    labels = np.arange(20) % 2
    x[np.flatnonzero(np.repeat(labels, 3))[::3], :] += 4  # both features give positive bags away
    known = np.full(60, np.nan)
    alone = rng.normal(size=(60, 2))
    alone[:, 1] += 4  # but single instances with a high second feature are negative
    bags = Bags(np.vstack([x, alone]), np.arange(0, 121, 3), labels=np.r_[labels, np.zeros(20, int)])
    known = np.r_[known, np.zeros(60)]
    labeled = Bags(bags.instances, bags.offsets, labels=bags.labels, instance_labels=known)
    model = LabeledInstances(RuleClassifier(random_state=0), weight=0.5).fit(labeled)
    assert model.predict([[[0.0, 4.0]]]).tolist() == [0]
    assert model.predict_proba(labeled).shape == (40, 2)
    assert model.score(labeled) > 0.9
    scores = cross_val_scores(LabeledInstances(RuleClassifier(random_state=0)), labeled, cv=2)
    assert scores["test_score"].shape == (2,)


def test_labels_of_instances_must_be_there():
    with pytest.raises(InputError, match="instance_labels"):
        LabeledInstances(RuleClassifier()).fit(Bags.from_list([[[0.0]], [[1.0]]], labels=[0, 1]))
    table = TABLE.assign(hot=[1.0, None] * 24)
    bags = Bags.from_frame(table, "visit", "bought", instance_label="hot", drop=["person"])
    assert "hot" not in bags.feature_names
    assert np.isnan(bags.instance_labels).sum() == 24


def test_features_of_bags_stand_beside_those_of_instances():
    rng = np.random.default_rng(0)
    x, age = rng.uniform(0, 10, size=(240, 1)), rng.uniform(20, 60, size=80)
    offsets = np.arange(0, 241, 3)
    labels = ((np.maximum.reduceat(x[:, 0], offsets[:-1]) > 7) & (age > 40)).astype(int)
    bags = Bags(x, offsets, labels=labels, feature_names=["pages"])
    wider = bags.with_bag_features(pd.DataFrame({"age": age}))
    assert wider.feature_names == ("pages", "age")
    model = RuleClassifier(random_state=0).fit(wider)
    assert model.score(wider) > 0.95
    assert {each.variable for rule in model.rules_.rules for each in rule.conditions} >= {"pages", "age"}
    with pytest.raises(InputError, match=r"80 bags .*79"):
        bags.with_bag_features(age[:-1, None])

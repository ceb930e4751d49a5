"""Importance: what shuffling a feature and leaving out a rule cost, for every kind of model."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score, roc_auc_score

from fuzzymil import (
    Bags,
    MIMamdani,
    MISugeno,
    RuleBase,
    RuleClassifier,
    RuleRegressor,
    load_model,
)
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags import BagStream
from fuzzymil.datasets import make_planted
from fuzzymil.explain import FeatureImportance, Importance

RULES = RuleBase.parse("""
    VARIABLE hue FROM 0 TO 1: blue = Sigmoid(0.6, 30)
    VARIABLE size FROM 0 TO 1: large = Sigmoid(0.7, 30)
    VARIABLE noise FROM 0 TO 1: loud = Sigmoid(0.5, 30)
    Default: sky = -3
    IF SOME hue is blue THEN sky += 5
    IF SOME size is large THEN sky += 1
""")


def some_bags(n_bags=60, seed=0):
    """Bags that are sky if some instance is blue."""
    rng = np.random.default_rng(seed)
    parts = [rng.uniform(0, 1, (int(size), 3)) for size in rng.integers(1, 4, n_bags)]
    labels = [bool((part[:, 0] > 0.6).any()) for part in parts]
    return Bags.from_list(parts, ["hue", "size", "noise"], labels=labels)


BAGS = some_bags()
NORMALIZED = RuleBase.from_arrays(
    [[0.3, 0.5, 0.5], [0.8, 0.5, 0.5]], [[0.15, 9, 9]] * 2, [0, 1], feature_names=BAGS.feature_names, aggregation="max"
)
MAMDANI = """
    VARIABLE hue FROM 0 TO 1: red = Sigmoid(0.6, -30), blue = Sigmoid(0.6, 30)
    OUTPUT sky FROM 0 TO 1: low = Triangular(0, 0, 1), high = Triangular(0, 1, 1)
    IF hue is blue THEN sky is high
    IF hue is red THEN sky is low WITH 0.5
"""


def expert(**settings):
    return MISugeno(rules=RULES, threshold=0.0, **settings).fit(BAGS)


@pytest.fixture(scope="module")
def found():
    return expert().importance(BAGS)


def test_what_a_label_depends_on_is_important(found):
    hue, size, noise = (next(each for each in found.features if each.name == name) for name in ("hue", "size", "noise"))
    assert found.features[0] == hue
    assert hue.drop > 0.2 > hue.std > 0
    assert size.drop == pytest.approx(0, abs=0.02)
    assert (noise.used, noise.drop, noise.std) == (False, 0.0, 0.0)
    assert found.features[-1] == noise


def test_a_rule_is_as_important_as_the_score_drops_without_it(found):
    model = expert()
    for each in found.rules:
        without = model.with_rules(model.rules_.edit(weights={each.rule + 1: 0}))
        assert each.drop == pytest.approx(model.score(BAGS) - without.score(BAGS))
        assert each.text in ("SOME hue is blue", "SOME size is large")
    assert found.rules[0].rule == 0
    assert found.score == model.score(BAGS)


@pytest.mark.parametrize(
    "model",
    [
        MISugeno(rules=RULES, threshold=0.0),
        MIMamdani(rules=MAMDANI),
        MISugeno(rules=NORMALIZED),
        RuleClassifier(n_estimators=2, random_state=0),
    ],
    ids=["additive", "mamdani", "normalized", "committee"],
)
def test_every_kind_of_classifier(model):
    fitted = model.fit(BAGS)
    found = fitted.importance(BAGS, n_repeats=3)
    assert len(found.rules) == sum(rules.n_rules for rules in fitted.members_)
    assert found.features[0].name == "hue"
    first = next(each for each in found.rules if (each.member, each.rule) == (0, 0))
    members = [rules.edit(weights={1: 0}) if m == 0 else rules for m, rules in enumerate(fitted.members_)]
    output = np.mean([np.asarray(rules.infer(BAGS).output) for rules in members], axis=0)
    expected = found.score - accuracy_score(BAGS.labels, fitted._labels_of(output))
    assert first.drop == pytest.approx(expected)


def test_numbers_and_several_targets():
    y = np.maximum.reduceat(BAGS.instances[:, 1], BAGS.offsets[:-1])
    model = RuleRegressor(random_state=0).fit(BAGS[::2], y[::2])
    found = model.importance(BAGS[1::2], y[1::2])
    assert found.score_name == "R²"
    assert found.score == pytest.approx(r2_score(y[1::2], model.predict(BAGS[1::2])))
    assert found.features[0].name == "size"
    assert found.features[0].drop > 0.5
    both = np.column_stack([y, -y])
    model = RuleRegressor(random_state=0).fit(BAGS, both)
    assert model.importance(BAGS, both, n_repeats=2).features[0].name == "size"


def test_any_score_can_be_measured():
    model = expert()
    found = model.importance(BAGS, scoring="roc_auc", n_repeats=2)
    assert found.score == pytest.approx(roc_auc_score(BAGS.labels, model.decision_function(BAGS)))
    assert model.importance(BAGS, scoring="neg_log_loss", n_repeats=2).score_name == "neg log loss"
    with pytest.raises(ValueError, match="rocauc"):
        model.importance(BAGS, scoring="rocauc")


def test_several_classes():
    labels = np.where(BAGS.labels, "sky", np.where(BAGS.sizes > 2, "sea", "land"))
    model = RuleClassifier(random_state=0).fit(BAGS, labels)
    found = model.importance(BAGS, labels, scoring="roc_auc_ovr", n_repeats=3)
    assert found.features[0].name == "hue"


def test_the_result_does_not_depend_on_chance(found):
    assert expert().importance(BAGS) == found
    assert expert().importance(BAGS, random_state=1) != found


def test_a_feature_of_the_whole_bag_is_shuffled_over_bags():
    """Shuffled over instances, large bags would nearly always get some instance with the value."""
    rules = RuleBase.parse(
        "VARIABLE age FROM 0 TO 1: old = Sigmoid(0.5, 50)  Default: y = -1  IF SOME age is old THEN y += 2"
    )
    sizes = np.array([1, 9] * 20)
    ages = np.arange(40) % 4 > 1
    bags = Bags.from_list(
        [np.full((n, 1), float(old)) for n, old in zip(sizes, ages, strict=True)], ["age"], labels=ages
    )
    found = MISugeno(rules=rules, threshold=0.0).fit(bags).importance(bags, n_repeats=100)
    assert found.score == 1.0
    assert found.features[0].drop == pytest.approx(0.5, abs=0.03)  # a coin


def test_training_bags_are_recognized(tmp_path):
    model = RuleClassifier(random_state=0).fit(BAGS[::2])
    model.save(tmp_path / "model.json")
    for each in (model, load_model(tmp_path / "model.json")):
        seen = each.importance(BAGS[::2], n_repeats=1)
        assert seen.n_training == 30
        assert "which are the training bags" in seen.basis
        assert "held out" in str(seen)
        some = each.importance(BAGS[:10], n_repeats=1)
        assert some.n_training == 5
        assert "5 of the training bags" in some.basis
        fresh = each.importance(BAGS[1::2], n_repeats=1)
        assert fresh.n_training == 0
        assert "not trained on" in fresh.basis
        assert "held out" not in str(fresh)
    assert "If the model was trained on them" in expert().importance(BAGS, n_repeats=1).basis


def test_models_of_earlier_files_do_not_know_their_training_bags(tmp_path):
    model = RuleClassifier(random_state=0).fit(BAGS)
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    del document["coverage"]["prints"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    assert load_model(tmp_path / "model.json").importance(BAGS, n_repeats=1).n_training is None


def test_tables_dictionaries_and_frames(found):
    text = str(found)
    assert "Accuracy" in text
    assert "1 feature that no rule uses" in text
    assert "SOME hue is blue" in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["features"][0]["name"] == "hue"
    assert plain["basis"] == found.basis
    frame = found.to_frame()
    assert list(frame["name"]) == [each.name for each in found.features]
    assert found.to_frame("rules", "polars")["drop"].to_list() == [each.drop for each in found.rules]
    assert repr(found) == f"Importance(accuracy {found.score:.3f}, 2 features in use, 2 rules)"
    page = found._repr_html_()
    assert page.count("<tr>") == 2 + 2 + 2
    for wrong in ({"what": "bags"}, {"library": "dask"}):
        with pytest.raises(ParameterError):
            found.to_frame(**wrong)


def test_long_tables_are_cut():
    many = tuple(FeatureImportance(f"x{n}", 0.1, 0.1, used=True) for n in range(30))
    assert "10 more features" in str(Importance("accuracy", 0.9, many, (), 40, 10, 0))


def test_missing_values_are_shuffled_with_the_others():
    instances = np.array(BAGS.instances)
    instances[::5, 0] = np.nan
    holes = Bags(instances, BAGS.offsets, feature_names=BAGS.feature_names, labels=BAGS.labels)
    found = expert(missing="ignore").importance(holes, n_repeats=3)
    assert found.features[0].name == "hue"


def test_mistakes():
    model = expert()
    with pytest.raises(ParameterError, match=r"n_repeats.*got 0"):
        model.importance(BAGS, n_repeats=0)
    with pytest.raises(InputError, match="stream"):
        model.importance(BagStream(lambda part: BAGS, 1))
    with pytest.raises(InputError, match="label"):
        model.importance(Bags(BAGS.instances, BAGS.offsets, feature_names=BAGS.feature_names))


def test_folds_are_averaged():
    bags = make_planted("some", n_bags=60, n_noise=2, random_state=0)
    parts = [RuleClassifier(random_state=0).fit(bags[n::2]).importance(bags[1 - n :: 2], n_repeats=2) for n in (0, 1)]
    found = Importance.over_folds(parts)
    name = found.features[0].name
    drops = [next(each.drop for each in part.features if each.name == name) for part in parts]
    assert found.features[0].drop == pytest.approx(np.mean(drops))
    assert found.features[0].std == pytest.approx(np.std(drops, ddof=1))
    assert "2-fold cross-validation on 60 bags" in found.basis
    assert found.rules == ()


def test_a_drop_in_r2_above_one_is_explained():
    rng = np.random.default_rng(0)
    bags = Bags.from_list([[[float(x)]] for x in rng.uniform(0, 1, 40)], ["x"])
    rules = RuleBase.parse("""
        VARIABLE x: high = Sigmoid(0.5, 30)
        Default: y = 100
        IF SOME x is high THEN y -= 100
        IF SOME NOT x is high THEN y -= 99
    """)
    y = rules.infer(bags).output[:, 0]
    found = MISugeno(rules=rules, threshold=None).fit(bags).importance(bags, y)
    assert max(rule.drop for rule in found.rules) > 1
    assert "greater than 1" in found.to_text().replace("\n", " ")
    assert "greater than 1" not in expert().importance(BAGS).to_text()

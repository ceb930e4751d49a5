"""Effects of features, against a slow computation bag by bag."""

import json

import numpy as np
import pytest

from fuzzymil import Bags, MISugeno, RuleBase, RuleClassifier, RuleRegressor
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.estimators import SavedModel, model_to_dict

RULES = """
    VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1)
    VARIABLE stay FROM 0 TO 60: long = Sigmoid(30, 0.3)
    Default: yes = -2
    IF {quantifier} (pages is high AND stay is long) THEN yes += 4
"""


def some_bags(n_bags=40, seed=0):
    rng = np.random.default_rng(seed)
    parts = [rng.uniform(0, [20, 60], (int(size), 2)) for size in rng.integers(2, 6, n_bags)]
    return Bags.from_list(parts, ["pages", "stay"], labels=["yes", "no"] * (n_bags // 2))


BAGS = some_bags()


def model_of(quantifier):
    return MISugeno(rules=RULES.format(quantifier=quantifier), threshold=0.0).fit(BAGS)


def test_all_instances_have_the_value():
    model = model_of("SOME")
    found = model.effect(BAGS, "pages", n_points=7)
    (curve,) = found.curves
    assert (curve.name, curve.place, found.n_bags) == ("yes", 1, 40)
    for n, value in enumerate(found.values):
        changed = [part.copy() for part in BAGS]
        for part in changed:
            part[:, 0] = value
        likely = model.predict_proba(Bags.from_list(changed, BAGS.feature_names))[:, 1]
        assert curve.all_instances[n] == pytest.approx(likely.mean())
        assert (curve.low[n], curve.high[n]) == pytest.approx(np.quantile(likely, [0.25, 0.75]))
    assert found.mean == pytest.approx((model.predict_proba(BAGS)[:, 1].mean(),))


def test_one_instance_matters_if_some_suffices_and_less_if_all_have_to():
    some, every = (model_of(word).effect(BAGS, "pages") for word in ("SOME", "ALL"))
    assert np.ptp(some.curves[0].one_instance) > 3 * np.ptp(every.curves[0].one_instance)
    single = Bags.from_list([part[:1] for part in BAGS], BAGS.feature_names, labels=BAGS.labels)
    alone = model_of("SOME").effect(single, "pages").curves[0]
    np.testing.assert_allclose(alone.one_instance, alone.all_instances)


def test_the_range_leaves_out_outliers():
    instances = np.array(BAGS.instances)
    instances[0, 0] = 1e6
    found = model_of("SOME").effect(Bags(instances, BAGS.offsets, feature_names=BAGS.feature_names), 0)
    assert found.values[-1] < 21
    assert found.counts.sum() == len(instances) - 1 or found.counts.sum() < len(instances)


def test_any_class_can_be_shown():
    model = model_of("SOME")
    yes, no = (model.effect(BAGS, "pages", pos_label=name).curves[0] for name in ("yes", "no"))
    np.testing.assert_allclose(yes.all_instances + no.all_instances, 1)
    assert (yes.place, no.place) == (1, 0)
    centers, widths = [[5, 10], [10, 30], [15, 50]], np.full((3, 2), 9.0)
    rules = RuleBase.from_arrays(
        centers, widths, np.eye(3)[:, :, None], feature_names=["pages", "stay"], output_names=["a", "b", "c"]
    )
    several = MISugeno(rules=rules).fit(BAGS, np.array(["a", "b", "c"])[np.arange(40) % 3])
    found = several.effect(BAGS, "stay", n_points=5)
    assert [curve.name for curve in found.curves] == ["a", "b", "c"]
    np.testing.assert_allclose(sum(curve.all_instances for curve in found.curves), 1)
    assert several.effect(BAGS, "stay", pos_label="b").curves[0].place == 1


def test_numbers():
    y = np.maximum.reduceat(BAGS.instances[:, 0], BAGS.offsets[:-1])
    model = RuleRegressor(random_state=0).fit(BAGS, y)
    found = model.effect(BAGS, "pages")
    assert not found.classifies
    assert found.curves[0].name == model.rules_.output_names[0]
    assert found.curves[0].all_instances[-1] > found.curves[0].all_instances[0] + 5
    with pytest.raises(ParameterError, match="predicts numbers"):
        model.effect(BAGS, "pages", pos_label="yes")


def test_categories_are_tried_one_by_one():
    columns = Columns([Column("channel", "category", ("email", "phone", "support"))])
    rng = np.random.default_rng(0)
    bags = Bags(rng.integers(0, 3, (60, 1)).astype(float), np.arange(0, 61, 3), columns=columns)
    rules = RuleBase.parse(
        "VARIABLE channel: ONE OF email, phone, support Default: y = 0 IF SOME channel is support THEN y += 1"
    )
    found = MISugeno(rules=rules, threshold=None).fit(bags).effect(bags, "channel")
    assert found.shown == ["email", "phone", "support"]
    np.testing.assert_allclose(found.curves[0].all_instances, [0, 0, 1])
    assert found.counts.sum() == 60
    assert "support" in str(found)


def test_very_many_bags_are_sampled():
    many = Bags.concatenate([some_bags(seed=seed) for seed in range(10)])
    assert model_of("SOME").effect(many, "pages", n_points=2).n_bags == 300


def test_saved_networks_have_effects_too():
    model = RuleClassifier(random_state=0).fit(BAGS)
    saved = SavedModel.of(model_to_dict(model))
    expected = model.effect(BAGS, 0).curves[0].one_instance
    np.testing.assert_allclose(saved.effect(BAGS, 0).curves[0].one_instance, expected)


def test_text_and_dictionary():
    found = model_of("SOME").effect(BAGS, "pages", n_points=3)
    assert str(found).splitlines()[0] == "probability of yes"
    assert len(str(found).splitlines()) == 2 + 3
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["curves"][0]["name"] == "yes"
    assert len(plain["values"]) == 3
    assert repr(found) == "Effect('pages' on yes: 3 values, 40 bags)"


def test_mistakes():
    model = model_of("SOME")
    with pytest.raises(ParameterError, match=r"'page'.*Did you mean 'pages'"):
        model.effect(BAGS, "page")
    with pytest.raises(ParameterError, match="0 to 1"):
        model.effect(BAGS, 2)
    with pytest.raises(ParameterError, match=r"n_points.*got 1"):
        model.effect(BAGS, 0, n_points=1)
    with pytest.raises(ParameterError, match=r"'no', 'yes'.*'maybe'|no, yes.*'maybe'"):
        model.effect(BAGS, 0, pos_label="maybe")
    nothing = Bags(np.full((3, 2), np.nan), [0, 3], feature_names=BAGS.feature_names)
    with pytest.raises(InputError, match=r"'pages' are missing"):
        MISugeno(rules=RULES.format(quantifier="SOME"), threshold=0.0, missing="ignore").fit(BAGS).effect(nothing, 0)

"""MISugeno and its data: which features its rules read, and which classes they speak for."""

import numpy as np
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import r2_score
from sky import BAGS, INPUTS, LABELS, RULES

from fuzzymil import Bags, MISugeno
from fuzzymil._utils.errors import InputError
from fuzzymil.inference.membership import Gaussian

# ---------------------------------------------------------------------- features


def test_features_are_matched_by_name_and_further_ones_left_out():
    wide = BAGS.map_instances(lambda x: np.column_stack([x[:, 1], 7 + x[:, 0], x[:, 0]]), ["texture", "noise", "hue"])
    plain, named = MISugeno(INPUTS, RULES).fit(BAGS, LABELS), MISugeno(INPUTS, RULES).fit(wide, LABELS)
    assert named.n_features_in_ == 3
    assert named.feature_names_in_.tolist() == ["texture", "noise", "hue"]
    np.testing.assert_array_equal(named.infer(wide).output, plain.infer(BAGS).output)
    np.testing.assert_array_equal(named.decision_function(wide), plain.decision_function(BAGS))
    np.testing.assert_array_equal(named.instance_scores(wide), plain.instance_scores(BAGS))
    explained = named.explain(wide, "a")
    assert explained.output == plain.explain(BAGS, "a").output
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        nameless = named.decision_function(wide.instances[:2].reshape(1, 2, 3))
    np.testing.assert_array_equal(nameless, plain.decision_function(BAGS[:1]))
    with pytest.warns(UserWarning, match="fitted without feature names"):
        by_place = plain.predict(BAGS.map_instances(lambda x: x, ["a", "b"]))
    assert by_place.tolist() == LABELS.tolist()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["hue", "texturr"], "no feature 'texture', which the rules use. Did you mean 'texturr'"),
        (["x1", "x2"], "no feature 'hue'"),
    ],
    ids=["misspelt", "others"],
)
def test_a_feature_that_the_data_lack_is_named(names, message):
    bags = BAGS.map_instances(lambda x: x, names)
    for use in (MISugeno(INPUTS, RULES).infer, MISugeno(INPUTS, RULES).fit):
        with pytest.raises(InputError, match=message):
            use(bags)


def test_without_names_the_number_of_features_must_fit():
    bags = BAGS.map_instances(lambda x: x[:, :1])
    for use in (MISugeno(INPUTS, RULES).infer, MISugeno(INPUTS, RULES).fit):
        with pytest.raises(InputError, match="X has 1 features, but these rules expect 2"):
            use(bags)


def test_other_features_than_in_fit_are_refused():
    model = MISugeno(INPUTS, RULES).fit(BAGS.map_instances(lambda x: x, ["hue", "texture"]))
    with pytest.raises(InputError, match="same order"):
        model.predict(BAGS.map_instances(lambda x: x, ["texture", "hue"]))


def test_missing_values_are_refused_or_fit_every_set():
    bags = [[[np.nan, 0.0]], [[0.1, 0.9]]]
    with pytest.raises(InputError, match=r"bag 0.*missing='ignore'"):
        MISugeno(INPUTS, RULES).infer(bags)
    with pytest.raises(InputError, match="bag 0"):
        MISugeno(INPUTS, RULES).fit(BAGS).predict(bags)
    model = MISugeno(INPUTS, RULES, missing="ignore")
    assert model.infer(bags).truth[0].tolist() == pytest.approx([1.0, 1 / (1 + np.exp(4.0))])
    assert model.fit(BAGS).predict(bags).tolist() == [1, 0]
    assert model.__sklearn_tags__().input_tags.allow_nan


# ---------------------------------------------------------------------- classes and numbers


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (LABELS, ["none", "sky"]),
        (["1", "0", "1", "0"], ["0", "1"]),
        ([True, False, True, False], [False, True]),
        ([3, -1, 3, -1], [-1, 3]),
        (LABELS.astype(object), ["none", "sky"]),
    ],
    ids=["text", "digits", "booleans", "numbers", "objects"],
)
def test_labels_come_back_as_they_were(labels, classes):
    model = MISugeno(INPUTS, RULES).fit(BAGS, labels)
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.classes_.tolist() == classes
    assert model.predict(BAGS).tolist() == list(labels)
    assert model.predict(BAGS).dtype == np.asarray(labels).dtype
    assert model.score(BAGS, labels) == 1.0
    likely = model.predict_proba(BAGS)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)
    np.testing.assert_array_equal(likely[:, 1] > 0.5, model.decision_function(BAGS) > 0)


def test_labels_may_be_the_bags_own_or_none():
    carried = Bags(BAGS.instances, BAGS.offsets, labels=LABELS)
    model = MISugeno(INPUTS, RULES).fit(carried)
    assert model.classes_.tolist() == ["none", "sky"]
    assert model.score(carried) == 1.0
    assert MISugeno(INPUTS, RULES).fit(BAGS).predict(BAGS).tolist() == [1, 0, 1, 0]


def test_the_threshold_moves_the_decision():
    score = MISugeno(INPUTS, RULES).fit(BAGS, LABELS).decision_function(BAGS) + 0.5
    model = MISugeno(INPUTS, RULES, threshold=0.9).fit(BAGS, LABELS)
    np.testing.assert_allclose(model.decision_function(BAGS), score - 0.9)
    assert model.predict(BAGS).tolist() == ["none"] * 4


def test_probabilities_are_the_outputs_limited():
    rules = ["IF hue is blue THEN sky = 1.5", "IF hue is red THEN sky = -0.5"]
    likely = MISugeno({"hue": INPUTS["hue"]}, rules).fit([[[0.6]], [[0.1]]]).predict_proba([[[0.6]], [[0.35]], [[0.1]]])
    np.testing.assert_allclose(likely, [[0, 1], [0.5, 0.5], [1, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b", "c", "a"], "One output .*two classes.* 3"),
        (["a", "a", "a", "a"], "1 .a.*bags of both"),
        ([0.5, 1.7, 2.2, 3.1], "(?i)continuous"),
        (["a", "b"], "4 bags but 2"),
        (["a", "b", 1, 2], "mix text and numbers"),
    ],
    ids=["three", "one", "continuous", "too few", "mixed"],
)
def test_labels_that_do_not_suit_the_rules_are_refused(labels, message):
    model = MISugeno(INPUTS, RULES)
    with pytest.raises(ValueError, match=message):
        model.fit(BAGS, labels)
    assert not hasattr(model, "rules_")


SURFACES = {"hue": {"green": Gaussian(0.3, 0.1), "blue": Gaussian(0.6, 0.1), "grey": Gaussian(0.9, 0.1)}}


def surfaces(*names):
    said = [", ".join(f"{name} = {int(name == own)}" for name in names) for own in names]
    rules = [f"IF hue is {term} THEN {row}" for term, row in zip(SURFACES["hue"], said, strict=False)]
    return MISugeno(SURFACES, rules)


def test_several_outputs_stand_for_the_classes_they_are_named_after():
    bags, labels = [[[0.3]], [[0.6], [0.59]], [[0.9]]], ["grass", "sky", "road"]
    model = surfaces("grass", "sky", "road").fit(bags, labels)
    assert model.classes_.tolist() == ["grass", "road", "sky"]
    assert model.rules_.output_names == ("grass", "road", "sky")
    assert model.predict(bags).tolist() == labels
    assert model.decision_function(bags).shape == model.predict_proba(bags).shape == (3, 3)
    assert model.instance_scores(bags).shape == (4, 3)
    np.testing.assert_allclose(model.decision_function(bags), model.infer(bags).output[:, [0, 2, 1]])
    assert [found.prediction for found in model.explain_many(bags)] == labels
    only_two = surfaces("grass", "sky", "road").fit(bags[:2], labels[:2])  # a fold without a class
    assert only_two.predict(bags).tolist() == labels
    assert surfaces("grass", "sky", "road").fit(bags).predict(bags).tolist() == labels  # no labels at all


def test_numbered_classes_are_named_class_1():
    bags = [[[0.3]], [[0.6]], [[0.9]]]
    model = surfaces("class_7", "class_1", "class_3").fit(bags, [7, 1, 3])
    assert model.predict(bags).tolist() == [7, 1, 3]


def test_two_outputs_for_two_classes_decide_by_their_difference():
    bags = [[[0.3]], [[0.6]], [[0.44]]]
    model = surfaces("sky", "grass").fit(bags[:2], ["sky", "grass"])
    output = model.infer(bags).output
    np.testing.assert_allclose(model.decision_function(bags), output[:, 0] - output[:, 1])
    assert model.predict(bags).tolist() == ["sky", "grass", "sky"]
    assert model.predict_proba(bags).shape == (3, 2)


@pytest.mark.parametrize(
    ("names", "labels", "message"),
    [
        (("grass", "sky"), ["grass", "sea"], "class sea; .*grass, sky"),
        (("class_0", "class_1", "class_2"), [0, 1], "output 'class_2'"),
    ],
    ids=["unknown class", "unknown output"],
)
def test_outputs_and_classes_must_agree(names, labels, message):
    with pytest.raises(InputError, match=message):
        surfaces(*names).fit([[[0.3]], [[0.6]]], labels)


def test_without_a_threshold_it_is_a_regressor():
    model = MISugeno(INPUTS, RULES, threshold=None)
    assert is_regressor(model)
    assert not is_classifier(model)
    truth = np.array([0.9, 0.2, 1.0, 0.1])
    model.fit(BAGS, truth)
    np.testing.assert_array_equal(model.predict(BAGS), model.infer(BAGS).output[:, 0])
    assert model.score(BAGS, truth) == pytest.approx(r2_score(truth, model.predict(BAGS)))
    assert model.instance_scores(BAGS).shape == (BAGS.n_instances,)
    for method in ("predict_proba", "decision_function", "classes_"):
        assert not hasattr(model, method)
    assert model.explain(BAGS, "a").classes is None
    both = surfaces("grass", "sky", "road").set_params(threshold=None).fit([[[0.3]]])
    assert both.predict([[[0.3]], [[0.4]]]).shape == (2, 3)
    with pytest.raises(ValueError, match="predicts numbers"):
        MISugeno(INPUTS, RULES, threshold=None).fit(BAGS, LABELS)


def test_a_classifier_that_becomes_a_regressor_forgets_its_classes():
    model = MISugeno(INPUTS, RULES).fit(BAGS, LABELS).set_params(threshold=None).fit(BAGS)
    assert not hasattr(model, "classes_")


# ---------------------------------------------------------------------- files


def test_columns_are_matched_by_name_also_after_a_fit_without_names():
    rules = (
        "VARIABLE x1: left = Gaussian(0.7, 0.2)\nVARIABLE x2: low = Gaussian(0.2, 0.4)\n"
        "IF x1 is left THEN y = 1\nIF x2 is low THEN y = 0"
    )
    values = np.array([[0.5, 1.3], [1.4, 0.2]])
    turned = Bags.from_list([values[:, ::-1]], feature_names=["x2", "x1"])
    model = MISugeno(rules=rules, threshold=None).fit([values])
    with pytest.warns(UserWarning, match="without feature names"):
        np.testing.assert_array_equal(model.predict(turned), model.infer([values]).output[:, 0])
    strangers = Bags.from_list([values], feature_names=["a", "b"])
    with pytest.warns(UserWarning, match="without feature names"):
        np.testing.assert_array_equal(model.predict(strangers), model.infer([values]).output[:, 0])


@pytest.mark.parametrize("threshold", [-1.0, 0.5, 0.8, 3.0])
def test_what_is_predicted_is_what_is_likely_whatever_the_threshold(threshold):
    rules = (
        "VARIABLE x: left = Gaussian(0, 1), right = Gaussian(3, 1)\nIF x is left THEN y = 0\nIF x is right THEN y = 2.5"
    )
    bags = [[[x]] for x in (-1.0, 0.5, 1.2, 1.5, 1.8, 2.5, 4.0)]
    model = MISugeno(rules=rules, threshold=threshold).fit(bags, [0, 1, 0, 1, 0, 1, 0])
    likely = model.predict_proba(bags)
    np.testing.assert_array_equal(model.predict(bags), (likely[:, 1] > 0.5).astype(int))

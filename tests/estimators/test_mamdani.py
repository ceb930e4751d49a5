"""MIMamdani: with given rules, learning its own, and in files."""

import json

import numpy as np
import pytest
from depth_and_risk import DEPTH, RISK, RULES, TEXT, gaps, odd_rules, two_rules
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from fuzzymil import Bags, MIMamdani, MISugeno, NaiveMIL, load_model
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Variable

BAGS = Bags.from_list([[[0.0], [0.9]], [[0.9], [1.0]], [[0.1]], [[0.7]]], ids=list("abcd"))


# ---------------------------------------------------------------------- the estimator with given rules


@pytest.mark.parametrize(
    "model",
    [
        MIMamdani(rules=TEXT),
        MIMamdani([DEPTH], [RISK], RULES),
        MIMamdani({"depth": DEPTH.terms}, {"risk": RISK}, "\n".join(RULES)),
        MIMamdani(rules=two_rules()),
    ],
    ids=["text", "variables", "mappings", "value"],
)
def test_rules_may_come_in_many_ways(model):
    found = model.infer(BAGS)
    np.testing.assert_array_equal(found.output, two_rules().infer(BAGS).output)
    model = clone(model).fit(BAGS, list("+-+-"))
    assert model.rules_ == model.rule_base
    assert model.classes_.tolist() == ["+", "-"]
    np.testing.assert_array_equal(model.decision_function(BAGS), found.output[:, 0] - 0.5)
    np.testing.assert_array_equal(model.predict_proba(BAGS)[:, 1], found.output[:, 0])
    assert model.instance_scores(BAGS).shape == (6,)


def test_settings_stand_before_what_rules_say():
    rules = MIMamdani(rules=TEXT).rule_base
    assert (rules.t_norm, rules.aggregation, rules.defuzzification.implication) == ("min", "max", "min")
    told = MIMamdani(rules=TEXT + "USING t_norm = product, implication = product, resolution = 50").rule_base
    assert (told.t_norm, told.s_norm, told.defuzzification.resolution) == ("product", "algebraic", 50)
    operators = {"t_norm": "hamacher", "aggregation": "softmax", "alpha": 3, "implication": "min", "default": 0.9}
    operators |= {"accumulation": "bounded", "defuzzify": "lom", "resolution": 20}
    chosen = MIMamdani(rules=told, operators=operators).rule_base
    assert (chosen.t_norm, chosen.s_norm) == ("hamacher", "hamacher")
    assert (chosen.aggregation, chosen.alpha) == ("softmax", 3.0)
    assert (
        chosen.defuzzification.implication,
        chosen.defuzzification.accumulation,
        chosen.defuzzification.defuzzify,
    ) == ("min", "bounded", "lom")
    assert (chosen.defuzzification.resolution, chosen.default) == (20, (0.9,))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rules": two_rules(), "inputs": [DEPTH]}, "omit inputs and outputs"),
        ({"inputs": [DEPTH]}, "pass rules"),
        ({"outputs": [RISK]}, "pass rules"),
        ({"rules": TEXT, "operators": {"implication": "mean"}}, "Unknown implication"),
        ({"rules": TEXT, "operators": {"resolution": 0}}, "resolution .*got"),
        ({"rules": TEXT, "operators": {"t_norm": "mean"}}, "Unknown t_norm"),
        ({"rules": TEXT, "operators": {"norm": "min"}}, "Unknown operator 'norm'"),
        ({"rules": TEXT, "operators": "min"}, "operators must map"),
        ({"rules": RULES, "inputs": [DEPTH], "outputs": {"risk": RISK.terms}}, "'risk' needs .*range"),
        ({"rules": TEXT, "n_rules": 0}, "n_rules"),
        ({"rules": TEXT, "threshold": "x"}, "threshold"),
        ({"n_rules": 1, "init": "clusters"}, "n_rules=1.*2 classes"),
        ({"threshold": None}, "threshold=0.5"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_settings_are_refused_by_name(settings, named):
    model = MIMamdani(**settings)
    with pytest.raises(ParameterError, match=named):
        model.fit(BAGS, [1, 0, 1, 0])
    assert not hasattr(model, "rules_")


def test_a_bag_that_no_rule_knows_is_reported():
    bags = Bags.from_list([[[1.0]], [[3.0], [9.0]]], ids=["p", "q"])
    model = MIMamdani(rules=gaps(), operators={"default": 0.25})
    with pytest.warns(UserWarning, match=r"No rule fires on 1 of 2 bag\(s\).*Bags: q \(") as caught:
        found = model.infer(bags)
    assert len(caught) == 1
    assert found.output[1, 0] == 0.25
    with pytest.warns(UserWarning, match="No rule fires"):
        assert model.fit(bags, [1, 0]).predict(bags).tolist() == [1, 0]


def test_without_a_threshold_it_is_a_regressor():
    model = MIMamdani(rules=TEXT, threshold=None).fit(BAGS, [1.0, 0.5, 0.7, 0.2])
    assert is_regressor(model)
    np.testing.assert_array_equal(model.predict(BAGS), two_rules().infer(BAGS).output[:, 0])
    assert not hasattr(model, "predict_proba")


def test_several_outputs_stand_for_classes():
    yes = {"no": Triangular(-0.5, 0, 0.5), "yes": Triangular(0.5, 1, 1.5)}
    hue = Variable("hue", {"green": Gaussian(0.3, 0.1), "blue": Gaussian(0.6, 0.1)})
    model = MIMamdani(
        [hue],
        [Variable("sky", yes, 0, 1), Variable("grass", yes, 0, 1)],
        ["IF hue is blue THEN sky is yes, grass is no", "IF hue is green THEN grass is yes, sky is no"],
        operators={"default": (0.25, 0.75)},
    ).fit([[[0.3]], [[0.6]]], ["grass", "sky"])
    assert [output.name for output in model.rules_.outputs] == ["grass", "sky"]
    assert model.rules_.default == (0.75, 0.25)
    assert model.predict([[[0.31]], [[0.3], [0.6], [0.59]], [[0.61]]]).tolist()[::2] == ["grass", "sky"]


def test_the_first_of_several_outputs_tells_two_classes_apart_that_none_is_named_after():
    text = (
        TEXT
        + """
    OUTPUT haste FROM 0 TO 10: much = Triangular(0, 10, 20)
    IF depth is deep THEN haste is much
    USING default = (0.3, 7), aggregation = softmax, alpha = (1, 2, 3)
    """
    )
    model = MIMamdani(rules=text).fit(BAGS, ["dig", "leave", "dig", "leave"])
    assert [output.name for output in model.rules_.outputs] == ["risk"]
    assert (model.rules_.n_rules, model.rules_.alpha, model.rules_.default) == (2, (1.0, 2.0), (0.3,))
    np.testing.assert_array_equal(model.decision_function(BAGS), model.infer(BAGS).output[:, 0] - 0.5)
    assert model.infer(BAGS).output.shape == (4, 2)
    with pytest.raises(InputError, match="No output is named after the class dig"):
        MIMamdani(rules=text).fit(BAGS, ["dig", "leave", "wait", "leave"])
    silent = "OUTPUT haste FROM 0 TO 10: much = Triangular(0, 10, 20)" + TEXT
    with pytest.raises(ParameterError, match="No rule concludes 'haste'"):
        MIMamdani(rules=silent).fit(BAGS, [0, 1, 0, 1])


# ---------------------------------------------------------------------- the estimator that learns

BLOBS, COLORS = make_blobs(90, centers=[[-3, 0], [3, 0], [0, 4]], cluster_std=0.7, random_state=0)


def test_a_rule_of_each_cluster():
    rows = np.array([[0.0, 5.0], [2.0, 5.0], [10.0, 5.0], [12.0, 5.0], [20.0, 5.0], [22.0, 5.0]])
    model = MIMamdani(n_rules=3, random_state=0).fit(rows, [0, 0, 1, 1, 1, 1])
    assert is_classifier(model)
    order = np.argsort(model.rules_.centers[:, 0])
    np.testing.assert_allclose(model.rules_.centers[order, 0], [1, 11, 21])
    # Two instances at distance 1 from the mean, and the variance within all clusters, 1, as a third.
    np.testing.assert_allclose(model.rules_.widths[:, 0], 1.0)
    assert np.isnan(model.rules_.centers[:, 1]).all()  # constant: don't-care
    assert [model.rules_.rules[r].terms["y"].term for r in order] == ["negative", "positive", "positive"]
    assert model.predict([[1.5, 5.0], [11.5, 9.0], [19.0, 5.0]]).tolist() == [0, 1, 1]
    assert model.predict_proba([[1.0, 5.0]])[0, 1] == pytest.approx(1 / 6, abs=1e-5)


def test_it_learns_two_classes_and_more():
    two = MIMamdani(random_state=0).fit(BLOBS, COLORS > 0)
    assert two.score(BLOBS, COLORS > 0) > 0.95
    assert two.classes_.tolist() == [False, True]
    words = np.array(["red", "green", "blue"])[COLORS]
    three = MIMamdani(random_state=0).fit(BLOBS, words)
    assert three.score(BLOBS, words) > 0.95
    assert [output.name for output in three.rules_.outputs] == ["blue", "green", "red"]
    assert {name: said.term for name, said in three.rules_.rules[0].terms.items()} == {
        "blue": "positive",
        "green": "negative",
        "red": "negative",
    }
    assert three.predict_proba(BLOBS).sum(axis=1) == pytest.approx(np.ones(90))
    assert cross_val_score(MIMamdani(random_state=0), BLOBS, COLORS, cv=3).min() > 0.9


def test_learning_repeats_and_does_not_mind_the_order():
    order = np.random.default_rng(0).permutation(90)
    one = MIMamdani(random_state=1).fit(BLOBS, COLORS)
    assert MIMamdani(random_state=1).fit(BLOBS, COLORS).rules_ == one.rules_
    other = MIMamdani(random_state=1).fit(BLOBS[order], COLORS[order])
    np.testing.assert_allclose(other.decision_function(BLOBS), one.decision_function(BLOBS), rtol=1e-9)


def test_weights_count_and_bags_of_weight_zero_do_not():
    rows, labels = np.array([[0.0], [1.0], [5.0], [6.0], [50.0]]), [0, 0, 1, 1, 1]
    weighed = MIMamdani(n_rules=2, random_state=0).fit(rows, labels, sample_weight=[1, 3, 1, 1, 0])
    without = MIMamdani(n_rules=2, random_state=0).fit(rows[:4], labels[:4], sample_weight=[1, 3, 1, 1])
    assert weighed.rules_ == without.rules_
    assert weighed.rules_.centers[0, 0] == pytest.approx(0.75)
    with pytest.raises(ValueError, match=r"(?i)zero"):
        MIMamdani(n_rules=2).fit(rows, labels, sample_weight=np.zeros(5))


def test_few_or_equal_instances_make_fewer_rules():
    model = MIMamdani(n_rules=10, random_state=0).fit([[0.0], [0.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert model.rules_.n_rules == 3
    assert np.isfinite(model.rules_.widths).all()
    assert model.predict([[0.1], [3.2]]).tolist() == [0, 1]
    nothing = MIMamdani(n_rules=2, random_state=0).fit([[1.0], [1.0]], [0, 1])  # nothing tells them apart
    assert nothing.decision_function([[1.0], [7.0]]) == pytest.approx([0.0, 0.0])


def test_instances_take_their_bags_label_and_settings_shape_the_rules():
    bags = make_two_concepts(15, 15, random_state=0)
    rows, labels = bags.instances, np.repeat(bags.labels, bags.sizes)
    shaped = {"t_norm": "product", "implication": "product", "resolution": 300}
    learned = MIMamdani(n_rules=6, init="clusters", random_state=0, operators=shaped).fit(bags)
    assert learned.rules_ == MIMamdani(**learned.get_params()).fit(rows, labels).rules_
    assert (learned.rules_.t_norm, learned.rules_.aggregation) == ("product", "max")
    assert (learned.rules_.defuzzification.implication, learned.rules_.defuzzification.resolution) == ("product", 300)
    assert learned.rule_base == learned.rules_
    np.testing.assert_array_equal(learned.infer(bags).output[:, 0] - 0.5, learned.decision_function(bags))


def test_the_papers_baselines():
    """Labels of instances make Mamdani rules good; bags' labels, as the naive way has them, much less so."""
    train, test = (make_two_concepts(random_state=seed) for seed in (0, 1))
    truth = (train.instance_labels > 0).astype(int)
    told = MIMamdani(n_rules=4, random_state=0).fit(train.instances, truth)
    naive = NaiveMIL(MIMamdani(n_rules=4, random_state=0)).fit(train)
    told_auc, naive_auc = (roc_auc_score(test.labels, model.decision_function(test)) for model in (told, naive))
    assert told_auc > 0.98
    assert naive_auc < told_auc - 0.1
    lower = GridSearchCV(MIMamdani(n_rules=4, random_state=0), {"threshold": [0.3, 0.5]}, cv=2)
    assert lower.fit(train.instances, truth).best_params_["threshold"] in (0.3, 0.5)
    assert clone(told).set_params(threshold=0.3).fit(train.instances, truth).score(test) > 0.95


def test_what_cannot_be_learned_from_is_refused():
    for X, y, message in (
        (BLOBS, np.zeros(90, int), "All 90 bags .*one class"),
        (BLOBS, None, "requires y"),
        (np.where(BLOBS > 5, np.nan, BLOBS), COLORS, "missing"),
        (BLOBS, BLOBS[:, 0], "(?i)continuous"),
    ):
        with pytest.raises(ValueError, match=message):
            MIMamdani(random_state=0).fit(X, y)
    holes = np.where(BLOBS > 4, np.nan, BLOBS)
    with pytest.raises(InputError, match="complete data"):
        MIMamdani(missing="ignore", random_state=0).fit(holes, COLORS)
    model = MIMamdani(missing="ignore", random_state=0).fit(BLOBS, COLORS)
    assert np.isfinite(model.decision_function(holes)).all()
    for use in (MIMamdani().predict, MIMamdani().infer):
        with pytest.raises(NotFittedError):
            use(BLOBS)


# ---------------------------------------------------------------------- files of models

SAVED = {
    "text": (MIMamdani(rules=TEXT, operators={"alpha": np.inf}), BAGS, list("+-+-")),
    "variables": (
        MIMamdani({"depth": DEPTH}, [RISK], RULES, operators={"default": 0.25, "resolution": 123}),
        BAGS,
        [1, 0, 1, 0],
    ),
    "value": (MIMamdani(rules=odd_rules(), threshold=None), np.ones((3, 2, 2)), None),
    "learned": (MIMamdani(n_rules=4, random_state=0), BLOBS, COLORS),
    "learned, two": (MIMamdani(n_rules=4, operators={"defuzzify": "mom"}, random_state=0), BLOBS, COLORS > 0),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_comes_back_as_it_was(name, tmp_path):
    model, X, y = SAVED[name]
    model = clone(model).fit(X, y)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert type(back) is MIMamdani
    assert back.get_params() == model.get_params()
    assert back.rules_ == model.rules_
    assert back.rule_base == model.rule_base
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.instance_scores(X), model.instance_scores(X))
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_rules_of_the_wrong_kind_are_refused(tmp_path):
    path = tmp_path / "model.json"
    MIMamdani(rules=TEXT).fit(BAGS, [1, 0, 1, 0]).save(path)
    document = json.loads(path.read_text())
    for changes in (
        {"rules": odd_rules().to_sugeno().to_dict()},
        {"features": {"n": 2, "names": None}},
        {"features": {"n": 1, "names": ["width"]}},
        {"classes": {"dtype": "<i8", "values": [0, 1, 2]}},
        {"classes": None},
        {"estimator": "MISugeno"},
    ):
        path.write_text(json.dumps(document | changes))
        with pytest.raises(ModelFileError, match=r"damaged|does not (support|have)"):
            load_model(path)


def test_sugeno_and_mamdani_rules_are_told_apart():
    with pytest.raises(ParameterError, match="MIMamdani"):
        MISugeno(rules=TEXT).infer(BAGS)
    with pytest.raises(ParameterError, match="MISugeno"):
        MIMamdani(rules=TEXT.replace("is great", "= 1").replace("THEN risk is small", "THEN risk = 0")).infer(BAGS)

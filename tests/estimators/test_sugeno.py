"""MISugeno: the paper's walk-through, what its settings mean, and its scikit-learn face."""

import copy
import json
import pickle

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from fuzzymil import Bags, MIANFISClassifier, MISugeno, PerInstance, RuleBase, load_model
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.membership import Gaussian, Sigmoid, Triangular
from fuzzymil.rules import Variable
from fuzzymil.rules.formats import read_rules
from fuzzymil.rules.language.source import declaration

mpl.use("Agg")

INPUTS = {
    "hue": {"red": Gaussian(0.1, 0.1), "blue": Gaussian(0.6, 0.1)},
    "texture": {"smooth": Gaussian(0.0, 0.3), "rough": Sigmoid(0.5, 8.0)},
}
RULES = ["IF hue is blue AND texture is smooth THEN sky = 1", "IF hue is red AND texture is rough THEN sky = 0"]
SKY = [[0.6, 0.05], [0.1, 0.9]]
NO_SKY = [[0.15, 0.8], [0.1, 0.5], [0.2, 0.9]]
BAGS = Bags.from_list([SKY, NO_SKY, SKY[::-1], NO_SKY[1:]], ids=["a", "b", "c", "d"])
LABELS = np.array(["sky", "none", "sky", "none"])
GAPS = (
    "VARIABLE x: near = Triangular(0, 1, 2), far = Triangular(4, 5, 6) IF x is near THEN y = 1 IF x is far THEN y = 0"
)


def concepts(**settings):
    """Return rules that know the two discs of `make_two_concepts`; elsewhere a third rule says no."""
    axis = {"first": Gaussian(0.5, 0.15), "second": Gaussian(1.5, 0.15)}
    rules = [
        "IF x1 is first AND x2 is first THEN y = 1",
        "IF x1 is second AND x2 is second THEN y = 1",
        "IF anything THEN y = 0 WITH 0.4",
    ]
    return MISugeno({"x1": axis, "x2": axis}, rules, **settings)


# ---------------------------------------------------------------------- the walk-through


def by_hand(bag):
    """Go through the figure of the paper for two first-order rules, with loops only."""
    blue = [np.exp(-((hue - 0.6) ** 2) / (2 * 0.1**2)) for hue, _ in bag]
    smooth = [np.exp(-(texture**2) / (2 * 0.3**2)) for _, texture in bag]
    red = [np.exp(-((hue - 0.1) ** 2) / (2 * 0.1**2)) for hue, _ in bag]
    truth = [[min(b, s), r] for b, s, r in zip(blue, smooth, red, strict=True)]
    firing = [max(instance[rule] for instance in truth) for rule in range(2)]
    responses = [[0.5 + 2 * hue - texture, 0.1 - hue] for hue, texture in bag]
    outputs = [sum(response[rule] for response in responses) / len(bag) for rule in range(2)]
    output = sum(w * o for w, o in zip(firing, outputs, strict=True)) / sum(firing)
    return truth, firing, outputs, output


def test_two_rules_as_the_paper_walks_through_them():
    model = MISugeno(
        INPUTS,
        ["IF hue is blue AND texture is smooth THEN sky = 0.5 + 2*hue - texture", "IF hue is red THEN sky = 0.1 - hue"],
        t_norm="min",
        combine="mean",
    )
    rng = np.random.default_rng(0)
    bags = [rng.uniform(0, 1, (n, 2)) for n in (1, 2, 5, 9)]
    found = model.infer(bags)
    truths = []
    for b, bag in enumerate(bags):
        truth, firing, outputs, output = by_hand(bag)
        truths += truth
        np.testing.assert_allclose(found.firing[b], firing, rtol=1e-12)
        np.testing.assert_allclose(found.rule_outputs[b, :, 0], outputs, rtol=1e-12)
        np.testing.assert_allclose(found.output[b, 0], output, rtol=1e-12)
    np.testing.assert_allclose(found.truth, truths, rtol=1e-12)


def test_a_case_to_do_in_the_head():
    steps = {"low": Triangular(-1, 0, 1), "high": Triangular(0, 1, 2)}
    rules = ["IF a is high AND b is high THEN y = 10", "IF a is low OR b is low THEN y = 20"]
    found = MISugeno({"a": steps, "b": steps}, rules, t_norm="min").infer([[[0.75, 0.5], [0.25, 1.0]]])
    assert found.truth.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert found.firing.tolist() == [[0.5, 0.75]]
    assert found.output.tolist() == [[(0.5 * 10 + 0.75 * 20) / 1.25]]


def test_fit_learns_nothing_of_the_rules():
    model = MISugeno(INPUTS, RULES)
    before = model.rule_base
    model.fit(BAGS, LABELS)
    assert model.rules_ == model.rule_base == before
    assert model.members_ == [before]
    np.testing.assert_array_equal(model.decision_function(BAGS), model.infer(BAGS).output[:, 0] - 0.5)


# ---------------------------------------------------------------------- settings


@pytest.mark.parametrize(
    ("inputs", "rules"),
    [
        (INPUTS, "\n".join(RULES)),
        (INPUTS, tuple(RULES)),
        ({name: Variable(name, terms) for name, terms in INPUTS.items()}, RULES),
        ([Variable(name, terms) for name, terms in INPUTS.items()], RULES),
        (None, MISugeno(INPUTS, RULES).rule_base),
        (None, MISugeno(INPUTS, RULES).rule_base.to_source()),
        ({"texture": INPUTS["texture"]}, ["VARIABLE hue: blue = Gaussian(0.6, 0.1), red = Gaussian(0.1, 0.1)", *RULES]),
    ],
    ids=["text", "tuple", "variables by name", "variables", "rule base", "source", "declared in part"],
)
def test_rules_may_come_in_many_ways(inputs, rules):
    named = Bags(BAGS.instances, BAGS.offsets, feature_names=["hue", "texture"])
    expected = MISugeno(INPUTS, RULES).infer(named).output
    np.testing.assert_array_equal(MISugeno(inputs, rules).infer(named).output, expected)


def test_ranges_and_units_of_inputs_are_kept():
    hue = Variable("hue", INPUTS["hue"], 0.0, 1.0, "turns")
    assert MISugeno({"hue": hue}, "IF hue is red THEN y = 1").rule_base.variables == (hue,)


@pytest.mark.parametrize(
    ("stated", "operators"),
    [
        ("", ("product", "max", 1.0)),
        ("USING t_norm = min, aggregation = power", ("min", "power", 1.0)),
        ("USING alpha = 5", ("product", "softmax", 5.0)),
    ],
    ids=["default", "operators", "alpha"],
)
def test_the_same_text_gives_the_same_numbers_wherever_it_is_read(stated, operators, tmp_path):
    declared = [declaration("VARIABLE", Variable(name, terms)) for name, terms in INPUTS.items()]
    text = "\n".join([*declared, stated, *RULES])
    (tmp_path / "sky.rules").write_text(text, encoding="utf-8")
    parsed = RuleBase.parse(text)
    assert (parsed.t_norm, parsed.aggregation, parsed.alpha) == operators
    assert read_rules(tmp_path / "sky.rules") == MISugeno(rules=text).rule_base == parsed
    assert MISugeno(INPUTS, [stated, *RULES]).rule_base == parsed
    expected = parsed.infer(BAGS).output
    np.testing.assert_array_equal(MISugeno(rules=text).infer(BAGS).output, expected)
    np.testing.assert_array_equal(MISugeno(rules=text).fit(BAGS).rules_.infer(BAGS).output, expected)
    written = MIANFISClassifier(init=parsed, max_epochs=0).fit(BAGS, LABELS)
    np.testing.assert_allclose(written.rules_.infer(BAGS).output, expected, rtol=1e-5)  # trained in 32 bit


def test_text_is_read_once(monkeypatch):
    reads = []
    parse = RuleBase.parse
    monkeypatch.setattr(RuleBase, "parse", lambda *args, **kwargs: reads.append(args) or parse(*args, **kwargs))
    inputs, rules = {name: dict(terms) for name, terms in INPUTS.items()}, list(RULES)
    model = MISugeno(inputs, rules)
    first = model.infer(BAGS).output
    model.fit(BAGS, LABELS).infer(BAGS)
    assert len(reads) == 1
    changes = [
        lambda: model.set_params(t_norm="min"),
        lambda: inputs["hue"].update(blue=Gaussian(0.5, 0.1)),
        lambda: rules.append("IF hue is red THEN sky = 0.5"),
        lambda: setattr(model, "alpha", np.array([1.0, 2.0, 3.0])),
    ]
    for count, change in enumerate(changes, start=2):
        before = model.infer(BAGS).output
        change()
        assert not np.array_equal(model.infer(BAGS).output, before)
        assert len(reads) == count
    assert first.shape == (4, 1)
    assert MISugeno(rules=model.rule_base).rule_base is model.rule_base


def test_operators_are_those_of_the_text_unless_the_settings_say_otherwise():
    rules = MISugeno(INPUTS, RULES).rule_base
    assert (rules.t_norm, rules.s_norm, rules.aggregation, rules.combine) == ("product", "algebraic", "max", "softmax")
    assert MISugeno(INPUTS, RULES, alpha=2.0).rule_base.aggregation == "softmax"
    assert rules.default == (0.0,)
    assert rules.normalize
    said = ["USING t_norm = product, aggregation = softmax, alpha = 3, default = 0.5", *RULES]
    told = MISugeno(INPUTS, said).rule_base
    assert (told.t_norm, told.s_norm, told.aggregation, told.alpha) == ("product", "algebraic", "softmax", 3.0)
    assert (told.combine, told.default) == ("softmax", (0.5,))
    chosen = MISugeno(INPUTS, said, t_norm="lukasiewicz", alpha=7, default=1, combine="max", normalize=False).rule_base
    assert (chosen.t_norm, chosen.s_norm, chosen.alpha, chosen.combine) == ("lukasiewicz", "bounded", 7.0, "max")
    assert chosen.default == (1.0,)
    assert not chosen.normalize
    assert MISugeno(INPUTS, RULES, s_norm="algebraic").rule_base.s_norm == "algebraic"
    odd = MISugeno(INPUTS, ["USING s_norm = einstein", *RULES], t_norm="product").rule_base
    assert (odd.t_norm, odd.s_norm) == ("product", "einstein")


def test_a_rule_base_keeps_its_operators():
    learned = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1], alpha=5)
    assert MISugeno(rules=learned).rule_base == learned
    assert MISugeno(rules=learned, alpha=2.0).rule_base.alpha == 2.0


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rules": None}, "needs rules"),
        ({"rules": []}, "no rule"),
        ({"rules": ["IF hue is bleu THEN y = 1"]}, "Did you mean 'blue'"),
        ({"rules": ["IF hüe is blue THEN y = 1"]}, "'hüe'"),
        ({"rules": ["IF hue is blue THEN sky is likely"]}, "output"),
        ({"rules": 5}, "must be text"),
        ({"inputs": {"hue": Gaussian(0, 1)}}, r"inputs.'hue'. must be terms"),
        ({"inputs": {"hue": {"blue": 3.0}}}, "'blue' of 'hue' must be a fuzzy set"),
        ({"inputs": {"hue": Variable("color")}}, "hue.*'color'"),
        ({"inputs": "hue"}, "inputs must .*names to terms"),
        ({"inputs": 7}, "inputs must .*names to terms"),
        ({"rules": RuleBase.from_arrays([[0.0]], [[1.0]], [1])}, "leave inputs out"),
        ({"t_norm": "minimum"}, "Unknown t_norm.*Did you mean 'min'"),
        ({"aggregation": "soft"}, "Unknown aggregation"),
        ({"s_norm": "plus"}, "Unknown s_norm"),
        ({"combine": "median"}, "Unknown combine"),
        ({"alpha": np.nan}, "alpha must be a number"),
        ({"default": (1, 2)}, "default"),
        ({"default": np.inf}, "default"),
        ({"normalize": "yes"}, "normalize must be True or False"),
        ({"threshold": "half"}, "threshold must be a number"),
        ({"threshold": np.nan}, "threshold must be a number"),
        ({"missing": "drop"}, "Unknown missing"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_settings_are_refused_by_name(settings, named):
    model = MISugeno(**({"inputs": INPUTS, "rules": RULES} | settings))  # a constructor only stores
    for use in (model.infer, model.fit):
        with pytest.raises(ParameterError, match=named):
            use(BAGS)
    assert not hasattr(model, "rules_")


def test_errors_in_text_point_at_the_character():
    with pytest.raises(RuleSyntaxError, match=r"(?s)Rule 2, line 1, character 11.*\n +\^"):
        MISugeno(INPUTS, [RULES[0], "IF hue is bleu THEN sky = 1"]).infer(BAGS)


# ---------------------------------------------------------------------- bags that no rule knows


def test_a_bag_on_which_no_rule_fires_gets_the_default_and_is_reported():
    bags = Bags.from_list([[[1.0], [9.0]], [[9.0], [3.0]], [[5.5]], [[-1.0]]], ids=["p", "q", "r", "s"])
    model = MISugeno(rules=GAPS, default=0.75)
    with pytest.warns(UserWarning, match=r"No rule fires on 2 of 4 bag\(s\).*Bags: q, s \(") as caught:
        found = model.infer(bags)
    assert len(caught) == 1
    assert found.uncovered.tolist() == [False, True, False, True]
    assert found.output.ravel().tolist() == [1.0, 0.75, 0.0, 0.75]
    model.fit(bags, [1, 1, 0, 1])
    for method in (model.predict, model.decision_function, model.predict_proba):
        with pytest.warns(UserWarning, match="No rule fires"):
            method(bags)
    assert model.instance_scores(bags).tolist() == [0.5, 0.25, 0.25, 0.25, -0.5, 0.25]  # as if bags, without a word
    with pytest.warns(UserWarning, match="No rule fires"):
        assert model.predict(bags).tolist() == [1, 1, 0, 1]


def test_the_default_may_differ_between_outputs():
    rules = "VARIABLE x: near = Triangular(0, 1, 2) IF x is near THEN one = 1, two = 2"
    with pytest.warns(UserWarning, match="No rule fires"):
        assert MISugeno(rules=rules, default=(5, 6)).infer([[[9.0]]]).output.tolist() == [[5.0, 6.0]]
    with pytest.warns(UserWarning, match="No rule fires"):
        assert MISugeno(rules=rules, default=7).infer([[[9.0]]]).output.tolist() == [[7.0, 7.0]]


def test_strengths_that_merely_underflow_are_no_default():
    model = MISugeno({"x": {"near": Gaussian(0, 0.001), "nearer": Gaussian(1, 0.001)}}, [
        "IF x is near THEN y = 1", "IF x is nearer THEN y = 2"])  # fmt: skip
    found = model.infer([[[100.0]]])
    assert found.firing.tolist() == [[0.0, 0.0]]
    assert found.output.tolist() == [[2.0]]
    assert not found.uncovered.any()


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
    assert model.rules_.outputs == ("grass", "road", "sky")
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
    with pytest.raises(ValueError, match="could not convert"):
        MISugeno(INPUTS, RULES, threshold=None).fit(BAGS, LABELS)


def test_a_classifier_that_becomes_a_regressor_forgets_its_classes():
    model = MISugeno(INPUTS, RULES).fit(BAGS, LABELS).set_params(threshold=None).fit(BAGS)
    assert not hasattr(model, "classes_")


# ---------------------------------------------------------------------- as scikit-learn expects


def test_nothing_is_said_before_a_fit():
    model = MISugeno(INPUTS, RULES)
    for method in ("predict", "decision_function", "predict_proba", "instance_scores", "explain"):
        with pytest.raises(NotFittedError):
            getattr(model, method)(BAGS)
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


def test_it_clones_pickles_and_prints():
    model = MISugeno(INPUTS, RULES, alpha=3.0)
    assert clone(model).get_params() == model.get_params()
    assert clone(MISugeno(rules=model.rule_base)).rule_base == model.rule_base
    fitted = pickle.loads(pickle.dumps(model.fit(BAGS, LABELS)))
    np.testing.assert_array_equal(fitted.decision_function(BAGS), model.decision_function(BAGS))
    assert "IF hue is blue" in repr(model)
    assert model.set_params(t_norm="product").rule_base.t_norm == "product"


def test_it_scores_cross_validates_and_is_searched_over():
    bags = make_two_concepts(20, 20, random_state=0)
    assert cross_val_score(concepts(), bags, bags.labels, cv=3).min() > 0.9
    search = GridSearchCV(concepts(t_norm="product", aggregation="softmax"), {"alpha": [0.0, 50.0]}, cv=3).fit(
        bags, bags.labels
    )
    assert search.best_params_ == {"alpha": 50.0}
    assert search.best_estimator_.rules_.alpha == 50.0
    scaled = make_pipeline(PerInstance(FunctionTransformer(lambda x: x / 10)), concepts())
    shrunk = bags.map_instances(lambda x: 10 * x)
    assert scaled.fit(shrunk, bags.labels).score(shrunk, bags.labels) == concepts().fit(bags).score(bags) > 0.9


def test_order_does_not_matter_and_parts_equal_the_whole():
    bags = make_two_concepts(10, 10, random_state=1)
    model = concepts().fit(bags)
    score = model.decision_function(bags)
    rng = np.random.default_rng(0)
    shuffled = Bags.from_list([rng.permutation(bag) for bag in bags])
    np.testing.assert_allclose(model.decision_function(shuffled), score, rtol=1e-12)
    np.testing.assert_allclose(np.concatenate([model.decision_function(bags[[b]]) for b in range(20)]), score[:20])
    singles = Bags(bags.instances, np.arange(bags.n_instances + 1))
    np.testing.assert_array_equal(model.instance_scores(bags), model.decision_function(singles))


def test_it_is_drawn_and_explained_like_a_learned_model():
    from matplotlib import pyplot as plt

    from fuzzymil.plots import MembershipDisplay

    model = MISugeno(INPUTS, RULES).fit(BAGS, LABELS)
    figure = MembershipDisplay.from_rules(model.rules_).plot()
    assert len(figure.axes) == 4
    plt.close(figure)
    told = model.explain(BAGS, "a")
    assert told.prediction == "sky"
    assert told.rules[0].index == 0
    assert told.rules[0].witness == 0
    assert "IF hue is blue AND texture is smooth THEN sky = 1" in str(told)


@pytest.mark.slow
def test_training_may_start_from_it():
    bags = make_two_concepts(10, 10, random_state=0)
    expert = concepts().rule_base
    learned = MIANFISClassifier(init=expert, max_epochs=2, random_state=0).fit(bags)
    assert learned.rules_.n_rules == expert.n_rules


# ---------------------------------------------------------------------- files

SAVED = {
    "dictionary": (MISugeno(INPUTS, RULES), LABELS),
    "text": (MISugeno(rules=MISugeno(INPUTS, RULES).rule_base.to_source(), alpha=np.inf, default=(0.5,)), LABELS),
    "variables": (MISugeno([Variable(n, t, -1, 2, "m") for n, t in INPUTS.items()], tuple(RULES)), [1, 0, 1, 0]),
    "rule base": (MISugeno(rules=MISugeno(INPUTS, RULES).rule_base, t_norm="product", threshold=0.4), LABELS),
    "regressor": (MISugeno(INPUTS, RULES, threshold=None, normalize=False), [1.0, 0.5, 0.2, 0.1]),
    "hedges": (
        MISugeno(INPUTS, [RULES[0], "IF hue is not very blue OR texture is rough THEN sky = 0 WITH 0.5"]),
        LABELS,
    ),
    "two outputs": (
        MISugeno(INPUTS, ["IF hue is blue THEN sky = 1, none = 0.2*hue", "IF hue is red THEN sky = 0, none = 1"]),
        LABELS,
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_comes_back_as_it_was(name, tmp_path):
    model, labels = SAVED[name]
    model = clone(model).fit(BAGS, labels)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert type(back) is MISugeno
    assert back.get_params() == model.get_params()
    assert repr(back) == repr(model)
    assert back.rule_base == model.rule_base
    assert back.rules_ == model.rules_
    assert back.members_ == [model.rules_]
    np.testing.assert_array_equal(back.predict(BAGS), model.predict(BAGS))
    np.testing.assert_array_equal(back.instance_scores(BAGS), model.instance_scores(BAGS))
    assert hasattr(back, "classes_") == hasattr(model, "classes_")
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_names_of_features_come_back(tmp_path):
    wide = BAGS.map_instances(lambda x: np.column_stack([x[:, 1], x[:, 0], x[:, 0]]), ["texture", "noise", "hue"])
    model = MISugeno(INPUTS, RULES).fit(wide, LABELS)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert back.feature_names_in_.tolist() == ["texture", "noise", "hue"]
    assert back.predict(wide).tolist() == LABELS.tolist()


def places(node, path=()):
    yield path
    if isinstance(node, dict | list):
        for key, child in node.items() if isinstance(node, dict) else enumerate(node):
            yield from places(child, (*path, key))


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["null", '"x"', "-1", "1e400", "[]", "{}", "[[[1]]]"])
@pytest.mark.parametrize("name", ["dictionary", "two outputs"])
def test_a_wrong_value_anywhere_is_refused_or_harmless(name, wrong, tmp_path):
    """Whatever stands anywhere in the file: `ModelFileError`, or a model that can be used."""
    model, labels = SAVED[name]
    path = tmp_path / "model.json"
    clone(model).fit(BAGS, labels).save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    for place in list(places(document))[1:]:
        damaged = copy.deepcopy(document)
        node = damaged
        for key in place[:-1]:
            node = node[key]
        node[place[-1]] = "PLACE"
        path.write_text(json.dumps(damaged).replace('"PLACE"', wrong), encoding="utf-8")
        try:
            back = load_model(path)
        except ModelFileError:
            continue
        back.predict(BAGS)
        repr(back)


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

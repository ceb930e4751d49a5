"""MISugeno as scikit-learn expects an estimator to be, and in files."""

import json
import pickle

import matplotlib as mpl
import numpy as np
import pytest
from saved_models import places, with_value
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sky import BAGS, INPUTS, LABELS, RULES

from fuzzymil import Bags, MIANFISClassifier, MISugeno, PerInstance, Training, load_model
from fuzzymil._utils.errors import ModelFileError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules import Variable

mpl.use("Agg")


def concepts(**settings):
    """Return rules that know the two discs of `make_two_concepts`; elsewhere a third rule says no."""
    axis = {"first": Gaussian(0.5, 0.15), "second": Gaussian(1.5, 0.15)}
    rules = [
        "IF x1 is first AND x2 is first THEN y = 1",
        "IF x1 is second AND x2 is second THEN y = 1",
        "IF anything THEN y = 0 WITH 0.4",
    ]
    return MISugeno({"x1": axis, "x2": axis}, rules, **settings)


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
    learned = MIANFISClassifier(init=expert, training=Training(max_epochs=2), random_state=0).fit(bags)
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
        path.write_text(with_value(document, place, wrong), encoding="utf-8")
        try:
            back = load_model(path)
        except ModelFileError:
            continue
        back.predict(BAGS)
        repr(back)

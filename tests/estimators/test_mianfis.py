"""The estimators on real, ragged bags: what scikit-learn's own checks (one-instance bags) cannot see."""

import io
import pickle

import joblib
import numpy as np
import optax
import pytest
from sklearn.base import clone, is_classifier
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    PerInstance,
    RuleBase,
    RunOptions,
    Variant,
)
from fuzzymil.datasets import make_planted, make_two_concepts
from fuzzymil.membership import Bell, Gaussian, Trapezoidal, Triangular, learnable_families
from fuzzymil.network.aggregation import AGGREGATIONS, COMBINERS
from fuzzymil.network.norms import T_NORMS
from fuzzymil.rules import Rule, Variable

# One shape of data and rules nearly everywhere, so that tests share compiled programs.
QUICK = {"n_rules": 3, "max_epochs": 5, "init": "fcm", "rule_keep_prob": None, "random_state": 0}
BAGS = make_two_concepts(8, 8, random_state=0)
Y = BAGS.labels
WORDS = np.array([str(i).split("-")[0] for i in BAGS.ids])  # three classes: concept1, concept2, negative
NUMBERS = np.array([bag[:, 0].max() for bag in BAGS])
CENTERS = np.array([[0.5, 0.5], [1.5, 1.5], [0.5, 1.5]])
WIDTHS = np.array([[0.3, 0.4], [0.5, 0.3], [0.6, 0.6]])
DOUBLE = RunOptions(precision="double")
RAW = Variant(standardize=False)

BATTERY = {
    "defaults": MIANFISClassifier(3, max_epochs=5, random_state=0),
    "classifier": MIANFISClassifier(**QUICK),
    "regressor": MIANFISRegressor(**QUICK),
    "first order": MIANFISClassifier(order=1, n_estimators=2, **QUICK),
    "plain classifier": ANFISClassifier(**QUICK),
    "plain regressor": ANFISRegressor(**QUICK),
    "naive ANFIS": NaiveMIL(ANFISClassifier(**QUICK)),
    "naive logistic": NaiveMIL(LogisticRegression()),
    "naive margin": NaiveMIL(LinearSVC(random_state=0), pool="min"),
    "naive linear": NaiveMIL(LinearRegression(), pool="mean"),
}
battery = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in BATTERY.items()])
networks = pytest.mark.parametrize("model", [BATTERY["classifier"], BATTERY["regressor"]], ids=["classes", "numbers"])


def classifier(**changes):
    return MIANFISClassifier(**(QUICK | changes))


def regressor(**changes):
    return MIANFISRegressor(**(QUICK | changes))


def calling(*callbacks):
    return RunOptions(callbacks=callbacks)


def material(model):
    """Bags and labels that suit a model: those of the plain networks have one instance each."""
    bags = BAGS
    if isinstance(model, ANFISClassifier | ANFISRegressor):
        bags = Bags.from_list([bag[:1] for bag in BAGS], labels=BAGS.labels)
    return bags, Y if is_classifier(model) else NUMBERS


def score_of(model, bags):
    return model.decision_function(bags) if is_classifier(model) else model.predict(bags)


def arrays_of(bags):
    return [bag.copy() for bag in bags]


def mean_squared_error(rules, bags, targets):
    output = rules.infer(Bags(bags.instances, bags.offsets)).output
    return np.square(output - np.reshape(targets, output.shape)).sum(axis=1).mean()


# ---------------------------------------------------------------------- what every estimator does


@battery
def test_settings_are_stored_cloned_and_shown(model):
    before = model.get_params()
    copy = clone(model)
    assert {k: repr(v) for k, v in copy.get_params().items()} == {k: repr(v) for k, v in before.items()}
    assert type(model).__name__ in repr(model)
    assert copy.set_params(**before) is copy
    name = "pool" if isinstance(model, NaiveMIL) else "n_rules"
    value = "mean" if name == "pool" else 2
    assert copy.set_params(**{name: value}).get_params()[name] == value
    assert repr(value) in repr(copy)
    with pytest.raises(ValueError, match="nonsense"):
        copy.set_params(nonsense=1)
    with pytest.raises(NotFittedError):
        copy.predict(BAGS)


@pytest.mark.slow
@battery
def test_predictions_do_not_depend_on_order_or_company(model):
    bags, y = material(model)
    model = clone(model).fit(bags, y)
    whole = score_of(model, bags)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(bags))
    np.testing.assert_allclose(score_of(model, bags[order]), whole[order], rtol=1e-11, atol=1e-12)
    stirred = [bag[rng.permutation(len(bag))] for bag in bags]
    np.testing.assert_allclose(score_of(model, stirred), whole, rtol=1e-11, atol=1e-12)
    parts = np.concatenate([score_of(model, bags[:5]), score_of(model, bags[5:6]), score_of(model, bags[6:])])
    np.testing.assert_allclose(parts, whole, rtol=1e-11, atol=1e-12)
    np.testing.assert_array_equal(score_of(model, arrays_of(bags)), whole)
    np.testing.assert_array_equal(model.predict(arrays_of(bags)), model.predict(bags))


@battery
def test_a_second_fit_with_the_same_seed_is_the_same_to_the_last_bit(model):
    bags, y = material(model)
    one, other = clone(model).fit(bags, y), clone(model).fit(arrays_of(bags), y)
    np.testing.assert_array_equal(score_of(one, bags), score_of(other, bags))
    np.testing.assert_array_equal(score_of(one.fit(bags, y), bags), score_of(other, bags))
    state = np.random.RandomState(3)
    if "random_state" in model.get_params():
        one, other = (clone(model).set_params(random_state=np.random.RandomState(3)) for _ in range(2))
        np.testing.assert_array_equal(score_of(one.fit(bags, y), bags), score_of(other.fit(bags, y), bags))
        untouched = clone(model).set_params(random_state=state)
        assert untouched.get_params()["random_state"] is not None
        assert not hasattr(untouched, "members_")


@battery
def test_pickle_and_joblib_keep_the_model(model):
    bags, y = material(model)
    model = clone(model).fit(bags, y)
    expected = score_of(model, bags)
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for back in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        np.testing.assert_array_equal(score_of(back, bags), expected)
        np.testing.assert_array_equal(back.instance_scores(bags), model.instance_scores(bags))
    untrained = pickle.loads(pickle.dumps(clone(model)))
    np.testing.assert_array_equal(score_of(untrained.fit(bags, y), bags), expected)


@battery
def test_labels_may_come_with_the_bags(model):
    bags, y = material(model)
    carried = Bags(bags.instances, bags.offsets, labels=y)
    expected = score_of(clone(model).fit(bags, y), bags)
    np.testing.assert_array_equal(score_of(clone(model).fit(carried), bags), expected)
    with pytest.raises(ValueError, match="requires y"):
        clone(model).fit(Bags(bags.instances, bags.offsets))


@battery
def test_the_value_of_an_instance_is_that_of_a_bag_with_it_alone(model):
    bags, y = material(model)
    model = clone(model).fit(bags, y)
    alone = [row[None, :] for row in bags.instances]
    np.testing.assert_allclose(model.instance_scores(bags), score_of(model, alone), rtol=1e-11, atol=1e-12)
    assert model.score(bags, y) <= 1


@pytest.mark.slow
@battery
def test_cross_validation_takes_bags_and_lists(model):
    bags, y = material(model)
    scores = cross_val_score(model, bags, y, cv=3)
    np.testing.assert_array_equal(cross_val_score(model, arrays_of(bags), y, cv=3), scores)
    assert np.isfinite(scores).all()
    assert len(cross_val_predict(model, bags, y, cv=3)) == len(bags)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [lambda bags: bags, arrays_of], ids=["Bags", "list"])
@networks
def test_pipelines_and_grid_search(model, kind):
    bags, y = material(model)
    pipeline = make_pipeline(PerInstance(StandardScaler()), PerInstance(PCA(2)), clone(model))
    search = GridSearchCV(pipeline, {f"{pipeline.steps[-1][0]}__learning_rate": [0.01, 0.1]}, cv=2)
    search.fit(kind(bags), y)
    assert search.predict(kind(bags)).shape == (len(bags),)
    scaled = pipeline.fit(kind(bags), y)[:-1].transform(kind(bags))
    assert isinstance(scaled, Bags)
    np.testing.assert_array_equal(scaled.offsets, bags.offsets)
    np.testing.assert_allclose(np.cov(scaled.instances.T, bias=True)[0, 1], 0, atol=1e-12)
    np.testing.assert_array_equal(pipeline.predict(kind(bags)), pipeline[-1].predict(scaled))
    assert np.isfinite(cross_val_score(pipeline, kind(bags), y, cv=2)).all()


def test_names_pass_through_a_pipeline():
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    pipeline = make_pipeline(PerInstance(StandardScaler()), classifier()).fit(named, Y)
    assert pipeline[-1].rules_.feature_names == ("width", "depth")
    assert list(pipeline[-1].feature_names_in_) == ["width", "depth"]
    reduced = make_pipeline(PerInstance(PCA(2)), classifier()).fit(named, Y)
    assert reduced[-1].rules_.feature_names == ("pca0", "pca1")
    assert list(reduced[0].get_feature_names_out()) == ["pca0", "pca1"]


def test_an_imputer_fills_in_missing_values_in_a_pipeline():
    gappy = BAGS.map_instances(lambda x: np.where(np.arange(x.size).reshape(x.shape) % 7 == 3, np.nan, x))
    pipeline = make_pipeline(PerInstance(SimpleImputer()), classifier()).fit(gappy, Y)
    assert pipeline.predict(gappy).shape == (len(BAGS),)


@pytest.mark.slow
def test_parallel_cross_validation_gives_the_same_numbers():
    expected = cross_val_score(classifier(), BAGS, Y, cv=3)
    np.testing.assert_array_equal(cross_val_score(classifier(), BAGS, Y, cv=3, n_jobs=2), expected)


# ---------------------------------------------------------------------- labels


LABELS = {
    "0/1": Y,
    "-1/+1": 2 * Y - 1,
    "bool": Y.astype(bool),
    "float": Y.astype(float),
    "words": np.where(Y, "rock", "mine"),
    "objects": np.where(Y, "rock", "a longer word").astype(object),
    "three words": WORDS,
    "gaps": np.select([WORDS == "concept1", WORDS == "concept2"], [-7, 40], 3),
    "uint8": Y.astype(np.uint8),
}


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_of_any_kind_go_in_and_come_back(labels, loss):
    model = classifier(loss=loss).fit(BAGS, labels)
    np.testing.assert_array_equal(model.classes_, np.unique(labels))
    assert model.classes_.dtype == labels.dtype
    predicted = model.predict(BAGS)
    assert predicted.dtype == labels.dtype
    assert set(predicted.tolist()) <= set(labels.tolist())
    np.testing.assert_array_equal(classifier(loss=loss).fit(BAGS, labels.tolist()).predict(BAGS), predicted)
    assert model.score(BAGS, labels) == np.mean(predicted == labels)
    outputs = 1 if len(model.classes_) == 2 else 3
    assert len(model.rules_.outputs) == outputs
    assert model.rules_.coefs.shape == (3, outputs, 1)


def test_the_kind_of_label_does_not_change_what_is_learned():
    expected = classifier().fit(BAGS, Y).decision_function(BAGS)
    for labels in (LABELS["-1/+1"], LABELS["bool"], np.where(Y, "b", "a")):
        np.testing.assert_array_equal(classifier().fit(BAGS, labels).decision_function(BAGS), expected)


@pytest.mark.parametrize("estimator", [NaiveMIL(LogisticRegression()), NaiveMIL(ANFISClassifier(**QUICK))])
@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_the_naive_way_takes_labels_of_any_kind(estimator, labels):
    model = clone(estimator).fit(BAGS, labels)
    predicted = model.predict(BAGS)
    assert set(predicted.tolist()) <= set(labels.tolist())
    proba = model.predict_proba(BAGS)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    if len(model.classes_) > 2:
        np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], predicted)


def test_outputs_are_named_after_the_classes():
    assert classifier().fit(BAGS, Y).rules_.outputs == ("y",)
    assert classifier().fit(BAGS, LABELS["words"]).rules_.outputs == ("rock",)
    assert classifier().fit(BAGS, WORDS).rules_.outputs == ("concept1", "concept2", "negative")
    assert len(classifier().fit(BAGS, LABELS["gaps"]).rules_.outputs) == 3


def test_regression_of_several_outputs():
    both = np.column_stack([NUMBERS, 100 - 50 * NUMBERS])
    model = regressor(max_epochs=40).fit(BAGS, both)
    predicted = model.predict(BAGS)
    assert predicted.shape == both.shape
    assert model.instance_scores(BAGS).shape == (BAGS.n_instances, 2)
    assert len(model.rules_.outputs) == 2
    # The second output is a line of the first, so what is learned of it is, too.
    np.testing.assert_allclose(predicted[:, 1], 100 - 50 * predicted[:, 0], rtol=1e-2, atol=0.5)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output, predicted, rtol=1e-12)
    one = regressor().fit(BAGS, NUMBERS[:, None])
    np.testing.assert_array_equal(one.predict(BAGS).ravel(), regressor().fit(BAGS, NUMBERS).predict(BAGS))


def test_regression_of_whole_numbers_returns_fractions():
    assert regressor().fit(BAGS, Y).predict(BAGS).dtype == np.float64


# ---------------------------------------------------------------------- losses


@pytest.mark.slow
@pytest.mark.parametrize("labels", [Y, WORDS], ids=["two", "three"])
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_decision_probability_and_prediction_agree(loss, labels):
    model = classifier(loss=loss, max_epochs=40).fit(BAGS, labels)
    decision, proba, predicted = model.decision_function(BAGS), model.predict_proba(BAGS), model.predict(BAGS)
    assert proba.shape == (len(BAGS), len(model.classes_))
    assert (proba >= 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-14)
    chosen = np.searchsorted(model.classes_, predicted)
    if len(model.classes_) == 2:
        assert decision.shape == (len(BAGS),)
        np.testing.assert_array_equal(chosen, decision > 0)
        assert (np.diff(proba[np.argsort(decision), 1]) >= 0).all()
        if loss != "hinge":  # a fitted sigmoid need not cross one half at 0
            np.testing.assert_array_equal(proba[:, 1] > 0.5, decision > 0)
    else:
        assert decision.shape == proba.shape
        np.testing.assert_array_equal(chosen, decision.argmax(axis=1))
        if loss != "hinge":
            np.testing.assert_array_equal(proba[np.arange(len(BAGS)), chosen], proba.max(axis=1))
    assert len(np.unique(predicted)) > 1
    assert model.history_["loss"][-1] < model.history_["loss"][0]


def test_each_loss_reads_the_output_as_its_table_says():
    output = classifier().fit(BAGS, Y).rules_.infer(BAGS).output[:, 0]
    model = classifier().fit(BAGS, Y)
    np.testing.assert_allclose(model.decision_function(BAGS), output - 0.5, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], np.clip(output, 0, 1), rtol=1e-12)
    model = classifier(loss="cross_entropy").fit(BAGS, Y)
    logit = model.rules_.infer(BAGS).output[:, 0]
    np.testing.assert_allclose(model.decision_function(BAGS), logit, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], 1 / (1 + np.exp(-logit)), rtol=1e-12)
    model = classifier(loss="cross_entropy").fit(BAGS, WORDS)
    logits = np.exp(model.decision_function(BAGS))
    np.testing.assert_allclose(model.predict_proba(BAGS), logits / logits.sum(axis=1, keepdims=True), rtol=1e-12)


def test_outputs_beyond_all_classes_still_make_probabilities():
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, np.full((3, 3, 1), -4.0))
    model = classifier(init=rules, max_epochs=0).fit(BAGS, WORDS)
    np.testing.assert_allclose(model.predict_proba(BAGS), 1 / 3)


@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
@pytest.mark.parametrize("labels", [Y, WORDS], ids=["two", "three"])
def test_the_first_loss_of_the_history_is_that_of_the_initial_rules(loss, labels):
    model = classifier(loss=loss, max_epochs=1).fit(BAGS, labels)
    output = model.initial_rules_.infer(BAGS).output
    one_hot = labels[:, None] == (model.classes_[1:] if len(model.classes_) == 2 else model.classes_)
    if loss == "squared_error":
        expected = np.square(output - one_hot).sum(axis=1)
    elif loss == "hinge" and len(model.classes_) == 2:
        expected = np.maximum(0, 1 - output[:, 0] * np.where(one_hot[:, 0], 1, -1))
    elif loss == "hinge":
        expected = np.maximum(0, 1 + np.where(one_hot, -np.inf, output).max(axis=1) - output[one_hot])
    elif len(model.classes_) == 2:
        expected = np.log1p(np.exp(np.where(one_hot, -output, output)))[:, 0]
    else:
        expected = np.log(np.exp(output).sum(axis=1)) - output[one_hot]
    np.testing.assert_allclose(model.history_["loss"], expected.mean(), rtol=1e-5)


# ---------------------------------------------------------------------- rules in the user's units


@pytest.mark.slow
def test_units_of_features_change_the_rules_and_nothing_else():
    scale, shift = np.array([1000.0, 0.001]), np.array([1e6, -5.0])
    moved = BAGS.map_instances(lambda x: x * scale + shift)
    for order in (0, 1):
        settings = {"order": order, "run": DOUBLE, "max_epochs": 20}
        here, there = classifier(**settings).fit(BAGS, Y), classifier(**settings).fit(moved, Y)
        np.testing.assert_allclose(there.decision_function(moved), here.decision_function(BAGS), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(there.rules_.centers, here.rules_.centers * scale + shift, rtol=1e-7)
        np.testing.assert_allclose(there.rules_.widths, here.rules_.widths * scale, rtol=1e-6)
        if order == 1:
            slopes, moved_slopes = (model.rules_.coefs[:, 0, 1:] for model in (here, there))
            np.testing.assert_allclose(moved_slopes, slopes / scale, rtol=1e-5, atol=1e-12)


@pytest.mark.slow
def test_units_of_the_target_change_the_conclusions_and_nothing_else():
    for order in (0, 1):
        settings = {"order": order, "run": DOUBLE, "max_epochs": 20}
        here = regressor(**settings).fit(BAGS, NUMBERS)
        there = regressor(**settings).fit(BAGS, 1e6 + 1000 * NUMBERS)
        np.testing.assert_allclose(there.predict(BAGS), 1e6 + 1000 * here.predict(BAGS), rtol=1e-9)
        np.testing.assert_allclose(there.rules_.centers, here.rules_.centers, rtol=1e-6)
        np.testing.assert_allclose(
            there.rules_.coefs[:, 0, 0], 1e6 + 1000 * here.rules_.coefs[:, 0, 0], rtol=1e-7, atol=1e-3
        )


@pytest.mark.parametrize("standardize", [True, False])
def test_the_rules_say_what_the_model_says(standardize):
    model = classifier(variant=Variant(standardize=standardize)).fit(BAGS, Y)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-12)
    low, high = BAGS.instances.min(axis=0), BAGS.instances.max(axis=0)
    assert (model.rules_.centers > low - 1).all()
    assert (model.rules_.centers < high + 1).all()
    assert [v.low for v in model.rules_.variables] == low.tolist()
    assert str(model.rules_).count("THEN y =") == 3


def test_values_outside_the_range_of_training_count_as_its_end():
    model = classifier(variant=Variant(clip=1.0)).fit(BAGS, Y)
    mean, deviation = BAGS.instances.mean(axis=0), BAGS.instances.std(axis=0)
    limited = BAGS.map_instances(lambda x: np.clip(x, mean - deviation, mean + deviation))
    np.testing.assert_allclose(model.decision_function(limited), model.decision_function(BAGS), rtol=1e-12)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-12)
    np.testing.assert_allclose(model.history_["loss"][0], mean_squared_error(model.initial_rules_, BAGS, Y), rtol=1e-4)
    far = [np.array([[1e9, -1e9]]), np.array([[mean[0] + deviation[0], mean[1] - deviation[1]]])]
    np.testing.assert_allclose(*model.decision_function(far), rtol=1e-12)
    free = classifier(variant=Variant(clip=None)).fit(BAGS, Y)
    assert not np.allclose(free.decision_function(limited), free.decision_function(BAGS))
    wide = classifier(variant=Variant(clip=100.0)).fit(BAGS, Y)  # even then nothing beyond what was seen
    np.testing.assert_allclose(*wide.decision_function([[[1e9, 1.0]], [[BAGS.instances[:, 0].max(), 1.0]]]), rtol=1e-12)


@pytest.mark.slow
def test_members_are_averaged_best_first():
    model = classifier(n_estimators=3, init="random").fit(BAGS, Y)
    assert len(model.members_) == 3
    assert model.rules_ is model.members_[0]
    outputs = np.array([rules.infer(BAGS).output[:, 0] for rules in model.members_])
    np.testing.assert_allclose(model.decision_function(BAGS), outputs.mean(axis=0) - 0.5, rtol=1e-12)
    losses = [mean_squared_error(rules, BAGS, Y) for rules in model.members_]
    assert losses == sorted(losses)
    assert len(set(losses)) == 3
    both = classifier(n_estimators=2, n_init=2, init="random").fit(BAGS, Y)
    assert len(both.members_) == 2
    assert not np.allclose(both.members_[0].centers, both.members_[1].centers)


@pytest.mark.slow
def test_of_several_restarts_the_least_loss_is_kept():
    losses = []
    for n_init in range(1, 5):  # the first starts of more restarts are those of fewer
        model = classifier(n_init=n_init, init="random").fit(BAGS, Y)
        losses.append(mean_squared_error(model.rules_, BAGS, Y))
        assert len(model.members_) == 1
    assert (np.diff(losses) <= 1e-7).all()
    assert losses[-1] < losses[0]
    seen = []  # a callback sees the loss before an epoch's step, so the sixth row is what five epochs end with
    again = classifier(n_init=4, init="random", max_epochs=6, run=calling(lambda now: seen.append(now.loss)))
    again.fit(BAGS, Y)
    columns = np.array(seen)
    assert columns.shape == (6, 4)
    matching = np.flatnonzero((columns[:5] == model.history_["loss"][:, None]).all(axis=0))
    assert matching.tolist() == [columns[5].argmin()]


def test_shapes_of_initial_rules_and_history():
    model = classifier(max_epochs=7, n_init=2).fit(BAGS, Y)
    assert model.initial_rules_.n_rules == model.rules_.n_rules == 3
    assert model.initial_rules_.coefs.shape == model.rules_.coefs.shape
    assert set(model.history_) == {"loss", "rmse", "change"}
    assert all(len(values) == 7 and np.isfinite(values).all() for values in model.history_.values())
    assert model.n_iter_ == 7
    np.testing.assert_allclose(model.history_["rmse"] ** 2, model.history_["loss"], rtol=1e-5)
    untrained = classifier(max_epochs=0).fit(BAGS, Y)
    assert len(untrained.history_["loss"]) == 0
    np.testing.assert_allclose(untrained.rules_.centers, untrained.initial_rules_.centers, rtol=1e-6)
    np.testing.assert_allclose(untrained.initial_rules_.centers, model.initial_rules_.centers, rtol=0.5)
    outputs = classifier(max_epochs=0, variant=Variant(init_outputs="ones")).fit(BAGS, Y).initial_rules_.coefs
    np.testing.assert_array_equal(outputs, np.ones((3, 1, 1)))
    assert not np.allclose(model.initial_rules_.coefs, 1)


# ---------------------------------------------------------------------- going on


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_partial_fit_starts_with_some_classes_and_goes_on(loss):
    model = classifier(loss=loss, learning_rate=0.1)
    some = WORDS != "concept2"
    model.partial_fit(BAGS[some], WORDS[some], classes=["concept1", "concept2", "negative"])
    assert model.classes_.tolist() == ["concept1", "concept2", "negative"]
    assert model.predict_proba(BAGS).shape == (len(BAGS), 3)
    before = model.score(BAGS, WORDS)
    for _ in range(60):
        assert model.partial_fit(BAGS, WORDS) is model
    assert model.score(BAGS, WORDS) > before
    np.testing.assert_allclose(model.predict_proba(BAGS).sum(axis=1), 1)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_partial_fit_on_bags_of_one_class(loss):
    model = classifier(loss=loss).partial_fit(BAGS, Y)
    model.partial_fit(BAGS[Y == 1], Y[Y == 1])
    assert np.isfinite(model.predict_proba(BAGS)).all()


@networks
def test_partial_fits_equal_one_fit_of_as_many_epochs(model):
    bags, y = material(model)
    whole = clone(model).fit(bags, y)
    parts = clone(model)
    for _ in range(5):
        parts.partial_fit(bags, y)
    np.testing.assert_allclose(score_of(parts, bags), score_of(whole, bags), rtol=1e-4, atol=1e-5)


@networks
def test_warm_start_continues_where_training_stopped(model):
    bags, y = material(model)
    long = clone(model).set_params(max_epochs=10).fit(bags, y)
    warm = clone(model).set_params(warm_start=True).fit(bags, y)
    first = warm.history_["loss"]
    warm.fit(bags, y)
    assert (np.diff(np.concatenate([first, warm.history_["loss"]])) < 0).all()
    np.testing.assert_allclose(warm.history_["loss"], long.history_["loss"][5:], rtol=1e-4)
    np.testing.assert_allclose(score_of(warm, bags), score_of(long, bags), rtol=1e-3, atol=1e-4)
    cold = clone(model).fit(bags, y)
    np.testing.assert_array_equal(cold.fit(bags, y).history_["loss"], first)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"optimizer": "sgd"},
        {"optimizer": optax.sgd(0.01)},
        {"variant": Variant(width_scale="direct")},
        {"variant": Variant(learn_alpha=True)},
        {"run": DOUBLE},
        {"batch_size": 4},
        {"rule_keep_prob": 0.5},
        {"n_iter_no_change": 20},
    ],
    ids=lambda change: next(iter(change)),
)
def test_settings_may_change_before_a_warm_start(change):
    model = classifier(warm_start=True).fit(BAGS, Y)
    model.set_params(**change).fit(BAGS, Y)
    assert np.isfinite(model.decision_function(BAGS)).all()


@pytest.mark.parametrize("change", [{"loss": "cross_entropy"}, {"n_rules": 7}, {"order": 1}, {"alpha": 2.0}])
def test_settings_that_shaped_the_rules_may_not_change_before_a_warm_start(change):
    model = classifier(warm_start=True).fit(BAGS, Y)
    before = model.decision_function(BAGS)
    ((name, _),) = change.items()
    with pytest.raises(ValueError, match=rf"made with {name}=.*warm_start=False"):
        model.set_params(**change).fit(BAGS, Y)
    model.set_params(loss="squared_error")
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


def test_a_warm_start_with_other_classes_is_refused():
    model = classifier(warm_start=True).fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(ValueError, match="classes"):
        model.fit(BAGS, WORDS)
    with pytest.raises(ValueError, match="outputs"):
        regressor(warm_start=True).fit(BAGS, NUMBERS).fit(BAGS, np.column_stack([NUMBERS, NUMBERS]))
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


# ---------------------------------------------------------------------- stopping


def test_early_stopping_keeps_the_best_epoch():
    model = classifier(n_iter_no_change=3, max_epochs=300, learning_rate=0.3).fit(BAGS, Y)
    validation = model.history_["validation_loss"]
    assert len(validation) == model.n_iter_ < 300
    assert validation.argmin() == len(validation) - 1 - 3
    full = classifier(n_iter_no_change=300, max_epochs=12).fit(BAGS, Y)
    assert len(full.history_["validation_loss"]) == 12


def test_tolerance_ends_training():
    model = classifier(variant=Variant(tol=1e3), max_epochs=50).fit(BAGS, Y)
    assert model.n_iter_ == 1


def test_a_callback_sees_every_epoch_and_ends_training():
    seen = []

    def callback(now):
        seen.append((now.epoch, now.max_epochs, float(now.loss[0]), now.params()[0].coefs.shape))
        return now.epoch == 3

    model = classifier(max_epochs=50, run=calling(callback)).fit(BAGS, Y)
    assert [entry[0] for entry in seen] == [1, 2, 3]
    assert all(entry[1] == 50 and entry[3] == (3, 1, 1) for entry in seen)
    np.testing.assert_array_equal(model.history_["loss"], [entry[2] for entry in seen])
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(
        model.decision_function(BAGS), classifier(max_epochs=3).fit(BAGS, Y).decision_function(BAGS)
    )


@networks
def test_ctrl_c_keeps_the_model_so_far(model):
    bags, y = material(model)

    def interrupt(now):
        if now.epoch == 3:
            raise KeyboardInterrupt

    model = clone(model).set_params(max_epochs=50, run=calling(interrupt))
    with pytest.warns(UserWarning, match=r"interrupted.*after 3 epoch") as caught:
        model.fit(bags, y)
    assert len(caught) == 1
    assert model.n_iter_ == 3
    reference = clone(model).set_params(max_epochs=3, run=None).fit(bags, y)
    np.testing.assert_array_equal(score_of(model, bags), score_of(reference, bags))


def test_an_error_in_a_callback_leaves_the_model_as_it_was():
    def fail(now):
        raise RuntimeError("not my day")

    model = classifier().fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(RuntimeError, match="not my day"):
        model.set_params(run=calling(fail)).fit(BAGS, 1 - Y)
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


@pytest.mark.slow
def test_divergence_is_told_and_leaves_a_usable_model():
    model = classifier(optimizer="sgd", learning_rate=1e30, order=1)
    with pytest.warns(ConvergenceWarning, match=r"diverged.*smaller learning_rate") as caught:
        model.fit(BAGS, Y)
    assert len(caught) == 1
    assert np.isfinite(model.decision_function(BAGS)).all()
    assert model.predict(BAGS).shape == (len(BAGS),)
    assert np.isfinite(model.rules_.centers).all()


def test_a_warning_points_at_the_line_that_fits():
    with pytest.warns(ConvergenceWarning) as caught:
        classifier(optimizer="sgd", learning_rate=1e30, order=1).fit(BAGS, Y)
    assert caught[0].filename == __file__
    with pytest.warns(ConvergenceWarning) as caught:
        regressor(optimizer="sgd", learning_rate=1e30, order=1).fit(BAGS, NUMBERS)
    assert caught[0].filename == __file__


def test_verbose_shows_a_bar(capsys):
    model = classifier(verbose=True).fit(BAGS, Y)
    out = capsys.readouterr().err
    assert "MIANFISClassifier" in out
    assert "5/5" in out
    assert "loss" in out
    np.testing.assert_array_equal(model.decision_function(BAGS), classifier().fit(BAGS, Y).decision_function(BAGS))
    assert capsys.readouterr() == ("", "")


# ---------------------------------------------------------------------- weights


@pytest.mark.slow
def test_class_weights():
    plain = classifier(max_epochs=40).fit(BAGS, Y)
    count = np.bincount(Y)
    named = classifier(max_epochs=40, class_weight={0: count.sum() / 2 / count[0], 1: count.sum() / 2 / count[1]})
    balanced = classifier(max_epochs=40, class_weight="balanced").fit(BAGS, Y)
    np.testing.assert_allclose(
        named.fit(BAGS, Y).decision_function(BAGS), balanced.decision_function(BAGS), rtol=1e-5, atol=1e-6
    )
    by_bag = classifier(max_epochs=40).fit(BAGS, Y, sample_weight=np.where(Y == 1, count[0] / count[1], 1.0))
    np.testing.assert_allclose(by_bag.decision_function(BAGS), balanced.decision_function(BAGS), rtol=1e-3, atol=1e-4)
    heavy = classifier(max_epochs=40, class_weight={0: 50.0}).fit(BAGS, Y)
    errors = [np.square(model.decision_function(BAGS)[Y == 0] + 0.5).mean() for model in (heavy, plain)]
    assert errors[0] < errors[1]
    words = classifier(class_weight={"concept1": 3.0}).fit(BAGS, WORDS)
    assert words.predict(BAGS).shape == (len(BAGS),)
    flags = classifier(class_weight={False: 2.0}).fit(BAGS, Y.astype(bool))
    assert flags.predict(BAGS).dtype == bool


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["squared_error", "cross_entropy", "hinge"])
def test_a_bag_of_weight_zero_is_absent(loss):
    weights = np.ones(len(BAGS))
    weights[[2, 9, 20]] = 0
    there = weights > 0
    fit = {"loss": loss, "init": (CENTERS, WIDTHS), "variant": RAW, "run": DOUBLE, "max_epochs": 20}
    zero = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    absent = classifier(**fit).fit(BAGS[there], Y[there])
    np.testing.assert_allclose(zero.decision_function(BAGS), absent.decision_function(BAGS), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(zero.predict_proba(BAGS), absent.predict_proba(BAGS), rtol=1e-6, atol=1e-6)


@pytest.mark.slow
def test_what_is_in_a_bag_of_weight_zero_does_not_matter_on_line():
    weights = np.ones(len(BAGS))
    weights[[2, 9, 20]] = 0
    other = Bags.from_list([bag + (weights[b] == 0) for b, bag in enumerate(BAGS)])
    fit = {"init": (CENTERS, WIDTHS), "variant": RAW, "run": DOUBLE, "batch_size": 1}
    one = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    two = classifier(**fit).fit(other, np.where(weights == 0, 1 - Y, Y), sample_weight=weights)
    np.testing.assert_allclose(two.decision_function(BAGS), one.decision_function(BAGS), rtol=1e-9, atol=1e-10)


@pytest.mark.slow
def test_a_weight_of_two_counts_as_the_bag_twice():
    fit = {"init": (CENTERS, WIDTHS), "variant": RAW, "run": DOUBLE, "max_epochs": 20}
    weights = np.where(np.arange(len(BAGS)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(BAGS)), weights.astype(int))
    weighted = classifier(**fit).fit(BAGS, Y, sample_weight=weights)
    repeated = classifier(**fit).fit(BAGS[twice], Y[twice])
    np.testing.assert_allclose(weighted.decision_function(BAGS), repeated.decision_function(BAGS), rtol=1e-7, atol=1e-9)


# ---------------------------------------------------------------------- Rule Dropout


@pytest.mark.filterwarnings("ignore:The given rules do worse than chance")
@pytest.mark.parametrize("order", [0, 1])
def test_the_factor_of_rule_dropout_is_folded_into_the_rules(order):
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, np.arange(3.0 * (1 + 2 * order)).reshape(3, 1, -1), alpha=2.0)
    model = classifier(
        init=rules, order=order, rule_keep_prob=0.6, variant=Variant(rule_dropout="paper"), max_epochs=0
    ).fit(BAGS, Y)
    output = model.initial_rules_.infer(BAGS).output
    np.testing.assert_allclose(output, rules.infer(BAGS).output, rtol=1e-5)
    np.testing.assert_allclose(model.rules_.infer(BAGS).output, 0.6 * output, rtol=1e-5)
    np.testing.assert_allclose(model.decision_function(BAGS), 0.6 * output[:, 0] - 0.5, rtol=1e-4, atol=1e-6)
    shared = classifier(init=rules, order=order, rule_keep_prob=0.6, max_epochs=0)
    np.testing.assert_allclose(shared.fit(BAGS, Y).rules_.infer(BAGS).output, output, rtol=1e-5)
    numbers = regressor(
        init=rules, order=order, rule_keep_prob=0.6, variant=Variant(rule_dropout="paper"), max_epochs=0
    ).fit(BAGS, NUMBERS)
    mean = NUMBERS.mean()
    np.testing.assert_allclose(numbers.predict(BAGS) - mean, 0.6 * (output[:, 0] - mean), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("rule_dropout", ["paper", "renormalize"])
@pytest.mark.parametrize("batch_size", [None, 1])
def test_training_with_rule_dropout(rule_dropout, batch_size):
    model = classifier(
        rule_keep_prob=0.8,
        variant=Variant(rule_dropout=rule_dropout),
        batch_size=batch_size,
        max_epochs=60,
        init="random",
        n_init=2,
    ).fit(BAGS, Y)
    assert model.score(BAGS, Y) >= 2 / 3
    again = clone(model).fit(BAGS, Y)
    np.testing.assert_array_equal(again.decision_function(BAGS), model.decision_function(BAGS))
    assert not np.allclose(
        clone(model).set_params(rule_keep_prob=None).fit(BAGS, Y).decision_function(BAGS), model.decision_function(BAGS)
    )


def test_keeping_every_rule_is_no_dropout():
    np.testing.assert_array_equal(
        classifier(rule_keep_prob=1.0).fit(BAGS, Y).decision_function(BAGS),
        classifier().fit(BAGS, Y).decision_function(BAGS),
    )


@pytest.mark.slow
def test_rule_dropout_comes_on_by_itself_where_numbers_outnumber_bags():
    few, many = BAGS[::3], BAGS[np.repeat(np.arange(24), 2)]
    for bags, expected in ((few, 0.7), (many, None)):  # 3 rules of 2 centers, 2 widths and a conclusion: 15 numbers
        auto = classifier(rule_keep_prob="auto").fit(bags)
        given = classifier(rule_keep_prob=expected).fit(bags)
        np.testing.assert_array_equal(auto.decision_function(BAGS), given.decision_function(BAGS))


# ---------------------------------------------------------------------- where rules start


@pytest.mark.parametrize("init", ["fcm", "kmeans", "random", "grid"])
@pytest.mark.parametrize("init_bags", ["positive", "balanced", "all"])
def test_partitions_start_inside_the_data(init, init_bags):
    model = classifier(init=init, variant=Variant(init_bags=init_bags), max_epochs=1).fit(BAGS, Y)
    centers = model.initial_rules_.centers
    assert centers.shape == (3, 2)
    assert (centers >= BAGS.instances.min(axis=0)).all()
    assert (centers <= BAGS.instances.max(axis=0)).all()
    assert len(np.unique(centers.round(6), axis=0)) == 3
    np.testing.assert_allclose(
        model.initial_rules_.widths, np.broadcast_to(0.6 * 2**0.5 * BAGS.instances.std(0), (3, 2))
    )
    wide = classifier(init=init, variant=Variant(init_bags=init_bags), init_width=2.0, max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(wide.initial_rules_.widths, np.broadcast_to(2 * BAGS.instances.std(0), (3, 2)))


def test_given_centers_and_widths_are_in_the_users_units():
    model = classifier(init=CENTERS, max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.centers, CENTERS, rtol=1e-12)
    model = classifier(init=(CENTERS, WIDTHS), max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.centers, CENTERS, rtol=1e-12)
    np.testing.assert_allclose(model.initial_rules_.widths, WIDTHS, rtol=1e-12)
    model = classifier(init=(CENTERS.tolist(), 0.25), max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.widths, 0.25, rtol=1e-12)
    assert classifier(n_rules=9, init=CENTERS).fit(BAGS, Y).rules_.n_rules == 3  # as many as were given


def mixed_rules():
    """Rules of several families, with don't-care and linear conclusions."""
    x = Variable("x", {"low": Gaussian(0.4, 0.3), "about": Bell(1.2, 0.5, 2.0), "trap": Trapezoidal(-1, 0, 2, 3)})
    y = Variable("y", {"wide": Triangular(-2, 1, 4), "high": Gaussian(1.5, 0.4)})
    rules = (
        Rule({"x": "low"}, ((0.1, 0.2, -0.3),)),
        Rule({"x": "about", "y": "high"}, ((0.9, 0.0, 0.1),)),
        Rule({"x": "trap", "y": "wide"}, ((0.3, 0.1, 0.1),)),
        Rule({}, ((0.5, 0.0, 0.0),)),
    )
    return RuleBase((x, y), rules, alpha=3.0, consequent_alpha=2.0)


@pytest.mark.parametrize("standardize", [True, False])
def test_given_rules_are_refined(standardize):
    rules = mixed_rules()
    model = classifier(init=rules, variant=Variant(standardize=standardize), max_epochs=30).fit(BAGS, Y)
    np.testing.assert_allclose(model.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-9)
    assert [set(rule.antecedent) for rule in model.rules_.rules] == [set(rule.antecedent) for rule in rules.rules]
    assert model.rules_.coefs.shape == (4, 1, 3)
    assert model.rules_.alpha == 3.0
    np.testing.assert_allclose(model.rules_.consequent_alpha, 2.0)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    np.testing.assert_allclose(
        model.history_["loss"][0], mean_squared_error(RuleBase.from_dict(rules.to_dict()), BAGS, Y), rtol=1e-4
    )
    np.testing.assert_allclose(model.rules_.infer(BAGS).output[:, 0] - 0.5, model.decision_function(BAGS), rtol=1e-9)
    numbers = regressor(init=rules, variant=Variant(standardize=standardize)).fit(BAGS, NUMBERS)
    np.testing.assert_allclose(numbers.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-7)


def test_given_rules_of_constant_conclusions_can_become_linear():
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5])
    model = classifier(init=rules, order=1, max_epochs=20).fit(BAGS, Y)
    assert model.rules_.coefs.shape == (3, 1, 3)
    assert np.abs(model.rules_.coefs[:, :, 1:]).max() > 0
    np.testing.assert_allclose(model.initial_rules_.infer(BAGS).output, rules.infer(BAGS).output, rtol=1e-9)


def test_a_fitted_models_rules_start_another():
    first = classifier(max_epochs=20).fit(BAGS, Y)
    second = classifier(init=first.rules_, max_epochs=0).fit(BAGS, Y)
    np.testing.assert_allclose(second.decision_function(BAGS), first.decision_function(BAGS), rtol=1e-4, atol=1e-5)


def test_given_rules_are_matched_with_the_features_by_name():
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5], feature_names=["depth", "width"])
    try:
        model = classifier(init=rules, max_epochs=0).fit(named, Y)
    except ValueError:  # refusing rules over features in another order is as good
        return
    np.testing.assert_allclose(model.rules_.infer(named).output, rules.infer(named).output, rtol=1e-5)


def test_given_rules_over_features_the_bags_do_not_have_are_refused():
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5], feature_names=["weight", "depth"])
    with pytest.raises(ValueError, match="weight"):
        classifier(init=rules, max_epochs=0).fit(named, Y)


# ---------------------------------------------------------------------- families, operators, missing values


def variants():
    for family in learnable_families():
        yield pytest.param({"membership": family}, id=family)
    for name in sorted(T_NORMS.keys() - {"drastic", "nilpotent"}):  # zero almost everywhere: no gradient to learn by
        yield pytest.param({"t_norm": name}, id=f"t-norm {name}")
    for name in AGGREGATIONS:
        yield pytest.param({"aggregation": name, "alpha": 2.0}, id=f"aggregation {name}")
    for name in COMBINERS:
        yield pytest.param({"combine": name, "order": 1, "consequent_alpha": 2.0}, id=f"combine {name}")
    for alpha in (0.0, np.inf, -np.inf, -3.0):
        yield pytest.param({"alpha": alpha}, id=f"alpha {alpha}")
    yield pytest.param({"normalize": False}, id="not normalized")
    yield pytest.param({"order": 1, "consequent_alpha": np.inf}, id="greatest response")
    yield pytest.param({"order": 1, "variant": Variant(learn_alpha=True)}, id="alphas learned")
    yield pytest.param({"variant": Variant(width_scale="direct")}, id="direct widths")
    yield pytest.param({"variant": Variant(update_rule="paper")}, id="printed gradients")
    yield pytest.param({"run": DOUBLE, "order": 1}, id="double")


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
    after = classifier(init=model.rules_, max_epochs=1, **settings).fit(BAGS, Y)
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
    double = classifier(max_epochs=30, run=DOUBLE).fit(BAGS, Y)
    np.testing.assert_allclose(double.decision_function(BAGS), single.decision_function(BAGS), atol=2e-3)
    assert not np.array_equal(double.rules_.centers.astype(np.float32), double.rules_.centers)
    first = classifier(run=DOUBLE, max_epochs=1).fit(BAGS, Y)
    np.testing.assert_allclose(first.history_["loss"][0], mean_squared_error(first.initial_rules_, BAGS, Y), rtol=1e-12)


# ---------------------------------------------------------------------- optimizers, batches, presets


@pytest.mark.slow
def test_an_optax_transformation_brings_its_own_rate():
    own = classifier(optimizer=optax.adam(0.03), learning_rate=123.0).fit(BAGS, Y)
    np.testing.assert_allclose(
        own.decision_function(BAGS), classifier().fit(BAGS, Y).decision_function(BAGS), rtol=1e-4, atol=1e-5
    )
    schedule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.linear_schedule(0.1, 0.0, 5)))
    model = classifier(optimizer=schedule, n_init=2).fit(BAGS, Y)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    assert cross_val_score(clone(model), BAGS, Y, cv=2).shape == (2,)


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_small_batches_learn_too(batch_size):
    model = classifier(batch_size=batch_size, max_epochs=15).fit(BAGS, Y)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    if batch_size == 100:  # more than there are: all at once
        np.testing.assert_allclose(
            model.decision_function(BAGS), classifier(max_epochs=15).fit(BAGS, Y).decision_function(BAGS), atol=1e-3
        )


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_on_line_learning_bears_bags_that_fire_a_rule_far_less_than_their_neighbors(precision):
    """Rows of the next bag stand beside a bag's own as padding; theirs must not reach its gradient."""
    bags = [np.array([[0.0], [0.1]]), np.array([[100.0], [99.9]])] * 4
    rules = RuleBase.from_arrays([[0.0], [100.0]], [[1.0], [1.0]], [0.4, 0.6])
    model = classifier(init=rules, batch_size=1, max_epochs=3, variant=RAW, run=RunOptions(precision=precision))
    model.fit(bags, [0, 1] * 4)  # a warning (of divergence) is an error here
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.predict(bags), [0, 1] * 4)
    reference = clone(model).set_params(optimizer="sgd", batch_size=1).fit(bags, [0, 1] * 4)
    assert (np.diff(reference.history_["loss"]) < 0).all()


def test_plain_gradient_descent_takes_the_step_of_the_formula():
    """One step on constant conclusions only: d/db of the mean squared error is -2 w (y - O)."""
    rules = RuleBase.from_arrays(CENTERS, WIDTHS, [0.2, 0.8, 0.5])
    model = classifier(init=rules, optimizer="sgd", learning_rate=0.1, max_epochs=1, run=DOUBLE, variant=RAW).fit(
        BAGS, Y
    )
    seen = rules.infer(BAGS)
    gradient = -2 * (seen.normalized * (Y - seen.output[:, 0])[:, None]).mean(axis=0)
    np.testing.assert_allclose(model.rules_.coefs[:, 0, 0], np.array([0.2, 0.8, 0.5]) - 0.1 * gradient, rtol=1e-10)


@pytest.mark.slow
def test_the_papers_settings_in_one_call():
    model = MIANFISClassifier.paper(3, 0.5, max_epochs=10, random_state=0)
    assert (model.n_rules, model.init_width, model.max_epochs) == (3, 0.5, 10)
    expected = {
        "optimizer": "sgd", "learning_rate": 0.1, "batch_size": 1, "variant": "paper", "init": "fcm",
        "alpha": 1.0, "order": 0,
        "membership": "gaussian", "t_norm": "product", "aggregation": "softmax", "loss": "squared_error",
    }  # fmt: skip
    assert {name: model.get_params()[name] for name in expected} == expected
    literal = Variant(
        update_rule="paper", width_scale="direct", init_outputs="ones", init_bags="positive", rule_dropout="paper",
        standardize=False, clip=None,
    )  # fmt: skip
    assert Variant.of(model.variant) == literal
    model.fit(BAGS, Y)
    np.testing.assert_array_equal(model.initial_rules_.coefs, np.ones((3, 1, 1)))
    np.testing.assert_allclose(model.initial_rules_.widths, 0.5)
    assert model.history_["loss"][-1] < model.history_["loss"][0]
    assert MIANFISClassifier.paper(2, 1.0).max_epochs == 150
    with pytest.raises(TypeError, match="nonsense"):
        MIANFISClassifier.paper(2, 1.0, nonsense=1)


# ---------------------------------------------------------------------- the plain and the naive ones


def test_plain_anfis_is_the_network_on_bags_of_one():
    rows, labels = BAGS.instances, BAGS.instances[:, 0] > 1
    np.testing.assert_array_equal(
        ANFISClassifier(**QUICK).fit(rows, labels).decision_function(rows),
        classifier().fit(rows, labels).decision_function(rows),
    )
    np.testing.assert_array_equal(
        ANFISRegressor(**QUICK).fit(rows, rows[:, 0]).predict(rows), regressor().fit(rows, rows[:, 0]).predict(rows)
    )


@pytest.mark.parametrize("pool", ["max", "mean", "min"])
def test_the_naive_way_pools_what_the_instances_say(pool):
    pooled = {"max": np.max, "mean": np.mean, "min": np.min}[pool]
    model = NaiveMIL(LogisticRegression(), pool=pool).fit(BAGS, Y)
    inner = LogisticRegression().fit(BAGS.instances, np.repeat(Y, BAGS.sizes))
    likely = np.array([pooled(inner.predict_proba(bag)[:, 1]) for bag in BAGS])
    np.testing.assert_allclose(model.predict_proba(BAGS)[:, 1], likely, rtol=1e-12)
    np.testing.assert_allclose(model.decision_function(BAGS), likely - 0.5, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(BAGS), (likely > 0.5).astype(int))
    numbers = NaiveMIL(LinearRegression(), pool=pool).fit(BAGS, NUMBERS)
    line = LinearRegression().fit(BAGS.instances, np.repeat(NUMBERS, BAGS.sizes))
    np.testing.assert_allclose(numbers.predict(BAGS), [pooled(line.predict(bag)) for bag in BAGS], rtol=1e-10)
    assert not hasattr(numbers, "predict_proba")
    assert not hasattr(numbers, "decision_function")
    assert not hasattr(NaiveMIL(LinearSVC()), "predict_proba")


def test_the_naive_way_hands_weights_on():
    weights = np.where(np.arange(len(BAGS)) % 2, 1.0, 3.0)
    model = NaiveMIL(LogisticRegression()).fit(BAGS, Y, sample_weight=weights)
    inner = LogisticRegression().fit(
        BAGS.instances, np.repeat(Y, BAGS.sizes), sample_weight=np.repeat(weights, BAGS.sizes)
    )
    np.testing.assert_array_equal(model.estimator_.coef_, inner.coef_)


def test_per_instance_learns_from_the_labels_of_the_bags():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    step = PerInstance(LinearDiscriminantAnalysis(n_components=1)).fit(BAGS, Y)
    inner = LinearDiscriminantAnalysis(n_components=1).fit(BAGS.instances, np.repeat(Y, BAGS.sizes))
    moved = step.transform(BAGS)
    np.testing.assert_allclose(moved.instances, inner.transform(BAGS.instances))
    np.testing.assert_array_equal(moved.labels, BAGS.labels)
    np.testing.assert_array_equal(moved.ids, BAGS.ids)
    assert isinstance(step.transform(BAGS.instances), np.ndarray)


def test_instances_are_scored_by_rules_that_count():
    """Alone, no instance is three of them: it is asked whether it would be one."""
    train, test = make_planted("count", 60, random_state=0), make_planted("count", 60, random_state=1)
    model = MIANFISClassifier(random_state=0).fit(train)
    assert "at least" in [part.quantifier for part in model.rules_.parts]
    positive = test[np.flatnonzero(test.labels)]  # only there are the instances marked
    assert roc_auc_score(positive.instance_labels > 0, model.instance_scores(positive)) > 0.95

"""Bad input: an error that says what was expected, what came and what to do, and no half-fitted estimator."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    Bags,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    Operators,
    PerInstance,
    RuleBase,
    Training,
    as_bags,
)
from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.learn.train import partition

QUICK = {"n_rules": 3, "max_epochs": 5, "init": "fcm", "rule_keep_prob": None, "random_state": 0}
BAGS = make_two_concepts(8, 8, random_state=0)
LIST = [bag.copy() for bag in BAGS]
Y = BAGS.labels
NUMBERS = np.array([bag[:, 0].max() for bag in BAGS])

ESTIMATORS = {
    "classifier": MIANFISClassifier(**network_parameters(**QUICK)),
    "regressor": MIANFISRegressor(**network_parameters(**QUICK)),
    "naive": NaiveMIL(LogisticRegression()),
}
every = pytest.mark.parametrize("model", ESTIMATORS.values(), ids=ESTIMATORS)


def classifier(**changes):
    whole = {name: changes.pop(name) for name in ("operators", "training") if name in changes}
    return MIANFISClassifier(**network_parameters(**QUICK | changes) | whole)


def labels_of(model):
    return Y if is_classifier(model) else NUMBERS


def with_bag(position, bag):
    bags = list(LIST)
    bags[position] = bag
    return bags


def with_value(value):
    bag = LIST[7].copy()
    bag[1, 0] = value
    return Bags.from_list(with_bag(7, bag), ["width", "depth"], ids=[f"bag{b}" for b in range(24)])


# What stands in a list, as bags and as one array; each with words its message must have.
DATA = {
    "empty list": ([], ["no bags", "empty"]),
    "empty bag": (with_bag(3, np.empty((0, 2))), ["3", "no instances|empty"]),
    "ragged": (with_bag(5, np.ones((2, 3))), ["5", "3", "2", "feature"]),
    "infinite": (with_bag(4, np.array([[1.0, np.inf]])), ["4", "infinite"]),
    "text": (with_bag(6, np.array([["a", "b"]])), ["6", "number"]),
    "one dimension": (np.arange(24.0), ["1-?D|dim|one-dimensional|1d|Reshape"]),
    "four dimensions": (np.ones((24, 2, 2, 2)), ["4|four"]),
    "a word": ("bags", ["bags"]),
    "nothing": (None, ["None"]),
    "complex": (with_bag(2, np.array([[1j, 2.0]])), ["[Cc]omplex"]),
    "no features": ([np.empty((2, 0))] * 24, ["feature"]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "words"), DATA.values(), ids=DATA)
@every
def test_data_that_are_no_bags(model, data, words):
    model = clone(model)
    with pytest.raises(InputError) as caught:
        model.fit(data, labels_of(model))
    for word in words:
        assert caught.match(word)
    with pytest.raises(NotFittedError):
        model.predict(BAGS)
    fitted = clone(model).fit(BAGS, labels_of(model))
    with pytest.raises(InputError):
        fitted.predict(data)
    assert fitted.predict(BAGS).shape == (24,)


def test_the_place_of_a_missing_value_is_named():
    with pytest.raises(InputError, match=r"Feature 'width' of bag bag7, row 1 of the bag, is missing") as caught:
        classifier(missing="error").fit(with_value(np.nan), Y)
    assert "missing='median'" in str(caught.value)
    assert "SimpleImputer" in str(caught.value)
    with pytest.raises(InputError, match=r"width.*bag7, row 1.*infinite"):
        with_value(np.inf)
    fitted = classifier(missing="error").fit(BAGS, Y)
    with pytest.raises(InputError, match="missing"):
        fitted.predict([LIST[0], np.array([[1.0, np.nan]])])


def test_types_of_input_that_are_no_numbers_are_type_errors_too():
    with pytest.raises(InputTypeError):
        classifier().fit(with_bag(6, np.array([["a", "b"]])), Y)


def test_a_table_with_words_in_it():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"bag": [1, 1, 2], "width": [1.0, 2.0, 3.0], "color": ["red", "blue", "red"]})
    with pytest.raises(InputError, match="color"):
        classifier().fit(Bags.from_frame(table, bag="bag"), [0, 1])


def test_labels_that_vary_within_a_bag():
    with pytest.raises(InputError, match=r"label.*b.*|b.*label"):
        Bags.from_long([[1.0], [2.0], [3.0]], ["a", "b", "b"], labels=[0, 0, 1])


LABELS = {
    "too few": (Y[:-1], ["24 bags", "23"]),
    "too many": (np.r_[Y, 0], ["24 bags", "25"]),
    "a row each": (np.repeat(Y, BAGS.sizes), ["24 bags", "from_long"]),
    "a single one": (1, ["24 bags"]),
    "none": (None, ["requires y", "labels"]),
    "missing": (np.where(Y, np.nan, 0.0), ["NaN"]),
    "infinite": (np.where(Y, np.inf, 0.0), ["infinity"]),
}


@pytest.mark.parametrize(("labels", "words"), LABELS.values(), ids=LABELS)
@every
def test_labels_that_do_not_fit(model, labels, words):
    model = clone(model)
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the words are checked below
        model.fit(LIST, labels)
    for word in words:
        assert caught.match(word)
    with pytest.raises(NotFittedError):
        model.predict(BAGS)


def test_one_class_only():
    with pytest.raises(InputError, match=r"24 bags.*one class \(spam\).*at least two"):
        classifier().fit(BAGS, ["spam"] * 24)
    with pytest.raises(ValueError, match="class"):
        NaiveMIL(LogisticRegression()).fit(BAGS, ["spam"] * 24)
    with pytest.raises(InputError, match="at least two"):
        classifier().fit(BAGS[:1], [1])


def test_continuous_labels_for_a_classifier_and_words_for_a_regressor():
    with pytest.raises(ValueError, match="continuous"):
        classifier().fit(BAGS, NUMBERS)
    with pytest.raises(ValueError, match=r"string|number"):
        MIANFISRegressor(**network_parameters(**QUICK)).fit(BAGS, ["a", "b"] * 12)
    with pytest.raises(ValueError, match=r"1d|2d|shape"):
        classifier().fit(BAGS, np.column_stack([Y, Y]))


def test_an_unknown_label_later():
    model = classifier().fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(InputError, match=r"label 2 .* classes 0, 1"):
        model.partial_fit(BAGS, 2 * Y)
    with pytest.raises(InputError, match="classes"):
        classifier().partial_fit(BAGS, Y, classes=[1, 5])
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


@every
def test_features_that_are_not_those_of_the_training(model):
    y = labels_of(model)
    named = BAGS.map_instances(lambda x: x, ["width", "depth"])
    fitted = clone(model).fit(named, y)
    assert fitted.feature_names_in_.tolist() == ["width", "depth"]
    with pytest.raises(InputError, match="same order"):
        fitted.predict(named.map_instances(lambda x: x[:, ::-1], ["depth", "width"]))
    with pytest.raises(InputError, match=r"(?s)unseen.*height.*missing.*depth"):
        fitted.predict(named.map_instances(lambda x: x, ["width", "height"]))
    with pytest.raises(InputError, match=r"(?s)missing.*depth"):
        fitted.predict(named.map_instances(lambda x: x[:, :1], ["width"]))
    with pytest.raises(InputError, match=r"(?s)unseen.*third"):
        fitted.predict(named.map_instances(lambda x: np.column_stack([x, x[:, 0]]), ["width", "depth", "third"]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        fitted.predict(BAGS)
    plain = clone(model).fit(BAGS, y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        plain.predict(named)
    with pytest.raises(InputError, match=r"X has 3 features, but .* is expecting 2"):
        plain.predict(BAGS.map_instances(lambda x: np.column_stack([x, x[:, 0]])))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = fitted.fit(BAGS, y)  # names of an earlier fit are forgotten
        assert not hasattr(again, "feature_names_in_")
        again.predict(BAGS)


def test_one_instance_networks_refuse_bags():
    for make, other in ((ANFISClassifier, "MIANFISClassifier"), (ANFISRegressor, "MIANFISRegressor")):
        with pytest.raises(InputError, match=rf"one instance per bag.*{other}.*NaiveMIL\({make.__name__}\(\)\)"):
            make(**network_parameters(**QUICK)).fit(BAGS, Y)


GRID = np.array([[0.5, 0.5], [1.5, 1.5], [1.0, 0.2]])
SETTINGS = {
    "no rules": ({"n_rules": 0}, "n_rules must be a whole number of at least 1, got 0"),
    "half a rule": ({"n_rules": 2.5}, "n_rules must be a whole number"),
    "one constant rule": ({"n_rules": 1}, "n_rules=2 or more, or order=1"),
    "too many rules": ({"n_rules": 1000}, r"n_rules=1000.*distinct instance.*fewer rules"),
    "alpha NaN": ({"alpha": np.nan}, "alpha must be a number, got nan"),
    "alpha text": ({"alpha": "1"}, "alpha must be a number, got '1'"),
    "widths zero": ({"init": (GRID, 0 * GRID)}, r"widths.*greater than 0; got.*0"),
    "widths negative": ({"init": (GRID, -GRID)}, r"widths.*greater than 0"),
    "widths NaN": ({"init": (GRID, np.nan)}, r"widths.*finite"),
    "widths of another shape": ({"init": (GRID, np.ones((2, 2)))}, r"init|widths"),
    "widths text": ({"init": (GRID, "wide")}, r"init|widths"),
    "centers NaN": ({"init": GRID * np.nan}, r"init must be .*\(n_rules, 2\)"),
    "centers of other features": ({"init": np.ones((3, 5))}, r"init must be .*\(n_rules, 2\)"),
    "centers text": ({"init": [["a", "b"]]}, "init must be"),
    "centers ragged": ({"init": [[1.0, 2.0], [3.0]]}, "init must be"),
    "init of one part": ({"init": (GRID,)}, "init must be"),
    "init of three parts": ({"init": (GRID, GRID, GRID)}, "init must be"),
    "init None": ({"init": None}, "init must be"),
    "init misspelt": ({"init": "kmean"}, r"Unknown init 'kmean'.*Did you mean 'kmeans'"),
    "rules of other features": (
        {"init": RuleBase.from_arrays([[0.0]] * 3, [[1.0]] * 3, [1] * 3)},
        r"1 variables.*needs 2",
    ),
    "missing": ({"missing": "drop"}, "Unknown missing"),
    "order": ({"order": 2}, r"order must be 0 \(constant conclusions\) or 1"),
    "members": ({"n_estimators": True}, "n_estimators must be"),
    "class weight": ({"class_weight": {7: 1.0}}, "class_weight names 7"),
    "class weight word": ({"class_weight": "fair"}, "class_weight"),
    "class weights zero": ({"class_weight": {0: 0, 1: 0}}, "class_weight|weight"),
    "class weight negative": ({"class_weight": {0: -1.0}}, "class_weight|weight"),
    "class weight NaN": ({"class_weight": {0: np.nan}}, "class_weight|weight"),
    "seed": ({"random_state": "lucky"}, "lucky"),
    "too few to hold out": (
        {"training": Training(n_iter_no_change=20, validation_fraction=0.01)},
        "more bags",
    ),
    "training": ({"training": 5}, r"training must be None or Training"),
    "operators": ({"operators": "min"}, r"operators must be None or Operators"),
}


@pytest.mark.parametrize(("settings", "words"), SETTINGS.values(), ids=SETTINGS)
def test_settings_out_of_range(settings, words):
    model = classifier(**settings)  # the constructor only stores
    with pytest.raises(ValueError, match=words):
        model.fit(BAGS, Y)
    with pytest.raises(NotFittedError):
        model.predict(BAGS)
    fitted = classifier().fit(BAGS, Y)
    before = fitted.decision_function(BAGS)
    with pytest.raises(ValueError, match=words):
        fitted.set_params(**settings).fit(BAGS, 1 - Y)
    fitted.set_params(**{name: getattr(MIANFISClassifier(), name) for name in settings})
    np.testing.assert_array_equal(fitted.decision_function(BAGS), before)


@pytest.mark.parametrize(
    ("options", "settings", "words"),
    [
        (Operators, {"t_norm": "prodct"}, r"Unknown t_norm.*Did you mean 'product'"),
        (Operators, {"t_norm": ["min"]}, "Unknown t_norm"),
        (Operators, {"aggregation": "sum"}, "Unknown aggregation 'sum'"),
        (Operators, {"conclusion_aggregation": None}, "Unknown conclusion_aggregation None"),
        (Operators, {"membership": "gauss"}, "Unknown membership"),
        (Training, {"loss": "log"}, "Unknown loss"),
        (Training, {"optimizer": "adm"}, "Unknown optimizer.*adam"),
        (Training, {"optimizer": 3}, r"optimizer must be auto, hybrid, adam, sgd or .*optax.*got 3"),
        (Training, {"learning_rate": 0}, "learning_rate must be a number above 0, got 0"),
        (Training, {"learning_rate": np.inf}, "learning_rate must be a number"),
        (Training, {"max_epochs": -1}, "max_epochs must be a whole number"),
        (Training, {"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        (Training, {"n_iter_no_change": 0}, "n_iter_no_change must be a whole number"),
        (Training, {"validation_fraction": 1.0}, "validation_fraction must be a number above 0 and below 1"),
        (Training, {"n_init": 0}, "n_init must be"),
        (Training, {"rule_keep_prob": 0.0}, "rule_keep_prob must be a number above 0 and at most 1"),
        (Training, {"rule_keep_prob": "autom"}, "rule_keep_prob"),
        (Training, {"rule_keep_prob": 1.5}, "rule_keep_prob must be"),
        (Training, {"init_bags": "negative"}, "Unknown init_bags"),
        (Training, {"update_rule": "printed"}, "Unknown update_rule"),
        (Training, {"width_scale": 2}, "Unknown width_scale"),
        (Training, {"init_outputs": "zeros"}, "Unknown init_outputs"),
        (Training, {"rule_dropout": "yes"}, "Unknown rule_dropout"),
        (Operators, {"conclusion_alpha": np.nan}, "conclusion_alpha must be a number"),
        (Training, {"init_width": 0}, "init_width must be a number above 0, got 0"),
        (Training, {"tol": -1.0}, "tol must be a number of at least 0"),
        (Training, {"clip": 0.0}, "clip must be a number above 0"),
        (Training, {"clip": np.nan}, "clip must be a number"),
        (Training, {"standardize": "no"}, "standardize must be True or False, got 'no'"),
        (Training, {"learn_alpha": 1}, "learn_alpha must be True or False, got 1"),
        (Training, {"precision": "half"}, "Unknown precision"),
        (Training, {"callbacks": print}, "callbacks"),
        (Training, {"callbacks": [5]}, "callbacks"),
        (Training, {"checkpoint": 3}, r"checkpoint must be a folder.*got 3"),
        (Training, {"checkpoint": ""}, "checkpoint must be a folder"),
    ],
)
def test_options_out_of_range(options, settings, words):
    with pytest.raises(ParameterError, match=words):
        options(**settings)


def test_extreme_numbers_are_refused_or_used_without_a_numpy_warning():
    for settings in ({"alpha": 1e300}, {"learning_rate": 1e-300}):
        try:
            model = classifier(**settings).fit(BAGS, Y)
        except ValueError:
            continue
        assert np.isfinite(model.decision_function(BAGS)).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e300])
def test_features_of_any_scale_are_learned_alike(scale):
    expected = classifier().fit(BAGS, Y).decision_function(BAGS)
    moved = BAGS.map_instances(lambda x: x * scale)
    try:
        found = classifier().fit(moved, Y).decision_function(moved)
    except ValueError:
        return  # refused, in words
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)


WEIGHTS = {
    "too few": (np.ones(3), "sample_weight"),
    "negative": (-np.ones(24), "sample_weight"),
    "missing": (np.full(24, np.nan), "sample_weight"),
    "all zero": (np.zeros(24), "at least one"),
    "two-dimensional": (np.ones((24, 2)), "[Ss]ample"),
}


@pytest.mark.parametrize(("weights", "words"), WEIGHTS.values(), ids=WEIGHTS)
def test_weights_out_of_range(weights, words):
    for model in (classifier(), MIANFISRegressor(**network_parameters(**QUICK))):
        with pytest.raises(ValueError, match=words):
            model.fit(BAGS, Y, sample_weight=weights)


def test_the_wrong_thing_inside():
    with pytest.raises(ParameterError, match=r"NaiveMIL\(LogisticRegression\(\)\)"):
        NaiveMIL().fit(BAGS, Y)
    with pytest.raises(ParameterError, match=r"Unknown pool 'sum'.*max, min, mean"):
        NaiveMIL(LogisticRegression(), pool="sum").fit(BAGS, Y)
    with pytest.raises(ParameterError, match=r"PerInstance\(StandardScaler\(\)\)"):
        PerInstance().fit(BAGS)
    with pytest.raises(ParameterError, match="PerInstance"):
        PerInstance(LogisticRegression()).fit(BAGS, Y)


# ---------------------------------------------------------------------- never half fitted


def failures():
    def bad_labels(model):
        model.fit(BAGS, Y[:-1])

    def missing(model):
        model.set_params(missing="error").fit(with_value(np.nan), Y)

    def bad_setting(model):
        model.set_params(n_rules=-1).fit(BAGS, Y)

    def bad_init(model):
        model.set_params(init=np.ones((3, 7))).fit(BAGS, Y)

    def one_class(model):
        model.fit(BAGS, np.zeros(24, int))

    def other_features(model):
        model.partial_fit(BAGS.map_instances(lambda x: x[:, :1]), Y)

    return [bad_labels, missing, bad_setting, bad_init, one_class, other_features]


@pytest.mark.parametrize("fail", failures(), ids=lambda fail: fail.__name__)
@pytest.mark.parametrize("loss", ["squared_error", "hinge"])
def test_a_failed_fit_leaves_a_fitted_model_as_it_was(fail, loss):
    model = classifier(loss=loss).fit(BAGS, Y)
    before = model.decision_function(BAGS), model.predict_proba(BAGS), dict(vars(model))
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        fail(model)
    model.set_params(**{name: value for name, value in before[2].items() if name in model.get_params()})
    np.testing.assert_array_equal(model.decision_function(BAGS), before[0])
    np.testing.assert_array_equal(model.predict_proba(BAGS), before[1])
    assert vars(model).keys() == before[2].keys()
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("fail", failures()[:-1], ids=lambda fail: fail.__name__)
def test_a_failed_fit_leaves_a_fresh_model_unfitted(fail):
    model = classifier()
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        fail(model)
    assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
    with pytest.raises(NotFittedError):
        model.predict(BAGS)
    with pytest.raises(NotFittedError):
        model.save("nowhere.json")


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("problem", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_start_changes_nothing(fitted, problem, monkeypatch):
    model = classifier()
    if fitted:
        before = model.fit(BAGS, Y).decision_function(BAGS)

    def stop(*args, **kwargs):
        raise problem

    with monkeypatch.context() as broken:
        broken.setitem(partition.PARTITIONS, "fcm", stop)
        with pytest.raises(problem):
            model.fit(BAGS, 1 - Y)
    if fitted:
        np.testing.assert_array_equal(model.decision_function(BAGS), before)
    else:
        with pytest.raises(NotFittedError):
            model.predict(BAGS)


@pytest.mark.slow
def test_a_failed_partial_fit_changes_nothing():
    for loss in ("squared_error", "hinge"):
        model = classifier(loss=loss)
        some = Y == 1
        try:
            model.partial_fit(BAGS[some], Y[some], classes=[0, 1])
        except ValueError:
            with pytest.raises(NotFittedError):
                model.predict(BAGS)
        else:
            assert np.isfinite(model.predict_proba(BAGS)).all()


def test_a_failed_fit_of_the_naive_way_changes_nothing():
    model = NaiveMIL(LogisticRegression()).fit(BAGS, Y)
    before = model.decision_function(BAGS)
    with pytest.raises(ValueError, match="class"):
        model.fit(BAGS.map_instances(lambda x: x[:, :1]), np.zeros(24))
    np.testing.assert_array_equal(model.decision_function(BAGS), before)


def test_input_is_not_changed():
    kept = BAGS.instances.copy()
    given = [bag.copy() for bag in LIST]
    classifier().fit(given, Y).predict(given)
    np.testing.assert_array_equal(np.concatenate(given), kept)
    np.testing.assert_array_equal(as_bags(given).instances, kept)

"""What every comparator must do; every class in the registry is tested here, so that none escapes.

Those of the paper's table that are not part of the library are tested in the same way, by `make test-slow`.
"""

import importlib
import inspect
import pkgutil
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from fuzzymil import Bags, PerInstance, comparators
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.bags.statistics import fill_missing
from fuzzymil.comparators import COMPARATORS, BagClassifier
from paper import methods

NAMES = sorted({*comparators.__all__, *methods.__all__} & {*COMPARATORS})
# Settings that take little time, for whichever estimators have them.
QUICK = {"max_starts": 2, "n_estimators": 5, "random_state": 0}


def cases(condition=lambda name: True):
    """Parametrize a test with the names of comparators."""
    marks = dict.fromkeys(methods.__all__, pytest.mark.slow)
    chosen = [pytest.param(name, marks=marks.get(name, ())) for name in NAMES if condition(name)]
    return pytest.mark.parametrize("name", chosen)


every = cases()


def parameters(name):
    return list(inspect.signature(COMPARATORS[name]).parameters)


def make(name):
    """Return an unfitted estimator with quick settings."""
    return COMPARATORS[name](**{key: value for key, value in QUICK.items() if key in parameters(name)})


def easy_bags(n_bags, seed):
    """Bags of 1 to 4 instances widely around the origin; half of them have one or two more close to (3, 3, 3)."""
    rng = np.random.RandomState(seed)
    bags, labels = [], np.arange(n_bags) % 2
    for label in labels:
        usual = rng.normal(size=(rng.randint(1, 5), 3))
        telling = rng.normal(3.0, 0.1, size=(label * rng.randint(1, 3), 3))
        bags.append(rng.permutation(np.concatenate([usual, telling])))
    return Bags.from_list(bags, ["width", "depth", "height"], labels=labels)


TRAIN, TEST = easy_bags(30, seed=1), easy_bags(40, seed=2)


@cache
def fitted(name):
    return make(name).fit(TRAIN)


@cache
def decisions(name):
    return fitted(name).decision_function(TEST)


def shuffled_within(bags, seed):
    rng = np.random.RandomState(seed)
    return Bags.from_list([rng.permutation(bag) for bag in bags], bags.feature_names, labels=bags.labels)


@pytest.mark.parametrize("package", [comparators, methods], ids=["library", "paper"])
def test_every_concrete_comparator_of_the_package_is_registered_and_exported(package):
    paths = [f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__)]
    members = [
        member for path in paths for member in inspect.getmembers(importlib.import_module(path), inspect.isclass)
    ]
    kinds = {name: kind for name, kind in members if issubclass(kind, BagClassifier) and not name.startswith("_")}
    concrete = {name for name, kind in kinds.items() if not inspect.isabstract(kind) and kind.__module__ in paths}
    assert concrete == set(package.__all__) & set(COMPARATORS)
    assert concrete <= set(NAMES)
    assert len({COMPARATORS[name].title for name in NAMES}) == len(NAMES)


# ---------------------------------------------------------------------- settings


@every
def test_the_constructor_stores_its_arguments_and_nothing_else(name):
    given = {key: object() for key in parameters(name)}
    estimator = COMPARATORS[name](**given)
    assert vars(estimator) == given


@pytest.mark.slow
@every
def test_clones_have_the_same_settings_and_are_not_fitted(name):
    copy = clone(fitted(name))
    assert copy.get_params() == fitted(name).get_params()
    with pytest.raises(NotFittedError):
        copy.predict(TEST)


@every
def test_settings_set_by_name_come_back(name):
    estimator = make(name)
    for key, value in fitted(name).get_params().items():
        assert estimator.set_params(**{key: value}).get_params()[key] == value


@every
def test_fitting_changes_no_setting(name):
    assert fitted(name).get_params() == make(name).get_params()


# ---------------------------------------------------------------------- decisions


@every
def test_easy_bags_are_told_apart(name):
    assert fitted(name).score(TEST) > 0.8


@every
def test_the_same_seed_gives_the_same_decisions(name):
    again = make(name).fit(TRAIN).decision_function(TEST)
    np.testing.assert_array_equal(again, decisions(name))


@every
def test_the_sign_of_the_decision_is_the_prediction(name):
    assert decisions(name).shape == (len(TEST),)
    assert np.isfinite(decisions(name)).all()
    np.testing.assert_array_equal(fitted(name).predict(TEST), (decisions(name) > 0).astype(int))


@pytest.mark.slow
@every
def test_the_order_of_instances_does_not_matter_in_training(name):
    again = make(name).fit(shuffled_within(TRAIN, seed=3)).decision_function(TEST)
    np.testing.assert_array_equal(again, decisions(name))


@every
def test_the_order_of_instances_does_not_matter_in_prediction(name):
    again = fitted(name).decision_function(shuffled_within(TEST, seed=3))
    np.testing.assert_allclose(again, decisions(name), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@every
def test_bags_are_decided_alone(name):
    order = np.random.RandomState(4).permutation(len(TEST))
    shuffled = fitted(name).decision_function(TEST[order])
    np.testing.assert_allclose(shuffled, decisions(name)[order], rtol=1e-5, atol=1e-6)
    parts = [fitted(name).decision_function(TEST[cut]) for cut in ([0], slice(1, 17), slice(17, None))]
    np.testing.assert_allclose(np.concatenate(parts), decisions(name), rtol=1e-5, atol=1e-6)


@cases(lambda name: "random_state" not in parameters(name))
def test_the_order_of_bags_does_not_matter_in_training_where_nothing_is_random(name):
    order = np.random.RandomState(5).permutation(len(TRAIN))
    again = make(name).fit(TRAIN[order])
    np.testing.assert_array_equal(again.predict(TEST), fitted(name).predict(TEST))


@every
def test_single_precision_is_enough(name):
    single = TEST.map_instances(lambda x: x.astype(np.float32))
    again = make(name).fit(TRAIN.map_instances(lambda x: x.astype(np.float32))).predict(single)
    assert (again == fitted(name).predict(TEST)).mean() > 0.9


@cases(lambda name: hasattr(COMPARATORS[name], "instance_scores"))
def test_instances_are_scored_one_by_one(name):
    scores = fitted(name).instance_scores(TEST)
    assert scores.shape == (TEST.n_instances,)
    assert np.isfinite(scores).all()
    backwards = Bags.from_list([bag[::-1] for bag in TEST], TEST.feature_names)
    turned = [part[::-1] for part in np.split(fitted(name).instance_scores(backwards), TEST.offsets[1:-1])]
    np.testing.assert_allclose(np.concatenate(turned), scores, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------------- labels and features


@pytest.mark.slow
@every
@pytest.mark.parametrize(
    "classes",
    [np.array(["active", "none"]), np.array([False, True]), np.array([-1, 1]), np.array(["a", "b"], dtype=object)],
    ids=["text", "bool", "signs", "objects"],
)
def test_labels_come_back_as_they_were_given(name, classes):
    found = make(name).fit(TRAIN, classes[TRAIN.labels])
    np.testing.assert_array_equal(found.classes_, classes)
    predicted = found.predict(TEST)
    assert predicted.dtype == classes.dtype
    np.testing.assert_array_equal(predicted, classes[fitted(name).predict(TEST)])
    assert found.score(TEST, classes[TEST.labels]) == fitted(name).score(TEST)


@every
def test_features_are_recorded_and_compared(name):
    model = fitted(name)
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["width", "depth", "height"]
    renamed = Bags(TEST.instances, TEST.offsets, feature_names=["width", "height", "depth"])
    with pytest.raises(InputError, match="same order"):
        model.predict(renamed)
    with pytest.raises(InputError, match=r"2 features.* 3"):
        make(name).fit(list(TRAIN), TRAIN.labels).predict([bag[:, :2] for bag in TEST])


@every
def test_lists_and_plain_arrays_are_bags_too(name):
    plain = make(name).fit(list(TRAIN), TRAIN.labels.tolist())
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_allclose(plain.decision_function(list(TEST)), decisions(name), rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@every
def test_bags_of_one_instance(name):
    rng = np.random.RandomState(6)
    y = np.arange(30) % 2
    X = rng.normal(4.0 * y[:, None], 0.5, size=(30, 2))
    assert make(name).fit(X, y).score(X, y) > 0.8


@pytest.mark.slow
@every
def test_the_same_instance_many_times(name):
    twice = Bags.from_list([np.repeat(bag, 2, axis=0) for bag in TRAIN], TRAIN.feature_names, labels=TRAIN.labels)
    assert np.isfinite(make(name).fit(twice).decision_function(TEST)).all()
    often = Bags.from_list([np.repeat(bag, 3, axis=0) for bag in TEST], TEST.feature_names)
    assert np.isfinite(fitted(name).decision_function(often)).all()


# ---------------------------------------------------------------------- bad input


@every
def test_unfitted(name):
    with pytest.raises(NotFittedError):
        make(name).decision_function(TEST)


@every
def test_one_class_is_not_enough(name):
    with pytest.raises(InputError, match="one class"):
        make(name).fit(TRAIN, np.zeros(len(TRAIN)))


@pytest.mark.slow
@every
def test_three_classes_are_too_many_and_the_way_out_works(name):
    three = np.arange(len(TRAIN)) % 3
    with pytest.raises(InputError, match=r"3 classes .*OneVsRestClassifier"):
        make(name).fit(TRAIN, three)
    assert set(OneVsRestClassifier(make(name)).fit(TRAIN, three).predict(TEST)) <= {0, 1, 2}


@every
def test_medians_take_the_place_of_missing_values(name):
    instances = TRAIN.instances.copy()
    instances[TRAIN.offsets[3], 1] = np.nan
    holed = Bags(instances, TRAIN.offsets, feature_names=TRAIN.feature_names, labels=TRAIN.labels)
    model = fitted(name)
    np.testing.assert_allclose(model.medians_, np.median(TRAIN.instances, axis=0))
    complete = fill_missing(holed, model.medians_)
    np.testing.assert_array_equal(model.decision_function(holed), model.decision_function(complete))


@every
def test_labels_must_be_there_and_as_many_as_bags(name):
    with pytest.raises(InputError, match=r"\by\b"):
        make(name).fit(list(TRAIN))
    with pytest.raises(InputError, match=r"30 .*29"):
        make(name).fit(list(TRAIN), TRAIN.labels[1:])


# ---------------------------------------------------------------------- inside scikit-learn


@pytest.mark.slow
@every
def test_pipelines_cross_validation_and_searches(name):
    model = make_pipeline(PerInstance(StandardScaler()), make(name))
    folds = StratifiedKFold(2)
    assert cross_val_score(model, TRAIN, TRAIN.labels, cv=folds).shape == (2,)
    grid = {"perinstance__transformer": [StandardScaler(), MinMaxScaler()]}
    search = GridSearchCV(model, grid, cv=folds, error_score="raise").fit(TRAIN, TRAIN.labels)
    assert search.predict(TEST).shape == (len(TEST),)


def test_a_fit_that_failed_leaves_no_fitted_estimator():
    model = comparators.MiGraph(gamma=-1.0)
    with pytest.raises(ParameterError):
        model.fit([[[0.0]], [[1.0]]], [0, 1])
    with pytest.raises(NotFittedError):
        model.predict([[[0.0]]])

"""What every estimator does with ragged bags, which scikit-learn's own checks (one-instance bags) cannot see."""

import io
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from small_fits import BAGS, BATTERY, Y, arrays_of, classifier, material, networks, score_of

from fuzzymil import Bags, NaiveMIL, PerInstance

battery = pytest.mark.parametrize("model", [pytest.param(model, id=name) for name, model in BATTERY.items()])


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
    search = GridSearchCV(pipeline, {f"{pipeline.steps[-1][0]}__training__learning_rate": [0.01, 0.1]}, cv=2)
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

"""Streams: parts loaded when needed, trained on and predicted from as bags in memory are."""

import weakref

import numpy as np
import pytest
from sklearn.base import clone

from fuzzymil import ANFISRegressor, Bags, BagStream, MIANFISClassifier, RuleClassifier, Training
from fuzzymil._utils.errors import InputError, InputTypeError, ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import network_parameters
from fuzzymil.learn.train import partition
from fuzzymil.learn.train.partition import summarize
from fuzzymil.learn.train.windows import Feed

BAGS = make_two_concepts(random_state=0)


def numbers_of(model):
    return np.concatenate([model.rules_.centers.ravel(), model.rules_.coefs.ravel()])


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr("fuzzymil.learn.train.windows.WINDOW_VALUES", 300)


@pytest.mark.slow
def test_all_bags_at_once_is_the_same_from_a_stream_of_many_windows(small_windows):
    model = MIANFISClassifier(4, training=Training(max_epochs=15, precision="double"), random_state=0)
    expected = numbers_of(model.fit(BAGS))
    history = model.history_
    found = model.fit(BagStream.from_bags(BAGS, 7))
    np.testing.assert_allclose(numbers_of(found), expected, rtol=0, atol=1e-10)
    for name, values in history.items():
        np.testing.assert_allclose(found.history_[name], values, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_missing_values_one_instance_rows_and_early_stopping(small_windows):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    target = np.nansum(rows, axis=1)
    bags = Bags(rows, np.arange(61), labels=target, feature_names=["a", "b", "c"])
    model = ANFISRegressor(
        3,
        order=1,
        missing="ignore",
        training=Training(optimizer="adam", max_epochs=12, n_iter_no_change=20, precision="double"),
        random_state=0,
    )
    expected = model.fit(bags).predict(bags)
    stream = BagStream.from_bags(bags, 5)
    model.fit(stream)
    np.testing.assert_allclose(model.predict(bags), expected, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.predict(stream), model.predict(bags), rtol=0, atol=1e-12)
    assert model.score(stream) == pytest.approx(model.score(bags))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


@pytest.mark.slow
def test_steps_of_few_bags_visit_every_bag_once_an_epoch(small_windows):
    """With a rate too small to matter, the mean of the visited bags' losses is the loss of all bags."""
    settings = {"max_epochs": 1, "learning_rate": 1e-9, "random_state": 0, "precision": "double"}
    whole = MIANFISClassifier(4, **network_parameters(**settings)).fit(BAGS)
    steps = MIANFISClassifier(4, **network_parameters(batch_size=8, **settings)).fit(BagStream.from_bags(BAGS, 6))
    assert steps.history_["loss"][0] == pytest.approx(whole.history_["loss"][0], rel=1e-6)


def test_steps_of_few_bags_learn_and_repeat(small_windows):
    model = MIANFISClassifier(6, training=Training(batch_size=8, max_epochs=30), random_state=0)
    first = model.fit(BagStream.from_bags(BAGS, 6))
    numbers = numbers_of(first)
    assert first.score(BAGS) > 0.9
    assert np.array_equal(numbers_of(model.fit(BagStream.from_bags(BAGS, 6))), numbers)


@pytest.mark.slow
def test_predictions_and_scores_of_a_stream_are_those_of_its_bags():
    model = MIANFISClassifier(4, training=Training(max_epochs=5), random_state=0).fit(BAGS)
    stream = BagStream.from_bags(BAGS, 4)
    for method in ("predict", "predict_proba", "decision_function", "instance_scores"):
        found, expected = (getattr(model, method)(bags) for bags in (stream, BAGS))
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    assert model.score(stream) == model.score(BAGS)
    assert model.score(stream, BAGS.labels) == model.score(BAGS)


@pytest.mark.slow
def test_a_killed_fit_of_a_stream_goes_on_in_the_middle_of_an_epoch(small_windows, monkeypatch, tmp_path):
    monkeypatch.setattr("fuzzymil.learn.train.trainer._CHECKPOINT_SECONDS", 0.0)
    calls = []

    def load(part, *, dies):
        calls.append(part)
        if dies and len(calls) > 40:
            raise OSError("the disk is gone")
        return BAGS[part * 15 : (part + 1) * 15]

    for batch_size in (None, 8):
        calls.clear()
        model = MIANFISClassifier(
            4, training=Training(batch_size=batch_size, max_epochs=6, checkpoint=tmp_path / "kept"), random_state=0
        )
        with pytest.raises(OSError, match="the disk is gone"):
            model.fit(BagStream(lambda part: load(part, dies=True), 10))
        assert list((tmp_path / "kept").glob("*.checkpoint"))
        calls.clear()
        resumed = numbers_of(model.fit(BagStream(lambda part: load(part, dies=False), 10)))
        assert len(calls) < 70  # a summary and six epochs from the start take that many
        whole = model.set_params(training__checkpoint=None).fit(BagStream(lambda part: load(part, dies=False), 10))
        assert np.array_equal(resumed, numbers_of(whole))


def test_rules_start_on_a_sample_of_what_is_large(monkeypatch):
    model = MIANFISClassifier(4, training=Training(max_epochs=0), random_state=0)
    on_all = numbers_of(model.fit(BAGS))
    monkeypatch.setattr(partition, "SAMPLE_ROWS", 200)
    found = model.fit(BagStream.from_bags(BAGS, 5))
    numbers = numbers_of(found)
    np.testing.assert_allclose(numbers_of(model.fit(BagStream.from_bags(BAGS, 3))), numbers, rtol=1e-9)  # however cut
    np.testing.assert_allclose(numbers_of(model.fit(BAGS)), numbers, rtol=1e-9)  # in memory as well
    assert not np.allclose(on_all, numbers)
    sample = summarize(BagStream.from_bags(BAGS, 5), lambda bags: bags, lambda *_: None)
    assert 150 < sample.sample.n_instances <= 200
    for place, instances in zip(sample.places, sample.sample, strict=True):
        assert np.array_equal(instances, BAGS[int(place)])
    assert sample.labels.tolist() == BAGS.labels.tolist()


@pytest.mark.slow
def test_few_parts_are_in_memory_at_a_time(monkeypatch):
    monkeypatch.setattr("fuzzymil.learn.train.windows.WINDOW_VALUES", 2000)
    monkeypatch.setattr(partition, "SAMPLE_ROWS", 500)
    parts, alive = [], []

    def load(part):
        bags = Bags(np.random.default_rng(part).normal(size=(640, 2)), np.arange(0, 641, 64), labels=np.arange(10) % 2)
        parts.append(weakref.ref(bags.instances))
        alive.append(sum(reference() is not None for reference in parts))
        return bags

    model = MIANFISClassifier(2, training=Training(batch_size=5, max_epochs=1), random_state=0)
    model.fit(BagStream(load, 30))
    model.predict(BagStream(load, 30))
    assert len(parts) == 90  # once for the summary, the epoch and the prediction
    assert 2 <= max(alive) <= 5


def test_a_stream_tells_what_is_wrong_with_its_parts():
    with pytest.raises(ParameterError, match="load must be a function"):
        BagStream([BAGS], 1)
    with pytest.raises(ParameterError, match=r"n_parts must be a.*least 1, got 0"):
        BagStream(lambda part: BAGS, 0)
    model = MIANFISClassifier(4, random_state=0)  # training reads a stream more than once
    with pytest.raises(InputTypeError, match=r"Part 0 of the stream is .*Bags"):
        model.fit(BagStream(lambda part: [[1.0]], 1))
    with pytest.raises(InputError, match=r"Part 0 .* no labels"):
        model.fit(BagStream(lambda part: Bags(BAGS.instances, BAGS.offsets), 1))
    wide = BAGS.map_instances(lambda x: np.column_stack([x, x]))
    with pytest.raises(InputError, match=r"Part 1 .* features .* part 0: 4 instead of 2"):
        model.fit(BagStream(lambda part: wide if part else BAGS, 2))
    with pytest.raises(InputError, match=r"carry their labels.*leave y out"):
        model.fit(BagStream.from_bags(BAGS, 2), BAGS.labels)
    with pytest.raises(ParameterError, match="partial_fit"):
        model.partial_fit(BagStream.from_bags(BAGS, 2))
    with pytest.raises(InputError, match="slice"):
        BagStream.from_bags(BAGS, 2)[5:]
    changing = iter(range(100))
    with pytest.raises(RuntimeError, match=r"Part 0 of the stream changed.*load must return the same bags"):
        model.fit(BagStream(lambda part: BAGS[:: 2 + next(changing)], 1))
    with pytest.raises(InputError, match="missing"):
        clone(model).set_params(missing="error").fit(
            BagStream(lambda part: BAGS.map_instances(lambda x: np.where(x == x[5], np.nan, x)), 2)
        )


@pytest.mark.slow
def test_rule_dropout_does_not_depend_on_the_windows(monkeypatch):
    model = MIANFISClassifier(
        4, training=Training(max_epochs=5, rule_keep_prob=0.7, precision="double"), random_state=0
    )
    expected = numbers_of(model.fit(BagStream.from_bags(BAGS, 1)))
    monkeypatch.setattr("fuzzymil.learn.train.windows.WINDOW_VALUES", 300)
    np.testing.assert_allclose(numbers_of(model.fit(BagStream.from_bags(BAGS, 7))), expected, rtol=0, atol=1e-10)


@pytest.mark.slow
def test_unequal_parts_make_no_great_windows(monkeypatch):
    monkeypatch.setattr("fuzzymil.learn.train.windows.WINDOW_VALUES", 1000)
    edges = [0, 60, *range(61, 151)]
    made = []
    window = Feed._window
    monkeypatch.setattr(Feed, "_window", lambda feed, parts: made.append(window(feed, parts)) or made[-1])
    MIANFISClassifier(2, training=Training(max_epochs=1), random_state=0).fit(
        BagStream(lambda part: BAGS[edges[part] : edges[part + 1]], len(edges) - 1)
    )
    assert BAGS[:60].n_instances < max(len(each["x"]) for each in made) <= 512  # 500 rows, padded


def test_labels_of_parts_are_of_one_kind():
    def load(part):
        return Bags(BAGS.instances, BAGS.offsets, labels=BAGS.labels if part else np.where(BAGS.labels, "yes", "no"))

    with pytest.raises(InputError, match=r"labels of parts 0 and 1 .* text and numbers"):
        RuleClassifier(2).fit(BagStream(load, 2))


@pytest.mark.slow
def test_other_doors_say_that_a_stream_is_none_of_their_business():
    with pytest.raises(InputTypeError, match="BagStream"):
        Bags.concatenate([BagStream.from_bags(BAGS, 2)])
    with pytest.raises(InputError, match="BagStream"):
        MIANFISClassifier(4, training=Training(max_epochs=1)).fit(BAGS).explain(BagStream.from_bags(BAGS, 2))

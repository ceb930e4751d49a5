"""Labels, weights and files that make no sense are refused with a sentence that says what to do."""

import datetime
import json
import warnings

import numpy as np
import pytest

from fuzzymil import (
    MIANFISClassifier,
    MIANFISRegressor,
    MISugeno,
    RuleClassifier,
    RuleRegressor,
    Training,
    load_model,
)
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.rules.files import parse_rules

BAGS = make_two_concepts(4, 4, random_state=0)[:8]
TWO = ["a", "b"] * 4
BRIEF = Training(max_epochs=1)
CLASSIFIERS = [RuleClassifier(), MIANFISClassifier(2, training=BRIEF)]
REGRESSORS = [RuleRegressor(), MIANFISRegressor(2, training=BRIEF)]


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([b"a", b"b"] * 4, "convert them to text"),
        (np.array([b"a", b"b"] * 4), "convert them to text"),
        (np.array([b"a", b"b"] * 4, dtype=object), "bytes: convert them to text"),
        (["a", "a\0"] * 4, "zero character"),
        (np.array(["a", "a\0"] * 4, dtype=object), "zero character"),
        (["a", "x\ud800"] * 4, "half of a character"),
        ([np.nan, 0.0] * 4, "y contains NaN: bag concept1-1 needs a label"),
        ([np.inf, 0.0] * 4, "y contains infinity.*bag concept1-1"),
        ([10**30, 1] * 4, r"got 1000000.*: convert them to text"),
        ([datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)] * 4, "got an object of type date: convert"),
    ],
    ids=repr,
)
def test_labels_that_are_no_classes(model, labels, told):
    with pytest.raises(InputError, match=told):
        model.fit(BAGS, labels)


def test_names_of_bags_and_classes_that_numpy_would_merge():
    from fuzzymil import Bags

    for settings in ({"ids": ["a", "a\0"]}, {"labels": ["a", "a\0"]}):
        with pytest.raises(InputError, match="zero character"):
            Bags.from_list([[[0.0]], [[1.0]]], **settings)


@pytest.mark.parametrize("model", REGRESSORS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ([1e300, -1e300] * 4, "The label of bag concept1-1 is 1e.300"),
        ([0.0, 1e160] * 4, "bag concept1-2 is 1e.160"),
        (TWO, "predicts numbers, but y has 'a'"),
        ([np.nan, 0.0] * 4, "y contains NaN"),
        ([1j, 0.0] * 4, "predicts numbers"),
        ([None, 1] * 4, "y contains NaN: bag concept1-1 needs a label"),
        ([1, 10**5000] * 4, "label of bag concept1-2 is inf"),
    ],
    ids=lambda value: ascii(value)[:40] if isinstance(value, str) else type(value[1]).__name__,
)
def test_labels_that_are_no_numbers(model, labels, told):
    with pytest.raises(InputError, match=told):
        model.fit(BAGS, labels)


def test_large_labels_still_work():
    model = RuleRegressor().fit(BAGS, np.arange(8.0) * 1e98)
    assert np.isfinite(model.predict(BAGS)).all()


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda model: type(model).__name__)
def test_weights_of_another_length(model):
    with pytest.raises(InputError, match="8 bags, but sample_weight has 3"):
        model.fit(BAGS, np.arange(8) % 2, sample_weight=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    ("weights", "told"),
    [(["a"] * 8, "one number per bag.*'a'"), ([1e308] * 8, "at most 1e.100"), ([-1] * 8, "negative")],
)
def test_weights_that_are_none(model, weights, told):
    with pytest.raises(InputError, match=told):
        model.fit(BAGS, np.arange(8) % 2, sample_weight=weights)


def test_numbers_in_an_array_of_objects_are_classes():
    assert RuleClassifier().fit(BAGS, np.array([0, 1] * 4, dtype=object)).classes_.dtype.kind == "i"


def test_one_bag_is_not_taken_for_many_without_a_word():
    model = RuleClassifier().fit(BAGS, TWO)
    with pytest.warns(UserWarning, match=r"rows of X counts as a bag.*pass \[X\]"):
        found = model.predict(BAGS[0])
    assert len(found) == len(BAGS[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(model.predict([BAGS[0]])) == 1
        assert len(model.predict(BAGS[[0, 1]])) == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("bag,label,x\n1,0,2\n", "a.json is not a fuzzymil file: it begins with 'bag,label,x"),
        ("", "a.json is not a fuzzymil file: it is empty"),
        ("{", "a.json is not a fuzzymil file, or it is damaged"),
    ],
)
def test_files_that_are_no_models(tmp_path, content, told):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(ModelFileError, match=told):
        load_model(tmp_path / "a.json")


@pytest.mark.parametrize("fill", ["z", "z ", [0], ["z "], {"z": 1}, 10**4000], ids=lambda value: repr(value)[:10])
def test_messages_repeat_little_of_what_a_file_says(tmp_path, fill):
    model = MISugeno(rules="VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN y = 1", threshold=None).fit([[[0.0]]])
    model.save(tmp_path / "a.json")
    whole = json.loads((tmp_path / "a.json").read_text())
    huge = fill * 100_000 if isinstance(fill, str | list) else fill
    for key in whole:
        (tmp_path / "a.json").write_text(json.dumps({**whole, key: huge}))
        told = ""
        try:
            load_model(tmp_path / "a.json")
        except (ModelFileError, ParameterError, InputError) as problem:
            told = str(problem)
        assert len(told) < 600, told


def test_messages_about_rules_repeat_little_of_a_text():
    for text in ("VARIABLE " + "z" * 150_000, "VARIABLE x: low = " + "z" * 150_000 + "(1)", "IF " + "z " * 50_000):
        with pytest.raises(ValueError, match=r"Line 1|no rule") as caught:
            parse_rules(text)
        assert len(str(caught.value)) < 3_000

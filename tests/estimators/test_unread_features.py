"""Features that no rule reads: new bags need not have them."""

import numpy as np
import pandas as pd
import pytest

from fuzzymil import (
    Bags,
    InputError,
    MIANFISRegressor,
    MIMamdani,
    MISugeno,
    NaiveMIL,
    RuleClassifier,
    Training,
    load_model,
)

TEXT = """
VARIABLE pages: high = Sigmoid(5, 2)
Default: y = -1
IF SOME pages is high THEN y += 2
"""
MAMDANI = """
USING defuzzify = average
VARIABLE pages: low = Gaussian(0, 2), high = Gaussian(9, 2)
VARIABLE hour: late = Gaussian(24, 5)
OUTPUT risk: small = Singleton(0.2), great = Formula("0.1 * pages + 0.01 * hour")
IF pages is low THEN risk is small
IF pages is high THEN risk is great
"""


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.repeat(np.arange(40), 4), "pages": rng.uniform(0, 10, 160)})
    frame["hour"] = rng.uniform(0, 24, 160)
    frame["channel"] = rng.choice(["web", "phone"], 160)
    frame["label"] = frame.groupby("user")["pages"].transform("max") > 8
    return frame


def read(table, without=(), columns=None):
    """The bags of a table without some of its columns."""
    return Bags.from_frame(table.drop(columns=[*without]), "user", "label", columns=columns)


@pytest.mark.filterwarnings("ignore:Columns not used")
@pytest.mark.parametrize("missing", ["median", "average", "condition", "ignore", "error"])
def test_answers_do_not_depend_on_what_no_rule_reads(table, tmp_path, missing):
    bags = read(table)
    model = RuleClassifier(max_conditions=1, missing=missing, random_state=0).fit(bags)
    assert model.used_features_ == ("pages",)
    model.save(tmp_path / "model.json")
    for each in (model, load_model(tmp_path / "model.json")):
        partial = read(table, ["hour", "channel"], columns=each.columns_)
        assert partial.feature_names == ("pages",)
        expected, found = each.predictions(bags), each.predictions(partial)
        np.testing.assert_array_equal(found.probabilities, expected.probabilities)
        np.testing.assert_array_equal(found.coverage, expected.coverage)
        assert each.explain(partial, position=3).to_text() == each.explain(bags, position=3).to_text()
        np.testing.assert_array_equal(each.instance_scores(partial), each.instance_scores(bags))
        with pytest.raises(InputError, match="no feature 'pages'"):
            each.predict(read(table, ["pages"], columns=each.columns_))


@pytest.mark.filterwarnings("ignore:Columns not used")
def test_conclusions_read_features_too(table):
    bags = read(table.drop(columns="channel"))
    model = MIANFISRegressor(2, order=1, missing="median", training=Training(max_epochs=3), random_state=0).fit(
        bags, bags.labels + 0.0
    )
    assert model.used_features_ == ("pages", "hour")  # every rule has a slope for each
    with pytest.raises(InputError, match="no feature 'hour'"):
        model.predict(read(table, ["hour"], columns=model.columns_))


@pytest.mark.filterwarnings("ignore:Columns not used")
def test_written_rules_need_only_what_they_read(table):
    bags = read(table)
    model = MISugeno(rules=TEXT).fit(bags)
    assert model.used_features_ == ("pages",)
    partial = read(table, ["hour", "channel"], columns=bags.columns)
    np.testing.assert_array_equal(model.predict(partial), model.predict(bags))


@pytest.mark.filterwarnings("ignore:Columns not used")
def test_formulas_of_mamdani_rules_read_features(table):
    bags = read(table)
    model = MIMamdani(rules=MAMDANI, threshold=None).fit(bags)
    assert {*model.used_features_} == {"pages", "hour"}
    np.testing.assert_array_equal(model.predict(read(table, ["channel"], columns=bags.columns)), model.predict(bags))
    with pytest.raises(InputError, match="no feature 'hour'"):
        model.predict(read(table, ["hour"], columns=bags.columns))


@pytest.mark.filterwarnings("ignore:Columns not used")
def test_other_methods_need_every_feature(table):
    from sklearn.tree import DecisionTreeClassifier

    bags = read(table.drop(columns="channel"))
    model = NaiveMIL(DecisionTreeClassifier()).fit(bags)
    with pytest.raises(InputError, match="no feature 'hour'"):
        model.predict(read(table, ["hour"], columns=bags.columns))

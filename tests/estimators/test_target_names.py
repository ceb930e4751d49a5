"""Numbers to predict are called what their column is called."""

import numpy as np
import pandas as pd
import pytest

from fuzzymil import Bags, RuleRegressor
from fuzzymil.estimators.inputs import target_names


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": np.repeat(np.arange(20), 3), "pages": rng.uniform(0, 10, 60)})
    frame["spent"] = 3 * frame.groupby("user")["pages"].transform("max")
    return frame


def test_a_regressor_speaks_of_the_column(table):
    bags = Bags.from_frame(table, "user", "spent")
    model = RuleRegressor(max_conditions=1, random_state=0).fit(bags)
    assert model.rules_.output_names == ("spent",)
    assert "THEN spent +=" in str(model.rules_)
    assert "spent = " in model.explain(bags, position=3).to_text()
    assert RuleRegressor(max_conditions=1, random_state=0).fit(bags[:15] + bags[15:]).rules_.output_names == ("spent",)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ("labels", ("spent",)),
        (None, ("spent",)),
        (pd.Series(np.arange(20.0), name="price"), ("price",)),
        (pd.Series(np.arange(20.0)), ("y",)),
        (pd.Series(np.arange(20.0), name="pages"), ("y",)),  # a feature has that name
        (np.arange(20.0), ("y",)),
        (pd.DataFrame({"a": np.arange(20.0), "b": 1.0}), ("a", "b")),
        (np.zeros((20, 2)), ("y1", "y2")),
    ],
)
def test_names_come_from_where_the_numbers_do(table, y, expected):
    bags = Bags.from_frame(table, "user", "spent")
    given = bags.labels if isinstance(y, str) else y
    assert target_names(bags, given, len(expected)) == expected

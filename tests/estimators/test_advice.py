"""Mistakes that people make with a table of their own, and what they are told to do."""

import numpy as np
import pandas as pd
import pytest

from fuzzymil import Bags, InputError, MISugeno, RuleBase, RuleClassifier
from fuzzymil._utils.storage import damaged


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"user": [f"u{n // 4}" for n in range(160)], "pages": rng.uniform(0, 10, 160)})
    frame["channel"] = rng.choice(["web", "phone", "fax"], 160)
    long_call = frame.assign(hit=(frame["pages"] > 6) & (frame["channel"] == "web")).groupby("user")["hit"]
    return frame.assign(label=np.where(long_call.transform("any"), "yes", "no"))


@pytest.fixture(scope="module")
def model(table):
    return RuleClassifier(random_state=0).fit(Bags.from_frame(table, "user", "label"))


@pytest.mark.parametrize("method", ["predict", "explain", "predict_proba"])
def test_a_table_is_read_with_from_frame(model, table, method):
    with pytest.raises(InputError, match=r"'user'.*'u0'.*from_frame.*columns=model\.columns_") as caught:
        getattr(model, method)(table)
    assert "encode text first" not in str(caught.value)
    with pytest.raises(InputError, match=r"'user'.*from_frame\(frame, bag=\.\.\., label=\.\.\.\)"):
        RuleClassifier().fit(table, table["label"])


def test_columns_of_the_model_are_advised(model, table):
    with pytest.raises(InputError, match=r"(?s)channel.*columns=model\.columns_"):
        model.predict(table[["pages"]])
    few = Bags.from_frame(table.head(3).drop(columns="label"), "user", exclude_text=True)
    with pytest.raises(InputError, match=r"no feature 'channel'.*If the data has it.*columns=model\.columns_"):
        model.predict(few)


@pytest.mark.parametrize("method", ["importance", "score"])
def test_what_compares_with_labels_says_so(model, table, method):
    bags = Bags.from_frame(table.drop(columns="label"), "user", columns=model.columns_)
    with pytest.raises(InputError, match=rf"{method} .*labels.*pass y") as caught:
        getattr(model, method)(bags)
    assert "fit(" not in str(caught.value)


def test_sentences_end_once(model, table):
    with pytest.raises(InputError) as caught:
        model.predict(table.assign(when=pd.Timestamp("2026-01-01"))[["when"]])
    assert ".." not in str(caught.value).replace("...", "")
    assert damaged("The file", ValueError("Did you mean 'sigmoid'?")).endswith("'sigmoid'?")


def test_importance_of_several_outputs_needs_as_many_labels():
    rules = RuleBase.parse("VARIABLE x: high = Sigmoid(1, 1)\nIF x is high THEN a = 1, b = 2, c = 3")
    bags = Bags.from_list([[[0.0]], [[1.0]], [[2.0]]], ["x"], labels=[0.0, 1.0, 2.0])
    expert = MISugeno(rules=rules, threshold=None).fit(bags)
    with pytest.raises(InputError, match=r"3 numbers per bag.* 1: .*\(3, 3\)"):
        expert.importance(bags)

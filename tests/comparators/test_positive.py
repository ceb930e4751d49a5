"""The positive class of the comparators, chosen instead of the one that sorts last."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.comparators import MILES, MISVM, EmbeddingForest, PositiveClass, standardized
from fuzzymil.datasets import make_two_concepts

BAGS = make_two_concepts(15, 20, random_state=0)
SICK = np.where(BAGS.labels == 1, "diseased", "healthy")


@pytest.mark.parametrize(
    "method", [MISVM(), MILES(), EmbeddingForest(20, random_state=0)], ids=lambda m: type(m).__name__
)
def test_it_is_the_method_on_labels_that_sort_the_other_way(method):
    plain = clone(method).fit(BAGS, BAGS.labels)
    model = PositiveClass(method, "diseased").fit(BAGS, SICK)
    assert model.classes_.tolist() == ["diseased", "healthy"]
    np.testing.assert_array_equal(model.predict(BAGS) == "diseased", plain.predict(BAGS) == 1)
    assert model.score(BAGS, SICK) == plain.score(BAGS, BAGS.labels)
    if hasattr(plain, "decision_function"):
        np.testing.assert_allclose(model.decision_function(BAGS), -plain.decision_function(BAGS))
    if hasattr(plain, "predict_proba"):
        np.testing.assert_allclose(model.predict_proba(BAGS), plain.predict_proba(BAGS)[:, ::-1])
    assert hasattr(model, "instance_scores") == hasattr(plain, "instance_scores")
    default = PositiveClass(method, "healthy").fit(BAGS, SICK)
    np.testing.assert_array_equal(default.predict(BAGS), clone(method).fit(BAGS, SICK).predict(BAGS))


def test_it_stands_in_a_pipeline():
    model = standardized(PositiveClass(MISVM(), "diseased")).fit(BAGS, SICK)
    assert roc_auc_score(SICK == "healthy", model.decision_function(BAGS)) > 0.8


def test_a_class_that_cannot_be_meant_is_refused():
    with pytest.raises(ParameterError, match=r"diseased, healthy.*'sick'"):
        PositiveClass(MISVM(), "sick").fit(BAGS, SICK)
    with pytest.raises(InputError, match="two classes, got 3"):
        PositiveClass(MISVM(), 1).fit(BAGS, np.arange(len(BAGS)) % 3)

"""scikit-learn's own estimator checks on every comparator; a plain 2-D array is read as one-instance bags."""

import inspect

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import paper.methods  # noqa: F401  registers more
from fuzzymil.comparators import COMPARATORS

pytestmark = pytest.mark.slow

QUICK = {"hidden_layer_sizes": (8,), "max_starts": 2, "n_epochs": 100, "n_estimators": 5}


def quick(kind):
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in QUICK.items() if key in known})


@pytest.mark.slow
@parametrize_with_checks([quick(kind) for kind in COMPARATORS.values()])
def test_scikit_learn_accepts_the_comparator(estimator, check):
    check(estimator)

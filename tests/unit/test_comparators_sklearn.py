"""scikit-learn's own estimator checks on every comparator; a plain 2-D array is read as one-instance bags."""

import inspect

from sklearn.utils.estimator_checks import parametrize_with_checks

from fuzzymil import comparators

QUICK = {"hidden_layer_sizes": (8,), "max_starts": 2, "n_epochs": 100, "n_estimators": 5}


def quick(kind):
    known = inspect.signature(kind).parameters
    return kind(**{key: value for key, value in QUICK.items() if key in known})


def expected_to_fail(estimator):
    if "class_weight" not in estimator.get_params():
        return {}
    return {"check_class_weight_classifiers": "classes are balanced or not, but have no weights of their own"}


@parametrize_with_checks(
    [quick(getattr(comparators, name)) for name in comparators.__all__],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_accepts_the_comparator(estimator, check):
    check(estimator)

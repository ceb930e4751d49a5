"""scikit-learn's own estimator checks; a plain 2-D array is read as one-instance bags."""

from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from fuzzymil import (
    ANFISClassifier,
    ANFISRegressor,
    MIANFISClassifier,
    MIANFISRegressor,
    MIMamdani,
    NaiveMIL,
    PerInstance,
    RuleClassifier,
    RuleRegressor,
)
from fuzzymil.estimators import network_parameters

QUICK = {"n_rules": 3, "max_epochs": 60, "learning_rate": 0.1, "random_state": 0}


def expected_to_fail(estimator):
    # A network starts from a random partition of the instances, and chosen rules are compared on random folds: a bag
    # of weight 2 and the same bag twice lead to other draws, so the results agree in distribution and not to 1e-7.
    reason = "partitions and folds are drawn from the instances and bags, whose number differs"
    if isinstance(getattr(estimator, "estimator", estimator), LogisticRegression | LinearRegression | PerInstance):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": reason,
        "check_sample_weight_equivalence_on_sparse_data": reason,
    }


@parametrize_with_checks(
    [
        RuleClassifier(random_state=0),
        RuleRegressor(random_state=0),
        MIANFISClassifier(**network_parameters(**QUICK)),
        MIANFISRegressor(**network_parameters(**QUICK)),
        ANFISClassifier(**network_parameters(**QUICK)),
        ANFISRegressor(**network_parameters(**QUICK)),
        NaiveMIL(LogisticRegression()),
        NaiveMIL(LinearRegression(), pool="mean"),
        MIMamdani(random_state=0),
        NaiveMIL(MIMamdani(random_state=0)),
        PerInstance(StandardScaler()),
        PerInstance(PCA(1)),
    ],
    expected_failed_checks=expected_to_fail,
)
def test_scikit_learn_accepts_the_estimator(estimator, check):
    check(estimator)

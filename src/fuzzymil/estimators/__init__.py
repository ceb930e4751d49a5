"""Scikit-learn estimators over bags."""

from fuzzymil.estimators.cross_validation import cross_val_scores
from fuzzymil.estimators.mamdani import MIMamdani
from fuzzymil.estimators.mianfis import ANFISClassifier, ANFISRegressor, MIANFISClassifier, MIANFISRegressor
from fuzzymil.estimators.naive import NaiveMIL
from fuzzymil.estimators.per_instance import PerInstance
from fuzzymil.estimators.persistence import load_model
from fuzzymil.estimators.sugeno import MISugeno
from fuzzymil.estimators.together import fit_together

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "NaiveMIL",
    "PerInstance",
    "cross_val_scores",
    "fit_together",
    "load_model",
]

"""Scikit-learn estimators over bags."""

from fuzzymil.estimators._cross_validation import Fold, cross_val_scores, cross_validate
from fuzzymil.estimators._fit_together import fit_together
from fuzzymil.estimators._mamdani import MIMamdani
from fuzzymil.estimators._mianfis import ANFISClassifier, ANFISRegressor, MIANFISClassifier, MIANFISRegressor
from fuzzymil.estimators._naive import NaiveMIL
from fuzzymil.estimators._per_instance import PerInstance
from fuzzymil.estimators._sugeno import MISugeno
from fuzzymil.estimators.persistence import load_model

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "Fold",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "NaiveMIL",
    "PerInstance",
    "cross_val_scores",
    "cross_validate",
    "fit_together",
    "load_model",
]

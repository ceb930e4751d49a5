"""Scikit-learn estimators over bags."""

from fuzzymil.estimators.mianfis import ANFISClassifier, ANFISRegressor, MIANFISClassifier, MIANFISRegressor
from fuzzymil.estimators.naive import NaiveMIL
from fuzzymil.estimators.per_instance import PerInstance
from fuzzymil.estimators.persistence import load_model

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "NaiveMIL",
    "PerInstance",
    "load_model",
]

"""The scikit-learn estimators: MI-ANFIS, ANFIS, MI-Sugeno, MI-Mamdani, and wrappers."""

from fuzzymil.estimators._anfis import ANFISClassifier, ANFISRegressor
from fuzzymil.estimators._cross_validation import Fold, cross_val_scores, cross_validate
from fuzzymil.estimators._fit_together import fit_together
from fuzzymil.estimators._mamdani import MIMamdani
from fuzzymil.estimators._mianfis import MIANFISClassifier, MIANFISRegressor
from fuzzymil.estimators._naive import NaiveMIL
from fuzzymil.estimators._network import Network
from fuzzymil.estimators._per_instance import PerInstance
from fuzzymil.estimators._sugeno import MISugeno
from fuzzymil.estimators.options import RunOptions, Variant
from fuzzymil.estimators.persistence import load_model, model_from_dict, model_to_dict, save_model
from fuzzymil.estimators.rule_model import ExplainableModel, Predictions, RuleModel

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "ExplainableModel",
    "Fold",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "NaiveMIL",
    "Network",
    "PerInstance",
    "Predictions",
    "RuleModel",
    "RunOptions",
    "Variant",
    "cross_val_scores",
    "cross_validate",
    "fit_together",
    "load_model",
    "model_from_dict",
    "model_to_dict",
    "save_model",
]

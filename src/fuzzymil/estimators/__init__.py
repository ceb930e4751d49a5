"""The scikit-learn estimators: chosen rules, MI-ANFIS, ANFIS, MI-Sugeno, MI-Mamdani, and wrappers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzymil.estimators._cross_validation import (
        Fold,
        cross_val_scores,
        cross_validate,
        fit_together,
        splitter,
        trains_together,
    )
    from fuzzymil.estimators.anfis import ANFISClassifier, ANFISRegressor
    from fuzzymil.estimators.conformal import PredictionSets
    from fuzzymil.estimators.experts import MIMamdani, MISugeno
    from fuzzymil.estimators.mianfis import MIANFISClassifier, MIANFISRegressor, Network, train_rules
    from fuzzymil.estimators.options import Operators, Training, network_parameters
    from fuzzymil.estimators.persistence import SavedModel, load_model, model_from_dict, model_to_dict, save_model
    from fuzzymil.estimators.rule_model import Predictions, RuleModel
    from fuzzymil.estimators.rules import RuleClassifier, RuleRegressor, diagnose_data
    from fuzzymil.estimators.tuning import tune_rules
    from fuzzymil.estimators.wrappers import LabeledInstances, NaiveMIL, PerInstance

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "Fold",
    "LabeledInstances",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "NaiveMIL",
    "Network",
    "Operators",
    "PerInstance",
    "PredictionSets",
    "Predictions",
    "RuleClassifier",
    "RuleModel",
    "RuleRegressor",
    "SavedModel",
    "Training",
    "cross_val_scores",
    "cross_validate",
    "diagnose_data",
    "fit_together",
    "load_model",
    "model_from_dict",
    "model_to_dict",
    "network_parameters",
    "save_model",
    "splitter",
    "train_rules",
    "trains_together",
    "tune_rules",
]

# Everything is imported on first use: a saved model answers without scikit-learn, which loads slowly.
_HOMES = {
    "_cross_validation": ("Fold", "cross_val_scores", "cross_validate", "fit_together", "splitter", "trains_together"),
    "conformal": ("PredictionSets",),
    "experts": ("MIMamdani", "MISugeno"),
    "wrappers": ("LabeledInstances", "NaiveMIL", "PerInstance"),
    "anfis": ("ANFISClassifier", "ANFISRegressor"),
    "mianfis": ("MIANFISClassifier", "MIANFISRegressor", "Network", "train_rules"),
    "options": ("Operators", "Training", "network_parameters"),
    "persistence": ("SavedModel", "load_model", "model_from_dict", "model_to_dict", "save_model"),
    "rule_model": ("Predictions", "RuleModel"),
    "tuning": ("tune_rules",),
    "rules": ("RuleClassifier", "RuleRegressor", "diagnose_data"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

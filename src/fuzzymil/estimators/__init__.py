"""The scikit-learn estimators: MI-ANFIS, ANFIS, MI-Sugeno, MI-Mamdani, and wrappers."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fuzzymil.estimators._anfis import ANFISClassifier, ANFISRegressor
    from fuzzymil.estimators._cross_validation import Fold, cross_val_scores, cross_validate, splitter
    from fuzzymil.estimators._fit_together import fit_together, trains_together
    from fuzzymil.estimators._labeled_instances import LabeledInstances
    from fuzzymil.estimators._mamdani import MIMamdani
    from fuzzymil.estimators._mianfis import MIANFISClassifier, MIANFISRegressor
    from fuzzymil.estimators._naive import NaiveMIL
    from fuzzymil.estimators._network import Network
    from fuzzymil.estimators._per_instance import PerInstance
    from fuzzymil.estimators._sugeno import MISugeno
    from fuzzymil.estimators.options import RunOptions, Variant
    from fuzzymil.estimators.persistence import load_model, model_from_dict, model_to_dict, save_model
    from fuzzymil.estimators.rule_model import ExplainableModel, Predictions, RuleModel
    from fuzzymil.estimators.saved import SavedNetwork

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "ExplainableModel",
    "Fold",
    "LabeledInstances",
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
    "SavedNetwork",
    "Variant",
    "cross_val_scores",
    "cross_validate",
    "fit_together",
    "load_model",
    "model_from_dict",
    "model_to_dict",
    "save_model",
    "splitter",
    "trains_together",
]

# Everything is imported on first use: a saved network answers without scikit-learn, which loads slowly.
_HOMES = {
    "_anfis": ("ANFISClassifier", "ANFISRegressor"),
    "_cross_validation": ("Fold", "cross_val_scores", "cross_validate", "splitter"),
    "_fit_together": ("fit_together", "trains_together"),
    "_labeled_instances": ("LabeledInstances",),
    "_mamdani": ("MIMamdani",),
    "_mianfis": ("MIANFISClassifier", "MIANFISRegressor"),
    "_naive": ("NaiveMIL",),
    "_network": ("Network",),
    "_per_instance": ("PerInstance",),
    "_sugeno": ("MISugeno",),
    "options": ("RunOptions", "Variant"),
    "persistence": ("load_model", "model_from_dict", "model_to_dict", "save_model"),
    "rule_model": ("ExplainableModel", "Predictions", "RuleModel"),
    "saved": ("SavedNetwork",),
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

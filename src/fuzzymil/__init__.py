"""Multiple-instance fuzzy inference: readable if-then rules, learned from bags of instances.

>>> from fuzzymil import RuleClassifier
>>> from fuzzymil.datasets import make_planted
>>> bags = make_planted("count", 100, n_noise=3, random_state=0)
>>> print(RuleClassifier(random_state=0).fit(bags).rules_)
Default: y = -3.9...
Rule 1: IF AT LEAST 3 A is high THEN y += 7.7...
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.runtime import heed_thread_limit
from fuzzymil._version import __version__

if TYPE_CHECKING:
    from fuzzymil import (
        bags,
        comparators,
        datasets,
        estimators,
        explain,
        inference,
        learn,
        plots,
        report,
        rules,
        studio,
    )
    from fuzzymil._utils.errors import (
        InputError,
        InputTypeError,
        MissingExtraError,
        ModelFileError,
        ParameterError,
        RescuedError,
        RuleSyntaxError,
    )
    from fuzzymil.bags import Bags, BagStream, as_bags
    from fuzzymil.estimators import (
        ANFISClassifier,
        ANFISRegressor,
        LabeledInstances,
        MIANFISClassifier,
        MIANFISRegressor,
        MIMamdani,
        MISugeno,
        NaiveMIL,
        Operators,
        PerInstance,
        RuleClassifier,
        RuleRegressor,
        Training,
        cross_val_scores,
        diagnose_data,
        load_model,
        train_rules,
    )
    from fuzzymil.inference.activations import use_engine
    from fuzzymil.inference.membership import Bell, Gaussian, Sigmoid, Trapezoidal, Triangular
    from fuzzymil.learn.train.constraints import Constraints
    from fuzzymil.report import write_report
    from fuzzymil.rules import RuleBase, RuleTree

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "BagStream",
    "Bags",
    "Bell",
    "Constraints",
    "Gaussian",
    "InputError",
    "InputTypeError",
    "LabeledInstances",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "MissingExtraError",
    "ModelFileError",
    "NaiveMIL",
    "Operators",
    "ParameterError",
    "PerInstance",
    "RescuedError",
    "RuleBase",
    "RuleClassifier",
    "RuleRegressor",
    "RuleSyntaxError",
    "RuleTree",
    "Sigmoid",
    "Training",
    "Trapezoidal",
    "Triangular",
    "__version__",
    "as_bags",
    "bags",
    "comparators",
    "cross_val_scores",
    "datasets",
    "diagnose_data",
    "estimators",
    "explain",
    "inference",
    "learn",
    "load_model",
    "plots",
    "report",
    "rules",
    "studio",
    "train_rules",
    "use_engine",
    "write_report",
]

heed_thread_limit()

# Everything is imported on first use: neither `import fuzzymil` nor `fuzzymil --help` should wait for JAX.
_HOMES = {
    "_utils.errors": tuple(name for name in __all__ if name.endswith("Error")),
    "bags": ("Bags", "BagStream", "as_bags"),
    "inference.activations": ("use_engine",),
    "inference.membership": ("Bell", "Gaussian", "Sigmoid", "Trapezoidal", "Triangular"),
    "report": ("write_report",),
    "rules": ("RuleBase", "RuleTree"),
    "learn.train.constraints": ("Constraints",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
_PACKAGES = tuple(name for name in __all__ if name.islower() and name not in _HOME_OF and "_" not in name)


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fuzzymil' has no attribute {name!r}")
    if name in _PACKAGES:
        return import_module(f"fuzzymil.{name}")
    value = getattr(import_module(f"fuzzymil.{_HOME_OF.get(name, 'estimators')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

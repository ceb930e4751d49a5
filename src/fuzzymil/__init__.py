"""Multiple-instance fuzzy inference: readable if-then rules, learned from bags of instances.

>>> from fuzzymil import MIANFISClassifier
>>> from fuzzymil.datasets import make_two_concepts
>>> bags = make_two_concepts(random_state=0)
>>> model = MIANFISClassifier(n_rules=6, init="random", n_init=4, random_state=0).fit(bags)
>>> model.rules_.n_rules
6
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fuzzymil._utils.runtime import heed_thread_limit
from fuzzymil._version import __version__

if TYPE_CHECKING:
    from fuzzymil._utils.errors import (
        InputError,
        InputTypeError,
        MissingExtraError,
        ModelFileError,
        ParameterError,
        ProcessLostError,
        RuleSyntaxError,
    )
    from fuzzymil.bags import Bags, BagStream, as_bags
    from fuzzymil.estimators import (
        ANFISClassifier,
        ANFISRegressor,
        MIANFISClassifier,
        MIANFISRegressor,
        MIMamdani,
        MISugeno,
        NaiveMIL,
        PerInstance,
        load_model,
    )
    from fuzzymil.rules import RuleBase

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "BagStream",
    "Bags",
    "InputError",
    "InputTypeError",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "MIMamdani",
    "MISugeno",
    "MissingExtraError",
    "ModelFileError",
    "NaiveMIL",
    "ParameterError",
    "PerInstance",
    "ProcessLostError",
    "RuleBase",
    "RuleSyntaxError",
    "__version__",
    "as_bags",
    "load_model",
]

heed_thread_limit()

# Loaded on first use: the command line's --help must not wait for JAX and scikit-learn.
_HOMES = {"Bags": "bags", "as_bags": "bags", "BagStream": "bags", "RuleBase": "rules"}
_HOMES |= {name: "_utils.errors" for name in __all__ if name.endswith("Error")}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'fuzzymil' has no attribute {name!r}")
    value = getattr(import_module(f"fuzzymil.{_HOMES.get(name, 'estimators')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

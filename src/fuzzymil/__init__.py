"""Multiple-instance fuzzy inference: readable if-then rules, learned from bags of instances.

>>> from fuzzymil import MIANFISClassifier
>>> from fuzzymil.datasets import make_two_concepts
>>> bags = make_two_concepts(random_state=0)
>>> model = MIANFISClassifier(n_rules=6, init="random", n_restarts=4, random_state=0).fit(bags)
>>> model.rules_.n_rules
6
"""

from fuzzymil._version import __version__
from fuzzymil.bags import Bags, as_bags
from fuzzymil.estimators import (
    ANFISClassifier,
    ANFISRegressor,
    MIANFISClassifier,
    MIANFISRegressor,
    NaiveMIL,
    PerInstance,
    load_model,
)
from fuzzymil.rules import RuleBase

__all__ = [
    "ANFISClassifier",
    "ANFISRegressor",
    "Bags",
    "MIANFISClassifier",
    "MIANFISRegressor",
    "NaiveMIL",
    "PerInstance",
    "RuleBase",
    "__version__",
    "as_bags",
    "load_model",
]

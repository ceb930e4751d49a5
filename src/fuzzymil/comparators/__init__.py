"""Other methods of multiple-instance learning behind one interface.

They classify bags into two classes. None of them scales its features; `standardized` does so as MI-ANFIS does:

>>> from fuzzymil.comparators import CitationKNN, standardized
>>> model = standardized(CitationKNN())

Most methods are not symmetric: a positive bag has at least one positive instance. The positive class is the label that
sorts last: 1 of 0 and 1, True, "yes" of "no" and "yes"; but "inactive" of "active" and "inactive". `PositiveClass` says
it otherwise.

`COMPARATORS` holds all of them by class name. To add one, write a subclass of `BagClassifier` or `InstanceScores` with
the decorator `comparator` in a new file of this folder.
"""

from fuzzymil._utils.registry import import_modules
from fuzzymil.comparators._base import (
    COMPARATORS,
    BagClassifier,
    InstanceScores,
    PositiveClass,
    comparator,
    standardized,
)
from fuzzymil.comparators.apr import APR
from fuzzymil.comparators.citation_knn import CitationKNN
from fuzzymil.comparators.diverse_density import EMDD, DiverseDensity
from fuzzymil.comparators.embeddings import EmbeddingBoosting, EmbeddingForest, EmbeddingLogistic
from fuzzymil.comparators.kernels import MiGraph, MIKernel
from fuzzymil.comparators.mi_fv import MiFV
from fuzzymil.comparators.miles import MILES
from fuzzymil.comparators.networks import GatedAttention, MINet, MiNet
from fuzzymil.comparators.svm import MISVM, MiSVM

__all__ = [
    "COMPARATORS",
    "BagClassifier",
    "InstanceScores",
    "PositiveClass",
    "comparator",
    "standardized",
    "APR",
    "DiverseDensity",
    "EMDD",
    "MILES",
    "CitationKNN",
    "MISVM",
    "MiSVM",
    "MIKernel",
    "MiGraph",
    "MiFV",
    "EmbeddingForest",
    "EmbeddingBoosting",
    "EmbeddingLogistic",
    "MiNet",
    "MINet",
    "GatedAttention",
]

import_modules(__name__)  # a file in this folder registers its comparators

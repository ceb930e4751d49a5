"""The methods of the comparison, and the settings each may choose from inside a training fold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzzymil import comparators as c
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier, NaiveMIL, Variant

__all__ = ["CONTESTANTS", "OWN", "Contestant"]

Grid = Mapping[str, list[Any]]

OWN = "MI-ANFIS"
"""The method all others are compared with."""

_KERNEL: Grid = {"C": [1.0, 10.0], "gamma": ["scale", 0.02]}
_RULES: Grid = {"n_rules": [4, 10]}
_NAIVE_RULES: Grid = {f"estimator__{name}": values for name, values in _RULES.items()}
_WIDTH: Grid = {"gamma": ["scale", 0.02]}


@dataclass(frozen=True)
class Contestant:
    """A method as it enters the comparison.

    Attributes
    ----------
    estimator : classifier of bags
        Features reach it standardized by the training fold.
    grid : mapping of str to list
        Settings to choose from by cross-validation on the training bags; empty for none.
    grids : mapping of str to grid
        Smaller ones for single data sets, to save time.
    beyond : bool
        Whether the paper's table lacks the method.
    cost : float
        Processor seconds of one fit on MUSK 1, for the time left.
    """

    estimator: Any
    grid: Grid = field(default_factory=dict)
    grids: Mapping[str, Grid] = field(default_factory=dict)
    beyond: bool = False
    cost: float = 0.2

    def grid_for(self, name: str) -> Grid:
        """Return the settings to choose from on a data set."""
        return self.grids.get(name, self.grid)


CONTESTANTS: dict[str, Contestant] = {
    OWN: Contestant(MIANFISClassifier(), _RULES, cost=0.18),
    "MILES": Contestant(c.MILES(), {"C": [1.0, 10.0]}, cost=0.12),
    "APR": Contestant(c.APR(), cost=0.1),
    "DD": Contestant(c.DiverseDensity(), cost=0.29),
    "DD-SVM": Contestant(c.DDSVM(), cost=0.52),
    "EM-DD": Contestant(c.EMDD(), cost=0.53),
    "Citation-KNN": Contestant(c.CitationKNN(), {"n_references": [1, 2, 3]}, cost=0.06),
    "MI-SVM": Contestant(c.MISVM(), _KERNEL, cost=0.08),
    "mi-SVM": Contestant(c.MiSVM(), _KERNEL, cost=0.16),
    "MI-NN": Contestant(c.MINN(), {"alpha": [3.0, 10.0]}, cost=0.11),
    "Bagging-APR": Contestant(c.BaggingAPR(), cost=0.57),
    "RBF-MIP": Contestant(c.RBFMIP(), cost=0.07),
    "BP-MIP": Contestant(c.BPMIP(), cost=0.11),
    "RBF-Bag-Unit": Contestant(c.RBFBagUnit(), {"fraction": [0.6, 1.0]}, cost=0.06),
    "MI-kernel": Contestant(c.MIKernel(), _KERNEL, cost=0.06),
    "PPMM-kernel": Contestant(c.PPMMKernel(), cost=0.3),
    "MIGraph": Contestant(c.MIGraph(), _KERNEL, cost=0.14),
    "miGraph": Contestant(c.MiGraph(), _KERNEL, cost=0.07),
    # Annealed over many temperatures: the whole grid on the thousands of instances of MUSK 2 would take half an hour.
    "ALP-SVM": Contestant(c.ALPSVM(), _KERNEL, {"musk2": _WIDTH}, cost=0.29),
    "MIForest": Contestant(c.MIForest(), {"min_samples_leaf": [2, 5]}, cost=0.66),
    # The library's own estimators limit values to three deviations; this one sees what all others see.
    "MI-ANFIS, not clipped": Contestant(MIANFISClassifier(variant=Variant(clip=None)), _RULES, beyond=True, cost=0.18),
    "MI-ANFIS, 10 members": Contestant(MIANFISClassifier(n_estimators=10), beyond=True, cost=0.94),
    "Naive-ANFIS, greatest": Contestant(NaiveMIL(ANFISClassifier(), pool="max"), _NAIVE_RULES, beyond=True, cost=0.18),
    "Naive-ANFIS, mean": Contestant(NaiveMIL(ANFISClassifier(), pool="mean"), _NAIVE_RULES, beyond=True, cost=0.17),
    "mi-Net": Contestant(c.MiNet(), {"pool": ["max", "mean"]}, beyond=True, cost=0.24),
    "MI-Net": Contestant(c.MINet(), beyond=True, cost=0.24),
    "Gated attention": Contestant(c.GatedAttention(), beyond=True, cost=0.27),
    "Embedding forest": Contestant(c.EmbeddingForest(), beyond=True, cost=0.37),
}

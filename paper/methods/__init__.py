"""Methods of the paper's table that only the comparison in it needs; importing this package registers them.

Those that a user may want to compare with are in `fuzzymil.comparators`. What is here is close to one of them and no
better (MIGraph, Bagging-APR, ALP-SVM, MI-NN, BP-MIP, MIForest), slower (DD-SVM, PPMM-kernel), or rebuilt from a
description alone (RBF-MIP, RBF-Bag-Unit); docs/comparison.md has the numbers.
"""

from paper.methods.alp_svm import ALPSVM
from paper.methods.bagging_apr import BaggingAPR
from paper.methods.dd_svm import DDSVM
from paper.methods.graphs import MIGraph
from paper.methods.mi_forest import MIForest
from paper.methods.mi_nn import BPMIP, MINN
from paper.methods.ppmm import PPMMKernel
from paper.methods.rbf import RBFMIP, RBFBagUnit

__all__ = [
    "ALPSVM",
    "BPMIP",
    "DDSVM",
    "MINN",
    "RBFMIP",
    "BaggingAPR",
    "MIForest",
    "MIGraph",
    "PPMMKernel",
    "RBFBagUnit",
]

"""Numbers printed in the paper: settings and results; and the differences of this reproduction from the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Printed:
    """Settings of a dataset (table MIANFISparms), and accuracies in percent with ± (table resultstableANIFSes)."""

    title: str
    n_rules: int
    n_components: int
    width: float
    mi: tuple[float, float]
    naive: tuple[float, float]


PRINTED = {
    "musk1": Printed("MUSK 1", 6, 25, 100.0, (93.49, 0.76), (67.82, 4.04)),
    "musk2": Printed("MUSK 2", 3, 25, 100.0, (90.58, 1.31), (79.43, 5.04)),
    "fox": Printed("Fox", 2, 10, 10.0, (66.4, 2.77), (58.70, 1.35)),
    "tiger": Printed("Tiger", 4, 10, 10.0, (84.5, 0.61), (77.70, 0.83)),
    "elephant": Printed("Elephant", 3, 10, 10.0, (86.97, 1.10), (82.2, 0.83)),
}

QUOTED: dict[str, dict[str, float]] = {
    "MI-ANFIS": {"musk1": 93.49, "musk2": 90.58, "fox": 66.4, "tiger": 84.5, "elephant": 86.97},
    "MILES": {"musk1": 86.3, "musk2": 87.7},
    "APR": {"musk1": 92.4, "musk2": 89.2},
    "DD": {"musk1": 88.9, "musk2": 82.5},
    "DD-SVM": {"musk1": 85.8, "musk2": 91.3},
    "EM-DD": {"musk1": 84.8, "musk2": 84.9, "fox": 56.1, "tiger": 72.1, "elephant": 78.3},
    "Citation-KNN": {"musk1": 92.4, "musk2": 86.3},
    "MI-SVM": {"musk1": 77.9, "musk2": 84.3, "fox": 57.8, "tiger": 84.0, "elephant": 81.4},
    "mi-SVM": {"musk1": 87.4, "musk2": 83.6, "fox": 58.2, "tiger": 78.4, "elephant": 82.2},
    "MI-NN": {"musk1": 88.0, "musk2": 82.0},
    "Bagging-APR": {"musk1": 92.8, "musk2": 93.1},
    "RBF-MIP": {"musk1": 91.3, "musk2": 90.1},
    "BP-MIP": {"musk1": 83.7, "musk2": 80.4},
    "RBF-Bag-Unit": {"musk1": 90.3, "musk2": 86.6},
    "MI-kernel": {"musk1": 88.0, "musk2": 89.3, "fox": 60.3, "tiger": 84.2, "elephant": 84.3},
    "PPMM-kernel": {"musk1": 95.6, "musk2": 81.2, "fox": 60.3, "tiger": 80.2, "elephant": 82.4},
    "MIGraph": {"musk1": 90.0, "musk2": 90.0, "fox": 61.2, "tiger": 81.9, "elephant": 85.1},
    "miGraph": {"musk1": 88.9, "musk2": 90.3, "fox": 61.6, "tiger": 86.0, "elephant": 86.8},
    "ALP-SVM": {"musk1": 86.3, "musk2": 86.2, "fox": 66.0, "tiger": 86.0, "elephant": 83.5},
    "MIForest": {"musk1": 85.0, "musk2": 82.0, "fox": 64.0, "tiger": 82.0, "elephant": 84.0},
}
"""Accuracies in percent in the paper's table resultstable, copied from other papers with different protocols."""

IRRELEVANT_OUTPUTS = {1: -0.3, 3: -0.06, 5: -0.12}
"""Conclusions of the rules that the paper calls irrelevant, on its two-concept data."""

DROPOUT = {"with": 0.1123, "without": 0.1451}
"""Final test errors on the one split shown in the paper."""


class Difference(NamedTuple):
    """A place where following the text literally is impossible or unwise."""

    experiments: tuple[str, ...]
    paper: str
    here: str
    why: str


DIFFERENCES = (
    Difference(
        ("synthetic", "benchmarks", "dropout", "convergence"),
        "The printed update of centers and widths ignores how one rule's strength changes the shares of the others.",
        "The library uses the exact gradient; the “paper” columns use the printed update.",
        "The printed update is not the gradient of the printed error and sometimes points uphill. The convergence "
        "experiment compares both.",
    ),
    Difference(
        ("benchmarks", "dropout", "convergence"),
        "All rules start with conclusion 1.",
        "Kept in the “paper” columns. Otherwise, each rule starts at the mean label of the bags that fire it.",
        "With equal conclusions the output is 1 whatever the premises, so the exact gradient with respect to centers "
        "and widths is zero at the first step.",
    ),
    Difference(
        ("benchmarks",),
        "PCA and clustering are used; on which bags, and whether features are scaled, is not stated.",
        "Everything is fitted on the training folds only. The “paper” columns use raw units, for which widths of 100 "
        "and 10 make sense. The default standardizes, clips outliers, uses no PCA and scales widths with the square "
        "root of the number of features.",
        "Fitting on all bags would leak test bags into the model.",
    ),
    Difference(
        ("benchmarks",),
        "Rules, widths and learning rates were found by trial and error on the reported data.",
        "Separate rows: the paper's settings, one default for all datasets, and settings tuned by cross-validation "
        "inside each training fold.",
        "Tuning on the reported folds biases the results in favor of a method.",
    ),
    Difference(
        ("benchmarks",),
        "± is said to be over ten folds, but on four of five datasets it is smaller than ten folds of these sizes "
        "allow.",
        "The standard deviation over repeats of the whole cross-validation and, separately, over folds.",
        "The number of repeats behind the printed ± is unknown.",
    ),
    Difference(
        ("benchmarks",),
        "The larger gain on the MUSK datasets is attributed to more instances per bag.",
        "Not claimed here.",
        "MUSK 1 has the fewest instances per bag of the five datasets (about 5; the image datasets have 6 to 7, "
        "MUSK 2 has 65).",
    ),
    Difference(
        ("benchmarks", "dropout"),
        "The text suggests a learning rate of 0.1 on the error summed over all bags.",
        "The “paper” columns update bag by bag in random order; batches use the mean error.",
        "On the sum, a rate of 0.1 makes the conclusions diverge on all five datasets.",
    ),
    Difference(
        ("benchmarks", "dropout"),
        "Labels and threshold are not stated; epochs are “fewer than 150”.",
        "Targets 0 and 1, threshold 0.5, the last of 150 epochs (100 in the dropout experiment).",
        "The printed conclusions are near 0 and 1. Choosing the best epoch on the test bags would be a leak.",
    ),
    Difference(
        ("dropout",),
        "“SSE” of 0.11 and 0.15 on twenty test bags.",
        "Mean squared errors.",
        "Such a small sum over twenty bags would mean errors far below any reported accuracy; it is almost certainly "
        "a mean.",
    ),
    Difference(
        ("dropout",),
        "Rules are dropped after normalization, and outputs are scaled at test time; one split is shown.",
        "The same, and a variant that drops rules before normalization and needs no scaling; 50 splits.",
        "The printed form pulls outputs towards 0 when few rules are active. One split of twenty bags cannot settle "
        "it.",
    ),
    Difference(
        ("synthetic", "convergence"),
        "The spread of the concepts and alpha are not given for the two-concept data.",
        "Discs of radius 0.2; alpha 1, as in the paper's table for the benchmarks, and alpha 5.",
        "With alpha 1 and truth values between 0 and 1, the aggregation is close to a mean; 5 is closer to the idea "
        "that one instance makes a bag positive.",
    ),
    Difference(
        ("table",),
        "The numbers of 19 other methods are copied from other papers: other folds, other preprocessing, settings "
        "often chosen on the reported data.",
        "Every method is measured: the same folds, features standardized and clipped by the training folds, parameters "
        "tuned inside them on small grids of like size.",
        "Numbers from different protocols cannot be ranked.",
    ),
    Difference(
        ("table",),
        "MI-kernel is cited from the paper on MIGraph, the source of its numbers.",
        "Implemented after the original: Gärtner et al. (2002). The docstrings of fuzzymil.comparators name the source "
        "of each method and the differences from it.",
        "Some originals leave steps open; those are reconstructions.",
    ),
    Difference(
        ("landmine",),
        "Radar data measured over mine lanes: 319 high-metal and 422 low-metal encounters.",
        "As many simulated mines, and as many clutter alarms as mines; the simulator, the detectors and the features "
        "are in paper.radar.",
        "The measured data were never published. Findings on simulated alarms may not hold on measured ones.",
    ),
    Difference(
        ("landmine",),
        "An expert labels the windows that ANFIS and Mamdani learn from; how well is unknown.",
        "Both the simulator's truth and the labels of a simulated expert who is off by a few windows for faint mines.",
        "These labels are the information that those methods have and MI-ANFIS does not, so their quality decides the "
        "comparison.",
    ),
    Difference(
        ("landmine",),
        "The detectors EHDDT and EHDCT come from earlier work.",
        "Reconstructed after Frigui and Gader (2009). Choices made here: an edge needs a response of 2, with operators "
        "scaled to a standard deviation of 1 on noise; Hellinger distances of histograms; 30 prototypes of mines, 30 "
        "of loud and 10 of quiet clutter windows, all simulated.",
        "The published text leaves these open. The prototypes come from alarms that are not among those reported.",
    ),
    Difference(
        ("landmine",),
        "Five rules with widths and conclusions of 1.",
        "“The paper's start” and “the paper's settings” use these, on standardized features.",
        "In the features' own units (confidences from 0 to 1, meters), a width of 1 would cover nearly everything.",
    ),
    Difference(
        ("rules",),
        "A rule has a condition on every feature or component.",
        "Rules with few conditions, chosen, searched or shortened, and rules written by an expert and refined by "
        "training. The paper has no such study.",
        "The paper promises readable rules, but nobody reads 166 conditions.",
    ),
)

"""Reliability of probabilities: how many of the bags with a predicted probability of 70% are positive."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, described, listed
from fuzzymil.estimators import Fold
from fuzzymil.plots.style import FAINT, add_legend, as_written, bare, distinct

Pair = tuple[npt.ArrayLike, npt.ArrayLike]  # the labels of some bags, and their probabilities

_LINE = 68  # characters per line of the legend
_Z = 1.96  # of a normal distribution, 95% are within this many standard deviations


@dataclasses.dataclass(frozen=True)
class ReliabilityCurve:
    """The reliability of one method's probabilities.

    Attributes
    ----------
    label : str
    predicted : array of shape (n_bins,)
        Mean predicted probability of the bags in each bin; NaN if there are none.
    observed : array of shape (n_bins,)
        Share of positive bags among them.
    counts : array of int of shape (n_bins,)
        Number of these bags.
    scores : array of shape (n_folds,)
        Brier score of each fold.
    color : str
        That of its class, if the curves are those of classes; default: one per method.

    Examples
    --------
    >>> curve = ReliabilityCurve(
    ...     "rules", np.array([0.1, 0.8]), np.array([0.0, 0.75]), np.array([6, 4]), np.array([0.1, 0.2])
    ... )
    >>> curve.legend
    'rules: Brier score 0.150 ± 0.071 (n = 2)'
    >>> curve.interval[1].round(2).tolist()
    [0.39, 0.95]
    """

    label: str
    predicted: Array
    observed: Array
    counts: Array
    scores: Array
    color: str = ""

    @property
    def interval(self) -> Array:
        """Lower and upper end of the 95% interval of ``observed``, shape (2, n_bins), by Wilson's formula."""
        n, share = np.where(self.counts > 0, self.counts, np.nan), self.observed
        middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
        half = _Z / (1 + _Z**2 / n) * np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
        return np.array([middle - half, middle + half])

    @property
    def legend(self) -> str:
        """The label, the mean Brier score with its standard deviation, and the number of folds."""
        n = len(self.scores)
        spread = f" ± {self.scores.std(ddof=1):.3f} (n = {n})" if n > 1 else ""
        return f"{self.label}: Brier score {self.scores.mean():.3f}{spread}"


@dataclasses.dataclass
class ReliabilityDisplay:
    """The share of positive bags against their predicted probability, with the number of bags below.

    On the diagonal, probabilities are what they say. Below it, they are too high; above it, too low. Whiskers are 95%
    intervals of the shares: bins with few bags say little. The Brier scores in the legend are averaged over the folds;
    lower is better. Each is about one class against the rest, and lies between 0 and 1.

    Parameters
    ----------
    curves : list of ReliabilityCurve
    edges : array of shape (n_bins + 1,)
        Edges of the bins.
    positive : str
        Name of the positive class.

    Examples
    --------
    >>> folds = [([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), ([0, 1, 0, 1], [0.2, 0.9, 0.3, 0.6])]
    >>> display = ReliabilityDisplay.from_probabilities({"rules": folds}, n_bins=2)
    >>> curve = display.curves[0]
    >>> curve.predicted.round(2).tolist(), curve.observed.round(2).tolist(), curve.counts.tolist()
    ([0.27, 0.77], [0.2, 1.0], [5, 3])
    """

    curves: list[ReliabilityCurve]
    edges: Array
    positive: str

    @classmethod
    def from_probabilities(
        cls, probabilities: Mapping[str, Sequence[Pair]], *, pos_label: Any = None, n_bins: int = 10
    ) -> ReliabilityDisplay:
        """Compute the curves.

        Parameters
        ----------
        probabilities : dict of str to list of (truth, probabilities)
            By method: one pair of arrays of shape (n_bags,) per fold, labels and probabilities of the positive label.
            The bags of all folds are binned together.
        pos_label : label, optional
            Default: the second of the two labels in sorted order.
        n_bins : int
            Number of bins of equal width.
        """
        if not probabilities:
            raise ParameterError("There is nothing to draw: pass {'name': [(truth, probabilities), ...]}.")
        if isinstance(n_bins, bool) or not isinstance(n_bins, int) or n_bins < 1:
            raise ParameterError(f"n_bins must be an integer of at least 1, got {n_bins!r}.")
        folds = {label: _checked(label, given) for label, given in probabilities.items()}
        known = np.unique(np.concatenate([truth for given in folds.values() for truth, _ in given])).tolist()
        if pos_label is None and len(known) != 2:
            raise ParameterError(f"The labels are {listed(known)}: choose the positive one, pos_label=....")
        if pos_label is not None and pos_label not in known:
            raise ParameterError(f"pos_label must be one of the labels {listed(known)}, got {pos_label!r}.")
        chosen = known[1] if pos_label is None else pos_label
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        return cls([_curve(str(label), given, chosen, edges) for label, given in folds.items()], edges, str(chosen))

    @classmethod
    def from_folds(
        cls, folds: Mapping[str, Sequence[Fold]], *, pos_label: Any = None, n_bins: int = 10
    ) -> ReliabilityDisplay:
        """Compute the curves on the held-out bags of a cross-validation.

        Parameters
        ----------
        folds : dict of str to list of Fold
            By method: what `fuzzymil.estimators.cross_validate` returned for it.
        pos_label : label, optional
            Default: the second of two classes.
        n_bins : int
            Number of bins of equal width.

        Examples
        --------
        >>> from fuzzymil import MIANFISClassifier, Training
        >>> from fuzzymil.datasets import make_two_concepts
        >>> from fuzzymil.estimators import cross_validate
        >>> bags = make_two_concepts(random_state=0)
        >>> (found,) = cross_validate([MIANFISClassifier(4, training=Training(max_epochs=20), random_state=0)], bags, cv=3)
        >>> int(ReliabilityDisplay.from_folds({"rules": found}).curves[0].counts.sum()) == bags.n_bags
        True
        """
        pairs: dict[str, list[Pair]] = {}
        for label, given in folds.items():
            pairs[label] = []
            for fold in given:
                if fold.probabilities is None:
                    raise InputError(f"{label!r}: a {type(fold.model).__name__} has no probabilities.")
                classes = np.asarray(fold.model.classes_).tolist()
                if pos_label is None and len(classes) != 2:
                    raise ParameterError(f"{label!r} has the classes {listed(classes)}: choose one, pos_label=....")
                if pos_label is not None and pos_label not in classes:
                    raise ParameterError(f"pos_label must be one of the classes {listed(classes)}, got {pos_label!r}.")
                chosen = classes[1] if pos_label is None else pos_label
                pairs[label].append((fold.truth, fold.probabilities[:, classes.index(chosen)]))
        return cls.from_probabilities(pairs, pos_label=pos_label, n_bins=n_bins)

    @classmethod
    def from_classes(
        cls, folds: Sequence[Pair], classes: Sequence[Any], *, pos_label: Any = None, n_bins: int = 10
    ) -> ReliabilityDisplay:
        """Compute the curves of classes: one about the second of two, or one for each of several.

        Colors are those that the classes have everywhere.

        Parameters
        ----------
        folds : list of (truth, probabilities)
            One pair per fold: labels (n_bags,), and probabilities of shape (n_bags, n_classes).
        classes : sequence
            In the order of the probabilities; of two, the one that the rules speak for last.
        pos_label : label, optional
            The class to show. Default: the second of two, or all of several.
        n_bins : int

        Examples
        --------
        >>> truth, likely = ["cat", "dog", "fox"], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4]]
        >>> display = ReliabilityDisplay.from_classes([(truth, likely)], ["cat", "dog", "fox"])
        >>> [curve.label for curve in display.curves], display.positive
        (['cat', 'dog', 'fox'], 'the class')
        """
        names = np.asarray(classes).tolist()
        if pos_label is not None and pos_label not in names:
            raise ParameterError(f"pos_label must be one of the classes {listed(names)}, got {pos_label!r}.")
        shown = [names.index(pos_label)] if pos_label is not None else [1] if len(names) == 2 else range(len(names))
        curves, display = [], None
        for place in shown:
            own = [(np.asarray(truth) == names[place], np.asarray(likely)[:, place]) for truth, likely in folds]
            display = cls.from_probabilities({str(names[place]): own}, pos_label=True, n_bins=n_bins)
            curves.append(dataclasses.replace(display.curves[0], color=class_color(place, len(names))))
        assert display is not None
        about = str(names[shown[0]]) if len(curves) == 1 else "the class"
        return dataclasses.replace(display, curves=curves, positive=about)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = [textwrap.fill(curve.legend, _LINE) for curve in self.curves]
        n_lines = sum(label.count("\n") + 1 for label in labels) + 1
        figure, (axis, below) = plt.subplots(
            2,
            1,
            figsize=(5.4, 6.5 + 0.19 * n_lines + (0.3 if title else 0.0)),
            height_ratios=(4.6, 1),
            sharex=True,
            layout="constrained",
        )
        axis.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        styles = [
            style | ({"color": curve.color} if curve.color else {})
            for curve, style in zip(self.curves, distinct(len(self.curves)), strict=True)
        ]
        lines = [self._draw(axis, curve, style) for curve, style in zip(self.curves, styles, strict=True)]
        self._draw_counts(below, styles)
        axis.set_xlim(-0.01, 1.01)
        axis.set_ylim(-0.01, 1.01)
        axis.set_box_aspect(1)
        below.set_box_aspect(0.2)  # as wide as the one above
        axis.xaxis.set_major_locator(MultipleLocator(0.2))
        axis.yaxis.set_major_locator(MultipleLocator(0.2))
        for each in (axis, below):
            each.grid(color="#E5E5E5", linewidth=0.6)
            each.set_axisbelow(True)
            bare(each)
        below.set_xlabel(as_written(f"predicted probability of {self.positive}"), fontsize=9)
        axis.set_ylabel(as_written(f"share of bags labeled {self.positive}"), fontsize=9)
        below.set_ylabel("bags", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        add_legend(figure, lines, labels, title="whiskers: 95% intervals", handlelength=3.2)
        return figure

    def _draw(self, axis: Any, curve: ReliabilityCurve, style: dict[str, Any]) -> Any:
        filled = curve.counts > 0
        across, share, (low, high) = curve.predicted[filled], curve.observed[filled], curve.interval[:, filled]
        axis.vlines(across, low, high, color=style["color"], linewidth=1.0, alpha=0.6, zorder=2)
        (line,) = axis.plot(across, share, linewidth=1.7, markersize=5.5, markeredgecolor="white", zorder=3, **style)
        return line

    def _draw_counts(self, axis: Any, styles: list[dict[str, Any]]) -> None:
        """Draw the number of bags in each bin; one method as bars, several as outlines."""
        for curve, style in zip(self.curves, styles, strict=True):
            look = {"alpha": 0.35, "fill": True}
            if len(self.curves) > 1:
                look = {"linestyle": style["linestyle"], "linewidth": 1.3}
            axis.stairs(curve.counts, self.edges, color=style["color"], **look)
        axis.set_ylim(bottom=0)
        axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))


def _checked(label: str, given: Sequence[Pair]) -> list[tuple[Array, Array]]:
    folds = []
    for number, pair in enumerate(given, start=1):
        where = f"{label!r}, fold {number}"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"{where}: expected a pair (truth, probabilities), got {described(pair)}.")
        truth, found = np.asarray(pair[0]), np.asarray(pair[1])
        if truth.ndim != 1 or truth.shape != found.shape or not len(truth):
            raise InputError(
                f"{where}: expected one label and one probability per bag, got shapes {truth.shape} and {found.shape}."
            )
        if found.dtype.kind not in "iufb" or not ((found >= 0) & (found <= 1)).all():
            raise InputError(f"{where}: probabilities must be numbers from 0 to 1; calibrate scores first.")
        folds.append((truth, found.astype(float)))
    if not folds:
        raise InputError(f"{label!r} has no folds: pass at least one pair (truth, probabilities).")
    return folds


def _curve(label: str, folds: Sequence[tuple[Array, Array]], positive: Any, edges: Array) -> ReliabilityCurve:
    truth = np.concatenate([labels == positive for labels, _ in folds])
    found = np.concatenate([values for _, values in folds])
    places, n_bins = np.searchsorted(edges[1:-1], found), len(edges) - 1  # an edge belongs to the bin below it
    counts = np.bincount(places, minlength=n_bins)
    sums = (np.bincount(places, values, minlength=n_bins) for values in (found, truth))
    predicted, observed = (np.divide(s, counts, out=np.full(n_bins, np.nan), where=counts > 0) for s in sums)
    scores = np.array([np.square(values - (labels == positive)).mean() for labels, values in folds])
    return ReliabilityCurve(label, predicted, observed, counts, scores)

"""How good predictions are: ROC curves, the reliability of probabilities, and a `DataDiagnosis`."""

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
from sklearn.metrics import roc_auc_score, roc_curve

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, described, listed
from fuzzymil.estimators import Fold
from fuzzymil.learn.choose import DataDiagnosis, Method
from fuzzymil.plots.style import FAINT, LOW, add_legend, add_title, as_written, bare, distinct

Pair = tuple[npt.ArrayLike, npt.ArrayLike]  # the labels of some bags, and their scores or probabilities

_LINE = 68  # characters per line of the legend
_RATES = np.linspace(0.0, 1.0, 1001)
_MEAN = "#222222"
_Z = 1.96  # of a normal distribution, 95% are within this many standard deviations
_TITLES = {"accuracy": "accuracy", "explained": "deviance explained", "R2": "R²", "RMSE": "RMSE"}


# ---------------------------------------------------------------------- ROC curves


def true_positive_rates(truth: npt.ArrayLike, scores: npt.ArrayLike, rates: npt.ArrayLike) -> Array:
    """Return the true positive rates (n,) at given false positive rates ``rates`` (n,).

    Where the curve is vertical, its upper end counts: what can be detected without further false alarms.

    Parameters
    ----------
    truth : array of bool of shape (n_bags,)
        Must contain both values.
    scores : array of shape (n_bags,)
        Greater scores are more positive.
    rates : array of shape (n,)
        From 0 to 1.

    Examples
    --------
    >>> true_positive_rates([False, False, True, True], [0.1, 0.4, 0.35, 0.8], [0.0, 0.25, 0.5]).tolist()
    [0.5, 0.5, 1.0]
    """
    false, true, _ = roc_curve(truth, scores, drop_intermediate=False)
    before = np.searchsorted(false, rates, side="right") - 1  # the last of equal rates, which is the highest
    after = np.minimum(before + 1, len(false) - 1)
    gap = false[after] - false[before]
    share = np.divide(np.asarray(rates) - false[before], gap, out=np.zeros(len(gap)), where=gap > 0)
    return np.asarray(true[before] + share * (true[after] - true[before]))


@dataclasses.dataclass(frozen=True)
class RocCurve:
    """The ROC curves of one method.

    Attributes
    ----------
    label : str
    detected : array of shape (n_folds, n_rates)
        True positive rate of each fold at each false positive rate.
    areas : array of shape (n_folds,)
        Area under the curve of each fold.
    color : str
        That of its class, if the curves are those of classes; default: one per method.

    Examples
    --------
    >>> curve = RocCurve("rules", np.array([[0.5, 1.0], [0.7, 1.0]]), np.array([0.8, 0.9]))
    >>> curve.mean.round(2).tolist(), curve.legend
    ([0.6, 1.0], 'rules: AUC 0.850 ± 0.071 (n = 2)')
    """

    label: str
    detected: Array
    areas: Array
    color: str = ""

    @property
    def mean(self) -> Array:
        """Vertical average over the folds, shape (n_rates,)."""
        return np.asarray(self.detected.mean(axis=0))

    @property
    def deviation(self) -> Array | None:
        """Standard deviation over the folds, shape (n_rates,); None for a single fold."""
        return np.asarray(self.detected.std(axis=0, ddof=1)) if len(self.detected) > 1 else None

    @property
    def legend(self) -> str:
        """The label, the mean area with its standard deviation, and the number of folds."""
        spread = f" ± {self.areas.std(ddof=1):.3f} (n = {len(self.areas)})" if len(self.areas) > 1 else ""
        return f"{self.label}: AUC {self.areas.mean():.3f}{spread}"


@dataclasses.dataclass
class RocDisplay:
    """ROC curves of several methods: the mean over folds, and one standard deviation around it.

    Curves are averaged vertically: the mean true positive rate at each false positive rate. The areas in the legend
    are averaged over the folds' own curves.

    Parameters
    ----------
    curves : list of RocCurve
    rates : array of shape (n_rates,)
        False positive rates at which the curves are known.
    marks : tuple of float
        False positive rates to mark, among ``rates``.
    xlabel, ylabel : str

    Examples
    --------
    >>> folds = [([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), ([0, 1, 0, 1], [0.2, 0.9, 0.3, 0.6])]
    >>> display = RocDisplay.from_scores({"rules": folds}, marks=[0.25])
    >>> display.curves[0].legend
    'rules: AUC 0.875 ± 0.177 (n = 2)'
    >>> display.detected(0.25)
    {'rules': (0.75, 0.3535533905932738)}
    """

    curves: list[RocCurve]
    rates: Array
    marks: tuple[float, ...] = ()
    xlabel: str = "false positive rate"
    ylabel: str = "true positive rate"

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, Sequence[Pair]],
        *,
        pos_label: Any = None,
        marks: Sequence[float] = (),
        xlabel: str = "false positive rate",
        ylabel: str = "true positive rate",
    ) -> RocDisplay:
        """Compute the curves.

        Parameters
        ----------
        scores : dict of str to list of (truth, scores)
            By method: one pair of arrays of shape (n_bags,) per fold, labels and scores.
        pos_label : label, optional
            Default: the second of the two labels in sorted order.
        marks : sequence of float
            False positive rates to mark.
        xlabel, ylabel : str
            For example ``"false-alarm rate"`` and ``"detection rate"``.
        """
        if not scores:
            raise ParameterError("There is nothing to draw: pass scores={'name': [(truth, scores), ...]}.")
        for mark in marks:
            if not 0 <= mark <= 1:
                raise ParameterError(f"marks must be false positive rates from 0 to 1, got {mark!r}.")
        folds = {label: _check_folds(label, given, "scores") for label, given in scores.items()}
        chosen = _positive(folds, pos_label)
        rates = np.union1d(_RATES, np.asarray(marks, float))
        curves = [
            _roc_curve(str(label), [(truth == chosen, values) for truth, values in given], rates)
            for label, given in folds.items()
        ]
        return cls(curves=curves, rates=rates, marks=tuple(map(float, marks)), xlabel=xlabel, ylabel=ylabel)

    @classmethod
    def from_classes(
        cls,
        folds: Sequence[Pair],
        classes: Sequence[Any],
        *,
        pos_label: Any = None,
        marks: Sequence[float] = (),
        xlabel: str = "false positive rate",
        ylabel: str = "true positive rate",
    ) -> RocDisplay:
        """Compute the curves of classes, each against the rest, and their mean (macro average).

        Of two classes there is one curve, about the second. Colors are those that the classes have everywhere.

        Parameters
        ----------
        folds : list of (truth, scores)
            One pair per fold: labels (n_bags,), and scores of shape (n_bags, n_classes) or, of two classes, (n_bags,)
            for the second.
        classes : sequence
            In the order of the scores; of two, the positive one last.
        pos_label : label, optional
            The class to show. Default: the second of two, or all of several.
        marks, xlabel, ylabel
            See `from_scores`.

        Examples
        --------
        >>> truth, scores = ["cat", "dog", "fox", "cat"], [[3, 1, 0], [0, 2, 1], [1, 0, 2], [2, 1, 1]]
        >>> display = RocDisplay.from_classes([(truth, scores)], ["cat", "dog", "fox"])
        >>> [curve.label for curve in display.curves]
        ['cat against the rest', 'dog against the rest', 'fox against the rest', 'mean of the classes']
        """
        names = np.asarray(classes).tolist()
        columns = [(np.asarray(truth), _by_class(scores, len(names))) for truth, scores in folds]
        curves = []
        for place in _shown_classes(names, pos_label):
            own = [(truth == names[place], scores[:, place]) for truth, scores in columns]
            label = str(names[place]) if len(names) == 2 else f"{names[place]} against the rest"
            display = cls.from_scores({label: own}, pos_label=True, marks=marks, xlabel=xlabel, ylabel=ylabel)
            curves.append(dataclasses.replace(display.curves[0], color=class_color(place, len(names))))
        if len(curves) > 1:
            detected = np.mean([curve.detected for curve in curves], axis=0)
            areas = np.mean([curve.areas for curve in curves], axis=0)
            curves.append(RocCurve("mean of the classes", detected, areas, _MEAN))
        return dataclasses.replace(display, curves=curves)

    def detected(self, rate: float) -> dict[str, tuple[float, float | None]]:
        """Return mean and standard deviation of each method's true positive rate at one of ``rates``."""
        found = np.flatnonzero(np.isclose(self.rates, rate, rtol=0, atol=1e-12))
        if not len(found):
            raise ParameterError(f"The curves are not known at {rate!r}: pass marks=[{rate!r}] to from_scores.")
        return {
            curve.label: (
                float(curve.mean[found[0]]),
                None if curve.deviation is None else float(curve.deviation[found[0]]),
            )
            for curve in self.curves
        }

    def plot(self, title: str | None = None, *, max_rate: float = 1.0, bands: bool = True) -> Figure:
        """Draw the figure and return it.

        Parameters
        ----------
        title : str, optional
        max_rate : float
            Greatest false positive rate to show.
        bands : bool
            Whether to draw bands of one standard deviation. With many methods they overlap.
        """
        if not 0 < max_rate <= 1:
            raise ParameterError(f"max_rate must be greater than 0 and at most 1, got {max_rate!r}.")
        banded = bands and any(curve.deviation is not None for curve in self.curves)
        labels = [textwrap.fill(self._legend(curve), _LINE) for curve in self.curves]
        n_lines = sum(label.count("\n") + 1 for label in labels) + banded
        height = 5.3 + 0.19 * n_lines + (0.3 if title else 0.0) + (0.2 if self.marks else 0.0)
        figure, axis = plt.subplots(figsize=(5.4, height), layout="constrained")
        styles = _styles(self.curves)
        lines = [self._draw(axis, curve, style, bands) for curve, style in zip(self.curves, styles, strict=True)]
        for mark in self.marks:
            axis.axvline(mark, color="black", linewidth=0.8, linestyle=":", zorder=1)
            if mark <= max_rate:
                axis.annotate(
                    f"{mark:g}",
                    (mark, 1.012),
                    xycoords=("data", "axes fraction"),
                    fontsize=7,
                    ha="center",
                    va="bottom",
                    rotation=90,
                )
        _square(axis, max_rate)
        axis.set_xlabel(as_written(self.xlabel), fontsize=9)
        axis.set_ylabel(as_written(self.ylabel), fontsize=9)
        add_title(figure, title)
        add_legend(figure, lines, labels, title="bands: one standard deviation" if banded else "", handlelength=3.2)
        return figure

    def _legend(self, curve: RocCurve) -> str:
        if not self.marks:
            return curve.legend
        found = curve.mean[np.searchsorted(self.rates, self.marks)]
        return (
            f"{curve.legend}; {', '.join(f'{value:.2f}' for value in found)} at the mark{'s' if len(found) > 1 else ''}"
        )

    def _draw(self, axis: Any, curve: RocCurve, style: dict[str, Any], bands: bool) -> Any:
        look = {"color": style["color"], "linestyle": style["linestyle"], "linewidth": 1.7}
        # From the corner: what is detected without any false alarm is a vertical line.
        (line,) = axis.plot([0.0, *self.rates], [0.0, *curve.mean], zorder=3, **look)
        if bands and curve.deviation is not None:
            low, high = curve.mean - curve.deviation, curve.mean + curve.deviation
            low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)  # rates are between 0 and 1
            axis.fill_between(self.rates, low, high, color=style["color"], alpha=0.13, linewidth=0, zorder=2)
        if self.marks:
            places = np.searchsorted(self.rates, self.marks)
            axis.plot(
                self.rates[places],
                curve.mean[places],
                linestyle="",
                marker=style["marker"],
                color=style["color"],
                markeredgecolor="white",
                markersize=6,
                zorder=4,
            )
        return line


# ---------------------------------------------------------------------- reliability


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
        folds = {label: _check_folds(label, given, "probabilities") for label, given in probabilities.items()}
        chosen = _positive(folds, pos_label)
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        return cls(
            [_reliability_curve(str(label), given, chosen, edges) for label, given in folds.items()], edges, str(chosen)
        )

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
        >>> from fuzzymil import RuleClassifier
        >>> from fuzzymil.datasets import make_two_concepts
        >>> from fuzzymil.estimators import cross_validate
        >>> bags = make_two_concepts(random_state=0)
        >>> (found,) = cross_validate([RuleClassifier(random_state=0)], bags, cv=3)
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
                (place,) = _shown_classes(classes, pos_label)
                pairs[label].append((fold.truth, fold.probabilities[:, place]))
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
            In the order of the probabilities; of two, the positive one last.
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
        shown = _shown_classes(names, pos_label)
        curves = []
        for place in shown:
            own = [(np.asarray(truth) == names[place], np.asarray(likely)[:, place]) for truth, likely in folds]
            display = cls.from_probabilities({str(names[place]): own}, pos_label=True, n_bins=n_bins)
            curves.append(dataclasses.replace(display.curves[0], color=class_color(place, len(names))))
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
        styles = _styles(self.curves)
        lines = [self._draw(axis, curve, style) for curve, style in zip(self.curves, styles, strict=True)]
        self._draw_counts(below, styles)
        _square(axis)
        below.set_box_aspect(0.2)  # as wide as the one above
        _grid(below)
        below.set_xlabel(as_written(f"predicted probability of {self.positive}"), fontsize=9)
        axis.set_ylabel(as_written(f"share of bags labeled {self.positive}"), fontsize=9)
        below.set_ylabel("bags", fontsize=9)
        add_title(figure, title)
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


# ---------------------------------------------------------------------- what both share


def _check_folds(label: str, given: Sequence[Pair], what: str) -> list[tuple[Array, Array]]:
    """Return the labels and ``what``, scores or probabilities, of each fold as arrays."""
    folds = []
    for number, pair in enumerate(given, start=1):
        where = f"{label!r}, fold {number}"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"{where}: expected a pair (truth, {what}), got {described(pair)}.")
        truth, values = np.asarray(pair[0]), np.asarray(pair[1])
        if values.dtype.kind not in "iufb":
            raise InputError(f"{where}: {what} must be numbers.")
        if truth.ndim != 1 or truth.shape != values.shape or not len(truth):
            one = what.replace("ies", "y").rstrip("s")
            raise InputError(
                f"{where}: expected one label and one {one} per bag, got shapes {truth.shape} and {values.shape}."
            )
        if what == "probabilities" and not ((values >= 0) & (values <= 1)).all():
            raise InputError(f"{where}: probabilities must be numbers from 0 to 1; calibrate scores first.")
        if not np.isfinite(values).all():
            raise InputError(f"{where}: the score of bag {np.flatnonzero(~np.isfinite(values))[0]} is not finite.")
        if what == "scores" and len(np.unique(truth)) < 2:
            raise InputError(
                f"{where}: all bags have the same label; an ROC curve needs both labels (stratify the folds)."
            )
        folds.append((truth, values.astype(float)))
    if not folds:
        raise InputError(f"{label!r} has no folds: pass at least one pair (truth, {what}).")
    return folds


def _positive(folds: Mapping[str, Sequence[tuple[Array, Array]]], wanted: Any) -> Any:
    """Return the positive label; if it is not chosen, the second of two."""
    known = np.unique(np.concatenate([truth for given in folds.values() for truth, _ in given])).tolist()
    if wanted is None and len(known) != 2:
        raise ParameterError(f"Expected two labels, got {listed(known)}: choose the positive one, pos_label=....")
    if wanted is not None and wanted not in known:
        raise ParameterError(f"pos_label must be one of the labels {listed(known)}, got {wanted!r}.")
    return known[1] if wanted is None else wanted


def _shown_classes(classes: Sequence[Any], pos_label: Any) -> Sequence[int]:
    """Return the positions of the classes to show: the positive one, the second of two, or all of several."""
    if pos_label is None:
        return [1] if len(classes) == 2 else range(len(classes))
    if pos_label not in classes:
        raise ParameterError(f"pos_label must be one of the classes {listed(classes)}, got {pos_label!r}.")
    return [list(classes).index(pos_label)]


def _by_class(scores: npt.ArrayLike, n_classes: int) -> Array:
    """Return one column of scores per class; those of two classes are opposite."""
    found = np.asarray(scores)
    if found.ndim == 1 and n_classes == 2:
        return np.column_stack([-found, found])
    if found.ndim != 2 or found.shape[1] != n_classes:
        raise InputError(f"Expected a score for each of {n_classes} classes and each bag, got shape {found.shape}.")
    return found


def _roc_curve(label: str, folds: Sequence[tuple[Array, Array]], rates: Array) -> RocCurve:
    detected = np.array([true_positive_rates(truth, scores, rates) for truth, scores in folds])
    return RocCurve(label, detected, np.array([roc_auc_score(truth, scores) for truth, scores in folds]))


# How well each kind of rules, and simple methods, explain the labels of bags.


def _reliability_curve(
    label: str, folds: Sequence[tuple[Array, Array]], positive: Any, edges: Array
) -> ReliabilityCurve:
    truth = np.concatenate([labels == positive for labels, _ in folds])
    found = np.concatenate([values for _, values in folds])
    places, n_bins = np.searchsorted(edges[1:-1], found), len(edges) - 1  # an edge belongs to the bin below it
    counts = np.bincount(places, minlength=n_bins)
    sums = (np.bincount(places, values, minlength=n_bins) for values in (found, truth))
    predicted, observed = (np.divide(s, counts, out=np.full(n_bins, np.nan), where=counts > 0) for s in sums)
    scores = np.array([np.square(values - (labels == positive)).mean() for labels, values in folds])
    return ReliabilityCurve(label, predicted, observed, counts, scores)


def _styles(curves: Sequence[RocCurve | ReliabilityCurve]) -> list[dict[str, Any]]:
    return [
        style | ({"color": curve.color} if curve.color else {})
        for curve, style in zip(curves, distinct(len(curves)), strict=True)
    ]


def _square(axis: Any, right: float = 1.0) -> None:
    """Make square axes of shares, with the diagonal."""
    axis.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    axis.set_xlim(-0.01 * right, 1.01 * right)
    axis.set_ylim(-0.01, 1.01)
    axis.set_box_aspect(1)
    if right == 1:
        axis.xaxis.set_major_locator(MultipleLocator(0.2))
    axis.yaxis.set_major_locator(MultipleLocator(0.2))
    _grid(axis)


def _grid(axis: Any) -> None:
    axis.grid(color="#E5E5E5", linewidth=0.6)
    axis.set_axisbelow(True)
    bare(axis)


# ---------------------------------------------------------------------- kinds of rules


@dataclasses.dataclass
class DataDiagnosisDisplay:
    """Held-out results of a `DataDiagnosis`: bars are means, whiskers standard deviations over folds.

    Kinds of rules are blue, baselines gray; the dotted line is the majority class or the mean.

    Parameters
    ----------
    methods : tuple of Method
        At least one.

    Examples
    --------
    >>> from fuzzymil import diagnose_data
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("some", n_bags=60, n_noise=0, random_state=0)
    >>> found = diagnose_data(bags)
    >>> figure = DataDiagnosisDisplay(found.methods).plot()
    >>> [axis.get_title() for axis in figure.axes]
    ['accuracy', 'AUC', 'deviance explained']
    >>> plt.close(figure)
    """

    methods: tuple[Method, ...]

    @classmethod
    def from_diagnosis(cls, diagnosis: DataDiagnosis) -> DataDiagnosisDisplay:
        """Return the display of what `diagnose_data` found; raise if it compared no methods."""
        if not diagnosis.methods:
            raise ParameterError(f"There are no held-out results to draw. {' '.join(diagnosis.verdict)}")
        return cls(diagnosis.methods)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        names = list(self.methods[0].measures)
        figure, axes = plt.subplots(
            1,
            len(names),
            figsize=(2.6 + 2.2 * len(names), 0.9 + 0.3 * len(self.methods)),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        for axis, name in zip(axes[0], names, strict=True):
            self._draw(axis, name)
        axes[0, 0].set_yticks(
            range(len(self.methods)), [as_written(method.name) for method in self.methods], fontsize=8
        )
        axes[0, 0].invert_yaxis()
        n_folds = self.methods[0].measures[names[0]].n
        figure.supxlabel(f"held-out bags, mean and standard deviation over {n_folds} folds", fontsize=8)
        add_title(figure, title)
        return figure

    def _draw(self, axis: Any, name: str) -> None:
        for row, method in enumerate(self.methods):
            mean, deviation, _ = method.measures[name]
            color = FAINT if method.is_baseline else LOW
            axis.barh(row, mean, height=0.62, color=color, alpha=0.75)
            axis.errorbar(mean, row, xerr=deviation, color="#222222", capsize=2, linewidth=1)
        axis.axvline(self.methods[-1].measures[name].mean, color="#222222", linewidth=0.9, linestyle=":")
        axis.set_title(_TITLES.get(name, name), fontsize=9, fontweight="bold")
        axis.grid(axis="x", color="#DDDDDD", linewidth=0.6)
        axis.set_axisbelow(True)
        bare(axis)

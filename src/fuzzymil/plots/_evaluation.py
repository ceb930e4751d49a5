"""How good predictions are: ROC curves, the reliability of probabilities, and a `DataDiagnosis`."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator
from sklearn.metrics import roc_auc_score, roc_curve

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, described, listed
from fuzzymil.learn.choose import DataDiagnosis, Method
from fuzzymil.plots.style import FAINT, LOW, add_legend, add_title, as_written, distinct, grid, subplots

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
    xlabel, ylabel : str

    Examples
    --------
    >>> folds = [([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), ([0, 1, 0, 1], [0.2, 0.9, 0.3, 0.6])]
    >>> RocDisplay.from_scores({"rules": folds}).curves[0].legend
    'rules: AUC 0.875 ± 0.177 (n = 2)'
    """

    curves: list[RocCurve]
    rates: Array
    xlabel: str = "false positive rate"
    ylabel: str = "true positive rate"

    @classmethod
    def from_scores(
        cls,
        scores: Mapping[str, Sequence[Pair]],
        *,
        pos_label: Any = None,
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
        xlabel, ylabel : str
            For example ``"false-alarm rate"`` and ``"detection rate"``.
        """
        folds, chosen = _check(scores, "scores", pos_label)
        curves = [
            _roc_curve(label, [(truth == chosen, values) for truth, values in given]) for label, given in folds.items()
        ]
        return cls(curves, _RATES, xlabel, ylabel)

    @classmethod
    def from_classes(cls, folds: Sequence[Pair], classes: Sequence[Any], *, pos_label: Any = None) -> RocDisplay:
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
            label = str(names[place]) if len(names) == 2 else f"{names[place]} against the rest"
            own = {label: [(truth == names[place], scores[:, place]) for truth, scores in columns]}
            (curve,) = cls.from_scores(own, pos_label=True).curves
            curves.append(dataclasses.replace(curve, color=class_color(place, len(names))))
        if len(curves) > 1:
            detected = np.mean([curve.detected for curve in curves], axis=0)
            areas = np.mean([curve.areas for curve in curves], axis=0)
            curves.append(RocCurve("mean of the classes", detected, areas, _MEAN))
        return cls(curves, _RATES)

    def plot(self, title: str | None = None, *, bands: bool = True) -> Figure:
        """Draw the figure and return it.

        Parameters
        ----------
        title : str, optional
        bands : bool
            Whether to draw bands of one standard deviation. With many methods they overlap.
        """
        banded = bands and any(curve.deviation is not None for curve in self.curves)
        labels, height = _legend_texts(self.curves, title)
        figure, ((axis,),) = subplots(1, 1, (5.4, 5.4 + height + 0.19 * banded))
        styles = _styles(self.curves)
        lines = [self._draw(axis, curve, style, bands) for curve, style in zip(self.curves, styles, strict=True)]
        _square(axis)
        axis.set_xlabel(as_written(self.xlabel), fontsize=9)
        axis.set_ylabel(as_written(self.ylabel), fontsize=9)
        add_title(figure, title)
        add_legend(figure, lines, labels, title="bands: one standard deviation" if banded else "", handlelength=3.2)
        return figure

    def _draw(self, axis: Any, curve: RocCurve, style: dict[str, Any], bands: bool) -> Any:
        look = {"color": style["color"], "linestyle": style["linestyle"], "linewidth": 1.7}
        # From the corner: what is detected without any false alarm is a vertical line.
        (line,) = axis.plot([0.0, *self.rates], [0.0, *curve.mean], zorder=3, **look)
        if bands and curve.deviation is not None:
            low, high = curve.mean - curve.deviation, curve.mean + curve.deviation
            low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)  # rates are between 0 and 1
            axis.fill_between(self.rates, low, high, color=style["color"], alpha=0.13, linewidth=0, zorder=2)
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
    >>> predicted, observed, counts = np.array([0.1, 0.8]), np.array([0.0, 0.75]), np.array([6, 4])
    >>> curve = ReliabilityCurve("rules", predicted, observed, counts, np.array([0.1, 0.2]))
    >>> curve.legend, curve.interval[1].round(2).tolist()
    ('rules: Brier score 0.150 ± 0.071 (n = 2)', [0.39, 0.95])
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
        if isinstance(n_bins, bool) or not isinstance(n_bins, int) or n_bins < 1:
            raise ParameterError(f"n_bins must be an integer of at least 1, got {n_bins!r}.")
        folds, chosen = _check(probabilities, "probabilities", pos_label)
        edges = np.linspace(0.0, 1.0, n_bins + 1)
        curves = [_reliability_curve(label, given, chosen, edges) for label, given in folds.items()]
        return cls(curves, edges, str(chosen))

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
        labels, height = _legend_texts(self.curves, title)
        figure, ((axis,), (below,)) = subplots(2, 1, (5.4, 6.7 + height), height_ratios=(4.6, 1), sharex=True)
        styles = _styles(self.curves)
        lines = [self._draw(axis, curve, style) for curve, style in zip(self.curves, styles, strict=True)]
        self._draw_counts(below, styles)
        _square(axis)
        below.set_box_aspect(0.2)  # as wide as the one above
        grid(below, "both")
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


def _check(
    given: Mapping[str, Sequence[Pair]], what: str, pos_label: Any
) -> tuple[dict[str, list[tuple[Array, Array]]], Any]:
    """Return the folds of each method as arrays, and the positive label: the second of two if it is not chosen."""
    if not given:
        raise ParameterError(f"There is nothing to draw: pass {{'name': [(truth, {what}), ...]}}.")
    folds = {str(label): _check_folds(label, own, what) for label, own in given.items()}
    known = np.unique(np.concatenate([truth for own in folds.values() for truth, _ in own])).tolist()
    if pos_label is None and len(known) != 2:
        raise ParameterError(f"Expected two labels, got {listed(known)}: choose the positive one, pos_label=....")
    if pos_label is not None and pos_label not in known:
        raise ParameterError(f"pos_label must be one of the labels {listed(known)}, got {pos_label!r}.")
    return folds, known[1] if pos_label is None else pos_label


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


def _roc_curve(label: str, folds: Sequence[tuple[Array, Array]]) -> RocCurve:
    detected = np.array([true_positive_rates(truth, scores, _RATES) for truth, scores in folds])
    return RocCurve(label, detected, np.array([roc_auc_score(truth, scores) for truth, scores in folds]))


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


def _square(axis: Any) -> None:
    """Make square axes of shares, with the diagonal."""
    axis.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    axis.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), box_aspect=1)
    axis.xaxis.set_major_locator(MultipleLocator(0.2))
    axis.yaxis.set_major_locator(MultipleLocator(0.2))
    grid(axis, "both")


def _legend_texts(curves: Sequence[RocCurve | ReliabilityCurve], title: str | None) -> tuple[list[str], float]:
    """Return the entries of a legend, and the inches that they and a title need."""
    labels = [textwrap.fill(curve.legend, _LINE) for curve in curves]
    return labels, 0.19 * sum(label.count("\n") + 1 for label in labels) + (0.3 if title else 0.0)


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
        figure, axes = subplots(1, len(names), (2.6 + 2.2 * len(names), 0.9 + 0.3 * len(self.methods)), sharey=True)
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
        grid(axis, "x")

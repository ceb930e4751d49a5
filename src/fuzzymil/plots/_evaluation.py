"""How good predictions are: ROC curves, reliability of probabilities, a `DataDiagnosis`, the loss in training."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator
from sklearn.metrics import roc_auc_score, roc_curve

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, described, listed
from fuzzymil.learn.choose import DataDiagnosis, Frontier, Method
from fuzzymil.learn.choose.frontier import MEASURES
from fuzzymil.plots.style import FAINT, LOW, add_legend, add_title, as_written, bare, distinct, grid, subplots

Pair = tuple[npt.ArrayLike, npt.ArrayLike]  # the labels of some bags, and their scores or probabilities

_LINE = 62  # characters per line of the legend
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
    # At a rate that several points share, the last one counts.
    return np.asarray(np.interp(np.asarray(rates, float), false, true))


@dataclasses.dataclass(frozen=True)
class RocCurve:
    """The ROC curves of one method, or of one class.

    On each fold, the true positive rate at each false positive rate was ``detected`` (n_folds, n_rates), and the
    ``areas`` (n_folds,) are those under the curves. A class has its ``color``; default: one per method.
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
        return f"{self.label}: AUC {_over_folds(self.areas)}"


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
    def from_scores(cls, scores: Mapping[str, Sequence[Pair]], *, pos_label: Any = None, **labels: str) -> Self:
        """Compute the curves.

        Parameters
        ----------
        scores : dict of str to list of (truth, scores)
            By method: one pair of arrays of shape (n_bags,) per fold, labels and scores.
        pos_label : label, optional
            Default: the second of the two labels in sorted order.
        **labels : str
            ``xlabel`` and ``ylabel``, for example ``"false-alarm rate"`` and ``"detection rate"``.
        """
        folds, _ = _check(scores, "scores", pos_label)
        curves = [
            RocCurve(
                label,
                np.array([true_positive_rates(truth, values, _RATES) for truth, values in own]),
                np.array([roc_auc_score(truth, values) for truth, values in own]),
            )
            for label, own in folds.items()
        ]
        return cls(curves, _RATES, **labels)

    @classmethod
    def from_classes(cls, folds: Sequence[Pair], classes: Sequence[Any], *, pos_label: Any = None) -> Self:
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
        curves = []
        for name, color, own in _of_classes(folds, classes, pos_label):
            label = name if len(classes) == 2 else f"{name} against the rest"
            curves.append(dataclasses.replace(cls.from_scores({label: own}, pos_label=True).curves[0], color=color))
        if len(curves) > 1:
            detected = np.mean([curve.detected for curve in curves], axis=0)
            areas = np.mean([curve.areas for curve in curves], axis=0)
            curves.append(RocCurve("mean of the classes", detected, areas, _MEAN))
        return cls(curves, _RATES)

    def plot(self, title: str | None = None, *, bands: bool = True) -> Figure:
        """Draw the figure and return it; with many methods, the ``bands`` of one standard deviation overlap."""
        banded = bands and any(curve.deviation is not None for curve in self.curves)
        labels, height = _legend_texts(self.curves, title)
        figure, ((axis,),) = subplots(1, 1, (5.4, 5.4 + height + 0.22 * banded))
        lines = []
        for curve, style in zip(self.curves, _styles(self.curves), strict=True):
            del style["marker"]
            # From the corner: what is detected without any false alarm is a vertical line.
            lines += axis.plot([0.0, *self.rates], [0.0, *curve.mean], zorder=3, linewidth=1.7, **style)
            if bands and curve.deviation is not None:  # rates are between 0 and 1
                low, high = np.clip([curve.mean - curve.deviation, curve.mean + curve.deviation], 0.0, 1.0)
                axis.fill_between(self.rates, low, high, color=style["color"], alpha=0.13, linewidth=0, zorder=2)
        _square(axis)
        axis.set_xlabel(as_written(self.xlabel), fontsize=9)
        axis.set_ylabel(as_written(self.ylabel), fontsize=9)
        add_title(figure, title)
        add_legend(figure, lines, labels, title="bands: one standard deviation" if banded else "", handlelength=3.2)
        return figure


# ---------------------------------------------------------------------- reliability


@dataclasses.dataclass(frozen=True)
class ReliabilityCurve:
    """The reliability of one method's probabilities, or of those of one class.

    In each bin (n_bins,): the mean ``predicted`` probability of the bags (NaN if there are none), the ``observed``
    share of positive bags among them, and their number (``counts``). The ``scores`` are the Brier scores of the folds
    (n_folds,). A class has its ``color``; default: one per method.

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
        return f"{self.label}: Brier score {_over_folds(self.scores)}"


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
    ) -> Self:
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
        return cls([_reliability_curve(label, own, edges) for label, own in folds.items()], edges, str(chosen))

    @classmethod
    def from_classes(
        cls, folds: Sequence[Pair], classes: Sequence[Any], *, pos_label: Any = None, n_bins: int = 10
    ) -> Self:
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
        curves = []
        for name, color, own in _of_classes(folds, classes, pos_label):
            display = cls.from_probabilities({name: own}, pos_label=True, n_bins=n_bins)
            curves.append(dataclasses.replace(display.curves[0], color=color))
        about = curves[0].label if len(curves) == 1 else "the class"
        return dataclasses.replace(display, curves=curves, positive=about)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels, height = _legend_texts(self.curves, title)
        figure, ((axis,), (below,)) = subplots(2, 1, (5.4, 6.7 + height), height_ratios=(4.6, 1), sharex=True)
        lines = []
        for curve, style in zip(self.curves, _styles(self.curves), strict=True):
            lines += self._draw(axis, curve, style)
            outlined = {"linestyle": style["linestyle"], "linewidth": 1.3}
            look = outlined if len(self.curves) > 1 else {"alpha": 0.35, "fill": True}
            below.stairs(curve.counts, self.edges, color=style["color"], **look)
        _square(axis)
        below.set_ylim(bottom=0)
        below.yaxis.set_major_locator(MaxNLocator(3, integer=True))
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
        return axis.plot(across, share, linewidth=1.7, markersize=5.5, markeredgecolor="white", zorder=3, **style)


def _reliability_curve(label: str, folds: Sequence[tuple[Array, Array]], edges: Array) -> ReliabilityCurve:
    truth, found = (np.concatenate(each) for each in zip(*folds, strict=True))
    places, n_bins = np.searchsorted(edges[1:-1], found), len(edges) - 1  # an edge belongs to the bin below it
    counts = np.bincount(places, minlength=n_bins)
    sums = (np.bincount(places, values, minlength=n_bins) for values in (found, truth))
    predicted, observed = (np.divide(s, counts, out=np.full(n_bins, np.nan), where=counts > 0) for s in sums)
    scores = np.array([np.square(values - labels).mean() for labels, values in folds])
    return ReliabilityCurve(label, predicted, observed, counts, scores)


# ---------------------------------------------------------------------- what both share


def _check(
    given: Mapping[str, Sequence[Pair]], what: str, pos_label: Any
) -> tuple[dict[str, list[tuple[Array, Array]]], Any]:
    """Return for each method and fold, which bags are positive and ``what``; also the positive label.

    This is the second of two labels if it is not chosen.
    """
    if not given:
        raise ParameterError(f"There is nothing to draw: pass {{'name': [(truth, {what}), ...]}}.")
    folds = {str(label): _check_folds(label, own, what) for label, own in given.items()}
    known = np.unique(np.concatenate([truth for own in folds.values() for truth, _ in own])).tolist()
    if pos_label is None and len(known) != 2:
        raise ParameterError(f"Expected two labels, got {listed(known)}: choose the positive one, pos_label=....")
    if pos_label is not None and pos_label not in known:
        raise ParameterError(f"pos_label must be one of the labels {listed(known)}, got {pos_label!r}.")
    chosen = known[1] if pos_label is None else pos_label
    return {name: [(truth == chosen, values) for truth, values in own] for name, own in folds.items()}, chosen


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


def _of_classes(
    folds: Sequence[Pair], classes: Sequence[Any], pos_label: Any
) -> Iterator[tuple[str, str, list[tuple[Array, Array]]]]:
    """Yield name and color of each class to show, and for each fold which bags have it, and its scores.

    These are the positive class, the second of two, or all of several.
    """
    names = np.asarray(classes).tolist()
    shown = [1] if len(names) == 2 else range(len(names))
    if pos_label is not None:
        if pos_label not in names:
            raise ParameterError(f"pos_label must be one of the classes {listed(names)}, got {pos_label!r}.")
        shown = [names.index(pos_label)]
    columns = [(np.asarray(truth), _by_class(scores, len(names))) for truth, scores in folds]
    for place in shown:
        own = [(truth == names[place], scores[:, place]) for truth, scores in columns]
        yield str(names[place]), class_color(place, len(names)), own


def _by_class(scores: npt.ArrayLike, n_classes: int) -> Array:
    """Return one column of scores per class; those of two classes are opposite."""
    found = np.asarray(scores)
    if found.ndim == 1 and n_classes == 2:
        return np.column_stack([-found, found])
    if found.ndim != 2 or found.shape[1] != n_classes:
        raise InputError(f"Expected a score for each of {n_classes} classes and each bag, got shape {found.shape}.")
    return found


def _over_folds(values: Array) -> str:
    """Return the mean and, of several folds, their standard deviation and number."""
    spread = f" ± {values.std(ddof=1):.3f} (n = {len(values)})" if len(values) > 1 else ""
    return f"{values.mean():.3f}{spread}"


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
    return labels, 0.22 * sum(label.count("\n") + 1 for label in labels) + (0.3 if title else 0.0)


# ---------------------------------------------------------------------- kinds of rules


@dataclasses.dataclass
class DataDiagnosisDisplay:
    """Held-out results of a `DataDiagnosis`: bars are means, whiskers standard deviations over folds.

    Kinds of rules are blue, baselines gray; the dotted line is the majority class or the mean.

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
        names, rows = list(self.methods[0].measures), range(len(self.methods))
        figure, axes = subplots(1, len(names), (2.6 + 2.2 * len(names), 0.9 + 0.3 * len(self.methods)), sharey=True)
        for axis, name in zip(axes[0], names, strict=True):
            for row, method in enumerate(self.methods):
                mean, deviation, _ = method.measures[name]
                axis.barh(row, mean, height=0.62, color=FAINT if method.is_baseline else LOW, alpha=0.75)
                axis.errorbar(mean, row, xerr=deviation, color="#222222", capsize=2, linewidth=1)
            axis.axvline(self.methods[-1].measures[name].mean, color="#222222", linewidth=0.9, linestyle=":")
            axis.set_title(_TITLES.get(name, name), fontsize=9, fontweight="bold")
            grid(axis, "x")
        axes[0, 0].set_yticks(rows, [as_written(method.name) for method in self.methods], fontsize=8)
        axes[0, 0].invert_yaxis()
        n_folds = self.methods[0].measures[names[0]].n
        figure.supxlabel(f"held-out bags, mean and standard deviation over {n_folds} folds", fontsize=8)
        add_title(figure, title)
        return figure


# ---------------------------------------------------------------------- training


@dataclasses.dataclass
class CurvesDisplay:
    """The loss of a model during training and, if there was any, on the validation bags, by epoch.

    The ``curves`` (n_epochs,) are named after what they were measured on.

    Examples
    --------
    >>> CurvesDisplay.from_history({"loss": [0.5, 0.2], "validation_loss": [0.6, 0.4]}).curves["validation"]
    array([0.6, 0.4])
    """

    curves: dict[str, Array]

    @classmethod
    def from_history(cls, history: Mapping[str, npt.ArrayLike]) -> CurvesDisplay:
        """Show the losses in ``model.history_``."""
        names = {"training": "loss", "validation": "validation_loss"}
        found = {label: np.asarray(history[name], float) for label, name in names.items() if name in history}
        if not found or not all(map(len, found.values())):
            raise InputError("There is no loss to draw: pass the history_ of a model trained for at least one epoch.")
        return cls(found)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, ((axis,),) = subplots(1, 1, (3.8, 3.3))
        lines = []
        for losses, look in zip(self.curves.values(), distinct(len(self.curves)), strict=True):
            line = {"color": look["color"], "linestyle": look["linestyle"], "linewidth": 1.6}
            lines += axis.plot(np.arange(1, len(losses) + 1), losses, **line)
        axis.set_ylim(bottom=0)
        axis.set_xlabel("epoch", fontsize=9)
        axis.set_ylabel("loss", fontsize=9)
        bare(axis)
        add_title(figure, title)
        add_legend(figure, lines, list(self.curves), ncols=2)
        return figure


# ---------------------------------------------------------------------- numbers of rules


@dataclasses.dataclass
class FrontierDisplay:
    """Held-out results against the number of rules: the curve of a `Frontier`, with standard errors.

    The chosen size is marked; the dotted line is what no rules at all reach.

    Parameters
    ----------
    frontier : Frontier
        With held-out results.

    Examples
    --------
    >>> from fuzzymil import RuleClassifier
    >>> from fuzzymil.datasets import make_planted
    >>> model = RuleClassifier(max_rules=5, random_state=0).fit(make_planted("some", 60, n_noise=1, random_state=0))
    >>> figure = FrontierDisplay(model.frontier_).plot()
    >>> [axis.get_ylabel() for axis in figure.axes]
    ['AUC', 'log-loss']
    """

    frontier: Frontier

    def __post_init__(self) -> None:
        if not self.frontier.n_folds:
            raise ParameterError(f"There are no held-out results to draw. {self.frontier.evidence}")

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        known = self.frontier[0].measures
        names = [name for name in ("AUC", "log_loss", "R2", "RMSE") if name in known]
        figure, axes = subplots(1, len(names), (3.4 * len(names), 2.7))
        for axis, name in zip(axes[0], names, strict=True):
            self._draw(axis, name)
        figure.supxlabel("number of rules", fontsize=8)
        add_title(figure, title)
        return figure

    def _draw(self, axis: Any, name: str) -> None:
        points = [point for point in self.frontier if point.n_rules]
        numbers = np.array([point.n_rules for point in points])
        means, errors = (np.array([getattr(p.measures[name], part) for p in points]) for part in ("mean", "error"))
        axis.axhline(self.frontier[0].measures[name].mean, color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)))
        axis.fill_between(numbers, means - errors, means + errors, color=LOW, alpha=0.18, linewidth=0)
        axis.plot(numbers, means, color=LOW, marker="o", markersize=3.5, linewidth=1.4)
        chosen = self.frontier[self.frontier.chosen]
        axis.plot(chosen.n_rules, chosen.measures[name].mean, "o", color=_MEAN, markersize=7, fillstyle="none")
        axis.set_xscale("symlog", linthresh=1)
        axis.set_xticks(numbers, [str(number) for number in numbers], fontsize=7)
        axis.minorticks_off()
        axis.set_ylabel(MEASURES[name])
        grid(axis, "y")

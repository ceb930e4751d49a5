"""ROC curves of several methods, averaged over folds, with bands."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator
from sklearn.metrics import roc_auc_score, roc_curve

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.colors import class_color
from fuzzymil._utils.errors import InputError, ParameterError, described, listed
from fuzzymil.plots.style import FAINT, add_legend, as_written, bare, distinct

Fold = tuple[npt.ArrayLike, npt.ArrayLike]  # the labels of some bags, and their scores

_LINE = 68  # characters per line of the legend
_RATES = np.linspace(0.0, 1.0, 1001)
_MEAN = "#222222"


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
        scores: Mapping[str, Sequence[Fold]],
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
        folds = {label: _checked_folds(label, given) for label, given in scores.items()}
        chosen = _positive([truth for given in folds.values() for truth, _ in given], pos_label)
        rates = np.union1d(_RATES, np.asarray(marks, float))
        curves = [
            _curve(str(label), [(truth == chosen, values) for truth, values in given], rates)
            for label, given in folds.items()
        ]
        return cls(curves=curves, rates=rates, marks=tuple(map(float, marks)), xlabel=xlabel, ylabel=ylabel)

    @classmethod
    def from_classes(
        cls,
        folds: Sequence[Fold],
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
            In the order of the scores; of two, the one that the rules speak for last.
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
        if pos_label is not None and pos_label not in names:
            raise ParameterError(f"pos_label must be one of the classes {listed(names)}, got {pos_label!r}.")
        columns = [(np.asarray(truth), _by_class(scores, len(names))) for truth, scores in folds]
        shown = [names.index(pos_label)] if pos_label is not None else [1] if len(names) == 2 else range(len(names))
        curves, display = [], None
        for place in shown:
            own = [(truth == names[place], scores[:, place]) for truth, scores in columns]
            label = str(names[place]) if len(names) == 2 else f"{names[place]} against the rest"
            display = cls.from_scores({label: own}, pos_label=True, marks=marks, xlabel=xlabel, ylabel=ylabel)
            curves.append(dataclasses.replace(display.curves[0], color=class_color(place, len(names))))
        assert display is not None
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
        axis.plot([0, 1], [0, 1], color=FAINT, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
        styles = [
            style | ({"color": curve.color} if curve.color else {})
            for curve, style in zip(self.curves, distinct(len(self.curves)), strict=True)
        ]
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
        axis.set_xlim(-0.01 * max_rate, 1.01 * max_rate)
        axis.set_ylim(-0.01, 1.01)
        axis.set_box_aspect(1)
        if max_rate == 1:
            axis.xaxis.set_major_locator(MultipleLocator(0.2))
        axis.yaxis.set_major_locator(MultipleLocator(0.2))
        axis.grid(color="#E5E5E5", linewidth=0.6)
        axis.set_axisbelow(True)
        axis.set_xlabel(as_written(self.xlabel), fontsize=9)
        axis.set_ylabel(as_written(self.ylabel), fontsize=9)
        bare(axis)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
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


def _checked_folds(label: str, given: Sequence[Fold]) -> list[tuple[Array, Array]]:
    folds = []
    for number, pair in enumerate(given, start=1):
        where = f"{label!r}, fold {number}"
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"{where}: expected a pair (truth, scores), got {described(pair)}.")
        truth, scores = np.asarray(pair[0]), np.asarray(pair[1])
        if scores.dtype.kind not in "iufb":
            raise InputError(f"{where}: scores must be numbers.")
        if truth.ndim != 1 or truth.shape != scores.shape:
            raise InputError(
                f"{where}: expected one label and one score per bag, got shapes {truth.shape} and {scores.shape}."
            )
        if not np.isfinite(scores).all():
            raise InputError(f"{where}: the score of bag {np.flatnonzero(~np.isfinite(scores))[0]} is not finite.")
        if len(np.unique(truth)) < 2:
            raise InputError(
                f"{where}: all bags have the same label; an ROC curve needs both labels (stratify the folds)."
            )
        folds.append((truth, scores))
    if not folds:
        raise InputError(f"{label!r} has no folds: pass at least one pair (truth, scores).")
    return folds


def _positive(truths: Sequence[Array], wanted: Any) -> Any:
    """Return the positive one of two labels."""
    known = np.unique(np.concatenate(truths)).tolist()
    if len(known) != 2:
        raise InputError(f"An ROC curve needs exactly two labels, got {listed(known)}.")
    if wanted is not None and wanted not in known:
        raise ParameterError(f"pos_label must be one of the labels {listed(known)}, got {wanted!r}.")
    return known[1] if wanted is None else wanted


def _by_class(scores: npt.ArrayLike, n_classes: int) -> Array:
    """Return one column of scores per class; those of two classes are opposite."""
    found = np.asarray(scores)
    if found.ndim == 1 and n_classes == 2:
        return np.column_stack([-found, found])
    if found.ndim != 2 or found.shape[1] != n_classes:
        raise InputError(f"Expected a score for each of {n_classes} classes and each bag, got shape {found.shape}.")
    return found


def _curve(label: str, folds: Sequence[tuple[Array, Array]], rates: Array) -> RocCurve:
    detected = np.array([true_positive_rates(truth, scores, rates) for truth, scores in folds])
    return RocCurve(label, detected, np.array([roc_auc_score(truth, scores) for truth, scores in folds]))

"""The paper's figures: scores of several methods side by side, distributions, curves over epochs, radar cubes."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Rectangle
from matplotlib.ticker import NullLocator

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.plots.style import FAINT, HIGH, add_colorbar, add_legend, add_title, as_written, bare, distinct, panels
from paper.radar.cubes import (
    DEPTHS,
    GRID,
    SKIP,
    SPEED_OF_LIGHT,
    STEP,
    align,
    background_of,
    check_background,
    check_cube,
    ground_peaks,
    measured,
    whiten,
    window_truth,
)
from paper.radar.cubes import windows as depth_windows
from paper.radar.simulation import Alarm

Score = tuple[float, float | None]  # a mean, and the standard deviation if known


@dataclasses.dataclass
class ScoresDisplay:
    """A dot with a whisker for each method (rows of a panel) on each dataset (panels).

    Parameters
    ----------
    scores : dict of str to (dict of str to pair)
        By panel and method: the mean, and one standard deviation or None.
    xlabel : str
    printed : set of str
        Methods whose numbers are quoted from publications: drawn hollow and gray.

    Examples
    --------
    >>> figure = ScoresDisplay({"MUSK1": {"MI-ANFIS": (0.9, 0.02), "mi-SVM": (0.87, None)}}, "accuracy").plot()
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['MI-ANFIS', 'mi-SVM']
    >>> plt.close(figure)
    """

    scores: dict[str, dict[str, Score]]
    xlabel: str
    printed: frozenset[str] = frozenset()

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        methods = list(dict.fromkeys(name for panel in self.scores.values() for name in panel))
        families = list(dict.fromkeys(_family(name) for name in methods))
        styles = dict(zip(families, distinct(len(families)), strict=True))
        figure, axes = plt.subplots(
            1,
            len(self.scores),
            figsize=(1.6 + 1.9 * len(self.scores), 0.9 + 0.3 * len(methods)),
            squeeze=False,
            sharey=True,
            layout="constrained",
        )
        for axis, (name, panel) in zip(axes[0], self.scores.items(), strict=True):
            for row, method in enumerate(methods):
                if method not in panel:
                    continue
                mean, deviation = panel[method]
                quoted = method in self.printed
                style = styles[_family(method)]
                color = FAINT if quoted else style["color"]
                axis.errorbar(
                    mean,
                    row,
                    xerr=deviation,
                    marker=style["marker"],
                    color=color,
                    markerfacecolor="white" if quoted else color,
                    capsize=2,
                    markersize=5,
                    linewidth=1.2,
                )
            axis.set_title(as_written(name), fontsize=9, fontweight="bold")
            axis.grid(axis="x", color="#DDDDDD", linewidth=0.6)
            bare(axis)
        axes[0, 0].set_yticks(range(len(methods)), list(map(as_written, methods)), fontsize=8)
        axes[0, 0].invert_yaxis()
        figure.supxlabel(self.xlabel, fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        return figure


def _family(method: str) -> str:
    """Return the part before the comma: variants of one method look alike."""
    return method.split(",")[0]


@dataclasses.dataclass(frozen=True)
class Line:
    """A curve (n_points,), with a band (n_points, 2) around it if it summarizes several curves.

    Examples
    --------
    >>> Line("training", np.array([0.5, 0.2])).band is None
    True
    """

    label: str
    y: Array
    band: Array | None = None

    @classmethod
    def mean_of(cls, label: str, curves: npt.ArrayLike) -> Line:
        """Return the mean of ``curves`` (n_curves, n_points), with the interquartile range as the band.

        Examples
        --------
        >>> Line.mean_of("two", [[0.0, 2.0], [2.0, 4.0]]).y
        array([1., 3.])
        """
        every = np.asarray(curves, float)
        band = np.nanquantile(every, [0.25, 0.75], axis=0).T if len(every) > 1 else None
        return cls(label, np.nanmean(every, axis=0), band)

    def draw(self, axis: Any, x: npt.ArrayLike, **look: Any) -> Any:
        """Draw the curve and its band, and return the curve for the legend."""
        (drawn,) = axis.plot(x, self.y, linewidth=1.6, **look)
        if self.band is not None:
            axis.fill_between(x, *self.band.T, color=look["color"], alpha=0.15, linewidth=0)
        return drawn


@dataclasses.dataclass
class CurvesDisplay:
    """Panels of curves over epochs 1, 2, ...

    Parameters
    ----------
    panels : dict of str to list of Line
        By title. A label looks the same in every panel.
    ylabel : str
    note : str
        What the bands are.
    columns : int
        Maximum number of panels side by side.

    Examples
    --------
    >>> figure = CurvesDisplay({"alpha 1": [Line("training", np.array([0.5, 0.2]))]}, "loss").plot()
    >>> [axis.get_title(loc="left") for axis in figure.axes]
    ['alpha 1']
    >>> plt.close(figure)
    """

    panels: dict[str, list[Line]]
    ylabel: str
    note: str = ""
    columns: int = 3

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = list(dict.fromkeys(line.label for lines in self.panels.values() for line in lines))
        styles = dict(zip(labels, distinct(len(labels)), strict=True))
        figure, axes = panels(len(self.panels), self.columns, (3.2, 2.4), (0.6, 0.9))
        columns = axes.shape[1]
        handles: dict[str, Any] = {}
        for axis, (name, lines) in zip(axes.flat, self.panels.items(), strict=False):
            for line in lines:
                look = {key: value for key, value in styles[line.label].items() if key != "marker"}
                handles.setdefault(line.label, line.draw(axis, np.arange(1, len(line.y) + 1), **look))
            axis.set_title(as_written(name), fontsize=9, loc="left", fontweight="bold")
            bare(axis)
        axes[0, 0].set_ylim(bottom=0)  # of all panels, once it is known how high their curves reach
        for column in range(columns):
            last = (len(self.panels) - 1 - column) // columns
            axes[last, column].set_xlabel("epoch", fontsize=9)
        figure.supylabel(self.ylabel, fontsize=9)
        add_title(figure, title)
        columns = min(len(handles), max(2, int(1.6 * columns)))
        add_legend(figure, list(handles.values()), list(handles), title=self.note, ncols=columns)
        return figure


def add_concepts(figure: Figure, centers: npt.ArrayLike, radius: float) -> Figure:
    """Draw true concepts, circles around ``centers`` (n_concepts, 2), into the figure of a `SpaceDisplay`."""
    axis = figure.axes[0]
    x, y = np.asarray(centers).T
    limits = axis.get_xlim(), axis.get_ylim()
    axis.scatter(x, y, 46, marker="s", color="black", label="concept center", zorder=4)
    for center in zip(x, y, strict=True):
        axis.add_patch(Circle(center, radius, fill=False, color="black", linewidth=1.4, zorder=4))
    axis.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    handles, labels = axis.get_legend_handles_labels()
    note = figure.legends[0].get_title().get_text()
    figure.legends[0].remove()
    add_legend(figure, handles, labels, title=note, ncols=3 if max(map(len, labels)) < 26 else 2)
    return figure


def add_marks(figure: Figure, features: Sequence[str], marks: Mapping[str, Sequence[float]]) -> Figure:
    """Draw dotted lines at true values of features into the figure of a `MembershipDisplay` with these columns."""
    line = None
    for number, axis in enumerate(figure.axes):
        for place in marks.get(features[number % len(features)], ()):
            line = axis.axvline(place, color="black", linewidth=0.8, linestyle=":")
    if line is not None:
        (legend,) = figure.legends
        handles, labels = [*legend.legend_handles, line], [text.get_text() for text in legend.get_texts()]
        legend.remove()
        add_legend(figure, handles, [*labels, "true concepts"], title=legend.get_title().get_text(), ncols=len(handles))
    return figure


@dataclasses.dataclass
class DistributionDisplay:
    """The share of results below each value, for several methods (empirical distribution functions).

    Parameters
    ----------
    values : dict of str to (dict of str to array)
        By panel and method.
    xlabel : str
    marks : dict of str to float
        Named values to mark with a line.

    Examples
    --------
    >>> display = DistributionDisplay({"alpha = 1": {"random": [0.3, 0.1], "cluster": [0.1, 0.1]}}, "error")
    >>> figure = display.plot()
    >>> figure.axes[0].get_title(loc="left")
    'alpha = 1'
    >>> plt.close(figure)
    """

    values: dict[str, dict[str, npt.ArrayLike]]
    xlabel: str
    marks: dict[str, float] = dataclasses.field(default_factory=dict)

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        methods = list(dict.fromkeys(name for panel in self.values.values() for name in panel))
        styles = dict(zip(methods, distinct(len(methods)), strict=True))
        n_panels = len(self.values)
        figure, axes = plt.subplots(
            1,
            n_panels,
            figsize=(0.8 + 3.8 * n_panels, 4.0),
            squeeze=False,
            sharex=True,
            sharey=True,
            layout="constrained",
        )
        for axis, (title_of_panel, panel) in zip(axes[0], self.values.items(), strict=True):
            for name, values in panel.items():
                _steps(axis, name, values, styles[name])
            for value in self.marks.values():
                axis.axvline(value, color=FAINT, linewidth=0.9, linestyle=":")
            axis.set_title(as_written(title_of_panel), fontsize=9, loc="left", fontweight="bold")
            axis.set_xlabel(self.xlabel, fontsize=9)
            bare(axis)
        every = np.concatenate([np.asarray(v, float) for panel in self.values.values() for v in panel.values()])
        axes[0, 0].set_xlim(0, 1.05 * max(every.max(), *self.marks.values(), 0.0))
        axes[0, 0].set_ylim(0, 1.02)
        for place, (name, value) in enumerate(self.marks.items()):
            axes[0, 0].annotate(
                name,
                (value, 0.03 + 0.07 * place),
                xycoords=("data", "axes fraction"),
                xytext=(3, 0),
                textcoords="offset points",
                fontsize=8,
                color="#555555",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            )
        figure.supylabel("share of runs that end below", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        add_legend(figure, handles, labels, ncols=len(methods))
        return figure


def _steps(axis: Any, name: str, values: npt.ArrayLike, style: dict[str, Any]) -> None:
    ordered = np.sort(np.asarray(values, float))
    share = np.arange(1, len(ordered) + 1) / len(ordered)
    axis.step(
        np.concatenate([[0.0], ordered]),
        np.concatenate([[0.0], share]),
        where="post",
        color=style["color"],
        linestyle=style["linestyle"],
        linewidth=1.8,
        label=name,
    )


# Average ranks of methods, and which of them do not differ significantly.


@dataclasses.dataclass
class RanksDisplay:
    """A critical-difference diagram: one row per method, bars span methods that do not differ significantly.

    Parameters
    ----------
    ranks : dict of str to float
        Average rank of each method, 1 being the best.
    critical_difference : float or None
        Average ranks closer than this do not differ significantly; None if it is unknown.
    note : str
        How the ranks were computed.
    bold : collection of str
        Methods to highlight.

    Examples
    --------
    >>> display = RanksDisplay({"a": 1.2, "b": 3.0, "c": 1.8}, 1.5)
    >>> display.groups()
    [['a', 'c'], ['c', 'b']]
    """

    ranks: dict[str, float]
    critical_difference: float | None = None
    note: str = ""
    bold: Collection[str] = ()

    def groups(self) -> list[list[str]]:
        """Return the maximal groups of methods that do not differ significantly, the best first."""
        ordered = sorted(self.ranks, key=lambda name: self.ranks[name])
        found: list[list[str]] = []
        if self.critical_difference is None:
            return found
        for place, first in enumerate(ordered):
            reach = self.ranks[first] + self.critical_difference
            group = [name for name in ordered[place:] if self.ranks[name] <= reach]
            if len(group) > 1 and not (found and set(group) <= set(found[-1])):
                found.append(group)
        return found

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        ordered = sorted(self.ranks, key=lambda name: self.ranks[name])
        rows = {name: row for row, name in enumerate(ordered)}
        groups = self.groups()
        figure, axis = plt.subplots(figsize=(7.2, 1.6 + 0.24 * len(ordered)), layout="constrained")
        for name, row in rows.items():
            rank, color = self.ranks[name], HIGH if name in self.bold else "#222222"
            axis.plot([0.5, rank], [row, row], color="#E4E4E4", linewidth=0.8, zorder=1)
            axis.plot(rank, row, "o", color=color, markersize=6 if name in self.bold else 4.5, zorder=3)
            axis.annotate(
                f"{rank:.1f}", (rank, row), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7
            )
        right = len(ordered) * 1.06 + 1.0
        step = 0.018 * len(ordered)
        for number, group in enumerate(groups):
            x = right + step * number
            axis.plot([x, x], [rows[group[0]] - 0.3, rows[group[-1]] + 0.3], color=FAINT, linewidth=2.4)
        axis.set_yticks(list(rows.values()), [as_written(name) for name in rows], fontsize=8)
        for label, name in zip(axis.get_yticklabels(), rows, strict=True):
            if name in self.bold:
                label.set_fontweight("bold")
        axis.set_ylim(len(ordered) - 0.4, -1.9)
        axis.set_xlim(0.5, right + step * len(groups))
        if self.critical_difference is not None:
            _measure(axis, self.critical_difference, right)
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0)
        axis.set_xlabel(f"average rank (1 is best){self._legend(groups)}", fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        return figure

    def _legend(self, groups: list[list[str]]) -> str:
        bars = "; bars on the right span methods that do not differ significantly" if groups else ""
        return f"{bars}\n{self.note}" if self.note else bars


def _measure(axis: Any, critical_difference: float, right: float) -> None:
    """Draw the critical difference as a ruler at the top, or write it if it is wider than the figure."""
    low, high = 1.0, 1.0 + critical_difference
    words = f"critical difference {critical_difference:.1f}"
    if high > right:
        axis.text(low, -1, f"{words}: wider than the range of ranks", ha="left", va="center", fontsize=8)
        return
    axis.annotate("", (low, -1), (high, -1), arrowprops={"arrowstyle": "|-|", "mutation_scale": 3, "lw": 1.1})
    middle = ((low + high) / 2, -1)
    axis.annotate(words, middle, (0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=8)


# Two slices through a radar cube, with the depth windows and those that rules fired on.


_FULL_SCALE = 6.0  # standard deviations of the background at the ends of the gray scale
_FRAME, _WIDER = 0.30, 0.035  # in meters: half the width of the first rule's frame, and what each further rule adds


@dataclasses.dataclass
class CubeDisplay:
    """Two vertical slices through the middle of a cube, as the detectors see it.

    Traces are aligned to the ground reflection, in units of the background's standard deviation. A slice is the mean
    of the two in the middle.

    Parameters
    ----------
    down_track : array of shape (n_scans, n_depths)
    cross_track : array of shape (n_channels, n_depths)
    windows : list of pairs of float
        Start and end of the depth windows, in ns after the ground reflection.
    fired : dict of str to int
        The window that each rule fired on, by legend entry.
    held : tuple of int
        The windows that contain the mine, if the alarm is simulated.
    permittivity : float, optional
        Relative permittivity of the soil; if given, the figure has a depth scale in meters.
    title : str

    Examples
    --------
    >>> from paper.radar.simulation import simulate_alarm
    >>> display = CubeDisplay.from_alarm(simulate_alarm("void", random_state=0), fired={"rule 1": 3})
    >>> display.title[:15], display.down_track.shape
    ('Simulated alarm', (60, 104))
    >>> figure = display.plot()
    """

    down_track: Array
    cross_track: Array
    windows: list[tuple[float, float]]
    fired: dict[str, int]
    held: tuple[int, ...] = ()
    permittivity: float | None = None
    title: str = "Radar cube"

    @classmethod
    def from_alarm(
        cls,
        alarm: Alarm | Array,
        *,
        windows: Sequence[tuple[int, int]] | None = None,
        fired: Mapping[str, int] | None = None,
    ) -> CubeDisplay:
        """Extract the slices from a cube.

        Parameters
        ----------
        alarm : Alarm or array of shape (n_channels, n_scans, n_samples)
            A simulated alarm, or a cube of your own. For a simulated mine, the windows that contain it are marked.
        windows : sequence of pairs of int, optional
            First sample after the ground reflection, and the one after the last. Default: the fifteen windows of the
            detectors.
        fired : mapping of str to int, optional
            The window (from 0) that each rule fired on, such as ``{"rule 2": 4}``.
        """
        cube = check_cube(alarm.cube if isinstance(alarm, Alarm) else alarm)
        pairs = list(depth_windows() if windows is None else windows)
        if not pairs:
            raise ParameterError("windows must not be empty: omit it for the fifteen windows of the detectors.")
        for rule, window in (fired or {}).items():
            if not isinstance(window, int | np.integer) or not 0 <= window < len(pairs):
                raise ParameterError(f"fired[{rule!r}] must be a window from 0 to {len(pairs) - 1}, got {window!r}.")
        aligned = align(cube, ground_peaks(cube))
        background = background_of(aligned)
        check_background(background)
        whitened = whiten(aligned, background)
        step = GRID.sample_spacing * 1e9
        return cls(
            down_track=whitened[_middle(GRID.n_channels)].mean(axis=0),
            cross_track=whitened[:, _middle(GRID.n_scans)].mean(axis=1),
            windows=[(start * step, stop * step) for start, stop in pairs],
            fired=dict(fired or {}),
            held=_held(alarm) if isinstance(alarm, Alarm) and windows is None else (),
            permittivity=alarm.facts["permittivity"] if isinstance(alarm, Alarm) else None,
            title=_title(alarm) if isinstance(alarm, Alarm) else "Radar cube",
        )

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        figure, axes = plt.subplots(
            1, 3, figsize=(9.6, 4.8), sharey=True, layout="constrained", width_ratios=[2.5, 1.3, 0.9]
        )
        first, last = SKIP * 1e9, (SKIP + STEP * DEPTHS) * 1e9
        slices = ((self.down_track, GRID.x, "down-track [m]"), (self.cross_track, GRID.y, "cross-track [m]"))
        for axis, (values, places, label) in zip(axes, slices, strict=False):
            half = (places[1] - places[0]) / 2
            image = axis.imshow(
                values.T,
                extent=(places[0] - half, places[-1] + half, last, first),
                cmap="gray",
                vmin=-_FULL_SCALE,
                vmax=_FULL_SCALE,
                aspect="auto",
                interpolation="nearest",
            )
            axis.set_xlabel(label, fontsize=9)
            bare(axis)
        axes[0].set_ylabel("time after the ground reflection [ns]", fontsize=9)
        self._strip(axes[2])
        self._frames(axes[:2])
        axes[0].set_ylim(last, first)
        if self.permittivity is not None:
            speed = SPEED_OF_LIGHT / 2 / np.sqrt(self.permittivity) * 1e-9  # meters of depth per nanosecond
            depth = axes[2].secondary_yaxis("right", functions=(lambda t: t * speed, lambda d: d / speed))
            depth.set_ylabel(f"depth [m] (permittivity {self.permittivity:.1f})", fontsize=9)
            depth.tick_params(labelsize=8)
        look = {"location": "left", "shrink": 0.6, "pad": 0.02, "extend": "both"}
        add_colorbar(figure, image, axes, "standard deviations of the background", **look)
        figure.suptitle(as_written(self.title if title is None else title), fontsize=11)
        entries = len(self.fired) + bool(self.held)
        if entries:
            figure.legend(loc="outside lower center", ncols=min(entries, 3), fontsize=8, frameon=False)
        return figure

    def _strip(self, axis: Any) -> None:
        """Draw the windows beside the slices, thick where rules fired, with dots where the mine is."""
        columns = max(sum(start <= other < stop for other, _ in self.windows) for start, stop in self.windows)
        for number, (start, stop) in enumerate(self.windows):
            chosen = number in self.fired.values()
            axis.add_patch(
                Rectangle(
                    (number % columns, start),
                    0.85,
                    stop - start,
                    facecolor="#E8E8E8" if chosen else "none",
                    edgecolor="black" if chosen else FAINT,
                    linewidth=1.6 if chosen else 0.7,
                )
            )
            middle = (number % columns + 0.42, (start + stop) / 2)
            axis.text(
                *middle,
                str(number + 1),
                fontsize=8,
                ha="center",
                va="center",
                fontweight="bold" if chosen else "normal",
            )
        if self.held:
            places = [(number % columns + 0.72, sum(self.windows[number]) / 2) for number in self.held]
            axis.plot(
                *zip(*places, strict=True),
                linestyle="",
                marker="o",
                markersize=4,
                color=HIGH,
                label="windows that contain the mine (ground truth)",
            )
        axis.set_xlim(-0.2, columns + 0.05)
        axis.set_xticks([])
        axis.set_xlabel("depth windows", fontsize=9)
        bare(axis)
        for side in ("bottom", "left"):
            axis.spines[side].set_visible(False)
        axis.tick_params(left=False)

    def _frames(self, axes: Sequence[Any]) -> None:
        """Frame the window that each rule fired on; each frame is a little wider, so that none hides another."""
        for k, ((rule, window), style) in enumerate(zip(self.fired.items(), distinct(len(self.fired)), strict=True)):
            start, stop = self.windows[window]
            half = _FRAME + _WIDER * k
            for axis in axes:
                axis.add_patch(
                    Rectangle(
                        (-half, start),
                        2 * half,
                        stop - start,
                        fill=False,
                        edgecolor=style["color"],
                        linestyle=style["linestyle"],
                        linewidth=1.8,
                        label=f"{as_written(rule)}: window {window + 1}" if axis is axes[0] else None,
                    )
                )


def _middle(n: int) -> list[int]:
    return [(n - 1) // 2, n // 2]


def _held(alarm: Alarm) -> tuple[int, ...]:
    if not alarm.is_mine:
        return ()
    truth = window_truth(np.asarray(measured(alarm.cube, alarm.target).target_energies))
    return tuple(np.flatnonzero(truth).tolist())


def _title(alarm: Alarm) -> str:
    depth = f", {alarm.facts['depth']:.2f} m deep" if "depth" in alarm.facts else ""
    return f"Simulated alarm: {alarm.kind}{depth}"


@dataclasses.dataclass(frozen=True)
class PathPanel:
    """The settings (n,) of one panel, increasing and positive, their names on the axis, and the scores.

    Examples
    --------
    >>> PathPanel([1, 10], ["1", "all"], [Line("short rules", np.array([0.7, 0.9]))]).names
    ['1', 'all']
    """

    settings: list[int]
    names: list[str]
    lines: list[Line]


@dataclasses.dataclass
class PathDisplay:
    """Scores along a path of settings on a logarithmic axis, in panels side by side.

    Parameters
    ----------
    panels : dict of str to PathPanel
        By title. A label looks the same in every panel.
    xlabel, ylabel : str
    note : str
        What the bands are.

    Examples
    --------
    >>> path = PathPanel([1, 10], ["1", "all"], [Line("short rules", np.array([0.7, 0.9]))])
    >>> figure = PathDisplay({"some data": path}, "conditions", "accuracy").plot()
    >>> [label.get_text() for label in figure.axes[0].get_xticklabels()]
    ['1', 'all']
    >>> plt.close(figure)
    """

    panels: dict[str, PathPanel]
    xlabel: str
    ylabel: str
    note: str = ""

    def plot(self, title: str | None = None) -> Figure:
        """Draw the figure and return it."""
        labels = list(dict.fromkeys(line.label for panel in self.panels.values() for line in panel.lines))
        styles = dict(zip(labels, distinct(len(labels)), strict=True))
        n_panels = len(self.panels)
        figure, axes = plt.subplots(
            1, n_panels, figsize=(0.8 + 3.8 * n_panels, 3.8), squeeze=False, sharey=True, layout="constrained"
        )
        handles: dict[str, Any] = {}
        for axis, (name, path) in zip(axes[0], self.panels.items(), strict=True):
            for line in path.lines:
                handles.setdefault(line.label, line.draw(axis, path.settings, markersize=5, **styles[line.label]))
            axis.set_xscale("log")
            axis.set_xticks(path.settings, list(map(as_written, path.names)))
            axis.xaxis.set_minor_locator(NullLocator())
            axis.set_title(as_written(name), fontsize=9, loc="left", fontweight="bold")
            axis.set_xlabel(self.xlabel, fontsize=9)
            axis.grid(axis="y", color="#DDDDDD", linewidth=0.6)
            bare(axis)
        figure.supylabel(self.ylabel, fontsize=9)
        if title:
            figure.suptitle(as_written(title), fontsize=11)
        add_legend(figure, list(handles.values()), list(handles), title=self.note, ncols=len(handles))
        return figure

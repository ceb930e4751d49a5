"""Two slices through a radar cube, with the depth windows and those that rules fired on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.datasets.gpr.alignment import (
    DEPTHS,
    SKIP,
    STEP,
    align,
    background_of,
    check_background,
    ground_peaks,
    whiten,
)
from fuzzymil.datasets.gpr.features import measured, window_truth
from fuzzymil.datasets.gpr.features import windows as depth_windows
from fuzzymil.datasets.gpr.geometry import GRID, SPEED_OF_LIGHT
from fuzzymil.datasets.gpr.prescreener import check_cube
from fuzzymil.datasets.gpr.simulation import Alarm
from fuzzymil.plots.style import FAINT, HIGH, add_colorbar, as_written, bare, distinct

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
    >>> from fuzzymil.datasets.gpr.simulation import simulate_alarm
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

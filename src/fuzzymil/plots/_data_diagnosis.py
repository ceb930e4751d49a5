"""How well each kind of rules, and simple methods, explain the labels of bags."""

from __future__ import annotations

import dataclasses
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from fuzzymil._utils.errors import ParameterError
from fuzzymil.learn.choose import DataDiagnosis, Method
from fuzzymil.plots.style import FAINT, LOW, as_written, bare

_TITLES = {"accuracy": "accuracy", "explained": "deviance explained", "R2": "R²", "RMSE": "RMSE"}


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
    >>> from fuzzymil import MIANFISClassifier
    >>> from fuzzymil.datasets import make_planted
    >>> bags = make_planted("some", n_bags=60, n_noise=0, random_state=0)
    >>> found = MIANFISClassifier(random_state=0).diagnose_data(bags)
    >>> figure = DataDiagnosisDisplay(found.methods).plot()
    >>> [axis.get_title() for axis in figure.axes]
    ['accuracy', 'AUC', 'deviance explained']
    >>> plt.close(figure)
    """

    methods: tuple[Method, ...]

    @classmethod
    def from_diagnosis(cls, diagnosis: DataDiagnosis) -> DataDiagnosisDisplay:
        """Return the display of what ``model.diagnose_data`` found; raise if it compared no methods."""
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
        if title:
            figure.suptitle(as_written(title), fontsize=11)
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

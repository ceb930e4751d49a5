"""The course of a closed loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from fuzzymil._utils.errors import known_name
from fuzzymil.plots.style import HIGH, LOW, grid, subplots
from fuzzymil.rules.simulation import Simulation


@dataclasses.dataclass(repr=False)
class SimulationDisplay:
    """The states of a plant and the outputs of the rules that control it, one panel each, over the steps.

    Parameters
    ----------
    simulation : Simulation
        What `RuleBase.simulate` returned.

    Examples
    --------
    >>> from fuzzymil import RuleBase
    >>> rules = RuleBase.parse("VARIABLE level: low = ZShape(1, 3)  IF level is low THEN inflow = 1")
    >>> found = rules.simulate(lambda state, output: {"level": state["level"] + output["inflow"]}, {"level": 0}, 3)
    >>> [panel.get_ylabel() for panel in SimulationDisplay(found).plot().axes]
    ['level', 'inflow']
    """

    simulation: Simulation

    def plot(self, names: Sequence[str] | None = None, *, title: str | None = None) -> Figure:
        """Draw the figure and return it; ``names`` chooses some quantities (default: all)."""
        known = self.simulation.states | self.simulation.outputs
        names = list(known) if names is None else list(names)
        for name in names:
            known_name("quantity", name, known)
        figure, axes = subplots(len(names), 1, (6.4, 0.8 + 1.3 * len(names)), sharex=True)
        for panel, name in zip(axes[:, 0], names, strict=True):
            values = known[name]
            if name in self.simulation.outputs:  # kept until the next step
                panel.step(np.arange(len(values) + 1), [*values, values[-1]], where="post", color=HIGH)
            else:
                panel.plot(np.arange(len(values)), values, color=LOW)
            panel.set_ylabel(name)
            grid(panel, "y")
        axes[-1, 0].set_xlabel("step")
        axes[-1, 0].xaxis.set_major_locator(MaxNLocator(integer=True))
        if title is not None:
            axes[0, 0].set_title(title)
        return figure

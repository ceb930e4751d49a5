"""Axes of features whose values are not plain numbers: categories, dates and times of day."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.bags.columns import value_text
from fuzzymil.plots.style import as_written, shortened
from fuzzymil.rules.editing.comparison import span
from fuzzymil.rules.language.printer import format_number
from fuzzymil.rules.rule import Variable

_MOST_NAMES = 24
_STEEP = 26  # characters of all names together that fit next to each other on one panel


@dataclasses.dataclass(frozen=True)
class Scale:
    """How to write the values of a feature.

    Parameters
    ----------
    categories : tuple of str
        Names of the values 0, 1, 2, ...; empty for numbers.
    unit : str

    Examples
    --------
    >>> Scale(("email", "support")).text(1.0), Scale().text(0.25)
    ('support', '0.25')
    """

    categories: tuple[str, ...] = ()
    unit: str = ""

    @classmethod
    def of(cls, variable: Variable) -> Scale:
        """Return the scale of a variable."""
        return cls(variable.categories, variable.unit)

    def text(self, value: float, digits: int = 3) -> str:
        """Return a value as a person writes it."""
        return value_text(value, self.unit, self.categories) or format_number(value, digits)

    @property
    def is_plain(self) -> bool:
        """Whether values are written as numbers."""
        return not self.categories and value_text(0.0, self.unit) is None

    def put_on(self, axis: Any, *, across: bool = True, width: int = 18) -> None:
        """Write the names of categories, or dates, at the ticks of an axis of matplotlib.

        Parameters
        ----------
        axis : ``axes.xaxis`` or ``axes.yaxis``
        across : bool
            Whether it is horizontal: long names are then turned.
        width : int
            Most letters of a name.
        """
        if self.is_plain:
            return
        if not self.categories:
            axis.set_major_locator(MaxNLocator(4))
            axis.set_major_formatter(FuncFormatter(lambda value, _: value_text(value, self.unit) or ""))
            return
        names = [as_written(shortened(name, width)) for name in self.categories]
        step = -(-len(names) // _MOST_NAMES)
        axis.set_major_locator(FixedLocator(range(0, len(names), step)))
        axis.set_minor_locator(NullLocator())
        axis.set_ticklabels(names[::step])
        if across and sum(map(len, names[::step])) > _STEEP:
            for label in axis.get_ticklabels():
                label.set(rotation=40, ha="right", rotation_mode="anchor")


PLAIN = Scale()
"""Numbers."""


def view(variable: Variable, values: Array | None = None) -> tuple[float, float]:
    """Return the range of a feature to draw; every category has a place of the same width.

    Examples
    --------
    >>> view(Variable("channel", categories=["email", "support"]))
    (-0.5, 1.5)
    """
    return (-0.5, len(variable.categories) - 0.5) if variable.categories else span(variable, values)


def variables_of(bags: Bags) -> Sequence[Variable]:
    """Return the features of bags as variables, as far as the bags say what they mean."""
    if bags.columns is None:
        return [Variable(name) for name in bags.names]
    return [Variable(column.name, unit=column.unit, categories=column.categories) for column in bags.columns]


def spread_out(values: Array, scale: Scale, instances: Array) -> Array:
    """Return values (n,) moved a little apart if they are categories, which would otherwise hide each other.

    The distance depends on the instance (n, d) alone, so that the same instance is always at the same place.

    Examples
    --------
    >>> moved = spread_out(np.zeros(100), Scale(("no", "yes")), np.arange(100.0)[:, None])
    >>> bool(abs(moved).max() <= 0.3), len(np.unique(moved)) > 50
    (True, True)
    """
    if not scale.categories:
        return values
    weights = 0.6180339887498949 * np.sqrt(np.arange(1, instances.shape[1] + 1))
    mixed = np.where(np.isnan(instances), 0.0, instances) @ weights
    return np.asarray(values + 0.6 * (997 * mixed % 1.0 - 0.5))

"""The colors of classes, directions and witnesses: the same in figures, reports and notebooks."""

from __future__ import annotations

LOW, HIGH = "#0072B2", "#D55E00"
"""What lowers an output, or speaks for the first of two classes; what raises it, or speaks for the other.

Color-blind readers can distinguish the two hues, and they also differ in grayscale.
"""

SERIES = (LOW, HIGH, "#009E73", "#CC79A7", "#56B4E9", "#8B5A2B", "#E69F00", "#882255")
"""Of classes in the order of the model's, and of methods. All are visible on white and on black."""

FAINT = "#8A8A8A"
"""What is only there for comparison."""

WITNESS = "#6A3D9A"
"""The instance that decides; no class has this color."""

WRONG = "#B00020"
"""Wrong answers and warnings; no class has this color."""


def class_color(place: int) -> str:
    """Return the color of a class, by its position among the classes; beyond eight, colors repeat.

    Of two classes, the one that the rules speak for comes last.

    Examples
    --------
    >>> class_color(1) == HIGH, class_color(8) == LOW
    (True, True)
    """
    return SERIES[place % len(SERIES)]

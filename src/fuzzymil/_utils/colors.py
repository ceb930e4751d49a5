"""The colors of classes, directions and witnesses: the same in figures, reports and notebooks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LOW, HIGH = "#0072B2", "#D55E00"
"""What lowers an output, or favors the first of two classes; what raises it, or favors the other.

Color-blind readers can distinguish the two hues, and they also differ in grayscale.
"""

SEVERAL = (
    "#009E73",  # green
    "#ECA10C",  # amber
    "#7D146C",  # plum
    "#00CCFF",  # sky blue
    "#6D4D1C",  # brown
    "#DAA2BE",  # rose
    "#394A3A",  # dark gray
    "#7A7F0A",  # olive
    "#A6DBA0",  # light green
    "#1552C9",  # blue
)
"""Of three or more classes, which have no direction: neither of the two colors above.

Any two of them are far apart for readers with any kind of color blindness, too, and most so the first ones.
"""

FAINT = "#8A8A8A"
"""What is only there for comparison."""

WITNESS = "#6A3D9A"
"""The instance that decides; no class has this color."""

WRONG = "#B00020"
"""Wrong answers and warnings; no class has this color."""


def class_color(place: int, n_classes: int) -> str:
    """Return the color of a class, by its position among the classes; beyond ten, colors repeat.

    Of two classes, the positive one comes last.
    """
    return (LOW, HIGH)[place] if n_classes == 2 else SEVERAL[place % len(SEVERAL)]


def class_of_rule(said: npt.ArrayLike, *, additive: bool) -> int:
    """Return the position of the output whose color a rule has, given what it concludes for each of several outputs.

    This is the greatest conclusion; of an additive rule, the one that it changes most, up or down: a rule that only
    takes away from one class says nothing about the others.
    """
    return int(np.argmax(np.abs(said) if additive else said))


def class_mark(place: int, n_classes: int) -> str:
    """Return the name that style sheets have for `class_color`."""
    return f"k{place}" if n_classes == 2 else f"m{place % len(SEVERAL)}"


def style_rules(scope: str = "") -> str:
    """Return the rules of a style sheet that set ``--own`` to the color of a class."""
    names = {f"k{place}": color for place, color in enumerate((LOW, HIGH))}
    names |= {f"m{place}": color for place, color in enumerate(SEVERAL)}
    return "".join(f"{scope}.{name} {{ --own: {color}; }}\n" for name, color in names.items())

"""Every family of fuzzy sets: sound examples, and slow formulas that share no code with the package."""

import itertools
import math

import oracle
from hypothesis import strategies as st

from fuzzymil.inference.membership import FAMILIES, Discrete, Formula


def _sigmoid(x, center, slope):
    z = slope * (x - center)
    return 1 / (1 + math.exp(-z)) if z > 0 else math.exp(z) / (1 + math.exp(z))


def _s_shape(x, start, end):
    if x >= end:
        return 1.0
    if x <= start:
        return 0.0
    t = (x - start) / (end - start)
    return 2 * t * t if t <= 0.5 else 1 - 2 * (1 - t) ** 2


def _z_shape(x, start, end):
    return 1.0 if x <= start else 1 - _s_shape(x, start, end)


def _two_sided(x, left, left_width, right, right_width):
    below = math.exp(-((x - left) ** 2) / (2 * left_width**2)) if x < left else 1.0
    above = math.exp(-((x - right) ** 2) / (2 * right_width**2)) if x > right else 1.0
    return below * above


def _ramp(x, start, end):
    return min(1.0, max(0.0, (x - start) / (end - start)))


def _concave(x, inflection, end):
    distance = (end - x) if inflection < end else (x - end)
    extent = abs(end - inflection)
    return 1.0 if distance <= 0 else extent / (extent + distance)


def _arc(x, start, end):
    risen = _ramp(x, start, end)
    return math.sqrt(1 - (1 - risen) ** 2)


def _cosine(x, center, width):
    return 0.5 * (1 + math.cos(2 * math.pi * (x - center) / width)) if abs(x - center) < width / 2 else 0.0


def _semi_ellipse(x, left, right):
    radius, middle = (right - left) / 2, (left + right) / 2
    return math.sqrt(radius**2 - (x - middle) ** 2) / radius if left < x < right else 0.0


def _discrete(x, *numbers):
    points = list(zip(numbers[::2], numbers[1::2], strict=True))
    if x < points[0][0]:
        return points[0][1]
    for (low, before), (high, after) in itertools.pairwise(points):
        if low <= x < high:
            return before + (after - before) * (x - low) / (high - low)
    return points[-1][1]


SLOW = {
    "gaussian": oracle.gaussian,
    "bell": oracle.bell,
    "sigmoid": oracle.sigmoid,
    "triangular": oracle.triangular,
    "trapezoidal": oracle.trapezoidal,
    "rectangle": lambda x, left, right: float(left <= x <= right),
    "singleton": lambda x, value: float(x == value),
    "binary": lambda x, start, side: float(x >= start if side > 0 else x <= start),
    "s_shape": _s_shape,
    "z_shape": _z_shape,
    "pi_shape": lambda x, a, b, c, d: _s_shape(x, a, b) * _z_shape(x, c, d),
    "two_sided_gaussian": _two_sided,
    "sigmoid_difference": lambda x, a, r, f, b: abs(_sigmoid(x, a, r) - _sigmoid(x, b, f)),
    "sigmoid_product": lambda x, a, r, f, b: _sigmoid(x, a, r) * _sigmoid(x, b, f),
    "ramp": _ramp,
    "concave": _concave,
    "arc": _arc,
    "cosine": _cosine,
    "spike": lambda x, center, width: math.exp(-abs(10 / width * (x - center))),
    "semi_ellipse": _semi_ellipse,
    "discrete": _discrete,
}

# Sound parameters of each family; a test keeps the list complete.
EXAMPLES = {
    "gaussian": [(0.6, 0.1), (-3.0, 20.0), (0.0, 1.0)],
    "bell": [(0.6, 0.1, 2.0), (-3.0, 20.0, 0.7), (0.0, 1.0, 5.0)],
    "sigmoid": [(0.6, 10.0), (-3.0, -0.05), (0.0, 1.0)],
    "triangular": [(0.5, 0.6, 0.9), (-40.0, -3.0, 7.0), (-1.0, 0.0, 1.0)],
    "trapezoidal": [(0.4, 0.5, 0.7, 0.9), (-40.0, -13.0, 7.0, 50.0), (-2.0, -1.0, 1.0, 2.0)],
    "s_shape": [(0.4, 0.9), (-40.0, 7.0)],
    "z_shape": [(0.4, 0.9), (-40.0, 7.0)],
    "pi_shape": [(0.4, 0.5, 0.7, 0.9), (-40.0, -13.0, 7.0, 50.0), (0.0, 3.0, 2.0, 4.0)],
    "two_sided_gaussian": [(0.4, 0.1, 0.6, 0.3), (-3.0, 20.0, 5.0, 1.0), (1.0, 1.0, 0.5, 2.0)],
    "sigmoid_difference": [(0.4, 10.0, 20.0, 0.9), (-3.0, 1.0, 2.0, 4.0), (0.0, -3.0, -2.0, 5.0)],
    "sigmoid_product": [(0.4, 10.0, -20.0, 0.9), (-3.0, 1.0, -2.0, 4.0)],
    "ramp": [(0.4, 0.9), (7.0, -40.0)],
    "concave": [(0.4, 0.9), (7.0, -40.0)],
    "arc": [(0.4, 0.9), (7.0, -40.0)],
    "cosine": [(0.6, 0.5), (-3.0, 40.0)],
    "spike": [(0.6, 0.5), (-3.0, 40.0)],
    "semi_ellipse": [(0.4, 0.9), (-40.0, 7.0)],
    "discrete": [(0.0, 0.0, 0.6, 1.0, 0.9, 0.25, 1.5, 0.75), (-3.0, 0.9, 4.0, 0.2)],
}
# Sets with vertical edges, or a point for a top: they cannot be compared with differences across the edge.
EDGED = [
    ("triangular", (0.5, 0.5, 0.9)),
    ("triangular", (-40.0, 7.0, 7.0)),
    ("triangular", (0.5, 0.5, 0.5)),
    ("trapezoidal", (0.4, 0.4, 0.7, 0.9)),
    ("trapezoidal", (-40.0, -13.0, 7.0, 7.0)),
    ("trapezoidal", (-2.0, -2.0, 1.0, 1.0)),
    ("trapezoidal", (-2.0, 0.5, 0.5, 1.0)),
    ("trapezoidal", (0.5, 0.5, 0.5, 1.0)),
    ("trapezoidal", (0.5, 0.5, 0.5, 0.5)),
    ("rectangle", (-2.0, 1.0)),
    ("rectangle", (1.0, 1.0)),
    ("singleton", (0.6,)),
    ("binary", (0.6, 1.0)),
    ("binary", (-3.0, -1.0)),
    ("s_shape", (1.0, 1.0)),
    ("z_shape", (1.0, 1.0)),
    ("pi_shape", (0.5, 0.5, 1.0, 1.0)),
    ("discrete", (0.3, 0.2, 0.3, 0.8, 2.0, 1.0, 2.0, 0.1)),
]

_ORDERED = {"triangular", "trapezoidal", "rectangle", "s_shape", "z_shape", "pi_shape", "semi_ellipse"}
_APART = {"ramp", "concave", "arc", "semi_ellipse"}
_FORMULAS = ["1 - abs(x)", "exp(-x^2)", "max(0, sin(x))", "lt(x, 0.5)", "1/(1 + exp(-20*(x - 0.75)))", "0.25"]


@st.composite
def fuzzy_sets(draw, number, families=FAMILIES):
    """Draw a set of any family, with parameters made from ``number``."""
    name = draw(st.sampled_from(sorted(families)))
    size = number.filter(lambda value: value != 0)
    if name == "formula":
        return Formula(draw(st.sampled_from(_FORMULAS)), draw(number), abs(draw(size)))
    if name == "discrete":
        count = draw(st.integers(1, 5))
        values = sorted(draw(st.lists(number, min_size=count, max_size=count)))
        degrees = draw(st.lists(st.floats(0, 1), min_size=count, max_size=count))
        return Discrete(*(n for point in zip(values, degrees, strict=True) for n in point))
    kinds = FAMILIES[name]._kinds()
    unique = {"unique_by": lambda value: value + 0.0} if name in _APART else {}  # -0.0 and 0.0 are one place
    count = kinds.count("location")
    places = draw(st.lists(number, min_size=count, max_size=count, **unique))
    places = iter(sorted(places) if name in _ORDERED else places)
    draws = {
        "location": lambda: next(places),
        "width": lambda: abs(draw(size)),
        "shape": lambda: abs(draw(size)),
        "steepness": lambda: draw(size),
        "side": lambda: draw(st.sampled_from([-1.0, 1.0])),
    }
    return FAMILIES[name](*(draws[kind]() for kind in kinds))

"""Plain fuzzy systems (one instance per bag) that fuzzymil, pyfuzzylite and scikit-fuzzy are compared on.

They are told in plain data, so that each library's system is built from the same words. A premise is
``(variable, *hedges, term)``, or ``("and" | "or", part, part, ...)``. A set is its family in fuzzymil's name and its
parameters. A Sugeno conclusion is the constant and the slopes, if any; a Mamdani conclusion the name of a term.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class System:
    """One system; names of operators are fuzzymil's."""

    inputs: dict[str, tuple[float, float, dict[str, tuple[Any, ...]]]]  # low, high, terms
    rules: list[tuple[Any, ...]]  # premise, {output: conclusion}, and a weight if it is not 1
    outputs: dict[str, tuple[float, float, dict[str, tuple[Any, ...]]]] = field(default_factory=dict)  # of Mamdani
    t_norm: str = "min"
    s_norm: str = "max"
    normalize: bool = True
    limited: bool = False
    default: float = 0.0
    implication: str = "min"
    accumulation: str = "max"
    defuzzify: str = "centroid"
    resolution: int = 1000

    @property
    def is_mamdani(self) -> bool:
        """Whether rules conclude sets."""
        return bool(self.outputs)

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs, in order."""
        return list(dict.fromkeys(name for _, said, *_ in self.rules for name in said))


def premise_text(premise: tuple[Any, ...]) -> str:
    """Write a premise as fuzzymil and fuzzylite both read it."""
    if premise[0] not in ("and", "or"):
        variable, *words = premise
        return f"{variable} is {' '.join(words)}"
    parts = [premise_text(part) if part[0] not in ("and", "or") else f"({premise_text(part)})" for part in premise[1:]]
    return f" {premise[0]} ".join(parts)


# ---------------------------------------------------------------------- building blocks

TWO_GAUSSIANS = {
    "x": (-2.0, 2.0, {"low": ("gaussian", -1.0, 0.8), "high": ("gaussian", 1.0, 0.5)}),
    "y": (0.0, 10.0, {"low": ("gaussian", 2.0, 3.0), "high": ("gaussian", 8.0, 2.0)}),
}
THREE_TRIANGLES = {
    name: (
        0.0,
        10.0,
        {
            "poor": ("triangular", -5.0, 0.0, 5.0),
            "fair": ("triangular", 0.0, 5.0, 10.0),
            "good": ("triangular", 5.0, 10.0, 15.0),
        },
    )
    for name in ("service", "food")
}
TIP = {
    "tip": (
        0.0,
        30.0,
        {
            "small": ("triangular", 0.0, 5.0, 10.0),
            "usual": ("triangular", 10.0, 15.0, 20.0),
            "great": ("triangular", 20.0, 25.0, 30.0),
        },
    )
}
SMOOTH_TIP = {
    "tip": (
        0.0,
        30.0,
        {
            "small": ("gaussian", 5.0, 3.0),
            "usual": ("gaussian", 14.0, 4.0),
            "great": ("gaussian", 26.0, 2.5),
        },
    )
}
TIPPING = [
    (("or", ("service", "poor"), ("food", "poor")), {"tip": "small"}),
    (("service", "fair"), {"tip": "usual"}),
    (("or", ("service", "good"), ("food", "good")), {"tip": "great"}),
]


def _grid(coefs):
    """Return nine rules over three terms of each of two variables."""
    words = ("poor", "fair", "good")
    return [
        (("and", ("service", one), ("food", other)), {"z": coefs(a, b)})
        for a, one in enumerate(words)
        for b, other in enumerate(words)
    ]


def _two(first, second, *, one=(0.0,), other=(1.0,)):
    return [(first, {"z": one}), (second, {"z": other})]


BOTH_LOW = ("and", ("x", "low"), ("y", "low"))
BOTH_HIGH = ("and", ("x", "high"), ("y", "high"))
EITHER_HIGH = ("or", ("x", "high"), ("y", "high"))

# ---------------------------------------------------------------------- the systems

SUGENO = {
    "product": System(TWO_GAUSSIANS, _two(BOTH_LOW, BOTH_HIGH), t_norm="product", s_norm="algebraic"),
    "min": System(TWO_GAUSSIANS, _two(BOTH_LOW, BOTH_HIGH)),
    "lukasiewicz": System(TWO_GAUSSIANS, _two(BOTH_LOW, EITHER_HIGH), t_norm="lukasiewicz", s_norm="bounded"),
    "hamacher": System(TWO_GAUSSIANS, _two(BOTH_LOW, EITHER_HIGH), t_norm="hamacher", s_norm="hamacher"),
    "einstein": System(TWO_GAUSSIANS, _two(BOTH_LOW, EITHER_HIGH), t_norm="einstein", s_norm="einstein"),
    "norms that are not dual": System(
        TWO_GAUSSIANS, _two(("or", BOTH_LOW, ("y", "high")), EITHER_HIGH), t_norm="product", s_norm="max"
    ),
    "first order": System(
        TWO_GAUSSIANS,
        _two(BOTH_LOW, BOTH_HIGH, one=(0.5, 2.0, -0.25), other=(-1.0, 0.0, 0.3)),
        t_norm="product",
        s_norm="algebraic",
    ),
    "nine rules": System(THREE_TRIANGLES, _grid(lambda a, b: (a - 0.7 * b,))),
    "nine linear rules": System(
        THREE_TRIANGLES, _grid(lambda a, b: (a + 0.1 * b, 0.1 * a, -0.2 * b)), t_norm="product", s_norm="algebraic"
    ),
    "bells": System(
        {"x": (-5.0, 5.0, {"in": ("bell", 0.5, 1.5, 2.0), "around": ("bell", -1.0, 4.0, 0.7)})},
        _two(("x", "in"), ("x", "around")),
    ),
    "sigmoids": System(
        {"x": (-5.0, 5.0, {"left": ("sigmoid", -1.0, -2.0), "right": ("sigmoid", 0.5, 1.3)})},
        _two(("x", "left"), ("x", "right"), one=(3.0,), other=(-2.0, 1.0)),
    ),
    "trapezoids": System(
        {"x": (0.0, 8.0, {"early": ("trapezoidal", -1.0, 0.0, 2.0, 5.0), "late": ("trapezoidal", 3.0, 5.0, 8.0, 9.0)})},
        _two(("x", "early"), ("x", "late")),
    ),
    "vertical edges": System(
        {"x": (0.0, 8.0, {"early": ("trapezoidal", 0.0, 0.0, 2.0, 5.0), "late": ("triangular", 3.0, 8.0, 8.0)})},
        _two(("x", "early"), ("x", "late")),
    ),
    "very and somewhat": System(TWO_GAUSSIANS, _two(("x", "very", "low"), ("y", "somewhat", "high"))),
    "not": System(TWO_GAUSSIANS, _two(("x", "not", "low"), ("and", ("x", "low"), ("y", "not", "very", "high")))),
    "extremely and seldom": System(TWO_GAUSSIANS, _two(("x", "extremely", "low"), ("y", "seldom", "high"))),
    "brackets": System(
        TWO_GAUSSIANS,
        _two(("and", EITHER_HIGH, ("or", ("x", "low"), ("y", "not", "low"))), BOTH_LOW),
        t_norm="product",
        s_norm="algebraic",
    ),
    "weights": System(
        TWO_GAUSSIANS,
        [(BOTH_LOW, {"z": (0.0,)}, 0.3), (EITHER_HIGH, {"z": (1.0,)}), (("x", "high"), {"z": (5.0, 1.0, 1.0)}, 0.75)],
    ),
    "two outputs": System(
        TWO_GAUSSIANS, [(BOTH_LOW, {"z": (0.0,), "u": (5.0,)}), (BOTH_HIGH, {"z": (1.0,), "u": (-5.0, 1.0, 2.0)})]
    ),
    "weighted sum": System(TWO_GAUSSIANS, _two(BOTH_LOW, BOTH_HIGH, one=(2.0,), other=(3.0,)), normalize=False),
    "no rule fires": System(
        {"x": (0.0, 8.0, {"near": ("triangular", 0.0, 1.0, 2.0), "far": ("triangular", 6.0, 7.0, 8.0)})},
        _two(("x", "near"), ("x", "far")),
        default=0.25,
    ),
    "locked range": System(
        {"x": (-1.0, 1.0, {"low": ("gaussian", -1.0, 0.5), "high": ("sigmoid", 0.5, 4.0)})},
        _two(("x", "low"), ("x", "high"), one=(0.0, 1.0), other=(1.0, -1.0)),
        limited=True,
    ),
}

MAMDANI = {
    "tip": System(THREE_TRIANGLES, TIPPING, TIP),
    "tip by bisector": System(THREE_TRIANGLES, TIPPING, TIP, defuzzify="bisector"),
    "tip by mean of maxima": System(THREE_TRIANGLES, TIPPING, TIP, defuzzify="mom"),
    "tip by smallest of maxima": System(THREE_TRIANGLES, TIPPING, TIP, defuzzify="som"),
    "tip by largest of maxima": System(THREE_TRIANGLES, TIPPING, TIP, defuzzify="lom"),
    "tip by product": System(
        THREE_TRIANGLES, TIPPING, SMOOTH_TIP, t_norm="product", s_norm="algebraic", implication="product"
    ),
    "tip by product norms": System(THREE_TRIANGLES, TIPPING, SMOOTH_TIP, t_norm="product", s_norm="algebraic"),
    "nine tips": System(
        THREE_TRIANGLES,
        [
            (("and", ("service", one), ("food", other)), {"tip": ("small", "usual", "great")[(a + b) // 2]})
            for a, one in enumerate(("poor", "fair", "good"))
            for b, other in enumerate(("poor", "fair", "good"))
        ],
        TIP,
        t_norm="product",
        s_norm="algebraic",
        defuzzify="bisector",
    ),
    "not so great": System(
        THREE_TRIANGLES,
        [
            (("and", ("service", "not", "good"), ("food", "not", "good")), {"tip": "small"}, 0.8),
            (("or", ("service", "not", "poor"), ("food", "not", "poor")), {"tip": "great"}, 0.6),
        ],
        SMOOTH_TIP,
    ),
    "tip by product and bisector": System(
        THREE_TRIANGLES, TIPPING, SMOOTH_TIP, implication="product", defuzzify="bisector"
    ),
    "tip by algebraic sum": System(THREE_TRIANGLES, TIPPING, SMOOTH_TIP, accumulation="algebraic"),
    "tip by bounded sum": System(THREE_TRIANGLES, TIPPING, SMOOTH_TIP, accumulation="bounded", implication="product"),
    "tip by plain sum": System(THREE_TRIANGLES, TIPPING, SMOOTH_TIP, accumulation="sum"),
    "two rules conclude one term": System(
        TWO_GAUSSIANS,
        [
            (BOTH_LOW, {"tip": "small"}),
            (("x", "not", "high"), {"tip": "small"}, 0.8),
            (EITHER_HIGH, {"tip": "great"}, 0.6),
        ],
        SMOOTH_TIP,
        accumulation="algebraic",
    ),
    "hedges": System(
        TWO_GAUSSIANS,
        [
            (("and", ("x", "very", "low"), ("y", "not", "high")), {"tip": "small"}),
            (("x", "somewhat", "high"), {"tip": "usual"}),
            (("or", ("x", "extremely", "high"), ("y", "seldom", "high")), {"tip": "great"}, 0.5),
        ],
        TIP,
    ),
    "einstein and weights": System(
        TWO_GAUSSIANS,
        [(BOTH_LOW, {"tip": "small"}, 0.9), (("or", BOTH_HIGH, ("x", "low")), {"tip": "usual"}, 0.4)],
        SMOOTH_TIP,
        t_norm="einstein",
        s_norm="einstein",
    ),
    "open sets": System(
        TWO_GAUSSIANS,
        [(BOTH_LOW, {"speed": "back"}), (EITHER_HIGH, {"speed": "ahead"}), (("y", "high"), {"speed": "still"})],
        {
            "speed": (
                -3.0,
                2.0,
                {
                    "back": ("sigmoid", -1.0, -5.0),
                    "ahead": ("sigmoid", 1.0, 4.0),
                    "still": ("bell", 0.0, 0.5, 2.0),
                },
            )
        },
        resolution=500,
    ),
    "two outputs": System(
        TWO_GAUSSIANS,
        [
            (BOTH_LOW, {"tip": "small", "mood": "bad"}),
            (("x", "high"), {"tip": "great"}),
            (("y", "high"), {"mood": "fine"}),
        ],
        {
            **TIP,
            "mood": (
                -1.0,
                1.0,
                {"bad": ("trapezoidal", -1.0, -1.0, -0.5, 0.0), "fine": ("triangular", 0.0, 1.0, 1.0)},
            ),
        },
    ),
    "no rule fires": System(
        {"x": (0.0, 8.0, {"near": ("triangular", 0.0, 1.0, 2.0), "far": ("triangular", 6.0, 7.0, 8.0)})},
        [(("x", "near"), {"tip": "small"}), (("x", "far"), {"tip": "great"})],
        TIP,
        default=15.0,
    ),
}

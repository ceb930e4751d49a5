"""Formulas that are linear functions of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from fuzzymil.inference.membership import Arithmetic


def linear_coefficients(formula: Arithmetic, names: Sequence[str]) -> tuple[float, ...] | None:
    """Return the coefficients of a linear function, constant first, or None if a formula is not linear.

    Examples
    --------
    >>> linear_coefficients(Arithmetic("2*(x - y) + 3/2 - y"), ["x", "y", "z"])
    (1.5, 2.0, -3.0, 0.0)
    >>> linear_coefficients(Arithmetic("2 * e"), ["e"])  # an input of this name, not the constant
    (0.0, 2.0)
    >>> linear_coefficients(Arithmetic("x*y"), ["x", "y"]) is None
    True
    """
    found = _linear(formula.tree, names)
    if found is None or set(found) - {"", *names}:
        return None
    return (found.get("", 0.0), *(found.get(name, 0.0) for name in names))


def _linear(tree: tuple[object, ...], names: Sequence[str]) -> dict[str, float] | None:
    """Return the coefficient of each variable, and the constant under the empty name."""
    kind = tree[0]
    if kind == "number":
        return {"": float(tree[1])}  # type: ignore[arg-type]
    if kind == "name":
        name = str(tree[1])
        return {"": Arithmetic.CONSTANTS[name]} if name in Arithmetic.CONSTANTS and name not in names else {name: 1.0}
    parts = [_linear(part, names) for part in tree[1:]]  # type: ignore[arg-type]
    if any(part is None for part in parts) or kind not in ("add", "subtract", "negative", "multiply", "divide"):
        return None
    one, *rest = (part for part in parts if part is not None)
    if kind == "negative":
        return {name: -value for name, value in one.items()}
    two = rest[0]
    if kind in ("add", "subtract"):
        sign = 1.0 if kind == "add" else -1.0
        return {name: one.get(name, 0.0) + sign * two.get(name, 0.0) for name in {**one, **two}}
    if kind == "multiply" and set(one) <= {""}:
        one, two = two, one
    if set(two) - {""}:
        return None
    factor = two.get("", 0.0)
    if kind == "divide" and factor == 0:
        return None
    return {name: value * factor if kind == "multiply" else value / factor for name, value in one.items()}

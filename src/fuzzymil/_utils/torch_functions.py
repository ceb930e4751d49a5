"""The functions of NumPy that the membership functions and layers use, for PyTorch's tensors.

Only what PyTorch names or does differently is defined here: numbers next to tensors, the axes of reductions, the signs
of NaN. Results stay on the device of their arguments; equal values share the gradient evenly, as in JAX.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import (
    Tensor,
    broadcast_to,
    concatenate,
    finfo,
    isfinite,
    isnan,
    isneginf,
    isposinf,
    moveaxis,
    square,
    stack,
    where,
)

__all__ = [
    "argmin",
    "asarray",
    "broadcast_to",
    "clip",
    "concatenate",
    "cumsum",
    "finfo",
    "inf",
    "isfinite",
    "isnan",
    "isneginf",
    "isposinf",
    "max",
    "maximum",
    "min",
    "minimum",
    "moveaxis",
    "nan",
    "ones_like",
    "sign",
    "sort",
    "square",
    "stack",
    "sum",
    "take_along_axis",
    "where",
    "zeros_like",
]

inf, nan = math.inf, math.nan

_DTYPES = {bool: torch.bool, np.int32: torch.int32}


def asarray(values: Any, dtype: Any = None) -> Tensor:
    """Return a tensor; a number keeps its 64 bits, and gives way to the precision of any tensor that it meets."""
    if not isinstance(values, Tensor):
        return torch.as_tensor(values, dtype=torch.float64)
    return values if dtype is None else values.to(_DTYPES.get(dtype, dtype))


def zeros_like(values: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    return values.new_zeros(values.shape if shape is None else shape)


def ones_like(values: Tensor, dtype: Any = None, shape: tuple[int, ...] | None = None) -> Tensor:
    return values.new_ones(values.shape if shape is None else shape, dtype=_DTYPES.get(dtype, dtype))


# ---------------------------------------------------------------------- elementwise, of tensors and numbers


def _lifted(function: Callable[..., Tensor], of_numbers: str) -> Callable[..., Any]:
    """Return a function of tensors that also takes numbers; of numbers alone, it is NumPy's."""

    def call(*values: Any) -> Any:
        like = next((value for value in values if isinstance(value, Tensor)), None)
        if like is None:
            return getattr(np, of_numbers)(*values).item()
        return function(*(_beside(value, like) for value in values))

    return call


def _beside(value: Any, like: Tensor) -> Tensor:
    if isinstance(value, Tensor):
        return value
    return torch.full((), value, dtype=like.dtype if like.is_floating_point() else None, device=like.device)


_PLAIN = (
    "abs ceil cos cosh exp expm1 floor log log10 log1p negative round sin sinh sqrt tan tanh "
    "arccos arccosh arcsin arcsinh arctan arctanh "
    "add arctan2 divide fmod logaddexp maximum minimum multiply subtract "
    "equal greater greater_equal less less_equal not_equal logical_and logical_not logical_or"
)
_RENAMED = {"equal": "eq", "power": "pow"}  # torch.equal compares whole tensors

for _name in (*_PLAIN.split(), "power"):
    globals()[_name] = _lifted(getattr(torch, _RENAMED.get(_name, _name)), _name)

maximum, minimum = globals()["maximum"], globals()["minimum"]  # for readers and type checkers


def clip(values: Tensor, low: float, high: float) -> Any:
    return minimum(maximum(values, low), high)  # torch.clamp gives the whole gradient to a value at a bound


def sign(values: Any) -> Any:
    if not isinstance(values, Tensor):
        return np.sign(values).item()
    return where(isnan(values), values, torch.sign(values))


# ---------------------------------------------------------------------- along an axis


def sum(values: Tensor, axis: int) -> Tensor:
    return values.sum(dim=axis)


def max(values: Tensor, axis: int, keepdims: bool = False) -> Tensor:
    return values.amax(dim=axis, keepdim=keepdims)


def min(values: Tensor, axis: int, keepdims: bool = False) -> Tensor:
    return values.amin(dim=axis, keepdim=keepdims)


def argmin(values: Tensor, axis: int, keepdims: bool = False) -> Tensor:
    return values.argmin(dim=axis, keepdim=keepdims)


def sort(values: Tensor, axis: int) -> Tensor:
    return values.sort(dim=axis).values


def cumsum(values: Tensor, axis: int) -> Tensor:
    return values.cumsum(dim=axis)


def take_along_axis(values: Tensor, indices: Tensor, axis: int) -> Tensor:
    return values.take_along_dim(indices, dim=axis)

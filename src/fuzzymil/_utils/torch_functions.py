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
from torch import Tensor

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


def _along(name: str) -> Callable[..., Tensor]:
    """Return a reduction along an axis."""

    def call(values: Tensor, axis: int, keepdims: bool = False) -> Tensor:
        found: Tensor = getattr(values, name)(dim=axis, keepdim=keepdims)
        return found

    return call


_SAME = "broadcast_to concatenate finfo isfinite isnan isneginf isposinf moveaxis square stack where"
_OF_NUMBERS_TOO = (
    "abs ceil cos cosh exp expm1 floor log log10 log1p negative round sin sinh sqrt tan tanh "
    "arccos arccosh arcsin arcsinh arctan arctanh "
    "add arctan2 divide fmod logaddexp maximum minimum multiply subtract power "
    "equal greater greater_equal less less_equal not_equal logical_and logical_not logical_or"
)
_RENAMED = {"equal": "eq", "power": "pow"}  # torch.equal compares whole tensors

for _name in _SAME.split():
    globals()[_name] = getattr(torch, _name)
for _name in _OF_NUMBERS_TOO.split():
    globals()[_name] = _lifted(getattr(torch, _RENAMED.get(_name, _name)), _name)
for _name, _of_torch in (("sum", "sum"), ("max", "amax"), ("min", "amin"), ("argmin", "argmin")):
    globals()[_name] = _along(_of_torch)

maximum, minimum = globals()["maximum"], globals()["minimum"]  # for readers and type checkers


def clip(values: Tensor, low: float, high: float) -> Any:
    return minimum(maximum(values, low), high)  # torch.clamp gives the whole gradient to a value at a bound


def sign(values: Any) -> Any:
    if not isinstance(values, Tensor):
        return np.sign(values).item()
    return torch.where(torch.isnan(values), values, torch.sign(values))


def sort(values: Tensor, axis: int) -> Tensor:
    return values.sort(dim=axis).values


def cumsum(values: Tensor, axis: int) -> Tensor:
    return values.cumsum(dim=axis)


def take_along_axis(values: Tensor, indices: Tensor, axis: int) -> Tensor:
    return values.take_along_dim(indices, dim=axis)

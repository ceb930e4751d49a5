"""Bags of tensors: packed one after another, or padded to the same size."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fuzzymil._utils.errors import InputError, InputTypeError, described
from fuzzymil.inference.engines.torch import Packed, Padded


def checked_instances(x: Any) -> Tensor:
    """Return a tensor of real numbers; raise if it is anything else."""
    if not isinstance(x, Tensor):
        raise InputTypeError(f"Instances must be a tensor, got {described(x)}: use torch.as_tensor(...).")
    if x.is_complex():
        raise InputTypeError(f"Instances must be real numbers, got {x.dtype}.")
    if x.layout != torch.strided or x.is_nested:
        raise InputTypeError(
            f"Instances must be a dense tensor, got one of layout {x.layout}: use x.to_dense(), pad them, "
            "or pack them with offsets=."
        )
    return x


def grouped(
    x: Tensor, n_features: int, offsets: Any, index: Any, n_bags: int | None, mask: Any
) -> tuple[Tensor, Packed | Padded]:
    """Return the instances (i, d) of all bags, and which belong to which bag."""
    if x.ndim not in (2, 3) or x.shape[-1] != n_features:
        raise InputError(
            f"Expected instances of {n_features} features, packed (instances, {n_features}) or padded "
            f"(bags, instances, {n_features}), got a tensor of shape {tuple(x.shape)}."
        )
    if n_bags is not None and index is None:
        raise InputError("n_bags= goes with index= only: offsets= and padded bags tell the number of bags themselves.")
    if x.ndim == 3:
        if offsets is not None or index is not None:
            raise InputError("Padded bags (bags, instances, features) take mask=, not offsets= or index=.")
        return _padded(x, mask)
    if mask is not None or (offsets is None) == (index is None):
        raise InputError(
            "Packed instances (instances, features) need either offsets=, where each bag begins and the last one ends, "
            "or index=, the number of each instance's bag."
        )
    if index is not None:
        return x, _indexed(x, index, n_bags)
    offsets = _checked_offsets(offsets, x)
    places = torch.arange(len(x), device=x.device)
    # Not offsets[1:]: compiled for a GPU, bucketize would read such a view from its first number, the 0.
    return x, Packed(torch.bucketize(places, offsets, right=True) - 1, len(offsets) - 1)


def _padded(x: Tensor, mask: Any) -> tuple[Tensor, Padded]:
    if mask is None:
        return x.flatten(0, 1), Padded(torch.ones(x.shape[:2], dtype=torch.bool, device=x.device))
    real = _tensor("mask", mask, x)
    if real.shape != x.shape[:2]:
        raise InputError(
            f"mask must have the shape (bags, instances) of the padded bags, {tuple(x.shape[:2])}, got "
            f"{tuple(real.shape)}."
        )
    if not _whole(real):
        raise InputTypeError(
            f"mask must be True where an instance is and False elsewhere, got {real.dtype}: use mask.bool() if it is 1 "
            "and 0, and mask == 0 if it is 0 and -inf, as attention layers add it."
        )
    real = real.bool()
    if not x.shape[1]:
        return x.flatten(0, 1), Padded(real)
    # Padding repeats an instance of its bag: whatever stands there could overflow, and the gradient would be NaN.
    first = real.int().argmax(dim=1)[:, None, None].expand(-1, 1, x.shape[2])
    instead = torch.where(real.any(dim=1)[:, None, None], x.detach().gather(1, first), 0.0)
    return torch.where(real[:, :, None], x, instead).flatten(0, 1), Padded(real)


def _indexed(x: Tensor, index: Any, n_bags: int | None) -> Packed:
    numbers = _tensor("index", index, x)
    if numbers.shape != (len(x),) or not _whole(numbers):
        raise InputError(
            f"index must be a whole number for each of the {len(x)} instances, got {numbers.dtype} of shape "
            f"{tuple(numbers.shape)}."
        )
    if n_bags is not None and (not isinstance(n_bags, int | np.integer | torch.SymInt) or n_bags < 0):
        raise InputError(f"n_bags must be a whole number, at least 0, got {described(n_bags)}.")
    numbers = numbers.long()
    if n_bags is None:
        n_bags = int(numbers.max()) + 1 if len(x) else 0
    if len(x) and _can_be_seen(numbers):
        low, high = int(numbers.min()), int(numbers.max())
        if low < 0 or high >= n_bags:
            raise InputError(
                f"index must count bags from 0 to n_bags - 1 = {n_bags - 1}; it goes from {low} to {high}."
            )
    return Packed(numbers, n_bags)


def _checked_offsets(offsets: Any, x: Tensor) -> Tensor:
    found = _tensor("offsets", offsets, x)
    if found.ndim != 1 or len(found) < 2 or not _whole(found):
        raise InputError(f"offsets must be n_bags + 1 whole numbers, got {found.dtype} of shape {tuple(found.shape)}.")
    found = found.long()
    if isinstance(offsets, list | tuple | range):  # also in a compiled program, or for a GPU
        falls = [b for b in range(len(offsets) - 1) if offsets[b + 1] < offsets[b]]
    elif _can_be_seen(found):
        falls = (found.diff() < 0).nonzero().flatten().tolist()
        offsets = found
    else:
        return found
    if falls:
        at = falls[0]
        raise InputError(
            f"offsets must ascend, but offsets[{at + 1}] = {int(offsets[at + 1])} is less than "
            f"offsets[{at}] = {int(offsets[at])}."
        )
    if offsets[0] != 0 or offsets[-1] != len(x):
        raise InputError(
            f"offsets must go from 0 to the number of instances, {len(x)}; they go from {int(offsets[0])} to "
            f"{int(offsets[-1])}."
        )
    return found


def _tensor(name: str, values: Any, x: Tensor) -> Tensor:
    """Return what a user passed as a tensor, on the device of the instances unless it is a tensor already."""
    if isinstance(values, Tensor):
        return values
    try:
        found = torch.tensor(list(values) if isinstance(values, range) else values)
    except (TypeError, ValueError, RuntimeError) as problem:
        raise InputTypeError(f"{name} must be a tensor or a sequence of numbers: {problem}") from None
    return found.to(x.device)


def _whole(values: Tensor) -> bool:
    return not (values.is_floating_point() or values.is_complex())


def _can_be_seen(values: Tensor) -> bool:
    """Return whether numbers can be looked at: compiled programs cannot, and on a GPU all would wait for it."""
    return not torch.compiler.is_compiling() and values.device.type == "cpu"

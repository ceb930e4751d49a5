"""Bags of tensors: packed one after another, or padded to the same size."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fuzzymil._utils.errors import InputError
from fuzzymil.network.engines.torch import Packed, Padded


def grouped(
    x: Tensor, n_features: int, offsets: Any, index: Tensor | None, n_bags: int | None, mask: Tensor | None
) -> tuple[Tensor, Packed | Padded]:
    """Return the instances (i, d) of all bags, and which belong to which bag."""
    if x.ndim not in (2, 3) or x.shape[-1] != n_features:
        raise InputError(
            f"Expected instances of {n_features} features, packed (instances, {n_features}) or padded "
            f"(bags, instances, {n_features}), got a tensor of shape {tuple(x.shape)}."
        )
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
        return x, Packed(_checked_index(index, x), int(index.max()) + 1 if n_bags is None else n_bags)
    if not isinstance(offsets, Tensor):
        offsets = torch.tensor(offsets, device=x.device)
    offsets = _checked_offsets(offsets, x)
    places = torch.arange(len(x), device=x.device)
    # Not offsets[1:]: compiled for a GPU, bucketize would read such a view from its first number, the 0.
    return x, Packed(torch.bucketize(places, offsets, right=True) - 1, len(offsets) - 1)


def _padded(x: Tensor, mask: Tensor | None) -> tuple[Tensor, Padded]:
    if mask is None:
        return x.flatten(0, 1), Padded(torch.ones(x.shape[:2], dtype=torch.bool, device=x.device))
    if mask.shape != x.shape[:2]:
        raise InputError(
            f"mask must have the shape (bags, instances) of the padded bags, {tuple(x.shape[:2])}, got "
            f"{tuple(mask.shape)}."
        )
    real = mask.bool()
    # Padding repeats an instance of its bag: whatever stands there could overflow, and the gradient would be NaN.
    first = real.int().argmax(dim=1)[:, None, None].expand(-1, 1, x.shape[2])
    instead = torch.where(real.any(dim=1)[:, None, None], x.detach().gather(1, first), 0.0)
    return torch.where(real[:, :, None], x, instead).flatten(0, 1), Padded(real)


def _checked_index(index: Tensor, x: Tensor) -> Tensor:
    if index.shape != (len(x),) or index.is_floating_point():
        raise InputError(
            f"index must be a whole number for each of the {len(x)} instances, got {index.dtype} of shape "
            f"{tuple(index.shape)}."
        )
    return index.long()


def _checked_offsets(offsets: Tensor, x: Tensor) -> Tensor:
    if offsets.ndim != 1 or len(offsets) < 2 or offsets.is_floating_point():
        raise InputError(
            f"offsets must be n_bags + 1 whole numbers, got {offsets.dtype} of shape {tuple(offsets.shape)}."
        )
    if torch.compiler.is_compiling() or offsets.device.type != "cpu":  # looking at the numbers would wait for the GPU
        return offsets
    if offsets[0] != 0 or offsets[-1] != len(x) or (offsets.diff() < 0).any():
        raise InputError(
            f"offsets must ascend from 0 to the number of instances, {len(x)}; they go from {int(offsets[0])} to "
            f"{int(offsets[-1])}."
        )
    return offsets

"""The engine for tensors that a user brings: PyTorch, in the precision and on the device of the tensors."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

# Numbers (rows, sets of a rule, features) computed at once: what fits the cache of a CPU, and the memory of a GPU.
_CACHED, _GREATEST_ARRAY = 1 << 18, 1 << 24


@dataclasses.dataclass(frozen=True)
class Packed:
    """Bags packed one after another; ``bag_index`` (instances,) is the number of each instance's bag.

    Bags may be empty, and their instances need not be next to each other.
    """

    bag_index: Tensor
    n_bags: int

    def sum(self, values: Tensor) -> Tensor:
        return values.new_zeros(self.n_bags, *values.shape[1:]).scatter_add(0, self._places(values), values)

    def max(self, values: Tensor) -> Tensor:
        values = values.detach()
        nothing = values.new_full((self.n_bags, *values.shape[1:]), -torch.inf)
        return nothing.scatter_reduce(0, self._places(values), values, "amax")

    def spread(self, values: Tensor) -> Tensor:
        return values.index_select(0, self.bag_index)

    def sizes(self) -> Tensor:
        return self.sum(torch.ones_like(self.bag_index))

    def owners(self) -> Tensor:
        return self.bag_index

    def _places(self, values: Tensor) -> Tensor:
        return self.bag_index.reshape((-1,) + (1,) * (values.ndim - 1)).expand_as(values)


@dataclasses.dataclass(frozen=True)
class Padded:
    """Bags padded to the same number of rows, one after another; ``real`` (bags, rows) marks their instances."""

    real: Tensor

    def sum(self, values: Tensor) -> Tensor:
        return self._by_bag(values, 0.0).sum(dim=1)

    def max(self, values: Tensor) -> Tensor:
        by_bag = self._by_bag(values.detach(), -torch.inf)
        if not by_bag.shape[1]:  # no bag has an instance
            return values.new_full((len(by_bag), *by_bag.shape[2:]), -torch.inf)
        return by_bag.amax(dim=1)

    def spread(self, values: Tensor) -> Tensor:
        return values.repeat_interleave(self.real.shape[1], dim=0)

    def sizes(self) -> Tensor:
        return self.real.sum(dim=1)

    def owners(self) -> Tensor:
        n_bags = len(self.real)
        bags = torch.arange(n_bags, device=self.real.device)[:, None]
        return torch.where(self.real, bags, n_bags).flatten()  # padding rows sort behind all bags

    def _by_bag(self, values: Tensor, instead: float) -> Tensor:
        real = self.real.reshape(self.real.shape + (1,) * (values.ndim - 1))
        return torch.where(real, values.reshape(*self.real.shape, *values.shape[1:]), instead)


def stop_gradient(values: Tensor) -> Tensor:
    """Return values without a gradient."""
    return values.detach()


def numbers(values: Sequence[float], like: Tensor) -> Tensor:
    """Return numbers as a tensor of the same kind as another."""
    return torch.tensor(list(values), dtype=like.dtype, device=like.device)


def least(values: Tensor) -> Tensor:
    """Return the minimum over the last axis; the values that reach it share the gradient evenly."""
    return values.amin(dim=-1)


def softmax(values: Tensor) -> Tensor:
    """Return exponentials that sum to one over the last axis."""
    return values.softmax(dim=-1)


def shares(log_values: Tensor) -> Tensor:
    """Return `softmax`; all zero where every value is ``-inf``."""
    some = ~log_values.isneginf().all(dim=-1, keepdim=True)
    return torch.where(some, softmax(torch.where(some, log_values, 0.0)), 0.0)


def log_softmax(values: Tensor) -> Tensor:
    """Return the logarithm of `softmax`."""
    return values.log_softmax(dim=-1)


def sigmoid(values: Tensor) -> Tensor:
    """Return ``1 / (1 + exp(-values))``."""
    return values.sigmoid()


def einsum(subscripts: str, a: Tensor, b: Tensor) -> Tensor:
    """Return the sum of products."""
    return torch.einsum(subscripts, a, b)


def sorted_within(owners: Tensor, values: Tensor) -> Tensor:
    """Return values (i, n) in ascending order within each owner (i, n), by ascending owners."""
    by_value, order = values.sort(dim=0)
    by_owner = owners.take_along_dim(order, dim=0).argsort(dim=0, stable=True)
    return by_value.take_along_dim(by_owner, dim=0)


def in_chunks(function: Callable[[Any, Any], Tensor], n_values: int, x: Tensor, known: Tensor | None) -> Tensor:
    """Call ``function``, which computes ``n_values`` numbers for each row, on so many rows at once as memory allows.

    For the gradient, each chunk is computed again.
    """
    if torch.compiler.is_compiling() or len(x) * n_values <= _GREATEST_ARRAY:
        return function(x, known)
    n_rows = max(_GREATEST_ARRAY // n_values, 1)
    pairs = zip(x.split(n_rows), [None] * len(x) if known is None else known.split(n_rows), strict=False)
    return torch.cat([checkpoint(function, *pair, use_reentrant=False) for pair in pairs])


# ---------------------------------------------------------------------- Layers 1 and 2 at once


def log_truth_of_gaussians(
    x: Tensor, known: Tensor | None, centers: Tensor, inverse: Tensor, squares: None = None
) -> Tensor:
    """Return the log-truths (i, r) of rules with Gaussian sets; see `engines.numpy`."""
    found: Tensor = _LogTruth.apply(x, known, centers, inverse)
    return found


class _LogTruth(torch.autograd.Function):
    """Value and gradient from the differences to each center, chunk by chunk.

    Products with powers of x would be a little faster, but lose the digits of centers that are far apart. The automatic
    gradient would keep several arrays (i, r, d).
    """

    @staticmethod
    def forward(x: Tensor, known: Tensor | None, centers: Tensor, inverse: Tensor) -> Tensor:
        if torch.compiler.is_compiling():  # the compiler needs no help to keep arrays (i, r, d) out of memory
            z = ((x[:, None, :] - centers) * inverse).square()
            return -0.5 * (z if known is None else known[:, None, :] * z).sum(dim=-1)
        n_rows = _rows_at_once(x, centers)
        found = x.new_empty(len(x), len(centers))
        room = x.new_empty(min(n_rows, len(x)), *centers.shape)  # new memory takes longer than the sums
        for first in range(0, len(x), n_rows):
            rows = slice(first, first + n_rows)
            some = x[rows, None, :]
            z = torch.sub(some, centers, out=room[: len(some)]).mul_(inverse).square_()
            if known is not None:
                z.mul_(known[rows, None, :])
            torch.sum(z, dim=-1, out=found[rows])
        return found.mul_(-0.5)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor | None, Tensor, Tensor], output: Tensor) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor | None, None, Tensor, Tensor]:
        x, known, centers, inverse = ctx.saved_tensors
        if torch.compiler.is_compiling():
            d_x, *d_rules = _slopes(g, x, known, centers, inverse, ctx.needs_input_grad[0])
            return d_x, None, *d_rules
        n_rows = _rows_at_once(x, centers)
        d_x, d_centers, d_inverse = [], torch.zeros_like(centers), torch.zeros_like(inverse)
        for first in range(0, max(len(x), 1), n_rows):
            rows = slice(first, first + n_rows)
            some = g[rows], x[rows], None if known is None else known[rows], centers, inverse, ctx.needs_input_grad[0]
            # A second derivative computes the chunks again, instead of keeping all of them.
            again = torch.is_grad_enabled() and n_rows < len(x)
            by_x, by_centers, by_inverse = checkpoint(_slopes, *some, use_reentrant=False) if again else _slopes(*some)
            d_x.append(by_x)
            d_centers, d_inverse = d_centers + by_centers, d_inverse + by_inverse
        return torch.cat(d_x) if ctx.needs_input_grad[0] else None, None, d_centers, d_inverse


def _rows_at_once(x: Tensor, centers: Tensor) -> int:
    limit = _CACHED if x.device.type == "cpu" else _GREATEST_ARRAY
    found: int = max(limit // max(centers.numel(), 1), 1)
    return found


def _slopes(
    g: Tensor, x: Tensor, known: Tensor | None, centers: Tensor, inverse: Tensor, with_x: bool
) -> tuple[Tensor | None, Tensor, Tensor]:
    """Return the gradients by x, centers and inverse widths of some rows, from the gradient (i, r) by the truths."""
    g = g[:, :, None]
    # Where a truth does not matter, no distance does: 0 times an infinite one would be NaN.
    away = torch.where(g == 0, 0.0, x[:, None, :] - centers)
    pull = g * away if known is None else g * known[:, None, :] * away
    precision = inverse.square()
    d_x = -(pull * precision).sum(dim=1) if with_x else None
    return d_x, precision * pull.sum(dim=0), -inverse * (pull * away).sum(dim=0)

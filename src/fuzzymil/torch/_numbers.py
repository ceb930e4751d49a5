"""The numbers of rules as parameters of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fuzzymil._utils.arrays import Array
from fuzzymil.inference.membership import MembershipFunction, family

Options = dict[str, Any]
"""Device and precision of tensors."""


class Numbers(nn.Module):
    """Numbers that training moves, except where they are fixed."""

    def __init__(self, values: Array, options: Options, trained: bool = True) -> None:
        super().__init__()
        start = torch.tensor(values, **options)
        if trained:
            self.value = nn.Parameter(start)
        else:
            self.register_buffer("value", start)
        # Fixed numbers are kept apart: an optimizer with weight decay moves parameters that have no gradient.
        self.register_buffer("fixed", torch.zeros_like(start, dtype=torch.bool))
        self.register_buffer("kept", start.clone())

    def forward(self) -> Tensor:
        """Return the numbers."""
        return torch.where(self.fixed, self.kept, self.value)

    def fix(self, places: Array) -> None:
        """Fix the numbers at some places, and no others, at their present values."""
        with torch.no_grad():
            self.kept.copy_(self.forward())
            self.value.copy_(self.kept)
            self.fixed.copy_(torch.tensor(places).expand_as(self.value))

    def exported(self, start: Array) -> Array:
        """Return the numbers in 64 bit; where they are those of ``start``, with all its digits."""
        now = self.forward().detach()
        same = now == torch.as_tensor(start).to(now)
        return np.where(same.cpu().numpy(), start, now.double().cpu().numpy())


class Terms(nn.Module):
    """The fuzzy sets of one family: the free parameters of each term, at the places of the conditions that use it."""

    def __init__(self, kind: str, sets: list[MembershipFunction], places: Array, options: Options) -> None:
        super().__init__()
        self.kind = kind
        self._sets = sets
        self._places = places  # -1: no condition
        self.numbers = nn.ModuleList([Numbers(values, options) for values in self._free()])
        self.register_buffer("places", torch.tensor(np.maximum(places, 0), device=options["device"]), persistent=False)
        self.register_buffer("mask", torch.tensor(places >= 0).to(**options), persistent=False)

    def _free(self) -> tuple[Array, ...]:
        parameters = np.array([each.parameters for each in self._sets]).T
        return tuple(np.asarray(values) for values in family(self.kind).to_free(*parameters))

    def forward(self) -> tuple[Tensor, ...]:
        """Return the parameters of the sets at their places, (rows, d) each."""
        parameters = family(self.kind).from_free(*(numbers() for numbers in self.numbers))
        return tuple(values[self.places] for values in parameters)

    def fix_places(self, places: Array) -> None:
        """Fix the terms of the conditions that an array (rows, d) of truth values marks, and no others."""
        own = self._places >= 0
        terms = np.zeros(len(self._sets), bool)
        terms[self._places[own]] = places[own]
        for numbers in self.numbers:
            numbers.fix(terms)

    def exported(self) -> tuple[Array, ...]:
        """Return the parameters at their places, in 64 bit; terms that did not move keep all digits."""
        free = self._free()
        now = [numbers.exported(start) for numbers, start in zip(self.numbers, free, strict=True)]
        same = np.all([one == start for one, start in zip(now, free, strict=True)], axis=0)
        before = np.array([each.parameters for each in self._sets]).T
        after = family(self.kind).from_free(*now)
        places = np.maximum(self._places, 0)
        return tuple(np.where(same, old, new)[places] for old, new in zip(before, after, strict=True))

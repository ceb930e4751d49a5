"""Standardisation of features, and rules carried between standardised and the user's units."""

from __future__ import annotations

import dataclasses

import numpy as np

from fuzzymil.arrays import Array
from fuzzymil.membership import FAMILIES
from fuzzymil.network import Params
from fuzzymil.rules import RuleBase

__all__ = ["Scaling"]


@dataclasses.dataclass(frozen=True)
class Scaling:
    """An axis of its own for each feature: ``(x - shift) / scale``."""

    shift: Array  # (d,)
    scale: Array  # (d,)
    ranges: Array  # (d, 2), least and greatest value seen
    varies: Array  # (d,), False for constant features, which can tell nothing
    limited: bool = False  # whether values outside the ranges count as their ends
    target_shift: Array = dataclasses.field(default_factory=lambda: np.zeros(1))  # (k,) or (1,)
    target_scale: Array = dataclasses.field(default_factory=lambda: np.ones(1))

    @classmethod
    def fit(cls, instances: Array, *, standardize: bool, clip: float | None) -> Scaling:
        """Measure the features; missing values are left out.

        With ``clip`` the ranges end so many standard deviations from the mean, and are limits.
        """
        known = ~np.isnan(instances)
        low = np.where(known, instances, np.inf).min(axis=0).astype(float)
        high = np.where(known, instances, -np.inf).max(axis=0).astype(float)
        seen = known.any(axis=0)
        low, high = np.where(seen, low, 0.0), np.where(seen, high, 0.0)
        varies = high > low  # a standard deviation of a constant may come out as 1e-17, not 0
        # Relative to the greatest value, so that squares neither overflow nor vanish.
        size = np.maximum(np.abs(low), np.abs(high))
        size = np.where(size > 0, size, 1.0)
        values = np.where(seen, instances / size, 0.0)
        mean, deviation = np.nanmean(values, axis=0) * size, np.nanstd(values, axis=0) * size
        deviation = np.where(varies & (deviation > 0), deviation, 1.0)
        if clip is not None:
            low, high = np.maximum(low, mean - clip * deviation), np.minimum(high, mean + clip * deviation)
        shift, scale = (mean, deviation) if standardize else (np.zeros(len(low)), np.ones(len(low)))
        return cls(shift, scale, np.column_stack([low, high]), varies, limited=clip is not None)

    def with_targets(self, shift: Array, scale: Array) -> Scaling:
        """Return the same axes for targets that are standardised too."""
        return dataclasses.replace(self, target_shift=shift, target_scale=scale)

    def limited_as(self, rules: RuleBase) -> Scaling:
        """Return the same axes, with values limited as these rules do it: to their variables' ranges or not at all."""
        if not rules.limited:
            return dataclasses.replace(self, limited=False)
        far = np.finfo(float).max
        ends = [[-far if v.low is None else v.low, far if v.high is None else v.high] for v in rules.variables]
        return dataclasses.replace(self, limited=True, ranges=np.array(ends))

    def apply(self, instances: Array) -> Array:
        """Return instances on the new axes."""
        if self.limited:
            instances = np.clip(instances, self.ranges[:, 0], self.ranges[:, 1])
        moved = np.asarray(instances - self.shift)
        moved /= self.scale  # in place: instances may fill the memory
        return moved

    def outward(self, params: Params) -> Params:
        """Carry parameters from the new axes to the user's."""
        return _carried(params, self.shift, self.scale, self.target_shift, self.target_scale)

    def inward(self, params: Params) -> Params:
        """Carry parameters from the user's axes to the new ones."""
        return _carried(
            params,
            -self.shift / self.scale,
            1.0 / self.scale,
            -self.target_shift / self.target_scale,
            1.0 / self.target_scale,
        )


def _carried(params: Params, shift: Array, scale: Array, target_shift: Array, target_scale: Array) -> Params:
    """Parameters of the same rules on the axes ``shift + scale * x``, for likewise moved targets."""
    sets = {name: tuple(FAMILIES[name].moved(shift, scale, *values)) for name, values in params.sets.items()}
    coefs = np.asarray(params.coefs, float)
    if coefs.shape[2] > 1:
        slopes = coefs[:, :, 1:] / scale
        constant = coefs[:, :, :1] - (slopes * shift).sum(axis=2, keepdims=True)
        coefs = np.concatenate([constant, slopes], axis=2)
    coefs = coefs * target_scale[:, None]
    coefs[:, :, 0] += target_shift
    # S_alpha weighs alpha * response: greater responses need a smaller alpha, each output its own.
    per_output = target_scale if len(np.unique(target_scale)) > 1 else target_scale[0]
    consequent_alpha = np.asarray(params.consequent_alpha, float) / per_output
    return params._replace(sets=sets, coefs=coefs, consequent_alpha=consequent_alpha)

"""Standardization of features, and rules carried between standardized and the user's units."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.membership import FAMILIES
from fuzzymil.network.layers import Params
from fuzzymil.rules import RuleBase

__all__ = ["Measures", "Scaling"]


_ROWS = 1 << 16  # measured at once: they are copied


class Measures(NamedTuple):
    """What was measured of each feature, (d,) each; missing values are left out, 0 where all are."""

    n_known: Array
    low: Array
    high: Array
    mean: Array
    deviation: Array

    @classmethod
    def of(cls, instances: Array) -> Measures:
        """Measure the features of instances, of many some rows at a time."""
        if len(instances) > _ROWS:
            return cls.joined([cls.of(instances[first : first + _ROWS]) for first in range(0, len(instances), _ROWS)])
        known = ~np.isnan(instances)
        low = np.where(known, instances, np.inf).min(axis=0).astype(float)
        high = np.where(known, instances, -np.inf).max(axis=0).astype(float)
        seen = known.any(axis=0)
        low, high = np.where(seen, low, 0.0), np.where(seen, high, 0.0)
        size = _size(low, high)
        values = np.where(seen, instances / size, 0.0)
        return cls(known.sum(axis=0), low, high, np.nanmean(values, axis=0) * size, np.nanstd(values, axis=0) * size)

    @classmethod
    def joined(cls, parts: Sequence[Measures]) -> Measures:
        """Return the measures of the instances of all parts.

        Examples
        --------
        >>> parts = [Measures.of(np.array([[1.0], [3.0]])), Measures.of(np.array([[8.0]]))]
        >>> whole = Measures.joined(parts)
        >>> whole.mean.round(6).tolist(), whole.low.tolist(), whole.high.tolist()
        ([4.0], [1.0], [8.0])
        """
        if len(parts) == 1:
            return parts[0]
        count, low, high, mean, deviation = (np.stack(values) for values in zip(*parts, strict=True))
        seen = count > 0
        everything = count.sum(axis=0)
        low = np.where(seen, low, np.inf).min(axis=0)
        high = np.where(seen, high, -np.inf).max(axis=0)
        low, high = np.where(everything > 0, low, 0.0), np.where(everything > 0, high, 0.0)
        size = _size(low, high)
        share = count / np.maximum(everything, 1)
        middle = (share * (mean / size)).sum(axis=0)
        spread = (share * (np.square(deviation / size) + np.square(mean / size - middle))).sum(axis=0)
        return cls(everything, low, high, middle * size, np.sqrt(spread) * size)


def _size(low: Array, high: Array) -> Array:
    """Return the greatest magnitude of each feature: relative to it, squares neither overflow nor vanish."""
    size = np.maximum(np.abs(low), np.abs(high))
    return np.where(size > 0, size, 1.0)


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
    def fit(cls, measures: Measures, *, standardize: bool, clip: float | None) -> Scaling:
        """Choose the axes of measured features.

        With ``clip`` the ranges end so many standard deviations from the mean, and are limits.
        """
        low, high, mean = measures.low, measures.high, measures.mean
        varies = high > low  # a standard deviation of a constant may come out as 1e-17, not 0
        deviation = np.where(varies & (measures.deviation > 0), measures.deviation, 1.0)
        if clip is not None:
            low, high = np.maximum(low, mean - clip * deviation), np.minimum(high, mean + clip * deviation)
        shift, scale = (mean, deviation) if standardize else (np.zeros(len(low)), np.ones(len(low)))
        return cls(shift, scale, np.column_stack([low, high]), varies, limited=clip is not None)

    def with_targets(self, shift: Array, scale: Array) -> Scaling:
        """Return the same axes for targets that are standardized too."""
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

    def apply_to_targets(self, targets: Array) -> Array:
        """Return targets on their new axes."""
        return np.asarray((targets - self.target_shift) / self.target_scale)

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

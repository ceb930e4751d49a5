"""Standardization of features, and conversion of rules between standardized and original units."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import InputError
from fuzzymil.bags import Bags
from fuzzymil.inference.layers import Params
from fuzzymil.inference.membership import family
from fuzzymil.rules import RuleBase

_ROWS = 1 << 16  # measured at once, because they are copied
_LEAST, _MOST = 1e-150, 1e150  # beyond, squares underflow or overflow


class Measures(NamedTuple):
    """Statistics of each feature, (d,) each, over the known values; 0 if all are missing."""

    n_known: Array
    low: Array
    high: Array
    mean: Array
    deviation: Array

    @classmethod
    def of(cls, instances: Array) -> Measures:
        """Measure the features of instances, some rows at a time."""
        if len(instances) > _ROWS:
            return cls.joined([cls.of(instances[first : first + _ROWS]) for first in range(0, len(instances), _ROWS)])
        known = ~np.isnan(instances)
        if known.all():  # the same without looking for missing values
            low, high = instances.min(axis=0).astype(float), instances.max(axis=0).astype(float)
            size = _size(low, high)
            values = instances / size
            mean = values.mean(axis=0)
            values -= mean
            deviation = np.sqrt(np.einsum("id,id->d", values, values) / len(values))  # np.std, without its copies
            return cls(known.sum(axis=0), low, high, mean * size, deviation * size)
        low = np.where(known, instances, np.inf).min(axis=0).astype(float)
        high = np.where(known, instances, -np.inf).max(axis=0).astype(float)
        seen = known.any(axis=0)
        low, high = np.where(seen, low, 0.0), np.where(seen, high, 0.0)
        size = _size(low, high)
        values = np.where(seen, instances / size, 0.0)
        return cls(known.sum(axis=0), low, high, np.nanmean(values, axis=0) * size, np.nanstd(values, axis=0) * size)

    @classmethod
    def of_bags(cls, bags: Bags) -> Measures:
        """Measure the features of bags to learn from; see `require_moderate`."""
        found = cls.of(bags.instances)
        found.require_moderate(bags.names)
        return found

    @classmethod
    def joined(cls, parts: Sequence[Measures]) -> Measures:
        """Combine the measures of several parts."""
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

    def require_moderate(self, names: Sequence[str]) -> None:
        """Raise `InputError` if a feature varies so little or so much that its squares are no numbers."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        small = (self.high > self.low) & (self.deviation < _LEAST) & (size < 1)
        for what, bad in (("small", small), ("large", size > _MOST)):
            if bad.any():
                d = int(np.argmax(bad))
                raise InputError(
                    f"Feature {names[d]!r} is too {what} to compute with (its values run from {self.low[d]:.3g} to "
                    f"{self.high[d]:.3g}): use another unit, for example divide it by {size[d]:.0e}."
                )


def _size(low: Array, high: Array) -> Array:
    """Return the largest magnitude of each feature: relative to it, squares neither overflow nor underflow."""
    size = np.maximum(np.abs(low), np.abs(high))
    return np.where(size > 0, size, 1.0)


@dataclasses.dataclass(frozen=True)
class Scaling:
    """A linear transformation of each feature, ``(x - shift) / scale``, and of the targets."""

    shift: Array  # (d,)
    scale: Array  # (d,)
    ranges: Array  # (d, 2), smallest and largest value seen
    varies: Array  # (d,), False for constant features, which carry no information
    limited: bool = False  # whether values are clipped to the ranges
    target_shift: Array = dataclasses.field(default_factory=lambda: np.zeros(1))  # (k,) or (1,)
    target_scale: Array = dataclasses.field(default_factory=lambda: np.ones(1))

    @classmethod
    def fit(cls, measures: Measures, *, standardize: bool, clip: float | None) -> Scaling:
        """Choose the scaling of measured features.

        With ``clip``, values are limited to that many standard deviations from the mean.
        """
        low, high, mean = measures.low, measures.high, measures.mean
        varies = high > low  # the standard deviation of a constant may come out as 1e-17, not 0
        deviation = np.where(varies & (measures.deviation > 0), measures.deviation, 1.0)
        if clip is not None:
            low, high = np.maximum(low, mean - clip * deviation), np.minimum(high, mean + clip * deviation)
        shift, scale = (mean, deviation) if standardize else (np.zeros(len(low)), np.ones(len(low)))
        ranges = np.column_stack([low, high])
        return cls(shift=shift, scale=scale, ranges=ranges, varies=varies, limited=clip is not None)

    def with_targets(self, shift: Array, scale: Array) -> Scaling:
        """Return the same scaling with standardized targets."""
        return dataclasses.replace(self, target_shift=shift, target_scale=scale)

    def plain(self) -> Scaling:
        """Return the scaling that leaves features and targets as they are, with the same ranges."""
        zero, one = np.zeros(len(self.shift)), np.ones(len(self.scale))
        return dataclasses.replace(self, shift=zero, scale=one, target_shift=np.zeros(1), target_scale=np.ones(1))

    def limited_as(self, rules: RuleBase) -> Scaling:
        """Return the same scaling, with values clipped as by these rules: to the variables' ranges, or not at all."""
        if not rules.limited:
            return dataclasses.replace(self, limited=False)
        far = np.finfo(float).max
        ends = [[-far if v.low is None else v.low, far if v.high is None else v.high] for v in rules.variables]
        return dataclasses.replace(self, limited=True, ranges=np.array(ends))

    def apply(self, instances: Array) -> Array:
        """Transform instances."""
        # In place, because instances may fill the memory.
        if self.limited:
            moved = np.asarray(np.maximum(instances, self.ranges[:, 0]))
            np.minimum(moved, self.ranges[:, 1], out=moved)
            moved -= self.shift
        else:
            moved = np.asarray(instances - self.shift)
        moved /= self.scale
        return moved

    def apply_to_targets(self, targets: Array) -> Array:
        """Transform targets."""
        return np.asarray((targets - self.target_shift) / self.target_scale)

    def to_original_units(self, params: Params, *, additive: bool = False) -> Params:
        """Convert parameters from standardized to original units.

        The targets are shifted by the default of ``additive`` rules, otherwise by the conclusions, whose weights sum
        to one.
        """
        return _converted(params, self.shift, self.scale, self.target_shift, self.target_scale, additive)

    def to_standard_units(self, params: Params, *, additive: bool = False) -> Params:
        """Convert parameters from original to standardized units; see `to_original_units`."""
        return _converted(
            params,
            -self.shift / self.scale,
            1.0 / self.scale,
            -self.target_shift / self.target_scale,
            1.0 / self.target_scale,
            additive,
        )


def _converted(
    params: Params, shift: Array, scale: Array, target_shift: Array, target_scale: Array, additive: bool
) -> Params:
    """Return the parameters of the same rules on the axes ``shift + scale * x``, with targets transformed likewise."""
    sets = {name: tuple(family(name).moved(shift, scale, *values)) for name, values in params.sets.items()}
    coefs = np.asarray(params.coefs, float)
    if coefs.shape[2] > 1:
        slopes = coefs[:, :, 1:] / scale
        constant = coefs[:, :, :1] - (slopes * shift).sum(axis=2, keepdims=True)
        coefs = np.concatenate([constant, slopes], axis=2)
    coefs = coefs * target_scale[:, None]
    if not additive:
        coefs[:, :, 0] += target_shift
    # An offset of 0 and a factor of 1 change nothing: the default of a classifier keeps its last bit.
    default = np.asarray(params.default, float) * target_scale + target_shift
    # S_alpha weights alpha * response: larger responses need a smaller alpha, one per output.
    per_output = target_scale if len(np.unique(target_scale)) > 1 else target_scale[0]
    conclusion_alpha = np.asarray(params.conclusion_alpha, float) / per_output
    values = params.missing_values
    values = None if values is None else shift + scale * np.asarray(values, float)
    return params._replace(
        sets=sets, coefs=coefs, conclusion_alpha=conclusion_alpha, default=default, missing_values=values
    )

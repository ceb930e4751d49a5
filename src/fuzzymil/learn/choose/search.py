"""Forward search: which few of many candidate columns, added up, explain targets.

The search adds the column that improves the fit most, given all those it already has, and refits them together. With a
ridge on their standardized coefficients, the sum stays moderate where columns outnumber bags. One path of columns
serves several strengths of the ridge: the columns are refitted for each.

Axes: b bags, p candidate columns, c chosen columns, k outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from fuzzymil._utils.arrays import Array

_PATH_RIDGE = 0.1  # with which columns are chosen: between those that they are refitted with
_LEAST_SPREAD = 0.05  # a column that varies less is not blown up: one bag would decide on its coefficient
_CONSTANT = 1e-3  # standard deviation up to which a column says nothing
_LOOKED_AT = 100  # columns whose gain is computed exactly in each step
_ONE_BY_ONE = 50  # columns that are added one at a time; from there on
_AT_ONCE = 10  # so many, which are not
_EXCHANGED = 5  # columns up to which each is compared again with all others: an early one may be half of what two say
_ALIKE = 0.9  # correlated
_RELEVANT = 0.1  # share of a column's greatest gain that an output must have to get a coefficient
_LEAST_CURVATURE = 1e-5
_CONVERGED = 1e-6  # relative
_STEPS, _HALVINGS = 12, 20  # of Newton's method


class Solution(NamedTuple):
    """Columns that are added up: ``default + columns[:, places] @ coefs``.

    ``places`` (c,), ``coefs`` (c, k): 0 where a column does not contribute to an output; ``default`` (k,).
    """

    places: Array
    coefs: Array
    default: Array

    def output(self, columns: Array) -> Array:
        """Return the output (b, k), given all columns (b, p)."""
        return np.asarray(self.default + columns[:, self.places] @ self.coefs)


def costs(output: Array, targets: Array, *, logistic: bool) -> Array:
    """Return the cost of each output (b, k): cross-entropy given the logits, or half the squared error."""
    if logistic:
        return np.asarray(np.logaddexp(0.0, output) - targets * output)
    return np.asarray(0.5 * np.square(output - targets))


def residuals(output: Array, targets: Array, *, logistic: bool) -> Array:
    """Return the negative derivative of the cost with respect to the output."""
    return np.asarray(targets - (expit(output) if logistic else output))


def constant(targets: Array, weights: Array, *, logistic: bool) -> Array:
    """Return the best outputs (k,) that are the same for all bags: of several classes, under a softmax."""
    mean = weights @ targets / weights.sum()
    if not logistic:
        return np.asarray(mean)
    mean = np.clip(mean, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(mean) if len(mean) > 1 else logit(mean))


def search(
    columns: Array,
    favor: Array,
    targets: Array,
    weights: Array,
    *,
    sizes: Sequence[int],
    ridges: Sequence[float],
    logistic: bool,
    signs: Array | None = None,
) -> dict[tuple[int, float], Solution]:
    """Return the best sums of columns by their number and the ridge with which they were fitted.

    Where the columns are used up, fewer are used. Size 0 is the best constant, under every ridge.

    Parameters
    ----------
    columns : array of shape (b, p)
    favor : array of shape (p,)
        Factors of the gain: columns that say something simpler are preferred.
    targets : array of shape (b, k)
        0 or 1 if ``logistic``.
    weights : array of shape (b,)
    sizes : sequence of int
        Ascending.
    ridges : sequence of float
        Half of a ridge times the sum of squared standardized coefficients is added to the mean cost.
    logistic : bool
        Whether the cost is the cross-entropy of each output; otherwise, half its squared error.
    signs : array of shape (p,), optional
        1 for columns whose coefficients must not be negative, -1 for not positive, 0 for any.
    """
    state = _State(columns, favor, targets, weights, logistic, signs)
    nothing = Solution(np.empty(0, int), np.empty((0, targets.shape[1])), state.start)
    found = {(0, ridge): nothing for ridge in ridges}
    for size in sizes:
        while len(state.chosen) < size and state.add(size):
            pass
        if size <= _EXCHANGED:
            state.exchange()
        chosen = list(state.chosen)
        points = None
        for ridge in sorted(ridges, reverse=True):
            points = state.fit(chosen, ridge, points)
            found[size, ridge] = state.solution(chosen, points)
    return found


class _State:
    """The columns chosen so far."""

    def __init__(
        self, columns: Array, favor: Array, targets: Array, weights: Array, logistic: bool, signs: Array | None
    ) -> None:
        self.share, self.targets, self.logistic = weights / weights.sum(), targets, logistic
        share = self.share.astype(np.float32)
        mean = share @ columns
        spread = np.sqrt(
            share @ np.square(columns - mean)
        )  # in single precision, a difference of squares would be noise
        self.places = np.flatnonzero(spread > _CONSTANT)
        self.mean, self.spread = mean[self.places].astype(float), np.maximum(spread[self.places], _LEAST_SPREAD)
        self.favor, self.signs = favor[self.places], None if signs is None else signs[self.places]
        self.z = np.ascontiguousarray(columns[:, self.places].T, np.float32)  # (p, b)
        self.z -= mean[self.places, None]
        self.z /= self.spread[:, None]
        self.start = constant(targets, weights, logistic=logistic)
        self.active = np.zeros((0, targets.shape[1]), bool)  # (c, k)
        self.chosen: list[int] = []
        self.free = np.ones(len(self.places), bool)
        self.points = self.fit([], _PATH_RIDGE)
        self.curves: Array | None = None  # (k, p), of the cost along each column
        self.renewed = 0  # when there were so many columns

    def fit(self, chosen: list[int], ridge: float, start: list[Array] | None = None) -> list[Array]:
        """Return the level and coefficients of each output for some columns, given those to start from."""
        found = []
        for k, target in enumerate(self.targets.T):
            own = [place for place, active in zip(chosen, self.active[: len(chosen), k], strict=True) if active]
            design = np.vstack([np.ones(len(target)), self.z[own]])
            point = np.zeros(len(design))
            point[0] = self.start[k]
            if start is not None:
                point[: len(start[k])] = start[k]
            found.append(_newton(design, target, self.share, ridge, point, logistic=self.logistic))
        return found

    def outputs(self) -> Array:
        """Return the outputs (b, k) of the columns chosen so far."""
        found = np.empty(self.targets.shape)
        for k, point in enumerate(self.points):
            found[:, k] = point[0] + point[1:] @ self.z[self._own(k)]
        return found

    def _own(self, k: int) -> list[int]:
        return [place for place, active in zip(self.chosen, self.active[:, k], strict=True) if active]

    def add(self, most: int) -> bool:
        """Add the best column, or after many the best few, and refit all; return whether there was one."""
        count = 1 if len(self.chosen) < _ONE_BY_ONE else min(_AT_ONCE, most - len(self.chosen))
        output = self.outputs()
        left = residuals(output, self.targets, logistic=self.logistic)
        curvature = np.ones_like(left)
        if self.logistic:
            curvature = np.maximum((self.targets - left) * (1 - self.targets + left), _LEAST_CURVATURE)
        pulls = (self.share[:, None] * left).T  # (k, b)
        bends = (self.share[:, None] * curvature).T
        slopes = pulls.astype(np.float32) @ self.z.T  # (k, p)
        if self.curves is None or len(self.chosen) >= 1.5 * self.renewed + 1:
            self.curves, self.renewed = self._curves(bends), len(self.chosen)
        rough = np.square(slopes) / (self.curves + _PATH_RIDGE)
        rough[:, ~self.free] = 0.0
        if self.signs is not None:
            rough[(self.signs != 0) & (np.sign(slopes) != self.signs)] = 0.0
        order = rough.sum(axis=0) * self.favor
        few = np.argpartition(-order, min(_LOOKED_AT, len(order) - 1))[:_LOOKED_AT] if len(order) else np.empty(0, int)
        few = few[order[few] > 0]
        if not len(few):
            return False
        gains = np.where(rough[:, few] > 0, self._exact(few, slopes[:, few], bends), 0.0)
        merit = gains.sum(axis=0) * self.favor[few]
        new: list[int] = []
        for n in np.argsort(-merit, kind="stable"):
            place = int(few[n])
            if any(abs(float(self.share @ (self.z[place] * self.z[other]))) > _ALIKE for other in new):
                continue
            new.append(place)
            self.active = np.vstack([self.active, gains[:, n] >= _RELEVANT * gains[:, n].max()])
            if len(new) == count:
                break
        self.free[new] = False
        self.chosen += new
        self.points = self.fit(self.chosen, _PATH_RIDGE, self.points)
        self._drop_wrong_signs()
        return True

    def exchange(self) -> None:
        """Take out one column after the other, and add the best one, given the rest, instead."""
        for place in self.chosen[:-1]:
            kept = [n for n, other in enumerate(self.chosen) if other != place]
            self.active, self.chosen = self.active[kept], [self.chosen[n] for n in kept]
            self.free[place] = True
            self.points = self.fit(self.chosen, _PATH_RIDGE)
            self.curves = None
            self.add(len(self.chosen) + 1)

    def _drop_wrong_signs(self) -> None:
        """Leave out columns that have lost the sign they must have, now that others are there."""
        while self.signs is not None:
            wrong = []
            for k, point in enumerate(self.points):
                own = self._own(k)
                wrong += [place for place, value in zip(own, point[1:], strict=True) if value * self.signs[place] < 0]
            if not wrong:
                return
            kept = [n for n, place in enumerate(self.chosen) if place not in wrong]
            self.active, self.chosen = self.active[kept], [self.chosen[n] for n in kept]
            self.points = self.fit(self.chosen, _PATH_RIDGE)

    def _curves(self, bends: Array) -> Array:
        """Return the curvature (k, p) of the cost along each column, once the levels have adapted."""
        few = bends.astype(np.float32)
        found = np.empty((len(few), len(self.z)), np.float32)
        step = max((1 << 22) // max(self.z.shape[1], 1), 1)
        for first in range(0, len(self.z), step):
            part = self.z[first : first + step]
            found[:, first : first + step] = few @ np.square(part).T - np.square(few @ part.T) / few.sum(
                axis=1, keepdims=True
            )
        return np.maximum(found, 0.0)

    def _exact(self, few: Array, slopes: Array, bends: Array) -> Array:
        """Return by how much each of a few columns reduces the cost of each output (k, n) if all chosen ones adapt."""
        found = np.empty((len(bends), len(few)))
        columns = self.z[few].astype(float)
        for k, bend in enumerate(bends):
            design = np.vstack([np.ones(len(bend)), self.z[self._own(k)]])
            weighted = design * bend
            hessian = weighted @ design.T
            hessian[np.diag_indices(len(hessian))] += np.r_[0.0, np.full(len(hessian) - 1, _PATH_RIDGE)]
            cross = weighted @ columns.T
            curve = np.square(columns) @ bend - (cross * np.linalg.solve(hessian, cross)).sum(axis=0)
            found[k] = np.square(slopes[k]) / (np.maximum(curve, 0.0) + _PATH_RIDGE)
        return found

    def solution(self, chosen: list[int], points: list[Array]) -> Solution:
        """Return the sum in terms of the columns as they were given."""
        coefs = np.zeros((len(chosen), len(points)))
        default = np.empty(len(points))
        for k, point in enumerate(points):
            coefs[self.active[: len(chosen), k], k] = point[1:]
            default[k] = point[0]
        coefs /= self.spread[chosen, None]
        return Solution(self.places[chosen], coefs, default - self.mean[chosen] @ coefs)


def _newton(design: Array, target: Array, share: Array, ridge: float, point: Array, *, logistic: bool) -> Array:
    """Return the coefficients of the rows of a design (c, b) that minimize the mean cost plus the ridge.

    The first row is all ones and has no ridge. ``point``: where to start.
    """
    penalty = np.full(len(design), ridge)
    penalty[0] = 0.0

    def cost(at: Array) -> float:
        value = share @ costs(at @ design, target, logistic=logistic)
        return float(value + 0.5 * (penalty * at) @ at)

    before = cost(point)
    for _ in range(_STEPS):
        output = point @ design
        left = residuals(output, target, logistic=logistic)
        bend = share.copy()
        if logistic:
            likely = target - left
            bend *= np.maximum(likely * (1 - likely), _LEAST_CURVATURE)
        hessian = (design * bend) @ design.T
        hessian[np.diag_indices(len(hessian))] += penalty
        step = np.linalg.solve(hessian, design @ (share * left) - penalty * point)
        size = 1.0
        for _ in range(_HALVINGS):
            after = cost(point + size * step)
            if after <= before + 1e-12 * abs(before):
                break
            size /= 2
        else:
            break
        point = point + size * step
        done = before - after <= _CONVERGED * abs(before)
        before = after
        if done:
            break
    return point

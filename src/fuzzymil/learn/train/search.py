"""A greedy search for short rules: a few conditions around an instance where bags of one class concentrate.

Training moves and widens sets, but rarely finds the two features of fifty that matter, because each rule starts with
conditions on all of them. So short rules are searched for before training. The truth of a rule with conditions on
features p and q around an instance is ``mu_p * mu_q`` (the product); the covariance of its mean truth over a bag with
the labels, for all pairs of features at once, is a matrix product. The best pair is extended by one feature at a time
while the score improves; then the part of the labels that the rules explain so far is subtracted (by least squares),
and the search continues with the residual. It ends when the best rule scores no better than the best one for shuffled
labels. The last rule has no condition: it covers all other bags.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array

_WIDTHS = (0.35, 0.7, 1.4)  # candidate widths of the sets, in standard deviations of the feature
_N_CENTERS = 60  # instances tried as the center of each rule
_N_SHUFFLES = 19  # a rule must beat the best of this many searches on shuffled labels (p < 0.05)
_N_FEATURES = 64  # features with the best scores of their own, from which pairs are formed
_MAX_INSTANCES = 4000  # larger data is subsampled within bags


class ShortRules(NamedTuple):
    """Rules with few conditions; the last one has none."""

    centers: Array  # (r, d)
    widths: Array  # (r, d)
    used: Array  # (r, d), whether the rule has a condition on the feature


class _Found(NamedTuple):
    score: float
    features: list[int]
    width: float
    truth: Array  # (i,)


class _Data(NamedTuple):
    x: Array  # (i, d) in standard deviations, NaN where unknown
    owner: Array  # (i,) bag of each instance
    share: Array  # (i,) one over the size of its bag


def short_rules(
    x: Array,
    offsets: Array,
    targets: Array,
    weights: Array,
    *,
    n_rules: int,
    max_conditions: int,
    rng: np.random.RandomState,
    exactly: bool = False,
) -> ShortRules:
    """Find rules with at most ``max_conditions`` conditions.

    Parameters
    ----------
    x : array of shape (n_instances, n_features)
        Missing values are NaN.
    offsets : array of shape (n_bags + 1,)
    targets : array of shape (n_bags, n_outputs)
    weights : array of shape (n_bags,)
    n_rules : int
        Maximum number of rules, including the one without a condition.
    max_conditions : int
    rng : RandomState
    exactly : bool
        Return exactly ``n_rules`` rules, even if the last ones are no better than chance.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> x = rng.uniform(size=(400, 5))                              # bags of two instances
    >>> near = np.abs(x[:, [1, 3]] - 0.5).max(axis=1) < 0.2
    >>> labels = near.reshape(-1, 2).any(axis=1)[:, None].astype(float)
    >>> found = short_rules(x, np.arange(0, 401, 2), labels, np.ones(200), n_rules=4, max_conditions=2, rng=rng)
    >>> np.flatnonzero(found.used[0])
    array([1, 3])
    """
    scale = _deviation(x)
    data = _thinned(x / scale, offsets, rng)
    # A feature that is constant or always missing carries no information.
    varies = np.fmax.reduce(data.x, axis=0) > np.fmin.reduce(data.x, axis=0)
    columns: list[Array] = [np.ones(len(targets))]
    found: list[tuple[Array, _Found]] = []
    root = np.sqrt(weights)[:, None]
    while len(found) < n_rules - 1:
        joint = np.stack(columns, axis=1)
        solution = np.linalg.lstsq(root * joint, root * targets, rcond=None)[0]
        rest = weights[:, None] * (targets - joint @ solution)
        center, best = _best_rule(data, rest, varies, max_conditions, rng, test=not exactly and len(found) > 0)
        if best is None:
            break
        found.append((center, best))
        columns.append(np.bincount(data.owner, best.truth * data.share, minlength=len(targets)))
    centers = np.stack([center for center, _ in found] + [np.zeros(x.shape[1])])
    used = np.zeros(centers.shape, bool)
    for rule, (_, one) in enumerate(found):
        used[rule, one.features] = True
    width = np.array([one.width for _, one in found] + [1.0])[:, None]
    return ShortRules(np.where(np.isnan(centers), 0.0, centers) * scale, width * scale, used)


def _deviation(x: Array) -> Array:
    """Return the standard deviation of each feature over the known values, or 1 if it is 0 or undefined."""
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, x, 0.0).sum(axis=0) / count
    deviation = np.sqrt(np.where(known, np.square(x - mean), 0.0).sum(axis=0) / count)
    return np.where(deviation > 0, deviation, 1.0)


def _thinned(x: Array, offsets: Array, rng: np.random.RandomState) -> _Data:
    """Subsample the instances of large bags, so that all bags together stay within the limit."""
    sizes = np.diff(offsets)
    most = int(sizes.max())
    while np.minimum(sizes, most).sum() > _MAX_INSTANCES and most > 1:
        most = most * 3 // 4
    rows = [
        start + (np.arange(size) if size <= most else np.sort(rng.permutation(size)[:most]))
        for start, size in zip(offsets[:-1], sizes, strict=True)
    ]
    kept = np.minimum(sizes, most)
    owner = np.repeat(np.arange(len(sizes)), kept)
    return _Data(x[np.concatenate(rows)].astype(np.float32), owner, (1.0 / kept)[owner])


def _best_rule(
    data: _Data, rest: Array, varies: Array, max_conditions: int, rng: np.random.RandomState, *, test: bool
) -> tuple[Array, _Found | None]:
    """Return center and conditions of the rule that best fits the residual (b, k) of the targets."""
    shuffled = [rest] + [rest[rng.permutation(len(rest))] for _ in range(_N_SHUFFLES if test else 0)]
    residuals = [(each[data.owner] * data.share[:, None]).astype(np.float32) for each in shuffled]
    centers = rng.permutation(len(data.x))[:_N_CENTERS]
    best: list[tuple[Array, _Found | None]] = [(data.x[0], None)] * len(shuffled)
    for center in data.x[np.sort(centers)]:
        for width in _WIDTHS:
            with np.errstate(under="ignore"):
                mu = np.exp(-0.5 * np.square((data.x - center) / width))
            mu = np.where(np.isnan(mu), 1.0, mu).astype(np.float32) * varies
            for place, residual in enumerate(residuals):
                one = _conjunction(mu, residual, max_conditions, width)
                leader = best[place][1]
                if leader is None or one.score > leader.score:
                    best[place] = center, one
    center, winner = best[0]
    chance = max((one.score for _, one in best[1:] if one is not None), default=0.0)
    return center, None if winner is None or (test and winner.score <= chance) else winner


def _conjunction(mu: Array, residual: Array, max_conditions: int, width: float) -> _Found:
    """Return the best conjunction of features, given memberships (i, d) and the residuals (i, k) of instances."""
    alone = _scores(mu, residual)
    if max_conditions == 1:
        first = int(alone.argmax())
        return _Found(float(alone[first]), [first], width, mu[:, first])
    near = np.sort(np.argsort(-alone, kind="stable")[:_N_FEATURES])
    pairs = _pair_scores(mu[:, near], residual)
    p, q = np.unravel_index(int(pairs.argmax()), pairs.shape)
    features, score = [int(near[p]), int(near[q])], float(pairs[p, q])
    if features[0] == features[1]:  # a single feature is best
        features = features[:1]
    truth = mu[:, features].prod(axis=1)
    while len(features) < max_conditions:
        longer = _scores(mu * truth[:, None], residual)
        longer[features] = 0.0
        new = int(longer.argmax())
        if longer[new] <= score:
            break
        features.append(new)
        score = float(longer[new])
        truth = truth * mu[:, new]
    return _Found(score, features, width, truth)


def _scores(truth: Array, residual: Array) -> Array:
    """Return the residual that each column (i, d) collects, in standard deviations under random signs."""
    collected = residual.T @ truth
    noise = np.square(residual).T @ np.square(truth)
    return _ratio(np.square(collected).sum(axis=0), noise.sum(axis=0))


def _pair_scores(mu: Array, residual: Array) -> Array:
    """Return the scores (d, d) of all products of two columns; the diagonal holds those of single columns."""
    collected = np.zeros((mu.shape[1],) * 2)
    noise = np.zeros_like(collected)
    squared = np.square(mu)
    for own in residual.T:
        collected += np.square(mu.T @ (own[:, None] * mu))
        noise += squared.T @ (np.square(own)[:, None] * squared)
    scores = _ratio(collected, noise)
    np.fill_diagonal(scores, _scores(mu, residual))
    return scores


def _ratio(squares: Array, noise: Array) -> Array:
    return np.sqrt(np.divide(squares, noise, out=np.zeros(squares.shape), where=noise > 0))

"""Short rules found one after another: a few conditions around an instance, where bags of one kind gather.

Training moves and widens sets, but can hardly find the two features of fifty that matter: among many, each
rule looks at all of them and sees none. So short rules are searched for before training. A rule that asks
about features p and q around an instance is true to the degree ``mu_p * mu_q`` (the product); how its mean
truth over a bag goes with the labels, for all pairs at once, is a matrix product. The best pair is
extended feature by feature while that helps; then the labels' part that the rules found so far explain is
taken away (by least squares) and the search goes on with the rest. It ends when the best rule is no better
than the best one for shuffled labels. The last rule has no condition: it speaks for all other bags.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fuzzymil._utils.arrays import Array

__all__ = ["ShortRules", "short_rules"]

_WIDTHS = (0.35, 0.7, 1.4)  # tried for the sets, in standard deviations of the feature
_N_CENTERS = 60  # instances tried as centers for each rule
_N_SHUFFLES = 19  # a rule must beat the best of so many searches on shuffled labels: a chance of 1 in 20
_N_FEATURES = 64  # those that say most on their own make the pairs; of fewer, all
_MAX_INSTANCES = 4000  # greater data is thinned out bag by bag


class ShortRules(NamedTuple):
    """Rules with few conditions, the last one with none."""

    centers: Array  # (r, d)
    widths: Array  # (r, d)
    used: Array  # (r, d), whether the rule asks about the feature


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
    max_terms: int,
    rng: np.random.RandomState,
    exactly: bool = False,
) -> ShortRules:
    """Find rules of at most ``max_terms`` conditions.

    Parameters
    ----------
    x : array of shape (n_instances, n_features)
        NaN where a value is missing.
    offsets : array of shape (n_bags + 1,)
    targets : array of shape (n_bags, n_outputs)
    weights : array of shape (n_bags,)
    n_rules : int
        At most, with the one that has no condition.
    max_terms : int
    rng : RandomState
    exactly : bool
        Go on to ``n_rules`` even if no more is to be found.

    Examples
    --------
    >>> rng = np.random.RandomState(0)
    >>> x = rng.uniform(size=(400, 5))                              # bags of two instances
    >>> near = np.abs(x[:, [1, 3]] - 0.5).max(axis=1) < 0.2
    >>> labels = near.reshape(-1, 2).any(axis=1)[:, None].astype(float)
    >>> found = short_rules(x, np.arange(0, 401, 2), labels, np.ones(200), n_rules=4, max_terms=2, rng=rng)
    >>> np.flatnonzero(found.used[0])
    array([1, 3])
    """
    scale = _deviation(x)
    data = _thinned(x / scale, offsets, rng)
    # A feature that is constant, or never known, can tell nothing.
    varies = np.fmax.reduce(data.x, axis=0) > np.fmin.reduce(data.x, axis=0)
    columns: list[Array] = [np.ones(len(targets))]
    found: list[tuple[Array, _Found]] = []
    root = np.sqrt(weights)[:, None]
    while len(found) < n_rules - 1:
        joint = np.stack(columns, axis=1)
        solution = np.linalg.lstsq(root * joint, root * targets, rcond=None)[0]
        rest = weights[:, None] * (targets - joint @ solution)
        center, best = _best_rule(data, rest, varies, max_terms, rng, test=not exactly and len(found) > 0)
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
    """Return the standard deviation of each feature over the known values; 1 where there is none."""
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, x, 0.0).sum(axis=0) / count
    deviation = np.sqrt(np.where(known, np.square(x - mean), 0.0).sum(axis=0) / count)
    return np.where(deviation > 0, deviation, 1.0)


def _thinned(x: Array, offsets: Array, rng: np.random.RandomState) -> _Data:
    """Keep at most so many instances of each bag that all of them stay within the limit."""
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
    data: _Data, rest: Array, varies: Array, max_terms: int, rng: np.random.RandomState, *, test: bool
) -> tuple[Array, _Found | None]:
    """Return center and conditions of the rule that goes best with the rest (b, k) of the targets."""
    rests = [rest] + [rest[rng.permutation(len(rest))] for _ in range(_N_SHUFFLES if test else 0)]
    charges = [(each[data.owner] * data.share[:, None]).astype(np.float32) for each in rests]
    centers = rng.permutation(len(data.x))[:_N_CENTERS]
    best: list[tuple[Array, _Found | None]] = [(data.x[0], None)] * len(rests)
    for center in data.x[np.sort(centers)]:
        for width in _WIDTHS:
            with np.errstate(under="ignore"):
                mu = np.exp(-0.5 * np.square((data.x - center) / width))
            mu = np.where(np.isnan(mu), 1.0, mu).astype(np.float32) * varies
            for place, charge in enumerate(charges):
                one = _conjunction(mu, charge, max_terms, width)
                leader = best[place][1]
                if leader is None or one.score > leader.score:
                    best[place] = center, one
    center, winner = best[0]
    chance = max((one.score for _, one in best[1:] if one is not None), default=0.0)
    return center, None if winner is None or (test and winner.score <= chance) else winner


def _conjunction(mu: Array, charge: Array, max_terms: int, width: float) -> _Found:
    """Return the best conjunction of features with memberships (i, d) for charges (i, k)."""
    alone = _scores(mu, charge)
    if max_terms == 1:
        first = int(alone.argmax())
        return _Found(float(alone[first]), [first], width, mu[:, first])
    near = np.sort(np.argsort(-alone, kind="stable")[:_N_FEATURES])
    pairs = _pair_scores(mu[:, near], charge)
    p, q = np.unravel_index(int(pairs.argmax()), pairs.shape)
    features, score = [int(near[p]), int(near[q])], float(pairs[p, q])
    if features[0] == features[1]:  # one feature says it all
        features = features[:1]
    truth = mu[:, features].prod(axis=1)
    while len(features) < max_terms:
        longer = _scores(mu * truth[:, None], charge)
        longer[features] = 0.0
        new = int(longer.argmax())
        if longer[new] <= score:
            break
        features.append(new)
        score = float(longer[new])
        truth = truth * mu[:, new]
    return _Found(score, features, width, truth)


def _scores(truth: Array, charge: Array) -> Array:
    """Charge that each column (i, d) gathers, over the deviation it would have if signs were drawn by lot."""
    gathered = charge.T @ truth
    noise = np.square(charge).T @ np.square(truth)
    return _ratio(np.square(gathered).sum(axis=0), noise.sum(axis=0))


def _pair_scores(mu: Array, charge: Array) -> Array:
    """Scores (d, d) of all products of two columns; on the diagonal, of a column alone."""
    gathered = np.zeros((mu.shape[1],) * 2)
    noise = np.zeros_like(gathered)
    squared = np.square(mu)
    for own in charge.T:
        gathered += np.square(mu.T @ (own[:, None] * mu))
        noise += squared.T @ (np.square(own)[:, None] * squared)
    scores = _ratio(gathered, noise)
    np.fill_diagonal(scores, _scores(mu, charge))
    return scores


def _ratio(squares: Array, noise: Array) -> Array:
    return np.sqrt(np.divide(squares, noise, out=np.zeros(squares.shape), where=noise > 0))

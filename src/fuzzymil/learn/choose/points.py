"""From the conclusions of additive rules to whole points, as on an index card.

The points of a rule are a small integer, and one number, the unit, says how many logits a point is worth. A card
imitates the probabilities of the rules that it replaces, not the labels: these rules were held back by penalties and
held-out bags, and a fit to the labels would forget that. The best card with at most 1, 2, ... points for a rule is
searched: conclusions are rounded at several scales, and points are then changed one or two at a time while that helps.
Of cards that imitate the rules about equally well, the one with the smallest points is taken.

Near the conclusions ``c`` the cost is quadratic with Hessian ``H``, once the default has adapted. With the unit that
suits them best, points ``p`` save ``(p'Hc)^2 / (2 p'Hp)``: this search needs no look at the bags. The cross-entropy
itself, with unit and default fitted to each card, decides between the cards and takes the last steps.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from fuzzymil._utils.arrays import Array
from fuzzymil._utils.errors import ParameterError
from fuzzymil.bags import Bags
from fuzzymil.rules import RuleBase

_AS_GOOD = 0.01  # of what the best card explains: what smaller points may cost
_SCALES = np.linspace(1.0, 0.5, 6)  # at which conclusions are rounded: that of the greatest one, in most points
_STEPS = 50  # of Newton's method; a few suffice
_CONVERGED = 1e-9
_AT_ONCE = 2_000_000  # numbers in memory


class Points(NamedTuple):
    """Additive rules as a card: the logit of a bag is ``default + unit * (truths @ points)``.

    ``points`` (r,): 0 for a rule that is not needed. ``unit``: logits per point, above 0. ``default``: logit of score
    0.
    """

    points: Array
    unit: float
    default: float


def round_to_points(truths: Array, weights: Array, coefs: Array, default: float, *, most: int = 10) -> Points:
    """Return integer points that give about the same probabilities as the conclusions, with their unit and default.

    The cost is the mean cross-entropy between both. Points have the sign of the conclusion that they replace.

    Shapes: ``weights`` (b,). ``truths`` (b, r): how true each rule is in each bag. ``coefs`` (r,): conclusions of the
    rules, in logits. ``default``: what they are added to. ``most``: most points of a rule, in absolute value.
    """
    found = np.zeros(len(coefs), dtype=int)
    used = np.flatnonzero((coefs != 0) & (np.ptp(truths, axis=0) > 0))
    output, share = default + truths @ coefs, weights / weights.sum()
    truths, coefs, targets = truths[:, used], coefs[used], expit(output)
    level = float(logit(share @ targets))
    if not len(used):
        return Points(found, 1.0, level)
    bend = share * targets * expit(-output)
    apart = truths - bend @ truths / bend.sum()
    hessian = (apart * bend[:, None]).T @ apart

    def approximate(cards: Array) -> Array:
        along = cards @ hessian @ coefs
        return np.asarray(-along * np.abs(along) / ((cards @ hessian) * cards).sum(axis=1))

    def exact(cards: Array) -> Array:
        return _fit(cards, truths, targets, share, level)[0]

    cards = np.array([_of_size(coefs, size, approximate) for size in range(1, most + 1)])
    costs = exact(cards)
    nothing = np.logaddexp(0.0, level) - level * (share @ targets)
    points = cards[np.argmax(costs <= costs.min() + _AS_GOOD * (nothing - costs.min()))]
    points = _descend(points, np.sign(coefs) * np.abs(points).max(), 1, exact)
    _, levels, units = _fit(points[None], truths, targets, share, level)
    found[used] = points
    return Points(found, float(units[0]), float(levels[0]))


def with_points(rules: RuleBase, bags: Bags, weights: Array, *, most: int = 10, n_given: int = 0) -> RuleBase:
    """Return rules that conclude points; rules that get none are left out.

    Shapes: ``weights`` (b,). ``rules``: additive rules for one output, a logit. ``bags``: on which the probabilities
    are to stay about the same. ``most``: most points of a rule, in absolute value. ``n_given``: number of the first
    rules, which stay even if they get no points.
    """
    if rules.concludes_sets or rules.normalize or rules.coefs.shape[1:] != (1, 1):
        what = f"{len(rules.outputs)} outputs" if len(rules.outputs) > 1 else "another kind of conclusion"
        raise ParameterError(f"points need two classes: rules that add numbers to one logit, but these have {what}.")
    card = round_to_points(rules.infer(bags).firing, weights, rules.coefs[:, 0, 0], rules.default[0], most=most)
    kept = np.flatnonzero((card.points != 0) | (np.arange(rules.n_rules) < n_given))
    kept = kept if len(kept) else np.zeros(1, dtype=int)  # a rule base has a rule
    said = [rules.rules[r].concluding([[card.unit * card.points[r]]]) for r in kept]
    found = rules.edit(keep=kept + 1, default=card.default, drop_unused_terms=len(kept) < rules.n_rules)
    return dataclasses.replace(found, rules=tuple(said), unit=card.unit)


def _of_size(coefs: Array, size: int, cost: Callable[[Array], Array]) -> Array:
    """Return the points of at most this size with the least cost that search finds."""
    starts = np.rint(size * coefs / (np.abs(coefs).max() * _SCALES[:, None])).clip(-size, size)
    farthest = np.sign(coefs) * size
    cards = np.array([_descend(start, farthest, 1, cost) for start in np.unique(starts, axis=0)])
    return _descend(cards[np.argmin(cost(cards))], farthest, 2, cost)


def _descend(points: Array, farthest: Array, together: int, cost: Callable[[Array], Array]) -> Array:
    """Change one point, or up to two together, between 0 and the farthest, while that lowers the cost."""
    one = np.eye(len(points))
    steps = np.concatenate([0 * one[:1], one, -one])
    if together > 1:
        steps = np.concatenate([steps, [one + two for one, two in itertools.combinations(steps[1:], 2)]])
    least, most = np.minimum(farthest, 0), np.maximum(farthest, 0)
    while True:
        near = points + steps
        near = near[((near >= least) & (near <= most)).all(axis=1) & near.any(axis=1)]
        costs = cost(near)
        best = int(np.argmin(costs))
        if costs[best] >= costs[0] - _CONVERGED:  # of the points as they are
            return points
        points = near[best]


def _fit(cards: Array, truths: Array, targets: Array, share: Array, level: float) -> tuple[Array, Array, Array]:
    """Return cost, default and unit (m,) of cards (m, r), by Newton's method on all of them together."""
    n_parts = -(-len(cards) * len(truths) // _AT_ONCE)
    if n_parts > 1:
        parts = [_fit(part, truths, targets, share, level) for part in np.array_split(cards, n_parts)]
        costs, levels, units = map(np.concatenate, zip(*parts, strict=True))
        return costs, levels, units
    scores = truths @ cards.T
    mean = share @ scores
    scores -= mean
    spread = np.sqrt(share @ np.square(scores))
    scores /= spread
    targets, share = targets[:, None], share[:, None]

    def cost_of(levels: Array, slopes: Array) -> tuple[Array, Array]:
        output = levels + slopes * scores
        return (share * (np.logaddexp(0.0, output) - targets * output)).sum(axis=0), output

    levels, slopes = np.full(len(cards), level), np.zeros(len(cards))
    costs, output = cost_of(levels, slopes)
    for _ in range(_STEPS):
        likely = expit(output)
        wrong, bend = share * (likely - targets), share * likely * (1 - likely)
        of_level, of_slope = wrong.sum(axis=0), (wrong * scores).sum(axis=0)
        a, b, c = bend.sum(axis=0), (bend * scores).sum(axis=0), (bend * np.square(scores)).sum(axis=0)
        steps = np.array([c * of_level - b * of_slope, a * of_slope - b * of_level]) / (a * c - b * b)
        while True:  # a whole step may go too far
            moved = levels - steps[0], slopes - steps[1]
            new, output = cost_of(*moved)
            worse = new > costs + _CONVERGED
            if not worse.any():
                break
            steps = np.where(worse, steps / 2, steps)
        done = np.all(costs - new < _CONVERGED)
        (levels, slopes), costs = moved, new
        if done:
            break
    units = slopes / spread
    return np.where(units > 0, costs, np.inf), levels - units * mean, units

"""The best conclusions for given sets, by least squares: one half of hybrid learning (Jang's ANFIS).

Once the sets are given, the output is linear in the conclusions, and the squared error is least where a linear system
is solved. The gradient of the error by the sets, at these conclusions, is then that of the least error which any
conclusions reach: steps along it need not wait for the conclusions to follow.

Conclusions of rules that hardly fire, or fire together, are not determined by the data. So a ridge holds them near
zero, on standardized axes, or near those of given rules; generalized cross-validation chooses its strength every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzzymil._utils.arrays import Array, namespace
from fuzzymil.bags import Bags
from fuzzymil.inference.engines.numpy import Runs
from fuzzymil.inference.layers import Masks, Operators, Params, layer4, layers_1_and_2, strengths_of, values_in_place
from fuzzymil.inference.segments import Each, Grouping

_RIDGES = 10.0 ** np.arange(-8, 0)  # of mean squares on standardized axes


def concludes_linearly(operators: Operators, n_coefs: int, *, single: bool) -> bool:
    """Return whether the output is linear in the conclusions: constants, or functions of one instance or of a mean."""
    return operators.conclusions is None and (n_coefs == 1 or single or operators.conclusion_aggregation == "mean")


def best_conclusions(
    params: Params,
    masks: Masks,
    operators: Operators,
    x: Any,
    grouping: Grouping,
    targets: Any,
    weights: Any,
    *,
    known: Any = None,
    squares: Any = None,
    moves: Any = None,
    stay: Any = 0.0,
) -> Any:
    """Return the conclusions (r, k, c) with the least squared error for the sets in ``params``.

    Shapes: ``targets`` (b, k), ``weights`` (b,), ``moves`` (r, k, 1), 0 for conclusions that stay. The rest is as in
    `fuzzymil.inference.layers.forward`. The ridge, and at least ``stay``, times the squared distance from the
    conclusions in ``params`` is added to the mean squared error.

    Examples
    --------
    >>> sets = {"gaussian": (np.array([[0.0], [1.0]]), np.array([[0.5], [0.5]]))}
    >>> params = Params(sets, coefs=np.zeros((2, 1, 1)), alpha=np.ones(()), conclusion_alpha=np.ones(()))
    >>> data = np.array([[0.2], [0.9]]), Each(2), np.array([[1.0], [3.0]]), np.ones(2)
    >>> best_conclusions(params, {"gaussian": np.ones((2, 1))}, Operators(), *data).round(2).ravel().tolist()
    [0.23, 3.56]
    """
    xp: Any = namespace(x)
    n_rules, n_outputs, n_coefs = params.coefs.shape
    columns = _columns(params, masks, operators, x, grouping, known, squares)
    start = xp.moveaxis(xp.asarray(params.coefs), 1, 2).reshape(-1, n_outputs)  # (r * c, k)
    goal = targets if operators.normalize else targets - params.default  # additive rules start from their default
    rest = goal - columns @ start
    share = xp.where(weights > 0, weights / weights.sum(), 0.0)[:, None]
    counts = (weights > 0).sum()
    if moves is None:
        change = _ridge_regression(columns, rest, share, counts, stay)
    else:
        free = xp.repeat(xp.asarray(moves)[:, :, 0], n_coefs, axis=0)  # (r * c, k)
        each = [_ridge_regression(free[:, k] * columns, rest[:, [k]], share, counts, stay) for k in range(n_outputs)]
        change = xp.concatenate(each, axis=1) * free
    return xp.moveaxis((start + change).reshape(n_rules, n_coefs, n_outputs), 2, 1)


def _ridge_regression(columns: Any, rest: Any, share: Any, count: Any, least: Any) -> Any:
    """Return the coefficients (p, k) of columns (b, p) that explain the rest (b, k), with the ridge of least GCV."""
    xp: Any = namespace(columns)
    weighted = xp.where(share > 0, share * columns, 0.0)
    values, axes = xp.linalg.eigh(weighted.T @ columns)
    values = xp.maximum(values, 0.0)
    along = axes.T @ (weighted.T @ rest)  # (p, k)
    ridges = _RIDGES[:, None] + least
    shrunk = values + ridges  # (ridges, p)
    explained = (xp.square(along).sum(axis=1) * (shrunk + ridges) / xp.square(shrunk)).sum(axis=1)
    error = xp.where(share > 0, share * xp.square(rest), 0.0).sum() - explained
    freedom = (values / shrunk).sum(axis=1) / count
    best = xp.argmin(error / xp.square(xp.maximum(1.0 - freedom, 1e-6)))
    return axes @ (along / shrunk[best][:, None])


def best_conclusions_for(
    bags: Bags, params: Params, masks: Masks, operators: Operators, targets: Array, weights: Array
) -> Array:
    """Return the best conclusions for bags in memory, near zero; see `best_conclusions`."""
    missing = np.isnan(bags.instances)
    x, known = np.where(missing, 0.0, bags.instances), 1.0 - missing if missing.any() else None
    grouping: Any = Each(len(x)) if bags.n_bags == bags.n_instances else Runs(bags.offsets)
    zero = params._replace(coefs=np.zeros_like(params.coefs))
    with np.errstate(all="ignore"):  # in logarithms, -inf is an ordinary number
        return np.asarray(best_conclusions(zero, masks, operators, x, grouping, targets, weights, known=known))


def _columns(
    params: Params, masks: Masks, operators: Operators, x: Any, grouping: Grouping, known: Any, squares: Any
) -> Any:
    """Return what each coefficient of a conclusion is multiplied by in the output of each bag, (b, r * c)."""
    xp = namespace(x)
    log_truth = layers_1_and_2(params, masks, operators, x, known, squares)
    strengths = layer4(strengths_of(params, operators, log_truth, grouping)[1], operators)
    if params.coefs.shape[2] == 1:
        return strengths
    values = x[:, None, :]  # (i, 1 or r, d)
    if known is not None:
        replaced, value = values_in_place(params, masks, operators)
        values = values + (1.0 - known)[:, None, :] * (value - replaced * values)
    mean = grouping.sum(values) / xp.maximum(xp.asarray(grouping.sizes()), 1)[:, None, None]
    mean = xp.broadcast_to(mean, (*strengths.shape, mean.shape[2]))
    columns = strengths[:, :, None] * xp.concatenate([xp.ones_like(mean[:, :, :1]), mean], axis=2)
    return columns.reshape(len(strengths), -1)

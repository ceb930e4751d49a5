"""What is measured of one fitted model, with the truth at hand."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets import PLANTED, make_planted
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._recipe import measure, size_of
from fuzzymil.experiments.planted.methods import Method, model_of
from fuzzymil.explain import Explanation
from fuzzymil.rules import RuleBase

__all__ = ["instance_auc", "measure_fit", "used_features", "witness_hits"]

N_EXPLAINED = 100  # positive test bags whose explanations are read; more would take longer than the fit


def measure_fit(method: Method, kind: str, n_bags: tuple[int, int], n_noise: int, seeds: Sequence[int]) -> Results:
    """Draw a problem, train a method on it, and measure it on unseen bags.

    Parameters
    ----------
    method : Method
    kind : str
        A key of `fuzzymil.datasets.PLANTED`.
    n_bags : (int, int)
        Number of training and of test bags.
    n_noise : int
        Number of noise features.
    seeds : sequence of int
        Of the training bags, the test bags and the model.

    Returns
    -------
    dict
        ``accuracy``, ``auc``, ``brier`` (None without probabilities) and ``seconds`` (processor time of the fit); for
        a method with rules also their size, the features and instances that they find, and the ``rules`` themselves.
    """
    train, test = (make_planted(kind, n, n_noise, random_state=seed) for n, seed in zip(n_bags, seeds[:2], strict=True))
    model = model_of(method, seeds[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last iteration counts
        before = time.process_time()
        model.fit(train, train.labels)
        seconds = time.process_time() - before
    decisions = np.asarray(model.decision_function(test))
    accuracy, auc = measure(np.asarray(test.labels), decisions)
    brier = None
    if hasattr(model, "predict_proba"):
        brier = _brier(model.predict_proba(test)[:, 1], test)
    elif method.probability is not None:
        brier = _brier(method.probability(decisions), test)
    found: Results = {"accuracy": accuracy, "auc": auc, "brier": brier, "seconds": round(seconds, 3)}
    if method.rules:
        found |= size_of(model) | _features_found(kind, model.rules_) | _instances_found(model, test)
        found["rules"] = model.rules_.to_dict()
    return found


def _brier(probabilities: Array, bags: Bags) -> float:
    return float(np.mean((probabilities - np.asarray(bags.labels)) ** 2))


# ---------------------------------------------------------------------- features


def used_features(rules: RuleBase) -> list[str]:
    """Return the features in the conditions of all rules that can change the output.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ...     VARIABLE hue: blue = Gaussian(0.6, 0.1)    VARIABLE size: small = Gaussian(0, 1)
    ...     IF hue is blue THEN sky = 1                IF size is small THEN sky = 0''', normalize=False)
    >>> used_features(rules)
    ['hue']
    """
    # A conclusion of 0 still counts among normalized rules: it takes weight from the others.
    speaking = [rule for rule in rules.rules if rule.weight > 0 and (rules.normalize or np.any(rule.coefs))]
    used = {condition.variable for rule in speaking for condition in rule.conditions}
    return [name for name in rules.feature_names if name in used]


def _features_found(kind: str, rules: RuleBase) -> Results:
    """Return the features in use, whether they contain the true ones, and whether they are exactly those."""
    used, true = used_features(rules), set(PLANTED[kind].features)
    return {"features": used, "contains": true <= set(used), "exactly": true == set(used)}


# ---------------------------------------------------------------------- instances


def instance_auc(scores: npt.ArrayLike, bags: Bags) -> float | None:
    """Return the area under the ROC curve of instance scores within positive bags, averaged over bags.

    Bags in which all instances are true, or none, are left out; None if there are no others.

    Examples
    --------
    >>> bags = Bags([[0.0]] * 5, [0, 3, 5], labels=[1, 0], instance_labels=[1, 0, 0, 0, 0])
    >>> instance_auc([0.5, 0.2, 0.7, 0.0, 0.0], bags)
    0.5
    """
    areas = []
    for own, true in zip(_by_bag(np.asarray(scores, float), bags), _truth(bags), strict=True):
        if true.any() and not true.all():
            high, low = own[true][:, None], own[~true]
            areas.append(np.mean((high > low) + 0.5 * (high == low)))
    return float(np.mean(areas)) if areas else None


def witness_hits(explanations: Sequence[Explanation], bags: Bags) -> list[bool]:
    """Return for each bag whether the instance that the strongest positive rule points to is a true one.

    Without a rule that speaks for the positive class and points to an instance, it is not.

    Examples
    --------
    >>> from fuzzymil.explain import explain_many
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> bags = Bags([[0.1], [0.9], [0.1], [0.9]], [0, 2, 4], labels=[1, 1], instance_labels=[0, 1, 1, 0])
    >>> witness_hits(explain_many(rules, bags), bags)
    [True, False]
    """
    pointed = map(_pointed_to, explanations)
    return [place is not None and bool(true[place]) for place, true in zip(pointed, _truth(bags), strict=True)]


def _pointed_to(explanation: Explanation) -> int | None:
    """Return the first witness of the strongest positive rule that points to an instance.

    Parts inside NOT and parts about all instances do not: their witness is what comes closest to breaking them.
    """
    for rule in sorted(explanation.rules, key=lambda rule: -rule.contributions[0]):
        parts = [part for part in rule.parts if part.witnesses and not part.negated and part.quantifier != "all"]
        if rule.contributions[0] > 0 and parts:
            return min(parts, key=lambda part: not part.deciding).witnesses[0].instance
    return None


def _instances_found(model: Any, test: Bags) -> Results:
    """Return how well the model finds the true instances of positive bags; None where the problem has none.

    ``hits`` is the share of bags whose witness is a true instance, ``chance`` that of true instances.
    """
    if not np.any(test.instance_labels):
        return {"instance_auc": None, "hits": None, "chance": None}
    positive = test[np.flatnonzero(np.asarray(test.labels))]
    explained = positive[np.arange(min(N_EXPLAINED, len(positive)))]
    return {
        "instance_auc": instance_auc(model.instance_scores(positive), positive),
        "hits": float(np.mean(witness_hits(model.explain_many(explained), explained))),
        "chance": float(np.mean([true.mean() for true in _truth(explained)])),
    }


def _truth(bags: Bags) -> list[Array]:
    return _by_bag(np.asarray(bags.instance_labels) > 0, bags)


def _by_bag(values: Array, bags: Bags) -> list[Array]:
    return np.split(values, bags.offsets[1:-1])

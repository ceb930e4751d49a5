"""Sober baselines, on the folds that rules were compared on: what can be predicted without any rule."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import THREE, bag_statistics
from fuzzymil.learn.choose._path import costs

__all__ = ["FOREST", "LINEAR", "NOTHING", "SIZE", "baselines", "n_fits"]

SIZE, FOREST, LINEAR, NOTHING = "size", "forest", "linear", "nothing"
_N_TREES = 100
_N_TREES_ON_SIZES, _BAGS_PER_LEAF = 50, 5  # a single column is soon learned by heart
_PENALTIES = (0.01, 0.1, 1.0)  # inverse ones; the best on the folds counts, as for rules


class _Baseline(NamedTuple):
    """A method with a few settings to choose from; each fits a table (b, columns) and returns a function to outputs."""

    name: str
    statistics: tuple[str, ...]
    settings: Sequence[Callable[[Array, Array], Callable[[Array], Array]]]


def baselines(
    bags: Bags, targets: Array, folds: Array, *, classes: bool, seed: int, tick: Callable[[], None] = lambda: None
) -> dict[str, Array]:
    """Return what each baseline answers for held-out bags: outputs (b, k), logits of classes or numbers.

    Parameters
    ----------
    bags : Bags
        Missing values of a statistic are replaced by its median.
    targets : array of shape (b, k)
        0 or 1 for classes, one column for two of them; standardized numbers otherwise.
    folds : array of int, shape (b,)
        The part in which a bag is held out.
    classes : bool
    seed : int
    tick : callable
        Called after each fit, `n_fits` times in all.
    """
    from sklearn.impute import SimpleImputer

    found = {}
    for baseline in _known(bags, classes, seed):
        table = bag_statistics(bags, baseline.statistics)
        options = []
        for fit in baseline.settings:
            output = np.empty(targets.shape)
            for fold in range(int(folds.max()) + 1):
                inside, held = folds != fold, folds == fold
                fill = SimpleImputer(strategy="median", keep_empty_features=True).fit(table[inside])
                output[held] = fit(fill.transform(table[inside]), targets[inside])(fill.transform(table[held]))
                tick()
            options.append(output)
        found[baseline.name] = min(options, key=lambda output: float(costs(output, targets, logistic=classes).mean()))
    return found


def n_fits(bags: Bags, n_folds: int) -> int:
    """Return how many fits `baselines` makes."""
    return n_folds * sum(len(each.settings) for each in _known(bags, classes=True, seed=0))


def _known(bags: Bags, classes: bool, seed: int) -> Iterator[_Baseline]:
    if bags.sizes.min() < bags.sizes.max():
        yield _Baseline(SIZE, ("size",), [_forest(classes, seed, _N_TREES_ON_SIZES, min_samples_leaf=_BAGS_PER_LEAF)])
    yield _Baseline(FOREST, THREE, [_forest(classes, seed)])
    yield _Baseline(LINEAR, THREE, [_linear(classes, penalty) for penalty in _PENALTIES])
    yield _Baseline(NOTHING, ("size",), [_constant(classes)])


def _constant(classes: bool) -> Callable[[Array, Array], Callable[[Array], Array]]:
    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        level = np.array([_usual(target) for target in targets.T]) if classes else targets.mean(axis=0)
        return lambda rows: np.tile(level, (len(rows), 1))

    return fit


def _usual(target: Array) -> float:
    """Return the logit of the share of a class; half a bag more on both sides (Jeffreys) keeps it finite."""
    return float(logit((target.sum() + 0.5) / (len(target) + 1)))


def _forest(
    classes: bool, seed: int, n_trees: int = _N_TREES, **settings: Any
) -> Callable[[Array, Array], Callable[[Array], Array]]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression

    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        if not classes:
            numbers = RandomForestRegressor(n_trees, max_features=1 / 3, random_state=seed, **settings)
            numbers.fit(table, targets[:, 0] if targets.shape[1] == 1 else targets)
            return lambda rows: np.asarray(numbers.predict(rows)).reshape(len(rows), -1)
        forest = RandomForestClassifier(n_trees, oob_score=True, random_state=seed, **settings)
        forest.fit(table, targets[:, 0] > 0.5 if targets.shape[1] == 1 else targets.argmax(axis=1))
        places = forest.classes_.astype(int) - (targets.shape[1] == 1)  # of the columns; the first of two has none

        def votes(shares: Array) -> Array:
            # One vote more for every class (Laplace): trees that all agree are sure, but not infinitely.
            found = np.zeros((len(shares), targets.shape[1]))
            found[:, places[places >= 0]] = shares[:, places >= 0]
            return np.asarray(logit((n_trees * found + 1) / (n_trees + max(2, targets.shape[1]))))

        # Forests are less sure than they could be, so their votes for bags that a tree has not seen set the scale.
        unseen = votes(forest.oob_decision_function_)
        scales = _by_column(lambda: LogisticRegression(), lambda k: unseen[:, [k]], targets)

        def logits(rows: Array) -> Array:
            found = votes(forest.predict_proba(rows))
            return np.column_stack([scale(found[:, [k]]) for k, scale in enumerate(scales)])

        return logits

    return fit


def _linear(classes: bool, penalty: float) -> Callable[[Array, Array], Callable[[Array], Array]]:
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def fit(table: Array, targets: Array) -> Callable[[Array], Array]:
        if not classes:
            numbers = make_pipeline(StandardScaler(), Ridge(alpha=1 / penalty)).fit(table, targets)
            return lambda rows: np.asarray(numbers.predict(rows)).reshape(len(rows), -1)
        scaler = StandardScaler().fit(table)
        scaled = scaler.transform(table)
        lines = _by_column(lambda: LogisticRegression(C=penalty, max_iter=1000), lambda k: scaled, targets)
        return lambda rows: np.column_stack([line(scaler.transform(rows)) for line in lines])

    return fit


def _by_column(
    unfitted: Callable[[], Any], table: Callable[[int], Array], targets: Array
) -> list[Callable[[Array], Array]]:
    """Return a function from rows to logits (b,) for each column of 0 and 1, fitted to a table.

    With three classes or more, the only bag of a class may be held out: its column is then constant.
    """
    found: list[Callable[[Array], Array]] = []
    for k, target in enumerate(targets.T):
        if target.min() < target.max():
            found.append(unfitted().fit(table(k), target).decision_function)
        else:
            found.append(functools.partial(_always, _usual(target)))
    return found


def _always(level: float, rows: Array) -> Array:
    return np.full(len(rows), level)

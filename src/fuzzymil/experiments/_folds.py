"""Cross-validation whose folds train together, with everything fitted inside the training folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.estimators import PerInstance, fit_together
from fuzzymil.experiments._study import Results, parameters, rounded

__all__ = ["INNER_FOLDS", "Fitted", "Recipe", "cross_validate", "fit_folds", "splits"]

INNER_FOLDS = 3


@dataclass(frozen=True)
class Recipe:
    """How a model comes from training bags.

    Attributes
    ----------
    estimator : MIANFISClassifier, or ANFISClassifier for the naive way
    naive : bool
        Every instance takes its bag's label; a bag's score is the greatest (or mean) of its instances'.
    n_components : int or None
        Of a PCA on the instances.
    grid : tuple of dict
        Settings to choose from by cross-validation on the training bags; empty for none.
    """

    estimator: Any
    naive: bool = False
    n_components: int | None = None
    grid: tuple[dict[str, Any], ...] = field(default=())

    def settings(self) -> Results:
        """Return all of it as a file can hold it."""
        return {
            "estimator": {"class": type(self.estimator).__name__, **parameters(self.estimator)},
            "naive": self.naive,
            "n_components": self.n_components,
            "grid": list(self.grid),
            "inner_folds": INNER_FOLDS if self.grid else None,
        }


@dataclass(frozen=True)
class Fitted:
    """A model of one training fold."""

    estimator: Any
    prepare: PerInstance | None
    naive: bool

    def size(self) -> Results:
        """Return the number of rules, and of all their conditions together."""
        rules = self.estimator.rules_.rules
        return {"n_rules": len(rules), "n_conditions": sum(len(rule.conditions) for rule in rules)}

    def scores(self, bags: Bags, pool: str = "max") -> Array:
        """Return the decision value of each bag, cut at 0; ``pool`` tells how a naive model joins instances."""
        if self.prepare is not None:
            bags = self.prepare.transform(bags)
        if not self.naive:
            return np.asarray(self.estimator.decision_function(bags))
        single = np.asarray(self.estimator.decision_function(_rows(bags)))
        starts = bags.offsets[:-1]
        return np.maximum.reduceat(single, starts) if pool == "max" else np.add.reduceat(single, starts) / bags.sizes


def _rows(bags: Bags) -> Bags:
    """Return every instance as a bag of its own."""
    return Bags(bags.instances, np.arange(bags.n_instances + 1), feature_names=bags.feature_names)


def fit_folds(recipe: Recipe, bags: Sequence[Bags], labels: Sequence[Array], seeds: Sequence[int]) -> list[Fitted]:
    """Fit one model on each of ``bags``, all in one compiled call."""
    prepared: list[PerInstance | None] = [None] * len(bags)
    if recipe.n_components is not None:
        # The exact decomposition: the randomized one would need a seed and gain nothing at this size.
        prepared = [PerInstance(PCA(recipe.n_components, svd_solver="full")).fit(part) for part in bags]
    ready = [part if p is None else p.transform(part) for p, part in zip(prepared, bags, strict=True)]
    if recipe.naive:
        labels = [np.repeat(own, part.sizes) for own, part in zip(labels, ready, strict=True)]
        ready = [_rows(part) for part in ready]
    models = fit_together([clone(recipe.estimator).set_params(random_state=seed) for seed in seeds], ready, labels)
    return [Fitted(model, p, recipe.naive) for model, p in zip(models, prepared, strict=True)]


def cross_validate(recipe: Recipe, bags: Bags, labels: Array, n_folds: int, seeds: Sequence[int]) -> Results:
    """Run one stratified cross-validation.

    Parameters
    ----------
    seeds : sequence of int
        The first shuffles the bags into folds, the others are of the folds' models: ``n_folds + 1``.

    Returns
    -------
    dict
        ``accuracy`` and ``auc`` of each fold (for a naive model also with mean pooling), ``chosen`` settings and
        ``sizes`` of the rules of each fold, ``stopped`` (how many models ended before their last epoch, because
        they diverged) and the mean training ``rmse`` of each epoch.
    """
    folds = splits(labels, n_folds, seeds[0])
    insides = [inside for inside, _ in folds]
    chosen = _chosen(recipe, bags, labels, insides, seeds[1:])
    models: list[Fitted | None] = [None] * n_folds
    for choice in {str(c): c for c in chosen}.values():
        places = [f for f in range(n_folds) if chosen[f] == choice]
        fitted = fit_folds(
            _with(recipe, choice),
            [bags[insides[f]] for f in places],
            [labels[insides[f]] for f in places],
            [seeds[1 + f] for f in places],
        )
        for place, model in zip(places, fitted, strict=True):
            models[place] = model
    done = [model for model in models if model is not None]
    results: Results = {"chosen": chosen if recipe.grid else None, "sizes": [model.size() for model in done]}
    for pool in ("max", "mean") if recipe.naive else ("max",):
        suffix = "_mean_pool" if pool == "mean" else ""
        scores = [model.scores(bags[outside], pool) for model, (_, outside) in zip(done, folds, strict=True)]
        truths = [labels[outside] for _, outside in folds]
        results["accuracy" + suffix] = [_accuracy(t, s) for t, s in zip(truths, scores, strict=True)]
        results["auc" + suffix] = [_auc(t, s) for t, s in zip(truths, scores, strict=True)]
    histories = [model.estimator.history_["rmse"] for model in done]
    n_epochs = max(int(recipe.estimator.max_epochs), *map(len, histories))  # more where rules are cut in steps
    curves = np.full((n_folds, n_epochs), np.nan)
    for row, history in zip(curves, histories, strict=True):
        row[: len(history)] = history
    results["stopped"] = int(np.isnan(curves[:, -1]).sum())
    alive = ~np.isnan(curves).all(axis=0)
    results["rmse"] = rounded(np.nanmean(curves[:, alive], axis=0))
    return results


def splits(labels: Array, n_folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return training and test bags of each fold, classes in proportion."""
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))


def _with(recipe: Recipe, changes: dict[str, Any]) -> Recipe:
    return Recipe(clone(recipe.estimator).set_params(**changes), recipe.naive, recipe.n_components)


def _chosen(
    recipe: Recipe, bags: Bags, labels: Array, insides: list[Array], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Choose settings for each training fold by accuracy, then AUC, on folds inside it."""
    if not recipe.grid:
        return [{} for _ in insides]
    jobs = [
        (f, inside[inner_inside], inside[inner_outside])
        for f, inside in enumerate(insides)
        for inner_inside, inner_outside in splits(labels[inside], INNER_FOLDS, seeds[f])
    ]
    merit = np.zeros((len(insides), len(recipe.grid), 2))
    for g, changes in enumerate(recipe.grid):
        models = fit_folds(
            _with(recipe, changes),
            [bags[train] for _, train, _ in jobs],
            [labels[train] for _, train, _ in jobs],
            [seeds[f] for f, _, _ in jobs],
        )
        for (f, _, test), model in zip(jobs, models, strict=True):
            scores = model.scores(bags[test])
            merit[f, g] += [_accuracy(labels[test], scores), _auc(labels[test], scores)]
    # Rounded, because sums of equal accuracies in another order differ in the last digit.
    best = [max(range(len(recipe.grid)), key=lambda g: tuple(np.round(merit[f, g], 9))) for f in range(len(insides))]
    return [dict(recipe.grid[g]) for g in best]


def _accuracy(truth: Array, scores: Array) -> float:
    return float(accuracy_score(truth, (scores > 0).astype(int)))


def _auc(truth: Array, scores: Array) -> float:
    return float(roc_auc_score(truth, scores))

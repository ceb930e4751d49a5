"""How the experiments build, tune and cross-validate a model; everything is fitted on training bags only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

from fuzzymil import Training
from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.estimators import Fold, MIANFISClassifier, NaiveMIL, PerInstance, cross_validate, network_parameters
from fuzzymil.rules.premise import Expression, conditions, parts_of
from paper.experiment import Results, described, rounded
from paper.statistics import padded

INNER_FOLDS = 3


def normalized_rules(n_rules: int = 10, **changes: Any) -> MIANFISClassifier:
    """Return a classifier with the paper's normalized rules, initialized by k-means, trained as this library does.

    Every parameter that matters is given, so that the row of these rules does not follow the library's defaults.

    Examples
    --------
    >>> normalized_rules(4).n_rules
    4
    """
    settings: dict[str, Any] = {
        "init": "kmeans",
        "normalize": True,
        "loss": "squared_error",
        "rule_keep_prob": "auto",
        "learning_rate": 0.03,
        "max_epochs": 150,
    }
    return MIANFISClassifier(n_rules, **network_parameters(**settings | changes))


@dataclass(frozen=True)
class Recipe:
    """How a model is built from training bags."""

    estimator: Any  # MIANFISClassifier or ANFISClassifier
    naive: bool = False  # train on instances, each with its bag's label, and pool their scores
    n_components: int | None = None  # of a PCA on the instances; None for no PCA
    grid: tuple[dict[str, Any], ...] = ()  # parameters to choose from by cross-validation on the training bags

    def model(self, **parameters: Any) -> Any:
        """Return the unfitted model with these parameters of the estimator."""
        known = self.estimator.get_params()
        own = {name if name in known else f"training__{name}": value for name, value in parameters.items()}
        network = clone(self.estimator).set_params(**own)
        model = NaiveMIL(network) if self.naive else network
        if self.n_components is None:
            return model
        # The exact decomposition: the randomized one would need a seed and gain nothing at this size.
        return make_pipeline(PerInstance(PCA(self.n_components, svd_solver="full")), model)

    def settings(self) -> Results:
        """Return the recipe in a form that JSON can hold."""
        return {
            "estimator": described(self.estimator),
            "naive": self.naive,
            "n_components": self.n_components,
            "grid": list(self.grid),
            "inner_folds": INNER_FOLDS if self.grid else None,
        }


def network_of(model: Any) -> Any:
    """Return the fitted network inside a model of a recipe."""
    last = model[-1] if isinstance(model, Pipeline) else model
    return last.estimator_ if isinstance(last, NaiveMIL) else last


def size_of(model: Any) -> Results:
    """Return the number of rules and the total number of their conditions, of all members together."""
    counts = [_n_conditions(rule.premise) for member in network_of(model).members_ for rule in member.rules]
    return {"n_rules": len(counts), "n_conditions": sum(counts)}


def _n_conditions(premise: Expression) -> int:
    """Return the number of conditions; one on the size of the bag, such as ``AT LEAST 8 instances``, counts as well."""
    return sum(len(list(conditions(part.premise))) or int(part.quantifier is not None) for part in parts_of(0, premise))


def scores_of(model: Any, bags: Bags, pool: str = "max") -> Array:
    """Return the decision value of each bag (n_bags,); above 0 is positive.

    A naive model pools the network's raw outputs for the instances, where `NaiveMIL` itself would limit them to
    probabilities first and so create ties.
    """
    if isinstance(model, Pipeline):
        bags, model = model[:-1].transform(bags), model[-1]
    if not isinstance(model, NaiveMIL):
        return np.asarray(model.decision_function(bags))
    single, starts = model.estimator_.decision_function(bags.instances), bags.offsets[:-1]
    return np.maximum.reduceat(single, starts) if pool == "max" else np.add.reduceat(single, starts) / bags.sizes


def measure(truth: Array, scores: Array) -> tuple[float, float]:
    """Return the accuracy and the area under the ROC curve of decision values.

    Examples
    --------
    >>> measure(np.array([0, 0, 1, 1]), np.array([-2.0, 0.5, 0.2, 1.0]))
    (0.75, 0.75)
    """
    return float(accuracy_score(truth, (scores > 0).astype(int))), float(roc_auc_score(truth, scores))


def splits(labels: Array, n_folds: int, seed: int) -> list[tuple[Array, Array]]:
    """Return the training and test bags of each stratified fold."""
    return list(StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(labels)), labels))


def evaluate(recipe: Recipe, bags: Bags, labels: Array, n_folds: int, seeds: Sequence[int]) -> Results:
    """Run one stratified cross-validation, all folds at once, and return `joined` results.

    The first of ``n_folds + 1`` seeds shuffles the bags into folds, the others are those of the folds' models.
    """
    return joined(evaluate_folds(recipe, bags, labels, splits(labels, n_folds, seeds[0]), seeds[1:]))


def evaluate_folds(
    recipe: Recipe, bags: Bags, labels: Array, parts: Sequence[tuple[Array, Array]], seeds: Sequence[int]
) -> list[Results]:
    """Fit and measure the model of each fold, given its training and test bags and a seed.

    The results of a fold are its ``accuracy`` and ``auc`` (for a naive model also with mean pooling), the ``chosen``
    parameters, the ``sizes`` of the model, its training ``rmse`` per epoch (None if training has no such curve), and
    whether it diverged and was ``stopped``.
    """
    chosen = _chosen(recipe, bags, labels, parts, seeds) if recipe.grid else [{} for _ in parts]
    folds: dict[int, Fold] = {}
    for choice in {str(choice): choice for choice in chosen}.values():
        places = [f for f in range(len(parts)) if chosen[f] == choice]
        (found,) = cross_validate(
            [recipe.model(**choice)],
            bags,
            labels,
            cv=[parts[f] for f in places],
            seeds=[seeds[f] for f in places],
        )
        folds |= zip(places, found, strict=True)
    return [_measured(recipe, folds[f], chosen[f] if recipe.grid else None) for f in range(len(parts))]


def _measured(recipe: Recipe, fold: Fold, chosen: dict[str, Any] | None) -> Results:
    results: Results = {"chosen": chosen, "sizes": size_of(fold.model)}
    for pool in ("max", "mean") if recipe.naive else ("max",):
        ending = "_mean_pool" if pool == "mean" else ""
        accuracy, auc = measure(fold.truth, scores_of(fold.model, fold.X, pool))
        results |= {f"accuracy{ending}": accuracy, f"auc{ending}": auc}
    curve = getattr(network_of(fold.model), "history_", {}).get("rmse")  # chosen rules have none
    results["rmse"] = None if curve is None else rounded(np.asarray(curve))
    results["stopped"] = curve is not None and len(curve) < int((recipe.estimator.training or Training()).max_epochs)
    return results


def joined(folds: Sequence[Results]) -> Results:
    """Return the results of the folds of one cross-validation together.

    They are lists with one entry per fold, except ``stopped``, the number of models that diverged, and ``rmse``, the
    mean per epoch. ``chosen`` is None if there is no choice, and ``rmse`` is None if training has no such curve.
    """
    found: Results = {name: [fold[name] for fold in folds] for name in folds[0]}
    if folds[0]["chosen"] is None:
        found["chosen"] = None
    if None in found["rmse"]:
        return found | {"rmse": None, "stopped": sum(found["stopped"])}
    curves = padded(found["rmse"])
    cut = np.isnan(curves[:, -1])  # where rules are shortened in steps, there are more than the epochs asked for
    alive = ~np.isnan(curves).all(axis=0)
    rmse = rounded(np.nanmean(curves[:, alive], axis=0))
    return found | {"rmse": rmse, "stopped": int((cut | found["stopped"]).sum())}


def _chosen(
    recipe: Recipe, bags: Bags, labels: Array, parts: Sequence[tuple[Array, Array]], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the parameters chosen for each fold by cross-validation inside its training bags."""
    models = [recipe.model(**point) for point in recipe.grid]
    best = best_candidates(
        models, bags, labels, [inside for inside, _ in parts], seeds, lambda fold: scores_of(fold.model, fold.X)
    )
    return [dict(recipe.grid[g]) for g in best]


def best_candidates(
    models: Sequence[Any],
    bags: Bags,
    labels: Array,
    insides: Sequence[Array],
    seeds: Sequence[int],
    scores: Callable[[Fold], Any],
    n_folds: int = INNER_FOLDS,
) -> list[int]:
    """Choose among models by cross-validation inside training folds: by accuracy, then AUC, then order.

    There is one seed and one array of training bags (``insides``) per outer fold; ``scores`` returns the decision
    values of the test bags of a `Fold`. Returns the position of the best model for each outer fold.
    """
    jobs = [
        (f, inside[train], inside[test])
        for f, inside in enumerate(insides)
        for train, test in splits(labels[inside], n_folds, seeds[f])
    ]
    results = cross_validate(
        models, bags, labels, cv=[(train, test) for _, train, test in jobs], seeds=[seeds[f] for f, _, _ in jobs]
    )
    merit = np.zeros((len(insides), len(models), 2))
    for g, folds in enumerate(results):
        for (f, _, _), fold in zip(jobs, folds, strict=True):
            merit[f, g] += measure(fold.truth, np.asarray(scores(fold)))
    # Rounded, because sums of equal accuracies in another order differ in the last digit.
    return [max(range(len(models)), key=lambda g: tuple(np.round(merit[f, g], 9))) for f in range(len(insides))]

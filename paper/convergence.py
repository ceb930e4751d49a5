"""How often training converges: exact or printed update, on-line or batch (future work in the paper)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil.datasets import make_two_concepts
from fuzzymil.estimators import MIANFISClassifier, fit_together
from fuzzymil.plots import save_figure
from paper.experiment import Experiment, Options, Results, Unit, described, rounded, seeds_of
from paper.figures import CurvesDisplay, DistributionDisplay, Line
from paper.page import Figure, Section, Table, Text
from paper.statistics import padded, quartiles
from paper.synthetic import RADIUS, concepts_found, two_concept_estimator, two_concept_settings

__all__ = ["CONVERGENCE"]

THRESHOLD = 0.05  # training MSE below which a start has converged; predicting the mean label gives 2/9
EPOCHS = 150
ALPHA = 5.0
MODES: dict[str, dict[str, Any]] = {
    "on-line, rate 0.1": {"optimizer": "sgd", "learning_rate": 0.1, "batch_size": 1, "width_scale": "direct"},
    "on-line, rate 0.01": {"optimizer": "sgd", "learning_rate": 0.01, "batch_size": 1, "width_scale": "direct"},
    "batch, Adam": {"optimizer": "adam", "learning_rate": 0.03, "batch_size": None},
    "batch, plain descent": {"optimizer": "sgd", "learning_rate": 0.1, "batch_size": None},
}
UPDATES = {"exact": "exact gradient", "paper": "printed update"}


def _estimator(mode: str, update: str, seed: int | None = None) -> MIANFISClassifier:
    settings = {**two_concept_settings(), **MODES[mode], "alpha": ALPHA, "max_epochs": EPOCHS, "random_state": seed}
    return two_concept_estimator({**settings, "update_rule": update})


def _starts(options: Options) -> list[int]:
    return seeds_of(6 if options.quick else 100, options.seed, "starts")


def _train(options: Options, mode: str, update: str) -> Results:
    (data_seed,) = seeds_of(1, options.seed, "convergence data")
    bags = make_two_concepts(sigma=RADIUS, random_state=data_seed)
    seeds = _starts(options)
    models = fit_together([_estimator(mode, update, seed) for seed in seeds], [bags] * len(seeds))
    target = np.asarray(bags.labels, float)
    curves = padded([model.history_["rmse"] for model in models], EPOCHS)
    return {
        "mse": [float(np.mean((model.rules_.infer(bags).output[:, 0] - target) ** 2)) for model in models],
        "accuracy": [float(model.score(bags, bags.labels)) for model in models],
        "both_found": [all(concepts_found(model.rules_)) for model in models],
        "diverged": int(np.isnan(curves[:, -1]).sum()),
        "rmse_mean": rounded(np.nanmean(curves, axis=0)),
        "rmse_band": rounded(np.nanquantile(curves, [0.25, 0.75], axis=0)),
    }


def _units(options: Options) -> list[Unit]:
    seeds = _starts(options)
    return [
        Unit(
            f"{mode}, {words}",
            {
                "experiment": "convergence",
                "seed": options.seed,
                "n_starts": len(seeds),
                "estimator": described(_estimator(mode, update)),
                "radius": RADIUS,
            },
            0.06 * len(seeds) if MODES[mode]["batch_size"] else 2.0,
            lambda mode=mode, update=update: _train(options, mode, update),
        )
        for mode in MODES
        for update, words in UPDATES.items()
    ]


def _collect(options: Options, parts: list[Results]) -> Results:
    names = [f"{mode}, {words}" for mode in MODES for words in UPDATES.values()]
    ways = {}
    for name, part in zip(names, parts, strict=True):
        mse = np.asarray(part["mse"])
        ways[name] = {
            **part,
            "converged_share": float(np.mean(mse < THRESHOLD)),
            "both_found_share": float(np.mean(part["both_found"])),
            "mse_quartiles": list(quartiles(mse)),
        }
    settings = {
        **two_concept_settings(),
        "alpha": ALPHA,
        "max_epochs": EPOCHS,
        "threshold": THRESHOLD,
        "n_starts": len(_starts(options)),
        "modes": MODES,
    }
    return {"settings": settings, "ways": ways}


def _draw(results: Results, folder: Path) -> None:
    ways = results["ways"]
    display = DistributionDisplay(
        {words: {mode: ways[f"{mode}, {words}"]["mse"] for mode in MODES} for words in UPDATES.values()},
        "final training MSE",
        {f"converged: below {THRESHOLD:g}": THRESHOLD, "predicting the mean label": 2 / 9},
    )
    title = f"Final error of {results['settings']['n_starts']} starts after {EPOCHS} epochs"
    save_figure(display.plot(title), folder / "final_mse.png")
    panels = {
        mode: [
            Line(words, np.array(ways[f"{mode}, {words}"]["rmse_mean"], float),
                 np.array(ways[f"{mode}, {words}"]["rmse_band"], float).T)
            for words in UPDATES.values()
        ]
        for mode in MODES
    }  # fmt: skip
    curves = CurvesDisplay(panels, "training RMSE", "mean over all starts; bands: interquartile range")
    save_figure(curves.plot("Training error by epoch"), folder / "rmse.png")


def _section(results: Results) -> Section:
    n_starts = results["settings"]["n_starts"]
    rows = [
        [
            name,
            f"{way['converged_share']:.0%}",
            f"{way['both_found_share']:.0%}",
            f"{way['mse_quartiles'][1]:.3f}",
            f"{way['mse_quartiles'][0]:.3f} to {way['mse_quartiles'][2]:.3f}",
            str(way["diverged"]),
        ]
        for name, way in results["ways"].items()
    ]
    return Section(
        "convergence",
        "How often training converges",
        [
            Text(
                f"One two-concept dataset, {n_starts} random starts of six rules, {EPOCHS} epochs, alpha {ALPHA:g}; "
                "the same starts for every kind of training. On-line training takes one step per bag, at the paper's "
                "learning rate of 0.1 and at 0.01, and updates the widths directly; a batch epoch is a single step on "
                "the mean error (Adam at 0.03, gradient descent at 0.1). A start has converged if its final training "
                f"MSE is below {THRESHOLD:g}; predicting the mean label gives {2 / 9:.3f}. The error curves of the "
                "other experiments are in their own sections."
            ),
            Table(
                f"Convergence of {n_starts} starts",
                ["training", "converged", "both concepts found", "median MSE", "quartiles", "diverged"],
                rows,
            ),
            *[Text(words, finding=True) for words in _findings(results)],
            Figure("final_mse", "Final training MSE: curves closer to the upper left are better."),
            Figure("rmse", "Training error by epoch."),
        ],
    )


def _findings(results: Results) -> list[str]:
    ways = results["ways"]
    found = []
    for mode in MODES:
        exact, printed = (ways[f"{mode}, {words}"] for words in UPDATES.values())
        found.append(
            f"{mode[0].upper()}{mode[1:]}: {exact['converged_share']:.0%} of the starts converge with the exact "
            f"gradient and {printed['converged_share']:.0%} with the printed update (median MSE "
            f"{exact['mse_quartiles'][1]:.3f} and {printed['mse_quartiles'][1]:.3f}). From the same start, the exact "
            f"gradient reaches a lower error in {np.mean(np.asarray(exact['mse']) < np.asarray(printed['mse'])):.0%} "
            "of cases."
        )
    best = max(ways, key=lambda name: (ways[name]["converged_share"], -ways[name]["mse_quartiles"][1]))
    found.append(
        f"The most reliable training is “{best}”: {ways[best]['converged_share']:.0%} converge and "
        f"{ways[best]['both_found_share']:.0%} find both concepts."
    )
    return found


CONVERGENCE = Experiment("convergence", _units, _collect, _draw, _section)

"""Two concepts in the plane: which rules are learned, and how often (section "Synthetic Data" of the paper)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil import Training
from fuzzymil.bags import Bags
from fuzzymil.datasets import CONCEPTS, make_two_concepts
from fuzzymil.estimators import MIANFISClassifier, network_parameters
from fuzzymil.plots import MembershipDisplay, SpaceDisplay, save_figure
from fuzzymil.rules import RuleBase
from paper.experiment import Experiment, Options, Results, Unit, described, rounded, seeds_of
from paper.figures import CurvesDisplay, Line, add_concepts, add_marks
from paper.page import Figure, Section, Table, Text, plural
from paper.published import IRRELEVANT_OUTPUTS
from paper.statistics import quartiles

__all__ = ["RADIUS", "SYNTHETIC", "concepts_found", "two_concept_estimator", "two_concept_settings"]

RADIUS = 0.2
N_TEST = (167, 166)  # test bags: (per concept, negative), 500 in all
ALPHAS, RESTARTS = (1.0, 5.0), (1, 8)
SHOWN = {"alpha": 5.0, "restarts": 1}  # the model shown in the figures


def two_concept_settings() -> dict[str, Any]:
    """Return the paper's initialization: six rules from random partitions, with widths of 0.5 in raw units."""
    return {
        "n_rules": 6,
        "init": "random",
        "init_bags": "all",
        "init_width": 0.5,
        "standardize": False,
        "clip": None,
        "rule_keep_prob": None,
    }


def two_concept_estimator(settings: Mapping[str, Any]) -> MIANFISClassifier:
    """Return a classifier with these parameters, which may include those of `Training`.

    Examples
    --------
    >>> two_concept_estimator(two_concept_settings()).training
    Training(rule_keep_prob=None, init_width=0.5, init_bags='all', standardize=False, clip=None)
    """
    return MIANFISClassifier(**network_parameters(**settings))


def concepts_found(rules: RuleBase) -> list[bool]:
    """Return for each concept whether a rule that concludes at least 0.5 has its center inside it.

    Examples
    --------
    >>> concepts_found(RuleBase.from_arrays([[0.5, 0.6], [1.0, 1.0]], [[0.2, 0.2]] * 2, [1.0, 0.0]))
    [True, False]
    """
    high = rules.coefs[:, 0, 0] >= 0.5
    distances = np.linalg.norm(rules.centers[:, None] - CONCEPTS, axis=2)
    return [bool(found) for found in ((distances <= RADIUS) & high[:, None]).any(axis=0)]


def _data(seed: int) -> tuple[Bags, Bags]:
    one, other = seeds_of(2, seed, "two concepts")
    train = make_two_concepts(sigma=RADIUS, random_state=one)
    test = make_two_concepts(*N_TEST, sigma=RADIUS, random_state=other)
    return train, test


def _learn(seed: int, alpha: float, restarts: int) -> Results:
    train, test = _data(seed)
    settings = {**two_concept_settings(), "alpha": alpha, "n_init": restarts, "random_state": seed}
    model = two_concept_estimator(settings).fit(train)
    return {
        "accuracy": float(model.score(test, test.labels)),
        "found": concepts_found(model.rules_),
        "rmse": rounded(model.history_["rmse"]),
        "rules": model.rules_.to_dict(),
        "initial": model.initial_rules_.to_dict(),
    }


def _seeds(options: Options) -> list[int]:
    return seeds_of(2 if options.quick else 20, options.seed, "synthetic")


def _units(options: Options) -> list[Unit]:
    units = []
    for alpha in ALPHAS:
        for restarts in RESTARTS:
            estimator = two_concept_estimator({**two_concept_settings(), "alpha": alpha, "n_init": restarts})
            for number, seed in enumerate(_seeds(options)):
                units.append(
                    Unit(
                        f"alpha {alpha:g}, {plural(restarts, 'start')}, dataset {number + 1}",
                        {"experiment": "synthetic", "seed": seed, "estimator": described(estimator), "radius": RADIUS},
                        0.1 * restarts,
                        lambda seed=seed, alpha=alpha, restarts=restarts: _learn(seed, alpha, restarts),
                    )
                )
    return units


def _collect(options: Options, parts: list[Results]) -> Results:
    seeds = _seeds(options)
    settings = [(alpha, restarts) for alpha in ALPHAS for restarts in RESTARTS]
    columns = []
    for place, (alpha, restarts) in enumerate(settings):
        own = parts[place * len(seeds) : (place + 1) * len(seeds)]
        columns.append(
            {
                "alpha": alpha,
                "restarts": restarts,
                "accuracy": [part["accuracy"] for part in own],
                "quartiles": list(quartiles([part["accuracy"] for part in own])),
                "both_found": sum(all(part["found"]) for part in own),
                "one_found": sum(any(part["found"]) for part in own),
                "rmse": [part["rmse"] for part in own],
            }
        )
    first = settings.index((SHOWN["alpha"], int(SHOWN["restarts"]))) * len(seeds)
    shown = {"seed": seeds[0], **{name: parts[first][name] for name in ("rules", "initial", "accuracy")}}
    return {
        "settings": {
            **two_concept_settings(),
            "radius": RADIUS,
            "training_bags": 150,
            "unseen_bags": 500,
            "seeds": seeds,
            "max_epochs": Training.max_epochs,
        },
        "columns": columns,
        "shown": {**SHOWN, **shown},
    }


def _draw(results: Results, folder: Path) -> None:
    shown = results["shown"]
    rules, initial = (RuleBase.from_dict(shown[name]) for name in ("rules", "initial"))
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(rules.feature_names)}
    sets = MembershipDisplay.from_rules(rules, initial)
    figure = sets.plot("Fuzzy sets of each rule, before and after training")
    save_figure(add_marks(figure, sets.features, marks), folder / "membership.png")
    train, _ = _data(shown["seed"])
    truth = np.maximum.reduceat(np.asarray(train.instance_labels), train.offsets[:-1])
    order = ("negative", "concept 1", "concept 2")
    # A bag of medium size with exactly one instance in concept 1, which makes the bag positive.
    inside = np.add.reduceat(np.asarray(train.instance_labels) == 1, train.offsets[:-1])
    candidates = np.flatnonzero(inside == 1)
    circled = int(candidates[np.argmin(np.abs(train.sizes[candidates] - 6))])
    kinds = np.array(order)[truth]
    data = SpaceDisplay.from_bags(train, kinds, bag=train.ids[circled], order=order)
    found = SpaceDisplay.from_model(rules, train, kinds, order=order, threshold=0.5)
    for stem, display, title in (
        ("data", data, "Two concepts: instances of all bags"),
        ("rules", found, "The learned rules, one width around their centers"),
    ):
        save_figure(add_concepts(display.plot(title), CONCEPTS, RADIUS), folder / f"{stem}.png")
    panels = {
        f"alpha {alpha:g}": [
            Line.mean_of(_starts(column["restarts"]), column["rmse"])
            for column in results["columns"]
            if column["alpha"] == alpha
        ]
        for alpha in ALPHAS
    }
    note = f"mean over {len(results['settings']['seeds'])} datasets; bands: interquartile range"
    save_figure(
        CurvesDisplay(panels, "training RMSE", note).plot("Training error on the two-concept data"),
        folder / "rmse.png",
    )


def _starts(restarts: int) -> str:
    return "one start" if restarts == 1 else f"best of {restarts} starts"


def _section(results: Results) -> Section:
    n_sets = len(results["settings"]["seeds"])
    rows = []
    for column in results["columns"]:
        low, middle, high = column["quartiles"]
        rows.append(
            [
                f"alpha {column['alpha']:g}, {_starts(column['restarts'])}",
                f"{middle:.1%}",
                f"{low:.1%} to {high:.1%}",
                f"{column['both_found']} of {n_sets}",
                f"{column['one_found']} of {n_sets}",
            ]
        )
    shown = results["shown"]
    rules = RuleBase.from_dict(shown["rules"])
    return Section(
        "synthetic",
        "Two concepts in the plane",
        [
            Text(
                "Bags of points; a positive bag has at least one point in one of two discs, but which one is not "
                "given. Six rules are initialized from random partitions with widths of 0.5 and trained on 150 bags. "
                f"{n_sets} datasets, each with its own start, are evaluated on 500 test bags."
            ),
            Table(
                "Accuracy on test bags, and concepts found",
                ["settings", "median", "quartiles", "both concepts found", "at least one"],
                rows,
                "Found: a rule that concludes 0.5 or more has its center inside the concept. The paper shows one run, "
                "which found both, and reports no accuracy.",
            ),
            Text(_finding(results, n_sets), finding=True),
            Figure("data", "The first dataset. The points of one bag of concept 1 are circled."),
            Figure(
                "membership",
                f"Fuzzy sets before and after training (alpha {shown['alpha']:g}, {_starts(shown['restarts'])}, first "
                "dataset), corresponding to the paper's figure of learned membership functions.",
            ),
            Figure(
                "rules",
                "The same rules in the plane. Dashed: rules that conclude “negative”; some are outside the picture.",
            ),
            Table(
                "Conclusions of the rules",
                ["rule", "conclusion", "center", "width", "verdict"],
                [_rule_row(rules, r) for r in range(rules.n_rules)],
                "Conclusions of the irrelevant rules in the paper: "
                + ", ".join(f"{value:g} (rule {rule})" for rule, value in IRRELEVANT_OUTPUTS.items())
                + ".",
            ),
            Figure("rmse", "Training error by epoch."),
        ],
    )


def _rule_row(rules: RuleBase, r: int) -> list[str]:
    output, center = rules.coefs[r, 0, 0], rules.centers[r]
    distances = np.linalg.norm(CONCEPTS - center, axis=1)
    verdict = "irrelevant (concludes negative)"
    if output >= 0.5:
        inside = distances.min() <= RADIUS
        verdict = f"concept {int(distances.argmin()) + 1} found" if inside else "positive, outside both concepts"
    points = [f"({a:.2f}, {b:.2f})" for a, b in (center, rules.widths[r])]
    return [str(r + 1), f"{output:.2f}", *points, verdict]


def _finding(results: Results, n_sets: int) -> str:
    columns = results["columns"]
    best = max(columns, key=lambda column: column["quartiles"][1])
    found = "; ".join(
        f"alpha {column['alpha']:g}, {_starts(column['restarts'])}: {column['both_found']}" for column in columns
    )
    return (
        f"Datasets (of {n_sets}) in which both concepts were found: {found}. The best median accuracy, "
        f"{best['quartiles'][1]:.1%}, is that of alpha {best['alpha']:g} and {_starts(best['restarts'])}."
    )


SYNTHETIC = Experiment("synthetic", _units, _collect, _draw, _section)

"""Figures of the landmine experiment; every title says that the alarms are simulated."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzzymil.datasets.gpr.simulation import draw_alarm
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._statistics import padded
from fuzzymil.experiments.landmine.methods import NORMALIZED, PAPER, REFERENCE, START
from fuzzymil.plots import CubeDisplay, CurvesDisplay, Line, MembershipDisplay, RocDisplay, save_figure
from fuzzymil.rules import RuleBase

__all__ = ["draw", "shown_alarms"]

# With bands and without: the bands of more than a few methods would hide each other.
_BANDED = (REFERENCE, START, "ANFIS, expert's window labels", "NaiveANFIS")
_PLAIN = (
    REFERENCE,
    PAPER,
    "ANFIS, true window labels",
    "Mamdani, expert's window labels",
    "NaiveMamdani",
    "EHDDT alone",
    "EHDCT alone",
    "logistic regression on bag statistics",
)

_RULES_SHOWN, _MIN_ADDED = 3, 0.01  # for each alarm, the rules that changed its output most


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    difficulties = results["difficulties"]
    for name, own in difficulties.items():
        for stem, methods, bands in ((f"roc_{name}", _BANDED, True), (f"roc_others_{name}", _PLAIN, False)):
            display = RocDisplay.from_scores(
                {method: _by_fold(own, method) for method in methods},
                xlabel="false-alarm rate",
                ylabel="detection rate",
            )
            save_figure(display.plot(f"Simulated alarms, {name}", bands=bands), folder / f"{stem}.png")
    curves = {
        name: [
            Line.mean_of(method.removeprefix("MI-ANFIS, "), padded(own["rmse"][method]))
            for method in (NORMALIZED, START, PAPER, "NaiveANFIS")
        ]
        for name, own in difficulties.items()
    }
    note = "mean over folds; bands: interquartile range"
    save_figure(
        CurvesDisplay(curves, "training RMSE", note).plot("Training error, simulated alarms"), folder / "rmse.png"
    )
    first = next(iter(difficulties))
    own = difficulties[first]
    for stem, method in (("rules_start", START), ("rules_default", REFERENCE)):
        initial, trained = (RuleBase.from_dict(own["rules"][method][which]) for which in ("initial", "trained"))
        sets = MembershipDisplay.from_rules(trained, initial)
        save_figure(sets.plot(f"{method}: simulated alarms, {first}"), folder / f"{stem}.png")
    for stem, place in shown_alarms(own, REFERENCE).items():
        _draw_cube(own, REFERENCE, place, first, folder / f"{stem}.png")


def _by_fold(own: Results, method: str) -> list[tuple[list[int], list[float]]]:
    truth, folds, scores = (np.array(values) for values in (own["truth"], own["folds"], own["curves"][method]))
    return [(truth[folds == fold].tolist(), scores[folds == fold].tolist()) for fold in np.unique(folds)]


def shown_alarms(own: Results, method: str) -> dict[str, int]:
    """Choose two test alarms of the first fold by score: the median low-metal mine and the highest-scoring clutter.

    Returns
    -------
    dict
        Position among the test alarms, by figure name.
    """
    outside = np.array(own["rules"][method]["outside"])
    scores = np.array(own["curves"][method])[outside]
    asked = np.array(own["alarms"]["asked"])[outside]
    mines, clutter = np.flatnonzero(asked == "low-metal mine"), np.flatnonzero(asked == "clutter")
    middle = mines[np.argsort(scores[mines], kind="stable")[len(mines) // 2]]
    return {"cube_mine": int(middle), "cube_clutter": int(clutter[scores[clutter].argmax()])}


def _draw_cube(own: Results, method: str, place: int, difficulty: str, path: Path) -> None:
    kept, alarms = own["rules"][method], own["alarms"]
    bag = kept["outside"][place]
    rules = RuleBase.from_dict(kept["trained"])
    alarm = draw_alarm(alarms["asked"][bag], difficulty, alarms["seeds"][bag])
    added = np.array(kept["contributions"][place])
    fired = {
        f"{rules.name_of(r)} (adds {added[r]:+.2f})": kept["windows"][place][r]
        for r in np.argsort(-np.abs(added), kind="stable")[:_RULES_SHOWN]
        if abs(added[r]) >= _MIN_ADDED
    }
    display = CubeDisplay.from_alarm(alarm, fired=fired)
    score = own["curves"][method][bag]
    save_figure(display.plot(f"Simulated {alarms['kinds'][bag]}, {difficulty}; score {score:+.2f}"), path)

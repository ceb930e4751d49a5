"""What the answers of MI-ANFIS depend on, what its rules say, and which windows they point to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil.experiments._document import Block, Figure, Table, Text
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._words import difference, joined, points, quoted_with, verdict
from fuzzymil.rules import RuleBase

__all__ = ["CAUSES", "rules_blocks", "run_range", "why_blocks", "windows_blocks"]


_NETWORK = "normalized rules, "
CAUSES = {
    "number and length of the rules": ("5 rules", "20 rules", "single conditions"),
    "members and features": ("3 members", "energy as a fifth feature"),
    "start of normalized rules": (f"{_NETWORK}start on mines only", f"{_NETWORK}best of 3 starts"),
    "their aggregation over windows": (
        f"{_NETWORK}alpha 5",
        f"{_NETWORK}alpha 20",
        f"{_NETWORK}greatest instance (max)",
    ),
    "their training": (
        f"{_NETWORK}50 epochs",
        f"{_NETWORK}500 epochs",
        f"{_NETWORK}early stopping",
        f"{_NETWORK}Rule Dropout, kept at 0.7",
    ),
    "their conclusions": (f"{_NETWORK}linear conclusions",),
}
"""What may limit MI-ANFIS, and the variants that show it."""


def run_range(method: Results) -> float:
    """Return the range of the areas of a method's runs.

    Examples
    --------
    >>> run_range({"runs": [0.5, 0.75, 0.625]})
    0.25
    """
    return float(max(method["runs"]) - min(method["runs"]))


def why_blocks(results: Results) -> list[Block]:
    """Return the effect of each variant of MI-ANFIS, and the course of training with the paper's settings."""
    difficulties, settings = results["difficulties"], results["settings"]
    names = list(next(iter(difficulties.values()))["variants"])
    rows = [
        [name, *(difference(own["variants"][name]["auc"]["minus"]) for own in difficulties.values())] for name in names
    ]
    return [
        Text(
            "What do the answers of MI-ANFIS depend on? Each row changes one aspect of the default (number and "
            "length of the rules, members, features) or of normalized rules (start, aggregation over windows, length "
            "and regularization of training, conclusions); all are compared with the default. One cross-validation "
            "each, compared on the folds of the first run. The intervals do not include the variation between "
            "trainings."
        ),
        Table(
            f"Change in area under the ROC curve from “{settings['reference']}” (95%), simulated alarms",
            ["variant", *difficulties],
            rows,
            _noise(difficulties, settings["reference"]),
        ),
        *[Text(_why(name, own, settings), finding=True) for name, own in difficulties.items()],
        Text(
            "The library's training of normalized rules avoids the problems of the paper's settings as follows: the "
            "exact gradient instead of the printed update; Adam on the mean error of all alarms instead of plain steps "
            "alarm by alarm; widths learned as logarithms, so that they cannot cross 0; and conclusions that start at "
            "the mean label of the alarms that fire a rule instead of all at 1, where the exact gradient of centers "
            "and widths is zero. “The paper's start” keeps the paper's initial rules and adopts only the training."
        ),
        *[Text(_literal(name, own, settings["paper"]), finding=True) for name, own in difficulties.items()],
    ]


def _why(difficulty: str, own: Results, settings: Results) -> str:
    changes = {name: variant["auc"]["minus"] for name, variant in own["variants"].items()}
    causes = [f"{cause}: {_clear(changes, names)}" for cause, names in CAUSES.items() if set(names) & set(changes)]
    against = {1: "clearly worse than", 0: "not clearly different from", -1: "clearly better than"}
    words = []
    for name in (settings["start"], settings["paper"]):
        minus = own["methods"][name]["auc"]["minus"]
        words.append(f"{against[verdict(minus)]} “{name}” (whose difference is {difference(minus)})")
    rivals = {name: m["auc"]["minus"]["value"] for name, m in own["methods"].items() if verdict(m["auc"]["minus"]) > 0}
    return (
        f"Simulated, {difficulty}, clear effects by cause: {'; '.join(causes)}. The library's default is "
        f"{' and '.join(words)}. Clearly better than the default: {quoted_with(rivals)}.{_best_variant(own)}"
    )


def _noise(difficulties: Results, reference: str) -> str:
    """State how large a change may be by chance."""
    if len(next(iter(difficulties.values()))["methods"][reference]["runs"]) == 1:
        return ""
    found = [f"{run_range(own['methods'][reference]):.3f} ({name})" for name, own in difficulties.items()]
    return (
        f"The areas of the default's own runs span {', '.join(found)}: changes up to about that size may be chance, "
        "even if the interval excludes 0."
    )


def _clear(changes: Results, names: Sequence[str]) -> str:
    found = {name: changes[name] for name in names if name in changes}
    words = []
    for sign, how in ((1, "better with"), (-1, "worse with")):
        own = {name: minus["value"] for name, minus in found.items() if verdict(minus) == sign}
        if own:
            words.append(f"{how} {quoted_with(own)}")
    return ", ".join(words) or "none"


def _best_variant(own: Results) -> str:
    """Compare the best variant of MI-ANFIS with the best other method, on the one run that variants had."""
    best = own["best_change"]
    place = {1: "clearly better than", 0: "not clearly different from", -1: "clearly worse than"}[
        verdict(best["minus"])
    ]
    return (
        f" On the first run the best of {len(own['variants'])} variants, selected on these very alarms, is "
        f"“{best['change']}” ({best['auc']:.3f}). It is {place} the best other method of that run, “{best['rival']}” "
        f"({best['rival_auc']:.3f}): {difference(best['minus'])}."
    )


def _literal(difficulty: str, own: Results, paper: str) -> str:
    """Describe the course of training with the paper's settings."""
    runs = own["rmse"][paper]
    whole = [run for run in runs if len(run) == max(map(len, runs)) and None not in run]
    if not whole:
        return f"Simulated, {difficulty}, “{paper}”: training diverged in every fold."
    error = np.mean(whole, axis=0)
    scores, folds = np.array(own["curves"][paper]), np.array(own["folds"])
    constant = sum(len(np.unique(scores[folds == fold])) == 1 for fold in np.unique(folds))
    best = int(np.argmin(error))
    return (
        f"Simulated, {difficulty}, “{paper}”: the training error, averaged over folds, is {error[best]:.2f} at its "
        f"minimum (epoch {best + 1}) and {error[-1]:.2f} in the last epoch; always predicting 0.5 gives 0.50. In "
        f"{constant} of {len(np.unique(folds))} folds all test alarms get the same output."
    )


def rules_blocks(results: Results, difficulty: str) -> list[Block]:
    """Return the rules before and after training, as figures and text, and where they fired."""
    settings, own = results["settings"], results["difficulties"][difficulty]
    where = f"simulated alarms, {difficulty}, first fold"
    return [
        Figure(
            "rmse",
            "Training error by epoch (simulated alarms) of normalized rules, with the library's start, the paper's "
            "start and the paper's settings, and of NaiveANFIS, whose error is over windows instead of alarms.",
        ),
        Figure("rules_start", f"Rules with the paper's start before (dashed) and after training; {where}."),
        _rules_table(f"Rules with the paper's start ({where})", own["rules"][settings["start"]]),
        Figure("rules_default", f"Rules of the library's default before (dashed) and after training; {where}."),
        _rules_table(f"Rules of the default ({where})", own["rules"][settings["reference"]]),
        Figure(
            "cube_mine",
            "A simulated low-metal mine from the test fold, the one with the median output: slices through the cube, "
            "the depth windows, those that contain the mine, and those on which the strongest rules fired.",
        ),
        Figure("cube_clutter", "The simulated clutter alarm of the same fold with the highest output."),
    ]


def _rules_table(title: str, kept: Results) -> Table:
    rules = RuleBase.from_dict(kept["trained"])
    rows = [[line] for line in str(rules).split("\n")]
    return Table(title, ["rule"], rows, rules.describe_terms(2).replace("\n", "; "))


def windows_blocks(results: Results) -> list[Block]:
    """Return how often methods point to the right window, and how well they rank windows."""
    difficulties, reference = results["difficulties"], results["settings"]["reference"]
    first = next(iter(difficulties.values()))["windows"]
    rows = []
    for name in first["located"]:
        found = [own["windows"]["located"][name] for own in difficulties.values()]
        rows.append([name, *(cell for one in found for cell in (f"{one['value']:.1%}", points(one["minus"])))])
    chances = [cell for own in difficulties.values() for cell in (f"{own['windows']['chance']:.1%}", "")]
    return [
        Table(
            "How often a method points to a window that holds the mine (simulated)",
            ["method", *(head for name in difficulties for head in (name, "difference, points"))],
            [*rows, ["random window", *chances]],
            "MI-ANFIS points to the witness of its strongest rule for a mine, the others to their highest window. "
            "Mines held by no window are left out. Differences are from the first row, with 95% intervals. Only "
            "methods with window labels were given the windows of these mines. However, the prototypes of EHDDT and "
            "EHDCT, which are inputs to all methods, come from windows that hold mines of the calibration set.",
        ),
        *[Text(_located(name, own, reference), finding=True) for name, own in difficulties.items()],
        Table(
            "Area under the ROC curve of single windows (simulated)",
            ["method", *difficulties],
            [
                [name, *(f"{own['windows']['instance_auc'][name]:.3f}" for own in difficulties.values())]
                for name in first["instance_auc"]
            ],
            "All windows of the test alarms; windows that hold a mine are positive.",
        ),
    ]


_POINTERS = {
    "energy alone": "the loudest window",
    "EHDDT alone": "the highest window of EHDDT",
    "EHDCT alone": "that of EHDCT",
    "NaiveANFIS": "that of NaiveANFIS",
}


def _located(difficulty: str, own: Results, reference: str) -> str:
    located, chance = own["windows"]["located"], own["windows"]["chance"]
    words = []
    for name, rival in _POINTERS.items():
        often = {1: "more often", 0: "about as often", -1: "less often"}[verdict(located[name]["minus"])]
        words.append(f"{rival} {often} ({located[name]['value']:.1%})")
    return (
        f"Simulated, {difficulty}: the witness of the strongest rule of “{reference}” holds the mine in "
        f"{located[reference]['value']:.1%} of {own['windows']['n']} mines (a random window: {chance:.1%}); "
        f"{joined(words)}."
    )

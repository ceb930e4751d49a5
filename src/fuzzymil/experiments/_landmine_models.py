"""What the answers of MI-ANFIS depend on, what its rules say, and where they look; in tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fuzzymil.experiments._document import Block, Figure, Table, Text
from fuzzymil.experiments._landmine_words import apart, joined, listed_with, points, signed, verdict
from fuzzymil.experiments._study import Results
from fuzzymil.rules import RuleBase

__all__ = ["CAUSES", "rules_blocks", "why_blocks", "windows_blocks"]


CAUSES = {
    "number and start of the rules": ("5 rules", "20 rules", "rules start on mines only", "best of 3 starts"),
    "how windows are joined": ("alpha 5", "alpha 20", "greatest instance (max)"),
    "length and restraint of training": (
        "50 epochs",
        "500 epochs",
        "early stopping",
        "Rule Dropout, rules kept at 0.7",
        "3 members",
    ),
    "conclusions and features": ("linear conclusions", "energy as a fifth feature"),
}
"""What may hold MI-ANFIS back, and the changes that tell."""


def why_blocks(results: Results) -> list[Block]:
    """Return what changes of MI-ANFIS change its area, and what becomes of the paper's settings."""
    difficulties, settings = results["difficulties"], results["settings"]
    names = list(next(iter(difficulties.values()))["variants"])
    rows = [[name, *(signed(own["variants"][name]["auc"]["minus"]) for own in difficulties.values())] for name in names]
    return [
        Text(
            "What do the answers of MI-ANFIS depend on? Each row changes the default in one respect: number and start "
            "of the rules, how the windows are joined, length and restraint of training, conclusions and features. One "
            "cross-validation each, compared on the folds of the first run. The intervals do not hold the luck of that "
            "one training."
        ),
        Table(
            f"Change of the area under the ROC curve against “{settings['reference']}” (95 %), simulated alarms",
            ["change", *difficulties],
            rows,
            _noise(difficulties, settings["reference"]),
        ),
        *[Text(_why(name, own, settings), finding=True) for name, own in difficulties.items()],
        Text(
            "What the library's default does about what the paper's settings run into: the exact gradient instead of "
            "the printed update; Adam on the mean error of all alarms instead of plain steps alarm by alarm; widths "
            "that are learned as logarithms and so never pass through 0; conclusions that start at what the alarms "
            "that fire a rule say on average, instead of all at 1, where the exact gradient of centers and widths is "
            "zero. “The paper's start” keeps the paper's first rules and takes over the training only."
        ),
        *[Text(_literal(name, own, settings["paper"]), finding=True) for name, own in difficulties.items()],
    ]


def _why(difficulty: str, own: Results, settings: Results) -> str:
    changes = {name: variant["auc"]["minus"] for name, variant in own["variants"].items()}
    causes = [f"{cause}: {_clear(changes, names)}" for cause, names in CAUSES.items() if set(names) & set(changes)]
    against = {1: "behind", 0: "not told apart from", -1: "ahead of"}
    words = []
    for name in (settings["start"], settings["paper"]):
        minus = own["methods"][name]["auc"]["minus"]
        words.append(f"{against[verdict(minus)]} “{name}” (which differs by {signed(minus)})")
    rivals = {name: m["auc"]["minus"]["value"] for name, m in own["methods"].items() if verdict(m["auc"]["minus"]) > 0}
    return (
        f"Simulated, {difficulty}, clear changes cause by cause: {'; '.join(causes)}. The library's default is "
        f"{' and '.join(words)}. Clearly ahead of the default: {listed_with(rivals)}.{_made_up(own)}"
    )


def _noise(difficulties: Results, reference: str) -> str:
    """Tell how large a change may be by luck."""
    if len(next(iter(difficulties.values()))["methods"][reference]["runs"]) == 1:
        return ""
    found = [f"{apart(own['methods'][reference]):.3f} ({name})" for name, own in difficulties.items()]
    return (
        f"The areas of the default's own runs lie up to {', '.join(found)} apart: changes up to about that size may be "
        "the luck of a single run, also where the interval leaves out 0."
    )


def _clear(changes: Results, names: Sequence[str]) -> str:
    found = {name: changes[name] for name in names if name in changes}
    words = []
    for sign, how in ((1, "better with"), (-1, "worse with")):
        own = {name: minus["value"] for name, minus in found.items() if verdict(minus) == sign}
        if own:
            words.append(f"{how} {listed_with(own)}")
    return ", ".join(words) or "none"


def _made_up(own: Results) -> str:
    """Hold the best change of MI-ANFIS against the best other method, on the one run that changes had."""
    best = own["best_change"]
    place = {1: "ahead of", 0: "not told apart from", -1: "behind"}[verdict(best["minus"])]
    return (
        f" On the first run the best of {len(own['variants'])} changes, picked on these very alarms, is "
        f"“{best['change']}” ({best['auc']:.3f}); it is {place} the best other method of that run, “{best['rival']}” "
        f"({best['rival_auc']:.3f}): {signed(best['minus'])}."
    )


def _literal(difficulty: str, own: Results, paper: str) -> str:
    """Tell how training went with the paper's settings."""
    runs = own["rmse"][paper]
    whole = [run for run in runs if len(run) == max(map(len, runs)) and None not in run]
    if not whole:
        return f"Simulated, {difficulty}, “{paper}”: training broke off in every fold."
    error = np.mean(whole, axis=0)
    scores, folds = np.array(own["curves"][paper]), np.array(own["folds"])
    alike = sum(len(np.unique(scores[folds == fold])) == 1 for fold in np.unique(folds))
    least = int(np.argmin(error))
    return (
        f"Simulated, {difficulty}, “{paper}”: the training error, averaged over the folds, is {error[least]:.2f} at "
        f"best (epoch {least + 1}) and {error[-1]:.2f} in the last epoch; the same answer 0.5 to every alarm has 0.50. "
        f"In {alike} of {len(np.unique(folds))} folds every test alarm gets one and the same output."
    )


def rules_blocks(results: Results, difficulty: str) -> list[Block]:
    """Return the rules before and after training, in figures and words, and where they fired."""
    settings, own = results["settings"], results["difficulties"][difficulty]
    where = f"simulated alarms, {difficulty}, first fold"
    return [
        Figure(
            "rmse",
            "Training error over the epochs (simulated alarms) of MI-ANFIS, by default, with the paper's start and "
            "with its settings, and of NaiveANFIS, which counts windows instead of alarms.",
        ),
        Figure("rules_start", f"Rules with the paper's start before (dashed) and after training; {where}."),
        _rules_table(f"The rules with the paper's start in words ({where})", own["rules"][settings["start"]]),
        Figure("rules_default", f"Rules of the library's default before (dashed) and after training; {where}."),
        _rules_table(f"The rules of the default in words ({where})", own["rules"][settings["reference"]]),
        Figure(
            "cube_mine",
            "A simulated low-metal mine that the default had not seen, the middle one by its output: slices through "
            "the cube, depth windows, those that truly hold the mine, and those that the rules with the greatest "
            "shares fired on.",
        ),
        Figure("cube_clutter", "The simulated clutter alarm of the same fold that the default takes most for a mine."),
    ]


def _rules_table(title: str, kept: Results) -> Table:
    rules = RuleBase.from_dict(kept["trained"])
    rows = [line.rsplit(f" THEN {rules.outputs[0]} = ", 1) for line in str(rules).splitlines()]
    return Table(title, ["rule", "output"], rows, rules.describe_terms(2).replace("\n", "; "))


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
            "How often a method points to a window that truly holds the mine (simulated)",
            ["method", *(head for name in difficulties for head in (name, "difference, points"))],
            [*rows, ["any window, at random", *chances]],
            "MI-ANFIS points to the witness of its strongest rule for a mine; the others to their highest window. "
            "Mines that no window holds are left out. Differences are to the first row, with 95 % intervals. Only "
            "methods with window labels were told windows of these mines. But the prototypes of EHDDT and EHDCT, which "
            "are inputs of all, come from windows that truly hold mines of the calibration.",
        ),
        *[Text(_located(name, own, reference), finding=True) for name, own in difficulties.items()],
        Table(
            "Area under the ROC curve of single windows (simulated)",
            ["method", *difficulties],
            [
                [name, *(f"{own['windows']['instance_auc'][name]:.3f}" for own in difficulties.values())]
                for name in first["instance_auc"]
            ],
            "All windows of the test alarms; positive are those that hold a mine.",
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
        words.append(f"{rival} does {often} ({located[name]['value']:.1%})")
    return (
        f"Simulated, {difficulty}: the witness of the strongest rule of “{reference}” holds the mine in "
        f"{located[reference]['value']:.1%} of {own['windows']['n']} mines (a random window: {chance:.1%}); "
        f"{joined(words)}."
    )

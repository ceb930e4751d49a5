"""What the answers of MI-ANFIS depend on, what its rules say, and where they look; in tables and sentences."""

from __future__ import annotations

from fuzzymil.experiments.document import Block, Figure, Table, Text
from fuzzymil.experiments.landmine_words import listed, points, signed, verdict
from fuzzymil.experiments.study import Results
from fuzzymil.rules import RuleBase

__all__ = ["rules_blocks", "why_blocks", "windows_blocks"]


def why_blocks(results: Results) -> list[Block]:
    """Return what changes of MI-ANFIS change its area."""
    difficulties, settings = results["difficulties"], results["settings"]
    names = list(next(iter(difficulties.values()))["variants"])
    rows = [[name, *(signed(own["variants"][name]["auc"]["minus"]) for own in difficulties.values())] for name in names]
    return [
        Text(
            "What do the answers of MI-ANFIS depend on? Each row changes the default in one respect: the start, the "
            "number of rules, how the windows are joined, the effort of training, the form of conclusions, the "
            "features. One cross-validation each, on the folds of the first run."
        ),
        Table(
            f"Change of the area under the ROC curve against “{settings['reference']}” (95 %), simulated alarms",
            ["change", *difficulties],
            rows,
        ),
        *[Text(_why(name, own, settings), finding=True) for name, own in difficulties.items()],
    ]


def _why(difficulty: str, own: Results, settings: Results) -> str:
    changes = {name: variant["auc"]["minus"] for name, variant in own["variants"].items()}
    helps = [f"{name} ({minus['value']:+.3f})" for name, minus in changes.items() if verdict(minus) > 0]
    harms = [f"{name} ({minus['value']:+.3f})" for name, minus in changes.items() if verdict(minus) < 0]
    against = {1: "behind", 0: "not told apart from", -1: "ahead of"}
    words = []
    for name in (settings["start"], settings["paper"]):
        minus = own["methods"][name]["auc"]["minus"]
        words.append(f"{against[verdict(minus)]} “{name}” (which differs by {signed(minus)})")
    rivals = {name: m["auc"]["minus"]["value"] for name, m in own["methods"].items() if verdict(m["auc"]["minus"]) > 0}
    tail = ""
    if rivals:
        most, best = max(rivals.values()), max(minus["value"] for minus in changes.values())
        tail = (
            f" Ahead of the default by up to {most:+.3f}: {listed(list(rivals))}; the best change of MI-ANFIS "
            f"({best:+.3f}) {'makes up for that' if best >= most else 'does not make up for that'}."
        )
    return (
        f"Simulated, {difficulty}: clearly better than the default: {listed(helps)}; clearly worse: {listed(harms)}. "
        f"The library's default is {' and '.join(words)}.{tail}"
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
            "the cube, depth windows, and the windows that the rules with the greatest shares fired on.",
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
            "Mines that no window holds are left out. Differences are to the first row, with 95 % intervals.",
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


def _located(difficulty: str, own: Results, reference: str) -> str:
    located, chance = own["windows"]["located"], own["windows"]["chance"]
    words = []
    for name, rival in (("energy alone", "the loudest window"), ("NaiveANFIS", "the highest window of NaiveANFIS")):
        often = {1: "more often", 0: "about as often", -1: "less often"}[verdict(located[name]["minus"])]
        words.append(f"{rival} does {often} ({located[name]['value']:.1%})")
    return (
        f"Simulated, {difficulty}: the witness of the strongest rule of “{reference}” holds the mine in "
        f"{located[reference]['value']:.1%} of {own['windows']['n']} mines (a random window: {chance:.1%}); "
        f"{' and '.join(words)}."
    )

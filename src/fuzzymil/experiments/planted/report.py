"""Planted problems in tables, figures and sentences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from fuzzymil._utils import storage
from fuzzymil.datasets import PLANTED
from fuzzymil.experiments._document import Block, Figure, Section, Table, Text, as_markdown
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._words import difference, joined, p_value, plural
from fuzzymil.experiments.planted.figures import draw_figures
from fuzzymil.experiments.planted.methods import BOOSTING, OWN
from fuzzymil.experiments.planted.numbers import TOLERANCE, mean, verdict
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import printer

__all__ = ["draw", "section"]

MAX_SETS = 12  # fuzzy sets that are written out
ENOUGH = 0.8  # share of datasets in which exactly the true features should be found


def draw(results: Results, folder: Path) -> None:
    """Write the figures, and the tables as Markdown."""
    draw_figures(results, folder)
    tables = [block for block in section(results).blocks if isinstance(block, Table)]
    storage.write_atomically(folder / "tables.md", "\n".join(map(as_markdown, tables)))


def section(results: Results) -> Section:
    """Return the section of the page."""
    settings = results["settings"]
    sizes = [str(size) for size in settings["sizes"]]
    blocks: list[Block] = [
        Text(_introduction(settings)),
        _truth_table(),
        *[Text(_level_finding(results, size), finding=True) for size in sizes],
        Figure(
            "accuracy",
            "Mean accuracy of each method on each kind. Filled: the default.",
        ),
        *[block for size in sizes for block in (_accuracy_table(results, size), _verdict_table(results, size))],
        *[Text(_features_finding(results, size), finding=True) for size in sizes],
        *[_reading_table(results, size) for size in sizes],
        _rules_table(results, _shown_size(results)),
        *[_means_table(results, size) for size in sizes],
        Figure(
            "conditions",
            f"Accuracy against the number of conditions, {settings['path_size']} training bags. Points: the default "
            f"with at most {_bounds(results, 'chosen')} rules; {_bounds(results, 'normalized')} normalized rules; 10 "
            f"normalized rules, shortened to {_bounds(results, 'shortened')} conditions each.",
        ),
    ]
    return Section("planted", "Planted problems", blocks)


def _bounds(results: Results, way: str) -> str:
    path = next(iter(results["paths"].values()))
    return joined([str(entry["bound"]) for entry in path[way]])


def _introduction(settings: Results) -> str:
    n_sets = settings["n_sets"]
    return (
        f"{len(PLANTED)} kinds of bag problems with a known truth: one to eight features matter, and "
        f"{settings['n_noise']} or more others are noise. {joined(list(map(str, settings['sizes'])))} training bags, "
        f"half of them positive, and {settings['n_test']} test bags; {plural(n_sets, 'dataset')} of each kind and "
        "number of bags, each drawn anew, the same for all methods. No method is told which kind it is, and all have "
        "one setting for all kinds. Bag statistics are the mean, minimum and maximum of each feature in a bag; for "
        "logistic regression and boosting also its standard deviation, and the number of instances."
    )


def _truth_table() -> Table:
    return Table(
        "The problems",
        ["kind", "a bag is positive if", "instances per bag"],
        [[kind, problem.truth, f"{problem.sizes[0]} to {problem.sizes[1]}"] for kind, problem in PLANTED.items()],
        "Values are uniform between 0 and 10 unless stated otherwise. In “shift”, even the best possible decision is "
        "right for only 89% of the bags.",
        prose=True,
    )


# ---------------------------------------------------------------------- accuracy


def _accuracy_table(results: Results, size: str) -> Table:
    found = results["measured"][size]
    methods = list(next(iter(found.values())))
    rows = [[kind, *(f"{100 * np.mean(own[name]['accuracy']):.1f}" for name in methods)] for kind, own in found.items()]
    rows.append(["mean", *(f"{100 * np.mean([own[m]['accuracy'] for own in found.values()]):.1f}" for m in methods)])
    n = results["settings"]["n_sets"]
    return Table(f"Accuracy in percent, {size} training bags, mean of {plural(n, 'dataset')}", ["kind", *methods], rows)


def _verdict_table(results: Results, size: str) -> Table:
    rows = [
        [
            kind,
            f"{100 * found['own']:.1f}",
            found["peer"],
            f"{100 * found['best']:.1f}",
            difference(found["test"], digits=1),
            p_value(found["p"]),
            "yes" if found["within"] else "no",
        ]
        for kind, found in results["verdicts"][size].items()
    ]
    return Table(
        f"The default and the best of the others, {size} training bags",
        ["kind", "default", "best of the others", "its accuracy", "difference (95%)", "p", _within_words()],
        rows,
        f"n = {plural(results['settings']['n_sets'], 'dataset')} per kind. Paired differences in percentage points, "
        "with t-intervals; p-values of t-tests, corrected for all kinds and numbers of bags by Holm's method. The best "
        "of several methods is chosen by these results and so favored by luck.",
    )


def _within_words() -> str:
    return f"within {TOLERANCE:g} points"


def _level_finding(results: Results, size: str) -> str:
    verdicts = results["verdicts"][size]
    within = [kind for kind, found in verdicts.items() if found["within"]]
    missed = [
        f"{kind} ({found['test']['mean']:+.1f}, {found['peer']})"
        for kind, found in verdicts.items()
        if not found["within"]
    ]
    rest = f" Not on {joined(missed)}." if missed else ""
    without = [_verdict_without(own, BOOSTING) for own in results["measured"][size].values()]
    return (
        f"With {size} training bags, “{OWN}” is {_within_words()} of the best other method, or better, on "
        f"{len(within)} of {len(verdicts)} kinds.{rest} Leaving out {BOOSTING}: on "
        f"{sum(found['within'] for found in without)} of {len(without)}."
    )


def _verdict_without(measured: Results, left_out: str) -> Results:
    return verdict({name: own["accuracy"] for name, own in measured.items() if name != left_out})


# ---------------------------------------------------------------------- what the rules say


def _features_finding(results: Results, size: str) -> str:
    found = results["measured"][size]
    n = results["settings"]["n_sets"]
    counts = {kind: sum(own[OWN]["exactly"]) for kind, own in found.items()}
    enough = [kind for kind, count in counts.items() if count >= ENOUGH * n]
    fewer = [f"{kind} ({count})" for kind, count in counts.items() if kind not in enough]
    rest = f" In fewer: {joined(fewer)}." if fewer else ""
    hits = mean([mean(own[OWN]["hits"]) for own in found.values()])
    return (
        f"With {size} training bags, the rules of “{OWN}” use the true features and no others in at least "
        f"{int(np.ceil(ENOUGH * n))} of {plural(n, 'dataset')} on {len(enough)} of {len(counts)} kinds.{rest} Where "
        f"single instances make a bag positive, the strongest rule points to one of them in {hits:.0%} of the bags."
    )


def _reading_table(results: Results, size: str) -> Table:
    n = results["settings"]["n_sets"]
    rows = []
    for kind, own in results["measured"][size].items():
        for name, found in own.items():
            if "n_rules" not in found:
                continue
            numbers = [mean(found[key]) for key in ("n_rules", "n_conditions")]
            shares = [mean(found[key]) for key in ("hits", "chance")]
            area = mean(found["instance_auc"])
            rows.append(
                [
                    f"{kind}, {name.removeprefix('MI-ANFIS, ')}",
                    *(f"{number:.1f}" for number in numbers),
                    *(f"{sum(found[key])} of {n}" for key in ("exactly", "contains")),
                    *("-" if share is None else f"{share:.0%}" for share in shares),
                    "-" if area is None else f"{area:.3f}",
                ]
            )
    return Table(
        f"What the rules say, {size} training bags",
        ["kind, rules", "rules", "conditions", "only true features", "all true features", "witness is true",
         "by chance", "instance AUC"],
        rows,
        "Rules and conditions: mean numbers per model. Features of rules that can change the output. “Witness is "
        "true”: the share of positive bags in which the strongest positive rule points to one of the instances that "
        "make the bag positive. Instance AUC: instance_scores of these against the other instances within positive "
        "bags, averaged over bags.",
    )  # fmt: skip


def _shown_size(results: Results) -> str:
    """Return the number of training bags whose rules are printed: that of the path."""
    return str(results["settings"]["path_size"])


def _rules_table(results: Results, size: str) -> Table:
    rows = []
    for kind, stored in results["rules"][size].items():
        rules = RuleBase.from_dict(stored)
        rows.append([kind, PLANTED[kind].truth, str(rules), _sets(rules)])
    return Table(
        f"Rules of “{OWN}” for the first dataset of each kind, {size} training bags",
        ["kind", "a bag is positive if", "rules", "fuzzy sets"],
        rows,
        prose=True,
    )


def _sets(rules: RuleBase) -> str:
    """Return the fuzzy sets that the rules use; many are only counted after the first ones."""
    used = {(condition.variable, condition.term) for rule in rules.rules for condition in rule.conditions}
    found = [
        f"{variable.name} {term} = {printer.format_set(chosen, 3)}"
        for variable in rules.variables
        for term, chosen in variable.terms.items()
        if (variable.name, term) in used
    ]
    more = [f"{len(found) - MAX_SETS} more"] if len(found) > MAX_SETS else []
    return "\n".join(found[:MAX_SETS] + more)


# ---------------------------------------------------------------------- means over kinds


def _means_table(results: Results, size: str) -> Table:
    found = results["measured"][size]
    digits: dict[str, Callable[[float], str]] = {
        "accuracy": lambda value: f"{100 * value:.1f}",
        "auc": lambda value: f"{100 * value:.1f}",
        "brier": lambda value: f"{value:.3f}",
    }
    rows = []
    for name in next(iter(found.values())):
        cells = []
        for measure, worded in digits.items():
            value = mean([mean(own[name][measure]) for own in found.values()])
            cells.append("-" if value is None else worded(value))
        times = np.array([own[name]["seconds"] for own in found.values()])
        rows.append([name, *cells, f"{np.median(times):.2f}", f"{times.max():.2f}"])
    return Table(
        f"All kinds together, {size} training bags",
        ["method", "accuracy in %", "AUC in %", "Brier score", "seconds per fit, median", "most"],
        rows,
        "Processor seconds in one thread; the longest fit includes compilation.",
    )

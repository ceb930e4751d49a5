"""Short rules, an expert's rules and instance scores in tables, figures and sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzzymil.datasets import CONCEPTS
from fuzzymil.experiments._document import Block, Figure, Section, Table, Text
from fuzzymil.experiments._experiment import Results
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._words import difference, joined, p_value, plural, quoted, verdict
from fuzzymil.plots import Line, MembershipDisplay, PathDisplay, PathPanel, ScoresDisplay, save_figure
from fuzzymil.rules import RuleBase

__all__ = ["draw", "section"]

WAYS = {
    "chosen": "chosen from candidates",
    "searched": "searched before training",
    "shortened": "trained long, then shortened",
}
DEFAULT = "chosen"  # without a limit, this is the library's default, which the others are compared with
MUSK = PRINTED["musk1"].title
_NO_BREAK = "\u00a0"


def _titles(results: Results) -> dict[str, str]:
    """Return the titles of the datasets used."""
    padded = f"Two concepts and {results['settings']['n_noise']} noise features"
    return {name: {"musk1": MUSK, "padded": padded}[name] for name in results["paths"]}


# ---------------------------------------------------------------------- figures


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    commoner = results["settings"]["commoner_class"]
    panels = {title: _panel(results["paths"][name], commoner[name]) for name, title in _titles(results).items()}
    note = "bands: one standard deviation over repeats or datasets"
    display = PathDisplay(panels, "maximum number of conditions per rule", "accuracy in percent", note)
    save_figure(display.plot("The cost of short rules"), folder / "path.png")
    expert = results["expert"]
    scores = {name: (100 * m["mean"], 100 * m["deviation"]) for name, m in expert["methods"].items()}
    few = ScoresDisplay({"ten training bags": scores}, "accuracy in percent")
    save_figure(few.plot("The value of an expert's rules"), folder / "expert.png")
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(trained.feature_names)}
    sets = MembershipDisplay.from_rules(trained, written).with_marks(marks)
    save_figure(sets.plot("The expert's fuzzy sets, before and after training on ten bags"), folder / "sets.png")


def _panel(path: Results, commoner: float) -> PathPanel:
    limits = [entry["max_conditions"] for entry in next(iter(path.values()))]
    lines = []
    for way, entries in path.items():
        means = 100 * np.array([entry["mean"] for entry in entries])
        around = [entry["deviation"] for entry in entries]
        known = None not in around
        band = means[:, None] + 100 * np.outer(around, [-1, 1]) if known else None
        lines.append(Line(WAYS[way], means, band))
    lines.append(Line("majority class", np.full(len(limits), 100 * commoner)))
    return PathPanel(limits, [*map(str, limits[:-1]), f"all {limits[-1]}"], lines)


# ---------------------------------------------------------------------- short rules


def section(results: Results) -> Section:
    """Return the section of the page."""
    return Section(
        "rules", "Readable rules", [*_path_blocks(results), *_expert_blocks(results), *_instance_blocks(results)]
    )


def _path_blocks(results: Results) -> list[Block]:
    settings, titles = results["settings"], _titles(results)
    n_sets = len(settings["seeds"]["padded"])
    musk = (
        f"{MUSK}: {settings['n_folds']}-fold stratified cross-validation, {plural(settings['n_repeats'], 'repeat')}, "
        "on the folds of the benchmark experiment. "
        if "musk1" in titles
        else f"{MUSK} is left out of a quick run. "
    )
    return [
        Text(
            "A rule with a condition on each of 166 features explains nothing. There are three ways to get short "
            "rules, each with max_conditions: by default, the library chooses additive rules from a dictionary of "
            "candidates; with init=“search” it searches for short normalized rules and then trains them; with another "
            "initialization (here init=“kmeans”) it trains long normalized rules and removes the least useful "
            f"conditions step by step. {musk}Two concepts: {n_sets} datasets of 150 training bags and 500 test bags, "
            f"the plane padded with {settings['n_noise']} noise features (uniform over the range of the others). All "
            "other parameters have their defaults; rules chosen without a limit are the default itself."
        ),
        Figure("path", "Accuracy on test bags by maximum number of conditions per rule (logarithmic)."),
        *[_path_table(results, name) for name in titles],
        *[Text(_path_finding(results, name, way), finding=True) for name in titles for way in results["paths"][name]],
        *[Text(_features_finding(way, path, n_sets), finding=True) for way, path in results["paths"]["padded"].items()],
        *[_shown_table(each) for each in results["shown"]],
    ]


def _path_table(results: Results, name: str) -> Table:
    padded = name == "padded"
    rows = []
    for way, entries in results["paths"][name].items():
        for entry in entries:
            rows.append(
                [
                    f"{way}, {'all' if entry is entries[-1] else entry['max_conditions']}".replace(" ", _NO_BREAK),
                    _percent(entry),
                    f"{entry['n_rules']:.1f}",
                    f"{entry['n_conditions']:.1f}",
                    *_tested(entry["against_default"], digits=1, scale=100),
                    *([f"{entry['both_told']}", f"{entry['exactly']}"] if padded else []),
                    *([f"{entry['noise_features']:.1f}", f"{entry['instance_auc']:.3f}"] if padded else []),
                ]
            )
    extra = ["both found", "only the two", "noise", "instance AUC"] if padded else []
    n_sets = len(results["settings"]["seeds"]["padded"])
    note = "Rules and conditions: mean numbers per rule base. Difference from the default in percentage points, with "
    if padded:
        note += (
            f"Wilcoxon's signed-rank test over {n_sets} datasets. Both found: of {n_sets} datasets, those in which "
            "each concept has a positive rule that asks one instance about the two features of the plane alone and has "
            "its center inside the concept; a rule is positive if it concludes 0.5 or more or, as an additive rule, "
            "adds to the output. Only the two: those in which all positive rules together use exactly these two "
            "features. Noise: the mean number of noise features they use."
        )
    else:
        note += "Nadeau and Bengio's corrected resampled t-test over all folds and repeats."
    stopped = sum(entry["stopped"] for entries in results["paths"][name].values() for entry in entries)
    note += f" Trainings that diverged and were stopped: {stopped}." if stopped else ""
    return Table(
        _titles(results)[name],
        ["rules, conditions per rule", "accuracy in %", "rules", "conditions", "difference (95%)", "p", *extra],
        rows,
        f"{note} Intervals and p-values are not corrected for multiple comparisons. A difference is called clear if "
        "its interval excludes 0.",
    )


def _path_finding(results: Results, name: str, way: str) -> str:
    """Name the limits with clearly lower, similar and clearly higher accuracy."""
    groups: dict[int, list[str]] = {-1: [], 0: [], 1: []}
    path = results["paths"][name]
    for entry in path[way]:
        if (test := entry["against_default"]) is not None:
            groups[verdict(test)].append(f"{_limit(entry, path[way])} ({entry['mean']:.1%})")
    default = path[DEFAULT][-1]
    names = {-1: "clearly lower", 0: "not clearly different", 1: "clearly higher"}
    words = "; ".join(f"{names[sign]} with {joined(limits)}" for sign, limits in groups.items() if limits)
    return (
        f"{_titles(results)[name]}, rules {WAYS[way]}: compared with the default, which reaches {default['mean']:.1%} "
        f"with {default['n_conditions']:.0f} conditions (majority class: "
        f"{results['settings']['commoner_class'][name]:.1%}), accuracy by maximum number of conditions per rule is "
        f"{words}."
    )


def _features_finding(way: str, path: list[Results], n_sets: int) -> str:
    return (
        f"Padded data, {n_sets} datasets, rules {WAYS[way]}: both concepts are found by their two features alone in "
        f"{_counted('both_told', path)}. All positive rules together use exactly these two in "
        f"{_counted('exactly', path)}."
    )


def _counted(name: str, path: list[Results]) -> str:
    """Return each count with the limits that have it, the highest count first."""
    limits: dict[int, list[str]] = {}
    for entry in path:
        limits.setdefault(entry[name], []).append(_limit(entry, path))
    return "; ".join(f"{count} (with at most {joined(limits[count])})" for count in sorted(limits, reverse=True))


def _shown_table(shown: Results) -> Table:
    rules = RuleBase.from_dict(shown["rules"])
    lines = [line.partition(": ")[::2] for line in rules.to_text(digits=3).split("\n")]
    return Table(
        f"Rules for the first padded dataset, {WAYS[shown['way']]}, at most {shown['max_conditions']} conditions",
        ["", "rule"],
        [[label, text.removeprefix("IF ")] for label, text in lines],
        f"Sets: {rules.describe_terms(digits=3).replace(chr(10), '; ')}. The concepts are at "
        + " and ".join(f"({a:g}, {b:g})" for a, b in CONCEPTS)
        + " in x1 and x2.",
        prose=True,
    )


def _premise(rules: RuleBase, r: int) -> str:
    conditions = [
        f"{name} ≈ {rules.centers[r, d]:.2f} ± {rules.widths[r, d]:.2f}".replace(" ", _NO_BREAK)
        for d, name in enumerate(rules.feature_names)
        if not np.isnan(rules.centers[r, d])
    ]
    return " AND ".join(conditions) or "anything"


def _conclusion(rules: RuleBase, r: int) -> str:
    weight = rules.rules[r].weight
    return f"{rules.output_names[0]} = {rules.coefs[r, 0, 0]:.2f}" + (f" WITH {weight:g}" if weight != 1 else "")


# ---------------------------------------------------------------------- an expert's rules


def _expert_blocks(results: Results) -> list[Block]:
    expert = results["expert"]
    n_sets = len(results["settings"]["seeds"]["ten bags"])
    first = expert["first"]
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    rows = [
        [name, _percent(method), *_tested(expert["first_minus"].get(name), digits=1, scale=100)]
        for name, method in expert["methods"].items()
    ]
    return [
        Text(
            f"What is an expert worth if there are only ten bags? {n_sets} datasets with five positive and five "
            "negative training bags, and 500 test bags, half of them positive. The expert writes two rules near the "
            "concepts, each set off by 0.15 and more than twice as wide as it should be, and a rule for everything "
            f"else. Random starts have the same number of rules ({written.n_rules}), the same alpha "
            f"({written.alpha:g}) and the same training. Rule Dropout is off, as it is by default for given rules, "
            f"except in the row that shows its effect (keep probability {results['settings']['keep_prob']:g})."
        ),
        Table(
            f"Accuracy on test bags after training on ten bags, {n_sets} datasets",
            ["start", "accuracy in %", f"{first}, minus this (95%)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over datasets; differences are paired.",
        ),
        Text(_expert_finding(expert), finding=True),
        Figure("expert", "Mean accuracy and standard deviation over datasets."),
        Table(
            "The expert's rules, as written and after training on ten bags (first dataset)",
            ["rule", "as written: IF", "THEN", "trained: IF", "THEN"],
            [
                [str(r + 1), *(words(rules, r) for rules in (written, trained) for words in (_premise, _conclusion))]
                for r in range(written.n_rules)
            ],
        ),
        Figure("sets", "The same rules as fuzzy sets; dashed: as written. Lines mark the centers of the concepts."),
    ]


def _expert_finding(expert: Results) -> str:
    first = expert["methods"][expert["first"]]
    names = {-1: "worse than", 0: "not clearly different from", 1: "better than"}
    words = [
        f"{names[verdict(test)]} “{name}” "
        f"({expert['methods'][name]['mean']:.1%}; {100 * test['mean']:+.1f} points, {p_value(test['p'], name='p')})"
        for name, test in expert["first_minus"].items()
    ]
    return (
        f"With ten training bags, “{expert['first']}” reaches a mean accuracy of {first['mean']:.1%} over "
        f"{len(first['values'])} datasets: {'; '.join(words)}."
    )


# ---------------------------------------------------------------------- instances


def _instance_blocks(results: Results) -> list[Block]:
    instances = results["instances"]
    n_sets = len(results["settings"]["seeds"]["plain"])
    first = instances["first"]
    rows = [
        [name, f"{method['mean']:.3f} ± {method['deviation']:.3f}", *_tested(_minus(instances, name), digits=3)]
        for name, method in instances["methods"].items()
    ]
    means = {name: f"{method['mean']:.3f}" for name, method in instances["methods"].items()}
    best = [name for name, mean in means.items() if mean == max(means.values())]
    return [
        Text(
            "It is known here which points of a bag lie in a concept, but the training did not use it. How well do the "
            "scores of single instances (instance_scores) find these points? The two-concept data without noise "
            f"features, {n_sets} datasets, instances of 500 test bags."
        ),
        Table(
            "Area under the ROC curve of instances",
            ["method", "AUC", f"minus {first} (95%)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over datasets; differences are paired.",
        ),
        Text(
            f"“{first}” separates instances with an AUC of {means[first]}, Naive-ANFIS with {means['Naive-ANFIS']}. "
            f"The highest AUC, {max(means.values())}, is that of {quoted(best)}.",
            finding=True,
        ),
    ]


def _minus(methods: Results, name: str) -> Results | None:
    """Return the difference of a method from the first one."""
    test = methods["first_minus"].get(name)
    return None if test is None else {**test, "mean": -test["mean"], "low": -test["high"], "high": -test["low"]}


# ---------------------------------------------------------------------- cells


def _percent(entry: Results) -> str:
    deviation = entry["deviation"]
    return f"{100 * entry['mean']:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def _tested(test: Results | None, digits: int, scale: float = 1.0) -> list[str]:
    """Return the cells of a difference and its p-value, empty for the method that the others are compared with."""
    return ["", ""] if test is None else [difference(test, digits, scale), p_value(test["p"])]


def _limit(entry: Results, path: list[Results]) -> str:
    return f"all {entry['max_conditions']}" if entry is path[-1] else str(entry["max_conditions"])

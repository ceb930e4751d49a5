"""Short rules, an expert's rules and instance scores in tables, figures and sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzzymil.datasets import CONCEPTS
from fuzzymil.experiments._document import Block, Figure, Section, Table, Text
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._study import Results
from fuzzymil.plots import Line, MembershipDisplay, PathDisplay, PathPanel, ScoresDisplay, save_figure
from fuzzymil.rules import RuleBase

__all__ = ["draw", "section"]

WAYS = {"searched": "searched before training", "shortened": "trained long, then shortened"}
MUSK = PRINTED["musk1"].title
_TOGETHER = "\u00a0"  # a space where no line ends


def _titles(results: Results) -> dict[str, str]:
    """Return the titles of the data sets that were used."""
    padded = f"Two concepts and {results['settings']['n_noise']} noise features"
    return {name: {"musk1": MUSK, "padded": padded}[name] for name in results["paths"]}


# ---------------------------------------------------------------------- figures


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    commoner = results["settings"]["commoner_class"]
    panels = {title: _panel(results["paths"][name], commoner[name]) for name, title in _titles(results).items()}
    note = "bands: one standard deviation over repeats or data sets"
    display = PathDisplay(panels, "conditions a rule may have", "accuracy in percent", note)
    save_figure(display.plot("The price of short rules"), folder / "path.png")
    expert = results["expert"]
    scores = {name: (100 * m["mean"], 100 * m["deviation"]) for name, m in expert["methods"].items()}
    few = ScoresDisplay({"ten training bags": scores}, "accuracy in percent")
    save_figure(few.plot("What an expert's rules are worth"), folder / "expert.png")
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    marks = {name: CONCEPTS[:, d].tolist() for d, name in enumerate(trained.feature_names)}
    sets = MembershipDisplay.from_rules(trained, written).with_marks(marks)
    save_figure(sets.plot("The expert's fuzzy sets, before and after ten bags"), folder / "sets.png")


def _panel(path: Results, commoner: float) -> PathPanel:
    limits = [entry["max_terms"] for entry in next(iter(path.values()))]
    lines = []
    for way, entries in path.items():
        means = 100 * np.array([entry["mean"] for entry in entries])
        around = [entry["deviation"] for entry in entries]
        known = None not in around
        band = means[:, None] + 100 * np.outer(around, [-1, 1]) if known else None
        lines.append(Line(WAYS[way], means, band))
    lines.append(Line("always the commoner class", np.full(len(limits), 100 * commoner)))
    return PathPanel(limits, [*map(str, limits[:-1]), f"all {limits[-1]}"], lines)


# ---------------------------------------------------------------------- the page


def section(results: Results) -> Section:
    """Return the section of the page."""
    return Section(
        "rules",
        "Rules people can read",
        [*_path_blocks(results), *_expert_blocks(results), *_instance_blocks(results)],
    )


def _path_blocks(results: Results) -> list[Block]:
    settings, titles = results["settings"], _titles(results)
    n_sets = len(settings["seeds"]["padded"])
    shown = results["shown"]
    musk = (
        f"{MUSK}: {settings['n_folds']}-fold stratified cross-validation, run {settings['n_repeats']} time(s), on the "
        "folds of the benchmark experiment. "
        if "musk1" in titles
        else f"{MUSK} is left out of a quick run. "
    )
    return [
        Text(
            "A rule with a condition on each of 166 features explains nothing. Two ways lead to short ones: with "
            "max_terms the library searches short rules first and then trains them; with another start besides "
            "(here init=“kmeans”) it trains long rules and cuts, step by step, the conditions that are worth least. "
            f"{musk}Two concepts: {n_sets} data sets of 150 training bags and 500 unseen ones, the plane padded with "
            f"{settings['n_noise']} features that say nothing (uniform over the range of the others). All other "
            "settings are the defaults; trained long and not cut at all is the default itself."
        ),
        Figure("path", "Conditions a rule may have (logarithmic) against accuracy on bags not trained on."),
        *[_path_table(results, name) for name in titles],
        *[Text(_path_finding(results, name, way), finding=True) for name in titles for way in results["paths"][name]],
        *[Text(_features_finding(way, path, n_sets), finding=True) for way, path in results["paths"]["padded"].items()],
        *([] if shown is None else [_shown_table(shown)]),
    ]


def _path_table(results: Results, name: str) -> Table:
    padded = name == "padded"
    rows = []
    for way, entries in results["paths"][name].items():
        for entry in entries:
            rows.append(
                [
                    f"{way}, {'all' if entry is entries[-1] else entry['max_terms']}".replace(" ", _TOGETHER),
                    _percent(entry),
                    f"{entry['n_rules']:.1f}",
                    f"{entry['n_conditions']:.1f}",
                    *_tested(entry["against_default"], 100, ".1f"),
                    *(_padded_cells(entry) if padded else []),
                ]
            )
    extra = ["both told", "only the two", "others", "instance AUC"] if padded else []
    n_sets = len(results["settings"]["seeds"]["padded"])
    note = "Rules and conditions are those in use, all rules together, on average. Points against the default, "
    if padded:
        note += (
            f"Wilcoxon's signed-rank test over {n_sets} data sets. Both told: of {n_sets} data sets, those where each "
            "concept has a rule that concludes 0.5 or more, asks about the two features of the plane alone and has its "
            "center inside. Only the two: those where all rules that conclude 0.5 or more together ask about exactly "
            "these two; others: how many noise features they ask about, on average."
        )
    else:
        note += "corrected resampled t-test of Nadeau and Bengio over all folds of all repeats."
    stopped = sum(entry["stopped"] for entries in results["paths"][name].values() for entry in entries)
    note += f" Trainings that diverged and were stopped: {stopped}." if stopped else ""
    columns = ["way, most conditions", "accuracy in %", "rules", "conditions", "difference (95 %)", "p", *extra]
    return Table(
        _titles(results)[name],
        columns,
        rows,
        note + " Intervals and p are of one comparison each; a "
        "difference is called clear where the interval leaves out 0.",
    )


def _padded_cells(entry: Results) -> list[str]:
    counts = [str(entry[name]) for name in ("both_told", "exactly")]
    return [*counts, f"{entry['noise_features']:.1f}", f"{entry['instance_auc']:.3f}"]


def _path_finding(results: Results, name: str, way: str) -> str:
    """Tell with which limits accuracy is clearly lower, clearly higher, or neither."""
    groups: dict[str, list[str]] = {"clearly lower": [], "not clearly different": [], "clearly higher": []}
    path = results["paths"][name]
    for entry in path[way]:
        test = entry["against_default"]
        if test is not None:
            verdict = _verdict(test, "clearly lower", "not clearly different", "clearly higher")
            groups[verdict].append(f"{_limit(entry, path[way])} ({entry['mean']:.1%})")
    default = path["shortened"][-1]
    words = "; ".join(f"{verdict} with {_listed(limits)}" for verdict, limits in groups.items() if limits)
    return (
        f"{_titles(results)[name]}, rules {WAYS[way]}: against the default, whose {default['n_conditions']:.0f} "
        f"conditions reach {default['mean']:.1%} (always the commoner class: "
        f"{results['settings']['commoner_class'][name]:.1%}), accuracy is, by the most conditions a rule may "
        f"have, {words}."
    )


def _features_finding(way: str, path: list[Results], n_sets: int) -> str:
    return (
        f"Of {n_sets} padded data sets, rules {WAYS[way]} tell both concepts by their two features alone in "
        f"{_counted('both_told', path)}. All rules that conclude “positive” together ask about exactly these two in "
        f"{_counted('exactly', path)}."
    )


def _counted(name: str, path: list[Results]) -> str:
    """Tell a count together with the limits that have it, the greatest count first."""
    limits: dict[int, list[str]] = {}
    for entry in path:
        limits.setdefault(entry[name], []).append(_limit(entry, path))
    return "; ".join(f"{count} (with at most {_listed(limits[count])})" for count in sorted(limits, reverse=True))


def _shown_table(shown: Results) -> Table:
    rules = RuleBase.from_dict(shown["rules"])
    return Table(
        f"The rules of the first padded data set, {WAYS[shown['way']]}, at most {shown['max_terms']} conditions",
        ["rule", "IF", "THEN"],
        [[str(r + 1), _asks(rules, r), _concludes(rules, r)] for r in range(rules.n_rules)],
        "Center ± width of each fuzzy set. The concepts lie at "
        + " and ".join(f"({a:g}, {b:g})" for a, b in CONCEPTS)
        + " of x1 and x2.",
    )


def _asks(rules: RuleBase, r: int) -> str:
    asked = [
        f"{name} ≈ {rules.centers[r, d]:.2f} ± {rules.widths[r, d]:.2f}".replace(" ", _TOGETHER)
        for d, name in enumerate(rules.feature_names)
        if not np.isnan(rules.centers[r, d])
    ]
    return " AND ".join(asked) or "anything"


def _concludes(rules: RuleBase, r: int) -> str:
    weight = rules.rules[r].weight
    return f"{rules.outputs[0]} = {rules.coefs[r, 0, 0]:.2f}" + (f" WITH {weight:g}" if weight != 1 else "")


def _expert_blocks(results: Results) -> list[Block]:
    expert = results["expert"]
    n_sets = len(results["settings"]["seeds"]["ten bags"])
    first = expert["first"]
    written, trained = (RuleBase.from_dict(expert[name]) for name in ("written", "trained"))
    rows = [
        [name, _percent(method), *_tested(expert["first_minus"].get(name), 100, ".1f")]
        for name, method in expert["methods"].items()
    ]
    return [
        Text(
            f"What is an expert worth when there are ten bags? {n_sets} data sets of five positive and five negative "
            "training bags and 500 unseen ones, half of them positive. The expert writes two rules near the "
            "concepts, each set 0.15 off and more than twice as wide as it should be, and a rule for all the rest; "
            f"random starts have as many rules, {written.n_rules}, the same alpha ({written.alpha:g}) and the same "
            "training. Rule Dropout is off, as it is by default on given rules, but for the row that tells what it "
            f"does (rules kept with probability {results['settings']['keep_prob']:g})."
        ),
        Table(
            f"Accuracy on unseen bags after ten training bags, {n_sets} data sets",
            ["start", "accuracy in %", f"{first}, minus this (95 %)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over data sets; differences are paired.",
        ),
        Text(_expert_finding(expert), finding=True),
        Figure("expert", "Mean accuracy and standard deviation over data sets."),
        Table(
            "The expert's rules, as written and after ten bags (first data set)",
            ["rule", "as written: IF", "THEN", "trained: IF", "THEN"],
            [
                [str(r + 1), *(words(rules, r) for rules in (written, trained) for words in (_asks, _concludes))]
                for r in range(written.n_rules)
            ],
        ),
        Figure("sets", "The same as fuzzy sets; dashed: as written. Lines mark the centers of the concepts."),
    ]


def _expert_finding(expert: Results) -> str:
    first = expert["methods"][expert["first"]]
    words = [
        f"{_verdict(test, 'behind', 'not clearly apart from', 'ahead of')} “{name}” "
        f"({expert['methods'][name]['mean']:.1%}; {100 * test['mean']:+.1f} points, {_p_words(test['p'])})"
        for name, test in expert["first_minus"].items()
    ]
    return (
        f"With ten training bags “{expert['first']}” reaches {first['mean']:.1%} on average over "
        f"{len(first['values'])} data sets: {'; '.join(words)}."
    )


def _instance_blocks(results: Results) -> list[Block]:
    instances = results["instances"]
    n_sets = len(results["settings"]["seeds"]["plain"])
    first = instances["first"]
    rows = [
        [name, f"{method['mean']:.3f} ± {method['deviation']:.3f}", *_tested(_minus(instances, name), 1, ".3f")]
        for name, method in instances["methods"].items()
    ]
    means = {name: f"{method['mean']:.3f}" for name, method in instances["methods"].items()}
    best = [f"“{name}”" for name, mean in means.items() if mean == max(means.values())]
    return [
        Text(
            "Which points of a bag lie in a concept is known here, but was not told in training: how well do the "
            "scores of single instances (instance_scores) find them? The two-concept data without noise features, "
            f"{n_sets} data sets, instances of 500 unseen bags."
        ),
        Table(
            "Area under the ROC curve of instances",
            ["method", "AUC", f"minus {first} (95 %)", "p (Wilcoxon)"],
            rows,
            "± is the standard deviation over data sets; differences are paired.",
        ),
        Text(
            f"Single instances are told apart with an AUC of {means[first]} by “{first}”; the greatest, "
            f"{max(means.values())}, has {_listed(best)}; Naive-ANFIS has {means['Naive-ANFIS']}.",
            finding=True,
        ),
    ]


def _minus(methods: Results, name: str) -> Results | None:
    """Return the difference of a method to the first one."""
    test = methods["first_minus"].get(name)
    return None if test is None else {**test, "mean": -test["mean"], "low": -test["high"], "high": -test["low"]}


# ---------------------------------------------------------------------- words


def _percent(entry: Results) -> str:
    deviation = entry["deviation"]
    return f"{100 * entry['mean']:.1f}" + ("" if deviation is None else f" ± {100 * deviation:.1f}")


def _tested(test: Results | None, scale: float, digits: str) -> list[str]:
    """Return the cells of a difference, both empty for the one that the others are compared with."""
    if test is None:
        return ["", ""]
    mean, low, high = (f"{scale * test[name]:+{digits}}" for name in ("mean", "low", "high"))
    return [f"{mean} ({low} to {high})", _p(test["p"])]


def _verdict(test: Results, below: str, between: str, above: str) -> str:
    return above if test["low"] > 0 else below if test["high"] < 0 else between


def _limit(entry: Results, path: list[Results]) -> str:
    return f"all {entry['max_terms']}" if entry is path[-1] else str(entry["max_terms"])


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _p_words(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""Cross-validation of chosen rules, MI-ANFIS and Naive-ANFIS on the benchmark datasets (table resultstableANIFSes)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil import RuleClassifier
from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.statistics import PairedTest, corrected_t_test
from fuzzymil.bags import Bags
from fuzzymil.datasets import BENCHMARKS, load_elephant, load_fox, load_musk1, load_musk2, load_tiger
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier
from fuzzymil.plots import save_figure
from paper.experiment import REPORTED_SEED, Experiment, Options, Results, Unit, described, seeds_of
from paper.figures import CurvesDisplay, Line, ScoresDisplay
from paper.page import Figure, Section, Table, Text, as_markdown, difference, p_value, plural, verdict
from paper.published import PRINTED
from paper.recipe import Recipe, evaluate_folds, joined, normalized_rules, splits
from paper.statistics import Spread, padded, spread

# Benchmark results in tables, figures and sentences.


Row = tuple[str, str]  # column and method of the results, such as ("default", "mi")

DEFAULT: Row = ("default", "mi")
COMMITTEE: Row = ("committee", "mi")
NORMALIZED: Row = ("normalized", "mi")
SHORT_ROW: Row = ("short", "mi")
NAIVE: Row = ("normalized", "naive")
POOLS = {"": "maximum", "_mean_pool": "mean"}  # the endings of measures, and how Naive-ANFIS pools instances
MEASURES = {"accuracy": "accuracy", "auc": "AUC"}
CLEAR = {1: "better", 0: "no clear difference", -1: "worse"}


def _rows(results: Results) -> dict[Row, str]:
    settings = results["settings"]
    return {
        DEFAULT: "RuleClassifier",
        COMMITTEE: f"RuleClassifier, {settings['members']} members",
        NORMALIZED: "MI-ANFIS",
        SHORT_ROW: f"MI-ANFIS, rules of at most {plural(settings['short'], 'condition')}",
        ("tuned", "mi"): "MI-ANFIS, tuned",
        ("paper", "mi"): "MI-ANFIS, the paper's settings",
        NAIVE: "Naive-ANFIS",
        ("tuned", "naive"): "Naive-ANFIS, tuned",
        ("paper", "naive"): "Naive-ANFIS, the paper's settings",
    }


def _folds(results: Results, name: str, row: Row, measure: str) -> Array:
    """Return a measure of a row on a dataset in percent, shape (n_repeats, n_folds)."""
    column, method = row
    return 100 * np.asarray(results["sets"][name][column][method][measure])


def compared(
    results: Results, name: str, one: Row, other: Row, measure: str = "accuracy", ending: str = ""
) -> PairedTest:
    """Test one row against another on the folds of a dataset, in percentage points.

    ``ending`` is that of the other row's measure: "_mean_pool" for Naive-ANFIS with mean pooling.
    """
    apart = _folds(results, name, one, measure) - _folds(results, name, other, measure + ending)
    return corrected_t_test(apart, 1 / (results["settings"]["n_folds"] - 1))


def _spread(results: Results, name: str, row: Row, measure: str = "accuracy") -> Spread:
    return spread(_folds(results, name, row, measure))


def _over_sets(results: Results, row: Row, measure: str) -> Spread:
    """Summarize the mean over the datasets, repeat by repeat."""
    return spread(np.mean([_folds(results, name, row, measure) for name in results["sets"]], axis=0))


# ---------------------------------------------------------------------- figures and files


def draw(results: Results, folder: Path) -> None:
    """Write the figures, and the tables as Markdown."""
    panels: dict[str, dict[str, tuple[float, float | None]]] = {}
    curves: dict[str, list[Line]] = {}
    for name, own in results["sets"].items():
        printed = PRINTED[name]
        panel: dict[str, tuple[float, float | None]] = {"MI-ANFIS, printed": printed.mi}
        for row, words in _rows(results).items():
            found = _spread(results, name, row)
            panel[words] = (found.mean, found.over_repeats)
        panel["Naive-ANFIS, printed"] = printed.naive
        panels[printed.title] = _naive_last(panel)
        curves[printed.title] = [
            Line(words, np.nanmean(padded(own[column][method]["rmse"]), axis=0))
            for (column, method), words in _rows(results).items()
            if column in ("paper", "normalized", "default") and "rmse" in own[column][method]
        ]
    scores = ScoresDisplay(panels, "accuracy in percent", frozenset({"MI-ANFIS, printed", "Naive-ANFIS, printed"}))
    save_figure(scores.plot("Accuracy, compared with the paper"), folder / "accuracy.png")
    display = CurvesDisplay(curves, "training RMSE", "mean over folds and repeats")
    save_figure(display.plot("Training error by epoch"), folder / "rmse.png")
    tables = [_summary_table(results), *(b for b in section(results).blocks if isinstance(b, Table))]
    storage.write_atomically(folder / "tables.md", "\n".join(map(as_markdown, tables)))


def _naive_last(panel: dict[str, tuple[float, float | None]]) -> dict[str, tuple[float, float | None]]:
    """Put each printed number above those it is compared with."""
    return dict(sorted(panel.items(), key=lambda entry: (entry[0].startswith("Naive"), "printed" not in entry[0])))


# ---------------------------------------------------------------------- the section


def section(results: Results) -> Section:
    """Return the section of the page."""
    settings, sets = results["settings"], results["sets"]
    titles = [PRINTED[name].title for name in sets]
    return Section(
        "benchmarks",
        "The five benchmark datasets" if len(sets) == len(PRINTED) else f"Benchmark datasets: {', '.join(titles)}",
        [
            Text(
                f"{settings['n_folds']}-fold stratified cross-validation, {plural(settings['n_repeats'], 'repeat')}; "
                f"seeds of the shuffles: {', '.join(map(str, settings['seeds']))}. Scaling, PCA, rules and "
                "tuned parameters come from the training folds only. “RuleClassifier”: one rule base with "
                f"the library's defaults, the same for all datasets. “{settings['members']} members”: the mean of the "
                f"outputs of {settings['members']} rule bases. “MI-ANFIS”: the paper's network, ten rules with a "
                "condition on every feature, initialized by k-means and trained with the exact gradient; or rules "
                f"with at most {plural(settings['short'], 'condition')} each, found by search. "
                f"“Tuned”: the best of {_grid_words(settings)} by 3-fold cross-validation inside each training fold. "
                "“The paper's settings”: PCA, widths, rules and on-line training as printed. "
                "Naive-ANFIS gives every instance the label of its bag; a bag's score is the maximum over its "
                "instances. All methods use the same folds."
            ),
            Text(_honesty(settings["seeds"])),
            _scores_table(results, "accuracy", f"Accuracy in percent, {_deviation_words(results)}"),
            *[Text(words, finding=True) for words in _findings(results)],
            Figure("accuracy", "Accuracy (bars: standard deviation over repeats). Hollow: printed in the paper."),
            _scores_table(results, "auc", f"Area under the ROC curve in percent, {_deviation_words(results)}"),
            _sizes_table(results),
            _default_table(results),
            _folds_table(results),
            _naive_table(results),
            _pooling_table(results),
            _chosen_table(results),
            Figure("rmse", "Training error by epoch: over instances for Naive-ANFIS, over bags for MI-ANFIS."),
        ],
    )


def _deviation_words(results: Results) -> str:
    n_repeats, n_folds = results["settings"]["n_repeats"], results["settings"]["n_folds"]
    if n_repeats == 1:
        return f"mean over the {n_folds} folds of one run"
    return f"mean ± standard deviation over {n_repeats} repeats of {n_folds} folds"


def _grid_words(settings: Results) -> str:
    sizes = settings["grid_sizes"]
    most = max(sizes.values())
    fewer = [f"{size} on {PRINTED[name].title}, to save time" for name, size in sizes.items() if size < most]
    return f"{most} settings" + (f" ({'; '.join(fewer)})" if fewer else "")


def _honesty(seeds: list[int]) -> str:
    here = "" if seeds[0] == REPORTED_SEED else " This run uses different seeds from the reported ones."
    return (
        "The defaults were chosen on other splits and fixed before the reported seeds "
        f"({REPORTED_SEED} onwards) were drawn. They were chosen on the same five datasets, however, so results on "
        f"new data may be slightly worse.{here}"
    )


# ---------------------------------------------------------------------- tables


def _cell(found: Spread) -> str:
    return f"{found.mean:.1f}" + ("" if found.over_repeats is None else f" ± {found.over_repeats:.1f}")


def _titles(results: Results) -> list[str]:
    return [PRINTED[name].title for name in results["sets"]]


def _printed_row(results: Results, method: str) -> list[str]:
    """Return the numbers of the paper: "mi" or "naive"."""
    name = {"mi": "MI-ANFIS", "naive": "Naive-ANFIS"}[method]
    cells = [
        f"{mean:.1f} ± {deviation:.1f}" for mean, deviation in (getattr(PRINTED[n], method) for n in results["sets"])
    ]
    return [f"{name}, printed in the paper", *cells]


def _scores_table(results: Results, measure: str, title: str) -> Table:
    rows = []
    for row, words in _rows(results).items():
        if measure == "accuracy" and row in (DEFAULT, NAIVE):
            printed = _printed_row(results, row[1])
            rows.append([*printed, *[""] * 3])
        cells = [_cell(_spread(results, name, row, measure)) for name in results["sets"]]
        rows.append([words, *cells, _cell(_over_sets(results, row, measure)), *_mean_size(results, row)])
    return Table(
        title,
        ["method", *_titles(results), "mean", "rules", "conditions"],
        rows,
        _diverged(results) if measure == "accuracy" else "",
        frozenset(row[0] for row in rows if row[0].endswith("printed in the paper")),
    )


def _summary_table(results: Results) -> Table:
    """Return accuracy and AUC in one table, for a page of the documentation."""
    rows = [[*_printed_row(results, "mi"), *[""] * 3]]
    for row, words in _rows(results).items():
        cells = [
            "; ".join(_cell(_spread(results, name, row, measure)) for measure in MEASURES) for name in results["sets"]
        ]
        over = "; ".join(_cell(_over_sets(results, row, measure)) for measure in MEASURES)
        rows.append([words, *cells, over, *_mean_size(results, row)])
    return Table(
        f"Accuracy; AUC in percent, {_deviation_words(results)}",
        ["method", *_titles(results), "mean", "rules", "conditions"],
        rows,
    )


def _diverged(results: Results) -> str:
    settings = results["settings"]
    n_fits = settings["n_folds"] * settings["n_repeats"]
    found = [
        f"{words} on {PRINTED[name].title} {own[column][method]['stopped']}"
        for (column, method), words in _rows(results).items()
        for name, own in results["sets"].items()
        if own[column][method]["stopped"]
    ]
    return f"Trainings (of {n_fits} each) that diverged and were stopped: {'; '.join(found)}." if found else ""


def _size(results: Results, name: str, row: Row) -> tuple[float, float]:
    column, method = row
    found = results["sets"][name][column][method]["sizes"]
    return found["n_rules"], found["n_conditions"]


def _mean_size(results: Results, row: Row) -> list[str]:
    """Return the number of rules and of conditions, averaged over the datasets."""
    return [f"{number:.0f}" for number in np.mean([_size(results, name, row) for name in results["sets"]], axis=0)]


def _sizes_table(results: Results) -> Table:
    def cell(name: str, row: Row) -> str:
        n_rules, n_conditions = _size(results, name, row)
        return f"{n_rules:.1f} / {n_conditions:.1f}"

    return Table(
        "Rules / conditions of a model, mean over folds and repeats",
        ["method", *_titles(results)],
        [[words, *(cell(name, row) for name in results["sets"])] for row, words in _rows(results).items()],
        "All members of a committee together.",
    )


def _default_table(results: Results) -> Table:
    rows = []
    others = [(COMMITTEE, ""), (NORMALIZED, ""), (SHORT_ROW, ""), *((NAIVE, ending) for ending in POOLS)]
    words = _rows(results)
    for other, ending in others:
        title = words[other] + (f", {POOLS[ending]} of instances" if other == NAIVE else "")
        for name in results["sets"]:
            tests = [compared(results, name, DEFAULT, other, measure, ending) for measure in MEASURES]
            cells = [cell for test in tests for cell in (difference(vars(test), digits=1), p_value(test.p))]
            rows.append([f"{title}: {PRINTED[name].title}", *cells])
    return Table(
        "RuleClassifier minus another row, in percentage points",
        ["row and dataset", "accuracy (95%)", "p", "AUC (95%)", "p"],
        rows,
        _test_words(results),
    )


def _test_words(results: Results) -> str:
    return (
        f"n = {results['settings']['n_folds'] * results['settings']['n_repeats']} folds. Nadeau and Bengio's corrected "
        "resampled t-test on the paired differences of all folds and repeats."
    )


def _folds_table(results: Results) -> Table:
    settings = results["settings"]
    return Table(
        "Standard deviation of accuracy over folds, in percentage points "
        f"(n = {settings['n_folds'] * settings['n_repeats']})",
        ["method", *_titles(results)],
        [
            [words, *(f"{_spread(results, name, row).over_folds:.1f}" for name in results["sets"])]
            for row, words in _rows(results).items()
        ],
        "How much a single fold of so few bags varies. Most printed ± are smaller than is possible over ten folds.",
    )


def _naive_table(results: Results) -> Table:
    rows = []
    titles = {"normalized": "the library's training", "tuned": "tuned", "paper": "the paper's settings"}
    for column, words in titles.items():
        for name in results["sets"]:
            tests = [compared(results, name, (column, "mi"), (column, "naive"), ending=ending) for ending in POOLS]
            cells = [cell for test in tests for cell in (difference(vars(test), digits=1), p_value(test.p))]
            rows.append([f"{PRINTED[name].title}, {words}", *cells])
    return Table(
        "MI-ANFIS minus Naive-ANFIS, accuracy in percentage points",
        ["dataset and settings", "maximum pooling (95%)", "p", "mean pooling (95%)", "p"],
        rows,
        f"Naive-ANFIS pools the scores of its instances by their maximum or their mean. {_test_words(results)}",
    )


def _pooling_table(results: Results) -> Table:
    rows = []
    for row, words in _rows(results).items():
        if row[1] == "naive":
            for ending, pool in POOLS.items():
                cells = (_cell(_spread(results, name, row, f"accuracy{ending}")) for name in results["sets"])
                rows.append([f"{words}: {pool}", *cells])
    return Table(
        "Pooling in Naive-ANFIS: accuracy in percent",
        ["method and pooling", *_titles(results)],
        rows,
        "The paper does not say how Naive-ANFIS combines the instances of a bag.",
    )


def _chosen_table(results: Results) -> Table:
    rows = []
    for name, own in results["sets"].items():
        for method, words in {"mi": "MI-ANFIS", "naive": "Naive-ANFIS"}.items():
            entry = own["tuned"][method]["chosen"]
            shown = "; ".join(f"{_settings_words(c['settings'])}: {c['folds']}" for c in entry)
            rows.append([f"{PRINTED[name].title}, {words}", shown])
    return Table(
        "Settings chosen inside the training folds, with the number of folds", ["dataset and method", "chosen"], rows
    )


def _settings_words(settings: Results) -> str:
    keep = settings["rule_keep_prob"]
    return f"{settings['n_rules']} rules, {'no dropout' if keep is None else f'keep probability {keep:g}'}"


# ---------------------------------------------------------------------- findings


def _findings(results: Results) -> list[str]:
    words = _rows(results)
    means = [
        f"{words[row]} {_over_sets(results, row, 'accuracy').mean:.1f} / {_over_sets(results, row, 'auc').mean:.1f} "
        f"({' rules, '.join(_mean_size(results, row))} conditions)"
        for row in (DEFAULT, COMMITTEE, NORMALIZED, SHORT_ROW)
    ]
    n_sets = plural(len(results["sets"]), "dataset")
    found = [f"Accuracy / AUC in percent, averaged over {n_sets}. {'; '.join(means)}.", _gaps(results)]
    found += [
        f"RuleClassifier compared with {words[other]}: "
        f"{'; '.join(_verdicts(results, other, measure) for measure in MEASURES)}."
        for other in (NORMALIZED, SHORT_ROW)
    ]
    for ending, pool in POOLS.items():
        verdicts = _verdicts(results, NAIVE, "accuracy", ending)
        found.append(f"RuleClassifier compared with Naive-ANFIS with {pool} pooling: {verdicts}.")
    return found


def _gaps(results: Results) -> str:
    """Put the accuracies on each dataset next to the printed one."""
    gaps = []
    for name in results["sets"]:
        best = {row: _spread(results, name, row).mean for row in _rows(results)}
        gaps.append(
            f"{PRINTED[name].title}: printed {PRINTED[name].mi[0]:.1f}, the paper's settings "
            f"{best['paper', 'mi']:.1f}, the library's training {best[NORMALIZED]:.1f}, "
            f"RuleClassifier {best[DEFAULT]:.1f}, {results['settings']['members']} members {best[COMMITTEE]:.1f}"
        )
    return f"Accuracy in percent. {'; '.join(gaps)}."


def _verdicts(results: Results, other: Row, measure: str, ending: str = "") -> str:
    """Say on which datasets RuleClassifier is better or worse than another row."""
    found = []
    for name in results["sets"]:
        test = compared(results, name, DEFAULT, other, measure, ending)
        clear = CLEAR[verdict(vars(test))]
        found.append(f"{PRINTED[name].title} {clear} ({test.mean:+.1f} points, {p_value(test.p, name='p')})")
    return f"{MEASURES[measure]}: {', '.join(found)}"


LOADERS: dict[str, Callable[..., Bags]] = {
    "musk1": load_musk1,
    "musk2": load_musk2,
    "fox": load_fox,
    "tiger": load_tiger,
    "elephant": load_elephant,
}
GRID: tuple[dict[str, Any], ...] = (
    {"n_rules": 4, "rule_keep_prob": None},
    {"n_rules": 10, "rule_keep_prob": None},
    {"n_rules": 10, "rule_keep_prob": 0.7},
)
MEMBERS, QUICK_MEMBERS = 10, 3
SHORT = 2  # conditions per short rule
# Processor seconds of a fit, relative to MUSK 1, and on MUSK 1: the longest start first.
COST = {"musk1": 1.0, "musk2": 2.6, "fox": 1.2, "tiger": 1.2, "elephant": 1.2}
FIT_SECONDS = {"default": 1.7, "committee": 18.0, "short": 7.0}


def recipes(name: str, *, quick: bool = False) -> dict[tuple[str, str], Recipe]:
    """Return the recipes for a benchmark dataset, by column and method."""
    printed = PRINTED[name]
    literal = MIANFISClassifier.paper(printed.n_rules, printed.width)
    members = QUICK_MEMBERS if quick else MEMBERS
    # MUSK 2 has five to ten times the instances of the others: the whole grid would take minutes more.
    grid = (GRID[0], GRID[-1]) if quick or name == "musk2" else GRID
    naive = ANFISClassifier()
    return {
        ("default", "mi"): Recipe(RuleClassifier()),
        ("committee", "mi"): Recipe(RuleClassifier(n_estimators=members)),
        ("normalized", "mi"): Recipe(normalized_rules()),
        ("normalized", "naive"): Recipe(naive, naive=True),
        ("short", "mi"): Recipe(normalized_rules(init="search", max_conditions=SHORT)),
        ("tuned", "mi"): Recipe(normalized_rules(), grid=grid),
        ("tuned", "naive"): Recipe(naive, naive=True, grid=grid),
        ("paper", "mi"): Recipe(literal, n_components=printed.n_components),
        ("paper", "naive"): Recipe(_single(literal), naive=True, n_components=printed.n_components),
    }


def _single(estimator: MIANFISClassifier) -> ANFISClassifier:
    """Return the traditional ANFIS with the parameters that the two have in common."""
    known = ANFISClassifier().get_params(deep=False)
    own = estimator.get_params(deep=False)
    return ANFISClassifier(**{name: value for name, value in own.items() if name in known})


def _sets(options: Options) -> list[str]:
    return ["musk1"] if options.quick else list(LOADERS)


def _n_repeats(options: Options) -> int:
    return options.repeats or (1 if options.quick else 5)


def _check(options: Options) -> None:
    for name in _sets(options):
        LOADERS[name](options.data)


def _units(options: Options) -> list[Unit]:
    """Return one unit per fold."""
    units = []
    n_folds = options.n_folds
    for name in _sets(options):
        bags = LOADERS[name](options.data)
        for (column, method), recipe in recipes(name, quick=options.quick).items():
            for repeat in range(_n_repeats(options)):
                seeds = seeds_of(n_folds + 1, options.seed + repeat, name)
                parts = splits(np.asarray(bags.labels), n_folds, seeds[0])
                for fold, (part, seed) in enumerate(zip(parts, seeds[1:], strict=True)):
                    settings = {
                        "experiment": "benchmarks",
                        "data": BENCHMARKS[name].content_checksum,
                        "recipe": recipe.settings(),
                        "n_folds": n_folds,
                        "shuffle": seeds[0],
                        "fold": fold,
                        "seed": seed,
                    }
                    cost = COST[name] * (FIT_SECONDS.get(column, 0.5) + 1.0 * len(recipe.grid))
                    label = f"{PRINTED[name].title}, {column}, {method}, repeat {repeat + 1}, fold {fold + 1}"
                    work = partial(_fold, recipe, bags, part, seed)
                    units.append(Unit(label, settings, cost, work, parallel=True))
    return units


def _fold(recipe: Recipe, bags: Bags, part: tuple[Array, Array], seed: int) -> Results:
    return evaluate_folds(recipe, bags, np.asarray(bags.labels), [part], [seed])[0]


def _collect(options: Options, parts: list[Results]) -> Results:
    n_repeats = _n_repeats(options)
    sets: Results = {}
    rest = iter(parts)
    for name in _sets(options):
        own: Results = {}
        for column, method in recipes(name, quick=options.quick):
            runs = [joined([next(rest) for _ in range(options.n_folds)]) for _ in range(n_repeats)]
            entry: Results = {
                measure: [run[measure] for run in runs]
                for measure in ("accuracy", "auc", "accuracy_mean_pool", "auc_mean_pool")
                if measure in runs[0]
            }
            entry["stopped"] = sum(run["stopped"] for run in runs)
            entry["sizes"] = _mean_sizes([size for run in runs for size in run["sizes"]])
            if runs[0]["rmse"] is not None:
                entry["rmse"] = [run["rmse"] for run in runs]
            if runs[0]["chosen"] is not None:
                entry["chosen"] = _counted([choice for run in runs for choice in run["chosen"]])
            own.setdefault(column, {})[method] = entry
        sets[name] = own
    first = recipes("musk1", quick=options.quick)
    settings = {
        "n_folds": options.n_folds,
        "n_repeats": n_repeats,
        "seeds": [options.seed + repeat for repeat in range(n_repeats)],
        "members": first["committee", "mi"].estimator.n_estimators,
        "short": SHORT,
        "grid": list(first["tuned", "mi"].grid),
        "grid_sizes": {name: len(recipes(name, quick=options.quick)["tuned", "mi"].grid) for name in _sets(options)},
        "default": described(first["default", "mi"].estimator),
        "normalized": described(first["normalized", "mi"].estimator),
    }
    return {"settings": settings, "sets": sets}


def _mean_sizes(sizes: list[Results]) -> Results:
    return {name: round(float(np.mean([size[name] for size in sizes])), 3) for name in ("n_rules", "n_conditions")}


def _counted(choices: list[dict[str, Any]]) -> list[Results]:
    """Return how often each choice was made, most frequent first."""
    distinct = list({str(choice): choice for choice in choices}.values())
    counts = [{"settings": choice, "folds": choices.count(choice)} for choice in distinct]
    return sorted(counts, key=lambda entry: (-int(entry["folds"]), str(entry["settings"])))


BENCHMARK = Experiment("benchmarks", _units, _collect, draw, section, _check)

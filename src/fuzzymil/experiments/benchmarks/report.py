"""Benchmark results in tables, figures and sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzzymil.experiments._document import Figure, Section, Table, Text
from fuzzymil.experiments._experiment import REPORTED_SEED, Results
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._statistics import PairedTest, Spread, corrected_t_test, padded, spread
from fuzzymil.experiments._words import difference, p_value, plural, verdict
from fuzzymil.plots import CurvesDisplay, Line, ScoresDisplay, save_figure

__all__ = ["compared", "draw", "section"]

POOLS = {"max": "maximum", "mean": "mean"}
METHODS = {"mi": "MI-ANFIS", "naive": "Naive-ANFIS"}


def _columns(results: Results) -> dict[tuple[str, str], str]:
    members = results["settings"]["members"]
    return {
        ("paper", "mi"): "MI-ANFIS, the paper's settings",
        ("default", "mi"): "MI-ANFIS, default",
        ("committee", "mi"): f"MI-ANFIS, default, {members} members",
        ("tuned", "mi"): "MI-ANFIS, tuned",
        ("paper", "naive"): "Naive-ANFIS, the paper's settings",
        ("default", "naive"): "Naive-ANFIS, default",
        ("tuned", "naive"): "Naive-ANFIS, tuned",
    }


def compared(results: Results, name: str, column: str, pool: str = "max") -> PairedTest:
    """Test MI-ANFIS against Naive-ANFIS with one kind of pooling on the folds of one dataset, in percentage points."""
    own = results["sets"][name][column]
    naive = own["naive"]["accuracy" if pool == "max" else "accuracy_mean_pool"]
    differences = 100 * (np.asarray(own["mi"]["accuracy"]) - np.asarray(naive))
    return corrected_t_test(differences, 1 / (results["settings"]["n_folds"] - 1))


def _spread(results: Results, name: str, column: str, method: str, measure: str = "accuracy") -> Spread:
    """Summarize a measure of a method on a dataset, in percent."""
    return spread(100 * np.asarray(results["sets"][name][column][method][measure]))


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    panels: dict[str, dict[str, tuple[float, float | None]]] = {}
    curves: dict[str, list[Line]] = {}
    for name, own in results["sets"].items():
        printed = PRINTED[name]
        panel: dict[str, tuple[float, float | None]] = {"MI-ANFIS, printed": printed.mi}
        for (column, method), words in _columns(results).items():
            found = _spread(results, name, column, method)
            panel[words] = (found.mean, found.over_repeats)
        panel["Naive-ANFIS, printed"] = printed.naive
        panels[printed.title] = _naive_last(panel)
        curves[printed.title] = [
            Line(words, np.nanmean(padded(own[column][method]["rmse"]), axis=0))
            for (column, method), words in _columns(results).items()
            if column in ("paper", "default")
        ]
    scores = ScoresDisplay(panels, "accuracy in percent", frozenset({"MI-ANFIS, printed", "Naive-ANFIS, printed"}))
    save_figure(scores.plot("Accuracy, compared with the paper"), folder / "accuracy.png")
    display = CurvesDisplay(curves, "training RMSE", "mean over folds and repeats")
    save_figure(display.plot("Training error by epoch"), folder / "rmse.png")


def _naive_last(panel: dict[str, tuple[float, float | None]]) -> dict[str, tuple[float, float | None]]:
    """Put each printed number above those it is compared with."""
    return dict(sorted(panel.items(), key=lambda entry: (entry[0].startswith("Naive"), "printed" not in entry[0])))


def section(results: Results) -> Section:
    """Return the section of the page."""
    settings, sets = results["settings"], results["sets"]
    titles = [PRINTED[name].title for name in sets]
    over = f"mean ± standard deviation over {plural(settings['n_repeats'], 'repeat')}"
    if settings["n_repeats"] == 1:
        over = "mean over the folds of one run"
    return Section(
        "benchmarks",
        "The five benchmark datasets" if len(sets) == len(PRINTED) else f"Benchmark datasets: {', '.join(titles)}",
        [
            Text(
                f"{settings['n_folds']}-fold stratified cross-validation, {plural(settings['n_repeats'], 'repeat')}; "
                f"seeds of the shuffles: {', '.join(map(str, settings['seeds']))}. Scaling, PCA, initial rules and "
                "tuned parameters come from the training folds only. “The paper's settings”: PCA, widths, rules and "
                "on-line training as printed. “Default”: this library's defaults, the same for all datasets. "
                f"“{settings['members']} members”: the same, averaging the outputs of {settings['members']} networks. "
                f"“Tuned”: the best of {_grid_words(settings)} by 3-fold cross-validation inside each training fold. "
                "Naive-ANFIS gives every instance the label of its bag; a bag's score is the maximum over its "
                "instances. All methods use the same folds."
            ),
            Text(_honesty(settings["seeds"])),
            _scores_table(results, "accuracy", f"Accuracy in percent, {over}"),
            *[Text(words, finding=True) for words in _findings(results)],
            Figure("accuracy", "Accuracy (bars: standard deviation over repeats). Hollow: printed in the paper."),
            _scores_table(results, "auc", f"Area under the ROC curve in percent, {over}"),
            _folds_table(results),
            _tests_table(results),
            _pooling_table(results),
            _chosen_table(results),
            Figure("rmse", "Training error by epoch: over instances for Naive-ANFIS, over bags for MI-ANFIS."),
        ],
    )


def _grid_words(settings: Results) -> str:
    sizes = settings["grid_sizes"]
    most = max(sizes.values())
    fewer = [f"{size} on {PRINTED[name].title}, to save time" for name, size in sizes.items() if size < most]
    return f"{most} settings" + (f" ({'; '.join(fewer)})" if fewer else "")


def _honesty(seeds: list[int]) -> str:
    here = "" if seeds[0] == REPORTED_SEED else " This run uses different seeds from the reported ones."
    return (
        "The defaults were chosen on other splits (seeds 100 to 102) and fixed before the reported seeds "
        f"({REPORTED_SEED} onwards) were drawn. They were chosen on the same five datasets, however, so results on "
        f"new data may be slightly worse.{here}"
    )


def _cell(found: Spread) -> str:
    return f"{found.mean:.1f}" + ("" if found.over_repeats is None else f" ± {found.over_repeats:.1f}")


def _titles(results: Results) -> list[str]:
    return [PRINTED[name].title for name in results["sets"]]


def _scores_table(results: Results, measure: str, title: str) -> Table:
    sets = results["sets"]
    rows = []
    if measure == "accuracy":
        rows.append(
            ["MI-ANFIS, printed in the paper", *(f"{PRINTED[n].mi[0]:.1f} ± {PRINTED[n].mi[1]:.1f}" for n in sets)]
        )
    for (column, method), words in _columns(results).items():
        if measure == "accuracy" and (column, method) == ("paper", "naive"):
            printed = (PRINTED[n].naive for n in sets)
            rows.append(["Naive-ANFIS, printed in the paper", *(f"{m:.1f} ± {d:.1f}" for m, d in printed)])
        rows.append([words, *(_cell(_spread(results, name, column, method, measure)) for name in sets)])
    return Table(
        title,
        ["method", *_titles(results)],
        rows,
        _diverged(results) if measure == "accuracy" else "",
        frozenset(f"{name}, printed in the paper" for name in METHODS.values()),
    )


def _diverged(results: Results) -> str:
    settings = results["settings"]
    n_fits = settings["n_folds"] * settings["n_repeats"]
    found = [
        f"{words} on {PRINTED[name].title} {own[column][method]['stopped']}"
        for (column, method), words in _columns(results).items()
        for name, own in results["sets"].items()
        if own[column][method]["stopped"]
    ]
    return f"Trainings (of {n_fits} each) that diverged and were stopped: {'; '.join(found)}." if found else ""


def _folds_table(results: Results) -> Table:
    settings = results["settings"]
    return Table(
        "Standard deviation of accuracy over folds, in percentage points "
        f"(n = {settings['n_folds'] * settings['n_repeats']})",
        ["method", *_titles(results)],
        [
            [words, *(f"{_spread(results, name, column, method).over_folds:.1f}" for name in results["sets"])]
            for (column, method), words in _columns(results).items()
        ],
        "How much a single fold of so few bags varies. Most printed ± are smaller than is possible over ten folds.",
    )


def _tests_table(results: Results) -> Table:
    rows = []
    for column, words in (("paper", "the paper's settings"), ("default", "default"), ("tuned", "tuned")):
        for name in results["sets"]:
            tests = [compared(results, name, column, pool) for pool in POOLS]
            cells = [cell for test in tests for cell in (difference(vars(test), digits=1), p_value(test.p))]
            rows.append([f"{PRINTED[name].title}, {words}", *cells])
    return Table(
        "MI-ANFIS minus Naive-ANFIS, accuracy in percentage points",
        ["dataset and settings", "maximum pooling (95%)", "p", "mean pooling (95%)", "p"],
        rows,
        f"n = {results['settings']['n_folds'] * results['settings']['n_repeats']} folds. Naive-ANFIS pools the scores "
        "of its instances by their maximum or their mean. Nadeau and Bengio's corrected resampled t-test on the paired "
        "differences of all folds and repeats.",
    )


def _pooling_table(results: Results) -> Table:
    rows = []
    for (column, method), words in _columns(results).items():
        if method == "naive":
            for pool, key in (("maximum", "accuracy"), ("mean", "accuracy_mean_pool")):
                cells = (_cell(_spread(results, name, column, method, key)) for name in results["sets"])
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
        for method, words in METHODS.items():
            entry = own["tuned"][method]["chosen"]
            shown = "; ".join(f"{_settings_words(c['settings'])}: {c['folds']}" for c in entry)
            rows.append([f"{PRINTED[name].title}, {words}", shown])
    return Table(
        "Settings chosen inside the training folds, with the number of folds", ["dataset and method", "chosen"], rows
    )


def _settings_words(settings: Results) -> str:
    keep = settings["rule_keep_prob"]
    return f"{settings['n_rules']} rules, {'no dropout' if keep is None else f'keep probability {keep:g}'}"


def _findings(results: Results) -> list[str]:
    sets = results["sets"]
    gaps = []
    for name in sets:
        best = {c: _spread(results, name, c, "mi").mean for c in ("paper", "default", "committee", "tuned")}
        gaps.append(
            f"{PRINTED[name].title}: printed {PRINTED[name].mi[0]:.1f}, the paper's settings {best['paper']:.1f}, "
            f"default {best['default']:.1f}, {results['settings']['members']} members {best['committee']:.1f}, "
            f"tuned {best['tuned']:.1f}"
        )
    found = [f"Accuracy of MI-ANFIS in percent. {'; '.join(gaps)}."]
    for pool, words in POOLS.items():
        verdicts = []
        for name in sets:
            test = compared(results, name, "default", pool)
            clear = {1: "better", 0: "no clear difference", -1: "worse"}[verdict(vars(test))]
            verdicts.append(f"{PRINTED[name].title} {clear} ({test.mean:+.1f} points, {p_value(test.p, name='p')})")
        found.append(
            f"MI-ANFIS compared with Naive-ANFIS with {words} pooling, both with default settings: "
            f"{'; '.join(verdicts)} (n = {test.n} folds)."
        )
    return found

"""The benchmark results in tables, figures and sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fuzzymil.experiments._document import Figure, Section, Table, Text
from fuzzymil.experiments._published import PRINTED
from fuzzymil.experiments._statistics import PairedTest, Spread, corrected_t_test, spread
from fuzzymil.experiments._study import REPORTED_SEED, Results
from fuzzymil.plots import CurvesDisplay, Line, ScoresDisplay, save_figure

__all__ = ["compared", "draw", "section"]

POOLS = {"max": "the greatest instance", "mean": "the mean of instances"}
METHODS = {"mi": "MI-ANFIS", "naive": "Naive-ANFIS"}


def _columns(results: Results) -> dict[tuple[str, str], str]:
    members = results["settings"]["members"]
    return {
        ("paper", "mi"): "MI-ANFIS, the paper's settings",
        ("default", "mi"): "MI-ANFIS, default",
        ("committee", "mi"): f"MI-ANFIS, default, {members} members",
        ("tuned", "mi"): "MI-ANFIS, chosen inside",
        ("paper", "naive"): "Naive-ANFIS, the paper's settings",
        ("default", "naive"): "Naive-ANFIS, default",
        ("tuned", "naive"): "Naive-ANFIS, chosen inside",
    }


def compared(results: Results, name: str, column: str, pool: str = "max") -> PairedTest:
    """Test MI-ANFIS against Naive-ANFIS with one way of pooling, on the folds of one set, in percent."""
    own = results["sets"][name][column]
    naive = own["naive"]["accuracy" if pool == "max" else "accuracy_mean_pool"]
    differences = 100 * (np.asarray(own["mi"]["accuracy"]) - np.asarray(naive))
    return corrected_t_test(differences, 1 / (results["settings"]["n_folds"] - 1))


def draw(results: Results, folder: Path) -> None:
    """Write the figures."""
    panels: dict[str, dict[str, tuple[float, float | None]]] = {}
    curves: dict[str, list[Line]] = {}
    for name, own in results["sets"].items():
        printed = PRINTED[name]
        panel: dict[str, tuple[float, float | None]] = {"MI-ANFIS, printed": printed.mi}
        for (column, method), words in _columns(results).items():
            found = spread(100 * np.asarray(own[column][method]["accuracy"]))
            panel[words] = (found.mean, found.over_repeats)
        panel["Naive-ANFIS, printed"] = printed.naive
        panels[printed.title] = _naive_last(panel)
        curves[printed.title] = [
            Line(words, _mean_curve(own[column][method]["rmse"]))
            for (column, method), words in _columns(results).items()
            if column in ("paper", "default")
        ]
    scores = ScoresDisplay(panels, "accuracy in percent", frozenset({"MI-ANFIS, printed", "Naive-ANFIS, printed"}))
    save_figure(scores.plot("Accuracy beside the paper's"), folder / "accuracy.png")
    display = CurvesDisplay(curves, "training RMSE", "mean over folds and repeats")
    save_figure(display.plot("Training error by epoch"), folder / "rmse.png")


def _naive_last(panel: dict[str, tuple[float, float | None]]) -> dict[str, tuple[float, float | None]]:
    """Put each printed number above those it is compared with."""
    return dict(sorted(panel.items(), key=lambda entry: (entry[0].startswith("Naive"), "printed" not in entry[0])))


def _mean_curve(runs: list[list[Any]]) -> Any:
    longest = max(map(len, runs))
    padded = np.full((len(runs), longest), np.nan)
    for row, run in zip(padded, runs, strict=True):
        row[: len(run)] = run
    return np.nanmean(padded, axis=0)


def section(results: Results) -> Section:
    """Return the section of the page."""
    settings, sets = results["settings"], results["sets"]
    titles = [PRINTED[name].title for name in sets]
    protocol = f"{settings['n_folds']}-fold stratified cross-validation, run {settings['n_repeats']} time(s)"
    return Section(
        "benchmarks",
        "The five benchmark sets" if len(sets) == len(PRINTED) else f"Benchmark sets: {', '.join(titles)}",
        [
            Text(
                f"{protocol}; seeds of the shuffles: {', '.join(map(str, settings['seeds']))}. Scaling, PCA, first "
                "rules and, where they are chosen, settings come from the training folds alone. “The paper's "
                "settings”: PCA, widths, rules and on-line training as printed. “Default”: one configuration of this "
                f"library for all sets. “{settings['members']} members”: the same, the outputs of so many networks "
                f"averaged. “Chosen inside”: the best of {_grid_words(settings)} by 3-fold cross-validation "
                "inside each training fold. Naive-ANFIS gives every instance its bag's label; a bag's score is "
                "the greatest of its instances'. All methods see the same folds."
            ),
            Text(_honesty(settings["seeds"])),
            _scores_table(results, "accuracy", f"Accuracy in percent, mean ± deviation over {_n(settings)}"),
            *[Text(words, finding=True) for words in _findings(results)],
            Figure("accuracy", "Accuracy (whiskers: deviation over repeats); hollow: the paper's printed numbers."),
            _scores_table(results, "auc", f"Area under the ROC curve in percent, mean ± deviation over {_n(settings)}"),
            _folds_table(results),
            _tests_table(results),
            _pooling_table(results),
            _chosen_table(results),
            Figure("rmse", "Training error by epoch. Naive-ANFIS counts instances, MI-ANFIS bags."),
        ],
    )


def _grid_words(settings: Results) -> str:
    sizes = settings["grid_sizes"]
    most = max(sizes.values())
    fewer = [f"{PRINTED[name].title} {size}, to save time" for name, size in sizes.items() if size < most]
    return f"{most} settings" + (f" ({'; '.join(fewer)})" if fewer else "")


def _honesty(seeds: list[int]) -> str:
    here = "" if seeds[0] == REPORTED_SEED else " This run uses other seeds than the reported ones."
    return (
        "The default was chosen on other splits (seeds 100 to 102) and frozen in a commit before the reported "
        f"seeds ({REPORTED_SEED} onwards) were drawn. It was chosen on the same five data sets, though, so that new "
        f"data may do a little worse.{here}"
    )


def _n(settings: Results) -> str:
    return f"{settings['n_repeats']} repeats" if settings["n_repeats"] > 1 else "repeats (only one was run: none)"


def _cell(found: Spread) -> str:
    return f"{found.mean:.1f}" + ("" if found.over_repeats is None else f" ± {found.over_repeats:.1f}")


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
        rows.append([words, *(_cell(spread(100 * np.asarray(own[column][method][measure]))) for own in sets.values())])
    return Table(
        title,
        ["method", *(PRINTED[n].title for n in sets)],
        rows,
        _stopped(results) if measure == "accuracy" else "",
        frozenset(f"{name}, printed in the paper" for name in METHODS.values()),
    )


def _stopped(results: Results) -> str:
    settings = results["settings"]
    n_fits = settings["n_folds"] * settings["n_repeats"]
    found = [
        f"{words} on {PRINTED[name].title} {own[column][method]['stopped']}"
        for (column, method), words in _columns(results).items()
        for name, own in results["sets"].items()
        if own[column][method]["stopped"]
    ]
    return f"Trainings that diverged and were stopped, of {n_fits} each: {'; '.join(found)}." if found else ""


def _folds_table(results: Results) -> Table:
    settings, sets = results["settings"], results["sets"]
    rows = [
        [
            words,
            *(f"{spread(100 * np.asarray(own[column][method]['accuracy'])).over_folds:.1f}" for own in sets.values()),
        ]
        for (column, method), words in _columns(results).items()
    ]
    n = settings["n_folds"] * settings["n_repeats"]
    return Table(
        f"Deviation of accuracy over folds, in points (n = {n})",
        ["method", *(PRINTED[name].title for name in sets)],
        rows,
        "What one fold of so few bags varies by; the printed ± are mostly smaller than this can be over ten folds.",
    )


def _tests_table(results: Results) -> Table:
    rows = []
    for column, words in (("paper", "the paper's settings"), ("default", "default"), ("tuned", "chosen inside")):
        for name in results["sets"]:
            tests = [compared(results, name, column, pool) for pool in POOLS]
            cells = [cell for t in tests for cell in (f"{t.mean:+.1f} ({t.low:+.1f} to {t.high:+.1f})", _p(t.p))]
            rows.append([f"{PRINTED[name].title}, {words}", *cells])
    return Table(
        "MI-ANFIS minus Naive-ANFIS, points of accuracy",
        ["set and settings", "against the greatest (95 %)", "p", "against the mean (95 %)", "p"],
        rows,
        f"n = {results['settings']['n_folds'] * results['settings']['n_repeats']} folds. Naive-ANFIS takes the "
        "greatest or the mean of its instances' scores. Corrected resampled t-test of Nadeau and Bengio on the paired "
        "differences of all folds of all repeats.",
    )


def _pooling_table(results: Results) -> Table:
    sets = results["sets"]
    rows = []
    for (column, method), words in _columns(results).items():
        if method == "naive":
            for pool, key in (("greatest", "accuracy"), ("mean", "accuracy_mean_pool")):
                cells = (_cell(spread(100 * np.asarray(own[column][method][key]))) for own in sets.values())
                rows.append([f"{words}: {pool}", *cells])
    return Table(
        "How Naive-ANFIS joins instances: accuracy in percent",
        ["method and pooling", *(PRINTED[name].title for name in sets)],
        rows,
        "The paper does not say how Naive-ANFIS makes a bag's answer of its instances'.",
    )


def _chosen_table(results: Results) -> Table:
    rows = []
    for name, own in results["sets"].items():
        for method, words in METHODS.items():
            entry = own["tuned"][method]["chosen"]
            shown = "; ".join(f"{_settings_words(c['settings'])}: {c['folds']}" for c in entry)
            rows.append([f"{PRINTED[name].title}, {words}", shown])
    return Table("Settings chosen inside the training folds, and in how many", ["set and method", "chosen"], rows)


def _settings_words(settings: Results) -> str:
    keep = settings["rule_keep_prob"]
    return f"{settings['n_rules']} rules, {'no dropout' if keep is None else f'rules kept at {keep:g}'}"


def _findings(results: Results) -> list[str]:
    sets = results["sets"]
    gaps = []
    for name, own in sets.items():
        best = {
            c: spread(100 * np.asarray(own[c]["mi"]["accuracy"])).mean
            for c in ("paper", "default", "committee", "tuned")
        }
        gaps.append(
            f"{PRINTED[name].title}: printed {PRINTED[name].mi[0]:.1f}, its settings give {best['paper']:.1f}, the "
            f"default {best['default']:.1f}, {results['settings']['members']} members {best['committee']:.1f}, "
            f"chosen inside {best['tuned']:.1f}"
        )
    found = [f"MI-ANFIS in percent: {'; '.join(gaps)}."]
    for pool, words in POOLS.items():
        verdicts = []
        for name in sets:
            test = compared(results, name, "default", pool)
            clear = "ahead" if test.low > 0 else "behind" if test.high < 0 else "not clearly ahead or behind"
            verdicts.append(f"{PRINTED[name].title} {clear} ({test.mean:+.1f} points, p {_p(test.p, '= ')})")
        found.append(
            f"With the default settings, MI-ANFIS against Naive-ANFIS that takes {words}: {'; '.join(verdicts)} "
            f"(n = {test.n} folds)."
        )
    return found


def _p(value: float, equals: str = "") -> str:
    return "< 0.001" if value < 0.001 else f"{equals}{value:.3f}"

"""RuleClassifier beside what a user would pick instead, on the benchmark sets and on further real ones.

The paper has no such study. To measure (`python -m paper.measure peers`) needs NumPy, SciPy and scikit-learn only.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

import fuzzymil
from fuzzymil import RuleClassifier, datasets
from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.bags.statistics import FIVE, bag_statistics
from fuzzymil.comparators import MILES, GatedAttention, standardized
from fuzzymil.datasets import BENCHMARKS
from paper.experiment import Experiment, Options, Results, Unit, seeds_of
from paper.page import Figure, Section, Table, Text, as_markdown, joined, plural
from paper.recipe import INNER_FOLDS, size_of, splits
from paper.statistics import ranking

# The methods: what a user would pick, with the settings that a user would give them.


OWN = "RuleClassifier"
SHORT = "short RuleClassifier"
FOREST = "forest"
OWNS = (OWN, SHORT)

MAX_COLUMNS = 1_000  # of an EBM
FEW_COLUMNS = 200  # up to which an EBM has interactions
MAX_SECONDS = 600  # of a fit


@dataclass(frozen=True)
class Method:
    """A method in the comparison.

    Attributes
    ----------
    make : callable
        ``make(seed, n_columns)`` returns the unfitted model; ``n_columns`` is the number of bag statistics.
    words : str
        Its settings. Saved results belong to these words: change them with the settings.
    package : str
        Package that it needs beside scikit-learn.
    max_columns : int or None
        Maximum number of bag statistics.
    cost : float
        Processor seconds of a fit on a set of middle size, to start the longest first.
    """

    make: Callable[[int, int], Any]
    words: str
    package: str = ""
    max_columns: int | None = None
    cost: float = 1.0


def on_statistics(*steps: Any) -> Pipeline:
    """Return a pipeline from bags through their statistics, without constant ones, to a classifier of rows."""
    return make_pipeline(FunctionTransformer(bag_statistics, kw_args={"statistics": FIVE}), VarianceThreshold(), *steps)


class Calibrated:
    """The best of several models of bags, with probabilities from its decision values (Platt's method).

    Both the model and the curve from decisions to probabilities are chosen by the decision values of bags that were
    held out inside the training bags.

    Parameters
    ----------
    models : sequence of classifiers of bags
        Candidates; the one with the greatest held-out AUC is fitted to all training bags.
    seed : int
        Of the division into inner folds.
    """

    def __init__(self, models: Sequence[Any], seed: int) -> None:
        self.models, self.seed = models, seed

    def fit(self, bags: Bags, y: Array) -> Self:
        """Choose, calibrate and fit."""
        inner = splits(y, INNER_FOLDS, self.seed)
        held_out = [
            np.concatenate([clone(model).fit(bags[a], y[a]).decision_function(bags[b]) for a, b in inner])
            for model in self.models
        ]
        truth = np.concatenate([y[outside] for _, outside in inner])
        best = max(range(len(self.models)), key=lambda place: roc_auc_score(truth, held_out[place]))
        n_positive = int(truth.sum())
        # Platt's targets are not quite 0 and 1, so that the curve stays finite where decisions separate the classes.
        target = np.where(truth == 1, (n_positive + 1) / (n_positive + 2), 1 / (len(truth) - n_positive + 2))
        self.curve_ = LogisticRegression(C=np.inf).fit(
            np.tile(held_out[best], 2)[:, None],
            np.repeat([1, 0], len(truth)),
            sample_weight=np.concatenate([target, 1 - target]),
        )
        self.model_ = clone(self.models[best]).fit(bags, y)
        return self

    def predict_proba(self, bags: Bags) -> Array:
        """Return class probabilities, shape (n_bags, 2)."""
        return np.asarray(self.curve_.predict_proba(self.model_.decision_function(bags)[:, None]))


def _logistic(seed: int, n_columns: int) -> Any:
    grid = {"C": np.logspace(-4, 3, 8)}
    search = GridSearchCV(LogisticRegression(max_iter=2_000), grid, cv=INNER_FOLDS, scoring="neg_log_loss")
    return on_statistics(StandardScaler(), search)


def _svm(seed: int, n_columns: int) -> Any:
    grid = ParameterGrid({"C": [0.3, 1, 3, 10, 30], "gamma": [1 / n_columns, 0.1 / n_columns]})
    return Calibrated([on_statistics(StandardScaler(), SVC(**point)) for point in grid], seed)


def _ebm(seed: int, n_columns: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    # Among hundreds of columns, the search for pairs alone would take longer than a fit may.
    pairs = {} if n_columns <= FEW_COLUMNS else {"interactions": 0}
    return on_statistics(ExplainableBoostingClassifier(random_state=seed, n_jobs=1, **pairs))


METHODS: Mapping[str, Method] = {
    OWN: Method(lambda seed, _: RuleClassifier(random_state=seed), "RuleClassifier()", cost=4.0),
    SHORT: Method(
        lambda seed, _: RuleClassifier(max_rules=10, max_conditions=3, random_state=seed),
        "RuleClassifier(max_rules=10, max_conditions=3)",
        cost=4.0,
    ),
    FOREST: Method(
        lambda seed, _: on_statistics(RandomForestClassifier(500, random_state=seed)), "500 trees", cost=1.5
    ),
    "extra trees": Method(
        lambda seed, _: on_statistics(ExtraTreesClassifier(500, random_state=seed)), "500 trees", cost=1.0
    ),
    "gradient boosting": Method(
        lambda seed, _: on_statistics(HistGradientBoostingClassifier(random_state=seed)),
        "scikit-learn's histogram gradient boosting",
        cost=2.0,
    ),
    "logistic regression": Method(
        _logistic, "standardized; penalty chosen among 8 by held-out log-loss inside the training bags", cost=2.5
    ),
    "SVM": Method(
        _svm,
        "standardized; C and gamma chosen among 10 by held-out AUC, and calibrated, inside the training bags",
        cost=3.0,
    ),
    "EBM": Method(
        _ebm,
        f"explainable boosting machine, default settings; without pairs beyond {FEW_COLUMNS} columns",
        package="interpret",
        max_columns=MAX_COLUMNS,
        cost=60.0,
    ),
    "MILES": Method(
        lambda seed, _: Calibrated([standardized(MILES(C)) for C in (1.0, 10.0)], seed),
        "on instances, standardized and clipped; C of 1 or 10 chosen by held-out AUC, and calibrated, inside the "
        "training bags",
        cost=30.0,
    ),
    "gated attention": Method(
        lambda seed, _: standardized(GatedAttention(random_state=seed)),
        "on instances, standardized and clipped; network of 256, 128 and 64 units, 64 of attention, 80 epochs",
        package="jax",
        cost=8.0,
    ),
}
"""The methods by name: `OWNS`, then their peers. All but the last two and the rules see bag statistics."""

PEERS = tuple(name for name in METHODS if name not in OWNS)


# What is measured of one fold.


class _TooLong(Exception):
    pass


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `_TooLong` when the block has taken so long; where the system has no alarm, there is no limit."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def measure_fold(name: str, bags: Bags, split: tuple[Array, Array], seed: int) -> Results:
    """Fit a method to the training bags of a fold, and measure it on the others.

    Returns
    -------
    dict
        ``accuracy``, ``auc``, ``log_loss`` and ``seconds`` (processor time of the fit), of rules also their size; or
        ``not_run`` and the reason, which is to be looked at ``again`` by another run unless it lies in the data.
    """
    method = METHODS[name]
    n_columns = (len(FIVE) - 1) * bags.n_features + 1
    if method.package and importlib.util.find_spec(method.package) is None:
        return {"not_run": f"needs {method.package}", "again": True}
    if method.max_columns is not None and n_columns > method.max_columns:
        return {"not_run": f"more than {method.max_columns:,} columns"}
    training, test = (bags[part] for part in split)
    try:
        with at_most(MAX_SECONDS), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what the methods think of the data, their users decide
            before = time.process_time()
            model = method.make(seed, n_columns).fit(training, np.asarray(training.labels))
            seconds = time.process_time() - before
            positive = _probability(model, test)
    except _TooLong:
        return {"not_run": f"a fit took more than {MAX_SECONDS // 60} minutes"}
    except Exception as problem:  # one method that fails should not end the run; the page tells it
        return {"not_run": f"{type(problem).__name__}: {problem}", "again": True}
    truth = np.asarray(test.labels)
    found: Results = {
        "accuracy": float(accuracy_score(truth, positive > 0.5)),
        "auc": float(roc_auc_score(truth, positive)),
        "log_loss": float(log_loss(truth, np.clip(positive, CERTAIN, 1 - CERTAIN))),
        "seconds": round(seconds, 3),
    }
    return found | size_of(model) if name in OWNS else found


CERTAIN = 1e-6  # probabilities are at least so far from 0 and 1, or one mistake could cost any amount


def _probability(model: Any, bags: Bags) -> Array:
    """Return the probability of the positive class of each bag (n_bags,)."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(bags)[:, 1])
    return np.asarray(expit(model.decision_function(bags)))  # decision values of networks are log-odds


# The sets, and the units of work.


@dataclass(frozen=True)
class RealSet:
    """A dataset, the digest of its content, and whether the paper's benchmark has it."""

    bags: Bags
    digest: str
    reported: bool


@functools.cache
def load_sets(folder: Path | None, *, quick: bool = False) -> dict[str, RealSet]:
    """Return the benchmark sets, and those in the folder ``more`` beside them, which are for development only."""
    found = {
        name: RealSet(getattr(datasets, f"load_{name}")(folder), known.content_checksum, True)
        for name, known in BENCHMARKS.items()
        if name == "musk1" or not quick
    }
    home = folder or os.environ.get("FUZZYMIL_DATA")
    if home and not quick:
        for path in sorted((Path(home) / "more").glob("*.csv.gz")):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found[path.name.removesuffix(".csv.gz")] = RealSet(datasets.read_bags(path), digest, False)
    return found


def _n_folds(options: Options) -> int:
    return 2 if options.quick else 5


def _n_repeats(options: Options) -> int:
    return options.repeats or (1 if options.quick else 3)


def _check(options: Options) -> None:
    load_sets(options.data, quick=options.quick)


def _units(options: Options) -> list[Unit]:
    units = []
    for name, real in load_sets(options.data, quick=options.quick).items():
        size = np.sqrt(real.bags.n_bags * real.bags.n_instances) / 1_000
        for method, about in METHODS.items():
            for repeat in range(_n_repeats(options)):
                seeds = seeds_of(_n_folds(options) + 1, options.seed + repeat, name)
                parts = splits(np.asarray(real.bags.labels), _n_folds(options), seeds[0])
                for fold, (part, seed) in enumerate(zip(parts, seeds[1:], strict=True)):
                    settings = {
                        "experiment": "peers",
                        "set": name,
                        "data": real.digest,
                        "method": method,
                        "words": about.words,
                        "source": _source() if method in OWNS else None,
                        "n_folds": _n_folds(options),
                        "shuffle": seeds[0],
                        "fold": fold,
                        "seed": seed,
                    }
                    label = f"{name}, {method}, repeat {repeat + 1}, fold {fold + 1}"
                    work = partial(measure_fold, method, real.bags, part, seed)
                    units.append(Unit(label, settings, float(about.cost * size), work, parallel=True))
    return units


@functools.cache
def _source() -> str:
    """Return a digest of the code that chooses rules: with another code, they are measured again."""
    home = Path(fuzzymil.__file__).parent
    files = [*sorted((home / "learn" / "choose").glob("*.py")), home / "estimators" / "rules.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    sets: Results = {}
    for name, real in load_sets(options.data, quick=options.quick).items():
        methods: Results = {}
        for method in METHODS:
            runs = [[next(rest) for _ in range(_n_folds(options))] for _ in range(_n_repeats(options))]
            failures = [fold["not_run"] for run in runs for fold in run if "not_run" in fold]
            methods[method] = (
                {"not_run": failures[0]}
                if failures
                else {measure: [[fold[measure] for fold in run] for run in runs] for measure in runs[0][0]}
            )
        sets[name] = {
            "reported": real.reported,
            "n_bags": real.bags.n_bags,
            "n_positive": int(np.asarray(real.bags.labels).sum()),
            "n_instances": real.bags.n_instances,
            "n_features": real.bags.n_features,
            "methods": methods,
        }
    results: Results = {
        "settings": {
            "n_folds": _n_folds(options),
            "n_repeats": _n_repeats(options),
            "seeds": [options.seed + repeat for repeat in range(_n_repeats(options))],
            "methods": {name: method.words for name, method in METHODS.items()},
        },
        "sets": sets,
    }
    return results | {"ranks": {own: average_ranks(results, own) for own in OWNS}, "bars": bars(results)}


# Means, ranks, paired differences, and the goals.


MEASURES = {"accuracy": "accuracy in percent", "auc": "AUC in percent", "log_loss": "log-loss"}
MAX_BEHIND = 3.0  # percentage points of AUC behind the best method of a set
MANY_BAGS = 188  # from which short rules should do as well as a forest


def folds_of(results: Results, name: str, method: str, measure: str) -> Array | None:
    """Return a measure of all folds of all repeats, shape (n,), shares in percent; None if it was not run."""
    found = results["sets"][name]["methods"][method].get(measure)
    return None if found is None else np.ravel(found) * (1 if measure == "log_loss" else 100)


def merit(results: Results, name: str, method: str, measure: str) -> float:
    """Return the mean over the folds, negative for a log-loss: greater is better, and -inf is not run."""
    values = folds_of(results, name, method, measure)
    if values is None:
        return -np.inf
    # Rounded, because means of equal numbers in another order differ in the last digit.
    return round(float(values.mean()) * (-1 if measure == "log_loss" else 1), 9)


def average_ranks(results: Results, own: str) -> dict[str, dict[str, float]]:
    """Return the average rank of a method of ours and of its peers over the sets, by measure and method.

    Equal methods share their mean rank; a method that was not run on a set is last there, and left out if it was run on
    none. Our other methods are left out, because relatives would take the ranks around it.
    """
    run = (peer for peer in PEERS if any(folds_of(results, name, peer, "auc") is not None for name in results["sets"]))
    methods = [own, *run]
    found = {}
    for measure in MEASURES:
        merits = np.array([[merit(results, name, m, measure) for m in methods] for name in results["sets"]])
        found[measure] = dict(zip(methods, rankdata(-merits, axis=1).mean(axis=0).tolist(), strict=True))
    return found


@dataclass(frozen=True)
class Behind:
    """How far a method is behind the best of its peers on a set: the mean of paired differences, and its error."""

    best: str
    mean: float
    error: float

    @property
    def within(self) -> bool:
        """Whether it is close enough."""
        return self.mean >= -MAX_BEHIND or -self.mean <= self.error


def behind(results: Results, name: str, method: str, measure: str = "auc") -> Behind | None:
    """Compare a method with the best of the peers on the folds of a set; None if it was not run.

    The standard error takes folds as independent. They share training bags, so it is rather too small: the stricter
    reading of "within one standard error".
    """
    best = max((m for m in PEERS if m != method), key=lambda m: merit(results, name, m, measure))
    own, other = (folds_of(results, name, m, measure) for m in (method, best))
    if own is None or other is None:
        return None
    apart = own - other
    return Behind(best, float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(len(apart))))


def bars(results: Results) -> list[dict[str, Any]]:
    """Return the goals: each in words, what was found, and whether it was met."""
    found = []
    for measure in ("auc", "log_loss"):
        own = average_ranks(results, OWN)[measure]
        first = min(own, key=lambda method: own[method])
        found.append(
            {
                "bar": f"{OWN} is first by average rank of {MEASURES[measure].removesuffix(' in percent')}",
                "found": f"rank {own[OWN]:.2f}, first is {first} ({own[first]:.2f})",
                "met": own[OWN] <= own[first],
            }
        )
    gaps = {name: behind(results, name, OWN) for name in results["sets"]}
    missed = [
        f"{name} (not run)" if gap is None else f"{name} ({gap.mean:+.1f} ± {gap.error:.1f}, {gap.best})"
        for name, gap in gaps.items()
        if gap is None or not gap.within
    ]
    found.append(
        {
            "bar": f"{OWN} is nowhere more than {MAX_BEHIND:g} points of AUC behind the best, unless within one "
            "standard error of the paired differences",
            "found": f"behind on {joined(missed)}" if missed else "nowhere",
            "met": not missed,
        }
    )
    large = [name for name, own in results["sets"].items() if own["n_bags"] >= MANY_BAGS]
    if large:
        short, forest = (float(np.mean([merit(results, name, m, "auc") for name in large])) for m in (SHORT, FOREST))
        found.append(
            {
                "bar": f"at most 10 rules of 3 conditions: mean AUC on {plural(len(large), 'set')} of {MANY_BAGS} bags "
                "or more at least that of the forest",
                "found": f"{short:.1f}, forest {forest:.1f}",
                "met": short >= forest,
            }
        )
    return found


# Tables, figures and sentences.


def draw(results: Results, folder: Path) -> None:
    """Write the figures, and the tables as Markdown."""
    # Deferred: to measure needs no figures.
    from fuzzymil.plots import save_figure
    from paper.figures import RanksDisplay

    n_sets = len(results["sets"])
    for measure, words in (("auc", "AUC"), ("log_loss", "log-loss")):
        ranks = results["ranks"][OWN][measure]
        scores = [[merit(results, name, method, measure) for method in ranks] for name in results["sets"]]
        display = RanksDisplay(
            ranks,
            ranking(scores).critical_difference if n_sets > 1 else None,
            f"{words} on {plural(n_sets, 'dataset')}" + ("; Nemenyi's test at 5%" if n_sets > 1 else ""),
            [OWN],
        )
        save_figure(display.plot(f"Average ranks by {words}"), folder / f"ranks_{measure}.png")
    _draw_areas(results, folder / "auc.png")
    tables = [block for block in section(results).blocks if isinstance(block, Table)]
    storage.write_atomically(folder / "tables.md", "\n".join(map(as_markdown, tables)))


def _draw_areas(results: Results, path: Path) -> None:
    """Draw the mean AUC of each method, one row for each set: ours filled, the others hollow."""
    import matplotlib.pyplot as plt

    from fuzzymil.plots import save_figure
    from fuzzymil.plots.style import HIGH, add_legend, bare, distinct

    names = list(results["sets"])
    looks = [look for look in distinct(len(PEERS) + 1) if look["color"] != HIGH]
    figure, axis = plt.subplots(figsize=(7.2, 1.6 + 0.42 * len(names)), layout="constrained")
    handles: dict[str, Any] = {}
    for method in (*PEERS, *reversed(OWNS)):
        values = [100 * np.mean(found) if (found := _area(results, name, method)) else np.nan for name in names]
        look: dict[str, Any] = {"marker": "o" if method == OWN else "D", "color": HIGH, "markersize": 6.5, "zorder": 3}
        if method in PEERS:
            look = {**looks[PEERS.index(method)], "markerfacecolor": "none", "markersize": 5.5}
        (handles[method],) = axis.plot(values, range(len(names)), **{**look, "linestyle": ""})
    for row in range(len(names)):
        axis.axhline(row, color="#E8E8E8", linewidth=0.8, zorder=0)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.spines["left"].set_visible(False)
    axis.set_xlabel("AUC in percent", fontsize=9)
    bare(axis)
    note = f"mean of {_n(results)} folds on unseen bags"
    add_legend(figure, [handles[name] for name in METHODS], list(METHODS), title=note, ncols=3)
    figure.suptitle("AUC on real sets", fontsize=11)
    save_figure(figure, path)


def _area(results: Results, name: str, method: str) -> Any:
    return results["sets"][name]["methods"][method].get("auc")


def _n(results: Results) -> int:
    return int(results["settings"]["n_folds"] * results["settings"]["n_repeats"])


def section(results: Results) -> Section:
    """Return the section of the page."""
    settings = results["settings"]
    met = [bar for bar in results["bars"] if bar["met"]]
    return Section(
        "peers",
        "RuleClassifier and what a user would pick instead",
        [
            Text(
                f"{settings['n_folds']}-fold stratified cross-validation, {plural(settings['n_repeats'], 'repeat')}; "
                f"seeds of the shuffles: {', '.join(map(str, settings['seeds']))}. All methods see the same folds, and "
                "everything is fitted inside the training bags. Bag statistics are the mean, minimum, maximum and "
                "standard deviation of each feature in a bag, and the number of instances. A method that was not run "
                "on a set is ranked last there. Probabilities are kept a millionth away from 0 and 1."
            ),
            _sets_table(results),
            Text(f"{len(met)} of {plural(len(results['bars']), 'goal')} met.", finding=True),
            _bars_table(results),
            _ranks_table(results),
            Figure("ranks_auc", "Average ranks by AUC."),
            Figure("ranks_log_loss", "Average ranks by log-loss."),
            Figure("auc", "Mean AUC of each method on each set. Filled: the rules."),
            *(_measure_table(results, measure) for measure in MEASURES),
            *(_behind_table(results, measure) for measure in ("auc", "log_loss")),
            _sizes_table(results),
            _settings_table(results),
        ],
    )


def _sets_table(results: Results) -> Table:
    rows = [
        [
            name,
            "the paper's" if own["reported"] else "development",
            *(f"{own[key]:,}" for key in ("n_bags", "n_positive", "n_instances", "n_features")),
        ]
        for name, own in results["sets"].items()
    ]
    return Table(
        "Sets",
        ["set", "benchmark", "bags", "positive", "instances", "features"],
        rows,
        "Development sets are no part of the paper's benchmark.",
    )


def _bars_table(results: Results) -> Table:
    rows = [[bar["bar"], bar["found"], "yes" if bar["met"] else "no"] for bar in results["bars"]]
    return Table("Goals", ["goal", "found", "met"], rows, prose=True)


def _ranks_table(results: Results) -> Table:
    rows = []
    for method in METHODS:
        ranks = results["ranks"][method if method in OWNS else OWN]
        means = [[merit(results, name, method, measure) for name in results["sets"]] for measure in MEASURES]
        cells = [
            f"{abs(np.mean(own)):.{3 if measure == 'log_loss' else 1}f}" if np.isfinite(own).all() else "-"
            for measure, own in zip(MEASURES, means, strict=True)
        ]
        places = [f"{ranks[measure][method]:.2f}" if method in ranks[measure] else "-" for measure in MEASURES]
        rows.append([method, *places, *cells])
    return Table(
        f"Average ranks over {plural(len(results['sets']), 'set')}, and means",
        ["method", "accuracy", "AUC", "log-loss", "mean accuracy", "mean AUC", "mean log-loss"],
        rows,
        f"Ranks among {len(results['ranks'][OWN]['auc'])} methods: “{SHORT}” takes the place of “{OWN}” for its own "
        f"ranks, and those of the others are beside “{OWN}”. No mean where a set was not run.",
    )


def _measure_table(results: Results, measure: str) -> Table:
    digits = 3 if measure == "log_loss" else 1
    rows = []
    for method in METHODS:
        cells = []
        for name in results["sets"]:
            values = folds_of(results, name, method, measure)
            spread = "" if values is None else f"{values.mean():.{digits}f} ± {values.std(ddof=1):.{digits}f}"
            cells.append(spread or "not run")
        rows.append([method, *cells])
    return Table(
        f"{MEASURES[measure].capitalize() if measure != 'auc' else MEASURES[measure]}, mean ± standard deviation over "
        f"n = {_n(results)} folds",
        ["method", *results["sets"]],
        rows,
        _not_run_words(results),
    )


def _not_run_words(results: Results) -> str:
    reasons: dict[tuple[str, str], list[str]] = {}
    for name, own in results["sets"].items():
        for method, found in own["methods"].items():
            if "not_run" in found:
                reasons.setdefault((method, found["not_run"]), []).append(name)
    told = [f"{method} on {joined(names)} ({why})" for (method, why), names in reasons.items()]
    return f"Not run: {'; '.join(told)}." if told else ""


def _behind_table(results: Results, measure: str) -> Table:
    digits = 3 if measure == "log_loss" else 1
    rows = []
    for name in results["sets"]:
        row = [name]
        for own in OWNS:
            found = behind(results, name, own, measure)
            row += ["not run", ""] if found is None else [
                f"{found.mean:+.{digits}f} ± {found.error:.{digits}f}", found.best
            ]  # fmt: skip
        rows.append(row)
    better = "below 0 is better" if measure == "log_loss" else "above 0 is better"
    return Table(
        f"Rules minus the best of the others, {MEASURES[measure].replace(' in percent', ' in percentage points')}",
        ["set", OWN, "best of the others", SHORT, "best of the others"],
        rows,
        f"Mean ± standard error of the paired differences of n = {_n(results)} folds; {better}. The best of several "
        "is chosen by these results and so favored by luck.",
    )


def _sizes_table(results: Results) -> Table:
    rows = []
    for name, own in results["sets"].items():
        row = [name]
        for method in OWNS:
            found = own["methods"][method]
            row += [f"{np.median(found[key]):g}" if key in found else "-" for key in ("n_rules", "n_conditions")]
        rows.append(row)
    return Table(
        f"Rules and conditions, median of {_n(results)} folds",
        ["set", f"{OWN}: rules", "conditions", f"{SHORT}: rules", "conditions"],
        rows,
    )


def _settings_table(results: Results) -> Table:
    rows = []
    for method, words in results["settings"]["methods"].items():
        times = [
            np.median(own["methods"][method]["seconds"])
            for own in results["sets"].values()
            if "seconds" in own["methods"][method]
        ]
        rows.append([method, words, f"{np.median(times):.1f} to {max(times):.1f}" if times else "not run"])
    return Table(
        "Settings, and processor seconds per fit",
        ["method", "settings", "seconds"],
        rows,
        "Seconds: the median over the folds, on the median set and on the slowest one.",
        prose=True,
    )


PEER_METHODS = Experiment("peers", _units, _collect, draw, section, _check)

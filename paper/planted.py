"""Twelve kinds of bag problems whose truth is known: accuracy, the features and instances found, and the rules.

The paper has no such study. Each kind asks something else of a bag, so that no single way to summarize its instances
suffices for all.
"""

from __future__ import annotations

import dataclasses
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed, parallel_config
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fuzzymil import RuleClassifier
from fuzzymil._utils import storage
from fuzzymil._utils.arrays import Array
from fuzzymil._utils.statistics import PairedTest, corrected_t_test
from fuzzymil.bags import Bags
from fuzzymil.comparators import MILES, EmbeddingBoosting, EmbeddingForest, EmbeddingLogistic, standardized
from fuzzymil.datasets import PLANTED, make_planted
from fuzzymil.estimators import MIANFISClassifier
from fuzzymil.explain import Explanation
from fuzzymil.plots import save_figure
from fuzzymil.plots.style import HIGH, add_legend, bare, distinct
from fuzzymil.rules import RuleBase
from fuzzymil.rules.language import printer
from paper.experiment import Experiment, Options, Results, Unit, described, seeds_of
from paper.page import Block, Figure, Section, Table, Text, as_markdown, difference, joined, p_value, plural
from paper.recipe import Recipe, measure, size_of
from paper.statistics import holm

# The methods that are compared on planted problems.


OWN = "RuleClassifier"
"""The method that is compared with the best of all others."""

BOOSTING = "gradient boosting on bag statistics"
"""The strongest of the others where few bags must tell which of many columns count.

Every split chooses among all columns. Among a random part of them, as in a forest, the true one is often missing: in a
trial with 60 bags, accuracy on "unless" was then 86% instead of 99%.
"""


@dataclass(frozen=True)
class Method:
    """A method in the comparison."""

    estimator: Any
    scaled: bool = False  # whether it needs features standardized and clipped by the training bags
    probability: Callable[[Array], Array] | None = None  # from decision values, where there is no predict_proba
    rules: bool = False  # whether there are rules to read
    sizes: tuple[int, ...] | None = None  # numbers of training bags at which it is run; None: all
    quick: bool = True  # whether a quick run includes it
    cost: float = 1.0  # processor seconds to fit and measure on 200 bags, for the estimate of the remaining time


_ALL = ("mean", "min", "max", "std", "size")  # the statistics of bags that tell most

METHODS: Mapping[str, Method] = {
    OWN: Method(RuleClassifier(), rules=True),
    "MI-ANFIS": Method(MIANFISClassifier(), rules=True),
    "MI-ANFIS, short rules": Method(
        MIANFISClassifier(init="search", max_conditions=2), rules=True, sizes=(200,), quick=False, cost=14.0
    ),
    "forest on bag statistics": Method(EmbeddingForest(), probability=lambda decision: decision + 0.5, cost=0.6),
    "logistic regression on bag statistics": Method(EmbeddingLogistic(statistics=_ALL), probability=expit, cost=0.05),
    BOOSTING: Method(EmbeddingBoosting(subsample=1.0, max_features=None, statistics=_ALL), probability=expit, cost=0.4),
    "MILES": Method(MILES(), scaled=True, cost=2.5),
}
"""The methods by name; `OWN` first, and its peers after it."""


def methods_at(size: int, options: Options) -> dict[str, Method]:
    """Return the methods that a run with these options trains on this number of bags."""
    return {
        name: method
        for name, method in METHODS.items()
        if (method.sizes is None or size in method.sizes) and (method.quick or not options.quick)
    }


def model_of(method: Method, seed: int) -> Any:
    """Return the unfitted model of a method, which uses this seed.

    Examples
    --------
    >>> model_of(Method(EmbeddingForest()), 3).random_state
    3
    """
    model = clone(method.estimator)
    model.set_params(**{name: seed for name in model.get_params() if name.split("__")[-1] == "random_state"})
    return standardized(model) if method.scaled else model


# Accuracy against the number of conditions: chosen rules, with fewer of them, and the older ways to short rules.
#
# Other experiments can draw the same figure: train the models of `recipes`, summarize each with `point`, and pass the
# points to `draw_tradeoff`.


WAYS = {
    "chosen": "RuleClassifier, few rules or many",
    "normalized": "MI-ANFIS, few rules or many",
    "shortened": "MI-ANFIS, 10 rules, shortened",
}
"""The ways to a shorter rule base, in words."""

_BOUNDS = {"chosen": (1, 2, 3, 5, 10, 20), "normalized": (2, 3, 5, 10, 20), "shortened": (1, 2, 3, 5, 10)}
_QUICK_BOUNDS = {"chosen": (1, 5), "normalized": (2, 5), "shortened": (1, 5)}
_MAX_COLUMNS = 4


def recipes(*, quick: bool = False) -> dict[tuple[str, int], Recipe]:
    """Return the models to train, by way and bound.

    Examples
    --------
    >>> [bound for way, bound in recipes() if way == "chosen"]
    [1, 2, 3, 5, 10, 20]
    """
    models: dict[str, Any] = {
        "chosen": RuleClassifier,
        "normalized": MIANFISClassifier,
        "shortened": lambda bound: MIANFISClassifier(max_conditions=bound),
    }
    bounds = _QUICK_BOUNDS if quick else _BOUNDS
    return {(way, bound): Recipe(models[way](bound)) for way in WAYS for bound in bounds[way]}


def point(bound: int, accuracy: npt.ArrayLike, sizes: Sequence[Results]) -> Results:
    """Summarize the models of one bound.

    Parameters
    ----------
    bound : int
    accuracy : array of shape (n_repeats, n_folds)
        Or (n_datasets, 1) for separate datasets.
    sizes : sequence of dict
        ``n_rules`` and ``n_conditions`` of each model, as `size_of` returns them.

    Returns
    -------
    dict
        ``bound``, the means of ``accuracy``, ``n_rules`` and ``n_conditions``, and the ``deviation`` of the accuracy
        between repeats or datasets (None for a single one).

    Examples
    --------
    >>> found = point(2, [[0.8], [0.9]], [{"n_rules": 2, "n_conditions": 3}, {"n_rules": 1, "n_conditions": 1}])
    >>> found["n_conditions"], round(found["accuracy"], 6), round(found["deviation"], 6)
    (2.0, 0.85, 0.070711)
    """
    means = np.asarray(accuracy, float).mean(axis=1)
    return {
        "bound": bound,
        "accuracy": float(means.mean()),
        "deviation": float(means.std(ddof=1)) if len(means) > 1 else None,
        **{name: float(np.mean([size[name] for size in sizes])) for name in ("n_rules", "n_conditions")},
    }


def draw_tradeoff(paths: Mapping[str, Mapping[str, Sequence[Results]]], note: str, path: Path) -> None:
    """Draw accuracy against the number of conditions, one panel for each problem, and save the figure.

    Parameters
    ----------
    paths : dict of str to (dict of str to sequence of dict)
        By title and way (a key of `WAYS`): the points, in the order of their bounds.
    note : str
        What the bars are, and how many datasets or folds there are.
    path : Path
        The suffixes ``.png`` and ``.svg`` replace its own.
    """
    first, second, *others = distinct(len(WAYS))
    styles = dict(zip(WAYS, (second, first, *others), strict=True))  # RuleClassifier has the same color in all figures
    rows = -(-len(paths) // _MAX_COLUMNS)
    columns = -(-len(paths) // rows)
    figure, axes = plt.subplots(
        rows,
        columns,
        figsize=(0.8 + 2.9 * columns, 1.1 + 2.3 * rows),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    handles: dict[str, Any] = {}
    for axis, (title, ways) in zip(axes.flat, paths.items(), strict=False):
        for way, points in ways.items():
            deviations = [entry["deviation"] for entry in points]
            handles[way] = axis.errorbar(
                [entry["n_conditions"] for entry in points],
                [100 * entry["accuracy"] for entry in points],
                yerr=None if None in deviations else 100 * np.array(deviations),
                markersize=4.5,
                linewidth=1.4,
                elinewidth=0.8,
                **styles[way],
            )
        # Linear up to 1, so that rules without any condition have a place.
        axis.set_xscale("symlog", linthresh=1, linscale=0.4)
        axis.set_xticks([0, 1, 10, 100, 1000], ["0", "1", "10", "100", "1000"])
        axis.minorticks_off()
        axis.set_title(title, fontsize=9, loc="left", fontweight="bold")
        axis.grid(axis="y", color="#DDDDDD", linewidth=0.6)
        bare(axis)
    most = max(entry["n_conditions"] for ways in paths.values() for points in ways.values() for entry in points)
    axes[0, 0].set_xlim(-0.1, max(1.6 * most, 10))
    axes[0, 0].set_ylim(top=min(axes[0, 0].get_ylim()[1], 102))
    for axis in axes.flat[len(paths) :]:
        axis.set_visible(False)
    for axis in axes.flat[max(len(paths) - columns, 0) : len(paths)]:
        axis.tick_params(labelbottom=True)  # also above an empty place
        axis.set_xlabel("conditions in all rules", fontsize=9)
    figure.supylabel("accuracy in percent", fontsize=9)
    figure.suptitle("Accuracy against the length of the rules", fontsize=11)
    add_legend(figure, list(handles.values()), [WAYS[way] for way in handles], title=note, ncols=len(handles))
    save_figure(figure, path)


SIZES, QUICK_SIZES = (60, 120, 200, 400), (60,)  # training bags
N_SETS, QUICK_SETS = 10, 2
N_TEST = 600
N_NOISE = 20
PATH_SIZE = 200  # training bags on the path of accuracy against conditions
QUICK_KINDS, QUICK_PATH_KINDS = ("some", "pair", "most", "count"), ("some",)
# A unit of work has enough fits to keep a large machine busy, and few enough that Ctrl-C loses little.
KINDS_PER_UNIT = 4


def _sizes(options: Options) -> tuple[int, ...]:
    return options.sizes or (QUICK_SIZES if options.quick else SIZES)


def _n_sets(options: Options) -> int:
    return options.repeats or (QUICK_SETS if options.quick else N_SETS)


def _groups(kinds: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(kinds[start : start + KINDS_PER_UNIT]) for start in range(0, len(kinds), KINDS_PER_UNIT)]


# ---------------------------------------------------------------------- the path


def _path_size(options: Options) -> int:
    """Return the number of training bags on the path: one that is measured anyway."""
    sizes = _sizes(options)
    return PATH_SIZE if PATH_SIZE in sizes else max(sizes)


def _kinds(options: Options) -> tuple[str, ...]:
    return QUICK_KINDS if options.quick else tuple(PLANTED)


def _path_kinds(options: Options) -> tuple[str, ...]:
    return QUICK_PATH_KINDS if options.quick else tuple(PLANTED)


# ---------------------------------------------------------------------- work


def _measured(
    method: Method, kinds: Sequence[str], size: int, n_sets: int, seed: int, jobs: int | None
) -> dict[str, list[Results]]:
    """Measure a method on several datasets of each kind, in parallel; only the first keeps its rules."""
    tasks = [(kind, number) for kind in kinds for number in range(n_sets)]
    # One thread per process: the times of fits should be comparable.
    with warnings.catch_warnings(), parallel_config(backend="loky", inner_max_num_threads=1):
        # joblib takes compiled programs for a memory leak, and then goes on with a new process.
        warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
        found = Parallel(n_jobs=jobs or -1)(
            delayed(measure_fit)(
                method, kind, (size, N_TEST), N_NOISE, seeds_of(3, seed, "planted", kind, size, number)
            )
            for kind, number in tasks
        )
    by_kind: dict[str, list[Results]] = {kind: [] for kind in kinds}
    for (kind, number), result in zip(tasks, found, strict=True):
        if number:
            result.pop("rules", None)
        by_kind[kind].append(result)
    return by_kind


def _unit(label: str, method: Method, kinds: Sequence[str], size: int, options: Options) -> Unit:
    n_sets = _n_sets(options)

    def work() -> Results:
        return _measured(method, kinds, size, n_sets, options.seed, options.jobs)

    settings = {
        "experiment": "planted",
        "estimator": described(method.estimator),
        "truths": {kind: PLANTED[kind].truth for kind in kinds},
        "n_bags": [size, N_TEST],
        "n_noise": N_NOISE,
        "n_sets": n_sets,
        "seed": options.seed,
    }
    return Unit(f"{label}, {', '.join(kinds)}", settings, method.cost * size / 200 * n_sets * len(kinds), work)


def _units(options: Options) -> list[Unit]:
    units = [
        _unit(f"{size} bags, {name}", method, kinds, size, options)
        for size in _sizes(options)
        for name, method in methods_at(size, options).items()
        for kinds in _groups(_kinds(options))
    ]
    size = _path_size(options)
    for (way, bound), recipe in recipes(quick=options.quick).items():
        method = Method(recipe.estimator, rules=True)
        units += [
            _unit(f"{size} bags, {way}, at most {bound}", method, kinds, size, options)
            for kinds in _groups(_path_kinds(options))
        ]
    return units


# ---------------------------------------------------------------------- numbers


def _collect(options: Options, parts: list[Results]) -> Results:
    rest = iter(parts)
    sizes = _sizes(options)
    measured: Results = {}
    shown: Results = {}
    for size in sizes:
        by_kind: dict[str, Results] = {kind: {} for kind in _kinds(options)}
        for name in methods_at(size, options):
            for kinds in _groups(_kinds(options)):
                part = next(rest)
                for kind in kinds:
                    first, *_ = part[kind]
                    if name == OWN:
                        shown.setdefault(str(size), {})[kind] = first["rules"]
                    measures = [measure for measure in first if measure != "rules"]
                    by_kind[kind][name] = {measure: [one[measure] for one in part[kind]] for measure in measures}
        measured[str(size)] = by_kind
    verdicts = {
        size: {
            kind: verdict({name: own["accuracy"] for name, own in methods.items()}) for kind, methods in found.items()
        }
        for size, found in measured.items()
    }
    correct(verdicts)
    paths: Results = {kind: {} for kind in _path_kinds(options)}
    for way, bound in recipes(quick=options.quick):
        for kinds in _groups(_path_kinds(options)):
            part = next(rest)
            for kind in kinds:
                accuracy = [[one["accuracy"]] for one in part[kind]]
                paths[kind].setdefault(way, []).append(point(bound, accuracy, part[kind]))
    settings = {
        "kinds": list(_kinds(options)),
        "sizes": list(sizes),
        "n_sets": _n_sets(options),
        "n_test": N_TEST,
        "n_noise": N_NOISE,
        "path_size": _path_size(options),
        "methods": {
            name: described(method.estimator) for size in sizes for name, method in methods_at(size, options).items()
        },
    }
    return {"settings": settings, "measured": measured, "verdicts": verdicts, "rules": shown, "paths": paths}


# What is measured of one fitted model, with the truth at hand.


N_EXPLAINED = 100  # positive test bags whose explanations are read; more would take longer than the fit


def measure_fit(method: Method, kind: str, n_bags: tuple[int, int], n_noise: int, seeds: Sequence[int]) -> Results:
    """Draw a problem, train a method on it, and measure it on unseen bags.

    Parameters
    ----------
    method : Method
    kind : str
        A key of `fuzzymil.datasets.PLANTED`.
    n_bags : (int, int)
        Number of training and of test bags.
    n_noise : int
        Number of noise features.
    seeds : sequence of int
        Of the training bags, the test bags and the model.

    Returns
    -------
    dict
        ``accuracy``, ``auc``, ``brier`` (None without probabilities) and ``seconds`` (processor time of the fit); for
        a method with rules also their size, the features and instances that they find, and the ``rules`` themselves.
    """
    train, test = (make_planted(kind, n, n_noise, random_state=seed) for n, seed in zip(n_bags, seeds[:2], strict=True))
    model = model_of(method, seeds[2])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last iteration counts
        before = time.process_time()
        model.fit(train, train.labels)
        seconds = time.process_time() - before
    decisions = np.asarray(model.decision_function(test))
    accuracy, auc = measure(np.asarray(test.labels), decisions)
    brier = None
    if hasattr(model, "predict_proba"):
        brier = _brier(model.predict_proba(test)[:, 1], test)
    elif method.probability is not None:
        brier = _brier(method.probability(decisions), test)
    found: Results = {"accuracy": accuracy, "auc": auc, "brier": brier, "seconds": round(seconds, 3)}
    if method.rules:
        found |= size_of(model) | _features_found(kind, model.rules_) | _instances_found(model, test)
        found["rules"] = model.rules_.to_dict()
    return found


def _brier(probabilities: Array, bags: Bags) -> float:
    return float(np.mean((probabilities - np.asarray(bags.labels)) ** 2))


# ---------------------------------------------------------------------- features


def used_features(rules: RuleBase) -> list[str]:
    """Return the features in the conditions of all rules that can change the output.

    Examples
    --------
    >>> rules = RuleBase.parse('''
    ...     VARIABLE hue: blue = Gaussian(0.6, 0.1)    VARIABLE size: small = Gaussian(0, 1)
    ...     IF hue is blue THEN sky = 1                IF size is small THEN sky = 0''', normalize=False)
    >>> used_features(rules)
    ['hue']
    """
    # A conclusion of 0 still counts among normalized rules: it takes weight from the others.
    speaking = [rule for rule in rules.rules if rule.weight > 0 and (rules.normalize or np.any(rule.coefs))]
    used = {condition.variable for rule in speaking for condition in rule.conditions}
    return [name for name in rules.feature_names if name in used]


def _features_found(kind: str, rules: RuleBase) -> Results:
    """Return the features in use, whether they contain the true ones, and whether they are exactly those."""
    used, true = used_features(rules), set(PLANTED[kind].features)
    return {"features": used, "contains": true <= set(used), "exactly": true == set(used)}


# ---------------------------------------------------------------------- instances


def instance_auc(scores: npt.ArrayLike, bags: Bags) -> float | None:
    """Return the area under the ROC curve of instance scores within positive bags, averaged over bags.

    Bags in which all instances are true, or none, are left out; None if there are no others.

    Examples
    --------
    >>> bags = Bags([[0.0]] * 5, [0, 3, 5], labels=[1, 0], instance_labels=[1, 0, 0, 0, 0])
    >>> instance_auc([0.5, 0.2, 0.7, 0.0, 0.0], bags)
    0.5
    """
    areas = []
    for own, true in zip(_by_bag(np.asarray(scores, float), bags), _truth(bags), strict=True):
        if true.any() and not true.all():
            high, low = own[true][:, None], own[~true]
            areas.append(np.mean((high > low) + 0.5 * (high == low)))
    return float(np.mean(areas)) if areas else None


def witness_hits(explanations: Sequence[Explanation], bags: Bags) -> list[bool]:
    """Return for each bag whether the instance that the strongest positive rule points to is a true one.

    Without a rule that speaks for the positive class and points to an instance, it is not.

    Examples
    --------
    >>> from fuzzymil.explain import explain_many
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> bags = Bags([[0.1], [0.9], [0.1], [0.9]], [0, 2, 4], labels=[1, 1], instance_labels=[0, 1, 1, 0])
    >>> witness_hits(explain_many(rules, bags), bags)
    [True, False]
    """
    pointed = map(_pointed_to, explanations)
    return [place is not None and bool(true[place]) for place, true in zip(pointed, _truth(bags), strict=True)]


def _pointed_to(explanation: Explanation) -> int | None:
    """Return the first witness of the strongest positive rule that points to an instance.

    Parts inside NOT and parts about all instances do not: their witness is what comes closest to breaking them.
    """
    for rule in sorted(explanation.rules, key=lambda rule: -rule.contributions[0]):
        parts = [part for part in rule.parts if part.witnesses and not part.negated and part.quantifier != "all"]
        if rule.contributions[0] > 0 and parts:
            return min(parts, key=lambda part: not part.deciding).witnesses[0].instance
    return None


def _instances_found(model: Any, test: Bags) -> Results:
    """Return how well the model finds the true instances of positive bags; None where the problem has none.

    ``hits`` is the share of bags whose witness is a true instance, ``chance`` that of true instances.
    """
    if not np.any(test.instance_labels):
        return {"instance_auc": None, "hits": None, "chance": None}
    positive = test[np.flatnonzero(np.asarray(test.labels))]
    explained = positive[np.arange(min(N_EXPLAINED, len(positive)))]
    return {
        "instance_auc": instance_auc(model.instance_scores(positive), positive),
        "hits": float(np.mean(witness_hits(model.explain_many(explained), explained))),
        "chance": float(np.mean([true.mean() for true in _truth(explained)])),
    }


def _truth(bags: Bags) -> list[Array]:
    return _by_bag(np.asarray(bags.instance_labels) > 0, bags)


def _by_bag(values: Array, bags: Bags) -> list[Array]:
    return np.split(values, bags.offsets[1:-1])


# From the measurements of single fits to means, counts and verdicts.


TOLERANCE = 2.0  # percentage points below the best peer that still count as level


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of the numbers, None if there are none.

    Examples
    --------
    >>> mean([1.0, None, 2.0]), mean([None])
    (1.5, None)
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


def verdict(accuracies: Mapping[str, Sequence[float]]) -> Results:
    """Compare chosen rules with the best of its peers on the same datasets.

    The best peer is the one with the highest mean accuracy. That it is chosen by the results favors it: among equal
    methods, the best of several is ahead by luck.

    Parameters
    ----------
    accuracies : dict of str to sequence of float
        By method, one for each dataset.

    Returns
    -------
    dict
        ``own`` and ``best`` (mean accuracies), ``peer`` (its name), ``test`` (the paired difference in percentage
        points, with its 95% interval and the p-value of a t-test) and ``within`` (whether RuleClassifier is at most
        `TOLERANCE` points below).

    Examples
    --------
    >>> found = verdict({OWN: [0.80, 0.90], "forest": [0.84, 0.88], "MILES": [0.5, 0.6]})
    >>> found["peer"], round(found["test"]["mean"], 6), found["within"]
    ('forest', -1.0, True)
    """
    means = {name: float(np.mean(values)) for name, values in accuracies.items()}
    # Rounded, because means of equal accuracies in another order differ in the last digit.
    peer = max((name for name in means if name != OWN), key=lambda name: round(means[name], 9))
    test = _paired(100 * (np.asarray(accuracies[OWN]) - np.asarray(accuracies[peer])))
    return {
        "peer": peer,
        "own": means[OWN],
        "best": means[peer],
        "test": dataclasses.asdict(test),
        "within": bool(round(test.mean, 9) >= -TOLERANCE),
    }


def _paired(differences: np.ndarray[tuple[int], np.dtype[np.float64]]) -> PairedTest:
    """Test the mean of differences (n,); one dataset alone has no interval."""
    if len(differences) > 1:
        return corrected_t_test(differences, 0.0)  # every dataset is drawn anew: nothing is shared between them
    only = float(differences[0])
    return PairedTest(only, only, only, 1.0, 1)


def correct(verdicts: Mapping[str, Mapping[str, Results]]) -> None:
    """Add ``p`` to each verdict: the p-value after Holm's correction for all of them.

    Parameters
    ----------
    verdicts : dict of str to (dict of str to dict)
        By number of training bags and kind.
    """
    every = [found for by_kind in verdicts.values() for found in by_kind.values()]
    for found, p in zip(every, holm([found["test"]["p"] for found in every]), strict=True):
        found["p"] = float(p)


# Figures of the planted problems.


def draw_figures(results: Results, folder: Path) -> None:
    """Write the figures."""
    settings = results["settings"]
    n_sets, n_test = settings["n_sets"], settings["n_test"]
    note = f"mean of {plural(n_sets, 'dataset')} per kind, {n_test} unseen bags each"
    _draw_dots(results["measured"], note, folder / "accuracy.png")
    bars = "; bars: one standard deviation over them" if n_sets > 1 else ""
    note = f"{settings['path_size']} training bags; mean of {plural(n_sets, 'dataset')} per kind{bars}"
    draw_tradeoff(results["paths"], note, folder / "conditions.png")


def _draw_dots(measured: Mapping[str, Results], note: str, path: Path) -> None:
    """Draw the mean accuracy of each method on each kind, one panel for each number of training bags."""
    kinds = list(next(iter(measured.values())))
    methods = list(dict.fromkeys(name for by_kind in measured.values() for own in by_kind.values() for name in own))
    styles = _styles(methods)
    n_columns = min(len(measured), 2)
    n_rows = -(-len(measured) // n_columns)
    figure, axes = plt.subplots(
        n_rows,
        n_columns,
        figsize=(1.2 + 4.0 * n_columns, 1.2 + 0.34 * len(kinds) * n_rows),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    handles: dict[str, Any] = {}
    for axis, (size, by_kind) in zip(axes.flat, measured.items(), strict=False):
        for name, style in styles.items():
            rows = [row for row, kind in enumerate(kinds) if name in by_kind[kind]]
            means = [100 * np.mean(by_kind[kinds[row]][name]["accuracy"]) for row in rows]
            (handles[name],) = axis.plot(means, rows, linestyle="", **style)
        for row in range(len(kinds)):
            axis.axhline(row, color="#E8E8E8", linewidth=0.8, zorder=0)
        axis.axvline(50, color="#BBBBBB", linewidth=0.8, linestyle=":", zorder=0)  # guessing
        axis.set_title(f"{size} training bags", fontsize=9, loc="left", fontweight="bold")
        bare(axis)
        axis.spines["left"].set_visible(False)
        axis.tick_params(axis="y", length=0)
    for axis in axes.flat[len(measured) :]:
        axis.set_visible(False)
    axes[0, 0].set_yticks(range(len(kinds)), kinds)
    axes[0, 0].set_ylim(len(kinds) - 0.5, -0.5)
    for axis in axes.flat[max(len(measured) - n_columns, 0) : len(measured)]:
        axis.set_xlabel("accuracy in percent (dotted: guessing)", fontsize=9)
    figure.suptitle("Accuracy on planted problems", fontsize=11)
    add_legend(figure, [handles[name] for name in methods], methods, title=note, ncols=2)
    save_figure(figure, path)


def _styles(methods: list[str]) -> dict[str, dict[str, Any]]:
    """Return the look of each method: RuleClassifier filled, and over the hollow others."""
    peers = [name for name in methods if name != OWN]
    # One look too many, because the color of RuleClassifier is taken.
    looks = [look for look in distinct(len(peers) + 1) if look["color"] != HIGH]
    hollow = {"markerfacecolor": "none", "markersize": 5.5, "zorder": 2}
    styles = {
        name: {"marker": look["marker"], "color": look["color"], **hollow}
        for name, look in zip(peers, looks, strict=True)
    }
    return styles | {OWN: {"marker": "o", "color": HIGH, "markersize": 6.5, "zorder": 3}}


# Planted problems in tables, figures and sentences.


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
        _truth_table(results["settings"]["kinds"]),
        *[Text(_level_finding(results, size), finding=True) for size in sizes],
        Figure(
            "accuracy",
            "Mean accuracy of each method on each kind. Filled: RuleClassifier.",
        ),
        *[block for size in sizes for block in (_accuracy_table(results, size), _verdict_table(results, size))],
        *[Text(_features_finding(results, size), finding=True) for size in sizes],
        *[_reading_table(results, size) for size in sizes],
        _rules_table(results, _shown_size(results)),
        *[_means_table(results, size) for size in sizes],
        Figure(
            "conditions",
            f"Accuracy against the number of conditions, {settings['path_size']} training bags. Points: "
            f"RuleClassifier with at most {_bounds(results, 'chosen')} rules; {_bounds(results, 'normalized')} rules "
            f"of MI-ANFIS; 10 of its rules, shortened to {_bounds(results, 'shortened')} conditions each.",
        ),
    ]
    return Section("planted", "Planted problems", blocks)


def _bounds(results: Results, way: str) -> str:
    path = next(iter(results["paths"].values()))
    return joined([str(entry["bound"]) for entry in path[way]])


def _introduction(settings: Results) -> str:
    n_sets = settings["n_sets"]
    return (
        f"{plural(len(settings['kinds']), 'kind')} of bag problems with a known truth: one to eight features matter, "
        f"and {settings['n_noise']} or more others are noise. {joined(list(map(str, settings['sizes'])))} training "
        f"bags, half of them positive, and {settings['n_test']} test bags; {plural(n_sets, 'dataset')} of each kind "
        "and number of bags, each drawn anew, the same for all methods. No method is told which kind it is, and all "
        "have one setting for all kinds. Bag statistics are the mean, minimum and maximum of each feature in a bag; "
        "for logistic regression and boosting also its standard deviation, and the number of instances."
    )


def _truth_table(kinds: Sequence[str]) -> Table:
    return Table(
        "The problems",
        ["kind", "a bag is positive if", "instances per bag"],
        [[kind, PLANTED[kind].truth, "{} to {}".format(*PLANTED[kind].sizes)] for kind in kinds],
        "Values are uniform between 0 and 10 unless stated otherwise."
        + " In “shift”, even the best possible decision is right for only 89% of the bags." * ("shift" in kinds),
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
        f"RuleClassifier and the best of the others, {size} training bags",
        ["kind", "RuleClassifier", "best of the others", "its accuracy", "difference (95%)", "p", _within_words()],
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
        for key, worded in digits.items():
            value = mean([mean(own[name][key]) for own in found.values()])
            cells.append("-" if value is None else worded(value))
        times = np.array([own[name]["seconds"] for own in found.values()])
        rows.append([name, *cells, f"{np.median(times):.2f}", f"{times.max():.2f}"])
    return Table(
        f"All kinds together, {size} training bags",
        ["method", "accuracy in %", "AUC in %", "Brier score", "seconds per fit, median", "most"],
        rows,
        "Processor seconds in one thread; the longest fit includes compilation.",
    )


PLANTED_PROBLEMS = Experiment("planted", _units, _collect, draw, section)

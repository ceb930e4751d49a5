"""The methods that fuse the windows of an alarm, and what each makes of alarms it was not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.datasets.gpr.alarms import AlarmSet
from fuzzymil.estimators import ANFISClassifier, MIANFISClassifier, MIMamdani, Variant, fit_together
from fuzzymil.experiments._study import Results, parameters
from fuzzymil.rules import RuleBase

__all__ = [
    "METHODS",
    "PAPER",
    "REFERENCE",
    "START",
    "VARIANTS",
    "Answers",
    "Embedding",
    "Fired",
    "Method",
    "OnBags",
    "OnLoudest",
    "OnWindows",
    "Single",
    "expert_labels",
    "fired_windows",
]

Splits = Sequence[tuple[Array, Array]]


@dataclass(frozen=True)
class Answers:
    """What a method says of every alarm, each by a model that had not seen it.

    Attributes
    ----------
    scores : array of shape (n_bags,)
    windows : array of shape (n_bags, n_windows), or None
        Scores of single windows.
    pointed : array of int, shape (n_bags,), or None
        The window that the method points to.
    models : list
        One a fold; empty where nothing is learned.
    """

    scores: Array
    windows: Array | None = None
    pointed: Array | None = None
    models: Sequence[Any] = ()


class Method(Protocol):
    """Learns on the training alarms of each split and answers for the test alarms."""

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers: ...

    def settings(self) -> Results:
        """Return all that the answers depend on, as a file can hold it."""


def expert_labels(alarms: AlarmSet, rng: np.random.RandomState) -> Array:
    """Label windows as an expert might who looks at the slices.

    Of each mine he marks as many neighboring windows as truly hold it (one if none does), around the truth, but off by
    a rounded normal number of windows: with a deviation of 1 for the louder half of the mines and of 3 for the rest.
    Where no window truly holds the mine he takes the loudest. That clutter is no mine he knows.

    Parameters
    ----------
    alarms : AlarmSet
    rng : RandomState

    Returns
    -------
    array of int, shape (n_bags, n_windows)

    Examples
    --------
    >>> truth = np.array([[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]])  # a mine and a stone
    >>> bags = Bags(np.zeros((12, 1)), [0, 6, 12], labels=[1, 0], instance_labels=truth.ravel())
    >>> energies = 1.0 + truth
    >>> asked = np.array(["high-metal mine", "clutter"])
    >>> alarms = AlarmSet(bags, asked, energies, energies, np.arange(2), asked, [{}, {}])
    >>> expert_labels(alarms, np.random.RandomState(0)).tolist()  # he is two windows off
    [[0, 0, 0, 0, 1, 1], [0, 0, 0, 0, 0, 0]]
    """
    n_windows = alarms.energies.shape[1]
    truth = np.asarray(alarms.bags.instance_labels).reshape(-1, n_windows) == 1
    mines = np.flatnonzero(np.asarray(alarms.bags.labels))
    loudness = alarms.energies[mines].max(axis=1)
    marked = np.zeros(truth.shape, int)
    for b, faint in zip(mines, loudness < np.median(loudness), strict=True):
        held = np.flatnonzero(truth[b]) if truth[b].any() else alarms.energies[b].argmax(keepdims=True)
        moved = held[0] + round(rng.normal(scale=3.0 if faint else 1.0))
        first = min(max(moved, 0), n_windows - len(held))  # a run never leaves the alarm
        marked[b, first : first + len(held)] = 1
    return marked


class Fired(NamedTuple):
    """What rules did on bags of equal size.

    Attributes
    ----------
    windows : array of int, shape (n_bags, n_rules)
        The rule's witness: where its premise is truest.
    shares : array of shape (n_bags, n_rules)
        Firing strengths that sum to 1.
    strongest : array of int, shape (n_bags,)
        Of the rules that conclude at least 0.5 (or else of all), the one that adds most to the output.
    """

    windows: Array
    shares: Array
    strongest: Array


def fired_windows(rules: RuleBase, bags: Bags) -> Fired:
    """Find the window that each rule fires on, and the rule that speaks most for a mine.

    Examples
    --------
    >>> rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    >>> fired = fired_windows(rules, Bags.from_list([[[0.1], [0.9]]]))
    >>> fired.windows.tolist(), fired.strongest.tolist()
    ([[0, 1]], [1])
    """
    found = rules.infer(bags)
    windows = found.log_truth.reshape(len(bags), int(bags.sizes[0]), -1).argmax(axis=1)
    concluded = found.rule_outputs[..., 0]
    for_mine = concluded >= 0.5
    eligible = for_mine | ~for_mine.any(axis=1, keepdims=True)
    strongest = np.where(eligible, found.normalized * concluded, -np.inf).argmax(axis=1)
    return Fired(windows, found.normalized, strongest)


# ---------------------------------------------------------------------- methods


@dataclass(frozen=True)
class Single:
    """One feature, or the energy, of the window where it is greatest; nothing is learned."""

    feature: str

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        if self.feature == "energy":
            windows = alarms.energies
        else:
            column = alarms.bags.names.index(self.feature)
            windows = alarms.bags.instances[:, column].reshape(alarms.energies.shape)
        return Answers(windows.max(axis=1), windows, windows.argmax(axis=1))

    def settings(self) -> Results:
        return {"feature": self.feature}


@dataclass(frozen=True)
class OnBags:
    """A classifier of bags with rules; ``loudness`` gives it the logarithm of a window's energy as a fifth feature."""

    estimator: Any
    loudness: bool = False

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        bags = alarms.bags
        if self.loudness:
            column = np.log10(alarms.energies).ravel()
            bags = bags.map_instances(lambda x: np.column_stack([x, column]), [*bags.names, "log energy"])
        models = fit_together(
            [clone(self.estimator).set_params(random_state=seed) for seed in seeds],
            [bags[inside] for inside, _ in splits],
        )
        scores, pointed = np.empty(len(bags)), np.empty(len(bags), int)
        windows = np.empty(alarms.energies.shape)
        for model, (_, outside) in zip(models, splits, strict=True):
            test = bags[outside]
            scores[outside] = model.decision_function(test)
            windows[outside] = model.instance_scores(test).reshape(len(test), -1)
            fired = fired_windows(model.rules_, test)
            pointed[outside] = fired.windows[np.arange(len(test)), fired.strongest]
        return Answers(scores, windows, pointed, models)

    def settings(self) -> Results:
        return {**_described(self.estimator), "loudness": self.loudness}


@dataclass(frozen=True)
class OnWindows:
    """A classifier of single windows; an alarm has the score of its highest window, or the mean of all.

    Attributes
    ----------
    estimator : ANFISClassifier or MIMamdani
    labels : {"true", "expert", "alarm"}
        Of the training windows: whether they hold a mine, what an expert took for it, or the label of their alarm.
    pool : {"max", "mean"}
    """

    estimator: Any
    labels: str
    pool: str = "max"

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        shape = alarms.energies.shape
        rows = alarms.bags.instances.reshape(*shape, -1)
        labels = self._labels(alarms, seeds[0])
        models = _fitted(
            self.estimator,
            [_as_rows(rows[inside], alarms.bags.names) for inside, _ in splits],
            [labels[inside].ravel() for inside, _ in splits],
            seeds,
        )
        windows = np.empty(shape)
        for model, (_, outside) in zip(models, splits, strict=True):
            found = model.decision_function(_as_rows(rows[outside], alarms.bags.names))
            windows[outside] = np.reshape(found, (len(outside), -1))
        pooled = windows.max(axis=1) if self.pool == "max" else windows.mean(axis=1)
        return Answers(pooled, windows, windows.argmax(axis=1), models)

    def _labels(self, alarms: AlarmSet, seed: int) -> Array:
        shape = alarms.energies.shape
        if self.labels == "expert":
            return expert_labels(alarms, np.random.RandomState(seed))
        if self.labels == "true":
            return np.asarray(alarms.bags.instance_labels).reshape(shape)
        return np.repeat(np.asarray(alarms.bags.labels)[:, None], shape[1], axis=1)

    def settings(self) -> Results:
        return {**_described(self.estimator), "labels": self.labels, "pool": self.pool}


@dataclass(frozen=True)
class OnLoudest:
    """A classifier of the one window with the greatest energy."""

    estimator: Any

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        loudest = alarms.energies.argmax(axis=1)
        rows = alarms.bags.instances.reshape(*alarms.energies.shape, -1)[np.arange(len(loudest)), loudest]
        labels = np.asarray(alarms.bags.labels)
        models = _fitted(
            self.estimator,
            [_as_rows(rows[inside], alarms.bags.names) for inside, _ in splits],
            [labels[inside] for inside, _ in splits],
            seeds,
        )
        scores = np.empty(len(rows))
        for model, (_, outside) in zip(models, splits, strict=True):
            scores[outside] = model.decision_function(_as_rows(rows[outside], alarms.bags.names))
        return Answers(scores, None, loudest, models)

    def settings(self) -> Results:
        return _described(self.estimator)


@dataclass(frozen=True)
class Embedding:
    """Logistic regression on mean, least and greatest value of each feature in a bag, standardized."""

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        cube = alarms.bags.instances.reshape(*alarms.energies.shape, -1)
        table = np.hstack([cube.mean(axis=1), cube.min(axis=1), cube.max(axis=1)])
        labels = np.asarray(alarms.bags.labels)
        scores = np.empty(len(table))
        for inside, outside in splits:
            model = make_pipeline(StandardScaler(), LogisticRegression()).fit(table[inside], labels[inside])
            scores[outside] = model.decision_function(table[outside])
        return Answers(scores)

    def settings(self) -> Results:
        return {"embedding": ["mean", "min", "max"]}


def _fitted(estimator: Any, rows: list[Bags], labels: list[Array], seeds: Sequence[int]) -> list[Any]:
    models = [clone(estimator).set_params(random_state=seed) for seed in seeds]
    if isinstance(estimator, ANFISClassifier):
        return fit_together(models, rows, labels)
    return [model.fit(*data) for model, data in zip(models, zip(rows, labels, strict=True), strict=True)]


def _as_rows(windows: Array, names: Sequence[str]) -> Bags:
    """Return every window of (..., n_features) as a bag of its own."""
    rows = windows.reshape(-1, windows.shape[-1])
    return Bags(rows, np.arange(len(rows) + 1), feature_names=names)


def _described(estimator: Any) -> Results:
    return {"estimator": {"class": type(estimator).__name__, **parameters(estimator)}}


# ---------------------------------------------------------------------- who takes part

REFERENCE = "MI-ANFIS, default"
"""The method that all others are compared with."""

START = "MI-ANFIS, the paper's start"
"""Five rules that start as the paper's do, trained as the library trains: exact gradient, Adam, all alarms at once."""

PAPER = "MI-ANFIS, the paper's settings"
"""The same start, trained as the paper does: plain steps of 0.1, alarm by alarm, with the printed update."""

# A width of 1 means something on standardized features only.
_START: dict[str, Any] = {
    "init": "fcm",
    "init_width": 1.0,
    "variant": Variant(init_bags="positive", init_outputs="ones"),
}

METHODS: dict[str, Method] = {
    REFERENCE: OnBags(MIANFISClassifier()),
    START: OnBags(MIANFISClassifier(5, **_START)),
    PAPER: OnBags(MIANFISClassifier.paper(5, 1.0, variant=Variant.paper(standardize=True))),
    "ANFIS, true window labels": OnWindows(ANFISClassifier(), "true"),
    "ANFIS, expert's window labels": OnWindows(ANFISClassifier(), "expert"),
    "Mamdani, true window labels": OnWindows(MIMamdani(), "true"),
    "Mamdani, expert's window labels": OnWindows(MIMamdani(), "expert"),
    "NaiveANFIS": OnWindows(ANFISClassifier(), "alarm"),
    "NaiveANFIS, mean of windows": OnWindows(ANFISClassifier(), "alarm", "mean"),
    "NaiveMamdani": OnWindows(MIMamdani(), "alarm"),
    "EHDDT alone": Single("EHDDT"),
    "EHDCT alone": Single("EHDCT"),
    "energy alone": Single("energy"),
    "ANFIS on the loudest window": OnLoudest(ANFISClassifier()),
    "logistic regression on bag statistics": Embedding(),
}

VARIANTS: dict[str, Method] = {
    "5 rules": OnBags(MIANFISClassifier(5)),
    "20 rules": OnBags(MIANFISClassifier(20)),
    "rules start on mines only": OnBags(MIANFISClassifier(variant=Variant(init_bags="positive"))),
    "alpha 5": OnBags(MIANFISClassifier(alpha=5.0)),
    "alpha 20": OnBags(MIANFISClassifier(alpha=20.0)),
    "greatest instance (max)": OnBags(MIANFISClassifier(aggregation="max")),
    "50 epochs": OnBags(MIANFISClassifier(max_epochs=50)),
    "500 epochs": OnBags(MIANFISClassifier(max_epochs=500)),
    "early stopping": OnBags(MIANFISClassifier(n_iter_no_change=20)),
    "Rule Dropout, rules kept at 0.7": OnBags(MIANFISClassifier(rule_keep_prob=0.7)),
    "best of 3 starts": OnBags(MIANFISClassifier(n_init=3)),
    "3 members": OnBags(MIANFISClassifier(n_estimators=3)),
    "linear conclusions": OnBags(MIANFISClassifier(order=1)),
    "energy as a fifth feature": OnBags(MIANFISClassifier(), loudness=True),
}
"""Changes of the reference, one at a time, to see what its answers depend on."""

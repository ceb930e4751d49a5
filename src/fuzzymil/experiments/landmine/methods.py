"""Methods that fuse the depth windows of an alarm, and their answers for alarms they were not trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fuzzymil._utils.arrays import Array
from fuzzymil.bags import Bags
from fuzzymil.comparators import EmbeddingLogistic
from fuzzymil.datasets.gpr.alarms import AlarmSet
from fuzzymil.estimators import ANFISClassifier, Fold, MIANFISClassifier, MIMamdani, Variant, cross_validate
from fuzzymil.experiments._experiment import Results, described
from fuzzymil.experiments._recipe import normalized_rules
from fuzzymil.rules import RuleBase

__all__ = [
    "METHODS",
    "NORMALIZED",
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
    """A method's answers for all alarms, each from a model that was not trained on the alarm."""

    scores: Array  # (n_bags,)
    windows: Array | None = None  # (n_bags, n_windows), scores of single windows
    pointed: Array | None = None  # (n_bags,), the window that the method points to
    models: Sequence[Any] = ()  # one per fold; empty if nothing is learned


class Method(Protocol):
    """Trains on the training alarms of each split and answers for its test alarms."""

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers: ...

    def settings(self) -> Results:
        """Return everything the answers depend on, in a form that JSON can hold."""


def expert_labels(alarms: AlarmSet, rng: np.random.RandomState) -> Array:
    """Label windows, shape (n_bags, n_windows), the way an expert might who looks at the slices.

    For each mine, the expert marks as many adjacent windows as actually hold it (one if none does), shifted by a
    rounded normal number of windows: with standard deviation 1 for the louder half of the mines and 3 for the rest.
    If no window holds the mine, the marks are placed around the loudest window. Clutter is never marked.

    Examples
    --------
    >>> truth = np.array([[0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0]])  # a mine and a stone
    >>> bags = Bags(np.zeros((12, 1)), [0, 6, 12], labels=[1, 0], instance_labels=truth.ravel())
    >>> energies = 1.0 + truth
    >>> asked = np.array(["high-metal mine", "clutter"])
    >>> alarms = AlarmSet(bags, asked, energies, energies, np.arange(2), asked, [{}, {}])
    >>> expert_labels(alarms, np.random.RandomState(0)).tolist()  # two windows off
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
        first = min(max(moved, 0), n_windows - len(held))  # the marks stay inside the alarm
        marked[b, first : first + len(held)] = 1
    return marked


class Fired(NamedTuple):
    """How rules fired on bags of equal size.

    The strongest rule adds most to the output, among the rules that speak for a mine: normalized rules that conclude
    at least 0.5, additive rules that raise the score because of an instance. Where no rule does, all are compared.
    """

    windows: Array  # (n_bags, n_rules), the rule's witness: the window where its premise is truest
    contributions: Array  # (n_bags, n_rules), what the rule adds to the output
    strongest: Array  # (n_bags,)


def fired_windows(rules: RuleBase, bags: Bags) -> Fired:
    """Return the window that each rule fires on, and the strongest rule for a mine.

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
    contributions = found.normalized * concluded
    pointing = [_pointing_part(rules, r) for r in range(rules.n_rules)]
    if rules.normalize:
        for_mine = concluded >= 0.5
    else:
        for_mine = (contributions > 0) & np.array([points for _, points in pointing])
    eligible = for_mine | ~for_mine.any(axis=1, keepdims=True)
    strongest = np.where(eligible, contributions, -np.inf).argmax(axis=1)
    return Fired(windows[:, [place for place, _ in pointing]], contributions, strongest)


def _pointing_part(rules: RuleBase, rule: int) -> tuple[int, bool]:
    """Return the position of a rule's first part that holds because of an instance, and whether there is one.

    Parts inside NOT and parts about all instances are no such parts: what is truest there says nothing.
    """
    own = [(place, part) for place, part in enumerate(rules.parts) if part.rule == rule]
    found = [place for place, part in own if not part.negated and part.quantifier != "all"]
    return (found[0], True) if found else (own[0][0], False)


# ---------------------------------------------------------------------- methods


@dataclass(frozen=True)
class Single:
    """The maximum over windows of one feature, or of the energy; nothing is learned."""

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
    """A rule-based classifier of bags; ``loudness`` adds the logarithm of a window's energy as a fifth feature."""

    estimator: Any
    loudness: bool = False

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        bags = alarms.bags
        if self.loudness:
            column = np.log10(alarms.energies).ravel()
            bags = bags.map_instances(lambda x: np.column_stack([x, column]), [*bags.names, "log energy"])
        (folds,) = cross_validate([self.estimator], bags, cv=splits, seeds=seeds)
        windows, pointed = np.empty(alarms.energies.shape), np.empty(len(bags), int)
        for fold in folds:
            windows[fold.test] = fold.model.instance_scores(fold.X).reshape(len(fold.test), -1)
            fired = fired_windows(fold.model.rules_, fold.X)
            pointed[fold.test] = fired.windows[np.arange(len(fold.test)), fired.strongest]
        return Answers(_decisions(folds, len(bags)), windows, pointed, [fold.model for fold in folds])

    def settings(self) -> Results:
        return {"estimator": described(self.estimator), "loudness": self.loudness}


@dataclass(frozen=True)
class OnWindows:
    """A classifier of single windows; an alarm's score is the maximum, or the mean, of its windows' scores.

    Attributes
    ----------
    estimator : ANFISClassifier or MIMamdani
    labels : {"true", "expert", "alarm"}
        Labels of the training windows: whether they hold a mine, what an expert marked, or the label of their alarm.
    pool : {"max", "mean"}
    """

    estimator: Any
    labels: str
    pool: str = "max"

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        shape = alarms.energies.shape
        rows = np.arange(shape[0] * shape[1]).reshape(shape)
        (folds,) = cross_validate(
            [self.estimator],
            _as_rows(alarms.bags.instances, alarms.bags.names),
            self._labels(alarms, seeds[0]).ravel(),
            cv=[(rows[inside].ravel(), rows[outside].ravel()) for inside, outside in splits],
            seeds=seeds,
        )
        windows = _decisions(folds, rows.size).reshape(shape)
        pooled = windows.max(axis=1) if self.pool == "max" else windows.mean(axis=1)
        return Answers(pooled, windows, windows.argmax(axis=1), [fold.model for fold in folds])

    def _labels(self, alarms: AlarmSet, seed: int) -> Array:
        shape = alarms.energies.shape
        if self.labels == "expert":
            return expert_labels(alarms, np.random.RandomState(seed))
        if self.labels == "true":
            return np.asarray(alarms.bags.instance_labels).reshape(shape)
        return np.repeat(np.asarray(alarms.bags.labels)[:, None], shape[1], axis=1)

    def settings(self) -> Results:
        return {"estimator": described(self.estimator), "labels": self.labels, "pool": self.pool}


@dataclass(frozen=True)
class OnLoudest:
    """A classifier of the one window with the highest energy."""

    estimator: Any

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        loudest = alarms.energies.argmax(axis=1)
        rows = alarms.bags.instances.reshape(*alarms.energies.shape, -1)[np.arange(len(loudest)), loudest]
        bags, labels = _as_rows(rows, alarms.bags.names), np.asarray(alarms.bags.labels)
        (folds,) = cross_validate([self.estimator], bags, labels, cv=splits, seeds=seeds)
        return Answers(_decisions(folds, len(rows)), None, loudest, [fold.model for fold in folds])

    def settings(self) -> Results:
        return {"estimator": described(self.estimator)}


@dataclass(frozen=True)
class Embedding:
    """A classifier of whole bags, such as one of their statistics, which points to no window."""

    estimator: Any

    def __call__(self, alarms: AlarmSet, splits: Splits, seeds: Sequence[int]) -> Answers:
        (folds,) = cross_validate([self.estimator], alarms.bags, cv=splits, seeds=seeds)
        return Answers(_decisions(folds, len(alarms.bags)))

    def settings(self) -> Results:
        return {"estimator": described(self.estimator)}


def _decisions(folds: Sequence[Fold], n: int) -> Array:
    """Return the decision values (n,) of all test folds together."""
    scores = np.empty(n)
    for fold in folds:
        scores[fold.test] = fold.decisions
    return scores


def _as_rows(windows: Array, names: Sequence[str]) -> Bags:
    """Return every window of (n_windows, n_features) as a bag of its own."""
    return Bags(windows, np.arange(len(windows) + 1), feature_names=names)


# ---------------------------------------------------------------------- registry

REFERENCE = "MI-ANFIS, default"
"""The method that all others are compared with."""

NORMALIZED = "MI-ANFIS, normalized rules"
"""Ten normalized rules, started by k-means and trained by gradient."""

START = "MI-ANFIS, the paper's start"
"""Five rules initialized as in the paper, with the library's training: exact gradient, Adam, full batch."""

PAPER = "MI-ANFIS, the paper's settings"
"""The same initialization, trained as in the paper: plain steps of 0.1, alarm by alarm, with the printed update."""

# A width of 1 only makes sense on standardized features.
_START: dict[str, Any] = {
    "init": "fcm",
    "init_width": 1.0,
    "variant": Variant(init_bags="positive", init_outputs="ones"),
}

METHODS: dict[str, Method] = {
    REFERENCE: OnBags(MIANFISClassifier()),
    NORMALIZED: OnBags(normalized_rules()),
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
    "logistic regression on bag statistics": Embedding(EmbeddingLogistic()),
}

_NORMALIZED_CHANGES: dict[str, dict[str, Any]] = {
    "start on mines only": {"variant": Variant(init_bags="positive")},
    "best of 3 starts": {"n_init": 3},
    "alpha 5": {"alpha": 5.0},
    "alpha 20": {"alpha": 20.0},
    "greatest instance (max)": {"aggregation": "max"},
    "50 epochs": {"max_epochs": 50},
    "500 epochs": {"max_epochs": 500},
    "early stopping": {"n_iter_no_change": 20},
    "Rule Dropout, kept at 0.7": {"rule_keep_prob": 0.7},
    "linear conclusions": {"order": 1},
}

VARIANTS: dict[str, Method] = {
    "5 rules": OnBags(MIANFISClassifier(5)),
    "20 rules": OnBags(MIANFISClassifier(20)),
    "single conditions": OnBags(MIANFISClassifier(max_conditions=1)),
    "3 members": OnBags(MIANFISClassifier(n_estimators=3)),
    "energy as a fifth feature": OnBags(MIANFISClassifier(), loudness=True),
    **{
        f"normalized rules, {change}": OnBags(normalized_rules(**settings))
        for change, settings in _NORMALIZED_CHANGES.items()
    },
}
"""Changes to the reference and to normalized rules, one at a time, to see what their answers depend on."""

"""The landmine experiment: its methods on made-up alarms, and its units of work."""

import json

import numpy as np
import pytest
from made_up_alarms import SMALL, made_up
from rich.console import Console
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from fuzzymil import Bags
from fuzzymil.rules import RuleBase
from paper import experiment, landmine
from paper.experiment import Options, Parts, Unit
from paper.landmine import (
    METHODS,
    VARIANTS,
    Embedding,
    OnBags,
    OnLoudest,
    OnWindows,
    Single,
    expert_labels,
    fired_windows,
    right_windows,
)
from paper.page import Section
from paper.radar.alarms import AlarmSet
from paper.recipe import splits
from paper.run import EXPERIMENTS, reproduce

# ---------------------------------------------------------------------- methods


class Recorder(ClassifierMixin, BaseEstimator):
    """Stands in for an estimator and records the rows that it is trained on and asked about."""

    def __init__(self, log, random_state=None):
        self.log, self.random_state = log, random_state

    def __sklearn_clone__(self):
        return Recorder(self.log)  # the same list

    def fit(self, x, y=None):
        own = x.labels if y is None and isinstance(x, Bags) else y
        self.log.append(("fit", self.random_state, rows_of(x), np.asarray(own).tolist()))
        self.classes_ = np.array([0, 1])
        self.rules_ = RuleBase.from_arrays(np.zeros((1, 4)), np.ones((1, 4)), [1.0], feature_names=landmine.FEATURES)
        return self

    def decision_function(self, x):
        self.log.append(("test", self.random_state, rows_of(x), None))
        return np.zeros(len(x))

    def instance_scores(self, x):
        return np.zeros(x.n_instances)


def rows_of(x):
    return np.asarray(x.instances if isinstance(x, Bags) else x).tolist()


@pytest.mark.parametrize("name", ["bags", "windows", "loudest", "embedding"])
def test_models_are_trained_on_the_alarms_of_the_training_folds_only(name, alarms):
    log = []
    estimator = Recorder(log)
    cube, labels = alarms.bags.instances.reshape(24, 15, 4), np.asarray(alarms.bags.labels)
    loudest = cube[np.arange(24), alarms.energies.argmax(axis=1)]
    method, wanted, told = {
        "bags": (OnBags(estimator), lambda inside: cube[inside].reshape(-1, 4), lambda inside: labels[inside]),
        "windows": (
            OnWindows(estimator, "alarm"),
            lambda inside: cube[inside].reshape(-1, 4),
            lambda inside: np.repeat(labels[inside], 15),
        ),
        "loudest": (OnLoudest(estimator), lambda inside: loudest[inside], lambda inside: labels[inside]),
        "embedding": (Embedding(estimator), lambda inside: cube[inside].reshape(-1, 4), lambda inside: labels[inside]),
    }[name]
    parts = splits(alarms.asked, 3, 0)
    method(alarms, parts, [11, 12, 13])
    fitted = [entry for entry in log if entry[0] == "fit"]
    tested = [entry for entry in log if entry[0] == "test"]
    assert len(fitted) == len(tested) == 3
    for (inside, outside), seed, fit, test in zip(parts, [11, 12, 13], fitted, tested, strict=True):
        assert sorted([*inside, *outside]) == list(range(24))
        assert fit[2] == wanted(inside).tolist()
        assert fit[3] == told(inside).tolist()
        assert test[2] == wanted(outside).tolist()
        assert fit[1] == test[1] == seed


def test_logistic_regression_sees_standardized_statistics_of_the_training_alarms(alarms):
    cube, labels = alarms.bags.instances.reshape(24, 15, 4), np.asarray(alarms.bags.labels)
    table = np.hstack([cube.mean(axis=1), cube.min(axis=1), cube.max(axis=1)])
    parts, expected = splits(alarms.asked, 3, 0), np.empty(24)
    for inside, outside in parts:
        mean, deviation = table[inside].mean(axis=0), table[inside].std(axis=0)
        model = LogisticRegression().fit((table[inside] - mean) / deviation, labels[inside])
        expected[outside] = model.decision_function((table[outside] - mean) / deviation)
    answers = METHODS["logistic regression on bag statistics"](alarms, parts, [11, 12, 13])
    np.testing.assert_allclose(answers.scores, expected, rtol=1e-3, atol=1e-3)
    assert answers.windows is None


def test_all_methods_of_a_difficulty_and_repeat_have_the_same_folds():
    by_repeat = {}
    for unit in landmine._units(Options(seed=100, repeats=2)):
        if "method" in unit.settings or "variant" in unit.settings:
            repeat = int(unit.label.rsplit(" ", 1)[1])
            by_repeat.setdefault((unit.settings["difficulty"], repeat), []).append(tuple(unit.settings["seeds"]))
    assert len(by_repeat) == 6
    assert all(len(set(seeds)) == 1 for seeds in by_repeat.values())
    assert len({seeds[0] for seeds in by_repeat.values()}) == 6
    assert len(by_repeat["medium", 1]) == len(METHODS) + len(VARIANTS)
    assert len(by_repeat["medium", 2]) == len(METHODS)


@pytest.mark.slow
def test_kept_folds_are_those_of_the_seeds(results, alarms):
    seeds = landmine.seeds_of(3, 100, "landmine", "medium", "folds", 0)
    expected = np.empty(24, int)
    for number, (_, outside) in enumerate(splits(alarms.asked, 2, seeds[0])):
        expected[outside] = number
    assert results["difficulties"]["medium"]["folds"] == expected.tolist()


@pytest.mark.parametrize(
    ("outputs", "strongest"),
    [([0.9, 0.8, 0.1], 0), ([0.5, 1.0, 0.1], 1), ([0.2, 0.6, 0.1], 1), ([0.2, 0.1, 0.4], 0)],
    ids=["by share", "by share and conclusion", "one for mines", "none for mines"],
)
def test_the_rule_that_adds_most_to_the_output_counts(outputs, strongest):
    """The first rule fires more than the second, the third hardly at all; each on a window of its own."""
    rules = RuleBase.from_arrays([[0.0], [1.0], [2.0]], [[0.2]] * 3, outputs)
    fired = fired_windows(rules, Bags.from_list([[[2.5], [1.07], [0.0]]]))
    assert fired.windows.tolist() == [[2, 1, 0]]
    shares = fired.contributions[0] / outputs
    assert shares[0] > shares[1] > 0.4 > shares[2]
    assert fired.strongest.tolist() == [strongest]


def test_the_expert_marks_a_run_near_the_truth():
    alarms = made_up(200)
    marked = expert_labels(alarms, np.random.RandomState(0))
    held = np.asarray(alarms.bags.instance_labels).reshape(200, 15)
    assert np.array_equal(marked.sum(axis=1), held.sum(axis=1))
    mines = held.any(axis=1)
    off = np.abs(marked.argmax(axis=1) - held.argmax(axis=1))[mines]
    loud = alarms.energies[mines].max(axis=1) >= np.median(alarms.energies[mines].max(axis=1))
    assert 0 < off[loud].mean() < off[~loud].mean()


def test_an_expert_takes_the_loudest_window_where_none_holds_the_mine(alarms):
    bags = alarms.bags
    silent = Bags(bags.instances, bags.offsets, labels=bags.labels, instance_labels=np.zeros(bags.n_instances, int))
    blind = AlarmSet(
        silent, *[getattr(alarms, n) for n in ("kinds", "energies", "target_energies", "seeds", "asked")], []
    )
    marked = expert_labels(blind, np.random.RandomState(0))
    assert marked.sum(axis=1).tolist() == bags.labels.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_finds_made_up_mines(name, alarms):
    parts = splits(alarms.asked, 2, 0)
    answers = SMALL[name](alarms, parts, [1, 2])
    assert answers.scores.shape == (24,)
    assert np.isfinite(answers.scores).all()
    if answers.windows is not None:
        assert answers.windows.shape == (24, 15)
    if answers.pointed is not None:
        assert ((answers.pointed >= 0) & (answers.pointed < 15)).all()
    json.dumps(METHODS[name].settings(), allow_nan=False)


def test_single_features_are_taken_at_their_greatest(alarms):
    answers = Single("EHDCT")(alarms, [], [])
    cube = alarms.bags.instances.reshape(24, 15, 4)
    assert np.array_equal(answers.scores, cube[:, :, 1].max(axis=1))
    assert np.array_equal(answers.pointed, cube[:, :, 1].argmax(axis=1))


def test_right_windows(alarms):
    mines = np.asarray(alarms.bags.labels) == 1
    held = np.asarray(alarms.bags.instance_labels).reshape(24, 15)
    right = right_windows(alarms)
    assert np.array_equal(right[mines], held[mines].argmax(axis=1))
    assert np.array_equal(right[~mines], alarms.energies[~mines].argmax(axis=1))


# ---------------------------------------------------------------------- units


def test_units_of_a_full_run(tmp_path):
    units = landmine._units(Options(seed=100, repeats=2))
    per_difficulty = 1 + landmine.N_CHUNKS + 2 * len(METHODS) + len(landmine.VARIANTS)
    assert len(units) == 3 * per_difficulty
    assert len({Parts(tmp_path).path(unit) for unit in units}) == len(units)
    for place, unit in enumerate(units):
        assert all(needed < place for needed in unit.needs)
    assert len(units[-1].needs) == landmine.N_CHUNKS
    assert landmine.COUNTS["clutter"] == landmine.COUNTS["high-metal mine"] + landmine.COUNTS["low-metal mine"]
    others = landmine._units(Options(seed=5, repeats=2))
    assert not {Parts(tmp_path).path(u) for u in units} & {Parts(tmp_path).path(u) for u in others}


def test_units_are_given_the_results_they_need_also_kept_ones(tmp_path, monkeypatch):
    given = []

    def second(first):
        given.append(first)
        return {"n": first["n"] + 1}

    units = [Unit("one", {"unit": 1}, 1.0, lambda: {"n": 1}), Unit("two", {"unit": 2}, 1.0, second, (0,))]
    tiny = experiment.Experiment(
        "tiny",
        lambda options: units,
        lambda options, parts: {"found": [part["n"] for part in parts]},
        lambda results, folder: None,
        lambda results: Section("tiny", "Tiny"),
    )
    monkeypatch.setitem(EXPERIMENTS, "tiny", tiny)
    assert reproduce(["tiny"], tmp_path, Options(), Console(quiet=True))["tiny"]["found"] == [1, 2]
    Parts(tmp_path / "tiny" / "parts").path(units[1]).unlink()
    assert reproduce(["tiny"], tmp_path, Options(), Console(quiet=True))["tiny"]["found"] == [1, 2]
    assert given == [{"n": 1}, {"n": 1}]

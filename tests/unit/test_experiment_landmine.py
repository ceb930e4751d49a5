"""The landmine experiment: the bootstrap, methods on made-up alarms, the way to the page, sentences for any outcome."""

import copy
import json

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import roc_auc_score

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, MIMamdani
from fuzzymil.cli import Experiment
from fuzzymil.datasets.gpr.alarms import AlarmSet
from fuzzymil.experiments import EXPERIMENTS, Options, landmine, reproduce, study
from fuzzymil.experiments.bootstrap import Run, areas, draw_weights, interval, rates_detected
from fuzzymil.experiments.document import Figure, Section, Table, Text
from fuzzymil.experiments.folds import splits
from fuzzymil.experiments.landmine_figures import shown_alarms
from fuzzymil.experiments.landmine_methods import (
    METHODS,
    PAPER,
    REFERENCE,
    START,
    Embedding,
    OnBags,
    OnLoudest,
    OnWindows,
    Single,
    expert_labels,
)
from fuzzymil.experiments.landmine_numbers import FALSE_RATES, right_windows
from fuzzymil.experiments.landmine_report import draw, section
from fuzzymil.experiments.parts import Parts
from fuzzymil.experiments.study import Unit
from fuzzymil.plots.roc import true_positive_rates

EPOCHS = 3


def made_up(n=24, seed=0):
    """Alarms without radar: mines have one window with high confidences."""
    rng = np.random.RandomState(seed)
    asked = np.array(["high-metal mine", "low-metal mine", "clutter", "clutter"] * (n // 4))
    is_mine = asked != "clutter"
    features = rng.uniform(0, 0.5, size=(n, 15, 4))
    held = np.zeros((n, 15), int)
    places = rng.randint(2, 13, size=n)
    for b in np.flatnonzero(is_mine):
        held[b, places[b]] = 1
        features[b, places[b]] += 0.5
    energies = rng.uniform(1, 2, size=(n, 15)) + 3 * held
    bags = Bags(
        features.reshape(-1, 4),
        15 * np.arange(n + 1),
        feature_names=landmine.FEATURES,
        labels=is_mine.astype(int),
        instance_labels=held.ravel(),
    )
    kinds = np.where(asked == "clutter", "void", asked)
    return AlarmSet(bags, kinds, energies, 3.0 * held, np.arange(n) + 1000, asked, [{}] * n)


SMALL = {
    REFERENCE: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS)),
    START: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, init_bags="positive")),
    PAPER: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, init_bags="all")),
    **{name: OnWindows(ANFISClassifier(3, max_epochs=EPOCHS), method.labels, method.pool)
       for name, method in METHODS.items()
       if isinstance(method, OnWindows) and isinstance(method.estimator, ANFISClassifier)},
    **{name: OnWindows(MIMamdani(n_rules=4), method.labels)
       for name, method in METHODS.items()
       if isinstance(method, OnWindows) and isinstance(method.estimator, MIMamdani)},
    **{name: method for name, method in METHODS.items() if isinstance(method, Single | Embedding)},
    "ANFIS on the loudest window": OnLoudest(ANFISClassifier(3, max_epochs=EPOCHS)),
}  # fmt: skip


@pytest.fixture(scope="module")
def alarms():
    return made_up()


@pytest.fixture(scope="module")
def results(alarms):
    """Return what a quick run collects, with few epochs and alarms that cost nothing."""
    patch = pytest.MonkeyPatch()
    patch.setattr(landmine, "METHODS", {name: SMALL[name] for name in METHODS})
    patch.setattr(landmine, "_n_folds", lambda options: 2)
    patch.setattr(landmine.gpr, "draw_alarms", lambda *counts, **settings: alarms)
    patch.setattr("fuzzymil.experiments.landmine_numbers.N_REPLICATES", 20)
    variants = {"alpha 5": OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, alpha=5.0))}
    patch.setattr(landmine, "_variants", lambda options: variants)
    options = Options(seed=100, quick=True)
    units = landmine._units(options)
    points = {"points": np.zeros((2, 35)).tolist(), "labels": [0.0, 1.0], "reach": 1.0}
    found = [{"down_track": points, "cross_track": points}]
    for unit in units[1:]:
        found.append(json.loads(json.dumps(unit.work(*(found[place] for place in unit.needs)))))
    collected = {"seed": 100, "quick": True, **landmine._collect(options, found)}
    patch.undo()
    return json.loads(json.dumps(collected))


def findings(report):
    return [block.words for block in report.blocks if isinstance(block, Text) and block.finding]


# ---------------------------------------------------------------------- bootstrap


def test_areas_and_rates_of_whole_weights_are_the_usual_ones():
    rng = np.random.RandomState(0)
    truth = np.arange(60) % 2 == 0
    scores = np.round(rng.normal(size=60) + truth, 1)  # with ties
    folds = np.repeat([0, 1, 2], 20)
    whole = np.ones((1, 60))
    by_fold = [folds == fold for fold in range(3)]
    expected = np.mean([roc_auc_score(truth[f], scores[f]) for f in by_fold])
    assert np.isclose(areas(truth, [Run(scores, folds)], whole)[0], expected)
    for rate in FALSE_RATES:
        expected = np.mean([true_positive_rates(truth[f], scores[f], [rate])[0] for f in by_fold])
        assert np.isclose(rates_detected(truth, [Run(scores, folds)], whole, rate)[0], expected)


def test_weights_are_repeated_bags():
    rng = np.random.RandomState(1)
    truth, scores = np.arange(12) % 3 == 0, np.round(rng.normal(size=12), 1)
    weights = rng.randint(0, 3, size=12).astype(float)
    weights[:3] = 1
    again = np.repeat(np.arange(12), weights.astype(int))
    run, repeated = Run(scores, np.zeros(12, int)), Run(scores[again], np.zeros(len(again), int))
    for measure in (areas, lambda *given: rates_detected(*given, 0.2)):
        expected = measure(truth[again], [repeated], np.ones((1, len(again))))
        assert np.isclose(measure(truth, [run], weights[None]), expected)


def test_a_fold_without_one_class_does_not_count():
    truth = np.array([True, False, True, False])
    run = Run(np.array([1.0, 0.0, 0.0, 1.0]), np.array([0, 0, 1, 1]))
    assert areas(truth, [run], np.array([[1.0, 1, 0, 1]]))[0] == 1


def test_replicates_keep_the_groups():
    groups = np.array(["a"] * 30 + ["b"] * 10)
    weights = draw_weights(groups, 50, np.random.RandomState(2))
    assert (weights[0] == 1).all()
    assert (weights[:, :30].sum(axis=1) == 30).all()
    assert weights[1:].std(axis=0).min() > 0


def test_an_interval_leaves_the_number_itself_out():
    found = interval(np.concatenate([[0.5], np.linspace(0, 1, 41)]))
    assert np.allclose([found.value, found.low, found.high], [0.5, 0.025, 0.975])


# ---------------------------------------------------------------------- methods


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
    tiny = study.Experiment(
        "tiny",
        "Tiny",
        lambda options: None,
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


def test_the_command_line_knows_it():
    assert Experiment("landmine").value in EXPERIMENTS


# ---------------------------------------------------------------------- the page


def test_the_whole_way(results, tmp_path, monkeypatch):
    from fuzzymil.datasets.gpr.simulation import simulate_alarm

    monkeypatch.setattr(
        "fuzzymil.experiments.landmine_figures.draw_alarm",
        lambda asked, difficulty, seed: simulate_alarm("void", difficulty, seed),
    )
    draw(results, tmp_path)
    report = section(results)
    for block in report.blocks:
        if isinstance(block, Figure):
            assert (tmp_path / f"{block.stem}.svg").exists()
        if isinstance(block, Table):
            assert all(len(row) == len(block.columns) for row in block.rows)
    words = " ".join(
        block.words if isinstance(block, Text) else block.title if isinstance(block, Table) else block.caption
        for block in report.blocks
    )
    assert words.count("imulated") > 15
    assert "another seed than the reported one" in words


def test_shown_alarms_are_the_middle_mine_and_the_worst_false_alarm(results):
    own = results["difficulties"]["medium"]
    places = shown_alarms(own, REFERENCE)
    outside = np.array(own["rules"][REFERENCE]["outside"])
    asked, scores = np.array(own["alarms"]["asked"])[outside], np.array(own["curves"][REFERENCE])[outside]
    assert asked[places["cube_mine"]] == "low-metal mine"
    assert scores[places["cube_clutter"]] == scores[asked == "clutter"].max()


def with_difference(results, method, low, high, measure="auc"):
    """Return the results as they would be, had a method done so much better or worse than MI-ANFIS."""
    changed = copy.deepcopy(results)
    own = changed["difficulties"]["medium"]["methods"]
    own[method][measure]["minus"] = {"value": (low + high) / 2, "low": low, "high": high}
    own[method][measure]["value"] = own[REFERENCE][measure]["value"] + (low + high) / 2
    return changed


@pytest.mark.parametrize(
    ("low", "high", "place", "claim"),
    [
        (0.1, 0.2, "Clearly ahead of “MI-ANFIS, default”: “NaiveANFIS”", "is the other way round here"),
        (-0.2, -0.1, "Clearly behind it: “NaiveANFIS”", "is so here, too"),
        (-0.1, 0.1, "Clearly behind it: none", "is not clear here"),
    ],
    ids=["ahead", "behind", "between"],
)
def test_sentences_follow_the_numbers(results, low, high, place, claim):
    changed = results
    for name in METHODS:
        if name != REFERENCE:
            changed = with_difference(changed, name, -0.01, 0.01)
    words = findings(section(with_difference(changed, "NaiveANFIS", low, high)))
    assert any(place in sentence for sentence in words)
    assert any(f"“NaiveANFIS is worse than MI-ANFIS” {claim}" in sentence for sentence in words)


@pytest.mark.parametrize(("gain", "reached"), [(0.1, "medium"), (0.05, "none of them")], ids=["enough", "too little"])
def test_the_setting_is_judged_by_its_numbers(results, gain, reached):
    changed = copy.deepcopy(results)
    changed["difficulties"]["medium"]["setting"]["difference"]["value"] = gain
    assert any(f"is reached on: {reached}." in sentence for sentence in findings(section(changed)))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.01, 0.02, "behind"), (-0.02, -0.01, "ahead of"), (-0.01, 0.01, "not told apart from")],
    ids=["behind", "ahead", "between"],
)
def test_the_default_is_held_against_the_papers_start(results, low, high, words):
    report = section(with_difference(results, START, low, high))
    assert any(f"The library's default is {words} “{START}”" in sentence for sentence in findings(report))

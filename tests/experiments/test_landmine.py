"""The landmine experiment: the bootstrap, methods on made-up alarms, the way to the page, sentences for any outcome."""

import copy
import json

import numpy as np
import pytest
from rich.console import Console
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, MIMamdani, Variant
from fuzzymil.cli import Experiment
from fuzzymil.datasets.gpr.alarms import AlarmSet
from fuzzymil.experiments import EXPERIMENTS, Options, _experiment, reproduce
from fuzzymil.experiments._bootstrap import Run, areas, draw_weights, interval, rates_detected
from fuzzymil.experiments._document import Figure, Section, Table, Text
from fuzzymil.experiments._experiment import Unit
from fuzzymil.experiments._parts import Parts
from fuzzymil.experiments._recipe import splits
from fuzzymil.experiments.landmine import experiment as landmine
from fuzzymil.experiments.landmine.analysis import CAUSES
from fuzzymil.experiments.landmine.figures import draw, shown_alarms
from fuzzymil.experiments.landmine.methods import (
    METHODS,
    NORMALIZED,
    PAPER,
    REFERENCE,
    START,
    VARIANTS,
    Embedding,
    OnBags,
    OnLoudest,
    OnWindows,
    Single,
    expert_labels,
    fired_windows,
)
from fuzzymil.experiments.landmine.numbers import FALSE_RATES, right_windows, summarize
from fuzzymil.experiments.landmine.report import section
from fuzzymil.plots import true_positive_rates
from fuzzymil.rules import RuleBase

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
    REFERENCE: OnBags(MIANFISClassifier(3)),
    NORMALIZED: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS)),
    START: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, variant=Variant(init_bags="positive"))),
    PAPER: OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, variant=Variant(init_bags="all"))),
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
    patch.setattr(Options, "n_folds", 2)
    patch.setattr(landmine.gpr, "draw_alarms", lambda *counts, **settings: alarms)
    patch.setattr("fuzzymil.experiments.landmine.numbers.N_REPLICATES", 20)
    variants = {"normalized rules, alpha 5": OnBags(MIANFISClassifier(3, max_epochs=EPOCHS, alpha=5.0))}
    patch.setattr(landmine, "_variants", lambda options: variants)
    options = Options(seed=100, quick=True)
    units = landmine._units(options)
    points = {"points": np.zeros((2, 35)).tolist(), "labels": [0.0, 1.0], "reach": 1.0}
    found = [{"down_track": points, "cross_track": points, "seeds": []}]
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


def test_a_centered_interval_lies_around_the_number():
    found = interval(np.concatenate([[0.4], np.linspace(0, 1, 41)]), centered=True)
    assert np.allclose([found.value, found.low, found.high], [0.4, -0.075, 0.875])


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
    tiny = _experiment.Experiment(
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


def test_the_command_line_knows_it():
    assert Experiment("landmine").value in EXPERIMENTS


# ---------------------------------------------------------------------- the page


@pytest.mark.slow
def test_the_whole_way(results, tmp_path, monkeypatch):
    from fuzzymil.datasets.gpr.simulation import simulate_alarm

    monkeypatch.setattr(
        "fuzzymil.experiments.landmine.figures.draw_alarm",
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
    assert "a different seed from the reported one" in words


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
        (0.1, 0.2, "Clearly better than “MI-ANFIS, default”: “NaiveANFIS”", "reversed: +0.150 ("),
        (-0.2, -0.1, "Clearly worse: “NaiveANFIS”", "confirmed: -0.150 ("),
        (-0.1, 0.1, "Clearly worse: none", "not clear: +0.000 ("),
    ],
    ids=["ahead", "behind", "between"],
)
def test_sentences_follow_the_numbers(results, low, high, place, claim):
    changed = results
    for name in METHODS:
        if name != REFERENCE:
            changed = with_difference(changed, name, -0.01, 0.01)
    report = section(with_difference(changed, "NaiveANFIS", low, high))
    assert any(place in sentence for sentence in findings(report))
    (claims,) = [block for block in report.blocks if isinstance(block, Table) and "The paper's findings" in block.title]
    assert dict(row[:2] for row in claims.rows)["NaiveANFIS is worse than MI-ANFIS"].startswith(claim)


@pytest.mark.parametrize(
    ("gain", "words"), [(0.1, "on: medium; not on: none."), (0.05, "on: none; not on: medium.")], ids=["enough", "less"]
)
def test_the_setting_is_judged_by_the_strict_reading(results, gain, words):
    changed = copy.deepcopy(results)
    setting = changed["difficulties"]["medium"]["setting"]
    setting["own_difference"] = {"value": gain, "low": gain - 0.02, "high": gain + 0.02}
    setting["difference"]["value"] = 0.3  # the lenient one does not count
    (told,) = [sentence for sentence in findings(section(changed)) if "multiple-instance problem" in sentence]
    assert told.endswith(words)
    assert f"{gain:+.3f} (medium). Lenient" in told
    assert "+0.300 (medium), which does not count" in told


def test_the_strict_reading_judges_clutter_where_its_object_is():
    """Clutter that looks like a mine, but deeper: only a judge who knows the window of both is not told them apart."""
    alarms = made_up(8)
    n, windows = alarms.energies.shape
    mines = np.asarray(alarms.bags.labels) == 1
    ehddt, target = np.zeros((n, windows)), np.zeros((n, windows))
    for bag, place in enumerate(np.where(mines, 3, 9)):
        ehddt[bag, place], target[bag, place] = 0.9, 5.0
    bags = Bags(
        np.column_stack([ehddt.ravel(), np.zeros((n * windows, 3))]),
        alarms.bags.offsets,
        labels=alarms.bags.labels,
        instance_labels=(target > 0).astype(int).ravel() * np.repeat(mines, windows),
    )
    same = AlarmSet(bags, alarms.kinds, 1 + target, target, alarms.seeds, alarms.asked, alarms.facts)
    run = {"scores": np.zeros(n), "folds": np.zeros(n, int), "pointed": np.full(n, 3)}
    setting = summarize(same, {REFERENCE: [run]}, {}, seed=0)["setting"]
    assert (setting["right"]["value"], setting["own"]["value"]) == (1.0, 0.5)
    assert setting["own_difference"]["value"] == setting["own"]["value"] - setting["fixed"]["value"]


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.02, "clearly worse than"),
        (-0.02, -0.01, "clearly better than"),
        (-0.01, 0.01, "not clearly different from"),
    ],
    ids=["behind", "ahead", "between"],
)
def test_the_default_is_held_against_the_papers_start(results, low, high, words):
    report = section(with_difference(results, START, low, high))
    assert any(f"The library's default is {words} “{START}”" in sentence for sentence in findings(report))


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.01, 0.02, "clearly better than"),
        (-0.02, -0.01, "clearly worse than"),
        (-0.01, 0.01, "not clearly different from"),
    ],
    ids=["ahead", "behind", "between"],
)
def test_the_best_change_is_held_against_the_best_rival(results, low, high, words):
    changed = copy.deepcopy(results)
    minus = {"value": (low + high) / 2, "low": low, "high": high}
    changed["difficulties"]["medium"]["best_change"] |= {"rival": "NaiveANFIS", "rival_auc": 0.9, "minus": minus}
    changed["difficulties"]["medium"]["variants"]["normalized rules, alpha 5"]["auc"]["minus"] = {
        "value": -0.2,
        "low": -0.3,
        "high": -0.1,
    }
    (told,) = [sentence for sentence in findings(section(changed)) if "effects by cause" in sentence]
    assert f"It is {words} the best other method of that run, “NaiveANFIS” (0.900): {minus['value']:+.3f} (" in told
    assert "aggregation over windows: worse with “normalized rules, alpha 5” (-0.200)" in told


def test_changes_are_compared_on_the_one_run_they_had(alarms):
    """A rival that is ahead on average, but not on the first run, is not ahead of a change."""
    truth = np.asarray(alarms.bags.labels)

    def run(wrong):
        scores = truth.astype(float)
        scores[:wrong] = 1 - scores[:wrong]
        return {"scores": scores, "folds": np.zeros(24, int), "pointed": np.zeros(24, int)}

    methods = {REFERENCE: [run(9), run(9)], "good later": [run(6), run(0)], "good at first": [run(4), run(12)]}
    found = summarize(alarms, methods, {"small": [run(8)], "large": [run(2)]}, seed=0)
    best = found["best_change"]
    assert (best["change"], best["rival"]) == ("large", "good at first")
    assert best["rival_auc"] == found["methods"]["good at first"]["runs"][0] < best["auc"]
    assert best["minus"]["value"] == pytest.approx(best["auc"] - best["rival_auc"])
    minus = found["variants"]["large"]["auc"]["minus"]["value"]
    assert minus == pytest.approx(best["auc"] - found["methods"][REFERENCE]["runs"][0])
    for own in found["methods"].values():
        assert np.mean(own["runs"]) == pytest.approx(own["auc"]["value"])


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        ([0.70, 0.75, 0.80], "read with caution: “NaiveANFIS” (+0.090)"),
        ([0.75, 0.75, 0.75], "between runs: “NaiveANFIS”."),
    ],
    ids=["within the spread", "not in every run"],
)
def test_clear_differences_are_held_against_the_spread_of_the_runs(results, runs, words):
    changed = results
    for name in METHODS:
        if name != REFERENCE:
            changed = with_difference(changed, name, -0.01, 0.01)
    changed = with_difference(changed, "NaiveANFIS", 0.08, 0.1)
    methods = changed["difficulties"]["medium"]["methods"]
    for method in methods.values():
        method["runs"] = runs
    methods["NaiveANFIS"]["runs"] = [0.74, 0.90, 0.88]
    report = section(changed)
    (told,) = [sentence for sentence in findings(report) if "read with caution" in sentence]
    assert words in told
    (table,) = [block for block in report.blocks if isinstance(block, Table) and "of each run" in block.title]
    assert dict(row[:2] for row in table.rows)["NaiveANFIS"] == "0.740, 0.900, 0.880"


def test_rates_of_a_kind_leave_the_other_mines_out():
    alarms = made_up(40)
    high = alarms.asked == "high-metal mine"
    scores = np.where(high, 1.0, np.where(alarms.asked == "clutter", 0.5, 0.0))
    run = {"scores": scores, "folds": np.zeros(40, int), "pointed": np.zeros(40, int)}
    found = summarize(alarms, {REFERENCE: [run]}, {}, seed=0)["methods"][REFERENCE]
    assert found["detected at 0.1, high-metal mine"]["value"] == found["auc, high-metal mine"]["value"] == 1
    assert found["detected at 0.1, low-metal mine"]["value"] == found["auc, low-metal mine"]["value"] == 0
    assert found["detected at 0.1"]["value"] == 0.5


def test_every_change_belongs_to_one_cause():
    assert sorted(name for names in CAUSES.values() for name in names) == sorted(VARIANTS)


def test_the_page_tells_what_became_of_the_papers_settings(results):
    changed = copy.deepcopy(results)
    own = changed["difficulties"]["medium"]
    own["rmse"][PAPER] = [[0.4, 0.3, 0.6], [0.4, 0.5, 0.6], [0.9]]  # the last one broke off
    own["curves"][PAPER] = np.where(np.array(own["folds"]) == 0, 0.1, np.arange(24.0)).tolist()
    told = [sentence for sentence in findings(section(changed)) if "training error, averaged" in sentence]
    assert len(told) == 1
    assert "0.40 at its minimum (epoch 1) and 0.60 in the last epoch" in told[0]
    assert "1 of 2 folds" in told[0]

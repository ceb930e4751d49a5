"""The experiments: nothing leaks, chance is chance, what is finished is kept."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, NaiveMIL, RuleClassifier, Training
from fuzzymil._utils.errors import InputError
from fuzzymil.rules import RuleBase
from paper import benchmarks, experiment
from paper import run as runner
from paper.benchmarks import BENCHMARK, recipes
from paper.experiment import Experiment, Options, Parts, Unit, rounded, seeds_of
from paper.page import Section, Text
from paper.published import PRINTED
from paper.recipe import (
    Recipe,
    _chosen,
    best_candidates,
    evaluate,
    evaluate_folds,
    joined,
    network_of,
    normalized_rules,
    scores_of,
    size_of,
    splits,
)
from paper.run import Stopped, reproduce


def musk_like(seed=0, n_bags=40, n_features=12):
    """Bags of a few instances with one shifted instance in each positive bag."""
    rng = np.random.RandomState(seed)
    sizes = rng.randint(2, 7, size=n_bags)
    labels = np.arange(n_bags) % 2
    bags = [rng.normal(size=(size, n_features)) for size in sizes]
    for bag, label in zip(bags, labels, strict=True):
        bag[0] += 2.0 * label
    return Bags.from_list(bags, labels=labels)


def short(recipe):
    """The same recipe with little training."""
    recipe.estimator.set_params(n_estimators=min(recipe.estimator.n_estimators, 2))
    components = None if recipe.n_components is None else 3
    return Recipe(recipe.estimator, recipe.naive, components, recipe.grid[:2])


PIPELINES = list(recipes("musk1"))


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", PIPELINES, ids=["-".join(key) for key in PIPELINES])
def test_test_bags_change_nothing_that_is_fitted(pipeline):
    recipe = short(recipes("musk1", quick=True)[pipeline])
    bags = musk_like()
    labels = np.asarray(bags.labels)
    folds = splits(labels, 3, 7)
    seeds = seeds_of(3, "leak")

    def fitted(data):
        chosen = _chosen(recipe, data, labels, folds, seeds) if recipe.grid else [{} for _ in folds]
        jobs = zip(chosen, folds, seeds, strict=True)
        return chosen, [
            recipe.model(**choice, random_state=seed).fit(data[i], labels[i]) for choice, (i, _), seed in jobs
        ]

    chosen, models = fitted(bags)
    noise = np.random.RandomState(1).normal(scale=50.0, size=bags.instances.shape)
    for fold, (_, outside) in enumerate(folds):
        replaced = np.isin(bags.bag_index, outside)
        other_chosen, others = fitted(bags.map_instances(lambda x, r=replaced: np.where(r[:, None], noise, x)))
        assert other_chosen[fold] == chosen[fold]
        before, after = (network_of(each[fold]).members_ for each in (models, others))
        assert [rules.to_dict() for rules in before] == [rules.to_dict() for rules in after]
        if recipe.n_components is not None:
            before, after = (each[fold][0].transformer_.components_ for each in (models, others))
            assert np.array_equal(before, after)


@pytest.mark.slow
def test_permuted_labels_give_chance():
    bags = musk_like(3, n_bags=60)
    labels = np.asarray(bags.labels)
    recipe = Recipe(MIANFISClassifier(4, training=Training(max_epochs=40)))
    real = evaluate(recipe, bags, labels, 5, seeds_of(6, "real"))
    assert np.mean(real["auc"]) > 0.8
    rng = np.random.RandomState(0)
    by_chance = [
        np.mean(evaluate(recipe, bags, rng.permutation(labels), 5, seeds_of(6, "permuted", n))["auc"])
        for n in range(10)
    ]
    error = np.std(by_chance, ddof=1) / np.sqrt(len(by_chance))
    assert abs(np.mean(by_chance) - 0.5) < 3 * error
    assert np.mean(real["auc"]) > max(by_chance)


def test_naive_scores_pool_the_raw_outputs_of_instances():
    bags = musk_like()
    labels = np.asarray(bags.labels)
    recipe = Recipe(ANFISClassifier(3, training=Training(max_epochs=10)), naive=True)
    model = recipe.model(random_state=5).fit(bags, labels)
    assert isinstance(model, NaiveMIL)
    assert np.array_equal(scores_of(model, bags) > 0, model.decision_function(bags) > 0)
    single = network_of(model).decision_function(bags.instances)[: bags.sizes[0]]
    assert scores_of(model, bags)[0] == single.max()
    assert np.allclose(scores_of(model, bags, "mean")[0], single.mean())


@pytest.mark.slow
def test_choice_is_by_accuracy_then_auc_then_order():
    bags = musk_like()
    # Share and score of false alarms. Accuracy and AUC are then (0.5, 1), (0.75, 0.5), (0.75, 1) and again (0.75, 1).
    raised = {0: (1.0, 0.5), 1: (0.5, 2.0), 2: (0.5, 0.5), 3: (0.5, 0.5)}

    def scores(fold):
        share, score = raised[fold.method]
        answers, negatives = np.where(fold.truth == 1, 1.0, -1.0), np.flatnonzero(fold.truth == 0)
        answers[negatives[: int(share * len(negatives))]] = score
        return answers

    candidates = [NaiveMIL(ANFISClassifier(2, training=Training(max_epochs=0))) for _ in raised]
    everything = [np.arange(len(bags))]
    assert best_candidates(candidates, bags, np.asarray(bags.labels), everything, [0], scores, 2) == [2]


@pytest.mark.slow
def test_cross_validation_reports_every_fold():
    bags = musk_like()
    recipe = Recipe(
        ANFISClassifier(3, training=Training(max_epochs=5)), naive=True, grid=({"n_rules": 2}, {"n_rules": 3})
    )
    found = evaluate(recipe, bags, np.asarray(bags.labels), 4, seeds_of(5, 1))
    for name in ("accuracy", "auc", "accuracy_mean_pool", "auc_mean_pool", "chosen"):
        assert len(found[name]) == 4
    assert len(found["rmse"]) == 5
    assert found["stopped"] == 0
    json.dumps(found, allow_nan=False)


@pytest.mark.slow
def test_a_fold_alone_is_the_fold_among_others():
    bags = musk_like()
    labels, seeds = np.asarray(bags.labels), seeds_of(3, "alone")
    recipe = Recipe(normalized_rules(2, max_epochs=20))
    parts = splits(labels, 2, seeds[0])
    together = evaluate_folds(recipe, bags, labels, parts, seeds[1:])
    for place in range(2):
        (alone,) = evaluate_folds(recipe, bags, labels, parts[place : place + 1], seeds[place + 1 : place + 2])
        for name in ("accuracy", "auc", "chosen", "sizes", "stopped"):
            assert alone[name] == together[place][name]
        np.testing.assert_allclose(alone["rmse"], together[place]["rmse"], atol=1e-4)
    assert evaluate(recipe, bags, labels, 2, seeds) == joined(together)


def test_folds_are_joined():
    fold = {"accuracy": 0.5, "auc": 0.6, "chosen": None, "sizes": {"n_rules": 2, "n_conditions": 3}}
    whole = joined([fold | {"rmse": [3.0, 2.0], "stopped": False}, fold | {"rmse": [1.0], "stopped": True}])
    assert whole["rmse"] == [2.0, 2.0]
    assert whole["stopped"] == 1
    assert whole["chosen"] is None
    assert whole["sizes"] == [fold["sizes"]] * 2
    longer = joined([fold | {"rmse": [3.0, 2.0, 1.0], "stopped": False}, fold | {"rmse": [1.0], "stopped": False}])
    assert longer["stopped"] == 1  # of two that began alike
    without = joined([fold | {"rmse": None, "stopped": False}] * 2)
    assert without["rmse"] is None
    assert without["stopped"] == 0


def test_sizes_count_all_members():
    member = RuleBase.from_arrays(np.zeros((2, 3)), np.ones((2, 3)), [0, 1])
    assert size_of(SimpleNamespace(members_=[member] * 3)) == {"n_rules": 6, "n_conditions": 18}


def test_normalized_rules_are_those_of_the_paper():
    model = normalized_rules()
    assert (model.n_rules, model.init, model.training.loss) == (10, "kmeans", "squared_error")
    assert normalized_rules(init="search", max_conditions=2).get_params()["init"] == "search"


def test_recipes_follow_the_paper():
    for name, printed in PRINTED.items():
        recipe = recipes(name)["paper", "mi"]
        assert (recipe.estimator.n_rules, recipe.estimator.training.init_width) == (printed.n_rules, printed.width)
        assert recipe.n_components == printed.n_components
        naive = recipes(name)["paper", "naive"].estimator
        assert (naive.training.optimizer, naive.training.batch_size, naive.init) == ("sgd", 1, "fcm")
    assert recipes("musk2")["committee", "mi"].estimator.n_estimators == 10
    default = recipes("musk2")["default", "mi"].estimator
    assert default.get_params() == RuleClassifier().get_params()


def test_benchmarks_have_one_unit_per_fold(monkeypatch, tmp_path):
    bags = musk_like(n_bags=40)
    monkeypatch.setattr(benchmarks, "LOADERS", dict.fromkeys(benchmarks.LOADERS, lambda data: bags))
    units = BENCHMARK.units(Options(repeats=2))
    assert len(units) == 5 * 9 * 2 * 10
    assert len({Parts(tmp_path).path(unit) for unit in units}) == len(units)  # all settings tell them apart
    assert all(unit.parallel for unit in units)
    assert len(BENCHMARK.units(Options())) == 5 * 9 * 5 * 10


def test_seeds_and_rounding():
    assert seeds_of(3, 1, "a") == seeds_of(3, 1, "a")
    assert seeds_of(3, 1, "a") != seeds_of(3, 1, "b")
    assert len(set(seeds_of(50, 1, "a"))) == 50
    assert rounded(np.array([[0.1234567, np.inf]])) == [[0.123457, None]]


# ---------------------------------------------------------------------- running


class Counting:
    """An experiment of three quick units; `stop_at` presses Ctrl-C in one of them."""

    def __init__(self, stop_at=None):
        self.ran = []
        self.stop_at = stop_at

    def experiment(self):
        return Experiment("counting", self.units, self.collect, self.draw, self.section)

    def units(self, options):
        return [Unit(f"unit {n}", {"n": n, "seed": options.seed}, 1.0, lambda n=n: self.work(n)) for n in range(3)]

    def work(self, n):
        if n == self.stop_at:
            raise KeyboardInterrupt
        self.ran.append(n)
        return {"value": n / 3}

    def collect(self, options, parts):
        return {"values": [part["value"] for part in parts]}

    def draw(self, results, folder):
        (folder / "drawn.txt").write_text("drawn")

    def section(self, results):
        return Section("counting", "Counting", [Text(f"Sum {sum(results['values']):.1f} <b>", finding=True)])


@pytest.fixture
def quiet():
    from rich.console import Console

    return Console(quiet=True)


def run(monkeypatch, output, console, stop_at=None, **options):
    counting = Counting(stop_at)
    monkeypatch.setattr(runner, "EXPERIMENTS", {"counting": counting.experiment()})
    try:
        reproduce(["counting"], output, Options(**options), console)
    finally:
        counting.results = output / "counting" / "results.json"
    return counting


def test_finished_units_are_used_again(tmp_path, monkeypatch, quiet):
    first = run(monkeypatch, tmp_path / "out", quiet)
    assert first.ran == [0, 1, 2]
    before = first.results.read_bytes()
    again = run(monkeypatch, tmp_path / "out", quiet)
    assert again.ran == []
    assert again.results.read_bytes() == before
    assert run(monkeypatch, tmp_path / "out", quiet, seed=5).ran == [0, 1, 2]
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "Sum 1.0 &lt;b&gt;" in page
    assert "http" not in page.replace("http-equiv", "")


def test_interrupted_runs_go_on(tmp_path, monkeypatch, quiet):
    with pytest.raises(Stopped) as stopped:
        run(monkeypatch, tmp_path, quiet, stop_at=1)
    assert (stopped.value.done, stopped.value.total) == (1, 3)
    assert not (tmp_path / "counting" / "results.json").exists()
    resumed = run(monkeypatch, tmp_path, quiet)
    assert resumed.ran == [1, 2]
    whole = run(monkeypatch, tmp_path / "other", quiet)
    assert resumed.results.read_bytes() == whole.results.read_bytes()


def test_a_damaged_part_is_made_again(tmp_path, monkeypatch, quiet):
    first = run(monkeypatch, tmp_path, quiet)
    unit = first.units(Options())[1]
    Parts(tmp_path / "counting" / "parts").path(unit).write_text("{")
    assert run(monkeypatch, tmp_path, quiet).ran == [1]


def test_results_are_not_written_through_links(tmp_path, monkeypatch, quiet):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "counting").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="is a link"):
        run(monkeypatch, tmp_path / "out", quiet)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_parts_depend_on_settings_and_library(tmp_path, monkeypatch):
    parts = Parts(tmp_path)
    one, other = (Unit("u", {"rate": rate}, 1.0, dict) for rate in (0.1, 0.2))
    assert parts.path(one) != parts.path(other)
    before = parts.path(one)
    monkeypatch.setattr("paper.experiment.__version__", "99")
    assert parts.path(one) != before


def test_output_is_checked_before_any_work(tmp_path, monkeypatch, quiet):
    monkeypatch.setattr(runner.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 1000}))
    with pytest.raises(InputError, match=r"\d+ MB"):
        run(monkeypatch, tmp_path / "full", quiet)
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="Cannot write to"):
        run(monkeypatch, tmp_path / "file" / "below", quiet)


def test_data_is_checked_before_any_work(tmp_path, quiet):
    with pytest.raises(InputError, match="nowhere"):
        reproduce(["benchmarks"], tmp_path, Options(data=tmp_path / "nowhere"), quiet)
    assert not (tmp_path / "benchmarks").exists()


def test_reported_seed_is_the_default():
    assert Options().seed == experiment.REPORTED_SEED
    assert BENCHMARK.name == "benchmarks"

"""Diagnosis of data: the verdict on problems with a known truth, on noise and on leaks, and what it rests on."""

import functools
import json
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from fuzzymil import (
    Bags,
    BagStream,
    InputError,
    ParameterError,
    RuleClassifier,
    diagnose_data,
)
from fuzzymil._utils.errors import EvidenceWarning, LeakWarning
from fuzzymil.datasets import PLANTED, make_planted
from fuzzymil.learn.choose import diagnosis
from fuzzymil.learn.choose.diagnosis import baselines, n_fits
from fuzzymil.plots import DataDiagnosisDisplay

KINDS = {
    "some": "some",
    "all": "some",
    "either": "some",
    "both": "some",
    "unless": "some",
    "pair": "conjunctions",
    "triple": "conjunctions",
    "prototype": "conjunctions",  # three of its eight features tell as much
    "count": "counts",
    "most": "averages",
    "shift": "averages",
    "size": "size",
}
QUICK = ("some", "pair", "count", "size")


@functools.cache
def diagnosed(kind, n_bags=100, n_noise=1, seed=0):
    return diagnose_data(make_planted(kind, n_bags, n_noise, random_state=seed))


def measure(found, name, of):
    return next(method for method in found.methods if method.name == name).measures[of].mean


# ---------------------------------------------------------------------- verdicts


def test_every_planted_problem_has_its_kind():
    assert {*KINDS} == {*PLANTED}


@pytest.mark.parametrize("problem", QUICK)
def test_the_verdict_names_the_kind(problem):
    found = diagnosed(problem)
    assert found.kind == KINDS[problem]
    words = {"some": "One instance", "conjunctions": "same instance", "counts": "count", "size": "number of instances"}
    assert words[found.kind] in found.verdict[0]


@pytest.mark.slow
@pytest.mark.parametrize("problem", KINDS)
def test_the_verdict_names_the_kind_among_noise(problem):
    assert diagnosed(problem, n_bags=200, n_noise=10, seed=1).kind == KINDS[problem]


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "word"), [("either", "any of 2"), ("both", "together"), ("unless", "each of 2")])
def test_whether_conditions_are_needed_together(problem, word):
    assert word in diagnosed(problem, n_bags=200).verdict[0]


def test_rules_and_meanings_are_in_the_text():
    found = diagnosed("pair")
    text = str(found)
    assert "SOME (A is high AND B is medium)" in text
    assert found.facts() in text
    meaning = next(line for line in text.splitlines() if line.startswith("where"))
    limit = float(meaning.split("A is high: above ")[1].split(";")[0])
    assert limit == pytest.approx(7, abs=0.5)


def test_noise_is_not_explained():
    bags = make_planted("some", 80, 2, random_state=0)
    labels = np.random.default_rng(3).permutation(bags.labels)
    found = diagnose_data(bags, labels)
    assert found.kind == "none"
    assert "majority class" in found.verdict[0]
    assert "80" in found.verdict[0]
    assert "which may be due to chance" in found.findings() or "No rule was chosen" in found.findings()


def curved(n_bags=120, seed=0):
    """The product of two signs decides, which neither quantified thresholds nor lines see; every bag has one row."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], size=(n_bags, 2)) + rng.normal(0, 0.2, size=(n_bags, 2))
    return Bags(x, np.arange(n_bags + 1)), (x.prod(axis=1) > 0).astype(int)


def test_bags_of_one_instance_are_called_a_table():
    found = diagnose_data(*curved())
    assert "ordinary table" in found.verdict[0]
    assert "number of instances" not in [method.name for method in found.methods]
    assert "counts and averages" not in [method.name for method in found.methods]


def evidence(**explained):
    """Bags whose costs are what remains of 1, with a little scatter."""
    rng = np.random.default_rng(0)
    scatter = rng.normal(0, 0.05, size=200)
    costs = {name: 1 - share + scatter * (1 - share) for name, share in (explained | {"nothing": 0.0}).items()}
    return diagnosis.Evidence(
        costs, explained | {"nothing": 0.0}, {name: 0.5 + share / 2 for name, share in explained.items()}
    )


@pytest.fixture(scope="module")
def one_rule():
    return RuleClassifier(random_state=0).fit(make_planted("some", 40, 0, random_state=0)).rules_


@pytest.mark.parametrize(
    ("explained", "kind", "word"),
    [
        ({"some": 0.5, "counts": 0.52, "forest": 0.9, "linear": 0.3}, "some", "The forest on bag statistics"),
        ({"some": 0.5, "counts": 0.52, "forest": 0.1, "linear": 0.9}, "some", "Logistic regression"),
        ({"some": 0.0, "counts": 0.0, "forest": 0.5, "linear": 0.0}, "unexplained", "miss something"),
        ({"some": 0.1, "counts": 0.12, "forest": 0.1, "linear": 0.1}, "some", "little"),
        ({"some": 0.2, "averages": 0.6, "counts": 0.62, "forest": 0.5, "linear": 0.1}, "averages", "averages"),
        ({"some": 0.2, "averages": 0.3, "counts": 0.6, "forest": 0.5, "linear": 0.1}, "counts", "simpler rules 30%"),
        ({"some": 0.2, "counts": 0.4, "all": 0.7, "forest": 0.5, "linear": 0.1}, "all", "Several kinds of rules"),
        ({"some": 0.2, "size": 0.55, "forest": 0.6, "linear": 0.1}, "size", "number of instances alone"),
    ],
)
def test_verdict_from_evidence(explained, kind, word, one_rule):
    families = [name for name in explained if name not in ("forest", "linear", "size")]
    bags = make_planted("some", 20, 0, random_state=0)
    found = diagnosis.verdict(evidence(**explained), one_rule, bags, families)
    assert found.kind == kind
    assert word in " ".join(found.sentences)
    rivals = {"forest": "The forest", "linear": "Logistic regression"}
    for name, title in rivals.items():
        clearly = explained[name] > max(explained[family] for family in families) + 0.05
        assert (title in " ".join(found.sentences)) == clearly


def test_the_verdict_does_not_contradict_what_else_is_said(one_rule):
    """What may be chance is not called unrelated, and rules that were not chosen are not said to decide."""
    bags = make_planted("some", 20, 0, random_state=0)
    costs = {"some": np.tile([0.0, 1.0], 100), "forest": np.ones(200), "linear": np.ones(200)}
    costs["nothing"] = np.where(np.arange(200) < 4, 26.0, 0.5)  # four bags that are far off
    shares = {"some": 0.5, "forest": 0.0, "linear": 0.0, "nothing": 0.0}
    found = diagnosis.verdict(diagnosis.Evidence(costs, shares, {}), one_rule, bags, ["some"])
    assert found.kind == "none"
    assert "unrelated" not in found.sentences[0]
    assert "50% of the variance" in found.sentences[0]
    assert "20 bags are too few" in found.sentences[0]
    idle = one_rule.edit(replace={n + 1: "IF anything THEN y += 0" for n in range(one_rule.n_rules)})
    some = diagnosis.verdict(evidence(some=0.5, forest=0.3, linear=0.2), idle, bags, ["some"])
    assert "is enough" not in some.sentences[0]
    assert "none was chosen" in some.sentences[0]


# ---------------------------------------------------------------------- leaks


def test_a_feature_that_is_the_label_is_named():
    bags = make_planted("some", 60, 0, random_state=0)
    leaky = np.column_stack([bags.instances, np.repeat(1 - bags.labels, bags.sizes)])
    found = diagnose_data(Bags(leaky, bags.offsets, feature_names=["A", "B", "paid"]), bags.labels)
    assert len(found.warnings) == 1
    assert "'paid'" in found.warnings[0]
    assert "Warning: " in str(found)


@pytest.mark.parametrize(("n_wrong", "word"), [(0, "perfectly"), (1, "nearly perfectly"), (6, "")])
def test_a_leak_is_named_when_fitting(n_wrong, word):
    bags = make_planted("some", 120, 0, random_state=0)
    paid = bags.labels.copy()
    paid[:n_wrong] = 1 - paid[:n_wrong]
    noise = np.random.default_rng(0).normal(scale=0.1, size=bags.n_instances)
    leaky = np.column_stack([bags.instances, np.repeat(paid, bags.sizes) + noise])
    leaky = Bags(leaky, bags.offsets, feature_names=["A", "B", "paid"], labels=bags.labels)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RuleClassifier(2, cv=2, random_state=0).fit(leaky)
    said = [str(each.message) for each in caught if each.category is LeakWarning]
    assert len(said) == bool(word)
    assert all("'paid'" in each and f"classes {word}" in each for each in said)


@pytest.mark.parametrize("shuffles", [False, True])
def test_the_rules_are_those_that_a_fit_chooses(shuffles):
    bags = make_planted("pair", 70, 1, random_state=0)
    labels = np.random.default_rng(3).permutation(bags.labels) if shuffles else bags.labels
    instances = bags.instances.copy()
    instances[::9, 0] = np.nan
    bags = Bags(instances, bags.offsets, feature_names=bags.feature_names, labels=labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        model = RuleClassifier(random_state=0).fit(bags)
    found = diagnose_data(bags)
    assert found.rules == model.rules_
    assert found.evidence == (model.frontier_.doubt or model.frontier_.evidence)
    assert (found.kind == "none") == bool(model.frontier_.doubt)


def test_a_size_that_separates_the_classes_is_named():
    assert "number of instances" in diagnosed("size").warnings[0]
    assert not diagnosed("count").warnings


@pytest.mark.parametrize(
    ("values", "groups", "separated"),
    [
        ([1, 2, 3, 4], [0, 0, 1, 1], True),
        ([4, 3, 2, 1], [0, 0, 1, 1], True),
        ([1, 3, 2, 4], [0, 0, 1, 1], False),
        ([1, 2, 2, 4], [0, 0, 1, 1], False),  # a tie
        ([5, 6, 1, 2, 9], [0, 0, 1, 1, 2], True),
        ([5, 6, 1, 9, 2], [0, 0, 1, 1, 2], False),
    ],
)
def test_separation(values, groups, separated):
    assert diagnosis._separates(np.array(values, float), np.array(groups)) is separated


def test_separation_by_chance_is_counted():
    orders = [np.roll([0, 0, 1, 1], shift) for shift in range(4)] + [np.array([0, 1, 0, 1]), np.array([1, 0, 1, 0])]
    share = np.mean([diagnosis._separates(np.arange(4.0), groups) for groups in orders])
    assert diagnosis._separations_by_chance(np.array([0, 0, 1, 1])) == pytest.approx(share)
    few = Bags.from_list([[[0.0]], [[1.0]], [[2.0]], [[3.0]]])
    assert diagnosis.leaks(few, np.zeros((4, 1)), np.array([0, 0, 1, 1]), classes=True) == ()


# ---------------------------------------------------------------------- numbers and several classes


def test_regression():
    bags = make_planted("some", 80, 1, random_state=0)
    y = np.array([100 * bag[:, 0].max() for bag in bags])
    found = diagnose_data(bags, y)
    assert found.kind == "some"
    assert "variance" in found.verdict[0]
    assert [*found.methods[0].measures] == ["R2", "RMSE"]
    assert measure(found, "mean", "R2") == pytest.approx(0)
    assert measure(found, "mean", "RMSE") == pytest.approx(y.std(), rel=0.15)
    assert not found.warnings
    same = Bags(np.repeat(2 * y + 5, bags.sizes)[:, None], bags.offsets)
    assert "x1" in diagnosis.leaks(same, y[:, None], np.zeros(80, int), classes=False)[0]
    two = np.zeros(2, int)  # points are always on a line
    assert not diagnosis.leaks(same[:2], y[:2, None], two, classes=False)


def test_several_outputs_and_classes():
    bags = make_planted("either", 90, 0, random_state=0)
    tops = np.array([bag.max(axis=0) for bag in bags])
    both = diagnose_data(bags, tops)
    assert [*both.methods[0].measures] == ["R2"]
    groups = np.array(["none", "one", "two"])[(tops > 8.5).sum(axis=1)]
    found = diagnose_data(bags, groups)
    assert [each.label for each in found.sizes] == ["none", "one", "two"]
    assert measure(found, "majority class", "AUC") == pytest.approx(0.5)
    assert measure(found, "forest on bag statistics", "AUC") > 0.8


def test_a_class_with_a_single_bag():
    bags = make_planted("some", 41, 0, random_state=0)
    labels = bags.labels.copy()
    labels[7] = 2
    found = diagnose_data(bags, labels)
    assert found.sizes[2].n_bags == 1
    assert all(np.isfinite(value).all() for method in found.methods for value in method.measures.values())
    assert measure(found, "forest on bag statistics", "accuracy") > 0.7


# ---------------------------------------------------------------------- what it rests on


def test_measures_by_scikit_learn():
    rng = np.random.default_rng(0)
    target, output = rng.integers(0, 2, size=(40, 1)).astype(float), rng.normal(size=(40, 1))
    folds = np.arange(40) % 2
    answers = diagnosis._Answers(target, folds, classes=True)
    nothing = np.zeros((40, 1))
    found = answers.measures(output, nothing, None)
    truth = [target[folds == fold, 0] for fold in range(2)]
    said = [output[folds == fold, 0] for fold in range(2)]
    right = [accuracy_score(each, values > 0) for each, values in zip(truth, said, strict=True)]
    area = [roc_auc_score(each, values) for each, values in zip(truth, said, strict=True)]
    lost = [log_loss(each, 1 / (1 + np.exp(-values))) for each, values in zip(truth, said, strict=True)]
    explained = [1 - each / np.log(2) for each in lost]
    for name, values in (("accuracy", right), ("AUC", area), ("explained", explained)):
        assert found[name].mean == pytest.approx(np.mean(values))
        assert found[name].std == pytest.approx(np.std(values, ddof=1))
        assert found[name].n == 2


@pytest.mark.parametrize("classes", [True, False])
def test_baselines_have_not_seen_the_bags_they_answer_for(classes):
    """Labels that are noise can be learned by heart, but not told for held-out bags."""
    rng = np.random.default_rng(0)
    bags = make_planted("some", 60, 6, random_state=0)
    targets = rng.permutation(np.arange(60) % 2).astype(float)[:, None] if classes else rng.normal(size=(60, 1))
    folds, ticks = np.arange(60) // 2 % 5, []
    found = baselines(bags, targets, folds, classes=classes, seed=0, tick=lambda: ticks.append(1))
    assert len(ticks) == n_fits(bags, 5)
    for output in found.values():
        assert output.shape == (60, 1)
        assert abs(np.corrcoef(output[:, 0], targets[:, 0])[0, 1]) < 0.5
    changed = targets.copy()
    changed[folds == 0] = 1 - changed[folds == 0]
    again = baselines(bags, changed, folds, classes=classes, seed=0)
    for name in ("forest", "size"):
        np.testing.assert_allclose(again[name][folds == 0], found[name][folds == 0])


def test_missing_values_and_facts():
    bags = make_planted("pair", 60, 1, random_state=0)
    x = bags.instances.copy()
    x[::5, 0] = np.nan
    x = np.column_stack([x, np.full(len(x), 3.0)])
    found = diagnose_data(Bags(x, bags.offsets), bags.labels)
    assert found.n_missing == len(x[::5])
    assert found.n_constant == 1
    for each, label in zip(found.sizes, (0, 1), strict=True):
        sizes = bags.sizes[bags.labels == label]
        assert each == (str(label), 30, sizes.min(), np.median(sizes), sizes.max())


def test_a_generator_of_random_numbers_does_not_move():
    bags = make_planted("some", 40, 0, random_state=0)
    seed = np.random.RandomState(3)
    state = seed.get_state()[1].copy()
    found = diagnose_data(bags, max_rules=2, random_state=seed)
    np.testing.assert_array_equal(seed.get_state()[1], state)
    assert found.kind == "some"
    assert diagnose_data(bags, max_rules=2, random_state=3).to_dict() == found.to_dict()


def test_too_few_bags():
    found = diagnose_data([[[1.0]], [[2.0], [3.0]], [[4.0]]], [0, 1, 1])
    assert (found.kind, found.methods) == ("few", ())
    assert "3" in found.verdict[0]
    assert "Too few" in str(found)
    with pytest.raises(ParameterError, match="Too few"):
        DataDiagnosisDisplay.from_diagnosis(found)


def test_mistakes():
    bags = make_planted("some", 20, 0, random_state=0)
    with pytest.raises(InputError, match="one class"):
        diagnose_data(bags, np.zeros(20, int), task="classification")
    with pytest.raises(InputError, match="memory"):
        diagnose_data(BagStream.from_bags(bags))
    with pytest.raises(InputError, match="20 bags"):
        diagnose_data(bags, [0, 1])


def test_a_sample_of_very_many_bags(monkeypatch):
    monkeypatch.setattr("fuzzymil.learn.choose.choose.MOST_BAGS", 40)
    found = diagnosed("some", n_bags=100)
    assert found.n_bags == 100
    assert 20 < found.n_used < 60
    assert f"sample of {found.n_used}" in str(found)


def test_plain_values_and_figure():
    found = diagnosed("some", n_bags=60)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["kind"] == "some"
    assert plain["methods"][0]["measures"]["accuracy"]["n"] == 5
    assert plain["rules"][1].startswith("Rule 1: IF SOME A is high")
    figure = DataDiagnosisDisplay.from_diagnosis(found).plot("Planted")
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    assert bars == [method.measures["accuracy"].mean for method in found.methods]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == [method.name for method in found.methods]
    plt.close(figure)

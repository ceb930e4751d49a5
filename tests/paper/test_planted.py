"""Planted problems: what is measured, verdicts on numbers made by hand, a small run, and the way to the page."""

import copy
import json
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats
from sklearn.metrics import roc_auc_score

from fuzzymil import Bags, MIANFISClassifier, RuleBase, RuleClassifier, Training
from fuzzymil.comparators import APR, EmbeddingForest, EmbeddingLogistic
from fuzzymil.datasets import PLANTED, make_planted
from fuzzymil.estimators import network_parameters
from fuzzymil.explain import explain_many
from paper import planted
from paper.experiment import Options
from paper.page import Figure, Table, Text
from paper.planted import (
    BOOSTING,
    METHODS,
    OWN,
    WAYS,
    Method,
    correct,
    draw_tradeoff,
    instance_auc,
    measure_fit,
    methods_at,
    point,
    recipes,
    section,
    used_features,
    verdict,
    witness_hits,
)
from paper.recipe import Recipe, evaluate, size_of
from paper.run import reproduce

TELLS = """
    VARIABLE A FROM 0 TO 10: high = Sigmoid(7, 20)    VARIABLE B FROM 0 TO 10: medium = Trapezoidal(2.99, 3, 5, 5.01)
    VARIABLE noise1 FROM 0 TO 10: low = Gaussian(0, 1)
    IF A is high AND B is medium THEN y = 1           IF anything THEN y = 0 WITH 0.05
"""


# ---------------------------------------------------------------------- what is measured


class Told:
    """An estimator that knows the truth of "pair" instead of learning it."""

    rules_ = RuleBase.parse(TELLS, t_norm="min", aggregation="max")
    members_ = (rules_,)

    def get_params(self, deep=True):
        return {}

    def set_params(self, **given):
        return self

    def __sklearn_clone__(self):
        return self

    def fit(self, X, y):
        self.seen = X

    def decision_function(self, X):
        return self.rules_.over(X.feature_names).infer(X).output[:, 0] - 0.5

    def predict_proba(self, X):
        high = np.clip(self.decision_function(X) + 0.5, 0, 1)
        return np.column_stack([1 - high, high])

    def instance_scores(self, X):
        return self.decision_function(Bags(X.instances, np.arange(X.n_instances + 1), feature_names=X.feature_names))

    def explain_many(self, X):
        return explain_many(self.rules_.over(X.feature_names), X)


def test_a_model_that_knows_the_truth_gets_full_marks():
    found = measure_fit(Method(Told(), rules=True), "pair", (20, 200), 2, [1, 2, 3])
    assert found["accuracy"] > 0.95
    assert found["auc"] > 0.98
    assert found["brier"] < 0.05
    assert found["features"] == ["A", "B"]
    assert found["exactly"]
    assert found["contains"]
    assert found["hits"] > 0.95
    assert found["instance_auc"] > 0.98
    assert 0.1 < found["chance"] < 0.4
    assert (found["n_rules"], found["n_conditions"]) == (2, 2)
    assert RuleBase.from_dict(found["rules"]).n_rules == 2
    json.dumps(found, allow_nan=False)


def test_the_same_rules_fail_on_another_truth():
    found = measure_fit(Method(Told(), rules=True), "all", (20, 200), 2, [1, 2, 3])
    assert found["accuracy"] < 0.7
    assert (found["contains"], found["exactly"]) == (True, False)  # B, and A as well
    assert found["hits"] is found["instance_auc"] is found["chance"] is None  # the whole bag counts
    assert not measure_fit(Method(Told(), rules=True), "triple", (20, 40), 2, [1, 2, 3])["contains"]


def test_training_and_test_bags_are_those_of_their_seeds():
    told = Told()
    measure_fit(Method(told), "some", (30, 40), 4, [7, 8, 9])
    np.testing.assert_array_equal(told.seen.instances, make_planted("some", 30, 4, random_state=7).instances)
    found = measure_fit(Method(EmbeddingForest(), probability=lambda d: d + 0.5), "some", (30, 40), 4, [7, 8, 9])
    forest = EmbeddingForest(random_state=9).fit(make_planted("some", 30, 4, random_state=7))
    test = make_planted("some", 40, 4, random_state=8)
    assert found["accuracy"] == forest.score(test)
    assert found["brier"] == pytest.approx(np.mean((forest.decision_function(test) + 0.5 - test.labels) ** 2))
    assert "n_rules" not in found
    assert measure_fit(Method(APR(), scaled=True), "some", (30, 40), 4, [7, 8, 9])["brier"] is None


def test_features_count_where_their_rule_can_change_the_output():
    text = """
        VARIABLE a: low = Gaussian(0, 1)  VARIABLE b: low = Gaussian(0, 1)  VARIABLE c: low = Gaussian(0, 1)
        IF c is low THEN y = 2    IF b is low THEN y = 0    IF a is low THEN y = 1 WITH 0
    """
    assert used_features(RuleBase.parse(text)) == ["b", "c"]
    assert used_features(RuleBase.parse(text, normalize=False)) == ["c"]


def test_instance_auc_is_that_within_positive_bags():
    bags = make_planted("count", 60, 0, random_state=0)
    scores = np.random.RandomState(0).normal(size=bags.n_instances) + bags.instance_labels
    inside = [
        roc_auc_score(own, scores[bags.bag_index == b])
        for b in range(60)
        if len(set(own := bags.instance_labels[bags.bag_index == b])) == 2
    ]
    assert 5 < len(inside) <= 30
    assert instance_auc(scores, bags) == pytest.approx(np.mean(inside))
    assert instance_auc(scores, make_planted("count", 60, 0, random_state=0)[np.flatnonzero(bags.labels == 0)]) is None


def test_witnesses_of_the_strongest_positive_rule():
    rules = RuleBase.parse(
        """
        VARIABLE x: low = Gaussian(0, 0.3), high = Gaussian(2, 0.3), middle = Gaussian(1, 0.3)
        IF x is low THEN y = -1    IF x is middle THEN y = 0.2    IF x is high THEN y = 3""",
        normalize=False,
    )
    bags = Bags([[0], [1], [2]] * 2 + [[0], [0.1]], [0, 3, 6, 8], labels=[1] * 3,
                instance_labels=[0, 0, 1, 1, 0, 0, 1, 1])  # fmt: skip
    assert witness_hits(explain_many(rules, bags), bags)[:2] == [True, False]
    nothing = RuleBase.parse("VARIABLE x: low = Gaussian(0, 1)  IF x is low THEN y += -1")
    assert witness_hits(explain_many(nothing, bags), bags) == [False] * 3


def test_only_parts_that_point_to_instances_count():
    text = """
        VARIABLE x: low = Sigmoid(1, -20), high = Sigmoid(9, 20)    VARIABLE z: high = Sigmoid(9, 20)
        IF ALL x is low THEN y += 5    IF AT LEAST 1 instances THEN y += 4
        IF NOT (SOME z is high) AND SOME x is high THEN y += 3
    """
    bags = Bags([[0, 5], [10, 0]], [0, 2], labels=[1], instance_labels=[0, 1])
    # The first rule does not hold, the second names no instance; z comes closest to breaking the third at instance 0.
    assert witness_hits(explain_many(RuleBase.parse(text), bags), bags) == [True]
    for line in ("IF ALL x is low THEN y += 5", "IF NOT (SOME z is high) THEN y += 3"):
        rules = RuleBase.parse(text.partition("IF")[0] + line)
        marked = Bags([[0, 5], [0, 0]], [0, 2], labels=[1], instance_labels=[1, 1])
        assert witness_hits(explain_many(rules, marked), marked) == [False]


def test_seeds_reach_all_methods():
    for method in METHODS.values():
        model = planted.model_of(method, 17)
        seeds = [v for name, v in model.get_params().items() if name.endswith("random_state")]
        assert set(seeds) <= {17}
    assert planted.model_of(METHODS[OWN], 17).random_state == 17
    assert planted.model_of(METHODS[BOOSTING], 17).random_state == 17


# ---------------------------------------------------------------------- verdicts


def test_verdict_by_hand():
    rng = np.random.RandomState(0)
    own, good, bad = 0.9 + 0.01 * rng.normal(size=10), 0.91 + 0.01 * rng.normal(size=10), np.full(10, 0.6)
    found = verdict({OWN: own, "bad": bad, "good": good})
    assert found["peer"] == "good"
    assert (found["own"], found["best"]) == pytest.approx((own.mean(), good.mean()))
    by_hand = stats.ttest_rel(100 * own, 100 * good)
    assert found["test"]["p"] == pytest.approx(by_hand.pvalue)
    interval = by_hand.confidence_interval(0.95)
    assert (found["test"]["low"], found["test"]["high"]) == pytest.approx((interval.low, interval.high))
    assert found["within"]


@pytest.mark.parametrize(
    ("own", "peer", "within"),
    [([0.88, 0.88], [0.90, 0.90], True), ([0.879, 0.88], [0.90, 0.90], False), ([0.99, 0.7], [0.7, 0.7], True)],
    ids=["exactly two points", "a little more", "ahead"],
)
def test_two_points_are_still_level(own, peer, within):
    assert verdict({OWN: own, "peer": peer})["within"] is within


def test_one_dataset_has_no_test():
    found = verdict({OWN: [0.5], "peer": [0.6]})
    assert (found["test"]["p"], found["test"]["n"], found["within"]) == (1.0, 1, False)


def test_p_values_are_corrected_for_all_verdicts():
    verdicts = {size: {kind: {"test": {"p": p}} for kind, p in own.items()} for size, own in
                {"60": {"some": 0.01, "pair": 0.5}, "120": {"some": 0.02, "pair": 0.03}}.items()}  # fmt: skip
    correct(verdicts)
    assert [verdicts[s][k]["p"] for s in ("60", "120") for k in ("some", "pair")] == pytest.approx(
        [0.04, 0.5, 0.06, 0.06]
    )


# ---------------------------------------------------------------------- units


def test_units_of_a_full_run():
    units = planted._units(Options())
    n_methods = 4 * (len(METHODS) - 1) + 1  # the slow one only with 200 bags
    assert len(units) == 3 * (n_methods + len(recipes()))
    keys = [json.dumps(dict(unit.settings), sort_keys=True, allow_nan=False) for unit in units[: 3 * n_methods]]
    assert len(set(keys)) == len(keys)
    assert {kind for unit in units for kind in unit.settings["truths"]} == set(PLANTED)
    assert all(unit.settings["n_bags"][0] == 50 for unit in planted._units(Options(sizes=(50,))))


def test_methods_at_a_number_of_bags():
    short = "MI-ANFIS, short rules"
    assert short in methods_at(200, Options())
    assert short not in methods_at(60, Options())
    assert short not in methods_at(200, Options(quick=True))


# ---------------------------------------------------------------------- accuracy against conditions


def test_path_of_a_cross_validation(tmp_path):
    """As another experiment would use it."""
    bags = make_planted("some", 40, 1, random_state=0)
    runs = [
        evaluate(
            Recipe(MIANFISClassifier(2, training=Training(max_epochs=2))), bags, np.asarray(bags.labels), 2, [1, 2, 3]
        )
    ] * 2
    found = point(2, [run["accuracy"] for run in runs], [size for run in runs for size in run["sizes"]])
    assert found["n_conditions"] == 6
    assert found["deviation"] == 0
    draw_tradeoff({"MUSK 1": {way: [found, found] for way in WAYS}}, "made up", tmp_path / "conditions.png")
    assert (tmp_path / "conditions.png").read_bytes().startswith(b"\x89PNG")


def test_conditions_are_counted_as_they_are_read():
    text = """
        VARIABLE x: low = Gaussian(0, 1)    IF x is low THEN y = 1    IF anything THEN y = 2
    """
    model = SimpleNamespace(members_=[RuleBase.parse(text)])
    assert size_of(model) == {"n_rules": 2, "n_conditions": 1}
    text = """
        VARIABLE x: low = Gaussian(0, 1)    VARIABLE z: low = Gaussian(0, 1)
        IF SOME (x is low AND z is low) AND NOT (AT LEAST 3 z is low) THEN y += 1
        IF AT LEAST 8 instances THEN y += 2
        IF MOST x is low AND AT LEAST 2 instances THEN y -= 1
    """
    assert size_of(SimpleNamespace(members_=[RuleBase.parse(text)])) == {"n_rules": 3, "n_conditions": 3 + 1 + 2}


def test_recipes_are_bounded():
    for (way, bound), recipe in recipes().items():
        name = {"chosen": "max_rules", "shortened": "max_conditions"}.get(way, "n_rules")
        assert recipe.estimator.get_params()[name] == bound
        assert isinstance(recipe.estimator, RuleClassifier if way == "chosen" else MIANFISClassifier)


# ---------------------------------------------------------------------- a small run

SMALL = {
    OWN: Method(MIANFISClassifier(2, training=Training(max_epochs=3)), rules=True),
    "forest": Method(EmbeddingForest(20), probability=lambda decision: decision + 0.5),
    "APR": Method(APR(), scaled=True),
    BOOSTING: Method(EmbeddingLogistic()),
}
KINDS = ("some", "size")


def shrink(patch):
    patch.setattr(planted, "METHODS", SMALL)
    patch.setattr(planted, "QUICK_KINDS", KINDS)
    patch.setattr(planted, "QUICK_PATH_KINDS", ("some",))
    patch.setattr(planted, "N_TEST", 40)
    patch.setattr(planted, "N_NOISE", 1)
    settings = {"init": "kmeans", "max_epochs": 2}
    patch.setattr(
        planted,
        "recipes",
        lambda quick: {
            (way, n): Recipe(MIANFISClassifier(n, **network_parameters(**settings))) for way in WAYS for n in (2, 3)
        },
    )


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    options = Options(quick=True, jobs=1, sizes=(24, 40))
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        found = reproduce(["planted"], folder, options, Console(quiet=True))["planted"]
    return folder, options, found


def test_numbers_of_the_small_run(small):
    _, _, found = small
    assert list(found["measured"]) == ["24", "40"]
    for by_kind in found["measured"].values():
        assert list(by_kind) == list(KINDS)
        for own in by_kind.values():
            assert list(own) == list(SMALL)
            assert all(len(values) == 2 for values in own[OWN].values())
            assert own["APR"]["brier"] == [None, None]
            assert "n_rules" not in own["forest"]
            assert own[OWN]["n_conditions"] == [6, 6]
    assert found["measured"]["40"]["size"][OWN]["hits"] == [None, None]
    assert RuleBase.from_dict(found["rules"]["40"]["some"]).n_rules == 2
    assert [entry["bound"] for entry in found["paths"]["some"]["chosen"]] == [2, 3]
    checked = found["verdicts"]["24"]["some"]
    accuracy = {name: own["accuracy"] for name, own in found["measured"]["24"]["some"].items()}
    assert {**verdict(accuracy), "p": checked["p"]} == checked


def test_files_and_page(small):
    folder, _, found = small
    stems = [block.stem for block in section(found).blocks if isinstance(block, Figure)]
    assert stems == ["accuracy", "conditions"]
    for stem in stems:
        assert (folder / "planted" / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert '<section id="planted">' in page
    assert page.count("data:image/svg+xml;base64,") == len(stems)
    assert "Rule 1: IF" in page
    assert "<br>" in page
    assert "&lt;br&gt;" not in page
    assert f"| some | {PLANTED['some'].truth} |" in (folder / "planted" / "tables.md").read_text()
    stored = json.loads((folder / "planted" / "results.json").read_text(encoding="utf-8"))
    assert stored["measured"] == found["measured"]


def test_a_second_run_uses_what_is_there(small, monkeypatch):
    folder, options, _ = small
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shrink(monkeypatch)
    monkeypatch.setattr(planted, "measure_fit", None)  # nothing is learned again
    reproduce(["planted"], folder, options, Console(quiet=True))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_number_of_processes_changes_nothing(small):
    _, options, found = small
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planted, "N_TEST", 40)
        patch.setattr(planted, "N_NOISE", 1)
        with_two = planted._measured(SMALL["APR"], ["some"], 24, 2, options.seed, 2)
    assert [one["accuracy"] for one in with_two["some"]] == found["measured"]["24"]["some"]["APR"]["accuracy"]


# ---------------------------------------------------------------------- sentences


def words_of(results):
    return [block.words for block in section(results).blocks if isinstance(block, Text) and block.finding]


def test_sentences_follow_the_numbers(small):
    _, _, found = small
    results = copy.deepcopy(found)
    for by_kind in results["measured"].values():
        for own in by_kind.values():
            own[OWN] |= {"exactly": [True, True], "accuracy": [0.8, 0.9]}
            own |= {"forest": {**own["forest"], "accuracy": [0.7, 0.7]}, "APR": {**own["APR"], "accuracy": [0.6, 0.6]}}
    verdicts = results["verdicts"]["24"]
    verdicts["some"] |= {"within": True}
    verdicts["size"] |= {"within": False, "peer": "forest", "test": {**verdicts["size"]["test"], "mean": -7.25}}
    level, _, features, _ = words_of(results)
    assert "With 24 training bags" in level
    assert "on 1 of 2 kinds" in level
    assert "Not on size (-7.2, forest)" in level or "Not on size (-7.3, forest)" in level
    assert f"Leaving out {BOOSTING}: on 2 of 2" in level
    assert "on 2 of 2 kinds" in features
    results["measured"]["24"]["size"][OWN]["exactly"] = [True, False]
    _, _, features, _ = words_of(results)
    assert "on 1 of 2 kinds" in features
    assert "size (1)" in features


def test_tables_of_the_report(small):
    _, _, found = small
    tables = {block.title: block for block in section(found).blocks if isinstance(block, Table)}
    accuracy = next(table for title, table in tables.items() if title.startswith("Accuracy in percent, 40"))
    assert accuracy.columns == ["kind", *SMALL]
    assert [row[0] for row in accuracy.rows] == [*KINDS, "mean"]
    mean = np.mean(found["measured"]["40"]["some"]["forest"]["accuracy"])
    assert accuracy.rows[0][2] == f"{100 * mean:.1f}"
    assert len(next(table for title, table in tables.items() if title.startswith("Rules of")).rows) == 2

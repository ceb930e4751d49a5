"""Rules people can read: the data, the runs, and sentences that follow the numbers."""

import json

import numpy as np
import pytest
from rich.console import Console

from fuzzymil import ANFISClassifier, Bags, MIANFISClassifier, RuleBase, Training
from fuzzymil._utils.errors import InputError
from fuzzymil.datasets import BENCHMARKS, CONCEPTS
from paper import rules
from paper.experiment import Options, Parts, seeds_of
from paper.page import Figure, Table, Text
from paper.recipe import Recipe, evaluate
from paper.rules import EXPERT, TRAINED, WRITTEN, draw, features_of_positive_rules, section
from paper.run import reproduce

FULL = len(rules.LIMITS) * len(rules.WAYS)
METHODS = {
    "RuleClassifier": Recipe(MIANFISClassifier(2, training=Training(max_epochs=3))),
    "Naive-ANFIS": Recipe(ANFISClassifier(2, training=Training(max_epochs=3)), naive=True),
}


def findings(report):
    return [block.words for block in report.blocks if isinstance(block, Text) and block.finding]


# ---------------------------------------------------------------------- data and rules


def test_padding_keeps_the_plane():
    train, test = rules._two_concepts("padded", 1)
    assert (train.n_bags, test.n_bags, train.n_features) == (150, 500, 52)
    inside = np.asarray(test.instance_labels)
    for concept, center in enumerate(CONCEPTS, start=1):
        assert np.linalg.norm(test.instances[inside == concept, :2] - center, axis=1).max() <= rules.RADIUS
    noise = train.instances[:, 2:]
    assert 0 <= noise.min() < 0.05
    assert 1.95 < noise.max() <= 2
    means = [noise[np.asarray(train.instance_labels) == concept].mean() for concept in (0, 1, 2)]
    assert np.allclose(means, 1.0, atol=0.05)  # the same whether inside a concept or not
    assert not np.array_equal(noise[:50], test.instances[:50, 2:])
    again, _ = rules._two_concepts("padded", 1)
    assert np.array_equal(train.instances, again.instances)


def test_ten_bags_are_balanced():
    train, test = rules._two_concepts("ten bags", 1)
    assert np.bincount(train.labels).tolist() == [5, 5]
    assert np.bincount(test.labels).tolist() == [250, 250]
    kinds = [name.split("-")[0] for name in train.ids]
    assert [kinds.count(kind) for kind in ("concept1", "concept2")] == [3, 2]


def test_the_expert_is_near_but_off():
    written = RuleBase.parse(EXPERT)
    assert np.allclose(np.abs(written.centers[:2] - CONCEPTS), 0.15)
    spread = rules.RADIUS / 2  # standard deviation of a disc in each direction
    assert (written.widths[:2] > 2 * spread).all()
    assert written.rules[2].conditions == ()


def test_features_of_positive_rules():
    text = """
        VARIABLE a: low = Gaussian(0, 1)  VARIABLE b: low = Gaussian(0, 1)  VARIABLE c: low = Gaussian(0, 1)
        IF c is low AND a is low THEN y = 2    IF b is low THEN y = 0.4    IF anything THEN y = 1
    """
    assert features_of_positive_rules(RuleBase.parse(text)) == [0, 2]


def test_features_of_additive_rules():
    text = """
        VARIABLE a: low = Gaussian(0, 1)  VARIABLE b: low = Gaussian(0, 1)  VARIABLE c: low = Gaussian(0, 1)
        Default: y = -1
        IF SOME c is low THEN y += 0.2    IF MOST b is low THEN y -= 2    IF AT LEAST 3 instances THEN y += 1
    """
    assert features_of_positive_rules(RuleBase.parse(text)) == [2]


@pytest.mark.parametrize(
    ("conclusions", "centers", "expected"),
    [
        ([1, 1], [[0.5, 0.5], [1.5, 1.5]], [True, True]),
        ([1, 0.4], [[0.5, 0.5], [1.5, 1.5]], [True, False]),  # concludes "negative"
        ([1, 1], [[0.5, 0.75], [1.5, 1.5]], [False, True]),  # outside the disc
        ([1, 1], [[0.5, 0.5], [0.5, 0.5]], [True, False]),
    ],
    ids=["both", "negative", "outside", "twice"],
)
def test_concepts_told(conclusions, centers, expected):
    plane = RuleBase.from_arrays(centers, np.full((2, 2), 0.2), conclusions)
    assert rules.concepts_told(plane) == expected
    noisy = RuleBase.from_arrays(np.column_stack([centers, [1, 1]]), np.full((2, 3), 0.2), conclusions)
    assert rules.concepts_told(noisy) == [False, False]  # noise is asked about, too


@pytest.mark.parametrize(
    ("premise", "concludes", "told"),
    [
        ("SOME (x1 is low AND x2 is low)", "y += 0.1", True),
        ("SOME (x1 is low AND x2 is low)", "y -= 0.1", False),
        ("SOME x1 is low AND SOME x2 is low", "y += 2", False),  # in different instances
        ("ALL (x1 is low AND x2 is low)", "y += 2", False),
        ("SOME x1 is low", "y += 2", False),
    ],
)
def test_concepts_told_by_additive_rules(premise, concludes, told):
    sets = "VARIABLE x1: low = Gaussian(0.5, 0.2)  VARIABLE x2: low = Bell(0.45, 0.2, 3)"
    base = RuleBase.parse(f"{sets}  Default: y = -1  IF {premise} THEN {concludes}")
    assert rules.concepts_told(base) == [told, False]


@pytest.mark.slow
def test_cross_validation_of_shortened_rules():
    rng = np.random.RandomState(0)
    labels = np.arange(24) % 2
    bags = Bags.from_list([rng.normal(size=(2, 5)) + 2 * label for label in labels], labels=labels)
    found = evaluate(Recipe(MIANFISClassifier(3, max_conditions=1, training=Training(max_epochs=6))), bags, labels, 3,
                           seeds_of(4, "cut"))  # fmt: skip
    assert found["sizes"] == [{"n_rules": 3, "n_conditions": 3}] * 3
    assert len(found["rmse"]) == 6 + 3 + 3  # from 5 conditions to 2 to 1, with half the epochs each
    assert found["stopped"] == 0


# ---------------------------------------------------------------------- units


def test_units_of_a_full_run(monkeypatch, tmp_path):
    monkeypatch.setattr(rules, "load_musk1", lambda data: Bags.from_list([[[0.0]], [[1.0]]], labels=[0, 1]))
    units = rules._units(Options(repeats=2))
    assert len(units) == 2 * FULL + FULL + len(rules._starts()) + len(rules._instance_methods())
    assert len({Parts(tmp_path).path(unit) for unit in units}) == len(units)  # all settings tell them apart
    assert len(rules._units(Options())) == len(units) + 3 * FULL
    seeds = units[0].settings["seeds"]
    assert seeds == seeds_of(11, Options().seed, "musk1")  # those of the benchmark experiment
    others = rules._units(Options(seed=5, repeats=2))
    assert not {Parts(tmp_path).path(unit) for unit in units} & {Parts(tmp_path).path(unit) for unit in others}


def test_only_a_full_run_needs_data(tmp_path):
    rules._check(Options(quick=True, data=tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere"):
        rules._check(Options(data=tmp_path / "nowhere"))


# ---------------------------------------------------------------------- a small run


def shrink(patch):
    """Make a quick run smaller: three noise features, two data sets of each kind, two starts, two methods."""
    starts = {name: recipe for name, recipe in rules._starts().items() if name in (TRAINED, WRITTEN)}
    patch.setattr(rules, "N_NOISE", 3)
    patch.setattr(rules, "N_SETS", dict.fromkeys(rules.N_SETS, (2, 2)))
    patch.setattr(rules, "_starts", lambda: starts)
    patch.setattr(rules, "_instance_methods", lambda: METHODS)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        found = reproduce(["rules"], folder, Options(quick=True), Console(quiet=True))["rules"]
    return folder, found


@pytest.mark.slow
def test_files_and_page(small):
    folder, found = small
    page = (folder / "index.html").read_text(encoding="utf-8")
    report = section(found)
    stems = [block.stem for block in report.blocks if isinstance(block, Figure)]
    assert stems == ["path", "expert", "sets"]
    for stem in stems:
        assert (folder / "rules" / f"{stem}.png").read_bytes().startswith(b"\x89PNG")
    assert page.count("data:image/svg+xml;base64,") == len(stems)
    assert '<section id="rules">' in page
    assert "MUSK 1 is left out of a quick run" in page
    stored = json.loads((folder / "rules" / "results.json").read_text(encoding="utf-8"))
    assert stored["paths"] == found["paths"]
    assert stored["settings"]["expert"] == EXPERT


@pytest.mark.slow
def test_numbers_of_the_small_run(small):
    _, found = small
    chosen, searched, shortened = (found["paths"]["padded"][way] for way in ("chosen", "searched", "shortened"))
    assert [entry["max_conditions"] for entry in searched] == [2, 5]
    assert shortened[0]["n_conditions"] == 20  # ten rules of two
    assert shortened[1]["n_conditions"] == 50
    assert shortened[1]["noise_features"] == 3
    assert shortened[1]["both_told"] == 0  # all features are asked about
    assert searched[0]["n_conditions"] <= 2 * (searched[0]["n_rules"] - 1)
    assert searched[0]["mean"] > 0.9
    assert searched[0]["both_told"] == 2
    assert chosen[0]["n_conditions"] <= 2 * chosen[0]["n_rules"]
    assert chosen[0]["both_told"] == 2
    assert [entry["stopped"] for entry in chosen] == [0, 0]
    without_test = [entry for path in (chosen, searched, shortened) for entry in path if not entry["against_default"]]
    assert without_test == [chosen[1]]
    additive, normalized = (RuleBase.from_dict(shown["rules"]) for shown in found["shown"])
    assert not additive.normalize
    assert normalized.rules[-1].conditions == ()
    printed = [block for block in section(found).blocks if isinstance(block, Table) and block.prose]
    assert printed[0].rows[0][0] == "Default"
    assert printed[0].rows[1][1].startswith("SOME (")
    assert printed[1].rows[-1][1].startswith("anything THEN y = ")
    expert = found["expert"]
    assert len(expert["methods"][TRAINED]["values"]) == 2
    assert RuleBase.from_dict(expert["written"]).to_text() == RuleBase.parse(EXPERT).to_text()
    assert set(found["instances"]["first_minus"]) == {"Naive-ANFIS"}


@pytest.mark.slow
def test_a_second_run_uses_what_is_there(small, monkeypatch):
    folder, _ = small
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    shrink(monkeypatch)
    monkeypatch.setattr(rules, "_learn", None)  # nothing is learned again
    reproduce(["rules"], folder, Options(quick=True), Console(quiet=True))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


# ---------------------------------------------------------------------- sentences


def made_up_parts():
    """Parts of a full run: rules searched with 1 condition are bad, those shortened to 3 are better than all."""
    level = {("searched", 1): 0.6, ("shortened", 3): 0.99}
    wiggle = np.linspace(-0.01, 0.01, 10)
    parts = []
    for key in rules._musk_path(Options()):
        accuracy = level.get(key, 0.9) + np.roll(wiggle, key[1])
        parts += [{"accuracy": accuracy.tolist(), "sizes": [{"n_rules": 3, "n_conditions": 7}] * 10, "stopped": 0}] * 5
    base = RuleBase.parse(EXPERT).to_dict()
    for kind, recipes in rules._studies(Options()).items():
        for key in recipes:
            found = level.get(key, 0.5 if kind == "ten bags" else 0.8)
            if key == TRAINED:
                found = 0.9
            measured = [
                {
                    "accuracy": found + step,
                    "instance_auc": 0.7 + step,
                    "features": [0, 1] if n < (9 if key == ("searched", 1) else 4) else [0, 1, 7],
                    "told": [True, n < 3],
                    "n_rules": 3,
                    "n_conditions": 7,
                }
                for n, step in enumerate(np.resize(wiggle, rules.N_SETS[kind][0]))
            ]
            parts.append({"measured": measured, "stopped": 0, "rules": base, "initial": base})
    return parts


@pytest.mark.slow
def test_sentences_follow_the_numbers(tmp_path):
    results = rules._collect(Options(), made_up_parts())
    report = section(results)
    chosen, searched, shortened, padded, *_, expert, instances = words = findings(report)
    assert chosen.startswith("MUSK 1, rules chosen from candidates")
    assert "all 166" not in chosen  # the default is not compared with itself
    assert searched.startswith("MUSK 1, rules searched before training")
    assert "clearly lower with 1 (60.0%); not clearly different with 2 (90.0%), 3 (90.0%)" in searched
    assert "all 166 (90.0%)" in searched
    assert "clearly higher" not in searched
    assert "clearly higher with 3 (99.0%)" in shortened
    assert f"majority class: {47 / 92:.1%}" in chosen
    assert "66.8%" in padded
    features = words[7]
    assert "rules searched before training" in features
    assert "alone in 3 (with at most 1, 2, 3, 5, 10, 20 and all 52)." in features
    assert "exactly these two in 9 (with at most 1); 4 (with at most 2, 3, 5, 10, 20 and all 52)." in features
    assert "better than “random start” (50.0%; +40.0 points, p < 0.001)" in expert
    assert "0.700" in instances
    tables = [block for block in report.blocks if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [FULL, FULL, 3, 3, 5, 3, 6]
    for table in tables:
        assert {len(row) for row in table.rows} == {len(table.columns)}
    json.dumps(results, allow_nan=False)
    draw(results, tmp_path)
    assert (tmp_path / "path.svg").exists()


def test_worse_than_written_is_said():
    parts = made_up_parts()
    trained = parts[-len(rules._starts()) - len(rules._instance_methods())]
    for one in trained["measured"]:
        one["accuracy"] -= 0.6
    words = findings(section(rules._collect(Options(), parts)))[-2]
    assert "worse than “expert's rules, as written” (50.0%; -20.0 points" in words
    assert "better" not in words


def test_one_repeat_has_no_deviation():
    parts = made_up_parts()
    single = [*parts[: 5 * FULL : 5], *parts[5 * FULL :]]
    results = rules._collect(Options(repeats=1), single)
    assert results["paths"]["musk1"]["searched"][0]["deviation"] is None
    table = next(block for block in section(results).blocks if isinstance(block, Table))
    assert [row[1] for row in table.rows if row[0] == "searched,\u00a01"] == ["60.0"]
    assert BENCHMARKS["musk1"].title in table.title

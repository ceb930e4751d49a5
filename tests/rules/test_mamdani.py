"""Mamdani rules on bags: inference against loops, at the edges, as text and files; and the estimator."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score

from fuzzymil import Bags, MIMamdani, MISugeno, NaiveMIL, RuleBase, load_model
from fuzzymil._utils.errors import InputError, ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.datasets import make_two_concepts
from fuzzymil.membership import Gaussian, Trapezoidal, Triangular
from fuzzymil.network import defuzzification
from fuzzymil.network.defuzzification import ACCUMULATIONS, DEFUZZIFIERS, bisector, cells
from fuzzymil.rules import Rule, Variable
from fuzzymil.rules.mamdani import MamdaniRules

DEPTH = Variable("depth", {"shallow": Gaussian(0.0, 0.2), "deep": Gaussian(1.0, 0.2)}, 0.0, 1.0, "m")
RISK = Variable("risk", {"small": Triangular(-0.5, 0, 0.5), "great": Triangular(0.5, 1, 1.5)}, 0.0, 1.0)
RULES = ["IF depth is shallow THEN risk is great", "IF depth is deep THEN risk is small"]
TEXT = """
VARIABLE depth [m] FROM 0 TO 1: shallow = Gaussian(0, 0.2), deep = Gaussian(1, 0.2)
OUTPUT risk FROM 0 TO 1: small = Triangular(-0.5, 0, 0.5), great = Triangular(0.5, 1, 1.5)
IF depth is shallow THEN risk is great
IF depth is deep THEN risk is small
"""
BAGS = Bags.from_list([[[0.0], [0.9]], [[0.9], [1.0]], [[0.1]], [[0.7]]], ids=list("abcd"))


def two_rules(**settings):
    return MamdaniRules.parse(RULES, [DEPTH], [RISK], **settings)


def gaps(**settings):
    """Two rules that are truly zero outside of [0, 2] and [4, 6]."""
    x = Variable("x", {"near": Triangular(0, 1, 2), "far": Triangular(4, 5, 6)})
    return MamdaniRules.parse(
        ["IF x is near THEN risk is great", "IF x is far THEN risk is small"], [x], [RISK], **settings
    )


# ---------------------------------------------------------------------- inference


def by_loops(bag, implication, accumulation, defuzzify, n=60):
    """Infer three rules over two features on one bag, cell by cell; shares no code with the package."""

    def bump(x, center, width):
        return math.exp(-((x - center) ** 2) / (2 * width**2))

    firing = [0.0, 0.0, 0.0]
    for x, y in bag:
        truths = (
            min(bump(x, 0, 0.5), bump(y, 0, 0.5)),
            0.7 * bump(x, 1, 0.4),
            max(bump(y, 1, 0.6), bump(x, 0, 0.5) ** 2),
        )
        firing = [max(w, truth) for w, truth in zip(firing, truths, strict=True)]

    def concluded(rule, u):
        return bump(u, 3, 1.5) if rule in (0, 2) else max(0.0, 1 - abs(u - 7) / 2)

    values, total = [], []
    for cell in range(n):
        u = 10 * (cell + 0.5) / n
        joined = 0.0
        for rule, w in enumerate(firing):
            m = concluded(rule, u)
            part = min(w, m) if implication == "min" else w * m
            if accumulation == "max":
                joined = max(joined, part)
            elif accumulation == "algebraic":
                joined = joined + part - joined * part
            else:
                joined = joined + part if accumulation == "sum" else min(1.0, joined + part)
        values.append(u)
        total.append(joined)
    if defuzzify == "centroid":
        return sum(u * m for u, m in zip(values, total, strict=True)) / sum(total)
    if defuzzify == "bisector":
        left = 0.0
        for u, m in zip(values, total, strict=True):
            if left + m >= sum(total) / 2:
                return u - 5 / n + (10 / n) * (sum(total) / 2 - left) / m
            left += m
    top = [u for u, m in zip(values, total, strict=True) if m == max(total)]
    return {"mom": sum(top) / len(top), "som": min(top), "lom": max(top)}[defuzzify]


LOOPED = """
VARIABLE x: zero = Gaussian(0, 0.5), one = Gaussian(1, 0.4)
VARIABLE y: zero = Gaussian(0, 0.5), one = Gaussian(1, 0.6)
OUTPUT u FROM 0 TO 10: low = Gaussian(3, 1.5), high = Triangular(5, 7, 9)
IF x is zero AND y is zero THEN u is low
IF x is one THEN u is high WITH 0.7
IF y is one OR x is very zero THEN u is low
"""


@pytest.mark.parametrize("defuzzify", DEFUZZIFIERS)
@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
@pytest.mark.parametrize("implication", ["min", "product"])
def test_inference_is_what_loops_over_cells_say(implication, accumulation, defuzzify):
    rules = MamdaniRules.parse(
        LOOPED, implication=implication, accumulation=accumulation, defuzzify=defuzzify, resolution=60
    )
    rng = np.random.default_rng(3)
    bags = [rng.uniform(-0.5, 1.5, (n, 2)) for n in (1, 1, 3, 6)]
    expected = [by_loops(bag, implication, accumulation, defuzzify) for bag in bags]
    np.testing.assert_allclose(rules.infer(bags).output[:, 0], expected, rtol=1e-10)


def test_a_case_to_do_in_the_head():
    # Rule 1 fires fully on the first instance and scales nothing: the mean of a half triangle falls a third from its
    # peak. Rule 2 fires by half: its half triangle is cut off at half its height.
    tents = {"low": Triangular(-1, 0, 1), "high": Triangular(0, 1, 2)}
    level = Variable("level", {"low": Triangular(-1, 0, 1), "high": Triangular(2, 3, 4)}, 0, 3)
    rules = ["IF x is high THEN level is high", "IF x is low THEN level is low"]
    found = MamdaniRules.parse(rules, [Variable("x", tents)], [level]).infer([[[1.0], [0.5]], [[1.0]], [[0.0]]])
    assert found.truth.tolist() == [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    assert found.firing.tolist() == [[1.0, 0.5], [1.0, 0.0], [0.0, 1.0]]
    areas, centers = np.array([1 / 2, 3 / 8]), np.array([3 - 1 / 3, (1 / 6 - 1 / 48) / (3 / 8)])
    expected = [areas @ centers / areas.sum(), 3 - 1 / 3, 1 / 3]
    np.testing.assert_allclose(found.output[:, 0], expected, atol=1e-5)
    assert found.strongest.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("defuzzify", ["centroid", "bisector"])
def test_the_error_falls_with_the_square_of_the_cells(defuzzify):
    flat = Variable("u", {"set": Trapezoidal(0.3, 1.1, 2.2, 4.7)}, 0, 5)
    fine = dict.fromkeys((100, 200, 400), 0.0)
    for resolution in (*fine, 100_000):
        rules = MamdaniRules.parse("IF anything THEN u is set", [Variable("x")], [flat])
        changed = dataclasses.replace(rules, defuzzify=defuzzify, resolution=resolution)
        fine[resolution] = changed.infer([[[0.0]]]).output[0, 0]
    errors = [abs(fine[n] - fine[100_000]) for n in (100, 200, 400)]
    cell = 5 / 100
    assert errors[0] < cell**2
    assert errors[1] < cell**2 / 4
    assert errors[2] < cell**2 / 16


def test_a_gap_that_halves_the_area_is_halved():
    assert bisector(np.array([[0.25, 0.5, 0.0, 0.0, 0.5, 0.25]]), cells(-3, 3, 6)).tolist() == [0.0]
    steps = np.array([[0.0, 1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    assert bisector(steps, cells(0, 6, 6)).tolist() == [1.5, 5.5]


def test_parts_of_the_work_make_the_whole(monkeypatch):
    rules = two_rules()
    rows = np.linspace(-1, 2, 300)[:, None]
    whole = rules.infer(rows).output
    monkeypatch.setattr(defuzzification, "_CHUNK_VALUES", 7 * rules.resolution)
    np.testing.assert_array_equal(rules.infer(rows).output, whole)
    monkeypatch.setattr(defuzzification, "_CHUNK_VALUES", 1)
    np.testing.assert_array_equal(rules.infer(rows[:5]).output, whole[:5])


def test_what_rules_conclude_can_be_looked_at():
    rules = two_rules(resolution=200, implication="product")
    found = rules.infer([[[0.1], [0.9]], [[0.4]]])
    degrees = found.degrees("risk")
    np.testing.assert_array_equal(degrees["great"], found.firing[:, 0])
    np.testing.assert_array_equal(degrees["small"], found.firing[:, 1])
    values, membership = found.joined_sets()
    assert values.tolist() == cells(0, 1, 200).tolist()
    small, great = (np.outer(found.firing[:, 1 - k], RISK.terms[t](values)) for k, t in enumerate(("small", "great")))
    np.testing.assert_allclose(membership, np.maximum(small, great), atol=1e-15)
    np.testing.assert_allclose(membership @ values / membership.sum(axis=1), found.output[:, 0])
    with pytest.raises(ParameterError, match=r"output.*'risc'.*Did you mean 'risk'"):
        found.joined_sets("risc")
    with pytest.raises(IndexError):
        found.degrees(1)


@pytest.mark.parametrize("accumulation", ACCUMULATIONS)
@pytest.mark.parametrize("implication", ["min", "product"])
def test_strengths_that_merely_underflow_still_answer(implication, accumulation):
    sharp = Variable("x", {"here": Gaussian(0, 0.001), "there": Gaussian(1, 0.001)})
    rules = MamdaniRules.parse(
        ["IF x is here THEN risk is great", "IF x is there THEN risk is small"],
        [sharp],
        [RISK],
        implication=implication,
        accumulation=accumulation,
    )
    found = rules.infer([[[0.25]], [[0.75]], [[0.5]]])
    assert found.firing.max() == 0.0
    assert not found.uncovered.any()
    expected = [5 / 6, 1 / 6, 0.5] if implication == "product" else [0.75, 0.25, 0.5]  # cut sets: all of their base
    np.testing.assert_allclose(found.output[:, 0], expected, atol=2e-3)


def test_a_set_that_is_truly_empty_gives_the_default():
    found = gaps(default=0.3).infer([[[3.0], [9.0]], [[3.0], [1.0]]])
    assert found.uncovered.tolist() == [[True], [False]]
    assert found.output[0, 0] == 0.3
    assert found.strongest.tolist() == [0.0, 1.0]
    assert found.joined_sets()[1][0].max() == 0.0
    assert gaps().infer([[[3.0]]]).output.tolist() == [[0.5]]  # the middle of the range
    outside = Variable("u", {"off": Triangular(5, 6, 7)}, 0, 1)
    lost = MamdaniRules.parse("IF anything THEN u is off", [Variable("x")], [outside]).infer([[[0.0]]])
    assert lost.strongest.tolist() == [1.0]
    assert lost.uncovered.tolist() == [[True]]


def test_a_rule_may_leave_an_output_out():
    text = """
    VARIABLE x: near = Triangular(0, 1, 2), far = Triangular(4, 5, 6)
    OUTPUT a FROM 0 TO 1: yes = Triangular(0.5, 1, 1.5)
    OUTPUT b FROM 10 TO 20: yes = Triangular(15, 20, 25)
    OUTPUT c FROM 0 TO 2: yes = Triangular(0, 1, 2)
    IF x is near THEN a is yes
    IF x is far THEN a is yes, b is yes
    """
    for accumulation in ACCUMULATIONS:
        found = MamdaniRules.parse(text, default=(0.1, 0.2, 0.3), accumulation=accumulation).infer([[[1.0]], [[5.0]]])
        assert found.uncovered.tolist() == [[False, True, True], [False, False, True]]
        np.testing.assert_allclose(found.output, [[5 / 6, 0.2, 0.3], [5 / 6, 10 + 10 * 5 / 6, 0.3]], atol=1e-4)
        assert found.joined_sets("c")[1].max() == 0.0
        assert found.degrees("c")["yes"].tolist() == [0.0, 0.0]


def test_bags_join_their_instances_as_the_premises_say():
    bag = [[[0.0], [0.5], [1.0]]]
    strongest = two_rules().infer(bag).firing
    mean = two_rules(aggregation="softmax", alpha=0.0).infer(bag).firing
    np.testing.assert_allclose(strongest, [[1.0, 1.0]])
    np.testing.assert_allclose(mean[0, 0], np.mean(DEPTH.terms["shallow"]([0.0, 0.5, 1.0])))
    limited = two_rules(limited=True).infer([[[-7.0]]]).output
    np.testing.assert_array_equal(limited, two_rules().infer([[[0.0]]]).output)


def test_features_are_matched_by_name():
    named = Bags.from_list([[[5.0, 0.1]], [[7.0, 0.8]]], ["noise", "depth"])
    np.testing.assert_array_equal(two_rules().infer(named).output, two_rules().infer([[[0.1]], [[0.8]]]).output)
    with pytest.raises(InputError, match="no feature 'depth'"):
        two_rules().infer(Bags.from_list([[[1.0]]], ["width"]))


# ---------------------------------------------------------------------- the value

PREMISES = RuleBase([DEPTH], [Rule({"depth": "shallow"}, [[3.0]]), Rule({"depth": "deep"}, [[4.0]])])
GREAT, SMALL = {"risk": "great"}, {"risk": "small"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"premises": "IF"}, "premises must be a RuleBase"),
        ({"outputs": ()}, "need an output"),
        ({"outputs": (RISK, RISK)}, "Two outputs have the same name"),
        ({"outputs": (Variable("risk", RISK.terms),)}, r"'risk' needs .*range.*None to None"),
        ({"outputs": (Variable("risk", RISK.terms, 1.0, 1.0),)}, r"'risk' needs .*range.*1.0 to 1.0"),
        ({"conclusions": (GREAT,)}, "2 rules .*got 1"),
        ({"conclusions": (GREAT, {})}, "Rule 2 .*no conclusion"),
        ({"conclusions": (GREAT, {"risc": "small"})}, "output 'risc' in rule 2.*Did you mean 'risk'"),
        ({"conclusions": ({"risk": "greta"}, SMALL)}, "of 'risk' in rule 1.*Did you mean 'great'"),
        ({"implication": "minimum"}, "Unknown implication.*Did you mean 'min'"),
        ({"accumulation": "mean"}, "Unknown accumulation"),
        ({"defuzzify": "center"}, "Unknown defuzzify.*Did you mean 'centroid'"),
        ({"resolution": 1}, "resolution .*from 2 .*got 1"),
        ({"resolution": 10**9}, "resolution .*to 1,000,000, got 1000000000"),
        ({"resolution": 10**400}, "resolution .*got"),
        ({"resolution": 10.5}, "resolution .*got"),
        ({"resolution": math.inf}, "resolution .*got"),
        ({"resolution": "many"}, "resolution .*got"),
        ({"resolution": True}, "resolution .*got"),
        ({"default": (1.0, 2.0)}, "default must be a finite number, or 1 of them"),
        ({"default": math.nan}, "default must be a finite number"),
        ({"default": "none"}, "default must be a finite number"),
        (
            {"premises": RuleBase([DEPTH], [Rule({}, [[0.0]], 1.5), Rule({}, [[0.0]])])},
            "weight of Mamdani rule 1 must be at most 1, got 1.5",
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_rules_are_refused_by_name(changes, named):
    good = {"premises": PREMISES, "outputs": (RISK,), "conclusions": (GREAT, SMALL)}
    MamdaniRules(**good)
    with pytest.raises(ParameterError, match=named):
        MamdaniRules(**(good | changes))


def test_what_is_not_used_of_the_premises_does_not_count():
    one = MamdaniRules(PREMISES, (RISK,), (GREAT, SMALL))
    other = MamdaniRules(dataclasses.replace(PREMISES, combine="max", normalize=False), [RISK], [GREAT, SMALL])
    assert one == other
    assert hash(one) == hash(other)
    assert one.premises.coefs.tolist() == [[[0.0]], [[0.0]]]
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.resolution = 5
    with pytest.raises(TypeError, match="immutable"):
        one.conclusions[0]["risk"] = "small"
    assert (one.n_rules, one.feature_names) == (2, ("depth",))


def odd_rules():
    text = """
    VARIABLE "depth (m)": "not deep" = Gaussian(0, 0.25), if_at_all = Bell(1, 0.5, 2)
    VARIABLE width [mm] FROM -1 TO 4: wide = Sigmoid(2, 3)
    OUTPUT "the risk" [%] FROM 0 TO 100: small = Triangular(-50, 0, 50), "very great" = Trapezoidal(50, 80, 100, 130)
    OUTPUT haste FROM -1 TO 1: some = Gaussian(0.125, 0.5)
    USING t_norm = einstein, s_norm = max, aggregation = softmax, alpha = (1, 2.5, 0.1), limited = yes,
          implication = product, accumulation = bounded, defuzzify = mom, resolution = 77, default = (12.5, -0.75)
    IF "depth (m)" is not very "not deep" OR NOT (width is wide AND "depth (m)" is if_at_all) THEN "the risk" is small
    IF anything THEN haste is some, "the risk" is "very great" WITH 0.3
    IF width is somewhat wide THEN haste is some WITH 0
    """
    return MamdaniRules.parse(text)


@pytest.mark.parametrize("rules", [two_rules(), gaps(default=0.1), odd_rules()], ids=["two", "gaps", "odd"])
def test_text_dictionaries_and_files_give_the_same_rules(rules, tmp_path):
    assert MamdaniRules.parse(rules.to_source()) == rules
    assert MamdaniRules.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    rules.save(tmp_path / "rules.json")
    assert MamdaniRules.load(tmp_path / "rules.json") == rules
    assert pickle.loads(pickle.dumps(rules)) == copy.deepcopy(rules) == rules
    bags = np.random.default_rng(0).uniform(-1, 6, (5, 3, len(rules.feature_names)))
    found, again = rules.infer(bags), MamdaniRules.parse(rules.to_source()).infer(bags)
    np.testing.assert_array_equal(again.output, found.output)


def test_generated_rules_print_back():
    rng = np.random.default_rng(1)
    hedges = ("not", "very", "somewhat", "extremely", "seldom")
    for _ in range(30):
        inputs = [
            Variable(f"x{d}", {f"t{t}": Gaussian(rng.normal(), rng.uniform(0.1, 2)) for t in range(3)})
            for d in range(3)
        ]
        low = rng.normal()
        peaks = rng.uniform(low, low + 3, 3)
        output = Variable(
            "u", {f"t{t}": Triangular(p - rng.uniform(0.1, 2), p, p + 1) for t, p in enumerate(peaks)}, low, low + 3
        )
        texts = []
        for _ in range(rng.integers(1, 5)):
            parts = [
                f"x{rng.integers(3)} is {' '.join(rng.choice(hedges, rng.integers(3)))} t{rng.integers(3)}"
                for _ in range(rng.integers(1, 4))
            ]
            texts.append(f"IF {rng.choice(['AND', 'OR']).join(f' ({p}) ' for p in parts)} THEN u is t{rng.integers(3)}")
        rules = MamdaniRules.parse(
            texts, inputs, [output], implication=str(rng.choice([*("min", "product")])), default=float(rng.normal())
        )
        assert MamdaniRules.parse(rules.to_source()) == rules


def test_rules_read_as_a_person_writes_them():
    assert str(odd_rules()).splitlines()[1:] == [
        'Rule 2: IF anything THEN haste is some, "the risk" is "very great" WITH 0.3',
        "Rule 3: IF width is somewhat wide THEN haste is some WITH 0",
    ]
    rows = np.random.default_rng(0).normal(size=(40, 20))
    learned = MIMamdani(n_rules=2, random_state=0).fit(rows, rows[:, 0] > 0).rules_
    assert str(learned).count("(12 less selective)") == 2
    assert learned.to_text().count(" AND ") == 38


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "declares no variable"),
        (TEXT.partition("IF")[0], "no rule"),
        (TEXT + "IF depth is deep THEN risk = 1", r"(?s)Line 6.*'risk'.*number.*MISugeno"),
        (TEXT + "IF depth is deep THEN risk is grate", r"(?s)character 31: .*Did you mean 'great'.*\^"),
        (TEXT + "IF depth is deep THEN risc is great", "(?s)output.*'risc'"),
        (TEXT + "USING implicaton = min", "(?s)setting.*'implicaton'.*Did you mean 'implication'"),
        (TEXT + "USING implication = mean", r"(?s)Line 6.*Unknown implication.*\^"),
        (TEXT + "USING resolution = 2.5", r"(?s)Line 6.*resolution.*2\.5.*\^"),
        (TEXT + "USING combine = mean", "(?s)setting.*'combine'"),
        (TEXT.replace(" FROM 0 TO 1: small", ": small"), "'risk' needs .*range"),
    ],
    ids=["empty", "no rule", "number", "term", "output", "setting", "operator", "resolution", "combine", "range"],
)
def test_errors_in_text_say_where_and_what(text, named):
    with pytest.raises(ParameterError, match=named):
        MamdaniRules.parse(text)


def test_a_setting_in_text_and_argument_is_refused():
    with pytest.raises(RuleSyntaxError, match=r"t_norm .*argument"):
        MamdaniRules.parse(TEXT + "USING t_norm = product", t_norm="min")


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "rules.json"
    two_rules().save(path)
    document = json.loads(path.read_text())
    for key in (*two_rules().to_dict(), "format", "version"):
        for value in (None, "x", -1, [], {}, [[[1]]]):
            path.write_text(json.dumps(document | {key: value}))
            if key == "default" and value in ([], {}):  # as if it were not given
                assert MamdaniRules.load(path) == two_rules()
                continue
            with pytest.raises(ModelFileError):
                MamdaniRules.load(path)
        path.write_text(json.dumps({name: value for name, value in document.items() if name != key}))
        if key in ("sampling", "clip", "hold", "activation"):  # which files of the first version lack
            assert MamdaniRules.load(path) == two_rules()
            continue
        with pytest.raises(ModelFileError):
            MamdaniRules.load(path)


# ---------------------------------------------------------------------- the estimator with given rules


@pytest.mark.parametrize(
    "model",
    [
        MIMamdani(rules=TEXT),
        MIMamdani([DEPTH], [RISK], RULES),
        MIMamdani({"depth": DEPTH.terms}, {"risk": RISK}, "\n".join(RULES)),
        MIMamdani(rules=two_rules()),
    ],
    ids=["text", "variables", "mappings", "value"],
)
def test_rules_may_come_in_many_ways(model):
    found = model.infer(BAGS)
    np.testing.assert_array_equal(found.output, two_rules().infer(BAGS).output)
    model = clone(model).fit(BAGS, list("+-+-"))
    assert model.rules_ == model.rule_base
    assert model.classes_.tolist() == ["+", "-"]
    np.testing.assert_array_equal(model.decision_function(BAGS), found.output[:, 0] - 0.5)
    np.testing.assert_array_equal(model.predict_proba(BAGS)[:, 1], found.output[:, 0])
    assert model.instance_scores(BAGS).shape == (6,)


def test_settings_stand_before_what_rules_say():
    rules = MIMamdani(rules=TEXT).rule_base
    assert (rules.premises.t_norm, rules.premises.aggregation, rules.implication) == ("min", "max", "min")
    told = MIMamdani(rules=TEXT + "USING t_norm = product, implication = product, resolution = 50").rule_base
    assert (told.premises.t_norm, told.premises.s_norm, told.resolution) == ("product", "algebraic", 50)
    chosen = MIMamdani(
        rules=told, t_norm="hamacher", aggregation="softmax", alpha=3, implication="min", accumulation="bounded",
        defuzzify="lom", resolution=20, default=0.9,
    ).rule_base  # fmt: skip
    assert (chosen.premises.t_norm, chosen.premises.s_norm) == ("hamacher", "hamacher")
    assert (chosen.premises.aggregation, chosen.premises.alpha) == ("softmax", 3.0)
    assert (chosen.implication, chosen.accumulation, chosen.defuzzify) == ("min", "bounded", "lom")
    assert (chosen.resolution, chosen.default) == (20, (0.9,))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"rules": two_rules(), "inputs": [DEPTH]}, "omit inputs and outputs"),
        ({"inputs": [DEPTH]}, "pass rules"),
        ({"outputs": [RISK]}, "pass rules"),
        ({"rules": TEXT, "implication": "mean"}, "Unknown implication"),
        ({"rules": TEXT, "resolution": 0}, "resolution .*got"),
        ({"rules": TEXT, "t_norm": "mean"}, "Unknown t_norm"),
        ({"rules": RULES, "inputs": [DEPTH], "outputs": {"risk": RISK.terms}}, "'risk' needs .*range"),
        ({"rules": TEXT, "n_rules": 0}, "n_rules"),
        ({"rules": TEXT, "threshold": "x"}, "threshold"),
        ({"n_rules": 1, "init": "clusters"}, "n_rules=1.*2 classes"),
        ({"threshold": None}, "threshold=0.5"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_settings_are_refused_by_name(settings, named):
    model = MIMamdani(**settings)
    with pytest.raises(ParameterError, match=named):
        model.fit(BAGS, [1, 0, 1, 0])
    assert not hasattr(model, "rules_")


def test_a_bag_that_no_rule_knows_is_reported():
    bags = Bags.from_list([[[1.0]], [[3.0], [9.0]]], ids=["p", "q"])
    model = MIMamdani(rules=gaps(), default=0.25)
    with pytest.warns(UserWarning, match=r"No rule fires on 1 of 2 bag\(s\).*Bags: q \(") as caught:
        found = model.infer(bags)
    assert len(caught) == 1
    assert found.output[1, 0] == 0.25
    with pytest.warns(UserWarning, match="No rule fires"):
        assert model.fit(bags, [1, 0]).predict(bags).tolist() == [1, 0]


def test_without_a_threshold_it_is_a_regressor():
    model = MIMamdani(rules=TEXT, threshold=None).fit(BAGS, [1.0, 0.5, 0.7, 0.2])
    assert is_regressor(model)
    np.testing.assert_array_equal(model.predict(BAGS), two_rules().infer(BAGS).output[:, 0])
    assert not hasattr(model, "predict_proba")


def test_several_outputs_stand_for_classes():
    yes = {"no": Triangular(-0.5, 0, 0.5), "yes": Triangular(0.5, 1, 1.5)}
    hue = Variable("hue", {"green": Gaussian(0.3, 0.1), "blue": Gaussian(0.6, 0.1)})
    model = MIMamdani(
        [hue],
        [Variable("sky", yes, 0, 1), Variable("grass", yes, 0, 1)],
        ["IF hue is blue THEN sky is yes, grass is no", "IF hue is green THEN grass is yes, sky is no"],
        default=(0.25, 0.75),
    ).fit([[[0.3]], [[0.6]]], ["grass", "sky"])
    assert [output.name for output in model.rules_.outputs] == ["grass", "sky"]
    assert model.rules_.default == (0.75, 0.25)
    assert model.predict([[[0.31]], [[0.3], [0.6], [0.59]], [[0.61]]]).tolist()[::2] == ["grass", "sky"]


def test_the_first_of_several_outputs_tells_two_classes_apart_that_none_is_named_after():
    text = (
        TEXT
        + """
    OUTPUT haste FROM 0 TO 10: much = Triangular(0, 10, 20)
    IF depth is deep THEN haste is much
    USING default = (0.3, 7), aggregation = softmax, alpha = (1, 2, 3)
    """
    )
    model = MIMamdani(rules=text).fit(BAGS, ["dig", "leave", "dig", "leave"])
    assert [output.name for output in model.rules_.outputs] == ["risk"]
    assert (model.rules_.n_rules, model.rules_.premises.alpha, model.rules_.default) == (2, (1.0, 2.0), (0.3,))
    np.testing.assert_array_equal(model.decision_function(BAGS), model.infer(BAGS).output[:, 0] - 0.5)
    assert model.infer(BAGS).output.shape == (4, 2)
    with pytest.raises(InputError, match="No output is named after the class dig"):
        MIMamdani(rules=text).fit(BAGS, ["dig", "leave", "wait", "leave"])
    silent = "OUTPUT haste FROM 0 TO 10: much = Triangular(0, 10, 20)" + TEXT
    with pytest.raises(ParameterError, match="No rule concludes 'haste'"):
        MIMamdani(rules=silent).fit(BAGS, [0, 1, 0, 1])


# ---------------------------------------------------------------------- the estimator that learns

BLOBS, COLORS = make_blobs(90, centers=[[-3, 0], [3, 0], [0, 4]], cluster_std=0.7, random_state=0)


def test_a_rule_of_each_cluster():
    rows = np.array([[0.0, 5.0], [2.0, 5.0], [10.0, 5.0], [12.0, 5.0], [20.0, 5.0], [22.0, 5.0]])
    model = MIMamdani(n_rules=3, random_state=0).fit(rows, [0, 0, 1, 1, 1, 1])
    assert is_classifier(model)
    order = np.argsort(model.rules_.premises.centers[:, 0])
    np.testing.assert_allclose(model.rules_.premises.centers[order, 0], [1, 11, 21])
    # Two instances at distance 1 from the mean, and the variance within all clusters, 1, as a third.
    np.testing.assert_allclose(model.rules_.premises.widths[:, 0], 1.0)
    assert np.isnan(model.rules_.premises.centers[:, 1]).all()  # constant: don't-care
    assert [model.rules_.conclusions[r]["y"] for r in order] == ["negative", "positive", "positive"]
    assert model.predict([[1.5, 5.0], [11.5, 9.0], [19.0, 5.0]]).tolist() == [0, 1, 1]
    assert model.predict_proba([[1.0, 5.0]])[0, 1] == pytest.approx(1 / 6, abs=1e-5)


def test_it_learns_two_classes_and_more():
    two = MIMamdani(random_state=0).fit(BLOBS, COLORS > 0)
    assert two.score(BLOBS, COLORS > 0) > 0.95
    assert two.classes_.tolist() == [False, True]
    words = np.array(["red", "green", "blue"])[COLORS]
    three = MIMamdani(random_state=0).fit(BLOBS, words)
    assert three.score(BLOBS, words) > 0.95
    assert [output.name for output in three.rules_.outputs] == ["blue", "green", "red"]
    assert three.rules_.conclusions[0] == {"blue": "positive", "green": "negative", "red": "negative"}
    assert three.predict_proba(BLOBS).sum(axis=1) == pytest.approx(np.ones(90))
    assert cross_val_score(MIMamdani(random_state=0), BLOBS, COLORS, cv=3).min() > 0.9


def test_learning_repeats_and_does_not_mind_the_order():
    order = np.random.default_rng(0).permutation(90)
    one = MIMamdani(random_state=1).fit(BLOBS, COLORS)
    assert MIMamdani(random_state=1).fit(BLOBS, COLORS).rules_ == one.rules_
    other = MIMamdani(random_state=1).fit(BLOBS[order], COLORS[order])
    np.testing.assert_allclose(other.decision_function(BLOBS), one.decision_function(BLOBS), rtol=1e-9)


def test_weights_count_and_bags_of_weight_zero_do_not():
    rows, labels = np.array([[0.0], [1.0], [5.0], [6.0], [50.0]]), [0, 0, 1, 1, 1]
    weighed = MIMamdani(n_rules=2, random_state=0).fit(rows, labels, sample_weight=[1, 3, 1, 1, 0])
    without = MIMamdani(n_rules=2, random_state=0).fit(rows[:4], labels[:4], sample_weight=[1, 3, 1, 1])
    assert weighed.rules_ == without.rules_
    assert weighed.rules_.premises.centers[0, 0] == pytest.approx(0.75)
    with pytest.raises(ValueError, match=r"(?i)zero"):
        MIMamdani(n_rules=2).fit(rows, labels, sample_weight=np.zeros(5))


def test_few_or_equal_instances_make_fewer_rules():
    model = MIMamdani(n_rules=10, random_state=0).fit([[0.0], [0.0], [3.0], [4.0]], [0, 0, 1, 1])
    assert model.rules_.n_rules == 3
    assert np.isfinite(model.rules_.premises.widths).all()
    assert model.predict([[0.1], [3.2]]).tolist() == [0, 1]
    nothing = MIMamdani(n_rules=2, random_state=0).fit([[1.0], [1.0]], [0, 1])  # nothing tells them apart
    assert nothing.decision_function([[1.0], [7.0]]) == pytest.approx([0.0, 0.0])


def test_instances_take_their_bags_label_and_settings_shape_the_rules():
    bags = make_two_concepts(15, 15, random_state=0)
    rows, labels = bags.instances, np.repeat(bags.labels, bags.sizes)
    shaped = {"t_norm": "product", "implication": "product", "resolution": 300}
    learned = MIMamdani(n_rules=6, init="clusters", random_state=0, **shaped).fit(bags)
    assert learned.rules_ == MIMamdani(**learned.get_params()).fit(rows, labels).rules_
    assert (learned.rules_.premises.t_norm, learned.rules_.premises.aggregation) == ("product", "max")
    assert (learned.rules_.implication, learned.rules_.resolution) == ("product", 300)
    assert learned.rule_base == learned.rules_
    np.testing.assert_array_equal(learned.infer(bags).output[:, 0] - 0.5, learned.decision_function(bags))


def test_the_papers_baselines():
    """Labels of instances make Mamdani rules good; bags' labels, as the naive way has them, much less so."""
    train, test = (make_two_concepts(random_state=seed) for seed in (0, 1))
    truth = (train.instance_labels > 0).astype(int)
    told = MIMamdani(n_rules=4, random_state=0).fit(train.instances, truth)
    naive = NaiveMIL(MIMamdani(n_rules=4, random_state=0)).fit(train)
    told_auc, naive_auc = (roc_auc_score(test.labels, model.decision_function(test)) for model in (told, naive))
    assert told_auc > 0.98
    assert naive_auc < told_auc - 0.1
    lower = GridSearchCV(MIMamdani(n_rules=4, random_state=0), {"threshold": [0.3, 0.5]}, cv=2)
    assert lower.fit(train.instances, truth).best_params_["threshold"] in (0.3, 0.5)
    assert clone(told).set_params(threshold=0.3).fit(train.instances, truth).score(test) > 0.95


def test_what_cannot_be_learned_from_is_refused():
    for X, y, message in (
        (BLOBS, np.zeros(90, int), "All 90 bags .*one class"),
        (BLOBS, None, "requires y"),
        (np.where(BLOBS > 5, np.nan, BLOBS), COLORS, "missing"),
        (BLOBS, BLOBS[:, 0], "(?i)continuous"),
    ):
        with pytest.raises(ValueError, match=message):
            MIMamdani(random_state=0).fit(X, y)
    holes = np.where(BLOBS > 4, np.nan, BLOBS)
    with pytest.raises(InputError, match="complete data"):
        MIMamdani(missing="ignore", random_state=0).fit(holes, COLORS)
    model = MIMamdani(missing="ignore", random_state=0).fit(BLOBS, COLORS)
    assert np.isfinite(model.decision_function(holes)).all()
    for use in (MIMamdani().predict, MIMamdani().infer):
        with pytest.raises(NotFittedError):
            use(BLOBS)


# ---------------------------------------------------------------------- files of models

SAVED = {
    "text": (MIMamdani(rules=TEXT, alpha=np.inf), BAGS, list("+-+-")),
    "variables": (MIMamdani({"depth": DEPTH}, [RISK], RULES, default=0.25, resolution=123), BAGS, [1, 0, 1, 0]),
    "value": (MIMamdani(rules=odd_rules(), threshold=None), np.ones((3, 2, 2)), None),
    "learned": (MIMamdani(n_rules=4, random_state=0), BLOBS, COLORS),
    "learned, two": (MIMamdani(n_rules=4, defuzzify="mom", random_state=0), BLOBS, COLORS > 0),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_model_comes_back_as_it_was(name, tmp_path):
    model, X, y = SAVED[name]
    model = clone(model).fit(X, y)
    model.save(tmp_path / "model.json")
    back = load_model(tmp_path / "model.json")
    assert type(back) is MIMamdani
    assert back.get_params() == model.get_params()
    assert back.rules_ == model.rules_
    assert back.rule_base == model.rule_base
    np.testing.assert_array_equal(back.predict(X), model.predict(X))
    np.testing.assert_array_equal(back.instance_scores(X), model.instance_scores(X))
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


def test_rules_of_the_wrong_kind_are_refused(tmp_path):
    path = tmp_path / "model.json"
    MIMamdani(rules=TEXT).fit(BAGS, [1, 0, 1, 0]).save(path)
    document = json.loads(path.read_text())
    for changes in (
        {"rules": PREMISES.to_dict()},
        {"features": {"n": 2, "names": None}},
        {"features": {"n": 1, "names": ["width"]}},
        {"classes": {"dtype": "<i8", "values": [0, 1, 2]}},
        {"classes": None},
        {"estimator": "MISugeno"},
    ):
        path.write_text(json.dumps(document | changes))
        with pytest.raises(ModelFileError, match=r"damaged|does not (support|have)"):
            load_model(path)


def test_sugeno_and_mamdani_rules_are_told_apart():
    with pytest.raises(RuleSyntaxError, match="MIMamdani"):
        MISugeno(rules=TEXT).infer(BAGS)
    with pytest.raises(RuleSyntaxError, match="MISugeno"):
        MIMamdani(rules=TEXT.replace("is great", "= 1")).infer(BAGS)

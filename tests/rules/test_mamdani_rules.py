"""Mamdani rules as a value: what it refuses, its text and its files."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pytest
from depth_and_risk import DEPTH, RISK, TEXT, gaps, odd_rules, two_rules
from depth_and_risk import PREMISES as RULES

from fuzzymil import MIMamdani, RuleBase
from fuzzymil._utils.errors import ModelFileError, ParameterError, RuleSyntaxError
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules import Defuzzification, Is, Rule, Variable


def concluding(*conclusions, weight=1.0):
    return [Rule(rule.premise, said, weight) for rule, said in zip(RULES, conclusions, strict=True)]


GREAT, SMALL = {"risk": "great"}, {"risk": "small"}
GOOD = {"variables": [DEPTH], "rules": RULES, "outputs": (RISK,)}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"outputs": ()}, "at least one variable, one rule and one output"),
        ({"outputs": (RISK, RISK)}, "Two outputs have the same name"),
        ({"outputs": (Variable("risk", RISK.terms),)}, r"'risk' needs .*range.*None to None"),
        ({"outputs": (Variable("risk", RISK.terms, 1.0, 1.0),)}, r"'risk' needs .*range.*1.0 to 1.0"),
        ({"outputs": ("risk",)}, "term 'great' of 'risk' in rule 1"),
        ({"rules": concluding(GREAT, {})}, "Rule 2 .*no conclusion"),
        ({"rules": concluding(GREAT, [[1.0]])}, "Rule 2 concludes a number, but rule 1 concludes a term"),
        ({"rules": concluding([[1.0]], SMALL), "outputs": ("risk",)}, "Rule 2 concludes a term.*rule 1 .*number"),
        ({"rules": concluding([[1.0]], [[2.0]])}, "conclude numbers, but an output has terms"),
        ({"rules": concluding(GREAT, {"risc": "small"})}, "output 'risc' in rule 2.*Did you mean 'risk'"),
        ({"rules": concluding({"risk": "greta"}, SMALL)}, "of 'risk' in rule 1.*Did you mean 'great'"),
        (
            {
                "rules": concluding(GREAT, SMALL, weight=1.5),
                "defuzzification": Defuzzification(accumulation="algebraic"),
            },
            "weight of rule 1.* must be at most 1, got 1.5",
        ),
        ({"normalize": False}, "normalize is about rules that conclude numbers"),
        ({"conclusion_aggregation": "max"}, "conclusion_aggregation is about rules that conclude numbers"),
        ({"defuzzification": Defuzzification(clip=(True, False))}, "clip .*1 values, got 2"),
        ({"default": (1.0, 2.0)}, r"default must have 1 value\(s\), got 2"),
        ({"default": math.inf}, "default must be finite"),
        ({"default": "none"}, "default must be a number"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_rules_are_refused_by_name(changes, named):
    RuleBase(**GOOD)
    with pytest.raises(ParameterError, match=named):
        RuleBase(**(GOOD | changes))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
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
        ({"clip": "yes"}, "clip must be True or False"),
        ({"activation": "first"}, "activation must be"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_bad_settings_of_sets_are_refused_by_name(settings, named):
    with pytest.raises(ParameterError, match=named):
        Defuzzification(**settings)


def test_settings_of_sets_are_for_rules_that_conclude_sets():
    numbers = RuleBase([DEPTH], concluding([[1.0]], [[2.0]]))
    with pytest.raises(ParameterError, match="not defuzzified"):
        dataclasses.replace(numbers, defuzzification=Defuzzification())
    with pytest.raises(ParameterError, match="there is no resolution"):
        numbers.with_settings(resolution=5)
    assert RuleBase(**GOOD).with_settings(resolution=5, t_norm="min").defuzzification.resolution == 5


def test_equal_rules_are_equal_and_cannot_be_changed():
    one = RuleBase(**GOOD)
    other = RuleBase([DEPTH], concluding({"risk": Is("risk", "great")}, SMALL), [RISK])
    assert one == other
    assert hash(one) == hash(other)
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.defuzzification.resolution = 5
    with pytest.raises(TypeError, match="immutable"):
        one.rules[0].terms["risk"] = "small"
    assert (one.n_rules, one.feature_names, one.output_names) == (2, ("depth",), ("risk",))


@pytest.mark.parametrize("rules", [two_rules(), gaps(default=0.1), odd_rules()], ids=["two", "gaps", "odd"])
def test_text_dictionaries_and_files_give_the_same_rules(rules, tmp_path):
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    rules.save(tmp_path / "rules.json")
    assert RuleBase.load(tmp_path / "rules.json") == rules
    assert pickle.loads(pickle.dumps(rules)) == copy.deepcopy(rules) == rules
    bags = np.random.default_rng(0).uniform(-1, 6, (5, 3, len(rules.feature_names)))
    found, again = rules.infer(bags), RuleBase.parse(rules.to_source()).infer(bags)
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
        rules = RuleBase.parse(
            texts, inputs, [output], implication=str(rng.choice([*("min", "product")])), default=float(rng.normal())
        )
        assert RuleBase.parse(rules.to_source()) == rules


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
        (TEXT + "IF depth is deep THEN risk = 1", r"(?s)Line 6.*'risk'.*number"),
        (TEXT + "IF depth is deep THEN risk is grate", r"(?s)character 31: .*Did you mean 'great'.*\^"),
        (TEXT + "IF depth is deep THEN risc is great", "(?s)output.*'risc'"),
        (TEXT + "USING implicaton = min", "(?s)setting.*'implicaton'.*Did you mean 'implication'"),
        (TEXT + "USING implication = mean", r"(?s)Line 6.*Unknown implication.*\^"),
        (TEXT + "USING resolution = 2.5", r"(?s)Line 6.*resolution.*2\.5.*\^"),
        (TEXT + "USING conclusion_aggregation = mean", "(?s)setting.*'conclusion_aggregation'"),
        (TEXT.replace(" FROM 0 TO 1: small", ": small"), "'risk' needs .*range"),
    ],
    ids=[
        "empty",
        "no rule",
        "number",
        "term",
        "output",
        "setting",
        "operator",
        "resolution",
        "conclusion_aggregation",
        "range",
    ],
)
def test_errors_in_text_say_where_and_what(text, named):
    with pytest.raises(ParameterError, match=named):
        RuleBase.parse(text)


def test_a_setting_in_text_and_argument_is_refused():
    with pytest.raises(RuleSyntaxError, match=r"t_norm .*argument"):
        RuleBase.parse(TEXT + "USING t_norm = product", t_norm="min")


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "rules.json"
    two_rules().save(path)
    document = json.loads(path.read_text())
    for key in (*two_rules().to_dict(), "format", "version"):
        for value in (None, "x", -1, [], {}, [[[1]]])[: 2 if key == "alpha" else 6]:
            path.write_text(json.dumps(document | {key: value}))
            if (key, value) in (("default", []), ("default", {}), ("defuzzification", {})):  # as if it were not given
                assert RuleBase.load(path) == two_rules()
                continue
            with pytest.raises(ModelFileError):
                RuleBase.load(path)
        path.write_text(json.dumps({name: value for name, value in document.items() if name != key}))
        with pytest.raises(ModelFileError):
            RuleBase.load(path)

"""Explanations in words and as JSON, and how a bag is chosen."""

import dataclasses
import json
import re

import numpy as np
import pytest
from explained_models import BAGS, MODELS, PATCHES, SHARP, SKY, bags_for, model
from sklearn.exceptions import NotFittedError

from fuzzymil import Bags, MISugeno, RuleBase, RuleClassifier
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.explain import explain, explain_many
from fuzzymil.rules.rule import Rule

# ---------------------------------------------------------------------- words


def test_text_of_a_small_system():
    # Worked out by hand: rules fire at exp(-1/8), exp(-1/2) / 2 and 1; without instance 0 the first at 1/2.
    found = explain(SKY, Bags.from_list([PATCHES], ids=["photo 7"]))
    heading, contributions, *rules, without = str(found).split("\n\n")
    assert re.match(r"Bag photo 7 \(3 instances.*\).* sky = 0\.449", heading)
    assert [line.split() for line in contributions.splitlines()[1:]] == [
        ["+0.404", "=", "0.404", "x", "1", "Rule", "1,", "fires", "at", "0.882,", "witness", "0", "(100%)"],
        ["+0.114", "=", "0.458", "x", "0.25", "Rule", "3,", "fires", "at", "1,", "witness", "1", "(100%)"],
        ["-0.069", "=", "0.139", "x", "-0.5", "Rule", "2,", "fires", "at", "0.303,", "witness", "1", "(100%)"],
        ["------"],
        ["+0.449", "sky"],
    ]
    first, third, second = (block.splitlines() for block in rules)
    assert first[0] == "Rule 1: IF hue is blue AND texture is smooth THEN sky = 1"
    assert third[0] == "Rule 3: IF hue is not blue OR texture is rough THEN sky = 0.25"
    assert second[0].endswith("AND NOT (texture is very smooth OR hue is blue) THEN sky = -0.5 WITH 0.5")
    assert re.search(r"nstance 1 .*0\.607", second[1])
    assert [line.split() for line in first[2:]] == [
        ["hue", "=", "0.65", "is", "blue", "0.882", "decisive"],
        ["texture", "=", "0.1", "mm", "is", "smooth", "0.9"],
    ]
    assert [line.split() for line in second[2:]] == [
        ["hue", "=", "0.2", "is", "red", "0.607", "decisive"],
        ["texture", "=", "0.75", "mm", "is", "very", "smooth", "0.0625", "negated"],
        ["hue", "=", "0.2", "is", "blue", "0.000335", "negated"],
    ]
    assert re.match(r"Without instance 0,? sky would be 0\.332 \(-0\.117\)\.\n", without)
    assert re.search(r"Without instance 1,? sky would be 0\.655 \(\+0\.207\)\.$", without)
    assert repr(found) == "Explanation(bag='photo 7', score=0.4488, 3 rules, 3 instances)"


def test_text_leaves_rules_out_and_says_so():
    text = explain(SKY, [PATCHES]).to_text(max_rules=1)
    assert re.search(r"\n  \+0\.045 +2 other rules\n  ------\n  \+0\.449 +sky\n", text)
    assert "Rule 3" not in text
    assert text.count("Without instance") == 1
    far = explain(SHARP, [[[1.0, 0.0]]])
    assert "other rule" not in str(far)
    mute = dataclasses.replace(SKY, rules=(*SKY.rules, Rule({}, [[9.0]], weight=0.0)))
    assert "1 other rule that does not fire" in str(explain(mute, [PATCHES]))


def test_text_of_long_rules_shows_the_decisive_conditions():
    rng = np.random.default_rng(0)
    rules = RuleBase.from_arrays(rng.normal(size=(2, 40)), np.full((2, 40), 3.0), rng.normal(size=(2, 1, 41)))
    found = explain(rules, [rng.normal(size=(3, 40))])
    text = found.to_text(max_conditions=4)
    first = found.rules[0]
    lowest = sorted(first.conditions, key=lambda condition: condition.membership)
    named = " AND ".join(condition.text for condition in lowest[:4])
    assert f"{first.name}: IF {named} AND ... (36 more) THEN y = " in text
    assert " + ... (36 smaller)" in text
    assert re.search(rf"36 more.* {lowest[4].membership:.3g}\n", text)
    assert text.count("decisive") == 2
    assert first.text.count(" AND ") == 39
    assert max(map(len, text.splitlines())) < 220


def test_text_of_classifiers():
    name = "classifier"
    found = model(name).explain(BAGS, bag="concept1-1")
    assert repr(found).startswith(f"Explanation(bag='concept1-1', prediction={found.prediction}, score=")
    text = str(found)
    first, second, *_, last = text.splitlines()
    assert re.match(
        rf"Bag concept1-1 \({len(BAGS[0])} instances.*\): predicted {found.prediction}, probability ", first
    )
    assert re.match(rf"Decision value {re.escape(f'{found.score:+.3g}')} \(1 above 0\)", second)
    assert "Contributions to the decision value (strength x (conclusion - 0.5)):\n" in text
    left = found.counterfactuals[-1]
    assert re.search(rf"Without instance {left.instance}, .* (still )?predicting {left.prediction}[.;]", last)
    assert ("still" in last) == (left.prediction == found.prediction)


@pytest.mark.slow
def test_text_of_several_classes():
    found = model("classes").explain(BAGS, bag="concept2-3")
    others = ", ".join(
        f"{c} {o:.3g}" for c, o in zip(found.classes, found.output, strict=True) if c != found.prediction
    )
    assert f"Decision value of {found.prediction}: {max(found.output):.3g} ({others})" in str(found)
    other = next(label for label in found.classes if label != found.prediction)
    why_not = model("classes").explain(BAGS, bag="concept2-3", output=other)
    assert why_not.prediction == found.prediction
    assert why_not.score == pytest.approx(dict(zip(found.classes, found.output, strict=True))[other])
    assert f"Contributions to the decision value of {other} (strength x conclusion):" in str(why_not)


def test_text_of_committees_and_numbers():
    text = str(model("committee").explain(BAGS, position=0))
    assert "(strength x (conclusion - 0.5) / members):" in text
    assert " / 3 " in text
    assert "of member " in text
    assert "y1 = " in str(model("two numbers").explain(BAGS, position=0))
    assert "explained: y1" in str(model("two numbers").explain(BAGS, position=0))
    assert "default - 0.5" in str(model("not normalized").explain(BAGS, position=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_dicts_are_plain_json(name):
    for found in model(name).explain_many(bags_for(name)[:2]):
        content = found.to_dict()
        assert json.loads(json.dumps(content, allow_nan=False)) == content
        assert content["score"] == found.score
        assert [rule["contribution"] for rule in content["rules"]] == [rule.contribution for rule in found.rules]
        assert content["rules"][0]["parts"][0]["shares"] == list(found.rules[0].parts[0].shares)
        assert content["counterfactuals"] == [left.to_dict() for left in found.counterfactuals]


def test_ids_of_any_kind_make_plain_json():
    bags = Bags.from_list([PATCHES], ids=np.array([np.datetime64("2026-01-02")], object))
    assert explain(SKY, bags).to_dict()["bag"] == "2026-01-02"


# ---------------------------------------------------------------------- which bag


def test_a_bag_is_named_by_its_id_or_position():
    fitted = model("classifier")
    by_id = fitted.explain(BAGS, bag="concept1-3")
    assert by_id.bag == "concept1-3"
    assert fitted.explain(BAGS, position=2) == by_id
    assert fitted.explain(BAGS, position=2 - len(BAGS)) == by_id
    assert fitted.explain(BAGS[[2]]) == by_id
    assert fitted.explain([BAGS[2]]).rules == by_id.rules


def test_whole_numbers_are_ids_where_ids_are_numbers():
    bags = Bags.from_list([PATCHES, PATCHES[:1]], ids=[7, 0])
    assert explain(SKY, bags, bag=7).n_instances == 3
    assert explain(SKY, bags, bag=0).n_instances == 1
    with pytest.raises(InputError, match=r"No bag 1; .*7, 0\."):
        explain(SKY, bags, bag=1)


@pytest.mark.parametrize(
    ("bags", "settings", "message"),
    [
        (
            BAGS,
            {},
            r"24 bags: .*bag='concept1-1'.*explain_many\.$",
        ),
        (BAGS[0], {}, r"as \[array\]"),
        (BAGS, {"bag": "concpt1-3"}, r"No bag 'concpt1-3'; the bags are concept1-1, .* Did you mean 'concept1-"),
        (BAGS, {"position": 24}, r"no position 24: .*0 to 23\."),
        (BAGS, {"position": 0, "output": "z"}, r"'z'.* y\."),
        (np.zeros((1, 3)), {}, "3 features"),
    ],
    ids=["which of many", "rows", "misspelt", "position", "output", "features"],
)
@pytest.mark.filterwarnings("ignore:Each of the")
def test_mistakes_are_reported(bags, settings, message):
    with pytest.raises(ValueError, match=message):
        model("classifier").explain(bags, **settings)


def test_an_unfitted_model_explains_nothing():
    with pytest.raises(NotFittedError):
        RuleClassifier().explain(BAGS)


def test_rule_bases_that_do_not_belong_together():
    with pytest.raises(ParameterError, match="needs a rule base"):
        explain([], [PATCHES])
    with pytest.raises(ParameterError, match="needs a rule base"):
        explain(["IF hue is blue"], [PATCHES])
    with pytest.raises(ParameterError, match="same features and outputs"):
        explain([SKY, dataclasses.replace(SKY, outputs=("sea",))], [PATCHES])


def test_features_are_matched_by_name():
    swapped = Bags.from_list([PATCHES[:, ::-1]], ["texture", "hue"])
    assert explain(SKY, swapped).rules == explain(SKY, [PATCHES]).rules
    assert explain(SKY, swapped).counterfactuals == explain(SKY, [PATCHES]).counterfactuals


def test_many_bags_share_one_inference(monkeypatch):
    bags = Bags.from_list([PATCHES, PATCHES[:1], PATCHES[1:]], ids=["a", "b", "c"])
    one_by_one = [explain(SKY, bags, bag) for bag in "abc"]
    activations, calls, infer = SKY.infer(bags), [], RuleBase.infer
    monkeypatch.setattr(RuleBase, "infer", lambda base, given: calls.append(len(given)) or infer(base, given))
    assert explain_many(SKY, bags) == one_by_one
    assert calls == [3, 2, 2]  # all bags at once, then two of them without each witness
    calls.clear()
    assert explain_many(SKY, bags, np.array([2, 1]), activations=[activations]) == one_by_one[:0:-1]
    assert calls == [2]
    assert explain_many(SKY, bags, []) == []


# ---------------------------------------------------------------------- written rules


def test_written_rules_are_explained_like_learned_ones():
    bags = Bags.from_list([PATCHES, PATCHES[1:]], ["hue", "texture"], labels=[1, 0], ids=["a", "b"])
    written = MISugeno(rules=SKY, threshold=0.4).fit(bags)
    found = written.explain(bags, "a")
    assert found.score == pytest.approx(written.decision_function(bags)[0], abs=1e-12)
    assert found.prediction == written.predict(bags)[0]
    assert sum(rule.contribution for rule in found.rules) == pytest.approx(found.score, abs=1e-12)
    assert [rule.conditions for rule in found.rules if rule.index == 1] == [
        rule.conditions for rule in explain(SKY, [PATCHES]).rules if rule.index == 1
    ]
    assert "strength x (conclusion - 0.4)" in str(found)
    assert [each.bag for each in written.explain_many(bags)] == ["a", "b"]


def test_ids_and_positions_have_two_names():
    bags = Bags.from_list([[[0.1, 0.1]], [[0.6, 0.1], [0.2, 0.9]]], ids=[1, 0])
    for bag, position, size in ((1, 0, 1), (0, 1, 2), (1, -2, 1)):
        assert explain(SKY, bags, bag=bag).n_instances == explain(SKY, bags, position=position).n_instances == size
    named = Bags.from_list([[[0.1, 0.1]], [[0.6, 0.1]]], ids=["a", "b"])
    for settings, told in (
        ({"bag": 1}, "pass position=1"),
        ({"bag": 7}, "No bag 7; the bags are a, b"),
        ({"position": 2}, "positions range from 0 to 1"),
        ({"position": "a"}, "no position 'a'"),
        ({"bag": "a", "position": 0}, "pass one of them"),
        ({}, "bag='a'.*position=0"),
    ):
        with pytest.raises(ValueError, match=told):
            explain(SKY, named, **settings)


def test_at_least_is_decided_at_the_last_of_its_witnesses():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 9: high = Sigmoid(5, 1)  Default: y = 0  IF AT LEAST 3 x is high THEN y += 1"
    )
    (part,) = explain(rules, [[[1.0], [8.0], [6.0], [7.0]]]).rules[0].parts
    assert [witness.instance for witness in part.witnesses] == [1, 3, 2]
    assert [witness.conditions[0].limiting for witness in part.witnesses] == [False, False, True]
    assert part.decider.instance == 2


def test_instances_that_matter_alike_are_named_in_one_line():
    rules = RuleBase.parse(
        "VARIABLE x FROM 0 TO 9: high = Sigmoid(5, 1)  Default: y = 0  IF AT LEAST 3 x is high THEN y += 1"
    )
    text = explain(rules, [[[1.0], [8.0], [6.0], [7.0]]]).to_text()
    (line,) = [line for line in text.splitlines() if line.startswith("Without")]
    assert "instances 1, 3 and 2" in line

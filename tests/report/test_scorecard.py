"""Reports on quantified and additive rules: the scorecard, sums that join up, and no contradictions."""

import re

import numpy as np
import pytest
from markupsafe import escape

from fuzzymil import Bags, MISugeno, RuleClassifier
from fuzzymil._utils.drawings import WIDTH
from fuzzymil._utils.text import typeset
from fuzzymil.datasets import make_two_concepts
from fuzzymil.explain.html import reasons
from fuzzymil.explain.words import number_column, pieces, sum_lines
from fuzzymil.learn.choose.points import with_points
from fuzzymil.report import Report
from fuzzymil.report._sections import health_facts, rules_facts

RULES = """
VARIABLE pages FROM 0 TO 30: low = Sigmoid(4, -1.5), high = Sigmoid(11, 1)
VARIABLE stay [s] FROM 0 TO 120: long = Sigmoid(60, 0.15), medium = Gaussian(50, 15)
Default: yes = -2.9
IF SOME pages is high THEN yes += 2.2
IF AT LEAST 3 stay is long THEN yes += 1.4
IF SOME (pages is high AND stay is medium) AND MOST pages is low THEN yes -= 1.9
IF AT LEAST 8 instances THEN yes -= 1
IF NOT (SOME pages is high) THEN yes += 0.3
"""


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    bags = Bags.from_list(
        [rng.uniform(0, [30, 120], (n, 2)) for n in rng.integers(1, 10, 20)],
        feature_names=["pages", "stay"],
        labels=np.array(["no", "yes"] * 10),
    )
    return Report.of(MISugeno(rules=RULES, threshold=0.0).fit(bags), bags, n_folds=2)


@pytest.fixture(scope="module")
def text(report):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", report.to_html()))


def test_the_scorecard_lists_the_default_and_every_rule(report, text):
    rows = rules_facts(report.answers, report.cards)["scorecard"]
    base = report.answers.rules
    assert [row["name"] for row in rows] == ["default", *(f"Rule {n}" for n in range(1, 6))]
    amounts = [base.default[0], *base.coefs[:, 0, 0]]
    assert [row["cells"][0][0] for row in rows] == [typeset(each.strip()) for each in number_column(amounts)]
    assert rows[2]["premise"] == "AT LEAST 3 stay is long"
    assert "Scorecard" in text
    assert "SOME pages is high +2.20" in text
    assert "IF AT LEAST 3 stay is long THEN yes += 1.4" in text


def test_cards_name_what_rules_add_and_how_many_instances_they_ask_for(report, text):
    cards = report.cards
    found = report.answers.found[0]
    for r, card in enumerate(cards):
        assert card.sign == "+="
        assert card.mean_added == pytest.approx((found.firing[:, r] * found.rule_outputs[:, r, 0]).mean())
        assert card.speaks_for == ("yes" if card.conclusions[0][1] > 0 else "no")
    headings = [[condition.heading for condition in card.conditions] for card in cards]
    assert headings == [
        ["in some instance"], ["in at least 3 instances"], ["in some instance", "", "in most instances"], [],
        ["not in any instance"],
    ]  # fmt: skip
    assert "This rule only counts the instances." in text
    assert "yes -= 1.9" in text


def test_bars_of_an_explanation_join_up(report):
    for explanation in report.explanations.values():
        lines = sum_lines(explanation)
        assert lines[0].text == "default"
        assert lines[-1].text.startswith("decision value -> probability of yes: ")
        assert sum(line.amount for line in lines[:-1]) == pytest.approx(lines[-1].amount)
        drawn = re.findall(r'<rect x="([^"]*)" y="2" width="([^"]*)"', reasons(explanation))
        ends = None
        for line, (start, width) in zip(lines[:-1], drawn, strict=False):
            start, stop = float(start), float(start) + float(width)
            assert 0 <= start <= stop <= WIDTH + 0.1
            if ends is not None and stop - start > 0.2:
                assert min(abs(start - ends), abs(stop - ends)) <= 0.3  # it starts where the one before ends
            ends = start if line.amount < 0 else stop


def test_explanations_show_the_witnesses_of_every_part(report, text):
    explanation = next(each for each in report.explanations.values() if each.n_instances >= 3)
    rules = {line.rule.name: line.rule for line in sum_lines(explanation) if line.rule}
    found = {name: pieces(explanation, rule, 6) for name, rule in rules.items()}
    assert [len(rules[f"Rule {n}"].parts) for n in range(1, 6)] == [1, 1, 2, 1, 1]
    assert found["Rule 3"][1].text == "AND MOST pages is low"
    assert found["Rule 5"][0].text == "NOT (SOME pages is high)"
    assert typeset(found["Rule 2"][0].why[0]) in text
    assert "What adds up to the decision value" in text


def test_additive_rules_do_not_contradict_each_other(report, text):
    facts = health_facts(report.diagnoses, additive=True)
    assert not [kind for kind in facts["questions"] if "Contradicting" in kind or "covers" in kind]
    assert not [finding for diagnosis in report.diagnoses for finding in diagnosis if finding.kind == "contradiction"]
    assert "Contradicting" not in text
    assert "Contradicting rules" in health_facts([], additive=False)["questions"]


@pytest.mark.usefixtures("undrawn")
def test_a_learned_scorecard_is_a_logit():
    bags = make_two_concepts(n_per_concept=10, n_negative=20, random_state=1)
    model = RuleClassifier(random_state=0).fit(bags)
    report = Report.of(model, bags, cross_validate=False, max_bags=4)
    page = report.to_html()
    assert "The sum is a logit" in page
    assert "logit → probability of 1" in page
    assert all(each.coverage is not None for each in report.explanations.values())
    assert "Coverage is the share of the training bags" in page


@pytest.mark.usefixtures("undrawn")
def test_rules_in_points_are_an_index_card():
    bags = make_two_concepts(n_per_concept=10, n_negative=20, random_state=1)
    model = RuleClassifier(random_state=0).fit(bags)
    rules = with_points(model.rules_, bags, np.ones(bags.n_bags))
    report = Report.of(model.with_rules(rules), bags, cross_validate=False, max_bags=2)
    facts = rules_facts(report.answers, report.cards)
    assert [row["cells"][0][0] for row in facts["scorecard"]] == [typeset(f"{each:+d}") for each in rules.points]
    page = report.to_html()
    assert "Probability of 1" in page
    for row in rules.score_table().rows:
        assert f"<td>{escape(row.percent)}</td>" in page
    assert f"y += {rules.points[0]} point" in page


@pytest.mark.usefixtures("undrawn")
def test_a_committee_has_defaults_instead_of_a_scorecard():
    bags = make_two_concepts(n_per_concept=6, n_negative=12, random_state=1)
    model = RuleClassifier(n_estimators=2, random_state=0).fit(bags)
    report = Report.of(model, bags, cross_validate=False, max_bags=2)
    assert rules_facts(report.answers, report.cards)["scorecard"] == []
    assert "Defaults: member 1" in report.to_html()


@pytest.mark.usefixtures("undrawn")
def test_the_scorecard_names_the_features_of_rules_that_ask_the_same_of_a_few():
    bags = Bags.from_list([[[0.1, 0.2, 0.3]], [[0.9, 0.8, 0.7]]], feature_names=list("abc"), labels=["no", "yes"])
    rules = "".join(f"VARIABLE {name} FROM 0 TO 1: high = Sigmoid(0.5, 9)\n" for name in "abc")
    rules += "IF SOME (a is high AND b is high AND c is high) THEN yes += 1912.4"
    found = Report.of(MISugeno(rules=rules, threshold=0.0).fit(bags), bags, cross_validate=False)
    premise = "SOME (a is high AND b is high AND c is high)"
    assert rules_facts(found.answers, found.cards)["scorecard"][1]["premise"] == premise
    page = found.to_html()
    assert "1910" in page  # not 1.91e+03
    assert "e+0" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)

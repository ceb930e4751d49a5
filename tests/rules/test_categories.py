"""Variables whose values are categories: text, JSON, other formats and inference."""

import numpy as np
import pytest

from fuzzymil import Bags, ParameterError, RuleBase
from fuzzymil.bags import Column, Columns
from fuzzymil.inference.membership import Gaussian
from fuzzymil.rules.files import export_rules, parse_rules
from fuzzymil.rules.rule import Variable, crisp_set

TEXT = """
VARIABLE channel: ONE OF email, "live chat", one, remote = Discrete(0, 1, 0.4, 0)
VARIABLE pages: many = Sigmoid(5, 1)
IF channel is "live chat" AND pages is many THEN y = 2
IF channel is not email THEN y = 1
IF channel is remote THEN y = 0
"""


def test_text_and_json_keep_the_categories():
    rules = RuleBase.parse(TEXT)
    assert rules.variables[0].categories == ("email", "live chat", "one")
    assert list(rules.variables[0].terms) == ["email", "live chat", "one", "remote"]
    assert RuleBase.parse(rules.to_source()) == rules
    assert RuleBase.from_dict(rules.to_dict()) == rules
    assert "ONE OF email" in rules.to_source()
    assert "channel: one of email, live chat, one, remote = " in rules.describe_terms()


@pytest.mark.parametrize("format", ["fll", "fcl"])
def test_other_formats_hold_the_sets_and_say_what_the_codes_mean(format):
    rules = RuleBase.parse(TEXT)
    text = export_rules(rules, format)
    assert "0 = email, 1 = live chat, 2 = one" in text
    again = parse_rules(text, format)
    instances = [[[code, pages]] for code in (0.0, 1.0, 2.0) for pages in (2.0, 9.0)]
    np.testing.assert_allclose(again.infer(instances).output, rules.infer(instances).output)


def test_code_and_tables_name_the_categories():
    rules = RuleBase.parse(TEXT)
    assert "1 = live chat" in export_rules(rules, "python")
    assert "1 = live chat" in export_rules(rules, "c")
    assert "| live chat |" in export_rules(rules, "markdown")


def test_mistakes_in_categories_are_reported():
    with pytest.raises(ParameterError, match=r"'email'.*named twice"):
        RuleBase.parse("VARIABLE c: ONE OF email, email\nIF c is email THEN y = 1")
    with pytest.raises(ParameterError, match="name of a category"):
        RuleBase.parse("VARIABLE c: ONE OF email, 3\nIF c is email THEN y = 1")
    with pytest.raises(ParameterError, match="must be different names"):
        Variable("c", categories=["a", "a"])
    with pytest.raises(ParameterError, match=r"'a' of 'c' is a category: its set is fixed"):
        Variable("c", {"a": Gaussian(0, 1)}, categories=["a"])


def test_terms_named_one_are_still_terms():
    rules = RuleBase.parse("VARIABLE c: one = Gaussian(1, 1)\nIF c is one THEN y = 1")
    assert rules.variables[0].categories == ()


def test_bags_are_matched_by_the_names_of_categories():
    rules = RuleBase.parse("VARIABLE c: ONE OF b, a\nIF c is a THEN y = 1\nIF c is b THEN y = 0\nUSING default = 9")
    columns = Columns([Column("other"), Column("c", "category", ("A", "b", "new"))])
    bags = Bags([[5.0, 0.0], [5.0, 1.0], [5.0, 2.0]], [0, 1, 2, 3], columns=columns)
    assert rules.infer(bags).output.ravel().tolist() == [1, 0, 9]


def test_a_category_survives_training_of_the_other_sets():
    rules = RuleBase.parse(TEXT)
    params, _, _ = rules.compile()
    assert rules.with_numbers(params).variables[0].terms["one"] == crisp_set(2)

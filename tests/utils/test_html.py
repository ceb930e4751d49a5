"""What notebooks show: values, rules, bags, explanations and models as HTML, safe whatever names contain."""

import dataclasses
import html.parser

import numpy as np
import pytest

from fuzzymil import Bags, MIMamdani, MISugeno, RuleBase, RuleClassifier, diagnose_data
from fuzzymil.bags.columns import Column, Columns
from fuzzymil.inference.membership import Gaussian, Triangular
from fuzzymil.rules.editing import Diagnosis, Finding
from fuzzymil.rules.rule import Rule, Variable

HOSTILE = "</style></svg><script>alert(1)</script>\"'><img src=x onerror=alert(1)></details><!--\x1b"
VOID = {"img", "rect", "path", "line", "polyline", "progress"}


class Page(html.parser.HTMLParser):
    """The elements of a fragment; whatever is not closed stays open."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def rules_about(name):
    variable = Variable(name, {f"low{name}": Gaussian(0.2, 0.1)}, 0, 1, unit=name)
    kind = Variable(f"kind{name}", categories=[f"a{name}", f"b{name}"])
    rule = Rule({variable.name: f"low{name}", kind.name: f"a{name}"}, [[1.0]], label=f"label{name}")
    return RuleBase((variable, kind), (rule, Rule({}, [[0.0]])), outputs=(f"y{name}",))


def bags_about(name):
    columns = Columns([Column(name), Column(f"kind{name}", "category", (f"a{name}", f"b{name}"))])
    values = [[0.1, 0.0], [0.9, 1.0], [0.2, 0.0], [0.7, np.nan]]
    return Bags(values, [0, 2, 3, 4], columns=columns, ids=[f"{n}{name}" for n in range(3)], labels=[name, "no", name])


def everything(name):
    """Everything that a notebook can show, with a name everywhere."""
    rules, bags = rules_about(name), bags_about(name)
    model = MISugeno(rules=rules, missing="ignore").fit(bags)
    output = Variable(f"y{name}", {f"high{name}": Triangular(0, 1, 2)}, 0, 2)
    mamdani = dataclasses.replace(
        rules.with_settings(conclusion_aggregation="softmax", normalize=True),
        rules=[rule.concluding({output.name: f"high{name}"}) for rule in rules.rules],
        outputs=(output,),
    )
    return {
        "bags": bags,
        "rules": rules,
        "mamdani": mamdani,
        "model": model,
        "mamdani model": MIMamdani(rules=mamdani, missing="ignore").fit(bags),
        "explanation": model.explain(bags, position=0),
        "importance": model.importance(bags, n_repeats=2),
        "predictions": model.predictions(bags),
        "effect": model.effect(bags, f"kind{name}"),
        "diagnosis": Diagnosis((Finding("duplicate", (1, 2), name, name),), n_rules=2, n_bags=3),
    }


KINDS = ("bags", "rules", "mamdani", "model", "mamdani model", "explanation", "importance", "predictions", "effect")


@pytest.mark.parametrize("kind", [*KINDS, "diagnosis"])
def test_names_cannot_break_out(kind):
    text = everything(HOSTILE)[kind]._repr_html_()
    page = Page(text)
    assert page.open == []
    assert not {"script", "img", "iframe", "link", "object"} & {tag for tag, _ in page.tags}
    assert all(not key.startswith("on") and key != "style" for _, given in page.tags for key in given)
    assert sum(tag == "style" for tag, _ in page.tags) == 1
    assert "<!--" not in text
    assert "\x1b" not in text
    assert "http" not in text
    assert "onerror" in " ".join(page.texts)  # the name is there, as text


def test_rules_are_cards_with_their_sets():
    rules = RuleBase.parse("""
        VARIABLE pages FROM 0 TO 20: high = Sigmoid(10, 1), low = Sigmoid(5, -1)
        Default: yes = -2
        IF SOME pages is high THEN yes += 3
        IF AT LEAST 2 pages is low THEN yes -= 1
    """)
    page = Page(rules._repr_html_())
    cards = [given["class"] for tag, given in page.tags if tag == "details"]
    assert cards == ["card k1", "card k0"]  # raises, lowers
    assert sum(tag == "polyline" for tag, _ in page.tags) == 2
    text = " ".join(page.texts)
    assert "yes = -2" in text
    assert "in at least 2 instances:" in text
    assert "IF SOME pages is high THEN yes += 3" in text


def test_many_rules_are_counted():
    rules = RuleBase.from_arrays(np.arange(40.0)[:, None], np.ones((40, 1)), np.arange(40))
    page = Page(rules._repr_html_())
    assert sum(tag == "details" for tag, _ in page.tags) == 30
    assert "10 more rules; print(rules) shows all of them." in page.texts


def test_linear_conclusions_and_several_outputs():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[1.0], [1.0]], [[[1.0, 2.0], [0.0, 1.0]], [[0.0, 1.0], [3.0, 0.0]]])
    page = Page(rules._repr_html_())
    assert [given["class"] for tag, given in page.tags if tag == "details"] == ["card k0", "card k1"]


def test_what_is_shown_of_a_fitted_and_an_unfitted_model():
    from fuzzymil.datasets import make_two_concepts

    model = RuleClassifier(n_estimators=2, random_state=0)
    assert "sk-" in model._repr_html_()  # scikit-learn's diagram
    fitted = model.fit(make_two_concepts(random_state=3)[::2])
    for shown in (fitted._repr_html_(), fitted._repr_mimebundle_()["text/html"]):
        text = " ".join(Page(shown).texts)
        assert "RuleClassifier(n_estimators=2, random_state=0)" in text
        assert "The mean of 2 members" in text
        assert "sk-" not in shown


def test_bags_show_categories_and_missing_values():
    text = " ".join(Page(bags_about("s")._repr_html_()).texts)
    assert "2 categories: as, bs" in text
    assert "missing" in text
    assert "s (2 bags), no (1 bag)" in text
    many = Bags(np.zeros((3, 14)), [0, 1, 2, 3], labels=[1.5, 2.5, 3.0])
    text = " ".join(Page(many._repr_html_()).texts)
    assert "2 more features" in text
    holes = Bags(np.full((1, 1), np.nan), [0, 1])
    assert "number" in " ".join(Page(holes._repr_html_()).texts)
    numbers = Bags(np.zeros((30, 1)), np.arange(31), labels=np.arange(30) / 7)
    assert "numbers from 0 to 4.143" in " ".join(Page(numbers._repr_html_()).texts)


def test_explanations_of_bags_that_no_rule_knows():
    model = MISugeno(rules="VARIABLE x: low = Triangular(0, 1, 2) IF x is low THEN y = 1", default=0.25).fit([[[1.0]]])
    text = " ".join(Page(model.explain([[[9.0]]])._repr_html_()).texts)
    assert "No rule fires on this bag" in text


def test_rules_show_themselves_without_print():
    rules = RuleBase.from_arrays([[0.0], [1.0]], [[0.3], [0.3]], [0, 1])
    assert repr(rules) == f"RuleBase(2 rules, 1 feature)\n{rules}"
    many = RuleBase.from_arrays(np.arange(60.0)[:, None], np.ones((60, 1)), np.arange(60))
    assert repr(many).endswith("... (20 more lines)")


def test_predictions_effects_and_diagnoses_are_tables():
    bags = Bags.from_list([[[float(b % 2)], [0.1]] for b in range(24)], labels=np.arange(24) % 2, feature_names=["x"])
    model = RuleClassifier(random_state=0).fit(bags)
    found = model.predictions(bags)
    text = " ".join(Page(found._repr_html_()).texts)
    for said in ("probability of 1", f"{found.probabilities[3, 1]:.3f}", "and 4 more bags"):
        assert said in text
    effect = model.effect(bags, "x")
    text = " ".join(Page(effect._repr_html_()).texts)
    assert f"{effect.curves[0].all_instances[-1]:.3f}" in text
    diagnosis = diagnose_data(bags)
    text = " ".join(Page(diagnosis._repr_html_()).texts)
    assert " ".join(diagnosis.verdict) in text
    assert "majority class" in text

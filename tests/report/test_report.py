"""The report: what it tells of each kind of model, and that it is one page which nothing can break out of."""

import dataclasses
import datetime
import html.parser
import re

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from fuzzymil import (
    Bags,
    MIANFISClassifier,
    MIMamdani,
    MISugeno,
    NaiveMIL,
    RuleBase,
    RuleClassifier,
    RuleRegressor,
    Training,
    load_model,
)
from fuzzymil._utils.errors import InputError, ParameterError
from fuzzymil.cli.plot import Kind, _curve
from fuzzymil.datasets import make_two_concepts
from fuzzymil.plots import ReliabilityDisplay
from fuzzymil.report import Report, _performance, write_report
from fuzzymil.report._performance import Basis
from fuzzymil.report._sections import bags_facts

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)></details></template><!--"

EXPERT = """
    VARIABLE hue [deg] FROM 0 TO 1: red = Gaussian(0.1, 0.1), blue = Gaussian(0.6, 0.1)
    VARIABLE texture: smooth = Triangular(-1, 0, 1)
    IF hue is very blue AND NOT texture is smooth THEN sky = 1
    IF hue is red OR texture is smooth THEN sky = 0
    IF anything THEN sky = 0.2 WITH 0.1
"""


class Page(html.parser.HTMLParser):
    """What a browser would see: elements, ids and text outside scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.ids, self.links, self.words, self.open = [], [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.elements.append((tag, given))
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[key] for key in ("src", "href", "action") if given.get(key)]
        if tag not in ("meta", "img", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))

    def count(self, tag):
        return sum(tag == name for name, _ in self.elements)

    def items(self, kind):
        return [given for _, given in self.elements if "data-item" in given and kind in given.get("class", "")]


def some_bags(seed=0, n_bags=18):
    """Bags of three points, positive if one of them lies in the lower left (few sizes: few programs to compile)."""
    rng = np.random.default_rng(seed)
    cube = rng.uniform(0, 2, (n_bags, 3, 2))
    cube[::2, 1] = rng.normal(0.4, 0.15, (len(cube[::2]), 2))
    return Bags.from_list(list(cube), labels=np.arange(n_bags) % 2 == 0, ids=[f"bag-{b}" for b in range(n_bags)])


def trained(kind=RuleClassifier, **settings):
    return kind(max_rules=2, max_conditions=2, random_state=0, **settings)


@pytest.fixture(scope="module")
def bags():
    return some_bags()


@pytest.fixture(scope="module")
def model(bags):
    return trained().fit(bags)


@pytest.fixture(scope="module")
def report(model, bags):
    return Report.of(model, bags, n_folds=3)


@pytest.fixture(scope="module")
def page(report):
    return Page(report.to_html())


@pytest.mark.slow
def test_sections_come_in_the_order_of_reading(page):
    sections = [given["id"] for tag, given in page.elements if tag == "section"]
    assert sections == ["summary", "data", "performance", "rules", "importance", "health", "bags", "settings"]
    inside = [link.removeprefix("#") for link in page.links if link.startswith("#")]
    assert inside[1 : 1 + len(sections)] == sections
    assert {*inside[1 + len(sections) :]} <= {*page.ids}  # the summary names bags to look at
    assert page.open == []
    assert len(set(page.ids)) == len(page.ids)


def test_data_are_summed_up(page, bags):
    assert f"Instances {bags.n_instances}" in page.text
    assert f"{bags.sizes.min()} to {bags.sizes.max()}, median" in page.text
    assert "Missing values none" in page.text
    for label in (False, True):
        assert f"{label} {(bags.labels == label).sum()} 50%" in page.text


def test_rules_stand_in_words_beside_their_sets(page, model):
    for line in model.rules_.to_text().split("\n"):
        name, _, words = line.partition(": ")
        assert f"{name} ".lower() in page.text.lower()
        if name == "Default":  # in the scorecard
            continue
        assert words in page.text
    assert len(page.items("card")) - len(page.items("bag")) == model.rules_.n_rules
    assert "Sigmoid(" in page.text or "Bell(" in page.text


def test_performance_names_folds_bags_and_spread(page, report, bags):
    assert report.performance.basis is Basis.REFITTED
    assert len(report.performance.folds) == 3
    assert re.search(rf"3-fold cross-validation on {bags.n_bags} bags .*stratified by class", page.text)
    accuracy = report.performance.measures["Accuracy"]
    assert f"{accuracy.mean():.3f} ± {accuracy.std(ddof=1):.3f}" in page.text
    assert "do not report" in page.text
    assert report.performance.confusion.sum() == bags.n_bags
    assert (
        sum(given["src"].startswith("data:image/svg+xml;base64,") for tag, given in page.elements if tag == "img") == 4
    )
    (name,) = (name for name in report.performance.measures if name.startswith("Brier score"))
    assert "1 worst" in name
    expected = [brier_score_loss(fold.truth, fold.probabilities[:, 1]) for fold in report.performance.folds]
    np.testing.assert_allclose(report.performance.measures[name], expected)
    assert f"{np.mean(expected):.3f} ± {np.std(expected, ddof=1):.3f}" in page.text


def test_curves_are_about_the_class_that_rules_speak_for_or_the_one_asked_for(monkeypatch):
    text = "VARIABLE x: low = Gaussian(0, 1)\nIF x is low THEN diseased = 1\nIF x is not low THEN diseased = 0"
    bags = Bags.from_list([[[0.1]], [[0.3]], [[3.0]], [[2.8]]], labels=["diseased", "diseased", "healthy", "healthy"])
    model = MISugeno(rules=text).fit(bags)
    assert model.pos_label_ == "diseased"  # which sorts first
    drawn = {}
    monkeypatch.setattr(_performance, "figure_svg", lambda plot: drawn.update(figure=plot()) or b"")
    performance = Report.of(model, bags).performance
    performance.roc_curve()
    (line,) = drawn["figure"].legends[0].get_texts()
    assert line.get_text().startswith("diseased: AUC 1.000")
    assert performance.about == "diseased"
    other = Report.of(model, bags, pos_label="healthy").performance
    other.roc_curve()
    (line,) = drawn["figure"].legends[0].get_texts()
    assert line.get_text().startswith("healthy: AUC 1.000")
    assert other.about == "healthy"
    other.reliability()
    assert drawn["figure"].axes[1].get_xlabel() == "predicted probability of healthy"
    (curve,) = ReliabilityDisplay.from_classes(
        [(f.truth, f.probabilities) for f in other.folds], other.classes, pos_label="healthy"
    ).curves
    assert curve.scores.max() < 0.05
    with pytest.raises(ParameterError, match=r"'helthy'.*Did you mean 'healthy'"):
        Report.of(model, bags, pos_label="helthy")


def test_folds_are_disjoint_stratified_and_left_out(report, bags):
    folds = report.performance.folds
    np.testing.assert_array_equal(np.sort(np.concatenate([fold.truth for fold in folds])), np.sort(bags.labels))
    shares = [fold.truth.mean() for fold in folds]
    assert max(shares) - min(shares) < 0.2
    # Numbers of models that had seen the fold would be those of the model itself.
    (brier,) = (name for name in report.performance.measures if name.startswith("Brier"))
    own, others = (each.measures[brier].mean() for each in (report.own_performance, report.performance))
    assert own != pytest.approx(others, abs=1e-12)


def test_most_and_least_certain_bags_are_explained_without_script(report, page, bags):
    order = np.argsort(report.answers.certainty, kind="stable")
    headings = page.text[page.text.index("Least certain") : page.text.index("All bags")]
    for place in (*order[:3], *order[-3:]):
        assert str(bags.ids[place]) in headings
    assert page.count("article") == 6
    assert headings.count("What adds up to the logit") == 6


def test_every_bag_can_be_opened_and_sorted(page, bags, report):
    items = page.items("bag")
    assert [given["data-name"] for given in items] == [str(name) for name in bags.ids]
    margins = np.abs(report.answers.output[:, 0])
    np.testing.assert_allclose([float(given["data-certainty"]) for given in items], margins, rtol=1e-6)
    wrong = ["wrong" in given["data-kinds"].split() for given in items]
    np.testing.assert_array_equal(wrong, report.answers.predictions != bags.labels)


def test_tools_wait_for_the_script(page):
    tools = [given for _, given in page.elements if given.get("class") == "tools"]
    assert tools
    assert all("hidden" in given for given in tools)


def test_health_settings_and_versions_are_told(page, report):
    assert report.diagnoses == tuple(base.diagnose(report.answers.read) for base in report.answers.members)
    for question in ("Dead rules", "Dominating rules", "Duplicate rules"):
        assert question in page.text
    for finding in report.diagnoses[0]:
        assert finding.message in page.text
    assert "max_rules 2" in page.text
    assert "max_conditions 2" in page.text
    assert "fuzzymil 0." in page.text
    assert "scikit-learn 1." in page.text


def test_nothing_comes_from_elsewhere(report, page):
    assert all(link.startswith(("#", "data:")) for link in page.links)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", report.to_html())
    policy = next(given["content"] for _, given in page.elements if given.get("http-equiv"))
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy


@pytest.mark.usefixtures("undrawn")
def test_same_page_but_for_the_date(report, model, bags):
    again = dataclasses.replace(Report.of(model, bags, n_folds=3), made_on=report.made_on)
    assert again.to_html() == report.to_html()
    later = dataclasses.replace(report, made_on=datetime.date(2031, 5, 6))
    assert later.to_html() == report.to_html().replace(report.made_on.isoformat(), "2031-05-06")


def test_order_of_instances_does_not_matter(report, model, bags):
    turned = Bags.from_list([part[::-1] for part in bags], labels=bags.labels, ids=bags.ids)
    again = Report.of(model, turned, cross_validate=False)
    np.testing.assert_allclose(again.answers.certainty, report.answers.certainty, rtol=1e-9)
    assert [card.text for card in again.cards] == [card.text for card in report.cards]


@pytest.mark.slow
def test_expert_rules_are_measured_as_they_are():
    rng = np.random.default_rng(0)
    parts = list(rng.uniform(0, 1, (12, 3, 2)))
    given = Bags.from_list(parts, ["hue", "texture"], labels=["sky", "no sky"] * 6)
    report = Report.of(MISugeno(rules=EXPERT).fit(given), given, n_folds=4)
    assert report.performance.basis is Basis.UNSEEN
    assert report.own_performance is None
    text = Page(report.to_html()).text
    assert "not learned from these bags" in text
    assert "IF hue is very blue AND NOT (texture is smooth) THEN sky = 1" in text
    assert "NOT texture is smooth" in text
    assert "it fires on every bag" in text
    assert "hue [deg]" in text


@pytest.mark.usefixtures("undrawn")
def test_bags_that_no_rule_knows():
    rules = "VARIABLE x: low = Triangular(0, 1, 2) IF x is low THEN y = 1"
    given = Bags.from_list([[[1.0]], [[9.0]], [[1.5], [7.0]]], ["x"])
    model = MISugeno(rules=rules, threshold=None, default=0.25).fit(given)
    page = Page(Report.of(model, given).to_html())
    assert "default, y = 0.25" in page.text
    assert "The bags carry no labels" in page.text
    assert "Performance" in page.text
    assert page.count("img") == 1  # the effect needs no labels
    assert "cannot be measured: that takes labels" in page.text


@pytest.mark.usefixtures("undrawn")
def test_several_classes(bags):
    names = np.array(["neither", "lower & left", "upper <right>"])
    rules = RuleBase.from_arrays(
        [[0.4, 0.4], [1.0, 1.0], [1.6, 1.6]], np.full((3, 2), 0.3), np.eye(3)[:, :, None], output_names=sorted(names)
    )
    given = Bags(bags.instances, bags.offsets, ids=bags.ids, labels=names[np.arange(18) % 3])
    report = Report.of(MISugeno(rules=rules).fit(given), given, n_folds=3)
    page = Page(report.to_html())
    assert report.performance.confusion.shape == (3, 3)
    assert any("one against the rest" in name for name in report.performance.measures)
    assert "predicted upper <right>" in page.text
    assert page.count("right") == 0
    assert sorted(card.speaks_for for card in report.cards) == sorted(names)
    # The bars are the certainty, by which the list can be sorted; the outputs of all classes are in the text.
    cards = bags_facts(report.answers, report.explanations)["cards"]
    certainty = np.maximum(report.answers.certainty, 0)
    np.testing.assert_allclose([card["bar"].width for card in cards], 120 * certainty / certainty.max(), atol=0.06)
    for card, output in zip(cards, report.answers.output, strict=True):
        assert [name for name, _ in card["outputs"]] == sorted(names)
        shown = [float(text.replace("\N{MINUS SIGN}", "-")) for _, text in card["outputs"]]
        np.testing.assert_allclose(shown, output, atol=0.006)
    (_, first), (_, second), _ = cards[0]["outputs"]
    assert f"lower & left: {first}, neither: {second}" in page.text


def test_areas_of_several_classes_rank_by_probability():
    """The output of one class says little without those of the others."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(90, 2))
    kinds = np.array(["a", "b", "c"])[np.digitize(points[:, 1] + 0.7 * rng.normal(size=90), [-0.5, 0.5])]
    given = Bags(points, np.arange(91), labels=kinds, feature_names=["level", "x"])
    # The level raises all outputs alike, and so changes no probability.
    rules = [
        "VARIABLE level: high = Sigmoid(0, 1)",
        "VARIABLE x: high = Sigmoid(0, 2)",
        "Default: a = 0, b = 0, c = 0",
        "IF SOME level is high THEN a += 9, b += 9, c += 9",
        "IF SOME x is high THEN a -= 3, c += 3",
    ]
    model = MIANFISClassifier(
        init="\n".join(rules), training=Training(loss="cross_entropy", max_epochs=1), random_state=0
    ).fit(given)
    expected = roc_auc_score(given.labels, model.predict_proba(given), multi_class="ovr")
    found = Report.of(model, given, held_out=True, n_folds=2).performance
    folds = [roc_auc_score(each.truth, each.probabilities, multi_class="ovr") for each in found.folds]
    (areas,) = (values for name, values in found.measures.items() if name.startswith("Area"))
    np.testing.assert_allclose(areas, folds)
    display = _curve(Kind.roc, model, given, None)
    np.testing.assert_allclose(display.curves[-1].areas, [expected])
    refitted = Report.of(model, given, n_folds=2).performance
    (areas,) = (values for name, values in refitted.measures.items() if name.startswith("Area"))
    folds = [roc_auc_score(each.truth, each.probabilities, multi_class="ovr") for each in refitted.folds]
    np.testing.assert_allclose(areas, folds)


@pytest.mark.usefixtures("undrawn")
def test_numbers(bags):
    y = np.maximum.reduceat(bags.instances[:, 0], bags.offsets[:-1])
    report = Report.of(trained(RuleRegressor).fit(bags, y), bags, y, n_folds=3)
    page = Page(report.to_html())
    assert report.performance.basis is Basis.REFITTED
    assert next(iter(report.performance.measures)).startswith("Coefficient of determination")
    assert page.count("img") == 3  # the frontier, the fit, and what matters
    assert "drop in R²" in page.text
    assert "Targets" in page.text
    errors = [float(given["data-error"]) for given in page.items("bag")]
    np.testing.assert_allclose(errors, np.abs(report.answers.output[:, 0] - y), rtol=1e-6, atol=1e-7)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_two_numbers(bags):
    coefs = np.array([[[0.0], [1.0]], [[2.0], [3.0]]])
    rules = RuleBase.from_arrays([[0.4, 0.4], [1.6, 1.6]], np.full((2, 2), 0.3), coefs, output_names=["a", "b"])
    y = np.stack([bags.instances[::3, 0], bags.instances[::3, 1]], axis=1)
    report = Report.of(MISugeno(rules=rules, threshold=None).fit(bags, y), bags, y, n_folds=3)
    page = Page(report.to_html())
    assert len(report.performance.measures) == 6
    assert page.count("img") == 3
    assert "Mean absolute error of b" in page.text


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_committee(bags):
    model = trained(n_estimators=2).fit(bags)
    report = Report.of(model, bags, cross_validate=False)
    page = Page(report.to_html())
    cards = [given for given in page.items("card") if "bag" not in given["class"]]
    one, two = (rules.n_rules for rules in model.members_)
    assert ["open" in given for given in cards] == [True] * one + [False] * two
    assert "Rule 1 of member 2" in page.text
    assert report.performance.basis is Basis.SEEN
    assert "training performance" in page.text


@pytest.mark.usefixtures("undrawn")
@pytest.mark.slow
def test_many_features_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    rules = RuleBase.from_arrays(rng.normal(0, 1, (4, 166)), np.full((4, 166), 3.0), [0, 1, 0, 1])
    given = Bags.from_list(list(rng.normal(0, 1, (24, 3, 166))), labels=np.arange(24) % 2)
    write_report(MISugeno(rules=rules).fit(given), given, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(text) < 1_000_000
    page = Page(text)
    assert page.text.count("158 more conditions") == 4
    assert "160 more conditions, each satisfied to" in page.text
    assert len(page.items("")) == 166 + 4 + 24


@pytest.mark.usefixtures("undrawn")
def test_missing_values_are_counted_and_drawn(bags):
    holes = bags.map_instances(lambda x: np.where(np.arange(len(x))[:, None] % 5 == [0, 9], np.nan, x))
    rules = RuleBase.from_arrays([[0.4, 0.4], [1.6, 1.6]], np.full((2, 2), 0.3), [1, 0])
    model = MISugeno(rules=rules, missing="ignore").fit(holes)
    page = Page(Report.of(model, holes, cross_validate=False, max_bags=4).to_html())
    missing = int(np.isnan(holes.instances).sum())
    assert f"Missing values {missing} of {holes.instances.size}" in page.text
    assert "nan" not in page.text.lower()
    assert len(page.items("bag")) == 4
    assert f"4 of {holes.n_bags} bags" in page.text


@pytest.mark.usefixtures("undrawn")
def test_changed_rules_are_not_learned_anew(model, bags, tmp_path):
    model.with_rules(model.rules_.edit(weights={1: 0.5})).save(tmp_path / "changed.json")
    report = Report.of(load_model(tmp_path / "changed.json"), bags)
    assert report.performance.basis is Basis.SEEN
    assert "not edited after training" in Page(report.to_html()).text


def test_held_out_bags(model):
    fresh = some_bags(seed=1, n_bags=9)
    report = Report.of(model, fresh, held_out=True, n_folds=50)
    assert report.performance.basis is Basis.UNSEEN
    assert len(report.performance.folds) == 4


@pytest.mark.usefixtures("undrawn")
def test_one_class_and_one_bag(model, bags):
    one = bags[[0]]
    report = Report.of(model, one)
    assert len(report.performance.folds) == 1
    text = Page(report.to_html()).text
    assert "No cross-validation" in text
    assert "Area under" not in text
    assert f"{model.rules_.n_rules} rule{'s' * (model.rules_.n_rules > 1)} on 1 bag" in text


@pytest.mark.usefixtures("undrawn")
def test_names_cannot_break_out():
    parts = [[[0.1 * k, 1.0], [1.0 - 0.1 * k, 0.0]] for k in range(8)]
    ids = [f"{HOSTILE}{k}" for k in range(8)]
    names = [f"a{HOSTILE}", f"b{HOSTILE}"]
    labels = np.array([f"yes{HOSTILE}", f"no{HOSTILE}"])[np.arange(8) % 2]
    given = Bags.from_list(parts, names, labels=labels, ids=ids)
    rules = RuleBase.from_arrays(
        [[0.2, 0.9], [0.8, 0.1]], np.full((2, 2), 0.3), [0, 1], feature_names=names, output_names=[f"y{HOSTILE}"]
    )
    text = Report.of(MISugeno(rules=rules).fit(given), given, title=HOSTILE, n_folds=2).to_html()
    page = Page(text)
    assert page.open == []
    assert page.count("script") == 1
    assert page.count("img") == 3  # the ROC curve, the reliability of the probabilities, and effects
    assert all(not key.startswith("on") for _, given in page.elements for key in given)
    assert "<!--" not in text
    assert page.text.count(f"predicted yes{HOSTILE}") + page.text.count(f"predicted no{HOSTILE}") >= 8
    assert [item["data-name"] for item in page.items("bag")] == ids


def test_file_is_written_whole_or_not_at_all(tmp_path, report, model, bags, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("older")
    monkeypatch.setattr(Report, "to_html", lambda self: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_report(model, bags, path, cross_validate=False, max_bags=2)
    assert path.read_text() == "older"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("name", "error"), [("", IsADirectoryError), ("no/report.html", FileNotFoundError)], ids=["folder", "nowhere"]
)
def test_a_wrong_place_is_told_before_the_work(tmp_path, model, bags, monkeypatch, name, error):
    monkeypatch.setattr(Report, "of", lambda *_, **__: pytest.fail("the work was begun"))
    with pytest.raises(error, match=r"(?i)folder"):
        write_report(model, bags, tmp_path / name)


def test_progress_is_told(model, bags):
    calls = []
    Report.of(model, bags, cross_validate=False, max_bags=3, progress=lambda *call: calls.append(call))
    assert calls == [
        ("performance", 0, 1),
        ("performance", 1, 1),
        ("importance", 0, 1),
        ("importance", 1, 1),
        *(("explanations", done, 3) for done in range(4)),
    ]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_folds": 1}, "n_folds .* at least 2, got 1"),
        ({"max_bags": 0}, "max_bags .* at least 1, got 0"),
        ({"n_folds": 2.5}, "n_folds .* integer"),
    ],
    ids=["one-fold", "no-bags", "half-a-fold"],
)
def test_settings_out_of_range(model, bags, settings, message):
    with pytest.raises(ParameterError, match=message):
        Report.of(model, bags, **settings)


def test_model_without_rules_to_explain(bags):
    with pytest.raises(ParameterError, match="got NaiveMIL"):
        Report.of(NaiveMIL(MIMamdani()), bags)


def test_label_that_is_no_class(model, bags):
    labels = np.where(np.arange(bags.n_bags) == 2, 5, 1)
    with pytest.raises(InputError, match=f"Bag {bags.ids[2]} has the label 5"):
        Report.of(model, bags, labels)


def test_the_first_page_says_how_sure_which_rules_and_which_bags():
    bags = make_two_concepts(random_state=3)[::3]
    model = RuleClassifier(max_rules=2, random_state=0).fit(bags)
    report = Report.of(model, bags, n_folds=2)
    first = report.to_html().partition('<section id="summary"')[2].partition("</section>")[0]
    assert report.frontier.evidence in first
    assert "on bags that were held out" in first
    for card in report.cards:
        assert card.text in first
    wrong = set(map(str, bags.ids[report.answers.wrong].tolist()))
    listed = re.findall(r'href="#bag-\d+">(.*?)</a>', first)
    assert len(listed) == 6
    assert set(listed[: len(wrong)]) <= wrong
    assert set(re.findall(r'href="#(bag-\d+)"', first)) <= set(re.findall(r'id="(bag-\d+)"', report.to_html()))


def test_a_report_on_a_thousand_bags_is_small():
    rng = np.random.default_rng(0)
    names = [f"feature_{d}" for d in range(3)]
    rules = RuleBase.from_arrays(rng.normal(size=(5, 3)), np.ones((5, 3)), np.arange(5) / 4, feature_names=names)
    bags = Bags.from_list(list(rng.normal(size=(1000, 5, 3))), names, labels=rng.integers(0, 2, 1000))
    model = MISugeno(rules=rules).fit(bags)
    assert len(Report.of(model, bags, cross_validate=False).to_html()) < 1e6
